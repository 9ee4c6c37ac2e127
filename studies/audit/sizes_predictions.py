"""Two models that are equally good, as the tests of predictions see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from studies.audit.sizes_outcomes import Found, Outcome, outcome_of
from truerisk.comparison.predictions.joined import JoinedPredictions, join_arrays
from truerisk.comparison.predictions.paired_measures import PairedMeasures
from truerisk.comparison.predictions.right_answers import by_table
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.request import Request

Array = NDArray[np.float64]

DISTANCE = 1.5  # of the mean scores of the classes, in standard deviations
THRESHOLD = 1.0
OF_THREE = (0.5, 0.3, 0.2)
WRONG = 0.25
ROWS_A_GROUP = 5
GROUPED_SHARE = 0.5  # of the variance, what the examples of a group have in common

COUNTED = (
    "error_rate",
    "balanced_accuracy",
    "matthews_correlation",
    "cohen_kappa",
    "precision",
    "recall",
    "specificity",
    "f1",
    "jaccard",
    "roc_auc",
    "log_loss",
    "brier_score",
)
OF_CLASSES = (
    "error_rate",
    "balanced_accuracy",
    "matthews_correlation",
    "cohen_kappa",
    "precision_macro",
    "recall_macro",
    "f1_macro",
    "f1_weighted",
)
RANKED = ("average_precision", "best_f1", "ks")


@dataclass(frozen=True)
class Alike:
    """How two models resemble each other: `correlation` is that of their scores in a class."""

    correlation: float
    pos_label: float = 0.3
    grouped: bool = False


BINARY = {
    "3 in 10 positive, scores correlated 0.2": Alike(0.2),
    "3 in 10 positive, scores correlated 0.9": Alike(0.9),
    "1 in 10 positive, scores correlated 0.5": Alike(0.5, pos_label=0.1),
}
CLASSES = {
    "three classes, errors correlated 0.2": Alike(0.2),
    "three classes, errors correlated 0.9": Alike(0.9),
}
GROUPS = {
    "groups of 5, scores correlated 0.2": Alike(0.2, grouped=True),
    "groups of 5, scores correlated 0.9": Alike(0.9, grouped=True),
}


def two_outlooks(n: int, alike: Alike, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw two standard normals for each example, as much alike as told, and exchangeable.

    Examples
    --------
    >>> first, second = two_outlooks(20_000, Alike(0.9), np.random.default_rng(0))
    >>> round(float(np.corrcoef(first, second)[0, 1]), 2)
    0.9
    """
    common, *own = (_noise(n, rng, grouped=alike.grouped) for _ in range(3))
    part = alike.correlation
    first, second = (np.sqrt(part) * common + np.sqrt(1 - part) * one for one in own)
    return first, second


def _noise(n: int, rng: np.random.Generator, *, grouped: bool) -> Array:
    if not grouped:
        return rng.normal(size=n)
    shared = rng.normal(size=-(-n // ROWS_A_GROUP))[group_of(n)]
    noise: Array = np.sqrt(GROUPED_SHARE) * shared + np.sqrt(1 - GROUPED_SHARE) * rng.normal(size=n)
    return noise


def group_of(n: int) -> NDArray[np.intp]:
    """Give the group of each example."""
    return np.arange(n) // ROWS_A_GROUP


def scored(n: int, alike: Alike, rng: np.random.Generator) -> dict[str, Any]:
    """Draw labels, and what two equally good models say of them; calibrated, without groups."""
    y = rng.random(n) < alike.pos_label
    scores = [one + DISTANCE * y for one in two_outlooks(n, alike, rng)]
    even = logit(alike.pos_label) - DISTANCE**2 / 2
    return {
        "y_true": y.astype(int),
        "predictions": [(score > THRESHOLD).astype(int) for score in scores],
        "scores": [expit(DISTANCE * score + even) for score in scores],
        "groups": group_of(n) if alike.grouped else None,
    }


def called(n: int, alike: Alike, rng: np.random.Generator) -> dict[str, Any]:
    """Draw labels of three classes, and the calls of two models that err equally often."""
    y = rng.choice(3, size=n, p=OF_THREE)
    wrong = [one < ndtri(WRONG) for one in two_outlooks(n, alike, rng)]
    shift = rng.integers(1, 3, size=(2, n))
    predictions = [np.where(w, (y + s) % 3, y) for w, s in zip(wrong, shift, strict=True)]
    return {"y_true": y, "predictions": predictions, "scores": [None, None], "groups": None}


def compared(drawn: dict[str, Any], measures: Sequence[str], **options: Any) -> Found:  # noqa: ANN401
    """Give what `tr.compare` says by each measure; it also judges the best, which is left out here.

    Examples
    --------
    >>> found = compared(called(50, Alike(0.2), np.random.default_rng(0)), ["error_rate"])
    >>> found["error_rate"].method
    'mcnemar_mid_p'
    """
    joined = join_arrays(
        drawn["y_true"], drawn["predictions"], drawn["scores"], groups=drawn["groups"]
    )
    # Each model's own interval plays no part here; Wilson's is the quickest.
    request = Request.of(
        {"binomial": "wilson", **options, "measures": tuple(measures), "random_state": 0}
    )
    paired = _paired(joined.with_made_predictions(request), request)
    return {name: _by(paired, name) for name in measures}


def _by(paired: PairedMeasures, name: str) -> Outcome:
    table = paired.table((0, 1))
    if name != "error_rate" or table is None or paired.joined.group is not None:
        return outcome_of(paired.compare((0, 1), name)[0])
    # The same without planning a larger test set, which takes most of the time.
    level = paired.request.level
    found = by_table(table, of_errors=True, level=level, method=paired.interval, plans=False)
    return Outcome(found.p_value, found.method, *found.spread.ends(0.0, level))


def _paired(joined: JoinedPredictions, request: Request) -> PairedMeasures:
    tallies = tuple(joined.tallies(at, request) for at in range(2))
    evaluations = {
        name: assemble(found, request) for name, found in zip(joined.names, tallies, strict=True)
    }
    return PairedMeasures(joined, request, tallies, evaluations)


def by_counts(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try the tests that need no resamples."""
    drawn = scored(n, {**BINARY, **GROUPS}[setting], rng)
    return compared(drawn, COUNTED, pos_label=1, probabilities=True)


def by_classes(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try the tests of several classes."""
    return compared(called(n, CLASSES[setting], rng), OF_CLASSES)


def by_rankings(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try the tests that resample."""
    return compared(scored(n, {**BINARY, **GROUPS}[setting], rng), RANKED, pos_label=1)
