import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from truerisk.svm import radius
from truerisk.svm.kernels import Kernel
from truerisk.svm.radius import (
    BOUND_RULE,
    EXACT_RULE,
    RBF_EXACT_RULE,
    TEXT_RULE,
    largest_squared_length,
    squared_radius,
)

LINEAR = Kernel("linear")
CUBIC = Kernel("poly", gamma=0.5, degree=3, coef0=1.0)


def half_squared_diameter(gram):
    lengths = np.diagonal(gram)
    return (0.5 * (lengths[:, None] + lengths[None, :]) - gram).max()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_few_examples_have_their_exact_radius(form, shift):
    X = np.random.default_rng(0).normal(size=(300, 7)) + shift
    value, rule = squared_radius(LINEAR, form(X))
    assert value == pytest.approx(half_squared_diameter(X @ X.T), rel=1e-9)
    assert rule == EXACT_RULE


def test_a_shift_of_the_features_does_not_change_it():
    X = np.random.default_rng(1).normal(size=(50, 3))
    assert squared_radius(LINEAR, X + 7.0)[0] == pytest.approx(squared_radius(LINEAR, X)[0])


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 6), st.booleans())
@settings(max_examples=50)
def test_no_pair_exceeds_it_even_when_the_work_is_cut_short(seed, n, width, is_cut):
    X = np.random.default_rng(seed).exponential(size=(n, width)) ** 2
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(radius, "BLOCK", 3)
        if is_cut:
            patched.setattr(radius, "MAX_WORK", 0)
        for kernel in (LINEAR, CUBIC):
            exact = half_squared_diameter(kernel.between(X, X))
            for form in (X, sparse.csr_array(X)):
                value, rule = squared_radius(kernel, form)
                assert value >= exact * (1 - 1e-9)
                if rule == EXACT_RULE:
                    assert value == pytest.approx(exact)


def test_it_never_exceeds_what_joachims_asks_for():
    X = np.random.default_rng(2).normal(size=(80, 4)) + 1.0
    for kernel in (LINEAR, CUBIC, Kernel("rbf", gamma=0.3)):
        gram = kernel.between(X, X)
        assert squared_radius(kernel, X)[0] <= np.diagonal(gram).max() - gram.min() + 1e-9


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_documents_of_unit_length_have_radius_one(form):
    X = np.random.default_rng(3).random((30, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[4] = 0.0
    assert squared_radius(LINEAR, form(X)) == (1.0, TEXT_RULE)


def test_unit_length_alone_is_not_enough():
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert squared_radius(LINEAR, X) == (2.0, EXACT_RULE)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_gaussian_kernel_takes_its_smallest_value(form):
    X = np.random.default_rng(4).normal(size=(60, 3))
    kernel = Kernel("rbf", gamma=0.05)
    value, rule = squared_radius(kernel, form(X))
    assert value == pytest.approx(1.0 - kernel.between(X, X).min())
    assert rule == RBF_EXACT_RULE


def test_a_gram_matrix_and_a_function_are_searched_whole():
    X = np.random.default_rng(5).normal(size=(300, 4))
    expected = half_squared_diameter(CUBIC.between(X, X))
    assert squared_radius(Kernel("precomputed"), CUBIC.between(X, X)) == (
        pytest.approx(expected),
        EXACT_RULE,
    )
    assert squared_radius(Kernel(CUBIC.between), X) == (pytest.approx(expected), EXACT_RULE)


def test_many_examples_are_bounded_from_one_of_them(monkeypatch):
    monkeypatch.setattr(radius, "MAX_WORK", 10)
    X = np.random.default_rng(6).normal(size=(40, 4))
    value, rule = squared_radius(CUBIC, X)
    assert rule == BOUND_RULE
    assert value >= half_squared_diameter(CUBIC.between(X, X))


def test_positive_entries_bound_the_pairs_by_their_lengths(monkeypatch):
    monkeypatch.setattr(radius, "MAX_WORK", -1)
    X = np.array([[5.0, 0.0], [4.0, 3.0], [0.0, 0.5], [0.0, 5.2]])
    value, rule = squared_radius(LINEAR, X)
    assert value <= (27.04 + 25.0) / 2 + 1e-12
    assert value >= half_squared_diameter(X @ X.T)
    assert rule in {BOUND_RULE, EXACT_RULE}


def test_equal_examples_have_no_radius():
    assert squared_radius(LINEAR, np.ones((5, 2)))[0] == 0.0


def test_the_largest_squared_length_is_that_of_one_example():
    X = np.array([[1.0, 2.0], [0.0, 3.0]])
    assert largest_squared_length(LINEAR, X) == 9.0
    assert largest_squared_length(Kernel("precomputed"), X @ X.T) == 9.0
