"""Ranking scores too many to be sorted: count, scatter, sweep; in threads, in exact integers.

The rows are counted by the upper 16 bits of their keys and scattered into these buckets.  The
counts above each bucket are then known, and the buckets are swept independently of each other;
those whose counts at both ends show that a best point may lie inside are swept once more.  Rows may
be scattered run by run, as they come; a group of buckets is gathered from all runs when it is
swept.  The loops are in `truerisk.kernels.counts`.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.kernels import counts as kernel
from truerisk.kernels import threads_for
from truerisk.tallies.ranking import (
    COMPLETE_UP_TO,
    LEVELS,
    NO_BREAKEVEN,
    STEPS,
    THINNED_TO,
    TOP,
    Breakeven,
    Ranking,
    RankingSummary,
    breakeven_of,
    precision_spread,
    refuse_nan,
    sum_of_products,
)


def scores_of_narrow(keys: NDArray[Any]) -> NDArray[np.float64]:
    """Turn 32-bit keys back into float32 scores, given as float64."""
    narrow, sign = keys.astype(np.uint32), np.uint32(0x8000_0000)
    bits: NDArray[np.uint32] = np.where(narrow >= sign, narrow - sign, np.uint32(0) - narrow)
    return bits.view(np.float32).astype(np.float64)


def scores_of_wide(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Turn 64-bit keys back into float64 scores."""
    sign = np.uint64(0x8000_0000_0000_0000)
    bits: NDArray[np.uint64] = np.where(keys >= sign, keys - sign, np.uint64(0) - keys)
    return bits.view(np.float64)


Part = tuple[NDArray[Any], NDArray[np.bool_]]

RUN_ROWS = 2**20  # 5 MiB of float32 with their labels; a run is 2 MiB
MAX_ROWS = 2**31  # products of two counts must fit in int64
MAX_GROUPS = 64  # of buckets; the rows decide: sums are rounded alike in any number of threads
ROWS_PER_GROUP = 2**18
ROUNDING = 1e-12
BUCKETS = 2**16

# Places in the arrays that the kernel fills: a state, sums, best points and their values.
TP, FP, AUC, DISTINCT, FULL_USED, THIN_USED, STATE_SIZE = range(7)
PRECISION, PLACED_POSITIVE, PLACED_NEGATIVE, SUMS_SIZE = range(4)
F1_POINT, KS_POINT, BREAKEVEN_POINT = range(3)
F1, DISTANCE, MEAN = range(3)


@dataclass(frozen=True)
class Layout:
    """How scores of one width are read, scattered and swept."""

    kind: np.dtype[Any]  # of the scores
    bits: type[np.unsignedinteger[Any]]
    low: type[np.unsignedinteger[Any]]  # what is kept of a row
    infinity_buckets: tuple[int, int]  # what lies outside is NaN; in the upper one, it may be
    scores_of: Callable[[NDArray[Any]], NDArray[np.float64]]
    count: Callable[..., None]
    scatter: Callable[..., None]
    sweep: Callable[..., None]


NARROW = Layout(
    kind=np.dtype(np.float32),
    bits=np.uint32,
    low=np.uint16,
    infinity_buckets=(0x0080, 0xFF80),
    scores_of=scores_of_narrow,
    count=kernel.count_narrow,
    scatter=kernel.scatter_narrow,
    sweep=kernel.sweep_narrow,
)
WIDE = Layout(
    kind=np.dtype(np.float64),
    bits=np.uint64,
    low=np.uint64,
    infinity_buckets=(0x0010, 0xFFF0),
    scores_of=scores_of_wide,
    count=kernel.count_wide,
    scatter=kernel.scatter_wide,
    sweep=kernel.sweep_wide,
)


@dataclass(frozen=True, eq=False)
class Run:
    """Some rows, scattered: a float32 takes 2 bytes, a float64 takes 8."""

    low: NDArray[Any]
    cells: NDArray[np.uint32]  # (bucket, label), those that have rows, ascending
    starts: NDArray[np.uint32]  # of each cell, and the number of rows

    @property
    def layout(self) -> Layout:
        """The width of the scores."""
        return NARROW if self.low.dtype == NARROW.low else WIDE

    def part(self) -> Part:
        """Turn the rows back into float64 scores and labels, in another order."""
        cells = np.repeat(self.cells.astype(np.uint64), np.diff(self.starts))
        labels = (cells & np.uint64(1)).astype(bool)
        cells >>= np.uint64(1)
        if self.layout is NARROW:
            return scores_of_narrow(cells << np.uint64(16) | self.low), labels
        return scores_of_wide(cells << np.uint64(48) | self.low >> np.uint64(1)), labels


@dataclass(frozen=True)
class Buckets:
    """The rows, scattered: where each bucket begins and what is ranked above it."""

    layout: Layout
    runs: list[Run]
    low: NDArray[Any] | None  # of all rows, which may be changed; None if they must be gathered
    starts: NDArray[np.int64]  # of (bucket, label), ascending
    above: NDArray[np.int64]  # (bucket, 2): positives and negatives in higher buckets
    filled: NDArray[np.int64]  # buckets that have rows, descending
    n_positive: int
    n_negative: int

    @property
    def inside(self) -> NDArray[np.int64]:
        """Positives and negatives in each filled bucket."""
        begin, middle, end = (self.starts[2 * self.filled + part] for part in range(3))
        return np.column_stack([end - middle, middle - begin])

    def rows_of(self, group: slice) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Give the rows of some filled buckets, and where each of these begins among them."""
        if self.low is not None:
            return self.low, self.starts
        chosen = self.filled[group]
        first, last = 2 * int(chosen[-1]), 2 * int(chosen[0]) + 1
        starts = np.zeros(2 * BUCKETS + 1, dtype=np.int64)
        starts[first : last + 2] = self.starts[first : last + 2] - self.starts[first]
        place = starts[first : last + 1].copy()
        low = np.empty(starts[last + 1], dtype=self.layout.low)
        for run in self.runs:
            begin, end = np.searchsorted(run.cells, [first, last + 1])
            kernel.gather(
                run.low, run.cells[begin:end], run.starts[begin : end + 1], first, place, low
            )
        return low, starts


def rank_by_radix(parts: list[Part], runs: Sequence[Run] = ()) -> Ranking:
    """Rank float32 or float64 scores; the parts and the runs must be of one type."""
    n = sum(len(scores) for scores, _ in parts) + sum(len(run.low) for run in runs)
    if n >= MAX_ROWS:
        raise InputError(f"`scores` must have fewer than 2**31 rows to be ranked; got {n}.")
    with ThreadPoolExecutor(threads_for(n)) as pool:
        own = [_scatter(parts, pool.map, threads_for(n))] if parts else []
        buckets = _buckets([*runs, *own], own[0].low if own and not runs else None)
        state, sums, points, complete, special, levels = _sweep(buckets, pool)
    distinct = int(state[DISTINCT])
    if not complete:
        points = np.vstack([points, special])
    reached = points[:, 1] + points[:, 2]  # tells one distinct score from the next
    order = np.argsort(reached, kind="stable")
    points = points[order][np.diff(reached[order], prepend=-1) != 0]
    score_of = buckets.layout.scores_of
    return Ranking(
        thresholds=score_of(points[:, 0]),
        tp=points[:, 1].astype(np.int64),
        fp=points[:, 2].astype(np.int64),
        n_positive=buckets.n_positive,
        n_negative=buckets.n_negative,
        distinct=distinct,
        complete=complete,
        summary=_summary(
            buckets,
            distinct=distinct,
            state=state,
            sums=sums,
            special=special,
            levels=levels,
            points=points,
        ),
        rows=(buckets.n_positive, buckets.n_negative),
    )


def as_run(parts: list[Part]) -> Run:
    """Hold float32 or float64 scores in less memory; the parts must be of one type.

    Few rows are scattered in the thread of the caller: others have runs of their own.
    """
    n = sum(len(scores) for scores, _ in parts)
    if n <= 2 * RUN_ROWS:
        return _scatter(parts)
    with ThreadPoolExecutor(threads_for(n)) as pool:
        return _scatter(parts, pool.map, threads_for(n))


def _scatter(parts: list[Part], each: Callable[..., Iterable[None]] = map, threads: int = 1) -> Run:
    layout = NARROW if parts[0][0].dtype == np.float32 else WIDE
    columns = [
        (
            np.ascontiguousarray(scores).view(layout.bits),
            np.ascontiguousarray(labels).view(np.uint8),
        )
        for scores, labels in parts
    ]
    shares = list(_shares([len(bits) for bits, _ in columns], threads))
    counts = np.zeros((len(shares), 2 * BUCKETS), dtype=np.int64)

    def count(thread: int) -> None:
        for part, rows in shares[thread]:
            bits, labels = columns[part]
            layout.count(bits[rows], labels[rows], counts[thread])

    list(each(count, range(len(shares))))
    cells, starts = (np.empty(2 * BUCKETS + 1, dtype=np.uint32) for _ in range(2))
    used = kernel.place_cells(counts, cells, starts)
    cells, starts = cells[:used].copy(), starts[: used + 1].copy()
    least, greatest = layout.infinity_buckets
    if cells[0] < 2 * least or cells[-1] >= 2 * greatest:
        for scores, _ in parts:
            refuse_nan(scores)
    low = np.empty(starts[-1], dtype=layout.low)

    def scatter(thread: int) -> None:
        for part, rows in shares[thread]:
            bits, labels = columns[part]
            layout.scatter(bits[rows], labels[rows], counts[thread], low)

    list(each(scatter, range(len(shares))))
    return Run(low, cells, starts)


def _buckets(runs: list[Run], low: NDArray[Any] | None) -> Buckets:
    """Count the rows of all runs."""
    starts = np.zeros(2 * BUCKETS + 1, dtype=np.int64)
    for run in runs:
        starts[run.cells + 1] += np.diff(run.starts)
    np.cumsum(starts, out=starts)
    above, filled = np.empty((BUCKETS, 2), dtype=np.int64), np.empty(BUCKETS, dtype=np.int64)
    used, *totals = kernel.stack_buckets(starts, above, filled)
    return Buckets(runs[0].layout, runs, low, starts, above, filled[:used], *totals)


def _shares(lengths: list[int], threads: int) -> Iterator[list[tuple[int, slice]]]:
    """Cut the rows of all parts into so many shares of nearly one size."""
    ends = np.cumsum(lengths)
    cuts = [int(ends[-1]) * share // threads for share in range(threads + 1)]
    for low, high in itertools.pairwise(cuts):
        share = []
        for part, end in enumerate(ends.tolist()):
            begin = end - lengths[part]
            if begin < high and end > low:
                share.append((part, slice(max(low - begin, 0), min(high, end) - begin)))
        yield share


def _groups(buckets: Buckets) -> list[slice]:
    """Cut the filled buckets into groups of nearly as many rows each."""
    sizes = buckets.inside.sum(axis=1)
    before, n = np.cumsum(sizes) - sizes, int(sizes.sum())
    groups = min(max(n // ROWS_PER_GROUP, 1), MAX_GROUPS)
    cuts = np.flatnonzero(np.diff(before * groups // max(n, 1))) + 1
    return [slice(*pair) for pair in itertools.pairwise([0, *cuts.tolist(), len(sizes)])]


def _sweep(
    buckets: Buckets, pool: ThreadPoolExecutor
) -> tuple[
    NDArray[np.int64],
    list[float],
    NDArray[np.uint64],
    bool,
    NDArray[np.uint64],
    NDArray[np.float64],
]:
    """Give counts and sums, the points of the curve and whether these are all of them.

    Also gives the points of best F1, of greatest tpr − fpr and of breakeven, and eleven precisions.
    """
    n_positive, n_negative = max(buckets.n_positive, 1), max(buckets.n_negative, 1)
    totals = n_positive, n_negative, STEPS, _rough_auc(buckets)
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    may_be_best, levels = _candidates(buckets)

    def sweep(group: slice) -> tuple[NDArray[Any], ...]:
        chosen = buckets.filled[group]
        own, sums = np.zeros(STATE_SIZE, dtype=np.int64), np.zeros(SUMS_SIZE)
        # Once the finished groups have more distinct scores than are kept, none need be.
        left = COMPLETE_UP_TO + 1 - int(state[DISTINCT])
        full = np.empty((max(left, TOP), 3), dtype=np.uint64)
        thin = np.empty((THINNED_TO, 3), dtype=np.uint64)
        special = np.zeros((3, 3), dtype=np.uint64)
        best = np.array([-1.0, np.inf, -1.0])
        gain = np.array([-n_positive * n_negative - 1], dtype=np.int64)
        highest = np.zeros(LEVELS)
        buckets.layout.sweep(
            *buckets.rows_of(group), buckets.above, chosen, *totals, own, sums, full, thin,
            may_be_best[group], special, best, gain, highest,
        )  # fmt: skip
        # Of more distinct scores than are kept only the highest are; few pages are then touched.
        used = own[FULL_USED] if own[DISTINCT] <= COMPLETE_UP_TO else TOP
        kept = full[:used].copy(), thin[: own[THIN_USED]].copy()
        return own, sums, *kept, special, best, gain, highest

    each_sums = []
    every: list[NDArray[np.uint64]] = []
    kept: list[NDArray[np.uint64]] = []
    peaks = []
    top = TOP
    for own, sums, points, thin, *found in pool.map(sweep, _groups(buckets)):
        kept += [points[:top], thin]  # the lowest score needs no care: it ends the last step
        top -= len(kept[-2])
        state += own
        each_sums.append(sums)
        peaks.append(found)
        if state[DISTINCT] <= COMPLETE_UP_TO:
            every.append(points)
    complete = bool(state[DISTINCT] <= COMPLETE_UP_TO)
    exact_sums = [math.fsum(column) for column in np.transpose(each_sums)]
    all_points = np.vstack(every if complete else kept)
    return state, exact_sums, all_points, complete, *_best_of(peaks, buckets, levels)


def _best_of(
    peaks: list[list[NDArray[Any]]], buckets: Buckets, levels: NDArray[np.float64]
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Choose among the best points of all groups; of equal ones, that of the highest threshold."""
    if buckets.n_positive == 0:
        return np.empty((0, 3), dtype=np.uint64), np.full(LEVELS, np.nan)
    f1 = max(peaks, key=lambda one: one[1][F1])
    ahead = max(peaks, key=lambda one: one[2][0])
    even = min(peaks, key=lambda one: (one[1][DISTANCE], -one[1][MEAN]))
    points = np.array([one[0][at] for at, one in enumerate((f1, ahead, even))])
    levels = np.max([levels, *(one[3] for one in peaks)], axis=0)
    return points, np.maximum.accumulate(levels[::-1])[::-1]


def _rough_auc(buckets: Buckets) -> float:
    """AUC with all scores of a bucket taken as tied: the value to centre placements at."""
    positives, negatives = buckets.inside.T.astype(np.float64)
    beaten = buckets.above[buckets.filled, 0] + positives / 2
    return sum_of_products(negatives, beaten) / max(buckets.n_positive * buckets.n_negative, 1)


def _candidates(buckets: Buckets) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Mark the filled buckets in which a best point may lie, by the counts at their two ends.

    Inside a bucket no point has more true positives than its lower end, nor fewer false positives
    than its upper end.  A bucket for which even that is worse than the lower end of another bucket
    cannot hold the best point.  Also gives the best precision of the ends, by recall.
    """
    n_positive, n_negative = buckets.n_positive, buckets.n_negative
    if n_positive == 0:
        return np.zeros(len(buckets.filled), dtype=np.uint8), np.full(LEVELS, np.nan)
    above = buckets.above[buckets.filled]
    (tp_above, fp_above), (tp, fp) = above.T, (above + buckets.inside).T
    retrieved, found_above = tp + fp, tp_above + fp_above
    f1 = 2 * tp / (n_positive + retrieved)
    chosen = 2 * tp / (n_positive + tp + fp_above) >= f1.max()
    gain = tp * n_negative - fp * n_positive
    chosen |= tp * n_negative - fp_above * n_positive >= gain.max()

    precision, level = tp / retrieved, (LEVELS - 1) * tp // n_positive
    levels = np.zeros(LEVELS)
    np.maximum.at(levels, level, precision)
    levels = np.maximum.accumulate(levels[::-1])[::-1]
    chosen |= tp / np.maximum(tp + fp_above, 1) > levels[level]

    some = tp > 0
    distance = np.abs(tp / retrieved - tp / n_positive)
    nearest = np.where(retrieved < n_positive, retrieved, np.minimum(found_above + 1, retrieved))
    least = np.maximum(tp_above, 1) * np.abs(1 / nearest - 1 / n_positive)
    chosen |= some & (least <= distance[some].min() * (1 + ROUNDING) + ROUNDING / n_positive)
    chosen |= (found_above < n_positive) & (n_positive <= retrieved)
    return chosen.view(np.uint8), levels


def _summary(
    buckets: Buckets,
    *,
    distinct: int,
    state: NDArray[np.int64],
    sums: list[float],
    special: NDArray[np.uint64],
    levels: NDArray[np.float64],
    points: NDArray[np.uint64],
) -> RankingSummary:
    """Give the summary; only the spread of the precision is that of the points that are kept."""
    n_positive, n_negative = buckets.n_positive, buckets.n_negative
    auc = variance = ks = ks_threshold = precision = f1 = f1_threshold = math.nan
    breakeven, spread = NO_BREAKEVEN, (math.nan, math.nan)
    if n_positive:
        steps = np.diff(points[:, 1:].astype(np.int64), axis=0, prepend=0)
        spread = precision_spread(steps[:, 0], steps[:, 1])
        precision = sums[PRECISION] / n_positive
        thresholds = buckets.layout.scores_of(special[:, 0])
        counts = special[:, 1:].astype(np.int64)
        tp, fp = counts[F1_POINT].tolist()
        f1, f1_threshold = 2 * tp / (n_positive + tp + fp), float(thresholds[F1_POINT])
        breakeven = _breakeven(thresholds[BREAKEVEN_POINT:], counts[BREAKEVEN_POINT:], n_positive)
    if n_positive and n_negative:
        auc = int(state[AUC]) / (2 * n_positive * n_negative)
        variance = _variance(buckets, distinct, auc, sums)
        tp, fp = counts[KS_POINT].tolist()
        ks = (tp * n_negative - fp * n_positive) / (n_positive * n_negative)
        ks_threshold = float(thresholds[KS_POINT])
    return RankingSummary(
        auc=auc,
        delong_variance=variance,
        average_precision=precision,
        best_f1=f1,
        best_f1_threshold=f1_threshold,
        ks=ks,
        ks_threshold=ks_threshold,
        breakeven=breakeven,
        eleven_point=tuple(levels.tolist()),
        auc_bounds=(auc, auc),
        precision_spread=spread,
    )


def _breakeven(
    threshold: NDArray[np.float64], counts: NDArray[np.int64], n_positive: int
) -> Breakeven:
    return breakeven_of(threshold, counts[:, 0], counts.sum(axis=1), n_positive)


def _variance(buckets: Buckets, distinct: int, auc: float, sums: list[float]) -> float:
    """DeLong's variance, from squares about a value near the AUC."""
    n_positive, n_negative = buckets.n_positive, buckets.n_negative
    if min(n_positive, n_negative) < 2:
        return math.nan
    if distinct == 1 or auc in (0.0, 1.0):
        return 0.0
    off = (auc - _rough_auc(buckets)) ** 2
    first = (sums[PLACED_POSITIVE] / n_positive - off) / (n_positive - 1)
    second = (sums[PLACED_NEGATIVE] / n_negative - off) / (n_negative - 1)
    return first + second
