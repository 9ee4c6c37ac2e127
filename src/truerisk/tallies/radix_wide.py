"""Bringing float64 scores into order: sixteen bytes a row beside the data itself, at most.

Given     float64 scores as bits, and labels
Method    the key of a score is a uint64 that grows with it.  Count the rows by the upper 16 bits;
          write the lower 48 bits and the label of each row to the place of its bucket; sort each
          bucket by digits of 11 bits, passing over digits that are the same in all of its rows.
Link      0.0 and −0.0 have one key, as they are equal
"""

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
from truerisk.tallies.radix_keys import scores_of_wide

scores_of = scores_of_wide
BUCKETS = 2**16
LOW_BITS = 48
INFINITY_BUCKETS = (0x0010, 0xFFF0)
SORTED_BELOW = 1024  # rows of a bucket that are sorted by comparing
BLOCK = 2**15  # distinct values that are handed on at a time
DIGIT_BITS = 11
DIGITS = 5  # of 11 bits, for 48 bits and the label

SIGN = np.uint64(0x8000_0000_0000_0000)
LOW_MASK = np.uint64(2**LOW_BITS - 1)


@njit(cache=True, nogil=True, boundscheck=False)
def count(bits: NDArray[np.uint64], labels: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Count the rows of each bucket and label."""
    for i in range(uint64(len(bits))):
        key = bits[i] + SIGN if bits[i] < SIGN else uint64(0) - bits[i]
        counts[((key >> uint64(LOW_BITS)) << uint64(1)) | uint64(labels[i] != 0)] += 1


@njit(cache=True, nogil=True, boundscheck=False)
def scatter(
    bits: NDArray[np.uint64],
    labels: NDArray[np.uint8],
    place: NDArray[np.int64],
    low: NDArray[np.uint64],
) -> None:
    """Write the lower part of each key, and the label, where the bucket has its place."""
    for i in range(uint64(len(bits))):
        key = bits[i] + SIGN if bits[i] < SIGN else uint64(0) - bits[i]
        label = uint64(labels[i] != 0)
        at = ((key >> uint64(LOW_BITS)) << uint64(1)) | label
        to = place[at]
        low[uint64(to)] = ((key & LOW_MASK) << uint64(1)) | label
        place[at] = to + 1


@njit(cache=True, nogil=True, boundscheck=False)
def sort(rows: NDArray[np.uint64], spare: NDArray[np.uint64]) -> None:
    """Sort the rows in place, digit by digit, the lowest first."""
    source, target, swapped = rows, spare[: len(rows)], False
    counts = np.empty(2**DIGIT_BITS, np.int64)
    mask = uint64(2**DIGIT_BITS - 1)
    for digit in range(DIGITS):
        shift = uint64(DIGIT_BITS * digit)
        counts[:] = 0
        for i in range(uint64(len(source))):
            counts[(source[i] >> shift) & mask] += 1
        if counts[(source[0] >> shift) & mask] == len(source):
            continue
        before = 0
        for value in range(len(counts)):
            here = counts[value]
            counts[value] = before
            before += here
        for i in range(uint64(len(source))):
            value = (source[i] >> shift) & mask
            target[uint64(counts[value])] = source[i]
            counts[value] += 1
        source, target, swapped = target, source, not swapped
    if swapped:
        rows[:] = source


@njit(cache=True, nogil=True, boundscheck=False)
def next_block(
    rows: NDArray[np.uint64], end: int, values: NDArray[np.uint64], counts: NDArray[np.int64]
) -> tuple[int, int]:
    """Collect distinct values downwards from `end`; return their number and the new end."""
    last = -1
    while end > 0:
        value = rows[end - 1] >> uint64(1)
        if last < 0 or values[last] != value:
            if last + 1 == len(values):
                break
            last += 1
            values[last] = value
            counts[last] = 0
        counts[last] += ONE_POSITIVE if rows[end - 1] & uint64(1) else 1
        end -= 1
    return last + 1, end


@njit(cache=True, nogil=True, boundscheck=False)
def sweep(  # noqa: PLR0917  (compiled code has no keywords)
    low: NDArray[np.uint64],
    starts: NDArray[np.int64],
    above: NDArray[np.int64],
    buckets: NDArray[np.int64],
    totals: tuple[int, int, int, float],
    state: NDArray[np.int64],
    sums: NDArray[np.float64],
    full: NDArray[np.uint64],
    thin: NDArray[np.uint64],
) -> None:
    """Sort and accumulate a group of buckets, given in descending order."""
    largest = 0
    for b in buckets:
        largest = max(largest, starts[2 * b + 2] - starts[2 * b])
    spare = np.empty(largest, np.uint64)
    values, counts = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    for b in buckets:
        rows = low[starts[2 * b] : starts[2 * b + 2]]
        if len(rows) < SORTED_BELOW:
            rows.sort()
        else:
            sort(rows, spare)
        state[TP], state[FP] = above[b, 0], above[b, 1]
        end = len(rows)
        while end > 0:
            used, end = next_block(rows, end, values, counts)
            accumulate(
                values[:used], counts[:used], uint64(b) << uint64(LOW_BITS), totals,
                state, sums, full, thin,
            )  # fmt: skip


@njit(cache=True, nogil=True, boundscheck=False)
def sweep_peaks(  # noqa: PLR0917  (compiled code has no keywords)
    low: NDArray[np.uint64],
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
    """Look for the best points in a group of buckets that `sweep` has left sorted."""
    values, counts = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64)
    state = np.zeros(STATE_SIZE, np.int64)
    for b in buckets:
        rows = low[starts[2 * b] : starts[2 * b + 2]]
        state[TP], state[FP] = above[b, 0], above[b, 1]
        end = len(rows)
        while end > 0:
            used, end = next_block(rows, end, values, counts)
            find_peaks(
                values[:used], counts[:used], uint64(b) << uint64(LOW_BITS), n_positive,
                n_negative, state, points, best, gain, levels,
            )  # fmt: skip
