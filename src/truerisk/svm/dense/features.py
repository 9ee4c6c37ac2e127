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
    r"""Write a Gram matrix as features of at most `max_rank` columns, if these are enough.

    .. math:: |K - F F^\top|_{ij} \le relative \cdot \max_k K_{kk}

    A kernel of low rank (linear on few features, a polynomial of low degree) or a smooth one is
    then a linear SVM on `F`.  Columns are taken in the order of what is left of the diagonal,
    so that their number is near the rank; after the last one the diagonal bounds every entry that
    is left, as long as K has no negative eigenvalue: this is tried out on one vector of signs.

    Parameters
    ----------
    gram
        K(x, x′) of every pair of examples, symmetric.
    max_rank
        None is given where more columns than this are needed.
    relative
        What may be left of an entry, beside the largest K(x, x).

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> features = pivoted_features(x @ x.T, 2)
    >>> np.allclose(features @ features.T, x @ x.T), pivoted_features(x @ x.T, 1)
    (True, None)
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


TARGETS = (1e-8, 1e-10, 1e-12, 1e-14)  # how close to go before the finish is tried (again)
FEW_ROUNDS, MANY_ROUNDS = 8, 1000  # of the finish: a step further costs less than many of them
BLOCK = 256  # examples that are scaled and multiplied at a time: they stay in the cache
VECTORS = 9  # numbers per example that a step of the interior point works with
INVISIBLE = 1e-100  # the square of a column this small is lost beside a margin of 1


@dataclass(frozen=True)
class Units:
    """What was subtracted from each column, and what it was divided by: inf, if it is constant."""

    centre: Array
    scale: Array


def solve_features(
    features: Array, y: Array, upper: Array, *, tolerance: float = 1e-6, max_passes: int = 100
) -> LinearSolution:
    r"""Solve the linear SVM with a free bias on a table of few features.

    .. math:: \min_{w, b, \xi} \tfrac12 w \cdot w + \sum_i U_i \xi_i, \qquad
              y_i (w \cdot x_i + b) \ge 1 - \xi_i, \quad \xi_i \ge 0

    The time of a step grows with n·d², and 10 to 50 steps are enough whatever the units and the
    bounds.  The finish makes the solution exact: each α is 0, or its bound, or belongs to an
    example whose margin is 1; the gap is then that of rounding.  Where α is not unique, it is the
    optimal one next to the analytic centre, so that equal examples of equal bounds have equal α.

    Parameters
    ----------
    features
        n examples by d features, in any units.
    y
        −1 or 1.
    upper
        What each α may be at most; 0 leaves an example out.
    tolerance
        The gap that is asked for; `gap` tells whether it was reached.
    max_passes
        How many steps the interior point may take.

    References
    ----------
    .. [1] M. C. Ferris and T. S. Munson, "Interior-point methods for massive support vector
       machines", SIAM Journal on Optimization 13(3), 783-804, 2002.
       https://doi.org/10.1137/S1052623400374379

    Examples
    --------
    >>> solution = solve_features(np.array([[0.0], [1.0], [3.0], [4.0]]),
    ...                           np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 10.0))
    >>> solution.weights.round(6), round(solution.bias, 6), solution.alpha.round(6)
    (array([1.]), -2.0, array([0. , 0.5, 0.5, 0. ]))
    """
    features, y, upper = (np.asarray(a, dtype=np.float64) for a in (features, y, upper))
    kept = upper > 0.0
    if len(np.unique(y[kept])) < 2:
        return _one_class(y, upper, features.shape[1], kept)
    rows, units = _rows(features if kept.all() else features[kept], y[kept])
    varies = np.isfinite(units.scale)
    metric = np.append(units.scale[varies] ** -2.0, 0.0)
    vertex, passes = _optimum(Problem(rows, upper[kept], metric), tolerance, max_passes)
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
    """Write the features into `table`, centred and scaled by the examples that are trained on.

    Examples
    --------
    >>> table = np.empty((3, 2))
    >>> scale_columns(np.array([[1.0, 5.0], [5.0, 5.0], [7.0, 6.0]]), table, np.array([0, 1])).scale
    array([ 2., inf])
    >>> table
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 2.,  1.]])
    """
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


def _optimum(problem: Problem, tolerance: float, max_passes: int) -> tuple[Vertex, int]:
    rows, upper, metric = problem.rows, problem.upper, problem.metric
    n, m = rows.shape
    u, state, work = np.zeros(m), _start(problem.y, upper), workspace(n, m)
    passes, vertices = 0, []
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
