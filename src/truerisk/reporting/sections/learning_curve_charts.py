"""LearningCurve → charts: values with their intervals, the law beyond them, costs, budgets."""

import math
from collections.abc import Iterator, Sequence
from itertools import cycle

import numpy as np

from truerisk.estimation.curves.laws import FAR, Extrapolation
from truerisk.estimation.curves.results import LearnerCurve, LearningCurve
from truerisk.reporting.learning_curves import ESTIMATE_TITLES, TWICE
from truerisk.reporting.page.charts import (
    INKS,
    Band,
    Chart,
    Dots,
    Ink,
    Line,
    Scale,
    Shape,
    Upright,
)
from truerisk.reporting.wording import (
    SECONDS,
    UNITS,
    cost_words,
    count,
    measure_of,
    number,
    percent,
    title_of,
)
from truerisk.results import Interval

LAW_POINTS = 40
COSTS_DRAWN = {
    "seconds_to_induce": "Time to train",
    "seconds_to_classify": "Time to classify 1,000 examples",
    "memory": "Memory of examples and model",
}
EXAMPLES = "training examples"


def value_charts(curve: LearningCurve, wanted: float | None) -> Iterator[Chart]:
    """Draw what was measured, and what laws say of sizes not yet tried, where there are laws."""
    yield _measured(curve)
    laws = {
        name: learner.extrapolation
        for name, learner in curve.items()
        if learner.extrapolation is not None
    }
    if laws:
        yield _promised(curve, laws, wanted)


def _inked(curve: LearningCurve) -> Iterator[tuple[str, LearnerCurve, Ink]]:
    for (name, learner), ink in zip(curve.items(), cycle(INKS), strict=False):
        yield name, learner, ink


def _measured(curve: LearningCurve) -> Chart:
    """Draw what was measured: means, intervals, the sd of a repeat, what the training part says."""
    shapes: list[Shape] = []
    heights: list[float] = []
    for name, learner, ink in _inked(curve):
        sizes = np.array(learner.sizes, dtype=np.float64)
        means = np.array([point.mean for point in learner.points])
        deviations = np.array([point.sd for point in learner.points])
        low, high = _ends([point.interval for point in learner.points])
        own = np.array([_or_nan(point.estimate_mean) for point in learner.points])
        shapes += _band(sizes, low, high, ink)
        if np.isfinite(own).any():
            shapes.append(Line(sizes, own, ink, dashed=True))
        shapes += [
            Line(sizes, means, ink, words=name),
            Dots(sizes, means, means - deviations, means + deviations, ink),
        ]
        heights += [*means, *low, *high, *own, *(means - deviations), *(means + deviations)]
    dashed = ""
    if curve.estimate is not None:
        title = ESTIMATE_TITLES[curve.estimate]
        dashed = f" Dashed: what the training part alone says ({title[:1].lower()}{title[1:]})."
    return Chart(
        title=f"{title_of(curve.measure)} on examples held out",
        x=Scale.spanning(EXAMPLES, curve.sizes),
        y=Scale.over(title_of(curve.measure), heights),
        shapes=shapes,
        caption=(
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


def _promised(curve: LearningCurve, laws: dict[str, Extrapolation], wanted: float | None) -> Chart:
    """Draw the laws, beyond the sizes tried as well, on the means that they were fitted to."""
    end = max(TWICE * curve.n, *(_needed(law, wanted) for law in laws.values()))
    shapes: list[Shape] = []
    heights: list[float] = [] if wanted is None else [wanted]
    for name, learner, ink in _inked(curve):
        means = np.array([point.mean for point in learner.points])
        if name in laws:
            sizes = np.geomspace(learner.sizes[0], end, LAW_POINTS)
            found = [laws[name].at(float(size)) for size in sizes]
            # A law that was fitted to dots does not know that no rate is beyond 0 and 1.
            low, high, values = (
                np.clip(ends, *_range(curve.measure))
                for ends in (*_ends([one.interval for one in found]), [one.value for one in found])
            )
            shapes += [*_band(sizes, low, high, ink), Line(sizes, values, ink, words=name)]
            heights += [*values, *low, *high]
        shapes.append(Dots(learner.sizes, means, ink=ink))
        heights += means.tolist()
    if wanted is not None:
        ends = [curve.sizes[0], end]
        shapes.append(Line(ends, [wanted] * 2, "soft", dashed=True, words=f"wanted: {wanted:g}"))
    shapes.append(Upright(curve.n, "all there are"))
    law = "1 − a − b·n^−c" if curve.higher_is_better else "a + b·n^−c"
    return Chart(
        title="What more examples would bring, by an inverse power law",
        x=Scale.spanning(EXAMPLES, (curve.sizes[0], end)),
        y=Scale.over(title_of(curve.measure), heights),
        shapes=shapes,
        caption=(
            f"Line: the law {law} fitted to the dots; band: its {percent(curve.level)} interval, "
            "if the law goes on beyond the sizes tried."
        ),
        description=" ".join(f"{name}: {law}." for name, law in laws.items()),
    )


def _needed(law: Extrapolation, wanted: float | None) -> float:
    """Give the size at which a wanted value is reached, if the law may be trusted so far."""
    size = 0.0 if wanted is None else law.size_for(wanted).size
    return size if size <= FAR * law.sizes[-1] else 0.0


def cost_chart(curve: LearningCurve, cost: str) -> Chart:
    """Draw one cost of every learner against the training size, and its growth."""
    values = [getattr(point, cost) for learner in curve.values() for point in learner.points]
    factor, unit = _unit(cost, values)
    shapes: list[Shape] = []
    for name, learner, ink in _inked(curve):
        growth = learner.growth[cost]
        power = "" if growth is None else f" ~ n^{round(growth.exponent, 2) + 0.0:.2f}"
        if growth is not None:
            # A power of n is straight only where both scales are logarithmic.
            sizes = np.geomspace(growth.sizes[0], growth.sizes[-1], LAW_POINTS)
            shapes.append(Line(sizes, [factor * growth.at(size) for size in sizes], ink))
        costs = [factor * getattr(point, cost) for point in learner.points]
        shapes.append(Dots(learner.sizes, costs, ink=ink, words=f"{name}{power}"))
    known = [factor * value for value in values if value > 0]
    return Chart(
        title=COSTS_DRAWN[cost],
        x=Scale.spanning(EXAMPLES, curve.sizes),
        y=Scale.spanning(unit, known),
        shapes=shapes,
        description=" ".join(
            f"{name}: grows like {learner.growth[cost]}."
            for name, learner in curve.items()
            if learner.growth[cost] is not None
        ),
    )


def budget_charts(curve: LearningCurve) -> Iterator[Chart]:
    """Draw every mean against its CPU time, and the best that a growing budget pays for."""
    best = curve.error_per_cpu_second
    if not best:
        return
    points = [point for learner in curve.values() for point in learner.points]
    factor, unit = _unit("cpu_seconds", [point.cpu_seconds for point in points])
    seconds = [factor * point.cpu_seconds for point in points]
    shapes: list[Shape] = [
        Dots(
            [factor * point.cpu_seconds for point in learner.points],
            [point.mean for point in learner.points],
            ink=ink,
            words=name,
        )
        for name, learner, ink in _inked(curve)
    ]
    x = np.repeat([factor * one.cpu_seconds for one in best], 2)
    steps = np.repeat([one.value for one in best], 2)
    end = max(value for value in seconds if math.isfinite(value))
    line = Line([*x[1:], end], steps, "soft", words="the best for a budget")
    known = [value for value in seconds if value > 0]
    yield Chart(
        title="What a budget of CPU time buys",
        x=Scale.spanning(f"CPU {unit} to train", known),
        y=Scale.over(title_of(curve.measure), [point.mean for point in points]),
        shapes=[line, *shapes],
        description=" ".join(
            f"From {cost_words('cpu_seconds', one.cpu_seconds)} on: {one.learner} on "
            f"{count(one.size)} examples, {number(one.value)}."
            for one in best
        ),
    )


def _unit(cost: str, values: Sequence[float]) -> tuple[float, str]:
    """Give the unit in which the largest of some costs has one to three digits, and its factor."""
    largest = max((value for value in values if math.isfinite(value)), default=1.0)
    if cost == "memory":
        power = min(int(math.log10(max(largest, 1.0)) // 3), len(UNITS) - 1)
        return 1000.0**-power, UNITS[power]
    return next((factor, unit) for least, unit, factor in SECONDS if largest >= least)


def _range(measure: str) -> tuple[float, float]:
    found, _ = measure_of(measure)
    return (-math.inf, math.inf) if found is None else found.measure_range


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, ink: Ink) -> list[Shape]:
    """Give the band between the known ends; none where fewer than two are known."""
    known = np.isfinite(low) & np.isfinite(high)
    return [Band(x[known], low[known], high[known], ink)] if known.sum() > 1 else []


def _ends(intervals: Sequence[Interval | None]) -> tuple[np.ndarray, np.ndarray]:
    low = [math.nan if one is None else one.low for one in intervals]
    high = [math.nan if one is None else one.high for one in intervals]
    return np.array(low), np.array(high)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
