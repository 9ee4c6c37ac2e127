"""A thousand machines on the same few features, which differ in the bounds of α only.

Problem   min  ½ w·w + Σᵢ Uᵢξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ  and  ξᵢ ≥ 0,  for each row U
Given     one table of features, and as many rows of bounds as machines
Returns   the decision value of every example under every machine
Method    interior points side by side (`batch_path`); machines that end with an example so near
          the boundary that its side is unsure, or with no example to pin the bias down, or not at
          all, go the way of a single machine to the exact optimum (`low_rank`)
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.solvers.batch_cholesky import packed_products
from truerisk.svm.solvers.batch_path import ARRIVED, follow_paths
from truerisk.svm.solvers.low_rank import INVISIBLE, solve_features

Array = NDArray[np.float64]

PIECE = 250  # machines a worker takes at a time: fixed, so that results do not depend on workers
MAX_STEPS = 60
UNSURE = 1e-5  # a decision value nearer to 0 than this, after the interior point


@dataclass(frozen=True)
class Table:
    """Centred and scaled features with a last column of 1, for all examples, and the metric."""

    examples: Array
    metric: Array


def batch_decisions(
    features: Array,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    *,
    tolerance: float = 1e-10,
    workers: int = 1,
) -> Array:
    r"""Give the decision value of every example under many machines with bounds of their own.

    .. math:: \min_{w, b, \xi} \tfrac12 w \cdot w + \sum_i U_i \xi_i, \qquad
              y_i (w \cdot x_i + b) \ge 1 - \xi_i, \quad \xi_i \ge 0

    The side of the boundary an example is on is that of the exact optimum wherever its decision
    value is larger than 1e-6.  Where every bias in an interval is as good, it is the middle of it.
    A machine whose bounds leave one class only says that class.

    Parameters
    ----------
    features
        All examples, trained on or not, by few features.
    y
        −1 or 1.
    train
        Which examples are trained on, ascending.
    bounds
        One row a machine, one column an example of `train`; 0 leaves an example out.
    tolerance
        How far from the optimum the interior point stops, for each unit of Σα.
    workers
        How many threads; they change no bit of the result.

    References
    ----------
    .. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal
       on Optimization 2(4), 575-601, 1992. https://doi.org/10.1137/0802028

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> batch_decisions(x, y, np.arange(4), np.array([[9.0, 9.0, 9.0, 9.0], [9.0, 0.0, 9.0, 9.0]]))
    array([[-2.        , -1.        ,  1.        ,  2.        ],
           [-1.        , -0.33333333,  1.        ,  1.66666667]])
    """
    features, y = np.asarray(features, dtype=np.float64), np.asarray(y, dtype=np.float64)
    bounds = np.ascontiguousarray(bounds, dtype=np.float64)
    sides = y[train]
    positive, negative = bounds @ (sides > 0.0) > 0.0, bounds @ (sides < 0.0) > 0.0
    decisions = np.repeat((positive * 1.0 - negative)[:, None], len(y), axis=1)
    both = np.flatnonzero(positive & negative)
    if not len(both):
        return decisions
    table = _scaled(features, train)
    rows = np.ascontiguousarray(sides[:, None] * table.examples[train])
    products = packed_products(rows)

    def solve(piece: NDArray[np.intp]) -> None:
        u, ends = np.empty((len(piece), rows.shape[1])), np.empty(len(piece), dtype=np.int64)
        upper = bounds[piece]
        follow_paths(rows, products, table.metric, upper, tolerance, MAX_STEPS, u, ends)
        values = u @ table.examples.T
        unsure = (ends != ARRIVED) | (np.abs(values).min(axis=1) < UNSURE)
        for r in np.flatnonzero(unsure):
            values[r] = _exactly(features, y, train, upper[r])
        decisions[piece] = values

    pieces = [both[k : k + PIECE] for k in range(0, len(both), PIECE)]
    with few_blas_threads(len(train), workers), ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(solve, pieces):
            pass
    return decisions


def _exactly(features: Array, y: Array, train: NDArray[np.intp], upper: Array) -> Array:
    """Solve one machine to the exact optimum."""
    whole = np.zeros(len(y))
    whole[train] = upper
    return solve_features(features, y, whole).decision


def _scaled(features: Array, train: NDArray[np.intp]) -> Table:
    """Centre and scale all examples as `low_rank` does those that are trained on."""
    # The first row goes first, so that a constant column becomes exactly 0.
    examples = features - features[train[0]]
    examples -= examples[train].mean(axis=0)
    largest = np.abs(examples[train]).max(axis=0)
    varies = largest > INVISIBLE
    examples = examples[:, varies] / largest[varies]
    metric = np.append(largest[varies] ** -2.0, 0.0)
    return Table(np.column_stack([examples, np.ones(len(examples))]), metric)
