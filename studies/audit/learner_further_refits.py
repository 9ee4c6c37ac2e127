"""The intervals that need refits of their own: nested cross-validation and the conservative Z.

They take five to ten times as many refits as the others, so the trees of large samples are left
out.  What is kept is the ends of the intervals, a row a sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from studies.audit.learner_files import kept_arrays
from studies.audit.learner_problems import Array, Labels
from studies.audit.learner_refits import (
    FOLDS,
    FURTHER,
    LEVEL,
    SAMPLE,
    Cell,
    Learner,
    divided,
    find_problem,
    learners,
    stream,
)
from studies.audit.learner_rules import LinearDiscriminant
from truerisk.intervals.cross_validation import nested_interval, nested_runs
from truerisk.intervals.resampled_tests import ConservativeZRuns, conservative_z_interval
from truerisk.results import Interval

NESTED_REPEATS = 10  # the product's defaults, here and below
TESTED = 10  # one example in ten
SUBSAMPLES, DIVISIONS = 15, 10
LARGEST_TREES = 100

Rule = Callable[[Learner, Array, Labels, np.random.Generator], Interval | None]


def nested(learner: Learner, X: Array, y: Labels, rng: np.random.Generator) -> Interval | None:
    """Give the interval of nested cross-validation."""
    parts = np.stack([divided(y, FOLDS, rng) for _ in range(NESTED_REPEATS)])
    runs = nested_runs(FOLDS)
    kept = np.array([[fold not in run for fold in range(FOLDS)] for run in runs])
    losses = learner.calls(X, y, parts, kept, rng) != y
    # Row k, example i of fold j: by the refit without j and k.
    without = np.empty((FOLDS, FOLDS), dtype=np.intp)
    for at, run in enumerate(runs):
        without[run[0], run[-1]] = without[run[-1], run[0]] = at
    of = without[np.arange(FOLDS)[np.newaxis, :, np.newaxis], parts[:, np.newaxis, :]]
    table = np.take_along_axis(losses, of, axis=1)
    return nested_interval(table, parts, level=LEVEL).interval


def conservative_z(
    learner: Learner, X: Array, y: Labels, rng: np.random.Generator
) -> Interval | None:
    """Give the interval of the conservative Z."""
    by_class = np.argsort(y, kind="stable")
    X, y = X[by_class], y[by_class]
    runs, trained, tested = _runs(len(y), int(np.count_nonzero(y)))
    # Every example is a part of its own.
    losses = learner.calls(X, y, np.arange(len(y))[np.newaxis], trained, rng)[0] != y
    errors = np.count_nonzero(losses & tested, axis=1) / np.count_nonzero(tested, axis=1)
    return conservative_z_interval(*runs.arrange(errors), level=LEVEL)


@lru_cache(maxsize=128)
def _runs(n: int, positives: int) -> tuple[ConservativeZRuns, Labels, Labels]:
    """Give the refits of samples in the order of their classes, whom each trains on and judges.

    Within a class the examples are drawn in no order, so that samples with as many of each class
    may be divided alike.
    """
    runs = ConservativeZRuns(
        n=n,
        test=max(1, n // TESTED),
        seed=positives,
        subsamples=SUBSAMPLES,
        divisions=DIVISIONS,
        strata=(np.arange(n) >= n - positives).astype(np.intp),
    )
    trained = np.zeros((len(runs), n), dtype=np.bool_)
    tested = np.zeros_like(trained)
    for at in range(len(runs)):
        train, test = runs.train_and_test(at)
        trained[at, train], tested[at, test] = True, True
    return runs, trained, tested


FURTHER_INTERVALS: dict[str, Rule] = {
    "nested cross-validation": nested,
    "conservative Z": conservative_z,
}


def is_affordable(cell: Cell, name: str) -> bool:
    """Whether an interval is measured in a cell.

    A discriminant needs more examples than features, and the conservative Z trains on two fifths.

    Examples
    --------
    >>> cell = Cell(problem="sparse, 30 features", n=50, learner=LinearDiscriminant.name,
    ...             repetitions=1)
    >>> is_affordable(cell, "nested cross-validation"), is_affordable(cell, "conservative Z")
    (True, False)
    """
    if cell.learner == LinearDiscriminant.name and name == "conservative Z":
        return cell.n // 2 - cell.n // TESTED > find_problem(cell.problem).features + 2
    return cell.learner != "decision tree" or cell.n <= LARGEST_TREES


def further_ends(cell: Cell, folder: Path | None) -> dict[str, Array]:
    """Give the ends of the intervals of each sample that the cell can afford; NaN without one."""
    ends = {}
    for name in FURTHER_INTERVALS:
        if is_affordable(cell, name):
            file_name = f"{cell.file_name}-{name.lower().replace(' ', '-')}"
            found = kept_arrays(folder, file_name, asdict(cell), partial(_run, cell, name))
            ends[name] = found["ends"]
    return ends


def _run(cell: Cell, name: str) -> dict[str, Array]:
    problem, learner = find_problem(cell.problem), learners()[cell.learner]
    intervals = []
    for at in range(cell.repetitions):
        X, y = problem.draw(cell.n, stream(cell, SAMPLE, cell.n, at))
        rng = stream(cell, FURTHER, cell.n, at)
        intervals.append(FURTHER_INTERVALS[name](learner, X, y, rng))
    return {"ends": ends_of(intervals)}


def ends_of(intervals: Sequence[Interval | None]) -> Array:
    """Give the ends of the intervals as rows, NaN where there is none.

    Examples
    --------
    >>> ends_of([Interval(0.1, 0.2, 0.95, "any"), None])
    array([[0.1, 0.2],
           [nan, nan]])
    """
    return np.array([(np.nan, np.nan) if i is None else (i.low, i.high) for i in intervals])
