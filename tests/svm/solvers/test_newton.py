"""Newton's step: the solution of the bordered system, and no step where two examples are alike."""

import numpy as np
import pytest

from truerisk.svm.solvers.newton import descend, newton_step, within
from truerisk.svm.solvers.rows import as_rows

WIDE = 1e6


def room(n, size=WIDE):
    return np.full(n, -size), np.full(n, size)


@pytest.fixture
def problem():
    rng = np.random.default_rng(5)
    return rng.standard_normal((12, 30)), rng.standard_normal(12)


@pytest.mark.parametrize("total", [0.0, 0.7])
def test_it_solves_the_bordered_system(problem, total):
    X, residual = problem
    step, bias, steps = newton_step(
        as_rows(X), residual, room(12), total, accuracy=1e-12, max_steps=100
    )
    system = np.block([[X @ X.T, np.ones((12, 1))], [np.ones((1, 12)), 0.0]])
    expected = np.linalg.solve(system, np.append(residual, total))
    np.testing.assert_allclose(step, expected[:-1], atol=1e-10)
    assert bias == pytest.approx(expected[-1], abs=1e-10)
    assert step.sum() == pytest.approx(total, abs=1e-12)
    assert steps < 20


def test_the_accuracy_is_that_of_every_residual(problem):
    X, residual = problem
    step, bias, _ = newton_step(as_rows(X), residual, room(12), 0.0, accuracy=0.05, max_steps=100)
    left = residual - X @ (step @ X) - bias
    assert 1e-6 < np.abs(left).max() <= 0.05 + 1e-12


def test_it_stops_at_the_number_of_steps(problem):
    X, residual = problem
    assert newton_step(as_rows(X), residual, room(12), 0.0, accuracy=0, max_steps=3)[2] == 3


def test_examples_alike_with_other_labels_go_up_to_the_nearest_bound():
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    step, _, _ = newton_step(
        as_rows(X),
        np.array([1.0, -1.0]),
        (np.full(2, -0.25), np.full(2, 5.0)),
        0.0,
        accuracy=1e-9,
        max_steps=9,
    )
    np.testing.assert_allclose(step, [0.25, -0.25])


def test_examples_nearly_alike_stop_together_where_the_first_one_ends():
    X = np.array([[1.0, 0.0], [1.0, 1e-4]])
    step, _, _ = newton_step(
        as_rows(X),
        np.array([0.1, -0.1]),
        (np.full(2, -0.5), np.full(2, 0.25)),
        0.0,
        accuracy=1e-9,
        max_steps=9,
    )
    np.testing.assert_allclose(step, [0.25, -0.25])


def test_a_length_is_kept_where_nobody_goes_far():
    step, direction = np.zeros(3), np.array([1.0, -1.0, 0.5])
    low, high = np.full(3, -1.0), np.full(3, 1.0)
    assert within(step, direction, low, high, 1.5) == 1.5  # a quarter of the room beyond is near
    assert within(step, direction, low, high, 1.6) == 1.0


def test_the_uncompiled_loop_does_the_same(problem):
    X, residual = problem
    rows = as_rows(X)
    answers = []
    for function in (descend, descend.py_func):
        step, left = np.zeros(12), residual - residual.mean()
        found = function(*rows.arrays, left, step, *room(12), np.empty(30), 40.0, 1e-9, 50)
        answers.append((step, found))
    np.testing.assert_allclose(answers[0][0], answers[1][0], atol=1e-10)
    assert answers[0][1] == pytest.approx(answers[1][1])
    assert within.py_func(np.zeros(1), np.ones(1), -np.ones(1), np.ones(1), np.inf) == 1.0
