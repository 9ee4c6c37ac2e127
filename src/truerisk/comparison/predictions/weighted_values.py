"""A measure of one model as a function of how often each example counts: (R, n) → (R,)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.comparison.predictions.model_scores import ModelScores
from truerisk.comparison.predictions.paired_cells import PairedCells, count_function
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.tallies.ranking import rank

ValueOfWeights = Callable[[Array], Array]


def value_of_counts(
    name: str,
    cells: PairedCells,
    at: NDArray[np.intp],
    over: NDArray[np.bool_] | None,
    zero_division: float,
) -> ValueOfWeights | None:
    """Give a measure of counts of the second model; `at` is the joint cell of each example.

    None for an average over examples, and for what is no measure of counts.
    """
    function = count_function(name, cells.second.labels, cells.pos_label, over, zero_division)
    if function is None:
        return None
    costs = None if cells.costs is None else cells.costs.of_cells(cells.second)
    design: Any = cells.second.design(costs)

    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], np.arange(int(at.max()) + 1))

    def values(weights: Array) -> Array:
        totals = np.add.reduceat(weights[:, order], starts, axis=1)
        return np.asarray(function(totals @ design[: len(starts)]), dtype=np.float64)

    return values


def value_of_scores(name: str, scores: ModelScores) -> ValueOfWeights:
    """Give a measure of scores."""
    base, average = base_and_average(name)
    rows = scores.rows_of_loss(name)
    if rows is not None:
        return lambda weights: np.array([_mean(rows, one) for one in weights])
    measure = find_measure(base)

    def ranked(score: NDArray[Any], truth: NDArray[np.bool_], weights: Array) -> float:
        taken = weights > 0
        if not taken.any():
            return np.nan
        return float(measure.value(rank(score[taken], truth[taken], weights[taken])))

    def value(weights: Array) -> float:
        classes = scores.score.shape[1]
        if average == "micro":
            return ranked(scores.score.ravel(), scores.truth.ravel(), np.repeat(weights, classes))
        each = np.array(
            [ranked(scores.score[:, k], scores.truth[:, k], weights) for k in range(classes)]
        )
        support = weights @ scores.truth
        return _mean(each, support if average == "weighted" else (support > 0).astype(np.float64))

    return lambda weights: np.array([value(one) for one in weights])


def _mean(values: Array, weights: Array) -> float:
    used = ~np.isnan(values) & (weights > 0)
    if not used.any():
        return np.nan
    return float(np.average(values[used], weights=weights[used]))
