"""Scores of rows in groups → estimates: every measure by the jackknife over groups."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.aliases import Array
from truerisk.evaluation.count_estimates import averaged_measure, finished
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.evaluation.score_estimates import (
    ScoreEstimates,
    document_notes,
    loss_notes,
    losses_of,
    ranking_names,
    ranking_notes,
)
from truerisk.intervals.choose import whole_range
from truerisk.intervals.group_jackknife import MIN_GROUPS, Reach, group_jackknife
from truerisk.measures.averages import AVERAGES
from truerisk.measures.from_scores import summarise_documents
from truerisk.measures.registry import (
    AVERAGED_RANKINGS,
    Measure,
    find_measure,
)
from truerisk.results import Estimate, Finding, Interval
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


@dataclass(frozen=True)
class GroupEstimates:
    """The estimates that the scores of rows in groups have to offer.  Nothing is drawn."""

    tallies: Tallies
    rows: ScoredRows
    request: Request

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        if self.rows.classes == 1:
            yield from self._of_ranking(0)
        else:
            yield from self._averages()
        yield from self._of_documents()
        yield from self._of_probabilities()

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of each class's own scores."""
        return {} if self.rows.classes == 1 else self._each

    @cached_property
    def _each(self) -> dict[str, dict[str, Estimate]]:
        return {
            label: {one.measure: one for one in self._of_ranking(at)}
            for at, label in enumerate(self.tallies.rankings)
        }

    def _of_ranking(self, at: int) -> Iterator[Estimate]:
        ranking = list(self.tallies.rankings.values())[at]
        for name in ranking_names(self.request):
            measure = find_measure(name)
            value = float(measure.value(ranking))
            interval = whole_range(self.request.level)
            if not np.isnan(value):
                interval = self._interval(measure, value, self.rows.values_of_class(name, at))
            notes = ranking_notes(name, ranking) + not_kept(name, self.rows.groups)
            yield finished(measure, value, interval, ranking.n, notes)

    def _averages(self) -> Iterator[Estimate]:
        names = self.request.wanted_somehow(AVERAGED_RANKINGS)
        support = np.array([float(r.n_positive) for r in self.tallies.rankings.values()])
        for name in names:
            values = np.array([estimates[name].value for estimates in self._each.values()])
            for average, weights in (("macro", np.ones(len(values))), ("weighted", support)):
                taken = ~np.isnan(values) & (weights > 0)
                text = f"over {int(taken.sum())} of {len(values)} classes"
                note = Finding(text, code="classes_averaged")
                value = np.nan
                if taken.any():
                    value = float(np.average(values[taken], weights=weights[taken]))
                yield self._averaged(find_measure(name), average, value, (note,))
        if self.tallies.pooled is not None:
            for name in self.request.wanted(AVERAGED_RANKINGS, "_micro"):
                measure = find_measure(name)
                value = float(measure.value(self.tallies.pooled))
                yield self._averaged(measure, "micro", value)

    def _averaged(
        self, measure: Measure, average: str, value: float, notes: tuple[Finding, ...] = ()
    ) -> Estimate:
        named = averaged_measure(measure, average, AVERAGES[average].title, "class")
        if np.isnan(value):
            return finished(named, value, whole_range(self.request.level), self.tallies.n)
        interval = self._interval(measure, value, self.rows.group_values(measure.name, average))
        notes += not_kept(measure.name, self.rows.groups)
        return finished(named, value, interval, self.tallies.n, notes)

    def _of_documents(self) -> Iterator[Estimate]:
        if self.tallies.documents is None or self.rows.classes == 1:
            return
        summary = summarise_documents(self.tallies.documents)
        measure = find_measure("eleven_point_documents")
        values = self.rows.group_values(measure.name)
        interval = self._interval(measure, summary.value, values)
        notes = document_notes(summary)
        yield finished(measure, summary.value, interval, summary.documents, notes)

    def _of_probabilities(self) -> Iterator[Estimate]:
        tally = self.tallies.probabilities
        if tally is None:
            return
        for measure in losses_of(self.tallies):
            value = float(measure.value(tally))
            notes = loss_notes(measure.name, tally)
            interval = whole_range(self.request.level, measure.measure_range)
            if np.isfinite(value):
                values = self.rows.group_values(measure.name)
                interval = self._interval(measure, value, values)
                notes += not_kept(measure.name, self.rows.groups)
            yield finished(measure, value, interval, tally.rows, notes)

    def _interval(self, measure: Measure, value: float, values: GroupValues) -> Interval:
        """Give the interval; the value itself may be rounded in another way."""
        interval = group_jackknife(
            values,
            level=self.request.level,
            measure_range=measure.measure_range,
            reach=REACH.get(measure.name, "shares"),
        )
        if np.isnan(value):
            return interval
        return replace(interval, low=min(interval.low, value), high=max(interval.high, value))


def score_estimates(tallies: Tallies, request: Request) -> ScoreEstimates | GroupEstimates:
    """Give what scores have to offer: of rows in groups, or of independent ones."""
    if tallies.grouped_scores is not None:
        return GroupEstimates(tallies, tallies.grouped_scores, request)
    return ScoreEstimates(tallies, request)


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
