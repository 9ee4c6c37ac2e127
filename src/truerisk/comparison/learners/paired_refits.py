"""Two learners in the same refits, and the differences of what they predict there."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.cv import plan_of
from truerisk.estimation.refits.estimate import LearnerEvaluation, estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import mean_of_refits
from truerisk.estimation.refits.plans import (
    Folds,
    HeldOut,
    NestedFolds,
    design_of,
    find_method,
    make_plan,
)
from truerisk.estimation.refits.votes import collect_votes
from truerisk.intervals.cross_validation import nested_interval
from truerisk.learners.named_models import as_learner
from truerisk.learners.scoring import Scorer, range_of
from truerisk.results import Estimate, Finding, Interval, Resampled

Progress = Callable[[int, int, int], None]

MEAN_LOSSES = ("error_rate", "accuracy")


@dataclass(frozen=True, kw_only=True)
class Divided:
    """Divisions that were given: what kind they are (a method of refits), and their list."""

    kind: str
    divisions: list[tuple[Indices, Indices]]
    folds: int
    repeats: int
    ratio: float


def divide(cv: Any, examples: Examples, seed: int, groups: Any) -> Divided:
    """Make the divisions of a splitter once, for both learners."""
    method, design, plan = plan_of(cv, examples, seed, groups)
    divisions = [plan.train_and_test(at) for at in range(len(plan))]
    if isinstance(plan, Folds):
        return Divided(
            kind="cross_validation",
            divisions=divisions,
            folds=design.folds,
            repeats=design.repeats,
            ratio=1 / (design.folds - 1),
        )
    ratio = plan.test_train_ratio() if isinstance(plan, HeldOut) else math.nan
    return Divided(
        kind=method.name, divisions=divisions, folds=len(divisions), repeats=1, ratio=ratio
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonSpec:
    """Two learners, the examples, and how both are refitted: all that refits depend on."""

    method: str
    models: tuple[Any, Any]
    names: tuple[str, str]
    examples: Examples
    resampling: str
    design: dict[str, Any]
    request: dict[str, Any]
    measures: tuple[str, ...]
    level: float
    seed: int
    divided: Divided | None = None
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
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
        parts = f"{self.folds} folds{times}"
        if self.divided is not None and self.divided.kind != "cross_validation":
            parts = f"{self.folds} divisions"
        text = f"Both learners on the same {parts}; seed {self.seed}."
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
    how: dict[str, Any] = {"method": spec.resampling, **spec.design}
    if spec.divided is not None:
        how = {"cv": spec.divided.divisions}
    if spec.scorers:
        named = {name: name for name in spec.measures if name not in spec.scorers}
        how["scoring"] = {**named, **spec.scorers}
    else:
        how["measures"] = spec.measures
    try:
        return estimate(
            spec.models[which],
            examples.X,
            examples.y,
            groups=examples.groups,
            pos_label=examples.pos_label,
            random_state=spec.seed,
            n_jobs=spec.n_jobs,
            resume=None if spec.resume is None else spec.resume / place,
            progress=spec.progress_of(which),
            level=spec.level,
            **how,
            **spec.given,
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
    if not np.isfinite(values).all():
        undefined = int((~np.isfinite(values)).sum())
        note = Finding(
            f"undefined in {undefined} of {len(values)} refits", code="undefined_in_refits"
        )
        whole = Interval(*range_of(one.measure), spec.level, "whole_range")
        mean = replace(one, value=math.nan, interval=whole, notes=(note,))
    else:
        ratio = 1 / (spec.folds - 1) if spec.divided is None else spec.divided.ratio
        mean = mean_of_refits(values, one.measure, ratio, spec.level)
        mean = replace(mean, method=one.method)
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
    plan = make_plan(method, examples, design, spec.seed)
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
