"""Sums of floating-point numbers that do not depend on the order of the terms.

Every finite double is a whole number of units of 2⁻¹⁰⁷⁴.  Counting those units in Python's
integers makes addition exact, and any chunking, order or number of workers gives the same sum.
"""

import math
from collections import Counter
from collections.abc import Hashable

import numpy as np

from truerisk.aliases import Array, ArrayLike, Flags, Indices
from truerisk.errors import InputError

UNIT_EXPONENT = 1074  # 2**-1074 is the smallest positive double
MANTISSA_BITS = 53
HALF_BITS = 26
ROWS_AT_ONCE = 2**26  # 27-bit halves of that many rows add up below 2**53, exactly


class WeightedSums(Counter[Hashable]):
    """Sums over rows by their names, in units: exact until a value is read; `update` merges parts.

    The standard error of a weighted mean is √(n/(n − 1) · Σ wᵢ²(xᵢ − x̄)²) / Σ wᵢ.
    """

    def add(self, name: Hashable, values: ArrayLike) -> None:
        """Add the values to a sum."""
        self[name] += exact_units(values)

    def add_weights(self, rows: int, weight: Array | None) -> None:
        """Add up the weights of some rows, 1 each if they are not given, and their squares."""
        self.add("weights", float(rows) if weight is None else weight)
        self.add("square_weights", float(rows) if weight is None else weight**2)

    def add_values(self, name: str, values: Array, weight: Array | None) -> None:
        """Add what the mean of one number per row needs: Σ w·x, Σ w²·x and Σ w²·x²."""
        weighted = values if weight is None else weight * values
        first = exact_units(weighted)
        self[name, "first"] += first
        self[name, "crossed"] += first if weight is None else exact_units(weight**2 * values)
        self.add((name, "second"), weighted**2)

    def value(self, name: Hashable) -> float:
        """Give a sum, rounded once."""
        return as_float(self[name])

    def standard_error(self, name: str, mean: float, rows: int) -> float:
        """Give the standard error of a mean over so many rows; NaN for fewer than two."""
        if rows < 2:
            return math.nan
        second, crossed = self.value((name, "second")), self.value((name, "crossed"))
        spread = second - 2 * mean * crossed + mean**2 * self.value("square_weights")
        return math.sqrt(max(spread, 0.0) * rows / (rows - 1)) / self.value("weights")


def exact_units(values: ArrayLike) -> int:
    """Sum all the values exactly, in units of 2⁻¹⁰⁷⁴."""
    array = np.asarray(values, dtype=np.float64).ravel()
    return units_by_code(array, np.zeros(len(array), dtype=np.intp), 1)[0]


def as_float(units: int) -> float:
    """Round a number of units to the nearest double."""
    return float(units / 2**UNIT_EXPONENT)


def units_by_code(values: Array, codes: Indices, size: int) -> list[int]:
    """Sum the values of each code 0 … size − 1 exactly, in units of 2⁻¹⁰⁷⁴."""
    if not np.all(np.isfinite(values)):
        raise InputError("`values` must be finite to be summed; got NaN or an infinity.")
    totals = [0] * size
    for start in range(0, len(values), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        _add_units(totals, values[part], codes[part])
    return totals


def _add_units(totals: list[int], values: Array, codes: Indices) -> None:
    fraction, exponent = np.frexp(values)
    # Both are whole numbers: to multiply by powers of two rounds nothing.
    high = np.floor(fraction * 2.0 ** (MANTISSA_BITS - HALF_BITS))
    low = fraction * 2.0**MANTISSA_BITS - high * 2.0**HALF_BITS
    size, least = len(totals), int(exponent.min())
    row = exponent.astype(np.intp) - least
    further = np.arange(int(row.max()) + 1)
    if len(further) * size > len(values):  # only the exponents that occur
        occurs = np.bincount(row) > 0
        further, row = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[row]
    shifts = (further + least - MANTISSA_BITS + UNIT_EXPONENT).tolist()
    at_once = max(1, len(values) // size)  # shifts: a table of sums is no longer than the values
    for start in range(0, len(shifts), at_once):
        chosen: slice | Flags = slice(None)
        if len(shifts) > at_once:
            chosen = (row >= start) & (row < start + at_once)
        cell = (row[chosen] - start) * size + codes[chosen]
        high_sums = np.bincount(cell, weights=high[chosen])
        low_sums = np.bincount(cell, weights=low[chosen])
        for at in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
            mantissas = (int(high_sums[at]) << HALF_BITS) + int(low_sums[at])
            place, code = divmod(at, size)
            bits = shifts[start + place]
            # A subnormal has trailing zeros to give away: the shift to the right is exact.
            totals[code] += mantissas << bits if bits >= 0 else mantissas >> -bits
