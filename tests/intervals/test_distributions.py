import math

import mpmath
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.special import betaincinv, expit
from scipy.stats import beta

from truerisk.intervals.binomial import wilson
from truerisk.intervals.distributions import (
    beta_log_odds,
    beta_tail,
    gamma_quantile,
    hull,
    log_beta_kernel,
    logistic,
    normal_cdf,
    normal_quantile,
    score_end,
    score_ends,
    score_start,
    size_of,
    solve_in_log_odds,
    student_cdf,
    student_quantile,
    two_sided_t,
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


def quantile(a, b, tail):
    return float(expit(beta_log_odds(np.array([a]), np.array([b]), np.array([tail]))[0]))


def exact_tail(a, b, x):
    """Sum the series I(a, b; x) = xᵃ (1−x)ᵇ / (a B(a, b)) Σ (a+b)_j / (a+1)_j xʲ in 40 digits."""
    with mpmath.workdps(40):
        a, b, x = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
        term = total = mpmath.mpf(1)
        j = 0
        while term > total * mpmath.mpf(10) ** -35:
            term *= (a + b + j) / (a + 1 + j) * x
            total += term
            j += 1
        log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
        return total * mpmath.exp(a * mpmath.log(x) + b * mpmath.log(1 - x) - log_beta) / a


@pytest.mark.parametrize("n", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("k", [1.0, 2.0, 7.0, 40.0, 999.0, 1000.0, 1001.0])
@pytest.mark.parametrize("tail", [0.025, 5e-7, 5e-13])
def test_the_lower_end_of_rare_errors_is_right_to_ten_digits(k, n, tail):
    x = quantile(k, n - k + 1, tail)
    slope = float(np.exp(log_beta_kernel(*(np.array([v]) for v in (k, n - k + 1, np.log(x))))[0]))
    assert abs(float(exact_tail(k, n - k + 1, x)) - tail) / slope < 1e-10


@pytest.mark.parametrize("n", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("k", [1.0, 2.0, 7.0, 39.0, 41.0, 999.0, 1000.0])
@pytest.mark.parametrize("tail", [0.025, 5e-7, 5e-13])
def test_the_upper_end_of_rare_errors_is_right_to_ten_digits(k, n, tail):
    log_odds = -beta_log_odds(np.array([n - k]), np.array([k + 1]), np.array([tail]))
    x = float(expit(log_odds[0]))
    slope = float(np.exp(log_beta_kernel(np.array([k + 1]), np.array([n - k]), log_odds)[0]))
    assert abs(float(1 - exact_tail(k + 1, n - k, x)) - tail) / slope < 1e-10


def test_scipys_quantile_at_shape_1000_is_the_reason_for_ours():
    # mpmath, 50 digits: 9.38973046589561e-07.  If SciPy is ever right here, ours may go.
    assert quantile(1000.0, 1e9 - 999, 0.025) == pytest.approx(9.38973046589561e-07, rel=1e-12)
    if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 17):  # older ones are right
        assert betaincinv(1000.0, 1e9 - 999, 0.025) != pytest.approx(9.38973046589561e-07, rel=1e-3)


@settings(max_examples=80, deadline=None)
@given(
    a=st.floats(0.05, 1e4),
    b=st.floats(0.05, 1e4),
    tail=st.floats(1e-9, 0.999),
)
def test_a_quantile_put_back_gives_its_tail(a, b, tail):
    a, b, tail = (np.array([v]) for v in (a, b, tail))
    log_odds = beta_log_odds(a, b, tail)
    if abs(log_odds[0]) < 700:  # else float64 has no such proportion
        assert beta_tail(a, b, log_odds)[0] == pytest.approx(tail[0], rel=1e-9)


@pytest.mark.parametrize("shape", [5e-324, 2e-308, 1e-300, 1e-200])
def test_a_shape_that_is_hardly_there_puts_every_quantile_at_the_end(shape):
    a, b, tail = np.array([shape, 10.0]), np.array([10.0, shape]), np.array([0.975, 0.025])
    assert (beta_log_odds(a, b, tail) * [-1, 1] > 709).all()  # log(max float)


def test_the_tail_agrees_with_scipy_on_both_sides_of_a_half():
    a, b = np.array([3.0, 3.0, 60.0, 60.0]), np.array([5.0, 5.0, 2.0, 80.0])
    x = np.array([0.2, 0.9, 0.9999, 0.5])
    got = beta_tail(a, b, np.log(x) - np.log1p(-x))
    np.testing.assert_allclose(got, beta.cdf(x, a, b), rtol=1e-12)


def test_the_kernel_is_the_density_times_the_slope_of_the_proportion():
    a, b, x = np.array([0.3, 4.0, 2e3]), np.array([7.0, 0.6, 5e3]), np.array([0.1, 0.8, 0.3])
    got = log_beta_kernel(a, b, np.log(x) - np.log1p(-x))
    np.testing.assert_allclose(got, beta.logpdf(x, a, b) + np.log(x * (1 - x)), rtol=1e-10)


def test_the_solver_halves_where_a_slope_misleads():
    def log_tail(log_odds, at):
        del at
        return np.tanh(log_odds), np.full_like(log_odds, 1e-9)

    root = solve_in_log_odds(log_tail, np.array([0.5]), np.array([30.0]), tolerance=1e-13)
    assert root[0] == pytest.approx(np.arctanh(0.5), rel=1e-12)


def test_the_score_ends_solve_their_quadratic():
    k, n, z = np.array([3.0]), np.array([10.0]), np.array([1.96])
    for p in (score_start(k, n, z), score_end(k, n, z)):
        assert (k / n - p) ** 2 == pytest.approx(z**2 * p * (1 - p) / n, rel=1e-12)


def test_fewer_degrees_than_one_count_as_one():
    # The Cauchy distribution has the quantile tan(π/2 · level).
    assert two_sided_t(1, 0.9) == pytest.approx(math.tan(math.pi / 2 * 0.9))
    assert two_sided_t(0.2, 0.9) == two_sided_t(1, 0.9)


def test_score_ends_are_wilsons():
    low, high = wilson(np.array([8.0]), np.array([10.0]), 0.95)
    found = score_ends(0.8, 10, 1.959963984540054)
    assert found == pytest.approx((low[0], high[0]), rel=1e-12)
    # Worked by hand at z = 2: (8 + 2 ± 2 √(8 · .2 + 1))/(10 + 4).
    root = 2 * math.sqrt(2.6)
    assert score_ends(0.8, 10, 2.0) == pytest.approx(((10 - root) / 14, (10 + root) / 14))


def test_ends_of_all_and_of_nothing():
    assert score_ends(1.0, 20, 2.0) == (pytest.approx(20 / 24), 1.0)
    assert score_ends(0.0, 20, 2.0) == (0.0, pytest.approx(4 / 24))


def test_a_hull_holds_the_value_and_every_interval():
    assert hull(0.5, (0.6, 0.7), (0.55, 0.9)) == (0.5, 0.9)


def test_a_share_of_so_many_units_varies_so_much():
    assert size_of(0.5, 0.01) == pytest.approx(25)
    assert size_of(0.5, 10.0) == 1
