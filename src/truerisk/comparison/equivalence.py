"""Are two models equally good for practical purposes: equivalence and non-inferiority."""

import math
from collections.abc import Callable

from truerisk.aliases import Ends
from truerisk.checks import check_number
from truerisk.comparison.predictions.paired_difference import check_paired_table, paired_score_p
from truerisk.errors import InputError

TOLERANCE = 1e-9  # of a p-value: finer than any use of one


def equivalence_p(
    both: int, only_first: int, only_second: int, neither: int, *, region: float
) -> float:
    r"""Give the p-value of two models' shares on the same examples differing by `region` or more.

    The larger of the two one-sided p-values of Tango's score test,

    .. math:: \max\bigl(p(\delta \le -region),\; p(\delta \ge region)\bigr)

    A small one shows that the models are equivalent.  For many independent examples, models that
    differ by `region` or more are called equivalent at t with probability t at most.

    Parameters
    ----------
    both, only_first, only_second, neither
        Examples by which of the two models judges them rightly.
    region
        The smallest difference that matters, above 0.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.
    .. [2] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability", Journal of
       Pharmacokinetics and Biopharmaceutics 15, 657-680, 1987.

    Examples
    --------
    >>> round(equivalence_p(120, 4, 5, 31, region=0.05), 4)
    0.0246
    """
    n = sum(check_paired_table(both, only_first, only_second, neither))
    margin = _checked_region(region, widest=1.0)
    above = paired_score_p(only_first, only_second, n, null=-margin, alternative="greater")
    below = paired_score_p(only_first, only_second, n, null=margin, alternative="less")
    return max(above, below)


def non_inferiority_p(
    both: int,
    only_first: int,
    only_second: int,
    neither: int,
    *,
    region: float,
    higher_is_better: bool = True,
) -> float:
    r"""Give the p-value of the second model being worse than the first by `region` or more.

    One one-sided test of Tango's score: :math:`p(\delta \le -region)`, or
    :math:`p(\delta \ge region)` where the counts are of wrong answers.  A small one shows that the
    second model is not worse by as much as matters.

    Parameters
    ----------
    both, only_first, only_second, neither
        Examples by which of the two models judges them rightly.
    region
        The smallest loss that matters, above 0.
    higher_is_better
        False if the counts are of wrong answers.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.

    Examples
    --------
    >>> round(non_inferiority_p(120, 4, 5, 31, region=0.05), 4)
    0.0071
    """
    n = sum(check_paired_table(both, only_first, only_second, neither))
    margin = _checked_region(region, widest=1.0)
    if higher_is_better:
        return paired_score_p(only_first, only_second, n, null=-margin, alternative="greater")
    return paired_score_p(only_first, only_second, n, null=margin, alternative="less")


def equivalence_p_from_ends(ends_at: Callable[[float], Ends], *, region: float) -> float:
    r"""Give the p-value of a difference of `region` or more in any measure, from its intervals.

    .. math:: \inf\,\{\, t < ½ :\; \text{the interval at the level } 1 - 2t \text{ lies strictly
              within} \pm region \,\}

    that is, the two one-sided tests that the intervals are the inversion of.  1 where even the
    narrowest interval reaches beyond, found by halving: the intervals must be nested.

    Parameters
    ----------
    ends_at
        Gives the ends of the interval for the difference at any level.
    region
        The smallest difference that matters, above 0, in units of the measure.

    References
    ----------
    .. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability", Journal of
       Pharmacokinetics and Biopharmaceutics 15, 657-680, 1987.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> def ends_at(level):  # a difference of 0.01 with a standard error of 0.02
    ...     spread = 0.02 * ndtri(0.5 + level / 2)
    ...     return 0.01 - spread, 0.01 + spread
    >>> round(equivalence_p_from_ends(ends_at, region=0.05), 4)  # P(Z ≤ −2)
    0.0228
    """
    margin = _checked_region(region)

    def shown_at(level: float) -> bool:
        low, high = ends_at(level)
        return -margin < low and high < margin

    return _smallest(shown_at)


def non_inferiority_p_from_ends(
    ends_at: Callable[[float], Ends], *, region: float, higher_is_better: bool = True
) -> float:
    """Give the p-value of the second model being worse by `region` or more, from the intervals.

    As `equivalence_p_from_ends`, but only the end on the worse side has to lie within the region.

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> def ends_at(level):  # a difference of 0.01 with a standard error of 0.02
    ...     spread = 0.02 * ndtri(0.5 + level / 2)
    ...     return 0.01 - spread, 0.01 + spread
    >>> round(non_inferiority_p_from_ends(ends_at, region=0.05), 5)  # P(Z ≤ −3)
    0.00135
    """
    margin = _checked_region(region)

    def shown_at(level: float) -> bool:
        low, high = ends_at(level)
        return low > -margin if higher_is_better else high < margin

    return _smallest(shown_at)


def _smallest(shown_at: Callable[[float], bool]) -> float:
    """Halve the p-values t up to ½ for the smallest whose interval, at 1 − 2t, shows it."""
    too_small, enough = 0.0, 0.5
    while enough - too_small > TOLERANCE:
        middle = (too_small + enough) / 2
        if shown_at(1 - 2 * middle):
            enough = middle
        else:
            too_small = middle
    return enough if enough < 0.5 else 1.0


def _checked_region(region: float, *, widest: float = math.inf) -> float:
    if check_number(region, "region", low=0.0, high=widest) == 0:
        raise InputError("`region` must be above 0; got 0. A difference is never exactly 0.")
    return float(region)
