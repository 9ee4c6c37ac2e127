"""Naive Bayes for the columns of a table: numbers, categories and texts, each in its own way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array
from truerisk.checks import check_number
from truerisk.errors import InputError
from truerisk.learners.preprocessing import ColumnKinds, floats_of, texts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from truerisk.text.vectorizer import Vectorizer

MIN_VARIANCE = 1e-9  # of the largest variance of a column: a class of equal values is no certainty


class NaiveBayes(ColumnKinds, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes: given the class, the columns are taken as independent.

    log P(c | x) = log π_c + Σⱼ log pⱼ(xⱼ | c) + const, with a normal distribution for a number, the
    smoothed share (n_cv + s) / (n_c + sK) for one of K categories, and the multinomial distribution
    over words or sparse columns.  A missing cell or new category leaves its factor out.
    """

    def __init__(self, kinds: Sequence[str] | None = None, *, smoothing: float = 1.0) -> None:
        self.kinds = kinds
        self.smoothing = smoothing

    def fit(self, X: Any, y: Any) -> "NaiveBayes":
        """Learn the shares of the classes and the distribution of each column within each."""
        check_number(self.smoothing, "smoothing", low=0.0)
        X, y = validate_data(self, X, y, **self._form())
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        member = codes == np.arange(len(self.classes_))[:, None]
        self.log_prior_ = np.log(member.mean(axis=1))
        self.word_tables_: list[Array] = []
        if issparse(X):
            self.word_tables_ = [self._word_table(X, member)]
            return self
        self._learn_numbers(floats_of(X, self._places("number")), member)
        self._learn_categories(floats_of(X, self._places("category")), member)
        self._learn_words(X, member)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the likeliest class of each row."""
        joint = self.predict_joint_log_proba(X)
        labels: NDArray[Any] = self.classes_[np.argmax(joint, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Give P(c | x), a column for each class."""
        joint = self.predict_joint_log_proba(X)
        made: Array = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        return made

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Give log P(c, x), up to what does not depend on the class."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._form())
        joint = np.tile(self.log_prior_, (X.shape[0], 1))
        if issparse(X):
            joint += np.asarray(X @ self.word_tables_[0].T)
            return joint
        numbers = floats_of(X, self._places("number"))
        for place, column in enumerate(numbers.T):
            mean, variance = self.means_[:, place], self.variances_[:, place]
            terms = -0.5 * (np.log(variance) + (column[:, None] - mean) ** 2 / variance)
            joint += np.where(np.isnan(column)[:, None], 0.0, terms)
        codes = floats_of(X, self._places("category"))
        for column, known, table in zip(codes.T, self.categories_, self.tables_, strict=True):
            if len(known):
                places = np.minimum(np.searchsorted(known, column), len(known) - 1)
                joint += np.where((known[places] == column)[:, None], table[:, places].T, 0.0)
        texts = zip(self.vectorizers_, self._places("text"), self.word_tables_, strict=True)
        for vectorizer, place, table in texts:
            joint += np.asarray(vectorizer.transform(texts_of(X, place)) @ table.T)
        return joint

    def _learn_numbers(self, numbers: Array, member: NDArray[np.bool_]) -> None:
        shape = (len(member), numbers.shape[1])
        self.means_, self.variances_ = np.zeros(shape), np.ones(shape)
        for place, column in enumerate(numbers.T):
            known = column[~np.isnan(column)]
            if not len(known):
                continue
            spread = known.var()
            for label, rows in enumerate(member):
                inside = column[rows & ~np.isnan(column)]
                # A class that has no value gets the distribution of all: it says nothing.
                inside = inside if len(inside) else known
                self.means_[label, place] = inside.mean()
                self.variances_[label, place] = inside.var()
            least = MIN_VARIANCE * spread if spread > 0 else 1.0
            self.variances_[:, place] += least

    def _learn_categories(self, codes: Array, member: NDArray[np.bool_]) -> None:
        self.categories_: list[Array] = []
        self.tables_: list[Array] = []
        for column in codes.T:
            known, places = np.unique(column[~np.isnan(column)], return_inverse=True)
            inside = member[:, ~np.isnan(column)]
            counts = np.array([np.bincount(places[rows], minlength=len(known)) for rows in inside])
            self.categories_.append(known)
            self.tables_.append(self._log_shares(counts.astype(np.float64)))

    def _learn_words(self, X: NDArray[Any], member: NDArray[np.bool_]) -> None:
        self.vectorizers_: list[Vectorizer] = []
        for place in self._places("text"):
            vectorizer, counts = _counted_words(texts_of(X, place))
            self.vectorizers_.append(vectorizer)
            self.word_tables_.append(self._word_table(counts, member))

    def _word_table(self, counts: Any, member: NDArray[np.bool_]) -> Array:
        if counts.nnz and counts.data.min() < 0:
            raise InputError(
                f"`X` must hold no negative number where it is sparse, as naive Bayes takes it for "
                f"counts; got {counts.data.min():g}. Choose another model."
            )
        return self._log_shares(np.asarray(member.astype(np.float64) @ counts))

    def _log_shares(self, counts: Array) -> Array:
        shares = counts + self.smoothing
        with np.errstate(divide="ignore"):
            made: Array = np.log(shares) - np.log(shares.sum(axis=1, keepdims=True))
        return made


def _counted_words(texts: list[str]) -> "tuple[Vectorizer, csr_matrix]":
    from truerisk.text.vectorizer import Vectorizer

    vectorizer = Vectorizer(min_documents=1, weighting="tf", unit_length=False)
    return vectorizer, vectorizer.fit_transform(texts)
