r"""Two models on the same examples, measure by measure: which test, which interval.

==========================  ==============================  ====================================
measure                     independent examples            weights, or several rows a group
==========================  ==============================  ====================================
accuracy, error rate        McNemar's mid-p, Tango          groups: t of the groups' totals;
                                                            weights: as any other of counts
any other of counts         delta method, joint cells       the same, robust variance, t
area under the ROC curve    DeLong, paired                  influences, summed over groups, t
its averages                influences of the examples      the same
losses, documents           mean of the differences         the same, summed over groups, t
other rankings              paired bootstrap, normal        whole groups are drawn, t
==========================  ==============================  ====================================
"""

import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.comparison.comparisons import Beside, PairTable
from truerisk.comparison.conclusion import conclude
from truerisk.comparison.equivalence import (
    equivalence_p,
    equivalence_p_from_ends,
    non_inferiority_p,
    non_inferiority_p_from_ends,
)
from truerisk.comparison.joined import JoinedPredictions
from truerisk.comparison.mcnemar import mcnemar
from truerisk.comparison.model_scores import ModelScores
from truerisk.comparison.paired_cells import PairedCells, joint_cells
from truerisk.comparison.paired_difference import (
    clustered_paired_ends,
    clustered_paired_p,
    paired_difference_ends,
)
from truerisk.comparison.spread import Ends, NoSpread, Spread, spread_of_influences
from truerisk.comparison.weighted_values import (
    ValueOfWeights,
    value_of_counts,
    value_of_scores,
)
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.delong_tests import delong_paired
from truerisk.intervals.planning import sample_size
from truerisk.intervals.replicates import replicates_for
from truerisk.measures.averages import base_and_average
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import find_measure
from truerisk.results import Comparison, Evaluation
from truerisk.tallies.labels import in_order

OF_RIGHT_ANSWERS = ("accuracy", "error_rate")
OF_COUNTS = ("binary counts", "class counts")
MOST_UNDEFINED = 0.5  # of the replicates; beyond it they say little
LARGEST_REGION = 1.0  # of a share
LEAST_PLANNED = 1e-6  # a smaller difference is not planned for


@dataclass(frozen=True)
class Found:
    """What a method makes of a pair: test, interval at any level, and their names."""

    p_value: float
    spread: Any
    method: str
    interval_method: str
    settled_by: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableEnds:
    """The interval for the difference of two shares of one table, at any level."""

    counts: tuple[int, int, int, int]
    method: str

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        del value
        return paired_difference_ends(*self.counts, level=level, method=self.method)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ClusteredEnds:
    """The interval for the mean of differences that come in groups, at any level."""

    differences: NDArray[np.float64]
    groups: NDArray[np.intp]

    def ends(self, value: float, level: float) -> Ends:
        """Give the ends of the interval."""
        del value
        return clustered_paired_ends(self.differences, self.groups, level)


@dataclass(frozen=True)
class PairedMeasures:
    """Every comparison that the predictions of several models have to offer."""

    joined: JoinedPredictions
    request: Request
    tallies: tuple[Tallies, ...]
    evaluations: Mapping[str, Evaluation]
    interval: str = "tango"

    def measures(self, pair: tuple[int, int]) -> list[str]:
        """List the measures that both models have."""
        first, second = (self.evaluations[self.joined.names[at]] for at in pair)
        return [name for name in first if name in second]

    def compare(
        self, pair: tuple[int, int], name: str, region: float | None = None
    ) -> tuple[Comparison, tuple[Beside, ...]]:
        """Compare two models by one measure; give what other tests say beside it."""
        names = (self.joined.names[pair[0]], self.joined.names[pair[1]])
        first, second = (self.evaluations[one][name] for one in names)
        value = second.value - first.value
        found = self._found(pair, name, value)
        if self._same(pair, name):
            found = replace(found, p_value=1.0)

        def ends_at(level: float) -> Ends:
            low, high = found.spread.ends(value, level)
            return float(low), float(high)

        comparison = conclude(
            names,
            first,
            second,
            ends_at=ends_at,
            level=self.request.level,
            interval_method=found.interval_method,
            p_value=found.p_value,
            method=found.method,
            region=region,
            settled_by=found.settled_by,
            notes=found.notes,
        )
        beside = list(self._other_tests(pair, name))
        if region is not None and math.isfinite(value):
            beside += self._within_region(pair, name, region, ends_at)
        return comparison, tuple(beside)

    def value_of_weights(self, model: int, name: str) -> ValueOfWeights | None:
        """Give a measure of one model as a function of how often each example counts."""
        needs = find_measure(base_and_average(name)[0]).needs
        weight = 1.0 if self.joined.weight is None else self.joined.weight
        function: ValueOfWeights | None
        if needs in OF_COUNTS:
            pair = (model, model)
            zero = self.request.zero_division
            function = value_of_counts(
                name, self._cells(pair), joint_cells(self.joined, pair)[1], self._over, zero
            )
        else:
            function = value_of_scores(name, self._scores(model))
        return None if function is None else lambda times: function(weight * times)

    def table(self, pair: tuple[int, int]) -> PairTable | None:
        """Count the examples by which of two models gets them right; None without predictions."""
        first, second = self.right[pair[0]], self.right[pair[1]]
        if first is None or second is None:
            return None
        return PairTable(
            names=(self.joined.names[pair[0]], self.joined.names[pair[1]]),
            both=int(np.count_nonzero(first & second)),
            only_first=int(np.count_nonzero(first & ~second)),
            only_second=int(np.count_nonzero(~first & second)),
            neither=int(np.count_nonzero(~first & ~second)),
        )

    @cached_property
    def right(self) -> tuple[NDArray[np.bool_] | None, ...]:
        """Which examples each model gets right in every label."""
        return tuple(
            None if codes is None else np.asarray(codes == self.joined.truth)
            for codes in self.joined.predicted
        )

    def _found(self, pair: tuple[int, int], name: str, value: float) -> Found:
        base, _ = base_and_average(name)
        needs = find_measure(base).needs
        if name in OF_RIGHT_ANSWERS and self.joined.weight is None:
            return self._of_right_answers(pair, name)
        if needs in OF_COUNTS:
            spread = self._cells(pair).difference(name, self._over, self.request.zero_division)
            if spread is None:
                raise TypeError(f"{name} is a measure of counts, but not of these.")
            return self._normal(spread, value, "paired_delta")
        return self._of_scores(pair, name, value)

    def _normal(self, spread: Spread, value: float, method: str) -> Found:
        kind = method if self.joined.group is None else f"cluster_{method}"
        return Found(spread.p_value(value), spread, kind, kind)

    def _of_right_answers(self, pair: tuple[int, int], name: str) -> Found:
        table = self.table(pair)
        if table is None:
            raise TypeError(f"{name} needs predictions.")
        if self.joined.group is not None:
            sign = 1.0 if name == "accuracy" else -1.0
            first, second = (np.asarray(self.right[at], dtype=np.float64) for at in pair)
            differences = sign * (second - first)
            p_value = clustered_paired_p(differences, self.joined.group)
            spread = ClusteredEnds(differences, self.joined.group)
            return Found(p_value, spread, "clustered_t", "clustered_t")
        counts = table.counts if name == "accuracy" else table.counts[::-1]
        agree = table.only_first + table.only_second == 0
        notes = ("no discordant pairs: both are right on the same examples",) if agree else ()
        return Found(
            mcnemar(table.only_first, table.only_second),
            TableEnds(counts, self.interval),
            "mcnemar_mid_p",
            self.interval,
            self._settled_by(table),
            notes,
        )

    def _settled_by(self, table: PairTable) -> int | None:
        """Plan a test set on which a difference like this one would be told."""
        n = self.joined.n
        difference = abs(table.only_second - table.only_first) / n
        if difference <= LEAST_PLANNED:
            return None
        discordant = (table.only_first + table.only_second) / n
        return sample_size(difference=difference, discordant=discordant, level=self.request.level).n

    def _of_scores(self, pair: tuple[int, int], name: str, value: float) -> Found:
        first, second = self._scores(pair[0]), self._scores(pair[1])
        if name == "roc_auc" and self.joined.group is None and self.joined.weight is None:
            return self._delong(first, second, value)
        influences = [one.influences(name) for one in (first, second)]
        if influences[0] is not None and influences[1] is not None:
            spread = spread_of_influences(influences[1] - influences[0], self.joined.group)
            method = "paired_delong" if base_and_average(name)[0] == "roc_auc" else "paired_mean"
        else:
            spread, method = self._drawn_spread(pair, name), "paired_bootstrap"
        if spread.error == 0:
            return self._without_spread(first, name, value, method)
        return self._normal(spread, value, method)

    def _delong(self, first: ModelScores, second: ModelScores, value: float) -> Found:
        positive = first.truth[:, 0]
        both = np.column_stack([second.score[:, 0], first.score[:, 0]]).astype(np.float64)
        if min(np.count_nonzero(positive), np.count_nonzero(~positive)) == 0:
            return Found(math.nan, Spread(math.nan), "delong_paired", "delong_paired")
        found = delong_paired(both[positive], both[~positive], level=self.request.level)
        if found.standard_error == 0:
            return self._without_spread(first, "roc_auc", value, "delong_paired")
        spread = Spread(found.standard_error)
        return Found(found.p_value, spread, "delong_paired", "delong_paired")

    def _without_spread(self, scores: ModelScores, name: str, value: float, method: str) -> Found:
        low, high = find_measure(base_and_average(name)[0]).measure_range
        if math.isinf(high - low):
            return Found(Spread(0.0).p_value(value), Spread(0.0), method, "whole_range")
        bound = NoSpread(scores.rarest, high - low)
        note = "no example, drawn again, would change the difference: bounded by their number"
        return Found(bound.p_value(value), bound, method, "no_spread", notes=(note,))

    def _drawn_spread(self, pair: tuple[int, int], name: str) -> Spread:
        size = replicates_for(self.request.level, least=self.request.replicates)
        seed = [self.request.random_state or 0, zlib.crc32(b"paired " + name.encode())]
        first, second = (self._replicates(at, name, size, seed) for at in pair)
        apart = (second - first)[~np.isnan(second - first)]
        if len(apart) < MOST_UNDEFINED * len(first):
            return Spread(math.nan)
        units = math.inf if self.joined.group is None else float(self.joined.group.max() + 1)
        return Spread(float(np.std(apart, ddof=1)), units - 1)

    def _replicates(self, model: int, name: str, size: int, seed: list[int]) -> NDArray[np.float64]:
        key = (model, name)
        if key not in self._drawn:
            self._drawn[key] = self._scores(model).replicates(name, size, seed)
        return self._drawn[key]

    @cached_property
    def _drawn(self) -> dict[tuple[int, str], NDArray[np.float64]]:
        return {}

    @cached_property
    def _scored(self) -> dict[int, ModelScores]:
        return {}

    def _scores(self, model: int) -> ModelScores:
        if model not in self._scored:
            score = self.joined.scores[model]
            if score is None:
                raise TypeError("A measure of scores needs scores.")
            self._scored[model] = ModelScores.of(
                score,
                self.tallies[model],
                self.joined.truth,
                self.joined.members,
                weight=self.joined.weight,
                group=self.joined.group,
            )
        return self._scored[model]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all models."""
        return in_order({label for one in self.tallies for label in one.labels})

    @cached_property
    def _over(self) -> NDArray[np.bool_] | None:
        if self.request.average_over is None:
            return None
        return np.isin(self.labels, self.request.average_over)

    @cached_property
    def _counted(self) -> dict[tuple[int, int], PairedCells]:
        return {}

    def _cells(self, pair: tuple[int, int]) -> PairedCells:
        if pair not in self._counted:
            cells = PairedCells.of(self.joined, pair, self.labels)
            if cells is None:
                raise TypeError("A measure of counts needs predictions.")
            positive = self.tallies[pair[0]].positive
            costs = None
            if self.request.costs is not None:
                costs = CostMatrix.of(self.request.costs, self.labels, positive)
            self._counted[pair] = replace(cells, positive=positive, costs=costs)
        return self._counted[pair]

    def _same(self, pair: tuple[int, int], name: str) -> bool:
        """Whether both models say the same of every example, as far as the measure looks."""
        needs = find_measure(base_and_average(name)[0]).needs
        columns = self.joined.predicted if needs in OF_COUNTS else self.joined.scores
        first, second = columns[pair[0]], columns[pair[1]]
        return first is not None and second is not None and np.array_equal(first, second)

    def _other_tests(self, pair: tuple[int, int], name: str) -> Iterator[Beside]:
        table = self.table(pair) if name in OF_RIGHT_ANSWERS else None
        if table is None or self.joined.weight is not None or self.joined.group is not None:
            return
        for method in ("exact", "asymptotic"):
            p_value = mcnemar(table.only_first, table.only_second, method=method)
            yield Beside(f"mcnemar_{method}", p_value)

    def _within_region(
        self,
        pair: tuple[int, int],
        name: str,
        region: float,
        ends_at: Any,  # noqa: ANN401
    ) -> Iterator[Beside]:
        better_up = find_measure(base_and_average(name)[0]).higher_is_better is not False
        table = self.table(pair) if name in OF_RIGHT_ANSWERS else None
        if not 0 < region <= LARGEST_REGION:
            return
        if table is not None and self.joined.weight is None and self.joined.group is None:
            counts = table.counts if better_up else table.counts[::-1]
            yield Beside("equivalence", equivalence_p(*counts, region=region))
            p_value = non_inferiority_p(*counts, region=region, higher_is_better=better_up)
        else:
            yield Beside("equivalence", equivalence_p_from_ends(ends_at, region=region))
            p_value = non_inferiority_p_from_ends(
                ends_at, region=region, higher_is_better=better_up
            )
        yield Beside("non_inferiority", p_value)
