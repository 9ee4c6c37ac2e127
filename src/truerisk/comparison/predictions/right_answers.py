"""Two models' right answers: McNemar's test, the paired interval, and who needs more examples."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Ends
from truerisk.comparison.equivalence import (
    equivalence_p,
    equivalence_p_from_ends,
    non_inferiority_p,
    non_inferiority_p_from_ends,
)
from truerisk.comparison.predictions.comparisons import Beside, PairTable
from truerisk.comparison.predictions.mcnemar import mcnemar
from truerisk.comparison.predictions.paired_difference import (
    PairedMethod,
    clustered_paired_ends,
    clustered_paired_p,
    paired_difference_ends,
)
from truerisk.comparison.spread import Found
from truerisk.intervals.planning import sample_size

AGREE = "no discordant pairs: both are right on the same examples"
MIN_PLANNED = 1e-6  # a smaller difference is not planned for


@dataclass(frozen=True)
class TableEnds:
    """The interval for the difference of two shares of one table, at any level."""

    counts: tuple[int, int, int, int]
    method: PairedMethod

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        del value
        return paired_difference_ends(*self.counts, level=level, method=self.method)


@dataclass(frozen=True)
class ClusteredEnds:
    """The interval for the mean of differences that come in groups, at any level."""

    differences: NDArray[np.float64]
    groups: NDArray[np.intp]

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        del value
        return clustered_paired_ends(self.differences, self.groups, level)


def by_table(
    table: PairTable, *, of_errors: bool, level: float, method: PairedMethod, plans: bool = True
) -> Found:
    """Compare shares of right, or of wrong, answers on independent examples.

    Without `plans` the size that would settle an open question is left to be extrapolated: planning
    one takes a tenth of a second.

    Examples
    --------
    >>> table = PairTable(names=("a", "b"), both=80, only_first=3, only_second=12, neither=5)
    >>> found = by_table(table, of_errors=True, level=0.95, method="tango")
    >>> round(found.p_value, 4), [round(end, 3) for end in found.spread.ends(-0.09, 0.95)]
    (0.0213, [-0.174, -0.016])
    """
    p_value = mcnemar(table.only_first, table.only_second)
    counts = table.counts[::-1] if of_errors else table.counts
    return Found(
        p_value,
        TableEnds(counts, method),
        "mcnemar_mid_p",
        method,
        settled_by(table, level) if plans and p_value > 1 - level else None,
        () if table.only_first + table.only_second else (AGREE,),
    )


def by_groups(differences: NDArray[np.float64], groups: NDArray[np.intp]) -> Found:
    """Compare shares of right, or of wrong, answers on examples that come in groups."""
    p_value = clustered_paired_p(differences, groups)
    notes = () if differences.any() else (AGREE,)
    spread = ClusteredEnds(differences, groups)
    return Found(p_value, spread, "clustered_t", "clustered_t", notes=notes)


def settled_by(table: PairTable, level: float) -> int | None:
    """Plan a test set on which a difference like this one would be told; None without one.

    Examples
    --------
    >>> table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=9, neither=5)
    >>> settled_by(table, 0.95)
    1299
    """
    difference = abs(table.only_second - table.only_first) / table.n
    if difference <= MIN_PLANNED:
        return None
    discordant = (table.only_first + table.only_second) / table.n
    return _planned(difference, discordant, level)


@lru_cache(maxsize=64)
def _planned(difference: float, discordant: float, level: float) -> int:
    return sample_size(difference=difference, discordant=discordant, level=level).n


def other_tests(table: PairTable) -> Iterator[Beside]:
    """Give McNemar's other tests of the same table."""
    yield Beside("mcnemar_exact", mcnemar(table.only_first, table.only_second, method="exact"))
    p_value = mcnemar(table.only_first, table.only_second, method="asymptotic")
    yield Beside("mcnemar_asymptotic", p_value)


def within_region(
    table: PairTable | None,
    ends_at: Callable[[float], Ends],
    region: float,
    *,
    higher_is_better: bool,
) -> Iterator[Beside]:
    """Test equivalence and non-inferiority: by Tango's score, or from the intervals of a measure.

    `table` is None for a measure that is no share of right answers, or not of independent ones.
    """
    if any(map(math.isinf, ends_at(0.5))):
        return
    if table is None:
        yield Beside("equivalence", equivalence_p_from_ends(ends_at, region=region))
        p_value = non_inferiority_p_from_ends(
            ends_at, region=region, higher_is_better=higher_is_better
        )
    else:
        counts = table.counts if higher_is_better else table.counts[::-1]
        yield Beside("equivalence", equivalence_p(*counts, region=region))
        p_value = non_inferiority_p(*counts, region=region, higher_is_better=higher_is_better)
    yield Beside("non_inferiority", p_value, "the second is worse by the region or more")
