"""Leave-one-out on a Gram matrix: the same errors as fitting again and again."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.svm import SVC

from truerisk.svm.gram import leave_out
from truerisk.svm.gram.dual import solve_gram, solve_with_path
from truerisk.svm.gram.leave_out import (
    Ground,
    Tableau,
    exact_start,
    follow_all,
    follow_on_tableau,
    leave_out_of,
    refitted_margin,
)
from truerisk.svm.gram.path import (
    ARRIVED,
    RESIDUAL,
    RIGHT,
    SIDE,
    Z,
    empty_path,
    fill_block,
    members_of,
)

TIE = 1e-6  # libsvm keeps K in single precision


def standardised(X):
    X = X[:, X.std(axis=0) > 0.0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def kernel(X, kind):
    if kind == "linear":
        return X @ X.T
    if kind == "cubic":
        return (X @ X.T / X.shape[1] + 1.0) ** 3
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / X.shape[1])


def radius(gram):
    return float(np.diagonal(gram).max() - gram.min())


def by_libsvm(gram, y, upper):
    margins = np.empty(len(y))
    for t in range(len(y)):
        kept = np.flatnonzero(np.arange(len(y)) != t)
        SVM = SVC(kernel="precomputed", C=1.0, tol=1e-8)
        SVM.fit(gram[np.ix_(kept, kept)], y[kept], sample_weight=upper[kept])
        margins[t] = y[t] * SVM.decision_function(gram[t : t + 1, kept])[0]
    return margins


def data_set(name):
    rng = np.random.default_rng(7)
    if name == "breast cancer":
        bundled = load_breast_cancer()
        return standardised(bundled.data[:150]), np.where(bundled.target[:150] == 1, 1.0, -1.0)
    if name == "iris":
        iris = load_iris()
        used = iris.target > 0
        return standardised(iris.data[used]), np.where(iris.target[used] == 1, 1.0, -1.0)
    if name == "noise":
        return rng.standard_normal((80, 6)), np.where(rng.random(80) < 0.5, 1.0, -1.0)
    X = rng.integers(-2, 3, (80, 2)) / 2.0
    return X, np.where((X.sum(axis=1) > 0) ^ (rng.random(80) < 0.1), 1.0, -1.0)


CONFIGURATIONS = [
    ("breast cancer", "linear", 0.01),
    ("breast cancer", "cubic", 1.0),
    ("breast cancer", "RBF", 100.0),
    ("iris", "linear", 1.0),
    ("iris", "cubic", 0.1),
    ("iris", "RBF", 1.0),
    ("noise", "linear", 0.001),
    ("noise", "cubic", 1.0),
    ("noise", "RBF", 1.0),
    ("lattice", "linear", 0.3),
    ("lattice", "cubic", 0.1),
    ("lattice", "RBF", 10.0),
]


@pytest.mark.parametrize(("name", "kind", "cost"), CONFIGURATIONS)
def test_the_errors_are_those_of_libsvm_and_at_risk(name, kind, cost):
    X, y = data_set(name)
    gram = kernel(X, kind)
    solution = solve_gram(gram, y, np.full(len(y), cost))
    which = np.arange(len(y))
    margins = leave_out_of(gram, solution, which, squared_radius=radius(gram)).margins
    theirs = by_libsvm(gram, y, solution.upper)
    clear = np.abs(theirs) > TIE
    np.testing.assert_array_equal((margins < 0.0)[clear], (theirs < 0.0)[clear])
    risky = 2.0 * solution.alpha * radius(gram) + solution.slack >= 1.0 - 1e-9
    assert solution.stable
    assert np.all(risky[clear & (margins < 0.0)])


# The free have just enough room, but for rounding.
@example(seed=0, kind="RBF", cost=0.01, is_weighted=False)
# The bias jumps at once, past a margin of 0.
@example(seed=14558, kind="linear", cost=0.01, is_weighted=False)
@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["linear", "RBF"]),
    cost=st.sampled_from([0.01, 0.3, 3.0, 100.0]),
    is_weighted=st.booleans(),
)
def test_every_sign_is_that_of_a_fit_from_scratch(seed, kind, cost, is_weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    X = rng.standard_normal((n, 2)) if seed % 2 else rng.integers(-2, 3, (n, 2)).astype(float)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    upper = cost * (rng.exponential(size=n) if is_weighted else np.ones(n))
    gram = kernel(X, kind)
    solution = solve_gram(gram, y, upper)
    margins = leave_out_of(gram, solution, np.arange(n), squared_radius=radius(gram)).margins
    for t in range(n):
        smaller = upper.copy()
        smaller[t] = 0.0
        without = solve_gram(gram, y, smaller, tolerance=1e-9)
        exact = y[t] * without.decision[t]
        if abs(exact) > 1e-7:
            assert np.sign(margins[t]) == np.sign(exact)
        else:
            assert abs(margins[t]) < 1e-6


def test_ties_are_exactly_0():
    x = np.array([-2.0, -1.0, 1.0, 3.0])
    gram, y = np.outer(x, x), np.array([-1.0, -1.0, 1.0, 1.0])
    solution = solve_gram(gram, y, np.full(4, 10.0))
    margins = leave_out_of(gram, solution, np.arange(4), squared_radius=np.inf).margins
    # −1 and 3 are equally far from 1; −2 and 1 leave −1 on its side by a third
    assert margins[2] == 0.0
    assert margins[1] == pytest.approx(1 / 3)


def test_examples_of_one_class_alone_are_errors():
    gram, y = np.eye(4), np.array([1.0, -1.0, -1.0, -1.0])
    solution = solve_gram(gram, y, np.ones(4))
    margins = leave_out_of(gram, solution, np.arange(4), squared_radius=1.0).margins
    assert margins[0] == -1.0
    assert np.all(margins[1:] > 0.0)


def test_who_was_left_out_before_keeps_the_margin_it_has():
    X, y = data_set("noise")
    upper = np.ones(80)
    upper[:5] = 0.0
    solution = solve_gram(kernel(X, "RBF"), y, upper)
    margins = leave_out_of(kernel(X, "RBF"), solution, np.arange(5), squared_radius=1.0).margins
    np.testing.assert_allclose(margins, (y * solution.decision)[:5])


def test_an_unstable_machine_is_left_with_the_middle_of_its_biases():
    # n₊ = n₋ and a small C: everybody is at the bound, and the bias jumps when one leaves
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 4))
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    gram = kernel(X, "RBF")
    solution = solve_gram(gram, y, np.full(30, 0.001))
    assert not solution.stable
    margins = leave_out_of(gram, solution, np.arange(30), squared_radius=radius(gram)).margins
    theirs = by_libsvm(gram, y, solution.upper)
    np.testing.assert_array_equal(margins < 0.0, theirs < 0.0)


def test_threads_change_nothing():
    X, y = data_set("noise")
    gram = kernel(X, "RBF")
    solution = solve_gram(gram, y, np.ones(80))
    which = np.arange(0, 80, 2)
    found = [
        leave_out_of(gram, solution, which, squared_radius=1.0, workers=workers).margins
        for workers in (1, 3)
    ]
    np.testing.assert_array_equal(*found)
    everyone = leave_out_of(gram, solution, np.arange(80), squared_radius=1.0).margins
    np.testing.assert_array_equal(found[0], everyone[which])


def test_nobody_is_asked_for():
    gram, y = np.eye(2), np.array([1.0, -1.0])
    solution = solve_gram(gram, y, np.ones(2))
    assert len(leave_out_of(gram, solution, np.array([]), squared_radius=1.0).margins) == 0


def test_without_any_path_the_machine_is_fitted_anew(monkeypatch):
    X, y = data_set("lattice")
    gram = kernel(X, "cubic")
    solution = solve_gram(gram, y, np.ones(80))
    which = np.arange(0, 80, 4)
    by_path = leave_out_of(gram, solution, which, squared_radius=radius(gram)).margins
    monkeypatch.setattr(leave_out, "PATH_EVENTS", 0)
    monkeypatch.setattr(leave_out, "exact_start", lambda *_: None)
    anew = leave_out_of(gram, solution, which, squared_radius=radius(gram)).margins
    np.testing.assert_array_equal(np.sign(by_path), np.sign(anew))
    assert anew[3] == pytest.approx(refitted_margin(gram, solution, 12))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "kind", "cost"), [("sonar", "RBF", 10.0), ("wdbc", "linear", 1.0)]
)
def test_the_errors_on_real_data_are_those_of_libsvm(name, kind, cost):
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("TRUERISK_DATA names no folder with the tabular files")
    table = pd.read_csv(Path(folder) / "tabular" / f"{name}.csv.gz").iloc[:120]
    X = standardised(table.drop(columns="target").to_numpy(np.float64))
    y = np.where(table.target == 1, 1.0, -1.0)
    if len(np.unique(y)) < 2:
        y[::3] = -y[0]
    gram = kernel(X, kind)
    solution = solve_gram(gram, y, np.full(len(y), cost))
    margins = leave_out_of(gram, solution, np.arange(len(y)), squared_radius=radius(gram)).margins
    theirs = by_libsvm(gram, y, solution.upper)
    clear = np.abs(theirs) > TIE
    np.testing.assert_array_equal((margins < 0.0)[clear], (theirs < 0.0)[clear])


def test_labels_may_be_a_column_of_a_table():
    X, y = data_set("noise")
    gram, table = kernel(X, "RBF"), np.column_stack([y, -y])
    solution = solve_gram(gram, y, np.ones(80))
    column = replace(solution, y=table[:, 0])
    found = [
        leave_out_of(gram, one, np.arange(9), squared_radius=1.0).margins
        for one in (solution, column)
    ]
    np.testing.assert_array_equal(*found)


def test_the_tableau_by_hand():
    # K = 1 and two of three free: a unit of z₂ takes ½ off both and adds ½ to the bias; a unit of
    # the residual of 0 moves it up by ½ and 1 down by ½, and the bias up by ½.
    base = empty_path(np.eye(3), 4)
    fill_block(base.gram, np.arange(2), base.block, 0.0)
    tableau = Tableau(base)
    tableau.add(np.array([2]))
    tableau.add(np.array([0, 2]))
    np.testing.assert_allclose(tableau.effects[tableau.place[2]], [-0.5, -0.5, 1.5])
    np.testing.assert_allclose(tableau.effects[tableau.place[0]], [0.5, -0.5, 0.5])
    assert len(tableau.effects) == 2


@pytest.mark.parametrize("cost", [0.3, 3.0])
def test_a_path_that_led_straight_to_the_solution_is_a_start(cost, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((160, 4))
    y = np.where(X[:, 0] + rng.standard_normal(160) > 0.0, 1.0, -1.0)
    gram, everyone = kernel(X, "RBF"), np.arange(160)
    solution, path = solve_with_path(gram, y, np.full(160, cost))
    assert path is not None
    expected = leave_out_of(gram, solution, everyone, squared_radius=2.0).margins
    monkeypatch.setattr(leave_out, "start_of", None)  # nothing is solved once more
    found = leave_out_of(gram, solution, everyone, squared_radius=2.0, path=path).margins
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_path_whose_free_are_others_is_no_start():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0.0, 1.0, -1.0)
    gram = kernel(X, "RBF")
    _, path = solve_with_path(gram, y, np.full(60, 3.0))
    solution = solve_gram(gram, y, np.full(60, 0.3))
    base = exact_start(gram, solution, path)
    assert base is not path
    assert np.array_equal(np.sort(members_of(base.block)), np.flatnonzero(solution.free))


def test_an_inverse_that_was_updated_is_made_anew():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(60) > 0.0, 1.0, -1.0)
    base = exact_start(kernel(X, "RBF"), solve_gram(kernel(X, "RBF"), y, np.ones(60)))
    stale = base._replace(block=base.block._replace(inverse=base.block.inverse + 1e-3))
    m = base.block.members[0] + 1
    fresh = leave_out.renewed(stale)
    np.testing.assert_array_equal(fresh.block.members[:m], base.block.members[:m])
    np.testing.assert_allclose(fresh.block.inverse[:m, :m], base.block.inverse[:m, :m], atol=1e-10)
    # With equal examples there is no inverse to be made.
    both = stale._replace(gram=np.ones((60, 60)))
    assert leave_out.renewed(both) is both


@pytest.mark.parametrize(("kind", "cost"), [("linear", 10.0), ("RBF", 1.0), ("cubic", 0.1)])
def test_paths_on_the_tableau_end_where_those_on_the_inverse_do(kind, cost, monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((160, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(160) > 0.0, 1.0, -1.0)
    gram = kernel(X, kind)
    base = exact_start(gram, solve_gram(gram, y, np.full(160, cost)))
    which = np.flatnonzero(base.rows[Z] != 0.0)
    ground = Ground(np.diagonal(gram).copy(), 1e100, one_bound=True, tolerance=1e-9)
    monkeypatch.setattr(leave_out, "NEAR", 0.0)  # so that rows are added while paths are followed
    verdicts, margins, _ = follow_on_tableau(base, y, which, ground, 1)
    ended = verdicts <= RIGHT  # not where nobody is free for a while
    assert ended.mean() > 0.95
    others, expected = follow_all(base, y, which, ground, 1)
    np.testing.assert_array_equal(verdicts[ended], others[ended])
    ends = verdicts == ARRIVED
    assert 0 < ends.sum() < len(which)
    np.testing.assert_allclose(margins[ends], expected[ends], atol=1e-9)
    assert (base.rows[RESIDUAL][base.rows[SIDE] == 0.0] == 0.0).all()
