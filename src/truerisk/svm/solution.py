"""What every solver of the SVM returns: the optimum of one binary problem."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array

ROUNDING = 1e-12  # of a bound, or of the largest α: what is nearer to a bound is at it
# With fewer free support vectors than this, leaving an example out may use them all up, and the
# bias is then one of many.
FREE_AT_LEAST = 3
LOOSE = 1e-4  # a tolerance from which on the objective counts, not the largest violation


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The optimum of one soft-margin problem with a free bias.

    `gap` is the largest violation of optimality, in units of the margin: with v = y − f before the
    bias, the largest v that may rise less the smallest that may fall.  An example whose bound U is
    0 is left out, and has a decision value all the same.
    """

    y: Array  # −1 or 1
    upper: Array  # U, what each α may be at most
    alpha: Array
    bias: float
    decision: Array  # w·x + b of every training example
    gap: float
    passes: int  # how often the solver went over the data, or how many steps it took

    @cached_property
    def slack(self) -> Array:
        """The ξ of each example."""
        return np.maximum(0.0, 1.0 - self.y * self.decision)

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """The unbounded support vectors: 0 < α < U, by more than rounding."""
        at_zero, at_upper = at_bounds(self.alpha, self.upper)
        return ~(at_zero | at_upper)

    @property
    def stable(self) -> bool:
        """Whether there is an unbounded support vector, which pins the bias down."""
        return bool(self.free.any())

    @cached_property
    def objective_gap(self) -> float:
        """The duality gap over the objective: so far at most is the objective from its optimum."""
        half = 0.5 * float(np.sum(self.alpha * self.y * (self.decision - self.bias)))
        objective = half + float(np.sum(self.upper * self.slack))
        excess = objective + half - float(self.alpha.sum())
        return max(excess, 0.0) / objective if objective > 0.0 else 0.0

    def is_within(self, tolerance: float) -> bool:
        """Whether it is as close to the optimum as a tolerance asks for."""
        return self.gap <= tolerance or (tolerance >= LOOSE and self.objective_gap <= tolerance)

    @property
    def has_one_bound(self) -> bool:
        """Whether all examples that count have the same bound."""
        bounds = self.upper[self.upper > 0.0]
        return len(bounds) > 0 and bool(np.ptp(bounds) <= 1e-9 * bounds.max())

    @property
    def is_prunable(self) -> bool:
        """Whether a margin falls by 2αR² at most when its example is left out.

        With several bounds the path from α to 0 may pass a point at which every other example is at
        its bound; the bias then jumps.
        """
        return self.has_one_bound and int(np.count_nonzero(self.free)) >= FREE_AT_LEAST


def settled(alpha: Array, upper: Array) -> Array:
    """Put each α that is a rounding error away from a bound onto it."""
    at_zero, at_upper = at_bounds(alpha, upper)
    return np.where(at_upper, upper, np.where(at_zero, 0.0, alpha))


def at_bounds(alpha: Array, upper: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which α are at 0 and which at their bounds, but for a rounding error.

    Where all α are small beside their bounds, rounding is measured beside the largest α.
    """
    near = ROUNDING * np.minimum(upper, alpha.max(initial=0.0))
    return alpha <= near, upper - alpha <= ROUNDING * upper


def bounds_of_bias(y: Array, upper: Array, alpha: Array, margin: Array) -> tuple[float, float]:
    """Return the largest y − f of those that may rise, and the smallest of those that may fall."""
    short = y * (1.0 - margin)
    rises = np.where(y > 0.0, alpha < upper, alpha > 0.0)
    falls = np.where(y > 0.0, alpha > 0.0, alpha < upper)
    return float(short[rises].max(initial=-np.inf)), float(short[falls].min(initial=np.inf))


@dataclass(frozen=True, kw_only=True)
class LinearSolution(Solution):
    """A solution that also keeps the weights of the features."""

    weights: Array
