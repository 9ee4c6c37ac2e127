import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from truerisk.intervals.multiplicity import benjamini_hochberg, bonferroni, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def test_by_hand():
    # In order 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1, and never falling.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert bonferroni([0.01, 0.04, 0.3, 0.005]) == pytest.approx([0.04, 0.16, 1.0, 0.02])


def test_benjamini_and_hochberg_by_hand():
    # In order 0.005, 0.01, 0.03, 0.04: times 4/1, 4/2, 4/3, 4/4, and never rising downwards.
    raw = [0.01, 0.04, 0.03, 0.005, np.nan]
    assert benjamini_hochberg(raw) == pytest.approx([0.02, 0.04, 0.04, 0.02, np.nan], nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(raw=p_values)
def test_benjamini_and_hochberg_as_scipy_has_it(raw):
    expected = false_discovery_control(raw, method="bh")
    assert benjamini_hochberg(raw) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(raw=p_values)
def test_holm_is_the_closed_test_by_bonferroni(raw):
    # A hypothesis falls if every set of hypotheses that it is in falls, by Bonferroni.
    members = range(len(raw))
    expected = np.zeros(len(raw))
    for size in range(1, len(raw) + 1):
        for together in itertools.combinations(members, size):
            worst = min(1.0, size * min(raw[i] for i in together))
            expected[list(together)] = np.maximum(expected[list(together)], worst)
    assert holm(raw) == pytest.approx(expected, rel=1e-14)


@settings(max_examples=30, deadline=None)
@given(raw=p_values, order=st.randoms(use_true_random=False))
def test_holm_lies_between_the_raw_ones_and_bonferroni_and_keeps_their_order(raw, order):
    adjusted = holm(raw)
    assert np.all(adjusted >= raw)
    assert np.all(adjusted <= bonferroni(raw) * (1 + 1e-15))
    assert np.all(np.diff(adjusted[np.argsort(raw)]) >= 0)
    shuffled = order.sample(range(len(raw)), len(raw))
    assert np.array_equal(holm(np.array(raw)[shuffled]), adjusted[shuffled])


def test_an_undefined_test_stays_undefined_and_is_not_counted():
    assert holm([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
    assert bonferroni([0.01, np.nan, 0.04]) == pytest.approx([0.02, np.nan, 0.08], nan_ok=True)
    assert holm([]).size == 0
