"""Features of a Gram matrix, where few are enough.

Problem   K = FFᵀ with as few columns of F as K has rank
Given     a symmetric K, the most columns that are worth having, and what is rounding in K
Returns   F, or None where K needs more columns or is not positive semidefinite
Source    N. J. Higham, "Analysis of the Cholesky decomposition of a semi-definite matrix", in
          M. G. Cox and S. J. Hammarling (eds.), Reliable Numerical Computation, 1990, 161-185
"""

import numpy as np

from truerisk.aliases import Array


def pivoted_features(gram: Array, max_rank: int, relative: float = 1e-12) -> Array | None:
    r"""Write a Gram matrix as features of at most `max_rank` columns, if these are enough.

    .. math:: |K - F F^\top|_{ij} \le relative \cdot \max_k K_{kk}

    A kernel of low rank (linear on few features, a polynomial of low degree) or a smooth one is
    then a linear SVM on `F`.  Columns are taken in the order of what is left of the diagonal,
    so that their number is near the rank; after the last one the diagonal bounds every entry that
    is left, as long as K has no negative eigenvalue: this is tried out on one vector of signs.

    Parameters
    ----------
    gram
        K(x, x′) of every pair of examples, symmetric.
    max_rank
        None is given where more columns than this are needed.
    relative
        What may be left of an entry, beside the largest K(x, x).

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> features = pivoted_features(x @ x.T, 2)
    >>> np.allclose(features @ features.T, x @ x.T), pivoted_features(x @ x.T, 1)
    (True, None)
    """
    left = np.array(np.diagonal(gram), np.float64)
    negligible = relative * left.max(initial=0.0)
    # By rows, so that every product below reads memory in one piece.
    columns = np.zeros((min(max_rank, len(left)), len(left)))
    used = 0
    while left.max(initial=0.0) > negligible:
        if used == len(columns):
            return None
        pivot = int(np.argmax(left))
        column = gram[pivot] - columns[:used, pivot] @ columns[:used]
        column /= np.sqrt(left[pivot])
        columns[used] = column
        left -= column * column
        left[pivot] = 0.0
        used += 1
    features = np.ascontiguousarray(columns[:used].T)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=len(left))
    error = np.abs(gram @ signs - features @ (signs @ features)).max(initial=0.0)
    # A matrix of zeros has no scale of its own: then nothing at all may be left.
    return features if error <= len(left) * negligible else None
