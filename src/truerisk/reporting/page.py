"""Results → one page: one chapter per result, the file, and what a notebook shows."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from truerisk.errors import InputError
from truerisk.reporting.document import Chapter, sentences
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.presenter import next_steps, presenter_of
from truerisk.reporting.render.html import page_templates, rendered
from truerisk.reporting.sections.provenance import provenance_sections

FRAME_HEIGHT = 720


@dataclass(frozen=True, eq=False)
class Report:
    """A page about one result or several: one file that loads nothing.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> page = evaluate_counts([[50, 50], [40, 850]]).report()
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """

    title: str
    subtitle: str
    chapters: tuple[Chapter, ...]

    @cached_property
    def html(self) -> str:
        """The page as text."""
        return rendered(self.title, self.subtitle, self.chapters)

    def save(self, path: Path | str) -> Path:
        """Write the page to a file, whole or not at all, and give its path.

        Raises
        ------
        ResourceError
            If the folder does not exist, or cannot be written, or is full; an older page is then
            still there.
        """
        return write_whole(Path(path), self.html)

    def _repr_html_(self) -> str:
        # A frame of its own: neither do our styles reach the notebook, nor its styles us.  In it a
        # bare "#place" would be one of the notebook, and load that into the frame; only our own
        # links have a plain quotation mark.
        page = self.html.replace('href="#', 'href="about:srcdoc#')
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {FRAME_HEIGHT}px; border: 1px solid #ccc" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )


def report_of(result: Any, **options: Any) -> Report:
    """Make the page of one result."""
    chapter = chapter_of(result, **options)
    return Report(chapter.title, chapter.subtitle, (chapter,))


def report_on(results: Mapping[str, Any], *, title: str, subtitle: str = "") -> Report:
    """Make one page of several results, each a chapter under the title that it is given.

    Parameters
    ----------
    results
        Title of each chapter, and its result.
    title
        Of the page.
    subtitle
        A line under it.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> page = report_on({"Old": evaluate_counts([[5, 2], [1, 9]]),
    ...                   "New": evaluate_counts([[6, 1], [1, 9]])}, title="Spam")
    >>> [chapter.title for chapter in page.chapters]
    ['Old', 'New']
    """
    if not results:
        raise InputError("`results` must hold at least one result; got none.")
    chapters = [
        replace(chapter_of(result), title=visible(name)) for name, result in results.items()
    ]
    return Report(visible(title), visible(subtitle), tuple(chapters))


def chapter_of(result: Any, *, source: Mapping[str, Any] | None = None, **options: Any) -> Chapter:
    """Make the chapter of a result, with next steps and with where its numbers came from.

    `source` says where the data came from, for results that do not hold it; `options` are of the
    presenter.
    """
    chapter = presenter_of(result, **options).chapter(result)
    rivals = (options.get("rivals") or {}).values()
    return replace(
        chapter,
        next_steps=sentences(next_steps(result)),
        sections=(*chapter.sections, *provenance_sections(result, source, rivals)),
    )


def save_report(result: Any, path: Path | str) -> Path:
    """Write the page of a result to a file, whole or not at all, and give its path.

    The same as ``result.report().save(path)``.

    Parameters
    ----------
    result
        What a function of this library gives.
    path
        The file; its folder must exist.

    Raises
    ------
    ResourceError
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


def notebook_html(result: Any) -> str:
    """Give a small piece of HTML that takes its colours from the notebook around it."""
    return page_templates().get_template("notebook.html").render(chapter=chapter_of(result))
