"""Columns of a table → features of a learner; all that is learnt, is learnt in `fit`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array
from truerisk.checks import check_choice
from truerisk.errors import InputError, ResourceError

if TYPE_CHECKING:
    from truerisk.text.vectorizer import Vectorizer

KINDS = ("number", "category", "text")
FORMS = ("features", "array", "codes")
Form = Literal["features", "array", "codes"]
MISSING = -1.0
MAX_CODES = 255  # as many as histograms of gradient boosting have bins
WIDE, SPARSE = 100, 0.2  # features, and share of them that are not 0: from there CSR is faster
LARGEST_DENSE = 2**31  # bytes; a learner that takes no sparse matrix is refused a larger one


class Preprocessing(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Impute, scale and one-hot encode the columns of a `Table`, from the training rows alone.

    ==========  ===================================================================================
    a number    NaN becomes the median; with `scale`, less the mean and divided by the standard
                deviation
    a category  one column of 0 and 1 for each category met in `fit`, and one for NaN if it was met;
                a category that was not met is a row of zeros
    a text      weighted words, as `tr.Vectorizer` makes them
    ==========  ===================================================================================

    A sparse matrix is taken as it is: to centre it would fill it, and vectors come scaled by who
    made them.

    Parameters
    ----------
    kinds
        "number", "category" or "text" for each column; None if all are numbers.
    scale
        Whether numbers are brought to mean 0 and standard deviation 1.
    form
        "features" as above, sparse (CSR) where they are many and most are 0; "array" for the same,
        never sparse; or "codes" for trees that know categories and missing values: the columns as
        they are, each category as its place among those met in `fit`, NaN where it is missing, was
        not met, or is not among the 255 most frequent.

    Attributes
    ----------
    medians_, means_, deviations_
        Of each number column, over the rows of `fit`.
    categories_
        The codes met in each category column, −1 for NaN.
    vectorizers_
        The words of each text column.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, np.nan]])
    >>> Preprocessing(("number", "category"), scale=False).fit_transform(X)
    array([[1., 0., 1., 0.],
           [3., 0., 0., 1.],
           [2., 1., 0., 0.]])
    """

    def __init__(
        self, kinds: Sequence[str] | None = None, *, scale: bool = True, form: Form = "features"
    ) -> None:
        self.kinds = kinds
        self.scale = scale
        self.form = form

    def fit(self, X: Any, y: object = None) -> "Preprocessing":  # noqa: ANN401, ARG002
        """Learn medians, means, deviations, categories and words; `y` is not used."""
        self._learn(self._checked(X, reset=True))
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:  # noqa: ANN401, ARG002
        """Do `fit` and `transform` with one look at the columns; `y` is not used."""
        X = self._checked(X, reset=True)
        return self._made(X, self._learn(X))

    def transform(self, X: Any) -> Any:  # noqa: ANN401
        """Give the features: float64, an array or a CSR matrix, without NaN."""
        check_is_fitted(self)
        return self._made(self._checked(X, reset=False), None)

    def _checked(self, X: Any, *, reset: bool) -> Any:  # noqa: ANN401
        has_text = self.kinds is not None and "text" in self.kinds
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=object if has_text else np.float64,
            ensure_all_finite=False if has_text else "allow-nan",
        )

    def _learn(self, X: Any) -> list[csr_matrix] | None:  # noqa: ANN401
        """Learn from the training rows; give what the texts became, which is costly to do twice."""
        self._check_settings()
        self.medians_ = self.means_ = self.deviations_ = np.empty(0)
        self.categories_: list[Array] = []
        self.vectorizers_: list[Vectorizer] = []
        if issparse(X):
            return None
        numbers = _floats(X, self._places("number"))
        self.medians_ = _medians(numbers)
        filled = _filled(numbers, self.medians_)
        self.means_ = filled.mean(axis=0)
        deviations = filled.std(axis=0)
        # A constant column has a deviation of nothing but rounding.
        rounding = 1e-12 * np.abs(filled).max(axis=0, initial=0.0)
        self.deviations_ = np.where(deviations > rounding, deviations, 1.0)
        codes = _floats(X, self._places("category"))
        if self.form == "codes":
            self.categories_ = [_most_frequent(column) for column in codes.T]
        else:
            self.categories_ = [np.unique(column) for column in _filled(codes, MISSING).T]
        vectors = []
        for place in self._places("text"):
            vectorizer, matrix = _fitted_words(_texts(X, place))
            self.vectorizers_.append(vectorizer)
            vectors.append(matrix)
        return vectors

    def _check_settings(self) -> None:
        check_choice(self.form, FORMS, "form")
        if self.kinds is None:
            return
        for kind in self.kinds:
            check_choice(kind, KINDS, "kinds")
        if self.form == "codes" and "text" in self.kinds:
            raise InputError('`form` must not be "codes" for a table with texts; use "array".')
        if len(self.kinds) != self.n_features_in_:
            raise InputError(
                f"`kinds` must have an entry for each column of `X`; got {len(self.kinds)} for "
                f"{self.n_features_in_} columns."
            )

    def _places(self, kind: str) -> list[int]:
        if self.kinds is None:
            return list(range(self.n_features_in_)) if kind == "number" else []
        return [place for place, found in enumerate(self.kinds) if found == kind]

    def _made(self, X: Any, texts: list[csr_matrix] | None) -> Any:  # noqa: ANN401
        if issparse(X):
            return X if self.form == "features" else self._densified(X)
        if self.form == "codes":
            return self._codes(X)
        numbers = _filled(_floats(X, self._places("number")), self.medians_)
        if self.scale:
            numbers -= self.means_
            numbers /= self.deviations_
        codes = _filled(_floats(X, self._places("category")), MISSING)
        if texts is None:
            texts = [
                vectorizer.transform(_texts(X, place))
                for vectorizer, place in zip(self.vectorizers_, self._places("text"), strict=True)
            ]
        if texts or (self.form == "features" and self._is_wide_and_sparse()):
            return self._sparse(numbers, codes, texts)
        return self._array(numbers, codes)

    def _codes(self, X: Any) -> Array:  # noqa: ANN401
        made = _floats(X, list(range(self.n_features_in_)))
        for place, known in zip(self._places("category"), self.categories_, strict=True):
            rows, places = _met(made[:, place], known)
            made[:, place] = np.nan
            made[rows, place] = places
        return made

    def _is_wide_and_sparse(self) -> bool:
        """Tell by what was met in `fit`, so that all rows come in one form."""
        entries = len(self.means_) + len(self.categories_)
        width = len(self.means_) + sum(map(len, self.categories_))
        return width > WIDE and entries < SPARSE * width

    def _array(self, numbers: Array, codes: Array) -> Array:
        width = numbers.shape[1] + sum(map(len, self.categories_))
        made = np.zeros((len(numbers), width))
        made[:, : numbers.shape[1]] = numbers
        start = numbers.shape[1]
        for column, known in zip(codes.T, self.categories_, strict=True):
            rows, places = _met(column, known)
            made[rows, start + places] = 1.0
            start += len(known)
        return made

    def _sparse(self, numbers: Array, codes: Array, texts: list[csr_matrix]) -> Any:  # noqa: ANN401
        starts = numbers.shape[1] + np.cumsum([0, *map(len, self.categories_)])
        # Row by row the numbers, then the place of each category; −1 is a category not met.
        indices = np.full((len(codes), numbers.shape[1] + codes.shape[1]), -1)
        indices[:, : numbers.shape[1]] = np.where(numbers == 0.0, -1, np.arange(numbers.shape[1]))
        for place, (column, known) in enumerate(zip(codes.T, self.categories_, strict=True)):
            rows, places = _met(column, known)
            indices[rows, numbers.shape[1] + place] = starts[place] + places
        stored = indices >= 0
        values = np.hstack([numbers, np.ones(codes.shape)])[stored]
        ends = np.cumsum([0, *np.count_nonzero(stored, axis=1)])
        made = csr_matrix((values, indices[stored], ends), shape=(len(codes), starts[-1]))
        if texts:
            made = hstack([made, *texts], format="csr")
        return made if self.form == "features" else self._densified(made)

    @staticmethod
    def _densified(X: Any) -> Array:  # noqa: ANN401
        if 8 * X.shape[0] * X.shape[1] > LARGEST_DENSE:
            raise ResourceError(
                f"{X.shape[0]} × {X.shape[1]} features would take more than "
                f"{LARGEST_DENSE // 2**30} GiB as an array, which this model needs. "
                f"Choose one that takes sparse features, such as linear_svm."
            )
        made: Array = X.toarray()
        return made

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's own type
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = self.kinds is not None and "text" in self.kinds
        return tags


def preprocessor(
    kinds: Sequence[str] | None, *, scale: bool, form: Form = "features"
) -> Preprocessing:
    """Make the first step of a pipeline for a table of these kinds of columns.

    Examples
    --------
    >>> preprocessor(("number", "category"), scale=True)
    Preprocessing(kinds=('number', 'category'))
    """
    return Preprocessing(None if kinds is None else tuple(kinds), scale=scale, form=form)


def _floats(X: Any, places: list[int]) -> Array:  # noqa: ANN401
    """Copy some columns, so that the caller's are not changed."""
    copied: Array = X[:, places].astype(np.float64)
    return copied


def _texts(X: Any, place: int) -> list[str]:  # noqa: ANN401
    return ["" if text is None else text for text in X[:, place].tolist()]


def _medians(numbers: Array) -> Array:
    """Give the medians of what is there, 0 for a column of which nothing is."""
    found = np.zeros(numbers.shape[1])
    for place, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        if len(known):
            found[place] = np.median(known)
    return found


def _filled(values: Array, substitute: Array | float) -> Array:
    missing = np.isnan(values)
    if missing.any():
        values = np.where(missing, substitute, values)
    return values


def _met(column: Array, known: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows whose category was met in `fit`, and its place among those."""
    if not len(known):
        none = np.empty(0, np.intp)
        return none, none
    places = np.minimum(np.searchsorted(known, column), len(known) - 1)
    rows = np.flatnonzero(known[places] == column)
    return rows, places[rows]


def _most_frequent(column: Array) -> Array:
    """Give the codes that occur, in order, of many only those that occur most often."""
    known, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    if len(known) <= MAX_CODES:
        return known
    return np.sort(known[np.argsort(-counts, kind="stable")[:MAX_CODES]])


def _fitted_words(texts: list[str]) -> "tuple[Vectorizer, csr_matrix]":
    from truerisk.text.vectorizer import Vectorizer  # noqa: PLC0415  (compiles)

    # Of few documents hardly a word is in three.
    vectorizer = Vectorizer(min_documents=3 if len(texts) >= 100 else 1)
    return vectorizer, vectorizer.fit_transform(texts)
