import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from truerisk.intervals.distributions import (
    gamma_quantile,
    logistic,
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
)


def test_the_quantile_by_a_table():
    # Abramowitz and Stegun, table 26.5: the quantile at 0.975.
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=1e-15)
    assert normal_quantile(0.5) == pytest.approx(0.0, abs=1e-16)


def test_quantiles_agree_with_scipy_from_tail_to_tail():
    p = np.concatenate([10.0 ** -np.arange(1, 300), np.linspace(0.01, 0.49, 49)])
    np.testing.assert_allclose(normal_quantile(p), special.ndtri(p), rtol=1e-14)
    np.testing.assert_allclose(normal_quantile(1 - p[-49:]), -special.ndtri(p[-49:]), rtol=1e-13)


def test_what_is_no_probability_has_no_quantile():
    ends = normal_quantile([0.0, 1.0, -0.1, 1.1, np.nan, 0.5])
    np.testing.assert_array_equal(ends[:2], [-np.inf, np.inf])
    assert np.isnan(ends[2:5]).all()
    assert ends[5] == pytest.approx(0.0, abs=1e-16)


@given(st.floats(-37, 8))
def test_the_quantile_undoes_the_distribution(z):
    assert normal_cdf(z) == pytest.approx(float(special.ndtr(z)), rel=1e-13)
    if z < 5:  # nearer to 1 a probability has lost the digits
        assert normal_quantile(normal_cdf(z)) == pytest.approx(z, rel=1e-9, abs=1e-10)


def test_shapes_stay():
    table = np.array([[0.1, 0.2], [0.3, 0.4]])
    assert normal_quantile(table).shape == normal_cdf(table).shape == (2, 2)
    assert normal_quantile(table.T)[0, 1] == normal_quantile(0.3)
    assert isinstance(float(normal_cdf(0.0)), float)


@pytest.mark.parametrize(
    ("log_odds", "share"), [(0, 0.5), (math.log(3), 0.75), (-math.log(3), 0.25)]
)
def test_log_odds_of_three_to_one_are_three_quarters(log_odds, share):
    assert logistic(log_odds) == pytest.approx(share, rel=1e-15)


@given(st.floats(-700, 700))
def test_the_logistic_function_agrees_with_scipy(log_odds):
    assert logistic(log_odds) == pytest.approx(float(special.expit(log_odds)), rel=1e-14)


def test_one_degree_of_freedom_is_cauchy():
    # The quantile is tan(π (p − ½)).
    assert student_quantile(1, 0.75) == pytest.approx(1.0, rel=1e-13)
    assert student_quantile(1, 0.975) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)
    assert student_cdf(1, 1.0) == pytest.approx(0.75, rel=1e-14)


@pytest.mark.parametrize("beyond", [1.2e-16, 1e-9, 1e-5, 2e-3, 0.9e-2, 1.1e-2])
def test_quantiles_near_the_median_keep_their_digits(beyond):
    # Cauchy's quantile is tan(π x), Student's with two degrees 2 x √2 / √(1 − 4 x²).
    x = (0.5 + beyond) - 0.5  # as far as it can be told from ½
    cauchy, two = math.tan(math.pi * x), 2 * math.sqrt(2) * x / math.sqrt(1 - 4 * x**2)
    assert student_quantile(1, 0.5 + beyond) == pytest.approx(cauchy, rel=3e-9, abs=0)
    assert student_quantile(2, 0.5 + beyond) == pytest.approx(two, rel=3e-9, abs=0)
    assert student_quantile(1, 0.5 - x) == pytest.approx(-cauchy, rel=3e-9, abs=0)


def test_two_degrees_have_a_closed_form():
    # P(T ≤ t) = ½ + t / (2 √(2 + t²)); at t = √2 it is ½ + √2 / 4.
    assert student_cdf(2, math.sqrt(2)) == pytest.approx(0.5 + math.sqrt(2) / 4, rel=1e-14)


def test_no_end_of_degrees_is_normal():
    assert student_quantile(math.inf, 0.975) == pytest.approx(1.959963984540054)
    assert student_cdf(math.inf, 1.959963984540054) == pytest.approx(0.975)


@given(st.floats(0.5, 1e6), st.floats(1e-9, 0.999))
def test_it_agrees_with_scipy_and_is_symmetric(degrees, p):
    t = student_quantile(degrees, p)
    assert t == pytest.approx(float(special.stdtrit(degrees, p)), rel=1e-8, abs=1e-9)
    assert student_cdf(degrees, t) == pytest.approx(p, rel=1e-9)
    assert student_cdf(degrees, -t) == pytest.approx(1 - p, rel=1e-9)


@given(
    st.floats(0.05, 1e5), st.sampled_from([0.0005, 0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.9995])
)
def test_the_quantile_is_that_of_scipy(shape, probability):
    expected = float(special.gammaincinv(shape, probability))
    assert gamma_quantile(shape, probability) == pytest.approx(expected, rel=1e-8, abs=1e-300)


def test_quantiles_of_large_shapes():
    for shape in (9.9e4, 1.1e5, 1e9):
        expected = float(special.gammaincinv(shape, 0.975))
        assert gamma_quantile(shape, 0.975) == pytest.approx(expected, rel=1e-8)
