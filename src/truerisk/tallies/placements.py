"""Where scores stand among other scores: what the AUC and its variances are made of."""

import numpy as np

from truerisk.aliases import Array


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
