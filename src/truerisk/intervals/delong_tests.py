"""Are two areas under the ROC curve the same: on the same examples, and on different ones."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from truerisk.checks import check_level
from truerisk.errors import InputError
from truerisk.intervals.auc import Placements, delong_covariance, placements
from truerisk.results import Interval


@dataclass(frozen=True, kw_only=True)
class AreaComparison:
    """Two areas, their difference (first − second), and the test of its being 0.

    `degrees` is infinite for the paired test, which is normal.  Where the difference has no
    variance, `interval` is None, and `p_value` is 1 if the areas are equal and NaN, undefined, if
    not.
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
            f"`scores_positive` must have 2 columns, one a model; got {placed.areas.size}."
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
    share = sum(v * v / (_size(one) - 1) for v, one in zip(variances, placed, strict=True))
    degrees = total * total / share if share > 0 else math.inf
    return _comparison(
        (areas[0], areas[1]), total, degrees=degrees, level=level, method="delong_unpaired"
    )


def _size(placed: Placements) -> int:
    return int(placed.of_positives.shape[0] + placed.of_negatives.shape[0])


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
        if math.isinf(degrees):
            p_value, width = 2 * float(ndtr(-abs(statistic))), -float(ndtri(tail)) * error
        else:
            p_value = 2 * float(stdtr(degrees, -abs(statistic)))
            width = -float(stdtrit(degrees, tail)) * error
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
