"""Scores too many to be held, counted in 2²⁴ buckets that keep their order.

A bucket is an interval of scores: those whose float32 value, rounded down, has the same upper 24
bits (sign, exponent and 15 bits of the fraction, a relative width of 2⁻¹⁵).  Its lower end is a
threshold at which the counts are exact.  Only the order *inside* buckets is lost, and of that it is
known how much it can matter.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.tallies.radix_rank import scores_of_narrow
from truerisk.tallies.ranking import Ranking, ranking_of, refuse_nan, sum_of_products

BUCKET_BITS = 24
DROPPED_BITS = 32 - BUCKET_BITS
MIN_KEY = 0x0080_0000  # of −∞


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
        filled = np.flatnonzero(by_label.any(axis=1))[::-1]
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
