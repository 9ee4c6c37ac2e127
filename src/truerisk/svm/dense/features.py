"""The linear SVM on few features: interior point first, then the exact finish.

Problem   min  ½ w·w + Σᵢ Uᵢξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ  and  ξᵢ ≥ 0
Given     a dense table of n examples and d features, d up to some 200, in any units
Returns   `LinearSolution`; the gap is that of the rounded numbers, not an estimate
Method    interior point (`truerisk.kernels.interior`), then the exact finish
Units     The rows are centred, which moves b only, and each column is divided by its largest
          entry; w·w is kept in the units of the table by the metric 1/scale²: the problem solved
          is the one given.
Memory    one copy of the table and some 20 numbers an example
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import interior as kernel
from truerisk.svm.dense.exact_finish import (
    ON_THE_MARGIN,
    REST,
    SHARE,
    SLACK,
    SURPLUS,
    Problem,
    Vertex,
    finish,
)
from truerisk.svm.solution import LinearSolution


def pivoted_features(gram: Array, max_rank: int, relative: float = 1e-12) -> Array | None:
    """Write a symmetric Gram matrix as FFᵀ of at most `max_rank` columns; None if it needs more.

    |K − FFᵀ|ᵢⱼ ≤ relative · max Kₖₖ.  The diagonal that is left bounds every entry only if K has no
    negative eigenvalue: this is tried on one vector of signs.
    """
    left = np.array(np.diagonal(gram), np.float64)
    negligible = relative * left.max(initial=0.0)
    # By rows, so that every product below reads memory in one piece.
    columns = np.zeros((min(max_rank, len(left)), len(left)))
    used = 0
    while left.max(initial=0.0) > negligible:
        if used == len(columns):
            return None
        pivot = int(np.argmax(left))
        column = gram[pivot] - columns[:used, pivot] @ columns[:used]
        column /= np.sqrt(left[pivot])
        columns[used] = column
        left -= column * column
        left[pivot] = 0.0
        used += 1
    features = np.ascontiguousarray(columns[:used].T)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=len(left))
    error = np.abs(gram @ signs - features @ (signs @ features)).max(initial=0.0)
    # A matrix of zeros has no scale of its own: then nothing at all may be left.
    return features if error <= len(left) * negligible else None


TARGETS = (1e-6, 1e-8, 1e-10, 1e-12, 1e-14)  # how close to go before the finish is tried (again)
FEW_ROUNDS, MANY_ROUNDS = 8, 1000  # of the finish: a step further costs less than many of them
BLOCK = 256  # examples that are scaled and multiplied at a time: they stay in the cache
VECTORS = 9  # numbers per example that a step of the interior point works with
NEAR_START = 0.1  # µ at a start from another solution, for each unit of the middle bound
INVISIBLE = 1e-100  # the square of a column this small is lost beside a margin of 1


@dataclass(frozen=True)
class Units:
    """What was subtracted from each column, and what it was divided by: inf, if it is constant."""

    centre: Array
    scale: Array


def solve_features(
    features: Array,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    max_passes: int = 100,
    start: LinearSolution | None = None,
) -> LinearSolution:
    """Solve the linear SVM with a free bias on a table of few features, in any units.

    Each α is 0, or its bound, or belongs to an example whose margin is 1; the gap is that of
    rounding.  An α that is not unique is the one next to the analytic centre: equal examples with
    equal bounds have equal α.  `start` solves nearly the same problem, and saves some steps.
    Source: M. C. Ferris and T. S. Munson, SIAM Journal on Optimization 13(3), 783-804, 2002.
    """
    features, y, upper = (np.asarray(a, dtype=np.float64) for a in (features, y, upper))
    kept = upper > 0.0
    is_positive = y[kept] > 0.0
    if is_positive.all() or not is_positive.any():
        return _one_class(y, upper, features.shape[1], kept)
    rows, units = _rows(features if kept.all() else features[kept], y[kept])
    varies = np.isfinite(units.scale)
    metric = np.append(units.scale[varies] ** -2.0, 0.0)
    problem = Problem(rows, upper[kept], metric)
    u = np.zeros(len(metric))
    if start is not None:
        u[:-1] = start.weights[varies] * units.scale[varies]
        u[-1] = start.bias + float(start.weights @ units.centre)
    vertex, passes = _optimum(problem, u, tolerance, max_passes)
    alpha, decision, weights = np.zeros(len(y)), np.empty(len(y)), np.zeros(len(varies))
    alpha[kept] = vertex.alpha
    weights[varies] = vertex.u[:-1] / units.scale[varies]
    decision[kept] = y[kept] * (rows @ vertex.u)
    decision[~kept] = (features[~kept] - units.centre) @ weights + vertex.u[-1]
    return LinearSolution(
        y=y,
        upper=upper,
        alpha=alpha,
        bias=float(vertex.u[-1] - weights @ units.centre),
        decision=decision,
        gap=vertex.gap,
        passes=passes,
        weights=weights,
    )


def scale_columns(features: Array, table: Array, trained: NDArray[np.intp] | None = None) -> Units:
    """Write the features into `table`, centred and scaled by the examples that are trained on."""
    # The first row goes first, so that a constant column becomes exactly 0.
    first = features[0 if trained is None else trained[0]]
    np.subtract(features, first, out=table)
    mean = (table if trained is None else table[trained]).mean(axis=0)
    table -= mean
    own = table if trained is None else table[trained]
    largest = np.maximum(own.max(axis=0), -own.min(axis=0))
    varies = largest > INVISIBLE
    table /= np.where(varies, largest, 1.0)
    return Units(first + mean, np.where(varies, largest, np.inf))


def _rows(features: Array, y: Array) -> tuple[Array, Units]:
    """Write y(z, 1) with z centred and scaled, in one copy of the table."""
    n, d = features.shape
    rows = np.empty((n, d + 1))
    units = scale_columns(features, rows[:, :-1])
    rows[:, -1] = 1.0
    rows *= y[:, None]
    varies = np.isfinite(units.scale)
    if not varies.all():
        rows = np.ascontiguousarray(rows[:, np.append(varies, True)])
    return rows, units


def _optimum(problem: Problem, u: Array, tolerance: float, max_passes: int) -> tuple[Vertex, int]:
    """Go from u, which is changed, to the optimum; from 0 where u is no better than that."""
    rows, upper, metric = problem.rows, problem.upper, problem.metric
    state = _state_near(problem, u) if u.any() else None
    if state is None:
        u[:], state = 0.0, _start(problem.y, upper)
    passes, vertices, work = 0, [], workspace(*rows.shape)
    for target in TARGETS:
        passes += kernel.follow_path(
            rows, upper, metric, u, state, *work, target, max_passes - passes
        )
        last = target == TARGETS[-1] or passes >= max_passes
        max_rounds = MANY_ROUNDS if last else FEW_ROUNDS
        vertices.append(finish(problem, u, state, tolerance=tolerance, max_rounds=max_rounds))
        if last or vertices[-1].gap <= min(tolerance, ON_THE_MARGIN):
            break
    return min(vertices, key=lambda vertex: vertex.gap), passes


def workspace(n: int, m: int) -> tuple[Array, Array, Array]:
    """Allocate what a problem of n examples and m = features + 1 needs besides its state."""
    blocks = math.ceil(n / BLOCK)
    size = math.ceil(n / blocks)  # blocks of one size: the last is not half empty
    return np.empty((VECTORS, n)), np.empty((m + 2, m)), np.empty((size, m))


def _start(y: Array, upper: Array) -> Array:
    """Begin with Σ yα = 0, half of the smaller class's bounds used, and not far from the centre."""
    positive, negative = upper[y > 0.0].sum(), upper[y < 0.0].sum()
    state = np.empty((4, len(y)))
    state[SHARE] = 0.5 * min(positive, negative) / np.where(y > 0.0, positive, negative)
    state[REST] = 1.0 - state[SHARE]
    state[SURPLUS] = state[SLACK] = np.maximum(1.0, upper.mean() / upper)
    return state


def _state_near(problem: Problem, u: Array) -> Array | None:
    """Begin where the central path has the margins of u; None where u is of no use.

    That is where its objective is no smaller than that of 0 and the better bias: from the solution
    for other examples, say, there may be many steps.  With δ = margin − 1 and ν = µ/U there is
    surplus = ν + √(δ²/4 + ν²) + δ/2 and slack = surplus − δ; the smaller of the two is found by its
    product with the larger, and no digit is lost.
    """
    upper = problem.upper
    beyond = problem.rows @ u - 1.0
    objective = 0.5 * (u @ (problem.metric * u)) - upper @ np.minimum(beyond, 0.0)
    if not objective < upper.sum() - abs(upper @ problem.y):
        return None
    middle = len(upper) // 2  # a mean would be that of the largest bounds
    nu = NEAR_START * np.partition(upper, middle)[middle] / upper
    half = 0.5 * beyond
    root = np.hypot(half, nu) + np.abs(half)
    large, small = nu + root, nu + nu * nu / root
    state = np.empty((4, len(upper)))
    state[SURPLUS] = np.where(half > 0.0, large, small)
    state[SLACK] = np.where(half > 0.0, small, large)
    np.divide(nu, state[SURPLUS], out=state[SHARE])
    np.divide(nu, state[SLACK], out=state[REST])
    return state


def _one_class(y: Array, upper: Array, width: int, kept: NDArray[np.bool_]) -> LinearSolution:
    """Return the SVM that always says the only class there is, or 0 where there is none."""
    bias = float(y[kept][0]) if kept.any() else 0.0
    return LinearSolution(
        y=y,
        upper=upper,
        alpha=np.zeros(len(y)),
        bias=bias,
        decision=np.full(len(y), bias),
        gap=0.0,
        passes=0,
        weights=np.zeros(width),
    )
