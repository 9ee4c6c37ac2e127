"""From who is at which bound to the exact solution of a machine on a Gram matrix, in few rounds.

Problem   K_FF z_F + b = (y − K z_bounded)_F and Σz = 0, where F are the examples that are free; and
          if a solution does not keep to the bounds or the margins, the same for a better F
Given     a tableau: K with the condition on Σz, pivoted on a set of examples B that are free in
          most of many similar problems.  Then z of B and the remainder of all others are
          `own − T q`, with q the remainder of B and z of the others
Returns   q and the values of the tableau in place, and whether a round has changed nobody
Link      an F that differs from B in k examples costs one system of k equations; T is symmetric,
          and with those that enter before those that leave its pivots have known signs
Source    M. Hintermüller, K. Ito and K. Kunisch, "The primal-dual active set strategy as a
          semismooth Newton method", SIAM Journal on Optimization 13 (2002), 865-888;
          the pivots: M. J. Tsatsomeros, Linear Algebra and its Applications 307 (2000), 151-165
Cache     as in `smo`
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array

REARRANGE = {"reassoc", "contract", "nsz", "arcp"}

Sides = NDArray[np.int8]

WRONG = 1e-10  # units of the margin by which a bounded example must want to leave its bound
OUTSIDE = 1e-12  # of the bound, by which a free α must be beyond it
PANEL = 4  # pivots that are taken out of the other rows together
# Nanoseconds, as measured, of k equations: their factor, their matrix, and their product with T.
PER_CUBE, PER_SQUARE, PER_PRODUCT = 0.022, 1.5, 0.2
FREE, SETTLED, CHANGING, SINGULAR = 0, 0, 1, 2
# Rows of a state: bounds, what the tableau is given and what it gives.
LOWER, UPPER, GIVEN, GOT, STATE = range(5)


# Loops run over slices from 0 on: of an index that may be negative the compiler asks each time
# whether it counts from the end, and makes no vectors then.
@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def take_out_one(matrix: Array, pivot: float, p: int, i: int) -> None:
    """Subtract from row i what the pivot of row p explains of it."""
    row, first = matrix[i, i:], matrix[p, i:]
    share = first[0] / pivot
    for j in range(len(row)):
        row[j] -= share * first[j]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def take_out_four(matrix: Array, pivots: Array, start: int) -> None:
    """Subtract from the rows after a panel what its four pivots explain of them, two at a time.

    The second of two rows begins at the diagonal of the first: what is below it is never read.
    """
    d, e, f, g = pivots[start], pivots[start + 1], pivots[start + 2], pivots[start + 3]
    i = start + PANEL
    if (len(matrix) - i) % 2 == 1:
        for p in range(start, i):
            take_out_one(matrix, pivots[p], p, i)
        i += 1
    while i < len(matrix):
        first, second = matrix[start, i:], matrix[start + 1, i:]
        third, fourth = matrix[start + 2, i:], matrix[start + 3, i:]
        row, other = matrix[i, i:], matrix[i + 1, i:]
        r, s, t, u = first[0] / d, second[0] / e, third[0] / f, fourth[0] / g
        v, w, x, y = first[1] / d, second[1] / e, third[1] / f, fourth[1] / g
        for j in range(len(row)):
            row[j] -= (r * first[j] + s * second[j]) + (t * third[j] + u * fourth[j])
            other[j] -= (v * first[j] + w * second[j]) + (x * third[j] + y * fourth[j])
        i += 2


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def factor(matrix: Array, pivots: Array, entering: int, floor: float) -> bool:
    """Write the upper triangle as DLᵀ; False if a pivot has not the sign that it must have.

    The first `entering` pivots are positive and the others negative.
    """
    size = len(matrix)
    for start in range(0, size, PANEL):
        stop = min(start + PANEL, size)
        for p in range(start, stop):
            pivot = matrix[p, p]
            if not (pivot > floor if p < entering else pivot < 0.0):
                return False
            pivots[p] = pivot
            for i in range(p + 1, stop):
                take_out_one(matrix, pivot, p, i)
        if stop < size:
            take_out_four(matrix, pivots, start)
    return True


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def solve_factored(matrix: Array, pivots: Array, right: Array) -> None:
    """Solve LDLᵀx = right in place."""
    size = len(matrix)
    for p in range(size):
        row, rest, share = matrix[p, p + 1 :], right[p + 1 :], right[p] / pivots[p]
        for j in range(len(row)):
            rest[j] -= share * row[j]
    for p in range(size - 1, -1, -1):
        row, rest, total = matrix[p, p + 1 :], right[p + 1 :], 0.0
        for j in range(len(row)):
            total += row[j] * rest[j]
        right[p] = (right[p] - total) / pivots[p]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy", fastmath=REARRANGE)
def give(values: Array, who: NDArray[np.int64], changes: Array, got: Array) -> None:
    """Take from what the tableau gives T times the changes of what it is given."""
    count, n = len(who), len(got)
    k = 0
    while k + PANEL <= count:
        a, b, c, d = changes[k], changes[k + 1], changes[k + 2], changes[k + 3]
        first, second = values[who[k]], values[who[k + 1]]
        third, fourth = values[who[k + 2]], values[who[k + 3]]
        for j in range(n):
            got[j] -= (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])
        k += PANEL
    while k < count:
        change, row = changes[k], values[who[k]]
        for j in range(n):
            got[j] -= change * row[j]
        k += 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_odd(base: NDArray[np.bool_], sides: Sides, who: NDArray[np.int64]) -> tuple[int, int]:
    """List who is not as the tableau has it, those first that enter; give how many do, and all."""
    entering = 0
    for i in range(len(base)):
        if not base[i] and sides[i] == FREE:
            who[entering] = i
            entering += 1
    count = entering
    for i in range(len(base)):
        if base[i] and sides[i] != FREE:
            who[count] = i
            count += 1
    return entering, count


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def bound_of(state: Array, sides: Sides, i: int) -> float:
    """Give the bound that example i is at."""
    return float(state[UPPER, i] if sides[i] > 0 else state[LOWER, i])


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def solve_sides(
    values: Array, base: NDArray[np.bool_], state: Array, sides: Sides, floor: float
) -> int:
    """Solve the equations of those that are free; give how many, or −1 if none or many answer."""
    who = np.empty(len(base), np.int64)
    entering, count = find_odd(base, sides, who)
    who = who[:count]
    matrix, right, pivots = np.empty((count, count)), np.empty(count), np.empty(count)
    for k in range(count):
        i = who[k]
        # A remainder that is to be 0, or the negated z of the base that is to be at its bound.
        right[k] = state[GOT, i] + (bound_of(state, sides, i) if base[i] else 0.0)
        row = values[i]
        for j in range(k, count):
            matrix[k, j] = row[who[j]]
    if not factor(matrix, pivots, entering, floor):
        return -1
    solve_factored(matrix, pivots, right)
    give(values, who, right, state[GOT])
    for k in range(count):
        i = who[k]
        state[GIVEN, i] += right[k]
        state[GOT, i] = -bound_of(state, sides, i) if base[i] else 0.0
    return count


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def new_side(state: Array, i: int, side: int, z: float, wish: float) -> int:
    """Say where example i belongs; `wish` is how far its remainder would take z."""
    lower, upper = state[LOWER, i], state[UPPER, i]
    if side == FREE:
        room = OUTSIDE * (upper - lower)
        if z > upper + room:
            return 1
        return -1 if z < lower - room else FREE
    if lower >= upper or side * wish >= 0.0:
        return side
    if side > 0:
        return FREE if upper + wish > lower else -1
    return FREE if lower + wish < upper else 1


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def change_sides(
    values: Array, base: NDArray[np.bool_], reach: Array, state: Array, sides: Sides
) -> int:
    """Put everybody where they belong; give how many have moved."""
    n = len(base)
    who, changes = np.empty(n, np.int64), np.empty(n)
    count = moved = 0
    for i in range(n):
        given, got = state[GIVEN, i], state[GOT, i]
        z, remainder = (-got, given) if base[i] else (given, got)
        wish = reach[i] * remainder if abs(remainder) > WRONG else 0.0
        side = new_side(state, i, sides[i], z, wish)
        if side == sides[i]:
            continue
        moved += 1
        sides[i] = side
        target = given
        if base[i]:
            target = 0.0 if side == FREE else given
        elif side != FREE:
            target = bound_of(state, sides, i)
        if target != given:
            who[count], changes[count] = i, target - given
            state[GIVEN, i] = target
            count += 1
    give(values, who[:count], changes[:count], state[GOT])
    return moved


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def settle(  # noqa: PLR0917 (a compiled function takes no dataclass)
    values: Array,
    base: NDArray[np.bool_],
    reach: Array,
    state: Array,
    sides: Sides,
    floor: float,
    max_rounds: int,
) -> tuple[int, float]:
    """Solve, and let those change sides who want to, until nobody does; give verdict and work."""
    work, before = 0.0, len(sides) + 1
    for _ in range(max_rounds):
        k = solve_sides(values, base, state, sides, floor)
        if k < 0:
            return SINGULAR, work
        work += PER_CUBE * k**3 + PER_SQUARE * k**2 + PER_PRODUCT * k * len(sides)
        moved = change_sides(values, base, reach, state, sides)
        if moved == 0:
            return SETTLED, work
        # Where more move than before, the rounds go in circles.
        if moved > before:
            break
        before = moved
    return CHANGING, work


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def settle_all(  # noqa: PLR0917 (as above)
    values: Array,
    base: NDArray[np.bool_],
    reach: Array,
    states: Array,
    sides: Sides,
    floor: float,
    max_rounds: int,
    verdicts: NDArray[np.int64],
    work: Array,
) -> None:
    """Settle every replicate, and write the verdicts and the work."""
    for r in range(len(states)):
        verdicts[r], work[r] = settle(values, base, reach, states[r], sides[r], floor, max_rounds)
