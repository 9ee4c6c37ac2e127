"""Ranks of k classifiers on N data sets: whether they differ at all, and which of them do.

All of these look at average ranks only, 1 for the best classifier of a data set.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc, log_ndtr, ndtr, ndtri

from truerisk.aliases import Array
from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError

STEP = 1 / 64  # of the trapezoids under the density of the range; they converge geometrically
REACH = 12.0  # normal deviates beyond this have no weight that a float could hold beside 1
HALVINGS = 60  # leave 10⁻¹⁷ of the stretch searched


@dataclass(frozen=True, kw_only=True)
class FriedmanTest:
    """Whether k classifiers differ at all, from their ranks on N data sets.

    `chi2` is Friedman's statistic without the correction for ties, as it is used for classifiers;
    the corrected one stands beside it.  `f` is Iman and Davenport's, the less conservative one:
    its `p_value` is the one to go by.  With every rank tied all p-values are 1.
    """

    chi2: float
    chi2_p_value: float
    chi2_tie_corrected: float
    tie_corrected_p_value: float
    f: float
    degrees: tuple[int, int]
    p_value: float


def ranks_of(scores: ArrayLike, *, higher_is_better: bool = True) -> Array:
    """Rank the classifiers on each data set: 1 for the best, ties share the average of their ranks.

    Examples
    --------
    >>> print(ranks_of([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]]))
    [[1.5 3.  1.5]
     [3.  1.  2. ]]
    """
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if not np.isfinite(table).all():
        raise InputError("`scores` must all be finite; got NaN or an infinity.")
    return np.array([_row_ranks(-row if higher_is_better else row) for row in table])


def _row_ranks(row: Array) -> Array:
    _, place, ties = np.unique(row, return_inverse=True, return_counts=True)
    middle = np.cumsum(ties) - (ties - 1) / 2
    return np.asarray(middle[place])


def friedman(ranks: ArrayLike) -> FriedmanTest:
    r"""Test by ranks whether k classifiers do equally well, given N data sets.

    .. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \sum_{j=1}^{k}
              \Bigl(\bar R_j - \frac{k + 1}{2}\Bigr)^2, \qquad
              F = \frac{(N - 1)\, \chi^2_F}{N (k - 1) - \chi^2_F}

    Under the hypothesis that every order of the classifiers is equally probable on every data set,
    and data sets are independent, the first is about χ² of k − 1 degrees, and too seldom
    significant; the second about F of k − 1 and (k − 1)(N − 1) degrees.  When all data sets agree
    on one order without ties, F is infinite, and the p-value is the exact one,
    :math:`(k!)^{1 - N}`.  The correction for ties divides χ² by
    :math:`1 - \sum (t^3 - t) / (N (k^3 - k))` over all groups of t tied ranks.

    Parameters
    ----------
    ranks
        N × k, each row the ranks of the classifiers on one data set, as `ranks_of` gives them.

    References
    ----------
    .. [1] M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the
       analysis of variance", JASA 32(200), 675-701, 1937.
    .. [2] R. L. Iman and J. M. Davenport, "Approximations of the critical region of the Friedman
       statistic", Communications in Statistics A9(6), 571-595, 1980.
    .. [3] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006.

    Examples
    --------
    >>> found = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(found.chi2, 6), round(found.f, 6)  # 12·4/12 · (.75² + 0² + .75²), 3·4.5/(8 − 4.5)
    (4.5, 3.857143)
    """
    table = _check_ranks(ranks)
    n, k = table.shape
    chi2 = 12 * n / (k * (k + 1)) * float(((table.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    ties = sum(float((count**3 - count).sum()) for count in map(_tied, table))
    kept = 1 - ties / (n * (k**3 - k))
    corrected = chi2 / kept if kept > 0 else 0.0
    degrees = (k - 1, (k - 1) * (n - 1))
    room = n * (k - 1) - chi2
    # The whole room is used up only when all rows are one order; rounding may leave a trace of it.
    agreed = room <= 1e-9 * n * (k - 1)
    f = math.inf if agreed else (n - 1) * chi2 / room
    p_value = math.exp((1 - n) * math.lgamma(k + 1)) if agreed else float(fdtrc(*degrees, f))
    return FriedmanTest(
        chi2=chi2,
        chi2_p_value=float(chdtrc(k - 1, chi2)),
        chi2_tie_corrected=corrected,
        tie_corrected_p_value=float(chdtrc(k - 1, corrected)),
        f=f,
        degrees=degrees,
        p_value=p_value,
    )


def _tied(row: Array) -> Array:
    return np.unique(row, return_counts=True)[1].astype(np.float64)


def _check_ranks(ranks: ArrayLike) -> Array:
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        shape = " × ".join(map(str, table.shape)) or "one number"
        raise InputError(f"`ranks` must be of two classifiers and data sets or more; got {shape}.")
    k = table.shape[1]
    if not np.allclose(table.sum(axis=1), k * (k + 1) / 2):
        raise InputError(
            f"`ranks` must add up to {k * (k + 1) / 2:g} on each data set, from 1 for the best to "
            f"{k}, ties averaged; got {table.sum(axis=1)[0]:g} on the first. Use `ranks_of`."
        )
    return table


def rank_standard_error(classifiers: int, datasets: int) -> float:
    r"""Give the standard deviation of the difference of two average ranks, if all are alike.

    .. math:: \sqrt{\frac{k (k + 1)}{6 N}}

    Examples
    --------
    >>> round(rank_standard_error(4, 14), 4)
    0.488
    """
    k = check_whole_number(classifiers, "classifiers", low=2)
    return math.sqrt(k * (k + 1) / (6 * check_whole_number(datasets, "datasets", low=1)))


def rank_test(first: float, second: float, classifiers: int, datasets: int) -> tuple[float, float]:
    r"""Test whether two classifiers have the same average rank: z and its two-sided p-value.

    .. math:: z = \frac{\bar R_{first} - \bar R_{second}}{\sqrt{k (k + 1) / (6 N)}}

    Normal for many data sets, under the hypothesis that all k classifiers are alike.  A positive z
    says that the second one ranks better.  For more than one pair adjust the p-values.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006, section 3.2.2.

    Examples
    --------
    >>> z, p_value = rank_test(3.143, 1.964, classifiers=4, datasets=14)
    >>> round(z, 3), round(p_value, 3)
    (2.416, 0.016)
    """
    z = (first - second) / rank_standard_error(classifiers, datasets)
    return z, 2 * float(ndtr(-abs(z)))


def range_tail(q: float, k: int) -> float:
    r"""Give the probability that k standard normals spread over more than q.

    .. math:: k \int \varphi(z) \bigl[ \Phi(z)^{k-1} - (\Phi(z) - \Phi(z - q))^{k-1} \bigr] dz

    The studentised range with infinite degrees of freedom.  Written as a difference of powers, it
    keeps its digits far out in the tail.

    Examples
    --------
    >>> round(range_tail(3.633, 4), 4)  # the 5 % point of any table of the studentised range
    0.05
    """
    check_whole_number(k, "k", low=2)
    if q <= 0:
        return 1.0
    z = np.arange(-REACH, REACH + q, STEP)
    log_below = log_ndtr(z)
    share = np.exp(log_ndtr(z - q) - log_below)
    # At the lower end the share comes to 1 within rounding, and the logarithm to −∞, as it should.
    with np.errstate(divide="ignore"):
        inner = -np.expm1((k - 1) * np.log1p(-np.minimum(share, 1.0)))
    density = np.exp(-z * z / 2 + (k - 1) * log_below) / math.sqrt(2 * math.pi)
    return min(1.0, k * STEP * float((density * inner).sum()))


def nemenyi_quantile(classifiers: int, level: float = 0.95) -> float:
    r"""Give the point of the studentised range, over √2, that `classifiers` alike stay within.

    Computed, not read from a table: printed ones are cut off at three decimals.

    Examples
    --------
    >>> round(nemenyi_quantile(4), 3), round(nemenyi_quantile(4, level=0.90), 3)
    (2.569, 2.291)
    """
    tail = 1 - check_level(level)
    low, high = 0.0, 2 * REACH
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, classifiers) > tail else (low, middle)
    return (low + high) / 2 / math.sqrt(2)


def nemenyi_difference(classifiers: int, datasets: int, level: float = 0.95) -> float:
    r"""Give the critical difference of Nemenyi's test of all pairs.

    .. math:: CD = q\, \sqrt{\frac{k (k + 1)}{6 N}}

    If all classifiers are alike, the largest difference of average ranks reaches it with a
    probability of about 1 − level.

    References
    ----------
    .. [1] P. B. Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton, 1963.
    .. [2] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006.

    Examples
    --------
    >>> round(nemenyi_difference(4, 14, level=0.90), 2)
    1.12
    """
    quantile = nemenyi_quantile(classifiers, level)
    return quantile * rank_standard_error(classifiers, datasets)


def nemenyi_p_value(first: float, second: float, classifiers: int, datasets: int) -> float:
    """Give the p-value of Nemenyi's test of two average ranks, adjusted for all pairs.

    Examples
    --------
    >>> round(nemenyi_p_value(3.143, 1.964, classifiers=4, datasets=14), 3)
    0.074
    """
    z, _ = rank_test(first, second, classifiers, datasets)
    return range_tail(abs(z) * math.sqrt(2), classifiers)


def bonferroni_dunn_quantile(classifiers: int, level: float = 0.95) -> float:
    r"""Give the normal quantile for k − 1 comparisons with a control: 1 − (1 − level)/(2(k − 1)).

    For k = 9 at 95 % it is 2.734; the table of [1]_, and its many copies, have 2.724.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006, table 5 (b).

    Examples
    --------
    >>> round(bonferroni_dunn_quantile(9), 3)
    2.734
    """
    k = check_whole_number(classifiers, "classifiers", low=2)
    return -float(ndtri((1 - check_level(level)) / (2 * (k - 1))))


def bonferroni_dunn_difference(classifiers: int, datasets: int, level: float = 0.95) -> float:
    """Give the critical difference of average ranks for comparisons with a control only.

    Examples
    --------
    >>> round(bonferroni_dunn_difference(4, 14, level=0.90), 2)
    1.04
    """
    quantile = bonferroni_dunn_quantile(classifiers, level)
    return quantile * rank_standard_error(classifiers, datasets)


def cliques(average_ranks: ArrayLike, difference: float) -> tuple[tuple[int, ...], ...]:
    """Find the largest groups of two or more whose ranks lie closer than a critical difference.

    Each group is told from the best to the worst, by the places of its members.

    Examples
    --------
    >>> cliques([3.143, 2.0, 2.893, 1.964], 1.12)
    ((3, 1, 2), (2, 0))
    """
    ranks = np.asarray(average_ranks, dtype=np.float64)
    order = np.argsort(ranks, kind="stable")
    found: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and ranks[order[end]] - ranks[order[start]] < difference:
            end += 1
        if end - start > 1 and end > reached:
            found.append(tuple(int(place) for place in order[start:end]))
            reached = end
    return tuple(found)
