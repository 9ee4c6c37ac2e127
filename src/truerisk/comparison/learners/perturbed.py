"""The difference of two machines by perturbation resampling: the same weights, the same folds."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from truerisk.aliases import Array, Ends
from truerisk.checks import check_choice, check_level, check_number
from truerisk.comparison.conclusion import conclude
from truerisk.comparison.predictions.mcnemar import mcnemar
from truerisk.comparison.predictions.paired_difference import (
    clustered_paired_ends,
    clustered_paired_p,
    paired_difference_ends,
)
from truerisk.errors import InputError
from truerisk.estimation.svm.perturbation import (
    LOSSES,
    Design,
    Losses,
    Progress,
    perturbed_estimate,
)
from truerisk.intervals.perturbed import normal, percentile, two_sided_p
from truerisk.learners.refits import number_of_rows
from truerisk.results import Comparison
from truerisk.svm.weighted_refits import check_model

DifferenceForm = Literal["percentile", "normal"]

ENDS = {"percentile": percentile, "normal": normal}


def perturbation_difference(
    first: Any,  # noqa: ANN401
    second: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    second_X: Any = None,  # noqa: ANN401
    names: tuple[str, str] = ("first", "second"),
    replicates: int = 1000,
    folds: int = 10,
    losses: Losses = "cross_validated",
    interval: DifferenceForm = "normal",
    region: float | None = None,
    level: float = 0.95,
    groups: Any = None,  # noqa: ANN401
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Comparison:
    r"""Tell whether the second of two machines errs less than the first on unseen examples.

    Both are trained under the same weights G and judged on the same folds; the difference of their
    cross-validated errors is given an interval by the difference of what the weights did to them:

    .. math:: \Delta = \mathcal D_2 - \mathcal D_1, \qquad W^*_\Delta = W^*_2 - W^*_1

    The machines may differ in kernel, C, or the features they see (`second_X`).  What is promised,
    and where it fails, is as for `tr.perturbation`.

    Parameters
    ----------
    first, second
        Machines as `tr.perturbation` takes them.
    X, y
        The examples and their labels, of two classes.
    second_X
        The same examples as the second machine sees them, where that differs.
    names
        What the two are called.
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
    >>> found = perturbation_difference(LinearSVM(), KernelSVM(), X, X[:, 0] * X[:, 1] > 0,
    ...                                 names=("linear", "rbf"), random_state=1)
    >>> found.finding
    'better'
    """
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
    tell = _halves(progress)
    one = design.losses(first, losses, progress=tell[0])
    two = design.losses(second, losses, X=second_X, progress=tell[1])
    estimates = [
        perturbed_estimate(model, design, found, level=level)
        for model, found in ((first, one), (second, two))
    ]
    value = estimates[1].value - estimates[0].value
    deviations = two.asked.spread - one.asked.spread
    notes: tuple[str, ...] = ()
    if np.ptp(deviations) > 0:
        n = design.examples.n
        p_value = _p_value(interval, value, deviations)
        method = f"perturbation_{interval}"

        def ends_at(level: float) -> Ends:
            return ENDS[interval](value, deviations, n, level)

    else:
        gained = one.judged.wrong.astype(float) - two.judged.wrong
        method = "tango" if design.examples.groups is None else "clustered_paired"
        notes = ("No weighting tells the two apart: interval and p are of the folds' losses.",)

        def ends_at(level: float) -> Ends:
            low, high = _by_losses(gained, design.examples.groups, level)
            return -high, -low

        p_value = _p_by_losses(gained, design.examples.groups)

    return conclude(
        names,
        estimates[0],
        estimates[1],
        ends_at=ends_at,
        level=level,
        interval_method=method,
        p_value=p_value,
        method="perturbation",
        region=region,
        notes=notes,
    )


def _p_value(interval: str, value: float, deviations: Array) -> float:
    """Give the p-value of no difference that belongs to the interval."""
    if interval == "percentile":
        return two_sided_p(value, deviations)
    return 2 * float(ndtr(-abs(value) / deviations.std(ddof=1)))


def _by_losses(gained: Array, groups: NDArray[np.intp] | None, level: float) -> Ends:
    """Give the ends for the share by which the second is right more often."""
    if groups is not None:
        return clustered_paired_ends(gained, groups, level)
    only_second, only_first = int((gained > 0).sum()), int((gained < 0).sum())
    rest = len(gained) - only_first - only_second
    return paired_difference_ends(rest, only_first, only_second, 0, level=level)


def _p_by_losses(gained: Array, groups: NDArray[np.intp] | None) -> float:
    """Give the p-value of no difference that goes with `_by_losses`."""
    if groups is not None:
        return clustered_paired_p(gained, groups)
    return mcnemar(int((gained < 0).sum()), int((gained > 0).sum()))


def _check_rows(second_X: Any, n: int) -> None:  # noqa: ANN401
    if second_X is not None and number_of_rows(second_X) != n:
        raise InputError(
            f"`second_X` must have the same {n} examples as `X`; got {number_of_rows(second_X)}."
        )


def _halves(progress: Progress | None) -> tuple[Progress | None, Progress | None]:
    """Make one count of both machines' refits."""
    if progress is None:
        return None, None
    return (
        lambda done, total: progress(done, 2 * total),
        lambda done, total: progress(total + done, 2 * total),
    )
