"""Results → one page: which chapter a result gets, and how pages are kept and shown."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.reporting.chapters import Chapter, sentences
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.next_steps import next_steps
from truerisk.reporting.provenance import provenance_sections
from truerisk.reporting.rendering import rendered

# Written as names, so that a page of one kind loads nothing of the others.
CHAPTERS = {
    "SideBySide": "side_by_side_chapter",
    "Selection": "selection_chapter",
    "BestOf": "best_of_chapter",
    "LeaveOneOut": "leave_one_out_chapter",
    "XiAlpha": "xi_alpha_chapter",
    "LearnerEvaluation": "learner_chapter",
    "CorpusEvaluation": "corpus_chapter",
    "LearningCurve": "learning_curve_chapter",
    "Evaluation": "evaluation_chapter",
    "Comparisons": "comparisons_chapter",
    "OverDatasets": "rankings_chapter",
    "Comparison": "model_comparison_chapter",
    "ModelComparisons": "model_comparison_chapter",
    "Perturbed": "perturbed_chapter",
    "Estimate": "estimate_chapter",
}
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
        MachineError
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


def report_of(result: Any, **options: Any) -> Report:  # noqa: ANN401
    """Make the page of one result.

    Examples
    --------
    >>> from truerisk import evaluate_counts
    >>> report_of(evaluate_counts([[50, 50], [40, 850]])).title
    'How good is this classifier?'
    """
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


def chapter_of(
    result: Any,  # noqa: ANN401
    *,
    source: Mapping[str, Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> Chapter:
    """Find the function that makes a chapter of such a result, and call it.

    What to do next and where the numbers came from are added here, to every chapter alike.
    `source` says where the data came from, for results that do not know.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in CHAPTERS:
            name = CHAPTERS[kind.__name__]
            make = getattr(import_module(f"truerisk.reporting.{name}"), name)
            chapter: Chapter = make(result, **options)
            return replace(
                chapter,
                next_steps=sentences(next_steps(result)),
                sections=(*chapter.sections, *provenance_sections(result, source)),
            )
    raise InputError(f"`result` must be a result of truerisk; got {shown(result)}.")
