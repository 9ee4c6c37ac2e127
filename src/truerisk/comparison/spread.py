"""How far a difference may lie off, and the interval and the test that follow from it."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from truerisk.aliases import Ends

LARGEST_ODDS = 1e9  # a difference as large as it can be


class EndsAtAnyLevel(Protocol):
    """Anything that gives the ends of an interval for a difference at any level."""

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval around the value."""


@dataclass(frozen=True)
class Found:
    """What a method makes of a pair: the test, the interval at any level, and their names."""

    p_value: float
    spread: EndsAtAnyLevel
    method: str
    interval_method: str
    settled_by: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Spread:
    r"""The standard error of a difference; Student's t where its degrees of freedom are finite.

    .. math:: d \pm t_{1 - (1 - level)/2}\, s, \qquad p = 2\,P(T \le -|d| / s)

    Interval and test are one statement: 0 lies outside the interval at 1 − p and not before.

    Examples
    --------
    >>> spread = Spread(0.02)
    >>> round(spread.p_value(0.05), 4), [round(end, 3) for end in spread.ends(0.05, 0.95)]
    (0.0124, [0.011, 0.089])
    """

    error: float
    degrees: float = math.inf

    @property
    def is_known(self) -> bool:
        """Whether there is anything to go by: a standard error that is positive."""
        return math.isfinite(self.error) and self.error > 0 and self.degrees > 0

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval; without limits where nothing is known."""
        if not self.is_known or not math.isfinite(value):
            return -math.inf, math.inf
        width = self.error * self._quantile((1 - level) / 2)
        return value - width, value + width

    def p_value(self, value: float) -> float:
        """Give the p-value of the two-sided test of no difference; NaN where nothing is known."""
        if value == 0:
            return 1.0
        if not self.is_known or not math.isfinite(value):
            return math.nan
        statistic = -abs(value) / self.error
        if math.isinf(self.degrees):
            return 2 * float(ndtr(statistic))
        return 2 * float(stdtr(self.degrees, statistic))

    def _quantile(self, tail: float) -> float:
        if math.isinf(self.degrees):
            return -float(ndtri(tail))
        return -float(stdtrit(self.degrees, tail))


@dataclass(frozen=True)
class Drawn:
    """A spread around the mean of the resamples, not around the value itself.

    A difference of two maxima over thresholds jumps about more than its resamples tell; their mean
    does not.

    Examples
    --------
    >>> drawn = Drawn(Spread(0.02), 0.04)
    >>> [round(end, 3) for end in drawn.ends(0.05, 0.95)], round(drawn.p_value(0.05), 4)
    ([0.001, 0.079], 0.0455)
    """

    spread: Spread
    centre: float

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        del value
        return self.spread.ends(self.centre, level)

    def p_value(self, value: float) -> float:
        """Give the p-value of the two-sided test of no difference."""
        del value
        return self.spread.p_value(self.centre)


@dataclass(frozen=True)
class NoSpread:
    r"""A difference that no example, drawn again, would change: bounded by how many there are.

    As for k = n of n in Wilson's interval, with `width` the largest difference possible:

    .. math:: d \pm width \frac{z^2}{units + z^2}

    The test is the inversion of that.  With d = 0 it is Tango's interval of no discordant pair.

    Examples
    --------
    >>> low, high = NoSpread(50).ends(0.0, 0.95)
    >>> round(high, 3), NoSpread(50).p_value(0.0)
    (0.071, 1.0)
    """

    units: float
    width: float = 1.0

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        if math.isinf(self.units):
            return value, value
        square = float(ndtri((1 - level) / 2)) ** 2
        away = self.width * square / (self.units + square)
        return value - away, value + away

    def p_value(self, value: float) -> float:
        """Give 1 less the level at which 0 is left out."""
        share = min(abs(value) / self.width, 1.0)
        if share == 0:
            return 1.0
        odds = share / (1 - share) if share < 1 else LARGEST_ODDS
        return 2 * float(ndtr(-math.sqrt(self.units * odds)))


def satterthwaite(
    variance: NDArray[np.float64], strata: NDArray[np.intp], size: NDArray[np.float64]
) -> float:
    r"""Give the degrees of freedom of a variance that is added up over strata of examples.

    .. math:: \nu = \frac{(\sum_s v_s)^2}{\sum_s v_s^2 / (n_s - 1)}

    A recall's variance comes from the positives alone, and is known as well as they are many.

    Parameters
    ----------
    variance, strata, size
        What each example (or cell) adds to the variance, its stratum, and how many it counts for.

    References
    ----------
    .. [1] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
       Biometrics Bulletin 2(6), 110-114, 1946. https://doi.org/10.2307/3002019

    Examples
    --------
    >>> satterthwaite(np.array([0.2, 0.1, 0.0]), np.array([0, 0, 1]), np.array([8.0, 3.0, 90.0]))
    10.0
    """
    parts = np.bincount(strata, weights=variance)
    sizes = np.bincount(strata, weights=size)
    total = math.fsum(parts)
    if not total > 0:
        return math.inf
    return float(total**2 / math.fsum(parts**2 / np.maximum(sizes - 1, 1.0)))


def spread_of_influences(
    influences: NDArray[np.float64],
    group: NDArray[np.intp] | None = None,
    strata: NDArray[np.intp] | None = None,
) -> Spread:
    r"""Add up the influences of the examples, group by group where they come in groups.

    .. math:: s^2 = \frac{G}{G - 1} \sum_g \Bigl(\sum_{i \in g} u_i\Bigr)^2

    Right for many independent examples or groups.  The degrees of freedom are one less than there
    are groups; for independent examples those of their strata, if these are given.

    Examples
    --------
    >>> spread = spread_of_influences(np.array([0.5, -0.5, 0.5, -0.5]))
    >>> round(spread.error, 4)  # √(4/3 · 4 · ¼)
    1.1547
    """
    totals = influences if group is None else np.bincount(group, weights=influences)
    units = len(totals)
    if units < 2:
        return Spread(math.nan, 0.0)
    error = math.sqrt(units / (units - 1) * math.fsum(totals**2))
    if group is not None:
        return Spread(error, units - 1.0)
    if strata is None or math.isnan(error):
        return Spread(error)
    return Spread(error, satterthwaite(influences**2, strata, np.ones(units)))
