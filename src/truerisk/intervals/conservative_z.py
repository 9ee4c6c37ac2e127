"""The conservative Z of Nadeau and Bengio: the variance of subsampling, measured on halves.

Two halves of the examples share nothing, so the difference of what they say has an unbiased
variance.  It is that of a procedure with half the examples, as a rule more than that with all.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from truerisk.aliases import Array, Indices
from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # means of equal values differ by their rounding only


@dataclass(frozen=True, kw_only=True)
class ConservativeZRuns:
    """The refits that the conservative Z needs: J of all examples, then J of each of 2M halves.

    Run 0 to J − 1 train on all but `test` random examples.  Then for every division into halves
    come J runs within the first half and J within the second, with as many test examples, so that
    they train on n/2 − `test`.  With `strata` every part has its share of each class.  A run
    depends on `seed` and on its number alone.

    Examples
    --------
    >>> runs = ConservativeZRuns(n=100, test=10, subsamples=3, divisions=2, seed=1)
    >>> len(runs), runs.name(0), runs.name(10)
    (15, 'subsample 1', 'subsample 2 of half 1 of division 2')
    >>> [len(part) for part in runs.train_and_test(0)], [len(p) for p in runs.train_and_test(10)]
    ([90, 10], [40, 10])
    """

    n: int
    test: int
    seed: int
    subsamples: int = 15
    divisions: int = 10
    strata: NDArray[np.intp] | None = None

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
            raise InputError(f"`values` must be {len(self)}, one a refit; got {column.size}.")
        first, rest = column[: self.subsamples], column[self.subsamples :]
        return first, rest.reshape(self.divisions, 2, self.subsamples)


def conservative_z_interval(
    values: ArrayLike,
    halves: ArrayLike,
    *,
    level: float = 0.95,
    measure_range: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    r"""Give an interval for the learner's performance from subsampling all examples and halves.

    With :math:`\hat\mu` the mean of the `values` and :math:`\hat\mu_{m1}, \hat\mu_{m2}` those of
    the two halves of division m:

    .. math:: \hat\mu \pm z \hat\sigma, \qquad
              \hat\sigma^2 = \frac{1}{2M} \sum_{m=1}^{M} (\hat\mu_{m1} - \hat\mu_{m2})^2

    The variance is without bias for that of the same procedure with half the examples; where this
    exceeds the one with all, as it does as a rule, the interval covers more than it promises.  Cut
    where it would leave the range of the measure.

    Parameters
    ----------
    values
        The measure in J random subsamplings of all examples.
    halves
        M × 2 × J: the measure in J subsamplings of either half of M divisions.  M × 2 of their
        means will do.
    level
        Confidence level.
    measure_range
        Least and largest value the measure can take.

    Returns
    -------
    None where the halves never differ: there is then no variance.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003, section 4.2. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> print(conservative_z_interval([0.2, 0.3], [[0.2, 0.3], [0.3, 0.1]]))  # σ² = .05 / 4
    [0.031, 0.469] at 95 %
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
