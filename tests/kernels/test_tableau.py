"""Leaving out on the tableau: parts by hand, and the compiled form beside its uncompiled twin."""

import numpy as np
import pytest

from truerisk.kernels import tableau as compiled
from truerisk.kernels import uncompiled
from truerisk.svm.gram import leave_out
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.leave_out import (
    Ground,
    Tableau,
    exact_start,
    follow_all,
    follow_on_tableau,
)
from truerisk.svm.gram.path import (
    ARRIVED,
    GOING,
    NEEDED,
    RIGHT,
    ROWS,
    SINGULAR,
    SLOPE,
    TOO_MANY,
    WRONG,
    empty_path,
    fill_block,
)

plain = uncompiled("tableau")

TOLERANCE = 1e-9


def data(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X @ X.T, np.where(X[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0)


def removal_of(rows, free=(0, 1), n=3):
    """Return the tableau of K = 1 with these rows, and room for a path."""
    base = empty_path(np.eye(n), n)
    fill_block(base.gram, np.array(free), base.block, 0.0)
    tableau = Tableau(base)
    tableau.add(np.array(rows))
    room = np.zeros((ROWS, n)), np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    changed, system = np.zeros(4, np.int64), np.zeros((4, 4))
    return plain.Removal(tableau.effects, tableau.place, tableau.start, *room, changed, system)


def test_rates_of_a_bounded_example_by_hand():
    # A unit of z₂ less gives ½ to both of the free, and the residual of 2 falls by 1½.
    own = removal_of([0, 1, 2])
    plain.set_rates(own, 2, 1.0)
    np.testing.assert_allclose(own.vectors[SLOPE], [0.5, 0.5, -1.5])
    plain.set_rates(own, 2, -1.0)
    np.testing.assert_allclose(own.vectors[SLOPE], [-0.5, -0.5, 1.5])


def test_rates_once_somebody_has_left_the_free_by_hand():
    # With 1 at its bound, 0 alone takes what 2 gives: z₀ rises by 1.  The bias falls by 1 then,
    # and so does the residual of 1; that of 2 falls by 1 for its own z besides.
    own = removal_of([0, 1, 2])
    assert plain.toggle(own, 1, 1e-12) == GOING
    plain.set_rates(own, 2, 1.0)
    np.testing.assert_allclose(own.vectors[SLOPE], [1.0, -1.0, -2.0])
    assert plain.toggle(own, 1, 1e-12) == GOING  # and back
    assert own.changed[0] == 0


def test_a_row_that_is_not_there_and_too_many_changes_are_told():
    own = removal_of([0, 2])
    assert plain.toggle(own, 1, 1e-12) == NEEDED
    own = removal_of([0, 1, 2, 3], free=(0,), n=4)
    assert [plain.toggle(own, i, 1e-12) for i in (1, 2, 3)] == [GOING, GOING, GOING]
    assert plain.toggle(own, 0, 1e-12) == TOO_MANY


def test_a_pivot_that_is_rounding_is_told():
    own = removal_of([0, 1, 2])
    assert plain.toggle(own, 2, 2.0) == SINGULAR  # whose squared distance is 1½


def test_whether_an_image_depends_on_the_free_ones_changes_nothing():
    own = removal_of([0, 1, 2])
    assert plain.depends(own, 2, 2.0)
    assert not plain.depends(own, 2, 1e-12)
    assert own.changed[0] == 0


@pytest.mark.parametrize("module", [compiled, plain])
def test_copies_of_free_examples_stay_with_them(monkeypatch, module):
    # Rounding lets a copy seem to come free; 33 of 100 paths would be given up for that.
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 2))
    y = np.tile(np.where(X[:, 0] + 0.8 * rng.standard_normal(50) > 0, 1.0, -1.0), 2)
    X = np.tile(X, (2, 1))
    gram = np.exp(-0.1 * np.square(X[:, None] - X[None]).sum(axis=2))
    base = exact_start(gram, solve_gram(gram, y, np.full(100, 1000.0)))
    ground = Ground(np.diagonal(gram).copy(), 1e100, one_bound=True, tolerance=TOLERANCE)
    monkeypatch.setattr(leave_out, "tableau_kernel", module)
    verdicts, margins, _ = follow_on_tableau(base, y, np.arange(100), ground, 1)
    assert (verdicts <= RIGHT).all()
    _, expected = follow_all(base, y, np.arange(100), ground, 1)
    np.testing.assert_array_equal(margins > 0, expected > 0)


@pytest.mark.parametrize("max_changed", [3, 40])
def test_the_uncompiled_twin_leaves_out_the_same(monkeypatch, max_changed):
    gram, y = data(5)  # whose pivots are clear: no verdict depends on a last bit
    base = exact_start(gram, solve_gram(gram, y, np.ones(60)))
    ground = Ground(np.diagonal(gram).copy(), 1e100, one_bound=True, tolerance=TOLERANCE)
    monkeypatch.setattr(leave_out, "MAX_CHANGED", max_changed)
    found = []
    for module in (compiled, plain):
        monkeypatch.setattr(leave_out, "tableau_kernel", module)
        found.append(follow_on_tableau(base, y, np.arange(60), ground, 1))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    ended = found[0][0] <= RIGHT
    assert {ARRIVED, WRONG, RIGHT} <= set(found[0][0].tolist())
    np.testing.assert_allclose(found[0][1][ended], found[1][1][ended], atol=1e-9)
    assert (found[0][0] == TOO_MANY).any() == (max_changed == 3)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_to_come_free_is_found_in_whatever_block_it_is(seed):
    rng = np.random.default_rng(seed)
    side = rng.choice([-1.0, 0.0, 1.0], 150)
    residual, rates = side * rng.random(150), rng.standard_normal(150)
    times = np.full(150, np.inf)
    comes = -side * rates > 1e-3
    times[comes] = (side * residual)[comes] / (-side * rates - 1e-3)[comes]
    for step in (0.1 * times.min(), 1.5 * times.min(), 10.0):
        expected = times.argmin() if times.min() < step else -1
        assert plain.first_freed(residual, side, rates, 1e-3, step) == expected


def test_of_two_that_come_free_at_once_the_first_is_named():
    side, residual, rates = np.ones(130), np.ones(130), np.zeros(130)
    rates[[70, 75, 129]] = -2.0
    assert plain.first_freed(residual, side, rates, 0.0, 1.0) == 70
