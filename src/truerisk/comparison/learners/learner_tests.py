"""What the differences of two learners in the same refits say: an interval and a test.

Differences are second − first.  No spread at all is never a zero-width interval: learners that
nothing told apart get p = 1 and the exact bound of n examples without a disagreement; a difference
that is the same in every refit has no test.
"""

import math
from dataclasses import replace
from functools import partial

from scipy.special import fdtri, stdtr

from truerisk.aliases import Array, Ends
from truerisk.comparison.learners.learner_outcome import (
    Outcome,
    Shares,
    student_ends,
    without_spread,
)
from truerisk.estimation.refits.interval_rules import plain_standard_error
from truerisk.intervals.resampled_tests import (
    corrected_resampled_t,
    corrected_standard_error,
    correlated_t_posterior,
    five_by_two_f,
    five_by_two_t,
)

UNKNOWN: Shares = (math.nan, math.nan, math.nan)  # no spread, and so no posterior


def by_corrected_t(differences: Array, units: float) -> Outcome:
    r"""Test by Nadeau and Bengio's corrected resampled t, over R × K differences of folds.

    .. math:: \bar d \pm t_{RK-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    Examples
    --------
    >>> import numpy as np
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
    >>> import numpy as np
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
            student_ends, found.difference, corrected_standard_error(column, ratio), degrees
        ),
        p_value=2 * float(stdtr(degrees, -abs(found.statistic))),
        method=name,
    )


def by_resampled_t(differences: Array, units: float) -> Outcome:
    """Test by Student's t as if the refits were independent: invalid, for comparison.

    Examples
    --------
    >>> import numpy as np
    >>> round(by_resampled_t(np.array([[0.03, -0.01, 0.04, 0.02]]), 100).p_value, 3)
    0.161
    """
    column = differences.ravel()
    mean = math.fsum(column) / column.size
    error = plain_standard_error(column.tolist(), 0.0)
    if error == 0:
        return without_spread(mean, units, "resampled_t (invalid)")
    return Outcome(
        ends_at=partial(student_ends, mean, error, column.size - 1),
        p_value=2 * float(stdtr(column.size - 1, -abs(mean / error))),
        method="resampled_t (invalid)",
    )


def by_five_by_two_t(differences: Array, units: float) -> Outcome:
    """Test by Dietterich's t, whose numerator and interval are of the first of ten differences.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]
    >>> found = by_five_by_two_t(np.array(pairs), 100)  # .02 ± 2.571 √(.0014 / 5)
    >>> [round(end, 4) for end in found.ends_at(0.95)]
    [-0.023, 0.063]
    """
    found = five_by_two_t(differences)
    if not found.is_defined:
        return without_spread(found.difference, units, "five_by_two_t")
    error = math.sqrt(_variance_within(differences) / 5)
    ends = partial(student_ends, float(differences[0, 0]), error, 5)
    return Outcome(ends_at=ends, p_value=found.p_value, method="five_by_two_t")


def by_five_by_two_f(differences: Array, units: float) -> Outcome:
    r"""Test by Alpaydın's F; the interval is that of the mean of the ten differences.

    With S the sum of the variances within the five pairs of halves and q the quantile of F,

    .. math:: \bar d \pm \sqrt{2 S q / 10}

    The statistic is :math:`\sum d^2 / 2S \ge 10 \bar d^2 / 2S`: where the interval excludes 0, F
    rejects.  F also rejects where the pairs differ among themselves, which the interval does not.

    Examples
    --------
    >>> import numpy as np
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
    >>> import numpy as np
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
    ends = partial(student_ends, found.mean, math.sqrt(found.variance), found.degrees)
    return Outcome(ends_at=ends, p_value=None, method=name, shares_at=shares)


def _variance_within(table: Array) -> float:
    # (d₁ − d̄)² + (d₂ − d̄)² = (d₁ − d₂)²/2
    return float(((table[:, 0] - table[:, 1]) ** 2).sum()) / 2
