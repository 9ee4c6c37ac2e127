"""Every cost on one path, each solution exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.svm.gram.cost_path import cost_path
from truerisk.svm.gram.dual import solve_gram


def data(seed, n=50, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0), rng


def test_two_points_by_hand():
    # α is C until the margin is met at ½
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    path = cost_path(gram, y, np.ones(2), [0.1, 0.4, 0.6, 100.0])
    assert [solution.alpha[0] for solution in path] == pytest.approx([0.1, 0.4, 0.5, 0.5])


@given(st.integers(0, 10**6), st.booleans())
def test_every_solution_is_that_of_a_fit_from_scratch(seed, is_rbf):
    X, y, rng = data(seed)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1)) if is_rbf else X @ X.T
    weights = rng.exponential(size=50) * (rng.random(50) < 0.9)
    costs = np.geomspace(0.01, 100.0, 6)
    for cost, solution in zip(costs, cost_path(gram, y, weights, costs), strict=True):
        exact = solve_gram(gram, y, cost * weights)
        assert solution.gap <= 1e-6
        np.testing.assert_array_equal(solution.upper, cost * weights)
        SVM, fresh = gram @ (y * solution.alpha), gram @ (y * exact.alpha)
        np.testing.assert_allclose(SVM, fresh, atol=1e-5)


def test_the_order_of_the_costs_is_kept():
    X, y, _ = data(1)
    path = cost_path(X @ X.T, y, np.ones(50), [1.0, 0.01, 100.0, 1.0])
    assert [solution.upper[0] for solution in path] == [1.0, 0.01, 100.0, 1.0]
    np.testing.assert_allclose(path[0].decision, path[3].decision, atol=1e-9)


def test_breakpoints_are_counted_once():
    X, y, _ = data(2)
    gram = X @ X.T
    fine = cost_path(gram, y, np.ones(50), np.geomspace(0.1, 10.0, 9))
    coarse = cost_path(gram, y, np.ones(50), [0.1, 10.0])
    assert coarse[1].passes == sum(solution.passes for solution in fine[1:]) > 0


def test_an_indefinite_matrix_falls_back():
    rng = np.random.default_rng(0)
    gram = rng.standard_normal((30, 30))
    gram, y = gram + gram.T, np.where(rng.random(30) < 0.5, 1.0, -1.0)
    for solution in cost_path(gram, y, np.ones(30), [0.1, 1.0, 10.0]):
        assert solution.gap <= 1e-6
        assert np.isfinite(solution.decision).all()
