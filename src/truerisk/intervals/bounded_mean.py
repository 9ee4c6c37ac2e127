"""Intervals of the mean of values that lie in a known range, for any number of values."""

import math
from collections.abc import Callable

import numpy as np

from truerisk.aliases import Array, Ends
from truerisk.checks import check_choice, check_level
from truerisk.intervals.bounds import bernstein_reach
from truerisk.results import Interval

STREAM = 0x6D65616E  # "mean": the named stream of the order in which bets are made
TRUNCATION = 0.75  # of the largest bet that cannot ruin
STEPS = 50  # of bisection


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

    Parameters
    ----------
    values
        The values of independent examples.
    value_range
        The smallest and the largest value that there can be.
    level
        Confidence level.
    method
        "betting" or "empirical_bernstein".
    random_state
        Of the order in which bets are made: the order of the values must say nothing.

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

    References
    ----------
    .. [1] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
       J. Royal Statistical Society B 86(1), 1-27, 2024. https://doi.org/10.1093/jrsssb/qkad009
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
