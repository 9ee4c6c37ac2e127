"""Coverage of the best model's value, corrected for its having been chosen, by measures of ranking.

The truth is the value of the model that was chosen, on many rows.  One form of the correction by
influences was tried; beside it stands the rows drawn anew, which it replaces above
`MAX_RESAMPLED` rows.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

import truerisk as tr
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from truerisk.aliases import Array, Flags
from truerisk.results import Interval

SAMPLES = 100
LEVEL = 0.95
MANY = 200_000
MEASURES = ("roc_auc", "average_precision", "best_f1")
MODULES = ("choice", "joined")


@dataclass(frozen=True)
class Rivals:
    """Models whose scores share half of their noise; each is better than the one before."""

    models: int
    step: float
    prevalence: float
    n: int

    @property
    def name(self) -> str:
        """What sets it apart."""
        kind = "equally good" if self.step == 0 else f"{self.step:g} sd apart"
        return f"{self.models} models, {kind}, {self.prevalence:g} positive"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Flags, list[Array]]:
        """Draw n examples, and the scores of each model."""
        truth = rng.random(n) < self.prevalence
        common = rng.standard_normal(n)
        return truth, [
            (1.2 + at * self.step) * truth + common + rng.standard_normal(n)
            for at in range(self.models)
        ]


PROBLEMS = (
    Rivals(2, 0.0, 0.3, 2500),
    Rivals(6, 0.0, 0.3, 2500),
    Rivals(6, 0.02, 0.05, 2500),
    Rivals(3, 0.1, 0.5, 2500),
)


def measure_all(*, samples: int = SAMPLES) -> Iterator[list[CoverageCell]]:
    """Measure every problem; give the rows of each."""
    for problem in PROBLEMS:
        yield [measured(problem, name, samples) for name in MEASURES]


def measured(problem: Rivals, measure: str, samples: int) -> CoverageCell:
    """Count how often the corrected interval holds the value of the model that was chosen."""
    rng = np.random.default_rng(zlib.crc32(f"choices {problem.name} {measure}".encode()))
    truth, scores = problem.draw(MANY, rng)
    values = [tr.evaluate(truth, y_score=one, measures=[measure])[measure].value for one in scores]
    found: dict[str, list[tuple[bool, float]]] = {"influences": [], "rows": []}
    for _ in range(samples):
        truth, scores = problem.draw(problem.n, rng)
        for way, taken in found.items():
            best, interval = chosen(truth, scores, measure, by_rows=way == "rows")
            taken.append((interval.covers(values[best]), interval.width))
    (held, width), (rival_held, rival_width) = (
        np.mean(found[way], axis=0).tolist() for way in ("influences", "rows")
    )
    return CoverageCell(
        study="choices",
        problem=problem.name,
        role=HELD_OUT,
        design="",
        n=problem.n,
        measure=measure,
        method="bootstrap_out_of_bag",
        level=LEVEL,
        target="this model",
        samples=samples,
        undefined=0,
        coverage=held,
        width=width,
        rival="rows drawn anew",
        rival_coverage=rival_held,
        rival_width=rival_width,
    )


def chosen(
    truth: Flags, scores: list[Array], measure: str, *, by_rows: bool
) -> tuple[int, Interval]:
    """Give the place of the best model and the interval of its corrected value."""
    most = 10**9 if by_rows else 0
    with (
        patch(f"truerisk.comparison.predictions.{MODULES[0]}.MAX_RESAMPLED", most),
        patch(f"truerisk.comparison.predictions.{MODULES[1]}.MAX_RESAMPLED", most),
    ):
        none = [None] * len(scores)
        result = tr.compare(truth, *none, scores=scores, measures=[measure], level=LEVEL)
    best = result.best
    if best is None or best.corrected.interval is None:
        raise AssertionError("Every measure must have a value here.")
    return result.names.index(best.name), best.corrected.interval
