"""From any feasible point to the exact solution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.kernels import gram as kernel
from truerisk.svm.gram.dual import balanced, begin
from truerisk.svm.gram.path import (
    ARRIVED,
    BIAS,
    EVENTS,
    RESIDUAL,
    SIDE,
    TARGET_RATE,
    Z,
    block_of,
    columns_of,
    empty_block,
    end_of,
    fill_block,
    follow,
    gradient_of,
    limits_at,
    members_of,
    pivots_on,
    spread,
    start_at,
    times_others,
)


def dual_at(seed, n=20, d=3):
    """A problem, and a feasible point that has nothing to do with its solution."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    dual = begin(X @ X.T, y, rng.uniform(0.0, 2.0, n), None)
    z = balanced(rng.uniform(dual.lower, dual.upper), dual.lower, dual.upper)
    return dual._replace(z=z, gradient=gradient_of(dual.gram, y, z)), y


@given(st.integers(0, 10**6), st.integers(1, 25))
def test_every_path_ends_in_the_optimum(seed, d):
    dual, y = dual_at(seed, d=d)
    path, verdict = follow(start_at(dual), 2000)
    assert verdict == ARRIVED
    z = path.rows[Z]
    assert z.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.all((dual.lower - 1e-9 <= z) & (z <= dual.upper + 1e-9))
    exact = dual._replace(z=end_of(path, dual.lower, dual.upper), gradient=y - dual.gram @ z)
    _, gap = kernel.bias_and_gap(exact)
    assert gap < 1e-6


def test_the_start_is_optimal_for_the_targets_it_starts_at():
    dual, _ = dual_at(1)
    path = start_at(dual)
    rows = path.rows
    target = dual.gradient + dual.gram @ rows[Z] - rows[TARGET_RATE]  # y − what is still to come
    residual = dual.gram @ rows[Z] + path.at[BIAS] - target
    np.testing.assert_allclose(rows[RESIDUAL], residual, atol=1e-12)
    assert np.all(rows[SIDE] * residual >= 0.0)
    moving = rows[SIDE] != 0.0
    assert len(np.unique(rows[RESIDUAL][moving])) == np.count_nonzero(moving)


def test_who_has_no_choice_keeps_its_residual():
    dual, y = dual_at(3)
    dual.lower[4] = dual.upper[4] = dual.z[4] = 0.0
    dual = dual._replace(gradient=gradient_of(dual.gram, y, dual.z))
    path = start_at(dual)
    bias, _ = kernel.bias_and_gap(dual)
    assert path.rows[SIDE, 4] == path.rows[TARGET_RATE, 4] == 0.0
    assert path.rows[RESIDUAL, 4] == bias - dual.gradient[4] != 0.0


def test_an_exact_solution_stays_where_it_is():
    dual, y = dual_at(2, d=25)
    path, _ = follow(start_at(dual), 2000)
    z = end_of(path, dual.lower, dual.upper)
    exact = dual._replace(z=z, gradient=gradient_of(dual.gram, y, z))
    again, verdict = follow(start_at(exact), 2000)
    assert verdict == ARRIVED
    assert again.at[EVENTS] == 1
    np.testing.assert_allclose(again.rows[Z], z, atol=1e-9)


def test_the_scale_is_never_0():
    assert spread(np.diag([2.0, -5.0])) == 5.0
    assert spread(np.array([[0.0, 3.0], [3.0, 0.0]])) == 3.0
    assert spread(np.zeros((2, 2))) == 1.0


def test_parts_of_a_table_are_those_of_numpy():
    table = np.random.default_rng(1).random((6, 9))
    rows, columns = np.array([4, 0, 4]), np.array([8, 2])
    np.testing.assert_array_equal(block_of(table, rows, columns), table[np.ix_(rows, columns)])
    np.testing.assert_array_equal(columns_of(table, columns), table[:, columns])
    assert block_of(table, rows[:0], columns).shape == (0, 2)


def test_limits_follow_the_scale():
    assert limits_at(4.0, 1.0, 10).floor == 4 * limits_at(1.0, 1.0, 10).floor
    assert limits_at(1.0, 3.0, 10).still == 3 * limits_at(1.0, 1.0, 10).still


def pivoted(gram, members):
    block = empty_block(len(members))
    fill_block(gram, members, block, 0.0)
    return pivots_on(gram, block, members_of(block))


def test_pivots_of_some_are_those_on_their_own_matrix():
    X = np.random.default_rng(4).standard_normal((12, 20))
    gram, near = X @ X.T, np.array([0, 1, 3, 5, 8, 9, 11])
    some = pivoted(gram, np.array([1, 5, 9])).among(near)
    own = pivoted(gram[np.ix_(near, near)], np.array([1, 3, 5]))
    for mine, its in zip(some, own, strict=True):
        np.testing.assert_allclose(mine, its, atol=1e-10)


def test_pivots_without_a_member_are_none():
    assert pivoted(np.eye(4), np.array([0, 2])).among(np.array([0, 1, 3])) is None


@pytest.mark.parametrize(("squared", "clear"), [(1e-4, True), (1.1e-5, True), (0.9e-5, False)])
def test_pivots_are_clear_where_members_are_apart_by_hand(squared, clear):
    # of two members, A⁻¹ of either is 1 / |x₁ − x₂|²
    near = 1.0 - squared / 2
    gram = np.array([[1.0, near, 0.0], [near, 1.0, 0.0], [0.0, 0.0, 1.0]])
    pivots = pivoted(gram, np.array([0, 1]))
    assert pivots.inverse[1, 1] == pytest.approx(1 / squared)
    assert pivots.are_clear(1.0) is clear


@pytest.mark.parametrize(("squared", "clear"), [(1e-4, True), (1.1e-5, True), (0.9e-5, False)])
def test_others_are_clear_where_nobody_is_beside_a_member_by_hand(squared, clear):
    # of one member, the squared distance to its flat is that to itself
    near = 1.0 - squared / 2
    gram = np.array([[1.0, near, 0.0], [near, 1.0, 0.0], [0.0, 0.0, 1.0]])
    pivots = pivoted(gram, np.array([0]))
    assert pivots.are_clear(1.0)
    assert pivots.others_are_clear(np.ones(3), 1.0) is clear


@pytest.mark.parametrize("count", [1, 9])
def test_a_product_leaves_out_the_columns_of_the_members(count):
    rng = np.random.default_rng(0)
    left, right, members = rng.random((4, 3)), rng.random((3, 10)), rng.permutation(10)[:count]
    expected = left @ right
    expected[:, members] = 0.0
    np.testing.assert_allclose(times_others(left, right, members), expected, rtol=1e-14)
