"""Scored rows that are needed one by one: in groups, of all classes side by side, of two models."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.tallies.documents import LEVELS, eleven_precisions
from truerisk.tallies.group_values import (
    GroupValues,
    area_values,
    mean_of_classes,
    ranking_values,
    ratio_values,
    sums_of_groups,
)
from truerisk.tallies.losses import LOSSES
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import (
    RankedRows,
    mean_influences,
    ranking_influences,
    values_of,
)

MAX_ENTRIES = 4_000_000  # examples × classes; beyond it, nothing is known of the dependence
DOCUMENTS = "eleven_point_documents"


@dataclass(frozen=True)
class ScoredRows:
    """The scores of n examples for c classes, and which examples belong to each class.

    `group` is the group that each row belongs to; `complement` is the probability of the other of
    two classes, where it is given for itself.
    """

    score: NDArray[Any]
    truth: Flags
    weight: Array | None = None
    group: Indices | None = None
    complement: Array | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.score)

    @property
    def classes(self) -> int:
        """How many classes are scored."""
        return int(self.score.shape[1])

    @cached_property
    def groups(self) -> int:
        """How many groups there are; 0 without groups."""
        return 0 if self.group is None else len(np.unique(self.group))

    @property
    def codes(self) -> Indices:
        """The groups, of rows that have some."""
        if self.group is None:
            raise TypeError("Rows without groups have no values by group.")
        return self.group

    @cached_property
    def weights(self) -> Array:
        """The weights, 1 where none are given."""
        return np.ones(self.n) if self.weight is None else self.weight

    @cached_property
    def strata(self) -> Indices:
        """What is true of each example, as a number."""
        if self.classes == 1:
            return self.truth[:, 0].astype(np.intp)
        numbers = np.zeros(self.n, dtype=np.intp)
        for byte in np.packbits(self.truth, axis=1).T:
            numbers = np.unique(numbers * 256 + byte, return_inverse=True)[1]
        return numbers

    @cached_property
    def rarest(self) -> int:
        """Independent examples, or groups, of the rarest class or of its opposite."""
        sides = [side for column in self.truth.T for side in (column, ~column)]
        if self.group is None:
            counts = [int(np.count_nonzero(side)) for side in sides]
        else:
            counts = [len(np.unique(self.group[side])) for side in sides]
        return min((count for count in counts if count), default=0)

    @cached_property
    def that_count(self) -> "ScoredRows":
        """The rows of positive weight, their groups numbered from 0 on."""
        taken = np.flatnonzero(self.weights > 0)
        rows = self.taken(taken)
        if rows.group is None:
            return rows
        return replace(rows, group=np.unique(rows.group, return_inverse=True)[1])

    def taken(self, at: Indices) -> "ScoredRows":
        """Take some rows, in this order."""
        return ScoredRows(
            self.score[at],
            self.truth[at],
            None if self.weight is None else self.weight[at],
            None if self.group is None else self.group[at],
            None if self.complement is None else self.complement[at],
        )

    def losses(self, name: str) -> Array | None:
        """Give the loss, or the precision, of each example; None for what is no mean of these."""
        if name == DOCUMENTS:
            return np.asarray(eleven_precisions(self.score, self.truth).sum(axis=1) / LEVELS)
        if name not in LOSSES:
            return None
        score = self.score.astype(np.float64)
        if self.classes == 1:
            return LOSSES[name](score[:, 0], self.truth[:, 0], self.complement)
        return LOSSES[name](score, self.truth.argmax(axis=1))

    def influences(self, name: str, average: str | None = None) -> Array:
        """Give what each example adds to the error of a measure, or its average, to first order."""
        losses = self.losses(name)
        if losses is not None:
            return mean_influences(losses, self.weights)
        if average == "micro":
            flat = self.pairs.influences(name)
            return np.asarray(flat.reshape(self.score.shape).sum(axis=1))
        if self.classes == 1:
            return self._ranked.influences(name)
        each = np.array([self._of_class(name, at) for at in range(self.classes)])
        taken = ~np.isnan(each).any(axis=1)
        support = self.weights @ self.truth
        shares = np.where(taken, support if average == "weighted" else 1.0, 0.0)
        if not shares.any():
            return np.full(self.n, np.nan)
        total = shares.sum()
        summed = (shares[taken] / total) @ each[taken]
        if average == "weighted":
            # The shares of the classes vary, too.
            values = np.array([self._value_of_class(name, at) for at in range(self.classes)])
            off = np.where(taken, values - float(shares[taken] @ values[taken]) / total, 0.0)
            summed = summed + self.weights * (self.truth @ off) / total
        return np.asarray(summed)

    @cached_property
    def _ranked(self) -> RankedRows:
        return RankedRows.of(self.score[:, 0], self.truth[:, 0], self.weight)

    def _of_class(self, name: str, at: int) -> Array:
        return ranking_influences(self.score[:, at], self.truth[:, at], self.weight, name)

    def _value_of_class(self, name: str, at: int) -> float:
        return values_of(rank(self.score[:, at], self.truth[:, at], self.weight), name)

    def correlations(self, names: Sequence[str]) -> dict[str, Array]:
        """Give how far the classes err together by each measure: K × K correlations.

        A class whose value does not vary, or is undefined, is taken to err on its own.
        """
        return {
            name: _correlation(np.array([self._of_class(name, at) for at in range(self.classes)]))
            for name in names
        }

    @cached_property
    def pairs(self) -> "ScoredRows":
        """All (example, class) pairs as rows of one ranking: the micro average."""
        times = self.classes
        return ScoredRows(
            self.score.reshape(-1, 1),
            self.truth.reshape(-1, 1),
            None if self.weight is None else np.repeat(self.weight, times),
            None if self.group is None else np.repeat(self.group, times),
        )

    def group_values(self, name: str, average: str | None = None) -> GroupValues:
        """Give a measure, or its average over the classes, without and with twice each group."""
        rows = self.that_count
        losses = rows.losses(name)
        if losses is not None:
            defined = ~np.isnan(losses)
            weights = np.where(defined, rows.weights, 0.0)
            sums = sums_of_groups(rows.codes, weights * np.where(defined, losses, 0.0))
            return ratio_values(sums, sums_of_groups(rows.codes, weights))
        if average == "micro":
            return rows.pairs.values_of_class(name, 0)
        each = [self.values_of_class(name, at) for at in range(rows.classes)]
        if average is None and len(each) == 1:
            return each[0]
        support = None
        if average == "weighted":
            support = np.array(
                [sums_of_groups(rows.codes, rows.weights * one) for one in rows.truth.T]
            )
        return mean_of_classes(each, support)

    def values_of_class(self, name: str, at: int) -> GroupValues:
        """Give a measure of one class's ranking, without and with twice each group."""
        if (name, at) not in self._by_class:
            rows = self.that_count
            score, truth, group = rows.score[:, at], rows.truth[:, at], rows.codes
            self._by_class[name, at] = (
                area_values(score, truth, group, rows.weight)
                if name == "roc_auc"
                else ranking_values(score, truth, group, rows.weight, name)
            )
        return self._by_class[name, at]

    @cached_property
    def _by_class(self) -> dict[tuple[str, int], GroupValues]:
        return {}


def joined(parts: Sequence[ScoredRows]) -> ScoredRows:
    """Put the rows of several batches together, in an order that depends on their content.

    Groups are numbered by content, too: no sum depends on the order of the rows.
    """

    def together(name: str) -> Any:
        columns = [getattr(part, name) for part in parts]
        return None if columns[0] is None else np.concatenate(columns)

    rows = ScoredRows(
        *(together(name) for name in ("score", "truth", "weight", "group", "complement"))
    )
    ranks = _ranks(rows)
    if rows.group is not None:
        rows = replace(rows, group=_numbered_by_content(rows.group, ranks))
    keys = (ranks,) if rows.group is None else (rows.group, ranks)
    return rows.taken(np.lexsort(keys))


def _ranks(rows: ScoredRows) -> Indices:
    """Rank the rows by what they hold, their groups apart."""
    keys = [*rows.score.T, *rows.truth.T]
    keys += [one for one in (rows.weight, rows.complement) if one is not None]
    order = np.lexsort(keys)
    changes = np.zeros(rows.n, dtype=bool)
    for key in keys:
        changes[1:] |= key[order][1:] != key[order][:-1]
    ranks = np.empty(rows.n, dtype=np.intp)
    ranks[order] = np.cumsum(changes)
    return ranks


def _numbered_by_content(group: Indices, ranks: Indices) -> Indices:
    """Give each group a number that depends on what is in it, not on the order of the rows."""
    order = np.lexsort((ranks, group))
    members = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    numbers = np.empty(len(ranks), dtype=np.intp)
    for number, one in enumerate(sorted(members, key=lambda rows_of: ranks[rows_of].tolist())):
        numbers[one] = number
    return numbers


def _correlation(influences: Array) -> Array:
    centred = np.nan_to_num(influences)
    lengths = np.sqrt((centred**2).sum(axis=1))
    directions = centred / np.where(lengths > 0, lengths, 1.0)[:, None]
    correlation = np.asarray(directions @ directions.T)
    np.fill_diagonal(correlation, 1.0)
    return correlation
