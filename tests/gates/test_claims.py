import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import truerisk as tr
from truerisk.gates.claims import at_least, at_most, is_better, is_not_worse
from truerisk.results import Estimate, Interval


def estimate(value, low, high, n=100, measure="recall"):
    interval = Interval(low, high, 0.95, "clopper_pearson")
    return Estimate(value=value, interval=interval, measure=measure, method="holdout", n=n)


def test_the_end_of_the_interval_counts_and_not_the_value():
    one = estimate(0.8, 0.7, 0.87)
    assert at_least(one, 0.7).is_shown
    assert not at_least(one, 0.71).is_shown
    assert at_most(one, 0.87).is_shown
    assert not at_most(one, 0.86).is_shown


def test_the_distance_to_the_end_falls_as_the_root_of_n():
    # From 0.8 to 0.7 with 100 examples: half of that distance takes 4 times as many.
    assert "About 4.0 times as many examples" in at_least(estimate(0.8, 0.7, 0.87), 0.75).reason


def test_a_value_on_the_wrong_side_needs_another_model_not_more_examples():
    reason = at_least(estimate(0.8, 0.7, 0.87), 0.9).reason
    assert reason.endswith("The value itself, 0.800, does not meet it.")


def test_an_undefined_value_shows_nothing():
    one = estimate(math.nan, 0.0, 1.0)
    assert not at_least(one, 0.0).is_shown
    assert "undefined" in at_least(one, 0.0).reason


def test_without_an_interval_nothing_is_shown():
    one = Estimate(value=0.9, interval=None, measure="recall", method="holdout", n=9)
    assert str(at_least(one, 0.1)) == "recall ≥ 0.1 is not shown: it has no interval."


@given(
    value=st.floats(0.1, 0.9), below=st.floats(0.01, 0.1), above=st.floats(0.01, 0.1),
    bound=st.floats(0, 1),
)  # fmt: skip
def test_both_sides_mirror_each_other(value, below, above, bound):
    right = estimate(value, value - below, value + above)
    wrong = estimate(1 - value, 1 - (value + above), 1 - (value - below))
    gap = abs(bound - (value - below))
    if gap > 1e-9:
        assert at_least(right, bound).is_shown == at_most(wrong, 1 - bound).is_shown


TRUTH = [1] * 60 + [0] * 60
OLD = [1] * 40 + [0] * 20 + [0] * 40 + [1] * 20
NEW = [1] * 57 + [0] * 3 + [0] * 57 + [1] * 3


def test_better_needs_the_finding():
    assert is_better(tr.compare(TRUTH, OLD, NEW)).is_shown
    assert not is_better(tr.compare(TRUTH, NEW, OLD)).is_shown
    assert not is_better(tr.compare(TRUTH, OLD, OLD)).is_shown


def test_not_worse_takes_the_worse_end_in_the_direction_of_the_measure():
    errors = tr.compare(TRUTH, OLD, NEW, measures=["error_rate"])["error_rate"]
    right = tr.compare(TRUTH, OLD, NEW, measures=["accuracy"])["accuracy"]
    assert is_not_worse(errors, 0.0).is_shown
    assert is_not_worse(right, 0.0).is_shown
    back = tr.compare(TRUTH, NEW, OLD, measures=["error_rate"])["error_rate"]
    assert not is_not_worse(back, 0.1).is_shown
    assert is_not_worse(back, 0.9).is_shown


def test_not_worse_is_the_test_of_non_inferiority_where_it_was_made():
    same = tr.compare(TRUTH, OLD, OLD, region=0.03)
    test = next(t for t in same.beside["error_rate", "first", "second"] if "non_inf" in t.method)
    assert is_not_worse(same).is_shown == (test.p_value <= 0.05)
    assert f"p = {test.p_value:.6f}" in is_not_worse(same).reason


def test_not_worse_by_how_much_must_be_said():
    with pytest.raises(tr.InputError, match="`region` must be given: not worse by how much"):
        is_not_worse(tr.compare(TRUTH, OLD, NEW))
