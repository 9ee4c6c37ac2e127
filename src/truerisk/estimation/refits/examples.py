"""Data as a learner gets them: rows, labels and groups, checked once."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import counted, shown
from truerisk.errors import InputError
from truerisk.inputs.arrays import (
    CodedLabels,
    ColumnNames,
    as_column,
    check_row_labels,
    code_groups,
    code_labels,
)
from truerisk.labels import label_among, positive_of_two
from truerisk.learners.refits import number_of_rows
from truerisk.learners.scoring import Metadata
from truerisk.svm.rows.matrix import check_intact


@dataclass(frozen=True)
class Examples:
    """Rows, their labels as given, and the same labels as positions in `values`.

    `labels` are the values as text; `groups` are numbers from 0; `pos_label` is None for more than
    two classes, and where it is not needed.  `metadata` is what reaches `fit` and scorers besides.
    """

    X: Any
    y: NDArray[Any]
    values: NDArray[Any]
    codes: NDArray[Any]
    labels: tuple[str, ...]
    pos_label: str | None
    groups: NDArray[np.intp] | None = None
    metadata: Metadata = field(default_factory=Metadata)

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        groups: Any = None,
        pos_label: Any = None,
        *,
        needs_positive: bool = True,
        sample_weight: Any = None,
    ) -> "Examples":
        """Check that rows, labels and groups belong together, and that it is plain what to find."""
        check_row_labels(X=X, y=y, groups=groups, sample_weight=sample_weight)
        rows = _as_rows(X)
        n = number_of_rows(rows)
        labels = _as_labels(y)
        if len(labels) != n:
            raise InputError(f"`y` must have a label for each of {n} rows; got {len(labels)}.")
        if n < 2:
            raise InputError(f"`X` must have at least two rows to divide; got {n}.")
        coded = code_labels(labels, names=ColumnNames(true="y"))
        names = _names_of_classes(coded)
        positive = None if pos_label is None else _named(pos_label, names)
        if len(names) != 2:
            positive = None
        elif positive is not None or needs_positive:
            positive = positive_of_two(names, positive)
        _, first = np.unique(coded.truth, return_index=True)
        units = None if groups is None else code_groups(_as_groups(groups))
        if units is not None and len(units) != n:
            raise InputError(f"`groups` must say it for each of {n} rows; got {len(units)}.")
        return cls(rows, labels, labels[first], coded.truth, names, positive, units)

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.codes)


def _as_rows(X: Any) -> Any:
    """Leave data frames, sparse matrices and lists of texts alone; make arrays of the rest."""
    if hasattr(X, "iloc") or hasattr(X, "get_columns"):  # of pandas, of polars
        return X
    if hasattr(X, "tocsr"):
        check_intact(X)
        return X.tocsr()
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], str):
        return list(X)
    try:
        rows = np.asarray(X)
    except ValueError as problem:  # NumPy makes no array of rows of several lengths
        raise InputError(
            f"`X` must have rows of one length; got {shown(X)}. Fill the shorter ones, or give "
            "each example one text."
        ) from problem
    if rows.ndim == 0:
        raise InputError(f"`X` must have one row for each example; got {type(X).__name__}.")
    return rows


def _as_labels(y: Any) -> NDArray[Any]:
    remedy = (
        " Sets of labels are judged one at a time: estimate each column by itself, or use "
        "tr.estimate_corpus for texts."
    )
    return _one_column(y, "y", "label", remedy)


def _as_groups(groups: Any) -> NDArray[Any]:
    column = _one_column(groups, "groups", "group")
    # Dates that are missing are None among objects; among dates they would be one group.
    return column.astype(object) if column.dtype.kind in "mM" else column


def _one_column(given: Any, name: str, what: str, remedy: str = "") -> NDArray[Any]:
    """Make an array of one entry for each example; a table of one column is a column."""
    try:
        column = as_column(given)
    except ValueError as problem:  # NumPy makes no array of collections of several lengths
        raise InputError(
            f"`{name}` must be one {what} for each example; got {shown(given)}.{remedy}"
        ) from problem
    if column.ndim == 2 and column.shape[1] == 1:
        return column.ravel()
    if column.ndim != 1:
        raise InputError(
            f"`{name}` must be one {what} for each example; got shape {column.shape}.{remedy}"
        )
    return column


def _names_of_classes(coded: CodedLabels) -> tuple[str, ...]:
    """Name the classes, of which there must be two, each with a name."""
    names = tuple(one[0] for one in coded.members)
    if "" in names:
        empty = counted(coded.truth == names.index(""), "empty")
        raise InputError(
            f"`y` must have a label everywhere; {empty}. Drop these examples first, or give the "
            "class a name."
        )
    if len(names) < 2:
        raise InputError(
            f"`y` must hold two classes or more; all {len(coded.truth)} are {names[0]!r}. "
            "Nothing can be learnt from one."
        )
    return names


def _named(pos_label: Any, names: tuple[str, ...]) -> str:
    """Name the positive class as the classes are named, where 1.0 is 1."""
    positive = label_among(pos_label, names)
    if positive not in names:
        raise InputError(f"`pos_label` must be one of {', '.join(names[:10])}; got {positive}.")
    return positive
