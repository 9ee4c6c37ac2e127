"""How often each interval of resampling covers, computed from the refits of the audit."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.audit.learner_problems import PROBLEMS, Problem
from studies.audit.learner_refits import (
    FOLDS,
    LEARNERS,
    LEVEL,
    Cell,
    Refits,
    ends_of,
    further_ends,
    refits_of,
)
from truerisk.aliases import Array, Flags
from truerisk.checks import check_whole_number
from truerisk.estimation.refits.interval_rules import summarise
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.execution import run_each
from truerisk.intervals.agreement import agreement_interval
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.cross_validation import cross_validation_clt
from truerisk.measures.averages import value_of_tables
from truerisk.results import Estimate, Interval
from truerisk.tallies.votes import Votes

SIZES = (50, 100, 300, 1000)
SAMPLES = 500
AGREEMENT, YARDSTICK = "agreement", "corrected t, 5 × 10"
ERROR_RATE = "error_rate"
LABELS = ("no", "yes")
POSITIVE = 1
# Measures of counts whose intervals the rule of agreement gives, besides the error rate.
MEASURES = (
    "recall",
    "precision",
    "specificity",
    "f1",
    "balanced_accuracy",
    "matthews_correlation",
)


@dataclass(frozen=True)
class Sample:
    """One sample: repeats × examples, wrong or not, and in which fold."""

    losses: Flags
    parts: NDArray[np.uint8]
    held_out: NDArray[np.int64]

    def fold_errors(self, repeats: int) -> Array:
        """Give the error of each fold of the first so many repeats."""
        folds = [
            np.bincount(parts, losses, FOLDS) / np.bincount(parts, minlength=FOLDS)
            for losses, parts in zip(self.losses[:repeats], self.parts[:repeats], strict=True)
        ]
        return np.concatenate(folds)


def _t(repeats: int, method: str) -> Callable[[Sample], Interval | None]:
    def interval(sample: Sample) -> Interval | None:
        values = sample.fold_errors(repeats).tolist()
        return summarise(
            values, measure="error_rate", folds=FOLDS, level=LEVEL, method=method
        ).interval

    return interval


def _limit_theorem(variance: str) -> Callable[[Sample], Interval | None]:
    def interval(sample: Sample) -> Interval | None:
        return cross_validation_clt(
            sample.losses[0], sample.parts[0], level=LEVEL, variance=variance
        )

    return interval


def _agreement(method: str) -> Callable[[Sample], Interval | None]:
    return lambda sample: agreement_interval(sample.losses, level=LEVEL, method=method)


def _pooled(sample: Sample) -> Interval:
    wrong = int(np.count_nonzero(sample.losses[0]))
    return _binomial(wrong, sample.losses.shape[1])


def _held_out(sample: Sample) -> Interval:
    wrong, tested = sample.held_out.tolist()
    return _binomial(wrong, tested)


@cache  # hundreds of samples have the same count
def _binomial(wrong: int, n: int) -> Interval:
    return binomial_interval(wrong, n, level=LEVEL)


INTERVALS: dict[str, Callable[[Sample], Interval | None]] = {
    AGREEMENT: _agreement("agreement"),
    "agreement, Jeffreys": _agreement("agreement_jeffreys"),
    "agreement, damped": _agreement("agreement_damped"),
    YARDSTICK: _t(5, "corrected_t"),
    "corrected t, 10": _t(1, "corrected_t"),
    "plain t, 5 × 10 (invalid)": _t(5, "plain_t"),
    "plain t, 10 (invalid)": _t(1, "plain_t"),
    "limit theorem, all pairs": _limit_theorem("all_pairs"),
    "limit theorem, within folds": _limit_theorem("within_folds"),
    "binomial, 10 folds pooled": _pooled,
    "hold-out, one third": _held_out,
}


@dataclass(frozen=True, kw_only=True)
class LearnerCoverage:
    """How often one interval of one measure contained the truth in one cell.

    `model` is how often it contained this model's value, `learner` how often that of the learner,
    the mean of the former over all samples (`truth`); samples in which the measure or the interval
    is undefined count neither way.  `relative_width` is the mean width over that of the corrected
    t, in the samples that have both; NaN if none has.
    """

    cell: Cell
    measure: str
    interval: str
    defined: int
    model: float
    learner: float
    mean_width: float
    relative_width: float
    truth: float

    @property
    def undefined(self) -> int:
        """How many samples have no such interval."""
        return self.cell.samples - self.defined


def ends_from(refits: Refits) -> dict[str, Array]:
    """Give the ends of each interval of each sample; NaN without one.

    Examples
    --------
    >>> from studies.audit.learner_refits import run_cell
    >>> cell = Cell(problem="crescent", n=50, learner="naive Bayes", samples=5, fresh=10_000)
    >>> ends = ends_from(run_cell(cell))
    >>> list(ends)[0], ends["agreement"].shape
    ('agreement', (5, 2))
    """
    rows = zip(refits.losses, refits.parts, refits.held_out, strict=True)
    samples = [Sample(*row) for row in rows]
    return {name: ends_of([rule(one) for one in samples]) for name, rule in INTERVALS.items()}


class _NoScores:
    """The estimates from scores, of models that give none."""

    def overall(self) -> Iterator[Estimate]:
        return iter(())

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        return {}


def measure_ends(refits: Refits, measures: tuple[str, ...] = MEASURES) -> dict[str, Array]:
    """Give the ends of the agreement interval of each measure and sample.

    NaN where the measure is undefined.
    """
    request = Request(
        level=LEVEL, measures=measures, pos_label=LABELS[POSITIVE], random_state=0
    ).checked()
    estimates: dict[str, list[Estimate]] = {name: [] for name in measures}
    for losses, positive in zip(refits.losses, refits.positive, strict=True):
        cells = votes_of(losses, positive).cells()
        cells = replace(cells, judgements=replace(cells.judgements, rule=AGREEMENT))
        tallies = Tallies(
            LABELS, multilabel=False, pos_label=LABELS[POSITIVE], n=cells.n, cells=cells
        )
        evaluation = assemble(tallies, request, scores=_NoScores())
        for name in measures:
            estimates[name].append(evaluation[name])
    return {
        name: ends_of([one.interval if one.is_defined else None for one in each])
        for name, each in estimates.items()
    }


def votes_of(losses: Flags, positive: Flags) -> Votes:
    """Count what the refits predicted for each example, from their losses.

    Examples
    --------
    >>> votes_of(np.array([[False, True], [False, False]]), np.array([True, False])).called.tolist()
    [[1, 1], [1, 0]]
    """
    votes = Votes(positive.astype(np.int64), LABELS, repetitions=len(losses))
    for repetition, wrong in enumerate(losses):
        votes.add(np.arange(positive.size), (positive ^ wrong).astype(np.int32), repetition)
    return votes


def measure_truth(refits: Refits, measures: tuple[str, ...] = MEASURES) -> dict[str, Array]:
    """Give the true value of each measure for the model of each sample; NaN where undefined."""
    missed, alarms = refits.truth.T
    share = np.full_like(missed, refits.prevalence)
    rows = [[1 - share - alarms, alarms], [missed, share - missed]]
    tables = np.moveaxis(np.array(rows), -1, 0)
    return {
        name: np.asarray(value_of_tables(name, tables, POSITIVE), dtype=np.float64)
        for name in measures
    }


def coverage_of(
    cell: Cell,
    ends: Mapping[str, Array],
    truth: Array,
    *,
    measure: str = ERROR_RATE,
) -> list[LearnerCoverage]:
    """Give one row per interval, from its ends and the true value of each sample's model."""
    return [
        LearnerCoverage(
            cell=cell,
            measure=measure,
            interval=name,
            relative_width=_relative_width(own, ends[YARDSTICK]) if YARDSTICK in ends else math.nan,
            truth=_mean(truth),
            **_covered(own, truth),
        )
        for name, own in ends.items()
    ]


def _covered(ends: Array, truth: Array) -> dict[str, Any]:
    there = ~np.isnan(ends[:, 0]) & ~np.isnan(truth)
    low, high = ends[there].T
    mean = _mean(truth)
    return {
        "defined": int(there.sum()),
        "model": _mean((low <= truth[there]) & (truth[there] <= high)),
        "learner": _mean((low <= mean) & (mean <= high)),
        "mean_width": _mean(high - low),
    }


def _relative_width(ends: Array, yardstick: Array) -> float:
    both = ~np.isnan(ends[:, 0]) & ~np.isnan(yardstick[:, 0])
    width, other = (_mean(np.diff(one[both])) for one in (ends, yardstick))
    return width / other


def _mean(values: NDArray[Any]) -> float:
    """Give the mean of what is not NaN; NaN of nothing."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else math.nan


def all_cells(
    *,
    problems: Sequence[Problem] = PROBLEMS,
    sizes: Sequence[int] = SIZES,
    samples: int = SAMPLES,
    random_state: int = 0,
) -> list[Cell]:
    """List every problem at every size with every learner, small ones first."""
    check_whole_number(samples, "samples", low=1)
    return [
        Cell(
            problem=problem.name,
            n=n,
            learner=learner,
            samples=samples,
            random_state=random_state,
        )
        for n in sizes
        for problem in problems
        for learner in LEARNERS
    ]


def measure_cells(
    cells: Sequence[Cell], *, folder: Path | None = None, n_jobs: int = 1
) -> Iterator[list[LearnerCoverage]]:
    """Give the rows of one cell after another, in the order of the cells.

    Parameters
    ----------
    cells
        What to measure.
    folder
        Where checkpoints are written, and looked for first.
    n_jobs
        Processes; the figures do not depend on it.
    """
    results = run_each(_measure_cell, {"folder": folder}, cells, n_jobs=n_jobs)
    for cell, arrays in zip(cells, results, strict=True):
        rows = []
        for measure in (ERROR_RATE, *MEASURES):
            start = f"{measure}: "
            ends = {key.removeprefix(start): arrays[key] for key in arrays if key.startswith(start)}
            rows += coverage_of(cell, ends, arrays[measure], measure=measure)
        yield rows


def _measure_cell(shared: Mapping[str, Any], cell: Cell) -> dict[str, Array]:
    """Give the truth of each measure by its name, and the ends of its intervals by both names."""
    refits = refits_of(cell, shared["folder"])
    ends = {**ends_from(refits), **further_ends(cell, shared["folder"])}
    others = measure_ends(refits)
    return {
        ERROR_RATE: refits.errors,
        **measure_truth(refits),
        **{f"{ERROR_RATE}: {name}": own for name, own in ends.items()},
        **{f"{measure}: {AGREEMENT}": own for measure, own in others.items()},
    }
