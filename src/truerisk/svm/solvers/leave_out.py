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

from truerisk.svm.solution import Array
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
from truerisk.svm.solvers.path_state import BIAS, Path, arrive, depart
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
def copy_start(base: Path, path: Path) -> None:
    """Bring a path back to the solution on all examples."""
    for i in range(len(base.z)):
        path.z[i] = base.z[i]
        path.residual[i] = base.residual[i]
        path.side[i] = base.side[i]
    path.at[BIAS] = base.at[BIAS]
    copy_block(base.block, path.block)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def put_out(path: Path, t: int) -> bool:
    """Let both bounds of example t go from where it stands to 0."""
    block = path.block
    held = True
    for k in range(block.size[0]):
        if block.members[k] == t:
            held = leave(block, k)
            break
    path.side[t] = 0.0
    path.lower[t] = path.upper[t] = path.z[t]
    path.lower_rate[t] = path.upper_rate[t] = -path.z[t]
    return held


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def put_back(base: Path, path: Path, t: int) -> None:
    """Undo what `put_out` did to the bounds."""
    path.lower[t], path.upper[t] = base.lower[t], base.upper[t]
    path.lower_rate[t] = path.upper_rate[t] = 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def asked_bias(path: Path, y: Array, i: int) -> float:
    """Compute y − Kz of one example anew."""
    row = path.gram[i]
    total = y[i]
    for k in range(len(row)):
        total -= row[k] * path.z[k]
    return float(total)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bias_interval(path: Path, t: int) -> tuple[float, float]:
    """Give how far the bias may fall and rise while everybody stays on its side."""
    down, up = -FAR, FAR
    for i in range(len(path.z)):
        if i == t or path.lower[i] >= path.upper[i]:
            continue
        edge = INSIDE * (path.upper[i] - path.lower[i])
        if path.z[i] < path.upper[i] - edge:
            down = max(down, -path.residual[i])
        if path.z[i] > path.lower[i] + edge:
            up = min(up, -path.residual[i])
    return down, up


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def settle(path: Path, y: Array, t: int, tolerance: float) -> tuple[float, bool]:
    """Compute the margin of t anew where the path has ended; say whether it can be believed.

    With a free example the bias is what these ask for on average; with none it is the midpoint of
    what it may be.
    """
    asked = asked_bias(path, y, t)
    total, count, spread_of = 0.0, 0, 0.0
    for k in range(path.block.size[0]):
        i = path.block.members[k]
        edge = INSIDE * (path.upper[i] - path.lower[i])
        if path.lower[i] + edge < path.z[i] < path.upper[i] - edge and count < CHECKED:
            own = asked_bias(path, y, i)
            spread_of = max(spread_of, abs(own - path.at[BIAS]))
            total += own
            count += 1
    if count > 0:
        bias = total / count
    else:
        down, up = bias_interval(path, t)
        if down <= -FAR / 2 or up >= FAR / 2:
            return 0.0, False
        bias = path.at[BIAS] + 0.5 * (down + up)
        spread_of = max(down - up, 0.0)
    return 1.0 + y[t] * (bias - asked), spread_of <= tolerance


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def leave_out(base: Path, path: Path, y: Array, watch: Watch, limits: Limits) -> tuple[int, float]:
    """Follow the path on which U_t goes to 0; give the verdict and the margin."""
    t = watch.example
    copy_start(base, path)
    if not put_out(path, t):
        return SINGULAR, 0.0
    depart(path)
    verdict = follow(path, watch, limits)
    if verdict not in (ARRIVED, WRONG, RIGHT):
        return verdict, 0.0
    arrive(path)
    margin, believed = settle(path, y, t, 1e3 * watch.tolerance)
    if verdict == WRONG:
        believed = believed and margin < 0.0
    if verdict == RIGHT:
        margin -= abs(path.z[t]) * watch.reach
        believed = believed and margin > 0.0
    return (verdict if believed else SINGULAR), margin


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
        left = abs(base.z[t])
        if left == 0.0 and base.block.size[0] > 0:
            verdicts[k], margins[k] = ARRIVED, 1.0 + y[t] * base.residual[t]
            continue
        watch = Watch(t, y[t], reach_of(path.gram[t], ground, t), ground.tolerance)
        verdicts[k] = sure_sign(base, watch, left)
        if verdicts[k] == GOING:
            still = limits.still * left
            own = Limits(limits.floor, limits.noise, still, left, limits.max_events)
            verdicts[k], margins[k] = leave_out(base, path, y, watch, own)
            put_back(base, path, t)
        else:
            margins[k] = 1.0 + y[t] * base.residual[t]
