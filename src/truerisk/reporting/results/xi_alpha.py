"""XiAlpha: the presentation of an evaluation that says of which kind it is, for every ρ."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from truerisk.estimation.svm.xi_alpha import XiAlpha
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.results.leave_one_out import between_settings
from truerisk.reporting.sections.coverage import svm_uses
from truerisk.reporting.wording import count, with_interval
from truerisk.results import number


def xi_alpha_chapter(result: XiAlpha) -> doc.Chapter:
    """Give all that a page says of the ξα-estimates of an SVM."""
    chapter = predictions.evaluation_chapter(result)
    by = {"span": "the span", "search": f"a search of depth {result.settings.get('depth')}"}
    refine = result.settings.get("refine")
    refined = f", refined by {by[refine]}" if refine else ""
    rho = f", ρ = {result.settings['rho']:g}" if "rho" in result.settings else ""
    head, *rest = chapter.sections
    return replace(
        chapter,
        title="How well will this SVM do, by its training alone?",
        subtitle=f"ξα-estimate{rho}{refined}, no refit · {chapter.subtitle}",
        verdict=(*doc.sentences(_at_risk(result)), *chapter.verdict),
        sections=(head, _at_every_rho(result), *rest),
        notes=doc.sentences(predictions.remarks(result)),
    )


def _at_risk(result: XiAlpha) -> Iterator[str]:
    """Say how many examples, or decisions about them, count as wrong."""
    at_risk, problems = sum(map(len, result.at_risk)), len(result.at_risk)
    of = "training examples" if problems == 1 else "decisions about the training examples"
    yield (
        f"{count(at_risk)} of {count(problems * result.n)} {of} are at risk: trained without the "
        "example, the SVM might call it wrong."
    )


def _at_every_rho(result: XiAlpha) -> doc.Section:
    columns = doc.heads(
        "Measure", *(doc.Column(f"ρ = {rho:g}", numeric=True) for rho in result.at_rho)
    )
    rows = tuple(
        (title_of(name), *(with_interval(at[name]) for at in result.at_rho.values()))
        for name in result
    )
    return doc.table_section(
        doc.Table("At every ρ", columns, rows),
        "At ρ = 2 no error of leave-one-out is missed, as long as the SVM is stable; a smaller "
        "ρ leans less to the pessimistic side. Never refined.",
    )


def _next_steps(evaluation: Any) -> Iterator[str]:
    """Say what to do about an estimate that leans to the pessimistic side."""
    error = evaluation.get("error_rate")
    if error is not None and error.is_defined and error.value > 0:
        risky = sum(map(len, evaluation.at_risk))
        yield (
            f"Leave out the {count(risky)} examples at risk in earnest, if {number(error.value)} "
            "is too pessimistic to decide by: `tr.leave_one_out`."
        )
    yield from between_settings(evaluation)


PRESENTER = replace(
    predictions.PRESENTER, chapter=xi_alpha_chapter, next_steps=_next_steps, intervals=svm_uses
)
