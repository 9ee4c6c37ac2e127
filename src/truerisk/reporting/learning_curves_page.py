"""LearningCurve → one page: pictures of values and costs, and the tables behind them."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerisk.curves.results import LearningCurve
from truerisk.reporting.drawings import svg_address, svg_text
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.learning_curves import (
    curve_facts,
    curve_sentences,
    curve_tables,
    point_notes,
)
from truerisk.reporting.rendering import rendered
from truerisk.reporting.tables import page_table
from truerisk.reporting.wording import count, percent, title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("report.css", "categories.css", "learning_curve.css")
SENTENCE = 2000


def curve_html(curve: LearningCurve, wanted: float | None = None) -> str:
    """Give the page as text."""
    return rendered("learning_curve.html", STYLES, curve_data(curve, wanted))


def save_curve(curve: LearningCurve, path: Path | str, wanted: float | None = None) -> Path:
    """Write the page to a file, whole or not at all, and give its path."""
    return write_whole(Path(path), curve_html(curve, wanted))


def curve_data(curve: LearningCurve, wanted: float | None = None) -> dict[str, Any]:
    """Give everything the page shows, in plain values; all texts are visible ones."""
    from truerisk.curves.plot import plot_costs, plot_curve  # noqa: PLC0415

    pictures = [
        _picture(
            f"{title_of(curve.measure)} against training examples",
            f"Band: {percent(curve.level)} interval of the mean; whiskers: sd of one repeat; "
            "dashed: what the training part alone says.",
            lambda ax: plot_curve(curve, ax),
        ),
        *(
            _picture(
                title, "Dots: medians; line: the fitted growth.", _costs(plot_costs, curve, cost)
            )
            for cost, title in (
                ("seconds_to_induce", "Time to train"),
                ("seconds_to_classify", "Time to classify 1,000 examples"),
                ("memory", "Memory of examples and model"),
            )
        ),
    ]
    parts = (
        f"{count(curve.n)} examples",
        f"{count(curve.held_out)} held out, {count(curve.repeats)} times",
        f"{percent(curve.level)} intervals",
    )
    notes = (*curve.notes, *point_notes(curve))
    return {
        "title": "Would more examples help?",
        "subtitle": " · ".join(parts),
        "verdict": [visible(one, most=SENTENCE) for one in curve_sentences(curve, wanted)],
        "pictures": pictures,
        "tables": [page_table(table) for table in curve_tables(curve)],
        "notes": [visible(note, most=SENTENCE) for note in notes],
        "facts": [(visible(a), visible(b, most=SENTENCE)) for a, b in curve_facts(curve)],
        "version": version("truerisk"),
    }


def _costs(
    plot: Callable[[LearningCurve, str, Any], Any], curve: LearningCurve, cost: str
) -> "Callable[[Axes], Any]":
    return lambda ax: plot(curve, cost, ax)


def _picture(title: str, caption: str, draw: "Callable[[Axes], Any]") -> dict[str, str]:
    return {"title": title, "caption": caption, "data": svg_address(svg_text(draw))}
