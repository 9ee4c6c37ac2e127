"""How much better is the second model on the same examples: second − first share, its ends, tests.

The table of two models has four counts: `both` are right on an example, `only_first`,
`only_second`, or `neither`.  (All functions hold as well for the share of wrong answers.)
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from truerisk.aliases import Array, Bounds, Ends
from truerisk.checks import (
    check_choice,
    check_level,
    check_number,
    check_same_length,
    check_whole_number,
    shown,
)
from truerisk.comparison.outcome import TestOutcome
from truerisk.comparison.spread import spread_of_groups, without_spread
from truerisk.errors import InputError
from truerisk.intervals.binomial import Alternative, wilson
from truerisk.intervals.group_jackknife import METHOD
from truerisk.results import Finding
from truerisk.tallies.group_values import ratio_values, sums_of_groups

AGREE = Finding(
    "no discordant pairs: both are right on the same examples", code="no_discordant_pairs"
)

PairedMethod = Literal["tango", "newcombe", "bonett_price", "wald", "mover"]
PairedBounds = Callable[[Array, Array, Array, Array, float], Bounds]


def paired_difference_ends(
    both: int,
    only_first: int,
    only_second: int,
    neither: int,
    *,
    level: float,
    method: PairedMethod = "tango",
) -> Ends:
    """Give the ends of the interval for the difference of two shares on the same examples.

    The difference is (only_second − only_first) / n.  The interval lies in [−1, 1] and contains it,
    and swapping the models negates it.  The examples must be independent and of one population; the
    level is then held approximately, not for certain.  Enumerated at 95 % for n = 10, 20, …, 60 and
    shares of 0.01 to 0.8 that only the one, or only the other, model gets right (for newcombe with
    50, 80 and 95 % of the others right by both), the coverage was

    ============  =====  =======
    method        least  average
    ============  =====  =======
    tango         0.928  0.959
    newcombe      0.860  0.957
    bonett_price  0.891  0.963
    wald          0.262  0.913
    ============  =====  =======

    References
    ----------
    .. [1] M. W. Fagerland, S. Lydersen and P. Laake, "Recommended tests and confidence intervals
       for paired binomial proportions", Statistics in Medicine 33, 2850-2875, 2014.
       https://doi.org/10.1002/sim.6148

    Examples
    --------
    >>> low, high = paired_difference_ends(20, 2, 12, 16, level=0.95)
    >>> round(low, 4), round(high, 4)
    (0.0611, 0.3447)
    """
    counts = check_paired_table(both, only_first, only_second, neither)
    check_level(level)
    check_choice(method, PAIRED_DIFFERENCES, "method")
    low, high = paired_difference_bounds(*counts, level=level, method=method)
    return float(low), float(high)


def check_paired_table(
    both: int, only_first: int, only_second: int, neither: int
) -> tuple[int, int, int, int]:
    """Return the four counts of a table of two models if they are counts, and not all 0.

    Examples
    --------
    >>> check_paired_table(20, 2, 12, 16)
    (20, 2, 12, 16)
    """
    table = (
        check_whole_number(both, "both"),
        check_whole_number(only_first, "only_first"),
        check_whole_number(only_second, "only_second"),
        check_whole_number(neither, "neither"),
    )
    if sum(table) == 0:
        raise InputError("The four counts must hold at least one example; got 0.")
    return table


def paired_difference_bounds(
    both: ArrayLike,
    only_first: ArrayLike,
    only_second: ArrayLike,
    neither: ArrayLike,
    *,
    level: float,
    method: str = "tango",
) -> Bounds:
    """Give the ends for many tables at once, as two arrays; see `paired_difference_ends`."""
    agreed, first, second, failed = np.broadcast_arrays(
        *(np.asarray(count, dtype=np.float64) for count in (both, only_first, only_second, neither))
    )
    low, high = PAIRED_DIFFERENCES[method](agreed, first, second, failed, level)
    seen = (second - first) / (agreed + first + second + failed)
    return np.clip(low, -1.0, seen), np.clip(high, seen, 1.0)


def paired_score_p(
    only_first: int,
    only_second: int,
    n: int,
    *,
    null: float,
    alternative: Alternative = "two-sided",
) -> float:
    r"""Give the p-value of Tango's score test that the difference, second − first, is `null`.

    .. math:: z = \frac{b - c - n\delta}{\sqrt{n (2 \tilde q + \delta (1 - \delta))}}

    with b = only_second, c = only_first, δ = null and :math:`\tilde q` the most likely share of c
    under it; z is normal for many independent examples.  At δ = 0 it is McNemar's asymptotic test.
    Two-sided it rejects at 1 − level exactly when `paired_difference_ends` by "tango" leaves `null`
    out.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.

    Examples
    --------
    >>> round(paired_score_p(4, 5, 160, null=-0.1, alternative="greater"), 6)
    5.9e-05
    """
    examples = check_whole_number(n, "n", low=1)
    first = check_whole_number(only_first, "only_first", high=examples)
    second = check_whole_number(only_second, "only_second", high=examples - first)
    check_number(null, "null", low=-1.0, high=1.0)
    check_choice(alternative, ("two-sided", "less", "greater"), "alternative")
    z = float(
        score_statistic(
            np.array(float(first)),
            np.array(float(second)),
            np.array(float(examples)),
            np.array(null),
        )
    )
    if alternative == "two-sided":
        return 2 * float(ndtr(-abs(z)))
    return float(ndtr(z if alternative == "less" else -z))


def by_groups(differences: ArrayLike, groups: ArrayLike) -> TestOutcome:
    r"""Compare shares of right, or of wrong, answers on examples that come in groups.

    Several examples of one patient, author or video are no independent examples.  With the sum
    :math:`S_g` of the differences and the number :math:`m_g` of the examples of each of G groups,

    .. math:: d \pm t_{\nu''} \sqrt{\frac{G - 1}{G} \sum_g
              \left(\frac{S_g - m_g d}{n - m_g}\right)^2}, \qquad d = \frac{1}{n} \sum_g S_g

    and the t-test that inverts it: the error is the spread of the differences that leave one group
    out, on the degrees of freedom of `group_jackknife.difference_spread`.  Where the groups do not
    vary at all, their number bounds the difference (`without_spread`).

    Parameters
    ----------
    differences
        For each example 1 where only the second model is right, −1 where only the first, 0 else (or
        any loss differences within [−1, 1]).
    groups
        The group of each example; two groups at least.

    References
    ----------
    .. [1] N. A. Obuchowski, "On the comparison of correlated proportions for clustered data",
       Statistics in Medicine 17, 1495-1507, 1998.
    .. [2] V. L. Durkalski, Y. Y. Palesch, S. R. Lipsitz and P. F. Rust, "Analysis of clustered
       matched-pair data", Statistics in Medicine 22, 2417-2428, 2003.

    Examples
    --------
    >>> differences, patients = [1, 1, 0, 0, -1, 1, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    >>> outcome = by_groups(differences, patients)
    >>> round(outcome.p_value, 3), [round(end, 3) for end in outcome.ends_at(0.95)]
    (0.215, [-0.387, 1.137])
    """
    values = np.asarray(differences, dtype=np.float64)
    labels = np.asarray(groups)
    check_same_length(differences=values, groups=labels)
    wrong = values[~((values >= -1) & (values <= 1))]
    if wrong.size:
        raise InputError(f"`differences` must lie in [-1, 1]; got {shown(wrong[0].item())}.")
    index = np.unique(labels, return_inverse=True)[1]
    number = int(index.max()) + 1
    if number < 2:
        raise InputError("`groups` must name two groups at least; got 1.")
    sums, sizes = (sums_of_groups(index, column) for column in (values, None))
    values_by_group = ratio_values(sums, sizes)
    value = values_by_group.value
    spread = spread_of_groups(value, values_by_group.without, values_by_group.units)
    if spread.is_zero:
        outcome = without_spread(value, number, method=METHOD, interval_method=METHOD)
        return outcome if values.any() else replace(outcome, notes=(AGREE,))
    return spread.outcome(value, METHOD)


def tango(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    r"""Keep the differences that the score test, with shares fitted to them, does not reject.

    .. math:: \frac{|b - c - n\delta|}{\sqrt{n (2 \tilde q + \delta (1 - \delta))}} \le z

    with b = only_second, c = only_first and :math:`\tilde q` the most likely share of c, given that
    the share of b is larger by δ.  At δ = 0 the test is McNemar's asymptotic one.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.
    """
    z = -float(ndtri((1 - level) / 2))
    n = both + only_first + only_second + neither
    seen = (only_second - only_first) / n

    # Both ends at once, until the middle of what is accepted and rejected is one of the two.
    inside = np.stack([seen, seen])
    outside = np.stack([np.full_like(seen, -1.0), np.full_like(seen, 1.0)])
    middle = 0.5 * (inside + outside)
    while np.any((middle != inside) & (middle != outside)):
        accept = np.abs(score_statistic(only_first, only_second, n, middle)) <= z
        inside, outside = np.where(accept, middle, inside), np.where(accept, outside, middle)
        middle = 0.5 * (inside + outside)
    return inside[0], inside[1]


def score_statistic(only_first: Array, only_second: Array, n: Array, null: Array) -> Array:
    """Give Tango's statistic of a difference `null`: normal if it is the true one."""
    # Mirrored to null ≥ 0, every term but the linear one is positive: nothing cancels.
    upward = null >= 0
    more = np.where(upward, only_second, only_first)
    fewer = np.where(upward, only_first, only_second)
    apart = np.abs(null)
    linear = apart * (2 * n - more + fewer) - more - fewer
    constant = fewer * apart * (1 - apart)
    root = np.sqrt(linear * linear + 8 * n * constant)
    # The positive root of 2nq² + linear·q − constant, in the form that does not cancel.
    is_positive = linear > 0
    share = np.where(
        is_positive,
        np.divide(2 * constant, root + linear, out=np.zeros_like(root), where=is_positive),
        (root - linear) / (4 * n),
    )
    variance = n * (2 * share + apart * (1 - apart))
    distance = np.where(upward, 1.0, -1.0) * (more - fewer - n * apart)
    impossible = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    scaled: Array = np.divide(
        distance, np.sqrt(variance), out=impossible, where=(variance > 0) & (distance != 0)
    )
    return scaled


def newcombe(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    r"""Combine Wilson's intervals [l, u] of both shares by squares, less their correlation.

    .. math:: d - \sqrt{(p_2 - l_2)^2 - 2 \phi (p_2 - l_2)(u_1 - p_1) + (u_1 - p_1)^2}

    and the like above, with φ of the table, corrected for continuity: n/2 is taken off its
    numerator, where that is positive, down to 0.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between binomial
       proportions based on paired data", Statistics in Medicine 17, 2635-2650, 1998, method 10.
    """
    n = both + only_first + only_second + neither
    first, second = both + only_first, both + only_second
    p1, p2 = first / n, second / n
    (low1, high1), (low2, high2) = wilson(first, n, level), wilson(second, n, level)
    product = both * neither - only_first * only_second
    corrected = np.where(product > 0, np.maximum(product - n / 2, 0.0), product)
    margins = np.sqrt(first) * np.sqrt(n - first) * np.sqrt(second) * np.sqrt(n - second)
    phi = np.divide(corrected, margins, out=np.zeros_like(corrected), where=margins > 0)
    return (
        p2 - p1 - _combined(p2 - low2, high1 - p1, phi),
        p2 - p1 + _combined(high2 - p2, p1 - low1, phi),
    )


def _combined(one: Array, other: Array, correlation: Array) -> Array:
    squares = one * one - 2 * correlation * one * other + other * other
    combined: Array = np.sqrt(np.maximum(squares, 0.0))  # rounding can leave −1e-20
    return combined


def bonett_price(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """Use Wald's interval after adding one example to each kind of discordant ones.

    References
    ----------
    .. [1] D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of
       binomial proportions based on paired data", Journal of Educational and Behavioral Statistics
       37(4), 479-488, 2012. https://doi.org/10.3102/1076998611411915
    """
    return wald(both, only_first + 1, only_second + 1, neither, level)


def wald(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """For comparison only: the textbook normal interval, of no width where the models agree."""
    n = both + only_first + only_second + neither
    share, apart = (only_first + only_second) / n, (only_second - only_first) / n
    spread = -float(ndtri((1 - level) / 2)) * np.sqrt(np.maximum(share - apart * apart, 0.0) / n)
    return apart - spread, apart + spread


PAIRED_DIFFERENCES: dict[str, PairedBounds] = {
    "tango": tango,
    "newcombe": newcombe,
    "bonett_price": bonett_price,
    "wald": wald,
}
