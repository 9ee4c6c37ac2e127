"""Refits near a solution: each of them the optimum, whoever is taken to be near."""

import numpy as np
import pytest

from tests.svm.batch.test_gram import data, kernel, one_by_one
from truerisk.svm.batch import nearby
from truerisk.svm.batch.gram import GRADIENT, Bounds, Z
from truerisk.svm.batch.nearby import Copies, Merged, Nearby, Refits, solver_of
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.leave_out import leave_out_of
from truerisk.svm.solution import Solution


def thirds(n, refits, cost=1.0):
    """Bounds of refits that each leave a third of the examples out."""
    bounds = np.full((refits, n), cost)
    bounds[np.arange(n) % 3 == (np.arange(refits) % 3)[:, None]] = 0.0
    return bounds


def problem(cost=1.0):
    X, y = data(9, n=90, d=4)
    gram = kernel(X, "RBF")
    return gram, y, solve_gram(gram, y, np.full(90, cost))


@pytest.mark.parametrize("cost", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("kind", ["RBF", "cubic"])
def test_those_near_a_solution_are_the_optima_without_some_examples(kind, cost):
    X, y = data(9, n=90, d=4)
    gram, bounds = kernel(X, kind), np.full((30, 90), cost)
    bounds[np.arange(90) % 30 == np.arange(30)[:, None]] = 0.0
    bounds[3, 40:50] *= 2.0
    near = Nearby(gram, solve_gram(gram, y, np.full(90, cost)))
    found, solved = near.decisions(bounds)
    stable = np.array([solve_gram(gram, y, upper).stable for upper in bounds])
    assert not solved[~stable].any()
    assert solved[stable].mean() > 0.6  # in the others examples depend on each other
    expected = one_by_one(gram, y, np.arange(90), bounds)
    np.testing.assert_allclose(found[solved], expected[solved], atol=1e-7)


def test_copies_by_hand():
    X = np.array([[1.0], [2.0], [1.0], [1.0], [2.0], [2.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, -1.0])
    copies = Copies.among(X, y)
    assert copies.first.tolist() == [3, 1, 0]  # by label and value
    assert copies.group.tolist() == [2, 1, 2, 0, 1, 1]
    table = np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]])
    assert copies.sums(table).tolist() == [[8.0, 50.0, 5.0]]
    assert Copies.among(X[:4], y[:4]) is None  # three of four differ


@pytest.mark.parametrize("cost", [0.1, 1.0, 20.0])
def test_equal_examples_of_a_class_take_part_as_one(cost):
    rng = np.random.default_rng(6)
    X, n = rng.integers(0, 3, (120, 3)).astype(float), 120
    y = np.where(X[:, 0] + rng.standard_normal(n) > 1.0, 1.0, -1.0)
    gram, bounds = kernel(X, "RBF"), thirds(n, 12, cost)
    bounds[3, 40:50] *= 2.0
    shared = solver_of(gram, solve_gram(gram, y, np.full(n, cost)), X)
    assert isinstance(shared, Merged)
    found, solved = shared.decisions(bounds)
    assert solved.mean() > 0.6
    expected = one_by_one(gram, y, np.arange(n), bounds)
    np.testing.assert_allclose(found[solved], expected[solved], atol=1e-7)


def test_examples_that_differ_are_not_merged():
    X, y = data(9, n=90, d=4)
    gram = kernel(X, "RBF")
    assert isinstance(solver_of(gram, solve_gram(gram, y, np.ones(90)), X), Nearby)


def test_a_bias_that_nobody_pins_down_is_not_called_solved():
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    near = Nearby(gram, solve_gram(gram, y, np.ones(2)))
    _, solved = near.decisions(np.array([[0.25, 0.25], [1.0, 1.0]]))
    assert solved.tolist() == [False, True]


@pytest.mark.parametrize("band", [(0.0, 0.0), (0.05, 0.05), (0.3, 0.0)])
def test_who_is_not_near_and_objects_is_met_in_a_second_try(monkeypatch, band):
    monkeypatch.setattr(nearby, "BAND", band)
    gram, y, solution = problem()
    shared, bounds = Nearby(gram, solution), thirds(90, 30)
    assert len(shared.near) < 70
    found, solved = shared.decisions(bounds)
    assert solved.all()
    expected = one_by_one(gram, y, np.arange(90), bounds)
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_everyone_is_near_in_a_last_try_where_nobody_else_objects(monkeypatch):
    gram, y, solution = problem()
    tries = []

    def attempt(shared, refits):
        # As if K did not confirm what the rounds came to, and nobody who is far had changed.
        tries.append(len(shared.near))
        yes = np.ones(len(refits.start), bool)
        decisions = np.tile(solution.decision + 1e-6 * y, (len(yes), 1))
        return nearby.Attempt(decisions, ~yes, np.ones(len(yes)), yes)

    monkeypatch.setattr(nearby, "BAND", (0.2, 0.2))
    monkeypatch.setattr(Nearby, "attempt", attempt)
    _, solved = Nearby(gram, solution).decisions(thirds(90, 6))
    assert not solved.any()
    assert tries[0] < 90
    assert tries[1:] == [90]


def test_objectors_are_on_the_wrong_side_of_the_margin_for_their_bound(monkeypatch):
    monkeypatch.setattr(nearby, "BAND", (0.0, 0.0))
    gram, y, solution = problem()
    shared = Nearby(gram, solution)
    refits = Refits.of(shared, Bounds.of(y, thirds(90, 1)))
    shared.descend(refits.states, 1e-3)
    attempt = shared.attempt(refits)
    assert attempt.over.tolist() == [True]
    assert attempt.good.tolist() == [False]
    margins, alpha = y * attempt.decisions[0], np.abs(refits.start[0])
    expected = np.where(alpha == 0.0, margins < 1.0, margins > 1.0)
    expected &= np.arange(90) % 3 != 0  # who is left out has no say
    expected[shared.near] = False
    assert expected.any()
    assert np.array_equal(shared.objectors(refits, attempt), expected)


def test_a_start_is_feasible_and_has_its_gradients():
    gram, y, solution = problem()
    near = np.flatnonzero(solution.free | (np.arange(90) % 2 == 0))
    shared = Nearby(gram, solution, near=near)
    refits = Refits.of(shared, Bounds.of(y, thirds(90, 6)))
    assert np.all(refits.start >= refits.bounds.lower)
    assert np.all(refits.start <= refits.bounds.upper)
    np.testing.assert_allclose(refits.start.sum(axis=1), 0.0, atol=1e-10)
    k = len(near)
    np.testing.assert_allclose(refits.states[:, Z, :k], refits.start[:, near], atol=1e-6)
    gradient = y - refits.start @ gram - solution.bias
    np.testing.assert_allclose(refits.states[:, GRADIENT, :k], gradient[:, near], atol=1e-5)


@pytest.mark.parametrize("band", [(0.2, 0.2), (9.0, 9.0)])
@pytest.mark.parametrize("cost", [1.0, 20.0])
def test_a_tableau_that_is_there_already_changes_nothing(monkeypatch, cost, band):
    monkeypatch.setattr(nearby, "BAND", band)
    monkeypatch.setattr(nearby, "MAX_BAND", 9.0)
    gram, _, solution = problem(cost)
    left = leave_out_of(gram, solution, np.flatnonzero(solution.alpha > 0), squared_radius=1.0)
    bounds = thirds(90, 6, cost)
    anew, taken = Nearby(gram, solution), Nearby(gram, solution, made=left.tableau)
    assert taken.is_whole is (band[0] == 9.0)
    assert anew.has_ridge
    assert not taken.has_ridge
    (expected, _), (found, solved) = (shared.decisions(bounds) for shared in (anew, taken))
    assert solved.all()
    np.testing.assert_allclose(found, expected, atol=1e-7)
    # Rows that were taken and rows that were made are those of one tableau.
    everyone = np.arange(len(taken.near))
    assert 0 < np.count_nonzero(taken.tableau.known.has(everyone)) < len(everyone)
    for shared in (anew, taken):
        shared.tableau.add(everyone)
    first, second = (one.tableau.values[one.tableau.place] for one in (anew, taken))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_of_nearly_equal_examples_refits_make_their_own_tableau():
    gram, y, solution = problem()
    twin = int(np.flatnonzero(solution.free)[0])
    both = np.append(np.arange(90), twin)
    gram, y = gram[np.ix_(both, both)], y[both]
    solution = solve_gram(gram, y, np.ones(91))
    left = leave_out_of(gram, solution, np.flatnonzero(solution.alpha > 0), squared_radius=1.0)
    assert Nearby(gram, solution, made=left.tableau).has_ridge


def test_the_tableau_stands_where_the_solution_does():
    gram, y, solution = problem()
    shared = Nearby(gram, solution)
    base, near = shared.tableau.base, shared.near
    np.testing.assert_allclose(-shared.got[base], (y * solution.alpha)[near][base], atol=1e-8)
    gradient = (y - solution.decision)[near]
    np.testing.assert_allclose(shared.got[~base], gradient[~base], atol=1e-8)


@pytest.mark.parametrize("cost", [0.5, 1.0, 8.0])
def test_those_near_are_within_a_band_that_grows_with_the_cost(cost):
    gram, y, solution = problem(cost)
    beyond, drift = y * solution.decision - 1.0, cost ** (1 / 3)  # K(x, x) is 1
    within = ((beyond < 0.45 * drift) & (beyond > -0.4 * drift)) | solution.free
    expected = np.flatnonzero(within) if within.mean() < 0.7 else np.arange(90)
    assert np.array_equal(nearby.near_in(gram, solution), expected)


@pytest.mark.parametrize(
    ("cost", "share", "many"), [(1.0, 0.12, 0), (1.0, 0.18, 1), (9.0, 0.12, 1)]
)
def test_with_many_free_rounds_are_tried_sooner(cost, share, many):
    upper = np.full(100, float(cost))
    alpha = np.where(np.arange(100) < 100 * share, 0.5 * cost, 0.0)
    zeros = np.zeros(100)
    solution = Solution(
        y=zeros, upper=upper, alpha=alpha, bias=0.0, decision=zeros, gap=0.0, passes=0
    )
    expected = (nearby.FIRST, nearby.FIRST_OF_MANY)[many]
    assert nearby.first_gap(np.eye(100), solution) == expected


def test_a_product_row_by_row_is_the_product():
    gram, _, _ = problem()
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((40, 90)) * (rng.random((40, 90)) < np.arange(90) / 90)
    weights[:, 7] = 0.0
    often = np.count_nonzero(weights, axis=0) > nearby.MANY_WEIGHTS * 40
    assert 0 < often.sum() < 90
    np.testing.assert_allclose(nearby.product(weights, gram), weights @ gram, atol=1e-12)
