"""The one summary that every measure of hard predictions is computed from.

A *cell* is a pair: the set of true labels and the set of predicted labels of an example.  Single-
label problems have sets of one.  How often each cell occurs is an exact integer, tallies of parts
add up, and resampling the examples is resampling the cells, at a cost that does not depend on how
many examples there are.

    CellTally  (grows, merges)  →  Cells  (frozen)  →  ClassCounts, BinaryCounts  (arrays)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.errors import InputError
from truerisk.labels import in_order
from truerisk.tallies.counting import count_pairs
from truerisk.tallies.exact_sum import as_float, units_by_code

MAX_CLASSES = 10_000
DENSE_ENTRIES = 2_000_000  # a design matrix beyond this is kept sparse
SMALL_BOOK = 64  # up to this many label codes, a dense table of pairs is counted
CODE_BITS = 31
Members = Sequence[tuple[str, ...]] | Mapping[int, tuple[str, ...]]


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide elementwise; NaN where the denominator is 0.  Works on complex numbers too."""
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    undefined = bottom == 0
    return np.where(undefined, np.nan, top / np.where(undefined, 1, bottom))


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
    def value(self) -> Any:
        """The measure itself; NaN where n is 0."""
        share = ratio(self.k, self.n)
        return share if self.transform is None else self.transform(share)


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
class Cells:
    """The distinct cells of a set of predictions, and how often (or how heavily) each occurs."""

    labels: tuple[str, ...]
    truth: Flags = field(repr=False)  # (m, K): which labels are true in the cell
    predicted: Flags = field(repr=False)
    totals: NDArray[Any]  # (m,): exact counts, or sums of weights
    rows: NDArray[np.int64] = field(repr=False)  # (m,): how many examples, whatever their weight
    squares: Array | None = None  # (m,): sums of squared weights
    by_group: NDArray[Any] | None = field(default=None, repr=False)  # (G, m): totals of each group
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

    def only(self, chosen: Flags) -> "Cells":
        """Keep some of the cells."""
        return replace(
            self,
            truth=self.truth[chosen],
            predicted=self.predicted[chosen],
            totals=self.totals[chosen],
            rows=self.rows[chosen],
            squares=None if self.squares is None else self.squares[chosen],
            by_group=None if self.by_group is None else self.by_group[:, chosen],
        )

    @property
    def effective_n(self) -> float:
        """The number of equally weighted examples that would be as informative (Kish)."""
        if self.squares is None:
            return float(self.n)
        return float(self.totals.sum() ** 2 / self.squares.sum())

    def design(self, cell_costs: Array | None = None) -> Any:
        """Give the (m, 3K + 3) matrix that takes cell totals to the features of `ClassCounts`."""
        correct = (self.truth == self.predicted).all(axis=1)
        costs = np.zeros(len(correct)) if cell_costs is None else cell_costs
        overall = np.column_stack([correct, np.ones(len(correct)), costs])
        blocks = [self.truth & self.predicted, self.truth, self.predicted]
        if self.truth.size <= DENSE_ENTRIES:
            return np.hstack([*blocks, overall]).astype(np.float64)
        from scipy import sparse

        if self.multilabel:
            columns = [sparse.csr_array(block.astype(np.float64)) for block in blocks]
        else:
            true, called = self.codes
            right = (true == called).astype(np.float64)
            places = (
                (right, true),
                (self.truth.any(axis=1), true),
                (self.predicted.any(axis=1), called),
            )
            columns = [
                sparse.csr_array(
                    (np.asarray(entries, dtype=np.float64), (np.arange(len(codes)), codes)),
                    shape=self.truth.shape,
                )
                for entries, codes in places
            ]
        return sparse.csr_array(sparse.hstack([*columns, sparse.csr_array(overall)]))

    def by_class(self, column: NDArray[Any]) -> tuple[Array, Array, Array]:
        """Add up one number per cell over the cells that are right in, of, and given each class."""
        wide = np.asarray(column, dtype=np.float64)
        if not self.multilabel:
            truth, predicted = self.codes
            size = len(self.labels)
            right = np.where(truth == predicted, wide, 0.0)
            every = ((truth, right), (truth, wide), (predicted, wide))
            tp, of_truth, of_predicted = (
                np.asarray(np.bincount(codes, weights=values, minlength=size), dtype=np.float64)
                for codes, values in every
            )
            return tp, of_truth, of_predicted
        return wide @ (self.truth & self.predicted), wide @ self.truth, wide @ self.predicted

    def from_classes(self, right: Array, truth: Array, predicted: Array) -> Array:
        """Give each cell what its classes add up to: the transpose of `by_class`."""
        if not self.multilabel:
            true, called = self.codes
            both = np.where(true == called, right[true], 0.0)
            return np.asarray(truth[true] + predicted[called] + both)
        both = (self.truth & self.predicted) @ right
        return np.asarray(both + self.truth @ truth + self.predicted @ predicted)

    @cached_property
    def codes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The true and the predicted class of each cell of a single-label problem."""
        return self.truth.argmax(axis=1), self.predicted.argmax(axis=1)

    def class_counts(self) -> ClassCounts:
        """Count the classes over all cells."""
        return self._class_counts

    @cached_property
    def _class_counts(self) -> ClassCounts:
        return ClassCounts.from_features(self.totals @ self.design())

    def confusion(self) -> NDArray[Any]:
        """Give the K × K table of single-label predictions: rows are truth, columns predicted."""
        if self.multilabel:
            raise InputError("A confusion table needs one label per example; these have sets.")
        table = np.zeros((len(self.labels),) * 2, dtype=self.totals.dtype)
        np.add.at(table, (self.truth.argmax(axis=1), self.predicted.argmax(axis=1)), self.totals)
        return table


@dataclass
class CellTally:
    """Counts cells over any number of batches; tallies of parts merge into that of the whole.

    The codes of truth and prediction index one shared list of label sets, which is handed over
    only at the end.
    """

    weighted: bool = False
    grouped: bool = False
    counts: Counter[int] = field(default_factory=Counter)
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
            self._add_counts(truth, predicted)
            return self
        pairs = (truth.astype(np.int64) << CODE_BITS) | predicted.astype(np.int64)
        cells, at = np.unique(pairs, return_inverse=True)
        self.counts.update(_named(cells, np.bincount(at)))
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

    def _add_counts(self, truth: NDArray[Any], predicted: NDArray[Any]) -> None:
        size = 1 + max(int(truth.max(initial=0)), int(predicted.max(initial=0)))
        if size <= SMALL_BOOK:
            table = count_pairs(truth, predicted, size, size)
            rows, columns = np.nonzero(table)
            occurrences = table[rows, columns]
            cells = (rows.astype(np.int64) << CODE_BITS) | columns
        else:
            pairs = (truth.astype(np.int64) << CODE_BITS) | predicted.astype(np.int64)
            cells, occurrences = np.unique(pairs, return_counts=True)
        self.counts.update(_named(cells, occurrences))

    def merge(self, other: "CellTally") -> "CellTally":
        """Add what another tally, of the same codes, has counted; return the tally itself."""
        for name in ("counts", "units", "square_units", "group_counts", "group_units"):
            getattr(self, name).update(getattr(other, name))
        return self

    def codes(self) -> set[int]:
        """Give the codes of all label sets that were met, true or predicted."""
        lowest = 2**CODE_BITS - 1
        return {part for pair in self.counts for part in (pair >> CODE_BITS, pair & lowest)}

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
        names = sorted(self.counts, key=lambda pair: _label_sets(pair, members))
        sets = [_label_sets(name, members) for name in names]
        labels = in_order({*also, *(label for pair in sets for one in pair for label in one)})
        if len(labels) > max_classes:
            raise InputError(
                f"`truth` and `pred` must hold at most {max_classes} classes; got {len(labels)}. "
                "A score or an id was probably taken for a label; name the columns, "
                "or raise the limit with --max-classes."
            )
        place = {label: at for at, label in enumerate(labels)}
        truth, predicted = (np.zeros((len(names), len(labels)), dtype=bool) for _ in range(2))
        for row, (true_set, predicted_set) in enumerate(sets):
            truth[row, [place[label] for label in true_set]] = True
            predicted[row, [place[label] for label in predicted_set]] = True
        totals, squares = self._totals(names)
        return Cells(
            labels=labels,
            truth=truth,
            predicted=predicted,
            totals=totals,
            rows=np.array([self.counts[name] for name in names], dtype=np.int64),
            squares=squares,
            by_group=self._by_group(names),
            multilabel=multilabel,
        )

    def _totals(self, names: list[int]) -> tuple[NDArray[Any], Array | None]:
        if not self.weighted:
            return np.array([self.counts[name] for name in names], dtype=np.int64), None
        weights = [as_float(self.units[name]) for name in names]
        return np.array(weights), np.array([as_float(self.square_units[name]) for name in names])

    def _by_group(self, names: list[int]) -> NDArray[Any] | None:
        if not self.grouped:
            return None
        groups = {group: at for at, group in enumerate(sorted({g for g, _ in self.group_counts}))}
        place = {name: at for at, name in enumerate(names)}
        table = np.zeros((len(groups), len(names)), dtype=float if self.weighted else np.int64)
        for group, name in self.group_counts:
            key = (group, name)
            value = as_float(self.group_units[key]) if self.weighted else self.group_counts[key]
            table[groups[group], place[name]] = value
        # Groups are exchangeable: an order that depends on their content alone makes the
        # cluster bootstrap the same for any order of the rows.
        return table[np.lexsort(table.T)]


def cell_code(truth: int, predicted: int) -> int:
    """Give the code of a cell, from those of its two label sets."""
    return (int(truth) << CODE_BITS) | int(predicted)


def _named(names: Any, values: Any) -> dict[Any, int]:
    keys = names.tolist() if hasattr(names, "tolist") else names
    return dict(zip(keys, map(int, values), strict=True))


def _label_sets(pair: int, members: Members) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return members[pair >> CODE_BITS], members[pair & (2**CODE_BITS - 1)]
