"""Assertions about models for test suites: they check bounds, not values.

A value over 0.6 may be luck; a lower end over 0.6 is not.  A failed assertion says what the
interval is, and about how many examples would settle the question.

Examples
--------
>>> import truerisk as tr
>>> from truerisk.testing import assert_at_least
>>> assert_at_least(tr.evaluate_counts([[80, 20], [40, 860]])["recall"], 0.7)
"""

from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.gates import Check, at_least, at_most, check_bound, is_better, is_not_worse
from truerisk.results import Comparison, Estimate

__all__ = ["assert_at_least", "assert_at_most", "assert_better", "assert_not_worse"]


def assert_at_least(estimate: Estimate, bound: float) -> None:
    """Fail unless the lower end of the interval is at least the bound.

    Examples
    --------
    >>> import truerisk as tr
    >>> recall = tr.evaluate_counts([[80, 20], [40, 860]])["recall"]
    >>> try:
    ...     assert_at_least(recall, 0.75)
    ... except AssertionError as error:
    ...     print(str(error).split(". ")[0])
    recall ≥ 0.75 is not shown: the lower end of its 95 % interval is 0.708157
    """
    check_bound(estimate.measure, bound, "bound")
    _demand(at_least(estimate, bound))


def assert_at_most(estimate: Estimate, bound: float) -> None:
    """Fail unless the upper end of the interval is at most the bound."""
    check_bound(estimate.measure, bound, "bound")
    _demand(at_most(estimate, bound))


def assert_better(comparison: Comparisons | Comparison) -> None:
    """Fail unless the last model is better than the first, by the main measure."""
    _demand(is_better(comparison))


def assert_not_worse(comparison: Comparisons | Comparison, *, region: float | None = None) -> None:
    """Fail unless the last model is not worse than the first by `region` or more.

    Parameters
    ----------
    comparison
        Of `compare`, `compare_files` or `compare_models`.
    region
        The smallest difference that matters; that of the comparison if absent.
    """
    _demand(is_not_worse(comparison, region))


def _demand(check: Check) -> None:
    __tracebackhide__ = True
    if not check.is_shown:
        raise AssertionError(str(check))
