"""Chapters → the text of one HTML page: no request, nothing that is not in it.

`svg_of` gives the places of a `Chart` in SVG; the templates draw what they are handed.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from truerisk.aliases import Array
from truerisk.reporting import document as doc
from truerisk.reporting.colours import style_sheet
from truerisk.reporting.escaping import visible

WIDTH, HEIGHT = 340.0, 240.0  # of the field that a chart is drawn in
MAX_POINTS = 400  # of a line; more cannot be told apart at this size

# What a kind of section brings along.
STYLES: dict[str, tuple[str, ...]] = {
    "categories": ("sorting.css", "categories.css"),
    "classes": ("sorting.css",),
    "slices": ("sorting.css",),
    "table": ("sorting.css",),
    "differences": ("differences.css",),
    "explorer": ("explorer.css",),
    "probabilities": ("differences.css",),
    "critical_difference": ("critical_difference.css",),
}
SCRIPTS: dict[str, tuple[str, ...]] = {
    "categories": ("sorting.js",),
    "classes": ("sorting.js",),
    "explorer": ("exact_intervals.js", "interval_numbers.js", "explorer.js"),
    "slices": ("sorting.js",),
    "table": ("sorting.js",),
}


def rendered(title: str, subtitle: str, chapters: Sequence[doc.Chapter]) -> str:
    """Draw a page.

    Its policy names the hashes of the styles and scripts, which are ours and hold no data, and
    forbids everything else; so even a text that slipped through the escaping could neither run nor
    fetch anything.
    """
    templates = page_templates()
    kinds = {section.kind for chapter in chapters for section in chapter.sections}
    style = _joined(templates, ("page.css", *_brought(STYLES, kinds)), style_sheet())
    script = _joined(templates, _brought(SCRIPTS, kinds))
    policy = [
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        *([f"script-src '{_digest(script)}'"] if script else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return templates.get_template("page.html").render(
        title=title,
        subtitle=subtitle,
        chapters=chapters,
        style=style,
        script=script,
        policy="; ".join(policy),
        strip=doc.STRIP,
        version=version("truerisk"),
    )


def page_templates() -> jinja2.Environment:
    """Give the templates: what they are handed is escaped, and what they are not is an error."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("truerisk.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["svg"] = svg_of
    return templates


def _brought(assets: dict[str, tuple[str, ...]], kinds: set[str]) -> tuple[str, ...]:
    """List the files that these kinds bring along, each once, in the order of the table."""
    return tuple(dict.fromkeys(name for kind in assets if kind in kinds for name in assets[kind]))


def _joined(templates: jinja2.Environment, names: Sequence[str], first: str = "") -> Markup:
    loader = templates.loader
    if loader is None:
        raise TypeError("templates without a loader")
    texts = [loader.get_source(templates, name)[0] for name in names]
    # Ours, and no data in it: it may stand as it is.
    return Markup(first + "\n".join(texts))  # noqa: S704


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def svg_of(chart: doc.Chart) -> dict[str, Any]:
    """Give the places and the words of a chart, in plain values."""
    return {
        "title": visible(chart.title),
        "caption": visible(" ".join(filter(None, (chart.caption, chart.key))), most=2000),
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
            {
                "ink": shape.ink,
                "kind": "dashed"
                if getattr(shape, "dashed", False)
                else type(shape).__name__.lower(),
                "words": visible(shape.words),
            }
            for shape in chart.shapes
            if not isinstance(shape, doc.Upright) and shape.words
        ],
    }


def _line(chart: doc.Chart, line: doc.Line) -> dict[str, Any]:
    x, y = _thinned(chart.x.places(line.x), chart.y.places(line.y))
    return {"kind": "line", "ink": line.ink, "dashed": line.dashed, "path": _path(x, y)}


def _band(chart: doc.Chart, band: doc.Band) -> dict[str, Any]:
    x = chart.x.places(band.x)
    low, high = _thinned(x, chart.y.places(band.low)), _thinned(x, chart.y.places(band.high))
    around = (np.concatenate([low[at], high[at][::-1]]) for at in (0, 1))
    return {"kind": "band", "ink": band.ink, "path": _path(*around) + " Z"}


def _dots(chart: doc.Chart, dots: doc.Dots) -> dict[str, Any]:
    x, y = chart.x.places(dots.x) * WIDTH, (1 - chart.y.places(dots.y)) * HEIGHT
    defined = np.isfinite(x) & np.isfinite(y)
    points = [{"x": _short(a), "y": _short(b)} for a, b in zip(x[defined], y[defined], strict=True)]
    whiskers = []
    if dots.low is not None and dots.high is not None:
        ends = [(1 - chart.y.places(end)) * HEIGHT for end in (dots.low, dots.high)]
        whiskers = [
            {"x": _short(at), "low": _short(low), "high": _short(high)}
            for at, low, high in zip(x, *ends, strict=True)
            if np.isfinite([at, low, high]).all()
        ]
    return {"kind": "dots", "ink": dots.ink, "points": points, "whiskers": whiskers}


def _bars(chart: doc.Chart, bars: doc.Bars) -> dict[str, Any]:
    edges = chart.x.places(bars.edges) * WIDTH
    tops = chart.y.places(bars.heights) * HEIGHT
    boxes = [
        {"x": _short(a), "width": _short(b - a), "y": _short(HEIGHT - top), "height": _short(top)}
        for a, b, top in zip(edges[:-1], edges[1:], tops, strict=True)
        if top > 0
    ]
    return {"kind": "bars", "ink": bars.ink, "boxes": boxes}


def _upright(chart: doc.Chart, upright: doc.Upright) -> dict[str, Any]:
    at = chart.x.place(upright.x)
    side, words = "end" if at > 0.6 else "start", visible(upright.words)
    return {"kind": "upright", "x": _short(WIDTH * at), "words": words, "side": side}


_DRAWN: dict[type, Any] = {
    doc.Line: _line,
    doc.Band: _band,
    doc.Dots: _dots,
    doc.Bars: _bars,
    doc.Upright: _upright,
}


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Keep the finite points, and of many those that are evenly spaced along the line."""
    defined = np.isfinite(x) & np.isfinite(y)
    x, y = x[defined], y[defined]
    if len(x) <= MAX_POINTS:
        return x, y
    path = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    chosen = np.searchsorted(path, np.linspace(0, path[-1], MAX_POINTS - 1))
    chosen = np.unique([*chosen.clip(max=len(x) - 1), len(x) - 1])
    return x[chosen], y[chosen]


def _path(x: Array, y: Array) -> str:
    points = [
        f"{_short(px)} {_short(py)}" for px, py in zip(x * WIDTH, (1 - y) * HEIGHT, strict=True)
    ]
    return "M" + " L".join(points) if points else ""


def _short(place: float) -> str:
    """Write a place to a hundredth, which is less than the eye can tell."""
    return f"{round(float(place), 2) + 0.0:g}"
