"""Numbers → native pictures of a page, which follow its light and dark: scales, shapes, places.

A `Chart` holds numbers; `drawn` gives the places at which the template draws them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.geometry import LEAST, Axis
from truerisk.reporting.page.parts import Section

WIDTH, HEIGHT = 340.0, 240.0  # of the field that is drawn in
MAX_POINTS = 400  # of a line; more cannot be told apart at this size
LOG_TICKS = 6
DECADE = 10.0

Ink = Literal["first", "second", "third", "fourth", "fifth", "soft"]
INKS: tuple[Ink, ...] = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Scale:
    """A direction of a chart: from `low` to `high`, with round numbers on it.

    Examples
    --------
    >>> Scale("recall", 0, 1).place(0.25)
    0.25
    >>> round(Scale("examples", 10, 1000, log=True).place(100), 9)
    0.5
    """

    title: str
    low: float
    high: float
    log: bool = False
    ticks: tuple[float, ...] | None = None

    @classmethod
    def over(cls, title: str, values: ArrayLike, *also: float, log: bool = False) -> "Scale":
        """Make the scale of round ends that holds every finite value."""
        found = np.asarray(values, dtype=np.float64).ravel()
        found = np.concatenate([found[np.isfinite(found)], also])
        if log:
            found = found[found >= LEAST]
            low, high = (found.min(), found.max()) if len(found) else (1.0, 10.0)
            # A little room on either side, on the scale of the logarithms.
            spare = 0.05 * (math.log(high) - math.log(low)) or math.log(1.5)
            ends = math.exp(math.log(low) - spare), math.exp(min(math.log(high) + spare, 700.0))
            return cls(title, max(ends[0], LEAST), ends[1], log=True)
        axis = Axis.around(*((found.min(), found.max()) if len(found) else (0.0, 1.0)))
        return cls(title, axis.low, axis.high, ticks=axis.ticks)

    @classmethod
    def spanning(cls, title: str, values: ArrayLike) -> "Scale":
        """Make the scale of values: a log scale where they are positive and span a decade.

        Examples
        --------
        >>> Scale.spanning("C", [0.1, 1.0]).log, Scale.spanning("C", [1.0, 2.0]).log
        (True, False)
        """
        found = np.asarray(values, dtype=np.float64).ravel()
        found = found[np.isfinite(found)]
        wide = len(found) > 0 and found.min() > 0 and found.max() >= DECADE * found.min()
        return cls.over(title, found, log=bool(wide))

    def place(self, value: float) -> float:
        """Give the share of the way at which a value lies."""
        return float(self.places(np.array([value]))[0])

    def places(self, values: ArrayLike) -> NDArray[np.float64]:
        """Give the share of the way of each value; what lies outside stands at the end."""
        found, low, high = np.asarray(values, dtype=np.float64), self.low, self.high
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.log(found)
            low, high = math.log(low), math.log(high)
        return np.asarray((found.clip(low, high) - low) / (high - low))

    def marks(self) -> list[tuple[float, str]]:
        """Give the place and the words of each round number."""
        ticks = self._log_ticks() if self.log else self.ticks
        if ticks is None:
            ticks = tuple(t for t in Axis.around(self.low, self.high).ticks if self._holds(t))
        return [(self.place(tick), _tick_words(tick)) for tick in ticks]

    def _holds(self, tick: float) -> bool:
        slack = 1e-9 * (self.high - self.low)
        return self.low - slack <= tick <= self.high + slack

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

    `caption` is read by all, `description` by those who hear the page.
    """

    title: str
    x: Scale
    y: Scale
    shapes: Sequence[Shape]
    caption: str = ""
    description: str = ""


def charts_section(title: str, charts: Sequence[Chart], lead: str = "") -> Section:
    """Give the section of some charts, side by side where there is room."""
    return Section("charts", title, {"charts": [drawn(chart) for chart in charts]}, lead)


def drawn(chart: Chart) -> dict[str, Any]:
    """Give the places and the words of a chart, in plain values.

    Examples
    --------
    >>> unit = Scale("x", 0, 1), Scale("y", 0, 1)
    >>> chart = Chart(title="t", x=unit[0], y=unit[1], shapes=[Line([0, 1], [0, 1])])
    >>> drawn(chart)["shapes"][0]["path"]
    'M0 240 L340 0'
    """
    return {
        "title": visible(chart.title),
        "caption": visible(chart.caption, most=2000),
        "description": visible(chart.description or chart.caption, most=2000),
        "width": WIDTH,
        "height": HEIGHT,
        "x_title": visible(chart.x.title),
        "y_title": visible(chart.y.title),
        "x_marks": [{"at": _short(WIDTH * at), "words": words} for at, words in chart.x.marks()],
        "y_marks": [
            {"at": _short(HEIGHT * (1 - at)), "words": words} for at, words in chart.y.marks()
        ],
        "shapes": [_DRAWN[type(shape)](chart, shape) for shape in chart.shapes],
        "legend": [
            {"ink": shape.ink, "kind": _key(shape), "words": visible(shape.words)}
            for shape in chart.shapes
            if not isinstance(shape, Upright) and shape.words
        ],
    }


def _key(shape: Shape) -> str:
    dashed = isinstance(shape, Line) and shape.dashed
    return "dashed" if dashed else type(shape).__name__.lower()


def _line(chart: Chart, line: Line) -> dict[str, Any]:
    x, y = _thinned(chart.x.places(line.x), chart.y.places(line.y))
    return {"kind": "line", "ink": line.ink, "dashed": line.dashed, "path": _path(x, y)}


def _band(chart: Chart, band: Band) -> dict[str, Any]:
    x = chart.x.places(band.x)
    low, high = _thinned(x, chart.y.places(band.low)), _thinned(x, chart.y.places(band.high))
    around = (np.concatenate([low[at], high[at][::-1]]) for at in (0, 1))
    return {"kind": "band", "ink": band.ink, "path": _path(*around) + " Z"}


def _dots(chart: Chart, dots: Dots) -> dict[str, Any]:
    x, y = chart.x.places(dots.x) * WIDTH, (1 - chart.y.places(dots.y)) * HEIGHT
    known = np.isfinite(x) & np.isfinite(y)
    points = [{"x": _short(a), "y": _short(b)} for a, b in zip(x[known], y[known], strict=True)]
    whiskers = []
    if dots.low is not None and dots.high is not None:
        ends = [(1 - chart.y.places(end)) * HEIGHT for end in (dots.low, dots.high)]
        whiskers = [
            {"x": _short(at), "low": _short(low), "high": _short(high)}
            for at, low, high in zip(x, *ends, strict=True)
            if np.isfinite([at, low, high]).all()
        ]
    return {"kind": "dots", "ink": dots.ink, "points": points, "whiskers": whiskers}


def _bars(chart: Chart, bars: Bars) -> dict[str, Any]:
    edges = chart.x.places(bars.edges) * WIDTH
    tops = chart.y.places(bars.heights) * HEIGHT
    boxes = [
        {"x": _short(a), "width": _short(b - a), "y": _short(HEIGHT - top), "height": _short(top)}
        for a, b, top in zip(edges[:-1], edges[1:], tops, strict=True)
        if top > 0
    ]
    return {"kind": "bars", "ink": bars.ink, "boxes": boxes}


def _upright(chart: Chart, upright: Upright) -> dict[str, Any]:
    at = chart.x.place(upright.x)
    side = "end" if at > 0.6 else "start"
    return {
        "kind": "upright",
        "x": _short(WIDTH * at),
        "words": visible(upright.words),
        "side": side,
    }


_DRAWN: dict[type, Any] = {
    Line: _line,
    Band: _band,
    Dots: _dots,
    Bars: _bars,
    Upright: _upright,
}


def _thinned(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the finite points, and of many those that are evenly spaced along the line."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) <= MAX_POINTS:
        return x, y
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    kept = np.searchsorted(way, np.linspace(0, way[-1], MAX_POINTS - 1))
    kept = np.unique([*kept.clip(max=len(x) - 1), len(x) - 1])
    return x[kept], y[kept]


def _path(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    points = [
        f"{_short(px)} {_short(py)}" for px, py in zip(x * WIDTH, (1 - y) * HEIGHT, strict=True)
    ]
    return "M" + " L".join(points) if points else ""


def _short(place: float) -> str:
    """Write a place to a hundredth, which is less than the eye can tell."""
    return f"{round(float(place), 2) + 0.0:g}"


def _tick_words(tick: float) -> str:
    return f"{tick:,.0f}" if 1000 <= abs(tick) < 1e6 else f"{tick:g}"
