"""Scores that several refits gave to the same examples → estimates.

A *sheet* holds the scores of one repetition.  Scores of different repetitions are never ranked
together; those of the folds of one repetition are, as their models share all but a few examples,
but for the area under the ROC curve only pairs that one refit has judged count: ranked across
folds it comes out too small (by simulation .02 at n = 50).
Value: the mean over the sheets.  Interval of areas, average precision and losses: by the variance
components of the influences (`truerisk.intervals.variance_components`); of other measures the mean
distances to the ends on a sheet, stretched by these components, where the measure has influences,
or by the disagreement between the sheets.  So are all measures of rows in groups.
Influences are among *all* examples of a sheet: within a fold, its examples share their noise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.evaluation.prediction_tally import PredictionTally, Tallies
from truerisk.evaluation.request import Request
from truerisk.evaluation.score_estimates import ScoreEstimates
from truerisk.inputs.predictions import Predictions
from truerisk.intervals.choose import (
    area_floor,
    precision_floor,
    refit_auc,
    refit_average_precision,
    stretched_interval,
)
from truerisk.intervals.variance_components import (
    METHOD,
    PERFECT,
    RefitQuestion,
    components,
    few_of,
    rule_of,
)
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Estimate, Finding, Interval
from truerisk.tallies.losses import LOSSES, check_probabilities
from truerisk.tallies.ranking_weights import (
    INFLUENCES,
    RankedRows,
    placements,
)
from truerisk.tallies.scored_rows import ScoredRows

SUREST_CALL = Finding(
    "not kept: if the surest call were wrong, that example would carry the mean loss out of its "
    "interval (measured at 95 % where this is said: down to 0.30)",
    code="not_kept_at_this_size",
)
OWN_FORMS = {"roc_auc", "average_precision", *LOSSES}  # the components are all that they need


@dataclass(frozen=True)
class Sheet:
    """The scores of some examples: of the positive label, or a column for each label.

    `part` says which examples one refit has judged; all of them, when None.  `complement` is the
    probability of the other of two labels, where it is given for itself.
    """

    examples: Indices
    score: Array
    part: Indices | None = None
    complement: Array | None = None

    def column(self, label: int) -> Array:
        """Give the scores of a label; the only ones, where there is but one column."""
        return self.score if self.score.ndim == 1 else self.score[:, label]


@dataclass(frozen=True)
class RefitScores:
    """The estimates that the sheets have to offer; `rule` names the rule of their intervals."""

    sheets: Sequence[Sheet]
    truth: NDArray[Any]
    labels: tuple[str, ...]
    pos_label: str | None
    request: Request
    groups: Indices | None = None
    rule: str = METHOD

    @cached_property
    def tallies(self) -> tuple[Tallies, ...]:
        """The rankings of each sheet."""
        members = [(label,) for label in self.labels]
        request = replace(self.request, pos_label=self.pos_label, threshold=None)
        tallies: list[Tallies] = []
        for sheet in self.sheets:
            if tallies and self._losses_by_sheet:
                check_probabilities(sheet.score)
                request = replace(request, probabilities=False)
            tally = PredictionTally(request, classes=None if sheet.score.ndim == 1 else self.labels)
            units = None if self.groups is None else self.groups[sheet.examples]
            truth = self.truth[sheet.examples]
            predictions = Predictions(
                truth, members, None, sheet.score, None, units, complement=sheet.complement
            )
            tallies.append(tally.add(predictions).finish(members))
        return tuple(tallies)

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""
        by_sheet = [{one.measure: one for one in sheet.overall()} for sheet in self._of_sheets]
        for name in by_sheet[0]:
            each = [one[name] for one in by_sheet if name in one]
            yield self._together(name, each, self._all_labels)

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of each class's own scores."""
        by_sheet = [sheet.by_class() for sheet in self._of_sheets]
        return {
            label: {
                name: self._together(name, [one[label][name] for one in by_sheet], (label,))
                for name in estimates
            }
            for label, estimates in by_sheet[0].items()
        }

    @cached_property
    def _of_sheets(self) -> list[ScoreEstimates]:
        return [ScoreEstimates(tallies, self.request) for tallies in self.tallies]

    @property
    def _all_labels(self) -> tuple[str, ...]:
        return self.labels if self.sheets[0].score.ndim > 1 else (str(self.pos_label),)

    def _together(self, name: str, each: list[Estimate], labels: tuple[str, ...]) -> Estimate:
        """Average over the sheets; widen by what sets them apart."""
        values = self._values(name, each, labels)
        first = each[0]
        if not np.isfinite(values).all() or first.interval is None:
            worst = next((one for one in each if not np.isfinite(one.value)), first)
            return replace(worst, n=self.n)
        value = float(values.mean())
        base, average = base_and_average(name)
        own_form = base in OWN_FORMS and average != "micro" and self.groups is None
        if own_form and self._has_components(name):
            interval: Interval = self.component_interval(name, value, labels)
        else:
            interval = self._stretched(name, value, each, labels)
        n = self.n if first.n == len(self.sheets[0].examples) else first.n
        notes = self._notes(name, each, labels)
        if name == "log_loss" and self.one_call_leaves(value, interval):
            notes = (*notes, SUREST_CALL)
        return replace(first, value=value, interval=interval, n=n, notes=notes)

    def one_call_leaves(self, value: float, interval: Interval) -> bool:
        """Whether one wrong call could carry a mean log loss out of its interval.

        The one of which the models are surest, were it of the label that they believe in least.
        Chosen as a mark among 8 quantities on eight populations (`CHOSEN_ON` of the audit).
        """
        with np.errstate(divide="ignore"):  # a probability of 0 has no end
            each = self._on_every_sheet([-np.log(_least_probable(one)) for one in self.sheets])
        return value + self._largest_share(each) > interval.high

    @cached_property
    def _losses_by_sheet(self) -> dict[str, Array]:
        """The mean losses of each sheet where no more of them is needed; else none.

        With components, only the first sheet says more of losses than their mean.
        """
        simple = self.request.probabilities and self.groups is None
        if not simple or not all(map(self._has_components, LOSSES)):
            return {}
        means = {
            name: np.array([self._losses(name, sheet).mean() for sheet in self.sheets])
            for name in LOSSES
        }
        return means if all(np.isfinite(one).all() for one in means.values()) else {}

    def _has_components(self, name: str) -> bool:
        """Whether the measure has an influence of each example, and several refits judge these."""
        base = base_and_average(name)[0]
        known = base in INFLUENCES or base in LOSSES
        return known and self.rule == METHOD and self._repeated

    @cached_property
    def _repeated(self) -> bool:
        """Whether some example has the scores of several refits."""
        return sum(len(sheet.examples) for sheet in self.sheets) > self.n

    def component_interval(self, name: str, value: float, labels: tuple[str, ...]) -> Interval:
        """Give the interval of a measure of the rankings of some labels, or of a mean loss."""
        base, average = base_and_average(name)
        own = self._class_sizes(labels)
        shares, influence = self._shares(average, own), self._influence_on(name, labels)
        if base in LOSSES:
            few, counted = few_of(self.n), float(self.n)
            event = self._largest_share(influence + value)
        else:
            rarest = float(np.minimum(own, len(self.truth) - own).min())
            # One example may be wrong about all of the other class, or about a single pair.
            few, counted, event = few_of(rarest), rarest**PERFECT, 0.0
        question = RefitQuestion(
            value=value,
            parts=components(influence, self._refits),
            rule=rule_of(base),
            counted=counted,
            level=self.request.level,
            measure_range=self._range_of(name),
            few=few,
            event=event,
        )
        if base == "roc_auc":
            floors = [self._area_floor(*pair) for pair in zip(labels, own.tolist(), strict=True)]
            interval = refit_auc(question, float(shares**2 @ floors))
        elif base == "average_precision":
            floor = float(shares**2 @ [precision_floor(value, one) for one in own.tolist()])
            tops = np.array([self._top_negative(label) for label in labels])
            interval = refit_average_precision(question, floor, float(np.sqrt(shares**2 @ tops**2)))
        else:
            interval = question.interval()
        return interval

    def _largest_share(self, losses: Array) -> float:
        """Give what one example adds to the mean loss, at most."""
        return float(_mean_of_sheets(losses).max()) / self.n

    def _top_negative(self, label: str) -> float:
        """Give what one more negative at the very top would take, on the average of the sheets."""
        each = [ranked.top_negative for ranked in self._ranked_rows(label)]
        defined = [one for one in each if not np.isnan(one)]
        return float(np.mean(defined)) if defined else 0.0

    def _area_floor(self, label: str, positives: int) -> float:
        area = float(np.mean(self.areas[label]))
        return 0.0 if np.isnan(area) else area_floor(area, positives, len(self.truth) - positives)

    def _influence_on(self, name: str, labels: tuple[str, ...]) -> Array:
        """Lay out the influence of each example, sheet by sheet.

        Times the number of examples: its mean square is n times the variance.
        """
        base, average = base_and_average(name)
        if base in LOSSES:
            return self._lost(name)
        if average == "micro":
            return self._influence_on_pairs(base)
        shares = self._shares(average, self._class_sizes(labels))
        by_sheet = zip(*(self._ranked_rows(label) for label in labels), strict=True)
        return self._on_every_sheet(
            [
                np.asarray(len(each[0].score) * (shares @ [one.influences(base) for one in each]))
                for each in by_sheet
            ]
        )

    def _influence_on_pairs(self, base: str) -> Array:
        """Lay out the influence of each example on the ranking of all (example, label) pairs."""
        rows = [
            ScoredRows(one.score, self.truth[one.examples, None] == np.arange(len(self.labels)))
            for one in self.sheets
        ]
        return self._on_every_sheet([one.n * one.influences(base, "micro") for one in rows])

    def _ranked_rows(self, label: str) -> list[RankedRows]:
        """Sort the examples of each sheet by a label's scores, once for all measures."""
        at = self.labels.index(label)
        if at not in self._ranked:
            self._ranked[at] = [
                RankedRows.of(sheet.column(at), self.truth[sheet.examples] == at, None)
                for sheet in self.sheets
            ]
        return self._ranked[at]

    @cached_property
    def _ranked(self) -> dict[int, list[RankedRows]]:
        return {}

    def _class_sizes(self, labels: tuple[str, ...]) -> Indices:
        return self._sizes[[self.labels.index(label) for label in labels]]

    @cached_property
    def _sizes(self) -> Indices:
        return np.bincount(self.truth, minlength=len(self.labels))

    @staticmethod
    def _shares(average: str | None, own: Indices) -> Array:
        """Give what each label counts in an average."""
        return own / own.sum() if average == "weighted" else np.full(len(own), 1 / len(own))

    @cached_property
    def _refits(self) -> Indices:
        """The refit that scored each example, by a number of its own; sheets × examples."""
        table = np.zeros((len(self.sheets), len(self.truth)), dtype=np.intp)
        start = 0
        for row, sheet in zip(table, self.sheets, strict=True):
            part = np.zeros(len(sheet.examples), np.intp) if sheet.part is None else sheet.part
            row[sheet.examples] = start + part
            start += int(part.max(initial=0)) + 1
        return table

    def _range_of(self, name: str) -> tuple[float, float]:
        if name == "brier_score" and len(self._all_labels) == 1:
            return (0.0, 1.0)  # of two classes, one probability says all
        return find_measure(base_and_average(name)[0]).measure_range

    def _stretched(
        self, name: str, value: float, each: list[Estimate], labels: tuple[str, ...]
    ) -> Interval:
        """Give the mean distances to the ends, stretched by what sets the sheets apart."""
        repetitions = [(one.value, one.interval) for one in each if one.interval is not None]
        method = repetitions[0][1].method
        share = np.mean([len(sheet.examples) for sheet in self.sheets]) / self.n

        def stretched(by: float, kind: str) -> Interval:
            return stretched_interval(
                value,
                repetitions,
                stretch=float(np.sqrt(share * by)),
                measure_range=self._range_of(name),
                method=f"{kind}_{method}",
            )

        if self._has_components(name):
            parts = components(self._influence_on(name, labels), self._refits, self.groups)
            if parts.independent > 0:
                rule = rule_of(base_and_average(name)[0])
                interval = stretched(parts.stretch(rule) ** 2, METHOD)
                if self.groups is not None:
                    return parts.of_groups(interval, rule)
                return parts.described(interval, rule)
        kind = "agreement" if len(self.sheets) > 1 else "pooled"
        return stretched(1 + self._disagreement(name, labels), kind)

    def _notes(self, name: str, each: list[Estimate], labels: tuple[str, ...]) -> tuple[str, ...]:
        """Put the notes of the sheets together; say where sheets are not alike."""
        notes = list(dict.fromkeys(note for one in each for note in one.notes))
        if base_and_average(name)[1] is not None and len({one.notes for one in each}) > 1:
            notes.append("the repetitions differ in the classes that they hold")
        if name == "roc_auc" and np.isnan(self.areas[labels[0]]).any():
            notes.append("scores of different refits are ranked together: none judged a pair")
        return tuple(notes)

    def _values(self, name: str, each: list[Estimate], labels: tuple[str, ...]) -> Array:
        """Give the value of every sheet; areas of pairs that one refit has judged."""
        if name in self._losses_by_sheet:
            return self._losses_by_sheet[name]
        values = np.array([one.value for one in each])
        base, average = base_and_average(name)
        if base != "roc_auc" or average == "micro" or np.isnan(values).any():
            return values
        areas = np.array([self.areas[label] for label in labels])  # (labels, sheets)
        if np.isnan(areas).any():
            return values
        weights = self._class_sizes(labels) if average == "weighted" else np.ones(len(labels))
        return np.asarray(weights @ areas / weights.sum())

    @cached_property
    def areas(self) -> dict[str, list[float]]:
        """For each label, the area on each sheet, of the pairs that one refit has judged."""
        return {
            label: [
                _area_within_parts(sheet, ranked)
                for sheet, ranked in zip(self.sheets, self._ranked_rows(label), strict=True)
            ]
            for label in self._all_labels
        }

    @cached_property
    def n(self) -> int:
        """How many examples have scores."""
        scored = np.zeros(len(self.truth), dtype=bool)
        for sheet in self.sheets:
            scored[sheet.examples] = True
        return int(np.count_nonzero(scored))

    def _disagreement(self, name: str, labels: tuple[str, ...]) -> float:
        if len(self.sheets) == 1:
            return 0.0
        if name in LOSSES:
            return self._disagreement_of(self._lost(name))
        return float(np.mean([self._disagreement_of_ranks[label] for label in labels]))

    @cached_property
    def _disagreement_of_ranks(self) -> dict[str, float]:
        """For each label, how far the sheets disagree about where an example stands."""
        disagreements = {}
        for label in self._all_labels:
            at = self.labels.index(label)
            is_positive = self.truth == at
            placed = self._on_every_sheet(
                [placements(one.column(at), is_positive[one.examples]) for one in self.sheets]
            )
            if np.isnan(placed).all():
                disagreements[label] = 0.0
                continue
            size = np.where(is_positive, is_positive.sum(), (~is_positive).sum())
            disagreements[label] = self._disagreement_of((placed - np.nanmean(placed)) / size)
        return disagreements

    def _disagreement_of(self, moved: Array) -> float:
        share = components(moved, self._refits).disagreement
        return 0.0 if np.isnan(share) else share

    def _lost(self, name: str) -> Array:
        """Lay out the loss of each example, less their mean, sheet by sheet."""
        lost = self._on_every_sheet([self._losses(name, one) for one in self.sheets])
        some = ~np.isnan(lost).all(axis=0)
        return np.asarray(lost - _mean_of_sheets(lost)[some].mean())

    def _losses(self, name: str, sheet: Sheet) -> Array:
        truth = self.truth[sheet.examples]
        if sheet.score.ndim == 1:
            truth = truth == self.labels.index(self._all_labels[0])
        return LOSSES[name](sheet.score, truth, sheet.complement)

    def _on_every_sheet(self, values: list[Array]) -> Array:
        """Lay the values of the sheets side by side; NaN where an example is not on a sheet."""
        table = np.full((len(self.sheets), len(self.truth)), np.nan)
        for row, sheet, value in zip(table, self.sheets, values, strict=True):
            row[sheet.examples] = value
        return table


def _mean_of_sheets(table: Array) -> Array:
    """Average each example over the sheets that it is on; 0 for one that is on none."""
    scored = ~np.isnan(table)
    sums = np.where(scored, table, 0.0).sum(axis=0)
    return np.asarray(sums / np.maximum(scored.sum(axis=0), 1))


def _least_probable(sheet: Sheet) -> Array:
    """Give the probability of the label that each example is believed least to have."""
    if sheet.score.ndim > 1:
        return np.asarray(sheet.score.min(axis=1))
    rest = 1 - sheet.score if sheet.complement is None else sheet.complement
    return np.minimum(sheet.score, rest)


def _area_within_parts(sheet: Sheet, ranked: RankedRows) -> float:
    """Give the share of the pairs of a positive and a negative of one part in the right order.

    Ties count half.  NaN where no part has both.
    """
    part = np.zeros(len(ranked.order), np.intp) if sheet.part is None else sheet.part
    few_bits = part.astype(np.min_scalar_type(part.max(initial=0)))  # are sorted by counting
    order = ranked.order[np.argsort(few_bits[ranked.order], kind="stable")]
    part, score, is_positive = part[order], ranked.score[order], ranked.is_positive[order]
    is_new = np.append(True, (score[1:] != score[:-1]) | (part[1:] != part[:-1]))[: len(order)]
    starts = np.flatnonzero(is_new)
    tp = np.append(0, np.cumsum(is_positive))[np.append(starts, len(order))]
    positives = np.diff(tp)
    negatives = np.diff(starts, append=len(order)) - positives
    n_positive, n_negative = (np.bincount(part[starts], one) for one in (positives, negatives))
    before = np.cumsum(n_positive) - n_positive  # the positives of earlier parts
    twice_won = negatives @ (tp[:-1] + tp[1:]) - 2 * (n_negative @ before)
    pairs = n_positive @ n_negative
    return float(twice_won / (2 * pairs)) if pairs else float("nan")
