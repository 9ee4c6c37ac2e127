"""Three forms of one problem: the same optimum, the same examples left out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from truerisk.errors import ResourceError
from truerisk.svm import problems
from truerisk.svm.dense.features import solve_features
from truerisk.svm.example_forms import has_one_scale
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import Kernel
from truerisk.svm.problems import (
    DenseProblem,
    Effort,
    GramProblem,
    KernelProblem,
    SparseProblem,
    gram_problem,
    linear_problem,
)
from truerisk.svm.rows.matrix import as_rows


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = np.where(np.arange(60) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(60, 5)) + 0.8 * y[:, None]
    return X, y, rng.uniform(0.3, 2.0, 60)


def forms(X):
    return DenseProblem(X), SparseProblem(csr_matrix(X), as_rows(X)), GramProblem(X @ X.T)


def test_all_forms_have_one_optimum(data):
    X, y, upper = data
    first, *others = (form.solve(y, upper, Effort()) for form in forms(X))
    for solution in others:
        assert solution.gap <= 1e-6
        assert solution.decision == pytest.approx(first.decision, abs=1e-5)


def test_all_forms_leave_out_the_same(data):
    X, y, upper = data
    found = []
    for form in forms(X):
        solution = form.solve(y, upper, Effort())
        which = np.flatnonzero(solution.alpha > 0)
        margins = form.margins_without(solution, which)
        found.append(set(which[margins < 0].tolist()))
    assert found[0] == found[1] == found[2]


def test_many_svms_share_one_gram_matrix_where_it_fits(data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(problems, "MANY_EXAMPLES", 50)
    svm = KernelSVM(gamma=0.2)
    assert isinstance(svm.train(X, y), KernelProblem)
    decision = svm.decision_function(X)
    assert isinstance(svm.train(X, y, for_many=True), GramProblem)
    np.testing.assert_allclose(svm.decision_function(X), decision, atol=1e-5)
    monkeypatch.setattr(problems, "_free_memory", lambda: 1000)
    assert isinstance(svm.train(X, y, for_many=True), KernelProblem)
    assert all(form.for_many is form for form in forms(X))


def test_examples_far_from_the_origin_are_left_out_alike(data):
    X, y, upper = data
    found = []
    for moved in (X, X + 1e5):
        form = DenseProblem(moved)
        solution = form.solve(y, upper, Effort())
        which = np.flatnonzero(solution.slack > 1e-6)
        found.append(form.margins_without(solution, which) < 0)
    assert (found[0] == found[1]).all()


def test_along_the_costs_each_solution_is_that_of_its_cost(data):
    X, y, weights = data
    costs = [0.01, 0.3, 4.0]
    for form in forms(X):
        along = form.solve_along(y, weights, costs, Effort())
        for cost, solution in zip(costs, along, strict=True):
            alone = form.solve(y, cost * weights, Effort())
            assert solution.decision == pytest.approx(alone.decision, abs=1e-5)
            assert (solution.upper == cost * weights).all()


def test_a_start_spares_the_dense_form_the_examples_beyond_its_margin(monkeypatch):
    rng = np.random.default_rng(9)
    y = np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    form = DenseProblem(rng.normal(size=(400, 3)) + 1.2 * y[:, None])
    whole = form.solve(y, np.ones(400), Effort())
    upper = np.where(np.arange(400) < 40, 0.0, 1.0)
    alone = form.solve(y, upper, Effort())
    sizes = []

    def solved(X, *rest, start, **options):
        sizes.append((len(X), start))
        return solve_features(X, *rest, start=start, **options)

    monkeypatch.setattr(problems, "solve_features", solved)
    # Too many seem to lie beyond the margin of the second: they object, and are taken in.
    far = replace(whole, decision=1.35 * whole.decision)
    for start in (whole, far):
        found = form.solve(y, upper, Effort(), start)
        np.testing.assert_allclose(found.alpha, alone.alpha, atol=1e-9)
        np.testing.assert_allclose(found.decision, alone.decision, atol=1e-9)
        assert found.gap <= 1e-9
    assert max(n for n, _ in sizes) < 0.7 * 360
    assert len(sizes) > 2
    # The first start of each is the one given, the next one the solution of the round before.
    starts = [start for _, start in sizes]
    assert starts[0] is whole
    assert starts[1] is far
    assert all(len(start.y) < 360 for start in starts[2:])


@pytest.fixture
def sizes(monkeypatch):
    """Tell how many examples the dense solver is called with."""
    counts = []
    monkeypatch.setattr(
        problems,
        "solve_features",
        lambda X, *rest, **options: counts.append(len(X)) or solve_features(X, *rest, **options),
    )
    return counts


def overlapping(n=1500, seed=3):
    """Give classes that overlap, so that many α are at their bounds, and bounds that differ."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return rng.normal(size=(n, 4)) + 0.4 * y[:, None], y, rng.uniform(0.5, 2.0, n)


def test_examples_on_the_wrong_side_count_as_their_mean(sizes):
    X, y, bounds = overlapping()
    form = DenseProblem(X)
    whole = form.solve(y, bounds, Effort())
    upper = np.where(np.arange(1500) < 150, 0.0, bounds)
    alone = form.solve(y, upper, Effort())
    sizes.clear()
    pooled = form.solve(y, upper, Effort(), whole)
    np.testing.assert_allclose(pooled.alpha, alone.alpha, atol=1e-9)
    np.testing.assert_allclose(pooled.decision, alone.decision, atol=1e-9)
    np.testing.assert_allclose(pooled.weights, (y * pooled.alpha) @ X, atol=1e-8)
    at_bound = np.count_nonzero(alone.alpha >= upper) - 150
    assert max(sizes) < 1350 - 0.5 * at_bound
    assert at_bound > 500


@pytest.mark.parametrize("factor", [0.5, 1.5, -1.0])
def test_those_on_another_side_than_their_mean_are_taken_for_themselves(sizes, factor):
    X, y, upper = overlapping()
    form = DenseProblem(X)
    alone = form.solve(y, upper, Effort())
    sizes.clear()
    wrong = replace(alone, decision=factor * alone.decision)
    again = form.solve(y, upper, Effort(), wrong)
    np.testing.assert_allclose(again.alpha, alone.alpha, atol=1e-9)
    np.testing.assert_allclose(again.decision, alone.decision, atol=1e-9)
    assert len(sizes) > 1


@pytest.mark.parametrize("side", ["free or beyond", "at a bound"])
def test_a_few_on_another_side_are_found(sizes, side):
    X, y, bounds = overlapping()
    form = DenseProblem(X)
    whole = form.solve(y, bounds, Effort())
    upper = np.where(np.arange(1500) < 150, 0.0, bounds)
    alone = form.solve(y, upper, Effort())
    sizes.clear()
    few = 150 + np.flatnonzero((alone.alpha < upper)[150:] == (side == "free or beyond"))[::200]
    decision = alone.decision.copy()
    decision[few] = y[few] * (-2.0 if side == "free or beyond" else 4.0)
    again = form.solve(y, upper, Effort(), replace(whole, decision=decision))
    np.testing.assert_allclose(again.alpha, alone.alpha, atol=1e-9)
    np.testing.assert_allclose(again.decision, alone.decision, atol=1e-9)
    assert len(sizes) == 2
    assert max(sizes) < 1000


def test_the_fewer_are_left_out_the_fewer_are_near(sizes):
    X, y, _ = overlapping()
    form = DenseProblem(X)
    whole = form.solve(y, np.ones(1500), Effort())
    nearest = []
    for left_out in (5, 150, 500):
        upper = np.where(np.arange(1500) < left_out, 0.0, 1.0)
        alone = form.solve(y, upper, Effort())
        sizes.clear()
        again = form.solve(y, upper, Effort(), whole)
        np.testing.assert_allclose(again.decision, alone.decision, atol=1e-9)
        nearest.append(sizes[0])
    assert nearest[0] < nearest[1] < nearest[2]


def test_where_more_than_one_alpha_is_optimal_nobody_is_pooled(sizes):
    X, y, upper = overlapping()
    X, upper = np.round(X), np.ones(1500)
    form = DenseProblem(X)
    whole = form.solve(y, upper, Effort())
    assert np.count_nonzero(whole.free) > 5
    again = form.solve(y, upper, Effort(), whole)
    np.testing.assert_allclose(again.decision, whole.decision, atol=1e-9)
    assert sizes[-1] >= np.count_nonzero(whole.alpha)


def many(n=12_000):
    """Give examples of which a sample is solved first: two columns and a class hang on few."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 6))
    X[:, 4] = np.arange(n) % 1500 == 3
    X[:, 5] = np.where(np.arange(n) % 3000 == 7, 100.0, 0.0)
    direction = np.array([1.0, -0.5, 0.2, 0.0, 2.0, 0.01])
    y = np.where(X @ direction + 0.5 * rng.normal(size=n) > 2.2, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("cost", [1e-3, 1.0, 100.0])
def test_of_many_examples_a_sample_goes_first(sizes, cost, monkeypatch):
    X, y, bounds = many()
    upper = np.where(np.arange(len(y)) % 11 == 0, 0.0, cost * bounds)
    form = DenseProblem(X)
    found = form.solve(y, upper, Effort())
    assert max(sizes) < 0.5 * len(y)
    monkeypatch.setattr(problems, "SAMPLED", len(y) + 1)
    alone = form.solve(y, upper, Effort())
    assert sizes[-1] == len(y)
    np.testing.assert_allclose(found.alpha, alone.alpha, atol=1e-9 * cost)
    np.testing.assert_allclose(found.decision, alone.decision, atol=1e-8)
    np.testing.assert_array_equal(found.upper, upper)
    assert found.gap <= 1e-9


def test_all_that_a_column_hangs_on_are_in_the_sample(monkeypatch):
    X, y, upper = many()
    seen = []
    monkeypatch.setattr(
        problems,
        "solve_features",
        lambda *problem, **options: seen.append(problem) or solve_features(*problem, **options),
    )
    DenseProblem(X).solve(y, upper, Effort())
    table, labels, bounds = seen[0]
    assert 1200 < len(table) < 2000
    for column in (4, 5):
        rare = table[:, column] > 0
        assert np.count_nonzero(rare) == np.count_nonzero(X[:, column])
        # Each stands for itself; the others for all.
        assert set(bounds[rare]) == set(upper[X[:, column] > 0])
    assert bounds.sum() == pytest.approx(upper.sum(), rel=0.05)
    assert np.mean(labels > 0) > np.mean(y > 0)


def test_a_class_alone_and_columns_for_which_a_sample_is_no_small_part(sizes):
    X, y, upper = many()
    alone = np.where(y > 0, 0.0, upper)
    solution = DenseProblem(X).solve(y, alone, Effort())
    np.testing.assert_allclose(solution.decision, -1.0, atol=1e-9)
    sizes.clear()
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(len(y), 30))])
    DenseProblem(wide).solve(y, upper, Effort())
    assert sizes == [len(y)]


def test_leave_one_out_of_a_table_takes_its_gram_matrix_where_that_fits(data, monkeypatch):
    X, y, upper = data
    form = DenseProblem(X)
    solution = form.solve(y, upper, Effort())
    which = np.flatnonzero(solution.alpha > 0)
    found = form.margins_without(solution, which)
    monkeypatch.setattr(problems, "_free_memory", lambda: 1000)
    monkeypatch.setattr(problems, "leave_out_of", None)
    assert ((form.margins_without(solution, which) < 0.0) == (found < 0.0)).all()


def test_the_form_follows_the_number_of_features():
    assert isinstance(linear_problem(np.ones((3, 5))), DenseProblem)
    assert isinstance(linear_problem(csr_matrix(np.ones((3, 5)))), DenseProblem)
    assert isinstance(linear_problem(np.ones((3, 500))), SparseProblem)


def test_a_gram_matrix_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(problems, "_free_memory", lambda: 1_000_000)
    with pytest.raises(ResourceError, match=r"Gram matrix of 1000 examples .* Use LinearSVM"):
        gram_problem(Kernel("linear"), np.ones((1000, 2)))


def test_a_lattice_on_which_the_exact_finish_ends_beside_the_optimum_is_solved_all_the_same():
    # How many examples stand at each place, by label; found by chance among random tables.
    places = {(-4, -1): 1, (-1, -1): 11, (-1, 1): 5, (0, -1): 10, (0, 1): 19, (1, -1): 6}
    places |= {(1, 1): 6, (2, -1): 3, (2, 1): 1}
    table = np.repeat(list(places), list(places.values()), axis=0).astype(float)
    X, y = table[:, :1].copy(), table[:, 1].copy()
    upper = np.full(len(y), 1e6)
    found = DenseProblem(X).solve(y, upper, Effort())
    assert found.gap <= 1e-6
    loss = np.maximum(0.0, 1.0 - y * (X @ found.weights + found.bias)).sum()
    # By hand: f = (x + 1)/3 errs by 60 in all, as f = 2x/3 + 1/3 does, with a smaller w.
    assert loss == pytest.approx(60.0)
    np.testing.assert_allclose(found.weights, [1 / 3], rtol=1e-6)
    np.testing.assert_allclose(found.decision, X @ found.weights + found.bias, atol=1e-9)


def test_features_of_very_different_reach_have_no_one_scale():
    assert has_one_scale(np.array([[0.0, 5.0, 0.0], [1.0, 5.0, 900.0]]))
    assert not has_one_scale(np.array([[0.0, 0.0], [1.0, 1e6]]))


@pytest.mark.parametrize("cost", [0.5, 20.0])
def test_long_rows_are_left_out_on_their_gram_matrix_and_alike(monkeypatch, cost):
    rng = np.random.default_rng(6)
    words = rng.poisson(0.8, (80, 300)).astype(np.float64)
    y = np.where(words[:, :40].sum(axis=1) + 6 * rng.standard_normal(80) > 32, 1.0, -1.0)
    X = csr_matrix(words / np.linalg.norm(words, axis=1)[:, None])
    long_, short = linear_problem(X), linear_problem(X)
    assert isinstance(long_, SparseProblem)
    assert long_.has_long_rows
    solution = long_.solve(y, np.full(80, cost), Effort())
    which = np.flatnonzero(solution.alpha > 0)
    found = long_.margins_without(solution, which)
    monkeypatch.setattr(problems, "LONG", 1000)
    assert not short.has_long_rows
    expected = short.margins_without(solution, which)
    assert np.array_equal(found < 0, expected < 0)
    assert {True, False} == set((found < 0).tolist())


def test_columns_of_many_scales_are_not_multiplied():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((20, 250))
    X[:, 0] *= 1e6
    assert not linear_problem(csr_matrix(X)).has_long_rows


def test_the_tableau_of_leaving_out_is_that_of_the_solution_only():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 5))
    y = np.where(X[:, 0] + rng.standard_normal(40) > 0, 1.0, -1.0)
    problem = GramProblem(np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 5))
    solution, other = (problem.solve(y, np.full(40, cost), Effort()) for cost in (1.0, 2.0))
    assert problem.tableau_of(solution) is None
    problem.margins_without(solution, np.flatnonzero(solution.alpha > 0))
    members = problem.tableau_of(solution).pivots.members
    assert np.array_equal(np.sort(members), np.flatnonzero(solution.free))
    assert problem.tableau_of(other) is None
