"""The best of several models, and what it is worth without the luck it was chosen by."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.comparison.predictions.comparisons import Chosen
from truerisk.comparison.predictions.model_scores import ModelScores
from truerisk.comparison.predictions.paired_cells import PairedCells, count_function, joint_cells
from truerisk.comparison.predictions.paired_measures import PairedMeasures, is_of_counts
from truerisk.estimation.refits.best_of import estimate_of_choices
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.tallies.ranking import rank

ValueOfWeights = Callable[[Array], Array]  # how often each example counts, (R, n) → values, (R,)

REPLICATES = 500
REPLICATES_OF_SCORES = 200  # each ranks all examples again
MAX_ROWS = 2 * 10**7  # examples × models × replicates
MIN_REPLICATES = 100
MAX_ENTRIES = 2**20  # of the table of draws held at once


def chosen_here(paired: PairedMeasures, name: str) -> Chosen | None:
    r"""Name the model that is best by a measure, and assess the choice itself.

    The best of k looks better than it is: it was chosen for the number that is then reported.  The
    choice is repeated: examples (or groups) are drawn with replacement, the best model on those
    drawn is chosen, and evaluated on the examples that were not drawn.

    Measured with eight equally good models of error rate 0.2 and n = 300, 150 samples: the best
    one's own rate is 0.169 on average and its interval covers 0.2 in 0.87 of them; the corrected
    rate is 0.202 and its interval, as wide as so few examples make it, covers in all of them.

    None where no model has a value, or only one has the measure.
    """
    entries = {
        at: paired.evaluations[model][name]
        for at, model in enumerate(paired.rows.names)
        if name in paired.evaluations[model]
    }
    values = {at: entry.value for at, entry in entries.items() if np.isfinite(entry.value)}
    if len(values) < 2:
        return None
    sign = -1.0 if find_measure(base_and_average(name)[0]).higher_is_better is False else 1.0
    best = max(values, key=lambda at: sign * values[at])
    functions = [_value_of_weights(paired, at, name) for at in values]
    able = [function for function in functions if function is not None]
    if len(able) < len(functions):
        return None
    values_of_winners = _choose_again(paired, able, sign, name)
    if not len(values_of_winners):
        return None
    corrected = replace(
        estimate_of_choices(
            values_of_winners, name, level=paired.request.level, n=paired.rows.n, method="best_of"
        ),
        target="this model",
    )
    return Chosen(
        name=paired.rows.names[best],
        own=entries[best],
        corrected=corrected,
        optimism=sign * (values[best] - corrected.value),
    )


def _choose_again(
    paired: PairedMeasures, functions: list[ValueOfWeights], sign: float, name: str
) -> Array:
    """Choose on units drawn with replacement; give the winners' values on those not drawn."""
    joined = paired.rows
    units = np.arange(joined.n) if joined.group is None else joined.group
    size = int(units.max()) + 1
    seed = [paired.request.random_state or 0, zlib.crc32(b"best of " + name.encode())]
    rng = np.random.default_rng(seed)
    most = REPLICATES if is_of_counts(name) else REPLICATES_OF_SCORES
    times = max(MIN_REPLICATES, min(most, MAX_ROWS // (joined.n * len(functions))))
    block = max(1, MAX_ENTRIES // joined.n)
    of_winners: list[float] = []
    for start in range(0, times, block):
        rows = min(block, times - start)
        drawn = np.stack(
            [np.bincount(rng.integers(size, size=size), minlength=size)[units] for _ in range(rows)]
        ).astype(np.float64)
        left = (drawn == 0).astype(np.float64)
        inside = np.stack([sign * function(drawn) for function in functions])
        outside = np.stack([function(left) for function in functions])
        defined = np.where(np.isnan(inside), -np.inf, inside)
        winners = defined == defined.max(axis=0)
        # Of winners that are even, any might have been chosen.
        means = np.where(winners, outside, 0.0).sum(axis=0) / winners.sum(axis=0)
        of_winners.extend(means.tolist())
    values = np.array(of_winners)
    return np.asarray(values[np.isfinite(values)])


def _value_of_weights(paired: PairedMeasures, model: int, name: str) -> ValueOfWeights | None:
    """Give a measure of one model as a function of how often each example counts."""
    weight = 1.0 if paired.rows.weight is None else paired.rows.weight
    function: ValueOfWeights | None
    if is_of_counts(name):
        pair = (model, model)
        places = joint_cells(paired.rows, pair)[1]
        zero = paired.request.zero_division
        function = value_of_counts(name, paired.cells(pair), places, paired.average_over, zero)
    else:
        function = value_of_scores(name, paired.scores.of_model(model))
    return None if function is None else lambda times: function(weight * times)


def value_of_counts(
    name: str,
    cells: PairedCells,
    at: Indices,
    over: Flags | None,
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

    def ranked(score: NDArray[Any], truth: Flags, weights: Array) -> float:
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
