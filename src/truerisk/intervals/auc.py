"""The area under the ROC curve: DeLong's variance and interval, and tests of two areas."""

import math
from dataclasses import dataclass

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.binomial import clopper_pearson
from truerisk.intervals.delta import delta_interval
from truerisk.intervals.distributions import student_cdf, student_quantile
from truerisk.results import Interval
from truerisk.tallies.ranking_weights import share_below


@dataclass(frozen=True, kw_only=True)
class Placements:
    """Where each example stands among those of the other class, for one or several scores.

    `of_positives[i, c]` is the share of the negatives that positive i exceeds by score c, ties
    half; `of_negatives[j, c]` the share of the positives that exceed negative j.
    """

    of_positives: Array
    of_negatives: Array

    @property
    def areas(self) -> Array:
        """The area under the ROC curve of each score."""
        areas: Array = self.of_positives.mean(axis=0)
        return areas


def placements(scores_positive: ArrayLike, scores_negative: ArrayLike) -> Placements:
    """Give the placements of DeLong, in O(n log n) for each score.

    Scores are (P,) and (N,), or (P, c) and (N, c) for c scores of the same examples.
    """
    positives, negatives = _columns(scores_positive), _columns(scores_negative)
    if positives.shape[1] != negatives.shape[1]:
        raise InputError(
            f"`scores_negative` must have {positives.shape[1]} columns as `scores_positive` has; "
            f"got {negatives.shape[1]}."
        )
    of_positives, of_negatives = np.empty(positives.shape), np.empty(negatives.shape)
    for c in range(positives.shape[1]):
        of_positives[:, c] = share_below(positives[:, c], negatives[:, c])
        of_negatives[:, c] = 1 - share_below(negatives[:, c], positives[:, c])
    return Placements(of_positives=of_positives, of_negatives=of_negatives)


def _columns(scores: ArrayLike) -> Array:
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, np.newaxis] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] == 0:
        raise InputError("Each class must have at least one score, in one or more columns; got 0.")
    if np.isnan(table).any():
        raise InputError(f"Scores must not be NaN; got {int(np.isnan(table).sum())} of them.")
    return table


def delong_covariance(placed: Placements) -> Array:
    """Give the covariance matrix of the areas of c scores of the same examples: S₁₀/P + S₀₁/N.

    Right for many independent examples; NaN with a single positive or negative.
    Source: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44(3), 837-845, 1988.
    """
    return _covariance_of_mean(placed.of_positives) + _covariance_of_mean(placed.of_negatives)


def _covariance_of_mean(values: Array) -> Array:
    size, columns = values.shape
    if size < 2:
        return np.full((columns, columns), np.nan)
    centred = values - values.mean(axis=0)
    covariance: Array = centred.T @ centred / ((size - 1) * size)
    return covariance


def delong_interval(
    auc: float,
    variance: float,
    n_positive: int,
    n_negative: int,
    *,
    level: float = 0.95,
) -> Interval:
    """Give the interval for an area from its variance: logit(A) ± z√V/(A(1 − A)).

    Where that fails (V is 0, A is 0 or 1), min(P, N) disjoint pairs are independent trials won with
    probability A: the exact binomial interval of A·min(P, N) of min(P, N), "paired_binomial".
    """
    area = check_number(auc, "auc", low=0.0, high=1.0)
    positives = check_whole_number(n_positive, "n_positive", low=1)
    negatives = check_whole_number(n_negative, "n_negative", low=1)
    check_level(level)
    if 0 < area < 1 and variance > 0:  # NaN is not
        interval = delta_interval(area, math.sqrt(variance), level=level, method="delong_logit")
        if interval is not None:
            return interval
    pairs = min(positives, negatives)
    low, high = clopper_pearson(area * pairs, pairs, level)
    return Interval(float(low), float(high), float(level), "paired_binomial")


def hanley_mcneil_standard_error(auc: float, n_positive: int, n_negative: int) -> float:
    """Give the standard error of an area from the area alone, for planning.

    √((A(1−A) + (P−1)(Q₁−A²) + (N−1)(Q₂−A²))/(PN)), Q₁ = A/(2−A), Q₂ = 2A²/(1+A): right if the
    scores of both classes are exponential.
    Source: J. A. Hanley and B. J. McNeil, Radiology 143(1), 29-36, 1982.
    """
    a = check_number(auc, "auc", low=0.0, high=1.0)
    positives = check_whole_number(n_positive, "n_positive", low=1)
    negatives = check_whole_number(n_negative, "n_negative", low=1)
    both_beat = a / (2 - a) - a * a
    beats_both = 2 * a * a / (1 + a) - a * a
    total = a * (1 - a) + (positives - 1) * both_beat + (negatives - 1) * beats_both
    return math.sqrt(max(total, 0.0) / (positives * negatives))


@dataclass(frozen=True, kw_only=True)
class AreaComparison:
    """Two areas, their difference (first − second), and the test of its being 0.

    Where the difference has no variance, `interval` is None, and `p_value` 1 or, if not equal, NaN.
    """

    first: float
    second: float
    difference: float
    standard_error: float
    statistic: float
    degrees: float
    p_value: float
    interval: Interval | None
    method: str


def delong_paired(
    scores_positive: ArrayLike, scores_negative: ArrayLike, *, level: float = 0.95
) -> AreaComparison:
    r"""Test whether two scores of the same examples have one area.

    .. math:: z = \frac{A_1 - A_2}{\sqrt{V_{11} + V_{22} - 2 V_{12}}}

    with DeLong's covariance matrix V.  Right for many independent examples; not for scores of which
    one is a refit of the other on these same examples.

    Parameters
    ----------
    scores_positive, scores_negative
        P × 2 and N × 2: both scores of each positive and of each negative example.
    level
        Confidence level of the interval for the difference.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or
       more correlated receiver operating characteristic curves", Biometrics 44(3), 837-845, 1988.
       https://doi.org/10.2307/2531595

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positive, negative = rng.normal(1, 1, (50, 2)), rng.normal(0, 1, (60, 2))
    >>> result = delong_paired(positive, negative)
    >>> round(result.difference, 4) == round(result.first - result.second, 4)
    True
    """
    check_level(level)
    placed = placements(scores_positive, scores_negative)
    if placed.areas.size != 2:
        raise InputError(
            f"`scores_positive` must have 2 columns, one per model; got {placed.areas.size}."
        )
    v = delong_covariance(placed)
    # Rounding can leave a difference of identical scores a variance of −1e-20.
    variance = float(v[0, 0] + v[1, 1] - 2 * v[0, 1])
    negligible = 1e-14 * float(v[0, 0] + v[1, 1])
    first, second = (float(area) for area in placed.areas)
    return _comparison(
        (first, second),
        0.0 if variance <= negligible else variance,
        degrees=math.inf,
        level=level,
        method="delong_paired",
    )


def delong_unpaired(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], *, level: float = 0.95
) -> AreaComparison:
    r"""Test whether scores of two independent sets of examples have one area.

    .. math:: D = \frac{A_1 - A_2}{\sqrt{V_1 + V_2}}, \qquad
              \nu = \frac{(V_1 + V_2)^2}{V_1^2 / (n_1 - 1) + V_2^2 / (n_2 - 1)}

    against Student's t with Welch and Satterthwaite's ν degrees of freedom.  Right for many
    independent examples in each set.

    Parameters
    ----------
    first, second
        For either set the scores of its positive and of its negative examples.
    level
        Confidence level of the interval for the difference.

    References
    ----------
    .. [1] X. Robin et al., "pROC: an open-source package for R and S+ to analyze and compare ROC
       curves", BMC Bioinformatics 12:77, 2011. https://doi.org/10.1186/1471-2105-12-77

    Examples
    --------
    >>> result = delong_unpaired(([1, 2, 3], [0, 1, 2]), ([1, 5, 3], [0, 1, 4]))
    >>> round(result.p_value, 3), round(result.degrees, 2)
    (0.867, 9.7)
    """
    check_level(level)
    placed = [placements(*scores) for scores in (first, second)]
    areas = [float(one.areas[0]) for one in placed]
    variances = [float(delong_covariance(one)[0, 0]) for one in placed]
    total = sum(variances)
    sizes = [len(one.of_positives) + len(one.of_negatives) for one in placed]
    share = sum(v * v / (size - 1) for v, size in zip(variances, sizes, strict=True))
    degrees = total * total / share if share > 0 else math.inf
    return _comparison(
        (areas[0], areas[1]), total, degrees=degrees, level=level, method="delong_unpaired"
    )


def _comparison(
    areas: tuple[float, float], variance: float, *, degrees: float, level: float, method: str
) -> AreaComparison:
    first, second = areas
    difference = first - second
    statistic, p_value, interval = math.nan, math.nan, None
    error = math.sqrt(variance) if variance >= 0 else math.nan
    if variance > 0:
        statistic = difference / error
        tail = (1 - level) / 2
        p_value = 2 * student_cdf(degrees, -abs(statistic))
        width = -student_quantile(degrees, tail) * error
        low, high = max(difference - width, -1.0), min(difference + width, 1.0)
        interval = Interval(low, high, float(level), method)
    elif difference == 0 and not np.isnan(variance):
        statistic, p_value = 0.0, 1.0
    return AreaComparison(
        first=first,
        second=second,
        difference=difference,
        standard_error=error,
        statistic=statistic,
        degrees=degrees,
        p_value=p_value,
        interval=interval,
        method=method,
    )
