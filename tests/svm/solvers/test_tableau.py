"""The tableau: each entry is what happens, solved anew by NumPy."""

import numpy as np
import pytest

from truerisk.svm.solvers.rows import as_rows
from truerisk.svm.solvers.tableau import Tableau, independent, inner_products, multiply_pairs


def answer(K, free, which):
    """Solve the conditions directly for one unit of one example: change of z, of f and of b."""
    n = len(K)
    system = np.zeros((free + 1, free + 1))
    system[:free, :free], system[:free, free], system[free, :free] = K[:free, :free], 1.0, 1.0
    z = np.zeros(n)
    if which < free:  # its decision is to rise by one
        right = np.append(np.arange(free) == which, 0.0).astype(float)
    else:
        z[which] = 1.0
        right = np.append(-K[:free, which], -1.0)
    solved = np.linalg.solve(system, right)
    z[:free] = solved[:free]
    return z, K @ z + solved[free], solved[free]


@pytest.fixture
def gram():
    X = np.random.default_rng(2).standard_normal((9, 20))
    return X @ X.T


def test_every_entry_is_what_one_unit_does(gram):
    tableau = Tableau.of_free(gram[:4, :4]).widened(gram[4:7, :7]).widened(gram[7:])
    for which in range(9):
        z, decision, bias = answer(gram, 4, which)
        np.testing.assert_allclose(tableau.values[which, :4], z[:4], atol=1e-10)
        np.testing.assert_allclose(tableau.values[which, 4:], decision[4:], atol=1e-10)
        assert tableau.bias[which] == pytest.approx(bias, abs=1e-10)


def test_widened_twice_is_widened_once(gram):
    once = Tableau.of_free(gram[:3, :3]).widened(gram[3:])
    twice = Tableau.of_free(gram[:3, :3]).widened(gram[3:5, :5]).widened(gram[5:])
    np.testing.assert_allclose(twice.values, once.values, atol=1e-10)
    np.testing.assert_allclose(twice.bias, once.bias, atol=1e-10)


def test_one_free_example_that_is_zero_still_holds_the_bias():
    tableau = Tableau.of_free(np.zeros((1, 1)))
    # its decision is the bias, and its z can only answer to others
    np.testing.assert_allclose(tableau.values, [[0.0]], atol=1e-12)
    np.testing.assert_allclose(tableau.bias, [1.0])


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("first", [0, 4, 7])
def test_inner_products_are_those_of_the_matrix(first, workers):
    X = np.random.default_rng(0).standard_normal((8, 5)) * (np.arange(5) % 2)
    products = inner_products(as_rows(X), first, workers=workers)
    np.testing.assert_allclose(products, (X @ X.T)[first:], atol=1e-12)


def test_the_uncompiled_loop_does_the_same():
    X = np.random.default_rng(0).standard_normal((4, 5))
    products, weights = np.full((2, 4), np.nan), np.zeros(5)
    multiply_pairs.py_func(*as_rows(X).arrays, weights, products, 0, 1)
    np.testing.assert_allclose(np.tril(products, 2), np.tril((X @ X.T)[2:], 2), atol=1e-12)
    np.testing.assert_array_equal(weights, 0.0)


def test_independent_examples_stay_as_they_are(gram):
    z = np.linspace(0.1, 0.9, 9)
    free, moved = independent(gram, z, np.zeros(9), np.ones(9))
    assert free.all()
    np.testing.assert_array_equal(moved, z)


@pytest.mark.parametrize("seed", range(20))
def test_dependent_examples_go_to_a_bound_and_no_decision_changes(seed):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((4, 3))
    X = np.concatenate([base, base[:2], base[:2].mean(axis=0, keepdims=True), base[3:]])
    y = rng.choice([-1.0, 1.0], 8)
    low, high = np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0)
    z = y * rng.uniform(0.05, 0.95, 8)
    gram = X @ X.T
    free, moved = independent(gram, z, low, high)
    np.testing.assert_allclose(gram @ moved, gram @ z, atol=1e-9)
    assert moved.sum() == pytest.approx(z.sum(), abs=1e-12)
    assert np.all((moved >= low - 1e-12) & (moved <= high + 1e-12))
    assert np.all((moved == low) | (moved == high) | free)
    # what is left is independent where Σ = 0
    part = gram[np.ix_(free, free)]
    assert np.linalg.matrix_rank(part + 1.0) == free.sum()
