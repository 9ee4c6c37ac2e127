"""The compiled loop that counts scores by the upper 24 bits of their keys.

Given     float32 scores as bits; whether each was rounded up from float64 (or one False for all)
Returns   counts[2·bucket + label], in place
Link      a score rounded up belongs to the float32 below it, so that a bucket holds exactly the
          scores from its lower end to that of the next
"""

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

SIGN = np.uint64(0x8000_0000)


@njit(cache=True, nogil=True, boundscheck=False)
def count(
    bits: NDArray[np.uint32],
    rounded_up: NDArray[np.bool_],
    labels: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Add the rows to the counts."""
    any_rounded = len(rounded_up) == len(bits)
    for i in range(uint64(len(bits))):
        key = (bits[i] + SIGN if bits[i] < SIGN else -uint64(bits[i])) & uint64(0xFFFF_FFFF)
        if any_rounded and rounded_up[i]:
            key -= uint64(1)
        counts[((key >> uint64(8)) << uint64(1)) | uint64(labels[i] != 0)] += 1
