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


def _line(curve: Any, x: Any, y: Any, ax: "Axes", *axes: str, style: str = "-", **how: Any) -> None:
    """Draw one line under the name of the curve, and name the axes."""
    ax.plot(x, y, style, color=BLUE, label=figure_label(curve.label), **how)
    ax.set(xlabel=axes[0], ylabel=axes[1])


def _diagonal(ax: "Axes") -> None:
    ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)


def _roc(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)
    _line(curve, curve.fpr, curve.tpr, ax, "1 − specificity", "recall")


def _precision_recall(curve: Any, ax: "Axes") -> None:
    ax.axhline(curve.prevalence, linestyle=":", color=GREY)
    steps = {"drawstyle": "steps-pre"}
    _line(curve, curve.recall, curve.precision, ax, "recall", "precision", **steps)


def _breakeven(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)  # on which precision equals recall
    axes = ("breakeven point", f"F{curve.beta:g}")
    _line(curve, curve.breakeven, curve.f, ax, *axes, style="o-", markersize=3)


def _det(curve: Any, ax: "Axes") -> None:
    x, y = normal_quantile(curve.fpr), normal_quantile(curve.fnr)
    drawn = np.isfinite(x) & np.isfinite(y)
    _line(curve, x[drawn], y[drawn], ax, "false positive rate", "false negative rate")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(normal_quantile(DEVIATE_TICKS), [f"{rate:g}" for rate in DEVIATE_TICKS])


def _cost(curve: Any, ax: "Axes") -> None:
    finite = np.isfinite(curve.thresholds)
    x, y = curve.thresholds[finite], curve.cost[finite]
    _line(curve, x, y, ax, "threshold", "cost of an example", drawstyle="steps-pre")
    if np.isfinite(curve.best.at):
        ax.plot(curve.best.at, curve.best.value, "o", color=VERMILION)


def _normalised_cost(curve: Any, ax: "Axes") -> None:
    # The dotted line is that of the better constant answer.
    x = curve.probability_cost
    ax.plot(x, np.minimum(x, 1 - x), linestyle=":", color=GREY)
    _line(curve, x, curve.cost, ax, "share of the positives in the cost", "normalised cost")


def _calibration(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)  # on which scores mean what they say
    _line(curve, curve.mean_score, curve.share, ax, "mean score", "share of positives", style="o-")


def _score_distribution(counted: Any, ax: "Axes") -> None:
    # Each class as a share of its own examples: one may be a hundred times as large.
    for name, counts, ink in (
        ("negative", counted.negatives, VERMILION),
        ("positive", counted.positives, BLUE),
    ):
        words = figure_label(f"{counted.label}: {name}" if counted.label else name)
        share = counts / max(counts.sum(), 1)
        ax.stairs(share, counted.edges, fill=True, alpha=0.45, color=ink, label=words)
    ax.set(xlabel="score", ylabel="share of the class")


def _error_reject(curve: Any, ax: "Axes") -> None:
    axes = ("share rejected", "error rate of the rest")
    _line(curve, curve.rejection_rate, curve.error_rate, ax, *axes)


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
