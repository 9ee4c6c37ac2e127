"""Two learners that are equally good: one sees the first half of the features, one the second."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from studies.audit.sizes_outcomes import Found, outcome_of
from truerisk.comparison.learners.compare_models import compare_models
from truerisk.comparison.learners.perturbed import perturbation_difference
from truerisk.svm.linear import LinearSVM

Array = NDArray[np.float64]

HALF = 5
MEAN = 0.35  # of each feature, ± by class
REPLICATES = 200  # their spread is what counts, and 200 tell it to a twentieth
SEEDS = 2**32


class NearestMean(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Calls an example by the nearer of two means, in some of its features."""

    def __init__(self, start: int = 0) -> None:
        self.start = start

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Take the means."""
        self.classes_ = np.unique(y)
        own = X[:, self.start : self.start + HALF]
        self.means_ = np.stack([own[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Call each example."""
        own = X[:, self.start : self.start + HALF]
        away = ((own[:, np.newaxis] - self.means_) ** 2).sum(axis=2)
        return np.asarray(self.classes_[away.argmin(axis=1)])


class SmallTree(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """A tree of depth 3 on some of the features."""

    def __init__(self, start: int = 0) -> None:
        self.start = start

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Grow it."""
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_ = tree.fit(X[:, self.start : self.start + HALF], y)
        self.classes_ = tree.classes_
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Call each example."""
        return np.asarray(self.tree_.predict(X[:, self.start : self.start + HALF]))


LEARNERS: dict[str, Callable[[int], Any]] = {
    "nearest mean, halves of the features": NearestMean,
    "tree of depth 3, halves of the features": SmallTree,
}
MACHINES = "linear machines, halves of the features"


def draw_halves(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.intp]]:
    """Draw examples whose two halves of features are exchangeable.

    Examples
    --------
    >>> X, y = draw_halves(40, np.random.default_rng(0))
    >>> X.shape, np.bincount(y).tolist()
    ((40, 10), [20, 20])
    """
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 2 * HALF)) + np.where(y, MEAN, -MEAN)[:, np.newaxis]
    return X, y


def by_refits(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try the default of `tr.compare_models`."""
    X, y = draw_halves(n, rng)
    learner, seed = LEARNERS[setting], int(rng.integers(SEEDS))
    found = compare_models(
        learner(0), learner(HALF), X, y, names=("first", "second"), random_state=seed
    )
    return {found.measure: outcome_of(found)}


def by_perturbation(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try `tr.perturbation_difference`, with fewer replicates than its default."""
    del setting
    X, y = draw_halves(n, rng)
    found = perturbation_difference(
        LinearSVM(),
        LinearSVM(),
        X[:, :HALF],
        y,
        second_X=X[:, HALF:],
        replicates=REPLICATES,
        random_state=rng,
    )
    return {found.measure: outcome_of(found)}
