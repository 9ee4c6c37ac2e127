"""Columns in memory → arrays and codes: lists, NumPy, frames of any library, sparse matrices."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes, Flags, Indices
from truerisk.checks import counted, shown
from truerisk.errors import InputError
from truerisk.labels import LARGEST_WHOLE

LARGEST_TABLE = 2**16  # integers of a smaller span are coded by a look-up, not by sorting
MEASUREMENTS = "Numbers with a fraction are measurements, not classes."
COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)

Members = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class ColumnNames:
    """What messages call the columns of one model, and the argument that takes its scores."""

    true: str = "y_true"
    pred: str = "y_pred"
    score: str = "y_score"
    score_argument: str = "y_score"


ONE_MODEL = ColumnNames()


@dataclass(frozen=True)
class CodedLabels:
    """Two columns of labels as codes of one list; `members[code]` is the label set of a code."""

    truth: NDArray[Any]
    predicted: NDArray[Any] | None
    members: tuple[tuple[str, ...], ...]
    multilabel: bool = False


def as_column(column: Any, name: str = "") -> NDArray[Any]:
    """Make an array of a column or a frame without changing what is in it.

    In a list with a text NumPy writes everything out as text, NaN as "nan" and 1 as "1", and drops
    NUL characters: then the array is one of Python objects.  `name` is what messages call it.
    """
    if isinstance(column, np.ndarray):
        return column if type(column) is np.ndarray else _plain_array(column, name)
    if not isinstance(column, (list, tuple)):
        column = _native_array(column, name)
    array = np.asarray(column)
    if array.dtype.kind != "U" or hasattr(column, "dtype"):
        return array
    if set(map(type, column)) == {str} and not _has_nul(column):
        return array
    things = np.array(column, dtype=object)
    return array if array.tolist() == things.tolist() else things


def _called(name: str) -> str:
    return f"`{name}`" if name else "A column"


def _plain_array(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Make an array of a kind of array; where it is masked, there is no value."""
    mask = np.asarray(getattr(column, "mask", False))
    if mask.any():
        raise InputError(
            f"{_called(name)} must have a value everywhere; {counted(mask, 'masked')}. "
            "Drop these examples first."
        )
    return np.asarray(column)


def _native_array(column: Any, name: str) -> Any:
    """Make an array of a series or a frame of any library, or of what another library exports."""
    if _is_frame_library(column):
        import narwhals

        native = narwhals.from_native(column, allow_series=True, pass_through=True)
        if native is not column:
            return native.to_numpy()
    if not hasattr(column, "__array__") and hasattr(column, "__dlpack__"):
        return np.from_dlpack(column)
    if isinstance(column, (set, frozenset, dict)):
        raise InputError(
            f"{_called(name)} must have an order; got a {type(column).__name__}. Make a list of it."
        )
    return column


def _is_frame_library(column: Any) -> bool:
    return any(hasattr(column, name) for name in ("__dataframe__", "__arrow_c_stream__", "iloc"))


def is_sparse(column: Any) -> bool:
    """Whether a column is a sparse matrix of SciPy."""
    return hasattr(column, "tocsr") and hasattr(column, "nnz")


def column_names(column: Any) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame; None for what has no such names."""
    if isinstance(column, np.ndarray) or not _is_frame_library(column):
        return None
    names = getattr(column, "column_names", getattr(column, "columns", None))
    return None if names is None or callable(names) else tuple(map(str, names))


def number_of_rows(column: Any, name: str = "") -> int:
    """Return the length of anything that may be a column; `name` is what messages call it."""
    shape = getattr(column, "shape", None)
    if not shape and not hasattr(column, "__len__"):
        raise InputError(
            f"{_called(name)} must have a length; got {shown(column)}. Make a list of it."
        )
    return int(shape[0]) if shape else len(column)


def check_row_labels(**columns: Any) -> None:
    """Refuse series of pandas that carry the same row labels in different orders.

    Where the labels are not the same set, the position of a row is meant, as in scikit-learn.
    """
    indices = {name: one.index for name, one in columns.items() if hasattr(one, "iloc")}
    if len(indices) < 2:
        return
    (first, index), *others = indices.items()
    for name, other in others:
        if len(index) != len(other) or index.equals(other):
            continue
        if index.sort_values().equals(other.sort_values()):
            raise InputError(
                f"`{first}` and `{name}` must have their rows in one order; their indices hold the "
                f"same labels in different orders. Align them ({_aligned(name, first)}), or use "
                ".to_numpy() to pair them by position."
            )


def _aligned(name: str, first: str) -> str:
    return f"{name if name.isidentifier() else 'them'}.loc[{first}.index]"


def code_labels(y_true: Any, y_pred: Any = None, *, names: ColumnNames = ONE_MODEL) -> CodedLabels:
    """Code single labels: integers, booleans or texts, of one kind in both columns."""
    columns = {names.true: _as_labels(y_true, names.true, MEASUREMENTS)}
    if y_pred is not None:
        remedy = f"Hand scores to `{names.score_argument}`."
        columns[names.pred] = _as_labels(y_pred, names.pred, remedy)
    _refuse_mixed_kinds(columns)
    coded = [_distinct_and_codes(column) for column in columns.values()]
    # np.unique loads np.ma at its first call, which takes as long as 30,000 rows.
    values = np.sort(np.concatenate(_in_one_type([distinct for distinct, _ in coded])))
    values = values[np.append(True, values[1:] != values[:-1])]
    places = [np.searchsorted(values, distinct).astype(np.int32) for distinct, _ in coded]
    codes = [
        place[code] if not np.array_equal(place, np.arange(len(place))) else code
        for place, (_, code) in zip(places, coded, strict=True)
    ]
    members = tuple((str(value),) for value in values.tolist())
    return CodedLabels(codes[0], codes[1] if len(codes) > 1 else None, members)


def code_label_sets(
    y_true: Any,
    y_pred: Any = None,
    labels: Sequence[Any] | None = None,
    *,
    names: ColumnNames = ONE_MODEL,
) -> CodedLabels:
    """Code sets of labels: n × K indicators, dense or sparse, or sequences of collections."""
    book: dict[tuple[str, ...], int] = {}
    columns = []
    for name, column in ((names.true, y_true), (names.pred, y_pred)):
        if column is None:
            continue
        if is_indicator(column):
            columns.append(_code_indicators(column, name, labels, book))
        else:
            codes = [book.setdefault(_label_set(entry, name), len(book)) for entry in column]
            columns.append(np.array(codes, dtype=np.int32))
    second = columns[1] if len(columns) > 1 else None
    return CodedLabels(columns[0], second, tuple(book), multilabel=True)


def is_indicator(column: Any) -> bool:
    """Whether a column is a matrix, dense or sparse, or a frame; not a sequence of collections."""
    return len(getattr(column, "shape", ())) == 2


def indicator_names(column: Any, labels: Sequence[Any] | None) -> tuple[str, ...] | None:
    """Return the labels of the columns of indicators: as given, of the frame, or numbers from 0."""
    if labels is not None:
        return tuple(map(str, labels))
    if not is_indicator(column):
        return None
    return column_names(column) or tuple(map(str, range(column.shape[1])))


def code_groups(groups: Any) -> Indices:
    """Give the groups of examples numbers from 0."""
    column = as_column(groups, "groups")
    if column.dtype.kind in "fO":
        missing = list(map(_is_missing, column.tolist()))
        if any(missing):
            raise InputError(
                f"`groups` must have a value for every example; {counted(missing, 'missing')}. "
                "Give an example that stands alone a group of its own."
            )
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # no order among them
        kinds = ", ".join(sorted({type(one).__name__ for one in column.tolist()}))
        raise InputError(f"`groups` must hold values of one type; got {kinds}.") from None


def as_scores(scores: Any, name: str = "y_score", *, allow_inf: bool = False) -> NDArray[Any]:
    """Check scores: n finite numbers, or an n × K matrix of them."""
    if is_sparse(scores):
        raise InputError(f"`{name}` must be dense; got a sparse matrix. Use .toarray().")
    table = _as_numbers(as_column(scores, name))
    if table.ndim not in {1, 2} or table.dtype.kind not in "fiub":
        raise InputError(
            f"`{name}` must be numbers, n of them or an n × K matrix; "
            f"got {table.dtype} of shape {table.shape}."
        )
    if table.dtype.kind != "f" or np.isfinite(table).all():
        return table
    missing = np.isnan(table)
    if missing.any():
        raise InputError(
            f"`{name}` must be numbers; {counted(missing, 'NaN')}. Drop these examples first."
        )
    if not allow_inf:
        remedy = " Use allow_inf=True where only the order of the scores counts."
        raise InputError(
            f"`{name}` must be finite; {counted(np.isinf(table), 'infinite')}."
            f"{remedy if name == 'y_score' else ''}"
        )
    return table


def _as_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Read a column of Python's numbers, such as decimals of a database; None is NaN."""
    if column.dtype.kind != "O":
        return column
    things = column.ravel().tolist()
    if not all(isinstance(one, (Real, Decimal)) or _is_missing(one) for one in things):
        return column
    numbers = [np.nan if _is_missing(one) else float(one) for one in things]
    return np.array(numbers, dtype=np.float64).reshape(column.shape)


def check_weights(sample_weight: Any) -> Array:
    """Check weights: one finite number for each example, not negative, not all 0."""
    weights = _as_numbers(as_column(sample_weight, "sample_weight"))
    if weights.ndim != 1 or weights.dtype.kind not in "fiub":
        raise InputError(
            f"`sample_weight` must be one number for each example; "
            f"got {weights.dtype} of shape {weights.shape}."
        )
    weights = weights.astype(np.float64, copy=False)
    wrong = ~(weights >= 0) | np.isinf(weights)
    if wrong.any():
        raise InputError(
            f"`sample_weight` must be finite and not negative; got {weights[wrong][0]:g} "
            f"({counted(wrong, 'wrong')})."
        )
    if not weights.any():
        raise InputError("`sample_weight` must not be 0 for every example.")
    return weights


def _code_indicators(
    column: Any, name: str, labels: Sequence[Any] | None, book: dict[tuple[str, ...], int]
) -> Codes:
    names = indicator_names(column, labels) or ()
    width = column.shape[1]
    if len(names) != width:
        raise InputError(f"`labels` must name the {width} columns of `{name}`; got {len(names)}.")
    if is_sparse(column):
        patterns, at = _sparse_patterns(column, name)
    else:
        matrix = as_column(column, name)
        _refuse_other_than_indicators(matrix, name)
        patterns, at = _distinct_rows(matrix.astype(bool))
    sets = [tuple(sorted([names[k] for k in row])) for row in patterns]
    places = np.array([book.setdefault(one, len(book)) for one in sets], dtype=np.int32)
    return places[np.ravel(at)]


def _distinct_rows(flags: Flags) -> tuple[list[list[int]], Indices]:
    """List the columns that are set in each distinct row, and which of these each row is."""
    packed = np.packbits(flags, axis=1)
    words = np.zeros((len(flags), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    columns = words.view(np.uint64).T
    order = np.lexsort(columns)
    ordered = columns[:, order]
    is_new = np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0))[: len(order)]
    at = np.empty(len(order), dtype=np.intp)
    at[order] = np.cumsum(is_new) - 1
    distinct = flags[order[is_new]]
    places, ends = np.nonzero(distinct)[1].tolist(), np.cumsum(distinct.sum(axis=1)).tolist()
    return [places[start:end] for start, end in pairwise([0, *ends])], at


def _sparse_patterns(column: Any, name: str) -> tuple[list[Any], Indices]:
    """List the distinct rows of a sparse matrix, and which of them each row is."""
    matrix = column.tocsr(copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    _refuse_other_than_indicators(matrix.data, name)
    book: dict[bytes, int] = {}
    patterns: list[Any] = []
    at = np.empty(matrix.shape[0], dtype=np.intp)
    for row, (start, end) in enumerate(pairwise(matrix.indptr.tolist())):
        entries = matrix.indices[start:end]
        at[row] = book.setdefault(entries.tobytes(), len(book))
        if len(book) > len(patterns):
            patterns.append(entries)
    return patterns, at


def _refuse_other_than_indicators(values: NDArray[Any], name: str) -> None:
    if not np.isin(values, (0, 1)).all():
        raise InputError(
            f"`{name}` must hold only 0 and 1 when it is a matrix of label indicators."
        )


def _label_set(entry: Any, name: str) -> tuple[str, ...]:
    if isinstance(entry, str) or not isinstance(entry, Iterable):
        raise InputError(
            f"`{name}` must hold a collection of labels for each example; got {shown(entry)}. "
            "Leave `multilabel` out for one label per example."
        )
    return tuple(sorted({str(label) for label in entry}))


def _as_labels(column: Any, name: str, of_fractions: str) -> NDArray[Any]:
    """Check a column of labels; `of_fractions` is the remedy for numbers with a fraction."""
    of_sets = "Use multilabel=True for sets of labels."
    if is_sparse(column):
        raise InputError(f"`{name}` must be one column of labels; got a sparse matrix. {of_sets}")
    try:
        array = as_column(column, name)
    except InputError:
        raise
    except ValueError:  # NumPy makes no array of collections of several lengths
        raise _collections(column, name) from None
    if array.ndim != 1:
        collections = isinstance(column, (list, tuple)) and array.ndim == 2
        if collections and array.dtype.kind in "UO":
            raise _collections(column, name)
        flat = "Use .ravel(), of a frame its column. " if array.shape[1:] == (1,) else ""
        raise InputError(
            f"`{name}` must be one column of labels; got shape {array.shape}. {flat}{of_sets}"
        )
    if array.dtype.kind == "U" and array is not column:
        _refuse_nul(column if isinstance(column, (list, tuple)) else array.tolist(), name)
    if array.dtype.kind == "f":
        return _whole_labels(array, name, of_fractions)
    if array.dtype.kind == "O":
        return _texts_of_one_kind(array, name, of_fractions)
    if array.dtype.kind not in "biuUT":
        raise InputError(
            f"`{name}` must hold integers, booleans or texts; got {array.dtype}. "
            "Use .astype(str) to make texts of them."
        )
    return array


def _collections(column: Any, name: str) -> InputError:
    first = next((one for one in column if isinstance(one, COLLECTIONS)), column)
    return InputError(
        f"`{name}` must hold one label for each example; got {shown(first)}. Use multilabel=True "
        "for sets of labels."
    )


def _whole_labels(array: NDArray[Any], name: str, of_fractions: str) -> NDArray[np.int64]:
    wrong = ~np.isfinite(array)
    if wrong.any():
        raise InputError(
            f"`{name}` must have a label everywhere; {counted(wrong, 'NaN or infinite')}. "
            "Drop these examples first."
        )
    if not np.array_equal(array, np.floor(array)):
        first = array[array != np.floor(array)][0]
        raise InputError(f"`{name}` must hold labels; got {shown(float(first))}. {of_fractions}")
    extreme = np.abs(array) > LARGEST_WHOLE
    if extreme.any():
        raise InputError(
            f"`{name}` must hold labels; got {shown(float(array[extreme][0]))}, and floating-point "
            "numbers over 2**53 are rounded: two labels may have become one. Give them as integers "
            "or texts."
        )
    return array.astype(np.int64)


def _refuse_nul(column: Iterable[Any], name: str) -> None:
    """Refuse the character that NumPy drops from the end of a text: two labels would be one."""
    if _has_nul(column):
        wrong = next(text for text in column if "\0" in text)
        raise InputError(f"`{name}` must hold labels without NUL characters; got {shown(wrong)}.")


def _has_nul(texts: Iterable[str]) -> bool:
    return "\0" in "".join(texts)  # several times as fast as a look at each text


def _texts_of_one_kind(array: NDArray[Any], name: str, of_fractions: str) -> NDArray[Any]:
    kinds = {type(value) for value in array.tolist()}
    if kinds <= {str}:
        _refuse_nul(array, name)
        return array.astype(np.str_)
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return np.array(array.tolist(), dtype=np.bool_)
    if all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in kinds):
        return np.array([int(value) for value in array.tolist()])
    if any(issubclass(kind, COLLECTIONS) for kind in kinds):
        raise _collections(array, name)
    missing = list(map(_is_missing, array.tolist()))
    if any(missing):
        raise InputError(
            f"`{name}` must have a label everywhere; {counted(missing, 'missing')}. "
            "Drop these examples first."
        )
    if all(issubclass(kind, Real) and not issubclass(kind, bool) for kind in kinds):
        return _whole_labels(np.array(array.tolist(), dtype=np.float64), name, of_fractions)
    listed = ", ".join(sorted(kind.__name__ for kind in kinds))
    which = f"labels of one type; got {listed}" if len(kinds) > 1 else f"labels; got {listed}"
    raise InputError(f"`{name}` must hold {which}. Make texts of them.")


def missing_in(column: NDArray[Any]) -> Flags:
    """Say which rows of a column have no value: nothing, an empty text, NaN."""
    if column.dtype.kind in "iufMm":
        return np.asarray(np.isnat(column) if column.dtype.kind in "Mm" else np.isnan(column))
    return np.array([_is_missing(value) or value == "" for value in column.tolist()], dtype=bool)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or NaT, which differ from themselves, or NA of pandas."""
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
        both = " and ".join(f"`{name}`" for name in families)
        raise InputError(
            f"{both} must hold labels of one type; {sets}. "
            "Convert one of them: '1' and 1 are different labels."
        )


def _in_one_type(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Make signed and unsigned integers comparable: NumPy would make floating-point numbers."""
    if np.result_type(*columns).kind != "f":
        return columns
    largest = max(int(column.max(initial=0)) for column in columns)
    kind = np.int64 if largest <= np.iinfo(np.int64).max else np.object_
    return [column.astype(kind) for column in columns]


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
