"""The examples near the margin, on which the linear machine is solved before all are looked at.

Problem   that of the linear machine, on some of its examples; the others keep their α
Given     all rows, α, w = Σᵢ yᵢαᵢxᵢ, the bias, and which examples are active
Returns   α and w in place, once the gradients of the active examples agree to the goal
Link      sweeps of coordinate descent find which α are free, and drop examples far on their side;
          Newton's step on the free ones ends what sweeps only come close to, and sets the bias
"""

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.coordinate_descent import sweep
from truerisk.svm.solvers.newton import newton_step, square_sum
from truerisk.svm.solvers.rows import Rows

PENALTY = 0.02  # ρ, in units of the mean |x|²
MAX_SWEEPS = 60  # before the first Newton's step
MAX_TURNS = 30  # of Newton's step and sweep
MAX_STEPS = 300  # of conjugate gradients
QUIET = 0.05  # share of examples that may change sides in a sweep before Newton's step is worth it
ROUGH = 0.1  # accuracy of Newton's step while examples change sides, in parts of the spread
PATIENT_PENALTY = 10.0  # times ρ, where only sweeps can restore the balance
FAR = 0.2  # from the margin: an example at a bound that is dropped, however wide the spread
BLOCK = 4  # rows that stay together when all are mixed: memory is read in order
ROUNDING = 1e-12  # part of its room within which an example is at its bound
SEED = 1  # of the order of the rows: always the same, so that a fit can be repeated


class Neighbourhood:
    """The active examples, and the multiplier of Σyα = 0."""

    def __init__(  # noqa: PLR0917 (the problem, then where it stands)
        self,
        rows: Rows,
        y: Array,
        upper: Array,
        alpha: Array,
        weights: Array,
        bias: float,
        active: NDArray[np.intp],
    ) -> None:
        self.rows, self.y, self.upper, self.alpha = rows, y, upper, alpha
        self.weights, self.bias, self.balance = weights, bias, float(np.sum(y * alpha))
        self.order = active.astype(np.int32)
        self.highest, self.lowest, self.changes = np.inf, -np.inf, 0
        self.free, self.free_rows = self.order[:0], rows.take(active[:0])
        self.drop_beyond = np.inf
        self.cautious = False  # whether a step that overshoots is shortened, not only cut
        self.passes = 0
        scale = float(rows.squared_norms[active].mean())
        self.set_penalty(PENALTY * scale if scale > 0.0 else 1.0)

    @property
    def spread(self) -> float:
        """How far the projected gradients of the last sweep were apart."""
        return self.highest - self.lowest

    def set_penalty(self, penalty: float) -> None:
        """Say what it costs to be out of balance."""
        self.penalty, self.curvature = penalty, self.rows.squared_norms + penalty

    def improve(self, goal: float, *, sweeps: int, max_passes: int) -> None:
        """Sweep at least so often, then take Newton's steps until the spread is below the goal."""
        for count in range(1, MAX_SWEEPS + 1):
            self.sweep()
            quiet = count >= sweeps and self.changes <= QUIET * len(self.order)
            if quiet or self.spread <= 0.3 * goal:
                break
        for _ in range(MAX_TURNS):
            if self.passes >= max_passes or not self.newton(0.2 * goal):
                break
            self.sweep()
            if self.spread <= 0.5 * goal:
                break

    def be_patient(self, goal: float, *, max_passes: int) -> None:
        """Only sweep, and drop nobody: slow, and sure where Newton's steps go in circles."""
        self.set_penalty(PATIENT_PENALTY * self.penalty)
        while self.passes < max_passes:
            self.drop_beyond = np.inf
            self.sweep()
            if max(self.spread, self.penalty * abs(self.balance)) <= 0.5 * goal:
                break

    def sweep(self) -> None:
        """Go once over the examples that are kept; then move the multiplier."""
        kept, self.balance, self.highest, self.lowest, self.changes = sweep(
            *self.rows.arrays,
            self.y,
            self.upper,
            self.curvature,
            self.alpha,
            self.weights,
            self.order,
            self.penalty,
            self.bias,
            self.balance,
            self.drop_beyond,
        )
        self.order = self.order[:kept]
        self.bias += self.penalty * self.balance
        # The first sweep of a problem knows too little to drop anybody by.
        self.drop_beyond = min(self.spread, FAR) if kept and self.passes else np.inf
        self.passes += 1

    def newton(self, accuracy: float) -> bool:
        """Take Newton's step on the free examples; tell whether there are any."""
        alpha, upper = self.alpha[self.order], self.upper[self.order]
        is_free = (alpha > 0.0) & (alpha < upper)
        free, alpha, upper = self.order[is_free], alpha[is_free], upper[is_free]
        if len(free) < 2:
            return False
        if self.changes:
            accuracy = max(accuracy, ROUGH * self.spread)
        if not np.array_equal(free, self.free):
            self.free, self.free_rows = free, self.rows.take(free)
        rows, y = self.free_rows, self.y[free]
        residual = y - rows.times(self.weights)
        low, high = (
            np.where(y > 0.0, -alpha, alpha - upper),
            np.where(y > 0.0, upper - alpha, alpha),
        )
        step, bias, steps = newton_step(
            rows, residual, (low, high), -self.balance, accuracy=accuracy, max_steps=MAX_STEPS
        )
        self.passes += steps
        change = np.minimum(np.maximum(step, low), high)
        moved = rows.total(change)
        cut = bool(np.any(change != step))
        if cut and self.cautious and self.fall(change, moved, residual) < 0.0:
            change = up_to_a_bound(step, low, high)
            moved = rows.total(change)
        # Who is at a bound but for rounding is at it, or the next step could go no further.
        near = ROUNDING * (high - low)
        at_low, at_high = change <= low + near, change >= high - near
        self.alpha[free] = np.where(
            at_low | at_high, np.where(at_high == (y > 0.0), upper, 0.0), alpha + y * change
        )
        self.weights += moved
        self.balance += float(change.sum())
        inside = ~(at_low | at_high)
        if not cut or not self.cautious:
            self.bias = bias
        elif inside.any():
            self.bias = float((residual - rows.times(moved))[inside].mean())
        return True

    def fall(self, change: Array, moved: Array, residual: Array) -> float:
        """Tell what a change of yα, by which w moves, takes off the augmented Lagrangian."""
        total = float(change.sum())
        # No BLAS here: its threads wait for each other longer than such a sum takes.
        gain = float(np.sum(change * (residual - self.bias))) - 0.5 * square_sum(moved)
        return gain - self.penalty * total * (0.5 * total + self.balance)


def up_to_a_bound(step: Array, low: Array, high: Array) -> Array:
    """Shorten a step so that it ends where its first example comes to a bound.

    Cut at the bounds one by one, the steps of examples that are nearly alike no longer cancel.

    Examples
    --------
    >>> up_to_a_bound(np.array([4.0, -2.0]), np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    array([ 1. , -0.5])
    """
    over = (step < low) | (step > high)
    ends = np.where(step > 0.0, high, low)
    return step * float(np.min(ends[over] / step[over], initial=1.0))


def mixed(which: NDArray[np.intp]) -> NDArray[np.intp]:
    """Mix blocks of examples, always in the same way.

    Examples
    --------
    >>> sorted(int(i) for i in mixed(np.arange(5)))
    [0, 1, 2, 3, 4]
    """
    firsts = BLOCK * np.random.default_rng(SEED).permutation(-(-len(which) // BLOCK))
    order = (firsts[:, None] + np.arange(BLOCK)).ravel()
    return np.asarray(which[order[order < len(which)]])
