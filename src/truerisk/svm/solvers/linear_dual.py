"""The linear support vector machine with a free bias, on sparse rows.

Problem   min  ½ |w|² + Σᵢ upperᵢ ξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ,  ξᵢ ≥ 0,  b not penalised
Given     rows, labels ±1, the bounds of α (0: the example is left out), perhaps a start
Returns   the optimum to a gap, measured on all examples with a w built anew from α
Link      the problem is solved on the examples near the margin; one look at all examples tells who
          is near, and whether anybody further off objects
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.solution import LinearSolution
from truerisk.svm.solvers.neighbourhood import Neighbourhood, mixed
from truerisk.svm.solvers.rows import Rows
from truerisk.svm.solvers.tableau import inner_products

WIDEST_BAND = 0.2  # how far from the margin an example may matter
FIRST_GOAL = 0.1  # spread of the gradients at which all examples are looked at first
CLOSER = 0.02  # part of the gap that the next neighbourhood is solved to, or the gap's square
FIRST_SWEEPS, LATER_SWEEPS = 4, 1  # at least, before Newton's step
MAX_PASSES = 20_000
IDLE_ROUNDS = 3  # in which the gap did not halve: Newton's steps go in circles then
PATIENT_PASSES = 500
GRAM_EXAMPLES = 3000  # up to here such a problem is solved on its Gram matrix instead
ROUNDING = 1e-7  # part of its bound that a free α is off it, at least
BALANCED = 1e-13  # part of Σ upper by which Σyα may miss 0


def solve_rows(
    rows: Rows,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: LinearSolution | None = None,
    max_passes: int = MAX_PASSES,
) -> LinearSolution:
    r"""Find the optimum of one linear machine.

    .. math:: \min_{w, b} \tfrac12 w \cdot w + \sum_i U_i \max(0, 1 - y_i (w \cdot x_i + b))

    The gap of the result is measured, not estimated: it is at most `tolerance` unless `max_passes`
    came first.  The same arguments give the same result, bit for bit.

    Parameters
    ----------
    rows, y, upper
        Examples, labels −1 or 1, and the bounds U of α.
    tolerance
        Largest gap, in units of the margin.
    start
        The solution of a problem with the same rows and labels, and with other bounds.
    max_passes
        Sweeps and steps of conjugate gradients, after which the result is returned as it is.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual
       coordinate descent method for large-scale linear SVM", ICML 2008, 408-415.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> rows = as_rows(np.array([[0.0], [1.0], [3.0], [4.0]]))
    >>> solution = solve_rows(rows, np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 10.0))
    >>> solution.weights.round(6), round(solution.bias, 6), solution.alpha.round(6)
    (array([1.]), -2.0, array([0. , 0.5, 0.5, 0. ]))
    """
    state = State(rows, y, upper, start)
    active, sweeps = mixed(np.flatnonzero(upper > 0.0)), FIRST_SWEEPS
    if start is not None or not len(active):
        state.restore_balance()
        state.look()
        active = state.near(WIDEST_BAND)
    best, idle = np.inf, 0
    while state.gap > tolerance and state.passes < max_passes:
        if idle == IDLE_ROUNDS and len(rows) <= GRAM_EXAMPLES:
            state.solve_by_gram(tolerance)
            break
        near = Neighbourhood(rows, y, upper, state.alpha, state.weights, state.bias, active)
        near.cautious = idle > 0
        # More is asked of a neighbourhood the less was found wrong with the last one.
        goal = max(tolerance, min(FIRST_GOAL, CLOSER * state.gap, state.gap**2))
        left = max_passes - state.passes
        if idle < IDLE_ROUNDS:
            near.improve(goal, sweeps=sweeps, max_passes=left)
        else:
            near.be_patient(goal, max_passes=min(left, PATIENT_PASSES))
        state.passes += near.passes
        state.restore_balance()
        state.look()
        active, sweeps = state.near(min(2.0 * state.gap, WIDEST_BAND)), LATER_SWEEPS
        idle = 0 if state.gap < 0.5 * best or idle >= IDLE_ROUNDS else idle + 1
        best = min(best, state.gap)
    state.settle(tolerance)
    return state.solution()


class State:
    """Where the solver stands, with regard to all examples."""

    def __init__(
        self, rows: Rows, y: Array, upper: Array, start: LinearSolution | None = None
    ) -> None:
        self.rows, self.y, self.upper = rows, y, upper
        self.weights, self.decision = np.zeros(rows.width), np.zeros(len(rows))
        self.gap, self.passes = np.inf, 0
        if start is None:
            total = float(upper.sum())
            self.alpha = np.zeros(len(rows))
            self.bias = float(np.sum(upper * y)) / total if total > 0.0 else 0.0
        else:
            self.alpha, self.bias = np.minimum(start.alpha, upper), start.bias

    def look(self) -> None:
        """Build w from α; take the decisions, the bias and the gap of all examples from it."""
        self.weights = self.rows.total(self.y * self.alpha)
        self.decision = self.rows.times(self.weights)
        highest, lowest, free, total = judge(self.y, self.upper, self.alpha, self.decision)
        self.gap = max(highest - lowest, 0.0)
        if free:
            self.bias = total / free
        elif np.isfinite(highest) or np.isfinite(lowest):
            # Every bias between the two is optimal; with one class, every bias beyond its end.
            self.bias = float(np.mean([end for end in (highest, lowest) if np.isfinite(end)]))
        self.decision += self.bias

    def settle(self, tolerance: float) -> None:
        """Take α that are free only by rounding to their bounds: such do not pin the bias down."""
        free = (self.alpha > 0.0) & (self.alpha < self.upper)
        if not free.any() or clearly_free(self.alpha[free], self.upper[free]).any():
            return
        before = self.alpha
        self.alpha = np.where(self.alpha < 0.5 * self.upper, 0.0, self.upper)
        self.look()
        if self.gap > tolerance or abs(np.sum(self.y * self.alpha)) > BALANCED * self.upper.sum():
            self.alpha = before
            self.look()

    def solve_by_gram(self, tolerance: float) -> None:
        """Leave a small problem, on which Newton's steps go in circles, to exact paths."""
        gram = inner_products(self.rows, 0)
        exact = solve_gram(gram, self.y, self.upper, tolerance=0.5 * tolerance)
        self.alpha = exact.alpha.copy()
        self.passes += exact.passes
        self.look()

    def near(self, band: float) -> NDArray[np.intp]:
        """Find the examples that are free, or not further on their side than the band."""
        excess = self.y * self.decision - 1.0
        far = ((self.alpha <= 0.0) & (excess > band)) | (
            (self.alpha >= self.upper) & (excess < -band)
        )
        return np.flatnonzero((self.upper > 0.0) & ~far)

    def restore_balance(self) -> None:
        """Bring Σyα back to 0: an equal part from all free α, the rest where it costs least."""
        enough = BALANCED * float(self.upper.sum())
        for _ in range(len(self.y)):
            excess = float(np.sum(self.y * self.alpha))
            free = np.flatnonzero((self.alpha > 0.0) & (self.alpha < self.upper))
            if abs(excess) <= 1e-3 * enough or not len(free):
                break
            moved = self.alpha[free] - self.y[free] * (excess / len(free))
            self.alpha[free] = np.clip(moved, 0.0, self.upper[free])
        if abs(excess) <= enough:
            return
        sign = np.sign(excess)
        takes = self.y * sign < 0.0
        room = np.where(takes, self.upper - self.alpha, self.alpha)
        order = np.argsort(sign * (self.y - self.rows.times(self.weights)), kind="stable")
        before = np.cumsum(room[order]) - room[order]
        part = np.clip(abs(excess) - before, 0.0, room[order])
        self.alpha[order] += np.where(takes[order], part, -part)

    def solution(self) -> LinearSolution:
        """Freeze it."""
        return LinearSolution(
            y=self.y,
            upper=self.upper,
            alpha=self.alpha,
            bias=self.bias,
            decision=self.decision,
            gap=self.gap,
            passes=self.passes,
            weights=self.weights,
        )


def clearly_free(alpha: Array, upper: Array) -> NDArray[np.bool_]:
    """Tell which α are off their bounds by more than rounding can be.

    Examples
    --------
    >>> clearly_free(np.array([1e-9, 0.5]), np.ones(2))
    array([False,  True])
    """
    return np.minimum(alpha, upper - alpha) > ROUNDING * upper


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def judge(y: Array, upper: Array, alpha: Array, products: Array) -> tuple[float, float, int, float]:
    """Tell how far from an optimum the products w·x of all examples are.

    Returns
    -------
    The largest v = y − w·x of those whose yα may rise, the smallest of those whose yα may fall, the
    number of free examples and the sum of their v.
    """
    highest, lowest, free, total = -np.inf, np.inf, 0, 0.0
    for i in range(len(y)):
        value = y[i] - products[i]
        # An example that is left out has neither, and so says nothing.
        held, room = alpha[i] > 0.0, alpha[i] < upper[i]
        if room if y[i] > 0.0 else held:
            highest = max(highest, value)
        if held if y[i] > 0.0 else room:
            lowest = min(lowest, value)
        if held and room:
            free += 1
            total += value
    return highest, lowest, free, total
