"""SVMs near a solution on all examples, as those without a few of them, on one Gram matrix.

Problem   that of `gram.dual` for every row of a table of bounds
Given     K, the solution on all examples, and the bounds of each refit
Returns   the decision value of every example under each refit, and whether that was solved
Method    Those far from the margin stay at their bounds.  The others take steps of two examples
          until it is roughly known who is at which bound, then rounds of equations on the tableau
          of the solution, as in `batch.gram`: both know of changes since the solution only.  At the
          end K says of everyone whether they object; who does counts as near in a second try
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.kernels import batch as kernel
from truerisk.svm.batch.gram import (
    DIAGONAL,
    GIVEN,
    GOT,
    GRADIENT,
    LOWER,
    MIN_CURVATURE,
    NEARLY,
    RIDGE_OF_GAP,
    ROUGH,
    ROUND_ROWS,
    STEP_ROWS,
    UPPER,
    Bounds,
    Ends,
    KnownRows,
    Single,
    Tableau,
    Z,
    balanced,
    free_in,
    padded,
    settled_from,
)
from truerisk.svm.gram import leave_out
from truerisk.svm.gram.path import Pivots, block_of, columns_of, spread
from truerisk.svm.solution import ROUNDING, Solution

FIRST, FIRST_OF_MANY = ROUGH.index(3e-3), ROUGH.index(0.1)  # by trial
MAX_STEPS = 5  # for every example, in one try: where more are needed, a path is faster
# Free examples: with so many, rounds from rougher states seldom go in circles; where CK is large
# these save more steps.
MANY_FREE, MANY_FREE_OF_LARGE, LARGE = 0.15, 0.1, 3.0
# How far above and below the margin an example may change sides at CK = 1, and at most; by trial it
# grows with the cube root of CK.
BAND, MAX_BAND = (0.45, 0.4), 1.5
# Free examples: to pivot on fewer once more takes less than refits that only a ridge settles.
MIN_SHARED = 400
MOST = 0.7  # of the examples: to leave the rest out saves little
MAX_DISTINCT = 0.5  # of the examples: to merge the copies among fewer saves little
MANY_WEIGHTS = 0.3  # of a column, that are not 0: a product of matrices is faster then


class Nearby:
    """What the refits share; a few of them are solved at a time.

    The tableau has the rows of those only that change: with few refits the others are not worth it.
    """

    def __init__(
        self,
        gram: Array,
        solution: Solution,
        *,
        tolerance: float = 1e-8,
        near: NDArray[np.intp] | None = None,
        made: leave_out.Tableau | None = None,
    ) -> None:
        """Prepare refits; `made` is the tableau that examples were left out on, if they were."""
        self.gram, self.solution, self.tolerance, self.made = gram, solution, tolerance, made
        self.is_first_try = near is None
        self.near = near_in(gram, solution) if near is None else near
        self.is_whole = len(self.near) == len(gram)
        y, self.z = solution.y, solution.y * solution.alpha
        self.among = gram if self.is_whole else block_of(gram, self.near, self.near)
        ridge = RIDGE_OF_GAP * tolerance / float(solution.upper.max() or 1.0)
        free = np.searchsorted(self.near, free_in(solution))
        pivots, known = self._taken_over(made)
        self.has_ridge = pivots is None
        self.tableau = tableau = Tableau(
            self.among, y[self.near], free, ridge=ridge, whole=False, pivots=pivots, known=known
        )
        self.single = padded(self.among)
        self.gradient = y - solution.decision
        gradient, z = self.gradient[self.near], self.z[self.near]
        # Who is free has a gradient of 0 but for rounding, which is made up for here.
        self.got = np.where(tableau.base, -z, gradient)
        self.got += tableau.answer_to(np.where(tableau.base, gradient, 0.0))
        self.given, self.of_base = np.where(tableau.base, 0.0, z), np.where(tableau.base, z, 0.0)

    def _taken_over(
        self, made: leave_out.Tableau | None
    ) -> tuple[Pivots, KnownRows] | tuple[None, None]:
        """Take pivots and rows that are there, unless examples are nearly equal.

        Refits in which these change sides need a ridge, which shares α out in one way.
        """
        if made is None or not made.pivots.are_clear(scale := spread(self.gram)):
            return None, None
        pivots, diagonal = made.pivots, np.diagonal(self.gram)
        if len(pivots.members) < MIN_SHARED and not pivots.others_are_clear(diagonal, scale):
            return None, None
        if not self.is_whole:
            some = pivots.among(self.near)
            if some is None:
                return None, None
            pivots = some
        return pivots, KnownRows(made.effects, made.place, self.near)

    def decisions(self, bounds: Array) -> tuple[Array, Flags]:
        """Return the decision values for each row of bounds, and whether the row was solved.

        What is solved has a gap of at most the tolerance, and somebody free who pins the bias down.
        """
        decisions, solved = np.empty(bounds.shape), np.zeros(len(bounds), bool)
        objects = np.zeros(len(self.gram), bool)
        left, refits = np.arange(len(bounds)), Refits.of(self, Bounds.of(self.solution.y, bounds))
        for gap in ROUGH[first_gap(self.gram, self.solution) :]:
            self.descend(refits.states, gap)
            attempt = self.attempt(refits)
            decisions[left], solved[left] = attempt.decisions, attempt.good
            if not self.is_whole:
                objects |= self.objectors(refits, attempt)
            again = ~attempt.over
            left, refits = left[again], refits.of_some(again)
            if not len(left):
                break
        left = np.flatnonzero(~solved)
        if len(left) and not (self.is_whole and self.has_ridge):
            near, made = np.arange(len(self.gram)), None
            if self.is_first_try and objects.any():
                objects[self.near] = True
                near, made = np.flatnonzero(objects), self.made
            wider = Nearby(self.gram, self.solution, tolerance=self.tolerance, near=near, made=made)
            decisions[left], solved[left] = wider.decisions(bounds[left])
        return decisions, solved

    def descend(self, states: Single, gap: float) -> None:
        """Take steps in all states until their gaps are at most `gap`."""
        taken = np.empty(len(states), np.int64)
        floor = float(MIN_CURVATURE * np.abs(np.diagonal(self.single)).max())
        most = MAX_STEPS * len(self.gram)
        kernel.descend_all(self.single, states, floor, gap, most, taken)

    def attempt(self, refits: "Refits") -> "Attempt":
        """Solve exactly from who is at which bound, and judge the solutions."""
        tableau, near, lower, upper = self.tableau, self.near, refits.lower, refits.upper
        count, k = lower.shape
        states, sides = np.empty((count, ROUND_ROWS, k)), np.empty((count, k), np.int8)
        is_base = tableau.base.view(np.uint8)
        kernel.begin_all(refits.states, lower, upper, is_base, states, sides)
        # What the start has changed is known; from there the base goes back to where it was.
        further = states[:, GIVEN] + self.of_base
        further -= columns_of(refits.start, near)
        effect = product(further, self.among)  # few have gone further
        effect += columns_of(refits.effect, near)
        total = refits.start.sum(axis=1) - self.z.sum() + further.sum(axis=1)
        changed = states[:, GIVEN] - self.given
        np.subtract(self.got, tableau.pivoted(changed, effect, total), out=states[:, GOT])
        ends = settled_from(tableau, states, sides, lower, upper)
        outcome = self.judged(refits, ends)
        again = np.flatnonzero(ends.settled & ~outcome.good & (outcome.gap <= NEARLY))
        if len(again):
            part, some, states = ends.of_some(again), refits.of_some(again), states[again]
            missing = self.solution.y[near] - outcome.decisions[again][:, near]
            states[:, GOT] += tableau.answer_to(np.where(part.sides == 0, missing, 0.0))
            more = settled_from(tableau, states, part.sides, some.lower, some.upper)
            for mine, its in zip(outcome, self.judged(some, more), strict=True):
                mine[again] = its
        return outcome

    def judged(self, refits: "Refits", ends: Ends) -> "Attempt":
        """Measure on K itself what `settled_from` returned."""
        z = refits.start.copy()
        z[:, self.near] = ends.z
        decisions = product(z - refits.start, self.gram)
        decisions += refits.effect
        decisions += self.solution.decision - self.solution.bias
        bias, gap = np.empty(len(z)), np.empty(len(z))
        gradient = self.solution.y - decisions
        kernel.measure_all(refits.bounds.lower, refits.bounds.upper, z, gradient, bias, gap)
        good = ends.settled & (gap <= self.tolerance)
        good &= Bounds(refits.lower, refits.upper).has_inside(ends.z) & ~refits.bounds.misses(z)
        decisions += bias[:, None]
        return Attempt(decisions, good, gap, good | (ends.settled & (gap > NEARLY)))

    def objectors(self, refits: "Refits", attempt: "Attempt") -> Flags:
        """Tell who is not near, and on the wrong side of the margin for the bound it is at.

        Only where those near agree: elsewhere it is not known yet where the margin is.
        """
        which = attempt.over & ~attempt.good
        y, some = self.solution.y, refits.bounds.of_some(np.flatnonzero(which))
        beyond = y * attempt.decisions[which] - 1.0
        is_wrong = np.where(refits.start[which] == 0.0, beyond < 0.0, beyond > 0.0)
        objects = np.asarray((is_wrong & (some.lower < some.upper)).any(axis=0))
        objects[self.near] = False
        return objects


class Merged:
    """The same where equal examples of a class take part as one, whose bounds add up.

    The optimum has the same w and bias, and no examples that depend on their copies.
    """

    def __init__(
        self, gram: Array, solution: Solution, copies: "Copies", *, tolerance: float = 1e-8
    ) -> None:
        self.copies, first = copies, copies.first
        upper, alpha = copies.sums(np.stack([solution.upper, solution.alpha]))
        merged = replace(
            solution,
            y=solution.y[first],
            upper=upper,
            alpha=alpha,
            decision=solution.decision[first],
        )
        self.nearby = Nearby(block_of(gram, first, first), merged, tolerance=tolerance)

    def decisions(self, bounds: Array) -> tuple[Array, Flags]:
        """Return the decision values for each row of bounds, and whether the row was solved."""
        decisions, solved = self.nearby.decisions(self.copies.sums(bounds))
        return decisions[:, self.copies.group], solved


class Copies(NamedTuple):
    """Equal examples of a class: the first of each group, and the group of each example."""

    first: NDArray[np.intp]
    group: NDArray[np.intp]

    @classmethod
    def among(cls, X: Any, y: Array) -> "Copies | None":
        """Find equal rows of one class; None where fewer than every second is a copy."""
        if not isinstance(X, np.ndarray):
            return None
        # Sums of equal rows are equal, but for rounding; few rows are worth sorting.
        sums = X @ np.random.default_rng(0).standard_normal(X.shape[1])
        if len(np.unique(sums)) > MAX_DISTINCT * len(X):
            return None
        rows = np.column_stack([y, X])
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return cls(first, group.ravel()) if len(first) <= MAX_DISTINCT * len(X) else None

    def sums(self, table: Array) -> Array:
        """Add up the columns of each group."""
        order = np.argsort(self.group, kind="stable")
        starts = np.searchsorted(self.group[order], np.arange(len(self.first)))
        return np.asarray(np.add.reduceat(table[:, order], starts, axis=1))


def solver_of(
    gram: Array,
    solution: Solution,
    X: Any,
    *,
    tolerance: float = 1e-8,
    made: leave_out.Tableau | None = None,
) -> "Nearby | Merged":
    """Return what solves refits, from the examples that K is of."""
    copies = Copies.among(X, solution.y)
    if copies is None:
        return Nearby(gram, solution, tolerance=tolerance, made=made)
    return Merged(gram, solution, copies, tolerance=tolerance)


class Attempt(NamedTuple):
    """What rounds have come to: decisions are right where `good`.

    Another try is of no use where it is `over`: they are, or those near agree and others object.
    """

    decisions: Array
    good: Flags
    gap: Array
    over: Flags


class Refits(NamedTuple):
    """Some refits: the bounds of z, those of who is near, where z starts, and the steps."""

    bounds: Bounds
    lower: Array
    upper: Array
    start: Array
    effect: Array  # K times what the start has changed since the solution
    states: Single

    @classmethod
    def of(cls, shared: Nearby, bounds: Bounds) -> "Refits":
        """Start every refit from the solution.

        Who is at a bound there starts at it; the free stay where they are, as far as they may.
        """
        solution, near = shared.solution, shared.near
        full = solution.alpha >= (1.0 - ROUNDING) * solution.upper
        beyond = np.where(full, solution.y * np.inf, shared.z)
        start = np.clip(beyond, bounds.lower, bounds.upper)
        lower, upper = bounds.lower, bounds.upper
        if not shared.is_whole:
            lower, upper = (columns_of(one, near) for one in (lower, upper))
        of_near = columns_of(start, near)
        others = (start.sum(axis=1) - of_near.sum(axis=1))[:, None]
        # Who is nearest to the margin is the first to change; the fewer do, the fewer go back.
        order = np.argsort(np.abs(shared.gradient[near]), kind="stable")
        z = balanced(of_near, lower, upper, -others, order)
        start[:, near] = z
        effect = product(start - shared.z, shared.gram)
        k, m = len(near), shared.single.shape[1]
        states = np.zeros((len(start), STEP_ROWS, m), np.float32)
        states[:, LOWER, :k], states[:, UPPER, :k], states[:, Z, :k] = lower, upper, z
        states[:, GRADIENT, :k] = shared.gradient[near] - columns_of(effect, near)
        states[:, DIAGONAL] = np.diagonal(shared.single)
        return cls(bounds, lower, upper, start, effect, states)

    def of_some(self, which: "Flags | NDArray[np.intp]") -> "Refits":
        """Take some of the refits."""
        return Refits(
            Bounds(self.bounds.lower[which], self.bounds.upper[which]),
            self.lower[which],
            self.upper[which],
            self.start[which],
            self.effect[which],
            self.states[which],
        )


def first_gap(gram: Array, solution: Solution) -> int:
    """Choose the first of the rough gaps at which rounds are tried."""
    many = MANY_FREE if largest(gram, solution) < LARGE else MANY_FREE_OF_LARGE
    return FIRST if solution.free.mean() < many else FIRST_OF_MANY


def largest(gram: Array, solution: Solution) -> float:
    """Return CK: the largest bound times the scale of squared distances."""
    return float(solution.upper.max()) * spread(gram)


def near_in(gram: Array, solution: Solution) -> NDArray[np.intp]:
    """Name who may change sides where a few examples are left out."""
    drift = largest(gram, solution) ** (1.0 / 3.0)
    above, below = (min(part * drift, MAX_BAND) for part in BAND)
    beyond = solution.y * solution.decision - 1.0
    is_near = (beyond < above) & (beyond > -below)
    is_near[free_in(solution)] = True
    return np.flatnonzero(is_near) if is_near.mean() < MOST else np.arange(len(is_near))


def product(weights: Array, gram: Array) -> Array:
    """Return weights · K, row by row of K where few weights of a column are not 0."""
    often = np.count_nonzero(weights, axis=0)
    is_dense = often > MANY_WEIGHTS * len(weights)
    many, few = np.flatnonzero(is_dense), np.flatnonzero((often > 0) & ~is_dense)
    total = weights[:, many] @ np.take(gram, many, axis=0)
    some = weights.T[few].ravel()
    used = np.flatnonzero(some)
    row, into = np.divmod(used, len(weights))
    kernel.add_rows(gram, few[row], some[used], into, total)
    return total
