import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.metrics import det_curve as sklearn_det
from sklearn.metrics import fbeta_score
from sklearn.metrics import precision_recall_curve as sklearn_precision_recall
from sklearn.metrics import roc_curve as sklearn_roc

from truerisk.errors import InputError
from truerisk.measures.curves import (
    RocCurve,
    cost,
    det,
    precision_recall,
    roc,
    roc_curve,
    upper_hull,
)
from truerisk.tallies.ranking import rank

TRUTH = [1, 0, 1, 1, 0]
SCORES = [0.9, 0.8, 0.6, 0.4, 0.2]

rows = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=2, max_size=30).filter(
    lambda some: {label for _, label in some} == {0, 1}
)


@given(rows)
def test_curves_agree_with_scikit_learn(some):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    fpr, tpr, _ = sklearn_roc(truth, scores, drop_intermediate=False)
    result = roc(truth, scores)
    np.testing.assert_allclose(result.fpr, fpr, atol=1e-15)
    np.testing.assert_allclose(result.tpr, tpr, atol=1e-15)
    precision, recall, thresholds = sklearn_precision_recall(truth, scores)
    drawn = precision_recall(truth, scores)
    np.testing.assert_allclose(drawn.precision[::-1], precision[:-1], atol=1e-15)
    np.testing.assert_allclose(drawn.recall[::-1], recall[:-1], atol=1e-15)
    np.testing.assert_array_equal(drawn.thresholds[::-1], thresholds)


def test_the_hull_worked_by_hand():
    # tpr ⅓ at fpr 0, then ½ ⅓, ½ ⅔, ½ 1, 1 1: the second and third lie under the line to (½, 1)
    hull = roc(TRUTH, SCORES).hull()
    assert hull.fpr.tolist() == [0, 0, 0.5, 1]
    assert hull.tpr.tolist() == pytest.approx([0, 1 / 3, 1, 1])
    assert hull.thresholds.tolist() == [np.inf, 0.9, 0.4, 0.2]
    assert hull.auc == pytest.approx((1 / 3 + 1) / 4 + 1 / 2)


def test_points_on_a_straight_line_are_no_corners_of_the_hull():
    hull = roc([1, 1, 0], [3, 2, 1]).hull()
    assert hull.fpr.tolist() == [0, 0, 1]
    assert hull.thresholds.tolist() == [np.inf, 2, 1]


@given(rows)
def test_the_hull_is_concave_and_nowhere_under_the_curve(some):
    scores, truth = zip(*some, strict=True)
    curve = roc(truth, scores)
    hull = curve.hull()
    assert hull.auc >= curve.auc - 1e-12
    assert set(zip(hull.fpr, hull.tpr, strict=True)) <= set(zip(curve.fpr, curve.tpr, strict=True))
    upright = np.flatnonzero(hull.fpr == 0)[-1]
    above = np.interp(curve.fpr, hull.fpr[upright:], hull.tpr[upright:])
    assert np.all(above >= curve.tpr - 1e-12)
    steps = np.diff(hull.tpr[upright:]) / np.diff(hull.fpr[upright:])
    assert np.all(np.diff(steps) <= 1e-12)


def test_the_cost_curve_worked_by_hand():
    curve = cost(TRUTH, SCORES, {"fp": 1, "fn": 5})
    # thresholds ∞ .9 .8 .6 .4 .2: fn 3 2 2 1 0 0, fp 0 0 1 1 1 2
    assert curve.cost.tolist() == [3.0, 2.0, 2.2, 1.2, 0.2, 0.4]
    assert (curve.best.at, curve.best.value) == (0.4, 0.2)
    assert curve.costs == {"tp": 0.0, "fp": 1.0, "fn": 5.0, "tn": 0.0}


def test_the_normalised_cost_worked_by_hand():
    result = roc(TRUTH, SCORES).normalised_cost(points=5)
    # hull points (0, 0), (0, ⅓), (½, 1), (1, 1): the least of q, ⅔q, ½(1 − q), 1 − q
    assert result.probability_cost.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert result.cost.tolist() == pytest.approx([0, 1 / 6, 1 / 4, 1 / 8, 0])


def test_a_missing_class_leaves_an_axis_undefined():
    curve = roc_curve(rank([1.0, 2.0], [True, True]))
    assert np.isnan(curve.fpr).all()
    assert curve.tpr.tolist() == [0, 0.5, 1]


def test_weights_are_handed_on():
    heavy = roc(TRUTH, SCORES, sample_weight=[1, 5, 1, 1, 1])
    assert heavy.auc == rank(SCORES, np.array(TRUTH) == 1, [1, 5, 1, 1, 1]).auc
    assert precision_recall(TRUTH, SCORES, sample_weight=[1, 5, 1, 1, 1]).prevalence == 3 / 9


def test_each_curve_draws_itself_on_the_axes_it_is_given():
    curves = [
        roc(TRUTH, SCORES),
        precision_recall(TRUTH, SCORES),
        det(TRUTH, SCORES),
        precision_recall(TRUTH, SCORES).breakeven(),
        cost(TRUTH, SCORES, {"fp": 1}),
        roc(TRUTH, SCORES).normalised_cost(),
    ]
    for curve in curves:
        ax = Figure().subplots()
        assert curve.plot(ax) is ax
        assert ax.lines
        assert ax.get_xlabel()
        assert ax.get_ylabel()


def test_the_det_curve_worked_by_hand():
    curve = det(TRUTH, SCORES)
    # thresholds ∞ .9 .8 .6 .4 .2: fn 3 2 2 1 0 0 of 3, fp 0 0 1 1 1 2 of 2
    assert curve.fnr.tolist() == pytest.approx([1, 2 / 3, 2 / 3, 1 / 3, 0, 0])
    assert curve.fpr.tolist() == [0, 0, 0.5, 0.5, 0.5, 1]
    assert curve.thresholds.tolist() == [np.inf, *SCORES]
    # Of them only the third and the fourth have a place on the axes: Φ⁻¹(½) = 0, Φ⁻¹(⅔) = 0.4307.
    ax = curve.plot(Figure().subplots())
    x, y = ax.lines[-1].get_data()
    assert list(x) == pytest.approx([0, 0], abs=1e-15)
    assert list(y) == pytest.approx([0.4307273, -0.4307273], abs=1e-7)
    ticks = [float(tick.get_text()) for tick in ax.get_xticklabels()]
    assert ax.get_xticks() == pytest.approx(norm.ppf(ticks))


@given(rows)
def test_det_points_are_those_of_scikit_learn_and_mirror(some):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    curve = det(truth, scores)
    ours = np.column_stack([curve.fpr, curve.fnr])
    for point in np.column_stack(sklearn_det(truth, scores)[:2]):
        assert np.abs(ours - point).sum(axis=1).min() < 1e-12
    # The classes exchanged and the scores negated exchange the axes.
    mirrored = det(1 - truth, -scores)
    np.testing.assert_allclose(mirrored.fpr[::-1], curve.fnr, atol=1e-15)
    np.testing.assert_allclose(mirrored.fnr[::-1], curve.fpr, atol=1e-15)


def test_f_against_the_breakeven_point_worked_by_hand():
    # Of .9 .8 .6 .4 .2 precision is 1 ½ ⅔ ¾ ⅗, recall ⅓ ⅓ ⅔ 1 1.
    curve = precision_recall(TRUTH, SCORES).breakeven()
    assert curve.breakeven.tolist() == pytest.approx([2 / 3, 5 / 12, 2 / 3, 7 / 8, 4 / 5])
    assert curve.f.tolist() == pytest.approx([1 / 2, 2 / 5, 2 / 3, 6 / 7, 3 / 4])
    # β = 2: 5PR/(4P + R), first 5/3 over 13/3.
    assert precision_recall(TRUTH, SCORES).breakeven(2).f[0] == pytest.approx(5 / 13)
    with pytest.raises(InputError, match="`beta` must"):
        precision_recall(TRUTH, SCORES).breakeven(-1)


@given(rows, st.sampled_from([0.5, 1.0, 2.0]))
def test_f_is_scikit_learns_and_f1_never_exceeds_the_breakeven_point(some, beta):
    scores, truth = (np.array(column) for column in zip(*some, strict=True))
    drawn = precision_recall(truth, scores)
    curve = drawn.breakeven(beta)
    predicted = [scores >= at for at in curve.thresholds]
    expected = [fbeta_score(truth, one, beta=beta, zero_division=0) for one in predicted]
    assert curve.f.tolist() == pytest.approx(expected)
    assert np.all(drawn.breakeven().f <= curve.breakeven + 1e-12)
    even = np.isclose(drawn.precision, drawn.recall)
    assert curve.f[even] == pytest.approx(curve.breakeven[even])


def test_the_roc_curve_is_drawn_through_its_points():
    ax = roc(TRUTH, SCORES).plot(Figure().subplots())
    x, y = ax.lines[-1].get_data()
    assert list(x) == [0, 0, 0.5, 0.5, 0.5, 1]
    assert list(y) == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 1, 1])


@pytest.mark.parametrize("name", ["_hidden", "$x$", "a\ud800b"])
def test_any_name_can_stand_in_a_legend(name):
    curve = RocCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.5, name)
    figure = Figure()
    ax = curve.plot(figure.subplots())
    assert len(ax.legend().get_texts()) == 1
    figure.canvas.draw()


def test_curves_know_how_many_examples_they_rest_on():
    for curve in (roc(TRUTH, SCORES), precision_recall(TRUTH, SCORES)):
        assert (curve.n_positive, curve.n_negative, curve.complete) == (3, 2, True)
    weighted = roc(TRUTH, SCORES, sample_weight=[1, 2, 1, 1, 1])
    assert (weighted.n_positive, weighted.n_negative) == (None, None)
    assert precision_recall(TRUTH, SCORES).fpr.tolist() == [0, 0.5, 0.5, 0.5, 1]


def test_the_upper_hull_leaves_out_a_dent():
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 2.0, 1.0, 3.0])
    assert upper_hull(x, y).tolist() == [0, 1, 3]


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=2, max_size=40).filter(
        lambda rows: 0 < sum(truth for truth, _ in rows) < len(rows)
    )
)
def test_laws_of_the_det_curve(rows):
    truth, score = (np.array(column) for column in zip(*rows, strict=True))
    curve = det(truth, score)
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.fnr) <= 0).all()
    assert (curve.fpr[0], curve.fnr[-1]) == (0.0, 0.0)
    assert (curve.fnr[0], curve.fpr[-1]) == (1.0, 1.0)
    stretched = det(truth, np.exp(score))
    assert stretched.fpr.tolist() == curve.fpr.tolist()
    assert stretched.fnr.tolist() == curve.fnr.tolist()
    for fpr, fnr, threshold in zip(curve.fpr, curve.fnr, curve.thresholds, strict=True):
        assert fpr == pytest.approx(np.mean(score[~truth] >= threshold))
        assert fnr == pytest.approx(np.mean(score[truth] < threshold))
