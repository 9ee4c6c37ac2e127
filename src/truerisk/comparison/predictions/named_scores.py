"""Scores of classifiers on data sets, as given: checked and named."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array
from truerisk.checks import shown
from truerisk.errors import InputError

WHAT = {"names": "classifier", "datasets": "data set"}


def named_scores(
    scores: ArrayLike, names: Sequence[str] | None, datasets: Sequence[str] | None
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """Give data sets × classifiers × folds, the classifiers' names, and the data sets'.

    Examples
    --------
    >>> folds, names, datasets = named_scores([[0.9, 0.8], [0.7, 0.6]], ["a", "b"], None)
    >>> folds.shape, names, datasets
    ((2, 2, 1), ('a', 'b'), ('data set 1', 'data set 2'))
    """
    folds = _check_scores(scores)
    texts = _check_names(_names(scores, names, "columns", "names"), folds.shape[1], "names")
    rows = _check_names(_names(scores, datasets, "index", "datasets"), folds.shape[0], "datasets")
    _check_finite(folds, texts, rows)
    return folds, texts, rows


def _check_scores(scores: ArrayLike) -> Array:
    """Give data sets × classifiers × folds; one score is one fold."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "`scores` must be numbers, as many for each data set; got something else."
        ) from None
    shape = " × ".join(map(str, table.shape)) or "one number"
    if table.ndim not in {2, 3}:
        raise InputError(
            f"`scores` must be data sets × classifiers, or × folds as well; got {shape}."
        )
    if table.shape[0] < 2 or table.shape[1] < 2 or table.size == 0:
        raise InputError(f"`scores` must be of two data sets and classifiers or more; got {shape}.")
    return table[:, :, None] if table.ndim == 2 else table


def _check_finite(folds: Array, names: tuple[str, ...], datasets: tuple[str, ...]) -> None:
    wrong = np.argwhere(~np.isfinite(folds))
    if len(wrong):
        row, column, fold = wrong[0]
        raise InputError(
            f"`scores` must all be finite; got {folds[row, column, fold]} for {names[column]} on "
            f"{datasets[row]}. Leave out data sets that a classifier has no score on."
        )


def _names(
    scores: object, given: Sequence[str] | None, attribute: str, argument: str
) -> Sequence[object] | None:
    if given is not None:
        if isinstance(given, str):
            raise InputError(f"`{argument}` must be a list of names; got {shown(given)}.")
        return given
    # A data frame names its columns and rows; so do some arrays, which is as well.
    names = getattr(scores, attribute, None)
    return None if names is None or callable(names) else list(names)


def _check_names(given: Sequence[object] | None, count: int, argument: str) -> tuple[str, ...]:
    what = WHAT[argument]
    if given is None:
        return tuple(f"{what} {place + 1}" for place in range(count))
    texts = tuple(map(str, given))
    if len(texts) != count:
        raise InputError(f"`{argument}` must be {count}, one for each {what}; got {len(texts)}.")
    twice = next((name for name in texts if texts.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"`{argument}` must differ; got {shown(twice)} twice.")
    return texts


def fold_means(folds: Array) -> Array:
    """Give the mean of folds, exactly rounded: the same folds in another order are a tie."""
    if folds.shape[2] == 1:
        return folds[:, :, 0]
    return np.array([[math.fsum(one) / len(one) for one in row] for row in folds.tolist()])
