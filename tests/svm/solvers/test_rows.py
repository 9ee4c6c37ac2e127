"""Rows of a sparse matrix: every loop against NumPy, and every format against the dense one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from truerisk.svm.solvers.rows import (
    add,
    add_four,
    as_rows,
    copy_rows,
    dot,
    multiply,
    multiply_four,
    square,
)

entries = st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5, 3.0])
shapes = st.tuples(st.integers(1, 7), st.integers(1, 11))
matrices = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=entries))


def dense(rows):
    matrix = np.zeros((len(rows), rows.width))
    for i in range(len(rows)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        matrix[i, rows.indices[part]] = rows.data[part]
    return matrix


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.array])
def test_every_format_gives_the_same_rows(kind):
    X = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -3.0]])
    rows = as_rows(kind(X))
    np.testing.assert_array_equal(dense(rows), X)
    assert rows.indices.dtype == np.int32
    assert rows.indptr.dtype == np.int64
    assert rows.width == 3
    np.testing.assert_array_equal(rows.squared_norms, [4.0, 0.0, 10.0])


def test_an_entry_given_twice_is_summed_and_the_matrix_of_the_caller_stays():
    given_twice = sparse.csr_array(([1.0, 2.0, 5.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    rows = as_rows(given_twice)
    np.testing.assert_array_equal(dense(rows), [[5.0, 3.0]])
    np.testing.assert_array_equal(rows.squared_norms, [34.0])
    assert given_twice.nnz == 3


def test_integers_and_lists_become_floats():
    rows = as_rows([[1, 0], [0, 2]])
    assert rows.data.dtype == np.float64
    np.testing.assert_array_equal(dense(rows), [[1.0, 0.0], [0.0, 2.0]])


@given(matrices, st.integers(0, 2**32 - 1))
def test_products_sums_and_copies_are_those_of_the_matrix(X, seed):
    rng = np.random.default_rng(seed)
    rows = as_rows(X)
    w, c = rng.standard_normal(X.shape[1]), rng.standard_normal(len(X))
    np.testing.assert_allclose(rows.times(w), X @ w, atol=1e-12)
    np.testing.assert_allclose(rows.total(c), c @ X, atol=1e-12)
    which = rng.integers(0, len(X), 5)
    np.testing.assert_array_equal(dense(rows.take(which)), X[which])


@given(matrices, st.integers(0, 2**32 - 1))
def test_four_at_a_time_are_four_times_one(X, seed):
    rng = np.random.default_rng(seed)
    rows = as_rows(X)
    weights, products = rng.standard_normal((X.shape[1], 4)), np.empty((4, len(X)))
    multiply_four(*rows.arrays, weights, products)
    np.testing.assert_allclose(products, (X @ weights).T, atol=1e-12)
    coefficients = rng.standard_normal((len(X), 4))
    coefficients[0] = 0.0
    expected = weights + X.T @ coefficients
    add_four(*rows.arrays, coefficients, weights)
    np.testing.assert_allclose(weights, expected, atol=1e-12)


def test_the_uncompiled_loops_do_the_same():
    X = np.random.default_rng(0).standard_normal((3, 9))
    rows, w = as_rows(X), np.arange(9.0)
    assert dot.py_func(rows.data, rows.indices, 9, 18, w) == pytest.approx(X[1] @ w)
    weights = np.zeros(9)
    add.py_func(rows.data, rows.indices, 9, 18, 2.0, weights)
    np.testing.assert_allclose(weights, 2.0 * X[1])
    products, norms = np.empty(3), np.empty(3)
    multiply.py_func(*rows.arrays, w, products)
    square.py_func(rows.data, rows.indptr, norms)
    np.testing.assert_allclose(products, X @ w)
    np.testing.assert_allclose(norms, (X**2).sum(axis=1))
    four, weights = np.empty((4, 3)), np.zeros((9, 4))
    multiply_four.py_func(*rows.arrays, np.tile(w[:, None], 4), four)
    add_four.py_func(*rows.arrays, np.ones((3, 4)), weights)
    np.testing.assert_allclose(four, np.tile(X @ w, (4, 1)))
    np.testing.assert_allclose(weights, np.tile(X.sum(axis=0)[:, None], 4))
    data, indices = np.empty(9), np.empty(9, np.int32)
    copy_rows.py_func(*rows.arrays, np.array([2]), data, indices)
    np.testing.assert_array_equal(data, X[2])
