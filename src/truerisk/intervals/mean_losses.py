"""Log loss and Brier score: means of numbers of which the largest may not have been seen."""

import math

from truerisk.aliases import Ends
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.delta import student_factor
from truerisk.intervals.gamma import gamma_ends
from truerisk.results import Interval
from truerisk.tallies.losses import LossMoments

PART_IMPLIED = 1 / 4  # of the variance that the probabilities expect: the sample's is no less
ROUNDING = 1e-7  # of the mean: a standard error up to here is the root of a rounded difference


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
