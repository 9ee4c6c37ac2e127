"""How the scores of the two classes lie: counts in bins with round edges."""

import itertools
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_whole_number
from truerisk.measures.curves import BLUE, VERMILION, plain_label
from truerisk.measures.positive_labels import rank_labels
from truerisk.measures.thresholds import Sweep, sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MAX_BINS = 40
TENTHS = (10, 20, 25, 50)  # steps from one edge to the next, in tenths of a power of ten
NARROWEST = 1e-12  # a range this small beside its numbers has no room for edges
SMALLEST = 1e-290  # nor has one this small beside 0
LARGEST = sys.float_info.max


@dataclass(frozen=True, eq=False)
class ScoreDistribution:
    """Counts of positives and negatives by score.

    Bin j holds the scores from edge j up to, not including, edge j + 1; the last bin includes its
    end.  Infinite scores are in no bin: `infinite` counts them.
    """

    edges: Array
    positives: NDArray[Any]
    negatives: NDArray[Any]
    infinite: float = 0
    label: str = ""

    def plot(self, ax: "Axes") -> "Axes":
        """Draw each class as a share of its own examples: one may be a hundred times as large."""
        for name, counts, ink in (
            ("negative", self.negatives, VERMILION),
            ("positive", self.positives, BLUE),
        ):
            words = f"{self.label}: {name}" if self.label else name
            ax.stairs(
                counts / max(counts.sum(), 1),
                self.edges,
                fill=True,
                alpha=0.45,
                color=ink,
                label=plain_label(words),
            )
        ax.set_xlabel("score")
        ax.set_ylabel("share of the class")
        return ax


def score_distribution(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,  # noqa: ANN401
    bins: int = MAX_BINS,
    sample_weight: ArrayLike | None = None,
) -> ScoreDistribution:
    """Count the scores of positives and negatives in bins; other parameters as for `roc`.

    Parameters
    ----------
    bins
        At most so many bins; the edges are round numbers.

    Examples
    --------
    >>> found = score_distribution([0, 1, 0, 1], [0.1, 0.3, 0.6, 1.0], bins=2)
    >>> found.edges.tolist(), found.positives.tolist(), found.negatives.tolist()
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
        edges,
        _between(positives, starts, ends),
        _between(negatives, starts, ends),
        infinite,
        label,
    )


def _between(counts: NDArray[Any], starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any]:
    running = np.append(np.zeros(1, dtype=counts.dtype), np.cumsum(counts))
    return np.asarray(running[ends] - running[starts])


def round_edges(low: float, high: float, bins: int) -> Array:
    """Give the edges, round numbers, of at most so many bins that hold [low, high].

    Examples
    --------
    >>> round_edges(0.03, 0.88, 10).tolist()
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    """
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
