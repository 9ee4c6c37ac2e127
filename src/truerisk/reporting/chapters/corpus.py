"""CorpusEvaluation → a chapter: each category's estimates drawn beside what was held out."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from truerisk.reporting.categories import (
    HELD_OUT,
    METHOD_TITLES,
    NOTHING,
    RANKED,
    average_table,
    in_one_cell,
    in_percent,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.geometry import Axis, axis_of, strip
from truerisk.reporting.page.parts import (
    SENTENCE,
    Chapter,
    Section,
    Tile,
    sentences,
)
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.wording import count, counted, percent, title_of
from truerisk.results import Estimate, Evaluation

if TYPE_CHECKING:
    from truerisk.estimation.corpus.corpus import CorpusEvaluation

HEADLINES = {"hamming_loss": "Wrong decisions", "f1_micro": "F1, micro", "f1_macro": "F1, macro"}
DRAWN = {"f1": 1.0, "precision": 1.0, "recall": 1.0, "error_rate": 0.0}  # and the perfect value
MAX_DRAWN = 300  # categories; with four pictures each they are the weight of the page
AVERAGES = {"micro": "Micro average", "macro": "Macro average"}


def corpus_chapter(evaluation: "CorpusEvaluation") -> Chapter:
    """Give all that a page says of the categories of a corpus."""
    return Chapter(
        title="How well will each category be told?",
        subtitle=_subtitle(evaluation),
        verdict=sentences(evaluation.verdict),
        tiles=tuple(_tiles(evaluation)),
        sections=(
            Section("categories", "Category by category", _categories(evaluation), _lead()),
            table_section(average_table(evaluation), "Numbers are percent."),
        ),
        notes=sentences(evaluation.notes),
    )


def _lead() -> str:
    return (
        "Each category against the rest, that with most documents first. Numbers are percent; the "
        "line is the interval. F1 is the balance of precision (what is called so is so) and recall "
        "(what is so is called so); the micro average counts every decision the same, the macro "
        "average every category."
    )


def _subtitle(evaluation: "CorpusEvaluation") -> str:
    parts = [counted(evaluation.n, "training document")]
    if evaluation.holdout is not None:
        parts.append(f"{count(evaluation.holdout.n)} {HELD_OUT}")
    parts += [counted(len(evaluation.categories), "category", "categories"), _method(evaluation)]
    return " · ".join([*parts, f"{percent(evaluation.level)} intervals"])


def _method(evaluation: "CorpusEvaluation") -> str:
    name = str(evaluation.settings["method"])
    rho = f", ρ = {evaluation.settings['rho']:g}" if name == "xi_alpha" else ""
    return f"{METHOD_TITLES[name]}{rho}"


def _tiles(evaluation: "CorpusEvaluation") -> Iterator[Tile]:
    for name, title in HEADLINES.items():
        beside = ""
        if evaluation.holdout is not None:
            beside = f"{HELD_OUT}: {in_one_cell(evaluation.holdout[name])} %"
        yield _tile(Tile.of(title, evaluation[name], beside), evaluation[name])


def _tile(tile: Tile, estimate: Estimate) -> Tile:
    """Write a tile in percent, as everything on this page is."""
    ends = estimate.interval
    told = tile.interval
    if ends is not None:
        told = f"[{in_percent(ends.low)}, {in_percent(ends.high)}]"
    return replace(
        tile,
        value=f"{in_percent(estimate.value)} %" if estimate.is_defined else tile.value,
        interval=told,
        marks=tuple(map(_in_percent, tile.marks)),
    )


def _categories(evaluation: "CorpusEvaluation") -> dict[str, Any]:
    """Give a row an average, which stay on top, and a row a category, with a picture a measure."""
    holdout = evaluation.holdout
    shown = evaluation.categories[:MAX_DRAWN]
    ways = [evaluation.by_class] + ([] if holdout is None else [holdout.by_class])
    axes = {
        name: axis_of([way[one.name][name] for way in ways for one in shown], perfect)
        for name, perfect in DRAWN.items()
    }
    totals = [
        {
            "label": title,
            "documents": "",
            "tested": "",
            "cells": [
                _cell(
                    _average(evaluation, name, average),
                    None if holdout is None else _average(holdout, name, average),
                    axes[name],
                )
                for name in DRAWN
            ],
            "ranks": _ranks(None if holdout is None else _averages(holdout, average)),
        }
        for average, title in AVERAGES.items()
    ]
    rows = [
        {
            "label": visible(one.name),
            "documents": count(one.documents),
            "tested": "" if one.test_documents is None else count(one.test_documents),
            "cells": [
                _cell(
                    evaluation.by_class[one.name][name],
                    None if holdout is None else holdout.by_class[one.name][name],
                    axes[name],
                )
                for name in DRAWN
            ],
            "ranks": _ranks(None if holdout is None else holdout.by_class[one.name]),
        }
        for one in shown
    ]
    return {
        "method": _method(evaluation),
        "held_out": holdout is not None,
        "columns": [
            {
                "title": title_of(name),
                "marks": [] if axis is None else list(map(_in_percent, axis.marks())),
            }
            for name, axis in axes.items()
        ],
        "ranked": [] if holdout is None else [title.split()[0] for title in RANKED.values()],
        "totals": totals,
        "rows": rows,
        "left_out": len(evaluation.categories) - len(shown),
    }


def _cell(own: Estimate | None, beside: Estimate | None, axis: Axis | None) -> dict[str, Any]:
    return {
        "own": NOTHING if own is None else in_one_cell(own),
        "beside": None if beside is None else in_one_cell(beside),
        "first": None if own is None else strip(own, axis),
        "second": None if beside is None else strip(beside, axis),
        "reason": "" if own is None else visible("; ".join(own.notes), most=SENTENCE),
    }


def _average(found: Evaluation, name: str, average: str) -> Estimate | None:
    # Every category has as many documents: both averages of their errors are one number.
    return found.get("hamming_loss" if name == "error_rate" else f"{name}_{average}")


def _averages(found: Evaluation, average: str) -> dict[str, Estimate]:
    names = {name: f"{name}_{average}" for name in RANKED}
    return {name: found[full] for name, full in names.items() if full in found}


def _ranks(found: Mapping[str, Estimate] | None) -> list[str]:
    if found is None:
        return []
    values = [found[name].value if name in found else math.nan for name in RANKED]
    return [NOTHING if math.isnan(value) else in_percent(value) for value in values]


def _in_percent(mark: Mapping[str, Any]) -> dict[str, Any]:
    return {**mark, "words": f"{100 * float(mark['words']):g}"}
