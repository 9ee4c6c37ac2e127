"""What a measure of the registry is on folds: the bare value, with no interval."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.evaluation.positive import positive_of_two
from truerisk.measures.registry import Measure
from truerisk.tallies.cells import ClassCounts
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import rank


def over_all_folds(
    measure: Measure,
    truth: Indices,
    called: Indices,
    classes: NDArray[Any],
    pos_label: Any = None,  # noqa: ANN401
) -> float:
    """Give a measure of counts, from codes of `classes`.

    Examples
    --------
    >>> from truerisk.measures import MEASURES
    >>> truth, called = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> over_all_folds(MEASURES["precision"], truth, called, np.array([0, 1]))
    0.6666666666666666
    """
    width = len(classes)
    counts = ClassCounts(
        tp=np.bincount(truth[truth == called], minlength=width),
        truth=np.bincount(truth, minlength=width),
        predicted=np.bincount(called, minlength=width),
        correct=np.array(np.count_nonzero(truth == called)),
        n=np.array(len(truth)),
        cost=np.array(0.0),
    )
    if measure.needs == "class counts" and measure.name != "cost":
        return float(measure.value(counts))
    if measure.needs == "binary counts":
        at = positive_place(measure, classes, pos_label)
        return float(measure.value(counts.one_vs_rest)[at])
    raise InputError(
        f"`measure` must be one of labels or scores to choose settings by; got {measure.name}."
    )


def mean_over_folds(
    measure: Measure,
    folds: Sequence[tuple[Indices, Array]],
    classes: NDArray[Any],
    pos_label: Any = None,  # noqa: ANN401
) -> float:
    """Give a measure of scores, fold by fold, and average; of several classes, over these too.

    Examples
    --------
    >>> from truerisk.measures import MEASURES
    >>> fold = np.array([0, 1, 1]), np.array([0.2, 0.1, 0.9])
    >>> mean_over_folds(MEASURES["roc_auc"], [fold, fold], np.array([0, 1]))
    0.5
    """
    return float(np.mean([_of_scores(measure, *fold, classes, pos_label) for fold in folds]))


def needed_scores(found: Mapping[str, NDArray[Any]], measure: Measure) -> Array:
    """Refuse a model that gives no scores, or none that are probabilities."""
    if "score" not in found:
        raise InputError(
            f"`measure` must be one of labels for a model that gives no scores; got {measure.name}."
        )
    if measure.needs == "probabilities" and not found["probabilities"]:
        raise InputError(
            f"`measure` must not need probabilities, which the model does not give; "
            f"got {measure.name}."
        )
    return found["score"]


def positive_place(measure: Measure, classes: NDArray[Any], pos_label: Any) -> int:  # noqa: ANN401
    """Find the positive class among two."""
    names = [str(one) for one in classes]
    if len(names) > 2:
        raise InputError(
            f"`measure` must be one of all classes, such as balanced_accuracy; {measure.name} is "
            f"of one against the rest, and there are {len(names)}."
        )
    return names.index(positive_of_two(names, None if pos_label is None else str(pos_label)))


def _of_scores(
    measure: Measure,
    truth: Indices,
    scores: Array,
    classes: NDArray[Any],
    pos_label: Any,  # noqa: ANN401
) -> float:
    if measure.needs == "probabilities":
        tally = ProbabilityTally().add(scores, truth == 1 if scores.ndim == 1 else truth)
        return float(measure.value(tally))
    if scores.ndim == 1:
        # Scores are of the second class: those of the first are their opposites.
        at = positive_place(measure, classes, pos_label)
        return float(measure.value(rank(scores if at == 1 else -scores, truth == at)))
    of_each = [
        measure.value(rank(np.ascontiguousarray(column), truth == code))
        for code, column in enumerate(scores.T)
    ]
    return float(np.mean(of_each))
