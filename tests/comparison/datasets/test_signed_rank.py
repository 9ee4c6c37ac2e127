"""Two classifiers over data sets: signed ranks, signs, and how large the difference is."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from truerisk.comparison.datasets.signed_rank import (
    difference_interval,
    equivalence_p_value,
    sign_test,
    signed_rank,
    typical_difference,
    without_noise,
)
from truerisk.errors import InputError

columns = st.lists(st.integers(-6, 6), min_size=1, max_size=9)


def _by_enumeration(differences, zeros):
    """Try every choice of signs of the ranks."""
    column = np.asarray(differences, dtype=float)
    if zeros == "wilcox":
        column = column[column != 0]
    if not column.any():
        return 1.0
    ranks = stats.rankdata(np.abs(column))[column != 0]
    seen = ranks[column[column != 0] > 0].sum()
    sums = np.array([np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))])
    return min(1.0, 2 * min((sums <= seen).mean(), (sums >= seen).mean()))


def test_worked_by_hand():
    # Ranks 3, −1, 4, 2: T = 9 of 10; sums of 9 and 10 come of 2 in 16 choices of signs.
    found = signed_rank([0.03, -0.01, 0.04, 0.02])
    assert (found.statistic, found.greater, found.p_value) == (9, 2 / 16, 4 / 16)
    assert found.less == 15 / 16
    assert found.z == pytest.approx((9 - 5) / math.sqrt((1 + 4 + 9 + 16) / 4))


def test_zeros_by_hand():
    # Pratt: ranks 1 (the zero), 2, 3, 4; wilcox: 1, 2, 3. All positive: 2 of 8 either way.
    assert signed_rank([0, 1, 2, 3]).statistic == 9
    assert signed_rank([0, 1, 2, 3], zeros="wilcox").statistic == 6
    assert signed_rank([0, 1, 2, 3]).p_value == 0.25
    # −1 and 2 beside two zeros: ranks 3 and 4, or 1 and 2.
    assert signed_rank([0, 0, -1, 2]).statistic == 4
    assert signed_rank([0, 0, -1, 2]).n == 2


@pytest.mark.parametrize("n", [5, 12, 30, 50])
def test_exact_as_scipy_without_ties(n):
    column = np.random.default_rng(n).normal(0.3, 1, n)
    found = signed_rank(column)
    assert found.is_exact
    assert found.p_value == pytest.approx(stats.wilcoxon(column, method="exact").pvalue, rel=1e-12)
    less = stats.wilcoxon(column, method="exact", alternative="less").pvalue
    assert found.less == pytest.approx(less, rel=1e-12)


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
def test_normal_as_scipy_with_ties_and_zeros_beyond_50(zeros):
    column = np.round(np.random.default_rng(1).normal(0.2, 1, 80), 1)
    assert (column == 0).any()
    found = signed_rank(column, zeros=zeros)
    assert not found.is_exact
    for alternative, own in (
        ("two-sided", found.p_value),
        ("less", found.less),
        ("greater", found.greater),
    ):
        expected = stats.wilcoxon(
            column,
            zero_method=zeros,
            correction=True,
            method="asymptotic",
            alternative=alternative,
        )
        assert own == pytest.approx(expected.pvalue, rel=1e-10), alternative


@settings(max_examples=30)
@given(columns, st.sampled_from(["pratt", "wilcox"]))
def test_exact_with_ties_and_zeros_as_by_trying_all_signs(column, zeros):
    assert signed_rank(column, zeros=zeros).p_value == pytest.approx(_by_enumeration(column, zeros))


@settings(max_examples=30)
@given(columns, st.randoms(use_true_random=False))
def test_swapping_swaps_and_order_does_not_matter(column, random):
    found, swapped = signed_rank(column), signed_rank([-one for one in column])
    assert (found.less, found.p_value) == (swapped.greater, swapped.p_value)
    assert sign_test(column).p_value == sign_test([-one for one in column]).p_value
    mixed = list(column)
    random.shuffle(mixed)
    assert signed_rank(mixed) == found
    assert typical_difference(mixed) == typical_difference(column)


@pytest.mark.parametrize("n", [1, 10, 60])
def test_identical_classifiers_give_p_1(n):
    zeros = np.zeros(n)
    for rule in ("pratt", "wilcox"):
        assert signed_rank(zeros, zeros=rule).p_value == 1
    assert sign_test(zeros).p_value == 1
    assert typical_difference(zeros) == 0


def test_the_sign_test_worked_by_hand():
    # 9 wins, 1 loss: 2 (1 + 10) / 2¹⁰.
    found = sign_test([1] * 9 + [-1, 0])
    assert (found.wins, found.ties, found.losses) == (9, 1, 1)
    assert found.p_value == pytest.approx(22 / 1024, rel=1e-12)


def test_the_typical_difference_and_its_interval_by_hand():
    assert typical_difference([0.0, 1.0, 5.0]) == 1.75
    # Seven differences at 95 %: P(T ≤ 2) = 3/128 is below .025, P(T ≤ 3) = 5/128 is not; so the
    # third smallest mean of a pair and the third largest: (1 + 3)/2 and (5 + 7)/2.
    found = difference_interval([1, 2, 3, 4, 5, 6, 7])
    assert (found.low, found.high) == (2.0, 6.0)
    assert difference_interval([1, 2, 3, 4, 5]) is None
    assert difference_interval([1, 2, 3, 4, 5, 6]) is not None


@pytest.mark.parametrize("n", [8, 20, 70])
def test_the_interval_is_what_the_test_does_not_reject(n):
    column = np.random.default_rng(n).normal(0, 1, n)
    found = difference_interval(column)
    for end, outward in ((found.low, -1), (found.high, 1)):
        assert signed_rank(column - (end - outward * 1e-9)).p_value > 0.05
        assert signed_rank(column - (end + outward * 1e-9)).p_value <= 0.05


def test_very_many_differences_have_an_interval_too():
    column = np.random.default_rng(0).normal(0.1, 1, 3000)
    found = difference_interval(column)
    assert found.method == "sign"
    assert found.low < typical_difference(column) < found.high
    expected = stats.quantile_test(column, p=0.5).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(expected, abs=0.005)


def test_equivalence_worked_by_hand():
    # All six differences lie within ± .01: either one-sided test sees six of one sign, 1 in 2⁶.
    column = [0.001, -0.002, 0.003, 0.0, -0.001, 0.002]
    assert equivalence_p_value(column, 0.01) == 1 / 64
    assert equivalence_p_value(column, 0.0) > 0.3
    assert equivalence_p_value([0.02] * 6, 0.01) == 1.0


def test_what_is_equal_on_paper_is_a_tie():
    noisy = [0.9 - 0.8, -(0.8 - 0.7), 0.3 - 0.1]
    assert noisy[0] != -noisy[1]
    found = without_noise(noisy, largest=0.9)
    assert found[0] == -found[1]
    assert found == pytest.approx(noisy, abs=1e-12)
    assert without_noise([1e-320, 0.0])[0] == 1e-320
    assert without_noise([0.0])[0] == 0
    assert without_noise([123456789.123456, 5.0])[0] == 123456789.123


@pytest.mark.parametrize("wrong", [[], [[1.0]], [math.nan], [math.inf]])
def test_what_is_no_difference_is_refused(wrong):
    with pytest.raises(InputError, match="`differences` must"):
        signed_rank(wrong)
    with pytest.raises(InputError, match="`zeros` must be one of pratt, wilcox"):
        signed_rank([1.0], zeros="zsplit")
