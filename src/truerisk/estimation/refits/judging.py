"""The refits of a plan, run and gathered: votes, score sheets, values of each refit, costs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import RefitError
from truerisk.estimation.refits.bootstrap_errors import BootstrapTally
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.jackknife import JackknifeTally
from truerisk.estimation.refits.plans import DeleteOne, Draws, Folds, NestedFolds, Plan, TrainingSet
from truerisk.evaluation.judged_scores import Sheet
from truerisk.intervals.nested_cross_validation import nested_cells
from truerisk.tallies.votes import NOT_JUDGED, Votes

SHOWN_FAILURES = 3


@dataclass(frozen=True)
class Costs:
    """What the refits took: seconds to induce, and to classify a thousand examples."""

    to_induce: tuple[float, ...]
    to_classify: tuple[float, ...]

    @property
    def seconds(self) -> tuple[float, float]:
        """The mean seconds to induce a model, and to classify a thousand examples."""
        refits = len(self.to_induce)
        return math.fsum(self.to_induce) / refits, math.fsum(self.to_classify) / refits


@dataclass
class Judging:
    """Grows refit by refit.

    `tables[r]` is the confusion table of refit r (none where refits judge a single example),
    `called[r, i]` what example i was called in repetition r, `sheets` the scores, `nested` the
    losses that nested cross-validation needs.  `correction` adds up what refits say of all
    examples, their own included: for the bootstrap and the jackknife of the error rate.
    """

    examples: Examples
    plan: Plan
    single: bool = field(init=False)
    votes: Votes = field(init=False)
    tables: NDArray[np.int64] = field(init=False)
    called: NDArray[np.int32] | None = field(init=False, default=None)
    correction: BootstrapTally | JackknifeTally | None = field(init=False, default=None)
    nested: NDArray[np.bool_] | None = field(init=False, default=None)
    scores: dict[int, list[tuple[NDArray[np.intp], NDArray[np.float64]]]] = field(
        default_factory=dict
    )
    complements: dict[int, list[NDArray[np.float64]]] = field(default_factory=dict)
    are_probabilities: bool = True
    scored: bool = True
    seconds: list[tuple[float, float]] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    warned: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        examples, plan = self.examples, self.plan
        self.votes = Votes(examples.codes, examples.labels, examples.groups, plan.repetitions)
        k = len(examples.labels)
        self.single = isinstance(plan, DeleteOne) or (
            isinstance(plan, Folds) and plan.folds == examples.n
        )
        self.tables = np.zeros((0 if self.single else len(plan), k, k), dtype=np.int64)
        if isinstance(plan, Draws):
            self.correction = BootstrapTally(examples.codes, k)
        if isinstance(plan, DeleteOne):
            self.correction = JackknifeTally(examples.codes, k)
        if isinstance(plan, NestedFolds):
            self.nested = np.zeros((plan.repetitions, plan.folds, examples.n), dtype=bool)
        if not isinstance(plan, Draws):
            self.called = np.full((plan.repetitions, examples.n), NOT_JUDGED, dtype=np.int32)

    def gather(self, outcomes: Iterable[dict[str, NDArray[Any]]]) -> "Judging":
        """Take in what each refit found, in order; return the judging."""
        for at, found in enumerate(outcomes):
            self._add(at, found)
        return self

    def _add(self, at: int, found: dict[str, NDArray[Any]]) -> None:
        if "warned" in found:
            self.warned.setdefault(str(found["warned"]), []).append(at)
        if "failed" in found:
            self.failures[at] = str(found["failed"])
            return
        train, test = self.plan.train_and_test(at)
        predicted, repetition = found["predicted"], self.plan.repetition(at)
        induce, classify = (float(one) for one in found["seconds"])
        per_thousand = 1000 * classify / max(1, len(test))
        if self.correction is not None:
            drawn = np.bincount(train, minlength=self.examples.n)
            if isinstance(self.correction, JackknifeTally):
                self.correction.add(at, predicted)
            else:
                self.correction.add(drawn, predicted)
            test, predicted = test[drawn == 0], predicted[drawn == 0]
        self._count(at, test, predicted)
        if self.plan.auxiliary(at):
            return
        self.votes.add(test, predicted, repetition)
        self.seconds.append((induce, per_thousand))
        if self.called is not None:
            self.called[repetition, test] = predicted
        if self.correction is None and "score" in found:
            self.scores.setdefault(repetition, []).append((test, found["score"]))
            if "complement" in found:
                self.complements.setdefault(repetition, []).append(found["complement"])
            self.are_probabilities &= bool(found["probabilities"])
        else:
            self.scored = False

    def _count(self, at: int, test: NDArray[Any], predicted: NDArray[Any]) -> None:
        truth = self.examples.codes[test]
        if not self.single:
            np.add.at(self.tables[at], (truth, predicted), 1)
        if self.nested is not None and isinstance(self.plan, NestedFolds):
            repetition, run = self.plan.left_out(at)
            rows, examples = nested_cells(run, self.plan.parts[repetition])
            self.nested[repetition, rows, examples] = truth != predicted

    def refuse_failures(self, *, allowed: bool) -> None:
        """Name the refits that failed; go on only if that is allowed and some are left."""
        if not self.failures or (allowed and len(self.failures) < len(self.plan)):
            return
        named = "; ".join(
            f"{self.plan.name(at)}: {message}"
            for at, message in list(self.failures.items())[:SHOWN_FAILURES]
        )
        remedy = (
            ""
            if allowed
            else " Mend the model, or leave them out (allow_failed=True, --allow-failed)."
        )
        raise RefitError(
            f"`model` must be trained and judge in every refit; it failed in {len(self.failures)} "
            f"of {len(self.plan)}: {named}.{remedy}"
        )

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The scores of each repetition; none where a refit gave no scores."""
        if not self.scored:
            return ()
        return tuple(
            Sheet(
                np.concatenate([test for test, _ in parts]),
                np.concatenate([score for _, score in parts]),
                np.repeat(np.arange(len(parts)), [len(test) for test, _ in parts]),
                self._complement(repetition),
            )
            for repetition, parts in self.scores.items()
        )

    def _complement(self, repetition: int) -> NDArray[np.float64] | None:
        """Give the probabilities of the first of two labels, if every refit gave them."""
        parts = self.complements.get(repetition, [])
        if len(parts) < len(self.scores[repetition]):
            return None
        return np.concatenate(parts).astype(np.float64)

    @property
    def costs(self) -> Costs:
        """What the refits took."""
        induce, classify = zip(*self.seconds, strict=True)
        return Costs(induce, classify)

    def notes(self) -> list[str]:
        """Say which refits failed, which warned, and why there are no measures of scores."""
        found = [
            f"{self.plan.name(at)} failed and is left out: {message}"
            for at, message in self.failures.items()
        ]
        found += [
            f"{len(which)} of {len(self.plan)} refits warned, the first of them "
            f"{self.plan.name(which[0])}: {message}"
            for message, which in self.warned.items()
        ]
        if self.correction is not None:
            found.append("The scores of these refits are not kept: no measures of scores.")
        elif self.scores and not self.scored:
            found.append(
                "Some refits gave no scores, or lacked a class: there are no measures of scores."
            )
        return found


def majority_votes(examples: Examples, plan: Plan) -> Votes:
    """Let every refit answer with the commonest class of its training examples.

    Examples
    --------
    >>> from truerisk.estimation.refits.divisions import each_left_out
    >>> examples = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
    >>> majority_votes(examples, each_left_out(4)).counts.tolist()
    [[1, 0], [1, 0], [1, 0], [1, 0]]
    """
    votes = Votes(examples.codes, examples.labels, examples.groups, plan.repetitions)
    k = len(examples.labels)
    overall = np.bincount(examples.codes, minlength=k)
    seen = isinstance(plan, TrainingSet)
    for at in range(len(plan)):
        if plan.auxiliary(at):
            continue
        train, test = plan.train_and_test(at)
        # To leave one out of equally many tips the scales against it: no constant answers so.
        counts = (
            overall
            if len(train) == examples.n - 1
            else np.bincount(examples.codes[train], minlength=k)
        )
        commonest = int(counts.argmax())
        if not seen:
            test = test[np.bincount(train, minlength=examples.n)[test] == 0]
        votes.add(test, np.full(len(test), commonest, dtype=np.int32), plan.repetition(at))
    return votes
