"""XiAlpha → the chapter of an evaluation that says of which kind it is, for every ρ."""

from dataclasses import replace
from typing import TYPE_CHECKING

from truerisk.reporting.chapters import Chapter, Section
from truerisk.reporting.evaluation_chapter import evaluation_chapter
from truerisk.reporting.tables import Column, Table, page_table
from truerisk.reporting.wording import title_of, written
from truerisk.results import Estimate

if TYPE_CHECKING:
    from truerisk.estimation.xi_alpha import XiAlpha


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
        sections=(head, _at_every_rho(found), *rest),
    )


def _at_every_rho(found: "XiAlpha") -> Section:
    columns = (
        Column("Measure"),
        *(Column(f"ρ = {rho:g}", numeric=True) for rho in found.at_rho),
    )
    rows = tuple(
        (title_of(name), *(_in_one_cell(at[name]) for at in found.at_rho.values()))
        for name in found
    )
    table = page_table(Table("At every ρ", columns, rows))
    return Section(
        "table",
        table["title"],
        {**table, "left_out": 0},
        "At ρ = 2 no error of leave-one-out is missed, as long as the machine is stable; a smaller "
        "ρ leans less to the pessimistic side. Never refined.",
    )


def _in_one_cell(estimate: Estimate) -> str:
    words = written(estimate)
    return f"{words.value} {words.interval}" if estimate.is_defined else words.value
