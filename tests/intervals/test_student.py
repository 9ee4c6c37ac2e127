import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from truerisk.intervals.student import student_cdf, student_quantile


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
