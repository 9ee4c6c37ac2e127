"""Left out one by one: the same margins as by fitting anew, on every kind of problem."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.errors import NotConvergedWarning
from truerisk.svm.rows import leave_out
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.leave_out import Tableau, independent, margins_without
from truerisk.svm.rows.matrix import as_rows


def anew(X, y, upper, which):
    """Fit without each example from nothing."""
    margins = []
    for out in which:
        bounds = upper.copy()
        bounds[out] = 0.0
        refit = solve_rows(as_rows(X), y, bounds, tolerance=1e-10)
        margins.append(y[out] * refit.decision[out])
    return np.array(margins)


def normals(n=80, d=12, *, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def problems():
    X, y = normals()
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((60, 100)) / 10.0
    few = np.full(80, -1.0)
    few[[3, 40]] = 1.0
    single = np.full(80, -1.0)
    single[3] = 1.0
    return {
        "normals": (X, y, np.full(80, 0.5)),
        "more features than examples": (wide, rng.choice([-1.0, 1.0], 60), np.full(60, 1.0)),
        "weights": (wide, rng.choice([-1.0, 1.0], 60), rng.exponential(size=60)),
        "some have none": (X, y, np.where(np.arange(80) % 5 == 0, 0.0, 0.5)),
        "each twice": (np.repeat(wide[:30], 2, 0), np.repeat(y[:30], 2), np.full(60, 0.4)),
        "alike, with other labels": (np.repeat(wide[:30], 2, 0), y[:60], np.full(60, 0.4)),
        "two positives": (X, few, np.full(80, 1.0)),
        "one positive": (X, single, np.full(80, 1.0)),
        "separable": (wide, y[:60], np.full(60, 1e4)),
        "all at their bounds": (wide, y[:60], np.full(60, 1e-3)),
        "with rows of zeros": (wide * (np.arange(60)[:, None] % 3 > 0), y[:60], np.full(60, 1.0)),
    }


PROBLEMS = problems()


@pytest.fixture(params=PROBLEMS, ids=str)
def problem(request):
    return PROBLEMS[request.param]


def test_every_margin_is_that_of_a_fit_from_nothing(problem):
    X, y, upper = problem
    which = np.arange(len(y))
    margins = margins_without(as_rows(X), solve_rows(as_rows(X), y, upper), which)
    expected = anew(X, y, upper, which)
    np.testing.assert_allclose(margins, expected, atol=1e-6)
    np.testing.assert_array_equal(margins < 0.0, expected < -1e-9)


def test_the_signs_are_those_of_libsvm():
    X, y = normals(60)
    which = np.arange(60)
    margins = margins_without(as_rows(X), solve_rows(as_rows(X), y, np.ones(60)), which)
    for out in which:
        rest = which != out
        theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X[rest], y[rest])
        decision = theirs.decision_function(X[[out]])[0]
        assert margins[out] == pytest.approx(y[out] * decision, abs=1e-4)


def test_order_repetition_and_threads_change_nothing():
    X, y, upper = PROBLEMS["more features than examples"]
    rows = as_rows(X)
    solution = solve_rows(rows, y, upper)
    which = np.array([7, 3, 59, 3, 20, 21, 22])
    one = margins_without(rows, solution, which)
    three = margins_without(rows, solution, which, workers=3)
    np.testing.assert_array_equal(one, three)
    assert one[1] == one[3]
    alone = margins_without(rows, solution, np.array([59]))
    assert one[2] == pytest.approx(alone[0], abs=1e-9)


def test_nobody_left_out_is_no_margin():
    X, y, upper = PROBLEMS["normals"]
    solution = solve_rows(as_rows(X), y, upper)
    assert margins_without(as_rows(X), solution, np.array([], np.intp)).shape == (0,)


def test_who_has_no_alpha_keeps_the_margin():
    X, y, upper = PROBLEMS["normals"]
    solution = solve_rows(as_rows(X), y, upper, tolerance=1e-11)
    which = np.flatnonzero(solution.alpha == 0.0)
    margins = margins_without(as_rows(X), solution, which)
    np.testing.assert_array_equal(margins, (y * solution.decision)[which])


def test_a_tie_is_exactly_zero():
    # Without the point in the middle, those at 0 and 2 put the threshold on it.
    y = np.array([-1.0, 1.0, 1.0])
    for scale in (1.0, 0.1, np.pi, 1 / 3, np.sqrt(2)):  # most of which are rounded
        X = scale * np.array([[0.1], [1.1], [2.1]])
        solution = solve_rows(as_rows(X), y, np.full(3, 1000.0))
        assert margins_without(as_rows(X), solution, np.array([1]))[0] == 0.0


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(3, 14), st.integers(1, 4))
@example(592, 7, 1)  # as is the next, but at the end of a path
@example(11, 11, 1)  # without one example no α is free, but for rounding
@example(1, 3, 1)  # an example without α that keeps the bias where it is
def test_lattice_data_with_any_labels_have_the_signs_of_a_fit_from_nothing(seed, n, d):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 2, (n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    upper, which = np.full(n, 1.0), np.arange(n)
    solution = solve_rows(as_rows(X), y, upper)
    margins = margins_without(as_rows(X), solution, which)
    np.testing.assert_allclose(margins, anew(X, y, upper, which), atol=1e-7)


def test_who_objects_from_outside_of_the_band_is_taken_into_it(monkeypatch):
    X, y, upper = PROBLEMS["more features than examples"]
    rows = as_rows(X)
    solution = solve_rows(rows, y, upper)
    which = np.flatnonzero(solution.alpha > 0.0)
    expected = margins_without(rows, solution, which)
    monkeypatch.setattr(leave_out, "BAND", 0.0)
    refits = []
    monkeypatch.setattr(leave_out, "_refit", lambda *args: refits.append(args))
    np.testing.assert_allclose(margins_without(rows, solution, which), expected, atol=1e-9)
    assert not refits


@pytest.mark.parametrize(("name", "value"), [("LARGEST_BAND", 5), ("ROUNDS", 0)])
def test_without_paths_the_general_solver_gives_the_same(monkeypatch, name, value):
    X, y, upper = PROBLEMS["more features than examples"]
    rows = as_rows(X)
    solution = solve_rows(rows, y, upper)
    which = np.arange(0, 60, 7)
    expected = margins_without(rows, solution, which)
    monkeypatch.setattr(leave_out, name, value)
    np.testing.assert_allclose(margins_without(rows, solution, which), expected, atol=1e-8)


def test_a_refit_that_does_not_converge_is_told(monkeypatch):
    X, y, upper = PROBLEMS["more features than examples"]
    rows = as_rows(X)
    solution = solve_rows(rows, y, upper, tolerance=1e-11)
    monkeypatch.setattr(leave_out, "ROUNDS", 0)
    monkeypatch.setattr(leave_out, "TIGHT", 0.0)
    monkeypatch.setattr(leave_out, "MAX_PASSES", 1)
    with pytest.warns(NotConvergedWarning, match="2 refits"):
        margins_without(rows, solution, np.flatnonzero(solution.alpha)[:2])


@pytest.mark.data
def test_reuters_has_the_margins_of_a_fit_from_nothing():
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("the Reuters corpus stands outside of the project, in TRUERISK_DATA")
    path = Path(folder) / "text" / "reuters21578_modapte.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines][:4000]
    from sklearn.feature_extraction.text import TfidfVectorizer

    X = TfidfVectorizer(min_df=3).fit_transform([entry["text"] for entry in corpus])
    rows, rng = as_rows(X), np.random.default_rng(0)
    for category in ("acq", "grain", "money-fx"):
        y = np.where([category in entry["labels"] for entry in corpus], 1.0, -1.0)
        upper = np.full(len(y), 1.0)
        solution = solve_rows(rows, y, upper)
        held = np.flatnonzero((2 * solution.alpha + solution.slack >= 1) & (solution.slack <= 1))
        margins = margins_without(rows, solution, held, workers=2)
        closest = np.argsort(np.abs(margins))[:5]
        sample = np.concatenate([closest, rng.choice(len(held), 5, replace=False)])
        np.testing.assert_allclose(margins[sample], anew(X, y, upper, held[sample]), atol=1e-8)


# --- the tableau


def answer(K, free, which):
    """Solve the conditions directly for one unit of one example: change of z, of f and of b."""
    n = len(K)
    system = np.zeros((free + 1, free + 1))
    system[:free, :free], system[:free, free], system[free, :free] = K[:free, :free], 1.0, 1.0
    z = np.zeros(n)
    if which < free:  # its decision is to rise by one
        right = np.append(np.arange(free) == which, 0.0).astype(float)
    else:
        z[which] = 1.0
        right = np.append(-K[:free, which], -1.0)
    solved = np.linalg.solve(system, right)
    z[:free] = solved[:free]
    return z, K @ z + solved[free], solved[free]


@pytest.fixture
def gram():
    X = np.random.default_rng(2).standard_normal((9, 20))
    return X @ X.T


def test_every_entry_is_what_one_unit_does(gram):
    tableau = Tableau.of_free(gram[:4, :4]).widened(gram[4:7, :7]).widened(gram[7:])
    for which in range(9):
        z, decision, bias = answer(gram, 4, which)
        np.testing.assert_allclose(tableau.values[which, :4], z[:4], atol=1e-10)
        np.testing.assert_allclose(tableau.values[which, 4:], decision[4:], atol=1e-10)
        assert tableau.bias[which] == pytest.approx(bias, abs=1e-10)


def test_widened_twice_is_widened_once(gram):
    once = Tableau.of_free(gram[:3, :3]).widened(gram[3:])
    twice = Tableau.of_free(gram[:3, :3]).widened(gram[3:5, :5]).widened(gram[5:])
    np.testing.assert_allclose(twice.values, once.values, atol=1e-10)
    np.testing.assert_allclose(twice.bias, once.bias, atol=1e-10)


def test_one_free_example_that_is_zero_still_holds_the_bias():
    tableau = Tableau.of_free(np.zeros((1, 1)))
    # its decision is the bias, and its z can only answer to others
    np.testing.assert_allclose(tableau.values, [[0.0]], atol=1e-12)
    np.testing.assert_allclose(tableau.bias, [1.0])


def test_independent_examples_stay_as_they_are(gram):
    z = np.linspace(0.1, 0.9, 9)
    free, moved = independent(gram, z, np.zeros(9), np.ones(9))
    assert free.all()
    np.testing.assert_array_equal(moved, z)


@pytest.mark.parametrize("seed", range(20))
def test_dependent_examples_go_to_a_bound_and_no_decision_changes(seed):
    rng = np.random.default_rng(seed)
    base = rng.standard_normal((4, 3))
    X = np.concatenate([base, base[:2], base[:2].mean(axis=0, keepdims=True), base[3:]])
    y = rng.choice([-1.0, 1.0], 8)
    low, high = np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0)
    z = y * rng.uniform(0.05, 0.95, 8)
    gram = X @ X.T
    free, moved = independent(gram, z, low, high)
    np.testing.assert_allclose(gram @ moved, gram @ z, atol=1e-9)
    assert moved.sum() == pytest.approx(z.sum(), abs=1e-12)
    assert np.all((moved >= low - 1e-12) & (moved <= high + 1e-12))
    assert np.all((moved == low) | (moved == high) | free)
    # what is left is independent where Σ = 0
    part = gram[np.ix_(free, free)]
    assert np.linalg.matrix_rank(part + 1.0) == free.sum()
