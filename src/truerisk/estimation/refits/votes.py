"""The refits of a plan, collected: votes, score sheets, values of each refit; and their estimates.

outcomes of refits  →  CollectedVotes  (grows)  →  VoteEstimates  →  Estimate
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.checks import SHOWN_CHARACTERS
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.corrected_errors import BootstrapTally, JackknifeTally
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import (
    DeleteOne,
    Draws,
    Folds,
    HeldOut,
    NestedFolds,
    Plan,
    TrainingSet,
)
from truerisk.evaluation.refit_scores import Sheet
from truerisk.evaluation.request import Request
from truerisk.execution.checkpoint import Checkpoint
from truerisk.execution.running import run_each
from truerisk.intervals.cross_validation import nested_cells
from truerisk.learners.refits import (
    MAX_CHARACTERS,
    checked_once,
    is_of_libraries,
    is_plain,
    refit,
)
from truerisk.learners.scoring import MAX_LEFT_OUT, Scorer, chosen_to_leave_out, value_of_scores
from truerisk.measures.averages import value_of_tables
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import base_and_average, find_measure, measures_that_need
from truerisk.results import Finding
from truerisk.tallies.losses import LOSSES
from truerisk.tallies.ranking import rank
from truerisk.tallies.votes import NOT_JUDGED, Votes

SHOWN_FAILURES = 3

# Examples, their scores, and the probabilities of the first of two labels if a refit gave them.
Scored = tuple[Indices, NDArray[np.float64], NDArray[np.float64] | None]


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


def collect_votes(
    model: Any,
    examples: Examples,
    plan: Plan,
    *,
    seed: int,
    scorers: Mapping[str, Scorer] | None = None,
    n_jobs: int | None = 1,
    checkpoint: Checkpoint | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    start: dict[str, Any] | None = None,
) -> "CollectedVotes":
    """Run every refit of the plan, SVMs of this library from one problem, and collect the votes.

    `start` is what `svm_start` gives, where somebody has it.
    """
    shared = refit_settings(model, examples, plan, seed) | {"scorers": scorers or {}}
    collected = CollectedVotes(examples, plan, scorers=tuple(scorers or ()))
    if collected.pseudo_values is not None:
        shared["left_out"] = collected.left_out
    if not scorers and not examples.metadata.fit:
        start = start or _svm_start(model, examples, plan)
        shared["checked_once"] = checked_once(model, examples.X)
    task = refit
    if start is not None:
        from truerisk.estimation.refits.svm_refits import svm_refit as task
    outcomes = run_each(
        task,
        {**shared, **(start or {})},
        range(len(plan)),
        n_jobs=n_jobs,
        checkpoint=checkpoint,
        progress=progress,
        begin_here=is_of_libraries(model),
    )
    with closing(outcomes):  # the workers end with it, however it ends
        collected.from_one_problem = start is not None
        return collected.gather(outcomes)


def _svm_start(
    model: Any, examples: Examples, plan: Plan, trained: Any = None
) -> dict[str, Any] | None:
    """Solve an SVM of this library once for all refits; whoever has another model loads none."""
    if not type(model).__module__.startswith("truerisk.svm."):
        return None
    from truerisk.estimation.refits.svm_refits import svm_start

    return svm_start(model, examples.X, examples.y, plan, trained)


def fold_votes(
    model: Any, examples: Examples, plan: Folds, *, seed: int, trained: Any
) -> Votes | None:
    """Collect the votes of an SVM's folds and nothing else; None if a fold cannot be trained.

    `trained` is the SVM on all examples, and its problem; see `svm_start`.
    """
    start = _svm_start(model, examples, plan, trained)
    predicted = None if start is None else start["svm_start"].predicted(plan, examples.values)
    if predicted is None:
        collected = collect_votes(model, examples, plan, seed=seed, start=start)
        return None if collected.failures else collected.votes
    votes = Votes(examples.codes, examples.labels, examples.groups, plan.repetitions)
    # One part after the other, as the refits predicted them; few bits are sorted by counting.
    order = np.argsort(plan.parts.astype(np.min_scalar_type(plan.folds)), axis=1, kind="stable")
    np.put_along_axis(votes.called, order, predicted, axis=1)
    votes.refits[:] = plan.refits
    votes.added = len(plan)
    return votes


def refit_settings(model: Any, examples: Examples, plan: Any, seed: int) -> dict[str, Any]:
    """Give what all refits share; see `truerisk.learners.refits.refit`."""
    return {
        "model": model,
        "X": examples.X,
        "y": examples.y,
        "values": examples.values,
        "plan": plan,
        "seed": seed,
        "metadata": examples.metadata,
    }


@dataclass
class CollectedVotes:
    """Grows refit by refit.

    `tables[r]` is the confusion table of refit r, `called[r, i]` what example i was called in
    repetition r, `sheets` the scores, `nested` the losses of nested cross-validation, `correction`
    what refits say of all examples, for the bootstrap and the jackknife; `scored_values[r]` what
    the scorers say of refit r.  `pseudo_values`, scorers × repetitions × n, are of the examples in
    `left_out`, NaN elsewhere, and infinite where a scorer has no value without an example.
    """

    examples: Examples
    plan: Plan
    from_one_problem: bool = False
    scorers: tuple[str, ...] = ()
    scored_values: list[NDArray[np.float64]] = field(default_factory=list)
    pseudo_values: NDArray[np.float64] | None = field(init=False, default=None)
    left_out: Indices = field(init=False)
    left_out_weights: NDArray[np.float64] = field(init=False)
    single: bool = field(init=False)
    votes: Votes = field(init=False)
    tables: NDArray[np.int64] = field(init=False)
    correction: BootstrapTally | JackknifeTally | None = field(init=False, default=None)
    nested: NDArray[np.bool_] | None = field(init=False, default=None)
    scores: dict[int, list[Scored]] = field(default_factory=dict)
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
            self.correction = JackknifeTally(examples.codes)
        if isinstance(plan, NestedFolds):
            self.nested = np.zeros((plan.repetitions, plan.folds, examples.n), dtype=bool)
        # Other divisions have no interval for scorers; groups are left out with all their examples.
        of_parts = isinstance(plan, Folds) or (isinstance(plan, HeldOut) and plan.trained is None)
        many = examples.groups is not None and examples.n > MAX_LEFT_OUT
        if self.scorers and of_parts and not self.single and not many:
            self.left_out, self.left_out_weights = chosen_to_leave_out(examples.codes)
            shape = (len(self.scorers), plan.repetitions, examples.n)
            self.pseudo_values = np.full(shape, np.nan)

    def gather(self, outcomes: Iterable[dict[str, NDArray[Any]]]) -> "CollectedVotes":
        """Take in what each refit found, in order; return the collected."""
        for at, outcome in enumerate(outcomes):
            self._add(at, outcome)
        return self

    def _add(self, at: int, outcome: dict[str, NDArray[Any]]) -> None:
        if "warned" in outcome:
            self.warned.setdefault(str(outcome["warned"][0]), []).append(at)
        if "failed" in outcome:
            self.failures[at] = str(outcome["failed"])
            return
        test = self.plan.tested(at)
        predicted, repetition = outcome["predicted"], self.plan.repetition(at)
        induce, classify = (float(one) for one in outcome["seconds"])
        per_thousand = 1000 * classify / max(1, len(test))
        if self.correction is not None:
            train, _ = self.plan.train_and_test(at)
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
        if self.scorers:
            self.scored_values.append(outcome["scorers"])
        if self.pseudo_values is not None:
            which = test[np.isin(test, self.left_out)]
            self.pseudo_values[:, repetition, which] = outcome["pseudo_values"]
        self.seconds.append((induce, per_thousand))
        if self.correction is None and "score" in outcome:
            scored = (test, outcome["score"], outcome.get("complement"))
            self.scores.setdefault(repetition, []).append(scored)
            self.are_probabilities &= bool(outcome["probabilities"])
        else:
            self.scored = False

    def _count(self, at: int, test: NDArray[Any], predicted: NDArray[Any]) -> None:
        truth = self.examples.codes[test]
        if not self.single:
            k = len(self.examples.labels)
            pairs = np.bincount(truth * k + predicted, minlength=k * k)
            self.tables[at] += pairs.reshape(k, k)
        if self.nested is not None and isinstance(self.plan, NestedFolds):
            repetition, run = self.plan.left_out(at)
            rows, examples = nested_cells(run, self.plan.parts[repetition])
            self.nested[repetition, rows, examples] = truth != predicted

    def pseudo_values_of(self, scorer: str) -> NDArray[np.float64] | None:
        """Give the pseudo-values, repetitions × examples left out; None where some are missing."""
        if self.pseudo_values is None:
            return None
        values = self.pseudo_values[self.scorers.index(scorer)][:, self.left_out]
        return None if np.isinf(values).any() else values

    def refuse_failures(self, *, allowed: bool) -> None:
        """Name the refits that failed; go on only if that is allowed and some are left."""
        if not self.failures or (allowed and len(self.failures) < len(self.plan)):
            return
        said: dict[str, str] = {}
        for at, message in list(self.failures.items())[:SHOWN_FAILURES]:
            short = " ".join(message.split())[:MAX_CHARACTERS]
            repeated = short in said.values() and len(short) > SHOWN_CHARACTERS
            said[self.plan.name(at)] = "the same" if repeated else short
        named = "; ".join(f"{name}: {message}" for name, message in said.items())
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
    def called(self) -> NDArray[np.int32] | None:
        """What each example was called in each repetition; None for the bootstrap."""
        return None if isinstance(self.plan, Draws) else self.votes.called

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The scores of each repetition; none where a refit gave no scores."""
        if not self.scored:
            return ()
        return tuple(_sheet(parts) for parts in self.scores.values())

    @property
    def scored_parts(self) -> Iterator[Scored]:
        """The scores of each refit."""
        return (part for parts in self.scores.values() for part in parts)

    @property
    def costs(self) -> Costs:
        """What the refits took."""
        induce, classify = zip(*self.seconds, strict=True)
        return Costs(induce, classify)

    def notes(self) -> Iterator[Finding]:
        """Say which refits failed, which warned, and why there are no measures of scores."""
        for at, message in self.failures.items():
            failed = f"{self.plan.name(at)} failed and is left out: {message}"
            yield Finding(failed, code="refit_failed")
        for message, which in self.warned.items():
            yield Finding(
                f"{len(which)} of {len(self.plan)} refits warned, the first of them "
                f"{self.plan.name(which[0])}: {message}",
                code="refits_warned",
            )
        if self.correction is not None:
            reason = "The scores of these refits are not kept: no measures of scores."
            yield Finding(reason, code="no_scores_kept")
        elif self.scores and not self.scored:
            reason = "Some refits gave no scores, or lacked a class: no measures of scores."
            yield Finding(reason, code="scores_missing")


def _sheet(parts: list[Scored]) -> Sheet:
    """Put the scores of one repetition together; a complement must be of every refit."""
    tests, scores, complements = zip(*parts, strict=True)
    whole = None
    if all(one is not None for one in complements):
        whole = np.concatenate(complements).astype(np.float64)
    refits = np.repeat(np.arange(len(parts)), list(map(len, tests)))
    return Sheet(np.concatenate(tests), np.concatenate(scores), refits, whole)


def no_effect_of_training(model: Any, collected: CollectedVotes, seed: int) -> Iterator[Finding]:
    """Notice a model whose predictions do not depend on what it is trained on.

    Where all refits agree, a copy is trained with the classes exchanged: if it predicts the same,
    training has no effect.  A constant prediction is not suspected, nor are classes that always
    learn.
    """
    if collected.from_one_problem or is_plain(model):
        return
    examples, called = collected.examples, collected.votes.called
    predicted_by_refits = collected.votes.judged
    predicted = called.max(axis=0)
    differs = (called != NOT_JUDGED) & (called != predicted)
    if differs.any() or np.ptp(predicted[predicted_by_refits]) == 0:
        return
    first = next(at for at in range(len(collected.plan)) if at not in collected.failures)
    exchanged = examples.values[(examples.codes + 1) % len(examples.values)]
    plan = TrainingSet(examples.n, collected.plan.train_and_test(first)[0])
    outcome = refit({**refit_settings(model, examples, plan, seed), "y": exchanged}, 0)
    if "failed" in outcome:
        return
    if (outcome["predicted"] == predicted)[predicted_by_refits].all():
        yield Finding(
            "Training has no effect on this model: trained on exchanged labels, it predicts the "
            "same. If it was made with these examples, the numbers say nothing of new ones.",
            code="training_has_no_effect",
        )


def majority_votes(examples: Examples, plan: Plan) -> Votes:
    """Let every refit answer with the commonest class of its training examples.

    To leave one out of equally many tips the scales against it: no constant answers so.
    """
    votes = Votes(examples.codes, examples.labels, examples.groups, plan.repetitions)
    k = len(examples.labels)
    overall = np.bincount(examples.codes, minlength=k)
    if isinstance(plan, Folds):
        refits = plan.refits
        tested = np.bincount((refits * k + examples.codes).ravel(), minlength=len(plan) * k)
        tested = tested.reshape(len(plan), k)
        tested[tested.sum(axis=1) == 1] = 0
        votes.called[:] = (overall - tested).argmax(axis=1)[refits]
        votes.refits[:] = refits
        return votes
    seen = isinstance(plan, TrainingSet)
    for at in range(len(plan)):
        if plan.auxiliary(at):
            continue
        train, test = plan.train_and_test(at)
        alone = len(train) == examples.n - 1
        counts = overall if alone else np.bincount(examples.codes[train], minlength=k)
        commonest = int(counts.argmax())
        if not seen:
            test = test[np.bincount(train, minlength=examples.n)[test] == 0]
        votes.add(test, np.full(len(test), commonest, dtype=np.int32), plan.repetition(at))
    return votes


class RefitValues:
    """The values of the refits of one collected, measure by measure.

    A refit on whose examples a measure is undefined has NaN there.
    """

    def __init__(self, collected: CollectedVotes, request: Request | None = None) -> None:
        self._collected = collected
        self._request = Request() if request is None else request
        self._of: dict[tuple[str, str | None], tuple[float, ...]] = {}
        done = [at for at in range(len(collected.plan)) if at not in collected.failures]
        self._counted = [not collected.plan.auxiliary(at) for at in done]
        self._tables = collected.tables[[] if collected.single else done].astype(np.float64)

    def counted(self, name: str) -> tuple[float, ...]:
        """Give the values of the refits whose judgements count."""
        values = self.of(name)
        if len(values) != len(self._counted):
            return values
        return tuple(value for value, counts in zip(values, self._counted, strict=True) if counts)

    def of(self, name: str, label: str | None = None) -> tuple[float, ...]:
        """Give the values of one measure; none for a measure that only whole sheets have.

        With a label, of that class against the rest; rankings and losses have none of them.
        """
        if (name, label) not in self._of:
            self._of[name, label] = self._values_of(name, label)
        return self._of[name, label]

    def _values_of(self, name: str, label: str | None) -> tuple[float, ...]:
        if name in self._collected.scorers:
            at = self._collected.scorers.index(name)
            return tuple(float(row[at]) for row in self._collected.scored_values)
        if name == "cost":
            return self._of_costs()
        positive, over = self._positive, self._over
        if label is not None:
            positive, over = self._collected.examples.labels.index(label), None
        values = value_of_tables(name, self._tables, positive, over)
        if values is not None:
            return tuple(np.broadcast_to(values, len(self._tables)).tolist())
        base, average = base_and_average(name)
        needs = find_measure(base).needs
        if label is None and needs == "ranking" and average in {"macro", "weighted"}:
            return self._of_class_rankings(name)
        if label is not None or average or needs not in {"ranking", "probabilities"}:
            return ()
        return (self._of_rankings if needs == "ranking" else self._of_losses).get(base, ())

    @property
    def _positive(self) -> int | None:
        examples = self._collected.examples
        return None if examples.pos_label is None else examples.labels.index(examples.pos_label)

    @property
    def _over(self) -> NDArray[np.bool_] | None:
        """The classes to average over, where they were requested."""
        over = self._request.average_over
        return None if over is None else np.isin(self._collected.examples.labels, over)

    def _of_costs(self) -> tuple[float, ...]:
        examples = self._collected.examples
        if self._request.costs is None:
            return ()
        costs = CostMatrix.of(self._request.costs, examples.labels, examples.pos_label)
        spent = (self._tables * costs.values).sum(axis=(1, 2))
        return tuple((spent / self._tables.sum(axis=(1, 2))).tolist())

    @cached_property
    def _of_rankings(self) -> dict[str, tuple[float, ...]]:
        """Rank the examples of each refit once, and keep what every measure says, no ranking."""
        collected = self._collected
        if collected.examples.pos_label is None or not collected.scored:
            return {}
        measures = list(measures_that_need("ranking"))
        is_positive = collected.examples.codes == 1  # scores are those of the second label
        turned = -1.0 if self._positive == 0 else 1.0
        if turned < 0:
            is_positive = ~is_positive
        values: list[list[float]] = []
        for test, score, _ in collected.scored_parts:
            try:
                ranking = rank(turned * score, is_positive[test], spreads=False)
            except InputError:
                return {}
            values.append([float(measure.value(ranking)) for measure in measures])
        return {
            measure.name: tuple(one[at] for one in values) for at, measure in enumerate(measures)
        }

    def _of_class_rankings(self, name: str) -> tuple[float, ...]:
        """Give an average over the classes in each refit, where it was requested by its name."""
        collected = self._collected
        if name not in (self._request.measures or ()) or not collected.scored:
            return ()
        codes = collected.examples.codes
        return tuple(
            value_of_scores(name, codes[test], score, None)
            for test, score, _ in collected.scored_parts
            if score.ndim == 2
        )

    @cached_property
    def _of_losses(self) -> dict[str, tuple[float, ...]]:
        """Give the mean loss of the probabilities of each refit."""
        collected = self._collected
        if not (collected.scored and collected.scores and collected.are_probabilities):
            return {}
        codes = collected.examples.codes
        values: dict[str, list[float]] = {name: [] for name in LOSSES}
        for test, score, complement in collected.scored_parts:
            wide, truth = score.astype(np.float64), codes[test]
            if wide.ndim == 1:
                truth = truth == 1  # scores are those of the second label
            for name, loss in LOSSES.items():
                values[name].append(float(np.mean(loss(wide, truth, complement))))
        return {name: tuple(one) for name, one in values.items()}
