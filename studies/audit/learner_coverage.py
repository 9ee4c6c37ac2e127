"""How often the intervals of refits that are used by name cover the error rate.

The default of `tr.estimate` has a study of its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
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
from truerisk.execution import run_each
from truerisk.intervals.agreement import agreement_interval
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.cross_validation import cross_validation_clt
from truerisk.results import Interval

SIZES = (50, 100, 300, 1000)
SAMPLES = 500
ERROR_RATE = "error_rate"
AGREEMENT, YARDSTICK = "agreement", "corrected t, 5 × 10"
MODEL, LEARNER = "this model", "the learner at this sample size"
FIVE_BY_TEN, TEN, THIRD, OWN = "5 × 10 folds", "10 folds", "a third held out", "refits of its own"
# What the audit calls an interval → what an estimate calls it, and the refits.
NAMES = {
    "agreement": ("agreement_binomial", FIVE_BY_TEN),
    "agreement, Jeffreys": ("agreement_jeffreys", FIVE_BY_TEN),
    "agreement, damped": ("agreement_damped", FIVE_BY_TEN),
    "corrected t, 5 × 10": ("corrected_t", FIVE_BY_TEN),
    "corrected t, 10": ("corrected_t", TEN),
    "plain t, 5 × 10 (invalid)": ("plain_t (invalid)", FIVE_BY_TEN),
    "plain t, 10 (invalid)": ("plain_t (invalid)", TEN),
    "limit theorem, all pairs": ("cross_validation_clt_all_pairs", TEN),
    "limit theorem, within folds": ("cross_validation_clt_within_folds", TEN),
    "binomial, 10 folds pooled": ("pooled_binomial", TEN),
    "hold-out, one third": ("clopper_pearson", THIRD),
    "nested cross-validation": ("nested_cross_validation", OWN),
    "conservative Z": ("conservative_z", OWN),
}
# They speak of the learner; what they cover of one model is for comparison.
OF_LEARNERS = {"corrected_t", "plain_t (invalid)", "nested_cross_validation", "conservative_z"}
# Chosen with a look at some of these problems.
CHOSEN = {"agreement_damped"}


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


def coverage_cells(cell: Cell, ends: Mapping[str, Array], truth: Array) -> Iterator[CoverageCell]:
    """Give one row per interval and target, from its ends and the error of each sample's model.

    Samples without an interval count neither way.
    """
    for name, own in ends.items():
        method, design = NAMES[name]
        there = ~np.isnan(own[:, 0])
        low, high = own[there].T
        width = float((high - low).mean()) if there.any() else math.nan
        targets = {MODEL: truth[there], LEARNER: np.full(int(there.sum()), truth.mean())}
        for target in (MODEL, LEARNER) if method in OF_LEARNERS else (MODEL,):
            held = (low <= targets[target]) & (targets[target] <= high)
            yield CoverageCell(
                study="learners",
                problem=f"{cell.problem}, {cell.learner}",
                role=CHOSEN_ON if method in CHOSEN else HELD_OUT,
                design=design,
                n=cell.n,
                measure=ERROR_RATE,
                method=method,
                level=LEVEL,
                target=target,
                samples=int(there.sum()),
                undefined=int((~there).sum()),
                coverage=float(held.mean()) if there.any() else math.nan,
                width=width,
                **(_beside(ends[YARDSTICK], truth) if name == AGREEMENT else {}),
            )


def _beside(ends: Array, truth: Array) -> dict[str, Any]:
    """Say what the corrected t does on the same samples."""
    there = ~np.isnan(ends[:, 0])
    low, high = ends[there].T
    held = (low <= truth[there]) & (truth[there] <= high)
    shares = {"rival_coverage": held, "rival_width": high - low}
    means = {name: float(one.mean()) if there.any() else math.nan for name, one in shares.items()}
    return {"rival": "corrected_t", **means}


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
) -> Iterator[list[CoverageCell]]:
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
        truth = arrays.pop(ERROR_RATE)
        yield list(coverage_cells(cell, arrays, truth))


def _measure_cell(shared: Mapping[str, Any], cell: Cell) -> dict[str, Array]:
    """Give the error of each sample's model, and the ends of each interval."""
    refits = refits_of(cell, shared["folder"])
    return {
        ERROR_RATE: refits.errors,
        **ends_from(refits),
        **further_ends(cell, shared["folder"]),
    }
