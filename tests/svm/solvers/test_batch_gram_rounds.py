"""Rounds of equations: the tableau says what K says, and a round solves what it is asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.svm.solvers import batch_gram_rounds as rounds
from truerisk.svm.solvers.batch_gram_tableau import Tableau


def problem(seed, n=12, d=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X @ X.T / d, y


def test_the_tableau_of_two_points_by_hand():
    # Seen from the first, free one of two unit vectors at right angles: the other is √2 away, and
    # each unit of it takes one from the first.  With nobody else, z₁ = 0 and b = y₁ = −1, so that
    # the remainder of the other is 1 − (−1).
    tableau = Tableau.of(np.eye(2), np.array([-1.0, 1.0]), np.array([0]))
    np.testing.assert_allclose(tableau.values, [[0.0, -1.0], [-1.0, 2.0]], atol=1e-11)
    np.testing.assert_allclose(tableau.own, [0.0, 2.0], atol=1e-11)
    assert tableau.base.tolist() == [True, False]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_tableau_gives_z_of_its_base_and_the_remainders_of_the_others(seed, size):
    gram, y = problem(seed)
    rng = np.random.default_rng(seed)
    base = np.sort(rng.choice(12, size, replace=False))
    tableau = Tableau.of(gram, y, base)
    others = np.setdiff1d(np.arange(12), base)
    given_z = rng.standard_normal(len(others))
    given_values = np.zeros(12)
    given_values[others] = given_z
    got = tableau.own - tableau.values @ given_values
    z = given_values.copy()
    z[base] = -got[base]
    assert abs(z.sum()) < 1e-8
    remainder = y - gram @ z
    bias = remainder[base].mean()
    np.testing.assert_allclose(remainder[base], bias, atol=1e-8)
    np.testing.assert_allclose(got[others], remainder[others] - bias, atol=1e-8)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 11, 30])
def test_the_factor_solves_quasidefinite_systems(size):
    rng = np.random.default_rng(size)
    A, B = rng.standard_normal((size, size)), rng.standard_normal((size, size))
    entering = size // 2
    matrix = rng.standard_normal((size, size))
    matrix = matrix + matrix.T
    positive, negative = A @ A.T + np.eye(size), -B @ B.T - np.eye(size)
    matrix[:entering, :entering] = positive[:entering, :entering]
    matrix[entering:, entering:] = negative[entering:, entering:]
    right, pivots, factored = rng.standard_normal(size), np.empty(size), matrix.copy()
    solution = right.copy()
    assert rounds.factor(factored, pivots, entering, 0.0)
    rounds.solve_factored(factored, pivots, solution)
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-9)


def test_a_pivot_of_the_wrong_sign_is_told():
    pivots = np.empty(2)
    assert not rounds.factor(np.array([[1.0, 2.0], [2.0, 1.0]]), pivots, 2, 0.0)
    assert rounds.factor(np.array([[1.0, 2.0], [2.0, 1.0]]), pivots, 1, 0.0)


@pytest.mark.parametrize("side", [-1, 0, 1])
def test_who_may_not_move_keeps_its_side(side):
    state = np.zeros((rounds.STATE, 1))
    assert rounds.new_side(state, 0, side, 0.0, 5.0) == side


@pytest.mark.parametrize(
    ("side", "z", "wish", "new"),
    [
        (0, 1.5, 0.0, 1),
        (0, -0.5, 0.0, -1),
        (0, 0.5, 0.0, 0),
        (1, 1.0, 0.3, 1),
        (1, 1.0, -0.3, 0),
        (1, 1.0, -1.3, -1),
        (-1, 0.0, -0.3, -1),
        (-1, 0.0, 0.3, 0),
        (-1, 0.0, 1.3, 1),
    ],
)
def test_an_example_goes_where_its_remainder_takes_it(side, z, wish, new):
    state = np.zeros((rounds.STATE, 1))
    state[rounds.UPPER] = 1.0
    assert rounds.new_side(state, 0, side, z, wish) == new


@pytest.mark.parametrize("base", [[0], [2, 5, 7], list(range(12))], ids=["one", "some", "all"])
def test_rounds_end_at_the_optimum_whatever_the_base(base):
    gram, y = problem(3)
    bounds = np.random.default_rng(1).exponential(size=12)
    tableau = Tableau.of(gram, y, np.array(base))
    state, sides = np.zeros((rounds.STATE, 12)), np.zeros(12, np.int8)
    state[rounds.LOWER], state[rounds.UPPER] = np.minimum(y, 0) * bounds, np.maximum(y, 0) * bounds
    state[rounds.GOT] = tableau.own
    verdict, work = rounds.settle(*tableau.arrays, state, sides, tableau.floor, 20)
    assert verdict == rounds.SETTLED
    assert work >= 0.0
    z = np.where(tableau.base, -state[rounds.GOT], state[rounds.GIVEN])
    z = np.where(sides > 0, state[rounds.UPPER], np.where(sides < 0, state[rounds.LOWER], z))
    remainder = y - gram @ z
    assert abs(z.sum()) < 1e-9
    assert (
        remainder[z < state[rounds.UPPER]].max() - remainder[z > state[rounds.LOWER]].min() < 1e-8
    )
