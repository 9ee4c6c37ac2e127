"""Sums of floating-point numbers that do not depend on the order of the terms.

Every finite double is a whole number of units of 2⁻¹⁰⁷⁴.  Counting those units in Python's
integers makes addition exact, and any chunking, order or number of workers gives the same sum.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError

UNIT_EXPONENT = 1074  # 2**-1074 is the smallest positive double
MANTISSA_BITS = 53
HALF_BITS = 26
ROWS_AT_ONCE = 2**26  # 27-bit halves of that many rows add up below 2**53, exactly


@dataclass
class ExactSum:
    """A running sum, exact until its value is read."""

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


@dataclass
class WeightedSums:
    """Exact sums behind a weighted mean of one number per example, and its standard error.

    √(n/(n − 1) · Σ wᵢ²(xᵢ − x̄)²) / Σ wᵢ
    """

    first: ExactSum = field(default_factory=ExactSum)  # Σ w·x
    crossed: ExactSum = field(default_factory=ExactSum)  # Σ w²·x
    second: ExactSum = field(default_factory=ExactSum)  # Σ w²·x²

    def add(self, values: Array, weight: Array | None = None) -> "WeightedSums":
        """Add the numbers of one batch; return the sums themselves."""
        if weight is None:
            plain = ExactSum().add(values)
            self.first.merge(plain)
            self.crossed.merge(plain)
            self.second.add(values**2)
            return self
        self.first.add(weight * values)
        self.crossed.add(weight**2 * values)
        self.second.add((weight * values) ** 2)
        return self

    def merge(self, other: "WeightedSums") -> None:
        """Add another batch's sums."""
        self.first.merge(other.first)
        self.crossed.merge(other.crossed)
        self.second.merge(other.second)

    def standard_error(
        self, mean: float, weights: ExactSum, square_weights: ExactSum, rows: int
    ) -> float:
        """Give the standard error of the mean over so many rows; NaN for fewer than two."""
        if rows < 2:
            return math.nan
        spread = self.second.value - 2 * mean * self.crossed.value + mean**2 * square_weights.value
        return math.sqrt(max(spread, 0.0) * rows / (rows - 1)) / weights.value


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
