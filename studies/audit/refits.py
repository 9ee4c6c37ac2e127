"""How often the default intervals of `tr.estimate` cover, on populations they were not chosen on.

For each sample: 5 × 10 folds, or others, one model per fold and one on the whole sample.  The votes
and scores of the folds go through the code of `tr.estimate`; the truth is the value of the last
model on the population.  The interval of accuracy is the mirror of that of the error rate.  The
rival is the corrected t of the same refits.

Linear discriminants and naive Bayes are fitted here in closed form, which takes a tenth of the
time; `tests/studies/audit/test_refits.py` checks that `tr.estimate` gives the same intervals.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from studies.audit.refit_populations import CHOSEN_ON as TO_CHOOSE
from studies.audit.refit_populations import GROUPED_CHOSEN_ON, population
from truerisk.aliases import Array, Indices
from truerisk.estimation.refits.best_of import (
    after_choice,
    cell_shares,
    estimate_of_choices,
    repeated_choices,
)
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import DEFAULT, summarise
from truerisk.estimation.refits.plans import Folds, find_method, repeated_folds
from truerisk.estimation.refits.vote_estimates import VoteEstimates
from truerisk.estimation.refits.votes import CollectedVotes
from truerisk.evaluation.count_estimates import CountEstimates
from truerisk.evaluation.refit_scores import RefitScores, Sheet
from truerisk.evaluation.request import Request
from truerisk.intervals.measured_coverage import NO_PROMISE, folds_design
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_and_average
from truerisk.results import Interval, has_code
from truerisk.tallies.losses import LOSSES
from truerisk.tallies.ranking_weights import share_below

FOLDS, REPEATS, LEVEL, SAMPLES = 10, 5, 0.95, 300
TARGET, RIVAL, OLD_CHOICE = "this model", "corrected_t", "bootstrap_out_of_bag"
BEST_OF, CHOICES = "best of ten", 300
# Repetitions and folds; halves, as random divisions, are those of studies/audit/divisions.py.
OTHER_DESIGNS = ((1, 10), (1, 5), (3, 5), (5, 5), (10, 10))
MIN_OF_A_CLASS = 2  # a sample with fewer is drawn anew
ABSENT = -1
OF_TWO = (
    "error_rate", "recall", "precision", "f1", "matthews_correlation", "balanced_accuracy",
    "cohen_kappa", "roc_auc", "average_precision", "brier_score", "log_loss",
)  # fmt: skip
OF_SEVERAL = (
    "error_rate", "recall_macro", "precision_macro", "f1_macro", "f1_weighted",
    "matthews_correlation", "cohen_kappa", "roc_auc_macro", "average_precision_macro",
    "brier_score", "log_loss",
)  # fmt: skip
OF_SCORES = {"roc_auc", "average_precision", "brier_score", "log_loss"}

Fitted = Callable[[Array], tuple[Array, bool]]  # rows → scores by class, are they probabilities?


def _discriminant(X: Array, y: Indices, classes: int) -> Fitted:
    """Fit the linear discriminant of the pooled covariance matrix."""
    sizes = np.bincount(y, minlength=classes)
    means = (np.eye(classes)[y].T @ X) / sizes[:, None]
    rest = X - means[y]
    coefficients = np.linalg.lstsq(rest.T @ rest / len(X), means.T, rcond=None)[0]
    offset = np.log(sizes / len(X)) - 0.5 * (means.T * coefficients).sum(axis=0)
    return lambda rows: (_shares(rows @ coefficients + offset), True)


def _naive_bayes(X: Array, y: Indices, classes: int) -> Fitted:
    """Fit normal naive Bayes, variances smoothed as in scikit-learn."""
    sizes, own = np.bincount(y, minlength=classes), np.eye(classes)[y].T
    means = own @ X / sizes[:, None]
    spread = own @ (X - means[y]) ** 2 / sizes[:, None] + 1e-9 * X.var(axis=0).max()
    offset = np.log(sizes / len(X)) - 0.5 * np.log(2 * np.pi * spread).sum(axis=1)
    # ½ Σ (x − μ)²/σ² by three products
    linear, square = (means / spread).T, (0.5 / spread).T
    constant = offset - (means**2 / (2 * spread)).sum(axis=1)
    return lambda rows: (_shares(rows @ linear - rows**2 @ square + constant), True)


def _shares(logarithms: Array) -> Array:
    shares = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _of_library(make: Callable[[], Any]) -> Callable[[Array, Indices, int], Fitted]:
    def fit(X: Array, y: Indices, classes: int) -> Fitted:  # noqa: ARG001
        model = make().fit(X, y)
        if hasattr(model, "predict_proba"):
            return lambda rows: (model.predict_proba(rows), True)

        def margins(rows: Array) -> tuple[Array, bool]:
            found = model.decision_function(rows)
            return (np.column_stack([-found, found]) if found.ndim == 1 else found), False

        return margins

    return fit


LEARNERS: dict[str, Callable[[Array, Indices, int], Fitted]] = {
    "linear discriminant": _discriminant,
    "naive Bayes": _naive_bayes,
    "logistic regression": _of_library(lambda: LogisticRegression(max_iter=300)),
    "decision tree": _of_library(lambda: DecisionTreeClassifier(random_state=0)),
    "tree of depth 3": _of_library(lambda: DecisionTreeClassifier(max_depth=3, random_state=0)),
    "5 nearest neighbours": _of_library(lambda: KNeighborsClassifier(5, algorithm="brute")),
    "linear SVM": _of_library(lambda: SVC(kernel="linear")),
    "RBF SVM": _of_library(SVC),
    "random forest": _of_library(lambda: RandomForestClassifier(10, random_state=0)),
    "boosting": _of_library(
        lambda: GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0)
    ),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A population, a sample size, a learner, the refits, and how many samples are drawn.

    With groups, so many of them are drawn whole, and n is what they have on the average.
    """

    population: str
    n: int
    learner: str
    samples: int = SAMPLES
    folds: int = FOLDS
    repeats: int = REPEATS
    groups: int = 0

    @property
    def design(self) -> str:
        """Say how refits are made."""
        return folds_design(self.folds, self.repeats)

    @property
    def role(self) -> str:
        """Say whether something was chosen on the population."""
        to_choose = self.population in TO_CHOOSE or self.population in GROUPED_CHOSEN_ON
        return CHOSEN_ON if to_choose else HELD_OUT

    @property
    def problem(self) -> str:
        """Name population and learner, and the number of groups."""
        groups = f", {self.groups} groups" if self.groups else ""
        return f"{self.population}, {self.learner}{groups}"

    @property
    def words(self) -> str:
        """Name the cell."""
        return f"{self.problem}, n = {self.n}, {self.design}"

    @property
    def file_name(self) -> str:
        """Name the file of the cell, without its suffix."""
        words = f"{self.population} {self.n} {self.learner}"
        if (self.folds, self.repeats) != (FOLDS, REPEATS):
            words += f" {self.repeats}x{self.folds}"
        if self.groups:
            words += f" {self.groups} groups"
        return re.sub(r"[^a-z0-9]+", "-", words.lower())


def measures_of(classes: int) -> tuple[str, ...]:
    """List the measures for so many classes."""
    return OF_TWO if classes == 2 else OF_SEVERAL


def draw(cell: Cell, at: int) -> tuple[Array, Indices, Indices | None]:
    """Draw a sample with two examples of every class at least; all learners see the same.

    A group that is drawn twice counts as two: what is drawn is independent.
    """
    own = population(cell.population)
    seed = zlib.crc32(cell.population.encode())
    for attempt in range(1000):
        rng = np.random.default_rng([seed, cell.n, at, attempt])
        if own.groups is None:
            chosen, groups = rng.integers(len(own.y), size=cell.n), None
        else:
            names = rng.integers(own.groups.max() + 1, size=cell.groups)
            rows = [np.flatnonzero(own.groups == name) for name in names]
            chosen = np.concatenate(rows)
            groups = np.repeat(np.arange(cell.groups), [len(each) for each in rows])
        if np.bincount(own.y[chosen], minlength=own.classes).min() >= MIN_OF_A_CLASS:
            break
    return own.X[chosen], own.y[chosen], groups


def collected_of(
    cell: Cell,
    X: Array,
    y: Indices,
    at: int,
    groups: Indices | None = None,
    *,
    every: bool = False,
) -> tuple[CollectedVotes, Request]:
    """Refit on the folds of `tr.estimate(…, random_state=at)`; ask for `every` measure, or ours."""
    classes = int(y.max()) + 1
    examples = Examples.of(X, y, groups)
    rng = np.random.default_rng([at, 0])
    plan = repeated_folds(
        examples.codes,
        cell.folds,
        cell.repeats,
        rng,
        allow_small_classes=True,
        groups=examples.groups,
    )
    collected = CollectedVotes(examples, plan)
    collected.gather(_outcomes(cell.learner, X, y, classes, plan))
    request = Request(
        pos_label=examples.pos_label,
        random_state=at,
        measures=None if every else measures_of(classes),
        level=LEVEL,
        probabilities=collected.are_probabilities,
    ).checked()
    return collected, request


def _outcomes(
    learner: str, X: Array, y: Indices, classes: int, plan: Folds
) -> Iterator[dict[str, NDArray[Any]]]:
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        scores, probabilities = LEARNERS[learner](X[train], y[train], classes)(X[test])
        outcome = {
            "predicted": scores.argmax(axis=1).astype(np.int32),
            "score": scores if classes > 2 else scores[:, 1],
            "probabilities": np.array(probabilities),
            "seconds": np.zeros(2),
        }
        if classes == 2 and probabilities:
            outcome["complement"] = scores[:, 0]
        yield outcome


Estimated = tuple[float, Interval, bool]  # … and whether the result says "not kept"


def estimates_of(collected: CollectedVotes, request: Request) -> dict[str, Estimated]:
    """Give value and interval of each measure as `tr.estimate` has them, and no others."""
    examples = collected.examples
    method = find_method("cross_validation", examples)
    votes = VoteEstimates(examples, method, collected, request)
    counted = CountEstimates(collected.votes.cells(), request)
    one_vs_rest = (
        counted.averaged()
        if examples.pos_label is None
        else counted.of_label(examples.labels.index(examples.pos_label))
    )
    names = measures_of(len(examples.labels))
    if collected.plan.repetitions == 1 or examples.groups is not None:
        done = {name: votes.finished(one, DEFAULT) for name, one in votes.evaluation().items()}
        return {
            name: (one.value, one.interval, has_code(one.notes, "not_kept_at_this_size"))
            for name, one in done.items()
            if name in names and one.interval is not None
        }
    found = {
        one.measure: (one.value, one.interval, False)
        for one in (*counted.overall(), *one_vs_rest)
        if one.measure in names and one.interval is not None
    }
    if votes.scores is not None:
        for name in names:
            if base_and_average(name)[0] in OF_SCORES:
                found.update(_of_scores(name, votes.scores, probabilities=request.probabilities))
    return found


def _of_scores(
    name: str, scores: RefitScores, *, probabilities: bool
) -> Iterator[tuple[str, Estimated]]:
    base = base_and_average(name)[0]
    labels = scores.labels if scores.pos_label is None else (scores.pos_label,)
    if base in LOSSES and not probabilities:
        return
    values: list[Any]
    if base == "roc_auc":
        values = [scores.areas[label] for label in labels]
    elif base in LOSSES:
        values = [_losses_of(base, scores, sheet).mean() for sheet in scores.sheets]
    else:
        at = [scores.labels.index(label) for label in labels]
        values = [
            _average_precision(sheet.column(k), scores.truth[sheet.examples] == k)
            for sheet in scores.sheets
            for k in at
        ]
    value = float(np.mean(values))
    if np.isfinite(value):
        interval = scores.component_interval(name, value, labels)
        not_kept = base == "log_loss" and scores.one_call_leaves(value, interval)
        yield name, (value, interval, not_kept)


def _losses_of(base: str, scores: RefitScores, sheet: Sheet) -> Array:
    truth = scores.truth[sheet.examples]
    return LOSSES[base](
        sheet.score, truth == 1 if sheet.score.ndim == 1 else truth, sheet.complement
    )


def truth_of(measure: str, scores: Array, y: Indices, *, probabilities: bool) -> float:
    """Give the value of a model on its population, from its scores by class."""
    classes = scores.shape[1]
    base, average = base_and_average(measure)
    if base not in OF_SCORES:
        codes = y * classes + scores.argmax(axis=1)
        table = np.bincount(codes, minlength=classes**2).reshape(classes, classes).astype(float)
        return float(np.asarray(value_of_tables(measure, table, 1 if classes == 2 else None)))
    if base in LOSSES:
        if not probabilities:
            return np.nan
        if classes == 2:
            losses = LOSSES[base](scores[:, 1], y == 1, scores[:, 0])
        else:
            losses = LOSSES[base](scores, y, None)
        return float(losses.mean())
    if average is None:
        return RANKED[base](scores[:, 1], y == 1)
    return float(np.mean([RANKED[base](scores[:, k], y == k) for k in range(classes)]))


def _area(score: Array, is_positive: NDArray[np.bool_]) -> float:
    return float(share_below(score[is_positive], score[~is_positive]).mean())


def _average_precision(score: Array, is_positive: NDArray[np.bool_]) -> float:
    levels, at = np.unique(-score, return_inverse=True)
    hits = np.bincount(at, is_positive, len(levels))
    every = np.cumsum(np.bincount(at, minlength=len(levels)))
    return min(float(hits @ (np.cumsum(hits) / every)) / float(hits.sum()), 1.0)


RANKED = {"roc_auc": _area, "average_precision": _average_precision}


def rival_of(measure: str, collected: CollectedVotes, folds: int = FOLDS) -> tuple[float, float]:
    """Give the ends of the corrected t over the values of the folds; NaN where a fold has none."""
    examples = collected.examples
    classes = len(examples.labels)
    base, average = base_and_average(measure)
    parts = list(collected.scored_parts)
    if base not in OF_SCORES:
        found = value_of_tables(
            measure,
            collected.tables.astype(np.float64),
            1 if classes == 2 else None,
        )
        values = np.broadcast_to(np.asarray(found, dtype=np.float64), len(collected.tables))
    elif average is not None or (base in LOSSES and not collected.are_probabilities):
        return np.nan, np.nan
    else:
        values = np.array(
            [_value_of_fold(base, examples.codes[test], one) for test, one, _ in parts]
        )
    if not np.isfinite(values).all():
        return np.nan, np.nan
    interval = summarise(values.tolist(), measure=base, folds=folds, level=LEVEL).interval
    return (np.nan, np.nan) if interval is None else (interval.low, interval.high)


def _value_of_fold(base: str, y: Indices, score: Array) -> float:
    if base in LOSSES:
        truth = y == 1 if score.ndim == 1 else y
        return float(LOSSES[base](score, truth, None).mean())
    if y.min() == y.max():
        return np.nan
    return RANKED[base](score, y == 1)


def run_best_of(cell: Cell) -> Arrays:
    """Give truth, ends and rival's ends of the best of ten learners, by error rate.

    Linear discriminants and naive Bayes on all features and on four halves of them.  The truth is
    the error of the one that is chosen; the rival the quantiles of the repeated choices.
    """
    own = population(cell.population)
    rng = np.random.default_rng([7, own.X.shape[1]])
    d = own.X.shape[1]
    sets = [np.arange(d), *(rng.choice(d, -(-d // 2), replace=False) for _ in range(4))]
    names = ("value", "truth", "low", "high", "rival_low", "rival_high")
    arrays: Arrays = {name: np.full((1, cell.samples), np.nan) for name in names}
    for at in range(cell.samples):
        X, y, groups = draw(cell, at)
        each, shares, truths = [], [], []
        for learner, columns in product(list(LEARNERS)[:2], sets):
            one = replace(cell, learner=learner)
            collected, request = collected_of(one, X[:, columns], y, at, groups)
            request = replace(request, measures=("error_rate",))
            each.append(next(CountEstimates(collected.votes.cells(), request).overall()))
            shares.append(cell_shares(y, collected.votes.called, own.classes))
            scores, _ = LEARNERS[learner](X[:, columns], y, own.classes)(own.X[:, columns])
            truths.append(float(np.mean(scores.argmax(axis=1) != own.y)))
        wrong = 1 - np.eye(own.classes).ravel()

        def errors(weights: Array, shares: list[Array] = shares, wrong: Array = wrong) -> Array:
            tallied = [weights @ one @ wrong for one in shares]
            return np.asarray(np.stack(tallied) / weights.sum(axis=1))

        chosen = repeated_choices(
            errors,
            len(y),
            higher_is_better=False,
            replicates=CHOICES,
            rng=np.random.default_rng([at, 1]),
        )
        old = estimate_of_choices(chosen, "error_rate", level=LEVEL, n=len(y), method="best_of")
        winner = int(np.argmin([one.value for one in each]))
        new = after_choice(old, each[winner])
        ends = [(e.interval.low, e.interval.high) for e in (new, old) if e.interval is not None]
        row = (new.value, truths[winner], *ends[0], *ends[1])
        for name, value in zip(names, row, strict=True):
            arrays[name][0, at] = value
    arrays["method"] = np.array([str(new.interval and new.interval.method)])
    arrays["not_kept"] = np.zeros((1, cell.samples), dtype=bool)
    return arrays


def run_cell(cell: Cell) -> Arrays:
    """Give truth, ends and rival's ends, measures × samples; and the number of each method."""
    if cell.learner == BEST_OF:
        return run_best_of(cell)
    own = population(cell.population)
    measures = measures_of(own.classes)
    shape = (len(measures), cell.samples)
    names = ("value", "truth", "low", "high", "rival_low", "rival_high", "together")
    arrays: Arrays = {name: np.full(shape, np.nan) for name in names}
    arrays["not_kept"] = np.zeros(shape, dtype=bool)
    methods = [Counter[str]() for _ in measures]
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for at in range(cell.samples):
            X, y, groups = draw(cell, at)
            collected, request = collected_of(cell, X, y, at, groups)
            found = estimates_of(collected, request)
            model = LEARNERS[cell.learner](X, y, own.classes)
            scores, probabilities = model(own.X)
            for row, measure in enumerate(measures):
                arrays["truth"][row, at] = truth_of(
                    measure, scores, own.y, probabilities=probabilities
                )
                value, interval, not_kept = found.get(measure, (np.nan, None, False))
                if interval is None or not np.isfinite(value):
                    continue
                arrays["not_kept"][row, at] = not_kept
                methods[row][interval.method] += 1
                arrays["value"][row, at] = value
                arrays["low"][row, at], arrays["high"][row, at] = interval.low, interval.high
                arrays["together"][row, at] = getattr(interval, "lengthening", np.nan)
                ends = rival_of(measure, collected, cell.folds)
                arrays["rival_low"][row, at], arrays["rival_high"][row, at] = ends
    arrays["method"] = np.array([one.most_common(1)[0][0] if one else "" for one in methods])
    return arrays


def rows_of(cell: Cell, arrays: Mapping[str, NDArray[Any]]) -> Iterator[CoverageCell]:
    """Give one row per measure that is defined in some sample."""
    best_of = cell.learner == BEST_OF
    measures = ("error_rate",) if best_of else measures_of(population(cell.population).classes)
    methods = np.broadcast_to(arrays["method"], len(measures)).tolist()
    for row, measure in enumerate(measures):
        truth, low, high = (arrays[name][row] for name in ("truth", "low", "high"))
        other_low, other_high = arrays["rival_low"][row], arrays["rival_high"][row]
        defined = np.isfinite(truth) & np.isfinite(low)
        not_kept = defined & arrays["not_kept"][row]
        for target, there in ((TARGET, defined & ~not_kept), (NO_PROMISE, not_kept)):
            both = there & np.isfinite(other_low)
            if not there.any():
                continue
            yield CoverageCell(
                study="refits",
                problem=cell.problem,
                role=cell.role,
                design=cell.design,
                n=cell.n,
                measure=measure,
                method=methods[row],
                level=LEVEL,
                target=target,
                samples=int(there.sum()),
                undefined=int((~defined).sum()),
                coverage=_share(low, high, truth, there),
                width=float((high - low)[there].mean()),
                rival=(OLD_CHOICE if best_of else RIVAL) if both.any() else "",
                rival_coverage=_share(other_low, other_high, truth, both),
                rival_width=float((other_high - other_low)[both].mean()) if both.any() else np.nan,
            )


def _share(low: Array, high: Array, truth: Array, which: NDArray[np.bool_]) -> float:
    if not which.any():
        return np.nan
    return float(np.mean((low[which] <= truth[which]) & (truth[which] <= high[which])))


def all_cells(samples: int = SAMPLES) -> list[Cell]:
    """List the cells, so that the first of them are as different as can be."""
    lda, bayes, logistic, tree, stump3, knn, linear, rbf, forest, boosting = LEARNERS
    cells = [
        ("exclusive or", 250, lda), ("three classes", 150, lda), ("exclusive or", 1000, lda),
        ("ijcnn1", 300, lda), ("heavy tails", 50, bayes), ("covtype_binary", 200, lda),
        ("rare positives", 300, bayes), ("banana", 100, tree), ("exclusive or", 4000, lda),
        ("twonorm", 50, lda), ("ringnorm", 100, rbf), ("label noise", 300, logistic),
        ("svmguide1", 300, bayes), ("ten classes", 300, bayes), ("image", 100, knn),
        ("waveform", 1000, bayes), ("rings", 100, bayes), ("mushroom", 50, bayes),
        ("letter_DO", 100, linear), ("titanic", 100, lda), ("heavy tails", 1000, lda),
        ("rare positives", 1000, lda), ("three classes", 150, tree), ("label noise", 50, lda),
        ("banana", 300, bayes), ("svmguide1", 100, tree), ("rings", 300, lda),
        ("waveform", 50, bayes), ("twonorm", 300, bayes), ("image", 300, lda),
        ("ijcnn1", 1000, bayes), ("ringnorm", 300, lda), ("covtype_binary", 100, tree),
        ("letter_DO", 50, lda), ("mushroom", 100, stump3), ("titanic", 300, bayes),
        ("label noise", 4000, lda), ("heavy tails", 300, knn), ("ten classes", 300, lda),
        ("three classes", 400, bayes), ("rare positives", 100, lda), ("banana", 200, rbf),
        ("rings", 1000, bayes), ("waveform", 100, knn), ("twonorm", 100, linear),
        ("svmguide1", 50, logistic), ("ijcnn1", 300, stump3), ("image", 1000, lda),
        ("covtype_binary", 300, logistic), ("ringnorm", 1000, lda), ("heavy tails", 300, bayes),
        ("label noise", 100, tree), ("rare positives", 4000, bayes), ("three classes", 1000, bayes),
        ("ten classes", 1000, lda), ("exclusive or", 300, tree), ("ringnorm", 150, boosting),
        ("image", 150, forest), ("heavy tails", 150, boosting), ("rare positives", 200, forest),
    ]  # fmt: skip
    held_out = [Cell(population=name, n=n, learner=one, samples=samples) for name, n, one in cells]
    others = [
        Cell(population=name, n=n, learner=one, samples=samples, repeats=repeats, folds=folds)
        for repeats, folds in OTHER_DESIGNS
        for name, n, one in (
            ("exclusive or", 250, lda), ("rare positives", 300, bayes), ("twonorm", 50, lda),
            ("covtype_binary", 200, lda), ("three classes", 150, lda), ("banana", 100, tree),
        )
    ]  # fmt: skip
    grouped = [
        Cell(population=name, n=10 * groups, learner=one, samples=samples, groups=groups, **design)
        for design in ({}, {"repeats": 3, "folds": 5})
        for name in ("shifted groups", "groups of a label")
        for groups in (20, 40)
        for one in ((lda, bayes, stump3) if not design else (lda,))
    ]
    to_choose = [
        Cell(population=name, n=n, learner=bayes, samples=samples)
        for n in (50, 100, 300)
        for name in TO_CHOOSE
    ]
    to_choose += [
        Cell(population=name, n=300, learner=lda, samples=samples, groups=30)
        for name in GROUPED_CHOSEN_ON
    ]
    best_of = [
        Cell(population=name, n=n, learner=BEST_OF, samples=samples)
        for name, n in (
            ("rings", 60), ("label noise", 50), ("label noise", 200), ("heavy tails", 100),
            ("three classes", 100), ("rare positives", 150),
        )
    ]  # fmt: skip
    return [*held_out, *others, *grouped, *best_of, *to_choose]


def measure_cells(
    cells: Sequence[Cell], *, folder: Path | None
) -> Iterator[tuple[Cell, list[CoverageCell]]]:
    """Give the rows of one cell after another; what is in the folder is not run again."""
    for cell in cells:
        settings = {
            "samples": cell.samples,
            "folds": cell.folds,
            "repeats": cell.repeats,
            "level": LEVEL,
        }
        arrays = checkpointed(folder, cell.file_name, settings, partial(run_cell, cell))
        yield cell, list(rows_of(cell, arrays))
