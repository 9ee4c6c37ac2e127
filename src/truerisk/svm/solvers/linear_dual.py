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
from truerisk.svm.solvers.rows import Rows, survey

FIRST, LATER, TURNS, BETWEEN, TAU, QUIET, DROP, MAXCG = 4, 2, 30, 1, 0.1, 0.05, 0.5, 300
COPY_BELOW, BLOCK, NARROW, HALVINGS = 0.8, 16, 0.5, 5
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
    if start is not None:
        state.look()
    active = state.near(WIDEST_BAND) if start is not None else np.flatnonzero(upper > 0.0)
    first = FIRST
    while len(active) and state.gap > tolerance and state.passes < max_passes:
        Neighbourhood(state, active).improve(tolerance, first)
        state.restore_balance()
        state.look()
        active = state.near(min(2.0 * state.gap, WIDEST_BAND))
        first = LATER
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
        return cls(rows=rows, y=y, upper=upper, alpha=alpha, weights=np.zeros(rows.width), bias=bias)

    def look(self) -> None:
        """Build w from α, and take the decision, the bias and the gap of all examples from it."""
        self.weights = self.rows.total(self.y * self.alpha)
        self.decision = np.empty(len(self.rows))
        highest, lowest, free, total = survey(
            *self.rows.arrays, self.y, self.upper, self.alpha, self.weights, self.decision
        )
        balanced = abs(self.y @ self.alpha) <= 1e-12 * self.upper.sum()
        self.gap = max(highest - lowest, 0.0) if balanced else np.inf
        if free:
            self.bias = total / free
        elif np.isfinite(highest) or np.isfinite(lowest):
            self.bias = float(np.mean([end for end in (highest, lowest) if np.isfinite(end)]))
        self.decision += self.bias

    def near(self, band: float) -> NDArray[np.intp]:
        """Find the examples that are free, or not further on their side than the band."""
        gradient = self.y * self.decision - 1.0
        out = ((self.alpha <= 0.0) & (gradient > band)) | (
            (self.alpha >= self.upper) & (gradient < -band)
        )
        return np.flatnonzero((self.upper > 0.0) & ~out)

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
    """The examples that sweeps look at, and the multiplier of Σyα = 0."""

    def __init__(self, state: State, active: NDArray[np.intp]) -> None:
        norm = float(state.rows.squared_norms[active].mean())
        self.state = state
        self.penalty = PENALTY * norm if norm > 0.0 else 1.0
        self.balance = float(state.y @ state.alpha)
        self.bias = state.bias
        self.highest, self.lowest, self.changes = np.inf, -np.inf, 0
        self.drop_above, self.drop_below = np.inf, -np.inf
        self.active = active
        self.gather(active)

    def gather(self, active: NDArray[np.intp]) -> None:
        """Copy the active examples one beside the other, in a random order."""
        state = self.state
        everything = len(active) > COPY_BELOW * len(state.rows)
        self.active = np.arange(len(state.rows)) if everything else shuffled(active, 1)
        self.rows = state.rows if everything else state.rows.take(self.active)
        self.y, self.upper = state.y[self.active], state.upper[self.active]
        self.alpha = state.alpha[self.active]
        self.curvature = self.rows.squared_norms + self.penalty
        order = shuffled(active, BLOCK) if everything else np.arange(len(active))
        self.order = order.astype(np.int32)

    def narrow(self) -> None:
        """Copy the examples that are kept, once they are few among those at hand."""
        if len(self.order) < NARROW * len(self.rows):
            self.settle()
            self.gather(np.sort(self.active[self.order]))

    def settle(self) -> None:
        """Write α back to where all examples are."""
        self.state.alpha[self.active] = self.alpha

    @property
    def spread(self) -> float:
        """How far the projected gradients of the last sweep were apart."""
        return self.highest - self.lowest

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
        self.drop_above, self.drop_below = DROP * self.spread, -DROP * self.spread
        self.state.passes += 1

    def improve(self, tolerance: float, first: int) -> None:
        for count in range(60):
            self.sweep()
            if self.spread <= 0.3 * tolerance:
                break
            if count + 1 >= first and self.changes <= QUIET * len(self.order):
                break
        for _ in range(TURNS):
            self.narrow()
            if not self.newton(tolerance):
                break
            for _ in range(BETWEEN):
                self.sweep()
            if self.spread <= 0.5 * tolerance and self.changes == 0:
                break
        self.settle()

    def newton(self, tolerance: float) -> bool:
        free = self.free()
        if len(free) < 2:
            return False
        rows, y = self.rows.take(free), self.y[free]
        accuracy = max(0.2 * tolerance, TAU * self.spread)
        residual = y - rows.times(self.state.weights)
        old, upper = self.alpha[free], self.upper[free]
        rise, fall = np.where(y > 0.0, upper - old, old), np.where(y > 0.0, -old, old - upper)
        step, bias, steps = newton_step(
            rows, residual, (fall, rise), -self.balance, accuracy=accuracy, max_steps=MAXCG
        )
        self.state.passes += steps
        for _ in range(HALVINGS):
            change = np.minimum(np.maximum(step, fall), rise)
            moved, total = rows.total(change), float(change.sum())
            gain = (
                change @ (residual - bias)
                - 0.5 * (moved @ moved)
                - self.penalty * total * (0.5 * total + self.balance)
            )
            if gain >= 0.0:
                self.state.weights += moved
                self.alpha[free] = np.minimum(np.maximum(old + y * change, 0.0), upper)
                self.balance += total
                self.bias = bias
                break
            step *= 0.25
        return True

    def free(self) -> NDArray[np.intp]:
        """Find the free examples among those that are kept."""
        alpha = self.alpha[self.order]
        return self.order[(alpha > 0.0) & (alpha < self.upper[self.order])].astype(np.intp)


def shuffled(which: NDArray[np.intp], block: int) -> NDArray[np.intp]:
    """Mix blocks of examples, always in the same way."""
    starts = np.random.default_rng(SEED).permutation(-(-len(which) // block)) * block
    order = (starts[:, None] + np.arange(block)).ravel()
    return which[order[order < len(which)]]
