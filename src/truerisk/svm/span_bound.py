r"""The span bound of Vapnik and Chapelle on the number of leave-one-out errors.

Problem   S²ₚ = min |φ(xₚ) − Σ λᵢφ(xᵢ)|² over the free support vectors i ≠ p, with Σ λᵢ = 1 and
          0 ≤ αᵢ + yᵢyₚαₚλᵢ ≤ Uᵢ, so that αₚ can be handed over to the others
Given     the kernel between training examples, R² and a solution
Returns   S · max(D, 1/√C) · Σ α of the free support vectors + how many are at their bound,
          with S the largest span and D the diameter of a ball around all examples
Source    V. Vapnik and O. Chapelle, "Bounds on error expectation for support vector machines",
          Neural Computation 12(9), 2013-2036, 2000, theorem 2 and its form for soft margins
"""

import math

import numpy as np

from truerisk.aliases import Array
from truerisk.kernels import gram as loops
from truerisk.svm.gram.path import Dual
from truerisk.svm.solution import Solution
from truerisk.svm.training_kernel import TrainingKernel

TOLERANCE = 1e-6  # of the largest k(x, x)
MAX_STEPS = 20_000


def span_bound(kernel: TrainingKernel, solution: Solution, squared_radius: float) -> float:
    """Bound the number of leave-one-out errors; n at most.

    A ball of radius √2 · (half the diameter of the examples) holds them all, whatever the number of
    features (Jung), so that D ≤ 2R.

    Examples
    --------
    >>> from truerisk.svm.kernels import Kernel
    >>> x = TrainingKernel(Kernel("linear"), np.array([[1.0], [-1.0], [3.0]]))
    >>> solution = Solution(y=np.array([1.0, -1.0, 1.0]), upper=np.full(3, 9.0),
    ...                     alpha=np.array([0.5, 0.5, 0.0]), bias=0.0,
    ...                     decision=np.array([1.0, -1.0, 3.0]), gap=0.0, passes=1)
    >>> span_bound(x, solution, 8.0)  # 3 examples at most
    3.0
    """
    free = np.flatnonzero(solution.free)
    bounded = int(np.count_nonzero((solution.alpha > 0.0) & ~solution.free))
    if len(free) == 0:
        return float(min(bounded, len(solution.y)))
    longest = math.sqrt(float(_constrained_spans(kernel, solution, squared_radius).max()))
    price = float(solution.upper[solution.upper > 0.0].min())
    diameter = max(2.0 * math.sqrt(squared_radius), 1.0 / math.sqrt(price))
    found = longest * diameter * float(solution.alpha[free].sum()) + bounded
    return min(found, float(len(solution.y)))


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
