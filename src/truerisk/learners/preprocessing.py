"""Columns of a table → features of a learner; all that is learnt, is learnt in `fit`."""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array
from truerisk.checks import check_choice, shown
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.tables import MANY_CATEGORIES, UNLIKELY_SHARE, Kind

if TYPE_CHECKING:
    from truerisk.text.vectorizer import Vectorizer

KINDS = ("number", "category", "text")
FORMS = ("features", "array", "codes")
Form = Literal["features", "array", "codes"]
MISSING = -1.0
MAX_CODES = 255  # as many as histograms of gradient boosting have bins
WIDE, SPARSE = 100, 0.2  # features, and share of them that are not 0: from there CSR is faster
LARGEST_DENSE = 2**31  # bytes; a learner that takes no sparse matrix is refused a larger one


class ColumnKinds:
    """What knows the kinds of its columns, all numbers where none are given."""

    kinds: Sequence[str] | None
    n_features_in_: int

    def _places(self, kind: str) -> list[int]:
        if self.kinds is None:
            return list(range(self.n_features_in_)) if kind == "number" else []
        return [place for place, one in enumerate(self.kinds) if one == kind]

    @property
    def _has_text(self) -> bool:
        return self.kinds is not None and "text" in self.kinds

    def _form(self) -> dict[str, Any]:
        """Say what may be in `X`: anything beside texts, otherwise numbers and NaN."""
        return {
            "accept_sparse": "csr",
            "dtype": object if self._has_text else np.float64,
            "ensure_all_finite": False if self._has_text else "allow-nan",
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class Preprocessing(ColumnKinds, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Impute, scale and one-hot encode the columns of a `Table`, from the training rows alone.

    A missing number becomes the median; `scale` gives mean 0 and standard deviation 1.  A category
    met in `fit` is a column of 0 and 1, also NaN; a new one is a row of zeros.  A text becomes
    weighted words.  A sparse matrix stays as it is.  `form` "array" is never sparse; "codes" is for
    trees: places of categories, NaN where missing, new, or not among the 255 most frequent.
    """

    def __init__(
        self, kinds: Sequence[str] | None = None, *, scale: bool = True, form: Form = "features"
    ) -> None:
        self.kinds = kinds
        self.scale = scale
        self.form = form

    def fit(self, X: Any, y: object = None) -> "Preprocessing":  # noqa: ARG002
        """Learn medians, means, deviations, categories and words; `y` is not used."""
        self._learn(self._checked(X, reset=True))
        return self

    def fit_transform(self, X: Any, y: object = None) -> Any:  # noqa: ARG002
        """Do `fit` and `transform` with one look at the columns; `y` is not used."""
        X = self._checked(X, reset=True)
        return self._made(X, self._learn(X))

    def transform(self, X: Any) -> Any:
        """Give the features: float64, an array or a CSR matrix, without NaN."""
        check_is_fitted(self)
        return self._made(self._checked(X, reset=False), None)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, **self._form())

    def _learn(self, X: Any) -> list[csr_matrix] | None:
        """Learn from the training rows; give what the texts became, which is costly to do twice."""
        self._check_settings()
        self.medians_ = self.means_ = self.deviations_ = np.empty(0)
        self.categories_: list[Array] = []
        self.vectorizers_: list[Vectorizer] = []
        if issparse(X):
            return None
        numbers = floats_of(X, self._places("number"))
        self.medians_ = _medians(numbers)
        filled = _filled(numbers, self.medians_)
        self.means_ = filled.mean(axis=0)
        deviations = filled.std(axis=0)
        # A constant column has a deviation of nothing but rounding.
        rounding = 1e-12 * np.abs(filled).max(axis=0, initial=0.0)
        self.deviations_ = np.where(deviations > rounding, deviations, 1.0)
        codes = floats_of(X, self._places("category"))
        if self.form == "codes":
            self.categories_ = [_most_frequent(column) for column in codes.T]
        else:
            self.categories_ = [np.unique(column) for column in _filled(codes, MISSING).T]
        vectors = []
        for place in self._places("text"):
            vectorizer, matrix = _fitted_words(texts_of(X, place))
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

    def _made(self, X: Any, texts: list[csr_matrix] | None) -> Any:
        if issparse(X):
            return X if self.form == "features" else self._densified(X)
        if self.form == "codes":
            return self._codes(X)
        numbers = _filled(floats_of(X, self._places("number")), self.medians_)
        if self.scale:
            numbers -= self.means_
            numbers /= self.deviations_
        codes = _filled(floats_of(X, self._places("category")), MISSING)
        if texts is None:
            texts = [
                vectorizer.transform(texts_of(X, place))
                for vectorizer, place in zip(self.vectorizers_, self._places("text"), strict=True)
            ]
        if texts or (self.form == "features" and self._is_wide_and_sparse()):
            return self._sparse(numbers, codes, texts)
        return self._array(numbers, codes)

    def _codes(self, X: Any) -> Array:
        made = floats_of(X, list(range(self.n_features_in_)))
        for place, known in zip(self._places("category"), self.categories_, strict=True):
            rows, places = _met(made[:, place], known)
            made[:, place] = np.nan
            made[rows, place] = places
        return made

    def _is_wide_and_sparse(self) -> bool:
        """Tell by what was met in `fit`: all rows come in one form."""
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

    def _sparse(self, numbers: Array, codes: Array, texts: list[csr_matrix]) -> Any:
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
    def _densified(X: Any) -> Array:
        if 8 * X.shape[0] * X.shape[1] > LARGEST_DENSE:
            raise ResourceError(
                f"{X.shape[0]} × {X.shape[1]} features would take more than "
                f"{LARGEST_DENSE // 2**30} GiB as an array, which this model needs. "
                f"Choose one that takes sparse features, such as linear_svm."
            )
        made: Array = X.toarray()
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self._has_text
        return tags


def kinds_of(X: Any) -> tuple[Kind, ...] | None:
    """Tell what each column of a frame, an array of objects or a list of texts is.

    Words, truth values and categories are categories.  None where there is nothing to encode.
    """
    if _are_texts(X):
        return ("text",)
    columns = _columns_of(X)
    kinds: tuple[Kind, ...] = tuple(
        "number" if values.dtype.kind == "f" else "category" for _, values in columns
    )
    for (name, values), kind in zip(columns, kinds, strict=True):
        if kind == "category":
            _check_category(name, values)
    return kinds if "category" in kinds else None


class ColumnCodes(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of a data frame → the matrix that `Preprocessing` takes: numbers, codes and texts.

    Codes are places among the sorted categories of the training rows; a new one has its own code.
    """

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: object = None) -> "ColumnCodes":  # noqa: ARG002
        """Learn the categories of each column; `y` is not used."""
        self.categories_ = [
            sorted({str(cell) for cell in values if cell is not None}) if kind == "category" else []
            for kind, (_, values) in zip(self.kinds, self._columns(X), strict=True)
        ]
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Give the matrix: float64, or objects where there are texts."""
        check_is_fitted(self)
        columns = self._columns(X)
        coded = np.empty(
            (len(columns[0][1]), len(columns)), dtype=object if "text" in self.kinds else np.float64
        )
        for at, (kind, (_, values), categories) in enumerate(
            zip(self.kinds, columns, self.categories_, strict=True)
        ):
            if kind == "category":
                places = {word: place for place, word in enumerate(categories)}
                values = np.array(  # noqa: PLW2901
                    [
                        np.nan if cell is None else places.get(str(cell), len(places))
                        for cell in values
                    ]
                )
            coded[:, at] = values
        return coded

    def _columns(self, X: Any) -> list[tuple[str, NDArray[Any]]]:
        if "text" in self.kinds:
            return [("X", np.array([str(text) for text in X], dtype=object))]
        columns = _columns_of(X)
        if len(columns) != len(self.kinds):
            raise InputError(f"`X` must have {len(self.kinds)} columns; got {len(columns)}.")
        return columns


def _are_texts(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "UO" and bool(len(X)) and isinstance(X[0], str)
    return isinstance(X, (list, tuple)) and bool(X) and isinstance(X[0], str)


def _columns_of(X: Any) -> list[tuple[str, NDArray[Any]]]:
    """Name the columns; numbers as float64 with NaN, all else as objects with None."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OU":
        columns = enumerate(X.T)
        return [(f"column {at}", _numbers_or_objects(column.tolist())) for at, column in columns]
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return []
    import narwhals as nw

    named = []
    for series in nw.from_native(X, eager_only=True).iter_columns():
        if series.dtype.is_numeric():
            values = series.cast(nw.Float64()).to_numpy().astype(np.float64)
        else:
            missing = series.is_null().to_list()
            cells = zip(series.to_list(), missing, strict=True)
            values = _numbers_or_objects([None if none else cell for cell, none in cells])
        named.append((str(series.name), values))
    return named


def _numbers_or_objects(cells: list[Any]) -> NDArray[Any]:
    known = [None if cell is None or cell != cell else cell for cell in cells]  # noqa: PLR0124
    if all(
        cell is None or (isinstance(cell, Real) and not isinstance(cell, (bool, np.bool_)))
        for cell in known
    ):
        return np.array([np.nan if cell is None else float(cell) for cell in known])
    made = np.empty(len(known), dtype=object)
    made[:] = known
    return made


def _check_category(name: str, values: NDArray[Any]) -> None:
    """Refuse a column of ids or texts, by the rule for a table file."""
    words = sorted({str(cell) for cell in values if cell is not None})
    if len(words) > max(MANY_CATEGORIES, UNLIKELY_SHARE * len(values)):
        several = sum(len(word.split()) > 1 for word in words) > len(words) / 2
        raise InputError(
            f"`X` must hold numbers and categories for a named model; {shown(name)} has "
            f"{len(words)} distinct values in {len(values)} rows, such as {shown(words[0])}, "
            f"probably {'texts' if several else 'ids'}. Drop the column, or give a pipeline that "
            "prepares it."
        )


def floats_of(X: Any, places: list[int]) -> Array:
    """Copy some columns: the caller's are not changed."""
    copied: Array = X[:, places].astype(np.float64)
    return copied


def texts_of(X: Any, place: int) -> list[str]:
    """Give a column of texts, a missing one as an empty one."""
    return ["" if text is None else text for text in X[:, place].tolist()]


def _medians(numbers: Array) -> Array:
    """Give the medians of what is there, 0 for a column of which nothing is."""
    known = (column[~np.isnan(column)] for column in numbers.T)
    return np.array([np.median(column) if len(column) else 0.0 for column in known])


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
    from truerisk.text.vectorizer import Vectorizer

    # Of few documents hardly a word is in three.
    vectorizer = Vectorizer(min_documents=3 if len(texts) >= 100 else 1)
    return vectorizer, vectorizer.fit_transform(texts)
