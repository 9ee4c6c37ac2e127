"""Rankings → estimates: what the scores are worth, each measure with its interval."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from truerisk.evaluation.count_estimates import averaged_measure, finished, generator_for
from truerisk.evaluation.count_intervals import MAX_UNDEFINED
from truerisk.evaluation.grouped_scores import GroupedScores
from truerisk.evaluation.joint_scores import distance_of_mean
from truerisk.evaluation.mean_estimates import MeanEstimates
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.auc import delong_interval
from truerisk.intervals.binomial import fractional_interval
from truerisk.intervals.delta import student_factor
from truerisk.intervals.replicates import replicate_interval, replicates_for
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import Measure, find_measure, measures_that_need
from truerisk.results import Estimate, Interval
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_replicates import (
    cluster_auc_variance,
    cluster_replicates,
    replicates,
)

CHOSEN_HERE = {"ks", "best_f1"}  # their threshold is chosen on the same examples
MANY_CLASSES = 10  # with more, the intervals of single classes are the binomial ones alone
AVERAGED = ("roc_auc", "average_precision", "breakeven_point", "eleven_point_precision")


@dataclass(frozen=True)
class RankingEstimates:
    """The estimates that the scores of a set of predictions have to offer.

    Without `resampled`, nothing is drawn: the values are the same, some intervals are rougher.
    """

    tallies: Tallies
    request: Request
    resampled: bool = True

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        if len(self.tallies.rankings) == 1:
            label = next(iter(self.tallies.rankings))
            yield from self._of_ranking(label)
        elif self.tallies.rankings:
            yield from self._averages()
        yield from MeanEstimates(self.tallies, self.request).overall()

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
            if name == "breakeven_point" and ranking.summary.breakeven.interpolated:
                notes = (_interpolated(ranking),)
            yield finished(measure, value, interval, ranking.n, notes)

    def _replicates(
        self, label: str, ranking: Ranking, grouped: GroupedScores | None, names: list[str]
    ) -> dict[str, NDArray[np.float64]]:
        many = len(self.tallies.rankings) > MANY_CLASSES
        if not self.resampled or 0 in ranking.rows or not names or many:
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
        if np.isnan(ranking.auc):
            return self._open()
        positives, negatives = (max(1, int(units)) for units in _units(ranking, grouped))
        level = self.request.level
        if grouped is None:
            # The rarer class decides how well the variance is known.
            widening = student_factor(min(positives, negatives), level)
            variance = ranking.delong_variance * widening**2
            return delong_interval(ranking.auc, variance, positives, negatives, level=level)
        variance = cluster_auc_variance(
            grouped.score, grouped.is_positive, grouped.group, grouped.weight
        )
        widening = grouped.widening(level)
        interval = delong_interval(
            ranking.auc, variance * widening**2, positives, negatives, level=level
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
        if np.isnan(value):
            return self._open()
        level = self.request.level
        binomial = _binomial_of_ranks(name, value, _units(ranking, grouped), level)
        if drawn is None or np.isnan(drawn).mean() > MAX_UNDEFINED:
            kind = "binomial_of_positives"
            return replace(binomial, method=kind if grouped is None else f"cluster_{kind}")
        drawn_ends, _ = replicate_interval(
            drawn, value, level=level, method="bca", measure_range=(0.0, 1.0)
        )
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
        size = min(_units(ranking, None)[0], float(self.tallies.n))
        grouped = self._any_grouped
        if grouped is not None:
            size = min(size, float(grouped.groups))
        for name in self.request.wanted(AVERAGED, "_micro"):
            measure = find_measure(name)
            named = replace(measure, name=f"{name}_micro", title=f"{measure.title}, micro average")
            value = float(measure.value(ranking))
            if np.isnan(value):
                interval = self._open()
            else:
                interval = fractional_interval(value * size, size, level=self.request.level)
                unit = "examples" if grouped is None else "groups"
                interval = replace(interval, method=f"binomial_of_{unit}")
            yield finished(named, value, interval, self.tallies.n)

    @cached_property
    def _correlations(self) -> dict[str, NDArray[np.float64]]:
        joint = self.tallies.joint_scores
        names = self.request.wanted_somehow(AVERAGED)
        if joint is None or not names:
            return {}
        return joint.correlations(names, self.request.random_state or 0)

    def _averaged(
        self, measure: Measure, how: str, each: list[Estimate], weights: NDArray[np.float64]
    ) -> Estimate:
        """Average over classes; the distances to the ends add up as the classes err together.

        Where the dependence is not known, they add up as if all classes erred together, which is
        the most they can do.
        """
        values = np.array([one.value for one in each])
        taken = ~np.isnan(values) & (weights > 0)
        named = averaged_measure(measure, how, AVERAGES[how].title, "class")
        if not taken.any():
            return finished(named, np.nan, self._open(), self.tallies.n)
        share = weights[taken] / weights[taken].sum()
        ends = np.array([(one.interval.low, one.interval.high) for one in each if one.interval])
        value = float(share @ values[taken])
        correlation = self._correlations.get(measure.name, np.ones((len(each), len(each))))
        below, above = (
            distance_of_mean(
                np.abs(values - ends[:, side])[taken], share, correlation[taken][:, taken]
            )
            for side in (0, 1)
        )
        known = measure.name in self._correlations
        interval = Interval(
            max(value - below, 0.0),
            min(value + above, 1.0),
            self.request.level,
            "mean_of_correlated" if known else "mean_of_intervals",
        )
        notes = (f"over {int(taken.sum())} of {len(each)} classes",)
        return finished(named, value, interval, self.tallies.n, notes)

    @property
    def _any_grouped(self) -> GroupedScores | None:
        """The groups of the rows, which are the same whatever is scored."""
        return next(iter(self.tallies.grouped_scores.values()), None)

    def _open(self, measure: Measure | None = None) -> Interval:
        low, high = (0.0, 1.0) if measure is None else measure.measure_range
        return Interval(low, high, self.request.level, "whole_range")


def _interpolated(ranking: Ranking) -> str:
    nearest = ranking.summary.breakeven
    return (
        f"interpolated: precision {nearest.precision:.3f} and recall {nearest.recall:.3f} are as "
        "near as any threshold brings them"
    )


def _units(ranking: Ranking, grouped: GroupedScores | None) -> tuple[float, float]:
    """Give the independent positives and negatives behind a ranking."""
    if grouped is None:
        worth = ranking.effective_n / ranking.n
        return ranking.rows[0] * worth, ranking.rows[1] * worth
    pos_label = grouped.is_positive
    return tuple(float(len(np.unique(grouped.group[rows]))) for rows in (pos_label, ~pos_label))  # type: ignore[return-value]


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
    # Sums of weights may leave the value of a perfect ranking a rounding above 1.
    return fractional_interval(min(value, 1.0) * units[0], units[0], level=level)
