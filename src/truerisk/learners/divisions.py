"""The divisions that a splitter of scikit-learn, or a list, makes of the examples."""

import copy
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from truerisk.aliases import Indices
from truerisk.checks import shown
from truerisk.errors import InputError

KINDS = "a number of folds, a splitter of scikit-learn or a list of (train, test) positions"


def is_number_of_folds(cv: Any) -> bool:
    """Whether `cv` only says how many folds there are."""
    return isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)


def divisions_of(cv: Any, X: Any, y: Any, groups: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    """Give what a splitter or a list says; a splitter that draws gets the seed."""
    if isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InputError(f"`cv` must be {KINDS}; got {shown(cv)}.")
    if not hasattr(cv, "split"):
        for one in cv:
            try:
                train, test = one
            except (TypeError, ValueError):
                raise InputError(f"`cv` must be {KINDS}; got {shown(one)} in it.") from None
            yield train, test
        return
    if getattr(cv, "random_state", 0) is None and getattr(cv, "shuffle", True):
        cv = copy.copy(cv)
        cv.random_state = int(np.random.SeedSequence(seed).generate_state(1)[0])
    try:
        with warnings.catch_warnings():
            # A splitter that ignores groups is refused where it tears one apart.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            divisions = iter(cv.split(X, y, groups))
            first = next(divisions, None)
        if first is not None:
            yield first
        yield from divisions
    except ValueError as problem:
        raise InputError(f"`cv` must be able to divide these examples: {problem}") from problem


def positions_of(side: Any, n: int, at: int) -> Indices:
    """Make positions of the examples of one side; marks are taken too, as scikit-learn does."""
    column = np.asarray(side)
    if column.dtype == bool and column.shape == (n,):
        column = np.flatnonzero(column)
    if column.ndim != 1 or not len(column) or column.dtype.kind not in "iu":
        raise InputError(
            f"`cv` must give positions of examples, some to train on and some to test; division "
            f"{at} has {shown(side)}."
        )
    if column.min() < 0 or column.max() >= n:
        wrong = column.min() if column.min() < 0 else column.max()
        raise InputError(f"`cv` must give positions from 0 to {n - 1}; division {at} has {wrong}.")
    if len(np.unique(column)) < len(column):
        raise InputError(
            f"`cv` must name an example once on a side; division {at} names some twice. For "
            "samples drawn with replacement take method='bootstrap'."
        )
    return column.astype(np.intp)
