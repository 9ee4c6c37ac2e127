import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from truerisk.intervals.two_samples import fisher_mid_p, mover_difference, mover_p_value
from truerisk.results import Interval


def test_fisher_by_hand():
    # 1 of 4 against 3 of 4: of the C(8, 4) = 70 tables 1 has none here, 16 have one.
    assert fisher_mid_p(1, 4, 3, 4) == pytest.approx(2 * (1 / 70 + 8 / 70))
    assert fisher_mid_p(2, 4, 2, 4) == pytest.approx(1.0)
    assert math.isnan(fisher_mid_p(0, 0, 3, 4))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), m=st.integers(1, 300), data=st.data())
def test_fisher_is_scipys_hypergeometric_tail(n, m, data):
    k, j = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    law = hypergeom(n + m, k + j, n)
    expected = 2 * min(law.cdf(k), law.sf(k - 1)) - law.pmf(k)
    assert fisher_mid_p(k, n, j, m) == pytest.approx(min(1.0, expected), rel=1e-7, abs=1e-12)
    assert fisher_mid_p(k, n, j, m) == pytest.approx(fisher_mid_p(j, m, k, n), rel=1e-9)


def test_fisher_of_millions():
    law = hypergeom(3_000_000, 1_501_000, 1_000_000)
    expected = 2 * law.sf(501_000) + law.pmf(501_000)
    assert fisher_mid_p(501_000, 10**6, 10**6, 2 * 10**6) == pytest.approx(expected, rel=1e-4)


def interval(low, high):
    return Interval(low, high, 0.95, "wilson")


def test_mover_by_hand():
    # 0.6 in [0.5, 0.7] less 0.2 in [0.1, 0.4]: √(0.1² + 0.2²) below, √(0.1² + 0.1²) above.
    low, high = mover_difference(0.6, interval(0.5, 0.7), 0.2, interval(0.1, 0.4))
    assert low == pytest.approx(0.4 - math.sqrt(0.05))
    assert high == pytest.approx(0.4 + math.sqrt(0.02))


def test_the_test_says_what_the_interval_says():
    # With many examples p is 5 % exactly where the interval ends at 0.
    a, b = interval(0.5, 0.7), interval(0.3, 0.6)
    other = 0.6 - math.hypot(0.1, 0.15)
    shifted = Interval(other - 0.15, other + 0.15, 0.95, "wilson")
    p = mover_p_value(0.6, a, other, shifted, (10**9, 10**9))
    assert p == pytest.approx(0.05, abs=1e-6)
    assert mover_p_value(0.6, a, 0.6, b, (10, 10)) == 1.0
    assert math.isnan(mover_p_value(math.nan, a, 0.6, b, (10, 10)))
    few = mover_p_value(0.6, a, other, shifted, (5, 10**9))
    assert few > p


def test_an_end_at_infinity_proves_nothing():
    wide = Interval(0.0, math.inf, 0.95, "delta")
    assert mover_p_value(1.0, wide, 3.0, wide, (50, 50)) == 1.0
    assert np.isfinite(mover_difference(1.0, interval(0, 1), 0.5, interval(0, 1))).all()
