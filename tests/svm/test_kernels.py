"""Kernels: by hand, and beside scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from truerisk.errors import InputError
from truerisk.svm.kernels import Kernel, settle_kernel, squared_lengths

TWO = np.array([[1.0, 2.0], [3.0, -1.0]])


def settle(rule, X, **options):
    weights = options.pop("sample_weight", np.ones(X.shape[0]))
    asked = {"gamma": "scale", "degree": 3, "coef0": 0.0} | options
    return settle_kernel(rule, X, sample_weight=weights, **asked)


def test_each_kernel_worked_by_hand():
    assert Kernel("linear").between(TWO, TWO).tolist() == [[5.0, 1.0], [1.0, 10.0]]
    poly = Kernel("poly", gamma=2.0, degree=2, coef0=1.0)
    assert poly.between(TWO, TWO).tolist() == [[121.0, 9.0], [9.0, 441.0]]
    assert poly.diagonal(TWO).tolist() == [121.0, 441.0]
    rbf = Kernel("rbf", gamma=0.1)  # |(1, 2) − (3, −1)|² = 13
    assert rbf.between(TWO, TWO) == pytest.approx(np.array([[1, np.exp(-1.3)], [np.exp(-1.3), 1]]))


@given(seed=st.integers(0, 10**6), far=st.sampled_from([0.0, 1e6]))
def test_they_are_those_of_scikit_learn_and_sparse_is_dense(seed, far):
    rng = np.random.default_rng(seed)
    X, others = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    poly = Kernel("poly", gamma=0.5, degree=3, coef0=1.0)
    expected = polynomial_kernel(X, others, gamma=0.5, degree=3, coef0=1.0)
    assert poly.between(X, others) == pytest.approx(expected)
    assert poly.between(csr_matrix(X), csr_matrix(others)) == pytest.approx(expected)
    # Far from the origin the digits in common would cancel; the shift keeps them apart.
    moved = settle("rbf", X + far, gamma=0.5)
    expected = rbf_kernel(X, others, gamma=0.5)
    assert moved.between(X + far, others + far) == pytest.approx(expected, abs=1e-8)


def test_gamma_scale_is_that_of_scikit_learn_and_counts_by_weight():
    X = np.random.default_rng(0).normal(size=(20, 3)) * [1, 5, 0.1]
    theirs = SVC().fit(X, np.arange(20) % 2)._gamma  # noqa: SLF001
    assert settle("rbf", X).gamma == pytest.approx(theirs)
    assert settle("rbf", csr_matrix(X)).gamma == pytest.approx(theirs)
    assert settle("rbf", X, gamma="auto").gamma == pytest.approx(1 / 3)
    weights = np.arange(20) % 3
    twice = np.repeat(X, weights, axis=0)
    assert settle("rbf", X, sample_weight=weights * 1.0).gamma == pytest.approx(
        settle("rbf", twice).gamma
    )


def test_constant_data_have_gamma_1():
    assert settle("rbf", np.ones((4, 2))).gamma == 1.0


def test_the_diagonal_is_that_of_the_matrix():
    called = Kernel(lambda a, b: (a @ b.T) ** 2)
    for kernel in (Kernel("linear"), Kernel("rbf", gamma=0.3), Kernel("poly"), called):
        assert kernel.diagonal(TWO) == pytest.approx(np.diagonal(kernel.between(TWO, TWO)))
    assert called.name == "callable"
    assert squared_lengths(csr_matrix(TWO)).tolist() == [5.0, 10.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": "wide"}, "`gamma` must be one of scale, auto"),
        ({"gamma": -1.0}, "`gamma` must lie in"),
        ({"degree": 0}, "`degree` must lie in"),
        ({"degree": 1.5}, "`degree` must be a whole number"),
        ({"coef0": float("nan")}, "`coef0` must lie in"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        settle("poly", TWO, **options)


@pytest.mark.parametrize("rule", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("n", [1, 31, 70])
def test_examples_among_each_other_have_the_values_of_two_tables(rule, n):
    X = np.random.default_rng(n).standard_normal((n, 3)) + 5.0
    kernel = Kernel(rule, gamma=0.3, coef0=1.0, shift=X.mean(axis=0))
    for rows in (X, csr_matrix(X)):
        gram = kernel.among(rows)
        np.testing.assert_allclose(gram, kernel.between(X, X), atol=1e-9)
        np.testing.assert_allclose(gram, gram.T, atol=1e-9)
    assert rule != "rbf" or np.array_equal(kernel.among(X), kernel.among(X).T)
