"""Documents that rank categories → eleven precisions each, summed exactly."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags
from truerisk.errors import InputError
from truerisk.tallies.exact_sum import WeightedSums
from truerisk.tallies.ranking import as_weights

LEVELS = 11  # recall 0, .1, …, 1
ENTRIES_AT_ONCE = 2**22  # of the score matrix: memory stays bounded


@dataclass
class DocumentTally:
    """Sums of the eleven precisions of documents; tallies of parts merge exactly.

    `undefined` counts the documents that have no correct category: they have no recall, and are
    left out.
    """

    documents: int = 0
    undefined: int = 0
    sums: WeightedSums = field(default_factory=WeightedSums)  # by level, and of their "average"

    def add(
        self, scores: ArrayLike, truth: ArrayLike, weight: ArrayLike | None = None
    ) -> "DocumentTally":
        """Take in documents: (n, K) scores of the categories, which of them are correct, weights.

        A document of weight 0 is left out.
        """
        table, correct = np.asarray(scores), np.asarray(truth)
        if table.ndim != 2 or table.shape != correct.shape or correct.dtype != np.bool_:
            raise InputError(
                "`scores` and `truth` must be tables of one shape (documents, categories), "
                f"numbers and booleans; got {table.dtype} of shape {table.shape} and "
                f"{correct.dtype} of shape {correct.shape}."
            )
        if np.isnan(table).any():
            raise InputError(f"`scores` must be numbers; {np.isnan(table).sum()} are NaN.")
        weights = np.ones(len(table)) if weight is None else as_weights(weight, len(table))
        step = max(1, ENTRIES_AT_ONCE // max(table.shape[1], 1))
        for start in range(0, len(table), step):
            part = slice(start, start + step)
            self._take(eleven_precisions(table[part], correct[part]), weights[part])
        return self

    def merge(self, other: "DocumentTally") -> "DocumentTally":
        """Take in what another tally has seen; return the tally itself."""
        self.documents += other.documents
        self.undefined += other.undefined
        self.sums.update(other.sums)
        return self

    def _take(self, precisions: Array, weights: Array) -> None:
        precisions, weights = precisions[weights > 0], weights[weights > 0]
        known = ~np.isnan(precisions[:, 0])
        defined, weights = precisions[known], weights[known]
        self.documents += len(defined)
        self.undefined += len(precisions) - len(defined)
        for level in range(LEVELS):
            self.sums.add(level, weights * defined[:, level])
        self.sums.add_weights(len(weights), weights)
        self.sums.add_values("average", defined.sum(axis=1) / LEVELS, weights)


def eleven_precisions(scores: NDArray[Any], truth: Flags) -> Array:
    """Give the interpolated precision of each document at recall 0, .1, …, 1 (steps 1 to 4).

    Categories are ranked by descending score, equal ones at the lowest of their ranks.  A threshold
    is represented by the highest precision of the points from it up to the next (0 where there is
    none), then by the highest of its own and the higher ones.  NaN where no category is correct.
    Erratum: the thresholds are printed "0.0, 1.0, …, 0.9, 1.0"; 0.0, 0.1, … is meant.
    """
    n, n_categories = scores.shape
    order = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    correct = np.take_along_axis(truth, order, axis=1)
    correct_so_far = np.cumsum(correct, axis=1)
    ends = np.ones((n, n_categories), dtype=bool)
    ends[:, :-1] = ranked[:, 1:] != ranked[:, :-1]
    total = correct_so_far[:, -1:]
    new = np.diff(
        np.maximum.accumulate(np.where(ends, correct_so_far, 0), axis=1), axis=1, prepend=0
    )
    document, rank = np.nonzero(new > 0)
    level = (LEVELS - 1) * correct_so_far[document, rank] // total[document, 0]
    highest = np.zeros((n, LEVELS))
    np.maximum.at(highest, (document, level), correct_so_far[document, rank] / (rank + 1))
    highest = np.maximum.accumulate(highest[:, ::-1], axis=1)[:, ::-1]
    return np.where(total == 0, np.nan, highest)
