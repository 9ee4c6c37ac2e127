"""Coverage at another prior, of weighted κ, partial areas, averages of rankings, class by class.

One form of each was tried, and the problems were drawn after it was written; but the breakeven
point at a prior had a second one, after .86 on these, and averages of average precisions had theirs
after .54 on the first three problems of `Pairs`; where they, and 11-point micro averages, promise
nothing was decided on all six.  The truth of scores is
that of many rows; of tables it is computed from the shares of the population.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from studies.audit.coverage_cells import CHOSEN_ON, CoverageCell
from studies.audit.holdout import MANY, NO_PROMISE, Measured, Problem, measure_problem
from truerisk.aliases import Array
from truerisk.evaluation import evaluate, evaluate_counts
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import STRATIFIED_INTERVALS
from truerisk.results import Evaluation, has_code

SAMPLES = 400
SIZES = (50, 200, 1000)
LEVEL = 0.95
TARGET = "this model"
OF_TWO = (
    "precision", "negative_predictive_value", "recall", "specificity", "accuracy", "f1", "jaccard",
    "balanced_accuracy", "matthews_correlation", "cohen_kappa", "gmean", "youden",
)  # fmt: skip
OF_SEVERAL = (
    "accuracy", "balanced_accuracy", "matthews_correlation", "cohen_kappa", "precision_macro",
    "recall_macro", "f1_macro", "precision_weighted", "f1_weighted",
)  # fmt: skip
BY_CLASS_OF_TWO = (
    "matthews_correlation", "cohen_kappa", "gmean", "f2", "youden", "balanced_accuracy",
)  # fmt: skip
BY_CLASS_OF_SEVERAL = (
    "matthews_correlation", "cohen_kappa", "balanced_accuracy", "precision_macro", "recall_macro",
    "f1_macro", "precision_weighted", "f1_weighted",
)  # fmt: skip
KAPPAS = ("linear_kappa", "quadratic_kappa")
RANKINGS = ("average_precision", "best_f1", "breakeven_point", "roc_auc")
OF_CLASSES = (
    "roc_auc_ovo", "roc_auc_micro", "roc_auc_weighted", "average_precision_macro",
    "average_precision_micro", "average_precision_weighted", "breakeven_point_micro",
    "breakeven_point_weighted",
    "eleven_point_precision_macro", "eleven_point_precision_micro",
    "eleven_point_precision_weighted", "eleven_point_documents",
)  # fmt: skip


def _intervals(evaluation: Evaluation, truth: dict[str, float]) -> Measured:
    for name, value in truth.items():
        estimate = evaluation.estimates.get(name)
        if estimate is None or estimate.interval is None or np.isnan(estimate.value):
            continue
        silent = has_code(estimate.notes, "not_kept_at_this_size")
        yield (name, NO_PROMISE if silent else TARGET), value, estimate.interval


@dataclass(frozen=True)
class Tables:
    """Single labels of K classes; the examples of class k fall into its row of a table."""

    classes: int
    accuracy: float
    share: float  # of the first class among the examples
    prior: float | None = None  # of the first class among those to come

    @property
    def name(self) -> str:
        """What sets it apart."""
        prior = "" if self.prior is None else f", prior {self.prior:g}"
        return f"{self.classes} classes, accuracy {self.accuracy:g}, share {self.share:g}{prior}"

    @property
    def design(self) -> str:
        """`prior`, or nothing."""
        return "" if self.prior is None else "prior"

    @cached_property
    def rows(self) -> Array:
        """What each class is called; the nearer a class, the more often."""
        places = np.arange(self.classes)
        near = 0.5 ** np.abs(places[:, None] - places)
        np.fill_diagonal(near, 0.0)
        wrong = (1 - self.accuracy) * near / near.sum(axis=1, keepdims=True)
        return np.asarray(wrong + self.accuracy * np.eye(self.classes))

    @property
    def shares(self) -> Array:
        """The shares of the classes among the examples."""
        return self._shares(self.share)

    def _shares(self, first: float) -> Array:
        others = np.full(self.classes, (1 - first) / (self.classes - 1))
        others[0] = first
        return others

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        drawn = rng.multinomial(n, (self.shares[:, None] * self.rows).ravel())
        table = drawn.reshape(self.classes, self.classes)
        if (table.sum(axis=1) == 0).any():
            return
        at = self.share if self.prior is None else self.prior
        population = self._shares(at)[:, None] * self.rows
        names = KAPPAS if self.prior is None else OF_TWO if self.classes == 2 else OF_SEVERAL
        prior = None if self.prior is None else {"0": self.prior}
        labels = tuple(map(str, range(self.classes)))
        found = evaluate_counts(
            table, labels=labels, pos_label="0" if self.classes == 2 else None,
            measures=names, prior=prior, level=level, random_state=0,
        )  # fmt: skip
        truth = {name: float(np.asarray(value_of_tables(name, population, 0))) for name in names}
        yield from _intervals(found, truth)


@dataclass(frozen=True)
class DrawnByClass:
    """Single labels of K classes, so many examples of each: the shares are no matter of chance."""

    tables: Tables
    interval: str

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.tables.name}, drawn class by class, {self.interval}"

    @property
    def design(self) -> str:
        """Nothing."""
        return ""

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw the rows of each class; give measure and target, the truth and the interval."""
        sizes = np.rint(n * self.tables.shares).astype(np.int64)
        drawn = np.array(
            [rng.multinomial(*one) for one in zip(sizes, self.tables.rows, strict=True)]
        )
        two = self.tables.classes == 2
        names = BY_CLASS_OF_TWO if two else BY_CLASS_OF_SEVERAL
        found = evaluate_counts(
            drawn, labels=tuple(map(str, range(len(sizes)))), pos_label="0" if two else None,
            measures=names, level=level, cell_interval=self.interval, random_state=0,
        )  # fmt: skip
        population = sizes[:, None] * self.tables.rows
        truth = {name: float(np.asarray(value_of_tables(name, population, 0))) for name in names}
        yield from _intervals(found, truth)


@dataclass(frozen=True)
class Scores:
    """Scores of two classes: normal, with another spread, with ties, or with heavy tails."""

    kind: str
    distance: float
    share: float
    prior: float | None = None
    measures: tuple[str, ...] = RANKINGS

    @property
    def name(self) -> str:
        """What sets it apart."""
        prior = "" if self.prior is None else f", prior {self.prior:g}"
        return f"{self.kind} scores {self.distance:g} apart, share {self.share:g}{prior}"

    @property
    def design(self) -> str:
        """`prior`, or nothing."""
        return "" if self.prior is None else "prior"

    def _drawn(self, n: int, rng: np.random.Generator) -> tuple[Array, Any]:
        positive = rng.random(n) < self.share
        noise = rng.standard_t(3, n) if self.kind == "heavy" else rng.normal(size=n)
        scale = np.where(positive, 1.5 if self.kind == "wide" else 1.0, 1.0)
        score = noise * scale + self.distance * positive
        return (np.round(2 * score) / 2 if self.kind == "tied" else score), positive.astype(int)

    def _evaluated(self, n: int, level: float, rng: np.random.Generator) -> Evaluation | None:
        score, truth = self._drawn(n, rng)
        if truth.min() == truth.max():
            return None
        prior = None if self.prior is None else {1: self.prior}
        return evaluate(
            truth, y_score=score, measures=self.measures, prior=prior, level=level, random_state=0
        )

    @cached_property
    def truth(self) -> dict[str, float]:
        """The values of many rows."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        many = self._evaluated(MANY, LEVEL, rng)
        return {} if many is None else {name: many[name].value for name in self.measures}

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        evaluation = self._evaluated(n, level, rng)
        if evaluation is not None:
            yield from _intervals(evaluation, self.truth)


@dataclass(frozen=True)
class Pairs:
    """Scores of K classes, the first of them more frequent."""

    classes: int
    distance: float

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.classes} columns of scores, {self.distance:g} apart"

    @property
    def design(self) -> str:
        """Nothing."""
        return ""

    def evaluated(self, n: int, level: float, rng: np.random.Generator) -> Evaluation:
        """Draw n rows and evaluate them."""
        shares = np.ones(self.classes)
        shares[0] = self.classes / 2
        truth = rng.choice(self.classes, n, p=shares / shares.sum())
        score = rng.normal(size=(n, self.classes))
        score[np.arange(n), truth] += self.distance * (1 + np.arange(self.classes)[truth] / 5)
        labels = list(map(str, range(self.classes)))
        return evaluate(
            truth, y_score=score, labels=labels, measures=OF_CLASSES, level=level, random_state=0
        )

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        yield from _intervals(self.evaluated(n, level, rng), _truth_of_classes(self, n))


@cache
def _truth_of_classes(problem: Pairs, n: int) -> dict[str, float]:
    """Give the values of many rows; of 11-point averages the mean over samples of n rows."""
    rng = np.random.default_rng(zlib.crc32(problem.name.encode()))
    many = problem.evaluated(MANY // 5, LEVEL, rng)
    few = [problem.evaluated(n, LEVEL, rng) for _ in range(SAMPLES)]

    def value(name: str) -> float:
        if not name.startswith("eleven_point"):
            return many[name].value
        return float(np.nanmean([one[name].value for one in few if name in one]))

    return {name: value(name) for name in OF_CLASSES}


def all_problems() -> Iterator[Problem]:
    """Give every problem."""
    for accuracy, share, prior in ((0.8, 0.5, 0.01), (0.9, 0.3, 0.05), (0.7, 0.2, 0.5)):
        yield Tables(2, accuracy, share, prior)
    for classes, accuracy, prior in ((3, 0.8, 0.7), (6, 0.7, 0.05), (4, 0.9, 0.5)):
        yield Tables(classes, accuracy, 1 / classes, prior)
    for classes, accuracy in ((3, 0.6), (5, 0.8), (7, 0.5)):
        yield Tables(classes, accuracy, 1 / classes)
    for kind, distance, share, prior in (
        ("normal", 1.5, 0.5, 0.05),
        ("heavy", 2.0, 0.3, 0.1),
        ("tied", 1.0, 0.2, 0.5),
        ("wide", 2.0, 0.5, 0.2),
    ):
        yield Scores(kind, distance, share, prior)
    areas = ("partial_auc", "partial_auc_0.3")
    for kind, distance, share in (
        ("normal", 1.0, 0.5),
        ("heavy", 2.0, 0.3),
        ("tied", 1.5, 0.3),
        ("wide", 3.0, 0.2),
    ):
        yield Scores(kind, distance, share, None, areas)
    for classes, distance in ((3, 1.0), (5, 2.0), (8, 0.5), (6, 0.8), (12, 0.3), (10, 1.5)):
        yield Pairs(classes, distance)
    for interval in STRATIFIED_INTERVALS:
        for classes, accuracy, share in (
            (2, 0.8, 0.5),
            (2, 0.9, 0.2),
            (2, 0.7, 0.1),
            (3, 0.8, 0.4),
            (6, 0.7, 0.3),
        ):
            yield DrawnByClass(Tables(classes, accuracy, share), interval)


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure every problem at every size; one batch of rows for each that has some."""
    for problem in all_problems():
        for n in SIZES:
            rows = measure_problem(
                problem, n, LEVEL, samples=samples, folder=folder, study="further_measures"
            )
            if rows:
                yield [replace(row, role=CHOSEN_ON) if _has_led(row) else row for row in rows]


def _has_led(row: CoverageCell) -> bool:
    """Whether an interval was changed after this row had been seen."""
    seen = row.problem in {Pairs(3, 1.0).name, Pairs(5, 2.0).name, Pairs(8, 0.5).name}
    averaged = row.measure in {"average_precision_macro", "average_precision_weighted"}
    return row.measure == "breakeven_point" or (seen and averaged)
