import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from truerisk.comparison.outcome import (
    Spread,
    satterthwaite,
    spread_of_groups,
    spread_of_influences,
    undetermined,
    without_spread,
)
from truerisk.comparison.predictions.paired_difference import paired_difference_ends

values = st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6)


def test_the_ends_and_the_test_are_the_normal_ones():
    low, high = Spread(0.02).ends(0.05, 0.9)
    assert (low, high) == pytest.approx(norm.interval(0.9, 0.05, 0.02))
    assert Spread(0.02).p_value(-0.05) == pytest.approx(2 * norm.sf(2.5))


def test_few_degrees_of_freedom_widen_the_interval_to_that_of_student():
    assert Spread(0.02, 4.0).ends(0.05, 0.95) == pytest.approx(t.interval(0.95, 4, 0.05, 0.02))
    assert Spread(0.02, 4.0).p_value(0.05) == pytest.approx(2 * t.sf(2.5, 4))


@settings(max_examples=30, deadline=None)
@given(value=values, error=st.floats(1e-3, 1.0), degrees=st.sampled_from([2.0, 30.0, math.inf]))
def test_zero_leaves_the_interval_at_one_less_the_p_value(value, error, degrees):
    spread = Spread(error, degrees)
    p_value = spread.p_value(value)
    if 1e-9 < p_value < 1 - 1e-9:
        nearest = min(spread.ends(value, 1 - p_value), key=abs)
        assert nearest == pytest.approx(0, abs=1e-6)


def test_without_a_standard_error_nothing_is_said():
    assert Spread(math.nan).ends(0.1, 0.95) == (-math.inf, math.inf)
    assert math.isnan(Spread(math.nan).p_value(0.1))
    assert math.isnan(Spread(0.1).p_value(math.nan))


def test_no_difference_has_a_p_value_of_one_whatever_is_known():
    assert Spread(math.nan).p_value(0.0) == Spread(0.0).p_value(0.0) == 1.0


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_without_any_spread_the_interval_is_about_that_of_no_discordant_pair(level):
    expected = paired_difference_ends(3000, 0, 0, 2000, level=level)
    assert without_spread(0.0, 5000, method="").ends_at(level) == pytest.approx(expected, rel=0.7)


def test_without_any_spread_the_bound_is_exact_and_scales_with_the_range():
    low, high = without_spread(0.0, 50, method="", width=2.0).ends_at(0.95)
    assert (1 - high / 2) ** 50 == pytest.approx(0.025)
    assert low == -high
    # From a difference of 0.3 a unit can be off by 1.3 downwards and by 0.7 upwards.
    low, high = without_spread(0.3, 50, method="").ends_at(0.95)
    assert (1 - (0.3 - low) / 1.3) ** 50 == pytest.approx(0.025)
    assert (1 - (high - 0.3) / 0.7) ** 50 == pytest.approx(0.025)


def test_an_unbounded_measure_without_spread_is_never_certain():
    same = without_spread(0.1, 50, method="paired_mean", width=math.inf)
    assert same.ends_at(0.95) == (-math.inf, math.inf)
    assert same.p_value == 1.0


def test_a_standard_error_within_rounding_counts_as_none():
    assert Spread(3e-16).ends(0.0, 0.95) == (-math.inf, math.inf)
    assert Spread(3e-16, scale=1e-6).is_known
    assert Spread(0.0, scale=0.0).is_zero


def test_degrees_of_freedom_do_not_depend_on_the_size_of_the_variance():
    strata, size = np.array([0, 0, 1]), np.array([8.0, 3.0, 9.0])
    expected = satterthwaite(np.array([0.2, 0.1, 0.3]), strata, size)
    for factor in (1e-200, 1e200):
        scaled = satterthwaite(factor * np.array([0.2, 0.1, 0.3]), strata, size)
        assert scaled == pytest.approx(expected)


def test_what_is_undetermined_has_an_open_interval_and_no_test():
    outcome = undetermined("corrected_t", "no spread")
    assert outcome.ends_at(0.95) == (-math.inf, math.inf)
    assert math.isnan(outcome.p_value)


@settings(max_examples=30, deadline=None)
@given(value=values.filter(lambda value: abs(value) < 0.999), units=st.integers(1, 50))
def test_the_test_without_spread_inverts_its_interval(value, units):
    outcome = without_spread(value, units, method="")
    if 1e-9 < outcome.p_value < 1 - 1e-9:
        ends = outcome.ends_at(1 - outcome.p_value)
        assert min(ends, key=abs) == pytest.approx(0, abs=1e-6)


def test_the_largest_difference_without_spread_is_a_sign_test():
    assert without_spread(1.0, 3, method="").p_value == 2 / 2**3


def test_influences_are_squared_and_added():
    influences = np.array([0.1, 0.2, -0.3, 0.1])
    alone = spread_of_influences(influences)
    assert alone.error == pytest.approx(math.sqrt(4 / 3 * 0.15))
    assert alone.degrees == math.inf
    assert not spread_of_influences(np.array([0.1])).is_known


def test_groups_are_left_out_in_turn():
    # d = 0.1, without each group 0.05, 0.1, 0.15: √(⅔ · 0.005), and no more than two degrees.
    spread = spread_of_groups(0.1, np.array([0.05, 0.1, 0.15]), 3.0)
    assert (spread.error, spread.degrees) == (pytest.approx(math.sqrt(0.01 / 3)), 2.0)


@pytest.mark.parametrize("without", [[0.1, 0.2], [0.1, math.nan, 0.2]], ids=["two", "undefined"])
def test_too_few_groups_and_undefined_differences_bound_nothing(without):
    assert not spread_of_groups(0.1, np.array(without), 3.0).is_known
