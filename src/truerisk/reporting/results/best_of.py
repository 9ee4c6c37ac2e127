"""BestOf: the learners ranked, the winner without its luck, then the winner itself."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from truerisk.estimation.refits.best_of import BestOf
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.evaluation import evaluation_pictures
from truerisk.reporting.results.learner_evaluation import (
    learner_blocks,
    learner_chapter,
    learner_facts,
    method_title,
)
from truerisk.reporting.sections.coverage import design_of, refit_uses, uses_of
from truerisk.reporting.wording import (
    cost_words,
    count,
    counted,
    interval_heading,
    percent,
    plain_text,
    with_interval,
    written,
)
from truerisk.results import Interval, number

MAX_OF_A_NAME = 40  # characters in a heading


def best_of_chapter(result: BestOf) -> doc.Chapter:
    """Give all that a page says of the best of several learners."""
    winner = result.evaluations[result.winner]
    own = learner_chapter(winner)
    subtitle = (
        counted(len(result.evaluations), "learner"),
        counted(winner.n, "example"),
        method_title(winner),
        f"{percent(winner.level)} intervals",
    )
    return doc.Chapter(
        title="Which learner is best, and how good is it?",
        subtitle=" · ".join(subtitle),
        verdict=doc.sentences(_verdict(result)),
        tiles=tuple(_tiles(result)),
        sections=(_ranking(result), _costs(result), *_named(result.winner, own.sections)),
        notes=own.notes,
    )


def _named(winner: str, sections: Iterable[doc.Section]) -> Iterator[doc.Section]:
    """Say of each section that it is about the winner alone."""
    name = visible(winner, most=MAX_OF_A_NAME)
    return (replace(section, title=f"{name}: {section.title}") for section in sections)


def _verdict(result: BestOf) -> Iterator[str]:
    best, second = (result.evaluations[name][result.measure] for name in result.ranking[:2])
    title = title_of(result.measure)
    words, corrected = written(best), written(result.corrected)
    yield (
        f"{result.winner} is the best of {len(result.evaluations)} learners: {title} {words.value} "
        f"{words.interval}."
    )
    yield (
        f"It was chosen by these numbers, and is too good by {number(abs(result.optimism))}: "
        f"choosing the best of these is worth {title} {corrected.value} {corrected.interval}."
    )
    if second.is_defined and _meet(best.interval, second.interval):
        yield (
            f"The intervals of {result.winner} and {result.ranking[1]} overlap: these numbers do "
            "not settle which is better. compare_models judges the two on the same examples."
        )
    yield from result.evaluations[result.winner].verdict


def _meet(first: Interval | None, second: Interval | None) -> bool:
    if first is None or second is None:
        return False
    return first.low <= second.high and second.low <= first.high


def _tiles(result: BestOf) -> Iterator[doc.Tile]:
    title = title_of(result.measure)
    yield doc.Tile.of(f"{title}, corrected for the choice", result.corrected)
    own = result.evaluations[result.winner][result.measure]
    yield doc.Tile.of(f"{title} of {result.winner}", own, "as it was chosen by")
    always = result.evaluations[result.winner].baseline.get(result.measure)
    if always is not None:
        yield doc.Tile.of(f"{title} of always the commonest class", always)


def _ranking(result: BestOf) -> doc.Section:
    return doc.estimate_forest(
        f"Learners by {title_of(result.measure)}",
        "Learner, best first",
        _entries(result),
        "All learners were trained and judged on the same divisions of the examples.",
    )


def _entries(result: BestOf) -> list[doc.Entry]:
    """List the learners, best first, then what choosing the best of them is worth."""
    entries = [
        doc.Entry(name, result.evaluations[name][result.measure], _model(result, name))
        for name in result.ranking
    ]
    best = doc.Entry(
        f"Best of {len(entries)}", result.corrected, "corrected for having been chosen"
    )
    return [*entries, best]


def _model(result: BestOf, name: str) -> str:
    model = result.evaluations[name].model
    return "" if model == name else model


def _costs(result: BestOf) -> doc.Section:
    columns = doc.heads("Learner", "#Refits", "#Training", "#Classifying 1,000")
    rows = []
    for name in result.ranking:
        one = result.evaluations[name]
        seconds = (math.nan, math.nan) if one.costs is None else one.costs.seconds
        rows.append((name, count(one.refits), *(cost_words("seconds", took) for took in seconds)))
    return doc.table_section(doc.Table("What each learner costs (means)", columns, tuple(rows)))


def _facts(result: Any) -> doc.Facts:
    yield "learners", plain_text(list(result.evaluations))
    yield "chosen by", title_of(result.measure)
    yield from learner_facts(result.evaluations[result.winner])


def _uses(result: Any) -> Iterator[Use]:
    for one in result.evaluations.values():
        yield from uses_of(one)
    yield from refit_uses([result.corrected], design_of(result.evaluations[result.winner].settings))


def _next_steps(result: Any) -> Iterator[str]:
    """Say what to do about the best of several learners."""
    yield (
        f"Judge {result.winner} on fresh examples before relying on it: it was chosen by these "
        f"numbers; corrected for that, {title_of(result.measure)} is "
        f"{with_interval(result.corrected)}: `truerisk score`."
    )
    if len(result.ranking) > 1:
        yield (
            f"Ask whether {result.winner} is really better than {result.ranking[1]} before paying "
            "for it: `truerisk estimate --model … --against …`."
        )


def _pictures(result: BestOf) -> doc.Pictures:
    """Draw every learner, best first, the corrected best, then the winner."""
    *rows, best = _entries(result)
    chosen = replace(best, title=f"best of {len(rows)}, corrected", ink="second", mark="D")
    yield "learners", doc.Forest(rows=[*rows, chosen], axis=title_of(result.measure))
    for name, picture in evaluation_pictures(result.evaluations[result.winner]):
        yield f"best-{name}", picture


def best_of_table(choice: BestOf) -> doc.Table:
    """Give one row per learner, best first, then what choosing the best of them is worth."""
    winner = choice.evaluations[choice.winner]
    numbers = (title_of(choice.measure), interval_heading(winner.level), "Refits")
    columns = (doc.Column("Learner"), *doc.number_columns(numbers))
    ranked = {name: choice.evaluations[name] for name in choice.ranking}
    rows = [(name, *written(one[choice.measure]), str(one.refits)) for name, one in ranked.items()]
    refits = sum(one.refits for one in ranked.values())
    rows.append((f"best of {len(ranked)}, corrected", *written(choice.corrected), str(refits)))
    return doc.Table("Learners, best first", columns, tuple(rows))


def _blocks(choice: BestOf) -> Iterator[doc.Block]:
    """Give what a terminal shows: the ranking, the correction, then the winner."""
    yield best_of_table(choice)
    yield doc.Sentences([str(choice).splitlines()[-1]])
    yield from learner_blocks(choice.evaluations[choice.winner])


PRESENTER = Presenter(
    chapter=best_of_chapter,
    blocks=_blocks,
    tables=lambda choice: [best_of_table(choice)],
    facts=_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=_pictures,
)
