"""The page of a result, written to a file."""

from pathlib import Path
from typing import Any

from truerisk.reporting.report import report_of


def save_report(result: Any, path: Path | str) -> Path:  # noqa: ANN401
    """Write the page of a result to a file, whole or not at all, and give its path.

    The same as ``result.report().save(path)``.

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
    return report_of(result).save(path)
