"""Two learners in the same refits, and the differences of what they predict there."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
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
from truerisk.results import Estimate, Finding, Interval, Resampled

Progress = Callable[[int, int, int], None]

MEAN_LOSSES = ("error_rate", "accuracy")


@dataclass(frozen=True, kw_only=True)
class ComparisonSpec:
    """Two learners, the examples, and how both are refitted: all that refits depend on."""

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
        text = f"Both learners on the same {self.folds} folds{times}; seed {self.seed}."
        refits = Finding(text, code="same_refits")
        return (refits, remark) if remark else (refits,)

    def progress_of(self, which: int) -> Progress | None:
        """Count the refits of the second learner on from those of the first."""
        report = self.progress
        if report is None:
            return None
        return lambda done, seen, all_: report(done + which * all_, seen + which * all_, 2 * all_)


def evaluate_both(spec: ComparisonSpec) -> tuple[LearnerEvaluation, LearnerEvaluation]:
    """Evaluate either learner by the same divisions and the same seeds."""
    first, second = (_evaluate(spec, which) for which in range(2))
    return first, second


def _evaluate(spec: ComparisonSpec, which: int) -> LearnerEvaluation:
    place = ("first", "second")[which]
    examples = spec.examples
    try:
        return estimate(
            spec.models[which],
            examples.X,
            examples.y,
            method=spec.resampling,
            measures=spec.measures,
            groups=examples.groups,
            pos_label=examples.pos_label,
            random_state=spec.seed,
            n_jobs=spec.n_jobs,
            resume=None if spec.resume is None else spec.resume / place,
            progress=spec.progress_of(which),
            level=spec.level,
            **spec.design,
            **spec.request,
        )
    except RefitError as error:
        raise RefitError(f"{spec.names[which]}: {error}") from error


def differences_of_refits(first: Estimate, second: Estimate, folds: int) -> Array | None:
    """Give second − first in each refit, repetitions × folds; None where a refit has no value."""
    values = [one.replicates if isinstance(one, Resampled) else () for one in (first, second)]
    if not all(values):
        raise InputError(
            "`measures` must have a value in each refit to be tested by refits, and "
            f"{first.measure} has none; compare predictions instead (tr.compare)."
        )
    table = np.subtract(values[1], values[0])
    return table.reshape(-1, folds) if np.isfinite(table).all() else None


def of_learner(one: Estimate, spec: ComparisonSpec) -> Estimate:
    """Give the mean over the refits, with the corrected t interval: it speaks of the learner."""
    values = one.replicates if isinstance(one, Resampled) else ()
    base = find_measure(base_and_average(one.measure)[0])
    if not np.isfinite(values).all():
        undefined = int((~np.isfinite(values)).sum())
        note = Finding(
            f"undefined in {undefined} of {len(values)} refits", code="undefined_in_refits"
        )
        whole = Interval(*base.measure_range, spec.level, "whole_range")
        mean = replace(one, value=math.nan, interval=whole, notes=(note,))
    else:
        mean = summarise(values, measure=base.name, folds=spec.folds, level=spec.level)
        mean = replace(mean, measure=one.measure, method=one.method)
    return replace(mean, n=spec.examples.n, target="the learner at this sample size")


def loss_differences(
    spec: ComparisonSpec, first: LearnerEvaluation, second: LearnerEvaluation, measure: str
) -> NDArray[np.int8]:
    """Give, repetitions × examples, second − first of a loss that is 0 or 1."""
    truth = spec.examples.codes
    wrong = [
        np.asarray(one.called != truth).astype(np.int8)
        for one in (first, second)
        if one.called is not None
    ]
    return signed(wrong[1] - wrong[0], measure)


def signed(differences: NDArray[np.int8], measure: str) -> NDArray[np.int8]:
    """Turn differences of errors into those of the error rate or the accuracy."""
    return differences if measure == "error_rate" else -differences


@dataclass(frozen=True, kw_only=True)
class NestedLosses:
    """The errors of both learners, R × K × n as `nested_interval` takes them, and the folds."""

    first: Flags
    second: Flags
    parts: Indices

    def estimate_of(self, which: int, spec: ComparisonSpec, measure: str) -> Estimate:
        """Estimate one learner by nested cross-validation."""
        wrong = (self.first, self.second)[which]
        losses = wrong if measure == "error_rate" else ~wrong
        nested = nested_interval(losses, self.parts, level=spec.level)
        return Estimate(
            value=nested.value,
            interval=nested.interval,
            measure=measure,
            method=spec.resampling,
            n=spec.examples.n,
            target="the learner at this sample size",
        )


def nested_losses(spec: ComparisonSpec) -> NestedLosses:
    """Refit both learners without each fold and each pair of folds; keep every loss."""
    if spec.resume is not None:
        raise InputError("`resume` must be left out for nested_cross_validation: it saves nothing.")
    examples = spec.examples
    method = find_method(spec.resampling, examples)
    design = design_of(method, spec.design)
    plan = method.plan(examples, design, np.random.default_rng([spec.seed, 0]))
    if not isinstance(plan, NestedFolds):
        raise InputError(f"`method` must leave out pairs of folds; got {spec.resampling!r}.")
    wrong = [_nested(spec, which, plan) for which in range(2)]
    return NestedLosses(first=wrong[0], second=wrong[1], parts=plan.parts)


def _nested(spec: ComparisonSpec, which: int, plan: NestedFolds) -> Flags:
    examples = spec.examples
    votes = collect_votes(
        as_learner(spec.models[which], examples.X, examples=examples.n),
        examples,
        plan,
        seed=spec.seed,
        n_jobs=spec.n_jobs,
        progress=spec.progress_of(which),
    )
    try:
        votes.refuse_failures(allowed=False)
    except RefitError as error:
        raise RefitError(f"{spec.names[which]}: {error}") from error
    return np.asarray(votes.nested)
