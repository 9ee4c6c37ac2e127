"""Answers that are right or wrong, or have a score: means, paired differences, groups and tiers.

All truths are exact: the populations are beta and discrete distributions, joint tables of two
scores, and questions of random difficulty.  Betting (its order, truncation and running maximum) was
chosen among six forms on four other populations, at n = 30, 100 and 400.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

import truerisk as tr
from studies.audit.checkpoints import checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from truerisk.aliases import Array
from truerisk.intervals.means import bounded_mean_interval

SAMPLES = 400
CHOSEN = "truerisk.comparison.predictions.compare_values._chosen"
LEVEL = 0.95
SIZES = (20, 50, 200, 1000)
GROUPS = (5, 20, 60)
Draw = Callable[[np.random.Generator, int], Any]
TEN = np.array([0, 0, 1, 1, 2, 6, 14, 30, 30, 16]) / 100
MEANS: dict[str, tuple[Draw, float]] = {
    "uniform": (lambda rng, n: rng.random(n), 0.5),
    "beta(1, 3)": (lambda rng, n: rng.beta(1, 3, n), 0.25),
    "U-shaped, beta(0.3, 0.3)": (lambda rng, n: rng.beta(0.3, 0.3, n), 0.5),
    "a judge's ten marks": (
        lambda rng, n: rng.choice(10, n, p=TEN) / 9,
        float(TEN @ np.arange(10)) / 9,
    ),
    "rare failures, 2 in 100": (lambda rng, n: rng.binomial(1, 0.98, n) * 1.0, 0.98),
    "four samples a question": (lambda rng, n: rng.binomial(4, rng.beta(2, 1, n)) / 4, 2 / 3),
}


def joint_table(equal: float, tilt: float, seed: int) -> Array:
    """Make a table of the scores 0, ¼, …, 1 of two models: a share is equal, the rest is tilted."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(25)).reshape(5, 5)
    table *= np.exp(tilt * (np.arange(5)[None, :] - np.arange(5)[:, None]))
    np.fill_diagonal(table, 0.0)
    joint: Array = (1 - equal) * table / table.sum() + equal * np.diag(rng.dirichlet(np.ones(5)))
    return joint


PAIRS = {
    "independent scores": joint_table(0.2, 0.0, 1),
    "often equal": joint_table(0.9, 0.0, 2),
    "often equal, the second better": joint_table(0.9, 0.5, 3),
    "nearly always equal": joint_table(0.97, 0.2, 4),
}
# Models: how many, and by how much the first is better than the others, in logits.
TIERS = {
    "3 equal models": (3, 0.0),
    "6 equal models": (6, 0.0),
    "12 equal models": (12, 0.0),
    "6 models, one a little better": (6, 0.15),
    "12 models, one better": (12, 0.5),
}


def measure(*, samples: int = SAMPLES, folder: Path | None = None) -> Iterator[CoverageCell]:
    """Give the rows of means, differences, groups and tiers."""
    for at, problem in enumerate(MEANS):
        for n in SIZES:
            make = means(problem, n, samples)
            yield from _rows(f"means-{at}-{n}", (problem, n, samples), folder, make)
    for at, problem in enumerate(PAIRS):
        for n in SIZES:
            make = differences(problem, n, samples)
            yield from _rows(f"pairs-{at}-{n}", (problem, n, samples), folder, make)
    for groups in GROUPS:
        make = grouped(groups, samples)
        name = f"beta difficulty of groups, {groups} groups"
        yield from _rows(f"groups-{groups}", (name, groups * 12, samples), folder, make)
    for at, problem in enumerate(TIERS):
        for n in (100, 500):
            make = tiers(problem, n, samples)
            yield from _rows(f"tiers-{at}-{n}", (problem, n, samples), folder, make)


Made = Callable[[], dict[str, NDArray[Any]]]


def _rows(
    name: str, settings: tuple[str, int, int], folder: Path | None, compute: Made
) -> Iterator[CoverageCell]:
    problem, n, samples = settings
    made_with = {"problem": problem, "n": n, "samples": samples}
    arrays = checkpointed(folder, f"values-{name}", made_with, compute)
    for key, shares in arrays.items():
        measured, method, rival = key.split("/")
        held, width, rival_held, rival_width = shares.mean(axis=0).tolist()
        yield CoverageCell(
            study="values",
            problem=problem,
            role=HELD_OUT,
            design="",
            n=n,
            measure=measured,
            method=method,
            level=LEVEL,
            target="this model",
            samples=len(shares),
            undefined=0,
            coverage=held,
            width=width,
            rival=rival,
            rival_coverage=rival_held if rival else math.nan,
            rival_width=rival_width if rival else math.nan,
        )


def means(problem: str, n: int, samples: int) -> Made:
    """Measure the intervals of a mean: betting, empirical Bernstein, Student's."""

    def compute() -> dict[str, NDArray[Any]]:
        draw, truth = MEANS[problem]
        rng = np.random.default_rng([1, n, list(MEANS).index(problem)])
        rows = []
        for sample in range(samples):
            values = draw(rng, n)
            ends = [
                bounded_mean_interval(values, level=LEVEL, method=method, random_state=sample)
                for method in ("betting", "empirical_bernstein")
            ]
            reach = float(student.ppf(0.975, n - 1)) * values.std(ddof=1) / math.sqrt(n)
            of_t = (values.mean() - reach, values.mean() + reach)
            rows.append([*(_held((e.low, e.high), truth) for e in ends), _held(of_t, truth)])
        table = np.array(rows).reshape(samples, 3, 2)
        betting, bernstein, by_t = table[:, 0], table[:, 1], table[:, 2]
        return {
            "mean_value/betting/empirical_bernstein": np.hstack([betting, bernstein]),
            "mean_value/empirical_bernstein/student_t": np.hstack([bernstein, by_t]),
        }

    return compute


def differences(problem: str, n: int, samples: int) -> Made:
    """Measure the interval of the difference of two scores of the same questions."""

    def compute() -> dict[str, NDArray[Any]]:
        table = PAIRS[problem]
        marks = np.arange(5) / 4
        truth = float(table.sum(axis=0) @ marks - table.sum(axis=1) @ marks)
        rng = np.random.default_rng([2, n, list(PAIRS).index(problem)])
        rows = []
        for _ in range(samples):
            first, second = np.divmod(rng.choice(25, n, p=table.ravel()), 5)
            with patch(CHOSEN, return_value=None):  # it draws, and no difference depends on it
                result = tr.compare_values(marks[first], marks[second], value_range=(0, 1))
            row = result.to_rows()[-1]
            rows.append([*_held((row["low"], row["high"]), truth), 0.0, 0.0])
        return {"mean_value, difference/paired_t/": np.array(rows)}

    return compute


def grouped(groups: int, samples: int) -> Made:
    """Measure the interval of a mean of questions in groups of 4 to 20."""

    def compute() -> dict[str, NDArray[Any]]:
        rng = np.random.default_rng([3, groups])
        rows = []
        for _ in range(samples):
            sizes = rng.integers(4, 21, groups)
            labels = np.repeat(np.arange(groups), sizes)
            centers = rng.beta(3, 2, groups)[labels]
            values = rng.binomial(4, centers) / 4
            row = tr.evaluate_values(values, value_range=(0, 1), groups=labels).to_rows()[0]
            rows.append([*_held((row["low"], row["high"]), 0.6), 0.0, 0.0])
        return {"mean_value/group_jackknife/": np.array(rows)}

    return compute


def tiers(problem: str, n: int, samples: int) -> Made:
    """Measure how often the best model is in the first tier, and the share of models in it."""

    def compute() -> dict[str, NDArray[Any]]:
        models, ahead = TIERS[problem]
        rng = np.random.default_rng([4, n, models, round(100 * ahead)])
        rows = []
        for _ in range(samples):
            difficulty = rng.normal(0.5, 1.5, n)[:, None]
            logits = difficulty + np.where(np.arange(models) == 0, ahead, 0.0)
            right = (rng.random((n, models)) < 1 / (1 + np.exp(-logits))).astype(float)
            first = first_tier(right)
            rows.append([float(0 in first), len(first) / models, 0.0, 0.0])
        return {"first tier/tiers/": np.array(rows)}

    return compute


def first_tier(right: Array) -> Sequence[int]:
    """Give the models in the first tier."""
    result = tr.compare_values(*right.T, names=[str(at) for at in range(right.shape[1])])
    return [int(name) for name in result.tiers[0]]


def _held(ends: tuple[float, float], truth: float) -> list[float]:
    return [float(ends[0] <= truth <= ends[1]), ends[1] - ends[0]]
