"""Tests and intervals from one value per refit, of one learner or of the difference of two.

Corrected t, 5×2cv, the Bayesian correlated t; the conservative Z and the ρ-based variance of Nadeau
and Bengio.  Zero variance leaves the tests undefined: NaN, never an infinity.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, ndtri, stdtr, stdtrit

from truerisk.aliases import Array, Indices
from truerisk.checks import check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.results import Interval

NO_VARIANCE = 1e-24  # means of equal values differ by their rounding only


@dataclass(frozen=True, kw_only=True)
class ResampledTest:
    """A test of two learners' being alike; `statistic` and `p_value` are NaN where undefined.

    `degrees` are those of Student's t, or the two of F.  `difference` is the mean difference.
    """

    statistic: float
    degrees: tuple[int, ...]
    p_value: float
    difference: float
    method: str

    @property
    def is_defined(self) -> bool:
        """Whether the differences vary at all."""
        return not math.isnan(self.statistic)


@dataclass(frozen=True, kw_only=True)
class CorrelatedPosterior:
    """Student's posterior of the mean difference: its centre, squared scale and degrees.

    The probabilities that the difference is below, within and above the region of practical
    equivalence are NaN where the differences do not vary.
    """

    mean: float
    variance: float
    degrees: int
    below: float
    within: float
    above: float

    def interval(self, level: float = 0.95) -> Interval | None:
        """Give the central interval of the posterior; None where there is no variance."""
        tail = (1 - check_level(level)) / 2
        if self.variance == 0:
            return None
        half = -float(stdtrit(self.degrees, tail)) * math.sqrt(self.variance)
        return Interval(self.mean - half, self.mean + half, float(level), "correlated_t_posterior")


def deviation(values: Sequence[float] | Array) -> float:
    """Give the standard deviation in its n − 1 form, exactly 0 when all values are equal.

    Examples
    --------
    >>> deviation([0.1, 0.1, 0.1]), round(deviation([0.0, 0.2]), 6)
    (0.0, 0.141421)
    """
    if all(value == values[0] for value in values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def corrected_standard_error(values: Sequence[float] | Array, test_train_ratio: float) -> float:
    r"""Give Nadeau and Bengio's standard error of the mean of J replicates.

    .. math:: s \sqrt{\frac{1}{J} + \frac{n_{test}}{n_{train}}}

    The second term stands for the correlation between replicates whose training sets overlap;
    it does not go away with more repetitions.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> round(corrected_standard_error([0.0, 0.2], 1.0), 6)  # s = .1 √2, times √(1/2 + 1)
    0.173205
    """
    return deviation(values) * math.sqrt(1 / len(values) + test_train_ratio)


def corrected_resampled_t(differences: ArrayLike, test_train_ratio: float) -> ResampledTest:
    r"""Test by Student's t of J − 1 degrees, with the corrected standard error.

    .. math:: t = \frac{\bar d}{s \sqrt{1/J + n_{test}/n_{train}}}

    An approximation: exact if the differences were normal with equal correlation
    :math:`n_{test} / (n_{test} + n_{train})`.

    `differences` is the value of the first learner less that of the second, in each of J refits;
    `test_train_ratio` is 1/(K − 1) for K folds, repeated or not.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366
    .. [2] R. R. Bouckaert and E. Frank, "Evaluating the replicability of significance tests for
       comparing learning algorithms", PAKDD 2004, 3-12.

    Examples
    --------
    >>> test = corrected_resampled_t([0.03, -0.01, 0.04, 0.02], 1 / 3)
    >>> round(test.statistic, 3), round(test.p_value, 3)
    (1.212, 0.312)
    """
    column = _check_differences(differences)
    check_number(test_train_ratio, "test_train_ratio", low=np.finfo(float).tiny)
    mean = math.fsum(column) / column.size
    error = corrected_standard_error(column, test_train_ratio)
    return _student(mean, error, column.size - 1, mean, "corrected_resampled_t")


def five_by_two_t(differences: ArrayLike) -> ResampledTest:
    r"""Test by five repetitions of twofold cross-validation and Student's t of 5 degrees.

    .. math:: t = \frac{d_{11}}{\sqrt{\frac{1}{5} \sum_{i=1}^{5} s_i^2}}, \qquad
              s_i^2 = (d_{i1} - \bar d_i)^2 + (d_{i2} - \bar d_i)^2

    Rejects learners that are alike about as seldom as it promises (measured by its author), at a
    loss of power: the numerator is one difference of ten.

    `differences` is 5 × 2: the value of the first learner less that of the second, in either fold.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised classification
       learning algorithms", Neural Computation 10(7), 1895-1923, 1998.
       https://doi.org/10.1162/089976698300017197

    Examples
    --------
    >>> pairs = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]
    >>> round(five_by_two_t(pairs).statistic, 4)  # .02 / √(.0014 / 5)
    1.1952
    """
    table = _check_five_by_two(differences)
    error = math.sqrt(_sum_of_variances(table) / 5)
    return _student(float(table[0, 0]), error, 5, float(table.mean()), "five_by_two_t")


def five_by_two_f(differences: ArrayLike) -> ResampledTest:
    r"""Test by five repetitions of twofold cross-validation and F of 10 and 5 degrees.

    .. math:: f = \frac{\sum_{i=1}^{5} \sum_{j=1}^{2} d_{ij}^2}{2 \sum_{i=1}^{5} s_i^2}

    Uses all ten differences, and so does not hang on which comes first.

    References
    ----------
    .. [1] E. Alpaydın, "Combined 5 × 2 cv F test for comparing supervised classification learning
       algorithms", Neural Computation 11(8), 1885-1892, 1999.
       https://doi.org/10.1162/089976699300016007

    Examples
    --------
    >>> pairs = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]
    >>> round(five_by_two_f(pairs).statistic, 4)  # .0088 / .0028
    3.1429
    """
    table = _check_five_by_two(differences)
    variances = _sum_of_variances(table)
    statistic = float((table**2).sum()) / (2 * variances) if variances > 0 else math.nan
    return ResampledTest(
        statistic=statistic,
        degrees=(10, 5),
        p_value=float(fdtrc(10, 5, statistic)),
        difference=float(table.mean()),
        method="five_by_two_f",
    )


def correlated_t_posterior(
    differences: ArrayLike, *, test_share: float, rope: float = 0.0
) -> CorrelatedPosterior:
    r"""Give what is believed of the mean difference after J refits of overlapping training sets.

    .. math:: \delta \sim t_{J-1}\Bigl(\bar d,\; s^2 \bigl(\tfrac1J + \tfrac{\rho}{1 - \rho}\bigr)
              \Bigr), \qquad \rho = \frac{n_{test}}{n_{train} + n_{test}}

    The posterior under the prior that says nothing, if the differences are normal with equal
    correlation ρ.  Its central interval is the one of the corrected t.

    `test_share` is ρ: 1/K for K folds, repeated or not. Differences of at most `rope` are taken to
    be none.

    References
    ----------
    .. [1] G. Corani and A. Benavoli, "A Bayesian approach for comparing cross-validated algorithms
       on multiple data sets", Machine Learning 100, 285-304, 2015.
       https://doi.org/10.1007/s10994-015-5486-z
    .. [2] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", JMLR 18(77), 1-36, 2017.

    Examples
    --------
    >>> posterior = correlated_t_posterior([0.03, -0.01, 0.04, 0.02], test_share=1 / 4, rope=0.01)
    >>> round(posterior.below, 3), round(posterior.within, 3), round(posterior.above, 3)
    (0.083, 0.21, 0.706)
    """
    column = _check_differences(differences)
    check_number(test_share, "test_share", low=np.finfo(float).tiny, high=1 - 1e-9)
    check_number(rope, "rope", low=0.0)
    mean = math.fsum(column) / column.size
    scale = corrected_standard_error(column, test_share / (1 - test_share))
    below = within = above = math.nan
    if scale > 0:
        degrees = column.size - 1
        below = float(stdtr(degrees, (-rope - mean) / scale))
        above = float(stdtr(degrees, (mean - rope) / scale))
        within = max(1.0 - below - above, 0.0)
    return CorrelatedPosterior(
        mean=mean,
        variance=scale * scale,
        degrees=column.size - 1,
        below=below,
        within=within,
        above=above,
    )


def _student(
    numerator: float, error: float, degrees: int, difference: float, method: str
) -> ResampledTest:
    statistic = numerator / error if error > 0 else math.nan
    return ResampledTest(
        statistic=statistic,
        degrees=(degrees,),
        p_value=2 * float(stdtr(degrees, -abs(statistic))),
        difference=difference,
        method=method,
    )


def _sum_of_variances(table: Array) -> float:
    # (d₁ − d̄)² + (d₂ − d̄)² = (d₁ − d₂)²/2, which is exactly 0 when both are equal.
    return float(((table[:, 0] - table[:, 1]) ** 2).sum()) / 2


def _check_differences(differences: ArrayLike) -> Array:
    column = np.asarray(differences, dtype=np.float64)
    if column.ndim != 1 or column.size < 2:
        raise InputError(f"`differences` must be at least two; got {column.size}.")
    if not np.isfinite(column).all():
        raise InputError("`differences` must all be defined; got NaN or an infinity.")
    return column


def _check_five_by_two(differences: ArrayLike) -> Array:
    table = np.asarray(differences, dtype=np.float64)
    if table.shape != (5, 2):
        shape = " × ".join(map(str, table.shape))
        raise InputError(f"`differences` must be 5 × 2; got {shape}.")
    if not np.isfinite(table).all():
        raise InputError("`differences` must all be defined; got NaN or an infinity.")
    return table


@dataclass(frozen=True, kw_only=True)
class ConservativeZRuns:
    """The refits that the conservative Z needs: J of all examples, then J of each of 2M halves.

    Run 0 to J − 1 train on all but `test` random examples.  Then for every division into halves
    come J runs within the first half and J within the second, with as many test examples: they
    train on n/2 − `test`.  With `strata` every part has its share of each class.  A run
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
    r"""Give an interval for the learner's performance from subsampling all examples and halves.

    With :math:`\hat\mu` the mean of the `values` and :math:`\hat\mu_{m1}, \hat\mu_{m2}` those of
    the two halves of division m:

    .. math:: \hat\mu \pm z \hat\sigma, \qquad
              \hat\sigma^2 = \frac{1}{2M} \sum_{m=1}^{M} (\hat\mu_{m1} - \hat\mu_{m2})^2

    Two halves share no example, so the difference of their means has a variance without bias: that
    of the same procedure with half the examples; where this
    exceeds the one with all, as it does as a rule, the interval covers more than it promises.  Cut
    where it would leave the range of the measure.

    `halves` is M × 2 × J: the measure in J subsamplings of either half of M divisions; M × 2 of
    their means will do.

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


def rho_based_deviation(values: ArrayLike, *, test: int, train: int) -> float:
    r"""Give the standard deviation of the mean of J refits that are correlated by ρ.

    .. math:: \hat\sigma^2 = \Bigl(\frac1J + \frac{\rho}{1 - \rho}\Bigr) S^2, \qquad
              \rho = \frac{n_{test}}{n_{test} + n_{train}}

    S² is the variance of the J values, in its J − 1 form.  Were every two values correlated by ρ,
    this would be without bias; that ρ is the share of test examples is a guess of its authors,
    right if a loss does not depend on which examples the rule was trained on.

    `values` are the measure on the test part of J random divisions, with `test` and `train`
    examples.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003, section 3. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> round(rho_based_deviation([0.0, 0.2], test=1, train=4), 6)  # S² = .02, times 1/2 + 1/4
    0.122474
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or column.size < 2 or not np.isfinite(column).all():
        raise InputError(f"`values` must be at least two finite numbers; got {column.size}.")
    ratio = check_whole_number(test, "test", low=1) / check_whole_number(train, "train", low=1)
    return corrected_standard_error(column, ratio)
