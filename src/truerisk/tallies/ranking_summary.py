"""What a ranking comes to, in a few exact numbers.

Everything here is computed from the distinct scores, in descending order, and how many positives
and negatives stand at each.  `summarise` does it with NumPy; the compiled sweeps of `radix` and
`radix_wide` give the same numbers for rankings too long to be sorted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]  # int64 counts, or float64 sums of weights

LEVELS = 11  # recall 0, .1, …, 1
RECALL_SLACK = 1e-12  # sums of weights are rounded; counts are not, and need none
EXACT_PRODUCTS = 2**31  # examples up to which products of two counts fit in int64


@dataclass(frozen=True)
class Breakeven:
    """Where precision and recall meet, or come nearest to each other."""

    value: float
    threshold: float
    interpolated: bool
    precision: float
    recall: float


NO_BREAKEVEN = Breakeven(np.nan, np.nan, False, np.nan, np.nan)  # noqa: FBT003


@dataclass(frozen=True)
class RankingSummary:
    """The measures of a ranking.  NaN where a class is missing.

    `delong_variance` is the variance of `auc`; it is NaN with fewer than two examples of a class.
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


def summarise(
    thresholds: NDArray[np.float64],
    positives: Column,
    negatives: Column,
    squares: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    rows: tuple[int, int] | None = None,
) -> RankingSummary:
    r"""Compute every measure of a ranking from its distinct scores.

    With :math:`a_i` positives and :math:`z_i` negatives at the i-th highest score,
    :math:`TP_i` and :math:`FP_i` their running sums, P and N the totals:

    .. math::
        AUC = \frac{1}{PN} \sum_i z_i \bigl(TP_{i-1} + \tfrac{1}{2} a_i\bigr), \qquad
        AP = \sum_i \frac{a_i}{P} \frac{TP_i}{TP_i + FP_i}

    Parameters
    ----------
    thresholds
        Distinct scores, descending.
    positives, negatives
        Counts, or sums of weights, at each of them.
    squares
        Sums of squared weights of positives and of negatives at each; counts need none.
    rows
        Number of positive and of negative examples behind the weights.
    """
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    n_positive, n_negative = tp[-1], fp[-1]
    found = tp + fp
    auc = variance = ks = ks_threshold = np.nan
    if n_positive > 0 and n_negative > 0:
        auc = _auc(positives, negatives, tp)
        variance = _delong_variance(auc, positives, negatives, tp, fp, squares=squares, rows=rows)
        gain = _products(tp, n_negative) - _products(fp, n_positive)
        ks = min(float(gain.max()) / (float(n_positive) * float(n_negative)), 1.0)
        ks_threshold = float(thresholds[np.argmax(gain)])
    if n_positive == 0:
        return RankingSummary(
            np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan,
            NO_BREAKEVEN, (np.nan,) * LEVELS, (np.nan, np.nan),
        )  # fmt: skip
    precision = tp / np.where(found == 0, 1, found)
    f1 = 2 * tp / (n_positive + found)
    return RankingSummary(
        auc=auc,
        delong_variance=variance,
        average_precision=float(np.sum(positives * precision) / n_positive),
        best_f1=float(f1.max()),
        best_f1_threshold=float(thresholds[np.argmax(f1)]),
        ks=ks,
        ks_threshold=ks_threshold,
        breakeven=breakeven_of(thresholds, tp, found, n_positive),
        eleven_point=_eleven_point(tp, precision),
        auc_bounds=(auc, auc),
    )


def breakeven_of(
    thresholds: NDArray[np.float64], tp: Column, found: Column, n_positive: float
) -> Breakeven:
    """Find the point at which precision and recall are nearest to each other.

    They are equal where as many examples are found as there are positives.  Elsewhere both are
    also 0 before the first positive is found; that is no breakeven, and such points are left out.
    """
    equal = found == n_positive
    if equal.any():
        at = int(np.argmax(equal))
        value = float(tp[at] / n_positive)
        return Breakeven(value, float(thresholds[at]), False, value, value)  # noqa: FBT003
    able = np.flatnonzero(tp > 0)
    precision, recall = tp[able] / found[able], tp[able] / n_positive
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
    beaten = float(negatives.astype(np.float64) @ twice_beaten.astype(np.float64))
    return min(beaten / pairs, 1.0)  # sums of weights are rounded


def _delong_variance(
    auc: float,
    positives: Column,
    negatives: Column,
    tp: Column,
    fp: Column,
    *,
    squares: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
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
    first = square_positives @ of_positives**2 / n_positive**2 * rows_positive / (rows_positive - 1)
    second = (
        square_negatives @ of_negatives**2 / n_negative**2 * rows_negative / (rows_negative - 1)
    )
    return float(first + second)


def _eleven_point(tp: Column, precision: NDArray[np.float64]) -> tuple[float, ...]:
    """Highest precision among the points with at least the recall 0, .1, …, 1."""
    best_from = np.maximum.accumulate(precision[::-1])[::-1]
    slack = RECALL_SLACK * float(tp[-1]) if tp.dtype.kind == "f" else 0
    wanted = [level * tp[-1] - slack for level in range(LEVELS)]
    first = np.searchsorted((LEVELS - 1) * tp, wanted, side="left")
    return tuple(best_from[first].tolist())
