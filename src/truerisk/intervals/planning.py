"""How large a test set must be, and how often a paired test finds what is there.

Each size is checked against the exact distribution; the normal formula only says where to look.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.binomial import at_least, clopper_pearson, exact_upper, log_probabilities
from truerisk.intervals.normal import normal_quantile

LARGEST_PLAN = 10**12
WINDOW = 2000  # sizes that are checked at once; the width saws, so single sizes will not do
NUMBERS = 400  # of discordant pairs that are summed over; between them the power varies slowly


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A size, the question it answers and what was taken for granted.

    `n` counts examples, of each test set if there are two.
    """

    n: int
    question: str
    assumptions: tuple[str, ...]
    level: float

    def __str__(self) -> str:
        taken = "; ".join(self.assumptions)
        return f"{self.question} takes {self.n:,} examples ({taken})."


def sample_size(
    *,
    half_width: float | None = None,
    upper_bound: float | None = None,
    difference: float | None = None,
    expected: float | None = None,
    discordant: float | None = None,
    power: float | None = None,
    level: float = 0.95,
) -> Plan:
    """Give the size of the test set that answers one question.

    * `half_width` and `expected`: the smallest n from which on, for every size, Clopper and
      Pearson's interval at k = round(expected · n) has at most twice the half-width.
    * `upper_bound` and `expected`: the smallest n from which on, for every size,
      k = round(expected · n) errors prove an error rate of at most the bound, one-sided, at the
      level.  With expected = 0 that is the number of examples without any error.
    * `difference` and `discordant`: two models on the *same* examples, exactly one of which is
      right on the share `discordant` of them; an n at which McNemar's mid-p test at 1 − level finds
      the `difference` of their error rates with the wanted power, and at which n − 1 does not.
    * `difference` and `expected`: two models on *different* test sets of n each, the first of error
      rate `expected`, the second lower by `difference`; by the normal test of two proportions.

    All assume independent examples, and that what is expected is true.

    Parameters
    ----------
    half_width, upper_bound, difference
        The question: exactly one of them.
    expected
        The rate one expects to find.
    discordant
        Share of the examples that exactly one of the two models gets right.
    power
        Probability with which the difference is to be found; 0.8 unless given.
    level
        Confidence level.

    References
    ----------
    .. [1] R. J. Connor, "Sample size for testing differences in proportions for the paired-sample
       design", Biometrics 43(1), 207-211, 1987. https://doi.org/10.2307/2531961
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data: mid-p and asymptotic are better than exact conditional", BMC Medical Research
       Methodology 13:91, 2013. https://doi.org/10.1186/1471-2288-13-91

    Examples
    --------
    >>> print(sample_size(upper_bound=0.01, expected=0.0))
    To prove an error rate of at most 0.01 at 95 % takes 299 examples (0 errors are found).
    >>> sample_size(half_width=0.02, expected=0.1).n
    917
    >>> sample_size(difference=0.02, discordant=0.1).n
    1949
    """
    check_level(level)
    given = {"half_width": half_width, "upper_bound": upper_bound, "difference": difference}
    questions = [name for name, value in given.items() if value is not None]
    if len(questions) != 1:
        raise InputError(
            "`sample_size` must be given exactly one of half_width, upper_bound and difference; "
            f"got {', '.join(questions) or 'none'}."
        )
    if half_width is not None:
        _refuse(questions[0], discordant=discordant, power=power)
        return _for_half_width(half_width, _needed(expected, "expected", "half_width"), level)
    if upper_bound is not None:
        _refuse(questions[0], discordant=discordant, power=power)
        return _for_upper_bound(upper_bound, _needed(expected, "expected", "upper_bound"), level)
    target = check_number(difference or 0.0, "difference", low=1e-6, high=1.0)
    sure = check_level(0.8 if power is None else power, "power")
    if (expected is None) == (discordant is None):
        raise InputError(
            "`difference` must come with discordant (both models on the same examples) or with "
            "expected (different test sets); got both or neither."
        )
    if discordant is not None:
        return _for_paired(target, discordant, sure, level)
    return _for_unpaired(target, _needed(expected, "expected", "difference"), sure, level)


def proven_by_no_errors(m: int, level: float = 0.95) -> float:
    r"""Give the error rate that m examples without an error prove not to be exceeded.

    .. math:: 1 - (1 - level)^{1/m}

    One-sided; exact.  About 3/m at 95 %.

    Examples
    --------
    >>> round(proven_by_no_errors(299), 5)
    0.00997
    """
    size = check_whole_number(m, "m", low=1)
    return -math.expm1(math.log(1 - check_level(level)) / size)


def _needed(value: float | None, name: str, question: str) -> float:
    if value is None:
        raise InputError(f"`{name}` must be given together with {question}; got None.")
    return check_number(value, name, low=0.0, high=1.0)


def _refuse(question: str, **given: float | None) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"`{name}` must not be given together with {question}; got {value!r}.")


def _for_half_width(half_width: float, expected: float, level: float) -> Plan:
    target = check_number(half_width, "half_width", low=1e-6, high=0.5)

    def short_enough(sizes: Array) -> Array:
        low, high = clopper_pearson(np.round(expected * sizes), sizes, level)
        return np.asarray(high - low <= 2 * target)

    z = -float(normal_quantile((1 - level) / 2))
    rough = z * z * expected * (1 - expected) / target**2 + z / target
    return Plan(
        n=_smallest(short_enough, rough),
        question=f"To know a rate to within ± {target:g} at {100 * level:g} %",
        assumptions=(f"a rate of about {expected:g} is found",),
        level=level,
    )


def _for_upper_bound(bound: float, expected: float, level: float) -> Plan:
    target = check_number(bound, "upper_bound", low=1e-9, high=1.0)
    if expected >= target:
        raise InputError(
            f"`upper_bound` must exceed the expected rate {expected:g}; got {target:g}."
        )

    def proven(sizes: Array) -> Array:
        return np.asarray(exact_upper(np.round(expected * sizes), sizes, 1 - level) <= target)

    z = -float(normal_quantile(1 - level))
    gap = target - expected
    rough = max(-math.log(1 - level) / target, z * z * target * (1 - expected) / gap**2)
    errors = "0 errors are found" if expected == 0 else f"an error rate of {expected:g} is found"
    return Plan(
        n=_smallest(proven, rough),
        question=f"To prove an error rate of at most {target:g} at {100 * level:g} %",
        assumptions=(errors,),
        level=level,
    )


def _smallest(holds: Callable[[Array], Array], rough: float) -> int:
    """Give the least size from which on `holds` is true for as far as one whole tooth of the saw.

    Widths fall with the size, but saw as the rounded count jumps; so a size is taken only if no
    later one in the window fails, and the search is by halving between windows.
    """
    low, high = 0, max(WINDOW, math.ceil(rough))
    while not _all_hold(holds, high):
        low, high = high, 2 * high
        if high > LARGEST_PLAN:
            raise InputError(f"`sample_size` must be at most {LARGEST_PLAN:g}; got a larger need.")
    while high - low > WINDOW // 2:
        middle = (low + high) // 2
        if _all_hold(holds, middle):
            high = middle
        else:
            low = middle
    sizes = np.arange(max(low, 1), high + 1, dtype=np.float64)
    failing = np.flatnonzero(~holds(sizes).astype(bool))
    return int(sizes[failing[-1]]) + 1 if failing.size else int(sizes[0])


def _all_hold(holds: Callable[[Array], Array], first: int) -> bool:
    # Spread over the next half of the size: a tooth is 1 / expected long, and may be longer than
    # the window.
    dense = np.arange(max(first, 1), first + WINDOW, dtype=np.float64)
    sparse = np.unique(np.round(np.linspace(max(first, 1), 1.5 * first + WINDOW, WINDOW)))
    return bool(holds(dense).all() and holds(sparse).all())


def _for_unpaired(difference: float, expected: float, power: float, level: float) -> Plan:
    second = expected - difference
    if second < 0:
        raise InputError(
            f"`difference` must be at most `expected` {expected:g}; got {difference:g}."
        )
    z, z_power = -float(normal_quantile((1 - level) / 2)), float(normal_quantile(power))
    mean = (expected + second) / 2
    pooled = z * math.sqrt(2 * mean * (1 - mean))
    apart = z_power * math.sqrt(expected * (1 - expected) + second * (1 - second))
    n = max(2, math.ceil(((pooled + apart) / difference) ** 2))
    return Plan(
        n=n,
        question=f"To tell error rates of {expected:g} and {second:g} apart at {100 * level:g} %",
        assumptions=(
            "two test sets of this size each",
            f"power {power:g}",
            "normal test of two proportions",
        ),
        level=level,
    )


def _for_paired(difference: float, discordant: float, power: float, level: float) -> Plan:
    share = check_number(discordant, "discordant", low=0.0, high=1.0)
    if share < difference:
        raise InputError(
            f"`discordant` must be at least the difference {difference:g}; got {share:g}."
        )
    z, z_power = -float(normal_quantile((1 - level) / 2)), float(normal_quantile(power))
    root = z * math.sqrt(share) + z_power * math.sqrt(max(share - difference**2, 0.0))
    high = max(4, math.ceil((root / difference) ** 2))
    low = 0
    while paired_power(high, share, difference, level) < power:
        low, high = high, math.ceil(1.1 * high) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if paired_power(middle, share, difference, level) >= power:
            high = middle
        else:
            low = middle
    return Plan(
        n=high,
        question=f"To find a difference of {difference:g} between two models at {100 * level:g} %",
        assumptions=(
            "both models on the same examples",
            f"they differ on a share of {share:g}",
            f"power {power:g}",
            "McNemar's mid-p test",
        ),
        level=level,
    )


def paired_power(n: int, discordant: float, difference: float, level: float) -> float:
    r"""Give the probability that McNemar's mid-p test of two models on n examples rejects.

    .. math:: \sum_m P(M = m)\, P(\text{rejected} \mid m), \quad M \sim Bin(n, discordant)

    Of m discordant pairs the better model wins each with probability (1 + difference / discordant)
    / 2; the test rejects when its mid-p value against ½ is at most 1 − level.  Exact for up to some
    hundred likely m; beyond, the sum is taken over every few of them.

    Examples
    --------
    >>> round(paired_power(6, 1.0, 1.0, 0.95), 3)  # all six won: mid-p is 1/64
    1.0
    >>> paired_power(5, 1.0, 0.9, 0.95) < paired_power(50, 1.0, 0.9, 0.95)
    True
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
    low, high = np.floor(pairs / 2), pairs + 1
    while np.any(high - low > 1):
        middle = np.floor((low + high) / 2)
        mid_p = 0.5 * (at_least(middle, pairs, 0.5) + at_least(middle + 1, pairs, 0.5))
        extreme = mid_p <= tail
        low, high = np.where(extreme, low, middle), np.where(extreme, middle, high)
    return high
