import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, rankdata, ttest_rel

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.right_answers import mcnemar
from truerisk.comparison.predictions.text_tests import (
    macro_sign_test,
    macro_t_on_ranks,
    macro_t_test,
    proportion_test,
    text_tests,
)

MACRO = [macro_sign_test, macro_t_test, macro_t_on_ranks]

FIRST = [0.91, 0.50, 0.00, 0.72, 0.33, 0.80, 0.64]

SECOND = [0.93, 0.62, 0.10, 0.72, 0.20, 0.85, 0.70]

scores = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=30).map(
    lambda pairs: np.array(pairs).T / 10
)


def called(right):
    """Give truth and calls of documents in which these decisions about categories are right."""
    names = "abc"[: np.shape(right)[1]]
    truth = [set(names[:1])] * len(right)
    return truth, [
        {name for name, is_right in zip(names, row, strict=True) if (name == "a") == is_right}
        for row in np.asarray(right, bool)
    ]


def micro_sign_test(first, second):
    truth, calls = called(first)
    return text_tests(truth, calls, called(second)[1])["micro_sign_test"]


def test_the_micro_sign_test_by_hand():
    # Of six decisions four differ, three of them for the second: 2 (1 + 4) / 16.
    first = [[1, 1, 0], [0, 0, 1]]
    second = [[1, 1, 1], [1, 1, 0]]
    test = micro_sign_test(first, second)
    assert (test.statistic, test.n) == (3.0, 4)
    assert test.p_value == pytest.approx(10 / 16)
    assert test.method == "micro_sign_test"


@settings(max_examples=20, deadline=None)
@given(table=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_micro_sign_test_is_mcnemars_exact_test(table):
    first, second = np.array(table).T
    expected = mcnemar(int((first & ~second).sum()), int((second & ~first).sum()), method="exact")
    found = micro_sign_test(first[:, None], second[:, None])
    assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_the_macro_sign_test_by_hand():
    # One tie; of six others one for the first: 2 (1 + 6) / 64.
    test = macro_sign_test(FIRST, SECOND)
    assert (test.statistic, test.n, test.p_value) == (5.0, 6, pytest.approx(14 / 64))
    assert test.p_value == pytest.approx(binomtest(5, 6).pvalue)


def test_the_t_test_by_hand():
    # Differences 0.1, 0.2, 0.3: mean 0.2, deviation 0.1; t = 0.2 √3 / 0.1.
    test = macro_t_test([0.5, 0.6, 0.7], [0.6, 0.8, 1.0])
    assert test.statistic == pytest.approx(2 * math.sqrt(3))
    # With two degrees of freedom P(|T| > t) = 1 − t / √(t² + 2).
    assert test.p_value == pytest.approx(1 - 2 * math.sqrt(3) / math.sqrt(14))


def test_the_test_on_ranks_by_hand():
    # 0.1 0.2 0.2 0.3 → 1 2.5 2.5 4: differences 1.5 and 1.5 are one; with a third pair they vary.
    test = macro_t_on_ranks([0.1, 0.2, 0.9], [0.2, 0.3, 0.8])  # 1 2.5 6 and 2.5 4 5
    assert test.statistic == pytest.approx(np.mean([1.5, 1.5, -1]) / math.sqrt(25 / 12 / 3))


@settings(max_examples=25, deadline=None)
@given(both=scores)
def test_the_t_tests_are_those_of_scipy(both):
    first, second = both
    for found, one, other in (
        (macro_t_test(first, second), first, second),
        (macro_t_on_ranks(first, second), *np.split(rankdata(both.ravel()), 2)),
    ):
        if np.ptp(other - one) > 1e-9:
            expected = ttest_rel(other, one)
            assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
            assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(both=scores)
def test_swapping_the_systems_keeps_every_p_value(both):
    for test in MACRO:
        one, other = test(*both), test(*both[::-1])
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9, nan_ok=True)
        assert one.n == other.n


@pytest.mark.parametrize("test", MACRO)
def test_equal_systems_have_a_p_value_of_1(test):
    assert test(FIRST, FIRST).p_value == 1.0
    assert test([math.nan], [0.5]).p_value == 1.0  # no category to tell them apart


@pytest.mark.parametrize("test", MACRO)
def test_a_category_without_f1_is_dropped(test):
    found = test([*FIRST, math.nan, 0.9], [*SECOND, 0.1, math.nan])
    assert found == test(FIRST, SECOND)


@pytest.mark.parametrize("test", [macro_t_test, macro_t_on_ranks])
def test_differences_that_do_not_vary_leave_the_t_tests_undefined(test):
    # 0.3 − 0.2 and 0.8 − 0.7 are one tenth up to rounding.
    found = test([0.2, 0.7], [0.3, 0.8])
    assert math.isnan(found.statistic)
    assert math.isnan(found.p_value)
    assert math.isnan(test([0.2], [0.3]).p_value)


def test_the_proportion_test_by_hand_and_as_chi_squared():
    # 0.2 / √(0.4 · 0.6 · 2/100) = 2.8867513
    test = proportion_test(30, 100, 50, 100)
    assert test.statistic == pytest.approx(2.8867513, abs=5e-8)
    assert test.n == 200
    table = [[30, 70], [40, 20]]
    expected = chi2_contingency(table, correction=False)
    found = proportion_test(30, 100, 40, 60)
    assert found.statistic**2 == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert proportion_test(40, 60, 30, 100).statistic == pytest.approx(-found.statistic)


def test_the_proportion_test_at_its_limits():
    assert proportion_test(7, 7, 9, 9).p_value == 1.0
    assert proportion_test(0, 7, 0, 9).p_value == 1.0
    assert math.isnan(proportion_test(0, 0, 3, 9).p_value)
    assert "independent" in proportion_test(1, 7, 2, 9).assumes


CATEGORIES = ["acq", "earn", "grain"]
TOPICS = [{"earn", "acq"}, {"acq"}, {"grain"}, {"earn"}]
TOPICS_CALLED = [{"earn"}, {"acq"}, {"acq"}, {"grain"}]


def test_every_test_by_name_by_hand():
    found = text_tests(TOPICS, TOPICS_CALLED, TOPICS)
    # Wrong are acq of the first, acq and grain of the third, earn and grain of the fourth document.
    assert found["micro_sign_test"].p_value == pytest.approx(2 / 2**5)
    # F1 of acq, earn, grain: ½, ⅔, 0 against 1.
    assert found["macro_sign_test"].p_value == pytest.approx(2 / 2**3)
    assert found["macro_t_test"] == macro_t_test([1 / 2, 2 / 3, 0], [1, 1, 1])
    assert found["macro_t_on_ranks"] == macro_t_on_ranks([1 / 2, 2 / 3, 0], [1, 1, 1])
    assert found["proportion_recall"] == proportion_test(2, 5, 5, 5)
    assert found["proportion_precision"] == proportion_test(2, 4, 5, 5)
    assert found["proportion_error"] == proportion_test(5, 12, 0, 12)


label_sets = st.frozensets(st.sampled_from(CATEGORIES))


@settings(max_examples=20, deadline=None)
@given(rows=st.lists(st.tuples(label_sets, label_sets, label_sets), min_size=2, max_size=12))
def test_swapping_the_systems_negates_what_is_signed_and_keeps_p(rows):
    truth, first, second = (list(column) for column in zip(*rows, strict=True))
    truth, first, second = ([*one, set(CATEGORIES)] for one in (truth, first, second))
    found, swapped = text_tests(truth, first, second), text_tests(truth, second, first)
    for name, test in found.items():
        assert test.p_value == pytest.approx(swapped[name].p_value, nan_ok=True), name
        if "sign" in name:
            assert test.statistic + swapped[name].statistic == test.n
        else:
            negated = -swapped[name].statistic
            assert test.statistic == pytest.approx(negated, abs=1e-9, nan_ok=True), name


def test_where_a_test_does_not_apply_it_is_undefined_and_says_why():
    two = text_tests(["a", "b", "b"], ["a", "b", "a"], ["a", "b", "b"], multilabel=False)
    assert all(math.isnan(test.p_value) for test in two.values())
    assert "complement" in two["macro_sign_test"].assumes
    several = text_tests(list("abbc"), list("abac"), list("abba"), multilabel=False)
    assert [name for name, test in several.items() if not math.isnan(test.p_value)] == [
        "macro_sign_test",
        "macro_t_test",
        "macro_t_on_ranks",
    ]
    assert "two wrong decisions" in several["proportion_error"].assumes
    alone = text_tests([{"a"}, set()], [{"a"}, {"a"}], [set(), set()])
    assert alone["macro_t_test"].assumes.startswith("Does not apply: one category")
    assert alone["micro_sign_test"].p_value == 1


TRUTH = [{"a"}, {"a", "b"}, {"b"}, {"c"}, set(), {"a", "c"}]

FIRST_SETS = [{"a"}, {"a"}, {"c"}, {"c"}, {"b"}, {"a"}]

SECOND_SETS = [{"a"}, {"a", "b"}, {"b"}, {"c"}, set(), {"c"}]


def right(called):
    return [
        [(k in one) == (k in true) for k in "abc"] for one, true in zip(called, TRUTH, strict=True)
    ]


def beside(measure, **options):
    result = compare(
        TRUTH,
        FIRST_SETS,
        SECOND_SETS,
        multilabel=True,
        measures=[measure],
        **options,
    )
    tests = result.beside.get((measure, "first", "second"), ())
    return {one.method: one for one in tests}


def test_the_micro_sign_test_counts_every_decision_of_every_document():
    first, second = np.array(right(FIRST_SETS)), np.array(right(SECOND_SETS))
    expected = mcnemar(int((first & ~second).sum()), int((second & ~first).sum()), method="exact")
    for measure in ("hamming_loss", "f1_micro", "recall_micro", "precision_micro"):
        assert beside(measure)["micro_sign_test"].p_value == pytest.approx(expected)


def test_the_p_test_stands_beside_shares_of_decisions():
    wrong = [
        sum(not one for row in right(called) for one in row) for called in (FIRST_SETS, SECOND_SETS)
    ]
    expected = proportion_test(wrong[0], 18, wrong[1], 18).p_value
    assert beside("hamming_loss")["proportion_test"].p_value == expected
    # 4 of 7 labels are found by the first, 6 by the second.
    assert beside("recall_micro")["proportion_test"].p_value == proportion_test(4, 7, 6, 7).p_value
    assert "proportion_test" not in beside("f1_micro")


def test_the_macro_tests_stand_beside_the_macro_average_of_f1():
    found = beside("f1_macro")
    # F1 of a, b and c, category by category.
    expected = macro_sign_test([1.0, 0.0, 0.5], [0.8, 1.0, 1.0])
    assert found["macro_sign_test"].p_value == expected.p_value
    assert {"macro_t_test", "macro_t_on_ranks"} <= set(found)
    assert "categories" in found["macro_sign_test"].note


@pytest.mark.parametrize("options", [{"sample_weight": [1.0, 2, 1, 1, 1, 1]}], ids=["weighted"])
def test_weighted_documents_are_no_decisions_to_be_counted(options):
    assert not beside("hamming_loss", **options)
