"""The linear SVM with a free bias, on sparse rows, for several costs side by side.

Problem   that of `truerisk.svm.rows.dual`, for each of several costs
Given     rows, labels ±1, the bounds of α at a cost of 1, the costs in rising order
Returns   the optimum of each to a gap, measured on all examples with a w built anew from α
Method    Eight costs share every entry of a row that is read.  Sweeps and Newton's steps, in single
          precision, come close to the optimum of each; then Newton's steps take away what a look at
          all examples, in double precision, finds wrong.  What does not end at the optimum so is
          finished by the solver of one SVM
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import lanes as kernel
from truerisk.kernels import rows as exact_kernel
from truerisk.svm.rows.dual import (
    AT_BOUND,
    BALANCED,
    FAR,
    FIRST_GOAL,
    FIRST_SWEEPS,
    LATER_SWEEPS,
    MAX_STEPS,
    PENALTY,
    ROUGH,
    WIDEST_BAND,
    State,
    gap_and_bias,
    mixed,
    solve_rows,
)
from truerisk.svm.rows.matrix import Rows
from truerisk.svm.solution import LinearSolution

LANES = 8
FOUR = 4  # lanes of a look at all examples
MAX_ROUNDS = 8  # of steps and a look, after which an SVM is solved by itself
STALLED = 0.3  # of the best gap: what a round must come below
IDLE_ROUNDS = 2  # that did not: such an SVM is solved by itself
MAX_SWEEPS = 8  # before the first Newton's step
QUIET = 0.1  # share of examples that may change sides in a sweep before that
MAX_TURNS = 4  # of Newton's step and sweep
CLOSER = 0.02  # part of the gap that sweeps go to
CLOSEST = 1e-4  # and what single precision is good for
CLOSE = 0.01  # gap from which on Newton's steps alone suffice
GROWTH = 2.5  # of a bound: as far an α at it is taken to follow
LINE = 64  # bytes of a line of the cache
SCALES = (1e-12, 1e12)  # of the largest |x|²: what single precision has room for


def aligned_zeros(size: int, dtype: type) -> NDArray[Any]:
    """Return zeros that begin with a line of the cache: eight weights never lie on two lines."""
    item = np.dtype(dtype).itemsize
    memory = np.zeros(size * item + LINE, np.uint8)
    first = -memory.ctypes.data % LINE
    return memory[first : first + size * item].view(dtype)


def can_be_single(rows: Rows) -> bool:
    """Tell whether the rows, and weights made of them, are numbers of single precision."""
    return SCALES[0] <= float(rows.squared_norms.max(initial=0.0)) <= SCALES[1]


def solve_side_by_side(
    rows: Rows, y: Array, bounds: Array, costs: Sequence[float], *, tolerance: float
) -> list[LinearSolution]:
    """Find the optimum for each cost, the bounds of α being cost · bound."""
    y, bounds = np.ascontiguousarray(y, np.float64), np.ascontiguousarray(bounds, np.float64)
    single = rows.data.astype(np.float32)
    solutions: list[LinearSolution] = []
    for some in np.array_split(np.asarray(costs, np.float64), -(-len(costs) // LANES)):
        lanes = Lanes(rows, single, y, bounds, some, solutions[-1] if solutions else None)
        lanes.solve(tolerance)
        for state in lanes.states():
            if state.gap > tolerance:
                start, upper = state.solution(), state.upper
                solutions.append(solve_rows(rows, y, upper, tolerance=tolerance, start=start))
            else:
                state.settle(tolerance)
                solutions.append(state.solution())
    return solutions


class Lanes:
    """Where up to eight SVMs stand; arrays have one row per SVM."""

    def __init__(  # noqa: PLR0917 (the problem, then where it starts)
        self,
        rows: Rows,
        single: NDArray[np.float32],
        y: Array,
        bounds: Array,
        costs: Array,
        start: LinearSolution | None,
    ) -> None:
        self.rows, self.y, self.bounds = rows, y, bounds
        self.arrays = (single, rows.indices, rows.indptr)
        self.spaces = np.empty(len(single), np.float32), np.empty(len(single), np.int32)
        self.count = len(costs)
        self.is_live = np.arange(LANES) < self.count
        self.costs = np.append(costs, np.repeat(costs[-1:], LANES - len(costs)))
        self.upper = self.costs[:, None] * bounds
        self.weights = np.zeros((LANES, rows.width))
        self.products = np.zeros((LANES, len(rows)))
        self.gap, self.passes = np.full(LANES, np.inf), 0
        self.sums, self.times = np.empty((1, LANES), np.float32), np.empty((1, LANES), np.float32)
        if start is None:
            self.alpha = np.zeros(self.upper.shape)
            self.bias = np.full(LANES, float(np.sum(bounds * y)) / float(bounds.sum()))
            self.active = mixed(np.flatnonzero(bounds > 0.0))
        else:
            at_bound = (start.alpha >= start.upper) & (start.upper > 0.0)
            before = np.where(at_bound, GROWTH * start.upper, start.alpha)
            self.alpha = np.minimum(before, self.upper)
            self.bias = np.full(LANES, start.bias)
            self.restore_balance()
            self.look()
            self.active = self.near()

    def solve(self, tolerance: float) -> None:
        """Come to the optimum of every lane, or near it."""
        sweeps, idle, best = FIRST_SWEEPS, np.zeros(LANES), self.gap.copy()
        for _ in range(MAX_ROUNDS):
            far = self.gap > CLOSE
            if far[self.is_live].any():
                goal = np.maximum(np.minimum(FIRST_GOAL, CLOSER * self.gap), CLOSEST)
                Near(self).improve(goal, sweeps)
            else:
                far[:] = True
                self.correct(tolerance)
            self.restore_balance()
            self.look()
            idle = np.where(self.gap < STALLED * best, 0, idle + far)
            best = np.minimum(best, self.gap)
            self.is_live &= (self.gap > tolerance) & (idle < IDLE_ROUNDS)
            if not self.is_live.any():
                break
            self.active, sweeps = self.near(), LATER_SWEEPS

    def correct(self, tolerance: float) -> None:
        """Take Newton's step from what a look at all examples found wrong."""
        which = self.active
        residual = self.y[which] - self.products.take(which, axis=1)
        total = -(self.alpha @ self.y)
        accuracy = np.full(LANES, 0.2 * tolerance)
        self.step(which, residual, total, accuracy, 0.2 * tolerance)

    def step(
        self,
        which: NDArray[np.intp],
        residual: Array,
        total: Array,
        accuracy: Array,
        tolerance: float,
    ) -> NDArray[np.float32]:
        """Take Newton's step on those free among the examples `which`; return the change of yα.

        `residual` is y − w·x, `total` what the changes sum to.
        """
        live = self.is_live.view(np.uint8)
        free, step, low, high = np.empty((4, *residual.shape))
        members, problem = np.empty(LANES), (self.y, self.bounds, self.costs, self.alpha, which)
        kernel.begin_step(
            *problem, residual, total, live, tolerance, free, step, low, high, members, self.bias
        )
        image = np.empty((len(which), LANES), np.float32)
        arrays, width = self.copied(which)
        weights = aligned_zeros(LANES * width, np.float32)
        steepest = float(self.rows.squared_norms[which].max())
        if (np.abs(total) * steepest > 2.0 * accuracy)[self.is_live].any():
            image[:] = step.T
            every = np.arange(len(which))
            kernel.add_rows(*arrays, every, image, weights)
            kernel.multiply(*arrays, weights, every, image)
            residual = residual - image.T
        residual = residual * free
        bias = residual.sum(axis=1) / np.maximum(members, 1.0)
        residual -= bias[:, None] * free
        is_live, shift = (self.is_live & (members > 0.0)), np.empty(LANES)
        self.passes += kernel.conjugate_gradients(
            *arrays,
            residual,
            free,
            step,
            low,
            high,
            weights,
            np.empty(step.shape),
            image,
            is_live.astype(np.uint8),
            np.empty(len(which), np.uint8),
            accuracy,
            shift,
            np.empty(LANES),
            steepest,
            MAX_STEPS,
        )
        self.bias = np.where(is_live, bias + shift, self.bias)
        kernel.end_step(*problem, free, step, low, high, AT_BOUND, image)
        return image

    def copied(
        self, which: NDArray[np.intp]
    ) -> tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], int]:
        """Copy some rows, each beside the next, with the columns that occur in them.

        Steps of conjugate gradients go over them many times: they stay in the cache.
        """
        data, indices, starts = self.arrays
        indptr = np.zeros(len(which) + 1, np.int64)
        np.cumsum(starts[which + 1] - starts[which], out=indptr[1:])
        values, columns = (space[: indptr[-1]] for space in self.spaces)
        places = np.full(self.rows.width, -1, np.int32)
        width = kernel.copy_rows(data, indices, starts, which, places, values, columns)
        return (values, columns, indptr), width

    def restore_balance(self) -> None:
        """Bring Σyα back to 0 in every lane."""
        for lane in np.flatnonzero(self.is_live).tolist():
            upper, alpha = self.upper[lane], self.alpha[lane]
            enough = BALANCED * float(upper.sum())
            if abs(exact_kernel.spread_excess(self.y, upper, alpha, enough)) > enough:
                state = self.state(lane)
                state.restore_balance()
                self.alpha[lane] = state.alpha

    def look(self) -> None:
        """Build w from α; take the decisions, the bias and the gap of all examples from it."""
        lanes = np.flatnonzero(self.is_live)
        for first in range(0, len(lanes), FOUR):
            some = lanes[first : first + FOUR]
            signed = np.zeros((len(self.y), FOUR))
            signed[:, : len(some)] = (self.y * self.alpha[some]).T
            weights = aligned_zeros(FOUR * self.rows.width, np.float64)
            products = np.empty((len(self.y), FOUR))
            exact_kernel.add_four(*self.rows.arrays, signed, weights)
            exact_kernel.multiply_four(*self.rows.arrays, weights, products)
            self.weights[some] = weights.reshape(-1, FOUR).T[: len(some)]
            self.products[some] = products.T[: len(some)]
            for lane in some.tolist():
                self.gap[lane], self.bias[lane] = gap_and_bias(
                    self.y, self.upper[lane], self.alpha[lane], self.products[lane], self.bias[lane]
                )

    def near(self) -> NDArray[np.intp]:
        """Find the examples that are free, or not far on their side, in some lane."""
        band = np.minimum(2.0 * self.gap, WIDEST_BAND)[:, None]
        excess = self.y * (self.products + self.bias[:, None]) - 1.0
        far = ((self.alpha <= 0.0) & (excess > band)) | (
            (self.alpha >= self.upper) & (excess < -band)
        )
        some = (~far[self.is_live]).any(axis=0)
        return np.flatnonzero(some & (self.bounds > 0.0))

    def state(self, lane: int) -> State:
        """Return one lane as the solver of one SVM sees it."""
        state = State(self.rows, self.y, self.upper[lane])
        state.alpha, state.weights = self.alpha[lane].copy(), self.weights[lane].copy()
        state.bias, state.gap = float(self.bias[lane]), float(self.gap[lane])
        state.decision = self.products[lane] + state.bias
        state.passes = self.passes
        return state

    def states(self) -> Iterator[State]:
        """Give every SVM."""
        return map(self.state, range(self.count))


class Near:
    """The active examples of some lanes in single precision, and the multipliers of Σyα = 0."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.weights = aligned_zeros(lanes.weights.size, np.float32)
        self.weights.reshape(-1, LANES)[:] = lanes.weights.T
        self.order = lanes.active.astype(np.int32)
        self.balance = lanes.alpha @ lanes.y
        self.drop_beyond = np.full(LANES, np.inf)
        self.highest, self.lowest = np.empty(LANES), np.empty(LANES)
        self.changes, self.kept = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
        scale = float(lanes.rows.squared_norms[lanes.active].mean())
        self.penalty = PENALTY * scale if scale > 0.0 else 1.0

    @property
    def spread(self) -> Array:
        """How far the projected gradients of the last sweep were apart."""
        return self.highest - self.lowest

    def improve(self, goal: Array, sweeps: int) -> None:
        """Sweep at least so often, then take Newton's steps until all spreads are below a goal."""
        for count in range(1, MAX_SWEEPS + 1):
            self.sweep()
            quiet = (self.changes <= QUIET * self.kept) | (self.spread <= 0.3 * goal)
            if count >= sweeps and quiet[self.lanes.is_live].all():
                break
            if count > 1:
                self.drop_beyond = np.minimum(self.spread, FAR)
        for _ in range(MAX_TURNS):
            self.newton(goal)
            self.drop_beyond = np.minimum(self.spread, FAR)
            self.sweep()
            if (self.spread <= 0.5 * goal)[self.lanes.is_live].all():
                break

    def sweep(self) -> None:
        """Go over the examples that are kept, and then move the multipliers."""
        lanes = self.lanes
        remaining = kernel.sweep(
            *lanes.arrays,
            lanes.y,
            lanes.bounds,
            lanes.costs,
            lanes.rows.squared_norms,
            lanes.alpha,
            self.weights,
            self.order,
            self.penalty,
            lanes.bias,
            self.balance,
            self.drop_beyond,
            lanes.is_live.view(np.uint8),
            self.highest,
            self.lowest,
            self.changes,
            self.kept,
            lanes.sums,
            lanes.times,
        )
        self.order = self.order[:remaining]
        lanes.passes += 1

    def newton(self, goal: Array) -> None:
        """Take Newton's step on the free examples."""
        lanes = self.lanes
        order = self.order.astype(np.intp)
        alpha, upper = lanes.alpha[:, order], lanes.upper[:, order]
        which = order[((alpha > 0.0) & (alpha < upper))[lanes.is_live].any(axis=0)]
        if not len(which):
            return
        accuracy = 0.2 * goal
        accuracy = np.where(self.changes, np.maximum(accuracy, ROUGH * self.spread), accuracy)
        products = np.empty((len(which), LANES), np.float32)
        kernel.multiply(*lanes.arrays, self.weights, which, products)
        residual = lanes.y[which] - np.ascontiguousarray(products.T, np.float64)
        change = lanes.step(which, residual, -self.balance, accuracy, np.inf)
        kernel.add_rows(*lanes.arrays, which, change, self.weights)
        self.balance = lanes.alpha @ lanes.y
