"""What every test of two models, learners or classifiers ends in, and the spread it rests on.

No spread is never an interval of no width.  `without_spread` bounds the mean of units that are all
alike by their number; where the measure is no mean, or the units were not seen one by one,
`undetermined` leaves the interval open.  A standard error within rounding counts as none.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from truerisk.aliases import Array, Ends, Indices
from truerisk.intervals.group_jackknife import MIN_GROUPS, difference_spread
from truerisk.results import Finding

Shares = tuple[float, float, float]

NEGLIGIBLE = 1e-12  # of the range of a measure: what rounding makes of no spread
OPEN: Ends = (-math.inf, math.inf)
NO_SPREAD = Finding(
    "no example, drawn again, would change the difference: bounded by their number",
    code="no_spread",
)


@dataclass(frozen=True)
class AlternativeTest:
    """What another test says of the same pair and measure; `note` says what it assumes."""

    method: str
    p_value: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class TestOutcome:
    """The interval of a difference at any level, the test of no difference, and their names.

    `p_value` is two-sided: None without a test, NaN if undefined.  `shares_at` gives the posterior
    probabilities below, within and above ± a region.
    """

    __test__ = False  # pytest takes classes of this name for tests

    ends_at: Callable[[float], Ends]
    p_value: float | None
    method: str
    interval_method: str
    notes: tuple[str, ...] = ()
    settled_by: int | None = None
    alternatives: tuple[AlternativeTest, ...] = ()
    shares_at: Callable[[float], Shares] | None = None


@dataclass(frozen=True)
class Spread:
    """The standard error of a difference; Student's t where its degrees of freedom are finite.

    Interval and test are one statement.  A standard error of 10⁻¹² of `scale` counts as 0.
    """

    error: float
    degrees: float = math.inf
    scale: float = 1.0

    @property
    def is_zero(self) -> bool:
        """Whether the standard error is 0, but for rounding."""
        return abs(self.error) <= NEGLIGIBLE * self.scale

    @property
    def is_known(self) -> bool:
        """Whether there is anything to go by: a standard error that is positive."""
        return math.isfinite(self.error) and not self.is_zero and self.degrees > 0

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval; without limits where nothing is known."""
        if not self.is_known or not math.isfinite(value):
            return OPEN
        tail = (1 - level) / 2
        quantile = ndtri(tail) if math.isinf(self.degrees) else stdtrit(self.degrees, tail)
        width = -float(quantile) * self.error
        return value - width, value + width

    def p_value(self, value: float) -> float:
        """Give the p-value of the two-sided test of no difference; NaN where nothing is known."""
        if value == 0:
            return 1.0
        if not self.is_known or not math.isfinite(value):
            return math.nan
        statistic = -abs(value) / self.error
        below = ndtr(statistic) if math.isinf(self.degrees) else stdtr(self.degrees, statistic)
        return 2 * float(below)

    def outcome(self, value: float, method: str, notes: tuple[str, ...] = ()) -> TestOutcome:
        """Give interval and test of a difference with this standard error."""
        return TestOutcome(
            ends_at=partial(self.ends, value),
            p_value=self.p_value(value),
            method=method,
            interval_method=method,
            notes=notes,
        )


def without_spread(
    value: float,
    units: float,
    *,
    width: float = 1.0,
    method: str,
    interval_method: str = "no_spread",
    note: str = NO_SPREAD,
) -> TestOutcome:
    """Bound the mean difference of n units that all show the same one.

    If a share s of all units is unlike those seen, n units miss them with probability (1 − s)ⁿ: [d
    − s(width + d), d + s(width − d)], s = 1 − ((1 − level)/2)^(1/n).  Exact for independent units.
    """
    if math.isnan(value):
        return undetermined(method, note)

    def ends_at(level: float) -> Ends:
        if math.isinf(width):
            return OPEN
        share = -math.expm1(math.log(min((1 - level) / 2, 0.5)) / units)
        return value - share * (width + value), value + share * (width - value)

    alike = 1.0 if math.isinf(width) else width / (width + abs(value))
    return TestOutcome(
        ends_at=ends_at,
        p_value=min(1.0, 2 * alike**units),
        method=method,
        interval_method=interval_method,
        notes=(note,),
    )


def undetermined(method: str, note: str, p_value: float | None = math.nan) -> TestOutcome:
    """Leave the interval open, and give no test."""
    return TestOutcome(
        ends_at=lambda _: OPEN,
        p_value=p_value,
        method=method,
        interval_method="whole_range",
        notes=(note,),
    )


def satterthwaite(variance: Array, strata: Indices, size: Array | None = None) -> float:
    """Give the degrees of freedom of a variance added up over strata: (Σv)² / Σ(v²/(n − 1)).

    `size` is what each entry counts for, 1 if not given.

    Source: F. E. Satterthwaite, Biometrics Bulletin 2(6), 110-114, 1946.
    """
    parts = np.bincount(strata, weights=variance)
    sizes = np.bincount(strata, weights=size)
    total = math.fsum(parts)
    if not 0 < total < math.inf:
        return math.inf
    # Shares of the whole: squares of variances themselves can leave the range of floats.
    shares = parts / total
    return 1 / math.fsum(shares**2 / np.maximum(sizes - 1, 1.0))


def spread_of_influences(influences: Array, strata: Indices | None = None) -> Spread:
    r"""Add up the squares of the influences of independent examples.

    .. math:: s^2 = \frac{n}{n - 1} \sum_i u_i^2

    The degrees of freedom are those of the strata, if these are given.
    """
    units = len(influences)
    if units < 2:
        return Spread(math.nan, 0.0)
    squares = influences**2
    error = math.sqrt(units / (units - 1) * float(squares.sum()))
    if strata is None or math.isnan(error):
        return Spread(error)
    return Spread(error, satterthwaite(squares, strata))


def spread_of_groups(value: float, without: Array, units: float, scale: float = 1.0) -> Spread:
    """Take the jackknife over groups of a difference; `units` is their effective number.

    Unknown where the difference is undefined without some group, or there are fewer than three.
    """
    if len(without) < MIN_GROUPS or not np.isfinite(without).all():
        return Spread(math.nan, 0.0)
    return Spread(*difference_spread(value, without, units), scale)
