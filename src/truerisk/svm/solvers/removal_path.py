"""The path of optima along which one example is taken out.

Problem   the optimum as a function of the bound of one example, which goes from α_t to 0
Given     the tableau of the examples near the margin, their z = yα and residuals y − w·x − b
Returns   z at the end of the path; the margin is then measured on all rows, with its gap
Link      between two events the optimum is linear in z_t.  An event is a free example that comes
          to a bound, or one at a bound whose residual comes to 0.  The examples that changed sides
          are few: their tableau rows, and one small system, give the rates of all others
Source    Cauwenberghs and Poggio, NIPS 2000; Hastie et al., JMLR 5, 2004
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array

MAX_CHANGED = 128  # examples on another side than at the start: the order of the small system
MAX_EVENTS = 1000
SINGULAR = 1e-11  # a pivot below this part of |x|² is none
STILL = 1e-11  # a decision that changes by less than this part of |x|² does not change


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def eliminate(  # noqa: C901 (three loops, as everywhere)
    system: Array, x: Array, n: int, smallest: float
) -> bool:
    """Solve a small system in place, by Gauss with pivots; tell whether it has a solution."""
    for c in range(n):
        best = c
        for i in range(c + 1, n):
            if abs(system[i, c]) > abs(system[best, c]):
                best = i
        if abs(system[best, c]) <= smallest:
            return False
        if best != c:
            for j in range(c, n):
                system[c, j], system[best, j] = system[best, j], system[c, j]
            x[c], x[best] = x[best], x[c]
        for i in range(c + 1, n):
            factor = system[i, c] / system[c, c]
            if factor != 0.0:
                for j in range(c + 1, n):
                    system[i, j] -= factor * system[c, j]
                x[i] -= factor * x[c]
    for c in range(n - 1, -1, -1):
        for j in range(c + 1, n):
            x[c] -= system[c, j] * x[j]
        x[c] /= system[c, c]
    return True


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_rates(  # noqa: PLR0917 (compiled code takes no keywords)
    tableau: Array,
    free: int,
    changed: NDArray[np.int32],
    count: int,
    system: Array,
    x: Array,
    rates: Array,
    scale: float,
    sign: float,
) -> bool:
    """Give what happens to all while |z| of changed[0] falls by one, and the others stay still.

    The first `free` examples are free in the tableau.  An example that changed sides is driven by x
    so that what the tableau tells of it does not move: z of one that came to a bound, the decision
    of one that became free.
    """
    for i in range(count):
        for j in range(count):
            system[i, j] = tableau[changed[j], changed[i]]
        x[i] = 0.0
    x[0] = -sign
    if changed[0] >= free:  # its z is what is driven
        for j in range(1, count):
            system[0, j] = 0.0
        system[0, 0] = 1.0
    if not eliminate(system, x, count, SINGULAR * scale):
        return False
    for i in range(len(rates)):
        rates[i] = 0.0
    for j in range(count):
        row = tableau[changed[j]]
        for i in range(len(rates)):
            rates[i] += x[j] * row[i]
    # From here on, rates tells of z where an example is free, of its decision where it is not.
    for j in range(count):
        rates[changed[j]] = x[j] if changed[j] < free or j > 0 else rates[changed[j]]
    return True


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def next_event(  # noqa: PLR0917 (as above)
    z: Array,
    residual: Array,
    low: Array,
    high: Array,
    is_free: NDArray[np.bool_],
    rates: Array,
    out: int,
    longest: float,
    still: float,
) -> tuple[float, int]:
    """Give how long the rates last, and who ends them: −1 if nobody does before `longest`."""
    length, who = longest, -1
    for i in range(len(z)):
        rate, until = rates[i], np.inf
        if is_free[i]:
            if rate > 0.0:
                until = (high[i] - z[i]) / rate
            elif rate < 0.0:
                until = (low[i] - z[i]) / rate
        elif abs(rate) > still and (rate > 0.0) == (z[i] >= high[i]):
            until = residual[i] / rate
        if until < length and i != out:
            length, who = max(until, 0.0), i
    return length, who


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def follow(  # noqa: PLR0917 (as above; one loop, its cases)
    tableau: Array,
    free: int,
    low: Array,
    high: Array,
    out: int,
    z: Array,
    residual: Array,
    is_free: NDArray[np.bool_],
    place: NDArray[np.int32],
    changed: NDArray[np.int32],
    system: Array,
    x: Array,
    rates: Array,
    scale: float,
) -> int:
    """Take z[out] to 0, in place; give the number of events, or −1 if the path was lost."""
    for i in range(len(z)):
        is_free[i], place[i] = i < free, -1
    sign = 1.0 if z[out] > 0.0 else -1.0
    left, count = (
        abs(z[out]),
        int(np.int64(1)),
    )  # not the literal 1, for which all is compiled again
    is_free[out], changed[0], place[out] = False, out, 0
    for events in range(MAX_EVENTS):
        if not find_rates(tableau, free, changed, count, system, x, rates, scale, sign):
            return -1
        length, who = next_event(z, residual, low, high, is_free, rates, out, left, STILL * scale)
        for i in range(len(z)):
            if is_free[i]:
                z[i] += length * rates[i]
            else:
                residual[i] -= length * rates[i]
        left -= length
        if who < 0:
            z[out] = 0.0
            return events
        if is_free[who]:
            z[who] = high[who] if high[who] - z[who] < z[who] - low[who] else low[who]
        is_free[who], residual[who] = not is_free[who], 0.0
        if place[who] >= 0:  # it is back where it was at the start
            count -= 1
            last = changed[count]
            changed[place[who]], place[last] = last, place[who]
            place[who] = -1
        elif count < MAX_CHANGED:
            changed[count], place[who] = who, count
            count += 1
        else:
            return -1
    return -1
