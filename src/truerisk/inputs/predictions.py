"""Predictions as codes: the one form that arrays, frames, files and comparisons are brought to."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.checks import check_same_length, counted, shown
from truerisk.errors import InputError
from truerisk.inputs.arrays import (
    ONE_MODEL,
    CodedLabels,
    ColumnNames,
    Members,
    as_scores,
    check_row_labels,
    check_weights,
    code_groups,
    code_label_sets,
    code_labels,
    column_names,
    indicator_names,
    number_of_rows,
)
from truerisk.inputs.roles import classes_of_columns
from truerisk.labels import (
    Spelling,
    as_number,
    check_same_spelling,
    in_order,
    label_among,
    plain_positive,
    positive_of_two,
)

AS_WRITTEN = Spelling()


@dataclass(frozen=True)
class Predictions:
    """Some rows of predictions; `members` is the label set of each code met so far.

    `classes` names the columns of a score matrix; without it a score is that of the positive label.
    `complement` is the probability of the other of two classes, where it is given for itself.
    `by` holds the columns to slice by.
    `truth` is None only for a further model of a comparison whose file repeats no true labels.
    """

    truth: Any
    members: Members
    predicted: NDArray[Any] | None = None
    score: NDArray[Any] | None = None
    weight: Array | None = None
    group: NDArray[Any] | None = None
    multilabel: bool = False
    classes: tuple[str, ...] | None = None
    ids: Any = None
    complement: Array | None = None
    by: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        labels: Sequence[Any] | None = None,
        spelling: Spelling = AS_WRITTEN,
        **columns: Any,
    ) -> "Predictions":
        """Check and code columns in memory as `unnamed` does, and name those of a score matrix."""
        coded = cls.unnamed(
            y_true, y_pred, y_score=y_score, labels=labels, spelling=spelling, **columns
        )
        names = score_classes(y_true, y_score, coded, labels=labels, spelling=spelling)
        return coded.with_classes(names)

    @classmethod
    def unnamed(
        cls,
        y_true: Any,
        y_pred: Any = None,
        *,
        y_score: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        multilabel: bool = False,
        labels: Sequence[Any] | None = None,
        allow_inf: bool = False,
        spelling: Spelling = AS_WRITTEN,
        names: ColumnNames = ONE_MODEL,
    ) -> "Predictions":
        """Check and code columns in memory; `names` is what messages call those of a model."""
        given = {
            names.true: y_true,
            names.pred: y_pred,
            names.score: y_score,
            "sample_weight": sample_weight,
            "groups": groups,
        }
        check_row_labels(**given)
        columns = {name: column for name, column in given.items() if column is not None}
        check_same_length(
            **{name: range(number_of_rows(one, name)) for name, one in columns.items()}
        )
        score = None if y_score is None else as_scores(y_score, names.score, allow_inf=allow_inf)
        if score is not None and score.shape[1:] == (1,) and not multilabel:
            raise InputError(
                f"`{names.score}` must be one column of scores, or one per class; got shape "
                f"{score.shape}. Use .ravel(), of a frame its column."
            )
        weight = None if sample_weight is None else check_weights(sample_weight)
        group = None if groups is None else code_groups(groups)
        if multilabel:
            coded = code_label_sets(y_true, y_pred, labels, names=names)
        else:
            coded = code_labels(y_true, y_pred, names=names)
            _refuse_empty(coded, names)
        coded = _respelt(coded, spelling)
        return cls(coded.truth, coded.members, coded.predicted, score, weight, group, multilabel)

    @property
    def n(self) -> int:
        """How many examples there are."""
        columns = (self.truth, self.predicted, self.score)
        return next(len(column) for column in columns if column is not None)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that some example has or that is predicted."""
        return in_order(self._labels_of(self.truth) | self._labels_of(self.predicted))

    @property
    def labels_of_truth(self) -> tuple[str, ...]:
        """Every label that some example has."""
        return in_order(self._labels_of(self.truth))

    def codes_in(self, column: NDArray[Any] | None) -> list[int]:
        """List the codes that occur in a column of labels."""
        if column is None:
            return []
        return np.flatnonzero(np.bincount(column, minlength=len(self.members))).tolist()

    def _labels_of(self, column: NDArray[Any] | None) -> set[str]:
        return {label for code in self.codes_in(column) for label in self.members[code]}

    def belongs(self, label: str) -> Flags:
        """Return which examples have a label."""
        codes = [code for code, one in enumerate(self.members) if label in one]
        if len(codes) == 1:  # a comparison is several times as fast as a look-up
            return np.asarray(self.truth == codes[0])
        return np.asarray(np.isin(np.arange(len(self.members)), codes)[self.truth])

    def check_spelling(
        self, known: Collection[str], pos_label: str | None, score_argument: str
    ) -> None:
        """Refuse predictions in other labels than the truth; `known` ones are classes anyway."""
        true, predicted = self._labels_of(self.truth), self._labels_of(self.predicted)
        check_same_spelling(true, predicted, known, pos_label, score_argument)

    def with_classes(self, names: tuple[str, ...] | None) -> "Predictions":
        """Name the columns of the score matrix, if there is one."""
        if self.score is None or self.score.ndim == 1 or names is None:
            return self
        if len(names) != self.score.shape[1]:
            raise InputError(
                f"`labels` must name the {self.score.shape[1]} columns of `y_score`; got "
                f"{len(names)} ({', '.join(names[:10])})."
            )
        # A row may be given either class, though neither the truth nor a prediction has it.
        book = dict.fromkeys([*self.members, *([] if self.multilabel else [(n,) for n in names])])
        return replace(self, classes=names, members=tuple(book))

    def taken(self, rows: Indices) -> "Predictions":
        """Take some rows, in this order."""
        columns = ("truth", "predicted", "score", "weight", "group", "ids", "complement")
        of_rows = {name: getattr(self, name) for name in columns}
        return replace(
            self,
            by={name: column[rows] for name, column in self.by.items()},
            **{name: one[rows] for name, one in of_rows.items() if one is not None},
        )

    def recoded(self, book: dict[tuple[str, ...], int]) -> "Predictions":
        """Use the codes of a book that several models share; it grows where labels are new."""
        places = np.array([book.setdefault(one, len(book)) for one in self.members])
        if (places == np.arange(len(places))).all():
            return replace(self, members=tuple(book))
        return replace(
            self,
            truth=None if self.truth is None else places[self.truth],
            predicted=None if self.predicted is None else places[self.predicted],
            members=tuple(book),
        )

    def positive_of_pair(self, pos_label: str | None) -> str | None:
        """Return the positive label if the score columns are of two classes, and it is settled."""
        return None if self.multilabel else positive_of_pair(self.classes, pos_label)

    def with_one_score(
        self, pos_label: str | None, threshold: float | None = None, reject: str | None = None
    ) -> "Predictions":
        """Keep, of the score columns of two classes, that of the positive label.

        Without predictions the class that scores highest is predicted, unless a `threshold` says
        what is.  Anything but two score columns with a settled positive label stays as it is.
        """
        positive = self.positive_of_pair(pos_label)
        if positive is None or self.score is None or self.classes is None:
            return self
        self.refuse_unscored(self.classes, reject)
        made = self
        if self.predicted is None and threshold is None:
            highest = made_predictions(self.score, self.classes, self.members.index)
            made = replace(self, predicted=highest)
        at = self.classes.index(positive)
        return replace(
            made,
            score=np.ascontiguousarray(self.score[:, at]),
            complement=self.score[:, 1 - at].astype(np.float64),
            classes=None,
        )

    def against_the_rest(self, pos_label: Any = None) -> tuple[NDArray[Any], Flags, str]:
        """Give the scores of the positive label, which examples have it, and the label.

        Of several score columns, that of the positive label is taken.
        """
        labels = in_order({*self.labels_of_truth, *(self.classes or ())})
        positive = None if pos_label is None else label_among(pos_label, labels)
        if positive is not None and len(labels) > 1 and positive not in labels:
            raise no_such_positive(positive, labels)
        positive = positive_of_two(labels, positive)
        score: NDArray[Any] = self.score  # type: ignore[assignment]
        if self.classes is not None:
            if positive not in self.classes:
                raise unscored(positive, self.classes)
            self.refuse_unscored(self.classes)
            score = np.ascontiguousarray(score[:, self.classes.index(positive)])
        is_positive = np.array([one == (positive,) for one in self.members])
        return score, is_positive[self.truth], positive

    def refuse_unscored(self, classes: tuple[str, ...], reject: str | None = None) -> None:
        """Refuse labels, other than the one that stands for no answer, without a score column."""
        scored = {(label,) for label in classes}
        strange = [code for code, one in enumerate(self.members) if one not in scored]
        for column, may_reject in ((self.truth, False), (self.predicted, True)):
            if column is None or not strange:
                continue
            wrong = np.isin(column, strange)
            if may_reject and (reject,) in self.members:
                wrong &= column != self.members.index((reject,))
            if wrong.any():
                label = self.members[int(column[wrong][0])][0]
                raise unscored(label, classes)


def positive_of_pair(classes: Collection[str] | None, pos_label: str | None) -> str | None:
    """Return the positive one of two classes that have a score column each; None if not settled.

    It is settled if it is given, or plain from the classes themselves.
    """
    if classes is None or len(classes) != 2:
        return None
    positive = plain_positive(classes) if pos_label is None else pos_label
    return positive if positive in classes else None


def made_predictions(
    score: NDArray[Any],
    classes: Sequence[str],
    code_of: Callable[[tuple[str, ...]], int],
    *,
    multilabel: bool = False,
    threshold: float | None = None,
) -> Indices | None:
    """Predict the class that scores highest; of several labels, all that reach the threshold."""
    if not multilabel:
        if threshold is not None:
            raise InputError(
                "`threshold` must be for one score per row, or for two with a positive label; "
                f"there are {len(classes)} score columns, and the class that scores highest is "
                "predicted. Leave it out, or choose one column with --score (y_score= in Python)."
            )
        codes = np.array([code_of((label,)) for label in classes])
        return np.asarray(codes[score.argmax(axis=1)])
    if threshold is None:
        return None
    patterns, at = np.unique(score >= threshold, axis=0, return_inverse=True)
    sets = [tuple(sorted(np.array(classes)[row].tolist())) for row in patterns]
    return np.asarray(np.array([code_of(one) for one in sets])[at.ravel()])


def check_threshold(threshold: float | None, *, predicted: bool) -> None:
    """Refuse a threshold where the labels are predicted already: it would change nothing."""
    if threshold is not None and predicted:
        raise InputError(
            f"`threshold` must be given without predicted labels; got {threshold:g} and labels, "
            "which would stay as they are. Leave it out, or leave the labels aside: --pred '' "
            "(y_pred=None in Python)."
        )


def no_such_positive(pos_label: str, labels: Sequence[str]) -> InputError:
    """Make the error of a positive label that does not occur."""
    listed = ", ".join(map(shown, labels[:10]))
    return InputError(f"`pos_label` must be one of the labels {listed}; got {shown(pos_label)}.")


def unscored(label: str, classes: Iterable[str]) -> InputError:
    """Make the error of a label that has no score column."""
    classes = tuple(classes)
    number = as_number(label)
    alike = number is not None and number in set(map(as_number, classes))
    spelt = (
        " Use --numeric-labels (numeric_labels=True in Python) to make them one." if alike else ""
    )
    return InputError(
        f"Every class must have a score column; {shown(label)} has none, the columns are of "
        f"{', '.join(map(shown, classes))}.{spelt} Name the columns after the labels, rename the "
        "labels with --map (label_map= in Python), or use --score for the column of the positive "
        "label."
    )


def score_classes(
    y_true: Any,
    y_score: Any,
    coded: Predictions,
    *,
    labels: Sequence[Any] | None,
    spelling: Spelling = AS_WRITTEN,
    sorted_labels: tuple[str, ...] | None = None,
) -> tuple[str, ...] | None:
    """Name the columns of a score matrix: as given, as the frame does, or the sorted labels."""
    if coded.score is None or coded.score.ndim == 1:
        return None
    if labels is not None:
        return tuple(spelling(str(label)) for label in labels)
    names = indicator_names(y_true, None) if coded.multilabel else None
    names = names or sorted_labels or coded.labels
    in_frame = column_names(y_score)
    if in_frame is not None and len(set(in_frame)) == len(in_frame):
        for candidates in (in_frame, classes_of_columns(in_frame)):
            spelt = tuple(map(spelling, candidates))
            if set(spelt) == set(names):
                return spelt
    return names


def _refuse_empty(coded: CodedLabels, names: ColumnNames) -> None:
    if ("",) not in coded.members:
        return
    empty = coded.members.index(("",))
    for name, codes in ((names.true, coded.truth), (names.pred, coded.predicted)):
        if codes is not None and np.any(codes == empty):
            raise InputError(
                f"`{name}` must have a label everywhere; {counted(codes == empty, 'empty')}. "
                "Drop these examples first, or give the class a name."
            )


def _respelt(coded: CodedLabels, spelling: Spelling) -> CodedLabels:
    """Rewrite the labels, and give one code to those that become the same."""
    if not spelling:
        return coded
    book: dict[tuple[str, ...], int] = {}
    places = np.array(
        [
            book.setdefault(tuple(sorted(set(map(spelling, one)))), len(book))
            for one in coded.members
        ]
    )
    predicted = None if coded.predicted is None else places[coded.predicted]
    return replace(coded, truth=places[coded.truth], predicted=predicted, members=tuple(book))
