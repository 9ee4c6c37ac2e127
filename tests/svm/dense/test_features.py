import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.svm import SVC

from truerisk.svm.dense.features import pivoted_features, scale_columns, solve_features
from truerisk.svm.problems import DenseProblem, Effort

COSTS = (1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)
TABLES = ("banana", "flare_solar", "image", "ionosphere", "svmguide1", "titanic", "waveform")


def assert_optimal(solution, features):
    """Check the conditions of optimality afresh, with no number of the solution but α, w and b.

    α has the digits of float64, so that Σ yα and Σ yαx are known to the rounding of their terms.
    """
    y, upper, alpha, kept = solution.y, solution.upper, solution.alpha, solution.upper > 0.0
    assert np.all((alpha >= 0.0) & (alpha <= upper))
    assert abs(y @ alpha) <= 1e-12 * alpha.sum()
    centred = features - features[kept].mean(axis=0) if kept.any() else features
    terms = (alpha * y)[:, None] * centred
    lacking = np.abs(terms.sum(axis=0) - solution.weights)
    assert np.all(lacking <= 1e-11 * np.abs(terms).sum(axis=0))
    decision = features @ solution.weights + solution.bias
    rounding = 1e-15 * (np.abs(features) @ np.abs(solution.weights)).max()
    np.testing.assert_allclose(decision, solution.decision, atol=1e-9 + 100 * rounding)
    margin = y * solution.decision
    assert np.all(margin[kept & (alpha == 0.0)] >= 1.0 - 1e-7)
    assert np.all(margin[kept & (alpha == upper)] <= 1.0 + 1e-7)
    np.testing.assert_allclose(margin[solution.free], 1.0, atol=1e-7)
    assert solution.gap <= 1e-7


def objective(solution):
    return solution.weights @ solution.weights / 2 + solution.upper @ solution.slack


def bundled():
    X, y = load_breast_cancer(return_X_y=True)
    yield pytest.param(X, y == 1, id="breast cancer, unscaled")
    yield pytest.param((X - X.mean(axis=0)) / X.std(axis=0), y == 1, id="breast cancer")
    X, y = load_iris(return_X_y=True)
    yield pytest.param(X[y != 0], y[y != 0] == 1, id="iris, overlapping")
    yield pytest.param(X[y != 2], y[y != 2] == 1, id="iris, separable")
    X, y = load_wine(return_X_y=True)
    yield pytest.param(X, y == 1, id="wine, unscaled")
    X, y = load_digits(return_X_y=True)
    chosen = (y == 3) | (y == 8)  # with constant columns
    yield pytest.param(X[chosen], y[chosen] == 3, id="digits 3 and 8")


@pytest.mark.parametrize(("X", "positive"), list(bundled()))
def test_it_is_optimal_on_bundled_data_at_every_cost(X, positive):
    y = np.where(positive, 1.0, -1.0)
    for cost in COSTS:
        solution = solve_features(X, y, np.full(len(y), cost))
        assert_optimal(solution, X)
        assert solution.passes <= 60


@pytest.mark.parametrize(("X", "positive"), list(bundled()))
def test_libsvm_finds_no_lower_objective_and_the_same_decisions(X, positive):
    y = np.where(positive, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    ours = solve_features(X, y, 0.5 * weight)
    theirs = SVC(kernel="linear", C=0.5, tol=1e-8).fit(X, y, sample_weight=weight)
    decision = theirs.decision_function(X)
    slack = np.maximum(0.0, 1.0 - y * decision)
    reached = np.sum(theirs.coef_**2) / 2 + 0.5 * weight @ slack
    assert objective(ours) <= reached * (1 + 1e-12)
    np.testing.assert_allclose(ours.decision, decision, atol=1e-5)


@st.composite
def problems(draw):
    """Tables in all units, of all ranks, on lattices and with outliers; bounds of 0 among them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 120)), draw(st.integers(1, 25))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["normal", "lattice", "units", "equal columns", "far", "heavy"]))
    if kind == "lattice":
        X = np.round(X)
    elif kind == "units":
        X *= 10.0 ** rng.integers(-6, 7, size=d)
    elif kind == "equal columns":
        X = np.column_stack([X, X, 1e3 * X[:, :1], np.full(n, 7.0)])
    elif kind == "far":
        X += 1e6
    elif kind == "heavy":
        X = np.exp(3 * X)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if draw(st.booleans()):
        y = np.where(X[:, 0] + 0.5 * X[:, 0].std() * rng.normal(size=n) > X[:, 0].mean(), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    upper = draw(st.sampled_from(COSTS)) * draw(
        st.sampled_from([np.ones(n), rng.gamma(1.0, size=n), rng.poisson(1.0, n).astype(float)])
    )
    return X, y, upper


@settings(max_examples=150)
@given(problem=problems())
def test_it_is_optimal_on_any_table(problem):
    X, y, upper = problem
    # As it is used: where rounding keeps it from the optimum, which it says, the Gram matrix helps.
    assert_optimal(DenseProblem(X).solve(y, upper, Effort()), X)


@settings(max_examples=30)
@given(problem=problems(), seed=st.integers(0, 1000))
def test_order_and_place_of_the_examples_do_not_matter(problem, seed):
    X, y, upper = problem
    order = np.random.default_rng(seed).permutation(len(y))
    here = solve_features(X, y, upper)
    there = solve_features((X + X[0])[order], y[order], upper[order])
    # A margin of 1 is known to its rounding, and each unit of slack costs U.
    assert objective(there) == pytest.approx(objective(here), rel=1e-6, abs=1e-14 * upper.sum())


@settings(max_examples=100)
@given(problem=problems(), factor=st.sampled_from([-1.0, 0.5, 1.0, 5.0, 1e8]))
def test_a_start_changes_the_way_and_not_the_end(problem, factor):
    X, y, upper = problem
    alone = solve_features(X, y, upper)
    start = replace(alone, weights=factor * alone.weights, bias=factor * alone.bias)
    found = solve_features(X, y, upper, start=start)
    assert_optimal(found, X)
    rounding = 1e-14 * upper.sum()
    assert objective(found) == pytest.approx(objective(alone), rel=1e-6, abs=rounding)


def test_a_start_saves_steps_unless_it_is_worse_than_none():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 8))
    y = np.where(X[:, 0] + rng.normal(size=2000) > 0, 1.0, -1.0)
    some = np.where(np.arange(2000) < 200, 0.0, 1.0)
    start, alone = solve_features(X, y, some), solve_features(X, y, np.ones(2000))
    found = solve_features(X, y, np.ones(2000), start=start)
    np.testing.assert_allclose(found.alpha, alone.alpha, atol=1e-9)
    np.testing.assert_allclose(found.decision, alone.decision, atol=1e-9)
    assert found.passes <= alone.passes - 2
    others = replace(start, weights=-start.weights)
    assert solve_features(X, y, np.ones(2000), start=others).passes == alone.passes


@settings(max_examples=30)
@given(problem=problems())
def test_what_is_left_out_does_not_count_but_is_decided(problem):
    X, y, upper = problem
    whole = solve_features(X, y, upper)
    kept = upper > 0.0
    part = solve_features(X[kept], y[kept], upper[kept])
    np.testing.assert_array_equal(whole.alpha[~kept], 0.0)
    np.testing.assert_allclose(whole.weights, part.weights, rtol=1e-9)
    np.testing.assert_allclose(whole.decision[kept], part.decision, rtol=1e-9, atol=1e-9)


def test_units_of_all_columns_trade_with_the_bound():
    # x → 1000 x, U → U / 1000²: the same SVM in other units, w → w / 1000.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    small = solve_features(X, y, np.full(60, 2.0))
    large = solve_features(1e3 * X, y, np.full(60, 2e-6))
    np.testing.assert_allclose(large.weights, small.weights / 1e3, rtol=1e-9)
    np.testing.assert_allclose(large.decision, small.decision, rtol=1e-9)


def test_a_column_in_large_units_is_cheap():
    # The weights are what w·w counts in the units given: x₂ = 1000 x₁ takes the whole of it.
    x = np.array([-3.0, -1.0, 1.0, 4.0])
    solution = solve_features(
        np.column_stack([x, 1e3 * x]), np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4)
    )
    # Σ wx = 1 at x = 1 with w₁ : w₂ = 1 : 1000.
    np.testing.assert_allclose(solution.weights, np.array([1.0, 1e3]) / (1 + 1e6), rtol=1e-12)


def test_doubling_an_example_is_doubling_its_bound():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3))
    y = np.where(X[:, 1] + rng.normal(size=50) > 0, 1.0, -1.0)
    once = solve_features(X, y, np.where(np.arange(50) < 20, 2.0, 1.0))
    twice = solve_features(np.vstack([X, X[:20]]), np.append(y, y[:20]), np.ones(70))
    np.testing.assert_allclose(twice.weights, once.weights, rtol=1e-9)
    np.testing.assert_allclose(twice.alpha[:20] + twice.alpha[50:], once.alpha[:20], atol=1e-9)


def test_constant_columns_have_no_weight():
    X = np.column_stack([np.full(6, 0.1), [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]])
    solution = solve_features(X, np.sign(X[:, 1]), np.ones(6))
    np.testing.assert_allclose(solution.weights, [0.0, 1.0], rtol=1e-12)
    only = solve_features(X[:, :1], np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0]), np.ones(6))
    assert_optimal(only, X[:, :1])
    np.testing.assert_array_equal(only.decision, 1.0)


@pytest.mark.parametrize(("kept", "bias"), [([1.0, 0.0, 2.0], 1.0), ([0.0, 3.0, 0.0], -1.0)])
def test_one_class_is_always_said(kept, bias):
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([1.0, -1.0, 1.0])
    solution = solve_features(X, y, np.array(kept))
    np.testing.assert_array_equal(solution.decision, bias)
    assert (solution.bias, solution.gap, solution.weights.tolist()) == (bias, 0.0, [0.0])


def test_with_nobody_kept_nothing_is_said():
    solution = solve_features(np.ones((2, 1)), np.array([1.0, -1.0]), np.zeros(2))
    np.testing.assert_array_equal(solution.decision, 0.0)


def test_a_machine_with_all_alpha_at_their_bounds_is_unstable():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    solution = solve_features(X, y, np.full(2, 0.01))
    assert not solution.stable
    assert (solution.weights[0], solution.bias) == (pytest.approx(0.02), pytest.approx(0.0))


def test_a_cap_too_low_is_told_by_the_gap(monkeypatch):
    monkeypatch.setattr("truerisk.svm.dense.features.MANY_ROUNDS", 2)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 5))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    solution = solve_features(X, y, np.ones(300), max_passes=1)
    assert solution.passes == 1
    assert solution.gap > 1e-3
    assert abs(y @ solution.alpha) < 1e-9


def test_the_table_is_left_as_it_was():
    rng = np.random.default_rng(4)
    X, y, upper = rng.normal(size=(40, 3)), np.where(np.arange(40) % 2, 1.0, -1.0), np.ones(40)
    before = X.copy(), y.copy(), upper.copy()
    solve_features(X, y, upper)
    for now, then in zip((X, y, upper), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_two_hundred_thousand_examples():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200_000, 20))
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=len(X)) > 0, 1.0, -1.0)
    solution = solve_features(X, y, np.ones(len(X)))
    assert_optimal(solution, X)
    assert solution.free.sum() <= 21


def table(name):
    folder = os.environ.get("TRUERISK_DATA")
    path = Path(folder or "", "tabular", f"{name}.csv.gz")
    if folder is None or not path.exists():
        pytest.skip(f"{name}.csv.gz stands in the folder named by TRUERISK_DATA")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        values = np.loadtxt(file, delimiter=",", skiprows=1)
    return values[:, :-1], np.where(values[:, -1] > 0, 1.0, -1.0)


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_it_is_optimal_on_real_tables_at_every_cost(name):
    X, y = table(name)
    weight = np.random.default_rng(0).poisson(1.0, len(y))
    for cost in COSTS:
        assert_optimal(solve_features(X, y, np.full(len(y), cost)), X)
        assert_optimal(solve_features(X, y, cost * weight), X)


def test_a_polynomial_kernel_is_a_table():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 2))
    gram = (1.0 + X @ X.T) ** 3
    features = pivoted_features(gram, 20)
    assert features.shape == (80, 10)  # the monomials of two letters up to the third degree
    np.testing.assert_allclose(features @ features.T, gram, atol=1e-12 * gram.max())
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
    ours = solve_features(features, y, np.full(80, 0.1))
    theirs = SVC(kernel="precomputed", C=0.1, tol=1e-8).fit(gram, y)
    np.testing.assert_allclose(ours.decision, theirs.decision_function(gram), atol=1e-5)


def test_columns_are_centred_and_scaled_by_the_training_rows():
    table = np.empty((3, 2))
    scaled = scale_columns(np.array([[1.0, 5.0], [5.0, 5.0], [7.0, 6.0]]), table, np.array([0, 1]))
    assert scaled.scale.tolist() == [2.0, np.inf]
    assert table.tolist() == [[-1.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
