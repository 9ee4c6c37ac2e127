"""The exponent of a cost: worked by hand, recovered, and never guessed from too little."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.estimation.curves.growth import growth_of


def test_the_slope_and_its_error_worked_by_hand():
    # log₂ n is 0, 1, 2 and log₂ cost is 0, 3, 3: the slope is 3/2; the residuals −½, 1, −½ have
    # the squares 3/2, with 3 − 2 = 1 degree of freedom, and Σ (x − x̄)² is 2.
    found = growth_of([1, 2, 4], [1.0, 8.0, 8.0])
    assert found.exponent == pytest.approx(1.5)
    assert found.standard_error == pytest.approx(math.sqrt(1.5 / 1 / 2))
    # Student's t with one degree of freedom at .975 is 12.7062 (any table).
    assert found.interval.high - 1.5 == pytest.approx(12.7062 * math.sqrt(0.75), rel=1e-5)
    assert found.at(2) == pytest.approx(2**2)  # through the mean: log₂ cost is 2 at log₂ n = 1


def test_the_slope_is_that_of_numpy():
    sizes, costs = [10, 25, 70, 200, 500], [0.2, 0.5, 0.9, 3.5, 8.0]
    line, covariance = np.polyfit(np.log(sizes[-3:]), np.log(costs[-3:]), 1, cov=True)
    found = growth_of(sizes, costs)
    assert found.sizes == (70, 200, 500)
    assert found.exponent == pytest.approx(line[0])
    assert found.standard_error == pytest.approx(math.sqrt(covariance[0, 0]))


@given(exponent=st.floats(-1, 3), factor=st.floats(1e-6, 1e6), count=st.integers(3, 12))
def test_an_exact_power_is_recovered(exponent, factor, count):
    sizes = [10 * 2**at for at in range(count)]
    found = growth_of(sizes, [factor * size**exponent for size in sizes])
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.at(777) == pytest.approx(factor * 777**exponent, rel=1e-7)


@given(unit=st.floats(1e-3, 1e3))
def test_the_unit_of_the_cost_changes_no_exponent(unit):
    sizes, costs = [10, 100, 1000, 10_000], np.array([1.0, 3.0, 20.0, 90.0])
    found, scaled = growth_of(sizes, costs), growth_of(sizes, unit * costs)
    assert scaled.exponent == pytest.approx(found.exponent)
    assert scaled.standard_error == pytest.approx(found.standard_error)


def test_what_every_call_costs_hides_nothing_at_the_larger_sizes():
    sizes = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000]
    costs = [0.01 + 1e-5 * size for size in sizes]
    found = growth_of(sizes, costs)
    assert found.sizes == (1000, 3000, 10_000, 30_000)
    assert found.exponent > 0.75  # by all eight sizes it would be .4


def test_costs_that_are_not_known_are_left_out():
    found = growth_of([1, 2, 4, 8, 16, 32], [0.0, math.nan, 4.0, 8.0, 16.0, math.inf])
    assert found.sizes == (4, 8, 16)
    assert growth_of([1, 2, 4, 8], [math.nan, 2.0, 4.0, 0.0]) is None


def test_sizes_must_increase():
    with pytest.raises(InputError, match="`sizes` must increase"):
        growth_of([1, 3, 2], [1.0, 2.0, 3.0])
