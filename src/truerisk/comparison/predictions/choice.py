"""The best of several models, and what it is worth without the luck it was chosen by."""

import zlib
from dataclasses import replace

import numpy as np

from truerisk.aliases import Array
from truerisk.comparison.predictions.comparisons import Chosen
from truerisk.comparison.predictions.paired_measures import OF_COUNTS, PairedMeasures
from truerisk.comparison.predictions.weighted_values import ValueOfWeights
from truerisk.estimation.refits.best_of import estimate_of_choices
from truerisk.measures.registry import base_and_average, find_measure

REPLICATES = 500
REPLICATES_OF_SCORES = 200  # each ranks all examples anew
MAX_ROWS = 2 * 10**7  # examples × models × replicates
FEWEST = 100
MAX_ENTRIES = 2**20  # of the table of draws held at once


def chosen_here(paired: PairedMeasures, name: str) -> Chosen | None:
    r"""Name the model that is best by a measure, and judge the choice itself.

    The best of k looks better than it is: it was chosen for the number that is then reported.  The
    choice is repeated: examples (or groups) are drawn with replacement, the best model on those
    drawn is chosen, and judged by the examples that were not drawn.

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
    functions = [paired.value_of_weights(at, name) for at in values]
    able = [function for function in functions if function is not None]
    if len(able) < len(functions):
        return None
    judged = _chosen_anew(paired, able, sign, name)
    if not len(judged):
        return None
    corrected = replace(
        estimate_of_choices(
            judged, name, level=paired.request.level, n=paired.rows.n, method="best_of"
        ),
        target="this model",
    )
    return Chosen(
        name=paired.rows.names[best],
        own=entries[best],
        corrected=corrected,
        optimism=sign * (values[best] - corrected.value),
    )


def _chosen_anew(
    paired: PairedMeasures, functions: list[ValueOfWeights], sign: float, name: str
) -> Array:
    """Choose on units drawn with replacement; give the winners' values on those not drawn."""
    joined = paired.rows
    units = np.arange(joined.n) if joined.group is None else joined.group
    size = int(units.max()) + 1
    seed = [paired.request.random_state or 0, zlib.crc32(b"best of " + name.encode())]
    rng = np.random.default_rng(seed)
    of_counts = find_measure(base_and_average(name)[0]).needs in OF_COUNTS
    wanted = REPLICATES if of_counts else REPLICATES_OF_SCORES
    times = max(FEWEST, min(wanted, MAX_ROWS // (joined.n * len(functions))))
    block = max(1, MAX_ENTRIES // joined.n)
    judged: list[float] = []
    for start in range(0, times, block):
        rows = min(block, times - start)
        drawn = np.stack(
            [np.bincount(rng.integers(size, size=size), minlength=size)[units] for _ in range(rows)]
        ).astype(np.float64)
        left = (drawn == 0).astype(np.float64)
        inside = np.stack([sign * function(drawn) for function in functions])
        outside = np.stack([function(left) for function in functions])
        known = np.where(np.isnan(inside), -np.inf, inside)
        winners = known == known.max(axis=0)
        # Of winners that are even, any might have been chosen.
        judged.extend((np.where(winners, outside, 0.0).sum(axis=0) / winners.sum(axis=0)).tolist())
    values = np.array(judged)
    return np.asarray(values[np.isfinite(values)])
