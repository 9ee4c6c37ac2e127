r"""A measure with each group of rows left out, and with each group counted twice.

Everything that is said of rows in groups rests on these values: intervals and paired differences
(`intervals/group_jackknife.py`).  Ratios and areas under the ROC curve have them in closed form;
other measures of a ranking are computed anew for each group, or, where that takes too long, taken
from the influences of the rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.tallies.cells import ratio
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import (
    SortedRows,
    ranking_influences,
    share_below,
    values_of,
)

MAX_EXACT = 2**21  # groups × rows of a ranking that is computed anew for each group
AT_ONCE = 2**17  # entries of a table (groups, rows)
ROUNDING = 1e-12  # of a sum of weights, what is left of it without all its terms


@dataclass(frozen=True)
class GroupValues:
    """The value of a measure, without each of G groups, and with each of them twice.

    `units` is the number of equal groups that would be as informative, by what the groups add to
    the denominator of the measure.
    """

    value: float
    without: Array
    twice: Array
    units: float

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.without)


def effective_groups(sizes: Array) -> float:
    r"""Give the number of equal groups that would be as informative as these (Kish).

    .. math:: \Bigl(\sum_g N_g\Bigr)^2 / \sum_g N_g^2
    """
    column = np.asarray(sizes, dtype=np.float64)
    total = math.fsum(column)
    return total**2 / math.fsum(column**2) if total > 0 else 0.0


def sums_of_groups(group: Indices, values: Array | None, groups: int = 0) -> Array:
    """Add up the values of the rows of each group, or count the rows; codes from 0 on."""
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64)


def ratio_values(top: Array, bottom: Array) -> GroupValues:
    r"""Give the values of a ratio of two sums: :math:`(S \mp S_g) / (N \mp N_g)`.

    Only groups that add to the denominator count.
    """
    taken = bottom > 0
    s, n = (np.asarray(part[taken], dtype=np.float64) for part in (top, bottom))
    total, size = math.fsum(s), math.fsum(n)
    return GroupValues(
        float(ratio(total, size)),
        np.asarray(ratio(total - s, _rest(size, n))),
        np.asarray(ratio(total + s, size + n)),
        effective_groups(n),
    )


def _rest(total: float, parts: Array) -> Array:
    """Take each part off the total; what rounding leaves of nothing is nothing."""
    left: Array = np.where(total - parts > ROUNDING * total, total - parts, 0.0)
    return left


def area_values(
    score: NDArray[Any], is_positive: Flags, group: Indices, weight: Array | None = None
) -> GroupValues:
    """Give the values of the area under the ROC curve without, and with twice, each group.

    With r and c the pairs that the group's positives win and its negatives lose, w those within it
    and M all pairs won: (M − r − c + w)/((P − P_g)(N − N_g)) and (M + r + c + w)/((P + P_g)(N +
    N_g)).
    """
    groups = int(group.max()) + 1
    weights = np.ones(len(score)) if weight is None else weight
    column = score.astype(np.float64)
    sizes = [
        sums_of_groups(group[side], weights[side], groups) for side in (is_positive, ~is_positive)
    ]
    positives, negatives = (math.fsum(one) for one in sizes)
    units = min(effective_groups(one) for one in sizes)
    if min(positives, negatives) <= 0:
        nothing = np.full(groups, np.nan)
        return GroupValues(math.nan, nothing, nothing, units)
    up, down = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    beaten = share_below(column[up], column[down], weights[down]) * negatives
    beaten_by = (1 - share_below(column[down], column[up], weights[up])) * positives
    won = sums_of_groups(group[up], weights[up] * beaten, groups)
    lost = sums_of_groups(group[down], weights[down] * beaten_by, groups)
    inside = _won_inside(column, up, down, group, weights)
    total = math.fsum(won)
    rest = _rest(positives, sizes[0]) * _rest(negatives, sizes[1])
    doubled = (positives + sizes[0]) * (negatives + sizes[1])
    return GroupValues(
        min(total / (positives * negatives), 1.0),
        np.clip(ratio(total - won - lost + inside, rest), 0.0, 1.0),
        np.clip((total + won + lost + inside) / doubled, 0.0, 1.0),
        units,
    )


def _won_inside(column: Array, up: Indices, down: Indices, group: Indices, weights: Array) -> Array:
    """Add up the pairs that are won within each group: one sort by group and score for all."""
    distinct, place = np.unique(column, return_inverse=True)
    start = group.astype(np.int64) * len(distinct)
    key = start + place
    order = np.argsort(key[down])
    sorted_keys = key[down][order]
    passed = np.concatenate([[0.0], np.cumsum(weights[down][order])])
    below = passed[np.searchsorted(sorted_keys, key[up], side="left")]
    up_to = passed[np.searchsorted(sorted_keys, key[up], side="right")]
    before = passed[np.searchsorted(sorted_keys, start[up], side="left")]
    won = weights[up] * ((below + up_to) / 2 - before)
    return sums_of_groups(group[up], won, int(group.max()) + 1)


def ranking_values(
    score: NDArray[Any], is_positive: Flags, group: Indices, weight: Array | None, name: str
) -> GroupValues:
    """Give the values of another measure of a ranking: exact, or to first order.

    It is computed anew for each group up to `MAX_EXACT` groups × rows.  Beyond, a group moves the
    value by the sum of the influences of its rows over the share of the other rows.
    """
    groups = int(group.max()) + 1
    weights = np.ones(len(score)) if weight is None else weight
    units = [
        effective_groups(sums_of_groups(group[side], weights[side], groups))
        for side in (is_positive, ~is_positive)
    ]
    value = values_of(rank(score, is_positive, weight), name)
    if groups * len(score) <= MAX_EXACT:
        rows, step = SortedRows.of(score, is_positive), max(1, AT_ONCE // len(score))
        blocks = [np.arange(groups)[at : at + step, None] for at in range(0, groups, step)]

        def counted(times: float) -> Array:
            """Count the rows of each group so many times more."""
            parts = (rows.values(weights * (1 + times * (group == one)), [name]) for one in blocks)
            return np.concatenate([part[name] for part in parts])

        without, twice = counted(-1.0), counted(1.0)
    else:
        shares = sums_of_groups(group, weights) / weights.sum()
        moved = sums_of_groups(group, ranking_influences(score, is_positive, weights, name))
        of_sums = values_of(rank(score, is_positive, weights), name)
        without, twice = of_sums - moved / (1 - shares), of_sums + moved / (1 + shares)
    return GroupValues(value, without, twice, min(units) if name == "ks" else units[0])


def mean_of_classes(each: Sequence[GroupValues], support: Array | None = None) -> GroupValues:
    """Average over classes: evenly, or by `support` (classes × groups), which groups change.

    A class in which the value is undefined is left out.
    """
    sizes = np.ones((len(each), 1)) if support is None else support
    change = np.zeros((1, 1)) if support is None else support
    total = sizes.sum(axis=1, keepdims=True)

    def mean(values: Array, weights: Array) -> Array:
        taken = ~np.isnan(values) & (weights > 0)
        used = np.where(taken, weights, 0.0)
        return np.asarray(
            ratio((used * np.where(taken, values, 0.0)).sum(axis=0), used.sum(axis=0))
        )

    defined = [one.units for one in each if not math.isnan(one.value)]
    return GroupValues(
        float(mean(np.array([[one.value] for one in each]), total)[0]),
        mean(np.array([one.without for one in each]), total - change),
        mean(np.array([one.twice for one in each]), total + change),
        min(defined, default=0.0),
    )
