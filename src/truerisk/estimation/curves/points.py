"""The refits of a learning curve → points, growth, laws, and learners side by side."""

import io
import math
import pickle  # only to measure how long a model is; nothing is ever read back
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.errors import UnstableWarning
from truerisk.estimation.curves.laws import (
    MIN_SIZES,
    Design,
    Extrapolation,
    complement_of,
    extrapolation_of,
    growth_of,
    why_no_law,
)
from truerisk.estimation.curves.results import (
    COSTS,
    Affordable,
    Crossing,
    CurvePoint,
    LearnerCurve,
    LearningCurve,
    affordable,
    crossings_of,
    resampled_means,
)
from truerisk.estimation.refits.estimate import weights_in_training
from truerisk.estimation.refits.interval_rules import mean_of_refits
from truerisk.estimation.refits.plans import Plan, repeated_folds
from truerisk.evaluation.evaluate import evaluate_counts
from truerisk.learners import refits
from truerisk.learners.scoring import Metadata, is_of_counts, range_of
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_measure
from truerisk.results import Finding, Interval

Arrays = dict[str, NDArray[Any]]

FOLDS = 5
MIN_OF_A_CLASS = 2
PER_EXAMPLES = 1000  # the time to classify is told for so many

Counts = NDArray[np.int64]

SPREAD = Finding(
    "the sd is how much one repeat differs from the next; the interval is about the mean of all: "
    "the learner at this sample size",
    code="sd_and_interval",
)
COST = Finding(
    "seconds, CPU seconds and memory are medians over the repeats; memory is that of the training "
    "examples and of the trained model as pickled, not the peak while it trains",
    code="medians_of_costs",
)
MAX_NAMED = 3
OF_DESIGN = (
    "measure", "higher_is_better", "level", "n", "held_out", "sizes", "repeats", "estimate",
)  # fmt: skip


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
    judged = (shared["y"], shared["values"], shared["pos_label"])
    metadata = shared["metadata"][at]
    return trained.value_of(shared["measure"], shared["scorer"], judged, metadata)


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


def confusion_values(measure: str, confusions: Counts, pos_label: int) -> Array:
    """Apply a measure of counts to many confusion tables, rows truth, on the last two axes."""
    values = value_of_tables(measure, confusions.astype(np.float64), pos_label)
    return np.full(confusions.shape[:-2], np.nan) if values is None else values


def mean_interval(
    design: Design, values: Array, confusions: Counts
) -> tuple[Interval, tuple[Finding, ...]]:
    """Give the interval of the mean over repeats, and what is to be said of it.

    Where all repeats have one value their variance says nothing; then the interval is that of the
    hold-out of a single repeat, which is wider than needed.  An undefined mean may be anything.
    """
    measure, level = design.measure, design.level
    whole = Interval(*range_of(measure), level, "whole_range")
    if np.isnan(values).any():
        missing = int(np.isnan(values).sum())
        note = f"undefined in {missing} of {len(values)} repeats, and so is the mean"
        undefined = Finding(note, code="undefined_in_repeats")
        return whole, (undefined,)
    mean = mean_of_refits(tuple(values.tolist()), measure, design.ratio, level)
    if mean.interval is not None:
        return mean.interval, ()
    note = "all repeats have one value, and nothing says how far it may be off"
    no_spread = Finding(note, code="no_spread")
    if not is_of_counts(measure):
        return whole, (no_spread,)
    labels = [str(at) for at in range(confusions.shape[-1])]
    beta = base_measure(measure).parameters.get("beta")
    single = evaluate_counts(
        confusions[0],
        labels=labels,
        pos_label=labels[design.pos_label],
        betas=() if beta is None else (beta,),
        measures=(measure,),
        level=level,
        random_state=0,
    ).get(measure)
    if single is None or single.interval is None:
        return whole, (no_spread,)
    note = "all repeats have one value: the interval is that of the hold-out of one of them"
    return single.interval, (Finding(note, code="interval_of_one_holdout"),)


class Refits:
    """What the refits gave, collected as they come: model × repeat × size."""

    def __init__(
        self, names: tuple[str, ...], design: Design, classes: int, *, weighs: bool = False
    ) -> None:
        shape = (len(names), design.repeats, len(design.sizes))
        self.names = names
        self.design = design
        self.confusions = np.zeros((*shape, classes, classes), dtype=np.int64)
        self.single_values = np.full(shape, np.nan)
        self.costs = np.full((*shape, len(COSTS)), np.nan)
        self.estimates = np.full(shape, np.nan)
        self.failed: dict[tuple[int, int, int], str] = {}
        self.estimate_failed: dict[tuple[int, int, int], str] = {}
        self.warned: dict[tuple[int, int, int], tuple[str, ...]] = {}
        self.weighs = weighs

    def add(self, item: tuple[int, int, int], result: Mapping[str, NDArray[Any]]) -> None:
        """Take in one refit."""
        if "warned" in result:
            self.warned[item] = tuple(map(str, result["warned"]))
        if "failed" in result:
            self.failed[item] = str(result["failed"])
            return
        self.confusions[item] = result["confusion"]
        self.single_values[item] = result.get("value", np.nan)
        self.costs[item] = result["costs"]
        if "estimate" in result:
            self.estimates[item] = result["estimate"]
        elif "estimate_confusion" in result:
            design = self.design
            self.estimates[item] = confusion_values(
                design.measure, result["estimate_confusion"][None], design.pos_label
            )[0]
        elif "estimate_failed" in result:
            self.estimate_failed[item] = str(result["estimate_failed"])

    @property
    def values(self) -> Array:
        """The measure on every hold-out; NaN where it is not finite or the refit failed."""
        if not is_of_counts(self.design.measure):
            return np.where(np.isfinite(self.single_values), self.single_values, np.nan)
        result = confusion_values(self.design.measure, self.confusions, self.design.pos_label)
        for item in self.failed:
            result[item] = np.nan
        return result


def curve_of(refits: Refits) -> LearningCurve:
    """Put the refits together."""
    design, values = refits.design, refits.values
    curves = {name: _learner(refits, values[at], at) for at, name in enumerate(refits.names)}
    crossings: tuple[Crossing, ...] = ()
    best: tuple[Affordable, ...] = ()
    if design.higher_is_better is not None:
        losses = {name: design.losses(values[at]) for at, name in enumerate(refits.names)}
        crossings = crossings_of(losses, design)
        offers = [
            Affordable(cpu_seconds=one.cpu_seconds, learner=name, size=one.size, value=one.mean)
            for name, curve in curves.items()
            for one in curve.points
        ]
        best = affordable(offers, higher_is_better=design.higher_is_better)
    return LearningCurve(
        curves=curves,
        **{name: getattr(design, name) for name in OF_DESIGN},
        random_state=design.seed,
        crossings=crossings,
        error_per_cpu_second=best,
        failures=tuple(_failures(refits)),
        notes=(SPREAD, COST, *_estimate_notes(refits), *weights_in_training(refits.weighs)),
    )


def _learner(refits: Refits, values: Array, at: int) -> LearnerCurve:
    design = refits.design
    points = tuple(_point(refits, values, at, size_at) for size_at in range(len(design.sizes)))
    growth = {
        cost: growth_of(
            design.sizes, [getattr(point, cost) for point in points], level=design.level
        )
        for cost in COSTS
    }
    law = _law(design, values, points)
    return LearnerCurve(
        name=refits.names[at],
        points=points,
        growth=growth,
        extrapolation=law if isinstance(law, Extrapolation) else None,
        refusal=law if isinstance(law, Finding) else None,
        measure=design.measure,
        level=design.level,
    )


def _point(refits: Refits, values: Array, at: int, size_at: int) -> CurvePoint:
    design = refits.design
    column = values[:, size_at]
    broken = [item for item in refits.failed if item[0] == at and item[2] == size_at]
    interval, notes = None, tuple(_failed_repeats(broken, refits.failed))
    if not broken:
        interval, notes = mean_interval(design, column, refits.confusions[at, :, size_at])
    own = refits.estimates[at, :, size_at]
    lost = [item for item in refits.estimate_failed if item[0] == at and item[2] == size_at]
    of_estimate = _failed_repeats(lost, refits.estimate_failed, "estimate: ")
    is_estimated = design.estimate is not None and not np.isnan(refits.estimates[at]).all()
    costs = _medians(refits.costs[at, :, size_at])
    return CurvePoint(
        size=design.sizes[size_at],
        mean=_mean(column),
        sd=_deviation(column),
        interval=interval,
        replicates=tuple(column.tolist()),
        estimate_mean=_mean(own) if is_estimated else None,
        estimate_sd=_deviation(own) if is_estimated else None,
        estimates=tuple(own.tolist()) if is_estimated else (),
        **dict(zip(COSTS, costs, strict=True)),
        notes=(*notes, *of_estimate, *_warnings(refits, at, size_at)),
    )


def _mean(values: Array) -> float:
    return math.fsum(values.tolist()) / len(values)


def _deviation(values: Array) -> float:
    if not np.isfinite(values).all():  # a log loss may be infinite
        return math.nan
    return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))


def _medians(costs: Array) -> list[float]:
    """Give the middle of each cost; the first call of a process, which loads code, is no matter."""
    known = costs[~np.isnan(costs).all(axis=1)]
    return np.median(known, axis=0).tolist() if len(known) else [math.nan] * costs.shape[1]


def _law(design: Design, values: Array, points: tuple[CurvePoint, ...]) -> Extrapolation | Finding:
    """Fit the inverse power law to the sizes that have a value in every repeat, or say why not."""
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    if not design.is_loss or len(known) < MIN_SIZES:
        return Finding(
            f"fewer than {MIN_SIZES} sizes have a value, or the measure has no better side from 0 "
            "to 1",
            code="too_few_sizes",
        )
    losses = design.losses(values[:, known])
    sizes = tuple(design.sizes[at] for at in known)
    refusal = why_no_law(losses, sizes, design)
    if refusal is not None:
        return refusal
    mean = losses.mean(axis=0)
    resampled = resampled_means(losses, design, np.random.default_rng([design.seed, 0]))
    # Few repeats may agree by chance: no hold-out says more than its binomial variance allows.
    tested = design.held_out
    smooth = (mean * tested + 0.5) / (tested + 1)
    variances = np.maximum(losses.var(axis=0, ddof=1), smooth * (1 - smooth) / tested)
    last = _loss_interval(design, points[known[-1]])
    return extrapolation_of(mean, resampled, variances, design=design, sizes=sizes, last=last)


def _loss_interval(design: Design, point: CurvePoint) -> Interval:
    """Give the interval of the loss at a point."""
    ends = point.interval or Interval(point.mean, point.mean, design.level, "none")
    return complement_of(ends) if design.higher_is_better else ends


def _failed_repeats(
    items: list[tuple[int, int, int]], messages: Mapping[Any, str], of: str = ""
) -> Iterator[Finding]:
    for item in items[:MAX_NAMED]:
        message = f"{of}repeat {item[1] + 1} failed: {messages[item]}"
        yield Finding(message, code="repeat_failed")
    if len(items) > MAX_NAMED:
        more = f"{of}and {len(items) - MAX_NAMED} repeats more"
        yield Finding(more, code="more_repeats_failed")


def _warnings(refits: Refits, at: int, size_at: int) -> Iterator[Finding]:
    """Give each warning of a learner at a size once, with the number of repeats that met it."""
    met = [
        messages for item, messages in refits.warned.items() if (item[0], item[2]) == (at, size_at)
    ]
    for message in dict.fromkeys(message for messages in met for message in messages):
        times = sum(message in messages for messages in met)
        said = f"warned in {times} of {refits.design.repeats} repeats: {message}"
        yield Finding(said, code="repeats_warned")


def _failures(refits: Refits) -> Iterator[Finding]:
    for (at, repeat, size_at), message in sorted(refits.failed.items()):
        size = refits.design.sizes[size_at]
        said = f"{refits.names[at]} on {size:,} examples, repeat {repeat + 1}: {message}"
        yield Finding(said, code="refit_failed")


def _estimate_notes(refits: Refits) -> Iterator[Finding]:
    if refits.design.estimate == "cross_validation":
        yield Finding(
            "the estimate is a five-fold cross-validation of the training part, of fewer folds "
            "where a class or the groups are few; it trains on four fifths of it",
            code="estimate_by_cross_validation",
        )
    if refits.design.estimate == "xi_alpha":
        yield Finding(
            "the estimate is ξα at ρ = 1 of the trained SVM, without a refit; it leans high",
            code="estimate_by_xi_alpha",
        )
