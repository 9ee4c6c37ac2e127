"""Intervals from the losses of a cross-validation, from a nested one, and from one value per refit.

The corrected standard error, under the corrected t and the correlated posterior; the conservative Z
and the ρ-based variance.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from truerisk.aliases import Array, ArrayLike, Indices
from truerisk.checks import (
    check_choice,
    check_level,
    check_same_length,
    check_shares,
    check_whole_number,
)
from truerisk.errors import InputError
from truerisk.intervals.delta import delta_interval
from truerisk.intervals.distributions import normal_quantile
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # equal losses, or means of equal values, differ by rounding only


def deviation(values: Sequence[float] | Array) -> float:
    """Give the standard deviation in its n − 1 form, exactly 0 when all values are equal."""
    if all(value == values[0] for value in values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def corrected_standard_error(values: Sequence[float] | Array, test_train_ratio: float) -> float:
    """Give Nadeau and Bengio's standard error of the mean of J values: s√(1/J + n_test/n_train).

    Source: C. Nadeau and Y. Bengio, Machine Learning 52(3), 239-281, 2003.
    """
    return deviation(values) * math.sqrt(1 / len(values) + test_train_ratio)


@dataclass(frozen=True, kw_only=True)
class ConservativeZRuns:
    """The refits that the conservative Z needs: J of all examples, then J of each of 2M halves.

    All have `test` test examples; a run depends on `seed` and its number alone.
    """

    n: int
    test: int
    seed: int
    subsamples: int = 15
    divisions: int = 10
    strata: Indices | None = None

    def __post_init__(self) -> None:
        check_whole_number(self.n, "n", low=6)
        check_whole_number(self.test, "test", low=1, high=self.n // 2 - 2)
        check_whole_number(self.subsamples, "subsamples", low=1)
        check_whole_number(self.divisions, "divisions", low=1)
        check_whole_number(self.seed, "seed")
        if self.strata is not None and len(self.strata) != self.n:
            raise InputError(f"`strata` must have {self.n} examples; got {len(self.strata)}.")

    def __len__(self) -> int:
        return self.subsamples * (1 + 2 * self.divisions)

    @property
    def repetitions(self) -> int:
        """How often an example is judged, at most, by refits of all examples."""
        return self.subsamples

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to: its place among those of its part."""
        return at % self.subsamples

    def auxiliary(self, at: int) -> bool:
        """Tell the refits of halves, which serve the variance only."""
        return at >= self.subsamples

    def name(self, at: int) -> str:
        """Say which refit this is."""
        part, subsample = divmod(at, self.subsamples)
        if part == 0:
            return f"subsample {subsample + 1}"
        division, half = divmod(part - 1, 2)
        return f"subsample {subsample + 1} of half {half + 1} of division {division + 1}"

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those that it is tried on."""
        part = at // self.subsamples
        members = np.arange(self.n)
        if part > 0:
            division, half = divmod(part - 1, 2)
            mixed = self._mixed(members, np.random.default_rng([self.seed, 0, division]))
            members = mixed[half : self.n - self.n % 2 : 2]
        rng = np.random.default_rng([self.seed, 1, at])
        mixed = self._mixed(members, rng)
        # Every (size / test)-th example of the classes in turn, from a random start.
        start = rng.integers(mixed.size)
        steps = (np.arange(mixed.size + 1) * self.test + start) // mixed.size
        tested = np.diff(steps) > 0
        return np.sort(mixed[~tested]), np.sort(mixed[tested])

    def tested(self, at: int) -> Indices:
        """Give the examples that refit `at` is tried on."""
        return self.train_and_test(at)[1]

    def _mixed(self, members: Indices, rng: np.random.Generator) -> Indices:
        mixed: Indices = rng.permutation(members)
        if self.strata is None:
            return mixed
        by_class: Indices = mixed[np.argsort(self.strata[mixed], kind="stable")]
        return by_class

    def arrange(self, values: ArrayLike) -> tuple[Array, Array]:
        """Give the J values of all examples, and the M × 2 × J of the halves."""
        column = np.asarray(values, dtype=np.float64)
        if column.shape != (len(self),):
            raise InputError(f"`values` must be {len(self)}, one per refit; got {column.size}.")
        first, rest = column[: self.subsamples], column[self.subsamples :]
        return first, rest.reshape(self.divisions, 2, self.subsamples)


def conservative_z_interval(
    values: ArrayLike,
    halves: ArrayLike,
    *,
    level: float = 0.95,
    measure_range: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    """Give an interval for the learner's performance from subsampling all examples and halves.

    μ̂ ± zσ̂, σ̂² = Σ(μ̂₁ − μ̂₂)²/(2M): two halves share no example, so this is the variance with
    half the examples, as a rule more than with all.  None where the halves never differ.
    Source: C. Nadeau and Y. Bengio, Machine Learning 52(3), 239-281, 2003, section 4.2.
    """
    z = -float(ndtri((1 - check_level(level)) / 2))
    column, table = np.asarray(values, dtype=np.float64), np.asarray(halves, dtype=np.float64)
    means = table.reshape(table.shape[0], 2, -1).mean(axis=2)
    variance = float(np.mean((means[:, 0] - means[:, 1]) ** 2)) / 2
    if variance < NO_VARIANCE:
        return None
    mean, half = float(column.mean()), z * math.sqrt(variance)
    low, high = max(mean - half, measure_range[0]), min(mean + half, measure_range[1])
    return Interval(low, high, float(level), "conservative_z")


def rho_based_deviation(values: ArrayLike, *, test: int, train: int) -> float:
    """Give the standard deviation of the mean of J refits that are correlated by ρ = n_test/n.

    σ̂² = (1/J + ρ/(1 − ρ))S²; that ρ is the share of test examples is a guess of its authors.
    Source: C. Nadeau and Y. Bengio, Machine Learning 52(3), 239-281, 2003, section 3.
    """
    column = np.asarray(values, dtype=np.float64)
    return corrected_standard_error(column, test / train)


def within_folds(losses: Array, folds: Indices) -> float:
    """Give the variance of the losses about the mean of their own fold, folds weighted by size."""
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
    """Give the variance of the losses about the mean of all."""
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
) -> Interval | None:
    """Give an interval from the losses of one cross-validation: l̄ ± zσ̂/√n, on the logit scale.

    It is about the mean error of the k models of the folds, and covers it for many examples if
    leaving one out changes a loss by less than the order of 1/√n.  None where the losses have no
    variance.
    Source: P. Bayle, A. Bayle, L. Janson and L. Mackey, NeurIPS 33, 16339-16350, 2020.
    """
    check_choice(variance, VARIANCES, "variance")
    check_level(level)
    column, numbers = check_losses_of_folds(losses, folds)
    mean = float(column.mean())
    squared = VARIANCES[variance](column, numbers)
    if squared < NO_VARIANCE:
        return None
    error = math.sqrt(squared / column.size)
    return delta_interval(mean, error, level=level, method=f"cross_validation_clt_{variance}")


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

    `value` is the error after correction of its bias, `uncorrected` before.  `standard_error` is
    the root of the mean squared error, `inflation` its ratio to that of independent losses, 1 to
    √K.
    """

    value: float
    uncorrected: float
    cross_validated: float
    standard_error: float
    inflation: float
    interval: Interval | None


def nested_runs(folds: int) -> list[tuple[int, ...]]:
    """Give the folds that each refit of one repetition leaves out: each fold, and each pair."""
    numbers = range(check_whole_number(folds, "folds", low=3))
    return [*((k,) for k in numbers), *itertools.combinations(numbers, 2)]


def nested_cells(run: tuple[int, ...], folds: ArrayLike) -> tuple[Indices, Indices]:
    """Give the examples that a refit judges, and the row of the losses each belongs to.

    Row k is about fold k set aside: a loss of fold j is by the model without j and k.
    """
    of_example = np.asarray(folds)
    examples = np.flatnonzero(np.isin(of_example, run))
    other = sum(run) if len(run) == 2 else 2 * run[0]
    rows: Indices = (other - of_example[examples]).astype(np.intp)
    return rows, examples


def nested_interval(
    losses: ArrayLike, folds: ArrayLike, *, level: float = 0.95
) -> NestedCrossValidation:
    """Give the error, and an interval for it, from nested cross-validation: losses R × K × n.

    With ā the mean inner, b̄ and s² the mean and variance of the n_k outer losses, over folds and
    repetitions: MSE = (K − 1)/K · mean[(ā − b̄)² − s²/n_k], its root between se and √K·se, and the
    interval E' − (1 + (K − 2)/K)(E' − E) ± z√MSE.  The MSE is without bias; that the interval
    covers is shown by simulation only.  It needs many repetitions, and fails where there are few
    errors.
    Source: S. Bates, T. Hastie and R. Tibshirani, JASA 119(546), 1434-1445, 2024.
    """
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    table, of_example = np.asarray(losses, dtype=np.float64), np.atleast_2d(np.asarray(folds))
    table = table[np.newaxis] if table.ndim == 2 else table
    repetitions, size, n = table.shape
    aside = of_example[:, np.newaxis, :] == np.arange(size)[np.newaxis, :, np.newaxis]
    sizes = aside.sum(axis=2)
    if sizes.min() < 2:
        raise InputError(f"`folds` must have at least two examples each; got {int(sizes.min())}.")
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
