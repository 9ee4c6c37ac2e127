"""LeaveOneOut → the chapter of an evaluation that says of which kind it is."""

from dataclasses import replace
from typing import TYPE_CHECKING

from truerisk.reporting.chapters.evaluation import evaluation_chapter
from truerisk.reporting.page.parts import Chapter

if TYPE_CHECKING:
    from truerisk.estimation.svm.leave_one_out import LeaveOneOut


def leave_one_out_chapter(found: "LeaveOneOut") -> Chapter:
    """Give all that a page says of leave-one-out predictions."""
    chapter = evaluation_chapter(found)
    return replace(
        chapter,
        title="How good will this learner be?",
        subtitle=f"leave-one-out, exact · {chapter.subtitle}",
    )
