"""Batches on a Gram matrix: every part by hand, and the compiled form beside its twin."""

import numpy as np
import pytest

from truerisk.kernels import batch as compiled
from truerisk.kernels import gram as gram_kernel
from truerisk.kernels import uncompiled
from truerisk.svm.batch.gram import (
    DIAGONAL,
    GIVEN,
    GOT,
    GRADIENT,
    HIGH,
    LOW,
    LOWER,
    NEEDED,
    ROUND_ROWS,
    SETTLED,
    STEP_ROWS,
    UPPER,
    Tableau,
    Z,
    padded,
)
from truerisk.svm.gram.path import Dual

plain = uncompiled("batch")


# --- steps


def problem(n, cost):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 4)
    bounds = cost * rng.exponential(size=n)
    return gram, y, np.where(y > 0, 0.0, -bounds), np.where(y > 0, bounds, 0.0)


def state_of(gram, y, lower, upper):
    n, single = len(y), padded(gram)
    state = np.zeros((STEP_ROWS, len(single)), np.float32)
    state[LOWER, :n], state[UPPER, :n] = lower, upper
    state[GRADIENT, :n], state[DIAGONAL] = y, np.diagonal(single)
    return single, state


def descend(single, state, tolerance, max_steps, kernel=compiled):
    steps = np.empty(1, np.int64)
    kernel.descend_all(single, state[None], 1e-6, tolerance, max_steps, steps)
    return steps[0]


@pytest.mark.parametrize("n", [20, 64, 150])
@pytest.mark.parametrize("cost", [0.1, 5.0])
def test_they_end_where_those_in_double_precision_end(n, cost):
    gram, y, lower, upper = problem(n, cost)
    dual = Dual(gram, np.diagonal(gram).copy(), lower, upper, np.zeros(n), y.copy())
    gram_kernel.improve(dual, 1e-6, 1e-3, 10**5)
    single, state = state_of(gram, y, lower, upper)
    taken = descend(single, state, 1e-3, 10**5)
    assert taken > 0
    z, gradient = state[Z, :n], state[GRADIENT, :n]
    lower, upper = state[LOWER, :n], state[UPPER, :n]
    assert abs(float(z.sum())) < 1e-4
    np.testing.assert_allclose(gradient, y - gram @ z, atol=1e-4)
    assert gradient[z < upper].max() - gradient[z > lower].min() <= 1.1e-3
    np.testing.assert_allclose(gradient, dual.gradient, atol=5e-3)
    assert not state[Z, n:].any()


def test_two_points_need_one_step_by_hand():
    # unit vectors at right angles: α = 1 brings both gradients to 0
    y = np.array([-1.0, 1.0])
    single, state = state_of(np.eye(2), y, np.array([-9.0, 0.0]), np.array([0.0, 9.0]))
    assert descend(single, state, 1e-3, 99) == 1
    assert state[Z, :2].tolist() == [-1.0, 1.0]


def test_a_bound_that_is_met_is_met_exactly():
    y = np.array([-1.0, 1.0])
    single, state = state_of(np.eye(2), y, np.array([-0.3, 0.0]), np.array([0.0, 9.0]))
    assert descend(single, state, 1e-3, 99) == 1
    assert state[Z, 0] == state[LOWER, 0]


def test_a_cap_is_kept():
    single, state = state_of(*problem(50, 5.0))
    assert descend(single, state, 1e-6, 7) == 7


def test_the_uncompiled_steps_end_alike():
    ends = []
    for kernel in (compiled, plain):
        single, state = state_of(*problem(20, 1.0))
        taken = descend(single, state, 1e-3, 10**4, kernel)
        ends.append((taken, state[:GRADIENT]))
    assert abs(ends[0][0] - ends[1][0]) <= 2
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=2e-3)


# --- rounds


def wide_problem(seed, n=12, d=20):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    return X @ X.T / d, y


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 11, 30])
def test_the_factor_solves_quasidefinite_systems(size):
    rng = np.random.default_rng(size)
    A, B = rng.standard_normal((size, size)), rng.standard_normal((size, size))
    entering = size // 2
    matrix = rng.standard_normal((size, size))
    matrix = matrix + matrix.T
    positive, negative = A @ A.T + np.eye(size), -B @ B.T - np.eye(size)
    matrix[:entering, :entering] = positive[:entering, :entering]
    matrix[entering:, entering:] = negative[entering:, entering:]
    right, width = rng.standard_normal(size), -(-size // 8) * 8
    factored, solution, inverses = np.zeros((size, width)), np.zeros(width), np.empty(size)
    factored[:, :size], solution[:size] = matrix, right
    assert plain.factor(factored.ravel(), size, inverses, entering, 0.0)
    np.testing.assert_allclose(inverses, 1.0 / np.diagonal(factored))
    plain.solve_lower(factored.ravel(), size, inverses, solution, 0)
    plain.solve_upper(factored.ravel(), size, inverses, solution)
    np.testing.assert_allclose(matrix @ solution[:size], right, atol=1e-9)


def test_a_pivot_of_the_wrong_sign_is_told():
    for entering in (1, 2):
        matrix, inverses = np.zeros((2, 8)), np.empty(2)
        matrix[:, :2] = [[1.0, 2.0], [2.0, 1.0]]
        assert plain.factor(matrix.ravel(), 2, inverses, entering, 0.0) == (entering == 1)


MOVES = (  # the side, z, how far the gradient would take it, and the side where it belongs
    (0, 1.5, 0.0, 1),
    (0, -0.5, 0.0, -1),
    (0, 0.5, 0.0, 0),
    (0, 1.0 + 1e-13, 0.0, 0),
    (1, 1.0, 0.3, 1),
    (1, 1.0, -1e-11, 1),
    (1, 1.0, -0.3, 0),
    (1, 1.0, -1.3, -1),
    (-1, 0.0, -0.3, -1),
    (-1, 0.0, 1e-11, -1),
    (-1, 0.0, 0.3, 0),
    (-1, 0.0, 1.3, 1),
)


def sides_after(kernel, now, z, wish, high, *, in_base):
    """Where examples belong that are between 0 and a bound; the tableau gives what it is not."""
    state, new = np.zeros((ROUND_ROWS, len(now))), np.empty(len(now))
    state[HIGH] = high
    state[GIVEN], state[GOT] = (wish, -z) if in_base else (z, wish)
    reach = np.full(len(now), 0.5)
    state[GIVEN if in_base else GOT] /= reach
    moved = kernel.find_sides(np.full(len(now), float(in_base)), reach, state, now, new)
    assert moved == (new != now).any()
    return new


@pytest.mark.parametrize("kernel", [compiled, plain])
@pytest.mark.parametrize("in_base", [False, True])
def test_an_example_goes_where_its_gradient_takes_it(kernel, in_base):
    now, z, wish, expected = np.array(MOVES, float).T.copy()
    assert np.array_equal(sides_after(kernel, now, z, wish, 1.0, in_base=in_base), expected)
    stays = now == expected
    sides_after(kernel, now[stays], z[stays], wish[stays], 1.0, in_base=in_base)


@pytest.mark.parametrize("kernel", [compiled, plain])
def test_who_may_not_move_keeps_its_side(kernel):
    now, zeros = np.array([-1.0, 0.0, 1.0]), np.zeros(3)
    new = sides_after(kernel, now, zeros, np.full(3, 5.0), 0.0, in_base=False)
    assert np.array_equal(new, now)


@pytest.mark.parametrize("base", [[0], [2, 5, 7], list(range(12))], ids=["one", "some", "all"])
def test_rounds_end_at_the_optimum_whatever_the_base(base):
    gram, y = wide_problem(3)
    assert rounds_end_at_the_optimum(gram, y, base, np.random.default_rng(1).exponential(size=12))


@pytest.mark.parametrize("n", [300, 530])  # more than the 256 columns of a panel at a time
def test_rounds_of_many_equations_end_at_the_optimum(n):
    gram, y = wide_problem(3, n, 2 * n)
    assert rounds_end_at_the_optimum(gram, y, [0], np.full(n, 100.0)) > 256


def rounds_end_at_the_optimum(gram, y, base, bounds):
    """Whether they do; as the number of examples that end free."""
    n = len(y)
    tableau = Tableau(gram, y, np.array(base))
    state, sides = np.zeros((ROUND_ROWS, n)), np.zeros(n, np.int8)
    state[LOW], state[HIGH] = np.minimum(y, 0) * bounds, np.maximum(y, 0) * bounds
    state[GOT] = tableau.own
    verdicts, work = np.full(1, NEEDED), np.zeros(1)
    needed = np.zeros(n, np.uint8)
    compiled.settle_all(
        *tableau.arrays, state[None], sides[None], tableau.floor, 20, needed, verdicts, work
    )
    assert verdicts[0] == SETTLED
    assert work[0] >= 0.0
    z = np.where(tableau.base, -state[GOT], state[GIVEN])
    z = np.where(sides > 0, state[HIGH], np.where(sides < 0, state[LOW], z))
    gradient = y - gram @ z
    assert abs(z.sum()) < 1e-9
    assert gradient[z < state[HIGH]].max() - gradient[z > state[LOW]].min() < 1e-8
    return np.count_nonzero(sides == 0)


def test_the_uncompiled_rounds_end_alike():
    gram, y = wide_problem(3)
    bounds = np.random.default_rng(1).exponential(size=(2, 12))
    tableau = Tableau(gram, y, np.array([2, 5, 7]))
    ends = []
    for kernel in (compiled, plain):
        states, sides = np.zeros((2, ROUND_ROWS, 12)), np.zeros((2, 12), np.int8)
        states[:, LOW], states[:, HIGH] = np.minimum(y, 0) * bounds, np.maximum(y, 0) * bounds
        states[:, GOT] = tableau.own
        verdicts, work = np.full(2, NEEDED), np.zeros(2)
        needed = np.zeros(12, np.uint8)
        kernel.settle_all(*tableau.arrays, states, sides, tableau.floor, 20, needed, verdicts, work)
        ends.append((states, sides, verdicts, work))
    for ours, theirs in zip(*ends, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


@pytest.mark.parametrize("seed", [1, 3, 4, 5])  # four differ at once there, and rounds arrive
def test_a_factor_is_bordered_by_those_who_change(monkeypatch, seed):
    n, bordered, border = 60, [], plain.border_sides
    gram, y = wide_problem(seed, n, 90)
    bounds = 2.0 * np.random.default_rng(seed).exponential(size=n)
    lower, upper = np.minimum(y, 0) * bounds, np.maximum(y, 0) * bounds

    def settled(tableau, sides, kernel):
        state, sides = np.zeros((ROUND_ROWS, n)), sides.copy()
        state[LOW], state[HIGH] = lower, upper
        at_bounds = np.where(sides > 0, upper, np.where(sides < 0, lower, 0.0))
        state[GIVEN] = np.where(tableau.base, 0.0, at_bounds)
        state[GOT] = tableau.own - state[GIVEN] @ tableau.values
        verdicts, work, needed = np.full(1, NEEDED), np.zeros(1), np.zeros(n, np.uint8)
        own = (state[None], sides[None], tableau.floor, 20, needed, verdicts, work)
        kernel.settle_all(*tableau.arrays, *own)
        assert verdicts[0] == SETTLED
        z = np.where(tableau.base, -state[GOT], state[GIVEN])
        return np.where(sides > 0, upper, np.where(sides < 0, lower, z)), sides

    def counted(*arguments):
        bordered.append(border(*arguments))
        return bordered[-1]

    monkeypatch.setattr(plain, "border_sides", counted)
    z, sides = settled(Tableau(gram, y, np.arange(0, n, 9)), np.zeros(n, np.int8), compiled)
    gradient = y - gram @ z
    assert abs(z.sum()) < 1e-9
    assert gradient[z < upper].max() - gradient[z > lower].min() < 1e-8
    # Most are not as in this base; one of each kind moves: of the base or not, free or not.
    free, bounded = np.flatnonzero(sides == 0), np.flatnonzero(sides)
    tableau, others = Tableau(gram, y, np.append(bounded[1:], free[1:3])), sides.copy()
    for of_base in (True, False):
        others[np.flatnonzero((tableau.base == of_base) & (sides != 0))[0]] = 0
        free = np.flatnonzero((tableau.base == of_base) & (sides == 0))[0]
        others[free] = -np.sign(y[free])
    for kernel in (compiled, plain):
        again, ends = settled(tableau, others, kernel)
        np.testing.assert_allclose(again, z, atol=1e-10)
        np.testing.assert_array_equal(ends, sides)
    assert max(bordered) >= 4


def test_a_row_that_is_not_there_is_named():
    gram, y = wide_problem(3)
    tableau = Tableau(gram, y, np.array([2, 5, 7]), whole=False)
    for kernel in (compiled, plain):
        state, sides = np.zeros((1, ROUND_ROWS, 12)), np.where(y > 0, 1, -1).astype(np.int8)[None]
        sides[0, [2, 5, 7, 9]] = 0  # 9 is free, and not of the base
        state[0, LOW], state[0, HIGH] = np.minimum(y, 0), np.maximum(y, 0)
        state[0, GOT] = tableau.own
        needed, verdicts, work = np.zeros(12, np.uint8), np.full(1, NEEDED), np.zeros(1)
        kernel.settle_all(*tableau.arrays, state, sides, tableau.floor, 20, needed, verdicts, work)
        assert verdicts[0] == NEEDED
        assert np.flatnonzero(needed).tolist() == [9]


# --- the gap


def test_the_bias_is_the_mean_over_the_free_and_the_gap_their_disagreement():
    lower, upper = np.zeros((1, 3)), np.ones((1, 3))
    z, gradient = np.array([[0.5, 0.5, 1.0]]), np.array([[0.2, 0.4, 0.9]])
    bias, gap = np.empty(1), np.empty(1)
    compiled.measure_all(lower, upper, z, gradient, bias, gap)
    assert bias[0] == pytest.approx(0.3)
    assert gap[0] == pytest.approx(0.2)


def test_a_bias_that_nobody_pins_down_has_no_gap():
    bias, gap = np.empty(1), np.empty(1)
    z = np.array([[0.0, 1.0]])
    compiled.measure_all(np.zeros((1, 2)), np.ones((1, 2)), z, np.array([[-1.0, 1.0]]), bias, gap)
    assert gap[0] > 1e299


# --- where rounds begin and end, and what is true of z


def test_rounds_begin_where_steps_have_ended_by_hand():
    # Of the base nothing is given; the others are at their upper bound, at their lower, and free.
    # At a bound z has all digits of it, not those of single precision alone.
    lower, upper = np.array([[0.0, 0.0, -2.1, 0.0]]), np.array([[1.0, 1.1, 0.0, 1.0]])
    steps = np.zeros((1, STEP_ROWS, 64), np.float32)
    steps[0, LOWER, :4], steps[0, UPPER, :4], steps[0, Z, :4] = lower, upper, [0.5, 1.1, -2.1, 0.25]
    for kernel in (compiled, plain):
        states, sides = np.zeros((1, ROUND_ROWS, 4)), np.empty((1, 4), np.int8)
        kernel.begin_all(steps, lower, upper, np.array([1, 0, 0, 0], np.uint8), states, sides)
        assert sides.tolist() == [[0, 1, -1, 0]]
        assert np.array_equal(states[0, [LOW, HIGH]], [lower[0], upper[0]])
        assert states[0, GIVEN].tolist() == [0.0, 1.1, -2.1, 0.25]


def test_z_of_the_base_is_what_the_tableau_gives_and_stays_within_its_bounds():
    lower, upper = np.zeros((2, 4)), np.ones((2, 4))
    states, sides = np.zeros((2, ROUND_ROWS, 4)), np.array([[0, 0, 1, -1]] * 2, np.int8)
    states[:, GOT], states[:, GIVEN] = [-0.25, -0.5, 0.0, 0.0], [9.0, 1.5, 0.3, 0.3]
    base, verdicts = np.array([1, 0, 0, 0], np.uint8), np.array([SETTLED, NEEDED])
    for kernel in (compiled, plain):
        z = np.empty((2, 4))
        kernel.end_all(states, sides, lower, upper, base, verdicts, z)
        assert z.tolist() == [[0.25, 1.0, 1.0, 0.0], [0.0] * 4]


def test_rows_of_a_matrix_are_added_to_totals_by_hand():
    gram = np.arange(600.0).reshape(2, 300)
    rows, weights, into = np.array([0, 1, 1]), np.array([2.0, 1.0, -1.0]), np.array([0, 0, 2])
    for kernel in (compiled, plain):
        total = np.ones((3, 300))
        kernel.add_rows(gram, rows, weights, into, total)
        assert np.array_equal(total, [1 + 2 * gram[0] + gram[1], np.ones(300), 1 - gram[1]])


def test_somebody_inside_is_off_both_bounds_by_a_part_of_their_range():
    lower, upper = np.zeros((3, 2)), np.full((3, 2), 10.0)
    z = np.array([[10.0, 0.2], [0.05, 9.95], [0.0, 10.0]])
    for kernel in (compiled, plain):
        found = np.empty(3, np.uint8)
        kernel.find_inside(lower, upper, z, 0.01, found)
        assert found.tolist() == [1, 0, 0]


def test_a_total_is_missed_by_more_than_a_part_of_both_sizes():
    # 0, 1 and .4 are missing; Σ|z| + |total| is 4, 5 and 4.8, of which a tenth may be.
    z, totals = np.array([[1.0, -2.0], [1.0, 2.0], [2.0, 0.6]]), np.array([-1.0, 2.0, 2.2])
    for kernel in (compiled, plain):
        misses = np.empty(3, np.uint8)
        kernel.miss_all(z, totals, 0.1, misses)
        assert misses.tolist() == [0, 1, 0]


@pytest.mark.parametrize("order", [np.empty(0, np.int64), np.array([3, 1, 6, 0, 2, 5, 4])])
def test_the_uncompiled_balance_is_the_same(order):
    rng = np.random.default_rng(3)
    lower, upper = -rng.exponential(size=(9, 7)), rng.exponential(size=(9, 7))
    z, totals = rng.uniform(lower, upper), rng.standard_normal(9)
    z[:, 0], z[:, 1] = lower[:, 0], upper[:, 1]
    totals[0] = upper[0].sum()  # which needs the one at its lower bound
    ends = [z.copy(), z.copy()]
    for kernel, end in zip((compiled, plain), ends, strict=True):
        kernel.balance_all(end, lower, upper, totals, order, 1e-12)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-14)
    np.testing.assert_allclose(ends[0].sum(axis=1), totals, atol=1e-12)


def test_who_comes_first_gives_all_its_room_by_hand():
    # The free one has 0.5 of the 2 that are too much, the first in the order 1 of the rest.
    z, lower = np.array([[1.0, 1.0, 0.5, 1.0]]), np.zeros((1, 4))
    for kernel in (compiled, plain):
        end, order = z.copy(), np.array([3, 0, 1, 2])
        kernel.balance_all(end, lower, np.ones((1, 4)), np.array([1.5]), order, 1e-12)
        assert end.tolist() == [[0.5, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize("loops", [compiled, plain])
def test_everybody_may_be_on_another_side_than_in_the_tableau(loops):
    # The twin checks where it writes: the list of who is odd is as long as it can be.
    gram, y = np.array([[1.0, 0.2], [0.2, 1.0]]), np.array([-1.0, 1.0])
    tableau = Tableau(gram, y, np.array([0]))
    states, sides = np.zeros((1, ROUND_ROWS, 2)), np.array([[-1, 0]], np.int8)
    states[0, LOW], states[0, HIGH] = [-0.5, 0.0], [0.0, 9.0]
    states[0, GOT] = tableau.own
    verdicts, needed = np.array([NEEDED]), np.zeros(2, np.uint8)
    loops.settle_all(
        *tableau.arrays, states, sides, tableau.floor, 6, needed, verdicts, np.zeros(1)
    )
    assert verdicts.tolist() == [SETTLED]
    assert states[0, GIVEN, 1] == pytest.approx(0.5, abs=1e-9)
