"""The central limit theorem of one cross-validation: its mean loss, and what that is a mean of."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_level, check_same_length, shown
from truerisk.errors import InputError
from truerisk.intervals.delta import delta_interval, wald_interval
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # losses that are equal differ from their mean by its rounding only


def within_folds(losses: Array, folds: NDArray[np.intp]) -> float:
    r"""Give the variance of the losses about the mean of their own fold.

    .. math:: \hat\sigma_{in}^2 = \sum_{j=1}^{k} \frac{n_j}{n} \frac{1}{n_j - 1}
              \sum_{i \in B_j} (l_i - \bar l_j)^2

    For folds of one size this is the mean over the folds that the source has.  Every fold needs two
    examples.

    Examples
    --------
    >>> within_folds(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))  # (1/2 + 0) / 2
    0.25
    """
    sizes = np.bincount(folds)
    if sizes.min() < 2:
        raise InputError(
            f"`folds` must have two examples each; got one of {int(sizes.min())}. "
            "Take all_pairs for leave-one-out."
        )
    means = np.bincount(folds, losses) / sizes
    squares = np.bincount(folds, (losses - means[folds]) ** 2)
    return float(np.sum(sizes / (sizes - 1) * squares)) / losses.size


def all_pairs(losses: Array, folds: NDArray[np.intp]) -> float:  # noqa: ARG001  (one signature)
    r"""Give the variance of the losses about the mean of all.

    .. math:: \hat\sigma_{out}^2 = \frac{1}{n} \sum_{i=1}^{n} (l_i - \bar l)^2

    Examples
    --------
    >>> all_pairs(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    0.1875
    """
    return float(np.mean((losses - losses.mean()) ** 2))


VARIANCES: dict[str, Callable[[Array, NDArray[np.intp]], float]] = {
    "all_pairs": all_pairs,
    "within_folds": within_folds,
}


def cross_validation_clt(
    losses: ArrayLike,
    folds: ArrayLike,
    *,
    level: float = 0.95,
    variance: str = "all_pairs",
    scale: Literal["logit", "identity"] = "logit",
) -> Interval | None:
    r"""Give an interval from the losses of one k-fold cross-validation.

    .. math:: \bar l \pm z\, \hat\sigma / \sqrt{n}

    on the logit scale, or as it stands and cut at 0 and 1.  It speaks of the mean error of the k
    models of the folds.  For many examples it covers that as often as it promises if the learner is
    stable: if leaving out one example changes a loss by less than the order of
    :math:`1/\sqrt n`.  Of the model trained on all examples, or of the learner, it says too much.

    Parameters
    ----------
    losses
        Out-of-fold loss of each example, in [0, 1].
    folds
        The fold of each example.
    level
        Confidence level.
    variance
        A key of `VARIANCES`: about the mean of all, or of the own fold.  Both are consistent.
    scale
        Scale on which the interval is symmetric.

    Returns
    -------
    None where the losses have no variance: the theorem then says nothing.

    References
    ----------
    .. [1] P. Bayle, A. Bayle, L. Janson and L. Mackey, "Cross-validation confidence intervals for
       test error", Advances in Neural Information Processing Systems 33, 16339-16350, 2020.

    Examples
    --------
    >>> losses, folds = np.arange(100) % 5 == 0, np.arange(100) // 10
    >>> print(cross_validation_clt(losses, folds))
    [0.133, 0.290] at 95 %
    >>> print(cross_validation_clt(losses, folds, scale="identity"))  # .2 ± 1.96 · .4 / 10
    [0.122, 0.278] at 95 %
    """
    check_choice(variance, VARIANCES, "variance")
    check_choice(scale, ("logit", "identity"), "scale")
    check_level(level)
    column, numbers = check_losses_of_folds(losses, folds)
    mean = float(column.mean())
    squared = VARIANCES[variance](column, numbers)
    if squared < NO_VARIANCE:
        return None
    error = math.sqrt(squared / column.size)
    method = f"cross_validation_clt_{variance}"
    if scale == "logit":
        return delta_interval(mean, error, level=level, method=method)
    plain = wald_interval(mean, error, level=level)
    return Interval(max(plain.low, 0.0), min(plain.high, 1.0), float(level), method)


def check_losses_of_folds(losses: ArrayLike, folds: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
    """Return losses in [0, 1], and their folds numbered from 0, two at least."""
    column, names = np.asarray(losses, dtype=np.float64), np.asarray(folds)
    check_same_length(losses=column, folds=names)
    wrong = ~((column >= 0) & (column <= 1))
    if wrong.any():
        raise InputError(f"`losses` must lie in [0, 1]; got {shown(column[wrong][0].item())}.")
    found, numbers = np.unique(names, return_inverse=True)
    if found.size < 2:
        raise InputError(f"`folds` must be at least two; got {found.size}.")
    return column, numbers.ravel()
