"""Which interval an estimate gets: the one place where that is decided.

======================  ====================================  ====================================
measure                 independent examples                  weights, or votes of several refits on
                                                              each example
======================  ====================================  ====================================
k of n                  `proportion_interval`: exact          exact binomial at the effective size
                        binomial
averages over classes   `class_average`: shares of the        weights: the same, at effective sizes;
                        classes (`class_averages.py`)         votes: `cell_interval`
any other of counts     `cell_interval`: delta method on      the same, with robust variance
                        smoothed cells, logit scale
area under the ROC      `auc_interval`: DeLong, logit scale   weighted variance
curve
other rankings          `rankings.ranking_interval`:          the same, by squared weights
                        influence of the rows
their averages          `average_interval`: errors of the     the same
                        classes by their correlation
their micro average     `pooled_interval`: binomial           the same
losses                  `means.loss_interval`: gamma          weighted sums
documents               `mean_interval`: normal on the        weighted sums
                        logit scale; else KL bound
refits: k of n                                                `refit_proportion`,
refits: other counts                                          `refit_measure`,
refits: AUC                                                   `refit_auc`: variance components
refits: other scores                                          `stretched_interval`: as long as their
                                                              disagreement makes it
======================  ====================================  ====================================

Rows in groups, weighted or not, get `group_jackknife` for every measure; votes of refits on them
the same, stretched by their variance components (`group_interval`).

On request, a measure of counts gets the delta method, smoothed or plain, a bootstrap of the cells,
of all at once or within the classes, or the posterior of the cells (`CELL_METHODS`); where one of
these degenerates, the smoothed delta method takes its place.  Differences of two models are in
`comparison/predictions/paired_measures.py`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Ends, Flags
from truerisk.intervals.auc import delong_interval, hanley_mcneil_standard_error
from truerisk.intervals.binomial import binomial_interval, fractional_interval
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.cell_sample import HALF_A_UNIT, CellSample, Function
from truerisk.intervals.class_averages import (
    BY_FORMULA,
    macro_interval,
    micro_interval,
    specificity_interval,
    weighted_interval,
)
from truerisk.intervals.delta import STEP, delta_ends, delta_interval, student_factor
from truerisk.intervals.group_jackknife import group_jackknife
from truerisk.intervals.rankings import PART_OF_SHARE, UNSEEN, units_of
from truerisk.intervals.replicates import replicate_interval, replicates_for
from truerisk.intervals.variance_components import (
    FEW_OF_A_CLASS,
    OTHER,
    RefitQuestion,
    Rule,
    few_of,
)
from truerisk.results import Interval, RefitInterval
from truerisk.tallies.cells import BinaryCounts, Cells, Proportion
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.scored_rows import ScoredRows

NO_SPREAD = 1e-9  # a standard error this small is rounding, where all groups are alike
MAX_UNDEFINED = 0.5  # of the replicates; beyond it, or with one infinite, they say little
CHANCE = 0.5  # the area of a ranking by chance
FEW_POSITIVES = 10  # with fewer, an average precision has a least variance
MAX_MOVE = 0.5  # of the distance to the lower end: what an unseen negative at the top adds to it
STRATIFIED = "stratified_"  # before the name of a bootstrap within the classes
ROUNDING = 1e-7  # of a standard error that is the root of a difference


def whole_range(level: float, measure_range: Ends = (0.0, 1.0)) -> Interval:
    """Give the interval of a value of which the examples say nothing."""
    return Interval(*measure_range, level, "whole_range")


def proportion_interval(
    sample: CellSample, function: Callable[[NDArray[Any]], Proportion], *, level: float, method: str
) -> Interval:
    """Give the interval of a measure that is k of n, through its monotone transform.

    With weights the binomial is taken at the effective size m = p(1 − p)/se², the size at which
    independent examples would vary as much (Korn and Graubard, 1998).
    """
    proportion = function(sample.features)
    if sample.jackknifed:
        return _proportion_of_groups(sample, function, OTHER, level)
    if sample.independent:
        inner = binomial_interval(
            int(np.rint(proportion.k)), int(np.rint(proportion.n)), level=level, method=method
        )
    else:
        inner = _effective_binomial(sample, function, level)
    low, high = proportion.between(inner.low, inner.high)
    return replace(inner, low=float(low), high=float(high))


def _proportion_of_groups(
    sample: CellSample, function: Callable[[NDArray[Any]], Proportion], rule: Rule, level: float
) -> Interval:
    low, high = function(sample.features).between(0.0, 1.0)
    return group_interval(
        sample,
        lambda features: function(features).value,
        lambda features: function(features).n,
        rule=rule,
        level=level,
        measure_range=(float(low), float(high)),
    )


def group_interval(
    sample: CellSample,
    function: Function,
    size: Callable[[NDArray[Any]], Any] | None = None,
    *,
    rule: Rule = OTHER,
    level: float,
    measure_range: Ends,
) -> Interval:
    """Give the interval of a measure of rows in groups: the jackknife over groups.

    Of refits it is that of their mean votes, longer by what refits disagree and err together.
    `size` is the denominator of a proportion.
    """
    values = sample.group_values(function, size)
    if not sample.clustered:
        return group_jackknife(values, level=level, measure_range=measure_range)
    parts = sample.components(sample.gradient(function))
    interval = group_jackknife(
        values, level=level, measure_range=measure_range, stretch=parts.stretch(rule)
    )
    return parts.of_groups(interval, rule)


def _effective_binomial(
    sample: CellSample, function: Callable[[NDArray[Any]], Proportion], level: float
) -> Interval:
    value = float(function(sample.features).share)
    if np.isnan(value):
        return Interval(0.0, 1.0, level, "undefined")
    most = sample.worth(lambda features: function(features).n)
    size = most
    if sample.clustered:
        size = float(function(sample.features).n) / sample.unit
    error = 0.0
    if 0 < value < 1:
        gradient = sample.gradient(lambda features: function(features).share)
        error = sample.standard_error(gradient) * sample.widening(level)
    if error > NO_SPREAD:
        # Weights and refits under which the share varies *less* than among as many independent
        # examples are luck more often than structure.
        size = min(value * (1 - value) / error**2, most)
    interval = fractional_interval(value * size, size, level=level)
    return replace(interval, method=f"{sample.kind or 'effective_'}binomial")


def class_average(
    cells: Cells, base: str, average: str, taken: Flags, over: Flags | None, *, level: float
) -> Interval | None:
    """Give the interval of an average over the classes `taken`, in which the measure is defined.

    None for a measure that has no formula of its own.  `over` are the classes that were requested.
    """
    if base not in BY_FORMULA:
        return None
    if average == "micro" or (average == "weighted" and base == "recall"):
        return micro_interval(cells, base, over, level=level)
    if base == "specificity":
        support = cells.by_class(cells.totals)[1] if average == "weighted" else 1.0
        weights = np.where(taken, support, 0.0)
        return specificity_interval(cells, taken, weights / weights.sum(), level=level)
    by_rows = average == "weighted"
    return (weighted_interval if by_rows else macro_interval)(cells, base, taken, level=level)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A measure of cells, its value, and the interval that is wanted for it."""

    sample: CellSample
    function: Function
    value: float
    measure_range: Ends
    level: float
    method: str
    replicates: int
    rng: Callable[[], np.random.Generator]


def cell_interval(question: Question) -> Interval:
    """Give the interval of a measure that is no proportion.

    It is never degenerate, lies inside the range and contains the value.
    """
    if np.isnan(question.value):
        return Interval(*question.measure_range, question.level, "undefined")
    if question.sample.jackknifed:
        return _measure_of_groups(question)
    interval = None
    if np.isfinite(question.value):
        interval = CELL_METHODS[question.method](question)
    if interval is None or interval.width == 0:
        interval = smoothed_delta(question)
    if interval.width == 0:  # nothing varies but the rounding: the examples say nothing of it
        interval = whole_range(question.level, question.measure_range)
    return replace(
        interval,
        method=_named(question.sample.kind, interval.method),
        low=min(interval.low, question.value),
        high=max(interval.high, question.value),
    )


def _measure_of_groups(question: Question) -> Interval:
    return group_interval(
        question.sample,
        question.function,
        level=question.level,
        measure_range=question.measure_range,
    )


def _named(kind: str, method: str) -> str:
    return method if not kind else kind + method.removeprefix("smoothed_")


def smoothed_delta(question: Question) -> Interval:
    r"""Take the delta method, on the logit scale, of the cells with half a unit added.

    Every class that occurs in the truth is given half an example that is right and half an example
    that is wrong: for two classes Jeffreys' prior on recall and on specificity.  The variance is
    that of the smoothed cells, a class of which all five examples are right is not taken to
    be always right.  The centre is that of the cells with two such examples at most in all: half
    an example for each of fifty classes would move it further than it varies.

    Measured at 95 % with n = 50 to 1000 and 2 to 30 classes (MCC, κ, G-mean, F2, cost): 0.90 to 1,
    where the plain delta method falls to 0.69.
    """
    smooth = question.sample.smoothed
    error = smooth.standard_error(smooth.gradient(question.function)) * smooth.widening(
        question.level
    )
    centre = float(question.function(question.sample.centre()))
    if np.isfinite(question.value):
        # What smoothing does to single classes adds up over many of them while their errors
        # cancel: two classes are moved in full, K of them by √(2/K) of that.
        centre = question.value + (centre - question.value) * np.sqrt(2 / question.sample.classes)
    low, high = _smoothed_ends(
        centre,
        error,
        lambda: question.function(smooth.features),
        measure_range=question.measure_range,
        level=question.level,
    )
    return smoothed_interval(float(low), float(high), question.measure_range, question.level)


def smoothed_interval(low: float, high: float, measure_range: Ends, level: float) -> Interval:
    """Name an interval by what it is."""
    if (low, high) == measure_range:
        return whole_range(level, measure_range)
    return Interval(low, high, level, "smoothed_delta")


def _smoothed_ends(
    centre: Any,
    error: Any,
    inner: Callable[[], Any],
    *,
    measure_range: Ends,
    level: float,
) -> tuple[Array, Array]:
    """Give the ends about centres; `inner` gives the values of the smoothed cells themselves."""

    def about(value: Any) -> list[Array]:
        ends = delta_ends(value, error, measure_range=measure_range, level=level)
        return [
            np.where(np.isnan(end), whole, end)
            for end, whole in zip(ends, measure_range, strict=True)
        ]

    low, high = measure_range
    lows, highs = about(centre)
    near = np.minimum(centre - low, high - centre) < error
    if not np.any(near):
        return lows, highs
    # So near an end, the logit stretches a centre that is moved less than its spread over the
    # whole range; the side away from the end is that of the smoothed cells themselves.
    inner_lows, inner_highs = about(inner())
    upper = near & (high - centre < centre - low)
    lows = np.where(upper, np.maximum(lows, np.minimum(inner_lows, centre)), lows)
    highs = np.where(near & ~upper, np.minimum(highs, np.maximum(inner_highs, centre)), highs)
    return lows, highs


def smoothed_deltas(
    function: Callable[[BinaryCounts], Any],
    counts: BinaryCounts,
    prior: BinaryCounts,
    *,
    measure_range: Ends,
    level: float,
) -> tuple[Array, Array]:
    """Give the intervals of `smoothed_delta` for each of many classes, of independent examples.

    `prior` counts the cells that smoothing may add to, of each class.
    """
    names = ("tp", "fp", "fn", "tn")
    totals = {name: np.asarray(getattr(counts, name), dtype=np.float64) for name in names}
    smooth = {
        name: totals[name] + np.where(getattr(prior, name) > 0, HALF_A_UNIT, 0.0) for name in names
    }
    with np.errstate(all="ignore"):
        variance = np.zeros(len(counts.tp))
        for name in names:
            stepped = BinaryCounts(**(smooth | {name: smooth[name] + 1j * STEP}))
            slope = np.imag(function(stepped)) / STEP
            variance += np.where(smooth[name] > 0, smooth[name] * slope**2, 0.0)
        value, centre = function(BinaryCounts(**totals)), function(BinaryCounts(**smooth))
        lows, highs = _smoothed_ends(
            centre, np.sqrt(variance), lambda: centre, measure_range=measure_range, level=level
        )
    lows, highs = np.minimum(lows, value), np.maximum(highs, value)
    unknown = ~(highs > lows)
    return np.where(unknown, measure_range[0], lows), np.where(unknown, measure_range[1], highs)


def plain_delta(question: Question) -> Interval | None:
    """Take the delta method, on the logit scale, of the cells as they are."""
    sample = question.sample
    error = sample.standard_error(sample.gradient(question.function))
    return delta_interval(
        question.value,
        error * sample.widening(question.level),
        measure_range=question.measure_range,
        level=question.level,
    )


def bootstrap(question: Question) -> Interval | None:
    """Resample the cells, at a cost that does not depend on how many rows."""
    gradient = question.sample.gradient(question.function)
    if not question.sample.standard_error(gradient) > 0:
        return None
    size = replicates_for(question.level, least=question.replicates)
    values = question.function(question.sample.draw(size, question.rng()))
    acceleration = question.sample.acceleration(gradient)
    return _of_replicates(question, values, question.method, acceleration)


def stratified_bootstrap(question: Question) -> Interval | None:
    """Resample the cells of each true class alone: every replicate has as many of each class.

    The sample must have the classes as its strata.  The interval is about the measure where the
    classes have the shares that they have here, as where examples were drawn class by class.
    """
    interval = bootstrap(replace(question, method=question.method.removeprefix(STRATIFIED)))
    return None if interval is None else replace(interval, method=STRATIFIED + interval.method)


def posterior(question: Question) -> Interval | None:
    """Take the quantiles of the posterior of the cells under the prior that smoothing adds."""
    size = replicates_for(question.level, least=question.replicates)
    values = question.function(question.sample.draw_posterior(size, question.rng()))
    interval = _of_replicates(question, values, "percentile", 0.0)
    return None if interval is None else replace(interval, method="dirichlet")


CELL_METHODS: dict[str, Callable[[Question], Interval | None]] = {
    "by_measure": smoothed_delta,
    "smoothed_delta": smoothed_delta,
    "delta": plain_delta,
    "percentile": bootstrap,
    "basic": bootstrap,
    "bca": bootstrap,
    "stratified_percentile": stratified_bootstrap,
    "stratified_basic": stratified_bootstrap,
    "stratified_bca": stratified_bootstrap,
    "dirichlet": posterior,
}


def _of_replicates(
    question: Question, values: NDArray[Any], method: str, acceleration: float
) -> Interval | None:
    if np.isnan(values).mean() > MAX_UNDEFINED or np.isinf(values).any():
        return None
    interval, _ = replicate_interval(
        values,
        question.value,
        level=question.level,
        method=method,
        acceleration=acceleration,
        measure_range=question.measure_range,
    )
    return interval


def auc_interval(ranking: Ranking, *, level: float) -> Interval:
    """Give the interval of the area under the ROC curve."""
    if np.isnan(ranking.auc):
        return whole_range(level)
    positives, negatives = (max(1, int(units)) for units in units_of(ranking))
    # The rarer class decides how well the variance is known.
    widening = student_factor(min(positives, negatives), level)
    variance = ranking.delong_variance * widening**2
    return delong_interval(ranking.auc, variance, positives, negatives, level=level)


def pairs_interval(value: float, influence: Array, rows: ScoredRows, *, level: float) -> Interval:
    """Give the interval of a mean area over pairs of classes, from what each row adds to it.

    The variance is the sum of squares within the classes, each over n − 1; where it is none, the
    interval is that of as many trials as the rarest class has examples.
    """
    if np.isnan(value):
        return whole_range(level)
    sizes = np.bincount(rows.strata)[rows.strata]
    rarest = max(rows.rarest, 1)
    variance = float((influence**2 * sizes / np.maximum(sizes - 1, 1)).sum())
    widening = student_factor(rarest, level) ** 2
    area = delong_interval(min(value, 1.0), variance * widening, rarest, rarest, level=level)
    return replace(area, method="pair_placements") if area.method == "delong_logit" else area


def pooled_interval(value: float, ranking: Ranking, n: int, *, level: float) -> Interval:
    """Give the interval of a ranking of all (example, class) pairs: the micro average.

    The pairs of one example are not independent: examples are counted.
    """
    if np.isnan(value):
        return whole_range(level)
    size = min(units_of(ranking)[0], float(n))
    interval = fractional_interval(value * size, size, level=level)
    return replace(interval, method="binomial_of_examples")


def average_interval(
    values: Array,
    intervals: Sequence[Interval],
    shares: Array,
    correlation: Array | None,
    *,
    level: float,
    bias: float = 0.0,
) -> Interval:
    """Give the interval of a weighted mean over classes, from the intervals of the classes.

    The distances to the ends add up as the classes err together; without a `correlation`, as if
    all erred together, which is the most they can do.  A mean that is too high by some `bias`
    reaches further down by that.
    """
    value = float(shares @ values)
    known = np.ones((len(values),) * 2) if correlation is None else correlation
    ends = np.array([(one.low, one.high) for one in intervals])
    below, above = (distance_of_mean(np.abs(values - side), shares, known) for side in ends.T)
    method = "mean_of_intervals" if correlation is None else "mean_of_correlated"
    return Interval(max(value - bias - below, 0.0), min(value + above, 1.0), level, method)


def distance_of_mean(distances: Array, shares: Array, correlation: Array) -> float:
    r"""Give how far a weighted mean may lie off, from how far each of its parts may.

    .. math:: \sqrt{\sum_{k,l} s_k s_l\, \rho_{kl}\, d_k d_l}

    With all correlations 1 it is the mean of the distances, the most that it can be.
    """
    parts = shares * distances
    return math.sqrt(max(float(parts @ correlation @ parts), 0.0))


def mean_interval(value: float, error: float, units: int, *, level: float) -> Interval:
    """Give the interval of a mean of numbers in [0, 1]: normal on the logit scale.

    Where no example differs from another it is the KL bound.
    """
    if not np.isfinite(value):
        return whole_range(level)
    interval = delta_interval(value, error, level=level) if error > ROUNDING * value else None
    return chernoff_kl(value, units, level=level) if interval is None else interval


def stretched_interval(
    value: float,
    repetitions: Sequence[tuple[float, Interval]],
    *,
    stretch: float,
    measure_range: Ends,
    method: str,
) -> Interval:
    """Give the interval of a mean over repetitions: their mean distances to the ends, stretched."""
    below = stretch * float(np.mean([one - ends.low for one, ends in repetitions]))
    above = stretch * float(np.mean([ends.high - one for one, ends in repetitions]))
    low, high = measure_range
    level = repetitions[0][1].level
    return Interval(max(low, value - below), min(high, value + above), level, method)


def refit_proportion(
    sample: CellSample,
    function: Callable[[NDArray[Any]], Proportion],
    proportion: Proportion,
    rule: Rule,
    *,
    level: float,
) -> Interval:
    """Give the interval of a measure that is k of n, by its variance components over refits.

    `proportion` is the function of the sample itself.  A measure that is a monotone function of a
    share has the interval of the share, taken through it.
    """
    value = float(proportion.share)
    if math.isnan(value):
        return Interval(0.0, 1.0, level, "undefined")
    if sample.jackknifed:
        return _proportion_of_groups(sample, function, rule, level)
    inner = RefitQuestion(
        value=value,
        parts=sample.components(sample.gradient(lambda features: function(features).share)),
        rule=rule,
        counted=float(proportion.n),
        level=level,
    ).interval()
    if proportion.transform is None:
        return inner
    low, high = proportion.between(inner.low, inner.high)
    return replace(inner, low=float(low), high=float(high))


def refit_measure(question: Question) -> Interval:
    """Give the interval of another measure of counts, by its variance components over refits.

    The variance is that of the smoothed cells, as for one model: a class of which all five examples
    are right is not taken to be always right.  A range without an end gets the delta method on the
    logarithm.
    """
    finite = np.isfinite(question.value) and np.isfinite(question.measure_range).all()
    if not finite or question.sample.jackknifed:
        return cell_interval(question)
    return _by_components(question, question.sample.smoothed)


def _by_components(question: Question, varying: CellSample, few: float = 1.0) -> Interval:
    """Give the interval of a measure of counts by the components of the variance of some cells."""
    return RefitQuestion(
        value=question.value,
        parts=varying.components(varying.gradient(question.function)),
        rule=OTHER,
        counted=float(question.sample.totals.sum()),
        level=question.level,
        measure_range=question.measure_range,
        few=few,
    ).interval()


def refit_correlation(
    question: Question, rarest: float, ends: tuple[Interval, Interval] | None = None
) -> Interval:
    """Give the interval of Matthews' correlation, with `rarest` examples in the rarest class.

    With few positives it is joined with the roots of the products of the `ends` of precision and
    recall, which the correlation comes near to where positives are rare.
    """
    if not np.isfinite(question.value):
        return whole_range(question.level, question.measure_range)
    if question.sample.jackknifed:
        return _measure_of_groups(question)
    interval = _by_components(question, question.sample, few_of(rarest))
    if ends is None:
        return interval
    precision, recall = ends
    return replace(
        interval,
        low=min(interval.low, math.sqrt(precision.low * recall.low)),
        high=max(interval.high, math.sqrt(precision.high * recall.high)),
    )


def refit_auc(question: RefitQuestion, floor: float) -> RefitInterval:
    """Give the interval of an area under the ROC curve from refits, of a variance `floor` at least.

    One that reaches ½ has twice the variance of independent examples at least.
    """
    interval = question.interval(floor)
    if interval.covers(CHANCE):
        interval = question.interval(max(floor, 2 * question.parts.independent))
    return interval


def refit_average_precision(question: RefitQuestion, floor: float, top: float) -> RefitInterval:
    """Give the interval of an average precision from refits, of a variance `floor` at least.

    `top` is what one more negative at the very top would take away: its share that a good ranking
    of few does not show moves the lower end, by no more than itself (as of hold-out predictions)
    and by no more than half its distance from the value.
    """
    interval = question.interval(floor)
    more = max(question.few * question.parts.variance(question.rule), floor)
    deeper = question.interval(more + UNSEEN * top**2).low
    move = min(top, MAX_MOVE * (question.value - interval.low))
    return replace(interval, low=min(interval.low, max(deeper, interval.low - move)))


def precision_floor(value: float, positives: float) -> float:
    """Give the least variance of an average precision: of few, a part of that of a share of P."""
    if positives >= FEW_POSITIVES:
        return 0.0
    inside = (value * positives + 0.5) / (positives + 1)
    return PART_OF_SHARE * inside * (1 - inside) / (positives + 1)


def area_floor(area: float, positives: int, negatives: int) -> float:
    """Give the least variance of an area: with few of a class Hanley and McNeil's, else none."""
    if min(positives, negatives) >= FEW_OF_A_CLASS:
        return 0.0
    return hanley_mcneil_standard_error(area, positives, negatives) ** 2
