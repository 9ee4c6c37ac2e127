"""The compiled loop that counts pairs of small integers.

Given     two integer columns; the least value and the number of values of each
Returns   table[i, j] = number of rows with first = low₁ + i and second = low₂ + j
Method    each thread fills a table of its own, one pass over its rows; the tables are added up.
          A value outside the range ends in a counter, not in the table, so that no separate
          look at the data is needed to know that all of it was counted.  Two columns of 0 and 1
          need no table: three sums, which the processor takes several rows at a time, are enough.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from truerisk.tallies.radix_threads import threads_for

GUESSED_LOW = -128  # most integer labels are small: they are counted without being looked at first
GUESSED_SPAN = 256
WIDEST_SPAN = 1024
LOOKED_AT = 1000  # rows; other labels than 0 and 1 are mostly found among them


@njit(cache=True, nogil=True, boundscheck=False)
def sweep(
    first: NDArray[Any],
    second: NDArray[Any],
    low: tuple[int, int],
    span: tuple[int, int],
    table: NDArray[np.int64],
) -> int:
    """Add the rows to a flat table; return how many lie outside of it."""
    outside = 0
    low_first, low_second = low
    # Unsigned, so that one comparison sees values on either side of the range.
    span_first, span_second = uint64(span[0]), uint64(span[1])
    for row in range(uint64(len(first))):
        i = uint64(np.int64(first[row]) - low_first)
        j = uint64(np.int64(second[row]) - low_second)
        if i < span_first and j < span_second:
            table[i * span_second + j] += 1
        else:
            outside += 1
    return outside


@njit(cache=True, nogil=True, boundscheck=False)
def sweep_binary(first: NDArray[Any], second: NDArray[Any]) -> tuple[int, int, int, int]:
    """Add up both columns and their product; also give the bits that occur anywhere."""
    ones_first = ones_second = ones_both = bits = 0
    for row in range(len(first)):
        ones_first += first[row]
        ones_second += second[row]
        ones_both += first[row] & second[row]
        bits |= first[row] | second[row]
    return ones_first, ones_second, ones_both, bits


def count_binary(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64] | None:
    """Count two columns of 0 and 1; None when something else occurs."""
    # Read as signed, a large unsigned value shows as a sign bit, and sums stay integers.
    columns = [column.view(f"i{column.dtype.itemsize}") for column in (first, second)]
    if any(np.any(column[:LOOKED_AT] & -2) for column in columns):
        return None

    def count(part: slice) -> tuple[int, int, int, int]:
        return sweep_binary(columns[0][part], columns[1][part])

    parts = _parts(len(first))
    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(count, parts))
    if any(bits not in (0, 1) for *_, bits in found):
        return None
    ones_first, ones_second, both = (sum(column) for column in list(zip(*found, strict=True))[:3])
    neither = len(first) - ones_first - ones_second + both
    return np.array([[neither, ones_second - both], [ones_first - both, both]], dtype=np.int64)


def count_table(
    first: NDArray[Any], second: NDArray[Any], low: tuple[int, int], span: tuple[int, int]
) -> NDArray[np.int64] | None:
    """Count all rows in threads; None when some lie outside of the table."""
    parts = _parts(len(first))
    tables = [np.zeros(span[0] * span[1], dtype=np.int64) for _ in parts]

    def count(part: slice, table: NDArray[np.int64]) -> int:
        return int(sweep(first[part], second[part], low, span, table))

    with ThreadPoolExecutor(len(parts)) as pool:
        outside = sum(pool.map(count, parts, tables))
    return None if outside else sum(tables[1:], start=tables[0]).reshape(span)


def count_small_labels(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[int, NDArray[np.int64]] | None:
    """Count labels of a small span; give the least label with the table, or None if too wide."""
    table = count_binary(first, second)
    if table is not None:
        return 0, table
    if np.uint64 in (first.dtype, second.dtype):
        return None  # the sweep reads int64, where the largest of them would turn negative
    table = count_table(first, second, (GUESSED_LOW,) * 2, (GUESSED_SPAN,) * 2)
    if table is not None:
        return GUESSED_LOW, table
    low = min(int(first.min()), int(second.min()))
    span = max(int(first.max()), int(second.max())) - low + 1
    if span > WIDEST_SPAN:
        return None
    table = count_table(first, second, (low, low), (span, span))
    return None if table is None else (low, table)


def _parts(rows: int) -> list[slice]:
    threads = threads_for(rows)
    ends = [rows * part // threads for part in range(threads + 1)]
    return [slice(*pair) for pair in itertools.pairwise(ends)]
