"""One refit: train a copy of the model on some examples and let it predict others."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.errors import InputError, ResourceError
from truerisk.learners.scoring import (
    Metadata,
    RememberedModel,
    Scorer,
    pseudo_values,
    rows_of_parameters,
    scorer_value,
    value_of_scores,
)
from truerisk.measures.registry import base_measure

Arrays = dict[str, NDArray[Any]]

SILENT = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)  # of libraries, not of data
MAX_CHARACTERS = 300  # of a warning or a failure


def refit(shared: Mapping[str, Any], at: int) -> Arrays:
    """Train and predict as refit `at` of the plan says.

    Gives `predicted` (positions in `values`), what `scores_of` gives, `seconds` (to train, to
    predict); `failed` for a model that fails, `warned` for one that warns.  Memory that runs out is
    no fault of the model: ResourceError.  `shared["checked_once"]` is what `checked_once` says;
    `shared["left_out"]` are the examples whose pseudo-values are needed, of every scorer.
    """
    plan = shared["plan"]
    return guarded(lambda: _outcome(shared, at), plan.name(at))


def guarded(work: Callable[[], Arrays], name: str, ignored: type[Warning] | None = None) -> Arrays:
    """Do the work of one refit; store its warnings and its failure as `refit` describes them."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        if ignored is not None:
            warnings.simplefilter("ignore", ignored)
        try:
            outcome = work()
        except ResourceError:
            raise
        except MemoryError as problem:
            why = f": {problem}" if str(problem) else ""
            raise ResourceError(
                f"Memory ran out in {name}{why}. Use fewer workers, a smaller model, or less data."
            ) from problem
        except Exception as problem:  # noqa: BLE001  (a model may raise anything; its refit is named)
            outcome = {"failed": np.array(f"{type(problem).__name__}: {problem}")}
    of_data = [one for one in met if not issubclass(one.category, SILENT)]
    messages = dict.fromkeys(
        f"{one.category.__name__}: {one.message}"[:MAX_CHARACTERS] for one in of_data
    )
    if messages:
        outcome["warned"] = np.array(list(messages), dtype=np.str_)
    return outcome


@dataclass(frozen=True)
class Trained:
    """A copy of a model trained on some examples, the labels it predicts for others, and the time.

    `seconds` are those to train and to predict; `cpu_seconds` those of this thread to train;
    `probabilities` are there if the labels were made of them.
    """

    model: Any
    X_train: Any
    X_test: Any
    test: Indices
    labels: NDArray[Any]
    seconds: tuple[float, float]
    cpu_seconds: float
    probabilities: NDArray[Any] | None = None

    def scored_by(self, name: str, scorer: Scorer, y: NDArray[Any], metadata: Metadata) -> float:
        """Let a scorer judge it on the examples it was not trained on; `y` is of all examples."""
        params = metadata.of_scorer(name, self.test, len(y))
        return scorer_value(name, scorer, self.model, self.X_test, y[self.test], **params)

    def value_of(
        self,
        name: str,
        scorer: Scorer | None,
        judged: tuple[NDArray[Any], NDArray[Any], int | None],
        metadata: Metadata,
    ) -> float:
        """Give what a scorer, or a measure of scores, says of it on the examples left.

        `judged` are the labels of all examples, the classes, and the place of the positive one.
        """
        y, values, positive = judged
        if scorer is not None:
            return self.scored_by(name, scorer, y, metadata)
        scores = scores_of(self.model, self.X_test, values, self.probabilities)
        truth = np.searchsorted(values, y[self.test])
        return value_of_scores(name, truth, positive=positive, **needed_scores(scores, name))

    def pseudo_values_by(
        self,
        name: str,
        scorer: Scorer,
        y: NDArray[Any],
        *,
        metadata: Metadata,
        value: float,
        which: Indices,
    ) -> NDArray[np.float64]:
        """Let the scorer judge it without single examples; `which` are positions in `test`."""

        def score(model: Any, rows: Indices) -> float:
            X, test = rows_of(self.X_test, rows), self.test[rows]
            if isinstance(model, RememberedModel):
                model.shows(X, rows)
            params = metadata.of_scorer(name, test, len(y))
            return scorer_value(name, scorer, model, X, y[test], **params)

        # A scorer of scikit-learn hands X to the model and to nothing else.
        of_predictions = hasattr(scorer, "_score_func") and not metadata.score.get(name)
        labels = y[self.test] if of_predictions else None
        remembered = RememberedModel(self.model, self.X_test)
        return pseudo_values(score, remembered, value, which, labels)


def train(
    model: Any,
    X: Any,
    y: NDArray[Any],
    rows: tuple[Indices, Indices],
    seed: list[int],
    *,
    params: Mapping[str, Any] | None = None,
) -> Trained:
    """Train a copy of the model on the first rows, and let it predict the second."""
    copy = fresh_copy(model, seed)
    of_train, of_test = rows
    X_train, X_test = rows_of(X, of_train), rows_of(X, of_test)
    given = rows_of_parameters(params, of_train, len(y)) if params else {}
    cpu, began = time.thread_time(), time.perf_counter()
    copy.fit(X_train, y[of_train], **given)
    trained, cpu_trained = time.perf_counter(), time.thread_time()
    probabilities = copy.predict_proba(X_test) if _predicts_the_likeliest(copy) else None
    labels = _likeliest(copy, X_test, probabilities)
    classified = time.perf_counter()
    if labels.shape not in {(len(of_test),), (len(of_test), 1)}:
        raise InputError(
            f"`model` must predict one label for each of {len(of_test)} examples; "
            f"got shape {labels.shape}."
        )
    seconds = (trained - began, classified - trained)
    return Trained(
        copy, X_train, X_test, of_test, labels, seconds, cpu_trained - cpu, probabilities
    )


# Classes of scikit-learn, and ours, whose `predict` is the label of the largest of `predict_proba`.
LIKELIEST = frozenset(
    {
        "sklearn.calibration.CalibratedClassifierCV",
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
        "sklearn.ensemble._bagging.BaggingClassifier",
        "sklearn.ensemble._forest.ExtraTreesClassifier",
        "sklearn.ensemble._forest.RandomForestClassifier",
        "sklearn.ensemble._gb.GradientBoostingClassifier",
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.HistGradientBoostingClassifier",
        "sklearn.ensemble._weight_boosting.AdaBoostClassifier",
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.linear_model._logistic.LogisticRegressionCV",
        "sklearn.naive_bayes.BernoulliNB",
        "sklearn.naive_bayes.CategoricalNB",
        "sklearn.naive_bayes.ComplementNB",
        "sklearn.naive_bayes.GaussianNB",
        "sklearn.naive_bayes.MultinomialNB",
        "sklearn.neighbors._classification.KNeighborsClassifier",
        "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
        "sklearn.semi_supervised._label_propagation.LabelPropagation",
        "sklearn.semi_supervised._label_propagation.LabelSpreading",
        "sklearn.tree._classes.DecisionTreeClassifier",
        "sklearn.tree._classes.ExtraTreeClassifier",
        "truerisk.learners.naive_bayes.NaiveBayes",
    }
)
# Classes of scikit-learn that check the examples, and compute with them and nothing else.
PLAIN = frozenset(
    {
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.naive_bayes.BernoulliNB",
        "sklearn.naive_bayes.ComplementNB",
        "sklearn.naive_bayes.GaussianNB",
        "sklearn.naive_bayes.MultinomialNB",
        "sklearn.neighbors._classification.KNeighborsClassifier",
        "sklearn.svm._classes.LinearSVC",
        "sklearn.tree._classes.DecisionTreeClassifier",
        "sklearn.tree._classes.ExtraTreeClassifier",
    }
)
PIPELINE = "sklearn.pipeline.Pipeline"
NEARLY_TIED = 1e-9  # probabilities so near each other are decided by `predict` itself


def _class_of(model: Any) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def is_plain(model: Any) -> bool:
    """Whether a model is one of scikit-learn's that learns from its examples and nothing else."""
    return _class_of(model) in PLAIN


def is_of_libraries(model: Any) -> bool:
    """Whether a model is made of scikit-learn's classes and those of this library alone."""
    inner = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    code = (one for one in inner if hasattr(one, "get_params") or callable(one))
    parts = [model, *(one for one in code if not isinstance(one, type))]  # a dtype is a class
    return all(_class_of(one).split(".")[0] in {"sklearn", "truerisk"} for one in parts)


def _predicts_the_likeliest(model: Any) -> bool:
    """Whether the labels follow from the probabilities: one pass over the examples saves one."""
    while _class_of(model) == PIPELINE:
        model = model.steps[-1][1]
    return _class_of(model) in LIKELIEST


def _likeliest(model: Any, X: Any, probabilities: NDArray[Any] | None) -> NDArray[Any]:
    """Give what `predict` gives; of probabilities that are plainly apart, without calling it."""
    if probabilities is None or probabilities.ndim != 2 or probabilities.shape[1] < 2:
        return np.asarray(model.predict(X))
    labels = model.classes_[probabilities.argmax(axis=1)]
    if probabilities.shape[1] == 2:
        apart = np.abs(probabilities[:, 0] - probabilities[:, 1])
    else:
        second, first = np.partition(probabilities, -2, axis=1)[:, -2:].T
        apart = first - second
    # Not "at most": a NaN is for `predict`, too.
    tied = np.flatnonzero(~(apart > NEARLY_TIED))
    if tied.size:
        labels[tied] = model.predict(rows_of(X, tied))
    return np.asarray(labels)


def checked_once(model: Any, X: Any) -> bool:
    """Check settings and examples for all refits: whether scikit-learn may leave out its checks.

    They take a fifth of a fit of naive Bayes.  If anything is wrong, or the model may compute with
    other numbers than these, every refit checks for itself, in its own words.
    """
    is_table = isinstance(X, np.ndarray) and X.ndim == 2 and X.size > 0 and X.dtype.kind in "fiub"
    if not is_table or not is_plain(model):
        return False
    if any(map(callable, model.get_params(deep=False).values())):
        return False
    try:
        model._validate_params()  # noqa: SLF001  (what `fit` does first)
    except Exception:  # noqa: BLE001
        return False
    # Trees round to float32.  A NaN is not "at most".
    return bool(max(X.max(), -float(X.min())) <= np.finfo(np.float32).max)


def _outcome(shared: Mapping[str, Any], at: int) -> Arrays:
    metadata: Metadata = shared.get("metadata", Metadata())
    rows, y = shared["plan"].train_and_test(at), shared["y"]
    seed = [shared["seed"], at]
    with metadata.applied(checked=bool(shared.get("checked_once"))):
        trained = train(shared["model"], shared["X"], y, rows, seed, params=metadata.fit)
        outcome = {
            "predicted": positions(trained.labels, shared["values"]),
            **scores_of(trained.model, trained.X_test, shared["values"], trained.probabilities),
            "seconds": np.array(trained.seconds),
        }
        scorers = shared.get("scorers", {})
        if scorers:
            values = [trained.scored_by(name, one, y, metadata) for name, one in scorers.items()]
            outcome["scorers"] = np.array(values)
        if scorers and shared.get("left_out") is not None:
            which = np.flatnonzero(np.isin(trained.test, shared["left_out"]))
            outcome["pseudo_values"] = np.array(
                [
                    trained.pseudo_values_by(
                        name, one, y, metadata=metadata, value=value, which=which
                    )
                    for (name, one), value in zip(scorers.items(), values, strict=True)
                ]
            )
    return outcome


def fresh_copy(model: Any, seed: list[int]) -> Any:
    """Clone a model; every `random_state` in it that is open gets a seed of this refit."""
    from sklearn.base import clone

    copy = clone(model)
    names = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    )
    if names:
        seeds = np.random.SeedSequence(seed).generate_state(len(names))
        copy.set_params(**{name: int(one) for name, one in zip(names, seeds, strict=True)})
    return copy


def rows_of(X: Any, which: NDArray[np.intp]) -> Any:
    """Give some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if isinstance(X, (list, tuple)):
        return [X[at] for at in which]
    if type(X) is np.ndarray and X.flags.c_contiguous and which.dtype == np.intp:
        return X.take(which, axis=0)  # the same, and twice as fast
    return X[which]


def number_of_rows(X: Any) -> int:
    """Count the rows of an array, a sparse matrix, a data frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def positions(labels: Any, values: NDArray[Any]) -> NDArray[np.int32]:
    """Find predicted labels among the known ones."""
    called = np.asarray(labels).ravel()
    places = np.minimum(np.searchsorted(values, called), len(values) - 1)
    unknown = values[places] != called
    if unknown.any():
        raise InputError(
            f"`model` must predict one of the labels {values[:10].tolist()}; "
            f"got {called[unknown][0]!r}."
        )
    return places.astype(np.int32)


def scores_of(
    model: Any, X: Any, values: NDArray[Any], probabilities: NDArray[Any] | None = None
) -> Arrays:
    """Return the scores of a trained model: probabilities if it has them, else decision values.

    `complement` is the probability of the first of two classes: 1 minus the other would round to 0.
    float32 stays: its rounding can be told from a wrong sum.  A class missing in training has
    probability 0, and no decision values are given.
    """
    by = next((one for one in ("predict_proba", "decision_function") if hasattr(model, one)), "")
    if not by:
        return {}
    score = np.asarray(getattr(model, by)(X) if probabilities is None else probabilities)
    if score.shape[:1] != (number_of_rows(X),):
        raise InputError(
            f"`model` must score each of {number_of_rows(X)} examples; "
            f"got {by} of shape {score.shape}."
        )
    narrow = score.dtype.kind == "f" and score.dtype.itemsize <= 4
    score = score.astype(np.float32 if narrow else np.float64, copy=False)
    known = positions(model.classes_, values) if hasattr(model, "classes_") else None
    if known is None or not np.isfinite(score).all():
        return {}
    probable = by == "predict_proba"
    outcome = {"score": score, "probabilities": np.array(probable)}
    if score.ndim == 1 and len(values) == len(known) == 2:
        return outcome
    of_classes = probable or (len(known) == len(values) and not _scores_pairs(model))
    if score.ndim != 2 or score.shape[1] != len(known) or not of_classes:
        return {}
    wide = np.zeros((len(score), len(values)), dtype=score.dtype)
    wide[:, known] = score
    if len(values) > 2:
        return outcome | {"score": wide}
    complement = {"complement": wide[:, 0]} if probable else {}
    return outcome | {"score": wide[:, 1]} | complement


def needed_scores(outcome: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Refuse a model that gives no scores, or none that are probabilities; give its scores."""
    if "score" not in outcome:
        raise InputError(
            f"`measure` must be one of labels for a model that gives no scores; got {name}."
        )
    if base_measure(name).needs == "probabilities" and not outcome["probabilities"]:
        raise InputError(
            f"`measure` must not need probabilities, which the model does not give; got {name}."
        )
    return {
        "scores": outcome["score"],
        **({"complement": outcome["complement"]} if "complement" in outcome else {}),
    }


def _scores_pairs(model: Any) -> bool:
    """Tell whether decision values are of pairs of classes: three classes have three of them."""
    while True:
        inner = model[-1] if hasattr(model, "named_steps") else None
        for name in ("best_estimator_", "best_model_", "estimator_"):  # a choice, once it is made
            inner = getattr(model, name, inner)
        if inner is None:
            return bool(getattr(model, "decision_function_shape", None) == "ovo")
        model = inner
