"""Rough solutions of many machines on one Gram matrix, by steps of two examples.

Problem   that of `smo`, for every row of bounds
Given     K in single precision, feasible z and their remainders y − Kz, all padded with examples
          that have no room, to whole blocks
Returns   z and remainders in place; the steps taken.  What is at a bound is there exactly
Link      all that is asked of a rough solution is who is at which bound, and `batch_gram_rounds`
          makes it exact: half of the digits do, and twice as many numbers go into one register
Source    as in `smo`; the largest of each block is kept, so that the place of the largest of all is
          found in one of them
Cache     as in `smo`
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.svm.solvers.max_reduction import larger

REARRANGE = {"reassoc", "contract", "nsz", "arcp"}

Single = NDArray[np.float32]

BLOCK = 64  # examples: a loop of known length needs no rest
FAR = np.float32(1e30)  # beyond every remainder; not ∞, so that sums with it stay numbers
NONE, TWO, NEARLY = np.float32(0.0), np.float32(2.0), np.float32(1.0 - 1e-6)


# Rows of a state: where z stands and may go, y − Kz, K(x, x) …
Z, LOWER, UPPER, REMAINDER, DIAGONAL = range(5)
# … 0 where an example may rise or fall, −FAR where it may not; and the best of each block.
RISE, FALL, BEST, ROWS = range(5, 9)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def take_step(gram: Single, state: Single, i: int, j: int, step: np.float32) -> None:
    """Bring the remainders up to date."""
    remainder, first, second = state[REMAINDER], gram[i], gram[j]
    for k in range(len(remainder)):
        remainder[k] -= step * (first[k] - second[k])


# Nothing is written inside of the inner loops below: the compiler would have to ask each time
# whether what is written is what is read next.
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def find_first(state: Single) -> int:
    """Find the one with the largest remainder of those that may rise."""
    remainder, rise, best = state[REMAINDER], state[RISE], state[BEST]
    blocks = len(remainder) // BLOCK
    for b in range(blocks):
        top = -FAR
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            top = larger(top, remainder[k] + rise[k])
        best[b] = top
    b = largest_place(best, blocks)
    for k in range(b * BLOCK, b * BLOCK + BLOCK):
        if remainder[k] + rise[k] >= best[b]:
            return k
    return b * BLOCK


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def find_partner(gram: Single, state: Single, i: int, floor: np.float32) -> tuple[int, np.float32]:
    """Find the partner of i with whom a step gains most; give the lowest remainder as well."""
    remainder, fall, best = state[REMAINDER], state[FALL], state[BEST]
    blocks = len(remainder) // BLOCK
    row, diagonal = gram[i], state[DIAGONAL]
    own, top = diagonal[i], remainder[i]
    negated_bottom = -FAR
    for b in range(blocks):
        most, negated_low = NONE, -FAR
        for k in range(b * BLOCK, b * BLOCK + BLOCK):
            negated = fall[k] - remainder[k]
            negated_low = larger(negated_low, negated)
            difference = larger(top + negated, NONE)
            curvature = larger(own + diagonal[k] - TWO * row[k], floor)
            most = larger(most, difference * difference / curvature)
        best[b] = most
        negated_bottom = larger(negated_bottom, negated_low)
    b = largest_place(best, blocks)
    # A product beside a quotient: they may differ by rounding.
    nearly = NEARLY * best[b]
    for k in range(b * BLOCK, b * BLOCK + BLOCK):
        difference = top + fall[k] - remainder[k]
        curvature = larger(own + diagonal[k] - TWO * row[k], floor)
        if difference > NONE and difference * difference >= nearly * curvature:
            return k, -negated_bottom
    return b * BLOCK, -negated_bottom


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def largest_place(values: Single, count: int) -> int:
    """Find the first of the largest."""
    place, top = 0, values[0]
    for b in range(1, count):
        if values[b] > top:
            place, top = b, values[b]
    return place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_doors(state: Single, i: int) -> None:
    """Say whether example i may rise and fall."""
    state[RISE, i] = NONE if state[Z, i] < state[UPPER, i] else -FAR
    state[FALL, i] = NONE if state[Z, i] > state[LOWER, i] else -FAR


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def shift(state: Single, i: int, j: int, step: np.float32) -> np.float32:
    """Move `step` from z[j] to z[i], as far as the bounds allow; give how far that was."""
    z, lower, upper = state[Z], state[LOWER], state[UPPER]
    above, below = upper[i] - z[i], z[j] - lower[j]
    if step < above and step < below:
        z[i] += step
        z[j] -= step
        return step
    step = min(above, below)
    z[i] = upper[i] if above <= below else min(z[i] + step, upper[i])
    z[j] = lower[j] if below <= above else max(z[j] - step, lower[j])
    return step


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def descend_roughly(
    gram: Single, state: Single, floor: np.float32, tolerance: np.float32, max_steps: int
) -> int:
    """Take steps until nobody asks for `tolerance` more than somebody else; give their number."""
    for k in range(state.shape[1]):
        set_doors(state, k)
    steps, i = 0, find_first(state)
    while steps < max_steps and state[RISE, i] == NONE:
        j, bottom = find_partner(gram, state, i, floor)
        top = state[REMAINDER, i]
        if top - bottom <= tolerance:
            break
        curvature = max(state[DIAGONAL, i] + state[DIAGONAL, j] - TWO * gram[i, j], floor)
        step = shift(state, i, j, (top - state[REMAINDER, j]) / curvature)
        if step <= NONE:
            break
        set_doors(state, i)
        set_doors(state, j)
        take_step(gram, state, i, j, step)
        steps, i = steps + 1, find_first(state)
    return steps


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def descend_all(  # noqa: PLR0917 (a compiled function takes no dataclass)
    gram: Single,
    states: NDArray[np.float32],
    floor: np.float32,
    tolerance: np.float32,
    max_steps: int,
    steps: NDArray[np.int64],
) -> None:
    """Descend in every replicate, and write the steps taken."""
    for r in range(len(states)):
        steps[r] = descend_roughly(gram, states[r], floor, tolerance, max_steps)
