"""Many linear SVMs on sparse or wide rows, which differ in their bounds only.

Problem   that of `linear_dual` for every row of a table of bounds
Given     the rows, the labels, who is trained on, and the bounds of each replicate
Returns   the decision value of every example under each replicate
Method    `linear_dual` from the solution at the mean bounds, one replicate per thread: the compiled
          sweeps and Newton's steps let go of the interpreter, what is between them does not.
          Where a decision value is near 0 the SVM is solved further, so that its sign is sure.
"""

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.execution.threads import one_blas_thread
from truerisk.kernels import in_threads
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
    """Solve one linear SVM for every row of bounds; return its decision value of every example.

    The gap of every solution is at most `tolerance`, and a thousandth of it where a decision value
    is nearer to 0 than a thousandth of the margin.
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

    with one_blas_thread():
        return np.array(in_threads(decisions_of, bounds, threads=workers))
