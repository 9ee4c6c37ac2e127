import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import binom, binomtest, chi2, multinomial, norm, t

from truerisk.comparison.conclusion import Spread
from truerisk.comparison.predictions.right_answers import (
    FORMS,
    PAIRED_DIFFERENCES,
    PairTable,
    by_groups,
    by_table,
    cochran_q,
    margins_of,
    mcnemar,
    non_inferiority_p,
    non_inferiority_p_from_ends,
    paired_difference_bounds,
    paired_difference_ends,
    paired_score_p,
    planned_size,
    score_statistic,
    within_region,
)
from truerisk.errors import InputError
from truerisk.intervals.planning import sample_size

few_counts = st.integers(0, 60)

levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])

regions = st.floats(0.02, 0.4)

count_tables = st.tuples(*[st.integers(0, 60)] * 4).filter(any)

TABLE = PairTable(names=("a", "b"), both=20, only_first=2, only_second=12, neither=16)


def equivalence_p(*counts, region):
    names = ("both", "only_first", "only_second", "neither")
    table = PairTable(names=("a", "b"), **dict(zip(names, counts, strict=True)))
    return next(within_region(table, lambda _: (0.0, 0.0), region, higher_is_better=True)).p_value


def equivalence_p_from_ends(ends_at, *, region):
    return next(within_region(None, ends_at, region, higher_is_better=True)).p_value


def test_errors_are_compared_by_the_table_turned_around():
    errors = by_table(TABLE, of_errors=True, level=0.95, method="tango")
    accuracy = by_table(TABLE, of_errors=False, level=0.95, method="tango")
    assert errors.p_value == accuracy.p_value == mcnemar(2, 12)
    low, high = accuracy.ends_at(0.95)
    assert (low, high) == paired_difference_ends(20, 2, 12, 16, level=0.95)
    assert errors.ends_at(0.95) == pytest.approx((-high, -low))


def test_newcombes_interval_is_the_published_one_on_request():
    # Newcombe 1998, method 10.
    found = by_table(TABLE, of_errors=False, level=0.95, method="newcombe")
    assert found.ends_at(0.95) == pytest.approx((0.0562, 0.3292), abs=5e-5)
    assert found.interval_method == "newcombe"


def test_only_an_open_question_is_planned_for():
    open_table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=9, neither=5)
    expected = sample_size(difference=0.03, discordant=0.15).n
    assert by_table(open_table, of_errors=True, level=0.95, method="tango").settled_by == expected
    assert by_table(TABLE, of_errors=True, level=0.95, method="tango").settled_by is None


def test_no_difference_cannot_be_planned_for():
    table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=6, neither=5)
    assert planned_size(table, 0.95) is None


def test_models_without_a_discordant_pair_have_a_p_value_of_one_and_say_why():
    table = PairTable(names=("a", "b"), both=9, only_first=0, only_second=0, neither=1)
    found = by_table(table, of_errors=True, level=0.95, method="tango")
    assert found.p_value == 1
    assert "no discordant pairs" in found.notes[0]
    grouped = by_groups(np.zeros(6), np.array([0, 0, 1, 1, 2, 2]))
    assert grouped.p_value == 1
    assert "no discordant pairs" in grouped.notes[0]


def test_the_exact_and_the_asymptotic_test_stand_beside():
    found = {
        one.method: one.p_value for one in by_table(TABLE, of_errors=True, level=0.95).alternatives
    }
    # The same table in R's and in Newcombe's hands.
    assert found["mcnemar_exact"] == pytest.approx(0.012939453125)
    assert found["mcnemar_asymptotic"] == pytest.approx(0.00752631516645796)


@pytest.mark.parametrize("upwards", [True, False])
def test_a_region_is_tested_on_the_table_or_from_the_ends(upwards):
    spread = Spread(0.02)
    found = within_region(
        None, lambda level: spread.ends(0.01, level), 0.05, higher_is_better=upwards
    )
    p_values = {one.method: one.p_value for one in found}
    assert p_values["equivalence"] == pytest.approx(0.0228, abs=1e-4)
    assert p_values["non_inferiority"] == pytest.approx(0.00135 if upwards else 0.0228, abs=1e-4)
    table = PairTable(names=("a", "b"), both=120, only_first=4, only_second=5, neither=31)
    by_score = list(within_region(table, lambda _: (0.0, 0.1), 0.05, higher_is_better=upwards))
    assert all(0 < one.p_value < 0.05 for one in by_score)


def test_nothing_is_tested_where_there_are_no_ends():
    endless = within_region(None, lambda _: (-np.inf, np.inf), 0.1, higher_is_better=True)
    assert list(endless) == []


def test_a_region_of_a_measure_without_limits_is_tested_too():
    wide = within_region(None, lambda _: (0.0, 1.0), 5.0, higher_is_better=True)
    assert [one.p_value < 1e-8 for one in wide] == [True, True]


REFERENCE = Path(__file__).parents[2] / "reference" / "paired_tests.json"

VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]

NAMES = {
    "mcnemar_asym": "asymptotic",
    "mcnemar_exact": "exact",
    "mcnemar_cc": "continuity_corrected",
    "mcnemar_mid_p": "mid_p",
}

counts = st.integers(0, 200)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["method"] in NAMES], ids=lambda vector: vector["id"]
)
def test_it_gives_the_numbers_of_others(vector):
    (_, only_first), (only_second, _) = vector["inputs"]["table"]
    found = {"pvalue": mcnemar(only_first, only_second, method=NAMES[vector["method"]])}
    if "statistic" in vector["expected"]:
        found["statistic"] = chi2.isf(found["pvalue"], 1)
    assert found == pytest.approx(vector["expected"], **vector["tolerance"])


def test_every_vector_is_tried_somewhere():
    tried = {*NAMES, "newcombe_paired", "tango", "wald", "bonett_price", "cochran_q"}
    assert {vector["method"] for vector in VECTORS} == tried
    assert len(VECTORS) == 43


def test_by_hand():
    # 1 of 8: P(X ≤ 1) = 9/256 and P(X = 1) = 8/256.
    assert mcnemar(1, 7, method="exact") == pytest.approx(18 / 256, rel=1e-14)
    assert mcnemar(1, 7) == pytest.approx(10 / 256, rel=1e-13)
    # 3 against 3: all but half of P(X = 3) = 20/64.
    assert mcnemar(3, 3) == pytest.approx(54 / 64, rel=1e-13)
    # (7 − 1)² / 8 = 4.5 and (7 − 1 − 1)² / 8 = 3.125
    assert mcnemar(1, 7, method="asymptotic") == pytest.approx(chi2.sf(4.5, 1), rel=1e-12)
    found = mcnemar(1, 7, method="continuity_corrected")
    assert found == pytest.approx(chi2.sf(3.125, 1), rel=1e-12)


@pytest.mark.parametrize("method", FORMS)
def test_models_that_agree_everywhere_have_a_p_value_of_1(method):
    assert mcnemar(0, 0, method=method) == 1.0


@settings(max_examples=30, deadline=None)
@given(first=counts, second=counts)
def test_the_forms_keep_their_order_and_do_not_know_first_from_second(first, second):
    p_values = {method: mcnemar(first, second, method=method) for method in FORMS}
    assert p_values == {method: mcnemar(second, first, method=method) for method in FORMS}
    assert all(0 < p_value <= 1 for p_value in p_values.values())
    assert p_values["mid_p"] <= p_values["exact"]
    assert p_values["asymptotic"] <= p_values["continuity_corrected"]
    assert p_values["exact"] == pytest.approx(
        binomtest(first, first + second).pvalue if first + second else 1.0, rel=1e-10
    )


@pytest.mark.parametrize("apart", [0, 1, 20, 30_000, 400_000])
def test_a_milliard_of_discordant_examples_is_no_other_matter(apart):
    first = (10**9 - apart) // 2
    second = 10**9 - first
    exact, mid_p = (mcnemar(first, second, method=method) for method in ("exact", "mid_p"))
    z = (abs(second - first) + 1) / math.sqrt(10**9)  # half a count on either side
    assert exact == pytest.approx(min(1.0, 2 * chi2.sf(z * z, 1) / 2), rel=1e-4)
    seen = binom.pmf(first, 10**9, 0.5)
    assert exact - mid_p == pytest.approx(seen / 2 if first == second else seen, rel=0.5)


@pytest.mark.parametrize(
    ("method", "largest", "mean"),
    [("mid_p", 0.0471, 0.0281), ("exact", 0.0306, 0.0148), ("asymptotic", 0.0537, 0.0380)],
)
def test_the_size_is_what_the_docstring_says(method, largest, mean):
    sizes = np.concatenate([size_of(method, n) for n in range(10, 61, 10)])
    assert sizes.max() == pytest.approx(largest, abs=5e-5)
    assert sizes.mean() == pytest.approx(mean, abs=5e-5)


def size_of(method, n):
    """The probability of rejecting at 0.05, for shares 0.01 … 0.50 of discordant examples."""
    rejected = np.zeros(n + 1)
    for discordant in range(n + 1):
        p_values = [mcnemar(k, discordant - k, method=method) for k in range(discordant + 1)]
        chances = binom.pmf(range(discordant + 1), discordant, 0.5)
        rejected[discordant] = chances[np.array(p_values) <= 0.05].sum()
    shares = np.arange(1, 51) / 100
    return binom.pmf(np.arange(n + 1), n, shares[:, np.newaxis]) @ rejected


tables = st.integers(2, 5).flatmap(
    lambda models: st.lists(
        st.lists(st.integers(0, 1), min_size=models, max_size=models), min_size=1, max_size=40
    )
)


def test_cochran_gives_the_numbers_of_others():
    (vector,) = (vector for vector in VECTORS if vector["method"] == "cochran_q")
    inputs = vector["inputs"]
    test = cochran_q(np.repeat(inputs["patterns"], inputs["counts"], axis=0))
    found = {"statistic": test.statistic, "pvalue": test.p_value}
    assert found == pytest.approx(vector["expected"], **vector["tolerance"])
    assert (test.degrees, test.method) == (2, "cochran_q")


def test_cochran_by_hand():
    # G = 5, 4, 1; N = 10; L = 2, 1, 2, 3, 1, 1: 2 (3 · 42 − 100) / (30 − 20) = 5.2
    test = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    assert test.statistic == pytest.approx(5.2, rel=1e-14)
    assert test.p_value == pytest.approx(np.exp(-2.6), rel=1e-12)  # χ² with two degrees


def test_where_no_example_tells_the_models_apart_the_p_value_is_1():
    test = cochran_q([[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert (test.statistic, test.p_value) == (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(table=tables)
def test_order_and_examples_on_which_all_agree_do_not_matter(table):
    right = np.array(table)
    test = cochran_q(right)
    assert 0 <= test.p_value <= 1
    assert cochran_q(right[::-1, ::-1]) == test
    assert cochran_q(1 - right) == test
    assert cochran_q(np.vstack([right, np.ones_like(right), np.zeros_like(right)])) == test


@settings(max_examples=20, deadline=None)
@given(only_first=st.integers(0, 30), only_second=st.integers(0, 30), both=st.integers(1, 9))
def test_for_two_models_it_is_mcnemars_asymptotic_test(only_first, only_second, both):
    right = np.repeat([[1, 1], [1, 0], [0, 1]], [both, only_first, only_second], axis=0)
    expected = mcnemar(only_first, only_second, method="asymptotic")
    assert cochran_q(right == 1).p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("method", PAIRED_DIFFERENCES)
@settings(max_examples=20, deadline=None)
@given(table=st.tuples(few_counts, few_counts, few_counts, few_counts).filter(any), level=levels)
def test_it_contains_the_difference_and_mirrors(method, table, level):
    both, only_first, only_second, neither = table
    low, high = paired_difference_ends(*table, level=level, method=method)
    assert -1 <= low <= (only_second - only_first) / sum(table) <= high <= 1
    swapped = paired_difference_ends(
        both, only_second, only_first, neither, level=level, method=method
    )
    assert swapped == pytest.approx((-high, -low), abs=1e-12)
    if method != "newcombe":  # which alone asks how the agreeing examples divide
        moved = paired_difference_ends(
            both + neither, only_first, only_second, 0, level=level, method=method
        )
        assert moved == (low, high)


@settings(max_examples=30, deadline=None)
@given(
    only_first=few_counts,
    only_second=few_counts,
    rest=few_counts,
    null=st.floats(-0.9, 0.9),
    level=levels,
)
def test_the_score_test_rejects_exactly_what_tangos_interval_leaves_out(
    only_first, only_second, rest, null, level
):
    n = only_first + only_second + rest
    assume(n > 0)
    low, high = paired_difference_ends(rest, only_first, only_second, 0, level=level)
    assume(min(abs(null - low), abs(null - high)) > 1e-9)
    p_value = paired_score_p(only_first, only_second, n, null=null)
    assert (p_value < 1 - level) == (not low <= null <= high)
    below, above = (
        paired_score_p(only_first, only_second, n, null=null, alternative=side)
        for side in ("less", "greater")
    )
    assert below + above == pytest.approx(1, abs=1e-12)
    assert 2 * min(below, above) == pytest.approx(p_value, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(only_first=few_counts, only_second=few_counts, rest=st.integers(1, 60))
def test_at_no_difference_the_score_test_is_mcnemars_asymptotic_one(only_first, only_second, rest):
    n = only_first + only_second + rest
    expected = mcnemar(only_first, only_second, method="asymptotic")
    found = paired_score_p(only_first, only_second, n, null=0.0)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_sides_of_the_score_test():
    # 9 of 160 discordant, 5 for the second: far above −0.1, far below 0.1.
    above = paired_score_p(4, 5, 160, null=-0.1, alternative="greater")
    below = paired_score_p(4, 5, 160, null=0.1, alternative="less")
    assert above < below < 0.001
    assert paired_score_p(4, 5, 160, null=-0.1, alternative="less") > 0.999


def test_a_milliard_of_examples_is_no_other_matter():
    # One example in a milliard: the same interval as one in ten thousand, on another scale.
    few = paired_difference_ends(10**4, 0, 1, 0, level=0.95)
    many = paired_difference_ends(10**9, 0, 1, 0, level=0.95)
    assert np.multiply(many, 1e9) == pytest.approx(np.multiply(few, 1e4), rel=2e-3)
    low, high = paired_difference_ends(10**9, 30_000, 31_000, 5, level=0.95)
    z = norm.isf(0.025)
    assert [low, high] == pytest.approx(
        [(1000 - z * math.sqrt(61_000)) / 1e9, (1000 + z * math.sqrt(61_000)) / 1e9], rel=1e-2
    )


def test_many_tables_at_once_are_the_tables_one_by_one():
    first, second = np.array([0, 3, 9]), np.array([4, 3, 0])
    low, high = paired_difference_bounds(20, first, second, 5, level=0.9)
    for at in range(3):
        ends = paired_difference_ends(20, first[at], second[at], 5, level=0.9)
        assert ends == (low[at], high[at])


def test_groups_by_hand():
    # Three groups of two with sums 2, 1, 0: d = ½, each residual ±1, 0; left out, d moves by ¼.
    differences, groups = [1, 1, 1, 0, 0, 0], ["a", "a", "b", "b", "c", "c"]
    error = math.sqrt(2 / 3 * (0.25**2 + 0.25**2))
    spread = t.isf(0.15, 2) * error
    ends = by_groups(differences, groups).ends_at(0.7)
    assert ends == pytest.approx((0.5 - spread, 0.5 + spread), rel=1e-12)
    p_value = by_groups(differences, groups).p_value
    assert p_value == pytest.approx(2 * t.sf(0.5 / error, 2), rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(
    differences=st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=6, max_size=40),
    number=st.integers(3, 6),
    level=levels,
)
def test_in_groups_test_and_interval_agree_and_swapping_negates(differences, number, level):
    groups = np.arange(len(differences)) % number
    low, high = by_groups(differences, groups).ends_at(level)
    p_value = by_groups(differences, groups).p_value
    assert low - 1e-12 <= np.mean(differences) <= high + 1e-12
    assume(min(abs(low), abs(high)) > 1e-9)
    assert (p_value < 1 - level) == (not low <= 0 <= high)
    negated = np.negative(differences)
    assert by_groups(negated, groups).p_value == pytest.approx(p_value, abs=1e-12)
    swapped = by_groups(negated, groups).ends_at(level)
    assert swapped == pytest.approx((-high, -low), abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(sums=st.lists(st.integers(-3, 3), min_size=3, max_size=12))
def test_with_groups_of_one_size_the_error_is_obuchowskis(sums):
    assume(len(set(sums)) > 1)
    differences = [np.sign(s) if k < abs(s) else 0 for s in sums for k in range(3)]
    groups = np.repeat(np.arange(len(sums)), 3)
    n, number, value = len(differences), len(sums), sum(sums) / len(differences)
    squares = sum((s - 3 * value) ** 2 for s in sums)
    error = math.sqrt(number / (number - 1) * squares) / n
    moved = np.array(sums) - 3 * value
    kurtosis = (moved**4).sum() / (moved**2).sum() ** 2 - 1 / number
    degrees = min(number - 1, 2 / kurtosis) if kurtosis > 1e-12 else number - 1
    expected = 2 * t.sf(abs(value) / error, degrees)
    assert by_groups(differences, groups).p_value == pytest.approx(expected, rel=1e-9)


def test_the_error_is_that_of_leaving_one_group_out():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(8), rng.integers(1, 9, 8))
    differences = rng.choice([-1, 0, 0, 1], groups.size)
    without = [differences[groups != group].mean() for group in range(8)]
    error = math.sqrt(7 / 8 * np.sum(np.subtract(without, differences.mean()) ** 2))
    moved = differences.mean() - np.array(without)
    sizes = np.bincount(groups)
    degrees = min(
        sizes.sum() ** 2 / (sizes**2).sum() - 1,
        2 / ((moved**4).sum() / (moved**2).sum() ** 2 - 1 / 8),
        7,
    )
    expected = 2 * t.sf(abs(differences.mean()) / error, degrees)
    assert by_groups(differences, groups).p_value == pytest.approx(expected, rel=1e-9)


def test_groups_that_do_not_vary_count_as_examples():
    groups = np.repeat(np.arange(10), 3)
    assert by_groups(np.zeros(30), groups).p_value == 1.0
    low, high = by_groups(np.zeros(30), groups).ends_at(0.95)
    assert (1 - high) ** 10 == pytest.approx(0.025)
    assert low == -high
    # Ten groups, all of them for the second: a sign test.
    assert by_groups(np.ones(30), groups).ends_at(0.95)[1] == 1.0
    expected = mcnemar(0, 10, method="exact")
    assert by_groups(np.ones(30), groups).p_value == pytest.approx(expected)
    # A tenth and two tenths leave rounding, which is no variance.
    tenths = np.tile([0.1, 0.2, 0.3], 10)
    assert by_groups(tenths, groups).p_value == pytest.approx(2 * (1 / 1.2) ** 10)


def test_what_are_no_groups_is_refused():
    with pytest.raises(InputError, match=r"`groups` must name two groups at least; got 1\."):
        by_groups([1, 0], ["a", "a"])
    with pytest.raises(InputError, match=r"`differences` must lie in \[-1, 1\]; got nan\."):
        by_groups([1, math.nan], ["a", "b"])
    with pytest.raises(InputError, match=r"`differences` has 3, `groups` has 2"):
        by_groups([1, 0, 1], ["a", "b"])


METHODS = {"newcombe_paired": "newcombe", **{name: name for name in PAIRED_DIFFERENCES}}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["method"] in METHODS], ids=lambda vector: vector["id"]
)
def test_intervals_are_those_of_others(vector):
    # Theirs is first − second, ours second − first: the models change places.
    (both, only_first), (only_second, neither) = vector["inputs"]["table"]
    ends = paired_difference_ends(
        both,
        only_second,
        only_first,
        neither,
        level=vector["inputs"]["confidence"],
        method=METHODS[vector["method"]],
    )
    assert ends == pytest.approx(vector["expected"]["interval"], **vector["tolerance"])


def test_tango_by_hand():
    # Without a discordant example n²δ² ≤ z² n |δ| (1 − |δ|): Wilson's end of 0 of n.
    assert paired_difference_ends(10, 0, 0, 0, level=0.95) == pytest.approx(
        (-0.2775328, 0.2775328), abs=5e-8
    )
    # At no difference the statistic is McNemar's: (7 − 1) / √8.
    few_counts = (np.array(value) for value in (1.0, 7.0, 21.0, 0.0))
    assert score_statistic(*few_counts) == pytest.approx(6 / math.sqrt(8), rel=1e-14)


def test_newcombe_by_hand():
    # No correlation, as ad = bc; Wilson of 10 of 20 is [0.2992980, 0.7007020] for both.
    ends = paired_difference_ends(5, 5, 5, 5, level=0.95, method="newcombe")
    assert ends == pytest.approx((-math.sqrt(2) * 0.2007020, math.sqrt(2) * 0.2007020), abs=2e-7)


def test_wald_and_bonett_price_by_hand():
    # 0.3 ± 1.959964 √((0.5 − 0.09) / 20) = 0.3 ± 0.2806241; then with 3 and 9 of 22.
    ends = paired_difference_ends(6, 2, 8, 4, level=0.95, method="wald")
    assert ends == pytest.approx((0.3 - 0.2806241, 0.3 + 0.2806241), abs=2e-7)
    ends = paired_difference_ends(6, 2, 8, 4, level=0.95, method="bonett_price")
    spread = 1.9599640 * math.sqrt((12 / 22 - (6 / 22) ** 2) / 22)
    assert ends == pytest.approx((6 / 22 - spread, 6 / 22 + spread), abs=2e-7)


@settings(max_examples=20, deadline=None)
@given(
    only_first=st.integers(0, 20),
    only_second=st.integers(0, 20),
    rest=st.integers(0, 40),
    null=st.floats(-0.95, 0.95),
)
def test_the_fitted_share_is_the_most_likely_one(only_first, only_second, rest, null):
    n = only_first + only_second + rest
    if n == 0 or abs(null) < 1e-3:
        return

    def loss(share):  # of those that only the first judges rightly
        others = max(0.0, 1 - 2 * share - null)
        of_second = max(0.0, share + null)
        return -xlogy(only_first, share) - xlogy(only_second, of_second) - xlogy(rest, others)

    bounds = (max(0.0, -null), (1 - null) / 2)
    share = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * share + null - null**2)
    expected = (only_second - only_first - n * null) / math.sqrt(variance)
    few_counts = (np.array(float(value)) for value in (only_first, only_second, n, null))
    assert score_statistic(*few_counts) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_difference_that_cannot_be_is_infinitely_far():
    sure = np.array([1.0, -1.0])
    z = score_statistic(np.zeros(2), np.array([5.0, 5.0]), np.array([10.0, 10.0]), sure)
    assert z.tolist() == [-math.inf, math.inf]
    assert score_statistic(np.zeros(1), np.full(1, 5.0), np.full(1, 5.0), np.ones(1)) == 0


@pytest.mark.parametrize(
    ("method", "least", "average"),
    [("tango", 0.9283, 0.9591), ("bonett_price", 0.8906, 0.9629), ("wald", 0.2617, 0.9129)],
)
def test_the_coverage_is_what_the_docstring_says(method, least, average):
    coverage = [cover for n in range(10, 61, 10) for cover in coverage_of(method, n)]
    assert min(coverage) == pytest.approx(least, abs=6e-5)
    assert np.mean(coverage) == pytest.approx(average, abs=6e-5)


def test_the_least_coverage_of_newcombe_is_what_the_docstring_says():
    tables = np.array(
        [
            (a, b, c, 10 - a - b - c)
            for a in range(11)
            for b in range(11 - a)
            for c in range(11 - a - b)
        ]
    )
    chances = multinomial.pmf(tables, 10, [0.0, 0.8, 0.2, 0.0])
    low, high = paired_difference_bounds(*tables.T, level=0.95, method="newcombe")
    covered = (low - 1e-12 <= -0.6) & (high + 1e-12 >= -0.6)
    assert chances[covered].sum() == pytest.approx(0.8598, abs=6e-5)


def coverage_of(method, n):
    """The coverage at 95 % for every pair of shares that only the one model judges rightly."""
    shares = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8]
    pairs = np.array([(b, c) for b in range(n + 1) for c in range(n + 1 - b)])
    rest = n - pairs.sum(axis=1)
    low, high = paired_difference_bounds(
        rest, pairs[:, 1], pairs[:, 0], 0, level=0.95, method=method
    )
    factorials = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    ways = factorials[n] - factorials[pairs].sum(axis=1) - factorials[rest]
    for p in shares:
        for q in shares:
            if p + q <= 1 + 1e-12:
                agreed = xlogy(rest, max(0.0, 1 - p - q))
                chances = np.exp(ways + xlogy(pairs, [p, q]).sum(axis=1) + agreed)
                yield chances[(low - 1e-12 <= p - q) & (p - q <= high + 1e-12)].sum()


def normal_ends(value, error):
    """The intervals of a normal difference: their inversion is known."""

    def ends_at(level):
        spread = error * norm.ppf(0.5 + level / 2)
        return value - spread, value + spread

    return ends_at


def test_equivalence_by_hand():
    # No discordant example of 100 and a region of r: z = −100 r / √(100 r (1 − r)), both sides.
    z = -100 * 0.1 / math.sqrt(100 * 0.1 * 0.9)
    assert equivalence_p(90, 0, 0, 10, region=0.1) == pytest.approx(norm.cdf(z), rel=1e-12)
    assert non_inferiority_p(90, 0, 0, 10, region=0.1) == pytest.approx(norm.cdf(z), rel=1e-12)


def test_non_inferiority_has_a_direction():
    # The second is right where the first is not nine times, the first once.
    better = non_inferiority_p(50, 1, 9, 0, region=0.05)
    worse = non_inferiority_p(50, 9, 1, 0, region=0.05)
    assert better < 0.01
    assert worse > 0.5
    # Where the counts are of wrong answers, it is the other way round.
    assert non_inferiority_p(50, 1, 9, 0, region=0.05, higher_is_better=False) == worse


@settings(max_examples=15, deadline=None)
@given(table=count_tables, region=regions)
def test_it_is_what_tangos_intervals_say(table, region):
    both, only_first, only_second, neither = table
    p_value = equivalence_p(*table, region=region)
    swapped = equivalence_p(both, only_second, only_first, neither, region=region)
    assert swapped == pytest.approx(p_value, abs=1e-12)
    assert p_value == max(
        non_inferiority_p(*table, region=region),
        non_inferiority_p(*table, region=region, higher_is_better=False),
    )
    for level in (0.9, 0.99):
        if abs(p_value - (1 - level)) > 1e-9:
            low, high = paired_difference_ends(*table, level=2 * level - 1)
            assert (p_value < 1 - level) == (-region < low and high < region)


def test_from_intervals_it_is_the_score_test_again():
    table = (120, 4, 5, 31)
    found = equivalence_p_from_ends(
        lambda level: paired_difference_ends(*table, level=level), region=0.05
    )
    assert found == pytest.approx(equivalence_p(*table, region=0.05), abs=2e-9)


@settings(max_examples=20, deadline=None)
@given(value=st.floats(-0.3, 0.3), error=st.floats(0.01, 0.2), region=regions)
def test_from_normal_intervals_it_is_two_normal_tests(value, error, region):
    ends_at = normal_ends(value, error)
    above, below = (norm.sf((region + sign * value) / error) for sign in (1, -1))

    def up_to_a_half(p_value):
        return pytest.approx(p_value if p_value < 0.5 - 1e-8 else 1.0, abs=3e-9)

    if min(abs(above - 0.5), abs(below - 0.5)) > 1e-6:
        assert equivalence_p_from_ends(ends_at, region=region) == up_to_a_half(max(above, below))
        assert non_inferiority_p_from_ends(ends_at, region=region) == up_to_a_half(above)
        found = non_inferiority_p_from_ends(ends_at, region=region, higher_is_better=False)
        assert found == up_to_a_half(below)


def test_a_difference_beyond_the_region_is_never_equivalent():
    assert equivalence_p_from_ends(normal_ends(0.2, 0.01), region=0.1) == 1.0
    assert equivalence_p(0, 0, 20, 80, region=0.1) > 0.99


@pytest.mark.parametrize("wrong", [0, -0.1, math.nan])
def test_what_is_no_region_is_refused(wrong):
    with pytest.raises(InputError, match=r"`region` must"):
        margins_of(wrong, MEASURES)


def test_a_region_may_exceed_1():
    found = equivalence_p_from_ends(normal_ends(0.5, 0.5), region=1.5)
    assert found == pytest.approx(norm.sf(2), abs=3e-9)


MEASURES = ["error_rate", "f1"]


def test_one_number_is_the_region_of_every_measure():
    assert margins_of(0.02, MEASURES) == {"error_rate": 0.02, "f1": 0.02}
    assert margins_of(None, MEASURES) == {}


def test_a_region_may_be_given_for_single_measures():
    assert margins_of({"f1": 0.05}, MEASURES) == {"f1": 0.05}


@pytest.mark.parametrize("region", [0, -0.1, float("nan"), {"f1": 0}, {"recall": 0.1}], ids=str)
def test_a_region_must_be_above_0_and_of_a_measure_compared(region):
    with pytest.raises(InputError, match="`region` must"):
        margins_of(region, MEASURES)


@pytest.mark.parametrize("region", [1, 5, {"f1": 1.5}], ids=str)
def test_a_region_that_no_difference_can_leave_is_refused(region):
    with pytest.raises(InputError, match="the largest difference that"):
        margins_of(region, MEASURES)
    assert margins_of(1.5, ["matthews_correlation"]) == {"matthews_correlation": 1.5}
    assert margins_of(1.5, ["positive_likelihood_ratio"]) == {"positive_likelihood_ratio": 1.5}


def test_a_percentage_is_told_how_to_be_written():
    with pytest.raises(InputError, match=r"Write 0.05 for 5 %"):
        margins_of(5, MEASURES)
