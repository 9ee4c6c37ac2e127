"""The SVM on a Gram matrix: small steps, exact paths, and leaving one example out along them.

Problem   max  pᵀz − ½ zᵀKz   with  lowerᵢ ≤ zᵢ ≤ upperᵢ  and  Σᵢ zᵢ = 0;  z = yα is signed:
          0 ≤ α ≤ U becomes [0, U] for a positive and [−U, 0] for a negative example; p is y, or
          moves
SMO       gradient = y − Kz is the bias that an example asks for: z is optimal when no example that
          may rise asks for more than one that may fall.  The first example of a step is the one of
          the largest gradient, the second the one of the largest gain
Block     the inverse of [0 1ᵀ; 1 K_FF], the equations that the free examples F obey, updated while
          single examples enter and leave.  Place 0 belongs to the bias, places 1 … size to the
          members; `members[0]` is the size
Path      the exact solutions while lower, upper and p change linearly with a clock from 0 to 1.
          residual = Kz + b − p is 0 at free examples, ≥ 0 at the lower and ≤ 0 at the upper bound;
          between events all is linear in the clock.  An event is a free example that meets a bound
          or a bounded example whose residual becomes 0
Leaving   both bounds of example t go from where z_t stands to 0: the margin at the end is that of
one out   the SVM fitted without t.  It is exact at the end of the path, of the right sign before
Gaussian  exp(x) = 2⁻ᵏ eʳ with k = round(−x / ln 2): |r| is ½ ln 2 at most, and thirteen terms of
kernel    the series of eʳ leave less than rounding; 2⁻ᵏ is read from a table
Sources   Fan, Chen and Lin, JMLR 6 (2005), 1889-1918 (SMO); Cauwenberghs and Poggio, NIPS 2000
          (block, leaving one out); Hastie et al., JMLR 5 (2004), 1391-1415 (path)
Flags     rearranged: every number is finite; FAR stands for ∞

The classes hold typed views of the tuples of the same names in `truerisk.svm.gram`.
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, sqrt

FAR = cython.declare(cython.double, 1e100)  # beyond every gradient
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # examples compared together
SMALL = cython.declare(cython.double, 1e-3)  # a squared distance, beside K(x, x), to refine
NEARLY_NONE = cython.declare(cython.double, 1e-9)  # a share of a dependence that is rounding
HARRIS = cython.declare(cython.double, 1e-12)  # how far beyond its bound a member may slide
MIN_ROOM = cython.declare(cython.double, 1e-15)  # several examples at 0 then differ by their rates
MORE = cython.declare(cython.double, 1.0 + 1e-6)  # more than enough, rounding included
NO_TIME = cython.declare(cython.double, 1e-14)  # a step that is none
MANY = cython.declare(cython.double, 100.0)  # times its noise: the inverse is stale
# At the end the bias may be one of many, and rounding may have taken it to the other end of them.
NEARLY_OVER = cython.declare(cython.double, 1.0 - 1e-9)
GOLDEN = cython.declare(cython.double, 0.6180339887498949)  # its multiples are spread evenly
CHECKED = cython.declare(cython.Py_ssize_t, 8)  # free examples that confirm a margin
INSIDE = cython.declare(cython.double, 1e-9)  # beside its range, how far off a bound is free
BELIEVED = cython.declare(cython.double, 1e3)  # times a tie: what rounding may do to a margin
LOG2E = cython.declare(cython.double, 1.4426950408889634)
LN2 = cython.declare(cython.double, 0.6931471805599453)
LEAST = cython.declare(cython.double, -746.0)  # exp of it is 0
# Rows of `vectors`: right side, solution, and a second solution.
QUESTION = cython.declare(cython.Py_ssize_t, 0)
ANSWER = cython.declare(cython.Py_ssize_t, 1)
MENDED = cython.declare(cython.Py_ssize_t, 2)
# Rows of `rows`; see `truerisk.svm.gram.path`.
Z = cython.declare(cython.Py_ssize_t, 0)
RESIDUAL = cython.declare(cython.Py_ssize_t, 1)
SIDE = cython.declare(cython.Py_ssize_t, 2)
LOWER = cython.declare(cython.Py_ssize_t, 3)
UPPER = cython.declare(cython.Py_ssize_t, 4)
LOWER_RATE = cython.declare(cython.Py_ssize_t, 5)
UPPER_RATE = cython.declare(cython.Py_ssize_t, 6)
TARGET_RATE = cython.declare(cython.Py_ssize_t, 7)
DRIFT = cython.declare(cython.Py_ssize_t, 8)
SLOPE = cython.declare(cython.Py_ssize_t, 9)
URGENCY = cython.declare(cython.Py_ssize_t, 10)
# Places in `at`.
CLOCK = cython.declare(cython.Py_ssize_t, 0)
BIAS = cython.declare(cython.Py_ssize_t, 1)
IMBALANCE = cython.declare(cython.Py_ssize_t, 2)
EVENTS = cython.declare(cython.Py_ssize_t, 3)
STALLED = cython.declare(cython.Py_ssize_t, 4)
# Verdicts.
GOING = cython.declare(cython.Py_ssize_t, 0)
ARRIVED = cython.declare(cython.Py_ssize_t, 1)
WRONG = cython.declare(cython.Py_ssize_t, 2)
RIGHT = cython.declare(cython.Py_ssize_t, 3)
FULL = cython.declare(cython.Py_ssize_t, 4)
STALE = cython.declare(cython.Py_ssize_t, 5)
TOO_MANY = cython.declare(cython.Py_ssize_t, 6)
NO_PARTNER = cython.declare(cython.Py_ssize_t, 7)
SINGULAR = cython.declare(cython.Py_ssize_t, 8)
# Events.
END = cython.declare(cython.Py_ssize_t, 0)
AT_UPPER = cython.declare(cython.Py_ssize_t, 1)
AT_LOWER = cython.declare(cython.Py_ssize_t, 2)
FREED = cython.declare(cython.Py_ssize_t, 3)

Limits = cython.struct(
    floor=cython.double,
    noise=cython.double,
    still=cython.double,
    fastest=cython.double,
    max_events=cython.longlong,
    max_stall=cython.longlong,
)
Watch = cython.struct(
    example=cython.Py_ssize_t, sign=cython.double, reach=cython.double, tolerance=cython.double
)


@cython.final
@cython.cclass
class Dual:
    """A problem and where its solution stands."""

    gram: cython.double[:, ::1]
    diagonal: cython.double[::1]
    lower: cython.double[::1]
    upper: cython.double[::1]
    z: cython.double[::1]
    gradient: cython.double[::1]

    def __init__(self, gram, diagonal, lower, upper, z, gradient):
        self.gram = gram
        self.diagonal = diagonal
        self.lower = lower
        self.upper = upper
        self.z = z
        self.gradient = gradient


@cython.final
@cython.cclass
class Moves:
    """0 where an example may rise or fall, −FAR where it may not; the gain of each partner."""

    rise: cython.double[::1]
    fall: cython.double[::1]
    gain: cython.double[::1]

    def __init__(self, rise, fall, gain):
        self.rise = rise
        self.fall = fall
        self.gain = gain


@cython.final
@cython.cclass
class FreeBlock:
    """The free examples and their inverse."""

    members: cython.longlong[::1]
    inverse: cython.double[:, ::1]
    vectors: cython.double[:, ::1]

    def __init__(self, members, inverse, vectors):
        self.members = members
        self.inverse = inverse
        self.vectors = vectors


@cython.final
@cython.cclass
class Path:
    """Where a path stands and where it goes."""

    gram: cython.double[:, ::1]
    rows: cython.double[:, ::1]
    at: cython.double[::1]
    block: FreeBlock

    def __init__(self, gram, rows, at, block):
        self.gram = gram
        self.rows = rows
        self.at = at
        self.block = block


@cython.final
@cython.cclass
class Ground:
    """What the reach of every example is computed from."""

    diagonal: cython.double[::1]
    widest: cython.double
    one_bound: cython.bint
    tolerance: cython.double

    def __init__(self, diagonal, widest, one_bound, tolerance):
        self.diagonal = diagonal
        self.widest = widest
        self.one_bound = one_bound
        self.tolerance = tolerance


@cython.cfunc
@cython.inline
@cython.nogil
def larger(first: cython.double, second: cython.double) -> cython.double:
    """Return the larger of two numbers: written so, a loop of it becomes vector instructions."""
    return first if first > second else second


@cython.cfunc
@cython.nogil
def set_moves(dual: Dual, moves: Moves, i: cython.Py_ssize_t) -> cython.void:
    """Tell whether example i may rise and fall."""
    moves.rise[i] = 0.0 if dual.z[i] < dual.upper[i] else -FAR
    moves.fall[i] = 0.0 if dual.z[i] > dual.lower[i] else -FAR


@cython.cfunc
@cython.nogil
def highest(gradient: cython.double[::1], rise: cython.double[::1]) -> cython.double:
    """Return the largest gradient of those that may rise."""
    top = -FAR
    for i in range(len(gradient)):
        top = larger(top, gradient[i] + rise[i])
    return top


@cython.cfunc
@cython.nogil
def lowest(gradient: cython.double[::1], fall: cython.double[::1]) -> cython.double:
    """Return the smallest gradient of those that may fall."""
    top = -FAR
    for i in range(len(gradient)):
        top = larger(top, fall[i] - gradient[i])
    return -top


@cython.cfunc
@cython.nogil
def first_at(
    gradient: cython.double[::1], rise: cython.double[::1], top: cython.double
) -> cython.Py_ssize_t:
    """Find the example that may rise and asks for `top`; −1 if none may rise."""
    n = len(gradient)
    for start in range(0, n, 64):
        stop = min(start + BLOCK, n)
        if highest(gradient[start:stop], rise[start:stop]) >= top:
            for i in range(start, stop):
                if gradient[i] + rise[i] >= top:
                    return i
    return -1


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.double))
def weigh_partners(
    dual: Dual, moves: Moves, i: cython.Py_ssize_t, top: cython.double, floor: cython.double
):
    """Write the gain of a step of i with each partner; return the lowest gradient, best gain."""
    row, own = dual.gram[i], dual.diagonal[i]
    gradient, diagonal = dual.gradient, dual.diagonal
    fall, gain = moves.fall, moves.gain
    negated_bottom = -FAR
    best = 0.0
    for j in range(len(row)):
        negated = fall[j] - gradient[j]
        negated_bottom = larger(negated_bottom, negated)
        difference = larger(top + negated, 0.0)
        curvature = larger(own + diagonal[j] - 2.0 * row[j], floor)
        gain[j] = difference * difference / curvature
        best = larger(best, gain[j])
    return -negated_bottom, best


@cython.cfunc
@cython.nogil
def first_reaching(gain: cython.double[::1], best: cython.double) -> cython.Py_ssize_t:
    """Find the first partner whose gain is the best."""
    for start in range(0, len(gain), 64):
        stop = min(start + BLOCK, len(gain))
        top = 0.0
        for k in range(start, stop):
            top = larger(top, gain[k])
        if top >= best:
            for k in range(start, stop):
                if gain[k] >= best:
                    return k
    return 0


@cython.cfunc
@cython.nogil
def shift(
    dual: Dual, i: cython.Py_ssize_t, j: cython.Py_ssize_t, step: cython.double
) -> cython.double:
    """Move `step` from z[j] to z[i], as far as the bounds allow; return how far that was."""
    z, lower, upper = dual.z, dual.lower, dual.upper
    room_above, room_below = upper[i] - z[i], z[j] - lower[j]
    if step < room_above and step < room_below:
        z[i] += step
        z[j] -= step
        return step
    # A bound that is met is met exactly, so that nobody is left a rounding error away from it.
    step = min(room_above, room_below)
    z[i] = upper[i] if room_above <= room_below else min(z[i] + step, upper[i])
    z[j] = lower[j] if room_below <= room_above else larger(z[j] - step, lower[j])
    return step


@cython.cfunc
@cython.nogil
def update(
    dual: Dual,
    rise: cython.double[::1],
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    step: cython.double,
) -> cython.double:
    """Bring the gradients up to date; return the largest of those that may rise."""
    gradient = dual.gradient
    first, second = dual.gram[i], dual.gram[j]
    top = -FAR
    for k in range(len(gradient)):
        value = gradient[k] - step * (first[k] - second[k])
        gradient[k] = value
        top = larger(top, value + rise[k])
    return top


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.double, cython.double))
def descend(
    dual: Dual,
    moves: Moves,
    floor: cython.double,
    tolerance: cython.double,
    max_steps: cython.Py_ssize_t,
):
    """Take steps until top − bottom ≤ tolerance; return their number, top and bottom.

    `floor` is the least curvature that is believed: an indefinite or singular K has directions
    with none, and there the step goes to a bound.
    """
    for k in range(len(dual.z)):
        set_moves(dual, moves, k)
    top, bottom = highest(dual.gradient, moves.rise), FAR
    steps = 0
    while True:
        i = first_at(dual.gradient, moves.rise, top)
        if i < 0 or top <= -FAR / 2:
            bottom = lowest(dual.gradient, moves.fall)
            break
        bottom, best = weigh_partners(dual, moves, i, top, floor)
        if top - bottom <= tolerance or steps >= max_steps or best <= 0.0:
            break
        j = first_reaching(moves.gain, best)
        curvature = larger(dual.diagonal[i] + dual.diagonal[j] - 2.0 * dual.gram[i, j], floor)
        step = shift(dual, i, j, (top - dual.gradient[j]) / curvature)
        if step <= 0.0:
            break
        set_moves(dual, moves, i)
        set_moves(dual, moves, j)
        top = update(dual, moves.rise, i, j, step)
        steps += 1
    return steps, top, bottom


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.double))
def bias_between(dual: Dual):
    """Return the bias and the violation: the mean over free examples, else the midpoint.

    Where nobody may rise, or nobody may fall, only one end is known, and the bias is that end.
    """
    total, free = 0.0, 0
    top, bottom = -FAR, FAR
    for i in range(len(dual.z)):
        may_rise: cython.bint
        may_fall: cython.bint
        may_rise, may_fall = dual.z[i] < dual.upper[i], dual.z[i] > dual.lower[i]
        if may_rise:
            top = larger(top, dual.gradient[i])
        if may_fall:
            bottom = min(bottom, dual.gradient[i])
        if may_rise and may_fall:
            total += dual.gradient[i]
            free += 1
    violation = larger(top - bottom, 0.0)
    if free > 0:
        return total / free, violation
    if top <= -FAR / 2:
        return (bottom if bottom < FAR / 2 else 0.0), 0.0
    if bottom >= FAR / 2:
        return top, 0.0
    return 0.5 * (top + bottom), violation


@cython.cfunc
@cython.nogil
def copy_block(source: FreeBlock, target: FreeBlock) -> cython.void:
    """Copy members and inverse into a block with enough room."""
    m = source.members[0] + 1
    for i in range(m):
        target.members[i] = source.members[i]
        for k in range(m):
            target.inverse[i, k] = source.inverse[i, k]


@cython.cfunc
@cython.nogil
def solve_block(block: FreeBlock, answer: cython.double[::1]) -> cython.void:
    """Set `answer` to −inverse · question."""
    inverse: cython.double[:, ::1] = block.inverse
    question: cython.double[::1] = block.vectors[QUESTION]
    m: cython.Py_ssize_t = block.members[0] + 1
    total: cython.double
    for i in range(m):
        total = 0.0
        for k in range(m):
            total += inverse[i, k] * question[k]
        answer[i] = -total


@cython.cfunc
@cython.nogil
def distance_to(
    gram: cython.double[:, ::1], block: FreeBlock, i: cython.Py_ssize_t
) -> cython.double:
    """Return the squared distance of the image of i to the affine hull of the members' images.

    The answer is left in the block: how the bias and the members move when z[i] grows by 1.  A
    small distance is what large numbers leave over, and gets a step of iterative refinement: with
    q the question, β the answer and r = q + Aβ what it leaves open, it is K(i, i) + qβ + rβ, whose
    error is of second order in that of β.
    """
    row, m = gram[i], block.members[0] + 1
    members, question, answer = block.members, block.vectors[QUESTION], block.vectors[ANSWER]
    question[0] = 1.0
    for k in range(1, m):
        question[k] = row[members[k]]
    solve_block(block, answer)
    distance = float(row[i])
    for k in range(m):
        distance += question[k] * answer[k]
    if distance >= SMALL * row[i]:
        return distance
    for k in range(1, m):
        question[0] += answer[k]
        other = gram[members[k]]
        total = answer[0]
        for j in range(1, m):
            total += other[members[j]] * answer[j]
        question[k] += total
    mended = block.vectors[MENDED]
    solve_block(block, mended)
    for k in range(m):
        answer[k] += mended[k]
        distance += question[k] * answer[k]
    return distance


@cython.cfunc
@cython.nogil
def enter(block: FreeBlock, i: cython.Py_ssize_t, distance: cython.double) -> cython.void:
    """Let i in, at the distance and with the answer that `distance_to` has left."""
    share: cython.double
    m = block.members[0] + 1
    inverse, answer = block.inverse, block.vectors[ANSWER]
    for k in range(m):
        share = answer[k] / distance
        for j in range(m):
            inverse[k, j] += share * answer[j]
        inverse[k, m] = share
        inverse[m, k] = share
    inverse[m, m] = 1.0 / distance
    block.members[0], block.members[m] = m, i


@cython.cfunc
@cython.nogil
def enter_first(block: FreeBlock, gram: cython.double[:, ::1], i: cython.Py_ssize_t) -> cython.void:
    """Let i into the empty block."""
    block.inverse[0, 0] = -gram[i, i]
    block.inverse[0, 1] = block.inverse[1, 0] = 1.0
    block.inverse[1, 1] = 0.0
    block.members[0], block.members[1] = 1, i


@cython.cfunc
@cython.nogil
def leave(block: FreeBlock, place: cython.Py_ssize_t) -> cython.bint:
    """Let the member at `place` go; False if the inverse has lost its meaning."""
    share: cython.double
    inverse, members = block.inverse, block.members
    last = members[0]
    members[0] = last - 1
    if place != last:
        for k in range(last + 1):
            inverse[place, k], inverse[last, k] = inverse[last, k], inverse[place, k]
        for k in range(last + 1):
            inverse[k, place], inverse[k, last] = inverse[k, last], inverse[k, place]
        members[place] = members[last]
    if last == 1:
        return True
    pivot = inverse[last, last]
    if not pivot > 0.0:
        return False
    gone = inverse[last]
    for k in range(last):
        share = inverse[k, last] / pivot
        for j in range(last):
            inverse[k, j] -= share * gone[j]
    return True


@cython.cfunc
@cython.nogil
def add_row(weight: cython.double, row: cython.double[::1], out: cython.double[::1]) -> cython.void:
    """Add weight · row to `out`."""
    for k in range(len(out)):
        out[k] += weight * row[k]


@cython.cfunc
@cython.nogil
def add_rows(
    gram: cython.double[:, ::1],
    members: cython.longlong[::1],
    weights: cython.double[::1],
    out: cython.double[::1],
) -> cython.void:
    """Add Σₖ weightₖ · K of member k to `out`, four rows at a time."""
    a: cython.double
    row_a: cython.Py_ssize_t
    size = members[0]
    k = 1
    while k + 3 <= size:
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        row_a, row_b = members[k], members[k + 1]
        row_c, row_d = members[k + 2], members[k + 3]
        for i in range(len(out)):
            out[i] += (a * gram[row_a, i] + b * gram[row_b, i]) + (
                c * gram[row_c, i] + d * gram[row_d, i]
            )
        k += 4
    while k <= size:
        a, row_a = weights[k], members[k]
        for i in range(len(out)):
            out[i] += a * gram[row_a, i]
        k += 1


@cython.cfunc
@cython.nogil
def bound_rate(rows: cython.double[:, ::1], i: cython.Py_ssize_t) -> cython.double:
    """Return the rate of the bound that example i is at."""
    return float(rows[UPPER_RATE, i] if rows[SIDE, i] < 0.0 else rows[LOWER_RATE, i])


@cython.cfunc
@cython.nogil
def bound_now(
    rows: cython.double[:, ::1], clock: cython.double, i: cython.Py_ssize_t
) -> cython.double:
    """Return the bound that example i is at, as of the clock."""
    if rows[SIDE, i] < 0.0:
        return float(rows[UPPER, i] + clock * rows[UPPER_RATE, i])
    return float(rows[LOWER, i] + clock * rows[LOWER_RATE, i])


@cython.cfunc
@cython.nogil
def room_above(
    rows: cython.double[:, ::1], clock: cython.double, i: cython.Py_ssize_t
) -> cython.double:
    """Return how far example i is below its upper bound."""
    return float(rows[UPPER, i] + clock * rows[UPPER_RATE, i] - rows[Z, i])


@cython.cfunc
@cython.nogil
def room_below(
    rows: cython.double[:, ::1], clock: cython.double, i: cython.Py_ssize_t
) -> cython.double:
    """Return how far example i is above its lower bound."""
    return float(rows[Z, i] - rows[LOWER, i] - clock * rows[LOWER_RATE, i])


@cython.cfunc
@cython.nogil
def carry(path: Path, i: cython.Py_ssize_t, rate: cython.double) -> cython.void:
    """Let z[i] move at `rate` without being free; a negative rate takes one back."""
    if rate != 0.0:
        add_row(rate, path.gram[i], path.rows[DRIFT])
        path.at[IMBALANCE] += rate


@cython.cfunc
@cython.nogil
def depart(path: Path) -> cython.void:
    """Set the clock to 0 and sum up what moves by itself."""
    rows, at = path.rows, path.at
    at[CLOCK] = at[IMBALANCE] = at[EVENTS] = at[STALLED] = 0.0
    n = rows.shape[1]
    for i in range(n):
        rows[DRIFT, i] = -rows[TARGET_RATE, i]
    for i in range(n):
        rate = bound_rate(rows, i)
        # A call with all of the path costs more than this test, and mostly nothing moves.
        if rate != 0.0 and (rows[SIDE, i] != 0.0 or rows[LOWER, i] >= rows[UPPER, i]):
            carry(path, i, rate)


@cython.cfunc
@cython.nogil
def find_partner(path: Path) -> cython.bint:
    """Free the bounded example that needs the least shift of the bias and can take the imbalance.

    False if there is none.  Only called with nobody free: the bias is then one of many.
    """
    rows = path.rows
    sought = 1.0 if path.at[IMBALANCE] < 0.0 else -1.0  # who rises is at the lower bound now
    n = rows.shape[1]
    best, partner = FAR, n
    for i in range(n):
        if rows[SIDE, i] == sought and sought * rows[RESIDUAL, i] < best:
            best, partner = sought * rows[RESIDUAL, i], i
    if partner == n:
        return False
    jump = rows[RESIDUAL, partner]
    for i in range(n):
        rows[RESIDUAL, i] -= jump
    path.at[BIAS] -= jump
    set_free(path, partner)
    enter_first(path.block, path.gram, partner)
    return True


@cython.cfunc
@cython.nogil
def set_free(path: Path, i: cython.Py_ssize_t) -> cython.void:
    """Take example i off its bound."""
    rows = path.rows
    carry(path, i, -bound_rate(rows, i))
    rows[Z, i] = bound_now(rows, path.at[CLOCK], i)
    rows[SIDE, i] = rows[RESIDUAL, i] = 0.0


@cython.cfunc
@cython.nogil
def set_bounded(path: Path, place: cython.Py_ssize_t, side: cython.double) -> cython.bint:
    """Put the member at `place` onto a bound; False if the inverse has lost its meaning."""
    i, rows = path.block.members[place], path.rows
    rows[SIDE, i] = side
    rows[RESIDUAL, i] = 0.0
    carry(path, i, bound_rate(rows, i))
    return leave(path.block, place)


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.Py_ssize_t))
def find_block(
    rows: cython.double[:, ::1], clock: cython.double, block: FreeBlock, direction: cython.double
):
    """Find the member that stops a slide, and after how much; 0 if none does.

    `direction` is the way and the range of the example that slides.  Of those that stop it at
    nearly the same moment the one with the largest share is taken, since the inverse is divided by
    that share (the ratio test of Harris).
    """
    room, share = block.vectors[QUESTION], block.vectors[ANSWER]
    latest = longest = fabs(direction)
    for k in range(1, block.members[0] + 1):
        i = block.members[k]
        rises: cython.bint = direction * share[k] > 0.0
        free_way = room_above(rows, clock, i) if rises else room_below(rows, clock, i)
        room[k] = larger(free_way, 0.0)
        if fabs(share[k]) > NEARLY_NONE:
            latest = min(latest, (room[k] + HARRIS * longest) / fabs(share[k]))
    step, place, largest = longest, 0, NEARLY_NONE
    for k in range(1, block.members[0] + 1):
        if fabs(share[k]) > largest and room[k] <= latest * fabs(share[k]):
            largest = fabs(share[k])
            step, place = room[k] / largest, k
    return step, place


@cython.cfunc
@cython.nogil
def slide(path: Path, i: cython.Py_ssize_t) -> cython.bint:
    """Free example i, whose image lies in the affine hull of the members' images.

    Moving z along the dependence changes no residual, so it goes on until somebody meets a bound:
    either i at its other one, or a member, whose place i then takes.  False if the inverse has lost
    its meaning.
    """
    rows, clock = path.rows, path.at[CLOCK]
    side = rows[SIDE, i]
    set_free(path, i)
    span = room_above(rows, clock, i) + room_below(rows, clock, i)
    step, place = find_block(rows, clock, path.block, side * span)
    answer = path.block.vectors[ANSWER]
    for k in range(1, path.block.members[0] + 1):
        rows[Z, path.block.members[k]] += step * side * answer[k]
    if place == 0:
        rows[SIDE, i] = -side
        carry(path, i, bound_rate(rows, i))
        return True
    rows[Z, i] += step * side
    if not set_bounded(path, place, -1.0 if side * answer[place] > 0.0 else 1.0):
        return False
    if path.block.members[0] == 0:
        enter_first(path.block, path.gram, i)
        return True
    distance = distance_to(path.gram, path.block, i)
    if distance > 0.0:
        enter(path.block, i, distance)
    return distance > 0.0


@cython.cfunc
@cython.nogil
def arrive(path: Path) -> cython.void:
    """Set z of those that are not free to where their bounds are now."""
    rows, clock = path.rows, path.at[CLOCK]
    for i in range(rows.shape[1]):
        if rows[SIDE, i] != 0.0 or rows[LOWER, i] >= rows[UPPER, i]:
            rows[Z, i] = bound_now(rows, clock, i)


@cython.cfunc
@cython.nogil
def aim(path: Path) -> cython.void:
    """Set the rates of the bias, the free examples and all residuals."""
    drift, slope = path.rows[DRIFT], path.rows[SLOPE]
    question, answer = path.block.vectors[QUESTION], path.block.vectors[ANSWER]
    answer[0] = 0.0
    if path.block.members[0] > 0:
        question[0] = path.at[IMBALANCE]
        for k in range(1, path.block.members[0] + 1):
            question[k] = drift[path.block.members[k]]
        solve_block(path.block, answer)
    for i in range(len(slope)):
        slope[i] = drift[i] + answer[0]
    add_rows(path.gram, path.block.members, answer, slope)


@cython.cfunc
@cython.nogil
def aim_again(path: Path) -> cython.void:
    """Do one step of iterative refinement of what `aim` has set."""
    slope = path.rows[SLOPE]
    question, answer, mended = (
        path.block.vectors[QUESTION],
        path.block.vectors[ANSWER],
        path.block.vectors[MENDED],
    )
    question[0] = path.at[IMBALANCE]
    for k in range(1, path.block.members[0] + 1):
        question[0] += answer[k]
        question[k] = slope[path.block.members[k]]
    solve_block(path.block, mended)
    for i in range(len(slope)):
        slope[i] += mended[0]
    add_rows(path.gram, path.block.members, mended, slope)
    for k in range(path.block.members[0] + 1):
        answer[k] += mended[k]


@cython.cfunc
@cython.nogil
def largest_error(slope: cython.double[::1], block: FreeBlock) -> cython.double:
    """Return the largest rate of the residual of a free example, which ought to be 0."""
    error = 0.0
    for k in range(1, block.members[0] + 1):
        error = larger(error, fabs(slope[block.members[k]]))
    return error


@cython.cfunc
@cython.nogil
def rounding(block: FreeBlock, limits: Limits) -> cython.double:
    """Return the rate of a residual that is nothing but rounding, as fast as all move now."""
    total = limits.fastest
    for k in range(1, block.members[0] + 1):
        total += fabs(block.vectors[ANSWER, k])
    return limits.noise * total


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.Py_ssize_t, cython.Py_ssize_t))
def next_bound(rows: cython.double[:, ::1], clock: cython.double, block: FreeBlock):
    """Find the first free example to meet a bound: the time until then, the event and its place."""
    step, event, place = 1.0 - clock, END, 0
    for k in range(1, block.members[0] + 1):
        i, rate = block.members[k], block.vectors[ANSWER, k]
        closing = rate - rows[UPPER_RATE, i]
        if closing > 0.0:
            room = room_above(rows, clock, i)
            if room < step * closing:
                step, event, place = larger(room / closing, 0.0), AT_UPPER, k
        closing = rows[LOWER_RATE, i] - rate
        if closing > 0.0:
            room = room_below(rows, clock, i)
            if room < step * closing:
                step, event, place = larger(room / closing, 0.0), AT_LOWER, k
    return step, event, place


@cython.cfunc
@cython.nogil
def largest_urgency(rows: cython.double[:, ::1], noise: cython.double) -> cython.double:
    """Compute how soon each bounded example comes free, as 1 / time; return the largest."""
    side, slope, residual, urgency = rows[SIDE], rows[SLOPE], rows[RESIDUAL], rows[URGENCY]
    best = 0.0
    for i in range(len(side)):
        rate = -side[i] * slope[i] - noise
        urgency[i] = rate / larger(side[i] * residual[i], MIN_ROOM)
        best = larger(best, urgency[i])
    return best


@cython.cfunc
@cython.nogil
def advance(path: Path, step: cython.double) -> cython.void:
    """Move the clock on by `step`, with everything that moves with it."""
    rows, answer = path.rows, path.block.vectors[ANSWER]
    residual, slope = rows[RESIDUAL], rows[SLOPE]
    path.at[STALLED] = 0.0 if step > NO_TIME else path.at[STALLED] + 1.0
    path.at[CLOCK] += step
    path.at[BIAS] += step * answer[0]
    for i in range(len(residual)):
        residual[i] += step * slope[i]
    for k in range(1, path.block.members[0] + 1):
        i = path.block.members[k]
        rows[Z, i] += step * answer[k]
        residual[i] = 0.0


@cython.cfunc
@cython.nogil
def sure_sign(path: Path, watch: Watch, left: cython.double) -> cython.Py_ssize_t:
    """Tell whether the watched margin is sure to end negative (WRONG) or positive (RIGHT).

    `left` is what is left of its α.  Its slack only grows as its bound falls to 0, since the
    optimal value is concave in the bound.  Its margin falls by at most `reach` for every unit of
    α, whatever the bias is chosen to be where it is one of many, if the other free examples have
    more room than what is left (see `reach_of` in `leave_out`).
    """
    rows, clock = path.rows, path.at[CLOCK]
    margin = 1.0 + watch.sign * rows[RESIDUAL, watch.example]
    if margin < -watch.tolerance:
        return WRONG
    if not margin - left * watch.reach > watch.tolerance:
        return GOING
    room = 0.0
    for k in range(1, path.block.members[0] + 1):
        i = path.block.members[k]
        if i != watch.example:
            above: cython.bint = watch.sign > 0.0
            room += room_above(rows, clock, i) if above else room_below(rows, clock, i)
    return RIGHT if room > MORE * left else GOING


@cython.cfunc
@cython.nogil
def change_sides(
    path: Path, event: cython.Py_ssize_t, who: cython.Py_ssize_t, floor: cython.double
) -> cython.bint:
    """Change sides as the event says; False if the inverse has lost its meaning."""
    if event != FREED:
        return set_bounded(path, who, -1.0 if event == AT_UPPER else 1.0)
    if path.block.members[0] == 0:
        set_free(path, who)
        enter_first(path.block, path.gram, who)
        return True
    distance = distance_to(path.gram, path.block, who)
    if distance > floor:
        set_free(path, who)
        enter(path.block, who, distance)
        return True
    return slide(path, who)


@cython.cfunc
@cython.nogil
def set_direction(path: Path, limits: Limits) -> cython.Py_ssize_t:
    """See that there is room for one more and somebody free, and set all rates."""
    at = path.at
    if at[EVENTS] >= limits.max_events or at[STALLED] >= limits.max_stall:
        return TOO_MANY
    if path.block.members[0] + 2 >= len(path.block.members):
        return FULL
    if path.block.members[0] == 0 and fabs(at[IMBALANCE]) > limits.still and not find_partner(path):
        return NO_PARTNER
    at[EVENTS] += 1
    aim(path)
    noise = rounding(path.block, limits)
    if largest_error(path.rows[SLOPE], path.block) > noise:
        aim_again(path)
        if largest_error(path.rows[SLOPE], path.block) > MANY * noise:
            return STALE
    return GOING


@cython.cfunc
@cython.nogil
def follow(path: Path, watch: Watch, limits: Limits) -> cython.Py_ssize_t:
    """Go on until the clock is 1, the watched sign is sure, or something stands in the way.

    After FULL a larger path.block, and after STALE a fresh inverse, lets the path go on from there.
    """
    rows, at = path.rows, path.at
    verdict = set_direction(path, limits)
    while verdict == GOING:
        step, event, who = next_bound(rows, at[CLOCK], path.block)
        best = largest_urgency(rows, rounding(path.block, limits))
        if best * step > 1.0:
            who = first_reaching(rows[URGENCY], best)
            step, event = larger(-rows[RESIDUAL, who] / rows[SLOPE, who], 0.0), FREED
        advance(path, step)
        if watch.example >= 0 and at[CLOCK] < NEARLY_OVER:
            verdict = sure_sign(path, watch, fabs(bound_now(rows, at[CLOCK], watch.example)))
        if verdict == GOING and event == END:
            at[CLOCK] = 1.0
            verdict = ARRIVED
        if verdict == GOING and not change_sides(path, event, who, limits.floor):
            verdict = SINGULAR
        if verdict == GOING:
            verdict = set_direction(path, limits)
    return verdict


@cython.cfunc
@cython.nogil
def farthest(row: cython.double[::1], diagonal: cython.double[::1]) -> cython.double:
    """Return the largest of K(x, x) − 2K(x, t) over all x."""
    largest = -FAR
    for i in range(len(row)):
        largest = larger(largest, diagonal[i] - 2.0 * row[i])
    return largest


@cython.cfunc
@cython.nogil
def reach_of(row: cython.double[::1], ground: Ground, t: cython.Py_ssize_t) -> cython.double:
    """Bound how much the margin of t falls for every unit of its α that is taken away.

    Let a be the α that is taken away, Δw the change of the SVM, m and m₀ the margin before and
    after, D the distance of the image of t to the farthest other, p a free example and E the
    distance of its image to the farthest other.  The two optimality conditions give
    |Δw|² ≤ a (m − m₀).  Seen from what p asks for, nobody's gradient changes by more than E|Δw|,
    that of t by no more than D|Δw|; and if the free have more room than a, no bias of the SVM
    without t is farther than E|Δw| from what p asks for, since otherwise all of them would have to
    be at one bound, and Σz could not be 0.  So m − m₀ ≤ (D + E)|Δw| ≤ a (D + E)².

    With one bound for all, somebody is free all the way, and the margin falls continuously by the
    squared distance to the free images, until at the very end the bias may jump: then
    |Δw| ≤ aD and m − m₀ ≤ a (D² + ED).
    """
    own = larger(ground.diagonal[t] + farthest(row, ground.diagonal), 0.0)
    free = min(ground.widest, 4.0 * own)
    both = sqrt(own * free)
    if ground.one_bound:
        return float(own + both)
    return float(own + free + 2.0 * both)


@cython.cfunc
@cython.nogil
def put_out(base: Path, path: Path, t: cython.Py_ssize_t) -> cython.bint:
    """Bring a path back to the solution on all examples, and let both bounds of t go to 0.

    False if the inverse has lost its meaning.
    """
    for row in range(Z, SIDE + 1):
        for i in range(base.rows.shape[1]):
            path.rows[row, i] = base.rows[row, i]
    path.at[BIAS] = base.at[BIAS]
    copy_block(base.block, path.block)
    rows = path.rows
    rows[SIDE, t] = 0.0
    rows[LOWER, t] = rows[UPPER, t] = rows[Z, t]
    rows[LOWER_RATE, t] = rows[UPPER_RATE, t] = -rows[Z, t]
    for k in range(1, path.block.members[0] + 1):
        if path.block.members[k] == t:
            return leave(path.block, k)
    return True


@cython.cfunc
@cython.nogil
def put_back(base: Path, path: Path, t: cython.Py_ssize_t) -> cython.void:
    """Undo what `put_out` did to the bounds."""
    path.rows[LOWER, t], path.rows[UPPER, t] = base.rows[LOWER, t], base.rows[UPPER, t]
    path.rows[LOWER_RATE, t] = path.rows[UPPER_RATE, t] = 0.0


@cython.cfunc
@cython.nogil
def bias_of(row: cython.double[::1], z: cython.double[::1], y: cython.double) -> cython.double:
    """Compute y − Kz of one example anew."""
    total = y
    for k in range(len(row)):
        total -= row[k] * z[k]
    return total


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.double))
def shift_of_bias(rows: cython.double[:, ::1], t: cython.Py_ssize_t):
    """Return the middle and the width of what may be added to the bias with nobody free."""
    down: cython.double = -FAR
    up: cython.double = FAR
    for i in range(rows.shape[1]):
        edge = INSIDE * (rows[UPPER, i] - rows[LOWER, i])
        if edge > 0.0 and i != t:
            if rows[Z, i] < rows[UPPER, i] - edge:
                down = larger(down, -rows[RESIDUAL, i])
            if rows[Z, i] > rows[LOWER, i] + edge:
                up = min(up, -rows[RESIDUAL, i])
    return 0.5 * (down + up), up - down


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.bint))
def settle(path: Path, y: cython.double[::1], watch: Watch):
    """Compute the margin of t anew where the path has ended; say whether it can be believed.

    With a free example the bias is what these ask for on average; with none it is the midpoint of
    what it may be.
    """
    gram, rows, bias = path.gram, path.rows, path.at[BIAS]
    z, t, largest = rows[Z], watch.example, BELIEVED * watch.tolerance
    total, count, error = 0.0, 0, 0.0
    for k in range(1, path.block.members[0] + 1):
        i = path.block.members[k]
        edge = INSIDE * (rows[UPPER, i] - rows[LOWER, i])
        if rows[LOWER, i] + edge < z[i] < rows[UPPER, i] - edge and count < CHECKED:
            own = bias_of(gram[i], z, y[i])
            error = larger(error, fabs(own - bias))
            total += own
            count += 1
    if count > 0:
        bias = total / count
    else:
        middle, width = shift_of_bias(rows, t)
        bias += middle
        if not -largest <= width < FAR / 2:
            return 0.0, False
    return 1.0 + y[t] * (bias - bias_of(gram[t], z, y[t])), error <= largest


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.double))
def conclude(path: Path, y: cython.double[::1], watch: Watch, verdict: cython.Py_ssize_t):
    """Return the margin at the end of a path, and its verdict if that margin agrees with it."""
    if verdict != ARRIVED and verdict != WRONG and verdict != RIGHT:
        return verdict, 0.0
    arrive(path)
    margin: cython.double
    believed: cython.bint
    margin, believed = settle(path, y, watch)
    if verdict == WRONG:
        believed = believed and margin < -watch.tolerance
    if verdict == RIGHT:
        margin -= fabs(path.rows[Z, watch.example]) * watch.reach
        believed = believed and margin > watch.tolerance
    return (verdict if believed else SINGULAR), margin


@cython.cfunc
@cython.nogil
def at_rate(unit: Limits, rate: cython.double) -> Limits:
    """Return the limits for a bound that moves at `rate` from those for rate 1."""
    still, most, stall = unit.still * rate, unit.max_events, unit.max_stall
    return Limits(unit.floor, unit.noise, still, rate, most, stall)


@cython.cfunc
@cython.nogil
def leave_out_many(
    base: Path,
    path: Path,
    y: cython.double[::1],
    which: cython.longlong[::1],
    limits: Limits,
    ground: Ground,
    verdicts: cython.longlong[::1],
    margins: cython.double[::1],
) -> cython.void:
    """Leave out one example after the other; `limits` are those for bounds that move at rate 1."""
    for k in range(len(which)):
        t = which[k]
        left = fabs(base.rows[Z, t])
        margins[k] = 1.0 + y[t] * base.rows[RESIDUAL, t]
        if left == 0.0 and base.block.members[0] > 0:
            verdicts[k] = ARRIVED
            continue
        watch = Watch(t, y[t], reach_of(path.gram[t], ground, t), ground.tolerance)
        verdict = sure_sign(base, watch, left)
        if verdict == GOING:
            verdict = SINGULAR
            if put_out(base, path, t):
                depart(path)
                verdict = follow(path, watch, at_rate(limits, left))
            verdict, margins[k] = conclude(path, y, watch, verdict)
            put_back(base, path, t)
        verdicts[k] = verdict


# --- from rough solutions of many problems to exact ones


@cython.cfunc
@cython.nogil
def begin_at(
    path: Path,
    lower: cython.double[:, ::1],
    upper: cython.double[:, ::1],
    z: cython.double[:, ::1],
    gradient: cython.double[:, ::1],
    bias: cython.double,
    r: cython.Py_ssize_t,
    floor: cython.double,
) -> cython.double:
    """Make the path from where z of problem r is optimal, as `start_at` in `svm.gram.path` does.

    Return the fastest rate of a target; −1 if there is no room for all that are free.
    """
    rows = path.rows
    n = rows.shape[1]
    violation: cython.double = 0.0
    fastest: cython.double = 0.0
    part: cython.double = 0.0
    distance: cython.double
    residual: cython.double
    is_free: cython.bint
    path.at[BIAS] = bias
    path.block.members[0] = 0
    for i in range(n):
        rows[Z, i] = z[r, i]
        rows[LOWER, i] = lower[r, i]
        rows[UPPER, i] = upper[r, i]
        rows[LOWER_RATE, i] = rows[UPPER_RATE, i] = rows[TARGET_RATE, i] = 0.0
        rows[RESIDUAL, i] = bias - gradient[r, i]
        rows[SIDE, i] = 0.0
        # Who has no choice may keep any residual.
        if lower[r, i] >= upper[r, i]:
            continue
        if z[r, i] <= lower[r, i]:
            rows[SIDE, i] = 1.0
        elif z[r, i] >= upper[r, i]:
            rows[SIDE, i] = -1.0
        elif path.block.members[0] == 0:
            enter_first(path.block, path.gram, i)
        elif path.block.members[0] + 2 >= len(path.block.members):
            return -1.0
        else:
            distance = distance_to(path.gram, path.block, i)
            if distance > floor:
                enter(path.block, i, distance)
            elif z[r, i] - lower[r, i] < upper[r, i] - z[r, i]:
                rows[SIDE, i] = 1.0
                rows[LOWER, i] = z[r, i]
                rows[LOWER_RATE, i] = lower[r, i] - z[r, i]
            else:
                rows[SIDE, i] = -1.0
                rows[UPPER, i] = z[r, i]
                rows[UPPER_RATE, i] = upper[r, i] - z[r, i]
        is_free = lower[r, i] < z[r, i] < upper[r, i]
        if is_free or rows[SIDE, i] * rows[RESIDUAL, i] <= 0.0:
            violation = larger(violation, fabs(rows[RESIDUAL, i]))
    for i in range(n):
        part += GOLDEN
        part -= 1.0 if part >= 1.0 else 0.0
        if lower[r, i] >= upper[r, i]:
            continue
        is_free = lower[r, i] < z[r, i] < upper[r, i]
        if is_free or rows[SIDE, i] * rows[RESIDUAL, i] <= 0.0:
            # Each starts at a distance of its own, and they come free one by one.
            residual = rows[SIDE, i] * violation * (0.5 + 0.5 * part)
            rows[TARGET_RATE, i] = residual - rows[RESIDUAL, i]
            rows[RESIDUAL, i] = residual
            fastest = larger(fastest, fabs(rows[TARGET_RATE, i]))
    return fastest


@cython.cfunc
@cython.nogil
def fastest_bound(rows: cython.double[:, ::1]) -> cython.double:
    """Return the fastest rate of a bound."""
    fastest: cython.double = 0.0
    for i in range(rows.shape[1]):
        fastest = larger(fastest, larger(fabs(rows[LOWER_RATE, i]), fabs(rows[UPPER_RATE, i])))
    return fastest


# --- entry points: tuples of arrays become typed views


@cython.cfunc
def path_of(path) -> Path:
    """Return typed views of a path."""
    return Path(path[0], path[1], path[2], FreeBlock(*path[3]))


def improve(dual, floor: cython.double, tolerance: cython.double, max_steps: cython.Py_ssize_t):
    """Take steps of two examples until the gap is at most `tolerance`; z and gradient in place.

    Returns the number of steps, the largest gradient of those that may rise, and the smallest of
    those that may fall.
    """
    views: Dual = Dual(*dual)
    n = len(dual[4])
    moves: Moves = Moves(np.empty(n), np.empty(n), np.empty(n))
    with cython.nogil:
        steps, top, bottom = descend(views, moves, floor, tolerance, max_steps)
    return steps, top, bottom


def bias_and_gap(dual):
    """Return the bias and the gap of a solution; see `bias_between`."""
    views: Dual = Dual(*dual)
    with cython.nogil:
        bias, gap = bias_between(views)
    return bias, gap


def subtract_product(
    gram: cython.const[cython.double][:, ::1],
    z: cython.const[cython.double][::1],
    gradient: cython.double[::1],
):
    """Subtract Kz from what is in `gradient`."""
    weight: cython.double
    with cython.nogil:
        for i in range(z.shape[0]):
            if z[i] != 0.0:
                weight = z[i]
                for k in range(gradient.shape[0]):
                    gradient[k] -= weight * gram[i, k]


def take_block(
    table: cython.const[cython.double][:, ::1],
    rows: cython.const[cython.longlong][::1],
    columns: cython.const[cython.longlong][::1],
    block: cython.double[:, ::1],
):
    """Copy what is in some rows and columns."""
    row: cython.Py_ssize_t
    with cython.nogil:
        for i in range(rows.shape[0]):
            row = rows[i]
            for j in range(columns.shape[0]):
                block[i, j] = table[row, columns[j]]


def mirror(matrix: cython.double[:, ::1]):
    """Copy what is above the diagonal to below it, by tiles that stay in the cache."""
    n: cython.Py_ssize_t = matrix.shape[0]
    with cython.nogil:
        for top in range(0, n, 64):
            for left in range(0, top + 1, 64):
                for i in range(top, min(top + BLOCK, n)):
                    for j in range(left, min(left + BLOCK, i)):
                        matrix[i, j] = matrix[j, i]


def exponentials(
    values: cython.double[:, ::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    powers: cython.const[cython.double][::1],
):
    """Replace x by exp(min(x, 0)) in the rows from `start` to `stop`, columns from `first` on.

    `powers` are 2⁻ᵏ, k from 0 to 1076.  They are multiplied with in a loop of their own: the first
    one becomes vector instructions, as a loop that also reads a table would not.
    """
    counts: cython.int[::1] = np.empty(values.shape[1], np.intc)
    x: cython.double
    r: cython.double
    total: cython.double
    with cython.nogil:
        for i in range(start, stop):
            for j in range(first, values.shape[1]):
                x = larger(values[i, j], LEAST)
                x = x if x < 0.0 else 0.0
                counts[j] = cython.cast(cython.int, 0.5 - LOG2E * x)
                r = x + LN2 * counts[j]
                total = 1.0 + r / 13.0
                total = 1.0 + r / 12.0 * total
                total = 1.0 + r / 11.0 * total
                total = 1.0 + r / 10.0 * total
                total = 1.0 + r / 9.0 * total
                total = 1.0 + r / 8.0 * total
                total = 1.0 + r / 7.0 * total
                total = 1.0 + r / 6.0 * total
                total = 1.0 + r / 5.0 * total
                total = 1.0 + r / 4.0 * total
                total = 1.0 + r / 3.0 * total
                total = 1.0 + r / 2.0 * total
                values[i, j] = 1.0 + r * total
            for j in range(first, values.shape[1]):
                values[i, j] *= powers[counts[j]]


def start_path(path):
    """Set the clock of a path to 0; see `depart`."""
    views: Path = path_of(path)
    with cython.nogil:
        depart(views)


def follow_path(path, watch, limits):
    """Follow a path; return the verdict."""
    views: Path = path_of(path)
    example: Watch = Watch(watch[0], watch[1], watch[2], watch[3])
    own: Limits = Limits(limits[0], limits[1], limits[2], limits[3], limits[4], limits[5])
    with cython.nogil:
        verdict = follow(views, example, own)
    return verdict


def end_path(path):
    """Set z of bounded examples to their bounds; see `arrive`."""
    views: Path = path_of(path)
    with cython.nogil:
        arrive(views)


def leave_out(
    base,
    path,
    y: cython.double[::1],
    which: cython.longlong[::1],
    limits,
    ground,
    verdicts: cython.longlong[::1],
    margins: cython.double[::1],
):
    """Leave out one example after the other; see `leave_out_many`."""
    start: Path = path_of(base)
    views: Path = path_of(path)
    own: Limits = Limits(limits[0], limits[1], limits[2], limits[3], limits[4], limits[5])
    scale: Ground = Ground(*ground)
    with cython.nogil:
        leave_out_many(start, views, y, which, own, scale, verdicts, margins)


def judge_at_start(
    base,
    y: cython.double[::1],
    which: cython.longlong[::1],
    ground,
    verdicts: cython.longlong[::1],
    margins: cython.double[::1],
    reaches: cython.double[::1],
):
    """Set the verdicts that are sure before any path is followed, all margins and all reaches."""
    start: Path = path_of(base)
    scale: Ground = Ground(*ground)
    with cython.nogil:
        for k in range(len(which)):
            t = which[k]
            left = fabs(start.rows[Z, t])
            margins[k] = 1.0 + y[t] * start.rows[RESIDUAL, t]
            reaches[k] = reach_of(start.gram[t], scale, t)
            watch = Watch(t, y[t], reaches[k], scale.tolerance)
            verdicts[k] = ARRIVED if left == 0.0 else sure_sign(start, watch, left)


def finish_all(
    path,
    lower: cython.double[:, ::1],
    upper: cython.double[:, ::1],
    z: cython.double[:, ::1],
    gradient: cython.double[:, ::1],
    biases: cython.double[::1],
    unit,
    scale: cython.double,
    verdicts: cython.longlong[::1],
):
    """Follow the path from the rough z of every problem to its exact solution, in place.

    Each row of z is balanced, and `gradient` is its y − Kz; `unit` are the limits at rate 1.
    """
    views: Path = path_of(path)
    limits: Limits = Limits(unit[0], unit[1], unit[2], unit[3], unit[4], unit[5])
    nobody: Watch = Watch(-1, 0.0, 0.0, 0.0)
    rows: cython.double[:, ::1] = views.rows
    fastest: cython.double
    with cython.nogil:
        for r in range(z.shape[0]):
            fastest = begin_at(views, lower, upper, z, gradient, biases[r], r, limits.floor)
            verdicts[r] = FULL
            if fastest < 0.0:
                continue
            depart(views)
            fastest = fastest_bound(rows) + fastest / scale
            verdicts[r] = follow(views, nobody, at_rate(limits, fastest))
            for i in range(z.shape[1]):
                z[r, i] = min(larger(rows[Z, i], lower[r, i]), upper[r, i])
                if rows[SIDE, i] > 0.0:
                    z[r, i] = lower[r, i]
                elif rows[SIDE, i] < 0.0:
                    z[r, i] = upper[r, i]
