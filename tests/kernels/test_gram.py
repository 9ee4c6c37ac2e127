"""Loops on a Gram matrix: every part by hand, and the compiled form beside its uncompiled twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.kernels import gram as compiled
from truerisk.kernels import uncompiled
from truerisk.svm.gram.dual import begin, solve_gram
from truerisk.svm.gram.leave_out import Ground, exact_start
from truerisk.svm.gram.path import (
    ANSWER,
    ARRIVED,
    BIAS,
    CLOCK,
    DRIFT,
    EVENTS,
    FULL,
    GOING,
    IMBALANCE,
    LOWER,
    LOWER_RATE,
    NO_PARTNER,
    NOBODY,
    QUESTION,
    RESIDUAL,
    RIGHT,
    SIDE,
    SINGULAR,
    SLOPE,
    TARGET_RATE,
    TOO_MANY,
    UPPER,
    UPPER_RATE,
    URGENCY,
    WRONG,
    Dual,
    Watch,
    Z,
    empty_block,
    empty_path,
    fill_block,
    follow,
    grown,
    limits_at,
    limits_of,
    members_of,
    restart_at,
    spread,
    start_at,
)
from truerisk.svm.kernels import POWERS

plain = uncompiled("gram")

SMO_FLOOR = 1e-12


def dual_of(gram, y, upper):
    lower, higher = np.where(y > 0, 0.0, -upper), np.where(y > 0, upper, 0.0)
    return Dual(gram, np.diagonal(gram).copy(), lower, higher, np.zeros(len(y)), y.copy())


def value(dual, y):
    """What is minimised: ½ zᵀKz − yᵀz."""
    return dual.z @ dual.gram @ dual.z / 2 - y @ dual.z


@pytest.fixture
def separable():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    return X @ X.T, y, rng.uniform(0.1, 2.0, 60)


def test_two_points_by_hand():
    # x = −1, 1: the margin is met at w = 1, so that both α are ½ after one step
    dual = dual_of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, 1.0]), np.ones(2))
    steps, top, bottom = compiled.improve(dual, SMO_FLOOR, 1e-9, 10)
    assert steps == 1
    assert list(dual.z) == [-0.5, 0.5]
    assert top == bottom == 0.0


def test_no_pair_that_may_move_asks_for_different_biases(separable):
    gram, y, upper = separable
    dual = dual_of(gram, y, upper)
    _, top, bottom = compiled.improve(dual, SMO_FLOOR, 1e-8, 10**6)
    gradient = y - gram @ dual.z
    np.testing.assert_allclose(dual.gradient, gradient, atol=1e-10)
    assert gradient[dual.z < dual.upper].max() == pytest.approx(top, abs=1e-10)
    assert gradient[dual.z > dual.lower].min() == pytest.approx(bottom, abs=1e-10)
    assert top - bottom <= 1e-8
    assert dual.z.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.all((dual.lower <= dual.z) & (dual.z <= dual.upper))


def test_the_uncompiled_twin_takes_the_same_steps(separable):
    gram, y, upper = separable
    by_compiled, by_plain = dual_of(gram, y, upper), dual_of(gram, y, upper)
    first = compiled.improve(by_compiled, SMO_FLOOR, 1e-4, 200)
    second = plain.improve(by_plain, SMO_FLOOR, 1e-4, 200)
    assert first == pytest.approx(second, abs=1e-12)
    np.testing.assert_allclose(by_compiled.z, by_plain.z, atol=1e-12)


def test_the_cap_is_kept_and_the_gap_told(separable):
    gram, y, upper = separable
    steps, top, bottom = compiled.improve(dual_of(gram, y, upper), SMO_FLOOR, 1e-8, 7)
    assert steps == 7
    assert top - bottom > 1e-8


def test_every_step_gains(separable):
    gram, y, upper = separable
    dual = dual_of(gram, y, upper)
    values = []
    for _ in range(20):
        values.append(value(dual, y))
        compiled.improve(dual, SMO_FLOOR, 1e-8, 1)
    assert np.all(np.diff(values) < 0.0)


def test_the_partner_is_the_one_that_gains_most():
    # with i = 0: differences 1 + 0.5 and 1 + 3, curvatures 1 and 16; 2.25 / 1 beats 16 / 16
    gram = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 15.0]])
    y = np.array([1.0, -1.0, -1.0])
    dual, moves = dual_of(gram, y, np.ones(3)), plain.Moves(np.empty(3), np.empty(3), np.empty(3))
    dual.gradient[:] = [1.0, -0.5, -3.0]
    moves.fall[:] = 0.0
    bottom, best = plain.weigh_partners(dual, moves, 0, 1.0, SMO_FLOOR)
    assert (bottom, best) == (-3.0, 2.25)
    assert plain.first_reaching(moves.gain, best) == 1


def test_a_bound_that_is_met_is_met_exactly():
    dual = dual_of(np.eye(2), np.array([1.0, -1.0]), np.array([0.3, 0.1]))
    assert plain.shift(dual, 0, 1, 5.0) == pytest.approx(0.1)
    assert list(dual.z) == [pytest.approx(0.1), -0.1]


def test_an_update_keeps_the_gradient_true(separable):
    gram, y, upper = separable
    dual = dual_of(gram, y, upper)
    dual.z[3] += 0.01
    dual.z[8] -= 0.01
    top = plain.update(dual, np.zeros(60), 3, 8, 0.01)
    np.testing.assert_allclose(dual.gradient, y - gram @ dual.z, atol=1e-12)
    assert top == dual.gradient.max()
    again = y.copy()
    compiled.subtract_product(gram, dual.z, again)
    np.testing.assert_allclose(again, dual.gradient, atol=1e-12)


@pytest.mark.parametrize(
    ("z", "violation"),
    [
        ([0.5, -0.5], 0.1),  # both are free, and ask for different biases
        ([1.0, -1.0], 0.0),  # both are at their bounds: any bias between is right
        ([0.0, 0.0], 0.1),  # both want to move towards each other
    ],
)
def test_the_bias_is_the_mean_of_the_free_or_the_middle(z, violation):
    dual = dual_of(np.eye(2), np.array([1.0, -1.0]), np.ones(2))
    dual.z[:] = z
    dual.gradient[:] = [0.2, 0.1]
    assert compiled.bias_and_gap(dual) == pytest.approx((0.15, violation))


def test_with_one_class_the_bias_calls_everybody_that():
    dual = dual_of(np.eye(3), np.ones(3), np.ones(3))
    assert compiled.bias_and_gap(dual) == (1.0, 0.0)
    dual = dual_of(np.eye(3), -np.ones(3), np.ones(3))
    assert compiled.bias_and_gap(dual) == (-1.0, 0.0)
    dual = dual_of(np.eye(3), np.ones(3), np.zeros(3))
    assert compiled.bias_and_gap(dual) == (0.0, 0.0)


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_an_indefinite_matrix_ends_too(seed, n):
    rng = np.random.default_rng(seed)
    gram = rng.standard_normal((n, n))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    dual = dual_of(gram + gram.T, y, rng.uniform(0.0, 3.0, n))
    compiled.improve(dual, SMO_FLOOR, 1e-9, 10_000)
    assert np.isfinite(dual.z).all()
    assert np.all((dual.lower <= dual.z) & (dual.z <= dual.upper))


FLOOR = 1e-9


def error_of(gram, block):
    """How far the inverse times the bordered block is from 1."""
    members = members_of(block)
    m = len(members) + 1
    bordered = np.ones((m, m))
    bordered[0, 0] = 0.0
    bordered[1:, 1:] = gram[np.ix_(members, members)]
    return np.abs(block.inverse[:m, :m] @ bordered - np.eye(m)).max()


@pytest.fixture
def gram():
    X = np.random.default_rng(2).standard_normal((12, 12))
    return X @ X.T


def test_one_member_by_hand():
    # b + 4z = g, z = s: z = s and b = g − 4s
    block = empty_block(3)
    plain.enter_first(block, np.array([[4.0]]), 0)
    assert block.inverse[:2, :2].tolist() == [[-4.0, 1.0], [1.0, 0.0]]


def test_filled_at_once_or_one_by_one_it_is_the_same(gram):
    at_once, one_by_one = empty_block(10), empty_block(10)
    assert len(fill_block(gram, np.array([4, 2, 9, 7]), at_once, FLOOR)) == 0
    plain.enter_first(one_by_one, gram, 4)
    for i in members_of(at_once)[1:]:
        plain.enter(one_by_one, i, plain.distance_to(gram, one_by_one, i))
    assert error_of(gram, at_once) < 1e-10
    np.testing.assert_allclose(at_once.inverse, one_by_one.inverse, atol=1e-9)


@given(st.integers(0, 10**6))
def test_it_stays_true_while_members_come_and_go(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 12))
    gram = X @ X.T
    block = empty_block(10)
    fill_block(gram, rng.permutation(10)[:5], block, FLOOR)
    for _ in range(8):
        members = members_of(block)
        outside = np.setdiff1d(np.arange(10), members)
        if len(members) > 2 and (rng.random() < 0.5 or len(outside) == 0):
            place = int(rng.integers(1, len(members) + 1))
            gone = block.members[place]
            assert plain.leave(block, place)
            assert gone not in members_of(block)
        else:
            plain.enter(block, outside[0], plain.distance_to(gram, block, outside[0]))
    assert error_of(gram, block) < 1e-6


def test_the_distance_is_that_of_the_affine_hull():
    # the line through (0, 0) and (1, 0) is 3 away from (5, 3)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 3.0]])
    block = empty_block(4)
    fill_block(X @ X.T, np.array([0, 1]), block, FLOOR)
    assert plain.distance_to(X @ X.T, block, 2) == pytest.approx(9.0)
    # (5, 3) = −4·(0, 0) + 5·(1, 0) + what is orthogonal; the members move the other way
    assert block.vectors[ANSWER, 1:3] == pytest.approx([4.0, -5.0])


def test_a_small_distance_keeps_its_digits():
    X = np.array([[1e3, 0.0], [1e3, 1.0], [1e3, 2.0], [1e3 + 1e-3, 7.0]])
    block = empty_block(4)
    fill_block(X @ X.T, np.array([0, 1]), block, 1e-12)
    assert plain.distance_to(X @ X.T, block, 2) == pytest.approx(0.0, abs=1e-9)
    assert plain.distance_to(X @ X.T, block, 3) == pytest.approx(1e-6, rel=1e-2)


def test_members_that_depend_on_others_stay_outside():
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    block = empty_block(4)
    outside = fill_block(X @ X.T, np.arange(4), block, FLOOR)
    assert len(outside) == 2
    assert block.members[0] == 2
    assert error_of(X @ X.T, block) < 1e-12
    assert len(fill_block(np.ones((3, 3)), np.arange(3), empty_block(4), FLOOR)) == 2
    assert len(fill_block(X, np.arange(0), block, FLOOR)) == 0


def test_the_equations_are_answered(gram):
    block = empty_block(6)
    fill_block(gram, np.array([1, 5, 8]), block, FLOOR)
    members = members_of(block)
    block.vectors[QUESTION, :4] = [0.7, 1.0, -2.0, 0.5]
    answer = block.vectors[ANSWER]
    plain.solve_block(block, answer)
    bias, z = answer[0], answer[1:4]
    assert z.sum() == pytest.approx(-0.7)
    assert bias + gram[np.ix_(members, members)] @ z == pytest.approx([-1.0, 2.0, -0.5])


def test_more_room_changes_nothing(gram):
    block = empty_block(4)
    fill_block(gram, np.array([1, 5, 8]), block, FLOOR)
    larger = grown(block, 9)
    assert members_of(larger).tolist() == members_of(block).tolist()
    assert error_of(gram, larger) < 1e-10
    assert larger.inverse.shape == (10, 10)


def test_a_pivot_that_is_not_positive_is_told():
    block = empty_block(3)
    block.members[:3] = [2, 0, 1]
    assert not plain.leave(block, 2)


@pytest.fixture
def line():
    """Five points on a line: three of them are always dependent."""
    x = np.array([0.0, 1.0, 2.0, 4.0, 7.0])
    path = empty_path(np.outer(x, x), 6)
    path.rows[LOWER], path.rows[UPPER] = -1.0, 1.0
    return path


def test_rows_are_added_four_at_a_time():
    rng = np.random.default_rng(1)
    gram = rng.standard_normal((9, 9))
    members = np.array([6, 8, 1, 3, 0, 2, 7])
    weights = rng.standard_normal(7)
    expected = weights[1:] @ gram[members[1:]]
    out = np.ones(9)
    plain.add_rows(gram, members, weights, out)
    np.testing.assert_allclose(out, 1.0 + expected)


def test_departure_sums_up_what_moves_by_itself(line):
    rows = line.rows
    rows[SIDE] = [1.0, -1.0, 0.0, 0.0, 1.0]
    rows[LOWER_RATE] = [0.5, 9.0, 9.0, 0.25, 0.0]
    rows[UPPER_RATE] = [9.0, 2.0, 9.0, 0.25, 9.0]
    rows[LOWER, 3] = rows[UPPER, 3] = 0.1  # without a choice: it moves with its bounds
    rows[TARGET_RATE] = 3.0
    plain.depart(line)
    # 2 is free; the others move by 0.5, 2 and 0.25
    expected = 0.5 * line.gram[0] + 2.0 * line.gram[1] + 0.25 * line.gram[3] - 3.0
    np.testing.assert_allclose(rows[DRIFT], expected)
    assert line.at[IMBALANCE] == 2.75
    plain.carry(line, 1, -2.0)
    assert line.at[IMBALANCE] == 0.75


def test_bounds_move_with_the_clock(line):
    rows = line.rows
    rows[SIDE, :2] = [1.0, -1.0]
    rows[LOWER_RATE], rows[UPPER_RATE] = 0.5, -0.25
    line.at[CLOCK] = 0.5
    assert plain.bound_now(rows, 0.5, 0) == -0.75
    assert plain.bound_now(rows, 0.5, 1) == 0.875
    rows[Z, 2] = 0.3
    plain.arrive(line)
    assert rows[Z, :3].tolist() == [-0.75, 0.875, 0.3]


def test_the_partner_needs_the_least_shift_of_the_bias(line):
    rows = line.rows
    rows[SIDE] = [1.0, 1.0, -1.0, -1.0, 1.0]
    rows[RESIDUAL] = [0.7, 0.2, -0.4, -0.9, 0.5]
    line.at[IMBALANCE] = -1.0  # somebody has to rise, from the lower bound
    assert plain.find_partner(line)
    assert members_of(line.block).tolist() == [1]
    assert rows[SIDE, 1] == rows[RESIDUAL, 1] == 0.0
    assert rows[Z, 1] == -1.0
    np.testing.assert_allclose(rows[RESIDUAL], [0.5, 0.0, -0.6, -1.1, 0.3])
    assert line.at[BIAS] == pytest.approx(-0.2)


def test_the_partner_falls_where_that_is_needed(line):
    line.rows[SIDE] = [1.0, 1.0, -1.0, -1.0, 1.0]
    line.rows[RESIDUAL] = [0.7, 0.2, -0.4, -0.9, 0.5]
    line.at[IMBALANCE] = 1.0
    assert plain.find_partner(line)
    assert members_of(line.block).tolist() == [2]


def test_there_may_be_no_partner(line):
    line.rows[SIDE] = 1.0
    line.at[IMBALANCE] = 1.0
    assert not plain.find_partner(line)


def test_freed_and_bounded_again_nothing_has_changed(line):
    rows = line.rows
    rows[SIDE], rows[LOWER_RATE], rows[UPPER_RATE] = 1.0, 0.5, 0.7
    plain.depart(line)
    drift, imbalance = rows[DRIFT].copy(), line.at[IMBALANCE]
    plain.set_free(line, 3)
    fill_block(line.gram, np.array([3]), line.block, FLOOR)
    assert line.at[IMBALANCE] == imbalance - 0.5
    assert plain.set_bounded(line, 1, 1.0)
    np.testing.assert_allclose(rows[DRIFT], drift)
    assert line.at[IMBALANCE] == imbalance
    assert rows[SIDE, 3] == 1.0


def test_of_two_members_met_at_once_the_larger_share_is_taken(line):
    fill_block(line.gram, np.array([1, 3]), line.block, FLOOR)
    places = {member: place for place, member in enumerate(members_of(line.block), start=1)}
    line.block.vectors[ANSWER, places[1]] = 1e-3
    line.block.vectors[ANSWER, places[3]] = -0.5
    line.rows[Z, 1], line.rows[Z, 3] = 1.0 - 1e-4, -1.0 + 0.05  # both after 0.1
    step, place = plain.find_block(line.rows, 0.0, line.block, 2.0)
    assert step == pytest.approx(0.1)
    assert place == places[3]


def test_a_slide_changes_no_residual_and_keeps_the_sum(line):
    rows = line.rows
    rows[Z] = [-1.0, 0.3, -0.2, 0.5, 1.0]
    rows[SIDE] = [1.0, 0.0, 0.0, -1.0, -1.0]
    rows[Z, 3] = 1.0
    before = rows[Z].copy()
    fill_block(line.gram, np.array([1, 2]), line.block, FLOOR)
    assert plain.distance_to(line.gram, line.block, 3) == pytest.approx(0.0, abs=1e-12)
    assert plain.slide(line, 3)
    assert rows[Z].sum() == pytest.approx(before.sum())
    np.testing.assert_allclose(line.gram @ rows[Z], line.gram @ before, atol=1e-12)
    # 4 = −2·1 + 3·2: as it falls by s, member 1 falls by 2s and member 2 rises by 3s; the latter
    # has room for 1.2, the former for 1.3
    assert rows[Z, 3] == pytest.approx(1.0 - 0.4)
    assert rows[Z, 2] == pytest.approx(1.0)
    assert rows[SIDE, 2] == -1.0
    assert sorted(members_of(line.block)) == [1, 3]


def test_who_slides_all_the_way_ends_at_the_other_bound(line):
    rows = line.rows
    rows[LOWER, 3], rows[UPPER, 3] = -0.01, 0.01
    rows[Z] = [-1.0, 0.0, 0.0, -0.01, 1.0]
    rows[SIDE] = [1.0, 0.0, 0.0, 1.0, -1.0]
    fill_block(line.gram, np.array([1, 2]), line.block, FLOOR)
    plain.distance_to(line.gram, line.block, 3)
    assert plain.slide(line, 3)
    assert rows[SIDE, 3] == -1.0
    assert sorted(members_of(line.block)) == [1, 2]


@pytest.fixture
def moving():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 5))
    y = np.where(X[:, 0] + 0.6 * rng.standard_normal(40) > 0, 1.0, -1.0)
    return X @ X.T, y


def path_to(gram, y, before, after):
    """From the solution with bounds `before` towards that with bounds `after`."""
    dual = begin(gram, y, before, solve_gram(gram, y, before))
    path, verdict = follow(start_at(dual), 1000)
    assert verdict == ARRIVED
    restart_at(path, dual.lower, dual.upper)
    moved = begin(gram, y, after, None)
    path.rows[UPPER_RATE] = moved.upper - dual.upper
    path.rows[LOWER_RATE] = moved.lower - dual.lower
    plain.depart(path)
    return path


def violation(gram, y, path):
    """Of the optimality conditions at the end of the path, by its own bias."""
    rows = path.rows
    residual = gram @ rows[Z] + path.at[BIAS] - y
    wrong = np.where(rows[SIDE] == 0.0, np.abs(residual), np.maximum(-rows[SIDE] * residual, 0.0))
    return max(wrong.max(), abs(rows[Z].sum()))


@pytest.mark.parametrize("factor", [1e-2, 0.3, 3.0, 1e3])
def test_bounds_that_move_end_in_the_solution_for_the_new_bounds(moving, factor):
    gram, y = moving
    after = factor * np.random.default_rng(0).uniform(0.5, 1.5, 40)
    path = path_to(gram, y, np.ones(40), after)
    assert compiled.follow_path(path, NOBODY, limits_of(path, 1000)) == ARRIVED
    plain.arrive(path)
    assert violation(gram, y, path) < 1e-9
    exact = solve_gram(gram, y, after)
    np.testing.assert_allclose(gram @ path.rows[Z], gram @ (y * exact.alpha), atol=1e-8)


def test_the_uncompiled_twin_follows_the_same_path(moving):
    gram, y = moving
    paths = [path_to(gram, y, np.ones(40), np.full(40, 2.0)) for _ in range(2)]
    limits = limits_of(paths[0], 1000)
    assert compiled.follow_path(paths[0], NOBODY, limits) == plain.follow_path(
        paths[1], NOBODY, limits
    )
    np.testing.assert_allclose(paths[0].rows[Z], paths[1].rows[Z], atol=1e-10)
    assert paths[0].at[EVENTS] == paths[1].at[EVENTS] > 1


def test_a_full_block_and_the_cap_are_told(moving):
    gram, y = moving
    path = path_to(gram, y, np.full(40, 1e-3), np.full(40, 2.0))
    limits = limits_of(path, 1000)
    assert compiled.follow_path(path, NOBODY, limits._replace(max_events=3)) == TOO_MANY
    assert path.at[EVENTS] == 3
    path = path_to(gram, y, np.full(40, 1e-3), np.full(40, 2.0))
    small = empty_block(len(members_of(path.block)) + 1)
    fill_block(gram, members_of(path.block), small, 1e-9)
    assert compiled.follow_path(path._replace(block=small), NOBODY, limits) == FULL


def test_with_nobody_to_take_the_place_there_is_no_partner():
    path = empty_path(np.eye(3), 5)
    path.rows[LOWER], path.rows[UPPER], path.rows[SIDE] = -1.0, 1.0, 1.0
    path.rows[LOWER_RATE, 0] = 0.5
    plain.depart(path)
    # Σz rises, and nobody stands at an upper bound and could fall
    assert compiled.follow_path(path, NOBODY, limits_of(path, 100)) == NO_PARTNER


def test_rates_leave_the_residual_of_free_examples_alone(moving):
    gram, y = moving
    path = path_to(gram, y, np.ones(40), np.full(40, 2.0))
    plain.aim(path)
    rates = np.where(path.rows[SIDE] < 0, path.rows[UPPER_RATE], path.rows[LOWER_RATE])
    members = members_of(path.block)
    rates[members] = path.block.vectors[ANSWER, 1 : len(members) + 1]
    assert rates.sum() == pytest.approx(0.0, abs=1e-10)
    expected = gram @ rates + path.block.vectors[ANSWER, 0]
    np.testing.assert_allclose(path.rows[SLOPE], expected, atol=1e-10)
    assert plain.largest_error(path.rows[SLOPE], path.block) < 1e-10


def test_a_second_aim_mends_a_spoilt_inverse(moving):
    gram, y = moving
    path = path_to(gram, y, np.ones(40), np.linspace(1.0, 3.0, 40))
    m = path.block.members[0] + 1
    path.block.inverse[:m, :m] *= 1.0 + 1e-4
    plain.aim(path)
    before = plain.largest_error(path.rows[SLOPE], path.block)
    loose = abs(path.at[IMBALANCE] + path.block.vectors[ANSWER, 1:m].sum())
    plain.aim_again(path)
    assert plain.largest_error(path.rows[SLOPE], path.block) < 1e-3 * before
    assert abs(path.at[IMBALANCE] + path.block.vectors[ANSWER, 1:m].sum()) < 1e-3 * loose


def test_the_first_bound_is_the_nearest_in_time():
    path = empty_path(np.eye(3), 5)
    path.rows[LOWER], path.rows[UPPER] = -1.0, 1.0
    fill_block(np.eye(3), np.array([0, 1, 2]), path.block, 1e-9)
    members = members_of(path.block)
    path.rows[Z, members] = [0.0, 0.5, 0.5]
    path.block.vectors[ANSWER, 1:4] = [2.0, -4.0, 1.0]  # 1 / 2, 1.5 / 4, 0.5 / 1
    assert plain.next_bound(path.rows, 0.0, path.block) == (0.375, 2, 2)
    path.rows[UPPER_RATE] = 4.5  # bounds that run ahead are not met
    assert plain.next_bound(path.rows, 0.0, path.block) == (0.375, 2, 2)


def test_urgency_is_one_over_the_time_to_come_free():
    path = empty_path(np.eye(4), 5)
    path.rows[SIDE] = [1.0, -1.0, 1.0, 0.0]
    path.rows[RESIDUAL] = [0.5, -0.2, 0.1, 0.0]
    path.rows[SLOPE] = [-2.0, 1.0, 3.0, -9.0]
    assert plain.largest_urgency(path.rows, 0.0) == 5.0
    np.testing.assert_allclose(path.rows[URGENCY], [4.0, 5.0, -30.0, 0.0])


def test_a_sign_is_sure_below_0_or_beyond_reach():
    path = empty_path(np.eye(3), 5)
    path.rows[UPPER] = 1.0
    fill_block(np.eye(3), np.array([1, 2]), path.block, 1e-9)
    path.rows[Z, 1:] = 0.5
    watch = Watch(0, 1.0, 2.0, 1e-9)
    for margin, expected in ((-0.1, WRONG), (0.5, GOING), (0.7, RIGHT)):
        path.rows[RESIDUAL, 0] = margin - 1.0
        assert plain.sure_sign(path, watch, 0.3) == expected
    # the free have room for 1.0 above, but not below
    path.rows[Z, 1:] = 0.05
    path.rows[RESIDUAL, 0] = 0.3
    assert plain.sure_sign(path, watch, 0.3) == RIGHT
    path.rows[RESIDUAL, 0] = -0.3
    assert plain.sure_sign(path, watch._replace(sign=-1.0), 0.3) == GOING


def test_the_clock_stands_at_1_when_all_is_done(moving):
    gram, y = moving
    path = path_to(gram, y, np.ones(40), np.ones(40))
    assert compiled.follow_path(path, NOBODY, limits_of(path, 10)) == ARRIVED
    assert path.at[CLOCK] == 1.0


TOLERANCE = 1e-9


def data(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X @ X.T, np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0), rng


def start(gram, y, upper):
    base = exact_start(gram, solve_gram(gram, y, upper))
    path = empty_path(gram, len(y) + 3)
    path.rows[[LOWER, UPPER]] = base.rows[[LOWER, UPPER]]
    return base, path


@pytest.mark.parametrize("t", [0, 7, 19])
def test_the_end_of_the_path_is_the_machine_without_the_example(t):
    gram, y, _ = data(1)
    base, path = start(gram, y, np.ones(30))
    assert plain.put_out(base, path, t)
    plain.depart(path)
    assert (
        compiled.follow_path(path, NOBODY, limits_at(spread(gram), abs(base.rows[Z, t]), 500))
        == ARRIVED
    )
    plain.arrive(path)
    upper = np.ones(30)
    upper[t] = 0.0
    without = solve_gram(gram, y, upper)
    np.testing.assert_allclose(gram @ path.rows[Z], gram @ (y * without.alpha), atol=1e-9)
    margin, believed = plain.settle(path, y, Watch(t, y[t], 1.0, TOLERANCE))
    assert believed
    assert margin == pytest.approx(y[t] * without.decision[t], abs=1e-8)


def test_what_is_put_out_is_put_back():
    gram, y, _ = data(2)
    base, path = start(gram, y, np.ones(30))
    t = members_of(base.block)[0]
    assert plain.put_out(base, path, t)
    assert t not in members_of(path.block)
    assert path.rows[LOWER, t] == path.rows[UPPER, t] == base.rows[Z, t]
    plain.put_back(base, path, t)
    np.testing.assert_array_equal(path.rows[LOWER], base.rows[LOWER])
    np.testing.assert_array_equal(path.rows[UPPER], base.rows[UPPER])
    assert path.rows[UPPER_RATE, t] == 0.0


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_no_margin_falls_by_more_than_its_reach(seed, one_bound, cost):
    gram, y, rng = data(seed, n=14)
    upper = np.full(14, cost) if one_bound else cost * rng.exponential(size=14)
    solution = solve_gram(gram, y, upper)
    widest = 2.0 * (np.diagonal(gram).max() - gram.min())
    for known in (widest, 1e100):
        ground = Ground(np.diagonal(gram).copy(), known, one_bound, TOLERANCE)
        for t in np.flatnonzero(solution.alpha > 0.0):
            others = solution.free.copy()
            others[t] = False
            room = (upper - solution.alpha)[others & (y == y[t])].sum()
            room += solution.alpha[others & (y != y[t])].sum()
            smaller = upper.copy()
            smaller[t] = 0.0
            if room > plain.MORE * solution.alpha[t] and np.ptp(y[smaller > 0.0]) > 0.0:
                without = solve_gram(gram, y, smaller)
                fall = y[t] * (solution.decision[t] - without.decision[t])
                reach = plain.reach_of(gram[t], ground, t)
                assert fall <= solution.alpha[t] * reach + 1e-6


def test_the_reach_by_hand():
    # images at 0, 1 and 3: seen from 0 the farthest is 3 away, and any two are at most 3 apart
    x = np.array([0.0, 1.0, 3.0])
    gram = np.outer(x, x)
    ground = Ground(x * x, 9.0, one_bound=True, tolerance=TOLERANCE)
    assert plain.reach_of(gram[0], ground, 0) == pytest.approx(9.0 + 9.0)
    assert plain.reach_of(gram[1], ground, 1) == pytest.approx(4.0 + 6.0)
    assert plain.reach_of(gram[1], ground._replace(one_bound=False), 1) == pytest.approx(
        (2.0 + 3.0) ** 2
    )
    # with no bound on any two, 3 + 3 and 2 + 2 are the most there can be
    assert plain.reach_of(gram[1], ground._replace(widest=1e100), 1) == pytest.approx(4.0 + 8.0)


def test_with_nobody_free_the_bias_is_in_the_middle():
    path = empty_path(np.zeros((4, 4)), 3)
    path.rows[UPPER] = 1.0
    path.rows[Z] = [0.0, 0.0, 1.0, 0.0]
    path.rows[SIDE] = [1.0, 1.0, -1.0, 0.0]
    path.rows[RESIDUAL] = [0.3, 0.5, -0.7, 9.0]  # the bias may fall by 0.3 and rise by 0.7
    assert plain.shift_of_bias(path.rows, 3) == pytest.approx((0.2, 1.0))
    path.at[BIAS] = 0.1
    margin, believed = plain.settle(path, np.ones(4), Watch(3, 1.0, 0.0, TOLERANCE))
    # K is 0, so that t asks for 1, and gets 0.1 + 0.2
    assert (margin, believed) == (pytest.approx(0.3), True)


def test_a_margin_that_has_drifted_is_not_believed():
    gram, y, _ = data(3)
    base, path = start(gram, y, np.ones(30))
    plain.put_out(base, path, 0)
    path.at[BIAS] += 1e-3
    watch = Watch(0, y[0], 1.0, TOLERANCE)
    assert not plain.settle(path, y, watch)[1]
    plain.depart(path)
    assert plain.conclude(path, y, watch, ARRIVED)[0] == SINGULAR


def test_what_is_sure_at_the_start_is_told_by_both_forms():
    gram, y, _ = data(4)
    base, _ = start(gram, y, np.ones(30))
    ground = Ground(np.diagonal(gram).copy(), 1e100, one_bound=True, tolerance=TOLERANCE)
    found = []
    for module in (compiled, plain):
        verdicts, margins, reaches = np.empty(30, np.int64), np.empty(30), np.empty(30)
        module.judge_at_start(base, y, np.arange(30), ground, verdicts, margins, reaches)
        found.append((verdicts, margins, reaches))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    verdicts, margins, reaches = found[0]
    left = base.rows[Z] == 0.0
    assert (verdicts[left] == ARRIVED).all()
    assert (verdicts[~left] != ARRIVED).all()
    expected = [plain.reach_of(gram[t], plain.Ground(*ground), t) for t in range(30)]
    np.testing.assert_allclose(reaches, expected, atol=1e-12)


def test_the_uncompiled_twin_leaves_out_the_same():
    gram, y, _ = data(4)
    base, path = start(gram, y, np.ones(30))
    ground = Ground(np.diagonal(gram).copy(), 1e100, one_bound=True, tolerance=TOLERANCE)
    which, limits = np.arange(30), limits_at(spread(gram), 1.0, 500)
    found = []
    for function in (compiled.leave_out, plain.leave_out):
        verdicts, margins = np.empty(30, np.int64), np.empty(30)
        function(base, path, y, which, limits, ground, verdicts, margins)
        found.append((verdicts, margins))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)


# --- from rough solutions of many problems to exact ones


def rough_problems(count=6, seed=7, *, copies=False):
    """Bounds, balanced z that solve other problems, their gradients and biases."""
    gram, y, _ = data(seed)
    rng = np.random.default_rng(seed)
    if copies:
        first = np.arange(30) // 2 * 2
        gram = np.ascontiguousarray(gram[np.ix_(first, first)])
    uppers = rng.exponential(size=(count, 30))
    lower, upper = np.where(y > 0, 0.0, -uppers), np.where(y > 0, uppers, 0.0)
    start = solve_gram(gram, y, np.ones(30))
    duals = [begin(gram, y, row, start) for row in uppers]
    z = np.array([dual.z for dual in duals])
    gradient = np.array([dual.gradient for dual in duals])
    bias = np.array([compiled.bias_and_gap(dual)[0] for dual in duals])
    return gram, y, uppers, (lower, upper, z, gradient, bias)


def finished(module, gram, problems, room=30):
    verdicts, scale = np.full(len(problems[2]), -1), spread(gram)
    lower, upper, z, gradient, bias = problems
    z, unit = z.copy(), limits_at(scale, 1.0, 600)
    path = empty_path(gram, room)
    module.finish_all(path, lower, upper, z, gradient, bias, unit, scale, verdicts)
    return z, verdicts


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_paths_from_rough_solutions_end_at_the_exact_ones(seed, copies):
    gram, y, uppers, problems = rough_problems(seed=seed, copies=copies)
    z, verdicts = finished(compiled, gram, problems)
    assert (verdicts == ARRIVED).all()
    for own, upper in zip(z, uppers, strict=True):
        exact = solve_gram(gram, y, upper, tolerance=1e-10)
        np.testing.assert_allclose(gram @ own, gram @ (y * exact.alpha), atol=1e-8)
        assert abs(own.sum()) < 1e-9
        assert np.all((y * own >= 0.0) & (y * own <= upper))


def test_a_path_of_many_begins_as_a_path_of_one_does():
    gram, _, _, problems = rough_problems()
    gram = gram + np.eye(30)  # nobody depends on the others
    lower, upper, z, gradient, bias = problems
    path = empty_path(gram, 30)
    for r in range(len(z)):
        dual = Dual(gram, np.diagonal(gram).copy(), lower[r], upper[r], z[r], gradient[r])
        alone = start_at(dual)
        plain.begin_at(path_view(path), lower, upper, z, gradient, bias[r], r, 1e-10)
        for row in (Z, SIDE, LOWER, UPPER, LOWER_RATE, UPPER_RATE):
            np.testing.assert_allclose(path.rows[row], alone.rows[row], atol=1e-12)
        start = path.rows[RESIDUAL] - path.rows[TARGET_RATE]
        np.testing.assert_allclose(start, bias[r] - gradient[r], atol=1e-12)
        assert sorted(members_of(path.block)) == sorted(members_of(alone.block))
        size = path.block.members[0] + 1
        order = np.append(0, 1 + np.argsort(path.block.members[1:size]))
        other = np.append(0, 1 + np.argsort(alone.block.members[1:size]))
        np.testing.assert_allclose(
            path.block.inverse[np.ix_(order, order)],
            alone.block.inverse[np.ix_(other, other)],
            atol=1e-8,
        )


def path_view(path):
    return plain.Path(path.gram, path.rows, path.at, plain.FreeBlock(*path.block))


def test_without_room_for_the_free_nothing_is_followed():
    gram, _, _, problems = rough_problems()
    z, verdicts = finished(compiled, gram, problems, room=2)
    assert (verdicts == FULL).all()
    np.testing.assert_array_equal(z, problems[2])


def test_the_uncompiled_twin_finishes_alike():
    gram, _, _, problems = rough_problems(count=2)
    ends = [finished(module, gram, problems) for module in (compiled, plain)]
    np.testing.assert_array_equal(ends[0][1], ends[1][1])
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-9)


@pytest.mark.parametrize("loops", [compiled, plain])
def test_exponentials_are_those_of_numpy_wherever_they_stand(loops):
    rng = np.random.default_rng(0)
    values = -rng.random((5, 37)) * np.array([[1e-12], [0.5], [5.0], [40.0], [700.0]])
    values[:, :6] = [0.0, 1e-15, -np.log(2.0), -0.5 * np.log(2.0), -745.0, -1e9]
    values[:, 36] = values[:, 20]
    before = values.copy()
    loops.exponentials(values, 1, 5, 2, POWERS)
    np.testing.assert_array_equal(values[0], before[0])
    np.testing.assert_array_equal(values[:, :2], before[:, :2])
    exact = np.exp(np.minimum(before[1:, 2:], 0.0))
    sizes = 1.0 + np.abs(before[1:, 2:])
    assert np.all(np.abs(values[1:, 2:] - exact) <= 4e-16 * sizes * exact + 1e-307)
    np.testing.assert_array_equal(values[1:, 36], values[1:, 20])
    loops.exponentials(values, 0, 5, 0, POWERS)
    assert values.max() == 1.0  # what rounding left above 0, too
    assert values[1, 0] == 1.0


@pytest.mark.parametrize("loops", [compiled, plain])
def test_a_block_is_what_stands_in_some_rows_and_columns(loops):
    table, block = np.arange(20.0).reshape(4, 5), np.empty((2, 3))
    loops.take_block(table, np.array([3, 1]), np.array([0, 4, 0]), block)
    assert block.tolist() == [[15.0, 19.0, 15.0], [5.0, 9.0, 5.0]]
