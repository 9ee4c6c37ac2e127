"""LeaveOneOut: the presentation of an evaluation that says of which kind it is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from truerisk.estimation.svm.leave_one_out import LeaveOneOut
from truerisk.reporting.document import Chapter, Facts
from truerisk.reporting.presenter import by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.sections.coverage import svm_uses
from truerisk.reporting.wording import count, counted


def leave_one_out_chapter(result: LeaveOneOut) -> Chapter:
    """Give all that a page says of leave-one-out predictions."""
    chapter = predictions.evaluation_chapter(result)
    return replace(
        chapter,
        title="How good will this learner be?",
        subtitle=f"leave-one-out, exact · {chapter.subtitle}",
    )


def _facts(evaluation: Any) -> Facts:
    yield from predictions.evaluation_facts(evaluation)
    yield (
        "called wrong by the model trained without them",
        counted(len(evaluation.errors), "example"),
    )
    yield (
        "margin exactly 0, so that the call is arbitrary",
        counted(len(evaluation.ties), "example"),
    )
    yield "refits; the other calls follow from the training on all", count(evaluation.refits)


def between_settings(evaluation: Any) -> Iterator[str]:
    """Send on to the choice among settings."""
    yield (
        f"Choose C and kernel by the same {count(evaluation.n)} examples, with no test set spent: "
        "`tr.select`."
    )


PRESENTER = replace(
    predictions.PRESENTER,
    chapter=leave_one_out_chapter,
    facts=_facts,
    next_steps=by_rules(
        (
            predictions.no_better_than_a_constant,
            predictions.one_pair_of_classes,
            predictions.classes_with_few_examples,
        ),
        between_settings,
    ),
    intervals=svm_uses,
)
