import math

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

from truerisk.errors import InputError
from truerisk.intervals.binomial import at_least, binomial_bounds, upper_bound
from truerisk.intervals.planning import (
    paired_power,
    proven_by_no_errors,
    rejected_from,
    sample_size,
)


@pytest.mark.parametrize(
    ("half_width", "expected"), [(0.02, 0.1), (0.05, 0.5), (0.1, 0.0), (0.03, 0.004), (0.2, 1.0)]
)
def test_from_the_planned_size_on_the_interval_is_short_enough(half_width, expected):
    n = sample_size(half_width=half_width, expected=expected).n
    sizes = np.arange(1, 3 * n + 500)
    low, high = binomial_bounds(np.round(expected * sizes), sizes)
    too_wide = sizes[high - low > 2 * half_width]
    assert too_wide[-1] == n - 1


@pytest.mark.parametrize(("bound", "expected"), [(0.05, 0.02), (0.01, 0.0), (0.3, 0.25)])
def test_from_the_planned_size_on_the_bound_is_proven(bound, expected):
    n = sample_size(upper_bound=bound, expected=expected).n
    proven = [
        upper_bound(round(expected * m), m, delta=0.05) <= bound
        for m in range(max(n - 1, 1), n + 400)
    ]
    assert not proven[0]
    assert all(proven[1:])


def test_no_errors_by_hand():
    # (1 − 0.01)ⁿ ≤ 0.05 from n = ln 0.05 / ln 0.99 = 298.07 on
    assert sample_size(upper_bound=0.01, expected=0.0).n == 299
    assert proven_by_no_errors(299) == pytest.approx(1 - 0.05 ** (1 / 299), rel=1e-12)
    assert proven_by_no_errors(298) > 0.01 > proven_by_no_errors(299)


def test_what_no_errors_prove_is_the_exact_bound():
    assert proven_by_no_errors(10**9, 0.99) == pytest.approx(
        upper_bound(0, 10**9, delta=0.01), rel=1e-12
    )


def test_the_paired_size_has_the_power_and_one_less_has_not():
    n = sample_size(difference=0.05, discordant=0.2, power=0.9).n
    assert paired_power(n, 0.2, 0.05, 0.95) >= 0.9 > paired_power(n - 1, 0.2, 0.05, 0.95)


def test_the_paired_size_is_near_connors_formula():
    # (1.959964 √0.1 + 0.841621 √(0.1 − 0.0004))² / 0.0004 = 1959.2
    assert sample_size(difference=0.02, discordant=0.1).n == pytest.approx(1959, rel=0.02)


def test_the_unpaired_size_is_that_of_statsmodels():
    n = sample_size(difference=0.05, expected=0.2).n
    theirs = samplesize_proportions_2indep_onetail(0.05, 0.15, power=0.8, alpha=0.05)
    assert n == pytest.approx(theirs, rel=0.02)
    by_angles = NormalIndPower().solve_power(
        2 * (math.asin(math.sqrt(0.2)) - math.asin(math.sqrt(0.15))), alpha=0.05, power=0.8
    )
    assert n == pytest.approx(by_angles, rel=0.02)


def test_a_plan_is_a_sentence():
    assert str(sample_size(difference=0.05, discordant=0.2)) == (
        "To find a difference of 0.05 between two models at 95 % takes "
        f"{sample_size(difference=0.05, discordant=0.2).n:,} examples (both models on the same "
        "examples; they differ on a share of 0.2; power 0.8; McNemar's mid-p test)."
    )
    assert "two test sets of this size each" in str(sample_size(difference=0.05, expected=0.2))


def test_rare_errors_can_be_planned_for():
    assert sample_size(upper_bound=1e-6, expected=0.0).n == math.ceil(
        math.log(0.05) / math.log1p(-1e-6)
    )


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "exactly one of half_width, upper_bound and difference; got none"),
        ({"half_width": 0.1, "upper_bound": 0.2}, "got half_width, upper_bound"),
        ({"half_width": 0.1}, "`expected` must be given together with half_width"),
        ({"half_width": 0.1, "expected": 0.2, "power": 0.8}, "`power` must not be given"),
        ({"upper_bound": 0.1, "expected": 0.2}, "`upper_bound` must exceed the expected rate 0.2"),
        ({"difference": 0.1}, "`difference` must come with discordant"),
        ({"difference": 0.1, "discordant": 0.2, "expected": 0.3}, "got both or neither"),
        ({"difference": 0.1, "discordant": 0.05}, "`discordant` must be at least the difference"),
        ({"difference": 0.3, "expected": 0.2}, "`difference` must be at most `expected`"),
        ({"difference": 0.0, "expected": 0.2}, "`difference` must lie in"),
        ({"half_width": 0.1, "expected": 0.2, "level": 95}, "Write 0.95 for 95 %"),
    ],
)
def test_slips_are_told(question, message):
    with pytest.raises(InputError, match=message):
        sample_size(**question)


def by_summing(n, discordant, difference, level):
    """The definition: every number of discordances, every split of them."""
    wins, total = 0.5 * (1 + difference / discordant), 0.0
    for m in range(n + 1):
        k = np.arange(m + 1)
        mid_p = 2 * (binom.sf(np.maximum(k, m - k), m, 0.5)) + binom.pmf(k, m, 0.5)
        mid_p = np.where(2 * k == m, 1.0, mid_p)
        reject = mid_p <= 1 - level
        total += binom.pmf(m, n, discordant) * binom.pmf(k, m, wins)[reject].sum()
    return total


@pytest.mark.parametrize(
    ("n", "discordant", "difference", "level"),
    [(40, 0.3, 0.15, 0.95), (25, 1.0, 0.4, 0.9), (60, 0.2, 0.2, 0.99), (30, 0.5, 0.0, 0.8)],
)
def test_it_is_the_sum_of_the_definition(n, discordant, difference, level):
    expected = by_summing(n, discordant, difference, level)
    assert paired_power(n, discordant, difference, level) == pytest.approx(expected, abs=1e-10)


def test_summing_over_every_few_changes_little(monkeypatch):
    sparse = paired_power(20_000, 0.1, 0.005, 0.95)
    monkeypatch.setattr("truerisk.intervals.planning.NUMBERS", 10**9)
    assert sparse == pytest.approx(paired_power(20_000, 0.1, 0.005, 0.95), abs=2e-3)


def test_six_of_six_is_the_first_rejection_by_hand():
    # mid-p of all m heads is 2 · ½ · 2⁻ᵐ: 1/32 at m = 5, which is under 0.05.
    assert rejected_from(np.array([4.0, 5.0, 6.0]), 0.025).tolist() == [5.0, 5.0, 6.0]


def test_tails_beyond_the_trials():
    got = at_least(np.array([0.0, 3.0, 4.0]), np.array([3.0, 3.0, 3.0]), 0.5)
    np.testing.assert_allclose(got, [1.0, 0.125, 0.0])
