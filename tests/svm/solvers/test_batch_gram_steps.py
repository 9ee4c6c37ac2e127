"""Steps in single precision: they go where those in double precision go."""

import numpy as np
import pytest

from truerisk.kernels import gram as kernel
from truerisk.svm.gram.path import Dual
from truerisk.svm.solvers import batch_gram_steps as steps
from truerisk.svm.solvers.batch_gram_tries import padded


def problem(n, cost):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 4)
    bounds = cost * rng.exponential(size=n)
    return gram, y, np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0)


def state_of(gram, y, lower, upper):
    n, single = len(y), padded(gram)
    state = np.zeros((steps.ROWS, len(single)), np.float32)
    state[steps.LOWER, :n], state[steps.UPPER, :n] = lower, upper
    state[steps.REMAINDER, :n], state[steps.DIAGONAL] = y, np.diagonal(single)
    return single, state


@pytest.mark.parametrize("n", [20, 64, 150])
@pytest.mark.parametrize("cost", [0.1, 5.0])
def test_they_end_where_those_in_double_precision_end(n, cost):
    gram, y, lower, upper = problem(n, cost)
    dual = Dual(gram, np.diagonal(gram).copy(), lower, upper, np.zeros(n), y.copy())
    kernel.improve(dual, 1e-6, 1e-3, 10**5)
    single, state = state_of(gram, y, lower, upper)
    taken = steps.descend_roughly(single, state, np.float32(1e-6), np.float32(1e-3), 10**5)
    assert taken > 0
    z, remainder = state[steps.Z, :n], state[steps.REMAINDER, :n]
    lower, upper = state[steps.LOWER, :n], state[steps.UPPER, :n]
    assert abs(float(z.sum())) < 1e-4
    np.testing.assert_allclose(remainder, y - gram @ z, atol=1e-4)
    assert remainder[z < upper].max() - remainder[z > lower].min() <= 1.1e-3
    np.testing.assert_allclose(remainder, dual.gradient, atol=5e-3)
    assert not state[steps.Z, n:].any()


def test_two_points_need_one_step_by_hand():
    # unit vectors at right angles: α = 1 brings both remainders to 0
    y = np.array([-1.0, 1.0])
    single, state = state_of(np.eye(2), y, np.array([-9.0, 0.0]), np.array([0.0, 9.0]))
    assert steps.descend_roughly(single, state, np.float32(1e-6), np.float32(1e-3), 99) == 1
    assert state[steps.Z, :2].tolist() == [-1.0, 1.0]


def test_a_bound_that_is_met_is_met_exactly():
    y = np.array([-1.0, 1.0])
    single, state = state_of(np.eye(2), y, np.array([-0.3, 0.0]), np.array([0.0, 9.0]))
    assert steps.descend_roughly(single, state, np.float32(1e-6), np.float32(1e-3), 99) == 1
    assert state[steps.Z, 0] == state[steps.LOWER, 0]


def test_a_cap_is_kept():
    single, state = state_of(*problem(50, 5.0))
    assert steps.descend_roughly(single, state, np.float32(1e-6), np.float32(1e-6), 7) == 7
