"""How often each pair of codes occurs: the confusion table of two columns.

Few rows are counted by NumPy; of more, a compiled loop reads each row once, checks included, and
from a million on they are shared among threads.  Two columns of 0 and 1 need no table: three sums,
which the processor takes several rows at a time, are enough.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_same_length, check_whole_number
from truerisk.errors import InputError
from truerisk.kernels import in_threads, threads_for

COMPILED_FROM = 2**15  # rows; below it, NumPy is as fast
LARGEST_SPAN = 1024  # integer labels of a smaller span are counted in a table of that width
GUESSED_LOW = -128  # most integer labels are small: they are counted without being looked at first
GUESSED_SPAN = 256
FIRST_ROWS = 1000  # other labels than 0 and 1 mostly occur among them
BLOCK = 2**16  # rows of columns of two types that are converted at a time
CODE_DTYPES = "int8, int16, int32, int64, uint8, uint16, uint32 or uint64"


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Give the distinct values in order.

    np.unique loads np.ma at its first call, which takes as long as `evaluate` of 30,000 rows.
    """
    ordered = np.sort(values, axis=None)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def count_pairs(
    first: NDArray[Any], second: NDArray[Any], n_first: int, n_second: int
) -> NDArray[np.int64]:
    """Count the rows that have code i in the first column and code j in the second, exactly.

    Codes run from 0 to n − 1; any other is refused.
    """
    check_whole_number(n_first, "n_first", low=1)
    check_whole_number(n_second, "n_second", low=1)
    n = _check_columns(first, second)
    if n >= COMPILED_FROM and n_first * n_second <= LARGEST_SPAN**2:
        spans = n_first, n_second
        table = _count_binary(first, second) if spans == (2, 2) else None
        if table is None:
            table = _count_table(first, second, (0, 0), spans)
        if table is not None:
            return table
    _refuse_strange_codes(first, n_first, "first")
    _refuse_strange_codes(second, n_second, "second")
    if n_first == n_second == 2:
        both = np.count_nonzero(first & second)
        ones = np.count_nonzero(first), np.count_nonzero(second)
        return np.array([[n - sum(ones) + both, ones[1] - both], [ones[0] - both, both]])
    pairs = first.astype(np.int64) * n_second + second
    return np.bincount(pairs, minlength=n_first * n_second).reshape(n_first, n_second)


def count_labels(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the pairs of two columns of integer labels that need not be codes.

    Returns the labels that occur in either column, ascending, and the square table of counts.
    """
    n = _check_columns(first, second)
    counts = None
    if n >= COMPILED_FROM:
        counts = _count_small_labels(first, second)
    if counts is None:
        labels = np.union1d(first, second)
        width = len(labels)
        row, column = np.searchsorted(labels, first), np.searchsorted(labels, second)
        table = count_pairs(row, column, width, width)
    else:
        low, table = counts
        labels = np.arange(low, low + len(table))
    present = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return labels[present].astype(np.int64), table[np.ix_(present, present)]


def _count_binary(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64] | None:
    """Count two columns of 0 and 1; None when something else occurs."""
    from truerisk.kernels import counts as kernel

    # Read as signed, a large unsigned value shows as a sign bit, and sums stay integers.
    columns = [column.view(f"i{column.dtype.itemsize}") for column in (first, second)]
    if any(np.any(column[:FIRST_ROWS] & -2) for column in columns):
        return None

    def count(part: slice) -> list[tuple[int, int, int, int]]:
        return [kernel.count_ones(*pair) for pair in _of_one_type(columns[0], columns[1], part)]

    parts = _parts(len(first))
    sums = [*itertools.chain.from_iterable(in_threads(count, parts, threads=len(parts)))]
    if any(bits not in (0, 1) for *_, bits in sums):
        return None
    ones_first, ones_second, both = (sum(column) for column in list(zip(*sums, strict=True))[:3])
    neither = len(first) - ones_first - ones_second + both
    return np.array([[neither, ones_second - both], [ones_first - both, both]], dtype=np.int64)


def _count_table(
    first: NDArray[Any], second: NDArray[Any], low: tuple[int, int], span: tuple[int, int]
) -> NDArray[np.int64] | None:
    """Count all rows in threads; None when some lie outside of the table."""
    from truerisk.kernels import counts as kernel

    parts = _parts(len(first))
    tables = [np.zeros(span[0] * span[1], dtype=np.int64) for _ in parts]

    def count(part: slice, table: NDArray[np.int64]) -> int:
        pairs = _of_one_type(first, second, part)
        return sum(kernel.count_pairs(*pair, *low, *span, table) for pair in pairs)

    outside = sum(in_threads(count, parts, tables, threads=len(parts)))
    return None if outside else sum(tables[1:], start=tables[0]).reshape(span)


def _count_small_labels(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[int, NDArray[np.int64]] | None:
    """Count labels of a small span; give the least label with the table, or None if too wide."""
    table = _count_binary(first, second)
    if table is not None:
        return 0, table
    if np.uint64 in (first.dtype, second.dtype):
        return None  # the sweep reads int64, where the largest of them would turn negative
    table = _count_table(first, second, (GUESSED_LOW,) * 2, (GUESSED_SPAN,) * 2)
    if table is not None:
        return GUESSED_LOW, table
    low = min(int(first.min()), int(second.min()))
    span = max(int(first.max()), int(second.max())) - low + 1
    if span > LARGEST_SPAN:
        return None
    table = _count_table(first, second, (low, low), (span, span))
    return None if table is None else (low, table)


def _parts(rows: int) -> list[slice]:
    threads = threads_for(rows)
    ends = [rows * part // threads for part in range(threads + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def _of_one_type(
    first: NDArray[Any], second: NDArray[Any], part: slice
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Give the rows of a part as two plain columns of one type: if need be int64, in blocks."""
    first, second = first[part], second[part]
    plain = all(column.dtype.isnative and column.flags.c_contiguous for column in (first, second))
    if first.dtype == second.dtype and plain:
        # A uint64 beyond 2⁶³ turns negative, and so lies outside of every table that is tried.
        kind = np.int64 if first.dtype == np.uint64 else first.dtype
        yield first.view(kind), second.view(kind)
        return
    for start in range(0, len(first), BLOCK):
        rows = slice(start, start + BLOCK)
        yield first[rows].astype(np.int64), second[rows].astype(np.int64)


def _check_columns(first: NDArray[Any], second: NDArray[Any]) -> int:
    for name, column in (("first", first), ("second", second)):
        if column.ndim != 1 or column.dtype.kind not in "iu":
            raise InputError(
                f"`{name}` must be one column of {CODE_DTYPES}; "
                f"got {column.dtype} of shape {column.shape}."
            )
    return check_same_length(first=first, second=second)


def _refuse_strange_codes(column: NDArray[Any], n_codes: int, name: str) -> None:
    low, high = int(column.min()), int(column.max())
    if low < 0 or high >= n_codes:
        strange = low if low < 0 else high
        raise InputError(f"`{name}` must hold codes from 0 to {n_codes - 1}; got {strange}.")
