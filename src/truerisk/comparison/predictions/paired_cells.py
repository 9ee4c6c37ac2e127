r"""Hard predictions of two models: the joint cells, and what any measure's difference varies by.

A *joint cell* is a triple: what is true, what the first model says, what the second says.  Every
measure of counts of either model is a function of the totals of the joint cells, and so is the
difference; its variance follows by the delta method from one gradient, whatever the measure.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.comparison.predictions.joined import JoinedPredictions
from truerisk.comparison.spread import Spread, satterthwaite, spread_of_groups
from truerisk.intervals.cell_sample import CellSample, Function
from truerisk.measures.averages import AVERAGES, of_each_cell
from truerisk.measures.costs import CostMatrix
from truerisk.measures.from_counts import DISTANCE_POWERS, distances
from truerisk.measures.registry import Measure, base_and_average, find_measure
from truerisk.tallies.cells import BinaryCounts, Cells, ClassCounts, ratio
from truerisk.tallies.group_values import effective_groups

EVERY_WRONG = 10  # up to this many classes, every wrong label has a joint cell
HALF_A_UNIT = 0.5


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
        size = len(joined.members)
        codes, at = joint_cells(joined, pair)
        parts = [codes // size**2, codes // size % size, codes % size]
        truth, first, second = (_indicators(part, joined, labels) for part in parts)
        rows = np.bincount(at, minlength=len(codes))
        weight = joined.weight
        cells = Cells(
            labels=labels,
            truth=truth,
            predicted=first,
            totals=rows if weight is None else np.bincount(at, weights=weight),
            rows=rows,
            squares=None if weight is None else np.bincount(at, weights=weight**2).astype(float),
            by_group=_by_group(joined, at, len(codes)),
            multilabel=joined.multilabel,
        )
        return cls._with_discordant_cells(cells, second)

    @classmethod
    def _with_discordant_cells(cls, first: Cells, second: Flags) -> "PairedCells":
        """Add the discordant cells of every class, whether or not they occurred."""
        truth, right, wrong, prior = _discordant(first)
        extra = len(truth)
        zeros = np.zeros(2 * extra, dtype=first.totals.dtype)
        groups = first.by_group
        cells = replace(
            first,
            truth=np.vstack([first.truth, truth, truth]),
            predicted=np.vstack([first.predicted, right, wrong]),
            totals=np.concatenate([first.totals, zeros]),
            rows=np.concatenate([first.rows, np.zeros(2 * extra, dtype=np.int64)]),
            squares=None if first.squares is None else np.concatenate([first.squares, zeros]),
            by_group=None
            if groups is None
            else np.hstack([groups, np.zeros((len(groups), 2 * extra), dtype=groups.dtype)]),
        )
        return cls(
            first=cells,
            second=replace(cells, predicted=np.vstack([second, wrong, right])),
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
        if isinstance(first, np.ndarray):
            design: Any = np.hstack([first, second])
        else:
            from scipy import sparse

            design = sparse.csr_array(sparse.hstack([first, second]))
        cells = self.first
        return CellSample(
            cells.totals,
            design,
            cells.squares,
            cells.by_group,
            self.prior,
            class_by_group=None if cells.by_group is None else cells.by_group @ cells.truth,
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
            function = count_function(name, self.first.labels, self.pos_label, over, zero)
        if function is None:
            raise TypeError(f"{name} is no measure of counts.")
        low, high = measure.measure_range
        scale = self._largest_cost if math.isinf(high - low) else high - low
        if sample.by_group is not None:
            values = sample.group_values(_difference_of(function))
            units = effective_groups(sample.by_group.sum(axis=1))
            return spread_of_groups(values.value, values.without, units, scale)
        spread = spread_of_cells(sample, _difference_of(function), self._strata)
        return replace(spread, scale=scale)

    @property
    def _largest_cost(self) -> float:
        """The scale of measures without a range: costs have theirs, odds and their ratios 1."""
        return 1.0 if self.costs is None else float(np.abs(self.costs.values).max())

    @cached_property
    def _strata(self) -> Indices:
        """What is true in each cell, as a number."""
        return np.unique(np.packbits(self.first.truth, axis=1), axis=0, return_inverse=True)[
            1
        ].ravel()


def joint_cells(
    joined: JoinedPredictions, pair: tuple[int, int]
) -> tuple[NDArray[np.int64], Indices]:
    """Give the codes of the joint cells that occur, and the place of each example among them.

    The cells stand in the order of their labels: no sum depends on where the labels came from.
    """
    size, rank = len(joined.members), joined.ranks
    columns = (joined.truth, *(np.asarray(joined.predicted[at]) for at in pair))
    ranked = code = np.zeros(joined.n, dtype=np.int64)
    for column in columns:
        ranked, code = ranked * size + rank[column], code * size + column
    _, first, places = np.unique(ranked, return_index=True, return_inverse=True)
    return code[first], places


def spread_of_cells(sample: CellSample, difference: Function, strata: Indices) -> Spread:
    """Take the delta method of the joint cells with half an example added to each kind of discord.

    The variance is that of the smoothed cells: two models that agree on every example are not
    taken to agree on all others.  The value stays as it is.  Student's t with the
    degrees of freedom of the true classes (`satterthwaite`).
    """
    smooth = sample.smoothed()
    gradient = smooth.gradient(difference)
    error = smooth.standard_error(gradient)
    if math.isnan(error):
        return Spread(error)
    totals = smooth.totals if smooth.squares is None else smooth.squares
    variance = np.where(totals > 0, totals * np.where(totals > 0, gradient, 0.0) ** 2, 0.0)
    return Spread(error, satterthwaite(variance, strata, smooth.effective()))


def count_function(
    name: str,
    labels: tuple[str, ...],
    pos_label: str | None,
    over: Flags | None,
    zero_division: float,
) -> Callable[[NDArray[Any]], Any] | None:
    """Give a measure of counts as a function of the features of one model's cells.

    None for a measure that needs more than counts.
    """
    base, average = base_and_average(name)
    measure = find_measure(base)
    if average in AVERAGES and measure.needs == "binary counts":
        return lambda features: AVERAGES[str(average)].function(
            measure, ClassCounts.from_features(features), over, zero_division
        )
    if average is None and measure.needs == "class counts":
        return lambda features: measure.value(ClassCounts.from_features(features))
    if average is None and measure.needs == "binary counts" and pos_label is not None:
        at = labels.index(pos_label)
        return lambda features: measure.value(_of_label(features, at))
    return None


def _of_label(features: NDArray[Any], label: int) -> BinaryCounts:
    each = ClassCounts.from_features(features).one_vs_rest
    return BinaryCounts(*(part[..., label] for part in (each.tp, each.fp, each.fn, each.tn)))


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


def _indicators(codes: NDArray[Any], joined: JoinedPredictions, labels: tuple[str, ...]) -> Flags:
    place = {label: at for at, label in enumerate(labels)}
    table = np.zeros((len(codes), len(labels)), dtype=bool)
    for row, code in enumerate(codes.tolist()):
        table[row, [place[label] for label in joined.members[code]]] = True
    return table


def _by_group(joined: JoinedPredictions, at: NDArray[Any], cells: int) -> NDArray[Any] | None:
    if joined.group is None:
        return None
    groups = int(joined.group.max()) + 1
    flat = np.bincount(joined.group * cells + at, weights=joined.weight, minlength=groups * cells)
    table = flat.reshape(groups, cells)
    # One order of the groups, whatever that of the rows.
    return np.asarray(table[np.lexsort(table.T)])


def _discordant(cells: Cells) -> tuple[Flags, Flags, Flags, Array]:
    """Give truth, a right and a wrong prediction, and the prior, of every discordant cell."""
    classes = len(cells.labels)
    occurs = np.flatnonzero(np.asarray(cells.totals @ cells.truth) > 0)
    one = np.eye(classes, dtype=bool)
    if cells.multilabel:
        none = np.zeros((len(occurs), classes), dtype=bool)
        truth = np.vstack([one[occurs], none])
        wrong = np.vstack([none, one[occurs]])
        return truth, truth, wrong, np.full(len(truth), HALF_A_UNIT)
    if classes < 2:
        empty = np.zeros((0, classes), dtype=bool)
        return empty, empty, empty, np.zeros(0)
    others = classes - 1 if classes <= EVERY_WRONG else 1
    true_class = np.repeat(occurs, others)
    wrong_class = (true_class + np.tile(np.arange(1, others + 1), len(occurs))) % classes
    truth = one[true_class]
    return truth, truth, one[wrong_class], np.full(len(truth), HALF_A_UNIT / others)
