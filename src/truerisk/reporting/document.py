"""What a page, a table and a picture are made of: plain data, which the renderers draw.

A presenter (`reporting/results/<kind>.py`) turns a result into a `Chapter`: sentences, tiles and
sections, each a table, a picture or a control.  All texts in it are visible ones
(`escaping.visible`); the renderers escape them, and compute nothing.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.errors import InputError
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, spoken, written
from truerisk.results import Estimate, Interval

Facts = Iterator[tuple[str, str]]

SENTENCE = 2000  # characters of one sentence that are shown
MAX_ROWS = 500  # of a table on a page
SHARE_RANGE = (0.0, 1.0)
STRIP = 300.0  # width of the strip an interval is drawn on
MARGIN = 6.0  # room for a dot at either end of it
SMALLEST = 1e-300  # smaller numbers have no precision left to divide
STEPS = (1.0, 2.0, 5.0, 10.0)
LOG_TICKS = 6
DECADE = 10.0

Ink = Literal["first", "second", "third", "fourth", "fifth", "soft"]
INKS: tuple[Ink, ...] = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Column:
    """A heading; cells of a numeric column are written by us and stand to the right."""

    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of unescaped words."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def heads(*headings: "str | Column") -> tuple[Column, ...]:
    """Give columns; a heading of ours that begins with "#" is of numbers."""
    return tuple(
        Column(one.removeprefix("#"), numeric=one.startswith("#")) if isinstance(one, str) else one
        for one in headings
    )


def number_columns(headings: Iterable[str]) -> tuple[Column, ...]:
    """Give columns of numbers; the headings may come from data."""
    return tuple(Column(heading, numeric=True) for heading in headings)


# Headings, as `heads` reads them, and what each says of an item.
Cells = dict[str | Column, Callable[[Any], str]]


def table(title: str, columns: Cells, items: Iterable[Any]) -> Table:
    """Make a table of one row per item."""
    rows = tuple(tuple(cell(item) for cell in columns.values()) for item in items)
    return Table(title, heads(*columns), rows)


def each_once(notes: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gather what each note is about: pairs of a title and a note → note, its titles."""
    gathered: dict[str, list[str]] = {}
    for title, note in notes:
        gathered.setdefault(note, []).append(title)
    return gathered


@dataclass(frozen=True)
class Section:
    """One picture, table or control; `kind` names the template that draws `data`."""

    kind: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    lead: str = ""


@dataclass(frozen=True)
class Tile:
    """A number that matters, written and drawn on its interval."""

    title: str
    value: str
    interval: str
    strip: Mapping[str, Any] | None = None
    marks: tuple[Mapping[str, Any], ...] = ()
    note: str = ""

    @classmethod
    def of(cls, title: str, estimate: Estimate, note: str = "") -> "Tile":
        """Write and draw an estimate, a share on the whole way from 0 to 1."""
        words = written(estimate)
        result, _ = measure_of(estimate.measure)
        is_share = result is not None and result.measure_range == SHARE_RANGE
        axis = axis_of([estimate], *(SHARE_RANGE if is_share else ()))
        ends = () if axis is None else (axis.marks()[0], axis.marks()[-1])
        drawn = strip(estimate, axis)
        return cls(visible(title), words.value, words.interval, drawn, ends, visible(note))


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """All that a page says of one result: the answer first, then what it rests on."""

    title: str
    subtitle: str
    verdict: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()


def sentences(texts: Iterable[str]) -> tuple[str, ...]:
    """Make sentences visible, none of them endless."""
    return tuple(visible(text, most=SENTENCE) for text in texts)


def table_section(table: Table, lead: str = "") -> Section:
    """Give the section of a table: all texts visible, so many rows at most."""
    rows = [[visible(cell.strip()) for cell in row] for row in table.rows[:MAX_ROWS]]
    data = {
        "columns": [
            {"heading": visible(column.heading), "numeric": column.numeric}
            for column in table.columns
        ],
        "rows": rows,
        "left_out": len(table.rows) - len(rows),
    }
    return Section("table", visible(table.title), data, lead)


def charts_section(title: str, charts: Sequence["Chart"], lead: str = "") -> Section:
    """Give the section of some charts, side by side where there is room."""
    return Section("charts", title, {"charts": tuple(charts)}, lead)


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, and the round ones among them."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, low: float, high: float, *, ticks: int = 4) -> "Axis":
        """Make the axis of round ends that holds [low, high]."""
        if high - low <= max(1e-9 * abs(low), SMALLEST):
            high = low + (
                abs(low) if abs(low) > SMALLEST else 1.0
            )  # one number: as far to the right
        rough = (high - low) / ticks
        power = 10.0 ** math.floor(math.log10(rough))
        # A hair of slack, so that 0.2000000001 counts as 0.2.
        step = next(power * factor for factor in STEPS if power * factor >= rough * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        last = max(last, first + 1)
        digits = max(0, 2 - math.floor(math.log10(step)))
        places = tuple(round(step * at, digits) + 0.0 for at in range(first, last + 1))
        return cls(places[0], places[-1], places)

    def place(self, value: float) -> float:
        """Give the place of a value on the strip; what lies outside stands at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (STRIP - 2 * MARGIN), 2)

    def marks(self) -> list[dict[str, Any]]:
        """Give each round number's place and its words."""
        return [{"x": self.place(tick), "words": f"{tick:g}"} for tick in self.ticks]


def axis_of(estimates: Sequence[Estimate], *also: float) -> Axis | None:
    """Make the axis that holds every finite number of these estimates; None if there is none.

    `also` are numbers that must be on it, such as the best possible value.
    """
    numbers = list(finite_numbers(estimates))
    return Axis.around(min([*numbers, *also]), max([*numbers, *also])) if numbers else None


def finite_numbers(estimates: Iterable[Estimate | None]) -> Iterator[float]:
    """Give the values and the ends of intervals that are finite."""
    for estimate in estimates:
        if estimate is not None and estimate.is_defined:
            ends = estimate.interval
            numbers = (estimate.value, *(() if ends is None else (ends.low, ends.high)))
            yield from filter(math.isfinite, numbers)


def strip(estimate: Estimate, axis: Axis | None) -> dict[str, Any] | None:
    """Give the places of an estimate on an axis; None when it is undefined."""
    if axis is None or not estimate.is_defined:
        return None
    ends = estimate.interval
    high = estimate.value if ends is None else ends.high
    return {
        "value": axis.place(estimate.value),
        "low": axis.place(estimate.value if ends is None else ends.low),
        "high": axis.place(high),
        "endless": math.isinf(high),
    }


@dataclass(frozen=True)
class Scale:
    """A direction of a chart: from `low` to `high`, with round numbers on it."""

    title: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[float, ...] | None = None

    @classmethod
    def over(cls, title: str, values: ArrayLike, *also: float, log: bool = False) -> "Scale":
        """Make the scale of round ends that holds every finite value."""
        result = np.asarray(values, dtype=np.float64).ravel()
        result = np.concatenate([result[np.isfinite(result)], also])
        if log:
            result = result[result >= SMALLEST]
            low, high = (result.min(), result.max()) if len(result) else (1.0, 10.0)
            # A little room on either side, on the scale of the logarithms.
            spare = 0.05 * (math.log(high) - math.log(low)) or math.log(1.5)
            ends = math.exp(math.log(low) - spare), math.exp(min(math.log(high) + spare, 700.0))
            return cls(title, max(ends[0], SMALLEST), ends[1], log=True)
        axis = Axis.around(*((result.min(), result.max()) if len(result) else (0.0, 1.0)))
        return cls(title, axis.low, axis.high, ticks=axis.ticks)

    @classmethod
    def spanning(cls, title: str, values: ArrayLike) -> "Scale":
        """Make the scale of values: a log scale where they are positive and span a decade."""
        result = np.asarray(values, dtype=np.float64).ravel()
        result = result[np.isfinite(result)]
        wide = len(result) > 0 and result.min() > 0 and result.max() >= DECADE * result.min()
        return cls.over(title, result, log=bool(wide))

    def place(self, value: float) -> float:
        """Give the share of the way at which a value lies."""
        return float(self.places(np.array([value]))[0])

    def places(self, values: ArrayLike) -> Array:
        """Give the share of the way of each value; what lies outside stands at the end."""
        result, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                result = np.log(result)
            low, high = math.log(low), math.log(high)
        return np.asarray((result.clip(low, high) - low) / (high - low))

    def marks(self) -> list[tuple[float, str]]:
        """Give the place and the words of each round number."""
        ticks = self._log_ticks() if self.log else self.ticks
        if ticks is None:
            low, high, slack = self.low, self.high, 1e-9 * (self.high - self.low)
            ticks = Axis.around(low, high).ticks
            ticks = tuple(one for one in ticks if low - slack <= one <= high + slack)
        return [
            (self.place(tick), f"{tick:,.0f}" if 1000 <= abs(tick) < 1e6 else f"{tick:g}")
            for tick in ticks
        ]

    def _log_ticks(self) -> tuple[float, ...]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            ticks = tuple(f * 10.0**p for p in powers for f in factors)
            ticks = tuple(tick for tick in ticks if self.low <= tick <= self.high)
            if len(ticks) <= LOG_TICKS:
                break
        return ticks[:: max(1, math.ceil(len(ticks) / LOG_TICKS))]


@dataclass(frozen=True)
class Line:
    """A line through points; `words` name it in the legend."""

    x: ArrayLike
    y: ArrayLike
    ink: Ink = "first"
    dashed: bool = False
    words: str = ""


@dataclass(frozen=True)
class Band:
    """What lies between two lines."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    ink: Ink = "first"
    words: str = ""


def ends_of(intervals: Iterable[Interval | None]) -> tuple[Array, Array]:
    """Give the lower and the upper ends of intervals, NaN where there is none."""
    ends = [(math.nan, math.nan) if one is None else (one.low, one.high) for one in intervals]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def bands(x: Array, low: Array, high: Array, ink: Ink) -> list[Band]:
    """Give the band between the ends that are known; none where fewer than two are."""
    known = np.isfinite(low) & np.isfinite(high)
    return [Band(x[known], low[known], high[known], ink)] if known.sum() > 1 else []


@dataclass(frozen=True)
class Dots:
    """Points, with whiskers where `low` and `high` are given."""

    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    ink: Ink = "first"
    words: str = ""


@dataclass(frozen=True)
class Bars:
    """A bar over each stretch between two edges."""

    edges: ArrayLike
    heights: ArrayLike
    ink: Ink = "first"
    words: str = ""


@dataclass(frozen=True)
class Upright:
    """A mark from top to bottom at one place, with a few words."""

    x: float
    words: str = ""


Shape = Line | Band | Dots | Bars | Upright


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A picture: two scales and what is drawn on them, the first shape undermost.

    `caption` says what the picture is for, `key` what bands and whiskers are; `description` is
    for those who hear the page; `name` is that of its file.
    """

    title: str
    x: Scale
    y: Scale
    shapes: Sequence[Shape]
    caption: str = ""
    key: str = ""
    description: str = ""
    name: str = ""


@dataclass(frozen=True)
class Entry:
    """A row of a forest: an estimate under its name, and a few words about it.

    A row without an estimate is a heading.  `ink` and `mark` are of the dot, `region` is drawn
    about 0.
    """

    title: str
    estimate: Estimate | None = None
    summary: str = ""
    ink: Ink = "first"
    mark: str = "o"
    region: float | None = None


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Estimates as dots on their intervals, the first one on top.

    `span` are the ends of the axis, the values that were seen if None; `about_zero` marks 0 and
    gives both sides as much room; `extra_dots` are by row, and `extra_words` name them.
    """

    rows: Sequence[Entry]
    axis: str = ""
    note: str = ""
    span: tuple[float, float] | None = None
    about_zero: bool = False
    extra_dots: Mapping[int, float] = field(default_factory=dict)
    extra_words: str = ""


def forest_of(estimates: Sequence[Estimate]) -> Forest:
    """Describe estimates of one measure by their methods; of several, by the measures."""
    if not estimates:
        raise InputError("`estimates` must hold at least one estimate; got none.")
    several = len({estimate.measure for estimate in estimates}) > 1
    rows = [Entry(title_of(one.measure) if several else one.method, one) for one in estimates]
    return Forest(rows=rows, axis="" if several else title_of(estimates[0].measure))


def estimate_forest(title: str, heading: str, entries: Sequence[Entry], lead: str = "") -> Section:
    """Draw entries in the order given, the best possible value on the axis too."""
    estimates = [entry.estimate for entry in entries if entry.estimate is not None]
    axis = axis_of(estimates, *_perfect(estimates))
    group = {
        "title": visible(heading),
        "marks": [] if axis is None else axis.marks(),
        "rows": [forest_row(entry, axis) for entry in entries],
    }
    return Section("forest", visible(title), {"groups": [group]}, visible(lead, most=SENTENCE))


def _perfect(estimates: Sequence[Estimate]) -> tuple[float, ...]:
    result, _ = measure_of(estimates[0].measure) if estimates else (None, "")
    if result is None or result.measure_range != (0.0, 1.0):
        return ()
    return (1.0,) if result.higher_is_better else (0.0,)


def forest_row(entry: Entry, axis: Axis | None) -> dict[str, Any]:
    """Give the words and the places of one entry; without an axis it is drawn on one of its own."""
    one = entry.estimate
    if one is None:
        raise InputError("`entry` must have an estimate; got a heading.")
    own = axis_of([one]) if axis is None else None
    words = written(one)
    return {
        "title": visible(entry.title),
        "summary": visible(entry.summary, most=SENTENCE),
        "value": words.value,
        "interval": words.interval,
        "method": "" if one.interval is None else visible(spoken(one.interval.method)),
        "n": count(one.n),
        "defined": one.is_defined,
        "reason": visible("; ".join(one.notes), most=SENTENCE),
        "strip": strip(one, axis or own),
        "marks": [] if own is None else own.marks(),
    }


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Counts of what was called what, rows truth."""

    labels: tuple[str, ...]
    counts: Array


# A function draws into axes of matplotlib by itself; its `height` is in inches.
Picture = Chart | Forest | Matrix | Callable[[Any], Any]
Pictures = Iterator[tuple[str, Picture]]


@dataclass(frozen=True)
class Sentences:
    """Sentences under a heading, or under none."""

    texts: Sequence[str]
    heading: str | None = None


@dataclass(frozen=True)
class FactList:
    """What was assumed, and where the data came from."""

    facts: Sequence[tuple[str, str]]


Block = Sentences | Table | FactList  # of what a terminal shows
