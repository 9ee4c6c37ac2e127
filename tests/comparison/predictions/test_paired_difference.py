import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import multinomial, norm, t

from truerisk.comparison.predictions.paired_difference import (
    PAIRED_DIFFERENCES,
    by_groups,
    check_paired_table,
    paired_difference_bounds,
    paired_difference_ends,
    paired_score_p,
    score_statistic,
)
from truerisk.comparison.predictions.right_answers import mcnemar
from truerisk.errors import InputError

counts = st.integers(0, 60)

levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@pytest.mark.parametrize("method", PAIRED_DIFFERENCES)
@settings(max_examples=20, deadline=None)
@given(table=st.tuples(counts, counts, counts, counts).filter(any), level=levels)
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
@given(only_first=counts, only_second=counts, rest=counts, null=st.floats(-0.9, 0.9), level=levels)
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
@given(only_first=counts, only_second=counts, rest=st.integers(1, 60))
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


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match=r"The four counts must hold at least one example; got 0"):
        paired_difference_ends(0, 0, 0, 0, level=0.95)
    with pytest.raises(InputError, match=r"`neither` must lie in \[0, .*; got -1\."):
        paired_difference_ends(3, 0, 0, -1, level=0.95)
    with pytest.raises(InputError, match=r"`level` must lie .* got 95\. Write 0\.95 for 95 %\."):
        paired_difference_ends(3, 0, 0, 1, level=95)
    with pytest.raises(InputError, match=r"`method` must be one of tango, .*; got 'exact'\."):
        paired_difference_ends(3, 0, 0, 1, level=0.9, method="exact")
    with pytest.raises(InputError, match=r"`only_second` must lie in \[0, 6\]; got 7\."):
        paired_score_p(4, 7, 10, null=0.0)
    with pytest.raises(InputError, match=r"`null` must lie in \[-1, 1\]; got 2\."):
        paired_score_p(4, 6, 10, null=2)


def test_what_are_no_groups_is_refused():
    with pytest.raises(InputError, match=r"`groups` must name two groups at least; got 1\."):
        by_groups([1, 0], ["a", "a"])
    with pytest.raises(InputError, match=r"`differences` must lie in \[-1, 1\]; got nan\."):
        by_groups([1, math.nan], ["a", "b"])
    with pytest.raises(InputError, match=r"`differences` has 3, `groups` has 2"):
        by_groups([1, 0, 1], ["a", "b"])


REFERENCE = Path(__file__).parents[2] / "reference" / "paired_tests.json"

VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]

NAMES = {"newcombe_paired": "newcombe", **{name: name for name in PAIRED_DIFFERENCES}}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["method"] in NAMES], ids=lambda vector: vector["id"]
)
def test_it_gives_the_numbers_of_others(vector):
    # Theirs is first − second, ours second − first: the models change places.
    (both, only_first), (only_second, neither) = vector["inputs"]["table"]
    ends = paired_difference_ends(
        both,
        only_second,
        only_first,
        neither,
        level=vector["inputs"]["confidence"],
        method=NAMES[vector["method"]],
    )
    assert ends == pytest.approx(vector["expected"]["interval"], **vector["tolerance"])


def test_tango_by_hand():
    # Without a discordant example n²δ² ≤ z² n |δ| (1 − |δ|): Wilson's end of 0 of n.
    assert paired_difference_ends(10, 0, 0, 0, level=0.95) == pytest.approx(
        (-0.2775328, 0.2775328), abs=5e-8
    )
    # At no difference the statistic is McNemar's: (7 − 1) / √8.
    counts = (np.array(value) for value in (1.0, 7.0, 21.0, 0.0))
    assert score_statistic(*counts) == pytest.approx(6 / math.sqrt(8), rel=1e-14)


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
    counts = (np.array(float(value)) for value in (only_first, only_second, n, null))
    assert score_statistic(*counts) == pytest.approx(expected, rel=1e-4, abs=1e-6)


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


def test_a_table_of_counts_is_given_back():
    assert check_paired_table(20, 2, 12, 16) == (20, 2, 12, 16)
