"""Scores → estimates: rankings, losses and documents, each measure with its interval."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.aliases import Array
from truerisk.evaluation.count_estimates import averaged_measure, finished, generator_for
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.choose import (
    auc_interval,
    average_interval,
    grouped_ranking_interval,
    mean_interval,
    pooled_interval,
    whole_range,
)
from truerisk.intervals.mean_losses import loss_interval
from truerisk.intervals.rankings import ranking_interval, shortfalls
from truerisk.intervals.replicates import replicates_for
from truerisk.measures.averages import AVERAGES
from truerisk.measures.from_scores import summarise_documents
from truerisk.measures.registry import (
    AVERAGED_RANKINGS,
    Measure,
    find_measure,
    measures_that_need,
)
from truerisk.results import Estimate, Finding, Interval
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_replicates import FORMULAS, cluster_replicates
from truerisk.tallies.scored_rows import (
    GroupedScores,
    document_averages,
    error_of_mean,
    loss_of_rows,
)

REPLICATED = FORMULAS.keys() - {"roc_auc"}  # of groups; Obuchowski's variance needs none
CHOSEN_HERE = {"ks", "best_f1"}  # their threshold is chosen on the same examples
MANY_CLASSES = 10  # with more, the intervals of single classes are the binomial ones alone


@dataclass(frozen=True)
class ScoreEstimates:
    """The estimates that the scores of a set of predictions have to offer.

    Without `resampled`, no groups are drawn: the values are the same, some intervals are rougher.
    """

    tallies: Tallies
    request: Request
    resampled: bool = True

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        if len(self.tallies.rankings) == 1:
            yield from self._of_ranking(next(iter(self.tallies.rankings)))
        elif self.tallies.rankings:
            yield from self._averages()
        yield from self._of_documents()
        yield from self._of_probabilities()

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of each class's own scores."""
        if len(self.tallies.rankings) == 1:
            return {}
        return self._each

    @cached_property
    def _each(self) -> dict[str, dict[str, Estimate]]:
        return {
            label: {one.measure: one for one in self._of_ranking(label)}
            for label in self.tallies.rankings
        }

    def _of_ranking(self, label: str) -> Iterator[Estimate]:
        ranking = self.tallies.rankings[label]
        rows = self.tallies.grouped_scores.get(label)
        level = self.request.level
        names = self.request.wanted_somehow(m.name for m in measures_that_need("ranking"))
        drawn = self._replicates(label, rows, [n for n in names if n in REPLICATED])
        for name in names:
            measure = find_measure(name)
            value = float(measure.value(ranking))
            notes = _ranking_notes(name, ranking)
            if name == "roc_auc":
                interval = auc_interval(ranking, rows, level=level)
            elif rows is None:
                interval = ranking_interval(name, value, ranking, level=level)
                notes += shortfalls(name, ranking)
            else:
                interval = grouped_ranking_interval(name, value, drawn.get(name), rows, level=level)
            yield finished(measure, value, interval, ranking.n, notes)

    def _replicates(
        self, label: str, rows: GroupedScores | None, names: list[str]
    ) -> dict[str, Array]:
        many = len(self.tallies.rankings) > MANY_CLASSES
        one_class = 0 in self.tallies.rankings[label].rows
        if rows is None or not self.resampled or one_class or not names or many:
            return {}
        rng = generator_for(f"ranking of {label}", self.request)
        size = replicates_for(self.request.level, least=self.request.replicates)
        return cluster_replicates(
            rows.score,
            rows.is_positive,
            rows.group,
            names,
            weight=rows.weight,
            replicates=size,
            rng=rng,
        )

    def _averages(self) -> Iterator[Estimate]:
        support = np.array([float(r.n_positive) for r in self.tallies.rankings.values()])
        for name in self.request.wanted_somehow(AVERAGED_RANKINGS):
            measure = find_measure(name)
            each = [estimates[name] for estimates in self._each.values()]
            yield self._averaged(measure, "macro", each, np.ones(len(each)))
            yield self._averaged(measure, "weighted", each, support)
        if self.tallies.pooled is not None:
            yield from self._pooled(self.tallies.pooled)

    def _pooled(self, ranking: Ranking) -> Iterator[Estimate]:
        """Rank all (example, class) pairs together: the micro average."""
        groups = None if self._any_rows is None else self._any_rows.groups
        for name in self.request.wanted(AVERAGED_RANKINGS, "_micro"):
            measure = find_measure(name)
            named = replace(measure, name=f"{name}_micro", title=f"{measure.title}, micro average")
            value = float(measure.value(ranking))
            interval = pooled_interval(
                value, ranking, self.tallies.n, groups, level=self.request.level
            )
            yield finished(named, value, interval, self.tallies.n)

    @cached_property
    def _correlations(self) -> dict[str, Array]:
        joint = self.tallies.joint_scores
        names = self.request.wanted_somehow(AVERAGED_RANKINGS)
        if joint is None or not names:
            return {}
        return joint.correlations(names)

    def _averaged(
        self, measure: Measure, average: str, each: list[Estimate], weights: Array
    ) -> Estimate:
        values = np.array([one.value for one in each])
        taken = ~np.isnan(values) & (weights > 0)
        named = averaged_measure(measure, average, AVERAGES[average].title, "class")
        if not taken.any():
            return finished(named, np.nan, whole_range(self.request.level), self.tallies.n)
        shares = weights[taken] / weights[taken].sum()
        correlation = self._correlations.get(measure.name)
        interval = average_interval(
            values[taken],
            [one.interval for one, used in zip(each, taken, strict=True) if used and one.interval],
            shares,
            None if correlation is None else correlation[taken][:, taken],
            level=self.request.level,
        )
        note = Finding(f"over {int(taken.sum())} of {len(each)} classes", code="classes_averaged")
        value = float(shares @ values[taken])
        return finished(named, value, interval, self.tallies.n, (note,))

    def _of_documents(self) -> Iterator[Estimate]:
        if self.tallies.documents is None or len(self.tallies.rankings) < 2:
            return
        summary = summarise_documents(self.tallies.documents)
        error, units, rows = summary.standard_error, summary.documents, self._any_rows
        if rows is not None:
            averages = document_averages(self.tallies.grouped_scores)
            error, units = error_of_mean(averages, rows), rows.groups
        interval = mean_interval(
            summary.value, error, units, level=self.request.level, grouped=rows is not None
        )
        text = f"{summary.undefined} documents have no correct category and are left out"
        notes = (Finding(text, code="documents_left_out"),) if summary.undefined else ()
        measure = find_measure("eleven_point_documents")
        yield finished(measure, summary.value, interval, summary.documents, notes)

    def _of_probabilities(self) -> Iterator[Estimate]:
        tally, rows = self.tallies.probabilities, self._any_rows
        if tally is None:
            return
        for entry in measures_that_need("probabilities"):
            measure = entry
            if entry.name == "brier_score" and len(self.tallies.rankings) == 1:
                measure = replace(entry, measure_range=(0.0, 1.0))
            value = float(measure.value(tally))
            notes: tuple[Finding, ...] = ()
            if impossible := tally.infinite[measure.name]:
                text = f"{impossible} true classes were given the probability 0"
                notes = (Finding(text, code="impossible_truth"),)
            interval = self._loss_interval(measure, tally, rows)
            yield finished(measure, value, interval, tally.rows, notes)

    def _loss_interval(
        self, measure: Measure, tally: ProbabilityTally, rows: GroupedScores | None
    ) -> Interval:
        level, measure_range = self.request.level, measure.measure_range
        if rows is None:
            moments = tally.moments(measure.name)
            return loss_interval(moments, level=level, measure_range=measure_range)
        value, error = float(measure.value(tally)), np.nan
        if np.isfinite(value):
            lost = loss_of_rows(measure.name, self.tallies.grouped_scores)
            error = error_of_mean(lost, rows)
        return mean_interval(
            value, error, rows.groups, level=level, measure_range=measure_range, grouped=True
        )

    @property
    def _any_rows(self) -> GroupedScores | None:
        """The groups of the rows, which are the same whatever is scored."""
        return next(iter(self.tallies.grouped_scores.values()), None)


def _ranking_notes(name: str, ranking: Ranking) -> tuple[Finding, ...]:
    if name in CHOSEN_HERE:
        text = "the threshold is chosen on the same examples"
        return (Finding(text, code="threshold_chosen_here"),)
    nearest = ranking.summary.breakeven
    if name != "breakeven_point" or not nearest.interpolated:
        return ()
    text = (
        f"interpolated: precision {nearest.precision:.3f} and recall {nearest.recall:.3f} are as "
        "near as any threshold brings them"
    )
    return (Finding(text, code="interpolated"),)
