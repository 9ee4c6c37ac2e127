"""What the best of many is worth: the estimate of a winner without the luck it won by."""

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.estimation.svm.one_vs_rest_counts import measure_values
from truerisk.results import Estimate, Interval

AT_A_TIME = 50  # replicates whose weights are held at once


def corrected_estimate(
    measure: str,
    signs: Array,
    wrong: NDArray[np.bool_],
    *,
    higher_is_better: bool,
    level: float,
    replicates: int,
    rng: np.random.Generator,
) -> Estimate:
    """Judge the choice itself: choose on examples drawn with replacement, judge by the others.

    Parameters
    ----------
    measure, signs, wrong
        As in `measure_values`; the first axis of `wrong` is the candidate.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou and G. Borboudakis, "Bootstrapping the out-of-sample
       predictions for efficient and accurate cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coins = rng.random((20, 1, 50)) < 0.5  # twenty candidates that know nothing
    >>> luck = measure_values("error_rate", np.ones((1, 50)), coins).min()
    >>> judged = corrected_estimate("error_rate", np.ones((1, 50)), coins, level=0.95,
    ...                             higher_is_better=False, replicates=500, rng=rng)
    >>> bool(luck < 0.4), round(judged.value, 1)
    (True, 0.5)
    """
    n = signs.shape[1]
    kinds, of_kind = _kinds(signs, wrong)
    judged: list[float] = []
    for start in range(0, replicates, AT_A_TIME):
        size = min(AT_A_TIME, replicates - start)
        drawn, left = _draws(of_kind, len(kinds), size, rng)
        inside = measure_values(measure, signs[:, kinds], wrong[:, :, kinds], drawn)
        outside = measure_values(measure, signs[:, kinds], wrong[:, :, kinds], left)
        order = inside if higher_is_better else -inside
        winner = np.where(np.isnan(order), -np.inf, order).argmax(axis=0)
        judged.extend(outside[winner, np.arange(size)].tolist())
    values = np.array(judged)[~np.isnan(judged)]
    if not len(values):
        return Estimate(
            value=np.nan,
            interval=Interval(0.0, 1.0, level, "bootstrap_out_of_bag"),
            measure=measure,
            method="chosen_by_bootstrap",
            n=n,
            target="the learner at this sample size",
            notes=("the measure is undefined in every replicate",),
        )
    return estimate_of_choices(values, measure, level=level, n=n, method="chosen_by_bootstrap")


def estimate_of_choices(
    judged: Array, measure: str, *, level: float, n: int, method: str
) -> Estimate:
    """Give the mean and the quantiles of what repeated choices were judged to be worth.

    Examples
    --------
    >>> found = estimate_of_choices(np.array([0.2, 0.3, 0.4]), "error_rate", level=0.5, n=9,
    ...                             method="best_of")
    >>> round(found.value, 3), round(found.interval.low, 3), round(found.interval.high, 3)
    (0.3, 0.25, 0.35)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(judged, [tail, 1 - tail])
    value = float(judged.mean())
    return Estimate(
        value=value,
        interval=Interval(
            min(float(low), value), max(float(high), value), level, "bootstrap_out_of_bag"
        ),
        measure=measure,
        method=method,
        n=n,
        target="the learner at this sample size",
        notes=("each replicate chooses anew and is judged by the examples it did not draw",),
    )


def _kinds(signs: Array, wrong: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give one example of each kind, and the kind of each example.

    Examples of one kind have the same signs and are called wrong by the same candidates.
    """
    flags = np.concatenate([signs > 0, wrong.reshape(-1, wrong.shape[-1])])
    _, first, of_kind = np.unique(
        np.packbits(flags, axis=0), axis=1, return_index=True, return_inverse=True
    )
    return first, of_kind.ravel()


def _draws(
    of_kind: NDArray[np.intp], kinds: int, size: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw the examples with replacement; count those drawn, and those never drawn, by kind."""
    n = len(of_kind)
    drawn, left = np.empty((size, kinds)), np.empty((size, kinds))
    for row in range(size):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        drawn[row] = np.bincount(of_kind, weights=times, minlength=kinds)
        left[row] = np.bincount(of_kind[times == 0], minlength=kinds)
    return drawn, left
