"""Labels handed over as arrays → small integer codes and their texts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError

LARGEST_TABLE = 2**16  # integers of a smaller span are coded by a look-up, not by sorting
# Booleans as Python, Arrow and R write them.
BOOLEANS = (("False", "True"), ("false", "true"), ("FALSE", "TRUE"))
PLAIN_PAIRS = (("0", "1"), ("-1", "1"), *BOOLEANS)
# What to do about labels with a fraction, by the name of their argument.
REMEDIES = {"y": "Numbers with a fraction are measurements, not classes."}


@dataclass(frozen=True)
class CodedLabels:
    """Two columns of labels as codes of one list; `members[code]` is the label set of a code."""

    truth: NDArray[Any]
    predicted: NDArray[Any] | None
    members: tuple[tuple[str, ...], ...]
    multilabel: bool = False


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Sort labels as people do: whole numbers by value, everything else as text.

    Examples
    --------
    >>> in_order({"10", "9", "-1"})
    ('-1', '9', '10')
    >>> in_order({"10", "9", "a"})
    ('10', '9', 'a')
    """
    found = list(labels)
    if all(label.lstrip("-").isdecimal() for label in found):
        return tuple(sorted(found, key=lambda label: (int(label), label)))
    return tuple(sorted(found))


def plain_positive(labels: Collection[str]) -> str | None:
    """Give the positive label of {0, 1}, {-1, 1} or booleans; None for any other labels.

    Examples
    --------
    >>> plain_positive({"-1", "1"}), plain_positive({"ham", "spam"})
    ('1', None)
    """
    for pair in PLAIN_PAIRS:
        if labels and set(labels) <= set(pair):
            return pair[1]
    return None


def as_column(column: Any) -> NDArray[Any]:  # noqa: ANN401
    """Make an array of a column without changing what is in it.

    In a list with a text NumPy writes everything out as text, NaN as "nan" and 1 as "1", and drops
    NUL characters: then the array is one of Python objects.

    Examples
    --------
    >>> as_column(["a", float("nan"), 1])
    array(['a', nan, 1], dtype=object)
    >>> as_column(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    """
    array = np.asarray(column)
    if array.dtype.kind != "U" or hasattr(column, "dtype"):
        return array
    things = np.array(column, dtype=object)
    return array if array.tolist() == things.tolist() else things


def code_labels(y_true: Any, y_pred: Any = None, *, name: str = "y_true") -> CodedLabels:  # noqa: ANN401
    """Code single labels: integers, booleans or texts, of one kind in both columns.

    `name` is what messages call the first column.

    Examples
    --------
    >>> coded = code_labels(["b", "a"], ["b", "b"])
    >>> coded.truth.tolist(), coded.predicted.tolist(), coded.members
    ([1, 0], [1, 1], (('a',), ('b',)))
    """
    columns = {name: _as_labels(y_true, name)}
    if y_pred is not None:
        columns["y_pred"] = _as_labels(y_pred, "y_pred")
    _refuse_mixed_kinds(columns)
    coded = [_distinct_and_codes(column) for column in columns.values()]
    values = np.unique(np.concatenate([distinct for distinct, _ in coded]))
    places = [np.searchsorted(values, distinct).astype(np.int32) for distinct, _ in coded]
    codes = [
        place[code] if not np.array_equal(place, np.arange(len(place))) else code
        for place, (_, code) in zip(places, coded, strict=True)
    ]
    members = tuple((str(value),) for value in values.tolist())
    return CodedLabels(codes[0], codes[1] if len(codes) > 1 else None, members)


def code_label_sets(
    y_true: Any,  # noqa: ANN401
    y_pred: Any = None,  # noqa: ANN401
    labels: Sequence[Any] | None = None,
) -> CodedLabels:
    """Code sets of labels: two n × K indicator matrices, or two sequences of collections.

    Examples
    --------
    >>> coded = code_label_sets([{"a"}, {"a", "b"}], [{"a"}, set()])
    >>> [coded.members[code] for code in coded.predicted]
    [('a',), ()]
    """
    book: dict[tuple[str, ...], int] = {}
    columns = []
    for name, column in (("y_true", y_true), ("y_pred", y_pred)):
        if column is None:
            continue
        if hasattr(column, "ndim") and column.ndim == 2:
            columns.append(_code_indicators(np.asarray(column), name, labels, book))
        else:
            codes = [book.setdefault(_label_set(entry, name), len(book)) for entry in column]
            columns.append(np.array(codes, dtype=np.int32))
    second = columns[1] if len(columns) > 1 else None
    return CodedLabels(columns[0], second, tuple(book), multilabel=True)


def code_groups(groups: Any) -> NDArray[np.intp]:  # noqa: ANN401
    """Give the groups of examples numbers from 0.

    Examples
    --------
    >>> code_groups(["b", "a", "b"])
    array([1, 0, 1])
    """
    column = np.asarray(groups)
    if column.dtype.kind in "fO":
        missing = sum(map(_is_missing, column.tolist()))
        if missing:
            raise InputError(
                f"`groups` must have a value for every example; {missing} are missing. "
                "Give an example that stands alone a group of its own."
            )
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # no order among them
        kinds = ", ".join(sorted({type(one).__name__ for one in column.tolist()}))
        raise InputError(f"`groups` must hold values of one type; got {kinds}.") from None


def _code_indicators(
    matrix: NDArray[Any],
    name: str,
    labels: Sequence[Any] | None,
    book: dict[tuple[str, ...], int],
) -> NDArray[np.int32]:
    if not np.isin(matrix, (0, 1)).all():
        raise InputError(
            f"`{name}` must hold only 0 and 1 when it is a matrix of label indicators."
        )
    names = [str(label) for label in (range(matrix.shape[1]) if labels is None else labels)]
    if len(names) != matrix.shape[1]:
        raise InputError(
            f"`labels` must name the {matrix.shape[1]} columns of `{name}`; got {len(names)}."
        )
    patterns, at = np.unique(matrix.astype(bool), axis=0, return_inverse=True)
    sets = [tuple(sorted(names[k] for k in np.flatnonzero(row))) for row in patterns]
    places = np.array([book.setdefault(one, len(book)) for one in sets], dtype=np.int32)
    return places[at.ravel()]


def _label_set(entry: Any, name: str) -> tuple[str, ...]:  # noqa: ANN401
    if isinstance(entry, str) or not isinstance(entry, Iterable):
        raise InputError(
            f"`{name}` must hold a collection of labels for each example; got {shown(entry)}. "
            "Leave `multilabel` out for one label an example."
        )
    return tuple(sorted({str(label) for label in entry}))


def _as_labels(column: Any, name: str) -> NDArray[Any]:  # noqa: ANN401
    array = np.asarray(column)
    if array.ndim != 1:
        raise InputError(f"`{name}` must be one column of labels; got shape {array.shape}.")
    if array.dtype.kind == "U" and array is not column:
        _refuse_nul(column, name)
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)):
            count = int(np.count_nonzero(~np.isfinite(array)))
            raise InputError(f"`{name}` must have a label everywhere; {count} are NaN or infinite.")
        if not np.array_equal(array, np.floor(array)):
            first = array[array != np.floor(array)][0]
            remedy = REMEDIES.get(name, "Hand scores to `y_score`.")
            raise InputError(f"`{name}` must hold labels; got {shown(float(first))}. {remedy}")
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        return _texts_of_one_kind(array, name)
    if array.dtype.kind not in "biuUT":
        raise InputError(f"`{name}` must hold integers, booleans or texts; got {array.dtype}.")
    return array


def _refuse_nul(column: Iterable[Any], name: str) -> None:
    """Refuse the character that NumPy drops from the end of a text: two labels would be one."""
    wrong = next((text for text in column if isinstance(text, str) and "\0" in text), None)
    if wrong is not None:
        raise InputError(f"`{name}` must hold labels without NUL characters; got {shown(wrong)}.")


def _texts_of_one_kind(array: NDArray[Any], name: str) -> NDArray[Any]:
    kinds = {type(value) for value in array.tolist()}
    if kinds <= {str}:
        _refuse_nul(array, name)
        return array.astype(np.str_)
    if kinds <= {bool} or kinds <= {int}:
        return np.array(array.tolist())
    missing = sum(map(_is_missing, array.tolist()))
    if missing:
        raise InputError(f"`{name}` must have a label everywhere; {missing} are missing.")
    listed = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"`{name}` must hold labels of one type; got {listed}.")


def _is_missing(value: Any) -> bool:  # noqa: ANN401
    """Tell None, NaN and NaT, which differ from themselves, and NA of pandas, which may."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _refuse_mixed_kinds(columns: dict[str, NDArray[Any]]) -> None:
    families = {
        name: "text" if column.dtype.kind in "UT" else "number" for name, column in columns.items()
    }
    if len(set(families.values())) > 1:
        sets = "; ".join(
            f"`{name}` holds {shown(np.unique(column[:1000]).tolist()[:5])}"
            for name, column in columns.items()
        )
        raise InputError(
            f"`y_true` and `y_pred` must hold labels of one type; {sets}. "
            "Convert one of them: '1' and 1 are different labels."
        )


def _distinct_and_codes(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give the sorted distinct values of a column, and the place of each entry among them."""
    if column.dtype.kind == "b":
        column = column.view(np.uint8)
        present = np.flatnonzero(np.bincount(column, minlength=2)).astype(bool)
        return present, column if len(present) == 2 else np.zeros(len(column), dtype=np.uint8)
    if column.dtype.kind in "iu" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < LARGEST_TABLE:
            return _coded_by_table(column, low, high)
    distinct, codes = np.unique(column, return_inverse=True)
    return distinct, codes.astype(np.int32)


def _coded_by_table(column: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], NDArray[Any]]:
    from_zero = column if low == 0 else column - column.dtype.type(low)
    present = np.flatnonzero(np.bincount(from_zero, minlength=high - low + 1))
    if len(present) == high - low + 1:
        return present + low, from_zero
    place = np.zeros(high - low + 1, dtype=np.int32)
    place[present] = np.arange(len(present), dtype=np.int32)
    return present + low, place[from_zero]
