"""Whether scores can be taken at their word: the share of positives among examples scored alike."""

import itertools
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_whole_number
from truerisk.errors import InputError
from truerisk.measures.curves import Curve, rank_labels
from truerisk.measures.thresholds import Sweep, sweep
from truerisk.results import Row, number

MAX_BINS = 40
TENTHS = (10, 20, 25, 50)  # steps from one edge to the next, in tenths of a power of ten
NARROWEST = 1e-12  # a range this small beside its numbers has no room for edges
SMALLEST = 1e-290  # nor has one this small beside 0
LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Curve):
    """Observed share of positives against the mean score, in bins of about as many examples.

    The expected calibration error Σ_b n_b/n · |mean score_b − share_b| is above 0 for the best of
    scores: compare it only between equal numbers of examples and bins.
    Source: M. P. Naeini, G. F. Cooper and M. Hauskrecht, AAAI 2015, 2901-2907.
    """

    kind: ClassVar[str] = "calibration_curve"

    mean_score: Array
    share: Array
    count: NDArray[Any]
    positives: NDArray[Any]
    expected_calibration_error: float
    label: str = ""

    def _words(self) -> str:
        return (
            f"calibration in {len(self.count)} bins, "
            f"expected calibration error {number(self.expected_calibration_error)}"
        )


def calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    bins: int = 10,
    sample_weight: ArrayLike | None = None,
) -> CalibrationCurve:
    """Compare scores that are meant as probabilities with what came true.

    Parameters
    ----------
    y_true
        Labels.
    y_score
        Probabilities of the positive label.
    pos_label
        The label that counts as positive; may be left out for {0, 1}, {-1, 1} and booleans.
    bins
        At most so many bins, each of about as many examples.
    sample_weight
        Non-negative weights.

    Examples
    --------
    >>> curve = calibration([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.mean_score.round(6).tolist(), curve.share.tolist(), curve.count.tolist()
    ([0.2, 0.7], [0.5, 0.5], [2, 2])
    >>> round(curve.expected_calibration_error, 6)
    0.25
    """
    ranking = rank_labels(y_true, y_score, pos_label, sample_weight)
    return calibration_curve(sweep(ranking), bins)


def calibration_curve(table: Sweep, bins: int = 10, label: str = "") -> CalibrationCurve:
    """Draw the calibration curve from the counts at each score; parameters as for `calibration`.

    Where the table is thinned, examples between two kept scores count as if they stood at the lower
    one: between two lie less than 1/8000 of the positives and of the negatives, ties apart.
    """
    check_whole_number(bins, "bins", low=1, high=1000)
    scores = table.threshold[:0:-1]
    if scores[0] < 0 or scores[-1] > 1:
        raise InputError(
            "`y_score` must be probabilities to be calibrated; they range over "
            f"[{scores[0]:g}, {scores[-1]:g}]."
        )
    positives, negatives = np.diff(table.tp)[::-1], np.diff(table.fp)[::-1]
    examples = positives + negatives
    # An example's rank decides its bin; equal scores go where the middle one of them belongs.
    middle = np.cumsum(examples) - examples / 2
    of_bin = np.minimum(middle * bins / examples.sum(), bins - 0.5).astype(np.intp)
    starts = np.flatnonzero(np.append(True, of_bin[1:] != of_bin[:-1]))
    count = np.add.reduceat(examples, starts)
    of_bins = np.add.reduceat(positives, starts)
    mean_score = np.add.reduceat(scores * examples, starts) / count
    share = of_bins / count
    error = float(count @ np.abs(mean_score - share) / count.sum())
    return CalibrationCurve(mean_score, share, count, of_bins, error, label)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreDistribution(Curve):
    """Counts of positives and negatives by score.

    Bin j holds the scores from edge j up to, not including, edge j + 1; the last bin includes its
    end.  Infinite scores are in no bin: `infinite` counts them.
    """

    kind: ClassVar[str] = "score_distribution"

    edges: Array
    positives: NDArray[Any]
    negatives: NDArray[Any]
    infinite: float = 0
    label: str = ""

    def _words(self) -> str:
        return (
            f"scores of {self.positives.sum():,.10g} positives and "
            f"{self.negatives.sum():,.10g} negatives in {len(self.positives)} bins"
        )

    def _rows(self) -> Iterator[Row]:
        pairs = itertools.pairwise(self.edges.tolist())
        bins = zip(pairs, self.positives, self.negatives, strict=True)
        for (low, high), positives, negatives in bins:
            yield {
                "low": low,
                "high": high,
                "positives": positives.item(),
                "negatives": negatives.item(),
            }


def score_distribution(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    bins: int = MAX_BINS,
    sample_weight: ArrayLike | None = None,
) -> ScoreDistribution:
    """Count the scores of positives and negatives in bins.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc`.
    bins
        At most so many bins; the edges are round numbers.

    Examples
    --------
    >>> counts = score_distribution([0, 1, 0, 1], [0.1, 0.3, 0.6, 1.0], bins=2)
    >>> counts.edges.tolist(), counts.positives.tolist(), counts.negatives.tolist()
    ([0.0, 0.5, 1.0], [1, 1], [1, 1])
    """
    ranking = rank_labels(y_true, y_score, pos_label, sample_weight)
    return distribution_of(sweep(ranking), bins)


def distribution_of(table: Sweep, bins: int = MAX_BINS, label: str = "") -> ScoreDistribution:
    """Count the scores of a table in bins; parameters as for `score_distribution`.

    The counts are exact; where the table is thinned they are those at the next kept score, less
    than 1/8000 of the class away, ties apart.
    """
    check_whole_number(bins, "bins", low=2, high=10_000)
    scores = table.threshold[:0:-1]
    positives, negatives = np.diff(table.tp)[::-1], np.diff(table.fp)[::-1]
    finite = np.isfinite(scores)
    infinite = (positives + negatives)[~finite].sum().item()
    scores, positives, negatives = scores[finite], positives[finite], negatives[finite]
    low, high = (float(scores[0]), float(scores[-1])) if len(scores) else (0.0, 1.0)
    edges = round_edges(low, high, bins)
    ends = np.searchsorted(scores, edges[1:-1], side="left")
    starts, ends = np.append(0, ends), np.append(ends, len(scores))
    return ScoreDistribution(
        edges, _between(positives, starts, ends), _between(negatives, starts, ends), infinite, label
    )


def _between(counts: NDArray[Any], starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    running = np.append(np.zeros(1, dtype=counts.dtype), np.cumsum(counts))
    return np.asarray(running[ends] - running[starts])


def round_edges(low: float, high: float, bins: int) -> Array:
    """Give the edges, round numbers, of at most so many bins that hold [low, high]."""
    size = max(abs(low), abs(high))
    if high / 2 - low / 2 <= max(NARROWEST * size, SMALLEST):
        half = size / 2 if size > SMALLEST else 0.5
        return np.array([max(low - half, -LARGEST), min(high + half, LARGEST)])
    power = math.floor(math.log10(high / bins - low / bins)) - 1
    for more, tenths in itertools.product(range(3), TENTHS):
        first, last = _first_and_last(low, high, tenths, power + more)
        if last - first <= bins:
            break
    edges = [_edge(at, tenths, power + more) for at in range(first, last + 1)]
    return np.clip(edges, -LARGEST, LARGEST)


def _first_and_last(low: float, high: float, tenths: int, power: int) -> tuple[int, int]:
    """Find the last edge that is not above `low`, and the first that is not below `high`."""
    step = _edge(1, tenths, power)
    first, last = math.floor(low / step), math.ceil(high / step)
    # A quotient may be a hair off a whole number, on either side.
    first += int(_edge(first + 1, tenths, power) <= low) - int(_edge(first, tenths, power) > low)
    last += int(_edge(last, tenths, power) < high) - int(_edge(last - 1, tenths, power) >= high)
    return first, last


def _edge(at: int, tenths: int, power: int) -> float:
    # Decimal digits, read as such: 0.3 is 0.3, and not 12 times 0.025.
    return float(f"{at * tenths}e{power}")
