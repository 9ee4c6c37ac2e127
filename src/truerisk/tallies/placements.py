"""Where scores stand among other scores: what areas and their variances are made of."""

import math

import numpy as np

from truerisk.aliases import Array, Flags, Indices


def share_below(scores: Array, others: Array, weight: Array | None = None) -> Array:
    """Give for each score the share of the others that lie under it, ties counting half."""
    order, sought = np.argsort(others), np.argsort(scores)
    under, up_to = np.empty_like(sought), np.empty_like(sought)
    # Sought in their order, neighbours are found in the cache: four times as fast.
    under[sought] = np.searchsorted(others[order], scores[sought], side="left")
    up_to[sought] = np.searchsorted(others[order], scores[sought], side="right")
    if weight is None:
        return np.asarray((under + up_to) / (2 * len(others)))
    passed = np.concatenate([[0.0], np.cumsum(weight[order])])
    return np.asarray((passed[under] + passed[up_to]) / (2 * passed[-1]))


def placements(score: Array, is_positive: Flags) -> Array:
    """Give the share of the other class that each example is on the right side of, ties half.

    NaN where a class is missing.

    Examples
    --------
    >>> placements(np.array([3.0, 2.0, 2.0]), np.array([True, True, False])).tolist()
    [1.0, 0.5, 0.75]
    """
    placed = np.full(len(score), np.nan)
    of_positives, of_negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    if not (of_positives.size and of_negatives.size):
        return placed
    # In their order, neighbours are found in the cache; and each class is sorted once.
    of_positives = of_positives[np.argsort(score[of_positives])]
    of_negatives = of_negatives[np.argsort(score[of_negatives])]
    positives, negatives = score[of_positives], score[of_negatives]
    under, up_to = (np.searchsorted(negatives, positives, side=side) for side in ("left", "right"))
    placed[of_positives] = (under + up_to) / (2 * len(negatives))
    under, up_to = (np.searchsorted(positives, negatives, side=side) for side in ("left", "right"))
    placed[of_negatives] = (2 * len(positives) - under - up_to) / (2 * len(positives))
    return placed


def top_negative(score: Array, is_positive: Flags) -> float:
    """Give what one more negative, above all others, would take from average precision.

    Σ a·tp/k² over the thresholds, over P, to first order; NaN without a positive.

    Examples
    --------
    >>> top_negative(np.array([3.0, 2.0, 1.0]), np.array([True, True, False]))  # (1 + 2/4)/2
    0.75
    """
    _, hits, every = _thresholds(score, is_positive)
    positives = float(hits.sum())
    return float(hits @ (np.cumsum(hits) / every**2)) / positives if positives else math.nan


def _thresholds(score: Array, is_positive: Flags) -> tuple[Indices, Array, Array]:
    """Give the threshold of each example, its positives, and all examples down to it."""
    levels, at = np.unique(-score, return_inverse=True)
    hits = np.bincount(at, is_positive, len(levels)).astype(np.float64)
    return at, hits, np.cumsum(np.bincount(at, minlength=len(levels))).astype(np.float64)
