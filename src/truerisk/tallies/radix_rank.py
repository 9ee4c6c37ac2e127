"""Ranking scores too many to be sorted: count, scatter, sweep; in threads, in exact integers.

The rows are counted by the upper 16 bits of their keys and scattered into these buckets.  The
counts above each bucket are then known, and the buckets are swept independently of each other;
those whose counts at both ends show that a best point may lie inside are swept once more.  Rows may
be scattered run by run, as they come; a group of buckets is gathered from all runs when it is
swept.  Runs may hold the rows of the upper buckets only: those of lower ones are then read again
when they are needed.  The loops are in `truerisk.kernels.counts`.
"""

import itertools
import math
import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError, ResourceError
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
EVERY_BUCKET = range(BUCKETS)
PAGES_FROM = 2**20  # bytes
PRIVATE_PAGES = hasattr(mmap, "MAP_PRIVATE")
LARGE_PAGES = hasattr(mmap, "MADV_HUGEPAGE")
ROWS_OF_PART = 512
MAX_PART_BITS = 11
PACKED = 3  # numbers of 16 bits that are held of a float64

# Places in the arrays that the kernel fills: a state, sums, best points and their values.
TP, FP, AUC, DISTINCT, FULL_USED, THIN_USED, STATE_SIZE = range(7)
PRECISION, PLACED_POSITIVE, PLACED_NEGATIVE, SUMS_SIZE = range(4)
F1_POINT, KS_POINT, BREAKEVEN_POINT = range(3)
F1, DISTANCE, MEAN = range(3)


def _gather(cut: "Cut", starts: NDArray[np.int64], low: NDArray[Any]) -> None:
    """Put the rows of each cell together."""
    place = starts.copy()
    for rows, cells, places in cut.rows:
        kernel.gather(rows, cells, places, 2 * cut.buckets.start, place, low)


def _gather_sorted(cut: "Cut", starts: NDArray[np.int64], low: NDArray[Any]) -> None:
    """Put the rows of each bucket together, in order: part by part, each of which is then sorted.

    Parts are small enough for the cache next to the processor.
    """
    sizes = np.diff(starts[::2])
    bits = np.ceil(np.log2(np.maximum(sizes, 1) / ROWS_OF_PART)).clip(0, MAX_PART_BITS)
    parts = 2 ** bits.astype(np.int64)
    shifts, bases = PACKED * 16 - bits.astype(np.int64), np.cumsum(parts) - parts
    place = np.zeros(parts.sum() + 1, dtype=np.int64)
    for one in cut.rows:
        kernel.count_parts(*one, cut.buckets.start, shifts, bases, place[1:])
    np.cumsum(place, out=place)
    for one in cut.rows:
        kernel.gather_parts(*one, cut.buckets.start, shifts, bases, place, low)
    kernel.sort_parts(low, place[:-1])


@dataclass(frozen=True)
class Cut:
    """The rows of some buckets: of each run the rows, the cells, and where these begin and end."""

    buckets: range
    rows: list[tuple[NDArray[np.uint16], NDArray[np.uint32], NDArray[np.uint32]]]


@dataclass(frozen=True)
class Layout:
    """How scores of one width are read, scattered and swept."""

    kind: np.dtype[Any]  # of the scores
    bits: type[np.unsignedinteger[Any]]
    low: type[np.unsignedinteger[Any]]  # what is swept of a row
    infinity_buckets: tuple[int, int]  # what lies outside is NaN; in the upper one, it may be
    scores_of: Callable[[NDArray[Any]], NDArray[np.float64]]
    count: Callable[..., None]
    scatter: Callable[..., None]
    gather: Callable[..., None]
    sweep: Callable[..., None]


NARROW = Layout(
    kind=np.dtype(np.float32),
    bits=np.uint32,
    low=np.uint16,
    infinity_buckets=(0x0080, 0xFF80),
    scores_of=scores_of_narrow,
    count=kernel.count_narrow,
    scatter=kernel.scatter_narrow,
    gather=_gather,
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
    gather=_gather_sorted,
    sweep=kernel.sweep_wide,
)


def own_pages(shape: tuple[int, ...], kind: type = np.uint16) -> NDArray[Any]:
    """Make an array whose memory is free for all as soon as it is let go of.

    An allocator would keep it between what lives longer.
    """
    size = math.prod(shape) * np.dtype(kind).itemsize
    if size < PAGES_FROM:
        return np.empty(shape, dtype=kind)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if PRIVATE_PAGES else {}
    pages = mmap.mmap(-1, size, **private)
    if LARGE_PAGES:
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype=kind).reshape(shape)


@dataclass(frozen=True, eq=False)
class Run:
    """Some rows, scattered: a float32 takes 2 bytes, a float64 takes 6.

    All rows are counted; only those of the buckets `held` are there.
    """

    low: NDArray[np.uint16]  # (n,), or (n, 3) of float64
    cells: NDArray[np.uint32]  # (bucket, label), those that have rows, ascending
    starts: NDArray[np.uint32]  # of each cell, and the number of rows
    held: range = EVERY_BUCKET

    @property
    def layout(self) -> Layout:
        """The width of the scores."""
        return NARROW if self.low.ndim == 1 else WIDE

    @property
    def rows(self) -> int:
        """How many rows there are, held or not."""
        return int(self.starts[-1])

    def within(self, first: int, last: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Give the cells from `first` up to `last`, and where they begin in `low`, and end."""
        begin, end, held = np.searchsorted(self.cells, [first, last, 2 * self.held.start])
        return self.cells[begin:end], self.starts[begin : end + 1] - self.starts[held]

    def only(self, held: range) -> "Run":
        """Let go of the rows outside of some of the buckets that are held."""
        _, starts = self.within(2 * held.start, 2 * held.stop)
        rows = self.low[starts[0] : starts[-1]]
        low = own_pages(rows.shape)
        low[:] = rows
        return replace(self, low=low, held=held)

    def part(self) -> Part:
        """Turn the rows, all of which must be held, back into float64 scores and labels."""
        cells = np.repeat(self.cells.astype(np.uint64), np.diff(self.starts))
        labels = (cells & np.uint64(1)).astype(bool)
        cells >>= np.uint64(1)
        if self.layout is NARROW:
            return scores_of_narrow(cells << np.uint64(16) | self.low), labels
        for place in reversed(range(PACKED)):
            cells = cells << np.uint64(16) | self.low[:, place]
        return scores_of_wide(cells), labels


ReadAgain = Callable[[range], list[Run]]  # gives runs of all rows that hold these buckets


@dataclass(frozen=True)
class Buckets:
    """The rows, scattered: where each bucket begins and what is ranked above it."""

    layout: Layout
    runs: list[Run]  # that hold the same buckets
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
        buckets = range(int(chosen[-1]), int(chosen[0]) + 1)
        first, last = 2 * buckets.start, 2 * buckets.stop
        starts = np.zeros(2 * BUCKETS + 1, dtype=np.int64)
        starts[first : last + 1] = self.starts[first : last + 1] - self.starts[first]
        # What takes 2 bytes a row is small, and faster in memory that was used before.
        size, kind = int(starts[last]), self.layout.low
        low = np.empty(size, kind) if self.layout is NARROW else own_pages((size,), kind)
        rows = [(run.low.reshape(-1), *run.within(first, last)) for run in self.runs]
        self.layout.gather(Cut(buckets, rows), starts[first : last + 1], low)
        return low, starts

    def stages(self, groups: list[slice], read_again: ReadAgain | None) -> Iterator[list[slice]]:
        """Give the groups whose rows are held; then read those of others, about half at a time."""
        if self.low is not None:
            yield groups
            return
        lowest = max(run.held.start for run in self.runs)
        while groups:
            ready = [group for group in groups if self.filled[group][-1] >= lowest]
            yield ready
            self.runs.clear()
            groups = groups[len(ready) :]
            if groups and read_again is not None:
                lowest = self._read(groups, read_again)

    def _read(self, groups: list[slice], read_again: ReadAgain) -> int:
        """Take the rows of the first groups; return the lowest bucket that they have."""
        sizes = np.cumsum([self.inside[group].sum() for group in groups])
        parts = max(1, round(2 * int(sizes[-1]) / int(self.starts[-1])))
        last = int(np.searchsorted(sizes, sizes[-1] / parts))
        held = range(int(self.filled[groups[last]][-1]), int(self.filled[groups[0]][0]) + 1)
        self.runs.extend(read_again(held))
        cells = slice(2 * held.start, 2 * held.stop + 1)
        if not np.array_equal(np.diff(_starts(self.runs)[cells]), np.diff(self.starts[cells])):
            raise ResourceError("The scores must be the same when they are read again.")
        return held.start


def rank_by_radix(
    parts: list[Part], runs: list[Run] | None = None, read_again: ReadAgain | None = None
) -> Ranking:
    """Rank float32 or float64 scores; the parts and the runs must be of one type.

    The list of runs is emptied: rows that they do not hold are read again, after all that they
    hold has been swept and let go of.
    """
    runs = [] if runs is None else runs
    n = sum(len(scores) for scores, _ in parts) + sum(run.rows for run in runs)
    if n >= MAX_ROWS:
        raise InputError(f"`scores` must have fewer than 2**31 rows to be ranked; got {n}.")
    with ThreadPoolExecutor(threads_for(n)) as pool:
        if runs:
            if parts:
                runs.append(_run(parts, EVERY_BUCKET, pool.map, threads_for(n)))
            buckets = _stacked(runs[0].layout, runs, None, _starts(runs))
        else:
            buckets = _buckets_in_place(parts, pool.map, threads_for(n))
        state, sums, points, complete, special, levels = _sweep(buckets, pool, read_again)
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


def as_run(parts: list[Part], held: range = EVERY_BUCKET) -> Run:
    """Hold float32 or float64 scores in less memory; the parts must be of one type.

    Few rows are scattered in the thread of the caller: others have runs of their own.
    """
    n = sum(len(scores) for scores, _ in parts)
    if n <= 2 * RUN_ROWS:
        return _run(parts, held)
    with ThreadPoolExecutor(threads_for(n)) as pool:
        return _run(parts, held, pool.map, threads_for(n))


Each = Callable[..., Iterable[None]]


@dataclass(frozen=True)
class _Counted:
    """Rows that have been counted, and may be scattered."""

    layout: Layout
    columns: list[tuple[NDArray[Any], NDArray[np.uint8]]]  # bits and labels of each part
    shares: list[list[tuple[int, slice]]]  # of each thread: rows of parts
    places: NDArray[np.int64]  # (share, cell): where its rows begin
    cells: NDArray[np.uint32]
    starts: NDArray[np.uint32]

    @classmethod
    def of(cls, parts: list[Part], each: Each, threads: int) -> "_Counted":
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

        def count(share: int) -> None:
            for part, rows in shares[share]:
                bits, labels = columns[part]
                layout.count(bits[rows], labels[rows], counts[share])

        list(each(count, range(len(shares))))
        cells, starts = (np.empty(2 * BUCKETS + 1, dtype=np.uint32) for _ in range(2))
        used = kernel.place_cells(counts, cells, starts)
        cells, starts = cells[:used].copy(), starts[: used + 1].copy()
        least, greatest = layout.infinity_buckets
        if cells[0] < 2 * least or cells[-1] >= 2 * greatest:
            for scores, _ in parts:
                refuse_nan(scores)
        return cls(layout, columns, shares, counts, cells, starts)

    def scatter(self, each: Each, write: Callable[..., None], *arguments: Any) -> None:
        """Write all rows, each share in its thread."""

        def scatter(share: int) -> None:
            for part, rows in self.shares[share]:
                bits, labels = self.columns[part]
                write(bits[rows], labels[rows], *arguments[:-1], self.places[share], arguments[-1])

        list(each(scatter, range(len(self.shares))))


def _run(parts: list[Part], held: range, each: Each = map, threads: int = 1) -> Run:
    counted = _Counted.of(parts, each, threads)
    if counted.layout is NARROW:
        low = np.empty(counted.starts[-1], dtype=np.uint16)
        counted.scatter(each, kernel.scatter_narrow, low)
        whole = Run(low, counted.cells, counted.starts)
        return whole if held == EVERY_BUCKET else whole.only(held)
    first, last = 2 * held.start, 2 * held.stop
    before, after = counted.starts[np.searchsorted(counted.cells, [first, last])].tolist()
    low = own_pages((after - before, PACKED))
    counted.scatter(each, kernel.scatter_packed, first, last, before, low.reshape(-1))
    return Run(low, counted.cells, counted.starts, held)


def _buckets_in_place(parts: list[Part], each: Each, threads: int) -> Buckets:
    """Scatter all rows to where they are swept."""
    counted = _Counted.of(parts, each, threads)
    low = np.empty(counted.starts[-1], dtype=counted.layout.low)
    counted.scatter(each, counted.layout.scatter, low)
    starts = np.zeros(2 * BUCKETS + 1, dtype=np.int64)
    starts[counted.cells + 1] = np.diff(counted.starts)
    return _stacked(counted.layout, [], low, np.cumsum(starts))


def _starts(runs: Sequence[Run]) -> NDArray[np.int64]:
    """Give where each cell begins, if all rows stand in order."""
    starts = np.zeros(2 * BUCKETS + 1, dtype=np.int64)
    for run in runs:
        starts[run.cells + 1] += np.diff(run.starts)
    return np.cumsum(starts, out=starts)


def _stacked(
    layout: Layout, runs: list[Run], low: NDArray[Any] | None, starts: NDArray[np.int64]
) -> Buckets:
    above, filled = np.empty((BUCKETS, 2), dtype=np.int64), np.empty(BUCKETS, dtype=np.int64)
    used, *totals = kernel.stack_buckets(starts, above, filled)
    return Buckets(layout, runs, low, starts, above, filled[:used], *totals)


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
    buckets: Buckets, pool: ThreadPoolExecutor, read_again: ReadAgain | None
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
    stages = buckets.stages(_groups(buckets), read_again)
    swept = itertools.chain.from_iterable(pool.map(sweep, groups) for groups in stages)
    for own, sums, points, thin, *found in swept:
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
