"""From a difference and its interval to what may be said: better, equivalent, or no evidence."""

import math
from collections.abc import Callable

from scipy.special import ndtri

from truerisk.aliases import Ends
from truerisk.errors import InputError
from truerisk.measures.registry import base_and_average, find_measure, spoken_title
from truerisk.results import Comparison, Conclusion, Estimate, Interval, decimals_for, number

MAX_EXAMPLES = 1e12  # nobody has more
POWER = 0.8  # with which `settled_by` examples would tell the difference seen


def conclude(
    names: tuple[str, str],
    first: Estimate,
    second: Estimate,
    *,
    ends_at: Callable[[float], Ends],
    level: float,
    interval_method: str,
    p_value: float | None,
    method: str,
    region: float | None = None,
    settled_by: int | None = None,
    notes: tuple[str, ...] = (),
) -> Comparison:
    """Put a difference, second − first, its interval and its test into one `Comparison`.

    * better, worse: the interval lies on one side of 0, and the test, if there is one, rejects at
      1 − level.
    * equivalent: both one-sided tests at 1 − level exclude a difference of `region` or more, that
      is, the interval at 2·level − 1 lies strictly within ± region [1]_.  A difference can be both
      real and too small to matter: then the finding is "equivalent", and the verdict says both.
    * no evidence: neither.

    Parameters
    ----------
    ends_at
        Gives the ends of the interval for the difference at any level.
    region
        The largest difference that does not matter, in units of the measure.
    settled_by
        Examples that would tell the difference seen; where it is not given, it is extrapolated from
        the width of the interval, which falls as 1/√n.

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability", Journal of
       Pharmacokinetics and Biopharmaceutics 15, 657-680, 1987.

    Examples
    --------
    >>> first = Estimate(value=0.16, interval=None, measure="error_rate", method="counts", n=400)
    >>> second = Estimate(value=0.12, interval=None, measure="error_rate", method="counts", n=400)
    >>> found = conclude(("a", "b"), first, second, ends_at=lambda level: (-0.07, -0.01),
    ...     level=0.95, interval_method="tango", p_value=0.01, method="mcnemar_mid_p")
    >>> found.finding, found.verdict
    ('better', 'b is better than a: its error rate is lower by 0.040 [0.010, 0.070].')
    """
    if region is not None:
        check_level_of_equivalence(level)
    value = second.value - first.value
    measure = find_measure(base_and_average(first.measure)[0])
    widest = measure.measure_range[1] - measure.measure_range[0]
    interval = _interval(value, ends_at, level, widest, interval_method)
    difference = Estimate(
        value=value,
        interval=interval,
        measure=first.measure,
        method=method,
        n=min(first.n, second.n),
        target=first.target,
        notes=notes,
    )
    finding: Conclusion = "no evidence"
    if region is not None and _is_within(region, value, ends_at, level):
        finding = "equivalent"
    elif _excludes_0(interval) and (p_value is None or p_value <= 1 - level):
        improves = (value > 0) == (measure.higher_is_better is not False)
        finding = "better" if improves else "worse"
    is_open = interval.width >= 2 * widest  # nothing was found that could be extrapolated
    if finding != "no evidence" or is_open or (p_value is not None and math.isnan(p_value)):
        settled_by = None
    elif settled_by is None:
        settled_by = examples_to_settle(value, interval, difference.n)
    return Comparison(
        names=names,
        first=first,
        second=second,
        difference=difference,
        p_value=p_value,
        method=method,
        finding=finding,
        verdict=_in_words(names, difference, finding, region, settled_by),
        region=region,
        settled_by=settled_by,
        notes=notes,
    )


def check_level_of_equivalence(level: float) -> None:
    """Refuse a level at which two one-sided tests would show anything at all.

    Examples
    --------
    >>> check_level_of_equivalence(0.95)
    """
    if level <= 0.5:
        raise InputError(
            f"`level` must be more than 0.5 with a region: equivalence is two tests at 1 − level; "
            f"got {level:g}."
        )


def examples_to_settle(value: float, interval: Interval, n: float) -> int | None:
    r"""Tell how many examples in all would find a difference like this one, with a power of 0.8.

    .. math:: n \left(\frac{(z + z_{power})\, s}{d}\right)^2, \quad
              s = \frac{high - low}{2 z}

    An extrapolation: the difference seen is itself uncertain.  None where none was seen, or one so
    small that 10¹² examples would not tell it.

    Examples
    --------
    >>> examples_to_settle(0.02, Interval(-0.02, 0.06, 0.95, "tango"), 400)
    3270
    """
    if not math.isfinite(value) or value == 0 or not 0 < interval.width < math.inf:
        return None
    z = -float(ndtri((1 - interval.level) / 2))
    error = interval.width / (2 * z)
    times = ((z + float(ndtri(POWER))) * error) / abs(value)
    if times > math.sqrt(MAX_EXAMPLES / n):
        return None
    return max(math.ceil(n) + 1, math.ceil(n * times**2))


def _interval(
    value: float, ends_at: Callable[[float], Ends], level: float, widest: float, method: str
) -> Interval:
    """Hold the interval in the range of differences, around the value."""
    if math.isnan(value):
        return Interval(-widest, widest, level, method)
    low, high = ends_at(level)
    return Interval(max(-widest, min(low, value)), min(widest, max(high, value)), level, method)


def _is_within(region: float, value: float, ends_at: Callable[[float], Ends], level: float) -> bool:
    """Whether both one-sided tests exclude a difference as large as the region."""
    if math.isnan(value):
        return False
    low, high = ends_at(2 * level - 1)
    return -region < min(low, value) and max(high, value) < region


def _in_words(
    names: tuple[str, str],
    difference: Estimate,
    finding: Conclusion,
    region: float | None,
    settled_by: int | None,
) -> str:
    """Say it in one or two sentences, for the second model."""
    first, second = names
    title = spoken_title(difference.measure)
    interval = difference.interval
    if interval is None or not difference.is_defined:
        return f"The {title} is undefined for at least one of {first} and {second}."
    seen = _apart(difference.value, interval)
    if finding == "equivalent":
        real = " The difference is real, but too small to matter." if _excludes_0(interval) else ""
        return (
            f"{second} and {first} are equivalent: a difference in {title} of {region:g} or more "
            f"is excluded.{real}"
        )
    if finding != "no evidence":
        return f"{second} is {finding} than {first}: its {title} {seen}."
    more = (
        f" About {settled_by:,} examples in all would tell a difference as large as the one seen."
        if settled_by is not None
        else ""
    )
    undecided = f"No evidence either way between {second} and {first}"
    return f"{undecided}: the {title} of {second} {seen}.{more}"


def _excludes_0(interval: Interval) -> bool:
    return interval.low > 0 or interval.high < 0


def _apart(value: float, interval: Interval) -> str:
    """Say by how much the second's measure is higher or lower, with the interval."""
    decimals = decimals_for(interval.width)
    ends = (interval.low, interval.high) if value >= 0 else (-interval.high, -interval.low)
    low, high = (number(end, decimals) for end in ends)
    if value == 0:
        return f"is the same [{low}, {high}]"
    side = "higher" if value > 0 else "lower"
    return f"is {side} by {number(abs(value), decimals)} [{low}, {high}]"
