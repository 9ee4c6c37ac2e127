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

from truerisk.svm.solution import Array
from truerisk.svm.solvers.free_block import FreeBlock, distance_to, enter, enter_first, solve_block
from truerisk.svm.solvers.max_reduction import larger
from truerisk.svm.solvers.path_state import (
    BIAS,
    CLOCK,
    EVENTS,
    IMBALANCE,
    Path,
    add_rows,
    bound_now,
    find_partner,
    set_bounded,
    set_free,
    slide,
)
from truerisk.svm.solvers.smo import BLOCK, REARRANGE

# Verdicts.
GOING, ARRIVED, WRONG, RIGHT, FULL, STALE, TOO_MANY, NO_PARTNER, SINGULAR = range(9)
# Events.
END, AT_UPPER, AT_LOWER, FREED = range(4)

LEAST_ROOM = 1e-15  # so that several examples at 0 are told apart by their rates
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


class Watch(NamedTuple):
    """An example whose margin alone is asked for: stop as soon as its sign is sure."""

    example: int  # −1: none
    sign: float  # its label
    reach: float  # how much its margin can fall at most as its α falls by 1
    tolerance: float


NOBODY = Watch(-1, 0.0, 0.0, 0.0)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def aim(path: Path) -> float:
    """Set the rates of the free examples and of all residuals; give that of the bias."""
    block, drift, slope = path.block, path.drift, path.slope
    bias_rate = 0.0
    if block.size[0] > 0:
        block.question[0] = path.at[IMBALANCE]
        for k in range(block.size[0]):
            block.question[k + 1] = drift[block.members[k]]
        solve_block(block)
        bias_rate = block.answer[0]
    for i in range(len(slope)):
        slope[i] = drift[i] + bias_rate
    add_rows(path.gram, block, slope)
    return bias_rate


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def aim_again(path: Path) -> float:
    """Do one step of iterative refinement of what `aim` has set; give the rate of the bias."""
    block, slope = path.block, path.slope
    size = block.size[0]
    first = block.answer[: size + 1].copy()
    block.question[0] = path.at[IMBALANCE]
    for k in range(size):
        block.question[0] += first[k + 1]
        block.question[k + 1] = slope[block.members[k]]
    solve_block(block)
    for i in range(len(slope)):
        slope[i] += block.answer[0]
    add_rows(path.gram, block, slope)
    for k in range(size + 1):
        block.answer[k] += first[k]
    return float(block.answer[0])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def largest_error(path: Path) -> float:
    """Give the largest rate of the residual of a free example, which ought to be 0."""
    error = 0.0
    for k in range(path.block.size[0]):
        error = max(error, abs(path.slope[path.block.members[k]]))
    return error


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def total_rate(block: FreeBlock) -> float:
    """Sum the rates of the free examples, all counted as positive."""
    total = 0.0
    for k in range(block.size[0]):
        total += abs(block.answer[k + 1])
    return total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def next_bound(path: Path, longest: float) -> tuple[float, int, int]:
    """Find the first free example to meet a bound: the time until then, the event and its place."""
    block, clock = path.block, path.at[CLOCK]
    step, event, place = longest, END, -1
    for k in range(block.size[0]):
        i, rate = block.members[k], block.answer[k + 1]
        closing = rate - path.upper_rate[i]
        if closing > 0.0:
            room = path.upper[i] + clock * path.upper_rate[i] - path.z[i]
            if room < step * closing:
                step, event, place = max(room / closing, 0.0), AT_UPPER, k
        closing = path.lower_rate[i] - rate
        if closing > 0.0:
            room = path.z[i] - path.lower[i] - clock * path.lower_rate[i]
            if room < step * closing:
                step, event, place = max(room / closing, 0.0), AT_LOWER, k
    return step, event, place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def most_urgent(path: Path, noise: float) -> float:
    """Compute how soon each bounded example comes free, as 1 / time; give the largest."""
    side, slope, residual, urgency = path.side, path.slope, path.residual, path.urgency
    best = 0.0
    for i in range(len(side)):
        rate = -side[i] * slope[i] - noise
        urgency[i] = rate / larger(side[i] * residual[i], LEAST_ROOM)
        best = larger(best, urgency[i])
    return best


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def first_urgent(urgency: Array, best: float) -> int:
    """Find the first example whose urgency is the largest."""
    for start in range(0, len(urgency), BLOCK):
        block = urgency[start : start + BLOCK]
        top = 0.0
        for k in range(len(block)):
            top = larger(top, block[k])
        if top >= best:
            for k in range(len(block)):
                if block[k] >= best:
                    return start + k
    return 0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def advance(path: Path, step: float, bias_rate: float) -> None:
    """Move the clock on by `step`, with everything that moves with it."""
    block, residual, slope = path.block, path.residual, path.slope
    path.at[CLOCK] += step
    path.at[BIAS] += step * bias_rate
    for i in range(len(residual)):
        residual[i] += step * slope[i]
    for k in range(block.size[0]):
        path.z[block.members[k]] += step * block.answer[k + 1]
        residual[block.members[k]] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def has_room(path: Path, watch: Watch, left: float) -> bool:
    """Say whether the free examples other than the watched one can take its place."""
    block, clock, z = path.block, path.at[CLOCK], path.z
    room = 0.0
    for k in range(block.size[0]):
        i = block.members[k]
        if i == watch.example:
            continue
        if watch.sign > 0.0:
            room += path.upper[i] + clock * path.upper_rate[i] - z[i]
        else:
            room += z[i] - path.lower[i] - clock * path.lower_rate[i]
    return room > left


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sure_sign(path: Path, watch: Watch, left: float) -> int:
    """Say whether the watched margin is sure to end negative (WRONG) or positive (RIGHT).

    `left` is what is left of its α.  Its slack only grows as its bound falls to 0, since the
    optimal value is concave in the bound.  Its margin falls by at most `reach` for every unit of
    α, whatever the bias is chosen to be where it is one of many, if the free examples have room
    for what is left (see `reach_of` in `leave_out`).
    """
    margin = 1.0 + watch.sign * path.residual[watch.example]
    if margin < -watch.tolerance:
        return WRONG
    if margin - left * watch.reach > watch.tolerance and has_room(path, watch, left):
        return RIGHT
    return GOING


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def handle(path: Path, event: int, who: int, floor: float) -> int:
    """Change sides as the event says."""
    block = path.block
    if event != FREED:
        done = set_bounded(path, who, -1.0 if event == AT_UPPER else 1.0)
        return GOING if done else SINGULAR
    if block.size[0] == 0:
        set_free(path, who)
        enter_first(block, path.gram, who)
        return GOING
    distance = distance_to(path.gram, block, who)
    if distance > floor:
        set_free(path, who)
        enter(block, who, distance)
        return GOING
    return GOING if slide(path, who) else SINGULAR


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def ready(path: Path, limits: Limits) -> int:
    """See that there is room for one more, that somebody is free, and that time is left."""
    block, at = path.block, path.at
    if at[EVENTS] >= limits.max_events:
        return TOO_MANY
    if block.size[0] + 2 >= len(block.members):
        return FULL
    if block.size[0] == 0 and abs(at[IMBALANCE]) > limits.still and find_partner(path) < 0:
        return NO_PARTNER
    return GOING


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def go_to_event(path: Path, watch: Watch, limits: Limits) -> int:
    """Go on to the next event and past it."""
    bias_rate = aim(path)
    noise = limits.noise * (limits.fastest + total_rate(path.block))
    if largest_error(path) > noise:
        bias_rate = aim_again(path)
        if largest_error(path) > MANY * noise:
            return STALE
    path.at[EVENTS] += 1
    step, event, who = next_bound(path, 1.0 - path.at[CLOCK])
    best = most_urgent(path, noise)
    if best * step > 1.0:
        who = first_urgent(path.urgency, best)
        step, event = max(-path.residual[who] / path.slope[who], 0.0), FREED
    advance(path, step, bias_rate)
    if watch.example >= 0 and path.at[CLOCK] < NEARLY_OVER:
        verdict = sure_sign(path, watch, abs(bound_now(path, watch.example)))
        if verdict != GOING:
            return verdict
    if event == END:
        path.at[CLOCK] = 1.0
        return ARRIVED
    return handle(path, event, who, limits.floor)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow(path: Path, watch: Watch, limits: Limits) -> int:
    """Go on until the clock is 1, the watched sign is sure, or something stands in the way.

    After FULL a larger block, and after STALE a fresh inverse, lets the path go on from there.
    """
    verdict = GOING
    while verdict == GOING:
        verdict = ready(path, limits)
        if verdict == GOING:
            verdict = go_to_event(path, watch, limits)
    return verdict
