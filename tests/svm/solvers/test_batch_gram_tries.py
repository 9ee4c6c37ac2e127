"""A try at many machines: feasible starts, and a judgement by K itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.svm.solvers import batch_gram_tries as tries
from truerisk.svm.solvers.batch_gram import shared


def batch_of(n=40, replicates=9, cost=2.0):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 5)
    bounds = cost * rng.exponential(size=(replicates, n))
    return shared(gram, y, np.arange(n), bounds, 1e-8), tries.Bounds.of(y, bounds)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_balance_is_brought_about_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    lower, upper = -rng.exponential(size=(3, 8)), rng.exponential(size=(3, 8))
    z = tries.balanced(rng.uniform(lower, upper), lower, upper)
    np.testing.assert_allclose(z.sum(axis=1), 0.0, atol=1e-12)
    assert np.all((lower <= z) & (z <= upper))


def test_balance_leaves_bounded_examples_alone_if_it_can():
    lower, upper = np.full((1, 4), -1.0), np.ones((1, 4))
    z = tries.balanced(np.array([[1.0, -1.0, 0.5, 0.0]]), lower, upper)
    assert z[0, :2].tolist() == [1.0, -1.0]
    # the free had 1.5 and 1 above the lower bound, and give up 0.5 in that proportion
    assert z[0, 2:] == pytest.approx([0.2, -0.2])


def test_rounding_takes_nobody_off_a_bound():
    z = np.array([[-0.1 - 0.2, 0.2, 0.1, 0.0]])  # whose sum is 3e-17 below 0
    lower, upper = np.array([[z[0, 0], 0.0, 0.0, 0.0]]), np.array([[0.0, 0.2, 0.1, 1.0]])
    assert np.array_equal(tries.balanced(z, lower, upper), z)


def test_a_start_is_feasible_and_knows_its_remainders():
    batch, bounds = batch_of()
    states = tries.started(batch, bounds)
    z, n = states[:, tries.steps.Z, :40], 40
    assert np.all(z >= states[:, tries.steps.LOWER, :n])
    assert np.all(z <= states[:, tries.steps.UPPER, :n])
    np.testing.assert_allclose(z.sum(axis=1), 0.0, atol=1e-5)
    remainder = batch.y - z @ batch.among
    np.testing.assert_allclose(states[:, tries.steps.REMAINDER, :n], remainder, atol=1e-5)


def test_what_is_good_is_optimal_and_what_is_not_is_told():
    batch, bounds = batch_of()
    states = tries.started(batch, bounds)
    tries.descend(batch, states, 1e-3)
    found = tries.attempt(batch, states, bounds)
    assert found.good.sum() >= 8
    # nobody's solution is a solution to other bounds
    strange = tries.attempt(batch, states, tries.Bounds(bounds.lower * 0.0, bounds.upper * 0.0))
    assert not strange.good.any()


def test_the_bias_is_the_mean_over_the_free_and_the_gap_their_disagreement():
    lower, upper = np.zeros((1, 3)), np.ones((1, 3))
    z, remainder = np.array([[0.5, 0.5, 1.0]]), np.array([[0.2, 0.4, 0.9]])
    bias, gap = np.empty(1), np.empty(1)
    tries.judge_all(lower, upper, z, remainder, bias, gap)
    assert bias[0] == pytest.approx(0.3)
    assert gap[0] == pytest.approx(0.2)


def test_a_bias_that_nobody_pins_down_is_not_judged():
    bias, gap = np.empty(1), np.empty(1)
    z = np.array([[0.0, 1.0]])
    tries.judge_all(np.zeros((1, 2)), np.ones((1, 2)), z, np.array([[-1.0, 1.0]]), bias, gap)
    assert gap[0] == np.inf
