"""Evaluation: the verdict, the few numbers that matter, then every one of them.

Other presenters build on this one: those of learners, of leave-one-out, of ξα-estimates.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.evaluation.slices import Slice
from truerisk.evaluation.verdict import TARGET_HALF_WIDTH, WIDE
from truerisk.measures.costs import OUTCOMES
from truerisk.measures.registry import measure_of, spoken_title, title_of
from truerisk.measures.thresholds import Sweep, mean_cost, outcome_costs
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Rule, Use, by_rules
from truerisk.reporting.sections.coverage import marks_of, prediction_uses
from truerisk.reporting.sections.explorer import explorer_section, sliced_scores
from truerisk.reporting.sections.provenance import setting_facts, source_facts, targets_of
from truerisk.reporting.sections.score_charts import score_pictures, score_sections
from truerisk.reporting.wording import (
    MAX_NAMED,
    NO_INTERVAL,
    count,
    counted,
    interval_heading,
    interval_subtitle,
    p_words,
    percent,
    plain_text,
    share,
    with_interval,
    written,
)
from truerisk.results import Estimate, Evaluation, has_code, number
from truerisk.tallies.cells import Cells

HEADLINES = ("cost", "error_rate", "f1", "f1_macro", "roc_auc", "balanced_accuracy", "accuracy")
HEADLINES_OF_RARE = (
    "cost", "recall", "precision", "f1", "roc_auc", "recall_macro", "precision_macro", "f1_macro",
    "balanced_accuracy",
)  # fmt: skip
MAX_HEADLINES = 4
MAX_CONFUSED = 30  # classes in the matrix on the page
MAX_CLASS_ROWS = 200
CLASS_MEASURES = ("precision", "recall", "f1")
HEATS = 9
MAX_DRAWN_CLASSES = 40  # in a figure
MAX_CLASSES_SHOWN = 20
MAX_DRAWN_SLICES = 60
WIDE_CELLS = 4  # classes up to which count and share stand side by side
WIDEST_CONFUSION = 12  # more classes than this do not fit on a screen
MAX_MISTAKES = 10
COMMON = 0.6  # a class with a larger share makes a constant answer look good
F1_GAIN, COST_GAIN = 0.02, 0.05  # less is not worth another threshold, even if it is sure
FEW = 30  # examples of a class, which tell its recall to ±0.19 at worst
USUAL_LEVEL = 0.95  # which `truerisk plan` takes unless told otherwise
MAX_FEW_NAMED = 3
MAX_OF_MISTAKES = 0.5
MIN_MISTAKES = 10
UNITS = {"recall": "positive examples", "precision": "examples called positive"}
LONGEST_NAME = 30  # characters, so that the number behind it is seen


@dataclass(frozen=True)
class Group:
    """Measures drawn on one axis, which holds the best value too; or each on an axis of its own.

    `heading` is for a figure, in which only measures between 0 and 1 are drawn.
    """

    title: str
    also: tuple[float, ...] = ()
    heading: str = ""
    shared: bool = True


HIGHER = Group("Higher is better, 1 is perfect", (1.0,), "Higher is better")
LOWER = Group("Lower is better, 0 is perfect", (0.0,), "Lower is better")
BOTH_SIGNS = Group("1 is perfect, 0 is chance", (0.0, 1.0))
OWN_SCALE = Group("On a scale of their own", shared=False)


class EvaluationPresenter(Presenter):
    """Every measure of predictions, their classes, slices and scores."""

    question = "How good is this classifier?"
    unused_settings: tuple[str, ...] = ()  # that a terminal must not give as if they were used

    def subtitle(self, evaluation: Evaluation) -> Iterator[str]:
        """Say how many examples and classes there are, and which intervals."""
        yield counted(evaluation.n, "example")
        if evaluation.labels:
            yield counted(len(evaluation.labels), "class", "classes")
        if evaluation.pos_label is not None:
            yield f"positive: {visible(evaluation.pos_label)}"
        yield interval_subtitle(evaluation.level, evaluation.values())

    def tiles(self, evaluation: Evaluation) -> Iterator[doc.Tile]:
        """Give the few measures that matter."""
        # Where the verdict says that accuracy misleads, what it points to comes first.
        misleads = has_code(evaluation.verdict, "accuracy_misleads")
        order = HEADLINES_OF_RARE if misleads else HEADLINES
        for name in [name for name in order if name in evaluation][:MAX_HEADLINES]:
            yield doc.Tile.of(title_of(name), evaluation[name])

    def sections(self, evaluation: Evaluation) -> Iterator[doc.Section]:
        """Give the sections of an evaluation, the way from the whole to its parts."""
        yield doc.Section(
            "forest",
            "Every measure, and how sure it is",
            {"groups": list(_groups(evaluation))},
            "The dot is the value on these examples. The line is its "
            f"{interval_heading(evaluation.level, evaluation.values())}: values that these "
            "examples do not rule out.",
        )
        mistakes = mistake_table(evaluation)
        sections = (
            _confusion_section(evaluation),
            None if mistakes is None else doc.table_section(mistakes),
            _classes_section(evaluation),
            _slices_section(evaluation),
            explorer_section(evaluation),
        )
        yield from filter(None, sections)
        yield from score_sections(evaluation)

    def notes(self, evaluation: Any) -> Iterable[str]:
        return remarks(evaluation)

    def blocks(self, evaluation: Evaluation) -> Iterator[doc.Block]:
        """Give what a terminal shows: the verdict, the tables, the notes, and what was assumed."""
        yield doc.Sentences(evaluation.verdict)
        yield measure_table(evaluation)
        tables = (
            class_table(evaluation, _class_measures(evaluation)[:3], MAX_CLASSES_SHOWN),
            confusion_table(evaluation, narrow=len(evaluation.labels) > WIDE_CELLS),
            mistake_table(evaluation),
            slice_table(evaluation, narrow=True),
        )
        yield from filter(None, tables)
        left = left_out(evaluation, MAX_CLASSES_SHOWN)
        if left:
            yield doc.Sentences([f"{left} --json has all."])
        yield doc.Sentences(remarks(evaluation), "Notes")
        facts = evaluation_facts(evaluation, self.unused_settings)
        yield doc.FactList([*facts, *source_facts(evaluation.source)])

    def tables(self, evaluation: Evaluation) -> Iterator[doc.Table]:
        """Give the tables of Markdown and LaTeX."""
        tables = (
            measure_table(evaluation),
            class_table(evaluation),
            confusion_table(evaluation),
            slice_table(evaluation),
        )
        return filter(None, tables)

    def facts(self, evaluation: Evaluation) -> doc.Facts:
        return evaluation_facts(evaluation)

    def next_steps(self, evaluation: Evaluation) -> Iterable[str]:
        """Say what to do about predictions that were scored."""
        before_all = [step for rule in BEFORE_ALL for step in rule(evaluation)]
        if before_all:  # until that is done the other numbers mislead
            yield from before_all
            return
        yield from by_rules(RULES, compare_with_the_present)(evaluation)
        yield from perhaps_probabilities(evaluation)

    def intervals(self, evaluation: Any) -> Iterator[Use]:
        return prediction_uses(evaluation)

    def pictures(self, evaluation: Evaluation) -> doc.Pictures:
        """Draw every measure, what was called what, the classes, and the scores."""
        yield "measures", measure_forest(evaluation)
        confusion = evaluation.confusion if len(evaluation.labels) <= MAX_CONFUSED else None
        if confusion is not None:
            yield "confusion", doc.Matrix(labels=confusion[0], counts=confusion[1])
        if evaluation.by_class:
            yield "classes", class_forest(evaluation.by_class, class_sizes(evaluation))
        if evaluation.slices:
            yield "slices", slice_forest(evaluation)
        yield from score_pictures(evaluation)


def _groups(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    members: dict[Group, list[str]] = {}
    for name in evaluation:
        members.setdefault(_group_of(name), []).append(name)
    for group, names in members.items():
        axis = doc.axis_of([evaluation[name] for name in names], *group.also)
        rows = [_row(name, evaluation[name], axis if group.shared else None) for name in names]
        marks = axis.marks() if axis is not None and group.shared else []
        yield {"title": group.title, "marks": marks, "rows": rows}


def _group_of(name: str) -> Group:
    result, average = measure_of(name)
    if result is None or result.measure_range not in {(0.0, 1.0), (-1.0, 1.0)}:
        return OWN_SCALE
    if result.measure_range == (-1.0, 1.0):
        return BOTH_SIGNS
    if average:
        averages = f"{average.capitalize()} averages"
        return Group(f"{averages} over the classes", (1.0,), averages)
    return HIGHER if result.higher_is_better else LOWER


def _row(name: str, estimate: Estimate, axis: doc.Axis | None) -> dict[str, Any]:
    result, _ = measure_of(name)
    return doc.forest_row(
        doc.Entry(title_of(name), estimate, result.summary if result else ""), axis
    )


def _confusion_section(evaluation: Evaluation) -> doc.Section | None:
    result = evaluation.confusion if len(evaluation.labels) <= MAX_CONFUSED else None
    if result is None:
        return None
    labels, counts = result
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
    data = {"labels": list(map(visible, labels)), "rows": rows, "sums": sums}
    lead = "Rows are the truth, columns what the classifier said; shares are of the true class."
    return doc.Section("confusion", "What was called what", data, lead)


def _classes_section(evaluation: Evaluation) -> doc.Section | None:
    if not evaluation.by_class:
        return None
    names, sizes = _class_measures(evaluation), class_sizes(evaluation)
    chosen = chosen_classes(evaluation, MAX_CLASS_ROWS)
    cells = _drawn_cells([evaluation.by_class[label] for label in chosen], names)
    rows = [
        {"label": visible(label), "examples": count(sizes[label]), "cells": drawn}
        for label, drawn in zip(chosen, cells, strict=True)
    ]
    data = {
        "columns": [title_of(name) for name in names],
        "rows": rows,
        "left_out": left_out(evaluation, MAX_CLASS_ROWS),
    }
    return doc.Section("classes", "Class by class", data)


def _drawn_cells(
    parts: Sequence[Mapping[str, Estimate]], names: Iterable[str]
) -> list[list[dict[str, Any]]]:
    """Draw measures of several parts of the examples, each measure on one axis for all of them."""
    axes = {name: doc.axis_of([part[name] for part in parts]) for name in names}
    return [[_row(name, part[name], axis) for name, axis in axes.items()] for part in parts]


def chosen_classes(evaluation: Evaluation, most: int) -> list[str]:
    """Choose the classes to show: all of them, or the most frequent and those that are worst.

    The worst are those whose F1 is low even at the upper end of its interval: a class of a few
    examples is not among them by chance.
    """
    every = list(evaluation.by_class)
    if len(every) <= most:
        return every
    frequent = list(class_sizes(evaluation))[: most - most // 2]

    def upper_end(label: str) -> float:
        estimate = evaluation.by_class[label].get("f1")
        ends = None if estimate is None else estimate.interval
        return np.inf if ends is None else ends.high

    others = sorted(set(every) - set(frequent), key=lambda label: (upper_end(label), label))
    chosen = {*frequent, *others[: most // 2]}
    return [label for label in every if label in chosen]


def left_out(evaluation: Evaluation, most: int) -> str:
    """Say which classes are not shown; nothing where all are."""
    left = len(evaluation.by_class) - most
    if left <= 0:
        return ""
    return (
        f"{left:,} classes more are not shown: these are the {most - most // 2} most frequent and "
        f"the {most // 2} others whose F1 is lowest (by the upper end of its interval)."
    )


def _class_measures(evaluation: Evaluation) -> tuple[str, ...]:
    """List the measures of single classes that are shown, all of them if none is a usual one."""
    offered = tuple(next(iter(evaluation.by_class.values()), ()))
    return tuple(name for name in CLASS_MEASURES if name in offered) or offered


def measure_table(evaluation: Evaluation) -> doc.Table:
    """Give one row per measure: value, interval, method, examples."""
    heading = interval_heading(evaluation.level, evaluation.values())
    columns = doc.heads("Measure", "#Value", f"#{heading}", "Method", "#n")
    mark = marks_of(evaluation)
    rows = tuple(
        (
            title_of(name),
            *written(one),
            f"{NO_INTERVAL if one.interval is None else one.interval.method}{mark(one)}",
            count(one.n),
        )
        for name, one in evaluation.items()
    )
    return doc.Table("Measures", columns, rows)


def class_table(
    evaluation: Evaluation, measures: tuple[str, ...] | None = None, most: int | None = None
) -> doc.Table | None:
    """Give one row per class, of `most` of them; None without estimates of single classes."""
    if not evaluation.by_class:
        return None
    names = measures or tuple(next(iter(evaluation.by_class.values())))
    columns = doc.heads("Class", *(doc.Column(title_of(name), numeric=True) for name in names))
    mark = marks_of(evaluation)
    rows = tuple(
        (label, *(with_interval(one[name]) + mark(one[name]) for name in names))
        for label in chosen_classes(evaluation, most or len(evaluation.by_class))
        for one in (evaluation.by_class[label],)
    )
    sure = interval_subtitle(evaluation.level, evaluation.values())
    return doc.Table(f"Classes ({sure})", columns, rows)


def confusion_table(evaluation: Evaluation, *, narrow: bool = False) -> doc.Table | None:
    """Give counts with the share of each true class; None for more than a dozen classes.

    The narrow form has the shares only, in whole percent.
    """
    result = evaluation.confusion if len(evaluation.labels) <= WIDEST_CONFUSION else None
    if result is None:
        return None
    labels, counts = result
    totals = counts.sum(axis=1)
    columns = doc.heads(
        doc.Column("True" if narrow else "True \\ called"), *doc.number_columns(labels), "#n"
    )
    rows = []
    for label, row, total in zip(labels, counts, totals, strict=True):
        wide = [f"{count(n)} ({share(n, total)})" for n in row]
        rows.append((label, *([_whole(n, total) for n in row] if narrow else wide), count(total)))
    if narrow:
        return doc.Table("Confusion matrix (% of the true class)", columns, tuple(rows))
    rows.append(("n", *map(count, counts.sum(axis=0)), count(totals.sum())))
    return doc.Table("Confusion matrix (share of the true class)", columns, tuple(rows))


def mistake_table(evaluation: Evaluation) -> doc.Table | None:
    """Give the most frequent mistakes, where the confusion matrix is too large to be read."""
    cells = _cells(evaluation)
    if cells is None or cells.multilabel or len(cells.labels) <= WIDEST_CONFUSION:
        return None
    labels, totals = cells.labels, cells.class_counts().truth
    true, predicted, wrong = cells.mistakes()
    worst = np.lexsort((predicted, true, -wrong))[:MAX_MISTAKES]
    rows = [
        (labels[at], labels[taken_for], count(n), share(n, totals[at]))
        for at, taken_for, n in zip(true[worst], predicted[worst], wrong[worst], strict=True)
    ]
    columns = doc.heads("True", "Called", "#n", "#of the true class")
    return doc.Table("Most frequent mistakes", columns, tuple(rows))


def _whole(part: float, whole: float) -> str:
    if part == 0:
        return "·"
    return "<1" if 100 * part < whole else f"{100 * part / whole:.0f}"


# Slices


def _slice_measures(evaluation: Evaluation) -> tuple[str, ...]:
    """List the measures by which slices are tested, the main one first; else the first ones."""
    tested = dict.fromkeys(name for one in evaluation.slices.values() for name in one.tests)
    return tuple(tested) or tuple(evaluation)[:3]


def slice_table(evaluation: Evaluation, *, narrow: bool = False) -> doc.Table | None:
    """Give one row per slice: its measures, and by which it is surely worse or better.

    The narrow form has the interval of the main measure only.
    """
    if not evaluation.slices:
        return None
    names = _slice_measures(evaluation)
    numbers = doc.number_columns(map(title_of, names))
    columns = doc.heads("Slice", "#n", *numbers, *(() if narrow else ("#p",)), "Rest")

    def row(label: str, part: Any, *tests: str) -> tuple[str, ...]:
        main, *others = (part[name] for name in names)
        values = [number(one.value) if narrow else with_interval(one) for one in others]
        return (label, count(part.n), with_interval(main), *values, *tests[narrow:])

    rows = [row("all", evaluation, NO_INTERVAL, NO_INTERVAL)]
    for name, one in evaluation.slices.items():
        rows.append(row(name, one, _least_p(one), _than_rest(one, narrow=narrow)))
    sure = interval_subtitle(evaluation.level, evaluation.values())
    return doc.Table(f"Slices ({sure})", columns, tuple(rows))


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


def _slices_section(evaluation: Evaluation) -> doc.Section | None:
    """Give the table of the page: it sorts, and draws each value on its interval."""
    if not evaluation.slices:
        return None
    names = _slice_measures(evaluation)
    whole, *cells = _drawn_cells([evaluation, *evaluation.slices.values()], names)
    has_explorer = len(evaluation.labels) == 2 and "thresholds" in evaluation.curves
    linked = list(sliced_scores(evaluation)) if has_explorer else []
    rows = [
        {
            "label": visible(name),
            "at": linked.index(name) + 1 if name in linked else 0,
            "examples": count(one.n),
            "cells": drawn,
            "p": _least_p(one),
            "finding": visible(_than_rest(one)),
        }
        for (name, one), drawn in zip(evaluation.slices.items(), cells, strict=True)
    ]
    data = {
        "columns": [title_of(name) for name in names],
        "whole": {"examples": count(evaluation.n), "cells": whole},
        "rows": rows,
        "linked": bool(linked),
    }
    lead = (
        "Each slice against all other examples. p is the smallest over the measures, adjusted for "
        "all slices and measures by Holm: up to "
        f"{1 - evaluation.level:.3g} the difference is sure."
    )
    return doc.Section("slices", "Where is it wrong? Slices", data, lead)


def slice_forest(evaluation: Evaluation) -> doc.Forest:
    """Describe the main measure of each slice, all examples first."""
    name = _slice_measures(evaluation)[0]
    drawn = list(evaluation.slices.items())[:MAX_DRAWN_SLICES]
    more = len(evaluation.slices) - len(drawn)
    return doc.Forest(
        rows=[
            doc.Entry("all examples", evaluation[name]),
            *(doc.Entry(f"{label} ({count(one.n)})", one[name]) for label, one in drawn),
        ],
        note=f"{title_of(name)}{f'; {more:,} more are not drawn' if more else ''}",
    )


# Notes, what was assumed, and next steps


def remarks(evaluation: Evaluation) -> tuple[str, ...]:
    """Give the notes of the evaluation, then those of its measures, each told once."""
    notes = doc.each_once(
        (title_of(name), note) for name, estimate in evaluation.items() for note in estimate.notes
    )
    text = (_remark(titles, note) for note, titles in notes.items())
    return (*evaluation.notes, *text)


def _remark(titles: list[str], note: str) -> str:
    reason = note.removeprefix("undefined: ")
    named = "; ".join(titles)
    if len(titles) > MAX_NAMED:
        named = f"{titles[0]}; … {titles[-1]} ({len(titles)} measures)"
    are = "is" if len(titles) == 1 else "are"
    link = ":" if reason == note else f" {are} undefined:"
    return f"{named}{link} {reason}"


def evaluation_facts(evaluation: Evaluation, skip: Collection[str] = ()) -> doc.Facts:
    """Say what was assumed, in pairs of words, without the settings to `skip`."""
    yield "examples", count(evaluation.n)
    if evaluation.labels:
        yield "classes", f"{len(evaluation.labels):,}"
        yield "positive label", plain_text(evaluation.pos_label)
    yield "confidence level", percent(evaluation.level)
    yield "the numbers are about", targets_of(evaluation.values())
    yield from setting_facts(evaluation.settings, skip={"level", "pos_label", "target", *skip})


def swapped_labels(evaluation: Evaluation) -> Iterator[str]:
    """Have labels and scores checked that do worse than chance."""
    correlation = _defined(evaluation, "matthews_correlation")
    area = _defined(evaluation, "roc_auc")
    if correlation is not None and _ends(correlation)[1] < 0:
        yield (
            f"Check first whether labels are swapped: it does worse than chance (MCC "
            f"{with_interval(correlation)}): `truerisk score --positive LABEL`."
        )
    elif area is not None and _ends(area)[1] < 0.5:
        yield (
            f"Check first to which class the scores belong: they rank the wrong way round (AUC "
            f"{with_interval(area)}): `truerisk score --positive LABEL`."
        )


def a_class_is_missing(evaluation: Evaluation) -> Iterator[str]:
    """Ask for examples of the other classes, where there is one class only."""
    cells = _cells(evaluation)
    if cells is None or cells.multilabel:
        return
    truth = cells.class_counts().truth
    if np.count_nonzero(truth) == 1:
        label = cells.labels[int(np.argmax(truth))]
        yield (
            f"Add examples of the other classes: all {count(evaluation.n)} are {shown(label)}, and "
            "how well it tells classes apart cannot be seen: `truerisk score` again with both."
        )


def no_better_than_a_constant(evaluation: Evaluation) -> Iterator[str]:
    """Warn where a constant answer does as well; turn to rare classes where one is common."""
    reasons = {
        "always_one_answer": "it always gives one answer",
        "not_told_from_constant": "always giving the commonest answer may do as well",
        "worse_than_constant": "always giving the commonest answer does better",
    }
    accuracy, cells = _defined(evaluation, "accuracy"), _cells(evaluation)
    reason = next((reasons[code] for code in reasons if has_code(evaluation.verdict, code)), None)
    if reason is None or accuracy is None or cells is None:
        return
    trained = type(evaluation).__name__ != "Evaluation"
    counts = cells.class_counts()
    measures = ("recall", "precision") if "recall" in evaluation else ("recall_macro", "f1_macro")
    defined = [result for name in measures if (result := _defined(evaluation, name)) is not None]
    if defined and float(counts.truth.max() / counts.n) > COMMON:
        named = " and ".join(f"{title_of(one.measure)} {number(one.value)}" for one in defined)
        options = " ".join(f"--measure {one.measure}" for one in defined)
        f1 = "f1" if "recall" in evaluation else "f1_macro"
        command = f"estimate --model … --measure {f1}" if trained else f"score {options}"
        yield (
            f"Judge it by {named}, not by accuracy ({number(accuracy.value)}): {reason}: "
            f"`truerisk {command}`."
        )
    else:
        yield (
            f"Do not rely on it yet: it is right on {with_interval(accuracy)}, and {reason}; "
            "try other features or learners: `truerisk estimate --model`."
        )


def too_open(evaluation: Evaluation) -> Iterator[str]:
    """Say how many more examples would settle the headline measure that is most open."""
    widest = None
    for name in ("recall", "precision", "accuracy"):
        estimate = _defined(evaluation, name)
        least = WIDE if widest is None else max(WIDE, _width(widest))
        if estimate is not None and _width(estimate) > least:
            widest = estimate
    if widest is None:
        return
    half = _width(widest) / 2
    # Widths shrink with the root of the size, as in the verdict.
    needed = 10 * math.ceil(widest.n * (half / TARGET_HALF_WIDTH) ** 2 / 10)
    more = max(round(needed - widest.n, -1), 10)
    unit = UNITS.get(widest.measure, "examples")
    plan = f"--half-width {TARGET_HALF_WIDTH:g} --expected {widest.value:.2g}"
    if evaluation.level != USUAL_LEVEL:
        plan += f" --level {evaluation.level:g}"
    yield (
        f"Collect about {count(more)} more {unit}: {widest.measure} is known only to ±{half:.2f}, "
        f"and about {count(needed)} in all would give ±{TARGET_HALF_WIDTH:.2f}: `truerisk "
        f"plan {plan}`."
    )


def no_labels_yet(evaluation: Evaluation) -> Iterator[str]:
    """Ask for a threshold, where there are scores and no predicted labels."""
    if evaluation.tallies is None and isinstance(evaluation.curves.get("thresholds"), Sweep):
        yield (
            f"Choose a threshold: {count(evaluation.n)} examples have scores but no predicted "
            "labels: `truerisk threshold --best f1`, then `truerisk score --threshold`."
        )


def a_better_threshold(evaluation: Evaluation) -> Iterator[str]:
    """Point to a threshold that does clearly better here: outside the interval, and by enough."""
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep) or evaluation.tallies is None:
        return
    costs = evaluation.settings.get("costs")
    if isinstance(costs, Mapping) and costs and set(costs) <= set(OUTCOMES):
        name, values = "cost", -mean_cost(table, outcome_costs(costs))
    elif costs is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            name, values = "f1", 2.0 * table.tp / (2.0 * table.tp + table.fn + table.fp)
    else:
        return  # what a table of costs says of a threshold depends on its labels
    now = _defined(evaluation, name)
    if now is None or np.isnan(values).all():
        return
    at = int(np.nanargmax(values))
    sign = -1.0 if name == "cost" else 1.0
    best, threshold = sign * float(values[at]), float(table.threshold[at])
    low, high = _ends(now)
    clearly = best > max(high, now.value + F1_GAIN)
    if name == "cost":
        clearly = best < min(low, (1 - COST_GAIN) * now.value)
    if clearly and math.isfinite(threshold):
        option = " --costs …" if name == "cost" else ""
        yield (
            f"Try the threshold {threshold:.4g}: {title_of(name)} is {number(best)} there, now "
            f"{with_interval(now)}. Choose it on other examples than those it is judged on: "
            f"`truerisk threshold --best {name}{option}`."
        )


def badly_calibrated(evaluation: Evaluation) -> Iterator[str]:
    """Ask for recalibration, where probabilities are surely not what comes true."""
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep) or "brier_score" not in evaluation:
        return
    if has_code(evaluation.notes, "grouped"):
        return
    if table.tp.dtype.kind not in "iu" or table.threshold[-1] < 0 or table.threshold[1] > 1:
        return
    from truerisk.evaluation.curve_bands import calibration_intervals
    from truerisk.measures.calibration import calibration_curve

    curve = calibration_curve(table)
    band = calibration_intervals(curve, level=evaluation.level)
    outside = np.maximum(band.low - curve.mean_score, curve.mean_score - band.high)
    worst = int(np.argmax(outside))
    if outside[worst] > 0:
        yield (
            "Recalibrate the probabilities on other examples: of the "
            f"{count(int(curve.count[worst]))} scored {curve.mean_score[worst]:.2f} on average, "
            f"{100 * curve.share[worst]:.1f} % are positive: scikit-learn's "
            "`CalibratedClassifierCV`, then `truerisk score --probabilities`."
        )


def one_pair_of_classes(evaluation: Evaluation) -> Iterator[str]:
    """Point to the two classes that are mixed up, where they make most of the mistakes."""
    cells = _cells(evaluation)
    if cells is None or cells.multilabel or len(cells.labels) < 3:
        return
    true, predicted, wrong = cells.mistakes()
    total, size = float(wrong.sum()), len(cells.labels)
    if total < MIN_MISTAKES:
        return
    pairs, at = np.unique(
        np.minimum(true, predicted) * size + np.maximum(true, predicted), return_inverse=True
    )
    both = np.bincount(at, weights=wrong)
    most = float(both.max())
    if most > MAX_OF_MISTAKES * total:
        first, second = divmod(int(pairs[np.argmax(both)]), size)
        names = f"{shown(cells.labels[first])} and {shown(cells.labels[second])}"
        yield (
            f"Look at the examples of {names}: taking one for the other makes {count(most)} of "
            f"{count(total)} mistakes; `truerisk score` again once they are told apart, or merged."
        )


def classes_with_few_examples(evaluation: Evaluation) -> Iterator[str]:
    """Ask for examples of the classes that have too few to be judged by."""
    cells = _cells(evaluation)
    if cells is None or len(cells.labels) < 3 or evaluation.pos_label is not None:
        return
    truth = cells.class_counts().truth
    few = [at for at in np.argsort(truth, kind="stable").tolist() if 0 < truth[at] < FEW]
    if few:
        named = ", ".join(
            f"{shown(cells.labels[at])} ({count(truth[at])})" for at in few[:MAX_FEW_NAMED]
        )
        if len(few) > MAX_FEW_NAMED:
            named += f" and {len(few) - MAX_FEW_NAMED} more classes"
        yield (
            f"Collect examples of {named}: fewer than {FEW} say little about a class: `truerisk "
            "plan --half-width 0.1 --expected 0.5`."
        )


def perhaps_probabilities(evaluation: Evaluation) -> Iterator[str]:
    """Ask what scores within [0, 1] are, if it was not told."""
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep) or "brier_score" in evaluation or len(table) < 2:
        return
    if (
        table.threshold[-1] >= 0
        and table.threshold[1] <= 1
        and has_code(evaluation.notes, "scores_look_like_probabilities")
    ):
        yield (
            f"Say so if the scores, from {table.threshold[-1]:.3g} to {table.threshold[1]:.3g}, "
            "are probabilities, and their calibration is judged too: `truerisk score "
            "--probabilities`."
        )


def compare_with_the_present(evaluation: Evaluation) -> Iterator[str]:
    """Send predictions without a fault on to the comparison with what is in use."""
    del evaluation
    yield (
        "Compare it with the model in use, on the same examples, before it takes its place: "
        "`truerisk compare old.csv new.csv`."
    )


BEFORE_ALL: tuple[Rule, ...] = (swapped_labels, a_class_is_missing)


RULES: tuple[Rule, ...] = (
    no_better_than_a_constant,
    no_labels_yet,
    too_open,
    a_better_threshold,
    badly_calibrated,
    one_pair_of_classes,
    classes_with_few_examples,
)


def _cells(evaluation: Evaluation) -> Cells | None:
    return evaluation.tallies if isinstance(evaluation.tallies, Cells) else None


def _defined(evaluation: Evaluation, name: str) -> Estimate | None:
    result = evaluation.get(name)
    if result is None or result.interval is None or not result.is_defined:
        return None
    return None if result.interval.method == "undefined" else result


def _ends(estimate: Estimate) -> tuple[float, float]:
    interval = estimate.interval
    return (-math.inf, math.inf) if interval is None else (interval.low, interval.high)


def _width(estimate: Estimate) -> float:
    low, high = _ends(estimate)
    return high - low


def measure_forest(evaluation: Evaluation) -> doc.Forest:
    """Describe the measures that lie between 0 and 1, in groups; the others are named."""
    groups: dict[str, list[doc.Entry]] = {}
    others = []
    for name, estimate in evaluation.items():
        heading = _group_of(name).heading
        if heading:
            groups.setdefault(heading, []).append(doc.Entry(title_of(name), estimate))
        else:
            others.append(name)
    if not groups:
        return doc.forest_of([replace(evaluation[name], measure=name) for name in others])
    rows = [row for heading, result in groups.items() for row in (doc.Entry(heading), *result)]
    note = f"On other scales: {', '.join(map(title_of, others))}" if others else ""
    return doc.Forest(rows=rows, note=note, span=doc.SHARE_RANGE)


def class_sizes(evaluation: Evaluation) -> dict[str, float]:
    """Count the examples of each class, the most frequent first; 0 where nobody counted."""
    if evaluation.tallies is None:
        return dict.fromkeys(evaluation.by_class, 0)
    counts = evaluation.tallies.class_counts().truth.tolist()
    defined = dict(zip(evaluation.tallies.labels, counts, strict=True))
    sizes = {label: defined.get(label, 0) for label in evaluation.by_class}
    return dict(sorted(sizes.items(), key=lambda pair: -pair[1]))


def class_forest(
    by_class: Mapping[str, Mapping[str, Estimate]],
    sizes: Mapping[str, float],
    held_out: Mapping[str, Mapping[str, Estimate]] = MappingProxyType({}),
) -> doc.Forest:
    """Describe the F1 of the most frequent classes, beside it that on held-out examples."""
    shown_names = list(sizes)[:MAX_DRAWN_CLASSES]
    titles = [
        f"{visible(name, most=LONGEST_NAME)} ({count(sizes[name])})" if sizes[name] else name
        for name in shown_names
    ]
    offered = by_class[shown_names[0]]
    measure = "f1" if "f1" in offered else next(iter(offered))
    left_out = len(sizes) - len(shown_names)
    words = title_of(measure)
    return doc.Forest(
        rows=[
            doc.Entry(title, by_class[name][measure])
            for name, title in zip(shown_names, titles, strict=True)
        ],
        note=f"{words}; {left_out:,} rarer ones are not drawn" if left_out else words,
        span=doc.SHARE_RANGE,
        extra_dots={
            row: held_out[name][measure].value
            for row, name in enumerate(shown_names)
            if name in held_out and measure in held_out[name]
        },
        extra_words="on the documents held out",
    )
