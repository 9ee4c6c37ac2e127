"""Features of a Gram matrix: as many as its rank, and all of it in them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.svm.dense.features import pivoted_features


def test_two_points_by_hand():
    # 4, the larger diagonal entry, goes first: its column is (2, 4)/√4, and 1 − 1 is left of 1
    features = pivoted_features(np.array([[1.0, 2.0], [2.0, 4.0]]), 2)
    assert features.tolist() == [[1.0], [2.0]]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 10))
def test_the_features_give_the_matrix_back_with_as_many_columns_as_it_has_rank(seed, n, d):
    X = np.random.default_rng(seed).standard_normal((n, d))
    gram = X @ X.T
    rank = np.linalg.matrix_rank(gram, tol=1e-9 * gram.diagonal().max())
    features = pivoted_features(gram, 10)
    assert features.shape == (n, rank)
    np.testing.assert_allclose(features @ features.T, gram, atol=1e-11 * gram.diagonal().max())


def test_a_polynomial_kernel_has_the_rank_of_its_monomials():
    X = np.random.default_rng(1).standard_normal((50, 2))
    assert pivoted_features((X @ X.T + 1.0) ** 3, 64).shape == (50, 10)


def test_a_smooth_kernel_has_few_features_and_what_is_left_is_as_little_as_asked():
    x = np.random.default_rng(2).uniform(size=200)
    gram = np.exp(-((x[:, None] - x) ** 2))
    rough, fine = pivoted_features(gram, 64, relative=1e-6), pivoted_features(gram, 64)
    assert rough.shape[1] < fine.shape[1] < 20
    assert np.abs(rough @ rough.T - gram).max() <= 1e-6
    assert np.abs(fine @ fine.T - gram).max() <= 1.1e-12


def test_a_matrix_of_higher_rank_has_none():
    assert pivoted_features(np.eye(5), 4) is None
    assert pivoted_features(np.eye(5), 5).shape == (5, 5)


@pytest.mark.parametrize(
    "gram",
    [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, -1.0]]],
    ids=["no diagonal", "negative eigenvalue", "negative diagonal"],
)
def test_an_indefinite_matrix_has_none(gram):
    assert pivoted_features(np.array(gram), 2) is None


def test_a_matrix_of_zeros_has_features_without_columns():
    assert pivoted_features(np.zeros((3, 3)), 2).shape == (3, 0)
