"""The measures of many rankings at once: one row each, over shared scores or bins of scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import check_choice
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_summary import LEVELS, RECALL_SLACK

Table = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True)
class Binned:
    """Positives and negatives of R rankings in B bins, descending; shape (R, B).

    A bin that is `spread` holds several scores: its positives and negatives are taken to lie evenly
    between its ends.  `inside_auc` is the AUC within each bin: ½ for a single score.
    """

    positives: Table
    negatives: Table
    inside_auc: Array
    spread: NDArray[np.bool_]

    @cached_property
    def tp(self) -> Array:
        """Positives found at the lower end of each bin."""
        return _running(self.positives)

    @cached_property
    def fp(self) -> Array:
        """Negatives found at the lower end of each bin."""
        return _running(self.negatives)

    @cached_property
    def found(self) -> Array:
        """Both."""
        return self.tp + self.fp

    @cached_property
    def precision(self) -> Array:
        """At the lower end of each bin; 0 while nothing is found."""
        return self.tp / np.maximum(self.found, np.finfo(float).tiny)

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
    before = binned.found[:, chosen] - size
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
    distance = np.where(binned.found == total, -1.0, distance)
    mean = (binned.precision + recall) / 2
    nearest = distance == distance.min(axis=1, keepdims=True)
    best = np.where(nearest, mean, -np.inf).max(axis=1)
    return np.where(np.isnan(binned.n_positive), np.nan, best)


def _breakeven_inside(binned: Binned) -> Array:
    """Recall where as many are found as there are positives, by going evenly through that bin."""
    total = binned.n_positive
    at = np.argmax(binned.found >= np.nan_to_num(total)[:, None], axis=1)
    rows = np.arange(len(at))
    size = (binned.positives + binned.negatives)[rows, at]
    left_over = binned.found[rows, at] - total
    share = binned.positives[rows, at] / np.maximum(size, np.finfo(float).tiny)
    return np.asarray((binned.tp[rows, at] - share * left_over) / total)


def _eleven_point(binned: Binned) -> Array:
    best_from = np.maximum.accumulate(binned.precision[:, ::-1], axis=1)[:, ::-1]
    scaled = (LEVELS - 1) * binned.tp + RECALL_SLACK * binned.tp[:, -1:]
    wanted = np.arange(LEVELS) * binned.tp[:, -1:]
    first = np.array([np.searchsorted(*pair) for pair in zip(scaled, wanted, strict=True)])
    total = np.take_along_axis(best_from, first, axis=1).sum(axis=1)
    return np.where(np.isnan(binned.n_positive), np.nan, total / LEVELS)


def _ks(binned: Binned) -> Array:
    ahead = binned.tp / binned.n_positive[:, None] - binned.fp / binned.n_negative[:, None]
    return np.asarray(ahead.max(axis=1))


def _best_f1(binned: Binned) -> Array:
    return np.asarray((2 * binned.tp / (binned.n_positive[:, None] + binned.found)).max(axis=1))


FORMULAS: dict[str, Callable[[Binned], Array]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "breakeven_point": _breakeven_point,
    "eleven_point_precision": _eleven_point,
    "ks": _ks,
    "best_f1": _best_f1,
}
