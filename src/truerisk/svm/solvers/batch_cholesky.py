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

from truerisk.aliases import Array
from truerisk.svm.solvers.batch_lanes import FUSE, LANES
from truerisk.svm.solvers.interior_point import LOST


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
def subtract_products(entry: Array, left: Array, right: Array, count: int) -> None:
    """Subtract Σ left·right over `count` neighbouring entries, four at a time."""
    done = 0
    while done + 4 <= count:
        a, b = left[done * LANES :], right[done * LANES :]
        for r in range(LANES):
            entry[r] -= (a[r] * b[r] + a[LANES + r] * b[LANES + r]) + (
                a[2 * LANES + r] * b[2 * LANES + r] + a[3 * LANES + r] * b[3 * LANES + r]
            )
        done += 4
    while done < count:
        a, b = left[done * LANES :], right[done * LANES :]
        for r in range(LANES):
            entry[r] -= a[r] * b[r]
        done += 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def factorise_packed(packed: Array, m: int) -> None:
    """Overwrite packed matrices by their factors."""
    flat, whole = packed.ravel(), np.empty(LANES)
    for i in range(m):
        start = i * (i + 1) // 2
        whole[:] = packed[start + i]
        for j in range(i + 1):
            entry, row = packed[start + j], j * (j + 1) // 2
            subtract_products(entry, flat[start * LANES :], flat[row * LANES :], j)
            if j < i:
                pivot = packed[row + j]
                for r in range(LANES):
                    entry[r] *= pivot[r]
        pivot = packed[start + i]
        for r in range(LANES):
            kept = pivot[r] > LOST * whole[r]
            pivot[r] = 1.0 / math.sqrt(pivot[r]) if kept else 0.0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=FUSE)
def solve_packed(packed: Array, right: Array) -> None:
    """Solve in place with the factors that `factorise_packed` left; one row an unknown."""
    m = right.shape[0]
    flat, known = packed.ravel(), right.ravel()
    for i in range(m):
        entry, start = right[i], i * (i + 1) // 2
        subtract_products(entry, flat[start * LANES :], known, i)
        pivot = packed[start + i]
        for r in range(LANES):
            entry[r] *= pivot[r]
    for i in range(m - 1, -1, -1):
        value, start = right[i], i * (i + 1) // 2
        pivot = packed[start + i]
        for r in range(LANES):
            value[r] *= pivot[r]
        for k in range(i):
            entry, factor = right[k], packed[start + k]
            for r in range(LANES):
                entry[r] -= factor[r] * value[r]
