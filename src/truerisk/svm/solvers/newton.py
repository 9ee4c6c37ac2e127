"""Newton's step on the free examples of the linear machine, without a matrix.

Problem   min  ½ |w + Σⱼ dⱼxⱼ|² − Σⱼ yⱼdⱼ   with  Σⱼ dⱼ = total,  over the free examples j
Given     the rows of the free examples, one beside the other, their y − w·x, and the room of d
Returns   d, the change of yα, and the bias, to an accuracy in units of the margin
Link      conjugate gradients on K, projected on Σd = 0: each step takes two passes over the rows
Source    Moré and Toraldo, SIAM J. Optim. 1, 1991 (conjugate gradients on a face of the box)
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.rows import Rows, add, dot

FAR = 0.25  # of its room: an example that would go further beyond its bound
FLAT = (
    1e-13  # of the largest |x|²: a direction that bends less than this changes w only by rounding
)


def newton_step(
    rows: Rows,
    residual: Array,
    room: tuple[Array, Array],
    total: float,
    *,
    accuracy: float,
    max_steps: int,
) -> tuple[Array, float, int]:
    """Give the change of yα of the free examples, the bias, and the steps it took.

    The change may leave its room; where it would do so for most examples, it stops short of the
    optimum.

    Parameters
    ----------
    rows, residual
        The free examples, and their y − w·x.
    room
        How far each yα may fall (a number below 0) and rise.
    total
        What the changes must sum to.
    accuracy
        How far a residual may stay from the bias.
    max_steps
        Conjugate gradients stop there.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> room = np.array([0.0, -2.0]), np.array([2.0, 0.0])
    >>> step, bias, _ = newton_step(as_rows(np.eye(2)), np.array([1.0, -1.0]), room, 0.0,
    ...                             accuracy=1e-9, max_steps=9)
    >>> step, bias
    (array([ 1., -1.]), 0.0)
    """
    step = np.full(len(rows), total / len(rows))
    # Spread over all, a total moves no decision by more than it times the largest |x|²; in text it
    # is a small part of that.
    steepest = float(rows.squared_norms.max())
    if abs(total) * steepest > 2.0 * accuracy:
        residual = residual - rows.times(rows.total(step))
    bias = float(residual.mean())
    weights = np.empty(rows.width)
    shift, steps = descend(
        *rows.arrays, residual - bias, step, *room, weights, steepest, accuracy, max_steps
    )
    return step, bias + shift, steps


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def descend(  # noqa: PLR0917 (compiled code takes no keywords)
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    residual: Array,
    step: Array,
    low: Array,
    high: Array,
    weights: Array,
    steepest: float,
    accuracy: float,
    max_steps: int,
) -> tuple[float, int]:
    """Go down until no residual is above the accuracy, in place; give the change of the bias."""
    n, shift = len(residual), 0.0
    direction, image = residual.copy(), np.empty(n)
    squares = square_sum(residual)
    for count in range(max_steps):
        if largest(residual) <= accuracy:
            return shift, count
        for j in range(len(weights)):
            weights[j] = 0.0
        for i in range(n):
            add(data, indices, indptr[i], indptr[i + 1], direction[i], weights)
        mean, bend = 0.0, 0.0
        for i in range(n):
            image[i] = dot(data, indices, indptr[i], indptr[i + 1], weights)
            mean += image[i]
            bend += direction[i] * image[i]
        length, mean = squares / bend, mean / n
        if bend <= FLAT * steepest * square_sum(direction):
            length = np.inf  # the examples are dependent: w stays, and the gain lasts to a bound
        shorter = within(step, direction, low, high, length)
        last, length = shorter < length, shorter
        shift -= length * mean
        outside, before, squares = 0, squares, 0.0
        for i in range(n):
            step[i] += length * direction[i]
            residual[i] -= length * (image[i] - mean)
            squares += residual[i] * residual[i]
            outside += not low[i] <= step[i] <= high[i]
        if last or 2 * outside > n:
            return shift, count + 1
        for i in range(n):
            direction[i] = residual[i] + squares / before * direction[i]
    return shift, max_steps


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def within(step: Array, direction: Array, low: Array, high: Array, length: float) -> float:
    """Shorten a length so that an example that would go far beyond its bound stops at it.

    Two examples that are nearly alike ask for large steps that cancel each other.  Cut to their
    bounds one by one these no longer would; cut where the first one ends, they do.
    """
    negligible, shorter = 1e-6 * largest(direction), length
    for i in range(len(step)):
        far = FAR * (high[i] - low[i])
        beyond = step[i] + length * direction[i]
        if abs(direction[i]) > negligible and not low[i] - far <= beyond <= high[i] + far:
            bound = high[i] if direction[i] > 0.0 else low[i]
            shorter = min(shorter, max(0.0, (bound - step[i]) / direction[i]))
    return shorter


# NumPy's own sums and maxima take the compiler longer than all the rest of this module.
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def square_sum(values: Array) -> float:
    """Give Σv²."""
    total = 0.0
    for value in values:
        total += value * value
    return total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def largest(values: Array) -> float:
    """Give max |v|."""
    most = 0.0
    for value in values:
        most = max(most, abs(value))
    return most
