"""Scores and labels → the ranking of the examples: a curve of exact counts, and its summary."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_same_length
from truerisk.errors import InputError
from truerisk.tallies.ranking_summary import Column, RankingSummary, summarise

SORTED_UP_TO = 50_000  # rows; sorting them takes less time than loading the compiled sweeps
COMPLETE_UP_TO = 2**16  # distinct scores; a longer curve is thinned
THINNED_TO = 2**14
TOP = 256  # highest scores that are always kept: there a single example moves the precision
STEPS = (THINNED_TO - TOP) // 2 - 8  # of positives and of negatives; 16 are left for best points
LARGEST_INTEGER = 2**53  # beyond it, float64 merges neighbouring integers


@dataclass(frozen=True, eq=False)
class Ranking:
    """How many positives and negatives score at least each threshold.

    The counts are exact at every threshold that is kept.  A curve of more than 2¹⁶ distinct scores
    keeps at most 2¹⁴ of them: the 256 highest, the best points of the summary, and so many that
    between two neighbours lie less than 1/8000 of the positives and of the negatives, ties apart.
    The summary is of *all* scores in any case.

    Attributes
    ----------
    thresholds
        Distinct scores, descending; an example is found when its score is at least the threshold.
    tp, fp
        Positives and negatives found at each: int64, or float64 sums of weights.
    n_positive, n_negative
        All there are of each.
    distinct
        How many distinct scores there are, kept or not.
    complete
        Whether every distinct score is kept.
    exact
        False when the scores were too many to be held and were counted in buckets; then the AUC is
        known to lie within `summary.auc_bounds`.
    rows
        Number of positive and negative examples, whatever their weights.
    effective_n
        Number of equally weighted examples that would be as informative (Kish).

    Examples
    --------
    >>> ranking = rank([0.9, 0.4, 0.1], [True, False, True])
    >>> ranking.tp.tolist(), ranking.fp.tolist(), ranking.auc
    ([1, 1, 2], [0, 1, 1], 0.5)
    """

    thresholds: NDArray[np.float64]
    tp: Column
    fp: Column
    n_positive: float
    n_negative: float
    distinct: int
    complete: bool
    summary: RankingSummary
    rows: tuple[int, int] = field(repr=False)
    weighted: bool = False
    exact: bool = True
    effective_n: float = np.nan

    def __post_init__(self) -> None:
        if not self.weighted:
            object.__setattr__(self, "effective_n", float(self.n))

    @property
    def n(self) -> int:
        """All examples."""
        return sum(self.rows)

    @property
    def auc(self) -> float:
        """Probability that a positive scores above a negative, ties counting one half."""
        return self.summary.auc

    @property
    def auc_bounds(self) -> tuple[float, float]:
        """Between these the AUC of all scores lies for certain; both are `auc` when exact."""
        return self.summary.auc_bounds

    @property
    def delong_variance(self) -> float:
        """Variance of the AUC."""
        return self.summary.delong_variance


def rank(scores: ArrayLike, is_positive: ArrayLike, weight: ArrayLike | None = None) -> Ranking:
    """Rank examples by their score.

    Scores that are equal share a threshold; scores that differ, if only in the last bit, do not.
    0.0 equals −0.0, and infinities are the first and the last rank.  The result does not depend on
    the order of the rows.

    Parameters
    ----------
    scores
        One number an example; larger means more positive.  float32 is kept as it is.
    is_positive
        One boolean an example.
    weight
        Non-negative weights.  Their ranking is sorted, not swept: 10⁷ rows take seconds.

    Examples
    --------
    >>> ranking = rank([0.9, 0.8, 0.8, 0.1], [True, True, False, False])
    >>> ranking.thresholds.tolist(), ranking.tp.tolist(), ranking.fp.tolist()
    ([0.9, 0.8, 0.1], [1, 2, 2], [0, 1, 2])
    >>> ranking.auc
    0.875
    """
    column, positive = as_scores(scores), as_labels(is_positive)
    check_same_length(scores=column, is_positive=positive)
    if weight is not None:
        return _rank_weighted(column, positive, as_weights(weight, len(column)))
    return rank_parts([(column, positive)])


def rank_parts(parts: list[tuple[NDArray[Any], NDArray[np.bool_]]]) -> Ranking:
    """Rank scores that come in several parts of one type, without joining a large number."""
    if sum(len(scores) for scores, _ in parts) > SORTED_UP_TO:
        from truerisk.tallies import radix_rank  # noqa: PLC0415  (only for many rows)

        return radix_rank.rank_by_radix(parts)
    scores = np.concatenate([scores for scores, _ in parts])
    positive = np.concatenate([positive for _, positive in parts])
    refuse_nan(scores)
    order = np.argsort(scores)[::-1]
    ordered = scores[order].astype(np.float64) + 0.0  # −0.0 + 0.0 is 0.0
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    tp = np.cumsum(positive[order])[ends]
    return ranking_of(ordered[ends], tp, ends + 1 - tp)


def ranking_of(
    thresholds: NDArray[np.float64], tp: NDArray[np.int64], fp: NDArray[np.int64]
) -> Ranking:
    """Make a ranking of all its distinct scores and the counts found at each."""
    summary = summarise(thresholds, np.diff(tp, prepend=0), np.diff(fp, prepend=0))
    rows = int(tp[-1]), int(fp[-1])
    return _thinned(thresholds, tp, fp, summary, rows)


def as_scores(scores: ArrayLike) -> NDArray[Any]:
    """Return one column of float32 or float64 that ranks as the scores do."""
    column = np.asarray(scores)
    if column.ndim != 1 or column.dtype.kind not in "fiub":
        raise InputError(
            f"`scores` must be one column of numbers; got {column.dtype} of shape {column.shape}."
        )
    if column.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(column)
    if column.dtype.kind in "iu" and column.dtype.itemsize == 8 and len(column):
        largest = max(abs(int(column.min())), abs(int(column.max())))
        if largest > LARGEST_INTEGER:
            raise InputError(f"`scores` must be at most 2**53 when integers; got {largest}.")
    if column.dtype.itemsize > 8:
        raise InputError(f"`scores` must be float64 or narrower; got {column.dtype}.")
    return column.astype(np.float32 if column.dtype.itemsize <= 2 else np.float64)


def as_labels(is_positive: ArrayLike) -> NDArray[np.bool_]:
    """Return one column of booleans."""
    column = np.asarray(is_positive)
    if column.ndim != 1 or (column.dtype != np.bool_ and len(column)):
        raise InputError(
            "`is_positive` must be one column of booleans; "
            f"got {column.dtype} of shape {column.shape}. Compare with the positive label first."
        )
    return np.ascontiguousarray(column, dtype=np.bool_)


def as_weights(weight: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return one column of weights, not all of them 0."""
    column = np.asarray(weight, dtype=np.float64)
    if column.shape != (n,):
        raise InputError(f"`weight` must have one entry an example; got shape {column.shape}.")
    strange = ~(np.isfinite(column) & (column >= 0))
    if strange.any():
        raise InputError(
            f"`weight` must be finite and not negative; got {column[strange][0]:g} "
            f"({np.count_nonzero(strange)} such)."
        )
    return column


def refuse_nan(scores: NDArray[Any]) -> None:
    """Raise when a score has no rank."""
    count = int(np.count_nonzero(np.isnan(scores)))
    if count:
        raise InputError(f"`scores` must be numbers; {count} are NaN. Drop these examples first.")


def _rank_weighted(
    scores: NDArray[Any], positive: NDArray[np.bool_], weight: NDArray[np.float64]
) -> Ranking:
    refuse_nan(scores)
    # A row of no weight is no row; and sums are taken in an order that the content decides.
    kept = weight > 0
    if not kept.any():
        raise InputError("`weight` must be positive somewhere; all are 0.")
    scores, positive, weight = scores[kept].astype(np.float64) + 0.0, positive[kept], weight[kept]
    order = np.lexsort((weight, positive, -scores))
    scores, positive, weight = scores[order], positive[order], weight[order]
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    of_positive, of_negative = np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)
    positives, negatives = (np.add.reduceat(w, starts) for w in (of_positive, of_negative))
    squares = np.add.reduceat(of_positive**2, starts), np.add.reduceat(of_negative**2, starts)
    n_positive = int(np.count_nonzero(positive))
    rows = n_positive, len(scores) - n_positive
    summary = summarise(scores[starts], positives, negatives, squares, rows)
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    effective_n = float(weight.sum() ** 2 / (weight**2).sum())
    return _thinned(scores[starts], tp, fp, summary, rows, effective_n=effective_n)


def _thinned(
    thresholds: NDArray[np.float64],
    tp: Column,
    fp: Column,
    summary: RankingSummary,
    rows: tuple[int, int],
    *,
    effective_n: float | None = None,
) -> Ranking:
    distinct, complete = len(thresholds), len(thresholds) <= COMPLETE_UP_TO
    totals = tp[-1].item(), fp[-1].item()
    if not complete:
        kept = at_steps(tp) | at_steps(fp)
        kept[:TOP] = kept[-1] = True
        special = (
            summary.best_f1_threshold, summary.ks_threshold, summary.breakeven.threshold
        )  # fmt: skip
        kept |= np.isin(thresholds, special)
        thresholds, tp, fp = thresholds[kept], tp[kept], fp[kept]
    weighted = effective_n is not None
    return Ranking(
        thresholds,
        tp,
        fp,
        *totals,
        distinct,
        complete,
        summary,
        rows,
        weighted=weighted,
        effective_n=np.nan if effective_n is None else effective_n,
    )


def at_steps(running: Column, steps: int = STEPS) -> NDArray[np.bool_]:
    """Mark the places at which a running total reaches a further of so many equal steps."""
    total = running[-1]
    if total == 0:
        return np.zeros(len(running), dtype=bool)
    if running.dtype.kind == "i" and total < LARGEST_INTEGER // steps:
        step: NDArray[Any] = running * steps // total
    else:
        step = np.floor(running * (steps / total))
    return np.diff(step, prepend=0) > 0
