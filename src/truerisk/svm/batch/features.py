"""A thousand SVMs on the same few features, which differ in the bounds of α only.

Problem   min  ½ w·w + Σᵢ Uᵢξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ  and  ξᵢ ≥ 0,  for each row U
Given     one table of features, and as many rows of bounds as SVMs
Returns   the decision value of every example under every SVM
Method    Interior points side by side (`truerisk.kernels.interior`), from the SVM of the mean
          bounds, in single precision, until it is roughly known who is at which bound; then the
          path to the exact optimum (`truerisk.kernels.gram`).  Who is on one side of the margin for
          sure, by the margins of the first SVMs, takes no part until an SVM shows otherwise.
          What ends elsewhere, or has features of many scales, takes interior points in double
          precision. The objective is strongly convex in w: with a gap g no w is farther than √(2g)
          from the optimal one, and an example on the margin carries that over to b. An SVM under
          which some example is nearer to the boundary than that goes on alone to the exact optimum
          (`dense.features`), as does one with no example on the margin: its b is not unique.
Memory    n·m²/2 numbers for the products of m = features + 1, some 1,000 an example and a worker
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.execution.threads import one_blas_thread
from truerisk.kernels import batch as batch_kernel
from truerisk.kernels import gram as gram_kernel
from truerisk.kernels import in_threads
from truerisk.kernels import interior as kernel
from truerisk.svm.batch.gram import Bounds, balanced, core_of
from truerisk.svm.dense.features import scale_columns, solve_features
from truerisk.svm.example_forms import has_one_scale
from truerisk.svm.gram.path import ARRIVED, Path, empty_path, limits_at, spread

LANES = 64  # problems side by side, as in the kernel
TILE, LANE = 11 * LANES, 7 * LANES  # numbers per example, and numbers of a lane
PIECE = 512  # SVMs a worker takes at a time: fixed, so that results do not depend on workers
FEW = 4  # SVMs that one after the other take less time than the lanes
LARGEST = 2**23  # products of features: 64 MB
WORTH_PILOTS = 4 * LANES  # SVMs
ROUNDS = 2  # in which more examples may take part
MAX_STEPS = 40  # three times the usual; corrections can lead round in circles
CENTRE = 0.3  # µ at the start, for each unit of the mean bound
FEASIBLE = 1e-9  # of the violation at the start
ROUGH, ROUGHLY_FEASIBLE = 1e-4, 1e-3  # gap for each unit of Σα, and violation, where paths begin
ROUNDING = 1e-9  # of a decision value
GRAM_EXAMPLES = 4000  # up to here the matrix of all products fits beside the work on it
EXACT = 1e-9  # a gap, in units of the margin, that is rounding
MORE_FREE = 40  # examples for which a path has room, beyond the features
EVENTS_PER_EXAMPLE = 5
PATHS = 3  # of which each mends what rounding did to the one before


class Problems(NamedTuple):
    """What all problems share, and where their answers go, one row or entry per problem."""

    rows: NDArray[Any]
    columns: NDArray[Any]
    products: NDArray[Any]
    metric: NDArray[Any]
    start: NDArray[Any]  # u₀
    bounds: NDArray[Any]
    pulls: NDArray[Any]  # Rᵀα of those at their bounds who have no row
    solutions: NDArray[Any]
    shares: NDArray[Any]  # of the bounds; of no problem, where only the solutions are needed
    gaps: NDArray[Any]
    slips: NDArray[Any]

    @classmethod
    def of(
        cls,
        rows: Array,
        metric: Array,
        start: Array,
        bounds: Array,
        pulls: Array,
        *,
        is_rough: bool = False,
    ) -> Self:
        """Make room for the answers; rough ones are in single precision and come with shares."""
        kind = np.float32 if is_rough else np.float64
        (count, n), m = bounds.shape, len(metric)
        given = (rows, rows.T, packed_products(rows), metric, start, bounds, pulls)
        shapes = ((count, m), (count if is_rough else 0, n), count, count)
        return cls(
            *(np.ascontiguousarray(array, kind) for array in given),
            *(np.empty(shape, kind) for shape in shapes),
        )

    def solve(self, tolerance: float, feasible: float) -> int:
        """Write the answers; return the number of steps that the lanes took together."""
        n, m = self.rows.shape
        work = workspace(n, m, self.rows.dtype)
        steps: int = kernel.follow_paths(*self, *work, CENTRE, tolerance, feasible, MAX_STEPS)
        return steps


class Work(NamedTuple):
    """The memory of the lanes."""

    tile: NDArray[Any]
    lanes: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]
    weights: NDArray[Any]
    right: NDArray[Any]
    packed: NDArray[Any]
    u: NDArray[Any]
    du: NDArray[Any]
    more: NDArray[Any]


def workspace(n: int, m: int, kind: Any = np.float64) -> Work:
    """Allocate the lanes for n examples and m = features + 1, with nobody in them."""
    tall, wide = (n, LANES), (m, LANES)
    return Work(
        tile=np.ones((n, TILE), kind),
        lanes=np.ones(LANE, kind),
        first=np.zeros(tall, kind),
        second=np.zeros(tall, kind),
        weights=np.ones(tall, kind),
        right=np.ones(tall, kind),
        packed=np.ones((m * (m + 1) // 2, LANES), kind),
        u=np.zeros(wide, kind),
        du=np.zeros(wide, kind),
        more=np.zeros(wide, kind),
    )


@dataclass(frozen=True)
class Table:
    """All examples, centred and scaled by those trained on as `low_rank` does, and a column of 1.

    `reach` is at least the distance of each example to any that is trained on, in the units given.
    """

    examples: Array
    centre: Array
    scale: Array
    varies: NDArray[np.bool_]
    reach: Array

    @property
    def centred(self) -> Array:
        """The features that vary, in the units given."""
        return self.examples[:, :-1] * self.scale

    def gram(self, which: NDArray[np.intp]) -> Array:
        """Return the products of some examples with each other."""
        some = self.centred[which]
        return np.asarray(some @ some.T)

    @classmethod
    def of(cls, features: Array, train: NDArray[np.intp]) -> Self:
        """Measure the examples that are trained on, and bring all into their units."""
        table = np.empty(features.shape)
        units = scale_columns(features, table, train)
        varies = np.isfinite(units.scale)
        scale, table = units.scale[varies], table[:, varies]
        far = np.linalg.norm(table * scale, axis=1)
        return cls(
            examples=np.column_stack([table, np.ones(len(table))]),
            centre=units.centre,
            scale=scale,
            varies=varies,
            reach=far + far[train].max(),
        )


def batch_decisions(
    features: Array,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    *,
    tolerance: float = 1e-12,
    workers: int = 1,
) -> Array:
    """Return the decision value of every example under many SVMs with bounds of their own.

    A value over 1e-6 has the sign of the exact optimum, whatever the `tolerance` of the interior
    point (per unit of Σα).  A bias that is not unique is the middle of its interval.  Bounds that
    leave one class give that class, bounds that leave none give 0.
    Source: S. Mehrotra, SIAM Journal on Optimization 2(4), 575-601, 1992.
    """
    features, y = np.asarray(features, dtype=np.float64), np.asarray(y, dtype=np.float64)
    bounds = np.ascontiguousarray(bounds, dtype=np.float64)
    # No bound is below 0: a sum says whether a side has any above.
    sides = np.column_stack([y[train] > 0.0, y[train] < 0.0]).astype(np.float64)
    positive, negative = (bounds @ sides).T > 0.0
    both = positive & negative
    if len(both) and both.all():
        return _solved(features, y, train, bounds, tolerance, workers)
    only = np.subtract(positive, negative, dtype=np.float64)
    decisions = np.repeat(only[:, None], len(y), axis=1)
    if both.any():
        decisions[both] = _solved(features, y, train, bounds[both], tolerance, workers)
    return decisions


def _solved(  # noqa: PLR0917 (the problem, then how it is solved)
    features: Array,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    tolerance: float,
    workers: int,
) -> Array:
    """Return the decision values under bounds that leave both classes, each of them."""
    # More than one BLAS thread would add up in another order.
    with one_blas_thread():
        batch = _Batch.of(features, y, train, bounds)
        pilots = LANES if batch.is_large else 0
        tried = batch.decisions(slice(0, pilots), tolerance)
        batch = batch.with_core(*core_of(y[train] * tried[:, train])) if pilots else batch
        pieces = [slice(k, k + PIECE) for k in range(pilots, len(bounds), PIECE)]
        threads = min(workers, len(pieces))
        solved = in_threads(lambda k: batch.decisions(k, tolerance), pieces, threads=threads)
        return np.concatenate([tried, *solved])


@dataclass(frozen=True)
class _Batch:
    """SVMs with two classes; `start` is empty where lanes are of no use.

    The core are those trained on who are solved for at first.  Of the others the `held` are at
    their bounds and the rest at 0: neither leaves the optimum anything to choose.
    """

    features: Array
    y: Array
    train: NDArray[np.intp]
    bounds: Array
    table: Table
    start: Array
    core: Flags
    held: Flags
    gram: Array  # of the core; empty where its products would lose digits, or fill the memory

    @classmethod
    def of(cls, features: Array, y: Array, train: NDArray[np.intp], bounds: Array) -> Self:
        table = Table.of(features, train)
        n, m = len(train), table.examples.shape[1]
        everyone, start, gram = np.ones(n, bool), np.empty(0), np.empty((0, 0))
        if len(bounds) > FEW and n * m * (m + 1) // 2 <= LARGEST:
            mean = solve_features(features[train], y[train], bounds.mean(axis=0))
            bias = mean.bias + mean.weights @ table.centre
            start = np.append(mean.weights[table.varies] * table.scale, bias)
            if n <= GRAM_EXAMPLES and has_one_scale(features):
                gram = table.gram(train)
        return cls(features, y, train, bounds, table, start, everyone, ~everyone, gram)

    @property
    def is_large(self) -> bool:
        """Whether some SVMs may be solved first to see who is on one side of the margin."""
        return len(self.start) > 0 and len(self.bounds) >= WORTH_PILOTS

    def with_core(self, core: Flags, held: Flags) -> Self:
        """Solve for these at first."""
        if np.array_equal(core, self.core):
            return self
        gram = self.table.gram(self.train[core]) if len(self.gram) else self.gram
        return replace(self, core=core, held=held, gram=gram)

    def decisions(self, piece: slice, tolerance: float, rounds: int = ROUNDS) -> Array:
        """Solve the SVMs of a piece, in lanes where that is of use, and exactly where not.

        An SVM that has somebody outside of the core on another side is solved once more with
        whoever had; after so many rounds, with all.
        """
        bounds = self.bounds[piece]
        values = np.empty((len(bounds), len(self.y)))
        if not len(self.start):
            self.finish(values, bounds, range(len(bounds)))
            return values
        solved = np.zeros(len(bounds), bool)
        if len(self.gram):
            values, solved = self.by_paths(bounds)
        left = np.flatnonzero(~solved)
        if len(left) > FEW:
            values[left], gaps, slips = self.in_lanes(bounds[left], tolerance)
            left = left[unsure(values[left], gaps, slips, self.table.reach)]
        outside = np.flatnonzero(~self.core)
        # Those held object to margins over 1, the others to margins below.
        side = np.where(self.held[outside], -1.0, 1.0)
        objects = values[:, self.train[outside]] * (side * self.y[self.train[outside]]) < side
        objects &= bounds[:, outside] > 0.0
        again = np.asarray(objects.any(axis=1))
        self.finish(values, bounds, left[~again[left]])
        if again.any():
            core = self.core | (rounds == 0)
            core[outside[objects.any(axis=0)]] = True
            batch = replace(self.with_core(core, self.held & ~core), bounds=bounds[again])
            values[again] = batch.decisions(slice(None), tolerance, rounds - 1)
        return values

    def problems(self, bounds: Array, *, is_rough: bool = False) -> Problems:
        """Return the problems of the core."""
        table = self.table
        rows = self.y[self.train, None] * table.examples[self.train]
        metric = np.append(table.scale**-2.0, 0.0)
        pulls = np.compress(self.held, bounds, axis=1) @ rows[self.held]
        own = (rows[self.core], metric, self.start, np.compress(self.core, bounds, axis=1), pulls)
        return Problems.of(*own, is_rough=is_rough)

    def in_lanes(self, bounds: Array, tolerance: float) -> tuple[Array, Array, Array]:
        """Return the decision values of the SVMs of the core, their gaps and their slips."""
        problems = self.problems(bounds)
        problems.solve(tolerance, FEASIBLE)
        return problems.solutions @ self.table.examples.T, problems.gaps, problems.slips

    def by_paths(self, bounds: Array) -> tuple[Array, Flags]:
        """Return the decision values of the SVMs of the core, and whether they are exact."""
        core, held = self.train[self.core], self.train[self.held]
        features, y = self.table.centred, self.y[core]
        problems = self.problems(bounds, is_rough=True)
        problems.solve(ROUGH, ROUGHLY_FEASIBLE)
        fixed = self.y[held] * np.compress(self.held, bounds, axis=1)
        pull, own = fixed @ features[held], np.compress(self.core, bounds, axis=1)
        limits = replace(Bounds.of(y, own), totals=-fixed.sum(axis=1, keepdims=True), pulls=pull)
        z = y * own * problems.shares
        path = empty_path(self.gram, min(len(core), features.shape[1] + MORE_FREE))
        values, solved = np.empty((len(bounds), len(features))), np.zeros(len(bounds), bool)
        left = np.arange(len(bounds))
        for _ in range(PATHS):
            ends = balanced(z, limits.lower, limits.upper, limits.totals)
            gradient = y - (ends @ features[core] + limits.pulls) @ features[core].T
            bias, _ = measured(limits, ends, gradient)
            arrived = self.follow(path, limits, ends, gradient, bias)
            values[left] = (ends @ features[core] + limits.pulls) @ features.T
            bias, gap = measured(limits, ends, y - values[left][:, core])
            values[left] += bias[:, None]
            good = arrived & (gap <= EXACT) & limits.has_inside(ends) & ~limits.misses(ends)
            solved[left[good]] = True
            left, z, limits = left[~good], ends[~good], limits.of_some(np.flatnonzero(~good))
            if not len(left):
                break
        return values, solved

    def follow(self, path: Path, limits: Bounds, z: Array, gradient: Array, bias: Array) -> Flags:
        """Follow paths from rough z to exact ones, in place; return which have arrived."""
        verdicts, scale = np.empty(len(z), np.int64), spread(self.gram)
        unit = limits_at(scale, 1.0, EVENTS_PER_EXAMPLE * z.shape[1])
        gram_kernel.finish_all(
            path, limits.lower, limits.upper, z, gradient, bias, unit, scale, verdicts
        )
        return np.asarray(verdicts == ARRIVED)

    def finish(self, values: Array, bounds: Array, which: Iterable[int]) -> None:
        """Solve these SVMs to the exact optimum, in place."""
        for r in which:
            upper = np.zeros(len(self.y))
            upper[self.train] = bounds[r]
            values[r] = solve_features(self.features, self.y, upper).decision


def unsure(values: Array, gaps: Array, slips: Array, reach: Array) -> NDArray[np.bool_]:
    """Say which SVMs have an example that may be on the other side at the optimum.

    If the margin of example i is s away from 1 now and is 1 at the optimum, then
    |fⱼ − fⱼ*| ≤ |w − w*| |xⱼ − xᵢ| + s, and |w − w*| ≤ √(2g).
    """
    known = np.isfinite(gaps) & np.isfinite(slips)
    away = np.sqrt(2.0 * np.where(known, gaps, 0.0))[:, None] * reach
    away += np.where(known, slips, 0.0)[:, None] + ROUNDING
    verdict: NDArray[np.bool_] = ~known | (np.abs(values) <= away).any(axis=1)
    return verdict


def measured(limits: Bounds, z: Array, gradient: Array) -> tuple[Array, Array]:
    """Return the bias of every row of z, and its gap in units of the margin."""
    bias, gap = np.empty((2, len(z)))
    gradient = np.ascontiguousarray(gradient)
    batch_kernel.measure_all(limits.lower, limits.upper, z, gradient, bias, gap)
    return bias, gap


def packed_products(rows: Array) -> Array:
    """Return rⱼrₖ, k ≤ j, of every row: their weighted sums are packed Gram matrices."""
    j, k = np.tril_indices(rows.shape[1])
    columns = np.ascontiguousarray(rows.T)
    products: Array = columns[j] * columns[k]
    return products
