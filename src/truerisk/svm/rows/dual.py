"""The linear SVM with a free bias, on sparse rows.

Problem   min  ½ |w|² + Σᵢ upperᵢ ξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ,  ξᵢ ≥ 0,  b not penalised
Given     rows, labels ±1, the bounds of α (0: the example is left out), perhaps a start
Returns   the optimum to a gap, measured on all examples with a w built anew from α
Link      the problem is solved on the examples near the margin; one pass over all examples tells
          who is near, and whether anybody further off objects.  Near the margin, sweeps of
          coordinate descent find which α are free, and drop examples far on their side; Newton's
          step on the free ones ends what sweeps only come close to, and sets the bias
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import rows as kernel
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.rows.matrix import Rows, inner_products
from truerisk.svm.solution import LinearSolution

WIDEST_BAND = 0.2  # how far from the margin an example may matter
FIRST_GOAL = 0.1  # spread of the gradients at which all examples are looked at first
CLOSER = 0.02  # part of the gap that the next neighbourhood is solved to, or the gap's square
FIRST_SWEEPS, LATER_SWEEPS = 4, 1  # at least, before Newton's step
MAX_PASSES = 20_000
IDLE_ROUNDS = 3  # in which the gap did not halve: Newton's steps go in circles then
PATIENT_PASSES = 500
GRAM_EXAMPLES = 3000  # up to here such a problem is solved on its Gram matrix instead
ROUNDING = 1e-7  # part of its bound that a free α is off it, at least
BALANCED = 1e-13  # part of Σ upper by which Σyα may miss 0

# Near the margin.
PENALTY = 0.02  # ρ, in units of the mean |x|²
MAX_SWEEPS = 60  # before the first Newton's step
MAX_TURNS = 30  # of Newton's step and sweep
MAX_STEPS = 300  # of conjugate gradients
QUIET = 0.05  # share of examples that may change sides in a sweep before Newton's step is worth it
ROUGH = 0.1  # accuracy of Newton's step while examples change sides, in parts of the spread
PATIENT_PENALTY = 10.0  # times ρ, where only sweeps can restore the balance
FAR = 0.2  # from the margin: an example at a bound that is dropped, however wide the spread
BLOCK = 4  # rows that stay together when all are mixed: memory is read in order
AT_BOUND = 1e-12  # part of its room within which an example is at its bound
SEED = 1  # of the order of the rows: always the same, so that a fit can be repeated


def solve_rows(
    rows: Rows,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: LinearSolution | None = None,
    max_passes: int = MAX_PASSES,
) -> LinearSolution:
    """Find the optimum of one linear SVM.

    The gap, measured in units of the margin, is at most `tolerance` unless `max_passes` came first.
    The same arguments give the same bits.  `start` solves the same rows under other bounds.
    Source: C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear SVM",
    ICML 2008, 408-415.
    """
    y, upper = np.ascontiguousarray(y, np.float64), np.ascontiguousarray(upper, np.float64)
    state = State(rows, y, upper, start)
    active, sweeps = mixed(np.flatnonzero(upper > 0.0)), FIRST_SWEEPS
    if start is not None or not len(active):
        state.restore_balance()
        state.look()
        active = state.near(WIDEST_BAND)
    best, idle = np.inf, 0
    while state.gap > tolerance and state.passes < max_passes:
        if idle == IDLE_ROUNDS and len(rows) <= GRAM_EXAMPLES:
            state.solve_by_gram(tolerance)
            break
        near = Neighbourhood(rows, y, upper, state.alpha, state.weights, state.bias, active)
        near.cautious = idle > 0
        # More is asked of a neighbourhood the less was found wrong with the last one.
        goal = max(tolerance, min(FIRST_GOAL, CLOSER * state.gap, state.gap**2))
        left = max_passes - state.passes
        if idle < IDLE_ROUNDS:
            near.improve(goal, sweeps=sweeps, max_passes=left)
        else:
            near.be_patient(goal, max_passes=min(left, PATIENT_PASSES))
        state.passes += near.passes
        state.restore_balance()
        state.look()
        active, sweeps = state.near(min(2.0 * state.gap, WIDEST_BAND)), LATER_SWEEPS
        idle = 0 if state.gap < 0.5 * best or idle >= IDLE_ROUNDS else idle + 1
        best = min(best, state.gap)
    state.settle(tolerance)
    return state.solution()


class State:
    """Where the solver stands, with regard to all examples."""

    def __init__(
        self, rows: Rows, y: Array, upper: Array, start: LinearSolution | None = None
    ) -> None:
        self.rows, self.y, self.upper = rows, y, upper
        self.weights, self.decision = np.zeros(rows.width), np.zeros(len(rows))
        self.gap, self.passes = np.inf, 0
        if start is None:
            total = float(upper.sum())
            self.alpha = np.zeros(len(rows))
            self.bias = float(np.sum(upper * y)) / total if total > 0.0 else 0.0
        else:
            # Who was at a bound most likely is at the new one, and not free now that it moved.
            bound = (start.alpha >= start.upper) & (start.upper > 0.0)
            self.alpha = np.where(bound, upper, np.minimum(start.alpha, upper))
            self.bias = start.bias

    def look(self) -> None:
        """Build w from α; take the decisions, the bias and the gap of all examples from it."""
        self.weights = self.rows.total(self.y * self.alpha)
        self.decision = self.rows.times(self.weights)
        self.gap, self.bias = gap_and_bias(self.y, self.upper, self.alpha, self.decision, self.bias)
        self.decision += self.bias

    def settle(self, tolerance: float) -> None:
        """Take α that are free only by rounding to their bounds: such do not pin the bias down."""
        free = (self.alpha > 0.0) & (self.alpha < self.upper)
        if not free.any() or clearly_free(self.alpha[free], self.upper[free]).any():
            return
        before = self.alpha
        self.alpha = np.where(self.alpha < 0.5 * self.upper, 0.0, self.upper)
        self.look()
        if self.gap > tolerance or abs(np.sum(self.y * self.alpha)) > BALANCED * self.upper.sum():
            self.alpha = before
            self.look()

    def solve_by_gram(self, tolerance: float) -> None:
        """Leave a small problem, on which Newton's steps go in circles, to exact paths."""
        gram = inner_products(self.rows, 0)
        exact = solve_gram(gram, self.y, self.upper, tolerance=0.5 * tolerance)
        self.alpha = exact.alpha.copy()
        self.passes += exact.passes
        self.look()

    def near(self, band: float) -> NDArray[np.intp]:
        """Find the examples that are free, or not further on their side than the band."""
        excess = self.y * self.decision - 1.0
        far = ((self.alpha <= 0.0) & (excess > band)) | (
            (self.alpha >= self.upper) & (excess < -band)
        )
        return np.flatnonzero((self.upper > 0.0) & ~far)

    def restore_balance(self) -> None:
        """Bring Σyα back to 0: an equal part from all free α, the rest where it costs least."""
        enough = BALANCED * float(self.upper.sum())
        excess = kernel.spread_excess(self.y, self.upper, self.alpha, 1e-3 * enough)
        if abs(excess) <= enough:
            return
        sign = np.sign(excess)
        takes = self.y * sign < 0.0
        room = np.where(takes, self.upper - self.alpha, self.alpha)
        order = np.argsort(sign * (self.y - self.rows.times(self.weights)), kind="stable")
        before = np.cumsum(room[order]) - room[order]
        part = np.clip(abs(excess) - before, 0.0, room[order])
        self.alpha[order] += np.where(takes[order], part, -part)

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


def gap_and_bias(
    y: Array, upper: Array, alpha: Array, products: Array, bias: float
) -> tuple[float, float]:
    """Return the gap of the products w·x, and the bias: the one given where nobody tells."""
    highest, lowest, free, total = kernel.measure(y, upper, alpha, products)
    if free:
        bias = total / free
    elif np.isfinite(highest) or np.isfinite(lowest):
        # Every bias between the two is optimal; with one class, every bias beyond its end.
        bias = float(np.mean([end for end in (highest, lowest) if np.isfinite(end)]))
    return max(highest - lowest, 0.0), bias


def clearly_free(alpha: Array, upper: Array) -> NDArray[np.bool_]:
    """Tell which α are off their bounds by more than rounding can be."""
    return np.minimum(alpha, upper - alpha) > ROUNDING * upper


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
        *,
        penalty: float = PENALTY,
    ) -> None:
        self.rows, self.y, self.upper, self.alpha = rows, y, upper, alpha
        self.weights, self.bias, self.balance = weights, bias, float(np.sum(y * alpha))
        self.order = active.astype(np.int32)
        self.highest, self.lowest, self.changes, self.gap = np.inf, -np.inf, 0, np.inf
        self.free, self.free_rows = self.order[:0], rows  # none yet: taken when they are known
        self.drop_beyond = np.inf
        self.cautious = False  # whether a step that overshoots is shortened, not only cut
        self.passes = 0
        scale = float(rows.squared_norms[active].mean())
        self.set_penalty(penalty * scale if scale > 0.0 else penalty / PENALTY)

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

    def sweep(self, times: int = 1) -> None:
        """Go over the examples that are kept, and then move the multiplier, so many times."""
        (
            remaining,
            self.balance,
            self.bias,
            self.highest,
            self.lowest,
            self.changes,
            self.gap,
        ) = kernel.sweep(
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
            times,
        )
        self.order = self.order[:remaining]
        # The first sweep of a problem knows too little to drop anybody by.
        self.drop_beyond = min(self.spread, FAR) if remaining and self.passes else np.inf
        self.passes += times

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
        near = AT_BOUND * (high - low)
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
        squares = float(kernel.sum_of_squares(moved))
        gain = float(np.sum(change * (residual - self.bias))) - 0.5 * squares
        return gain - self.penalty * total * (0.5 * total + self.balance)


def up_to_a_bound(step: Array, low: Array, high: Array) -> Array:
    """Shorten a step so that it ends where its first example comes to a bound.

    Cut at the bounds one by one, the steps of examples that are nearly alike no longer cancel.
    """
    over = (step < low) | (step > high)
    ends = np.where(step > 0.0, high, low)
    return step * float(np.min(ends[over] / step[over], initial=1.0))


def mixed(
    which: NDArray[Any], rng: np.random.Generator | None = None, block: int = BLOCK
) -> NDArray[Any]:
    """Mix blocks of examples; without a generator, always in the same way."""
    rng = np.random.default_rng(SEED) if rng is None else rng
    lacking = -len(which) % block
    filled = np.zeros(len(which) + lacking, which.dtype)
    filled[: len(which)] = which
    blocks = filled.reshape(-1, block)
    order = rng.permutation(len(blocks))
    placed = blocks.take(order, axis=0).ravel()
    if not lacking:
        return placed
    end = block * (int(order.argmax()) + 1)  # of the last block, which is not full
    return np.concatenate([placed[: end - lacking], placed[end:]])


def newton_step(
    rows: Rows,
    residual: Array,
    room: tuple[Array, Array],
    total: float,
    *,
    accuracy: float,
    max_steps: int,
) -> tuple[Array, float, int]:
    """Return the change of yα of the free examples, the bias, and the steps it took.

    `room` is how far each yα may fall and rise, `total` what the changes sum to.  The step may
    leave its room; where it would do so for most examples, it stops short of the optimum.
    """
    step = np.full(len(rows), total / len(rows))
    # Spread over all, a total moves no decision by more than it times the largest |x|²; in text it
    # is a small part of that.
    steepest = float(rows.squared_norms.max())
    if abs(total) * steepest > 2.0 * accuracy:
        residual = residual - rows.times(rows.total(step))
    bias = float(residual.mean())
    n = len(rows)
    shift, steps = kernel.conjugate_gradients(
        *rows.arrays,
        residual - bias,
        step,
        *room,
        np.empty(rows.width),
        np.empty(n),
        np.empty(n),
        steepest,
        accuracy,
        max_steps,
    )
    return step, bias + shift, steps
