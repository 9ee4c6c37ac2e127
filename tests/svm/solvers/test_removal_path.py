"""One path: its end is the optimum without the example, found by other means."""

import numpy as np
import pytest

from truerisk.svm.solvers import removal_path
from truerisk.svm.solvers.linear_dual import solve_rows
from truerisk.svm.solvers.removal_path import (
    MAX_CHANGED,
    eliminate,
    find_rates,
    follow,
    next_event,
)
from truerisk.svm.solvers.rows import as_rows
from truerisk.svm.solvers.tableau import Tableau


def start(seed=0, n=60, d=90):
    """Give the whole problem as a band, the free examples first."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)) / np.sqrt(d), rng.choice([-1.0, 1.0], n)
    upper = rng.uniform(0.5, 1.0, n)
    solution = solve_rows(as_rows(X), y, upper, tolerance=1e-11)
    order = np.argsort(~solution.free, kind="stable")
    free = int(solution.free.sum())
    X, y, upper = X[order], y[order], upper[order]
    gram = X @ X.T
    tableau = Tableau.of_free(gram[:free, :free]).widened(gram[free:])
    return X, y, upper, tableau, y * solution.alpha[order], (y - solution.decision[order])


def run(problem, out, function=follow):
    _, y, upper, tableau, z, residual = problem
    n = len(y)
    z, residual = z.copy(), residual.copy()
    residual[: tableau.free] = 0.0
    events = function(
        tableau.values,
        tableau.free,
        np.where(y > 0, 0.0, -upper),
        np.where(y > 0, upper, 0.0),
        out,
        z,
        residual,
        np.empty(n, np.bool_),
        np.empty(n, np.int32),
        np.empty(MAX_CHANGED, np.int32),
        np.empty((MAX_CHANGED, MAX_CHANGED)),
        np.empty(MAX_CHANGED),
        np.empty(n),
        1.0,
    )
    return events, z, residual


# With fewer features, examples come back to the side on which they began.
@pytest.mark.parametrize(("seed", "features"), [(0, 90), (0, 30), (4, 30)])
def test_the_end_of_every_path_is_the_optimum_without_the_example(seed, features):
    problem = start(seed, d=features)
    X, y, upper, _, whole, _ = problem
    changed_sides = 0
    for out in np.flatnonzero(whole):
        events, z, residual = run(problem, out)
        bounds = upper.copy()
        bounds[out] = 0.0
        expected = solve_rows(as_rows(X), y, bounds, tolerance=1e-11)
        assert events >= 0
        np.testing.assert_allclose(z, y * expected.alpha, atol=1e-8)
        np.testing.assert_allclose(y - residual, expected.decision, atol=1e-8)
        changed_sides += events
    assert changed_sides > 20  # or the events were not tested


def test_a_free_example_and_one_at_its_bound_were_both_among_them():
    _, _, upper, tableau, z, _ = start(0)
    held = np.flatnonzero(z)
    assert (held < tableau.free).any()
    assert (np.abs(z[held]) == upper[held]).any()


def test_the_uncompiled_path_is_the_same(monkeypatch):
    problem = start(1)
    out = int(np.flatnonzero(problem[4])[-1])
    compiled = run(problem, out)
    for name in ("eliminate", "find_rates", "next_event"):
        monkeypatch.setattr(removal_path, name, getattr(removal_path, name).py_func)
    plain = run(problem, out, follow.py_func)
    assert compiled[0] == plain[0]
    np.testing.assert_allclose(compiled[1], plain[1], atol=1e-10)


def test_too_many_changes_or_events_lose_the_path(monkeypatch):
    problem = start(2)
    held = np.flatnonzero(problem[4])
    out = max(held, key=lambda out: run(problem, out)[0])
    assert run(problem, out)[0] > 1
    monkeypatch.setattr(removal_path, "MAX_EVENTS", 1)
    assert run(problem, out, follow.py_func)[0] == -1
    monkeypatch.undo()
    monkeypatch.setattr(removal_path, "MAX_CHANGED", 1)
    assert run(problem, out, follow.py_func)[0] == -1


def test_a_small_system_is_solved_and_a_singular_one_refused():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((5, 5)), rng.standard_normal(5)
    A[0, 0] = 0.0  # needs a pivot
    for function in (eliminate, eliminate.py_func):
        x = b.copy()
        assert function(A.copy(), x, 5, 1e-12)
        np.testing.assert_allclose(A @ x, b, atol=1e-10)
        assert not function(np.ones((3, 3)), np.ones(3), 3, 1e-12)


def test_rates_of_a_singular_system_are_none():
    tableau = np.zeros((2, 2))
    arrays = np.empty((2, 2)), np.empty(2), np.empty(2)
    assert not find_rates(tableau, 1, np.array([0], np.int32), 1, *arrays, 1.0, 1.0)


def test_who_ends_a_stretch():
    z, residual = np.array([0.5, 0.0, 1.0, 0.0]), np.array([0.0, -0.3, 0.2, -0.1])
    low, high = np.zeros(4), np.ones(4)
    free = np.array([True, False, False, False])

    def event(*rates, longest=10.0, out=-1):
        return next_event(z, residual, low, high, free, np.array(rates), out, longest, 1e-12)

    assert event(0.25, 0.0, 0.0, 0.0) == (2.0, 0)  # up to 1
    assert event(-0.25, 0.0, 0.0, 0.0) == (2.0, 0)  # down to 0
    assert event(0.0, -0.1, 0.0, 0.0) == (pytest.approx(3.0), 1)  # its decision falls to y
    assert event(0.0, 0.1, 0.0, 0.0) == (10.0, -1)  # held at 0 the more
    assert event(0.0, 0.0, 0.1, 0.0) == (2.0, 2)
    assert event(0.0, 0.0, -0.1, 0.0) == (10.0, -1)
    assert event(0.0, 0.0, 0.0, -1e-13) == (10.0, -1)  # that is rounding
    assert event(0.25, 0.0, 0.0, 0.0, longest=1.5) == (1.5, -1)
    assert event(0.25, 0.0, 0.0, 0.0, out=0) == (10.0, -1)
