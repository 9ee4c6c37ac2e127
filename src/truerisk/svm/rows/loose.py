"""The linear SVM with a free bias, on sparse rows, to within a part of its objective.

Problem   that of `truerisk.svm.rows.dual`, which solves it exactly
Given     the part of the objective by which a solution may miss the optimum
Returns   α and w whose duality gap, measured on all examples, is at most that part
Method    Sweeps of coordinate descent, each in a new order, drop examples far on their side.  What
          the examples add to the duality gap as their turn comes says when all of them are worth a
          look; a look moves the bias to its best place and takes those back that object.  Where
          sweeps are slow, Newton's steps go between them
"""

import numpy as np

from truerisk.aliases import Array
from truerisk.kernels import rows as kernel
from truerisk.svm.rows.dual import (
    MAX_PASSES,
    PENALTY,
    QUIET,
    SEED,
    WIDEST_BAND,
    Neighbourhood,
    State,
    mixed,
)
from truerisk.svm.rows.matrix import Rows
from truerisk.svm.solution import LinearSolution

FIRST_PART = 1.0  # times the part: the gap of a sweep at which all examples are looked at first
SLOW_PART = 10.0  # the same where sweeps are slow: those that were dropped too soon are many then
BLOCK = 8  # rows that stay together when all are mixed anew
FEW_SWEEPS = 10  # after which sweeps are slow
SMALL = 500  # examples: they are in the cache, and several sweeps take less than Newton's step
AT_A_TIME = 4  # sweeps over so few, in one order
MAX_SWEEPS = 60  # without a look
MAX_LOOKS = 10
UNBALANCED = 0.2  # what it adds to the gap to bring Σyα back to 0, at most about
ROUGH = 0.1  # accuracy of Newton's step, in parts of the spread
WINDOW = 0.05  # about the multiplier, in which the best bias is expected


def approach_rows(
    rows: Rows,
    y: Array,
    upper: Array,
    *,
    part: float,
    start: LinearSolution | None = None,
    penalty: float = PENALTY,
    max_passes: int = MAX_PASSES,
    max_visits: float = np.inf,
) -> LinearSolution:
    """Come within a part of the optimum of one linear SVM, unless a limit comes first.

    The limits are passes, visits of one example, and `MAX_LOOKS`.  `start` solves the same rows
    under other bounds; `penalty` is ρ in units of the mean |x|².  The same arguments give the same
    bits.
    Source: C.-J. Hsieh et al., "A dual coordinate descent method for large-scale linear SVM",
    ICML 2008, 408-415.
    """
    y, upper = np.ascontiguousarray(y, np.float64), np.ascontiguousarray(upper, np.float64)
    state, rng = State(rows, y, upper, start), np.random.default_rng(SEED)
    if start is None:
        active = mixed(np.flatnonzero(upper > 0.0))
    else:
        state.restore_balance()
        state.look()
        active = state.near(WIDEST_BAND)
    goals, visits = (FIRST_PART * part, SLOW_PART * part), 0
    multiplier = state.bias
    for _ in range(MAX_LOOKS):
        near = Neighbourhood(
            rows, y, upper, state.alpha, state.weights, multiplier, active, penalty=penalty
        )
        visits += _sweep_to(near, goals, rng, max_visits - visits)
        state.passes += near.passes
        # The best bias for this w jumps about; the multiplier goes on from where it was.
        state.bias = multiplier = near.bias
        solution = seen_by_all(state)
        is_over = state.passes >= max_passes or visits >= max_visits
        if is_over or solution.objective_gap <= part:
            break
        goals, active = (part, part), mixed(state.near(WIDEST_BAND), rng, BLOCK)
    return solution


def _sweep_to(
    near: Neighbourhood, goals: tuple[float, float], rng: np.random.Generator, max_visits: float
) -> int:
    """Sweep until the gap of a sweep is at most a goal; return how many examples were visited.

    The goals are parts of the objective: one for few sweeps, one for more.
    """
    visits = count = newton = 0
    while count < MAX_SWEEPS:
        is_small = len(near.order) < SMALL
        times = AT_A_TIME if is_small and count else 1
        visits += times * len(near.order)
        near.sweep(times)
        count += times
        value = near.alpha.sum() - 0.5 * kernel.sum_of_squares(near.weights)
        gap = near.gap + UNBALANCED * abs(near.balance)
        if gap <= goals[count >= FEW_SWEEPS] * value or visits >= max_visits:
            break
        pause = 1 + SMALL // max(len(near.order), 1)
        is_due = count >= FEW_SWEEPS and count - newton >= pause
        if is_due and near.changes <= QUIET * len(near.order):
            passes, newton = near.passes, count
            near.newton(ROUGH * near.spread)
            visits += 2 * (near.passes - passes) * len(near.free)
        near.order = rng.permutation(near.order) if is_small else mixed(near.order, rng, BLOCK)
    return visits


def seen_by_all(state: State) -> LinearSolution:
    """Take bias, decisions and gap of all examples; return the solution with these."""
    y, upper, before = state.y, state.upper, state.alpha.copy()
    state.restore_balance()
    kernel.add_rows(*state.rows.arrays, y * (state.alpha - before), state.weights)
    products = state.rows.times(state.weights)
    highest, lowest, _, _ = kernel.measure(y, upper, state.alpha, products)
    state.gap = max(highest - lowest, 0.0)
    state.bias = best_bias(y, upper, y - products, state.bias)
    state.decision = products + state.bias
    return state.solution()


def best_bias(y: Array, upper: Array, ends: Array, guess: float) -> float:
    """Return the bias of least loss Σ Uξ, whose slope changes by U at each of the ends y − w·x.

    The middle one, where several are as good.
    """
    near = np.flatnonzero(np.abs(ends - guess) <= WINDOW)
    total = float(upper.sum())
    first_slope = -0.5 * (total + float(np.einsum("i,i", upper, y)))  # Σ U of the positive
    slope = first_slope + float(np.einsum("i,i", upper, ends < guess - WINDOW))
    if not slope < 0.0 < slope + float(upper[near].sum()):
        near, slope = np.flatnonzero(upper > 0.0), first_slope
    near = near[np.argsort(ends[near])]
    slopes = slope + np.cumsum(upper[near])
    level = 1e-12 * total
    first, last = np.searchsorted(slopes, [-level, level])
    return 0.5 * float(ends[near[first]] + ends[near[min(last, len(near) - 1)]])
