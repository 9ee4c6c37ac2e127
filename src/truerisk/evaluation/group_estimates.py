"""Scores of rows in groups: every interval by the jackknife over groups, and its warnings."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from truerisk.aliases import Array
from truerisk.intervals.choose import whole_range
from truerisk.intervals.group_jackknife import MIN_GROUPS, Reach, group_jackknife
from truerisk.measures.from_scores import DocumentPrecision
from truerisk.measures.registry import Measure, find_measure
from truerisk.results import Finding, Interval
from truerisk.tallies.group_values import GroupValues, effective_groups
from truerisk.tallies.scored_rows import ScoredRows

REACH: dict[str, Reach] = {
    "roc_auc": "precision",
    "average_precision": "precision",
    "eleven_point_precision": "precision",
    "eleven_point_documents": "losses",
    "log_loss": "losses",
    "brier_score": "losses",
}
FEW_GROUPS = 12
SKEWED = frozenset(REACH) - {"roc_auc"}
FEW_WHERE_SKEWED = 60  # for these
MIN_EFFECTIVE = 8.0
LARGEST_SHARE = 0.25

Answer = tuple[Interval, tuple[Finding, ...]]


@dataclass(frozen=True)
class GroupedScores:
    """The interval of each measure of the scores of rows in groups, and what is said of it."""

    rows: ScoredRows
    level: float

    def of_ranking(self, name: str, value: float, _: object, at: int) -> Answer:
        """Give the interval of a measure of one class's ranking."""
        interval = whole_range(self.level)
        if not np.isnan(value):
            values = self.rows.values_of_class(name, at)
            interval = self._interval(find_measure(name), value, values)
        return interval, not_kept(name, self.rows.groups)

    def of_pooled(self, name: str, value: float, _: object) -> Answer:
        """Give the interval of a micro average."""
        if np.isnan(value):
            return whole_range(self.level), ()
        return self.of_average(name, "micro", value)

    def of_average(self, name: str, average: str, value: float, *_: object) -> Answer:
        """Give the interval of an average over classes."""
        values = self.rows.group_values(name, average)
        return self._interval(find_measure(name), value, values), not_kept(name, self.rows.groups)

    def of_documents(self, summary: DocumentPrecision) -> Interval:
        """Give the interval of a mean over documents."""
        measure = find_measure("eleven_point_documents")
        return self._interval(measure, summary.value, self.rows.group_values(measure.name))

    def of_loss(self, measure: Measure, value: float, _: object) -> Answer:
        """Give the interval of a mean loss."""
        if not np.isfinite(value):
            return whole_range(self.level, measure.measure_range), ()
        values = self.rows.group_values(measure.name)
        return self._interval(measure, value, values), not_kept(measure.name, self.rows.groups)

    def _interval(self, measure: Measure, value: float, values: GroupValues) -> Interval:
        """Give the interval; the value itself may be rounded in another way."""
        interval = group_jackknife(
            values,
            level=self.level,
            measure_range=measure.measure_range,
            reach=REACH.get(measure.name, "shares"),
        )
        if np.isnan(value):
            return interval
        return replace(interval, low=min(interval.low, value), high=max(interval.high, value))


def not_kept(name: str, groups: int) -> tuple[Finding, ...]:
    """Say where an interval of few groups may miss the truth more often than its level says."""
    if name not in SKEWED or not MIN_GROUPS <= groups < FEW_WHERE_SKEWED:
        return ()
    text = (
        f"not kept with {groups} groups: groups that do much worse may be missing altogether "
        "(measured at 95 %: down to 0.69 for losses and 0.87 for average precision)"
    )
    return (Finding(text, code="not_kept_at_this_size"),)


def group_notes(sizes: Array) -> Iterator[Finding]:
    """Say what few or unequal groups mean, from the rows (or weights) of each group."""
    groups = len(sizes)
    share = float(sizes.max() / sizes.sum())
    if groups < MIN_GROUPS:
        text = "Two groups say nothing of a third: the intervals are the whole range."
        yield Finding(text, code="two_groups")
        return
    if groups < FEW_GROUPS:
        yield Finding(
            f"Few groups: a kind of group that is rarer than {3 / groups:.0%} of all may be "
            "missing altogether, and no interval from these groups can allow for it.",
            code="few_groups",
        )
    effective = effective_groups(sizes)
    if share > LARGEST_SHARE or effective < MIN_EFFECTIVE <= groups:
        yield Finding(
            f"Unequal groups: one is {share:.0%} of the rows, and the {groups} groups are worth "
            f"{effective:.1f} equal ones. The intervals are long; a difference is hard to show.",
            code="unequal_groups",
        )
