"""Scores and labels → the ranking of the examples: a curve of exact counts, and its summary.

The summary is computed from the distinct scores, in descending order, and how many positives and
negatives stand at each: `summarise` does it with NumPy; the compiled sweeps of `radix` and
`radix_wide` give the same numbers for rankings too long to be sorted.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags
from truerisk.checks import check_same_length
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.tallies.radix_rank import ReadAgain, Run

Column = NDArray[Any]  # int64 counts, or float64 sums of weights

LEVELS = 11  # recall 0, .1, …, 1
RECALL_SLACK = 1e-12  # sums of weights are rounded; counts are not, and need none
EXACT_PRODUCTS = 2**31  # examples up to which products of two counts fit in int64
SORTED_UP_TO = 50_000  # rows; sorting them takes less time than loading the compiled sweeps
COMPLETE_UP_TO = 2**16  # distinct scores; a longer curve is thinned
THINNED_TO = 2**14
TOP = 256  # highest scores that are always kept: there a single example moves the precision
STEPS = (THINNED_TO - TOP) // 2 - 8  # of positives and of negatives; 16 are left for best points
LARGEST_INTEGER = 2**53  # beyond it, float64 merges neighbouring integers


@dataclass(frozen=True)
class Breakeven:
    """Where precision and recall meet, or come nearest to each other."""

    value: float
    threshold: float
    interpolated: bool
    precision: float
    recall: float


UNKNOWN = (np.nan, np.nan)
NO_BREAKEVEN = Breakeven(np.nan, np.nan, False, np.nan, np.nan)  # noqa: FBT003


@dataclass(frozen=True)
class RankingSummary:
    """The measures of a ranking.  NaN where a class is missing.

    `delong_variance` is the variance of `auc`; it is NaN with fewer than two examples of a class.
    `precision_spread` is that of `precision_spread`, about the average precision.
    Of several thresholds that do equally well, the highest is given.
    """

    auc: float
    delong_variance: float
    average_precision: float
    best_f1: float
    best_f1_threshold: float
    ks: float
    ks_threshold: float
    breakeven: Breakeven
    eleven_point: tuple[float, ...]
    auc_bounds: tuple[float, float]
    precision_spread: tuple[float, float] = UNKNOWN


def summarise(
    thresholds: Array,
    positives: Column,
    negatives: Column,
    squares: tuple[Array, Array] | None = None,
    rows: tuple[int, int] | None = None,
    *,
    spreads: bool = True,
) -> RankingSummary:
    """Compute every measure of a ranking from its distinct scores, descending.

    With aᵢ positives and zᵢ negatives at the i-th score, TP and FP their running sums: AUC = Σ
    zᵢ(TPᵢ₋₁ + aᵢ/2)/(PN), AP = Σ (aᵢ/P) · TPᵢ/(TPᵢ + FPᵢ).  `squares` are sums of squared weights;
    counts need none.  Without `spreads` the two variances are NaN.
    """
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    n_positive, n_negative = tp[-1], fp[-1]
    retrieved = tp + fp
    auc = variance = ks = ks_threshold = np.nan
    if n_positive > 0 and n_negative > 0:
        auc = _auc(positives, negatives, tp)
        if spreads:
            sides = positives, negatives, tp, fp
            variance = _delong_variance(auc, *sides, squares=squares, rows=rows)
        gain = _products(tp, n_negative) - _products(fp, n_positive)
        ks = min(float(gain.max()) / (float(n_positive) * float(n_negative)), 1.0)
        ks_threshold = float(thresholds[np.argmax(gain)])
    if n_positive == 0:
        return RankingSummary(
            np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan,
            NO_BREAKEVEN, (np.nan,) * LEVELS, (np.nan, np.nan),
        )  # fmt: skip
    precision = tp / np.where(retrieved == 0, 1, retrieved)
    f1 = 2 * tp / (n_positive + retrieved)
    return RankingSummary(
        auc=auc,
        delong_variance=variance,
        average_precision=float(np.sum(positives * precision) / n_positive),
        best_f1=float(f1.max()),
        best_f1_threshold=float(thresholds[np.argmax(f1)]),
        ks=ks,
        ks_threshold=ks_threshold,
        breakeven=breakeven_of(thresholds, tp, retrieved, n_positive),
        eleven_point=_eleven_point(tp, precision),
        auc_bounds=(auc, auc),
        precision_spread=(
            precision_spread(positives, negatives, squares, rows) if spreads else UNKNOWN
        ),
    )


def precision_spread(
    positives: Column,
    negatives: Column,
    squares: tuple[Array, Array] | None = None,
    rows: tuple[int, int] | None = None,
) -> tuple[float, float]:
    r"""Give the variance of the average precision, and what a negative at the very top takes away.

    At the j-th highest score a positive counts with its own precision π, and gives U to those
    below; a negative takes D from them:

    .. math:: U_j = \sum_{i \ge j} \frac{a_i (1 - \pi_i)}{TP_i + FP_i}, \qquad
       D_j = \sum_{i \ge j} \frac{a_i \pi_i}{TP_i + FP_i}, \qquad
       V = \frac{1}{P^2} \Bigl(\sum_j a_j (\pi_j - AP + U_j)^2 + \sum_j z_j D_j^2\Bigr)

    by the influence function; with `squares`, sums of squared weights stand in for a and z.
    """
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    n_positive, retrieved = float(tp[-1]), np.maximum(tp + fp, np.finfo(float).tiny)
    precision = tp / retrieved
    weight = positives / retrieved
    gives = np.cumsum((weight * (1 - precision))[::-1])[::-1]
    takes = np.cumsum((weight * precision)[::-1])[::-1]
    average = sum_of_products(positives, precision) / n_positive
    of_positives, of_negatives = squares or (positives, negatives)
    variance = sum_of_products(of_positives, (precision - average + gives) ** 2)
    variance += sum_of_products(of_negatives, takes**2)
    unit = 1.0 if rows is None or rows[1] == 0 else float(fp[-1]) / rows[1]
    return variance / n_positive**2, unit * float(takes[0]) / n_positive


def sum_of_products(first: Column, second: Column) -> float:
    """Give Σ first · second, the same bits on any computer: BLAS adds by its number of threads."""
    return float((first * second).sum())


def interpolated_precision(tp: Column, fp: Column) -> Array:
    """Give the highest precision at each threshold or any lower one."""
    precision = tp / np.maximum(tp + fp, np.finfo(float).tiny)
    return np.asarray(np.maximum.accumulate(precision[::-1])[::-1])


def breakeven_of(thresholds: Array, tp: Column, retrieved: Column, n_positive: float) -> Breakeven:
    """Find the point at which precision and recall are nearest to each other.

    They are equal where as many examples are found as there are positives.  Elsewhere both are
    also 0 before the first positive is found; that is no breakeven, and such points are left out.
    """
    equal = retrieved == n_positive
    if equal.any():
        at = int(np.argmax(equal))
        value = float(tp[at] / n_positive)
        return Breakeven(value, float(thresholds[at]), False, value, value)  # noqa: FBT003
    able = np.flatnonzero(tp > 0)
    precision, recall = tp[able] / retrieved[able], tp[able] / n_positive
    distance, mean = np.abs(precision - recall), (precision + recall) / 2
    nearest = np.flatnonzero(distance == distance.min())
    at = nearest[np.argmax(mean[nearest])]
    threshold = float(thresholds[able[at]])
    return Breakeven(float(mean[at]), threshold, True, float(precision[at]), float(recall[at]))  # noqa: FBT003


def _products(counts: Column, factor: float) -> Column:
    small = counts.dtype.kind == "i" and counts[-1] < EXACT_PRODUCTS and factor < EXACT_PRODUCTS
    return counts * factor if small else counts.astype(np.float64) * float(factor)


def _auc(positives: Column, negatives: Column, tp: Column) -> float:
    n_positive, n_negative = tp[-1], negatives.sum()
    twice_beaten = 2 * tp - positives
    if tp.dtype.kind == "i" and int(n_positive) + int(n_negative) < EXACT_PRODUCTS:
        return int(negatives @ twice_beaten) / (2 * int(n_positive) * int(n_negative))
    pairs = 2.0 * float(n_positive) * float(n_negative)
    beaten = sum_of_products(negatives.astype(np.float64), twice_beaten.astype(np.float64))
    return min(beaten / pairs, 1.0)  # sums of weights are rounded


def _delong_variance(
    auc: float,
    positives: Column,
    negatives: Column,
    tp: Column,
    fp: Column,
    *,
    squares: tuple[Array, Array] | None,
    rows: tuple[int, int] | None,
) -> float:
    """Spread of the placements, centred first: no cancellation where `auc` is near 0 or 1."""
    n_positive, n_negative = float(tp[-1]), float(fp[-1])
    rows_positive, rows_negative = rows or (n_positive, n_negative)
    if rows_positive < 2 or rows_negative < 2:
        return np.nan
    if len(tp) == 1 or auc in (0.0, 1.0):
        return 0.0  # every example of a class is placed alike
    of_positives = (n_negative - fp + negatives / 2) / n_negative - auc
    of_negatives = (tp - positives / 2) / n_positive - auc
    square_positives, square_negatives = squares or (positives, negatives)
    first = sum_of_products(square_positives, of_positives**2) / n_positive**2
    second = sum_of_products(square_negatives, of_negatives**2) / n_negative**2
    first *= rows_positive / (rows_positive - 1)
    second *= rows_negative / (rows_negative - 1)
    return first + second


def _eleven_point(tp: Column, precision: Array) -> tuple[float, ...]:
    """Highest precision among the points with at least the recall 0, .1, …, 1."""
    best_from = np.maximum.accumulate(precision[::-1])[::-1]
    slack = RECALL_SLACK * float(tp[-1]) if tp.dtype.kind == "f" else 0
    needed = [level * tp[-1] - slack for level in range(LEVELS)]
    first = np.searchsorted((LEVELS - 1) * tp, needed, side="left")
    return tuple(best_from[first].tolist())


@dataclass(frozen=True, eq=False, repr=False)
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

    thresholds: Array
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

    def __repr__(self) -> str:
        areas = f"AUC {self.auc:.3f}, average precision {self.summary.average_precision:.3f}"
        return f"<Ranking: {self.n:,} examples, {self.distinct:,} distinct scores, {areas}>"

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


def rank(
    scores: ArrayLike,
    is_positive: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    spreads: bool = True,
) -> Ranking:
    """Rank examples by their score.

    Scores that are equal share a threshold; scores that differ, if only in the last bit, do not.
    0.0 equals −0.0, and infinities are the first and the last rank.  The result does not depend on
    the order of the rows.

    Parameters
    ----------
    scores
        One number per example; larger means more positive.  float32 is kept as it is.
    is_positive
        One boolean per example.
    weight
        Non-negative weights.  Their ranking is sorted, not swept: 10⁷ rows take seconds.
    spreads
        Whether the summary needs its variances, where they take time.

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
    return rank_parts([(column, positive)], spreads=spreads)


def rank_parts(
    parts: list[tuple[NDArray[Any], Flags]],
    runs: "list[Run] | None" = None,
    read_again: "ReadAgain | None" = None,
    *,
    spreads: bool = True,
) -> Ranking:
    """Rank scores that come in several parts of one type; the list of runs is emptied."""
    if runs or sum(len(scores) for scores, _ in parts) > SORTED_UP_TO:
        from truerisk.tallies import radix_rank

        return radix_rank.rank_by_radix(parts, runs, read_again)
    scores = np.concatenate([scores for scores, _ in parts])
    positive = np.concatenate([positive for _, positive in parts])
    refuse_nan(scores)
    order = np.argsort(scores)[::-1]
    ordered = scores[order].astype(np.float64) + 0.0  # −0.0 + 0.0 is 0.0
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    tp = np.cumsum(positive[order])[ends]
    return ranking_of(ordered[ends], tp, ends + 1 - tp, spreads=spreads)


def ranking_of(
    thresholds: Array, tp: NDArray[np.int64], fp: NDArray[np.int64], *, spreads: bool = True
) -> Ranking:
    """Make a ranking of all its distinct scores and the counts found at each."""
    sides = np.diff(tp, prepend=0), np.diff(fp, prepend=0)
    summary = summarise(thresholds, *sides, spreads=spreads)
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


def as_labels(is_positive: ArrayLike) -> Flags:
    """Return one column of booleans."""
    column = np.asarray(is_positive)
    if column.ndim != 1 or (column.dtype != np.bool_ and len(column)):
        raise InputError(
            "`is_positive` must be one column of booleans; "
            f"got {column.dtype} of shape {column.shape}. Compare with the positive label first."
        )
    return np.ascontiguousarray(column, dtype=np.bool_)


def as_weights(weight: ArrayLike, n: int) -> Array:
    """Return one column of weights, not all of them 0."""
    column = np.asarray(weight, dtype=np.float64)
    if column.shape != (n,):
        raise InputError(f"`weight` must have one entry per example; got shape {column.shape}.")
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


def _rank_weighted(scores: NDArray[Any], positive: Flags, weight: Array) -> Ranking:
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
    thresholds: Array,
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


def at_steps(running: Column, steps: int = STEPS) -> Flags:
    """Mark the places at which a running total reaches a further of so many equal steps."""
    total = running[-1]
    if total == 0:
        return np.zeros(len(running), dtype=bool)
    if running.dtype.kind == "i" and total < LARGEST_INTEGER // steps:
        step: NDArray[Any] = running * steps // total
    else:
        step = np.floor(running * (steps / total))
    return np.diff(step, prepend=0) > 0
