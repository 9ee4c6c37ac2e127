"""From the outcome of a test to what may be said: better, equivalent, or no evidence.

No spread is never an interval of no width.  `without_spread` bounds the mean of units that are all
alike by their number; where the measure is no mean, or the units were not seen one by one,
`undetermined` leaves the interval open.  A standard error within rounding counts as none.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from truerisk.aliases import Array, Ends, Indices
from truerisk.errors import InputError
from truerisk.intervals.distributions import normal_quantile
from truerisk.intervals.group_jackknife import MIN_GROUPS, difference_spread
from truerisk.measures.registry import measure_of, spoken_title
from truerisk.results import (
    Comparison,
    Conclusion,
    Estimate,
    Finding,
    Interval,
    decimals_for,
    number,
)

Shares = tuple[float, float, float]

NEGLIGIBLE = 1e-12  # of the range of a measure: what rounding makes of no spread
OPEN: Ends = (-math.inf, math.inf)
NO_SPREAD = Finding(
    "no example, drawn again, would change the difference: bounded by their number",
    code="no_spread",
)

MAX_EXAMPLES = 1e12  # nobody has more
POWER = 0.8  # with which `settled_by` examples would detect the difference that is planned for
REFIT_CAVEAT = " More examples change the learners, too: compare them again then."


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


def conclude(
    names: tuple[str, str],
    first: Estimate,
    second: Estimate,
    outcome: TestOutcome,
    *,
    level: float,
    method: str | None = None,
    region: float | None = None,
    notes: tuple[str, ...] = (),
    widest: float | None = None,
) -> Comparison:
    """Put two estimates and the outcome of a test of their difference into one `Comparison`.

    Better, worse: the interval lies on one side of 0, and the test, if any, rejects at 1 − level.
    Equivalent: the interval at 2·level − 1 lies strictly within ± region, i.e. both one-sided tests
    reject (D. J. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15, 657-680, 1987); it takes
    precedence over a real difference, and the verdict says both.  Otherwise no evidence.  `widest`
    is the range of the measure, where the registry does not know it.
    """
    if region is not None:
        check_level_of_equivalence(level)
    value = second.value - first.value
    measure, _ = measure_of(first.measure)  # None for a scorer, of which more is better
    if widest is None:
        ends = (0.0, math.inf) if measure is None else measure.measure_range
        widest = ends[1] - ends[0]
    lower = measure is not None and measure.higher_is_better is False
    interval = _interval(value, outcome, level, widest)
    p_value, name = outcome.p_value, outcome.method if method is None else method
    difference = Estimate(
        value=value,
        interval=interval,
        measure=first.measure,
        method=name,
        n=min(first.n, second.n),
        target=first.target,
        notes=(*notes, *outcome.notes),
    )
    finding = decide(
        is_equivalent=region is not None and _is_within(region, value, outcome, level),
        is_different=_excludes_0(interval) and (p_value is None or p_value <= 1 - level),
        improves=(value > 0) != lower,
    )
    is_open = interval.width >= 2 * widest  # there is nothing that could be extrapolated
    settled_by = None
    if finding == "no evidence" and not is_open and (p_value is None or not math.isnan(p_value)):
        planned = planned_difference(value, region)
        settled_by = outcome.settled_by or examples_to_settle(planned, interval, difference.n)
    return Comparison(
        names=names,
        first=first,
        second=second,
        difference=difference,
        p_value=p_value,
        method=name,
        finding=finding,
        verdict=_verdict(names, difference, finding, region, settled_by),
        region=region,
        settled_by=settled_by,
        notes=difference.notes,
    )


def decide(*, is_equivalent: bool, is_different: bool, improves: bool) -> Conclusion:
    """Give the conclusion about the second of two: equivalence comes before a real difference."""
    if is_equivalent:
        return "equivalent"
    if not is_different:
        return "no evidence"
    return "better" if improves else "worse"


def planned_difference(value: float, region: float | None) -> float:
    """Give the difference that more examples should detect: the one seen, at least the region.

    A difference below the region does not matter, and nobody should collect examples to find it.
    """
    return max(abs(value), region or 0.0)


def planned_in_words(value: float, region: float | None) -> str:
    """Say which difference `planned_difference` gives, after "a difference"."""
    if region is not None and region > abs(value):
        return f"of {region:g}, the smallest that matters"
    return "as large as the one seen"


def with_refit_caveat(comparison: Comparison) -> Comparison:
    """Add to the verdict, where more examples are needed, that they change the learners."""
    if comparison.settled_by is None:
        return comparison
    verdict = Finding(comparison.verdict + REFIT_CAVEAT, code=code_of(comparison.finding))
    return replace(comparison, verdict=verdict)


def code_of(finding: Conclusion) -> str:
    """Give the code of a conclusion."""
    return finding.replace(" ", "_")


def check_level_of_equivalence(level: float) -> None:
    """Refuse a level at which two one-sided tests would show anything at all."""
    if level <= 0.5:
        raise InputError(
            f"`level` must be more than 0.5 with a region: equivalence is two tests at 1 − level; "
            f"got {level:g}."
        )


def growth_to_settle(statistic: float, level: float) -> float:
    r"""Give how many times as many units would find, with a power of 0.8, what has this statistic.

    .. math:: \left(\frac{z + z_{power}}{statistic}\right)^2
    """
    needed = -float(normal_quantile((1 - level) / 2)) + float(normal_quantile(POWER))
    return (needed / statistic) ** 2 if statistic else math.inf


def examples_to_settle(value: float, interval: Interval, n: float) -> int | None:
    """Tell how many examples would detect such a difference with power 0.8: n·((z + z_power)·s/d)².

    An extrapolation, s being half the interval over z.  None for no difference, or over 10¹².
    """
    if not math.isfinite(value) or value == 0 or not 0 < interval.width < math.inf:
        return None
    error = interval.width / (2 * -float(normal_quantile((1 - interval.level) / 2)))
    times = growth_to_settle(abs(value) / error, interval.level)
    return None if times > MAX_EXAMPLES / n else max(math.ceil(n) + 1, math.ceil(n * times))


def _interval(value: float, outcome: TestOutcome, level: float, widest: float) -> Interval:
    """Hold the interval in the range of differences, around the value."""
    method = outcome.interval_method
    if math.isnan(value):
        return Interval(-widest, widest, level, method)
    low, high = outcome.ends_at(level)
    return Interval(
        float(max(-widest, min(low, value))), float(min(widest, max(high, value))), level, method
    )


def _is_within(region: float, value: float, outcome: TestOutcome, level: float) -> bool:
    """Whether both one-sided tests exclude a difference as large as the region."""
    if math.isnan(value):
        return False
    low, high = outcome.ends_at(2 * level - 1)
    return -region < min(low, value) and max(high, value) < region


def _excludes_0(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _verdict(
    names: tuple[str, str],
    difference: Estimate,
    finding: Conclusion,
    region: float | None,
    settled_by: int | None,
) -> Finding:
    """Say it in one or two sentences, for the second model."""
    first, second = names
    title, interval = spoken_title(difference.measure), difference.interval
    if interval is None or not difference.is_defined:
        text = f"The {title} is undefined for at least one of {first} and {second}."
        return Finding(text, code="undefined")
    apart = _apart(difference.value, interval)
    if finding == "equivalent":
        real = " The difference is real, but too small to matter." if _excludes_0(interval) else ""
        text = (
            f"{second} and {first} are equivalent: a difference in {title} of {region:g} or more "
            f"is excluded.{real}"
        )
    elif finding != "no evidence":
        text = f"{second} is {finding} than {first}: its {title} {apart}."
    else:
        text = f"No evidence either way between {second} and {first}: the {title} of {second} "
        text += f"{apart}.{_settles(difference.value, region, settled_by)}"
    return Finding(text, code=code_of(finding))


def _settles(value: float, region: float | None, settled_by: int | None) -> str:
    if settled_by is None:
        return ""
    which = planned_in_words(value, region)
    often = f"in {100 * POWER:g} % of samples"
    return f" About {settled_by:,} examples in all would detect a difference {which}, {often}."


def _apart(value: float, interval: Interval) -> str:
    """Say by how much the second's measure is higher or lower, with the interval."""
    words = number(abs(value), decimals_for(interval.width))
    if value == 0:
        return f"is the same {between(interval.low, interval.high)}"
    if value > 0:
        return f"is higher by {words} {between(interval.low, interval.high)}"
    return f"is lower by {words} {between(0.0 - interval.high, 0.0 - interval.low)}"


def between(low: float, high: float) -> str:
    """Write the ends of an interval, within a sentence, as tables write them."""
    decimals = decimals_for(high - low)
    return f"[{number(low, decimals)}, {number(high, decimals)}]"
