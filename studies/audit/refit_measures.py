"""Coverage of `tr.estimate` for the measures that `studies/audit/refits.py` leaves out.

The same populations, learners and folds as there; nothing was chosen on them for these measures.
The truth is the value of the model of the whole sample on the population; of the 11-point average,
which depends on the size, the mean over samples of that size.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.audit.coverage_cells import CoverageCell
from studies.audit.holdout import Measured, measure_problem
from studies.audit.refit_populations import population
from studies.audit.refits import (
    LEARNERS,
    LEVEL,
    OF_SEVERAL,
    OF_TWO,
    TARGET,
    Cell,
    collected_of,
    draw,
)
from truerisk.aliases import Array, Indices
from truerisk.estimation.refits.plans import find_method
from truerisk.estimation.refits.vote_estimates import VoteEstimates
from truerisk.evaluation import evaluate

SAMPLES = 300
OF_THIS_SIZE = 20  # samples whose mean is the truth of what depends on the size
OF_A_SIZE = {
    "eleven_point_precision", "eleven_point_precision_macro", "eleven_point_precision_micro",
    "eleven_point_precision_weighted", "eleven_point_documents",
}  # fmt: skip
MEASURED = {*OF_TWO, *OF_SEVERAL, "accuracy", "youden"}  # by the other study


@dataclass(frozen=True)
class Refits:
    """A learner on samples of a population, 5 × 10 folds."""

    population: str
    learner: str

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.population}, {self.learner}"

    @property
    def design(self) -> str:
        """How refits are made."""
        return Cell(population=self.population, n=0, learner=self.learner).design

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        assert level == LEVEL  # noqa: S101
        cell = Cell(population=self.population, n=n, learner=self.learner)
        at = int(rng.integers(2**31))
        X, y, _ = draw(cell, at)
        collected, request = collected_of(cell, X, y, at, every=True)
        method = find_method("cross_validation", collected.examples)
        estimates = VoteEstimates(collected.examples, method, collected, request).evaluation()
        own = population(self.population)
        names = [
            name
            for name, one in estimates.items()
            if name not in MEASURED and one.interval is not None and np.isfinite(one.value)
        ]
        scores, _ = LEARNERS[self.learner](X, y, own.classes)(own.X)
        truth = _values(scores, own.y, [name for name in names if name not in OF_A_SIZE])
        of_size = [name for name in names if name in OF_A_SIZE]
        rows = [rng.integers(len(own.y), size=n) for _ in range(OF_THIS_SIZE)]
        means = [_values(scores[one], own.y[one], of_size) for one in rows]
        truth |= {name: float(np.nanmean([one[name] for one in means])) for name in of_size}
        for name in names:
            interval = estimates[name].interval
            if interval is not None and np.isfinite(truth[name]):
                yield (name, TARGET), truth[name], interval


def _values(scores: Array, y: Indices, measures: list[str]) -> dict[str, float]:
    if not measures:
        return {}
    classes = scores.shape[1]
    evaluation = evaluate(
        y,
        scores.argmax(axis=1),
        y_score=scores if classes > 2 else scores[:, 1],
        labels=range(classes),
        measures=measures,
    )
    return {name: evaluation[name].value for name in measures}


def all_cells() -> Iterator[tuple[Refits, int]]:
    """Give every problem with its size."""
    lda, bayes, *_ = LEARNERS
    for name, n, learner in (
        ("exclusive or", 250, lda), ("ijcnn1", 300, lda), ("heavy tails", 50, bayes),
        ("covtype_binary", 200, lda), ("rare positives", 300, bayes), ("twonorm", 50, lda),
        ("svmguide1", 300, bayes), ("rings", 100, bayes), ("titanic", 100, lda),
        ("label noise", 50, lda), ("three classes", 150, lda), ("three classes", 400, bayes),
        ("ten classes", 300, bayes),
    ):  # fmt: skip
        yield Refits(name, learner), n


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure every problem; one batch of rows for each."""
    for problem, n in all_cells():
        yield measure_problem(
            problem, n, LEVEL, samples=samples, folder=folder, study="refit_measures"
        )
