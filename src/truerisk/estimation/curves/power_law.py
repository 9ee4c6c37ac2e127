"""The inverse power law of a learning curve, fitted by weighted least squares.

Law       e(n) = a + b·n^(−c)   with  a ≥ 0,  b ≥ 0,  0 < c ≤ 2
Given     mean losses at several sizes, and a weight for each size
Fit       weighted least squares; for a given c the best a and b are those of a line, so that only
          c is searched: on a grid, then by golden section between the neighbours of the best
Source    C. Cortes et al., "Learning curves: asymptotic values and rate of convergence", NIPS 6,
          327-334, 1994
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array

SMALLEST_EXPONENT, LARGEST_EXPONENT = 0.02, 2.0
GRID = np.geomspace(SMALLEST_EXPONENT, LARGEST_EXPONENT, 60)
SECTIONS = 40  # a grid step of e^.08, times .618⁴⁰: nine digits
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class PowerLaws:
    """One law, or as many as there are replicates: arrays of one shape.

    Examples
    --------
    >>> law = PowerLaws(np.array([0.1]), np.array([1.0]), np.array([0.5]))
    >>> law.at(100.0).round(3), law.size_for(0.15).round(3)
    (array([0.2]), array([400.]))
    """

    a: Array
    b: Array
    c: Array

    def at(self, size: float) -> Array:
        """Give the loss at a size."""
        return np.asarray(self.a + self.b * float(size) ** -self.c)

    def size_for(self, loss: float) -> Array:
        """Give the size at which the loss is reached; infinite where it never is."""
        above = loss - self.a
        falls = (above > 0) & (self.b > 0)
        ratio = np.where(falls, self.b, 1.0) / np.where(falls, above, 1.0)
        with np.errstate(over="ignore"):
            size = ratio ** (1 / self.c)
        # A law without slope is below a loss at every size, or at none.
        flat = np.where((self.b == 0) & (above >= 0), 0.0, np.inf)
        return np.where(falls, size, flat)


def fit_power_laws(sizes: ArrayLike, losses: Array, weights: Array) -> PowerLaws:
    """Fit a law to each row of losses.

    Parameters
    ----------
    sizes
        Numbers of examples, one for each column of `losses`.
    losses
        A row for each law.
    weights
        How much each size counts: one over the variance of its mean loss.

    Examples
    --------
    >>> sizes = np.array([10, 30, 100, 300, 1000])
    >>> law = fit_power_laws(sizes, (0.1 + 0.9 * sizes**-0.5)[None], np.ones(5))
    >>> [round(float(part[0]), 6) for part in (law.a, law.b, law.c)]
    [0.1, 0.9, 0.5]
    """
    # Around the middle of log n, n^(−c) neither overflows nor vanishes.
    logs = np.log(np.asarray(sizes, dtype=np.float64))
    middle = float(logs.mean())
    shares = weights / weights.sum()

    def at(c: Array) -> tuple[Array, Array, Array]:
        return _line(np.exp(-c[:, None] * (logs - middle)), losses, shares)

    tried = np.stack([at(np.full(len(losses), c))[2] for c in GRID])
    best = tried.argmin(axis=0)
    low = np.log(GRID[np.maximum(best - 1, 0)])
    high = np.log(GRID[np.minimum(best + 1, len(GRID) - 1)])
    for _ in range(SECTIONS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        is_left = at(np.exp(left))[2] <= at(np.exp(right))[2]
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    c = np.exp((low + high) / 2)
    a, b, _ = at(c)
    return PowerLaws(a, b * np.exp(c * middle), c)


def _line(basis: Array, losses: Array, shares: Array) -> tuple[Array, Array, Array]:
    """Fit a + b·basis with a, b ≥ 0 to each row; give the weighted squares that are left, too.

    The optimum is the free line, or lies on one of the bounds.
    """
    mean_x, mean_y = basis @ shares, losses @ shares
    centred_x, centred_y = basis - mean_x[:, None], losses - mean_y[:, None]
    free_b = (centred_x * centred_y) @ shares / (centred_x**2 @ shares)
    free_a = mean_y - free_b * mean_x
    through_b = np.maximum((basis * losses) @ shares / (basis**2 @ shares), 0.0)
    level_a = np.maximum(mean_y, 0.0)
    is_free = (free_a >= 0) & (free_b >= 0)
    nothing = np.zeros_like(free_a)
    a = np.stack([np.where(is_free, free_a, level_a), nothing, level_a])
    b = np.stack([np.where(is_free, free_b, nothing), through_b, nothing])
    squares = (losses - a[..., None] - b[..., None] * basis) ** 2 @ shares
    best = (squares.argmin(axis=0), np.arange(len(losses)))
    return a[best], b[best], squares[best]
