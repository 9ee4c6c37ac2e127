"""Small steps on a Gram matrix: each is the best of its pair, and none is left that gains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.svm.solvers.smo import (
    Dual,
    bias_between,
    descend,
    first_reaching,
    open_doors,
    shift,
    take_out,
    update,
    weigh_partners,
)

FLOOR = 1e-12


def dual_of(gram, y, upper):
    lower, higher = np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0)
    return Dual(gram, np.diagonal(gram).copy(), lower, higher, np.zeros(len(y)), y.copy())


def value(dual, y):
    """What is minimised: ½ zᵀKz − yᵀz."""
    return dual.z @ dual.gram @ dual.z / 2 - y @ dual.z


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    return X @ X.T, y, rng.uniform(0.1, 2.0, 60)


def test_two_points_by_hand():
    # x = −1, 1: the margin is met at w = 1, so that both α are ½ after one step
    dual = dual_of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0]), np.ones(2))
    steps, top, bottom = descend(dual, open_doors(2), FLOOR, 1e-9, 10)
    assert steps == 1
    assert list(dual.z) == [-0.5, 0.5]
    assert top == bottom == 0.0


def test_no_pair_that_may_move_asks_for_different_biases(problem):
    gram, y, upper = problem
    dual = dual_of(gram, y, upper)
    _, top, bottom = descend(dual, open_doors(60), FLOOR, 1e-8, 10**6)
    remainder = y - gram @ dual.z
    np.testing.assert_allclose(dual.remainder, remainder, atol=1e-10)
    assert remainder[dual.z < dual.upper].max() == pytest.approx(top, abs=1e-10)
    assert remainder[dual.z > dual.lower].min() == pytest.approx(bottom, abs=1e-10)
    assert top - bottom <= 1e-8
    assert dual.z.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.all((dual.lower <= dual.z) & (dual.z <= dual.upper))


def test_the_uncompiled_twin_takes_the_same_steps(problem):
    gram, y, upper = problem
    compiled, plain = dual_of(gram, y, upper), dual_of(gram, y, upper)
    first = descend(compiled, open_doors(60), FLOOR, 1e-4, 200)
    second = descend.py_func(plain, open_doors(60), FLOOR, 1e-4, 200)
    assert first == pytest.approx(second, abs=1e-12)
    np.testing.assert_allclose(compiled.z, plain.z, atol=1e-12)


def test_the_cap_is_kept_and_the_gap_told(problem):
    gram, y, upper = problem
    steps, top, bottom = descend(dual_of(gram, y, upper), open_doors(60), FLOOR, 1e-8, 7)
    assert steps == 7
    assert top - bottom > 1e-8


def test_every_step_gains(problem):
    gram, y, upper = problem
    dual, doors = dual_of(gram, y, upper), open_doors(60)
    values = []
    for _ in range(20):
        values.append(value(dual, y))
        descend(dual, doors, FLOOR, 1e-8, 1)
    assert np.all(np.diff(values) < 0.0)


def test_the_partner_is_the_one_that_gains_most():
    # with i = 0: differences 1 + 0.5 and 1 + 3, curvatures 1 and 16; 2.25 / 1 beats 16 / 16
    gram = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 15.0]])
    y = np.array([1.0, -1.0, -1.0])
    dual, doors = dual_of(gram, y, np.ones(3)), open_doors(3)
    dual.remainder[:] = [1.0, -0.5, -3.0]
    doors.fall[:] = 0.0
    bottom, best = weigh_partners(dual, doors, 0, 1.0, FLOOR)
    assert (bottom, best) == (-3.0, 2.25)
    assert first_reaching(doors.gain, best) == 1


def test_a_bound_that_is_met_is_met_exactly():
    dual = dual_of(np.eye(2), np.array([1.0, -1.0]), np.array([0.3, 0.1]))
    assert shift(dual, 0, 1, 5.0) == pytest.approx(0.1)
    assert list(dual.z) == [pytest.approx(0.1), -0.1]


def test_an_update_keeps_the_remainder_true(problem):
    gram, y, upper = problem
    dual = dual_of(gram, y, upper)
    dual.z[3] += 0.01
    dual.z[8] -= 0.01
    top = update(dual, np.zeros(60), 3, 8, 0.01)
    np.testing.assert_allclose(dual.remainder, y - gram @ dual.z, atol=1e-12)
    assert top == dual.remainder.max()
    again = y.copy()
    take_out(gram, dual.z, again)
    np.testing.assert_allclose(again, dual.remainder, atol=1e-12)


@pytest.mark.parametrize(
    ("z", "violation"),
    [
        ([0.5, -0.5], 0.1),  # both are free, and ask for different biases
        ([1.0, -1.0], 0.0),  # both are at their bounds: any bias between is right
        ([0.0, 0.0], 0.1),  # both want to move towards each other
    ],
)
def test_the_bias_is_the_mean_of_the_free_or_the_middle(z, violation):
    dual = dual_of(np.eye(2), np.array([1.0, -1.0]), np.ones(2))
    dual.z[:] = z
    dual.remainder[:] = [0.2, 0.1]
    assert bias_between(dual) == pytest.approx((0.15, violation))


def test_with_one_class_the_bias_calls_everybody_that():
    dual = dual_of(np.eye(3), np.ones(3), np.ones(3))
    assert bias_between(dual) == (1.0, 0.0)
    dual = dual_of(np.eye(3), -np.ones(3), np.ones(3))
    assert bias_between(dual) == (-1.0, 0.0)
    dual = dual_of(np.eye(3), np.ones(3), np.zeros(3))
    assert bias_between(dual) == (0.0, 0.0)


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_an_indefinite_matrix_ends_too(seed, n):
    rng = np.random.default_rng(seed)
    gram = rng.standard_normal((n, n))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    dual = dual_of(gram + gram.T, y, rng.uniform(0.0, 3.0, n))
    descend(dual, open_doors(n), FLOOR, 1e-9, 10_000)
    assert np.isfinite(dual.z).all()
    assert np.all((dual.lower <= dual.z) & (dual.z <= dual.upper))
