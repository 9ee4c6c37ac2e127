"""Means: of values in a known range, and of losses, of which the largest may not have been seen."""

import math
from collections.abc import Callable

import numpy as np

from truerisk.aliases import Array, Ends
from truerisk.checks import check_choice, check_level
from truerisk.intervals.bounds import bernstein_reach, chernoff_kl
from truerisk.intervals.delta import student_factor
from truerisk.intervals.distributions import gamma_quantile
from truerisk.results import Interval
from truerisk.tallies.losses import LossMoments

PART_IMPLIED = 1 / 4  # of the variance that the probabilities expect: the sample's is no less
ROUNDING = 1e-7  # of the mean: a standard error up to here is the root of a rounded difference

STREAM = 0x6D65616E  # "mean": the named stream of the order in which bets are made
TRUNCATION = 0.75  # of the largest bet that cannot ruin
STEPS = 50  # of bisection


def gamma_ends(mean: float, variance: float, event: float, *, level: float) -> Ends:
    r"""Give the ends of Fay and Feuer's gamma interval, with half a further event.

    .. math:: [\,G(m, V, t),\; G(m + w/2,\, V + w^2/2,\, 1 - t)\,], \qquad t = (1 - level)/2

    where G(m, V, t) is the quantile of the gamma distribution with mean m and variance V, and the
    `event` w is what the next large number would add to the mean.  Published with a whole event,
    which covers at least as promised for weighted sums of Poisson counts; with half of one it
    covers about as promised.
    Source: M. P. Fay and E. J. Feuer, Statistics in Medicine 16, 791-801, 1997.

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


def bounded_mean_interval(
    values: Array,
    *,
    value_range: Ends = (0.0, 1.0),
    level: float = 0.95,
    method: str = "betting",
    random_state: int | None = 0,
) -> Interval:
    """Give the interval of the mean of independent values in a known range.

    Both methods cover at least as often as `level` says, for every distribution on the range and
    every number of values.  Betting is the shorter: on the held-out problems of
    studies/ledgers/values.csv it has 0.42 of the length on average, and covers 0.98 on average and
    0.953 at least at 95 %; Student's interval is shorter still, and covers 0.34 at least.

    `random_state` is of the order in which bets are made: the order of the values must say nothing.

    Examples
    --------
    >>> print(bounded_mean_interval(np.repeat([0.0, 0.5, 1.0], 20)))
    [0.387, 0.625] at 95 %
    """
    check_level(level)
    check_choice(method, BOUNDED_MEANS, "method")
    low, high = value_range
    shares = (np.sort(np.asarray(values, dtype=np.float64)) - low) / (high - low)
    if not len(shares):
        return Interval(float(low), float(high), float(level), "whole_range")
    # The same for every order of the rows: what is put in a random order is sorted before.
    shuffled = np.random.default_rng([random_state or 0, STREAM]).permutation(shares)
    first, last = BOUNDED_MEANS[method](shuffled, level)
    mean = math.fsum(shares) / len(shares)
    below, above = max(0.0, min(first, mean)), min(1.0, max(last, mean))
    width = high - low
    return Interval(low + width * below, low + width * above, float(level), method)


def betting(shares: Array, level: float) -> Ends:
    r"""Give the means against which no bettor becomes rich: the hedged capital.

    Against a mean m two bettors stake :math:`\lambda_t` on the next value being above, or below, m;
    with :math:`\alpha = 1 - level`

    .. math:: K_t^\pm(m) = \prod_{i \le t} \bigl(1 \pm \lambda_i^\pm(m)\,(x_i - m)\bigr), \qquad
              \lambda_t = \sqrt{\frac{2 \ln(2/\alpha)}{n\, \hat\sigma^2_{t-1}}}

    stakes being at most 3/4 of those that could ruin.  If m is the mean, neither capital ever
    reaches :math:`2/\alpha` but with probability :math:`\alpha/2`.  Each factor falls as m rises
    for the first bettor, hence the ends are found by bisection.
    Source: I. Waudby-Smith and A. Ramdas, J. Royal Statistical Society B 86(1), 1-27, 2024.
    """
    return _betting_end(shares, level), 1 - _betting_end(1 - shares, level)


def _betting_end(shares: Array, level: float) -> float:
    """Give the smallest mean that the bettor on larger values does not exclude."""
    n = len(shares)
    limit = math.log(2 / (1 - level))
    times = np.arange(2, n + 2)
    means = (0.5 + np.cumsum(shares)) / times
    variances = (0.25 + np.cumsum((shares - means) ** 2)) / times
    # A bet is made before the value is seen.
    stakes = np.sqrt(2 * limit / n / np.concatenate([[0.25], variances[:-1]]))
    excluded, accepted = 0.0, 1.0
    for _ in range(STEPS):
        mean = 0.5 * (excluded + accepted)
        capital = np.cumsum(np.log1p(np.minimum(stakes, TRUNCATION / mean) * (shares - mean)))
        if capital.max() >= limit:
            excluded = mean
        else:
            accepted = mean
    return excluded


def empirical_bernstein(shares: Array, level: float) -> Ends:
    """Give the interval of Maurer and Pontil, within the reach of `bounds.bernstein_reach`."""
    n = len(shares)
    if n < 2:
        return 0.0, 1.0
    mean = math.fsum(shares) / n
    variance = math.fsum((shares - mean) ** 2) / (n - 1)
    reach = bernstein_reach(variance, n, level)
    return mean - reach, mean + reach


BOUNDED_MEANS: dict[str, Callable[[Array, float], Ends]] = {
    "betting": betting,
    "empirical_bernstein": empirical_bernstein,
}
