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

from truerisk.svm.solution import Array
from truerisk.svm.solvers.free_block import (
    FreeBlock,
    distance_to,
    empty_block,
    enter,
    enter_first,
    leave,
)
from truerisk.svm.solvers.smo import FAR, REARRANGE

# Places in `at`.
CLOCK, BIAS, IMBALANCE, EVENTS, AT_SIZE = range(5)
NEARLY_NONE = 1e-9  # a share of the dependence of one image on others that is rounding
HARRIS = 1e-12  # how far beyond its bound, beside the other's range, a member may slide


class Path(NamedTuple):
    """Where the solution stands, where the bounds and targets go, and room to work in."""

    gram: Array
    z: Array  # of free examples; of the others once `arrive` has set it
    residual: Array
    side: Array  # 1 at the lower bound, −1 at the upper one, 0 free or without a choice
    lower: Array  # at clock 0
    upper: Array
    lower_rate: Array
    upper_rate: Array
    target_rate: Array
    drift: Array  # rate of the residual by what is not free and not the bias
    slope: Array  # rate of the residual
    urgency: Array
    at: Array  # clock, bias, rate of Σz without the free, events so far
    block: FreeBlock


def empty_path(gram: Array, capacity: int) -> Path:
    """Make room for a path over n examples of which `capacity` may be free at once."""
    n = len(gram)
    names = set(Path._fields) - {"gram", "at", "block"}
    rows = {name: np.zeros(n) for name in names}
    return Path(gram=gram, at=np.zeros(AT_SIZE), block=empty_block(capacity), **rows)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def add_row(weight: float, row: Array, out: Array) -> None:
    """Add weight · row to `out`."""
    for k in range(len(out)):
        out[k] += weight * row[k]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def add_rows(gram: Array, block: FreeBlock, out: Array) -> None:
    """Add Σₖ answerₖ · K of each member to `out`, four rows at a time."""
    size, members, answer = block.size[0], block.members, block.answer
    k = 0
    while k + 4 <= size:
        a, b, c, d = answer[k + 1], answer[k + 2], answer[k + 3], answer[k + 4]
        row_a, row_b = gram[members[k]], gram[members[k + 1]]
        row_c, row_d = gram[members[k + 2]], gram[members[k + 3]]
        for i in range(len(out)):
            out[i] += (a * row_a[i] + b * row_b[i]) + (c * row_c[i] + d * row_d[i])
        k += 4
    while k < size:
        add_row(answer[k + 1], gram[members[k]], out)
        k += 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bound_rate(path: Path, i: int) -> float:
    """Give the rate of the bound that example i is at."""
    return float(path.upper_rate[i] if path.side[i] < 0.0 else path.lower_rate[i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bound_now(path: Path, i: int) -> float:
    """Give the bound that example i is at, as of the clock."""
    if path.side[i] < 0.0:
        return float(path.upper[i] + path.at[CLOCK] * path.upper_rate[i])
    return float(path.lower[i] + path.at[CLOCK] * path.lower_rate[i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def carry(path: Path, i: int, rate: float) -> None:
    """Let z[i] move at `rate` without being free; a negative rate takes one back."""
    if rate != 0.0:
        add_row(rate, path.gram[i], path.drift)
        path.at[IMBALANCE] += rate


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def depart(path: Path) -> None:
    """Set the clock to 0 and sum up what moves by itself."""
    for k in range(AT_SIZE):
        if k != BIAS:
            path.at[k] = 0.0
    side, lower, upper = path.side, path.lower, path.upper
    lower_rate, upper_rate = path.lower_rate, path.upper_rate
    for i in range(len(side)):
        path.drift[i] = -path.target_rate[i]
    for i in range(len(side)):
        rate = upper_rate[i] if side[i] < 0.0 else lower_rate[i]
        if rate != 0.0 and (side[i] != 0.0 or lower[i] >= upper[i]):
            carry(path, i, rate)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_partner(path: Path) -> int:
    """Free the bounded example that needs the least shift of the bias and can take the imbalance.

    −1 if there is none.  Only called with nobody free: the bias is then one of many.
    """
    wanted = 1.0 if path.at[IMBALANCE] < 0.0 else -1.0  # who rises is at the lower bound now
    best, partner = FAR, -1
    for i in range(len(path.side)):
        if path.side[i] == wanted and wanted * path.residual[i] < best:
            best, partner = wanted * path.residual[i], i
    if partner >= 0:
        jump = path.residual[partner]
        for i in range(len(path.residual)):
            path.residual[i] -= jump
        path.at[BIAS] -= jump
        set_free(path, partner)
        enter_first(path.block, path.gram, partner)
    return partner


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_free(path: Path, i: int) -> None:
    """Take example i off its bound."""
    carry(path, i, -bound_rate(path, i))
    path.z[i] = bound_now(path, i)
    path.side[i] = path.residual[i] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_bounded(path: Path, place: int, side: float) -> bool:
    """Put the member at `place` onto a bound; False if the inverse has lost its meaning."""
    i = path.block.members[place]
    path.side[i] = side
    path.residual[i] = 0.0
    carry(path, i, bound_rate(path, i))
    return leave(path.block, place)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def measure_rooms(path: Path, direction: float) -> None:
    """Set question[k + 1] to how far member k is from the bound that a slide takes it to."""
    block, clock, z = path.block, path.at[CLOCK], path.z
    members, answer, rooms = block.members, block.answer, block.question
    lower, lower_rate, upper, upper_rate = path.lower, path.lower_rate, path.upper, path.upper_rate
    for k in range(block.size[0]):
        i = members[k]
        if direction * answer[k + 1] > 0.0:
            room = upper[i] + clock * upper_rate[i] - z[i]
        else:
            room = z[i] - lower[i] - clock * lower_rate[i]
        rooms[k + 1] = max(room, 0.0)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_block(block: FreeBlock, longest: float) -> tuple[float, int]:
    """Find the member that stops a slide, and after how much; −1 if none does.

    Of those that stop it at nearly the same moment the one with the largest share is taken, since
    the inverse is divided by that share (the ratio test of Harris).
    """
    rooms, answer = block.question, block.answer
    latest = longest
    for k in range(1, block.size[0] + 1):
        share = abs(answer[k])
        if share > NEARLY_NONE:
            latest = min(latest, (rooms[k] + HARRIS * longest) / share)
    step, place, largest = longest, -1, NEARLY_NONE
    for k in range(1, block.size[0] + 1):
        share = abs(answer[k])
        if share > largest and rooms[k] <= latest * share:
            step, place, largest = rooms[k] / share, k - 1, share
    return step, place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def slide(path: Path, i: int) -> bool:
    """Free example i, whose image lies in the affine hull of the members' images.

    Moving z along the dependence changes no residual, so it goes on until somebody meets a bound:
    either i at its other one, or a member, whose place i then takes.
    """
    block, clock = path.block, path.at[CLOCK]
    direction = path.side[i]
    low = path.lower[i] + clock * path.lower_rate[i]
    high = path.upper[i] + clock * path.upper_rate[i]
    measure_rooms(path, direction)
    step, place = find_block(block, high - low)
    for k in range(block.size[0]):
        path.z[block.members[k]] += step * direction * block.answer[k + 1]
    set_free(path, i)
    if place < 0:
        path.side[i] = -direction
        carry(path, i, bound_rate(path, i))
        return True
    path.z[i] += step * direction
    rises = direction * block.answer[place + 1] > 0.0
    if not set_bounded(path, place, -1.0 if rises else 1.0):
        return False
    if block.size[0] == 0:
        enter_first(block, path.gram, i)
        return True
    distance = distance_to(path.gram, block, i)
    if distance > 0.0:
        enter(block, i, distance)
    return distance > 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def arrive(path: Path) -> None:
    """Set z of those that are not free to where their bounds are now."""
    clock, z, side, lower, upper = path.at[CLOCK], path.z, path.side, path.lower, path.upper
    for i in range(len(z)):
        if side[i] < 0.0:
            z[i] = upper[i] + clock * path.upper_rate[i]
        elif side[i] > 0.0 or lower[i] >= upper[i]:
            z[i] = lower[i] + clock * path.lower_rate[i]
