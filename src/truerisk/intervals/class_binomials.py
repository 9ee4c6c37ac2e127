r"""Intervals of any measure of two classes at a known prior, from two binomials.

Problem   at a prior π every measure of hard predictions is a function of the share p₁ of positives
          and p₀ of negatives that are right: precision is πp₁/(πp₁ + (1 − π)(1 − p₀))
Given     k₁ of n₁ and k₀ of n₀ right, independent binomials; the class sizes say nothing
Region    the ends of Clopper and Pearson's one-sided intervals at tails Φ(−|z₁|) and Φ(−|z₀|), for
          all (z₁, z₀) on the circle of radius z, the normal quantile of the level
Interval  least and greatest value of the measure on that curve

A measure of one class alone, such as recall, gets Clopper and Pearson's interval, which is exact.
Of the others the coverage was summed over all outcomes (docs/coverage-at-a-prior.md).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import check_level
from truerisk.intervals.binomial import exact_lower, exact_upper
from truerisk.intervals.distributions import normal_cdf, normal_quantile
from truerisk.results import Interval

METHOD = "class_binomials"
POINTS = 180  # of the circle; both axes are among them


def confidence_curve(right: Array, size: Array, *, level: float) -> Array:
    """Give the shares that are right in each of two classes along the curve: (POINTS, 2)."""
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    shares = []
    for k, n, side in zip(right, size, (np.cos(angles), np.sin(angles)), strict=True):
        tails = normal_cdf(-z * np.abs(side))
        counts, trials = np.full(POINTS, min(float(k), float(n))), np.full(POINTS, float(n))
        ends = exact_lower(counts, trials, tails), exact_upper(counts, trials, tails)
        shares.append(np.where(side < 0, *ends))
    return np.column_stack(shares)


def curve_interval(
    function: Callable[[NDArray[Any]], Any], tables: NDArray[Any], value: float, *, level: float
) -> Interval:
    """Give the range of a measure over the tables of a curve; it contains the value."""
    values = np.append(np.asarray(function(tables), dtype=np.float64), value)
    return Interval(float(np.nanmin(values)), float(np.nanmax(values)), level, METHOD)
