"""Evaluation → one page: no script, no request, nothing that is not in the file."""

from pathlib import Path

from truerisk.reporting.files import check_destination, write_whole
from truerisk.reporting.page import page_data
from truerisk.reporting.rendering import rendered
from truerisk.results import Evaluation

__all__ = ["check_destination", "page_html", "save_report"]


def page_html(evaluation: Evaluation) -> str:
    """Give the page as text."""
    return rendered("report.html", ("report.css",), page_data(evaluation))


def save_report(evaluation: Evaluation, path: Path | str) -> Path:
    """Write the page to a file, whole or not at all, and give its path.

    Raises
    ------
    MachineError
        If the folder does not exist, or cannot be written, or is full; an older report is then
        still there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from truerisk.evaluation import evaluate_counts
    >>> with TemporaryDirectory() as folder:
    ...     page = save_report(evaluate_counts([[50, 50], [40, 850]]), f"{folder}/report.html")
    ...     page.name, "<!DOCTYPE html>" in page.read_text(encoding="utf-8")
    ('report.html', True)
    """
    return write_whole(Path(path), page_html(evaluation))
