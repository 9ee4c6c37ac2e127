"""Training examples in the form their solver takes, made once for all classes and all costs.

A problem knows the examples and no labels.  Four forms, one face: sparse rows, dense features,
Gram matrix, kernel.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import ResourceError
from truerisk.svm.dense.features import solve_features
from truerisk.svm.example_forms import has_one_scale, linear_gram, sum_of_squares
from truerisk.svm.gram.blocks import solve_blocks
from truerisk.svm.gram.cost_path import cost_path
from truerisk.svm.gram.dual import solve_with_path
from truerisk.svm.gram.leave_out import Tableau, leave_out_of
from truerisk.svm.gram.path import Path
from truerisk.svm.kernels import Kernel, dense
from truerisk.svm.radius import squared_radius
from truerisk.svm.rows.along import can_be_single, solve_side_by_side
from truerisk.svm.rows.dual import solve_rows
from truerisk.svm.rows.leave_out import margins_without
from truerisk.svm.rows.loose import approach_rows
from truerisk.svm.rows.matrix import Rows, as_rows, check_intact, table_rows
from truerisk.svm.solution import LOOSE, LinearSolution, Solution

FEW_FEATURES = 200  # up to here an interior point beats coordinate descent on dense data
NEAR_MARGIN = 0.5  # how far beyond the margin of a start an example may still matter
NEARER = 0.25  # the same where the features are few beside the examples, on both sides of it
DRIFT = 2.5  # times √(features / examples): how far a decision may move
MAX_DRIFT = 0.4  # above which no example is taken to stay at its bound
FAR_DRIFT = 1.5  # times the drift: how far an example may come back from beyond the margin
WORTH = 0.55  # of those near otherwise: more must not be near where some stay at their bounds
MOVED = 4.5  # times what margins move by on the root of the mean square: how far one may move
NEAREST = 0.05  # of the band, at least: one example left out may move a few others far
WINDOW = 0.25  # on both sides of the margin: where the density of the examples is measured
MAX_NEAR = 0.5  # share of the examples near the margin above which all are taken
ROUNDS = 5  # in which others may come near
FEW_OBJECT = 0.2  # times those near: if fewer others object, the solution is nearly found
WIDER = 3.0  # times as wide a band where a mean of those beyond it is not at its bound
NARROWER = 0.5  # times as wide a band around a solution that is nearly found
SAMPLED = 10_000  # examples from which on a sample of them is solved first
SAMPLE, MAX_SAMPLE = 1 / 8, 1 / 4  # share of the examples in it
PER_FEATURE = 100  # examples of it, at least
SEEN = 30.0  # times its share in the squares of a feature: the least chance of an example
BLOCK = 512  # examples that are looked at together
TINY = np.finfo(np.float64).tiny
SEED = 1  # of the sample: always the same, so that a fit can be repeated
MIN_COSTS = 6  # from here on side by side takes less time than one after the other
LONG = 100  # entries of a row, on average
TABLE_PENALTY = 0.1  # ρ of sweeps over a table, in units of the mean |x|²
TABLE_VISITS = 8  # of each example, after which an interior point is faster
MANY_EXAMPLES = 3000  # from here on a Gram matrix costs more than one SVM needs of it
GRAM_COPIES = 3  # Gram matrices that fit the memory where one is to be worked on


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How far a solver goes: to a gap of `tolerance`, or so many `passes`, its own cap if None."""

    tolerance: float = 1e-6
    passes: int | None = None

    @property
    def is_loose(self) -> bool:
        """Whether the tolerance is a part of the objective."""
        return self.tolerance >= LOOSE

    @property
    def cap(self) -> dict[str, int]:
        """The passes as the solvers take them."""
        return {} if self.passes is None else {"max_passes": self.passes}

    @property
    def options(self) -> dict[str, Any]:
        """The effort as the solvers take it."""
        return {"tolerance": self.tolerance, **self.cap}


class Problem(Protocol):
    """Examples that can be trained on, and left out one by one."""

    def solve(
        self, y: Array, upper: Array, effort: Effort, start: Solution | None = None
    ) -> Solution:
        """Find the optimum for these labels (−1, 1) and these bounds of α."""

    def solve_along(
        self, y: Array, weights: Array, costs: Sequence[float], effort: Effort
    ) -> list[Solution]:
        """Find the optimum for each cost C, in rising order, the bounds being C · weight."""
        solutions: list[Solution] = []
        for cost in costs:
            solutions.append(
                self.solve(y, cost * weights, effort, solutions[-1] if solutions else None)
            )
        return solutions

    def margins_without(
        self, solution: Solution, which: NDArray[np.intp], *, workers: int = 1
    ) -> Array:
        """Return y·f of each example in `which`, f trained without it; the sign is exact."""

    @property
    def radius(self) -> tuple[float, str]:
        """R² and the rule it was found by."""

    @property
    def for_many(self) -> "Problem":
        """The form for many SVMs on the same examples."""
        return self


@dataclass(frozen=True)
class SparseProblem(Problem):
    """Sparse rows, a linear kernel: coordinate descent and Newton steps, no Gram matrix."""

    X: Any
    rows: Rows

    @property
    def squares(self) -> Array:
        """What adds up to the squares of all entries: the rows know it."""
        return self.rows.squared_norms

    def solve(
        self, y: Array, upper: Array, effort: Effort, start: Solution | None = None
    ) -> LinearSolution:
        """Find the optimum for these labels (−1, 1) and these bounds of α."""
        before = start if isinstance(start, LinearSolution) else None
        if effort.is_loose:
            part = effort.tolerance
            before = approach_rows(self.rows, y, upper, part=part, **effort.cap, start=before)
            if before.is_within(part) or effort.passes is not None:
                return before
        return solve_rows(self.rows, y, upper, **effort.options, start=before)

    def solve_along(
        self, y: Array, weights: Array, costs: Sequence[float], effort: Effort
    ) -> list[Solution]:
        """Find the optimum for each cost C, in rising order, the bounds being C · weight."""
        is_exact = not effort.is_loose and effort.passes is None
        if len(costs) < MIN_COSTS or not is_exact or not can_be_single(self.rows):
            return super().solve_along(y, weights, costs, effort)
        return [*solve_side_by_side(self.rows, y, weights, costs, tolerance=effort.tolerance)]

    def margins_without(
        self, solution: Solution, which: NDArray[np.intp], *, workers: int = 1
    ) -> Array:
        """Return y·f of each example in `which`, f trained without it; the sign is exact."""
        if self.has_long_rows:
            return self.whole.margins_without(solution, which, workers=workers)
        return margins_without(self.rows, _linear(solution), which, workers=workers)

    @cached_property
    def has_long_rows(self) -> bool:
        """Whether a Gram matrix costs less than the rows, where much is done with them."""
        n, is_sparse = len(self.rows), hasattr(self.X, "tocsr")
        is_long = is_sparse and n <= MANY_EXAMPLES and len(self.rows.data) >= LONG * n
        return is_long and _fits(n) and has_one_scale(self.X)

    @cached_property
    def whole(self) -> "GramProblem":
        """The same problem on its Gram matrix."""
        return GramProblem(linear_gram(self.X))

    @property
    def radius(self) -> tuple[float, str]:
        """R² and the rule it was found by."""
        return squared_radius(Kernel("linear"), self.X, self.rows.squared_norms)


@dataclass(frozen=True)
class DenseProblem(Problem):
    """Few dense features, a linear kernel: an interior point, then an exact finish."""

    X: Array

    @property
    def squares(self) -> float:
        """The sum of the squares of all entries."""
        return sum_of_squares(self.X)

    def solve(
        self, y: Array, upper: Array, effort: Effort, start: Solution | None = None
    ) -> LinearSolution:
        """Find the optimum for these labels (−1, 1) and these bounds of α."""
        if effort.is_loose and effort.passes is None:
            loose = self._approach(y, upper, effort.tolerance, start)
            if loose.is_within(effort.tolerance):
                return loose
        solution = None
        if effort.passes is None:
            first = start if isinstance(start, LinearSolution) else self._sampled(y, upper, effort)
            solution = None if first is None else self._near(y, upper, effort, first)
        if solution is None:
            solution = solve_features(self.X, y, upper, **effort.options)
        asked_to_stop = effort.passes is not None
        if solution.gap <= effort.tolerance or asked_to_stop or not _fits(len(self.X)):
            return solution
        # On a lattice, with a large C, the exact finish may miss the optimum by rounding.
        return min(solution, self._by_gram(y, upper, effort), key=lambda one: one.gap)

    def _approach(
        self, y: Array, upper: Array, part: float, start: Solution | None
    ) -> LinearSolution:
        """Sweep for as long as an interior point would take less time than more sweeps."""
        return approach_rows(
            table_rows(self.X),
            y,
            upper,
            part=part,
            start=start if isinstance(start, LinearSolution) else None,
            penalty=TABLE_PENALTY,
            max_visits=TABLE_VISITS * len(y),
        )

    def _sampled(self, y: Array, upper: Array, effort: Effort) -> LinearSolution | None:
        """Solve for a sample of many examples, so that few of the others are left to solve for.

        An example with a chance p of being drawn counts for 1/p of them.  None where the sample
        would be no small part of all.
        """
        used = np.flatnonzero(upper > 0.0)
        n, d = len(used), self.X.shape[1]
        least = max(SAMPLE, PER_FEATURE * d / max(n, 1))
        if n < SAMPLED or least > MAX_SAMPLE:
            return None
        table = self.X if n == len(y) else self.X[used]
        chances = np.minimum(SEEN * _largest_shares(table, y[used], above=least / SEEN), 1.0)
        np.maximum(chances, least, out=chances)
        drawn = np.random.default_rng(SEED).random(n) < chances
        if np.count_nonzero(drawn) > MAX_SAMPLE * n:
            return None
        some = used[drawn]
        part = solve_features(self.X[some], y[some], upper[some] / chances[drawn], **effort.options)
        alpha, bounds = np.zeros((2, len(y)))
        alpha[some], bounds[some] = part.alpha, part.upper
        decision = self.X @ part.weights + part.bias
        return replace(part, y=y, upper=bounds, alpha=alpha, decision=decision)

    def _near(
        self, y: Array, upper: Array, effort: Effort, start: LinearSolution
    ) -> LinearSolution | None:
        """Solve for the examples near the margin of a start, and see whether the others object.

        A start spares an interior point no more than some steps; but an example beyond the margin
        leaves no trace in a solution, and those of a class on its wrong side, whose α are at their
        bounds, have losses that are linear in w and b: together that of their mean, with the sum of
        their bounds.  Those that object are near for the next solution.  None where that saves
        little, or leaves the bias open.
        """
        used, beyond = upper > 0.0, y * start.decision - 1.0
        above, below = self._band(upper, beyond, start)
        objected = np.zeros(len(y), dtype=bool)
        for _ in range(ROUNDS):
            near = (used & (beyond < above) & (beyond > -below)) | objected
            if np.count_nonzero(near) > MAX_NEAR * np.count_nonzero(used):
                return None
            held = used & ~near & (beyond < 0.0)
            pools = [held & (y == sign) for sign in (-1.0, 1.0)] if np.isfinite(below) else []
            pools = [pool for pool in pools if pool.any()]
            part, alpha = self._pooled(y, upper, effort, near, pools, start)
            start = part
            if alpha is None:
                above, below = WIDER * above, WIDER * below
            else:
                decision = self.X @ part.weights + part.bias
                decision[near] = part.decision[: np.count_nonzero(near)]
                beyond = y * decision - 1.0
                objecting = used & ~near & ((beyond < 0.0) != held)
                if not objecting.any():
                    solution = replace(part, y=y, upper=upper, alpha=alpha, decision=decision)
                    return solution if solution.stable or not pools else None
                objected |= objecting
                if np.count_nonzero(objecting) < FEW_OBJECT * np.count_nonzero(near):
                    above, below = NARROWER * above, NARROWER * below
        return None

    def _band(self, upper: Array, beyond: Array, start: LinearSolution) -> tuple[float, float]:
        """Tell how far above and below the margin of a start an example is near; inf: anyhow."""
        used = upper > 0.0
        drift = DRIFT * math.sqrt(self.X.shape[1] / np.count_nonzero(start.upper))
        if drift > MAX_DRIFT:
            return max(NEAR_MARGIN, FAR_DRIFT * drift), np.inf
        spread = min(float(start.decision[used].std()), 1.0)  # a small one moves less
        farthest = max(MOVED * self._moved(upper, beyond, start), NEAREST)
        above = min(spread * min(max(2.0 * drift, NEARER), NEAR_MARGIN), farthest)
        below = min(spread * max(drift, NEARER), farthest)
        near = np.count_nonzero(used & (beyond > -below) & (beyond < above))
        if near > WORTH * np.count_nonzero(used & (beyond < NEAR_MARGIN)):
            return NEAR_MARGIN, np.inf
        # With more free examples than equations, one α of many is next to the centre of all.
        is_unique = 0 < np.count_nonzero(start.free) <= self.X.shape[1] + 1
        return (above, below) if is_unique else (NEAR_MARGIN, np.inf)

    def _moved(self, upper: Array, beyond: Array, start: LinearSolution) -> float:
        """Estimate the root mean square by which other bounds move the margins, to first order.

        The gradient that they leave comes from the examples on the wrong side, whose α are at their
        bounds; the curvature that answers it is the density of the examples at the margin.
        """
        used = upper > 0.0
        change = (upper / upper.sum() - start.upper / start.upper.sum())[beyond < 0.0]
        at_margin = np.count_nonzero(used & (np.abs(beyond) < WINDOW))
        density = max(int(at_margin), 1) / (2.0 * WINDOW * int(np.count_nonzero(used)))
        return math.sqrt(self.X.shape[1] * float(change @ change)) / density

    def _pooled(  # noqa: PLR0917 (the problem, then how it is solved)
        self,
        y: Array,
        upper: Array,
        effort: Effort,
        near: Flags,
        pools: list[Flags],
        start: LinearSolution,
    ) -> tuple[LinearSolution, Array | None]:
        """Solve for the examples near and the means of the pools; return that and all α.

        None for the α if that of a mean is not at its bound: then too few examples were near.
        """
        X, signs, most = self.X[near], y[near], upper[near]
        n, alpha = len(signs), np.zeros(len(y))
        if pools:
            bounds = np.array([upper[pool].sum() for pool in pools])
            totals = [upper[pool] @ self.X[pool] for pool in pools]
            X = np.vstack([X, np.array(totals) / bounds[:, None]])
            signs = np.append(signs, [y[pool][0] for pool in pools])
            most = np.append(most, bounds)
        part = solve_features(X, signs, most, **effort.options, start=start)
        alpha[near] = part.alpha[:n]
        for pool in pools:
            alpha[pool] = upper[pool]
        return part, alpha if np.all(part.alpha[n:] >= most[n:]) else None

    def _by_gram(self, y: Array, upper: Array, effort: Effort) -> LinearSolution:
        solution = GramProblem(linear_gram(self.X)).solve(y, upper, effort)
        centre = self.X.mean(axis=0)
        weights = (solution.alpha * y) @ (self.X - centre)
        bias = solution.bias - float(weights @ centre)
        facts = {name: getattr(solution, name) for name in solution.__dataclass_fields__}
        return LinearSolution(**{**facts, "bias": bias, "weights": weights})

    def margins_without(
        self, solution: Solution, which: NDArray[np.intp], *, workers: int = 1
    ) -> Array:
        """Return y·f of each example in `which`, f trained without it; the sign is exact."""
        if _fits(len(self.X)):
            gram = GramProblem(linear_gram(self.X))
            return gram.margins_without(solution, which, workers=workers)
        return margins_without(as_rows(self.X), _linear(solution), which, workers=workers)

    @property
    def radius(self) -> tuple[float, str]:
        """R² and the rule it was found by."""
        return squared_radius(Kernel("linear"), self.X)


def _largest_shares(X: Array, y: Array, *, above: float) -> Array:
    """Return, of each example, the largest share in the squares of a column, of X or y, if above.

    A column that few examples have something in hangs on them.
    """
    of_y: Array = np.square(y - y.mean())
    shares: Array = of_y / max(of_y.sum(), TINY)
    centre = X.mean(axis=0)
    squares, farthest = np.zeros((2, X.shape[1]))
    for at in range(0, len(X), BLOCK):
        away = X[at : at + BLOCK] - centre
        squares += np.einsum("ij,ij->j", away, away)
        np.maximum(farthest, np.abs(away).max(axis=0), out=farthest)
    for column in np.flatnonzero(farthest**2 > above * squares):
        np.maximum(shares, (X[:, column] - centre[column]) ** 2 / squares[column], out=shares)
    return shares


@dataclass(frozen=True)
class GramProblem(Problem):
    """Any kernel, by the matrix of its values."""

    gram: Array

    def solve(
        self, y: Array, upper: Array, effort: Effort, start: Solution | None = None
    ) -> Solution:
        """Find the optimum for these labels (−1, 1) and these bounds of α."""
        solution, path = solve_with_path(self.gram, y, upper, **effort.options, start=start)
        self._paths[:] = [(solution, path)]
        return solution

    def solve_along(
        self, y: Array, weights: Array, costs: Sequence[float], effort: Effort
    ) -> list[Solution]:
        """Follow the exact path of solutions as C rises, the bounds being C · weight."""
        return cost_path(self.gram, y, weights, costs, tolerance=effort.tolerance)

    def margins_without(
        self, solution: Solution, which: NDArray[np.intp], *, workers: int = 1
    ) -> Array:
        """Return y·f of each example in `which`, f trained without it; the sign is exact."""
        radius = self.radius[0] if solution.is_prunable else np.inf
        path = next((path for one, path in self._paths if one is solution), None)
        self._paths.clear()
        left = leave_out_of(
            self.gram, solution, which, squared_radius=radius, workers=workers, path=path
        )
        self._tableaus[:] = [(solution, left.tableau)]
        return left.margins

    def tableau_of(self, solution: Solution) -> Tableau | None:
        """Return the tableau that examples were left out of this solution on, if they were."""
        return next((tableau for one, tableau in self._tableaus if one is solution), None)

    @cached_property
    def _paths(self) -> list[tuple[Solution, Path | None]]:
        """The last solution that was found, and the path that led straight there, if one did."""
        return []

    @cached_property
    def _tableaus(self) -> list[tuple[Solution, Tableau | None]]:
        """The last solution that examples were left out of."""
        return []

    @cached_property
    def radius(self) -> tuple[float, str]:
        """R² and the rule it was found by."""
        return squared_radius(Kernel("precomputed"), self.gram)


@dataclass(frozen=True)
class KernelProblem(Problem):
    """Any kernel on many examples: values are computed where they are needed, and not kept."""

    kernel: Kernel
    X: Any

    def solve(
        self, y: Array, upper: Array, effort: Effort, start: Solution | None = None
    ) -> Solution:
        """Find the optimum for these labels (−1, 1) and these bounds of α."""
        diagonal = self.kernel.diagonal(self.X)
        return solve_blocks(self._values, diagonal, y, upper, **effort.options, start=start)

    def margins_without(
        self, solution: Solution, which: NDArray[np.intp], *, workers: int = 1
    ) -> Array:
        """Return y·f of each example in `which`, f trained without it; the sign is exact."""
        return self.whole.margins_without(solution, which, workers=workers)

    @cached_property
    def whole(self) -> GramProblem:
        """The same problem on its Gram matrix, for where much is done with it."""
        return gram_problem(self.kernel, self.X)

    @property
    def for_many(self) -> "GramProblem | KernelProblem":
        """The form for many SVMs on the same examples: the whole Gram matrix, if it fits."""
        return self.whole if _fits(self.X.shape[0]) else self

    @cached_property
    def _values(self) -> Callable[[Indices, Indices | slice], Array]:
        return self.kernel.of_examples(self.X)

    @property
    def radius(self) -> tuple[float, str]:
        """R² and the rule it was found by."""
        return squared_radius(self.kernel, self.X)


def linear_problem(X: Any) -> SparseProblem | DenseProblem:
    """Choose the form for a linear kernel: dense where the features are few."""
    if X.shape[1] <= FEW_FEATURES:
        check_intact(X)
        return DenseProblem(np.ascontiguousarray(dense(X), dtype=float))
    return SparseProblem(X, as_rows(X))


def kernel_problem(kernel: Kernel, X: Any) -> GramProblem | KernelProblem:
    """Choose the form for a kernel: the Gram matrix of few examples, or of an unknown function."""
    is_known = isinstance(kernel.rule, str) and kernel.rule != "precomputed"
    if is_known and X.shape[0] > MANY_EXAMPLES:
        return KernelProblem(kernel, X)
    return gram_problem(kernel, X)


def gram_problem(kernel: Kernel, X: Any) -> GramProblem:
    """Compute the Gram matrix, if it fits the memory."""
    if kernel.rule == "precomputed":
        return GramProblem(_in_one_piece(X))
    n = X.shape[0]
    if not _fits(n):
        needed, there = GRAM_COPIES * 8 * n * n, _free_memory() or 0
        raise ResourceError(
            f"The Gram matrix of {n} examples and the work on it take {needed / 2**30:.1f} "
            f"GiB; {there / 2**30:.1f} GiB are free. "
            "Use LinearSVM, which needs none, or fewer examples."
        )
    return GramProblem(_in_one_piece(kernel.among(X)))


def _in_one_piece(gram: Any) -> Array:
    """Return a matrix as the compiled loops take it; one that is read-only is copied."""
    return np.require(gram, np.float64, ["C_CONTIGUOUS", "WRITEABLE"])


def _linear(solution: Solution) -> LinearSolution:
    """Take a solution for what a linear problem made it."""
    if not isinstance(solution, LinearSolution):
        raise TypeError("the solution is not of a linear problem")
    return solution


def _fits(n: int) -> bool:
    """Tell whether the Gram matrix of n examples and the work on it fit the free memory."""
    there = _free_memory()
    return there is None or GRAM_COPIES * 8 * n * n <= there


def _free_memory() -> int | None:
    """Return the bytes of memory that are free, where the system tells."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system
        return None
