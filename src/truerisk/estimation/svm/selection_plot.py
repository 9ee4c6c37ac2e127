"""The picture of a selection: the estimate against C, with its interval."""

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from truerisk.estimation.svm.selection import Candidate, Selection, setting_text
from truerisk.measures.curves import plain_label
from truerisk.measures.registry import title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito: told apart by every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def plot_selection(selection: Selection, ax: "Axes") -> "Axes":
    """Draw a line for each setting, its interval behind it, and mark the winner."""
    lines: dict[str, list[Candidate]] = {}
    for candidate in selection.candidates:
        others = {name: value for name, value in candidate.parameters.items() if name != "C"}
        lines.setdefault(setting_text(others), []).append(candidate)
    for (name, line), colour in zip(lines.items(), cycle(COLOURS), strict=False):
        costs = np.array([float(one.parameters["C"]) for one in line])
        values = np.array([one.estimate.value for one in line])
        ends = [one.estimate.interval for one in line]
        ax.plot(costs, values, "o-", color=colour, markersize=3, label=plain_label(name))
        ax.fill_between(
            costs,
            [np.nan if end is None else end.low for end in ends],
            [np.nan if end is None else end.high for end in ends],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
    ax.plot(float(selection.best["C"]), selection.estimate.value, "*", color="black", markersize=12)
    ax.set_xscale("log")
    ax.set_xlabel("C")
    ax.set_ylabel(title_of(selection.estimate.measure))
    if len(lines) > 1:
        ax.legend()
    return ax
