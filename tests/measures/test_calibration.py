import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from sklearn.calibration import calibration_curve as sklearn_calibration

from truerisk.errors import InputError
from truerisk.measures.calibration import (
    calibration,
    calibration_curve,
    distribution_of,
    round_edges,
    score_distribution,
)
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


numbers = st.floats(allow_nan=False, allow_infinity=False)


def test_counts_worked_by_hand():
    result = score_distribution([0, 0, 1, 0, 1, 1], [0.0, 0.1, 0.25, 0.5, 0.75, 1.0], bins=4)
    assert result.edges.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert result.negatives.tolist() == [2, 0, 1, 0]
    assert result.positives.tolist() == [0, 1, 0, 2]
    assert result.infinite == 0


def test_an_edge_is_the_number_that_it_is_written_as():
    # 3 × 0.1 is not 0.3, and 12 × 0.025 is not either.
    assert 0.3 in round_edges(0.0, 1.0, 10).tolist()
    assert 0.3 in round_edges(0.0, 1.0, 40).tolist()
    result = score_distribution([1, 0], [0.3, 0.95], bins=10)
    assert result.positives[result.edges[:-1].tolist().index(0.3)] == 1


@pytest.mark.parametrize(
    ("low", "high", "bins", "edges"),
    [
        (0.03, 0.88, 10, np.arange(10) / 10),
        (-3.2, 4.1, 9, np.arange(-4, 6)),
        (-3.2, 4.1, 8, [-4, -2, 0, 2, 4, 6]),
        (120, 180, 3, [120, 140, 160, 180]),
        (121, 180, 2, [100, 150, 200]),
        (-1, 1, 2, [-1, 0, 1]),
        (-0.1, 70, 2, [-100, 0, 100]),
    ],
)
def test_edges_are_round_and_as_many_as_fit(low, high, bins, edges):
    assert round_edges(low, high, bins).tolist() == list(edges)


@settings(max_examples=60)
@given(numbers, numbers, st.integers(2, 40))
def test_edges_ascend_hold_the_range_and_are_at_most_so_many(one, other, bins):
    low, high = min(one, other), max(one, other)
    edges = round_edges(low, high, bins)
    assert 2 <= len(edges) <= bins + 1
    assert np.isfinite(edges).all()
    assert np.all(np.diff(edges / 2) > 0)
    assert edges[0] <= low
    assert high <= edges[-1]


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(-30, 30), st.booleans()), min_size=1, max_size=50),
    st.integers(2, 40),
)
def test_counts_are_those_of_a_histogram(some, bins):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    scores = scores / 8  # exact in binary
    result = score_distribution(truth.astype(bool), scores, bins=bins)
    for counts, chosen in ((result.positives, truth), (result.negatives, ~truth)):
        expected, _ = np.histogram(scores[chosen], bins=result.edges)
        np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize(
    "scores",
    [
        [0.5, 0.5],
        [0.0, 0.0],
        [1e300, -1e300],
        [1.7e308, -1.7e308],
        [1.7e308, 1.7e308],
        [5e-324, 0.0],
        [1e15, 1e15 + 1],
        [0.5, np.nextafter(0.5, 1)],
    ],
)
def test_scores_of_any_size_are_counted(scores):
    result = score_distribution([0, 1], scores)
    assert (result.negatives.sum(), result.positives.sum()) == (1, 1)
    assert np.isfinite(result.edges).all()


def test_infinite_scores_are_told_and_not_drawn():
    result = score_distribution([0, 1, 1, 0], [-np.inf, np.inf, 0.25, 0.75])
    assert result.infinite == 2
    assert (result.negatives.sum(), result.positives.sum()) == (1, 1)
    assert (result.edges[0], result.edges[-1]) == (0.24, 0.76)
    nothing = score_distribution([0, 1], [-np.inf, np.inf])
    assert (nothing.infinite, nothing.positives.sum()) == (2, 0)


def test_a_thinned_table_gives_nearly_the_same_counts():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=80_000)
    truth = rng.random(80_000) < 0.3
    result = distribution_of(sweep(rank(scores, truth)))
    expected, _ = np.histogram(scores[truth], bins=result.edges)
    assert np.abs(result.positives - expected).max() <= truth.sum() / 4000
    assert result.positives.sum() == truth.sum()


def test_too_few_bins_are_refused():
    with pytest.raises(InputError, match=r"`bins` must lie in \[2, 10000\]; got 1"):
        score_distribution([0, 1], [0.1, 0.2], bins=1)


def test_both_classes_are_drawn_as_shares_of_their_own():
    ax = Figure().subplots()
    result = score_distribution([0, 0, 0, 1], [0.1, 0.1, 0.2, 0.9])
    assert result.plot(ax) is ax
    heights = [patch.get_data().values for patch in ax.patches]
    assert [total.sum() for total in heights] == pytest.approx([1, 1])
    assert [text.get_label() for text in ax.patches] == ["negative", "positive"]
