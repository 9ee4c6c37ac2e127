"""Nearest neighbours among few examples: those that the others cannot predict."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array, Indices
from truerisk.checks import check_whole_number


class CondensedNeighbors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by the nearest of few stored examples, chosen by Hart's condensed rule.

    The store begins with the first example.  The others are tried in their order, again and again,
    and each one that the store predicts wrongly joins it, until a pass adds none.  The rule is
    determined by the stored examples, `compression_set_`, as `tr.compression_bound` needs it.

    Parameters
    ----------
    n_neighbors
        How many of the nearest stored examples vote; of equal classes the first wins.

    Attributes
    ----------
    compression_set_
        The training rows that are stored, sorted.

    References
    ----------
    .. [1] P. E. Hart, "The condensed nearest neighbor rule", IEEE Transactions on Information
       Theory 14(3), 515-516, 1968.

    Examples
    --------
    >>> model = CondensedNeighbors().fit([[0.0], [1.0], [2.0], [7.0], [8.0]], [0, 0, 0, 1, 1])
    >>> model.compression_set_
    array([0, 3])
    >>> model.predict([[3.0], [4.0]])
    array([0, 1])
    """

    def __init__(self, *, n_neighbors: int = 1) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> "CondensedNeighbors":
        """Choose the examples to store."""
        check_whole_number(self.n_neighbors, "n_neighbors", low=1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        distances, stored = cdist(X, X), np.zeros(len(X), dtype=bool)
        stored[0] = grown = True
        while grown:
            grown = False
            for row in np.flatnonzero(~stored):
                store = np.flatnonzero(stored)
                if self._voted(distances[[row]][:, store], codes[store])[0] != codes[row]:
                    stored[row] = grown = True
        self.compression_set_ = np.flatnonzero(stored)
        self._examples, self._codes = X[stored], codes[stored]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        voted = self._voted(cdist(X, self._examples), self._codes)
        called: NDArray[Any] = self.classes_[voted]
        return called

    def _voted(self, distances: Array, codes: Indices) -> NDArray[np.intp]:
        """Give the class that most of the nearest have."""
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : self.n_neighbors]
        votes = codes[nearest][:, :, None] == np.arange(len(self.classes_))
        most: NDArray[np.intp] = np.argmax(votes.sum(axis=1), axis=1)
        return most
