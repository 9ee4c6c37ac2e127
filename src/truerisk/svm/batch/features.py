"""A thousand SVMs on the same few features, which differ in the bounds of α only.

Problem   min  ½ w·w + Σᵢ Uᵢξᵢ   with  yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ  and  ξᵢ ≥ 0,  for each row U
Given     one table of features, and as many rows of bounds as SVMs
Returns   the decision value of every example under every SVM
Method    interior points side by side (`truerisk.kernels.interior`), from the SVM of the mean
          bounds. The objective is strongly convex in w: with a gap g no w is farther than √(2g)
          from the optimal one, and an example on the margin carries that over to b. An SVM under
          which some example is nearer to the boundary than that goes on alone to the exact optimum
          (`dense.features`), as does one with no example on the margin: its b is not unique.
Memory    n·m²/2 numbers for the products of m = features + 1, some 1,000 an example and a worker
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.kernels import interior as kernel
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.dense.features import scale_columns, solve_features

LANES = 64  # problems side by side, as in the kernel
TILE, LANE = 11 * LANES, 7 * LANES  # numbers per example, and numbers of a lane
NOBODY = -1  # in a lane
PIECE = 512  # SVMs a worker takes at a time: fixed, so that results do not depend on workers
FEW = 4  # SVMs that one after the other take less time than the lanes
LARGEST = 2**23  # products of features: 64 MB
MIN_WIDTH = 8  # features and bias: with fewer, the examples cost little
WORTH_PILOTS = 4 * LANES  # SVMs
NEAR_MARGIN = 0.25  # how far beyond the margin of all pilots an example may still matter
MAX_NEAR = 0.75  # share of the examples above which all are taken
ROUNDS = 2  # in which more examples may come near
MAX_STEPS = 40  # three times the usual; corrections can lead round in circles
CENTRE = 0.3  # µ at the start, for each unit of the mean bound
ROUNDING = 1e-9  # of a decision value


class Problems(NamedTuple):
    """What all problems share, and where their answers go, one row or entry per problem."""

    rows: Array
    products: Array
    metric: Array
    start: Array  # u₀
    centre: float  # µ at the start, for each unit of the mean bound
    bounds: Array
    solutions: Array
    gaps: Array
    slips: Array


class Work(NamedTuple):
    """The memory of the lanes."""

    tile: Array
    lanes: Array
    first: Array
    second: Array
    weights: Array
    right: Array
    packed: Array
    u: Array
    du: Array
    more: Array
    owner: NDArray[np.int64]
    taken: NDArray[np.int64]


def workspace(n: int, m: int) -> Work:
    """Allocate the lanes for n examples and m = features + 1, with nobody in them."""
    tall, wide = (n, LANES), (m, LANES)
    return Work(
        tile=np.ones((n, TILE)),
        lanes=np.ones(LANE),
        first=np.zeros(tall),
        second=np.zeros(tall),
        weights=np.ones(tall),
        right=np.ones(tall),
        packed=np.ones((m * (m + 1) // 2, LANES)),
        u=np.zeros(wide),
        du=np.zeros(wide),
        more=np.zeros(wide),
        owner=np.full(LANES, NOBODY),
        taken=np.zeros(LANES, dtype=np.int64),
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
    positive, negative = ((bounds[:, y[train] == side] > 0.0).any(axis=1) for side in (1.0, -1.0))
    only = np.where(positive, 1.0, 0.0) - np.where(negative, 1.0, 0.0)
    decisions = np.repeat(only.reshape(-1, 1), len(y), axis=1)
    both = np.flatnonzero(positive & negative)
    if len(both):
        # More than one BLAS thread would add up in another order.
        with few_blas_threads(0):
            batch = _Batch.of(features, y, train, bounds[both])
            pilots = LANES if batch.is_large else 0
            tried = batch.decisions(slice(0, pilots), tolerance)
            batch = batch.with_those_near(tried) if pilots else batch
            pieces = [slice(k, k + PIECE) for k in range(pilots, len(both), PIECE)]
            with ThreadPoolExecutor(max(min(workers, len(pieces)), 1)) as pool:
                solved = pool.map(lambda piece: batch.decisions(piece, tolerance), pieces)
                decisions[both] = np.concatenate([tried, *solved])
    return decisions


@dataclass(frozen=True)
class _Batch:
    """SVMs with two classes; `start` is empty where lanes are of no use.

    `near` are those trained on who are solved for at first: an example beyond the margin leaves no
    trace in the optimum.
    """

    features: Array
    y: Array
    train: NDArray[np.intp]
    bounds: Array
    table: Table
    start: Array
    near: Flags
    products: Array  # of those near

    @classmethod
    def of(cls, features: Array, y: Array, train: NDArray[np.intp], bounds: Array) -> Self:
        table = Table.of(features, train)
        n, m = len(train), table.examples.shape[1]
        near, products, start = np.ones(n, bool), np.empty((0, n)), np.empty(0)
        if len(bounds) > FEW and n * m * (m + 1) // 2 <= LARGEST:
            products = packed_products(table.examples[train])
            mean = solve_features(features[train], y[train], bounds.mean(axis=0))
            bias = mean.bias + mean.weights @ table.centre
            start = np.append(mean.weights[table.varies] * table.scale, bias)
        return cls(features, y, train, bounds, table, start, near, products)

    @property
    def is_large(self) -> bool:
        """Whether some SVMs may be solved first to see who is near the margin."""
        return len(self.start) >= MIN_WIDTH and len(self.bounds) >= WORTH_PILOTS

    def with_those_near(self, pilots: Array) -> Self:
        """Leave out who was clearly beyond the margin of all pilots, where that saves much."""
        margins = self.y[self.train] * pilots[:, self.train]
        return self.with_near(margins.min(axis=0) < 1.0 + NEAR_MARGIN)

    def with_near(self, near: Flags) -> Self:
        """Solve for these at first; for all, if they are most."""
        if near.mean() > MAX_NEAR:
            near = np.ones(len(near), bool)
        if np.array_equal(near, self.near):
            return self
        products = packed_products(self.table.examples[self.train[near]])
        return replace(self, near=near, products=products)

    def decisions(self, piece: slice, tolerance: float, rounds: int = ROUNDS) -> Array:
        """Solve the SVMs of a piece, in lanes where that is of use, and exactly where not.

        An SVM to which somebody not near objects is solved once more with whoever did; after so
        many rounds, with all.
        """
        bounds = self.bounds[piece]
        if not len(self.start):
            values = np.empty((len(bounds), len(self.y)))
            self.finish(values, bounds, range(len(bounds)))
            return values
        values, gaps, slips = self.in_lanes(bounds, tolerance)
        margins = self.y[self.train] * values[:, self.train]
        objects = (margins < 1.0) & ~self.near & (bounds > 0.0)
        again = objects.any(axis=1)
        open_ = unsure(values, gaps, slips, self.table.reach) & ~again
        self.finish(values, bounds, np.flatnonzero(open_))
        if again.any():
            batch = self.with_near(self.near | objects.any(axis=0) | (rounds == 0))
            batch = replace(batch, bounds=bounds[again])
            values[again] = batch.decisions(slice(None), tolerance, rounds - 1)
        return values

    def in_lanes(self, bounds: Array, tolerance: float) -> tuple[Array, Array, Array]:
        """Return the decision values of the SVMs of those near, their gaps and their slips."""
        table, near = self.table, self.train[self.near]
        rows = np.ascontiguousarray(self.y[near, None] * table.examples[near])
        metric = np.append(table.scale**-2.0, 0.0)
        solutions, gaps, slips = np.empty((len(bounds), len(metric))), *np.empty((2, len(bounds)))
        bounds = np.ascontiguousarray(bounds[:, self.near])
        problems = Problems(
            rows, self.products, metric, self.start, CENTRE, bounds, solutions, gaps, slips
        )
        kernel.follow_paths(problems, workspace(*rows.shape), tolerance, MAX_STEPS)
        return solutions @ table.examples.T, gaps, slips

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


def packed_products(rows: Array) -> Array:
    """Return rⱼrₖ, k ≤ j, of every row: their weighted sums are packed Gram matrices."""
    j, k = np.tril_indices(rows.shape[1])
    columns = np.ascontiguousarray(rows.T)
    products: Array = columns[j] * columns[k]
    return products
