"""OverDatasets → the critical-difference picture as a file, and one page with the tables."""

from importlib.metadata import version
from pathlib import Path

from truerisk.comparison.over_datasets import OverDatasets
from truerisk.reporting.drawings import svg_address, svg_text
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.rankings import ranking_facts, ranking_notes, ranking_tables
from truerisk.reporting.rendering import rendered
from truerisk.reporting.tables import page_table
from truerisk.reporting.wording import count

STYLES = ("report.css", "categories.css", "learning_curve.css")
SENTENCE = 2000


def ranking_svg(found: OverDatasets) -> str:
    """Draw the critical-difference picture, as high as its names need."""
    return svg_text(found.plot, height=1.6 + 0.25 * len(found.names))


def save_ranking_picture(found: OverDatasets, path: Path | str) -> Path:
    """Write the critical-difference picture to a file, whole or not at all, and give its path."""
    return write_whole(Path(path), ranking_svg(found))


def ranking_html(found: OverDatasets) -> str:
    """Give the page as text."""
    caption = (
        "The best rank is at the right. Bars join classifiers whose average ranks differ by less "
        "than the critical difference."
        if found.control is None
        else "The best rank is at the right. Outside the bar, a rank differs from the control's."
    )
    picture = {
        "title": "Average ranks",
        "caption": caption,
        "data": svg_address(ranking_svg(found)),
    }
    data = {
        "title": "Which classifier is better over many data sets?",
        "subtitle": f"{count(found.n)} data sets · {count(len(found.names))} classifiers",
        "verdict": [visible(sentence, most=SENTENCE) for sentence in found.verdict],
        "pictures": [picture],
        "tables": [page_table(table) for table in ranking_tables(found)],
        "notes": [visible(note, most=SENTENCE) for note in ranking_notes(found)],
        "facts": [(visible(a), visible(b, most=SENTENCE)) for a, b in ranking_facts(found)],
        "version": version("truerisk"),
    }
    return rendered("learning_curve.html", STYLES, data)


def save_ranking(found: OverDatasets, path: Path | str) -> Path:
    """Write the page to a file, whole or not at all, and give its path."""
    return write_whole(Path(path), ranking_html(found))
