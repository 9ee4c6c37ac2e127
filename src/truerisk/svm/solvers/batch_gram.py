"""Many support vector machines on one Gram matrix, which differ in their bounds only.

Problem   that of `gram_dual` for every row of a table of bounds
Given     K of all examples, the labels, who is trained on, and the bounds of each replicate
Returns   the decision value of every example under each replicate
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.solution import Array, Solution
from truerisk.svm.solvers.gram_dual import solve_gram

CHUNK = 64  # replicates; not a matter of workers, so that these do not change a bit


def gram_decisions(
    gram: Array,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    *,
    tolerance: float = 1e-8,
    workers: int = 1,
) -> Array:
    """Solve one machine for every row of bounds; give its decision value of every example.

    Parameters
    ----------
    gram
        K(x, x′) of every pair of examples, trained on or not.
    y
        Labels −1 and 1 of every example.
    train
        Which examples are trained on, in ascending order.
    bounds
        What each α of those may be at most, one row a replicate; 0 leaves the example out.
    tolerance
        The gap that is good enough.
    workers
        Threads; their number changes no bit of the result.

    Examples
    --------
    >>> x = np.array([-2.0, -1.0, 1.0, 3.0])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> gram_decisions(np.outer(x, x), y, np.arange(4), np.array([[1.0, 1.0, 1.0, 1.0],
    ...                                                           [1.0, 0.0, 0.0, 1.0]]))
    array([[-2. , -1. ,  1. ,  3. ],
           [-1. , -0.6,  0.2,  1. ]])
    """
    gram = np.ascontiguousarray(gram, np.float64)
    bounds = np.ascontiguousarray(bounds, np.float64)
    among = np.ascontiguousarray(gram[np.ix_(train, train)])
    y = np.ascontiguousarray(y[train], np.float64)
    middle = solve_gram(among, y, bounds.mean(axis=0), tolerance=tolerance)
    chunks = [bounds[i : i + CHUNK] for i in range(0, len(bounds), CHUNK)]

    def decisions_of(chunk: Array) -> Array:
        solutions = [_solved(among, y, upper, middle, tolerance) for upper in chunk]
        z = np.array([solution.alpha * y for solution in solutions])
        bias = np.array([solution.bias for solution in solutions])
        return np.asarray(z @ gram[train] + bias[:, None])

    with few_blas_threads(len(gram), workers), ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(decisions_of, chunks))
    return np.concatenate(parts) if parts else np.empty((0, len(gram)))


def _solved(among: Array, y: Array, upper: Array, middle: Solution, tolerance: float) -> Solution:
    return solve_gram(among, y, upper, tolerance=tolerance, start=middle)
