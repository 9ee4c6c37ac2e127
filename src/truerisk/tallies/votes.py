"""How the refits that had not trained on an example called it: the tally of every resampling.

Each example is judged once or several times, by different refits.  Its votes say what it was called
and by which refit; a measure reads the mean, its interval also needs how refits disagree.

    predictions of refits  →  Votes  (grow)  →  Cells + Judgements  (frozen)
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes, Flags, Indices
from truerisk.tallies.cells import Cells, GroupTotals, LabelSets

NOT_JUDGED = -1
MAX_CELLS = 64  # whose pairs are counted; of more, the judgements are read one by one


@dataclass(frozen=True)
class CellPairs:
    """How often refits put one example into two cells: all that the variance of a measure needs.

    T[c] says how often an example is in cell c, of R judgements.  `totals` is the sum of T over the
    examples, `sizes` how many examples each refit judged.  Over the examples of refit f,
    `moved[f, c]` adds up R times whether f put it into c, less T[c], and `split[f, p]` the product
    of the T of the two cells `pairs[p]`.  An example on which all agree adds nothing to these two.
    """

    repetitions: int
    totals: NDArray[np.int64]
    sizes: NDArray[np.int64]
    moved: NDArray[np.int64]
    pairs: Indices
    split: NDArray[np.int64]

    @cached_property
    def n(self) -> int:
        """How many examples there are."""
        return int(self.totals.sum()) // self.repetitions

    @cached_property
    def of_all(self) -> tuple[Array, Array, Indices, Indices]:
        """Of all refits together: `totals` and `split`, and the two cells of each pair.

        Counts are numbers of the kind that they are multiplied with.
        """
        first, second = np.ascontiguousarray(self.pairs.T)
        split = self.split.sum(axis=0)
        return self.totals.astype(np.float64), split.astype(np.float64), first, second

    @cached_property
    def of_large(self) -> tuple[Array, Array, Array]:
        """Of the refits that judged several examples, b of them: b² − b, `moved` and `split`."""
        large = self.sizes > 1
        b, moved, split = (one[large] for one in (self.sizes, self.moved, self.split))
        return (b**2 - b).astype(np.float64), moved.astype(np.float64), split.astype(np.float64)

    @classmethod
    def of(cls, cells: Codes, refits: Codes) -> "CellPairs":
        """Count the judgements cells[r, i]; every example has R of them."""
        repetitions, size, n_refits = len(cells), int(cells.max()) + 1, int(refits.max()) + 1
        open_to_doubt = (cells != cells[0]).any(axis=0)
        own, by = cells[:, open_to_doubt], refits[:, open_to_doubt].ravel().astype(np.intp)
        times = np.stack([(own == cell).sum(axis=0) for cell in range(size)])

        def by_refit(column: NDArray[Any]) -> NDArray[np.int64]:
            sums = np.bincount(by, np.tile(column, repetitions), minlength=n_refits)
            return np.rint(sums).astype(np.int64)

        put = np.bincount(by * size + own.ravel(), minlength=n_refits * size)
        moved = repetitions * put.reshape(n_refits, size)
        moved -= np.stack([by_refit(column) for column in times], axis=1)
        met = np.triu(times @ times.T, 1)
        pairs = np.argwhere(met)
        split = [by_refit(times[first] * times[second]) for first, second in pairs]
        return cls(
            repetitions,
            np.bincount(cells.ravel(), minlength=size),
            np.bincount(refits.ravel(), minlength=n_refits),
            moved,
            pairs,
            np.array(split, dtype=np.int64).reshape(len(pairs), n_refits).T,
        )

    def merged(self, outcome: Indices) -> "CellPairs":
        """Put each cell where `outcome` says: all counts are sums over cells, or pairs of them."""
        size = int(outcome.max()) + 1
        into = np.zeros((len(self.totals), size), dtype=np.int64)
        into[np.arange(len(into)), outcome[: len(into)]] = 1
        ends = np.sort(outcome[self.pairs], axis=1)
        pairs, places = np.unique(ends @ [size, 1], return_inverse=True)
        split = self.split @ (places[:, None] == np.arange(len(pairs)))
        apart = pairs // size != pairs % size
        pairs = np.column_stack([pairs // size, pairs % size])
        return CellPairs(
            self.repetitions,
            self.totals @ into,
            self.sizes,
            self.moved @ into,
            pairs[apart],
            split[:, apart],
        )


@dataclass(frozen=True)
class Judgements:
    """The votes on n examples, repetition by repetition.

    `cells[r, i]` is the cell of example i in repetition r, `NOT_JUDGED` where it has none, and
    `refits[r, i]` the number of the refit that judged it.  `groups` are the groups of the examples,
    numbered from 0, where these are the units.  `rule` names the rule of the intervals, and
    `counted` the pairs of cells, where somebody has them.
    """

    cells: Codes
    refits: Codes
    groups: Indices | None = None
    rule: str = "variance_components"
    counted: CellPairs | None = field(default=None, repr=False, compare=False)

    @property
    def n(self) -> int:
        """How many examples were judged."""
        return int(self.cells.shape[1])

    @property
    def units(self) -> int:
        """How many independent units there are: examples, or groups."""
        return self.n if self.groups is None else int(self.groups.max()) + 1

    @property
    def unit(self) -> float:
        """How many examples a typical unit has."""
        if self.groups is None:
            return 1.0
        sizes = np.bincount(self.groups)
        return float((sizes**2).sum() / sizes.sum())

    @cached_property
    def judged(self) -> Flags:
        """Where a repetition judged an example."""
        return np.asarray(self.cells != NOT_JUDGED)

    @cached_property
    def repeated(self) -> bool:
        """Whether some example was judged more than once: only then can refits disagree."""
        return bool((self.judged.sum(axis=0) > 1).any())

    @cached_property
    def pairs(self) -> CellPairs | None:
        """The pairs of cells, counted once for all measures.

        None where examples are judged once or unequally often, are not the units, or have too many
        cells.
        """
        if self.counted is not None:
            return self.counted
        if self.groups is not None or len(self.cells) < 2 or not self.judged.all():
            return None
        return CellPairs.of(self.cells, self.refits) if self.cells.max() < MAX_CELLS else None

    def totals(self, cells: int) -> Array:
        """Add up how many examples are in each of so many cells, a vote being its share of one."""
        if self.cells.size and self.judged.all():
            return np.bincount(self.cells.ravel(), minlength=cells) / len(self.cells)
        times = self.judged.sum(axis=0)
        counted = np.zeros(cells)
        for often in np.unique(times):  # whole numbers are added up, and divided once
            own = self.cells[:, times == often]
            counted += np.bincount(own[own != NOT_JUDGED], minlength=cells) / often
        return counted

    def by_group(self, cells: int) -> GroupTotals | None:
        """Add up how many examples of each group are in each of so many cells, as `totals` does."""
        if self.groups is None:
            return None
        shares = np.broadcast_to(1 / self.judged.sum(axis=0), self.cells.shape)[self.judged]
        group = np.broadcast_to(self.groups, self.cells.shape)[self.judged]
        return GroupTotals.of(group, self.cells[self.judged], shares, cells)

    def merged(self, outcome: Indices) -> "Judgements":
        """Put each cell where `outcome` says."""
        cells = np.where(self.judged, outcome[self.cells], NOT_JUDGED).astype(np.int32)
        counted = None if self.pairs is None else self.pairs.merged(outcome)
        return replace(self, cells=cells, counted=counted)

    def influence(self, gradient: Array) -> Array:
        """Give n times the gradient of the cell of each judgement; NaN where there is none."""
        return np.where(self.judged, self.n * gradient[self.cells], np.nan)


@dataclass
class Votes:
    """Grows refit by refit: `called[r, i]` is what example i was called in repetition r.

    Within one repetition no example is judged twice.
    """

    truth: NDArray[Any]
    labels: tuple[str, ...]
    groups: Indices | None = None
    repetitions: int = 1
    called: Codes = field(init=False)
    refits: Codes = field(init=False)
    added: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        shape = (self.repetitions, len(self.truth))
        self.called = np.full(shape, NOT_JUDGED, dtype=np.int32)
        self.refits = np.zeros(shape, dtype=np.int32)

    def add(self, examples: NDArray[Any], predicted: NDArray[Any], repetition: int = 0) -> "Votes":
        """Take in what one refit called examples it had not trained on; return the votes."""
        self.called[repetition, examples] = predicted
        self.refits[repetition, examples] = self.added
        self.added += 1
        return self

    @property
    def judged(self) -> Flags:
        """Which examples were judged at all."""
        return np.asarray((self.called != NOT_JUDGED).any(axis=0))

    def cells(self, valued_by: NDArray[Any] | None = None) -> Cells:
        """Freeze the votes as cells, each example worth one, with the judgements behind them.

        With `valued_by`, one call for each example, the totals are those of these calls, and the
        votes say how they vary.
        """
        k, called, refits = len(self.labels), self.called, self.refits
        truth, groups = np.asarray(self.truth), self.groups
        there = called != NOT_JUDGED
        complete = bool(there.all())
        if not complete:
            judged = self.judged
            used = there[:, judged].any(axis=1)
            called, refits = called[used][:, judged], refits[used][:, judged]
            truth, there = truth[judged], there[used][:, judged]
            groups = None if groups is None else groups[judged]
            valued_by = None if valued_by is None else valued_by[judged]
        codes = truth.astype(np.int64) * k + called
        if not complete:
            codes[~there] = NOT_JUDGED
        own = np.empty(0, dtype=np.int64) if valued_by is None else truth * k + valued_by
        every = np.concatenate([codes.ravel() if complete else codes[there], own])
        if k * k <= every.size:  # counting takes a fifth of the time of sorting
            occurs = np.bincount(every, minlength=k * k) > 0
            met, places = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]
        else:
            met = np.unique(every)
            places = np.searchsorted(met, codes)
        if groups is not None:
            groups = np.unique(groups, return_inverse=True)[1]
        places = places.astype(np.int32)
        if not complete:
            places[~there] = NOT_JUDGED
        behind = Judgements(places, refits.copy() if complete else refits, groups)
        valued = behind
        if valued_by is not None:
            valued = replace(behind, cells=np.searchsorted(met, own)[None].astype(np.int32))
        totals = valued.totals(len(met))
        return Cells(
            labels=self.labels,
            truth=LabelSets.of_codes(met // k, k),
            predicted=LabelSets.of_codes(met % k, k),
            totals=totals,
            rows=np.rint(totals).astype(np.int64),
            by_group=valued.by_group(len(met)),
            judgements=behind,
        )

    def cells_beside(self, valued: Cells) -> Cells:
        """Freeze the votes once more, beside cells that have other totals.

        Where these are the same cells the judgements are shared, and counted once.
        """
        judgements: Any = valued.judgements
        totals = judgements.totals(len(valued.totals))
        if valued.by_group is not None or not totals.all():
            return self.cells()
        return replace(valued, totals=totals, rows=np.rint(totals).astype(np.int64))
