"""Many linear SVMs on rows: each of them the optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random_array
from sklearn.svm import SVC

from truerisk.svm.batch.rows import row_decisions
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.matrix import as_rows


def wide(seed, n=40, d=300):
    """Sparse rows of which a tenth is filled, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = random_array(
        (n, d), density=0.1, random_state=rng, data_sampler=rng.standard_normal
    ).toarray()
    return X, np.where(X[:, :60].sum(axis=1) + rng.standard_normal(n) > 0, 1.0, -1.0)


def perturbed(cost, replicates, n, seed=0):
    drawn = np.random.default_rng(seed).exponential(size=(replicates, n))
    return cost * drawn / drawn.mean(axis=1, keepdims=True)


def test_two_points_by_hand():
    # x = 0 and 2: w = 2α = min(1, 2U₁, 2U₂) and the middle of the biases takes f to ±w
    rows, y = as_rows(np.array([[0.0], [2.0]])), np.array([-1.0, 1.0])
    found = row_decisions(rows, y, np.arange(2), np.array([[9.0, 9.0], [0.25, 0.25]]))
    np.testing.assert_allclose(found, [[-1.0, 1.0], [-0.5, 0.5]], atol=1e-9)


def test_an_example_on_the_boundary_has_its_machine_solved_further_and_stays_there():
    rows, y = as_rows(np.array([[0.0], [2.0], [1.0]])), np.array([-1.0, 1.0, 1.0])
    found = row_decisions(rows, y, np.arange(2), np.array([[9.0, 9.0], [0.25, 0.25]]))
    np.testing.assert_allclose(found, [[-1.0, 1.0, 0.0], [-0.5, 0.5, 0.0]], atol=1e-9)


@pytest.mark.parametrize("cost", [0.05, 1.0, 20.0])
def test_it_agrees_with_single_fits_and_with_libsvm(cost):
    X, y = wide(1)
    train = np.setdiff1d(np.arange(40), [3, 11, 30])
    bounds = perturbed(cost, 6, len(train))
    found = row_decisions(as_rows(X), y, train, bounds, tolerance=1e-8)
    for decision, upper in zip(found, bounds, strict=True):
        alone = solve_rows(as_rows(X[train]), y[train], upper, tolerance=1e-10)
        np.testing.assert_allclose(decision, X @ alone.weights + alone.bias, atol=1e-6)
        SVM = SVC(kernel="linear", tol=1e-9).fit(X[train], y[train], sample_weight=upper)
        np.testing.assert_allclose(decision, SVM.decision_function(X), atol=1e-4)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(4, 25))
def test_signs_are_those_of_the_optimum(seed, n):
    X, y = wide(seed, n=n, d=30)
    y[:2] = -1.0, 1.0
    bounds = perturbed(1.0, 3, n, seed)
    found = row_decisions(as_rows(X), y, np.arange(n), bounds)
    for decision, upper in zip(found, bounds, strict=True):
        exact = solve_rows(as_rows(X), y, upper, tolerance=1e-12)
        sure = np.abs(exact.decision) > 1e-6
        assert not exact.stable or np.array_equal(decision[sure] > 0, exact.decision[sure] > 0)


def test_the_work_is_shared_out_without_changing_a_bit():
    X, y = wide(2)
    bounds = perturbed(1.0, 12, 40)
    alone = row_decisions(as_rows(X), y, np.arange(40), bounds)
    assert np.array_equal(alone, row_decisions(as_rows(X), y, np.arange(40), bounds, workers=3))


def test_who_is_left_out_changes_nothing():
    X, y = wide(3)
    bounds = perturbed(1.0, 2, 40)
    bounds[:, 5:9] = 0.0
    kept = np.setdiff1d(np.arange(40), np.arange(5, 9))
    found = row_decisions(as_rows(X), y, np.arange(40), bounds, tolerance=1e-9)
    without = row_decisions(as_rows(X), y, kept, bounds[:, kept], tolerance=1e-9)
    np.testing.assert_allclose(found, without, atol=1e-7)


def test_no_replicates_give_no_rows():
    assert row_decisions(as_rows(np.eye(3)), np.ones(3), np.arange(3), np.empty((0, 3))).shape == (
        0,
        3,
    )
