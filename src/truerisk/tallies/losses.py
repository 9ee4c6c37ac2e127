"""Log loss and Brier score: of each example, and summed exactly in any order.

The only formulas of the two losses: values and the widths of their intervals both come from here.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_same_length
from truerisk.errors import InputError
from truerisk.tallies.exact_sum import WeightedSums
from truerisk.tallies.ranking import as_weights

SUM_SLACK = 1e-6
SUM_SLACK_NARROW = 1e-3  # float32 probabilities are rounded one by one
POWERS = (1, 2, 3)  # of the losses that the probabilities expect


class Loss(Protocol):
    """The loss of each example."""

    def __call__(
        self, probabilities: Array, truth: NDArray[Any], complement: Array | None = None
    ) -> Array:
        """Give one number per example."""


def log_losses(probabilities: Array, truth: NDArray[Any], complement: Array | None = None) -> Array:
    """Log loss of each example: −ln of the probability of its own class; ∞ for 0, nothing clipped.

    `probabilities` is (n,) of the positive class or (n, K).  `complement` is the probability of the
    other of two classes, since 1 − p loses what is under 10⁻¹⁶.
    """
    with np.errstate(divide="ignore"):
        losses: Array = -np.log(_of_truth(probabilities, truth, complement))
    # The logarithm of 1 is 0, its negative −0.
    return losses + 0.0


def brier_scores(
    probabilities: Array, truth: NDArray[Any], complement: Array | None = None
) -> Array:
    """Brier score of each example: (p − y)², or of several classes Σₖ (pₖ − yₖ)²."""
    del complement  # the square of 1 − p loses nothing that a mean would show
    if probabilities.ndim == 1:
        return np.asarray((probabilities - truth) ** 2)
    own = _of_truth(probabilities, truth, None)
    return np.asarray((probabilities**2).sum(axis=1) - own**2 + (own - 1) ** 2)


def loss_of_each_class(name: str, probabilities: Array, complement: Array | None) -> Array:
    """Give the loss that each example would have, were each class the true one: (n, K)."""
    if probabilities.ndim == 1:
        sides = np.ones(len(probabilities), dtype=bool), np.zeros(len(probabilities), dtype=bool)
        return np.array([LOSSES[name](probabilities, one, complement) for one in sides]).T
    if name == "log_loss":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(probabilities))
    return np.asarray((probabilities**2).sum(axis=1, keepdims=True) + 1 - 2 * probabilities)


LOSSES: Mapping[str, Loss] = MappingProxyType({"log_loss": log_losses, "brier_score": brier_scores})


def _of_truth(probabilities: Array, truth: NDArray[Any], complement: Array | None) -> Array:
    """Give the probability of what is true."""
    if probabilities.ndim == 1:
        other = 1 - probabilities if complement is None else complement
        return np.where(truth, probabilities, other)
    return np.asarray(probabilities[np.arange(len(truth)), truth.astype(np.intp)])


@dataclass(frozen=True)
class LossMoments:
    """What an interval of a mean loss needs.

    `variance` is the squared standard error of the mean.  `implied` are the mean loss, squared loss
    and cubed loss that the probabilities themselves expect.  `largest` is the most that one example
    adds to the mean; `n` counts the examples of equal weight.
    """

    mean: float
    variance: float
    implied: tuple[float, float, float]
    largest: float
    n: float


@dataclass
class ProbabilityTally:
    """Every loss of `LOSSES` over any number of batches; tallies of parts merge exactly.

    `infinite` counts, for each loss, the examples that have an infinite one.
    """

    rows: int = 0
    sums: WeightedSums = field(default_factory=WeightedSums)
    infinite: Counter[str] = field(default_factory=Counter)
    largest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LOSSES, 0.0))

    def add(
        self,
        probabilities: ArrayLike,
        truth: ArrayLike,
        weight: ArrayLike | None = None,
        complement: Array | None = None,
    ) -> "ProbabilityTally":
        """Take in one batch; return the tally itself.

        `probabilities`, `truth` and `complement` are those of `log_losses`; the probabilities of
        several classes add up to 1.
        """
        table, labels = np.asarray(probabilities), np.asarray(truth)
        if len(labels) == 0 and len(table) == 0:
            return self
        check_same_length(probabilities=table, truth=labels)
        check_probabilities(table)
        _check_truth(table, labels)
        wide = table.astype(np.float64)
        weights = None if weight is None else as_weights(weight, len(labels))
        counts = np.ones(len(labels), bool) if weights is None else weights > 0
        self.rows += int(np.count_nonzero(counts))
        self.sums.add_weights(len(labels), weights)
        for name, loss in LOSSES.items():
            losses = loss(wide, labels, complement)
            finite = np.isfinite(losses)
            # A row of no weight says nothing, not even that the impossible has happened.
            self.infinite[name] += int(np.count_nonzero(~finite & counts))
            losses = np.where(finite, losses, 0.0)
            self.sums.add_values(name, losses, weights)
            weighted = losses if weights is None else losses * weights
            self.largest[name] = max(self.largest[name], float(weighted.max()))
            self._add_implied(name, wide, weights, complement)
        return self

    def _add_implied(
        self, name: str, probabilities: Array, weights: Array | None, complement: Array | None
    ) -> None:
        """Add what the probabilities themselves expect of the loss and of its powers."""
        shares = probabilities
        if probabilities.ndim == 1:
            other = 1 - probabilities if complement is None else complement
            shares = np.array([probabilities, other]).T  # its columns are added, not its rows
        losses = loss_of_each_class(name, probabilities, complement)
        losses = np.where(shares > 0, losses, 0.0)
        powered = shares if weights is None else shares * weights[:, None]
        for power in POWERS:
            powered = powered * losses
            self.sums.add((name, power), powered.sum(axis=1))

    def merge(self, other: "ProbabilityTally") -> "ProbabilityTally":
        """Take in what another tally has seen; return the tally itself."""
        self.rows += other.rows
        self.sums.update(other.sums)
        self.infinite.update(other.infinite)
        self.largest = {name: max(one, other.largest[name]) for name, one in self.largest.items()}
        return self

    def mean(self, loss: str) -> float:
        """Give a mean loss; infinite where one example's is; NaN with no example."""
        if self.infinite[loss]:
            return math.inf
        total = self.sums.value("weights")
        return self.sums.value((loss, "first")) / total if total > 0 else math.nan

    def standard_error(self, loss: str) -> float:
        """Give the standard error of a mean loss; NaN where it has none."""
        mean = self.mean(loss)
        if not math.isfinite(mean):
            return math.nan
        return self.sums.standard_error(loss, mean, self.rows)

    def moments(self, loss: str) -> LossMoments:
        """Give what the interval of a mean loss needs."""
        total = self.sums.value("weights")
        first, second, third = (self.sums.value((loss, power)) / total for power in POWERS)
        return LossMoments(
            mean=self.mean(loss),
            variance=self.standard_error(loss) ** 2,
            implied=(first, second, third),
            largest=self.largest[loss] / total,
            n=total**2 / self.sums.value("square_weights"),
        )


def check_probabilities(table: NDArray[Any]) -> None:
    """Refuse what cannot be probabilities: (n,), of one class of two; or (n, K), adding up to 1."""
    if table.ndim > 2 or table.dtype.kind not in "fiub":
        raise InputError(
            f"`probabilities` must be numbers of shape (n,) or (n, K); "
            f"got {table.dtype} of shape {table.shape}."
        )
    outside = ~((table >= 0) & (table <= 1))  # NaN is outside too
    if outside.any():
        low, high = table.min(), table.max()
        raise InputError(
            f"`probabilities` must lie in [0, 1]; {np.count_nonzero(outside)} of {table.size} do "
            f"not, and their range is [{low:g}, {high:g}]. Scores of another kind rank examples, "
            "but have no log loss or Brier score."
        )
    if table.ndim == 1:
        return
    narrow = table.dtype.kind == "f" and table.dtype.itemsize <= 4
    slack = SUM_SLACK_NARROW if narrow else SUM_SLACK
    sums = table.astype(np.float64).sum(axis=1)
    off = np.abs(sums - 1) > slack
    if off.any():
        raise InputError(
            f"`probabilities` must add up to 1 for each example, to within {slack:g}; "
            f"{np.count_nonzero(off)} do not, the first adds up to {sums[off][0]:g}. "
            "They are never rescaled silently."
        )


def _check_truth(table: NDArray[Any], truth: NDArray[Any]) -> None:
    if table.ndim == 1:
        if truth.dtype != np.bool_:
            raise InputError(
                "`truth` must be booleans when there is one probability per example; "
                f"got {truth.dtype}."
            )
        return
    n_classes = table.shape[1]
    if truth.dtype.kind not in "iub" or truth.min() < 0 or truth.max() >= n_classes:
        raise InputError(f"`truth` must hold class codes from 0 to {n_classes - 1}.")
