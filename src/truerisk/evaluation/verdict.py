"""What the numbers say in words: what is sure, what is not, and which measure misleads here.

Each rule looks at the evaluation and says one thing, or nothing.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truerisk.checks import shown
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.intervals.cell_sample import CellSample
from truerisk.intervals.choose import proportion_interval
from truerisk.results import Estimate, Finding, Interval, has_code
from truerisk.tallies.cells import Cells, Proportion

RARE = 0.1  # a class with a smaller share makes accuracy misleading
WIDE = 0.2  # an interval wider than this leaves the question open
TARGET_HALF_WIDTH = 0.05
GAP = 0.1  # a macro average this far under the micro average is worth a sentence

LEAD_WHERE_ACCURACY_MISLEADS = ("positive_class", "accuracy_misleads")


@dataclass(frozen=True)
class Evidence:
    """What the rules look at."""

    tallies: Tallies
    estimates: Mapping[str, Estimate]
    by_class: Mapping[str, Mapping[str, Estimate]]

    def defined(self, name: str) -> Estimate | None:
        """Give an estimate that exists, with an interval and a value of its own."""
        estimate = self.estimates.get(name)
        if estimate is None or estimate.interval is None or _is_undefined(estimate):
            return None
        return estimate


def verdict_of(
    tallies: Tallies,
    estimates: Mapping[str, Estimate],
    by_class: Mapping[str, Mapping[str, Estimate]],
) -> Iterator[Finding]:
    """Give the findings, each a plain sentence with its code; what matters most comes first."""
    evidence = Evidence(tallies, estimates, by_class)
    findings = [finding for rule in RULES for finding in rule(evidence)]
    if has_code(findings, "accuracy_misleads"):
        findings.sort(key=lambda finding: finding.code not in LEAD_WHERE_ACCURACY_MISLEADS)
    yield from findings


def how_often_right(evidence: Evidence) -> Iterator[Finding]:
    """Compare accuracy with what the commonest answer would reach."""
    accuracy, cells = evidence.defined("accuracy"), evidence.tallies.cells
    if accuracy is None or accuracy.interval is None or cells is None:
        return
    what = "has every label right" if cells.multilabel else "is right"
    yield Finding(f"It {what} on {_percent(accuracy)} of the examples.", code="right_share")
    if cells.multilabel:
        return
    counts = cells.class_counts()
    commonest = int(np.argmax(counts.truth))
    share = float(counts.truth[commonest] / counts.n)
    label = shown(cells.labels[commonest])
    constant = f"always answering {label}, which is right on {100 * share:.1f} %"
    if counts.predicted[commonest] == counts.n:
        text = f"On these it always answers {label}, as a constant would."
        yield Finding(text, code="always_one_answer")
        return
    level = accuracy.interval.level
    won = _won_against(cells, commonest, level)
    # The commonest class was chosen on these examples, of all classes: what is said against the
    # classifier must hold against each of them (Bonferroni).
    strict = 1 - (1 - level) / len(cells.labels)
    if won.low > 0.5:
        yield Finding(f"Sure: that is better than {constant}.", code="better_than_constant")
    elif won.high < 0.5 and _won_against(cells, commonest, strict).high < 0.5:
        yield Finding(f"Sure: that is worse than {constant}.", code="worse_than_constant")
    else:
        text = f"Not sure: that cannot be told from {constant}."
        yield Finding(text, code="not_told_from_constant")


def _won_against(cells: Cells, label: int, level: float) -> Interval:
    """Give the interval of the share won, of the examples on which only one of the two is right.

    The other always answers `label`.  This is the exact sign test of the paired difference.
    """
    right, other_right = cells.right, cells.truth.has(label)
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


def accuracy_misleads(evidence: Evidence) -> Iterator[Finding]:
    """Warn where one class is so common that accuracy says little."""
    cells = evidence.tallies.cells
    if cells is None or cells.multilabel or "accuracy" not in evidence.estimates:
        return
    counts = cells.class_counts()
    share = float(counts.truth.max() / counts.n)
    if 1 - RARE < share < 1:
        rest = "precision and recall" if len(cells.labels) == 2 else "the macro averages"
        yield Finding(
            f"Accuracy and error rate mislead here: {100 * share:.1f} % of the examples are of one "
            f"class. Look at {rest}.",
            code="accuracy_misleads",
        )


def what_it_finds(evidence: Evidence) -> Iterator[Finding]:
    """Say what recall and precision mean for the positive class."""
    pos_label = evidence.tallies.pos_label
    recall, precision = evidence.defined("recall"), evidence.defined("precision")
    if pos_label is None:
        return
    if recall is not None:
        text = f"Of the examples that are {shown(pos_label)} it finds {_percent(recall)}."
        yield Finding(text, code="positive_class")
    if precision is not None:
        text = f"Of those it calls {shown(pos_label)}, {_percent(precision)} are."
        yield Finding(text, code="positive_class")


def no_better_than_chance(evidence: Evidence) -> Iterator[Finding]:
    """Say so where truth and prediction may as well be unrelated."""
    correlation = evidence.defined("matthews_correlation")
    if correlation is not None and correlation.interval is not None:
        if correlation.interval.covers(0.0):
            text = "Not sure: predictions and truth may be unrelated (the MCC interval contains 0)."
            yield Finding(text, code="maybe_unrelated")
        elif correlation.interval.high < 0:
            text = "Sure: it does worse than chance (MCC is below 0); are the labels swapped?"
            yield Finding(text, code="worse_than_chance")


def how_it_ranks(evidence: Evidence) -> Iterator[Finding]:
    """Say what the AUC means, and when the scores look reversed."""
    auc = evidence.defined("roc_auc")
    if auc is None or auc.interval is None:
        return
    if auc.interval.high < 0.5:
        yield Finding(
            f"The AUC of {auc.value:.3f} is below chance: the scores may belong to the other "
            "class.",
            code="scores_reversed",
        )
    elif auc.value < 0.5:
        yield Finding(
            f"Not sure: the AUC of {auc.value:.3f} is below chance, but its interval contains ½; "
            "the scores may belong to the other class.",
            code="scores_maybe_reversed",
        )
    elif auc.interval.covers(0.5):
        text = "Not sure: the scores may rank no better than chance (the AUC interval contains ½)."
        yield Finding(text, code="ranking_not_told_from_chance")
    else:
        text = f"A positive outranks a negative with probability {auc.value:.3f} {_range(auc)}."
        yield Finding(text, code="ranking")


def what_is_too_open(evidence: Evidence) -> Iterator[Finding]:
    """Name the headline measures that rest on too little, and how much would do."""
    for name in ("recall", "precision", "accuracy"):
        estimate = evidence.defined(name)
        if estimate is None or estimate.interval is None or estimate.interval.width <= WIDE:
            continue
        half = estimate.interval.width / 2
        # Widths shrink with the root of the size: near enough for "about".
        needed = 10 * math.ceil(estimate.n * (half / TARGET_HALF_WIDTH) ** 2 / 10)
        units = {"recall": "positive examples", "precision": "examples called positive"}
        unit = units.get(name, "examples")
        unit = unit.replace("examples", "example") if estimate.n == 1 else unit
        yield Finding(
            f"Open: {name} is known only to ±{half:.2f}, from {estimate.n:.0f} {unit}; "
            f"about {needed} would give ±{TARGET_HALF_WIDTH:.2f}.",
            code="too_open",
        )


def small_classes_do_worse(evidence: Evidence) -> Iterator[Finding]:
    """Compare macro with micro averages, and name the weakest class."""
    micro, macro = evidence.defined("f1_micro"), evidence.defined("f1_macro")
    if micro is not None and macro is not None and micro.value - macro.value > GAP:
        yield Finding(
            f"Small classes do worse: F1 is {micro.value:.3f} over all decisions but "
            f"{macro.value:.3f} over classes.",
            code="small_classes_worse",
        )
    recalls = {
        label: measures["recall"]
        for label, measures in evidence.by_class.items()
        if "recall" in measures and measures["recall"].is_defined
    }
    if len(recalls) > 2:
        label = min(recalls, key=lambda one: recalls[one].value)
        text = f"The weakest class is {shown(label)}: it finds {_percent(recalls[label])} of it."
        yield Finding(text, code="weakest_class")


def what_was_rejected(evidence: Evidence) -> Iterator[Finding]:
    """Remind that the other measures are of the accepted examples."""
    rate = evidence.defined("rejection_rate")
    if rate is not None:
        text = f"It refuses to answer on {_percent(rate)}; the measures are of what it answered."
        yield Finding(text, code="rejected")


def what_is_undefined(evidence: Evidence) -> Iterator[Finding]:
    """List the measures without a value, with the reason."""
    reasons: dict[str, list[str]] = {}
    for name, estimate in evidence.estimates.items():
        if _is_undefined(estimate) and estimate.notes:
            reasons.setdefault(estimate.notes[0].removeprefix("undefined: "), []).append(name)
    for reason, names in reasons.items():
        text = f"Undefined, because {reason}: {', '.join(names)}."
        yield Finding(text, code="undefined")


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
    """Whether there is no value, or only one that was set in its place."""
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
