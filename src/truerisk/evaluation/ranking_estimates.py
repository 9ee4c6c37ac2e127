"""Rankings → estimates: what the scores are worth, each measure with its interval."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from truerisk.evaluation.count_estimates import finished, generator_for
from truerisk.evaluation.grouped_scores import GroupedScores
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.auc import delong_interval
from truerisk.intervals.binomial import fractional_interval
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.delta import delta_interval
from truerisk.intervals.replicates import replicate_interval, replicates_for
from truerisk.measures.document_precision import summarise_documents
from truerisk.measures.registry import Measure, find_measure, measures_that_need
from truerisk.results import Estimate, Interval
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_replicates import (
    cluster_auc_variance,
    cluster_replicates,
    replicates,
)

CHOSEN_HERE = {"ks", "best_f1"}  # their threshold is chosen on the same examples
AVERAGED = ("roc_auc", "average_precision", "breakeven_point", "eleven_point_precision")


@dataclass(frozen=True)
class RankingEstimates:
    """The estimates that the scores of a set of predictions have to offer."""

    tallies: Tallies
    request: Request

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        if len(self.tallies.rankings) == 1:
            label = next(iter(self.tallies.rankings))
            yield from self._of_ranking(label)
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
        grouped = self.tallies.grouped_scores.get(label)
        names = self.request.wanted_somehow(m.name for m in measures_that_need("ranking"))
        drawn = self._replicates(
            label, ranking, grouped, [name for name in names if name != "roc_auc"]
        )
        for name in names:
            measure = find_measure(name)
            value = float(measure.value(ranking))
            if name == "roc_auc":
                interval = self._auc_interval(ranking, grouped)
            else:
                interval = self._drawn_interval(name, value, drawn.get(name), ranking, grouped)
            notes = ("the threshold is chosen on the same examples",) * (name in CHOSEN_HERE)
            yield finished(measure, value, interval, ranking.n, notes)

    def _replicates(
        self, label: str, ranking: Ranking, grouped: GroupedScores | None, names: list[str]
    ) -> dict[str, NDArray[np.float64]]:
        if 0 in ranking.rows or not names:
            return {}
        rng = generator_for(f"ranking of {label}", self.request)
        size = replicates_for(self.request.level, least=self.request.replicates)
        if grouped is not None:
            return cluster_replicates(
                grouped.score,
                grouped.is_positive,
                grouped.group,
                names,
                weight=grouped.weight,
                replicates=size,
                rng=rng,
            )
        return replicates(ranking, names, replicates=size, rng=rng)

    def _auc_interval(self, ranking: Ranking, grouped: GroupedScores | None) -> Interval:
        variance = ranking.delong_variance
        positives, negatives = ranking.rows
        if np.isnan(ranking.auc):
            return self._open()
        if grouped is None:
            return delong_interval(
                ranking.auc, variance, positives, negatives, level=self.request.level
            )
        variance = cluster_auc_variance(grouped.score, grouped.is_positive, grouped.group)
        groups = len(np.unique(grouped.group))
        tail = (1 - self.request.level) / 2
        widening = float(stdtrit(max(groups - 1, 1), tail) / ndtri(tail))
        interval = delong_interval(
            ranking.auc,
            variance * widening**2,
            min(positives, groups),
            min(negatives, groups),
            level=self.request.level,
        )
        return replace(interval, method=f"cluster_{interval.method}")

    def _drawn_interval(
        self,
        name: str,
        value: float,
        drawn: NDArray[np.float64] | None,
        ranking: Ranking,
        grouped: GroupedScores | None,
    ) -> Interval:
        """Give the bias-corrected bootstrap interval, never shorter than the binomial one.

        Maxima over thresholds lean upwards, and few positives hardly vary when they are resampled:
        by simulation the bootstrap alone covers 0.5 to 0.95 at 10 to 50 positives, its hull with
        the exact binomial interval at as many positives 0.90 to 1.
        """
        if np.isnan(value) or drawn is None:
            return self._open()
        level = self.request.level
        drawn_ends, _ = replicate_interval(
            drawn, value, level=level, method="bca", measure_range=(0.0, 1.0)
        )
        binomial = _binomial_of_ranks(name, value, _units(ranking, grouped), level)
        return Interval(
            min(drawn_ends.low, binomial.low),
            max(drawn_ends.high, binomial.high),
            level,
            "bootstrap_hull" if grouped is None else "cluster_bootstrap_hull",
        )

    def _averages(self) -> Iterator[Estimate]:
        support = np.array([float(r.n_positive) for r in self.tallies.rankings.values()])
        for name in self.request.wanted_somehow(AVERAGED):
            measure = find_measure(name)
            each = [estimates[name] for estimates in self._each.values()]
            yield self._averaged(measure, "macro", each, np.ones(len(each)))
            yield self._averaged(measure, "weighted", each, support)
        if self.tallies.pooled is not None:
            yield from self._pooled(self.tallies.pooled)

    def _pooled(self, ranking: Ranking) -> Iterator[Estimate]:
        """Rank all (example, class) pairs together: the micro average."""
        # The pairs of one example are not independent: the examples, not the pairs, are counted.
        size = float(min(ranking.rows[0], self.tallies.n))
        for name in AVERAGED:
            measure = find_measure(name)
            named = replace(measure, name=f"{name}_micro", title=f"{measure.title}, micro average")
            value = float(measure.value(ranking))
            if np.isnan(value):
                interval = self._open()
            else:
                interval = fractional_interval(value * size, size, level=self.request.level)
                interval = replace(interval, method="binomial_of_examples")
            yield finished(named, value, interval, self.tallies.n)

    def _averaged(
        self, measure: Measure, how: str, each: list[Estimate], weights: NDArray[np.float64]
    ) -> Estimate:
        """Average over classes; the intervals as if all classes erred together.

        The standard deviation of a mean is at most the mean of the standard deviations, whatever
        the dependence: the averaged distances to the ends are conservative.
        """
        values = np.array([one.value for one in each])
        taken = ~np.isnan(values) & (weights > 0)
        title = {"macro": "macro average", "weighted": "average weighted by support"}[how]
        named = replace(
            measure,
            name=f"{measure.name}_{how}",
            title=f"{measure.title}, {title}",
            undefined="it is undefined in every class",
        )
        if not taken.any():
            return finished(named, np.nan, self._open(), self.tallies.n)
        share = weights[taken] / weights[taken].sum()
        ends = [
            (one.interval.low, one.interval.high)
            for one, use in zip(each, taken, strict=True)
            if use and one.interval is not None
        ]
        low, high = share @ np.array(ends)
        value = float(share @ values[taken])
        interval = Interval(float(low), float(high), self.request.level, "mean_of_intervals")
        notes = (f"over {int(taken.sum())} of {len(each)} classes",)
        return finished(named, value, _containing(interval, value), self.tallies.n, notes)

    def _of_documents(self) -> Iterator[Estimate]:
        if self.tallies.documents is None:
            return
        found = summarise_documents(self.tallies.documents)
        measure = find_measure("eleven_point_documents")
        interval = self._mean_interval(found.value, found.standard_error, found.documents)
        notes = (
            (f"{found.undefined} documents have no correct category and are left out",)
            if found.undefined
            else ()
        )
        yield finished(measure, found.value, interval, found.documents, notes)

    def _mean_interval(self, value: float, error: float, n: int) -> Interval:
        """Interval of a mean of numbers in [0, 1]: normal on the logit scale, or the KL bound."""
        if np.isnan(value):
            return self._open()
        interval = delta_interval(
            value, error, measure_range=(0.0, 1.0), level=self.request.level, method="delta"
        )
        return chernoff_kl(value, n, level=self.request.level) if interval is None else interval

    def _of_probabilities(self) -> Iterator[Estimate]:
        tally = self.tallies.probabilities
        if tally is None:
            return
        for measure in measures_that_need("probabilities"):
            bounded = measure
            if measure.name == "brier_score" and len(self.tallies.rankings) == 1:
                bounded = replace(measure, measure_range=(0.0, 1.0))
            value = float(measure.value(tally))
            error: Any = tally.standard_error(measure.name)  # type: ignore[arg-type]
            interval = None
            if np.isfinite(value):
                interval = delta_interval(
                    value, error, measure_range=bounded.measure_range, level=self.request.level
                )
            notes: tuple[str, ...] = ()
            if tally.impossible and measure.name == "log_loss":
                notes = (f"{tally.impossible} true classes were given the probability 0",)
            yield finished(bounded, value, interval or self._open(bounded), tally.rows, notes)

    def _open(self, measure: Measure | None = None) -> Interval:
        low, high = (0.0, 1.0) if measure is None else measure.measure_range
        return Interval(low, high, self.request.level, "whole_range")


def _units(ranking: Ranking, grouped: GroupedScores | None) -> tuple[float, float]:
    """Give the independent positives and negatives behind a ranking."""
    if grouped is None:
        worth = ranking.effective_n / ranking.n
        return ranking.rows[0] * worth, ranking.rows[1] * worth
    positive = grouped.is_positive
    return tuple(float(len(np.unique(grouped.group[rows]))) for rows in (positive, ~positive))  # type: ignore[return-value]


def _binomial_of_ranks(
    name: str, value: float, units: tuple[float, float], level: float
) -> Interval:
    """Give the interval the value would have as a share of the positives.

    The Kolmogorov-Smirnov distance is recall plus specificity less 1, and varies as the mean of two
    shares does, of so many positives and so many negatives.
    """
    if name == "ks":
        size = 4 / (1 / units[0] + 1 / units[1])
        half = fractional_interval((1 + value) / 2 * size, size, level=level)
        return replace(half, low=max(0.0, 2 * half.low - 1), high=2 * half.high - 1)
    return fractional_interval(value * units[0], units[0], level=level)


def _containing(interval: Interval, value: float) -> Interval:
    return replace(
        interval,
        low=max(0.0, min(interval.low, value)),
        high=min(1.0, max(interval.high, value)),
    )
