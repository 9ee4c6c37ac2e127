"""The linear support vector machine with a free bias, on sparse rows.

Problem   min  ½ |w|² + Σᵢ upperᵢ ξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ,  ξᵢ ≥ 0,  b not penalised
Given     rows, labels ±1, the bounds of α (0: the example is left out), perhaps a start
Returns   the optimum to a gap, measured on all examples; w is built anew from α before
Link      sweeps of coordinate descent on the examples near the margin find which α are free;
          Newton's step on these ends what sweeps only come close to; one look at all examples
          tells whether the neighbourhood was large enough
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from truerisk.svm.solution import Array, LinearSolution
from truerisk.svm.solvers.coordinate_descent import sweep
from truerisk.svm.solvers.newton import newton_step
from truerisk.svm.solvers.rows import Rows

PENALTY = 0.05  # ρ, in units of the mean |x|²
FIRST_SWEEPS, LATER_SWEEPS = 60, 10  # before the first look at all examples, and before a later one
NEWTON_STEPS = 4
WIDEST_BAND = 0.2  # how far from the margin an example is still looked at in sweeps
MAX_PASSES = 20_000
SEED = 1  # of the order of the rows: one seed, so that a fit can be repeated


def solve_rows(
    rows: Rows,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: LinearSolution | None = None,
    max_passes: int = MAX_PASSES,
) -> LinearSolution:
    r"""Find the optimum of one linear machine.

    .. math:: \min_{w, b} \tfrac12 w \cdot w + \sum_i U_i \max(0, 1 - y_i (w \cdot x_i + b))

    The gap of the result is measured, not estimated: it is at most `tolerance` unless `max_passes`
    came first.  The same arguments give the same result, bit for bit.

    Parameters
    ----------
    rows, y, upper
        Examples, labels −1 or 1, and the bounds U of α.
    tolerance
        Largest gap, in units of the margin.
    start
        The solution of a problem with the same rows and labels, and with other bounds.
    max_passes
        Sweeps and steps of conjugate gradients, after which the result is returned as it is.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual
       coordinate descent method for large-scale linear SVM", ICML 2008, 408-415.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> rows = as_rows(np.array([[0.0], [1.0], [3.0], [4.0]]))
    >>> solution = solve_rows(rows, np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 10.0))
    >>> solution.weights.round(6), round(solution.bias, 6), solution.alpha.round(6)
    (array([1.]), -2.0, array([0. , 0.5, 0.5, 0. ]))
    """
    state = State.at(rows, y, upper, start)
    state.look()
    active = state.near(WIDEST_BAND) if start is not None else np.flatnonzero(upper > 0.0)
    sweeps = FIRST_SWEEPS
    while len(active) and state.gap > tolerance and state.passes < max_passes:
        state.improve(active, tolerance, min(sweeps, max_passes - state.passes))
        state.restore_balance()
        state.look()
        active = state.near(min(2.0 * state.gap, WIDEST_BAND))
        sweeps = LATER_SWEEPS
    return state.solution()


@dataclass(kw_only=True, eq=False)
class State:
    """Where the solver stands."""

    rows: Rows
    y: Array
    upper: Array
    alpha: Array
    weights: Array
    bias: float
    decision: Array = field(default_factory=lambda: np.empty(0))  # w·x + b
    gap: float = np.inf
    passes: int = 0

    @classmethod
    def at(cls, rows: Rows, y: Array, upper: Array, start: LinearSolution | None) -> "State":
        """Begin at nothing, or at another solution brought within the new bounds."""
        if start is None:
            weight = upper.sum()
            alpha, bias = np.zeros(len(rows)), float(upper @ y / weight) if weight > 0.0 else 0.0
        else:
            alpha, bias = np.minimum(start.alpha, upper), start.bias
        return cls(rows=rows, y=y, upper=upper, alpha=alpha, weights=np.empty(0), bias=bias)

    def look(self) -> None:
        """Build w from α, and take the decision, the bias and the gap of all examples from it."""
        self.weights = self.rows.total(self.y * self.alpha)
        product = self.rows.times(self.weights)
        value = self.y - product
        included = self.upper > 0.0
        positive = self.y > 0.0
        room, held = self.alpha < self.upper, self.alpha > 0.0
        rise = value[included & np.where(positive, room, held)]
        fall = value[included & np.where(positive, held, room)]
        most, least = rise.max(initial=-np.inf), fall.min(initial=np.inf)
        free = held & room
        balanced = abs(self.y @ self.alpha) <= 1e-12 * self.upper.sum()
        self.gap = max(float(most - least), 0.0) if balanced else np.inf
        if free.any():
            self.bias = float(value[free].mean())
        elif np.isfinite(most) or np.isfinite(least):
            ends = [end for end in (most, least) if np.isfinite(end)]
            self.bias = float(np.mean(ends))
        self.decision = product + self.bias

    def near(self, band: float) -> NDArray[np.intp]:
        """Find the examples that are free, or not further on their side than the band."""
        gradient = self.y * self.decision - 1.0
        out = ((self.alpha <= 0.0) & (gradient > band)) | (
            (self.alpha >= self.upper) & (gradient < -band)
        )
        return np.flatnonzero((self.upper > 0.0) & ~out)

    def improve(self, active: NDArray[np.intp], tolerance: float, sweeps: int) -> None:
        """Sweep over the active examples until their bounds are settled, then take Newton's step."""
        Neighbourhood(self, np.random.default_rng(SEED).permutation(active)).improve(
            tolerance, sweeps
        )

    def restore_balance(self) -> None:
        """Bring Σyα back to 0: an equal part from all free α, the rest where it costs least."""
        for _ in range(50):
            excess = self.y @ self.alpha
            if abs(excess) <= 1e-15 * self.upper.sum():
                return
            free = np.flatnonzero((self.alpha > 0.0) & (self.alpha < self.upper))
            if not len(free):
                break
            moved = self.alpha[free] - self.y[free] * (excess / len(free))
            self.alpha[free] = np.clip(moved, 0.0, self.upper[free])
        excess = self.y @ self.alpha
        if abs(excess) <= 1e-13 * self.upper.sum():
            return
        sign = np.sign(excess)
        up = self.y * sign < 0.0  # these α may take, the others may give
        room = np.where(up, self.upper - self.alpha, self.alpha)
        order = np.argsort(sign * (self.y - self.rows.times(self.weights)), kind="stable")
        before = np.concatenate([[0.0], np.cumsum(room[order])[:-1]])
        part = np.clip(abs(excess) - before, 0.0, room[order])
        self.alpha[order] += np.where(up[order], part, -part)

    def solution(self) -> LinearSolution:
        """Freeze it."""
        return LinearSolution(
            y=self.y,
            upper=self.upper,
            alpha=self.alpha,
            bias=self.bias,
            decision=self.decision,
            gap=self.gap,
            passes=self.passes,
            weights=self.weights,
        )


class Neighbourhood:
    """The active examples, copied one beside the other in a random order."""

    def __init__(self, state: State, active: NDArray[np.intp]) -> None:
        self.state, self.active = state, active
        self.rows = state.rows.take(active)
        self.y, self.upper = state.y[active], state.upper[active]
        self.alpha = state.alpha[active]
        norm = float(self.rows.squared_norms.mean())
        self.penalty = PENALTY * norm if norm > 0.0 else 1.0
        self.curvature = self.rows.squared_norms + self.penalty
        self.balance = float(state.y @ state.alpha)
        self.bias = state.bias
        self.order = np.arange(len(active), dtype=np.int32)
        self.highest, self.lowest, self.changes = np.inf, -np.inf, 0
        self.open_window()

    def open_window(self) -> None:
        """Drop no example in the next sweep."""
        self.drop_above, self.drop_below = np.inf, -np.inf

    def sweep(self) -> None:
        """Go once over the examples that are kept; then move the multiplier."""
        kept, self.balance, self.highest, self.lowest, self.changes = sweep(
            *self.rows.arrays,
            self.y,
            self.upper,
            self.curvature,
            self.alpha,
            self.state.weights,
            self.order,
            self.penalty,
            self.bias,
            self.balance,
            self.drop_above,
            self.drop_below,
        )
        self.order = self.order[:kept]
        self.bias += self.penalty * self.balance
        self.drop_above = self.highest if self.highest > 0.0 else np.inf
        self.drop_below = self.lowest if self.lowest < 0.0 else -np.inf
        self.state.passes += 1

    def improve(self, tolerance: float, sweeps: int) -> None:
        quiet = 0
        for count in range(sweeps):
            self.sweep()
            if not len(self.order) or self.highest - self.lowest <= 0.3 * tolerance:
                break
            quiet = quiet + 1 if self.changes <= 0.01 * len(self.order) else 0
            if quiet >= 2 and count >= 2:
                break
        self.newton(0.2 * tolerance)
        self.state.alpha[self.active] = self.alpha

    def newton(self, finest: float) -> None:
        for turn in range(NEWTON_STEPS):
            free = self.order[
                (self.alpha[self.order] > 0.0) & (self.alpha[self.order] < self.upper[self.order])
            ].astype(np.intp)
            if len(free) < 2:
                return
            tolerance = finest
            if turn < NEWTON_STEPS - 1:
                tolerance = max(finest, 0.02 * (self.highest - self.lowest))
            rows, y = self.rows.take(free), self.y[free]
            residual = y - rows.times(self.state.weights)
            step, steps = newton_step(
                rows, residual, -self.balance, tolerance=tolerance, max_steps=300
            )
            self.state.passes += steps
            old = self.alpha[free]
            new = np.clip(old + y * step, 0.0, self.upper[free])
            clipped = bool(np.any(new != old + y * step))
            change = y * (new - old)
            self.alpha[free] = new
            self.balance += change.sum()
            self.state.weights += rows.total(change)
            if not clipped and tolerance <= finest:
                return
            if clipped:
                inside = (new > 0.0) & (new < self.upper[free])
                if inside.any():
                    self.bias = float((y - rows.times(self.state.weights))[inside].mean())
                self.open_window()
                self.sweep()
            else:
                self.highest = self.lowest = 0.0
