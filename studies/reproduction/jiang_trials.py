"""What the tables of Jiang, Zhang and Cai have in common: one SVM perturbed on one data set."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.svm.perturbation import draw_weights, perturbed_losses
from truerisk.intervals.replicates import deviation_percentile
from truerisk.svm.linear import LinearSVM

LEVEL = 0.95


@dataclass(frozen=True)
class Perturbing:
    """One data set's folds and weights, which all SVMs compared on it share."""

    y: NDArray[np.intp]
    parts: NDArray[Any]
    weights: Array

    @classmethod
    def of(
        cls,
        y: NDArray[np.intp],
        rng: np.random.Generator,
        *,
        folds: int,
        replicates: int,
        groups: NDArray[np.intp] | None = None,
    ) -> "Perturbing":
        """Draw the folds, then the weights; groups are never parted."""
        plan = repeated_folds(y, folds, 1, rng, allow_small_classes=True, groups=groups)
        return cls(y, plan.parts[0], draw_weights(len(y), replicates, rng, groups))

    def error(self, X: Array, cost: float = 1.0) -> float:
        """Give the cross-validated error of a linear SVM."""
        none = self.weights[:0]
        return perturbed_losses(LinearSVM(C=cost), X, self.y, none, parts=self.parts).error

    def spread(self, X: Array, losses: str, cost: float = 1.0) -> Array:
        """Give W*/√n of each replicate, by the losses named."""
        parts = self.parts if losses == "cross_validated" else None
        perturbed = perturbed_losses(LinearSVM(C=cost), X, self.y, self.weights, parts=parts)
        return perturbed.spread


def percentile_ends(value: float, spread: Array) -> tuple[float, float]:
    """Give the interval of the paper, as it is printed: not cut off, not made to hold the value.

    Examples
    --------
    >>> low, high = percentile_ends(0.2, np.linspace(-0.1, 0.1, 1001))
    >>> round(low, 4), round(high, 4)
    (0.105, 0.295)
    """
    return deviation_percentile(value, spread, len(spread), LEVEL)


def written(ends: tuple[float, float], decimals: int = 3) -> str:
    """Write an interval.

    Examples
    --------
    >>> written((-0.111, 0.066))
    '[-0.111, 0.066]'
    """
    return f"[{ends[0]:.{decimals}f}, {ends[1]:.{decimals}f}]"
