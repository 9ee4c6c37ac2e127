"""XiAlpha → the chapter of an evaluation that says of which kind it is, for every ρ."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from truerisk.reporting.chapters.evaluation import evaluation_chapter
from truerisk.reporting.page.parts import Chapter, Section, sentences
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import Column, Table, remarks, with_interval
from truerisk.reporting.wording import count, title_of

if TYPE_CHECKING:
    from truerisk.estimation.svm.xi_alpha import XiAlpha


def xi_alpha_chapter(found: "XiAlpha") -> Chapter:
    """Give all that a page says of the ξα-estimates of a machine."""
    chapter = evaluation_chapter(found)
    refined = ", refined by the span" if found.settings.get("refine") else ""
    rho = f", ρ = {found.settings['rho']:g}" if "rho" in found.settings else ""
    head, *rest = chapter.sections
    return replace(
        chapter,
        title="How well will this machine do, by its training alone?",
        subtitle=f"ξα-estimate{rho}{refined}, no refit · {chapter.subtitle}",
        verdict=(*sentences(_at_risk(found)), *chapter.verdict),
        sections=(head, _at_every_rho(found), *rest),
        notes=sentences(_once(found)),
    )


def _at_risk(found: "XiAlpha") -> Iterator[str]:
    """Say how many examples, or decisions about them, count as wrong."""
    at_risk, problems = sum(map(len, found.at_risk)), len(found.at_risk)
    of = "training examples" if problems == 1 else "decisions about the training examples"
    yield (
        f"{count(at_risk)} of {count(problems * found.n)} {of} are at risk: trained without the "
        "example, the machine might call it wrong."
    )


def _once(found: "XiAlpha") -> Iterator[str]:
    """Give the remarks, but those on measures that repeat what is said of all of them."""
    for remark in remarks(found):
        if not any(remark.endswith(f": {note}") for note in found.notes):
            yield remark


def _at_every_rho(found: "XiAlpha") -> Section:
    columns = (
        Column("Measure"),
        *(Column(f"ρ = {rho:g}", numeric=True) for rho in found.at_rho),
    )
    rows = tuple(
        (title_of(name), *(with_interval(at[name]) for at in found.at_rho.values()))
        for name in found
    )
    return table_section(
        Table("At every ρ", columns, rows),
        "At ρ = 2 no error of leave-one-out is missed, as long as the machine is stable; a smaller "
        "ρ leans less to the pessimistic side. Never refined.",
    )
