"""Two classifiers on n data sets, by the signs and sizes of their differences."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_level, check_number
from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_test
from truerisk.results import Interval

Zeros = Literal["pratt", "wilcox"]

MAX_EXACT = 50  # differences up to which the null distribution is counted, not approximated
DIGITS = 12  # of the largest score, to which differences are rounded
MAX_DECIMALS = 300  # smaller numbers have no power of ten to be rounded by
MAX_WALSH = 2000  # differences up to which the pairs of them are held in memory


@dataclass(frozen=True, kw_only=True)
class SignedRankTest:
    """Wilcoxon's signed-rank test: the sum of the ranks of positive differences, and what it says.

    `p_value` is two-sided; `greater` and `less` are those of the one-sided tests that differences
    tend to be above, or below, 0.  `z` is the statistic in units of its standard deviation, from
    its centre, with no correction.  `n` counts the differences that are not 0.
    """

    statistic: float
    z: float
    p_value: float
    greater: float
    less: float
    n: int
    is_exact: bool
    zeros: Zeros


@dataclass(frozen=True, kw_only=True)
class SignTest:
    """The exact sign test; `ties`, the data sets on which both do equally well, are left out."""

    wins: int
    ties: int
    losses: int
    p_value: float


def signed_rank(differences: ArrayLike, *, zeros: Zeros = "pratt") -> SignedRankTest:
    r"""Test whether differences are symmetric about 0, by Wilcoxon's signed ranks.

    .. math:: T = \sum_{d_i > 0} R_i, \qquad R_i \text{ the rank of } |d_i|
              \text{, ties averaged}

    Up to 50 differences the null distribution is exact, ties and zeros as they are: every choice of
    signs of the ranks seen is equally probable, and all of them are counted.  Beyond, it is normal
    with the exact variance :math:`\sum R_i^2 / 4` and a correction for continuity of 1/2.

    Parameters
    ----------
    differences
        Second classifier less first, one for each data set.
    zeros
        What becomes of differences of 0: "pratt" ranks them with the others and then leaves out
        their ranks, so that many of them weaken the evidence; "wilcox" leaves them out before
        ranking.  With nothing but zeros the p-value is 1.

    References
    ----------
    .. [1] F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6),
       80-83, 1945.
    .. [2] J. W. Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures", JASA
       54(287), 655-667, 1959.

    Examples
    --------
    >>> found = signed_rank([0.03, -0.01, 0.04, 0.02])
    >>> found.statistic, found.p_value  # 3 + 4 + 2; at least 9 in 2 of 16 choices of signs
    (9.0, 0.25)
    """
    column = check_differences(differences)
    check_choice(zeros, ("pratt", "wilcox"), "zeros")
    kept = column if zeros == "pratt" else column[column != 0]
    ranks = _ranks(np.abs(kept))[kept != 0]
    pos_label = kept[kept != 0] > 0
    statistic = float(ranks[pos_label].sum())
    is_exact = column.size <= MAX_EXACT
    less, greater = (_exact_tails if is_exact else _normal_tails)(ranks, statistic)
    deviation = _deviation(ranks)
    return SignedRankTest(
        statistic=statistic,
        z=(statistic - float(ranks.sum()) / 2) / deviation if deviation > 0 else 0.0,
        p_value=min(1.0, 2 * min(less, greater)),
        greater=greater,
        less=less,
        n=ranks.size,
        is_exact=is_exact,
        zeros=zeros,
    )


def _ranks(sizes: Array) -> Array:
    _, place, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(ties) - (ties - 1) / 2)[place])


def _exact_tails(ranks: Array, statistic: float) -> tuple[float, float]:
    """Give P(T ≤ t) and P(T ≥ t), each choice of signs being equally probable."""
    # Averaged ranks are whole or half: doubled, sums of them can be counted by place.
    ways = _ways(np.rint(2 * ranks).astype(np.int64))
    at = round(2 * statistic)
    total = 2.0**ranks.size
    return float(ways[: at + 1].sum()) / total, float(ways[at:].sum()) / total


def _ways(doubled: NDArray[np.int64]) -> Array:
    """Count the choices of signs that lead to each sum; exact, for they are at most 2⁵⁰."""
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[: ways.size - rank].copy()
    return ways


def _deviation(ranks: Array) -> float:
    return math.sqrt(float((ranks**2).sum())) / 2


def _normal_tails(ranks: Array, statistic: float) -> tuple[float, float]:
    deviation = _deviation(ranks)
    if deviation == 0:
        return 1.0, 1.0
    centred = statistic - float(ranks.sum()) / 2
    return float(ndtr((centred + 0.5) / deviation)), float(ndtr((0.5 - centred) / deviation))


def sign_test(differences: ArrayLike) -> SignTest:
    r"""Test by wins and losses alone: exact binomial, ties left out.

    .. math:: p = \min\bigl(1,\, 2\, P(X \le \min(w, l))\bigr), \qquad
              X \sim \mathrm{Binomial}(w + l, 1/2)

    Needs nothing of the sizes of differences, and has little power.  No win and no loss: p = 1.

    Examples
    --------
    >>> sign_test([0.1, 0.2, 0.0, -0.1, 0.3, 0.2])
    SignTest(wins=4, ties=1, losses=1, p_value=0.375)
    """
    column = check_differences(differences)
    wins, losses = int((column > 0).sum()), int((column < 0).sum())
    return SignTest(
        wins=wins,
        ties=column.size - wins - losses,
        losses=losses,
        p_value=binomial_test(wins, wins + losses),
    )


def typical_difference(differences: ArrayLike) -> float:
    """Give Hodges and Lehmann's estimate: the median of the means of all pairs of differences.

    A difference is paired with itself, too.  Where there are over 2,000 of them, it is the plain
    median.

    Examples
    --------
    >>> typical_difference([0.0, 1.0, 5.0])  # of 0, 0.5, 1, 2.5, 3, 5
    1.75
    """
    column = check_differences(differences)
    return float(np.median(column if column.size > MAX_WALSH else _walsh(column)))


def difference_interval(differences: ArrayLike, level: float = 0.95) -> Interval | None:
    """Give the differences that the signed-rank test does not reject, by means of pairs.

    Covers the centre of a symmetric distribution with probability of at least `level` up to 50
    differences, about that beyond.  None where there are too few differences for the level: at
    95 % five or fewer.

    References
    ----------
    .. [1] M. Hollander, D. A. Wolfe and E. Chicken, "Nonparametric statistical methods", Wiley
       2014, section 3.3.

    Examples
    --------
    >>> print(difference_interval([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07]))
    [0.020, 0.060] at 95 %
    """
    column = check_differences(differences)
    tail = (1 - check_level(level)) / 2
    n = column.size
    if n > MAX_WALSH:
        return _sign_interval(np.sort(column), level)
    outside = _largest_rejected(n, tail)
    if outside < 0:
        return None
    walsh = np.sort(_walsh(column))
    return Interval(
        float(walsh[outside]), float(walsh[walsh.size - 1 - outside]), level, "signed_rank"
    )


def _largest_rejected(n: int, tail: float) -> int:
    """Give the largest t with P(T ≤ t) ≤ tail, −1 if there is none."""
    if n <= MAX_EXACT:
        below = np.cumsum(_ways(np.arange(1, n + 1))) / 2.0**n
        return int(np.searchsorted(below, tail, side="right")) - 1
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return math.floor(n * (n + 1) / 4 - 0.5 + float(ndtri(tail)) * deviation)


def _sign_interval(ordered: Array, level: float) -> Interval:
    """Give order statistics about the median, for so many differences that all are close."""
    n = ordered.size
    outside = math.floor(n / 2 - 0.5 + float(ndtri((1 - level) / 2)) * math.sqrt(n) / 2)
    return Interval(float(ordered[outside]), float(ordered[n - 1 - outside]), level, "sign")


def _walsh(column: Array) -> Array:
    first, second = np.triu_indices(column.size)
    return (column[first] + column[second]) / 2


def equivalence_p_value(differences: ArrayLike, region: float) -> float:
    """Test that differences lie within ± region: the larger p-value of two one-sided tests.

    Each shifts all differences by the region and asks by the signed-rank test whether they still
    tend to the other side of 0.  Small says: equivalent.

    References
    ----------
    .. [1] S. Wellek, "Testing statistical hypotheses of equivalence and noninferiority", CRC 2010,
       chapter 5.

    Examples
    --------
    >>> equivalence_p_value([0.001, -0.002, 0.003, 0.0, -0.001, 0.002], region=0.01)
    0.015625
    """
    column = check_differences(differences)
    check_number(region, "region", low=0.0)
    above, below = (without_noise(column + shift) for shift in (region, -region))
    return max(signed_rank(above).greater, signed_rank(below).less)


def without_noise(differences: ArrayLike, largest: float | None = None) -> Array:
    """Round differences to twelve digits of the largest number that they were made of.

    0.9 − 0.8 and 0.8 − 0.7 differ in the last bit; on paper they are a tie, and a test of ranks
    must take them for one.

    Examples
    --------
    >>> found = without_noise([0.9 - 0.8, 0.8 - 0.7], largest=0.9)
    >>> bool(found[0] == found[1])
    True
    """
    column = np.asarray(differences, dtype=np.float64)
    scale = float(np.abs(column).max()) if largest is None else largest
    if scale == 0:
        return column
    decimals = DIGITS - 1 - math.floor(math.log10(scale))
    return np.round(column, decimals) if decimals <= MAX_DECIMALS else column


def check_differences(differences: ArrayLike) -> Array:
    """Return the differences as a column of finite numbers."""
    column = np.asarray(differences, dtype=np.float64)
    if column.ndim != 1 or column.size == 0:
        raise InputError(f"`differences` must be one for each data set; got {column.shape}.")
    if not np.isfinite(column).all():
        raise InputError("`differences` must all be finite; got NaN or an infinity.")
    return column
