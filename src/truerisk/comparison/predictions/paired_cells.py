r"""Hard predictions of two models: the joint cells, and what any measure's difference varies by.

A *joint cell* is a triple: what is true, what the first model says, what the second says.  Every
measure of counts of either model is a function of the totals of the joint cells, and so is the
difference; its variance follows by the delta method from one gradient, whatever the measure.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.comparison.conclusion import Spread, satterthwaite, spread_of_groups
from truerisk.comparison.predictions.joined import JoinedPredictions
from truerisk.intervals.cell_sample import CellSample, Function
from truerisk.measures.averages import count_function, of_each_cell
from truerisk.measures.costs import CostMatrix
from truerisk.measures.from_counts import DISTANCE_POWERS, distances
from truerisk.measures.registry import Measure, base_and_average, find_measure
from truerisk.tallies.cells import (
    NO_LABEL,
    Cells,
    ClassCounts,
    GroupTotals,
    LabelSets,
    SideBySide,
    ratio,
)
from truerisk.tallies.group_values import effective_groups

EVERY_WRONG = 10  # up to this many classes, every wrong label has a joint cell
HALF_A_UNIT = 0.5
LARGEST_KEY = 2**62
ENTRIES_PER_ROW = 4  # of a table of all cells that could occur; a larger one is not counted in


@dataclass(frozen=True)
class PairedCells:
    """The joint cells of two models, as the cells of either; both in one order.

    `prior` is what smoothing adds: in every class that occurs half an example that only the first
    model gets right, and half an example that only the second does.
    """

    first: Cells
    second: Cells
    prior: Array
    pos_label: str | None = None
    costs: CostMatrix | None = None

    @classmethod
    def of(
        cls, joined: JoinedPredictions, pair: tuple[int, int], labels: tuple[str, ...]
    ) -> "PairedCells":
        """Count the joint cells of two models that both have predictions."""
        joint = JointCells.of(joined, pair)
        first, second = (joint.of_model(at, labels, joined) for at in range(2))
        shared, weight = joined.shared, joined.shared.weight
        if shared.group is not None:
            each = np.ones(len(joint.places), dtype=np.int64) if weight is None else weight
            by_group = GroupTotals.of(shared.group, joint.places, each, len(joint.counts))
            first = replace(first, by_group=by_group)
        if weight is not None:
            first = replace(
                first,
                totals=np.bincount(joint.places, weights=weight),
                squares=np.bincount(joint.places, weights=weight**2).astype(float),
            )
        return cls._with_discordant_cells(first, second.predicted)

    @classmethod
    def _with_discordant_cells(cls, first: Cells, second: LabelSets) -> "PairedCells":
        """Add the discordant cells of every class, whether or not they occurred."""
        truth, right, wrong, prior = _discordant(first)
        cells = first.with_empty(truth.followed_by(truth), right.followed_by(wrong))
        return cls(
            first=cells,
            second=replace(cells, predicted=second.followed_by(wrong, right)),
            prior=np.concatenate([np.zeros(len(first.totals)), prior, prior]),
        )

    @cached_property
    def sample(self) -> CellSample:
        """The joint cells as a sample; the features are those of the first, then of the second."""
        costs = [None if self.costs is None else self.costs.of_cells(one) for one in self.both]
        designs = [one.design(cost) for one, cost in zip(self.both, costs, strict=True)]
        return self._sampled(*designs)

    @property
    def both(self) -> tuple[Cells, Cells]:
        """The cells of either model."""
        return self.first, self.second

    def _sampled(self, first: Any, second: Any) -> CellSample:
        arrays = isinstance(first, np.ndarray)
        design: Any = np.hstack([first, second]) if arrays else SideBySide(first, second)
        cells = self.first
        return CellSample(
            cells.totals,
            design,
            cells.squares,
            cells.by_group,
            self.prior,
            truth=cells.truth,
        )

    def difference(self, name: str, over: Flags | None, zero: float) -> Spread:
        """Give how the difference of a measure of counts varies."""
        base, average = base_and_average(name)
        measure = find_measure(base)
        sample = self.sample
        function: Function | None
        if average == "samples":
            designs = [_design_of_examples(measure, one, zero) for one in self.both]
            sample, function = self._sampled(*designs), _share
        else:
            if base in DISTANCE_POWERS:
                between = distances(base, len(self.first.labels))
                sample = self._sampled(*(one.design(between[one.codes]) for one in self.both))
            positive = None if self.pos_label is None else self.first.labels.index(self.pos_label)
            of_counts = count_function(name, positive, over, zero)
            function = None if of_counts is None else of_features(of_counts)
        if function is None:
            raise TypeError(f"{name} is no measure of counts.")
        low, high = measure.measure_range
        scale = self._largest_cost if math.isinf(high - low) else high - low
        if sample.by_group is not None:
            values = sample.group_values(_difference_of(function))
            units = effective_groups(sample.by_group.sizes)
            return spread_of_groups(values.value, values.without, units, scale)
        spread = spread_of_cells(sample, _difference_of(function), self.first.truth.numbers)
        return replace(spread, scale=scale)

    @property
    def _largest_cost(self) -> float:
        """The scale of measures without a range: costs have theirs, odds and their ratios 1."""
        return 1.0 if self.costs is None else float(np.abs(self.costs.values).max())


@dataclass(frozen=True)
class JointCells:
    """The cells of what is true and what several models say, and how many examples each has.

    They stand in the order of their labels: no sum depends on where the labels came from.
    """

    codes: NDArray[Any]  # (1 + models, C): the label sets of truth and predictions
    counts: NDArray[np.int64]
    keys: NDArray[Any]  # of each row
    distinct: NDArray[Any]

    @classmethod
    def of(cls, joined: JoinedPredictions, models: Sequence[int]) -> "JointCells":
        """Count the cells of some models, all of which have predictions."""
        size, code_of = len(joined.shared.members), np.argsort(joined.ranks)
        columns = [joined.ranked[at] for at in (None, *models)]
        kind = np.min_scalar_type(min(size ** len(columns), LARGEST_KEY))
        keys = columns[0].astype(kind)
        for done, column in enumerate(columns[1:], start=2):
            if size**done > LARGEST_KEY:
                keys = np.unique(keys, return_inverse=True)[1].astype(kind)
            keys = keys * kind.type(size) + column
        if size ** len(columns) <= ENTRIES_PER_ROW * len(keys):
            table = np.bincount(keys, minlength=size ** len(columns))
            distinct = np.flatnonzero(table)
            counts, rest = table[distinct], distinct
            parts = []
            for _ in columns:
                rest, part = np.divmod(rest, size)
                parts.append(part)
            ranks = np.array(parts[::-1])
        else:
            distinct, first, counts = np.unique(keys, return_index=True, return_counts=True)
            ranks = np.array([column[first] for column in columns])
        return cls(code_of[ranks], counts, keys, distinct)

    def of_model(self, model: int, labels: tuple[str, ...], joined: JoinedPredictions) -> Cells:
        """Give the joint cells as those of one model."""
        place, members = {label: at for at, label in enumerate(labels)}, joined.shared.members
        return Cells(
            labels,
            LabelSets.of_sets(self.codes[0], members, place),
            LabelSets.of_sets(self.codes[1 + model], members, place),
            self.counts,
            self.counts,
            multilabel=joined.shared.multilabel,
        )

    @cached_property
    def places(self) -> Indices:
        """The cell of each row."""
        return np.searchsorted(self.distinct, self.keys)


def spread_of_cells(sample: CellSample, difference: Function, strata: Indices) -> Spread:
    """Take the delta method of the joint cells with half an example added to each kind of discord.

    The variance is that of the smoothed cells: two models that agree on every example are not
    taken to agree on all others.  The value stays as it is.  Student's t with the
    degrees of freedom of the true classes (`satterthwaite`).
    """
    smooth = sample.smoothed
    gradient = smooth.gradient(difference)
    error = smooth.standard_error(gradient)
    if math.isnan(error):
        return Spread(error)
    totals = smooth.totals if smooth.squares is None else smooth.squares
    variance = np.where(totals > 0, totals * np.where(totals > 0, gradient, 0.0) ** 2, 0.0)
    return Spread(error, satterthwaite(variance, strata, smooth.effective()))


def of_features(function: Callable[[ClassCounts], Any]) -> Function:
    """Make a function of the counts of classes one of the features of cells."""
    return lambda features: function(ClassCounts.from_features(features))


def _difference_of(function: Function) -> Function:
    def difference(features: NDArray[Any]) -> Any:
        half = features.shape[-1] // 2
        return function(features[..., half:]) - function(features[..., :half])

    return difference


def _share(features: NDArray[Any]) -> Any:
    return ratio(features[..., 0], features[..., 1])


def _design_of_examples(measure: Measure, cells: Cells, zero: float) -> Array:
    """Give each joint cell's own value of the measure, and whether it has one."""
    values = of_each_cell(measure, cells)
    values = np.where(np.isnan(values), zero, values)
    defined = ~np.isnan(values)
    return np.column_stack([np.where(defined, values, 0.0), defined])


def _discordant(cells: Cells) -> tuple[LabelSets, LabelSets, LabelSets, Array]:
    """Give truth, a right and a wrong prediction, and the prior, of every discordant cell."""
    classes = len(cells.labels)
    occurs = np.flatnonzero(cells.truth.sums(cells.totals) > 0)
    if cells.multilabel:
        none = np.full(len(occurs), NO_LABEL)
        truth, wrong = np.concatenate([occurs, none]), np.concatenate([none, occurs])
        prior = HALF_A_UNIT
    else:
        others = classes - 1 if classes <= EVERY_WRONG else 1
        truth = np.repeat(occurs, others)
        wrong = (truth + np.tile(np.arange(1, others + 1), len(occurs))) % classes
        prior = HALF_A_UNIT / max(others, 1)
    right = LabelSets.of_codes(truth, classes)
    return right, right, LabelSets.of_codes(wrong, classes), np.full(len(truth), prior)
