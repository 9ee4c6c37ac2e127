"""What one test said of two equally good models."""

import math
from dataclasses import dataclass

from truerisk.results import Comparison, Interval


@dataclass(frozen=True)
class Outcome:
    """The p-value of a default test, the ends of its interval, and what it is called.

    NaN where the test has no interval, or is undefined.
    """

    p_value: float
    method: str
    low: float = math.nan
    high: float = math.nan


Found = dict[str, Outcome]


def outcome_of(comparison: Comparison) -> Outcome:
    """Take what is needed of a comparison."""
    p_value = math.nan if comparison.p_value is None else comparison.p_value
    return with_interval(p_value, comparison.method, comparison.difference.interval)


def with_interval(p_value: float, method: str, interval: Interval | None) -> Outcome:
    """Put a p-value and an interval together; either may be missing.

    Examples
    --------
    >>> with_interval(0.2, "sign", None)
    Outcome(p_value=0.2, method='sign', low=nan, high=nan)
    """
    if interval is None:
        return Outcome(p_value, method)
    return Outcome(p_value, method, interval.low, interval.high)
