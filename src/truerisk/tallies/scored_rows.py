"""Scored rows that are needed one by one: of grouped examples, and of all classes side by side.

Rows of a group vary together; the scores of several classes show how far their rankings err
together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.tallies.documents import LEVELS, eleven_precisions
from truerisk.tallies.losses import LOSSES

MAX_ENTRIES = 4_000_000  # examples × classes; beyond it, nothing is known of the dependence


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

    def correlations(self, names: Sequence[str]) -> dict[str, Array]:
        """Give the K × K correlations of the errors of the classes, for each measure.

        They are those of what each row adds to the area under the ROC curve of each class; for any
        other measure, to its average precision.  A class whose value is undefined, or to which all
        rows add alike, is taken to err on its own.
        """
        rows = np.hstack([self.score, self.truth.astype(np.float64)])
        order = np.lexsort(rows.T)
        weight = np.ones(len(order)) if self.weight is None else self.weight[order]
        areas, precisions = np.zeros(self.score.shape), np.zeros(self.score.shape)
        for at in range(self.score.shape[1]):
            areas[:, at], precisions[:, at] = _influence(
                self.score[order, at], self.truth[order, at], weight
            )
        of_areas, of_precisions = _correlation(areas.T), _correlation(precisions.T)
        return {name: of_areas if name == "roc_auc" else of_precisions for name in names}


def _influence(score: Array, positive: Flags, weight: Array) -> tuple[Array, Array]:
    """Give what each row adds to the area under the ROC curve, and to the average precision."""
    of_positive, of_negative = np.where(positive, weight, 0.0), np.where(positive, 0.0, weight)
    n_positive, n_negative = float(of_positive.sum()), float(of_negative.sum())
    if not (n_positive > 0 and n_negative > 0):
        return np.zeros(len(score)), np.zeros(len(score))
    _, place = np.unique(-score, return_inverse=True)
    positives, negatives = (np.bincount(place, weights=one) for one in (of_positive, of_negative))
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    beaten = (n_negative - fp + negatives / 2) / n_negative
    beating = (tp - positives / 2) / n_positive
    area = float(positives @ beaten) / n_positive
    retrieved = np.maximum(tp + fp, np.finfo(float).tiny)
    precision, share = tp / retrieved, positives / retrieved
    gives = np.cumsum((share * (1 - precision))[::-1])[::-1]
    takes = np.cumsum((share * precision)[::-1])[::-1]
    average = float(positives @ precision) / n_positive
    areas = np.where(
        positive, (beaten - area)[place] / n_positive, (beating - area)[place] / n_negative
    )
    precisions = np.where(positive, (precision - average + gives)[place], -takes[place])
    return weight * areas, weight * precisions / n_positive


def _correlation(influence: Array) -> Array:
    lengths = np.sqrt((influence**2).sum(axis=1))
    directions = influence / np.where(lengths > 0, lengths, 1.0)[:, None]
    correlation = np.asarray(directions @ directions.T)
    np.fill_diagonal(correlation, 1.0)
    return correlation
