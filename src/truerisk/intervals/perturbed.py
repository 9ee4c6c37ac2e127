"""Intervals from an estimate and replicates of how far it may be off: value − truth.

Other replicates are values themselves (`replicates.py`); these are deviations, around 0.
"""

import math
from collections.abc import Callable

import numpy as np

from truerisk.aliases import Array, Ends
from truerisk.checks import check_choice
from truerisk.intervals.binomial import fractional_interval
from truerisk.intervals.distributions import normal_quantile


def percentile(value: float, deviations: Array, n: float, level: float) -> Ends:
    """Take the deviations for what they are: [D − ξ₁₋ₜ, D − ξₜ], as the document prints it."""
    del n
    tail = (1 - level) / 2
    low, high = np.quantile(deviations, [tail, 1 - tail])
    return value - float(high), value - float(low)


def normal(value: float, deviations: Array, n: float, level: float) -> Ends:
    r"""Take only the size s of the deviations, and the normal distribution for the rest.

    .. math:: D \pm z\, s
    """
    del n
    half = -float(normal_quantile((1 - level) / 2)) * float(np.std(deviations, ddof=1))
    return value - half, value + half


def effective_size(value: float, deviations: Array, n: float, level: float) -> Ends:
    """Give Clopper and Pearson's interval at the size that would vary as much: min(n, D(1 − D)/s²).

    With groups, n is the number of independent examples that these are worth.
    """
    variance = float(np.var(deviations, ddof=1))
    m = n if variance == 0 else min(n, value * (1 - value) / variance)
    interval = fractional_interval(min(m * value, m), m, level=level)
    return interval.low, interval.high


FORMS: dict[str, Callable[[float, Array, float, float], Ends]] = {
    "percentile": percentile,
    "normal": normal,
    "effective_size": effective_size,
}


def ends_of(form: str, value: float, deviations: Array, n: float, level: float) -> Ends:
    """Give the ends of one form of interval, within [0, 1] and around the value."""
    low, high = FORMS[check_choice(form, FORMS, "interval")](value, deviations, n, level)
    return max(0.0, min(low, value)), min(1.0, max(high, value))


def two_sided_p(value: float, deviations: Array) -> float:
    """Give the p-value of "the truth is 0" that belongs to the percentile interval.

    2·min(P(w ≥ D), P(w ≤ D)), linear between neighbours, at least 2/(N + 1): the least 1 − level at
    which the interval excludes 0.
    """
    if not math.isfinite(value):
        return math.nan
    below = _most_share_below(value, deviations)
    above = _most_share_below(-value, -deviations)
    return min(1.0, max(2 * min(below, above), 2 / (len(deviations) + 1)))


def _most_share_below(value: float, deviations: Array) -> float:
    """Give the largest share whose quantile is at most the value; 0 where there is none."""
    ordered = np.sort(deviations)
    last = int(np.searchsorted(ordered, value, side="right")) - 1
    if last < 0 or last == len(ordered) - 1:
        return float(last >= 0)
    part = (value - ordered[last]) / (ordered[last + 1] - ordered[last])
    return (last + float(part)) / (len(ordered) - 1)
