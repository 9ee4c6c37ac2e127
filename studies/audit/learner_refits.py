"""Samples of each problem, refits of each learner on them, and the true errors.

This is what takes long.  A cell (problem, n, learner) has files of its own: a run that was stopped
continues, and a changed rule for an interval needs no refit.

Two intervals need refits of their own, nested cross-validation and the conservative Z.  These are
five to ten times as many refits as for all others, and the trees of large samples are left out;
what is stored is the ends of the intervals, one row per sample.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.learner_problems import PROBLEMS, Problem
from studies.audit.predictions import FRESH_EXAMPLES
from truerisk.aliases import Array, Flags
from truerisk.checks import check_choice
from truerisk.estimation.refits.splits import k_fold
from truerisk.intervals.cross_validation import (
    ConservativeZRuns,
    conservative_z_interval,
    nested_interval,
    nested_runs,
)
from truerisk.results import Interval

Parts = NDArray[np.int64]

FOLDS, REPEATS = 10, 5  # the product's default: repeated stratified cross-validation
LEVEL = 0.95
HELD_OUT = 3  # one part in three is held out
SAMPLE, FRESH, FURTHER = 0, 1, 2  # streams of random numbers
PACKED = ("losses", "positive")  # stored as bits
SEEDS = 2**32
NESTED_REPEATS = 10  # the product's defaults, here and below
TESTED = 10  # one example in ten
SUBSAMPLES, DIVISIONS = 15, 10
LARGEST_TREES = 100
TREE, DISCRIMINANT = "decision tree", "linear discriminant"

# A linear discriminant solved by least squares is that of the pooled covariance matrix.
LEARNERS: dict[str, Any] = {
    DISCRIMINANT: LinearDiscriminantAnalysis(solver="lsqr"),
    "naive Bayes": GaussianNB(),
    TREE: DecisionTreeClassifier(),
}


@dataclass(frozen=True)
class Constant:
    """What is learned from examples of one class: that class."""

    positive: bool

    def predict(self, X: Array) -> Flags:
        """Predict the class for every example."""
        return np.full(len(X), self.positive)


def train(name: str, X: Array, y: Flags, rng: np.random.Generator) -> Any:
    """Train a learner; where its seed matters, it is drawn."""
    if y.all() or not y.any():
        return Constant(bool(y[0]))
    model = clone(LEARNERS[name])
    if "random_state" in model.get_params():
        model.set_params(random_state=int(rng.integers(SEEDS)))
    return model.fit(X, y)


def refit_predictions(  # noqa: PLR0917  (who learns, a sample, its divisions)
    name: str, X: Array, y: Flags, parts: Parts, trained_on: Flags, rng: np.random.Generator
) -> Flags:
    """Give what each refit predicts for the examples it left out: divisions × refits × examples.

    `parts` has one row per division; `trained_on` says of each refit (row) which parts of a
    division it is trained on.
    """
    predicted = np.zeros((len(parts), len(trained_on), len(y)), dtype=np.bool_)
    for division, rows in zip(parts, predicted, strict=True):
        for used, row in zip(trained_on, rows, strict=True):
            inside = used[division]
            row[~inside] = train(name, X[inside], y[inside], rng).predict(X[~inside])
    return predicted


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One problem, sample size and learner, and how many samples are drawn."""

    problem: str
    n: int
    learner: str
    samples: int
    random_state: int = 0
    fresh: int = FRESH_EXAMPLES

    @property
    def file_name(self) -> str:
        """Name the file of the cell, without its suffix."""
        words = f"{self.problem} {self.n} {self.learner}".lower()
        return re.sub(r"[^a-z0-9]+", "-", words)


@dataclass(frozen=True, kw_only=True)
class Refits:
    """What the refits of one cell came to, one row per sample.

    `losses` and `parts` are samples × repeats × examples: whether the refit that left the example
    out got it wrong, and in which fold it was; `positive` is samples × examples.  `truth` is what
    the model trained on the whole sample does on fresh examples: the shares of false negatives and
    of false positives among all.  `prevalence` is the share of positives among these, and
    `held_out` is k wrong of m held out.
    """

    losses: Flags
    parts: NDArray[np.uint8]
    positive: Flags
    truth: Array
    prevalence: float
    held_out: NDArray[np.int64]

    @property
    def errors(self) -> Array:
        """Give the true error of the model of each sample."""
        return np.asarray(self.truth.sum(axis=1))


def cross_validated_losses(  # noqa: PLR0917 (a sample, its divisions, who learns)
    learner: str, X: Array, y: Flags, parts: Parts, folds: int, rng: np.random.Generator
) -> Flags:
    """Say for each division and example whether the refit without its fold gets it wrong."""
    every = refit_predictions(learner, X, y, parts, ~np.eye(folds, dtype=np.bool_), rng)
    own = np.take_along_axis(every, parts[:, np.newaxis, :], axis=1)[:, 0]
    wrong: Flags = own != y
    return wrong


def run_cell(cell: Cell) -> Refits:
    """Draw the samples of a cell, refit, and measure the true errors.

    All learners of a problem see the same samples in the same folds.

    Examples
    --------
    >>> cell = Cell(problem="crescent", n=50, learner="naive Bayes", samples=3, fresh=10_000)
    >>> refits = run_cell(cell)
    >>> refits.losses.shape, int(refits.parts.max()), refits.held_out[:, 1].tolist()
    ((3, 5, 50), 9, [17, 17, 17])
    """
    problem = find_problem(cell.problem)
    check_choice(cell.learner, LEARNERS, "learner")
    losses = np.empty((cell.samples, REPEATS, cell.n), dtype=np.bool_)
    folds = np.empty(losses.shape, dtype=np.uint8)
    held_out = np.empty((cell.samples, 2), dtype=np.int64)
    positive = np.empty((cell.samples, cell.n), dtype=np.bool_)
    models = []
    keeps = np.arange(HELD_OUT)[np.newaxis] > 0
    for at in range(cell.samples):
        rng = stream(cell, SAMPLE, cell.n, at)
        X, y = problem.draw(cell.n, rng)
        parts = np.stack([divided(y, FOLDS, rng) for _ in range(REPEATS)])
        thirds = divided(y, HELD_OUT, rng)[np.newaxis]
        losses[at] = cross_validated_losses(cell.learner, X, y, parts, FOLDS, rng)
        folds[at], positive[at] = parts, y
        tested = thirds[0] == 0
        predicted = refit_predictions(cell.learner, X, y, thirds, keeps, rng)[0, 0]
        held_out[at] = np.count_nonzero((predicted != y) & tested), np.count_nonzero(tested)
        models.append(train(cell.learner, X, y, rng))
    X, y = problem.draw(cell.fresh, stream(cell, FRESH))
    shares = []
    for model in models:
        wrong = model.predict(X) != y
        shares.append([np.mean(wrong & y), np.mean(wrong & ~y)])
    return Refits(
        losses=losses,
        parts=folds,
        positive=positive,
        truth=np.array(shares),
        prevalence=float(np.mean(y)),
        held_out=held_out,
    )


def find_problem(name: str) -> Problem:
    """Look a problem up."""
    problems = {problem.name: problem for problem in PROBLEMS}
    return problems[check_choice(name, problems, "problem")]


def stream(cell: Cell, *which: int) -> np.random.Generator:
    """Give the random numbers of one purpose, the same for every learner."""
    name = zlib.crc32(cell.problem.encode())
    return np.random.default_rng([cell.random_state, name, *which])


def divided(y: Flags, parts: int, rng: np.random.Generator) -> Parts:
    """Divide a sample as the product does by default: stratified."""
    return k_fold(y, parts, allow_small_classes=True, random_state=rng)


def refits_of(cell: Cell, folder: Path | None) -> Refits:
    """Read the refits of a cell from its checkpoint, or run them and write it."""

    def compute() -> Arrays:
        refits = run_cell(cell)
        packed = {name: np.packbits(getattr(refits, name), axis=-1) for name in PACKED}
        return {**vars(refits), **packed, "prevalence": np.array(refits.prevalence)}

    arrays = checkpointed(folder, cell.file_name, asdict(cell), compute)
    for name in PACKED:
        arrays[name] = np.unpackbits(arrays[name], axis=-1, count=cell.n).astype(np.bool_)
    prevalence = float(arrays.pop("prevalence"))
    return Refits(prevalence=prevalence, **arrays)


Rule = Callable[[str, Array, Flags, np.random.Generator], Interval | None]


def nested(learner: str, X: Array, y: Flags, rng: np.random.Generator) -> Interval | None:
    """Give the interval of nested cross-validation."""
    parts = np.stack([divided(y, FOLDS, rng) for _ in range(NESTED_REPEATS)])
    runs = nested_runs(FOLDS)
    trained_on = np.array([[fold not in run for fold in range(FOLDS)] for run in runs])
    losses = refit_predictions(learner, X, y, parts, trained_on, rng) != y
    # Row k, example i of fold j: by the refit without j and k.
    without = np.empty((FOLDS, FOLDS), dtype=np.intp)
    for at, run in enumerate(runs):
        without[run[0], run[-1]] = without[run[-1], run[0]] = at
    of = without[np.arange(FOLDS)[np.newaxis, :, np.newaxis], parts[:, np.newaxis, :]]
    table = np.take_along_axis(losses, of, axis=1)
    return nested_interval(table, parts, level=LEVEL).interval


def conservative_z(learner: str, X: Array, y: Flags, rng: np.random.Generator) -> Interval | None:
    """Give the interval of the conservative Z."""
    by_class = np.argsort(y, kind="stable")
    X, y = X[by_class], y[by_class]
    runs, trained, tested = _runs(len(y), int(np.count_nonzero(y)))
    # Every example is a part of its own.
    each = np.arange(len(y))[np.newaxis]
    losses = refit_predictions(learner, X, y, each, trained, rng)[0] != y
    errors = np.count_nonzero(losses & tested, axis=1) / np.count_nonzero(tested, axis=1)
    return conservative_z_interval(*runs.arrange(errors), level=LEVEL)


@lru_cache(maxsize=128)
def _runs(n: int, positives: int) -> tuple[ConservativeZRuns, Flags, Flags]:
    """Give the refits of samples in the order of their classes, what each trains and is tested on.

    Within a class the order of the examples is random: samples with as many of each class may be
    divided alike.
    """
    runs = ConservativeZRuns(
        n=n,
        test=max(1, n // TESTED),
        seed=positives,
        subsamples=SUBSAMPLES,
        divisions=DIVISIONS,
        strata=(np.arange(n) >= n - positives).astype(np.intp),
    )
    trained = np.zeros((len(runs), n), dtype=np.bool_)
    tested = np.zeros_like(trained)
    for at in range(len(runs)):
        train, test = runs.train_and_test(at)
        trained[at, train], tested[at, test] = True, True
    return runs, trained, tested


FURTHER_INTERVALS: dict[str, Rule] = {
    "nested cross-validation": nested,
    "conservative Z": conservative_z,
}


def is_affordable(cell: Cell, name: str) -> bool:
    """Whether an interval is measured in a cell.

    A discriminant needs more examples than features, and the conservative Z trains on two fifths.

    Examples
    --------
    >>> cell = Cell(problem="sparse, 30 features", n=50, learner=DISCRIMINANT, samples=1)
    >>> is_affordable(cell, "nested cross-validation"), is_affordable(cell, "conservative Z")
    (True, False)
    """
    if cell.learner == DISCRIMINANT and name == "conservative Z":
        return cell.n // 2 - cell.n // TESTED > find_problem(cell.problem).features + 2
    return cell.learner != TREE or cell.n <= LARGEST_TREES


def further_ends(cell: Cell, folder: Path | None) -> dict[str, Array]:
    """Give the ends of the intervals that the cell can afford, for each sample; NaN without one."""
    ends = {}
    for name in FURTHER_INTERVALS:
        if is_affordable(cell, name):
            file_name = f"{cell.file_name}-{name.lower().replace(' ', '-')}"
            arrays = checkpointed(folder, file_name, asdict(cell), partial(_run, cell, name))
            ends[name] = arrays["ends"]
    return ends


def _run(cell: Cell, name: str) -> dict[str, Array]:
    problem = find_problem(cell.problem)
    intervals = []
    for at in range(cell.samples):
        X, y = problem.draw(cell.n, stream(cell, SAMPLE, cell.n, at))
        rng = stream(cell, FURTHER, cell.n, at)
        intervals.append(FURTHER_INTERVALS[name](cell.learner, X, y, rng))
    return {"ends": ends_of(intervals)}


def ends_of(intervals: Sequence[Interval | None]) -> Array:
    """Give the ends of the intervals as rows, NaN where there is none.

    Examples
    --------
    >>> ends_of([Interval(0.1, 0.2, 0.95, "any"), None])
    array([[0.1, 0.2],
           [nan, nan]])
    """
    return np.array([(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals])
