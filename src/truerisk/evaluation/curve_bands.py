"""Where the true curve may run: bands for curves over all thresholds, intervals for bins."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_level, shown
from truerisk.errors import InputError
from truerisk.intervals.bands import simultaneous_bounds
from truerisk.intervals.binomial import clopper_pearson
from truerisk.measures.calibration import CalibrationCurve
from truerisk.measures.curves import Curve, PrecisionRecallCurve, RocCurve
from truerisk.tallies.ranking import THINNED_TO, TOP, at_steps

FURTHER_PLACES = 201  # at which the band of a precision-recall curve is given, besides its corners
NO_BAND = (
    "The rows are weighted, or come in groups: how far such a curve may be off is not known, and "
    "no band is promised."
)


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
    thresholds have bounds that hold at all thresholds together (`intervals.bands`).  With level √L
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
