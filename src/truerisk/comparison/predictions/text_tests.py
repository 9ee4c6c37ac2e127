"""The significance tests of text categorization: Yang and Liu's s, S, T, T′ and p.

All are two-sided, of the second system against the first; where a one-sided p-value is printed, it
is half of it.  Each result says what its test assumes, which on real texts seldom holds: decisions
about one document depend on each other, and so do categories.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from truerisk.aliases import Array
from truerisk.checks import check_same_length, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_test

NEGLIGIBLE = 1e-12  # rounding of a difference of F1 values


@dataclass(frozen=True, kw_only=True)
class TextTest:
    """A test of two text categorization systems: the statistic, p-value, and what it assumes.

    `n` is the number of values that the test rests on: those that differ, in the sign tests.
    `p_value` is NaN where the test is undefined.
    """

    statistic: float
    p_value: float
    method: str
    n: int
    assumes: str


def micro_sign_test(first_right: ArrayLike, second_right: ArrayLike) -> TextTest:
    """Test all document × category decisions at once: the s-test, dominated by common categories.

    Decisions that both systems take rightly, or both wrongly, are ties and dropped; of the n others
    the k that the second takes rightly are binomial with probability ½ if the systems are equally
    good.  `statistic` is k.  The test is exact at every n, without a normal approximation; it is
    McNemar's exact test.

    Parameters
    ----------
    first_right, second_right
        Documents × categories: True or 1 where the system decides rightly.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> first, second = [[1, 1], [0, 1], [0, 0]], [[1, 1], [1, 1], [1, 1]]
    >>> test = micro_sign_test(first, second)  # three of three differing: 2 · ⅛
    >>> test.statistic, test.n, test.p_value
    (3.0, 3, 0.25)
    """
    first, second = (
        _truths(table, name)
        for name, table in (("first_right", first_right), ("second_right", second_right))
    )
    _check_one_shape(first_right=first, second_right=second)
    return _sign_test(
        int(np.count_nonzero(first & ~second)),
        int(np.count_nonzero(second & ~first)),
        "micro_sign_test",
        "All decisions are independent, also those about one document in several categories.",
    )


def macro_sign_test(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    """Test the F1 values of the categories by their signs: the S-test, every category alike.

    Categories in which both systems have the same F1, or one has none (NaN), are dropped; of the n
    others the k in which the second's is larger are binomial with probability ½ if neither system
    is better in more than half of the categories.  `statistic` is k.  The test is exact at every n.

    Parameters
    ----------
    first_f1, second_f1
        F1 of each category.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> test = macro_sign_test([0.5, 0.6, 0.7, 0.8], [0.6, 0.7, 0.8, 0.8])
    >>> test.statistic, test.n, test.p_value
    (3.0, 3, 0.25)
    """
    first, second = _f1_values(first_f1, second_f1)
    return _sign_test(
        int(np.count_nonzero(first > second)),
        int(np.count_nonzero(second > first)),
        "macro_sign_test",
        "The categories are a sample of independent categories.",
    )


def macro_t_test(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    r"""Test the F1 values of the categories by their differences: the T-test.

    .. math:: t = \frac{\bar d}{s / \sqrt n}, \qquad d_i = b_i - a_i

    with n − 1 degrees of freedom over the n categories in which both systems have an F1, equal ones
    included.  Where all differences are equal the test is undefined, NaN; where all are 0 the
    p-value is 1.

    Parameters
    ----------
    first_f1, second_f1
        F1 of each category.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> test = macro_t_test([0.5, 0.6, 0.7], [0.6, 0.8, 1.0])  # 0.2 / (0.1 / √3)
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (3.4641, 0.0742)
    """
    first, second = _f1_values(first_f1, second_f1)
    return _t_test(
        second - first,
        "macro_t_test",
        "The categories are a sample of independent categories, and the differences about normal.",
    )


def macro_t_on_ranks(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    """Test the F1 values by a t-test after the values of both systems are ranked: the T′-test.

    The 2n values of both systems are put in one order and replaced by their ranks, equal ones by
    their mean rank; then `macro_t_test` takes the ranks.  Less led by single extreme categories,
    and sensitive to F1 values that are often 0.

    Parameters
    ----------
    first_f1, second_f1
        F1 of each category.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> test = macro_t_on_ranks([0.1, 0.2, 0.3], [0.15, 0.9, 1.0])  # ranks 1 3 4 and 2 5 6
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (5.0, 0.0377)
    """
    first, second = _f1_values(first_f1, second_f1)
    ranks = _mean_ranks(np.concatenate([first, second]))
    return _t_test(
        ranks[first.size :] - ranks[: first.size],
        "macro_t_on_ranks",
        "The categories are a sample of independent categories; ranks of them are about normal.",
    )


def proportion_test(first_k: int, first_n: int, second_k: int, second_n: int) -> TextTest:
    r"""Test two micro-averaged proportions (recall, precision, error): the p-test.

    .. math:: z = \frac{p_2 - p_1}{\sqrt{p (1 - p) (1/n_1 + 1/n_2)}}, \qquad
              p = \frac{k_1 + k_2}{n_1 + n_2}

    It takes the two systems as judged on different, independent decisions.  On the same documents
    they are not, and agreement makes the test timid: it is offered because the paper has it, and
    `micro_sign_test` is the paired one.  `n` is n₁ + n₂; with no trial of one the test is
    undefined, NaN.

    Parameters
    ----------
    first_k, first_n, second_k, second_n
        Successes and trials of either system, pooled over all categories.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> test = proportion_test(30, 100, 50, 100)  # 0.2 / √(0.4 · 0.6 · 0.02)
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (2.8868, 0.0039)
    """
    first_trials = check_whole_number(first_n, "first_n")
    second_trials = check_whole_number(second_n, "second_n")
    first = check_whole_number(first_k, "first_k", high=first_trials)
    second = check_whole_number(second_k, "second_k", high=second_trials)
    statistic = math.nan
    if first_trials > 0 and second_trials > 0:
        pooled = (first + second) / (first_trials + second_trials)
        apart = second / second_trials - first / first_trials
        error = math.sqrt(pooled * (1 - pooled) * (1 / first_trials + 1 / second_trials))
        statistic = apart / error if error > 0 else 0.0  # all succeed, or none does
    return TextTest(
        statistic=statistic,
        p_value=2 * float(ndtr(-abs(statistic))),
        method="proportion_test",
        n=first_trials + second_trials,
        assumes="The two systems are judged on independent decisions, which on the same documents "
        "they are not.",
    )


def _sign_test(only_first: int, only_second: int, method: str, assumes: str) -> TextTest:
    n = only_first + only_second
    fewer = min(only_first, only_second)
    return TextTest(
        statistic=float(only_second),
        p_value=min(1.0, 2 * binomial_test(fewer, n, alternative="less")),
        method=method,
        n=n,
        assumes=assumes,
    )


def _t_test(differences: Array, method: str, assumes: str) -> TextTest:
    n = differences.size
    statistic = math.nan
    if not np.any(differences):
        statistic = 0.0
    elif n > 1 and np.ptp(differences) > NEGLIGIBLE:
        error = float(np.std(differences, ddof=1)) / math.sqrt(n)
        statistic = float(np.mean(differences)) / error
    return TextTest(
        statistic=statistic,
        p_value=1.0 if statistic == 0 else 2 * float(stdtr(n - 1, -abs(statistic))),
        method=method,
        n=n,
        assumes=assumes,
    )


def _mean_ranks(values: Array) -> Array:
    """Rank from 1, equal values by the mean of the ranks that they share."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Array = (last - (counts - 1) / 2)[index]
    return ranks


def _f1_values(first_f1: ArrayLike, second_f1: ArrayLike) -> tuple[Array, Array]:
    """Check F1 values, and drop the categories in which one is undefined."""
    first = np.asarray(first_f1, dtype=np.float64)
    second = np.asarray(second_f1, dtype=np.float64)
    for name, values in (("first_f1", first), ("second_f1", second)):
        wrong = values[(values < 0) | (values > 1)]
        if wrong.size:
            raise InputError(f"`{name}` must lie in [0, 1]; got {shown(wrong[0].item())}.")
    check_same_length(first_f1=first, second_f1=second)
    told = ~(np.isnan(first) | np.isnan(second))
    return first[told], second[told]


def _truths(table: ArrayLike, name: str) -> NDArray[np.bool_]:
    values = np.asarray(table)
    if values.dtype.kind not in "biuf" or not np.all((values == 0) | (values == 1)):
        wrong = next(value for value in values.ravel().tolist() if value not in {0, 1})
        raise InputError(f"`{name}` must hold 0 and 1 only; got {shown(wrong)}.")
    return values.astype(bool)


def _check_one_shape(**tables: NDArray[np.bool_]) -> None:
    shapes = {name: table.shape for name, table in tables.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"`{name}` has {shape}" for name, shape in shapes.items())
        raise InputError(f"Both tables must have one shape; {listed}.")
