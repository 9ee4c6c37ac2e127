"""The lower end of Blaker's interval, in log-odds.

Given     k of n, and miss = 1 − level
Wanted    the least p with  P(X ≥ k) + P(X ≤ j) > miss,  j = j(p) the largest with
          P(X ≤ j) ≤ P(X ≥ k)
Facts     j(p) rises by one where P(X ≤ j) = P(X ≥ k), and there the sum is 2 P(X ≥ k): it exceeds
          miss at the first such jump beyond Clopper and Pearson's end.  Between two jumps the sum
          falls, then rises (the ratio of its two slopes is monotone in p), so that it meets miss at
          most once before that jump.  The end is that meeting, or else the jump.
Source    Klaschka 2010 finds the same end by stepping; here both points are solved for.
"""

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.intervals.beta_quantile import (
    beta_log_odds,
    beta_tail,
    log_beta_kernel,
    solve_in_log_odds,
)


def blaker_log_odds(k: Array, n: Array, miss: float) -> Array:
    """Give the log-odds of the lower end; −∞ at k = 0."""
    log_odds = np.full(n.shape, -np.inf)
    some = k > 0
    log_odds[some] = _lower(k[some], n[some], miss)
    return log_odds


def _lower(k: Array, n: Array, miss: float) -> Array:
    outer = beta_log_odds(k, n - k + 1, np.full_like(n, miss / 2))
    j = _quantile(k, n, outer, miss / 2)
    jump = _jump(k, n, j, outer)
    before = j - 1
    at_jump = beta_tail(k, n - k + 1, jump) + _at_most(before, n, jump)
    meets = at_jump > miss
    k, n, before, outer = k[meets], n[meets], before[meets], outer[meets]

    def total(log_odds: Array, at: NDArray[np.intp]) -> tuple[Array, Array]:
        a, b, opposite = k[at], n[at] - k[at] + 1, before[at]
        value = beta_tail(a, b, log_odds) + _at_most(opposite, n[at], log_odds)
        rise = np.exp(log_beta_kernel(a, b, log_odds))
        return np.log(value), (rise - _fall(opposite, n[at], log_odds)) / value

    end = jump.copy()
    end[meets] = solve_in_log_odds(
        total,
        np.full_like(n, np.log(miss)),
        0.5 * (outer + jump[meets]),
        low=outer,
        high=jump[meets],
        tolerance=1e-12,
    )
    return end


def _at_most(j: Array, n: Array, log_odds: Array) -> Array:
    """Give P(X ≤ j), also for j = −1."""
    some = j >= 0
    probability = np.zeros(n.shape)
    probability[some] = beta_tail(n[some] - j[some], j[some] + 1, -log_odds[some])
    return probability


def _fall(j: Array, n: Array, log_odds: Array) -> Array:
    """Give how fast P(X ≤ j) falls in log-odds."""
    some = j >= 0
    slope = np.zeros(n.shape)
    slope[some] = np.exp(log_beta_kernel(n[some] - j[some], j[some] + 1, -log_odds[some]))
    return slope


def _quantile(k: Array, n: Array, log_odds: Array, tail: float) -> Array:
    """Give the smallest j with P(X ≤ j) > tail; it is under k where P(X ≥ k) = tail < ½."""
    low, high = np.full(n.shape, -1.0), k - 1
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        reached = _at_most(middle, n, log_odds) > tail
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def _jump(k: Array, n: Array, j: Array, outer: Array) -> Array:
    """Give the log-odds at which P(X ≤ j) = P(X ≥ k)."""

    def ratio(log_odds: Array, at: NDArray[np.intp]) -> tuple[Array, Array]:
        a, b = k[at], n[at] - k[at] + 1
        above, below = beta_tail(a, b, log_odds), _at_most(j[at], n[at], log_odds)
        rise = np.exp(log_beta_kernel(a, b, log_odds)) / above
        return np.log(above) - np.log(below), rise + _fall(j[at], n[at], log_odds) / below

    return solve_in_log_odds(ratio, np.zeros_like(n), outer, low=outer, tolerance=1e-9)
