"""Which examples are called wrong in which binary problem → counts → measures."""

from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.aliases import Array, Flags
from truerisk.errors import InputError
from truerisk.evaluation.count_estimates import finished
from truerisk.evaluation.evaluate import evaluate, evaluate_counts
from truerisk.intervals.binomial import binomial_bounds
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import Measure, base_and_average, find_measure
from truerisk.results import Estimate, Evaluation, Interval
from truerisk.tallies.cells import BinaryCounts, ClassCounts, Proportion

BINOMIAL = "clopper_pearson"
MEASURES: tuple[str, ...] = ("error_rate", "recall", "precision", "f1")
AVERAGED = (
    "hamming_loss",
    *(f"{name}_{average}" for average in ("micro", "macro") for name in MEASURES[1:]),
)


def estimates_of(
    measure: str, signs: Array, wrong: Flags, *, method: str, level: float
) -> list[Estimate]:
    """Estimate one measure, with its interval, for each candidate, of whose calls some are wrong.

    `signs` and `wrong` are as in `measure_values`.
    """
    estimates = _proportions(measure, signs, wrong, level)
    if estimates is None:
        estimates = [_evaluated(measure, signs, one, level)[measure] for one in wrong]
    return [
        replace(one, method=method, target="the learner at this sample size") for one in estimates
    ]


def _proportions(measure: str, signs: Array, wrong: Flags, level: float) -> list[Estimate] | None:
    """Estimate a share k of n of two classes for all candidates at once; None for others."""
    if len(signs) > 1 or base_and_average(measure)[1] in AVERAGES:
        return None
    entry, counts = base_measure(measure), counts_of(signs, wrong)
    shares = entry(
        BinaryCounts(*(part[..., 0] for part in _parts(counts)))
        if entry.needs == "binary counts"
        else _class_counts(counts, wrong, None)
    )
    if not isinstance(shares, Proportion) or shares.transform is not None:
        return None
    values, sizes = np.asarray(shares.value), np.broadcast_to(shares.n, len(wrong))
    low, high = binomial_bounds(np.rint(shares.k), np.rint(sizes), level=level, method=BINOMIAL)
    return [
        finished(
            entry, float(value), Interval(float(least), float(most), level, BINOMIAL), float(n)
        )
        for value, least, most, n in zip(values, low, high, sizes, strict=True)
    ]


def _evaluated(measure: str, signs: Array, wrong: Flags, level: float) -> Evaluation:
    if len(signs) == 1:
        return evaluation_of_one(signs[0], wrong[0], measures=(measure,), level=level)
    return evaluation_of_all(signs, wrong, measures=(measure,), level=level)


def evaluation_of_one(y: Array, wrong: Flags, **options: Any) -> Evaluation:
    """Evaluate the calls of one binary problem, of which some are wrong."""
    tp, fp, fn, tn = (int(part) for part in _parts(counts_of(y, wrong)))
    return evaluate_counts([[tp, fn], [fp, tn]], random_state=0, **options)


def evaluation_of_all(signs: Array, wrong: Flags, **options: Any) -> Evaluation:
    """Evaluate the calls of all problems together, as sets of labels; some of them are wrong."""
    truth = (signs > 0).T
    predicted = truth ^ wrong.T
    return evaluate(
        truth.astype(int), predicted.astype(int), multilabel=True, random_state=0, **options
    )


def measure_values(measure: str, signs: Array, wrong: Flags, weights: Array | None = None) -> Array:
    """Give the value of one measure for each candidate, and each row of weights.

    `signs` is problems × examples, `wrong` candidates × problems × examples.
    """
    counts = counts_of(signs, wrong, weights)
    entry, ending = base_measure(measure), base_and_average(measure)[1]
    if ending in AVERAGES:
        average = AVERAGES[ending].function
        return np.asarray(average(entry, _class_counts(counts, wrong, weights), None, np.nan))
    if entry.needs == "binary counts":
        return np.asarray(entry.value(BinaryCounts(*(part[..., 0] for part in _parts(counts)))))
    return np.asarray(entry.value(_class_counts(counts, wrong, weights)))


def base_measure(measure: str) -> Measure:
    """Look a measure up, without the _micro, _macro or _weighted of its average."""
    entry = find_measure(base_and_average(measure)[0])
    if entry.needs not in {"binary counts", "class counts"}:
        raise InputError(f"`measure` must be made of counts of calls; got {measure!r}.")
    return entry


def counts_of(signs: Array, wrong: Flags, weights: Array | None = None) -> BinaryCounts:
    """Count the four outcomes; the last axis is the problem."""
    pos_label = signs > 0
    outcomes = (pos_label & ~wrong, ~pos_label & wrong, pos_label & wrong, ~pos_label & ~wrong)
    if weights is None:
        return BinaryCounts(*(outcome.sum(axis=-1).astype(float) for outcome in outcomes))
    # (candidates, problems, n) · (n, replicates) → (candidates, replicates, problems)
    return BinaryCounts(
        *(np.moveaxis(outcome.astype(float) @ weights.T, -1, 1) for outcome in outcomes)
    )


def _parts(counts: BinaryCounts) -> tuple[Array, Array, Array, Array]:
    return counts.tp, counts.fp, counts.fn, counts.tn


def _class_counts(counts: BinaryCounts, wrong: Flags, weights: Array | None) -> ClassCounts:
    right = ~wrong.any(axis=1)
    correct = right.sum(axis=-1).astype(float) if weights is None else right @ weights.T
    n = counts.tp[..., 0] + counts.fp[..., 0] + counts.fn[..., 0] + counts.tn[..., 0]
    tp, fp, fn, tn = _parts(counts)
    if wrong.shape[1] == 1:  # two classes: the other one is the negative
        tp, fp, fn = (np.concatenate(pair, axis=-1) for pair in ((tn, tp), (fn, fp), (fp, fn)))
    return ClassCounts(tp, tp + fn, tp + fp, correct, n, np.zeros_like(n))
