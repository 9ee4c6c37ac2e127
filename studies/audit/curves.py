"""How often the intervals of a learning curve hold at sizes that were not tried.

A sample of n examples is drawn; the curve is measured on it at eight sizes up to ¾ n; the truth is
the learner's mean error at 2n and 4n, and between two sizes, from as many fresh training sets.
Which curves are refused was chosen on the first eight problems.  That the interval holds a curve
which goes on as fast as before was added when three more, which fall late, had been reported on:
they are among those chosen on, and two new ones that fall late are reported in their place.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.estimation.curves.laws import Design
from truerisk.estimation.curves.learning_curve import sizes_of
from truerisk.estimation.curves.points import CurvePlan, Refits, curve_of
from truerisk.estimation.curves.results import LearnerCurve
from truerisk.inputs.tables import read_table
from truerisk.results import Estimate

LEVEL = 0.95
SAMPLES = 60
MIN_SAMPLES = 20  # that were not refused; fewer say nothing
REPEATS = 10
TEST_SIZE = 0.25
FRESH = 2000  # examples that test a fresh training set
TRAININGS = 50  # fresh training sets for each true mean
FURTHER = (2, 4)  # times the sample
INSIDE = "between sizes"

Sample = tuple[Array, Indices]
Draw = Callable[[np.random.Generator, int], Sample]


def normal_classes(
    rng: np.random.Generator, n: int, *, d: int, shift: float, share: float = 0.5
) -> Sample:
    """Draw two normal classes, `shift` apart in three of d features."""
    y = (rng.random(n) < share).astype(np.intp)
    X = rng.normal(size=(n, d))
    X[:, :3] += shift * y[:, None]
    return X, y


def _heavy(rng: np.random.Generator, n: int) -> Sample:
    y = (rng.random(n) < 0.5).astype(np.intp)
    return rng.standard_t(1.5, size=(n, 4)) + y[:, None], y


def _xor(rng: np.random.Generator, n: int) -> Sample:
    X = rng.uniform(-1, 1, size=(n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(np.intp)
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def _rings(rng: np.random.Generator, n: int) -> Sample:
    X = rng.normal(size=(n, 2))
    y = (np.floor(2 * np.hypot(X[:, 0], X[:, 1])) % 2).astype(np.intp)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def _spirals(rng: np.random.Generator, n: int) -> Sample:
    y = (rng.random(n) < 0.5).astype(np.intp)
    turn = 3 * np.pi * np.sqrt(rng.random(n)) * 1.5
    angle = turn + np.pi * y
    return np.column_stack([turn * np.cos(angle), turn * np.sin(angle)]) + 0.3 * rng.normal(
        size=(n, 2)
    ), y


def _parity(rng: np.random.Generator, n: int) -> Sample:
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, (X.prod(axis=1) > 0).astype(np.intp)


def _stripes(rng: np.random.Generator, n: int) -> Sample:
    X = rng.uniform(0, 3, size=(n, 2))
    y = (np.floor(X[:, 0] + 0.3 * X[:, 1]) % 2).astype(np.intp)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def _checkerboard(rng: np.random.Generator, n: int) -> Sample:
    X = rng.uniform(0, 4, size=(n, 2))
    y = (np.floor(X).sum(axis=1) % 2).astype(np.intp)
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def pure_noise(rng: np.random.Generator, n: int, *, share: float = 0.5) -> Sample:
    """Draw features that say nothing of the class."""
    return rng.normal(size=(n, 5)), (rng.random(n) < share).astype(np.intp)


def far_outliers(rng: np.random.Generator, n: int) -> Sample:
    """Give a class with rare far examples: the more of them, the worse a linear rule."""
    y = (rng.random(n) < 0.5).astype(np.intp)
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    far = (rng.random(n) < 0.01) & (y == 1)
    X[far] -= 40.0
    return X, y


@lru_cache(maxsize=1)
def _table(name: str) -> Sample:
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        raise InputError("`TRUERISK_DATA` must name the folder of the data sets; it is not set.")
    table = read_table(Path(folder) / "tabular" / f"{name}.csv.gz", target="target")
    return np.asarray(table.X, dtype=np.float64), np.asarray(table.y).astype(np.intp)


def _from_table(rng: np.random.Generator, n: int, *, name: str) -> Sample:
    X, y = _table(name)
    rows = rng.choice(len(y), min(n, len(y)), replace=False)
    return X[rows], y[rows]


TREE = DecisionTreeClassifier(random_state=0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
LDA, BAYES = LinearDiscriminantAnalysis(), GaussianNB()


@dataclass(frozen=True, kw_only=True)
class CurveProblem:
    """A population, a learner, the size of a sample, and the role of the problem."""

    name: str
    draw: Draw
    learner: Any
    n: int
    role: str

    @property
    def is_table(self) -> bool:
        """Whether the population is a finite table."""
        return isinstance(self.draw, partial) and self.draw.func is _from_table


def problem_of(role: str, name: str, draw: Draw, learner: Any, n: int = 200) -> CurveProblem:
    """Put a problem together."""
    return CurveProblem(name=name, draw=draw, learner=learner, n=n, role=role)


def problems() -> tuple[CurveProblem, ...]:
    """List the problems: eleven to choose on, eleven to report."""
    table, normal, knn = (
        partial(partial, _from_table),
        partial(partial, normal_classes),
        _neighbours,
    )
    chosen = partial(problem_of, CHOSEN_ON)
    report = partial(problem_of, HELD_OUT)
    return (
        chosen("normal classes, LDA", normal(d=5, shift=1.0), LDA),
        chosen("XOR, tree", _xor, TREE),
        chosen("60 dimensions, LDA (rises and falls)", normal(d=60, shift=1.0), LDA, 100),
        chosen("noise, logistic (flat)", pure_noise, LOGISTIC),
        chosen("twonorm, naive Bayes", table(name="twonorm"), BAYES),
        chosen("banana, 5 neighbours", table(name="banana"), knn(5)),
        chosen("waveform, logistic", table(name="waveform"), LOGISTIC),
        chosen("outliers, LDA (rises)", far_outliers, LDA),
        chosen("rings, 3 neighbours (falls late)", _rings, knn(3)),
        report("heavy tails, naive Bayes", _heavy, BAYES),
        report("15 % positive, logistic", normal(d=8, shift=1.0, share=0.15), LOGISTIC),
        report("40 dimensions, LDA (rises and falls)", normal(d=40, shift=0.8), LDA, 60),
        report("30 % noise, tree (flat)", partial(pure_noise, share=0.3), TREE),
        report("majority (flat)", normal(d=5, shift=1.0, share=0.3), DummyClassifier()),
        report("ringnorm, naive Bayes", table(name="ringnorm"), BAYES),
        report("svmguide1, tree", table(name="svmguide1"), TREE),
        report("image, logistic", table(name="image"), LOGISTIC),
        report("letter O or Q, LDA", table(name="letter_OQ"), LDA),
        chosen("spirals, 1 neighbour (falls late)", _spirals, KNeighborsClassifier(1)),
        chosen("checkerboard, tree (falls late)", _checkerboard, TREE),
        report("parity of three signs, tree (falls late)", _parity, TREE),
        report("slanted stripes, tree (falls late)", _stripes, TREE),
    )


def _neighbours(k: int) -> Any:
    return make_pipeline(StandardScaler(), KNeighborsClassifier(k))


def measure_problem(
    problem: CurveProblem, *, samples: int, folder: Path | None = None
) -> Iterator[CoverageCell]:
    """Measure one problem; give rows at 2n and 4n, and between sizes."""
    name = "curves-" + "".join(one if one.isalnum() else "-" for one in problem.name)
    settings = {"problem": problem.name, "n": problem.n, "samples": samples, "repeats": REPEATS}
    arrays = checkpointed(folder, name, settings, lambda: _simulate(problem, samples))
    yield from _summary(problem, arrays)


def _simulate(problem: CurveProblem, samples: int) -> Arrays:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tables, sizes = [], []
        for at in range(samples):
            rng = np.random.default_rng([1, at])
            X, y = problem.draw(rng, problem.n)
            while np.bincount(y, minlength=2).min() < 4:
                X, y = problem.draw(rng, problem.n)
            plan = _plan_of(y, at)
            tried = sizes_of(plan, REPEATS, None)
            tables.append(_confusions(problem.learner, X, y, plan, tried))
            sizes.append(tried)
        first = np.array(sizes[0])
        inside = [round(float(np.sqrt(first[at] * first[at + 1]))) for at in (3, 5)]
        goals = [*(times * problem.n for times in FURTHER), *inside]
        truth = [true_error(problem, goal) for goal in goals]
    return {
        "confusions": np.array(tables),
        "sizes": np.array(sizes),
        "goals": np.array(goals),
        "truth": np.array(truth),
    }


def _plan_of(y: Indices, seed: int) -> CurvePlan:
    return CurvePlan(y, None, round(TEST_SIZE * len(y)), seed)


def _confusions(
    learner: Any, X: Array, y: Indices, plan: CurvePlan, sizes: tuple[int, ...]
) -> Indices:
    counts = np.zeros((REPEATS, len(sizes), 2, 2), dtype=np.intp)
    for repeat in range(REPEATS):
        line, test = plan.division(repeat)
        for at, size in enumerate(sizes):
            train = line[:size]
            called = clone(learner).fit(X[train], y[train]).predict(X[test])
            np.add.at(counts[repeat, at], (y[test], called), 1)
    return counts


def true_error(problem: CurveProblem, size: int) -> float:
    """Give the mean error of the learner on fresh training sets of a size, tested on the rest."""
    errors = []
    for at in range(TRAININGS):
        rng = np.random.default_rng([2, at, size])
        X, y = problem.draw(rng, size + FRESH)
        if np.bincount(y[:size], minlength=2).min() == 0:
            continue
        called = clone(problem.learner).fit(X[:size], y[:size]).predict(X[size:])
        errors.append(float(np.mean(called != y[size:])))
    return float(np.mean(errors))


def curves_of(problem: CurveProblem, arrays: Mapping[str, Any]) -> Iterator[LearnerCurve]:
    """Build the curve of each sample, as `tr.learning_curve` does."""
    for at, (confusions, sizes) in enumerate(
        zip(arrays["confusions"], arrays["sizes"], strict=True)
    ):
        design = Design(
            measure="error_rate",
            pos_label=1,
            level=LEVEL,
            n=problem.n,
            held_out=round(TEST_SIZE * problem.n),
            sizes=tuple(sizes.tolist()),
            repeats=REPEATS,
            estimate=None,
            seed=at,
        )
        refits = Refits(("learner",), design, 2)
        refits.confusions[0] = confusions
        yield curve_of(refits)["learner"]


def _summary(problem: CurveProblem, arrays: Arrays) -> Iterator[CoverageCell]:
    curves = list(curves_of(problem, arrays))
    further = len(FURTHER)
    for goal, truth, times in zip(arrays["goals"], arrays["truth"], FURTHER, strict=False):
        estimates = [curve.at(float(goal)) for curve in curves]
        yield _row(problem, f"{times} times the sample", [(one, truth) for one in estimates])
    pairs = [
        (curve.at(float(goal)), truth)
        for curve in curves
        for goal, truth in zip(arrays["goals"][further:], arrays["truth"][further:], strict=True)
        if curve.sizes[0] <= goal <= curve.sizes[-1]
    ]
    yield _row(problem, INSIDE, pairs)


def _row(problem: CurveProblem, design: str, pairs: list[tuple[Estimate, float]]) -> CoverageCell:
    shown = [(one.interval, truth) for one, truth in pairs if one.is_defined]
    inside = [ends is not None and ends.covers(truth) for ends, truth in shown]
    widths = [ends.width for ends, _ in shown if ends is not None]
    methods = [ends.method for ends, _ in shown if ends is not None]
    return CoverageCell(
        study="curves",
        problem=problem.name,
        role=problem.role,
        design=design,
        n=problem.n,
        measure="error_rate",
        method=max(set(methods), key=methods.count) if methods else "refused",
        level=LEVEL,
        target="the learner at this sample size",
        samples=len(shown),
        undefined=len(pairs) - len(shown),
        coverage=float(np.mean(inside)) if inside else np.nan,
        width=float(np.mean(widths)) if widths else np.nan,
    )
