"""How the refits that had not trained on an example called it: the tally of every resampling.

Each example is judged once or several times, by different refits.  Its votes say what it was called
and how far the refits agreed; a measure reads the mean, its interval also needs the disagreement.

    predictions of refits  →  Votes  (grow, merge)  →  Cells + Judgements  (frozen)
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes, Flags, Indices
from truerisk.tallies.cells import Cells

NOT_JUDGED = -1


@dataclass(frozen=True)
class Judgements:
    r"""The votes on the examples, those with equal truth and equal votes taken together.

    `cells[p, k]` is the cell in which kind p of example falls when it is called k, `votes[p, k]`
    how often it was, and `examples[p]` how many examples are of that kind.
    """

    cells: Indices
    votes: Array
    examples: Array

    @property
    def n(self) -> int:
        """How many examples were judged."""
        return int(self.examples.sum())

    @property
    def units(self) -> int:
        """How many independent units there are."""
        return self.n

    @property
    def unit(self) -> float:
        """How many examples a unit has."""
        return 1.0

    @property
    def repeated(self) -> bool:
        """Whether some example was judged more than once: only then can agreement be measured."""
        return bool((self.votes.sum(axis=1) > 1).any())

    def totals(self, cells: int) -> Array:
        """Add up how many examples are in each of so many cells, a vote being its share of one."""
        weights = self.examples[:, None] * self._shares
        counted = np.bincount(self.cells.ravel(), weights.ravel(), minlength=cells)
        return counted.astype(np.float64, copy=False)

    def merged(self, outcome: Indices) -> "Judgements":
        """Put each cell where `outcome` says."""
        return replace(self, cells=outcome[self.cells])

    def variance(self, gradient: Array) -> tuple[float, float]:
        r"""Give the variance of a measure with this gradient, and how far the refits disagree.

        A vote moves the measure by the gradient g of its cell.  With g of all votes of example i as
        sample, mean square :math:`s_i` and unbiased variance :math:`w_i`,

        .. math:: V = (1 + u) \sum_i s_i, \qquad u = \min(1,\ \sum_i w_i / \sum_i s_i)

        Σ s is the variance that as many independent examples have when one refit judges each, u
        the share of it that is disagreement between refits about the same example.  Disagreement
        counts twice: once as it is in Σ s, once for the model that is trained on all examples and
        differs from the refits as they differ from each other.  For the error rate Σ s is
        p(1 − p)/n, and u is one minus the chance-corrected agreement of the errors.
        """
        moved = np.where(self.votes > 0, gradient[self.cells], 0.0)
        mean = (self._shares * moved).sum(axis=1)
        square = (self._shares * moved**2).sum(axis=1)
        times = self.votes.sum(axis=1)
        several = times > 1
        factor = times[several] / (times[several] - 1)
        within = self.examples[several] @ ((square - mean**2)[several] * factor)
        disagreement = _share(within, self.examples[several] @ square[several])
        return float(self.examples @ square) * (1 + disagreement), disagreement

    @cached_property
    def _shares(self) -> Array:
        return np.asarray(self.votes / self.votes.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class GroupedJudgements:
    """The votes on the examples of groups, which are judged by the same refits and err together.

    `cells[r, i]` is the cell of example i in repetition r, `NOT_JUDGED` where it has none.
    """

    cells: Indices
    groups: Indices

    @property
    def n(self) -> int:
        """How many examples were judged."""
        return int(self.cells.shape[1])

    @cached_property
    def _sizes(self) -> Indices:
        return np.bincount(self.groups)

    @property
    def units(self) -> int:
        """How many groups there are."""
        return len(self._sizes)

    @property
    def unit(self) -> float:
        """How many examples a typical group has."""
        return float((self._sizes**2).sum() / self._sizes.sum())

    @cached_property
    def _judged(self) -> Flags:
        return np.asarray(self.cells != NOT_JUDGED)

    @property
    def repeated(self) -> bool:
        """Whether some group was judged more than once."""
        return bool((self._judged.sum(axis=0) > 1).any())

    def totals(self, cells: int) -> Array:
        """Add up how many examples are in each of so many cells, a vote being its share of one."""
        share = np.broadcast_to(1 / self._judged.sum(axis=0), self.cells.shape)[self._judged]
        counted = np.bincount(self.cells[self._judged], share, minlength=cells)
        return counted.astype(np.float64, copy=False)

    def merged(self, outcome: Indices) -> "GroupedJudgements":
        """Put each cell where `outcome` says."""
        cells = np.where(self._judged, outcome[self.cells], NOT_JUDGED)
        return replace(self, cells=cells)

    def variance(self, gradient: Array) -> tuple[float, float]:
        """Give the variance as `Judgements.variance` does, with the sums over groups as units.

        Of few groups the mean square is too small: it is G/(G − 1) times as large.
        """
        moved = np.where(self._judged, gradient[self.cells], 0.0)
        sums: Array = np.stack([np.bincount(self.groups, row, self.units) for row in moved])
        for row, judged in zip(sums, self._judged, strict=True):
            row[np.bincount(self.groups[judged], minlength=self.units) == 0] = np.nan
        disagreement = disagreement_of(sums)
        few = self.units / (self.units - 1) if self.units > 1 else 1.0
        variance = few * float(np.nanmean(sums**2, axis=0).sum())
        return variance * (1 + disagreement), disagreement


def disagreement_of(moved: Array) -> float:
    r"""Give u: the share of the mean square that is variance between repetitions.

    .. math:: u = \min\Bigl(1,\ \frac{\sum_i w_i}{\sum_i s_i}\Bigr)

    with :math:`s_i` the mean square and :math:`w_i` the unbiased variance of column i, an example
    or a group, over the repetitions (rows) that judged it; NaN elsewhere.  Columns of one value say
    nothing of it.

    Examples
    --------
    >>> disagreement_of(np.array([[1.0, -1.0], [1.0, 1.0]]))  # (0 + 2) / (1 + 1), at most 1
    1.0
    """
    several = moved[:, np.sum(~np.isnan(moved), axis=0) > 1]
    if several.size == 0:
        return 0.0
    within = float(np.nanvar(several, axis=0, ddof=1).sum())
    return _share(within, float(np.nanmean(several**2, axis=0).sum()))


def _share(within: float, whole: float) -> float:
    return float(min(1.0, within / whole)) if whole > 0 else 0.0


@dataclass
class Votes:
    """Grows refit by refit: `counts[i, k]` is how often example i was called k.

    With groups the repetitions are kept apart, since the examples of a group err together.

    Examples
    --------
    >>> votes = Votes(np.array([0, 0, 1]), ("no", "yes"))
    >>> for called in ([0, 1, 1], [0, 0, 1]):
    ...     _ = votes.add(np.arange(3), np.array(called))
    >>> votes.cells().totals
    array([1.5, 0.5, 1. ])
    """

    truth: NDArray[Any]
    labels: tuple[str, ...]
    groups: Indices | None = None
    repetitions: int = 1
    counts: Codes = field(init=False)
    sheets: Codes | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        n = len(self.truth)
        self.counts = np.zeros((n, len(self.labels)), dtype=np.int32)
        if self.groups is not None:
            self.sheets = np.full((self.repetitions, n), NOT_JUDGED, dtype=np.int32)

    def add(self, examples: NDArray[Any], predicted: NDArray[Any], repetition: int = 0) -> "Votes":
        """Count what one refit called examples it had not trained on; return the votes."""
        self.counts[examples, predicted] += 1
        if self.sheets is not None:
            self.sheets[repetition, examples] = predicted
        return self

    def merge(self, other: "Votes") -> "Votes":
        """Add the votes of other refits on the same examples; return the votes."""
        self.counts += other.counts
        if self.sheets is not None and other.sheets is not None:
            self.sheets = np.maximum(self.sheets, other.sheets)
        return self

    @property
    def judged(self) -> Flags:
        """Which examples were judged at all."""
        return np.asarray(self.counts.any(axis=1))

    def cells(self) -> Cells:
        """Freeze the votes as cells, each example worth one, with the judgements behind them."""
        judged, k = self.judged, len(self.labels)
        counts = self.counts[judged]
        truth = np.asarray(self.truth)[judged]
        table = np.zeros((k, k), dtype=np.int64)
        np.add.at(table, truth, counts)
        met = np.argwhere(table > 0)
        place = np.zeros((k, k), dtype=np.intp)
        place[met[:, 0], met[:, 1]] = np.arange(len(met))
        behind = self._judgements(truth, counts, place)
        one = np.eye(k, dtype=bool)
        totals = behind.totals(len(met))
        return Cells(
            labels=self.labels,
            truth=one[met[:, 0]],
            predicted=one[met[:, 1]],
            totals=totals,
            rows=np.rint(totals).astype(np.int64),
            judgements=behind,
        )

    def _judgements(
        self, truth: NDArray[Any], counts: Codes, place: Indices
    ) -> Judgements | GroupedJudgements:
        if self.sheets is not None and self.groups is not None:
            judged = self.judged
            sheets = self.sheets[:, judged]
            sheets = sheets[(sheets != NOT_JUDGED).any(axis=1)]
            _, groups = np.unique(self.groups[judged], return_inverse=True)
            cells = np.where(sheets == NOT_JUDGED, NOT_JUDGED, place[truth, sheets])
            return GroupedJudgements(cells, groups)
        rows = np.column_stack([truth.astype(np.int32), counts])
        kinds, examples = _distinct(rows)
        return Judgements(
            place[kinds[:, 0]], kinds[:, 1:].astype(np.float64), examples.astype(np.float64)
        )


def _distinct(rows: Codes) -> tuple[Codes, Indices]:
    """Give the distinct rows and how often each occurs; rows of few small numbers by one code."""
    span = rows.max(axis=0).astype(object) + 1
    if np.prod(span) < 2**62:
        code = np.zeros(len(rows), dtype=np.int64)
        for column, size in zip(rows.T, span, strict=True):
            code = code * int(size) + column
        _, first, examples = np.unique(code, return_index=True, return_counts=True)
        return rows[first], examples
    kinds, examples = np.unique(rows, axis=0, return_counts=True)
    return kinds, examples
