"""Many machines on one Gram matrix: each of them the optimum, whoever solves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.solvers import batch_gram
from truerisk.svm.solvers.batch_gram import gram_decisions


def data(seed, n=60, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)


def kernel(X, kind):
    if kind == "cubic":
        return (X @ X.T / X.shape[1] + 1.0) ** 3
    if kind == "linear":
        return X @ X.T
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / X.shape[1])


def perturbed(cost, replicates, n, seed=0):
    drawn = np.random.default_rng(seed).exponential(size=(replicates, n))
    return cost * drawn / drawn.mean(axis=1, keepdims=True)


def one_by_one(gram, y, train, bounds):
    """The same by the solver of one machine."""
    among = gram[np.ix_(train, train)]
    solutions = [solve_gram(among, y[train], upper, tolerance=1e-9) for upper in bounds]
    return np.array([(s.alpha * y[train]) @ gram[train] + s.bias for s in solutions])


def test_two_points_by_hand():
    # x = −1 and 1: w = α₁ + α₂ = 2 min(1/2, U₁, U₂), and the middle of the biases is 0
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    bounds = np.array([[1.0, 1.0], [0.25, 0.25], [9.0, 2.0]])
    found = gram_decisions(gram, y, np.arange(2), bounds)
    np.testing.assert_allclose(found, [[-1.0, 1.0], [-0.5, 0.5], [-1.0, 1.0]], atol=1e-9)


def test_a_small_bound_holds_the_slope_and_the_other_example_the_bias_by_hand():
    # α = ¼ of both: w = ½, the second α is free and its margin 1, so f(1) = 1 and f(−1) = 0
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    found = gram_decisions(gram, y, np.arange(2), np.array([[0.25, 2.0]]))
    np.testing.assert_allclose(found, [[0.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize("cost", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["RBF", "cubic"])
@pytest.mark.parametrize("d", [2, 20])
def test_it_agrees_with_libsvm_on_those_trained_on_and_on_all_others(kind, d, cost):
    X, y = data(1, n=70, d=d)
    gram, train = kernel(X, kind), np.setdiff1d(np.arange(70), np.arange(0, 70, 5))
    bounds = perturbed(cost, 66, len(train))
    found = gram_decisions(gram, y, train, bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, train, bounds), atol=1e-7)
    for r in range(0, 66, 13):
        machine = SVC(C=1.0, kernel="precomputed", tol=1e-9)
        machine.fit(gram[np.ix_(train, train)], y[train], sample_weight=bounds[r])
        decision = machine.decision_function(gram[:, train])
        # libsvm keeps K in single precision
        sure = np.abs(decision) > 1e-4
        assert np.array_equal(found[r, sure] > 0, decision[sure] > 0)
        np.testing.assert_allclose(found[r], decision, rtol=1e-4, atol=1e-4)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(4, 30), st.sampled_from([0.05, 1.0, 50.0]))
def test_every_replicate_is_the_optimum_for_any_bounds(seed, n, cost):
    rng = np.random.default_rng(seed)
    gram = kernel(rng.standard_normal((n, 3)), "RBF")
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    bounds = cost * rng.exponential(size=(5, n)) * (rng.random((5, n)) < 0.8)
    bounds[:, :2] = cost
    found = gram_decisions(gram, y, np.arange(n), bounds)
    for decision, upper in zip(found, bounds, strict=True):
        exact = solve_gram(gram, y, upper, tolerance=1e-10)
        # the margins are unique up to the bias, and with somebody free so is that
        shift = 0.0 if exact.stable else np.median(decision - exact.decision)
        np.testing.assert_allclose(decision - shift, exact.decision, atol=1e-6)


def test_the_work_is_shared_out_without_changing_a_bit():
    X, y = data(2)
    gram, bounds = kernel(X, "RBF"), perturbed(3.0, 150, 60)
    alone = gram_decisions(gram, y, np.arange(60), bounds)
    assert np.array_equal(alone, gram_decisions(gram, y, np.arange(60), bounds, workers=3))


@pytest.mark.parametrize("first", [0, 3, len(batch_gram.ROUGH)])
def test_wherever_it_begins_it_ends_at_the_same_optimum(monkeypatch, first):
    X, y = data(3, n=50, d=3)
    gram, bounds, everybody = kernel(X, "RBF"), perturbed(5.0, 20, 50), np.arange(50)
    monkeypatch.setattr(batch_gram, "FIRST", first)
    found = gram_decisions(gram, y, everybody, bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, everybody, bounds), atol=1e-7)


def test_most_replicates_need_no_other_solver(monkeypatch):
    X, y = data(4, n=80, d=10)
    calls = []

    def counted(*arguments, **settings):
        calls.append(1)
        return solve_gram(*arguments, **settings)

    monkeypatch.setattr(batch_gram, "solve_gram", counted)
    gram_decisions(kernel(X, "RBF"), y, np.arange(80), perturbed(1.0, 100, 80))
    assert len(calls) <= 3  # one of them at the mean bounds


@pytest.mark.parametrize("kind", ["linear", "RBF"])
def test_equal_examples_and_lattices_are_no_harm(kind):
    rng = np.random.default_rng(5)
    X = rng.integers(-1, 2, (40, 2)).astype(np.float64)
    y = np.where(X.sum(axis=1) + rng.standard_normal(40) > 0, 1.0, -1.0)
    gram, bounds = kernel(X, kind), perturbed(1.0, 70, 40)
    found = gram_decisions(gram, y, np.arange(40), bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, np.arange(40), bounds), atol=1e-6)


def test_an_indefinite_matrix_ends_where_no_pair_wants_to_move():
    rng = np.random.default_rng(8)
    gram = rng.standard_normal((30, 30))
    gram = gram + gram.T
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    found = gram_decisions(gram, y, np.arange(30), perturbed(1.0, 6, 30))
    assert np.isfinite(found).all()


def test_bounds_over_twelve_orders_of_magnitude_are_kept():
    X, y = data(6, n=40)
    gram = kernel(X, "RBF")
    bounds = 10.0 ** np.random.default_rng(0).uniform(-9, 3, (12, 40))
    found = gram_decisions(gram, y, np.arange(40), bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, np.arange(40), bounds), atol=1e-6)


def test_one_class_alone_is_called_by_its_name():
    X, y = data(7, n=12)
    bounds = np.where(y > 0.0, 1.0, 0.0)[None].repeat(2, axis=0)
    assert np.all(gram_decisions(kernel(X, "RBF"), y, np.arange(12), bounds) == 1.0)


def test_no_replicates_give_no_rows():
    assert gram_decisions(np.eye(3), np.ones(3), np.arange(3), np.empty((0, 3))).shape == (0, 3)
