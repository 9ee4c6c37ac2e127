"""Normal, Student's, gamma and beta distributions: quantiles without SciPy.

Those of the beta distribution stay right at n = 10¹² and at a tail of 10⁻¹².

Problem   find θ with  I(a, b; x) = tail,  x = 1 / (1 + exp(−θ)),  I the regularised incomplete beta
Method    compiled (`kernels/special.py`); other functions that rise in θ: `solve_in_log_odds`
Why       quantiles of libraries are inverted once and never put back: SciPy's is off by a factor
          of two at a = 1000, n = 10⁹.  Here every value comes out of its own residual.

In log-odds a proportion of 10⁻¹² and its complement are equally precise, and log I is concave there
(the beta kernel is log-concave in θ), and Newton's steps from the left converge from anywhere.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.aliases import Array, ArrayLike, Ends, Indices
from truerisk.kernels import special

LogTail = Callable[[Array, Indices], tuple[Array, Array]]

WIDEST = 740.0  # beyond these log-odds float64 has no proportion left
NEWTON_STEPS = 30  # then halving only, which needs at most 64 more

CENTRE = 1e-2  # of a probability; beyond it t² is large enough to tell t
LARGE = 1e5  # shapes from here on have Wilson and Hilferty's quantile, right to 1e-8
STEPS = 100  # at most; Newton's need a handful
SETTLED = 1e-11  # of log x: rounding of the distribution function allows no more
EXACT = 1e-15


@lru_cache(maxsize=4096)
def two_sided_t(freedom: float, level: float) -> float:
    """Give the t with |T| ≤ t at the probability `level`, with at least one degree of freedom."""
    return student_quantile(max(float(freedom), 1.0), (1 + level) / 2)


def score_ends(share: float, size: float, quantile: float) -> Ends:
    r"""Give Wilson's interval of a share of `size` units, with any quantile.

    .. math:: |share - p| \le t \sqrt{p (1 - p) / size}
    """
    square = quantile * quantile
    spread = quantile * math.sqrt(size * share * (1 - share) + square / 4)
    high = (size * share + square / 2 + spread) / (size + square)
    # The roots multiply to share² size / (size + t²): no difference is taken.
    return share * share * size / (size + square) / high, min(1.0, high)


def hull(value: float, *ends: Ends) -> Ends:
    """Give the shortest interval that holds the value and all the intervals."""
    return min(value, *(low for low, _ in ends)), max(value, *(high for _, high in ends))


def size_of(share: float, variance: float) -> float:
    """Give how many units a share that varies so much is of; at least one."""
    return max(share * (1 - share) / variance, 1.0) if math.isfinite(variance) else 1.0


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


def first_that_holds(holds: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """Halve down to the first whole number that holds, elementwise: `low` does not, `high` does."""
    while np.any(high - low > 1):
        middle = (low + high) // 2
        fine = holds(middle)
        low, high = np.where(fine, low, middle), np.where(fine, middle, high)
    return high


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


def normal_quantile(p: ArrayLike) -> Any:
    """Give the z with Φ(z) = p; −∞ at 0, ∞ at 1, NaN outside."""
    shares = np.ascontiguousarray(p, dtype=np.float64)
    inside = (shares > 0) & (shares < 1)
    safe = np.where(inside, shares, 0.5)
    quantiles = np.empty_like(safe)
    special.normal_quantiles(safe.ravel(), quantiles.reshape(-1))
    if not inside.all():
        ends = np.where(shares == 0, -np.inf, np.where(shares == 1, np.inf, np.nan))
        quantiles = np.where(inside, quantiles, ends)
    return quantiles[()] if np.ndim(p) else quantiles.reshape(())[()]


def normal_cdf(z: ArrayLike) -> Any:
    """Give Φ(z), the probability that a standard normal variable is at most z."""
    places = np.ascontiguousarray(z, dtype=np.float64)
    tails = np.empty_like(places)
    special.normal_tails(places.ravel(), tails.reshape(-1))
    return tails if np.ndim(z) else tails.reshape(())[()]


def logistic(log_odds: ArrayLike) -> Any:
    """Give 1 / (1 + exp(−θ)), precise however small."""
    theta = np.asarray(log_odds, dtype=np.float64)
    shrunk = np.exp(-np.abs(theta))
    return np.where(theta < 0, shrunk, 1.0) / (1.0 + shrunk)


@lru_cache(maxsize=256)
def student_quantile(degrees: float, p: float) -> float:
    """Give the t that a variable with `degrees` of freedom does not exceed with probability p."""
    if math.isinf(degrees):
        return float(normal_quantile(p))
    if abs(p - 0.5) < CENTRE:
        return _near_the_centre(degrees, p - 0.5)
    both = np.array([2 * min(p, 1 - p)])
    log_odds = beta_log_odds(np.array([degrees / 2]), np.array([0.5]), both)
    size = math.sqrt(degrees) * math.exp(-float(log_odds[0]) / 2)
    return -size if p < 0.5 else size


def _near_the_centre(degrees: float, beyond: float) -> float:
    """Give the quantile of ½ + `beyond` by the series of the inverse; t² would round away.

    With x = beyond / f(0): t = x + (f + 1)/(6 f) x³ + (f + 1)(7 f + 1)/(120 f²) x⁵.
    """
    log_density = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    x = beyond * math.sqrt(degrees * math.pi) * math.exp(-log_density)
    third = (degrees + 1) / (6 * degrees)
    fifth = (degrees + 1) * (7 * degrees + 1) / (120 * degrees**2)
    return x * (1 + x**2 * (third + fifth * x**2))


def student_cdf(degrees: float, t: float) -> float:
    """Give the probability that a variable with `degrees` of freedom is at most t."""
    if math.isinf(degrees):
        return float(normal_cdf(t))
    if t == 0:
        return 0.5
    log_odds = np.array([math.log(degrees) - 2 * math.log(abs(t))])
    tail = 0.5 * float(beta_tail(np.array([degrees / 2]), np.array([0.5]), log_odds)[0])
    return tail if t < 0 else 1 - tail


def gamma_quantile(shape: float, probability: float) -> float:
    """Give the quantile of the gamma distribution with scale 1, without SciPy.

    Newton's steps on P(a, x) = p in the logarithm of x, each kept inside the bracket that all
    earlier ones leave.

    Examples
    --------
    >>> round(gamma_quantile(1.0, 0.95), 6)  # −ln(.05)
    2.995732
    """
    z = float(normal_quantile(probability))
    guess = shape * max(1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape)), 0.0) ** 3
    if shape > LARGE:
        return guess
    low, high = -700.0, math.log(2 * shape + 100)
    # For small x the distribution function is x^a / Γ(a + 1).
    leading = (math.log(probability) + math.lgamma(shape + 1)) / shape
    if leading < low:
        return 0.0  # as far as a double can say
    log_x = math.log(guess) if guess > 0.1 * shape else leading
    log_x = min(max(log_x, low), high)
    for _ in range(STEPS):
        x = math.exp(log_x)
        excess = _below(shape, x) - probability
        low, high = (log_x, high) if excess < 0 else (low, log_x)
        slope = math.exp(shape * log_x - x - math.lgamma(shape))
        step = excess / slope if slope > 0 else math.copysign(1.0, excess)
        proposal = log_x - max(min(step, 2.0), -2.0)
        if not low <= proposal <= high:
            proposal = 0.5 * (low + high)
        settled = abs(proposal - log_x) <= SETTLED * max(abs(log_x), 1.0)
        log_x = proposal
        if settled:
            break
    return math.exp(log_x)


def _below(shape: float, x: float) -> float:
    """Give P(a, x): by its series under a + 1, by the continued fraction of Q above."""
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        above = shape
        while term > total * EXACT:
            above += 1
            term *= x / above
            total += term
        return front * total
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10_000):
        a, b = -i * (i - shape), b + 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < EXACT:
            break
    return 1 - front * fraction
