"""Which examples each refit trains on, and which it judges: one small object a kind of plan.

A plan numbers its refits 0, 1, …; it is picklable and holds at most a few numbers an example, so
that it can be sent to workers once and asked there for the examples of a refit.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
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
        """Give the examples that refit `at` trains on, and those it judges."""

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to."""

    def auxiliary(self, at: int) -> bool:
        """Tell the refits that serve an interval only."""

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""


class NoneAuxiliary:
    """A plan in which the judgements of every refit count."""

    def auxiliary(self, at: int) -> bool:  # noqa: ARG002
        """Tell the refits that serve an interval only: there are none."""
        return False


class Once(NoneAuxiliary):
    """A plan in which no example is judged twice."""

    @property
    def repetitions(self) -> int:
        """How often an example is judged, at most."""
        return 1

    def repetition(self, at: int) -> int:  # noqa: ARG002
        """Give the repetition that refit `at` belongs to: there is one."""
        return 0


class EachItsOwn(NoneAuxiliary):
    """A plan in which every refit is a repetition of its own."""

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def repetitions(self) -> int:
        """How often an example is judged, at most."""
        return len(self)

    def repetition(self, at: int) -> int:
        """Give the repetition that refit `at` belongs to: each its own."""
        return at


@dataclass(frozen=True)
class Parts(NoneAuxiliary):
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
    """Each part is judged by a refit that trains on all other parts; several times over.

    Examples
    --------
    >>> plan = Folds(np.array([[0, 1, 0, 1]]))
    >>> plan.train_and_test(0)
    (array([1, 3]), array([0, 2]))
    >>> len(plan), plan.name(1)
    (2, 'fold 2')
    """

    def __len__(self) -> int:
        return self.folds * self.repetitions

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it judges."""
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
    """Each fold is left out, and each pair of folds: what nested cross-validation needs.

    Examples
    --------
    >>> plan = NestedFolds(np.array([[0, 1, 2, 0, 1, 2]]))
    >>> len(plan), plan.train_and_test(3), plan.auxiliary(3)
    (6, (array([2, 5]), array([0, 1, 3, 4])), True)
    """

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
        """Give the examples that refit `at` trains on, and those it judges."""
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
class HeldOut(EachItsOwn):
    """Each refit judges the examples marked in its row, and trains on the others."""

    judged: NDArray[np.bool_]  # (refits, n)

    def __len__(self) -> int:
        return len(self.judged)

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it judges."""
        return np.flatnonzero(~self.judged[at]), np.flatnonzero(self.judged[at])

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return "the hold-out" if len(self) == 1 else f"division {at + 1}"


@dataclass(frozen=True)
class Forward(Once):
    """Blocks in the order of time: each is judged by a refit that trains on all before it."""

    block: NDArray[Any]  # (n,): 0 is only trained on

    def __len__(self) -> int:
        return int(self.block.max())

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it judges."""
        return np.flatnonzero(self.block <= at), np.flatnonzero(self.block == at + 1)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return f"block {at + 1} after the first"


@dataclass(frozen=True)
class Draws(EachItsOwn):
    """Each refit trains on n examples drawn with replacement, and judges all of them."""

    n: int
    refits: int
    seed: int

    def __len__(self) -> int:
        return self.refits

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it judges."""
        drawn = np.random.default_rng([self.seed, at]).integers(self.n, size=self.n)
        return np.sort(drawn), np.arange(self.n)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return f"bootstrap sample {at + 1}"


@dataclass(frozen=True)
class DeleteOne(Once):
    """Each refit trains on all examples but one, and judges all of them."""

    n: int

    def __len__(self) -> int:
        return self.n

    def train_and_test(self, at: int) -> tuple[Indices, Indices]:
        """Give the examples that refit `at` trains on, and those it judges."""
        return np.delete(np.arange(self.n), at), np.arange(self.n)

    def name(self, at: int) -> str:
        """Name refit `at` as people count: from 1."""
        return f"the refit without example {at + 1}"


@dataclass(frozen=True)
class TrainingSet(Once):
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
