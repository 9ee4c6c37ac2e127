"""Intervals from the losses of one k-fold cross-validation, and of a nested one."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array, Indices
from truerisk.checks import (
    check_choice,
    check_level,
    check_same_length,
    check_shares,
    check_whole_number,
    shown,
)
from truerisk.errors import InputError
from truerisk.intervals.delta import delta_interval, normal_interval
from truerisk.intervals.normal import normal_quantile
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # losses that are equal differ from their mean by its rounding only


def within_folds(losses: Array, folds: Indices) -> float:
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


def all_pairs(losses: Array, folds: Indices) -> float:  # noqa: ARG001  (one signature)
    r"""Give the variance of the losses about the mean of all.

    .. math:: \hat\sigma_{out}^2 = \frac{1}{n} \sum_{i=1}^{n} (l_i - \bar l)^2

    Examples
    --------
    >>> all_pairs(np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
    0.1875
    """
    return float(np.mean((losses - losses.mean()) ** 2))


VARIANCES: dict[str, Callable[[Array, Indices], float]] = {
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

    `losses` are out of fold, in [0, 1]. `variance` is a key of `VARIANCES`: about the mean of all,
    or of the own fold; both are consistent.

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
    return normal_interval(mean, error, level=level, method=method)


def check_losses_of_folds(losses: ArrayLike, folds: ArrayLike) -> tuple[Array, Indices]:
    """Return losses in [0, 1], and their folds numbered from 0, two at least."""
    column, names = np.asarray(losses, dtype=np.float64), np.asarray(folds)
    check_same_length(losses=column, folds=names)
    check_shares(column, "losses")
    distinct, numbers = np.unique(names, return_inverse=True)
    if distinct.size < 2:
        raise InputError(f"`folds` must be at least two; got {distinct.size}.")
    return column, numbers.ravel()


@dataclass(frozen=True, kw_only=True)
class NestedCrossValidation:
    """What nested cross-validation gives: how far cross-validation is from the error.

    For every fold k that is set aside, the other folds are cross-validated among themselves (the
    inner losses), and the model of all the others is tried on fold k (the outer losses).  The model
    without folds i and j serves both i set aside and j set aside: K(K + 1)/2 refits do for the K².

    `value` is the error after correction of its bias, `uncorrected` before, and `cross_validated`
    that of plain cross-validation.  `standard_error` is the root of the mean squared error, and
    `inflation` how many times it is the one that takes all losses to be independent, between 1 and
    √K.  `interval` is None where the losses have no variance.
    """

    value: float
    uncorrected: float
    cross_validated: float
    standard_error: float
    inflation: float
    interval: Interval | None


def nested_runs(folds: int) -> list[tuple[int, ...]]:
    """Give the folds that each refit of one repetition leaves out: each fold, and each pair.

    A refit trains on the examples outside of its folds and judges those within; `nested_cells` says
    where its losses belong.

    Examples
    --------
    >>> nested_runs(3)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    numbers = range(check_whole_number(folds, "folds", low=3))
    return [*((k,) for k in numbers), *itertools.combinations(numbers, 2)]


def nested_cells(run: tuple[int, ...], folds: ArrayLike) -> tuple[Indices, Indices]:
    """Give the examples that a refit judges, and the row of the losses each belongs to.

    Row k holds what is known when fold k is set aside: for the examples of fold k the loss by the
    model without fold k; for those of another fold j the loss by the model without j and k.

    Examples
    --------
    >>> rows, examples = nested_cells((0, 2), [0, 1, 2, 0])
    >>> print(rows, examples)
    [2 0 2] [0 2 3]
    """
    of_example = np.asarray(folds)
    examples = np.flatnonzero(np.isin(of_example, run))
    other = sum(run) if len(run) == 2 else 2 * run[0]
    rows: Indices = (other - of_example[examples]).astype(np.intp)
    return rows, examples


def nested_interval(
    losses: ArrayLike, folds: ArrayLike, *, level: float = 0.95
) -> NestedCrossValidation:
    r"""Give the error, and an interval for it, from nested cross-validation.

    With :math:`\bar a_k` the mean inner and :math:`\bar b_k, s_k^2` the mean and variance of the
    :math:`n_k` outer losses when fold k is set aside, averaged over all K folds and R repetitions:

    .. math:: MSE = \frac{K - 1}{K}\, \mathrm{mean}\bigl[(\bar a_k - \bar b_k)^2 - s_k^2 / n_k\bigr]

    Its root is kept between se and :math:`\sqrt K` se, with se the standard error that takes the
    outer losses to be independent.  The inner models have seen (K − 2)/K of the examples; their
    mean loss E′ is corrected by what the step from there to (K − 1)/K changed, E being the mean
    outer loss:

    .. math:: E' - \Bigl(1 + \frac{K - 2}{K}\Bigr)(E' - E)\; \pm\; z \sqrt{MSE}

    cut at 0 and 1.  The MSE is without bias for that of cross-validation on (K − 1)/K of the
    examples; that the interval covers is shown by simulation only.  It needs many repetitions (the
    source takes 200) to be stable, and fails where there are few errors.

    `losses` is R × K × n in [0, 1] (or K × n): entry [r, k, i] is the loss of example i, of fold j,
    in repetition r, by the model trained without the folds j and k; if j is k, without k alone
    (`nested_runs` lists the refits, `nested_cells` says where their losses go). `folds` is R × n
    (or n), 0 to K − 1, with two examples or more in each.

    References
    ----------
    .. [1] S. Bates, T. Hastie and R. Tibshirani, "Cross-validation: what does it estimate and how
       well does it do it?", Journal of the American Statistical Association 119(546), 1434-1445,
       2024. https://doi.org/10.1080/01621459.2023.2197686

    Examples
    --------
    >>> folds = np.arange(60) % 3
    >>> losses = np.tile(np.arange(60) % 5 == 0, (3, 1))  # no model changes any verdict
    >>> result = nested_interval(losses, folds)
    >>> round(result.value, 3), result.inflation
    (0.2, 1.0)
    >>> print(result.interval)  # .2 ± 1.96 √(.16 / 59)
    [0.098, 0.302] at 95 %
    """
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    table, of_example = _check_nested(losses, folds)
    repetitions, size, n = table.shape
    aside = of_example[:, np.newaxis, :] == np.arange(size)[np.newaxis, :, np.newaxis]
    sizes = aside.sum(axis=2)
    outer = np.where(aside, table, 0.0).sum(axis=2) / sizes
    inner = np.where(aside, 0.0, table).sum(axis=2) / (n - sizes)
    squares = np.where(aside, (table - outer[:, :, np.newaxis]) ** 2, 0.0).sum(axis=2)
    mse = float(np.mean((inner - outer) ** 2 - squares / (sizes - 1) / sizes)) * (size - 1) / size
    plain = table[aside].reshape(repetitions, -1)
    naive = math.sqrt(float(np.mean(plain.var(axis=1, ddof=1))) / n)
    error = min(max(math.sqrt(max(mse, 0.0)), naive), math.sqrt(size) * naive)
    uncorrected, cross_validated = float(table[~aside].mean()), float(plain.mean())
    bias = (1 + (size - 2) / size) * (uncorrected - cross_validated)
    value = min(max(uncorrected - bias, 0.0), 1.0)
    interval = None
    if np.ptp(plain) > 0:
        low, high = max(value - z * error, 0.0), min(value + z * error, 1.0)
        interval = Interval(low, high, float(level), "nested_cross_validation")
    return NestedCrossValidation(
        value=value,
        uncorrected=uncorrected,
        cross_validated=cross_validated,
        standard_error=error,
        inflation=error / naive if naive > 0 else math.nan,
        interval=interval,
    )


def _check_nested(losses: ArrayLike, folds: ArrayLike) -> tuple[Array, Indices]:
    table = np.asarray(losses, dtype=np.float64)
    table = table[np.newaxis] if table.ndim == 2 else table
    numbers = np.atleast_2d(np.asarray(folds))
    if table.ndim != 3 or table.size == 0 or numbers.shape != (table.shape[0], table.shape[2]):
        raise InputError(
            "`losses` must be repetitions × folds × examples, and `folds` repetitions × examples; "
            f"got {_shape(losses)} and {_shape(folds)}."
        )
    check_shares(table, "losses")
    size = table.shape[1]
    if size < 3:
        raise InputError(f"`folds` must be at least three; got {size}.")
    counts = (numbers[:, np.newaxis, :] == np.arange(size)[:, np.newaxis]).sum(axis=2)
    if counts.sum() != numbers.size:
        raise InputError(f"`folds` must lie in [0, {size - 1}]; got {shown(numbers.max().item())}.")
    if counts.min() < 2:
        raise InputError(f"`folds` must have at least two examples each; got {int(counts.min())}.")
    return table, numbers.astype(np.intp)


def _shape(array: ArrayLike) -> str:
    return " × ".join(map(str, np.shape(array)))
