"""How measures, numbers and intervals are written: the same words in every format."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from truerisk.results import MIN_DECIMALS, UNDEFINED, Estimate, Interval, decimals_for, number

MIN_P = 1e-4  # a smaller p-value is written as being smaller
NO_INTERVAL = "–"
MAX_NAMED = 4  # measures in one remark

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
SECONDS = ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (0.0, "µs", 1e6))


class Written(NamedTuple):
    """A value and its interval, with as many decimals as the interval deserves."""

    value: str
    interval: str


def written(estimate: Estimate) -> Written:
    """Write an estimate; the decimals show two digits of the interval's width."""
    interval = estimate.interval
    decimals = decimals_for(interval.width) if interval is not None else MIN_DECIMALS
    return Written(number(estimate.value, decimals), interval_words(interval, decimals))


def interval_words(interval: Interval | None, decimals: int = MIN_DECIMALS) -> str:
    """Write the ends of an interval, or its bound, with so many decimals."""
    return NO_INTERVAL if interval is None else interval.words(lambda end: number(end, decimals))


def with_interval(estimate: Estimate) -> str:
    """Write a value and its interval or bound; what is undefined has none."""
    words = written(estimate)
    if not estimate.is_defined:
        return words.value
    comma = "" if estimate.interval is None or estimate.interval.side == "both" else ","
    return f"{words.value}{comma} {words.interval}"


def count(n: float) -> str:
    """Write a number of examples; weights and effective sizes may be fractions."""
    return f"{int(n):,}" if float(n).is_integer() else f"{n:,.6g}"


def counted(n: float, thing: str, things: str = "") -> str:
    """Write a number and what it counts: one of them is told in the singular."""
    return f"{count(n)} {thing if n == 1 else things or f'{thing}s'}"


def percent(share: float) -> str:
    """Write a share as a percentage, as short as it can be."""
    return f"{100 * share:.10g} %"


def share(part: float, whole: float) -> str:
    """Write part of whole as a percentage; a class without examples has no share."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else NO_INTERVAL


def spoken(name: str) -> str:
    """Turn a name into words."""
    return name.replace("_", " ")


def interval_heading(level: float, estimates: Iterable[Estimate] = ()) -> str:
    """Give the heading of a column of intervals; it says so where estimates have bounds."""
    sides = {one.interval.side for one in estimates if one.interval is not None and one.is_defined}
    both, bounds = "both" in sides or not sides, bool(sides - {"both"})
    words = " or ".join(word for word, used in (("interval", both), ("bound", bounds)) if used)
    return f"{percent(level)} {words}"


def interval_subtitle(level: float, estimates: Iterable[Estimate] = ()) -> str:
    """Say in a subtitle which intervals or bounds there are."""
    return f"{interval_heading(level, estimates).replace(' or ', 's and ')}s"


def plain_text(value: Any) -> str:
    """Write a setting: lists with commas, nothing as "none", numbers as short as they can be."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return UNDEFINED if math.isnan(value) else f"{value:.10g}"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain_text(entry)}" for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(plain_text, value)) if value else "none"
    return str(value)


def p_words(p_value: float | None) -> str:
    """Write a p-value to two digits; a very small one as being smaller than a round number."""
    if p_value is None:
        return NO_INTERVAL
    if math.isnan(p_value):
        return UNDEFINED
    if p_value < MIN_P:
        return "<0.0001"
    return f"{p_value:.4f}" if p_value < 0.01 else f"{p_value:.3f}"


def cost_words(cost: str, value: float) -> str:
    """Write seconds or bytes with three digits and a unit that fits."""
    if math.isnan(value):
        return NO_INTERVAL
    factor, unit = cost_unit(cost, value)
    scaled = value * factor
    return f"{scaled:.3g} {unit}" if scaled < 1000 or unit != "s" else f"{scaled:,.0f} s"


def cost_unit(cost: str, largest: float) -> tuple[float, str]:
    """Give the unit in which a cost has one to three digits, and the factor that leads to it."""
    if cost == "memory":
        power = min(int(math.log10(max(largest, 1.0)) // 3), len(UNITS) - 1)
        return 1000.0**-power, UNITS[power]
    return next((factor, unit) for least, unit, factor in SECONDS if largest >= least)
