import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.evaluation.best_threshold import rejection
from truerisk.measures.rejection import error_reject, rejection_curve
from truerisk.measures.thresholds import sweep
from truerisk.tallies.ranking import rank

EVIDENCE = [0.1, 0.2, 0.2, 0.5, 0.9]
WRONG = [True, True, False, False, False]


def test_the_curve_worked_by_hand():
    curve = error_reject(EVIDENCE, WRONG)
    assert curve.thresholds.tolist() == [0.1, 0.2, 0.5, 0.9]
    assert curve.rejection_rate.tolist() == pytest.approx([0, 1 / 5, 3 / 5, 4 / 5])
    assert curve.error_rate.tolist() == pytest.approx([2 / 5, 1 / 4, 0, 0])
    assert curve.accepted.tolist() == [5, 4, 2, 1]
    assert curve.errors.tolist() == [2, 1, 0, 0]
    # two examples at ¼ (the tied ones), one at 2/5, two at 0
    assert curve.area == pytest.approx((2 / 4 + 2 / 5) / 5)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30),
    st.floats(0, 1),
    st.floats(-0.1, 1.1),
)
def test_thresholds_do_what_they_promise(rows, wanted, threshold):
    evidence, wrong = (np.array(column) for column in zip(*rows, strict=True))
    curve = error_reject(evidence, wrong)
    point = curve.at(threshold)
    remaining = evidence >= threshold
    assert point.accepted == remaining.sum()
    assert point.errors == wrong[remaining].sum()
    if remaining.any():
        assert point.error_rate == wrong[remaining].mean()
    else:
        assert np.isnan(point.error_rate)
        assert point.rejection_rate == 1
    by_error = curve.threshold_for_error(wanted)
    assert by_error.accepted == 0 or by_error.error_rate <= wanted
    less = curve.rejection_rate < by_error.rejection_rate
    assert np.all(curve.error_rate[less] > wanted)
    by_rejection = curve.threshold_for_rejection(wanted)
    assert by_rejection.rejection_rate <= wanted
    more = curve.rejection_rate > by_rejection.rejection_rate
    assert np.all(curve.rejection_rate[more] > wanted)


def test_an_error_that_no_threshold_reaches_rejects_all():
    point = error_reject([0.5, 0.6], [False, True]).threshold_for_error(0.2)
    assert (point.threshold, point.rejection_rate, point.accepted) == (np.inf, 1.0, 0)
    assert np.isnan(point.error_rate)


def test_a_thinned_curve_has_the_area_of_the_whole():
    rng = np.random.default_rng(1)
    evidence = rng.random(100_000)
    wrong = rng.random(100_000) < (1 - evidence) / 2
    order = np.argsort(-evidence)
    exact = np.mean(np.cumsum(wrong[order]) / np.arange(1, 100_001))
    result = error_reject(evidence, wrong)
    assert len(result.thresholds) < 2**14
    assert result.area == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("goal", [-0.1, 1.1])
def test_a_share_outside_of_its_range_is_refused(goal):
    curve = error_reject(EVIDENCE, WRONG)
    with pytest.raises(InputError, match=r"`wanted` must lie in \[0, 1\]"):
        curve.threshold_for_error(goal)
    with pytest.raises(InputError, match=r"`wanted` must lie in \[0, 1\]"):
        curve.threshold_for_rejection(goal)


def test_it_draws_itself_on_the_axes_it_is_given():
    ax = Figure().subplots()
    assert error_reject(EVIDENCE, WRONG).plot(ax) is ax
    assert list(ax.lines[0].get_ydata()) == pytest.approx([2 / 5, 1 / 4, 0, 0])


def test_a_curve_from_counts_worked_by_hand():
    # evidence .4, .3, .1, .4 about ½; the third is a positive called negative
    table = sweep(rank([0.9, 0.2, 0.4, 0.1], [True, False, True, False]))
    curve = rejection_curve(table, 0.5)
    assert curve.thresholds.tolist() == pytest.approx([0.1, 0.3, 0.4])
    assert curve.accepted.tolist() == [4, 3, 2]
    assert curve.errors.tolist() == [1, 0, 0]
    assert curve.area == pytest.approx(1 / 16)


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(-8, 8), st.booleans()), min_size=1, max_size=40),
    st.integers(-9, 9),
)
def test_a_curve_from_counts_is_that_of_the_rows(some, eighths):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    scores, threshold = scores / 8, eighths / 8
    expected = rejection(truth.astype(bool), scores, threshold=threshold)
    curve = rejection_curve(sweep(rank(scores, truth.astype(bool))), threshold)
    for name in ("thresholds", "rejection_rate", "error_rate", "accepted", "errors", "area"):
        np.testing.assert_allclose(getattr(curve, name), getattr(expected, name), atol=1e-15)


def test_a_curve_from_counts_takes_infinite_scores_for_certain_ones():
    table = sweep(rank([np.inf, 1.0, -np.inf], [True, False, True]))
    curve = rejection_curve(table, 0.0)
    assert curve.thresholds.tolist() == [1.0, np.inf]
    assert curve.errors.tolist() == [2, 1]


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, np.nan])
def test_about_no_number_nothing_can_be_rejected(threshold):
    with pytest.raises(InputError, match="`threshold` must"):
        rejection_curve(sweep(rank([1.0], [True])), threshold)
