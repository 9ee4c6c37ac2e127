"""LeaveOneOut → the chapter of an evaluation that says of which kind it is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from truerisk.reporting.chapters import Chapter, fact_pairs, sentences
from truerisk.reporting.evaluation_chapter import evaluation_chapter
from truerisk.reporting.next_steps import next_steps
from truerisk.reporting.wording import count

if TYPE_CHECKING:
    from truerisk.estimation.leave_one_out import LeaveOneOut


def leave_one_out_chapter(found: "LeaveOneOut") -> Chapter:
    """Give all that a page says of leave-one-out predictions."""
    chapter = evaluation_chapter(found)
    return replace(
        chapter,
        next_steps=sentences(next_steps(found)),
        title="How good will this learner be?",
        subtitle=f"leave-one-out, exact · {chapter.subtitle}",
        facts=(*fact_pairs(_facts(found)), *chapter.facts),
    )


def _facts(found: "LeaveOneOut") -> Iterator[tuple[str, str]]:
    yield "called wrong by the model trained without them", _examples(found.errors)
    yield "margin exactly 0, so that the call is arbitrary", _examples(found.ties)
    yield "refits; the other calls follow from the training on all", count(found.refits)


def _examples(which: tuple[int, ...]) -> str:
    return "1 example" if len(which) == 1 else f"{count(len(which))} examples"
