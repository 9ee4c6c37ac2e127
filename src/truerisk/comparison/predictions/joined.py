"""The predictions of several models on the same examples, coded alike."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.evaluation.prediction_tally import PredictionTally, Tallies, with_one_score
from truerisk.evaluation.request import Request
from truerisk.inputs.arrays import ColumnNames
from truerisk.inputs.labels import label_notes
from truerisk.inputs.predictions import (
    AS_WRITTEN,
    Predictions,
    check_threshold,
    made_predictions,
    positive_of_pair,
    score_classes,
)
from truerisk.labels import Spelling, in_order, other_of_pair, positive_of_two

ORDINALS = ("first", "second", "third", "fourth", "fifth")
SCORES = "scores"  # the argument that takes those of all models
MANY_CLASSES = 3
MAX_RESAMPLED = (
    2000  # rows; the choice among models by more of them is repeated without drawing them
)


@dataclass(frozen=True)
class JoinedPredictions:
    """The predictions of k models for the same n examples, coded alike.

    All have the truth, label sets, weights, groups and score classes of the first, `shared`.
    """

    names: tuple[str, ...]
    models: tuple[Predictions, ...]
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

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
        first, *others = (model.recoded(book) for model in _in_one_order(names, models))
        return cls(names, (first, *others), notes, source or {}).sharing(
            truth=first.truth,
            members=tuple(book),
            multilabel=first.multilabel,
            classes=next((model.classes for model in models if model.classes is not None), None),
            weight=first.weight,
            group=first.group,
            ids=None,
        )

    @property
    def shared(self) -> Predictions:
        """The model whose truth, label sets, weights, groups and columns to slice by all have."""
        return self.models[0]

    def sharing(self, **columns: Any) -> "JoinedPredictions":
        """Give all models these columns."""
        return replace(self, models=tuple(replace(model, **columns) for model in self.models))

    @property
    def n(self) -> int:
        """How many examples there are."""
        return self.shared.n

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that some example has or some model predicts."""
        return in_order({label for model in self.models for label in model.labels})

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place of each code in the order of the labels, wherever the codes came from."""
        members = self.shared.members
        ranks = np.empty(len(members), dtype=np.int64)
        ranks[sorted(range(len(ranks)), key=members.__getitem__)] = np.arange(len(ranks))
        return ranks

    @cached_property
    def ranked(self) -> dict[int | None, NDArray[Any]]:
        """The ranks of what each model predicts, and, for None, of what is true."""
        ranks = self.ranks.astype(np.min_scalar_type(len(self.ranks)))
        columns: dict[int | None, Any] = {None: self.shared.truth}
        columns |= enumerate(model.predicted for model in self.models)
        return {model: ranks[one] for model, one in columns.items() if one is not None}

    def taken(self, rows: Indices) -> "JoinedPredictions":
        """Take some rows, in this order."""
        return replace(self, models=tuple(model.taken(rows) for model in self.models))

    def tallies(self, model: int, request: Request) -> Tallies:
        """Tally one model's predictions; all models share one list of labels."""
        classes, multilabel = self.shared.classes, self.shared.multilabel
        if classes is None and (multilabel or len(self.labels) >= MANY_CLASSES):
            classes = self.labels
        # The predictions are made already.
        tally = PredictionTally(replace(request, threshold=None), multilabel, classes)
        return tally.add(self.models[model]).finish(self.shared.members)

    def with_made_predictions(self, request: Request) -> "JoinedPredictions":
        """Predict what scores highest, or at least the threshold, where a model has only scores.

        Of the score columns of two classes, that of the positive label stays.
        """
        self._check_spelling(request)
        every = all(model.predicted is not None for model in self.models)
        check_threshold(request.threshold, predicted=every)
        return self._with_one_score(request).with_highest_or_above(request)

    def with_highest_or_above(self, request: Request) -> "JoinedPredictions":
        """Make predictions of the scores as they are."""
        book = {one: code for code, one in enumerate(self.shared.members)}
        models = [
            replace(model, predicted=self._made(model.score, request, book))
            if model.predicted is None
            else model
            for model in self.models
        ]
        return replace(self, models=tuple(models)).sharing(members=tuple(book))

    def _check_spelling(self, request: Request) -> None:
        known = (*(self.shared.classes or ()), *(request.average_over or ()))
        for name, model in zip(self.names, self.models, strict=True):
            try:
                model.check_spelling(known, request.pos_label, SCORES)
            except InputError as error:
                raise InputError(f"{shown(name)}: {error}") from None

    def _with_one_score(self, request: Request) -> "JoinedPredictions":
        classes = self.shared.classes
        if self.shared.multilabel or positive_of_pair(classes, request.pos_label) is None:
            return self
        members = dict.fromkeys([*self.shared.members, *((one,) for one in classes or ())])
        whole = self.sharing(members=tuple(members))
        models = tuple(with_one_score(model, request) for model in whole.models)
        return replace(whole, models=models).sharing(classes=None)

    def _made(
        self, score: NDArray[Any] | None, request: Request, book: dict[tuple[str, ...], int]
    ) -> NDArray[Any] | None:
        threshold, classes = request.threshold, self.shared.classes
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
        if classes is None:
            return None
        multilabel = self.shared.multilabel
        return made_predictions(score, classes, code_of, multilabel=multilabel, threshold=threshold)


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
                names=ColumnNames(
                    pred=f"predictions of {shown(name)}",
                    score=f"scores of {shown(name)}",
                    score_argument=SCORES,
                ),
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
    notes = tuple(label_notes(joined.shared.members, "" if multilabel else None))
    return JoinedPredictions.of(model_names, named, notes=notes)


def _in_one_order(names: tuple[str, ...], models: Sequence[Predictions]) -> list[Predictions]:
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
    weight = joined.shared.weight
    counted = joined if weight is None else joined.taken(np.flatnonzero(weight > 0))
    weight, group = counted.shared.weight, counted.shared.group
    if weight is not None and (weight == weight[0]).all():
        weight = None
    if group is not None:
        codes = np.unique(group, return_inverse=True)[1].astype(np.intp)
        group = None if codes.max() + 1 == counted.n else codes
    counted = counted.sharing(weight=weight, group=group)
    if weight is None and group is None and counted.n > MAX_RESAMPLED:
        return counted
    return counted.taken(np.lexsort(_keys(counted)[::-1]))


def _keys(joined: JoinedPredictions) -> list[NDArray[Any]]:
    """Give what the rows are ordered by, the weightiest first."""
    ranks, shared = joined.ranks, joined.shared
    keys = (shared.group, ranks[shared.truth], shared.weight)
    models = [
        [
            *_score_columns(model.score),
            *([] if model.predicted is None else [ranks[model.predicted]]),
        ]
        for model in joined.models
    ]
    columns = [column for model in sorted(models, key=_fingerprint) for column in model]
    return [*(one for one in keys if one is not None), *columns]


def _score_columns(score: NDArray[Any] | None) -> list[NDArray[Any]]:
    if score is None:
        return []
    table = score[:, None] if score.ndim == 1 else score
    return [column.astype(np.float64) + 0.0 for column in table.T]  # −0.0 + 0.0 is 0.0


def _fingerprint(columns: list[NDArray[Any]]) -> tuple[bytes, ...]:
    """Distinguish models, whatever the order of the rows."""
    return tuple(hashlib.sha256(np.sort(column).tobytes()).digest() for column in columns)
