"""What a test of two learners ends in: an interval at any level, and a p-value."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.special import ndtri, stdtrit

from truerisk.aliases import Ends

Shares = tuple[float, float, float]

WHOLE: Ends = (-math.inf, math.inf)
NO_TEST = (
    "The difference is the same in every refit: no spread, and so no test. For error rate and "
    "accuracy take agreement, which looks at the single examples."
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The interval at any level, and the two-sided p-value; None where the method has no test.

    `shares_at` gives, where the method is Bayesian, the posterior probabilities that the difference
    is below, within and above ± a region.
    """

    ends_at: Callable[[float], Ends]
    p_value: float | None
    method: str
    notes: tuple[str, ...] = ()
    shares_at: Callable[[float], Shares] | None = None


def without_spread(difference: float, units: float, method: str) -> Outcome:
    r"""Say what differences without any spread say.

    Where all are 0, p = 1.  The chance that n examples show no disagreement is at most
    :math:`(1 - |\delta|)^n`, which bounds the difference of two error rates exactly:

    .. math:: |\delta| \le 1 - \bigl(\tfrac{1 - level}{2}\bigr)^{1/n}

    Where all are equal but not 0, nothing can be tested: p is NaN and the interval is open.

    Examples
    --------
    >>> found = without_spread(0.0, 100, "corrected_t")
    >>> found.p_value, [round(end, 4) for end in found.ends_at(0.95)]
    (1.0, [-0.0362, 0.0362])
    """
    if difference != 0:
        return Outcome(
            ends_at=lambda _: WHOLE, p_value=math.nan, method="whole_range", notes=(NO_TEST,)
        )
    told = (
        f"No refit told the two apart: the interval is that of {units:g} examples without a "
        "disagreement."
    )

    def ends(level: float) -> Ends:
        bound = -math.expm1(math.log(min((1 - level) / 2, 0.5)) / units)
        return -bound, bound

    return Outcome(ends_at=ends, p_value=1.0, method=f"{method}, no disagreement", notes=(told,))


def student_ends(centre: float, error: float, degrees: int, level: float) -> Ends:
    """Give the ends of Student's interval.

    Examples
    --------
    >>> [round(end, 3) for end in student_ends(1.0, 0.5, 9, 0.95)]
    [-0.131, 2.131]
    """
    half = -float(stdtrit(degrees, (1 - level) / 2)) * error
    return centre - half, centre + half


def normal_ends(centre: float, error: float, level: float) -> Ends:
    """Give the ends of the interval of the normal distribution."""
    half = -float(ndtri((1 - level) / 2)) * error
    return centre - half, centre + half
