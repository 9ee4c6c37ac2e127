"""Newton's step on the free examples of the linear machine, without a matrix.

Problem   min  ½ |w + Σⱼ dⱼxⱼ|² − Σⱼ yⱼdⱼ   with  Σⱼ dⱼ = total,  over the free examples j
Given     the rows of the free examples, one beside the other, and their residuals y − w·x
Returns   d, the change of yα, to the tolerance asked for, in units of the margin
Link      conjugate gradients on K, projected on Σd = 0: each step takes two passes over the rows
Source    Moré and Toraldo, SIAM J. Optim. 1, 1991 (conjugate gradients on a face of the box)
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.svm.solution import Array
from truerisk.svm.solvers.rows import Rows, add, dot


def newton_step(
    rows: Rows, residual: Array, total: float, *, tolerance: float, max_steps: int
) -> tuple[Array, int]:
    """Give the change of yα of the free examples, and the number of steps it took.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> step, _ = newton_step(as_rows(np.eye(2)), np.array([1.0, -1.0]), 0.0,
    ...                       tolerance=1e-9, max_steps=9)
    >>> step
    array([ 1., -1.])
    """
    step = np.full(len(rows), total / len(rows))
    if total != 0.0:
        residual = residual - rows.times(rows.total(step))
    residual = residual - residual.mean()
    steps = descend(*rows.arrays, residual, step, np.empty(rows.width), tolerance, max_steps)
    return step, steps


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def descend(  # noqa: PLR0917 (compiled code takes no keywords)
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    residual: Array,
    step: Array,
    weights: Array,
    tolerance: float,
    max_steps: int,
) -> int:
    """Go down by conjugate gradients until every residual is below the tolerance, in place."""
    n = len(residual)
    direction = residual.copy()
    image = np.empty(n)
    squares = np.sum(residual * residual)
    for count in range(max_steps):
        if np.max(np.abs(residual)) <= tolerance:
            return count
        weights[:] = 0.0
        for i in range(n):
            add(data, indices, indptr[i], indptr[i + 1], direction[i], weights)
        mean = bend = 0.0
        for i in range(n):
            image[i] = dot(data, indices, indptr[i], indptr[i + 1], weights)
            mean += image[i]
            bend += direction[i] * image[i]
        if bend <= 1e-14 * squares * 1e-6:
            return count  # flat: the examples are dependent, and no step along them changes w
        length, mean, before, squares = squares / bend, mean / n, squares, 0.0
        for i in range(n):
            step[i] += length * direction[i]
            residual[i] -= length * (image[i] - mean)
            squares += residual[i] * residual[i]
        for i in range(n):
            direction[i] = residual[i] + squares / before * direction[i]
    return max_steps
