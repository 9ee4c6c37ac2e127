"""Student's t distribution by the incomplete beta function, without SciPy.

With y = f / (f + t²) the probability of |T| ≥ |t| is I(f/2, ½; y), and the log-odds of y are
log(f / t²): a quantile of the one is a quantile of the other.
"""

import math
from functools import lru_cache

import numpy as np

from truerisk.intervals.beta_quantile import beta_log_odds, beta_tail
from truerisk.intervals.normal import normal_cdf, normal_quantile


@lru_cache(maxsize=256)
def student_quantile(degrees: float, p: float) -> float:
    """Give the t that a variable with `degrees` of freedom does not exceed with probability p."""
    if math.isinf(degrees):
        return float(normal_quantile(p))
    if p == 0.5:
        return 0.0
    both = np.array([2 * min(p, 1 - p)])
    log_odds = beta_log_odds(np.array([degrees / 2]), np.array([0.5]), both)
    size = math.sqrt(degrees) * math.exp(-float(log_odds[0]) / 2)
    return -size if p < 0.5 else size


def student_cdf(degrees: float, t: float) -> float:
    """Give the probability that a variable with `degrees` of freedom is at most t."""
    if math.isinf(degrees):
        return float(normal_cdf(t))
    if t == 0:
        return 0.5
    log_odds = np.array([math.log(degrees) - 2 * math.log(abs(t))])
    tail = 0.5 * float(beta_tail(np.array([degrees / 2]), np.array([0.5]), log_odds)[0])
    return tail if t < 0 else 1 - tail
