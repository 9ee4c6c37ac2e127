"""Costs side by side: the optimum of each, whatever the problem; what is left to one SVM."""

import numpy as np
import pytest

from truerisk.svm.problems import MIN_COSTS, Effort, SparseProblem
from truerisk.svm.rows import along
from truerisk.svm.rows.along import aligned_zeros, can_be_single, solve_side_by_side
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.matrix import as_rows

COSTS = np.geomspace(0.05, 10, 11).tolist()


def cases():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 15))
    y = np.where(X[:, 0] + rng.standard_normal(200) > 0, 1.0, -1.0)
    one = np.full(200, -1.0)
    one[7] = 1.0
    words = np.abs(rng.standard_normal((300, 400))) * (rng.random((300, 400)) < 0.1)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    topic = np.where(words[:, ::7].sum(axis=1) > 0.6, 1.0, -1.0)
    ones = np.ones(300)
    return {
        "normals": (X, y, ones[:200]),
        "off the origin": (X + 3.0, y, ones[:200]),
        "documents": (words, topic, ones),
        "documents twice": (np.tile(words[:100], (3, 1)), np.tile(topic[:100], 3), ones),
        "noise": (X, rng.choice([-1.0, 1.0], 200), ones[:200]),
        "one against all": (X, one, ones[:200]),
        "one of each": (X[:2], np.array([1.0, -1.0]), ones[:2]),
        "zeros": (np.zeros((10, 3)), np.repeat([1.0, -1.0], 5), ones[:10]),
        "weights far apart": (X, y, rng.choice([0.0, 1e-3, 1.0, 100.0], 200)),
        "large": (100.0 * X, y, ones[:200]),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_every_cost_has_its_optimum(name):
    X, y, bounds = CASES[name]
    rows = as_rows(X)
    solutions = SparseProblem(X, rows).solve_along(y, bounds, COSTS, Effort())
    for cost, solution in zip(COSTS, solutions, strict=True):
        exact = solve_rows(rows, y, cost * bounds, tolerance=1e-6)
        if exact.gap <= 1e-6:
            assert solution.gap <= 1e-6
        weights = (y * solution.alpha) @ X
        np.testing.assert_allclose(solution.weights, weights, atol=1e-9 * np.abs(X).max())
        np.testing.assert_allclose(solution.decision, X @ weights + solution.bias, atol=1e-7)
        np.testing.assert_array_equal(solution.upper, cost * bounds)
        assert np.all((solution.alpha >= 0.0) & (solution.alpha <= solution.upper))
        assert abs(y @ solution.alpha) <= 1e-9 * solution.upper.sum()
        slack = np.maximum(0.0, 1.0 - y * exact.decision)
        value = exact.weights @ exact.weights / 2 + exact.upper @ slack
        reached = weights @ weights / 2 + solution.upper @ solution.slack
        assert reached <= (1.0 + 1e-5) * value


def test_the_same_arguments_give_the_same_bits():
    X, y, bounds = CASES["documents"]
    one, two = (solve_side_by_side(as_rows(X), y, bounds, COSTS, tolerance=1e-6) for _ in range(2))
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first.alpha, second.alpha)


def test_what_goes_in_circles_is_solved_by_itself(monkeypatch):
    X, y, bounds = CASES["noise"]
    rows = as_rows(X)
    monkeypatch.setattr(along, "MAX_ROUNDS", 1)
    for solution in solve_side_by_side(rows, y, bounds, COSTS, tolerance=1e-6):
        assert solution.gap <= 1e-6


def test_few_costs_a_cap_or_a_loose_tolerance_take_one_svm_at_a_time(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr("truerisk.svm.problems.solve_side_by_side", refuse)
    X, y, bounds = CASES["documents"]
    problem = SparseProblem(X, as_rows(X))
    problem.solve_along(y, bounds, COSTS[: MIN_COSTS - 1], Effort())
    problem.solve_along(y, bounds, COSTS, Effort(passes=50))
    problem.solve_along(y, bounds, COSTS, Effort(tolerance=1e-2))
    with pytest.raises(AssertionError):
        problem.solve_along(y, bounds, COSTS, Effort())


def test_rows_beyond_single_precision_are_solved_one_svm_at_a_time():
    X, _, _ = CASES["documents"]
    assert can_be_single(as_rows(X))
    assert not can_be_single(as_rows(1e20 * X))
    assert not can_be_single(as_rows(0.0 * X))


@pytest.mark.parametrize("size", [1, 24, 9999])
def test_aligned_zeros_begin_with_a_line_of_the_cache(size):
    zeros = aligned_zeros(size, np.float32)
    assert zeros.shape == (size,)
    assert not zeros.any()
    assert zeros.ctypes.data % 64 == 0
