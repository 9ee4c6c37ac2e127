import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from truerisk.comparison.predictions.mcnemar import mcnemar
from truerisk.comparison.predictions.paired_difference import (
    clustered_paired_ends,
    clustered_paired_p,
    paired_difference_bounds,
    paired_difference_ends,
    paired_score_p,
)
from truerisk.comparison.predictions.paired_intervals import PAIRED_DIFFERENCES
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
    ends = clustered_paired_ends(differences, groups, 0.7)
    assert ends == pytest.approx((0.5 - spread, 0.5 + spread), rel=1e-12)
    p_value = clustered_paired_p(differences, groups)
    assert p_value == pytest.approx(2 * t.sf(0.5 / error, 2), rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(
    differences=st.lists(st.sampled_from([-1, 0, 0, 1]), min_size=6, max_size=40),
    number=st.integers(2, 6),
    level=levels,
)
def test_in_groups_test_and_interval_agree_and_swapping_negates(differences, number, level):
    groups = np.arange(len(differences)) % number
    low, high = clustered_paired_ends(differences, groups, level)
    p_value = clustered_paired_p(differences, groups)
    assert -1 <= low <= np.mean(differences) + 1e-12
    assert np.mean(differences) - 1e-12 <= high <= 1
    assume(min(abs(low), abs(high)) > 1e-9)
    assert (p_value < 1 - level) == (not low <= 0 <= high)
    negated = np.negative(differences)
    assert clustered_paired_p(negated, groups) == pytest.approx(p_value, abs=1e-12)
    swapped = clustered_paired_ends(negated, groups, level)
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
    expected = 2 * t.sf(abs(value) / error, number - 1)
    assert clustered_paired_p(differences, groups) == pytest.approx(expected, rel=1e-9)


def test_the_error_is_that_of_leaving_one_group_out():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(8), rng.integers(1, 9, 8))
    differences = rng.choice([-1, 0, 0, 1], groups.size)
    without = [differences[groups != group].mean() for group in range(8)]
    error = math.sqrt(7 / 8 * np.sum(np.subtract(without, differences.mean()) ** 2))
    expected = 2 * t.sf(abs(differences.mean()) / error, 7)
    assert clustered_paired_p(differences, groups) == pytest.approx(expected, rel=1e-9)


def test_groups_that_do_not_vary_count_as_examples():
    groups = np.repeat(np.arange(10), 3)
    assert clustered_paired_p(np.zeros(30), groups) == 1.0
    assert clustered_paired_ends(np.zeros(30), groups, 0.95) == pytest.approx(
        paired_difference_ends(10, 0, 0, 0, level=0.95)
    )
    ends = clustered_paired_ends(np.ones(30), groups, 0.95)
    assert ends == pytest.approx(paired_difference_ends(0, 0, 10, 0, level=0.95))
    expected = mcnemar(0, 10, method="asymptotic")
    assert clustered_paired_p(np.ones(30), groups) == pytest.approx(expected)
    # A tenth and two tenths leave rounding, which is no variance.
    tenths = np.tile([0.1, 0.2, 0.3], 10)
    assert clustered_paired_p(tenths, groups) == pytest.approx(norm.sf(math.sqrt(2)) * 2)


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
        clustered_paired_p([1, 0], ["a", "a"])
    with pytest.raises(InputError, match=r"`differences` must lie in \[-1, 1\]; got nan\."):
        clustered_paired_ends([1, math.nan], ["a", "b"], 0.95)
    with pytest.raises(InputError, match=r"`differences` has 3, `groups` has 2"):
        clustered_paired_p([1, 0, 1], ["a", "b"])
