"""The significance tests of text categorization: Yang and Liu's s, S, T, T′ and p [1]_.

All are two-sided, of the second system against the first; where a one-sided p-value is printed, it
is half of it.  `first_f1` and `second_f1` are the F1 values of the categories, NaN where there is
none.  Each result says what its test assumes, which on real texts seldom holds: decisions
about one document depend on each other, and so do categories.

.. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
   section 4. https://doi.org/10.1145/312624.312647
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from truerisk.aliases import Array, ArrayLike
from truerisk.comparison.conclusion import AlternativeTest, Spread
from truerisk.comparison.datasets.rank_tests import mean_ranks
from truerisk.intervals.binomial import binomial_test
from truerisk.measures.registry import find_measure
from truerisk.tallies.cells import Cells

if TYPE_CHECKING:
    from truerisk.comparison.predictions.joined import JoinedPredictions


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


Test = Callable[[Cells, Cells], TextTest]


def macro_sign_test(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    """Test the F1 values of the categories by their signs: the S-test, every category alike.

    Exact; categories with equal F1, or without one, are dropped.
    """
    first, second = _f1_values(first_f1, second_f1)
    return _sign_test(
        int(np.count_nonzero(first > second)),
        int(np.count_nonzero(second > first)),
        "macro_sign_test",
        "The categories are a sample of independent categories.",
    )


def macro_t_test(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    """Test the F1 values of the categories by their differences: the T-test, t = d̄/(s/√n).

    Where all differences are equal the test is undefined, NaN; where all are 0, p is 1.
    """
    first, second = _f1_values(first_f1, second_f1)
    return _t_test(
        second - first,
        "macro_t_test",
        "The categories are a sample of independent categories, and the differences about normal.",
    )


def macro_t_on_ranks(first_f1: ArrayLike, second_f1: ArrayLike) -> TextTest:
    """Test the F1 values by a t-test after the values of both systems are ranked: the T′-test."""
    first, second = _f1_values(first_f1, second_f1)
    ranks = mean_ranks(np.concatenate([first, second]))
    return _t_test(
        ranks[first.size :] - ranks[: first.size],
        "macro_t_on_ranks",
        "The categories are a sample of independent categories; ranks of them are about normal.",
    )


def proportion_test(first_k: int, first_n: int, second_k: int, second_n: int) -> TextTest:
    """Test two micro-averaged proportions (recall, precision, error) by z: the p-test.

    It takes the systems as tested on independent decisions; on the same documents it is timid.
    Offered because the paper has it; `micro_sign_test` is the paired one.  NaN with no trial of
    one.
    """
    statistic = math.nan
    if first_n > 0 and second_n > 0:
        pooled = (first_k + second_k) / (first_n + second_n)
        apart = second_k / second_n - first_k / first_n
        error = math.sqrt(pooled * (1 - pooled) * (1 / first_n + 1 / second_n))
        statistic = apart / error if error > 0 else 0.0  # all succeed, or none does
    return TextTest(
        statistic=statistic,
        p_value=2 * float(ndtr(-abs(statistic))),
        method="proportion_test",
        n=first_n + second_n,
        assumes="The two systems are tested on independent decisions, which on the same documents "
        "they are not.",
    )


def text_tests(
    y_true: Any,
    first: Any,
    second: Any,
    *,
    multilabel: bool = True,
    labels: Sequence[Any] | None = None,
) -> dict[str, TextTest]:
    """Give Yang and Liu's tests of two systems by name; NaN and the reason where one is no test.

    ====================  ======================================================================
    name                  test
    ====================  ======================================================================
    micro_sign_test       s: all decisions of a document and a category, by their signs
    macro_sign_test       S: the F1 values of the categories, by their signs
    macro_t_test          T: the F1 values of the categories, by their differences
    macro_t_on_ranks      T′: the same on ranks
    proportion_recall     p: micro-averaged recall as of independent samples
    proportion_precision  p: micro-averaged precision
    proportion_error      p: the share of wrong decisions
    ====================  ======================================================================

    s and p do not apply where each document has one label: a mistake is then two wrong decisions
    that are one.  S, T and T′ do not apply to two classes of such documents, nor to one category.
    `tr.compare` has paired tests that apply everywhere.

    Parameters
    ----------
    y_true, first, second, labels
        Truth and predictions of the same documents, as for `tr.compare`.
    multilabel
        Whether a document has a set of labels.

    References
    ----------
    .. [1] Y. Yang and X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49,
       section 4. https://doi.org/10.1145/312624.312647

    Examples
    --------
    >>> truth = [{"earn", "acq"}, {"acq"}, {"grain"}, {"earn"}]
    >>> first = [{"earn"}, {"acq"}, {"acq"}, {"grain"}]
    >>> tests = text_tests(truth, first, truth)
    >>> tests["micro_sign_test"].statistic, round(tests["micro_sign_test"].p_value, 4)
    (5.0, 0.0625)
    >>> tests = text_tests(["a", "b", "b"], ["a", "b", "a"], ["a", "b", "b"], multilabel=False)
    >>> tests["macro_t_test"].assumes
    'Does not apply: two classes are a category and its complement, no sample of categories.'
    """
    # Both build on the results of tests: imported with the first call.
    from truerisk.comparison.predictions.joined import join_arrays
    from truerisk.comparison.predictions.paired_cells import PairedCells

    joined = join_arrays(
        y_true, [first, second], [None, None], multilabel=multilabel, labels=labels
    )
    both = PairedCells.of(joined, (0, 1), joined.labels).both
    return {name: _where_it_applies(name, test(*both), joined) for name, test in TESTS.items()}


def _where_it_applies(name: str, test: TextTest, joined: "JoinedPredictions") -> TextTest:
    """Give the test, or NaN with the reason why it is none here."""
    reason, of_categories = "", name.startswith("macro")
    if not joined.shared.multilabel and not of_categories:
        reason = "with one label for each document a mistake is two wrong decisions that are one."
    elif not joined.shared.multilabel and len(joined.labels) <= 2:
        reason = "two classes are a category and its complement, no sample of categories."
    elif of_categories and len(joined.labels) < 2:
        reason = "one category is no sample of categories."
    if not reason:
        return test
    return replace(test, statistic=math.nan, p_value=math.nan, assumes=f"Does not apply: {reason}")


def tests_beside(name: str, first: Cells, second: Cells) -> list[AlternativeTest]:
    """Give the tests that Yang and Liu made for the kind of measure; none for others.

    The micro sign test stands beside the Hamming loss and micro averages, with the p-test where the
    measure is a proportion; the macro tests beside the macro average of F1.
    """
    tests = [TESTS[test](first, second) for test in BESIDE.get(name, ())]
    return [AlternativeTest(one.method, one.p_value, one.assumes) for one in tests]


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
    mean = float(np.mean(differences)) if n else 0.0
    error = float(np.std(differences, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    spread = Spread(error, n - 1.0)
    undefined = math.nan if differences.any() else 0.0
    return TextTest(
        statistic=mean / error if spread.is_known else undefined,
        p_value=spread.p_value(mean),
        method=method,
        n=n,
        assumes=assumes,
    )


def _f1_values(first_f1: ArrayLike, second_f1: ArrayLike) -> tuple[Array, Array]:
    """Drop the categories in which the F1 value of one system is undefined."""
    first = np.asarray(first_f1, dtype=np.float64)
    second = np.asarray(second_f1, dtype=np.float64)
    defined = ~(np.isnan(first) | np.isnan(second))
    return first[defined], second[defined]


def _decisions(first: Cells, second: Cells) -> TextTest:
    """Test all document × category decisions at once: the s-test, dominated by common categories.

    McNemar's exact test of the decisions that only one system gets right, all examples of a joint
    cell at once.
    """
    wrong = [np.setxor1d(cells.truth.keys, cells.predicted.keys) for cells in (first, second)]
    only_first, only_second = (
        int(first.rows[np.setdiff1d(theirs, own) // len(first.labels)].sum())
        for own, theirs in (wrong, wrong[::-1])
    )
    assumes = "All decisions are independent, also those about one document in several categories."
    return _sign_test(only_first, only_second, "micro_sign_test", assumes)


def _proportions(numerator: str, denominator: str, first: Cells, second: Cells) -> TextTest:
    counts = [cells.class_counts() for cells in (first, second)]
    shares = [int(getattr(one, part).sum()) for one in counts for part in (numerator, denominator)]
    return proportion_test(*shares)


def _wrong_decisions(first: Cells, second: Cells) -> TextTest:
    counts = [cells.class_counts() for cells in (first, second)]
    wrong = [int((one.truth + one.predicted - 2 * one.tp).sum()) for one in counts]
    decisions = first.n * len(first.labels)
    return proportion_test(wrong[0], decisions, wrong[1], decisions)


def _of_categories(test: Callable[[ArrayLike, ArrayLike], TextTest]) -> Test:
    def of_f1(first: Cells, second: Cells) -> TextTest:
        return test(
            *(find_measure("f1").value(c.class_counts().one_vs_rest) for c in (first, second))
        )

    return of_f1


TESTS: dict[str, Test] = {
    "micro_sign_test": _decisions,
    "macro_sign_test": _of_categories(macro_sign_test),
    "macro_t_test": _of_categories(macro_t_test),
    "macro_t_on_ranks": _of_categories(macro_t_on_ranks),
    "proportion_recall": partial(_proportions, "tp", "truth"),
    "proportion_precision": partial(_proportions, "tp", "predicted"),
    "proportion_error": _wrong_decisions,
}
BESIDE = {
    "hamming_loss": ("micro_sign_test", "proportion_error"),
    "recall_micro": ("micro_sign_test", "proportion_recall"),
    "precision_micro": ("micro_sign_test", "proportion_precision"),
    "f1_micro": ("micro_sign_test",),
    "f1_macro": ("macro_sign_test", "macro_t_test", "macro_t_on_ranks"),
}
