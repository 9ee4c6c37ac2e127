"""Scores → estimates: rankings, losses and documents, of independent rows or of rows in groups."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress

import numpy as np

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.evaluation.count_estimates import averaged_measure, finished
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.choose import (
    auc_interval,
    average_interval,
    mean_interval,
    pairs_interval,
    pooled_interval,
    whole_range,
)
from truerisk.intervals.group_jackknife import MIN_GROUPS, Reach, group_jackknife
from truerisk.intervals.means import loss_interval
from truerisk.intervals.rankings import (
    best_f1_at_prior,
    bias_shortfalls,
    pooled_shortfalls,
    precision_bias,
    ranking_interval,
    shortfalls,
)
from truerisk.measures.averages import AVERAGES
from truerisk.measures.from_scores import DocumentPrecision, summarise_documents
from truerisk.measures.registry import (
    AVERAGED_RANKINGS,
    Measure,
    base_measure,
    find_measure,
    measures_that_need,
)
from truerisk.results import Estimate, Finding, Interval
from truerisk.tallies.group_values import GroupValues, effective_groups
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_weights import pair_areas
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

CHOSEN_HERE = {"ks", "best_f1"}  # their threshold is chosen on the same examples


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


def check_two_groups(groups: int) -> None:
    """Refuse a single group."""
    if groups < 2:
        raise InputError(
            "`groups` must name 2 groups at least; got 1. One group says nothing of others; "
            "leave `groups` out if its rows are independent."
        )


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


@dataclass(frozen=True)
class ScoreEstimates:
    """The estimates that the scores of a set of predictions have to offer."""

    tallies: Tallies
    request: Request

    @cached_property
    def intervals(self) -> "IndependentScores | GroupedScores":
        """What gives each measure its interval: independent rows, or rows in groups."""
        rows = self.tallies.grouped_scores
        if rows is None:
            return IndependentScores(self.tallies, self.request)
        return GroupedScores(rows, self.request.level)

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        if len(self.tallies.rankings) == 1:
            yield from self._of_ranking(0, *self.tallies.rankings.values())
        elif self.tallies.rankings:
            yield from self._averages()
        yield from self._of_pairs()
        yield from self._of_documents()
        yield from self._of_probabilities()

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of each class's own scores."""
        return {} if len(self.tallies.rankings) == 1 else self._each

    @cached_property
    def _each(self) -> dict[str, dict[str, Estimate]]:
        return {
            label: {one.measure: one for one in self._of_ranking(at, ranking)}
            for at, (label, ranking) in enumerate(self.tallies.rankings.items())
        }

    def _of_ranking(self, at: int, ranking: Ranking) -> Iterator[Estimate]:
        for name in ranking_names(self.request):
            measure = find_measure(name)
            value = float(measure.value(ranking))
            interval, notes = self.intervals.of_ranking(name, value, ranking, at)
            yield finished(
                measure, value, interval, ranking.n, ranking_notes(name, ranking) + notes
            )

    def _averages(self) -> Iterator[Estimate]:
        support = np.array([float(r.n_positive) for r in self.tallies.rankings.values()])
        for name in self.request.requested_or_averaged(AVERAGED_RANKINGS):
            each = [estimates[name] for estimates in self._each.values()]
            for average, weights in (("macro", np.ones(len(each))), ("weighted", support)):
                yield self._averaged(find_measure(name), average, each, weights)
        pooled = self.tallies.pooled
        if pooled is None:
            return
        # All (example, class) pairs ranked together: the micro average.
        for name in self.request.requested(AVERAGED_RANKINGS, "_micro"):
            measure = find_measure(name)
            named = replace(measure, name=f"{name}_micro", title=f"{measure.title}, micro average")
            value = float(measure.value(pooled))
            interval, notes = self.intervals.of_pooled(name, value, pooled)
            yield finished(named, value, interval, self.tallies.n, notes)

    def _averaged(
        self, measure: Measure, average: str, each: list[Estimate], weights: Array
    ) -> Estimate:
        values = np.array([one.value for one in each])
        taken = ~np.isnan(values) & (weights > 0)
        named = averaged_measure(measure, average, AVERAGES[average].title, "class")
        if not taken.any():
            return finished(named, np.nan, whole_range(self.request.level), self.tallies.n)
        shares = np.where(taken, weights, 0.0) / weights[taken].sum()
        value = float(shares[taken] @ values[taken])
        interval, notes = self.intervals.of_average(measure.name, average, value, each, shares)
        note = Finding(f"over {int(taken.sum())} of {len(each)} classes", code="classes_averaged")
        return finished(named, value, interval, self.tallies.n, (note, *notes))

    def _of_pairs(self) -> Iterator[Estimate]:
        """Estimate the mean area over pairs of classes, if it is named and the rows are held."""
        rows = self.tallies.joint_scores
        if "roc_auc_ovo" not in (self.request.measures or ()) or rows is None or rows.classes < 2:
            return
        value, influence = pair_areas(rows)
        interval = pairs_interval(value, influence, rows, level=self.request.level)
        yield finished(find_measure("roc_auc_ovo"), value, interval, self.tallies.n)

    def _of_documents(self) -> Iterator[Estimate]:
        if self.tallies.documents is None or len(self.tallies.rankings) < 2:
            return
        summary = summarise_documents(self.tallies.documents)
        interval = self.intervals.of_documents(summary)
        measure = find_measure("eleven_point_documents")
        notes = document_notes(summary)
        yield finished(measure, summary.value, interval, summary.documents, notes)

    def _of_probabilities(self) -> Iterator[Estimate]:
        tally = self.tallies.probabilities
        if tally is None:
            return
        for measure in losses_of(self.tallies):
            value = float(measure.value(tally))
            interval, notes = self.intervals.of_loss(measure, value, tally)
            notes = loss_notes(measure.name, tally) + notes
            yield finished(measure, value, interval, tally.rows, notes)


@dataclass(frozen=True)
class IndependentScores:
    """The interval of each measure of the scores of independent rows, and what is said of it."""

    tallies: Tallies
    request: Request

    def of_ranking(self, name: str, value: float, ranking: Ranking, _: int) -> Answer:
        """Give the interval of a measure of one class's ranking."""
        level = self.request.level
        if name == "roc_auc":
            return auc_interval(ranking, level=level), ()
        if name == "best_f1" and self.request.prior is not None:
            return best_f1_at_prior(value, ranking, level=level), ()
        return ranking_interval(name, value, ranking, level=level), shortfalls(name, ranking)

    def of_pooled(self, name: str, value: float, ranking: Ranking) -> Answer:
        """Give the interval of a micro average."""
        interval = pooled_interval(value, ranking, self.tallies.n, level=self.request.level)
        return interval, pooled_shortfalls(name, ranking)

    def of_average(
        self, name: str, _: str, value: float, each: list[Estimate], shares: Array
    ) -> Answer:
        """Give the interval of a mean over classes, each of which has its own."""
        taken = shares > 0
        correlation, bias = self._correlations.get(name), 0.0
        if name == "average_precision":
            rankings = compress(self.tallies.rankings.values(), taken)
            bias = float(shares[taken] @ [precision_bias(ranking) for ranking in rankings])
        interval = average_interval(
            np.array([one.value for one in each])[taken],
            [one.interval for one, used in zip(each, taken, strict=True) if used and one.interval],
            shares[taken],
            None if correlation is None else correlation[taken][:, taken],
            level=self.request.level,
            bias=bias,
        )
        return interval, bias_shortfalls(bias, value - interval.low)

    @cached_property
    def _correlations(self) -> dict[str, Array]:
        joint = self.tallies.joint_scores
        names = self.request.requested_or_averaged(AVERAGED_RANKINGS)
        return {} if joint is None or not names else joint.correlations(names)

    def of_documents(self, summary: DocumentPrecision) -> Interval:
        """Give the interval of a mean over documents."""
        error, level = summary.standard_error, self.request.level
        return mean_interval(summary.value, error, summary.documents, level=level)

    def of_loss(self, measure: Measure, _: float, tally: ProbabilityTally) -> Answer:
        """Give the interval of a mean loss."""
        moments, ends = tally.moments(measure.name), measure.measure_range
        return loss_interval(moments, level=self.request.level, measure_range=ends), ()


def ranking_names(request: Request) -> list[str]:
    """Give the measures of a ranking to estimate: the usual ones, and others that are named."""
    usual = request.requested_or_averaged(m.name for m in measures_that_need("ranking"))
    named = (name for name in request.measures or () if base_measure(name).on_request)
    return usual + [name for name in named if find_measure(name).needs == "ranking"]


def losses_of(tallies: Tallies) -> Iterator[Measure]:
    """Give the measures of probabilities, with the range that they have here."""
    for entry in measures_that_need("probabilities"):
        if entry.name == "brier_score" and len(tallies.rankings) == 1:
            yield replace(entry, measure_range=(0.0, 1.0))
        else:
            yield entry


def loss_notes(name: str, tally: ProbabilityTally) -> tuple[Finding, ...]:
    """Say how many true classes were called impossible."""
    impossible = tally.infinite[name]
    text = f"{impossible} true classes were given the probability 0"
    return (Finding(text, code="impossible_truth"),) if impossible else ()


def document_notes(summary: DocumentPrecision) -> tuple[Finding, ...]:
    """Say how many documents have no value."""
    text = f"{summary.undefined} documents have no correct category and are left out"
    return (Finding(text, code="documents_left_out"),) if summary.undefined else ()


def ranking_notes(name: str, ranking: Ranking) -> tuple[Finding, ...]:
    """Say where a threshold was chosen on the same examples, or interpolated."""
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
