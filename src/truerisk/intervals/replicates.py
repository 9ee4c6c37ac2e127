"""Intervals from replicates of a measure, and the cheap ways to draw them from cell totals.

A replicate of a count measure needs only the resampled totals of its cells: the cost is that of the
cells, not of the examples.  Most replicates are values themselves; those of refits under random
weights are deviations, value − truth, around 0 (`FORMS`).
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Ends
from truerisk.checks import check_choice, check_level, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.binomial import fractional_interval
from truerisk.intervals.distributions import normal_cdf, normal_quantile
from truerisk.results import Interval

TAIL_REPLICATES = 25  # replicates beyond each end: its Monte Carlo error is then a fifth of a tail
MAX_REPLICATES = 500_000  # minutes of work; a level that needs more asks too much of resampling
MIN_SHAPE = 1e-290  # two cells that both underflow still have a ratio

ReplicateMethod = Callable[[Array, float, float, float], Ends]


def percentile(values: Array, observed: float, level: float, acceleration: float) -> Ends:
    """Take the quantiles of the replicates themselves.

    Right where the replicates lie around the value as the value lies around the truth.
    """
    del observed, acceleration
    tail = (1 - level) / 2
    low, high = _quantiles(values, (tail, 1 - tail))
    return low, high


def basic(values: Array, observed: float, level: float, acceleration: float) -> Ends:
    """Reflect the percentiles at the value: 2·value − quantile.

    Right where the *error* is distributed as in the replicates; can leave the range.
    """
    low, high = percentile(values, observed, level, acceleration)
    return 2 * observed - high, 2 * observed - low


def bca(values: Array, observed: float, level: float, acceleration: float) -> Ends:
    """Take the quantiles at probabilities corrected for bias (ties half) and for skewness.

    Second-order right; NaN where the value lies beyond all replicates.
    Source: B. Efron, "Better bootstrap confidence intervals", JASA 82(397), 171-185, 1987.
    """
    low, high = bca_probabilities(values, observed, level, acceleration)
    if not 0 < low < high < 1:
        return math.nan, math.nan
    ends = _quantiles(values, (low, high))
    return ends[0], ends[1]


def bca_probabilities(
    values: Array, observed: float, level: float, acceleration: float
) -> tuple[float, float]:
    """Give the two probabilities at which BCa takes its quantiles; NaN where it degenerates."""
    under = np.mean(values < observed) + 0.5 * np.mean(values == observed)
    if not 0 < under < 1:
        return math.nan, math.nan
    bias = float(normal_quantile(under))
    z = float(normal_quantile((1 - level) / 2))
    moved = [bias + side for side in (z, -z)]
    if any(acceleration * side >= 1 for side in moved):
        return math.nan, math.nan
    low, high = (float(normal_cdf(bias + side / (1 - acceleration * side))) for side in moved)
    return low, high


REPLICATES: dict[str, ReplicateMethod] = {"percentile": percentile, "basic": basic, "bca": bca}


def replicate_interval(
    values: ArrayLike,
    observed: float,
    *,
    level: float = 0.95,
    method: str = "bca",
    acceleration: float = 0.0,
    measure_range: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[Interval, int]:
    """Give the interval that the replicates of a measure make, and how many were undefined.

    Clipped to the range and widened to contain the value.  Where BCa degenerates, the percentile
    interval takes its place and says so by its method.  Too few replicates for the tails are
    refused.
    """
    check_choice(method, REPLICATES, "method")
    check_level(level)
    low, high = measure_range
    check_number(observed, "observed", low=low, high=high)
    everything = np.asarray(values, dtype=np.float64).ravel()
    defined = everything[~np.isnan(everything)]
    least = math.ceil(2 / (1 - level) - 1e-9) - 1
    if defined.size < least:
        raise InputError(
            f"`values` must hold at least {least} defined replicates at level {level:g}; "
            f"got {defined.size} of {everything.size}. Draw more, or use `dirichlet_cells`."
        )
    ends, name = REPLICATES[method](defined, observed, level, acceleration), method
    if any(math.isnan(end) for end in ends):
        ends, name = percentile(defined, observed, level, 0.0), "percentile"
    below = min(max(ends[0], low), observed)
    above = max(min(ends[1], high), observed)
    return Interval(below, above, float(level), name), everything.size - defined.size


def replicates_for(level: float, *, least: int = 1000) -> int:
    """Give the number of replicates that puts enough of them beyond either end."""
    needed = math.ceil(2 * TAIL_REPLICATES / (1 - check_level(level)) - 1e-6)
    if needed > MAX_REPLICATES:
        raise InputError(
            f"`level` must be at most {1 - 2 * TAIL_REPLICATES / MAX_REPLICATES:g} for intervals "
            f"by resampling, which measures of scores have; got {level!r}. Lower it."
        )
    return max(least, needed)


def acceleration_of(gradient: ArrayLike, counts: ArrayLike) -> float:
    """Give BCa's acceleration from the influence of one example of each cell.

    Σn·g³ / (6(Σn·g²)^(3/2)), the infinitesimal jackknife; 0 where all influences are 0.
    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, 14.15 and 22.17.
    """
    slopes, totals = np.asarray(gradient, float).ravel(), np.asarray(counts, float).ravel()
    slopes, totals = slopes[totals > 0], totals[totals > 0]
    squares = float(np.sum(totals * slopes**2))
    if not squares > 0:
        return 0.0
    return float(np.sum(totals * slopes**3)) / (6 * squares * math.sqrt(squares))


def multinomial_cells(
    counts: ArrayLike, replicates: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Resample examples with replacement, seen through their cells: (replicates, m) counts."""
    totals = np.asarray(counts)
    if totals.dtype.kind not in "iu" and not np.array_equal(totals, np.floor(totals)):
        raise InputError(
            "`counts` must be whole numbers; got weighted totals. Resample groups instead."
        )
    totals = totals.astype(np.int64).ravel()
    check_whole_number(replicates, "replicates", low=1)
    drawn = np.zeros((replicates, totals.size), dtype=np.int64)
    # Only cells that were seen: what rounding leaves of the last share must not reach an empty one.
    seen = np.flatnonzero(totals)
    if seen.size:
        n = int(totals.sum())
        drawn[:, seen] = rng.multinomial(n, totals[seen] / n, size=replicates)
    return drawn


def dirichlet_cells(
    counts: ArrayLike, replicates: int, rng: np.random.Generator, prior_total: float = 2.0
) -> Array:
    """Draw cell totals from their posterior: (replicates, m), each row adding up to the counts.

    The prior `prior_total` is spread over all m cells: many empty cells do not pull the measure
    away, every replicate is defined and no interval has zero width.  The fallback of delta and
    bootstrap.
    """
    totals = np.asarray(counts, dtype=np.float64).ravel()
    check_whole_number(replicates, "replicates", low=1)
    prior = check_number(prior_total, "prior_total", low=1e-6) / totals.size
    drawn = rng.standard_gamma(totals + prior, size=(replicates, totals.size))
    drawn = np.maximum(drawn, MIN_SHAPE)
    n = float(totals.sum())
    scaled: Array = drawn * ((n if n > 0 else 1.0) / drawn.sum(axis=1, keepdims=True))
    return np.maximum(scaled, MIN_SHAPE)


def _quantiles(values: Array, probabilities: tuple[float, float]) -> list[float]:
    # The q-quantile of B replicates is the (B + 1) q-th, so B + 1 gaps are equally probable.
    return [float(q) for q in np.quantile(values, probabilities, method="weibull")]


def deviation_percentile(value: float, deviations: Array, n: float, level: float) -> Ends:
    """Take the deviations for what they are: [D − ξ₁₋ₜ, D − ξₜ], as the document prints it."""
    del n
    tail = (1 - level) / 2
    low, high = np.quantile(deviations, [tail, 1 - tail])
    return value - float(high), value - float(low)


def deviation_normal(value: float, deviations: Array, n: float, level: float) -> Ends:
    r"""Take only the size s of the deviations, and the normal distribution for the rest.

    .. math:: D \pm z\, s
    """
    del n
    half = -float(normal_quantile((1 - level) / 2)) * float(np.std(deviations, ddof=1))
    return value - half, value + half


def effective_size(value: float, deviations: Array, n: float, level: float) -> Ends:
    """Give Clopper and Pearson's interval at the size that would vary as much: min(n, D(1 − D)/s²).

    With groups, n is the number of independent examples that these are worth.
    """
    variance = float(np.var(deviations, ddof=1))
    m = n if variance == 0 else min(n, value * (1 - value) / variance)
    interval = fractional_interval(min(m * value, m), m, level=level)
    return interval.low, interval.high


FORMS: dict[str, Callable[[float, Array, float, float], Ends]] = {
    "percentile": deviation_percentile,
    "normal": deviation_normal,
    "effective_size": effective_size,
}


def ends_of(form: str, value: float, deviations: Array, n: float, level: float) -> Ends:
    """Give the ends of one form of interval, within [0, 1] and around the value."""
    low, high = FORMS[check_choice(form, FORMS, "interval")](value, deviations, n, level)
    return max(0.0, min(low, value)), min(1.0, max(high, value))


def two_sided_p(value: float, deviations: Array) -> float:
    """Give the p-value of "the truth is 0" that belongs to the percentile interval.

    2·min(P(w ≥ D), P(w ≤ D)), linear between neighbours, at least 2/(N + 1): the least 1 − level at
    which the interval excludes 0.
    """
    if not math.isfinite(value):
        return math.nan
    below = _most_share_below(value, deviations)
    above = _most_share_below(-value, -deviations)
    return min(1.0, max(2 * min(below, above), 2 / (len(deviations) + 1)))


def _most_share_below(value: float, deviations: Array) -> float:
    """Give the largest share whose quantile is at most the value; 0 where there is none."""
    ordered = np.sort(deviations)
    last = int(np.searchsorted(ordered, value, side="right")) - 1
    if last < 0 or last == len(ordered) - 1:
        return float(last >= 0)
    part = (value - ordered[last]) / (ordered[last + 1] - ordered[last])
    return (last + float(part)) / (len(ordered) - 1)
