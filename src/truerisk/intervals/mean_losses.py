"""Means of losses, not negative and skewed, of which the largest may not have been seen."""

import math

from truerisk.aliases import Ends
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.delta import student_factor
from truerisk.intervals.distributions import gamma_quantile
from truerisk.results import Interval
from truerisk.tallies.losses import LossMoments

PART_IMPLIED = 1 / 4  # of the variance that the probabilities expect: the sample's is no less
ROUNDING = 1e-7  # of the mean: a standard error up to here is the root of a rounded difference


def gamma_ends(mean: float, variance: float, event: float, *, level: float) -> Ends:
    r"""Give the ends of Fay and Feuer's gamma interval, with half a further event.

    .. math:: [\,G(m, V, t),\; G(m + w/2,\, V + w^2/2,\, 1 - t)\,], \qquad t = (1 - level)/2

    where G(m, V, t) is the quantile of the gamma distribution with mean m and variance V, and the
    `event` w is what the next large number would add to the mean.  Published with a whole event,
    which covers at least as promised for weighted sums of Poisson counts; with half of one it
    covers about as promised.

    References
    ----------
    .. [1] M. P. Fay and E. J. Feuer, "Confidence intervals for directly standardized rates: a
       method based on the gamma distribution", Statistics in Medicine 16, 791-801, 1997.

    Examples
    --------
    >>> low, high = gamma_ends(4.0, 4.0, 1.0, level=0.95)  # of a Poisson count of 4
    >>> round(low, 3), round(high, 3)
    (1.09, 9.511)
    """
    tail = (1 - level) / 2
    low = _quantile(mean, variance, tail)
    high = _quantile(mean + event / 2, variance + event**2 / 2, 1 - tail)
    return min(low, mean), max(high, mean)


def _quantile(mean: float, variance: float, probability: float) -> float:
    if not (mean > 0 and variance > 0):
        return mean
    scale = variance / mean
    return scale * gamma_quantile(mean / scale, probability)


def loss_interval(moments: LossMoments, *, level: float, measure_range: Ends) -> Interval:
    r"""Give the gamma interval of a mean loss of independent rows.

    A sample in which nothing surprising happened shows too little variance; the probabilities say
    how large their losses would be if they were true.  With m the mean, s its standard error and
    :math:`v = (E L^2 - (E L)^2)/n` by the probabilities,

    .. math:: V = \max(s^2, v/4)\, (t_{n-1}/z)^2

    and the next event is the largest loss seen, or the one expected where :math:`s^2 < v`, over n.
    The ends are those of `gamma_ends`.  Where nothing varies it is the KL bound for a loss that has
    a largest value, the whole range for one that has none, and for an infinite mean.

    Measured at 95 % on populations that it was not chosen on, n = 50 to 1,000: .95 to 1.
    """
    low, high = measure_range
    if not (math.isfinite(moments.mean) and math.isfinite(moments.variance)):
        return Interval(low, high, level, "whole_range")
    first, second, third = moments.implied
    implied = max(second - first**2, 0.0) / moments.n
    event = moments.largest
    if moments.variance < implied:
        event = max(event, third / second / moments.n)
    widening = student_factor(moments.n, level) ** 2
    variance = max(moments.variance, PART_IMPLIED * implied) * widening
    if math.sqrt(variance) <= ROUNDING * moments.mean:
        if math.isinf(high):
            return Interval(low, high, level, "whole_range")
        share = chernoff_kl(moments.mean / high, max(int(moments.n), 1), level=level)
        return Interval(high * share.low, high * share.high, level, share.method)
    ends = gamma_ends(moments.mean, variance, event, level=level)
    return Interval(max(ends[0], low), min(ends[1], high), level, "gamma_of_losses")
