"""One refit: train a copy of the model on some examples and let it judge others."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError

Arrays = dict[str, NDArray[Any]]

SILENT = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)  # of libraries, not of data
MOST_TOLD = 300  # characters of a warning


def refit(shared: Mapping[str, Any], at: int) -> Arrays:
    """Train and judge as refit `at` of the plan says.

    Parameters
    ----------
    shared
        `model`, `X`, `y` (the labels as the user gave them), `values` (the distinct labels in
        order), `plan` and `seed`.
    at
        The number of the refit.

    Returns
    -------
    arrays
        `predicted` (positions in `values`), `score` where the model gives one (of the second value
        of two, or a column for each), `probabilities` (whether the scores are), `seconds` (to
        induce, to classify).  A model that fails gives `failed`, its message; one that warns gives
        `warned`, its first warning.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from truerisk.estimation.plans import TrainingSet
    >>> shared = {"model": DummyClassifier(), "X": np.zeros((3, 1)), "y": np.array([5, 5, 7]),
    ...           "values": np.array([5, 7]), "plan": TrainingSet(3), "seed": 1}
    >>> refit(shared, 0)["predicted"]
    array([0, 0, 0], dtype=int32)
    """
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            found = _trained_and_judged(shared, at)
        except Exception as problem:  # noqa: BLE001  (a model may raise anything; its refit is named)
            found = {"failed": np.array(f"{type(problem).__name__}: {problem}")}
    told = [one for one in met if not issubclass(one.category, SILENT)]
    if told:
        found["warned"] = np.array(f"{told[0].category.__name__}: {told[0].message}"[:MOST_TOLD])
    return found


def _trained_and_judged(shared: Mapping[str, Any], at: int) -> Arrays:
    train, test = shared["plan"].train_and_test(at)
    model = fresh_copy(shared["model"], [shared["seed"], at])
    known, judged = rows_of(shared["X"], train), rows_of(shared["X"], test)
    began = time.perf_counter()
    model.fit(known, shared["y"][train])
    trained = time.perf_counter()
    labels = model.predict(judged)
    classified = time.perf_counter()
    return {
        "predicted": positions(labels, shared["values"]),
        **scores_of(model, judged, shared["values"]),
        "seconds": np.array([trained - began, classified - trained]),
    }


def fresh_copy(model: Any, seed: list[int]) -> Any:  # noqa: ANN401
    """Clone a model; every `random_state` in it that is open gets a seed of this refit."""
    from sklearn.base import clone  # noqa: PLC0415  (loaded where models are)

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


def rows_of(X: Any, which: NDArray[np.intp]) -> Any:  # noqa: ANN401
    """Give some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if isinstance(X, (list, tuple)):
        return [X[at] for at in which]
    return X[which]


def positions(labels: Any, values: NDArray[Any]) -> NDArray[np.int32]:  # noqa: ANN401
    """Find predicted labels among the known ones."""
    called = np.asarray(labels).ravel()
    found = np.minimum(np.searchsorted(values, called), len(values) - 1)
    unknown = values[found] != called
    if unknown.any():
        raise InputError(
            f"`model` must predict one of the labels {values[:10].tolist()}; "
            f"got {called[unknown][0]!r}."
        )
    return found.astype(np.int32)


def scores_of(model: Any, X: Any, values: NDArray[Any]) -> Arrays:  # noqa: ANN401
    """Ask a trained model for scores: probabilities if it has them, else decision values.

    A class that was missing among the training examples has the probability 0, and no decision
    value of its own: then there are no scores.
    """
    probabilities = hasattr(model, "predict_proba")
    if not probabilities and not hasattr(model, "decision_function"):
        return {}
    score = np.asarray(model.predict_proba(X) if probabilities else model.decision_function(X))
    score = score.astype(np.float64, copy=False)
    known = positions(model.classes_, values) if hasattr(model, "classes_") else None
    if known is None or not np.isfinite(score).all():
        return {}
    if score.ndim == 2 and score.shape[1] == len(known):
        wide = np.zeros((len(score), len(values)))
        wide[:, known] = score
        if not probabilities and len(known) < len(values):
            return {}
        score = wide[:, 1] if len(values) == 2 else wide
    elif score.ndim != 1 or len(values) != 2 or len(known) != 2:
        return {}
    return {"score": score, "probabilities": np.array(probabilities)}
