"""The best of several models, and what it is worth without the luck it was chosen by."""

import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.aliases import Array, Flags, Indices
from truerisk.comparison.predictions.comparisons import Chosen
from truerisk.comparison.predictions.paired_cells import PairedCells, count_function, joint_cells
from truerisk.comparison.predictions.paired_measures import PairedMeasures, is_of_counts
from truerisk.estimation.refits.best_of import estimate_of_choices
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.tallies.cells import ratio
from truerisk.tallies.ranking_weights import SortedRows
from truerisk.tallies.scored_rows import ScoredRows

ValueOfWeights = Callable[[Array], Array]  # how often each example counts, (R, n) → values, (R,)

REPLICATES = 500
REPLICATES_OF_SCORES = 200  # each ranks all examples again
MAX_ROWS = 2 * 10**7  # examples × models × replicates
MIN_REPLICATES = 100
MAX_ENTRIES = 2**20  # of the table of draws held at once
POISSON = np.array([1 / math.factorial(times) for times in range(13)]) / math.e
POISSON[-1] += 1 - POISSON.sum()


def chosen_here(paired: PairedMeasures, name: str) -> Chosen | None:
    """Name the model that is best by a measure, and assess the choice itself.

    The choice is repeated on examples (or groups) drawn with replacement and evaluated on those not
    drawn. Measured with eight equally good models (error rate 0.2, n = 300, 150 samples): the best
    one's own interval covers 0.87, the corrected one all.  None where no model, or only one, has a
    value.
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
    values_of_winners = _choose_again(paired, sign, list(values), name)
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


def _choose_again(paired: PairedMeasures, sign: float, models: list[int], name: str) -> Array:
    """Choose on units drawn with replacement; give the winners' values on those not drawn."""
    joined = paired.rows
    rows, sizes = _columns(paired, models, name)
    functions = [_value_of_weights(paired, model, name, rows) for model in models]
    if any(function is None for function in functions):
        return np.zeros(0)
    units = np.arange(len(rows)) if joined.group is None else joined.group
    rng = random_stream(paired.request.random_state, name)
    max_times = REPLICATES if is_of_counts(name) else REPLICATES_OF_SCORES
    times = max(MIN_REPLICATES, min(max_times, MAX_ROWS // (len(rows) * len(functions))))
    block = max(1, MAX_ENTRIES // len(rows))
    of_winners: list[float] = []
    for start in range(0, times, block):
        drawn, left = draw_units(units, sizes, min(block, times - start), rng)
        inside = np.stack([sign * one(drawn) for one in functions if one is not None])
        outside = np.stack([one(left) for one in functions if one is not None])
        defined = np.where(np.isnan(inside), -np.inf, inside)
        winners = defined == defined.max(axis=0)
        # Of winners that are even, any might have been chosen.
        means = np.where(winners, outside, 0.0).sum(axis=0) / winners.sum(axis=0)
        of_winners.extend(means.tolist())
    values = np.array(of_winners)
    return np.asarray(values[np.isfinite(values)])


def random_stream(random_state: int | None, measure: str) -> np.random.Generator:
    """Give the stream of the choices by one measure."""
    return np.random.default_rng([random_state or 0, zlib.crc32(b"best of " + measure.encode())])


def _columns(
    paired: PairedMeasures, models: list[int], name: str
) -> tuple[Indices, Indices | None]:
    """Give the rows to weigh, and how many others each stands for; None where it is for itself.

    Examples that all models treat alike are one cell.  Cells are drawn where that takes less time.
    """
    joined = paired.rows
    every = np.arange(joined.n)
    if not is_of_counts(name) or joined.group is not None or joined.weight is not None:
        return every, None
    columns = [joined.truth, *(np.asarray(joined.predicted[at]) for at in models)]
    _, first, counts = np.unique(
        np.column_stack(columns), axis=0, return_index=True, return_counts=True
    )
    if len(first) * len(POISSON) > joined.n:
        return every, None
    return first, counts


def draw_units(
    units: Indices, sizes: Indices | None, times: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw rows, or groups, with replacement; give how often each came, and which did not.

    Of a cell of m examples each is drawn a number of times that follows Poisson's distribution: how
    many are drawn 0, 1, 2, … times is multinomial, and the cost does not depend on m.
    """
    if sizes is not None:
        counts = rng.multinomial(sizes, POISSON, size=(times, len(sizes)))
        return counts @ np.arange(len(POISSON), dtype=np.float64), counts[..., 0].astype(np.float64)
    number = int(units.max()) + 1
    drawn = np.stack(
        [
            np.bincount(rng.integers(number, size=number), minlength=number)[units]
            for _ in range(times)
        ]
    ).astype(np.float64)
    return drawn, (drawn == 0).astype(np.float64)


def _value_of_weights(
    paired: PairedMeasures, model: int, name: str, rows: Indices
) -> ValueOfWeights | None:
    """Give a measure of one model as a function of how often each of the rows counts."""
    weight = 1.0 if paired.rows.weight is None else paired.rows.weight[rows]
    function: ValueOfWeights | None
    if is_of_counts(name):
        pair = (model, model)
        places = joint_cells(paired.rows, pair)[1][rows]
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
    """Give a measure of counts of the second model; `at` is the joint cell of each column.

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


def value_of_scores(name: str, scores: ScoredRows) -> ValueOfWeights:
    """Give a measure of scores."""
    base, average = base_and_average(name)
    rows = scores.losses(name)
    if rows is not None:
        return lambda weights: _mean(rows, weights)

    of = scores.pairs if average == "micro" else scores
    by_class = [
        SortedRows.of(score, truth) for score, truth in zip(of.score.T, of.truth.T, strict=True)
    ]

    def values(weights: Array) -> Array:
        if average == "micro":
            repeated = np.repeat(weights, scores.classes, axis=1)
            return by_class[0].values(repeated, [base])[base]
        each = np.stack([one.values(weights, [base])[base] for one in by_class], axis=1)
        support = weights @ scores.truth
        return _mean(each, support if average == "weighted" else (support > 0).astype(np.float64))

    return values


def _mean(values: Array, weights: Array) -> Array:
    """Average along the last axis what is defined and has weight."""
    used = np.where(np.isnan(values), 0.0, weights)
    return np.asarray(ratio((used * np.nan_to_num(values)).sum(axis=-1), used.sum(axis=-1)))
