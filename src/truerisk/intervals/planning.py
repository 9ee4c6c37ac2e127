"""How large a test set must be for an interval, a bound or a comparison to succeed.

Every size comes with an assurance: the probability, over samples of that size, that the interval is
as short as required, the bound is proven, or the difference is found.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.binomial import BINOMIAL, at_least, at_most, log_probabilities
from truerisk.intervals.distributions import (
    first_that_holds,
    logistic,
    normal_cdf,
    normal_quantile,
)
from truerisk.results import Row, Tabular

MAX_PLAN = 10**12
TEETH = 64  # of the saw that are looked at together; beyond some of them it rises steadily
NUMBERS = 400  # of discordant pairs that are summed over; between them the power varies slowly
PLANNED = ("clopper_pearson", "wilson", "wilson_cc", "jeffreys", "agresti_coull", "mid_p")
GRID = 2000  # points of either class, for the spread of an estimated variance
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Tabular):
    """A size, the question it answers and what was taken for granted.

    `n` counts examples, of each test set if there are two.  The question is answered in the share
    `assurance` of samples of that size.
    """

    kind: ClassVar[str] = "plan"

    n: int
    question: str
    assumptions: tuple[str, ...]
    level: float
    assurance: float

    def __str__(self) -> str:
        often = f"in {100 * self.assurance:.10g} % of samples"
        taken = "; ".join(self.assumptions)
        return f"{self.question} {often} takes {self.n:,} examples ({taken})."

    def _rows(self) -> Iterator[Row]:
        yield {
            "question": self.question,
            "n": self.n,
            "level": self.level,
            "assurance": self.assurance,
            "assumptions": "; ".join(self.assumptions),
        }


def sample_size(
    *,
    half_width: float | None = None,
    upper_bound: float | None = None,
    difference: float | None = None,
    expected: float | None = None,
    discordant: float | None = None,
    auc: float | None = None,
    prevalence: float | None = None,
    correlation: float | None = None,
    scores: str = "heavy_tailed",
    assurance: float = 0.8,
    level: float = 0.95,
    method: str = "clopper_pearson",
) -> Plan:
    """Give the size of the test set that answers one question, in most samples of that size.

    The question is answered with probability `assurance` over samples, if what is expected is true.
    A size that only suffices for the expected count itself fails in about half of the samples.

    * `half_width` and `expected`: the interval of a rate has at most twice the half-width.
    * `upper_bound` and `expected`: the errors found prove an error rate of at most the bound,
      one-sided.  With expected = 0 that is the number of examples without any error.
    * `difference` and `discordant`: two models on the *same* examples, exactly one of which is
      right on the share `discordant` of them; McNemar's mid-p test finds the `difference` of their
      error rates.  The assurance is its power.
    * `difference` and `expected`: two models on *different* test sets of n each, the first of error
      rate `expected`, the second lower by `difference`; by the normal test of two proportions.
    * `half_width`, `auc` and `prevalence`: DeLong's interval of an area under the ROC curve.
    * `difference`, `auc`, `prevalence` and `correlation`: two models on the *same* examples, the
      first of area `auc`, the second larger by `difference`; by DeLong's test.

    The first three sum the binomial distribution.  Since counts are whole numbers the probability
    saws as n grows; `n` is the smallest size from which on it is never below the assurance.  Areas
    are planned by the delta method, for scores of one shape in both classes: for the worst of the
    shapes that `scores` names.  All assume independent examples.

    Parameters
    ----------
    half_width, upper_bound, difference
        The question: exactly one of them.
    expected
        The rate one expects.
    discordant
        Share of the examples that exactly one of the two models gets right.
    auc
        The area under the ROC curve one expects; of the worse model, for a difference.
    prevalence
        Share of positive examples.
    correlation
        Of the two models' scores, within the positives and within the negatives.
    scores
        Of an area: `normal`; `heavy_tailed`, also Laplace's, and tails up to those of Student's t
        with 3 degrees;
        or `any`, also exponential scores, skewed either way.  Where the positives are spread more
        than the negatives, an area takes up to three times as many examples as with normal scores.
    assurance
        Probability with which the question is to be answered.
    level
        Confidence level of the interval, the bound or the test.
    method
        The interval of a rate: clopper_pearson, wilson, wilson_cc, jeffreys, agresti_coull, mid_p.

    References
    ----------
    .. [1] R. J. Connor, "Sample size for testing differences in proportions for the paired-sample
       design", Biometrics 43(1), 207-211, 1987. https://doi.org/10.2307/2531961
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data: mid-p and asymptotic are better than exact conditional", BMC Medical Research
       Methodology 13:91, 2013. https://doi.org/10.1186/1471-2288-13-91
    .. [3] N. A. Obuchowski and D. K. McClish, "Sample size determination for diagnostic accuracy
       studies involving binormal ROC curve indices", Statistics in Medicine 16, 1529-1542, 1997.

    Examples
    --------
    >>> plan = sample_size(half_width=0.02, expected=0.1)
    >>> plan.n, plan.question, plan.assurance
    (978, 'To know a rate to within ± 0.02 at 95 %', 0.8)
    >>> sample_size(upper_bound=0.01, expected=0.0).n  # 0.99²⁹⁹ < 0.05
    299
    >>> sample_size(difference=0.02, discordant=0.1).n
    1949
    >>> [sample_size(half_width=0.05, auc=0.8, prevalence=0.3, scores=one).n for one in SHAPES]
    [391, 429, 568]
    >>> sample_size(difference=0.03, auc=0.8, prevalence=0.3, correlation=0.6, scores="normal").n
    1641
    """
    check_level(level)
    check_level(assurance, "assurance")
    check_choice(method, PLANNED, "method")
    given = {"half_width": half_width, "upper_bound": upper_bound, "difference": difference}
    questions = [name for name, value in given.items() if value is not None]
    if len(questions) != 1:
        raise InputError(
            "`sample_size` must be given exactly one of half_width, upper_bound and difference; "
            f"got {', '.join(questions) or 'none'}."
        )
    facts = {
        "expected": expected,
        "discordant": discordant,
        "auc": auc,
        "prevalence": prevalence,
        "correlation": correlation,
    }
    known = tuple(name for name, value in facts.items() if value is not None)
    question = questions[0]
    if (question, known) not in ANSWERS:
        got = " and ".join(known) or "none"
        raise InputError(f"`{question}` must come with {_choices(question)}; got {got}.")
    check_choice(scores, SHAPES, "scores")
    if scores != HEAVY_TAILED and "auc" not in known:
        raise InputError("`scores` must be left out where no area is planned.")
    if method != PLANNED[0] and (question, known) != ("half_width", ("expected",)):
        raise InputError("`method` must be that of the interval of a rate; no other has a choice.")
    numbers = [check_number(facts[name] or 0.0, name, low=0.0, high=1.0) for name in known]
    low, high = LIMITS[question]
    target = check_number(given[question] or 0.0, question, low=low, high=high)
    promise = _Promise(level=level, assurance=assurance, method=method, scores=scores)
    return ANSWERS[question, known](promise, target, *numbers)


def proven_by_no_errors(m: int, level: float = 0.95) -> float:
    """Give the error rate that m examples without an error exclude: 1 − (1 − level)^(1/m)."""
    size = check_whole_number(m, "m", low=1)
    return -math.expm1(math.log(1 - check_level(level)) / size)


@dataclass(frozen=True, kw_only=True)
class _Promise:
    """How sure the answer is to be, and how often."""

    level: float
    assurance: float
    method: str
    scores: str

    @property
    def z(self) -> float:
        """The two-sided normal quantile of the level."""
        return -float(normal_quantile((1 - self.level) / 2))

    @property
    def z_assurance(self) -> float:
        """The normal quantile of the assurance."""
        return float(normal_quantile(self.assurance))

    def plan(self, n: int, question: str, *assumptions: str) -> Plan:
        return Plan(
            n=n,
            question=f"{question} at {100 * self.level:g} %",
            assumptions=assumptions,
            level=self.level,
            assurance=self.assurance,
        )


# Rates: sums of the binomial distribution


def _for_half_width(promise: _Promise, target: float, expected: float) -> Plan:
    def short(k: Array, n: Array) -> Array:
        low, high = BINOMIAL[promise.method](k, n, promise.level)
        return np.asarray(high - low <= 2 * target)

    # From here on even the longest interval, that of n/2 of n, is short enough.
    half = np.array([0.0])
    longest = int(_first_size(lambda _, n: short(n / 2, n), half, half + 1)[0])

    def first_size(k: Array) -> Array:
        # Of fewer than 2k examples, k is the larger count: the other one decides.
        return np.minimum(_first_size(short, k, 2 * k), longest)

    def probability(c: Array, n: Array) -> Array:
        below = at_most(c, n, expected)
        return np.where(2 * c >= n, 1.0, below + at_least(n - c, n, expected))

    return promise.plan(
        _smallest(first_size, probability, promise.assurance),
        f"To know a rate to within ± {target:g}",
        f"the rate is {expected:g}",
        f"{promise.method.replace('_', ' ')} interval",
    )


def _for_upper_bound(promise: _Promise, target: float, expected: float) -> Plan:
    if expected >= target:
        raise InputError(
            f"`upper_bound` must exceed the expected rate {expected:g}; got {target:g}."
        )

    def proven(k: Array, n: Array) -> Array:
        return np.asarray(at_most(k, n, target) <= 1 - promise.level)

    return promise.plan(
        _smallest(
            lambda k: _first_size(proven, k, k + 1),
            lambda c, n: at_most(c, n, expected),
            promise.assurance,
        ),
        f"To prove an error rate of at most {target:g}",
        f"the error rate is {expected:g}",
    )


def _first_size(holds: Callable[[Array, Array], Array], k: Array, start: Array) -> Array:
    """Give for each count the smallest size, from `start` on, at which it suffices."""
    low, high = start - 1.0, np.maximum(start, 1.0)
    while not (fine := holds(k, high)).all():
        low, high = np.where(fine, low, high), np.where(fine, high, 2 * high)
        if high.max() > MAX_PLAN:
            raise InputError(f"`sample_size` must be at most {MAX_PLAN:g}; got a larger need.")
    return np.asarray(first_that_holds(lambda n: holds(k, n), low, high))


def _smallest(
    first_size: Callable[[Array], Array],
    probability: Callable[[Array, Array], Array],
    assurance: float,
) -> int:
    """Give the least size from which on the counts that suffice are probable enough.

    Counts up to c suffice from the size `first_size(c)` on.  Until c + 1 does, the probability of
    such counts falls as the size grows: the teeth of a saw.  It is lowest at the end of a tooth, so
    only ends are looked at, some neighbours together, since they jitter; −1 is the tooth on which
    no count suffices.
    """

    def suffices(first: int) -> bool:
        c = np.arange(first, first + TEETH, dtype=np.float64)
        return not (probability(c, first_size(c + 1) - 1) < assurance).any()

    low, high = -1, 0
    while not suffices(high):
        low, high = high, 2 * high + TEETH
    tooth = float(first_that_holds(suffices, low, high))
    return int(first_size(np.array([tooth]))[0])


# Differences of rates


def _for_unpaired(promise: _Promise, difference: float, expected: float) -> Plan:
    second = expected - difference
    if second < 0:
        raise InputError(
            f"`difference` must be at most `expected` {expected:g}; got {difference:g}."
        )
    mean = (expected + second) / 2
    pooled = promise.z * math.sqrt(2 * mean * (1 - mean))
    spread = math.sqrt(expected * (1 - expected) + second * (1 - second))
    apart = promise.z_assurance * spread
    return promise.plan(
        max(2, math.ceil(((pooled + apart) / difference) ** 2)),
        f"To tell error rates of {expected:g} and {second:g} apart",
        "two test sets of this size each",
        "normal test of two proportions",
    )


def _for_paired(promise: _Promise, difference: float, discordant: float) -> Plan:
    if discordant < difference:
        raise InputError(
            f"`discordant` must be at least the difference {difference:g}; got {discordant:g}."
        )

    def finds(n: int) -> bool:
        return paired_power(n, discordant, difference, promise.level) >= promise.assurance

    spread = math.sqrt(max(discordant - difference**2, 0.0))
    root = promise.z * math.sqrt(discordant) + promise.z_assurance * spread
    low, high = 0, max(4, math.ceil((root / difference) ** 2))
    while not finds(high):
        low, high = high, math.ceil(1.1 * high) + 1
    high = int(first_that_holds(finds, low, high))
    # The number of discordant pairs varies and smooths the saw, unless nearly all pairs are.
    if high * discordant * (1 - discordant) < TEETH:
        high = max((n + 1 for n in range(high, high + TEETH) if not finds(n)), default=high)
    return promise.plan(
        high,
        f"To find a difference of {difference:g} between two models",
        "both models on the same examples",
        f"they differ on a share of {discordant:g}",
        "McNemar's mid-p test",
    )


def paired_power(n: int, discordant: float, difference: float, level: float) -> float:
    """Give the probability that McNemar's mid-p test of two models on n examples rejects.

    Σₘ P(M = m)·P(rejected | m), M ~ Bin(n, discordant), each of m pairs won with probability (1 +
    difference/discordant)/2.  Exact for some hundred likely m; beyond, over every few of them.
    """
    spread = 8 * math.sqrt(n * discordant * (1 - discordant)) + 8
    first = max(1, math.floor(n * discordant - spread))
    last = min(n, math.ceil(n * discordant + spread))
    step = max(1, (last - first) // NUMBERS)
    pairs = np.arange(first, last + 1, step, dtype=np.float64)
    weight = np.exp(log_probabilities(pairs, float(n), discordant)) * step
    wins = 0.5 * (1 + difference / discordant)
    rejected = rejected_from(pairs, (1 - level) / 2)
    chance = at_least(rejected, pairs, wins) + at_least(rejected, pairs, 1 - wins)
    return min(1.0, float(np.sum(weight * chance)))


def rejected_from(pairs: Array, tail: float) -> Array:
    """Give the least count c of `pairs` fair coins with P(X > c) + ½ P(X = c) ≤ tail."""

    def is_extreme(count: Array) -> Array:
        mid_p = 0.5 * (at_least(count, pairs, 0.5) + at_least(count + 1, pairs, 0.5))
        return np.asarray(mid_p <= tail)

    return np.asarray(first_that_holds(is_extreme, np.floor(pairs / 2), pairs + 1))


# Areas under the ROC curve


@dataclass(frozen=True)
class Shape:
    """How scores are distributed in both classes, but for where: quantiles and probabilities."""

    quantile: Callable[[Array], Array]
    cdf: Callable[[Array], Array]

    def distance(self, area: float) -> float:
        """Find by bisection how far the scores of the classes are apart."""
        low, high = 0.0, 1.0
        while self._area(high) < area:
            low, high = high, 2 * high
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._area(middle) < area else (low, middle)
        return high

    def _area(self, distance: float) -> float:
        return float(np.mean(self.cdf(self.quantile(POINTS) + distance)))


def _student_cdf(x: Array) -> Array:
    """Give Student's distribution with 3 degrees of freedom, which has a closed form."""
    y = x / math.sqrt(3)
    return np.asarray(0.5 + (y / (1 + y * y) + np.arctan(y)) / math.pi)


def _student_quantile(p: Array) -> Array:
    return np.asarray(np.interp(p, _student_cdf(ABSCISSAE), ABSCISSAE))


POINTS = (np.arange(GRID) + 0.5) / GRID  # equally likely
ABSCISSAE = np.sinh(np.linspace(-9.0, 9.0, 20_001))  # to ±4,000, where Student's tail is 1e-10
BISECTIONS = 60
COPULA = 200  # points of either score of two models
NORMAL = Shape(lambda p: np.asarray(normal_quantile(p)), lambda x: np.asarray(normal_cdf(x)))
STUDENT = Shape(_student_quantile, _student_cdf)
LAPLACE = Shape(
    lambda p: np.where(p < 0.5, np.log(2 * p), -np.log(2 - 2 * p)),
    lambda x: np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x))),
)
# Skewed up, and down: the positives are then spread less, or more, where the negatives are.
EXPONENTIAL = Shape(lambda p: -np.log1p(-p), lambda x: -np.expm1(-np.maximum(x, 0.0)))
REFLECTED = Shape(np.log, lambda x: np.exp(np.minimum(x, 0.0)))
HEAVY_TAILED = "heavy_tailed"
SHAPES = {
    "normal": (NORMAL,),
    HEAVY_TAILED: (NORMAL, LAPLACE, STUDENT),
    "any": (NORMAL, LAPLACE, STUDENT, EXPONENTIAL, REFLECTED),
}
# Measured at an assurance of 80 %: `studies/ledgers/planning.csv`.
SCORES = {
    "normal": "normal scores{}, not kept with heavy tails or skewed scores",
    HEAVY_TAILED: "scores{} up to the tails of Student's t with 3 degrees, not kept with skewed "
    "ones",
    "any": "scores{} up to the tails of Student's t with 3 degrees and the skewness of exponential "
    "ones",
}


def _for_area(promise: _Promise, target: float, auc: float, prevalence: float) -> Plan:
    _check_areas(auc, prevalence)
    spreads = [_AreaSpread.of(auc, prevalence, shape) for shape in SHAPES[promise.scores]]
    n = _smallest_area(
        lambda n: all(
            spread.width(n, promise.z, promise.z_assurance) <= 2 * target for spread in spreads
        ),
        prevalence,
    )
    return promise.plan(
        n,
        f"To know an AUC to within ± {target:g}",
        f"the AUC is {auc:g}",
        f"a share of {prevalence:g} is positive",
        SCORES[promise.scores].format(""),
        "DeLong's interval",
    )


def _for_areas(
    promise: _Promise, difference: float, auc: float, prevalence: float, correlation: float
) -> Plan:
    second = auc + difference
    _check_areas(auc, prevalence)
    if second >= 1:
        raise InputError(f"`difference` must keep the larger AUC under 1; got {difference:g}.")
    needed = promise.z + promise.z_assurance
    others = [
        _placed_apart(auc, second, correlation, shape)
        for shape in SHAPES[promise.scores]
        if shape is not NORMAL
    ]

    def finds(n: int) -> bool:
        positives, negatives = n * prevalence, n - n * prevalence
        variances = [difference_variance(auc, second, correlation, positives, negatives)]
        variances += [one / positives + other / negatives for one, other in others]
        return difference >= needed * math.sqrt(max(variances))

    return promise.plan(
        _smallest_area(finds, prevalence),
        f"To find a difference of {difference:g} between the AUCs of two models",
        "both models on the same examples",
        f"AUCs of {auc:g} and {second:g}",
        f"a share of {prevalence:g} is positive",
        SCORES[promise.scores].format(f" with a correlation of {correlation:g}"),
        "DeLong's test",
    )


def _check_areas(auc: float, prevalence: float) -> None:
    if not 0.5 <= auc < 1:
        raise InputError(f"`auc` must be at least 0.5 and under 1; got {auc:g}.")
    if not 0 < prevalence < 1:
        raise InputError(f"`prevalence` must lie strictly between 0 and 1; got {prevalence:g}.")


def _smallest_area(holds: Callable[[int], bool], prevalence: float) -> int:
    """Give the least size that holds, with five examples of either class at least."""
    low = math.ceil(5 / min(prevalence, 1 - prevalence)) - 1
    high = low + 1
    while not holds(high):
        low, high = high, 2 * high
        if high > MAX_PLAN:
            raise InputError(f"`sample_size` must be at most {MAX_PLAN:g}; got a larger need.")
    return int(first_that_holds(holds, low, high))


def both_below(a: float, b: float, correlation: float) -> float:
    r"""Give P(X ≤ a, Y ≤ b) of two standard normal variables.

    .. math:: \Phi(a)\,\Phi(b) + \frac{1}{2\pi} \int_0^{\arcsin r}
              \exp\left(-\frac{a^2 - 2 a b \sin t + b^2}{2 \cos^2 t}\right) dt
    """
    end = math.asin(correlation)
    t = 0.5 * end * (NODES + 1)
    inside = np.exp(-(a * a - 2 * a * b * np.sin(t) + b * b) / (2 * np.cos(t) ** 2))
    area = 0.5 * end * float(WEIGHTS @ inside) / (2 * math.pi)
    return float(normal_cdf(a) * normal_cdf(b)) + area


def difference_variance(
    first: float, second: float, correlation: float, positives: float, negatives: float
) -> float:
    r"""Give the variance of the difference of two estimated areas, for normal scores.

    With :math:`c_k = \Phi_2(\Phi^{-1}(A_i), \Phi^{-1}(A_j); \rho_k) - A_i A_j`, where ρ is r/2 for
    pairs that share one example and r for those that share both (r = 1 for one score),

    .. math:: Cov(\hat A_i, \hat A_j) = \frac{(P + N - 2)\, c_{r/2} + c_r}{P N}.
    """

    def covariance(one: float, other: float, r: float) -> float:
        a, b = float(normal_quantile(one)), float(normal_quantile(other))
        shares_one, shares_both = (both_below(a, b, rho) - one * other for rho in (r / 2, r))
        return ((positives + negatives - 2) * shares_one + shares_both) / (positives * negatives)

    alone = covariance(first, first, 1.0) + covariance(second, second, 1.0)
    return alone - 2 * covariance(first, second, correlation)


def _placed_apart(
    first: float, second: float, correlation: float, shape: Shape
) -> tuple[float, float]:
    """Give the variance of the difference of the placements of two models, in either class.

    Scores of a shape whose normal scores have the correlation; on a grid of equally likely points.
    """
    z = normal_quantile((np.arange(COPULA) + 0.5) / COPULA)
    other = correlation * z[:, None] + math.sqrt(1 - correlation**2) * z
    both = [shape.quantile(normal_cdf(one)) for one in (z[:, None], other)]
    distances = [shape.distance(area) for area in (first, second)]
    ends = [
        [shape.cdf(one + sign * apart) for one, apart in zip(both, distances, strict=True)]
        for sign in (1, -1)
    ]
    positives, negatives = (float(np.var(one - two)) for one, two in ends)
    return positives, negatives


@dataclass(frozen=True)
class _AreaSpread:
    """How much an estimated area and its variance vary, by the influence of one example.

    Negatives have scores x of a shape F, positives x + μ; F(x + μ) and 1 − F(x − μ) are the shares
    of the other class that they are on the right side of: their placements.
    """

    area: float
    variance: float  # of the area, times n
    excess: float  # by which DeLong's estimate exceeds it on average, times n
    influences: Array  # on the area and on that variance, of every point of the grid
    shares: Array  # of the points

    @classmethod
    def of(cls, area: float, prevalence: float, shape: Shape = NORMAL) -> "_AreaSpread":
        """Compute both influences on a grid of equally likely points of either class."""
        x, distance = shape.quantile(POINTS), shape.distance(area)
        placed = (shape.cdf(x + distance) - area, 1 - shape.cdf(x - distance) - area)
        squares = [float(np.mean(one**2)) for one in placed]
        shares = (prevalence, 1 - prevalence)
        # A point moves the variance of the other class's placements by those that it is beyond:
        # negatives under x + μ, positives over x.
        under = np.append(0.0, np.cumsum(placed[1]))[np.searchsorted(x, x + distance)]
        over = np.append(np.cumsum(placed[0][::-1])[::-1], 0.0)[np.searchsorted(x, x - distance)]
        moved = (2 * (under / GRID - squares[1]), 2 * (over / GRID - squares[0]))
        influences = [
            (
                placed[at] / shares[at],
                ((placed[at] ** 2 - squares[at]) / shares[at] + moved[at] / shares[1 - at])
                / shares[at]
                # The share of the positives is estimated, too.
                + shares[1 - at]
                * (squares[1 - at] / shares[1 - at] ** 2 - squares[at] / shares[at] ** 2),
            )
            for at in (0, 1)
        ]
        # The placements are estimated (by either class), and so is the share of the positives.
        apart = (area * (1 - area) - squares[0] - squares[1]) / (shares[0] * shares[1])
        divided = squares[0] * shares[1] / shares[0] ** 2 + squares[1] * shares[0] / shares[1] ** 2
        return cls(
            area,
            squares[0] / shares[0] + squares[1] / shares[1],
            2 * apart + divided,
            np.concatenate([np.array(one) for one in influences], axis=1),
            np.repeat(shares, GRID) / GRID,
        )

    def width(self, n: int, z: float, z_assurance: float) -> float:
        """Give the width that DeLong's interval does not exceed with the assurance."""
        step = 1e-6

        def at(area: float, variance: float) -> float:
            half = z * math.sqrt(variance / n) / (area * (1 - area))
            centre = math.log(area / (1 - area))
            return float(logistic(centre + half) - logistic(centre - half))

        variance = self.variance + self.excess / n
        middle = at(self.area, variance)
        by_area = (at(self.area + step, variance) - middle) / step
        by_variance = (at(self.area, variance * (1 + step)) - middle) / (step * variance)
        moved = by_area * self.influences[0] + by_variance * self.influences[1]
        return middle + z_assurance * math.sqrt(float(self.shares @ moved**2) / n)


Answer = Callable[..., Plan]
ANSWERS: dict[tuple[str, tuple[str, ...]], Answer] = {
    ("half_width", ("expected",)): _for_half_width,
    ("half_width", ("auc", "prevalence")): _for_area,
    ("upper_bound", ("expected",)): _for_upper_bound,
    ("difference", ("discordant",)): _for_paired,
    ("difference", ("expected",)): _for_unpaired,
    ("difference", ("auc", "prevalence", "correlation")): _for_areas,
}
LIMITS = {"half_width": (1e-6, 0.5), "upper_bound": (1e-9, 1.0), "difference": (1e-6, 1.0)}


def _choices(question: str) -> str:
    """List what a question may come with."""
    choices = [", ".join(known) for name, known in ANSWERS if name == question]
    return ", or with ".join(choices)
