"""Many examples, ranked: resamples at a cost that does not grow with their number.

The examples are dealt out to blocks of one size, at random (whole groups, where they come in
groups), and blocks are drawn with replacement.  Scores are put into bins, and a block is what it
adds to each bin: drawing is one product of matrices.  Two models are resampled alike by one deal
and one draw.  With r resamples of b blocks a standard error is off by √(1/2r + 1/2b) of itself, one
time in three: by 1.9 % for 2000 of 4000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_replicates import Binned, Bins, bins_of, evaluate, values_of

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


def _binned(bins: Bins, counts: Array) -> Binned:
    positives, negatives = np.split(counts, 2, axis=1)
    return Binned(positives, negatives, bins.inside_auc, bins.spread)
