"""Estimates → figures.  Each function takes axes and returns them; matplotlib is the caller's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from truerisk.errors import InputError
from truerisk.reporting.escaping import figure_label
from truerisk.reporting.wording import title_of
from truerisk.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1f4e79"


def forest(estimates: Sequence[Estimate], ax: "Axes") -> "Axes":
    """Draw each estimate as a dot on its interval, the first one on top.

    Estimates of one measure are named by their methods; of several measures, by the measures.  An
    undefined one keeps its line, and has no dot.
    """
    if not estimates:
        raise InputError("`estimates` must hold at least one estimate; got none.")
    measures = {estimate.measure for estimate in estimates}
    for row, estimate in enumerate(estimates):
        if not estimate.is_defined:
            continue
        if estimate.interval is not None:
            ax.hlines(row, estimate.interval.low, estimate.interval.high, color=INK)
        ax.plot(estimate.value, row, "o", color=INK)
    names = [e.method if len(measures) == 1 else title_of(e.measure) for e in estimates]
    ax.set_yticks(range(len(estimates)), [drawable(name) for name in names])
    ax.set_ylim(len(estimates) - 0.5, -0.5)
    if len(measures) == 1:
        ax.set_xlabel(drawable(title_of(estimates[0].measure)))
    return ax


def drawable(text: str) -> str:
    """Escape a label, and whatever the default font has no picture of."""
    from matplotlib import font_manager  # noqa: PLC0415  (only who draws needs it)

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    shown = figure_label(text)
    known = [c if font.get_char_index(ord(c)) else _escape(c) for c in shown]
    return "".join(known)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
