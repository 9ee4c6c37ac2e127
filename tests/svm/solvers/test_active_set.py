"""The path of exact solutions: optimal at its end, with every event on the way."""

import numpy as np
import pytest

from truerisk.svm.solvers.active_set import (
    ARRIVED,
    FULL,
    GOING,
    NO_PARTNER,
    NOBODY,
    RIGHT,
    TOO_MANY,
    WRONG,
    Watch,
    aim,
    aim_again,
    follow,
    largest_error,
    most_urgent,
    next_bound,
    sure_sign,
)
from truerisk.svm.solvers.free_block import empty_block, fill_block, members_of
from truerisk.svm.solvers.gram_dual import begin, solve_gram
from truerisk.svm.solvers.path_state import (
    ANSWER,
    BIAS,
    CLOCK,
    EVENTS,
    IMBALANCE,
    LOWER,
    LOWER_RATE,
    RESIDUAL,
    SIDE,
    SLOPE,
    UPPER,
    UPPER_RATE,
    URGENCY,
    Z,
    arrive,
    depart,
    empty_path,
)
from truerisk.svm.solvers.polish import limits_of, set_out, stay, travel


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 5))
    y = np.where(X[:, 0] + 0.6 * rng.standard_normal(40) > 0, 1.0, -1.0)
    return X @ X.T, y


def path_to(gram, y, before, after):
    """From the solution with bounds `before` towards that with bounds `after`."""
    dual = begin(gram, y, before, solve_gram(gram, y, before))
    path, verdict = travel(set_out(dual), 1000)
    assert verdict == ARRIVED
    stay(path, dual.lower, dual.upper)
    moved = begin(gram, y, after, None)
    path.rows[UPPER_RATE] = moved.upper - dual.upper
    path.rows[LOWER_RATE] = moved.lower - dual.lower
    depart(path)
    return path


def violation(gram, y, path):
    """Of the optimality conditions at the end of the path, by its own bias."""
    rows = path.rows
    residual = gram @ rows[Z] + path.at[BIAS] - y
    wrong = np.where(rows[SIDE] == 0.0, np.abs(residual), np.maximum(-rows[SIDE] * residual, 0.0))
    return max(wrong.max(), abs(rows[Z].sum()))


@pytest.mark.parametrize("factor", [1e-2, 0.3, 3.0, 1e3])
def test_bounds_that_move_end_in_the_solution_for_the_new_bounds(data, factor):
    gram, y = data
    after = factor * np.random.default_rng(0).uniform(0.5, 1.5, 40)
    path = path_to(gram, y, np.ones(40), after)
    assert follow(path, NOBODY, limits_of(path, 1000)) == ARRIVED
    arrive(path)
    assert violation(gram, y, path) < 1e-9
    exact = solve_gram(gram, y, after)
    np.testing.assert_allclose(gram @ path.rows[Z], gram @ (y * exact.alpha), atol=1e-8)


def test_the_uncompiled_twin_follows_the_same_path(data):
    gram, y = data
    paths = [path_to(gram, y, np.ones(40), np.full(40, 2.0)) for _ in range(2)]
    limits = limits_of(paths[0], 1000)
    assert follow(paths[0], NOBODY, limits) == follow.py_func(paths[1], NOBODY, limits)
    np.testing.assert_allclose(paths[0].rows[Z], paths[1].rows[Z], atol=1e-10)
    assert paths[0].at[EVENTS] == paths[1].at[EVENTS] > 1


def test_a_full_block_and_the_cap_are_told(data):
    gram, y = data
    path = path_to(gram, y, np.full(40, 1e-3), np.full(40, 2.0))
    limits = limits_of(path, 1000)
    assert follow(path, NOBODY, limits._replace(max_events=3)) == TOO_MANY
    assert path.at[EVENTS] == 3
    path = path_to(gram, y, np.full(40, 1e-3), np.full(40, 2.0))
    small = empty_block(len(members_of(path.block)) + 1)
    fill_block(gram, members_of(path.block), small, 1e-9)
    assert follow(path._replace(block=small), NOBODY, limits) == FULL


def test_with_nobody_to_take_the_place_there_is_no_partner():
    path = empty_path(np.eye(3), 5)
    path.rows[LOWER], path.rows[UPPER], path.rows[SIDE] = -1.0, 1.0, 1.0
    path.rows[LOWER_RATE, 0] = 0.5
    depart(path)
    # Σz rises, and nobody stands at an upper bound and could fall
    assert follow(path, NOBODY, limits_of(path, 100)) == NO_PARTNER


def test_rates_leave_the_residual_of_free_examples_alone(data):
    gram, y = data
    path = path_to(gram, y, np.ones(40), np.full(40, 2.0))
    aim(path)
    rates = np.where(path.rows[SIDE] < 0, path.rows[UPPER_RATE], path.rows[LOWER_RATE])
    members = members_of(path.block)
    rates[members] = path.block.vectors[ANSWER, 1 : len(members) + 1]
    assert rates.sum() == pytest.approx(0.0, abs=1e-10)
    expected = gram @ rates + path.block.vectors[ANSWER, 0]
    np.testing.assert_allclose(path.rows[SLOPE], expected, atol=1e-10)
    assert largest_error(path.rows[SLOPE], path.block) < 1e-10


def test_a_second_aim_mends_a_spoilt_inverse(data):
    gram, y = data
    path = path_to(gram, y, np.ones(40), np.linspace(1.0, 3.0, 40))
    m = path.block.members[0] + 1
    path.block.inverse[:m, :m] *= 1.0 + 1e-4
    aim(path)
    before = largest_error(path.rows[SLOPE], path.block)
    loose = abs(path.at[IMBALANCE] + path.block.vectors[ANSWER, 1:m].sum())
    aim_again(path)
    assert largest_error(path.rows[SLOPE], path.block) < 1e-3 * before
    assert abs(path.at[IMBALANCE] + path.block.vectors[ANSWER, 1:m].sum()) < 1e-3 * loose


def test_the_first_bound_is_the_nearest_in_time():
    path = empty_path(np.eye(3), 5)
    path.rows[LOWER], path.rows[UPPER] = -1.0, 1.0
    fill_block(np.eye(3), np.array([0, 1, 2]), path.block, 1e-9)
    members = members_of(path.block)
    path.rows[Z, members] = [0.0, 0.5, 0.5]
    path.block.vectors[ANSWER, 1:4] = [2.0, -4.0, 1.0]  # 1 / 2, 1.5 / 4, 0.5 / 1
    assert next_bound(path.rows, 0.0, path.block) == (0.375, 2, 2)
    path.rows[UPPER_RATE] = 4.5  # bounds that run ahead are not met
    assert next_bound(path.rows, 0.0, path.block) == (0.375, 2, 2)


def test_urgency_is_one_over_the_time_to_come_free():
    path = empty_path(np.eye(4), 5)
    path.rows[SIDE] = [1.0, -1.0, 1.0, 0.0]
    path.rows[RESIDUAL] = [0.5, -0.2, 0.1, 0.0]
    path.rows[SLOPE] = [-2.0, 1.0, 3.0, -9.0]
    assert most_urgent(path.rows, 0.0) == 5.0
    np.testing.assert_allclose(path.rows[URGENCY], [4.0, 5.0, -30.0, 0.0])


def test_a_sign_is_sure_below_0_or_beyond_reach():
    path = empty_path(np.eye(3), 5)
    path.rows[UPPER] = 1.0
    fill_block(np.eye(3), np.array([1, 2]), path.block, 1e-9)
    path.rows[Z, 1:] = 0.5
    watch = Watch(0, 1.0, 2.0, 1e-9)
    for margin, expected in ((-0.1, WRONG), (0.5, GOING), (0.7, RIGHT)):
        path.rows[RESIDUAL, 0] = margin - 1.0
        assert sure_sign(path, watch, 0.3) == expected
    # the free have room for 1.0 above, but not below
    path.rows[Z, 1:] = 0.05
    path.rows[RESIDUAL, 0] = 0.3
    assert sure_sign(path, watch, 0.3) == RIGHT
    path.rows[RESIDUAL, 0] = -0.3
    assert sure_sign(path, watch._replace(sign=-1.0), 0.3) == GOING


def test_the_clock_stands_at_1_when_all_is_done(data):
    gram, y = data
    path = path_to(gram, y, np.ones(40), np.ones(40))
    assert follow(path, NOBODY, limits_of(path, 10)) == ARRIVED
    assert path.at[CLOCK] == 1.0
