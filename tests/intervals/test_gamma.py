import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from truerisk.intervals.gamma import gamma_ends, gamma_quantile


def test_a_whole_further_event_would_be_the_exact_interval_of_a_poisson_count():
    # Garwood: the quantiles of gamma(4) and gamma(5); with half an event the upper end has the
    # shape 4.5²/4.5 and the scale 1 less what the event's square adds.
    low, high = gamma_ends(4.0, 4.0, 1.0, level=0.95)
    assert low == pytest.approx(stats.gamma.ppf(0.025, 4))
    assert high == pytest.approx(stats.gamma.ppf(0.975, 4.5))
    assert high < stats.gamma.ppf(0.975, 5)


def test_nothing_seen_leaves_the_next_event():
    # Mean w/2 and variance w²/2: shape ½ and scale w.
    low, high = gamma_ends(0.0, 0.0, 0.1, level=0.95)
    assert low == 0
    assert high == pytest.approx(0.1 * stats.gamma.ppf(0.975, 0.5))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_ends_hold_the_mean(level):
    low, high = gamma_ends(0.3, 5.0, 0.01, level=level)
    assert 0 <= low <= 0.3 <= high


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
