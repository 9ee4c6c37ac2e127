import pytest

import truerisk as tr
from truerisk.testing import assert_at_least, assert_at_most, assert_better, assert_not_worse

RECALL = tr.evaluate_counts([[80, 20], [40, 860]])["recall"]  # [0.708, 0.873]


def test_what_is_shown_passes():
    assert_at_least(RECALL, 0.7)
    assert_at_most(RECALL, 0.88)


def test_a_failure_says_the_interval_and_what_would_settle_it():
    with pytest.raises(AssertionError, match=r"interval is 0\.708157\. About 3\.4 times as many"):
        assert_at_least(RECALL, 0.75)
    with pytest.raises(AssertionError, match=r"recall ≤ 0\.85 is not shown"):
        assert_at_most(RECALL, 0.85)


def test_a_percentage_is_refused():
    with pytest.raises(tr.InputError, match=r"Write 0\.7 for 70 %"):
        assert_at_least(RECALL, 70)


def test_comparisons():
    truth = [1] * 60 + [0] * 60
    good, poor = truth, [1] * 30 + [0] * 30 + [0] * 60
    assert_better(tr.compare(truth, poor, good))
    assert_not_worse(tr.compare(truth, poor, good), region=0.01)
    with pytest.raises(AssertionError, match="second better than first is not shown"):
        assert_better(tr.compare(truth, good, poor))
    with pytest.raises(AssertionError, match=r"second not worse than first by 0\.01"):
        assert_not_worse(tr.compare(truth, good, poor, region=0.01))
