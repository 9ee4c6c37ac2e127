"""Who is right where: right answers of two or more models on the same examples.

The table of two models has four counts: `both` are right on an example, `only_first`,
`only_second`, or `neither`.  (All functions hold as well for the share of wrong answers.)
Equivalence within a region is shown by two one-sided tests [1]_; for shares of right answers these
are Tango's score tests [2]_, for any other measure the tests that its intervals are the inversion
of.

.. [1] D. J. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach
   for assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
   Biopharmaceutics 15, 657-680, 1987.
.. [2] T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
   paired-sample design", Statistics in Medicine 17, 891-908, 1998.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from truerisk.aliases import Array, ArrayLike, Bounds, Ends, Flags
from truerisk.checks import (
    check_number,
    check_same_length,
    shown,
)
from truerisk.comparison.conclusion import (
    AlternativeTest,
    TestOutcome,
    planned_difference,
    spread_of_groups,
    without_spread,
)
from truerisk.errors import InputError
from truerisk.intervals.binomial import Alternative, binomial_test, log_probability, wilson
from truerisk.intervals.group_jackknife import METHOD
from truerisk.intervals.planning import sample_size
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Finding
from truerisk.tallies.group_values import ratio_values, sums_of_groups

AGREE = Finding(
    "no discordant pairs: both are right on the same examples", code="no_discordant_pairs"
)

PairedMethod = Literal["tango", "newcombe", "bonett_price", "wald", "mover"]
PairedBounds = Callable[[Array, Array, Array, Array, float], Bounds]

Region = float | Mapping[str, float] | None

TOLERANCE = 1e-9  # of a p-value: finer than any use of one

McNemarMethod = Literal["mid_p", "exact", "asymptotic", "continuity_corrected"]
NamePair = tuple[str, str]

MIN_PLANNED = 1e-6  # a smaller difference is not planned for


def paired_difference_ends(*counts: int, level: float, method: PairedMethod = "tango") -> Ends:
    """Give the ends of the interval for the difference of two shares on the same examples.

    (only_second − only_first)/n, for independent examples; `counts` are those of a `PairTable`.
    Enumerated at 95 % for n = 10 to 60 and discordant shares of 0.01 to 0.8, the coverage (least,
    average) was: tango 0.928, 0.959; newcombe 0.860, 0.957; bonett_price 0.891, 0.963; wald 0.262,
    0.913.
    Source: M. W. Fagerland, S. Lydersen and P. Laake, Statistics in Medicine 33, 2850-2875, 2014.
    """
    low, high = paired_difference_bounds(*counts, level=level, method=method)
    return float(low), float(high)


def paired_difference_bounds(*counts: ArrayLike, level: float, method: str = "tango") -> Bounds:
    """Give the ends for many tables at once, as two arrays; see `paired_difference_ends`."""
    agreed, first, second, failed = np.broadcast_arrays(
        *(np.asarray(count, dtype=np.float64) for count in counts)
    )
    low, high = PAIRED_DIFFERENCES[method](agreed, first, second, failed, level)
    seen = (second - first) / (agreed + first + second + failed)
    return np.clip(low, -1.0, seen), np.clip(high, seen, 1.0)


def paired_score_p(
    only_first: int,
    only_second: int,
    n: int,
    *,
    null: float,
    alternative: Alternative = "two-sided",
) -> float:
    """Give the p-value of Tango's score test that the difference, second − first, is `null`.

    z = (b − c − nδ)/√(n(2q̃ + δ(1 − δ))), q̃ the most likely share of c under δ; at δ = 0 McNemar's
    asymptotic test.  Two-sided it is the inversion of the interval "tango".
    Source: T. Tango, Statistics in Medicine 17, 891-908, 1998.
    """
    first, second, size = (np.array(float(count)) for count in (only_first, only_second, n))
    z = float(score_statistic(first, second, size, np.array(null)))
    if alternative == "two-sided":
        return 2 * float(ndtr(-abs(z)))
    return float(ndtr(z if alternative == "less" else -z))


def by_groups(differences: ArrayLike, groups: ArrayLike, *, width: float = 1.0) -> TestOutcome:
    """Compare shares of right, or of wrong, answers on examples that come in groups; or any values.

    d ± t_{G−1}·√((G − 1)/G · Σ_g((S_g − m_g·d)/(n − m_g))²), the spread of the differences that
    leave one group out, and the t-test that inverts it.  Right for many independent groups.
    Simulated with 5, 10, 20 and 50 groups (twelve populations, 600 data sets), intervals at 95 %
    covered 96, 95, 95 and 95 % on the average, 90, 89, 93 and 94 % at the least.  Groups that do
    not vary: `without_spread`.
    `width` is the largest difference that there can be.
    Sources: N. A. Obuchowski, Statistics in Medicine 17, 1495-1507, 1998; V. L. Durkalski et al.,
    22, 2417-2428, 2003.
    """
    values = np.asarray(differences, dtype=np.float64)
    labels = np.asarray(groups)
    check_same_length(differences=values, groups=labels)
    wrong = values[~((values >= -width) & (values <= width))]
    if wrong.size:
        got = shown(wrong[0].item())
        raise InputError(f"`differences` must lie in [{-width:g}, {width:g}]; got {got}.")
    index = np.unique(labels, return_inverse=True)[1]
    number = int(index.max()) + 1
    if number < 2:
        raise InputError("`groups` must name two groups at least; got 1.")
    sums, sizes = (sums_of_groups(index, column) for column in (values, None))
    of_groups = ratio_values(sums, sizes)
    value = of_groups.value
    spread = spread_of_groups(value, of_groups.without, of_groups.units, width)
    if spread.is_zero:
        outcome = without_spread(value, number, width=width, method=METHOD, interval_method=METHOD)
        return outcome if values.any() else replace(outcome, notes=(AGREE,))
    return spread.outcome(value, METHOD)


def tango(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """Give the differences that the score test, with shares fitted to them, does not reject.

    Source: T. Tango, Statistics in Medicine 17, 891-908, 1998.
    """
    z = -float(ndtri((1 - level) / 2))
    n = both + only_first + only_second + neither
    seen = (only_second - only_first) / n

    # Both ends at once, until the middle of what is accepted and rejected is one of the two.
    inside = np.stack([seen, seen])
    outside = np.stack([np.full_like(seen, -1.0), np.full_like(seen, 1.0)])
    middle = 0.5 * (inside + outside)
    while np.any((middle != inside) & (middle != outside)):
        accept = np.abs(score_statistic(only_first, only_second, n, middle)) <= z
        inside, outside = np.where(accept, middle, inside), np.where(accept, outside, middle)
        middle = 0.5 * (inside + outside)
    return inside[0], inside[1]


def score_statistic(only_first: Array, only_second: Array, n: Array, null: Array) -> Array:
    """Give Tango's statistic of a difference `null`: normal if it is the true one."""
    # Mirrored to null ≥ 0, every term but the linear one is positive: nothing cancels.
    upward = null >= 0
    more = np.where(upward, only_second, only_first)
    fewer = np.where(upward, only_first, only_second)
    apart = np.abs(null)
    linear = apart * (2 * n - more + fewer) - more - fewer
    constant = fewer * apart * (1 - apart)
    root = np.sqrt(linear * linear + 8 * n * constant)
    # The positive root of 2nq² + linear·q − constant, in the form that does not cancel.
    is_positive = linear > 0
    share = np.where(
        is_positive,
        np.divide(2 * constant, root + linear, out=np.zeros_like(root), where=is_positive),
        (root - linear) / (4 * n),
    )
    variance = n * (2 * share + apart * (1 - apart))
    distance = np.where(upward, 1.0, -1.0) * (more - fewer - n * apart)
    impossible = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    scaled: Array = np.divide(
        distance, np.sqrt(variance), out=impossible, where=(variance > 0) & (distance != 0)
    )
    return scaled


def newcombe(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """Combine Wilson's intervals of both shares by squares, less their correlation φ.

    φ is corrected for continuity: n/2 is taken off its numerator, down to 0.
    Source: R. G. Newcombe, Statistics in Medicine 17, 2635-2650, 1998, method 10.
    """
    n = both + only_first + only_second + neither
    first, second = both + only_first, both + only_second
    p1, p2 = first / n, second / n
    (low1, high1), (low2, high2) = wilson(first, n, level), wilson(second, n, level)
    product = both * neither - only_first * only_second
    corrected = np.where(product > 0, np.maximum(product - n / 2, 0.0), product)
    margins = np.sqrt(first) * np.sqrt(n - first) * np.sqrt(second) * np.sqrt(n - second)
    phi = np.divide(corrected, margins, out=np.zeros_like(corrected), where=margins > 0)
    return (
        p2 - p1 - _combined(p2 - low2, high1 - p1, phi),
        p2 - p1 + _combined(high2 - p2, p1 - low1, phi),
    )


def _combined(one: Array, other: Array, correlation: Array) -> Array:
    squares = one * one - 2 * correlation * one * other + other * other
    combined: Array = np.sqrt(np.maximum(squares, 0.0))  # rounding can leave −1e-20
    return combined


def bonett_price(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """Use Wald's interval after adding one example to each kind of discordant ones.

    Source: D. G. Bonett and R. M. Price, J. Educational and Behavioral Statistics 37(4), 479-488,
    2012.
    """
    return wald(both, only_first + 1, only_second + 1, neither, level)


def wald(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """For comparison only: the textbook normal interval, of no width where the models agree."""
    n = both + only_first + only_second + neither
    share, apart = (only_first + only_second) / n, (only_second - only_first) / n
    spread = -float(ndtri((1 - level) / 2)) * np.sqrt(np.maximum(share - apart * apart, 0.0) / n)
    return apart - spread, apart + spread


PAIRED_DIFFERENCES: dict[str, PairedBounds] = {
    "tango": tango,
    "newcombe": newcombe,
    "bonett_price": bonett_price,
    "wald": wald,
}


def margins_of(region: Region, names: list[str]) -> dict[str, float]:
    """Give the region of each measure: one for all, or each its own."""
    if region is None:
        return {}
    if not isinstance(region, Mapping):
        return {name: _margin(region, name) for name in names}
    unknown = next((name for name in region if name not in names), None)
    if unknown is not None:
        listed = ", ".join(dict.fromkeys(names))
        raise InputError(f"`region` must name measures compared ({listed}); got {shown(unknown)}.")
    return {name: _margin(value, name) for name, value in region.items()}


def non_inferiority_p(*counts: int, region: float, higher_is_better: bool = True) -> float:
    """Give the p-value, by Tango's score, of the second model being worse by `region` or more."""
    _, first, second, _ = counts
    if higher_is_better:
        return paired_score_p(first, second, sum(counts), null=-region, alternative="greater")
    return paired_score_p(first, second, sum(counts), null=region, alternative="less")


def non_inferiority_p_from_ends(
    ends_at: Callable[[float], Ends], *, region: float, higher_is_better: bool = True
) -> float:
    """Give the p-value of the second model being worse by `region` or more, from the intervals.

    The smallest t < ½ whose interval at 1 − 2t has its end on the worse side strictly within the
    region, else 1: the one-sided test that the intervals are the inversion of; these must be
    nested.
    """
    # Halve the p-values t up to ½ for the smallest whose interval, at 1 − 2t, shows it.
    too_small, enough = 0.0, 0.5
    while enough - too_small > TOLERANCE:
        middle = (too_small + enough) / 2
        low, high = ends_at(1 - 2 * middle)
        if low > -region if higher_is_better else high < region:
            enough = middle
        else:
            too_small = middle
    return enough if enough < 0.5 else 1.0


def _margin(region: float, name: str) -> float:
    if check_number(region, "region", low=0.0, high=1e300) == 0:
        raise InputError("`region` must be above 0; got 0. A difference is never exactly 0.")
    low, high = find_measure(base_and_average(name)[0]).measure_range
    if region >= high - low:
        remedy = f" Write {region / 100:g} for {region:g} %." if 1 < region < 100 else ""
        raise InputError(
            f"`region` must be less than {high - low:g}, the largest difference that {name} can "
            f"have; got {region:g}.{remedy}"
        )
    return float(region)


@dataclass(frozen=True, kw_only=True)
class PairTable:
    """How many examples both models get right, only one of them, or neither."""

    names: NamePair
    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, names: NamePair, first: Flags, second: Flags) -> "PairTable":
        """Count the examples that either model gets right."""
        both, *each = (int(np.count_nonzero(one)) for one in (first & second, first, second))
        return cls(
            names=names,
            both=both,
            only_first=each[0] - both,
            only_second=each[1] - both,
            neither=len(first) - sum(each) + both,
        )

    @property
    def n(self) -> int:
        """All examples."""
        return sum(self.counts)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The four counts; turned around they are those of wrong answers."""
        return self.both, self.only_first, self.only_second, self.neither


@dataclass(frozen=True, kw_only=True)
class OmnibusTest:
    """A test of whether several models are equally good: its statistic, degrees and p-value."""

    statistic: float
    degrees: int
    p_value: float
    method: str


def by_table(
    table: PairTable,
    *,
    of_errors: bool,
    level: float,
    method: PairedMethod = "tango",
    region: float | None = None,
    plans: bool = True,
) -> TestOutcome:
    """Compare shares of right, or of wrong, answers on independent examples.

    Without `plans` the size that would settle an open question is left to be extrapolated: planning
    one takes a tenth of a second.
    """
    p_value = mcnemar(table.only_first, table.only_second)
    counts = table.counts[::-1] if of_errors else table.counts

    def ends_at(level: float) -> Ends:
        return paired_difference_ends(*counts, level=level, method=method)

    return TestOutcome(
        ends_at=ends_at,
        p_value=p_value,
        method="mcnemar_mid_p",
        interval_method=method,
        notes=() if table.only_first + table.only_second else (AGREE,),
        settled_by=planned_size(table, level, region) if plans and p_value > 1 - level else None,
        alternatives=tuple(
            AlternativeTest(f"mcnemar_{form}", mcnemar(*table.counts[1:3], method=form))
            for form in OTHER_FORMS
        ),
    )


def planned_size(table: PairTable, level: float, region: float | None = None) -> int | None:
    """Plan a test set on which the difference seen, or a larger region, would be detected.

    None where there is nothing to plan for, or the region exceeds the discordant share.
    """
    seen = (table.only_second - table.only_first) / table.n
    difference = planned_difference(seen, region)
    discordant = (table.only_first + table.only_second) / table.n
    if not MIN_PLANNED < difference <= discordant:
        return None
    return _planned(difference, discordant, level)


@lru_cache(maxsize=64)
def _planned(difference: float, discordant: float, level: float) -> int:
    return sample_size(difference=difference, discordant=discordant, level=level).n


def within_region(
    table: PairTable | None,
    ends_at: Callable[[float], Ends],
    region: float,
    *,
    higher_is_better: bool,
) -> Iterator[AlternativeTest]:
    """Test equivalence and non-inferiority: by Tango's score, or from the intervals of a measure.

    Equivalence has the larger of the one-sided p-values of both sides.  Tango's score is valid for
    many independent examples.  `table` is None for a measure that is no share of right answers, or
    not of independent ones.
    """
    if any(map(math.isinf, ends_at(0.5))):
        return
    if table is None:
        one_sided = partial(non_inferiority_p_from_ends, ends_at, region=region)
    else:
        counts = table.counts if higher_is_better else table.counts[::-1]
        one_sided = partial(non_inferiority_p, *counts, region=region)
    p_values = {side: one_sided(higher_is_better=side) for side in (True, False)}
    yield AlternativeTest("equivalence", max(p_values.values()))
    note = "the second is worse by the region or more"
    yield AlternativeTest("non_inferiority", p_values[higher_is_better], note)


def mcnemar(only_first: int, only_second: int, *, method: McNemarMethod = "mid_p") -> float:
    """Give the two-sided p-value of McNemar's test of two models on the same independent examples.

    With k = min(b, c), X ~ Bin(b + c, ½): exact min(1, 2P(X ≤ k)); mid_p 2P(X ≤ k) − P(X = k), or 1
    − P(X = k)/2 where b = c; asymptotic (b − c)²/(b + c) against χ²; continuity_corrected.  Only
    exact keeps its level for certain.  Enumerated for n = 10 to 60, up to half discordant, it
    rejected at 0.05 at most 0.031 (0.015 on average), mid_p 0.047 (0.028), asymptotic 0.054
    (0.038).
    Sources: Q. McNemar, Psychometrika 12, 153-157, 1947; M. W. Fagerland, S. Lydersen and P. Laake,
    BMC Medical Research Methodology 13:91, 2013.
    """
    return FORMS[method](only_first, only_second) if only_first + only_second else 1.0


def _exact(first: int, second: int) -> float:
    fewer = min(first, second)
    return min(1.0, 2 * binomial_test(fewer, first + second, alternative="less"))


def _mid_p(first: int, second: int) -> float:
    fewer = min(first, second)
    seen = math.exp(log_probability(fewer, first + second, 0.5))
    if first == second:
        return 1 - seen / 2
    return min(1.0, 2 * binomial_test(fewer, first + second, alternative="less") - seen)


def _asymptotic(first: int, second: int) -> float:
    return 2 * float(ndtr(-abs(first - second) / math.sqrt(first + second)))


def _continuity_corrected(first: int, second: int) -> float:
    apart = max(0, abs(first - second) - 1)
    return 2 * float(ndtr(-apart / math.sqrt(first + second)))


FORMS: dict[str, Callable[[int, int], float]] = {
    "mid_p": _mid_p,
    "exact": _exact,
    "asymptotic": _asymptotic,
    "continuity_corrected": _continuity_corrected,
}
OTHER_FORMS: tuple[McNemarMethod, ...] = ("exact", "asymptotic")  # given beside the mid-p test


def cochran_q(right: ArrayLike) -> OmnibusTest:
    """Test whether k models are right equally often on the same n examples: n × k.

    Q = (k − 1)(kΣG² − N²)/(kN − ΣL²), χ² with k − 1 degrees for many independent examples if the
    models are exchangeable.  Where no example distinguishes them, Q is 0 and p is 1.
    Source: W. G. Cochran, Biometrika 37(3/4), 256-266, 1950.
    """
    table = np.asarray(right)
    models = table.shape[1]
    # Python's integers: the squares of counts of many millions stay exact.
    by_model = [int(count) for count in np.count_nonzero(table, axis=0)]
    by_example = np.bincount(np.count_nonzero(table, axis=1), minlength=models + 1)
    total = sum(by_model)
    open_to_doubt = sum(
        count * int(rows) * (models - count) for count, rows in enumerate(by_example)
    )
    if open_to_doubt == 0:
        return OmnibusTest(statistic=0.0, degrees=models - 1, p_value=1.0, method="cochran_q")
    apart = models * sum(count * count for count in by_model) - total * total
    statistic = (models - 1) * apart / open_to_doubt
    return OmnibusTest(
        statistic=statistic,
        degrees=models - 1,
        p_value=float(chdtrc(models - 1, statistic)),
        method="cochran_q",
    )
