"""The refits of a learning curve: who trains on what, and what one refit is worth and costs."""

import io
import pickle  # only to measure how long a model is; nothing is ever read back
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Indices
from truerisk.errors import ResourceError, UnstableWarning
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.learners.refits import fresh_copy, positions, rows_of

Arrays = dict[str, NDArray[Any]]

FOLDS = 5
MIN_OF_A_CLASS = 2
COSTS = ("seconds_to_induce", "seconds_to_classify", "memory", "cpu_seconds")
PER_EXAMPLES = 1000  # the time to classify is told for so many


@dataclass(frozen=True)
class CurvePlan:
    """A hold-out for each repeat, and a line of the others whose beginnings are trained on.

    Every beginning of a line is part of each longer one, and holds the classes in proportion, as
    the hold-out does.  With groups, whole groups are held out, and stand together in the line.

    Examples
    --------
    >>> plan = CurvePlan(np.repeat([0, 1], [8, 4]), None, held_out=3, seed=1)
    >>> line, test = plan.division(0)
    >>> plan.codes[line].tolist(), plan.codes[test].tolist()
    ([0, 1, 0, 0, 1, 0, 0, 1, 0], [0, 0, 1])
    """

    codes: Indices
    groups: Indices | None
    held_out: int
    seed: int

    def division(self, repeat: int) -> tuple[Indices, Indices]:
        """Give the examples to be trained on, in the order they come in, and those held out."""
        rng = np.random.default_rng([self.seed, repeat])
        if self.groups is not None:
            return self._of_groups(rng)
        shuffled = rng.permutation(len(self.codes))
        by_class = shuffled[np.argsort(self.codes[shuffled], kind="stable")]
        code = self.codes[by_class]
        counts = np.bincount(code)
        rank = np.arange(len(code)) - (np.cumsum(counts) - counts)[code]
        quota = _quotas(counts, self.held_out)
        held = rank < quota[code]
        place = (rank - quota[code] + 0.5) / (counts - quota)[code]
        line = np.argsort(place[~held], kind="stable")
        return by_class[~held][line], np.sort(by_class[held])

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
    """Train one model on the beginning of a line; judge it by the hold-out and by its own part.

    Parameters
    ----------
    shared
        `models`, `X`, `y` (labels as the user gave them), `values` (the distinct ones in order),
        `plan`, `sizes`, `estimate`, `measure`, `pos_label`.
    item
        Positions of the model, the repeat and the size.

    Returns
    -------
    arrays
        `confusion` of the hold-out (rows truth), `costs` in the order of `COSTS`, and `estimate`,
        a value, or `estimate_confusion`.  A model that fails gives `failed`, its message; one that
        fails only in the estimate, `estimate_failed`.  `warned` holds what was warned of, but for
        machines whose bias is one of many: at small sizes that is common.
    """
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnstableWarning)
        found = _refit(shared, item)
    told = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in met)
    return found | {"warned": np.array(list(told), dtype=np.str_)} if told else found


def _refit(shared: Mapping[str, Any], item: tuple[int, int, int]) -> Arrays:
    at, repeat, size_at = item
    plan: CurvePlan = shared["plan"]
    line, test = plan.division(repeat)
    train = np.sort(line[: shared["sizes"][size_at]])
    # The same seed for every model: leaving one out changes no other.
    seed = [plan.seed, repeat, size_at]
    y = np.asarray(shared["y"])
    try:
        model = fresh_copy(shared["models"][at], seed)
        examples, judged = rows_of(shared["X"], train), rows_of(shared["X"], test)
        cpu, began = time.thread_time(), time.perf_counter()
        model.fit(examples, y[train])
        trained, cpu_trained = time.perf_counter(), time.thread_time()
        labels = model.predict(judged)
        classified = time.perf_counter()
        found: Arrays = {"confusion": _confusion(plan.codes[test], labels, shared["values"])}
    except MemoryError as problem:
        raise ResourceError(
            f"Memory ran out training on {len(train):,} examples. Use fewer workers or less data."
        ) from problem
    except Exception as problem:  # noqa: BLE001  (a model may raise anything; its refit is named)
        return {"failed": np.array(f"{type(problem).__name__}: {problem}")}
    per_thousand = (classified - trained) * PER_EXAMPLES / len(test)
    memory = _bytes_of(examples) + _pickled_bytes(model)
    found["costs"] = np.array([trained - began, per_thousand, memory, cpu_trained - cpu])
    try:
        if shared["estimate"] == "cross_validation":
            found.update(_cross_validated(shared, at, train, seed))
        elif shared["estimate"] == "xi_alpha":
            found.update(_xi_alpha(shared, model, examples, y[train]))
    except Exception as problem:  # noqa: BLE001
        found["estimate_failed"] = np.array(f"{type(problem).__name__}: {problem}")
    return found


def _confusion(codes: Indices, labels: Any, values: NDArray[Any]) -> NDArray[np.int64]:  # noqa: ANN401
    k = len(values)
    called = positions(labels, values)
    return np.bincount(codes * k + called, minlength=k * k).reshape(k, k)


def _cross_validated(shared: Mapping[str, Any], at: int, train: Indices, seed: list[int]) -> Arrays:
    """Pool the calls of a cross-validation of the training part alone: of five folds, or as many
    as the smallest class, or the groups, allow.
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
    y = np.asarray(shared["y"])
    for fold in range(len(folds)):
        inner, judged = (train[part] for part in folds.train_and_test(fold))
        model = fresh_copy(shared["models"][at], [*seed, fold + 1])
        model.fit(rows_of(shared["X"], inner), y[inner])
        labels = model.predict(rows_of(shared["X"], judged))
        pooled += _confusion(plan.codes[judged], labels, shared["values"])
    return {"estimate_confusion": pooled}


def _xi_alpha(shared: Mapping[str, Any], model: Any, examples: Any, y: NDArray[Any]) -> Arrays:  # noqa: ANN401
    from truerisk.estimation.svm.xi_alpha import xi_alpha  # noqa: PLC0415  (loads the machines)

    measure = shared["measure"]
    if not is_svm(model):
        return {}
    pos_label = str(shared["values"][shared["pos_label"]])
    found = xi_alpha(model, examples, y, measures=(measure,), pos_label=pos_label)
    return {"estimate": np.array(found[measure].value)}


def is_svm(model: Any) -> bool:  # noqa: ANN401
    """Whether ξα can be read off a model: a support vector machine, also at the end of a pipeline.

    Examples
    --------
    >>> from sklearn.svm import SVC, LinearSVC
    >>> is_svm(SVC()), is_svm(LinearSVC(loss="hinge")), is_svm(LinearSVC())
    (True, True, False)
    """
    from sklearn.pipeline import Pipeline  # noqa: PLC0415  (loaded where models are)
    from sklearn.svm import SVC, LinearSVC, NuSVC  # noqa: PLC0415

    from truerisk.svm.classifier import MarginClassifier  # noqa: PLC0415

    if isinstance(model, Pipeline):
        return is_svm(model[-1])
    if isinstance(model, LinearSVC):
        return bool(model.loss == "hinge")
    return isinstance(model, (SVC, NuSVC, MarginClassifier))


def _bytes_of(examples: Any) -> float:  # noqa: ANN401
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

    def write(self, part: Any) -> int:  # noqa: ANN401
        length = memoryview(part).nbytes
        self.bytes += length
        return length


def _pickled_bytes(thing: Any) -> float:  # noqa: ANN401
    """Give how long a thing is when pickled; NaN for one that cannot be."""
    length = _Length()
    try:
        pickle.Pickler(length, protocol=5).dump(thing)
    except Exception:  # noqa: BLE001  (a model of the user's may raise anything)
        return float("nan")
    return float(length.bytes)
