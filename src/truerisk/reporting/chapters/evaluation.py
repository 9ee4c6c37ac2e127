"""Evaluation → its chapter: the verdict, the few numbers that matter, then every one of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.geometry import Axis, axis_of
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.estimate_forest import Entry, forest_row
from truerisk.reporting.sections.explorer import explorer_section
from truerisk.reporting.sections.score_curves import score_sections
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import (
    confusion_of,
    mistake_table,
    remarks,
    share,
)
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    counted,
    measure_of,
    percent,
    title_of,
)
from truerisk.results import Estimate, Evaluation

HEADLINES = ("cost", "error_rate", "f1", "f1_macro", "roc_auc", "balanced_accuracy", "accuracy")
MAX_HEADLINES = 4
MAX_CONFUSED = 30  # classes in the matrix on the page
MAX_CLASS_ROWS = 500
CLASS_MEASURES = ("precision", "recall", "f1")
HEATS = 9


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


def evaluation_chapter(evaluation: Evaluation) -> Chapter:
    """Give all that the page says of an evaluation."""
    return Chapter(
        title="How good is this classifier?",
        subtitle=_subtitle(evaluation),
        verdict=sentences(evaluation.verdict),
        tiles=tuple(_tiles(evaluation)),
        sections=tuple(evaluation_sections(evaluation)),
        notes=sentences(remarks(evaluation)),
    )


def evaluation_sections(evaluation: Evaluation) -> Iterator[Section]:
    """Give the sections of an evaluation, the way from the whole to its parts."""
    yield Section(
        "forest",
        "Every measure, and how sure it is",
        {"groups": list(_groups(evaluation))},
        f"The dot is the value on these examples. The line is its {percent(evaluation.level)} "
        "interval: values that these examples do not rule out.",
    )
    confusion = _confusion(evaluation)
    if confusion is not None:
        yield Section(
            "confusion",
            "What was called what",
            confusion,
            "Rows are the truth, columns what the classifier said; shares are of the true class.",
        )
    mistakes = mistake_table(evaluation)
    if mistakes is not None:
        yield table_section(mistakes)
    classes = _classes(evaluation)
    if classes is not None:
        yield Section("classes", "Class by class", classes)
    explorer = explorer_section(evaluation)
    if explorer is not None:
        yield explorer
    yield from score_sections(evaluation)


def _subtitle(evaluation: Evaluation) -> str:
    parts = [counted(evaluation.n, "example"), counted(len(evaluation.labels), "class", "classes")]
    if evaluation.pos_label is not None:
        parts.append(f"positive: {visible(evaluation.pos_label)}")
    return " · ".join([*parts, f"{percent(evaluation.level)} intervals"])


def _tiles(evaluation: Evaluation) -> Iterator[Tile]:
    chosen = [name for name in HEADLINES if name in evaluation][:MAX_HEADLINES]
    for name in chosen:
        yield Tile.of(title_of(name), evaluation[name])


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
    found, _ = measure_of(name)
    return forest_row(Entry(title_of(name), estimate, found.summary if found else ""), axis)


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    found = confusion_of(evaluation)
    if found is None or len(found[0]) > MAX_CONFUSED:
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


def _class_sizes(evaluation: Evaluation) -> dict[str, str]:
    """Count the examples of each class, where there are cells to count."""
    if evaluation.tallies is None:
        return {}
    counts = evaluation.tallies.class_counts()
    return {
        label: count(n) for label, n in zip(evaluation.tallies.labels, counts.truth, strict=True)
    }


def _classes(evaluation: Evaluation) -> dict[str, Any] | None:
    if not evaluation.by_class:
        return None
    offered = next(iter(evaluation.by_class.values()))
    names = [name for name in CLASS_MEASURES if name in offered] or list(offered)
    shown = list(evaluation.by_class.items())[:MAX_CLASS_ROWS]
    axes = {name: axis_of([estimates[name] for _, estimates in shown]) for name in names}
    sizes = _class_sizes(evaluation)
    rows = [
        {
            "label": visible(label),
            "examples": sizes.get(label, NO_INTERVAL),
            "cells": [_row(name, estimates[name], axes[name]) for name in names],
        }
        for label, estimates in shown
    ]
    return {
        "columns": [title_of(name) for name in names],
        "rows": rows,
        "left_out": len(evaluation.by_class) - len(shown),
    }
