"""Which examples each refit trains on, and which it predicts: one small object per kind of plan.

A plan numbers its refits 0, 1, …; it is picklable and holds a few numbers per example at most: it
is sent to workers once, and tells them the examples of a refit.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.checks import check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.refits.splits import five_by_two, k_fold
from truerisk.intervals.cross_validation import nested_runs


class Plan(Protocol):
    """The refits of a resampling method.

    `repetition(at)` tells refits apart that judge the same examples: within one repetition no
    example is judged twice.  `auxiliary(at)` tells the refits that serve an interval only, and
    whose judgements are not counted.
    """

    def __len__(self) -> int: ...

    @property
    def repetitions(self) -> int:
        """How often the examples are judged, at most."""

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""

    def auxiliary(self, at: int) -> bool:
        """Tell the refits that serve an interval only."""

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""


class PlanOfVotes:
    """A plan in which every refit counts, all in one repetition or each in its own."""

    each_its_own: ClassVar[bool] = False

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def repetitions(self) -> int:
        """How often an example is predicted, at most."""
        return len(self) if self.each_its_own else 1

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""
        return at if self.each_its_own else 0

    def auxiliary(self, at: int) -> bool:  # noqa: ARG002
        """Tell the refits that serve an interval only: there are none."""
        return False


@dataclass(frozen=True)
class Parts(PlanOfVotes):
    """The part of each example, in each repetition."""

    parts: NDArray[Any]  # (repetitions, n)

    @property
    def folds(self) -> int:
        """How many parts there are."""
        return int(self.parts.max()) + 1

    @property
    def repetitions(self) -> int:
        """How often the examples are judged."""
        return len(self.parts)


@dataclass(frozen=True)
class Folds(Parts):
    """Each part is judged by a refit that trains on all other parts; several times over."""

    def __len__(self) -> int:
        return self.folds * self.repetitions

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        repetition, part = divmod(at, self.folds)
        judged = self.parts[repetition] == part
        return np.flatnonzero(~judged), np.flatnonzero(judged)

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""
        return at // self.folds

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        repetition, part = divmod(at, self.folds)
        again = f" of repetition {repetition + 1}" if self.repetitions > 1 else ""
        return f"fold {part + 1}{again}"


@dataclass(frozen=True)
class NestedFolds(Parts):
    """Each fold is left out, and each pair of folds: what nested cross-validation needs."""

    def __len__(self) -> int:
        return self.repetitions * len(self.runs)

    @property
    def runs(self) -> list[tuple[int, ...]]:
        """The folds that the refits of one repetition leave out."""
        return nested_runs(self.folds)

    def left_out(self, at: int) -> tuple[int, tuple[int, ...]]:
        """Give the repetition of refit `at`, and the folds it leaves out."""
        repetition, run = divmod(at, len(self.runs))
        return repetition, self.runs[run]

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it predicts."""
        repetition, run = self.left_out(at)
        judged = np.isin(self.parts[repetition], run)
        return np.flatnonzero(~judged), np.flatnonzero(judged)

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""
        return self.left_out(at)[0]

    def auxiliary(self, at: int) -> bool:
        """Tell the refits that leave out two folds."""
        return len(self.left_out(at)[1]) == 2

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        repetition, run = self.left_out(at)
        return f"folds {' and '.join(str(k + 1) for k in run)} of repetition {repetition + 1}"


@dataclass(frozen=True)
class HeldOut(PlanOfVotes):
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
class Draws(PlanOfVotes):
    """Each refit trains on n examples drawn with replacement, and judges all of them.

    With `strata`, the class of each example, a refit has as many of each class as there are.
    """

    each_its_own: ClassVar[bool] = True
    n: int
    refits: int
    seed: int
    strata: Indices | None = None

    def __len__(self) -> int:
        return self.refits

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
class DeleteOne(PlanOfVotes):
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
class TrainingSet(PlanOfVotes):
    """One model, trained on all examples and judging the same."""

    n: int

    def __len__(self) -> int:
        return 1

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:  # noqa: ARG002
        """Give all examples, twice."""
        return np.arange(self.n), np.arange(self.n)

    def name(self, at: int) -> str:  # noqa: ARG002
        """Name the only fit."""
        return "the training on all examples"


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
        parts = [
            _grouped_parts(y, groups, folds, rng, stratified=stratified) for _ in range(repeats)
        ]
    else:
        labels: Any = y if stratified else len(y)
        options = {"stratified": stratified, "allow_small_classes": allow_small_classes}
        parts = [k_fold(labels, folds, random_state=rng, **options) for _ in range(repeats)]
    return Folds(np.stack(parts).astype(np.int32))


def halves(
    y: NDArray[Any], rng: np.random.Generator, *, stratified: bool, allow_small_classes: bool
) -> Folds:
    """Divide the examples into two halves, five times over."""
    labels: Any = y if stratified else len(y)
    parts = five_by_two(
        labels, stratified=stratified, allow_small_classes=allow_small_classes, random_state=rng
    )
    return Folds(parts.astype(np.int32))


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


def _grouped_parts(
    y: NDArray[Any],
    groups: NDArray[np.intp],
    folds: int,
    rng: np.random.Generator,
    *,
    stratified: bool,
) -> NDArray[np.int64]:
    """Put whole groups into folds: the largest first, each where its classes are most wanted."""
    check_whole_number(folds, "folds", low=2)
    count = int(groups.max()) + 1
    if folds > count:
        raise InputError(
            f"`folds` must not exceed the {count} groups; got {shown(folds)}. Take fewer."
        )
    classes = int(y.max()) + 1 if stratified else 1
    table = np.zeros((count, classes))
    np.add.at(table, (groups, y if stratified else np.zeros(len(y), dtype=np.intp)), 1.0)
    weight = 1 / table.sum(axis=0)
    held = np.zeros((folds, classes))
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
