"""The linear machine: optimality first, libsvm second, and every odd problem."""

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

from truerisk.svm.solvers.linear_dual import judge, solve_rows
from truerisk.svm.solvers.rows import as_rows


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


def test_the_judge_by_hand_and_uncompiled():
    y, upper = np.array([1.0, 1.0, -1.0, -1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    alpha, products = np.array([0.0, 0.5, 1.0, 0.25, 0.0]), np.array([3.0, 0.0, 0.5, -2.5, 9.0])
    # v = −2, 1, −1.5 and 1.5: the first and the third may only rise, the other two move both ways
    expected = (1.5, 1.0, 2, 2.5)
    assert judge(y, upper, alpha, products) == expected
    assert judge.py_func(y, upper, alpha, products) == expected


@pytest.mark.data
def test_reuters_is_solved_to_nine_digits():
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("the Reuters corpus stands outside of the project, in TRUERISK_DATA")
    path = Path(folder) / "text" / "reuters21578_modapte.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines][:3000]
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    X = TfidfVectorizer(min_df=3).fit_transform([entry["text"] for entry in corpus])
    for category in ("earn", "grain"):
        y = np.where([category in entry["labels"] for entry in corpus], 1.0, -1.0)
        solution = solve_rows(as_rows(X), y, np.full(len(y), 1.0), tolerance=1e-9)
        assert solution.gap <= 1e-9
        assert_optimal(X, solution, 1e-9)
