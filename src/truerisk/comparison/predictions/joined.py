"""The predictions of several models on the same examples, coded alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_same_length, shown
from truerisk.errors import InputError
from truerisk.evaluation.positive import other_of_pair, positive_of_two
from truerisk.evaluation.prediction_tally import Columns, PredictionTally, Tallies
from truerisk.evaluation.request import Request
from truerisk.tallies.labels import (
    CodedLabels,
    as_column,
    code_groups,
    code_label_sets,
    code_labels,
    in_order,
)
from truerisk.tallies.ranking import as_weights

Members = tuple[tuple[str, ...], ...]

ORDINALS = ("first", "second", "third", "fourth", "fifth")
MANY_CLASSES = 3


@dataclass(frozen=True)
class JoinedPredictions:
    """What k models say of the same n examples; `members` is the label set of each code.

    `predicted` and `scores` hold one entry a model, None where a model has none; `classes` names
    the columns of score matrices.
    """

    names: tuple[str, ...]
    truth: NDArray[Any]
    predicted: tuple[NDArray[Any] | None, ...]
    scores: tuple[NDArray[Any] | None, ...]
    members: Members
    multilabel: bool = False
    classes: tuple[str, ...] | None = None
    weight: NDArray[np.float64] | None = None
    group: NDArray[np.intp] | None = None
    notes: tuple[str, ...] = ()
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.truth)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that some example has or some model predicts."""
        columns = [column for column in (self.truth, *self.predicted) if column is not None]
        codes = {int(code) for column in columns for code in np.unique(column)}
        return in_order({label for code in codes for label in self.members[code]})

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place of each code in the order of the labels, wherever the codes came from."""
        found = np.empty(len(self.members), dtype=np.int64)
        found[sorted(range(len(found)), key=self.members.__getitem__)] = np.arange(len(found))
        return found

    def taken(self, rows: NDArray[np.intp]) -> "JoinedPredictions":
        """Take some rows, in this order."""

        def of(column: NDArray[Any] | None) -> Any:  # noqa: ANN401
            return None if column is None else column[rows]

        return replace(
            self,
            truth=of(self.truth),
            predicted=tuple(map(of, self.predicted)),
            scores=tuple(map(of, self.scores)),
            weight=of(self.weight),
            group=of(self.group),
        )

    def tallies(self, model: int, request: Request) -> Tallies:
        """Tally one model's predictions; all models share one list of labels."""
        classes = self.classes
        if classes is None and (self.multilabel or len(self.labels) >= MANY_CLASSES):
            classes = self.labels
        columns = Columns(
            self.truth,
            self.members,
            self.predicted[model],
            self.scores[model],
            self.weight,
            self.group,
        )
        return PredictionTally(request, self.multilabel, classes).add(columns).finish(self.members)

    def with_made_predictions(self, request: Request) -> "JoinedPredictions":
        """Call what scores highest, or at least the threshold, where a model has only scores."""
        book = {one: code for code, one in enumerate(self.members)}
        called = [
            self._made(score, request, book) if predicted is None else predicted
            for predicted, score in zip(self.predicted, self.scores, strict=True)
        ]
        return replace(self, predicted=tuple(called), members=tuple(book))

    def _made(
        self, score: NDArray[Any] | None, request: Request, book: dict[tuple[str, ...], int]
    ) -> NDArray[Any] | None:
        threshold = request.threshold
        if score is None or (threshold is None and (score.ndim == 1 or self.multilabel)):
            return None
        if score.ndim == 1:
            pos_label = positive_of_two(self.labels, request.pos_label)
            others = [one for one in other_of_pair(pos_label, self.labels) if one != pos_label]
            if len(others) != 1:
                raise InputError(
                    f"`threshold` must divide two classes; the labels are {shown(self.labels)}."
                )
            codes = [book.setdefault((label,), len(book)) for label in (*others, pos_label)]
            return np.array(codes)[(score >= threshold).astype(np.intp)]
        if self.classes is None:
            return None
        if not self.multilabel:
            codes = [book.setdefault((label,), len(book)) for label in self.classes]
            return np.asarray(np.array(codes)[score.argmax(axis=1)])
        patterns, at = np.unique(score >= threshold, axis=0, return_inverse=True)
        sets = [tuple(sorted(np.array(self.classes)[row].tolist())) for row in patterns]
        return np.asarray(np.array([book.setdefault(one, len(book)) for one in sets])[at.ravel()])


def join_arrays(
    y_true: Any,  # noqa: ANN401
    predictions: Sequence[Any],
    scores: Sequence[ArrayLike | None],
    *,
    names: Sequence[str] | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
) -> JoinedPredictions:
    """Check and code predictions in memory.

    Examples
    --------
    >>> joined = join_arrays(["a", "b"], [["a", "a"], ["a", "b"]], [None, None])
    >>> joined.names, joined.labels, [codes.tolist() for codes in joined.predicted]
    (('first', 'second'), ('a', 'b'), [[0, 0], [0, 1]])
    """
    called = checked_names(names, len(predictions))
    arguments = [f"predictions of {shown(name)}" for name in called]
    tables = [
        None if one is None else _scores(one, f"scores of {shown(name)}")
        for one, name in zip(scores, called, strict=True)
    ]
    for name, predicted, table in zip(called, predictions, tables, strict=True):
        if predicted is None and table is None:
            raise InputError(f"{shown(name)} must have predictions or scores; got neither.")
    lengths = {"y_true": y_true} | dict(zip(arguments, predictions, strict=True))
    lengths |= {f"scores of {shown(name)}": one for name, one in zip(called, tables, strict=True)}
    n = check_same_length(**lengths, groups=groups, sample_weight=sample_weight)  # type: ignore[arg-type]
    truth, codes, members = _coded(
        y_true, dict(zip(arguments, predictions, strict=True)), labels, multilabel=multilabel
    )
    joined = JoinedPredictions(
        names=called,
        truth=truth,
        predicted=tuple(codes),
        scores=tuple(tables),
        members=members,
        multilabel=multilabel,
        weight=None if sample_weight is None else _weights(sample_weight, n),
        group=None if groups is None else code_groups(groups),
    )
    return replace(joined, classes=_classes(joined, labels, y_true))


def checked_names(names: Sequence[str] | None, models: int) -> tuple[str, ...]:
    """Give each model a name of its own, by its place where none is given."""
    if names is None:
        later = (f"model {at}" for at in range(len(ORDINALS) + 1, models + 1))
        return (*ORDINALS[:models], *later)
    if isinstance(names, str) or len(names) != models:
        raise InputError(f"`names` must be {models} names, one a model; got {shown(names)}.")
    found = tuple(str(name) for name in names)
    if not all(name.strip() for name in found):
        raise InputError(f"`names` must not be empty; got {shown(found)}.")
    if len(set(found)) < models:
        raise InputError(f"`names` must differ from one another; got {shown(found)}.")
    return found


def _coded(
    y_true: Any,  # noqa: ANN401
    predictions: dict[str, Any],
    labels: Sequence[Any] | None,
    *,
    multilabel: bool,
) -> tuple[NDArray[Any], list[NDArray[Any] | None], Members]:
    book: dict[tuple[str, ...], int] = {}

    def in_book(codes: NDArray[Any], members: Members) -> NDArray[Any]:
        places = np.array([book.setdefault(one, len(book)) for one in members])
        return np.asarray(places[codes])

    first = _coded_pair(y_true, None, labels, "y_true", multilabel=multilabel)
    truth = in_book(first.truth, first.members)
    found: list[NDArray[Any] | None] = []
    for argument, predicted in predictions.items():
        if predicted is None:
            found.append(None)
            continue
        coded = _coded_pair(y_true, predicted, labels, argument, multilabel=multilabel)
        found.append(in_book(np.asarray(coded.predicted), coded.members))
    members = tuple(book)
    if not multilabel and ("",) in book:
        raise InputError(
            "`y_true` and the predictions must have a label everywhere; some are empty. Drop these "
            "examples first, or give the class a name."
        )
    return truth, found, members


def _coded_pair(
    y_true: Any,  # noqa: ANN401
    predicted: Any,  # noqa: ANN401
    labels: Sequence[Any] | None,
    argument: str,
    *,
    multilabel: bool,
) -> CodedLabels:
    try:
        if multilabel:
            return code_label_sets(y_true, predicted, labels)
        return code_labels(as_column(y_true), None if predicted is None else as_column(predicted))
    except InputError as error:
        raise InputError(str(error).replace("`y_pred`", f"`{argument}`")) from None


def _scores(scores: ArrayLike, argument: str) -> NDArray[Any]:
    table = np.asarray(scores)
    if table.ndim not in {1, 2} or table.dtype.kind not in "fiub":
        raise InputError(
            f"`{argument}` must be numbers, n of them or an n × K matrix; "
            f"got {table.dtype} of shape {table.shape}."
        )
    strange = int(np.count_nonzero(~np.isfinite(table)))
    if strange:
        raise InputError(f"`{argument}` must be finite numbers; {strange} are NaN or infinite.")
    return table


def _weights(sample_weight: ArrayLike, n: int) -> NDArray[np.float64]:
    weights = as_weights(sample_weight, n)
    if not weights.any():
        raise InputError("`sample_weight` must not be 0 for every example.")
    return weights


def _classes(
    joined: JoinedPredictions,
    labels: Sequence[Any] | None,
    y_true: Any,  # noqa: ANN401
) -> tuple[str, ...] | None:
    """Name the columns of the score matrices."""
    widths = {score.shape[1] for score in joined.scores if score is not None and score.ndim == 2}
    if not widths:
        return None
    if labels is not None:
        names = tuple(str(label) for label in labels)
    elif joined.multilabel and getattr(y_true, "ndim", 1) == 2:
        names = tuple(str(at) for at in range(y_true.shape[1]))
    else:
        names = joined.labels
    return check_columns(names, widths)


def check_columns(names: tuple[str, ...], widths: Iterable[int]) -> tuple[str, ...]:
    """Refuse score matrices whose columns are not the classes."""
    for width in widths:
        if width != len(names):
            raise InputError(
                f"`labels` must name the {width} columns of the scores; got {len(names)} "
                f"({', '.join(names[:10])})."
            )
    return names
