"""One ranking under many weightings of its rows: each measure for all of them at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array, Flags, Indices
from truerisk.checks import check_choice, check_same_length
from truerisk.tallies.ranking import (
    LEVELS,
    RECALL_SLACK,
    Ranking,
    as_labels,
    as_scores,
    refuse_nan,
)

DEFAULT_LIMIT = 0.1  # of the false positive rate of a partial area


def values_of(ranking: Ranking, name: str) -> float:
    """Give the value of a measure of a ranking by its name."""
    summary, limit = ranking.summary, partial_limit(name)
    if limit is not None:
        return float(partial_areas(ranking.tp[None, :], ranking.fp[None, :], limit)[0])
    if name == "eleven_point_precision":
        return sum(summary.eleven_point) / LEVELS
    if name == "breakeven_point":
        return summary.breakeven.value
    return float(getattr(summary, {"roc_auc": "auc"}.get(name, name)))


def values_of_weights(
    scores: ArrayLike, is_positive: ArrayLike, weights: Array, names: Sequence[str]
) -> dict[str, Array]:
    """Give the measures of one ranking under each of (R, n) weightings of its n rows.

    Examples
    --------
    >>> weights = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    >>> values_of_weights([3, 2, 1], [True, False, True], weights, ["average_precision"])
    {'average_precision': array([0.83333333, 1.        ])}
    """
    return SortedRows.of(scores, is_positive).values(weights, names)


@dataclass(frozen=True)
class SortedRows:
    """The rows of one ranking in the order of their scores, sorted once for any weightings."""

    order: Indices
    starts: Indices
    positive: Flags

    @classmethod
    def of(cls, scores: ArrayLike, is_positive: ArrayLike) -> "SortedRows":
        """Sort the rows, the largest score first."""
        column, positive = as_scores(scores), as_labels(is_positive)
        check_same_length(scores=column, is_positive=positive)
        refuse_nan(column)
        order = np.argsort(-column.astype(np.float64), kind="stable")
        ordered = column[order] + column.dtype.type(0)
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        return cls(order, starts, positive[order])

    def values(self, weights: Array, names: Sequence[str]) -> dict[str, Array]:
        """Give the measures under each of (R, n) weightings of the rows."""
        formulas = {name: formula_of(name) for name in names}
        of_rows = weights[:, self.order]
        table = _Table(
            np.add.reduceat(np.where(self.positive, of_rows, 0.0), self.starts, axis=1),
            np.add.reduceat(np.where(self.positive, 0.0, of_rows), self.starts, axis=1),
        )
        return {name: formula(table) for name, formula in formulas.items()}


@dataclass(frozen=True)
class _Table:
    """Positives and negatives of R rankings at B scores, descending; shape (R, B)."""

    positives: Array
    negatives: Array

    @cached_property
    def tp(self) -> Array:
        return np.cumsum(self.positives, axis=1)

    @cached_property
    def fp(self) -> Array:
        return np.cumsum(self.negatives, axis=1)

    @cached_property
    def retrieved(self) -> Array:
        return self.tp + self.fp

    @cached_property
    def precision(self) -> Array:
        """At each score; 0 while nothing is found."""
        return self.tp / np.maximum(self.retrieved, np.finfo(float).tiny)

    @cached_property
    def n_positive(self) -> Array:
        """Positives of each ranking; NaN where there are none, and so is what is divided by it."""
        return np.where(self.tp[:, -1] > 0, self.tp[:, -1], np.nan)

    @cached_property
    def n_negative(self) -> Array:
        return np.where(self.fp[:, -1] > 0, self.fp[:, -1], np.nan)


def _roc_auc(table: _Table) -> Array:
    won = np.einsum("rb,rb->r", table.negatives, table.tp - table.positives / 2)
    return np.asarray(won / (table.n_positive * table.n_negative))


def partial_areas(tp: Array, fp: Array, max_fpr: float) -> Array:
    """Give McClish's standardised partial area of R curves of counts at B scores, descending."""
    n_positive, n_negative = (np.where(one[:, -1:] > 0, one[:, -1:], np.nan) for one in (tp, fp))
    corner = np.zeros((len(tp), 1))
    recall = np.hstack([corner, tp / n_positive])
    rate = np.hstack([corner, fp / n_negative])
    low, high = (np.minimum(one, max_fpr) for one in (rate[:, :-1], rate[:, 1:]))
    width = np.diff(rate, axis=1)
    slope = np.divide(np.diff(recall, axis=1), width, out=np.zeros_like(width), where=width > 0)
    middle = recall[:, :-1] + slope * ((low + high) / 2 - rate[:, :-1])
    area = ((high - low) * np.where(high > low, middle, 0.0)).sum(axis=1)
    least = max_fpr**2 / 2
    return np.asarray((1 + (area - least) / (max_fpr - least)) / 2)


def partial_limit(name: str) -> float | None:
    """Read the highest false positive rate of a partial area from its name; None for others."""
    if not name.startswith("partial_auc"):
        return None
    return float(name.removeprefix("partial_auc").removeprefix("_") or DEFAULT_LIMIT)


def formula_of(name: str) -> Callable[[_Table], Array]:
    """Look up the formula of a measure, whose name may hold a limit."""
    limit = partial_limit(name)
    if limit is None:
        return FORMULAS[check_choice(name, FORMULAS, "names")]
    return lambda table: partial_areas(table.tp, table.fp, limit)


def _average_precision(table: _Table) -> Array:
    return np.asarray(np.einsum("rb,rb->r", table.positives, table.precision) / table.n_positive)


def _breakeven_point(table: _Table) -> Array:
    total = table.n_positive[:, None]
    recall = table.tp / total
    distance = np.where(table.tp > 0, np.abs(table.precision - recall), np.inf)
    distance = np.where(table.retrieved == total, -1.0, distance)
    mean = (table.precision + recall) / 2
    nearest = distance == distance.min(axis=1, keepdims=True)
    best = np.where(nearest, mean, -np.inf).max(axis=1)
    return np.where(np.isnan(table.n_positive), np.nan, best)


def _eleven_point(table: _Table) -> Array:
    best_from = np.maximum.accumulate(table.precision[:, ::-1], axis=1)[:, ::-1]
    scaled = (LEVELS - 1) * table.tp + RECALL_SLACK * table.tp[:, -1:]
    needed = np.arange(LEVELS) * table.tp[:, -1:]
    first = np.array([np.searchsorted(*pair) for pair in zip(scaled, needed, strict=True)])
    total = np.take_along_axis(best_from, first, axis=1).sum(axis=1)
    return np.where(np.isnan(table.n_positive), np.nan, total / LEVELS)


def _ks(table: _Table) -> Array:
    ahead = table.tp / table.n_positive[:, None] - table.fp / table.n_negative[:, None]
    return np.asarray(ahead.max(axis=1))


def _best_f1(table: _Table) -> Array:
    return np.asarray((2 * table.tp / (table.n_positive[:, None] + table.retrieved)).max(axis=1))


FORMULAS: dict[str, Callable[[_Table], Array]] = {
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
    "breakeven_point": _breakeven_point,
    "eleven_point_precision": _eleven_point,
    "ks": _ks,
    "best_f1": _best_f1,
}
