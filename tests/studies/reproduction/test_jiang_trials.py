"""One machine perturbed on one data set: the paper's formulas, put together."""

import numpy as np
import pytest
from sklearn.svm import SVC

from studies.reproduction.jiang_trials import Perturbing, percentile_ends, written


def _data(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + 0.8 * y[:, None], y


def _wrong(X, y, weights, train, judged, *, cost):
    machine = SVC(C=cost, kernel="linear", tol=1e-10)
    machine.fit(X[train], y[train], sample_weight=weights / weights.mean())
    return machine.predict(X[judged]) != y[judged]


def test_the_spread_is_the_papers_equation_10_with_another_solver():
    X, y = _data()
    design = Perturbing.of(y, np.random.default_rng(1), folds=4, replicates=4)
    everyone = np.arange(40)
    plain = _wrong(X, y, np.ones(40), everyone, everyone, cost=0.7).mean()
    expected = [
        np.mean((_wrong(X, y, G, everyone, everyone, cost=0.7) - plain) * G) for G in design.weights
    ]
    np.testing.assert_allclose(design.spread(X, "training", 0.7), expected, atol=1e-12)


def test_cross_validated_losses_train_every_fold_again():
    X, y = _data()
    design = Perturbing.of(y, np.random.default_rng(1), folds=4, replicates=3)

    def losses(G):
        wrong = np.zeros(40, dtype=bool)
        for fold in range(4):
            train = np.flatnonzero(design.parts != fold)
            judged = np.flatnonzero(design.parts == fold)
            wrong[judged] = _wrong(X, y, G[train], train, judged, cost=1.0)
        return wrong

    error = losses(np.ones(40)).mean()
    assert design.error(X) == pytest.approx(error, abs=1e-12)
    expected = [np.mean((losses(G) - error) * G) for G in design.weights]
    np.testing.assert_allclose(design.spread(X, "cross_validated"), expected, atol=1e-12)


def test_a_group_has_one_fold_and_one_weight():
    _, y = _data()
    groups = np.arange(40) // 4
    design = Perturbing.of(y, np.random.default_rng(1), folds=3, replicates=5, groups=groups)
    for group in range(10):
        assert len(set(design.parts[groups == group])) == 1
        assert (np.ptp(design.weights[:, groups == group], axis=1) == 0).all()


def test_the_interval_is_turned_about_the_value_and_not_cut_off():
    low, high = percentile_ends(0.01, np.array([-0.01] * 50 + [0.05] * 50))
    assert (low, high) == pytest.approx((-0.04, 0.02))
    assert written((low, high), 2) == "[-0.04, 0.02]"
