"""The score interval of a share whose variance was estimated: Wilson's, with Student's quantile."""

import functools
import math

from truerisk.aliases import Ends
from truerisk.intervals.distributions import student_quantile


@functools.lru_cache(maxsize=4096)
def two_sided_t(freedom: float, level: float) -> float:
    """Give the t with |T| ≤ t at the probability `level`, with at least one degree of freedom."""
    return student_quantile(max(float(freedom), 1.0), (1 + level) / 2)


def score_ends(share: float, size: float, quantile: float) -> Ends:
    r"""Give Wilson's interval of a share of `size` units, with any quantile.

    .. math:: |share - p| \le t \sqrt{p (1 - p) / size}
    """
    square = quantile * quantile
    spread = quantile * math.sqrt(size * share * (1 - share) + square / 4)
    high = (size * share + square / 2 + spread) / (size + square)
    # The roots multiply to share² size / (size + t²): no difference is taken.
    return share * share * size / (size + square) / high, min(1.0, high)


def hull(value: float, *ends: Ends) -> Ends:
    """Give the shortest interval that holds the value and all the intervals."""
    return min(value, *(low for low, _ in ends)), max(value, *(high for _, high in ends))


def size_of(share: float, variance: float) -> float:
    """Give how many units a share that varies so much is of; at least one."""
    return max(share * (1 - share) / variance, 1.0) if math.isfinite(variance) else 1.0
