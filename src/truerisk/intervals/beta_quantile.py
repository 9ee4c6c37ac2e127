"""Quantiles of the beta distribution that stay right at n = 10¹² and at a tail of 10⁻¹².

Problem   find θ with  I(a, b; x) = tail,  x = 1 / (1 + exp(−θ)),  I the regularised incomplete beta
Method    Newton's steps on log I − log tail, each kept inside the bracket that all earlier
          evaluations leave; a step that would leave it is replaced by halving
Why       quantiles of libraries are inverted once and never put back: SciPy's is off by a factor
          of two at a = 1000, n = 10⁹.  Here every value comes out of its own residual.

In log-odds a proportion of 10⁻¹² and its complement are equally precise, and log I is concave there
(the beta kernel is log-concave in θ), and Newton's steps from the left converge from anywhere.
"""

import math
from collections.abc import Callable

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.intervals.normal import logistic, normal_quantile
from truerisk.kernels import special

LogTail = Callable[[Array, Indices], tuple[Array, Array]]

SMALLEST = 1e-100  # a smaller shape has the same quantiles, but its inverse overflows
SHORT = 16.0  # from here on Stirling's series is exact
WIDEST = 740.0  # beyond these log-odds float64 has no proportion left
NEWTON_STEPS = 30  # then halving only, which needs at most 64 more
BLOCK = 8192  # entries at a time, the dozen arrays of a step stay in the cache
HALF_LOG_TWO_PI = float(0.5 * np.log(2 * np.pi))


def beta_tail(a: Array, b: Array, log_odds: Array) -> Array:
    """Give I(a, b; x) at the log-odds of x, precise for x and for 1 − x however small."""
    return _tail(a, b, log_odds, log_beta_kernel(a, b, log_odds))


def _tail(a: Array, b: Array, log_odds: Array, log_kernel: Array) -> Array:
    """Give I(a, b; x), the logarithm of its kernel being known."""
    tails = np.empty_like(log_odds)
    x, complement = logistic(log_odds), logistic(-log_odds)
    special.beta_tails(a, b, x, complement, np.exp(log_kernel), tails)
    return tails


def log_beta_kernel(a: Array, b: Array, log_odds: Array) -> Array:
    """Give ln(x^a (1−x)^b / B(a, b)), the slope of I(a, b; x) in log-odds, without cancellation.

    Source: C. Loader, "Fast and accurate computation of binomial probabilities", 2000.
    """
    return log_peak(a, b) - deviance(a, b, log_odds)


def log_peak(a: Array, b: Array) -> Array:
    """Give the logarithm of the kernel where it is largest, at x = a / (a + b)."""
    stirling = _stirling_error(a + b) - _stirling_error(a) - _stirling_error(b)
    scale: Array = 0.5 * (np.log(a) + np.log(b) - np.log(a + b))
    return scale - HALF_LOG_TWO_PI + stirling


def deviance(a: Array, b: Array, log_odds: Array) -> Array:
    """Give (a + b) KL(a / (a + b) ‖ x): how far the kernel has fallen from its peak, in logs."""
    x, complement = logistic(log_odds), logistic(-log_odds)
    excess = a * complement - b * x
    return _deviance(a, excess, (a + b) * x) + _deviance(b, -excess, (a + b) * complement)


def _deviance(observed: Array, excess: Array, expected: Array) -> Array:
    """Give o·log(o/e) + e − o, with excess = o − e known better than the difference would be."""
    share = -excess / observed
    near = np.log1p(np.maximum(share, -0.5))
    # Far below, 1 + share has lost the digits that the ratio still has.
    return observed * (share - np.where(share < -0.5, np.log(expected / observed), near))


def _stirling_error(a: Array) -> Array:
    """Give what Stirling's formula leaves of log Γ(a)."""
    long = np.maximum(a, SHORT)
    inverse = 1 / (long * long)
    series = 1 / 1260 - inverse * (1 / 1680 - inverse / 1188)
    error: Array = (1 / 12 - inverse * (1 / 360 - inverse * series)) / long
    short = a < SHORT
    small = a[short]
    log_gamma = np.array([math.lgamma(one) for one in small.tolist()])
    error[short] = log_gamma - (small - 0.5) * np.log(small) + small - HALF_LOG_TWO_PI
    return error


def solve_in_log_odds(
    log_tail: LogTail,
    target: Array,
    start: Array,
    *,
    low: Array | None = None,
    high: Array | None = None,
    tolerance: float = 1e-6,
) -> Array:
    """Find where a function that rises through `target` in log-odds meets it, elementwise.

    `log_tail` gives the value and its slope.  At a residual of `tolerance` one more Newton step,
    which squares it, ends the search.
    """
    low = np.full_like(target, -WIDEST) if low is None else low.copy()
    high = np.full_like(target, WIDEST) if high is None else high.copy()
    log_odds = np.clip(start, low, high)
    active = np.arange(target.size)
    for step in range(NEWTON_STEPS + 70):
        here = log_odds[active]
        with np.errstate(all="ignore"):  # a tail of 0 makes NaN, and NaN makes a halving
            value, slope = log_tail(here, active)
            residual = value - target[active]
            proposal = here - residual / slope
        below = residual < 0
        low[active] = np.where(below, here, low[active])
        high[active] = np.where(below, high[active], here)
        inside = (low[active] <= proposal) & (proposal <= high[active]) & (slope > 0)
        halve = ~inside | (step >= NEWTON_STEPS)
        log_odds[active] = np.where(halve, 0.5 * (low[active] + high[active]), proposal)
        closed = high[active] - low[active] <= 2e-16 * np.abs(here)
        active = active[~((inside & (np.abs(residual) <= tolerance)) | closed)]
        if not active.size:
            break
    return log_odds


def beta_log_odds(a: Array, b: Array, tail: Array) -> Array:
    """Give the log-odds of the `tail` quantile of the beta distribution with shapes a, b > 0."""
    log_odds = np.empty_like(tail)
    for first in range(0, tail.size, BLOCK):
        block = slice(first, first + BLOCK)
        log_odds[block] = _beta_log_odds(a[block], b[block], tail[block])
    return log_odds


def _beta_log_odds(a: Array, b: Array, tail: Array) -> Array:
    a, b = np.maximum(a, SMALLEST), np.maximum(b, SMALLEST)
    peak = log_peak(a, b)

    def log_tail(log_odds: Array, at: Indices) -> tuple[Array, Array]:
        log_kernel = peak[at] - deviance(a[at], b[at], log_odds)
        value = np.log(_tail(a[at], b[at], log_odds, log_kernel))
        return value, np.exp(log_kernel - value)

    return solve_in_log_odds(log_tail, np.log(tail), _first_guess(a, b, tail, peak))


def _first_guess(a: Array, b: Array, tail: Array, peak: Array) -> Array:
    """Guess by the score interval; for a small first shape by the leading term xᵃ/(a B(a, b))."""
    z = -normal_quantile(tail)
    total = np.maximum(a + b - 1, 0.5 * (a + b))
    count = np.minimum(np.maximum(a - 0.5, 0.25 * a), total)
    towards_zero = score_start(count, total, np.abs(z))
    guess = np.where(z > 0, towards_zero, score_end(count, total, np.abs(z)))
    guess = np.clip(guess, 1e-300, 1 - 1e-16)
    by_score: Array = np.log(guess) - np.log1p(-guess)
    total = a + b
    log_beta = a * np.log(a / total) + b * np.log(b / total) - peak
    by_leading_term = np.minimum((np.log(tail) + np.log(a) + log_beta) / a, 0.0)
    return np.where((a < 2) & (b >= 1), by_leading_term, by_score)


def score_end(count: Array, total: Array, z: Array) -> Array:
    """Give the upper end of Wilson's score interval: the larger root of its quadratic."""
    spread = z * np.sqrt(count * (1 - count / total) + z * z / 4)
    end: Array = (count + z * z / 2 + spread) / (total + z * z)
    return end


def score_start(count: Array, total: Array, z: Array) -> Array:
    """Give the lower end of Wilson's score interval: the smaller root, with no difference taken."""
    # The roots multiply to k² / (n (n + z²)).
    product = count / total * count / (total + z * z)
    return np.where(count > 0, product / score_end(count, total, z), 0.0)
