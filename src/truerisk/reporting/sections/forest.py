"""Estimates → the forest of a page: each a dot on its interval, all of them on one axis."""

from collections.abc import Sequence
from typing import Any

from truerisk.errors import InputError
from truerisk.measures.registry import measure_of
from truerisk.reporting.document import SENTENCE, Axis, Entry, Section, axis_of, strip
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, spoken, written
from truerisk.results import Estimate


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
