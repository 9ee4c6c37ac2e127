"""From a difference and its interval to what may be said: better, equivalent, or no evidence."""

import math
from dataclasses import replace

from truerisk.comparison.outcome import TestOutcome
from truerisk.errors import InputError
from truerisk.intervals.distributions import normal_quantile
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

MAX_EXAMPLES = 1e12  # nobody has more
POWER = 0.8  # with which `settled_by` examples would detect the difference that is planned for
REFIT_CAVEAT = " More examples change the learners, too: compare them again then."


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
