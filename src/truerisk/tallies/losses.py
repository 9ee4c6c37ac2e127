"""Log loss and Brier score: of each example, and summed exactly in any order.

The only formulas of the two losses: values and the widths of their intervals both come from here.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_same_length
from truerisk.errors import InputError
from truerisk.tallies.exact_sum import ExactSum
from truerisk.tallies.ranking import as_weights

LossName = Literal["log_loss", "brier_score"]

SUM_SLACK = 1e-6
SUM_SLACK_NARROW = 1e-3  # float32 probabilities are rounded one by one


class Loss(Protocol):
    """The loss of each example."""

    def __call__(
        self, probabilities: Array, truth: NDArray[Any], complement: Array | None = None
    ) -> Array:
        """Give one number per example."""


def log_losses(probabilities: Array, truth: NDArray[Any], complement: Array | None = None) -> Array:
    r"""Log loss of each example: minus the logarithm of the probability of its own class.

    .. math:: -\ln p_{i, y_i}

    Infinite where the true class was given the probability 0; nothing is clipped.

    Parameters
    ----------
    probabilities
        (n,): of the positive class; or (n, K): of each class.
    truth
        (n,): whether the example is positive; or the code 0 … K − 1 of its class.
    complement
        (n,): the probability of the other of two classes, where it is given for itself.  1 − p
        loses a probability under 10⁻¹⁶: with both, the loss does not depend on which of two
        labels is the positive one.

    Examples
    --------
    >>> log_losses(np.array([0.5, 1.0]), np.array([True, False]), np.array([0.5, 1e-20])).round(2)
    array([ 0.69, 46.05])
    """
    with np.errstate(divide="ignore"):
        losses: Array = -np.log(_of_truth(probabilities, truth, complement))
    # The logarithm of 1 is 0, its negative −0.
    return losses + 0.0


def brier_scores(
    probabilities: Array, truth: NDArray[Any], complement: Array | None = None
) -> Array:
    r"""Brier score of each example: two classes by one probability, several by all of theirs.

    .. math:: (p_i - y_i)^2 \quad\text{or}\quad \sum_k (p_{ik} - y_{ik})^2

    Parameters are those of `log_losses`.

    Examples
    --------
    >>> brier_scores(np.array([0.5, 1.0]), np.array([True, False])).tolist()
    [0.25, 1.0]
    >>> brier_scores(np.array([[0.5, 0.5, 0.0]]), np.array([0])).tolist()
    [0.5]
    """
    del complement  # the square of 1 − p loses nothing that a mean would show
    if probabilities.ndim == 1:
        return np.asarray((probabilities - truth) ** 2)
    own = _of_truth(probabilities, truth, None)
    return np.asarray((probabilities**2).sum(axis=1) - own**2 + (own - 1) ** 2)


LOSSES: Mapping[str, Loss] = MappingProxyType({"log_loss": log_losses, "brier_score": brier_scores})


def _of_truth(probabilities: Array, truth: NDArray[Any], complement: Array | None) -> Array:
    """Give the probability of what is true."""
    if probabilities.ndim == 1:
        other = 1 - probabilities if complement is None else complement
        return np.where(truth, probabilities, other)
    return np.asarray(probabilities[np.arange(len(truth)), truth.astype(np.intp)])


@dataclass
class LossSums:
    """Exact weighted sums of one loss and of its square."""

    first: ExactSum = field(default_factory=ExactSum)  # Σ w·loss
    crossed: ExactSum = field(default_factory=ExactSum)  # Σ w²·loss
    second: ExactSum = field(default_factory=ExactSum)  # Σ w²·loss²

    def add(self, losses: NDArray[np.float64], weight: NDArray[np.float64]) -> None:
        """Add the losses of one batch."""
        self.first.add(weight * losses)
        self.crossed.add(weight**2 * losses)
        self.second.add((weight * losses) ** 2)

    def merge(self, other: "LossSums") -> None:
        """Add another batch's sums."""
        self.first.merge(other.first)
        self.crossed.merge(other.crossed)
        self.second.merge(other.second)


@dataclass
class ProbabilityTally:
    r"""Log loss and Brier score over any number of batches; tallies of parts merge exactly.

    `impossible` counts the examples whose true class was given the probability 0: their log loss is
    infinite, and nothing is clipped.  The standard error of a mean loss is

    .. math:: \frac{1}{\sum w_i}
       \sqrt{\frac{n}{n - 1} \sum_i w_i^2 (\ell_i - \bar\ell)^2}

    which for equal weights is the standard deviation over :math:`\sqrt n`.

    Examples
    --------
    >>> tally = ProbabilityTally().add([0.8, 0.5], [True, False])
    >>> round(tally.brier_score, 3), round(tally.log_loss, 3)
    (0.145, 0.458)
    """

    rows: int = 0
    impossible: int = 0
    weights: ExactSum = field(default_factory=ExactSum)
    square_weights: ExactSum = field(default_factory=ExactSum)
    logarithmic: LossSums = field(default_factory=LossSums)
    brier: LossSums = field(default_factory=LossSums)

    def add(
        self,
        probabilities: ArrayLike,
        truth: ArrayLike,
        weight: ArrayLike | None = None,
        complement: Array | None = None,
    ) -> "ProbabilityTally":
        """Take in one batch; return the tally itself.

        Parameters
        ----------
        probabilities
            (n,): of the positive class; or (n, K): of each class, adding up to 1.
        truth
            (n,): whether the example is positive; or the code 0 … K − 1 of its class.
        weight
            Non-negative weights.
        complement
            (n,): of the other of two classes, where it is given for itself.
        """
        table, labels = np.asarray(probabilities), np.asarray(truth)
        if len(labels) == 0 and len(table) == 0:
            return self
        check_same_length(probabilities=table, truth=labels)
        check_probabilities(table)
        _check_truth(table, labels)
        wide = table.astype(np.float64)
        weights = np.ones(len(labels)) if weight is None else as_weights(weight, len(labels))
        logarithmic, brier = log_losses(wide, labels, complement), brier_scores(wide, labels)
        # A row of no weight says nothing, not even that the impossible has happened.
        lost = np.isinf(logarithmic) & (weights > 0)
        logarithmic = np.where(np.isinf(logarithmic), 0.0, logarithmic)
        self.rows += int(np.count_nonzero(weights))
        self.impossible += int(np.count_nonzero(lost))
        self.weights.add(weights)
        self.square_weights.add(weights**2)
        self.logarithmic.add(logarithmic, weights)
        self.brier.add(brier, weights)
        return self

    def merge(self, other: "ProbabilityTally") -> "ProbabilityTally":
        """Take in what another tally has seen; return the tally itself."""
        self.rows += other.rows
        self.impossible += other.impossible
        self.weights.merge(other.weights)
        self.square_weights.merge(other.square_weights)
        self.logarithmic.merge(other.logarithmic)
        self.brier.merge(other.brier)
        return self

    @property
    def log_loss(self) -> float:
        """Mean log loss; infinite when the impossible has happened; NaN with no example."""
        if self.impossible:
            return math.inf
        return self._mean(self.logarithmic)

    @property
    def brier_score(self) -> float:
        """Mean Brier score; NaN with no example."""
        return self._mean(self.brier)

    def standard_error(self, loss: LossName) -> float:
        """Give the standard error of a mean loss; NaN where it has none."""
        sums = {"log_loss": self.logarithmic, "brier_score": self.brier}[loss]
        if self.rows < 2 or (loss == "log_loss" and self.impossible):
            return math.nan
        mean, total = self._mean(sums), self.weights.value
        spread = (
            sums.second.value - 2 * mean * sums.crossed.value + mean**2 * self.square_weights.value
        )
        return math.sqrt(max(spread, 0.0) * self.rows / (self.rows - 1)) / total

    def _mean(self, sums: LossSums) -> float:
        total = self.weights.value
        return sums.first.value / total if total > 0 else math.nan


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
