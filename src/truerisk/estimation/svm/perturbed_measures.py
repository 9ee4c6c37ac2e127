"""Perturbation of any measure of labels and rankings, for several classes and any learner.

The measure is computed of the refits under each weighting G, with G as weights of the examples; how
far that lies from the measure as it is are the replicates.  For the error rate of two classes this
is W* of the document to first order.  SVMs and logistic regression are refitted as batches, several
classes one against the rest; other learners one by one, through the execution layer.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Ends, Indices
from truerisk.checks import shown
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.examples import Examples
from truerisk.evaluation.evaluate import evaluate
from truerisk.execution.running import run_each
from truerisk.intervals.replicates import FORMS, ends_of
from truerisk.learners.refits import fresh_copy, positions, rows_of, scores_of
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_and_average, base_measure, find_measure
from truerisk.results import Estimate, Interval
from truerisk.svm.weighted_refits import prepared
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import values_of

Progress = Callable[[int, int], None]

AT_ONCE = 20  # refits of one item
CELLS = 2_000_000  # decision values at a time
MAX_UNDEFINED = 0.5  # of the replicates


def check_measure(name: str, examples: Examples) -> bool:
    """Refuse a measure that is neither of labels nor of rankings; say whether it needs scores."""
    measure, average = base_measure(name), base_and_average(name)[1]
    if measure.needs not in {"binary counts", "class counts", "ranking"} or name == "cost":
        raise InputError(
            f"`measure` must be one of labels or of a ranking; got {shown(name)}. For others use "
            "tr.estimate."
        )
    several = len(examples.labels) > 2
    if several and average is None and measure.needs != "class counts":
        raise InputError(
            f"`measure` must be of all {len(examples.labels)} classes; got {shown(name)}. Did you "
            f"mean '{name}_macro'?"
        )
    if measure.needs == "ranking" and average not in {None, "macro"}:
        raise InputError(f"`measure` must be a macro average of a ranking; got {shown(name)}.")
    return measure.needs == "ranking"


def values_under(
    name: str,
    model: Any,
    examples: Examples,
    weights: Array,
    parts: NDArray[Any] | None,
    *,
    batched: bool,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None = None,
) -> tuple[Array, Indices]:
    """Give the measure as it is, then under each weighting; and the labels as they are."""
    scored = check_measure(name, examples)
    G = np.vstack([np.ones(examples.n), weights])
    folds = np.zeros(examples.n, dtype=np.intp) if parts is None else np.asarray(parts)
    calls = np.zeros(G.shape, dtype=np.int32)
    width = 1 if len(examples.labels) == 2 else len(examples.labels)
    scores = np.zeros((*G.shape, width), dtype=np.float32) if scored else None
    done, total = 0, len(np.unique(folds)) * len(G)
    refits = _Refits(model, examples, G, folds, parts is None, seed, n_jobs)
    for rows, test, outcome in refits.batched() if batched else refits.one_by_one():
        calls[np.ix_(rows, test)] = outcome["predicted"]
        if scores is not None:
            if "score" not in outcome:
                raise InputError(f"`model` must give scores for {name}; got {shown(model)}.")
            scores[np.ix_(rows, test)] = outcome["score"].reshape(len(rows), len(test), width)
        done += len(rows)
        if progress is not None:
            progress(done, total)
    if scores is None:
        return _of_labels(name, calls, examples, G), calls[0]
    return _of_scores(name, scores, examples, G, folds), calls[0]


Predictions = Iterator[tuple[Indices, Indices, Mapping[str, NDArray[Any]]]]


def _split(folds: NDArray[Any], fold: Any, *, on_itself: bool) -> tuple[Indices, Indices]:
    everyone = np.arange(len(folds))
    return (everyone, everyone) if on_itself else (everyone[folds != fold], everyone[folds == fold])


@dataclass(frozen=True)
class _Refits:
    """A model, its examples, and the weightings G and folds under which it is trained again."""

    model: Any
    examples: Examples
    weights: Array
    folds: NDArray[Any]
    on_itself: bool
    seed: int
    n_jobs: int | None

    def batched(self) -> Predictions:
        """Solve all weightings of a fold together, several classes one against the rest."""
        examples, G = self.examples, self.weights
        n_classes = len(examples.labels)
        targets = [examples.y]
        if n_classes > 2:
            targets = [examples.codes == code for code in range(n_classes)]
        step = max(CELLS // (examples.n * n_classes), 1)
        for fold in np.unique(self.folds):
            train, test = _split(self.folds, fold, on_itself=self.on_itself)
            workers = 1 if self.n_jobs is None else self.n_jobs
            svms = [prepared(self.model, examples.X, y, train, workers=workers) for y in targets]
            even = G[:, train] / G[:, train].mean(axis=1, keepdims=True)
            for start in range(0, len(G), step):
                rows = np.arange(start, min(start + step, len(G)))
                decisions = np.stack([svm.decisions(even[rows])[:, test] for svm in svms], axis=-1)
                called = decisions.argmax(axis=-1) if n_classes > 2 else decisions[..., 0] > 0
                yield rows, test, {"predicted": called.astype(np.int32), "score": decisions}

    def one_by_one(self) -> Predictions:
        """Train a copy of the model for each weighting and fold."""
        examples = self.examples
        shared = {
            "model": self.model, "X": examples.X, "y": examples.y, "values": examples.values,
            "weights": self.weights, "folds": self.folds, "on_itself": self.on_itself,
            "seed": self.seed,
        }  # fmt: skip
        starts = range(0, len(self.weights), AT_ONCE)
        items = [(int(fold), start) for fold in np.unique(self.folds) for start in starts]
        results = run_each(weighted_refits, shared, items, n_jobs=self.n_jobs)
        for (fold, start), outcome in zip(items, results, strict=True):
            rows = np.arange(start, min(start + AT_ONCE, len(self.weights)))
            yield rows, _split(self.folds, fold, on_itself=self.on_itself)[1], outcome


def weighted_refits(shared: Mapping[str, Any], item: tuple[int, int]) -> dict[str, NDArray[Any]]:
    """Train under some of the weightings, without one fold, and predict that fold."""
    fold, start = item
    train, test = _split(shared["folds"], fold, on_itself=shared["on_itself"])
    X_train, X_test = (rows_of(shared["X"], rows) for rows in (train, test))
    y, model = shared["y"][train], shared["model"]
    name = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"
    predicted, scores = [], []
    for at, G in enumerate(shared["weights"][start : start + AT_ONCE, train], start):
        copy = fresh_copy(model, [shared["seed"], fold, at])
        try:
            copy.fit(X_train, y, **{name: G / G.mean()})
        except Exception as problem:  # whatever a user's model raises
            raise RefitError(
                f"{type(model).__name__} failed under weighting {at}: "
                f"{type(problem).__name__}: {problem}"
            ) from problem
        predicted.append(positions(copy.predict(X_test), shared["values"]))
        scores.append(scores_of(copy, X_test, shared["values"]).get("score"))
    outcome = {"predicted": np.array(predicted)}
    if all(one is not None for one in scores):
        outcome["score"] = np.array(scores)
    return outcome


def check_weightable(model: Any) -> None:
    """Refuse a model that cannot be trained with weights."""
    from sklearn.utils.validation import has_fit_parameter

    last = model[-1] if hasattr(model, "steps") else model
    if not has_fit_parameter(last, "sample_weight"):
        raise InputError(
            f"`model` must take sample_weight in fit; got {shown(last)}. For others use "
            "tr.estimate."
        )


def _of_labels(name: str, calls: NDArray[np.int32], examples: Examples, G: Array) -> Array:
    """Compute the measure of the weighted tables of all refits at once."""
    size = len(examples.labels)
    cells = examples.codes.astype(np.int64) * size + calls
    cells += size**2 * np.arange(len(G))[:, None]
    counts = np.bincount(cells.ravel(), weights=G.ravel(), minlength=len(G) * size**2)
    positive = None if examples.pos_label is None else examples.labels.index(examples.pos_label)
    values = value_of_tables(name, counts.reshape(len(G), size, size), positive)
    if values is None:
        raise InputError(f"`measure` must be of labels or of a ranking; got {shown(name)}.")
    return np.asarray(np.broadcast_to(values, len(G)))


def _of_scores(
    name: str, scores: NDArray[np.float32], examples: Examples, G: Array, folds: NDArray[Any]
) -> Array:
    """Rank each fold by itself, since each has a model of its own, and average."""
    base, labels = base_and_average(name)[0], examples.labels
    if len(labels) == 2:
        positive = labels.index(examples.pos_label or labels[1])
        columns = [(positive, (1.0 if positive == 1 else -1.0) * scores[..., 0])]
    else:
        columns = [(at, scores[..., at]) for at in range(len(labels))]
    values = []
    for code, column in columns:
        for fold in np.unique(folds):
            at = np.flatnonzero(folds == fold)
            truth = examples.codes[at] == code
            if truth.any() and not truth.all():
                values.append(
                    [
                        values_of(rank(column[r, at], truth, weight[at]), base)
                        for r, weight in enumerate(G)
                    ]
                )
    return np.mean(values, axis=0) if values else np.full(len(G), np.nan)


def forms_of(
    name: str, value: float, deviations: Array, n: float, level: float
) -> dict[str, Interval]:
    """Give every form of interval of a measure, whatever its range."""
    low, high = find_measure(base_and_average(name)[0]).measure_range
    finite = np.isfinite(high - low)
    scale = high - low if finite else 1.0
    shift = low if finite else 0.0
    forms = {}
    for form in FORMS:
        if finite:
            ends: Ends = ends_of(form, (value - shift) / scale, deviations / scale, n, level)
        elif form == "effective_size":
            continue
        else:
            raw = FORMS[form](value, deviations, n, level)
            ends = max(raw[0], low), min(raw[1], high)
        forms[form] = Interval(
            shift + scale * ends[0], shift + scale * ends[1], level, f"perturbation_{form}"
        )
    return forms


def plain_estimate(name: str, examples: Examples, calls: Indices, level: float) -> Estimate:
    """Give the measure of cross-validated labels as if one model had predicted them."""
    labels = np.array(examples.labels)
    return evaluate(
        labels[examples.codes],
        labels[calls],
        pos_label=examples.pos_label or (labels[1] if len(labels) == 2 else None),
        measures=[name],
        level=level,
        groups=examples.groups,
        random_state=0,
    )[name]
