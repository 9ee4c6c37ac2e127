"""Decision trees on many training sets of one sample, grown from features sorted once.

Problem   CART: at each node the split that leaves the least Gini impurity, until leaves are pure
Given     the examples in the order of each feature, and which of them are trained on
Returns   trees as arrays of nodes, children side by side; their calls
Link      scikit-learn's DecisionTreeClassifier; where several splits are equally good, the feature
          that comes first in a random order is taken
Source    Breiman, Friedman, Olshen, Stone, "Classification and Regression Trees", 1984; the order
          of the features is kept by dividing it stably, as in SLIQ (Mehta et al., EDBT 1996)
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from studies.audit.learner_problems import Array, Labels

Indices = NDArray[np.int32]

LEAF = -1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def grow(  # noqa: C901, PLR0912, PLR0915, PLR0917 (compiled: no keywords, one loop)
    X: Array,
    y: Labels,
    ordered: Indices,
    features: Indices,
    depth: int,
    split: Indices,
    threshold: Array,
    child: Indices,
    call: Labels,
) -> int:
    """Grow one tree in place; return how many nodes it has.

    `ordered` holds, a row a feature, the training examples in its order, and is overwritten.  Node
    i goes to `child[i]` where feature `split[i]` is at most `threshold[i]`, and otherwise to the
    node after that; `split` is −1 at a leaf, which calls `call`.
    """
    d, m = ordered.shape
    first = np.zeros(2 * m, dtype=np.int32)
    end = np.zeros(2 * m, dtype=np.int32)
    level = np.zeros(2 * m, dtype=np.int32)
    goes_left = np.zeros(X.shape[0], dtype=np.bool_)
    rest = np.empty(m, dtype=np.int32)
    end[0] = m
    nodes, node = 1, 0
    while node < nodes:
        start, stop = first[node], end[node]
        pos_label = 0
        for at in range(start, stop):
            pos_label += y[ordered[0, at]]
        size = stop - start
        call[node] = 2 * pos_label > size
        split[node] = LEAF
        best, best_feature, best_size = -1.0, LEAF, 0
        if 0 < pos_label < size and level[node] < depth:
            for f in features:
                left_positive = 0
                for at in range(start, stop - 1):
                    i = ordered[f, at]
                    left_positive += y[i]
                    if X[i, f] < X[ordered[f, at + 1], f]:
                        left = at + 1 - start
                        right = size - left
                        left_negative = left - left_positive
                        right_positive = pos_label - left_positive
                        right_negative = right - right_positive
                        # Least impurity is the largest sum of squared counts over the size.
                        purity = (left_positive**2 + left_negative**2) / left
                        purity += (right_positive**2 + right_negative**2) / right
                        if purity > best:
                            best, best_feature, best_size = purity, f, left
        if best_feature != LEAF:
            f = best_feature
            middle = start + best_size
            low, high = X[ordered[f, middle - 1], f], X[ordered[f, middle], f]
            split[node] = f
            threshold[node] = low + (high - low) / 2
            if threshold[node] >= high:
                threshold[node] = low
            child[node] = nodes
            for at in range(start, stop):
                goes_left[ordered[f, at]] = at < middle
            for g in range(d):
                if g == f:
                    continue
                to, kept = start, 0
                for at in range(start, stop):
                    i = ordered[g, at]
                    if goes_left[i]:
                        ordered[g, to] = i
                        to += 1
                    else:
                        rest[kept] = i
                        kept += 1
                for at in range(kept):
                    ordered[g, to + at] = rest[at]
            first[nodes], end[nodes] = start, middle
            first[nodes + 1], end[nodes + 1] = middle, stop
            level[nodes] = level[nodes + 1] = level[node] + 1
            nodes += 2
        node += 1
    return nodes


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def called(X: Array, i: int, split: Indices, threshold: Array, child: Indices) -> int:
    """Give the leaf in which example i ends."""
    node = 0
    while split[node] >= 0:
        node = child[node] + (X[i, split[node]] > threshold[node])
    return node


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def refit_trees(  # noqa: PLR0917 (compiled code takes no keywords)
    X: Array,
    y: Labels,
    ordered: Indices,
    parts: NDArray[np.int64],
    kept: Labels,
    features: Indices,
    depth: int,
    calls: Labels,
) -> None:
    """Fill in what each refit calls the examples that it was not trained on.

    `parts` divides the examples, `kept` says which parts a refit (row) is trained on, `features`
    is the order in which it looks at the features.
    """
    n, d = X.shape
    split, child = np.empty(2 * n, dtype=np.int32), np.empty(2 * n, dtype=np.int32)
    threshold, call = np.empty(2 * n), np.empty(2 * n, dtype=np.bool_)
    own = np.empty((d, n), dtype=np.int32)
    for refit in range(kept.shape[0]):
        m = 0
        for f in range(d):
            m = 0
            for at in range(n):
                i = ordered[f, at]
                if kept[refit, parts[i]]:
                    own[f, m] = i
                    m += 1
        grow(X, y, own[:, :m], features[refit], depth, split, threshold, child, call)
        for i in range(n):
            if not kept[refit, parts[i]]:
                calls[refit, i] = call[called(X, i, split, threshold, child)]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def tree_errors(  # noqa: PLR0917 (compiled code takes no keywords)
    X: Array,
    y: Labels,
    split: Indices,
    threshold: Array,
    child: Indices,
    call: Labels,
) -> int:
    """Count the examples that one tree gets wrong."""
    wrong = 0
    for i in range(X.shape[0]):
        wrong += call[called(X, i, split, threshold, child)] != y[i]
    return wrong


Tree = tuple[Indices, Array, Indices, Labels]  # split, threshold, child, call

UNLIMITED = 2**31 - 1


class DecisionTree:
    """A tree grown until its leaves are pure, or to a depth."""

    name = "decision tree"

    def __init__(self, depth: int = UNLIMITED) -> None:
        self.depth = depth

    def calls(
        self,
        X: Array,
        y: Labels,
        parts: NDArray[np.int64],
        kept: Labels,
        rng: np.random.Generator,
    ) -> Labels:
        """Tell what each refit calls the examples that it was not trained on: R × M × n."""
        ordered = _ordered(X)
        calls = np.zeros((len(parts), len(kept), len(y)), dtype=np.bool_)
        for division, called_there in zip(parts, calls, strict=True):
            features = np.tile(np.arange(X.shape[1], dtype=np.int32), (len(kept), 1))
            features = rng.permuted(features, axis=1)
            refit_trees(X, y, ordered, division, kept, features, self.depth, called_there)
        return calls

    def train(self, X: Array, y: Labels, rng: np.random.Generator) -> Tree:
        """Grow one tree on the whole sample."""
        split, child = np.empty((2, 2 * len(y)), dtype=np.int32)
        threshold, call = np.empty(2 * len(y)), np.empty(2 * len(y), dtype=np.bool_)
        features = rng.permutation(X.shape[1]).astype(np.int32)
        nodes = grow(X, y, _ordered(X), features, self.depth, split, threshold, child, call)
        return split[:nodes], threshold[:nodes], child[:nodes], call[:nodes]

    def errors(self, trees: Sequence[Tree], X: Array, y: Labels) -> Array:
        """Give the share of the examples that each tree gets wrong."""
        return np.array([tree_errors(X, y, *tree) for tree in trees]) / len(y)


def _ordered(X: Array) -> Indices:
    return np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T.astype(np.int32))
