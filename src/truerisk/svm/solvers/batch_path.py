"""Many interior points of machines that differ in their bounds, each lane a machine.

Problem   that of `interior_point`, for every row of `bounds`
Given     the rows rᵢ = yᵢ(zᵢ, 1), their packed products, the metric, and bounds ≥ 0 which leave
          both classes
Returns   in place, u of every machine, and how it ended
Method    `LANES` machines take their steps together, so that each step is a handful of matrix
          products; a machine that has arrived leaves its lane to the next one.
Source    as `interior_point`
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

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
    LINEAR,
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
from truerisk.svm.solvers.interior_point import BACK, STALLED

Array = NDArray[np.float64]

ARRIVED, LOOSE, LOST_WAY = range(3)  # on the margin, with no example on the margin, not at all
NOBODY = -1  # in a lane
MARGINAL = 1e3  # how much larger share must be than surplus, for an example on the margin


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def enter(  # noqa: PLR0917 - compiled code takes no keywords
    tile: Array, lanes: Array, y: Array, upper: Array, weights: Array, right: Array, r: int
) -> None:
    """Put a machine into lane r, at the start of `low_rank`, with all that `advance` writes."""
    positive, negative, count = 0.0, 0.0, 0
    for i in range(len(y)):
        if y[i] > 0.0:
            positive += upper[i]
        else:
            negative += upper[i]
        count += upper[i] > 0.0
    half, mean = 0.5 * min(positive, negative), (positive + negative) / count
    gap, mass = 0.0, 0.0
    for i in range(len(y)):
        row, bound = tile[i], upper[i]
        share = half / (positive if y[i] > 0.0 else negative)
        away = max(1.0, mean / bound) if bound > 0.0 else FAR
        row[BOUND + r], row[PER_BOUND + r] = bound, 1.0 / bound if bound > 0.0 else 0.0
        row[SHARE + r], row[REST + r] = share, 1.0 - share
        row[SURPLUS + r] = row[SLACK + r] = away
        row[MARGIN + r] = row[D_SHARE + r] = row[D_SURPLUS + r] = row[D_SLACK + r] = 0.0
        row[YIELD + r] = 1.0 / away
        weights[i, r] = bound * share * (1.0 - share) / away
        right[i, r] = bound * share + weights[i, r]
        gap += bound * away
        mass += bound * share
    lanes[GAP + r], lanes[MASS + r], lanes[LEFT + r] = gap, mass, 1.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def marginal(tile: Array, r: int) -> bool:
    """Say whether an example of lane r is on the margin, and so pins the bias down."""
    for i in range(tile.shape[0]):
        row = tile[i]
        if row[BOUND + r] > 0.0 and row[SHARE + r] > MARGINAL * row[SURPLUS + r]:
            if row[REST + r] > MARGINAL * row[SLACK + r]:
                return True
    return False


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def aim(lanes: Array, n: int) -> None:
    """Choose the µ that each lane's corrected step aims at, from its predicted step."""
    for r in range(LANES):
        gap, step = lanes[GAP + r], min(1.0, 1.0 / lanes[STEEPEST + r])
        predicted = (1.0 - step) * gap + step * step * lanes[QUADRATIC + r]
        lanes[CENTRE + r] = gap / (2 * n) * (predicted / gap) ** 3


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def measure_steps(lanes: Array, owner: NDArray[np.int64]) -> None:
    """Choose the length of each lane's step: 0 where it leads nowhere, or nobody is there."""
    for r in range(LANES):
        step = min(1.0, BACK / lanes[STEEPEST + r])
        after = step * (lanes[LINEAR + r] + step * lanes[QUADRATIC + r])
        leads = owner[r] != NOBODY and after < 0.0 and step > STALLED
        lanes[STEP + r] = step if leads else 0.0
        lanes[LEFT + r] *= 1.0 - lanes[STEP + r]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow_paths(  # noqa: PLR0917 - compiled code takes no keywords
    rows: Array,
    products: Array,
    metric: Array,
    bounds: Array,
    tolerance: float,
    max_steps: int,
    found: Array,
    ends: NDArray[np.int64],
) -> int:
    """Solve the machine of every row of `bounds`; return the number of steps of all lanes."""
    n, m = rows.shape
    columns, y = np.ascontiguousarray(rows.T), np.ascontiguousarray(rows[:, -1])
    tile, lanes = np.ones((n, TILE)), np.ones(LANE)
    first, second = np.zeros((n, LANES)), np.zeros((n, LANES))
    weights, right = np.ones((n, LANES)), np.ones((n, LANES))
    packed = np.empty((len(products), LANES))
    u, du, more = np.zeros((m, LANES)), np.empty((m, LANES)), np.empty((m, LANES))
    owner, taken = np.full(LANES, NOBODY), np.zeros(LANES, dtype=np.int64)
    waiting, inside, rounds = 0, 0, 0
    lanes[STEP : STEP + LANES] = 1.0
    while True:
        advance(tile, first, second, lanes, weights, right)
        for r in range(LANES):
            who = owner[r]
            if who != NOBODY:
                near = tolerance * lanes[MASS + r]
                arrived = lanes[GAP + r] <= near and lanes[LEFT + r] <= tolerance
                if not (arrived or lanes[STEP + r] == 0.0 or taken[r] == max_steps):
                    taken[r] += 1
                    continue
                for j in range(m):
                    found[who, j] = u[j, r]
                ends[who] = LOST_WAY
                if arrived:
                    ends[who] = ARRIVED if marginal(tile, r) else LOOSE
                owner[r] = NOBODY
                inside -= 1
            if waiting < len(bounds):
                enter(tile, lanes, y, bounds[waiting], weights, right, r)
                u[:, r] = 0.0
                owner[r], taken[r] = waiting, 1
                waiting += 1
                inside += 1
        if inside == 0:
            return rounds
        rounds += 1
        np.dot(products, weights, packed)
        np.dot(columns, right, du)
        for j in range(m):
            diagonal = packed[j * (j + 3) // 2]
            for r in range(LANES):
                diagonal[r] += metric[j]
                du[j, r] -= metric[j] * u[j, r]
        factorise_packed(packed, m)
        solve_packed(packed, du)
        np.dot(rows, du, first)
        predict(tile, first, lanes)
        aim(lanes, n)
        correct(tile, first, lanes, right)
        np.dot(columns, right, more)
        solve_packed(packed, more)
        np.dot(rows, more, second)
        direct(tile, first, second, lanes)
        measure_steps(lanes, owner)
        for j in range(m):
            for r in range(LANES):
                u[j, r] += lanes[STEP + r] * (du[j, r] + more[j, r])
