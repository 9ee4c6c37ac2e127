"""Bootstrap replicates of ranking measures, at a cost that does not depend on how many rows.

Drawing n rows with replacement is drawing a multinomial count for every (score, class).  Where
there are more than about a thousand distinct scores, neighbours are put in one bin: the counts of
the bins are still multinomial, and only how positives and negatives lie *inside* a bin is held
fixed.  With no more than that many scores, the replicates are those of the rows themselves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.checks import check_choice, check_same_length, check_whole_number
from truerisk.errors import InputError
from truerisk.tallies.placements import share_below
from truerisk.tallies.ranking import (
    LEVELS,
    RECALL_SLACK,
    TOP,
    Column,
    Ranking,
    as_labels,
    as_scores,
    as_weights,
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


def cluster_replicates(
    scores: ArrayLike,
    is_positive: ArrayLike,
    groups: ArrayLike,
    names: Sequence[str],
    *,
    weight: ArrayLike | None = None,
    replicates: int = 1000,
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Resample whole groups of rows, and give the measures of each resample.

    Rows of one group are drawn together, and what they have in common counts once.  The cost
    of a replicate grows with the number of rows.
    """
    check_names(names)
    check_whole_number(replicates, "replicates", low=1)
    column, positive = as_scores(scores), as_labels(is_positive)
    n = check_same_length(scores=column, is_positive=positive)
    refuse_nan(column)
    weights = np.ones(n) if weight is None else as_weights(weight, n)
    codes = _group_codes(groups, n)
    order = np.lexsort((codes, positive, -column.astype(np.float64)))
    ordered = column[order] + column.dtype.type(0)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    of_row, positive, weights = codes[order], positive[order], weights[order]
    n_groups = int(codes.max()) + 1
    single = np.zeros(len(starts), dtype=bool), np.full(len(starts), 0.5)
    drawn: dict[str, list[Array]] = {name: [] for name in names}
    for size in _blocks(replicates, n):
        times = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=size)
        of_rows = times[:, of_row] * weights
        positives = np.add.reduceat(np.where(positive, of_rows, 0), starts, axis=1)
        negatives = np.add.reduceat(np.where(positive, 0, of_rows), starts, axis=1)
        measured = evaluate(Binned(positives, negatives, single[1], single[0]), names)
        for name, values in measured.items():
            drawn[name].append(values)
    return {name: np.concatenate(values) for name, values in drawn.items()}


def cluster_auc_variance(
    scores: ArrayLike,
    is_positive: ArrayLike,
    groups: ArrayLike,
    weight: ArrayLike | None = None,
) -> float:
    """Variance of the AUC when rows come in groups that are drawn together.

    With X_g and Y_g the sums of placement − AUC over the positives and negatives of group g: G₊/(G₊
    − 1) ΣX²/P² + G₋/(G₋ − 1) ΣY²/N² + 2G/(G − 1) ΣXY/(PN).  Groups of one row give DeLong's. Valid
    for many groups; NaN when a class occurs in fewer than two.
    Source: N. A. Obuchowski, Biometrics 53(2), 567-578, 1997.
    """
    column, positive = as_scores(scores), as_labels(is_positive)
    n = check_same_length(scores=column, is_positive=positive)
    refuse_nan(column)
    codes = _group_codes(groups, n)
    weights = np.ones(n) if weight is None else as_weights(weight, n)
    # Sums in an order of their own: no digit may depend on how the rows are spread over files.
    order = np.lexsort((weights, positive, column))
    column, positive = column[order], positive[order]
    weights, codes = weights[order], codes[order]
    with_positives = len(np.unique(codes[positive & (weights > 0)]))
    with_negatives = len(np.unique(codes[~positive & (weights > 0)]))
    if min(with_positives, with_negatives) < 2:
        return np.nan
    n_positive, n_negative = float(weights[positive].sum()), float(weights[~positive].sum())
    placed = np.empty(n)
    for rows in (positive, ~positive):
        placed[rows] = share_below(column[rows], column[~rows], weights[~rows])
    placed[~positive] = 1 - placed[~positive]
    auc = float(weights[positive] @ placed[positive]) / n_positive
    size = int(codes.max()) + 1
    off = weights * (placed - auc)
    of_positives = np.bincount(codes, weights=np.where(positive, off, 0), minlength=size)
    of_negatives = np.bincount(codes, weights=np.where(positive, 0, off), minlength=size)
    first = fsum(of_positives**2) / n_positive**2 * with_positives / (with_positives - 1)
    second = fsum(of_negatives**2) / n_negative**2 * with_negatives / (with_negatives - 1)
    crossed = fsum(of_positives * of_negatives) / (n_positive * n_negative) * size / (size - 1)
    return float(first + second + 2 * crossed)


def _group_codes(groups: ArrayLike, n: int) -> Indices:
    column = np.asarray(groups)
    if column.shape != (n,):
        raise InputError(f"`groups` must have one entry per example; got shape {column.shape}.")
    return np.unique(column, return_inverse=True)[1]
