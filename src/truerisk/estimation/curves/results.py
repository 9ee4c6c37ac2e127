"""What a learning curve says: points, growth of the costs, a law, and learners side by side."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar

from truerisk.errors import InputError
from truerisk.estimation.curves.comparison import Affordable, Crossing
from truerisk.estimation.curves.extrapolation import Extrapolation, NeededSize
from truerisk.estimation.curves.growth import Growth
from truerisk.results import (
    Estimate,
    Frozen,
    Interval,
    MissingNameError,
    Reportable,
    Row,
    estimate_row,
)


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One learner at one training size.

    `mean` and `sd` (n − 1 form) are of the hold-out values of all repeats, `replicates`; the
    interval is about the learner at this size.  `estimate_mean` and `estimate_sd` are what the
    training part alone says, None where nothing was asked of it.  Costs are medians over the
    repeats: seconds to train, seconds to classify 1,000 examples, bytes of the training examples
    and of the trained model as pickled (not the peak while it trains), CPU seconds of the one
    thread that trains.
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
            "seconds_to_induce": self.seconds_to_induce,
            "seconds_to_classify": self.seconds_to_classify,
            "memory": self.memory,
            "cpu_seconds": self.cpu_seconds,
        }


@dataclass(frozen=True, kw_only=True)
class LearnerCurve(Frozen):
    """The points of one learner, how its costs grow, and the law its values follow.

    `growth` has an entry for `seconds_to_induce`, `seconds_to_classify`, `memory`, `cpu_seconds`;
    None where too few sizes have a cost.
    """

    name: str
    points: tuple[CurvePoint, ...]
    growth: Mapping[str, Growth | None]
    extrapolation: Extrapolation | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", MappingProxyType(dict(self.growth)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The training sizes."""
        return tuple(point.size for point in self.points)

    def at(self, size: float) -> Estimate:
        """Give the value that the inverse power law says for a training size."""
        return self._law.at(size)

    def extrapolate(self, wanted: float) -> NeededSize:
        """Say how many training examples a wanted value takes, by the inverse power law."""
        return self._law.size_for(wanted)

    @property
    def _law(self) -> Extrapolation:
        if self.extrapolation is None:
            raise InputError(
                f"The curve of {self.name} must have a value at four sizes at least, of a measure "
                "between 0 and 1 that has a better side, to be extrapolated; it has not."
            )
        return self.extrapolation


@dataclass(frozen=True, kw_only=True, repr=False)
class LearningCurve(Reportable, Mapping[str, LearnerCurve]):
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

    def __post_init__(self) -> None:
        for name in ("curves", "source"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, name: str) -> LearnerCurve:
        if name not in self.curves:
            raise MissingNameError(name, self.curves, "learner")
        return self.curves[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)

    def best_for(self, cpu_seconds: float) -> Affordable | None:
        """Give the best mean that a budget of CPU seconds pays for; None if it pays for none."""
        paid = [one for one in self.error_per_cpu_second if one.cpu_seconds <= cpu_seconds]
        return paid[-1] if paid else None

    def plot(self, ax: Any) -> Any:  # noqa: ANN401
        """Draw the means against the training size with their intervals, a colour a learner."""
        from truerisk.estimation.curves.plot import plot_curve  # noqa: PLC0415  (needs matplotlib)

        return plot_curve(self, ax)

    def report(
        self,
        *,
        wanted: float | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
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
            if curve.extrapolation is not None:
                yield f"{name}: {curve.extrapolation}"
        yield from map(str, self.crossings)
        yield from self.failures
