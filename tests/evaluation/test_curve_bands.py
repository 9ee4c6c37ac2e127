import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.special import betainc, ndtr, ndtri

from truerisk.errors import InputError
from truerisk.evaluation import curve_bands
from truerisk.evaluation.curve_bands import (
    LOCAL_MISSES,
    TABLE,
    calibration_intervals,
    confidence_band,
    local_level,
    probability_inside,
    simultaneous_bounds,
)
from truerisk.evaluation.evaluate import evaluate
from truerisk.intervals.binomial import clopper_pearson
from truerisk.measures.calibration import calibration
from truerisk.measures.curves import precision_recall, roc

DISTANCE = 1.2  # of the means of two normal distributions of variance 1
GRID = np.linspace(0, 1, 501)

rows = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=40).filter(
    lambda some: {label for _, label in some} == {False, True}
)


def drawn(n, prevalence, rng):
    pos_label = rng.random(n) < prevalence
    return pos_label, rng.normal(size=n) + DISTANCE * pos_label


def true_roc(fpr):
    return ndtr(DISTANCE + ndtri(fpr))


def true_precision(recall, prevalence):
    right = prevalence * recall
    return right / (right + (1 - prevalence) * ndtr(ndtri(recall) - DISTANCE))


@pytest.mark.parametrize(("n", "level"), [(40, 0.8), (400, 0.5)])
def test_the_whole_true_roc_curve_lies_inside_at_least_as_often_as_promised(n, level):
    rng, times, held = np.random.default_rng(n), 80, 0
    truth = true_roc(GRID)
    for _ in range(times):
        band = confidence_band(roc(*drawn(n, 0.4, rng)), level=level)
        low, high = np.interp(GRID, band.x, band.low), np.interp(GRID, band.x, band.high)
        held += bool(np.all((low <= truth + 1e-9) & (truth <= high + 1e-9)))
    assert held / times >= level


def test_the_whole_true_precision_lies_inside_at_least_as_often_as_promised():
    rng, times, held, level, prevalence = np.random.default_rng(3), 80, 0, 0.6, 0.3
    for _ in range(times):
        band = confidence_band(precision_recall(*drawn(300, prevalence, rng)), level=level)
        some = band.x > 0
        truth = true_precision(band.x[some], prevalence)
        held += bool(np.all((band.low[some] <= truth + 1e-9) & (truth <= band.high[some] + 1e-9)))
    assert level <= held / times < 1


def test_a_roc_band_worked_by_hand():
    # Two positives above two negatives.  The rectangles are those of 0, 1, 2 of 2, and the floor
    # runs through their lower right corners, the ceiling through their upper left ones.
    band = confidence_band(roc([0, 0, 1, 1], [1, 2, 3, 4]), level=0.81)
    low, high = simultaneous_bounds([0, 1, 2], 2, 0.9)
    assert band.x.tolist() == pytest.approx(sorted({0, 1, *low, *high}))
    # 0 false alarms stand under every recall: the first floor is that of no positive found.
    floor = {high[0]: 0.0, high[1]: low[2], 1.0: low[2]}
    for x, expected in floor.items():
        assert np.interp(x, band.x, band.low) == pytest.approx(expected)
    assert np.interp(0, band.x, band.high) == 1
    assert (band.level, band.method, band.joined) == (0.81, "simultaneous_rectangles", True)


def test_a_precision_band_worked_by_hand():
    # One positive above one negative: at full recall anything from no to every false alarm.
    band = confidence_band(precision_recall([0, 1], [1, 2]), level=0.729)
    prevalence = clopper_pearson(1, 2, 0.9)
    low, high = simultaneous_bounds([0, 1], 1, 0.9)
    assert band.x[-1] == 1
    assert band.low[-1] == pytest.approx(prevalence[0])
    assert band.high[-1] == 1
    # Up to the least true recall of "found", only "nothing found" can be meant: f ≤ high[0].
    at = int(np.searchsorted(band.x, low[1]))
    fpr = np.interp(band.x[at], [0, low[1]], [high[0], 1])
    right = prevalence[0] * band.x[at]
    assert band.low[at] == pytest.approx(right / (right + (1 - prevalence[0]) * fpr))


@pytest.mark.parametrize("fpr", [(0.3, 0.4), (0.0, 0.9)], ids=["concave", "convex"])
def test_the_lines_of_a_precision_band_cut_nothing_off_the_hyperbola(fpr):
    recall, prevalence = np.array([0.1, 1.0]), 0.3
    dense = np.linspace(*recall, 500)
    right = prevalence * dense
    truth = right / (right + (1 - prevalence) * np.interp(dense, recall, fpr))
    line = curve_bands.precision_line
    floor = np.interp(dense, *line(recall, np.array(fpr), prevalence, np.minimum))
    ceiling = np.interp(dense, *line(recall, np.array(fpr), prevalence, np.maximum))
    assert np.all((floor <= truth + 1e-12) & (truth <= ceiling + 1e-12))
    assert floor[[0, -1]] == pytest.approx(truth[[0, -1]])
    assert ceiling[[0, -1]] == pytest.approx(truth[[0, -1]])


def test_the_levels_of_the_samples_multiply_to_the_level(monkeypatch):
    asked = []

    def spied(k, n, level):
        asked.append(level)
        return simultaneous_bounds(k, n, level)

    monkeypatch.setattr(curve_bands, "simultaneous_bounds", spied)
    confidence_band(roc([0, 1], [1, 2]), level=0.9)
    assert np.prod(asked) == pytest.approx(0.9)
    asked.clear()
    confidence_band(precision_recall([0, 1], [1, 2]), level=0.9)
    assert np.prod(asked) * 0.9 ** (1 / 3) == pytest.approx(0.9)


@settings(max_examples=25)
@given(rows, st.sampled_from([0.5, 0.95]))
def test_a_band_holds_its_curve_and_stays_in_the_square(some, level):
    scores, truth = zip(*some, strict=True)
    curve = roc(truth, scores)
    band = confidence_band(curve, level=level)
    assert np.all(np.interp(curve.fpr, band.x, band.low) <= curve.tpr + 1e-12)
    assert np.all(np.interp(curve.fpr, band.x, band.high) >= curve.tpr - 1e-12)
    points = precision_recall(truth, scores)
    other = confidence_band(points, level=level)
    held = points.recall > 0
    low, high = (np.interp(points.recall[held], other.x, end) for end in (other.low, other.high))
    assert np.all((low <= points.precision[held] + 1e-9) & (points.precision[held] <= high + 1e-9))
    for found in (band, other):
        assert (found.x[0], found.x[-1]) == (0, 1)
        assert np.all(np.diff(found.x) > 0)
        assert np.all((found.low >= 0) & (found.low <= found.high) & (found.high <= 1))


@settings(max_examples=15)
@given(rows)
def test_a_higher_level_is_a_wider_band(some):
    scores, truth = zip(*some, strict=True)
    for draw in (roc, precision_recall):
        narrow, wide = (confidence_band(draw(truth, scores), level=level) for level in (0.5, 0.99))
        assert np.all(np.interp(GRID, wide.x, wide.low) <= np.interp(GRID, narrow.x, narrow.low))
        assert np.all(np.interp(GRID, wide.x, wide.high) >= np.interp(GRID, narrow.x, narrow.high))


@settings(max_examples=15)
@given(rows, st.integers(2, 5))
def test_the_band_of_some_points_holds_that_of_all(some, step):
    scores, truth = zip(*some, strict=True)
    whole = roc(truth, scores)
    kept = np.unique([*range(0, len(whole.fpr), step), len(whole.fpr) - 1])
    part = replace(whole, fpr=whole.fpr[kept], tpr=whole.tpr[kept], complete=False)
    band, wider = confidence_band(whole), confidence_band(part)
    # What is promised is the steps; they lie within the straight lines that are drawn.
    corners = curve_bands._corners(whole.fpr, whole.tpr, whole, 0.95 ** (1 / 2))  # noqa: SLF001
    for x in band.x:
        over = (corners.fpr_low <= x) & (x <= corners.fpr_high)
        assert np.interp(x, wider.x, wider.low) <= corners.tpr_low[over].min() + 1e-12
        assert np.interp(x, wider.x, wider.high) >= corners.tpr_high[over].max() - 1e-12


def test_a_thinned_curve_has_a_band_that_is_wider_by_a_step():
    rng = np.random.default_rng(5)
    truth, scores = drawn(30_000, 0.4, rng)
    all_of_it = roc(truth, scores)
    exact = local_level(all_of_it.n_positive, 0.95**0.5)
    band = confidence_band(all_of_it)
    x = 0.3
    at = np.searchsorted(all_of_it.fpr, x)
    # The floor over x is that of the first rectangle that reaches as far.
    fp = np.rint(all_of_it.fpr * all_of_it.n_negative)
    near = slice(at - 2000, at + 1)
    reach = clopper_pearson(
        fp[near], all_of_it.n_negative, local_level(all_of_it.n_negative, 0.95**0.5)
    )[1]
    first = at - 2000 + int(np.searchsorted(reach, x))
    tp = np.rint(all_of_it.tpr[first] * all_of_it.n_positive)
    floor = clopper_pearson(tp, all_of_it.n_positive, exact)[0]
    found = np.interp(x, band.x, band.low)
    assert floor - 3 / 8000 <= found <= floor


def test_rows_that_are_weighted_or_grouped_have_no_band():
    truth, scores = [0, 1, 0, 1], [1, 2, 3, 4]
    weighted = roc(truth, scores, sample_weight=[1, 2, 1, 1])
    grouped = evaluate(truth, y_score=scores, groups=[0, 0, 1, 1]).curves
    for curve in (weighted, grouped["roc"], grouped["precision_recall"], weighted.hull()):
        with pytest.raises(InputError, match=r"weighted, or come in groups.*no band is promised"):
            confidence_band(curve)
    assert confidence_band(evaluate(truth, y_score=scores).curves["roc"]).level == 0.95


def test_a_class_that_is_missing_leaves_no_curve_and_no_band():
    with pytest.raises(InputError, match="must have positives and negatives; got 2 and 0"):
        confidence_band(roc([True, True], [1, 2]))
    with pytest.raises(InputError, match="`curve` must be of `roc` or `precision_recall`; got 3"):
        confidence_band(3)


def test_all_intervals_of_a_calibration_hold_together():
    rng, times, held, level = np.random.default_rng(8), 120, 0, 0.8
    for _ in range(times):
        scores = rng.random(200)
        curve = calibration(rng.random(200) < scores, scores, bins=5)
        intervals = calibration_intervals(curve, level=level)
        inside = (intervals.low <= curve.mean_score) & (curve.mean_score <= intervals.high)
        held += bool(np.all(inside))
    assert held / times >= level
    assert (intervals.level, intervals.joined) == (level, False)


def test_intervals_of_a_calibration_worked_by_hand():
    curve = calibration([0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8], bins=2)
    low, high = clopper_pearson([1, 2], [2, 2], 0.9)
    intervals = calibration_intervals(curve, level=0.81)
    np.testing.assert_allclose((intervals.low, intervals.high), (low, high))


def test_weighted_examples_have_no_intervals_of_calibration():
    curve = calibration([0, 1], [0.1, 0.2], sample_weight=[1.0, 2.5])
    with pytest.raises(InputError, match="these are weighted"):
        calibration_intervals(curve)


def test_bands_are_drawn_into_the_axes_given():
    ax = Figure().subplots()
    band = confidence_band(roc([0, 1], [1, 2]))
    assert band.plot(ax) is ax
    intervals = calibration_intervals(calibration([0, 1], [0.1, 0.9]))
    assert intervals.plot(ax) is ax
    assert len(ax.collections) == 2


@pytest.mark.parametrize("level", [0.3, 0.9, 0.95, 0.999])
def test_one_score_has_the_level_itself(level):
    # The band misses when the uniform number is below t or above 1 − t.
    assert local_level(1, level) == level
    assert probability_inside(1, 1 - level) == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("miss", [0.2, 0.05, 0.01])
def test_two_scores_worked_by_hand(miss):
    # The smaller of two uniforms lies in [1 − √(1−t), 1 − √t], the larger in [√t, √(1−t)]; the
    # pair has density 2 where the first is smaller.
    t = miss / 2
    a, b, c, d = 1 - math.sqrt(1 - t), 1 - math.sqrt(t), math.sqrt(t), math.sqrt(1 - t)
    area = (c - a) * (d - c) + d * (b - c) - (b**2 - c**2) / 2
    assert probability_inside(2, miss) == pytest.approx(2 * area, abs=1e-12)
    assert local_level(2, 2 * area) == pytest.approx(1 - miss, abs=1e-8)


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_the_band_covers_at_all_thresholds_as_often_as_it_promises(n):
    rng, times, level = np.random.default_rng(n), min(3000, 400_000 // n), 0.8
    uniforms = np.sort(rng.random((times, n)), axis=1)
    k = np.arange(1.0, n + 1)
    tails = betainc(k, n + 1 - k, uniforms)
    miss = 1 - local_level(n, level)
    inside = np.all((tails >= miss / 2) & (tails <= 1 - miss / 2), axis=1)
    assert inside.mean() == pytest.approx(level, abs=3 * math.sqrt(0.16 / times))


@pytest.mark.parametrize("n", [316, 1000])
def test_the_table_is_what_the_recursion_gives(n):
    for miss, crossed in list(zip(LOCAL_MISSES, TABLE[n], strict=True))[::5]:
        assert -math.log(probability_inside(n, miss)) == pytest.approx(crossed, rel=1e-4)


@pytest.mark.parametrize("level", [0.25, 0.8, 0.95, 0.983, 0.999])
@pytest.mark.parametrize("n", [101, 177, 560])
def test_between_the_rows_of_the_table_the_level_is_kept_and_hardly_more(n, level):
    found = probability_inside(n, 1 - local_level(n, level))
    assert level <= found <= level + 0.02 * (1 - level)


@pytest.mark.parametrize("level", [0.3, 0.95, 0.9999])
def test_more_scores_need_a_higher_local_level(level):
    sizes = [1, 2, 3, 10, 99, 100, 101, 315, 316, 317, 10**4, 10**5, 10**6, 10**9, 2**53]
    levels = [local_level(n, level) for n in sizes]
    assert levels == sorted(levels)
    assert levels[-1] < 1


@pytest.mark.parametrize("n", [5, 100, 10**4])
def test_a_higher_level_is_a_higher_local_level(n):
    levels = [local_level(n, level) for level in (0.01, 0.2, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-9)]
    assert levels == sorted(levels)
    assert all(local >= 0.01 for local in levels)


def test_a_hair_s_breadth_from_certainty_is_shared_out_evenly():
    assert 1 - local_level(1000, 1 - 1e-6) == pytest.approx(1e-9, rel=1e-6)


def test_bounds_are_the_exact_intervals_at_the_local_level():
    k = [0, 3, 3, 12]
    low, high = simultaneous_bounds(k, 12, 0.9)
    expected = clopper_pearson(k, 12, local_level(12, 0.9))
    np.testing.assert_array_equal((low, high), expected)
    assert (low[0], high[-1]) == (0, 1)


def test_without_scores_nothing_is_known():
    low, high = simultaneous_bounds([0], 0)
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize(
    ("n", "level", "message"),
    [
        (10, 95, r"`level` must lie strictly between 0 and 1; got 95. Write 0.95"),
        (-1, 0.9, r"`n` must lie in \[0,"),
        (2.5, 0.9, "`n` must be a whole number"),
    ],
)
def test_what_is_no_number_of_scores_or_no_level_is_refused(n, level, message):
    with pytest.raises(InputError, match=message):
        local_level(n, level)
