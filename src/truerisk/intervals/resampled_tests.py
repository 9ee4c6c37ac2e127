"""How far the mean of one value per refit may be off: the variances of Nadeau and Bengio.

The corrected standard error, under the corrected t and the correlated posterior; the conservative Z
and the ρ-based variance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from truerisk.aliases import Array, Indices
from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # means of equal values differ by their rounding only


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
    if table.ndim not in {2, 3} or table.shape[1] != 2 or column.ndim != 1 or column.size == 0:
        raise InputError(
            f"`halves` must be divisions × 2 × subsamples; got {' × '.join(map(str, table.shape))}."
        )
    if not (np.isfinite(column).all() and np.isfinite(table).all()):
        raise InputError("`values` and `halves` must all be defined; got NaN or an infinity.")
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
    if column.ndim != 1 or column.size < 2 or not np.isfinite(column).all():
        raise InputError(f"`values` must be at least two finite numbers; got {column.size}.")
    ratio = check_whole_number(test, "test", low=1) / check_whole_number(train, "train", low=1)
    return corrected_standard_error(column, ratio)
