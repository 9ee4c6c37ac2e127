"""The refits of a learning curve → points, growth, laws, and learners side by side."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.estimation.curves.laws import (
    MIN_SIZES,
    Extrapolation,
    extrapolation_of,
    growth_of,
    why_no_law,
)
from truerisk.estimation.curves.means import (
    confusion_values,
    mean_interval,
    resampled_means,
)
from truerisk.estimation.curves.results import (
    Affordable,
    Crossing,
    CurvePoint,
    LearnerCurve,
    LearningCurve,
    affordable,
    crossings_of,
)
from truerisk.estimation.curves.runs import COSTS
from truerisk.estimation.refits.estimate import weights_in_training
from truerisk.learners.scoring import is_of_counts, range_of
from truerisk.measures.registry import measure_of
from truerisk.results import Finding, Interval

REPLICATES = 1000
SPREAD = Finding(
    "the sd is how much one repeat differs from the next; the interval is about the mean of all: "
    "the learner at this sample size",
    code="sd_and_interval",
)
COST = Finding(
    "seconds, CPU seconds and memory are medians over the repeats; memory is that of the training "
    "examples and of the trained model as pickled, not the peak while it trains",
    code="medians_of_costs",
)
MAX_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Design:
    """What was asked for."""

    measure: str
    pos_label: int
    level: float
    n: int
    held_out: int
    sizes: tuple[int, ...]
    repeats: int
    estimate: str | None
    seed: int

    @property
    def ratio(self) -> float:
        """Examples held out to all others."""
        return self.held_out / (self.n - self.held_out)

    @property
    def higher_is_better(self) -> bool | None:
        """Which side of the measure is the better one; of a scorer the upper."""
        entry, _ = measure_of(self.measure)
        return True if entry is None else entry.higher_is_better

    @property
    def is_loss(self) -> bool:
        """Whether 0 or 1 is the best value: only then there is a law to fit."""
        return self.higher_is_better is not None and range_of(self.measure) == (0.0, 1.0)

    def losses(self, values: Array) -> Array:
        """Turn values into losses: lower is better."""
        return 1 - values if self.higher_is_better else values


class Refits:
    """What the refits gave, collected as they come: model × repeat × size."""

    def __init__(
        self, names: tuple[str, ...], design: Design, classes: int, *, weighs: bool = False
    ) -> None:
        shape = (len(names), design.repeats, len(design.sizes))
        self.names = names
        self.design = design
        self.confusions = np.zeros((*shape, classes, classes), dtype=np.int64)
        self.single_values = np.full(shape, np.nan)
        self.costs = np.full((*shape, len(COSTS)), np.nan)
        self.estimates = np.full(shape, np.nan)
        self.failed: dict[tuple[int, int, int], str] = {}
        self.estimate_failed: dict[tuple[int, int, int], str] = {}
        self.warned: dict[tuple[int, int, int], tuple[str, ...]] = {}
        self.weighs = weighs

    def add(self, item: tuple[int, int, int], result: Mapping[str, NDArray[Any]]) -> None:
        """Take in one refit."""
        if "warned" in result:
            self.warned[item] = tuple(map(str, result["warned"]))
        if "failed" in result:
            self.failed[item] = str(result["failed"])
            return
        self.confusions[item] = result["confusion"]
        self.single_values[item] = result.get("value", np.nan)
        self.costs[item] = result["costs"]
        if "estimate" in result:
            self.estimates[item] = result["estimate"]
        elif "estimate_confusion" in result:
            design = self.design
            self.estimates[item] = confusion_values(
                design.measure, result["estimate_confusion"][None], design.pos_label
            )[0]
        elif "estimate_failed" in result:
            self.estimate_failed[item] = str(result["estimate_failed"])

    @property
    def values(self) -> Array:
        """The measure on every hold-out; NaN where it is not finite or the refit failed."""
        if not is_of_counts(self.design.measure):
            return np.where(np.isfinite(self.single_values), self.single_values, np.nan)
        result = confusion_values(self.design.measure, self.confusions, self.design.pos_label)
        for item in self.failed:
            result[item] = np.nan
        return result


def curve_of(refits: Refits) -> LearningCurve:
    """Put the refits together."""
    design, values = refits.design, refits.values
    curves = {name: _learner(refits, values[at], at) for at, name in enumerate(refits.names)}
    crossings: tuple[Crossing, ...] = ()
    if design.higher_is_better is not None:
        losses = {name: design.losses(values[at]) for at, name in enumerate(refits.names)}
        crossings = crossings_of(
            losses,
            design.sizes,
            ratio=design.ratio,
            level=design.level,
            replicates=REPLICATES,
            seed=design.seed,
        )
    offers = [
        Affordable(cpu_seconds=point.cpu_seconds, learner=name, size=point.size, value=point.mean)
        for name, curve in curves.items()
        for point in curve.points
    ]
    is_ordered = design.higher_is_better is not None
    return LearningCurve(
        curves=curves,
        measure=design.measure,
        higher_is_better=design.higher_is_better,
        level=design.level,
        n=design.n,
        held_out=design.held_out,
        sizes=design.sizes,
        repeats=design.repeats,
        estimate=design.estimate,
        random_state=design.seed,
        crossings=crossings,
        error_per_cpu_second=affordable(offers, higher_is_better=bool(design.higher_is_better))
        if is_ordered
        else (),
        failures=tuple(_failures(refits)),
        notes=(SPREAD, COST, *_estimate_notes(refits), *weights_in_training(refits.weighs)),
    )


def _learner(refits: Refits, values: Array, at: int) -> LearnerCurve:
    design = refits.design
    points = tuple(_point(refits, values, at, size_at) for size_at in range(len(design.sizes)))
    growth = {
        cost: growth_of(
            design.sizes, [getattr(point, cost) for point in points], level=design.level
        )
        for cost in COSTS
    }
    law = _law(design, values, points)
    return LearnerCurve(
        name=refits.names[at],
        points=points,
        growth=growth,
        extrapolation=law if isinstance(law, Extrapolation) else None,
        refusal=law if isinstance(law, Finding) else None,
        measure=design.measure,
        level=design.level,
    )


def _point(refits: Refits, values: Array, at: int, size_at: int) -> CurvePoint:
    design = refits.design
    column = values[:, size_at]
    broken = [item for item in refits.failed if item[0] == at and item[2] == size_at]
    interval, notes = None, tuple(_failed_repeats(broken, refits.failed))
    if not broken:
        interval, notes = mean_interval(
            design.measure,
            column,
            refits.confusions[at, :, size_at],
            ratio=design.ratio,
            pos_label=design.pos_label,
            level=design.level,
        )
    own = refits.estimates[at, :, size_at]
    lost = [item for item in refits.estimate_failed if item[0] == at and item[2] == size_at]
    notes = (*notes, *_failed_repeats(lost, refits.estimate_failed, "estimate: "))
    notes = (*notes, *_warnings(refits, at, size_at))
    is_estimated = design.estimate is not None and not np.isnan(refits.estimates[at]).all()
    costs = _medians(refits.costs[at, :, size_at])
    return CurvePoint(
        size=design.sizes[size_at],
        mean=_mean(column),
        sd=_deviation(column),
        interval=interval,
        replicates=tuple(column.tolist()),
        estimate_mean=_mean(own) if is_estimated else None,
        estimate_sd=_deviation(own) if is_estimated else None,
        estimates=tuple(own.tolist()) if is_estimated else (),
        **dict(zip(COSTS, costs, strict=True)),
        notes=notes,
    )


def _mean(values: Array) -> float:
    return math.fsum(values.tolist()) / len(values)


def _deviation(values: Array) -> float:
    if np.isnan(values).any():
        return math.nan
    return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))


def _medians(costs: Array) -> list[float]:
    """Give the middle of each cost; the first call of a process, which loads code, is no matter."""
    known = costs[~np.isnan(costs).all(axis=1)]
    return np.median(known, axis=0).tolist() if len(known) else [math.nan] * costs.shape[1]


def _law(design: Design, values: Array, points: tuple[CurvePoint, ...]) -> Extrapolation | Finding:
    """Fit the inverse power law to the sizes that have a value in every repeat, or say why not."""
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    if not design.is_loss or len(known) < MIN_SIZES:
        return Finding(
            f"fewer than {MIN_SIZES} sizes have a value, or the measure has no better side from 0 "
            "to 1",
            code="too_few_sizes",
        )
    losses = design.losses(values[:, known])
    sizes = tuple(design.sizes[at] for at in known)
    higher_is_better = bool(design.higher_is_better)
    refusal = why_no_law(
        losses,
        sizes,
        ratio=design.ratio,
        higher_is_better=higher_is_better,
        level=design.level,
    )
    if refusal is not None:
        return refusal
    mean = losses.mean(axis=0)
    resampled = resampled_means(
        losses,
        ratio=design.ratio,
        level=design.level,
        replicates=REPLICATES,
        rng=np.random.default_rng([design.seed, 0]),
    )
    # Few repeats may agree by chance: no hold-out says more than its binomial variance allows.
    tested = design.held_out
    smooth = (mean * tested + 0.5) / (tested + 1)
    variances = np.maximum(losses.var(axis=0, ddof=1), smooth * (1 - smooth) / tested)
    return extrapolation_of(
        mean,
        resampled,
        variances,
        sizes=sizes,
        n=design.n,
        last=_loss_interval(design, points[known[-1]]),
        measure=design.measure,
        higher_is_better=higher_is_better,
        level=design.level,
    )


def _loss_interval(design: Design, point: CurvePoint) -> Interval:
    """Give the interval of the loss at a point."""
    ends = point.interval
    if ends is None:
        ends = Interval(point.mean, point.mean, design.level, "none")
    if design.higher_is_better:
        return Interval(1 - ends.high, 1 - ends.low, ends.level, ends.method)
    return ends


def _failed_repeats(
    items: list[tuple[int, int, int]], messages: Mapping[Any, str], of: str = ""
) -> Iterator[Finding]:
    for item in items[:MAX_NAMED]:
        message = f"{of}repeat {item[1] + 1} failed: {messages[item]}"
        yield Finding(message, code="repeat_failed")
    if len(items) > MAX_NAMED:
        more = f"{of}and {len(items) - MAX_NAMED} repeats more"
        yield Finding(more, code="more_repeats_failed")


def _warnings(refits: Refits, at: int, size_at: int) -> Iterator[Finding]:
    """Give each warning of a learner at a size once, with the number of repeats that met it."""
    met = [
        messages for item, messages in refits.warned.items() if (item[0], item[2]) == (at, size_at)
    ]
    for message in dict.fromkeys(message for messages in met for message in messages):
        times = sum(message in messages for messages in met)
        said = f"warned in {times} of {refits.design.repeats} repeats: {message}"
        yield Finding(said, code="repeats_warned")


def _failures(refits: Refits) -> Iterator[Finding]:
    for (at, repeat, size_at), message in sorted(refits.failed.items()):
        size = refits.design.sizes[size_at]
        said = f"{refits.names[at]} on {size:,} examples, repeat {repeat + 1}: {message}"
        yield Finding(said, code="refit_failed")


def _estimate_notes(refits: Refits) -> Iterator[Finding]:
    if refits.design.estimate == "cross_validation":
        yield Finding(
            "the estimate is a five-fold cross-validation of the training part, of fewer folds "
            "where a class or the groups are few; it trains on four fifths of it",
            code="estimate_by_cross_validation",
        )
    if refits.design.estimate == "xi_alpha":
        yield Finding(
            "the estimate is ξα at ρ = 1 of the trained SVM, without a refit; it leans high",
            code="estimate_by_xi_alpha",
        )
