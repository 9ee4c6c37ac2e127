import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve as sklearn_calibration

from truerisk.errors import InputError
from truerisk.measures.calibration import calibration, calibration_curve
from truerisk.measures.thresholds import sweep
from truerisk.tallies.ranking import rank

rows = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=40)


def test_the_curve_worked_by_hand():
    curve = calibration([0, 0, 1, 0, 1, 1], [0.0, 0.1, 0.2, 0.6, 0.6, 0.9], bins=2)
    assert curve.count.tolist() == [3, 3]
    assert curve.positives.tolist() == [1, 2]
    assert curve.mean_score.tolist() == pytest.approx([0.1, 0.7])
    assert curve.share.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert curve.expected_calibration_error == pytest.approx((7 / 30 + 1 / 30) / 2)


def test_bins_without_ties_agree_with_scikit_learn():
    rng = np.random.default_rng(4)
    scores = rng.random(1000)
    truth = rng.random(1000) < scores**2
    share, mean = sklearn_calibration(truth, scores, n_bins=10, strategy="quantile")
    curve = calibration(truth, scores)
    np.testing.assert_allclose(curve.share, share)
    np.testing.assert_allclose(curve.mean_score, mean)
    assert curve.count.tolist() == [100] * 10


@settings(max_examples=30)
@given(rows, st.integers(1, 12))
def test_every_example_is_in_one_bin_and_equal_scores_share_it(some, bins):
    eighths, truth = (np.array(column) for column in zip(*some, strict=True))
    curve = calibration(truth.astype(bool), eighths / 8, bins=bins)
    assert 1 <= len(curve.count) <= min(bins, len(set(eighths.tolist())))
    assert curve.count.sum() == len(some)
    assert curve.positives.sum() == truth.sum()
    assert curve.count @ curve.mean_score == pytest.approx(eighths.sum() / 8)
    assert np.all(np.diff(curve.mean_score) > 0)
    assert 0 <= curve.expected_calibration_error <= 1


def test_scores_that_mean_what_they_say_have_next_to_no_error():
    rng = np.random.default_rng(6)
    scores = rng.random(20_000)
    curve = calibration(rng.random(20_000) < scores, scores)
    assert curve.expected_calibration_error < 0.015


def test_weights_count_as_copies_do():
    truth, scores = [0, 1, 1, 0], [0.2, 0.3, 0.8, 0.9]
    copied = calibration(np.repeat(truth, [1, 3, 2, 2]), np.repeat(scores, [1, 3, 2, 2]), bins=2)
    weighted = calibration(truth, scores, bins=2, sample_weight=[1, 3, 2, 2])
    np.testing.assert_allclose(weighted.share, copied.share)
    np.testing.assert_allclose(weighted.mean_score, copied.mean_score)
    np.testing.assert_allclose(weighted.count, copied.count)


def test_a_thinned_table_gives_nearly_the_same_curve():
    rng = np.random.default_rng(7)
    scores = rng.random(80_000)
    truth = rng.random(80_000) < scores
    table = sweep(rank(scores, truth))
    assert len(table) < 2**15
    curve = calibration_curve(table)
    bounds = np.quantile(scores, np.linspace(0, 1, 11)[1:-1])
    of_bin = np.searchsorted(bounds, scores)
    mean = np.bincount(of_bin, scores) / np.bincount(of_bin)
    share = np.bincount(of_bin, truth) / np.bincount(of_bin)
    np.testing.assert_allclose(curve.mean_score, mean, atol=5e-4)
    np.testing.assert_allclose(curve.share, share, atol=5e-3)


def test_the_label_of_positives_may_be_named():
    curve = calibration(["ham", "spam"], [0.2, 0.9], pos_label="spam", bins=1)
    assert (curve.positives.tolist(), curve.count.tolist()) == ([1], [2])


@pytest.mark.parametrize(
    ("scores", "bins", "message"),
    [
        ([-1.0, 0.5], 10, r"must be probabilities to be calibrated; they range over \[-1, 0.5\]"),
        ([0.5, np.inf], 10, r"they range over \[0.5, inf\]"),
        ([0.1, 0.5], 0, r"`bins` must lie in \[1, 1000\]; got 0"),
    ],
)
def test_what_cannot_be_calibrated_is_refused(scores, bins, message):
    with pytest.raises(InputError, match=message):
        calibration([0, 1], scores, bins=bins)


def test_the_curve_is_drawn_into_the_axes_given():
    ax = Figure().subplots()
    assert calibration([0, 1], [0.1, 0.9]).plot(ax) is ax
    assert ax.get_ylabel() == "share of positives"
