"""What refits called the examples → estimates of every measure."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Ends
from truerisk.errors import RefitError
from truerisk.estimation.refits.corrected_errors import BootstrapTally, JackknifeTally
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import (
    AGREEMENT,
    DEFAULT,
    OWN_RULES,
    RULES,
    RuleInput,
    corrected_t,
    no_valid_interval,
    of_pseudo_values,
    spread_of_refits,
)
from truerisk.estimation.refits.plans import Method
from truerisk.estimation.refits.votes import CollectedVotes, RefitValues, majority_votes
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.refit_scores import RefitScores
from truerisk.evaluation.request import Request
from truerisk.intervals.variance_components import notes_on
from truerisk.results import Estimate, Evaluation, Resampled
from truerisk.tallies.votes import Votes

# Those whose refits the corrected t is about.
OF_RANDOM_DIVISIONS = {"cross_validation", "subsampling", "five_by_two", "leave_one_out", "holdout"}
SETTLED = {"holdout", "training_error"}  # one model judges: its examples are as in `evaluate`
BASELINE = ("accuracy", "error_rate", "balanced_accuracy")


@dataclass(frozen=True)
class VoteEstimates:
    """From what the refits called the examples to estimates, by the interval `interval`."""

    examples: Examples
    method: Method
    collected: CollectedVotes
    request: Request
    interval: str = DEFAULT

    @property
    def _rule(self) -> str:
        """The rule of measures to which no other applies."""
        return self.interval if self.interval == AGREEMENT else DEFAULT

    def evaluation(self) -> Evaluation:
        """Estimate every measure by its variance components, or by agreement."""
        if self.method.name in SETTLED:
            return assemble(self.tallies, self._request)
        return assemble(self.tallies, self._request, scores=self.scores or _NoScores())

    @cached_property
    def _request(self) -> Request:
        collected = self.collected
        probabilities = bool(collected.scores) and collected.scored and collected.are_probabilities
        return replace(self.request, probabilities=probabilities)

    @cached_property
    def scores(self) -> RefitScores | None:
        """The scores of the positive label, or of each label; None where the model gives none."""
        examples, sheets = self.examples, self.collected.sheets
        if not sheets or (len(examples.labels) == 2 and examples.pos_label is None):
            return None
        if examples.pos_label is not None and examples.labels.index(examples.pos_label) == 0:
            whole = 1.0 if self.collected.are_probabilities else 0.0  # they are of the second label
            sheets = tuple(
                replace(sheet, score=whole - sheet.score)
                if sheet.complement is None
                else replace(sheet, score=sheet.complement, complement=sheet.score)
                for sheet in sheets
            )
        return RefitScores(
            sheets,
            examples.codes,
            examples.labels,
            examples.pos_label,
            self._request,
            examples.groups,
            self._rule,
        )

    @cached_property
    def tallies(self) -> Tallies:
        """The cells of all repetitions, and the rankings of the first."""
        return self._with_cells(
            self.collected.votes, None if self.scores is None else self.scores.tallies[0]
        )

    def _with_cells(self, votes: Votes, ranked: Tallies | None) -> Tallies:
        cells = votes.cells()
        cells = replace(cells, judgements=replace(cells.judgements, rule=self._rule))
        if self.method.name in SETTLED:
            # Judgements by one model are counts, of independent examples or groups.
            counts = np.rint(cells.totals).astype(np.int64)
            cells = replace(cells, totals=counts, judgements=None)
        examples = self.examples
        empty = Tallies(examples.labels, multilabel=False, pos_label=examples.pos_label, n=cells.n)
        return replace(
            ranked or empty, labels=examples.labels, n=cells.n, cells=cells, all_cells=None
        )

    def baseline(self) -> dict[str, Estimate]:
        """Estimate what always answering the commonest class is worth."""
        votes = majority_votes(self.examples, self.collected.plan)
        request = replace(self.request, measures=BASELINE)
        evaluation = assemble(self._with_cells(votes, None), request, scores=_NoScores())
        return {name: replace(one, method=self.method.name) for name, one in evaluation.items()}

    @cached_property
    def _values(self) -> RefitValues:
        return RefitValues(self.collected, self.request)

    def finished(self, one: Estimate, interval: str, label: str | None = None) -> Estimate:
        """Name the method, add what the single refits say, apply the requested rule.

        `label` is that of a measure of a single class, of several.
        """
        values = self._values
        named = replace(one, method=self.method.name)
        given = RuleInput(named, self.collected, values, self.request.level)
        if interval == DEFAULT:
            named = spread_of_refits(given, label)
        if self.method.name == "training_error":
            named = replace(named, interval=None)
        rule = OWN_RULES.get(self.method.name) or RULES.get(interval)
        if interval == self.method.interval and not values.of(one.measure):
            rule = OWN_RULES.get(self.method.name)  # no value in each refit: the pooled one stays
        if rule is not None:
            named = rule(replace(given, estimate=named))
        named = replace(named, notes=(*named.notes, *notes_on(named.interval)))
        # What one example says by itself is no replicate.
        several = len(self.collected.plan) > 1 and not self.collected.single
        replicates = values.counted(named.measure) if several else ()
        return Resampled(**vars(named), replicates=replicates) if replicates else named

    def of_scorer(self, name: str, ends: Ends = (-math.inf, math.inf)) -> Estimate:
        """Give the mean of what a scorer says of each refit, with the interval of `interval`.

        `ends` is the range of the scorer, where it is known.
        """
        values = self._values.of(name)
        mean = Estimate(
            value=float(np.mean(values)),
            interval=None,
            measure=name,
            method=self.method.name,
            n=int(self.collected.votes.judged.sum()),
            target="the learner at this sample size",
        )
        rule = no_valid_interval
        if self.method.name in OF_RANDOM_DIVISIONS:
            rule = of_pseudo_values if self.interval == DEFAULT else corrected_t
        estimate = rule(RuleInput(mean, self.collected, self._values, self.request.level))
        interval = estimate.interval
        if interval is not None:
            low, high = max(interval.low, ends[0]), min(interval.high, ends[1])
            estimate = replace(estimate, interval=replace(interval, low=low, high=high))
        estimate = replace(estimate, notes=(*estimate.notes, *notes_on(estimate.interval)))
        return Resampled(**vars(estimate), replicates=values) if len(values) > 1 else estimate


class _NoScores:
    """The scores of a model that gives none."""

    def overall(self) -> Iterator[Estimate]:
        return iter(())

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        return {}


def corrections(
    tally: BootstrapTally | JackknifeTally, whole: dict[str, NDArray[Any]], level: float
) -> dict[str, Estimate]:
    """Put what the refits say together with what the model says of its own training examples."""
    if "failed" in whole:
        raise RefitError(f"`model` must be trained on all examples; it fails: {whole['failed']}.")
    if isinstance(tally, JackknifeTally):
        return {"jackknife": tally.errors(whole["predicted"]).as_estimate(level)}
    return tally.errors(whole["predicted"]).as_estimates(level)


def corrected(estimates: dict[str, Estimate], best: Estimate) -> dict[str, Estimate]:
    """Put the best in the place of the error rate, and what follows from it in its own."""
    replaced = dict(estimates)
    turned = best.interval and replace(
        best.interval, low=1 - best.interval.high, high=1 - best.interval.low
    )
    right = replace(best, value=1 - best.value, interval=turned)
    same = ("accuracy", "precision_micro", "recall_micro", "f1_micro")
    for name in estimates:
        if name == "error_rate":
            replaced[name] = best
        elif name in same:
            replaced[name] = replace(right, measure=name)
        elif name == "jaccard_micro":
            ends = right.interval and replace(
                right.interval,
                low=right.interval.low / (2 - right.interval.low),
                high=right.interval.high / (2 - right.interval.high),
            )
            replaced[name] = replace(
                right, measure=name, value=right.value / (2 - right.value), interval=ends
            )
    return replaced


def score_table(collected: CollectedVotes) -> NDArray[np.float64] | None:
    """Lay the scores out by repetition and example; NaN where there is none."""
    if not collected.scored or not collected.scores:
        return None
    width = next(collected.scored_parts)[1].shape[1:]
    table = np.full((collected.plan.repetitions, collected.examples.n, *width), np.nan)
    for repetition, parts in collected.scores.items():
        for test, score, _ in parts:
            table[repetition, test] = score
    return table
