"""Many logistic regressions on one table, which differ in their weights only.

Problem   min  ½ Σⱼ penaltyⱼ wⱼ² + Σᵢ weightᵢ log(1 + exp(−yᵢ w·xᵢ)), the last feature being 1
Given     the features, labels ±1, who is trained on, and the weights of each replicate
Returns   the decision value of every example under each replicate
Method    Newton's steps, halved where the objective would not fall.  All replicates of a chunk go
          together: with the products xᵢⱼxᵢₖ at hand, their second derivatives are one product of
          matrices.  Who has arrived is taken out.
Source    T. P. Minka, "A comparison of numerical optimizers for logistic regression", 2003
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.execution.threads import few_blas_threads
from truerisk.kernels import in_threads

CHUNK = 128  # replicates; not a matter of workers, so that these do not change a bit
MAX_STEPS, MAX_HALVINGS = 100, 40
ENOUGH = 1e-4  # part of the promised fall of the objective that a step must bring
RIDGE = (
    1e-13  # of the largest second derivative: where nothing bends, a step has an end all the same
)
MAX_PRODUCTS = 2**23  # numbers: 64 MB


@dataclass(frozen=True, eq=False)
class Regression:
    """The examples that some replicates are trained on, and their weights in each."""

    rows: Array  # with the constant 1
    y: Array
    penalty: Array
    products: Array | None  # of every pair of columns, the second not before the first
    weights: Array

    def of_some(self, which: NDArray[np.bool_]) -> "Regression":
        """Take some of the replicates."""
        return replace(self, weights=self.weights[which])


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients of each replicate, and what the objective and its derivatives are there."""

    coefficients: Array
    objective: Array
    wrong: Array  # the probability that the model gives to the other class
    right: Array


def logistic_decisions(
    features: Array,
    y: Array,
    train: NDArray[np.intp],
    weights: Array,
    *,
    penalty: Array,
    tolerance: float = 1e-10,
    workers: int = 1,
) -> Array:
    """Fit one logistic regression for every row of weights; return the log odds of every example.

    `penalty` has one λ per feature and the intercept's last.  The last step changes no decision
    value by more than `tolerance`, beside the largest.  Without a penalty, separable data have no
    minimum: only the signs have a meaning.  Where one class alone has weight, it is the decision.
    """
    table = np.column_stack([np.asarray(features, np.float64), np.ones(len(features))])
    weights = np.ascontiguousarray(weights, np.float64)
    rows, labels = np.ascontiguousarray(table[train]), y[train].astype(np.float64)
    penalty = np.asarray(penalty, np.float64)
    if not len(weights):
        return np.empty((0, len(table)))
    with few_blas_threads(table, workers):
        everything = Regression(rows, labels, penalty, products_of(rows), weights)
        middle = replace(everything, weights=weights.mean(axis=0, keepdims=True))
        start = fitted(middle, np.zeros((1, rows.shape[1])), tolerance)

        def decisions_of(first: int) -> Array:
            chunk = replace(everything, weights=weights[first : first + CHUNK])
            coefficients = fitted(chunk, np.repeat(start, len(chunk.weights), axis=0), tolerance)
            return named(chunk, coefficients @ table.T)

        parts = in_threads(decisions_of, range(0, len(weights), CHUNK), threads=workers)
    return np.concatenate(parts)


def products_of(rows: Array) -> Array | None:
    """Return the products of all pairs of columns; None where they would take too much memory."""
    first, second = np.triu_indices(rows.shape[1])
    if len(rows) * len(first) > MAX_PRODUCTS:
        return None
    products: Array = rows[:, first] * rows[:, second]
    return products


def named(regression: Regression, decisions: Array) -> Array:
    """Let the label be the decision where one class alone has weight, and 0 where none has."""
    positive = regression.weights[:, regression.y > 0.0].sum(axis=1) > 0.0
    negative = regression.weights[:, regression.y < 0.0].sum(axis=1) > 0.0
    label = positive.astype(np.float64) - negative
    return np.where((positive & negative)[:, None], decisions, label[:, None])


def fitted(regression: Regression, start: Array, tolerance: float) -> Array:
    """Take Newton's steps from the start until they change nothing; return the coefficients."""
    coefficients, left = start.copy(), np.arange(len(start))
    point = looked_at(regression, start)
    for _ in range(MAX_STEPS):
        gradient, step = newton_step(regression, point)
        new = damped(regression, point, gradient, step)
        change = np.abs((new.coefficients - point.coefficients) @ regression.rows.T).max(axis=1)
        size = 1.0 + np.abs(new.coefficients @ regression.rows.T).max(axis=1)
        coefficients[left] = new.coefficients
        going = change > tolerance * size
        if not going.any():
            break
        left, regression, point = left[going], regression.of_some(going), some_of(new, going)
    return coefficients


def looked_at(regression: Regression, coefficients: Array) -> Point:
    """Compute the objective and the probabilities, without overflow."""
    margin = (coefficients @ regression.rows.T) * regression.y
    small = np.exp(-np.abs(margin))
    loss = np.log1p(small) + np.maximum(-margin, 0.0)
    objective = 0.5 * coefficients**2 @ regression.penalty + (regression.weights * loss).sum(axis=1)
    small_side, large_side = small / (1.0 + small), 1.0 / (1.0 + small)
    agrees = margin >= 0.0
    wrong = np.where(agrees, small_side, large_side)
    return Point(coefficients, objective, wrong, np.where(agrees, large_side, small_side))


def some_of(point: Point, which: NDArray[np.bool_]) -> Point:
    """Take some of the replicates."""
    parts = (point.coefficients, point.objective, point.wrong, point.right)
    return Point(*(part[which] for part in parts))


def newton_step(regression: Regression, point: Point) -> tuple[Array, Array]:
    """Return the gradients, and the steps to the minima of the parabolas."""
    rows, weights, penalty = regression.rows, regression.weights, regression.penalty
    gradient = penalty * point.coefficients - (weights * point.wrong * regression.y) @ rows
    bends, m = weights * point.wrong * point.right, rows.shape[1]
    if regression.products is None:
        curvature = np.array([(rows.T * bend) @ rows for bend in bends])
    else:
        first, second = np.triu_indices(m)
        curvature = np.empty((len(bends), m, m))
        curvature[:, first, second] = bends @ regression.products
        curvature[:, second, first] = curvature[:, first, second]
    diagonal = np.arange(m)
    curvature[:, diagonal, diagonal] += penalty
    largest = curvature[:, diagonal, diagonal].max(axis=1, keepdims=True)
    curvature[:, diagonal, diagonal] += np.where(largest > 0.0, RIDGE * largest, 1.0)
    return gradient, -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]


def damped(regression: Regression, point: Point, gradient: Array, step: Array) -> Point:
    """Go along each step as far as the objective falls: the whole, or half, or a quarter of it.

    A step whose fall is lost in rounding is taken whole: it is one of the last.
    """
    fall = -(gradient * step).sum(axis=1)
    rounding = 1e-14 * (1.0 + np.abs(point.objective))
    length = np.ones(len(step))
    for _ in range(MAX_HALVINGS):
        new = looked_at(regression, point.coefficients + length[:, None] * step)
        low = new.objective <= point.objective - ENOUGH * length * fall + rounding
        if low.all():
            break
        length = np.where(low, length, 0.5 * length)
    return new
