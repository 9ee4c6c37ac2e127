"""Samples of each problem, each learner's verdicts on them by refits, and the true errors.

This is what takes long.  A cell (problem, n, learner) is kept in one file, so that a run that was
stopped goes on where it was, and a changed rule for an interval needs no refit.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from studies.audit.learner_files import Arrays, kept_arrays
from studies.audit.learner_problems import PROBLEMS, Array, Labels, Problem
from studies.audit.learner_rules import LinearDiscriminant, NaiveBayes, Parts
from studies.audit.populations import FRESH_EXAMPLES
from truerisk.checks import check_choice
from truerisk.estimation.refits.splits import k_fold

FOLDS, REPEATS = 10, 5  # the product's default: repeated stratified cross-validation
LEVEL = 0.95
HELD_OUT = 3  # one part in three is held out
SAMPLE, FRESH, FURTHER = 0, 1, 2  # streams of random numbers
PACKED = ("losses", "pos_label")  # kept as bits


class Learner(Protocol):
    """What is trained again and again, on many training sets at once."""

    name: str

    def calls(
        self, X: Array, y: Labels, parts: Parts, kept: Labels, rng: np.random.Generator
    ) -> Labels:
        """Tell what each refit calls the examples it left out: divisions × refits × examples."""

    def train(self, X: Array, y: Labels, rng: np.random.Generator) -> Any:  # noqa: ANN401
        """Train on the whole sample."""

    def errors(self, models: Sequence[Any], X: Array, y: Labels) -> Array:
        """Give the share of the examples that each trained model gets wrong."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One problem, sample size and learner, and how often a sample is drawn."""

    problem: str
    n: int
    learner: str
    repetitions: int
    random_state: int = 0
    fresh: int = FRESH_EXAMPLES

    @property
    def file_name(self) -> str:
        """Name the file of the cell, but for what it ends in."""
        words = f"{self.problem} {self.n} {self.learner}".lower()
        return re.sub(r"[^a-z0-9]+", "-", words)


@dataclass(frozen=True, kw_only=True)
class Refits:
    """What the refits of one cell came to, a row a sample.

    `losses` and `parts` are samples × repeats × examples: whether the refit that left the example
    out got it wrong, and in which fold it was; `pos_label` is samples × examples.  `truth` is what
    the model trained on the whole sample does on fresh examples: the shares of all that it misses
    and that it calls positive wrongly.  `prevalence` is the share of positives among these, and
    `held_out` is k wrong of m held out.
    """

    losses: Labels
    parts: NDArray[np.uint8]
    pos_label: Labels
    truth: Array
    prevalence: float
    held_out: NDArray[np.int64]

    @property
    def errors(self) -> Array:
        """Give the true error of the model of each sample."""
        return np.asarray(self.truth.sum(axis=1))


def learners() -> dict[str, Learner]:
    """List the learners by name; the tree is compiled, and is loaded only here."""
    from studies.audit.learner_trees import DecisionTree  # noqa: PLC0415  (loads numba)

    return {one.name: one for one in (LinearDiscriminant(), NaiveBayes(), DecisionTree())}


def cross_validated_losses(  # noqa: PLR0917 (a sample, its divisions, who learns)
    learner: Learner, X: Array, y: Labels, parts: Parts, folds: int, rng: np.random.Generator
) -> Labels:
    """Tell of each division and example whether the refit without its fold gets it wrong."""
    calls = learner.calls(X, y, parts, ~np.eye(folds, dtype=np.bool_), rng)
    own = np.take_along_axis(calls, parts[:, np.newaxis, :], axis=1)[:, 0]
    wrong: Labels = own != y
    return wrong


def run_cell(cell: Cell) -> Refits:
    """Draw the samples of a cell, refit, and measure the true errors.

    All learners of a problem see the same samples in the same folds.

    Examples
    --------
    >>> cell = Cell(problem="crescent", n=50, learner="naive Bayes", repetitions=3, fresh=10_000)
    >>> refits = run_cell(cell)
    >>> refits.losses.shape, int(refits.parts.max()), refits.held_out[:, 1].tolist()
    ((3, 5, 50), 9, [17, 17, 17])
    """
    problem = find_problem(cell.problem)
    known = learners()
    learner = known[check_choice(cell.learner, known, "learner")]
    losses = np.empty((cell.repetitions, REPEATS, cell.n), dtype=np.bool_)
    folds = np.empty(losses.shape, dtype=np.uint8)
    held_out = np.empty((cell.repetitions, 2), dtype=np.int64)
    pos_label = np.empty((cell.repetitions, cell.n), dtype=np.bool_)
    models = []
    keeps = np.arange(HELD_OUT)[np.newaxis] > 0
    for at in range(cell.repetitions):
        rng = stream(cell, SAMPLE, cell.n, at)
        X, y = problem.draw(cell.n, rng)
        parts = np.stack([divided(y, FOLDS, rng) for _ in range(REPEATS)])
        thirds = divided(y, HELD_OUT, rng)[np.newaxis]
        losses[at] = cross_validated_losses(learner, X, y, parts, FOLDS, rng)
        folds[at], pos_label[at] = parts, y
        tested = thirds[0] == 0
        called = learner.calls(X, y, thirds, keeps, rng)[0, 0]
        held_out[at] = np.count_nonzero((called != y) & tested), np.count_nonzero(tested)
        models.append(learner.train(X, y, rng))
    X, y = problem.draw(cell.fresh, stream(cell, FRESH))
    shares = [np.mean(of) * learner.errors(models, X[of], y[of]) for of in (y, ~y)]
    return Refits(
        losses=losses,
        parts=folds,
        pos_label=pos_label,
        truth=np.stack(shares, axis=1),
        prevalence=float(np.mean(y)),
        held_out=held_out,
    )


def find_problem(name: str) -> Problem:
    """Look a problem up."""
    known = {problem.name: problem for problem in PROBLEMS}
    return known[check_choice(name, known, "problem")]


def stream(cell: Cell, *which: int) -> np.random.Generator:
    """Give the random numbers of one purpose; the learner has no say in them."""
    name = zlib.crc32(cell.problem.encode())
    return np.random.default_rng([cell.random_state, name, *which])


def divided(y: Labels, parts: int, rng: np.random.Generator) -> Parts:
    """Divide a sample as the product does by default: stratified."""
    return k_fold(y, parts, allow_small_classes=True, random_state=rng)


def kept_or_run(cell: Cell, folder: Path | None) -> Refits:
    """Read the refits of a cell from its file, or run them and write it."""

    def compute() -> Arrays:
        found = run_cell(cell)
        packed = {name: np.packbits(getattr(found, name), axis=-1) for name in PACKED}
        return {**vars(found), **packed, "prevalence": np.array(found.prevalence)}

    arrays = kept_arrays(folder, cell.file_name, asdict(cell), compute)
    for name in PACKED:
        arrays[name] = np.unpackbits(arrays[name], axis=-1, count=cell.n).astype(np.bool_)
    prevalence = float(arrays.pop("prevalence"))
    return Refits(prevalence=prevalence, **arrays)
