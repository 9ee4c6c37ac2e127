"""Scores of two classes → charts: how they rank, how they lie, what deciding by them costs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.evaluation.curve_bands import NO_BAND, calibration_intervals, confidence_band
from truerisk.measures.calibration import MAX_BINS, calibration_curve, distribution_of
from truerisk.measures.costs import OUTCOMES, CostMatrix
from truerisk.measures.curves import PrecisionRecallCurve, RocCurve
from truerisk.measures.rejection import rejection_curve
from truerisk.measures.thresholds import Sweep, mean_cost, with_given_threshold, working_threshold
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, percent
from truerisk.results import Evaluation, number

OF_PROBABILITIES = ("brier_score", "log_loss")
EXAMPLE_FPR = 0.1
AS_MET = " The band holds where positives are as frequent as they were met, and not picked out."
OF_REFITS = (
    "The scores of several refits are drawn together, though each refit has a scale of its own. "
    "The area told among the measures compares only scores of one refit, and may differ; no band "
    "is promised."
)
SHORT_NAME = 40  # characters of a class that stand in a sentence
UNIT = (0.0, 1.0)
MIN_ANSWERS = 30  # fewer leave an error rate that says nothing
OUTCOME_WORDS = {
    "tp": "a positive found",
    "fp": "a false alarm",
    "fn": "a positive missed",
    "tn": "a negative left alone",
}
EXAMPLE_REJECTION = 0.1
OPTIMISTIC = "It was found on these examples, and looks better on them than it will on others."


def score_sections(evaluation: Evaluation) -> Iterator[doc.Section]:
    """Give the charts of one column of scores; none where there is no such column."""
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep):
        return
    scores = Scores(evaluation, table)
    for title, charts, lead in (
        ("How well the scores rank", scores.ranking(), scores.why_no_band),
        ("Where the scores fall", scores.lying(), ""),
        ("What deciding by them costs", scores.deciding(), ""),
    ):
        drawn = list(charts)
        if drawn:
            yield doc.charts_section(title, drawn, lead)


@dataclass(frozen=True)
class Scores:
    """One column of scores, and the charts that can be drawn of it."""

    evaluation: Evaluation
    table: Sweep

    @cached_property
    def threshold(self) -> float | None:
        """The threshold at which the scores are used; None where it is not a number."""
        result = working_threshold(self.evaluation)
        return result if result is not None and np.isfinite(result) else None

    @property
    def independent(self) -> bool:
        """Whether the scores are of one model, on independent examples of equal weight."""
        return not self.why_no_band

    @property
    def why_no_band(self) -> str:
        """Say what keeps the curves from having bands; nothing where they have them."""
        if getattr(self.evaluation.tallies, "judgements", None) is not None:
            return OF_REFITS
        curve = self.evaluation.curves.get("roc")
        defined = isinstance(curve, RocCurve) and curve.n_positive is not None
        return "" if defined else NO_BAND

    @property
    def two_classes(self) -> bool:
        """Whether there are both positives and negatives."""
        return bool(self.table.tp[-1] > 0 and self.table.fp[-1] > 0)

    @cached_property
    def range(self) -> tuple[float, float] | None:
        """Least and greatest finite score; None if there is none, or if they are too far apart."""
        result = self.table.threshold[1:]
        result = result[np.isfinite(result)]
        low, high = (float(result[-1]), float(result[0])) if len(result) else UNIT
        return (low, high) if len(result) and math.isfinite(high - low) else None

    def ranking(self) -> Iterator[doc.Chart]:
        """Draw the ROC curve, and precision against recall."""
        if not self.two_classes:
            return
        curves = self.evaluation.curves
        roc, precision_recall = curves.get("roc"), curves.get("precision_recall")
        if isinstance(roc, RocCurve):
            yield roc_chart(roc, self._band(roc), self._dot_here(roc.fpr, roc.tpr))
        if isinstance(precision_recall, PrecisionRecallCurve):
            # The curve leaves out the row that finds nothing.
            x, y = precision_recall.recall, precision_recall.precision
            dot = self._dot_here(x, y, left_out=1)
            yield precision_recall_chart(precision_recall, self._band(precision_recall), dot)

    def lying(self) -> Iterator[doc.Chart]:
        """Draw the scores of both classes, and what they are worth as probabilities."""
        if self.range is None:
            return
        yield self._distribution()
        if self.table.threshold[1] <= 1 and self.table.threshold[-1] >= 0:
            yield self._calibration()

    def deciding(self) -> Iterator[doc.Chart]:
        """Draw what is gained by not answering, and what mistakes cost."""
        if self.threshold is not None:
            table = with_given_threshold(self.evaluation, self.table)
            rejection = rejection_chart(table, self.threshold)
            if rejection is not None:
                yield rejection
        costs, roc = costs_of(self.evaluation), self.evaluation.curves.get("roc")
        if costs is not None and self.range is not None:
            yield cost_chart(self.table, costs, list(self._upright_here()))
        elif self.two_classes and isinstance(roc, RocCurve):
            yield cost_curve_chart(roc)

    def _band(self, curve: RocCurve | PrecisionRecallCurve) -> list[doc.Band]:
        return [whole_band(curve, self.evaluation.level)] if self.independent else []

    def _dot_here(self, x: Array, y: Array, left_out: int = 0) -> list[doc.Dots]:
        """Mark the row that the threshold makes, of a curve without so many first rows."""
        if self.threshold is None:
            return []
        rows = max(int(np.count_nonzero(self.table.threshold >= self.threshold)), 1) - left_out
        at = slice(max(rows - 1, 0), max(rows, 0))
        words = f"at threshold {self.threshold:.4g}"
        return [doc.Dots(x[at], y[at], ink="second", words=words)] if len(x[at]) else []

    def _upright_here(self) -> Iterator[doc.Upright]:
        if self.threshold is not None:
            yield doc.Upright(self.threshold, f"threshold {self.threshold:.4g}")

    def _distribution(self) -> doc.Chart:
        # As many bins as the examples can fill (Rice's rule).
        n = float(self.table.tp[-1] + self.table.fp[-1])
        result = distribution_of(self.table, min(MAX_BINS, math.ceil(2 * n ** (1 / 3)) + 1))
        pos_label, negative = self._names()
        shares = [counts / max(counts.sum(), 1) for counts in (result.negatives, result.positives)]
        ends = float(result.edges[0]), float(result.edges[-1])
        infinite = result.infinite
        left_out = f" {count(infinite)} infinite scores are not drawn." * bool(infinite)
        return doc.Chart(
            title="Scores by class",
            name="scores",
            x=doc.Scale("score", *ends),
            y=doc.Scale.over("share of the class", np.concatenate(shares), 0.0),
            shapes=[
                doc.Bars(result.edges, shares[0], "second", words=negative),
                doc.Bars(result.edges, shares[1], "first", words=pos_label),
                *(one for one in self._upright_here() if ends[0] <= one.x <= ends[1]),
            ],
            caption=(
                "How the scores of each class are spread, as shares of the class; the less the two "
                f"overlap, the better the scores tell them apart.{left_out}"
            ),
            description=" ".join(
                f"Half of the examples of {name} score at least "
                f"{f'{half:.4g}' if math.isfinite(half) else number(half)}."
                for name, running in ((pos_label, self.table.tp), (negative, self.table.fp))
                if running[-1] > 0
                for half in [float(self.table.threshold[np.searchsorted(running, running[-1] / 2)])]
            ),
        )

    def _names(self) -> tuple[str, str]:
        pos_label = self.evaluation.pos_label or "positive"
        others = [label for label in self.evaluation.labels if label != pos_label]
        return (
            visible(pos_label, most=SHORT_NAME),
            visible(others[0], most=SHORT_NAME) if len(others) == 1 else "the rest",
        )

    def _calibration(self) -> doc.Chart:
        curve = calibration_curve(self.table)
        stated = any(name in self.evaluation for name in OF_PROBABILITIES)
        among = "Among" if stated else "If the scores are meant as probabilities: among"
        low = high = None
        bars = crossing = ""
        if self.independent:
            intervals = calibration_intervals(curve, level=self.evaluation.level)
            low, high = intervals.low, intervals.high
            inside = (low <= curve.mean_score) & (curve.mean_score <= high)
            held = percent(intervals.level)
            bars = f" If they do, all bars cross it, in at least {held} of such samples."
            crossing = f" {count(inside.sum())} of {count(len(inside))} bars cross the diagonal."
        error = number(curve.expected_calibration_error)
        each = f"about {count(round(float(np.mean(curve.count))))} examples each"
        return doc.Chart(
            title="Calibration",
            name="calibration",
            x=doc.Scale("mean score", *UNIT),
            y=doc.Scale("share of positives", *UNIT),
            shapes=[
                doc.Line(UNIT, UNIT, "soft", dashed=True, words="scores mean what they say"),
                doc.Dots(curve.mean_score, curve.share, low, high, words=each),
            ],
            caption=(
                f"{among} examples of about the same score, the share that is "
                f"positive; scores that mean what they say lie on the diagonal.{bars}"
            ),
            description=f"The expected calibration error is {error}.{crossing}",
        )


def score_pictures(evaluation: Evaluation) -> doc.Pictures:
    """Name the charts of the scores of an evaluation, and its other curves that can be drawn."""
    table = evaluation.curves.get("thresholds")
    if isinstance(table, Sweep) and len(table) > 1:
        scores = Scores(evaluation, table)
        for chart in (*scores.ranking(), *scores.lying(), *scores.deciding()):
            yield chart.name, chart
    else:
        yield from curve_pictures(evaluation.curves, evaluation.level)


def curve_pictures(curves: Mapping[str, Any], level: float = 0.95) -> doc.Pictures:
    """Name each of some curves that can be drawn: with its band, where it has one."""
    for name, curve in curves.items():
        band = []
        if getattr(curve, "n_positive", None) and getattr(curve, "n_negative", None):
            band = [whole_band(curve, level)]
        if isinstance(curve, RocCurve):
            yield name.replace("_", "-"), roc_chart(curve, band)
        elif isinstance(curve, PrecisionRecallCurve):
            yield name.replace("_", "-"), precision_recall_chart(curve, band)
        elif callable(getattr(curve, "plot", None)):
            yield name.replace("_", "-"), curve.plot


def whole_band(curve: RocCurve | PrecisionRecallCurve, level: float) -> doc.Band:
    """Give the band that holds the whole curve at the level."""
    band = confidence_band(curve, level=level)
    words = f"{percent(band.level)} band for the whole curve"
    return doc.Band(band.x, band.low, band.high, words=words)


def roc_chart(
    curve: RocCurve, band: Sequence[doc.Band] = (), here: Sequence[doc.Dots] = ()
) -> doc.Chart:
    """Draw recall against the false positive rate, on its band, with a threshold marked."""
    result = float(curve.tpr[np.searchsorted(curve.fpr, EXAMPLE_FPR, side="right") - 1])
    return doc.Chart(
        name="roc",
        title="ROC curve",
        x=doc.Scale("1 − specificity (negatives called positive)", *UNIT),
        y=doc.Scale("recall (positives found)", *UNIT),
        shapes=[
            *band,
            doc.Line(UNIT, UNIT, "soft", dashed=True, words="chance"),
            doc.Line(curve.fpr, curve.tpr, words=f"area {number(curve.auc)}"),
            *here,
        ],
        caption=(
            "Over all thresholds, the share of positives found against the share of negatives "
            "called positive by mistake; a good ranking climbs steeply to the top left corner."
        ),
        description=(
            f"The area under the curve is {number(curve.auc)}. With at most "
            f"{percent(EXAMPLE_FPR)} of the negatives called positive, "
            f"{number(100 * result, 1)} % of the positives are found."
        ),
    )


def precision_recall_chart(
    curve: PrecisionRecallCurve, band: Sequence[doc.Band] = (), here: Sequence[doc.Dots] = ()
) -> doc.Chart:
    """Draw precision against recall, on its band, with a threshold marked."""
    recall, precision = in_steps(curve.recall, curve.precision)
    area = f"average precision {number(curve.average_precision)}"
    return doc.Chart(
        name="precision-recall",
        title="Precision and recall",
        x=doc.Scale("recall (positives found)", *UNIT),
        y=doc.Scale("precision (called positive and right)", *UNIT),
        shapes=[
            *band,
            doc.Line(UNIT, (curve.prevalence,) * 2, "soft", dashed=True, words="chance"),
            doc.Line(recall, precision, words=area),
            *here,
        ],
        caption=(
            "How many of those called positive are positive, against how many of the positives "
            "are found; the longer the curve stays at the top, the better."
        )
        + AS_MET * bool(band),
        description=(
            f"Average precision is {number(curve.average_precision)}; calling at random gives "
            f"{number(curve.prevalence)}, the share of positives."
        ),
    )


def rejection_chart(table: Sweep, threshold: float) -> doc.Chart | None:
    """Draw the error rate against the share left undecided; None where no score can be told off."""
    curve = rejection_curve(table, threshold)
    enough = curve.accepted >= min(MIN_ANSWERS, curve.accepted[0] / 5)
    rejected, errors = curve.rejection_rate[enough], curve.error_rate[enough]
    if len(rejected) < 2:
        return None
    point = curve.threshold_for_rejection(EXAMPLE_REJECTION)
    return doc.Chart(
        title="Errors against rejections",
        name="error-reject",
        x=doc.Scale("share left undecided", *UNIT),
        y=doc.Scale.over("error rate of the answers", errors, 0.0),
        shapes=[doc.Line(rejected, errors)],
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


def cost_chart(
    table: Sweep, costs: Mapping[str, float], here: Sequence[doc.Upright] = ()
) -> doc.Chart:
    """Draw the mean cost over the thresholds, `here` marked; some scores must be finite."""
    cost = mean_cost(table, costs)
    chosen = np.isfinite(table.threshold)
    threshold, values = table.threshold[chosen], cost[chosen]
    # Above an infinite score there is no threshold.
    first = int(table.threshold[1] == np.inf)
    best = first + int(np.argmin(cost[first:]))
    at, least = float(table.threshold[best]), float(cost[best])
    drawn = slice(0, int(np.isfinite(at)))
    where = _at_threshold(at, float(table.tp[best] + table.fp[best]))
    words = ", ".join(f"{OUTCOME_WORDS[name]} {costs[name]:g}" for name in costs if costs[name])
    return doc.Chart(
        title="Cost by threshold",
        name="cost",
        x=doc.Scale("threshold", *_apart(float(threshold[-1]), float(threshold[0]))),
        y=doc.Scale.over("cost of an example", values, 0.0),
        shapes=[
            doc.Line(*in_steps(threshold[::-1], values[::-1])),
            doc.Dots([at][drawn], [least][drawn], ink="second", words=f"cheapest: {where}"),
            *here,
        ],
        caption=(
            "Mean cost of an example at each threshold, at the costs given "
            f"({words or 'none'}). The least is {number(least)}, {where}. {OPTIMISTIC}"
        ),
        description=f"The least cost is {number(least)}, {where}.",
    )


def cost_curve_chart(roc: RocCurve) -> doc.Chart:
    """Draw the cost of the best threshold by mixture of costs (Drummond and Holte)."""
    curve = roc.normalised_cost()
    trivial = np.minimum(curve.probability_cost, 1 - curve.probability_cost)
    middle = float(np.interp(0.5, curve.probability_cost, curve.cost))
    return doc.Chart(
        title="Cost curve",
        name="normalised-cost",
        x=doc.Scale("share of the positives in the cost", *UNIT),
        y=doc.Scale.over("cost, as a share of the most", trivial, 0.0),
        shapes=[
            doc.Line(
                curve.probability_cost, trivial, "soft", dashed=True, words="one answer to all"
            ),
            doc.Line(curve.probability_cost, curve.cost, words="the best threshold"),
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
