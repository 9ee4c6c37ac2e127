"""Dual coordinate descent for the linear machine, its free bias held by a multiplier.

Problem   min  ½ |w|² − Σᵢ αᵢ   with  0 ≤ αᵢ ≤ upperᵢ,  w = Σᵢ yᵢαᵢxᵢ  and  s = Σᵢ yᵢαᵢ = 0
Given     rows in the order in which they are met, and the multiplier b of s = 0
Returns   α and w in place, with w always true to α; s; and what the sweep saw
Link      the augmented Lagrangian adds b·s + ½ρs²: every gradient gains yᵢ(b + ρs), every
          curvature ρ, and b + ρs is the next multiplier, which ends as the bias
Source    Hsieh et al., ICML 2008, Algorithm 3 (with shrinking); Hestenes, JOTA 4, 1969
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.solvers.rows import add, dot

SMALLEST_STEP = 1e-14  # of a gradient; below it only rounding is left


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sweep(  # noqa: PLR0917 (compiled code takes no keywords; one loop, its cases)
    data: Array,
    indices: NDArray[np.int32],
    indptr: NDArray[np.int64],
    y: Array,
    upper: Array,
    curvature: Array,
    alpha: Array,
    weights: Array,
    order: NDArray[np.int32],
    penalty: float,
    bias: float,
    balance: float,
    drop_beyond: float,
) -> tuple[int, float, float, float, int]:
    """Minimise over each α of `order` in turn, in place.

    Returns
    -------
    How many examples are kept (the first ones of `order` then), s, the largest and the smallest
    projected gradient, and how many α came to a bound or left it.  An example at a bound is dropped
    when its gradient holds it there by more than `drop_beyond`.
    """
    highest, lowest = -np.inf, np.inf
    kept, changes = 0, 0
    for i in order:
        first, end = indptr[i], indptr[i + 1]
        old, most = alpha[i], upper[i]
        shift = bias + penalty * balance
        gradient = y[i] * (dot(data, indices, first, end, weights) + shift) - 1.0
        # A step out of the box is no step: only the projected gradient counts.
        projected = gradient
        if old <= 0.0:
            if gradient > drop_beyond:
                continue
            projected = min(gradient, 0.0)
        elif old >= most:
            if gradient < -drop_beyond:
                continue
            projected = max(gradient, 0.0)
        order[kept] = i
        kept += 1
        highest, lowest = max(highest, projected), min(lowest, projected)
        if abs(projected) <= SMALLEST_STEP:
            continue
        new = min(max(old - gradient / curvature[i], 0.0), most)
        was_free, is_free = 0.0 < old < most, 0.0 < new < most
        if was_free != is_free:
            changes += 1
        alpha[i] = new
        step = y[i] * (new - old)
        balance += step
        add(data, indices, first, end, step, weights)
    return kept, balance, highest, lowest, changes
