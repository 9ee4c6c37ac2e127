"""Means over examples → estimates: precision of documents, log loss and Brier score."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.evaluation.count_estimates import finished
from truerisk.evaluation.grouped_scores import (
    GroupedScores,
    document_averages,
    error_of_mean,
    loss_of_rows,
)
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.delta import delta_interval
from truerisk.measures.document_precision import DocumentPrecision, summarise_documents
from truerisk.measures.registry import Measure, find_measure, measures_that_need
from truerisk.results import Estimate, Interval
from truerisk.tallies.losses import ProbabilityTally

ROUNDING = 1e-7  # of a standard error that is the root of a difference


@dataclass(frozen=True)
class MeanEstimates:
    """The estimates that are means of one number for each example."""

    tallies: Tallies
    request: Request

    def overall(self) -> Iterator[Estimate]:
        """Estimate them all."""
        yield from self._of_documents()
        yield from self._of_probabilities()

    def _of_documents(self) -> Iterator[Estimate]:
        if self.tallies.documents is None or len(self.tallies.rankings) < 2:
            return
        found = summarise_documents(self.tallies.documents)
        measure = find_measure("eleven_point_documents")
        interval = self._mean_interval(found)
        notes = (
            (f"{found.undefined} documents have no correct category and are left out",)
            if found.undefined
            else ()
        )
        yield finished(measure, found.value, interval, found.documents, notes)

    def _mean_interval(self, found: DocumentPrecision) -> Interval:
        """Interval of a mean of numbers in [0, 1]: normal on the logit scale, or the KL bound."""
        if np.isnan(found.value):
            return self._open()
        level, units = self.request.level, found.documents
        error, method, grouped = found.standard_error, "delta", self._any_grouped
        if grouped is not None:
            units, method = grouped.groups, "cluster_delta"
            error = error_of_mean(document_averages(self.tallies.grouped_scores), grouped)
            error *= grouped.widening(level)
        interval = None
        if error > ROUNDING * found.value:
            interval = delta_interval(
                found.value, error, measure_range=(0.0, 1.0), level=level, method=method
            )
        return chernoff_kl(found.value, units, level=level) if interval is None else interval

    @property
    def _any_grouped(self) -> GroupedScores | None:
        """The groups of the rows, which are the same whatever is scored."""
        return next(iter(self.tallies.grouped_scores.values()), None)

    def _of_probabilities(self) -> Iterator[Estimate]:
        tally = self.tallies.probabilities
        if tally is None:
            return
        for measure in measures_that_need("probabilities"):
            bounded = measure
            if measure.name == "brier_score" and len(self.tallies.rankings) == 1:
                bounded = replace(measure, measure_range=(0.0, 1.0))
            value = float(measure.value(tally))
            notes: tuple[str, ...] = ()
            if tally.impossible and measure.name == "log_loss":
                notes = (f"{tally.impossible} true classes were given the probability 0",)
            interval = self._loss_interval(bounded, value, tally)
            yield finished(bounded, value, interval, tally.rows, notes)

    def _loss_interval(self, measure: Measure, value: float, tally: ProbabilityTally) -> Interval:
        """Interval of a mean loss: normal on the scale without ends.

        Where no loss differs from another, the KL bound, if the loss has a largest value.
        """
        if not np.isfinite(value):
            return self._open(measure)
        level, grouped, units, method = self.request.level, self._any_grouped, tally.rows, "delta"
        error: Any = tally.standard_error(measure.name)  # type: ignore[arg-type]
        if grouped is not None:
            units, method = grouped.groups, "cluster_delta"
            error = error_of_mean(loss_of_rows(measure.name, self.tallies.grouped_scores), grouped)
            error *= grouped.widening(level)
        high = measure.measure_range[1]
        if error > ROUNDING * value:
            interval = delta_interval(
                value, error, measure_range=measure.measure_range, level=level, method=method
            )
            return interval or self._open(measure)
        if np.isinf(high):
            return self._open(measure)
        share = chernoff_kl(value / high, units, level=level)
        return replace(share, low=high * share.low, high=high * share.high)

    def _open(self, measure: Measure | None = None) -> Interval:
        low, high = (0.0, 1.0) if measure is None else measure.measure_range
        return Interval(low, high, self.request.level, "whole_range")
