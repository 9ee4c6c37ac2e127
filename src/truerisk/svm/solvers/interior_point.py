"""Interior point for the linear support vector machine with a free bias and few features.

Problem   min  ½ uᵀ diag(metric) u + Σᵢ Uᵢξᵢ   with  rᵢ·u ≥ 1 − ξᵢ  and  ξᵢ ≥ 0
Given     the rows rᵢ = yᵢ(zᵢ, 1), the bounds Uᵢ > 0, and the metric, whose last entry is 0: the
          bias is free.  With zᵢ = xᵢ / scale and metric = 1 / scale² this is the problem of xᵢ.
Returns   in place, u and four positive numbers for each example, the rows of `state`:
          share α/U, rest 1 − α/U, surplus of the margin over 1, slack ξ
Path      α·surplus = (U − α)·slack = µ for every example, whatever its bound
Cost      n·m² a step, some 10 to 30 steps; the caller allocates, so that many problems of one size
          can be solved one after the other in the same memory
Source    S. Mehrotra, SIAM J. Optim. 2 (1992) 575-601; for machines with few features,
          M. Ferris and T. Munson, SIAM J. Optim. 13 (2002) 783-804
"""

import math

import numpy as np
from numba import njit

from truerisk.aliases import Array

SHARE, REST, SURPLUS, SLACK = range(4)  # the rows of `state`
# The rows of `vectors`: change of the share by a unit of pull, violation of r·u − 1 = surplus −
# slack, wanted changes of share·surplus and of rest·slack, the three steps, and room for two.
YIELD, VIOLATION, WANT, WANT_REST, D_SHARE, D_SURPLUS, D_SLACK, PULL, SCRATCH = range(9)

BLOCK = 256  # examples that are scaled and multiplied at a time: they stay in the cache
LOST = 1e-14  # a pivot this much smaller than its diagonal is nothing but rounding
BACK = 0.995  # how far to go towards the nearest bound
CENTRED = 0.5  # of µ, where a step is made that aims at the centre alone
STALLED = 1e-8  # a step shorter than this leads nowhere


def workspace(n: int, m: int) -> tuple[Array, Array, Array]:
    """Allocate what a problem of n examples and m = features + 1 needs besides its state."""
    blocks = math.ceil(n / BLOCK)
    size = math.ceil(n / blocks)  # blocks of one size: the last is not half empty
    return np.empty((SCRATCH + 1, n)), np.empty((2 * m + 2, m)), np.zeros((size, m))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def weighted_gram(rows: Array, weights: Array, block: Array, product: Array, gram: Array) -> None:
    """Write Σᵢ weightᵢ rᵢrᵢᵀ to `gram`, block by block."""
    n, m = rows.shape
    size = block.shape[0]
    gram[:] = 0.0
    for start in range(0, n, size):
        stop = min(start + size, n)
        for i in range(start, stop):
            root = math.sqrt(weights[i])
            for j in range(m):
                block[i - start, j] = root * rows[i, j]
        block[stop - start :] = 0.0
        np.dot(block.T, block, product)
        gram += product


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def factorise(matrix: Array) -> None:
    """Overwrite the lower triangle by Cholesky's factor; a lost direction gets an infinite pivot.

    What is left of such a pivot is rounding: to divide by it would send the step anywhere, to
    divide by infinity leaves the direction alone.
    """
    m = matrix.shape[0]
    for j in range(m):
        left = matrix[j, j]
        for k in range(j):
            left -= matrix[j, k] * matrix[j, k]
        root = math.sqrt(left) if left > LOST * matrix[j, j] else math.inf
        matrix[j, j] = root
        for i in range(j + 1, m):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry / root


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def solve_factored(factor: Array, right: Array) -> None:
    """Solve in place with the factor that `factorise` left."""
    m = factor.shape[0]
    for i in range(m):
        entry = right[i]
        for k in range(i):
            entry -= factor[i, k] * right[k]
        right[i] = entry / factor[i, i]
    for i in range(m - 1, -1, -1):
        right[i] /= factor[i, i]
        for k in range(i):
            right[k] -= factor[i, k] * right[i]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def linearise(  # noqa: PLR0917 - compiled code takes no keywords
    rows: Array,
    upper: Array,
    metric: Array,
    u: Array,
    state: Array,
    vectors: Array,
    residual: Array,
) -> tuple[float, float]:
    """Write what the Newton systems of one step share; return µ and how far the optimum is.

    The second number is the largest of the violations and of the duality gap for each unit of Σα,
    which is at most twice the optimum.
    """
    scratch = vectors[SCRATCH]
    for i in range(len(upper)):
        scratch[i] = upper[i] * state[SHARE, i]
    np.dot(rows.T, scratch, residual)
    residual -= metric * u
    np.dot(rows, u, vectors[VIOLATION])
    gap, mass, largest = 0.0, 0.0, 0.0
    for i in range(len(upper)):
        share, rest, surplus, slack = state[0, i], state[1, i], state[2, i], state[3, i]
        vectors[VIOLATION, i] += slack - surplus - 1.0
        largest = max(largest, abs(vectors[VIOLATION, i]))
        vectors[YIELD, i] = 1.0 / (surplus / share + slack / rest)
        vectors[WANT, i] = -share * surplus
        vectors[WANT_REST, i] = -rest * slack
        gap += upper[i] * (share * surplus + rest * slack)
        mass += scratch[i]
    return gap / (2 * len(upper)), max(largest, gap / mass)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def direction(  # noqa: PLR0917 - compiled code takes no keywords
    rows: Array,
    upper: Array,
    state: Array,
    vectors: Array,
    factor: Array,
    residual: Array,
    du: Array,
) -> float:
    """Solve the Newton system for the wanted changes; return the longest step inside."""
    pull, scratch = vectors[PULL], vectors[SCRATCH]
    for i in range(len(upper)):
        pull[i] = (
            vectors[WANT, i] / state[SHARE, i]
            - vectors[WANT_REST, i] / state[REST, i]
            - vectors[VIOLATION, i]
        )
        scratch[i] = upper[i] * vectors[YIELD, i] * pull[i]
    np.dot(rows.T, scratch, du)
    du += residual
    solve_factored(factor, du)
    np.dot(rows, du, scratch)
    steepest = 0.0
    for i in range(len(upper)):
        share, rest, surplus, slack = state[0, i], state[1, i], state[2, i], state[3, i]
        d_share = vectors[YIELD, i] * (pull[i] - scratch[i])
        d_surplus = (vectors[WANT, i] - surplus * d_share) / share
        d_slack = (vectors[WANT_REST, i] + slack * d_share) / rest
        steepest = max(steepest, -d_share / share, d_share / rest)
        steepest = max(steepest, -d_surplus / surplus, -d_slack / slack)
        vectors[D_SHARE, i] = d_share
        vectors[D_SURPLUS, i] = d_surplus
        vectors[D_SLACK, i] = d_slack
    return 1.0 / steepest if steepest > 0.0 else math.inf


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def mu_after(upper: Array, state: Array, vectors: Array, step: float) -> float:
    """Give the µ that a step of this length would lead to."""
    gap = 0.0
    for i in range(len(upper)):
        d_share = step * vectors[D_SHARE, i]
        gap += upper[i] * (
            (state[SHARE, i] + d_share) * (state[SURPLUS, i] + step * vectors[D_SURPLUS, i])
            + (state[REST, i] - d_share) * (state[SLACK, i] + step * vectors[D_SLACK, i])
        )
    return gap / (2 * len(upper))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def correct(upper: Array, vectors: Array, centre: float) -> None:
    """Want this centre too, and undo the second order of the predicted step."""
    for i in range(len(upper)):
        d_share = vectors[D_SHARE, i]
        vectors[WANT, i] += centre / upper[i] - d_share * vectors[D_SURPLUS, i]
        vectors[WANT_REST, i] += centre / upper[i] + d_share * vectors[D_SLACK, i]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def only_centre(upper: Array, state: Array, vectors: Array, centre: float) -> None:
    """Want this centre and nothing else."""
    for i in range(len(upper)):
        vectors[WANT, i] = centre / upper[i] - state[SHARE, i] * state[SURPLUS, i]
        vectors[WANT_REST, i] = centre / upper[i] - state[REST, i] * state[SLACK, i]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow_path(  # noqa: PLR0917 - compiled code takes no keywords
    rows: Array,
    upper: Array,
    metric: Array,
    u: Array,
    state: Array,
    vectors: Array,
    small: Array,
    block: Array,
    target: float,
    max_steps: int,
) -> int:
    """Go on until the optimum is `target` away, in place; return the number of steps."""
    m = rows.shape[1]
    factor, product, residual, du = small[:m], small[m : 2 * m], small[2 * m], small[2 * m + 1]
    weights = vectors[SCRATCH]
    for taken in range(max_steps):
        mu, away = linearise(rows, upper, metric, u, state, vectors, residual)
        if away <= target:
            return taken
        for i in range(len(upper)):
            weights[i] = upper[i] * vectors[YIELD, i]
        weighted_gram(rows, weights, block, product, factor)
        for j in range(m):
            factor[j, j] += metric[j]
        factorise(factor)
        step = min(1.0, direction(rows, upper, state, vectors, factor, residual, du))
        predicted = mu_after(upper, state, vectors, step)
        correct(upper, vectors, mu * (predicted / mu) ** 3)
        step = min(1.0, BACK * direction(rows, upper, state, vectors, factor, residual, du))
        if mu_after(upper, state, vectors, step) >= mu:
            # Corrections can lead round in circles; a short enough step of Newton's cannot.
            only_centre(upper, state, vectors, CENTRED * mu)
            step = min(1.0, BACK * direction(rows, upper, state, vectors, factor, residual, du))
            while step > STALLED and mu_after(upper, state, vectors, step) >= mu:
                step *= 0.5
        if not step > STALLED:
            return taken
        u += step * du
        for i in range(len(upper)):
            d_share = step * vectors[D_SHARE, i]
            state[SHARE, i] += d_share
            state[REST, i] -= d_share
            state[SURPLUS, i] += step * vectors[D_SURPLUS, i]
            state[SLACK, i] += step * vectors[D_SLACK, i]
    return max_steps
