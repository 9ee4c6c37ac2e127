"""Bringing float32 scores into order: two bytes a row beside the data itself.

Given     float32 scores as bits, and labels
Method    the key of a score is a uint32 that grows with it.  Count the rows by the upper 16 bits
          and the label; write the lower 16 bits of each row to the place of its bucket and label;
          count those, bucket by bucket.
Link      0.0 and −0.0 have one key, as they are equal
"""

from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from truerisk.tallies.radix import (
    FP,
    ONE_POSITIVE,
    STATE_SIZE,
    TP,
    accumulate,
    find_peaks,
)
from truerisk.tallies.radix_keys import scores_of_narrow

scores_of = scores_of_narrow
BUCKETS = 2**16
LOW_BITS = 16
INFINITY_BUCKETS = (0x0080, 0xFF80)  # what lies outside is NaN; in the upper one, it may be
SORTED_BELOW = 2**13  # rows of a bucket that are sorted rather than counted
COMPARED_BELOW = 128  # rows that are sorted by comparing them
DIGIT_BITS = 9  # two digits hold 16 bits and the label

SIGN = np.uint64(0x8000_0000)
LOW_MASK = np.uint64(0xFFFF)


@njit(cache=True, nogil=True, boundscheck=False)
def count(bits: NDArray[np.uint32], labels: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Count the rows of each bucket and label."""
    for i in range(uint64(len(bits))):
        key = (bits[i] + SIGN if bits[i] < SIGN else -uint64(bits[i])) & uint64(0xFFFF_FFFF)
        counts[((key >> uint64(16)) << uint64(1)) | uint64(labels[i] != 0)] += 1


@njit(cache=True, nogil=True, boundscheck=False)
def scatter(
    bits: NDArray[np.uint32],
    labels: NDArray[np.uint8],
    place: NDArray[np.int64],
    low: NDArray[np.uint16],
) -> None:
    """Write the lower half of each key where its bucket and label have their place."""
    for i in range(uint64(len(bits))):
        key = (bits[i] + SIGN if bits[i] < SIGN else -uint64(bits[i])) & uint64(0xFFFF_FFFF)
        at = ((key >> uint64(16)) << uint64(1)) | uint64(labels[i] != 0)
        to = place[at]
        low[uint64(to)] = np.uint16(key & LOW_MASK)
        place[at] = to + 1


@njit(cache=True, nogil=True, boundscheck=False)
def order_few(
    low: NDArray[np.uint16],
    n_negative: int,
    spare: NDArray[np.uint32],
    values: NDArray[Any],
    counts: NDArray[np.int64],
) -> int:
    """Sort a small bucket, whose negatives come first; return how many values are distinct."""
    first, second = spare[0, : len(low)], spare[1, : len(low)]
    for i in range(uint64(len(low))):
        first[i] = (np.uint32(low[i]) << 1) | np.uint32(i >= uint64(n_negative))
    if len(low) < COMPARED_BELOW:
        first.sort()
    else:
        sort_by_digit(first, second, 0)
        sort_by_digit(second, first, DIGIT_BITS)
    last = -1
    for i in range(len(low) - 1, -1, -1):
        value = first[i] >> 1
        if last < 0 or values[last] != value:
            last += 1
            values[last] = value
            counts[last] = 0
        counts[last] += ONE_POSITIVE if first[i] & 1 else 1
    return last + 1


@njit(cache=True, nogil=True, boundscheck=False)
def sort_by_digit(source: NDArray[np.uint32], target: NDArray[np.uint32], shift: int) -> None:
    """Write the source to the target in the order of one digit, keeping the order of equals."""
    places = np.zeros(2**DIGIT_BITS + 1, np.int64)
    mask, by = uint64(2**DIGIT_BITS - 1), uint64(shift)
    for i in range(uint64(len(source))):
        places[((source[i] >> by) & mask) + uint64(1)] += 1
    for digit in range(1, len(places)):
        places[digit] += places[digit - 1]
    for i in range(uint64(len(source))):
        at = (source[i] >> by) & mask
        target[uint64(places[at])] = source[i]
        places[at] += 1


@njit(cache=True, nogil=True, boundscheck=False)
def order_many(
    low: NDArray[np.uint16],
    n_negative: int,
    table: NDArray[np.int64],
    values: NDArray[Any],
    counts: NDArray[np.int64],
) -> int:
    """Count a large bucket in a table of all values, which is left empty again."""
    for i in range(uint64(n_negative)):
        table[low[i]] += 1
    for i in range(uint64(n_negative), uint64(len(low))):
        table[low[i]] += ONE_POSITIVE
    used = 0
    for value in range(len(table) - 1, -1, -1):
        packed = table[value]
        # Written every time and kept only when something is there: no branch to mispredict.
        values[used] = value
        counts[used] = packed
        table[value] = 0
        used += packed != 0
    return used


@njit(cache=True, nogil=True, boundscheck=False)
def sweep(  # noqa: PLR0917  (compiled code has no keywords)
    low: NDArray[np.uint16],
    starts: NDArray[np.int64],
    above: NDArray[np.int64],
    buckets: NDArray[np.int64],
    totals: tuple[int, int, int, float],
    state: NDArray[np.int64],
    sums: NDArray[np.float64],
    full: NDArray[np.uint64],
    thin: NDArray[np.uint64],
) -> None:
    """Accumulate a group of buckets, given in descending order."""
    table, spare = np.zeros(2**LOW_BITS, np.int64), np.empty((2, SORTED_BELOW), np.uint32)
    values = np.empty(2**LOW_BITS + 1, np.uint16)
    counts = np.empty(2**LOW_BITS + 1, np.int64)
    for b in buckets:
        rows = low[starts[2 * b] : starts[2 * b + 2]]
        n_negative = starts[2 * b + 1] - starts[2 * b]
        if len(rows) < SORTED_BELOW:
            used = order_few(rows, n_negative, spare, values, counts)
        else:
            used = order_many(rows, n_negative, table, values, counts)
        state[TP], state[FP] = above[b, 0], above[b, 1]
        accumulate(values[:used], counts[:used], b << LOW_BITS, totals, state, sums, full, thin)


@njit(cache=True, nogil=True, boundscheck=False)
def sweep_peaks(  # noqa: PLR0917  (compiled code has no keywords)
    low: NDArray[np.uint16],
    starts: NDArray[np.int64],
    above: NDArray[np.int64],
    buckets: NDArray[np.int64],
    n_positive: int,
    n_negative: int,
    points: NDArray[np.uint64],
    best: NDArray[np.float64],
    gain: NDArray[np.int64],
    levels: NDArray[np.float64],
) -> None:
    """Look for the best points in a group of buckets, given in descending order."""
    table, spare = np.zeros(2**LOW_BITS, np.int64), np.empty((2, SORTED_BELOW), np.uint32)
    values = np.empty(2**LOW_BITS + 1, np.uint16)
    counts = np.empty(2**LOW_BITS + 1, np.int64)
    state = np.zeros(STATE_SIZE, np.int64)
    for b in buckets:
        rows = low[starts[2 * b] : starts[2 * b + 2]]
        negatives = starts[2 * b + 1] - starts[2 * b]
        if len(rows) < SORTED_BELOW:
            used = order_few(rows, negatives, spare, values, counts)
        else:
            used = order_many(rows, negatives, table, values, counts)
        state[TP], state[FP] = above[b, 0], above[b, 1]
        find_peaks(
            values[:used], counts[:used], b << LOW_BITS, n_positive, n_negative,
            state, points, best, gain, levels,
        )  # fmt: skip
