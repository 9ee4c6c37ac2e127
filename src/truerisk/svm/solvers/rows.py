"""Rows of a sparse matrix, as the compiled solvers of the linear machine read them.

Given     a dense matrix, or one of scipy.sparse in any format
Returns   float64 values, int32 columns and int64 row starts: no column twice in a row, no zeros
Link      the loops below are all that the solvers know of the data: x·w, w += Σᵢ cᵢxᵢ, xᵢ·xᵢ
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, uint32, uint64
from numpy.typing import NDArray

from truerisk.aliases import Array

ONE, TWO, THREE, FOUR = uint64(1), uint64(2), uint64(3), uint64(4)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """A matrix by its rows, of which only the entries other than zero are kept.

    Examples
    --------
    >>> rows = as_rows(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]))
    >>> len(rows), rows.width, rows.squared_norms
    (2, 3, array([25.,  0.]))
    >>> rows.times(np.array([1.0, 1.0, 1.0]))
    array([7., 0.])
    """

    data: Array
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    width: int
    squared_norms: Array

    def __len__(self) -> int:
        return len(self.squared_norms)

    @property
    def arrays(self) -> tuple[Array, NDArray[np.int32], NDArray[np.int64]]:
        """What a compiled loop takes: values, columns, row starts."""
        return self.data, self.indices, self.indptr

    def times(self, weights: Array) -> Array:
        """Give x·w of every row."""
        products = np.empty(len(self))
        multiply(*self.arrays, weights, products)
        return products

    def total(self, coefficients: Array) -> Array:
        """Give Σᵢ cᵢxᵢ."""
        weights = np.zeros(self.width)
        add_rows(*self.arrays, coefficients, weights)
        return weights

    def take(self, which: NDArray[np.signedinteger[Any]]) -> "Rows":
        """Copy some rows, so that a loop over them finds each beside the next."""
        which = which.astype(np.intp, copy=False)
        lengths = self.indptr[which + 1] - self.indptr[which]
        indptr = np.zeros(len(which) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.int32)
        copy_rows(*self.arrays, which, data, indices)
        return Rows(
            data=data,
            indices=indices,
            indptr=indptr,
            width=self.width,
            squared_norms=self.squared_norms[which],
        )


def as_rows(X: Any) -> Rows:  # noqa: ANN401
    """Give a dense or sparse matrix by its rows; what is so already is not copied.

    Examples
    --------
    >>> as_rows(np.eye(2)).indices
    array([0, 1], dtype=int32)
    """
    from scipy.sparse import csr_array, issparse  # noqa: PLC0415 (a fifth of a second)

    matrix = csr_array(X if issparse(X) else np.asarray(X, np.float64), dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # what the caller owns stays as it is
        matrix.sum_duplicates()
    data, indices = np.ascontiguousarray(matrix.data), matrix.indices.astype(np.int32, copy=False)
    indptr = matrix.indptr.astype(np.int64)
    squared_norms = np.empty(matrix.shape[0])
    square(data, indptr, squared_norms)
    return Rows(
        data=data,
        indices=indices,
        indptr=indptr,
        width=int(matrix.shape[1]),
        squared_norms=squared_norms,
    )


# Unsigned numbers spare each access the question whether the index counts from the end.  Four
# sums at a time, since the processor can add four times while it waits for one.
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def dot(data: Array, indices: NDArray[np.int32], first: int, end: int, weights: Array) -> float:
    """Give x·w of the row that stands from `first` to `end`."""
    a = b = c = d = 0.0
    p, last = uint64(first), uint64(end)
    while p + FOUR <= last:
        a += data[p] * weights[uint32(indices[p])]
        b += data[p + ONE] * weights[uint32(indices[p + ONE])]
        c += data[p + TWO] * weights[uint32(indices[p + TWO])]
        d += data[p + THREE] * weights[uint32(indices[p + THREE])]
        p += FOUR
    while p < last:
        a += data[p] * weights[uint32(indices[p])]
        p += ONE
    return (a + b) + (c + d)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def add(  # noqa: PLR0917 (as above)
    data: Array, indices: NDArray[np.int32], first: int, end: int, times: float, weights: Array
) -> None:
    """Add a multiple of the row that stands from `first` to `end` to the weights."""
    p, last = uint64(first), uint64(end)
    while p < last:
        weights[uint32(indices[p])] += times * data[p]
        p += ONE


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def multiply(
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    weights: Array,
    products: Array,
) -> None:
    """Write x·w of every row."""
    for i in range(len(products)):
        products[i] = dot(data, indices, indptr[i], indptr[i + 1], weights)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def add_rows(
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    coefficients: Array,
    weights: Array,
) -> None:
    """Add Σᵢ cᵢxᵢ to the weights."""
    for i in range(len(coefficients)):
        if coefficients[i] != 0.0:
            add(data, indices, indptr[i], indptr[i + 1], coefficients[i], weights)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def square(data: Array, indptr: NDArray[np.int64], squared_norms: Array) -> None:
    """Write xᵢ·xᵢ of every row."""
    for i in range(len(squared_norms)):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * data[p]
        squared_norms[i] = total


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def copy_rows(  # noqa: PLR0917 (as above)
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    which: NDArray[np.intp],
    to_data: Array,
    to_indices: NDArray[np.int32],
) -> None:
    """Write the rows `which` one after the other."""
    to = 0
    for i in which:
        first, length = indptr[i], indptr[i + 1] - indptr[i]
        for p in range(length):
            to_data[to + p] = data[first + p]
        for p in range(length):
            to_indices[to + p] = indices[first + p]
        to += length


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def multiply_four(
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    weights: Array,
    products: Array,
) -> None:
    """Write x·w of every row for four columns of weights, in little more than the time of one."""
    for i in range(products.shape[1]):
        a = b = c = d = 0.0
        p, last = uint64(indptr[i]), uint64(indptr[i + 1])
        while p < last:
            value, column = data[p], uint32(indices[p])
            a += value * weights[column, 0]
            b += value * weights[column, 1]
            c += value * weights[column, 2]
            d += value * weights[column, 3]
            p += ONE
        products[0, i], products[1, i], products[2, i], products[3, i] = a, b, c, d


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def add_four(
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    coefficients: Array,
    weights: Array,
) -> None:
    """Add Σᵢ cᵢxᵢ to the weights, for four columns of coefficients and of weights."""
    for i in range(len(coefficients)):
        a, b, c, d = coefficients[i, 0], coefficients[i, 1], coefficients[i, 2], coefficients[i, 3]
        if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
            continue
        p, last = uint64(indptr[i]), uint64(indptr[i + 1])
        while p < last:
            value, column = data[p], uint32(indices[p])
            weights[column, 0] += a * value
            weights[column, 1] += b * value
            weights[column, 2] += c * value
            weights[column, 3] += d * value
            p += ONE
