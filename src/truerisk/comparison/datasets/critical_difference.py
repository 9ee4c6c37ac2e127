"""The critical-difference picture: average ranks on a line, bars over those that may be equal."""

from typing import TYPE_CHECKING, Any

from truerisk.comparison.datasets.over_datasets import OverDatasets
from truerisk.measures.curves import plain_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of Okabe and Ito: distinct for every kind of colour vision, and in grey by their places.
INK, GROUP, CONTROL = "black", "#0072B2", "#D55E00"
ABOVE = 1.1  # where the critical difference is drawn, in lines above the axis
FIRST_BAR, BAR_STEP = 0.35, 0.32  # of the bars under the axis, in lines
LONGEST_NAME = 32
MARGIN = 0.12  # between the ends of the axis and the names, in lengths of the axis
ROOM = 0.55  # for names on either side, in lengths of the axis


def plot_critical_difference(result: OverDatasets, ax: "Axes") -> "Axes":
    """Draw the average ranks, the best at the right, and those that the ranks do not separate.

    Names hang from the line, the better half at the right and the worse half at the left, each
    half one under the other: none can collide.  A thick bar joins classifiers whose average
    ranks differ by less than Nemenyi's critical difference, drawn above the line.  With a control,
    the bar is Bonferroni and Dunn's instead: what lies outside ranks differently from the
    control.  With two classifiers there is no critical difference, and no bar.
    """
    k = len(result.names)
    names = result.in_order
    bars = _bars(result)
    depth = FIRST_BAR + BAR_STEP * len(bars)
    ax.hlines(0, 1, k, color=INK, linewidth=1)
    for rank in range(1, k + 1):
        ax.vlines(rank, 0, 0.18, color=INK, linewidth=1)
        ax.text(rank, 0.28, str(rank), ha="center", va="bottom", fontsize="small")
    ax.vlines([rank + 0.5 for rank in range(1, k)], 0, 0.1, color=INK, linewidth=0.6)
    for row, (low, high, colour) in enumerate(bars):
        height = -FIRST_BAR - BAR_STEP * row
        # A group of equal ranks would have no width; the pad keeps every bar visible.
        pad = 0.012 * (k - 1) if colour == GROUP else 0.0
        ax.hlines(height, low - pad, high + pad, color=colour, linewidth=3.5)
    right = (k + 1) // 2
    for place, name in enumerate(names):
        on_right = place < right
        row = place if on_right else k - 1 - place
        _name(ax, result, name, height=-depth - 0.55 * row - 0.25, on_right=on_right)
    _critical(ax, result)
    lowest = -depth - 0.55 * max(right - 1, 0) - 0.6
    width = k - 1
    ax.set_xlim(k + ROOM * width + MARGIN * width, 1 - ROOM * width - MARGIN * width)
    ax.set_ylim(lowest, ABOVE + 0.75)
    ax.set_axis_off()
    return ax


def _bars(result: OverDatasets) -> list[tuple[float, float, str]]:
    """Give what is drawn under the line: ends and colour of each bar."""
    if result.control is not None and result.control_difference is not None:
        center, half = result.rank_of(result.control), result.control_difference
        return [(max(1.0, center - half), min(len(result.names), center + half), CONTROL)]
    return [
        (result.rank_of(group[0]), result.rank_of(group[-1]), GROUP) for group in result.cliques
    ]


def _name(ax: "Axes", result: OverDatasets, name: str, *, height: float, on_right: bool) -> None:
    """Draw a line down from the rank and out to the name at the side."""
    k, rank = len(result.names), result.rank_of(name)
    end = 1 - MARGIN * (k - 1) if on_right else k + MARGIN * (k - 1)
    colour = CONTROL if name == result.control else INK
    ax.plot([rank, rank, end], [0, height, height], color=colour, linewidth=0.9)
    ax.plot([rank], [0], "o", color=colour, markersize=3)
    short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    words: dict[str, Any] = {"va": "center", "fontsize": "medium", "color": colour}
    # The axis runs from right to left: the names at its low end stand at the right.
    gap = 0.015 * (k - 1)
    if on_right:
        ax.text(end - gap, height, plain_label(f"{rank:.2f}  {short}"), ha="left", **words)
    else:
        ax.text(end + gap, height, plain_label(f"{short}  {rank:.2f}"), ha="right", **words)


def _critical(ax: "Axes", result: OverDatasets) -> None:
    """Draw the critical difference above the line, from the best rank on."""
    is_control = result.control_difference is not None
    length = result.control_difference if is_control else result.critical_difference
    if length is None:
        return
    # It may be longer than the line; from the best rank on it then runs out at the left.
    ax.hlines(ABOVE, 1, 1 + length, color=INK, linewidth=1)
    ax.vlines([1, 1 + length], ABOVE - 0.1, ABOVE + 0.1, color=INK, linewidth=1)
    kind = "Bonferroni-Dunn" if is_control else "Nemenyi"
    words = f"critical difference {length:.2f} ({kind}, {100 * result.level:.10g} %)"
    ax.text(1 + length / 2, ABOVE + 0.15, words, ha="center", va="bottom", fontsize="small")
