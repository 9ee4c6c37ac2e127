"""Quantiles of the beta distribution that stay right at n = 10¹² and at a tail of 10⁻¹².

Problem   find θ with  I(a, b; x) = tail,  x = 1 / (1 + exp(−θ)),  I the regularised incomplete beta
Method    compiled (`kernels/special.py`); other functions that rise in θ: `solve_in_log_odds`
Why       quantiles of libraries are inverted once and never put back: SciPy's is off by a factor
          of two at a = 1000, n = 10⁹.  Here every value comes out of its own residual.

In log-odds a proportion of 10⁻¹² and its complement are equally precise, and log I is concave there
(the beta kernel is log-concave in θ), and Newton's steps from the left converge from anywhere.
"""

from collections.abc import Callable

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.kernels import special

LogTail = Callable[[Array, Indices], tuple[Array, Array]]

WIDEST = 740.0  # beyond these log-odds float64 has no proportion left
NEWTON_STEPS = 30  # then halving only, which needs at most 64 more


def beta_tail(a: Array, b: Array, log_odds: Array) -> Array:
    """Give I(a, b; x) at the log-odds of x, precise for x and for 1 − x however small."""
    return _each(special.beta_tails, a, b, log_odds)


def log_beta_kernel(a: Array, b: Array, log_odds: Array) -> Array:
    """Give ln(x^a (1−x)^b / B(a, b)), the slope of I(a, b; x) in log-odds, without cancellation."""
    return log_peak(a, b) - deviance(a, b, log_odds)


def log_peak(a: Array, b: Array) -> Array:
    """Give the logarithm of the kernel where it is largest, at x = a / (a + b)."""
    return _each(special.log_peaks, a, b)


def deviance(a: Array, b: Array, log_odds: Array) -> Array:
    """Give (a + b) KL(a / (a + b) ‖ x): how far the kernel has fallen from its peak, in logs."""
    return _each(special.deviances, a, b, log_odds)


def beta_log_odds(a: Array, b: Array, tail: Array) -> Array:
    """Give the log-odds of the `tail` quantile of the beta distribution with shapes a, b > 0."""
    return _each(special.beta_quantiles, a, b, tail)


def _each(function: Callable[..., None], *columns: Array) -> Array:
    """Call a compiled loop that writes one number for each entry of the columns."""
    values = np.empty(len(columns[0]))
    function(*(np.ascontiguousarray(column, dtype=np.float64) for column in columns), values)
    return values


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
