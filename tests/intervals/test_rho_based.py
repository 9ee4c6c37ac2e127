"""The ρ-based variance: by hand, and as ρ enters it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk import InputError
from truerisk.intervals.rho_based import normal_interval, rho_based_deviation


def test_the_variance_is_that_of_evenly_correlated_values():
    values, test, train = [0.1, 0.3, 0.2, 0.6], 20, 60
    rho = test / (test + train)
    variance = (0.2**2 + 0.0**2 + 0.1**2 + 0.3**2) / 3  # around .3
    expected = math.sqrt((1 / 4 + rho / (1 - rho)) * variance)
    assert rho_based_deviation(values, test=test, train=train) == pytest.approx(expected, rel=1e-12)


def test_it_is_without_bias_where_the_correlation_is_the_share_of_test_examples():
    # v_j = a + e_j with variances ρ and 1 − ρ: the mean of J has variance ρ + (1 − ρ)/J.
    rho, refits = 0.2, 8
    rng = np.random.default_rng(0)
    values = math.sqrt(rho) * rng.normal(size=(20_000, 1))
    values = values + math.sqrt(1 - rho) * rng.normal(size=(20_000, refits))
    found = [rho_based_deviation(row, test=1, train=4) ** 2 for row in values[:4000]]
    assert np.mean(found) == pytest.approx(values.mean(axis=1).var(), rel=0.03)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.integers(1, 50), st.integers(1, 50))
def test_more_test_examples_make_it_larger_and_equal_values_make_it_nothing(values, test, train):
    first = rho_based_deviation(values, test=test, train=train)
    second = rho_based_deviation(values, test=test + 1, train=train)
    assert second >= first >= 0
    assert rho_based_deviation([values[0]] * 3, test=test, train=train) == 0


def test_the_normal_interval_is_cut_off_where_the_measure_ends():
    found = normal_interval(0.1, 0.1, level=0.9, method="x")
    assert (found.low, found.level, found.method) == (0.0, 0.9, "x")
    assert found.high == pytest.approx(0.1 + 0.1 * 1.6448536269514722, rel=1e-12)


@pytest.mark.parametrize("values", [[0.1], [[0.1, 0.2]], [0.1, math.nan]])
def test_too_few_or_broken_values_are_refused(values):
    with pytest.raises(InputError, match="`values` must be at least two finite numbers"):
        rho_based_deviation(values, test=1, train=4)


def test_a_deviation_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="`deviation` must be a finite number; got nan"):
        normal_interval(0.1, math.nan, level=0.95, method="x")
