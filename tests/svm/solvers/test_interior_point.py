import numpy as np
import pytest

from truerisk.svm.solvers import interior_point
from truerisk.svm.solvers.interior_point import (
    BLOCK,
    REST,
    SHARE,
    SLACK,
    SURPLUS,
    correct,
    direction,
    factorise,
    follow_path,
    linearise,
    mu_after,
    only_centre,
    solve_factored,
    weighted_gram,
    workspace,
)

KERNELS = (
    "weighted_gram",
    "factorise",
    "solve_factored",
    "linearise",
    "direction",
    "mu_after",
    "correct",
    "only_centre",
)


def problem(n=80, d=4, seed=0):
    """Rows y(z, 1), bounds and metric; no two columns, bounds or metrics are alike."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    y = np.where(z[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    rows = y[:, None] * np.column_stack([z, np.ones(n)])
    return rows, rng.uniform(0.5, 2.0, n), np.append(np.arange(1.0, d + 1), 0.0)


def start(n):
    return np.vstack([np.full((2, n), 0.5), np.ones((2, n))])


def solve(rows, upper, metric, *, target=1e-10, max_steps=100, work=None):
    n, m = rows.shape
    u, state = np.zeros(m), start(n)
    taken = follow_path(
        rows, upper, metric, u, state, *(work or workspace(n, m)), target, max_steps
    )
    return u, state, taken


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_the_weighted_gram_matrix_is_that_of_all_blocks(n):
    rng = np.random.default_rng(1)
    rows, weights = rng.normal(size=(n, 3)), rng.random(n)
    gram, product = np.empty((3, 3)), np.empty((3, 3))
    weighted_gram(rows, weights, workspace(n, 3)[2], product, gram)
    np.testing.assert_allclose(gram, rows.T @ (weights[:, None] * rows), rtol=1e-12, atol=1e-12)


def test_the_factor_solves_its_system():
    half = np.random.default_rng(2).normal(size=(6, 6))
    matrix = half @ half.T + np.eye(6)
    right = np.arange(6.0)
    expected = np.linalg.solve(matrix, right)
    factorise(matrix)
    solve_factored(matrix, right)
    np.testing.assert_allclose(right, expected, rtol=1e-10)


def test_a_direction_lost_in_rounding_is_left_alone():
    matrix = np.array([[4.0, 4.0, 2.0], [4.0, 4.0 + 1e-15, 2.0], [2.0, 2.0, 9.0]])
    right = np.array([8.0, 8.0 + 1e-6, 12.0])
    factorise(matrix)
    solve_factored(matrix, right)
    assert right[1] == 0.0
    np.testing.assert_allclose(
        right[[0, 2]], np.linalg.solve([[4.0, 2.0], [2.0, 9.0]], [8.0, 12.0])
    )


def test_a_newton_step_solves_all_four_equations():
    rows, upper, metric = problem()
    n, m = rows.shape
    rng = np.random.default_rng(3)
    state, u = rng.uniform(0.2, 0.8, (4, n)), rng.normal(size=m)
    state[REST] = 1.0 - state[SHARE]
    vectors, _, block = workspace(n, m)
    residual, du, factor = np.empty(m), np.empty(m), np.empty((m, m))
    linearise(rows, upper, metric, u, state, vectors, residual)
    weights = upper * vectors[interior_point.YIELD]
    weighted_gram(rows, weights, block, np.empty((m, m)), factor)
    factor += np.diag(metric)
    factorise(factor)
    longest = direction(rows, upper, state, vectors, factor, residual, du)
    d_share = vectors[interior_point.D_SHARE]
    d_surplus, d_slack = vectors[interior_point.D_SURPLUS], vectors[interior_point.D_SLACK]
    share, rest, surplus, slack = state
    after = rows @ (u + du) - 1.0 + (slack + d_slack) - (surplus + d_surplus)
    np.testing.assert_allclose(after, 0.0, atol=1e-9)
    balance = rows.T @ (upper * (share + d_share)) - metric * (u + du)
    np.testing.assert_allclose(balance, 0.0, atol=1e-9)
    np.testing.assert_allclose(surplus * d_share + share * d_surplus, -share * surplus, atol=1e-9)
    np.testing.assert_allclose(-slack * d_share + rest * d_slack, -rest * slack, atol=1e-9)
    steps = np.array([d_share, -d_share, d_surplus, d_slack])
    assert (state + longest * steps).min() == pytest.approx(0.0, abs=1e-12)


def one_example():
    """Give a state and steps of which every number below is worked out by hand."""
    vectors, _, _ = workspace(1, 1)
    vectors[interior_point.WANT], vectors[interior_point.WANT_REST] = -0.5, -0.75
    vectors[interior_point.D_SHARE], vectors[interior_point.D_SURPLUS] = 0.1, -1.0
    vectors[interior_point.D_SLACK] = -0.5
    return np.array([2.0]), np.array([[0.25], [0.75], [2.0], [1.0]]), vectors


def test_mu_after_a_step_by_hand():
    upper, state, vectors = one_example()
    # U(.25·2 + .75·1)/2 = 1.25; after half a step U(.3·1.5 + .7·.75)/2 = .975.
    assert mu_after(upper, state, vectors, 0.0) == pytest.approx(1.25)
    assert mu_after(upper, state, vectors, 0.5) == pytest.approx(0.975)


def test_the_corrector_wants_the_centre_less_the_second_order():
    upper, _, vectors = one_example()
    correct(upper, vectors, 0.6)
    assert vectors[interior_point.WANT, 0] == pytest.approx(-0.5 + 0.3 + 0.1)
    assert vectors[interior_point.WANT_REST, 0] == pytest.approx(-0.75 + 0.3 - 0.05)


def test_the_centre_alone_is_wanted_whatever_was_wanted_before():
    upper, state, vectors = one_example()
    vectors[[interior_point.WANT, interior_point.WANT_REST]] = 99.0
    only_centre(upper, state, vectors, 0.6)
    assert vectors[interior_point.WANT, 0] == pytest.approx(0.3 - 0.5)
    assert vectors[interior_point.WANT_REST, 0] == pytest.approx(0.3 - 0.75)


def test_it_leaves_a_circle_that_corrections_alone_would_stay_in():
    z = np.array(
        [
            [-1, 0, -1, -2, 1, 1, 1, -1, 1, 1, 1, -1],
            [0, 1, -1, 2, 0, 1, 2, 0, -1, 1, 0, 0],
            [0, -1, 0, 1, 1, 0, 0, 1, -1, -1, -1, 0],
            [0, 1, 1, 0, -1, 0, 2, 1, 1, 0, 0, -2],
            [-1, -1, 1, -1, 0, -1, 0, -1, -1, 0, 1, 2],
        ]
    )
    y, upper = np.array([1.0, -1.0, 1.0, -1.0, -1.0]), np.array([0.21, 0.22, 0.42, 2.0, 4.1])
    z = z - z.mean(axis=0)
    largest = np.abs(z).max(axis=0)
    state = np.ones((4, 5))
    state[SHARE] = 0.5 * 0.63 / np.where(y > 0, 0.63, 6.32)
    state[REST] = 1.0 - state[SHARE]
    state[[SURPLUS, SLACK]] = np.maximum(1.0, upper.mean() / upper)
    rows, metric = y[:, None] * np.column_stack([z / largest, np.ones(5)]), largest**-2.0
    u, metric = np.zeros(13), np.append(metric, 0.0)
    assert follow_path(rows, upper, metric, u, state, *workspace(5, 13), 1e-10, 100) < 30


def test_the_duality_gap_closes():
    rows, upper, metric = problem()
    u, state, taken = solve(rows, upper, metric)
    alpha = upper * state[SHARE]
    primal = u @ (metric * u) / 2 + upper @ np.maximum(0.0, 1.0 - rows @ u)
    pull = (rows.T @ alpha)[:-1]
    dual = alpha.sum() - pull @ (pull / metric[:-1]) / 2
    assert taken < 20
    assert abs(rows[:, -1] @ alpha) < 1e-10
    assert -1e-9 < primal - dual < 1e-8 * primal


def test_every_example_is_at_the_same_distance_of_the_centre():
    rows, upper, metric = problem()
    _, state, _ = solve(rows, upper, metric, target=1e-3)
    products = upper * [state[SHARE] * state[SURPLUS], state[REST] * state[SLACK]]
    assert products.max() < 1000 * products.min()
    np.testing.assert_allclose(state[SHARE] + state[REST], 1.0, rtol=1e-12)


def test_twice_the_bound_is_two_examples():
    rows, upper, metric = problem()
    doubled = np.where(np.arange(len(upper)) < 10, 2 * upper, upper)
    once, _, _ = solve(rows, doubled, metric)
    twice, _, _ = solve(np.vstack([rows, rows[:10]]), np.append(upper, upper[:10]), metric)
    np.testing.assert_allclose(once, twice, atol=1e-7)


def test_bounds_of_all_sizes_take_few_steps():
    rows, _, metric = problem(n=150, d=10)
    upper = 10.0 ** np.random.default_rng(4).uniform(-4.0, 4.0, 150)
    u, state = np.zeros(11), start(150)
    state[[SURPLUS, SLACK]] = np.maximum(1.0, upper.mean() / upper)
    assert follow_path(rows, upper, metric, u, state, *workspace(150, 11), 1e-8, 100) < 40


def test_many_problems_are_solved_in_the_same_memory():
    rows, upper, metric = problem()
    work = workspace(*rows.shape)
    fresh = [solve(rows, upper * factor, metric)[0] for factor in (1.0, 30.0)]
    again = [solve(rows, upper * factor, metric, work=work)[0] for factor in (1.0, 30.0)]
    np.testing.assert_array_equal(fresh, again)


def test_it_stops_at_its_cap():
    rows, upper, metric = problem()
    assert solve(rows, upper, metric, max_steps=3)[2] == 3


def test_the_uncompiled_twin_goes_the_same_way(monkeypatch):
    rows, upper, metric = problem(n=12, d=2)
    u, state, taken = solve(rows, upper, metric)
    for name in KERNELS:
        monkeypatch.setattr(interior_point, name, getattr(interior_point, name).py_func)
    twin, twin_state = np.zeros(3), start(12)
    steps = follow_path.py_func(
        rows, upper, metric, twin, twin_state, *workspace(12, 3), 1e-10, 100
    )
    assert steps == taken
    np.testing.assert_allclose(twin, u, atol=1e-9)
    np.testing.assert_allclose(twin_state, state, atol=1e-7)
