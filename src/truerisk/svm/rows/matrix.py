"""Rows of a sparse matrix, as the solvers of the linear SVM read them.

Given     a dense matrix, or one of scipy.sparse in any format
Returns   float64 values, int32 columns and int64 row starts: no column twice in a row; no zeros,
          but for those of a table
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.kernels import gram, in_threads
from truerisk.kernels import rows as kernel

COMMON = 0.2  # of the rows: a column with entries in more of them is multiplied as a dense one


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """A matrix by its rows, of which only the entries other than zero are stored."""

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
        """Return x·w of every row."""
        products = np.empty(len(self))
        kernel.multiply(*self.arrays, np.ascontiguousarray(weights, np.float64), products)
        return products

    def total(self, coefficients: Array) -> Array:
        """Return Σᵢ cᵢxᵢ."""
        weights = np.zeros(self.width)
        kernel.add_rows(*self.arrays, np.ascontiguousarray(coefficients, np.float64), weights)
        return weights

    def take(self, which: NDArray[np.signedinteger[Any]]) -> "Rows":
        """Copy some rows, each beside the next."""
        which = which.astype(np.intp, copy=False)
        lengths = self.indptr[which + 1] - self.indptr[which]
        indptr = np.zeros(len(which) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], np.int32)
        kernel.copy_rows(*self.arrays, which, data, indices)
        return Rows(
            data=data,
            indices=indices,
            indptr=indptr,
            width=self.width,
            squared_norms=self.squared_norms[which],
        )


def as_rows(X: Any) -> Rows:
    """Return a dense or sparse matrix by its rows; what is so already is not copied."""
    from scipy.sparse import csr_array, issparse

    matrix = X
    if not issparse(X) or X.format != "csr" or X.dtype != np.float64:
        matrix = csr_array(X if issparse(X) else np.asarray(X, np.float64), dtype=np.float64)
    squared_norms, width = np.empty(matrix.shape[0]), matrix.shape[1]
    arrays = _arrays_of(matrix)
    rises, is_intact = kernel.square(*arrays, width, squared_norms)
    if not rises and is_intact:
        matrix = matrix.copy()  # what the caller owns stays as it is
        matrix.sum_duplicates()
        arrays = _arrays_of(matrix)
        _, is_intact = kernel.square(*arrays, width, squared_norms)
    if not is_intact:
        check_intact(matrix)
        raise InputError(f"`X` must have fewer than 2**31 columns; got {width}.")
    data, indices, indptr = arrays
    return Rows(
        data=data,
        indices=indices,
        indptr=indptr,
        width=int(matrix.shape[1]),
        squared_norms=squared_norms,
    )


def check_intact(X: Any) -> None:
    """Refuse a sparse matrix that names rows or columns it has not.

    What is read or written there is other memory; SciPy looks only where it is asked to.
    """
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
    except ValueError as problem:
        raise InputError(
            f"`X` must be an intact sparse matrix; of {X.shape[0]} × {X.shape[1]} values, its "
            f"{problem}. Was it made with another shape?"
        ) from problem


def _arrays_of(matrix: Any) -> tuple[Array, NDArray[np.int32], NDArray[np.int64]]:
    data = np.ascontiguousarray(matrix.data)
    indices = np.ascontiguousarray(matrix.indices, np.int32)
    return data, indices, matrix.indptr.astype(np.int64)


def table_rows(table: Array) -> Rows:
    """Return a dense table by its rows, zeros and all, without a copy of its values."""
    n, width = table.shape
    return Rows(
        data=table.ravel(),
        indices=np.tile(np.arange(width, dtype=np.int32), n),
        indptr=np.arange(0, n * width + 1, width, dtype=np.int64),
        width=width,
        squared_norms=np.einsum("ij,ij->i", table, table),
    )


def inner_products(rows: Rows, first: int, *, workers: int = 1) -> Array:
    """Return x·x′ of the rows from `first` on with all rows."""
    products = np.empty((len(rows) - first, len(rows)))

    def fill(worker: int) -> None:
        kernel.multiply_pairs(*rows.arrays, np.zeros(rows.width), products, worker, workers)

    in_threads(fill, range(workers), threads=workers)
    own = products[:, first:]
    own += np.tril(own, -1).T
    return products


def products_of(X: Any) -> Array:
    """Return x·x′ of all rows of a sparse matrix, its common columns taken for dense ones.

    A column costs the square of its entries in a sparse product, n² in a dense one, which is many
    times faster per multiplication.
    """
    from scipy.sparse import csr_array

    rows = as_rows(X)
    by_column = csr_array((rows.data, rows.indices, rows.indptr), (len(rows), rows.width)).tocsc()
    starts, ends = by_column.indptr[:-1].astype(np.int64), by_column.indptr[1:].astype(np.int64)
    common = ends - starts > COMMON * len(rows)
    dense = by_column[:, common].toarray()
    products: Array = dense @ dense.T
    starts[common] = ends[common]
    owners = np.ascontiguousarray(by_column.indices, np.int32)
    kernel.add_products(*rows.arrays, by_column.data, owners, starts, ends, products)
    gram.mirror(products)
    return products
