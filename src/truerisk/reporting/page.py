"""Evaluation → the plain dictionary that the page is drawn from.

All texts are visible ones; the templates escape them, and compute nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from truerisk.reporting.escaping import visible
from truerisk.reporting.geometry import STRIP, Axis, axis_of, path, strip
from truerisk.reporting.tables import (
    Table,
    confusion_of,
    mistake_table,
    page_table,
    provenance,
    remarks,
    share,
    spoken,
)
from truerisk.reporting.wording import count, measure_of, number, percent, title_of, written
from truerisk.results import Estimate, Evaluation

HEADLINES = ("error_rate", "f1", "f1_macro", "roc_auc", "cost", "balanced_accuracy", "accuracy")
MOST_HEADLINES = 3
MOST_CONFUSED = 30  # classes in the matrix on the page
MOST_CLASS_ROWS = 500
CLASS_MEASURES = ("precision", "recall", "f1")
HEATS = 9
SENTENCE = 2000


@dataclass(frozen=True)
class Drawing:
    """Which two columns of a curve object are drawn, and what the axes are called."""

    title: str
    x: str
    y: str
    x_words: str
    y_words: str
    area: str
    chance: bool = False


DRAWINGS = {
    "roc": Drawing("ROC curve", "fpr", "tpr", "1 − specificity", "recall", "auc", chance=True),
    "precision_recall": Drawing(
        "Precision and recall", "recall", "precision", "recall", "precision", "average_precision"
    ),
    "rejection": Drawing(
        "Error and rejection",
        "rejection_rate",
        "error_rate",
        "rejected",
        "error of the rest",
        "area",
    ),
}


@dataclass(frozen=True)
class Group:
    """Measures drawn on one axis, which holds the best value too; or each on an axis of its own."""

    title: str
    also: tuple[float, ...] = ()
    shared: bool = True


HIGHER = Group("Higher is better, 1 is perfect", (1.0,))
LOWER = Group("Lower is better, 0 is perfect", (0.0,))
BOTH_SIGNS = Group("1 is perfect, 0 is chance", (0.0, 1.0))
OWN_SCALE = Group("On a scale of their own", shared=False)


def page_data(evaluation: Evaluation) -> dict[str, Any]:
    """Give everything the page shows, in plain values."""
    return {
        "title": "How good is this classifier?",
        "subtitle": _subtitle(evaluation),
        "verdict": [visible(sentence, most=SENTENCE) for sentence in evaluation.verdict],
        "headlines": list(_headlines(evaluation)),
        "level": percent(evaluation.level),
        "groups": list(_groups(evaluation)),
        "confusion": _confusion(evaluation),
        "mistakes": _table(mistake_table(evaluation)),
        "classes": _classes(evaluation),
        "curves": list(_curves(evaluation)),
        "notes": [visible(note, most=SENTENCE) for note in remarks(evaluation)],
        "facts": [(visible(a), visible(b, most=SENTENCE)) for a, b in provenance(evaluation)],
        "strip": STRIP,
        "version": version("truerisk"),
    }


def _subtitle(evaluation: Evaluation) -> str:
    parts = [f"{count(evaluation.n)} examples", f"{len(evaluation.labels):,} classes"]
    if evaluation.positive is not None:
        parts.append(f"positive: {visible(evaluation.positive)}")
    return " · ".join([*parts, f"{percent(evaluation.level)} intervals"])


def _headlines(evaluation: Evaluation) -> Iterator[dict[str, str]]:
    chosen = [name for name in HEADLINES if name in evaluation][:MOST_HEADLINES]
    for name in chosen:
        words = written(evaluation[name])
        yield {"title": visible(title_of(name)), "value": words.value, "interval": words.interval}


def _groups(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    members: dict[Group, list[str]] = {}
    for name in evaluation:
        members.setdefault(_group_of(name), []).append(name)
    for group, names in members.items():
        axis = axis_of([evaluation[name] for name in names], *group.also)
        rows = [_row(name, evaluation[name], axis if group.shared else None) for name in names]
        marks = axis.marks() if axis is not None and group.shared else []
        yield {"title": group.title, "marks": marks, "rows": rows}


def _group_of(name: str) -> Group:
    found, average = measure_of(name)
    if found is None or found.measure_range not in {(0.0, 1.0), (-1.0, 1.0)}:
        return OWN_SCALE
    if found.measure_range == (-1.0, 1.0):
        return BOTH_SIGNS
    if average:
        return Group(f"{average.capitalize()} averages over the classes", (1.0,))
    return HIGHER if found.higher_is_better else LOWER


def _row(name: str, estimate: Estimate, axis: Axis | None) -> dict[str, Any]:
    words = written(estimate)
    own = axis_of([estimate]) if axis is None else None
    found, _ = measure_of(name)
    return {
        "title": visible(title_of(name)),
        "summary": "" if found is None else found.summary,
        "value": words.value,
        "interval": words.interval,
        "method": "" if estimate.interval is None else visible(spoken(estimate.interval.method)),
        "n": count(estimate.n),
        "defined": estimate.is_defined,
        "reason": visible("; ".join(estimate.notes), most=SENTENCE),
        "strip": strip(estimate, axis or own),
        "marks": own.marks() if own is not None else [],
    }


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    found = confusion_of(evaluation)
    if found is None or len(found[0]) > MOST_CONFUSED:
        return None
    labels, counts = found
    totals = counts.sum(axis=1)
    rows = []
    for at, (row, total) in enumerate(zip(counts, totals, strict=True)):
        cells = [
            {
                "count": count(n),
                "share": share(n, total),
                "heat": int(np.ceil(HEATS * n / total)) if total > 0 else 0,
                "right": at == column,
            }
            for column, n in enumerate(row)
        ]
        rows.append({"label": visible(labels[at]), "cells": cells, "total": count(total)})
    sums = [count(total) for total in counts.sum(axis=0)]
    return {"labels": list(map(visible, labels)), "rows": rows, "sums": sums}


def _classes(evaluation: Evaluation) -> dict[str, Any] | None:
    if not evaluation.by_class:
        return None
    offered = next(iter(evaluation.by_class.values()))
    names = [name for name in CLASS_MEASURES if name in offered] or list(offered)
    shown = list(evaluation.by_class.items())[:MOST_CLASS_ROWS]
    axes = {name: axis_of([estimates[name] for _, estimates in shown]) for name in names}
    rows = [
        {
            "label": visible(label),
            "cells": [_row(name, estimates[name], axes[name]) for name in names],
        }
        for label, estimates in shown
    ]
    return {
        "columns": [title_of(name) for name in names],
        "rows": rows,
        "left_out": len(evaluation.by_class) - len(shown),
    }


def _curves(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    for name, drawing in DRAWINGS.items():
        curve = evaluation.curves.get(name)
        if curve is not None:
            yield {
                "title": drawing.title,
                "area": number(float(getattr(curve, drawing.area))),
                "x_words": drawing.x_words,
                "y_words": drawing.y_words,
                "chance": drawing.chance,
                "path": path(getattr(curve, drawing.x), getattr(curve, drawing.y)),
            }


def _table(table: Table | None) -> dict[str, Any] | None:
    return None if table is None else page_table(table)
