"""Sums of floating-point numbers that do not depend on the order of the terms.

Every finite double is a whole number of units of 2⁻¹⁰⁷⁴.  Counting those units in Python's
integers makes addition exact, and any chunking, order or number of workers gives the same sum.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.errors import InputError

UNIT_EXPONENT = 1074  # 2**-1074 is the smallest positive double
MANTISSA_BITS = 53
HALF_BITS = 26
ROWS_AT_ONCE = 2**26  # 27-bit halves of that many rows add up below 2**53, exactly


@dataclass
class ExactSum:
    """A running sum, exact until its value is read.

    Examples
    --------
    >>> total = ExactSum().add([1e16, 1.0, -1e16])
    >>> total.value
    1.0
    """

    units: int = 0

    def add(self, values: ArrayLike) -> "ExactSum":
        """Add all the values; return the sum itself."""
        array = np.asarray(values, dtype=np.float64).ravel()
        self.units += units_by_code(array, np.zeros(len(array), dtype=np.intp), 1)[0]
        return self

    def merge(self, other: "ExactSum") -> "ExactSum":
        """Add what another sum has seen; return the sum itself."""
        self.units += other.units
        return self

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return as_float(self.units)


def as_float(units: int) -> float:
    """Round a number of units to the nearest double."""
    return float(units / 2**UNIT_EXPONENT)


def units_by_code(values: NDArray[np.float64], codes: NDArray[np.intp], size: int) -> list[int]:
    """Sum the values of each code 0 … size − 1 exactly, in units of 2⁻¹⁰⁷⁴."""
    if not np.all(np.isfinite(values)):
        raise InputError("`values` must be finite to be summed; got NaN or an infinity.")
    totals = [0] * size
    for start in range(0, len(values), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        _add_units(totals, values[part], codes[part])
    return totals


def _add_units(totals: list[int], values: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, MANTISSA_BITS).astype(np.int64)
    high, low = whole >> HALF_BITS, whole & (2**HALF_BITS - 1)
    least = int(exponent.min())
    present = np.bincount(exponent - least) > 0
    shifts = (np.flatnonzero(present) + least - MANTISSA_BITS + UNIT_EXPONENT).tolist()
    row = (np.cumsum(present) - 1)[exponent - least]
    size = len(totals)
    at_once = max(1, len(values) // size)  # shifts: a table of sums is no longer than the values
    for start in range(0, len(shifts), at_once):
        chosen = slice(None)
        if len(shifts) > at_once:
            chosen = (row >= start) & (row < start + at_once)
        cell = (row[chosen] - start) * size + codes[chosen]
        high_sums = np.bincount(cell, weights=high[chosen])
        low_sums = np.bincount(cell, weights=low[chosen])
        for at in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
            mantissas = (int(high_sums[at]) << HALF_BITS) + int(low_sums[at])
            further, code = divmod(at, size)
            bits = shifts[start + further]
            # A subnormal has trailing zeros to give away: the shift to the right is exact.
            totals[code] += mantissas << bits if bits >= 0 else mantissas >> -bits
