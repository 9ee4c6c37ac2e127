"""Scores that come in batches → one ranking, the same for any order and any cut of the batches.

Scores too many to be held are counted in 2²⁴ buckets that keep their order.  A bucket is an
interval of scores: those whose float32 value, rounded down, has the same upper 24 bits (sign,
exponent and 15 bits of the fraction, a relative width of 2⁻¹⁵).  Its lower end is a threshold at
which the counts are exact.  Only the order *inside* buckets is lost, and of that it is known how
much it can matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags
from truerisk.checks import check_same_length, check_whole_number
from truerisk.errors import InputError
from truerisk.tallies.radix_rank import (
    BUCKETS,
    EVERY_BUCKET,
    MAX_ROWS,
    NARROW,
    RUN_ROWS,
    WIDE,
    ReadAgain,
    Run,
    as_run,
    scores_of_narrow,
)
from truerisk.tallies.ranking import (
    Ranking,
    as_labels,
    as_scores,
    as_weights,
    rank,
    rank_parts,
    ranking_of,
    refuse_nan,
    sum_of_products,
)

BUCKET_BITS = 24
DROPPED_BITS = 32 - BUCKET_BITS
MIN_KEY = 0x0080_0000  # of −∞

FOUR_GIBIBYTES = 2**32
LABEL_BYTES = 1
WEIGHT_BYTES = 8
SENT_AS_RUN = 2**18  # rows; they take less as a run, and would not be ranked by sorting either
JOINED_BELOW = 2**16  # rows; smaller batches are joined: a million of them cost little


@dataclass(eq=False)
class ScoreHistogram:
    """Counts of negatives and positives in each bucket: 256 MiB, whatever the number of rows."""

    counts: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(2 ** (BUCKET_BITS + 1), dtype=np.int64), repr=False
    )
    rows: int = 0

    def add(self, scores: NDArray[Any], is_positive: NDArray[np.bool_]) -> None:
        """Count one batch of float32 or float64 scores."""
        from truerisk.kernels import counts as kernel

        refuse_nan(scores)
        with np.errstate(over="ignore"):
            narrow = scores.astype(np.float32, copy=False)
        rounded_up = narrow > scores if narrow is not scores else np.zeros(1, dtype=bool)
        kernel.count_buckets(
            np.ascontiguousarray(narrow).view(np.uint32),
            np.ascontiguousarray(rounded_up).view(np.uint8),
            np.ascontiguousarray(is_positive).view(np.uint8),
            self.counts,
        )
        self.rows += len(scores)

    def merge(self, other: "ScoreHistogram") -> None:
        """Add the counts of another histogram."""
        self.counts += other.counts
        self.rows += other.rows

    def ranking(self) -> Ranking:
        """Rank the buckets, and bound what their inner order can do to the AUC.

        A pair inside a bucket counts ½ here and 0, ½ or 1 in truth: at most Σ_b a_b·z_b / (2PN).
        """
        by_label = self.counts.reshape(-1, 2)
        filled = np.flatnonzero(np.logical_or(*by_label.T))[::-1]
        inside = by_label[filled]
        below = np.cumsum(inside, axis=0)
        lower_ends = scores_of_narrow(np.maximum(filled << DROPPED_BITS, MIN_KEY))
        ranking = ranking_of(lower_ends, below[:, 1], below[:, 0])
        negatives, positives = inside.astype(np.float64).T
        pairs = ranking.n_positive * ranking.n_negative
        half_width = sum_of_products(positives, negatives) / (2 * pairs) if pairs else np.nan
        bounds = ranking.auc - half_width, ranking.auc + half_width
        summary = replace(ranking.summary, auc_bounds=(max(bounds[0], 0.0), min(bounds[1], 1.0)))
        return replace(ranking, summary=summary, exact=False, complete=False)


@dataclass(eq=False)
class ScoreTally:
    """Holds scores and labels until the ranking is needed; tallies of parts merge.

    A float32 score with its label takes 2 bytes, a float64 score 6: from 2²⁰ rows on they are
    scattered run by run; fewer take 5 and 9.  Beyond `max_bytes`, or 2³¹ rows, they are counted in
    2²⁴ buckets: counts at the thresholds remain exact, and the ranking gives bounds of the AUC.

    Runs of float64 hold the buckets `held`; `read_again` gives others when the ranking is made.
    """

    max_bytes: int = FOUR_GIBIBYTES
    rows: int = 0
    parts: list[tuple[NDArray[Any], Flags]] = field(default_factory=list, repr=False)
    weights: list[Array] = field(default_factory=list, repr=False)
    runs: list[Run] = field(default_factory=list, repr=False)
    histogram: ScoreHistogram | None = field(default=None, repr=False)
    held: range = field(default=EVERY_BUCKET, repr=False)
    read_again: ReadAgain | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_whole_number(self.max_bytes, "max_bytes", low=1)

    @property
    def exact(self) -> bool:
        """Whether every score is still held."""
        return self.histogram is None

    @property
    def bytes_held(self) -> int:
        """What the scores take when swept, at the width of the widest: the same for any cut.

        Weighted ones are never scattered.
        """
        widest = max(self._kinds, key=lambda kind: kind.itemsize, default=NARROW.kind)
        if self.weights:
            return self.rows * (widest.itemsize + LABEL_BYTES + WEIGHT_BYTES)
        return self.rows * np.dtype((NARROW if widest == NARROW.kind else WIDE).low).itemsize

    @property
    def _kinds(self) -> set[np.dtype[Any]]:
        """The types of the scores that are held."""
        return {scores.dtype for scores, _ in self.parts} | {run.layout.kind for run in self.runs}

    def add(
        self,
        scores: ArrayLike,
        is_positive: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        copy: bool = True,
    ) -> "ScoreTally":
        """Take in one batch; return the tally itself.

        Arrays that are not copied must stay as they are until the ranking is made.
        """
        column, positive = as_scores(scores), as_labels(is_positive)
        if len(column) == 0 and len(positive) == 0:
            return self
        check_same_length(scores=column, is_positive=positive)
        weights = [] if weight is None else [as_weights(weight, len(column))]
        if copy:
            column, positive = column.copy(), positive.copy()
            weights = [one.copy() for one in weights]
        return self._take([(column, positive)], weights)

    def merge(self, other: "ScoreTally") -> "ScoreTally":
        """Take in what another tally has seen; return the tally itself."""
        self._take(other.parts, other.weights, other.runs)
        if other.histogram is not None:
            self._to_histogram().merge(other.histogram)
            self.rows += other.histogram.rows
        return self

    def ranking(self) -> Ranking:
        """Rank all scores seen so far; once, if some of them must be read again."""
        if self.rows == 0:
            raise InputError("`scores` must have at least one example; got 0.")
        if self.histogram is not None:
            return self.histogram.ranking()
        widest = max(self._kinds, key=lambda kind: kind.itemsize)
        parts = [(scores.astype(widest, copy=False), labels) for scores, labels in self.parts]
        if not self.weights:
            runs = [run if run.layout.kind == widest else as_run([run.part()]) for run in self.runs]
            if self.read_again is not None:
                self.runs = []
            return rank_parts(parts, runs, self.read_again)
        scores, labels = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return rank(scores, labels, np.concatenate(self.weights))

    def _take(
        self,
        parts: list[tuple[NDArray[Any], Flags]],
        weights: list[Array],
        runs: Sequence[Run] = (),
    ) -> "ScoreTally":
        if (parts or runs) and self.rows and bool(weights) != bool(self.weights):
            raise InputError("`weight` must be given for every batch or for none.")
        self.rows += sum(len(scores) for scores, _ in parts) + sum(run.rows for run in runs)
        if self.histogram is not None:
            for scores, labels in (*parts, *(run.part() for run in runs)):
                self.histogram.add(scores, labels)
            return self
        self.parts += parts
        self.weights += weights
        self.runs += runs
        self._join_small()
        self.scatter(RUN_ROWS)
        if self.bytes_held > self.max_bytes or self.rows >= MAX_ROWS:
            self._to_histogram()
        return self

    def _join_small(self) -> None:
        """Join the last batches while they are small: the number of parts grows as log n."""
        while len(self.parts) > 1:
            (before, labels_before), (last, labels_last) = self.parts[-2:]
            fits = len(last) >= len(before) and len(last) + len(before) <= JOINED_BELOW
            if not fits or last.dtype != before.dtype:
                return
            joined = np.concatenate([before, last]), np.concatenate([labels_before, labels_last])
            self.parts[-2:] = [joined]
            if self.weights:
                self.weights[-2:] = [np.concatenate(self.weights[-2:])]

    def scatter(self, min_rows: int = SENT_AS_RUN) -> None:
        """Scatter the rows that are not yet, if they are so many and have no weights."""
        unscattered = sum(len(scores) for scores, _ in self.parts)
        if self.weights or unscattered < min_rows:
            return
        for kind in {scores.dtype for scores, _ in self.parts}:
            chosen = [part for part in self.parts if part[0].dtype == kind]
            self.runs.append(as_run(chosen, self.held if kind == WIDE.kind else EVERY_BUCKET))
        self.parts = []

    def wide_runs(self) -> list[Run]:
        """Scatter all rows, as float64."""
        self.scatter(1)
        return [run if run.layout is WIDE else as_run([run.part()], self.held) for run in self.runs]

    def may_be_read_again(self, rows: int) -> bool:
        """Whether so many rows of this kind, in all, need not be held at one time."""
        is_wide = self._kinds == {WIDE.kind} and not self.weights
        return is_wide and rows * WIDE.kind.itemsize <= self.max_bytes and rows < MAX_ROWS

    def hold_at_most(self, rows: int) -> None:
        """Let go of the lowest rows of runs of float64 until so many are left; all stay counted."""
        if sum(len(run.low) for run in self.runs if run.layout is WIDE) > rows:
            counts = np.zeros(BUCKETS + 1, dtype=np.int64)
            for run in self.runs:
                if run.layout is WIDE:
                    np.add.at(counts, run.cells // 2, np.diff(run.starts))
            reached = np.cumsum(counts[::-1])[::-1]  # rows of a bucket and of all above it
            self.held = range(int(np.argmax(reached <= rows)), BUCKETS)
        for at, run in enumerate(self.runs):  # one by one: each is freed before the next is cut
            if run.layout is WIDE and run.held.start < self.held.start:
                self.runs[at] = run.only(self.held)

    def _to_histogram(self) -> ScoreHistogram:
        if self.histogram is not None:
            return self.histogram
        if self.weights:
            raise InputError(
                f"`max_bytes` must be at least {self.bytes_held} to hold these weighted scores; "
                f"got {self.max_bytes}. Weighted scores cannot be counted in buckets."
            )
        self.histogram = ScoreHistogram()
        for scores, labels in (*self.parts, *(run.part() for run in self.runs)):
            refuse_nan(scores)
            self.histogram.add(scores, labels)
        self.parts, self.runs = [], []
        return self.histogram
