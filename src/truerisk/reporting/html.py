"""Evaluation → one page: no script, no request, nothing that is not in the file."""

import base64
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from truerisk.reporting.files import check_destination, write_whole
from truerisk.reporting.page import page_data
from truerisk.results import Evaluation

__all__ = ["check_destination", "page_html", "save_report"]


def page_html(evaluation: Evaluation) -> str:
    """Give the page as text.

    Its policy names the hash of the one style sheet and forbids everything else, so that even a
    text that slipped through the escaping could neither run nor fetch anything.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("truerisk.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = templates.get_template("report.css").render()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"
    page = templates.get_template("report.html")
    # The style sheet is ours and holds no data: it may stand as it is.
    return page.render(**page_data(evaluation), style=Markup(style), policy=policy)  # noqa: S704


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
