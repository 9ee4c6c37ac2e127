r"""Intervals of ranking measures, from the curve of exact counts: nothing is drawn.

Notation  P positives and N negatives; π the precision at a score; AP the average precision
Share     Wilson's interval of the value as a share of m = x(1 − x)/V units, with Student's quantile
          at the rarer class, x = (c P + ½)/(P + 1); V is at least a part of that of a share of P
V         the variance of AP by its influence function (`ranking.precision_spread`); for maxima over
          thresholds that of the counts at the chosen one, with the hull of an interval that is
          moved down by half a standard error: the maximum lies above what the threshold keeps

With weights, P and N are those of equal weight, and V adds up squared weights.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from truerisk.aliases import Array, Ends
from truerisk.intervals.binomial import confidence_curve, curve_interval, fractional_interval
from truerisk.intervals.distributions import hull, normal_quantile, score_ends, size_of, two_sided_t
from truerisk.results import Finding, Interval
from truerisk.tallies.ranking import (
    LEVELS,
    RECALL_SLACK,
    Ranking,
    interpolated_precision,
    sum_of_products,
)
from truerisk.tallies.ranking_weights import partial_limit

PART_OF_SHARE, PART_OF_ELEVEN = 1 / 4, 1 / 3  # of the variance of a share of P: V is no less
UNSEEN = 1 / 8  # of a negative at the very top, which a good ranking of few does not show
LAST_POSITIVES = 3  # how far precision falls over these is what the last level of recall may miss
MOVED = 0.5  # standard errors that a chosen threshold may flatter
MAX_BIAS = 0.15  # of the distance to the lower end, of the average precision of several classes
MIN_POOLED_AREA = 0.7  # of all pairs of examples and classes, for the 11-point micro average
CHOSEN = "chosen_threshold"
MIN_POSITIVES = 5  # with fewer the interval of the best F1 was seen to cover .84 to .89


def units_of(ranking: Ranking) -> tuple[float, float]:
    """Give the independent positives and negatives behind a ranking."""
    worth = ranking.effective_n / ranking.n
    return ranking.rows[0] * worth, ranking.rows[1] * worth


def ranking_interval(name: str, value: float, ranking: Ranking, *, level: float) -> Interval:
    """Give the interval of a ranking measure of independent rows, by its name.

    The whole range where a class is missing: such rows say nothing of a ranking.  A measure that
    has no formula here gets the exact interval that it would have as a share of the positives.
    """
    if 0 in ranking.rows or math.isnan(value):
        return Interval(0.0, 1.0, level, "whole_range")
    limit = partial_limit(name)
    # Sums of weights may leave the value of a perfect ranking a rounding above 1.
    capped = min(value, 1.0)
    if limit is not None:
        ends, method = partial_auc_ends(capped, ranking, level, limit), "partial_placements"
    elif name in RANKINGS:
        form, method = RANKINGS[name]
        ends = form(capped, ranking, level)
    else:
        positives, _ = units_of(ranking)
        binomial = fractional_interval(capped * positives, positives, level=level)
        return replace(binomial, method="binomial_of_positives")
    return Interval(max(min(ends[0], value), 0.0), max(min(ends[1], 1.0), value), level, method)


def shortfalls(name: str, ranking: Ranking) -> tuple[Finding, ...]:
    """Say where a promise is not kept at this size, or is about this size only."""
    if name == "best_f1" and 0 < ranking.rows[0] < MIN_POSITIVES:
        text = (
            f"the promise is not kept at this size: with under {MIN_POSITIVES} positives (here "
            f"{ranking.rows[0]}) a 95 % interval of the best F1 was seen to cover .84 to .89"
        )
        return (Finding(text, code="not_kept_at_this_size"),)
    if name == "eleven_point_precision" and 0 not in ranking.rows:
        text = "about the 11-point average of samples of this size, not of all examples"
        return (Finding(text, code="target_at_this_size"),)
    return ()


def _share(
    centre: float, variance: float, positives: float, quantile: float, part: float = PART_OF_SHARE
) -> Ends:
    inside = (centre * positives + 0.5) / (positives + 1)
    spread = inside * (1 - inside)
    variance = max(variance, part * spread / (positives + 1))
    return score_ends(centre, size_of(inside, variance), quantile)


def _quantile(ranking: Ranking, level: float) -> float:
    return two_sided_t(min(units_of(ranking)) - 1, level)


def average_precision_ends(value: float, ranking: Ranking, level: float) -> Ends:
    r"""Give the interval of the average precision that many examples would have.

    .. math:: V = \frac{1}{P^2} \Bigl(\sum_{+} (\pi - AP + U)^2 + \sum_{-} D^2\Bigr)

    with U and D what a further positive or negative at that score gives to, and takes from, the
    positives below.  δ is what one more negative at the very top would take away: the lower end is
    that of V + δ²/8, but not more than δ below that of V.
    """
    positives, _ = units_of(ranking)
    quantile = _quantile(ranking, level)
    variance, top = ranking.summary.precision_spread
    low, high = _share(value, variance, positives, quantile)
    deeper, _ = _share(value, variance + UNSEEN * top**2, positives, quantile)
    return max(deeper, low - top, 0.0), high


def precision_bias(ranking: Ranking) -> float:
    r"""Give by how much the average precision of these examples is too high, on the average.

    Each positive counts itself among the k examples down to its score, of which π are positive, and
    is one of them for certain:

    .. math:: b = \frac{1}{P} \sum_{+} \frac{1 - \pi}{k}

    One class hides it in its noise.  A mean over classes does not: their noise averages out.

    Examples
    --------
    >>> from truerisk.tallies.ranking import rank
    >>> scores, is_positive = np.array([3.0, 2.0, 1.0]), np.array([False, True, True])
    >>> precision_bias(rank(scores, is_positive))  # ½(½ · ½ + ⅓ · ⅓)
    0.1805...
    """
    retrieved = ranking.tp + ranking.fp
    each = np.diff(ranking.tp, prepend=0) * ranking.fp / retrieved.astype(float) ** 2
    return float(each.sum()) / ranking.n_positive


def bias_shortfalls(bias: float, below: float) -> tuple[Finding, ...]:
    """Say where the bias of an average of average precisions is much of what lies below it."""
    if bias <= MAX_BIAS * below:
        return ()
    text = (
        f"the promise is not kept at this size: each positive counts itself, which makes the "
        f"average too high by about {bias:.3f}; a 95 % interval was seen to cover .80 to .95"
    )
    return (Finding(text, code="not_kept_at_this_size"),)


def pooled_shortfalls(name: str, ranking: Ranking) -> tuple[Finding, ...]:
    """Say where the promise of a micro average is not kept, or is about this size only."""
    if name != "eleven_point_precision" or 0 in ranking.rows:
        return ()
    if ranking.summary.auc >= MIN_POOLED_AREA:
        return shortfalls(name, ranking)
    text = (
        f"the promise is not kept where pairs of examples and classes are hardly told apart (an "
        f"area under {MIN_POOLED_AREA:g}): a 95 % interval was seen to cover .62 to .99"
    )
    return (Finding(text, code="not_kept_at_this_size"),)


def eleven_point_ends(value: float, ranking: Ranking, level: float) -> Ends:
    """Give the interval of the 11-point average that samples of this size have in the mean.

    The hull about it and about the average precision, with the fall of the precision over the last
    positives added to the variance.
    """
    positives, _ = units_of(ranking)
    quantile = _quantile(ranking, level)
    best = interpolated_precision(ranking.tp, ranking.fp)
    unit = ranking.n_positive / ranking.rows[0]
    before_last = max(ranking.n_positive - LAST_POSITIVES * unit, unit)
    needed = np.array([before_last, ranking.n_positive]) * (1 - RECALL_SLACK)
    first, last = best[np.searchsorted(ranking.tp, needed)]
    fall = float(first - last)
    variance = ranking.summary.precision_spread[0] + (fall / LEVELS) ** 2
    centres = value, min(ranking.summary.average_precision, 1.0)
    ends = (_share(one, variance, positives, quantile, PART_OF_ELEVEN) for one in centres)
    return hull(value, *ends)


def best_f1_ends(value: float, ranking: Ranking, level: float) -> Ends:
    r"""Give the interval of the best F1, and of the F1 that its threshold will have.

    At that threshold J = TP/u, u = TP + FP + FN, is a share; F1 = 2J/(1 + J).  Hull of Wilson's
    intervals at J and at the J of half a standard error less.
    """
    tp, fp = _counts_at(ranking, ranking.summary.best_f1_threshold)
    worth = ranking.effective_n / (ranking.n_positive + ranking.n_negative)
    size = (ranking.n_positive + fp) * worth
    share = tp / (ranking.n_positive + fp)
    variance = max(share * (1 - share), 0.5 / size) / size
    moved = max(value - MOVED * 2 / (1 + share) ** 2 * math.sqrt(variance), 0.0)
    quantile = two_sided_t(size - 1, level)
    inner = [score_ends(one / (2 - one), size, quantile) for one in (value, moved)]
    return hull(value, *((2 * low / (1 + low), 2 * high / (1 + high)) for low, high in inner))


def best_f1_at_prior(value: float, ranking: Ranking, *, level: float) -> Interval:
    """Give the interval of the best F1 at a prior: that of its threshold, half an error lower."""
    if 0 in ranking.rows or math.isnan(value):
        return Interval(0.0, 1.0, level, "whole_range")
    tp, fp = _counts_at(ranking, ranking.summary.best_f1_threshold)
    rows, sums = np.array(ranking.rows), np.array([ranking.n_positive, ranking.n_negative])
    right = np.array([tp, ranking.n_negative - fp]) / sums * rows
    shares = confidence_curve(right, rows, level=level)

    def f1(parts: Array) -> Array:
        called_right, wrong = parts[..., 0] * sums[0], (1 - parts[..., 1]) * sums[1]
        return np.asarray(2 * called_right / (sums[0] + called_right + wrong))

    ends = curve_interval(f1, shares, value, level=level)
    error = (value - ends.low) / -float(normal_quantile((1 - level) / 2))
    return replace(ends, low=max(ends.low - MOVED * error, 0.0), method=CHOSEN)


def ks_ends(value: float, ranking: Ranking, level: float) -> Ends:
    """Give the interval of the greatest distance, and of that which its threshold will keep.

    Recall and false positive rate at the threshold are two shares, each with half an example more
    on either side; hull of Wilson's intervals of (1 + D)/2 at D and at half a standard error less.
    It holds 0 where scores without information would come as far, by Smirnov's one-sided limit
    P(D √(PN/(P + N)) > c) = exp(−2c²).
    """
    tp, fp = _counts_at(ranking, ranking.summary.ks_threshold)
    variance = 0.0
    for share, size in zip(
        (tp / ranking.n_positive, fp / ranking.n_negative), units_of(ranking), strict=True
    ):
        inside = (share * size + 0.5) / (size + 1)
        variance += inside * (1 - inside) / size
    quantile, n = _quantile(ranking, level), sum(units_of(ranking))
    ends = []
    for one in (value, max(value - MOVED * math.sqrt(variance), 0.0)):
        half = (1 + one) / 2
        inside = min(half, 1 - 0.5 / n)
        low, high = score_ends(half, size_of(inside, variance / 4), quantile)
        ends.append((2 * low - 1, 2 * high - 1))
    low, high = hull(value, *ends)
    # Scores that say nothing have a distance too: up to Smirnov's quantile, 0 is not excluded.
    positives, negatives = units_of(ranking)
    beyond = value * math.sqrt(positives * negatives / (positives + negatives))
    says_nothing = beyond <= math.sqrt(-math.log(1 - level) / 2)
    return 0.0 if says_nothing else max(low, 0.0), high


def partial_auc_ends(value: float, ranking: Ranking, level: float, limit: float) -> Ends:
    r"""Give the interval of a standardised partial area, up to the false positive rate c.

    With U the share of negatives above a positive and T that of positives above a negative,

    .. math:: V = \frac{1}{(2c - c^2)^2} \Bigl(\frac{\operatorname{var}_+ (c - U)^+}{P} +
       \frac{\operatorname{var}_- (T_c - T)^+}{N}\Bigr)

    T_c being the recall at c.  Wilson's interval of a share that varies as much, at the rarer of
    the positives and the negatives above the limit.
    """
    positives, negatives = np.diff(ranking.tp, prepend=0), np.diff(ranking.fp, prepend=0)
    above = (ranking.fp - negatives / 2) / ranking.n_negative
    recall = (ranking.tp - positives / 2) / ranking.n_positive
    inside = above < limit
    at_limit = float(positives[inside].sum()) / ranking.n_positive
    variance = 0.0
    for of, count, moved in (
        (ranking.n_positive, positives, np.maximum(limit - above, 0.0)),
        (ranking.n_negative, negatives, np.where(inside, np.maximum(at_limit - recall, 0.0), 0.0)),
    ):
        mean = sum_of_products(count, moved) / of
        units = of * ranking.effective_n / (ranking.n_positive + ranking.n_negative)
        variance += sum_of_products(count, (moved - mean) ** 2) / of / max(units, 1.0)
    rows = units_of(ranking)
    variance /= (2 * limit - limit**2) ** 2
    units = min(rows[0], max(limit * rows[1], 2.0))
    return _share(value, variance, units, two_sided_t(units - 1, level))


def breakeven_ends(value: float, ranking: Ranking, level: float) -> Ends:
    r"""Give the interval of the point at which precision and recall meet.

    There P rows are retrieved.  The threshold moves with the sample, and what that does depends on
    the share w of positives among the rows about rank P (√P on either side, one more of each):

    .. math:: V = (1-w)^2 \frac{B(1-B)}{P} + w^2 \Bigl(\frac{N}{P}\Bigr)^2 \frac{F(1-F)}{N}
       + w^2 (1-B)^2 \Bigl(\frac1P + \frac1N\Bigr), \qquad F = (1 - B) \frac{P}{N}
    """
    positives, negatives = units_of(ranking)
    inside = (value * positives + 0.5) / (positives + 1)
    # At a prior, or with weights, negatives count other than the rows that they are.
    ratio = ranking.n_negative / ranking.n_positive
    rate = min((1 - inside) / ratio, 1.0)
    local = _positives_about(ranking, positives)
    variance = (1 - local) ** 2 * inside * (1 - inside) / positives
    variance += (local * ratio) ** 2 * rate * (1 - rate) / negatives
    variance += local**2 * (1 - inside) ** 2 * (1 / positives + 1 / negatives)
    return _share(value, variance, positives, _quantile(ranking, level))


def _positives_about(ranking: Ranking, positives: float) -> float:
    """Give the share of positives among the rows ranked about the breakeven point."""
    retrieved = ranking.tp + ranking.fp
    middle, reach = ranking.n_positive, ranking.n_positive / math.sqrt(positives)
    first = int(np.searchsorted(retrieved, middle - reach))
    last = min(int(np.searchsorted(retrieved, middle + reach)), len(retrieved) - 1)
    above = (ranking.tp[first - 1], retrieved[first - 1]) if first > 0 else (0, 0)
    unit = ranking.n_positive / positives
    hits, rows = ranking.tp[last] - above[0], retrieved[last] - above[1]
    return float((hits / unit + 1) / (rows / unit + 2))


def _counts_at(ranking: Ranking, threshold: float) -> tuple[float, float]:
    """Give the positives and negatives at one of the thresholds, which are descending."""
    at = int(np.searchsorted(-ranking.thresholds, -threshold))
    return float(ranking.tp[at]), float(ranking.fp[at])


RANKINGS: dict[str, tuple[Callable[[float, Ranking, float], Ends], str]] = {
    "average_precision": (average_precision_ends, "precision_influence"),
    "eleven_point_precision": (eleven_point_ends, "precision_influence"),
    "best_f1": (best_f1_ends, CHOSEN),
    "ks": (ks_ends, CHOSEN),
    "breakeven_point": (breakeven_ends, "moving_threshold"),
}
