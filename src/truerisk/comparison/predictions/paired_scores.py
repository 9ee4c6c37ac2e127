"""Two models' scores: paired DeLong, influences, means of losses, and shared resamples."""

import math
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from truerisk.comparison.predictions.block_resamples import BlockDraw
from truerisk.comparison.predictions.joined import JoinedPredictions
from truerisk.comparison.predictions.model_scores import ModelScores
from truerisk.comparison.spread import (
    Drawn,
    Found,
    NoSpread,
    Spread,
    satterthwaite,
    spread_of_influences,
)
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.auc import delong_paired
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.tallies.ranking_replicates import FORMULAS

DRAWN_AVERAGES = ("average_precision", "breakeven_point", "eleven_point_precision")
MAX_UNDEFINED = 0.5  # of the replicates; beyond it they say little
NO_SPREAD = "no example, drawn again, would change the difference: bounded by their number"


@dataclass(frozen=True)
class PairedScores:
    """What the scores of several models have to offer for a comparison of any two."""

    joined: JoinedPredictions
    tallies: tuple[Tallies, ...]
    request: Request

    def found(self, pair: tuple[int, int], name: str, value: float) -> Found:
        """Compare two models by a measure of their scores; `value` is the difference seen."""
        spread, method = self._spread(pair, name)
        kind = method if self.joined.group is None else f"cluster_{method}"
        if (spread.spread if isinstance(spread, Drawn) else spread).error == 0:
            return _without_spread(self.of_model(pair[0]), name, value, kind)
        p_value = math.nan if math.isnan(value) else spread.p_value(value)
        notes = self._other_than_asked(pair[0]) if isinstance(spread, Drawn) else ()
        return Found(p_value, spread, kind, kind, notes=notes)

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

    def _replicates(self, model: int, average: str | None) -> dict[str, NDArray[np.float64]]:
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

    def _other_than_asked(self, model: int) -> tuple[str, ...]:
        """Say what was drawn, where it was not as many resamples of rows as were asked for."""
        scores, wanted = self.of_model(model), self.request.replicates
        if scores.is_many:
            return (f"from {self._blocks.words}",)
        drawn = scores.resamples(wanted)
        return () if drawn == wanted else (f"from {drawn:,} resamples",)

    @cached_property
    def _drawn(self) -> dict[tuple[int, str | None], dict[str, NDArray[np.float64]]]:
        return {}


def _delong_spread(first: ModelScores, second: ModelScores, level: float) -> Spread:
    pos_label = first.truth[:, 0]
    if pos_label.all() or not pos_label.any():
        return Spread(math.nan)
    both = np.column_stack([first.score[:, 0], second.score[:, 0]]).astype(np.float64)
    error = delong_paired(both[pos_label], both[~pos_label], level=level).standard_error
    before, after = (one.influences("roc_auc") for one in (first, second))
    if before is None or after is None or not error > 0:
        return Spread(error)
    sizes = np.ones(len(before))
    return Spread(error, satterthwaite((after - before) ** 2, first.strata, sizes))


def _without_spread(scores: ModelScores, name: str, value: float, kind: str) -> Found:
    low, high = find_measure(base_and_average(name)[0]).measure_range
    if math.isinf(high - low):  # a loss without a limit, the same on every example
        exact = NoSpread(math.inf)
        return Found(exact.p_value(value), exact, kind, "no_spread", notes=(NO_SPREAD,))
    bound = NoSpread(scores.rarest, high - low)
    return Found(bound.p_value(value), bound, kind, "no_spread", notes=(NO_SPREAD,))
