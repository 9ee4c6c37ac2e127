"""Scores → charts of what deciding by them costs: errors, rejections, and mistakes at a price."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.measures.costs import CostMatrix
from truerisk.measures.curves import RocCurve
from truerisk.measures.rejection import rejection_curve
from truerisk.measures.thresholds import OUTCOMES, Sweep, mean_cost
from truerisk.reporting.page.charts import Chart, Dots, Line, Scale, Upright
from truerisk.reporting.wording import number
from truerisk.results import Evaluation

UNIT = (0.0, 1.0)
MIN_ANSWERS = 30  # fewer leave an error rate that says nothing
OUTCOME_WORDS = {
    "tp": "a positive found",
    "fp": "a false alarm",
    "fn": "a positive missed",
    "tn": "a negative left alone",
}
TOLD_REJECTED = 0.1
OPTIMISTIC = "It was found on these examples, and looks better on them than it will on others."


def rejection_chart(table: Sweep, threshold: float) -> Chart | None:
    """Draw the error rate against the share left undecided; None where no score can be told off."""
    curve = rejection_curve(table, threshold)
    enough = curve.accepted >= min(MIN_ANSWERS, curve.accepted[0] / 5)
    rejected, errors = curve.rejection_rate[enough], curve.error_rate[enough]
    if len(rejected) < 2:
        return None
    point = curve.threshold_for_rejection(TOLD_REJECTED)
    return Chart(
        title="Errors against rejections",
        x=Scale("share left undecided", *UNIT),
        y=Scale.over("error rate of the answers", errors, 0.0),
        shapes=[Line(rejected, errors)],
        caption=(
            f"How wrong the answers are if the scores nearest to the threshold "
            f"{threshold:.4g} are left undecided; a curve that falls fast puts its errors "
            "where it is in doubt."
        ),
        description=(
            f"With every example answered the error rate is {number(curve.error_rate[0])}; "
            f"with {number(100 * point.rejection_rate, 1)} % left undecided it is "
            f"{number(point.error_rate)}."
        ),
    )


def costs_of(evaluation: Evaluation) -> Mapping[str, float] | None:
    """Give what each outcome costs, if costs were given and two classes are told apart."""
    given, labels = evaluation.settings.get("costs"), evaluation.labels
    if given is None or len(labels) != 2 or evaluation.pos_label is None:
        return None
    try:
        table = CostMatrix.of(given, labels, evaluation.pos_label).values
    except InputError:
        return None
    one = labels.index(evaluation.pos_label)
    other = 1 - one
    places = ((one, one), (other, one), (one, other), (other, other))
    return {name: float(table[at]) for name, at in zip(OUTCOMES, places, strict=True)}


def cost_chart(table: Sweep, costs: Mapping[str, float], here: Sequence[Upright] = ()) -> Chart:
    """Draw the mean cost over the thresholds, `here` marked; some scores must be finite."""
    cost = mean_cost(table, costs)
    kept = np.isfinite(table.threshold)
    threshold, values = table.threshold[kept], cost[kept]
    # Above an infinite score there is no threshold.
    first = int(table.threshold[1] == np.inf)
    best = first + int(np.argmin(cost[first:]))
    at, least = float(table.threshold[best]), float(cost[best])
    drawn, where = (
        slice(0, int(np.isfinite(at))),
        _at_threshold(at, float(table.tp[best] + table.fp[best])),
    )
    words = ", ".join(f"{OUTCOME_WORDS[name]} {costs[name]:g}" for name in costs if costs[name])
    return Chart(
        title="Cost by threshold",
        x=Scale("threshold", *_apart(float(threshold[-1]), float(threshold[0]))),
        y=Scale.over("cost of an example", values, 0.0),
        shapes=[
            Line(*in_steps(threshold[::-1], values[::-1])),
            Dots([at][drawn], [least][drawn], ink="second", words=f"cheapest: {where}"),
            *here,
        ],
        caption=(
            "Mean cost of an example at each threshold, at the costs given "
            f"({words or 'none'}). The least is {number(least)}, {where}. {OPTIMISTIC}"
        ),
        description=f"The least cost is {number(least)}, {where}.",
    )


def cost_curve_chart(roc: RocCurve) -> Chart:
    """Draw the cost of the best threshold by mixture of costs (Drummond and Holte)."""
    curve = roc.normalised_cost()
    trivial = np.minimum(curve.probability_cost, 1 - curve.probability_cost)
    middle = float(np.interp(0.5, curve.probability_cost, curve.cost))
    return Chart(
        title="Cost curve",
        x=Scale("share of the positives in the cost", *UNIT),
        y=Scale.over("cost, as a share of the most", trivial, 0.0),
        shapes=[
            Line(curve.probability_cost, trivial, "soft", dashed=True, words="one answer to all"),
            Line(curve.probability_cost, curve.cost, words="the best threshold"),
        ],
        caption=(
            "What the best threshold costs, whatever mistakes cost and however many positives "
            "there are; the further below the dashed line, which is what the better of two "
            f"constant answers costs, the more the scores are worth. {OPTIMISTIC}"
        ),
        description=(
            f"Where both classes weigh the same the cost is {number(middle)}; a constant "
            "answer costs 0.500."
        ),
    )


def in_steps(x: Array, y: Array) -> tuple[Array, Array]:
    """Join points by steps: up to each x its own y holds."""
    return np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]


def _at_threshold(threshold: float, called: float) -> str:
    """Say what is called positive from a threshold on; infinite ones call all alike."""
    if math.isfinite(threshold):
        return f"at the threshold {threshold:.4g}"
    if threshold < 0:
        return "if everything is called positive"
    return (
        "if only infinite scores are called positive" if called else "if nothing is called positive"
    )


def _apart(low: float, high: float) -> tuple[float, float]:
    """Give two ends that differ, also where there is one score only."""
    return (low, high) if high > low else (low - 0.5, high + 0.5)
