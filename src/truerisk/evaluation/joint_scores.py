"""The scores of all classes side by side: how much their rankings err together."""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.tallies.ranking_replicates import cluster_replicates

MAX_ENTRIES = 4_000_000  # examples × classes; beyond it, nothing is known of the dependence
REPLICATES = 100  # enough for a correlation that is averaged over many pairs of classes


@dataclass(frozen=True)
class JointScores:
    """Scores and truth of n examples and K classes."""

    score: NDArray[np.float64]
    truth: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None

    def correlations(
        self, names: Sequence[str], random_state: int
    ) -> dict[str, NDArray[np.float64]]:
        """Give the K × K correlations of each measure over resamples of the examples.

        The same resamples serve all classes.  A class whose value does not vary, or is undefined,
        is taken to err on its own.
        """
        rows = np.hstack([self.score, self.truth.astype(np.float64)])
        order = np.lexsort(rows.T)
        seed = [random_state, zlib.crc32(b"joint scores")]
        weight = None if self.weight is None else self.weight[order]
        drawn = [
            cluster_replicates(
                self.score[order, at],
                self.truth[order, at],
                np.arange(len(order)),
                names,
                weight=weight,
                replicates=REPLICATES,
                rng=np.random.default_rng(seed),
            )
            for at in range(self.score.shape[1])
        ]
        return {name: _correlation(np.array([one[name] for one in drawn])) for name in names}


def _correlation(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    means = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / counts
    centred = np.where(known, values - means, 0.0)
    lengths = np.sqrt((centred**2).sum(axis=1))
    directions = centred / np.where(lengths > 0, lengths, 1.0)[:, None]
    found = np.asarray(directions @ directions.T)
    np.fill_diagonal(found, 1.0)
    return found


def distance_of_mean(
    distances: NDArray[np.float64], shares: NDArray[np.float64], correlation: NDArray[np.float64]
) -> float:
    r"""Give how far a weighted mean may lie off, from how far each of its parts may.

    .. math:: \sqrt{\sum_{k,l} s_k s_l\, \rho_{kl}\, d_k d_l}

    With all correlations 1 it is the mean of the distances, the most that it can be.
    """
    parts = shares * distances
    return math.sqrt(max(float(parts @ correlation @ parts), 0.0))
