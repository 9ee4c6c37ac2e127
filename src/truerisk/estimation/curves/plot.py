"""The picture of a learning curve: the hold-out with its interval, the estimate, the costs."""

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from truerisk.estimation.curves.results import CurvePoint, LearningCurve
from truerisk.estimation.svm.selection import COLOURS
from truerisk.measures.curves import GREY, plain_label
from truerisk.measures.registry import title_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

COST_LABELS = {
    "seconds_to_induce": "seconds to train",
    "seconds_to_classify": "seconds to classify 1,000 examples",
    "memory": "bytes of examples and model",
    "cpu_seconds": "CPU seconds to train",
}
LAW_POINTS = 60


def plot_curve(curve: LearningCurve, ax: "Axes") -> "Axes":
    """Draw each learner: mean, interval (band), sd (whiskers), estimate (dashed)."""
    for (name, learner), colour in zip(curve.items(), cycle(COLOURS), strict=False):
        sizes = learner.sizes
        means = [point.mean for point in learner.points]
        ax.errorbar(
            sizes,
            means,
            yerr=[point.sd for point in learner.points],
            fmt="o-",
            color=colour,
            markersize=3,
            capsize=2,
            elinewidth=0.8,
            label=plain_label(name),
        )
        low, high = zip(*map(_ends, learner.points), strict=True)
        ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
        estimates = [point.estimate_mean for point in learner.points]
        if any(value is not None for value in estimates):
            own = [np.nan if value is None else value for value in estimates]
            ax.plot(sizes, own, "--", color=colour, linewidth=1)
    ax.set_xscale("log")
    ax.set_xlabel("training examples")
    ax.set_ylabel(title_of(curve.measure))
    learners, _ = ax.get_legend_handles_labels()
    ax.legend(handles=[*learners, *_marks(curve)])
    return ax


def _marks(curve: LearningCurve) -> Iterator["Artist"]:
    """Say what band, whiskers and dashes are: of any learner, hence without its colour."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  (whoever has axes has loaded it)
    from matplotlib.patches import Patch  # noqa: PLC0415

    points = [point for learner in curve.values() for point in learner.points]
    if any(point.interval is not None for point in points):
        words = f"{100 * curve.level:.10g} % interval of the mean"
        yield Patch(facecolor=GREY, alpha=0.3, label=words)
    yield Line2D([], [], color=GREY, marker="|", linestyle="", label="sd of one repeat")
    if any(point.estimate_mean is not None for point in points):
        words = "what the training part alone says"
        yield Line2D([], [], color=GREY, linestyle="--", linewidth=1, label=words)


def plot_costs(curve: LearningCurve, cost: str, ax: "Axes") -> "Axes":
    """Draw one cost of each learner against the training size, and the line of its growth."""
    for (name, learner), colour in zip(curve.items(), cycle(COLOURS), strict=False):
        values = [getattr(point, cost) for point in learner.points]
        growth = learner.growth[cost]
        power = "" if growth is None else f" ~ n^{growth.exponent:.2f}"
        ax.plot(
            learner.sizes,
            values,
            "o",
            color=colour,
            markersize=3,
            label=plain_label(f"{name}{power}"),
        )
        if growth is not None:
            line = np.array([growth.sizes[0], growth.sizes[-1]], dtype=np.float64)
            ax.plot(line, [growth.at(size) for size in line], "-", color=colour, linewidth=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("training examples")
    ax.set_ylabel(COST_LABELS[cost])
    ax.legend()
    return ax


def _ends(point: CurvePoint) -> tuple[float, float]:
    if point.interval is None or np.isnan(point.mean):
        return np.nan, np.nan
    return point.interval.low, point.interval.high
