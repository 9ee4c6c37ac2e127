"""Which examples each refit trains on, and which it predicts: plans, and the methods by name.

A plan numbers its refits 0, 1, …; it is picklable and holds a few numbers per example at most: it
is sent to workers once, and tells them the examples of a refit.  A method makes a plan of the
examples and of how they are to be divided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Flags, Indices
from truerisk.checks import check_choice, check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.splits import five_by_two, repeated_k_fold
from truerisk.intervals.cross_validation import ConservativeZRuns, nested_runs
from truerisk.intervals.variance_components import METHOD

LARGEST_SEED = 2**32 - 1


class Plan(Protocol):
    """The refits of a resampling method.

    `repetition(at)` tells refits apart that judge the same examples: within one repetition no
    example is judged twice.  `auxiliary(at)` tells the refits that serve an interval only, and
    whose judgements are not counted.  A plan that says nothing else has one repetition, in which
    every refit counts.
    """

    def __len__(self) -> int: ...

    @property
    def repetitions(self) -> int:
        """How often the examples are judged, at most."""
        return 1

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""

    def tested(self, at: int) -> Indices:
        """Give the examples that refit `at` predicts."""
        return self.train_and_test(at)[1]

    def repetition(self, at: int) -> int:  # noqa: ARG002
        """Give the repetition that refit `at` belongs to."""
        return 0

    def auxiliary(self, at: int) -> bool:  # noqa: ARG002
        """Tell the refits that serve an interval only."""
        return False

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""


@dataclass(frozen=True)
class Parts(Plan):
    """The part of each example, in each repetition; each refit leaves out some of the parts."""

    parts: NDArray[Any]  # (repetitions, n)

    @property
    def folds(self) -> int:
        """How many parts there are."""
        return int(self.parts.max()) + 1

    @property
    def repetitions(self) -> int:
        """How often the examples are judged."""
        return len(self.parts)

    @cached_property
    def runs(self) -> list[tuple[int, ...]]:
        """The parts that the refits of one repetition leave out."""
        return [(part,) for part in range(self.folds)]

    def left_out(self, at: int) -> tuple[int, tuple[int, ...]]:
        """Give the repetition of refit `at`, and the parts it leaves out."""
        repetition, run = divmod(at, len(self.runs))
        return repetition, self.runs[run]

    def __len__(self) -> int:
        return self.repetitions * len(self.runs)

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        judged = self._judged(at)
        return np.flatnonzero(~judged), np.flatnonzero(judged)

    def tested(self, at: int) -> Indices:
        """Give the examples that refit `at` predicts."""
        return np.flatnonzero(self._judged(at))

    def _judged(self, at: int) -> Flags:
        repetition, run = self.left_out(at)
        parts = self.parts[repetition]
        judged = np.asarray(parts == run[0])
        for part in run[1:]:
            judged |= parts == part
        return judged

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""
        return self.left_out(at)[0]


@dataclass(frozen=True)
class Folds(Parts):
    """Each part is judged by a refit that trains on all other parts; several times over."""

    @property
    def refits(self) -> Indices:
        """The refit that predicts each example, in each repetition."""
        return np.asarray(np.arange(self.repetitions)[:, None] * self.folds + self.parts)

    def test_train_ratio(self) -> float:
        """How many examples are judged for each that is trained on."""
        return 1 / (self.folds - 1)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        repetition, (part,) = self.left_out(at)
        again = f" of repetition {repetition + 1}" if self.repetitions > 1 else ""
        return f"fold {part + 1}{again}"


@dataclass(frozen=True)
class NestedFolds(Parts):
    """Each fold is left out, and each pair of folds: what nested cross-validation needs."""

    @cached_property
    def runs(self) -> list[tuple[int, ...]]:
        """The folds that the refits of one repetition leave out."""
        return nested_runs(self.folds)

    def auxiliary(self, at: int) -> bool:
        """Tell the refits that leave out two folds."""
        return len(self.left_out(at)[1]) == 2

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        repetition, run = self.left_out(at)
        return f"folds {' and '.join(str(k + 1) for k in run)} of repetition {repetition + 1}"


@dataclass(frozen=True)
class HeldOut(Plan):
    """Each refit judges the examples marked in its row of `judged`.

    It trains on those marked in its row of `trained`; on all others where that is None.
    """

    judged: NDArray[np.bool_]  # (refits, n)
    trained: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.judged)

    @cached_property
    def _disjoint(self) -> bool:
        """Whether no example is judged twice: the refits are then one repetition."""
        return bool(np.count_nonzero(self.judged, axis=0).max() <= 1)

    @property
    def repetitions(self) -> int:
        """How often an example is predicted, at most."""
        return 1 if self._disjoint else len(self)

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""
        return 0 if self._disjoint else at

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        judged = self.judged[at]
        trained = ~judged if self.trained is None else self.trained[at]
        return np.flatnonzero(trained), np.flatnonzero(judged)

    def test_train_ratio(self) -> float:
        """How many examples are judged for each that is trained on."""
        judged = int(self.judged.sum())
        return judged / (self.judged.size - judged if self.trained is None else self.trained.sum())

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return "the hold-out" if len(self) == 1 else f"division {at + 1}"


@dataclass(frozen=True)
class Draws(Plan):
    """Each refit trains on n examples drawn with replacement, and judges all of them.

    With `strata`, the class of each example, a refit has as many of each class as there are.
    """

    n: int
    refits: int
    seed: int
    strata: Indices | None = None

    def __len__(self) -> int:
        return self.refits

    @property
    def repetitions(self) -> int:
        """How often an example is predicted, at most."""
        return self.refits

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to: its own."""
        return at

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        rng = np.random.default_rng([self.seed, at])
        if self.strata is None:
            drawn = rng.integers(self.n, size=self.n)
        else:
            by_class = np.argsort(self.strata, kind="stable")
            sizes = np.bincount(self.strata)
            of_class = np.sort(self.strata)
            drawn = by_class[(np.cumsum(sizes) - sizes)[of_class] + rng.integers(sizes[of_class])]
        return np.sort(drawn), np.arange(self.n)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return f"bootstrap sample {at + 1}"


@dataclass(frozen=True)
class DeleteOne(Plan):
    """Each refit trains on all examples but one, and judges all of them."""

    n: int

    def __len__(self) -> int:
        return self.n

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        return np.delete(np.arange(self.n), at), np.arange(self.n)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return f"the refit without example {at + 1}"


@dataclass(frozen=True)
class TrainingSet(Plan):
    """One model, trained on all examples and judging the same; or trained on some of them."""

    n: int
    train: Indices | None = None

    def __len__(self) -> int:
        return 1

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:  # noqa: ARG002
        """Give what is trained on, and all examples."""
        everyone = np.arange(self.n)
        return everyone if self.train is None else self.train, everyone

    def name(self, at: int) -> str:  # noqa: ARG002
        """Name the only fit; some are trained on to see whether that has an effect."""
        how = "on all examples" if self.train is None else "with exchanged labels"
        return f"the training {how}"


def repeated_folds(
    y: NDArray[Any],
    folds: int,
    repeats: int,
    rng: np.random.Generator,
    *,
    stratified: bool = True,
    allow_small_classes: bool = False,
    groups: NDArray[np.intp] | None = None,
) -> Folds:
    """Divide the examples into folds, several times over; groups stay together."""
    check_whole_number(repeats, "repeats", low=1, high=10_000)
    if groups is not None:
        classes = y if stratified else np.zeros(len(y), dtype=np.intp)
        each = [_grouped_parts(classes, groups, folds, rng) for _ in range(repeats)]
        return Folds(np.stack(each).astype(np.int32))
    labels: Any = y if stratified else len(y)
    options = {"stratified": stratified, "allow_small_classes": allow_small_classes}
    parts = repeated_k_fold(labels, folds, repeats, random_state=rng, **options)
    return Folds(parts.astype(np.int32))


def _grouped_parts(
    y: NDArray[Any], groups: NDArray[np.intp], folds: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Put whole groups into folds: the largest first, each where its classes are most wanted."""
    check_whole_number(folds, "folds", low=2)
    count = int(groups.max()) + 1
    if folds > count:
        raise InputError(
            f"`folds` must not exceed the {count} groups; got {shown(folds)}. Take fewer."
        )
    table = np.zeros((count, int(y.max()) + 1))
    np.add.at(table, (groups, y), 1.0)
    weight = 1 / table.sum(axis=0)
    held = np.zeros((folds, table.shape[1]))
    part = np.empty(count, dtype=np.int64)
    order = rng.permutation(count)
    order = order[np.argsort(-table[order].sum(axis=1), kind="stable")]
    for at, group in enumerate(order):
        empty = np.flatnonzero(held.sum(axis=1) == 0)
        if len(empty) >= count - at:  # the groups that are left must fill the empty folds
            part[group] = empty[0]
        else:
            crowding = ((held + table[group]) ** 2 - held**2) @ weight
            part[group] = int(np.argmin(crowding + 1e-9 * rng.random(folds)))
        held[part[group]] += table[group]
    return np.asarray(part[groups])


def each_left_out(n: int) -> Folds:
    """Leave each example out once."""
    return Folds(np.arange(n, dtype=np.int32)[None])


def random_divisions(
    y: NDArray[Any],
    share: float,
    divisions: int,
    rng: np.random.Generator,
    *,
    stratified: bool = True,
    groups: NDArray[np.intp] | None = None,
) -> HeldOut:
    """Hold out a share of the examples (or groups) at random; stratified, of every class."""
    check_whole_number(divisions, "repeats", low=1, high=1_000_000)
    share = check_number(share, "test_size", low=0.0, high=1.0)
    judged = np.zeros((divisions, len(y)), dtype=bool)
    units = np.arange(len(y)) if groups is None else groups
    count = int(units.max()) + 1
    tested = round(share * count)
    if not 0 < tested < count:
        raise InputError(
            f"`test_size` must leave something on both sides of {count} "
            f"{'examples' if groups is None else 'groups'}; got {share:g}."
        )
    for row in judged:
        order = rng.permutation(count)
        if stratified and groups is None:
            # Dealt class after class, every k-th example of the line is held out.
            order = order[np.argsort(y[order], kind="stable")]
            start = rng.random() * count / tested
            taken = np.floor((np.arange(count) + 1 + start) * tested / count) > np.floor(
                (np.arange(count) + start) * tested / count
            )
            row[order[taken]] = True
        else:
            row[:] = np.isin(units, order[:tested])
    return HeldOut(judged)


def forward_blocks(n: int, folds: int) -> HeldOut:
    """Cut the examples, in the order given, into blocks; each is judged by those before it."""
    check_whole_number(folds, "folds", low=1)
    if folds + 1 > n:
        raise InputError(f"`folds` must be less than the {n} examples; got {folds}.")
    block, refit = np.arange(n) * (folds + 1) // n, np.arange(folds)[:, np.newaxis]
    return HeldOut(block == refit + 1, block <= refit)


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


def _folds(examples: Examples, design: Design, rng: np.random.Generator) -> Folds:
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
    return NestedFolds(_folds(examples, design, rng).parts)


def _halves(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    """Divide the examples into two halves, five times over."""
    parts = five_by_two(
        examples.codes if design.stratified else examples.n,
        stratified=design.stratified,
        allow_small_classes=design.allow_small_classes,
        random_state=rng,
    )
    return Folds(parts.astype(np.int32))


def _subsamples_of_halves(examples: Examples, design: Design, rng: np.random.Generator) -> Plan:
    # A tenth is held out, as the source does; halves must leave something to train on.
    return ConservativeZRuns(
        n=examples.n,
        test=max(1, examples.n // 10),
        seed=int(rng.integers(LARGEST_SEED)),
        subsamples=design.repeats,
        strata=examples.codes.astype(np.intp) if design.stratified else None,
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
