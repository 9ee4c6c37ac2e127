"""Measured coverage of the intervals for predictions, over populations whose truth is known."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from truerisk.checks import check_whole_number
from truerisk.evaluation import evaluate, evaluate_counts
from truerisk.intervals.measured_coverage import NO_PROMISE
from truerisk.results import Evaluation, has_code

FRESH_EXAMPLES = 1_000_000  # from which the truth of measures without a formula is taken
LARGE_TABLE = 10**12  # a table this large has the shares of the population
SIZES = (50, 200, 1000)
SAMPLES = 1000
BETAS = (2.0,)
# Of these the tables below are held out; other studies have the rest.
COUNTED = (
    "matthews_correlation", "cohen_kappa", "gmean", "youden", "f2", "e2",
    "negative_predictive_value", "positive_likelihood_ratio", "negative_likelihood_ratio",
)  # fmt: skip


class Population(Protocol):
    """A source of predictions whose measures are known."""

    @property
    def name(self) -> str:
        """What sets it apart."""

    @property
    def role(self) -> str:
        """Whether intervals were chosen on it."""

    def truth(self) -> dict[str, float]:
        """Give the true value of every measure."""

    def evaluation(self, n: int, rng: np.random.Generator) -> Evaluation:
        """Draw n examples and evaluate them, as a user would."""


@dataclass(frozen=True)
class ScoredPopulation:
    """Two classes with normal scores a distance apart; positive is what scores over a threshold."""

    prevalence: float
    distance: float
    threshold: float
    role: str = CHOSEN_ON

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.prevalence:.0%} positive, {self.distance:g} sd apart"

    def truth(self) -> dict[str, float]:
        """Take counts from the normal distribution, rankings from a million examples."""
        return self._truth

    @cached_property
    def _truth(self) -> dict[str, float]:
        truth, score = self._draw(FRESH_EXAMPLES, np.random.default_rng(0))
        ranked = evaluate(truth, y_score=score, random_state=0, replicates=100)
        values = {name: estimate.value for name, estimate in ranked.items()}
        values["roc_auc"] = float(ndtr(self.distance / np.sqrt(2)))
        table = np.rint(self._shares() * LARGE_TABLE).astype(np.int64)
        counted = evaluate_counts(table, random_state=0, betas=(2.0,))
        return values | {name: estimate.value for name, estimate in counted.items()}

    def evaluation(self, n: int, rng: np.random.Generator) -> Evaluation:
        """Draw n examples and evaluate them, as a user would."""
        truth, score = self._draw(n, rng)
        seed = int(rng.integers(2**32))
        predicted = score >= self.threshold
        return evaluate(truth, predicted, y_score=score, random_state=seed, betas=(2.0,))

    def _shares(self) -> NDArray[np.float64]:
        recall, false_alarm = ndtr(self.distance - self.threshold), ndtr(-self.threshold)
        positive = self.prevalence * np.array([recall, 1 - recall])
        return np.array(
            [positive, (1 - self.prevalence) * np.array([false_alarm, 1 - false_alarm])]
        )

    def _draw(
        self, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        truth = rng.random(n) < self.prevalence
        return truth.astype(np.int64), rng.standard_normal(n) + self.distance * truth


@dataclass(frozen=True)
class TablePopulation:
    """Classes predicted with known probabilities: a table of shares, rows truth."""

    name: str
    shares: tuple[tuple[float, ...], ...]
    measures: tuple[str, ...] | None = None
    role: str = CHOSEN_ON

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        table = np.array(self.shares)
        return np.asarray(table / table.sum())

    def truth(self) -> dict[str, float]:
        """Evaluate a table so large that it is the population."""
        table = np.rint(self._table * LARGE_TABLE).astype(np.int64)
        evaluation = evaluate_counts(table, random_state=0, measures=self.measures, betas=BETAS)
        return {name: estimate.value for name, estimate in evaluation.items()}

    def evaluation(self, n: int, rng: np.random.Generator) -> Evaluation:
        """Draw n examples and evaluate them, as a user would."""
        drawn = rng.multinomial(n, self._table.ravel()).reshape(self._table.shape)
        seed = int(rng.integers(2**32))
        return evaluate_counts(drawn, random_state=seed, measures=self.measures, betas=BETAS)


POPULATIONS: tuple[Population, ...] = (
    ScoredPopulation(prevalence=0.5, distance=1.0, threshold=0.5),
    ScoredPopulation(prevalence=0.5, distance=3.0, threshold=1.5),
    ScoredPopulation(prevalence=0.1, distance=1.0, threshold=1.0),
    ScoredPopulation(prevalence=0.1, distance=2.5, threshold=2.0),
    TablePopulation("three classes, even", ((30, 3, 2), (4, 25, 4), (2, 5, 25))),
    TablePopulation(
        "four classes, one of them rare",
        ((60, 2, 1, 1), (3, 20, 1, 1), (1, 1, 6, 1), (0.5, 0.5, 0, 1)),
    ),
    *(
        TablePopulation(name, shares, COUNTED, HELD_OUT)
        for name, shares in (
            ("two classes, one in five positive", ((13, 7), (12, 68))),
            ("two classes, hardly better than chance", ((22, 18), (27, 33))),
            ("two classes, nearly perfect", ((40, 2), (1, 57))),
            ("two classes, one in thirty positive", ((24, 8), (68, 900))),
            ("two classes, all but never called positive", ((5, 17), (2, 76))),
            ("two classes, mostly positive", ((70, 6), (9, 15))),
        )
    ),
)


def simulate_coverage(
    population: Population, n: int, *, samples: int, rng: np.random.Generator
) -> Iterator[CoverageCell]:
    """Evaluate many samples of n examples, and count how often each interval contains the truth.

    Parameters
    ----------
    population
        Where the examples come from.
    n
        Examples in each sample.
    samples
        Number of samples.
    rng
        Random numbers.
    """
    check_whole_number(samples, "samples", low=1)
    truth = population.truth()
    evaluations = [population.evaluation(n, rng) for _ in range(samples)]
    for measure, value in truth.items():
        estimates = [evaluation[measure] for evaluation in evaluations if measure in evaluation]
        intervals = [e.interval for e in estimates if e.is_defined and e.interval is not None]
        if not intervals or math.isnan(value):
            continue
        hits = sum(interval.covers(value) for interval in intervals)
        silent = sum(has_code(one.notes, "not_kept_at_this_size") for one in estimates)
        finite = [interval.width for interval in intervals if math.isfinite(interval.width)]
        methods = Counter(interval.method for interval in intervals)
        yield CoverageCell(
            study="predictions",
            problem=population.name,
            role=population.role,
            design="",
            n=n,
            measure=measure,
            method=methods.most_common(1)[0][0],
            level=intervals[0].level,
            target=NO_PROMISE if silent > len(estimates) / 2 else "this model",
            samples=len(intervals),
            undefined=samples - len(intervals),
            coverage=hits / len(intervals),
            width=math.fsum(finite) / len(finite) if finite else math.inf,
        )


def simulate_all(
    *,
    populations: Sequence[Population] = POPULATIONS,
    sizes: Sequence[int] = SIZES,
    samples: int = SAMPLES,
    random_state: int = 0,
) -> Iterator[tuple[CoverageCell, ...]]:
    """Simulate every population at every size; one batch of rows for each pair."""
    for place, population in enumerate(populations):
        for n in sizes:
            rng = np.random.default_rng([random_state, place, n])
            yield tuple(simulate_coverage(population, n, samples=samples, rng=rng))
