"""Trained categories → estimates beside what was held out, and the facts of each category."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerisk.aliases import Flags
from truerisk.estimation.corpus.category_estimates import (
    Calls,
    Method,
    evaluation_of,
    listed,
    ranked_evaluation_of,
)
from truerisk.estimation.corpus.category_machines import Machines
from truerisk.results import Evaluation

NO_DOCUMENT = "no training document carries it"
EVERY_DOCUMENT = "every training document carries it"


@dataclass(frozen=True, kw_only=True)
class Category:
    """The facts of one category: how many documents carry it, and how its machine came out.

    `reason` says why it has no machine; `stable`, whether a support vector pins the bias down.
    """

    name: str
    documents: int
    test_documents: int | None
    stable: bool
    gap: float
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The categories, which documents carry them (a row a category), and their machines."""

    names: tuple[str, ...]
    truth: Flags
    test_truth: Flags | None
    machines: Machines

    @cached_property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a category has no machine, None where it has one."""
        return tuple(
            NO_DOCUMENT if not row.any() else EVERY_DOCUMENT if row.all() else None
            for row in self.truth
        )

    @cached_property
    def averaged(self) -> Flags:
        """The categories that averages are over: the same ones on both sides."""
        chosen = np.array([reason is None for reason in self.reasons])
        if self.test_truth is not None:
            chosen &= self.test_truth.any(axis=1)
        return chosen

    def estimates(self, wrong: Flags, method: str, level: float) -> Evaluation:
        """Estimate from the training documents, of which these count as wrong."""
        target = Method(name=method, target="the learner at this sample size", level=level)
        return evaluation_of(self._calls(self.truth, wrong), target)

    def held_out(self, level: float) -> Evaluation | None:
        """Estimate from the documents held out, if there are any."""
        if self.test_truth is None:
            return None
        decision = self.machines.decision
        calls = self._calls(self.test_truth, (decision > 0) != self.test_truth)
        return ranked_evaluation_of(
            calls, decision, Method(name="holdout", target="this model", level=level)
        )

    def _calls(self, truth: Flags, wrong: Flags) -> Calls:
        return Calls(
            names=self.names,
            truth=truth,
            wrong=wrong,
            reasons=self.reasons,
            averaged=self.averaged,
        )

    def categories(self) -> tuple[Category, ...]:
        """Give the facts of each category."""
        documents = self.truth.sum(axis=1).tolist()
        tested = (
            [None] * len(documents)
            if self.test_truth is None
            else self.test_truth.sum(axis=1).tolist()
        )
        return tuple(
            Category(
                name=name,
                documents=documents[at],
                test_documents=tested[at],
                stable=bool(self.machines.stable[at]),
                gap=float(self.machines.gap[at]),
                reason=self.reasons[at],
            )
            for at, name in enumerate(self.names)
        )

    def notes(self) -> Iterator[str]:
        """Say which categories are in no average, and why."""
        for reason in (NO_DOCUMENT, EVERY_DOCUMENT):
            names = self._named([found == reason for found in self.reasons])
            if names:
                yield f"Not estimated, as {reason}: {listed(names)}."
        untested = self._named(
            [
                reason is None and not taken
                for reason, taken in zip(self.reasons, self.averaged, strict=True)
            ]
        )
        if untested:
            yield (
                f"In no average, as no document held out carries it: {listed(untested)}. So both "
                "sides are averaged over the same categories."
            )

    def _named(self, chosen: list[bool]) -> list[str]:
        return [name for name, taken in zip(self.names, chosen, strict=True) if taken]
