"""Comparisons → one page: every difference drawn against 0 and the region of equivalence."""

import math
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from truerisk.comparison.comparisons import Comparisons
from truerisk.reporting.comparisons import (
    comparison_facts,
    comparison_remarks,
    comparison_tables,
    difference_words,
    finding_among,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.geometry import STRIP, Axis, axis_of, strip
from truerisk.reporting.rendering import rendered
from truerisk.reporting.tables import page_table, spoken
from truerisk.reporting.wording import (
    count,
    measure_of,
    number,
    p_words,
    percent,
    title_of,
    written,
)
from truerisk.results import Comparison, Estimate

STYLES = ("report.css", "comparison.css")
SENTENCE = 2000
MOST_ROWS = 300  # differences drawn on one page
MOST_TABLE_ROWS = 500
SHARES = {(0.0, 1.0), (-1.0, 1.0)}  # measures of these ranges are drawn on one scale


def comparison_html(result: Comparisons) -> str:
    """Give the page as text."""
    return rendered("comparison.html", STYLES, comparison_data(result))


def save_comparison(result: Comparisons, path: Path | str) -> Path:
    """Write the page to a file, whole or not at all, and give its path."""
    return write_whole(Path(path), comparison_html(result))


def comparison_data(result: Comparisons) -> dict[str, Any]:
    """Give everything the page shows, in plain values; all texts are visible ones."""
    pairs = "1 pair" if len(result.name_pairs) == 1 else f"{len(result.name_pairs)} pairs"
    parts = (
        f"{count(result.n)} examples",
        f"{len(result.names)} models, {pairs}",
        f"{percent(result.level)} intervals",
    )
    return {
        "title": "Which model is really better?",
        "subtitle": " · ".join(parts),
        "verdict": [visible(one, most=SENTENCE) for one in result.verdict],
        "headlines": list(_headlines(result)),
        "level": percent(result.level),
        "groups": list(_groups(result)),
        "left_out": max(0, len(result.pairs) - MOST_ROWS),
        "tables": [page_table(table, MOST_TABLE_ROWS) for table in comparison_tables(result)],
        "notes": [visible(note, most=SENTENCE) for note in comparison_remarks(result)],
        "facts": [(visible(a), visible(b, most=SENTENCE)) for a, b in comparison_facts(result)],
        "strip": STRIP,
        "version": version("truerisk"),
    }


def _headlines(result: Comparisons) -> Iterator[dict[str, str]]:
    """Give a tile for each model's main measure, and one for the best without its luck."""
    for name in result.names[:4]:
        estimate = result.evaluations[name].get(result.measure)
        if estimate is not None:
            yield _tile(f"{title_of(result.measure)}: {name}", estimate)
    if result.best is not None and len(result.names) > 2:
        yield _tile(f"The best, corrected: {result.best.name}", result.best.corrected)


def _tile(title: str, estimate: Estimate) -> dict[str, str]:
    words = written(estimate)
    return {"title": visible(title), "value": words.value, "interval": words.interval}


def _groups(result: Comparisons) -> Iterator[dict[str, Any]]:
    """Draw two models measure by measure; more of them pair by pair, a picture a measure."""
    drawn = sorted(result.pairs, key=lambda one: result.measures.index(one.measure))[:MOST_ROWS]
    if len(result.names) > 2:
        for measure in dict.fromkeys(one.measure for one in drawn):
            chosen = [one for one in drawn if one.measure == measure]
            yield _group(result, title_of(measure), chosen)
        return
    shares = [one for one in drawn if _range(one.measure) in SHARES]
    for better_up, title in ((True, "Higher is better"), (False, "Lower is better")):
        chosen = [one for one in shares if _is_better_up(one.measure) == better_up]
        if chosen:
            yield _group(result, title, chosen)
    for one in drawn:
        if one not in shares:
            yield _group(result, "On a scale of its own", [one])


def _range(measure: str) -> tuple[float, float] | None:
    found, _ = measure_of(measure)
    return None if found is None else found.measure_range


def _is_better_up(measure: str) -> bool:
    found, _ = measure_of(measure)
    return found is None or found.higher_is_better is not False


def _group(result: Comparisons, title: str, chosen: Sequence[Comparison]) -> dict[str, Any]:
    regions = [one.region for one in chosen if one.region is not None]
    edges = [side * region for region in regions for side in (-1, 1)]
    axis = axis_of([one.difference for one in chosen], 0.0, *edges)
    return {
        "title": visible(title),
        "marks": [] if axis is None else axis.marks(),
        "zero": None if axis is None else axis.place(0.0),
        "rows": [_row(result, one, axis) for one in chosen],
    }


def _row(result: Comparisons, comparison: Comparison, axis: Axis | None) -> dict[str, Any]:
    first, second = map(visible, comparison.names)
    value, interval = difference_words(comparison)
    several = len(result.names) > 2
    title = f"{second} − {first}" if several else visible(title_of(comparison.measure))
    finding = finding_among(result, comparison)
    seen = [number(one.value) for one in (comparison.first, comparison.second)]
    region = comparison.region
    band = None
    if axis is not None and region is not None and math.isfinite(region):
        band = {"low": axis.place(-region), "width": axis.place(region) - axis.place(-region)}
    return {
        "title": title,
        "seen": f"{first} {seen[0]}, {second} {seen[1]}",
        "value": value,
        "interval": interval,
        "p": _p_sentence(comparison.p_value),
        "method": visible(spoken(comparison.method)),
        "finding": finding,
        "mark": finding if finding in {"better", "worse", "equivalent"} else "none",
        "defined": comparison.difference.is_defined,
        "strip": strip(comparison.difference, axis),
        "band": band,
    }


def _p_sentence(p_value: float | None) -> str:
    words = p_words(p_value)
    return f"p {words[0]} {words[1:]}" if words.startswith("<") else f"p = {words}"
