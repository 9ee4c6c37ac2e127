import mpmath
import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv, expit
from scipy.stats import beta

from truerisk.intervals.beta_quantile import (
    beta_log_odds,
    beta_tail,
    log_beta_kernel,
    score_end,
    score_start,
    solve_in_log_odds,
)


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
