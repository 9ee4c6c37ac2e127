"""Standard errors and intervals for any smooth measure of cell totals: the delta method.

A measure is a function of the totals of the cells of a table (for two classes tp, fp, fn, tn).  Its
gradient comes from complex steps, exact to rounding, no derivative is worked out by hand.  For m in
the thousands, of which m steps would take m², it comes from one call: f is called on a `Traced`
array, each operation leaves its partial derivatives, and the chain rule runs from the value back to
the totals (reverse accumulation: S. Linnainmaa, BIT 16, 146-160, 1976).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_level
from truerisk.errors import InputError
from truerisk.intervals.distributions import logistic, normal_quantile, student_quantile
from truerisk.results import Interval

Pull = Callable[[Array], Array]  # from the derivative by a result to that by an operand

CellFunction = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]

STEP = 1e-100  # nothing is subtracted, so it can be as small as one likes
MAX_STEPS = 64  # totals; beyond it one call is traced, at a cost that grows with their number
BLOCK = 2**20  # entries of the table of steps that are held at a time


class UntraceableError(TypeError):
    """The function uses an operation whose derivative is not known here."""


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that remembers how it was computed."""

    def __init__(self, value: Any, parents: "tuple[tuple[Traced, Pull], ...]" = ()) -> None:
        self.value = np.asarray(value, dtype=np.float64)
        self.parents = parents

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.value.shape

    def __getitem__(self, key: Any) -> "Traced":
        def pull(slope: Array) -> Array:
            whole = np.zeros(self.shape)
            whole[key] = slope
            return whole

        return Traced(self.value[key], ((self, pull),))

    def sum(self, axis: int = -1) -> "Traced":
        """Add up along an axis."""

        def pull(slope: Array) -> Array:
            return np.broadcast_to(np.expand_dims(slope, axis), self.shape)

        return Traced(self.value.sum(axis=axis), ((self, pull),))

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> Any:
        values = [one.value if isinstance(one, Traced) else one for one in operands]
        if ufunc in WITHOUT_SLOPE and method == "__call__":
            return ufunc(*values, **options)
        if ufunc not in SLOPES or method != "__call__" or options:
            raise UntraceableError(ufunc.__name__)
        result = ufunc(*values)
        return _traced(result, operands, SLOPES[ufunc](*values, result))

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> Any:
        del types
        if function is np.real:
            return self.value
        if function is not np.where or options:
            raise UntraceableError(function.__name__)
        which, *choices = operands
        values = [one.value if isinstance(one, Traced) else one for one in choices]
        return _traced(np.where(which, *values), choices, [which, np.logical_not(which)])


def _traced(result: Any, operands: Any, slopes: Any) -> Traced:
    def pull_of(operand: Traced, partial: Any) -> Pull:
        def pull(slope: Array) -> Array:
            # What does not count does not count, even if its derivative is infinite or undefined.
            with np.errstate(all="ignore"):
                return _summed_to(np.where(slope == 0, 0.0, slope * partial), operand.shape)

        return pull

    parents = tuple(
        (operand, pull_of(operand, partial))
        for operand, partial in zip(operands, slopes, strict=True)
        if isinstance(operand, Traced)
    )
    return Traced(result, parents)


def _summed_to(slope: Array, shape: tuple[int, ...]) -> Array:
    """Undo a broadcast: an operand that was used several times moves each of its uses."""
    slope = slope.sum(axis=tuple(range(slope.ndim - len(shape))))
    stretched = tuple(at for at, size in enumerate(shape) if size == 1 < slope.shape[at])
    return np.asarray(slope.sum(axis=stretched, keepdims=True))


SLOPES: dict[Any, Callable[..., tuple[Any, ...]]] = {
    np.add: lambda _a, _b, _r: (1.0, 1.0),
    np.subtract: lambda _a, _b, _r: (1.0, -1.0),
    np.multiply: lambda a, b, _r: (b, a),
    np.divide: lambda _a, b, r: (1 / np.asarray(b), -r / b),
    np.negative: lambda _a, _r: (-1.0,),
    np.sqrt: lambda _a, r: (0.5 / r,),
    np.power: lambda a, b, _r: (b * a ** (b - 1.0), np.nan),
}
WITHOUT_SLOPE = {np.equal, np.greater, np.less, np.isnan, np.not_equal}


def traced_gradient(function: Callable[[Any], Any], totals: Array) -> Array | None:
    """Give the derivative of a function by each total; None if an operation is not known."""
    start = Traced(totals)
    with np.errstate(all="ignore"):
        try:
            value = function(start)
        except (UntraceableError, TypeError, AttributeError):
            return None
    if not isinstance(value, Traced) or value.shape != ():
        return None
    if not np.isfinite(value.value):
        return np.full(len(totals), np.nan)
    slopes = {id(value): np.ones(())}
    for node in _backwards(value):
        slope = slopes.pop(id(node))
        if node is start:
            return slope
        for parent, pull in node.parents:
            slopes[id(parent)] = slopes.get(id(parent), 0.0) + pull(slope)
    return np.zeros(len(totals))


def _backwards(value: Traced) -> list[Traced]:
    """List a result and all that it was computed from, each before what it was computed from."""
    order: list[Traced] = []
    seen: set[int] = set()
    stack: list[tuple[Traced, bool]] = [(value, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.parents)
    return order[::-1]


def cell_gradient(function: CellFunction, cells: ArrayLike) -> Array:
    """Give the derivative of a measure by each cell total: Im f(c + ih·eⱼ)/h.

    Exact to rounding for functions of + − × ÷, roots and powers (no absolute values or maxima).
    Of many totals, backwards through the operations of one call (`traced_gradient`).
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


def normal_interval(value: float, deviation: float, *, level: float, method: str) -> Interval:
    """Give value ± z · deviation, cut off at 0 and 1."""
    if not math.isfinite(deviation):
        raise InputError(f"`deviation` must be a finite number; got {deviation!r}.")
    half = -float(normal_quantile((1 - check_level(level)) / 2)) * deviation
    return Interval(max(value - half, 0.0), min(value + half, 1.0), float(level), method)


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
