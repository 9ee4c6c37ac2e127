"""Figures 3 to 6 of Joachims: averages by category, and learning curves."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studies.reproduction.joachims_printed import WORDS
from studies.reproduction.joachims_trials import Compared
from truerisk.reporting.render.figures import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BESIDE = 0.15  # how far the two dots of a category stand apart


@dataclass(frozen=True)
class AveragesPicture:
    """One measure of every category: the average estimate beside the average on hold-out sets."""

    compared: tuple[Compared, ...]

    def plot(self, ax: "Axes") -> "Axes":
        """Draw two dots a category, each with a bar of one standard deviation either way."""
        places = range(len(self.compared))
        for shift, colour, label, spreads in (
            (-BESIDE, BLUE, "ξα-estimate", [row.estimate for row in self.compared]),
            (BESIDE, VERMILION, "hold-out set", [row.holdout for row in self.compared]),
        ):
            bars = [0.0 if math.isnan(one.deviation) else one.deviation for one in spreads]
            ax.errorbar(
                [place + shift for place in places],
                [one.mean for one in spreads],
                yerr=bars,
                fmt="o",
                color=colour,
                label=label,
            )
        ax.set_xticks(list(places), [row.category for row in self.compared], rotation=45)
        ax.set_ylabel(f"{WORDS[self.compared[0].measure]}, %")
        ax.legend()
        return ax


@dataclass(frozen=True)
class CurvePicture:
    """One measure of one category against the number of training documents."""

    compared: tuple[Compared, ...]  # ascending sizes

    def plot(self, ax: "Axes") -> "Axes":
        """Draw the averages as lines, the standard deviations as dashed lines."""
        sizes = [row.train_size for row in self.compared]
        for colour, label, spreads in (
            (BLUE, "ξα-estimate", [row.estimate for row in self.compared]),
            (VERMILION, "hold-out set", [row.holdout for row in self.compared]),
        ):
            ax.plot(sizes, [one.mean for one in spreads], "o-", color=colour, label=label)
            deviations = [one.deviation for one in spreads]
            ax.plot(sizes, deviations, "o--", color=colour, label=f"{label}, sd", markersize=3)
        ax.set_xscale("log")
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.set_xticks([], minor=True)
        ax.set_ylim(bottom=0)
        first = self.compared[0]
        ax.set_xlabel(f"training documents ({first.category})")
        ax.set_ylabel(f"{WORDS[first.measure]}, %")
        ax.legend()
        return ax
