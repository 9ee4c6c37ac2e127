import numpy as np
import pytest

from truerisk.svm.solvers import batch_cholesky
from truerisk.svm.solvers.batch_cholesky import (
    factorise_packed,
    packed_products,
    solve_packed,
    subtract_products,
)
from truerisk.svm.solvers.batch_lanes import LANES


def systems(m, seed=0):
    """Positive definite matrices and right sides, one a lane, and the matrices packed."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(LANES, m, m + 2))
    matrices = half @ half.transpose(0, 2, 1)
    j, k = np.tril_indices(m)
    return matrices, rng.normal(size=(m, LANES)), np.ascontiguousarray(matrices[:, j, k].T)


def test_weighted_sums_of_products_are_packed_gram_matrices():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(9, 4)), rng.random((9, 3))
    packed = packed_products(rows) @ weights
    for r in range(3):
        gram = rows.T @ (weights[:, r, None] * rows)
        np.testing.assert_allclose(packed[:, r], gram[np.tril_indices(4)])


@pytest.mark.parametrize("m", [1, 2, 4, 5, 9, 14])
def test_the_factors_solve_their_systems(m):
    matrices, right, packed = systems(m)
    expected = np.linalg.solve(matrices, right.T[..., None])[..., 0].T
    factorise_packed(packed, m)
    solve_packed(packed, right)
    np.testing.assert_allclose(right, expected, rtol=1e-7, atol=1e-9)


def test_a_direction_lost_in_rounding_is_left_alone():
    matrix = np.array([4.0, 4.0, 4.0 + 1e-15, 2.0, 2.0, 9.0])
    packed, right = (
        np.repeat(np.array(a)[:, None], LANES, axis=1) for a in (matrix, [8.0, 9.0, 12.0])
    )
    factorise_packed(packed, 3)
    solve_packed(packed, right)
    assert np.all(right[1] == 0.0)
    expected = np.linalg.solve([[4.0, 2.0], [2.0, 9.0]], [8.0, 12.0])
    np.testing.assert_allclose(right[[0, 2], 0], expected)


def test_the_uncompiled_twin_finds_the_same(monkeypatch):
    _, right, packed = systems(6)
    twin, twin_right = packed.copy(), right.copy()
    factorise_packed(packed, 6)
    solve_packed(packed, right)
    monkeypatch.setattr(batch_cholesky, "subtract_products", subtract_products.py_func)
    factorise_packed.py_func(twin, 6)
    solve_packed.py_func(twin, twin_right)
    np.testing.assert_allclose(twin, packed, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(twin_right, right, rtol=1e-8, atol=1e-10)
