"""An interval for every measure of counts, whatever the examples are like.

=====================  ==========================  ========================================
measure                independent examples        weights, or several rows a group
=====================  ==========================  ========================================
k of n                 exact binomial              exact binomial at the effective size
any other              delta or cell bootstrap     the same, with robust variance
any other, degenerate  Dirichlet posterior         the same, at the effective size
=====================  ==========================  ========================================
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.intervals.delta import (
    cell_gradient,
    cluster_standard_error,
    delta_interval,
    standard_error,
)
from truerisk.intervals.replicates import (
    acceleration_of,
    dirichlet_cells,
    group_cells,
    multinomial_cells,
    replicate_interval,
    replicates_for,
)
from truerisk.measures.proportion import Proportion, ratio
from truerisk.results import Interval
from truerisk.tallies.cells import BinaryCounts, Cells

Function = Callable[[NDArray[Any]], Any]
MOST_UNDEFINED = 0.5  # of the replicates; beyond it, or with one infinite, they say little
EVERY_PAIR = 50  # up to this many classes, every pair of labels is given its prior mass


@dataclass(frozen=True)
class CellSample:
    """Cell totals as a sample: what resampling the examples would make of them.

    `design` takes totals (…, m) to the features (…, f) that the measures read.
    """

    totals: NDArray[Any]
    design: Any
    squares: NDArray[np.float64] | None = None
    by_group: NDArray[Any] | None = None

    @classmethod
    def of(cls, cells: Cells, cell_costs: NDArray[np.float64] | None = None) -> "CellSample":
        """Take the cells of a set of predictions as they are."""
        return cls(cells.totals, cells.design(cell_costs), cells.squares, cells.by_group)

    def collapsed(self, outcome: NDArray[np.intp]) -> "CellSample":
        """Merge the cells into tp, fp, fn and tn; `outcome` says which each belongs to."""
        merge = np.zeros((len(outcome), 4))
        merge[np.arange(len(outcome)), outcome] = 1.0
        return CellSample(
            self.totals @ merge,
            np.eye(4),
            None if self.squares is None else self.squares @ merge,
            None if self.by_group is None else self.by_group @ merge,
        )

    @cached_property
    def features(self) -> NDArray[Any]:
        """The features of the sample itself."""
        return np.asarray(self.totals @ self.design)

    @property
    def independent(self) -> bool:
        """Whether every example counts once and for itself."""
        return self.squares is None and self.by_group is None

    def gradient(self, function: Function) -> NDArray[np.float64]:
        """Differentiate a function of the features with respect to the cell totals."""
        return np.asarray(self.design @ cell_gradient(function, self.features))

    def standard_error(self, gradient: NDArray[np.float64]) -> float:
        """Give the delta-method standard error; for groups, on the scale of their t quantile."""
        if self.by_group is not None:
            return cluster_standard_error(gradient, self.by_group)
        return standard_error(gradient, self.totals if self.squares is None else self.squares)

    def widening(self, level: float) -> float:
        """How much wider than the normal quantile few groups make an interval."""
        if self.by_group is None or len(self.by_group) < 2:
            return 1.0
        tail = (1 - level) / 2
        return float(stdtrit(len(self.by_group) - 1, tail) / ndtri(tail))

    def acceleration(self, gradient: NDArray[np.float64]) -> float:
        """Give the skewness that BCa corrects for, of the influence of one unit."""
        if self.by_group is not None:
            return acceleration_of(self.by_group @ gradient, np.ones(len(self.by_group)))
        return acceleration_of(gradient, self.effective())

    def effective(self) -> NDArray[np.float64]:
        """Scale the totals to the number of independent, equal units behind them."""
        totals = np.asarray(self.totals, dtype=np.float64)
        if self.by_group is not None:
            units = np.asarray(self.by_group.sum(axis=1), dtype=np.float64)
            size = units.sum() ** 2 / (units**2).sum()
        elif self.squares is not None:
            size = totals.sum() ** 2 / self.squares.sum()
        else:
            return totals
        return np.asarray(totals * (size / totals.sum()))

    def draw(self, replicates: int, rng: np.random.Generator) -> NDArray[Any]:
        """Resample the examples (or the groups) and give the features of each replicate."""
        if self.by_group is not None:
            return np.asarray(group_cells(self.by_group, replicates, rng) @ self.design)
        counts = np.rint(self.effective()).astype(np.int64)
        return np.asarray(multinomial_cells(counts, replicates, rng) @ self.design)


def proportion_interval(
    sample: CellSample, function: Callable[[NDArray[Any]], Proportion], *, level: float, method: str
) -> Interval:
    """Give the interval of a measure that is k of n, through its monotone transform.

    With weights or groups the binomial is taken at the effective size m = p(1 − p)/se², the size
    at which independent examples would vary as much (Korn and Graubard, 1998).
    """
    found = function(sample.features)
    if sample.independent:
        inner = binomial_interval(
            int(np.rint(found.k)), int(np.rint(found.n)), level=level, method=method
        )
    else:
        inner = _effective_binomial(sample, function, level)
    if found.transform is None:
        return inner
    ends = sorted(float(found.transform(end)) for end in (inner.low, inner.high))
    return replace(inner, low=ends[0], high=ends[1])


def _effective_binomial(
    sample: CellSample, function: Callable[[NDArray[Any]], Proportion], level: float
) -> Interval:
    def share(features: NDArray[Any]) -> Any:  # noqa: ANN401
        found = function(features)
        return ratio(found.k, found.n)

    value = float(share(sample.features))
    if np.isnan(value):
        return Interval(0.0, 1.0, level, "undefined")
    trials = CellSample(sample.effective(), sample.design)
    size = float(function(trials.features).n)
    error = 0.0
    if 0 < value < 1:
        error = sample.standard_error(sample.gradient(share)) * sample.widening(level)
    if error > 0:
        # Groups that vary *less* than independent rows are luck more often than structure.
        size = min(value * (1 - value) / error**2, float(function(sample.features).n))
    interval = fractional_interval(value * size, size, level=level)
    kind = "cluster_binomial" if sample.by_group is not None else "effective_binomial"
    return replace(interval, method=kind)


def cell_interval(
    sample: CellSample,
    function: Function,
    *,
    value: float,
    measure_range: tuple[float, float],
    level: float,
    method: str,
    replicates: int,
    rng: np.random.Generator,
) -> Interval:
    """Give the interval of any other measure; never degenerate, inside the range, with the value.

    The delta method works on the logit scale of the range; where it has nothing to say (a variance
    of 0, a value at the end of the range) the posterior of the cells under a weak Dirichlet prior
    speaks instead.
    """
    if np.isnan(value):
        return Interval(*measure_range, level, "undefined")
    replicates = replicates_for(level, least=replicates)
    interval = None
    if np.isfinite(value) and method != "dirichlet":
        gradient = sample.gradient(function)
        error = sample.standard_error(gradient) * sample.widening(level)
        if method == "delta":
            interval = delta_interval(value, error, measure_range=measure_range, level=level)
        elif error > 0:
            values = function(sample.draw(replicates, rng))
            interval = _of_replicates(
                values,
                value,
                level=level,
                method=method,
                acceleration=sample.acceleration(gradient),
                measure_range=measure_range,
            )
    if interval is not None and interval.width > 0:
        named = f"cluster_{interval.method}"
        return interval if sample.by_group is None else replace(interval, method=named)
    drawn = function(dirichlet_cells(sample.effective(), replicates, rng) @ sample.design)
    interval, _ = replicate_interval(
        drawn, value, level=level, method="percentile", measure_range=measure_range
    )
    return replace(interval, method="dirichlet")


def _of_replicates(
    values: NDArray[Any],
    value: float,
    *,
    level: float,
    method: str,
    acceleration: float,
    measure_range: tuple[float, float],
) -> Interval | None:
    if np.isnan(values).mean() > MOST_UNDEFINED or np.isinf(values).any():
        return None
    interval, _ = replicate_interval(
        values,
        value,
        level=level,
        method=method,
        acceleration=acceleration,
        measure_range=measure_range,
    )
    return interval


def with_every_cell(cells: Cells) -> Cells:
    """Add the cells that did not occur but could: a prior must be able to give them mass."""
    n_classes = len(cells.labels)
    one = np.eye(n_classes, dtype=bool)
    if cells.multilabel:
        none = np.zeros_like(one)
        truth, predicted = np.vstack([one, none]), np.vstack([none, one])
    elif n_classes <= EVERY_PAIR:
        truth, predicted = np.repeat(one, n_classes, axis=0), np.tile(one, (n_classes, 1))
    else:
        truth, predicted = one, np.roll(one, 1, axis=1)
    known = {(t.tobytes(), p.tobytes()) for t, p in zip(cells.truth, cells.predicted, strict=True)}
    new = [
        at
        for at, (t, p) in enumerate(zip(truth, predicted, strict=True))
        if (t.tobytes(), p.tobytes()) not in known
    ]
    zeros = np.zeros(len(new), dtype=cells.totals.dtype)
    groups = cells.by_group
    return replace(
        cells,
        truth=np.vstack([cells.truth, truth[new]]),
        predicted=np.vstack([cells.predicted, predicted[new]]),
        totals=np.concatenate([cells.totals, zeros]),
        rows=np.concatenate([cells.rows, np.zeros(len(new), dtype=np.int64)]),
        squares=None if cells.squares is None else np.concatenate([cells.squares, zeros]),
        by_group=None
        if groups is None
        else np.hstack([groups, np.zeros((len(groups), len(new)), dtype=groups.dtype)]),
    )


def outcomes(cells: Cells, label: int) -> NDArray[np.intp]:
    """Say of each cell whether it is a true or false positive or negative of the label."""
    truth, predicted = cells.truth[:, label], cells.predicted[:, label]
    return np.where(predicted, np.where(truth, 0, 1), np.where(truth, 2, 3))


def binary_counts(features: NDArray[Any]) -> BinaryCounts:
    """Read the features of a collapsed sample."""
    return BinaryCounts(*(features[..., at] for at in range(4)))
