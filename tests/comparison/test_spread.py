import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from truerisk.comparison.predictions.paired_difference import paired_difference_ends
from truerisk.comparison.spread import Drawn, NoSpread, Spread, spread_of_influences

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
def test_without_any_spread_the_interval_is_that_of_no_discordant_pair(level):
    expected = paired_difference_ends(30, 0, 0, 20, level=level)
    assert NoSpread(50).ends(0.0, level) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(value=values.filter(lambda value: abs(value) < 0.999), units=st.integers(1, 50))
def test_the_test_without_spread_inverts_its_interval(value, units):
    bound = NoSpread(units)
    p_value = bound.p_value(value)
    if 1e-9 < p_value < 1 - 1e-9:
        assert min(bound.ends(value, 1 - p_value), key=abs) == pytest.approx(0, abs=1e-6)


def test_resamples_are_judged_around_their_mean():
    drawn = Drawn(Spread(0.02, 9.0), 0.03)
    assert drawn.ends(0.1, 0.95) == Spread(0.02, 9.0).ends(0.03, 0.95)
    assert drawn.p_value(0.1) == Spread(0.02, 9.0).p_value(0.03)


def test_the_largest_difference_without_spread_is_never_certain_to_be_none():
    assert 0 <= NoSpread(3).p_value(1.0) < 1e-6


def test_influences_of_a_group_are_added_before_they_are_squared():
    influences = np.array([0.1, 0.2, -0.3, 0.1])
    alone = spread_of_influences(influences)
    grouped = spread_of_influences(influences, np.array([0, 0, 1, 1]))
    assert alone.error == pytest.approx(math.sqrt(4 / 3 * 0.15))
    assert alone.degrees == math.inf
    assert grouped.error == pytest.approx(math.sqrt(2 * (0.3**2 + 0.2**2)))
    assert grouped.degrees == 1.0


def test_a_single_group_tells_nothing():
    assert not spread_of_influences(np.array([0.1, -0.1]), np.array([0, 0])).is_known
