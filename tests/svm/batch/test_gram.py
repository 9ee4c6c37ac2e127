"""Many SVMs on one Gram matrix: each of them the optimum, whoever solves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from truerisk.svm.batch import gram as batch_gram
from truerisk.svm.batch.gram import Tableau, gram_decisions
from truerisk.svm.gram.dual import solve_gram


def data(seed, n=60, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)


def kernel(X, kind):
    if kind == "cubic":
        return (X @ X.T / X.shape[1] + 1.0) ** 3
    if kind == "linear":
        return X @ X.T
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / X.shape[1])


def perturbed(cost, replicates, n, seed=0):
    drawn = np.random.default_rng(seed).exponential(size=(replicates, n))
    return cost * drawn / drawn.mean(axis=1, keepdims=True)


def one_by_one(gram, y, train, bounds):
    """The same by the solver of one SVM."""
    among = gram[np.ix_(train, train)]
    solutions = [solve_gram(among, y[train], upper, tolerance=1e-9) for upper in bounds]
    return np.array([(s.alpha * y[train]) @ gram[train] + s.bias for s in solutions])


def test_two_points_by_hand():
    # x = −1 and 1: w = α₁ + α₂ = 2 min(1/2, U₁, U₂), and the middle of the biases is 0
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    bounds = np.array([[1.0, 1.0], [0.25, 0.25], [9.0, 2.0]])
    found = gram_decisions(gram, y, np.arange(2), bounds)
    np.testing.assert_allclose(found, [[-1.0, 1.0], [-0.5, 0.5], [-1.0, 1.0]], atol=1e-9)


def test_a_small_bound_holds_the_slope_and_the_other_example_the_bias_by_hand():
    # α = ¼ of both: w = ½, the second α is free and its margin 1, so f(1) = 1 and f(−1) = 0
    gram, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0])
    found = gram_decisions(gram, y, np.arange(2), np.array([[0.25, 2.0]]))
    np.testing.assert_allclose(found, [[0.0, 1.0]], atol=1e-9)


@pytest.mark.parametrize("cost", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["RBF", "cubic"])
@pytest.mark.parametrize("d", [2, 20])
def test_it_agrees_with_libsvm_on_those_trained_on_and_on_all_others(kind, d, cost):
    X, y = data(1, n=70, d=d)
    gram, train = kernel(X, kind), np.setdiff1d(np.arange(70), np.arange(0, 70, 5))
    bounds = perturbed(cost, 66, len(train))
    found = gram_decisions(gram, y, train, bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, train, bounds), atol=1e-7)
    for r in range(0, 66, 13):
        SVM = SVC(C=1.0, kernel="precomputed", tol=1e-9)
        SVM.fit(gram[np.ix_(train, train)], y[train], sample_weight=bounds[r])
        decision = SVM.decision_function(gram[:, train])
        # libsvm keeps K in single precision
        sure = np.abs(decision) > 1e-4
        assert np.array_equal(found[r, sure] > 0, decision[sure] > 0)
        np.testing.assert_allclose(found[r], decision, rtol=1e-4, atol=1e-4)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(4, 30), st.sampled_from([0.05, 1.0, 50.0]))
def test_every_replicate_is_the_optimum_for_any_bounds(seed, n, cost):
    rng = np.random.default_rng(seed)
    gram = kernel(rng.standard_normal((n, 3)), "RBF")
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    bounds = cost * rng.exponential(size=(5, n)) * (rng.random((5, n)) < 0.8)
    bounds[:, :2] = cost
    found = gram_decisions(gram, y, np.arange(n), bounds)
    for decision, upper in zip(found, bounds, strict=True):
        exact = solve_gram(gram, y, upper, tolerance=1e-10)
        # the margins are unique up to the bias, and with somebody free so is that
        shift = 0.0 if exact.stable else np.median(decision - exact.decision)
        np.testing.assert_allclose(decision - shift, exact.decision, atol=1e-6)


@pytest.mark.parametrize(
    ("replicates", "examples", "count"),
    [(600, 0, 2), (600, 60, 2), (500, 60, 1), (600, 600, 6), (600, 3000, 10), (50, 3000, 1)],
)
def test_fewer_examples_make_chunks_of_more_replicates(replicates, examples, count):
    bounds = np.arange(replicates * examples).reshape(replicates, examples)
    chunks = batch_gram.chunks_of(bounds)
    sizes = [len(chunk) for chunk in chunks]
    assert len(sizes) == count
    assert max(sizes) - min(sizes) <= 1
    assert np.array_equal(np.concatenate(chunks), bounds)


def test_the_work_is_shared_out_without_changing_a_bit():
    X, y = data(2)
    gram, bounds = kernel(X, "RBF"), perturbed(3.0, 600, 60)
    alone = gram_decisions(gram, y, np.arange(60), bounds)
    assert np.array_equal(alone, gram_decisions(gram, y, np.arange(60), bounds, workers=3))


@pytest.mark.parametrize("first", [0, 3, len(batch_gram.ROUGH)])
def test_wherever_it_begins_it_ends_at_the_same_optimum(monkeypatch, first):
    X, y = data(3, n=50, d=3)
    gram, bounds, everybody = kernel(X, "RBF"), perturbed(5.0, 20, 50), np.arange(50)
    monkeypatch.setattr(batch_gram, "FIRST", first)
    found = gram_decisions(gram, y, everybody, bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, everybody, bounds), atol=1e-7)


def test_most_replicates_need_no_other_solver(monkeypatch):
    X, y = data(4, n=80, d=10)
    calls = []

    def counted(*arguments, **settings):
        calls.append(1)
        return solve_gram(*arguments, **settings)

    monkeypatch.setattr(batch_gram, "solve_gram", counted)
    gram_decisions(kernel(X, "RBF"), y, np.arange(80), perturbed(1.0, 100, 80))
    assert len(calls) <= 3  # one of them at the mean bounds


@pytest.mark.parametrize("kind", ["linear", "RBF"])
def test_equal_examples_and_lattices_are_no_harm(kind):
    rng = np.random.default_rng(5)
    X = rng.integers(-1, 2, (40, 2)).astype(np.float64)
    y = np.where(X.sum(axis=1) + rng.standard_normal(40) > 0, 1.0, -1.0)
    gram, bounds = kernel(X, kind), perturbed(1.0, 70, 40)
    found = gram_decisions(gram, y, np.arange(40), bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, np.arange(40), bounds), atol=1e-6)


def test_an_indefinite_matrix_ends_where_no_pair_wants_to_move():
    rng = np.random.default_rng(8)
    gram = rng.standard_normal((30, 30))
    gram = gram + gram.T
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    found = gram_decisions(gram, y, np.arange(30), perturbed(1.0, 6, 30))
    assert np.isfinite(found).all()


def test_bounds_over_twelve_orders_of_magnitude_are_kept():
    X, y = data(6, n=40)
    gram = kernel(X, "RBF")
    bounds = 10.0 ** np.random.default_rng(0).uniform(-9, 3, (12, 40))
    found = gram_decisions(gram, y, np.arange(40), bounds)
    np.testing.assert_allclose(found, one_by_one(gram, y, np.arange(40), bounds), atol=1e-6)


def test_one_class_alone_is_called_by_its_name():
    X, y = data(7, n=12)
    bounds = np.where(y > 0.0, 1.0, 0.0)[None].repeat(2, axis=0)
    assert np.all(gram_decisions(kernel(X, "RBF"), y, np.arange(12), bounds) == 1.0)


def test_no_replicates_give_no_rows():
    assert gram_decisions(np.eye(3), np.ones(3), np.arange(3), np.empty((0, 3))).shape == (0, 3)


# --- one try


def batch_of(n=40, replicates=9, cost=2.0):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 5))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 5)
    bounds = cost * rng.exponential(size=(replicates, n))
    return batch_gram.shared(gram, y, np.arange(n), bounds, 1e-8), batch_gram.Bounds.of(y, bounds)


def test_rows_are_brought_to_a_total_within_their_bounds_by_hand():
    # 3 too much: the free one falls by its 2, and the one at its upper bound by the last 1
    z, lower, upper = np.array([[2.0, 3.0, 0.0]]), np.zeros((1, 3)), np.array([[4.0, 3.0, 0.0]])
    to_two = batch_gram.balanced(z, lower, upper, np.array([[2.0]]))
    np.testing.assert_allclose(to_two, [[0.0, 2.0, 0.0]], atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_balance_is_brought_about_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    lower, upper = -rng.exponential(size=(3, 8)), rng.exponential(size=(3, 8))
    z = batch_gram.balanced(rng.uniform(lower, upper), lower, upper)
    np.testing.assert_allclose(z.sum(axis=1), 0.0, atol=1e-12)
    assert np.all((lower <= z) & (z <= upper))


def test_balance_leaves_bounded_examples_alone_if_it_can():
    lower, upper = np.full((1, 4), -1.0), np.ones((1, 4))
    z = batch_gram.balanced(np.array([[1.0, -1.0, 0.5, 0.0]]), lower, upper)
    assert z[0, :2].tolist() == [1.0, -1.0]
    # the free had 1.5 and 1 above the lower bound, and give up 0.5 in that proportion
    assert z[0, 2:] == pytest.approx([0.2, -0.2])


def test_rounding_takes_nobody_off_a_bound():
    z = np.array([[-0.1 - 0.2, 0.2, 0.1, 0.0]])  # whose sum is 3e-17 below 0
    lower, upper = np.array([[z[0, 0], 0.0, 0.0, 0.0]]), np.array([[0.0, 0.2, 0.1, 1.0]])
    assert np.array_equal(batch_gram.balanced(z, lower, upper), z)


def test_a_start_is_feasible_and_has_its_gradients():
    batch, bounds = batch_of()
    states, n = batch_gram.started(batch, bounds), 40
    z = states[:, batch_gram.Z, :n]
    assert np.all(z >= states[:, batch_gram.LOWER, :n])
    assert np.all(z <= states[:, batch_gram.UPPER, :n])
    np.testing.assert_allclose(z.sum(axis=1), 0.0, atol=1e-5)
    gradient = batch.y - z @ batch.among
    np.testing.assert_allclose(states[:, batch_gram.GRADIENT, :n], gradient, atol=1e-5)


def test_what_is_good_is_optimal_and_what_is_not_is_told():
    batch, bounds = batch_of()
    steps = batch_gram.started(batch, bounds)
    batch_gram.descend(batch, steps, 1e-3)
    found = batch_gram.attempt(batch, steps, bounds)
    assert found.good.sum() >= 8
    # nobody's solution is a solution to other bounds
    strange = batch_gram.attempt(
        batch, steps, batch_gram.Bounds.of(batch.y, np.zeros(bounds.lower.shape))
    )
    assert not strange.good.any()


# --- the tableau


def wide_problem(seed, n=12, d=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X @ X.T / d, y


def test_the_tableau_of_two_points_by_hand():
    # Seen from the first, free one of two unit vectors at right angles: the other is √2 away, and
    # each unit of it takes one from the first.  With nobody else, z₁ = 0 and b = y₁ = −1, so that
    # the gradient of the other is 1 − (−1).
    tableau = Tableau(np.eye(2), np.array([-1.0, 1.0]), np.array([0]))
    np.testing.assert_allclose(tableau.values, [[0.0, -1.0], [-1.0, 2.0]], atol=1e-11)
    np.testing.assert_allclose(tableau.own, [0.0, 2.0], atol=1e-11)
    assert tableau.base.tolist() == [True, False]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_tableau_gives_z_of_its_base_and_the_gradients_of_the_others(seed, size):
    gram, y = wide_problem(seed)
    rng = np.random.default_rng(seed)
    base = np.sort(rng.choice(12, size, replace=False))
    tableau = Tableau(gram, y, base)
    others = np.setdiff1d(np.arange(12), base)
    given_z = rng.standard_normal(len(others))
    given_values = np.zeros(12)
    given_values[others] = given_z
    got = tableau.own - tableau.values @ given_values
    z = given_values.copy()
    z[base] = -got[base]
    assert abs(z.sum()) < 1e-8
    gradient = y - gram @ z
    bias = gradient[base].mean()
    np.testing.assert_allclose(gradient[base], bias, atol=1e-8)
    np.testing.assert_allclose(got[others], gradient[others] - bias, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_added_as_they_are_needed_are_those_of_the_whole_tableau(seed):
    gram, y = wide_problem(seed)
    whole, part = Tableau(gram, y, np.arange(1, 6)), Tableau(gram, y, np.arange(1, 6), whole=False)
    assert (part.place < 0).all()
    part.add(np.array([2, 9]))
    part.add(np.array([9, 0, 5]))
    for i in (0, 2, 5, 9):
        np.testing.assert_allclose(part.values[part.place[i]], whole.values[i], atol=1e-12)
    assert set(np.flatnonzero(part.place >= 0)) == {0, 2, 5, 9}
    given_values = np.where(whole.base, 0.0, np.random.default_rng(seed).standard_normal((3, 12)))
    effect = part.pivoted(given_values, given_values @ gram, given_values.sum(axis=1))
    np.testing.assert_allclose(effect, given_values @ whole.values, atol=1e-10)


def test_what_the_ridge_leaves_over_is_made_up_for(monkeypatch):
    # Kernel values from 1 to thousands: the ridge alone moves margins by more than the tolerance.
    X, y = data(10, n=80, d=30)
    gram = kernel(X * np.where(np.arange(80) < 4, 6.0, 0.5)[:, None], "cubic")
    assert np.diagonal(gram).max() > 1e4 * np.diagonal(gram).min()
    left = []

    def counted(*arguments):
        left.append(1)
        return finished(*arguments)

    finished = batch_gram.finished
    monkeypatch.setattr(batch_gram, "finished", counted)
    bounds = perturbed(4.0, 100, 80)
    found = gram_decisions(gram, y, np.arange(80), bounds)
    assert len(left) <= 5
    np.testing.assert_allclose(found, one_by_one(gram, y, np.arange(80), bounds), atol=1e-6)


def test_who_is_in_the_core_by_hand():
    # Means 1 ± 4 and 1 ± 1 with a spread of 1: Φ(−4) = 3e-5 and Φ(−1) = .16.
    spread = np.array([-1.0, 1.0])[:, None]
    margins = 1.0 + np.array([[4.0, -4.0, 1.0, -1.0, 0.0]]) + spread
    core, held = batch_gram.core_of(margins)
    assert core.tolist() == [False, False, True, True, True]
    assert held.tolist() == [False, True, False, False, False]


def test_who_is_free_in_one_svm_is_in_the_core_whatever_rounding_made_of_its_margin():
    # Off the margin by 1e-12 in all SVMs, which is 1,000 times what it varies by.
    margins = np.array([[1.0 + 1e-12, 3.0], [1.0 + 1.001e-12, 3.1]])
    assert batch_gram.core_of(margins)[0].tolist() == [True, False]


def test_nearly_all_and_nobody_are_everyone(monkeypatch):
    margins = np.array([[3.0, 1.0], [2.9, 1.1]])
    for objecting in (-1.0, 9.0):
        monkeypatch.setattr(batch_gram, "OBJECTING", objecting)
        core, held = batch_gram.core_of(margins)
        assert core.all()
        assert not held.any()


@pytest.mark.parametrize("objecting", [0.005, 2.0])
@pytest.mark.parametrize("kind", ["RBF", "cubic"])
def test_a_core_leads_to_the_same_optimum(monkeypatch, kind, objecting):
    rng = np.random.default_rng(5)
    y = np.where(np.arange(90) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(90, 5)) + 0.6 * y[:, None]
    gram = kernel(X, kind)
    train = np.arange(0, 90)[np.arange(90) % 9 > 0]
    bounds = rng.exponential(size=(300, len(train)))
    monkeypatch.setattr(batch_gram, "OBJECTING", objecting)
    solved, decisions_of = [], batch_gram.Core.decisions_of

    def counted(core, some):
        decisions, good = decisions_of(core, some)
        solved.extend(good.tolist())
        return decisions, good

    monkeypatch.setattr(batch_gram.Core, "decisions_of", counted)
    ours = gram_decisions(gram, y, train, bounds)
    assert len(solved) == 300 - batch_gram.CHUNK
    assert (np.mean(solved) > 0.9) == (objecting < 1.0)
    monkeypatch.setattr(batch_gram, "WORTH_A_CORE", 999)
    np.testing.assert_allclose(ours, gram_decisions(gram, y, train, bounds), atol=1e-6)
