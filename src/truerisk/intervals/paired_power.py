"""How often McNemar's mid-p test finds a difference that is there."""

import math

import numpy as np
from scipy.special import betainc

from truerisk.aliases import Array
from truerisk.intervals.beta_quantile import log_beta_kernel

NUMBERS = 400  # of discordant pairs that are summed over; between them the power varies slowly


def paired_power(n: int, discordant: float, difference: float, level: float) -> float:
    r"""Give the probability that McNemar's mid-p test of two models on n examples rejects.

    .. math:: \sum_m P(M = m)\, P(\text{rejected} \mid m), \quad M \sim Bin(n, discordant)

    Of m discordant pairs the better model wins each with probability (1 + difference / discordant)
    / 2; the test rejects when its mid-p value against ½ is at most 1 − level.  Exact for up to some
    hundred likely m; beyond, the sum is taken over every few of them.

    Examples
    --------
    >>> round(paired_power(6, 1.0, 1.0, 0.95), 3)  # all six won: mid-p is 1/64
    1.0
    >>> paired_power(5, 1.0, 0.9, 0.95) < paired_power(50, 1.0, 0.9, 0.95)
    True
    """
    spread = 8 * math.sqrt(n * discordant * (1 - discordant)) + 8
    first = max(1, math.floor(n * discordant - spread))
    last = min(n, math.ceil(n * discordant + spread))
    step = max(1, (last - first) // NUMBERS)
    pairs = np.arange(first, last + 1, step, dtype=np.float64)
    weight = np.exp(_log_pmf(pairs, float(n), discordant)) * step
    wins = 0.5 * (1 + difference / discordant)
    rejected = rejected_from(pairs, (1 - level) / 2)
    chance = at_least(rejected, pairs, wins) + at_least(rejected, pairs, 1 - wins)
    return min(1.0, float(np.sum(weight * chance)))


def rejected_from(pairs: Array, tail: float) -> Array:
    """Give the least count c of `pairs` fair coins with P(X > c) + ½ P(X = c) ≤ tail."""
    low, high = np.floor(pairs / 2), pairs + 1
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        mid_p = 0.5 * (at_least(middle, pairs, 0.5) + at_least(middle + 1, pairs, 0.5))
        extreme = mid_p <= tail
        low, high = np.where(extreme, low, middle), np.where(extreme, middle, high)
    return high


def at_least(c: Array, n: Array, p: float) -> Array:
    """Give P(X ≥ c) for n trials of probability p; 0 beyond n."""
    possible = (c >= 1) & (c <= n)
    probability = np.where(c < 1, 1.0, 0.0)
    count, trials = c[possible], n[possible]
    probability[possible] = betainc(count, trials - count + 1, min(max(p, 0.0), 1.0))
    return probability


def _log_pmf(j: Array, n: float, p: float) -> Array:
    """Give log P(X = j) for 1 ≤ j ≤ n."""
    if p >= 1:
        return np.where(j == n, 0.0, -np.inf)
    log_odds = np.full_like(j, math.log(p) - math.log1p(-p))
    log_pmf: Array = log_beta_kernel(j, n - j + 1, log_odds) - np.log(j) - math.log1p(-p)
    return log_pmf
