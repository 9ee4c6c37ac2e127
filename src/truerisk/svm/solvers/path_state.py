"""Where a parametric support vector machine stands, and how an example changes sides.

Problem   as in `active_set`
Given     one example that comes free or meets a bound
Returns   the state with that example moved, in place
Link      residual = Kz + b − p is 0 at free examples, ≥ 0 at the lower and ≤ 0 at the upper bound
Source    as in `active_set`
Cache     as in `smo`
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.free_block import (
    ANSWER,
    QUESTION,
    FreeBlock,
    distance_to,
    empty_block,
    enter,
    enter_first,
    leave,
)
from truerisk.svm.solvers.smo import FAR, REARRANGE

# Rows of `rows`: z of free examples, and of the others once `arrive` has set it; Kz + b − p; 1 at
# the lower bound, −1 at the upper one, 0 free or without a choice; …
Z, RESIDUAL, SIDE = range(3)
# … bounds at clock 0 and the rates of bounds and targets …
LOWER, UPPER, LOWER_RATE, UPPER_RATE, TARGET_RATE = range(3, 8)
# … rate of the residual by what is neither free nor the bias; its whole rate; 1 / time until free.
DRIFT, SLOPE, URGENCY, ROWS = range(8, 12)
# Places in `at`: the clock, the bias, the rate of Σz without the free, events so far and those
# since the clock went on.
CLOCK, BIAS, IMBALANCE, EVENTS, STALLED, AT_SIZE = range(6)

NEARLY_NONE = 1e-9  # a share of the dependence of one image on others that is rounding
HARRIS = 1e-12  # how far beyond its bound, beside the other's range, a member may slide


class Path(NamedTuple):
    """Where the solution stands, where the bounds and targets go, and room to work in."""

    gram: Array
    rows: Array
    at: Array
    block: FreeBlock


def empty_path(gram: Array, capacity: int) -> Path:
    """Make room for a path over n examples of which `capacity` may be free at once."""
    return Path(gram, np.zeros((ROWS, len(gram))), np.zeros(AT_SIZE), empty_block(capacity))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def add_row(weight: float, row: Array, out: Array) -> None:
    """Add weight · row to `out`."""
    for k in range(len(out)):
        out[k] += weight * row[k]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def add_rows(gram: Array, members: NDArray[np.int64], weights: Array, out: Array) -> None:
    """Add Σₖ weightₖ · K of member k to `out`, four rows at a time."""
    size = members[0]
    k = 1
    while k + 3 <= size:
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        row_a, row_b = gram[members[k]], gram[members[k + 1]]
        row_c, row_d = gram[members[k + 2]], gram[members[k + 3]]
        for i in range(len(out)):
            out[i] += (a * row_a[i] + b * row_b[i]) + (c * row_c[i] + d * row_d[i])
        k += 4
    while k <= size:
        add_row(weights[k], gram[members[k]], out)
        k += 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bound_rate(rows: Array, i: int) -> float:
    """Give the rate of the bound that example i is at."""
    return float(rows[UPPER_RATE, i] if rows[SIDE, i] < 0.0 else rows[LOWER_RATE, i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bound_now(rows: Array, clock: float, i: int) -> float:
    """Give the bound that example i is at, as of the clock."""
    if rows[SIDE, i] < 0.0:
        return float(rows[UPPER, i] + clock * rows[UPPER_RATE, i])
    return float(rows[LOWER, i] + clock * rows[LOWER_RATE, i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def room_above(rows: Array, clock: float, i: int) -> float:
    """Give how far example i is below its upper bound."""
    return float(rows[UPPER, i] + clock * rows[UPPER_RATE, i] - rows[Z, i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def room_below(rows: Array, clock: float, i: int) -> float:
    """Give how far example i is above its lower bound."""
    return float(rows[Z, i] - rows[LOWER, i] - clock * rows[LOWER_RATE, i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def carry(path: Path, i: int, rate: float) -> None:
    """Let z[i] move at `rate` without being free; a negative rate takes one back."""
    if rate != 0.0:
        add_row(rate, path.gram[i], path.rows[DRIFT])
        path.at[IMBALANCE] += rate


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def depart(path: Path) -> None:
    """Set the clock to 0 and sum up what moves by itself."""
    rows, at = path.rows, path.at
    at[CLOCK] = at[IMBALANCE] = at[EVENTS] = at[STALLED] = 0.0
    n = rows.shape[1]
    for i in range(n):
        rows[DRIFT, i] = -rows[TARGET_RATE, i]
    for i in range(n):
        rate = bound_rate(rows, i)
        # A call with all of the path costs more than this test, and mostly nothing moves.
        if rate != 0.0 and (rows[SIDE, i] != 0.0 or rows[LOWER, i] >= rows[UPPER, i]):
            carry(path, i, rate)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_partner(path: Path) -> bool:
    """Free the bounded example that needs the least shift of the bias and can take the imbalance.

    False if there is none.  Only called with nobody free: the bias is then one of many.
    """
    rows = path.rows
    wanted = 1.0 if path.at[IMBALANCE] < 0.0 else -1.0  # who rises is at the lower bound now
    n = rows.shape[1]
    best, partner = FAR, n
    for i in range(n):
        if rows[SIDE, i] == wanted and wanted * rows[RESIDUAL, i] < best:
            best, partner = wanted * rows[RESIDUAL, i], i
    if partner == n:
        return False
    jump = rows[RESIDUAL, partner]
    for i in range(n):
        rows[RESIDUAL, i] -= jump
    path.at[BIAS] -= jump
    set_free(path, partner)
    enter_first(path.block, path.gram, partner)
    return True


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_free(path: Path, i: int) -> None:
    """Take example i off its bound."""
    rows = path.rows
    carry(path, i, -bound_rate(rows, i))
    rows[Z, i] = bound_now(rows, path.at[CLOCK], i)
    rows[SIDE, i] = rows[RESIDUAL, i] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_bounded(path: Path, place: int, side: float) -> bool:
    """Put the member at `place` onto a bound; False if the inverse has lost its meaning."""
    i, rows = path.block.members[place], path.rows
    rows[SIDE, i] = side
    rows[RESIDUAL, i] = 0.0
    carry(path, i, bound_rate(rows, i))
    return leave(path.block, place)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_block(rows: Array, clock: float, block: FreeBlock, direction: float) -> tuple[float, int]:
    """Find the member that stops a slide, and after how much; 0 if none does.

    `direction` is the way and the range of the example that slides.  Of those that stop it at
    nearly the same moment the one with the largest share is taken, since the inverse is divided by
    that share (the ratio test of Harris).
    """
    room, share = block.vectors[QUESTION], block.vectors[ANSWER]
    latest = longest = abs(direction)
    for k in range(1, block.members[0] + 1):
        i = block.members[k]
        rises = direction * share[k] > 0.0
        free_way = room_above(rows, clock, i) if rises else room_below(rows, clock, i)
        room[k] = max(free_way, 0.0)
        if abs(share[k]) > NEARLY_NONE:
            latest = min(latest, (room[k] + HARRIS * longest) / abs(share[k]))
    step, place, largest = longest, 0, NEARLY_NONE
    for k in range(1, block.members[0] + 1):
        if abs(share[k]) > largest and room[k] <= latest * abs(share[k]):
            largest = abs(share[k])
            step, place = room[k] / largest, k
    return step, place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def slide(path: Path, i: int) -> bool:
    """Free example i, whose image lies in the affine hull of the members' images.

    Moving z along the dependence changes no residual, so it goes on until somebody meets a bound:
    either i at its other one, or a member, whose place i then takes.  False if the inverse has lost
    its meaning.
    """
    block, rows, clock = path.block, path.rows, path.at[CLOCK]
    side = rows[SIDE, i]
    set_free(path, i)
    span = room_above(rows, clock, i) + room_below(rows, clock, i)
    step, place = find_block(rows, clock, block, side * span)
    answer = block.vectors[ANSWER]
    for k in range(1, block.members[0] + 1):
        rows[Z, block.members[k]] += step * side * answer[k]
    if place == 0:
        rows[SIDE, i] = -side
        carry(path, i, bound_rate(rows, i))
        return True
    rows[Z, i] += step * side
    if not set_bounded(path, place, -1.0 if side * answer[place] > 0.0 else 1.0):
        return False
    if block.members[0] == 0:
        enter_first(block, path.gram, i)
        return True
    distance = distance_to(path.gram, block, i)
    if distance > 0.0:
        enter(block, i, distance)
    return distance > 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def arrive(path: Path) -> None:
    """Set z of those that are not free to where their bounds are now."""
    rows, clock = path.rows, path.at[CLOCK]
    for i in range(rows.shape[1]):
        if rows[SIDE, i] != 0.0 or rows[LOWER, i] >= rows[UPPER, i]:
            rows[Z, i] = bound_now(rows, clock, i)
