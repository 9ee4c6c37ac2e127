"""BestOf → a chapter: the learners ranked, the winner without its luck, then the winner itself."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from truerisk.reporting.chapters.learner import learner_chapter, method_title
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.estimate_forest import Entry, estimate_forest
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import Column, Table
from truerisk.reporting.wording import (
    NO_INTERVAL,
    cost_words,
    count,
    counted,
    number,
    percent,
    title_of,
    written,
)
from truerisk.results import Interval

if TYPE_CHECKING:
    from truerisk.estimation.refits.best_of import BestOf

MAX_OF_A_NAME = 40  # characters in a heading


def best_of_chapter(found: "BestOf") -> Chapter:
    """Give all that a page says of the best of several learners."""
    winner = found.evaluations[found.winner]
    own = learner_chapter(winner)
    subtitle = (
        counted(len(found.evaluations), "learner"),
        counted(winner.n, "example"),
        method_title(winner),
        f"{percent(winner.level)} intervals",
    )
    return Chapter(
        title="Which learner is best, and how good is it?",
        subtitle=" · ".join(subtitle),
        verdict=sentences(_verdict(found)),
        tiles=tuple(_tiles(found)),
        sections=(_ranking(found), _costs(found), *_named(found.winner, own.sections)),
        notes=own.notes,
    )


def _named(winner: str, sections: Iterable[Section]) -> Iterator[Section]:
    """Say of each section that it is about the winner alone."""
    name = visible(winner, most=MAX_OF_A_NAME)
    return (replace(section, title=f"{name}: {section.title}") for section in sections)


def _verdict(found: "BestOf") -> Iterator[str]:
    best, second = (found.evaluations[name][found.measure] for name in found.ranking[:2])
    title = title_of(found.measure)
    words, corrected = written(best), written(found.corrected)
    yield (
        f"{found.winner} is the best of {len(found.evaluations)} learners: {title} {words.value} "
        f"{words.interval}."
    )
    yield (
        f"It was chosen by these numbers, and is too good by {number(abs(found.optimism))}: "
        f"choosing the best of these is worth {title} {corrected.value} {corrected.interval}."
    )
    if second.is_defined and _meet(best.interval, second.interval):
        yield (
            f"The intervals of {found.winner} and {found.ranking[1]} overlap: these numbers do not "
            "settle which is better. compare_models judges the two on the same examples."
        )
    yield from found.evaluations[found.winner].verdict


def _meet(first: Interval | None, second: Interval | None) -> bool:
    if first is None or second is None:
        return False
    return first.low <= second.high and second.low <= first.high


def _tiles(found: "BestOf") -> Iterator[Tile]:
    title = title_of(found.measure)
    yield Tile.of(f"{title}, corrected for the choice", found.corrected)
    own = found.evaluations[found.winner][found.measure]
    yield Tile.of(f"{title} of {found.winner}", own, "as it was chosen by")
    always = found.evaluations[found.winner].baseline.get(found.measure)
    if always is not None:
        yield Tile.of(f"{title} of always the commonest class", always)


def _ranking(found: "BestOf") -> Section:
    entries = [
        Entry(name, found.evaluations[name][found.measure], _model(found, name))
        for name in found.ranking
    ]
    entries.append(
        Entry(f"Best of {len(entries)}", found.corrected, "corrected for having been chosen")
    )
    return estimate_forest(
        f"Learners by {title_of(found.measure)}",
        "Learner, best first",
        entries,
        "All learners were trained and judged on the same divisions of the examples.",
    )


def _model(found: "BestOf", name: str) -> str:
    model = found.evaluations[name].model
    return "" if model == name else model


def _costs(found: "BestOf") -> Section:
    heads = ("Refits", "Training", "Classifying 1,000")
    columns = (Column("Learner"), *(Column(head, numeric=True) for head in heads))
    rows = []
    for name in found.ranking:
        one = found.evaluations[name]
        told = (NO_INTERVAL, NO_INTERVAL)
        if one.costs is not None:
            induce, classify = one.costs.seconds
            told = (
                cost_words("seconds_to_induce", induce),
                cost_words("seconds_to_classify", classify),
            )
        rows.append((name, count(one.refits), *told))
    return table_section(Table("What each learner costs (means)", columns, tuple(rows)))
