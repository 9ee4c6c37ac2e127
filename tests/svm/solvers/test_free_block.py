"""The inverse of the bordered free block: true at the start and after every change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.svm.solvers.free_block import (
    ANSWER,
    QUESTION,
    distance_to,
    empty_block,
    enter,
    enter_first,
    fill_block,
    grown,
    leave,
    members_of,
    solve_block,
)

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
    enter_first(block, np.array([[4.0]]), 0)
    assert block.inverse[:2, :2].tolist() == [[-4.0, 1.0], [1.0, 0.0]]


def test_filled_at_once_or_one_by_one_it_is_the_same(gram):
    at_once, one_by_one = empty_block(10), empty_block(10)
    assert len(fill_block(gram, np.array([4, 2, 9, 7]), at_once, FLOOR)) == 0
    enter_first(one_by_one, gram, 4)
    for i in members_of(at_once)[1:]:
        enter(one_by_one, i, distance_to(gram, one_by_one, i))
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
            assert leave(block, place)
            assert gone not in members_of(block)
        else:
            enter(block, outside[0], distance_to(gram, block, outside[0]))
    assert error_of(gram, block) < 1e-6


def test_the_distance_is_that_of_the_affine_hull():
    # the line through (0, 0) and (1, 0) is 3 away from (5, 3)
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 3.0]])
    block = empty_block(4)
    fill_block(X @ X.T, np.array([0, 1]), block, FLOOR)
    assert distance_to(X @ X.T, block, 2) == pytest.approx(9.0)
    # (5, 3) = −4·(0, 0) + 5·(1, 0) + what is orthogonal; the members move the other way
    assert block.vectors[ANSWER, 1:3] == pytest.approx([4.0, -5.0])


def test_a_small_distance_keeps_its_digits():
    X = np.array([[1e3, 0.0], [1e3, 1.0], [1e3, 2.0], [1e3 + 1e-3, 7.0]])
    block = empty_block(4)
    fill_block(X @ X.T, np.array([0, 1]), block, 1e-12)
    assert distance_to(X @ X.T, block, 2) == pytest.approx(0.0, abs=1e-9)
    assert distance_to(X @ X.T, block, 3) == pytest.approx(1e-6, rel=1e-2)


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
    solve_block(block, answer)
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


def test_the_uncompiled_twins_do_the_same(gram):
    blocks = [empty_block(6), empty_block(6)]
    for block, functions in zip(blocks, ("compiled", "py_func"), strict=True):
        fill_block(gram, np.array([1, 5, 8]), block, FLOOR)
        twin = functions == "py_func"
        distance = (distance_to.py_func if twin else distance_to)(gram, block, 3)
        (enter.py_func if twin else enter)(block, 3, distance)
        assert (leave.py_func if twin else leave)(block, 1)
    np.testing.assert_allclose(blocks[0].inverse[:4, :4], blocks[1].inverse[:4, :4], atol=1e-12)
    assert members_of(blocks[0]).tolist() == members_of(blocks[1]).tolist()


def test_a_pivot_that_is_not_positive_is_told():
    block = empty_block(3)
    block.members[:3] = [2, 0, 1]
    assert not leave(block, 2)
