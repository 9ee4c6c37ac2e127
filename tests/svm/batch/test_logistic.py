"""Many logistic regressions on one table: each of them at its minimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from truerisk.svm.batch import logistic as batch_logistic
from truerisk.svm.batch.logistic import logistic_decisions


def data(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)


def penalty_of(d, intercept=0.0):
    return np.append(np.ones(d), intercept)


def drawn(replicates, n, seed=0):
    return np.random.default_rng(seed).exponential(size=(replicates, n))


def gradient(X, y, weights, penalty, decision):
    """What is left of the derivative at the coefficients that give these decisions."""
    table = np.column_stack([X, np.ones(len(X))])
    coefficients = np.linalg.lstsq(table, decision, rcond=None)[0]
    wrong = 1.0 / (1.0 + np.exp(y * decision))
    return penalty * coefficients - (weights * wrong * y) @ table


def test_two_points_by_hand():
    # x = −1 and 1 of weight G: w = 2G / (1 + eʷ), which is 1 at G = (1 + e) / 2
    x, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    weights = np.full((1, 2), (1.0 + np.e) / 2.0)
    found = logistic_decisions(x, y, np.arange(2), weights, penalty=penalty_of(1))
    np.testing.assert_allclose(found, [[-1.0, 1.0]], atol=1e-10)


def test_without_features_the_log_odds_are_those_of_the_weights():
    y, weights = np.array([1.0, -1.0, 1.0]), np.array([[1.0, 2.0, 5.0]])
    found = logistic_decisions(np.zeros((3, 1)), y, np.arange(3), weights, penalty=penalty_of(1))
    np.testing.assert_allclose(found, np.full((1, 3), np.log(3.0)), atol=1e-10)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_it_agrees_with_scikit_learn(solver, cost):
    X, y = data(1)
    train, weights = np.arange(0, 60, 2), cost * drawn(8, 30)
    found = logistic_decisions(X, y, train, weights, penalty=penalty_of(4))
    for decision, weight in zip(found, weights, strict=True):
        model = LogisticRegression(solver=solver, tol=1e-10, max_iter=10_000)
        model.fit(X[train], y[train], sample_weight=weight)
        np.testing.assert_allclose(decision, model.decision_function(X), rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 40), st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_derivative_is_0_for_any_weights(seed, n, cost):
    X, y = data(seed, n=n, d=1)
    y[:2] = -1.0, 1.0
    weights, penalty = cost * drawn(3, n, seed), np.array([1.0, 0.5])
    found = logistic_decisions(X, y, np.arange(n), weights, penalty=penalty)
    for decision, weight in zip(found, weights, strict=True):
        left = gradient(X, y, weight, penalty, decision)
        assert np.abs(left).max() <= 1e-7 * max(1.0, weight.sum())


def test_a_weight_of_2_is_an_example_given_twice():
    X, y = data(2, n=30)
    twice = np.append(np.arange(30), 4)
    once = np.ones((1, 30))
    once[0, 4] = 2.0
    penalty = penalty_of(4)
    weighted = logistic_decisions(X, y, np.arange(30), once, penalty=penalty)
    repeated = logistic_decisions(
        X[twice], y[twice], np.arange(31), np.ones((1, 31)), penalty=penalty
    )
    np.testing.assert_allclose(weighted, repeated[:, :30], atol=1e-9)


def test_separable_data_converge_by_their_penalty():
    X, y = data(3, n=40)
    y = np.sign(X[:, 0])
    weights, penalty = 1e6 * drawn(4, 40), penalty_of(4)
    found = logistic_decisions(X, y, np.arange(40), weights, penalty=penalty)
    assert np.array_equal(np.sign(found), np.repeat(y[None], 4, axis=0))
    for decision, weight in zip(found, weights, strict=True):
        left = gradient(X, y, weight, penalty, decision)
        assert np.abs(left).max() <= 1e-6 * np.abs(decision).max()


def test_separable_data_without_a_penalty_still_get_their_signs():
    X, y = np.array([[-2.0], [-1.0], [1.0]]), np.array([-1.0, -1.0, 1.0])
    found = logistic_decisions(X, y, np.arange(3), np.ones((2, 3)), penalty=np.zeros(2))
    assert np.array_equal(np.sign(found), [y, y])


def test_a_penalised_intercept_is_one_more_feature():
    X, y = data(4)
    weights = drawn(3, 60)
    found = logistic_decisions(X, y, np.arange(60), weights, penalty=np.ones(5))
    for decision, weight in zip(found, weights, strict=True):
        assert np.abs(gradient(X, y, weight, np.ones(5), decision)).max() < 1e-7


def test_the_work_is_shared_out_without_changing_a_bit(monkeypatch):
    X, y = data(5)
    weights, everybody = drawn(50, 60), np.arange(60)
    monkeypatch.setattr(batch_logistic, "CHUNK", 16)
    alone = logistic_decisions(X, y, everybody, weights, penalty=penalty_of(4))
    shared = logistic_decisions(X, y, everybody, weights, penalty=penalty_of(4), workers=3)
    assert np.array_equal(alone, shared)


def test_without_the_products_at_hand_it_is_the_same(monkeypatch):
    X, y = data(6)
    weights, everybody = drawn(5, 60), np.arange(60)
    known = logistic_decisions(X, y, everybody, weights, penalty=penalty_of(4))
    monkeypatch.setattr(batch_logistic, "MAX_PRODUCTS", 0)
    anew = logistic_decisions(X, y, everybody, weights, penalty=penalty_of(4))
    np.testing.assert_allclose(anew, known, atol=1e-10)


def test_one_class_alone_is_called_by_its_name_and_nobody_0():
    X, y = data(7, n=10)
    weights = np.array([np.where(y > 0, 1.0, 0.0), np.where(y > 0, 0.0, 1.0), np.zeros(10)])
    found = logistic_decisions(X, y, np.arange(10), weights, penalty=penalty_of(4))
    assert np.array_equal(found, np.repeat([[1.0], [-1.0], [0.0]], 10, axis=1))


def test_no_replicates_give_no_rows():
    found = logistic_decisions(
        np.ones((3, 1)), np.ones(3), np.arange(3), np.empty((0, 3)), penalty=np.ones(2)
    )
    assert found.shape == (0, 3)
