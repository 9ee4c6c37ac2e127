"""What does a feature add: one machine with and without it, on the same weights and folds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.comparison.perturbation_difference import perturbation_difference
from truerisk.errors import InputError
from truerisk.estimation.examples import Examples
from truerisk.results import Comparison


def feature_value(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    drop: Sequence[int | str],
    without: Any = None,  # noqa: ANN401
    **options: Any,  # noqa: ANN401
) -> Comparison:
    r"""Tell what some features add to a machine that has all the others.

    .. math:: \Delta = \mathcal D_{with} - \mathcal D_{without}

    Negative, if they help.  "Without" is the first model of the comparison and "with" the second,
    so that "better" means that the features are worth having; see `tr.perturbation_difference`.

    Parameters
    ----------
    model
        A machine as `tr.perturbation` takes it.
    X, y
        The examples and their labels, of two classes.
    drop
        The features in question: columns of X by number, or by name if X is a data frame.
    without
        The machine for the examples without them, if it is to be another (with its own C, say).
    **options
        As in `tr.perturbation_difference`: region, folds, replicates, groups, random_state, …

    References
    ----------
    .. [1] B. Jiang, X. Zhang and T. Cai, "Estimating the confidence interval for prediction errors
       of support vector machine classifiers", JMLR 9, 521-540, 2008, section 4.4.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> X = np.random.default_rng(0).normal(size=(150, 3))
    >>> y = X[:, 0] + X[:, 2] > 0
    >>> feature_value(LinearSVM(), X, y, drop=[2], random_state=1).finding
    'better'
    >>> feature_value(LinearSVM(), X, y, drop=[1], random_state=1).finding
    'no evidence'
    """
    rows = Examples.of(X, y, needs_positive=False).X
    return perturbation_difference(
        model if without is None else without,
        model,
        _without(rows, drop),
        y,
        second_X=rows,
        names=("without", "with"),
        **options,
    )


def _without(X: Any, drop: Sequence[int | str]) -> Any:  # noqa: ANN401
    """Leave columns out; refuse to leave out none, all, or what is not there."""
    names = list(getattr(X, "columns", []))
    width = X.shape[1]
    numbers: list[int] = []
    for column in [drop] if isinstance(drop, (str, int, np.integer)) else drop:
        if isinstance(column, str):
            if column not in names:
                raise InputError(f"`drop` must name columns of `X`; got {shown(column)}.")
            numbers.append(names.index(column))
        elif not -width <= column < width:
            raise InputError(f"`drop` must be columns of the {width} of `X`; got {shown(column)}.")
        else:
            numbers.append(int(column) % width)
    kept = np.setdiff1d(np.arange(width), numbers)
    if not 0 < len(kept) < width:
        raise InputError(
            f"`drop` must leave out some of the {width} columns of `X`, and not all; got "
            f"{shown(list(drop))}."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, kept]
    return X[:, kept.tolist()] if hasattr(X, "get_columns") else X[:, kept]
