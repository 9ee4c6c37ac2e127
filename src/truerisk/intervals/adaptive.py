"""The adaptive interval of Laber and Murphy: the test error of a linear rule.

The error of a trained rule is no smooth function of the data where examples lie near its boundary:
there the bootstrap alone is wrong.  So the examples are parted.  Far from the boundary the
bootstrap is taken as it is; near it, the worst and the best that any linear rule could do.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from truerisk.aliases import Array, Flags
from truerisk.checks import check_level, check_number
from truerisk.errors import InputError
from truerisk.results import Interval

STEPS = 8  # of Newton's method on the smooth stand-in; more did not raise the extremes found
RIDGE = 1e-3  # of the mean curvature: where examples can be parted, the stand-in has no optimum
MAX_PRODUCTS = 2**24  # numbers held at a time


@dataclass(frozen=True)
class Resamples:
    """What the bootstrap says: how often each example was drawn, and how each rule decides it.

    Both have a row for each of B resamples and a column for each of n examples.
    """

    counts: Array
    decisions: Array


def adaptive_interval(
    X: ArrayLike,
    y: ArrayLike,
    decision: ArrayLike,
    resamples: Resamples,
    *,
    level: float = 0.95,
    cutoff: float | None = None,
) -> Interval:
    """Give an interval for the test error of a linear rule that was trained on these examples.

    √n(Pₙ − P)1[YX'β̂ < 0] is at most its supremum over u near the boundary plus its own value far
    from it, *near* being n(X'β̂)² / X'Σ̂X ≤ aₙ; below with the infimum.  The bootstrap gives
    quantiles of both ends.  Proven for n → ∞, aₙ → ∞, aₙ/n → 0, about the rule as trained.  Made
    here: Σ̂ is that of the bootstrap; aₙ (`cutoff`) is max(1, ln ln n), not the paper's rule, and 0
    is the plain bootstrap; u is exact for one feature, else the best that a logistic rule met.
    Measured at 95 % (60 data sets each, n = 50 to 200, 2 to 10 features) it covers .95 to 1.00 and
    is 1.5 to 2.5 times as long as the plain bootstrap's.
    Source: E. B. Laber and S. A. Murphy, JASA 106(495), 904-913, 2011.
    """
    features, signs = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    trained = np.asarray(decision, dtype=np.float64)
    _check(features, signs, trained, resamples)
    tail, n = (1 - check_level(level)) / 2, len(signs)
    bound = max(1.0, math.log(math.log(max(n, 3)))) if cutoff is None else cutoff
    check_number(bound, "cutoff", low=0.0)
    moved = resamples.counts - 1.0  # n times the difference of the resample and the examples
    wrong = (resamples.decisions > 0) != (signs > 0)
    variance = resamples.decisions.var(axis=0, ddof=1)
    near = resamples.decisions**2 <= bound * variance if bound > 0 else np.zeros_like(wrong)
    smooth = np.where(wrong & ~near, moved, 0.0).sum(axis=1)
    weighed = np.where(near, moved, 0.0)
    most = smooth + largest_sums(features, signs, weighed, wrong)
    least = smooth - largest_sums(features, signs, -weighed, wrong)
    error = float(np.mean((trained > 0) != (signs > 0)))
    low = max(error - float(np.quantile(most, 1 - tail)) / n, 0.0)
    high = min(error - float(np.quantile(least, tail)) / n, 1.0)
    return Interval(min(low, 1.0), max(high, 0.0), float(level), "adaptive")


def largest_sums(X: Array, y: Array, gains: Array, wrong: Flags) -> Array:
    """Find, for each row of gains, what the examples that one linear rule gets wrong gain at most.

    max over u, b of Σ gᵢ·1[yᵢ(u·xᵢ + b) < 0]; `wrong` is what a known rule gets wrong, to begin
    with.
    """
    possible = np.maximum(gains, 0.0).sum(axis=1)
    best = np.where(wrong, gains, 0.0).sum(axis=1)
    design = np.column_stack([_scaled(X), np.ones(len(y))])
    # Of at most as many examples as there are coefficients, any part can be called wrong.
    settled = np.count_nonzero(gains, axis=1) <= design.shape[1]
    best[settled] = possible[settled]
    size = max(1, MAX_PRODUCTS // max(1, design.shape[1] ** 2))
    rows = np.flatnonzero(~settled)
    for part in (rows[at : at + size] for at in range(0, len(rows), size)):
        best[part] = np.maximum(best[part], _by_newton(design, y, gains[part]))
    largest: Array = np.minimum(best, possible)
    return largest


def _by_newton(design: Array, y: Array, gains: Array) -> Array:
    """Fit a logistic rule that is to be wrong where it gains; judge every step by the true sum."""
    weight = np.abs(gains)
    target = np.where(gains > 0, -y, y)
    width = design.shape[1]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(y), -1)
    coefficients = np.zeros((len(gains), width))
    best = _best_threshold(np.zeros_like(gains), y, gains)
    for _ in range(STEPS):
        chance = expit(-target * (coefficients @ design.T))  # of being called as not wanted
        slope = (weight * target * chance) @ design
        curvature = (weight * chance * (1 - chance)) @ products
        curvature = curvature.reshape(-1, width, width)
        ridge = RIDGE * (weight.mean(axis=1) + np.finfo(float).tiny) * len(y)
        curvature[:, np.arange(width), np.arange(width)] += ridge[:, None]
        slope -= ridge[:, None] * coefficients
        coefficients += np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        best = np.maximum(best, _best_threshold(coefficients @ design.T, y, gains))
    return best


def _best_threshold(scores: Array, y: Array, gains: Array) -> Array:
    """Choose the threshold of each row of scores, and the side called 1, by the true sum."""
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    gained = np.take_along_axis(gains, order, axis=1)
    is_one = np.broadcast_to(y > 0, gains.shape)
    is_one = np.take_along_axis(is_one, order, axis=1)
    # Those up to the threshold are called −1: a 1 among them is wrong, a −1 no longer.
    change = np.where(is_one, gained, -gained).cumsum(axis=1)
    # Between equal scores there is no threshold.
    cut = np.ones(change.shape, dtype=bool)
    cut[:, :-1] = ranked[:, 1:] > ranked[:, :-1]
    change = np.where(cut, change, 0.0)
    start = np.where(is_one, 0.0, gained).sum(axis=1)
    upright = start + np.maximum(change.max(axis=1), 0.0)
    # The same rule turned round is wrong where this one is right.
    turned = gained.sum(axis=1) - start - np.minimum(change.min(axis=1), 0.0)
    best: Array = np.maximum(upright, turned)
    return best


def _scaled(X: Array) -> Array:
    """Bring features to mean 0 and deviation 1, which changes no linear rule."""
    deviation = X.std(axis=0)
    scaled: Array = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


def _check(X: Array, y: Array, decision: Array, resamples: Resamples) -> None:
    shape = resamples.decisions.shape
    if X.ndim != 2 or y.shape != (len(X),) or decision.shape != y.shape:
        raise InputError(
            "`X`, `y` and `decision` must have a row, a class and a value for each example; got "
            f"{X.shape}, {y.shape} and {decision.shape}."
        )
    if resamples.counts.shape != shape or len(shape) != 2 or shape[0] < 2 or shape[1] != len(y):
        raise InputError(
            f"`resamples` must hold two tables of at least 2 rows and {len(y)} columns; got "
            f"{resamples.counts.shape} and {shape}."
        )
    if not np.isin(y, (-1.0, 1.0)).all():
        raise InputError("`y` must hold −1 and 1 only; got other classes.")
