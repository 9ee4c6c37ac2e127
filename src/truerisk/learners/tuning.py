"""Choosing the settings of a model by cross-validation within its own training examples."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y

from truerisk.aliases import Indices
from truerisk.checks import check_whole_number
from truerisk.errors import InputError
from truerisk.labels import positive_of_two
from truerisk.learners.refits import fresh_copy, positions, train
from truerisk.learners.scoring import (
    Metadata,
    Scorer,
    better_sign,
    divisions_of,
    is_number_of_folds,
    is_of_counts,
    metadata_of,
    positions_of,
    single_scoring,
)
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_and_average, base_measure


def over_all_folds(
    name: str, truth: Indices, called: Indices, classes: NDArray[Any], pos_label: Any = None
) -> float:
    """Give a measure of counts, from codes of `classes`."""
    table = np.zeros((len(classes), len(classes)))
    np.add.at(table, (truth, called), 1.0)
    value = value_of_tables(name, table, positive_place(name, classes, pos_label))
    if value is None:
        raise InputError(
            f"`measure` must be one of labels or scores to choose settings by; got {name}."
        )
    return float(value)


def positive_place(name: str, classes: NDArray[Any], pos_label: Any) -> int | None:
    """Find the positive class among two; None for a measure that has none."""
    names = [str(one) for one in classes]
    measure, average = base_measure(name), base_and_average(name)[1]
    if average is not None or measure.needs not in {"binary counts", "ranking"}:
        return None
    if len(names) > 2:
        if measure.needs == "ranking":
            return None  # averaged over the classes
        raise InputError(
            f"`measure` must be one of all classes, such as balanced_accuracy; {name} is "
            f"of one against the rest, and there are {len(names)}."
        )
    return names.index(positive_of_two(names, None if pos_label is None else str(pos_label)))


def _model_has(name: str) -> Any:
    def has(tuned: "TunedModel") -> bool:
        return hasattr(getattr(tuned, "best_model_", tuned.model), name)

    return has


class TunedModel(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A model whose `fit` first chooses settings on divisions, then trains with the best.

    `cv` is a number of stratified folds (fewer where a class is smaller), a splitter of
    scikit-learn, or a list of (train, test) positions among the examples of `fit`.

    The choice is repeated on each training part: no example that is predicted takes part in it.
    It is by `measure` (accuracy unless given) or by `scoring`, a name or a scorer of scikit-learn.
    Measures of counts are taken of all folds together; measures of scores, and what scorers say,
    averaged over them.  Of equal settings the first of the grid wins.  `best_value_` is optimistic,
    as the best of several.
    """

    def __init__(
        self,
        model: Any,
        grid: Mapping[str, Sequence[Any]],
        *,
        cv: Any = 5,
        measure: str | None = None,
        scoring: Any = None,
        pos_label: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.measure = measure
        self.scoring = scoring
        self.pos_label = pos_label
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> "TunedModel":
        """Choose on folds of these examples, then train on all of them.

        `params` reach the `fit` of the model: weights, or what its metadata routing requests.
        `groups` among them are for a splitter that divides by them.
        """
        choices = _combinations(self.grid)
        name, scorer = single_scoring(self.measure, self.scoring, "accuracy")
        sign = better_sign(name)
        X, y = self._checked(X, y)
        self.classes_ = np.unique(y)
        seed = _seed(self.random_state)
        scorers = {} if scorer is None else {name: scorer}
        weight, groups = params.pop("sample_weight", None), params.pop("groups", None)
        metadata = metadata_of(self.model, scorers, params, weight, len(y))
        task = _Choice(name, scorer, X, y, self._parts(X, y, groups, seed), seed, metadata)
        met: list[ValueError] = []
        self.values_ = []
        for settings in choices:
            try:
                value = self._value(settings, task)
            except InputError:
                raise
            except ValueError as error:  # so few examples cannot be trained with these settings
                met.append(error)
                value = float("nan")
            self.values_.append(value)
        if len(met) == len(choices):
            raise met[0]
        worth = [-np.inf if np.isnan(value) else sign * value for value in self.values_]
        if all(np.isnan(self.values_)):
            raise InputError(
                f"`measure` must have a value for some settings; {name} is undefined for "
                f"all {len(choices)} of them. Choose another measure."
            )
        best = int(np.argmax(worth))
        self.best_settings_, self.best_value_ = choices[best], self.values_[best]
        self.best_model_ = fresh_copy(self._with(choices[best]), [seed, 0])
        self.best_model_.fit(X, y, **metadata.fit)
        if hasattr(self.best_model_, "n_features_in_"):
            self.n_features_in_ = self.best_model_.n_features_in_
        return self

    def get_metadata_routing(self) -> Any:
        """Let the model say what its `fit` takes, and the scorer what it does."""
        from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

        router = MetadataRouter(owner="TunedModel").add(
            model=self.model, method_mapping=MethodMapping().add(caller="fit", callee="fit")
        )
        _, scorer = single_scoring(self.measure, self.scoring, "accuracy")
        if hasattr(scorer, "get_metadata_routing"):
            of_score = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=scorer, method_mapping=of_score)
        if hasattr(self.cv, "get_metadata_routing"):
            of_split = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=of_split)
        return router

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the labels that the chosen model gives."""
        check_is_fitted(self)
        labels: NDArray[Any] = self.best_model_.predict(X)
        return labels

    @available_if(_model_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probabilities that the chosen model gives."""
        check_is_fitted(self)
        shares: NDArray[np.float64] = self.best_model_.predict_proba(X)
        return shares

    @available_if(_model_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Give the decision values that the chosen model gives."""
        check_is_fitted(self)
        scores: NDArray[np.float64] = self.best_model_.decision_function(X)
        return scores

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

    def _parts(
        self, X: Any, y: NDArray[Any], groups: Any, seed: int
    ) -> list[tuple[Indices, Indices]]:
        from sklearn.model_selection import StratifiedKFold

        if not is_number_of_folds(self.cv):
            divisions = enumerate(divisions_of(self.cv, X, y, groups, seed), start=1)
            return [
                (positions_of(train, len(y), at), positions_of(test, len(y), at))
                for at, (train, test) in divisions
            ]
        requested = check_whole_number(self.cv, "cv", low=2)
        _, counts = np.unique(y, return_counts=True)
        folds = min(requested, int(counts.min()))
        if folds < 2:
            raise InputError(
                "`y` must have at least 2 examples of each class to choose settings by "
                "cross-validation; there is one class with one sample."
            )
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros((len(y), 1)), y))

    def _value(self, settings: Mapping[str, Any], task: "_Choice") -> float:
        model, y, name, metadata = self._with(settings), task.y, task.name, task.metadata
        truth = np.searchsorted(self.classes_, y)
        called: list[NDArray[np.int32]] = []
        values: list[float] = []
        for at, rows in enumerate(task.parts):
            with warnings.catch_warnings():
                # Settings that lose may warn as they like; the best warn again, trained on all.
                warnings.simplefilter("ignore")
                trained = train(model, task.X, y, rows, [task.seed, at + 1], params=metadata.fit)
            if is_of_counts(name):
                called.append(positions(trained.labels, self.classes_))
            else:
                place = None if task.scorer else positive_place(name, self.classes_, self.pos_label)
                judged = (y, self.classes_, place)
                values.append(trained.value_of(name, task.scorer, judged, metadata))
        if values:
            return float(np.mean(values))
        tested = truth[np.concatenate([test for _, test in task.parts])]
        return over_all_folds(name, tested, np.concatenate(called), self.classes_, self.pos_label)


@dataclass(frozen=True)
class _Choice:
    """What settings are chosen by and on."""

    name: str
    scorer: Scorer | None
    X: Any
    y: NDArray[Any]
    parts: Sequence[tuple[Indices, Indices]]
    seed: int
    metadata: Metadata


def tuned(
    model: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    cv: Any = 5,
    measure: str | None = None,
    scoring: Any = None,
    pos_label: Any = None,
    random_state: int | None = None,
) -> TunedModel:
    """Make a model that chooses its settings in each `fit`; see `TunedModel`.

    Parameters
    ----------
    model
        A classifier of scikit-learn's kind; it is cloned, not changed.
    grid
        The values to try of each of its parameters.
    cv
        A number of stratified folds, a splitter of scikit-learn, or a list of divisions.
    measure, scoring
        What is to be best: a measure (accuracy unless given), or one measure or scorer, as for
        `tr.estimate`.
    pos_label
        The label that counts as positive, for measures that need one.
    random_state
        Of the folds and the refits.

    Examples
    --------
    >>> from truerisk.learners.named_models import find_grid, find_model
    >>> tuned(find_model("tree"), find_grid("tree")).cv
    5
    """
    given = locals()
    _combinations(grid)
    known = model.get_params(deep=True)
    for name in grid:
        if name not in known:
            raise InputError(
                f"`grid` must name parameters of the model; it has no {name!r}. In a pipeline of "
                f"`find_model` write model__{name}."
            )
    better_sign(single_scoring(measure, scoring, "accuracy")[0])
    return TunedModel(**given)


def _combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not grid or not all(len(values) for values in grid.values()):
        raise InputError("`grid` must have at least one value for each of its parameters.")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def _seed(random_state: int | None) -> int:
    if random_state is None:
        return int(np.random.default_rng().integers(2**32))
    return check_whole_number(random_state, "random_state", high=2**32 - 1)
