"""The categories of a corpus: one linear SVM each, and estimates of each and of their averages."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.checks import check_number, listed
from truerisk.errors import InputError
from truerisk.estimation.svm.leave_one_out import TIE, LeftOut
from truerisk.estimation.svm.one_vs_rest_counts import AVERAGED, MEASURES, counts_of
from truerisk.estimation.svm.xi_alpha import as_bound, at_risk, two_sided_level, worst_slack
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.count_estimates import finished
from truerisk.evaluation.evaluate import evaluate
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs.arrays import code_label_sets
from truerisk.inputs.predictions import Predictions
from truerisk.intervals.binomial import binomial_bounds
from truerisk.measures.registry import find_measure
from truerisk.results import Estimate, Evaluation, Finding, Interval, Target
from truerisk.svm.classifier import solve_one
from truerisk.svm.one_vs_rest import check_cost
from truerisk.svm.problems import Effort, Problem, linear_problem
from truerisk.svm.solution import LinearSolution, Solution
from truerisk.tallies.cells import BinaryCounts, Proportion

Progress = Callable[[int, int, int], None]

EFFORT = Effort()


@dataclass(frozen=True, kw_only=True)
class Training:
    """How the SVMs are trained, and what is computed of each."""

    C: float
    rhos: tuple[float, ...]
    leave_one_out: bool = False
    workers: int = 1

    def checked(self) -> "Training":
        """Refuse what cannot be meant."""
        check_cost(self.C)
        for rho in self.rhos:
            if check_number(rho, "rho", low=0.0, high=sys.float_info.max) == 0.0:
                raise InputError("`rho` must be positive; got 0. It is 1 for text, 2 is proven.")
        return self


@dataclass(frozen=True, kw_only=True)
class CategorySVMs:
    """What the SVMs leave, one row per category; a category without an SVM leaves zeros.

    `flagged` has a slice for each ρ.  `left_out` are the errors of exact leave-one-out; `refits`
    counts what had to be left out in earnest and `ties` the calls that are arbitrary.
    """

    flagged: Flags
    left_out: Flags
    decision: Array
    stable: Flags
    gap: Array
    refits: NDArray[np.intp]
    ties: NDArray[np.intp]
    squared_radius: float
    radius_rule: str


def train_svms(
    X: Any, truth: Flags, training: Training, *, test: Any = None, progress: Progress | None = None
) -> CategorySVMs:
    """Train an SVM for each category that some, not all, documents carry."""
    problem = linear_problem(X)
    squared_radius, rule = problem.radius
    categories, n = truth.shape
    svms = CategorySVMs(
        flagged=np.zeros((len(training.rhos), categories, n), dtype=bool),
        left_out=np.zeros((categories, n if training.leave_one_out else 0), dtype=bool),
        decision=np.zeros((categories, 0 if test is None else test.shape[0])),
        stable=np.ones(categories, dtype=bool),
        gap=np.zeros(categories),
        refits=np.zeros(categories, dtype=np.intp),
        ties=np.zeros(categories, dtype=np.intp),
        squared_radius=squared_radius,
        radius_rule=rule,
    )
    trainable = np.flatnonzero(truth.any(axis=1) & ~truth.all(axis=1))

    def train(at: int) -> None:
        y = np.where(truth[at], 1.0, -1.0)
        solution = solve_one(problem, y, np.full(n, training.C), EFFORT)
        _keep(svms, at, solution, training.rhos)
        if training.leave_one_out:
            _leave_out(svms, at, solution, problem)
        if test is not None and isinstance(solution, LinearSolution):
            svms.decision[at] = test @ solution.weights + solution.bias

    _run(train, trainable.tolist(), training.workers, progress)
    return svms


def _keep(svms: CategorySVMs, at: int, solution: Solution, rhos: tuple[float, ...]) -> None:
    slack = worst_slack(solution)
    for flagged, rho in zip(svms.flagged, rhos, strict=True):
        flagged[at] = at_risk(solution.alpha, slack, svms.squared_radius, rho)
    svms.stable[at] = solution.stable
    svms.gap[at] = solution.gap


def _leave_out(svms: CategorySVMs, at: int, solution: Solution, problem: Problem) -> None:
    without = LeftOut(problem, svms.squared_radius, EFFORT, 1)
    margins = without.margins(solution)
    # A decision value of 0 is called negative.
    svms.left_out[at] = np.where(solution.y > 0, margins <= 0.0, margins < 0.0)
    svms.refits[at] = without.refits
    svms.ties[at] = np.count_nonzero(np.abs(margins) <= TIE)


def _run(
    train: Callable[[int], None], trainable: list[int], workers: int, progress: Progress | None
) -> None:
    """Train in threads, the largest category first: none is left to finish alone."""
    total = len(trainable)
    pool = ThreadPoolExecutor(max(1, min(workers, total)))
    try:
        running: list[Future[None]] = [pool.submit(train, at) for at in trainable]
        for done, future in enumerate(as_completed(running), start=1):
            future.result()
            if progress is not None:
                progress(done, done, total)
    finally:
        pool.shutdown(cancel_futures=True)


Row = dict[str, Estimate]

MAX_LISTED = 8  # categories that one sentence names
ONE_LABEL = ("accuracy", "precision_macro", "recall_macro", "f1_macro")
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

    @property
    def interval_level(self) -> float:
        """The level of the intervals that are computed: ξα keeps one end of each, as a bound."""
        return two_sided_level(self.level) if self.name == "xi_alpha" else self.level


@dataclass(frozen=True, kw_only=True)
class Calls:
    """True labels and wrong calls, one row per category; `reasons` says why a row has no SVM.

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
        evaluation = evaluate(
            truth,
            predicted,
            multilabel=True,
            labels=_chosen_names(calls),
            level=method.interval_level,
            measures=AVERAGED,
            max_classes=_max_classes(calls),
        )
        estimates = {name: named(evaluation[name], method) for name in AVERAGED}
    return _plain_evaluation(estimates, by_class, calls, method)


def ranked_evaluation_of(calls: Calls, decision: Array, method: Method) -> Evaluation:
    """Estimate the same, and what the decision values are worth as scores.

    `decision` has one row per category.  How the rankings of categories err together is left out,
    as it takes longer than all the rest: their macro averages get the widest intervals.
    """
    plain = evaluation_of(calls, method)
    averages = undefined_averages(RANKED_AVERAGES, calls.n, method)
    ranked: dict[str, Row] = {}
    if calls.averaged.any():
        evaluation = _ranked(calls, decision, method.level)
        averages = {
            name: named(evaluation[name], method) for name in RANKED_AVERAGES if name in evaluation
        }
        ranked = {label: _ranked_row(row, method) for label, row in evaluation.by_class.items()}
        if not ranked:  # one category: what is said of all is said of it, and it is its own average
            row = _ranked_row(evaluation, method)
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
        level=method.interval_level,
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
        notes=(Finding(f"undefined: {reason}", code="undefined"),),
    )


def undefined_averages(names: Sequence[str], n: float, method: Method) -> Row:
    """Give the averages over no category at all."""
    reason = "there is no category to average over"
    return {name: undefined(name, reason, n, method) for name in names}


def named(estimate: Estimate, method: Method) -> Estimate:
    """Say of an estimate how it was made and what it is about; one by ξα gets its bound."""
    bounded = as_bound(estimate, method.level) if method.name == "xi_alpha" else estimate
    return replace(bounded, method=method.name, target=method.target)


def _share(name: str, counts: BinaryCounts) -> Proportion:
    if name == "error_rate":  # of one category against the rest; the registry's is over all classes
        return Proportion(counts.fp + counts.fn, counts.n)
    proportion: Proportion = find_measure(name)(counts)
    return proportion


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


def _max_classes(calls: Calls) -> int:
    """Let there be as many classes as there are categories: a corpus says what they are."""
    return max(2, len(calls.names))


def _ranked(calls: Calls, decision: Array, level: float) -> Evaluation:
    names = tuple(_chosen_names(calls))
    request = Request(
        level=level,
        average_over=names,
        measures=(*RANKED, *RANKED_AVERAGES),
        max_classes=_max_classes(calls),
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


NO_DOCUMENT = "no training document carries it"
EVERY_DOCUMENT = "every training document carries it"


@dataclass(frozen=True, kw_only=True)
class Category:
    """The facts of one category: how many documents carry it, and how its SVM came out.

    `reason` says why it has no SVM; `stable`, whether a support vector pins the bias down.
    """

    name: str
    documents: int
    test_documents: int | None
    stable: bool
    gap: float
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The categories, which documents carry them (one row per category), and their SVMs."""

    names: tuple[str, ...]
    truth: Flags
    test_truth: Flags | None
    svms: CategorySVMs

    @cached_property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a category has no SVM, None where it has one."""
        return tuple(
            NO_DOCUMENT if not row.any() else EVERY_DOCUMENT if row.all() else None
            for row in self.truth
        )

    @cached_property
    def averaged(self) -> Flags:
        """The categories that averages are over: the same ones on both sides."""
        chosen = np.array([reason is None for reason in self.reasons])
        if self.test_truth is not None:
            chosen &= self.test_truth.any(axis=1)
        return chosen

    def estimates(self, wrong: Flags, method: str, level: float) -> Evaluation:
        """Estimate from the training documents, of which these count as wrong."""
        target = Method(name=method, target="the learner at this sample size", level=level)
        return evaluation_of(self._calls(self.truth, wrong), target)

    def held_out(self, level: float) -> Evaluation | None:
        """Estimate from the documents held out, if there are any."""
        if self.test_truth is None:
            return None
        decision = self.svms.decision
        calls = self._calls(self.test_truth, (decision > 0) != self.test_truth)
        return ranked_evaluation_of(
            calls, decision, Method(name="holdout", target="this model", level=level)
        )

    def one_label(self, level: float) -> Evaluation | None:
        """Evaluate the class with the largest decision value, if every document has one label."""
        truth = self.test_truth
        if truth is None or np.any(truth.sum(axis=0) != 1) or np.any(self.truth.sum(axis=0) != 1):
            return None
        # What has no SVM, as no training document carries it, is never called.
        trained = np.flatnonzero([reason is None for reason in self.reasons])
        true = truth.argmax(axis=0)
        if len(trained) < 2 or len(np.unique(true)) < 2:
            return None
        called = trained[self.svms.decision[trained].argmax(axis=0)]
        labels = [self.names[at] for at in np.union1d(true, called)]
        evaluation = evaluate(
            [self.names[at] for at in true],
            [self.names[at] for at in called],
            labels=labels,
            pos_label=labels[-1] if len(labels) == 2 else None,
            level=level,
            measures=ONE_LABEL,
            max_classes=max(2, len(labels)),
        )
        method = Method(name="holdout", target="this model", level=level)
        return replace(
            evaluation, estimates={name: named(evaluation[name], method) for name in ONE_LABEL}
        )

    def _calls(self, truth: Flags, wrong: Flags) -> Calls:
        return Calls(
            names=self.names, truth=truth, wrong=wrong, reasons=self.reasons, averaged=self.averaged
        )

    def categories(self) -> tuple[Category, ...]:
        """Give the facts of each category."""
        documents = self.truth.sum(axis=1).tolist()
        tested = (
            [None] * len(documents)
            if self.test_truth is None
            else self.test_truth.sum(axis=1).tolist()
        )
        return tuple(
            Category(
                name=name,
                documents=documents[at],
                test_documents=tested[at],
                stable=bool(self.svms.stable[at]),
                gap=float(self.svms.gap[at]),
                reason=self.reasons[at],
            )
            for at, name in enumerate(self.names)
        )

    def notes(self) -> Iterator[Finding]:
        """Say which categories are in no average, and why."""
        for reason in (NO_DOCUMENT, EVERY_DOCUMENT):
            names = self._named([own == reason for own in self.reasons])
            if names:
                said = f"Not estimated, as {reason}: {listed(names, MAX_LISTED)}."
                yield Finding(said, code="categories_not_estimated")
        untested = self._named(
            [
                reason is None and not taken
                for reason, taken in zip(self.reasons, self.averaged, strict=True)
            ]
        )
        if untested:
            yield Finding(
                "In no average, as no document held out carries it: "
                f"{listed(untested, MAX_LISTED)}. So both sides are averaged over the same "
                "categories.",
                code="categories_not_averaged",
            )

    def _named(self, chosen: list[bool]) -> list[str]:
        return [name for name, taken in zip(self.names, chosen, strict=True) if taken]
