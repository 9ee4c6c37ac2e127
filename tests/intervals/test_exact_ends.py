import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from truerisk.intervals.exact_ends import exact_lower, exact_upper, mid_p_log_odds


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), share=st.floats(0, 1), tail=st.floats(1e-6, 0.9))
def test_each_end_leaves_the_tail_it_should(n, share, tail):
    k = round(n * share)
    count, total = np.array([float(k)]), np.array([float(n)])
    if k > 0:
        low = exact_lower(count, total, tail)[0]
        assert binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-9)
        middle = expit(mid_p_log_odds(count, total, min(tail, 0.49)))[0]
        mid_p = binom.sf(k, n, middle) + 0.5 * binom.pmf(k, n, middle)
        assert mid_p == pytest.approx(min(tail, 0.49), rel=1e-8)
    if k < n:
        high = exact_upper(count, total, tail)[0]
        assert binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-9)


def test_nothing_and_everything_have_open_ends():
    assert exact_lower(np.array([0.0]), np.array([5.0]), 0.1)[0] == 0.0
    assert exact_upper(np.array([5.0]), np.array([5.0]), 0.1)[0] == 1.0
    assert mid_p_log_odds(np.array([0.0]), np.array([5.0]), 0.1)[0] == -np.inf
