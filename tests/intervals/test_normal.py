import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from truerisk.intervals.normal import logistic, normal_cdf, normal_quantile


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
