"""Pairs of models that are equally good, and what each default test says of them.

Predictions   two models whose scores or errors are exchangeable
Learners      one sees the first half of the features, the other one the second
Data sets     classifiers whose scores vary around one mean

Each function takes a setting by its name, a size and random numbers, draws one pair, and returns
one `Outcome` per test.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.aliases import Array, Indices
from truerisk.comparison.datasets.rank_tests import (
    difference_interval,
    friedman,
    nemenyi_p_value,
    rank_test,
    ranks_of,
    sign_test,
    signed_rank,
    without_noise,
)
from truerisk.intervals.multiplicity import hochberg, holm
from truerisk.results import Comparison, Interval

DISTANCE = 1.5  # of the mean scores of the classes, in standard deviations
THRESHOLD = 1.0
OF_THREE = (0.5, 0.3, 0.2)
WRONG = 0.25
ROWS_A_GROUP = 5
GROUPED_SHARE = 0.5  # of the variance, what the examples of a group have in common

COUNTED = (
    "error_rate",
    "balanced_accuracy",
    "matthews_correlation",
    "cohen_kappa",
    "precision",
    "recall",
    "specificity",
    "f1",
    "jaccard",
    "roc_auc",
    "log_loss",
    "brier_score",
)
FURTHER = (
    "negative_predictive_value",
    "gmean",
    "youden",
    "positive_likelihood_ratio",
    "negative_likelihood_ratio",
)
OF_CLASSES = (
    "error_rate",
    "balanced_accuracy",
    "matthews_correlation",
    "cohen_kappa",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "f1_weighted",
)
RANKED = ("average_precision", "best_f1", "ks", "breakeven_point", "eleven_point_precision")
PLANNED = "truerisk.comparison.predictions.right_answers.planned_size"
LEVEL = 0.95
CLASSIFIERS = 5
DIGITS = {"scores to any digit": 12, "scores in hundredths, with ties": 2}
HALF = 5
MEAN = 0.35  # of each feature, ± by class
REPLICATES = 200  # their spread matters, and 200 give it to a twentieth
SEEDS = 2**32


@dataclass(frozen=True)
class Outcome:
    """The p-value of a default test, the ends of its interval, and its name.

    NaN where the test has no interval, or is undefined.
    """

    p_value: float
    method: str
    low: float = math.nan
    high: float = math.nan


Outcomes = dict[str, Outcome]


def outcome_of(comparison: Comparison) -> Outcome:
    """Take what is needed of a comparison."""
    p_value = math.nan if comparison.p_value is None else comparison.p_value
    return with_interval(p_value, comparison.method, comparison.difference.interval)


def with_interval(p_value: float, method: str, interval: Interval | None) -> Outcome:
    """Put a p-value and an interval together; either may be missing.

    Examples
    --------
    >>> with_interval(0.2, "sign", None)
    Outcome(p_value=0.2, method='sign', low=nan, high=nan)
    """
    if interval is None:
        return Outcome(p_value, method)
    return Outcome(p_value, method, interval.low, interval.high)


@dataclass(frozen=True)
class Alike:
    """How two models resemble each other: `correlation` is that of their scores in a class."""

    correlation: float
    prevalence: float = 0.3
    grouped: bool = False
    weighted: bool = False


BINARY = {
    "3 in 10 positive, scores correlated 0.2": Alike(0.2),
    "3 in 10 positive, scores correlated 0.9": Alike(0.9),
    "1 in 10 positive, scores correlated 0.5": Alike(0.5, prevalence=0.1),
}
CLASSES = {
    "three classes, errors correlated 0.2": Alike(0.2),
    "three classes, errors correlated 0.9": Alike(0.9),
}
WEIGHTS = {
    "weights 1 to 3, scores correlated 0.5": Alike(0.5, weighted=True),
    "weights 1 to 3, groups of 5, scores correlated 0.5": Alike(0.5, grouped=True, weighted=True),
}
GROUPED_CLASSES = {"three classes, groups of 5, errors correlated 0.5": Alike(0.5, grouped=True)}
GROUPS = {
    "groups of 5, scores correlated 0.2": Alike(0.2, grouped=True),
    "groups of 5, scores correlated 0.9": Alike(0.9, grouped=True),
}


def two_normals(n: int, alike: Alike, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw two standard normals for each example, correlated as `alike` says, and exchangeable.

    Examples
    --------
    >>> first, second = two_normals(20_000, Alike(0.9), np.random.default_rng(0))
    >>> round(float(np.corrcoef(first, second)[0, 1]), 2)
    0.9
    """
    common, *own = (_noise(n, rng, grouped=alike.grouped) for _ in range(3))
    part = alike.correlation
    first, second = (np.sqrt(part) * common + np.sqrt(1 - part) * one for one in own)
    return first, second


def _noise(n: int, rng: np.random.Generator, *, grouped: bool) -> Array:
    if not grouped:
        return rng.normal(size=n)
    shared = rng.normal(size=-(-n // ROWS_A_GROUP))[group_of(n)]
    noise: Array = np.sqrt(GROUPED_SHARE) * shared + np.sqrt(1 - GROUPED_SHARE) * rng.normal(size=n)
    return noise


def group_of(n: int) -> Indices:
    """Give the group of each example."""
    return np.arange(n) // ROWS_A_GROUP


def scored(n: int, alike: Alike, rng: np.random.Generator) -> dict[str, Any]:
    """Draw labels, and the predictions of two equally good models; calibrated, without groups."""
    y = rng.random(n) < alike.prevalence
    scores = [one + DISTANCE * y for one in two_normals(n, alike, rng)]
    even = logit(alike.prevalence) - DISTANCE**2 / 2
    return {
        "y_true": y.astype(int),
        "predictions": [(score > THRESHOLD).astype(int) for score in scores],
        "scores": [expit(DISTANCE * score + even) for score in scores],
        "groups": group_of(n) if alike.grouped else None,
        "weights": rng.choice([1.0, 1.5, 3.0], n) if alike.weighted else None,
    }


def labelled(n: int, alike: Alike, rng: np.random.Generator) -> dict[str, Any]:
    """Draw labels of three classes, and the predictions of two models that err equally often."""
    y = rng.choice(3, size=n, p=OF_THREE)
    wrong = [one < ndtri(WRONG) for one in two_normals(n, alike, rng)]
    shift = rng.integers(1, 3, size=(2, n))
    predictions = [np.where(w, (y + s) % 3, y) for w, s in zip(wrong, shift, strict=True)]
    return {
        "y_true": y,
        "predictions": predictions,
        "scores": [None, None],
        "groups": group_of(n) if alike.grouped else None,
        "weights": None,
    }


def compared(drawn: Mapping[str, Any], measures: Sequence[str], **options: Any) -> Outcomes:
    """Give what `tr.compare` says by each measure.

    Examples
    --------
    >>> outcomes = compared(labelled(50, Alike(0.2), np.random.default_rng(0)), ["error_rate"])
    >>> outcomes["error_rate"].method
    'mcnemar_mid_p'
    """
    first, second = drawn["predictions"]
    # Planning a test set takes three quarters of the time, and no test depends on it.
    with patch(PLANNED, return_value=None):
        comparisons = tr.compare(
            drawn["y_true"],
            first,
            second,
            scores=drawn["scores"],
            groups=drawn["groups"],
            sample_weight=drawn["weights"],
            measures=measures,
            random_state=0,
            **options,
        )
    return {one.measure: outcome_of(one) for one in comparisons.pairs}


def by_counts(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the tests of measures of calls, of areas and of losses."""
    drawn = scored(n, {**BINARY, **GROUPS, **WEIGHTS}[setting], rng)
    return compared(drawn, COUNTED, pos_label=1, probabilities=True)


def by_further_counts(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the tests of the other measures of calls."""
    return compared(scored(n, BINARY[setting], rng), FURTHER, pos_label=1)


def by_classes(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the tests of several classes."""
    return compared(labelled(n, {**CLASSES, **GROUPED_CLASSES}[setting], rng), OF_CLASSES)


def by_rankings(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the tests of other measures of rankings."""
    return compared(scored(n, {**BINARY, **GROUPS, **WEIGHTS}[setting], rng), RANKED, pos_label=1)


class NearestMean(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Predicts the class of the nearer of two means, in some of the features."""

    def __init__(self, start: int = 0) -> None:
        self.start = start

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Take the means."""
        self.classes_ = np.unique(y)
        own = X[:, self.start : self.start + HALF]
        self.means_ = np.stack([own[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X: Array) -> NDArray[Any]:
        """Predict each example."""
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
        """Predict each example."""
        return np.asarray(self.tree_.predict(X[:, self.start : self.start + HALF]))


LEARNERS: dict[str, Callable[[int], Any]] = {
    "nearest mean, halves of the features": NearestMean,
    "tree of depth 3, halves of the features": SmallTree,
}
HALVES = "linear machines, halves of the features"  # names the stream of random numbers


def draw_halves(n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
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


def by_refits(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the default of `tr.compare_models`."""
    X, y = draw_halves(n, rng)
    learner, seed = LEARNERS[setting], int(rng.integers(SEEDS))
    comparison = tr.compare_models(
        learner(0), learner(HALF), X, y, names=("first", "second"), random_state=seed
    )
    return {comparison.measure: outcome_of(comparison)}


def by_perturbation(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try `tr.perturbation_difference`, with fewer replicates than its default."""
    del setting
    X, y = draw_halves(n, rng)
    comparison = tr.perturbation_difference(
        tr.LinearSVM(),
        tr.LinearSVM(),
        X[:, :HALF],
        y,
        second_X=X[:, HALF:],
        replicates=REPLICATES,
        random_state=rng,
    )
    return {comparison.measure: outcome_of(comparison)}


def draw_scores(n: int, digits: int, rng: np.random.Generator) -> Array:
    """Draw accuracies on n data sets, of which some are harder and some vary more.

    Examples
    --------
    >>> draw_scores(3, 2, np.random.default_rng(0)).shape
    (3, 5)
    """
    base = rng.uniform(0.6, 0.9, size=(n, 1))
    spread = rng.uniform(0.005, 0.03, size=(n, 1))
    scores: Array = np.round(base + spread * rng.normal(size=(n, CLASSIFIERS)), digits)
    return scores


def by_datasets(setting: str, n: int, rng: np.random.Generator) -> Outcomes:
    """Try the tests of `tr.compare_over_datasets`: of two classifiers, of all pairs, of a control.

    Of a family of pairs the least adjusted p-value counts: whether any is found different.
    """
    scores = draw_scores(n, DIGITS[setting], rng)
    ranks = ranks_of(scores)
    averages = ranks.mean(axis=0)
    pairs = list(combinations(range(CLASSIFIERS), 2))
    columns = [without_noise(scores[:, two] - scores[:, one], 1.0) for one, two in pairs]
    wilcoxon = [signed_rank(column).p_value for column in columns]
    overall = friedman(ranks)
    farthest = nemenyi_p_value(averages.min(), averages.max(), CLASSIFIERS, n)
    control = [rank_test(averages[0], other, CLASSIFIERS, n)[1] for other in averages[1:]]
    interval = difference_interval(columns[0], LEVEL)
    return {
        "two classifiers": with_interval(wilcoxon[0], "wilcoxon", interval),
        "two classifiers, wins": Outcome(sign_test(columns[0]).p_value, "sign"),
        "five, do any differ": Outcome(overall.p_value, "iman_davenport"),
        "five, do any differ (chi²)": Outcome(overall.tie_corrected_p_value, "friedman"),
        "five, any pair": Outcome(float(min(holm(wilcoxon))), "wilcoxon, holm"),
        "five, any pair (ranks)": Outcome(farthest, "nemenyi"),
        "a control and four": Outcome(min(1.0, 4 * min(control)), "bonferroni_dunn"),
        "a control and four, step down": Outcome(float(min(holm(control))), "holm"),
        "a control and four, step up": Outcome(float(min(hochberg(control))), "hochberg"),
    }
