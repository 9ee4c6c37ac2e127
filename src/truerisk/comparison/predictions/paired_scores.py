"""Two models' scores: paired DeLong, influences of the examples, and groups left out in turn."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.aliases import Array, Ends
from truerisk.comparison.outcome import (
    AlternativeTest,
    Spread,
    TestOutcome,
    satterthwaite,
    spread_of_groups,
    spread_of_influences,
    without_spread,
)
from truerisk.comparison.predictions.joined import JoinedPredictions
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.group_jackknife import METHOD, mover_ends
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Finding
from truerisk.tallies.cells import ratio
from truerisk.tallies.group_values import effective_groups, sums_of_groups
from truerisk.tallies.ranking_influences import INFLUENCES
from truerisk.tallies.ranking_weights import partial_limit
from truerisk.tallies.scored_rows import ScoredRows

NEGLIGIBLE = 1e-14  # of the variances of both: a variance of rounding
VERY_GOOD = 0.95  # areas above it have skewed differences
FEW_GROUPS = 60
SKEWED = Finding(
    "areas of very good models and few groups: the interval covers less than it promises (measured "
    'at 95 %: 0.75 to 0.92), the test errs on the safe side; interval="mover" covers 0.95',
    code="not_kept_at_this_size",
)


@dataclass(frozen=True)
class PairedScores:
    """What the scores of several models have to offer for a comparison of any two.

    With `mover`, the interval of a difference of areas of rows in groups is made of the intervals
    of both areas.
    """

    joined: JoinedPredictions
    tallies: tuple[Tallies, ...]
    request: Request
    mover: bool = False

    def outcome(self, pair: tuple[int, int], name: str, value: float) -> TestOutcome:
        """Compare two models by a measure of their scores; `value` is the difference seen."""
        spread, method = self._spread(pair, name)
        if spread.is_zero and not math.isnan(value):
            units = self.of_model(pair[0]).rarest
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
        first, second = (self.of_model(at).group_values("roc_auc") for at in pair)
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
        rows = [self.of_model(at).losses(name) for at in pair]
        losses = [float(np.nanmax(one)) for one in rows if one is not None]
        return max(losses, default=math.inf)

    def _spread(self, pair: tuple[int, int], name: str) -> tuple[Spread, str]:
        first, second = self.of_model(pair[0]), self.of_model(pair[1])
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
            held[model] = self.of_model(model).influences(base, average)
        return held[model]

    @cached_property
    def _held(self) -> dict[tuple[str, str | None], dict[int, Array]]:
        return {}

    def of_model(self, model: int) -> ScoredRows:
        """Give the scores of one model."""
        if model not in self._scores:
            score = self.joined.scores[model]
            if score is None:
                raise TypeError("A measure of scores needs scores.")
            members, truth = self.joined.members, self.joined.truth
            belongs = [
                np.array([label in one for one in members])[truth]
                for label in self.tallies[model].rankings
            ]
            self._scores[model] = ScoredRows(
                score[:, None] if score.ndim == 1 else score,
                np.column_stack(belongs),
                self.joined.weight,
                self.joined.group,
                self.joined.complements[model] if self.joined.complements else None,
            )
        return self._scores[model]

    @cached_property
    def _scores(self) -> dict[int, ScoredRows]:
        return {}


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
