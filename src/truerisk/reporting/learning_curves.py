"""LearningCurve → tables on a terminal, CSV and JSON: a line a learner and size."""

import math
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from truerisk.estimation.curves.results import CurvePoint, LearnerCurve, LearningCurve
from truerisk.estimation.curves.runs import COSTS
from truerisk.reporting.formats import csv_of, json_text
from truerisk.reporting.tables import Column, Table
from truerisk.reporting.wording import (
    NO_INTERVAL,
    UNDEFINED,
    cost_words,
    count,
    decimals_for,
    interval_heading,
    number,
    percent,
    plain_text,
    title_of,
)
from truerisk.results import Estimate, as_plain

if TYPE_CHECKING:
    from rich.console import Console

ESTIMATE_TITLES = {"cross_validation": "Cross-validated", "xi_alpha": "ξα"}
COST_TITLES = {
    "seconds_to_induce": "Training",
    "seconds_to_classify": "Classifying 1,000",
    "memory": "Memory",
    "cpu_seconds": "CPU",
}
TWICE = 2
MAX_WRITTEN = 1e12  # a larger number of examples gets an exponent


def print_curve(curve: LearningCurve, console: "Console", wanted: float | None = None) -> None:
    """Print what the curves say, the tables, the notes, and what was assumed."""
    from truerisk.reporting.summary import (  # noqa: PLC0415  (needs rich)
        print_facts,
        print_sentences,
        print_table,
    )

    print_sentences(curve_sentences(curve, wanted), console)
    for table in curve_tables(curve):
        print_table(table, console)
    print_sentences((*curve.notes, *point_notes(curve)), console, heading="Notes")
    print_facts(curve_facts(curve), console)


def curve_sentences(curve: LearningCurve, wanted: float | None = None) -> Iterator[str]:
    """Say what more examples would bring, what is wanted takes, who is better from when on."""
    for learner in curve.values():
        yield from expectation(curve, learner)
        yield from _doubts(learner)
        if wanted is not None:
            yield from _wanted(learner, wanted)
    for crossing in curve.crossings:
        yield f"{crossing}."
    for failure in curve.failures:
        yield f"Failed: {failure}"


def expectation(curve: LearningCurve, learner: LearnerCurve) -> Iterator[str]:
    """Say what a learner is expected to be worth on all examples, and on twice as many."""
    law = learner.extrapolation
    if law is None:
        return
    now, then = law.at(curve.n), law.at(TWICE * curve.n)
    yield (
        f"{learner.name}: trained on all {count(curve.n)} examples, {_in_words(now)} is expected; "
        f"on twice as many, {_in_words(then)}."
    )


def _doubts(learner: LearnerCurve) -> Iterator[str]:
    if learner.extrapolation is not None:
        for note in learner.extrapolation.notes:
            yield f"{learner.name}: that law is {note}."


def _wanted(learner: LearnerCurve, wanted: float) -> Iterator[str]:
    if learner.extrapolation is None:
        yield f"{learner.name}: what {wanted:g} takes cannot be said; too few sizes have a value."
        return
    needed = learner.extrapolate(wanted)
    yield f"{learner.name}: {needed}."
    for note in needed.notes[len(learner.extrapolation.notes) :]:
        yield f"{learner.name}: {note}."


def _in_words(estimate: Estimate) -> str:
    ends = estimate.interval
    words = f"{title_of(estimate.measure)} {number(estimate.value)}"
    return words if ends is None else f"{words} [{number(ends.low)}, {number(ends.high)}]"


def curve_tables(curve: LearningCurve) -> Iterator[Table]:
    """Give the tables: values, costs, growth, and what a CPU budget pays for."""
    yield value_table(curve)
    yield cost_table(curve)
    yield growth_table(curve)
    if curve.error_per_cpu_second:
        yield budget_table(curve)


def value_table(curve: LearningCurve) -> Table:
    """Give one row a learner and size: mean, interval, sd, and what the training part says."""
    beside = () if curve.estimate is None else (ESTIMATE_TITLES[curve.estimate],)
    columns = (
        Column("Learner"),
        *(
            Column(heading, numeric=True)
            for heading in ("Examples", "Mean", interval_heading(curve.level), "sd", *beside)
        ),
    )
    rows = tuple(
        (name, count(point.size), *_values(point), *(_estimate(point) for _ in beside))
        for name, learner in curve.items()
        for point in learner.points
    )
    return Table(f"{title_of(curve.measure)} on examples held out", columns, rows)


def _values(point: CurvePoint) -> tuple[str, str, str]:
    if math.isnan(point.mean):
        return UNDEFINED, NO_INTERVAL, NO_INTERVAL
    ends = point.interval
    decimals = 3 if ends is None else min(decimals_for(ends.width), 4)
    told = NO_INTERVAL
    if ends is not None:
        told = f"[{number(ends.low, decimals)}, {number(ends.high, decimals)}]"
    return number(point.mean, decimals), told, number(point.sd, decimals)


def _estimate(point: CurvePoint) -> str:
    if point.estimate_mean is None:
        return NO_INTERVAL
    if math.isnan(point.estimate_mean) or point.estimate_sd is None:
        return UNDEFINED
    return f"{number(point.estimate_mean)} ± {number(point.estimate_sd)}"


def cost_table(curve: LearningCurve) -> Table:
    """Give one row a learner and size: seconds, bytes, CPU seconds."""
    columns = (
        Column("Learner"),
        Column("Examples", numeric=True),
        *(Column(COST_TITLES[cost], numeric=True) for cost in COSTS),
    )
    rows = tuple(
        (name, count(point.size), *(cost_words(cost, getattr(point, cost)) for cost in COSTS))
        for name, learner in curve.items()
        for point in learner.points
    )
    return Table("What it costs (medians)", columns, rows)


def growth_table(curve: LearningCurve) -> Table:
    """Give one row a learner: the power of n that each cost grows with."""
    columns = (Column("Learner"), *(Column(COST_TITLES[cost], numeric=True) for cost in COSTS))
    rows = tuple(
        (name, *(_power(learner, cost) for cost in COSTS)) for name, learner in curve.items()
    )
    return Table("Growth with the training examples: n to the power of", columns, rows)


def _power(learner: LearnerCurve, cost: str) -> str:
    growth = learner.growth[cost]
    if growth is None:
        return NO_INTERVAL
    return f"{growth.exponent:.2f} ± {growth.standard_error:.2f}"


def budget_table(curve: LearningCurve) -> Table:
    """Give one row a budget from which on another learner or size is the best to be had."""
    columns = (
        Column("Learner"),
        Column("Examples", numeric=True),
        Column("CPU from", numeric=True),
        Column(title_of(curve.measure), numeric=True),
    )
    rows = tuple(
        (one.learner, count(one.size), cost_words("cpu_seconds", one.cpu_seconds),
         number(one.value))
        for one in curve.error_per_cpu_second
    )  # fmt: skip
    return Table("The best for a budget of CPU time", columns, rows)


def needed_table(curve: LearningCurve, wanted: float) -> Table:
    """Give one row a learner: how many training examples a wanted value takes."""
    columns = (
        Column("Learner"),
        Column("Examples", numeric=True),
        Column(interval_heading(curve.level), numeric=True),
        Column("More than there are", numeric=True),
        Column("Within reach"),
    )
    rows = []
    for name, learner in curve.items():
        if learner.extrapolation is None:
            rows.append((name, *(NO_INTERVAL,) * 3, "cannot be said"))
            continue
        needed = learner.extrapolate(wanted)
        ends = f"[{_rough(needed.interval.low)}, {_rough(needed.interval.high)}]"
        rows.append((name, _rough(needed.size), ends, _rough(needed.more), needed.reachable))
    return Table(f"What {title_of(curve.measure)} {wanted:g} takes", columns, tuple(rows))


def _rough(size: float) -> str:
    """Write a number of examples that a law points to, with no more digits than it deserves."""
    if math.isinf(size):
        return number(size)
    return f"{float(f'{size:.2g}'):,.0f}" if size < MAX_WRITTEN else f"{size:.1e}"


def crossing_table(curve: LearningCurve) -> Table:
    """Give one row for each two learners: which is better, from which size on, and by how much."""
    columns = (
        Column("Better at the last size"),
        Column("Than"),
        Column("From examples on", numeric=True),
        Column("Lead at the last size", numeric=True),
        Column(interval_heading(curve.level), numeric=True),
        Column("Sure"),
    )
    rows = []
    for one in curve.crossings:
        start = count(curve.sizes[0]) if one.interval is None else f"{one.size:,.0f}"
        lead, ends = number(one.lead), one.lead_interval
        told = NO_INTERVAL if ends is None else f"[{number(ends.low)}, {number(ends.high)}]"
        rows.append((one.after, one.before, start, lead, told, "yes" if one.is_sure else "no"))
    return Table("Which learner is better, and from when on", columns, tuple(rows))


def point_notes(curve: LearningCurve) -> Iterator[str]:
    """Give what is to be said of single points, each thing once for a learner."""
    for name, learner in curve.items():
        told: dict[str, list[str]] = {}
        for point in learner.points:
            for note in point.notes:
                told.setdefault(note, []).append(count(point.size))
        for note, sizes in told.items():
            yield f"{name} on {', '.join(sizes)} examples: {note}"


def curve_facts(curve: LearningCurve) -> Iterator[tuple[str, str]]:
    """Give what was assumed and where the examples came from, as pairs of words."""
    yield "examples", count(curve.n)
    yield "held out in each repeat", count(curve.held_out)
    yield "repeats", count(curve.repeats)
    yield "confidence level", percent(curve.level)
    yield "the numbers are about", "the learner at each sample size"
    yield "interval", "corrected resampled t"
    yield "seed", str(curve.random_state)
    for name, value in as_plain(curve.source).items():
        yield name.replace("_", " "), plain_text(value)


def curve_csv(curve: LearningCurve) -> str:
    """Write one row a learner and size; numbers in full."""
    return csv_of(curve)


def curve_json(curve: LearningCurve, wanted: float | None = None) -> str:
    """Write the curves as one JSON object; what is wanted, too, if a value is."""
    plain = curve.to_dict()
    if wanted is not None:
        plain["needed"] = {
            name: as_plain(learner.extrapolate(wanted)) if learner.extrapolation else None
            for name, learner in curve.items()
        }
    return json_text(plain)


CURVE_FORMATS: MappingProxyType[str, Callable[[LearningCurve, float | None], str]] = (
    MappingProxyType({"json": curve_json, "csv": lambda curve, _: curve_csv(curve)})
)
