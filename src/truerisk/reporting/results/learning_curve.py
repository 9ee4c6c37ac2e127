"""LearningCurve: what more examples bring, what they cost, and the tables behind it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any, ClassVar

import numpy as np

from truerisk.estimation.curves.laws import FAR, Extrapolation
from truerisk.estimation.curves.results import COSTS, CurvePoint, LearnerCurve, LearningCurve
from truerisk.intervals.measured_coverage import LEARNER
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import look_up
from truerisk.reporting.sections.provenance import source_facts
from truerisk.reporting.wording import (
    NO_INTERVAL,
    cost_unit,
    cost_words,
    count,
    counted,
    interval_heading,
    interval_words,
    percent,
    plain_text,
    with_interval,
    written,
)
from truerisk.results import UNDEFINED, Estimate, decimals_for, number

MAX_TILES = 4
MAX_IN_VERDICT = 3  # learners in the verdict; the tables have them all
ESTIMATE_TITLES = {"cross_validation": "Cross-validated", "xi_alpha": "ξα"}
COST_TITLES = {
    "seconds_to_induce": "Training",
    "seconds_to_classify": "Classifying 1,000",
    "memory": "Memory",
    "cpu_seconds": "CPU",
}
TWICE = 2
OF_POINTS = "between sizes"  # design under which the ledger has the points of curves
MAX_WRITTEN = 1e12  # a larger number of examples gets an exponent
LAW_POINTS = 40
COSTS_DRAWN = {
    "seconds_to_induce": "Time to train",
    "seconds_to_classify": "Time to classify 1,000 examples",
    "memory": "Memory of examples and model",
}
EXAMPLES, TARGET = "training examples", "the numbers are about"
GAIN = 0.1  # of the loss: less is not worth collecting for
FURTHER = 4  # times as many examples


@dataclass(frozen=True)
class LearningCurvePresenter(Presenter):
    """What more examples bring and cost; `wanted` is a value of the measure to reach."""

    question: ClassVar[str] = "Would more examples help?"
    wanted: float | None = None

    def subtitle(self, curve: LearningCurve) -> Iterator[str]:
        yield counted(curve.n, "example")
        yield f"{count(curve.held_out)} held out, {counted(curve.repeats, 'time')}"
        yield f"{percent(curve.level)} intervals"

    def verdict(self, curve: LearningCurve) -> Iterator[str]:
        """Say what the best learners gain by more examples, and whether that is sure."""
        ranked = _best_first(curve)
        for learner in ranked[:MAX_IN_VERDICT]:
            yield from expectation(curve, learner)
        best = ranked[0]
        if best.extrapolation is None:
            yield f"What more examples would bring cannot be said of {best.name}: {best.refusal}."
        else:
            yield from (
                f"{best.name}: the law behind that is {note}." for note in best.extrapolation.notes
            )
            if self.wanted is not None:
                text = str(best.extrapolate(self.wanted))
                text = text.replace(curve.measure, title_of(curve.measure), 1)
                yield f"{best.name}: {text}."
        yield from (f"Failed: {failure}" for failure in curve.failures)

    def tiles(self, curve: LearningCurve) -> Iterator[doc.Tile]:
        """Give the values that were measured; of one learner also what its law expects."""
        only = next(iter(curve.values())).extrapolation if len(curve) == 1 else None
        twice, title = TWICE * curve.n, f"{title_of(curve.measure)} from"
        for learner in _best_first(curve)[:MAX_TILES]:
            point, law = learner.points[-1], learner.extrapolation
            then = None if law is None else written(law.at(twice))
            note = "" if then is None else f"{count(twice)} examples: {then.value} {then.interval}"
            yield doc.Tile.of(
                f"{'' if only else f'{learner.name}: '}{title} {counted(point.size, 'example')}",
                _point_estimate(curve, point),
                "measured" if only else note,
            )
        if only is not None:
            for size in (curve.n, twice):
                words = f"{title} {counted(size, 'example')}"
                yield doc.Tile.of(words, only.at(size), "expected, by the law")

    def sections(self, curve: LearningCurve) -> Iterator[doc.Section]:
        yield doc.charts_section("Learning curves", list(value_charts(curve, self.wanted)))
        yield doc.charts_section(
            "What it costs in time",
            [cost_chart(curve, cost) for cost in ("seconds_to_induce", "seconds_to_classify")],
            "Dots are medians over the repeats; the line is the growth fitted to the larger half "
            "of the sizes.",
        )
        yield doc.charts_section(
            "What it costs in memory, and what a budget buys",
            [cost_chart(curve, "memory"), *budget_charts(curve)],
        )
        if self.wanted is not None:
            yield doc.table_section(needed_table(curve, self.wanted))
        if curve.crossings:
            yield doc.table_section(crossing_table(curve))
        yield from map(doc.table_section, self.tables(curve))

    def notes(self, curve: LearningCurve) -> Iterator[str]:
        """Give the notes, and those of single points, each once for a learner."""
        yield from curve.notes
        for name, learner in curve.items():
            text = doc.each_once(
                (count(point.size), note) for point in learner.points for note in point.notes
            )
            for note, sizes in text.items():
                yield f"{name} on {', '.join(sizes)} examples: {note}"

    def blocks(self, curve: LearningCurve) -> Iterator[doc.Block]:
        """Say what the curves say; then the tables, the notes, and what was assumed."""
        yield doc.Sentences(tuple(curve_sentences(curve, self.wanted)))
        yield from self.tables(curve)
        yield doc.Sentences(tuple(self.notes(curve)), "Notes")
        yield doc.FactList(list(self._terminal_facts(curve)))

    def tables(self, curve: LearningCurve) -> Iterator[doc.Table]:
        """Give the tables: values, costs, growth, and what a CPU budget pays for."""
        yield value_table(curve)
        yield cost_table(curve)
        yield growth_table(curve)
        if curve.error_per_cpu_second:
            yield budget_table(curve)

    def facts(self, curve: Any) -> doc.Facts:
        yield "learners", plain_text(list(curve))
        yield "measure", title_of(curve.measure)
        yield "examples", count(curve.n)
        yield "held out in each repeat", count(curve.held_out)
        yield "repeats", count(curve.repeats)
        yield "training sizes", ", ".join(map(count, curve.sizes))
        yield "estimate from the training part", plain_text(curve.estimate)
        yield "confidence level", percent(curve.level)
        yield TARGET, "the learner at each sample size"
        yield "seed", str(curve.random_state)

    def _terminal_facts(self, curve: LearningCurve) -> doc.Facts:
        """Give what was assumed and where the examples came from, as pairs of words."""
        assumed = dict(self.facts(curve))
        for name in ("examples", "held out in each repeat", "repeats", "confidence level", TARGET):
            yield name, assumed[name]
        yield "interval", "corrected resampled t"
        yield "seed", assumed["seed"]
        yield from source_facts(curve.source)

    def next_steps(self, curve: Any) -> Iterator[str]:
        """Say what to do about learning curves: which learner, and whether to collect for it."""
        sure = [one for one in curve.crossings if one.is_sure]
        for one in sure[:1]:
            yield (
                f"Prefer {one.after} to {one.before} at {count(curve.sizes[-1])} examples: its "
                f"lead there, {number(one.lead)}, is sure: `truerisk estimate --model … "
                "--against …`."
            )
        last = {name: learner.points[-1].mean for name, learner in curve.items()}
        defined = {name: value for name, value in last.items() if not math.isnan(value)}
        if defined and curve.higher_is_better is not None:
            best = (max if curve.higher_is_better else min)(defined, key=lambda name: defined[name])
            yield from _collect_or_not(curve, best)

    def intervals(self, curve: Any) -> Iterator[Use]:
        for learner in curve.values():
            for point in learner.points:
                if point.interval is not None:
                    reason = "not measured on random divisions"
                    ends = point.interval
                    yield look_up(ends, curve.measure, reason, design=OF_POINTS, target=LEARNER)

    def pictures(self, curve: LearningCurve) -> doc.Pictures:
        """Draw the values, the law beyond them, each cost, and what a budget buys."""
        for name, chart in zip(("learning-curve", "law"), value_charts(curve, None), strict=False):
            yield name, chart
        for cost in COSTS_DRAWN:
            yield cost.replace("_", "-"), cost_chart(curve, cost)
        for chart in budget_charts(curve):
            yield "cpu-seconds", chart


def _best_first(curve: LearningCurve) -> list[LearnerCurve]:
    """Order the learners by their mean at the largest size; as given where no side is better."""
    sign = {True: -1.0, False: 1.0, None: 0.0}[curve.higher_is_better]

    def place(learner: LearnerCurve) -> tuple[bool, float]:
        mean = learner.points[-1].mean
        return math.isnan(mean), 0.0 if math.isnan(mean) else sign * mean

    return sorted(curve.values(), key=place)


def _point_estimate(curve: LearningCurve, point: CurvePoint) -> Estimate:
    return Estimate(
        value=point.mean,
        interval=None if math.isnan(point.mean) else point.interval,
        measure=curve.measure,
        method="learning_curve",
        n=point.size,
        target="the learner at this sample size",
    )


def curve_sentences(curve: LearningCurve, wanted: float | None = None) -> Iterator[str]:
    """Say what more examples would bring, what is wanted takes, who is better from when on."""
    for learner in curve.values():
        if learner.extrapolation is None:
            yield f"{learner.name} is not extrapolated: {learner.refusal}."
            continue
        yield from expectation(curve, learner)
        doubts = learner.extrapolation.notes
        yield from (f"{learner.name}: that law is {note}." for note in doubts)
        if wanted is not None:
            needed = learner.extrapolate(wanted)
            yield from (f"{learner.name}: {one}." for one in (needed, *needed.notes[len(doubts) :]))
    yield from (f"{crossing}." for crossing in curve.crossings)
    yield from (f"Failed: {failure}" for failure in curve.failures)


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


def _in_words(estimate: Estimate) -> str:
    words = f"{title_of(estimate.measure)} {number(estimate.value)}"
    return words if estimate.interval is None else f"{words} {interval_words(estimate.interval)}"


def value_table(curve: LearningCurve) -> doc.Table:
    """Give one row per learner and size: mean, interval, sd, and what the training part says."""
    beside = () if curve.estimate is None else (ESTIMATE_TITLES[curve.estimate],)
    numbers = ("Examples", "Mean", interval_heading(curve.level), "sd", *beside)
    columns = doc.heads("Learner", *doc.number_columns(numbers))
    rows = tuple(
        (name, count(point.size), *_values(point), *(_training_estimate(point) for _ in beside))
        for name, learner in curve.items()
        for point in learner.points
    )
    return doc.Table(f"{title_of(curve.measure)} on examples held out", columns, rows)


def _values(point: CurvePoint) -> tuple[str, str, str]:
    if math.isnan(point.mean):
        return UNDEFINED, NO_INTERVAL, NO_INTERVAL
    ends = point.interval
    decimals = 3 if ends is None else min(decimals_for(ends.width), 4)
    return number(point.mean, decimals), interval_words(ends, decimals), number(point.sd, decimals)


def _training_estimate(point: CurvePoint) -> str:
    if point.estimate_mean is None:
        return NO_INTERVAL
    if math.isnan(point.estimate_mean) or point.estimate_sd is None:
        return UNDEFINED
    return f"{number(point.estimate_mean)} ± {number(point.estimate_sd)}"


def cost_table(curve: LearningCurve) -> doc.Table:
    """Give one row per learner and size: seconds, bytes, CPU seconds."""
    columns = doc.heads(
        "Learner", "#Examples", *doc.number_columns(COST_TITLES[cost] for cost in COSTS)
    )
    rows = tuple(
        (name, count(point.size), *(cost_words(cost, getattr(point, cost)) for cost in COSTS))
        for name, learner in curve.items()
        for point in learner.points
    )
    return doc.Table("What it costs (medians)", columns, rows)


def growth_table(curve: LearningCurve) -> doc.Table:
    """Give one row per learner: the power of n that each cost grows with."""
    columns = doc.heads("Learner", *doc.number_columns(COST_TITLES[cost] for cost in COSTS))
    rows = tuple(
        (
            name,
            *(
                NO_INTERVAL if one is None else f"{one.exponent:.2f} ± {one.standard_error:.2f}"
                for one in (learner.growth[cost] for cost in COSTS)
            ),
        )
        for name, learner in curve.items()
    )
    return doc.Table("Growth with the training examples: n to the power of", columns, rows)


def budget_table(curve: LearningCurve) -> doc.Table:
    """Give one row per budget from which on another learner or size is the best to be had."""
    columns: doc.Cells = {
        "Learner": lambda one: one.learner,
        "#Examples": lambda one: count(one.size),
        "#CPU from": lambda one: cost_words("cpu_seconds", one.cpu_seconds),
        f"#{title_of(curve.measure)}": lambda one: number(one.value),
    }
    return doc.table("The best for a budget of CPU time", columns, curve.error_per_cpu_second)


def needed_table(curve: LearningCurve, wanted: float) -> doc.Table:
    """Give one row per learner: how many training examples a wanted value takes."""
    columns = doc.heads(
        "Learner",
        "#Examples",
        f"#{interval_heading(curve.level)}",
        "#More than there are",
        "Within reach",
    )
    rows = []
    for name, learner in curve.items():
        if learner.extrapolation is None:
            rows.append((name, *(NO_INTERVAL,) * 3, "cannot be said"))
            continue
        needed = learner.extrapolate(wanted)
        ends = f"[{_rough(needed.interval.low)}, {_rough(needed.interval.high)}]"
        rows.append((name, _rough(needed.size), ends, _rough(needed.more), needed.reachable))
    return doc.Table(f"What {title_of(curve.measure)} {wanted:g} takes", columns, tuple(rows))


def _rough(size: float) -> str:
    """Write a number of examples that a law points to, with no more digits than it deserves."""
    if math.isinf(size):
        return number(size)
    return f"{float(f'{size:.2g}'):,.0f}" if size < MAX_WRITTEN else f"{size:.1e}"


def crossing_table(curve: LearningCurve) -> doc.Table:
    """Give one row for each two learners: which is better, from which size on, and by how much."""
    first = count(curve.sizes[0])
    columns: doc.Cells = {
        "Better at the last size": lambda one: one.after,
        "Than": lambda one: one.before,
        "#From examples on": lambda one: first if one.interval is None else f"{one.size:,.0f}",
        "#Lead at the last size": lambda one: number(one.lead),
        f"#{interval_heading(curve.level)}": lambda one: interval_words(one.lead_interval),
        "Sure": lambda one: "yes" if one.is_sure else "no",
    }
    return doc.table("Which learner is better, and from when on", columns, curve.crossings)


def value_charts(curve: LearningCurve, wanted: float | None) -> Iterator[doc.Chart]:
    """Draw what was measured, and what laws say of sizes not yet tried, where there are laws."""
    yield _measured(curve)
    every = {name: learner.extrapolation for name, learner in curve.items()}
    laws = {name: law for name, law in every.items() if law is not None}
    if laws:
        yield _promised(curve, laws, wanted)


def _inked(curve: LearningCurve) -> Iterator[tuple[str, LearnerCurve, doc.Ink]]:
    return zip(curve, curve.values(), cycle(doc.INKS), strict=False)


def _measured(curve: LearningCurve) -> doc.Chart:
    """Draw what was measured: means, intervals, the sd of a repeat, what the training part says."""
    shapes: list[doc.Shape] = []
    heights: list[float] = []
    for name, learner, ink in _inked(curve):
        sizes = np.array(learner.sizes, dtype=np.float64)
        means = np.array([point.mean for point in learner.points])
        deviations = np.array([point.sd for point in learner.points])
        low, high = doc.ends_of([point.interval for point in learner.points])
        own = np.array([point.estimate_mean for point in learner.points], dtype=np.float64)
        shapes += doc.bands(sizes, low, high, ink)
        if np.isfinite(own).any():
            shapes.append(doc.Line(sizes, own, ink, dashed=True))
        shapes += [
            doc.Line(sizes, means, ink, words=name),
            doc.Dots(sizes, means, means - deviations, means + deviations, ink),
        ]
        heights += [*means, *low, *high, *own, *(means - deviations), *(means + deviations)]
    dashed = ""
    if curve.estimate is not None:
        title = ESTIMATE_TITLES[curve.estimate]
        dashed = f" Dashed: what the training part alone says ({title[:1].lower()}{title[1:]})."
    return doc.Chart(
        title=f"{title_of(curve.measure)} on examples held out",
        x=doc.Scale.spanning(EXAMPLES, curve.sizes),
        y=doc.Scale.over(title_of(curve.measure), heights),
        shapes=shapes,
        key=(
            f"Band: {percent(curve.level)} interval of the mean. "
            f"Whiskers: sd of one repeat.{dashed}"
        ),
        description=" ".join(_heard(curve)),
    )


def _heard(curve: LearningCurve) -> Iterator[str]:
    for name, learner in curve.items():
        first, last = learner.points[0], learner.points[-1]
        yield (
            f"{name}: {number(first.mean)} from {count(first.size)} examples, "
            f"{number(last.mean)} from {count(last.size)}."
        )


def _promised(
    curve: LearningCurve, laws: dict[str, Extrapolation], wanted: float | None
) -> doc.Chart:
    """Draw the laws, beyond the sizes tried as well, on the means that they were fitted to."""
    # As far as to the size at which a wanted value is reached, if the law may be trusted so far.
    needed = [] if wanted is None else [(law.size_for(wanted).size, law) for law in laws.values()]
    end = max(TWICE * curve.n, *(size for size, law in needed if size <= FAR * law.sizes[-1]), 0.0)
    entry, _ = measure_of(curve.measure)
    shapes: list[doc.Shape] = []
    heights: list[float] = [] if wanted is None else [wanted]
    for name, learner, ink in _inked(curve):
        means = np.array([point.mean for point in learner.points])
        if name in laws:
            sizes = np.geomspace(learner.sizes[0], end, LAW_POINTS)
            law = [laws[name].at(float(size)) for size in sizes]
            # A law that was fitted to dots does not know that no rate is beyond 0 and 1.
            low, high, values = (
                np.clip(ends, *((-math.inf, math.inf) if entry is None else entry.measure_range))
                for ends in (
                    *doc.ends_of([one.interval for one in law]),
                    [one.value for one in law],
                )
            )
            shapes += [*doc.bands(sizes, low, high, ink), doc.Line(sizes, values, ink, words=name)]
            heights += [*values, *low, *high]
        shapes.append(doc.Dots(learner.sizes, means, ink=ink))
        heights += means.tolist()
    if wanted is not None:
        ends = [curve.sizes[0], end]
        shapes.append(
            doc.Line(ends, [wanted] * 2, "soft", dashed=True, words=f"wanted: {wanted:g}")
        )
    shapes.append(doc.Upright(curve.n, "all there are"))
    formula = "1 − a − b·n^−c" if curve.higher_is_better else "a + b·n^−c"
    return doc.Chart(
        title="What more examples would bring, by an inverse power law",
        x=doc.Scale.spanning(EXAMPLES, (curve.sizes[0], end)),
        y=doc.Scale.over(title_of(curve.measure), heights),
        shapes=shapes,
        caption=(
            f"Line: the law {formula} fitted to the dots; band: its {percent(curve.level)} "
            "interval, if the law goes on beyond the sizes tried."
        ),
        description=" ".join(f"{name}: {law}." for name, law in laws.items()),
    )


def cost_chart(curve: LearningCurve, cost: str) -> doc.Chart:
    """Draw one cost of every learner against the training size, and its growth."""
    values = [getattr(point, cost) for learner in curve.values() for point in learner.points]
    factor, unit = cost_unit(cost, max(filter(math.isfinite, values), default=1.0))
    shapes: list[doc.Shape] = []
    for name, learner, ink in _inked(curve):
        growth = learner.growth[cost]
        power = "" if growth is None else f" ~ n^{round(growth.exponent, 2) + 0.0:.2f}"
        if growth is not None:
            # A power of n is straight only where both scales are logarithmic.
            sizes = np.geomspace(growth.sizes[0], growth.sizes[-1], LAW_POINTS)
            shapes.append(doc.Line(sizes, [factor * growth.at(size) for size in sizes], ink))
        costs = [factor * getattr(point, cost) for point in learner.points]
        shapes.append(doc.Dots(learner.sizes, costs, ink=ink, words=f"{name}{power}"))
    defined = [factor * value for value in values if value > 0]
    return doc.Chart(
        title=COSTS_DRAWN[cost],
        x=doc.Scale.spanning(EXAMPLES, curve.sizes),
        y=doc.Scale.spanning(unit, defined),
        shapes=shapes,
        description=" ".join(
            f"{name}: grows like {learner.growth[cost]}."
            for name, learner in curve.items()
            if learner.growth[cost] is not None
        ),
    )


def budget_charts(curve: LearningCurve) -> Iterator[doc.Chart]:
    """Draw every mean against its CPU time, and the best that a growing budget pays for."""
    best = curve.error_per_cpu_second
    if not best:
        return
    points = [point for learner in curve.values() for point in learner.points]
    largest = max(filter(math.isfinite, (point.cpu_seconds for point in points)))
    factor, unit = cost_unit("cpu_seconds", largest)
    shapes: list[doc.Shape] = [
        doc.Dots(
            [factor * point.cpu_seconds for point in learner.points],
            [point.mean for point in learner.points],
            ink=ink,
            words=name,
        )
        for name, learner, ink in _inked(curve)
    ]
    x = np.repeat([factor * one.cpu_seconds for one in best], 2)
    steps = np.repeat([one.value for one in best], 2)
    line = doc.Line([*x[1:], factor * largest], steps, "soft", words="the best for a budget")
    defined = [factor * point.cpu_seconds for point in points if factor * point.cpu_seconds > 0]
    yield doc.Chart(
        title="What a budget of CPU time buys",
        x=doc.Scale.spanning(f"CPU {unit} to train", defined),
        y=doc.Scale.over(title_of(curve.measure), [point.mean for point in points]),
        shapes=[line, *shapes],
        description=" ".join(
            f"From {cost_words('cpu_seconds', one.cpu_seconds)} on: {one.learner} on "
            f"{count(one.size)} examples, {number(one.value)}."
            for one in best
        ),
    )


def needed_sizes(curve: LearningCurve, wanted: float) -> dict[str, Any]:
    """Give what a wanted value takes, by learner."""
    return {name: learner.extrapolate(wanted) for name, learner in curve.items()}


def _collect_or_not(curve: Any, name: str) -> Iterator[str]:
    """Say what the law of a curve promises for more examples, where it promises anything."""
    law, refusal = curve[name].extrapolation, curve[name].refusal
    elsewhere = "other features or another learner: `truerisk estimate --model`."
    if refusal is not None and refusal.code != "too_few_sizes":
        yield (f"Do not count on more examples for {name}: {refusal}; try {elsewhere}")
        return
    if law is None or not law.determined:
        yield (
            f"Draw the curve of {name} with more sizes or repeats: {count(curve.repeats)} repeats "
            "at these sizes do not tell what more examples would bring: `truerisk curve --repeats`."
        )
        return
    size = FURTHER * curve.n
    now, then = law.at(curve.n), law.at(size)
    ends = (then.interval.low, then.interval.high) if then.interval else (then.value,) * 2
    best = min(1 - end if law.higher_is_better else end for end in ends)
    loss, later = (1 - one.value if law.higher_is_better else one.value for one in (now, then))
    text = (
        f"bring {title_of(curve.measure)} from {written(now).value} to about "
        f"{with_interval(then)}, by its law"
    )
    more = f"{FURTHER} times as many examples ({count(size)})"
    if later < (1 - GAIN) * loss:
        # The interval of a law always holds a curve that levels off now: no gain is sure.
        yield (
            f"Collect more examples for {name} if they are cheap: {more} would {text}, which does "
            "not exclude that nothing is gained: `truerisk curve --repeats`."
        )
    elif best > (1 - GAIN) * loss:
        yield (f"Do not collect for {name}: {more} would {text}. Try {elsewhere}")
    else:
        yield (
            f"Try other features or another learner before collecting for {name}: {more} would "
            f"{text}: `truerisk estimate --model`."
        )
