"""Bootstrap replicates of ranking measures, at a cost that does not depend on how many rows.

Drawing n rows with replacement is drawing a multinomial count for every (score, class).  Where
there are more than about a thousand distinct scores, neighbours are put in one bin: the counts of
the bins are still multinomial, and only how positives and negatives lie *inside* a bin is held
fixed.  With no more than that many scores, the replicates are those of the rows themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array, Flags
from truerisk.checks import check_choice, check_same_length, check_whole_number
from truerisk.tallies.ranking import (
    LEVELS,
    RECALL_SLACK,
    TOP,
    Column,
    Ranking,
    as_labels,
    as_scores,
    at_steps,
    refuse_nan,
)

Table = NDArray[np.int64] | Array
MAX_BINS = 1000
BIN_STEPS = (MAX_BINS - TOP) // 2  # of positives and of negatives, below the highest scores
ROWS_A_CELL = 10  # fewer than this many rows a cell are drawn one by one
ENTRIES_AT_ONCE = 2**17  # of a table (replicates, bins): what stays in the cache


@dataclass(frozen=True)
class Binned:
    """Positives and negatives of R rankings in B bins, descending; shape (R, B).

    A bin that is `spread` holds several scores: its positives and negatives are taken to lie evenly
    between its ends.  `inside_auc` is the AUC within each bin: ½ for a single score.
    """

    positives: Table
    negatives: Table
    inside_auc: Array
    spread: Flags

    @cached_property
    def tp(self) -> Array:
        """Positives found at the lower end of each bin."""
        return _running(self.positives)

    @cached_property
    def fp(self) -> Array:
        """Negatives found at the lower end of each bin."""
        return _running(self.negatives)

    @cached_property
    def retrieved(self) -> Array:
        """Both."""
        return self.tp + self.fp

    @cached_property
    def precision(self) -> Array:
        """At the lower end of each bin; 0 while nothing is found."""
        return self.tp / np.maximum(self.retrieved, np.finfo(float).tiny)

    @cached_property
    def n_positive(self) -> Array:
        """Positives of each ranking; NaN where there are none, and so is what is divided by it."""
        total = self.tp[:, -1]
        return np.where(total > 0, total, np.nan)

    @cached_property
    def n_negative(self) -> Array:
        """Negatives of each ranking; NaN where there are none."""
        total = self.fp[:, -1]
        return np.where(total > 0, total, np.nan)


def _running(table: Table) -> Array:
    # Whole numbers are added four times as fast as they are, and below 2**53 as exactly.
    return np.cumsum(table, axis=1).astype(np.float64, copy=False)


def evaluate(binned: Binned, names: Sequence[str]) -> dict[str, Array]:
    """Compute the named measures of every ranking."""
    return {name: FORMULAS[name](binned) for name in names}


def check_names(names: Sequence[str]) -> None:
    """Refuse measures that have no formula here."""
    for name in names:
        check_choice(name, FORMULAS, "names")


def values_of(ranking: Ranking, name: str) -> float:
    """Give the exact value of the measure."""
    summary = ranking.summary
    if name == "eleven_point_precision":
        return sum(summary.eleven_point) / LEVELS
    if name == "breakeven_point":
        return summary.breakeven.value
    return float(getattr(summary, {"roc_auc": "auc"}.get(name, name)))


def _roc_auc(binned: Binned) -> Array:
    beaten = binned.tp - binned.positives * (1 - binned.inside_auc)
    won = np.einsum("rb,rb->r", binned.negatives.astype(np.float64), beaten)
    return np.asarray(won / (binned.n_positive * binned.n_negative))


def _average_precision(binned: Binned) -> Array:
    at_ends = np.einsum("rb,rb->r", binned.positives.astype(np.float64), binned.precision)
    if binned.spread.any():
        at_ends += _inside_bins(binned)
    return np.asarray(at_ends / binned.n_positive)


def _inside_bins(binned: Binned) -> Array:
    """Add up what positives of spread bins gain over the precision at the bin's end.

    Along a bin with a positives and z negatives, evenly mixed, precision is
    (TP + au) / (TP + FP + (a + z)u) for u from 0 to 1; its mean is an integral with a logarithm.
    """
    chosen = np.flatnonzero(binned.spread)
    positives = binned.positives[:, chosen].astype(np.float64)
    size = positives + binned.negatives[:, chosen]
    before = binned.retrieved[:, chosen] - size
    tp_before = binned.tp[:, chosen] - positives
    inside = (positives > 0) & (before > 0)
    safe_size, safe_before = np.where(inside, size, 1), np.where(inside, before, 1)
    share = positives / safe_size
    mean = share + (tp_before - share * before) / safe_size * np.log1p(safe_size / safe_before)
    gain = np.where(inside, positives * (mean - binned.precision[:, chosen]), 0.0)
    return np.asarray(gain.sum(axis=1))


def _breakeven_point(binned: Binned) -> Array:
    if binned.spread.any():
        return _breakeven_inside(binned)
    total = binned.n_positive[:, None]
    recall = binned.tp / total
    distance = np.abs(binned.precision - recall)
    distance = np.where(binned.tp > 0, distance, np.inf)
    distance = np.where(binned.retrieved == total, -1.0, distance)
    mean = (binned.precision + recall) / 2
    nearest = distance == distance.min(axis=1, keepdims=True)
    best = np.where(nearest, mean, -np.inf).max(axis=1)
    return np.where(np.isnan(binned.n_positive), np.nan, best)


def _breakeven_inside(binned: Binned) -> Array:
    """Recall where as many are found as there are positives, by going evenly through that bin."""
    total = binned.n_positive
    at = np.argmax(binned.retrieved >= np.nan_to_num(total)[:, None], axis=1)
    rows = np.arange(len(at))
    size = (binned.positives + binned.negatives)[rows, at]
    left_over = binned.retrieved[rows, at] - total
    share = binned.positives[rows, at] / np.maximum(size, np.finfo(float).tiny)
    return np.asarray((binned.tp[rows, at] - share * left_over) / total)


def _eleven_point(binned: Binned) -> Array:
    best_from = np.maximum.accumulate(binned.precision[:, ::-1], axis=1)[:, ::-1]
    scaled = (LEVELS - 1) * binned.tp + RECALL_SLACK * binned.tp[:, -1:]
    needed = np.arange(LEVELS) * binned.tp[:, -1:]
    first = np.array([np.searchsorted(*pair) for pair in zip(scaled, needed, strict=True)])
    total = np.take_along_axis(best_from, first, axis=1).sum(axis=1)
    return np.where(np.isnan(binned.n_positive), np.nan, total / LEVELS)


def _ks(binned: Binned) -> Array:
    ahead = binned.tp / binned.n_positive[:, None] - binned.fp / binned.n_negative[:, None]
    return np.asarray(ahead.max(axis=1))


def _best_f1(binned: Binned) -> Array:
    return np.asarray((2 * binned.tp / (binned.n_positive[:, None] + binned.retrieved)).max(axis=1))


FORMULAS: dict[str, Callable[[Binned], Array]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "breakeven_point": _breakeven_point,
    "eleven_point_precision": _eleven_point,
    "ks": _ks,
    "best_f1": _best_f1,
}


@dataclass(frozen=True)
class Bins:
    """Positives and negatives of each bin, descending, and how they lie inside it."""

    positives: Column
    negatives: Column
    inside_auc: Array
    spread: Flags  # whether the bin holds several scores


def replicates(
    ranking: Ranking,
    names: Sequence[str],
    *,
    replicates: int = 1000,
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Resample the examples of a ranking, and give the measures of each resample.

    Exactly the plain bootstrap of rows up to 1000 distinct scores; beyond, up to the order inside
    bins of a few thousandths of the rows.  NaN where a class is missing.  A weighted ranking is
    drawn as one of `effective_n` equal examples, right if weights do not depend on scores.
    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6.
    """
    check_names(names)
    check_whole_number(replicates, "replicates", low=1)
    bins = bins_of(ranking)
    cells = np.concatenate([bins.positives, bins.negatives])
    n = max(1, round(ranking.effective_n))
    # What binning does to the value is taken off again: 0 when every bin is a single score.
    observed = evaluate(_binned(bins, cells[None]), names)
    off = {name: values_of(ranking, name) - observed[name][0] for name in names}
    drawn: dict[str, list[Array]] = {name: [] for name in names}
    few = cells.dtype.kind == "i" and n < ROWS_A_CELL * np.count_nonzero(cells)
    draw = _rows_drawn if few else _counts_drawn
    for size in _blocks(replicates, len(cells)):
        counts = draw(cells, n, size, rng)
        for name, values in evaluate(_binned(bins, counts), names).items():
            drawn[name].append(values + off[name] if bins.spread.any() else values)
    return {name: np.clip(np.concatenate(values), 0.0, 1.0) for name, values in drawn.items()}


def bins_of(ranking: Ranking) -> Bins:
    """Group the scores of a ranking into at most a thousand bins, cut evenly in both classes."""
    kept = np.ones(len(ranking.tp), dtype=bool)
    if len(kept) > MAX_BINS:
        kept = at_steps(ranking.tp, BIN_STEPS) | at_steps(ranking.fp, BIN_STEPS)
        kept[: TOP - 1] = kept[-1] = True
    last = np.flatnonzero(kept)
    first = np.concatenate([[0], last[:-1] + 1])
    tp, fp = ranking.tp[last], ranking.fp[last]
    positives, negatives = np.diff(tp, prepend=0), np.diff(fp, prepend=0)
    # Twice the won pairs inside each bin, counted from its own upper end.
    each_positive = np.diff(ranking.tp, prepend=0)
    each_negative = np.diff(ranking.fp, prepend=0).astype(np.float64)
    won = np.add.reduceat(each_negative * (2 * ranking.tp - each_positive), first)
    won -= 2.0 * (tp - positives) * negatives
    pairs = positives.astype(np.float64) * negatives
    inside = np.where(pairs > 0, won / np.where(pairs > 0, 2 * pairs, 1), 0.5)
    spread = last > first
    if not ranking.complete:
        spread[TOP:] = True
    return Bins(positives, negatives, inside, spread)


def _counts_drawn(cells: Column, n: int, size: int, rng: np.random.Generator) -> Column:
    """Draw `size` multinomial samples of n examples, cell by cell."""
    filled = np.flatnonzero(cells)
    counts = np.zeros((size, len(cells)), dtype=np.int64)
    counts[:, filled] = rng.multinomial(n, cells[filled] / cells.sum(), size=size)
    return counts


def _rows_drawn(cells: Column, n: int, size: int, rng: np.random.Generator) -> Column:
    """Draw the same, row by row: quicker where a cell holds but a few of the whole numbers."""
    cell_of_row = np.repeat(np.arange(len(cells)), cells)
    drawn = cell_of_row[rng.integers(len(cell_of_row), size=(size, n))]
    drawn += len(cells) * np.arange(size)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=size * len(cells))
    return counts.reshape(size, len(cells))


def _binned(bins: Bins, counts: Column) -> Binned:
    positives, negatives = np.split(counts, 2, axis=1)
    return Binned(positives, negatives, bins.inside_auc, bins.spread)


def _blocks(replicates: int, width: int) -> Iterator[int]:
    size = max(1, ENTRIES_AT_ONCE // width)
    for start in range(0, replicates, size):
        yield min(size, replicates - start)


def values_of_weights(
    scores: ArrayLike, is_positive: ArrayLike, weights: Array, names: Sequence[str]
) -> dict[str, Array]:
    """Give the measures of one ranking under many weightings (R, n) of its rows."""
    check_names(names)
    column, positive = as_scores(scores), as_labels(is_positive)
    check_same_length(scores=column, is_positive=positive)
    refuse_nan(column)
    order = np.argsort(-column.astype(np.float64), kind="stable")
    ordered = column[order] + column.dtype.type(0)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    of_rows, positive = weights[:, order], positive[order]
    positives = np.add.reduceat(np.where(positive, of_rows, 0.0), starts, axis=1)
    negatives = np.add.reduceat(np.where(positive, 0.0, of_rows), starts, axis=1)
    single = np.zeros(len(starts), dtype=bool), np.full(len(starts), 0.5)
    return evaluate(Binned(positives, negatives, single[1], single[0]), names)
