import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.svm.solvers.batch_cholesky import packed_products
from truerisk.svm.solvers.batch_lanes import (
    BOUND,
    FAR,
    GAP,
    LANES,
    MASS,
    REST,
    SHARE,
    SLACK,
    SURPLUS,
)
from truerisk.svm.solvers.batch_path import Machines, enter, follow_paths, slip, workspace
from truerisk.svm.solvers.low_rank import solve_features


def problem(n=40, d=4, seed=0, replicates=12, cost=1.0):
    """Machines on overlapping classes, from no start at all; the columns are not scaled."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    features = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    rows = y[:, None] * np.column_stack([features, np.ones(n)])
    weights = rng.exponential(size=(replicates, n))
    bounds = cost * weights / weights.mean(axis=1, keepdims=True)
    empty = (np.empty((replicates, d + 1)), np.empty(replicates), np.empty(replicates))
    metric = np.append(np.ones(d), 0.0)
    start = np.zeros(d + 1)
    return features, y, Machines(rows, packed_products(rows), metric, start, 0.3, bounds, *empty)


def solve(machines, tolerance=1e-12, max_steps=60):
    n, m = machines.rows.shape
    return follow_paths(machines, workspace(n, m), tolerance, max_steps)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), cost=st.sampled_from([0.01, 1.0, 100.0]))
def test_the_optimum_is_no_farther_than_the_gap(seed, cost):
    features, y, machines = problem(seed=seed, cost=cost)
    solve(machines, tolerance=1e-4)
    for u, gap, upper in zip(machines.found, machines.gaps, machines.bounds, strict=True):
        solution = solve_features(features, y, upper)
        best = solution.weights @ solution.weights / 2 + upper @ solution.slack
        slack = np.maximum(0.0, 1.0 - machines.rows @ u)
        reached = u[:-1] @ u[:-1] / 2 + upper @ slack
        assert -1e-9 * best <= reached - best <= gap + 1e-9 * best
        assert np.linalg.norm(u[:-1] - solution.weights) <= np.sqrt(2.0 * gap) + 1e-9


def test_the_gap_closes_in_few_steps():
    _, _, machines = problem(n=80, d=6, replicates=LANES)
    assert solve(machines) <= 30  # the slowest of all, from no start at all
    assert machines.gaps.max() <= 1e-10
    assert machines.slips.max() <= 1e-6


def test_more_machines_than_lanes_are_all_solved():
    features, y, machines = problem(replicates=2 * LANES + 3)
    solve(machines)
    for which in (0, LANES, 2 * LANES + 2):
        exact = solve_features(features, y, machines.bounds[which])
        np.testing.assert_allclose(
            machines.found[which], np.append(exact.weights, exact.bias), atol=1e-6
        )


def test_a_machine_starts_on_the_central_path():
    _, _, machines = problem()
    machines.bounds[0, :3] = 1e-6, 1e6, 0.0
    margin = np.linspace(-3.0, 5.0, 40)
    work = workspace(40, 5)
    enter(machines, work, margin, 0, 7)
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
    assert slip(tile, 0) == pytest.approx(5e-9)
    tile[1, BOUND] = 0.0
    assert slip(tile, 0) == np.inf


def test_a_machine_that_has_not_arrived_knows_no_gap():
    _, _, machines = problem()
    assert solve(machines, max_steps=2) == 2
    assert np.all(machines.gaps == np.inf)
    np.testing.assert_array_equal(machines.found, 0.0)
