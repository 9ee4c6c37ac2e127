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
    return near.all_y * (X @ near.weights + near.bias) - 1.0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_active_examples_end_at_their_optimum_and_the_others_stay(share):
    active = np.arange(int(60 * share))
    X, near = begin(active)
    near.improve(1e-7, sweeps=2, max_passes=2000)
    alpha = near.all_alpha
    np.testing.assert_allclose(near.weights, (near.all_y * alpha) @ X, atol=1e-10)
    assert np.all(alpha[len(active) :] == 0.0)
    assert near.all_y @ alpha == pytest.approx(0.0, abs=1e-6)
    beyond = excess(X, near)[active]
    assert np.all(beyond[alpha[active] < 1.0] >= -1e-6)
    assert np.all(beyond[alpha[active] > 0.0] <= 1e-6)


def test_patience_ends_at_the_same_place():
    X, quick = begin()
    quick.improve(1e-7, sweeps=2, max_passes=2000)
    _, patient = begin()
    patient.be_patient(1e-7, max_passes=5000)
    assert patient.passes < 5000
    np.testing.assert_allclose(patient.weights, quick.weights, atol=1e-5)
    assert np.all(excess(X, patient)[patient.all_alpha < 1.0] >= -1e-6)


def test_patience_has_an_end():
    _, near = begin()
    near.be_patient(0.0, max_passes=7)
    assert near.passes == 7


def test_no_step_of_newton_raises_the_lagrangian():
    X, near = begin(seed=3)

    def lagrangian():
        near.scatter()
        alpha, s = near.all_alpha, near.all_y @ near.all_alpha
        w = (near.all_y * alpha) @ X
        return w @ w / 2 - alpha.sum() + bias * s + near.penalty * s * s / 2

    for _ in range(5):
        near.sweep()
        bias = near.bias
        before = lagrangian()
        near.newton(1e-9)
        assert lagrangian() <= before + 1e-9


def test_with_one_free_example_there_is_no_step():
    _, near = begin(np.array([5]))
    near.sweep()
    assert not near.newton(1e-6)


def test_few_kept_examples_are_copied_together(monkeypatch):
    monkeypatch.setattr(neighbourhood, "NARROW_BELOW", 2.0)
    X, near = begin()
    near.improve(1e-7, sweeps=1, max_passes=500)
    np.testing.assert_allclose(near.weights, (near.all_y * near.all_alpha) @ X, atol=1e-10)


@pytest.mark.parametrize("block", [1, 4, 100])
def test_mixing_keeps_blocks_together_and_loses_nobody(block):
    which = 3 * np.arange(50)
    order = mixed(which, block)
    np.testing.assert_array_equal(np.sort(order), which)
    np.testing.assert_array_equal(order, mixed(which, block))
    if block == 1:
        assert np.any(order != which)
    follows = np.flatnonzero(which[order // 3] % (3 * block))
    np.testing.assert_array_equal(order[follows], order[follows - 1] + 3)
