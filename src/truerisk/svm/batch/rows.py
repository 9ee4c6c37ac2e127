"""Many linear SVMs on sparse or wide rows, which differ in their bounds only.

Problem   that of `linear_dual` for every row of a table of bounds
Given     the rows, the labels, who is trained on, and the bounds of each replicate
Returns   the decision value of every example under each replicate
Method    `linear_dual` from the solution at the mean bounds, one replicate per thread: the compiled
          sweeps and Newton's steps let go of the interpreter, what is between them does not.
          Where a decision value is near 0 the SVM is solved further, so that its sign is sure.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.matrix import Rows

NEAR = 1e-3  # a decision value whose sign a rough solution might miss
FINER = 1e-3  # part of the tolerance that is asked for then


def row_decisions(
    rows: Rows,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    *,
    tolerance: float = 1e-6,
    workers: int = 1,
) -> Array:
    r"""Solve one linear SVM for every row of bounds; return its decision value of every example.

    .. math:: \min_{w, b} \tfrac12 w \cdot w + \sum_i U_i \max(0, 1 - y_i (w \cdot x_i + b))

    The gap of every solution is at most `tolerance`, and a thousandth of it where a decision value
    is nearer to 0 than a thousandth of the margin.

    Parameters
    ----------
    rows
        Examples, trained on or not.
    y
        Labels −1 and 1 of every example.
    train
        Which examples are trained on, in ascending order.
    bounds
        What each α of those may be at most, one row per replicate; 0 leaves the example out.
    tolerance
        Largest gap, in units of the margin.
    workers
        Threads; their number changes no bit of the result.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual
       coordinate descent method for large-scale linear SVM", ICML 2008, 408-415.

    Examples
    --------
    >>> from truerisk.svm.rows.matrix import as_rows
    >>> rows, y = as_rows(np.array([[0.0], [1.0], [3.0], [4.0]])), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bounds = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0]])
    >>> row_decisions(rows, y, np.arange(4), bounds).round(6)
    array([[-2. , -1. ,  1. ,  2. ],
           [-1. , -0.5,  0.5,  1. ]])
    """
    trained, labels = rows.take(train), y[train].astype(np.float64)
    bounds = np.ascontiguousarray(bounds, np.float64)
    if not len(bounds):
        return np.empty((0, len(rows)))
    middle = solve_rows(trained, labels, bounds.mean(axis=0), tolerance=tolerance)

    def decisions_of(upper: Array) -> Array:
        solution = solve_rows(trained, labels, upper, tolerance=tolerance, start=middle)
        decisions = rows.times(solution.weights) + solution.bias
        if np.abs(decisions).min(initial=np.inf) > NEAR:
            return decisions
        solution = solve_rows(trained, labels, upper, tolerance=FINER * tolerance, start=solution)
        return rows.times(solution.weights) + solution.bias

    with few_blas_threads(len(rows), workers), ThreadPoolExecutor(workers) as pool:
        return np.array(list(pool.map(decisions_of, bounds)))
