"""Rows of a sparse matrix: every product against NumPy, every format against the dense one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import truerisk as tr
from truerisk import KernelSVM, LinearSVM
from truerisk.errors import InputError
from truerisk.svm.rows.matrix import as_rows, inner_products, products_of

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


@pytest.mark.parametrize("values", [([1.0, 2.0, 5.0], [1, 1, 0]), ([5.0, 1.0, 2.0], [0, 1, 1])])
def test_an_entry_given_twice_is_summed_and_the_matrix_of_the_caller_stays(values):
    given_twice = sparse.csr_array((*values, [0, 3]), shape=(1, 2))
    rows = as_rows(given_twice)
    np.testing.assert_array_equal(dense(rows), [[5.0, 3.0]])
    np.testing.assert_array_equal(rows.squared_norms, [34.0])
    assert given_twice.nnz == 3


@pytest.mark.parametrize("width", [3, 300])
@pytest.mark.parametrize("columns", [[-1, 2, 0, 1], [0, 300, 0, 1], [1, 999, 0, 2], [0, 1, 0, -2]])
def test_a_matrix_of_another_shape_is_refused(columns, width):
    starts = np.array([0, 3, 4])
    broken = sparse.csr_matrix((np.ones(4), np.array(columns), starts), shape=(2, width))
    of_another = rf"`X` must be an intact sparse matrix; of 2 × {width} values, its indices must be"
    with pytest.raises(InputError, match=of_another):
        as_rows(broken)
    for svm in (LinearSVM(10.0), KernelSVM(10.0, kernel="linear"), KernelSVM(10.0)):
        with pytest.raises(InputError, match=of_another):
            svm.fit(broken, [0, 1])
        fitted = svm.fit(sparse.csr_matrix(np.eye(2, width)), [0, 1])
        with pytest.raises(InputError, match=of_another):
            fitted.decision_function(broken)
    for call in (tr.estimate, tr.learning_curve, tr.leave_one_out, tr.perturbation):
        with pytest.raises(InputError, match=of_another):
            call(LinearSVM(), broken, [0, 1])


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


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("first", [0, 4, 7])
def test_inner_products_are_those_of_the_matrix(first, workers):
    X = np.random.default_rng(0).standard_normal((8, 5)) * (np.arange(5) % 2)
    products = inner_products(as_rows(X), first, workers=workers)
    np.testing.assert_allclose(products, (X @ X.T)[first:], atol=1e-12)


@given(matrices)
def test_all_products_are_those_of_the_dense_matrix(matrix):
    found = products_of(sparse.csc_array(matrix))
    np.testing.assert_allclose(found, matrix @ matrix.T, atol=1e-12)


def test_common_and_rare_columns_add_up_by_hand():
    # The first column has entries in both rows, the second in none, the third in one.
    matrix = sparse.csr_matrix([[1.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    assert products_of(matrix).tolist() == [[5.0, 3.0], [3.0, 9.0]]
    many = sparse.csr_matrix(np.vstack([np.eye(1, 40, k) for k in range(40)]))  # each one rare
    assert np.array_equal(products_of(many), np.eye(40))
