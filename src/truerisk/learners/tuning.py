"""Choosing the settings of a model by cross-validation within its own training examples."""

import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y

from truerisk.aliases import Array, Indices
from truerisk.checks import check_whole_number
from truerisk.errors import InputError
from truerisk.labels import positive_of_two
from truerisk.learners.divisions import divisions_of, is_number_of_folds, positions_of
from truerisk.learners.refits import fresh_copy, positions, rows_of, scores_of
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import Measure, find_measure
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import rank


def over_all_folds(
    measure: Measure, truth: Indices, called: Indices, classes: NDArray[Any], pos_label: Any = None
) -> float:
    """Give a measure of counts, from codes of `classes`."""
    table = np.zeros((len(classes), len(classes)))
    np.add.at(table, (truth, called), 1.0)
    at = None
    if measure.needs == "binary counts":
        at = positive_place(measure, classes, pos_label)
    value = value_of_tables(measure.name, table, at)
    if value is None:
        raise InputError(
            f"`measure` must be one of labels or scores to choose settings by; got {measure.name}."
        )
    return float(value)


def mean_over_folds(
    measure: Measure,
    folds: Sequence[tuple[Indices, Array]],
    classes: NDArray[Any],
    pos_label: Any = None,
) -> float:
    """Give a measure of scores, fold by fold, and average; of several classes, over these too."""
    return float(np.mean([_of_scores(measure, *fold, classes, pos_label) for fold in folds]))


def needed_scores(found: Mapping[str, NDArray[Any]], measure: Measure) -> Array:
    """Refuse a model that gives no scores, or none that are probabilities."""
    if "score" not in found:
        raise InputError(
            f"`measure` must be one of labels for a model that gives no scores; got {measure.name}."
        )
    if measure.needs == "probabilities" and not found["probabilities"]:
        raise InputError(
            f"`measure` must not need probabilities, which the model does not give; "
            f"got {measure.name}."
        )
    return found["score"]


def positive_place(measure: Measure, classes: NDArray[Any], pos_label: Any) -> int:
    """Find the positive class among two."""
    names = [str(one) for one in classes]
    if len(names) > 2:
        raise InputError(
            f"`measure` must be one of all classes, such as balanced_accuracy; {measure.name} is "
            f"of one against the rest, and there are {len(names)}."
        )
    return names.index(positive_of_two(names, None if pos_label is None else str(pos_label)))


def _of_scores(
    measure: Measure, truth: Indices, scores: Array, classes: NDArray[Any], pos_label: Any
) -> float:
    if measure.needs == "probabilities":
        tally = ProbabilityTally().add(scores, truth == 1 if scores.ndim == 1 else truth)
        return float(measure.value(tally))
    if scores.ndim == 1:
        # Scores are of the second class: those of the first are their opposites.
        at = positive_place(measure, classes, pos_label)
        return float(measure.value(rank(scores if at == 1 else -scores, truth == at)))
    of_each = [
        measure.value(rank(np.ascontiguousarray(column), truth == code))
        for code, column in enumerate(scores.T)
    ]
    return float(np.mean(of_each))


def _model_has(name: str) -> Any:
    def has(tuned: "TunedModel") -> bool:
        return hasattr(getattr(tuned, "best_model_", tuned.model), name)

    return has


class TunedModel(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A model whose `fit` first chooses settings on divisions, then trains with the best.

    `cv` is a number of stratified folds (fewer where a class is smaller), a splitter of
    scikit-learn, or a list of (train, test) positions among the examples of `fit`.

    The choice is repeated on each training part: no example that is predicted takes part in it.
    Measures of counts are taken of all folds together, measures of scores averaged over them.  Of
    equal settings the first of the grid wins.  `best_value_` is optimistic, as the best of several.
    """

    def __init__(
        self,
        model: Any,
        grid: Mapping[str, Sequence[Any]],
        *,
        cv: Any = 5,
        measure: str = "accuracy",
        pos_label: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.measure = measure
        self.pos_label = pos_label
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "TunedModel":
        """Choose on folds of these examples, then train on all of them."""
        measure = find_measure(self.measure)
        if measure.higher_is_better is None:
            raise InputError(f"`measure` must have a better end; {self.measure} has none.")
        choices = _combinations(self.grid)
        X, y = self._checked(X, y)
        self.classes_ = np.unique(y)
        seed = _seed(self.random_state)
        parts = self._parts(X, y, seed)
        sign = 1.0 if measure.higher_is_better else -1.0
        met: list[ValueError] = []
        self.values_ = [
            self._value_if_any(met, settings, X, y, parts, seed) for settings in choices
        ]
        if len(met) == len(choices):
            raise met[0]
        worth = [-np.inf if np.isnan(value) else sign * value for value in self.values_]
        if all(np.isnan(self.values_)):
            raise InputError(
                f"`measure` must have a value for some settings; {self.measure} is undefined for "
                f"all {len(choices)} of them. Choose another measure."
            )
        best = int(np.argmax(worth))
        self.best_settings_, self.best_value_ = choices[best], self.values_[best]
        self.best_model_ = fresh_copy(self._with(choices[best]), [seed, 0]).fit(X, y)
        if hasattr(self.best_model_, "n_features_in_"):
            self.n_features_in_ = self.best_model_.n_features_in_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the labels that the chosen model gives."""
        check_is_fitted(self)
        found: NDArray[Any] = self.best_model_.predict(X)
        return found

    @available_if(_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probabilities that the chosen model gives."""
        check_is_fitted(self)
        found: NDArray[np.float64] = self.best_model_.predict_proba(X)
        return found

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the decision values that the chosen model gives."""
        check_is_fitted(self)
        found: NDArray[np.float64] = self.best_model_.decision_function(X)
        return found

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Leave to the model what a feature may be; only rows must be rows that can be drawn."""
        is_frame = hasattr(X, "columns")
        rows = np.zeros((len(X), 1)) if is_frame else X
        rows, labels = check_X_y(
            rows, y, accept_sparse="csr", dtype=None, ensure_all_finite=False, estimator=self
        )
        check_classification_targets(labels)
        return X if is_frame else rows, labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.model).input_tags
        return tags

    def _with(self, settings: Mapping[str, Any]) -> Any:
        return clone(self.model).set_params(**settings)

    def _parts(self, X: Any, y: NDArray[Any], seed: int) -> list[tuple[Indices, Indices]]:
        from sklearn.model_selection import StratifiedKFold

        if not is_number_of_folds(self.cv):
            divisions = enumerate(divisions_of(self.cv, X, y, None, seed), start=1)
            return [
                (positions_of(train, len(y), at), positions_of(test, len(y), at))
                for at, (train, test) in divisions
            ]
        asked = check_whole_number(self.cv, "cv", low=2)
        _, counts = np.unique(y, return_counts=True)
        folds = min(asked, int(counts.min()))
        if folds < 2:
            raise InputError(
                "`y` must have at least 2 examples of each class to choose settings by "
                "cross-validation; there is one class with one sample."
            )
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros((len(y), 1)), y))

    def _value_if_any(self, met: list[ValueError], *given: Any) -> float:
        """Give NaN for settings that so few examples cannot be trained with; keep the error."""
        try:
            return self._value(*given)
        except InputError:
            raise
        except ValueError as error:
            met.append(error)
            return float("nan")

    def _value(
        self,
        settings: Mapping[str, Any],
        X: Any,
        y: NDArray[Any],
        parts: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
        seed: int,
    ) -> float:
        measure = find_measure(self.measure)
        model = self._with(settings)
        truth = np.searchsorted(self.classes_, y)
        called: list[NDArray[np.int32]] = []
        folds: list[tuple[NDArray[np.intp], NDArray[np.float64]]] = []
        for at, (train, test) in enumerate(parts):
            with warnings.catch_warnings():
                # Settings that lose may warn as they like; the best warn again, trained on all.
                warnings.simplefilter("ignore")
                fitted = fresh_copy(model, [seed, at + 1]).fit(rows_of(X, train), y[train])
            judged = rows_of(X, test)
            if measure.needs in {"ranking", "probabilities"}:
                scores = scores_of(fitted, judged, self.classes_)
                folds.append((truth[test], needed_scores(scores, measure)))
            else:
                called.append(positions(fitted.predict(judged), self.classes_))
        if folds:
            return mean_over_folds(measure, folds, self.classes_, self.pos_label)
        tested = truth[np.concatenate([test for _, test in parts])]
        return over_all_folds(
            measure, tested, np.concatenate(called), self.classes_, self.pos_label
        )


def tuned(
    model: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    cv: Any = 5,
    measure: str = "accuracy",
    pos_label: Any = None,
    random_state: int | None = None,
) -> TunedModel:
    """Make a model that chooses its settings in each `fit`; see `TunedModel`.

    Examples
    --------
    >>> from truerisk.learners.named_models import find_grid, find_model
    >>> tuned(find_model("tree"), find_grid("tree")).cv
    5
    """
    _combinations(grid)
    known = model.get_params(deep=True)
    for name in grid:
        if name not in known:
            raise InputError(
                f"`grid` must name parameters of the model; it has no {name!r}. In a pipeline of "
                f"`find_model` write model__{name}."
            )
    return TunedModel(
        model, grid, cv=cv, measure=measure, pos_label=pos_label, random_state=random_state
    )


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not grid or not all(len(values) for values in grid.values()):
        raise InputError("`grid` must have at least one value for each of its parameters.")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**32))
    return check_whole_number(random_state, "random_state", high=2**32 - 1)
