"""Who is right where: tests of the right answers of two or more models on the same examples."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, ndtr

from truerisk.aliases import Ends, Flags
from truerisk.checks import check_choice, check_whole_number, shown
from truerisk.comparison.conclusion import planned_difference
from truerisk.comparison.equivalence import (
    equivalence_p,
    equivalence_p_from_ends,
    non_inferiority_p,
    non_inferiority_p_from_ends,
)
from truerisk.comparison.outcome import AlternativeTest, TestOutcome
from truerisk.comparison.predictions.paired_difference import (
    AGREE,
    PairedMethod,
    paired_difference_ends,
)
from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_test, log_probability
from truerisk.intervals.planning import sample_size

McNemarMethod = Literal["mid_p", "exact", "asymptotic", "continuity_corrected"]
NamePair = tuple[str, str]

MIN_PLANNED = 1e-6  # a smaller difference is not planned for


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

    `table` is None for a measure that is no share of right answers, or not of independent ones.
    """
    if any(map(math.isinf, ends_at(0.5))):
        return
    if table is None:
        equivalent = equivalence_p_from_ends(ends_at, region=region)
        not_inferior = non_inferiority_p_from_ends(
            ends_at, region=region, higher_is_better=higher_is_better
        )
    else:
        counts = table.counts if higher_is_better else table.counts[::-1]
        equivalent = equivalence_p(*counts, region=region)
        not_inferior = non_inferiority_p(*counts, region=region, higher_is_better=higher_is_better)
    yield AlternativeTest("equivalence", equivalent)
    note = "the second is worse by the region or more"
    yield AlternativeTest("non_inferiority", not_inferior, note)


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
    first = check_whole_number(only_first, "only_first")
    second = check_whole_number(only_second, "only_second")
    check_choice(method, FORMS, "method")
    if first + second == 0:
        return 1.0
    return FORMS[method](first, second)


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
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise InputError(
            "`right` must have one row per example and one column per model, of two models or "
            f"more; got the shape {table.shape}."
        )
    if table.dtype.kind not in "biuf" or not np.all((table == 0) | (table == 1)):
        wrong = [value for value in table.ravel().tolist() if value not in {0, 1}]
        raise InputError(f"`right` must hold 0 and 1 only; got {shown(wrong[0])}.")
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
