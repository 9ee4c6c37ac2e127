"""The ρ-based variance of Nadeau and Bengio: refits that overlap, taken to be evenly correlated."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.resampled_tests import corrected_standard_error
from truerisk.results import Interval


def rho_based_deviation(values: ArrayLike, *, test: int, train: int) -> float:
    r"""Give the standard deviation of the mean of J refits that are correlated by ρ.

    .. math:: \hat\sigma^2 = \Bigl(\frac1J + \frac{\rho}{1 - \rho}\Bigr) S^2, \qquad
              \rho = \frac{n_{test}}{n_{test} + n_{train}}

    S² is the variance of the J values, in its J − 1 form.  Were every two values correlated by ρ,
    this would be without bias; that ρ is the share of test examples is a guess of its authors,
    right if a loss does not depend on which examples the rule was trained on.

    Parameters
    ----------
    values
        The measure on the test part of J random divisions.
    test, train
        How many examples are in either part.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003, section 3. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> round(rho_based_deviation([0.0, 0.2], test=1, train=4), 6)  # S² = .02, times 1/2 + 1/4
    0.122474
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or column.size < 2 or not np.isfinite(column).all():
        raise InputError(f"`values` must be at least two finite numbers; got {column.size}.")
    ratio = check_whole_number(test, "test", low=1) / check_whole_number(train, "train", low=1)
    return corrected_standard_error(column, ratio)


def normal_interval(value: float, deviation: float, *, level: float, method: str) -> Interval:
    r"""Give value ± z · deviation, cut off at 0 and 1.

    Covers as promised if what is estimated by `value` is normal around the truth, with this
    deviation.

    Examples
    --------
    >>> print(normal_interval(0.1, 0.02, level=0.95, method="rho_based"))
    [0.061, 0.139] at 95 %
    """
    half = -float(ndtri((1 - check_level(level)) / 2)) * deviation
    if not math.isfinite(half):
        raise InputError(f"`deviation` must be a finite number; got {deviation!r}.")
    return Interval(max(value - half, 0.0), min(value + half, 1.0), float(level), method)
