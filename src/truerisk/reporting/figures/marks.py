"""What figures are made of: colours, labels that are drawn as they are, rows of intervals.

Every colour is of Okabe and Ito's, told apart by every kind of colour vision, and neither light nor
dark: it is seen on white and on black.  Letters and axes keep the colours of the caller's style.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from truerisk.errors import InputError
from truerisk.measures.curves import BLUE, GREY, VERMILION
from truerisk.reporting.escaping import figure_label, visible
from truerisk.reporting.wording import title_of
from truerisk.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "GREEN", "GREY", "VERMILION", "Row", "draw_rows", "drawable", "forest"]

GREEN = "#009E73"
LONGEST_LABEL = 40  # characters; a longer one would leave no room for the picture
LETTERS_OF_A_ROW = 0.72  # height of letters, in heights of a row
SMALLEST_LETTERS, LARGEST_LETTERS = 4.0, 10.0  # points
LETTERS_OF_A_LABEL = 1.2  # a label takes two thirds of the width of the axes, at most
NOTE_LETTER = 4.6  # width of a letter of a note, in points
SHORTEST_NOTE, LONGEST_NOTE = 24, 72  # characters of a line
POINTS = 72  # in an inch


@dataclass(frozen=True)
class Row:
    """A line of a forest: its words, and what is drawn on it; a heading has no estimate."""

    words: str
    estimate: Estimate | None = None
    ink: str = BLUE
    marker: str = "o"
    region: float | None = None


def forest(estimates: Sequence[Estimate], ax: "Axes") -> "Axes":
    """Draw each estimate as a dot on its interval, the first one on top.

    Estimates of one measure are named by their methods; of several measures, by the measures.  An
    undefined one keeps its line, and has no dot.
    """
    if not estimates:
        raise InputError("`estimates` must hold at least one estimate; got none.")
    measures = {estimate.measure for estimate in estimates}
    several = len(measures) > 1
    draw_rows([Row(title_of(e.measure) if several else e.method, e) for e in estimates], ax)
    if not several:
        ax.set_xlabel(drawable(title_of(estimates[0].measure)))
    return ax


def draw_rows(rows: Sequence[Row], ax: "Axes") -> "Axes":
    """Draw rows of intervals, the first one on top, their letters as small as the axes need."""
    furthest = max(map(abs, _finite_numbers(rows)), default=1.0)
    for place, row in enumerate(rows):
        if row.region is not None:
            ax.barh(place, 2 * row.region, left=-row.region, height=0.8, color=GREY, alpha=0.25)
        if row.estimate is not None and row.estimate.is_defined:
            _draw_estimate(row, row.estimate, place, 1.2 * furthest, ax)
    labels = [short_label(row.words) for row in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize=_letters(ax, labels))
    for row, label in zip(rows, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if row.estimate is None else "normal")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _draw_estimate(row: Row, estimate: Estimate, place: int, beyond: float, ax: "Axes") -> None:
    """Draw one interval; what has no end runs to the far side, and ends in an arrow."""
    ends = estimate.interval
    if ends is not None:
        low, high = (max(min(end, beyond), -beyond) for end in (ends.low, ends.high))
        ax.hlines(place, low, high, color=row.ink)
        for end, shown_at, arrow in ((ends.low, low, "<"), (ends.high, high, ">")):
            if math.isinf(end):
                ax.plot(shown_at, place, arrow, color=row.ink, markersize=5)
    if math.isfinite(estimate.value):
        ax.plot(estimate.value, place, row.marker, color=row.ink, markersize=5)


def _finite_numbers(rows: Sequence[Row]) -> Iterator[float]:
    for row in rows:
        if row.estimate is not None and row.estimate.is_defined:
            ends = row.estimate.interval
            found = (row.estimate.value, *(() if ends is None else (ends.low, ends.high)))
            yield from (number for number in found if math.isfinite(number))


def _letters(ax: "Axes", labels: Sequence[str]) -> float:
    """Choose the size of letters: rows must not touch, and labels leave room for the picture."""
    width, height = size_in_points(ax)
    high = LETTERS_OF_A_ROW * height / max(len(labels), 1)
    wide = LETTERS_OF_A_LABEL * width / max(map(len, labels), default=1)
    return min(max(min(high, wide), SMALLEST_LETTERS), LARGEST_LETTERS)


def size_in_points(ax: "Axes") -> tuple[float, float]:
    """Measure the axes, width and height, in the unit that letters are measured in."""
    box, points = ax.get_window_extent(), POINTS / ax.figure.dpi
    return box.width * points, box.height * points


def note_below(words: str, ax: "Axes") -> None:
    """Write a sentence under the axes, in lines as long as these are wide."""
    fit = int(size_in_points(ax)[0] / NOTE_LETTER)
    lines = wrap(drawable(words), min(max(fit, SHORTEST_NOTE), LONGEST_NOTE))
    ax.set_xlabel("\n".join(lines), fontsize="small")


def short_label(text: str) -> str:
    """Escape a label, and shorten one that would leave no room for the picture."""
    return drawable(visible(text, most=LONGEST_LABEL))


def drawable(text: str) -> str:
    """Escape a label, and whatever the default font has no picture of."""
    from matplotlib import font_manager  # noqa: PLC0415  (only who draws needs it)

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    shown = figure_label(text)
    known = [c if font.get_char_index(ord(c)) else _escape(c) for c in shown]
    return "".join(known)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
