"""The SVM with a kernel, without its Gram matrix: a block of examples at a time.

Problem   as in `dual`
Given     a function that computes values of K; they are used at once and not kept, since in the
          cache they cost less than it takes to read them from memory
Link      a block of examples that violate optimality most is solved with all others held; then the
          gradient of all is brought up to date by the rows of those that moved.  Held examples
          change the targets of a block alone, so every block is a problem of `dual`
Returns   a `Solution`; its gap is that of the gradient
Memory    two blocks and some vectors
Source    T. Joachims, "Making large-scale SVM learning practical", 1999; for blocks of a thousand,
          Z. Wen et al., JMLR 19(21), 2018
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import gram as kernel
from truerisk.svm.gram.dual import EXACT, MAX_FREE, MIN_CURVATURE, as_solution, feasible, polished
from truerisk.svm.gram.path import Dual
from truerisk.svm.solution import Solution, settled

Values = Callable[[NDArray[np.intp], NDArray[np.intp] | slice], Array]  # K by rows and columns

BLOCK = 1024  # examples solved for at a time
NEW = 512  # of them, those that were not in the last block
INNER = 0.05  # of the gap of all: how far a block is solved
INNER_STEPS = 40  # for every example of a block
FINE = 1e-2  # gap from which on a block holds all free examples and is solved exactly
EXACTLY = 1e-5  # a tolerance up to which the optimum itself is sought
LAST_BLOCKS = 2  # that may be spent on that
MAX_BLOCKS = 10_000
STALLED = 200  # blocks without a smaller gap: rounding stands in the way
CACHED = 300_000  # values of K that are computed at a time: they stay in the cache
MIN_ROWS = 8  # with fewer, products are slow


def solve_blocks(
    values: Values,
    diagonal: Array,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: Solution | None = None,
    max_passes: int | None = None,
) -> Solution:
    """Solve one soft-margin problem with a free bias; `values` gives rows of K."""
    y, upper = np.ascontiguousarray(y, np.float64), np.ascontiguousarray(upper, np.float64)
    lower, higher, z = feasible(y, upper, start)
    state = Dual(np.empty((0, 0)), np.empty(0), lower, higher, z, y.copy())
    support = np.flatnonzero(z)
    _subtract(values, support, z[support], state.gradient)
    floor = MIN_CURVATURE * (float(np.abs(diagonal).max()) or 1.0)
    blocks, waited, within, least = 0, 0, 0, np.inf
    block = np.empty(0, np.intp)
    most = MAX_BLOCKS if max_passes is None else max_passes
    while blocks < most:
        top, bottom = _extremes(state)
        gap = max(float(top.max(initial=-np.inf) - bottom.min(initial=np.inf)), 0.0)
        waited, least = (0, gap) if gap < 0.9 * least else (waited + 1, least)
        within += gap <= tolerance
        # A further block or two make the α exact, where that is what was asked for.
        is_enough = gap <= EXACT or tolerance > EXACTLY or within > LAST_BLOCKS
        if (gap <= tolerance and is_enough) or waited > STALLED:
            break
        block = _choose(state, top, bottom, block, whole=gap <= FINE)
        blocks += 1
        goal = max(INNER * gap, 0.5 * tolerance)
        if not _improve(values, state, block, floor, goal=goal, exactly=gap <= FINE):
            break
    alpha = settled(np.abs(state.z), upper)
    # Who is nearly at a bound is put there.
    moved = np.flatnonzero(y * alpha != state.z)
    _subtract(values, moved, (y * alpha - state.z)[moved], state.gradient)
    return as_solution(state._replace(z=y * alpha), y, upper, alpha, blocks)


def _subtract(values: Values, which: NDArray[np.intp], weights: Array, gradient: Array) -> None:
    """Take the weighted rows of some examples off the gradient, a few of them at a time."""
    piece = max(CACHED // len(gradient), MIN_ROWS)
    for first in range(0, len(which), piece):
        part = slice(first, first + piece)
        gradient -= weights[part] @ values(which[part], slice(None))


def _extremes(state: Dual) -> tuple[Array, Array]:
    """Return the gradients of those that may rise, and of those that may fall; else ∓∞."""
    top = np.where(state.z < state.upper, state.gradient, -np.inf)
    bottom = np.where(state.z > state.lower, state.gradient, np.inf)
    return top, bottom


def _choose(
    state: Dual, top: Array, bottom: Array, last: NDArray[np.intp], *, whole: bool
) -> NDArray[np.intp]:
    """Choose the block: who violates optimality most on either side, then who was in the last.

    Near the optimum all free examples are in it, if they are not too many.
    """
    half = min(NEW // 2, len(top))
    new = np.concatenate(
        [np.argpartition(-top, half - 1)[:half], np.argpartition(bottom, half - 1)[:half]]
    )
    free = np.flatnonzero((state.z > state.lower) & (state.z < state.upper))
    kept = free if whole and len(free) <= MAX_FREE else last[: BLOCK - NEW]
    _, first = np.unique(chosen := np.concatenate([new, kept]), return_index=True)
    return np.asarray(chosen[np.sort(first)])


def _improve(
    values: Values,
    state: Dual,
    block: NDArray[np.intp],
    floor: float,
    *,
    goal: float,
    exactly: bool,
) -> bool:
    """Solve the block with all others held, in place; tell whether anything moved."""
    gram = np.ascontiguousarray(values(block, block))
    z = state.z[block]
    dual = Dual(
        gram,
        np.ascontiguousarray(np.diagonal(gram)),
        state.lower[block],
        state.upper[block],
        z.copy(),
        state.gradient[block],
    )
    kernel.improve(dual, floor, goal, INNER_STEPS * len(block))
    if exactly:
        # What is held changes the targets, and what Σz is to be.
        targets = state.gradient[block] + gram @ z
        _, dual, _ = polished(dual, targets, float(z.sum()))
    moved = np.flatnonzero(dual.z != z)
    _subtract(values, block[moved], dual.z[moved] - z[moved], state.gradient)
    state.z[block] = dual.z
    return len(moved) > 0
