import numpy as np
import pytest

from studies.audit.sizes_learners import (
    HALF,
    LEARNERS,
    MACHINES,
    NearestMean,
    SmallTree,
    by_perturbation,
    by_refits,
    draw_halves,
)


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
    found = by_perturbation(MACHINES, 40, np.random.default_rng(2))
    assert found["error_rate"].method == "perturbation"
    assert 0 <= found["error_rate"].p_value <= 1
