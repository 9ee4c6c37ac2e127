"""Cholesky's factor of many small matrices side by side.

Problem   A = LLᵀ and Ax = b for `LANES` matrices of one size
Given     the lower triangles, packed row by row; an entry is the values of all matrices, next to
          each other, so that the innermost loop runs over matrices
Returns   in place; the diagonal holds 1 / Lⱼⱼ, and 0 where a direction is lost in rounding: the
          step leaves such a direction alone, as in `interior_point.factorise`
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.svm.solvers.batch_lanes import FUSE, LANES
from truerisk.svm.solvers.interior_point import LOST

Array = NDArray[np.float64]


def packed_products(rows: Array) -> Array:
    """Give rⱼrₖ, k ≤ j, of every row: their weighted sums are packed Gram matrices.

    Examples
    --------
    >>> packed_products(np.array([[2.0, 3.0], [1.0, 5.0]]))
    array([[ 4.,  1.],
           [ 6.,  5.],
           [ 9., 25.]])
    """
    j, k = np.tril_indices(rows.shape[1])
    columns = np.ascontiguousarray(rows.T)
    products: Array = columns[j] * columns[k]
    return products


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def factorise_packed(packed: Array, m: int) -> None:
    """Overwrite packed matrices by their factors."""
    for j in range(m):
        start_j = j * (j + 1) // 2
        for i in range(j, m):
            start_i = i * (i + 1) // 2
            entry = packed[start_i + j]
            if i == j:
                pivot = entry
                whole = np.empty(LANES)
                for r in range(LANES):
                    whole[r] = entry[r]
            for k in range(j):
                left, right = packed[start_i + k], packed[start_j + k]
                for r in range(LANES):
                    entry[r] -= left[r] * right[r]
            if i == j:
                for r in range(LANES):
                    kept = entry[r] > LOST * whole[r]
                    entry[r] = 1.0 / math.sqrt(entry[r]) if kept else 0.0
            else:
                for r in range(LANES):
                    entry[r] *= pivot[r]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def solve_packed(packed: Array, right: Array) -> None:
    """Solve in place with the factors that `factorise_packed` left; one row an unknown."""
    m = right.shape[0]
    for i in range(m):
        entry, start = right[i], i * (i + 1) // 2
        for k in range(i):
            factor, known = packed[start + k], right[k]
            for r in range(LANES):
                entry[r] -= factor[r] * known[r]
        pivot = packed[start + i]
        for r in range(LANES):
            entry[r] *= pivot[r]
    for i in range(m - 1, -1, -1):
        known, start = right[i], i * (i + 1) // 2
        pivot = packed[start + i]
        for r in range(LANES):
            known[r] *= pivot[r]
        for k in range(i):
            entry, factor = right[k], packed[start + k]
            for r in range(LANES):
                entry[r] -= factor[r] * known[r]
