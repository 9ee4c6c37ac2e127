"""Student's t distribution by the incomplete beta function, without SciPy.

With y = f / (f + t²) the probability of |T| ≥ |t| is I(f/2, ½; y), and the log-odds of y are
log(f / t²): a quantile of the one is a quantile of the other.
"""

import math
from functools import lru_cache

import numpy as np

from truerisk.intervals.beta_quantile import beta_log_odds, beta_tail
from truerisk.intervals.normal import normal_cdf, normal_quantile

CENTRE = 1e-2  # of a probability; beyond it t² is large enough to tell t


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
