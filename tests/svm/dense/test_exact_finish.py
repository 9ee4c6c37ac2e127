import numpy as np
import pytest

from truerisk.kernels import interior as kernel
from truerisk.svm.dense.exact_finish import Problem, balance, finish, vertex_of
from truerisk.svm.dense.features import workspace
from truerisk.svm.solution import bounds_of_bias


def near(rows, upper, metric, target):
    """Give an interior point at this distance of the optimum."""
    n, m = rows.shape
    u, state = np.zeros(m), np.vstack([np.full((2, n), 0.5), np.ones((2, n))])
    kernel.follow_path(rows, upper, metric, u, state, *workspace(n, m), target, 100)
    return u, state


def overlapping(n, d, seed, digits=None):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d))
    z = z if digits is None else np.round(z, digits)
    y = np.where(z[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return y[:, None] * np.column_stack([z, np.ones(n)])


def finished(rows, upper, metric, target=1e-8, max_rounds=1000):
    u, state = near(rows, upper, metric, target)
    return finish(Problem(rows, upper, metric), u, state, tolerance=1e-9, max_rounds=max_rounds)


def test_two_points_by_hand():
    # x = −1 and 3: the margin is 4 wide, so w = ½, b = −½, α = w²/2 = ⅛.
    rows = np.array([[1.0, -1.0], [3.0, 1.0]])
    vertex = finished(rows, np.full(2, 10.0), np.array([1.0, 0.0]))
    np.testing.assert_allclose(vertex.alpha, 0.125, rtol=1e-14)
    np.testing.assert_allclose(vertex.u, [0.5, -0.5], rtol=1e-14)
    assert vertex.gap < 1e-15


def test_balance_meets_margin_and_metric():
    rows, metric = overlapping(3, 5, 1), np.append(10.0 ** np.arange(-6, 9, 3), 0.0)
    held, alpha = np.array([1.0, -2.0, 3.0, 1.0, 2.0, 0.5]), np.array([1.0, 2.0, 3.0])
    aim = balance(rows, np.array([1.0, 2.0, 3.0]), metric, held, alpha, np.zeros(6))
    assert aim.longest == 1.0
    np.testing.assert_allclose(rows @ aim.u, 1.0, rtol=1e-12)
    moved = alpha + aim.step
    assert np.all(
        np.abs(metric * aim.u - held - rows.T @ moved)
        < 1e-12 * (np.abs(held) + np.abs(rows).T @ np.abs(moved))
    )


def test_balance_needs_no_second_time_but_for_rounding(monkeypatch):
    monkeypatch.setattr("truerisk.svm.dense.exact_finish.CORRECTIONS", 1)
    rows, metric, held = overlapping(3, 5, 1), np.array([2.0, 1.0, 3.0, 1.0, 2.0, 0.0]), np.ones(6)
    aim = balance(rows, np.ones(3), metric, held, np.ones(3), np.zeros(6))
    np.testing.assert_allclose(rows @ aim.u, 1.0, rtol=1e-12)
    np.testing.assert_allclose(rows.T @ (1.0 + aim.step), metric * aim.u - held, atol=1e-12)


def test_balance_shares_a_change_among_equal_examples_by_weight():
    rows = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    weights = np.array([1.0, 3.0, 1.0])
    aim = balance(rows, weights, np.array([1.0, 0.0]), np.zeros(2), np.zeros(3), np.zeros(2))
    # w = 1 and b = 0 by the margins, so the α of either side add up to ½.
    np.testing.assert_allclose(aim.step, [0.125, 0.375, 0.5], rtol=1e-12)


def test_where_no_u_meets_all_margins_only_the_bounds_end_the_way():
    rows = np.array([[1.0, 1.0], [2.0, 1.0], [4.0, 1.0], [1.0, -1.0]])
    aim = balance(rows, np.ones(4), np.array([1.0, 0.0]), np.zeros(2), np.ones(4), np.zeros(2))
    assert aim.longest == np.inf
    np.testing.assert_allclose(rows.T @ aim.step, 0.0, atol=1e-12)
    assert aim.step.sum() > 0.0  # the dual objective is Σα where u stays


def test_with_none_free_the_metric_alone_decides():
    held = np.array([3.0, 4.0, 0.0])
    none = np.zeros(0)
    aim = balance(np.zeros((0, 3)), none, np.array([1.0, 2.0, 0.0]), held, none, np.full(3, 7.0))
    np.testing.assert_array_equal(aim.u, [3.0, 2.0, 7.0])


@pytest.mark.parametrize("target", [1e-1, 1e-4, 1e-8])
@pytest.mark.parametrize("digits", [None, 0])
def test_it_ends_exactly_however_far_the_interior_point(target, digits):
    rows = overlapping(150, 3, 4, digits)
    upper, metric = np.random.default_rng(5).uniform(0.1, 1.0, 150), np.array([1.0, 2.0, 3.0, 0.0])
    vertex = finished(rows, upper, metric, target)
    alpha, margin = vertex.alpha, rows @ vertex.u
    assert vertex.gap < 1e-9
    assert np.all(margin[alpha == 0.0] > 1 - 1e-9)
    assert np.all(margin[alpha == upper] < 1 + 1e-9)
    np.testing.assert_allclose(margin[(alpha > 0.0) & (alpha < upper)], 1.0, atol=1e-9)
    np.testing.assert_allclose(rows.T @ alpha, metric * vertex.u, atol=1e-11)
    if digits is None:
        assert np.sum((alpha > 0.0) & (alpha < upper)) <= 4


def test_it_ends_at_once_where_more_are_free_than_the_rounds_can_hold(monkeypatch):
    rows, upper, metric = overlapping(150, 3, 4), np.ones(150), np.array([1.0, 2.0, 3.0, 0.0])
    state, systems = np.ones((4, 150)), []
    state[:2] = 0.5
    state[2:] = np.where(np.arange(150) < 20, 0.1, 1.0)  # twenty are free, and four can be
    monkeypatch.setattr(
        "truerisk.svm.dense.exact_finish.balance",
        lambda *system: systems.append(system) or balance(*system),
    )
    for max_rounds, rounds in ((15, 1), (16, 16)):
        systems.clear()
        problem, u = Problem(rows, upper, metric), np.zeros(4)
        finish(problem, u, state.copy(), tolerance=1e-9, max_rounds=max_rounds)
        assert len(systems) == rounds


def test_equal_examples_have_equal_alpha():
    rows = overlapping(200, 1, 6, digits=0)
    alpha = finished(rows, np.ones(200), np.array([1.0, 0.0])).alpha
    assert np.sum((alpha > 0.0) & (alpha < 1.0)) > 10
    for row in np.unique(rows, axis=0):
        np.testing.assert_allclose(np.ptp(alpha[(rows == row).all(axis=1)]), 0.0, atol=1e-9)


def test_without_a_free_example_the_bias_is_in_the_middle():
    # x = 1, 2 against −1, −1, all α at bounds of .01: w = .05, and y − wx leaves b in [−.95, .9].
    rows = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, -1.0], [1.0, -1.0]])
    vertex = finished(rows, np.full(4, 0.01), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(vertex.alpha, 0.01)
    np.testing.assert_allclose(vertex.u, [0.05, -0.025], atol=1e-14)


def two_points():
    return Problem(np.array([[1.0, -1.0], [3.0, 1.0]]), np.ones(2), np.array([1.0, 0.0]))


def test_a_gap_is_told_from_alpha_where_u_does_not_belong_to_it():
    optimal, rounding = np.array([0.5, -0.5]), np.full(2, 1e-12)
    assert vertex_of(two_points(), np.full(2, 0.125), optimal, rounding).gap < 1e-15
    # α of half the size has w = ¼: y − wx is −.75 at x = −1 and .25 at x = 3.
    short = vertex_of(two_points(), np.full(2, 0.0625), optimal, rounding)
    assert short.gap == pytest.approx(1.0)
    assert short.u[0] == pytest.approx(0.25)


def test_an_alpha_that_does_not_balance_the_classes_is_shrunk_until_it_does():
    vertex = vertex_of(two_points(), np.array([0.2, 0.125]), np.zeros(2), np.full(2, 1e-12))
    np.testing.assert_allclose(vertex.alpha, 0.125)


def test_magnitudes_are_summed_over_all_pieces(monkeypatch):
    monkeypatch.setattr("truerisk.svm.dense.exact_finish.PIECE", 4)
    rows, alpha = overlapping(10, 2, 7), np.arange(10.0)
    found = Problem(rows, np.ones(10), np.ones(3)).magnitude(alpha)
    np.testing.assert_allclose(found, np.abs(rows).T @ alpha, rtol=1e-14)


def test_too_few_rounds_are_told_by_the_gap():
    rows = overlapping(150, 3, 4)
    metric = np.array([1.0, 1.0, 1.0, 0.0])
    vertex = finished(rows, np.ones(150), metric, target=1.0, max_rounds=1)
    most, least = bounds_of_bias(rows[:, -1], np.ones(150), vertex.alpha, rows @ vertex.u)
    assert vertex.gap == most - least > 1e-3
