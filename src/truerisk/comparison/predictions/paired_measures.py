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

from truerisk.aliases import Flags
from truerisk.comparison.conclusion import conclude
from truerisk.comparison.outcome import AlternativeTest, TestOutcome, without_spread
from truerisk.comparison.predictions.joined import JoinedPredictions, rows_that_count
from truerisk.comparison.predictions.paired_cells import PairedCells
from truerisk.comparison.predictions.paired_difference import PairedMethod
from truerisk.comparison.predictions.paired_scores import PairedScores
from truerisk.comparison.predictions.right_answers import (
    PairTable,
    by_table,
    within_region,
)
from truerisk.comparison.predictions.text_tests import tests_beside
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.group_jackknife import METHOD
from truerisk.labels import in_order
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Comparison, Evaluation, Finding, has_code

RIGHT_ANSWERS = ("accuracy", "precision_micro", "recall_micro", "f1_micro")
MAX_PLANNED = 4  # models between which every open question gets a plan of its own
OF_COUNTS = ("binary counts", "class counts")
NO_VARIATION = Finding(
    "does not vary on these examples, whatever is predicted: nothing bounds its difference",
    code="no_variation",
)

Pair = tuple[int, int]


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
        if self.rows.multilabel and self.rows.weight is None and self.table(pair) is not None:
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
            None if codes is None else np.asarray(codes == self.rows.truth)
            for codes in self.rows.predicted
        )

    @cached_property
    def scores(self) -> PairedScores:
        """What the scores have to offer."""
        return PairedScores(self.rows, self.tallies, self.request, self.interval == "mover")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of all models."""
        return in_order({label for one in self.tallies for label in one.labels})

    def _outcome(self, pair: Pair, name: str, value: float, region: float | None) -> TestOutcome:
        table = self.table(pair)
        plain = self.rows.weight is None and self.rows.group is None
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
        if self.rows.group is None:
            return spread.outcome(value, "paired_delta", (NO_VARIATION,) if is_open else ())
        if is_open:
            units = cells.sample.class_units
            return without_spread(value, units, width=spread.scale, method=METHOD)
        return spread.outcome(value, METHOD)

    def _is_of_right_answers(self, name: str) -> bool:
        """Whether a measure is the share of right, or of wrong, answers, by whatever name."""
        micro = not self.rows.multilabel and self.request.average_over is None
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
            columns = self.rows.predicted if key[1] else self.rows.scores
            first, second = columns[pair[0]], columns[pair[1]]
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
