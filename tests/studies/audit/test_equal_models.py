import numpy as np
import pytest
from scipy.special import ndtr

from studies.audit.equal_models import (
    BINARY,
    CLASSES,
    COUNTED,
    DIGITS,
    GROUPS,
    HALF,
    HALVES,
    LEARNERS,
    OF_CLASSES,
    RANKED,
    Alike,
    NearestMean,
    SmallTree,
    by_classes,
    by_counts,
    by_datasets,
    by_perturbation,
    by_rankings,
    by_refits,
    draw_halves,
    draw_scores,
    labelled,
    scored,
    two_normals,
)
from truerisk import compare_over_datasets

LARGE = 100_000


@pytest.mark.parametrize("grouped", [False, True])
def test_pairs_are_standard_normal_and_correlated_as_stated(grouped):
    alike = Alike(0.6, grouped=grouped)
    first, second = two_normals(LARGE, alike, np.random.default_rng(1))
    assert [first.mean(), second.mean()] == pytest.approx([0, 0], abs=0.03)
    assert [first.std(), second.std()] == pytest.approx([1, 1], abs=0.02)
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(0.6, abs=0.02)
    neighbours = np.corrcoef(first[0::5], first[1::5])[0, 1]
    assert neighbours == pytest.approx(0.5 if grouped else 0.0, abs=0.03)


def test_both_models_err_as_often_as_the_formula_says():
    drawn = scored(LARGE, Alike(0.5), np.random.default_rng(2))
    # Scores are N(0, 1) or N(1.5, 1), calls are above 1, three in ten are positive.
    expected = 0.7 * ndtr(-1.0) + 0.3 * ndtr(1.0 - 1.5)
    for calls in drawn["predictions"]:
        assert np.mean(calls != drawn["y_true"]) == pytest.approx(expected, abs=0.005)


def test_scores_are_probabilities_that_hold():
    drawn = scored(LARGE, Alike(0.5, prevalence=0.2), np.random.default_rng(4))
    for score in drawn["scores"]:
        likely = (score > 0.4) & (score < 0.5)
        assert drawn["y_true"][likely].mean() == pytest.approx(score[likely].mean(), abs=0.025)


def test_a_quarter_of_the_calls_of_three_classes_is_wrong():
    drawn = labelled(LARGE, Alike(0.2), np.random.default_rng(5))
    for calls in drawn["predictions"]:
        assert np.mean(calls != drawn["y_true"]) == pytest.approx(0.25, abs=0.005)
        assert set(np.unique(calls)) == {0, 1, 2}


@pytest.mark.parametrize(
    ("run", "settings", "measures"),
    [
        (by_counts, BINARY, COUNTED),
        (by_counts, GROUPS, COUNTED),
        (by_classes, CLASSES, OF_CLASSES),
        (by_rankings, BINARY, RANKED),
    ],
    ids=["calls", "groups", "classes", "rankings"],
)
def test_every_measure_of_every_setting_is_tried(run, settings, measures):
    for setting in settings:
        found = run(setting, 80, np.random.default_rng(6))
        assert tuple(found) == measures
        assert all(0 <= one.p_value <= 1 for one in found.values())


@pytest.mark.parametrize("learner", [NearestMean, SmallTree])
def test_a_learner_sees_only_its_half(learner):
    X, y = draw_halves(60, np.random.default_rng(0))
    other = X.copy()
    other[:, HALF:] = 0.0
    called = learner(0).fit(X, y).predict(X)
    assert np.array_equal(called, learner(0).fit(other, y).predict(X))
    assert np.mean(called == y) > 0.6


def test_both_halves_tell_the_classes_apart_equally_well():
    X, y = draw_halves(100_000, np.random.default_rng(1))
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert apart == pytest.approx(np.full(2 * HALF, 0.7), abs=0.03)


def test_the_nearest_mean_by_hand():
    X = np.array([[0.0] * 5 + [9.0] * 5, [2.0] * 5 + [9.0] * 5])
    model = NearestMean(0).fit(X, np.array([0, 1]))
    assert model.predict(np.array([[0.9] * 10, [1.1] * 10])).tolist() == [0, 1]


def test_the_default_of_learners_is_tried():
    found = by_refits(next(iter(LEARNERS)), 40, np.random.default_rng(2))
    assert 0 <= found["error_rate"].p_value <= 1
    assert found["error_rate"].method == "cautious_t"
    assert found["error_rate"].low < found["error_rate"].high


def test_the_perturbation_difference_is_tried():
    found = by_perturbation(HALVES, 40, np.random.default_rng(2))
    assert found["error_rate"].method == "perturbation"
    assert 0 <= found["error_rate"].p_value <= 1


@pytest.mark.parametrize("setting", DIGITS)
def test_data_sets_are_compared_as_users_compare_them(setting):
    found = by_datasets(setting, 12, np.random.default_rng(8))
    scores = draw_scores(12, DIGITS[setting], np.random.default_rng(8))
    two = compare_over_datasets(scores[:, :2]).pairs[0]
    assert found["two classifiers"].p_value == pytest.approx(two.wilcoxon.p_value)
    assert found["two classifiers"].low == pytest.approx(two.interval.low)
    assert found["two classifiers"].high == pytest.approx(two.interval.high)
    assert found["two classifiers, wins"].p_value == two.sign_p_value
    five = compare_over_datasets(scores)
    assert found["five, do any differ"].p_value == five.friedman.p_value
    least = min(pair.p_value for pair in five.pairs)
    assert found["five, any pair"].p_value == pytest.approx(least)
    least = min(pair.nemenyi_p_value for pair in five.pairs)
    assert found["five, any pair (ranks)"].p_value == pytest.approx(least)
    against = compare_over_datasets(scores, names=list("abcde"), control="a").against_control
    for test, way in (
        ("a control and four", "bonferroni_dunn"),
        ("a control and four, step down", "holm"),
        ("a control and four, step up", "hochberg"),
    ):
        assert found[test].p_value == pytest.approx(min(getattr(one, way) for one in against))


def test_scores_in_hundredths_have_ties():
    fine, coarse = (draw_scores(200, digits, np.random.default_rng(1)) for digits in (12, 2))
    assert len({*fine[0]}) == 5
    assert any(len({*row}) < 5 for row in coarse)
