"""Many interior points of machines that differ in their bounds, each lane a machine.

Problem   that of `interior_point`, for every row of `bounds`
Given     the rows rᵢ = yᵢ(zᵢ, 1), their packed products, the metric, a common start u₀, and bounds
          ≥ 0 which leave both classes
Returns   in place, u of every machine; how far its objective is from the optimum, at most; and how
          far the margin of some example that the optimum has on its margin is from 1, ∞ if no
          example is known to be there
Method    `LANES` machines take their steps together, so that each step is a handful of matrix
          products; a machine that has arrived leaves its lane to the next one.  At the start every
          example is put where u₀ and µ have it on the central path, whatever its bound: only
          metric·u = Rᵀα is violated, and the steps make up for that.
Source    as `interior_point`
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.batch_cholesky import factorise_packed, solve_packed
from truerisk.svm.solvers.batch_lanes import (
    BOUND,
    CENTRE,
    D_SHARE,
    D_SLACK,
    D_SURPLUS,
    FAR,
    GAP,
    LANE,
    LANES,
    LEFT,
    MARGIN,
    MASS,
    PER_BOUND,
    QUADRATIC,
    REST,
    SHARE,
    SLACK,
    STEEPEST,
    STEP,
    SURPLUS,
    TILE,
    YIELD,
    advance,
    correct,
    direct,
    predict,
)
from truerisk.svm.solvers.interior_point import STALLED

BACK = 0.999  # how far to go towards the nearest bound: the start is central, so far
NOBODY = -1  # in a lane
ON_THE_MARGIN = 1e3  # how much larger share and rest are than surplus and slack, of such an example
FEASIBLE = 1e-9  # of the violation at the start: with more of it left, a gap is no bound


class Machines(NamedTuple):
    """What all machines share, and where their answers go, one row or entry a machine."""

    rows: Array
    products: Array
    metric: Array
    start: Array  # u₀
    centre: float  # µ at the start, for each unit of the mean bound
    bounds: Array
    found: Array
    gaps: Array
    slips: Array


class Work(NamedTuple):
    """The memory of the lanes."""

    tile: Array
    lanes: Array
    first: Array
    second: Array
    weights: Array
    right: Array
    packed: Array
    u: Array
    du: Array
    more: Array
    owner: NDArray[np.int64]
    taken: NDArray[np.int64]


def workspace(n: int, m: int) -> Work:
    """Allocate the lanes for n examples and m = features + 1, with nobody in them.

    Examples
    --------
    >>> workspace(5, 3).packed.shape == (6, LANES)
    True
    """
    tall, wide = (n, LANES), (m, LANES)
    return Work(
        tile=np.ones((n, TILE)),
        lanes=np.ones(LANE),
        first=np.zeros(tall),
        second=np.zeros(tall),
        weights=np.ones(tall),
        right=np.ones(tall),
        packed=np.ones((m * (m + 1) // 2, LANES)),
        u=np.zeros(wide),
        du=np.zeros(wide),
        more=np.zeros(wide),
        owner=np.full(LANES, NOBODY),
        taken=np.zeros(LANES, dtype=np.int64),
    )


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def enter(machines: Machines, work: Work, margin: Array, who: int, r: int) -> None:
    """Put a machine into lane r, with all that `advance` writes.

    With δ = margin − 1 and ν = µ/U the central path has surplus = ν + (√(δ² + 4ν²) + δ)/2 and
    slack = surplus − δ; the smaller of the two by its product with the larger, so that no digit is
    lost.
    """
    upper, tile, lanes = machines.bounds[who], work.tile, work.lanes
    live = 0
    for i in range(len(upper)):
        live += upper[i] > 0.0
    mu = machines.centre * upper.sum() / live
    mass = 0.0
    for i in range(len(upper)):
        row, bound = tile[i], upper[i]
        row[BOUND + r], row[MARGIN + r] = bound, margin[i]
        row[D_SHARE + r] = row[D_SURPLUS + r] = row[D_SLACK + r] = 0.0
        row[PER_BOUND + r], row[SURPLUS + r], row[SLACK + r] = 0.0, FAR, FAR
        row[SHARE + r] = row[REST + r] = 0.5
        if bound > 0.0:
            nu, off = mu / bound, abs(margin[i] - 1.0)
            root = np.sqrt(off * off + 4.0 * nu * nu)
            large, small = nu + 0.5 * (root + off), nu + 2.0 * nu * nu / (root + off)
            ahead = margin[i] > 1.0
            row[PER_BOUND + r] = 1.0 / bound
            row[SURPLUS + r], row[SLACK + r] = (large, small) if ahead else (small, large)
            row[SHARE + r], row[REST + r] = nu / row[SURPLUS + r], nu / row[SLACK + r]
        share, rest = row[SHARE + r], row[REST + r]
        row[YIELD + r] = 1.0 / (row[SURPLUS + r] * rest + row[SLACK + r] * share)
        work.weights[i, r] = bound * (share * rest * row[YIELD + r])
        work.right[i, r] = bound * share + work.weights[i, r] * (1.0 - margin[i])
        mass += bound * share
    lanes[GAP + r], lanes[MASS + r], lanes[LEFT + r] = 2.0 * mu * live, mass, 1.0
    for j in range(len(machines.start)):
        work.u[j, r] = machines.start[j]
    work.owner[r], work.taken[r] = who, 0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def slip(tile: Array, r: int) -> float:
    """Give the smallest distance to 1 of a margin that is 1 at the optimum of lane r."""
    smallest = np.inf
    for i in range(tile.shape[0]):
        row = tile[i]
        behind, ahead = row[SURPLUS + r], row[SLACK + r]
        inside = row[SHARE + r] > ON_THE_MARGIN * behind and row[REST + r] > ON_THE_MARGIN * ahead
        if inside and row[BOUND + r] > 0.0:
            smallest = min(smallest, behind + ahead)
    return smallest


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def leave(machines: Machines, work: Work, r: int) -> None:
    """Write down what became of the machine in lane r: a number that is none, never."""
    who, gap = work.owner[r], work.lanes[GAP + r]
    known = work.lanes[LEFT + r] <= FEASIBLE and np.isfinite(gap)
    for j in range(len(machines.start)):
        machines.found[who, j] = work.u[j, r] if known else machines.start[j]
    machines.gaps[who] = gap if known else np.inf
    machines.slips[who] = slip(work.tile, r)
    work.owner[r] = NOBODY


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def has_ended(work: Work, r: int, tolerance: float, max_steps: int) -> bool:
    """Say whether the machine in lane r has arrived, or will get no further."""
    lanes, taken = work.lanes, work.taken[r]
    near = lanes[GAP + r] <= tolerance * lanes[MASS + r] and lanes[LEFT + r] <= FEASIBLE
    return bool(near or taken == max_steps or (taken > 0 and lanes[STEP + r] == 0.0))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def aim(lanes: Array, n: int) -> None:
    """Choose the µ that each lane's corrected step aims at, from its predicted step."""
    for r in range(LANES):
        gap, step = lanes[GAP + r], min(1.0, 1.0 / lanes[STEEPEST + r])
        predicted = (1.0 - step) * gap + step * step * lanes[QUADRATIC + r]
        lanes[CENTRE + r] = gap / (2 * n) * (predicted / gap) ** 3


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def measure_steps(lanes: Array) -> None:
    """Choose the length of each lane's step: 0 where it leads nowhere."""
    for r in range(LANES):
        step = min(1.0, BACK / lanes[STEEPEST + r])
        lanes[STEP + r] = step if step > STALLED else 0.0
        lanes[LEFT + r] *= 1.0 - lanes[STEP + r]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def step_all(machines: Machines, columns: Array, work: Work) -> None:
    """Predict, correct, and choose the step of every lane; u goes ahead of `advance`."""
    rows, metric, packed, u, du = machines.rows, machines.metric, work.packed, work.u, work.du
    lanes = work.lanes
    np.dot(machines.products, work.weights, packed)
    np.dot(columns, work.right, du)
    for j in range(len(metric)):
        diagonal = packed[j * (j + 3) // 2]
        for r in range(LANES):
            diagonal[r] += metric[j]
            du[j, r] -= metric[j] * u[j, r]
    factorise_packed(packed, len(metric))
    solve_packed(packed, du)
    np.dot(rows, du, work.first)
    predict(work.tile, work.first, lanes)
    aim(lanes, len(rows))
    correct(work.tile, work.first, lanes, work.right)
    np.dot(columns, work.right, work.more)
    solve_packed(packed, work.more)
    np.dot(rows, work.more, work.second)
    direct(work.tile, work.first, work.second, lanes)
    measure_steps(lanes)
    for j in range(len(metric)):
        for r in range(LANES):
            u[j, r] += lanes[STEP + r] * (du[j, r] + work.more[j, r])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow_paths(machines: Machines, work: Work, tolerance: float, max_steps: int) -> int:
    """Solve every machine; return the number of steps that the lanes took together."""
    columns = np.ascontiguousarray(machines.rows.T)
    margin = np.dot(machines.rows, machines.start)
    waiting, rounds = 0, 0
    work.lanes[STEP : STEP + LANES] = 0.0
    while True:
        inside = 0
        for r in range(LANES):
            if work.owner[r] != NOBODY and has_ended(work, r, tolerance, max_steps):
                leave(machines, work, r)
            if work.owner[r] == NOBODY and waiting < len(machines.bounds):
                enter(machines, work, margin, waiting, r)
                waiting += 1
            work.taken[r] += 1
            inside += work.owner[r] != NOBODY
        if inside == 0:
            return rounds
        step_all(machines, columns, work)
        advance(work.tile, work.first, work.second, work.lanes, work.weights, work.right)
        rounds += 1
