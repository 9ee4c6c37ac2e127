"""Loops over sparse rows: every part by hand, and the compiled form beside its uncompiled twin."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csc_array

from truerisk.kernels import rows as compiled
from truerisk.kernels import uncompiled
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.leave_out import MAX_CHANGED, Tableau
from truerisk.svm.rows.matrix import as_rows

plain = uncompiled("rows")
entries = st.sampled_from([0.0, 0.0, 1.0, -2.0, 0.5, 3.0])
shapes = st.tuples(st.integers(1, 7), st.integers(1, 11))
matrices = shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=entries))


WIDE = 1e6


def room(n, size=WIDE):
    return np.full(n, -size), np.full(n, size)


@given(matrices, st.integers(0, 2**32 - 1))
def test_four_at_a_time_are_four_times_one(X, seed):
    rng = np.random.default_rng(seed)
    rows = as_rows(X)
    weights, products = rng.standard_normal((X.shape[1], 4)), np.empty((len(X), 4))
    compiled.multiply_four(*rows.arrays, weights.reshape(-1), products)
    np.testing.assert_allclose(products, X @ weights, atol=1e-12)
    coefficients = rng.standard_normal((len(X), 4))
    coefficients[0] = 0.0
    expected = weights + X.T @ coefficients
    compiled.add_four(*rows.arrays, coefficients, weights.reshape(-1))
    np.testing.assert_allclose(weights, expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [compiled, plain])
@pytest.mark.parametrize(
    ("columns", "rise"), [([0, 4, 2, 3], True), ([4, 0, 2, 3], False), ([0, 4, 2, 2], False)]
)
def test_squares_tell_whether_the_columns_of_every_row_rise(kernel, columns, rise):
    norms = np.empty(3)
    values, starts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2, 2, 4])
    assert kernel.square(values, np.array(columns, np.int32), starts, 5, norms) == (rise, True)
    np.testing.assert_array_equal(norms, [5.0, 0.0, 25.0])


@pytest.mark.parametrize("kernel", [compiled, plain])
@pytest.mark.parametrize(
    ("columns", "starts"),
    [
        ([-1, 4, 2, 3], [0, 2, 2, 4]),
        ([0, 5, 2, 3], [0, 2, 2, 4]),
        ([0, 4, 2, 5], [0, 2, 2, 4]),
        ([0, 4, 2, 3], [0, 2, 2, 5]),
        ([0, 4, 2, 3], [0, 4, 2, 4]),
        ([0, 4, 2, 3], [-1, 2, 2, 4]),
    ],
)
def test_squares_tell_what_lies_outside_of_the_matrix(kernel, columns, starts):
    values = np.array([1.0, 2.0, 3.0, 4.0])
    arrays = values, np.array(columns, np.int32), np.array(starts)
    _, is_intact = kernel.square(*arrays, 5, np.empty(3))
    assert not is_intact


def test_the_uncompiled_loops_do_the_same():
    X = np.random.default_rng(0).standard_normal((3, 9))
    rows, w = as_rows(X), np.arange(9.0)
    assert plain.dot(rows.data, rows.indices, 9, 18, w) == pytest.approx(X[1] @ w)
    weights = np.zeros(9)
    plain.add(rows.data, rows.indices, 9, 18, 2.0, weights)
    np.testing.assert_allclose(weights, 2.0 * X[1])
    products, norms = np.empty(3), np.empty(3)
    plain.multiply(*rows.arrays, w, products)
    assert plain.square(*rows.arrays, 9, norms) == (True, True)
    np.testing.assert_allclose(products, X @ w)
    np.testing.assert_allclose(norms, (X**2).sum(axis=1))
    four, weights = np.empty((3, 4)), np.zeros((9, 4))
    plain.multiply_four(*rows.arrays, np.repeat(w, 4), four)
    plain.add_four(*rows.arrays, np.ones((3, 4)), weights.reshape(-1))
    np.testing.assert_allclose(four, np.tile((X @ w)[:, None], 4))
    np.testing.assert_allclose(weights, np.tile(X.sum(axis=0)[:, None], 4))
    data, indices = np.empty(9), np.empty(9, np.int32)
    plain.copy_rows(*rows.arrays, np.array([2]), data, indices)
    np.testing.assert_array_equal(data, X[2])


def test_the_uncompiled_products_are_the_same():
    X = np.random.default_rng(0).standard_normal((4, 5))
    products, weights = np.full((2, 4), np.nan), np.zeros(5)
    plain.multiply_pairs(*as_rows(X).arrays, weights, products, 0, 1)
    np.testing.assert_allclose(np.tril(products, 2), np.tril((X @ X.T)[2:], 2), atol=1e-12)
    np.testing.assert_array_equal(weights, 0.0)


@pytest.mark.parametrize("module", [plain, compiled])
def test_products_by_shared_columns_are_added_to_what_is_there(module):
    X = np.random.default_rng(1).standard_normal((5, 4)) * (np.arange(20).reshape(5, 4) % 3 > 0)
    by_column = csc_array(X)
    starts, ends = (by_column.indptr[at].astype(np.int64) for at in (slice(-1), slice(1, None)))
    starts[2] = ends[2]  # and so it is left out
    products = np.ones((5, 5))
    module.add_products(
        *as_rows(X).arrays, by_column.data, by_column.indices, starts, ends, products
    )
    expected = np.triu(np.delete(X, 2, axis=1) @ np.delete(X, 2, axis=1).T)
    np.testing.assert_allclose(products, 1.0 + expected, atol=1e-12)


def one_sweep(
    X, y, upper, alpha, *, bias=0.0, penalty=0.1, drop=np.inf, times=1, function=compiled.sweep
):
    rows, alpha, order = as_rows(X), alpha.copy(), np.arange(len(X), dtype=np.int32)
    weights = (y * alpha) @ X
    result = function(
        *rows.arrays,
        y,
        upper,
        rows.squared_norms + penalty,
        alpha,
        weights,
        order,
        penalty,
        bias,
        float(y @ alpha),
        drop,
        times,
    )
    return alpha, weights, order, result


def lagrangian(X, y, alpha, *, bias, penalty):
    """½|w|² − Σα + b·s + ½ρs²."""
    w, s = (y * alpha) @ X, y @ alpha
    return w @ w / 2 - alpha.sum() + bias * s + penalty * s * s / 2


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    return X, np.where(X[:, 0] + rng.standard_normal(40) > 0, 1.0, -1.0), rng.uniform(0.1, 2, 40)


def test_one_step_by_hand():
    # g = −1 at α = 0 with curvature |x|² + ρ = 4.5, then α = 1/4.5 and s = α
    alpha, weights, _, (remaining, balance, bias, highest, lowest, changes, gap) = one_sweep(
        np.array([[2.0]]), np.ones(1), np.ones(1), np.zeros(1), penalty=0.5
    )
    assert alpha[0] == pytest.approx(1 / 4.5)
    assert weights[0] == pytest.approx(2 / 4.5)
    assert balance == pytest.approx(1 / 4.5)
    assert bias == pytest.approx(0.5 / 4.5)  # b + ρs
    assert (remaining, highest, lowest, changes) == (1, -1.0, -1.0, 1)
    assert gap == pytest.approx(1.0)  # U·ξ + α·g = 1·1 + 0


def test_the_bias_and_the_balance_enter_the_gradient():
    # g = y(b + ρs) − 1 = 0.3 + 2·0.25 − 1 before the only step
    *_, (_, _, _, highest, _, _, gap) = one_sweep(
        np.zeros((1, 1)), np.ones(1), np.ones(1), np.full(1, 0.25), bias=0.3, penalty=2.0
    )
    assert highest == pytest.approx(-0.2)
    assert gap == pytest.approx(0.15)  # U·ξ + α·g = 1·.2 − .25·.2


@given(st.integers(0, 2**32 - 1))
def test_no_sweep_raises_the_lagrangian_or_leaves_the_box(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 3)), rng.choice([-1.0, 1.0], 8)
    upper = rng.choice([0.0, 0.5, 3.0], 8)
    before = upper * rng.choice([0.0, 0.5, 1.0], 8)
    terms = {"bias": rng.standard_normal(), "penalty": 0.3}
    after, weights, _, (_, balance, *_) = one_sweep(X, y, upper, before, **terms)
    assert np.all((after >= 0.0) & (after <= upper))
    assert lagrangian(X, y, after, **terms) <= lagrangian(X, y, before, **terms) + 1e-12
    np.testing.assert_allclose(weights, (y * after) @ X, atol=1e-12)
    assert balance == pytest.approx(y @ after, abs=1e-12)


def test_who_is_held_at_a_bound_by_more_than_the_limit_is_dropped():
    X = np.array([[3.0], [0.1], [-1.0], [0.2]])
    y, upper = np.ones(4), np.ones(4)
    alpha = np.array([0.0, 0.0, 1.0, 0.5])  # w = −0.9, and the bias is 2
    _, _, order, (remaining, *_) = one_sweep(X, y, upper, alpha, bias=2.0, penalty=0.0, drop=0.5)
    # gradients −1.7, about .9 and 1.9: only the second is held, at 0, and it goes
    assert remaining == 3
    np.testing.assert_array_equal(order[:remaining], [0, 2, 3])


def test_two_sweeps_at_a_time_are_one_after_the_other(problem):
    X, y, upper = problem
    alpha, weights, order, result = one_sweep(X, y, upper, upper / 2, times=2)
    first, _, kept, (_, _, bias, *_) = one_sweep(X, y, upper, upper / 2)
    second, both, _, expected = one_sweep(X, y, upper, first, bias=bias)
    np.testing.assert_array_equal(kept, order)
    np.testing.assert_allclose(alpha, second, atol=1e-12)
    np.testing.assert_allclose(weights, both, atol=1e-12)
    assert result == pytest.approx(expected)


def test_the_uncompiled_sweep_does_the_same(problem):
    X, y, upper = problem
    ours = one_sweep(X, y, upper, upper / 2, drop=1.0, times=2)
    theirs = one_sweep(X, y, upper, upper / 2, drop=1.0, times=2, function=plain.sweep)
    for left, right in zip(ours[:3], theirs[:3], strict=True):
        np.testing.assert_array_equal(left, right)
    assert ours[3] == pytest.approx(theirs[3])


def test_the_distance_from_an_optimum_by_hand_and_uncompiled():
    y, upper = np.array([1.0, 1.0, -1.0, -1.0, 1.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    alpha, products = np.array([0.0, 0.5, 1.0, 0.25, 0.0]), np.array([3.0, 0.0, 0.5, -2.5, 9.0])
    # v = −2, 1, −1.5 and 1.5: the first and the third may only rise, the other two move both ways
    expected = (1.5, 1.0, 2, 2.5)
    assert compiled.measure(y, upper, alpha, products) == expected
    assert plain.measure(y, upper, alpha, products) == expected


@pytest.mark.parametrize("kernel", [compiled, plain])
def test_an_excess_is_spread_over_the_free_by_hand(kernel):
    y, upper = np.array([1.0, 1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, 2.0, 0.0])
    # Σyα = 1.5: of the free, the first has .25 to give, and the other two the rest.
    alpha = np.array([0.25, 1.0, 0.25, 0.5, 0.0])
    assert kernel.spread_excess(y, upper, alpha, 1e-15) == 0.0
    np.testing.assert_allclose(alpha, [0.0, 1.0, 1.0, 0.0, 0.0], atol=1e-15)
    # Nobody is free: what is left stays.
    assert kernel.spread_excess(y, upper, np.array([0.0, 1.0, 0.0, 2.0, 0.0]), 0.0) == 3.0


@pytest.mark.parametrize("kernel", [compiled, plain])
def test_an_excess_that_rounding_leaves_ends_the_rounds(kernel):
    rng = np.random.default_rng(0)
    y, upper = np.where(rng.random(300) < 0.4, 1.0, -1.0), rng.random(300)
    alpha = upper * rng.random(300)
    left = kernel.spread_excess(y, upper, alpha, 0.0)
    assert abs(left) <= 1e-15 * upper.sum()
    assert left == pytest.approx(math.fsum(y * alpha), abs=1e-30)


def test_a_length_is_kept_where_nobody_goes_far():
    step, direction = np.zeros(3), np.array([1.0, -1.0, 0.5])
    low, high = np.full(3, -1.0), np.full(3, 1.0)
    assert plain.within(step, direction, low, high, 1.5) == 1.5  # a quarter beyond is near
    assert plain.within(step, direction, low, high, 1.6) == 1.0


def test_the_uncompiled_gradients_do_the_same():
    rng = np.random.default_rng(5)
    X, residual = rng.standard_normal((12, 30)), rng.standard_normal(12)
    rows = as_rows(X)
    answers = []
    for function in (compiled.conjugate_gradients, plain.conjugate_gradients):
        step, left = np.zeros(12), residual - residual.mean()
        space = np.empty(30), np.empty(12), np.empty(12)
        found = function(*rows.arrays, left, step, *room(12), *space, 40.0, 1e-9, 50)
        answers.append((step, found))
    np.testing.assert_allclose(answers[0][0], answers[1][0], atol=1e-10)
    assert answers[0][1] == pytest.approx(answers[1][1])
    assert plain.within(np.zeros(1), np.ones(1), -np.ones(1), np.ones(1), np.inf) == 1.0


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


def run(problem, out, function=compiled.follow_removal):
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
        np.empty(n, np.uint8),
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


def test_the_uncompiled_path_is_the_same():
    problem = start(1)
    out = int(np.flatnonzero(problem[4])[-1])
    ours, theirs = run(problem, out), run(problem, out, plain.follow_removal)
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-10)


def test_too_many_changes_or_events_lose_the_path(monkeypatch):
    problem = start(2)
    held = np.flatnonzero(problem[4])
    out = max(held, key=lambda out: run(problem, out)[0])
    assert run(problem, out)[0] > 1
    monkeypatch.setattr(plain, "MAX_EVENTS", 1)
    assert run(problem, out, plain.follow_removal)[0] == -1
    monkeypatch.undo()
    monkeypatch.setattr(plain, "MAX_CHANGED", 1)
    assert run(problem, out, plain.follow_removal)[0] == -1


def test_a_small_system_is_solved_and_a_singular_one_refused():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((5, 5)), rng.standard_normal(5)
    A[0, 0] = 0.0  # needs a pivot
    x = b.copy()
    assert plain.eliminate(A.copy(), x, 5, 1e-12)
    np.testing.assert_allclose(A @ x, b, atol=1e-10)
    assert not plain.eliminate(np.ones((3, 3)), np.ones(3), 3, 1e-12)


def test_rates_of_a_singular_system_are_none():
    tableau = np.zeros((2, 2))
    arrays = np.empty((2, 2)), np.empty(2), np.empty(2)
    assert not plain.find_rates(tableau, 1, np.array([0], np.int32), 1, *arrays, 1.0, 1.0)


def test_who_ends_a_stretch():
    z, residual = np.array([0.5, 0.0, 1.0, 0.0]), np.array([0.0, -0.3, 0.2, -0.1])
    low, high = np.zeros(4), np.ones(4)
    free = np.array([1, 0, 0, 0], np.uint8)

    def event(*rates, longest=10.0, out=-1):
        return plain.next_event(z, residual, low, high, free, np.array(rates), out, longest, 1e-12)

    assert event(0.25, 0.0, 0.0, 0.0) == (2.0, 0)  # up to 1
    assert event(-0.25, 0.0, 0.0, 0.0) == (2.0, 0)  # down to 0
    assert event(0.0, -0.1, 0.0, 0.0) == (pytest.approx(3.0), 1)  # its decision falls to y
    assert event(0.0, 0.1, 0.0, 0.0) == (10.0, -1)  # held at 0 the more
    assert event(0.0, 0.0, 0.1, 0.0) == (2.0, 2)
    assert event(0.0, 0.0, -0.1, 0.0) == (10.0, -1)
    assert event(0.0, 0.0, 0.0, -1e-13) == (10.0, -1)  # that is rounding
    assert event(0.25, 0.0, 0.0, 0.0, longest=1.5) == (1.5, -1)
    assert event(0.25, 0.0, 0.0, 0.0, out=0) == (10.0, -1)
