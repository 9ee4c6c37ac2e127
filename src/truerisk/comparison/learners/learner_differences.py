"""Two learners judged by the same refits, and the differences of what they say there."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.estimate import LearnerEvaluation, estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import summarise
from truerisk.estimation.refits.methods import design_of, find_method
from truerisk.estimation.refits.plans import NestedFolds
from truerisk.estimation.refits.votes import collect_votes
from truerisk.intervals.cross_validation import nested_interval
from truerisk.learners.named_models import as_learner
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Estimate, Interval, Resampled

Progress = Callable[[int, int, int], None]

MEAN_LOSSES = ("error_rate", "accuracy")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Two learners, the examples, and how both are to be refitted: all that refits depend on."""

    models: tuple[Any, Any]
    names: tuple[str, str]
    examples: Examples
    resampling: str
    design: dict[str, Any]
    request: dict[str, Any]
    measures: tuple[str, ...]
    level: float
    seed: int
    n_jobs: int | None = 1
    resume: Path | None = None
    progress: Progress | None = None

    @property
    def units(self) -> int:
        """How many independent examples or groups there are."""
        examples = self.examples
        return examples.n if examples.groups is None else int(examples.groups.max()) + 1

    @property
    def folds(self) -> int:
        """How many folds a repetition has."""
        return 2 if self.resampling == "five_by_two" else int(self.design["folds"])

    def notes(self, remark: str) -> tuple[str, ...]:
        """Say which refits both learners had."""
        repeats = 5 if self.resampling == "five_by_two" else self.design["repeats"]
        times = f", {repeats} times" if repeats > 1 else ""
        told = f"Both learners on the same {self.folds} folds{times}; seed {self.seed}."
        return (told, remark) if remark else (told,)

    def progress_of(self, which: int) -> Progress | None:
        """Count the refits of the second learner on from those of the first."""
        told = self.progress
        if told is None:
            return None
        return lambda done, seen, all_: told(done + which * all_, seen + which * all_, 2 * all_)


def judged_twice(asked: Asked) -> tuple[LearnerEvaluation, LearnerEvaluation]:
    """Estimate what either learner is worth, by the same divisions and the same seeds."""
    first, second = (_judged(asked, which) for which in range(2))
    return first, second


def _judged(asked: Asked, which: int) -> LearnerEvaluation:
    place = ("first", "second")[which]
    examples = asked.examples
    try:
        return estimate(
            asked.models[which],
            examples.X,
            examples.y,
            method=asked.resampling,
            measures=asked.measures,
            groups=examples.groups,
            pos_label=examples.pos_label,
            random_state=asked.seed,
            n_jobs=asked.n_jobs,
            resume=None if asked.resume is None else asked.resume / place,
            progress=asked.progress_of(which),
            level=asked.level,
            **asked.design,
            **asked.request,
        )
    except RefitError as error:
        raise RefitError(f"{asked.names[which]}: {error}") from error


def differences_of_refits(first: Estimate, second: Estimate, folds: int) -> Array | None:
    """Give second − first in each refit, repetitions × folds; None where a refit has no value.

    Examples
    --------
    >>> def of(*values):
    ...     return Resampled(value=0.0, interval=None, measure="error_rate", method="", n=9,
    ...                      replicates=values)
    >>> differences_of_refits(of(0.25, 0.5), of(0.25, 0.25), 2)
    array([[ 0.  , -0.25]])
    """
    values = [one.replicates if isinstance(one, Resampled) else () for one in (first, second)]
    if not all(values):
        raise InputError(
            "`measures` must have a value in each refit to be tested by refits, and "
            f"{first.measure} has none; compare predictions instead (tr.compare)."
        )
    table = np.subtract(values[1], values[0])
    return table.reshape(-1, folds) if np.isfinite(table).all() else None


def of_learner(one: Estimate, asked: Asked) -> Estimate:
    """Give the mean over the refits, with the corrected t interval: it speaks of the learner."""
    values = one.replicates if isinstance(one, Resampled) else ()
    base = find_measure(base_and_average(one.measure)[0])
    if not np.isfinite(values).all():
        undefined = int((~np.isfinite(values)).sum())
        told = f"undefined in {undefined} of {len(values)} refits"
        whole = Interval(*base.measure_range, asked.level, "whole_range")
        found = replace(one, value=math.nan, interval=whole, notes=(told,))
    else:
        mean = summarise(values, measure=base.name, folds=asked.folds, level=asked.level)
        found = replace(mean, measure=one.measure, method=one.method)
    return replace(found, n=asked.examples.n, target="the learner at this sample size")


def loss_differences(
    asked: Asked, first: LearnerEvaluation, second: LearnerEvaluation, measure: str
) -> NDArray[np.int8]:
    """Give, repetitions × examples, second − first of a loss that is 0 or 1."""
    truth = asked.examples.codes
    wrong = [
        np.asarray(one.called != truth).astype(np.int8)
        for one in (first, second)
        if one.called is not None
    ]
    return signed(wrong[1] - wrong[0], measure)


def signed(differences: NDArray[np.int8], measure: str) -> NDArray[np.int8]:
    """Turn differences of errors into those of the error rate or the accuracy.

    Examples
    --------
    >>> signed(np.array([1, 0], dtype=np.int8), "accuracy")
    array([-1,  0], dtype=int8)
    """
    return differences if measure == "error_rate" else -differences


@dataclass(frozen=True, kw_only=True)
class NestedLosses:
    """The errors of both learners, R × K × n as `nested_interval` wants them, and the folds."""

    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    parts: NDArray[np.intp]

    def estimate_of(self, which: int, asked: Asked, measure: str) -> Estimate:
        """Give what nested cross-validation says of one learner."""
        wrong = (self.first, self.second)[which]
        losses = wrong if measure == "error_rate" else ~wrong
        found = nested_interval(losses, self.parts, level=asked.level)
        return Estimate(
            value=found.value,
            interval=found.interval,
            measure=measure,
            method=asked.resampling,
            n=asked.examples.n,
            target="the learner at this sample size",
        )


def nested_losses(asked: Asked) -> NestedLosses:
    """Refit both learners without each fold and each pair of folds; keep every loss."""
    if asked.resume is not None:
        raise InputError("`resume` must be left out for nested_cross_validation: it keeps nothing.")
    examples = asked.examples
    method = find_method(asked.resampling, examples)
    design = design_of(method, asked.design)
    plan = method.plan(examples, design, np.random.default_rng([asked.seed, 0]))
    if not isinstance(plan, NestedFolds):
        raise InputError(f"`method` must leave out pairs of folds; got {asked.resampling!r}.")
    wrong = [_nested(asked, which, plan) for which in range(2)]
    return NestedLosses(first=wrong[0], second=wrong[1], parts=plan.parts)


def _nested(asked: Asked, which: int, plan: NestedFolds) -> NDArray[np.bool_]:
    examples = asked.examples
    judging = collect_votes(
        as_learner(asked.models[which], examples.X, examples=examples.n),
        examples,
        plan,
        seed=asked.seed,
        n_jobs=asked.n_jobs,
        progress=asked.progress_of(which),
    )
    try:
        judging.refuse_failures(allowed=False)
    except RefitError as error:
        raise RefitError(f"{asked.names[which]}: {error}") from error
    return np.asarray(judging.nested)
