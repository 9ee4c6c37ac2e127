"""Scored rows that are needed one by one: of grouped examples, and of all classes side by side.

Rows of a group are resampled together; the scores of several classes show how far their rankings
err together.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.tallies.documents import LEVELS, eleven_precisions
from truerisk.tallies.losses import LOSSES
from truerisk.tallies.ranking_replicates import cluster_replicates

MAX_ENTRIES = 4_000_000  # examples × classes; beyond it, nothing is known of the dependence
REPLICATES = 100  # enough for a correlation that is averaged over many pairs of classes


@dataclass(frozen=True)
class GroupedScores:
    """Scores, whether the rows are positive, and the group that each row belongs to.

    `complement` is the probability of the other of two classes, where it is given for itself.
    """

    score: NDArray[Any]
    is_positive: Flags
    group: NDArray[Any]
    weight: Array | None
    complement: Array | None = None

    @cached_property
    def groups(self) -> int:
        """How many groups there are."""
        return len(np.unique(self.group))


def joined(parts: Sequence[GroupedScores]) -> GroupedScores:
    """Put the rows of several batches together, their groups numbered by content."""
    weights = [part.weight for part in parts if part.weight is not None]
    complements = [part.complement for part in parts if part.complement is not None]
    rows = GroupedScores(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.is_positive for part in parts]),
        np.concatenate([part.group for part in parts]),
        np.concatenate(weights) if weights else None,
        np.concatenate(complements) if complements else None,
    )
    return replace(rows, group=_numbered_by_content(rows))


def _numbered_by_content(rows: GroupedScores) -> Indices:
    """Give each group a number that depends on what is in it, not on the order of the rows."""
    keys = [rows.score.astype(np.float64), rows.is_positive]
    keys += [] if rows.weight is None else [rows.weight]
    ranks = np.unique(np.column_stack(keys), axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((ranks, rows.group))
    members = np.split(order, np.flatnonzero(np.diff(rows.group[order])) + 1)
    numbers = np.empty(len(ranks), dtype=np.intp)
    for number, one in enumerate(sorted(members, key=lambda rows_of: ranks[rows_of].tolist())):
        numbers[one] = number
    return numbers


def document_averages(by_label: Mapping[str, GroupedScores]) -> Array:
    """Give the average of the eleven precisions of each row; NaN where no category is correct."""
    score = np.column_stack([rows.score for rows in by_label.values()])
    truth = np.column_stack([rows.is_positive for rows in by_label.values()])
    return np.asarray(eleven_precisions(score, truth).sum(axis=1) / LEVELS)


def loss_of_rows(name: str, by_label: Mapping[str, GroupedScores]) -> Array:
    """Give the log loss or the Brier score of each row; the scores are probabilities."""
    columns = [rows.score.astype(np.float64) for rows in by_label.values()]
    if len(columns) == 1:
        rows = next(iter(by_label.values()))
        return LOSSES[name](columns[0], rows.is_positive, rows.complement)
    truth = np.column_stack([rows.is_positive for rows in by_label.values()])
    return LOSSES[name](np.column_stack(columns), truth.argmax(axis=1))


def error_of_mean(values: Array, rows: GroupedScores) -> float:
    """Give the standard error of the mean of values that come in independent groups.

    √(G/(G − 1) · Σ_g (Σ wᵢ(xᵢ − x̄))²) / Σ wᵢ.  Right for many groups; NaN for one.  Rows without a
    value, or of weight 0, are left out.
    """
    weight = np.ones(len(values)) if rows.weight is None else rows.weight
    used = np.flatnonzero(~np.isnan(values) & (weight > 0))
    # One order for the sums, whatever the order of the rows.
    used = used[np.lexsort((values[used], weight[used], rows.group[used]))]
    codes = np.unique(rows.group[used], return_inverse=True)[1]
    groups = int(codes.max(initial=-1)) + 1
    total = math.fsum(weight[used])
    if groups < 2:
        return math.nan
    mean = math.fsum(weight[used] * values[used]) / total
    influence = np.bincount(codes, weights=weight[used] * (values[used] - mean))
    return math.sqrt(groups / (groups - 1) * math.fsum(influence**2)) / total


@dataclass(frozen=True)
class JointScores:
    """Scores and truth of n examples and K classes."""

    score: Array
    truth: Flags
    weight: Array | None = None

    def correlations(self, names: Sequence[str], random_state: int) -> dict[str, Array]:
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


def _correlation(values: Array) -> Array:
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    means = np.where(known, values, 0.0).sum(axis=1, keepdims=True) / counts
    centred = np.where(known, values - means, 0.0)
    lengths = np.sqrt((centred**2).sum(axis=1))
    directions = centred / np.where(lengths > 0, lengths, 1.0)[:, None]
    correlation = np.asarray(directions @ directions.T)
    np.fill_diagonal(correlation, 1.0)
    return correlation
