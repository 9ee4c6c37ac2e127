"""The refits of a learning curve: who trains on what, and what one refit is worth and costs."""

import io
import pickle  # only to measure how long a model is; nothing is ever read back
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.errors import UnstableWarning
from truerisk.estimation.refits.plans import Plan, repeated_folds
from truerisk.learners import refits
from truerisk.learners.scoring import Metadata, is_of_counts, value_of_scores
from truerisk.learners.tuning import needed_scores

Arrays = dict[str, NDArray[Any]]

FOLDS = 5
MIN_OF_A_CLASS = 2
COSTS = ("seconds_to_induce", "seconds_to_classify", "memory", "cpu_seconds")
PER_EXAMPLES = 1000  # the time to classify is told for so many


@dataclass(frozen=True)
class CurvePlan:
    """A hold-out for each repeat, and a line of the others whose beginnings are trained on.

    Every beginning holds the classes in proportion; groups stay together.  Divisions that are
    `given` are taken as they are.
    """

    codes: Indices
    groups: Indices | None
    held_out: int
    seed: int
    given: Plan | None = None

    def division(self, repeat: int) -> tuple[Indices, Indices]:
        """Give the examples to be trained on, in the order they come in, and those held out."""
        rng = np.random.default_rng([self.seed, repeat])
        if self.given is not None:
            train, test = self.given.train_and_test(repeat)
            return self._in_line(train, rng), test
        if self.groups is not None:
            return self._of_groups(rng)
        return self._by_class(rng.permutation(len(self.codes)), self.held_out)

    def _by_class(self, shuffled: Indices, held_out: int) -> tuple[Indices, Indices]:
        """Put examples in line with the classes in proportion, after some that are held out."""
        by_class = shuffled[np.argsort(self.codes[shuffled], kind="stable")]
        code = self.codes[by_class]
        counts = np.bincount(code)
        rank = np.arange(len(code)) - (np.cumsum(counts) - counts)[code]
        quota = _quotas(counts, held_out)
        held = rank < quota[code]
        place = (rank - quota[code] + 0.5) / (counts - quota)[code]
        line = np.argsort(place[~held], kind="stable")
        return by_class[~held][line], np.sort(by_class[held])

    def _in_line(self, train: Indices, rng: np.random.Generator) -> Indices:
        """Put given examples in line: group after group, or with the classes in proportion."""
        shuffled = rng.permutation(train)
        if self.groups is not None:
            order = rng.permutation(int(self.groups.max()) + 1)
            return shuffled[np.argsort(order[self.groups[shuffled]], kind="stable")]
        return self._by_class(shuffled, 0)[0]

    def _of_groups(self, rng: np.random.Generator) -> tuple[Indices, Indices]:
        groups: Any = self.groups
        order = rng.permutation(int(groups.max()) + 1)
        sizes = np.bincount(groups)[order]
        held = np.cumsum(sizes) - sizes < self.held_out
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        shuffled = rng.permutation(len(groups))
        line = shuffled[np.argsort(place[groups[shuffled]], kind="stable")]
        is_held = held[place[groups[line]]]
        return line[~is_held], np.sort(line[is_held])

    def shortest(self, line: Indices) -> int:
        """Give the shortest beginning with two examples of every class; 0 if there is none.

        With groups it reaches into two of them at least.
        """
        needed = [np.flatnonzero(self.codes[line] == code) for code in np.unique(self.codes)]
        if min(map(len, needed)) < MIN_OF_A_CLASS:
            return 0
        size = max(int(at[MIN_OF_A_CLASS - 1]) + 1 for at in needed)
        if self.groups is not None:
            others = np.flatnonzero(self.groups[line] != self.groups[line[0]])
            size = max(size, int(others[0]) + 1) if len(others) else 0
        return size


def _quotas(counts: NDArray[np.intp], held_out: int) -> NDArray[np.intp]:
    """Share the hold-out out in proportion, the remainders to the largest of them.

    Two examples of every class are left to be trained on.
    """
    exact = held_out * counts / counts.sum()
    quota = np.floor(exact).astype(np.intp)
    largest = np.argsort(quota - exact, kind="stable")
    quota[largest[: held_out - quota.sum()]] += 1
    return np.asarray(np.minimum(quota, np.maximum(counts - MIN_OF_A_CLASS, 0)))


def refit_at(shared: Mapping[str, Any], item: tuple[int, int, int]) -> Arrays:
    """Train one model on the beginning of a line; evaluate it on the hold-out and on its own part.

    Gives `confusion`, `costs` in the order of `COSTS`, `estimate` or `estimate_confusion`; `value`
    for what is not made of counts; `failed` or `estimate_failed` for a model that fails; `warned`,
    but for SVMs whose bias is one of many.
    """
    plan: CurvePlan = shared["plan"]
    at, repeat, size_at = item
    line, test = plan.division(repeat)
    train = np.sort(line[: shared["sizes"][size_at]])
    # The same seed for every model: leaving one out changes no other.
    seed = [plan.seed, repeat, size_at]

    metadata: Metadata = shared["metadata"][at]

    def work() -> Arrays:
        with metadata.applied():
            return trained_and_judged()

    def trained_and_judged() -> Arrays:
        trained = _trained(shared, at, (train, test), seed)
        outcome = {"confusion": _confusion(plan.codes[test], trained.labels, shared["values"])}
        if not is_of_counts(shared["measure"]):
            outcome["value"] = np.array(_single_value(shared, at, trained))
        induce, classify = trained.seconds
        per_thousand = classify * PER_EXAMPLES / len(test)
        memory = _bytes_of(trained.X_train) + _pickled_bytes(trained.model)
        outcome["costs"] = np.array([induce, per_thousand, memory, trained.cpu_seconds])
        try:
            if shared["estimate"] == "cross_validation":
                outcome.update(_cross_validated(shared, at, train, seed))
            elif shared["estimate"] == "xi_alpha":
                outcome.update(_xi_alpha(shared, trained, shared["y"][train]))
        except Exception as problem:  # noqa: BLE001
            outcome["estimate_failed"] = np.array(f"{type(problem).__name__}: {problem}")
        return outcome

    name = f"the training on {len(train):,} examples"
    return refits.guarded(work, name, ignored=UnstableWarning)


def _trained(
    shared: Mapping[str, Any], at: int, rows: tuple[Indices, Indices], seed: list[int]
) -> refits.Trained:
    params = shared["metadata"][at].fit
    return refits.train(shared["models"][at], shared["X"], shared["y"], rows, seed, params=params)


def _single_value(shared: Mapping[str, Any], at: int, trained: refits.Trained) -> float:
    """Give what a scorer, or a measure of scores, says of one trained model."""
    name, scorer, values = shared["measure"], shared["scorer"], shared["values"]
    if scorer is not None:
        return trained.scored_by(name, scorer, shared["y"], shared["metadata"][at])
    scores = refits.scores_of(trained.model, trained.X_test, values, trained.probabilities)
    truth = shared["plan"].codes[trained.test]
    return value_of_scores(name, truth, positive=shared["pos_label"], **needed_scores(scores, name))


def _confusion(codes: Indices, labels: Any, values: NDArray[Any]) -> NDArray[np.int64]:
    k = len(values)
    called = refits.positions(labels, values)
    return np.bincount(codes * k + called, minlength=k * k).reshape(k, k)


def _cross_validated(shared: Mapping[str, Any], at: int, train: Indices, seed: list[int]) -> Arrays:
    """Pool the calls of a cross-validation of the training part alone: of five folds, or as many
    as the smallest class, or the groups, allow.  What is not made of counts is averaged over them.
    """  # noqa: D205
    plan: CurvePlan = shared["plan"]
    codes, units = plan.codes[train], None
    smallest = int(np.bincount(codes).min())
    if plan.groups is not None:
        units = np.unique(plan.groups[train], return_inverse=True)[1]
        smallest = int(units.max()) + 1
    rng = np.random.default_rng([*seed, 0])
    folds = repeated_folds(codes, min(FOLDS, smallest), 1, rng, groups=units)
    k = len(shared["values"])
    pooled = np.zeros((k, k), dtype=np.int64)
    values = []
    for fold in range(len(folds)):
        inner, held = (train[part] for part in folds.train_and_test(fold))
        trained = _trained(shared, at, (inner, held), [*seed, fold + 1])
        if is_of_counts(shared["measure"]):
            pooled += _confusion(plan.codes[held], trained.labels, shared["values"])
        else:
            values.append(_single_value(shared, at, trained))
    return {"estimate": np.array(np.mean(values))} if values else {"estimate_confusion": pooled}


def _xi_alpha(shared: Mapping[str, Any], trained: refits.Trained, y: NDArray[Any]) -> Arrays:
    from truerisk.estimation.svm.xi_alpha import xi_alpha
    from truerisk.svm.dual_of import is_readable

    if not is_readable(trained.model):
        return {}
    measure, pos_label = shared["measure"], str(shared["values"][shared["pos_label"]])
    evaluation = xi_alpha(
        trained.model, trained.X_train, y, measures=(measure,), pos_label=pos_label
    )
    return {"estimate": np.array(evaluation[measure].value)}


def _bytes_of(examples: Any) -> float:
    """Give the bytes of a dense or sparse matrix; of other things, as pickled."""
    if hasattr(examples, "indptr"):
        return float(sum(p.nbytes for p in (examples.data, examples.indices, examples.indptr)))
    if isinstance(examples, np.ndarray) and examples.dtype != object:
        return float(examples.nbytes)
    return _pickled_bytes(examples)


class _Length(io.RawIOBase):
    """A file that counts what is written, and keeps none of it."""

    def __init__(self) -> None:
        self.bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        length = memoryview(part).nbytes
        self.bytes += length
        return length


def _pickled_bytes(thing: Any) -> float:
    """Give how long a thing is when pickled; NaN for one that cannot be."""
    length = _Length()
    try:
        pickle.Pickler(length, protocol=5).dump(thing)
    except Exception:  # noqa: BLE001  (a model of the user's may raise anything)
        return float("nan")
    return float(length.bytes)
