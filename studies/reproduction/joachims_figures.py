"""Figures 4 to 6 of Joachims: estimate and hold-out set against the number of training documents.

The paper draws these curves and prints no numbers; only their right end is in Table 1.  It says 20
splits in the text and ten in the captions.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from studies.reproduction.joachims_corpora import REUTERS
from studies.reproduction.joachims_pictures import CurvePicture
from studies.reproduction.joachims_printed import DECIMALS, SOURCE, WORDS, printed_table
from studies.reproduction.joachims_trials import (
    RHOS,
    Compared,
    Places,
    compare,
    run_trial,
    troubles,
)
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings
from truerisk.errors import InputError

CATEGORIES = ("earn", "acq", "money-fx")
SIZES = (64, 194, 645, 1935, 6451)
SHOWN = ("error_rate", "f1")
COLUMNS = (
    *("category", "measure", "documents", "estimate", "hold-out", "difference"),
    *("estimate in Table 1", "hold-out in Table 1"),
)


def reproduce(settings: Settings) -> Reproduction:
    """Repeat the learning curves: tests of the same size as the training sets, ρ = 1."""
    documents = REUTERS.read(settings.data, CATEGORIES)
    sizes = [size for size in SIZES if 2 * size <= len(documents)]
    if not sizes:
        raise InputError(
            f"The collection must have at least {2 * SIZES[0]} documents; got {len(documents)}."
        )
    splits = same_sizes(len(documents), sizes, settings)
    trials = [
        run_trial(documents, train, test)
        for train, test in settings.progress(splits, settings.splits * len(sizes))
    ]
    points = [
        point
        for size in sizes
        for point in compare(CATEGORIES, [one for one in trials if one.train_size == size])
        if point.rho == RHOS[0] and point.measure in SHOWN
    ]
    curves = [
        tuple(point for point in points if (point.category, point.measure) == (category, measure))
        for category in CATEGORIES
        for measure in SHOWN
    ]
    return Reproduction(
        title="Figures 4 to 6: learning curves of three Reuters categories, ρ = 1",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(_cells(point) for curve in curves for point in curve),
        conclusion=(
            *REUTERS.remarks(len(documents)),
            *_conclusion(curves),
            _set_up(settings),
            *troubles(trials),
        ),
        pictures=tuple(map(CurvePicture, curves)),
    )


def same_sizes(
    total: int, sizes: Sequence[int], settings: Settings
) -> Iterator[tuple[Places, Places]]:
    """Draw for each split and each size a training set, and a test set of the same size."""
    rng = np.random.default_rng(settings.random_state)
    for _ in range(settings.splits):
        for size in sizes:
            order = rng.permutation(total)
            yield order[:size], order[size : 2 * size]


def _cells(point: Compared) -> tuple[str, ...]:
    decimals = DECIMALS[point.measure]
    estimate, holdout = point.estimate, point.holdout
    printed = ("–", "–")
    if point.train_size == SIZES[-1]:
        line = next(
            line for line in printed_table("joachims_table1.csv") if line.category == point.category
        )
        printed = (
            line.estimate[point.measure].written(decimals),
            line.holdout[point.measure].written(decimals),
        )
    return (
        *(point.category, WORDS[point.measure], str(point.train_size)),
        *(estimate.written(decimals), holdout.written(decimals)),
        f"{estimate.mean - holdout.mean:+.{decimals}f}",
        *printed,
    )


def _set_up(settings: Settings) -> str:
    return (
        f"Averages over {settings.splits} random splits from seed {settings.random_state} (the "
        "paper says 20 in the text, ten in the captions); each test set has as many documents as "
        "its training set."
    )


def _conclusion(curves: Sequence[Sequence[Compared]]) -> Iterator[str]:
    for curve in curves:
        first, last = curve[0], curve[-1]
        deviations = [
            f"{point.estimate.deviation:.2f} ({point.holdout.deviation:.2f})" for point in curve
        ]
        biases = [f"{point.estimate.mean - point.holdout.mean:+.2f}" for point in curve]
        yield (
            f"{first.category}, {WORDS[first.measure]}, {first.train_size} to "
            f"{last.train_size} documents: estimate less hold-out {', '.join(biases)}; standard "
            f"deviation of the estimate, and in brackets of the hold-out set, "
            f"{', '.join(deviations)}."
        )
