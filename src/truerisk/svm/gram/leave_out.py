"""Exact leave-one-out on a Gram matrix: the margin of each example under the SVM without it.

Problem   y_t f₋t(x_t), where f₋t is the SVM fitted without example t, for many t
Given     K, the solution on all examples, and which t are sought for
Link      f₋t is the end of the path on which the bound U_t goes to 0; all paths start at the one
          solution and its inverse; where a path fails, the SVM is fitted anew
Returns   margins; one that is no tie may stand at any point of the path where its sign was sure
Source    Cauwenberghs and Poggio, NIPS 2000
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import gram as kernel
from truerisk.kernels import in_threads
from truerisk.kernels import tableau as tableau_kernel
from truerisk.svm.gram.cost_path import start_of
from truerisk.svm.gram.dual import feasible, solve_gram
from truerisk.svm.gram.path import (
    EVENTS,
    FULL,
    GOING,
    LOWER,
    NEEDED,
    NO_PARTNER,
    RESIDUAL,
    RIGHT,
    ROWS,
    SIDE,
    UPPER,
    Path,
    empty_block,
    empty_path,
    fill_block,
    limits_at,
    members_of,
    pivots_on,
    restart_at,
    spread,
    times_others,
)
from truerisk.svm.solution import Solution

TIE = 1e-9  # a margin, beside the largest decision value, that is 0
FAR = 1e100  # for ∞, which compiled code must not meet
NEAR = 0.1  # a residual at which a bounded example is expected to come free, where CK is 1 or more
ROUNDS = 5  # in which the tableau grows by who came free unexpectedly
MAX_CHANGED = 256  # examples on another side than in the solution, plus one
PATH_EVENTS = 2  # for every example; a path that takes more goes round in circles


class Ground(NamedTuple):
    """What the reach of every example is computed from."""

    diagonal: Array
    widest: float  # at least the squared distance of any two images
    one_bound: bool  # whether all examples have the same bound
    tolerance: float  # a margin that is a tie


class LeftOut(NamedTuple):
    """The margins without each example, and the tableau that they were computed on, if any."""

    margins: Array
    tableau: "Tableau | None"


def leave_out_of(
    gram: Array,
    solution: Solution,
    which: NDArray[np.int64],
    *,
    squared_radius: float,
    workers: int = 1,
    path: Path | None = None,
) -> LeftOut:
    """Compute the margin y·f(x) of each example of `which` under the SVM fitted without it.

    The sign is exact, and 0 is a tie; the value is exact near 0 only.  Without a free support
    vector the bias is the middle of its interval; without the only example of a class the margin is
    −1. `squared_radius` bounds K(x, x) − K(x, x′); ∞ if no bound is known.  `path` is one
    that led straight to the solution, if there is one.
    """
    gram = np.ascontiguousarray(gram, np.float64)
    which = np.asarray(which, np.int64)
    margins = solution.y[which] * solution.decision[which]
    used = solution.upper > 0.0
    alone = np.array([np.count_nonzero(used & (solution.y == label)) < 2 for label in (-1.0, 1.0)])
    lonely = used[which] & alone[(solution.y[which] > 0.0).astype(np.int64)]
    margins[lonely] = -1.0
    sought = np.flatnonzero(used[which] & ~lonely)
    tolerance = TIE * max(1.0, float(np.abs(solution.decision).max()))
    base, tableau = exact_start(gram, solution, path), None
    if base is not None and len(sought) > 0:
        bounds = solution.upper[used]
        one_bound = bool(bounds.min() == bounds.max())
        diagonal = np.ascontiguousarray(np.diagonal(gram))
        ground = Ground(diagonal, min(2.0 * squared_radius, FAR), one_bound, tolerance)
        y = np.ascontiguousarray(solution.y, np.float64)
        verdicts, values, tableau = follow_on_tableau(base, y, which[sought], ground, workers)
        margins[sought] = values
        sought = sought[verdicts > RIGHT]
        if len(sought) > 0:
            verdicts, values = follow_all(base, y, which[sought], ground, workers)
            margins[sought] = values
            sought = sought[verdicts > RIGHT]
    for k in sought:
        margins[k] = refitted_margin(gram, solution, int(which[k]))
    margins[np.abs(margins) <= tolerance] = 0.0
    return LeftOut(margins, tableau)


def exact_start(gram: Array, solution: Solution, path: Path | None = None) -> Path | None:
    """Return the solution as the start of paths, made exact if it is not; None if it cannot be.

    The end of a path that led straight there is one, unless its free are not those of the solution.
    """
    if path is not None:
        lower, upper, _ = feasible(solution.y, solution.upper, None)
        restart_at(path, lower, upper)
        if np.array_equal(members_of(path.block), np.flatnonzero(solution.free)):
            return path
    path = start_of(gram, solution, len(gram))
    return path if path is None or path.at[EVENTS] <= 1.0 else renewed(path)


def renewed(path: Path) -> Path:
    """Invert the equations of the free anew: what paths add up must not be the rounding of updates.

    Where some of the free depend on the others, the inverse stays as it is.
    """
    block = empty_block(len(path.block.members) - 1)
    outside = fill_block(path.gram, members_of(path.block), block, 0.0)
    return path if len(outside) else path._replace(block=block)


class Tableau:
    """What one unit of some examples does to all: of z if they are bounded, else of the residual.

    With G and M those of `Pivots`, a unit of z of a bounded j changes z of the free by −M_j and
    residuals by K_j − G_jᵀM; a unit of the residual of a free j changes z of the free by A⁻¹_j and
    residuals by M_j.  It is the principal pivot transform of K (Tsatsomeros, Linear Algebra Appl.
    307, 2000).
    """

    def __init__(self, base: Path) -> None:
        n = len(base.gram)
        self.gram = base.gram
        self.pivots = pivots = pivots_on(base.gram, base.block, members_of(base.block))
        self.start = np.zeros(n, np.int64)
        self.start[pivots.members] = np.arange(1, len(pivots.members) + 1)
        self.place = np.full(n, -1)
        self.effects, self.size = np.empty((0, n)), 0

    def add(self, examples: NDArray[np.int64]) -> None:
        """Add the rows of further examples."""
        is_new = np.zeros(len(self.place), bool)
        is_new[examples] = True
        examples = np.flatnonzero(is_new & (self.place < 0))
        is_free = self.start[examples] > 0
        bounded, free = examples[~is_free], examples[is_free]
        first, middle = self.size, self.size + len(bounded)
        self.size += len(examples)
        if self.size > len(self.effects):
            larger = np.empty((self.size + self.size // 4, len(self.place)))
            larger[:first] = self.effects[:first]
            self.effects = larger
        self.place[bounded] = np.arange(first, middle)
        self.place[free] = np.arange(middle, self.size)
        of_bounded, of_free = self.effects[first:middle], self.effects[middle : self.size]
        members, inverse, across, reply = self.pivots
        np.take(self.gram, bounded, axis=0, out=of_bounded, mode="clip")
        of_bounded -= times_others(across[:, bounded].T, reply, members)
        of_bounded[:, members] = -reply[1:, bounded].T
        of_free[:] = reply[self.start[free]]
        of_free[:, members] = inverse[self.start[free], 1:]


def follow_on_tableau(
    base: Path,
    y: Array,
    which: NDArray[np.int64],
    ground: Ground,
    workers: int,
) -> tuple[NDArray[np.int64], Array, Tableau | None]:
    """Leave out each of `which` on the tableau; a path on which much changes is given up."""
    verdicts, margins = np.empty(len(which), np.int64), np.empty(len(which))
    if base.block.members[0] == 0:
        verdicts[:] = NO_PARTNER
        return verdicts, margins, None
    reaches = np.empty(len(which))
    kernel.judge_at_start(base, y, which, ground, verdicts, margins, reaches)
    todo = np.flatnonzero(verdicts == GOING)
    if len(todo) == 0:
        return verdicts, margins, None
    n, tableau = len(y), Tableau(base)
    scale = spread(base.gram)
    largest = scale * float((base.rows[UPPER] - base.rows[LOWER]).max())
    reach = NEAR * min(1.0, largest**0.5)  # by trial
    near = (base.rows[SIDE] != 0.0) & (np.abs(base.rows[RESIDUAL]) < reach)
    tableau.add(np.concatenate([members_of(base.block), which[todo], np.flatnonzero(near)]))
    limits = limits_at(scale, 1.0, PATH_EVENTS * n + 1000)

    def work(part: NDArray[np.int64]) -> None:
        removal = (
            *(tableau.effects, tableau.place, tableau.start, np.empty((ROWS, n))),
            *(np.empty(n + 1, np.int64), np.empty(n, np.int64)),
            *(np.empty(MAX_CHANGED, np.int64), np.empty((MAX_CHANGED, MAX_CHANGED))),
        )
        own, values = np.empty(len(part), np.int64), np.empty(len(part))
        tableau_kernel.leave_out(
            base, removal, y, which[part], reaches[part], ground.tolerance, limits, own, values
        )
        verdicts[part], margins[part] = own, values

    for _ in range(ROUNDS):
        _shared_out(work, todo, workers)
        todo = np.flatnonzero(verdicts == NEEDED)
        if len(todo) == 0:
            break
        tableau.add(margins[todo].astype(np.int64))
    return verdicts, margins, tableau


def follow_all(
    base: Path,
    y: Array,
    which: NDArray[np.int64],
    ground: Ground,
    workers: int,
) -> tuple[NDArray[np.int64], Array]:
    """Leave out each of `which`, shared among threads, with more room for those that need it."""
    verdicts, margins = np.full(len(which), FULL), np.zeros(len(which))
    capacity = len(base.block.members)
    limits = limits_at(spread(base.gram), 1.0, PATH_EVENTS * len(y) + 1000)
    while (verdicts == FULL).any():
        todo = np.flatnonzero(verdicts == FULL)

        def work(part: NDArray[np.int64], room: int = capacity) -> None:
            path = empty_path(base.gram, room)
            path.rows[[LOWER, UPPER]] = base.rows[[LOWER, UPPER]]
            own, values = np.empty(len(part), np.int64), np.empty(len(part))
            kernel.leave_out(base, path, y, which[part], limits, ground, own, values)
            verdicts[part], margins[part] = own, values

        _shared_out(work, todo, workers)
        capacity *= 2
    return verdicts, margins


def _shared_out(
    work: Callable[[NDArray[np.int64]], None], todo: NDArray[np.int64], workers: int
) -> None:
    """Do the work, shared among threads."""
    in_threads(work, [todo[k::workers] for k in range(workers)], threads=workers)


def refitted_margin(gram: Array, solution: Solution, t: int) -> float:
    """Return the margin of t by fitting anew without it."""
    upper = solution.upper.copy()
    upper[t] = 0.0
    without = solve_gram(gram, solution.y, upper, tolerance=TIE, start=solution)
    return float(solution.y[t] * without.decision[t])
