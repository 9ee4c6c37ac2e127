"""The path on which one example of a support vector machine is left out, and its margin at the end.

Problem   y_t f₋t(x_t), where f₋t is the machine fitted without example t
Given     the solution on all examples with the inverse of its free block, and t
Link      both bounds of z_t go from where it stands to 0
Returns   a verdict and the margin: exact at the end of the path, of the right sign before
Source    Cauwenberghs and Poggio, NIPS 2000
Cache     as in `smo`
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.active_set import (
    ARRIVED,
    GOING,
    RIGHT,
    SINGULAR,
    WRONG,
    Limits,
    Watch,
    follow,
    sure_sign,
)
from truerisk.svm.solvers.free_block import copy_block, leave
from truerisk.svm.solvers.max_reduction import larger
from truerisk.svm.solvers.path_state import (
    BIAS,
    LOWER,
    LOWER_RATE,
    RESIDUAL,
    SIDE,
    UPPER,
    UPPER_RATE,
    Path,
    Z,
    arrive,
    depart,
)
from truerisk.svm.solvers.smo import FAR, REARRANGE

CHECKED = 8  # free examples whose margin is computed anew before a verdict is believed
INSIDE = 1e-9  # beside its range, how far within its bounds a free example is
BELIEVED = 1e3  # times the margin of a tie: what rounding may do to a margin on its path


class Ground(NamedTuple):
    """What the reach of every example is computed from."""

    diagonal: Array
    widest: float  # at least the squared distance of any two images
    one_bound: bool  # whether all examples have the same bound
    tolerance: float  # a margin that is a tie


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def farthest(row: Array, diagonal: Array) -> float:
    """Give the largest of K(x, x) − 2K(x, t) over all x."""
    largest = -FAR
    for i in range(len(row)):
        largest = larger(largest, diagonal[i] - 2.0 * row[i])
    return largest


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def reach_of(row: Array, ground: Ground, t: int) -> float:
    """Bound how much the margin of t falls for every unit of its α that is taken away.

    Let a be the α that is taken away, Δw the change of the machine, m and m₀ the margin before and
    after, D the distance of the image of t to the farthest other, p a free example and E the
    distance of its image to the farthest other.  The two optimality conditions give
    |Δw|² ≤ a (m − m₀).  Seen from what p asks for, nobody's remainder changes by more than E|Δw|,
    that of t by no more than D|Δw|; and if the free have more room than a, no bias of the machine
    without t is farther than E|Δw| from what p asks for, since otherwise all of them would have to
    be at one bound, and Σz could not be 0.  So m − m₀ ≤ (D + E)|Δw| ≤ a (D + E)².

    With one bound for all, somebody is free all the way, and the margin falls continuously by the
    squared distance to the free images, until at the very end the bias may jump: then
    |Δw| ≤ aD and m − m₀ ≤ a (D² + ED).
    """
    own = max(ground.diagonal[t] + farthest(row, ground.diagonal), 0.0)
    free = min(ground.widest, 4.0 * own)
    both = np.sqrt(own * free)
    if ground.one_bound:
        return float(own + both)
    return float(own + free + 2.0 * both)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def put_out(base: Path, path: Path, t: int) -> bool:
    """Bring a path back to the solution on all examples, and let both bounds of t go to 0.

    False if the inverse has lost its meaning.
    """
    for row in (Z, RESIDUAL, SIDE):
        for i in range(base.rows.shape[1]):
            path.rows[row, i] = base.rows[row, i]
    path.at[BIAS] = base.at[BIAS]
    copy_block(base.block, path.block)
    rows, block = path.rows, path.block
    rows[SIDE, t] = 0.0
    rows[LOWER, t] = rows[UPPER, t] = rows[Z, t]
    rows[LOWER_RATE, t] = rows[UPPER_RATE, t] = -rows[Z, t]
    for k in range(1, block.members[0] + 1):
        if block.members[k] == t:
            return leave(block, k)
    return True


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def put_back(base: Path, path: Path, t: int) -> None:
    """Undo what `put_out` did to the bounds."""
    path.rows[LOWER, t], path.rows[UPPER, t] = base.rows[LOWER, t], base.rows[UPPER, t]
    path.rows[LOWER_RATE, t] = path.rows[UPPER_RATE, t] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def asked_bias(row: Array, z: Array, y: float) -> float:
    """Compute y − Kz of one example anew."""
    total = y
    for k in range(len(row)):
        total -= row[k] * z[k]
    return total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def shift_of_bias(rows: Array, t: int) -> tuple[float, float]:
    """Give the middle and the width of what may be added to the bias with nobody free."""
    down, up = -FAR, FAR
    for i in range(rows.shape[1]):
        edge = INSIDE * (rows[UPPER, i] - rows[LOWER, i])
        if edge > 0.0 and i != t:
            if rows[Z, i] < rows[UPPER, i] - edge:
                down = max(down, -rows[RESIDUAL, i])
            if rows[Z, i] > rows[LOWER, i] + edge:
                up = min(up, -rows[RESIDUAL, i])
    return 0.5 * (down + up), up - down


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def settle(path: Path, y: Array, watch: Watch) -> tuple[float, bool]:
    """Compute the margin of t anew where the path has ended; say whether it can be believed.

    With a free example the bias is what these ask for on average; with none it is the midpoint of
    what it may be.
    """
    gram, rows, block, bias = path.gram, path.rows, path.block, path.at[BIAS]
    z, t, largest = rows[Z], watch.example, BELIEVED * watch.tolerance
    total, count, error = 0.0, 0, 0.0
    for k in range(1, block.members[0] + 1):
        i = block.members[k]
        edge = INSIDE * (rows[UPPER, i] - rows[LOWER, i])
        if rows[LOWER, i] + edge < z[i] < rows[UPPER, i] - edge and count < CHECKED:
            own = asked_bias(gram[i], z, y[i])
            error = max(error, abs(own - bias))
            total += own
            count += 1
    if count > 0:
        bias = total / count
    else:
        middle, width = shift_of_bias(rows, t)
        bias += middle
        if not -largest <= width < FAR / 2:
            return 0.0, False
    return 1.0 + y[t] * (bias - asked_bias(gram[t], z, y[t])), error <= largest


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def conclude(path: Path, y: Array, watch: Watch, verdict: int) -> tuple[int, float]:
    """Give the margin at the end of a path, and its verdict if that margin agrees with it."""
    if verdict not in (ARRIVED, WRONG, RIGHT):
        return verdict, 0.0
    arrive(path)
    margin, believed = settle(path, y, watch)
    if verdict == WRONG:
        believed = believed and margin < -watch.tolerance
    if verdict == RIGHT:
        margin -= abs(path.rows[Z, watch.example]) * watch.reach
        believed = believed and margin > watch.tolerance
    return (verdict if believed else SINGULAR), margin


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def at_rate(unit: Limits, rate: float) -> Limits:
    """Give the limits for a bound that moves at `rate` from those for rate 1."""
    still, most, stall = unit.still * rate, unit.max_events, unit.max_stall
    return Limits(unit.floor, unit.noise, still, rate, most, stall)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def leave_out_many(  # noqa: PLR0917  (compiled code has no keywords)
    base: Path,
    path: Path,
    y: Array,
    which: NDArray[np.int64],
    limits: Limits,
    ground: Ground,
    verdicts: NDArray[np.int64],
    margins: Array,
) -> None:
    """Leave out one example after the other; `limits` are those for bounds that move at rate 1."""
    for k in range(len(which)):
        t = which[k]
        left = abs(base.rows[Z, t])
        margins[k] = 1.0 + y[t] * base.rows[RESIDUAL, t]
        if left == 0.0 and base.block.members[0] > 0:
            verdicts[k] = ARRIVED
            continue
        watch = Watch(t, y[t], reach_of(path.gram[t], ground, t), ground.tolerance)
        verdict = sure_sign(base, watch, left)
        if verdict == GOING:
            verdict = SINGULAR
            if put_out(base, path, t):
                depart(path)
                verdict = follow(path, watch, at_rate(limits, left))
            verdict, margins[k] = conclude(path, y, watch, verdict)
            put_back(base, path, t)
        verdicts[k] = verdict
