"""Many SVMs on one Gram matrix, which differ in their bounds only.

Steps     SMO in single precision, for every row of bounds: all that is needed of a rough solution
          is who is at which bound, and rounds make it exact; half of the digits do, and twice as
          many numbers go into one register. Examples are padded to whole blocks by ones that have
          no room; the best of each place in a block is found first, and then its block
Rounds    K_FF z_F + b = (y − K z_bounded)_F and Σz = 0, where F are the examples that are free;
          and if a solution does not keep to the bounds or the margins, the same for a better F.
          Given is a tableau: K with the condition on Σz, pivoted on a set of examples B that are
          free in most of many similar problems. Then z of B and the gradient of all others are
          `own − T q`, with q the gradient of B and z of the others. An F that differs from B in k
          examples costs one system of k equations; T is symmetric, and with those that enter
          before those that leave its pivots have known signs.  Of T only the rows of those who
          change are read: `place` says where they are, and −1 where they are not
Sources   Fan, Chen and Lin, JMLR 6 (2005), 1889-1918 (steps); M. Hintermüller, K. Ito and K.
          Kunisch, "The primal-dual active set strategy as a semismooth Newton method", SIAM
          Journal on Optimization 13 (2002), 865-888 (rounds); M. J. Tsatsomeros, Linear Algebra
          and its Applications 307 (2000), 151-165 (pivots)
Flags     rearranged: every number is finite; FAR and FARTHEST stand for ∞
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs

FAR = cython.declare(cython.float, 1e30)  # beyond every gradient, in single precision
NONE = cython.declare(cython.float, 0.0)
TWO = cython.declare(cython.float, 2.0)
NEARLY = cython.declare(cython.float, 1.0 - 1e-6)  # a product beside a quotient: rounding
FARTHEST = cython.declare(cython.double, 1e300)

# Rows of a state of the steps: where z stands and may go, y − Kz, K(x, x) …
Z = cython.declare(cython.Py_ssize_t, 0)
LOWER = cython.declare(cython.Py_ssize_t, 1)
UPPER = cython.declare(cython.Py_ssize_t, 2)
GRADIENT = cython.declare(cython.Py_ssize_t, 3)
DIAGONAL = cython.declare(cython.Py_ssize_t, 4)
# … 0 where an example may rise or fall, −FAR where it may not.
RISE = cython.declare(cython.Py_ssize_t, 5)
FALL = cython.declare(cython.Py_ssize_t, 6)

COLUMNS = cython.declare(cython.Py_ssize_t, 256)  # of a product at a time: they stay in the cache

WRONG = cython.declare(cython.double, 1e-10)  # of the margin: a wish to leave a bound
OUTSIDE = cython.declare(cython.double, 1e-12)  # of the bound, by which a free α must be beyond it
# Nanoseconds, as measured, of k equations: their factor, their matrix, and their product with T.
PER_CUBE = cython.declare(cython.double, 0.022)
PER_SQUARE = cython.declare(cython.double, 1.5)
PER_PRODUCT = cython.declare(cython.double, 0.2)
PER_BORDER = cython.declare(cython.double, 0.1)  # for the square of their number
# Borders of a factor, before it is made anew: so many, and for so many of its rows one more.
MAX_BORDERS = cython.declare(cython.Py_ssize_t, 48)  # a multiple of eight
ROWS_PER_BORDER = cython.declare(cython.Py_ssize_t, 4)
UNBORDERED = cython.declare(cython.Py_ssize_t, 28)  # rows: of few, a factor costs less
# Rows of a state of the rounds: bounds, what the tableau is given and what it gives.
LOW = cython.declare(cython.Py_ssize_t, 0)
HIGH = cython.declare(cython.Py_ssize_t, 1)
GIVEN = cython.declare(cython.Py_ssize_t, 2)
GOT = cython.declare(cython.Py_ssize_t, 3)
# Verdicts.
SETTLED = cython.declare(cython.Py_ssize_t, 0)
CHANGING = cython.declare(cython.Py_ssize_t, 1)
SINGULAR = cython.declare(cython.Py_ssize_t, 2)
NEEDED = cython.declare(cython.Py_ssize_t, 3)


# --- steps of two examples, in single precision


@cython.cfunc
@cython.inline
@cython.nogil
def larger(first: cython.float, second: cython.float) -> cython.float:
    """Return the larger of two numbers: written so, a loop of it becomes vector instructions."""
    return first if first > second else second


@cython.cfunc
@cython.nogil
def take_step(
    gram: cython.const[cython.float][:, ::1],
    state: cython.float[:, ::1],
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    step: cython.float,
) -> cython.void:
    """Bring the gradients up to date."""
    for k in range(state.shape[1]):
        state[GRADIENT, k] -= step * (gram[i, k] - gram[j, k])


@cython.cfunc
@cython.nogil
def find_first(state: cython.float[:, ::1]) -> cython.Py_ssize_t:
    """Return the one with the largest gradient of those that may rise."""
    n: cython.Py_ssize_t = state.shape[1]
    best = cython.declare(cython.float[64])
    top: cython.float = -FAR
    lane: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    for k in range(64):
        best[k] = -FAR
    for start in range(0, n, 64):
        for k in range(64):
            best[k] = larger(best[k], state[GRADIENT, start + k] + state[RISE, start + k])
    for k in range(64):
        top = larger(top, best[k])
    while lane < 63 and best[lane] < top:
        lane += 1
    k = lane
    while k + 64 < n and state[GRADIENT, k] + state[RISE, k] < top:
        k += 64
    return k


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.float))
def find_partner(
    gram: cython.const[cython.float][:, ::1],
    state: cython.float[:, ::1],
    i: cython.Py_ssize_t,
    floor: cython.float,
):
    """Return the partner of i with whom a step gains most, and the lowest gradient."""
    n: cython.Py_ssize_t = state.shape[1]
    gain = cython.declare(cython.float[64])
    low = cython.declare(cython.float[64])
    own: cython.float = state[DIAGONAL, i]
    top: cython.float = state[GRADIENT, i]
    negated: cython.float
    difference: cython.float
    curvature: cython.float
    most: cython.float = NONE
    negated_bottom: cython.float = -FAR
    nearly: cython.float
    lane: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    for k in range(64):
        gain[k] = NONE
        low[k] = -FAR
    for start in range(0, n, 64):
        for k in range(64):
            negated = state[FALL, start + k] - state[GRADIENT, start + k]
            difference = larger(top + negated, NONE)
            curvature = larger(own + state[DIAGONAL, start + k] - TWO * gram[i, start + k], floor)
            low[k] = larger(low[k], negated)
            gain[k] = larger(gain[k], difference * difference / curvature)
    for k in range(64):
        most = larger(most, gain[k])
        negated_bottom = larger(negated_bottom, low[k])
    while lane < 63 and gain[lane] < most:
        lane += 1
    nearly = NEARLY * most
    for k in range(lane, n, 64):
        difference = top + state[FALL, k] - state[GRADIENT, k]
        curvature = larger(own + state[DIAGONAL, k] - TWO * gram[i, k], floor)
        if difference > NONE and difference * difference >= nearly * curvature:
            return k, -negated_bottom
    return lane, -negated_bottom


@cython.cfunc
@cython.nogil
def set_moves(state: cython.float[:, ::1], i: cython.Py_ssize_t) -> cython.void:
    """Write whether example i may rise and fall."""
    state[RISE, i] = NONE if state[Z, i] < state[UPPER, i] else -FAR
    state[FALL, i] = NONE if state[Z, i] > state[LOWER, i] else -FAR


@cython.cfunc
@cython.nogil
def shift(
    state: cython.float[:, ::1], i: cython.Py_ssize_t, j: cython.Py_ssize_t, step: cython.float
) -> cython.float:
    """Move `step` from z[j] to z[i], as far as the bounds allow; return how far that was."""
    above: cython.float = state[UPPER, i] - state[Z, i]
    below: cython.float = state[Z, j] - state[LOWER, j]
    if step < above and step < below:
        state[Z, i] += step
        state[Z, j] -= step
        return step
    step = min(above, below)
    state[Z, i] = state[UPPER, i] if above <= below else min(state[Z, i] + step, state[UPPER, i])
    state[Z, j] = state[LOWER, j] if below <= above else max(state[Z, j] - step, state[LOWER, j])
    return step


@cython.cfunc
@cython.nogil
def descend(
    gram: cython.const[cython.float][:, ::1],
    state: cython.float[:, ::1],
    floor: cython.float,
    tolerance: cython.float,
    max_steps: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Take steps until nobody asks for `tolerance` more than somebody else; return their number."""
    steps: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    top: cython.float
    bottom: cython.float
    curvature: cython.float
    step: cython.float
    for k in range(state.shape[1]):
        set_moves(state, k)
    i = find_first(state)
    while steps < max_steps and state[RISE, i] == NONE:
        j, bottom = find_partner(gram, state, i, floor)
        top = state[GRADIENT, i]
        if top - bottom <= tolerance:
            break
        curvature = larger(state[DIAGONAL, i] + state[DIAGONAL, j] - TWO * gram[i, j], floor)
        step = shift(state, i, j, (top - state[GRADIENT, j]) / curvature)
        if step <= NONE:
            break
        set_moves(state, i)
        set_moves(state, j)
        take_step(gram, state, i, j, step)
        steps += 1
        i = find_first(state)
    return steps


def descend_all(
    gram: cython.const[cython.float][:, ::1],
    states: cython.float[:, :, ::1],
    floor: cython.float,
    tolerance: cython.float,
    max_steps: cython.Py_ssize_t,
    steps: cython.longlong[::1],
):
    """Descend in every replicate, and write the steps taken."""
    with cython.nogil:
        for r in range(states.shape[0]):
            steps[r] = descend(gram, states[r], floor, tolerance, max_steps)


# --- rounds of equations; a matrix is flat, with rows of `width` numbers, a multiple of eight


@cython.cfunc
@cython.inline
@cython.nogil
def width_of(size: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return how long rows of so many numbers are: loops over whole registers have no remainder.

    What is beyond the numbers is 0; what is before the diagonal is never read.
    """
    return (size + 7) // 8 * 8


@cython.cfunc
@cython.nogil
def take_out_one(
    matrix: cython.double[::1],
    width: cython.Py_ssize_t,
    inverse: cython.double,
    p: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
) -> cython.void:
    """Subtract from row i what the pivot of row p, whose inverse is given, explains of it."""
    share: cython.double = matrix[p * width + i] * inverse
    row: cython.Py_ssize_t = i * width
    first: cython.Py_ssize_t = p * width
    for j in range(i - i % 8, width):
        matrix[row + j] -= share * matrix[first + j]


@cython.cfunc
@cython.nogil
def take_out_four(
    matrix: cython.double[::1],
    size: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    inverses: cython.double[::1],
    start: cython.Py_ssize_t,
) -> cython.void:
    """Subtract from the rows after a panel what its four pivots explain of them, two at a time.

    The second of two rows begins where the first does.
    """
    a: cython.Py_ssize_t = start * width
    b: cython.Py_ssize_t = a + width
    c: cython.Py_ssize_t = b + width
    d: cython.Py_ssize_t = c + width
    row: cython.Py_ssize_t
    other: cython.Py_ssize_t
    left: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t = start + 4
    # Read once: the rows that are written might hold them, for all that a compiler knows.
    e: cython.double = inverses[start]
    f: cython.double = inverses[start + 1]
    g: cython.double = inverses[start + 2]
    h: cython.double = inverses[start + 3]
    r: cython.double
    s: cython.double
    t: cython.double
    u: cython.double
    v: cython.double
    w: cython.double
    x: cython.double
    y: cython.double
    if (size - i) % 2 == 1:
        for p in range(start, start + 4):
            take_out_one(matrix, width, inverses[p], p, i)
        i += 1
    # What is read stands here: a compiler knows then that nothing is written to it.
    first = cython.declare(cython.double[256])
    second = cython.declare(cython.double[256])
    third = cython.declare(cython.double[256])
    fourth = cython.declare(cython.double[256])
    for left in range(start - start % 8, width, 256):
        stop = min(width - left, 256)
        for j in range(stop):
            first[j] = matrix[a + left + j]
            second[j] = matrix[b + left + j]
            third[j] = matrix[c + left + j]
            fourth[j] = matrix[d + left + j]
        for k in range(i, min(size, left + stop), 2):
            row = k * width + left
            other = row + width
            r = matrix[a + k] * e
            s = matrix[b + k] * f
            t = matrix[c + k] * g
            u = matrix[d + k] * h
            v = matrix[a + k + 1] * e
            w = matrix[b + k + 1] * f
            x = matrix[c + k + 1] * g
            y = matrix[d + k + 1] * h
            for j in range(max(k - k % 8 - left, 0), stop):
                matrix[row + j] -= (r * first[j] + s * second[j]) + (t * third[j] + u * fourth[j])
                matrix[other + j] -= (v * first[j] + w * second[j]) + (x * third[j] + y * fourth[j])


@cython.cfunc
@cython.nogil
def factor(
    matrix: cython.double[::1],
    size: cython.Py_ssize_t,
    inverses: cython.double[::1],
    entering: cython.Py_ssize_t,
    floor: cython.double,
) -> cython.bint:
    """Write the upper triangle as DLᵀ; False if a pivot has not the sign that it must have.

    The first `entering` pivots are positive and the others negative; their inverses are written.
    """
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    width: cython.Py_ssize_t = width_of(size)
    pivot: cython.double
    while start < size:
        stop = min(start + 4, size)
        for p in range(start, stop):
            pivot = matrix[p * width + p]
            if p < entering:
                if not pivot > floor:
                    return False
            elif not pivot < 0.0:
                return False
            inverses[p] = 1.0 / pivot
            for i in range(p + 1, stop):
                take_out_one(matrix, width, inverses[p], p, i)
        if stop < size:
            take_out_four(matrix, size, width, inverses, start)
        start += 4
    return True


@cython.cfunc
@cython.nogil
def solve_lower(
    matrix: cython.double[::1],
    size: cython.Py_ssize_t,
    inverses: cython.double[::1],
    right: cython.double[::1],
    start: cython.Py_ssize_t,
) -> cython.void:
    """Solve Lx = right in place; before `start` there are zeros only, and after the last one."""
    width: cython.Py_ssize_t = width_of(size)
    p: cython.Py_ssize_t = start
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    c: cython.Py_ssize_t
    d: cython.Py_ssize_t
    r: cython.double
    s: cython.double
    t: cython.double
    u: cython.double
    while p + 4 <= size:
        a = p * width
        b = a + width
        c = b + width
        d = c + width
        r = right[p] * inverses[p]
        right[p + 1] -= r * matrix[a + p + 1]
        s = right[p + 1] * inverses[p + 1]
        right[p + 2] -= r * matrix[a + p + 2] + s * matrix[b + p + 2]
        t = right[p + 2] * inverses[p + 2]
        right[p + 3] -= r * matrix[a + p + 3] + s * matrix[b + p + 3] + t * matrix[c + p + 3]
        u = right[p + 3] * inverses[p + 3]
        for j in range(p + 4, width):
            right[j] -= (r * matrix[a + j] + s * matrix[b + j]) + (
                t * matrix[c + j] + u * matrix[d + j]
            )
        p += 4
    while p < size:
        a = p * width
        r = right[p] * inverses[p]
        for j in range(p + 1, width):
            right[j] -= r * matrix[a + j]
        p += 1


@cython.cfunc
@cython.nogil
def solve_upper(
    matrix: cython.double[::1],
    size: cython.Py_ssize_t,
    inverses: cython.double[::1],
    right: cython.double[::1],
) -> cython.void:
    """Solve DLᵀx = right in place, four unknowns at a time; after the last one are zeros."""
    width: cython.Py_ssize_t = width_of(size)
    p: cython.Py_ssize_t = size
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    c: cython.Py_ssize_t
    d: cython.Py_ssize_t
    r: cython.double
    s: cython.double
    t: cython.double
    u: cython.double
    while p >= 4:
        p -= 4
        a = p * width
        b = a + width
        c = b + width
        d = c + width
        r = 0.0
        s = 0.0
        t = 0.0
        u = 0.0
        for j in range(p + 4, width):
            r += matrix[a + j] * right[j]
            s += matrix[b + j] * right[j]
            t += matrix[c + j] * right[j]
            u += matrix[d + j] * right[j]
        u = (right[p + 3] - u) * inverses[p + 3]
        t = (right[p + 2] - t - matrix[c + p + 3] * u) * inverses[p + 2]
        s = (right[p + 1] - s - matrix[b + p + 2] * t - matrix[b + p + 3] * u) * inverses[p + 1]
        r = right[p] - r - matrix[a + p + 1] * s - matrix[a + p + 2] * t - matrix[a + p + 3] * u
        right[p] = r * inverses[p]
        right[p + 1] = s
        right[p + 2] = t
        right[p + 3] = u
    while p > 0:
        p -= 1
        a = p * width
        r = 0.0
        for j in range(p + 1, width):
            r += matrix[a + j] * right[j]
        right[p] = (right[p] - r) * inverses[p]


@cython.cfunc
@cython.nogil
def give(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    who: cython.longlong[::1],
    changes: cython.double[::1],
    count: cython.Py_ssize_t,
    state: cython.double[:, ::1],
) -> cython.void:
    """Take from what the tableau gives T times the changes of what it is given."""
    n: cython.Py_ssize_t = state.shape[1]
    k: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    second: cython.Py_ssize_t
    third: cython.Py_ssize_t
    fourth: cython.Py_ssize_t
    a: cython.double
    b: cython.double
    c: cython.double
    d: cython.double
    while k + 4 <= count:
        a = changes[k]
        b = changes[k + 1]
        c = changes[k + 2]
        d = changes[k + 3]
        first = place[who[k]]
        second = place[who[k + 1]]
        third = place[who[k + 2]]
        fourth = place[who[k + 3]]
        for j in range(n):
            state[GOT, j] -= (a * values[first, j] + b * values[second, j]) + (
                c * values[third, j] + d * values[fourth, j]
            )
        k += 4
    while k < count:
        a = changes[k]
        first = place[who[k]]
        for j in range(n):
            state[GOT, j] -= a * values[first, j]
        k += 1


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.Py_ssize_t))
def find_odd(
    base: cython.const[cython.uchar][::1], sides: cython.schar[::1], who: cython.longlong[::1]
):
    """List who is not as in the tableau, those that enter first; return their number and all.

    The list has room for one more than there are: who is not odd is written behind the last.
    """
    entering: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t
    # Nothing branches: a processor cannot foresee who is odd.
    for i in range(base.shape[0]):
        who[entering] = i
        entering += (base[i] == 0) & (sides[i] == 0)
    count = entering
    for i in range(base.shape[0] if count < base.shape[0] else 0):
        who[count] = i
        count += (base[i] != 0) & (sides[i] != 0)
    return entering, count


@cython.cfunc
@cython.nogil
def has_rows(
    place: cython.const[cython.longlong][::1],
    who: cython.longlong[::1],
    count: cython.Py_ssize_t,
    needed: cython.uchar[::1],
) -> cython.bint:
    """Tell whether the rows of all these are there; mark those that are not."""
    all_there: cython.bint = True
    for k in range(count):
        if place[who[k]] < 0:
            needed[who[k]] = 1
            all_there = False
    return all_there


@cython.cfunc
@cython.inline
@cython.nogil
def bound_of(
    state: cython.double[:, ::1], sides: cython.schar[::1], i: cython.Py_ssize_t
) -> cython.double:
    """Return the bound that example i is at."""
    return state[HIGH, i] if sides[i] > 0 else state[LOW, i]


@cython.cfunc
@cython.inline
@cython.nogil
def is_odd(
    base: cython.const[cython.uchar][::1], sides: cython.schar[::1], i: cython.Py_ssize_t
) -> cython.bint:
    """Tell whether example i is not as in the tableau."""
    return (base[i] == 0) == (sides[i] == 0)


@cython.cfunc
@cython.inline
@cython.nogil
def residual_of(
    base: cython.const[cython.uchar][::1],
    state: cython.double[:, ::1],
    sides: cython.schar[::1],
    i: cython.Py_ssize_t,
) -> cython.double:
    """Return what is to go: a gradient that is to be 0, or z of the base beside its bound."""
    return state[GOT, i] + bound_of(state, sides, i) if base[i] != 0 else state[GOT, i]


@cython.cfunc
@cython.nogil
def factor_sides(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    who: cython.longlong[::1],
    entering: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    floor: cython.double,
    core: cython.longlong[::1],
    at: cython.longlong[::1],
    matrix: cython.double[::1],
    inverses: cython.double[::1],
) -> cython.bint:
    """Make the equations of these their core, and factor them; False if that cannot be."""
    row: cython.Py_ssize_t
    width: cython.Py_ssize_t = width_of(count)
    for i in range(at.shape[0]):
        at[i] = -1
    for k in range(count):
        core[k] = who[k]
        at[who[k]] = k
        row = place[who[k]]
        for j in range(k - k % 8, k):
            matrix[k * width + j] = 0.0
        for j in range(k, count):
            matrix[k * width + j] = values[row, who[j]]
        for j in range(count, width):
            matrix[k * width + j] = 0.0
    return factor(matrix, count, inverses, entering, floor)


@cython.cfunc
@cython.nogil
def list_borders(
    base: cython.const[cython.uchar][::1],
    sides: cython.schar[::1],
    core: cython.longlong[::1],
    at: cython.longlong[::1],
    size: cython.Py_ssize_t,
    who: cython.longlong[::1],
    count: cython.Py_ssize_t,
    borders: cython.longlong[::1],
    positive: cython.bint,
    known: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """List those by whom the odd differ from the core; return their number, or one too many.

    The pivots of those who enter and of those who are again as the base are positive.
    """
    i: cython.Py_ssize_t
    for k in range(count):
        i = who[k]
        if at[i] < 0 and (base[i] == 0) == positive:
            if known >= most:
                return most + 1
            borders[known] = i
            known += 1
    for p in range(size):
        i = core[p]
        if not is_odd(base, sides, i) and (base[i] != 0) == positive:
            if known >= most:
                return most + 1
            borders[known] = i
            known += 1
    return known


@cython.cfunc
@cython.nogil
def add_border(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    core: cython.longlong[::1],
    at: cython.longlong[::1],
    size: cython.Py_ssize_t,
    matrix: cython.double[::1],
    inverses: cython.double[::1],
    i: cython.Py_ssize_t,
    slots: cython.longlong[::1],
    slot: cython.Py_ssize_t,
    edges: cython.double[:, ::1],
    corners: cython.double[:, ::1],
    scaled: cython.double[::1],
) -> cython.void:
    """Write L⁻¹ of the column of example i, and its products with those before it.

    One who is in the core, and is to be as in the base, has a unit vector for a column.
    """
    first: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    other: cython.Py_ssize_t
    total: cython.double
    if at[i] < 0:
        row = place[i]
        for p in range(size):
            edges[slot, p] = values[row, core[p]]
    else:
        first = at[i]
        for p in range(size):
            edges[slot, p] = 0.0
        edges[slot, first] = 1.0
    for p in range(size, width_of(size)):
        edges[slot, p] = 0.0
    solve_lower(matrix, size, inverses, edges[slot], first)
    slots[slot] = i
    for p in range(first, size):
        scaled[p] = edges[slot, p] * inverses[p]
    for k in range(slot + 1):
        other = slots[k]
        total = 0.0
        for p in range(first, size):
            total += edges[k, p] * scaled[p]
        corners[slot, k] = -total
        if at[i] < 0 and at[other] < 0:
            corners[slot, k] += values[place[i], other]


@cython.cfunc
@cython.nogil
def border_sides(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    base: cython.const[cython.uchar][::1],
    sides: cython.schar[::1],
    floor: cython.double,
    who: cython.longlong[::1],
    count: cython.Py_ssize_t,
    core: cython.longlong[::1],
    at: cython.longlong[::1],
    size: cython.Py_ssize_t,
    matrix: cython.double[::1],
    inverses: cython.double[::1],
    slots: cython.longlong[::1],
    used: cython.Py_ssize_t,
    edges: cython.double[:, ::1],
    corners: cython.double[:, ::1],
    borders: cython.longlong[::1],
    corner: cython.double[::1],
    corner_inverses: cython.double[::1],
    scaled: cython.double[::1],
) -> cython.Py_ssize_t:
    """Border the factor of the core by those who differ from it; return how many do.

    `borders` become their slots.  −1 if they are too many, or a pivot has a wrong sign.
    """
    positive: cython.Py_ssize_t
    number: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    first: cython.Py_ssize_t
    second: cython.Py_ssize_t
    width: cython.Py_ssize_t
    most: cython.Py_ssize_t = min((size - UNBORDERED) // ROWS_PER_BORDER, borders.shape[0])
    if most <= 0:
        return -1
    positive = list_borders(base, sides, core, at, size, who, count, borders, True, 0, most)
    if positive > most:
        return -1
    number = list_borders(base, sides, core, at, size, who, count, borders, False, positive, most)
    if number > most:
        return -1
    for k in range(number):
        slot = 0
        while slot < used and slots[slot] != borders[k]:
            slot += 1
        if slot == slots.shape[0]:
            return -1
        if slot == used:
            add_border(
                values,
                place,
                core,
                at,
                size,
                matrix,
                inverses,
                borders[k],
                slots,
                slot,
                edges,
                corners,
                scaled,
            )
            used += 1
        borders[k] = slot
    width = width_of(number)
    for k in range(number):
        for j in range(k - k % 8, width):
            corner[k * width + j] = 0.0
        for j in range(k, number):
            first = max(borders[k], borders[j])
            second = min(borders[k], borders[j])
            corner[k * width + j] = corners[first, second]
    return number if factor(corner, number, corner_inverses, positive, floor) else -1


@cython.cfunc
@cython.nogil
def solve_bordered(
    base: cython.const[cython.uchar][::1],
    state: cython.double[:, ::1],
    sides: cython.schar[::1],
    core: cython.longlong[::1],
    at: cython.longlong[::1],
    size: cython.Py_ssize_t,
    matrix: cython.double[::1],
    inverses: cython.double[::1],
    slots: cython.longlong[::1],
    edges: cython.double[:, ::1],
    borders: cython.longlong[::1],
    number: cython.Py_ssize_t,
    corner: cython.double[::1],
    corner_inverses: cython.double[::1],
    scaled: cython.double[::1],
    more: cython.double[::1],
    who: cython.longlong[::1],
    right: cython.double[::1],
) -> cython.Py_ssize_t:
    """Solve the equations of a core with borders; return the number of unknowns.

    These are written in the order of `who`, which is written too.
    """
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    total: cython.double
    share: cython.double
    for p in range(size):
        i = core[p]
        right[p] = residual_of(base, state, sides, i) if is_odd(base, sides, i) else 0.0
    for p in range(size, width_of(size)):
        right[p] = 0.0
    solve_lower(matrix, size, inverses, right, 0)
    for p in range(size if number > 0 else 0):
        scaled[p] = right[p] * inverses[p]
    for k in range(number):
        slot = borders[k]
        i = slots[slot]
        total = 0.0
        for p in range(size):
            total += edges[slot, p] * scaled[p]
        more[k] = (residual_of(base, state, sides, i) if at[i] < 0 else 0.0) - total
    for k in range(number, width_of(number)):
        more[k] = 0.0
    solve_lower(corner, number, corner_inverses, more, 0)
    solve_upper(corner, number, corner_inverses, more)
    for k in range(number):
        slot = borders[k]
        share = more[k]
        for p in range(size):
            right[p] -= share * edges[slot, p]
    solve_upper(matrix, size, inverses, right)
    for p in range(size):
        i = core[p]
        if is_odd(base, sides, i):
            who[count] = i
            right[count] = right[p]
            count += 1
    for k in range(number):
        i = slots[borders[k]]
        if at[i] < 0:
            who[count] = i
            right[count] = more[k]
            count += 1
    return count


@cython.ccall
@cython.nogil
def find_sides(
    in_base: cython.const[cython.double][::1],
    reach: cython.const[cython.double][::1],
    state: cython.double[:, ::1],
    now: cython.const[cython.double][::1],
    new: cython.double[::1],
) -> cython.bint:
    """Write on which side every example belongs; tell whether some are on another one now.

    All numbers are of one type, and nothing branches: such a loop becomes vector instructions.
    """
    moved: cython.double = 0.0
    given: cython.double
    got: cython.double
    z: cython.double
    gradient: cython.double
    wish: cython.double
    lower: cython.double
    upper: cython.double
    room: cython.double
    side: cython.double
    if_free: cython.double
    goes: cython.double
    if_high: cython.double
    for i in range(now.shape[0]):
        given = state[GIVEN, i]
        got = state[GOT, i]
        lower = state[LOW, i]
        upper = state[HIGH, i]
        side = now[i]
        z = -got if in_base[i] != 0.0 else given
        gradient = given if in_base[i] != 0.0 else got
        # How far its gradient would take z.
        wish = reach[i] * gradient if fabs(gradient) > WRONG else 0.0
        room = OUTSIDE * (upper - lower)
        if_free = -1.0 if z < lower - room else 0.0
        if_free = 1.0 if z > upper + room else if_free
        if_high = 0.0 if upper + wish > lower else -1.0
        goes = 0.0 if lower + wish < upper else 1.0
        goes = if_high if side > 0.0 else goes
        goes = side if side * wish >= 0.0 else goes
        goes = side if lower >= upper else goes
        goes = if_free if side == 0.0 else goes
        new[i] = goes
        moved += 1.0 if goes != side else 0.0
    return moved > 0.0


@cython.cfunc
@cython.inline
@cython.nogil
def target_of(
    base: cython.const[cython.uchar][::1],
    state: cython.double[:, ::1],
    i: cython.Py_ssize_t,
    side: cython.int,
) -> cython.double:
    """Return what the tableau is to be given of example i on this side."""
    if base[i] != 0:
        return 0.0 if side == 0 else state[GIVEN, i]
    if side == 0:
        return state[GIVEN, i]
    return state[HIGH, i] if side > 0 else state[LOW, i]


@cython.cfunc
@cython.nogil
def change_sides(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    base: cython.const[cython.uchar][::1],
    in_base: cython.const[cython.double][::1],
    reach: cython.const[cython.double][::1],
    state: cython.double[:, ::1],
    sides: cython.schar[::1],
    now: cython.double[::1],
    new: cython.double[::1],
    needed: cython.uchar[::1],
    who: cython.longlong[::1],
    changes: cython.double[::1],
) -> cython.Py_ssize_t:
    """Put everybody where they belong; return how many have moved.

    −2 if a row is not there: nobody has moved then.
    """
    count: cython.Py_ssize_t = 0
    moved: cython.Py_ssize_t = 0
    all_there: cython.bint = True
    i: cython.Py_ssize_t
    side: cython.int
    given: cython.double
    if not find_sides(in_base, reach, state, now, new):
        return 0
    for i in range(base.shape[0]):
        if new[i] == now[i]:
            continue
        side = cython.cast(cython.int, new[i])
        who[moved] = i
        moved += 1
        if place[i] < 0 and target_of(base, state, i, side) != state[GIVEN, i]:
            needed[i] = 1
            all_there = False
    if not all_there:
        return -2
    for k in range(moved):
        i = who[k]
        now[i] = new[i]
        sides[i] = cython.cast(cython.schar, new[i])
        given = state[GIVEN, i]
        state[GIVEN, i] = target_of(base, state, i, sides[i])
        if state[GIVEN, i] != given:
            who[count] = i
            changes[count] = state[GIVEN, i] - given
            count += 1
    give(values, place, who, changes, count, state)
    return moved


def settle_all(
    values: cython.const[cython.double][:, ::1],
    place: cython.const[cython.longlong][::1],
    base: cython.const[cython.uchar][::1],
    reach: cython.const[cython.double][::1],
    states: cython.double[:, :, ::1],
    sides: cython.schar[:, ::1],
    floor: cython.double,
    max_rounds: cython.Py_ssize_t,
    needed: cython.uchar[::1],
    verdicts: cython.longlong[::1],
    work: cython.double[::1],
):
    """Solve the replicates of verdict NEEDED, letting those change sides who want to, to the end.

    Writes the verdicts and adds the work, in nanoseconds by the number of equations; and whose rows
    were not there, where the verdict is NEEDED still: with these it can be called again.
    """
    n: cython.Py_ssize_t = base.shape[0]
    who: cython.longlong[::1] = np.empty(n + 1, np.int64)
    core: cython.longlong[::1] = np.empty(n, np.int64)
    at: cython.longlong[::1] = np.empty(n, np.int64)
    # Whoever is in an equation has a row.
    matrix: cython.double[::1] = np.empty(values.shape[0] * width_of(values.shape[0]))
    right: cython.double[::1] = np.empty(width_of(n))
    inverses: cython.double[::1] = np.empty(n)
    slots: cython.longlong[::1] = np.empty(MAX_BORDERS, np.int64)
    edges: cython.double[:, ::1] = np.empty((MAX_BORDERS, width_of(n)))
    corners: cython.double[:, ::1] = np.empty((MAX_BORDERS, MAX_BORDERS))
    borders: cython.longlong[::1] = np.empty(MAX_BORDERS, np.int64)
    corner: cython.double[::1] = np.empty(MAX_BORDERS * MAX_BORDERS)
    corner_inverses: cython.double[::1] = np.empty(MAX_BORDERS)
    scaled: cython.double[::1] = np.empty(n)
    more: cython.double[::1] = np.empty(MAX_BORDERS)
    in_base: cython.double[::1] = np.empty(n)
    now: cython.double[::1] = np.empty(n)
    new: cython.double[::1] = np.empty(n)
    i: cython.Py_ssize_t
    entering: cython.Py_ssize_t
    count: cython.Py_ssize_t
    size: cython.Py_ssize_t
    used: cython.Py_ssize_t
    number: cython.Py_ssize_t
    moved: cython.Py_ssize_t
    before: cython.Py_ssize_t
    equations: cython.double
    with cython.nogil:
        for i in range(n):
            in_base[i] = 1.0 if base[i] != 0 else 0.0
        for r in range(states.shape[0]):
            if verdicts[r] != NEEDED:
                continue
            verdicts[r] = CHANGING
            for i in range(n):
                now[i] = sides[r, i]
            before = n + 1
            size = -1
            used = 0
            for _ in range(max_rounds):
                entering, count = find_odd(base, sides[r], who)
                if not has_rows(place, who, count, needed):
                    verdicts[r] = NEEDED
                    break
                equations = count
                number = -1
                if size >= 0:
                    number = border_sides(
                        values,
                        place,
                        base,
                        sides[r],
                        floor,
                        who,
                        count,
                        core,
                        at,
                        size,
                        matrix,
                        inverses,
                        slots,
                        used,
                        edges,
                        corners,
                        borders,
                        corner,
                        corner_inverses,
                        scaled,
                    )
                if number >= 0:
                    for k in range(number):
                        used = max(used, borders[k] + 1)
                    work[r] += PER_BORDER * equations * equations * (number + 2)
                else:
                    size = count
                    number = 0
                    used = 0
                    if not factor_sides(
                        values,
                        place,
                        who,
                        entering,
                        count,
                        floor,
                        core,
                        at,
                        matrix,
                        inverses,
                    ):
                        verdicts[r] = SINGULAR
                        break
                    work[r] += equations * equations * (PER_CUBE * equations + PER_SQUARE)
                count = solve_bordered(
                    base,
                    states[r],
                    sides[r],
                    core,
                    at,
                    size,
                    matrix,
                    inverses,
                    slots,
                    edges,
                    borders,
                    number,
                    corner,
                    corner_inverses,
                    scaled,
                    more,
                    who,
                    right,
                )
                give(values, place, who, right, count, states[r])
                for k in range(count):
                    i = who[k]
                    states[r, GIVEN, i] += right[k]
                    states[r, GOT, i] = -bound_of(states[r], sides[r], i) if base[i] != 0 else 0.0
                work[r] += PER_PRODUCT * equations * n
                moved = change_sides(
                    values,
                    place,
                    base,
                    in_base,
                    reach,
                    states[r],
                    sides[r],
                    now,
                    new,
                    needed,
                    who,
                    right,
                )
                if moved < 0:
                    verdicts[r] = NEEDED
                    break
                if moved == 0:
                    verdicts[r] = SETTLED
                    break
                # Where more move than before, the rounds go in circles.
                if moved > before:
                    break
                before = moved


def begin_all(
    steps: cython.const[cython.float][:, :, ::1],
    lower: cython.const[cython.double][:, ::1],
    upper: cython.const[cython.double][:, ::1],
    base: cython.const[cython.uchar][::1],
    states: cython.double[:, :, ::1],
    sides: cython.schar[:, ::1],
):
    """Write the states of rounds from where steps have ended, but for what the tableau gives."""
    value: cython.double
    with cython.nogil:
        for r in range(lower.shape[0]):
            for i in range(lower.shape[1]):
                value = steps[r, Z, i]
                sides[r, i] = 0
                if steps[r, Z, i] >= steps[r, UPPER, i]:
                    sides[r, i] = 1
                    value = upper[r, i]
                elif steps[r, Z, i] <= steps[r, LOWER, i]:
                    sides[r, i] = -1
                    value = lower[r, i]
                states[r, LOW, i] = lower[r, i]
                states[r, HIGH, i] = upper[r, i]
                states[r, GIVEN, i] = 0.0 if base[i] != 0 else value


def end_all(
    states: cython.const[cython.double][:, :, ::1],
    sides: cython.const[cython.schar][:, ::1],
    lower: cython.const[cython.double][:, ::1],
    upper: cython.const[cython.double][:, ::1],
    base: cython.const[cython.uchar][::1],
    verdicts: cython.const[cython.longlong][::1],
    z: cython.double[:, ::1],
):
    """Write z where rounds have ended, within its bounds; 0 where they are not settled."""
    value: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            for i in range(z.shape[1]):
                value = -states[r, GOT, i] if base[i] != 0 else states[r, GIVEN, i]
                value = upper[r, i] if value > upper[r, i] else value
                value = lower[r, i] if value < lower[r, i] else value
                value = upper[r, i] if sides[r, i] > 0 else value
                value = lower[r, i] if sides[r, i] < 0 else value
                z[r, i] = value if verdicts[r] == SETTLED else 0.0


# --- products with K


def add_rows(
    gram: cython.const[cython.double][:, ::1],
    rows: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    into: cython.const[cython.longlong][::1],
    total: cython.double[:, ::1],
):
    """Add some rows of K, each with its weight, to rows of the total, a few columns at a time."""
    stop: cython.Py_ssize_t
    row: cython.Py_ssize_t
    place: cython.Py_ssize_t
    weight: cython.double
    n: cython.Py_ssize_t = total.shape[1]
    with cython.nogil:
        for first in range(0, n, 256):
            stop = min(first + COLUMNS, n)
            for k in range(rows.shape[0]):
                row = rows[k]
                place = into[k]
                weight = weights[k]
                for j in range(first, stop):
                    total[place, j] += weight * gram[row, j]


# --- what is true of z


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.double))
def sums(z: cython.const[cython.double][::1]):
    """Return Σz and Σ|z|."""
    total: cython.double = 0.0
    size: cython.double = 0.0
    for i in range(z.shape[0]):
        total += z[i]
        size += fabs(z[i])
    return total, size


@cython.cfunc
@cython.nogil
def spread_out(
    z: cython.double[::1],
    lower: cython.const[cython.double][::1],
    upper: cython.const[cython.double][::1],
    excess: cython.double,
    by_free: cython.bint,
) -> cython.void:
    """Take an excess from z, from each in proportion to its room, as far as there is room."""
    most: cython.double = 0.0
    room: cython.double
    share: cython.double
    value: cython.double
    for i in range(z.shape[0]):
        room = z[i] - lower[i] if excess > 0.0 else upper[i] - z[i]
        most += room if not by_free or (z[i] > lower[i] and z[i] < upper[i]) else 0.0
    share = min(fabs(excess) / most, 1.0) if most > 0.0 else 0.0
    share = share if excess > 0.0 else -share
    for i in range(z.shape[0]):
        room = z[i] - lower[i] if excess > 0.0 else upper[i] - z[i]
        value = z[i] - share * room
        value = lower[i] if value < lower[i] else value
        value = upper[i] if value > upper[i] else value
        z[i] = value if not by_free or (z[i] > lower[i] and z[i] < upper[i]) else z[i]


@cython.cfunc
@cython.nogil
def take_in_order(
    z: cython.double[::1],
    lower: cython.const[cython.double][::1],
    upper: cython.const[cython.double][::1],
    excess: cython.double,
    order: cython.const[cython.longlong][::1],
) -> cython.void:
    """Take an excess from z, one after the other, from each as far as there is room."""
    left: cython.double = fabs(excess)
    bound: cython.double
    room: cython.double
    for k in range(order.shape[0]):
        i = order[k]
        bound = lower[i] if excess > 0.0 else upper[i]
        room = fabs(z[i] - bound)
        if room > left:
            z[i] += left if excess < 0.0 else -left
            break
        z[i] = bound
        left -= room


def balance_all(
    z: cython.double[:, ::1],
    lower: cython.const[cython.double][:, ::1],
    upper: cython.const[cython.double][:, ::1],
    totals: cython.const[cython.double][::1],
    order: cython.const[cython.longlong][::1],
    rounding: cython.double,
):
    """Bring every Σz to its total within the bounds, in place, first by those that are free.

    Then by everybody: one after the other in an order, where one is given, to change few.  An
    excess of no more than `rounding` for each unit of Σ|z| is none.
    """
    total: cython.double
    size: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            for k in range(2):
                total, size = sums(z[r])
                if fabs(total - totals[r]) <= rounding * size:
                    break
                if k == 0 or order.shape[0] == 0:
                    spread_out(z[r], lower[r], upper[r], total - totals[r], k == 0)
                else:
                    take_in_order(z[r], lower[r], upper[r], total - totals[r], order)


def miss_all(
    z: cython.const[cython.double][:, ::1],
    totals: cython.const[cython.double][::1],
    part: cython.double,
    misses: cython.uchar[::1],
):
    """Tell where Σz is off its total by more than a part of Σ|z| and of the total."""
    total: cython.double
    size: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            total, size = sums(z[r])
            misses[r] = fabs(total - totals[r]) > part * (size + fabs(totals[r]))


def find_inside(
    lower: cython.const[cython.double][:, ::1],
    upper: cython.const[cython.double][:, ::1],
    z: cython.const[cython.double][:, ::1],
    part: cython.double,
    found: cython.uchar[::1],
):
    """Tell where somebody is off both bounds by more than a part of the range between them."""
    edge: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            found[r] = 0
            for i in range(z.shape[1]):
                edge = part * (upper[r, i] - lower[r, i])
                if z[r, i] - lower[r, i] > edge and upper[r, i] - z[r, i] > edge:
                    found[r] = 1
                    break


def measure_all(
    lower: cython.const[cython.double][:, ::1],
    upper: cython.const[cython.double][:, ::1],
    z: cython.const[cython.double][:, ::1],
    gradient: cython.const[cython.double][:, ::1],
    bias: cython.double[::1],
    gap: cython.double[::1],
):
    """Write the bias and the gap of each replicate; FARTHEST where nobody pins down the bias."""
    top: cython.double
    bottom: cython.double
    total: cython.double
    free: cython.double
    rising: cython.double
    falling: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            top = -FARTHEST
            bottom = FARTHEST
            total = 0.0
            free = 0.0
            for i in range(z.shape[1]):
                rising = gradient[r, i] if z[r, i] < upper[r, i] else -FARTHEST
                falling = gradient[r, i] if z[r, i] > lower[r, i] else FARTHEST
                top = rising if rising > top else top
                bottom = falling if falling < bottom else bottom
                total += rising if rising == falling else 0.0
                free += 1.0 if rising == falling else 0.0
            bias[r] = total / free if free > 0.0 else 0.0
            gap[r] = max(top - bottom, 0.0) if free > 0.0 else FARTHEST
