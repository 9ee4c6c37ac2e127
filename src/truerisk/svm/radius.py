r"""R², the bound that the leave-one-out theory of SVMs rests on.

Joachims asks for :math:`c \le k(x, x') \le c + R^2` over all pairs, for any c.  What his proof uses
is less: that of any two examples

.. math:: \tfrac12 |\phi(x) - \phi(x')|^2 = \tfrac12 k(x, x) + \tfrac12 k(x', x') - k(x, x')
          \le R^2.

Let V(a) be the optimal value of the dual with α of example t held at a, and g(a) = V′(a), which is
1 − y·f of t.  V is concave, and while a falls, g rises at the rate of the squared distance between
t and the flat through the free support vectors; that is at most the squared distance to one of
them, hence at most 2R².  So g(0) ≤ ξ + 2αR², and t is not an error when it is left out unless that
is at least 1.  Half the squared diameter is therefore the smallest R² that holds for every pair; it
is never more than max k(x, x) − min k(x, x′), and equal to it where all k(x, x) are.  Shifting the
features does not change it, as it does not change the SVM.
"""

from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.svm.kernels import Kernel, squared_lengths

UNIT = 1e-9  # how far from 1 a squared length may be by rounding
BLOCK = 256  # rows whose distances are computed at a time
MAX_WORK = 1_000_000_000  # multiplications: a fraction of a second
SPARSE_WORK = 5.0  # how many times dearer a multiplication is in a sparse product
SWEEPS = 4
TEXT_RULE = "unit length, non-negative entries: 1"
EXACT_RULE = "exact: half the squared diameter"
BOUND_RULE = "bound: two longest distances to a centre"
RBF_EXACT_RULE = "RBF: 1 − exact minimum"
RBF_BOUND_RULE = "RBF: 1 − bound of the minimum"


def squared_radius(kernel: Kernel, X: Any, lengths: Array | None = None) -> tuple[float, str]:
    """Return the smallest R² that is cheap to compute for these training examples, and its rule.

    Exact where the examples are few or their lengths leave few pairs open, else never too small.
    `lengths` are the x·x of a linear kernel, where they are there already.
    """
    if kernel.rule == "precomputed":
        return _of_gram(np.asarray(X, dtype=float)), EXACT_RULE
    if kernel.rule == "linear":
        return _of_features(X, lengths)
    if kernel.rule == "rbf":
        half, rule = _of_features(X)
        is_exact = rule != BOUND_RULE
        least = np.exp(-2.0 * kernel.gamma * half)
        return float(1.0 - least), RBF_EXACT_RULE if is_exact else RBF_BOUND_RULE
    if X.shape[0] ** 2 * max(X.shape[1], 1) <= MAX_WORK:
        return _of_gram(kernel.between(X, X)), EXACT_RULE
    return _from_one_example(kernel, X), BOUND_RULE


def largest_squared_length(kernel: Kernel, X: Any) -> float:
    """Return the largest k(x, x), which bounds what one example can add to an SVM without bias."""
    values = np.diagonal(X) if kernel.rule == "precomputed" else kernel.diagonal(X)
    return float(values.max(initial=0.0))


def _of_gram(gram: Array) -> float:
    halves = 0.5 * np.diagonal(gram)
    if len(halves) and halves.min() == halves.max():
        return max(0.0, 2.0 * float(halves[0]) - float(gram.min()))
    largest = 0.0
    for start in range(0, len(gram), BLOCK):
        block = slice(start, start + BLOCK)
        furthest = (halves[start:] - gram[block, start:]).max(axis=1)
        largest = max(largest, float((furthest + halves[block]).max()))
    return largest


def _from_one_example(kernel: Kernel, X: Any) -> float:
    """Bound by |x − x′| ≤ |x − c| + |x′ − c| in the space of the kernel, c the first example."""
    lengths = kernel.diagonal(X)
    squares = lengths + lengths[0] - 2.0 * kernel.between(X, X[:1])[:, 0]
    return 0.5 * float(_two_largest(np.sqrt(np.maximum(squares, 0.0))).sum()) ** 2


def _two_largest(values: Array) -> Array:
    return np.partition(values, -2)[-2:] if len(values) > 1 else values


def _of_features(X: Any, lengths: Array | None = None) -> tuple[float, str]:
    is_sparse = hasattr(X, "tocsr")
    lengths = squared_lengths(X) if lengths is None else lengths
    entries = X.data if is_sparse else X
    is_positive = entries.size == 0 or bool(entries.min() >= 0.0)
    is_unit = np.abs(lengths - 1.0) <= UNIT
    if is_positive and is_unit.any() and (is_unit | (lengths == 0.0)).all():
        return 1.0, TEXT_RULE
    # x·x′ ≥ 0 where no entry is negative: the two longest bound every pair.
    most = float(_two_largest(lengths).mean()) if is_positive else np.inf
    centre = np.asarray(X.mean(axis=0), dtype=float).ravel()
    if not is_sparse:
        X = X - centre
        lengths, centre = squared_lengths(X), np.zeros_like(centre)
    squares = lengths - 2.0 * np.asarray(X @ centre).ravel() + centre @ centre
    half, is_exact = _half_squared_diameter(X, lengths, np.sqrt(np.maximum(squares, 0.0)))
    return (half, EXACT_RULE) if is_exact else (min(half, most), BOUND_RULE)


def _half_squared_diameter(X: Any, lengths: Array, distances: Array) -> tuple[float, bool]:
    """Return half the squared diameter, or a bound of it when the work is not worth it.

    No pair is further apart than the sum of its distances to the centre: rows are taken from the
    outside in, until those left cannot beat the pair that was found.
    """
    order = np.argsort(-distances, kind="stable")
    X, lengths, distances = X[order], lengths[order], distances[order]
    largest, work, n = _far_pair(X, lengths), 0.0, len(lengths)
    per_row = SPARSE_WORK * X.nnz / n if hasattr(X, "tocsr") else X.shape[1]
    for start in range(0, n, BLOCK):
        if start + 1 >= n or 0.5 * (distances[start] + distances[start + 1]) ** 2 <= largest:
            break
        if work > MAX_WORK:
            return max(largest, 0.5 * float(distances[start] + distances[start + 1]) ** 2), False
        block = slice(start, start + BLOCK)
        reach = np.sqrt(2.0 * largest) - distances[start]
        stop = int(np.searchsorted(-distances, -reach)) if reach > 0.0 else n
        others = slice(start, max(stop, start + 1))
        work += BLOCK * (others.stop - others.start) * per_row
        products = _products(X[others], X[block])
        halves = 0.5 * (lengths[others, None] + lengths[None, block]) - products
        largest = max(largest, float(halves.max()))
    return largest, True


def _products(X: Any, block: Any) -> Array:
    dense = np.asarray(block.todense()) if hasattr(block, "tocsr") else block
    return np.asarray(X @ dense.T)


def _far_pair(X: Any, lengths: Array) -> float:
    """Go from the outermost example to the one furthest from it, and on from there."""
    at, largest = 0, 0.0
    for _ in range(SWEEPS):
        halves = 0.5 * (lengths + lengths[at]) - _products(X, X[at : at + 1])[:, 0]
        at = int(halves.argmax())
        if halves[at] <= largest:
            break
        largest = float(halves[at])
    return largest
