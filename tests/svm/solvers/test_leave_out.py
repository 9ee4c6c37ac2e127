"""One path to the machine without one example: its start, its reach and its end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.svm.solvers.active_set import ARRIVED, MORE, NOBODY, SINGULAR, Watch, follow
from truerisk.svm.solvers.free_block import members_of
from truerisk.svm.solvers.gram_dual import solve_gram
from truerisk.svm.solvers.gram_without import exact_start
from truerisk.svm.solvers.leave_out import (
    Ground,
    conclude,
    leave_out_many,
    put_back,
    put_out,
    reach_of,
    settle,
    shift_of_bias,
)
from truerisk.svm.solvers.path_state import (
    BIAS,
    LOWER,
    RESIDUAL,
    SIDE,
    UPPER,
    UPPER_RATE,
    Z,
    arrive,
    depart,
    empty_path,
)
from truerisk.svm.solvers.polish import limits_at, spread

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
    assert put_out(base, path, t)
    depart(path)
    assert follow(path, NOBODY, limits_at(spread(gram), abs(base.rows[Z, t]), 500)) == ARRIVED
    arrive(path)
    upper = np.ones(30)
    upper[t] = 0.0
    without = solve_gram(gram, y, upper)
    np.testing.assert_allclose(gram @ path.rows[Z], gram @ (y * without.alpha), atol=1e-9)
    margin, believed = settle(path, y, Watch(t, y[t], 1.0, TOLERANCE))
    assert believed
    assert margin == pytest.approx(y[t] * without.decision[t], abs=1e-8)


def test_what_is_put_out_is_put_back():
    gram, y, _ = data(2)
    base, path = start(gram, y, np.ones(30))
    t = members_of(base.block)[0]
    assert put_out(base, path, t)
    assert t not in members_of(path.block)
    assert path.rows[LOWER, t] == path.rows[UPPER, t] == base.rows[Z, t]
    put_back(base, path, t)
    np.testing.assert_array_equal(path.rows[LOWER], base.rows[LOWER])
    np.testing.assert_array_equal(path.rows[UPPER], base.rows[UPPER])
    assert path.rows[UPPER_RATE, t] == 0.0


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_no_margin_falls_by_more_than_its_reach(seed, one_bound, cost):
    gram, y, rng = data(seed, n=14)
    upper = np.full(14, cost) if one_bound else cost * rng.exponential(size=14)
    solution = solve_gram(gram, y, upper)
    widest = 2.0 * (np.diagonal(gram).max() - gram.min())
    for known in (widest, np.inf):
        ground = Ground(np.diagonal(gram).copy(), known, one_bound, TOLERANCE)
        for t in np.flatnonzero(solution.alpha > 0.0):
            others = solution.free.copy()
            others[t] = False
            room = (upper - solution.alpha)[others & (y == y[t])].sum()
            room += solution.alpha[others & (y != y[t])].sum()
            smaller = upper.copy()
            smaller[t] = 0.0
            if room > MORE * solution.alpha[t] and np.ptp(y[smaller > 0.0]) > 0.0:
                without = solve_gram(gram, y, smaller)
                fall = y[t] * (solution.decision[t] - without.decision[t])
                reach = reach_of(gram[t], ground, t)
                assert fall <= solution.alpha[t] * reach + 1e-6


def test_the_reach_by_hand():
    # images at 0, 1 and 3: seen from 0 the farthest is 3 away, and any two are at most 3 apart
    x = np.array([0.0, 1.0, 3.0])
    gram = np.outer(x, x)
    ground = Ground(x * x, 9.0, one_bound=True, tolerance=TOLERANCE)
    assert reach_of(gram[0], ground, 0) == pytest.approx(9.0 + 9.0)
    assert reach_of(gram[1], ground, 1) == pytest.approx(4.0 + 6.0)
    assert reach_of(gram[1], ground._replace(one_bound=False), 1) == pytest.approx((2.0 + 3.0) ** 2)
    # with no bound on any two, 3 + 3 and 2 + 2 are the most there can be
    assert reach_of(gram[1], ground._replace(widest=np.inf), 1) == pytest.approx(4.0 + 8.0)


def test_with_nobody_free_the_bias_is_in_the_middle():
    path = empty_path(np.zeros((4, 4)), 3)
    path.rows[UPPER] = 1.0
    path.rows[Z] = [0.0, 0.0, 1.0, 0.0]
    path.rows[SIDE] = [1.0, 1.0, -1.0, 0.0]
    path.rows[RESIDUAL] = [0.3, 0.5, -0.7, 9.0]  # the bias may fall by 0.3 and rise by 0.7
    assert shift_of_bias(path.rows, 3) == pytest.approx((0.2, 1.0))
    path.at[BIAS] = 0.1
    margin, believed = settle(path, np.ones(4), Watch(3, 1.0, 0.0, TOLERANCE))
    # K is 0, so that t asks for 1, and gets 0.1 + 0.2
    assert (margin, believed) == (pytest.approx(0.3), True)


def test_a_margin_that_has_drifted_is_not_believed():
    gram, y, _ = data(3)
    base, path = start(gram, y, np.ones(30))
    put_out(base, path, 0)
    path.at[BIAS] += 1e-3
    watch = Watch(0, y[0], 1.0, TOLERANCE)
    assert not settle(path, y, watch)[1]
    depart(path)
    assert conclude(path, y, watch, ARRIVED)[0] == SINGULAR


def test_the_uncompiled_twin_finds_the_same():
    gram, y, _ = data(4)
    base, path = start(gram, y, np.ones(30))
    ground = Ground(np.diagonal(gram).copy(), np.inf, one_bound=True, tolerance=TOLERANCE)
    which, limits = np.arange(30), limits_at(spread(gram), 1.0, 500)
    found = []
    for function in (leave_out_many, leave_out_many.py_func):
        verdicts, margins = np.empty(30, np.int64), np.empty(30)
        function(base, path, y, which, limits, ground, verdicts, margins)
        found.append((verdicts, margins))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)
