r"""Two models on the same examples, measure by measure: which test, which interval.

==========================  ==============================  ====================================
measure                     independent examples            weighted examples
==========================  ==============================  ====================================
accuracy, error rate        McNemar's mid-p, Tango          as any other of counts
any other of counts         delta method, joint cells, t    the same, robust variance
area under the ROC curve    DeLong, paired, t               influences of the examples, t
other rankings, averages    influences of the examples, t   the same
losses, documents           mean of the differences         the same
==========================  ==============================  ====================================

Rows in groups, weighted or not: the jackknife over groups, for every measure.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from truerisk.aliases import Array, Ends, Flags
from truerisk.comparison.conclusion import (
    AlternativeTest,
    Spread,
    TestOutcome,
    conclude,
    satterthwaite,
    spread_of_groups,
    spread_of_influences,
    without_spread,
)
from truerisk.comparison.predictions.joined import JoinedPredictions, rows_that_count
from truerisk.comparison.predictions.paired_cells import PairedCells
from truerisk.comparison.predictions.right_answers import (
    PairedMethod,
    PairTable,
    by_table,
    within_region,
)
from truerisk.comparison.predictions.text_tests import tests_beside
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.group_jackknife import METHOD, mover_ends
from truerisk.labels import in_order
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Comparison, Evaluation, Finding, has_code
from truerisk.tallies.cells import ratio
from truerisk.tallies.group_values import effective_groups, sums_of_groups
from truerisk.tallies.ranking_weights import INFLUENCES, partial_limit
from truerisk.tallies.scored_rows import ScoredRows

NEGLIGIBLE = 1e-14  # of the variances of both: a variance of rounding
VERY_GOOD = 0.95  # areas above it have skewed differences
FEW_GROUPS = 60
SKEWED = Finding(
    "areas of very good models and few groups: the interval covers less than it promises (measured "
    'at 95 %: 0.75 to 0.92), the test errs on the safe side; interval="mover" covers 0.95',
    code="not_kept_at_this_size",
)

RIGHT_ANSWERS = ("accuracy", "precision_micro", "recall_micro", "f1_micro")
MAX_PLANNED = 4  # models between which every open question gets a plan of its own
OF_COUNTS = ("binary counts", "class counts")
NO_VARIATION = Finding(
    "does not vary on these examples, whatever is predicted: nothing bounds its difference",
    code="no_variation",
)

Pair = tuple[int, int]


@dataclass(frozen=True)
class PairedScores:
    """What the scores of several models have to offer for a comparison of any two.

    With `mover`, the interval of a difference of areas of rows in groups is made of the intervals
    of both areas.
    """

    joined: JoinedPredictions
    tallies: tuple[Tallies, ...]
    mover: bool = False

    def outcome(self, pair: tuple[int, int], name: str, value: float) -> TestOutcome:
        """Compare two models by a measure of their scores; `value` is the difference seen."""
        spread, method = self._spread(pair, name)
        if spread.is_zero and not math.isnan(value):
            units = self.of_model[pair[0]].rarest
            return without_spread(value, units, width=self._width(pair, name), method=method)
        outcome = spread.outcome(value, method)
        if method == "delong_paired":
            normal = Spread(spread.error).p_value(value)
            alternative = AlternativeTest("delong_normal", normal, "there are many of either class")
            return replace(outcome, alternatives=(alternative,))
        if method == METHOD and name == "roc_auc":
            return self._of_grouped_areas(pair, outcome)
        return outcome

    def _of_grouped_areas(self, pair: tuple[int, int], outcome: TestOutcome) -> TestOutcome:
        first, second = (self.of_model[at].group_values("roc_auc") for at in pair)
        if self.mover:

            def ends_at(level: float) -> Ends:
                return mover_ends(first, second, level=level)

            return replace(outcome, ends_at=ends_at, interval_method="mover")
        if max(first.value, second.value) > VERY_GOOD and first.groups < FEW_GROUPS:
            return replace(outcome, notes=(*outcome.notes, SKEWED))
        return outcome

    def _width(self, pair: tuple[int, int], name: str) -> float:
        """Give the largest difference of a measure; of a loss without a limit, the largest seen."""
        low, high = find_measure(base_and_average(name)[0]).measure_range
        if math.isfinite(high - low):
            return high - low
        rows = [self.of_model[at].losses(name) for at in pair]
        losses = [float(np.nanmax(one)) for one in rows if one is not None]
        return max(losses, default=math.inf)

    def _spread(self, pair: tuple[int, int], name: str) -> tuple[Spread, str]:
        first, second = self.of_model[pair[0]], self.of_model[pair[1]]
        base, average = base_and_average(name)
        if first.group is not None:
            values = [one.group_values(base, average) for one in (first, second)]
            apart = values[1].value - values[0].value
            units = effective_groups(sums_of_groups(first.group, first.weight))
            without = values[1].without - values[0].without
            return spread_of_groups(apart, without, units), METHOD
        if name == "roc_auc" and first.weight is None:
            own, others = (self.influences(at, base, average) for at in pair)
            return _delong_spread(own, others, first), "delong_paired"
        known = base in INFLUENCES or partial_limit(base) is not None
        if not known and first.losses(base) is None:
            return Spread(math.inf), "paired_influences"  # nothing says how it varies
        own, others = (self.influences(at, base, average) for at in pair)
        influences = others - own
        if first.losses(base) is not None:
            return spread_of_influences(influences), "paired_mean"
        spread = spread_of_influences(influences, first.strata)
        if base != "roc_auc" and first.classes == 1:
            # Of one ranking the rarer class decides how well the variance is known.
            spread = replace(spread, degrees=min(spread.degrees, first.rarest - 1.0))
        return spread, "paired_influences"

    def influences(self, model: int, base: str, average: str | None) -> Array:
        """Give the influences of a model's examples, held while its pairs are compared by them."""
        if (base, average) not in self._held:
            self._held.clear()
        held = self._held.setdefault((base, average), {})
        if model not in held:
            held[model] = self.of_model[model].influences(base, average)
        return held[model]

    @cached_property
    def _held(self) -> dict[tuple[str, str | None], dict[int, Array]]:
        return {}

    @cached_property
    def of_model(self) -> dict[int, ScoredRows]:
        """The scores of each model that has some."""
        return {
            at: ScoredRows(
                rows.score[:, None] if rows.score.ndim == 1 else rows.score,
                np.column_stack([rows.belongs(one) for one in tally.rankings]),
                rows.weight,
                rows.group,
                rows.complement,
            )
            for at, (rows, tally) in enumerate(zip(self.joined.models, self.tallies, strict=True))
            if rows.score is not None
        }


def _delong_spread(first: Array, second: Array, rows: ScoredRows) -> Spread:
    """Give DeLong's error of a difference of areas, from what each example adds to either."""
    sides = rows.strata
    sizes = np.bincount(sides, minlength=2).astype(np.float64)
    if sizes.min() == 0:
        return Spread(math.nan)

    def variance(influences: Array) -> tuple[Array, float]:
        squares = influences**2
        parts = np.bincount(sides, weights=squares, minlength=2)
        return squares, float((parts * ratio(sizes, sizes - 1)).sum())

    squares, error = variance(second - first)
    # Rounding can leave a difference of identical scores a variance of 1e-20.
    if error <= NEGLIGIBLE * (variance(first)[1] + variance(second)[1]):
        return Spread(0.0)
    return Spread(math.sqrt(error), satterthwaite(squares, sides))


@dataclass(frozen=True)
class PairedMeasures:
    """Every comparison that the predictions of several models have to offer."""

    joined: JoinedPredictions
    request: Request
    tallies: tuple[Tallies, ...]
    evaluations: Mapping[str, Evaluation]
    interval: PairedMethod = "tango"

    @cached_property
    def rows(self) -> JoinedPredictions:
        """What the differences rest on; the evaluations are of the rows as given."""
        return rows_that_count(self.joined)

    def measures(self, pair: Pair) -> list[str]:
        """List the measures that both models have."""
        first, second = (self.evaluations[self.rows.names[at]] for at in pair)
        return [
            name
            for name in first
            if name in second
            and not has_code((*first[name].notes, *second[name].notes), "unavailable")
        ]

    def compare(
        self, pair: Pair, name: str, region: float | None = None
    ) -> tuple[Comparison, tuple[AlternativeTest, ...]]:
        """Compare two models by one measure; give what other tests say beside it."""
        names = (self.rows.names[pair[0]], self.rows.names[pair[1]])
        first, second = (self.evaluations[one][name] for one in names)
        value = second.value - first.value
        outcome = self._outcome(pair, name, value, region)
        if self._same(pair, name):
            outcome = replace(outcome, p_value=1.0)
        level = self.request.level
        comparison = conclude(names, first, second, outcome, level=level, region=region)
        beside = list(outcome.alternatives)
        if region is not None and math.isfinite(value):
            table = self.table(pair) if outcome.method == "mcnemar_mid_p" else None
            upwards = _measure_needs(name)[1]
            beside += within_region(table, outcome.ends_at, region, higher_is_better=upwards)
        shared = self.rows.shared
        if shared.multilabel and shared.weight is None and self.table(pair) is not None:
            beside += tests_beside(name, *self.cells(pair).both)
        return comparison, tuple(beside)

    def table(self, pair: Pair) -> PairTable | None:
        """Count the examples by which of two models gets them right; None without predictions."""
        return self._tables.get(pair)

    @cached_property
    def _tables(self) -> dict[Pair, PairTable]:
        there = [(at, right) for at, right in enumerate(self.right) if right is not None]
        return {
            (one, other): PairTable.of(
                (self.rows.names[one], self.rows.names[other]), first, second
            )
            for (one, first), (other, second) in combinations(there, 2)
        }

    @cached_property
    def right(self) -> tuple[Flags | None, ...]:
        """Which examples each model gets right in every label."""
        return tuple(
            None if model.predicted is None else np.asarray(model.predicted == model.truth)
            for model in self.rows.models
        )

    @cached_property
    def scores(self) -> PairedScores:
        """What the scores have to offer."""
        return PairedScores(self.rows, self.tallies, self.interval == "mover")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all models."""
        return in_order({label for one in self.tallies for label in one.labels})

    def _outcome(self, pair: Pair, name: str, value: float, region: float | None) -> TestOutcome:
        table = self.table(pair)
        group = self.rows.shared.group
        plain = self.rows.shared.weight is None and group is None
        if table is not None and plain and self._is_of_right_answers(name):
            return by_table(
                table,
                of_errors=name == "error_rate",
                level=self.request.level,
                method="tango" if self.interval == "mover" else self.interval,
                region=region,
                plans=len(self.rows.names) <= MAX_PLANNED,
            )
        if not is_of_counts(name):
            return self.scores.outcome(pair, name, value)
        cells = self.cells(pair)
        spread = cells.difference(name, self.average_over, self.request.zero_division)
        is_open = spread.is_zero and not math.isnan(value)
        if group is None:
            return spread.outcome(value, "paired_delta", (NO_VARIATION,) if is_open else ())
        if is_open:
            units = cells.sample.class_units
            return without_spread(value, units, width=spread.scale, method=METHOD)
        return spread.outcome(value, METHOD)

    def _is_of_right_answers(self, name: str) -> bool:
        """Whether a measure is the share of right, or of wrong, answers, by whatever name."""
        micro = not self.rows.shared.multilabel and self.request.average_over is None
        return name in {"accuracy", "error_rate"} or (micro and name in RIGHT_ANSWERS)

    @cached_property
    def average_over(self) -> Flags | None:
        """Which labels averages are taken over; None for all."""
        if self.request.average_over is None:
            return None
        return np.isin(self.labels, self.request.average_over)

    @cached_property
    def _cells(self) -> dict[Pair, PairedCells]:
        return {}

    def cells(self, pair: Pair) -> PairedCells:
        """Count the joint cells of two models, once."""
        if pair not in self._cells:
            cells = PairedCells.of(self.rows, pair, self.labels)
            pos_label = self.tallies[pair[0]].pos_label
            costs = None
            if self.request.costs is not None:
                costs = CostMatrix.of(self.request.costs, self.labels, pos_label)
            self._cells[pair] = replace(cells, pos_label=pos_label, costs=costs)
        return self._cells[pair]

    def _same(self, pair: Pair, name: str) -> bool:
        """Whether both models say the same of every example, as far as the measure looks."""
        key = (pair, is_of_counts(name))
        if key not in self._alike:
            column = "predicted" if key[1] else "score"
            first, second = (getattr(self.rows.models[at], column) for at in pair)
            there = first is not None and second is not None
            self._alike[key] = there and np.array_equal(np.asarray(first), np.asarray(second))
        return self._alike[key]

    @cached_property
    def _alike(self) -> dict[tuple[Pair, bool], bool]:
        return {}


def is_of_counts(name: str) -> bool:
    """Whether a measure is computed from counts, not from scores."""
    return _measure_needs(name)[0] in OF_COUNTS


def _measure_needs(name: str) -> tuple[str, bool]:
    """Give what a measure is computed from, and whether higher is better."""
    measure = find_measure(base_and_average(name)[0])
    return measure.needs, measure.higher_is_better is not False
