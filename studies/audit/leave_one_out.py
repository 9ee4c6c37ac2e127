"""What the intervals of exact leave-one-out of SVMs cover, on noise and on other populations.

On *noise* the labels say nothing of the features, and as many examples are drawn of either class:
without an example its class is the rarer one, and the SVM errs more often than by chance.  The
truth is the value on the population of the SVM that is trained on the whole sample, for the
binomial interval, which speaks of the learner, its mean over the samples.  Noise of 60 examples
with two features was looked at when the rule was chosen.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import truerisk as tr
from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell, cells_of_ends
from studies.audit.refit_populations import Population, population
from studies.audit.refits import Cell as Sample
from studies.audit.refits import draw
from truerisk.aliases import Array, Indices
from truerisk.errors import UnstableWarning
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.measured_coverage import LEARNER, LEFT_OUT, THIS_MODEL
from truerisk.measures.averages import value_of_tables

STUDY, LEVEL, SAMPLES = "leave_one_out", 0.95, 300
MEASURES = ("error_rate", "recall", "precision", "f1", "matthews_correlation")
NOISE, ROWS = "noise", 20_000
SVMS: dict[str, Callable[[], Any]] = {"linear SVM": tr.LinearSVM, "RBF SVM": tr.KernelSVM}


@dataclass(frozen=True)
class Cell:
    """A population, or noise with so many features, a sample size and an SVM."""

    population: str
    n: int
    svm: str
    features: int = 0

    @property
    def problem(self) -> str:
        """Name the population and the SVM."""
        name = f"{NOISE}, {self.features} features" if self.features else self.population
        return f"{name}, {self.svm}"

    @property
    def role(self) -> str:
        """Say whether the rule was chosen with a look at it."""
        return CHOSEN_ON if (self.features, self.n) == (2, 60) else HELD_OUT


def cells() -> Iterator[Cell]:
    """List the cells."""
    linear, rbf = SVMS
    for n, features in ((60, 2), (60, 5), (100, 5)):
        yield Cell(NOISE, n, linear, features)
    for n, features in ((60, 2), (60, 5)):
        yield Cell(NOISE, n, rbf, features)
    for name, n, svm in (
        ("label noise", 100, linear), ("heavy tails", 60, linear), ("twonorm", 50, linear),
        ("rings", 60, rbf), ("banana", 60, rbf),
    ):  # fmt: skip
        yield Cell(name, n, svm)


@cache
def _noise(features: int) -> Population:
    rng = np.random.default_rng([11, features])
    return Population(rng.normal(size=(ROWS, features)), rng.permutation(np.arange(ROWS) % 2))


def sample_of(cell: Cell, at: int) -> tuple[Population, Array, Indices]:
    """Give the population, and draw from it; of noise, as many of either class."""
    if not cell.features:
        X, y, _ = draw(Sample(population=cell.population, n=cell.n, learner=cell.svm), at)
        return population(cell.population), X, y
    own = _noise(cell.features)
    rng = np.random.default_rng([cell.n, cell.features, at])
    halves = [rng.choice(np.flatnonzero(own.y == label), cell.n // 2) for label in (0, 1)]
    rows = rng.permutation(np.concatenate(halves))
    return own, own.X[rows], own.y[rows]


def run(cell: Cell, samples: int) -> Arrays:
    """Give ends and truth of each measure, the binomial ends, and the names of the methods."""
    ends = np.full((len(MEASURES), samples, 2), np.nan)
    truths, binomial = np.full((len(MEASURES), samples), np.nan), np.full((samples, 2), np.nan)
    methods = [Counter[str]() for _ in MEASURES]
    for at in range(samples):
        own, X, y = sample_of(cell, at)
        svm = SVMS[cell.svm]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnstableWarning)
            found = tr.leave_one_out(svm, X, y, pos_label=1, measures=MEASURES)
            called = svm.fit(X, y).predict(own.X)
        table = np.bincount(2 * own.y + called, minlength=4).reshape(2, 2).astype(np.float64)
        for row, name in enumerate(MEASURES):
            truths[row, at] = float(np.asarray(value_of_tables(name, table, 1)))
            interval = found[name].interval
            if interval is not None and found[name].is_defined:
                ends[row, at] = interval.low, interval.high
                methods[row][interval.method] += 1
        exact = binomial_interval(len(found.errors), cell.n, level=LEVEL)
        binomial[at] = exact.low, exact.high
    names = np.array([one.most_common(1)[0][0] if one else "" for one in methods])
    return {"ends": ends, "truths": truths, "binomial": binomial, "methods": names}


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Give the rows of one cell after another; what is in the folder is not run again."""
    for cell in cells():
        name = re.sub(r"[^a-z0-9]+", "-", f"left out {cell.problem} {cell.n}".lower())
        settings = {**asdict(cell), "samples": samples}
        arrays = checkpointed(folder, name, settings, partial(run, cell, samples))
        facts: dict[str, Any] = {
            "study": STUDY,
            "problem": cell.problem,
            "role": cell.role,
            "design": LEFT_OUT,
            "n": cell.n,
            "level": LEVEL,
        }
        rows = []
        for at, measure in enumerate(MEASURES):
            facts |= {"measure": measure, "method": str(arrays["methods"][at])}
            truths = arrays["truths"][at]
            rows += cells_of_ends(arrays["ends"][at], truths, target=THIS_MODEL, **facts)
        facts |= {"measure": MEASURES[0], "method": binomial_interval(0, 1).method}
        mean = float(arrays["truths"][0].mean())
        rows += cells_of_ends(arrays["binomial"], mean, target=LEARNER, **facts)
        yield rows
