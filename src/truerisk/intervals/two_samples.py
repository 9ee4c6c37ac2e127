r"""Two independent samples: whether a measure is the same in both, and how far apart.

A slice of the examples against all others is the use: no example is in both.
"""

import math

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.intervals.distributions import normal_quantile, student_cdf
from truerisk.results import Interval


def fisher_mid_p(k: int, n: int, other_k: int, other_n: int) -> float:
    r"""Test whether two shares, k of n and another, are of one probability: Fisher's, mid-p.

    Given k + k' in all, k is hypergeometric where the probabilities are equal.  The two-sided
    p-value is twice the smaller tail, of which what was observed counts half:

    .. math:: 2 \min\bigl(P(X < k) + \tfrac12 P(X = k),\; P(X > k) + \tfrac12 P(X = k)\bigr)

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake, "Recommended tests and confidence intervals
       for paired binomial proportions", Statistics in Medicine 33, 2850-2875, 2014.
    .. [2] H. O. Lancaster, "Significance tests in discrete distributions", JASA 56, 223-234, 1961.

    Examples
    --------
    >>> round(fisher_mid_p(1, 4, 3, 4), 6)  # (16/70 / 2 + 1/70) · 2
    0.257143
    """
    if n == 0 or other_n == 0:
        return math.nan
    right, size = k + other_k, n + other_n
    lowest, highest = max(0, right - other_n), min(right, n)
    # Beyond ten standard deviations of its mean nothing is left of a probability.
    spread = math.sqrt(n * other_n * right * (size - right) / max(size - 1, 1)) / size
    reach = 10 * spread + 10 + abs(k - right * n / size)
    center = right * n / size
    places = np.arange(
        max(lowest, math.floor(center - reach)), min(highest, math.ceil(center + reach)) + 1
    )
    logs = _log_choose(n, places) + _log_choose(other_n, right - places)
    weights = np.exp(logs - logs.max())
    total = math.fsum(weights)
    at = k - int(places[0])
    half = weights[at] / 2
    tails = (math.fsum(weights[:at]) + half, math.fsum(weights[at + 1 :]) + half)
    return float(min(1.0, 2 * min(tails) / total))


def _log_choose(n: int, k: Indices) -> Array:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def mover_difference(
    value: float, ends: Interval, other: float, other_ends: Interval
) -> tuple[float, float]:
    r"""Give the ends of value − other from the intervals of both, of independent samples.

    .. math:: d - \sqrt{(a - l_a)^2 + (h_b - b)^2}, \qquad d + \sqrt{(h_a - a)^2 + (b - l_b)^2}

    References
    ----------
    .. [1] G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a
       general approach", Statistics in Medicine 27, 1693-1702, 2008.

    Examples
    --------
    >>> mover_difference(0.5, Interval(0.2, 0.8, 0.95, "x"), 0.5, Interval(0.1, 0.9, 0.95, "x"))
    (-0.5, 0.5)
    """
    apart = value - other
    return (
        apart - math.hypot(value - ends.low, other_ends.high - other),
        apart + math.hypot(ends.high - value, other - other_ends.low),
    )


def mover_p_value(
    value: float,
    ends: Interval,
    other: float,
    other_ends: Interval,
    sizes: tuple[float, float],
) -> float:
    r"""Test that two independent values are equal, by the halves of their intervals that face.

    With :math:`s_a, s_b` these halves over the normal quantile of the level,
    :math:`t = |a - b| / \sqrt{s_a^2 + s_b^2}` on Satterthwaite's degrees of freedom of the two
    `sizes`.
    """
    if math.isnan(value) or math.isnan(other):
        return math.nan
    if value == other:
        return 1.0
    lower = value < other
    halves = (
        (ends.high - value, other - other_ends.low)
        if lower
        else (value - ends.low, other_ends.high - other)
    )
    reach = math.hypot(*halves)
    if reach == 0 or not math.isfinite(reach):
        return math.nan if reach == 0 else 1.0
    quantile = -float(normal_quantile((1 - ends.level) / 2))
    shares = [(half / reach) ** 2 for half in halves]
    degrees = 1 / math.fsum(
        share**2 / max(size - 1, 1.0) for share, size in zip(shares, sizes, strict=True)
    )
    return float(2 * student_cdf(degrees, -abs(value - other) * quantile / reach))
