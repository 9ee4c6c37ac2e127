"""Curves and bands drawn into axes of matplotlib, one function per kind.

It takes axes and returns them; it sets no global style and shows nothing.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.intervals.distributions import normal_quantile
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.escaping import figure_label
from truerisk.reporting.render.figures import axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILION, GREY = FIGURE["first"], FIGURE["second"], FIGURE["soft"]
DEVIATE_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)  # rates on normal deviates


def draw_curve(curve: Any, ax: "Axes | None") -> "Axes":
    """Draw a curve or a band, by its kind, and return the axes."""
    ax = axes_or_new(ax)
    DRAWINGS[curve.kind](curve, ax)
    return ax


def _labels(ax: "Axes", x: str, y: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def _roc(curve: Any, ax: "Axes") -> None:
    ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)
    ax.plot(curve.fpr, curve.tpr, color=BLUE, label=figure_label(curve.label))
    _labels(ax, "1 − specificity", "recall")


def _precision_recall(curve: Any, ax: "Axes") -> None:
    ax.axhline(curve.prevalence, linestyle=":", color=GREY)
    words = figure_label(curve.label)
    ax.step(curve.recall, curve.precision, where="pre", color=BLUE, label=words)
    _labels(ax, "recall", "precision")


def _breakeven(curve: Any, ax: "Axes") -> None:
    # On the diagonal precision equals recall.
    ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)
    words = figure_label(curve.label)
    ax.plot(curve.breakeven, curve.f, "o-", markersize=3, color=BLUE, label=words)
    _labels(ax, "breakeven point", f"F{curve.beta:g}")


def _det(curve: Any, ax: "Axes") -> None:
    x, y = normal_quantile(curve.fpr), normal_quantile(curve.fnr)
    drawn = np.isfinite(x) & np.isfinite(y)
    ax.plot(x[drawn], y[drawn], color=BLUE, label=figure_label(curve.label))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(normal_quantile(DEVIATE_TICKS), [f"{rate:g}" for rate in DEVIATE_TICKS])
    _labels(ax, "false positive rate", "false negative rate")


def _cost(curve: Any, ax: "Axes") -> None:
    finite = np.isfinite(curve.thresholds)
    words = figure_label(curve.label)
    ax.step(curve.thresholds[finite], curve.cost[finite], where="pre", color=BLUE, label=words)
    if np.isfinite(curve.best.at):
        ax.plot(curve.best.at, curve.best.value, "o", color=VERMILION)
    _labels(ax, "threshold", "cost of an example")


def _normalised_cost(curve: Any, ax: "Axes") -> None:
    # The dotted line is that of the better constant answer.
    trivial = np.minimum(curve.probability_cost, 1 - curve.probability_cost)
    ax.plot(curve.probability_cost, trivial, linestyle=":", color=GREY)
    ax.plot(curve.probability_cost, curve.cost, color=BLUE, label=figure_label(curve.label))
    _labels(ax, "share of the positives in the cost", "normalised cost")


def _calibration(curve: Any, ax: "Axes") -> None:
    # On the diagonal, scores mean what they say.
    ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)
    ax.plot(curve.mean_score, curve.share, "o-", color=BLUE, label=figure_label(curve.label))
    _labels(ax, "mean score", "share of positives")


def _score_distribution(counted: Any, ax: "Axes") -> None:
    # Each class as a share of its own examples: one may be a hundred times as large.
    for name, counts, ink in (
        ("negative", counted.negatives, VERMILION),
        ("positive", counted.positives, BLUE),
    ):
        words = figure_label(f"{counted.label}: {name}" if counted.label else name)
        share = counts / max(counts.sum(), 1)
        ax.stairs(share, counted.edges, fill=True, alpha=0.45, color=ink, label=words)
    _labels(ax, "score", "share of the class")


def _error_reject(curve: Any, ax: "Axes") -> None:
    ax.plot(curve.rejection_rate, curve.error_rate, color=BLUE, label=figure_label(curve.label))
    _labels(ax, "share rejected", "error rate of the rest")


def _band(band: Any, ax: "Axes") -> None:
    if band.joined:
        ax.fill_between(band.x, band.low, band.high, color=BLUE, alpha=0.2, linewidth=0)
    else:
        ax.vlines(band.x, band.low, band.high, color=BLUE)


DRAWINGS: Mapping[str, Callable[[Any, "Axes"], None]] = {
    "roc_curve": _roc,
    "precision_recall_curve": _precision_recall,
    "breakeven_curve": _breakeven,
    "det_curve": _det,
    "cost_curve": _cost,
    "normalised_cost_curve": _normalised_cost,
    "calibration_curve": _calibration,
    "score_distribution": _score_distribution,
    "error_reject_curve": _error_reject,
    "band": _band,
}
