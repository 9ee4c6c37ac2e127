"""Intervals from an estimate and replicates of how far it may be off: value − truth.

Other replicates are values themselves (`replicates.py`); these are deviations, around 0.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from truerisk.checks import check_choice
from truerisk.intervals.beta_quantile import Array
from truerisk.intervals.binomial import fractional_interval

Ends = tuple[float, float]


def percentile(value: float, deviations: Array, n: float, level: float) -> Ends:
    r"""Take the deviations for what they are.

    .. math:: [\,D - \xi_{1 - t},\; D - \xi_t\,], \qquad t = (1 - level) / 2

    with :math:`\xi` the quantiles of the deviations: as the document prints it.
    """
    del n
    tail = (1 - level) / 2
    low, high = np.quantile(deviations, [tail, 1 - tail])
    return value - float(high), value - float(low)


def normal(value: float, deviations: Array, n: float, level: float) -> Ends:
    r"""Take only the size s of the deviations, and the normal distribution for the rest.

    .. math:: D \pm z\, s
    """
    del n
    half = -float(ndtri((1 - level) / 2)) * float(np.std(deviations, ddof=1))
    return value - half, value + half


def effective_size(value: float, deviations: Array, n: float, level: float) -> Ends:
    r"""Give Clopper and Pearson's interval at the number of examples that would vary as much.

    .. math:: m = \min\Bigl(n, \frac{D (1 - D)}{s^2}\Bigr)

    It stays within 0 and 1, is longer towards ½, and never shorter than for n independent examples.
    """
    variance = float(np.var(deviations, ddof=1))
    m = n if variance == 0 else min(n, value * (1 - value) / variance)
    found = fractional_interval(min(m * value, m), m, level=level)
    return found.low, found.high


FORMS: dict[str, Callable[[float, Array, float, float], Ends]] = {
    "percentile": percentile,
    "normal": normal,
    "effective_size": effective_size,
}


def ends_of(form: str, value: float, deviations: Array, n: float, level: float) -> Ends:
    """Give the ends of one form of interval, within [0, 1] and around the value.

    Examples
    --------
    >>> low, high = ends_of("normal", 0.2, np.array([-0.04, 0.0, 0.04]), 100, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.1216, 0.2784)
    """
    low, high = FORMS[check_choice(form, FORMS, "interval")](value, deviations, n, level)
    return max(0.0, min(low, value)), min(1.0, max(high, value))


def two_sided_p(value: float, deviations: Array) -> float:
    r"""Give the p-value of "the truth is 0" that belongs to the percentile interval.

    .. math:: p = 2 \min\Bigl(\frac{1 + \#\{w \ge D\}}{N + 1}, \frac{1 + \#\{w \le D\}}{N + 1}\Bigr)

    at most 1.  Two models that agree on every example have deviations of 0, and p = 1.

    Examples
    --------
    >>> two_sided_p(0.3, np.linspace(-0.5, 0.5, 99)), two_sided_p(0.0, np.zeros(99))
    (0.42, 1.0)
    """
    if not math.isfinite(value):
        return math.nan
    above = 1 + int(np.count_nonzero(deviations >= value))
    below = 1 + int(np.count_nonzero(deviations <= value))
    return min(1.0, 2 * min(above, below) / (len(deviations) + 1))
