r"""What each example adds to the error of a measure of a ranking, to first order.

The influence of an example is the derivative of the measure by the example's weight, times that
weight.  The sum of the squares of the influences is the variance of the measure for many
independent examples; sums within groups serve for rows in groups, differences for two models,
products for the correlation of two classes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.tallies.placements import share_below
from truerisk.tallies.ranking_weights import partial_limit

WINDOW_POWER = 0.8  # of the positives: the usual rate at which a window for a density narrows


def ranking_influences(
    score: NDArray[Any], is_positive: Flags, weight: Array | None, names: Sequence[str]
) -> dict[str, Array]:
    r"""Give the influence of each example on each of the named measures.

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

    NaN where a class is missing.

    Parameters
    ----------
    score, is_positive, weight
        One entry per example; weights are 1 if not given.
    names
        Of roc_auc, average_precision, best_f1, ks, breakeven_point, eleven_point_precision.
    """
    weights = np.ones(len(score)) if weight is None else weight
    ranked = _Ranked.of(score, is_positive, weights)
    if min(ranked.n_positive, ranked.n_negative) <= 0:
        return {name: np.full(len(score), np.nan) for name in names}
    return {name: weights * influence_of(name)(ranked) for name in names}


@dataclass(frozen=True)
class _Ranked:
    """The rows, and the sums of weights at the distinct scores, descending."""

    score: Array
    is_positive: Flags
    weight: Array
    place: Indices  # of the row's score among the distinct ones
    positives: Array
    negatives: Array

    @classmethod
    def of(cls, score: NDArray[Any], is_positive: Flags, weight: Array) -> "_Ranked":
        column = score.astype(np.float64)
        distinct, ascending = np.unique(column, return_inverse=True)
        place = len(distinct) - 1 - ascending
        sums = [
            np.bincount(place[side], weights=weight[side], minlength=len(distinct)).astype(float)
            for side in (is_positive, ~is_positive)
        ]
        return cls(column, is_positive, weight, place, *sums)

    @cached_property
    def tp(self) -> Array:
        return np.cumsum(self.positives)

    @cached_property
    def fp(self) -> Array:
        return np.cumsum(self.negatives)

    @cached_property
    def retrieved(self) -> Array:
        return np.maximum(self.tp + self.fp, np.finfo(float).tiny)

    @cached_property
    def precision(self) -> Array:
        return self.tp / self.retrieved

    @property
    def n_positive(self) -> float:
        return float(self.tp[-1])

    @property
    def n_negative(self) -> float:
        return float(self.fp[-1])


def _placed(ranked: _Ranked) -> Array:
    """Give the share of the other class that each example is on the right side of."""
    positive = ranked.is_positive
    placed = np.empty(len(ranked.score))
    for rows in (positive, ~positive):
        placed[rows] = share_below(ranked.score[rows], ranked.score[~rows], ranked.weight[~rows])
    placed[~positive] = 1 - placed[~positive]
    return placed


def _auc(ranked: _Ranked) -> Array:
    positive, placed = ranked.is_positive, _placed(ranked)
    area = float(ranked.weight[positive] @ placed[positive]) / ranked.n_positive
    return np.asarray((placed - area) / np.where(positive, ranked.n_positive, ranked.n_negative))


def _partial_area(ranked: _Ranked, limit: float) -> Array:
    """Take c − U of the positives above the limit, U being the share of negatives above them."""
    positive = ranked.is_positive
    above = np.empty(len(ranked.score))
    for rows in (positive, ~positive):
        below = share_below(ranked.score[rows], ranked.score[~rows], ranked.weight[~rows])
        above[rows] = 1 - below
    placed = np.maximum(limit - above, 0.0)
    rank_of = share_below(
        ranked.score[~positive], ranked.score[~positive], ranked.weight[~positive]
    )
    inside = positive & (above < limit)
    at_limit = float(ranked.weight[inside].sum()) / ranked.n_positive
    # A negative takes the positives below it, down to the limit.
    taken = np.where(1 - rank_of < limit, np.maximum(at_limit - above[~positive], 0.0), 0.0)
    placed[~positive] = -taken
    for side in (positive, ~positive):
        placed[side] -= np.average(placed[side], weights=ranked.weight[side])
    scale = 2 * (limit - limit**2 / 2)
    return np.asarray(placed / np.where(positive, ranked.n_positive, ranked.n_negative) / scale)


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
            ranked = _Ranked.of(rows.score[among, one], positive, weight)
            placed = _placed(ranked)
            area = float(weight[positive] @ placed[positive]) / ranked.n_positive
            sizes = np.where(positive, ranked.n_positive, ranked.n_negative)
            total += area / pairs
            influence[among] += weight * (placed - area) / sizes / pairs
    return total, influence


def _average_precision(ranked: _Ranked) -> Array:
    value = float(ranked.positives @ ranked.precision) / ranked.n_positive
    each = ranked.positives / ranked.retrieved
    gained = np.cumsum((each * (1 - ranked.precision))[::-1])[::-1]
    lost = np.cumsum((each * ranked.precision)[::-1])[::-1]
    of_positives = (ranked.precision - value + gained)[ranked.place]
    influence = np.where(ranked.is_positive, of_positives, -lost[ranked.place])
    return np.asarray(influence / ranked.n_positive)


def _best_f1(ranked: _Ranked) -> Array:
    sizes = ranked.n_positive + ranked.retrieved
    f1 = 2 * ranked.tp / sizes
    at = int(np.argmax(f1))
    called = ranked.place <= at
    right, involved = ranked.is_positive & called, ranked.is_positive | called
    influence = np.where(right, 2.0, 0.0) - f1[at] * (involved.astype(float) + right)
    return np.asarray(influence / sizes[at])


def _ks(ranked: _Ranked) -> Array:
    recall, fall_out = ranked.tp / ranked.n_positive, ranked.fp / ranked.n_negative
    at = int(np.argmax(recall - fall_out))
    called = (ranked.place <= at).astype(float)
    of_positives = (called - recall[at]) / ranked.n_positive
    of_negatives = (fall_out[at] - called) / ranked.n_negative
    return np.asarray(np.where(ranked.is_positive, of_positives, of_negatives))


def _breakeven_point(ranked: _Ranked) -> Array:
    recall = ranked.tp / ranked.n_positive
    apart = np.where(ranked.tp > 0, np.abs(ranked.precision - recall), np.inf)
    at = int(np.argmin(apart))
    value = (ranked.precision[at] + recall[at]) / 2
    called, positive = ranked.place <= at, ranked.is_positive
    moved = _share_around(ranked, at) * (positive.astype(float) - called)
    influence = (positive & called) - value * positive + moved
    # They do not add up to 0 where ties leave precision and recall apart.
    centred = influence - np.average(influence, weights=ranked.weight)
    return np.asarray(centred / ranked.n_positive)


def _share_around(ranked: _Ranked, at: int) -> float:
    """Give the share of positives among the examples that score about as much as the threshold."""
    rows = np.count_nonzero(ranked.is_positive & (ranked.weight > 0))
    half = ranked.n_positive / rows ** (1 - WINDOW_POWER) / 2
    ends = np.concatenate([[0.0], ranked.tp + ranked.fp])
    middle = ends[at + 1]
    low, high = max(middle - half, 0.0), min(middle + half, float(ends[-1]))
    tp = np.interp([low, high], ends, np.concatenate([[0.0], ranked.tp]))
    return float((tp[1] - tp[0]) / (high - low))


INFLUENCES: dict[str, Callable[[_Ranked], Array]] = {
    "roc_auc": _auc,
    "average_precision": _average_precision,
    "best_f1": _best_f1,
    "ks": _ks,
    "breakeven_point": _breakeven_point,
    "eleven_point_precision": _average_precision,
}


def influence_of(name: str) -> Callable[[_Ranked], Array]:
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
