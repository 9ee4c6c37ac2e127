"""The ends of the exact and of the mid-p interval for k of n, each where its tail is as wanted."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from truerisk.aliases import Array
from truerisk.intervals.beta_quantile import (
    beta_log_odds,
    beta_tail,
    deviance,
    log_peak,
    score_start,
    solve_in_log_odds,
)


def exact_lower(k: Array, n: Array, tail: float) -> Array:
    """Give the p at which k or more of n have the probability `tail`; 0 at k = 0.

    Counts may be fractional.
    """
    low = np.zeros(n.shape)
    some = k > 0
    a, b = k[some], n[some] - k[some] + 1
    low[some] = expit(beta_log_odds(a, b, np.full_like(a, tail)))
    return low


def exact_upper(k: Array, n: Array, tail: float) -> Array:
    """Give the p at which k or fewer of n have the probability `tail`; 1 at k = n.

    Counts may be fractional.
    """
    high = np.ones(n.shape)
    some = k < n
    a, b = n[some] - k[some], k[some] + 1
    high[some] = expit(-beta_log_odds(a, b, np.full_like(a, tail)))
    return high


def mid_p_log_odds(k: Array, n: Array, tail: float) -> Array:
    """Give the log-odds of the p with P(X > k) + ½ P(X = k) = tail; −∞ at k = 0."""
    log_odds = np.full_like(n, -np.inf)
    every = k == n
    with np.errstate(divide="ignore"):
        # ½ pⁿ = tail, and the odds of that p.
        log_p = np.log(2 * tail) / n[every]
        log_odds[every] = log_p - np.log(-np.expm1(log_p))
    between = (k > 0) & ~every
    k, n = k[between], n[between]
    above, below, peak, peak_next = k + 1, n - k, log_peak(k, n - k + 1), log_peak(k + 1, n - k)

    def log_tail(log_odds: Array, at: NDArray[np.intp]) -> tuple[Array, Array]:
        first = beta_tail(k[at], below[at] + 1, log_odds)
        value = np.log(0.5 * (first + beta_tail(above[at], below[at], log_odds)))
        slope = np.exp(peak[at] - deviance(k[at], below[at] + 1, log_odds) - value)
        slope_next = np.exp(peak_next[at] - deviance(above[at], below[at], log_odds) - value)
        return value, 0.5 * (slope + slope_next)

    start = score_start(k, n, np.full_like(n, -ndtri(tail)))
    target = np.full_like(n, np.log(tail))
    log_odds[between] = solve_in_log_odds(log_tail, target, np.log(start) - np.log1p(-start))
    return log_odds
