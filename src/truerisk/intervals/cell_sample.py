"""Cell totals as a sample: what another sample of examples, or of groups, would make of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.intervals.delta import (
    cell_gradient,
    standard_error,
    student_factor,
)
from truerisk.intervals.replicates import (
    acceleration_of,
    dirichlet_cells,
    multinomial_cells,
)
from truerisk.intervals.variance_components import (
    METHOD,
    OTHER,
    Components,
    components,
    components_of_cells,
)
from truerisk.tallies.cells import (
    NO_LABEL,
    ROUNDING,
    BinaryCounts,
    Cells,
    GroupTotals,
    LabelSets,
    ratio,
)
from truerisk.tallies.group_values import GroupValues, effective_groups
from truerisk.tallies.votes import Judgements

Function = Callable[[NDArray[Any]], Any]

EVERY_PAIR = 50  # up to this many classes, every pair of labels is a cell
HALF_A_UNIT = 0.5
UNITS_IN_ALL = 2.0  # of the prior that may move a centre: half a unit for each cell of two classes


TRUE_CLASS = LabelSets.of_codes(np.array([0, 1, 0, 1]), 2)  # of tp, fp, fn and tn


@dataclass(frozen=True)
class CellSample:
    """Totals of m cells, and how they vary.

    `design` takes totals (…, m) to the features (…, f) of the measures; `prior` is what smoothing
    adds to each cell, in units of one example or group (`prior_unit`); `rows` counts weighted
    examples.
    """

    totals: NDArray[Any]
    design: Any
    squares: Array | None = None
    by_group: GroupTotals | None = None
    prior: Array | None = None
    rows: NDArray[np.int64] | None = None
    classes: int = 2
    judgements: Judgements | None = None
    truth: LabelSets | None = None  # of the cells, where classes are counted by groups
    added: Array | None = None
    strata: Indices | None = None  # classes whose totals are given, not drawn

    @classmethod
    def of(cls, cells: Cells, cell_costs: Array | None = None) -> "CellSample":
        """Take the cells of a set of predictions, those that could have occurred included."""
        design = cells.design(cell_costs)
        rows = cells.rows if cells.weighted else None
        classes = int(np.count_nonzero(cells.truth.sums(cells.totals)))
        return cls(
            cells.totals,
            design,
            cells.squares,
            cells.by_group,
            prior_of(cells),
            rows,
            max(classes, 2),
            cells.judgements,
            None if cells.by_group is None else cells.truth,
            strata=cells.codes[0] if cells.at_prior else None,
        )

    def collapsed(self, outcome: Indices) -> "CellSample":
        """Merge the cells into tp, fp, fn and tn; `outcome` says which each belongs to.

        What is left is two classes, with the prior of two classes.
        """
        merge = np.zeros((len(outcome), 4))
        merge[np.arange(len(outcome)), outcome] = 1.0
        if self.strata is not None and self.by_group is None:
            return replace(self, design=merge, classes=2)
        sums = {name: column @ merge for name, column in self._columns.items()}
        return self._of_outcomes(sums, outcome)

    def against_rest(self, cells: Cells) -> Callable[[int], "CellSample"]:
        """Give a function that collapses the cells for a label; sums are made once for all."""
        if self.strata is not None or self.judgements is not None:
            return lambda label: self.collapsed(outcomes(cells, label))
        tables = {name: cells.outcomes_by_class(one) for name, one in self._columns.items()}

        def collapsed(label: int) -> "CellSample":
            sums = {name: table[label] for name, table in tables.items()}
            return self._of_outcomes(
                sums, None if self.by_group is None else outcomes(cells, label)
            )

        return collapsed

    @property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """What is known of each cell; of the prior, where it is."""
        prior = None if self.prior is None else self.prior > 0
        every = {"totals": self.totals, "squares": self.squares, "prior": prior, "rows": self.rows}
        return {name: column for name, column in every.items() if column is not None}

    def _of_outcomes(self, sums: dict[str, Array], outcome: Indices | None) -> "CellSample":
        """Make a sample of four cells of the sums over the cells of each outcome."""
        by_group = None
        if self.by_group is not None and outcome is not None:
            table = self.by_group.outcomes(outcome)
            group, cell = np.nonzero(table)
            by_group = GroupTotals(4, group, cell, table[group, cell])
        return CellSample(
            sums["totals"],
            np.eye(4),
            sums.get("squares"),
            by_group,
            np.where(sums["prior"] > 0, HALF_A_UNIT, 0.0) if "prior" in sums else None,
            np.rint(sums["rows"]).astype(np.int64) if "rows" in sums else None,
            judgements=None
            if self.judgements is None or outcome is None
            else self.judgements.merged(outcome),
            truth=TRUE_CLASS,
        )

    @cached_property
    def features(self) -> NDArray[Any]:
        """The features of the sample itself."""
        return np.asarray(self.totals @ self.design)

    def counted(self, size: Callable[[NDArray[Any]], Any]) -> float:
        """Count the examples behind a sum of totals: how many rows `size` takes in."""
        counted = float(size(self.features if self.rows is None else self.rows @ self.design))
        return counted if self.judgements is None else round(counted, 9)  # shares of votes add up

    def worth(self, size: Callable[[NDArray[Any]], Any]) -> float:
        """Give the number of equally weighted examples behind a sum of totals (Kish)."""
        total = float(size(self.features))
        if self.squares is None:
            return total
        return total**2 / float(size(self.squares @ self.design))

    @property
    def independent(self) -> bool:
        """Whether every example counts once and for itself."""
        return self.squares is None and self.by_group is None and self.judgements is None

    @cached_property
    def unit(self) -> float:
        """How much one unit adds to the totals: 1, or the typical weight of an example."""
        if self.judgements is not None:
            return self.judgements.unit
        if self.squares is not None:
            return float(self.squares.sum() / self.totals.sum())
        return 1.0

    def effective(self) -> Array:
        """Scale the totals to the number of independent, equal units behind them (Kish)."""
        return np.asarray(self.totals, dtype=np.float64) / self.unit

    @cached_property
    def light_prior(self) -> Array:
        """The prior, but two units in all at most: many classes must not outweigh the examples."""
        if self.prior is None:
            return np.zeros(len(self.totals))
        return self.prior * (UNITS_IN_ALL / max(float(self.prior.sum()), UNITS_IN_ALL))

    def centre(self) -> Array:
        """Give the features of the cells with the light prior added."""
        return np.asarray(self._with_units(self.light_prior)[0] @ self.design)

    @cached_property
    def smoothed(self) -> "CellSample":
        """The cells with the prior: half a unit right, half a unit wrong for each class there."""
        if self.prior is None:
            return self
        totals, squares = self._with_units(self.prior)
        return CellSample(
            totals,
            self.design,
            squares,
            judgements=self.judgements,
            added=self.unit * self.prior,
            strata=self.strata,
        )

    def _with_units(self, units: Array) -> tuple[Array, Array | None]:
        """Add units to the totals and their squares; what a class has at a prior stays."""
        if self.strata is None or self.squares is None:
            added = self.unit * units
            squares = None if self.squares is None else self.squares + self.unit * added
            return self.totals + added, squares
        before, of_class = self._by_stratum(self.totals), self._by_stratum(self.squares)
        unit = ratio(of_class, before)
        added = np.where(units > 0, unit * units, 0.0)
        kept = ratio(before, self._by_stratum(self.totals + added))
        kept = np.where(np.isnan(kept), 0.0, kept)
        added_squares = np.where(units > 0, unit * added, 0.0)
        return kept * (self.totals + added), kept**2 * (self.squares + added_squares)

    def _by_stratum(self, column: NDArray[Any]) -> Array:
        """Add a column up within each stratum, and give the sum to each of its cells."""
        strata = np.asarray(self.strata)
        sums: Array = np.bincount(strata, weights=column).astype(np.float64)
        return np.asarray(sums[strata])

    def gradient(self, function: Function) -> Array:
        """Differentiate a function of the features with respect to the cell totals."""
        return np.asarray(self.design @ cell_gradient(function, self.features))

    def standard_error(self, gradient: Array) -> float:
        """Give the delta-method standard error, robust to weights and disagreement."""
        if self.judgements is not None:
            parts = self.components(gradient)
            variance = parts.variance(OTHER) if self.by_components else parts.agreement
            return float(np.sqrt(variance))
        return standard_error(
            self._within_strata(gradient), self.totals if self.squares is None else self.squares
        )

    def _within_strata(self, gradient: Array) -> Array:
        """Take the mean of its class off each slope: only what varies within one is chance."""
        if self.strata is None:
            return gradient
        slopes = np.where(self.totals > 0, gradient, 0.0)
        mean = ratio(self._by_stratum(self.totals * slopes), self._by_stratum(self.totals))
        return np.asarray(slopes - np.where(np.isnan(mean), 0.0, mean))

    def components(self, gradient: Array) -> Components:
        """Split the variance of a measure that refits judge; few groups make it larger."""
        judgements: Any = self.judgements
        pairs = judgements.pairs
        # Where a measure is infinite its slope is beyond all numbers, and so is the variance.
        with np.errstate(over="ignore", invalid="ignore"):
            if pairs is not None and np.isfinite(gradient).all():
                parts = components_of_cells(pairs, gradient)
            else:
                influence = judgements.influence(gradient)
                parts = components(influence, judgements.refits, judgements.groups)
            if self.added is None:
                return parts
            # What smoothing has added are examples that nobody judged.
            extra = self.unit * float(self.added @ gradient**2)
        return replace(parts, independent=parts.independent + extra)

    @property
    def by_components(self) -> bool:
        """Whether several refits judge the examples, and the rule is that of their components."""
        judgements = self.judgements
        return judgements is not None and judgements.repeated and judgements.rule == METHOD

    def widening(self, level: float) -> float:
        """How much wider than the normal quantile few groups make an interval: Student's t."""
        judgements = self.judgements
        groups = 0 if judgements is None or judgements.groups is None else judgements.units
        return 1.0 if groups < 2 else student_factor(groups, level)

    @property
    def jackknifed(self) -> bool:
        """Whether groups are left out in turn: rows in groups, but for refits by agreement."""
        return self.by_group is not None and (
            self.judgements is None or self.judgements.rule == METHOD
        )

    @property
    def clustered(self) -> bool:
        """Whether groups, not examples, are what refits judged."""
        return self.judgements is not None and self.judgements.groups is not None

    @property
    def kind(self) -> str:
        """Name what sets the variance apart: the rule of refits, `cluster_…`, or nothing."""
        name = ""
        if self.judgements is not None:
            name = f"{self.judgements.rule}_" if self.judgements.repeated else "pooled_"
        return f"cluster_{name}" if self.clustered else name

    def acceleration(self, gradient: Array) -> float:
        """Give the skewness that BCa corrects for, of the influence of one unit."""
        return acceleration_of(self._within_strata(gradient), self.effective())

    def draw(self, replicates: int, rng: np.random.Generator) -> NDArray[Any]:
        """Resample the examples, within the strata if there are any; give features of each draw."""
        counts = np.rint(self.effective()).astype(np.int64)
        if self.strata is None:
            return np.asarray(multinomial_cells(counts, replicates, rng) @ self.design)
        drawn = np.zeros((replicates, len(counts)), dtype=np.int64)
        for stratum in np.unique(self.strata[counts > 0]):
            cells = np.flatnonzero(self.strata == stratum)
            drawn[:, cells] = multinomial_cells(counts[cells], replicates, rng)
        return np.asarray(drawn @ self.design)

    def group_values(
        self, function: Function, size: Callable[[NDArray[Any]], Any] | None = None
    ) -> GroupValues:
        """Give a function of the features without, and with twice, each group.

        `size` is the denominator of a proportion: groups that add nothing to it do not count.
        """
        groups: Any = self.by_group
        sizes, without, twice = ([np.zeros(0)] for _ in range(3))
        for part in groups.features(self.design):
            counts = part if size is None else np.asarray(size(part), dtype=np.float64)
            taken = part if size is None else part[counts > 0]
            sizes.append(counts)
            without.append(np.asarray(function(self._changed(-taken))))
            twice.append(np.asarray(function(self._changed(taken))))
        units = self.class_units if size is None else effective_groups(np.concatenate(sizes))
        value = float(function(self.features))
        return GroupValues(value, np.concatenate(without), np.concatenate(twice), units)

    @cached_property
    def class_units(self) -> float:
        """The effective number of groups: of all examples, or of a class."""
        if self.by_group is None:
            return 0.0
        if self.truth is None:
            return effective_groups(self.by_group.sizes)
        return self.by_group.class_units(self.truth)

    def _changed(self, change: Array) -> Array:
        """Change the features; what rounding leaves of nothing is nothing."""
        changed = self.features + change
        return np.where(np.abs(changed) > ROUNDING * np.abs(self.features), changed, 0.0)

    def draw_posterior(self, replicates: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draw the cell shares from their posterior and give the features of each draw."""
        shape = self.effective() + self.light_prior
        return np.asarray(dirichlet_cells(shape, replicates, rng, 1e-6) @ self.design)


def with_every_cell(cells: Cells) -> Cells:
    """Add the cells that did not occur but could: smoothing must be able to give them mass."""
    size = len(cells.labels)
    every = np.arange(size)
    if cells.multilabel:
        none = np.full(size, NO_LABEL)
        truth = np.concatenate([every, every, none])
        predicted = np.concatenate([every, none, every])
    elif size <= EVERY_PAIR:
        truth, predicted = np.repeat(every, size), np.tile(every, size)
    else:
        truth, predicted = np.tile(every, 2), np.concatenate([every, (every + 1) % size])
    small = (cells.truth.sizes <= 1) & (cells.predicted.sizes <= 1)
    known = (cells.truth.codes * (size + 1) + cells.predicted.codes)[small]
    new = ~np.isin(truth * (size + 1) + predicted, known)
    if not new.any():
        return cells
    added = (LabelSets.of_codes(one[new], size) for one in (truth, predicted))
    return cells.with_empty(*added)


def prior_of(cells: Cells) -> Array:
    """Give half a unit to the right and half a unit to the wrong cells of each class that occurs.

    With sets of labels, a class counts where it is the only label in question.  A class that never
    occurs gets nothing: smoothing must not make up a class to average over.
    """
    occurs = cells.truth.sums(cells.totals) > 0
    prior = np.zeros(len(cells.totals))
    true, called = cells.codes
    if cells.multilabel:
        if not len(occurs):  # no label at all
            return prior
        both, truth, predicted = (one.sizes for one in cells.sides)
        single = (truth + predicted - both == 1) & occurs[np.maximum(true, called)]
        prior[single] = HALF_A_UNIT
        return prior
    chosen = (true != NO_LABEL) & occurs[true]
    for which in (cells.right, ~cells.right):
        taken = chosen & which
        alike = np.bincount(true[taken], minlength=len(occurs))
        prior[taken] = HALF_A_UNIT / alike[true[taken]]
    return prior


def outcomes(cells: Cells, label: int) -> Indices:
    """Say of each cell whether it is a true or false positive or negative of the label."""
    truth, predicted = cells.truth.has(label), cells.predicted.has(label)
    return np.where(predicted, np.where(truth, 0, 1), np.where(truth, 2, 3))


def binary_counts(features: NDArray[Any]) -> BinaryCounts:
    """Read the features of a collapsed sample."""
    return BinaryCounts(*(features[..., at] for at in range(4)))
