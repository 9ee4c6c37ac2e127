"""Averages of a measure of one class: over classes (micro, macro, weighted) and over examples."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Flags
from truerisk.measures.from_counts import DISTANCE_POWERS, distances
from truerisk.measures.registry import Measure, base_and_average, find_measure
from truerisk.tallies.cells import BinaryCounts, Cells, ClassCounts, ratio


@dataclass(frozen=True)
class Average:
    """How a measure of one class becomes a measure of all.

    `function` takes the measure, the counts, the classes (None: those that occur) and the value of
    an undefined one (NaN leaves the class out).
    """

    name: str
    title: str
    function: Callable[[Measure, ClassCounts, Flags | None, float], Any]


def micro(
    measure: Measure, counts: ClassCounts, over: Flags | None = None, zero_division: float = np.nan
) -> Any:
    """Sum the counts over the classes, then apply the formula: each decision counts the same."""
    each = counts.one_vs_rest
    chosen = slice(None) if over is None else over
    pooled = (part[..., chosen].sum(axis=-1) for part in (each.tp, each.fp, each.fn, each.tn))
    return _filled(measure.value(BinaryCounts(*pooled)), zero_division)


def macro(
    measure: Measure, counts: ClassCounts, over: Flags | None = None, zero_division: float = np.nan
) -> Any:
    """Apply the formula, then average over the classes: each class counts the same."""
    values = _filled(measure.value(counts.one_vs_rest), zero_division)
    return _mean(values, np.ones(values.shape), _classes(counts, over))


def weighted(
    measure: Measure, counts: ClassCounts, over: Flags | None = None, zero_division: float = np.nan
) -> Any:
    """Apply the formula, then average with the number of true examples of each class."""
    values = _filled(measure.value(counts.one_vs_rest), zero_division)
    return _mean(values, counts.truth, _classes(counts, over))


AVERAGES = {
    entry.name: entry
    for entry in (
        Average("micro", "micro average", micro),
        Average("macro", "macro average", macro),
        Average("weighted", "average weighted by support", weighted),
    )
}


def value_of_tables(
    name: str, tables: NDArray[Any], pos_label: int | None, over: Flags | None = None
) -> NDArray[Any] | None:
    """Apply a measure of counts, or an average of one, to confusion tables (…, K, K).

    None for a measure that needs more than counts; NaN where it is undefined.
    """
    right = np.einsum("...kk->...k", tables)
    counts = ClassCounts(
        right,
        tables.sum(axis=-1),
        tables.sum(axis=-2),
        right.sum(axis=-1),
        tables.sum(axis=(-1, -2)),
        np.zeros(tables.shape[:-2]),
    )
    if name in DISTANCE_POWERS:
        off = (tables * distances(name, tables.shape[-1])).sum(axis=(-1, -2))
        return np.asarray(find_measure(name).value(replace(counts, cost=off)), dtype=np.float64)
    return None if name == "cost" else value_of_counts(name, counts, pos_label, over)


def value_of_counts(
    name: str,
    counts: ClassCounts,
    pos_label: int | None,
    over: Flags | None = None,
    zero_division: float = np.nan,
) -> NDArray[Any] | None:
    """Apply a measure of counts, or an average of one; None for what needs more than counts."""
    function = count_function(name, pos_label, over, zero_division)
    if function is None or name in DISTANCE_POWERS:
        return None
    return np.asarray(function(counts), dtype=np.float64)


def count_function(
    name: str,
    pos_label: int | None,
    over: Flags | None = None,
    zero_division: float = np.nan,
) -> Callable[[ClassCounts], Any] | None:
    """Give a measure of counts, or an average of one, as a function of the counts of classes.

    None for a measure that needs more than counts.
    """
    base, average = base_and_average(name)
    measure = find_measure(base)
    if average in AVERAGES and measure.needs == "binary counts":
        averaged = AVERAGES[average].function
        return lambda counts: averaged(measure, counts, over, zero_division)
    if average is None and measure.needs == "class counts":
        return measure.value
    if average is None and measure.needs == "binary counts" and pos_label is not None:
        return lambda counts: measure.value(counts_of_label(counts, pos_label))
    return None


def counts_of_label(counts: ClassCounts, label: int) -> BinaryCounts:
    """Give the four counts of one class against all others."""
    each = counts.one_vs_rest
    return BinaryCounts(*(part[..., label] for part in (each.tp, each.fp, each.fn, each.tn)))


def of_each_cell(measure: Measure, cells: Cells) -> NDArray[Any]:
    """Apply the formula to the label sets of each cell: the measure of a single example."""
    tp, truth, predicted = (one.sizes for one in cells.sides)
    fp, fn = predicted - tp, truth - tp
    return np.asarray(measure.value(BinaryCounts(tp, fp, fn, len(cells.labels) - tp - fp - fn)))


def left_out(measure: Measure, counts: ClassCounts, over: Flags | None = None) -> Flags:
    """Tell the classes to be averaged in which the measure is undefined."""
    return np.asarray(np.isnan(measure.value(counts.one_vs_rest)) & _classes(counts, over))


def _classes(counts: ClassCounts, over: Flags | None) -> Flags:
    return np.asarray(np.real(counts.truth) > 0) if over is None else over


def _mean(values: NDArray[Any], weights: NDArray[Any], over: Flags) -> Any:
    taken = ~np.isnan(values) & over
    total = np.where(taken, values * weights, 0).sum(axis=-1)
    return ratio(total, np.where(taken, weights, 0).sum(axis=-1))


def _filled(values: Any, zero_division: float) -> Any:
    return np.where(np.isnan(values), zero_division, values)
