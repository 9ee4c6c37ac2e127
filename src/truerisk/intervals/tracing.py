"""The gradient of a formula in one call: its operations are recorded, then followed backwards.

Problem   g = ∂f/∂c of a measure f of m totals, for m in the thousands: m complex steps take m²
Method    reverse accumulation: f is called on a `Traced` array, each operation leaves its partial
          derivatives, and the chain rule runs from the value back to the totals
Knows     + − × ÷, powers, roots, `np.where`, sums over the last axis and indexing, which is what
          measures are written in; None for a function that uses anything else

Source: S. Linnainmaa, BIT 16, 146-160, 1976.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.aliases import Array

Pull = Callable[[Array], Array]  # from the derivative by a result to that by an operand


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
