"""The difference of two SVMs by perturbation resampling, on the same weights and folds.

Also what single features add: one SVM with and without them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from truerisk.aliases import Array, Indices
from truerisk.checks import check_choice, check_level, check_number, shown
from truerisk.comparison.conclusion import TestOutcome, conclude
from truerisk.comparison.predictions.right_answers import PairTable, by_groups, by_table
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.perturbation import (
    LOSSES,
    Design,
    Losses,
    Progress,
    perturbed_estimate,
)
from truerisk.intervals.replicates import deviation_normal, deviation_percentile, two_sided_p
from truerisk.learners.named_models import as_learner
from truerisk.learners.refits import number_of_rows
from truerisk.results import Comparison, Finding
from truerisk.svm.weighted_refits import check_model

DifferenceForm = Literal["percentile", "normal"]

SETTINGS = (
    "names", "replicates", "folds", "losses", "interval", "region", "level", "groups",
    "random_state", "n_jobs", "progress",
)  # fmt: skip

ENDS = {"percentile": deviation_percentile, "normal": deviation_normal}
NO_WEIGHTING = Finding(
    "No weighting separates the two: interval and p are of the folds' losses.", code="no_spread"
)


def perturbation_difference(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    second_X: Any = None,
    names: tuple[str, str] = ("first", "second"),
    replicates: int = 1000,
    folds: int = 10,
    losses: Losses = "cross_validated",
    interval: DifferenceForm = "normal",
    region: float | None = None,
    level: float = 0.95,
    groups: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    r"""Tell whether the second of two SVMs errs less than the first on unseen examples.

    Both are trained under the same weights G and tested on the same folds; the difference of their
    cross-validated errors is given an interval by the difference of what the weights did to them:

    .. math:: \Delta = \mathcal D_2 - \mathcal D_1, \qquad W^*_\Delta = W^*_2 - W^*_1

    The SVMs may differ in kernel, C, or the features they see (`second_X`).  What is promised,
    and where it fails, is as for `tr.perturbation`.

    Parameters
    ----------
    first, second
        SVMs as `tr.perturbation` takes them, or their names.
    X, y
        The examples and their labels, of two classes.
    second_X
        The same examples as the second SVM sees them, where that differs.
    names
        The names of the two.
    replicates, folds, losses, level, groups, random_state, n_jobs, progress
        As in `tr.perturbation`.
    interval
        "normal" or "percentile".
    region
        The largest difference of error rates that does not matter.

    References
    ----------
    .. [1] B. Jiang, X. Zhang and T. Cai, "Estimating the confidence interval for prediction errors
       of support vector machine classifiers", JMLR 9, 521-540, 2008, section 3.3.

    Examples
    --------
    >>> from truerisk import KernelSVM, LinearSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(150, 2))
    >>> comparison = perturbation_difference(LinearSVM(), KernelSVM(), X, X[:, 0] * X[:, 1] > 0,
    ...                                      names=("linear", "rbf"), random_state=1)
    >>> comparison.finding
    'better'
    """
    first, second = as_learner(first, X), as_learner(second, X if second_X is None else second_X)
    for model in (first, second):
        check_model(model)
    check_level(level)
    check_choice(losses, LOSSES, "losses")
    check_choice(interval, ENDS, "interval")
    if region is not None:
        check_number(region, "region", low=0.0, high=1.0)
    design = Design.of(
        X,
        y,
        replicates=replicates,
        folds=folds,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    _check_rows(second_X, design.examples.n)
    halves = _halves(progress)
    one = design.losses(first, losses, progress=halves[0])
    two = design.losses(second, losses, X=second_X, progress=halves[1])
    both = (
        perturbed_estimate(first, design, one, level=level),
        perturbed_estimate(second, design, two, level=level),
    )
    value = both[1].value - both[0].value
    deviations = two.chosen.spread - one.chosen.spread
    if np.ptp(deviations) > 0:
        outcome = TestOutcome(
            ends_at=partial(ENDS[interval], value, deviations, design.examples.n),
            p_value=_p_value(interval, value, deviations),
            method="perturbation",
            interval_method=f"perturbation_{interval}",
        )
    else:
        losses_apart = two.cross_validated.wrong.astype(float) - one.cross_validated.wrong
        outcome = _by_losses(losses_apart, design.examples.groups, names, level)
    return conclude(names, *both, outcome, level=level, method="perturbation", region=region)


def feature_value(
    model: Any,
    X: Any,
    y: Any,
    *,
    drop: Sequence[int | str],
    without: Any = None,
    names: tuple[str, str] = ("fewer features", "all features"),
    replicates: int = 1000,
    folds: int = 10,
    losses: Losses = "cross_validated",
    interval: DifferenceForm = "normal",
    region: float | None = None,
    level: float = 0.95,
    groups: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    r"""Tell what some features add to an SVM that has all the others.

    .. math:: \Delta = \mathcal D_{with} - \mathcal D_{without}

    Negative, if they help.  The SVM without them is the first of the comparison and that with all
    features the second: "better" means that they are worth having.

    Parameters
    ----------
    model
        An SVM as `tr.perturbation` takes it, or its name.
    X, y
        The examples and their labels, of two classes.
    drop
        The features in question: columns of X by number, or by name if X is a data frame.
    without
        The SVM for the examples without them, where it is another one (with its own C, say).
    names, replicates, folds, losses, interval, region, level, groups, random_state, n_jobs,
    progress
        As for `tr.perturbation_difference`; the first name is that of the SVM without them.

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
    given = locals()
    rows = Examples.of(X, y, needs_positive=False).X
    return perturbation_difference(
        model if without is None else without,
        model,
        _without(rows, drop),
        y,
        second_X=rows,
        **{name: given[name] for name in SETTINGS},
    )


def _by_losses(
    differences: Array, groups: Indices | None, names: tuple[str, str], level: float
) -> TestOutcome:
    """Compare by the losses of the folds, where no weighting separates the two."""
    if groups is None:
        # Of losses, "right" is wrong: those that only one has are all that the tests look at.
        table = PairTable.of(names, differences < 0, differences > 0)
        outcome = by_table(table, of_errors=False, level=level, plans=False)
    else:
        outcome = replace(by_groups(differences, groups), interval_method="clustered_paired")
    return replace(outcome, notes=(NO_WEIGHTING,), alternatives=())


def _p_value(interval: str, value: float, deviations: Array) -> float:
    """Give the p-value of no difference that belongs to the interval."""
    if interval == "percentile":
        return two_sided_p(value, deviations)
    return 2 * float(ndtr(-abs(value) / deviations.std(ddof=1)))


def _check_rows(second_X: Any, n: int) -> None:
    if second_X is not None and number_of_rows(second_X) != n:
        raise InputError(
            f"`second_X` must have the same {n} examples as `X`; got {number_of_rows(second_X)}."
        )


def _halves(progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """Make one count of the refits of both."""
    if progress is None:
        return None, None
    return (
        lambda done, total: progress(done, 2 * total),
        lambda done, total: progress(total + done, 2 * total),
    )


def _without(X: Any, drop: Sequence[int | str]) -> Any:
    """Leave columns out; refuse to leave out none, all, or what is not there."""
    if not hasattr(X, "shape") or len(X.shape) != 2:
        raise InputError("`X` must be a table to drop columns of; got one column, or texts.")
    columns = [drop] if isinstance(drop, (str, int, np.integer)) else list(drop)
    dropped = [place for column in columns for place in _places(column, X)]
    left = np.setdiff1d(np.arange(X.shape[1]), dropped)
    if not 0 < len(left) < X.shape[1]:
        raise InputError(
            f"`drop` must leave out some of the {X.shape[1]} columns of `X`, and not all; got "
            f"{shown(columns)}."
        )
    if hasattr(X, "iloc"):
        return X.iloc[:, left]
    return X[:, left.tolist()] if hasattr(X, "get_columns") else X[:, left]


def _places(column: Any, X: Any) -> list[int]:
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
