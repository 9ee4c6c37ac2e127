"""The smallest difference that matters: regions, equivalence and non-inferiority.

Equivalence is shown by two one-sided tests [1]_; for shares of right answers these are Tango's
score tests [2]_, for any other measure the tests that its intervals are the inversion of.

.. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach
   for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
   Biopharmaceutics 15, 657-680, 1987.
.. [2] T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
   paired-sample design", Statistics in Medicine 17, 891-908, 1998.
"""

import math
from collections.abc import Callable, Mapping

from truerisk.aliases import Ends
from truerisk.checks import check_number, shown
from truerisk.comparison.predictions.paired_difference import check_paired_table, paired_score_p
from truerisk.errors import InputError
from truerisk.measures.registry import base_and_average, find_measure

Region = float | Mapping[str, float] | None

TOLERANCE = 1e-9  # of a p-value: finer than any use of one


def margins_of(region: Region, names: list[str]) -> dict[str, float]:
    """Give the region of each measure: one for all, or each its own."""
    if region is None:
        return {}
    if not isinstance(region, Mapping):
        return {name: _margin(region, name) for name in names}
    unknown = next((name for name in region if name not in names), None)
    if unknown is not None:
        listed = ", ".join(dict.fromkeys(names))
        raise InputError(f"`region` must name measures compared ({listed}); got {shown(unknown)}.")
    return {name: _margin(value, name) for name, value in region.items()}


def equivalence_p(
    both: int, only_first: int, only_second: int, neither: int, *, region: float
) -> float:
    """Give the p-value of two models' shares on the same examples differing by `region` or more.

    The larger of two one-sided p-values of Tango's score test, valid for many independent examples.
    """
    counts = (both, only_first, only_second, neither)
    return max(
        non_inferiority_p(*counts, region=region, higher_is_better=higher)
        for higher in (True, False)
    )


def non_inferiority_p(
    both: int,
    only_first: int,
    only_second: int,
    neither: int,
    *,
    region: float,
    higher_is_better: bool = True,
) -> float:
    """Give the p-value, by Tango's score, of the second model being worse by `region` or more."""
    n = sum(check_paired_table(both, only_first, only_second, neither))
    margin = _checked_region(region, widest=1.0)
    if higher_is_better:
        return paired_score_p(only_first, only_second, n, null=-margin, alternative="greater")
    return paired_score_p(only_first, only_second, n, null=margin, alternative="less")


def equivalence_p_from_ends(ends_at: Callable[[float], Ends], *, region: float) -> float:
    """Give the smallest t < ½ whose interval at 1 − 2t lies strictly within ± region, else 1.

    The two one-sided tests that the intervals are the inversion of; these must be nested.
    """
    return max(
        non_inferiority_p_from_ends(ends_at, region=region, higher_is_better=higher)
        for higher in (True, False)
    )


def non_inferiority_p_from_ends(
    ends_at: Callable[[float], Ends], *, region: float, higher_is_better: bool = True
) -> float:
    """Give the p-value of the second model being worse by `region` or more, from the intervals.

    As `equivalence_p_from_ends`, but only the end on the worse side has to lie within the region.
    """
    margin = _checked_region(region)
    # Halve the p-values t up to ½ for the smallest whose interval, at 1 − 2t, shows it.
    too_small, enough = 0.0, 0.5
    while enough - too_small > TOLERANCE:
        middle = (too_small + enough) / 2
        low, high = ends_at(1 - 2 * middle)
        if low > -margin if higher_is_better else high < margin:
            enough = middle
        else:
            too_small = middle
    return enough if enough < 0.5 else 1.0


def _checked_region(region: float, *, widest: float = math.inf) -> float:
    if check_number(region, "region", low=0.0, high=widest) == 0:
        raise InputError("`region` must be above 0; got 0. A difference is never exactly 0.")
    return float(region)


def _margin(region: float, name: str) -> float:
    _checked_region(region, widest=1e300)
    low, high = find_measure(base_and_average(name)[0]).measure_range
    if region >= high - low:
        remedy = f" Write {region / 100:g} for {region:g} %." if 1 < region < 100 else ""
        raise InputError(
            f"`region` must be less than {high - low:g}, the largest difference that {name} can "
            f"have; got {region:g}.{remedy}"
        )
    return float(region)
