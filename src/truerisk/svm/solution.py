"""What every solver of the support vector machine returns: the optimum of one binary problem."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Solution:
    r"""The optimum of one soft-margin problem with a free bias.

    .. math:: \min_{w, b, \xi} \tfrac12 w \cdot w + \sum_i U_i \xi_i, \qquad
              y_i (w \cdot x_i + b) \ge 1 - \xi_i, \quad \xi_i \ge 0

    `gap` is the largest violation of the optimality conditions, in units of the margin: with
    v = y − f before the bias, the largest v of those that may rise less the smallest of those that
    may fall.  An example whose bound U is 0 is left out, and has a decision value all the same.

    Examples
    --------
    >>> two = Solution(y=np.array([1.0, -1.0]), upper=np.ones(2), alpha=np.array([0.5, 0.5]),
    ...                bias=0.0, decision=np.array([1.0, -1.0]), gap=0.0, passes=1)
    >>> two.slack, two.stable
    (array([0., 0.]), True)
    """

    y: Array  # −1 or 1
    upper: Array  # U, what each α may be at most
    alpha: Array
    bias: float
    decision: Array  # w·x + b of every training example
    gap: float
    passes: int  # how often the solver went over the data, or how many steps it took

    @property
    def slack(self) -> Array:
        """The ξ of each example."""
        return np.maximum(0.0, 1.0 - self.y * self.decision)

    @property
    def free(self) -> NDArray[np.bool_]:
        """The unbounded support vectors: 0 < α < U."""
        return (self.alpha > 0.0) & (self.alpha < self.upper)

    @property
    def stable(self) -> bool:
        """Whether there is an unbounded support vector, which pins the bias down."""
        return bool(self.free.any())


@dataclass(frozen=True, kw_only=True)
class LinearSolution(Solution):
    """A solution that also keeps the weights of the features."""

    weights: Array
