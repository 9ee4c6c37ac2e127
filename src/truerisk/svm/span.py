r"""How far an example is from what the free support vectors can make in its place.

Problem   S²ₜ = min |φ(xₜ) − Σ λᵢφ(xᵢ)|² over the free support vectors i ≠ t, with Σ λᵢ = 1
          where the bias is free (a flat), and any λ where there is none (a subspace)
Given     the kernel between training examples, and a solution
Returns   S² of the examples asked for
Link      y·f of t falls by exactly α·S² when t is left out, if no other example then reaches or
          leaves a bound; S² ≤ 2R²
Source    V. Vapnik and O. Chapelle, "Bounds on error expectation for support vector machines",
          Neural Computation 12(9), 2013-2036, 2000, there without the box of λ;
          M. Opper and O. Winther, "Gaussian processes and SVM: mean field and leave-one-out", in
          Advances in Large Margin Classifiers, MIT Press, 2000, for SVMs without a bias;
          T. Joachims, SVM-light, `svm_learn -x 1 -k`, for the search: λ = 1/m on m of them
"""

import math

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import InputError
from truerisk.execution.threads import few_blas_threads
from truerisk.kernels import gram as loops
from truerisk.svm.gram.path import Dual
from truerisk.svm.kernels import TrainingKernel
from truerisk.svm.solution import Solution

JITTER = 1e-10  # of the mean k(x, x): two free support vectors may be equal


def squared_spans(
    kernel: TrainingKernel, solution: Solution, which: Indices, *, free_bias: bool = True
) -> Array:
    """Return S² of the examples `which`; ∞ where the bias is free and no other example is."""
    is_free = solution.free
    free, which_free = np.flatnonzero(is_free), is_free[which]
    spans = np.full(len(which), np.inf) if free_bias else kernel.diagonal(which)
    if len(free) == 0:
        return spans
    with few_blas_threads(free):
        matrix = kernel.block(free, free)
        # A constant added to k changes no flat; it lifts the direction that all have in common.
        lift = float(np.diagonal(matrix).mean()) if free_bias else 0.0
        matrix += lift
        jitter = JITTER * max(float(np.diagonal(matrix).mean()), 1e-300)
        matrix[np.diag_indices(len(free))] += jitter
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True)
        except LinAlgError:
            raise InputError(
                "`fitted` must have a positive semidefinite kernel for its support vectors to have "
                "a span; its kernel is not. Leave `refine` out, or take refine='search'."
            ) from None
        if which_free.any() and (len(free) > 1 or not free_bias):
            at = np.searchsorted(free, which[which_free])
            spans[which_free] = _of_free(factor, len(free), at, free_bias=free_bias)
        others = which[~which_free]
        if len(others):
            across = kernel.block(free, others) + lift
            solved = cho_solve(factor, across)
            squares = kernel.diagonal(others) + lift - np.einsum("ij,ij->j", across, solved)
            if free_bias:
                ones = cho_solve(factor, np.ones(len(free)))
                squares += (1.0 - solved.sum(axis=0)) ** 2 / ones.sum()
            spans[~which_free] = np.maximum(squares, 0.0)
    return spans


def _of_free(factor: tuple[Array, bool], n: int, at: Indices, *, free_bias: bool) -> Array:
    """Invert what is on the diagonal of the inverse: the example's own row is not its hull."""
    inverse: Array = cho_solve(factor, np.eye(n), overwrite_b=True)
    diagonal = np.diagonal(inverse)[at].copy()
    if free_bias:
        ones = inverse.sum(axis=1)
        diagonal -= ones[at] ** 2 / ones.sum()
    return np.asarray(1.0 / np.maximum(diagonal, 1e-300))


HELD_AT_ONCE = 2**22  # squares of distances, of examples and free support vectors


def searched_squares(
    kernel: TrainingKernel,
    solution: Solution,
    which: Indices,
    depth: int,
    *,
    free_bias: bool = True,
) -> Array:
    """Return |φ(x) − mean of m free support vectors|², the least over m = 1, …, `depth`.

    The m + 1st is the one that makes it least beside the m that were chosen.  It is never less than
    S², whose λ are free; ∞ where the bias is free and no other example is, as there.
    """
    free = np.flatnonzero(solution.free)
    own = kernel.diagonal(which)
    least = np.full(len(which), np.inf) if free_bias else own.copy()
    if len(free) == 0 or len(which) == 0:
        return least
    matrix = kernel.block(free, free)
    step = max(1, HELD_AT_ONCE // len(free))
    for at in range(0, len(which), step):
        part = slice(at, at + step)
        across = kernel.block(which[part], free)
        taken = which[part, None] == free
        squares = _means(matrix, across, taken, depth) + own[part]
        least[part] = np.minimum(least[part], np.maximum(squares, 0.0))
    return least


def _means(matrix: Array, across: Array, taken: Flags, depth: int) -> Array:
    """Give |mean|² − 2·φ(x)·mean, the least over the sizes, one per row of `across`."""
    rows = np.arange(len(across))
    least = np.full(len(across), np.inf)
    products, square, line = np.zeros_like(across), np.zeros(len(across)), np.zeros(len(across))
    for size in range(1, min(depth, len(matrix)) + 1):
        squares = square[:, None] + 2.0 * products + np.diagonal(matrix)
        values = squares / size**2 - 2.0 * (line[:, None] + across) / size
        values[taken] = np.inf
        best = np.argmin(values, axis=1)
        least = np.minimum(least, values[rows, best])
        square, line = squares[rows, best], line + across[rows, best]
        products += matrix[best]
        taken[rows, best] = True
    return least


TOLERANCE = 1e-6  # of the largest k(x, x)
MAX_STEPS = 20_000


def span_bound(kernel: TrainingKernel, solution: Solution, squared_radius: float) -> float:
    """Bound the number of leave-one-out errors; n at most.

    A ball of radius √2 · (half the diameter) holds all examples (Jung), so D ≤ 2R.
    """
    free = np.flatnonzero(solution.free)
    bounded = int(np.count_nonzero((solution.alpha > 0.0) & ~solution.free))
    if len(free) == 0:
        return float(min(bounded, len(solution.y)))
    longest = math.sqrt(float(_constrained_spans(kernel, solution, squared_radius).max()))
    price = float(solution.upper[solution.upper > 0.0].min())
    diameter = max(2.0 * math.sqrt(squared_radius), 1.0 / math.sqrt(price))
    bound = longest * diameter * float(solution.alpha[free].sum()) + bounded
    return min(bound, float(len(solution.y)))


def _constrained_spans(kernel: TrainingKernel, solution: Solution, squared_radius: float) -> Array:
    """Return S² of each free support vector; 4R², the most there is, where nobody can take over."""
    free = np.flatnonzero(solution.free)
    gram = np.ascontiguousarray(kernel.block(free, free))
    alpha, y, upper = solution.alpha[free], solution.y[free], solution.upper[free]
    spans = np.full(len(free), 4.0 * squared_radius)
    for p in range(len(free)):
        others = np.flatnonzero(np.arange(len(free)) != p)
        same = y[others] == y[p]
        rise = np.where(same, upper[others] - alpha[others], alpha[others]) / alpha[p]
        fall = np.where(same, -alpha[others], alpha[others] - upper[others]) / alpha[p]
        before = np.concatenate([[0.0], np.cumsum(rise)[:-1]]) if len(others) else rise
        start = np.clip(1.0 - before, 0.0, rise)
        if start.sum() < 1.0 - 1e-12:
            continue
        block = np.ascontiguousarray(gram[np.ix_(others, others)])
        dual = Dual(
            block, np.diagonal(block).copy(), fall, rise, start, gram[p, others] - block @ start
        )
        scale = float(gram.diagonal().max())
        loops.improve(dual, 1e-12 * scale, TOLERANCE * scale, MAX_STEPS)
        square = gram[p, p] - dual.z @ (gram[p, others] + dual.gradient)
        spans[p] = min(max(float(square), 0.0), spans[p])
    return spans
