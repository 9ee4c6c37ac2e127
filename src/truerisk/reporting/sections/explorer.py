"""Evaluation → the threshold explorer: exact counts at up to 1,000 thresholds, and what to call it.

The page computes every measure and its interval from these counts (`interval_numbers.js`), and
what it shows is what `evaluate` gives at that threshold, digit by digit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.intervals.chosen_thresholds import kept_by_order
from truerisk.intervals.distributions import normal_quantile
from truerisk.measures.costs import OUTCOMES
from truerisk.measures.curves import upper_hull
from truerisk.measures.registry import Measure, find_measure, measures_that_need, title_of
from truerisk.measures.thresholds import (
    Sweep,
    counts_of_labels,
    with_given_threshold,
    working_threshold,
)
from truerisk.reporting.document import SENTENCE, Axis, Section
from truerisk.reporting.escaping import json_for_page, visible
from truerisk.reporting.sections.score_charts import costs_of
from truerisk.reporting.wording import count, percent
from truerisk.results import Evaluation, as_plain, has_code
from truerisk.tallies.cells import Cells
from truerisk.tallies.ranking import breakeven_of

BAND_STEPS = 100  # of the slider of the rejection band, at most
SHORT_NAME = 40  # characters of a class that stand in a sentence; the page has all of it elsewhere
TITLE = "The threshold explorer"
CALLED = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}  # true, called positive
MAX_THRESHOLDS = 1000
EQUAL_COSTS = {"tp": 0.0, "fp": 1.0, "fn": 1.0, "tn": 0.0}
GUARANTEED_RECALL = 0.95


@dataclass(frozen=True)
class Mark:
    """A threshold worth a visit: a letter on the axis, words on a button, and its row."""

    letter: str
    words: str
    row: int | None  # None: it depends on the costs, and the page finds it
    explained: str


def explorer_section(evaluation: Evaluation) -> Section | None:
    """Give the explorer; None unless there are two classes and one column of scores."""
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep) or len(evaluation.labels) != 2 or evaluation.pos_label is None:
        return None
    if len(table) > 1 and table.threshold[1] == np.inf:  # no threshold reaches the row above it
        table = Sweep(*(getattr(table, name)[1:] for name in ("threshold", *OUTCOMES)))
    table = with_given_threshold(evaluation, table)
    working = _row_at(table, _start(evaluation, table))
    marks = list(_marks(evaluation, table, working))
    rows = explorer_rows(table, [working, *(mark.row for mark in marks if mark.row is not None)])
    unsure = _no_intervals(evaluation, table)
    offered = list(_measures(evaluation))
    measures = [measure for measure in offered if measure.is_live]
    others = [title_of(measure.name) for measure in offered if not measure.is_live]
    names, order = dict(enumerate(_labels(evaluation))), _order(evaluation)
    places = {mark.letter: mark.row for mark in marks}
    slices = sliced_scores(evaluation)
    numbers = {
        "threshold": table.threshold[rows],
        "tp": table.tp[rows],
        "fp": table.fp[rows],
        "positives": table.tp[-1],
        "negatives": table.fp[-1],
        "positive": names[1],
        "start": _start(evaluation, table),
        "marks": {
            key: None if row is None else int(np.searchsorted(rows, row))
            for key, row in places.items()
        },
        "costs": costs_of(evaluation) or EQUAL_COSTS,
        # The order of the cells: sorted by true and by called label.
        "cost_order": sorted(OUTCOMES, key=lambda name: [order[at] for at in CALLED[name]]),
        "measures": [_measure_numbers(measure) for measure in measures],
        "level": evaluation.level,
        "normal_quantile": -float(normal_quantile((1 - evaluation.level) / 2)),
        "zero_division": evaluation.settings.get("zero_division"),
        "band_step": _band_step(table),
        "has_intervals": not unsure,
        "weighted": _is_weighted(table),
        "slices": [_slice_counts(one.evaluation, table.threshold[rows]) for one in slices.values()],
    }
    data = {
        "json": json_for_page(as_plain(numbers)),
        "labels": names,
        "order": [int(label == evaluation.pos_label) for label in evaluation.labels],
        "marks": [{"letter": m.letter, "words": m.words, "explained": m.explained} for m in marks],
        "costs": [
            {"name": name, "true": names[true], "called": names[called]}
            for name, (true, called) in CALLED.items()
        ],
        "measures": [{"name": one.name, "title": visible(title_of(one.name))} for one in measures],
        "left_out": visible(", ".join(others), most=SENTENCE),
        "steps": _steps(table, rows),
        "last": len(rows) - 1,
        "intervals": unsure
        or f"{percent(evaluation.level)} intervals, computed here from the counts: Clopper and "
        "Pearson's for shares, Wilson's for means of recalls, the delta method on smoothed cells "
        "for the rest.",
        "has_intervals": not unsure,
        "slices": [f"{visible(name)} ({count(one.n)})" for name, one in slices.items()],
    }
    lead = (
        f"Called {names[1]} is what scores at least the threshold. Move it, or leave the unsure "
        "ones in a band about it to people, and say what mistakes cost: all numbers follow. What "
        "is best on these examples looks better on them than it will on others: choose on one "
        "set, and measure on another."
    )
    return Section("explorer", TITLE, data, lead)


def sliced_scores(evaluation: Evaluation) -> dict[str, Any]:
    """Give the slices that the explorer can show, in their order: those that have scores."""
    return {
        name: one
        for name, one in evaluation.slices.items()
        if isinstance(one.evaluation.curves.get("thresholds"), Sweep)
    }


def _slice_counts(part: Evaluation, thresholds: Array) -> dict[str, Any]:
    """Count what a slice has at the thresholds of all examples."""
    table: Sweep = part.curves["thresholds"]
    at = np.maximum(np.searchsorted(-table.threshold, -thresholds, side="right") - 1, 0)
    return {
        "tp": table.tp[at],
        "fp": table.fp[at],
        "positives": table.tp[-1],
        "negatives": table.fp[-1],
    }


def _row_at(table: Sweep, threshold: float) -> int:
    """Find the row of a threshold: that of the lowest score that is at least as high."""
    return max(int(np.searchsorted(-table.threshold, -threshold, side="right")) - 1, 0)


def _start(evaluation: Evaluation, table: Sweep) -> float:
    result = working_threshold(evaluation)
    return float(table.threshold[len(table) // 2]) if result is None else result


def _marks(evaluation: Evaluation, table: Sweep, working: int) -> Iterator[Mark]:
    yield Mark("C", "Cheapest", None, "least cost an example, at the costs in the fields")
    n_positive = float(table.tp[-1])
    if n_positive > 0:
        result = table.tp + table.fp
        f1 = 2 * table.tp / (n_positive + result)
        yield Mark("F", "Best F1", int(np.argmax(f1)), "the greatest F1 on these examples")
        # Above every score nothing is found: no precision, and no breakeven there.
        met = breakeven_of(
            table.threshold[result > 0], table.tp[result > 0], result[result > 0], n_positive
        )
        words = "precision and recall are equal" + (", or nearly" if met.interpolated else "")
        yield Mark("B", "Breakeven", _row_at(table, met.threshold), words)
        guaranteed = kept_by_order(
            table.fn, int(n_positive), 1 - GUARANTEED_RECALL, 1 - evaluation.level
        )
        if guaranteed.any() and not _no_intervals(evaluation, table):
            words = f"on new examples, too, with {percent(evaluation.level)} confidence"
            row = int(np.argmax(guaranteed))
            yield Mark("G", f"Recall of at least {percent(GUARANTEED_RECALL)}", row, words)
    if "threshold" in evaluation.settings:
        yield Mark("E", "As evaluated", working, "the threshold that was given")
    elif _makes_the_predictions(evaluation, table, working):
        yield Mark("E", "As evaluated", working, "the counts of the predicted labels")


def _makes_the_predictions(evaluation: Evaluation, table: Sweep, row: int) -> bool:
    """Say whether a row has the counts of the predicted labels."""
    counts = counts_of_labels(evaluation)
    return counts is not None and all(
        math.isclose(counts[name], float(getattr(table, name)[row])) for name in OUTCOMES
    )


def _no_intervals(evaluation: Evaluation, table: Sweep) -> str:
    """Say why counts alone would give no interval here; nothing where they do."""
    cells = evaluation.tallies if isinstance(evaluation.tallies, Cells) else None
    if cells is not None and cells.judgements is not None:
        reason = "Several refits judged each example"
    elif has_code(evaluation.notes, "grouped"):
        reason = "The examples come in groups"
    elif _is_weighted(table):
        reason = "The examples are weighted"
    else:
        return ""
    return (
        f"{reason}: how many are found at a threshold does not say how much that varies, so only "
        "values are shown here."
    )


def _is_weighted(table: Sweep) -> bool:
    return table.tp.dtype.kind == "f"  # counts are whole numbers


def _measures(evaluation: Evaluation) -> Iterator[Measure]:
    """List the measures of counts of two classes, in the order in which they are evaluated."""
    yield find_measure("rejection_rate")
    for measure in measures_that_need("class counts"):
        if not measure.label_sets:
            yield measure
    for measure in measures_that_need("binary counts"):
        if measure.name not in {"f_beta", "e_beta"}:
            yield measure
    for name in evaluation:
        try:
            result = find_measure(name)
        except InputError:
            continue
        if "beta" in result.parameters:
            yield result


def _measure_numbers(measure: Measure) -> dict[str, Any]:
    low, high = measure.measure_range
    return {
        "name": measure.name,
        "formula": measure.function.__name__,
        "beta": measure.parameters.get("beta"),
        "low": low,
        "high": high,
        "undefined": measure.undefined,
    }


def _order(evaluation: Evaluation) -> list[str]:
    """Give the two labels, the positive one last."""
    return sorted(evaluation.labels, key=lambda label: label == evaluation.pos_label)


def _labels(evaluation: Evaluation) -> list[str]:
    return [visible(label, most=SHORT_NAME) for label in _order(evaluation)]


def _band_step(table: Sweep) -> float:
    """Give a round step that takes the band over the range of the scores in 40 to 100 of them."""
    # Halves, for the whole range of the largest numbers is none of them.
    defined = table.threshold[np.isfinite(table.threshold)] / 2
    half = float(defined.max() - defined.min()) if len(defined) else 0.0
    if half <= 0:
        return 1 / BAND_STEPS
    return Axis.around(0.0, half, ticks=BAND_STEPS // 2).ticks[1]


def _steps(table: Sweep, rows: Indices) -> str:
    if len(rows) == len(table):
        above = "" if table.tp[0] + table.fp[0] else ", and one above them all"
        return f"{count(len(rows))} steps: every distinct score{above}."
    return (
        f"{count(len(rows))} steps, with exact counts at each; a threshold between two of them "
        "is taken at the next higher one."
    )


def explorer_rows(table: Sweep, always: list[int]) -> Indices:
    """Choose at most 1,000 rows of a sweep: all, or evenly many by what is found, and the best.

    Always among them are the ends, those requested, and the corners of the ROC hull (whatever the
    costs, one of them is cheapest), thinned evenly where they are too many.
    """
    n = len(table)
    if n <= MAX_THRESHOLDS:
        return np.arange(n)
    first = np.unique([0, n - 1, *always])
    x, y = table.fp.astype(np.float64), table.tp.astype(np.float64)
    hull = np.union1d(upper_hull(x, y), upper_hull(x, -y))  # above the curve, and below it
    room = MAX_THRESHOLDS - len(first)
    if len(hull) > room:
        hull = hull[np.linspace(0, len(hull) - 1, room).round().astype(np.intp)]
    chosen = np.union1d(first, hull)
    # As many steps as fit: rows that are chosen twice leave room for further ones.
    few, many = 0, MAX_THRESHOLDS
    while few < many:
        steps = (few + many + 1) // 2
        if len(np.union1d(chosen, _even(table, steps))) <= MAX_THRESHOLDS:
            few = steps
        else:
            many = steps - 1
    return np.union1d(chosen, _even(table, few))


def _even(table: Sweep, steps: int) -> Indices:
    """Give the rows that find so many equal parts of the positives, and of the negatives."""
    rows = [
        np.searchsorted(result, np.linspace(0, float(result[-1]), steps))
        for result in (table.tp, table.fp)
    ]
    return np.unique(np.concatenate(rows)).clip(max=len(table) - 1)
