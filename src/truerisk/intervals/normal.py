"""The normal and the logistic distribution, elementwise, without SciPy and its start-up time."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truerisk.kernels import special


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
