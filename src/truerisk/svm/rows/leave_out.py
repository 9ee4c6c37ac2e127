"""The margin of each of many examples, by the linear SVM that is fitted without it.

Problem   y_t f₋t(x_t) for the optimum f₋t of the problem with upper_t = 0
Given     the optimum with all examples
Returns   margins whose signs are exact: the gap of each refit is measured on all examples
Link      the path on the tableau of the examples near the margin.  Where an example further off
          objects to the end of a path, it joins the tableau, and the path is followed again; where
          a path is lost, the general solver is called
Tableau   the conditions K_FF z_F + b = (y − K_FN z_N)_F and Σz = 0 of an optimum, with z = yα; F
          are the free examples, N those at a bound.  values[j] is what one unit of j does to all:
          to do
          something to j in N is to raise zⱼ, to j in F, to raise its decision; what happens to i
          in F is told of zᵢ, to i in N of its decision (the bias included).  It is the principal
          pivot transform of K, bordered by the condition on Σz (Tsatsomeros, Linear Algebra Appl.
          307, 2000)
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.errors import NotConvergedWarning
from truerisk.execution.threads import one_blas_thread
from truerisk.kernels import in_threads
from truerisk.kernels import rows as kernel
from truerisk.svm.rows.dual import MAX_PASSES, clearly_free, solve_rows
from truerisk.svm.rows.matrix import Rows, inner_products
from truerisk.svm.solution import LinearSolution

TIGHT = 1e-9  # gap of a refit whose sign is believed, and margin below which it is a tie
TIGHTEST = 1e-10  # gap of the optimum that all paths start from
BAND = 0.05  # how far from the margin an example at a bound is expected to matter
LARGEST_BAND = 4000  # examples: a tableau of 128 MB
ROUNDS = 4  # how often the band may grow
LANES = 4
MAX_CHANGED = 128  # examples on another side than at the start, as in the kernel
DEPENDENT = 1e-9  # part of |x|² that an example adds to those before it, below which it adds none


def margins_without(
    rows: Rows, solution: LinearSolution, which: NDArray[np.intp], *, workers: int = 1
) -> Array:
    """Return the margin of each example in `which` by the SVM fitted without it.

    The sign is exact: every refit is solved to a gap of 1e-9 on all examples.  0 is a tie.
    Source: G. Cauwenberghs and T. Poggio, NIPS 13, 409-415, 2000.
    """
    which = np.asarray(which, np.intp)
    whole = replace(solution, y=np.ascontiguousarray(solution.y, np.float64))
    if solution.gap > TIGHTEST:
        whole = solve_rows(rows, solution.y, solution.upper, tolerance=TIGHTEST, start=solution)
    margins = whole.y[which] * whole.decision[which]
    # Without α an example leaves nothing behind, unless it is what keeps the bias where it is.
    open_places = np.flatnonzero((whole.alpha[which] > 0.0) | (not whole.stable))
    # Threads of BLAS wait for each other, and for ours, longer than they save.
    with one_blas_thread():
        band = Band(rows, whole, which[open_places], workers=workers)
        for _ in range(ROUNDS if band.usable else 0):
            if not len(open_places):
                break
            parts = np.array_split(open_places, workers)
            results = in_threads(lambda part: band.leave_out(which[part]), parts, threads=workers)
            for part, (values, _) in zip(parts, results, strict=True):
                margins[part] = values
            open_places = open_places[np.isnan(margins[open_places])]
            objecting = np.unique(np.concatenate([objecting for _, objecting in results]))
            if not band.widen(objecting):
                break
        refits = in_threads(
            lambda place: _refit(rows, whole, int(which[place])), open_places, threads=workers
        )
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
        """Return the margin of each example without it, and who objected where it is NaN."""
        work = Workspace(self)
        margins, objecting = [], [np.empty(0, np.intp)]
        for first in range(0, len(which), LANES):
            lanes = which[first : first + LANES]
            followed = [work.follow(out, lane) for lane, out in enumerate(lanes)]
            work.multiply()
            for lane, out in enumerate(lanes):
                margin = np.nan
                if followed[lane]:
                    margin, others = work.measure(out, lane)
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
        self.free, self.place = np.empty(n, np.uint8), np.empty(n, np.int32)
        self.changed, self.x = np.empty(MAX_CHANGED, np.int32), np.empty(MAX_CHANGED)
        self.system, self.rates = np.empty((MAX_CHANGED, MAX_CHANGED)), np.empty(n)

    def follow(self, out: int, lane: int) -> bool:
        """Follow the path of one example; tell whether its end was found."""
        band = self.band
        z, residual, at = band.z.copy(), band.residual.copy(), int(band.position[out])
        events = kernel.follow_removal(
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
        """Return w·x of all examples at the ends of the four paths."""
        self.weights[:] = self.band.whole.weights[:, None]
        weights = self.weights.reshape(-1)
        kernel.add_four(*self.band.near.arrays, self.change, weights)
        by_row = np.empty((len(self.band.rows), LANES))
        kernel.multiply_four(*self.band.rows.arrays, weights, by_row)
        self.products[:] = by_row.T

    def measure(self, out: int, lane: int) -> tuple[float, NDArray[np.intp]]:
        """Return the margin, or NaN and the examples outside of the band that object to it."""
        whole, alpha, products = self.band.whole, self.alpha[lane], self.products[lane]
        self.upper[out] = 0.0
        highest, lowest, free, total = kernel.measure(whole.y, self.upper, alpha, products)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Tableau:
    """What one unit of each example does to all of them."""

    free: int
    values: Array
    bias: Array  # what one unit of each does to the bias
    constant: float  # what one unit of Σz does to it

    @classmethod
    def of_free(cls, gram: Array) -> "Tableau":
        """Begin with the free examples, which must be independent."""
        from scipy.linalg.lapack import dpotrf, dpotri

        # K + κ11ᵀ has an inverse A, and is K where Σ = 0: the bordered inverse follows from A.
        shift = float(gram.diagonal().mean()) or 1.0
        lower, _ = dpotrf(gram + shift, lower=1)
        half, _ = dpotri(lower, lower=1)
        inverse = np.tril(half) + np.tril(half, -1).T
        sums = inverse.sum(axis=0)
        total = float(sums.sum())
        inverse -= np.outer(sums, sums / total)
        return cls(free=len(gram), values=inverse, bias=sums / total, constant=shift - 1.0 / total)

    def widened(self, products: Array) -> "Tableau":
        """Add examples at a bound, given their x·x′ with those before them and with themselves."""
        k, n = self.free, len(self.values)
        across = products[:, :k]
        reply = across @ self.values[:k, :k]
        reply += self.bias[:k]
        bias = -(across @ self.bias[:k]) - self.constant
        values = np.empty((products.shape[1],) * 2)
        values[:n, :n] = self.values
        values[:k, n:], values[n:, :k] = reply.T, -reply
        values[k:n, n:] = (products[:, k:n] + across @ self.values[k:n, :k].T + self.bias[k:n]).T
        values[n:, k:n] = values[k:n, n:].T
        values[n:, n:] = products[:, n:] - across @ reply.T + bias
        return Tableau(
            free=k, values=values, bias=np.concatenate([self.bias, bias]), constant=self.constant
        )


def independent(gram: Array, z: Array, low: Array, high: Array) -> tuple[NDArray[np.bool_], Array]:
    """Move dependent free examples to a bound without any change of a decision; return free and z.

    Where xⱼ is an affine combination of other free examples, zⱼ can be exchanged for theirs.
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    scale = float(gram.diagonal().max()) or 1.0
    factor, pivots, rank, _ = dpstrf(gram + scale, tol=DEPENDENT * scale, lower=1)
    free, z = np.ones(len(z), np.bool_), z.copy()
    base, others = pivots[:rank] - 1, pivots[rank:] - 1
    # Each other example, as a combination of the base.
    parts = solve_triangular(factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans=1)
    for column, other in enumerate(others):
        members, direction = np.append(base, other), np.append(-parts[:, column], 1.0)
        direction[np.abs(direction) < DEPENDENT] = 0.0
        length, last = _first_bound(z[members], direction, low[members], high[members])
        z[members] += length * direction
        z[members[last]] = (high if length * direction[last] > 0.0 else low)[members[last]]
        free[members[last]] = False
        if last < rank:  # the other takes its place in the base
            base[last] = other
            row = parts[last] / parts[last, column]
            parts -= np.outer(parts[:, column], row)
            parts[last] = row
    return free, z


def _first_bound(z: Array, direction: Array, low: Array, high: Array) -> tuple[float, int]:
    """Return the shortest step along the line, in either direction, to a bound, and whose it is."""
    speed = np.where(direction == 0.0, np.nan, np.abs(direction))
    up = direction > 0.0
    forwards = np.where(up, high - z, z - low) / speed
    backwards = np.where(up, z - low, high - z) / speed
    first, second = int(np.nanargmin(forwards)), int(np.nanargmin(backwards))
    if forwards[first] < backwards[second]:
        return float(forwards[first]), first
    return -float(backwards[second]), second
