"""Friedman, Nemenyi and the tests against a control, from ranks."""

import json
import math
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from truerisk.comparison.datasets.rank_tests import (
    bonferroni_dunn_difference,
    bonferroni_dunn_quantile,
    by_signed_ranks,
    cliques,
    difference_interval,
    equivalence_p_value,
    friedman,
    mean_ranks,
    nemenyi_difference,
    nemenyi_p_value,
    nemenyi_quantile,
    range_tail,
    rank_standard_error,
    rank_test,
    ranks_of,
    sign_test,
    signed_rank,
    typical_difference,
    without_noise,
)
from truerisk.errors import InputError
from truerisk.intervals.multiplicity import hochberg

REFERENCE = Path(__file__).parents[2] / "reference" / "friedman_nemenyi.json"

VECTORS = {
    vector["id"]: vector for vector in json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
}

tables = st.tuples(st.integers(2, 8), st.integers(3, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 9))
)


def _vector(name):
    vector = VECTORS[name]
    return vector["inputs"], vector["expected"], vector["tolerance"]["abs"]


def test_demsar_from_the_printed_ranks():
    inputs, expected, tolerance = _vector("demsar-friedman-printed-ranks")
    found = friedman(inputs["ranks"])
    averages = np.mean(inputs["ranks"], axis=0)
    assert averages == pytest.approx(expected["average_ranks"], abs=tolerance)
    assert found.chi2 == pytest.approx(expected["chi2"], abs=tolerance)
    assert found.f == pytest.approx(expected["F"], abs=tolerance)
    assert found.degrees == (3, 39)


def test_the_printed_areas_have_a_tie_that_the_printed_ranks_have_not():
    inputs, expected, tolerance = _vector("TRAP-demsar-friedman-from-printed-auc")
    ranks = ranks_of(inputs["auc"])
    found = friedman(ranks)
    assert ranks.mean(axis=0) == pytest.approx(expected["average_ranks"], abs=tolerance)
    assert found.chi2 == pytest.approx(expected["chi2"], abs=tolerance)
    assert found.f == pytest.approx(expected["F"], abs=tolerance)
    assert found.chi2_tie_corrected == pytest.approx(expected["chi2_tie_corrected"], abs=tolerance)


def test_the_correction_for_ties_is_scipys():
    auc = VECTORS["TRAP-demsar-friedman-from-printed-auc"]["inputs"]["auc"]
    statistic, p_value = stats.friedmanchisquare(*np.transpose(auc))
    found = friedman(ranks_of(auc))
    assert found.chi2_tie_corrected == pytest.approx(statistic, rel=1e-12)
    assert found.tie_corrected_p_value == pytest.approx(p_value, rel=1e-10)
    assert found.chi2_p_value == pytest.approx(stats.chi2.sf(found.chi2, 3), rel=1e-10)
    assert found.p_value == pytest.approx(stats.f.sf(found.f, 3, 39), rel=1e-10)


def test_nemenyis_quantiles_and_critical_difference_as_printed():
    inputs, expected, tolerance = _vector("demsar-nemenyi-0.1")
    level = 1 - inputs["alpha"]
    assert nemenyi_quantile(inputs["k"], level) == pytest.approx(expected["q"], abs=tolerance)
    found = nemenyi_difference(inputs["k"], inputs["N"], level)
    assert found == pytest.approx(expected["CD"], abs=tolerance)
    inputs, expected, tolerance = _vector("demsar-table5a-0.1")
    found = [nemenyi_quantile(k, 1 - inputs["alpha"]) for k in inputs["k"]]
    assert found == pytest.approx(expected["q"], abs=tolerance)


def test_bonferroni_and_dunns_quantiles_as_printed_but_for_the_misprint():
    inputs, expected, tolerance = _vector("demsar-table5b-0.1")
    found = [bonferroni_dunn_quantile(k, 1 - inputs["alpha"]) for k in inputs["k"]]
    assert found == pytest.approx(expected["q"], abs=tolerance)
    # The printed table has 2.724 for nine classifiers at 95 %.
    assert bonferroni_dunn_quantile(9) == pytest.approx(stats.norm.isf(0.05 / 16), rel=1e-12)
    assert bonferroni_dunn_quantile(9) == pytest.approx(2.7344, abs=5e-5)
    assert bonferroni_dunn_difference(4, 14, 0.9) == pytest.approx(2.128 * 0.48795, abs=1e-3)


@pytest.mark.parametrize("name", ["demsar-holm-z-C4.5+m+cf", "demsar-holm-z-C4.5+cf"])
def test_the_z_of_two_average_ranks_as_printed(name):
    inputs, expected, tolerance = _vector(name)
    z, p_value = rank_test(inputs["rank_control"], inputs["rank_other"], inputs["k"], inputs["N"])
    assert z == pytest.approx(expected["z"], abs=tolerance)
    assert p_value == pytest.approx(expected["pvalue"], abs=tolerance)


def test_friedman_worked_by_hand():
    # Average ranks 1.25, 2, 2.75: 12·4/12 · (.75² + 0 + .75²) = 4.5; F = 3·4.5 / (8 − 4.5).
    found = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    assert found.chi2 == pytest.approx(4.5, rel=1e-14)
    assert found.f == pytest.approx(27 / 7, rel=1e-14)
    assert found.degrees == (2, 6)
    assert found.chi2_p_value == pytest.approx(math.exp(-4.5 / 2), rel=1e-12)
    assert found.chi2_tie_corrected == found.chi2


def test_one_order_everywhere_has_the_exact_p_value():
    found = friedman([[1, 2, 3]] * 3)
    assert found.f == math.inf
    # Of the orders of three classifiers on three data sets, 6 of 6³ agree.
    orders = list(permutations([1, 2, 3]))
    agree = sum(a == b == c for a in orders for b in orders for c in orders)
    assert found.p_value == pytest.approx(agree / len(orders) ** 3, rel=1e-12)


def test_classifiers_that_are_all_alike_give_p_1():
    found = friedman(ranks_of(np.full((5, 4), 0.8)))
    assert (found.chi2, found.f, found.p_value) == (0, 0, 1)
    assert (found.chi2_p_value, found.tie_corrected_p_value) == (1, 1)
    assert nemenyi_p_value(2.5, 2.5, 4, 5) == 1
    assert rank_test(2.5, 2.5, 4, 5) == (0, 1)


@pytest.mark.parametrize("k", [2, 3, 10, 100])
@pytest.mark.parametrize("q", [0.5, 3.0, 6.0])
def test_the_tail_of_the_range_is_scipys(q, k):
    expected = stats.studentized_range.sf(q, k, math.inf)
    assert range_tail(q, k) == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_the_tail_of_the_range_of_two_is_that_of_a_normal_however_far_out():
    for q in (0.1, 2.0, 20.0, 40.0):
        assert range_tail(q, 2) == pytest.approx(2 * stats.norm.sf(q / math.sqrt(2)), rel=1e-9)
    assert range_tail(0.0, 5) == 1
    assert nemenyi_quantile(2) == pytest.approx(stats.norm.isf(0.025), rel=1e-10)


def test_nemenyi_rejects_where_ranks_differ_by_the_critical_difference():
    critical = nemenyi_difference(5, 12)
    assert nemenyi_p_value(2.0, 2.0 + critical, 5, 12) == pytest.approx(0.05, rel=1e-9)
    assert rank_standard_error(5, 12) == pytest.approx(math.sqrt(30 / 72), rel=1e-14)


def test_hochberg_worked_by_hand():
    # .04, min(.04, 2 · .03), min(.04, 3 · .01): the last one is below all before it.
    assert hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert hochberg([0.6, 0.9]) == pytest.approx([0.9, 0.9])


def test_groups_are_the_largest_and_none_lies_in_another():
    assert cliques([1.0, 1.5, 2.4, 4.0], 1.0) == ((0, 1), (1, 2))
    assert cliques([1.0, 1.2, 1.4], 1.0) == ((0, 1, 2),)
    assert cliques([1.0, 2.0, 3.0], 1.0) == ()  # a difference that is reached is significant


@settings(max_examples=30)
@given(tables, st.randoms(use_true_random=False))
def test_order_and_scale_do_not_matter(table, random):
    columns, rows = list(range(table.shape[1])), list(range(table.shape[0]))
    random.shuffle(columns)
    random.shuffle(rows)
    ranks = ranks_of(table)
    assert np.array_equal(ranks_of(table[:, columns]), ranks[:, columns])
    assert friedman(ranks[rows]).chi2 == pytest.approx(friedman(ranks).chi2, abs=1e-9)
    assert friedman(ranks[:, columns]).p_value == pytest.approx(friedman(ranks).p_value, abs=1e-9)
    # Any rising function of the scores of a data set keeps its ranks.
    assert np.array_equal(ranks_of(np.exp(table * [[1 + row] for row in rows] / 9.0)), ranks)
    backwards = ranks_of(table, higher_is_better=False)
    assert np.allclose(ranks + backwards, table.shape[1] + 1)


columns = st.lists(st.integers(-6, 6), min_size=1, max_size=9)


def _by_enumeration(differences, zeros):
    """Try every choice of signs of the ranks."""
    column = np.asarray(differences, dtype=float)
    if zeros == "wilcox":
        column = column[column != 0]
    if not column.any():
        return 1.0
    ranks = stats.rankdata(np.abs(column))
    seen = ranks[column > 0].sum() + (ranks[column == 0].sum() / 2 if zeros == "zsplit" else 0)
    ranks = ranks if zeros == "zsplit" else ranks[column != 0]
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


def test_zeros_split_by_hand():
    # Ranks 1½, 1½ (the zeros), 3 (of −1), 4 (of 2): T = 4 + 3/2 of 10, half a rank above the mean.
    found = signed_rank([0, 0, -1, 2], zeros="zsplit")
    assert (found.statistic, found.n) == (5.5, 2)
    assert found.z == pytest.approx(0.5 / math.sqrt((2.25 + 2.25 + 9 + 16) / 4))
    # 5½ or more: 4 and 3 with any of the zeros (4 choices), 4 with one or both (3), 3 with both.
    assert found.greater == 8 / 16


@settings(max_examples=30)
@given(columns, st.integers(1, 4))
def test_zeros_split_evenly_never_move_the_balance(column, more):
    found = signed_rank([*column, *[0] * more], zeros="zsplit")
    total = (len(column) + more) * (len(column) + more + 1) / 2
    swapped = signed_rank([-one for one in column] + [0] * more, zeros="zsplit")
    assert found.statistic + swapped.statistic == pytest.approx(total)
    assert found.p_value == swapped.p_value
    # Random signs of the zeros add to the spread, so that the p-value is never below Pratt's by
    # the normal score.
    assert abs(found.z) <= abs(signed_rank([*column, *[0] * more]).z) + 1e-12


@pytest.mark.parametrize("n", [5, 12, 30, 50])
def test_exact_as_scipy_without_ties(n):
    column = np.random.default_rng(n).normal(0.3, 1, n)
    found = signed_rank(column)
    assert found.is_exact
    assert found.p_value == pytest.approx(stats.wilcoxon(column, method="exact").pvalue, rel=1e-12)
    less = stats.wilcoxon(column, method="exact", alternative="less").pvalue
    assert found.less == pytest.approx(less, rel=1e-12)


@pytest.mark.parametrize("zeros", ["pratt", "wilcox", "zsplit"])
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
@given(columns, st.sampled_from(["pratt", "wilcox", "zsplit"]))
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
    for rule in ("pratt", "wilcox", "zsplit"):
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


def test_an_unknown_rule_for_zeros_is_refused():
    with pytest.raises(InputError, match="`zeros` must be one of pratt, wilcox"):
        signed_rank([1.0], zeros="split")


def test_the_outcome_of_signed_ranks_by_hand():
    outcome = by_signed_ranks([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07])
    assert outcome.p_value == 2 / 2**7
    assert outcome.ends_at(0.95) == pytest.approx((0.02, 0.06))


def test_tied_ranks_are_averaged():
    assert mean_ranks(np.array([3.0, 1.0, 3.0])).tolist() == [2.5, 1.0, 2.5]
