"""A result → what a notebook shows of it: the verdict and the few numbers that matter."""

from typing import Any

from truerisk.reporting.page.rendering import page_templates
from truerisk.reporting.page.report import chapter_of


def notebook_html(result: Any) -> str:  # noqa: ANN401
    """Give a small piece of HTML that takes its colours from the notebook around it.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> "always answering" in notebook_html(evaluate_counts([[50, 50], [40, 850]]))
    True
    """
    return page_templates().get_template("notebook.html").render(chapter=chapter_of(result))
