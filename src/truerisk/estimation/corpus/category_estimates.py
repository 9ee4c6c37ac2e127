"""Which documents are called wrong in which category → estimates: each category, and averages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from truerisk.aliases import Array, Flags
from truerisk.checks import shown
from truerisk.estimation.svm.one_vs_rest_counts import AVERAGED, MEASURES, counts_of
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.count_estimates import finished
from truerisk.evaluation.evaluate import evaluate
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs.arrays import code_label_sets
from truerisk.inputs.predictions import Predictions
from truerisk.intervals.binomial import binomial_bounds
from truerisk.measures.registry import find_measure
from truerisk.results import Estimate, Evaluation, Interval, Target
from truerisk.tallies.cells import BinaryCounts, Proportion

Row = dict[str, Estimate]

RANKED = ("breakeven_point", "eleven_point_precision")
RANKED_AVERAGES = (
    *(f"{name}_{average}" for average in ("micro", "macro") for name in RANKED),
    "eleven_point_documents",
)


@dataclass(frozen=True, kw_only=True)
class Method:
    """What estimates say of themselves: how they were made, what they are about, how sure."""

    name: str
    target: Target
    level: float


@dataclass(frozen=True, kw_only=True)
class Calls:
    """True labels and wrong calls, a row a category; `reasons` says why a row has no machine.

    Averages are over the `averaged` rows.
    """

    names: tuple[str, ...]
    truth: Flags
    wrong: Flags
    reasons: tuple[str | None, ...]
    averaged: Flags

    @property
    def n(self) -> int:
        """The documents."""
        return int(self.truth.shape[1])


def evaluation_of(calls: Calls, method: Method) -> Evaluation:
    """Estimate error, recall, precision and F1 of each category, and their averages."""
    by_class = dict(zip(calls.names, category_rows(calls, method), strict=True))
    estimates = undefined_averages(AVERAGED, calls.n, method)
    if calls.averaged.any():
        truth, predicted = _chosen(calls)
        found = evaluate(
            truth,
            predicted,
            multilabel=True,
            labels=_chosen_names(calls),
            level=method.level,
            measures=AVERAGED,
            max_classes=_room(calls),
        )
        estimates = {name: named(found[name], method) for name in AVERAGED}
    return _plain_evaluation(estimates, by_class, calls, method)


def ranked_evaluation_of(calls: Calls, decision: Array, method: Method) -> Evaluation:
    """Estimate the same, and what the decision values are worth as scores.

    `decision` has a row a category.  How the rankings of categories err together is not asked for,
    as it takes longer than all the rest: their macro averages get the widest intervals.
    """
    plain = evaluation_of(calls, method)
    averages = undefined_averages(RANKED_AVERAGES, calls.n, method)
    ranked: dict[str, Row] = {}
    if calls.averaged.any():
        found = _ranked(calls, decision, method.level)
        averages = {name: named(found[name], method) for name in RANKED_AVERAGES if name in found}
        ranked = {label: _ranked_row(row, method) for label, row in found.by_class.items()}
        if not ranked:  # one category: what is said of all is said of it, and it is its own average
            row = _ranked_row(found, method)
            ranked = {_chosen_names(calls)[0]: row}
            averages = {
                f"{name}_{average}": replace(row[name], measure=f"{name}_{average}")
                for average in ("micro", "macro")
                for name in RANKED
            }
    by_class = {}
    for at, label in enumerate(calls.names):
        reason = calls.reasons[at] or "no document carries it"
        missing = {name: undefined(name, reason, calls.n, method) for name in RANKED}
        by_class[label] = {**plain.by_class[label], **ranked.get(label, missing)}
    return _plain_evaluation({**plain.estimates, **averages}, by_class, calls, method)


def category_rows(calls: Calls, method: Method) -> list[Row]:
    """Estimate the measures of every category, all intervals in one call."""
    counts = counts_of(np.where(calls.truth, 1.0, -1.0), calls.wrong)
    shares = [_share(name, counts) for name in MEASURES]
    low, high = binomial_bounds(
        np.stack([share.k for share in shares]),
        np.stack([share.n for share in shares]),
        level=method.level,
    )
    rows: list[Row] = [{} for _ in calls.names]
    for name, share, lows, highs in zip(MEASURES, shares, low, high, strict=True):
        ends = [lows, highs] if share.transform is None else map(share.transform, (lows, highs))
        columns = zip(share.value, share.n, *ends, calls.reasons, strict=True)
        for row, (value, n, least, most, reason) in zip(rows, columns, strict=True):
            interval = Interval(float(least), float(most), method.level, "clopper_pearson")
            row[name] = (
                named(finished(find_measure(name), float(value), interval, float(n)), method)
                if reason is None
                else undefined(name, reason, calls.n, method)
            )
    return rows


def undefined(name: str, reason: str, n: float, method: Method) -> Estimate:
    """Give the estimate that has no value, and the reason why."""
    interval = Interval(0.0, 1.0, method.level, "undefined")
    return Estimate(
        value=np.nan,
        interval=interval,
        measure=name,
        method=method.name,
        n=n,
        target=method.target,
        notes=(f"undefined: {reason}",),
    )


def undefined_averages(names: Sequence[str], n: float, method: Method) -> Row:
    """Give the averages over no category at all."""
    reason = "there is no category to average over"
    return {name: undefined(name, reason, n, method) for name in names}


def named(estimate: Estimate, method: Method) -> Estimate:
    """Say of an estimate how it was made and what it is about."""
    return replace(estimate, method=method.name, target=method.target)


def listed(names: Sequence[str], most: int = 8) -> str:
    """Name some categories in one sentence.

    Examples
    --------
    >>> listed(["earn", "acq", "corn"], most=2)
    "'earn', 'acq' and 1 more"
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more


def _share(name: str, counts: BinaryCounts) -> Proportion:
    if name == "error_rate":  # of one category against the rest; the registry's is over all classes
        return Proportion(counts.fp + counts.fn, counts.n)
    found: Proportion = find_measure(name)(counts)
    return found


def _chosen(calls: Calls) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Give the true and the called label sets of the documents, in the averaged categories."""
    truth = calls.truth[calls.averaged]
    names = _chosen_names(calls)
    return _label_sets(truth, names), _label_sets(truth ^ calls.wrong[calls.averaged], names)


def _label_sets(carries: Flags, names: Sequence[str]) -> list[tuple[str, ...]]:
    # Few documents carry many categories: their sets are quicker compared than rows of a matrix.
    documents, categories = np.nonzero(carries.T)
    labels = [names[at] for at in categories.tolist()]
    ends = np.searchsorted(documents, np.arange(carries.shape[1] + 1))
    return [tuple(labels[start:end]) for start, end in pairwise(ends.tolist())]


def _chosen_names(calls: Calls) -> list[str]:
    return [name for name, taken in zip(calls.names, calls.averaged, strict=True) if taken]


def _room(calls: Calls) -> int:
    """Let there be as many classes as there are categories: a corpus says what they are."""
    return max(2, len(calls.names))


def _ranked(calls: Calls, decision: Array, level: float) -> Evaluation:
    names = tuple(_chosen_names(calls))
    request = Request(
        level=level,
        average_over=names,
        measures=(*RANKED, *RANKED_AVERAGES),
        max_classes=_room(calls),
        random_state=0,  # nothing is drawn
    ).checked()
    truth, predicted = _chosen(calls)
    coded = code_label_sets(truth, predicted, names)
    scores = np.ascontiguousarray(decision[calls.averaged].T)
    columns = Predictions(coded.truth, coded.members, coded.predicted, scores)
    tallies = PredictionTally(request, True, names).add(columns).finish(coded.members)  # noqa: FBT003
    return assemble(replace(tallies, joint_scores=None), request)


def _ranked_row(row: Mapping[str, Estimate], method: Method) -> Row:
    return {name: named(row[name], method) for name in RANKED}


def _plain_evaluation(
    estimates: Row, by_class: dict[str, Row], calls: Calls, method: Method
) -> Evaluation:
    return Evaluation(
        estimates=estimates,
        by_class=by_class,
        n=calls.n,
        level=method.level,
        labels=calls.names,
        pos_label=None,
        settings={"method": method.name, "target": method.target},
    )
