r"""A ranking by the weights of its rows: its measures under many weightings, and by each weight.

The influence of an example is the derivative of the measure by the example's weight, times that
weight.  The sum of the squares of the influences is the variance of the measure for many
independent examples; sums within groups serve for rows in groups, differences for two models,
products for the correlation of two classes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags, Indices
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
WINDOW_POWER = 0.8  # of the positives: the usual rate at which a window for a density narrows


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
        """Give the measures under each of (R, n) weightings of the rows.

        Examples
        --------
        >>> weights = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
        >>> SortedRows.of([3, 2, 1], [True, False, True]).values(weights, ["average_precision"])
        {'average_precision': array([0.83333333, 1.        ])}
        """
        formulas = {name: formula_of(name) for name in names}
        of_rows = weights[:, self.order]
        table = _Table(
            np.add.reduceat(np.where(self.positive, of_rows, 0.0), self.starts, axis=1),
            np.add.reduceat(np.where(self.positive, 0.0, of_rows), self.starts, axis=1),
        )
        return {name: formula(table) for name, formula in formulas.items()}


@dataclass(frozen=True)
class _Sums:
    """The weights of positives and negatives at the distinct scores, descending: the last axis."""

    positives: Array
    negatives: Array

    @cached_property
    def tp(self) -> Array:
        """The positives down to each score."""
        return np.cumsum(self.positives, axis=-1)

    @cached_property
    def fp(self) -> Array:
        """The negatives down to each score."""
        return np.cumsum(self.negatives, axis=-1)


@dataclass(frozen=True)
class _Table(_Sums):
    """The sums of R rankings at B scores; shape (R, B)."""

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


def share_below(scores: Array, others: Array, weight: Array | None = None) -> Array:
    """Give for each score the share of the others that lie under it, ties counting half."""
    order, sought = np.argsort(others), np.argsort(scores)
    under, up_to = np.empty_like(sought), np.empty_like(sought)
    # Sought in their order, neighbours are found in the cache: four times as fast.
    under[sought] = np.searchsorted(others[order], scores[sought], side="left")
    up_to[sought] = np.searchsorted(others[order], scores[sought], side="right")
    if weight is None:
        return np.asarray((under + up_to) / (2 * len(others)))
    passed = np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray((passed[under] + passed[up_to]) / (2 * passed[-1]))


def placements(score: Array, is_positive: Flags) -> Array:
    """Give the share of the other class that each example is on the right side of, ties half.

    NaN where a class is missing.

    Examples
    --------
    >>> placements(np.array([3.0, 2.0, 2.0]), np.array([True, True, False])).tolist()
    [1.0, 0.5, 0.75]
    """
    placed = np.full(len(score), np.nan)
    of_positives, of_negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    if not (of_positives.size and of_negatives.size):
        return placed
    # In their order, neighbours are found in the cache; and each class is sorted once.
    of_positives = of_positives[np.argsort(score[of_positives])]
    of_negatives = of_negatives[np.argsort(score[of_negatives])]
    positives, negatives = score[of_positives], score[of_negatives]
    under, up_to = (np.searchsorted(negatives, positives, side=side) for side in ("left", "right"))
    placed[of_positives] = (under + up_to) / (2 * len(negatives))
    under, up_to = (np.searchsorted(positives, negatives, side=side) for side in ("left", "right"))
    placed[of_negatives] = (2 * len(positives) - under - up_to) / (2 * len(positives))
    return placed


def ranking_influences(
    score: NDArray[Any], is_positive: Flags, weight: Array | None, name: str
) -> Array:
    r"""Give the influence of each example on a measure.

    With :math:`a_j` positives at the j-th highest score, :math:`k_j` examples found there,
    precision :math:`\pi_j`, P positives and N negatives in all, an example at score j adds

    .. math::
        AP: \quad & \frac{1}{P}\Bigl(\pi_j - AP + \sum_{i \ge j} \frac{a_i (1 - \pi_i)}{k_i}\Bigr)
        \text{ (positive)}, \qquad
        -\frac{1}{P} \sum_{i \ge j} \frac{a_i \pi_i}{k_i} \text{ (negative)}

    The best F1 and the Kolmogorov-Smirnov distance are taken at their threshold, which to first
    order does not matter to a maximum.  The breakeven point moves its threshold with the number of
    positives, at the share of positives around it.  The 11-point average takes the influences of
    the average precision: both are sums over one curve, and its own eleven points, which jump, have
    influences that are too small (size of a paired test at 0.05: 0.08 to 0.11 by its own, 0.02 to
    0.04 by these).

    NaN where a class is missing; weights are 1 if not given.
    """
    return RankedRows.of(score, is_positive, weight).influences(name)


@dataclass(frozen=True)
class RankedRows(_Sums):
    """The rows, and the sums of weights at the distinct scores, descending; sorted once."""

    score: Array
    is_positive: Flags
    weight: Array | None
    order: Indices  # of the rows, by their scores
    sizes: Indices | None  # rows at each distinct score; None if each has one

    @classmethod
    def of(cls, score: NDArray[Any], is_positive: Flags, weight: Array | None) -> "RankedRows":
        """Sort the rows; weights are 1 if not given."""
        column = score.astype(np.float64, copy=False)
        order = np.argsort(-column)
        ordered = column[order]
        is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
        in_order = is_positive[order]
        sums = [side.astype(np.float64) for side in (in_order, ~in_order)]
        if weight is not None:
            sums = [weight[order] * side for side in sums]
        sizes = None
        if not is_new.all():
            starts = np.flatnonzero(is_new)
            sums = [np.add.reduceat(one, starts) for one in sums]
            sizes = np.diff(starts, append=len(order))
        positives, negatives = sums
        return cls(positives, negatives, column, is_positive, weight, order, sizes)

    def influences(self, name: str) -> Array:
        """Give the influence of each row on a measure; NaN where a class is missing."""
        if not len(self.score) or min(self.n_positive, self.n_negative) <= 0:
            return np.full(len(self.score), np.nan)
        influences = influence_of(name)(self)
        return influences if self.weight is None else self.weight * influences

    def of_rows(self, of_positives: Array, of_negatives: Array) -> Array:
        """Give each row the value of its class at its score."""
        if self.sizes is not None:
            of_positives, of_negatives = (
                np.repeat(one, self.sizes) for one in (of_positives, of_negatives)
            )
        values = np.empty(len(self.order))
        values[self.order] = np.where(self.is_positive[self.order], of_positives, of_negatives)
        return values

    def called(self, at: int) -> Flags:
        """Return which rows score at least as much as a distinct score."""
        last = at if self.sizes is None else int(self.sizes[: at + 1].sum()) - 1
        return np.asarray(self.score >= self.score[self.order[last]])

    @cached_property
    def average_precision(self) -> Array:
        """What each row adds to the average precision, and to the 11-point average."""
        retrieved = self.retrieved
        precision, each = self.tp / retrieved, self.positives / retrieved
        value = float(self.positives @ precision) / self.n_positive
        gained = np.cumsum((each * (1 - precision))[::-1])[::-1]
        lost = np.cumsum((each * precision)[::-1])[::-1]
        return self.of_rows((precision - value + gained) / self.n_positive, -lost / self.n_positive)

    @property
    def top_negative(self) -> float:
        """What one more negative, above all others, would take from average precision.

        Σ a·tp/k² over the thresholds, over P, to first order; NaN without a positive.

        Examples
        --------
        >>> rows = np.array([3.0, 2.0, 1.0]), np.array([True, True, False])
        >>> RankedRows.of(*rows, None).top_negative  # (1 + 2/4)/2
        0.75
        """
        lost = float(self.positives @ (self.tp / self.retrieved**2))
        return lost / self.n_positive if self.n_positive else math.nan

    @property
    def retrieved(self) -> Array:
        """All examples down to each distinct score."""
        return np.maximum(self.tp + self.fp, np.finfo(float).tiny)

    @property
    def n_positive(self) -> float:
        """All positives."""
        return float(self.tp[-1])

    @property
    def n_negative(self) -> float:
        """All negatives."""
        return float(self.fp[-1])


def _placed(ranked: RankedRows) -> tuple[Array, Array]:
    """Give the share of the other class that a positive, and a negative, is on the right side of.

    Both at each distinct score.
    """
    above = (ranked.fp - ranked.negatives / 2) / ranked.n_negative
    return 1 - above, (ranked.tp - ranked.positives / 2) / ranked.n_positive


def _moved_auc(ranked: RankedRows) -> Array:
    placed_positives, placed_negatives = _placed(ranked)
    area = float(ranked.positives @ placed_positives) / ranked.n_positive
    return ranked.of_rows(
        (placed_positives - area) / ranked.n_positive, (placed_negatives - area) / ranked.n_negative
    )


def _partial_area(ranked: RankedRows, limit: float) -> Array:
    """Take c − U of the positives above the limit, U being the share of negatives above them."""
    placed_positives, above_negatives = _placed(ranked)
    above = 1 - placed_positives
    at_limit = float(ranked.positives[above < limit].sum()) / ranked.n_positive
    # A negative takes the positives below it, down to the limit.
    taken = np.where(above < limit, np.maximum(at_limit - above_negatives, 0.0), 0.0)
    sides = []
    for placed, sums in (
        (np.maximum(limit - above, 0.0), ranked.positives),
        (-taken, ranked.negatives),
    ):
        total = float(sums.sum())
        sides.append((placed - float(placed @ sums) / total) / total)
    return ranked.of_rows(*sides) / (2 * (limit - limit**2 / 2))


def pair_areas(rows: Any) -> tuple[float, Array]:
    """Give the mean area over pairs of classes (Hand and Till), and the influence of each row."""
    present = np.flatnonzero(rows.weights @ rows.truth > 0)
    influence, total, pairs = np.zeros(rows.n), 0.0, len(present) * (len(present) - 1)
    if pairs == 0:
        return np.nan, np.full(rows.n, np.nan)
    for one in present:
        for other in present[present != one]:
            among = (rows.truth[:, one] | rows.truth[:, other]) & (rows.weights > 0)
            positive, weight = rows.truth[among, one], rows.weights[among]
            ranked = RankedRows.of(rows.score[among, one], positive, weight)
            area = float(ranked.positives @ _placed(ranked)[0]) / ranked.n_positive
            total += area / pairs
            influence[among] += ranked.influences("roc_auc") / pairs
    return total, influence


def _moved_best_f1(ranked: RankedRows) -> Array:
    sizes = ranked.n_positive + ranked.retrieved
    f1 = 2 * ranked.tp / sizes
    at = int(np.argmax(f1))
    # Of positives and negatives, those that are called positive and those that are not.
    values = np.array([[0.0, -f1[at]], [-f1[at], 2 - 2 * f1[at]]]) / sizes[at]
    return _by_side(values, ranked, at)


def _moved_ks(ranked: RankedRows) -> Array:
    recall, fall_out = ranked.tp / ranked.n_positive, ranked.fp / ranked.n_negative
    at = int(np.argmax(recall - fall_out))
    of_negatives = np.array([fall_out[at], fall_out[at] - 1]) / ranked.n_negative
    of_positives = np.array([-recall[at], 1 - recall[at]]) / ranked.n_positive
    return _by_side(np.array([of_negatives, of_positives]), ranked, at)


def _by_side(values: Array, ranked: RankedRows, at: int) -> Array:
    """Give each row its entry of a 2 × 2 table: is it positive, is it called positive."""
    side = 2 * ranked.is_positive.astype(np.int8) + ranked.called(at)
    return np.asarray(np.take(values.ravel(), side))


def _moved_breakeven_point(ranked: RankedRows) -> Array:
    recall, precision = ranked.tp / ranked.n_positive, ranked.tp / ranked.retrieved
    apart = np.where(ranked.tp > 0, np.abs(precision - recall), np.inf)
    at = int(np.argmin(apart))
    value, share = (precision[at] + recall[at]) / 2, _share_around(ranked, at)
    influence = _by_side(np.array([[0.0, -share], [share - value, 1 - value]]), ranked, at)
    # They do not add up to 0 where ties leave precision and recall apart.
    centred = influence - np.average(influence, weights=ranked.weight)
    return np.asarray(centred / ranked.n_positive)


def _share_around(ranked: RankedRows, at: int) -> float:
    """Give the share of positives among the examples that score about as much as the threshold."""
    counted = ranked.is_positive
    if ranked.weight is not None:
        counted = counted & (ranked.weight > 0)
    rows = np.count_nonzero(counted)
    half = ranked.n_positive / rows ** (1 - WINDOW_POWER) / 2
    ends = np.concatenate([[0.0], ranked.tp + ranked.fp])
    middle = ends[at + 1]
    low, high = max(middle - half, 0.0), min(middle + half, float(ends[-1]))
    tp = np.interp([low, high], ends, np.concatenate([[0.0], ranked.tp]))
    return float((tp[1] - tp[0]) / (high - low))


INFLUENCES: dict[str, Callable[[RankedRows], Array]] = {
    "roc_auc": _moved_auc,
    "average_precision": lambda ranked: ranked.average_precision,
    "best_f1": _moved_best_f1,
    "ks": _moved_ks,
    "breakeven_point": _moved_breakeven_point,
    "eleven_point_precision": lambda ranked: ranked.average_precision,
}


def influence_of(name: str) -> Callable[[RankedRows], Array]:
    """Look up the influences of a measure, whose name may hold a limit."""
    limit = partial_limit(name)
    return INFLUENCES[name] if limit is None else lambda ranked: _partial_area(ranked, limit)


def mean_influences(values: Array, weight: Array) -> Array:
    r"""Give what each example adds to the error of a mean: :math:`w_i (x_i - \bar x) / \sum w`.

    Examples without a value add nothing.
    """
    defined = ~np.isnan(values)
    used = np.where(defined, weight, 0.0)
    total = float(used.sum())
    if total <= 0 or not np.isfinite(values[defined]).all():
        return np.full(len(values), np.nan)
    filled = np.where(defined, values, 0.0)
    return np.asarray(used * (filled - float(used @ filled) / total) / total)
