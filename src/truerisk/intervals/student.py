"""Student's t, and the score interval of a share whose variance was estimated."""

import functools
import math

import numpy as np
from scipy.special import ndtri

from truerisk.aliases import Ends
from truerisk.intervals.beta_quantile import beta_log_odds, score_end, score_start


@functools.lru_cache(maxsize=4096)
def student_quantile(freedom: float, level: float) -> float:
    r"""Give the quantile t for which \|T\| ≤ t has the probability `level`; at least one degree.

    ν/(ν + T²) has the beta distribution with shapes ν/2 and ½: one quantile of that is enough.

    Examples
    --------
    >>> round(student_quantile(1, 0.95), 3), round(student_quantile(30, 0.95), 3)
    (12.706, 2.042)
    """
    shape = max(float(freedom), 1.0) / 2
    log_odds = beta_log_odds(np.array([shape]), np.array([0.5]), np.array([1 - level]))
    return math.sqrt(2 * shape) * math.exp(-0.5 * float(log_odds[0]))


def normal_quantile(level: float) -> float:
    """Give the quantile z for which a normal deviate has |Z| ≤ z with the probability `level`.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return -float(ndtri((1 - level) / 2))


def score_ends(share: float, size: float, quantile: float) -> Ends:
    r"""Give Wilson's interval of a share of `size` units, with any quantile.

    .. math:: |share - p| \le t \sqrt{p (1 - p) / size}

    Examples
    --------
    >>> low, high = score_ends(0.8, 50, 1.96)
    >>> round(low, 3), round(high, 3)
    (0.67, 0.888)
    """
    count, total, factor = (np.array([one]) for one in (share * size, size, quantile))
    low, high = score_start(count, total, factor), score_end(count, total, factor)
    return max(0.0, float(low[0])), min(1.0, float(high[0]))


def hull(value: float, *ends: Ends) -> Ends:
    """Give the shortest interval that holds the value and all the intervals."""
    return min(value, *(low for low, _ in ends)), max(value, *(high for _, high in ends))
