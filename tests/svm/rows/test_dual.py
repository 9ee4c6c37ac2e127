"""The linear SVM: optimality first, libsvm second, and every odd problem."""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC

from truerisk.svm.rows.dual import (
    Neighbourhood,
    clearly_free,
    mixed,
    newton_step,
    solve_rows,
    up_to_a_bound,
)
from truerisk.svm.rows.matrix import as_rows


def normals(n=200, d=15, *, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)


def documents(n=400, words=600, *, seed=0, positive=0.2):
    """Unit rows of few words, some of them more frequent in one class."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < positive, 1.0, -1.0)
    frequency = 1.0 / np.arange(1, words + 1)
    X = np.zeros((n, words))
    for i in range(n):
        tilted = frequency * np.where(np.arange(words) % 7 == 0, 1.0 + (y[i] > 0), 1.0)
        drawn = rng.choice(words, 40, p=tilted / tilted.sum())
        np.add.at(X[i], drawn, np.log(words / (1.0 + drawn)))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def problems():
    X, y = normals()
    rng = np.random.default_rng(1)
    text, labels = documents()
    zeros = X.copy()
    zeros[::3] = 0.0
    one = np.full(200, -1.0)
    one[7] = 1.0
    return {
        "normals": (X, y, np.full(200, 1.0)),
        "normals, large": (5.0 * X, y, np.full(200, 0.5)),
        "normals, small": (0.01 * X, y, np.full(200, 1.0)),
        "normals, off the origin": (X + 3.0, y, np.full(200, 0.1)),
        "documents": (text, labels, np.full(400, 1.0)),
        "documents, separable": (text, labels, np.full(400, 1000.0)),
        "noise": (X, rng.choice([-1.0, 1.0], 200), np.full(200, 0.3)),
        "more words than examples": (rng.standard_normal((50, 90)), y[:50], np.full(50, 2.0)),
        "each ten times": (np.repeat(X[:20], 10, 0), np.repeat(y[:20], 10), np.full(200, 0.2)),
        "alike, with other labels": (np.repeat(X[:20], 10, 0), y, np.full(200, 0.2)),
        "zero rows": (zeros, y, np.full(200, 1.0)),
        "one against all": (X, one, np.full(200, 5.0)),
        "one of each": (X[:2], np.array([1.0, -1.0]), np.full(2, 100.0)),
        "one of each, bounded": (X[:2], np.array([1.0, -1.0]), np.full(2, 1e-3)),
        "weights": (X, y, rng.exponential(size=200)),
        "weights far apart": (X, y, rng.choice([0.0, 1e-3, 1.0, 100.0], 200)),
        "lattice": (
            np.array([[a, b] for a in range(6) for b in range(6)], float),
            np.where(np.add.outer(np.arange(6), np.arange(6)).ravel() > 5, 1.0, -1.0),
            np.full(36, 10.0),
        ),
    }


PROBLEMS = problems()


@pytest.fixture(params=PROBLEMS, ids=str)
def problem(request):
    return PROBLEMS[request.param]


def assert_optimal(X, solution, tolerance):
    """Check every condition of an optimum from α alone."""
    y, upper, alpha = solution.y, solution.upper, solution.alpha
    assert np.all((alpha >= 0.0) & (alpha <= upper))
    assert abs(y @ alpha) <= 1e-12 * upper.sum()
    w = (y * alpha) @ X
    np.testing.assert_allclose(solution.weights, w, atol=1e-9)
    np.testing.assert_allclose(solution.decision, X @ w + solution.bias, atol=1e-9)
    excess = y * solution.decision - 1.0
    assert np.all(excess[(alpha < upper)] >= -tolerance - 1e-9)
    assert np.all(excess[(alpha > 0.0)] <= tolerance + 1e-9)


def test_every_condition_of_the_optimum_holds(problem):
    X, y, upper = problem
    solution = solve_rows(as_rows(X), y, upper)
    assert solution.gap <= 1e-6
    assert_optimal(X, solution, 1e-6)


def test_the_duality_gap_is_as_small_as_the_gap_promises(problem):
    X, y, upper = problem
    solution = solve_rows(as_rows(X), y, upper, tolerance=1e-8)
    w = solution.weights
    primal = w @ w / 2 + upper @ solution.slack
    dual = solution.alpha.sum() - w @ w / 2
    # Each example adds at most its bound times its violation.
    assert -1e-9 * primal <= primal - dual <= 1e-8 * upper.sum() + 1e-9 * primal


def test_the_gap_is_the_one_that_is_measured(problem):
    X, y, upper = problem
    solution = solve_rows(as_rows(X), y, upper, tolerance=0.1)
    v = y - X @ ((y * solution.alpha) @ X)
    rise = np.where(y > 0, solution.alpha < upper, solution.alpha > 0) & (upper > 0)
    fall = np.where(y > 0, solution.alpha > 0, solution.alpha < upper) & (upper > 0)
    expected = max(v[rise].max() - v[fall].min(), 0.0)
    assert solution.gap == pytest.approx(expected, abs=1e-9)
    assert solution.gap <= 0.1
    if solution.stable:
        assert solution.bias == pytest.approx(v[solution.free].mean(), abs=1e-9)


@pytest.mark.parametrize("name", ["normals", "documents", "noise", "weights", "zero rows"])
def test_it_agrees_with_libsvm(name):
    X, y, upper = PROBLEMS[name]
    ours = solve_rows(as_rows(X), y, upper, tolerance=1e-9)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y, sample_weight=upper)
    np.testing.assert_allclose(ours.decision, theirs.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(ours.weights, theirs.coef_[0], atol=1e-4)
    assert ours.bias == pytest.approx(theirs.intercept_[0], abs=1e-4)
    objective = [
        w @ w / 2 + upper @ np.maximum(0.0, 1.0 - y * (X @ w + b))
        for w, b in ((ours.weights, ours.bias), (theirs.coef_[0], theirs.intercept_[0]))
    ]
    assert objective[0] <= objective[1] * (1 + 1e-12)


def test_examples_without_weight_count_for_nothing_and_have_a_decision():
    X, y = normals()
    upper = np.where(np.arange(200) % 4 == 0, 0.0, 1.0)
    left_out = solve_rows(as_rows(X), y, upper, tolerance=1e-9)
    kept = upper > 0
    alone = solve_rows(as_rows(X[kept]), y[kept], upper[kept], tolerance=1e-9)
    np.testing.assert_allclose(left_out.weights, alone.weights, atol=1e-7)
    assert np.all(left_out.alpha[~kept] == 0.0)
    np.testing.assert_allclose(
        left_out.decision[~kept], X[~kept] @ alone.weights + alone.bias, atol=1e-6
    )


def test_a_bound_doubled_is_an_example_given_twice():
    X, y = normals(60)
    weighted = solve_rows(as_rows(X), y, np.where(np.arange(60) < 20, 2.0, 1.0), tolerance=1e-9)
    doubled = np.concatenate([np.arange(60), np.arange(20)])
    twice = solve_rows(as_rows(X[doubled]), y[doubled], np.ones(80), tolerance=1e-9)
    np.testing.assert_allclose(weighted.weights, twice.weights, atol=1e-7)
    assert weighted.bias == pytest.approx(twice.bias, abs=1e-7)


@pytest.mark.parametrize("y", [np.ones(3), -np.ones(3)])
def test_one_class_alone_is_never_wrong(y):
    solution = solve_rows(as_rows(np.eye(3)), y, np.ones(3))
    np.testing.assert_array_equal(solution.alpha, 0.0)
    np.testing.assert_array_equal(solution.decision, y)
    assert solution.gap == 0.0


def test_without_any_weight_nothing_is_learned():
    solution = solve_rows(as_rows(np.eye(3)), np.array([1.0, -1.0, 1.0]), np.zeros(3))
    np.testing.assert_array_equal(solution.weights, 0.0)
    assert (solution.gap, solution.bias, solution.passes) == (0.0, 0.0, 0)


def test_with_no_free_example_the_bias_is_the_middle_of_what_is_optimal():
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    solution = solve_rows(as_rows(X), y, np.full(2, 0.25))
    # w = 1/4; any b with b ≥ −1 and 1/4 + b ≤ 1 leaves both at their bounds
    assert not solution.stable
    assert solution.bias == pytest.approx((-1.0 + 0.75) / 2)


def test_an_alpha_that_is_free_by_rounding_does_not_pin_the_bias_down():
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    start = solve_rows(as_rows(X), y, np.full(2, 0.25))
    nearly = replace(start, alpha=np.full(2, 0.25 - 1e-12))
    again = solve_rows(as_rows(X), y, np.full(2, 0.25), start=nearly)
    np.testing.assert_array_equal(again.alpha, 0.25)
    assert again.bias == start.bias


def test_a_free_example_stays_free_however_small_its_bound_makes_the_rest():
    solution = solve_rows(as_rows(np.array([[0.0], [2.0]])), np.array([-1.0, 1.0]), np.full(2, 1e9))
    np.testing.assert_allclose(solution.alpha, 0.5)
    assert solution.bias == pytest.approx(-1.0)


def test_all_rows_zero_leave_the_bias_to_the_majority():
    solution = solve_rows(as_rows(np.zeros((5, 2))), np.array([1.0, 1, 1, -1, -1]), np.ones(5))
    np.testing.assert_allclose(solution.decision, 1.0)
    assert solution.gap <= 1e-9


def test_dense_and_sparse_are_the_same_bit_for_bit_and_so_are_two_runs():
    X, y = documents()
    upper = np.full(400, 1.0)
    first, second = (
        solve_rows(as_rows(kind(X)), y, upper) for kind in (np.array, sparse.csr_array)
    )
    np.testing.assert_array_equal(first.alpha, second.alpha)
    assert first.bias == second.bias


def test_the_order_of_examples_changes_nothing_but_rounding():
    X, y = normals()
    order = np.argsort(y, kind="stable")
    mixed = solve_rows(as_rows(X), y, np.ones(200), tolerance=1e-9)
    by_class = solve_rows(as_rows(X[order]), y[order], np.ones(200), tolerance=1e-9)
    np.testing.assert_allclose(by_class.weights, mixed.weights, atol=1e-7)


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
def test_a_start_elsewhere_ends_at_the_same_optimum_in_fewer_passes(factor):
    X, y = documents()
    rows = as_rows(X)
    start = solve_rows(rows, y, np.ones(400))
    kept = start.alpha.copy()
    upper = np.full(400, factor)
    upper[::50] = 0.0
    cold = solve_rows(rows, y, upper, tolerance=1e-8)
    warm = solve_rows(rows, y, upper, tolerance=1e-8, start=start)
    np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-6)
    np.testing.assert_array_equal(start.alpha, kept)
    if factor == 1.0:
        assert warm.passes < cold.passes


def test_an_optimum_as_a_start_is_returned_at_once():
    X, y = documents()
    start = solve_rows(as_rows(X), y, np.ones(400))
    assert solve_rows(as_rows(X), y, np.ones(400), start=start).passes == 0


def test_out_of_passes_it_tells_the_gap_as_it_is():
    X, y = normals(noise=3.0)
    solution = solve_rows(as_rows(100.0 * X), y, np.full(200, 1e4), max_passes=20)
    v = y - 100.0 * X @ solution.weights
    rise = np.where(y > 0, solution.alpha < 1e4, solution.alpha > 0)
    fall = np.where(y > 0, solution.alpha > 0, solution.alpha < 1e4)
    assert solution.gap == pytest.approx(v[rise].max() - v[fall].min())
    assert solution.gap > 1e-6
    assert solution.passes < 400


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 6))
def test_small_problems_of_any_kind_are_solved(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = rng.choice([-1.0, 1.0], n)
    upper = rng.choice([0.0, 0.1, 1.0, 2.0], n)
    solution = solve_rows(as_rows(X), y, upper)
    assert solution.gap <= 1e-6
    assert_optimal(X, solution, 1e-6)


@pytest.mark.data
def test_reuters_is_solved_to_nine_digits():
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("the Reuters corpus stands outside of the project, in TRUERISK_DATA")
    path = Path(folder) / "text" / "reuters21578_modapte.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines][:3000]
    from sklearn.feature_extraction.text import TfidfVectorizer

    X = TfidfVectorizer(min_df=3).fit_transform([entry["text"] for entry in corpus])
    for category in ("earn", "grain"):
        y = np.where([category in entry["labels"] for entry in corpus], 1.0, -1.0)
        solution = solve_rows(as_rows(X), y, np.full(len(y), 1.0), tolerance=1e-9)
        assert solution.gap <= 1e-9
        assert_optimal(X, solution, 1e-9)


# --- near the margin


def begin(active=None, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 40))
    y, upper = np.where(X[:, 0] > 0, 1.0, -1.0), np.full(60, 1.0)
    alpha, weights = np.zeros(60), np.zeros(40)
    active = np.arange(60) if active is None else active
    return X, Neighbourhood(as_rows(X), y, upper, alpha, weights, 0.0, active)


def excess_of(X, near):
    return near.y * (X @ near.weights + near.bias) - 1.0


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_those_that_are_kept_end_at_their_optimum_and_the_others_stay(share):
    active = np.arange(int(60 * share))
    X, near = begin(active)
    near.improve(1e-7, sweeps=2, max_passes=2000)
    np.testing.assert_allclose(near.weights, (near.y * near.alpha) @ X, atol=1e-10)
    assert np.all(near.alpha[len(active) :] == 0.0)
    assert near.y @ near.alpha == pytest.approx(0.0, abs=1e-6)
    assert set(np.flatnonzero((near.alpha > 0.0) & (near.alpha < 1.0))) <= set(near.order)
    beyond, alpha = excess_of(X, near)[near.order], near.alpha[near.order]
    assert np.all(beyond[alpha < 1.0] >= -1e-6)
    assert np.all(beyond[alpha > 0.0] <= 1e-6)


def test_patience_drops_nobody_and_ends_at_the_optimum_of_all():
    X, near = begin()
    near.be_patient(1e-7, max_passes=5000)
    assert near.passes < 5000
    assert len(near.order) == 60
    assert np.all(excess_of(X, near)[near.alpha < 1.0] >= -1e-6)
    assert np.all(excess_of(X, near)[near.alpha > 0.0] <= 1e-6)


def test_patience_has_an_end():
    _, near = begin()
    near.be_patient(0.0, max_passes=7)
    assert near.passes == 7


def test_no_cautious_step_of_newton_raises_the_lagrangian():
    X, near = begin(seed=3)
    near.cautious = True

    def lagrangian():
        alpha, s = near.alpha, near.y @ near.alpha
        w = (near.y * alpha) @ X
        return w @ w / 2 - alpha.sum() + bias * s + near.penalty * s * s / 2

    for _ in range(5):
        near.sweep()
        bias = near.bias
        before = lagrangian()
        near.newton(1e-9)
        assert lagrangian() <= before + 1e-9


def test_a_step_that_meets_no_bound_restores_the_balance():
    X, near = begin()
    near.improve(1e-6, sweeps=2, max_passes=2000)
    at = np.flatnonzero((near.alpha > 0.1) & (near.alpha < 0.9))[0]
    near.alpha[at] += near.y[at] * 1e-4
    near.weights += 1e-4 * X[at]
    near.balance += 1e-4
    near.newton(1e-9)
    assert near.balance == pytest.approx(0.0, abs=1e-9)
    assert near.y @ near.alpha == pytest.approx(0.0, abs=1e-8)


def test_with_one_free_example_there_is_no_step():
    _, near = begin(np.array([5]))
    near.sweep()
    assert not near.newton(1e-6)


@pytest.mark.parametrize("block", [1, 4, 100])
def test_mixing_keeps_blocks_together_and_loses_nobody(block):
    which = 3 * np.arange(50)
    order = mixed(which, block=block)
    np.testing.assert_array_equal(np.sort(order), which)
    np.testing.assert_array_equal(order, mixed(which, block=block))
    if block == 1:
        assert np.any(order != which)
    follows = np.flatnonzero(which[order // 3] % (3 * block))
    np.testing.assert_array_equal(order[follows], order[follows - 1] + 3)


# --- Newton's step

WIDE = 1e6


def room(n, size=WIDE):
    return np.full(n, -size), np.full(n, size)


@pytest.fixture
def free_examples():
    rng = np.random.default_rng(5)
    return rng.standard_normal((12, 30)), rng.standard_normal(12)


@pytest.mark.parametrize("total", [0.0, 0.7])
def test_it_solves_the_bordered_system(free_examples, total):
    X, residual = free_examples
    step, bias, steps = newton_step(
        as_rows(X), residual, room(12), total, accuracy=1e-12, max_steps=100
    )
    system = np.block([[X @ X.T, np.ones((12, 1))], [np.ones((1, 12)), 0.0]])
    expected = np.linalg.solve(system, np.append(residual, total))
    np.testing.assert_allclose(step, expected[:-1], atol=1e-10)
    assert bias == pytest.approx(expected[-1], abs=1e-10)
    assert step.sum() == pytest.approx(total, abs=1e-12)
    assert steps < 20


def test_the_accuracy_is_that_of_every_residual(free_examples):
    X, residual = free_examples
    step, bias, _ = newton_step(as_rows(X), residual, room(12), 0.0, accuracy=0.05, max_steps=100)
    left = residual - X @ (step @ X) - bias
    assert 1e-6 < np.abs(left).max() <= 0.05 + 1e-12


def test_it_stops_at_the_number_of_steps(free_examples):
    X, residual = free_examples
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


def test_a_rounding_error_off_a_bound_is_not_free():
    assert clearly_free(np.array([1e-9, 0.5]), np.ones(2)).tolist() == [False, True]


def test_a_step_ends_at_the_first_bound():
    step = up_to_a_bound(np.array([4.0, -2.0]), np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    assert step.tolist() == [1.0, -0.5]
