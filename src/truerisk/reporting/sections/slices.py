"""Slices of an evaluation → a table that sorts, each value on its interval, and a forest."""

import math
from collections.abc import Mapping
from typing import Any

from truerisk.evaluation.slices import Slice
from truerisk.measures.registry import spoken_title, title_of
from truerisk.reporting.document import (
    Column,
    Entry,
    Forest,
    Section,
    Table,
    axis_of,
    forest_row,
    heads,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.sections.explorer import sliced_scores
from truerisk.reporting.wording import NO_INTERVAL, count, interval_subtitle, p_words, with_interval
from truerisk.results import Estimate, Evaluation, number

TITLE = "Where is it wrong? Slices"
MAX_DRAWN = 60


def tested_measures(slices: Mapping[str, Slice]) -> tuple[str, ...]:
    """List the measures by which slices are tested, the main one first."""
    return tuple(dict.fromkeys(name for one in slices.values() for name in one.tests))


def slice_table(evaluation: Evaluation, *, narrow: bool = False) -> Table | None:
    """Give one row per slice: its measures, and by which it is surely worse or better.

    The narrow form has the interval of the main measure only.
    """
    if not evaluation.slices:
        return None
    names = tested_measures(evaluation.slices) or tuple(evaluation)[:3]
    short = set(names[1:]) if narrow else set()
    columns = heads(
        "Slice", "#n", *(Column(title_of(name), numeric=True) for name in names),
        *(() if narrow else ("#p",)), "Rest",
    )  # fmt: skip

    def values(part: Mapping[str, Estimate]) -> list[str]:
        ones = [(name, part[name]) for name in names]
        return [number(one.value) if name in short else with_interval(one) for name, one in ones]

    rows = [
        (
            name,
            count(one.n),
            *values(one),
            *(() if narrow else (_least_p(one),)),
            _than_rest(one, narrow=narrow),
        )
        for name, one in evaluation.slices.items()
    ]
    empty = [NO_INTERVAL] * (1 if narrow else 2)
    rows.insert(0, ("all", count(evaluation.n), *values(evaluation), *empty))
    sure = interval_subtitle(evaluation.level, evaluation.values())
    return Table(f"Slices ({sure})", columns, tuple(rows))


def _least_p(one: Slice) -> str:
    """Write the smallest adjusted p-value of a slice."""
    defined = [test.adjusted for test in one.tests.values() if not math.isnan(test.adjusted)]
    return p_words(min(defined)) if defined else NO_INTERVAL


def _than_rest(one: Slice, *, narrow: bool = False) -> str:
    differences = {
        finding: [spoken_title(name) for name, test in one.tests.items() if test.finding == finding]
        for finding in ("worse", "better")
    }
    words = [
        finding if narrow else f"{finding}: {', '.join(names)}"
        for finding, names in differences.items()
        if names
    ]
    return "; ".join(words) or NO_INTERVAL


def slices_section(evaluation: Evaluation) -> Section | None:
    """Give the table of the page: it sorts, and draws each value on its interval."""
    if not evaluation.slices:
        return None
    names = tested_measures(evaluation.slices) or tuple(evaluation)[:3]
    parts: list[Mapping[str, Any]] = [evaluation, *evaluation.slices.values()]
    axes = {name: axis_of([part[name] for part in parts]) for name in names}

    def cells(part: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [forest_row(Entry(name, part[name]), axes[name]) for name in names]

    has_explorer = len(evaluation.labels) == 2 and "thresholds" in evaluation.curves
    linked = list(sliced_scores(evaluation)) if has_explorer else []
    rows = [
        {
            "label": visible(name),
            "at": linked.index(name) + 1 if name in linked else 0,
            "examples": count(one.n),
            "cells": cells(one),
            "p": _least_p(one),
            "finding": visible(_than_rest(one)),
        }
        for name, one in evaluation.slices.items()
    ]
    data = {
        "columns": [title_of(name) for name in names],
        "whole": {"examples": count(evaluation.n), "cells": cells(evaluation)},
        "rows": rows,
        "linked": bool(linked),
    }
    lead = (
        "Each slice against all other examples. p is the smallest over the measures, adjusted for "
        "all slices and measures by Holm: up to "
        f"{1 - evaluation.level:.3g} the difference is sure."
    )
    return Section("slices", TITLE, data, lead)


def slice_forest(evaluation: Evaluation) -> Forest:
    """Describe the main measure of each slice, all examples first."""
    name = (tested_measures(evaluation.slices) or tuple(evaluation))[0]
    shown = list(evaluation.slices.items())[:MAX_DRAWN]
    left_out = len(evaluation.slices) - len(shown)
    words = title_of(name)
    return Forest(
        rows=[
            Entry("all examples", evaluation[name]),
            *(Entry(f"{label} ({count(one.n)})", one[name]) for label, one in shown),
        ],
        note=f"{words}; {left_out:,} more are not drawn" if left_out else words,
    )
