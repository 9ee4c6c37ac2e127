"""The one summary that every measure of hard predictions is computed from.

A *cell* is a pair: the set of true labels and the set of predicted labels of an example.  Single-
label problems have sets of one.  How often each cell occurs is an exact integer, tallies of parts
add up, and resampling the examples is resampling the cells, at a cost that does not depend on how
many examples there are.

    CellTally  (grows, merges)  →  Cells  (frozen)  →  ClassCounts, BinaryCounts  (arrays)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import InputError
from truerisk.labels import in_order
from truerisk.tallies.counting import count_pairs, distinct
from truerisk.tallies.exact_sum import as_float, units_by_code

MAX_CLASSES = 10_000
DENSE_ENTRIES = 2**15  # cells × classes; a larger design is applied without being written out
DENSE_CONFUSION = 2048  # classes; a confusion table of more is sparse
PAIRS_PER_ROW = 4  # a dense table of pairs is counted if it has at most so many entries per row
SMALL_BOOK = 64  # up to this many label codes, it always is
CODE_BITS = 31
LOWEST_BITS = 2**CODE_BITS - 1
NO_LABEL = -1
ROUNDING = 1e-12  # of a sum of weights
ENTRIES_AT_ONCE = 2**20  # of the features of groups
# Odd numbers that spread the bits of a product: those of splitmix64.
MIXERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
Members = Sequence[tuple[str, ...]] | Mapping[int, tuple[str, ...]]


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide elementwise; NaN where the denominator is 0.  Works on complex numbers too."""
    if type(denominator) is np.float64 and denominator != 0:
        return numerator / denominator
    undefined = np.equal(denominator, 0)
    if not np.count_nonzero(undefined):
        return numerator / denominator
    return np.where(undefined, np.nan, numerator / np.where(undefined, 1, denominator))


@dataclass(frozen=True)
class Proportion:
    """k of n, or a monotone function of that share: the measures that have exact intervals.

    Given n, the count k is binomial; the exact interval of k/n, taken through `transform`, is an
    exact interval of the value.
    """

    k: Any
    n: Any
    transform: Callable[[Any], Any] | None = None

    @property
    def share(self) -> Any:
        """The share k/n; NaN where n is 0."""
        return ratio(self.k, self.n)

    @property
    def value(self) -> Any:
        """The measure itself; NaN where n is 0."""
        return self.share if self.transform is None else self.transform(self.share)

    def between(self, low: Any, high: Any) -> tuple[Any, Any]:
        """Take the ends of an interval of the share through the function; the lower end first."""
        if self.transform is None:
            return low, high
        ends = self.transform(low), self.transform(high)
        return np.minimum(*ends), np.maximum(*ends)


@dataclass(frozen=True)
class BinaryCounts:
    """True and false positives and negatives; each a number or an array of one shape."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @property
    def n(self) -> Any:
        """All examples."""
        return self.tp + self.fp + self.fn + self.tn


@dataclass(frozen=True)
class Rejections:
    """How many examples were refused an answer, among how many."""

    rejected: Any
    n: Any


@dataclass(frozen=True)
class ClassCounts:
    """Linear summaries of the cells, over K classes (last axis) and any leading axes.

    `correct` counts the examples that are right in every class, `cost` adds up what cells cost.
    """

    tp: NDArray[Any]
    truth: NDArray[Any]
    predicted: NDArray[Any]
    correct: NDArray[Any]
    n: NDArray[Any]
    cost: NDArray[Any]

    @classmethod
    def from_features(cls, features: NDArray[Any]) -> "ClassCounts":
        """Read the columns that `Cells.design` makes."""
        n_classes = (features.shape[-1] - 3) // 3
        tp, truth, predicted = (
            features[..., start * n_classes : (start + 1) * n_classes] for start in range(3)
        )
        correct, n, cost = (features[..., -back] for back in (3, 2, 1))
        return cls(tp, truth, predicted, correct, n, cost)

    @property
    def one_vs_rest(self) -> BinaryCounts:
        """The four counts of each class against all others."""
        fp, fn = self.predicted - self.tp, self.truth - self.tp
        return BinaryCounts(self.tp, fp, fn, self.n[..., None] - self.tp - fp - fn)


@dataclass(frozen=True)
class LabelSets:
    """A set of labels for each of `size` cells, as the pairs (cell, label) in this order.

    What it takes in memory and time grows with the pairs, not with cells × classes.
    """

    size: int
    classes: int
    cell: Indices = field(repr=False)
    label: Indices = field(repr=False)

    @classmethod
    def of_codes(cls, codes: NDArray[Any], classes: int) -> "LabelSets":
        """Take one label for each cell; `NO_LABEL` is the empty set."""
        cell = np.flatnonzero(codes != NO_LABEL)
        return cls(len(codes), classes, cell, np.asarray(codes[cell], dtype=np.intp))

    @classmethod
    def of_flags(cls, flags: NDArray[Any]) -> "LabelSets":
        """Take the rows of an m × K table of flags."""
        cell, label = np.nonzero(flags)
        return cls(flags.shape[0], flags.shape[1], cell, label)

    @classmethod
    def of_sets(
        cls, codes: NDArray[Any], members: "Members", place: Mapping[str, int]
    ) -> "LabelSets":
        """Look up the set of each code, and the place of each label."""
        different = distinct(codes)
        at = np.searchsorted(different, codes)
        sets = [members[code] for code in different.tolist()]
        named = np.fromiter((place[one] for one in chain.from_iterable(sets)), dtype=np.intp)
        of_set = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
        of_set, flat = np.divmod(distinct(of_set * len(place) + named), max(len(place), 1))
        sizes = np.bincount(of_set, minlength=len(sets))
        starts, taken = np.cumsum(sizes) - sizes, sizes[at]
        cell = np.repeat(np.arange(len(at)), taken)
        inside = np.arange(len(cell)) - np.repeat(np.cumsum(taken) - taken, taken)
        return cls(len(at), len(place), cell, flat[starts[at][cell] + inside])

    @cached_property
    def one_each(self) -> bool:
        """Whether every cell has exactly one label."""
        return len(self.cell) == self.size and bool((self.cell == np.arange(self.size)).all())

    @cached_property
    def sizes(self) -> Indices:
        """How many labels each cell has."""
        return np.bincount(self.cell, minlength=self.size)

    @cached_property
    def codes(self) -> Indices:
        """The label of each cell, the last of several; `NO_LABEL` where there is none."""
        if self.one_each:
            return self.label
        codes = np.full(self.size, NO_LABEL, dtype=np.intp)
        codes[self.cell] = self.label
        return codes

    @cached_property
    def numbers(self) -> Indices:
        """A number for each cell, the same for the same set."""
        if (self.sizes <= 1).all():
            return np.searchsorted(distinct(self.codes), self.codes)
        book: dict[bytes, int] = {}
        parts = np.split(self.label, np.cumsum(self.sizes)[:-1])
        return np.array([book.setdefault(one.tobytes(), len(book)) for one in parts], dtype=np.intp)

    @property
    def keys(self) -> Indices:
        """Each pair as one number; they ascend."""
        return self.cell * self.classes + self.label

    def has(self, label: int) -> Flags:
        """Return which cells have a label."""
        flags = np.zeros(self.size, dtype=bool)
        flags[self.cell[self.label == label]] = True
        return flags

    def sums(self, columns: NDArray[Any]) -> Array:
        """Add up numbers of the cells (…, m) over the cells of each label (…, K)."""
        if columns.ndim > 1:
            return np.array([self.sums(one) for one in columns]).reshape(-1, self.classes)
        values = columns if self.one_each else columns[self.cell]
        sums = np.bincount(self.label, weights=values, minlength=self.classes)
        return sums.astype(np.float64, copy=False)

    def pairs_of(self, cells: Indices) -> tuple[Indices, Indices]:
        """List the labels of each of the cells that are named: which of them, and the label."""
        if self.one_each:
            return np.arange(len(cells)), self.label[cells]
        taken = self.sizes[cells]
        starts = np.cumsum(self.sizes) - self.sizes
        return np.repeat(np.arange(len(cells)), taken), self.label[_ranges(starts[cells], taken)]

    def sums_of_groups(
        self, group: Indices, cell: Indices, value: NDArray[Any], groups: int
    ) -> Array:
        """Add up entries of cells over the cells of each label, in every group: (G, K)."""
        entry, label = self.pairs_of(cell)
        at = group[entry] * self.classes + label
        flat = np.bincount(at, weights=value[entry], minlength=groups * self.classes)
        return flat.astype(np.float64).reshape(groups, self.classes)

    def spread(self, values: NDArray[Any]) -> Array:
        """Add up numbers of the labels (K,) over the labels of each cell (m,)."""
        if self.one_each:
            return np.asarray(values[self.label])
        sums = np.bincount(self.cell, weights=values[self.label], minlength=self.size)
        return sums.astype(np.float64, copy=False)

    def only(self, chosen: Flags) -> "LabelSets":
        """Keep some of the cells."""
        taken = chosen[self.cell]
        place = np.cumsum(chosen) - 1
        return replace(
            self, size=int(chosen.sum()), cell=place[self.cell[taken]], label=self.label[taken]
        )

    def followed_by(self, *others: "LabelSets") -> "LabelSets":
        """Append further cells."""
        parts = (self, *others)
        starts = np.cumsum([0, *(one.size for one in parts)])
        return replace(
            self,
            size=int(starts[-1]),
            cell=np.concatenate([one.cell + at for one, at in zip(parts, starts, strict=False)]),
            label=np.concatenate([one.label for one in parts]),
        )

    def __and__(self, other: "LabelSets") -> "LabelSets":
        return self._chosen(self._shared_with(other))

    def __sub__(self, other: "LabelSets") -> "LabelSets":
        return self._chosen(~self._shared_with(other))

    def _shared_with(self, other: "LabelSets") -> Flags:
        if self.one_each and other.one_each:
            return np.asarray(self.label == other.label)
        return np.isin(self.keys, other.keys, assume_unique=True)

    def _chosen(self, pairs: Flags) -> "LabelSets":
        return replace(self, cell=self.cell[pairs], label=self.label[pairs])


@dataclass(frozen=True)
class GroupTotals:
    """What each of G groups of examples adds to the totals of m cells: the entries that are not 0.

    They stand by group, and every group has some.  Memory grows with the entries, of which there
    are no more than examples.
    """

    cells: int
    group: Indices = field(repr=False)
    cell: Indices = field(repr=False)
    value: NDArray[Any] = field(repr=False)

    @classmethod
    def of(
        cls, group: NDArray[Any], cell: NDArray[Any], value: NDArray[Any], cells: int
    ) -> "GroupTotals":
        """Take entries in any order; those of one group and cell add up.

        Groups are exchangeable: they stand in an order that depends on their content alone, and no
        result depends on the order of the rows.
        """
        keys, at = np.unique(group.astype(np.int64) * cells + cell, return_inverse=True)
        sums = np.bincount(at, weights=value, minlength=len(keys))
        there = sums != 0
        group, cell, sums = keys[there] // cells, keys[there] % cells, sums[there]
        exact = sums.astype(np.int64) if np.asarray(value).dtype.kind in "iu" else sums
        starts, sizes = _runs(group)
        order = np.lexsort((_content(cell, exact, starts), np.add.reduceat(sums, starts)))
        taken = sizes[order]
        every = _ranges(starts[order], taken)
        return cls(cells, np.repeat(np.arange(len(order)), taken), cell[every], exact[every])

    @cached_property
    def starts(self) -> Indices:
        """Where the entries of each group begin."""
        return _runs(self.group)[0]

    @cached_property
    def sizes(self) -> Array:
        """The total of each group."""
        return np.add.reduceat(self.value, self.starts).astype(np.float64)

    def only(self, chosen: Flags) -> "GroupTotals":
        """Keep some of the cells, and the groups that have some of them."""
        taken = chosen[self.cell]
        group = self.group[taken]
        return replace(
            self,
            cells=int(chosen.sum()),
            group=np.searchsorted(distinct(group), group),
            cell=(np.cumsum(chosen) - 1)[self.cell[taken]],
            value=self.value[taken],
        )

    def class_units(self, truth: LabelSets) -> float:
        """Give the effective number of groups of a class: the harmonic mean over those that occur.

        What is unknown of each class adds up, and the class in the fewest groups adds most.
        """
        entry, label = truth.pairs_of(self.cell)
        keys, at = np.unique(self.group[entry] * truth.classes + label, return_inverse=True)
        sizes, label = np.bincount(at, weights=self.value[entry]), keys % truth.classes
        total, squares = (np.bincount(label, weights=sizes**power) for power in (1, 2))
        units = total[squares > 0] ** 2 / squares[squares > 0]
        return float(ratio(len(units), (1 / units).sum()))

    def outcomes(self, outcome: Indices) -> Array:
        """Add up the cells of each outcome, tp, fp, fn or tn, in every group: (G, 4)."""
        at = self.group * 4 + outcome[self.cell]
        flat = np.bincount(at, weights=self.value, minlength=4 * len(self.starts))
        return flat.astype(np.float64).reshape(-1, 4)

    def features(self, design: Any) -> Iterator[Array]:
        """Give what a design makes of each group, some groups at a time: (…, f)."""
        groups = len(self.starts)
        step = max(1, ENTRIES_AT_ONCE // design.shape[1])
        for first in range(0, groups, step):
            last = min(first + step, groups)
            ends = [*self.starts[first : last + 1], len(self.cell)][: last - first + 1]
            part = slice(int(ends[0]), int(ends[-1]))
            entries = self.group[part] - first, self.cell[part], self.value[part]
            if isinstance(design, np.ndarray):
                added = entries[2][:, None] * design[entries[1]]
                yield np.add.reduceat(added, self.starts[first:last] - ends[0], axis=0)
            else:
                yield design.of_groups(*entries, last - first)


def _runs(group: Indices) -> tuple[Indices, Indices]:
    """Give where each run of equal numbers begins, and how long it is."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    return starts, np.diff(starts, append=len(group))


def _ranges(starts: Indices, sizes: Indices) -> Indices:
    """Write ranges one after the other, each by its start and its size."""
    ends = np.cumsum(sizes)
    return np.asarray(
        np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)
    )


def _content(cell: Indices, value: NDArray[Any], starts: Indices) -> NDArray[np.uint64]:
    """Give a number that depends on the entries of each group, in whatever order they stand."""
    bits = np.ascontiguousarray(value).view(np.uint64)
    mixed = (bits ^ (cell.astype(np.uint64) * MIXERS[0])) * MIXERS[1]
    mixed = (mixed ^ (mixed >> np.uint64(29))) * MIXERS[2]
    return np.add.reduceat(mixed ^ (mixed >> np.uint64(32)), starts)


@dataclass(frozen=True)
class Design:
    """The (m, 3K + 3) matrix that takes cell totals to the features of `ClassCounts`.

    It is not written out: `totals @ design` and `design @ gradient` go through the label sets.
    """

    __array_ufunc__: ClassVar[None] = None  # an array leaves `@` to this class

    cells: "Cells"
    overall: Array  # (m, 3)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells and of features."""
        return len(self.overall), 3 * len(self.cells.labels) + 3

    def __rmatmul__(self, totals: NDArray[Any]) -> Array:
        return np.concatenate([*self.cells.by_class(totals), totals @ self.overall], axis=-1)

    def of_groups(self, group: Indices, cell: Indices, value: NDArray[Any], groups: int) -> Array:
        """Give the features of each group, by its entries."""
        entries = group, cell, value, groups
        sums = [one.sums_of_groups(*entries) for one in self.cells.sides]
        overall = np.add.reduceat(value[:, None] * self.overall[cell], _runs(group)[0], axis=0)
        return np.concatenate([*sums, overall], axis=1)

    def __matmul__(self, gradient: Array) -> Array:
        size = len(self.cells.labels)
        parts = (gradient[start * size : (start + 1) * size] for start in range(3))
        return self.cells.from_classes(*parts) + self.overall @ gradient[-3:]

    def written_out(self) -> Array:
        """Give the matrix as an array."""
        table = np.zeros(self.shape)
        for start, sets in enumerate(self.cells.sides):
            table[sets.cell, sets.label + start * sets.classes] = 1.0
        table[:, -3:] = self.overall
        return table


@dataclass(frozen=True)
class SideBySide:
    """The features of two models' cells, one after the other."""

    __array_ufunc__: ClassVar[None] = None

    first: Design
    second: Design

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells and of features."""
        return self.first.shape[0], self.first.shape[1] + self.second.shape[1]

    def __rmatmul__(self, totals: NDArray[Any]) -> Array:
        return np.concatenate([totals @ self.first, totals @ self.second], axis=-1)

    def of_groups(self, group: Indices, cell: Indices, value: NDArray[Any], groups: int) -> Array:
        """Give the features of each group, by its entries."""
        both = (one.of_groups(group, cell, value, groups) for one in (self.first, self.second))
        return np.concatenate(tuple(both), axis=1)

    def __matmul__(self, gradient: Array) -> Array:
        half = self.first.shape[1]
        return np.asarray(self.first @ gradient[:half] + self.second @ gradient[half:])


@dataclass(frozen=True)
class Cells:
    """The distinct cells of a set of predictions, and how often (or how heavily) each occurs."""

    labels: tuple[str, ...]
    truth: LabelSets = field(repr=False)
    predicted: LabelSets = field(repr=False)
    totals: NDArray[Any]  # (m,): exact counts, or sums of weights
    rows: NDArray[np.int64] = field(repr=False)  # (m,): how many examples, whatever their weight
    squares: Array | None = None  # (m,): sums of squared weights
    by_group: GroupTotals | None = field(default=None, repr=False)
    multilabel: bool = False
    judgements: Any = field(default=None, repr=False)  # how several refits called each example
    at_prior: bool = False  # whether the totals of the classes are those of a given prior

    @property
    def n(self) -> int:
        """How many examples there are."""
        return int(self.rows.sum()) if self.judgements is None else int(self.judgements.n)

    @property
    def weighted(self) -> bool:
        """Whether the totals are sums of weights rather than counts."""
        return self.squares is not None

    @property
    def variances(self) -> NDArray[Any]:
        """How much the totals vary: sums of squared weights, which are the counts without them."""
        return self.totals if self.squares is None else self.squares

    @cached_property
    def sides(self) -> tuple[LabelSets, LabelSets, LabelSets]:
        """The labels that are right, true and predicted in each cell."""
        return self.truth & self.predicted, self.truth, self.predicted

    @cached_property
    def right(self) -> Flags:
        """Which cells have every label right."""
        both, truth, predicted = (one.sizes for one in self.sides)
        return np.asarray((both == truth) & (both == predicted))

    def only(self, chosen: Flags) -> "Cells":
        """Keep some of the cells."""
        if chosen.all():
            return self
        return replace(
            self,
            truth=self.truth.only(chosen),
            predicted=self.predicted.only(chosen),
            totals=self.totals[chosen],
            rows=self.rows[chosen],
            squares=None if self.squares is None else self.squares[chosen],
            by_group=None if self.by_group is None else self.by_group.only(chosen),
        )

    def with_empty(self, truth: LabelSets, predicted: LabelSets) -> "Cells":
        """Append cells in which there is no example."""
        extra = truth.size
        zeros, groups = np.zeros(extra, dtype=self.totals.dtype), self.by_group
        return replace(
            self,
            truth=self.truth.followed_by(truth),
            predicted=self.predicted.followed_by(predicted),
            totals=np.concatenate([self.totals, zeros]),
            rows=np.concatenate([self.rows, np.zeros(extra, dtype=np.int64)]),
            squares=None if self.squares is None else np.concatenate([self.squares, zeros]),
            by_group=None if groups is None else replace(groups, cells=groups.cells + extra),
        )

    @property
    def effective_n(self) -> float:
        """The number of equally weighted examples that would be as informative (Kish)."""
        if self.squares is None:
            return float(self.n)
        return float(self.totals.sum() ** 2 / self.squares.sum())

    def design(self, cell_costs: Array | None = None) -> Any:
        """Give the (m, 3K + 3) matrix that takes cell totals to the features of `ClassCounts`.

        A small one is an array.
        """
        costs = np.zeros(len(self.right)) if cell_costs is None else cell_costs
        design = Design(self, np.column_stack([self.right, np.ones(len(self.right)), costs]))
        small = self.truth.size * self.truth.classes <= DENSE_ENTRIES
        return design.written_out() if small else design

    def by_class(self, column: NDArray[Any]) -> tuple[Array, Array, Array]:
        """Add up one number per cell over the cells that are right in, of, and given each class."""
        both, truth, predicted = (one.sums(column) for one in self.sides)
        return both, truth, predicted

    def outcomes_by_class(self, column: NDArray[Any]) -> Array:
        """Add up one number per cell over the tp, fp, fn and tn of each class: (K, 4).

        What rounding leaves of nothing is nothing.
        """
        both, truth, predicted = self.sides
        counts = [one.sums(column) for one in (both, predicted - both, truth - both)]
        total = column.sum()
        rest = total - counts[0] - counts[1] - counts[2]
        return np.column_stack([*counts, np.where(rest > ROUNDING * total, rest, 0.0)])

    def from_classes(self, right: Array, truth: Array, predicted: Array) -> Array:
        """Give each cell what its classes add up to: the transpose of `by_class`."""
        both, true, called = self.sides
        return np.asarray(both.spread(right) + true.spread(truth) + called.spread(predicted))

    @property
    def codes(self) -> tuple[Indices, Indices]:
        """The true and the predicted class of each cell of a single-label problem."""
        return self.truth.codes, self.predicted.codes

    def class_counts(self) -> ClassCounts:
        """Count the classes over all cells."""
        return self._class_counts

    @cached_property
    def _class_counts(self) -> ClassCounts:
        return ClassCounts.from_features(self.totals @ self.design())

    def mistakes(self) -> tuple[Indices, Indices, NDArray[Any]]:
        """Give the true and the predicted class, and the total, of each kind of mistake."""
        true, called = self.codes
        labelled = (true != NO_LABEL) & (called != NO_LABEL)
        wrong = np.flatnonzero((true != called) & labelled & (self.totals > 0))
        return true[wrong], called[wrong], self.totals[wrong]

    def confusion(self) -> Any:
        """Give the K × K table of single-label predictions: rows are truth, columns predicted.

        Beyond `DENSE_CONFUSION` classes it is a sparse array of SciPy.
        """
        if self.multilabel:
            raise InputError("A confusion table needs one label per example; these have sets.")
        size, labelled = len(self.labels), (self.truth.sizes > 0) & (self.predicted.sizes > 0)
        true, called = (codes[labelled] for codes in self.codes)
        totals = self.totals[labelled]
        if size > DENSE_CONFUSION:
            from scipy import sparse

            return sparse.csr_array((totals, (true, called)), shape=(size, size))
        table = np.zeros((size, size), dtype=totals.dtype)
        np.add.at(table, (true, called), totals)
        return table


@dataclass
class CellTally:
    """Counts cells over any number of batches; tallies of parts merge into that of the whole.

    The codes of truth and prediction index one shared list of label sets, which is handed over
    only at the end.  `pairs` are the codes of the cells that occur, ascending, `counts` how often.
    """

    weighted: bool = False
    grouped: bool = False
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    units: Counter[int] = field(default_factory=Counter)
    square_units: Counter[int] = field(default_factory=Counter)
    group_counts: Counter[tuple[int, int]] = field(default_factory=Counter)
    group_units: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(
        self,
        truth: NDArray[Any],
        predicted: NDArray[Any],
        *,
        weight: Array | None = None,
        group: NDArray[Any] | None = None,
    ) -> "CellTally":
        """Count one batch; return the tally itself."""
        if len(truth) == 0:
            return self
        if not self.weighted and not self.grouped:
            return self.add_pairs(*_counted(truth, predicted))
        cells, at = np.unique(cell_codes(truth, predicted), return_inverse=True)
        self.add_pairs(cells, np.bincount(at))
        if weight is not None:
            self.units.update(_named(cells, units_by_code(weight, at, len(cells))))
            self.square_units.update(_named(cells, units_by_code(weight**2, at, len(cells))))
        if group is not None:
            crossed, inside = np.unique(
                group.astype(np.int64) * len(cells) + at, return_inverse=True
            )
            names = [(int(code) // len(cells), int(cells[code % len(cells)])) for code in crossed]
            self.group_counts.update(_named(names, np.bincount(inside)))
            if weight is not None:
                sums = units_by_code(weight, inside, len(crossed))
                self.group_units.update(_named(names, sums))
        return self

    def add_pairs(self, pairs: NDArray[np.int64], counts: NDArray[np.int64]) -> "CellTally":
        """Count cells, by their codes in any order; return the tally itself."""
        every, at = np.unique(np.concatenate([self.pairs, pairs]), return_inverse=True)
        totals = np.zeros(len(every), dtype=np.int64)
        np.add.at(totals, at, np.concatenate([self.counts, counts]))
        self.pairs, self.counts = every, totals
        return self

    def merge(self, other: "CellTally") -> "CellTally":
        """Add what another tally, of the same codes, has counted; return the tally itself."""
        for name in ("units", "square_units", "group_counts", "group_units"):
            getattr(self, name).update(getattr(other, name))
        return self.add_pairs(other.pairs, other.counts)

    @property
    def sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of the true and of the predicted label set of each cell."""
        return self.pairs >> CODE_BITS, self.pairs & LOWEST_BITS

    def codes(self) -> set[int]:
        """Give the codes of all label sets that were met, true or predicted."""
        return set(distinct(np.concatenate(self.sides)).tolist())

    def cells(
        self,
        members: Members,
        *,
        multilabel: bool = False,
        also: Iterable[str] = (),
        max_classes: int = MAX_CLASSES,
    ) -> Cells:
        """Freeze the tally; `members` gives the label set of each code.

        `also` names labels that are known to exist, whether or not they occur.
        """
        codes = sorted(self.codes(), key=lambda code: members[code])
        labels = in_order({*also, *(label for code in codes for label in members[code])})
        if len(labels) > max_classes:
            raise InputError(
                f"`truth` and `pred` must hold at most {max_classes} classes; got {len(labels)}. "
                "A score or an id was probably taken for a label; name the columns, "
                "or raise the limit with --max-classes."
            )
        place = {label: at for at, label in enumerate(labels)}
        # The cells stand in the order of their labels: no sum depends on where these came from.
        order = np.argsort(codes)
        truth, predicted = self.sides
        ascending = np.array(codes, dtype=np.int64)[order]
        ranks = [order[np.searchsorted(ascending, side)] for side in (truth, predicted)]
        by_label = np.lexsort((ranks[1], ranks[0]))
        totals, squares = self._totals(by_label)
        return Cells(
            labels=labels,
            truth=LabelSets.of_sets(truth[by_label], members, place),
            predicted=LabelSets.of_sets(predicted[by_label], members, place),
            totals=totals,
            rows=self.counts[by_label],
            squares=squares,
            by_group=self._by_group(by_label),
            multilabel=multilabel,
        )

    def _totals(self, order: Indices) -> tuple[NDArray[Any], Array | None]:
        if not self.weighted:
            return self.counts[order], None
        names = self.pairs[order].tolist()
        weights = [as_float(self.units[name]) for name in names]
        return np.array(weights), np.array([as_float(self.square_units[name]) for name in names])

    def _by_group(self, order: Indices) -> GroupTotals | None:
        if not self.grouped:
            return None
        keys = np.array(list(self.group_counts), dtype=np.int64).reshape(-1, 2)
        if self.weighted:
            value = np.array([as_float(self.group_units[key]) for key in self.group_counts])
        else:
            value = np.array(list(self.group_counts.values()), dtype=np.int64)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        cell = place[np.searchsorted(self.pairs, keys[:, 1])]
        group = np.searchsorted(distinct(keys[:, 0]), keys[:, 0])
        return GroupTotals.of(group, cell, value, len(order))


def cell_codes(truth: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.int64]:
    """Give the code of each cell, from those of its two label sets."""
    return (truth.astype(np.int64) << CODE_BITS) | predicted.astype(np.int64)


def _counted(
    truth: NDArray[Any], predicted: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the codes of the cells that occur, and how often they do."""
    size = 1 + max(int(truth.max(initial=0)), int(predicted.max(initial=0)))
    if size <= SMALL_BOOK or size**2 <= PAIRS_PER_ROW * len(truth):
        table = count_pairs(truth, predicted, size, size)
        rows, columns = np.nonzero(table)
        return cell_codes(rows, columns), table[rows, columns]
    pairs, counts = np.unique(cell_codes(truth, predicted), return_counts=True)
    return pairs, counts


def _named(names: Any, values: Any) -> dict[Any, int]:
    keys = names.tolist() if hasattr(names, "tolist") else names
    return dict(zip(keys, map(int, values), strict=True))
