"""Averages of a measure over classes: micro, macro and weighted by support."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.measures.proportion import ratio
from truerisk.measures.registry import Measure
from truerisk.tallies.cells import BinaryCounts, ClassCounts


@dataclass(frozen=True)
class Average:
    """How a measure of one class becomes a measure of all."""

    name: str
    title: str
    function: Callable[[Measure, ClassCounts, float], Any]


def micro(measure: Measure, counts: ClassCounts, zero_division: float = np.nan) -> Any:  # noqa: ANN401
    """Sum the counts over the classes, then apply the formula: each decision counts the same."""
    each = counts.one_vs_rest
    pooled = BinaryCounts(*(part.sum(axis=-1) for part in (each.tp, each.fp, each.fn, each.tn)))
    return _filled(measure.value(pooled), zero_division)


def macro(measure: Measure, counts: ClassCounts, zero_division: float = np.nan) -> Any:  # noqa: ANN401
    """Apply the formula, then average over the classes that occur: each class counts the same.

    A class in which the measure is undefined is left out; `left_out` names it.
    """
    values = _filled(measure.value(counts.one_vs_rest), zero_division)
    return _mean(values, np.ones(values.shape), counts)


def weighted(measure: Measure, counts: ClassCounts, zero_division: float = np.nan) -> Any:  # noqa: ANN401
    """Apply the formula, then average with the number of true examples of each class."""
    values = _filled(measure.value(counts.one_vs_rest), zero_division)
    return _mean(values, counts.truth, counts)


AVERAGES = {
    entry.name: entry
    for entry in (
        Average("micro", "micro average", micro),
        Average("macro", "macro average", macro),
        Average("weighted", "average weighted by support", weighted),
    )
}


def left_out(measure: Measure, counts: ClassCounts) -> NDArray[np.bool_]:
    """Tell the classes that occur but in which the measure is undefined."""
    return np.isnan(measure.value(counts.one_vs_rest)) & (counts.truth > 0)


def _mean(values: NDArray[Any], weights: NDArray[Any], counts: ClassCounts) -> Any:  # noqa: ANN401
    taken = ~np.isnan(values) & (np.real(counts.truth) > 0)
    return ratio(
        np.where(taken, values * weights, 0).sum(axis=-1), np.where(taken, weights, 0).sum(axis=-1)
    )


def _filled(values: Any, zero_division: float) -> Any:  # noqa: ANN401
    return np.where(np.isnan(values), zero_division, values)
