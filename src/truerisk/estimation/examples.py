"""Data as a learner gets them: rows, labels and groups, checked once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.evaluation.positive import positive_of_two
from truerisk.tallies.labels import code_groups, code_labels


@dataclass(frozen=True)
class Examples:
    """Rows, their labels as given, and the same labels as positions in `values`.

    `labels` are the values as text; `groups` are numbers from 0; `positive` is None for more than
    two classes.

    Examples
    --------
    >>> examples = Examples.of([[0.0], [1.0], [2.0]], ["no", "yes", "no"], positive="yes")
    >>> examples.codes.tolist(), examples.labels, examples.positive
    ([0, 1, 0], ('no', 'yes'), 'yes')
    """

    X: Any
    y: NDArray[Any]
    values: NDArray[Any]
    codes: NDArray[Any]
    labels: tuple[str, ...]
    positive: str | None
    groups: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        X: Any,  # noqa: ANN401
        y: Any,  # noqa: ANN401
        groups: Any = None,  # noqa: ANN401
        positive: Any = None,  # noqa: ANN401
    ) -> "Examples":
        """Check that rows, labels and groups belong together."""
        rows = _as_rows(X)
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.ravel()
        if labels.ndim != 1:
            raise InputError(
                f"`y` must be one label for each example; got shape {labels.shape}. Sets of labels "
                "are judged one at a time: estimate each column by itself, or use "
                "tr.estimate_corpus for texts."
            )
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if len(labels) != n:
            raise InputError(f"`y` must have a label for each of {n} rows; got {len(labels)}.")
        if n < 2:
            raise InputError(f"`X` must have at least two rows to divide; got {n}.")
        coded = code_labels(labels)
        if len(coded.members) < 2:
            raise InputError(
                f"`y` must hold two classes or more; all {n} are {coded.members[0][0]!r}. "
                "Nothing can be learnt from one."
            )
        names = tuple(one[0] for one in coded.members)
        asked = None if positive is None else str(positive)
        if asked is not None and asked not in names:
            raise InputError(f"`positive` must be one of {', '.join(names[:10])}; got {asked}.")
        asked = positive_of_two(names, asked) if len(names) == 2 else None
        _, first = np.unique(coded.truth, return_index=True)
        units = None if groups is None else code_groups(groups)
        if units is not None and len(units) != n:
            raise InputError(f"`groups` must say it for each of {n} rows; got {len(units)}.")
        return cls(rows, labels, labels[first], coded.truth, names, asked, units)

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.codes)


def _as_rows(X: Any) -> Any:  # noqa: ANN401
    """Leave data frames, sparse matrices and lists of texts alone; make arrays of the rest."""
    if hasattr(X, "iloc"):
        return X
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], str):
        return list(X)
    rows = np.asarray(X)
    if rows.ndim == 0:
        raise InputError(f"`X` must have one row for each example; got {type(X).__name__}.")
    return rows
