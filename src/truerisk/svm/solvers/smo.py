"""Sequential minimal optimisation on a Gram matrix.

Problem   min  ½ zᵀKz − yᵀz   with  lowerᵢ ≤ zᵢ ≤ upperᵢ  and  Σᵢ zᵢ = 0;  z = yα is signed, so that
          0 ≤ α ≤ U becomes [0, U] for a positive and [−U, 0] for a negative example
Given     K, its diagonal, the bounds, a feasible z and remainder = y − Kz
Link      the remainder is the bias that an example asks for: z is optimal when no example that may
          rise asks for more than one that may fall; it is kept true after every step
Returns   z and remainder in place; the steps taken and the two ends of what is asked for
Source    Fan, Chen and Lin, JMLR 6 (2005), 1889-1918: the first example by the largest remainder,
          the second by the largest gain
Cache     callers in other files hold compiled copies of these functions, which are not renewed when
          this file changes: empty the folder's __pycache__ after an edit
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from truerisk.aliases import Array
from truerisk.svm.solvers.max_reduction import larger

FAR = 1e100  # beyond every remainder; not ∞, so that sums with it stay numbers
BLOCK = 64  # examples looked at together: a cache line or eight
# What sums and quotients may be rearranged by; numbers that are not finite keep their meaning.
REARRANGE = {"reassoc", "contract", "nsz", "arcp"}


class Dual(NamedTuple):
    """One problem and where its solution stands."""

    gram: Array
    diagonal: Array
    lower: Array
    upper: Array
    z: Array
    remainder: Array


class Doors(NamedTuple):
    """0 where an example may rise or fall, −FAR where it may not; the gain of each partner."""

    rise: Array
    fall: Array
    gain: Array


def open_doors(n: int) -> Doors:
    """Make room for what `descend` keeps of each of n examples."""
    return Doors(np.empty(n), np.empty(n), np.empty(n))


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def set_doors(dual: Dual, doors: Doors, i: int) -> None:
    """Say whether example i may rise and fall."""
    doors.rise[i] = 0.0 if dual.z[i] < dual.upper[i] else -FAR
    doors.fall[i] = 0.0 if dual.z[i] > dual.lower[i] else -FAR


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def highest(remainder: Array, rise: Array) -> float:
    """Give the largest remainder of those that may rise."""
    top = -FAR
    for i in range(len(remainder)):
        top = larger(top, remainder[i] + rise[i])
    return top


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def first_asking(remainder: Array, rise: Array, top: float) -> int:
    """Find the example that may rise and asks for `top`; −1 if none may rise."""
    n = len(remainder)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        if highest(remainder[start:stop], rise[start:stop]) >= top:
            for i in range(start, stop):
                if remainder[i] + rise[i] >= top:
                    return i
    return -1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def weigh_partners(
    dual: Dual, doors: Doors, i: int, top: float, floor: float
) -> tuple[float, float]:
    """Compute what a step of i with each partner gains; give the lowest remainder and best gain."""
    row, own = dual.gram[i], dual.diagonal[i]
    remainder, diagonal = dual.remainder, dual.diagonal
    fall, gain = doors.fall, doors.gain
    negated_bottom = -FAR
    best = 0.0
    for j in range(len(row)):
        negated = fall[j] - remainder[j]
        negated_bottom = larger(negated_bottom, negated)
        difference = larger(top + negated, 0.0)
        curvature = larger(own + diagonal[j] - 2.0 * row[j], floor)
        gain[j] = difference * difference / curvature
        best = larger(best, gain[j])
    return -negated_bottom, best


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def first_reaching(gain: Array, best: float) -> int:
    """Find the first partner whose gain is the best."""
    for start in range(0, len(gain), BLOCK):
        block = gain[start : start + BLOCK]
        top = 0.0
        for k in range(len(block)):
            top = larger(top, block[k])
        if top >= best:
            for k in range(len(block)):
                if block[k] >= best:
                    return start + k
    return 0


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def shift(dual: Dual, i: int, j: int, step: float) -> float:
    """Move `step` from z[j] to z[i], as far as the bounds allow; give how far that was."""
    z, lower, upper = dual.z, dual.lower, dual.upper
    room_above, room_below = upper[i] - z[i], z[j] - lower[j]
    if step < room_above and step < room_below:
        z[i] += step
        z[j] -= step
        return step
    # A bound that is met is met exactly, so that nobody is left a rounding error away from it.
    step = min(room_above, room_below)
    z[i] = upper[i] if room_above <= room_below else min(z[i] + step, upper[i])
    z[j] = lower[j] if room_below <= room_above else max(z[j] - step, lower[j])
    return step


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def update(dual: Dual, rise: Array, i: int, j: int, step: float) -> float:
    """Bring the remainders up to date; give the largest of those that may rise."""
    remainder = dual.remainder
    first, second = dual.gram[i], dual.gram[j]
    top = -FAR
    for k in range(len(remainder)):
        value = remainder[k] - step * (first[k] - second[k])
        remainder[k] = value
        top = larger(top, value + rise[k])
    return top


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def descend(
    dual: Dual, doors: Doors, floor: float, tolerance: float, max_steps: int
) -> tuple[int, float, float]:
    """Take steps until top − bottom ≤ tolerance; give their number, top and bottom.

    `floor` is the least curvature that is believed: an indefinite or singular K has directions
    with none, and there the step goes to a bound.
    """
    for k in range(len(dual.z)):
        set_doors(dual, doors, k)
    top, bottom = highest(dual.remainder, doors.rise), FAR
    steps = 0
    while True:
        i = first_asking(dual.remainder, doors.rise, top)
        if i < 0 or top <= -FAR / 2:
            bottom = -highest(-dual.remainder, doors.fall)
            break
        bottom, best = weigh_partners(dual, doors, i, top, floor)
        if top - bottom <= tolerance or steps >= max_steps or best <= 0.0:
            break
        j = first_reaching(doors.gain, best)
        curvature = max(dual.diagonal[i] + dual.diagonal[j] - 2.0 * dual.gram[i, j], floor)
        step = shift(dual, i, j, (top - dual.remainder[j]) / curvature)
        if step <= 0.0:
            break
        set_doors(dual, doors, i)
        set_doors(dual, doors, j)
        top = update(dual, doors.rise, i, j, step)
        steps += 1
    return steps, top, bottom


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def take_out(gram: Array, z: Array, remainder: Array) -> None:
    """Subtract Kz from what is in `remainder`."""
    for i in range(len(z)):
        if z[i] != 0.0:
            row, weight = gram[i], z[i]
            for k in range(len(remainder)):
                remainder[k] -= weight * row[k]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bias_between(dual: Dual) -> tuple[float, float]:
    """Give the bias and the violation: the mean over free examples, else the midpoint.

    Where nobody may rise, or nobody may fall, only one end is known, and the bias is that end.
    """
    total, free = 0.0, 0
    top, bottom = -FAR, FAR
    for i in range(len(dual.z)):
        may_rise, may_fall = dual.z[i] < dual.upper[i], dual.z[i] > dual.lower[i]
        if may_rise:
            top = max(top, dual.remainder[i])
        if may_fall:
            bottom = min(bottom, dual.remainder[i])
        if may_rise and may_fall:
            total += dual.remainder[i]
            free += 1
    violation = max(top - bottom, 0.0)
    if free > 0:
        return total / free, violation
    if top <= -FAR / 2:
        return (bottom if bottom < FAR / 2 else 0.0), 0.0
    if bottom >= FAR / 2:
        return top, 0.0
    return 0.5 * (top + bottom), violation
