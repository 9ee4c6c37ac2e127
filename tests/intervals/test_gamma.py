import pytest
from scipy import stats

from truerisk.intervals.gamma import gamma_ends


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
