"""What to do next about the measures of a set of predictions: one rule a function."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.evaluation.verdict import TARGET_HALF_WIDTH, WIDE
from truerisk.measures.thresholds import OUTCOMES, Sweep, mean_cost, outcome_costs
from truerisk.reporting.next_steps.steps import Rule, by_rules
from truerisk.reporting.wording import count, number, title_of, written
from truerisk.results import Estimate, Evaluation, has_code
from truerisk.tallies.cells import Cells

COMMON = 0.6  # a class with a larger share makes a constant answer look good
F1_GAIN, COST_GAIN = 0.02, 0.05  # less is not worth another threshold, even if it is sure
FEW = 30  # examples of a class, which tell its recall to ±0.19 at worst
USUAL_LEVEL = 0.95  # which `truerisk plan` takes unless told otherwise
MAX_NAMED = 3
MAX_OF_MISTAKES = 0.5
MIN_MISTAKES = 10
UNITS = {"recall": "positive examples", "precision": "examples called positive"}


def predictions_steps(evaluation: Evaluation) -> Iterator[str]:
    """Say what to do about predictions that were scored."""
    before_all = [step for rule in BEFORE_ALL for step in rule(evaluation)]
    if before_all:  # until that is done the other numbers mislead
        yield from before_all
        return
    yield from by_rules(evaluation, RULES, compare_with_the_present)
    yield from perhaps_probabilities(evaluation)


def swapped_labels(evaluation: Evaluation) -> Iterator[str]:
    """Have labels and scores checked that do worse than chance."""
    correlation, area = (
        _defined(evaluation, "matthews_correlation"),
        _defined(evaluation, "roc_auc"),
    )
    if correlation is not None and _ends(correlation)[1] < 0:
        yield (
            f"Check first whether labels are swapped: it does worse than chance (MCC "
            f"{_told(correlation)}): `truerisk score --positive LABEL`."
        )
    elif area is not None and _ends(area)[1] < 0.5:
        yield (
            f"Check first to which class the scores belong: they rank the wrong way round (AUC "
            f"{_told(area)}): `truerisk score --positive LABEL`."
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
    known = [found for name in measures if (found := _defined(evaluation, name)) is not None]
    if known and float(counts.truth.max() / counts.n) > COMMON:
        named = " and ".join(f"{title_of(one.measure)} {number(one.value)}" for one in known)
        options = " ".join(f"--measure {one.measure}" for one in known)
        f1 = "f1" if "recall" in evaluation else "f1_macro"
        command = f"estimate --model … --measure {f1}" if trained else f"score {options}"
        yield (
            f"Judge it by {named}, not by accuracy ({number(accuracy.value)}): {reason}: "
            f"`truerisk {command}`."
        )
    else:
        yield (
            f"Do not rely on it yet: it is right on {_told(accuracy)}, and {reason}; try other "
            "features or learners: `truerisk estimate --model`."
        )


def too_open(evaluation: Evaluation) -> Iterator[str]:
    """Say how many more examples would settle the headline measure that is most open."""
    widest = None
    for name in ("recall", "precision", "accuracy"):
        found = _defined(evaluation, name)
        if found is not None and _width(found) > max(WIDE, 0 if widest is None else _width(widest)):
            widest = found
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
        name, values = "f1", _f1(table)
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
            f"{_told(now)}. Choose it on other examples than those it is judged on: `truerisk "
            f"threshold --best {name}{option}`."
        )


def badly_calibrated(evaluation: Evaluation) -> Iterator[str]:
    """Ask for recalibration, where probabilities are surely not what comes true."""
    table = evaluation.curves.get("thresholds")
    grouped = getattr(evaluation.tallies, "by_group", None) is not None
    if not isinstance(table, Sweep) or "brier_score" not in evaluation or grouped:
        return
    if table.tp.dtype.kind not in "iu" or table.threshold[-1] < 0 or table.threshold[1] > 1:
        return
    from truerisk.evaluation.curve_bands import calibration_intervals  # noqa: PLC0415  (rare)
    from truerisk.measures.calibration import calibration_curve  # noqa: PLC0415

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
    counts = cells.confusion()
    wrong = counts - np.diag(np.diag(counts))
    both = np.triu(wrong + wrong.T)
    total, most = float(wrong.sum()), float(both.max())
    if total >= MIN_MISTAKES and most > MAX_OF_MISTAKES * total:
        first, second = np.unravel_index(int(np.argmax(both)), both.shape)
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
            f"{shown(cells.labels[at])} ({count(truth[at])})" for at in few[:MAX_NAMED]
        )
        if len(few) > MAX_NAMED:
            named += f" and {len(few) - MAX_NAMED} more classes"
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
    found = evaluation.get(name)
    if found is None or found.interval is None or not found.is_defined:
        return None
    return None if found.interval.method == "undefined" else found


def _ends(estimate: Estimate) -> tuple[float, float]:
    interval = estimate.interval
    return (-math.inf, math.inf) if interval is None else (interval.low, interval.high)


def _width(estimate: Estimate) -> float:
    low, high = _ends(estimate)
    return high - low


def _told(estimate: Estimate) -> str:
    words = written(estimate)
    return f"{words.value} {words.interval}"


def _f1(table: Sweep) -> Any:  # noqa: ANN401
    found = 2.0 * table.tp
    with np.errstate(divide="ignore", invalid="ignore"):
        return found / (found + table.fn + table.fp)
