"""Two models' scores: paired DeLong, influences, means of losses, and shared resamples."""

import math
import zlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truerisk.aliases import Array
from truerisk.comparison.outcome import AlternativeTest, TestOutcome
from truerisk.comparison.predictions.joined import JoinedPredictions
from truerisk.comparison.predictions.model_scores import BlockDraw, ModelScores
from truerisk.comparison.spread import (
    Drawn,
    Spread,
    satterthwaite,
    spread_of_influences,
    without_spread,
)
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.auc import delong_paired
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Finding
from truerisk.tallies.ranking_replicates import FORMULAS

DRAWN_AVERAGES = ("average_precision", "breakeven_point", "eleven_point_precision")
MAX_UNDEFINED = 0.5  # of the replicates; beyond it they say little


@dataclass(frozen=True)
class PairedScores:
    """What the scores of several models have to offer for a comparison of any two."""

    joined: JoinedPredictions
    tallies: tuple[Tallies, ...]
    request: Request

    def outcome(self, pair: tuple[int, int], name: str, value: float) -> TestOutcome:
        """Compare two models by a measure of their scores; `value` is the difference seen."""
        spread, method = self._spread(pair, name)
        method = method if self.joined.group is None else f"cluster_{method}"
        if spread.is_zero and not math.isnan(value):
            units = self.of_model(pair[0]).rarest
            return without_spread(value, units, width=self._width(pair, name), method=method)
        notes = self._draw_notes(pair[0]) if isinstance(spread, Drawn) else ()
        outcome = spread.outcome(value, method, notes)
        if method == "delong_paired" and isinstance(spread, Spread):
            normal = Spread(spread.error).p_value(value)
            alternative = AlternativeTest("delong_normal", normal, "there are many of either class")
            outcome = replace(outcome, alternatives=(alternative,))
        return outcome

    def _width(self, pair: tuple[int, int], name: str) -> float:
        """Give the largest difference of a measure; of a loss without a limit, the largest seen."""
        low, high = find_measure(base_and_average(name)[0]).measure_range
        if math.isfinite(high - low):
            return high - low
        rows = [self.of_model(at).rows_of_loss(name) for at in pair]
        losses = [float(np.nanmax(one)) for one in rows if one is not None]
        return max(losses, default=math.inf)

    def _spread(self, pair: tuple[int, int], name: str) -> tuple[Spread | Drawn, str]:
        first, second = self.of_model(pair[0]), self.of_model(pair[1])
        if name == "roc_auc" and self.joined.group is None and self.joined.weight is None:
            return _delong_spread(first, second, self.request.level), "delong_paired"
        influenced = self._influenced(pair, name)
        if influenced is None:
            return self._drawn_spread(pair, name), "paired_bootstrap"
        of_areas = base_and_average(name)[0] == "roc_auc"
        return influenced, "paired_delong" if of_areas else "paired_mean"

    def of_model(self, model: int) -> ModelScores:
        """Give the scores of one model."""
        if model not in self._scores:
            score = self.joined.scores[model]
            if score is None:
                raise TypeError("A measure of scores needs scores.")
            self._scores[model] = ModelScores.of(
                score,
                self.tallies[model],
                self.joined.truth,
                self.joined.members,
                weight=self.joined.weight,
                group=self.joined.group,
                complement=self.joined.complements[model] if self.joined.complements else None,
            )
        return self._scores[model]

    @cached_property
    def _scores(self) -> dict[int, ModelScores]:
        return {}

    def _influenced(self, pair: tuple[int, int], name: str) -> Spread | None:
        """Add up the influences of the examples; None for a measure without any."""
        before, after = (self.of_model(at).influences(name) for at in pair)
        if before is None or after is None:
            return None
        of_areas = base_and_average(name)[0] == "roc_auc"
        strata = self.of_model(pair[0]).strata if of_areas else None
        return spread_of_influences(after - before, self.joined.group, strata)

    def _drawn_spread(self, pair: tuple[int, int], name: str) -> Drawn:
        """Take mean and standard deviation of the differences in resamples that both share."""
        base, average = base_and_average(name)
        if base not in FORMULAS:
            return Drawn(Spread(math.nan), math.nan)
        first, second = (self._replicates(at, average)[base] for at in pair)
        apart = (second - first)[~np.isnan(second - first)]
        if len(apart) < MAX_UNDEFINED * len(first):
            return Drawn(Spread(math.nan), math.nan)
        # Of one ranking the rarer class decides how well the variance is known.
        scores = self.of_model(pair[0])
        degrees = scores.rarest - 1.0 if scores.score.shape[1] == 1 else math.inf
        if self.joined.group is not None:
            degrees = min(degrees, float(self.joined.group.max()))
        return Drawn(Spread(float(np.std(apart, ddof=1)), degrees), float(np.mean(apart)))

    def _replicates(self, model: int, average: str | None) -> dict[str, Array]:
        """Draw the replicates of all ranking measures at once, and keep them for other pairs."""
        key = (model, average)
        if key not in self._drawn:
            ranked = [name for name in FORMULAS if name != "roc_auc"]
            names = self.request.wanted_somehow(ranked if average is None else DRAWN_AVERAGES)
            scores = self.of_model(model)
            self._drawn[key] = (
                scores.block_replicates(names, average, self._blocks)
                if scores.is_many
                else scores.replicates(names, average, self.request.replicates, self._seed)
            )
        return self._drawn[key]

    @property
    def _seed(self) -> list[int]:
        return [self.request.random_state or 0, zlib.crc32(b"paired scores")]

    @cached_property
    def _blocks(self) -> BlockDraw:
        scores = next(iter(self._scores.values()))
        return BlockDraw.of(scores.units, scores.score.shape[1], np.random.default_rng(self._seed))

    def _draw_notes(self, model: int) -> tuple[str, ...]:
        """Say what was drawn, where it was not as many resamples of rows as were requested."""
        scores, requested = self.of_model(model), self.request.replicates
        if scores.is_many:
            return (Finding(f"from {self._blocks.words}", code="block_resamples"),)
        drawn = scores.resamples(requested)
        if drawn == requested:
            return ()
        return (Finding(f"from {drawn:,} resamples", code="fewer_resamples"),)

    @cached_property
    def _drawn(self) -> dict[tuple[int, str | None], dict[str, Array]]:
        return {}


def _delong_spread(first: ModelScores, second: ModelScores, level: float) -> Spread:
    is_positive = first.truth[:, 0]
    if is_positive.all() or not is_positive.any():
        return Spread(math.nan)
    both = np.column_stack([first.score[:, 0], second.score[:, 0]]).astype(np.float64)
    error = delong_paired(both[is_positive], both[~is_positive], level=level).standard_error
    before, after = (one.influences("roc_auc") for one in (first, second))
    if before is None or after is None or not error > 0:
        return Spread(error)
    sizes = np.ones(len(before))
    return Spread(error, satterthwaite((after - before) ** 2, first.strata, sizes))
