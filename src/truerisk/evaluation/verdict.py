"""What the numbers say in words: what is sure, what is not, and which measure misleads here.

Each rule looks at the evaluation and says one thing, or nothing.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truerisk.checks import shown
from truerisk.evaluation.cell_sample import CellSample
from truerisk.evaluation.count_intervals import proportion_interval
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.measures.proportion import Proportion
from truerisk.results import Estimate, Interval
from truerisk.tallies.cells import Cells

RARE = 0.1  # a class with a smaller share makes accuracy misleading
WIDE = 0.2  # an interval wider than this leaves the question open
WANTED_HALF_WIDTH = 0.05
GAP = 0.1  # a macro average this far under the micro average is worth a sentence


@dataclass(frozen=True)
class Findings:
    """What the rules look at."""

    tallies: Tallies
    estimates: Mapping[str, Estimate]
    by_class: Mapping[str, Mapping[str, Estimate]]

    def defined(self, name: str) -> Estimate | None:
        """Give an estimate that exists and has a value, not one set to it, and an interval."""
        found = self.estimates.get(name)
        if found is None or found.interval is None or _is_undefined(found):
            return None
        return found


def verdict_of(
    tallies: Tallies,
    estimates: Mapping[str, Estimate],
    by_class: Mapping[str, Mapping[str, Estimate]],
) -> Iterator[str]:
    """Say in plain sentences what was found."""
    findings = Findings(tallies, estimates, by_class)
    for rule in RULES:
        yield from rule(findings)


def how_often_right(findings: Findings) -> Iterator[str]:
    """Compare accuracy with what the commonest answer would reach."""
    accuracy, cells = findings.defined("accuracy"), findings.tallies.cells
    if accuracy is None or accuracy.interval is None or cells is None:
        return
    what = "has every label right" if cells.multilabel else "is right"
    yield f"It {what} on {_percent(accuracy)} of the examples."
    if cells.multilabel:
        return
    counts = cells.class_counts()
    commonest = int(np.argmax(counts.truth))
    share = float(counts.truth[commonest] / counts.n)
    beside = (
        f"always answering {shown(cells.labels[commonest])}, which is right on {100 * share:.1f} %"
    )
    if counts.predicted[commonest] == counts.n:
        yield f"On these it always answers {shown(cells.labels[commonest])}, as a constant would."
        return
    won = _won_against(cells, commonest, accuracy.interval.level)
    if won.low > 0.5:
        yield f"Sure: that is better than {beside}."
    elif won.high < 0.5:
        yield f"Sure: that is worse than {beside}."
    else:
        yield f"Not sure: that cannot be told from {beside}."


def _won_against(cells: Cells, label: int, level: float) -> Interval:
    """Give the interval of the share won, of the examples on which only one of the two is right.

    The other always answers `label`.  This is the exact sign test of the paired difference.
    """
    right = np.asarray((cells.truth == cells.predicted).all(axis=1))
    other_right = cells.truth[:, label]
    design = np.column_stack([right & ~other_right, right != other_right]).astype(np.float64)
    sample = CellSample(
        cells.totals, design, cells.squares, cells.by_group, judgements=cells.judgements
    )
    return proportion_interval(
        sample,
        lambda features: Proportion(features[..., 0], features[..., 1]),
        level=level,
        method="clopper_pearson",
    )


def accuracy_misleads(findings: Findings) -> Iterator[str]:
    """Warn where one class is so common that accuracy says little."""
    cells = findings.tallies.cells
    if cells is None or cells.multilabel or "accuracy" not in findings.estimates:
        return
    counts = cells.class_counts()
    share = float(counts.truth.max() / counts.n)
    if 1 - RARE < share < 1:
        rest = "precision and recall" if len(cells.labels) == 2 else "the macro averages"
        yield (
            f"Accuracy and error rate mislead here: {100 * share:.1f} % of the examples are of one "
            f"class. Look at {rest}."
        )


def what_it_finds(findings: Findings) -> Iterator[str]:
    """Say what recall and precision mean for the positive class."""
    pos_label = findings.tallies.pos_label
    recall, precision = findings.defined("recall"), findings.defined("precision")
    if pos_label is None:
        return
    if recall is not None:
        yield f"Of the examples that are {shown(pos_label)} it finds {_percent(recall)}."
    if precision is not None:
        yield f"Of those it calls {shown(pos_label)}, {_percent(precision)} are."


def no_better_than_chance(findings: Findings) -> Iterator[str]:
    """Say so where truth and prediction may as well be unrelated."""
    correlation = findings.defined("matthews_correlation")
    if correlation is not None and correlation.interval is not None:
        if correlation.interval.covers(0.0):
            yield "Not sure: predictions and truth may be unrelated (the MCC interval contains 0)."
        elif correlation.interval.high < 0:
            yield "Sure: it does worse than chance (MCC is below 0); are the labels swapped?"


def how_it_ranks(findings: Findings) -> Iterator[str]:
    """Say what the AUC means, and when the scores look reversed."""
    auc = findings.defined("roc_auc")
    if auc is None or auc.interval is None:
        return
    if auc.interval.high < 0.5:
        yield (
            f"The AUC of {auc.value:.3f} is below chance: the scores may belong to the other class."
        )
    elif auc.value < 0.5:
        yield (
            f"Not sure: the AUC of {auc.value:.3f} is below chance, but its interval contains ½; "
            "the scores may belong to the other class."
        )
    elif auc.interval.covers(0.5):
        yield "Not sure: the scores may rank no better than chance (the AUC interval contains ½)."
    else:
        yield f"A positive outranks a negative with probability {auc.value:.3f} {_range(auc)}."


def what_is_too_open(findings: Findings) -> Iterator[str]:
    """Name the headline measures that rest on too little, and how much would do."""
    for name in ("recall", "precision", "accuracy"):
        found = findings.defined(name)
        if found is None or found.interval is None or found.interval.width <= WIDE:
            continue
        half = found.interval.width / 2
        # Widths shrink with the root of the size: near enough for "about".
        needed = 10 * math.ceil(found.n * (half / WANTED_HALF_WIDTH) ** 2 / 10)
        units = {"recall": "positive examples", "precision": "examples called positive"}
        unit = units.get(name, "examples")
        unit = unit.replace("examples", "example") if found.n == 1 else unit
        yield (
            f"Open: {name} is known only to ±{half:.2f}, from {found.n:.0f} {unit}; "
            f"about {needed} would give ±{WANTED_HALF_WIDTH:.2f}."
        )


def small_classes_do_worse(findings: Findings) -> Iterator[str]:
    """Compare macro with micro averages, and name the weakest class."""
    micro, macro = findings.defined("f1_micro"), findings.defined("f1_macro")
    if micro is not None and macro is not None and micro.value - macro.value > GAP:
        yield (
            f"Small classes do worse: F1 is {micro.value:.3f} over all decisions but "
            f"{macro.value:.3f} over classes."
        )
    recalls = {
        label: measures["recall"]
        for label, measures in findings.by_class.items()
        if "recall" in measures and measures["recall"].is_defined
    }
    if len(recalls) > 2:
        label = min(recalls, key=lambda one: recalls[one].value)
        yield f"The weakest class is {shown(label)}: it finds {_percent(recalls[label])} of it."


def what_was_rejected(findings: Findings) -> Iterator[str]:
    """Remind that the other measures are of the accepted examples."""
    rate = findings.defined("rejection_rate")
    if rate is not None:
        yield f"It refuses to answer on {_percent(rate)}; the measures are of what it answered."


def what_is_undefined(findings: Findings) -> Iterator[str]:
    """List the measures without a value, with the reason."""
    reasons: dict[str, list[str]] = {}
    for name, estimate in findings.estimates.items():
        if _is_undefined(estimate) and estimate.notes:
            reasons.setdefault(estimate.notes[0].removeprefix("undefined: "), []).append(name)
    for reason, names in reasons.items():
        yield f"Undefined, because {reason}: {', '.join(names)}."


RULES = (
    how_often_right,
    accuracy_misleads,
    what_it_finds,
    no_better_than_chance,
    how_it_ranks,
    small_classes_do_worse,
    what_was_rejected,
    what_is_too_open,
    what_is_undefined,
)


def _is_undefined(estimate: Estimate) -> bool:
    """Whether there is no value, or only one that was asked for in its place."""
    stand_in = estimate.interval is not None and estimate.interval.method == "undefined"
    return stand_in or not estimate.is_defined


def _percent(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return f"{100 * estimate.value:.1f} %"
    low, high = 100 * interval.low, 100 * interval.high
    # As many digits as it takes to tell the ends apart.
    digits = min(max(math.ceil(-math.log10(max(high - low, 1e-12))), 1), 12)
    level = 100 * interval.level
    return (
        f"{100 * estimate.value:.{digits}f} % ({low:.{digits}f} to {high:.{digits}f} % "
        f"at {level:g} % confidence)"
    )


def _range(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None or math.isnan(interval.low):
        return ""
    return f"({interval.low:.3f} to {interval.high:.3f})"
