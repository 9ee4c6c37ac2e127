"""Tallies → Evaluation, whether they come from arrays, files or tables of counts."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import listed, shown
from truerisk.evaluation.class_prior import at_prior, prior_note
from truerisk.evaluation.count_estimates import CountEstimates, finished
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.evaluation.score_estimates import ScoreEstimates, check_two_groups, group_notes
from truerisk.evaluation.verdict import verdict_of
from truerisk.intervals.cell_sample import CellSample
from truerisk.intervals.choose import proportion_interval
from truerisk.measures.costs import CostMatrix
from truerisk.measures.curves import precision_recall_curve, roc_curve
from truerisk.measures.registry import (
    DRAWN_INTERVALS,
    STRATIFIED_INTERVALS,
    base_and_average,
    base_measure,
    find_measure,
)
from truerisk.measures.thresholds import sweep
from truerisk.results import Estimate, Evaluation, Finding, Interval
from truerisk.tallies.cells import Cells, Rejections
from truerisk.tallies.group_values import sums_of_groups

AllEstimates = tuple[dict[str, Estimate], dict[str, dict[str, Estimate]]]  # overall, by class

MAX_LISTED = 10  # labels that one sentence names


class OfferedScores(Protocol):
    """What scores have to offer: of all classes, and of each."""

    def overall(self) -> Iterator[Estimate]:
        """Estimate what is about all scores together."""

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of each class's own scores."""


def assemble(
    tallies: Tallies,
    request: Request,
    *,
    notes: Iterable[str] = (),
    source: Mapping[str, Any] | None = None,
    scores: OfferedScores | None = None,
    estimated: AllEstimates | None = None,
) -> Evaluation:
    """Estimate everything that the tallies allow; `scores` speaks for them where it is given.

    `estimated` are estimates that are made already (see `estimates_of`).
    """
    observed = tallies
    if request.prior is not None:
        tallies = at_prior(tallies, request.prior)
    sizes = _group_sizes(tallies)
    if sizes is not None and scores is None:
        check_two_groups(len(sizes))
        remedy = " Every interval of rows in groups is the jackknife over groups."
        request.refuse(("binomial", "cell_interval"), " with groups", remedy)
    estimates, by_class = estimated or estimates_of(tallies, request, scores)
    for name in request.measures or ():
        if name not in estimates and not any(name in one for one in by_class.values()):
            estimates[name] = _unavailable(name, tallies, request)
    return Evaluation(
        estimates=estimates,
        by_class=by_class,
        n=tallies.n,
        level=request.level,
        labels=tallies.labels,
        pos_label=tallies.pos_label,
        tallies=tallies.cells,
        curves=_curves(tallies),
        verdict=tuple(verdict_of(tallies, estimates, by_class)),
        notes=(*notes, *prior_note(observed, request.prior), *_notes(tallies, request)),
        settings=_settings(tallies, request),
        source=source or {},
    )


def estimates_of(
    tallies: Tallies, request: Request, scores: OfferedScores | None = None
) -> AllEstimates:
    """Estimate the requested measures, and those of each class where none is the positive one."""
    counted = _count_estimates(tallies, request)
    ranked = ScoreEstimates(tallies, request) if scores is None else scores
    every = [*_overall(tallies, request, counted), *ranked.overall()]
    estimates = {one.measure: one for one in every if request.requested([one.measure])}
    return estimates, _by_class(counted, ranked) if tallies.pos_label is None else {}


def _group_sizes(tallies: Tallies) -> Array | None:
    """Give the rows, or weights, of each group; None without groups."""
    if tallies.all_cells is not None and tallies.all_cells.by_group is not None:
        sizes = tallies.all_cells.by_group.sizes
    elif tallies.grouped_scores is not None:
        rows = tallies.grouped_scores.that_count
        sizes = sums_of_groups(rows.codes, rows.weights)
    else:
        return None
    return np.asarray(sizes[sizes > 0])


def _count_estimates(tallies: Tallies, request: Request) -> CountEstimates | None:
    if tallies.cells is None or tallies.cells.n == 0:
        return None
    costs = None
    if request.costs is not None:
        costs = CostMatrix.of(request.costs, tallies.cells.labels, tallies.pos_label)
    return CountEstimates(tallies.cells, request, costs)


def _overall(
    tallies: Tallies, request: Request, counted: CountEstimates | None
) -> Iterator[Estimate]:
    if tallies.rejected and tallies.all_cells is not None:
        yield _rejection_rate(tallies.all_cells, request)
    if counted is None:
        return
    yield from counted.overall()
    if tallies.pos_label is not None and len(counted.cells.labels) <= 2:
        yield from counted.of_label(counted.cells.labels.index(tallies.pos_label))
    if tallies.pos_label is None or len(counted.cells.labels) > 2 or request.measures is not None:
        yield from counted.averaged()


def _rejection_rate(cells: Cells, request: Request) -> Estimate:
    measure = find_measure("rejection_rate")
    rejected = cells.predicted.sizes == 0
    design = np.column_stack([rejected, np.ones(len(rejected))]).astype(np.float64)
    sample = CellSample(cells.totals, design, cells.squares, cells.by_group)
    interval = proportion_interval(
        sample,
        lambda features: measure(Rejections(features[..., 0], features[..., 1])),
        level=request.level,
        method=request.binomial,
    )
    value = float(measure.value(Rejections(*sample.features)))
    return finished(measure, value, interval, cells.n)


def _unavailable(name: str, tallies: Tallies, request: Request) -> Estimate:
    """Give a requested measure that these predictions do not have: no value, and the reason."""
    note = Finding(f"undefined: {_reason(name, tallies)}", code="unavailable")
    interval = Interval(*base_measure(name).measure_range, request.level, "undefined")
    return Estimate(
        value=math.nan,
        interval=interval,
        measure=name,
        method="holdout",
        n=tallies.n,
        notes=(note,),
    )


def _reason(name: str, tallies: Tallies) -> str:
    measure, average = base_measure(name), base_and_average(name)[1]
    of_scores = measure.needs in {"ranking", "documents", "probabilities", "rows"}
    many = measure.needs == "rows" and len(tallies.rankings) > 1
    reasons = (
        (of_scores and not tallies.rankings, "there are no scores"),
        (many and tallies.grouped_scores is not None, "it has no interval for rows in groups"),
        (many, "the rows are too many to be held"),
        (
            measure.needs == "probabilities" and not tallies.multilabel,
            "the scores are not said to be probabilities (--probabilities, probabilities=True)",
        ),
        (measure.needs == "probabilities", "an example has several true labels"),
        (of_scores, "there is one column of scores, and none to average over"),
        (tallies.cells is None, "there are no predicted labels, and no threshold for the scores"),
        (name == "cost", "there are no costs (--costs, costs=)"),
        (name == "rejection_rate", "no label means rejected (--reject-label, reject=)"),
        (
            average == "samples" or (name == "hamming_loss" and not tallies.multilabel),
            "each example has one label, not a set of labels",
        ),
        (tallies.multilabel, "the examples have sets of labels"),
    )
    return next((reason for holds, reason in reasons if holds), "no example has an answer")


def _by_class(
    counted: CountEstimates | None, ranked: OfferedScores
) -> dict[str, dict[str, Estimate]]:
    table = {} if counted is None else counted.by_class()
    for label, estimates in ranked.by_class().items():
        table.setdefault(label, {}).update(estimates)
    return {label: estimates for label, estimates in table.items() if estimates}


def _curves(tallies: Tallies) -> dict[str, Any]:
    if len(tallies.rankings) != 1:
        return {}
    ranking = next(iter(tallies.rankings.values()))
    roc, precision_recall = roc_curve(ranking), precision_recall_curve(ranking)
    refitted = tallies.cells is not None and tallies.cells.judgements is not None
    if tallies.grouped_scores is not None or refitted:
        # Rows of one group, and scores of several refits, are not independent: there is no band.
        roc = replace(roc, n_positive=None, n_negative=None)
        precision_recall = replace(precision_recall, n_positive=None, n_negative=None)
    return {"roc": roc, "precision_recall": precision_recall, "thresholds": sweep(ranking)}


def _notes(tallies: Tallies, request: Request) -> Iterator[Finding]:
    if request.pos_label is not None and tallies.pos_label is None:
        yield Finding(
            f"There are {len(tallies.labels)} classes: the measures of {shown(request.pos_label)} "
            "are those of its own row in the table of classes.",
            code="positive_among_several",
        )
    yield from _grouping_notes(tallies)
    if tallies.cells is None:
        yield Finding(
            "No predicted labels: give them, or a threshold for the scores, for more measures.",
            code="no_predicted_labels",
        )
    else:
        yield from _cell_notes(tallies.cells, tallies.pos_label)
    if request.cell_interval in STRATIFIED_INTERVALS:
        yield Finding(
            "The bootstrap draws within each class: its intervals are about a population whose "
            "classes have the shares of these examples.",
            code="stratified",
        )
    yield from _score_notes(tallies, request)


def _grouping_notes(tallies: Tallies) -> Iterator[Finding]:
    sizes, cells = _group_sizes(tallies), tallies.cells
    groups, n = 0 if sizes is None else len(sizes), tallies.n
    judged = None if cells is None else cells.judgements
    if cells is not None and judged is not None and judged.groups is not None:
        groups, n = judged.units, cells.n
    if groups:
        yield Finding(f"The units are {groups} groups, not {n} rows.", code="grouped")
    if sizes is not None:
        yield from group_notes(sizes)


def _cell_notes(cells: Cells, pos_label: str | None) -> Iterator[Finding]:
    if cells.weighted and not cells.at_prior:
        yield Finding(
            f"The examples are weighted: {cells.n} of them are worth {cells.effective_n:.1f} "
            "of equal weight.",
            code="weighted",
        )
    if not cells.multilabel and pos_label is None:
        counts = cells.class_counts()
        labels = np.array(cells.labels)
        never_true = labels[(counts.truth == 0) & (counts.predicted > 0)]
        if len(never_true):
            names = listed(never_true.tolist(), MAX_LISTED)
            text = f"Predicted but never true: {names}; left out of macro averages."
            yield Finding(text, code="never_true")
        never_predicted = labels[(counts.truth > 0) & (counts.predicted == 0)]
        if len(never_predicted):
            text = f"True but never predicted: {listed(never_predicted.tolist(), MAX_LISTED)}."
            yield Finding(text, code="never_predicted")


def _score_notes(tallies: Tallies, request: Request) -> Iterator[Finding]:
    for name, ranking in tallies.rankings.items():
        if not ranking.exact:
            low, high = ranking.auc_bounds
            text = f"Too many scores to hold: the AUC of {name} lies in [{low:.6g}, {high:.6g}]."
            yield Finding(text, code="scores_binned")
        if ranking.distinct == 1:
            text = f"All scores of {name} are equal: they rank nothing."
            yield Finding(text, code="scores_equal")
        elif len(tallies.rankings) == 1 and ranking.exact and ranking.distinct < ranking.n:
            values = f"{ranking.distinct} distinct values"
            text = f"The {ranking.n} scores have {values}; ties count half."
            yield Finding(text, code="scores_tied")
    if tallies.rankings and not request.probabilities and _look_like_probabilities(tallies):
        yield Finding(
            "The scores lie in [0, 1]; if they are probabilities, say so (--probabilities, "
            "probabilities=True) for log loss and Brier score.",
            code="scores_look_like_probabilities",
        )


def _look_like_probabilities(tallies: Tallies) -> bool:
    return all(
        ranking.thresholds[0] <= 1 and ranking.thresholds[-1] >= 0
        for ranking in tallies.rankings.values()
    )


def _settings(tallies: Tallies, request: Request) -> dict[str, Any]:
    names = ["level", "binomial", "cell_interval"]
    if request.cell_interval in DRAWN_INTERVALS:
        names += ["replicates", "random_state"]
    settings = {name: getattr(request, name) for name in names}
    settings["pos_label"] = tallies.pos_label
    settings["target"] = "this model"
    for name in ("costs", "threshold", "reject", "average_over", "prior"):
        if getattr(request, name) is not None:
            settings[name] = getattr(request, name)
    if not np.isnan(request.zero_division):
        settings["zero_division"] = request.zero_division
    return settings
