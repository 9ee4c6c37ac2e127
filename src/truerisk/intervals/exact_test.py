"""The exact binomial test of a proportion."""

import math
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincc

from truerisk.checks import check_choice, check_number, check_whole_number
from truerisk.intervals.beta_quantile import log_beta_kernel

Alternative = Literal["two-sided", "less", "greater"]

AS_PROBABLE = 1e-7  # counts whose probabilities differ by less are taken as equally probable


def binomial_test(
    k: int, n: int, p0: float = 0.5, *, alternative: Alternative = "two-sided"
) -> float:
    r"""Give the p-value of the exact test of a proportion p0 when k of n were seen.

    Two-sided, it is the probability of all counts that are no more probable than k:

    .. math:: \sum_{j :\, P(X = j) \le P(X = k)} P(X = j)

    If the proportion is p0, the p-value is at most t with probability at most t.  The opposite tail
    is found by halving, so that n may be many millions.

    Parameters
    ----------
    k, n
        Successes and trials.  With no trial the p-value is 1.
    p0
        The proportion that is tested.
    alternative
        Whether the proportion may differ either way, be "less" or be "greater".

    References
    ----------
    .. [1] W. J. Conover, "Practical nonparametric statistics", Wiley 1999, section 3.1.

    Examples
    --------
    >>> round(binomial_test(2, 4, 0.3), 4)  # 0, 2, 3 and 4 are no more probable than 2
    0.5884
    """
    trials = check_whole_number(n, "n")
    count = check_whole_number(k, "k", high=trials)
    check_number(p0, "p0", low=0.0, high=1.0)
    check_choice(alternative, ("two-sided", "less", "greater"), "alternative")
    if alternative == "less":
        return _at_most(count, trials, p0)
    if alternative == "greater":
        return _at_least(count, trials, p0)
    if count > trials * p0:  # by symmetry the observed count is the low one
        return _two_sided(trials - count, trials, 1 - p0)
    return _two_sided(count, trials, p0)


def _two_sided(count: int, trials: int, p0: float) -> float:
    """Add the tail up to `count`, which is at most n·p0, to the opposite one."""
    observed = log_probability(count, trials, p0) + AS_PROBABLE
    mode = math.floor((trials + 1) * p0)
    if count >= mode or log_probability(min(mode, trials), trials, p0) <= observed:
        return 1.0
    low, high = mode, trials + 1  # more probable than observed; not, or past the end
    while high - low > 1:
        middle = (low + high) // 2
        if log_probability(middle, trials, p0) <= observed:
            high = middle
        else:
            low = middle
    return min(1.0, _at_most(count, trials, p0) + _at_least(high, trials, p0))


def log_probability(j: int, n: int, p: float) -> float:
    """Give log P(X = j) for n trials of probability p, precise at any n."""
    if p in (0.0, 1.0):
        return 0.0 if j == n * p else -math.inf
    if j == 0:
        return n * math.log1p(-p)
    if j == n:
        return n * math.log(p)
    shapes = np.array([float(j)]), np.array([float(n - j + 1)])
    log_odds = np.array([math.log(p) - math.log1p(-p)])
    return float(log_beta_kernel(*shapes, log_odds)[0]) - math.log(j) - math.log1p(-p)


def _at_most(j: int, n: int, p: float) -> float:
    return 1.0 if j >= n else float(betaincc(j + 1, n - j, p))


def _at_least(j: int, n: int, p: float) -> float:
    if j <= 0:
        return 1.0
    return 0.0 if j > n else float(betainc(j, n - j + 1, p))
