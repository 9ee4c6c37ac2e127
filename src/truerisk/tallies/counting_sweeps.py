"""The compiled loop that counts pairs of small integers.

Given     two integer columns; the least value and the number of values of each
Returns   table[i, j] = number of rows with first = low₁ + i and second = low₂ + j
Method    each thread fills a table of its own, one pass over its rows; the tables are added up.
          A value outside the range ends in a counter, not in the table, so that no separate
          look at the data is needed to know that all of it was counted.
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


def count_table(
    first: NDArray[Any], second: NDArray[Any], low: tuple[int, int], span: tuple[int, int]
) -> NDArray[np.int64] | None:
    """Count all rows in threads; None when some lie outside of the table."""
    threads = threads_for(len(first))
    ends = [len(first) * part // threads for part in range(threads + 1)]
    parts = [slice(*pair) for pair in itertools.pairwise(ends)]
    tables = [np.zeros(span[0] * span[1], dtype=np.int64) for _ in parts]

    def count(part: slice, table: NDArray[np.int64]) -> int:
        return int(sweep(first[part], second[part], low, span, table))

    with ThreadPoolExecutor(threads) as pool:
        outside = sum(pool.map(count, parts, tables))
    return None if outside else sum(tables[1:], start=tables[0]).reshape(span)


def count_small_labels(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[int, NDArray[np.int64]] | None:
    """Count labels of a small span; give the least label with the table, or None if too wide."""
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
