"""Differences → pictures against 0, and bars of the chances of worse, equivalent and better."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.measures.registry import measure_of
from truerisk.reporting.document import STRIP, Axis, Section, Tile, axis_of, strip
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import NO_INTERVAL, interval_words, p_words, spoken
from truerisk.results import UNDEFINED, Comparison, Estimate, decimals_for, number

# Findings are told by a word and a sign, so that nobody needs the colour.
SIGNS = {"better": "▲", "worse": "▼", "equivalent": "≈"}
NO_SIGN = "?"
# Letters of both names that have room above a strip, and above the large picture on a phone.
SMALL_ROOM, LARGE_ROOM = 24, 30
BOTH_SIDES = 0.15  # of the way on one side of 0 that is shown on the other
BEYOND = 1.2  # the axis goes so much further than the region, whose limits are written outside it
INWARD = 80.0  # per cent of the way; words past it are written towards the middle
LEAD = (
    "The dot is the second's value less the first's; the line is its {level} interval. Where it "
    "crosses the upright at 0, these {seen} do not tell the two apart."
)
REGION_LEAD = (
    " The shaded band is the region of equivalence: a difference within it is too small to matter."
)
MIN_SHARE = 0.001
PART_ROOM = 14.0  # per cent of a bar that the sign and the number of a part need


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One difference, second − first, and all that is written beside it.

    `higher_is_better` is None where neither side is better.
    """

    title: str
    names: tuple[str, str]
    estimate: Estimate
    finding: str
    higher_is_better: bool | None = True
    region: float | None = None
    p_value: float | None = None
    method: str = ""
    seen: str = ""

    @classmethod
    def of(cls, comparison: Comparison, title: str, finding: str | None = None) -> "Difference":
        """Take what a comparison holds; `finding` where more is known than by it alone."""
        first, second = comparison.names
        result, _ = measure_of(comparison.measure)
        ends = comparison.difference.interval
        decimals = 3 if ends is None else decimals_for(ends.width)
        values = [number(one.value, decimals) for one in (comparison.first, comparison.second)]
        return cls(
            title=title,
            names=comparison.names,
            estimate=comparison.difference,
            finding=comparison.finding if finding is None else finding,
            higher_is_better=True if result is None else result.higher_is_better,
            region=comparison.region,
            p_value=comparison.p_value,
            method=comparison.method,
            seen=f"{first} {values[0]}, {second} {values[1]}",
        )


@dataclass(frozen=True)
class DifferenceGroup:
    """Differences drawn on one axis: of one region, and better on one side."""

    title: str
    rows: Sequence[Difference]


def signed_words(estimate: Estimate) -> tuple[str, str]:
    """Write a difference, always with its sign, and its interval."""
    ends = estimate.interval
    if not estimate.is_defined:
        return UNDEFINED, NO_INTERVAL
    decimals = 3 if ends is None else decimals_for(ends.width)
    value = ("+" if estimate.value > 0 else "") + number(estimate.value, decimals)
    return value, interval_words(ends, decimals)


def differences_section(
    title: str,
    groups: Iterable[DifferenceGroup],
    *,
    level: str,
    main: Difference | None = None,
    left_out: int = 0,
    seen: str = "examples",
) -> Section:
    """Give the section of some groups of differences; `main` is drawn large above them."""
    drawn = list(groups)
    rows = [row for group in drawn for row in group.rows] + ([] if main is None else [main])
    lead = LEAD.format(level=level, seen=seen)
    if any(row.region is not None for row in rows):
        lead += REGION_LEAD
    data = {
        "main": None if main is None else main_picture(main),
        "groups": [_group(group) for group in drawn],
        "left_out": left_out,
    }
    return Section("differences", visible(title), data, lead)


def difference_tile(difference: Difference) -> Tile:
    """Give the tile of a difference: on an axis with 0 in the middle, the finding beside it."""
    value, interval = signed_words(difference.estimate)
    first, second = difference.names
    axis = _axis([difference])
    if axis is not None:  # nothing of the difference lies beyond its round ends, on either side
        reach = max(-axis.low, axis.high)
        axis = Axis(-reach, reach, (-reach, 0.0, reach))
    finding = f"{SIGNS.get(difference.finding, NO_SIGN)} {difference.finding}"
    return Tile(
        visible(f"{difference.title}: {second} − {first}"),
        value,
        interval,
        strip(difference.estimate, axis),
        () if axis is None else (axis.marks()[0], axis.marks()[-1]),
        finding,
    )


def _axis(rows: Sequence[Difference]) -> Axis | None:
    regions = [row.region for row in rows if row.region is not None and math.isfinite(row.region)]
    edges = [side * region for region in regions for side in (-BEYOND, BEYOND)]
    estimates = [row.estimate for row in rows]
    plain = axis_of(estimates, 0.0, *edges)
    if plain is None:
        return None
    # Room on both sides of 0, so that both are seen to be there.
    room = BOTH_SIDES * max(-plain.low, plain.high)
    return axis_of(estimates, -room, room, *edges)


def main_picture(difference: Difference) -> dict[str, Any]:
    """Give the places of the one difference that matters most, in per cent of the width."""
    axis = _axis([difference])
    words = {**_words(difference), "seen": visible(difference.seen), "drawn": None}
    places = strip(difference.estimate, axis)
    if axis is None or places is None:
        return words
    at = _percent(places["value"])
    drawn = {
        "value": at,
        "low": _percent(places["low"]),
        "high": _percent(places["high"]),
        "anchor": "end" if at > INWARD else "start" if at < 100 - INWARD else "middle",
        "zero": _percent(axis.place(0.0)),
        "marks": [{"x": _percent(one["x"]), "words": one["words"]} for one in axis.marks()],
        "band": _band(axis, difference.region, _percent),
        "sides": _sides([difference], LARGE_ROOM),
    }
    return {**words, "drawn": drawn, "description": _description(difference)}


def _words(difference: Difference) -> dict[str, Any]:
    value, interval = signed_words(difference.estimate)
    # What is no finding of its own, such as one among several pairs, has no colour.
    mark = difference.finding if difference.finding in SIGNS else "none"
    return {
        "title": visible(difference.title),
        "value": value,
        "interval": interval,
        "finding": visible(difference.finding),
        "mark": mark,
        "sign": SIGNS.get(mark, NO_SIGN),
        "p": p_sentence(difference.p_value),
    }


def _percent(place: float) -> float:
    return round(100 * place / STRIP, 2)


def _description(difference: Difference) -> str:
    """Say what the picture shows, for those who hear the page."""
    value, interval = signed_words(difference.estimate)
    first, second = difference.names
    text = f"{difference.title}, {second} less {first}: {value}, interval {interval}"
    if difference.region is not None and math.isfinite(difference.region):
        text += f", drawn against 0 and a region of equivalence of ± {difference.region:g}"
    return visible(f"{text}. Finding: {difference.finding}.", most=2000)


def _group(group: DifferenceGroup) -> dict[str, Any]:
    axis = _axis(group.rows)
    regions = {row.region for row in group.rows}
    region = regions.pop() if len(regions) == 1 else None
    return {
        "title": visible(group.title),
        "marks": [] if axis is None else axis.marks(),
        "zero": None if axis is None else axis.place(0.0),
        "band": None if axis is None else _band(axis, region, float),
        "sides": _sides(group.rows, SMALL_ROOM),
        "rows": [_row(row, axis) for row in group.rows],
    }


def _band(axis: Axis, region: float | None, place: Any) -> dict[str, Any] | None:
    """Give the places of the region of equivalence, and the words of its limits."""
    if region is None or not math.isfinite(region):
        return None
    low, high = place(axis.place(-region)), place(axis.place(region))
    return {
        "low": low,
        "high": high,
        "width": round(high - low, 2),
        "low_words": f"−{region:g}",
        "high_words": f"+{region:g}",
    }


def _sides(rows: Sequence[Difference], room: int) -> dict[str, str]:
    """Say which of the two models is better on which side of 0; nothing where neither is."""
    ways = {row.higher_is_better for row in rows}
    if len(ways) != 1 or None in ways:
        return {"left": "", "right": ""}
    named = {row.names for row in rows}
    first, second = "first", "second"
    if len(named) == 1 and sum(map(len, rows[0].names)) <= room:
        first, second = map(visible, rows[0].names)
    left, right = (first, second) if True in ways else (second, first)
    return {"left": f"← {left} better", "right": f"{right} better →"}


def _row(row: Difference, axis: Axis | None) -> dict[str, Any]:
    return {
        **_words(row),
        "seen": visible(row.seen, most=500),
        "method": visible(spoken(row.method)),
        "defined": row.estimate.is_defined,
        "reason": visible("; ".join(row.estimate.notes), most=500),
        "strip": strip(row.estimate, axis),
        "band": None if axis is None else _band(axis, row.region, float),
    }


def p_sentence(p_value: float | None) -> str:
    """Write a p-value as it stands alone; nothing where there is none."""
    words = "" if p_value is None else p_words(p_value)
    return f"p < {words[1:]}" if words.startswith("<") else f"p = {words}" if words else ""


@dataclass(frozen=True)
class ProbabilityBar:
    """How probable it is that the second of two is worse, equivalent, better."""

    title: str
    worse: float
    equivalent: float
    better: float
    model: str = ""


def probabilities_section(
    title: str, bars: Sequence[ProbabilityBar], *, lead: str = "", left_out: int = 0
) -> Section:
    """Give the section of some bars."""
    rows = [
        {"title": visible(bar.title), "model": visible(bar.model), "parts": _parts(bar)}
        for bar in bars
    ]
    return Section("probabilities", visible(title), {"rows": rows, "left_out": left_out}, lead)


def _parts(bar: ProbabilityBar) -> list[dict[str, Any]]:
    shares = (bar.worse, bar.equivalent, bar.better)
    drawn, at = [], 0.0
    for name, share in zip(("worse", "equivalent", "better"), shares, strict=True):
        width = 0.0 if math.isnan(share) else 100 * share
        drawn.append(
            {
                "name": name,
                "sign": SIGNS[name],
                "words": probability_words(share),
                "at": round(at, 3),
                "width": round(width, 3),
                "middle": round(at + width / 2, 3),
                "has_room": width >= PART_ROOM,
            }
        )
        at += width
    return drawn


def probability_words(share: float) -> str:
    """Write a probability to three decimals; one that would look certain, as being almost so."""
    if math.isnan(share):
        return UNDEFINED
    if 0 < share < MIN_SHARE:
        return f"<{MIN_SHARE:g}"
    return f">{1 - MIN_SHARE:g}" if 1 - MIN_SHARE < share < 1 else f"{share:.3f}"
