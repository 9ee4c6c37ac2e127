import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.intervals.bounded_mean import bounded_mean_interval, empirical_bernstein

values = st.lists(st.floats(0, 1), min_size=1, max_size=40)
methods = st.sampled_from(["betting", "empirical_bernstein"])


def test_three_ones_by_hand():
    # The stakes of n = 3, with variances 1/4, 0.15625 and 0.1134 before each value.
    limit = math.log(40)
    stakes = [math.sqrt(2 * limit / 3 / v) for v in (0.25, (0.25 + 0.0625) / 2, 0.3402777777 / 3)]
    interval = bounded_mean_interval(np.ones(3))
    capital = math.prod(
        1 + min(stake, 0.75 / interval.low) * (1 - interval.low) for stake in stakes
    )
    assert capital == pytest.approx(40)
    assert interval.high == 1


def test_empirical_bernstein_by_hand():
    # 0 and 1, five times each: mean 1/2, variance 5/18.
    reach = math.sqrt(2 * 5 / 18 * math.log(80) / 10) + 7 * math.log(80) / 27
    low, high = empirical_bernstein(np.repeat([0.0, 1.0], 5), 0.95)
    assert (low, high) == (pytest.approx(0.5 - reach), pytest.approx(0.5 + reach))


@given(values, methods)
def test_it_lies_in_the_range_and_holds_the_mean(sample, method):
    interval = bounded_mean_interval(np.array(sample), method=method)
    assert 0 <= interval.low <= math.fsum(sample) / len(sample) + 1e-12
    assert math.fsum(sample) / len(sample) - 1e-12 <= interval.high <= 1


@given(values, methods, st.floats(-100, 100), st.floats(0.1, 100))
def test_it_moves_with_the_range(sample, method, low, width):
    plain = bounded_mean_interval(np.array(sample), method=method)
    moved = bounded_mean_interval(
        low + width * np.array(sample), value_range=(low, low + width), method=method
    )
    assert moved.low == pytest.approx(low + width * plain.low, abs=1e-9 * (abs(low) + width))
    assert moved.high == pytest.approx(low + width * plain.high, abs=1e-9 * (abs(low) + width))


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(sample, random):
    shuffled = list(sample)
    random.shuffle(shuffled)
    assert bounded_mean_interval(np.array(shuffled)) == bounded_mean_interval(np.array(sample))


@pytest.mark.parametrize("n", [5, 40])
def test_it_covers_at_least_as_often_as_it_promises(n):
    rng = np.random.default_rng(n)
    held = [
        bounded_mean_interval(rng.beta(0.5, 0.1, n), level=0.9, random_state=at).covers(5 / 6)
        for at in range(300)
    ]
    assert np.mean(held) >= 0.9 - 2 * math.sqrt(0.09 / 300)


def test_it_is_shorter_than_empirical_bernstein():
    sample = np.random.default_rng(1).beta(4, 2, 200)
    widths = [
        bounded_mean_interval(sample, method=method).width
        for method in ("betting", "empirical_bernstein")
    ]
    assert widths[0] < 0.6 * widths[1]


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be one of"):
        bounded_mean_interval(np.ones(3), method="hoeffding")
