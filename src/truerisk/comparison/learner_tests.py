"""What the differences of two learners in the same refits say: an interval and a test.

Differences are second − first.  No spread at all is never a zero-width interval: learners that
nothing told apart get p = 1 and the exact bound of n examples without a disagreement; a difference
that is the same in every refit has no test.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri, ndtr, ndtri, stdtr, stdtrit

from truerisk.estimation.summary import plain_standard_error
from truerisk.intervals.nested_cross_validation import nested_interval
from truerisk.intervals.resampled_tests import (
    corrected_resampled_t,
    corrected_standard_error,
    correlated_t_posterior,
    five_by_two_f,
    five_by_two_t,
)
from truerisk.tallies.votes import GroupedJudgements, Judgements

Array = NDArray[np.float64]
Ends = tuple[float, float]
Shares = tuple[float, float, float]

WHOLE: Ends = (-math.inf, math.inf)
UNKNOWN: Shares = (math.nan, math.nan, math.nan)  # no spread, and so no posterior
NO_TEST = (
    "The difference is the same in every refit: no spread, and so no test. For error rate and "
    "accuracy take agreement, which looks at the single examples."
)
LOSSES = np.array([-1.0, 0.0, 1.0])  # by which the loss of the second exceeds that of the first


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The interval at any level, and the two-sided p-value; None where the method has no test.

    `shares_at` gives, where the method is Bayesian, the posterior probabilities that the difference
    is below, within and above ± a region.
    """

    ends_at: Callable[[float], Ends]
    p_value: float | None
    method: str
    notes: tuple[str, ...] = ()
    shares_at: Callable[[float], Shares] | None = None


def by_corrected_t(differences: Array, units: float) -> Outcome:
    r"""Test by Nadeau and Bengio's corrected resampled t, over R × K differences of folds.

    .. math:: \bar d \pm t_{RK-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    Examples
    --------
    >>> found = by_corrected_t(np.array([[0.03, -0.01, 0.04, 0.02]]), 100)
    >>> round(found.p_value, 3), [round(end, 3) for end in found.ends_at(0.95)]
    (0.312, [-0.033, 0.073])
    """
    return _of_folds(differences, units, differences.size - 1, "corrected_t")


def by_cautious_t(differences: Array, units: float) -> Outcome:
    r"""Test by the corrected resampled t with the degrees of one cross-validation, K − 1.

    .. math:: \bar d \pm t_{K-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    Repeating cross-validation steadies the mean and s, and adds no examples: R·K − 1 degrees are
    more than there are [1]_.  That K − 1 are about right was found by simulation.

    References
    ----------
    .. [1] R. R. Bouckaert, "Choosing between two learning algorithms based on calibrated tests",
       ICML 2003, 51-58.

    Examples
    --------
    >>> twice = np.array([[0.03, -0.01, 0.04, 0.02], [0.02, 0.0, 0.03, 0.03]])
    >>> round(by_corrected_t(twice, 100).p_value, 3), round(by_cautious_t(twice, 100).p_value, 3)
    (0.124, 0.179)
    """
    return _of_folds(differences, units, differences.shape[1] - 1, "cautious_t")


def _of_folds(differences: Array, units: float, degrees: int, name: str) -> Outcome:
    column, ratio = differences.ravel(), 1 / (differences.shape[1] - 1)
    found = corrected_resampled_t(column, ratio)
    if not found.is_defined:
        return without_spread(found.difference, units, name)
    return Outcome(
        ends_at=partial(
            _student_ends, found.difference, corrected_standard_error(column, ratio), degrees
        ),
        p_value=2 * float(stdtr(degrees, -abs(found.statistic))),
        method=name,
    )


def by_resampled_t(differences: Array, units: float) -> Outcome:
    """Test by Student's t as if the refits were independent: invalid, for comparison.

    Examples
    --------
    >>> round(by_resampled_t(np.array([[0.03, -0.01, 0.04, 0.02]]), 100).p_value, 3)
    0.161
    """
    column = differences.ravel()
    mean = math.fsum(column) / column.size
    error = plain_standard_error(column.tolist(), 0.0)
    if error == 0:
        return without_spread(mean, units, "resampled_t (invalid)")
    return Outcome(
        ends_at=partial(_student_ends, mean, error, column.size - 1),
        p_value=2 * float(stdtr(column.size - 1, -abs(mean / error))),
        method="resampled_t (invalid)",
    )


def by_five_by_two_t(differences: Array, units: float) -> Outcome:
    """Test by Dietterich's t, whose numerator and interval are of the first of ten differences.

    Examples
    --------
    >>> pairs = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]
    >>> found = by_five_by_two_t(np.array(pairs), 100)  # .02 ± 2.571 √(.0014 / 5)
    >>> [round(end, 4) for end in found.ends_at(0.95)]
    [-0.023, 0.063]
    """
    found = five_by_two_t(differences)
    if not found.is_defined:
        return without_spread(found.difference, units, "five_by_two_t")
    error = math.sqrt(_variance_within(differences) / 5)
    ends = partial(_student_ends, float(differences[0, 0]), error, 5)
    return Outcome(ends_at=ends, p_value=found.p_value, method="five_by_two_t")


def by_five_by_two_f(differences: Array, units: float) -> Outcome:
    r"""Test by Alpaydın's F; the interval is that of the mean of the ten differences.

    With S the sum of the variances within the five pairs of halves and q the quantile of F,

    .. math:: \bar d \pm \sqrt{2 S q / 10}

    The statistic is :math:`\sum d^2 / 2S \ge 10 \bar d^2 / 2S`: where the interval excludes 0, F
    rejects.  F also rejects where the pairs differ among themselves, which the interval does not.

    Examples
    --------
    >>> pairs = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]
    >>> found = by_five_by_two_f(np.array(pairs), 100)
    >>> [round(end, 4) for end in found.ends_at(0.95)]  # .026 ± √(.0028 · 4.735 / 10)
    [-0.0104, 0.0624]
    """
    found = five_by_two_f(differences)
    if not found.is_defined:
        return without_spread(found.difference, units, "five_by_two_f")
    mean, within = found.difference, 2 * _variance_within(differences)

    def ends(level: float) -> Ends:
        half = math.sqrt(within * float(fdtri(10, 5, level)) / 10)
        return mean - half, mean + half

    return Outcome(ends_at=ends, p_value=found.p_value, method="five_by_two_f")


def by_posterior(differences: Array, units: float) -> Outcome:
    """Give the correlated t posterior of the difference, over R × K differences of folds.

    Examples
    --------
    >>> found = by_posterior(np.array([[0.03, -0.01, 0.04, 0.02]]), 100)
    >>> [round(share, 3) for share in found.shares_at(0.01)]
    [0.083, 0.21, 0.706]
    """
    column, share = differences.ravel(), 1 / differences.shape[1]
    name = "correlated_t_posterior"

    def shares(region: float) -> Shares:
        found = correlated_t_posterior(column, test_share=share, rope=region)
        if found.variance == 0:
            return UNKNOWN if found.mean else (0.0, 1.0, 0.0)
        return found.below, found.within, found.above

    found = correlated_t_posterior(column, test_share=share)
    if found.variance == 0:
        still = without_spread(found.mean, units, name)
        return replace(still, p_value=None, shares_at=shares)
    ends = partial(_student_ends, found.mean, math.sqrt(found.variance), found.degrees)
    return Outcome(ends_at=ends, p_value=None, method=name, shares_at=shares)


def by_nested_cross_validation(differences: NDArray[np.int8], parts: NDArray[np.intp]) -> Outcome:
    r"""Test by nested cross-validation: the interval and the z of the corrected difference.

    The losses −1, 0, 1 are brought to 0, ½, 1, of which everything that nested cross-validation
    finds is an affine function.

    Parameters
    ----------
    differences
        R × K × n: second loss less first, laid out as `nested_interval` wants the losses.
    parts
        R × n: the fold of each example.

    Examples
    --------
    >>> parts = np.arange(60)[None] % 3
    >>> losses = np.tile((np.arange(60) % 5 == 0).astype(np.int8), (1, 3, 1))
    >>> found = by_nested_cross_validation(losses, parts)
    >>> [round(end, 3) for end in found.ends_at(0.95)]
    [0.098, 0.302]
    """
    name, n = "nested_cross_validation", differences.shape[2]
    found = nested_interval((differences + 1) / 2, parts)
    value = 2 * found.value - 1
    if found.interval is None:
        return without_spread(value, n, name)
    error = 2 * found.standard_error
    p_value = 2 * float(ndtr(-abs(value) / error))
    return Outcome(ends_at=partial(_normal_ends, value, error), p_value=p_value, method=name)


def by_agreement(differences: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Outcome:
    r"""Test by the variance of the votes: how far refits agree which of two is wrong.

    With :math:`d_{ri}` the difference of the losses of example i in repetition r, m its mean,
    :math:`s_i` the mean square of :math:`(d_{ri} - m)/n` over r and :math:`w_i` its variance

    .. math:: V = (1 + u) \sum_i s_i, \qquad u = \min\bigl(1,\ \sum_i w_i / \sum_i s_i\bigr)

    and the interval is m ± z √V.  With groups the sums over a group are the units, and Student's t
    of one degree less than there are groups takes the place of z.

    Parameters
    ----------
    differences
        R × n, each −1, 0 or 1.
    groups
        The group of each example, numbered from 0.

    Examples
    --------
    >>> always = np.repeat([1, -1, 0], [20, 10, 70])  # every repetition says the same: u = 0
    >>> found = by_agreement(np.tile(always, (3, 1)).astype(np.int8), None)
    >>> [round(end, 4) for end in found.ends_at(0.95)]  # .1 ± 1.96 √(.29 / 100)
    [-0.0055, 0.2055]
    """
    repetitions, n = differences.shape
    value = float(differences.mean())
    gradient = (LOSSES - value) / n
    cells = (differences + 1).astype(np.intp)
    if groups is None:
        votes = np.stack([(cells == cell).sum(axis=0) for cell in range(3)], axis=1)
        places = np.tile(np.arange(3), (n, 1))
        single = Judgements(places, votes.astype(np.float64), np.ones(n))
        variance, _ = single.variance(gradient)
        units, name = n, "agreement"
    else:
        grouped = GroupedJudgements(cells, groups)
        variance, _ = grouped.variance(gradient)
        units, name = grouped.units, "cluster_agreement"
    name = name if repetitions > 1 else name.replace("agreement", "pooled")
    if variance == 0:
        return _always_apart(value, units, name) if value else without_spread(0.0, units, name)
    error = math.sqrt(variance)
    if groups is None:
        ends, below = partial(_normal_ends, value, error), float(ndtr(-abs(value) / error))
    else:
        ends = partial(_student_ends, value, error, units - 1)
        below = float(stdtr(units - 1, -abs(value) / error))
    return Outcome(ends_at=ends, p_value=2 * below, method=name)


def without_spread(difference: float, units: float, method: str) -> Outcome:
    r"""Say what differences without any spread say.

    Where all are 0, p = 1.  The chance that n examples show no disagreement is at most
    :math:`(1 - |\delta|)^n`, which bounds the difference of two error rates exactly:

    .. math:: |\delta| \le 1 - \bigl(\tfrac{1 - level}{2}\bigr)^{1/n}

    Where all are equal but not 0, nothing can be tested: p is NaN and the interval is open.

    Examples
    --------
    >>> found = without_spread(0.0, 100, "corrected_t")
    >>> found.p_value, [round(end, 4) for end in found.ends_at(0.95)]
    (1.0, [-0.0362, 0.0362])
    """
    if difference != 0:
        return Outcome(
            ends_at=lambda _: WHOLE, p_value=math.nan, method="whole_range", notes=(NO_TEST,)
        )
    told = (
        f"No refit told the two apart: the interval is that of {units:g} examples without a "
        "disagreement."
    )

    def ends(level: float) -> Ends:
        bound = -math.expm1(math.log(min((1 - level) / 2, 0.5)) / units)
        return -bound, bound

    return Outcome(ends_at=ends, p_value=1.0, method=f"{method}, no disagreement", notes=(told,))


def _always_apart(sign: float, units: float, method: str) -> Outcome:
    """Test by the signs: one learner is wrong and the other right in all of n examples.

    If q is the chance of that, δ ≥ q − (1 − q), and n examples all show it with probability qⁿ.
    """

    def ends(level: float) -> Ends:
        least = 2 * math.exp(math.log(min((1 - level) / 2, 0.5)) / units) - 1
        return (least, 1.0) if sign > 0 else (-1.0, -least)

    return Outcome(ends_at=ends, p_value=min(1.0, 2 * 0.5**units), method=f"{method}, signs")


def _variance_within(table: Array) -> float:
    # (d₁ − d̄)² + (d₂ − d̄)² = (d₁ − d₂)²/2
    return float(((table[:, 0] - table[:, 1]) ** 2).sum()) / 2


def _student_ends(centre: float, error: float, degrees: int, level: float) -> Ends:
    half = -float(stdtrit(degrees, (1 - level) / 2)) * error
    return centre - half, centre + half


def _normal_ends(centre: float, error: float, level: float) -> Ends:
    half = -float(ndtri((1 - level) / 2)) * error
    return centre - half, centre + half
