"""Evaluation → charts of its scores: how they rank, how they lie, what deciding by them costs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.evaluation.curve_bands import NO_BAND, calibration_intervals, confidence_band
from truerisk.measures.calibration import MAX_BINS, calibration_curve, distribution_of
from truerisk.measures.curves import PrecisionRecallCurve, RocCurve
from truerisk.measures.thresholds import Sweep, with_given_threshold, working_threshold
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.charts import (
    Band,
    Bars,
    Chart,
    Dots,
    Line,
    Scale,
    Upright,
    charts_section,
)
from truerisk.reporting.page.parts import Section
from truerisk.reporting.sections.decision_charts import (
    UNIT,
    cost_chart,
    cost_curve_chart,
    costs_of,
    in_steps,
    rejection_chart,
)
from truerisk.reporting.wording import count, number, percent
from truerisk.results import Evaluation

OF_PROBABILITIES = ("brier_score", "log_loss")
TOLD_FPR = 0.1
AS_MET = " The band holds where positives are as frequent as they were met, and not picked out."
OF_REFITS = (
    "The scores of several refits are drawn together, though each refit has a scale of its own. "
    "The area told among the measures compares only scores of one refit, and may differ; no band "
    "is promised."
)
SHORT_NAME = 40  # characters of a class that stand in a sentence


def score_sections(evaluation: Evaluation) -> Iterator[Section]:
    """Give the charts of one column of scores; none where there is no such column.

    Examples
    --------
    >>> from truerisk.evaluation.evaluate import evaluate
    >>> evaluation = evaluate([0, 1, 0, 1], y_score=[0.1, 0.4, 0.35, 0.8], threshold=0.5)
    >>> [section.title for section in score_sections(evaluation)]
    ['How well the scores rank', 'Where the scores fall', 'What deciding by them costs']
    """
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
            yield charts_section(title, drawn, lead)


@dataclass(frozen=True)
class Scores:
    """One column of scores, and the charts that can be drawn of it."""

    evaluation: Evaluation
    table: Sweep

    @cached_property
    def threshold(self) -> float | None:
        """The threshold at which the scores are used; None where it is not a number."""
        found = working_threshold(self.evaluation)
        return found if found is not None and np.isfinite(found) else None

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
        known = isinstance(curve, RocCurve) and curve.n_positive is not None
        return "" if known else NO_BAND

    @property
    def two_classes(self) -> bool:
        """Whether there are both positives and negatives."""
        return bool(self.table.tp[-1] > 0 and self.table.fp[-1] > 0)

    @cached_property
    def range(self) -> tuple[float, float] | None:
        """Least and greatest finite score; None if there is none, or if they are too far apart."""
        found = self.table.threshold[1:]
        found = found[np.isfinite(found)]
        low, high = (float(found[-1]), float(found[0])) if len(found) else UNIT
        return (low, high) if len(found) and math.isfinite(high - low) else None

    def ranking(self) -> Iterator[Chart]:
        """Draw the ROC curve, and precision against recall."""
        if not self.two_classes:
            return
        roc = self.evaluation.curves.get("roc")
        if isinstance(roc, RocCurve):
            yield self._roc(roc)
        precision_recall = self.evaluation.curves.get("precision_recall")
        if isinstance(precision_recall, PrecisionRecallCurve):
            yield self._precision_recall(precision_recall)

    def lying(self) -> Iterator[Chart]:
        """Draw the scores of both classes, and what they are worth as probabilities."""
        if self.range is None:
            return
        yield self._distribution()
        if self.table.threshold[1] <= 1 and self.table.threshold[-1] >= 0:
            yield self._calibration()

    def deciding(self) -> Iterator[Chart]:
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

    def _roc(self, curve: RocCurve) -> Chart:
        found = float(curve.tpr[np.searchsorted(curve.fpr, TOLD_FPR, side="right") - 1])
        here = self._row_at_threshold()
        return Chart(
            title="ROC curve",
            x=Scale("1 − specificity (negatives called positive)", *UNIT),
            y=Scale("recall (positives found)", *UNIT),
            shapes=[
                *self._band(curve),
                Line(UNIT, UNIT, "soft", dashed=True, words="chance"),
                Line(curve.fpr, curve.tpr, words=f"area {number(curve.auc)}"),
                *self._dot_here(curve.fpr[here : here + 1], curve.tpr[here : here + 1]),
            ],
            caption=(
                "Over all thresholds, the share of positives found against the share of negatives "
                "called positive by mistake; a good ranking climbs steeply to the top left corner."
            ),
            description=(
                f"The area under the curve is {number(curve.auc)}. With at most "
                f"{percent(TOLD_FPR)} of the negatives called positive, "
                f"{number(100 * found, 1)} % of the positives are found."
            ),
        )

    def _precision_recall(self, curve: PrecisionRecallCurve) -> Chart:
        recall, precision = in_steps(curve.recall, curve.precision)
        here = self._row_at_threshold() - 1  # the curve leaves out the row that finds nothing
        dot = slice(max(here, 0), here + 1)
        return Chart(
            title="Precision and recall",
            x=Scale("recall (positives found)", *UNIT),
            y=Scale("precision (called positive and right)", *UNIT),
            shapes=[
                *self._band(curve),
                Line(UNIT, (curve.prevalence,) * 2, "soft", dashed=True, words="chance"),
                Line(
                    recall,
                    precision,
                    words=f"average precision {number(curve.average_precision)}",
                ),
                *self._dot_here(curve.recall[dot], curve.precision[dot]),
            ],
            caption=(
                "How many of those called positive are positive, against how many of the positives "
                "are found; the longer the curve stays at the top, the better."
                + AS_MET
                * self.independent
            ),
            description=(
                f"Average precision is {number(curve.average_precision)}; calling at random gives "
                f"{number(curve.prevalence)}, the share of positives."
            ),
        )

    def _band(self, curve: RocCurve | PrecisionRecallCurve) -> Iterator[Band]:
        if self.independent:
            band = confidence_band(curve, level=self.evaluation.level)
            words = f"{percent(band.level)} band for the whole curve"
            yield Band(band.x, band.low, band.high, words=words)

    def _row_at_threshold(self) -> int:
        """Give the row of the table that the threshold makes; the first where there is none."""
        if self.threshold is None:
            return 0
        return max(int(np.count_nonzero(self.table.threshold >= self.threshold)) - 1, 0)

    def _dot_here(self, x: Array, y: Array) -> Iterator[Dots]:
        if self.threshold is not None and len(x):
            yield Dots(x, y, ink="second", words=f"at threshold {self.threshold:.4g}")

    def _upright_here(self) -> Iterator[Upright]:
        if self.threshold is not None:
            yield Upright(self.threshold, f"threshold {self.threshold:.4g}")

    def _distribution(self) -> Chart:
        # As many bins as the examples can fill (Rice's rule).
        n = float(self.table.tp[-1] + self.table.fp[-1])
        found = distribution_of(self.table, min(MAX_BINS, math.ceil(2 * n ** (1 / 3)) + 1))
        pos_label, negative = self._names()
        shares = [counts / max(counts.sum(), 1) for counts in (found.negatives, found.positives)]
        ends = float(found.edges[0]), float(found.edges[-1])
        left_out = f" {count(found.infinite)} infinite scores are not drawn." * bool(found.infinite)
        return Chart(
            title="Scores by class",
            x=Scale("score", *ends),
            y=Scale.over("share of the class", np.concatenate(shares), 0.0),
            shapes=[
                Bars(found.edges, shares[0], "second", words=negative),
                Bars(found.edges, shares[1], "first", words=pos_label),
                *(one for one in self._upright_here() if ends[0] <= one.x <= ends[1]),
            ],
            caption=(
                "How the scores of each class are spread, as shares of the class; the less the two "
                f"overlap, the better the scores tell them apart.{left_out}"
            ),
            description=" ".join(
                f"Half of the examples of {name} score at least {self._median(running)}."
                for name, running in ((pos_label, self.table.tp), (negative, self.table.fp))
                if running[-1] > 0
            ),
        )

    def _median(self, running: NDArray[Any]) -> str:
        at = np.searchsorted(running, running[-1] / 2)
        found = float(self.table.threshold[at])
        return f"{found:.4g}" if math.isfinite(found) else number(found)

    def _names(self) -> tuple[str, str]:
        pos_label = self.evaluation.pos_label or "positive"
        others = [label for label in self.evaluation.labels if label != pos_label]
        return (
            visible(pos_label, most=SHORT_NAME),
            visible(others[0], most=SHORT_NAME) if len(others) == 1 else "the rest",
        )

    def _calibration(self) -> Chart:
        curve = calibration_curve(self.table)
        told = any(name in self.evaluation for name in OF_PROBABILITIES)
        condition = "" if told else "If the scores are meant as probabilities: among"
        low = high = None
        bars = ""
        if self.independent:
            intervals = calibration_intervals(curve, level=self.evaluation.level)
            low, high = intervals.low, intervals.high
            inside = (low <= curve.mean_score) & (curve.mean_score <= high)
            held = percent(intervals.level)
            bars = f" If they do, all bars cross it, in at least {held} of such samples."
            told_inside = f" {count(inside.sum())} of {count(len(inside))} bars cross the diagonal."
        else:
            told_inside = ""
        error = number(curve.expected_calibration_error)
        each = f"about {count(round(float(np.mean(curve.count))))} examples each"
        return Chart(
            title="Calibration",
            x=Scale("mean score", *UNIT),
            y=Scale("share of positives", *UNIT),
            shapes=[
                Line(UNIT, UNIT, "soft", dashed=True, words="scores mean what they say"),
                Dots(curve.mean_score, curve.share, low, high, words=each),
            ],
            caption=(
                f"{condition or 'Among'} examples of about the same score, the share that is "
                f"positive; scores that mean what they say lie on the diagonal.{bars}"
            ),
            description=f"The expected calibration error is {error}.{told_inside}",
        )
