"""The path of exact solutions while bounds and targets of a support vector machine move.

Problem   min  ½ zᵀKz − pᵀz   with  lower ≤ z ≤ upper  and  Σᵢ zᵢ = 0,  at every value of a clock
          from 0 to 1 while lower, upper and p change linearly with it
Given     a solution at 0, the rates of change, and the inverse of the equations of its free
          examples
Link      residual = Kz + b − p is 0 at free examples, ≥ 0 at the lower and ≤ 0 at the upper bound;
          between events z, b and residual are linear in the clock; an event is a free example that
          meets a bound or a bounded example whose residual becomes 0
Returns   a verdict; z, residual, bias and the free block at the clock where it was reached
Source    Cauwenberghs and Poggio, NIPS 2000; Hastie et al., "The entire regularization path for
          the support vector machine", JMLR 5 (2004), 1391-1415
Cache     as in `smo`
"""

from typing import NamedTuple

from numba import njit

from truerisk.aliases import Array
from truerisk.svm.solvers.free_block import (
    ANSWER,
    MENDED,
    QUESTION,
    FreeBlock,
    distance_to,
    enter,
    enter_first,
    solve_block,
)
from truerisk.svm.solvers.max_reduction import larger
from truerisk.svm.solvers.path_state import (
    BIAS,
    CLOCK,
    DRIFT,
    EVENTS,
    IMBALANCE,
    LOWER_RATE,
    RESIDUAL,
    SIDE,
    SLOPE,
    STALLED,
    UPPER_RATE,
    URGENCY,
    Path,
    Z,
    add_rows,
    bound_now,
    find_partner,
    room_above,
    room_below,
    set_bounded,
    set_free,
    slide,
)
from truerisk.svm.solvers.smo import REARRANGE, first_reaching

# Verdicts.
GOING, ARRIVED, WRONG, RIGHT, FULL, STALE, TOO_MANY, NO_PARTNER, SINGULAR = range(9)
# Events.
END, AT_UPPER, AT_LOWER, FREED = range(4)

MIN_ROOM = 1e-15  # so that several examples at 0 are told apart by their rates
MORE = 1.0 + 1e-6  # so that room is more than enough, and not just enough but for rounding
NO_TIME = 1e-14  # a step that is none
MANY = 100.0  # times its noise: a residual that ought to be 0 and tells that the inverse is stale
# At the end the bias may be one of many, and rounding may have taken it to the other end of them.
NEARLY_OVER = 1.0 - 1e-9


class Limits(NamedTuple):
    """What counts as nothing, and when to give up."""

    floor: float  # squared distance below which an image depends on the members' images
    noise: float  # rate of a residual that is nothing but rounding, for every unit of |dz|
    still: float  # rate of Σz that is nothing but rounding
    fastest: float  # largest rate of a bound, or of a target beside K
    max_events: int
    max_stall: int  # events with the clock standing still


class Watch(NamedTuple):
    """An example whose margin alone is asked for: stop as soon as its sign is sure."""

    example: int  # −1: none
    sign: float  # its label
    reach: float  # how much its margin can fall at most as its α falls by 1
    tolerance: float


NOBODY = Watch(-1, 0.0, 0.0, 0.0)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def aim(path: Path) -> None:
    """Set the rates of the bias, the free examples and all residuals."""
    block, drift, slope = path.block, path.rows[DRIFT], path.rows[SLOPE]
    question, answer = block.vectors[QUESTION], block.vectors[ANSWER]
    answer[0] = 0.0
    if block.members[0] > 0:
        question[0] = path.at[IMBALANCE]
        for k in range(1, block.members[0] + 1):
            question[k] = drift[block.members[k]]
        solve_block(block, answer)
    for i in range(len(slope)):
        slope[i] = drift[i] + answer[0]
    add_rows(path.gram, block.members, answer, slope)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def aim_again(path: Path) -> None:
    """Do one step of iterative refinement of what `aim` has set."""
    block, slope = path.block, path.rows[SLOPE]
    question, answer, mended = block.vectors[QUESTION], block.vectors[ANSWER], block.vectors[MENDED]
    question[0] = path.at[IMBALANCE]
    for k in range(1, block.members[0] + 1):
        question[0] += answer[k]
        question[k] = slope[block.members[k]]
    solve_block(block, mended)
    for i in range(len(slope)):
        slope[i] += mended[0]
    add_rows(path.gram, block.members, mended, slope)
    for k in range(block.members[0] + 1):
        answer[k] += mended[k]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def largest_error(slope: Array, block: FreeBlock) -> float:
    """Give the largest rate of the residual of a free example, which ought to be 0."""
    error = 0.0
    for k in range(1, block.members[0] + 1):
        error = max(error, abs(slope[block.members[k]]))
    return error


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def rounding(block: FreeBlock, limits: Limits) -> float:
    """Give the rate of a residual that is nothing but rounding, as fast as all move now."""
    total = limits.fastest
    for k in range(1, block.members[0] + 1):
        total += abs(block.vectors[ANSWER, k])
    return limits.noise * total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def next_bound(rows: Array, clock: float, block: FreeBlock) -> tuple[float, int, int]:
    """Find the first free example to meet a bound: the time until then, the event and its place."""
    step, event, place = 1.0 - clock, END, 0
    for k in range(1, block.members[0] + 1):
        i, rate = block.members[k], block.vectors[ANSWER, k]
        closing = rate - rows[UPPER_RATE, i]
        if closing > 0.0:
            room = room_above(rows, clock, i)
            if room < step * closing:
                step, event, place = max(room / closing, 0.0), AT_UPPER, k
        closing = rows[LOWER_RATE, i] - rate
        if closing > 0.0:
            room = room_below(rows, clock, i)
            if room < step * closing:
                step, event, place = max(room / closing, 0.0), AT_LOWER, k
    return step, event, place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def most_urgent(rows: Array, noise: float) -> float:
    """Compute how soon each bounded example comes free, as 1 / time; give the largest."""
    side, slope, residual, urgency = rows[SIDE], rows[SLOPE], rows[RESIDUAL], rows[URGENCY]
    best = 0.0
    for i in range(len(side)):
        rate = -side[i] * slope[i] - noise
        urgency[i] = rate / larger(side[i] * residual[i], MIN_ROOM)
        best = larger(best, urgency[i])
    return best


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def advance(path: Path, step: float) -> None:
    """Move the clock on by `step`, with everything that moves with it."""
    rows, block, answer = path.rows, path.block, path.block.vectors[ANSWER]
    residual, slope = rows[RESIDUAL], rows[SLOPE]
    path.at[STALLED] = 0.0 if step > NO_TIME else path.at[STALLED] + 1.0
    path.at[CLOCK] += step
    path.at[BIAS] += step * answer[0]
    for i in range(len(residual)):
        residual[i] += step * slope[i]
    for k in range(1, block.members[0] + 1):
        i = block.members[k]
        rows[Z, i] += step * answer[k]
        residual[i] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sure_sign(path: Path, watch: Watch, left: float) -> int:
    """Say whether the watched margin is sure to end negative (WRONG) or positive (RIGHT).

    `left` is what is left of its α.  Its slack only grows as its bound falls to 0, since the
    optimal value is concave in the bound.  Its margin falls by at most `reach` for every unit of
    α, whatever the bias is chosen to be where it is one of many, if the other free examples have
    more room than what is left (see `reach_of` in `leave_out`).
    """
    rows, block, clock = path.rows, path.block, path.at[CLOCK]
    margin = 1.0 + watch.sign * rows[RESIDUAL, watch.example]
    if margin < -watch.tolerance:
        return WRONG
    if not margin - left * watch.reach > watch.tolerance:
        return GOING
    room = 0.0
    for k in range(1, block.members[0] + 1):
        i = block.members[k]
        if i != watch.example:
            above = watch.sign > 0.0
            room += room_above(rows, clock, i) if above else room_below(rows, clock, i)
    return RIGHT if room > MORE * left else GOING


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def change_sides(path: Path, event: int, who: int, floor: float) -> bool:
    """Change sides as the event says; False if the inverse has lost its meaning."""
    block = path.block
    if event != FREED:
        return set_bounded(path, who, -1.0 if event == AT_UPPER else 1.0)
    if block.members[0] == 0:
        set_free(path, who)
        enter_first(block, path.gram, who)
        return True
    distance = distance_to(path.gram, block, who)
    if distance > floor:
        set_free(path, who)
        enter(block, who, distance)
        return True
    return slide(path, who)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_direction(path: Path, limits: Limits) -> int:
    """See that there is room for one more and somebody free, and set all rates."""
    block, at = path.block, path.at
    if at[EVENTS] >= limits.max_events or at[STALLED] >= limits.max_stall:
        return TOO_MANY
    if block.members[0] + 2 >= len(block.members):
        return FULL
    if block.members[0] == 0 and abs(at[IMBALANCE]) > limits.still and not find_partner(path):
        return NO_PARTNER
    at[EVENTS] += 1
    aim(path)
    noise = rounding(block, limits)
    if largest_error(path.rows[SLOPE], block) > noise:
        aim_again(path)
        if largest_error(path.rows[SLOPE], block) > MANY * noise:
            return STALE
    return GOING


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow(path: Path, watch: Watch, limits: Limits) -> int:
    """Go on until the clock is 1, the watched sign is sure, or something stands in the way.

    After FULL a larger block, and after STALE a fresh inverse, lets the path go on from there.
    """
    rows, at, block = path.rows, path.at, path.block
    verdict = set_direction(path, limits)
    while verdict == GOING:
        step, event, who = next_bound(rows, at[CLOCK], block)
        best = most_urgent(rows, rounding(block, limits))
        if best * step > 1.0:
            who = first_reaching(rows[URGENCY], best)
            step, event = max(-rows[RESIDUAL, who] / rows[SLOPE, who], 0.0), FREED
        advance(path, step)
        if watch.example >= 0 and at[CLOCK] < NEARLY_OVER:
            verdict = sure_sign(path, watch, abs(bound_now(rows, at[CLOCK], watch.example)))
        if verdict == GOING and event == END:
            at[CLOCK] = 1.0
            verdict = ARRIVED
        if verdict == GOING and not change_sides(path, event, who, limits.floor):
            verdict = SINGULAR
        if verdict == GOING:
            verdict = set_direction(path, limits)
    return verdict
