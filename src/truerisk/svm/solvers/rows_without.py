"""The margin of each of many examples, by the linear machine that is fitted without it.

Problem   y_t f₋t(x_t) for the optimum f₋t of the problem with upper_t = 0
Given     the optimum with all examples
Returns   margins whose signs are exact: the gap of each refit is measured on all examples
Link      the path on the tableau of the examples near the margin.  Where an example further off
          objects to the end of a path, it joins the tableau, and the path is followed again; where
          a path is lost, the general solver is asked
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.errors import NotConvergedWarning
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.solution import LinearSolution
from truerisk.svm.solvers.linear_dual import MAX_PASSES, clearly_free, judge, solve_rows
from truerisk.svm.solvers.removal_path import MAX_CHANGED, follow
from truerisk.svm.solvers.rows import Rows, add_four, multiply_four
from truerisk.svm.solvers.tableau import Tableau, independent, inner_products

TIGHT = 1e-9  # gap of a refit whose sign is believed, and margin below which it is a tie
TIGHTEST = 1e-10  # gap of the optimum that all paths start from
BAND = 0.05  # how far from the margin an example at a bound is expected to matter
LARGEST_BAND = 4000  # examples: a tableau of 128 MB
ROUNDS = 4  # how often the band may grow
LANES = 4


def margins_without(
    rows: Rows, solution: LinearSolution, which: NDArray[np.intp], *, workers: int = 1
) -> Array:
    r"""Give the margin of each example in `which` by the machine fitted without it.

    .. math:: y_t \, (w_{-t} \cdot x_t + b_{-t})

    A margin below 0 is an error of leave-one-out, and its sign is exact: every refit is solved to a
    gap of 1e-9, measured on all examples.  A margin of exactly 0 is a tie.

    Parameters
    ----------
    rows, solution
        The examples, and the optimum with all of them.
    which
        The examples to leave out, one at a time.
    workers
        Threads.

    References
    ----------
    .. [1] G. Cauwenberghs and T. Poggio, "Incremental and decremental support vector machine
       learning", NIPS 13, 409-415, 2000.

    Examples
    --------
    >>> from truerisk.svm.solvers.rows import as_rows
    >>> rows = as_rows(np.array([[0.0], [1.0], [3.0], [4.0]]))
    >>> solution = solve_rows(rows, np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, 10.0))
    >>> margins_without(rows, solution, np.array([0, 2])).round(6)
    array([2.      , 0.333333])
    """
    which, whole = np.asarray(which, np.intp), solution
    if solution.gap > TIGHTEST:
        whole = solve_rows(rows, solution.y, solution.upper, tolerance=TIGHTEST, start=solution)
    margins = whole.y[which] * whole.decision[which]
    # Without α an example leaves nothing behind, unless it is what keeps the bias where it is.
    open_places = np.flatnonzero((whole.alpha[which] > 0.0) | (not whole.stable))
    # Threads of BLAS wait for each other, and for ours, longer than they save.
    with few_blas_threads(0), ThreadPoolExecutor(workers) as pool:
        band = Band(rows, whole, which[open_places], workers=workers)
        for _ in range(ROUNDS if band.usable else 0):
            if not len(open_places):
                break
            parts = np.array_split(open_places, workers)
            found = list(pool.map(lambda part: band.leave_out(which[part]), parts))
            for part, (values, _) in zip(parts, found, strict=True):
                margins[part] = values
            open_places = open_places[np.isnan(margins[open_places])]
            objecting = np.unique(np.concatenate([objecting for _, objecting in found]))
            if not band.widen(objecting):
                break
        refits = list(pool.map(lambda place: _refit(rows, whole, int(which[place])), open_places))
    for place, refit in zip(open_places, refits, strict=True):
        margins[place] = whole.y[which[place]] * refit.decision[which[place]]
    gaps = [refit.gap for refit in refits if refit.gap > TIGHT]
    if gaps:
        warnings.warn(
            f"{len(gaps)} refits without one example stopped at a gap of up to {max(gaps):.2g}; "
            "the signs of their margins are not sure.",
            NotConvergedWarning,
            stacklevel=2,
        )
    margins[np.abs(margins) <= TIGHT] = 0.0
    return margins


def _refit(rows: Rows, whole: LinearSolution, out: int) -> LinearSolution:
    """Solve the problem without one example by the general solver."""
    upper = whole.upper.copy()
    upper[out] = 0.0
    return solve_rows(rows, whole.y, upper, tolerance=TIGHT, start=whole, max_passes=MAX_PASSES)


class Band:
    """The examples near the margin, their tableau, and the optimum that all paths start from."""

    def __init__(
        self, rows: Rows, whole: LinearSolution, which: NDArray[np.intp], *, workers: int
    ) -> None:
        self.rows, self.whole, self.workers = rows, whole, workers
        excess = whole.y * whole.decision - 1.0
        near = np.where(whole.alpha > 0.0, excess > -BAND, excess < BAND) & (whole.upper > 0.0)
        near[which] = True
        free = np.flatnonzero(whole.free)
        near[free] = False
        self.usable = 0 < len(free) <= LARGEST_BAND - near.sum() and len(which) > 0
        if not self.usable:
            return
        gram = inner_products(rows.take(free), 0, workers=workers)
        upper, up = whole.upper[free], whole.y[free] > 0.0
        low, high = np.where(up, 0.0, -upper), np.where(up, upper, 0.0)
        stay, z = independent(gram, (whole.y * whole.alpha)[free], low, high)
        alpha = whole.alpha.copy()
        alpha[free] = np.abs(z)
        self.whole = replace(whole, alpha=alpha, weights=rows.total(whole.y * alpha))
        self.members = free[stay]
        self.tableau = Tableau.of_free(gram[np.ix_(stay, stay)])
        self.add(np.concatenate([free[~stay], np.flatnonzero(near)]))

    def widen(self, others: NDArray[np.intp]) -> bool:
        """Add examples at a bound; tell whether there were any, and whether they fitted in."""
        if not len(others) or len(self.members) + len(others) > LARGEST_BAND:
            return False
        self.add(others)
        return True

    def add(self, others: NDArray[np.intp]) -> None:
        """Add examples at a bound to the band and to its tableau."""
        first, whole = len(self.members), self.whole
        self.members = np.concatenate([self.members, others])
        self.near = self.rows.take(self.members)
        products = inner_products(self.near, first, workers=self.workers)
        self.tableau = self.tableau.widened(products)
        self.position = np.full(len(self.rows), -1)
        self.position[self.members] = np.arange(len(self.members))
        y, upper = whole.y[self.members], whole.upper[self.members]
        self.z = y * whole.alpha[self.members]
        self.low, self.high = np.where(y > 0.0, 0.0, -upper), np.where(y > 0.0, upper, 0.0)
        # At an optimum the sign of a residual is that of the bound; the rest is the gap's.
        residual = y - whole.decision[self.members]
        at_high = self.z >= self.high
        self.residual = np.where(at_high, np.maximum(residual, 0.0), np.minimum(residual, 0.0))
        self.residual[: self.tableau.free] = 0.0

    def leave_out(self, which: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
        """Give the margin of each example without it, and who objected where it is NaN."""
        work = Workspace(self)
        margins, objecting = [], [np.empty(0, np.intp)]
        for first in range(0, len(which), LANES):
            lanes = which[first : first + LANES]
            found = [work.follow(out, lane) for lane, out in enumerate(lanes)]
            work.multiply()
            for lane, out in enumerate(lanes):
                margin = np.nan
                if found[lane]:
                    margin, others = work.judge(out, lane)
                    objecting.append(others)
                margins.append(margin)
        return np.array(margins), np.concatenate(objecting)


class Workspace:
    """What one thread writes to: four paths at a time."""

    def __init__(self, band: Band) -> None:
        n = len(band.members)
        self.band, self.upper = band, band.whole.upper.copy()
        self.alpha = np.tile(band.whole.alpha, (LANES, 1))
        self.change = np.zeros((n, LANES))
        self.weights = np.empty((band.rows.width, LANES))
        self.products = np.empty((LANES, len(band.rows)))
        self.free, self.place = np.empty(n, np.bool_), np.empty(n, np.int32)
        self.changed, self.x = np.empty(MAX_CHANGED, np.int32), np.empty(MAX_CHANGED)
        self.system, self.rates = np.empty((MAX_CHANGED, MAX_CHANGED)), np.empty(n)

    def follow(self, out: int, lane: int) -> bool:
        """Follow the path of one example; tell whether its end was found."""
        band = self.band
        z, residual, at = band.z.copy(), band.residual.copy(), int(band.position[out])
        events = follow(
            band.tableau.values,
            band.tableau.free,
            band.low,
            band.high,
            at,
            z,
            residual,
            self.free,
            self.place,
            self.changed,
            self.system,
            self.x,
            self.rates,
            float(band.rows.squared_norms[out]),
        )
        if events >= 0:
            self.alpha[lane, band.members] = np.abs(z)
            self.change[:, lane] = z - band.z
        return bool(events >= 0)

    def multiply(self) -> None:
        """Give w·x of all examples at the ends of the four paths."""
        self.weights[:] = self.band.whole.weights[:, None]
        add_four(*self.band.near.arrays, self.change, self.weights)
        multiply_four(*self.band.rows.arrays, self.weights, self.products)

    def judge(self, out: int, lane: int) -> tuple[float, NDArray[np.intp]]:
        """Give the margin, or NaN and the examples outside of the band that object to it."""
        whole, alpha, products = self.band.whole, self.alpha[lane], self.products[lane]
        self.upper[out] = 0.0
        highest, lowest, free, total = judge(whole.y, self.upper, alpha, products)
        self.upper[out] = whole.upper[out]
        near = self.band.members
        if not free or not clearly_free(alpha[near], self.upper[near]).any():
            return np.nan, np.empty(0, np.intp)  # the bias is one of many: the solver finds which
        bias = total / free
        if highest - lowest <= TIGHT:
            return float(whole.y[out] * (products[out] + bias)), np.empty(0, np.intp)
        excess = whole.y * (products + bias) - 1.0
        wrong = ((alpha < whole.upper) & (excess < 0.0)) | ((alpha > 0.0) & (excess > 0.0))
        return np.nan, np.flatnonzero(wrong & (self.band.position < 0))
