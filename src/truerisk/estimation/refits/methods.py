"""The resampling methods by name: the plan of refits that each makes, and what it speaks of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truerisk.checks import check_choice, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import (
    DeleteOne,
    Draws,
    Folds,
    NestedFolds,
    Plan,
    TrainingSet,
    each_left_out,
    forward_blocks,
    halves,
    random_divisions,
    repeated_folds,
)
from truerisk.intervals.cross_validation import ConservativeZRuns
from truerisk.intervals.variance_components import METHOD

LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Design:
    """How the examples are to be divided."""

    folds: int = 10
    repeats: int = 1
    test_size: float = 1 / 3
    stratified: bool = True
    allow_small_classes: bool = False


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to learn from refits what a model is worth on examples it has not seen.

    `uses` names the settings of the design that matter to it; `repeats` is how many repetitions it
    has, and `interval` the rule of its intervals, unless another is given.  A method without `plan`
    is one of divisions that are given (`cv=`).
    """

    name: str
    title: str
    plan: Callable[[Examples, Design, np.random.Generator], Plan] | None
    uses: tuple[str, ...] = ("stratified",)
    repeats: int = 1
    interval: str = METHOD
    grouped: bool = True
    remark: str = ""


def _folds(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    return repeated_folds(
        examples.codes,
        design.folds,
        design.repeats,
        rng,
        stratified=design.stratified,
        allow_small_classes=design.allow_small_classes,
        groups=examples.groups,
    )


def _nested(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    check_whole_number(design.folds, "folds", low=3)
    plan = _folds(examples, design, rng)
    return NestedFolds(plan.parts) if isinstance(plan, Folds) else plan


def _subsamples_of_halves(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    # A tenth is held out, as the source does; halves must leave something to train on.
    return ConservativeZRuns(
        n=examples.n,
        test=max(1, examples.n // 10),
        seed=int(rng.integers(LARGEST_SEED)),
        subsamples=design.repeats,
        strata=examples.codes.astype(np.intp) if design.stratified else None,
    )


def _halves(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    return halves(
        examples.codes,
        rng,
        stratified=design.stratified,
        allow_small_classes=design.allow_small_classes,
    )


def _divisions(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    return random_divisions(
        examples.codes,
        design.test_size,
        design.repeats,
        rng,
        stratified=design.stratified,
        groups=examples.groups,
    )


def _draws(examples: Examples, design: Design, rng: np.random.Generator) -> Draws:
    refits = check_whole_number(design.repeats, "repeats", low=10, high=1_000_000)
    return Draws(examples.n, refits, int(rng.integers(LARGEST_SEED)))


def _draws_by_class(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    return replace(_draws(examples, design, rng), strata=examples.codes.astype(np.intp))


METHODS = {
    method.name: method
    for method in (
        Method(
            name="cross_validation",
            title="Cross-validation",
            plan=_folds,
            uses=("folds", "repeats", "stratified"),
            repeats=5,
            remark="the refits lack one fold: with few examples they are a little worse than the "
            "model trained on all",
        ),
        Method(
            name="holdout",
            title="Hold-out",
            plan=_divisions,
            uses=("test_size", "stratified"),
            remark="speaks of the model trained on the other examples; trained on all, it is as a "
            "rule better",
        ),
        Method(
            name="subsampling",
            title="Random subsampling",
            plan=_divisions,
            uses=("repeats", "test_size", "stratified"),
            repeats=15,
            remark="the refits lack the share held out, and are as a rule worse than the model "
            "trained on all",
        ),
        Method(
            name="five_by_two",
            title="Five times two halves",
            plan=_halves,
            repeats=5,
            grouped=False,
            remark="the refits have half the examples, and are as a rule worse than the model "
            "trained on all",
        ),
        Method(
            name="leave_one_out",
            title="Leave-one-out",
            plan=lambda examples, _, __: each_left_out(examples.n),
            uses=(),
            grouped=False,
            remark="each example is judged once: how much refits disagree cannot be seen",
        ),
        Method(
            name="time_ordered",
            title="Forward in time",
            plan=lambda examples, design, _: forward_blocks(examples.n, design.folds),
            uses=("folds",),
            grouped=False,
            remark="each block is judged by a model of the blocks before it; errors that come in "
            "spells make the interval too short",
        ),
        Method(
            name="bootstrap",
            title="Bootstrap",
            plan=_draws,
            uses=("repeats",),
            repeats=200,
            grouped=False,
            remark="the refits have 63 % of the examples; only the error rate is corrected for it",
        ),
        Method(
            name="stratified_bootstrap",
            title="Bootstrap within the classes",
            plan=_draws_by_class,
            uses=("repeats",),
            repeats=200,
            grouped=False,
            remark="the refits have 63 % of the examples, and each as many of every class as there "
            "are; only the error rate is corrected for it",
        ),
        Method(
            name="jackknife",
            title="Jackknife",
            plan=lambda examples, _, __: DeleteOne(examples.n),
            uses=(),
            grouped=False,
            remark="the training error with its bias taken away, for the error rate; all else is "
            "leave-one-out",
        ),
        Method(
            name="nested_cross_validation",
            title="Nested cross-validation",
            plan=_nested,
            uses=("folds", "repeats", "stratified"),
            repeats=10,
            grouped=False,
            remark="error rate and accuracy are corrected for the fold that refits lack, and have "
            "the interval of Bates, Hastie and Tibshirani; it is steady only with many repeats",
        ),
        Method(
            name="conservative_z",
            title="Subsampling with the conservative Z",
            plan=_subsamples_of_halves,
            uses=("repeats", "stratified"),
            repeats=15,
            grouped=False,
            remark="the variance is that of half the examples, and so too large as a rule",
        ),
        Method(
            name="training_error",
            title="Training error",
            plan=lambda examples, _, __: TrainingSet(examples.n),
            uses=(),
            remark="the examples it was trained on: as a rule far too good, for comparison only",
        ),
        Method(
            name="given_folds",
            title="Given divisions, each example tested at most once",
            plan=None,
            uses=("folds",),
            remark="speaks of the models of these divisions; how much refits disagree about one "
            "example cannot be seen",
        ),
        Method(
            name="given_divisions",
            title="Given divisions",
            plan=None,
            uses=("folds",),
            remark="they overlap, and differ in size: no interval is valid for them",
        ),
    )
}
NAMED = tuple(name for name, method in METHODS.items() if method.plan is not None)


def design_of(method: Method, given: Mapping[str, Any]) -> Design:
    """Check what was said about the division; refuse what the method does not use."""
    may = {*method.uses, *(("allow_small_classes",) if "stratified" in method.uses else ())}
    for name, value in given.items():
        if name not in may:
            used = ", ".join(method.uses) or "none"
            raise InputError(
                f"`{name}` must be left out for {method.name}, which does not use it; "
                f"got {shown(value)}. Its settings: {used}."
            )
        if name in {"stratified", "allow_small_classes"} and not isinstance(value, bool):
            raise InputError(f"`{name}` must be True or False; got {shown(value)}.")
    return Design(**{"repeats": method.repeats, **given})


def find_method(name: str, examples: Examples) -> Method:
    """Look a method up, and refuse one that cannot keep groups together."""
    method = METHODS[check_choice(name, NAMED, "method")]
    if examples.groups is not None and not method.grouped:
        able = ", ".join(one for one in NAMED if METHODS[one].grouped)
        raise InputError(
            f"`method` must keep groups together, and {name} does not; take one of {able}."
        )
    return method


def make_plan(method: Method, examples: Examples, design: Design, seed: int) -> Plan:
    """Make the plan of a method that divides the examples itself."""
    if method.plan is None:
        raise InputError(f"`method` {method.name} must be given its divisions (`cv`).")
    return method.plan(examples, design, np.random.default_rng([seed, 0]))
