"""Unsigned integers that grow with the floating-point numbers they stand for, and back.

A positive number's bits grow with it, a negative number's shrink: the key is 2ᵇ⁻¹ plus the bits of
the one, and minus the bits of the other, modulo 2ᵇ.  0.0 and −0.0 have one key, as they are equal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def scores_of_narrow(keys: NDArray[Any]) -> NDArray[np.float64]:
    """Turn 32-bit keys back into float32 scores, given as float64.

    Examples
    --------
    >>> scores_of_narrow(np.array([0x8000_0000, 0xBF80_0000, 0x4080_0000])).tolist()
    [0.0, 1.0, -1.0]
    """
    narrow, sign = keys.astype(np.uint32), np.uint32(0x8000_0000)
    bits: NDArray[np.uint32] = np.where(narrow >= sign, narrow - sign, np.uint32(0) - narrow)
    return bits.view(np.float32).astype(np.float64)


def scores_of_wide(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Turn 64-bit keys back into float64 scores."""
    sign = np.uint64(0x8000_0000_0000_0000)
    bits: NDArray[np.uint64] = np.where(keys >= sign, keys - sign, np.uint64(0) - keys)
    return bits.view(np.float64)
