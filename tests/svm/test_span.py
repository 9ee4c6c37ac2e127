import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.errors import InputError
from truerisk.svm.kernels import Kernel, TrainingKernel
from truerisk.svm.solution import Solution
from truerisk.svm.span import searched_squares, squared_spans


def solution_of(alpha, upper, y):
    n = len(y)
    return Solution(
        y=y, upper=upper, alpha=alpha, bias=0.0, decision=np.zeros(n), gap=0.0, passes=1
    )


def distance_to(point, others, *, is_flat):
    """Squared distance to the flat, or subspace, through others: by least squares."""
    if is_flat:
        point, others = point - others[0], others[1:] - others[0]
    if len(others) == 0:
        return float(point @ point)
    found = np.linalg.lstsq(others.T, point, rcond=None)[0]
    return float(np.sum((point - others.T @ found) ** 2))


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
@settings(max_examples=40)
def test_it_is_the_distance_to_what_the_free_support_vectors_span(seed, n_free, is_flat):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 6))
    alpha = np.zeros(9)
    alpha[:n_free] = 0.5
    alpha[n_free:7] = 1.0
    solution = solution_of(alpha, np.ones(9), np.where(rng.random(9) < 0.5, 1.0, -1.0))
    kernel = TrainingKernel(Kernel("linear"), X)
    found = squared_spans(kernel, solution, np.arange(9), free_bias=is_flat)
    for t in range(9):
        others = X[[i for i in range(n_free) if i != t]]
        assert found[t] == pytest.approx(distance_to(X[t], others, is_flat=is_flat), abs=1e-6)


def test_equal_free_support_vectors_replace_each_other():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [3.0, 1.0]])
    solution = solution_of(
        np.array([0.5, 0.5, 0.5, 0.0]), np.ones(4), np.array([1.0, 1.0, -1.0, 1.0])
    )
    kernel = TrainingKernel(Kernel("linear"), X)
    found = squared_spans(kernel, solution, np.arange(4))
    assert found == pytest.approx([0.0, 0.0, 4.0, 1.0], abs=1e-6)


def test_a_kernel_that_is_not_definite_is_refused_with_the_reason():
    solution = solution_of(np.full(2, 0.5), np.ones(2), np.array([1.0, -1.0]))
    kernel = TrainingKernel(Kernel("precomputed"), np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(InputError, match=r"positive semidefinite .* refine='search'"):
        squared_spans(kernel, solution, np.arange(2))


def test_without_a_free_support_vector_there_is_no_flat():
    solution = solution_of(np.ones(2), np.ones(2), np.array([1.0, -1.0]))
    kernel = TrainingKernel(Kernel("linear"), np.array([[2.0], [1.0]]))
    assert np.isinf(squared_spans(kernel, solution, np.arange(2))).all()
    assert squared_spans(kernel, solution, np.arange(2), free_bias=False).tolist() == [4.0, 1.0]


def test_a_margin_falls_by_alpha_times_the_span_while_no_bound_is_met():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2)) + np.repeat([[0.0], [1.5]], 30, axis=0)
    y = np.repeat([-1.0, 1.0], 30)
    machine = SVC(kernel="rbf", gamma=0.5, C=1.0, tol=1e-9)

    def trained(rows, weights):
        fitted = machine.fit(X[rows], y[rows], sample_weight=weights)
        alpha = np.zeros(60)
        alpha[rows[fitted.support_]] = np.abs(fitted.dual_coef_[0])
        return alpha, fitted.decision_function(X)

    everyone = np.arange(60)
    alpha, decision = trained(everyone, None)
    solution = solution_of(alpha, np.ones(60), y)
    kernel = TrainingKernel(Kernel("rbf", gamma=0.5), X)
    spans = squared_spans(kernel, solution, everyone)
    agreed = 0
    for t in np.flatnonzero(alpha > 0):
        # A little of α is taken away, so that no other example meets a bound on the way.
        weights = np.ones(60)
        weights[t] = alpha[t] - 1e-4
        less, moved = trained(everyone, weights)
        if np.array_equal(less >= weights - 1e-9, alpha >= weights - 1e-9):
            fall = y[t] * (decision[t] - moved[t])
            assert fall == pytest.approx(1e-4 * spans[t], rel=1e-3, abs=1e-8)
            agreed += 1
    assert agreed > 15


def searched_by_loops(X, t, free, depth):
    """Add the free support vector that brings the mean nearest, one after the other."""
    chosen, least = [], np.inf
    for _ in range(depth):
        left = [i for i in free if i != t and i not in chosen]
        if not left:
            break
        distances = [np.sum((X[t] - X[[*chosen, i]].mean(axis=0)) ** 2) for i in left]
        chosen.append(left[int(np.argmin(distances))])
        least = min(least, *distances)
    return least


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 9))
@settings(max_examples=60)
def test_a_search_takes_the_nearest_mean_that_greed_finds(seed, n_free, depth):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4))
    alpha = np.where(np.arange(12) < n_free, 0.5, 1.0)
    solution = solution_of(alpha, np.ones(12), np.where(rng.random(12) < 0.5, 1.0, -1.0))
    kernel = TrainingKernel(Kernel("linear"), X)
    everyone = np.arange(12)
    found = searched_squares(kernel, solution, everyone, depth)
    expected = [searched_by_loops(X, t, range(n_free), depth) for t in everyone]
    assert found == pytest.approx(expected, abs=1e-9)
    spans = squared_spans(kernel, solution, everyone)
    assert (found >= spans - 1e-6).all()
    assert (found <= searched_squares(kernel, solution, everyone, 1) + 1e-12).all()
    unbiased = searched_squares(kernel, solution, everyone, depth, free_bias=False)
    assert unbiased == pytest.approx(np.minimum(found, np.sum(X**2, axis=1)), abs=1e-9)


def test_a_search_done_by_hand():
    # From (0, 0): (1, 0) is 1 away, (0, 3) 9; the mean of (1, 0) and (−3, 0) is (−1, 0), 1 away;
    # with (1, 0) and (−1.2, 0) it is (−.1, 0), .01 away.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [-1.2, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    solution = solution_of(np.full(4, 0.5), np.ones(4), y)
    kernel = TrainingKernel(Kernel("linear"), X)
    first = np.array([0])
    assert searched_squares(kernel, solution, first, 1) == pytest.approx([1.0])
    assert searched_squares(kernel, solution, first, 2) == pytest.approx([0.01])
    assert searched_squares(kernel, solution, first, 50) == pytest.approx([0.01])  # a third is far


def test_a_search_has_nobody_to_take_over_where_no_other_example_is_free():
    solution = solution_of(np.array([0.5, 1.0]), np.ones(2), np.array([1.0, -1.0]))
    kernel = TrainingKernel(Kernel("linear"), np.array([[2.0], [1.0]]))
    both = np.arange(2)
    assert searched_squares(kernel, solution, both, 5) == pytest.approx([np.inf, 1.0])
    assert searched_squares(kernel, solution, both, 5, free_bias=False) == pytest.approx([4.0, 1.0])
