"""One model's scores, prepared for the comparison of two: influences, and shared resamples.

Of many examples blocks are drawn, at a cost that does not grow with their number.  The examples are
dealt out to blocks of one size, at random (whole groups, where they come in groups), and blocks are
drawn with replacement.  Scores are put into bins, and a block is what it adds to each bin: drawing
is one product of matrices.  Two models are resampled alike by one deal and one draw.  With r
resamples of b blocks a standard error is off by √(1/2r + 1/2b) of itself, one time in three: by 1.9
% for 2000 of 4000.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.measures.registry import base_and_average
from truerisk.tallies.losses import LOSSES
from truerisk.tallies.placements import share_below
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_replicates import (
    Binned,
    Bins,
    bins_of,
    cluster_replicates,
    evaluate,
    values_of,
)
from truerisk.tallies.scored_rows import GroupedScores, document_averages, loss_of_rows

DOCUMENTS = "eleven_point_documents"
MAX_ENTRIES = 2 * 10**7  # rows × classes × replicates: about a second
MANY_ROWS = 20_000  # beyond it blocks of rows are drawn, which then costs less
MIN_REPLICATES = 200  # a standard error from these is 5 % off, one time in three
BLOCKS, RESAMPLES = 4000, 2000
MIN_BLOCKS, MIN_RESAMPLES = 1000, 500
AT_ONCE = 250  # resamples


@dataclass(frozen=True)
class BlockDraw:
    """Which block each example is in, and how often each resample draws each block."""

    block: NDArray[np.intp]
    times: Array

    @classmethod
    def of(cls, units: NDArray[np.intp], classes: int, rng: np.random.Generator) -> "BlockDraw":
        """Deal out the units and draw the blocks; the more classes to rank, the fewer of both.

        Examples
        --------
        >>> units = np.repeat(np.arange(6000), 2)
        >>> drawn = BlockDraw.of(units, 1, np.random.default_rng(0))
        >>> drawn.times.shape, bool((drawn.block[::2] == drawn.block[1::2]).all())
        ((2000, 4000), True)
        """
        number = int(units.max()) + 1
        blocks = min(max(BLOCKS // classes, MIN_BLOCKS), number)
        block = rng.permutation(np.arange(number) % blocks)[units]
        size = max(RESAMPLES // classes, MIN_RESAMPLES)
        drawn = rng.integers(blocks, size=(size, blocks)) + blocks * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * blocks).reshape(size, blocks)
        return cls(np.asarray(block, dtype=np.intp), times.astype(np.float64))

    @property
    def words(self) -> str:
        """What was drawn, in words."""
        resamples, blocks = self.times.shape
        return f"{resamples:,} resamples of {blocks:,} blocks of examples"

    def repeated(self, times: int) -> "BlockDraw":
        """Give every example so many rows in turn."""
        return BlockDraw(np.repeat(self.block, times), self.times)

    def replicates(
        self,
        score: NDArray[Any],
        is_positive: NDArray[np.bool_],
        names: Sequence[str],
        weight: Array | None = None,
    ) -> dict[str, Array]:
        """Give measures of the ranking of each resample."""
        ranking = rank(score, is_positive, weight)
        bins = bins_of(ranking)
        whole = np.concatenate([bins.positives, bins.negatives])
        table = self._table(score, is_positive, bins, weight)
        # What binning does to the value is taken off again.
        observed = evaluate(_binned(bins, whole[None].astype(np.float64)), names)
        off = {name: values_of(ranking, name) - observed[name][0] for name in names}
        replicates: dict[str, list[Array]] = {name: [] for name in names}
        for start in range(0, len(self.times), AT_ONCE):
            drawn = self.times[start : start + AT_ONCE] @ table
            for name, values in evaluate(_binned(bins, drawn), names).items():
                replicates[name].append(np.clip(values + off[name], 0.0, 1.0))
        return {name: np.concatenate(values) for name, values in replicates.items()}

    def _table(
        self,
        score: NDArray[Any],
        is_positive: NDArray[np.bool_],
        bins: Bins,
        weight: Array | None,
    ) -> Array:
        """Count what every block adds to every bin: of positives, then of negatives."""
        ends = np.cumsum(bins.positives + bins.negatives)
        order = np.argsort(-(score.astype(np.float64) + 0.0), kind="stable")  # −0.0 + 0.0 is 0.0
        each = np.ones(len(order)) if weight is None else weight[order]
        # The middle of an example lies within its bin, however sums of weights were rounded.
        middle = np.cumsum(each) - each / 2
        of_row = np.empty(len(order), dtype=np.intp)
        of_row[order] = np.minimum(np.searchsorted(ends, middle), len(ends) - 1)
        size, blocks = len(ends), self.times.shape[1]
        cell = self.block * (2 * size) + of_row + np.where(is_positive, 0, size)
        counts = np.bincount(cell, weights=weight, minlength=blocks * 2 * size)
        return counts.reshape(blocks, 2 * size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class ModelScores:
    """The scores of n examples for c classes, and which examples belong to each class."""

    score: NDArray[Any]
    truth: Flags
    weight: Array | None = None
    group: Indices | None = None
    complement: Array | None = None  # the probability of the other of two classes

    @classmethod
    def of(
        cls,
        score: NDArray[Any],
        tallies: Tallies,
        truth: NDArray[Any],
        members: Sequence[tuple[str, ...]],
        *,
        weight: Array | None = None,
        group: Indices | None = None,
        complement: Array | None = None,
    ) -> "ModelScores":
        """Take the scores of a model that has been tallied: its rankings name their classes."""
        belongs = [np.array([label in one for one in members])[truth] for label in tallies.rankings]
        table = score[:, None] if score.ndim == 1 else score
        return cls(table, np.column_stack(belongs), weight, group, complement)

    @property
    def units(self) -> Indices:
        """What is drawn together: the groups, or each example for itself."""
        return np.arange(len(self.score)) if self.group is None else self.group

    @cached_property
    def _weights(self) -> Array:
        return np.ones(len(self.score)) if self.weight is None else self.weight

    @cached_property
    def strata(self) -> Indices:
        """What is true of each example, as a number."""
        packed = np.packbits(self.truth, axis=1)
        return np.unique(packed, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def rarest(self) -> int:
        """Independent examples, or groups, of the rarest class or of its opposite."""
        sides = [side for column in self.truth.T for side in (column, ~column)]
        if self.group is None:
            counts = [int(np.count_nonzero(side)) for side in sides]
        else:
            counts = [len(np.unique(self.group[side])) for side in sides]
        return min((count for count in counts if count), default=0)

    def rows_of_loss(self, name: str) -> Array | None:
        """Give the loss, or the precision, of each example; None for what is no mean."""
        by_label = {
            str(at): GroupedScores(
                self.score[:, at], self.truth[:, at], self.units, self.weight, self.complement
            )
            for at in range(self.score.shape[1])
        }
        if name == DOCUMENTS:
            return document_averages(by_label)
        return loss_of_rows(name, by_label) if name in LOSSES else None

    def influences(self, name: str) -> Array | None:
        """Give what each example adds to the error of a measure, to first order.

        None for a measure that has no such influences.
        """
        base, average = base_and_average(name)
        if base == "roc_auc":
            return self._area_influences(average)
        values = self.rows_of_loss(name)
        return None if values is None else mean_influences(values, self._weights)

    def _area_influences(self, average: str | None) -> Array:
        classes = range(self.score.shape[1])
        if average == "micro":
            flat = auc_influences(
                self.score.ravel(), self.truth.ravel(), np.repeat(self._weights, len(classes))
            )[1]
            return np.asarray(flat.reshape(self.score.shape).sum(axis=1))
        found = [
            auc_influences(self.score[:, at], self.truth[:, at], self._weights) for at in classes
        ]
        areas, each = np.array([area for area, _ in found]), np.array([one for _, one in found])
        support = self._weights @ self.truth
        taken = ~np.isnan(areas)
        shares = np.where(taken, support if average == "weighted" else 1.0, 0.0)
        if not shares.any():
            return np.full(len(self.score), np.nan)
        total = shares.sum()
        summed = (shares[taken] / total) @ each[taken]
        if average == "weighted":
            # The shares of the classes vary, too.
            mean = float(shares[taken] @ areas[taken]) / total
            off = np.where(taken, areas - mean, 0.0)
            summed = summed + self._weights * (self.truth @ off) / total
        return np.asarray(summed)

    @property
    def is_many(self) -> bool:
        """Whether there are so many rows that blocks of them are drawn."""
        return len(self.score) > MANY_ROWS

    def resamples(self, wanted: int) -> int:
        """Give how many resamples of rows are drawn: fewer than wanted where classes are many."""
        return max(min(wanted, MAX_ENTRIES // self.score.size), MIN_REPLICATES)

    def replicates(
        self, names: Sequence[str], average: str | None, replicates: int, seed: Sequence[int]
    ) -> dict[str, Array]:
        """Resample the examples, or whole groups; the same seed draws the same for every model."""

        def drawn(score: NDArray[Any], truth: Flags, repeat: int) -> dict[str, Array]:
            return cluster_replicates(
                score,
                truth,
                np.repeat(self.units, repeat),
                names,
                weight=None if self.weight is None else np.repeat(self.weight, repeat),
                replicates=self.resamples(replicates),
                rng=np.random.default_rng(seed),
            )

        return self._averaged(drawn, names, average)

    def block_replicates(
        self, names: Sequence[str], average: str | None, draw: BlockDraw
    ) -> dict[str, Array]:
        """Resample blocks of examples, of which there are too many to be drawn one by one."""

        def drawn(score: NDArray[Any], truth: Flags, repeat: int) -> dict[str, Array]:
            weight = None if self.weight is None else np.repeat(self.weight, repeat)
            return draw.repeated(repeat).replicates(score, truth, names, weight)

        return self._averaged(drawn, names, average)

    def _averaged(
        self,
        drawn: Callable[[NDArray[Any], Flags, int], dict[str, Array]],
        names: Sequence[str],
        average: str | None,
    ) -> dict[str, Array]:
        classes = self.score.shape[1]
        if average == "micro":
            return drawn(self.score.ravel(), self.truth.ravel(), classes)
        each = [drawn(self.score[:, at], self.truth[:, at], 1) for at in range(classes)]
        support = self._weights @ self.truth
        shares = support if average == "weighted" else (support > 0).astype(np.float64)
        return {name: _mean_over_classes([one[name] for one in each], shares) for name in names}


def _mean_over_classes(each: list[Array], shares: Array) -> Array:
    """Average over the classes in which a replicate has a value."""
    values = np.array(each)
    known = ~np.isnan(values) & (shares > 0)[:, None]
    weights = np.where(known, shares[:, None], 0.0)
    total = weights.sum(axis=0)
    summed = (weights * np.where(known, values, 0.0)).sum(axis=0)
    return np.where(total > 0, summed / np.where(total > 0, total, 1.0), np.nan)


def auc_influences(score: NDArray[Any], is_positive: Flags, weight: Array) -> tuple[float, Array]:
    r"""Give an area under the ROC curve, and what each example adds to its error.

    .. math:: u_i = \frac{w_i (V_i - A)}{P} \text{ (positive)}, \qquad
              u_j = \frac{w_j (W_j - A)}{N} \text{ (negative)}

    with V and W DeLong's placements, P and N the weights of the classes.  Their squares add up to
    DeLong's variance but for its n/(n − 1).  NaN where a class is missing.

    Examples
    --------
    >>> area, influences = auc_influences(
    ...     np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, False]), np.ones(4))
    >>> area, influences.tolist()
    (0.75, [0.125, -0.125, -0.125, 0.125])
    """
    column = score.astype(np.float64)
    totals = float(weight[is_positive].sum()), float(weight[~is_positive].sum())
    if min(totals) <= 0:
        return np.nan, np.full(len(score), np.nan)
    placed = np.empty(len(score))
    placed[is_positive] = share_below(
        column[is_positive], column[~is_positive], weight[~is_positive]
    )
    placed[~is_positive] = 1 - share_below(
        column[~is_positive], column[is_positive], weight[is_positive]
    )
    area = float(weight[is_positive] @ placed[is_positive]) / totals[0]
    return area, weight * (placed - area) / np.where(is_positive, *totals)


def mean_influences(values: Array, weight: Array) -> Array:
    r"""Give what each example adds to the error of a mean: :math:`w_i (x_i - \bar x) / \sum w`.

    Examples without a value add nothing.

    Examples
    --------
    >>> mean_influences(np.array([1.0, 3.0]), np.ones(2)).tolist()
    [-0.5, 0.5]
    """
    known = ~np.isnan(values)
    used = np.where(known, weight, 0.0)
    total = float(used.sum())
    if total <= 0 or not np.isfinite(values[known]).all():
        return np.full(len(values), np.nan)
    filled = np.where(known, values, 0.0)
    return np.asarray(used * (filled - float(used @ filled) / total) / total)


def _binned(bins: Bins, counts: Array) -> Binned:
    positives, negatives = np.split(counts, 2, axis=1)
    return Binned(positives, negatives, bins.inside_auc, bins.spread)
