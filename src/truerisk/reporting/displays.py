"""Displays as scikit-learn has them, with intervals and bands.

Each is made by `from_predictions` or `from_estimator` and drawn by `plot(ax=…)`, which sets `ax_`
and `figure_`.  matplotlib is imported when something is drawn.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.errors import InputError
from truerisk.evaluation.curve_bands import Band, calibration_intervals, confidence_band
from truerisk.evaluation.evaluate import evaluate
from truerisk.intervals.binomial import clopper_pearson
from truerisk.labels import positive_of_two
from truerisk.learners.evaluate_model import predicted_by
from truerisk.learners.refits import scores_of
from truerisk.measures.calibration import calibration
from truerisk.measures.curves import Curve, precision_recall, roc
from truerisk.reporting.escaping import figure_label
from truerisk.reporting.render.figures import axes_or_new, stand_upright
from truerisk.results import Estimate


class Display:
    """What all displays share: the axes that they are drawn into."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw into the axes, or into a new figure; return the display."""
        ax = axes_or_new(ax)
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


class CurveDisplay(Display):
    """A curve of scores, the band or intervals around it, and the measure that sums it up."""

    measure: ClassVar[str]
    needs_probabilities: ClassVar[bool] = False
    curve_of: ClassVar[Callable[..., Any]]
    band_of: ClassVar[Callable[..., Band]] = staticmethod(confidence_band)

    def __init__(self, curve: Curve, band: Band, estimate: Estimate, *, name: str = "") -> None:
        self.curve = curve
        self.band = band
        self.estimate = estimate
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        pos_label: Any = None,
        level: float = 0.95,
        name: str = "",
        ax: Any = None,
    ) -> Self:
        """Draw the curve of scores of the positive label, in axes or in a new figure."""
        curve = cls.curve_of(y_true, y_score, pos_label=pos_label)
        band = cls.band_of(curve, level=level)
        estimate = evaluate(
            y_true,
            y_score=y_score,
            pos_label=pos_label,
            level=level,
            measures=(cls.measure,),
            probabilities=cls.needs_probabilities,
        )[cls.measure]
        return cls(curve, band, estimate, name=name).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        pos_label: Any = None,
        level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of a fitted classifier of two classes on examples that are new to it."""
        predicted_by(estimator, X)
        score, positive = _score_of(estimator, X, pos_label, probable=cls.needs_probabilities)
        title = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, score, pos_label=positive, level=level, name=title, ax=ax)

    def _draw(self, ax: Any) -> None:
        self.band.plot(ax)
        self.curve.plot(ax)
        interval = self.estimate.interval
        ends = "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"
        title = self.estimate.measure.replace("_", " ")
        words = f"{title} {self.estimate.value:.3f}{ends}"
        label = figure_label(f"{self.name}: {words}" if self.name else words)
        self.line_ = ax.lines[-1]
        self.line_.set_label(label)
        ax.legend(loc="best", fontsize="small")


class RocCurveDisplay(CurveDisplay):
    """The ROC curve, the band in which the whole true curve lies, and the AUC with its interval.

    `tr.roc`, `tr.confidence_band` and `tr.evaluate` say what is promised.

    Examples
    --------
    >>> display = RocCurveDisplay.from_predictions([0, 1, 0, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.7])
    >>> round(display.estimate.value, 2), display.band.level
    (1.0, 0.95)
    """

    measure = "roc_auc"
    curve_of = staticmethod(roc)


class PrecisionRecallDisplay(CurveDisplay):
    """The precision-recall curve with its band, and the average precision with its interval.

    Examples
    --------
    >>> display = PrecisionRecallDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.3, 0.35, 0.8])
    >>> round(display.estimate.value, 3)
    0.833
    """

    measure = "average_precision"
    curve_of = staticmethod(precision_recall)


class CalibrationDisplay(CurveDisplay):
    """The share of positives in bins of scores, with intervals that hold together; Brier score.

    Examples
    --------
    >>> display = CalibrationDisplay.from_predictions([0, 1, 0, 1] * 10, [0.1, 0.6, 0.3, 0.8] * 10)
    >>> round(display.estimate.value, 3)
    0.075
    """

    measure = "brier_score"
    needs_probabilities = True
    curve_of = staticmethod(calibration)
    band_of = staticmethod(calibration_intervals)


class ConfusionMatrixDisplay(Display):
    """Counts of what was called what; below each its share of the true class, with the interval.

    The intervals are Clopper and Pearson's, each by itself, for independent examples.

    Examples
    --------
    >>> display = ConfusionMatrixDisplay.from_predictions(list("aabb"), list("abbb"))
    >>> display.confusion_matrix.tolist(), float(display.high[0, 1].round(3))
    ([[1, 1], [0, 2]], 0.987)
    """

    def __init__(
        self, confusion_matrix: ArrayLike, display_labels: tuple[str, ...], *, level: float = 0.95
    ) -> None:
        self.confusion_matrix = np.asarray(confusion_matrix)
        self.display_labels = display_labels
        self.level = level
        totals = np.broadcast_to(
            self.confusion_matrix.sum(axis=1, keepdims=True), self.confusion_matrix.shape
        )
        low, high = clopper_pearson(self.confusion_matrix, totals, level)
        self.low: Array = low
        self.high: Array = high

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, level: float = 0.95, ax: Any = None
    ) -> Self:
        """Count and draw predicted labels."""
        names = sorted({str(label) for label in [*np.unique(y_true), *np.unique(y_pred)]})
        # A matrix has no positive class; of two, one must be named.
        positive = names[1] if len(names) == 2 else None
        evaluation = evaluate(
            y_true, y_pred, measures=("accuracy",), level=level, pos_label=positive
        )
        if evaluation.confusion is None:
            raise InputError("`y_true` must be one label per example for a confusion matrix.")
        labels, counts = evaluation.confusion
        return cls(counts, labels, level=level).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, level: float = 0.95, ax: Any = None
    ) -> Self:
        """Count and draw what a fitted classifier predicts for examples that are new to it."""
        return cls.from_predictions(y, predicted_by(estimator, X), level=level, ax=ax)

    def _draw(self, ax: Any) -> None:
        counts = self.confusion_matrix
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.6)  # the darkest still shows its number
        for (row, column), count in np.ndenumerate(counts):
            words = f"{count:,}"
            if totals[row, 0] > 0:
                words += f"\n[{self.low[row, column]:.2f}, {self.high[row, column]:.2f}]"
            ax.text(column, row, words, ha="center", va="center")
        names = [figure_label(label) for label in self.display_labels]
        places = np.arange(len(names))
        ax.set_xticks(places, names, rotation="vertical" if stand_upright(names) else None)
        ax.set_yticks(places, names)
        ax.set_xlabel("predicted")
        ax.set_ylabel("truth")


def _score_of(model: Any, X: Any, pos_label: Any, *, probable: bool) -> tuple[Array, Any]:
    """Give the scores of the positive one of two classes, and its label."""
    values = np.asarray(model.classes_)
    if len(values) != 2:
        raise InputError(
            f"`estimator` must be of two classes for a curve; got {len(values)}. Take the scores "
            "of one class against the others: from_predictions(y == label, score)."
        )
    names = [str(value) for value in values]
    at = names.index(positive_of_two(names, None if pos_label is None else str(pos_label)))
    scores = scores_of(model, X, values)
    if "score" not in scores or (probable and not scores["probabilities"]):
        what = "predict_proba" if probable else "predict_proba or decision_function"
        raise InputError(f"`estimator` must have {what}; {type(model).__name__} has none.")
    if at == 1:
        return scores["score"], values[1]
    return scores.get("complement", -scores["score"]), values[0]
