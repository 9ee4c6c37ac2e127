"""The results of a learning curve: points, growth of costs, laws, crossings, what a budget buys."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri, stdtrit

from truerisk.aliases import Array
from truerisk.checks import check_number
from truerisk.estimation.curves.laws import Design, Extrapolation, Growth, NeededSize
from truerisk.intervals.cross_validation import corrected_standard_error
from truerisk.learners.scoring import range_of
from truerisk.results import (
    Estimate,
    Finding,
    Frozen,
    Interval,
    NamedEntries,
    Reportable,
    Row,
    estimate_row,
)

METHOD = "paired_bootstrap"
REPLICATES = 1000
COSTS = ("seconds_to_induce", "seconds_to_classify", "memory", "cpu_seconds")


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """From which training size on the learner `after` has a better mean than `before`.

    `size` is NaN where the curves do not cross; `before` is then the worse one.  The interval is
    cut at the sizes tried; `share` is how many resampled curves cross within; `lead` is that of
    `after` at the largest size, with the corrected resampled t.
    """

    before: str
    after: str
    size: float
    interval: Interval | None
    share: float
    times: int
    lead: float
    lead_interval: Interval | None

    @property
    def is_sure(self) -> bool:
        """Whether the lead at the largest size is above 0 throughout its interval."""
        return self.lead_interval is not None and self.lead_interval.low > 0

    def __str__(self) -> str:
        where = "at every size"
        if self.interval is not None:
            ends = f"[{self.interval.low:,.0f}, {self.interval.high:,.0f}]"
            where = f"from about {self.size:,.0f} examples on {ends}"
        again = f" (they cross {self.times} times, this is the last)" if self.times > 1 else ""
        lead = f"{self.lead:.3g}"
        if self.lead_interval is not None:
            lead += f" [{self.lead_interval.low:.3g}, {self.lead_interval.high:.3g}]"
        sure = "is sure" if self.is_sure else "is not sure"
        return (
            f"{self.after} has a better mean than {self.before} {where}{again}; its lead at the "
            f"last, {lead}, {sure}"
        )


def crossings_of(
    losses: Mapping[str, Array], design: Design, replicates: int = REPLICATES
) -> tuple[Crossing, ...]:
    """Find where the curves of each two learners cross, the sizes on a log scale."""
    logs = np.log(np.asarray(design.sizes, dtype=np.float64))
    crossings = []
    for first, second in itertools.combinations(losses, 2):
        difference = losses[first] - losses[second]
        if np.isnan(difference).any() or not difference.mean(axis=0).any():
            continue
        rng = np.random.default_rng([design.seed, 1])
        means = resampled_means(difference, design, rng, replicates)
        mean = difference.mean(axis=0)
        is_second = _last_sign(mean) > 0
        before, after = (first, second) if is_second else (second, first)
        lead = _lead(difference[:, -1] if is_second else -difference[:, -1], design)
        place = _place(mean, means, logs, design.level)
        crossings.append(Crossing(before=before, after=after, **place, **lead))
    return tuple(crossings)


def _lead(differences: Array, design: Design) -> dict[str, Any]:
    """Give the mean difference, and its interval by the corrected resampled t."""
    mean = float(differences.mean())
    error = corrected_standard_error(differences.tolist(), design.ratio)
    half = float(stdtrit(len(differences) - 1, (1 + design.level) / 2)) * error
    ends = Interval(mean - half, mean + half, design.level, "corrected_t") if error else None
    return {"lead": mean, "lead_interval": ends}


def _place(difference: Array, resampled: Array, logs: Array, level: float) -> dict[str, Any]:
    """Read the last change of sign off the mean difference, first minus second."""
    at, times = _last_change(difference, logs)
    if math.isnan(at):
        return {"size": math.nan, "interval": None, "share": 0.0, "times": 0}
    drawn = np.array([_last_change(one, logs)[0] for one in resampled])
    share = float(np.mean(~np.isnan(drawn)))
    # Where one learner is better throughout, the crossing lies before the sizes, or after.
    sign = _last_sign(difference) > 0
    places = [
        (logs[0] if (_last_sign(one) > 0) == sign else logs[-1]) if math.isnan(place) else place
        for one, place in zip(resampled, drawn, strict=True)
    ]
    tail = (1 - level) / 2
    low, high = np.quantile(places, [tail, 1 - tail])
    interval = Interval(math.exp(min(low, at)), math.exp(max(high, at)), level, METHOD)
    return {"size": math.exp(at), "interval": interval, "share": share, "times": times}


def _last_sign(difference: Array) -> float:
    signs = np.sign(difference)
    return float(signs[np.flatnonzero(signs)[-1]]) if signs.any() else 0.0


def _last_change(difference: Array, logs: Array) -> tuple[float, int]:
    """Give the place of the last change of sign, by a line, and how many there are.

    Where the difference is 0 nobody leads, and the line goes between the sizes where somebody does.
    """
    led = np.flatnonzero(difference)
    values, places = difference[led], logs[led]
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)
    if not len(changes):
        return math.nan, 0
    at = changes[-1]
    share = values[at] / (values[at] - values[at + 1])
    return float(places[at] + share * (places[at + 1] - places[at])), len(changes)


@dataclass(frozen=True, kw_only=True)
class Affordable:
    """With this many CPU seconds of training, this learner at this size has the best mean."""

    cpu_seconds: float
    learner: str
    size: int
    value: float

    def __str__(self) -> str:
        examples = f"{self.learner} on {self.size:,} examples"
        return f"{self.cpu_seconds:.3g} CPU seconds: {examples}, {self.value:.3f}"


def affordable(
    offers: Sequence[Affordable], *, higher_is_better: bool = False
) -> tuple[Affordable, ...]:
    """Keep the offers that no cheaper one, or none as cheap, equals: from the cheapest up."""
    sign = -1.0 if higher_is_better else 1.0
    known = [one for one in offers if not math.isnan(one.cpu_seconds + one.value)]
    kept: list[Affordable] = []
    for one in sorted(known, key=lambda one: (one.cpu_seconds, sign * one.value, one.learner)):
        if not kept or sign * one.value < sign * kept[-1].value:
            kept.append(one)
    return tuple(kept)


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One learner at one training size.

    `mean` and `sd` are of the hold-out values of all repeats, `estimate_mean` and `estimate_sd`
    what the training part alone says.  Costs are medians over the repeats: seconds to train and to
    classify 1,000 examples, bytes as pickled, CPU seconds of training.
    """

    size: int
    mean: float
    sd: float
    interval: Interval | None
    replicates: tuple[float, ...]
    estimate_mean: float | None
    estimate_sd: float | None
    estimates: tuple[float, ...]
    seconds_to_induce: float
    seconds_to_classify: float
    memory: float
    cpu_seconds: float
    notes: tuple[str, ...] = ()

    def row(self, measure: str, n: float) -> Row:
        """Give the row of this point in a tidy table; `n` examples are held out."""
        mean, sd = (
            math.nan if one is None else one for one in (self.estimate_mean, self.estimate_sd)
        )
        return {
            **estimate_row(
                measure,
                self.mean,
                self.interval,
                method="holdout",
                n=n,
                target="the learner at this sample size",
                notes=self.notes,
            ),
            "sd": self.sd,
            "estimate_mean": mean,
            "estimate_sd": sd,
            **{cost: getattr(self, cost) for cost in COSTS},
        }


@dataclass(frozen=True, kw_only=True)
class LearnerCurve(Frozen):
    """The points of one learner, how its costs grow, and the law its values follow.

    `growth` has an entry for `seconds_to_induce`, `seconds_to_classify`, `memory`, `cpu_seconds`;
    None where too few sizes have a cost.  `extrapolation` is None where the curve is not
    extrapolated, and `refusal` says why: above all where it does not surely fall.
    """

    name: str
    points: tuple[CurvePoint, ...]
    growth: Mapping[str, Growth | None]
    extrapolation: Extrapolation | None
    refusal: Finding | None
    measure: str
    level: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """The training sizes."""
        return tuple(point.size for point in self.points)

    def at(self, size: float) -> Estimate:
        """Give the value at a training size.

        Between the sizes tried it is read off the points, value and interval on a line over the
        log of the size; beyond them the inverse power law says it.  Where the curve is not
        extrapolated, and below the smallest size, the value is undefined, and `notes` says why.
        """
        check_number(size, "size", low=1.0)
        if self.sizes[0] <= size <= self.sizes[-1]:
            return self._between(size)
        if size > self.sizes[-1] and self.extrapolation is not None:
            return self.extrapolation.at(size)
        below = Finding("below the smallest size tried", code="below_sizes")
        reason = self.refusal if size > self.sizes[-1] and self.refusal is not None else below
        return self._undefined(size, reason)

    def extrapolate(self, wanted: float) -> NeededSize:
        """Say how many training examples a wanted value takes, by the inverse power law."""
        if self.extrapolation is not None:
            return self.extrapolation.size_for(wanted)
        check_number(wanted, "wanted", low=0.0, high=1.0)
        return NeededSize(
            wanted=wanted,
            size=math.nan,
            more=math.nan,
            interval=Interval(0.0, math.inf, self.level, "undefined"),
            measure=self.measure,
            reachable="unknown",
            notes=() if self.refusal is None else (self.refusal,),
        )

    def _between(self, size: float) -> Estimate:
        """Interpolate between the two points around a size."""
        at = min(max(bisect_left(self.sizes, size), 1), len(self.points) - 1)
        first, last = self.points[at - 1], self.points[at]
        share = math.log(size / first.size) / math.log(last.size / first.size)
        if first.interval is None or last.interval is None or math.isnan(first.mean + last.mean):
            unknown = Finding("a point beside it has no value", code="undefined")
            return self._undefined(size, unknown)

        def mix(one: float, other: float) -> float:
            return (1 - share) * one + share * other

        low = mix(first.interval.low, last.interval.low)
        high = mix(first.interval.high, last.interval.high)
        interval = Interval(low, high, self.level, last.interval.method)
        return self._estimate(mix(first.mean, last.mean), interval, "interpolated", size)

    def _undefined(self, size: float, reason: Finding) -> Estimate:
        whole = Interval(*range_of(self.measure), self.level, "undefined")
        return self._estimate(math.nan, whole, "not_extrapolated", size, reason)

    def _estimate(
        self, value: float, interval: Interval, method: str, size: float, *notes: Finding
    ) -> Estimate:
        return Estimate(
            value=value,
            interval=interval,
            measure=self.measure,
            method=method,
            n=size,
            target="the learner at this sample size",
            notes=notes,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class LearningCurve(Reportable, NamedEntries[LearnerCurve]):
    """The curves of several learners on the same divisions: a read-only mapping, name → curve.

    `crossings` tells for each two learners from which size on which one is better;
    `error_per_cpu_second` lists, from the cheapest up, what the best mean for a CPU budget is;
    `failures` names the refits that failed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from truerisk import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve({"guess": DummyClassifier()}, X, y, sizes=[20, 40], random_state=1)
    >>> list(curve), [point.size for point in curve["guess"].points]
    (['guess'], [20, 40])
    """

    kind: ClassVar[str] = "learning_curve"
    entries: ClassVar[str] = "curves"
    entry: ClassVar[str] = "learner"

    curves: Mapping[str, LearnerCurve]
    measure: str
    higher_is_better: bool | None
    level: float
    n: int
    held_out: int
    sizes: tuple[int, ...]
    repeats: int
    estimate: str | None
    random_state: int
    crossings: tuple[Crossing, ...] = ()
    error_per_cpu_second: tuple[Affordable, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)

    def best_for(self, cpu_seconds: float) -> Affordable | None:
        """Give the best mean that a budget of CPU seconds pays for; None if it pays for none."""
        paid = [one for one in self.error_per_cpu_second if one.cpu_seconds <= cpu_seconds]
        return paid[-1] if paid else None

    def report(
        self, *, wanted: float | None = None, source: Mapping[str, Any] | None = None
    ) -> Any:
        """Make the page of the curves; it says what a value that is wanted takes."""
        page = import_module("truerisk.reporting.page")
        return page.report_of(self, wanted=wanted, source=source)

    def _rows(self) -> Iterator[Row]:
        for name, curve in self.items():
            for point in curve.points:
                yield {
                    "learner": name,
                    "size": point.size,
                    **point.row(self.measure, self.held_out),
                }

    def _content(self) -> dict[str, Any]:
        plain = super()._content()
        for curve in plain["curves"].values():
            if curve["extrapolation"] is not None:
                del curve["extrapolation"]["laws"]  # hundreds of refitted laws: its intervals tell
        return plain

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for name, curve in self.items():
            for point in curve.points:
                value = "undefined" if math.isnan(point.mean) else f"{point.mean:.3f}"
                ends = "" if point.interval is None else f" {point.interval}"
                yield f"{name}, {point.size:,} examples: {self.measure} = {value}{ends}"
            grows = curve.growth["seconds_to_induce"]
            if grows is not None:
                yield f"{name}: time to train grows like {grows}"
            yield f"{name}: {curve.extrapolation or f'not extrapolated, as {curve.refusal}'}"
        yield from map(str, self.crossings)
        yield from self.failures


def resampled_means(
    values: Array, design: Design, rng: np.random.Generator, replicates: int = REPLICATES
) -> Array:
    """Draw means over repeats as they would vary with other examples; the first axis is repeats.

    Whole repeats are drawn.  They share examples: deviations are stretched as by the corrected
    resampled t, by √(J/(J − 1) · (1 + J·ratio)) · t/z.
    """
    repeats = len(values)
    mean = values.mean(axis=0)
    tail = (1 + design.level) / 2
    students = float(stdtrit(repeats - 1, tail) / ndtri(tail))
    stretch = math.sqrt(repeats / (repeats - 1) * (1 + repeats * design.ratio)) * students
    drawn = rng.multinomial(repeats, np.full(repeats, 1 / repeats), size=replicates) / repeats
    return np.asarray(mean + stretch * np.tensordot(drawn, values - mean, axes=1))
