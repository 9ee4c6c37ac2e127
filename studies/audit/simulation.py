"""Measured coverage of the intervals that users get, over populations whose truth is known."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from studies.audit.populations import POPULATIONS, Population
from truerisk.checks import check_whole_number
from truerisk.intervals.binomial import binomial_interval
from truerisk.results import Interval

SIZES = (50, 200, 1000)
REPETITIONS = 1000


@dataclass(frozen=True, kw_only=True)
class SimulatedCoverage:
    """How often the interval of one measure contained the truth.

    `likely` is where the coverage lies, at 99 %, given so many repetitions: the Monte Carlo error.
    Repetitions in which the measure was undefined (`undefined`) count as neither.
    """

    population: str
    n: int
    measure: str
    methods: tuple[str, ...]
    truth: float
    coverage: float
    likely: Interval
    mean_width: float
    repetitions: int
    undefined: int


def simulate_coverage(
    population: Population, n: int, *, repetitions: int, rng: np.random.Generator
) -> Iterator[SimulatedCoverage]:
    """Evaluate samples of n examples again and again, and count how often each interval is right.

    Parameters
    ----------
    population
        Where the examples come from.
    n
        Examples in each sample.
    repetitions
        Number of samples.
    rng
        Where the randomness comes from.
    """
    check_whole_number(repetitions, "repetitions", low=1)
    truth = population.truth()
    samples = [population.evaluation(n, rng) for _ in range(repetitions)]
    for measure, value in truth.items():
        found = [sample[measure] for sample in samples if measure in sample]
        intervals = [e.interval for e in found if e.is_defined and e.interval is not None]
        if not intervals or math.isnan(value):
            continue
        hits = sum(interval.covers(value) for interval in intervals)
        finite = [interval.width for interval in intervals if math.isfinite(interval.width)]
        methods = Counter(interval.method for interval in intervals)
        yield SimulatedCoverage(
            population=population.name,
            n=n,
            measure=measure,
            methods=tuple(method for method, _ in methods.most_common()),
            truth=value,
            coverage=hits / len(intervals),
            likely=binomial_interval(hits, len(intervals), level=0.99),
            mean_width=math.fsum(finite) / len(finite) if finite else math.inf,
            repetitions=repetitions,
            undefined=repetitions - len(intervals),
        )


def simulate_all(
    *,
    populations: Sequence[Population] = POPULATIONS,
    sizes: Sequence[int] = SIZES,
    repetitions: int = REPETITIONS,
    random_state: int = 0,
) -> Iterator[tuple[SimulatedCoverage, ...]]:
    """Simulate every population at every size; one batch of rows for each pair."""
    for place, population in enumerate(populations):
        for n in sizes:
            rng = np.random.default_rng([random_state, place, n])
            yield tuple(simulate_coverage(population, n, repetitions=repetitions, rng=rng))
