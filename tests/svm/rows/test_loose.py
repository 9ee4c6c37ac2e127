"""The loose solver: its certificate on every odd problem, libsvm's objective, the best bias."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from truerisk.svm.linear import LinearSVM
from truerisk.svm.problems import DenseProblem, Effort, SparseProblem
from truerisk.svm.rows.dual import State, solve_rows
from truerisk.svm.rows.loose import approach_rows, best_bias, seen_by_all
from truerisk.svm.rows.matrix import as_rows, table_rows


def cases():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 15))
    y = np.where(X[:, 0] + rng.standard_normal(200) > 0, 1.0, -1.0)
    one = np.full(200, -1.0)
    one[7] = 1.0
    words = np.abs(rng.standard_normal((300, 400))) * (rng.random((300, 400)) < 0.1)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    topic = np.where(words[:, ::7].sum(axis=1) > 0.6, 1.0, -1.0)
    return {
        "normals": (X, y, np.full(200, 0.1)),
        "large C": (X, y, np.full(200, 10.0)),
        "off the origin": (X + 3.0, y, np.full(200, 0.1)),
        "documents": (words, topic, np.full(300, 1.0)),
        "documents, separable": (words, topic, np.full(300, 100.0)),
        "noise": (X, rng.choice([-1.0, 1.0], 200), np.full(200, 0.3)),
        "one against all": (X, one, np.full(200, 0.5)),
        "one of each": (X[:2], np.array([1.0, -1.0]), np.full(2, 100.0)),
        "zeros": (np.zeros((10, 3)), np.repeat([1.0, -1.0], 5), np.full(10, 1.0)),
        "weights far apart": (X, y, rng.choice([0.0, 1e-3, 1.0, 100.0], 200)),
    }


CASES = cases()


def objective(X, y, upper, weights, bias):
    return weights @ weights / 2 + upper @ np.maximum(0.0, 1.0 - y * (X @ weights + bias))


@pytest.mark.parametrize("part", [1e-2, 1e-3])
@pytest.mark.parametrize("name", CASES)
def test_the_objective_is_within_its_part_of_the_optimum(name, part):
    X, y, upper = CASES[name]
    solution = SparseProblem(X, as_rows(X)).solve(y, upper, Effort(tolerance=part))
    exact = solve_rows(as_rows(X), y, upper, tolerance=1e-9)
    reached = objective(X, y, upper, solution.weights, solution.bias)
    assert reached <= (1.0 + part) * objective(X, y, upper, exact.weights, exact.bias)
    assert solution.is_within(part)
    assert np.all((solution.alpha >= 0.0) & (solution.alpha <= upper))
    assert abs(y @ solution.alpha) <= 1e-9 * upper.sum()
    np.testing.assert_allclose(solution.weights, (y * solution.alpha) @ X, atol=1e-9)
    np.testing.assert_allclose(solution.decision, X @ solution.weights + solution.bias, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_table_ends_there_too_by_sweeps_or_by_the_interior_point(name):
    X, y, upper = CASES[name]
    solution = DenseProblem(X).solve(y, upper, Effort(tolerance=1e-3))
    exact = DenseProblem(X).solve(y, upper, Effort())
    reached = objective(X, y, upper, solution.weights, solution.bias)
    assert reached <= 1.001 * objective(X, y, upper, exact.weights, exact.bias)


def test_the_gap_of_the_objective_by_hand():
    # At x = −1 and 1 with α = ¼ each: w = ½, b = 0, ξ = ½, C = 1; the optimum has w = 1
    # P = ¼·½ + 2·½ = 9/8 and D = ½ − ⅛ = 3/8
    table = table_rows(np.array([[-1.0], [1.0]]))
    start = solve_rows(table, np.array([-1.0, 1.0]), np.full(2, 0.25))
    state = State(table, start.y, np.ones(2), replace(start, upper=np.ones(2)))
    state.look()
    assert seen_by_all(state).objective_gap == pytest.approx(2 / 3)


def test_libsvm_reaches_no_smaller_objective():
    X, y, upper = CASES["normals"]
    theirs = SVC(kernel="linear", C=0.1, tol=1e-8).fit(X, y)
    least = objective(X, y, upper, theirs.coef_[0], theirs.intercept_[0])
    ours = approach_rows(table_rows(X), y, upper, part=1e-3)
    assert least <= objective(X, y, upper, ours.weights, ours.bias) + 1e-9
    assert objective(X, y, upper, ours.weights, ours.bias) <= 1.001 * least


def test_it_costs_fewer_passes_than_the_optimum():
    X, y, upper = CASES["documents"]
    loose_one = approach_rows(as_rows(X), y, upper, part=1e-2)
    assert loose_one.passes < solve_rows(as_rows(X), y, upper).passes


def test_a_start_is_used_and_the_same_arguments_give_the_same_bits():
    X, y, upper = CASES["documents"]
    rows = as_rows(X)
    first, again = (approach_rows(rows, y, upper, part=1e-3) for _ in range(2))
    np.testing.assert_array_equal(first.alpha, again.alpha)
    assert approach_rows(rows, y, upper, part=1e-3, start=first).passes <= first.passes
    assert approach_rows(rows, y, 1.2 * upper, part=1e-3, start=first).objective_gap <= 1e-3


def test_limits_end_it():
    X, y, upper = CASES["large C"]
    assert approach_rows(table_rows(X), y, upper, part=1e-3, max_passes=1).objective_gap > 1e-3
    few = approach_rows(table_rows(X), y, upper, part=1e-3, max_visits=200)
    assert few.passes == 1


@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            arrays(float, n, elements=st.sampled_from([-2.0, -0.5, 0.0, 0.05, 0.3, 0.99, 1.0])),
            arrays(float, n, elements=st.sampled_from([-1.0, 1.0])),
            arrays(float, n, elements=st.sampled_from([0.0, 0.5, 2.0])),
        )
    ),
    st.sampled_from([-3.0, 0.0, 0.015, 0.5]),
)
def test_no_bias_has_less_loss_than_the_best(problem, guess):
    products, y, upper = problem
    counted = y[upper > 0.0]
    if len(np.unique(counted)) < 2:
        return

    def loss(bias):
        return upper @ np.maximum(0.0, 1.0 - y * (products + bias))

    found = loss(best_bias(y, upper, y - products, guess))
    assert found <= min(map(loss, y - products)) + 1e-12


def test_of_many_best_biases_it_is_the_middle_one():
    # Without w the loss is 2 for every bias from −1 to 1
    y = np.array([-1.0, 1.0])
    assert best_bias(y, np.ones(2), y, 0.3) == 0.0


def test_a_loose_fit_warns_of_nothing_and_calls_alike():
    X, y = make_classification(400, 300, n_informative=20, random_state=0)
    exact, quick = LinearSVM(C=0.01).fit(X, y), LinearSVM(C=0.01, tol=1e-3).fit(X, y)
    assert quick.solutions_[0].objective_gap <= 1e-3
    assert np.mean(exact.predict(X) == quick.predict(X)) > 0.97
