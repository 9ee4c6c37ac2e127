"""Tests by ranks over data sets: two classifiers by signed ranks, k classifiers by average ranks.

Differences are second − first, one per data set.  The best classifier of a data set has rank 1.
How they are used for classifiers: J. Demšar, "Statistical comparisons of classifiers over multiple
data sets", JMLR 7, 1-30, 2006.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, log_ndtr, ndtr, ndtri

from truerisk.aliases import Array, ArrayLike, Ends
from truerisk.checks import check_choice
from truerisk.comparison.conclusion import OPEN, TestOutcome
from truerisk.intervals.binomial import binomial_test
from truerisk.results import Interval

Zeros = Literal["pratt", "wilcox", "zsplit"]

ZEROS = get_args(Zeros)

MAX_EXACT = 50  # differences up to which the null distribution is counted, not approximated
DIGITS = 12  # of the largest score, to which differences are rounded
MAX_DECIMALS = 300  # smaller numbers have no power of ten to be rounded by
MAX_WALSH = 2000  # differences up to which the pairs of them are held in memory
STEP = 1 / 64  # of the trapezoids under the density of the range; they converge geometrically
REACH = 12.0  # normal deviates beyond this have no weight that a float could hold beside 1
HALVINGS = 60  # leave 10⁻¹⁷ of the stretch searched


@dataclass(frozen=True, kw_only=True)
class SignedRankTest:
    """Wilcoxon's signed-rank test: the sum of the ranks of positive differences, and what it says.

    `p_value` is two-sided, `greater` and `less` one-sided; `n` counts differences other than 0.
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
    """Test whether differences are symmetric about 0: T = Σ Rᵢ over dᵢ > 0, ranks of |d|.

    Up to 50 differences the null distribution is exact, ties and zeros as they are; beyond, normal
    with variance ΣR²/4 and a correction of ½.  Zeros: "pratt" ranks them, then leaves their ranks
    out; "wilcox" leaves them out before ranking; "zsplit" gives half of their ranks to either side,
    their signs being as random as the others' in the null distribution: cautious with many zeros.
    Sources: F. Wilcoxon, Biometrics Bulletin 1(6), 80-83, 1945; J. W. Pratt, JASA 54, 655-667,
    1959.
    """
    column = np.asarray(differences, dtype=np.float64)
    check_choice(zeros, ZEROS, "zeros")
    is_exact = column.size <= MAX_EXACT
    if zeros == "wilcox":
        column = column[column != 0]
    ranks, differ = mean_ranks(np.abs(column)), column != 0
    if zeros != "zsplit":
        ranks, column = ranks[differ], column[differ]
    statistic = float((ranks * (1 + np.sign(column))).sum()) / 2
    less, greater = (_exact_tails if is_exact else _normal_tails)(ranks, statistic)
    deviation = _deviation(ranks)
    return SignedRankTest(
        statistic=statistic,
        z=(statistic - float(ranks.sum()) / 2) / deviation if deviation > 0 else 0.0,
        p_value=min(1.0, 2 * min(less, greater)),
        greater=greater,
        less=less,
        n=int(differ.sum()),
        is_exact=is_exact,
        zeros=zeros,
    )


def _exact_tails(ranks: Array, statistic: float) -> tuple[float, float]:
    """Give P(T ≤ t) and P(T ≥ t), each choice of signs being equally probable."""
    # Averaged ranks are whole or half: doubled, sums of them can be counted by place.
    counts = _sign_counts(np.rint(2 * ranks).astype(np.int64))
    at = round(2 * statistic)
    total = 2.0**ranks.size
    return float(counts[: at + 1].sum()) / total, float(counts[at:].sum()) / total


def _sign_counts(doubled: NDArray[np.int64]) -> Array:
    """Count the choices of signs that lead to each sum; exact, for they are at most 2⁵⁰."""
    counts = np.zeros(int(doubled.sum()) + 1)
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] += counts[: counts.size - rank].copy()
    return counts


def _deviation(ranks: Array) -> float:
    return math.sqrt(float((ranks**2).sum())) / 2


def _normal_tails(ranks: Array, statistic: float) -> tuple[float, float]:
    deviation = _deviation(ranks)
    if deviation == 0:
        return 1.0, 1.0
    centred = statistic - float(ranks.sum()) / 2
    return float(ndtr((centred + 0.5) / deviation)), float(ndtr((0.5 - centred) / deviation))


def sign_test(differences: ArrayLike) -> SignTest:
    """Test by wins and losses alone, ties left out: 2·P(X ≤ min(w, l)), X ~ Binomial(w + l, ½)."""
    column = np.asarray(differences, dtype=np.float64)
    wins, losses = int((column > 0).sum()), int((column < 0).sum())
    return SignTest(
        wins=wins,
        ties=column.size - wins - losses,
        losses=losses,
        p_value=binomial_test(wins, wins + losses),
    )


def typical_difference(differences: ArrayLike) -> float:
    """Give Hodges and Lehmann's estimate: the median of the means of all pairs of differences.

    Where there are over 2,000 of them, it is the plain median.
    """
    column = np.asarray(differences, dtype=np.float64)
    return float(np.median(column if column.size > MAX_WALSH else _walsh(column)))


def difference_interval(differences: ArrayLike, level: float = 0.95) -> Interval | None:
    """Give the differences that the signed-rank test does not reject, by means of pairs.

    Covers the centre of a symmetric distribution with at least `level` up to 50 differences, about
    that beyond.  None where there are too few: at 95 % five or fewer.
    Source: M. Hollander, D. A. Wolfe and E. Chicken, Nonparametric Statistical Methods, 2014, §3.3.
    """
    column = np.asarray(differences, dtype=np.float64)
    tail, n = (1 - level) / 2, column.size
    if n > MAX_WALSH:
        return _sign_interval(np.sort(column), level)
    outside = _largest_rejected(n, tail)
    if outside < 0:
        return None
    walsh = np.sort(_walsh(column))
    return Interval(
        float(walsh[outside]), float(walsh[walsh.size - 1 - outside]), level, "signed_rank"
    )


def by_signed_ranks(differences: ArrayLike, *, zeros: Zeros = "pratt") -> TestOutcome:
    """Give the signed-rank test and the interval that inverts it; open for too few data sets."""
    column = np.asarray(differences, dtype=np.float64)

    def ends_at(level: float) -> Ends:
        interval = difference_interval(column, level)
        return OPEN if interval is None else (interval.low, interval.high)

    return TestOutcome(
        ends_at=ends_at,
        p_value=signed_rank(column, zeros=zeros).p_value,
        method="wilcoxon",
        interval_method="sign" if column.size > MAX_WALSH else "signed_rank",
    )


def _largest_rejected(n: int, tail: float) -> int:
    """Give the largest t with P(T ≤ t) ≤ tail, −1 if there is none."""
    if n <= MAX_EXACT:
        below = np.cumsum(_sign_counts(np.arange(1, n + 1))) / 2.0**n
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

    Source: S. Wellek, Testing Statistical Hypotheses of Equivalence, CRC 2010, chapter 5.
    """
    column = np.asarray(differences, dtype=np.float64)
    above, below = (without_noise(column + shift) for shift in (region, -region))
    return max(signed_rank(above).greater, signed_rank(below).less)


def without_noise(differences: ArrayLike, largest: float | None = None) -> Array:
    """Round differences to twelve digits of the largest score.

    0.9 − 0.8 and 0.8 − 0.7 differ in the last bit; on paper they are a tie.
    """
    column = np.asarray(differences, dtype=np.float64)
    scale = float(np.abs(column).max()) if largest is None else largest
    if scale == 0:
        return column
    decimals = DIGITS - 1 - math.floor(math.log10(scale))
    return np.round(column, decimals) if decimals <= MAX_DECIMALS else column


@dataclass(frozen=True, kw_only=True)
class FriedmanTest:
    """Whether k classifiers differ at all, from their ranks on N data sets.

    `chi2` is Friedman's without correction for ties, the corrected one beside it; `f` is Iman and
    Davenport's, whose `p_value` is the one to use.  With every rank tied all p-values are 1.
    """

    chi2: float
    chi2_p_value: float
    chi2_tie_corrected: float
    tie_corrected_p_value: float
    f: float
    degrees: tuple[int, int]
    p_value: float


def ranks_of(scores: ArrayLike, *, higher_is_better: bool = True) -> Array:
    """Rank the classifiers on each data set: 1 for the best, ties share the average rank."""
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    return np.array([mean_ranks(-row if higher_is_better else row) for row in table])


def mean_ranks(values: Array) -> Array:
    """Rank from 1 for the smallest; equal values share the mean of their ranks."""
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(ties) - (ties - 1) / 2)[place])


def friedman(ranks: ArrayLike) -> FriedmanTest:
    """Test by ranks whether k classifiers do equally well, given N data sets.

    χ² = 12N/(k(k + 1)) · Σⱼ (R̄ⱼ − (k + 1)/2)², too seldom significant; F = (N − 1)χ²/(N(k − 1) −
    χ²) of k − 1 and (k − 1)(N − 1) degrees.  Where all agree on one order, p is exact: (k!)^(1 −
    N).  The correction for ties divides χ² by 1 − Σ(t³ − t)/(N(k³ − k)).
    Sources: M. Friedman, JASA 32, 675-701, 1937; R. L. Iman and J. M. Davenport, Communications in
    Statistics A9(6), 571-595, 1980.
    """
    table = np.asarray(ranks, dtype=np.float64)
    n, k = table.shape
    chi2 = 12 * n / (k * (k + 1)) * float(((table.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    counts = (np.unique(row, return_counts=True)[1].astype(np.float64) for row in table)
    ties = sum(float((count**3 - count).sum()) for count in counts)
    untied = 1 - ties / (n * (k**3 - k))
    corrected = chi2 / untied if untied > 0 else 0.0
    degrees = (k - 1, (k - 1) * (n - 1))
    rest = n * (k - 1) - chi2
    # Nothing is left over only when all rows are one order; rounding may leave a trace.
    agreed = rest <= 1e-9 * n * (k - 1)
    f = math.inf if agreed else (n - 1) * chi2 / rest
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


def rank_standard_error(classifiers: int, datasets: int) -> float:
    r"""Give the standard deviation of the difference of two average ranks, if all are alike.

    .. math:: \sqrt{\frac{k (k + 1)}{6 N}}
    """
    return math.sqrt(classifiers * (classifiers + 1) / (6 * datasets))


def rank_test(first: float, second: float, classifiers: int, datasets: int) -> tuple[float, float]:
    """Test whether two classifiers have the same average rank: z and its two-sided p-value.

    z = (R̄₁ − R̄₂)/√(k(k + 1)/(6N)), normal for many data sets; positive if the second is better.
    """
    z = (first - second) / rank_standard_error(classifiers, datasets)
    return z, 2 * float(ndtr(-abs(z)))


def range_tail(q: float, k: int) -> float:
    """Give the probability that k standard normals spread over more than q.

    k ∫ φ(z)[Φ(z)^(k−1) − (Φ(z) − Φ(z − q))^(k−1)] dz, a form exact far out in the tail.
    """
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
    """Give the point of the studentised range, over √2, that `classifiers` alike stay within.

    Computed, not read from a table: printed ones are cut off at three decimals.
    """
    tail = 1 - level
    low, high = 0.0, 2 * REACH
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, classifiers) > tail else (low, middle)
    return (low + high) / 2 / math.sqrt(2)


def nemenyi_difference(classifiers: int, datasets: int, level: float = 0.95) -> float:
    """Give the critical difference of Nemenyi's test of all pairs: q·√(k(k + 1)/(6N)).

    Source: P. B. Nemenyi, Distribution-free multiple comparisons, PhD thesis, Princeton, 1963.
    """
    quantile = nemenyi_quantile(classifiers, level)
    return quantile * rank_standard_error(classifiers, datasets)


def nemenyi_p_value(first: float, second: float, classifiers: int, datasets: int) -> float:
    """Give the p-value of Nemenyi's test of two average ranks, adjusted for all pairs."""
    z, _ = rank_test(first, second, classifiers, datasets)
    return range_tail(abs(z) * math.sqrt(2), classifiers)


def bonferroni_dunn_quantile(classifiers: int, level: float = 0.95) -> float:
    """Give the normal quantile for k − 1 comparisons with a control: 1 − (1 − level)/(2(k − 1)).

    For k = 9 at 95 % it is 2.734; Demšar's table 5 (b), and its many copies, have 2.724.
    """
    return -float(ndtri((1 - level) / (2 * (classifiers - 1))))


def bonferroni_dunn_difference(classifiers: int, datasets: int, level: float = 0.95) -> float:
    """Give the critical difference of average ranks for comparisons with a control only."""
    quantile = bonferroni_dunn_quantile(classifiers, level)
    return quantile * rank_standard_error(classifiers, datasets)


def cliques(average_ranks: ArrayLike, difference: float) -> tuple[tuple[int, ...], ...]:
    """Find the largest groups of two or more whose ranks lie closer than a critical difference.

    Each group is listed from the best to the worst, by the places of its members.
    """
    ranks = np.asarray(average_ranks, dtype=np.float64)
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and ranks[order[end]] - ranks[order[start]] < difference:
            end += 1
        if end - start > 1 and end > reached:
            groups.append(tuple(int(place) for place in order[start:end]))
            reached = end
    return tuple(groups)
