"""The predictions of several models on the same examples, coded alike."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.evaluation.prediction_tally import PredictionTally, Tallies, with_one_score
from truerisk.evaluation.request import Request
from truerisk.inputs.labels import label_notes
from truerisk.inputs.predictions import (
    AS_WRITTEN,
    Predictions,
    made_predictions,
    positive_of_pair,
    score_classes,
)
from truerisk.labels import Spelling, in_order, other_of_pair, positive_of_two

ORDINALS = ("first", "second", "third", "fourth", "fifth")
MANY_CLASSES = 3
MAX_RESAMPLED = (
    2000  # rows; the choice among models by more of them is repeated without drawing them
)


@dataclass(frozen=True)
class JoinedPredictions:
    """The predictions of k models for the same n examples; `members` is the label set of each code.

    `predicted` and `scores` hold one entry per model, None where a model has none; `classes` names
    the columns of score matrices.
    """

    names: tuple[str, ...]
    truth: NDArray[Any]
    predicted: tuple[NDArray[Any] | None, ...]
    scores: tuple[NDArray[Any] | None, ...]
    members: tuple[tuple[str, ...], ...]
    multilabel: bool = False
    classes: tuple[str, ...] | None = None
    weight: Array | None = None
    group: Indices | None = None
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)
    complements: tuple[Array | None, ...] = ()
    by: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        models: Sequence[Predictions],
        *,
        notes: tuple[str, ...] = (),
        source: dict[str, Any] | None = None,
    ) -> "JoinedPredictions":
        """Join models whose rows stand in one order; the first has what all share."""
        book: dict[tuple[str, ...], int] = {}
        alike = [model.recoded(book) for model in models]
        first = alike[0]
        return cls(
            names=names,
            truth=first.truth,
            predicted=tuple(model.predicted for model in alike),
            scores=tuple(model.score for model in alike),
            members=tuple(book),
            multilabel=first.multilabel,
            classes=next((model.classes for model in alike if model.classes is not None), None),
            weight=first.weight,
            group=first.group,
            by=first.by,
            notes=notes,
            source=source or {},
        )

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.truth)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that some example has or some model predicts."""
        columns = [self.truth, *(one for one in self.predicted if one is not None)]
        codes = {code for one in columns for code in np.flatnonzero(np.bincount(one)).tolist()}
        return in_order({label for code in codes for label in self.members[code]})

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place of each code in the order of the labels, wherever the codes came from."""
        ranks = np.empty(len(self.members), dtype=np.int64)
        ranks[sorted(range(len(ranks)), key=self.members.__getitem__)] = np.arange(len(ranks))
        return ranks

    def ranked(self, model: int | None) -> NDArray[Any]:
        """Give the ranks of what a model predicts; of what is true for None."""
        column = self.truth if model is None else np.asarray(self.predicted[model])
        if model not in self._ranked:
            ranks = self.ranks.astype(np.min_scalar_type(len(self.ranks)))
            self._ranked[model] = ranks[column]
        return self._ranked[model]

    @cached_property
    def _ranked(self) -> dict[int | None, NDArray[Any]]:
        return {}

    def taken(self, rows: Indices) -> "JoinedPredictions":
        """Take some rows, in this order."""

        def of(column: NDArray[Any] | None) -> Any:
            return None if column is None else column[rows]

        return replace(
            self,
            truth=of(self.truth),
            predicted=tuple(map(of, self.predicted)),
            scores=tuple(map(of, self.scores)),
            complements=tuple(map(of, self.complements)),
            weight=of(self.weight),
            group=of(self.group),
            by={name: of(column) for name, column in self.by.items()},
        )

    def tallies(self, model: int, request: Request) -> Tallies:
        """Tally one model's predictions; all models share one list of labels."""
        classes = self.classes
        if classes is None and (self.multilabel or len(self.labels) >= MANY_CLASSES):
            classes = self.labels
        tally = PredictionTally(request, self.multilabel, classes)
        return tally.add(self.model(model)).finish(self.members)

    def model(self, at: int) -> Predictions:
        """Return the predictions of one model."""
        return Predictions(
            self.truth,
            self.members,
            self.predicted[at],
            self.scores[at],
            self.weight,
            self.group,
            self.multilabel,
            self.classes,
            complement=self.complements[at] if self.complements else None,
        )

    def with_made_predictions(self, request: Request) -> "JoinedPredictions":
        """Predict what scores highest, or at least the threshold, where a model has only scores.

        Of the score columns of two classes, that of the positive label stays.
        """
        self._check_spelling(request)
        return self._with_one_score(request).with_highest_or_above(request)

    def with_highest_or_above(self, request: Request) -> "JoinedPredictions":
        """Make predictions of the scores as they are."""
        book = {one: code for code, one in enumerate(self.members)}
        predicted = [
            self._made(score, request, book) if given is None else given
            for given, score in zip(self.predicted, self.scores, strict=True)
        ]
        return replace(self, predicted=tuple(predicted), members=tuple(book))

    def _check_spelling(self, request: Request) -> None:
        known = (*(self.classes or ()), *(request.average_over or ()))
        for at, name in enumerate(self.names):
            try:
                self.model(at).check_spelling(known, request.pos_label)
            except InputError as error:
                raise InputError(f"{shown(name)}: {error}") from None

    def _with_one_score(self, request: Request) -> "JoinedPredictions":
        if self.multilabel or positive_of_pair(self.classes, request.pos_label) is None:
            return self
        members = tuple(dict.fromkeys([*self.members, *((one,) for one in self.classes or ())]))
        whole = replace(self, members=members)
        models = [with_one_score(whole.model(at), request) for at in range(len(self.names))]
        return replace(
            whole,
            predicted=tuple(model.predicted for model in models),
            scores=tuple(model.score for model in models),
            complements=tuple(model.complement for model in models),
            classes=None,
        )

    def _made(
        self, score: NDArray[Any] | None, request: Request, book: dict[tuple[str, ...], int]
    ) -> NDArray[Any] | None:
        threshold = request.threshold
        if score is None or (threshold is None and score.ndim == 1):
            return None

        def code_of(label_set: tuple[str, ...]) -> int:
            return book.setdefault(label_set, len(book))

        if score.ndim == 1:
            pos_label = positive_of_two(self.labels, request.pos_label)
            others = [one for one in other_of_pair(pos_label, self.labels) if one != pos_label]
            if len(others) != 1:
                raise InputError(
                    f"`threshold` must divide two classes; the labels are {shown(self.labels)}."
                )
            codes = [code_of((label,)) for label in (*others, pos_label)]
            return np.array(codes)[(score >= threshold).astype(np.intp)]
        if self.classes is None:
            return None
        return made_predictions(
            score, self.classes, code_of, multilabel=self.multilabel, threshold=threshold
        )


def join_arrays(
    y_true: Any,
    predictions: Sequence[Any],
    scores: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
    spelling: Spelling = AS_WRITTEN,
) -> JoinedPredictions:
    """Check and code predictions in memory."""
    model_names = checked_names(names, len(predictions))
    models = []
    for name, predicted, score in zip(model_names, predictions, scores, strict=True):
        if predicted is None and score is None:
            raise InputError(f"{shown(name)} must have predictions or scores; got neither.")
        models.append(
            Predictions.unnamed(
                y_true,
                predicted,
                y_score=score,
                sample_weight=sample_weight,
                groups=groups,
                multilabel=multilabel,
                labels=labels,
                spelling=spelling,
                names=(f"predictions of {shown(name)}", f"scores of {shown(name)}"),
            )
        )
    joined = JoinedPredictions.of(model_names, models)
    # Score columns are of the labels of all models, in one order.
    named = [
        one.with_classes(
            score_classes(
                y_true, score, one, labels=labels, spelling=spelling, sorted_labels=joined.labels
            )
        )
        for one, score in zip(models, scores, strict=True)
    ]
    notes = tuple(label_notes(joined.members, "" if multilabel else None))
    return JoinedPredictions.of(model_names, in_one_order(model_names, named), notes=notes)


def in_one_order(names: tuple[str, ...], models: Sequence[Predictions]) -> list[Predictions]:
    """Put the score columns of all models in the order of the first that has several."""
    classes = next((model.classes for model in models if model.classes is not None), None)
    if classes is None:
        return list(models)
    ordered = []
    for name, model in zip(names, models, strict=True):
        own, score = model.classes, model.score
        if own is None or score is None or own == classes:
            ordered.append(model)
            continue
        if set(own) != set(classes):
            odd = min(set(own) ^ set(classes))
            raise InputError(
                f"The models must score the same classes; {shown(odd)} is not scored by all, "
                f"{shown(name)} scores {', '.join(map(shown, own))}."
            )
        columns = [own.index(label) for label in classes]
        ordered.append(replace(model, score=score[:, columns], classes=classes))
    return ordered


def checked_names(names: Sequence[str] | None, models: int) -> tuple[str, ...]:
    """Give each model a name of its own, by its place where none is given."""
    if names is None:
        later = (f"model {at}" for at in range(len(ORDINALS) + 1, models + 1))
        return (*ORDINALS[:models], *later)
    if isinstance(names, str) or len(names) != models:
        raise InputError(f"`names` must be {models} names, one per model; got {shown(names)}.")
    texts = tuple(str(name) for name in names)
    if not all(name.strip() for name in texts):
        raise InputError(f"`names` must not be empty; got {shown(texts)}.")
    if len(set(texts)) < models:
        raise InputError(f"`names` must differ from one another; got {shown(texts)}.")
    return texts


def rows_that_count(joined: JoinedPredictions) -> JoinedPredictions:
    """Leave out what says nothing, and put the rows in an order that depends on their content.

    Rows of weight 0, equal weights and groups of one row are dropped.  Neither the order of rows
    nor of models matters: resamples of one seed fall on the same examples.  Many rows without
    weights and groups are not resampled, and stay in their order.
    """
    weight = joined.weight
    counted = joined if weight is None else joined.taken(np.flatnonzero(weight > 0))
    if counted.weight is not None and (counted.weight == counted.weight[0]).all():
        counted = replace(counted, weight=None)
    if counted.group is not None:
        codes = np.unique(counted.group, return_inverse=True)[1].astype(np.intp)
        counted = replace(counted, group=None if codes.max() + 1 == counted.n else codes)
    if counted.weight is None and counted.group is None and counted.n > MAX_RESAMPLED:
        return counted
    return counted.taken(np.lexsort(_keys(counted)[::-1]))


def _keys(joined: JoinedPredictions) -> list[NDArray[Any]]:
    """Give what the rows are ordered by, the weightiest first."""
    ranks = joined.ranks
    keys: list[NDArray[Any]] = [] if joined.group is None else [joined.group]
    keys.append(ranks[joined.truth])
    keys += [] if joined.weight is None else [joined.weight]
    models = [
        [*_score_columns(score), *([] if predicted is None else [ranks[predicted]])]
        for predicted, score in zip(joined.predicted, joined.scores, strict=True)
    ]
    return keys + [column for model in sorted(models, key=_fingerprint) for column in model]


def _score_columns(score: NDArray[Any] | None) -> list[NDArray[Any]]:
    if score is None:
        return []
    table = score[:, None] if score.ndim == 1 else score
    return [column.astype(np.float64) + 0.0 for column in table.T]  # −0.0 + 0.0 is 0.0


def _fingerprint(columns: list[NDArray[Any]]) -> tuple[bytes, ...]:
    """Distinguish models, whatever the order of the rows."""
    return tuple(hashlib.sha256(np.sort(column).tobytes()).digest() for column in columns)
