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
from truerisk.tallies.cells import Cells, LabelSets

NOT_JUDGED = -1


@dataclass(frozen=True)
class SlopeForms:
    """Sums over judgements by which variance components are forms of the slopes of m cells.

    Each judgement of an example takes the slope of its cell.  With `within` the variance over the
    judgements of one example, judged t times: `squares` gives Σ mean slope² over all examples and
    `repeated` over those with t > 1, `disagreement` the sum of `within` over these; `moved` is, for
    each refit of more than one judgement, the mean of a slope less the mean of its example's other
    judgements, and `noise` Σ within · t/(t − 1) / b² / (1 − 1/b) over judgements in refits of b.
    """

    squares: Array
    repeated: Array
    disagreement: Array
    moved: Array
    shrink: Array  # 1 − 1/b of those refits
    noise: Array

    @classmethod
    def of(cls, cells: Codes, refits: Codes) -> "SlopeForms":
        """Add up the judgements of R × n cells, `NOT_JUDGED` where there is none."""
        judged = cells != NOT_JUDGED
        example, cell, refit = np.nonzero(judged)[1], cells[judged], refits[judged]
        m, n = int(cell.max()) + 1, cells.shape[1]
        counts = np.bincount(example * m + cell, minlength=n * m).reshape(n, m).astype(np.float64)
        times = counts.sum(axis=1)
        shares = counts / np.maximum(times, 1.0)[:, None]
        several = times > 1
        others = np.where(several, times - 1.0, 1.0)
        is_counted = several[example]
        example, cell, refit = example[is_counted], cell[is_counted], refit[is_counted]
        size = np.bincount(refit).astype(np.float64)
        large = size > 1
        shrink = 1.0 - 1.0 / size[large]
        of_refit = np.zeros(len(size))
        of_refit[large] = 1.0 / (size[large] ** 2 * shrink)
        again = np.where(several, times / others, 0.0)
        noise = np.asarray(again * np.bincount(example, of_refit[refit], minlength=n), np.float64)
        flat = np.bincount(refit * m + cell, again[example], minlength=len(size) * m)
        moved = flat.reshape(len(size), m)
        means = counts / others[:, None]
        for k in range(m):
            moved[:, k] -= np.bincount(refit, means[example, k], minlength=len(size))

        def spread(weights: Array) -> Array:
            own = (weights / others)[:, None] * counts
            form: Array = np.diag(own.sum(axis=0)) - own.T @ shares
            return form

        return cls(
            squares=shares.sum(axis=0),
            repeated=shares[several].sum(axis=0),
            disagreement=spread(several.astype(np.float64)),
            moved=moved[large] / size[large][:, None],
            shrink=shrink,
            noise=spread(noise),
        )


@dataclass(frozen=True)
class Judgements:
    """The votes on n examples, repetition by repetition.

    `cells[r, i]` is the cell of example i in repetition r, `NOT_JUDGED` where it has none, and
    `refits[r, i]` the number of the refit that judged it.  `groups` are the groups of the examples,
    numbered from 0, where these are the units.  `rule` names the rule of the intervals.
    """

    cells: Codes
    refits: Codes
    groups: Indices | None = None
    rule: str = "variance_components"

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
    def forms(self) -> SlopeForms:
        """The sums that the variance components of every measure share."""
        return SlopeForms.of(self.cells, self.refits)

    def totals(self, cells: int) -> Array:
        """Add up how many examples are in each of so many cells, a vote being its share of one."""
        times = self.judged.sum(axis=0)
        counted = np.zeros(cells)
        for often in np.unique(times):  # whole numbers are added up, and divided once
            own = self.cells[:, times == often]
            counted += np.bincount(own[own != NOT_JUDGED], minlength=cells) / often
        return counted

    def by_group(self, cells: int) -> NDArray[Any] | None:
        """Count the examples of each group in each of so many cells; one repetition, no votes."""
        if self.groups is None:
            return None
        flat = np.bincount(self.groups * cells + self.cells[0], minlength=self.units * cells)
        return flat.reshape(self.units, cells)

    def merged(self, outcome: Indices) -> "Judgements":
        """Put each cell where `outcome` says."""
        cells = np.where(self.judged, outcome[self.cells], NOT_JUDGED).astype(np.int32)
        return replace(self, cells=cells)

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
        judged, k = self.judged, len(self.labels)
        used = (self.called[:, judged] != NOT_JUDGED).any(axis=1)
        called = self.called[used][:, judged]
        truth = np.asarray(self.truth)[judged]
        there = called != NOT_JUDGED
        codes = np.where(there, truth.astype(np.int64) * k + called, NOT_JUDGED)
        own = np.empty(0, dtype=np.int64) if valued_by is None else truth * k + valued_by[judged]
        met = np.unique(np.concatenate([codes[there], own]))
        groups = None
        if self.groups is not None:
            groups = np.unique(self.groups[judged], return_inverse=True)[1]
        behind = Judgements(
            np.where(there, np.searchsorted(met, codes), NOT_JUDGED).astype(np.int32),
            self.refits[used][:, judged],
            groups,
        )
        totals = behind.totals(len(met))
        if valued_by is not None:
            totals = np.bincount(np.searchsorted(met, own), minlength=len(met)).astype(np.float64)
        return Cells(
            labels=self.labels,
            truth=LabelSets.of_codes(met // k, k),
            predicted=LabelSets.of_codes(met % k, k),
            totals=totals,
            rows=np.rint(totals).astype(np.int64),
            judgements=behind,
        )
