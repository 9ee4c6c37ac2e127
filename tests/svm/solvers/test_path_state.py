"""How examples change sides: what is carried, who slides, and where everybody stands."""

import numpy as np
import pytest

from truerisk.svm.solvers.free_block import distance_to, fill_block, members_of
from truerisk.svm.solvers.path_state import (
    ANSWER,
    BIAS,
    CLOCK,
    DRIFT,
    IMBALANCE,
    LOWER,
    LOWER_RATE,
    RESIDUAL,
    SIDE,
    TARGET_RATE,
    UPPER,
    UPPER_RATE,
    Z,
    add_rows,
    arrive,
    bound_now,
    carry,
    depart,
    empty_path,
    find_block,
    find_partner,
    set_bounded,
    set_free,
    slide,
)

FLOOR = 1e-9


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
    for function in (add_rows, add_rows.py_func):
        out = np.ones(9)
        function(gram, members, weights, out)
        np.testing.assert_allclose(out, 1.0 + expected)


def test_departure_sums_up_what_moves_by_itself(line):
    rows = line.rows
    rows[SIDE] = [1.0, -1.0, 0.0, 0.0, 1.0]
    rows[LOWER_RATE] = [0.5, 9.0, 9.0, 0.25, 0.0]
    rows[UPPER_RATE] = [9.0, 2.0, 9.0, 0.25, 9.0]
    rows[LOWER, 3] = rows[UPPER, 3] = 0.1  # without a choice: it moves with its bounds
    rows[TARGET_RATE] = 3.0
    depart(line)
    # 2 is free; the others move by 0.5, 2 and 0.25
    expected = 0.5 * line.gram[0] + 2.0 * line.gram[1] + 0.25 * line.gram[3] - 3.0
    np.testing.assert_allclose(rows[DRIFT], expected)
    assert line.at[IMBALANCE] == 2.75
    carry(line, 1, -2.0)
    assert line.at[IMBALANCE] == 0.75


def test_bounds_move_with_the_clock(line):
    rows = line.rows
    rows[SIDE, :2] = [1.0, -1.0]
    rows[LOWER_RATE], rows[UPPER_RATE] = 0.5, -0.25
    line.at[CLOCK] = 0.5
    assert bound_now(rows, 0.5, 0) == -0.75
    assert bound_now(rows, 0.5, 1) == 0.875
    rows[Z, 2] = 0.3
    arrive(line)
    assert rows[Z, :3].tolist() == [-0.75, 0.875, 0.3]


def test_the_partner_needs_the_least_shift_of_the_bias(line):
    rows = line.rows
    rows[SIDE] = [1.0, 1.0, -1.0, -1.0, 1.0]
    rows[RESIDUAL] = [0.7, 0.2, -0.4, -0.9, 0.5]
    line.at[IMBALANCE] = -1.0  # somebody has to rise, from the lower bound
    assert find_partner(line)
    assert members_of(line.block).tolist() == [1]
    assert rows[SIDE, 1] == rows[RESIDUAL, 1] == 0.0
    assert rows[Z, 1] == -1.0
    np.testing.assert_allclose(rows[RESIDUAL], [0.5, 0.0, -0.6, -1.1, 0.3])
    assert line.at[BIAS] == pytest.approx(-0.2)


def test_the_partner_falls_where_that_is_needed(line):
    line.rows[SIDE] = [1.0, 1.0, -1.0, -1.0, 1.0]
    line.rows[RESIDUAL] = [0.7, 0.2, -0.4, -0.9, 0.5]
    line.at[IMBALANCE] = 1.0
    assert find_partner(line)
    assert members_of(line.block).tolist() == [2]


def test_there_may_be_no_partner(line):
    line.rows[SIDE] = 1.0
    line.at[IMBALANCE] = 1.0
    assert not find_partner(line)


def test_freed_and_bounded_again_nothing_has_changed(line):
    rows = line.rows
    rows[SIDE], rows[LOWER_RATE], rows[UPPER_RATE] = 1.0, 0.5, 0.7
    depart(line)
    drift, imbalance = rows[DRIFT].copy(), line.at[IMBALANCE]
    set_free(line, 3)
    fill_block(line.gram, np.array([3]), line.block, FLOOR)
    assert line.at[IMBALANCE] == imbalance - 0.5
    assert set_bounded(line, 1, 1.0)
    np.testing.assert_allclose(rows[DRIFT], drift)
    assert line.at[IMBALANCE] == imbalance
    assert rows[SIDE, 3] == 1.0


def test_of_two_members_met_at_once_the_larger_share_is_taken(line):
    fill_block(line.gram, np.array([1, 3]), line.block, FLOOR)
    places = {member: place for place, member in enumerate(members_of(line.block), start=1)}
    line.block.vectors[ANSWER, places[1]] = 1e-3
    line.block.vectors[ANSWER, places[3]] = -0.5
    line.rows[Z, 1], line.rows[Z, 3] = 1.0 - 1e-4, -1.0 + 0.05  # both after 0.1
    step, place = find_block(line.rows, 0.0, line.block, 2.0)
    assert step == pytest.approx(0.1)
    assert place == places[3]


@pytest.mark.parametrize("twin", [False, True])
def test_a_slide_changes_no_residual_and_keeps_the_sum(line, twin):
    rows = line.rows
    rows[Z] = [-1.0, 0.3, -0.2, 0.5, 1.0]
    rows[SIDE] = [1.0, 0.0, 0.0, -1.0, -1.0]
    rows[Z, 3] = 1.0
    before = rows[Z].copy()
    fill_block(line.gram, np.array([1, 2]), line.block, FLOOR)
    assert distance_to(line.gram, line.block, 3) == pytest.approx(0.0, abs=1e-12)
    assert (slide.py_func if twin else slide)(line, 3)
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
    distance_to(line.gram, line.block, 3)
    assert slide(line, 3)
    assert rows[SIDE, 3] == -1.0
    assert sorted(members_of(line.block)) == [1, 2]
