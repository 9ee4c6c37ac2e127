"""The normal, logistic, Student's and gamma distributions, without SciPy and its start-up time.

Student    with y = f / (f + t²) the probability of |T| ≥ |t| is I(f/2, ½; y), and the log-odds of y
           are log(f / t²): a quantile of the one is a quantile of the other
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truerisk.intervals.beta_quantile import beta_log_odds, beta_tail
from truerisk.kernels import special

CENTRE = 1e-2  # of a probability; beyond it t² is large enough to tell t
LARGE = 1e5  # shapes from here on have Wilson and Hilferty's quantile, right to 1e-8
STEPS = 100  # at most; Newton's need a handful
SETTLED = 1e-11  # of log x: rounding of the distribution function allows no more
EXACT = 1e-15


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
