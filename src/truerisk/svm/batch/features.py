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
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.kernels import interior as kernel
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.dense.features import scale_columns, solve_features

LANES = 64  # problems side by side, as in the kernel
TILE, LANE = 11 * LANES, 7 * LANES  # numbers per example, and numbers of a lane
NOBODY = -1  # in a lane
PIECE = 512  # SVMs a worker takes at a time: fixed, so that results do not depend on workers
FEW = 4  # SVMs that one after the other take less time than the lanes
LARGEST = 2**23  # products of features: 64 MB
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
            pieces = [slice(k, k + PIECE) for k in range(0, len(both), PIECE)]
            with ThreadPoolExecutor(min(workers, len(pieces))) as pool:
                solved = pool.map(lambda piece: batch.decisions(piece, tolerance), pieces)
                decisions[both] = np.concatenate(list(solved))
    return decisions


@dataclass(frozen=True)
class _Batch:
    """Machines with two classes; `products` and `start` are empty where lanes are of no use."""

    features: Array
    y: Array
    train: NDArray[np.intp]
    bounds: Array
    table: Table
    products: Array
    start: Array

    @classmethod
    def of(cls, features: Array, y: Array, train: NDArray[np.intp], bounds: Array) -> Self:
        table = Table.of(features, train)
        n, m = len(train), table.examples.shape[1]
        products, start = np.empty((0, n)), np.empty(0)
        if len(bounds) > FEW and n * m * (m + 1) // 2 <= LARGEST:
            products = packed_products(table.examples[train])
            mean = solve_features(features[train], y[train], bounds.mean(axis=0))
            bias = mean.bias + mean.weights @ table.centre
            start = np.append(mean.weights[table.varies] * table.scale, bias)
        return cls(features, y, train, bounds, table, products, start)

    def decisions(self, piece: slice, tolerance: float) -> Array:
        """Solve the SVMs of a piece, in lanes where that is of use, and exactly where not."""
        bounds, table = self.bounds[piece], self.table
        if not len(self.products):
            values = np.empty((len(bounds), len(self.y)))
            self.finish(values, bounds, range(len(bounds)))
            return values
        rows = np.ascontiguousarray(self.y[self.train, None] * table.examples[self.train])
        metric = np.append(table.scale**-2.0, 0.0)
        solutions, gaps, slips = np.empty((len(bounds), len(metric))), *np.empty((2, len(bounds)))
        problems = Problems(
            rows, self.products, metric, self.start, CENTRE, bounds, solutions, gaps, slips
        )
        kernel.follow_paths(problems, workspace(*rows.shape), tolerance, MAX_STEPS)
        values = solutions @ table.examples.T
        self.finish(values, bounds, np.flatnonzero(unsure(values, gaps, slips, table.reach)))
        return values

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
