"""Standard errors and intervals for any smooth measure of cell totals: the delta method.

A measure is a function of the totals of the cells of a table (for two classes tp, fp, fn, tn).  Its
gradient comes from complex steps, exact to rounding, no derivative is worked out by hand.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_level, check_number
from truerisk.errors import InputError
from truerisk.intervals.distributions import logistic, normal_quantile, student_quantile
from truerisk.intervals.tracing import traced_gradient
from truerisk.results import Interval

CellFunction = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]

STEP = 1e-100  # nothing is subtracted, so it can be as small as one likes
MAX_STEPS = 64  # totals; beyond it one call is traced, at a cost that grows with their number
BLOCK = 2**20  # entries of the table of steps that are held at a time


def cell_gradient(function: CellFunction, cells: ArrayLike) -> Array:
    """Give the derivative of a measure by each cell total: Im f(c + ih·eⱼ)/h.

    Exact to rounding for functions of + − × ÷, roots and powers (no absolute values or maxima).
    Of many totals, backwards through the operations of one call (`tracing.py`).
    Source: W. Squire and G. Trapp, SIAM Review 40(1), 110-112, 1998.
    """
    totals = np.asarray(cells, dtype=np.float64).ravel()
    m = totals.size
    if m > MAX_STEPS:
        traced = traced_gradient(function, totals)
        if traced is not None:
            return traced
    gradient = np.empty(m)
    rows = max(1, BLOCK // max(m, 1))
    for first in range(0, m, rows):
        steps = np.empty((min(rows, m - first), m), dtype=np.complex128)
        steps[:] = totals
        steps.imag.flat[first :: m + 1] = STEP
        with np.errstate(divide="ignore", invalid="ignore"):  # undefined comes out as NaN
            gradient[first : first + len(steps)] = np.imag(function(steps)) / STEP
    return gradient


def standard_error(gradient: ArrayLike, cell_squares: ArrayLike) -> float:
    """Give the standard error of a measure of the *shares* of the cells: √Σ s_c·g_c².

    The multinomial delta method, since Σ n·g = 0 (Euler); with weights s is the sum of their
    squares. Right for many independent examples.
    """
    slopes, squares = np.asarray(gradient, float).ravel(), np.asarray(cell_squares, float).ravel()
    used = squares > 0  # an empty cell adds nothing, whatever its slope
    return math.sqrt(float(np.sum(squares[used] * slopes[used] ** 2)))


def student_factor(units: float, level: float) -> float:
    """Say how much wider than the normal quantile few independent units make an interval: t/z."""
    tail = (1 - check_level(level)) / 2
    return float(student_quantile(max(units - 1, 1), tail) / normal_quantile(tail))


def wald_interval(
    value: float, standard_error: float, *, level: float = 0.95, method: str = "wald"
) -> Interval:
    """Give value ± z · standard error, unclipped: the form in which others print their intervals.

    For comparison only; it may leave the range of the measure.
    """
    spread = -float(normal_quantile((1 - check_level(level)) / 2)) * check_number(
        standard_error, "standard_error", low=0.0
    )
    return Interval(value - spread, value + spread, float(level), method)


def normal_interval(value: float, deviation: float, *, level: float, method: str) -> Interval:
    """Give value ± z · deviation, cut off at 0 and 1."""
    if not math.isfinite(deviation):
        raise InputError(f"`deviation` must be a finite number; got {deviation!r}.")
    whole = wald_interval(value, deviation, level=level)
    return Interval(max(whole.low, 0.0), min(whole.high, 1.0), float(level), method)


def delta_interval(
    value: float,
    standard_error: float,
    *,
    measure_range: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    method: str = "delta",
) -> Interval | None:
    """Give a normal interval on the scale on which the measure has no end, mapped back.

    T(f) ± z·T'(f)·se, T logit, ln or identity.  Covers about as promised for many examples and a
    value away from the ends.  None where it degenerates: no standard error, or a value at an end.
    """
    low, high = delta_ends(value, standard_error, measure_range=measure_range, level=level)
    return None if np.isnan(low) else Interval(float(low), float(high), float(level), method)


def delta_ends(
    value: ArrayLike,
    standard_error: ArrayLike,
    *,
    measure_range: tuple[float, float],
    level: float,
) -> tuple[Array, Array]:
    """Give the ends of such intervals, of many values at once; NaN where one degenerates."""
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    low, high = measure_range
    value, error = np.asarray(value, dtype=np.float64), np.asarray(standard_error, dtype=np.float64)
    with np.errstate(all="ignore"):
        usable = np.isfinite(value) & np.isfinite(error) & (error > 0)
        usable &= (low < value) & (value < high)
        if math.isfinite(low) and math.isfinite(high):
            # Both distances keep digits where a share of the range would be rounded to 0 or 1.
            below, above = value - low, high - value
            spread = z * error * (high - low) / (below * above)
            centre = np.log(below) - np.log(above)
            ends = [low + (high - low) * logistic(centre + s) for s in (-spread, spread)]
        elif math.isfinite(low):
            ratio = np.exp(np.minimum(z * error / (value - low), 700.0))
            ends = [low + (value - low) / ratio, low + (value - low) * ratio]
        elif math.isfinite(high):
            ratio = np.exp(np.minimum(z * error / (high - value), 700.0))
            ends = [high - (high - value) * ratio, high - (high - value) / ratio]
        else:
            ends = [value - z * error, value + z * error]
    # Rounding must not put an end on the wrong side of the value.
    lows, highs = np.minimum(ends[0], value), np.maximum(ends[1], value)
    return np.where(usable, lows, np.nan), np.where(usable, highs, np.nan)
