r"""Where the true curve may run: bands that hold at *every* threshold at once, intervals for bins.

Of n independent scores, k reach a threshold.  The true share p of scores that reach it lies between
the order statistics :math:`U_{(k)} \le p \le U_{(k+1)}` of n uniform numbers, whatever the
threshold and whatever the distribution.  Their quantiles are the ends of the exact interval for k
of n; so if every order statistic lies within its own central interval, every exact interval covers,
at all thresholds together.  The band is therefore the interval of Clopper and Pearson at a higher,
*local* level, the same everywhere, and `local_level` is the one at which that happens with the
requested probability [1]_.

Problem   P(lowₖ ≤ U₍ₖ₎ ≤ highₖ for k = 1 … n),  lowₖ and highₖ quantiles of Beta(k, n + 1 − k)
Method    U₍ₖ₎ ≥ t says that fewer than k of the numbers are below t.  Their number is a Poisson
          process given that it ends at n: one convolution from each end to the next, and nothing
          outside the ends is carried on [2]_
Cost      of order n² with short arrays: milliseconds up to n = 100.  Beyond, the same recursion was
          run once; between its values local levels are interpolated

References
----------
.. [1] S. Aldor-Noiman, L. D. Brown, A. Buja, W. Rolke and R. A. Stine, "The power to see: A new
   graphical test of normality", American Statistician 67(4), 249-260, 2013.
.. [2] A. Moscovich and B. Nadler, "Fast calculation of boundary crossing probabilities for Poisson
   processes", Statistics and Probability Letters 123, 177-182, 2017.
"""

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.aliases import Array, ArrayLike, Bounds
from truerisk.checks import check_level, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.intervals.binomial import clopper_pearson
from truerisk.intervals.distributions import beta_log_odds, logistic
from truerisk.measures.calibration import CalibrationCurve
from truerisk.measures.curves import Curve, PrecisionRecallCurve, RocCurve
from truerisk.tallies.ranking import THINNED_TO, TOP, at_steps

EXACT_UP_TO = 100
MIN_LEVEL = 0.2  # a lower level is answered with the band of this one
MIN_MISS = 5e-6  # a smaller one is shared out evenly (Bonferroni): the recursion has no digits
TOLERANCE = 1e-7
CAUTION = 0.99  # interpolation is off by less

# How often in a band some end is crossed, −log P, when each single interval misses with the
# probability of its column; the rows are n.  By the recursion below, in full.
LOCAL_MISSES = tuple(10 ** (-half / 2) for half in range(2, 17))
# fmt: off
TABLE: dict[int, tuple[float, ...]] = {
    100: (
        1.5438, 5.3367e-1, 1.9446e-1, 7.0853e-2, 2.5418e-2, 8.9558e-3, 3.1051e-3, 1.0624e-3,
        3.5968e-4, 1.2074e-4, 4.0253e-5, 1.3345e-5, 4.4033e-6, 1.4472e-6, 4.7407e-7,
    ),
    316: (
        2.0898, 7.2850e-1, 2.6963e-1, 1.0005e-1, 3.6567e-2, 1.3114e-2, 4.6222e-3, 1.6055e-3,
        5.5114e-4, 1.8740e-4, 6.3229e-5, 2.1198e-5, 7.0693e-6, 2.3469e-6, 7.7615e-7,
    ),
    1_000: (
        2.6533, 9.2971e-1, 3.4763e-1, 1.3056e-1, 4.8313e-2, 1.7534e-2, 6.2484e-3, 2.1925e-3,
        7.5967e-4, 2.6054e-4, 8.8618e-5, 2.9935e-5, 1.0054e-5, 3.3605e-6, 1.1185e-6,
    ),
    3_162: (
        3.2233, 1.1333, 4.2670e-1, 1.6159e-1, 6.0301e-2, 2.2062e-2, 7.9211e-3, 2.7985e-3,
        9.7579e-4, 3.3662e-4, 1.1511e-4, 3.9084e-5, 1.3190e-5, 4.4285e-6, 1.4804e-6,
    ),
    10_000: (
        3.7961, 1.3379, 5.0623e-1, 1.9284e-1, 7.2391e-2, 2.6636e-2, 9.6136e-3, 3.4128e-3,
        1.1952e-3, 4.1397e-4, 1.4210e-4, 4.8413e-5, 1.6392e-5, 5.5208e-6, 1.8510e-6,
    ),
    31_623: (
        4.3699, 1.5428, 5.8593e-1, 2.2416e-1, 8.4518e-2, 3.1228e-2, 1.1314e-2, 4.0303e-3,
        1.4159e-3, 4.9183e-4, 1.6927e-4, 5.7815e-5, 1.9621e-5, 6.6228e-6, 2.2250e-6,
    ),
    100_000: (
        4.9441, 1.7479, 6.6568e-1, 2.5551e-1, 9.6659e-2, 3.5826e-2, 1.3017e-2, 4.6489e-3,
        1.6371e-3, 5.6988e-4, 1.9652e-4, 6.7245e-5, 2.2860e-5, 7.7286e-6, 2.6005e-6,
    ),
}

FURTHER_PLACES = 201  # at which the band of a precision-recall curve is given, besides its corners
NO_BAND = (
    "The rows are weighted, or come in groups: how far such a curve may be off is not known, and "
    "no band is promised."
)


# fmt: on


def simultaneous_bounds(k: ArrayLike, n: int, level: float = 0.95) -> Bounds:
    """Give bounds for the true shares at all thresholds together, from the k of n that reach each.

    All cover with probability at least `level` if the n scores are independent; with ties, more
    often.
    """
    distinct, at = np.unique(np.asarray(k), return_inverse=True)
    low, high = clopper_pearson(distinct, n, local_level(n, level))
    return low[at], high[at]


@functools.lru_cache(maxsize=1024)
def local_level(n: int, level: float = 0.95) -> float:
    """Give the level of each interval at which a band of n independent scores has this level.

    Exact up to n = 100; above, safe by about 2 % of the miss: 95.07 % for 95 % at n = 10⁶.
    """
    check_whole_number(n, "n")
    level = check_level(level)
    if n <= 1:
        return level
    target = -math.log(max(level, MIN_LEVEL))
    if target < MIN_MISS:
        return 1 - (1 - level) / n
    return 1 - (_local_miss(n, target) if n <= EXACT_UP_TO else _interpolated(n, target))


def _local_miss(n: int, target: float) -> float:
    """Find the local miss whose band is crossed as often as wanted.

    Crossings are nearly proportional to the local miss: a few corrections of its size suffice.
    """
    miss = -math.expm1(-target) / n
    for _ in range(60):
        factor = target / -math.log(probability_inside(n, miss))
        miss *= factor
        if abs(factor - 1) < TOLERANCE:
            break
    return miss


def probability_inside(n: int, miss: float) -> float:
    """Give the probability that every order statistic lies in its central interval of 1 − miss."""
    k = np.arange(1.0, n + 1)
    low: Array = logistic(beta_log_odds(k, n + 1 - k, np.full(n, miss / 2)))
    ends = np.concatenate([low, 1 - low[::-1]])
    is_high = np.repeat([False, True], n)
    order = np.argsort(ends, kind="stable")
    counts = np.arange(n + 1)
    log_factorial = np.array([math.lgamma(count + 1.0) for count in range(n + 1)])
    chance = np.zeros(n + 1)  # of each number of uniforms so far, and of no end crossed
    chance[0] = 1.0
    least = most = 0
    means = n * np.diff(ends[order], prepend=0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(means)
    for mean, log_mean, high in zip(means, logs, is_high[order], strict=True):
        if mean > 0:
            inside, size = slice(least, most + 1), most - least + 1
            step = np.exp(counts[:size] * log_mean - mean - log_factorial[:size])
            chance[inside] = np.convolve(chance[inside], step)[:size]
        if high:
            least += 1
        else:
            most += 1
    ending = n * (1 - ends[order[-1]])
    return float(chance[n] * math.exp(log_factorial[n] - n * math.log(n) + n - ending))


def _interpolated(n: int, target: float) -> float:
    """Interpolate the local miss in a table; beyond the last row, follow the last two.

    All is nearly straight in log(local miss), log(crossings) and log(log(n)).
    """
    place = np.log(np.log(list(TABLE)))
    misses = np.log(LOCAL_MISSES)[::-1]
    log_misses = np.array(
        [np.interp(math.log(target), np.log(crossed)[::-1], misses) for crossed in TABLE.values()]
    )
    here = math.log(math.log(n))
    row = min(int(np.searchsorted(place, here, side="right")), len(place) - 1)
    way = (here - place[row - 1]) / (place[row] - place[row - 1])
    return CAUTION * math.exp(log_misses[row - 1] + way * (log_misses[row] - log_misses[row - 1]))


@dataclass(frozen=True, eq=False, repr=False)
class Band(Curve):
    """Between `low` and `high` at each x; `joined` says whether it goes on between the places."""

    kind: ClassVar[str] = "band"

    x: Array
    low: Array
    high: Array
    level: float
    method: str
    joined: bool = True
    label: str = ""

    def _words(self) -> str:
        return f"{self.method} band at {100 * self.level:.10g} %, {len(self.x):,} places"


@dataclass(frozen=True)
class Corners:
    """Rectangles, one per threshold, which hold the true rates; all four ascend."""

    fpr_low: Array
    fpr_high: Array
    tpr_low: Array
    tpr_high: Array


def confidence_band(curve: RocCurve | PrecisionRecallCurve, *, level: float = 0.95) -> Band:
    r"""Give the band in which the whole true curve lies, not only one point of it.

    Positives and negatives are two independent samples.  In each, the shares that reach the
    thresholds have bounds that hold at all of them together (`simultaneous_bounds`).  With level √L
    for each, the true (FPR, TPR) of every threshold lies in the rectangle of its bounds, with
    probability L.  A true ROC curve at x passes through one of the rectangles that stand over x, so
    it lies between the lowest floor and the highest ceiling of these:

    .. math:: \min_{i:\,a_i \le x \le b_i} TPR^{low}_i \;\le\; ROC(x) \;\le\;
              \max_{i:\,a_i \le x \le b_i} TPR^{high}_i

    As all bounds ascend with the threshold's rank, these are the first and the last such rectangle.
    The band is drawn by straight lines through the corners, which lie outside of these steps: so it
    also holds the lines that join the points of a true curve with ties.

    Precision is :math:`\pi r / (\pi r + (1 - \pi) f)`: it rises with the prevalence π and falls
    with the false positive rate f at recall r.  The bounds of f at r come from the same rectangles,
    that of π from Clopper and Pearson, at level ∛L each: given the numbers of positives and
    negatives the two samples are independent, and the levels multiply.  Between the places at
    which it is given, the band is bounded by tangents where chords would cut off some of it.

    **Promised**: for independent examples, any n and any scores, the whole true curve lies in the
    band with probability at least `level`.  For precision and recall, the numbers of positives and
    negatives must not have been chosen.  Weights and groups leave no such promise, and are refused.
    The band is cautious, as a curve leaves it only where it leaves all rectangles over x: bands of
    90 % held more than 97 % of simulated curves.

    Parameters
    ----------
    curve
        As `roc`, `precision_recall` or an evaluation's `curves` give it.
    level
        Confidence level of the whole band.

    References
    ----------
    .. [1] S. Aldor-Noiman, L. D. Brown, A. Buja, W. Rolke and R. A. Stine, "The power to see: A new
       graphical test of normality", American Statistician 67(4), 249-260, 2013.
    .. [2] G. Campbell, "Advances in statistical methodology for the evaluation of diagnostic and
       laboratory tests", Statistics in Medicine 13, 499-508, 1994.

    Examples
    --------
    >>> from truerisk.measures.curves import roc
    >>> scores = np.arange(200)
    >>> band = confidence_band(roc(scores % 7 + scores > 100, scores))
    >>> print(np.interp([0.2, 0.5], band.x, band.low).round(2))
    [0.93 0.93]
    """
    check_level(level)
    if not isinstance(curve, (RocCurve, PrecisionRecallCurve)):
        raise InputError(f"`curve` must be of `roc` or `precision_recall`; got {shown(curve)}.")
    if curve.n_positive is None or curve.n_negative is None or curve.fpr is None:
        raise InputError(f"`curve` must be of independent examples of equal weight. {NO_BAND}")
    if not curve.n_positive or not curve.n_negative:
        raise InputError(
            f"`curve` must have positives and negatives; got {curve.n_positive} and "
            f"{curve.n_negative}."
        )
    if isinstance(curve, RocCurve):
        return _roc_band(_corners(curve.fpr, curve.tpr, curve, level ** (1 / 2)), level)
    first = np.zeros(1)  # nothing found, which has no precision
    fpr, recall = np.append(first, curve.fpr), np.append(first, curve.recall)
    return _precision_band(_corners(fpr, recall, curve, level ** (1 / 3)), curve, level)


def _corners(
    fpr: Array, tpr: Array, curve: RocCurve | PrecisionRecallCurve, level: float
) -> Corners:
    n_negative, n_positive = curve.n_negative or 0, curve.n_positive or 0
    fp, tp = np.rint(fpr * n_negative), np.rint(tpr * n_positive)
    complete = curve.complete and len(fp) <= THINNED_TO
    if len(fp) > THINNED_TO:
        kept = at_steps(fp) | at_steps(tp)
        kept[:TOP] = kept[-1] = True
        fp, tp = fp[kept], tp[kept]
    fpr_low, fpr_high = simultaneous_bounds(fp, n_negative, level)
    tpr_low, tpr_high = simultaneous_bounds(tp, n_positive, level)
    if not complete:  # a threshold that was left out lies between two that were kept
        fpr_low, fpr_high = fpr_low[:-1], fpr_high[1:]
        tpr_low, tpr_high = tpr_low[:-1], tpr_high[1:]
    return Corners(fpr_low, fpr_high, tpr_low, tpr_high)


def _floor(right: Array, low: Array) -> tuple[Array, Array]:
    """Keep the corners at the right of the floors: straight lines between them lie below."""
    x, first = np.unique(right, return_index=True)
    return x, low[first]


def _ceiling(left: Array, high: Array) -> tuple[Array, Array]:
    """Keep the corners at the left of the ceilings: straight lines between them lie above."""
    x, last = np.unique(left[::-1], return_index=True)
    return x, high[::-1][last]


def _roc_band(corners: Corners, level: float) -> Band:
    floor = _floor(corners.fpr_high, corners.tpr_low)
    ceiling = _ceiling(corners.fpr_low, corners.tpr_high)
    x = np.unique(np.concatenate([[0.0], floor[0], ceiling[0], [1.0]]))
    return Band(x, np.interp(x, *floor), np.interp(x, *ceiling), level, "simultaneous_rectangles")


def _precision_band(corners: Corners, curve: PrecisionRecallCurve, level: float) -> Band:
    n_positive, n_negative = curve.n_positive or 0, curve.n_negative or 0
    prevalence = clopper_pearson(n_positive, n_positive + n_negative, level ** (1 / 3))
    least = _floor(corners.tpr_high, corners.fpr_low)
    most = _ceiling(corners.tpr_low, corners.fpr_high)
    recall = np.unique(np.concatenate([np.linspace(0, 1, FURTHER_PLACES), least[0], most[0]]))
    floor = precision_line(recall, np.interp(recall, *most), float(prevalence[0]), np.minimum)
    ceiling = precision_line(recall, np.interp(recall, *least), float(prevalence[1]), np.maximum)
    x = np.unique(np.concatenate([floor[0], ceiling[0]]))
    return Band(x, np.interp(x, *floor), np.interp(x, *ceiling), level, "simultaneous_rectangles")


def precision_line(
    recall: Array, fpr: Array, prevalence: float, outer: np.ufunc
) -> tuple[Array, Array]:
    """Bound precision by straight lines on its outer side.

    Where the false positive rate is straight in recall, precision is a hyperbola: its chord lies on
    one side and its tangents on the other; those at r₁ and r₂, where shares D₁ and D₂ are called
    positive, meet at ((r₁D₂ + r₂D₁), (p₁D₁ + p₂D₂)) / (D₁ + D₂).
    """
    right, wrong = prevalence * recall, (1 - prevalence) * fpr
    called = right + wrong
    # Nothing found: a precision that is not there is not bounded from above.
    precision = np.divide(right, called, out=np.ones_like(called), where=called > 0)
    here, there = slice(None, -1), slice(1, None)
    both = called[here] + called[there]
    between = (recall[here] * called[there] + recall[there] * called[here]) / both
    met = (right[here] + right[there]) / both
    chord = np.interp(between, recall, precision)
    x = np.concatenate([recall, between])
    order = np.argsort(x, kind="stable")
    return x[order], np.concatenate([precision, outer(met, chord)])[order]


def calibration_intervals(curve: CalibrationCurve, *, level: float = 0.95) -> Band:
    r"""Give an interval for the true share of positives in each bin, all of them together.

    Of k positives among n, Clopper and Pearson's at level :math:`L^{1/b}` for b bins: the bins are
    formed by the scores alone; their counts are independent, and the levels multiply.  The
    examples of a bin have shares of their own; the number of positives then varies less than a
    binomial one of the mean share [1]_, and the interval still covers.

    Promised for independent examples of equal weight; weights are refused.

    Parameters
    ----------
    curve
        What `tr.calibration` gives.
    level
        Confidence level of all bins together.

    References
    ----------
    .. [1] W. Hoeffding, "On the distribution of the number of successes in independent trials",
       Annals of Mathematical Statistics 27(3), 713-721, 1956.

    Examples
    --------
    >>> from truerisk.measures.calibration import calibration
    >>> curve = calibration([0, 1, 0, 1] * 10, [0.1, 0.3, 0.6, 0.8] * 10, bins=2)
    >>> intervals = calibration_intervals(curve)
    >>> print(intervals.low.round(2), intervals.high.round(2))
    [0.25 0.25] [0.75 0.75]
    """
    check_level(level)
    if curve.count.dtype.kind not in "iu":
        raise InputError("`curve` must be of examples of equal weight; these are weighted.")
    low, high = clopper_pearson(curve.positives, curve.count, level ** (1 / len(curve.count)))
    return Band(curve.mean_score, low, high, level, "clopper_pearson_together", joined=False)
