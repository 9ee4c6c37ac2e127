"""What every test of two models, learners or classifiers ends in, before the conclusion."""

from collections.abc import Callable
from dataclasses import dataclass

from truerisk.aliases import Ends

Shares = tuple[float, float, float]


@dataclass(frozen=True)
class AlternativeTest:
    """What another test says of the same pair and measure; `note` says what it assumes."""

    method: str
    p_value: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class TestOutcome:
    """The interval of a difference at any level, the test of no difference, and their names.

    `p_value` is two-sided: None without a test, NaN if undefined.  `shares_at` gives the posterior
    probabilities below, within and above ± a region.
    """

    __test__ = False  # pytest takes classes of this name for tests

    ends_at: Callable[[float], Ends]
    p_value: float | None
    method: str
    interval_method: str
    notes: tuple[str, ...] = ()
    settled_by: int | None = None
    alternatives: tuple[AlternativeTest, ...] = ()
    shares_at: Callable[[float], Shares] | None = None
