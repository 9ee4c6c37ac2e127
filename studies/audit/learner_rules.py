"""Linear discriminant and naive Bayes on many training sets at once, from sums over parts.

Problem   a sample, R divisions of it into K parts, M refits a division, each on parts it keeps
Given     sums of x, x² or xxᵀ over each part: those of a training set are sums of these
Returns   rules a·x² + b·x + c > 0, all R × M of them in a few batched steps
Link      equal to scikit-learn's LinearDiscriminantAnalysis and GaussianNB on the same examples
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.audit.learner_problems import Array, Labels

Parts = NDArray[np.int64]

SMOOTHING = 1e-9  # of the largest variance, added to all: GaussianNB's own
CHUNK = 20_000  # fresh examples judged at once


@dataclass(frozen=True)
class Rules:
    """Rules a·x² + b·x + c > 0, in arrays of one leading shape; no `squares` when linear."""

    squares: Array | None
    weights: Array
    constants: Array

    @classmethod
    def joined(cls, models: Sequence["Rules"]) -> "Rules":
        """Put the rules of several fits into one row."""
        curved = [_rows(one.squares) for one in models if one.squares is not None]
        return cls(
            np.concatenate(curved) if curved else None,
            np.concatenate([_rows(one.weights) for one in models]),
            np.concatenate([one.constants.ravel() for one in models]),
        )

    def calls(self, X: Array) -> Labels:
        """Tell whom each rule calls positive: shape of the rules × examples."""
        scores = self.weights @ X.T + self.constants[..., np.newaxis]
        if self.squares is not None:
            scores += self.squares @ (X * X).T
        called: Labels = scores > 0
        return called

    def errors(self, X: Array, y: Labels) -> Array:
        """Give the share of the examples that each rule gets wrong."""
        wrong = np.zeros(self.constants.shape, dtype=np.int64)
        for start in range(0, len(y), CHUNK):
            at = slice(start, start + CHUNK)
            wrong += np.count_nonzero(self.calls(X[at]) != y[at], axis=-1)
        return wrong / len(y)


def _rows(array: Array) -> Array:
    return array.reshape(-1, array.shape[-1])


@dataclass(frozen=True)
class _ClassSums:
    """Of each training set and class: how many examples, their mean, and the shift of all x."""

    counts: Array  # R × M × 2
    means: Array  # R × M × 2 × d
    shift: Array  # d


def _part_sums(parts: Parts, kept: Labels, columns: Array) -> Array:
    """Sum the columns over the examples of each training set."""
    own = (parts[:, np.newaxis, :] == np.arange(kept.shape[1])[:, np.newaxis]).astype(np.float64)
    return np.asarray(kept.astype(np.float64) @ (own @ columns))


def _class_columns(X: Array, y: Labels) -> Array:
    """Put the columns of either class side by side, 0 where an example is of the other one."""
    return np.concatenate(
        [np.where(y[:, np.newaxis], 0.0, X), np.where(y[:, np.newaxis], X, 0.0)], 1
    )


def _class_sums(X: Array, y: Labels, parts: Parts, kept: Labels) -> tuple[_ClassSums, Array]:
    """Give the sums by class, and the sample shifted to its mean: rounding then does no harm."""
    shift = X.mean(axis=0)
    centred = X - shift
    ones = np.ones((len(y), 1))
    columns = _class_columns(np.concatenate([ones, centred], axis=1), y)
    sums = _part_sums(parts, kept, columns)
    sums = sums.reshape(*sums.shape[:-1], 2, X.shape[1] + 1)
    counts = sums[..., 0]
    return _ClassSums(counts, sums[..., 1:] / counts[..., np.newaxis], shift), centred


class RuleLearner(ABC):
    """A learner of rules that is fitted to many training sets at once."""

    name: str

    @abstractmethod
    def fit(self, X: Array, y: Labels, parts: Parts, kept: Labels) -> Rules:
        """Fit every training set: of each division (row of `parts`), the parts each refit keeps."""

    def calls(
        self, X: Array, y: Labels, parts: Parts, kept: Labels, rng: np.random.Generator
    ) -> Labels:
        """Tell what each refit calls each example: divisions × refits × examples."""
        del rng  # nothing is drawn
        # Where a training set lacks a class, the scores are NaN and all are called negative.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.fit(X, y, parts, kept).calls(X)

    def train(self, X: Array, y: Labels, rng: np.random.Generator) -> Rules:
        """Fit the whole sample."""
        del rng
        return self.fit(
            X, y, np.zeros((1, len(y)), dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
        )

    def errors(self, models: Sequence[Rules], X: Array, y: Labels) -> Array:
        """Give the share of the examples that each model gets wrong."""
        return Rules.joined(models).errors(X, y)


class LinearDiscriminant(RuleLearner):
    """Two normal classes of one covariance: the linear rule between their means."""

    name = "linear discriminant"

    def fit(self, X: Array, y: Labels, parts: Parts, kept: Labels) -> Rules:
        r"""Fit every training set: :math:`w = S^{-1}(m_1 - m_0)`, S the pooled covariance."""
        sums, centred = _class_sums(X, y, parts, kept)
        n, d = X.shape
        products = (centred[:, :, np.newaxis] * centred[:, np.newaxis, :]).reshape(n, d * d)
        scatter = _part_sums(parts, kept, products).reshape(*sums.counts.shape[:-1], d, d)
        for of in range(2):
            mean = sums.means[..., of, :]
            outer = mean[..., :, np.newaxis] * mean[..., np.newaxis, :]
            scatter -= sums.counts[..., of, np.newaxis, np.newaxis] * outer
        total = sums.counts.sum(axis=-1)
        apart = sums.means[..., 1, :] - sums.means[..., 0, :]
        pooled = scatter / total[..., np.newaxis, np.newaxis]
        weights = np.linalg.solve(pooled, apart[..., np.newaxis])[..., 0]
        middle = sums.means.mean(axis=-2) + sums.shift
        prior = np.log(sums.counts[..., 1] / sums.counts[..., 0])
        return Rules(None, weights, prior - np.sum(weights * middle, axis=-1))


class NaiveBayes(RuleLearner):
    """Two normal classes with independent features: a rule that is quadratic in each feature."""

    name = "naive Bayes"

    def fit(self, X: Array, y: Labels, parts: Parts, kept: Labels) -> Rules:
        """Fit every training set: mean and variance of each feature in each class."""
        sums, centred = _class_sums(X, y, parts, kept)
        squares = _part_sums(parts, kept, _class_columns(centred * centred, y))
        squares = squares.reshape(sums.means.shape) / sums.counts[..., np.newaxis]
        share = (sums.counts / sums.counts.sum(axis=-1, keepdims=True))[..., np.newaxis]
        over_all = np.sum(share * squares, axis=-2) - np.sum(share * sums.means, axis=-2) ** 2
        added = SMOOTHING * over_all.max(axis=-1)[..., np.newaxis, np.newaxis]
        variance = np.maximum(squares - sums.means**2, 0.0) + added
        means = sums.means + sums.shift
        each = np.log(share[..., 0]) - 0.5 * np.sum(np.log(variance) + means**2 / variance, axis=-1)
        slopes, curves = means / variance, -0.5 / variance
        return Rules(
            curves[..., 1, :] - curves[..., 0, :],
            slopes[..., 1, :] - slopes[..., 0, :],
            each[..., 1] - each[..., 0],
        )
