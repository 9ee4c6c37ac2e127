"""How the optimum answers when one example near the margin is changed.

Problem   the conditions K_FF z_F + b = (y − K_FN z_N)_F and Σz = 0 of an optimum, with z = yα;
          F the free examples, N those at a bound
Given     x·x′ of the examples near the margin, the free ones first
Returns   values[j], what one unit of j does to all i.  To do something to j in N is to raise zⱼ,
          to j in F, to raise its decision; what happens to i in F is told of zᵢ, to i in N of its
          decision (the bias included)
Link      the principal pivot transform of K, bordered by the condition on Σz
Source    Tsatsomeros, Linear Algebra Appl. 307, 2000
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.rows import Rows, dot

DEPENDENT = 1e-9  # part of |x|² that an example adds to those before it, below which it adds none


@dataclass(frozen=True, kw_only=True, eq=False)
class Tableau:
    """What one unit of each example does to all of them.

    Examples
    --------
    Raised by one unit, the second example takes as much from the first, which is free, and its own
    decision rises by the squared distance of the two.

    >>> Tableau.of_free(np.eye(1)).widened(np.array([[0.0, 1.0]])).values
    array([[ 0.,  1.],
           [-1.,  2.]])
    """

    free: int
    values: Array
    bias: Array  # what one unit of each does to the bias
    constant: float  # what one unit of Σz does to it

    @classmethod
    def of_free(cls, gram: Array) -> "Tableau":
        """Begin with the free examples, which must be independent."""
        from scipy.linalg.lapack import dpotrf, dpotri  # noqa: PLC0415 (a fifth of a second)

        # K + κ11ᵀ has an inverse A, and is K where Σ = 0: the bordered inverse follows from A.
        shift = float(gram.diagonal().mean()) or 1.0
        lower, _ = dpotrf(gram + shift, lower=1)
        half, _ = dpotri(lower, lower=1)
        inverse = np.tril(half) + np.tril(half, -1).T
        sums = inverse.sum(axis=0)
        total = float(sums.sum())
        inverse -= np.outer(sums, sums / total)
        return cls(free=len(gram), values=inverse, bias=sums / total, constant=shift - 1.0 / total)

    def widened(self, products: Array) -> "Tableau":
        """Add examples at a bound, given their x·x′ with those before them and with themselves."""
        k, n = self.free, len(self.values)
        across = products[:, :k]
        reply = across @ self.values[:k, :k]
        reply += self.bias[:k]
        bias = -(across @ self.bias[:k]) - self.constant
        values = np.empty((products.shape[1],) * 2)
        values[:n, :n] = self.values
        values[:k, n:], values[n:, :k] = reply.T, -reply
        values[k:n, n:] = (products[:, k:n] + across @ self.values[k:n, :k].T + self.bias[k:n]).T
        values[n:, k:n] = values[k:n, n:].T
        values[n:, n:] = products[:, n:] - across @ reply.T + bias
        return Tableau(
            free=k,
            values=values,
            bias=np.concatenate([self.bias, bias]),
            constant=self.constant,
        )


def inner_products(rows: Rows, first: int, *, workers: int = 1) -> Array:
    """Give x·x′ of the rows from `first` on with all rows.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> inner_products(as_rows(np.array([[1.0, 2.0], [0.0, 3.0]])), 1)
    array([[6., 9.]])
    """
    products = np.empty((len(rows) - first, len(rows)))

    def fill(worker: int) -> None:
        multiply_pairs(*rows.arrays, np.zeros(rows.width), products, worker, workers)

    if workers == 1:
        fill(0)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, range(workers)))
    own = products[:, first:]
    own += np.tril(own, -1).T
    return products


def independent(gram: Array, z: Array, low: Array, high: Array) -> tuple[NDArray[np.bool_], Array]:
    """Move dependent free examples to a bound, without any change of a decision.

    Where xⱼ is a combination of other free examples whose coefficients sum to 1, zⱼ can be
    exchanged for theirs; an optimum has many α then, and one with fewer free examples is as good.

    Returns
    -------
    Which examples are free still, and z.

    Examples
    --------
    >>> same = np.ones((2, 2))
    >>> independent(same, np.array([0.5, 0.25]), np.zeros(2), np.ones(2))
    (array([ True, False]), array([0.75, 0.  ]))
    """
    from scipy.linalg import solve_triangular  # noqa: PLC0415 (a fifth of a second)
    from scipy.linalg.lapack import dpstrf  # noqa: PLC0415 (as above)

    scale = float(gram.diagonal().max()) or 1.0
    factor, pivots, rank, _ = dpstrf(gram + scale, tol=DEPENDENT * scale, lower=1)
    free, z = np.ones(len(z), np.bool_), z.copy()
    base, others = pivots[:rank] - 1, pivots[rank:] - 1
    # Each other example, as a combination of the base.
    parts = solve_triangular(factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans=1)
    for column, other in enumerate(others):
        members, direction = np.append(base, other), np.append(-parts[:, column], 1.0)
        direction[np.abs(direction) < DEPENDENT] = 0.0
        length, last = _first_bound(z[members], direction, low[members], high[members])
        z[members] += length * direction
        z[members[last]] = (high if length * direction[last] > 0.0 else low)[members[last]]
        free[members[last]] = False
        if last < rank:  # the other takes its place in the base
            base[last] = other
            row = parts[last] / parts[last, column]
            parts -= np.outer(parts[:, column], row)
            parts[last] = row
    return free, z


def _first_bound(z: Array, direction: Array, low: Array, high: Array) -> tuple[float, int]:
    """Give the shortest way along the line, forwards or backwards, to a bound; and whose it is."""
    speed = np.where(direction == 0.0, np.nan, np.abs(direction))
    up = direction > 0.0
    forwards = np.where(up, high - z, z - low) / speed
    backwards = np.where(up, z - low, high - z) / speed
    first, second = int(np.nanargmin(forwards)), int(np.nanargmin(backwards))
    if forwards[first] < backwards[second]:
        return float(forwards[first]), first
    return -float(backwards[second]), second


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def multiply_pairs(  # noqa: PLR0917 (compiled code takes no keywords)
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    weights: Array,
    products: Array,
    start: int,
    stride: int,
) -> None:
    """Write x·x′ of every `stride`-th of the last rows with all rows up to it, and 0 after it.

    The weights are zero, before and after.
    """
    first = products.shape[1] - len(products)
    for k in range(start, len(products), stride):
        i = first + k
        for p in range(indptr[i], indptr[i + 1]):
            weights[indices[p]] = data[p]
        for j in range(i + 1):
            products[k, j] = dot(data, indices, indptr[j], indptr[j + 1], weights)
        for j in range(i + 1, products.shape[1]):
            products[k, j] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            weights[indices[p]] = 0.0
