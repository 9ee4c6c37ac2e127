"""Interior points: every part by hand, and the compiled form beside its uncompiled twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.kernels import interior as compiled
from truerisk.kernels import uncompiled
from truerisk.svm.batch.features import (
    LANE,
    LANES,
    TILE,
    Problems,
    packed_products,
    workspace,
)
from truerisk.svm.dense.features import BLOCK, solve_features
from truerisk.svm.dense.features import workspace as one_workspace

plain = uncompiled("interior")
ONE_SHARE, ONE_REST, ONE_SURPLUS, ONE_SLACK = range(4)
ONE_YIELD, _, WANT, WANT_REST, ONE_D_SHARE, ONE_D_SURPLUS, ONE_D_SLACK = range(7)
BOUND, PER_BOUND, SHARE, REST, SURPLUS, SLACK, MARGIN, YIELD = (LANES * k for k in range(8))
D_SHARE, D_SURPLUS, D_SLACK = (LANES * k for k in range(8, 11))
GAP, MASS, STEP, STEEPEST, QUADRATIC, CENTRE = (LANES * k for k in range(6))
FAR = 1e150


# --- one problem


def one_problem(n=80, d=4, seed=0):
    """Rows y(z, 1), bounds and metric; no two columns, bounds or metrics are alike."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * np.arange(1, d + 1)
    y = np.where(z[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    rows = y[:, None] * np.column_stack([z, np.ones(n)])
    return rows, rng.uniform(0.5, 2.0, n), np.append(np.arange(1.0, d + 1), 0.0)


def middle(n):
    return np.vstack([np.full((2, n), 0.5), np.ones((2, n))])


def solve_one(rows, upper, metric, *, target=1e-10, max_steps=100, work=None):
    n, m = rows.shape
    u, state = np.zeros(m), middle(n)
    taken = compiled.follow_path(
        rows, upper, metric, u, state, *(work or one_workspace(n, m)), target, max_steps
    )
    return u, state, taken


@pytest.mark.parametrize("n", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_the_weighted_gram_matrix_is_that_of_all_blocks(n):
    rng = np.random.default_rng(1)
    rows, weights = rng.normal(size=(n, 3)), rng.random(n)
    gram = np.empty((3, 3))
    plain.weighted_gram(rows, weights, one_workspace(n, 3)[2], gram)
    expected = rows.T @ (weights[:, None] * rows)
    np.testing.assert_allclose(np.tril(gram), np.tril(expected), rtol=1e-12, atol=1e-12)


def test_the_factor_solves_its_system():
    half = np.random.default_rng(2).normal(size=(6, 6))
    matrix = half @ half.T + np.eye(6)
    right = np.arange(6.0)
    expected = np.linalg.solve(matrix, right)
    plain.factorise(matrix, len(matrix))
    plain.solve_factored(matrix, right)
    np.testing.assert_allclose(right, expected, rtol=1e-10)


def test_a_direction_lost_in_rounding_is_left_alone():
    matrix = np.array([[4.0, 4.0, 2.0], [4.0, 4.0 + 1e-15, 2.0], [2.0, 2.0, 9.0]])
    right = np.array([8.0, 8.0 + 1e-6, 12.0])
    plain.factorise(matrix, len(matrix))
    plain.solve_factored(matrix, right)
    assert right[1] == 0.0
    np.testing.assert_allclose(
        right[[0, 2]], np.linalg.solve([[4.0, 2.0], [2.0, 9.0]], [8.0, 12.0])
    )


def test_a_newton_step_solves_all_four_equations():
    rows, upper, metric = one_problem()
    n, m = rows.shape
    rng = np.random.default_rng(3)
    state, u = rng.uniform(0.2, 0.8, (4, n)), rng.normal(size=m)
    state[ONE_REST] = 1.0 - state[ONE_SHARE]
    vectors, _, block = one_workspace(n, m)
    residual, du, factor = np.empty(m), np.empty(m), np.empty((m, m))
    plain.linearise(rows, upper, metric, u, state, vectors, residual)
    weights = upper * vectors[ONE_YIELD]
    plain.weighted_gram(rows, weights, block, factor)
    factor += np.diag(metric)
    plain.factorise(factor, len(factor))
    longest = plain.direction(rows, upper, state, vectors, factor, residual, du)
    d_share = vectors[ONE_D_SHARE]
    d_surplus, d_slack = vectors[ONE_D_SURPLUS], vectors[ONE_D_SLACK]
    share, rest, surplus, slack = state
    after = rows @ (u + du) - 1.0 + (slack + d_slack) - (surplus + d_surplus)
    np.testing.assert_allclose(after, 0.0, atol=1e-9)
    balance = rows.T @ (upper * (share + d_share)) - metric * (u + du)
    np.testing.assert_allclose(balance, 0.0, atol=1e-9)
    np.testing.assert_allclose(surplus * d_share + share * d_surplus, -share * surplus, atol=1e-9)
    np.testing.assert_allclose(-slack * d_share + rest * d_slack, -rest * slack, atol=1e-9)
    steps = np.array([d_share, -d_share, d_surplus, d_slack])
    assert (state + longest * steps).min() == pytest.approx(0.0, abs=1e-12)


def a_state_by_hand():
    """Give a state and steps of which every number below is worked out by hand."""
    vectors, _, _ = one_workspace(1, 1)
    vectors[WANT], vectors[WANT_REST] = -0.5, -0.75
    vectors[ONE_D_SHARE], vectors[ONE_D_SURPLUS] = 0.1, -1.0
    vectors[ONE_D_SLACK] = -0.5
    return np.array([2.0]), np.array([[0.25], [0.75], [2.0], [1.0]]), vectors


def test_mu_after_a_step_by_hand():
    upper, state, vectors = a_state_by_hand()
    # U(.25·2 + .75·1)/2 = 1.25; after half a step U(.3·1.5 + .7·.75)/2 = .975.
    assert plain.mu_after(upper, state, vectors, 0.0) == pytest.approx(1.25)
    assert plain.mu_after(upper, state, vectors, 0.5) == pytest.approx(0.975)


def test_the_corrector_wants_the_centre_less_the_second_order():
    upper, _, vectors = a_state_by_hand()
    plain.correct(upper, vectors, 0.6)
    assert vectors[WANT, 0] == pytest.approx(-0.5 + 0.3 + 0.1)
    assert vectors[WANT_REST, 0] == pytest.approx(-0.75 + 0.3 - 0.05)


def test_the_centre_alone_is_wanted_whatever_was_wanted_before():
    upper, state, vectors = a_state_by_hand()
    vectors[[WANT, WANT_REST]] = 99.0
    plain.only_centre(upper, state, vectors, 0.6)
    assert vectors[WANT, 0] == pytest.approx(0.3 - 0.5)
    assert vectors[WANT_REST, 0] == pytest.approx(0.3 - 0.75)


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
    state[ONE_SHARE] = 0.5 * 0.63 / np.where(y > 0, 0.63, 6.32)
    state[ONE_REST] = 1.0 - state[ONE_SHARE]
    state[[ONE_SURPLUS, ONE_SLACK]] = np.maximum(1.0, upper.mean() / upper)
    rows, metric = y[:, None] * np.column_stack([z / largest, np.ones(5)]), largest**-2.0
    u, metric, work = np.zeros(13), np.append(metric, 0.0), one_workspace(5, 13)
    assert compiled.follow_path(rows, upper, metric, u, state, *work, 1e-10, 100) < 30


def test_the_duality_gap_closes():
    rows, upper, metric = one_problem()
    u, state, taken = solve_one(rows, upper, metric)
    alpha = upper * state[ONE_SHARE]
    primal = u @ (metric * u) / 2 + upper @ np.maximum(0.0, 1.0 - rows @ u)
    pull = (rows.T @ alpha)[:-1]
    dual = alpha.sum() - pull @ (pull / metric[:-1]) / 2
    assert taken < 20
    assert abs(rows[:, -1] @ alpha) < 1e-10
    assert -1e-9 < primal - dual < 1e-8 * primal


def test_every_example_is_at_the_same_distance_of_the_centre():
    rows, upper, metric = one_problem()
    _, state, _ = solve_one(rows, upper, metric, target=1e-3)
    products = upper * [
        state[ONE_SHARE] * state[ONE_SURPLUS],
        state[ONE_REST] * state[ONE_SLACK],
    ]
    assert products.max() < 1000 * products.min()
    np.testing.assert_allclose(state[ONE_SHARE] + state[ONE_REST], 1.0, rtol=1e-12)


def test_twice_the_bound_is_two_examples():
    rows, upper, metric = one_problem()
    doubled = np.where(np.arange(len(upper)) < 10, 2 * upper, upper)
    once, _, _ = solve_one(rows, doubled, metric)
    twice, _, _ = solve_one(np.vstack([rows, rows[:10]]), np.append(upper, upper[:10]), metric)
    np.testing.assert_allclose(once, twice, atol=1e-7)


def test_bounds_of_all_sizes_take_few_steps():
    rows, _, metric = one_problem(n=150, d=10)
    upper = 10.0 ** np.random.default_rng(4).uniform(-4.0, 4.0, 150)
    u, state, work = np.zeros(11), middle(150), one_workspace(150, 11)
    state[[ONE_SURPLUS, ONE_SLACK]] = np.maximum(1.0, upper.mean() / upper)
    assert compiled.follow_path(rows, upper, metric, u, state, *work, 1e-8, 100) < 40


def test_many_problems_are_solved_in_the_same_memory():
    rows, upper, metric = one_problem()
    work = one_workspace(*rows.shape)
    fresh = [solve_one(rows, upper * factor, metric)[0] for factor in (1.0, 30.0)]
    again = [solve_one(rows, upper * factor, metric, work=work)[0] for factor in (1.0, 30.0)]
    np.testing.assert_array_equal(fresh, again)


def test_a_small_gap_is_far_from_the_optimum_while_alpha_and_u_disagree():
    rows, upper, metric = one_problem()
    n, m = rows.shape
    u = np.arange(1.0, m + 1) / m
    beyond, state = rows @ u - 1.0, np.full((4, n), 1e-9)  # every margin is that of u
    state[ONE_SURPLUS] += np.maximum(beyond, 0.0)
    state[ONE_SLACK] += np.maximum(-beyond, 0.0)
    state[ONE_SHARE] = np.where(beyond > 0.0, 1e-9, 1.0 - 1e-9)
    state[ONE_REST] = 1.0 - state[ONE_SHARE]
    vectors, small, _ = one_workspace(n, m)
    _, away = plain.linearise(rows, upper, metric, u, state, vectors, small[m])
    alpha = upper * state[ONE_SHARE]
    assert away == pytest.approx(np.abs(metric * u - rows.T @ alpha).max() / alpha.sum())


def test_it_stops_at_its_cap():
    rows, upper, metric = one_problem()
    assert solve_one(rows, upper, metric, max_steps=3)[2] == 3


def test_the_uncompiled_twin_of_one_problem_goes_the_same_way():
    rows, upper, metric = one_problem(n=12, d=2)
    u, state, taken = solve_one(rows, upper, metric)
    twin, twin_state = np.zeros(3), middle(12)
    steps = plain.follow_path(
        rows, upper, metric, twin, twin_state, *one_workspace(12, 3), 1e-10, 100
    )
    assert steps == taken
    np.testing.assert_allclose(twin, u, atol=1e-9)
    np.testing.assert_allclose(twin_state, state, atol=1e-7)


# --- the examples of many problems


def of(table, row):
    return table[..., row : row + LANES]


@pytest.fixture
def state():
    """Five examples somewhere inside their bounds, and changes of their margins."""
    rng = np.random.default_rng(0)
    tile, lanes = rng.uniform(0.2, 2.0, (5, TILE)), rng.uniform(0.1, 0.9, LANE)
    of(tile, SHARE)[:] = rng.uniform(0.1, 0.9, (5, LANES))
    of(tile, REST)[:] = 1.0 - of(tile, SHARE)
    of(tile, PER_BOUND)[:] = 1.0 / of(tile, BOUND)
    of(tile, YIELD)[:] = 1.0 / (
        of(tile, SURPLUS) * of(tile, REST) + of(tile, SLACK) * of(tile, SHARE)
    )
    return tile, lanes, rng.normal(size=(5, LANES)), rng.normal(size=(5, LANES))


def predicted(tile, first):
    """Newton's step towards products of 0, from its four equations."""
    share, rest, surplus, slack = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK))
    # r·du + d_slack − d_surplus = −violation, with the violation r·u − 1 + slack − surplus.
    want = 1.0 - of(tile, MARGIN) - first
    d_share = want / (surplus / share + slack / rest)
    return d_share, -surplus - surplus * d_share / share, -slack + slack * d_share / rest


def longest(tile, d_share, d_surplus, d_slack):
    """The steepest descent of any number towards 0, for each unit of itself."""
    changes = (d_share, -d_share, d_surplus, d_slack)
    ratios = [
        -change / of(tile, k)
        for change, k in zip(changes, (SHARE, REST, SURPLUS, SLACK), strict=True)
    ]
    return np.max(ratios, axis=(0, 1))


def test_the_step_is_made_and_the_system_written(state):
    tile, lanes, first, second = state
    before, weights, right = tile.copy(), np.empty((5, LANES)), np.empty((5, LANES))
    plain.advance(tile, first, second, lanes, weights, right)
    step = of(lanes, STEP)
    for row, change in (
        (SHARE, plain.D_SHARE),
        (SURPLUS, plain.D_SURPLUS),
        (SLACK, plain.D_SLACK),
    ):
        np.testing.assert_allclose(of(tile, row), of(before, row) + step * of(before, change))
    np.testing.assert_allclose(of(tile, REST), of(before, REST) - step * of(before, plain.D_SHARE))
    np.testing.assert_allclose(of(tile, MARGIN), of(before, MARGIN) + step * (first + second))
    upper, share, rest, surplus, slack = (of(tile, k) for k in (BOUND, SHARE, REST, SURPLUS, SLACK))
    np.testing.assert_allclose(weights, upper / (surplus / share + slack / rest))
    np.testing.assert_allclose(right, upper * share + weights * (1.0 - of(tile, MARGIN)))
    gap = np.sum(upper * (share * surplus + rest * slack), axis=0)
    np.testing.assert_allclose(of(lanes, GAP), gap)
    np.testing.assert_allclose(of(lanes, MASS), np.sum(upper * share, axis=0))


def test_the_prediction_tells_its_longest_step_and_its_gap(state):
    tile, lanes, first, _ = state
    plain.predict(tile, first, lanes)
    d_share, d_surplus, d_slack = predicted(tile, first)
    np.testing.assert_allclose(of(lanes, STEEPEST), longest(tile, d_share, d_surplus, d_slack))
    share, rest, surplus, slack = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK))
    now = np.sum(of(tile, BOUND) * (share * surplus + rest * slack), axis=0)
    after = np.sum(
        of(tile, BOUND)
        * (
            (share + 0.3 * d_share) * (surplus + 0.3 * d_surplus)
            + (rest - 0.3 * d_share) * (slack + 0.3 * d_slack)
        ),
        axis=0,
    )
    np.testing.assert_allclose(0.7 * now + 0.09 * of(lanes, QUADRATIC), after)


def test_the_corrected_step_solves_all_equations(state):
    tile, lanes, first, second = state
    share, rest, surplus, slack, upper = (of(tile, k) for k in (SHARE, REST, SURPLUS, SLACK, BOUND))
    d_share, d_surplus, d_slack = predicted(tile, first)
    centre = of(lanes, CENTRE) / upper
    want, want_rest = centre - d_share * d_surplus, centre + d_share * d_slack
    right = np.empty((5, LANES))
    plain.lanes_correct(tile, first, lanes, right)
    pull = want / share - want_rest / rest
    np.testing.assert_allclose(right, upper * pull / (surplus / share + slack / rest), atol=1e-12)
    plain.direct(tile, first, second, lanes)
    steps = tuple(of(tile, k) for k in (plain.D_SHARE, plain.D_SURPLUS, plain.D_SLACK))
    margin = of(tile, MARGIN) + first + second
    np.testing.assert_allclose(margin - 1.0, surplus + steps[1] - slack - steps[2], atol=1e-9)
    np.testing.assert_allclose(
        share * steps[1] + surplus * steps[0], want - share * surplus, atol=1e-9
    )
    np.testing.assert_allclose(
        rest * steps[2] - slack * steps[0], want_rest - rest * slack, atol=1e-9
    )
    np.testing.assert_allclose(of(lanes, STEEPEST), longest(tile, *steps))


# --- many small systems


def systems(m, seed=0):
    """Positive definite matrices and right sides, one per lane, and the matrices packed."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(LANES, m, m + 2))
    matrices = half @ half.transpose(0, 2, 1)
    j, k = np.tril_indices(m)
    return matrices, rng.normal(size=(m, LANES)), np.ascontiguousarray(matrices[:, j, k].T)


def test_weighted_sums_of_products_are_packed_gram_matrices():
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(9, 4)), rng.random((9, 3))
    packed = packed_products(rows) @ weights
    for r in range(3):
        gram = rows.T @ (weights[:, r, None] * rows)
        np.testing.assert_allclose(packed[:, r], gram[np.tril_indices(4)])


@pytest.mark.parametrize("m", [1, 2, 4, 5, 9, 14])
def test_the_factors_solve_their_systems(m):
    matrices, right, packed = systems(m)
    expected = np.linalg.solve(matrices, right.T[..., None])[..., 0].T
    plain.factorise_packed(packed, m, np.empty(LANES), 1e-14)
    plain.solve_packed(packed, right)
    np.testing.assert_allclose(right, expected, rtol=1e-7, atol=1e-9)


def test_a_direction_lost_in_rounding_is_left_alone_in_every_lane():
    matrix = np.array([4.0, 4.0, 4.0 + 1e-15, 2.0, 2.0, 9.0])
    packed, right = (
        np.repeat(np.array(a)[:, None], LANES, axis=1) for a in (matrix, [8.0, 9.0, 12.0])
    )
    plain.factorise_packed(packed, 3, np.empty(LANES), 1e-14)
    plain.solve_packed(packed, right)
    assert np.all(right[1] == 0.0)
    expected = np.linalg.solve([[4.0, 2.0], [2.0, 9.0]], [8.0, 12.0])
    np.testing.assert_allclose(right[[0, 2], 0], expected)


# --- many problems


def problem(n=40, d=4, seed=0, replicates=12, cost=1.0, *, is_rough=False):
    """Problems on overlapping classes, from no start at all; the columns are not scaled."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    features = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    rows = y[:, None] * np.column_stack([features, np.ones(n)])
    weights = rng.exponential(size=(replicates, n))
    bounds = cost * weights / weights.mean(axis=1, keepdims=True)
    metric, start = np.append(np.ones(d), 0.0), np.zeros(d + 1)
    pulls = np.zeros((replicates, d + 1))
    return features, y, Problems.of(rows, metric, start, bounds, pulls, is_rough=is_rough)


def solve(problems, tolerance=1e-12, max_steps=60, feasible=1e-9, kernel=compiled):
    work = workspace(*problems.rows.shape, kind=problems.rows.dtype)
    return kernel.follow_paths(*problems, *work, 0.3, tolerance, feasible, max_steps)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), cost=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_optimum_is_no_farther_than_the_gap(seed, cost):
    features, y, problems = problem(seed=seed, cost=cost)
    solve(problems, tolerance=1e-4)
    for u, gap, upper in zip(problems.solutions, problems.gaps, problems.bounds, strict=True):
        solution = solve_features(features, y, upper)
        best = solution.weights @ solution.weights / 2 + upper @ solution.slack
        slack = np.maximum(0.0, 1.0 - problems.rows @ u)
        reached = u[:-1] @ u[:-1] / 2 + upper @ slack
        assert -1e-9 * best <= reached - best <= gap + 1e-9 * best
        assert np.linalg.norm(u[:-1] - solution.weights) <= np.sqrt(2.0 * gap) + 1e-9


def test_the_gap_closes_in_few_steps():
    _, _, problems = problem(n=80, d=6, replicates=LANES)
    assert solve(problems) <= 30  # the slowest of all, from no start at all
    assert problems.gaps.max() <= 1e-10
    assert problems.slips.max() <= 1e-6


def test_more_problems_than_lanes_are_all_solved():
    features, y, problems = problem(replicates=2 * LANES + 3)
    solve(problems)
    for which in (0, LANES, 2 * LANES + 2):
        exact = solve_features(features, y, problems.bounds[which])
        np.testing.assert_allclose(
            problems.solutions[which], np.append(exact.weights, exact.bias), atol=1e-6
        )


def test_a_problem_starts_on_the_central_path():
    _, _, problems = problem()
    problems.bounds[0, :3] = 1e-6, 1e6, 0.0
    margin = np.linspace(-3.0, 5.0, 40)
    work = workspace(40, 5)
    memory = (work.tile, work.lanes, work.weights, work.right, work.u)
    plain.enter(problems.bounds, problems.start, margin, *memory, 0.3, FAR, 0, 7)
    share, rest, surplus, slack, upper = (
        work.tile[:, k + 7] for k in (SHARE, REST, SURPLUS, SLACK, BOUND)
    )
    live = upper > 0.0
    mu = 0.3 * upper[live].mean()
    np.testing.assert_allclose((upper * share * surplus)[live], mu)
    np.testing.assert_allclose((upper * rest * slack)[live], mu)
    np.testing.assert_allclose(share + rest, 1.0)
    scale = np.maximum(surplus, 1.0)[live]
    np.testing.assert_allclose((surplus - slack - margin + 1.0)[live] / scale, 0.0, atol=1e-12)
    assert surplus[2] == slack[2] == FAR
    assert work.lanes[GAP + 7] == pytest.approx(2 * 39 * mu)
    assert work.lanes[MASS + 7] == pytest.approx(upper @ share)


def test_only_an_example_inside_both_bounds_is_on_the_margin():
    tile = workspace(3, 2).tile
    # At 0 with a surplus, on the margin, at its bound with a slack.
    tile[:, SHARE], tile[:, REST] = (1e-9, 0.4, 1.0), (1.0, 0.6, 1e-9)
    tile[:, SURPLUS], tile[:, SLACK] = (2.0, 3e-9, 1e-9), (1e-9, 2e-9, 2.0)
    assert plain.slip(tile, 0) == pytest.approx(5e-9)
    tile[1, BOUND] = 0.0
    assert plain.slip(tile, 0) == np.inf


def test_a_problem_that_has_not_arrived_knows_no_gap():
    _, _, problems = problem()
    assert solve(problems, max_steps=2) == 2
    assert np.all(problems.gaps == np.inf)
    np.testing.assert_array_equal(problems.solutions, 0.0)


def test_the_uncompiled_twin_of_many_problems_goes_the_same_way():
    _, _, ours = problem(n=12, d=2, replicates=3)
    _, _, theirs = problem(n=12, d=2, replicates=3)
    steps = solve(ours)
    assert solve(theirs, kernel=plain) == steps
    np.testing.assert_allclose(ours.solutions, theirs.solutions, atol=1e-9)
    np.testing.assert_allclose(ours.gaps, theirs.gaps, atol=1e-9)


def test_shares_are_exact_where_a_margin_is_farther_from_1_than_the_bound():
    tile, shares = workspace(4, 2).tile, np.empty((2, 4))
    # Beyond the margin, on it, before it, and not yet clear.
    tile[:, SHARE], tile[:, REST] = (0.1, 0.4, 0.9, 0.2), (0.9, 0.6, 0.1, 0.8)
    tile[:, SURPLUS], tile[:, SLACK] = (2.0, 0.1, 0.1, 0.1), (0.1, 0.2, 2.0, 0.7)
    plain.stand(tile, shares, 1, 0)
    assert shares[1].tolist() == [0.0, 0.4, 1.0, 0.2]


def test_rough_problems_know_nearly_all_sides():
    features, y, rough = problem(n=80, d=6, replicates=LANES, is_rough=True)
    solve(rough, tolerance=1e-4, feasible=1e-3)
    assert rough.shares.dtype == np.float32
    for shares, upper in zip(rough.shares, rough.bounds, strict=True):
        exact = solve_features(features, y, upper.astype(np.float64)).alpha / upper
        sides = (exact > 1.0 - 1e-9).astype(int) - (exact < 1e-9)
        ours = (shares == 1.0).astype(int) - (shares == 0.0)
        assert np.count_nonzero(sides != ours) <= 4


def test_what_is_at_its_bound_may_be_a_pull_without_a_row():
    _, _, whole = problem()
    solve(whole)
    held = (whole.rows @ whole.solutions.T < 1.0 - 1e-3).all(axis=1)
    assert 0 < held.sum() < 40
    pulls = whole.bounds[:, held] @ whole.rows[held]
    fewer = Problems.of(whole.rows[~held], whole.metric, whole.start, whole.bounds[:, ~held], pulls)
    solve(fewer)
    np.testing.assert_allclose(fewer.solutions, whole.solutions, atol=1e-6)
