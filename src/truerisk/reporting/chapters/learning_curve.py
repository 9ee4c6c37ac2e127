"""LearningCurve → a chapter: what more examples bring, what they cost, and the tables behind it."""

import math
from collections.abc import Iterator

from truerisk.estimation.curves.results import CurvePoint, LearnerCurve, LearningCurve
from truerisk.reporting.learning_curves import (
    TWICE,
    crossing_table,
    curve_tables,
    expectation,
    needed_table,
    point_notes,
)
from truerisk.reporting.page.charts import charts_section
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.learning_curve_charts import (
    budget_charts,
    cost_chart,
    value_charts,
)
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.wording import count, counted, percent, title_of, written
from truerisk.results import Estimate

MAX_TILES = 4
MAX_TOLD = 3  # learners in the verdict; the tables have them all
NO_LAW = "too few sizes have a value, or the measure has no better side"


def learning_curve_chapter(curve: LearningCurve, wanted: float | None = None) -> Chapter:
    """Give all that a page says of learning curves; `wanted` is a value of the measure to reach."""
    subtitle = (
        counted(curve.n, "example"),
        f"{count(curve.held_out)} held out, {counted(curve.repeats, 'time')}",
        f"{percent(curve.level)} intervals",
    )
    return Chapter(
        title="Would more examples help?",
        subtitle=" · ".join(subtitle),
        verdict=sentences(_verdict(curve, wanted)),
        tiles=tuple(_tiles(curve)),
        sections=(
            charts_section("Learning curves", list(value_charts(curve, wanted))),
            charts_section(
                "What it costs in time",
                [cost_chart(curve, cost) for cost in ("seconds_to_induce", "seconds_to_classify")],
                "Dots are medians over the repeats; the line is the growth fitted to the larger "
                "half of the sizes.",
            ),
            charts_section(
                "What it costs in memory, and what a budget buys",
                [cost_chart(curve, "memory"), *budget_charts(curve)],
            ),
            *_tables(curve, wanted),
        ),
        notes=sentences((*curve.notes, *point_notes(curve))),
    )


def _verdict(curve: LearningCurve, wanted: float | None) -> Iterator[str]:
    """Say what the best learners gain by more examples, and whether that is sure."""
    ranked = _best_first(curve)
    for learner in ranked[:MAX_TOLD]:
        yield from expectation(curve, learner)
    best = ranked[0]
    if best.extrapolation is None:
        yield f"What more examples would bring cannot be said of {best.name}: {NO_LAW}."
    else:
        yield from (
            f"{best.name}: the law behind that is {note}." for note in best.extrapolation.notes
        )
        if wanted is not None:
            told = str(best.extrapolate(wanted)).replace(curve.measure, title_of(curve.measure), 1)
            yield f"{best.name}: {told}."
    yield from (f"Failed: {failure}" for failure in curve.failures)


def _best_first(curve: LearningCurve) -> list[LearnerCurve]:
    """Order the learners by their mean at the largest size; as given where no side is better."""
    sign = {True: -1.0, False: 1.0, None: 0.0}[curve.higher_is_better]

    def place(learner: LearnerCurve) -> tuple[bool, float]:
        mean = learner.points[-1].mean
        return math.isnan(mean), 0.0 if math.isnan(mean) else sign * mean

    return sorted(curve.values(), key=place)


def _tiles(curve: LearningCurve) -> Iterator[Tile]:
    """Give the values that were measured; of one learner also what a law says of more examples."""
    law = next(iter(curve.values())).extrapolation
    if len(curve) > 1 or law is None:
        yield from _tiles_of_learners(curve)
        return
    point = next(iter(curve.values())).points[-1]
    title = title_of(curve.measure)
    yield Tile.of(
        f"{title} from {counted(point.size, 'example')}", _estimate(curve, point), "measured"
    )
    for size in (curve.n, TWICE * curve.n):
        yield Tile.of(
            f"{title} from {counted(size, 'example')}", law.at(size), "expected, by the law"
        )


def _tiles_of_learners(curve: LearningCurve) -> Iterator[Tile]:
    """Give each learner's value at the largest size, and what twice as many examples promise."""
    for learner in _best_first(curve)[:MAX_TILES]:
        point = learner.points[-1]
        law = learner.extrapolation
        beside = ""
        if law is not None:
            twice = written(law.at(TWICE * curve.n))
            beside = f"{count(TWICE * curve.n)} examples: {twice.value} {twice.interval}"
        title = f"{title_of(curve.measure)} from {counted(point.size, 'example')}"
        yield Tile.of(f"{learner.name}: {title}", _estimate(curve, point), beside)


def _estimate(curve: LearningCurve, point: CurvePoint) -> Estimate:
    return Estimate(
        value=point.mean,
        interval=None if math.isnan(point.mean) else point.interval,
        measure=curve.measure,
        method="learning_curve",
        n=point.size,
        target="the learner at this sample size",
    )


def _tables(curve: LearningCurve, wanted: float | None) -> Iterator[Section]:
    values, *others = curve_tables(curve)
    further = [] if wanted is None else [needed_table(curve, wanted)]
    further += [crossing_table(curve)] if curve.crossings else []
    yield from map(table_section, (*further, values, *others))
