"""The rows that a comparison rests on: those that weigh something, in an order of their own."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.comparison.predictions.joined import JoinedPredictions


def rows_that_count(joined: JoinedPredictions) -> JoinedPredictions:
    """Leave out what says nothing, and put the rows in an order that depends on their content.

    Rows of weight 0 are left out; weights that are all alike, and groups of one row each, are
    dropped.  Neither the order in which the rows came nor that of the models changes the order
    here, so that resamples of one seed fall on the same examples.

    Examples
    --------
    >>> from truerisk.comparison.predictions.joined import join_arrays
    >>> joined = join_arrays([1, 0, 1], [[1, 0, 0], [0, 0, 1]], [None, None], groups=[7, 8, 9],
    ...                      sample_weight=[2.0, 2.0, 0.0])
    >>> rows = rows_that_count(joined)
    >>> rows.n, rows.weight, rows.group
    (2, None, None)
    """
    weight = joined.weight
    counted = joined if weight is None else joined.taken(np.flatnonzero(weight > 0))
    if counted.weight is not None and (counted.weight == counted.weight[0]).all():
        counted = replace(counted, weight=None)
    if counted.group is not None:
        codes = np.unique(counted.group, return_inverse=True)[1].astype(np.intp)
        counted = replace(counted, group=None if codes.max() + 1 == counted.n else codes)
    return counted.taken(np.lexsort(_keys(counted)[::-1]))


def _keys(joined: JoinedPredictions) -> list[NDArray[Any]]:
    """Give what the rows are ordered by, the weightiest first."""
    ranks = joined.ranks
    keys: list[NDArray[Any]] = [] if joined.group is None else [joined.group]
    keys.append(ranks[joined.truth])
    keys += [] if joined.weight is None else [joined.weight]
    models = [
        [*_score_columns(score), *([] if called is None else [ranks[called]])]
        for called, score in zip(joined.predicted, joined.scores, strict=True)
    ]
    return keys + [column for model in sorted(models, key=_fingerprint) for column in model]


def _score_columns(score: NDArray[Any] | None) -> list[NDArray[Any]]:
    if score is None:
        return []
    table = score[:, None] if score.ndim == 1 else score
    return [column.astype(np.float64) + 0.0 for column in table.T]  # −0.0 + 0.0 is 0.0


def _fingerprint(columns: list[NDArray[Any]]) -> tuple[bytes, ...]:
    """Tell one model from another, whatever the order of the rows."""
    return tuple(hashlib.sha256(np.sort(column).tobytes()).digest() for column in columns)
