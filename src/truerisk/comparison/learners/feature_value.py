"""What does a feature add: one machine with and without it, on the same weights and folds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.comparison.learners.perturbed import perturbation_difference
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
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

    Negative, if they help.  The machine without them is the first of the comparison and that with
    all features the second, so that "better" means that they are worth having; see
    `tr.perturbation_difference`.

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
        As in `tr.perturbation_difference`: region, folds, replicates, groups, random_state, …;
        `names` are those of the machine without and of that with them.

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
    if "second_X" in options:
        raise InputError("`second_X` must be left out: both machines see columns of `X`.")
    options.setdefault("names", ("fewer features", "all features"))
    return perturbation_difference(
        model if without is None else without,
        model,
        _without(rows, drop),
        y,
        second_X=rows,
        **options,
    )


def _without(X: Any, drop: Sequence[int | str]) -> Any:  # noqa: ANN401
    """Leave columns out; refuse to leave out none, all, or what is not there."""
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise InputError("`X` must be a table to drop columns of; got one column, or texts.")
    wanted = [drop] if isinstance(drop, (str, int, np.integer)) else list(drop)
    dropped = [place for column in wanted for place in _places(column, X)]
    kept = np.setdiff1d(np.arange(X.shape[1]), dropped)
    if not 0 < len(kept) < X.shape[1]:
        raise InputError(
            f"`drop` must leave out some of the {X.shape[1]} columns of `X`, and not all; got "
            f"{shown(wanted)}."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, kept]
    return X[:, kept.tolist()] if hasattr(X, "get_columns") else X[:, kept]


def _places(column: Any, X: Any) -> list[int]:  # noqa: ANN401
    """Give the numbers of the columns of one name, or the number itself, counted from the end."""
    names, width = list(getattr(X, "columns", [])), X.shape[1]
    if isinstance(column, str):
        if column not in names:
            raise InputError(f"`drop` must name columns of `X`; got {shown(column)}.")
        return [place for place, name in enumerate(names) if name == column]
    is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if not is_number or not -width <= column < width:
        raise InputError(
            f"`drop` must be numbers or names of the {width} columns of `X`; got {shown(column)}."
        )
    return [int(column) % width]
