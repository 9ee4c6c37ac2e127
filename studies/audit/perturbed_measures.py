"""Coverage of the plug-in variance, and of perturbation beyond the error of two classes.

Normal classes with known means: the truth of a model is computed from fresh examples.  The forms
are those of the error rate of two classes, and nothing was chosen on these problems.
"""

import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from studies.audit.coverage_cells import CoverageCell
from studies.audit.holdout import Measured, Problem, measure_problem
from truerisk.aliases import Array
from truerisk.estimation.svm.perturbation import perturbation
from truerisk.evaluation import evaluate
from truerisk.svm.linear import LinearSVM

SAMPLES = 150
FRESH = 20_000
REPLICATES = 100
LEVEL = 0.95
TARGET = "this model"
LEARNERS: dict[str, Any] = {
    "linear SVM": LinearSVM(),
    "naive Bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}


@dataclass(frozen=True)
class Normals:
    """K normal classes in d dimensions, at the corners of a simplex, some sd apart."""

    learner: str
    classes: int
    features: int
    spread: float
    measures: tuple[str, ...]

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.learner}, {self.classes} classes, {self.features} features, sd {self.spread}"

    @property
    def design(self) -> str:
        """Which losses are perturbed."""
        return "cross-validated losses"

    def _drawn(self, n: int, rng: np.random.Generator) -> tuple[Array, Any]:
        y = np.arange(n) % self.classes
        X = self.spread * rng.normal(size=(n, self.features))
        X[np.arange(n), y % self.features] += 2.0
        return X, y

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        X, y = self._drawn(n, rng)
        fresh = np.random.default_rng(zlib.crc32(self.name.encode()))
        X_new, y_new = self._drawn(FRESH, fresh)
        model = LEARNERS[self.learner]
        fitted = clone(model).fit(X, y)
        score = (
            fitted.predict_proba(X_new)
            if hasattr(fitted, "predict_proba")
            else fitted.decision_function(X_new)
        )
        scored = any("auc" in name for name in self.measures)
        truth = evaluate(
            y_new,
            fitted.predict(X_new),
            y_score=score if scored else None,
            measures=self.measures,
            random_state=0,
        )
        for name in self.measures:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = perturbation(
                    model, X, y, measure=name, replicates=REPLICATES, level=level, random_state=rng
                )
            if found.interval is not None:
                yield (name, TARGET), truth[name].value, found.interval
            if "plug_in" in found.forms:
                yield (f"{name} (plug-in)", TARGET), truth[name].value, found.forms["plug_in"]


def all_cells() -> Iterator[tuple[Problem, int]]:
    """Give every problem with its size."""
    for features, n in ((2, 100), (2, 400), (10, 100), (10, 400), (10, 1000)):
        for spread in (1.0, 1.8):
            yield Normals("linear SVM", 2, features, spread, ("error_rate",)), n
    for spread in (0.8, 1.4):
        yield Normals("linear SVM", 2, 5, spread, ("f1", "matthews_correlation", "roc_auc")), 150
        yield Normals("linear SVM", 3, 5, spread, ("error_rate", "f1_macro", "roc_auc_macro")), 150
    yield Normals("naive Bayes", 2, 5, 1.4, ("f1",)), 100
    yield Normals("tree", 2, 4, 1.2, ("error_rate",)), 100


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure every problem; one batch of rows for each."""
    for problem, n in all_cells():
        yield measure_problem(
            problem, n, LEVEL, samples=samples, folder=folder, study="perturbed_measures"
        )
