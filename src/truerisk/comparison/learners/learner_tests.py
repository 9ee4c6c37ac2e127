"""Two learners in the same refits, and what these say of their difference: intervals and tests.

Differences are second − first: of the values of refits (repetitions × folds), or of the losses of
single examples, each predicted in several refits.  Where no refit separates the learners, p = 1
and the number of examples bounds the difference; a difference that is the same in every refit has
no test.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, fdtri, stdtr

from truerisk.aliases import Array, Ends, Flags, Indices
from truerisk.comparison.conclusion import (
    NEGLIGIBLE,
    Shares,
    Spread,
    TestOutcome,
    undetermined,
    without_spread,
)
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.cv import plan_of
from truerisk.estimation.refits.estimate import LearnerEvaluation, estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import mean_of_refits, plain_standard_error
from truerisk.estimation.refits.plans import Folds, NestedFolds, design_of, find_method, make_plan
from truerisk.estimation.refits.votes import collect_votes
from truerisk.intervals.cross_validation import corrected_standard_error, nested_interval
from truerisk.intervals.variance_components import METHOD, Components, Rule, components
from truerisk.learners.named_models import as_learner
from truerisk.learners.scoring import range_of
from truerisk.results import Estimate, Finding, Interval, Resampled

Progress = Callable[[int, int, int], None]

MEAN_LOSSES = ("error_rate", "accuracy")
UNKNOWN: Shares = (math.nan, math.nan, math.nan)  # no spread, and so no posterior
NO_TEST = Finding(
    "The difference is the same in every refit: no spread, and so no test. For error rate and "
    "accuracy take agreement, which looks at the single examples.",
    code="no_test",
)


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
    in_folds = isinstance(plan, Folds)
    return Divided(
        kind="cross_validation" if in_folds else method.name,
        divisions=[plan.train_and_test(at) for at in range(len(plan))],
        folds=design.folds,
        repeats=design.repeats if in_folds else 1,
        ratio=plan.test_train_ratio(),
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonSpec:
    """Two learners, the examples, and how both are refitted: all that refits depend on.

    `options` reach `tr.estimate` as they are: measures or scorers, their settings, weights.
    """

    method: str
    models: tuple[Any, Any]
    names: tuple[str, str]
    examples: Examples
    resampling: str
    design: dict[str, Any]
    measures: tuple[str, ...]
    level: float
    seed: int
    divided: Divided | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
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
    examples = spec.examples
    how: dict[str, Any] = {"method": spec.resampling, **spec.design}
    if spec.divided is not None:
        how = {"cv": spec.divided.divisions}
    try:
        return estimate(
            spec.models[which],
            examples.X,
            examples.y,
            groups=examples.groups,
            pos_label=examples.pos_label,
            random_state=spec.seed,
            n_jobs=spec.n_jobs,
            resume=None if spec.resume is None else spec.resume / ("first", "second")[which],
            progress=spec.progress_of(which),
            level=spec.level,
            **how,
            **spec.options,
        )
    except RefitError as error:
        raise RefitError(f"{spec.names[which]}: {error}") from error


def _values(one: Estimate) -> tuple[float, ...]:
    """Give the values of the refits, where there are any."""
    return one.replicates if isinstance(one, Resampled) else ()


def differences_of_refits(first: Estimate, second: Estimate, folds: int) -> Array | None:
    """Give second − first in each refit, repetitions × folds; None where a refit has no value."""
    values = _values(first), _values(second)
    if not all(values):
        raise InputError(
            "`measures` must have a value in each refit to be tested by refits, and "
            f"{first.measure} has none; compare predictions instead (tr.compare)."
        )
    table = np.subtract(values[1], values[0])
    return table.reshape(-1, folds) if np.isfinite(table).all() else None


def of_learner(one: Estimate, spec: ComparisonSpec) -> Estimate:
    """Give the mean over the refits, with the corrected t interval: it speaks of the learner."""
    values = _values(one)
    undefined = int((~np.isfinite(values)).sum())
    if undefined:
        text = f"undefined in {undefined} of {len(values)} refits"
        note = Finding(text, code="undefined_in_refits")
        whole = Interval(*range_of(one.measure), spec.level, "whole_range")
        mean = replace(one, value=math.nan, interval=whole, notes=(note,))
    else:
        ratio = 1 / (spec.folds - 1) if spec.divided is None else spec.divided.ratio
        mean = mean_of_refits(values, one.measure, ratio, spec.level)
        mean = replace(mean, method=one.method)
    return replace(mean, n=spec.examples.n, target="the learner at this sample size")


def signed(differences: NDArray[np.int8], measure: str) -> NDArray[np.int8]:
    """Turn differences of errors into those of the error rate or the accuracy."""
    return differences if measure == "error_rate" else -differences


def nested_losses(spec: ComparisonSpec) -> tuple[list[Flags], Indices]:
    """Refit both learners without each fold and each pair of folds; keep every loss.

    Gives the errors of either, R × K × n as `nested_interval` takes them, and the folds.
    """
    if spec.resume is not None:
        raise InputError("`resume` must be left out for nested_cross_validation: it saves nothing.")
    method = find_method(spec.resampling, spec.examples)
    plan = make_plan(method, spec.examples, design_of(method, spec.design), spec.seed)
    if not isinstance(plan, NestedFolds):
        raise InputError(f"`method` must leave out pairs of folds; got {spec.resampling!r}.")
    return [_nested(spec, which, plan) for which in range(2)], plan.parts


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


def estimate_by_nesting(
    wrong: Flags, parts: Indices, spec: ComparisonSpec, measure: str
) -> Estimate:
    """Estimate one learner by nested cross-validation."""
    losses = wrong if measure == "error_rate" else ~wrong
    nested = nested_interval(losses, parts, level=spec.level)
    return Estimate(
        value=nested.value,
        interval=nested.interval,
        measure=measure,
        method=spec.resampling,
        n=spec.examples.n,
        target="the learner at this sample size",
    )


def refits_without_spread(difference: float, units: float, method: str) -> TestOutcome:
    """Say what refits say that all have the same difference."""
    if abs(difference) > NEGLIGIBLE:
        return undetermined(method, NO_TEST)
    note = Finding(
        f"No refit separates the two: the interval is that of {units:g} examples without a "
        "disagreement.",
        code="no_disagreement",
    )
    name = f"{method}, no disagreement"
    return without_spread(0.0, units, method=method, interval_method=name, note=note)


def by_corrected_t(differences: Array, units: float) -> TestOutcome:
    r"""Test by Nadeau and Bengio's corrected resampled t, over R × K differences of folds.

    .. math:: \bar d \pm t_{RK-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    Exact if the differences were normal with equal correlation 1/K.
    Sources: C. Nadeau and Y. Bengio, Machine Learning 52(3), 239-281, 2003; R. R. Bouckaert and E.
    Frank, PAKDD 2004, 3-12.
    """
    return _of_spread(*_corrected(differences, differences.size - 1), units, "corrected_t")


def by_cautious_t(differences: Array, units: float) -> TestOutcome:
    """Test by the corrected resampled t with K − 1 degrees: d̄ ± t·s·√(1/(RK) + 1/(K − 1)).

    Repeating adds no examples: R·K − 1 degrees are too many (R. R. Bouckaert, ICML 2003, 51-58).
    That K − 1 are about right was shown by simulation.
    """
    return _of_spread(*_corrected(differences, differences.shape[1] - 1), units, "cautious_t")


def by_random_divisions(differences: Array, units: float, ratio: float) -> TestOutcome:
    """Test by the corrected t over J random divisions: d̄ ± t_{J−1}·s·√(1/J + n_test/n_train)."""
    return _of_spread(*_corrected(differences, differences.size - 1, ratio), units, "corrected_t")


def _corrected(
    differences: Array, degrees: int, ratio: float | None = None
) -> tuple[Spread, float]:
    """Give the corrected spread of the mean, and the mean; the ratio of folds is 1/(K − 1)."""
    column = differences.ravel()
    ratio = 1 / (differences.shape[1] - 1) if ratio is None else ratio
    error = corrected_standard_error(column, ratio)
    return Spread(error, degrees), math.fsum(column) / column.size


def _of_spread(spread: Spread, value: float, units: float, name: str) -> TestOutcome:
    if spread.is_zero:
        return refits_without_spread(value, units, name)
    return spread.outcome(value, name)


def by_resampled_t(differences: Array, units: float) -> TestOutcome:
    """Test by Student's t as if the refits were independent: invalid, for comparison."""
    return _by_plain_t(differences, units, "resampled_t (invalid)")


def _by_plain_t(differences: Array, units: float, name: str) -> TestOutcome:
    column = differences.ravel()
    mean = math.fsum(column) / column.size
    error = plain_standard_error(column.tolist(), 0.0)
    return _of_spread(Spread(error, column.size - 1), mean, units, name)


def by_k_fold_t(differences: Array, units: float) -> TestOutcome:
    """Test by Student's t over the K folds of one cross-validation: invalid, for comparison.

    t = d̄/(s/√K) with K − 1 degrees (T. G. Dietterich, Neural Computation 10, 1895-1923, 1998).
    """
    return _by_plain_t(differences, units, "k_fold_t (invalid)")


def by_five_by_two_t(differences: Array, units: float) -> TestOutcome:
    """Test by Dietterich's t, d₁₁/√(Σs²/5) with 5 degrees, and the interval of that difference.

    Holds its size (measured by its author) at a loss of power: the numerator is one of ten.
    Source: T. G. Dietterich, Neural Computation 10(7), 1895-1923, 1998.
    """
    spread = Spread(math.sqrt(_variance_within(differences) / 5), 5)
    return _of_spread(spread, float(differences[0, 0]), units, "five_by_two_t")


def by_five_by_two_f(differences: Array, units: float) -> TestOutcome:
    """Test by Alpaydın's F, Σd²/(2Σs²); the interval of the mean of the ten is d̄ ± √(2Sq/10).

    F also rejects where the pairs differ among themselves, which the interval does not.
    Source: E. Alpaydın, Neural Computation 11(8), 1885-1892, 1999.
    """
    mean, within = float(differences.mean()), 2 * _variance_within(differences)
    if Spread(math.sqrt(within)).is_zero:
        return refits_without_spread(mean, units, "five_by_two_f")

    def ends(level: float) -> Ends:
        half = math.sqrt(within * float(fdtri(10, 5, level)) / 10)
        return mean - half, mean + half

    return TestOutcome(
        ends_at=ends,
        p_value=float(fdtrc(10, 5, float((differences**2).sum()) / within)),
        method="five_by_two_f",
        interval_method="five_by_two_f",
    )


def by_posterior(differences: Array, units: float) -> TestOutcome:
    """Give the correlated t posterior of the difference, over R × K differences of folds.

    δ ~ t_{RK−1}(d̄, s²(1/(RK) + ρ/(1 − ρ))), ρ = 1/K, if the differences are normal with equal
    correlation ρ; its central interval is that of the corrected t.
    Sources: G. Corani and A. Benavoli, Machine Learning 100, 285-304, 2015; A. Benavoli et al.,
    JMLR 18(77), 1-36, 2017.
    """
    spread, mean = _corrected(differences, differences.size - 1)

    def shares(region: float) -> Shares:
        if spread.error == 0:
            return UNKNOWN if mean else (0.0, 1.0, 0.0)
        below = float(stdtr(spread.degrees, (-region - mean) / spread.error))
        above = float(stdtr(spread.degrees, (mean - region) / spread.error))
        return below, max(1.0 - below - above, 0.0), above

    outcome = _of_spread(spread, mean, units, "correlated_t_posterior")
    return replace(outcome, p_value=None, shares_at=shares)


def _variance_within(table: Array) -> float:
    # (d₁ − d̄)² + (d₂ − d̄)² = (d₁ − d₂)²/2
    return float(((table[:, 0] - table[:, 1]) ** 2).sum()) / 2


def by_nested_cross_validation(differences: NDArray[np.int8], parts: Indices) -> TestOutcome:
    """Test by nested cross-validation: the interval and the z of the corrected difference.

    The loss differences −1, 0, 1 (R × K × n) are brought to 0, ½, 1; `parts` (R × n) are the folds.
    """
    name, n = "nested_cross_validation", differences.shape[2]
    nested = nested_interval((differences + 1) / 2, parts)
    value = 2 * nested.value - 1
    if nested.interval is None:
        return refits_without_spread(value, n, name)
    return Spread(2 * nested.standard_error).outcome(value, name)


def by_agreement(differences: NDArray[np.int8], groups: Indices | None) -> TestOutcome:
    """Test by the variance of the votes: how far refits agree which of two is wrong.

    With m the mean of d, sᵢ the mean square of (dᵣᵢ − m)/n over repetitions r and wᵢ its variance,
    V = (1 + u) Σ sᵢ, u = min(1, Σw/Σs); m ± z√V, or with groups Student's t of G − 1 degrees.
    """
    zeros = np.zeros(differences.shape, dtype=np.intp)
    return _by_examples(differences, zeros, groups, lambda parts: parts.agreement, "agreement")


PAIRED = Rule(0.75, 0.75, "jeffreys")  # that of the error rate; the interval here is normal


def by_variance_components(
    differences: NDArray[np.int8], refits: NDArray[np.integer], groups: Indices | None
) -> TestOutcome:
    """Test by the components of the variance of the difference of losses: m ± z√V.

    V = V₁(1 + ¾u) + ¾·max(0, s²), with V₁, u and s² of `truerisk.intervals.variance_components`.
    `refits` (R × n) is the number of the refit that judged the example.
    """
    return _by_examples(differences, refits, groups, lambda parts: parts.variance(PAIRED), METHOD)


def _by_examples(
    differences: NDArray[np.int8],
    refits: NDArray[np.integer],
    groups: Indices | None,
    variance: Callable[[Components], float],
    name: str,
) -> TestOutcome:
    value = float(differences.mean())
    parts = components(np.asarray(differences - value, dtype=np.float64), refits, groups)
    name = name if parts.repeated else "pooled"
    name = name if groups is None else f"cluster_{name}"
    degrees = math.inf if groups is None else parts.units - 1.0
    spread = Spread(math.sqrt(variance(parts)), degrees)
    if spread.is_zero and value != 0:  # one learner is right and the other wrong everywhere
        return without_spread(value, parts.units, method=name)
    return _of_spread(spread, value, parts.units, name)
