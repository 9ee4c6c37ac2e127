"""Part of the problem: solved with the rest held, and written back to where all examples are."""

import numpy as np
import pytest

from truerisk.svm.solvers import neighbourhood
from truerisk.svm.solvers.neighbourhood import Neighbourhood, mixed
from truerisk.svm.solvers.rows import as_rows


def begin(active=None, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 40))
    y, upper = np.where(X[:, 0] > 0, 1.0, -1.0), np.full(60, 1.0)
    alpha, weights = np.zeros(60), np.zeros(40)
    active = np.arange(60) if active is None else active
    return X, Neighbourhood(as_rows(X), y, upper, alpha, weights, 0.0, active)


def excess(X, near):
    return near.y * (X @ near.weights + near.bias) - 1.0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_those_that_are_kept_end_at_their_optimum_and_the_others_stay(share):
    active = np.arange(int(60 * share))
    X, near = begin(active)
    near.improve(1e-7, sweeps=2, max_passes=2000)
    np.testing.assert_allclose(near.weights, (near.y * near.alpha) @ X, atol=1e-10)
    assert np.all(near.alpha[len(active) :] == 0.0)
    assert near.y @ near.alpha == pytest.approx(0.0, abs=1e-6)
    assert set(np.flatnonzero((near.alpha > 0.0) & (near.alpha < 1.0))) <= set(near.order)
    beyond, alpha = excess(X, near)[near.order], near.alpha[near.order]
    assert np.all(beyond[alpha < 1.0] >= -1e-6)
    assert np.all(beyond[alpha > 0.0] <= 1e-6)


def test_patience_drops_nobody_and_ends_at_the_optimum_of_all():
    X, near = begin()
    near.be_patient(1e-7, max_passes=5000)
    assert near.passes < 5000
    assert len(near.order) == 60
    assert np.all(excess(X, near)[near.alpha < 1.0] >= -1e-6)
    assert np.all(excess(X, near)[near.alpha > 0.0] <= 1e-6)


def test_patience_has_an_end():
    _, near = begin()
    near.be_patient(0.0, max_passes=7)
    assert near.passes == 7


def test_no_cautious_step_of_newton_raises_the_lagrangian():
    X, near = begin(seed=3)
    near.cautious = True

    def lagrangian():
        alpha, s = near.alpha, near.y @ near.alpha
        w = (near.y * alpha) @ X
        return w @ w / 2 - alpha.sum() + bias * s + near.penalty * s * s / 2

    for _ in range(5):
        near.sweep()
        bias = near.bias
        before = lagrangian()
        near.newton(1e-9)
        assert lagrangian() <= before + 1e-9


def test_a_step_that_meets_no_bound_restores_the_balance():
    X, near = begin()
    near.improve(1e-6, sweeps=2, max_passes=2000)
    at = np.flatnonzero((near.alpha > 0.1) & (near.alpha < 0.9))[0]
    near.alpha[at] += near.y[at] * 1e-4
    near.weights += 1e-4 * X[at]
    near.balance += 1e-4
    near.newton(1e-9)
    assert near.balance == pytest.approx(0.0, abs=1e-9)
    assert near.y @ near.alpha == pytest.approx(0.0, abs=1e-8)


def test_with_one_free_example_there_is_no_step():
    _, near = begin(np.array([5]))
    near.sweep()
    assert not near.newton(1e-6)


@pytest.mark.parametrize("block", [1, 4, 100])
def test_mixing_keeps_blocks_together_and_loses_nobody(monkeypatch, block):
    monkeypatch.setattr(neighbourhood, "BLOCK", block)
    which = 3 * np.arange(50)
    order = mixed(which)
    np.testing.assert_array_equal(np.sort(order), which)
    np.testing.assert_array_equal(order, mixed(which))
    if block == 1:
        assert np.any(order != which)
    follows = np.flatnonzero(which[order // 3] % (3 * block))
    np.testing.assert_array_equal(order[follows], order[follows - 1] + 3)
