"""Leaving one example out of an SVM on a Gram matrix, on the tableau of its solution.

Problem   that of `gram`: both bounds of example t go from where z_t stands to 0, and the margin at
          the end is that of the SVM fitted without t
Given     the solution, and rows of its tableau: what one unit of an example does to all, of z if it
          is bounded there, else of the residual (see `truerisk.svm.gram.leave_out`)
Path      |z_t| falls to 0; between events all rates are constant.  Who has changed sides since the
          solution is driven by one unknown each: k of them cost one system of k equations, and an
          event costs n·k instead of n times the free examples
Returns   the margin, exact at the end of the path, of the right sign before
Source    the principal pivot transform of K: M. J. Tsatsomeros, Linear Algebra and its Applications
          307 (2000), 151-165
Flags     rearranged: every number is finite; FAR stands for ∞

`larger` and `bias_of` are those of `gram`: nothing is inlined across modules.
"""

import cython
from cython.cimports.libc.math import fabs

FAR = cython.declare(cython.double, 1e100)
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # examples compared together
MIN_ROOM = cython.declare(cython.double, 1e-15)  # several examples at 0 then differ by their rates
MORE = cython.declare(cython.double, 1.0 + 1e-6)  # more than enough, rounding included
NO_TIME = cython.declare(cython.double, 1e-14)  # a step that is none
# At the end the bias may be one of many, and rounding may have taken it to the other end of them.
NEARLY_OVER = cython.declare(cython.double, 1.0 - 1e-9)
CHECKED = cython.declare(cython.Py_ssize_t, 8)  # free examples that confirm a margin
INSIDE = cython.declare(cython.double, 1e-9)  # beside its range, how far off a bound is free
BELIEVED = cython.declare(cython.double, 1e3)  # times a tie, or noise: what rounding may do
# Rows of `rows` and `vectors`; see `truerisk.svm.gram.path`.
Z = cython.declare(cython.Py_ssize_t, 0)
RESIDUAL = cython.declare(cython.Py_ssize_t, 1)
SIDE = cython.declare(cython.Py_ssize_t, 2)
LOWER = cython.declare(cython.Py_ssize_t, 3)
UPPER = cython.declare(cython.Py_ssize_t, 4)
SLOPE = cython.declare(cython.Py_ssize_t, 9)
# Verdicts; see `truerisk.svm.gram.path`.
GOING = cython.declare(cython.Py_ssize_t, 0)
ARRIVED = cython.declare(cython.Py_ssize_t, 1)
WRONG = cython.declare(cython.Py_ssize_t, 2)
RIGHT = cython.declare(cython.Py_ssize_t, 3)
TOO_MANY = cython.declare(cython.Py_ssize_t, 6)
SINGULAR = cython.declare(cython.Py_ssize_t, 8)
NEEDED = cython.declare(cython.Py_ssize_t, 9)
# Events.
END = cython.declare(cython.Py_ssize_t, 0)
AT_UPPER = cython.declare(cython.Py_ssize_t, 1)
AT_LOWER = cython.declare(cython.Py_ssize_t, 2)
FREED = cython.declare(cython.Py_ssize_t, 3)

Limits = cython.struct(
    floor=cython.double,
    noise=cython.double,
    max_events=cython.longlong,
    max_stall=cython.longlong,
)
Watch = cython.struct(
    example=cython.Py_ssize_t, sign=cython.double, reach=cython.double, tolerance=cython.double
)


@cython.final
@cython.cclass
class Start:
    """The solution on all examples: K, the rows of its path, and who is free."""

    gram: cython.double[:, ::1]
    rows: cython.double[:, ::1]
    members: cython.longlong[::1]

    def __init__(self, gram, rows, members):
        self.gram = gram
        self.rows = rows
        self.members = members


@cython.final
@cython.cclass
class Removal:
    """The tableau of a solution, and room to follow one path on it."""

    tableau: cython.double[:, ::1]
    place: cython.longlong[::1]
    start: cython.longlong[::1]
    vectors: cython.double[:, ::1]
    free: cython.longlong[::1]
    where: cython.longlong[::1]
    changed: cython.longlong[::1]
    system: cython.double[:, ::1]

    def __init__(self, tableau, place, start, vectors, free, where, changed, system):
        self.tableau = tableau
        self.place = place
        self.start = start
        self.vectors = vectors
        self.free = free
        self.where = where
        self.changed = changed
        self.system = system


@cython.cfunc
@cython.inline
@cython.nogil
def larger(first: cython.double, second: cython.double) -> cython.double:
    """Return the larger of two numbers: written so, a loop of it becomes vector instructions."""
    return first if first > second else second


@cython.cfunc
@cython.nogil
def first_freed(
    residual: cython.double[::1],
    side: cython.double[::1],
    rates: cython.double[::1],
    noise: cython.double,
    step: cython.double,
) -> cython.Py_ssize_t:
    """Find the bounded example that comes free first, within a step; −1 if none does.

    Where nobody of a block does, no quotient is taken.
    """
    first: cython.Py_ssize_t = -1
    best: cython.double = 0.0
    reach: cython.double = step
    n: cython.Py_ssize_t = len(rates)
    quotients = cython.declare(cython.double[64])
    most: cython.double
    own: cython.double
    for start in range(0, n, 64):
        stop = min(start + BLOCK, n)
        most = -FAR
        for i in range(start, stop):
            most = larger(
                most,
                reach * (-side[i] * rates[i] - noise) - larger(side[i] * residual[i], MIN_ROOM),
            )
        if most > 0.0:
            most = 0.0
            for i in range(start, stop):
                own = (-side[i] * rates[i] - noise) / larger(side[i] * residual[i], MIN_ROOM)
                quotients[i - start] = own
                most = larger(most, own)
            if most > best and most * step > 1.0:
                first, best, reach = start, most, 1.0 / most
                while quotients[first - start] < most:
                    first += 1
    return first


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
def set_out(base: Start, own: Removal, t: cython.Py_ssize_t) -> cython.void:
    """Bring a path on the tableau to its start: all examples as in the solution, t on its own."""
    n: cython.Py_ssize_t = base.rows.shape[1]
    for i in range(n):
        own.vectors[Z, i] = base.rows[Z, i]
        own.vectors[RESIDUAL, i] = base.rows[RESIDUAL, i]
        own.vectors[SIDE, i] = base.rows[SIDE, i]
        own.where[i] = own.start[i]
    own.vectors[SIDE, t] = 0.0
    for k in range(base.members[0] + 1):
        own.free[k] = base.members[k]
    own.changed[0] = 0
    if own.start[t] > 0:
        drop(own, t)
        own.changed[0], own.changed[1] = 1, t


@cython.cfunc
@cython.nogil
def drop(own: Removal, i: cython.Py_ssize_t) -> cython.void:
    """Take an example off the list of the free."""
    at: cython.Py_ssize_t = own.where[i]
    last: cython.Py_ssize_t = own.free[own.free[0]]
    own.free[at] = last
    own.where[last] = at
    own.where[i] = 0
    own.free[0] -= 1


@cython.cfunc
@cython.nogil
def effect(own: Removal, cause: cython.Py_ssize_t, on: cython.Py_ssize_t) -> cython.double:
    """Return what one unit of `cause` does to `on`, both numbered among the changed."""
    return own.tableau[own.place[own.changed[cause]], own.changed[on]]


@cython.cfunc
@cython.nogil
def factorise(own: Removal, first: cython.Py_ssize_t, floor: cython.double) -> cython.Py_ssize_t:
    """Factorise the system of the changed from number `first` on; return GOING or what is wrong.

    Those that were free come first: the pivots of these are positive, as those of an inverse, and
    then those of the others are their squared distances to the hull of who is free before them.
    """
    total: cython.double
    system: cython.double[:, ::1] = own.system
    count: cython.Py_ssize_t = own.changed[0]
    for i in range(first, count + 1):
        if own.place[own.changed[i]] < 0:
            return NEEDED
    for i in range(first, count + 1):
        for j in range(1, i + 1):
            total = effect(own, j, i)
            for k in range(1, j):
                total -= system[i, k] * system[k, j]
            system[i, j] = total / system[j, j] if j < i else total
            if j < i:
                total = effect(own, i, j)
                for k in range(1, j):
                    total -= system[j, k] * system[k, i]
                system[j, i] = total
        if not system[i, i] > (0.0 if own.start[own.changed[i]] > 0 else floor):
            return SINGULAR
    return GOING


@cython.cfunc
@cython.nogil
def set_rates(own: Removal, t: cython.Py_ssize_t, sign: cython.double) -> cython.void:
    """Write what happens to all while |z| of t falls by one: to z if free, else to the residual.

    Who has changed sides since the solution is driven by x: by its residual if it was free, else
    by its z.
    """
    system: cython.double[:, ::1] = own.system
    tableau: cython.double[:, ::1] = own.tableau
    rates: cython.double[::1] = own.vectors[SLOPE]
    count: cython.Py_ssize_t = own.changed[0]
    row: cython.Py_ssize_t = own.place[t]
    is_driven: cython.bint = own.start[t] == 0
    a: cython.double
    b: cython.double
    row_b: cython.Py_ssize_t
    for i in range(1, count + 1):
        a = sign * tableau[row, own.changed[i]] if is_driven else 0.0
        if not is_driven and i == 1:
            a = -sign
        for k in range(1, i):
            a -= system[i, k] * system[0, k]
        system[0, i] = a
    i = count
    while i >= 1:
        a = system[0, i]
        for k in range(i + 1, count + 1):
            a -= system[i, k] * system[0, k]
        system[0, i] = a / system[i, i]
        i -= 1
    a = -sign if is_driven else 0.0
    for j in range(len(rates)):
        rates[j] = a * tableau[row, j]
    i = 1
    while i + 1 <= count:
        a, b = system[0, i], system[0, i + 1]
        row, row_b = own.place[own.changed[i]], own.place[own.changed[i + 1]]
        for j in range(len(rates)):
            rates[j] += a * tableau[row, j] + b * tableau[row_b, j]
        i += 2
    if i <= count:
        a, row = system[0, i], own.place[own.changed[i]]
        for j in range(len(rates)):
            rates[j] += a * tableau[row, j]
    for i in range(1, count + 1):
        rates[own.changed[i]] = system[0, i]


@cython.cfunc
@cython.nogil
def toggle(own: Removal, i: cython.Py_ssize_t, floor: cython.double) -> cython.Py_ssize_t:
    """Enter an example among the changed, or strike it out; return GOING or what is wrong."""
    count: cython.Py_ssize_t = own.changed[0]
    at: cython.Py_ssize_t = 1
    while at <= count and own.changed[at] != i:
        at += 1
    if at > count:
        if count + 1 >= len(own.changed):
            return TOO_MANY
        if own.start[i] > 0:
            while at > 1 and own.start[own.changed[at - 1]] == 0:
                own.changed[at] = own.changed[at - 1]
                at -= 1
        own.changed[0], own.changed[at] = count + 1, i
    else:
        for k in range(at, count):
            own.changed[k] = own.changed[k + 1]
        own.changed[0] = count - 1
    return factorise(own, at, floor)


@cython.cfunc
@cython.nogil
def depends(own: Removal, i: cython.Py_ssize_t, floor: cython.double) -> cython.bint:
    """Tell whether the image of an example lies in the affine hull of the free images."""
    verdict: cython.Py_ssize_t = toggle(own, i, floor)
    toggle(own, i, floor)
    return verdict == SINGULAR


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.double))
def remove_one(base: Start, own: Removal, watch: Watch, limits: Limits):
    """Let z of the watched example go to 0; return the verdict and what is left of |z|."""
    rows: cython.double[:, ::1] = base.rows
    t: cython.Py_ssize_t = watch.example
    who: cython.Py_ssize_t
    verdict: cython.Py_ssize_t
    set_out(base, own, t)
    z: cython.double[::1] = own.vectors[Z]
    residual: cython.double[::1] = own.vectors[RESIDUAL]
    side: cython.double[::1] = own.vectors[SIDE]
    rates: cython.double[::1] = own.vectors[SLOPE]
    whole: cython.double = fabs(z[t])
    left: cython.double = whole
    sign: cython.double = 1.0 if z[t] > 0.0 else -1.0
    events: cython.Py_ssize_t = 0
    stalled: cython.Py_ssize_t = 0
    verdict = factorise(own, 1, limits.floor)
    while verdict == GOING:
        if events >= limits.max_events or stalled >= limits.max_stall:
            return TOO_MANY, left
        events += 1
        set_rates(own, t, sign)
        step: cython.double = left
        event: cython.Py_ssize_t = END
        who = t
        noise: cython.double = 1.0
        for k in range(1, own.free[0] + 1):
            i = own.free[k]
            rate: cython.double = rates[i]
            noise += fabs(rate)
            # Half of the rates are positive: a processor that guesses which loses time.
            up: cython.Py_ssize_t = rate > 0.0
            room: cython.double = (rows[LOWER + up, i] - z[i]) * (2 * up - 1)
            if room < step * fabs(rate):
                step, who = larger(room / fabs(rate), 0.0), i
        if who != t:
            event = AT_UPPER if rates[who] > 0.0 else AT_LOWER
        noise *= limits.noise
        soonest: cython.Py_ssize_t = first_freed(residual, side, rates, noise, step)
        # A copy of a free example stays on the margin with it: its rate is rounding.
        while (
            soonest >= 0
            and fabs(rates[soonest]) <= BELIEVED * noise
            and depends(own, soonest, limits.floor)
        ):
            rates[soonest] = 0.0
            soonest = first_freed(residual, side, rates, noise, step)
        if soonest >= 0:
            who = soonest
            step, event = larger(-residual[who] / rates[who], 0.0), FREED
        stalled = 0 if step > NO_TIME * whole else stalled + 1
        for i in range(len(rates)):
            residual[i] += step * rates[i]
        for k in range(1, own.free[0] + 1):
            i = own.free[k]
            z[i] += step * rates[i]
            residual[i] = 0.0
        left -= step
        z[t] = sign * left
        if event == END:
            z[t] = 0.0
            return ARRIVED, 0.0
        if left > (1.0 - NEARLY_OVER) * whole:
            verdict = sure_sign(rows, own, watch, left)
        if verdict == GOING:
            residual[who] = 0.0
            if event == FREED:
                side[who] = 0.0
                own.free[0] += 1
                own.free[own.free[0]] = who
                own.where[who] = own.free[0]
            else:
                side[who] = -1.0 if event == AT_UPPER else 1.0
                z[who] = rows[UPPER, who] if event == AT_UPPER else rows[LOWER, who]
                drop(own, who)
            verdict = toggle(own, who, limits.floor)
    return verdict, left


@cython.cfunc
@cython.nogil
def sure_sign(
    rows: cython.double[:, ::1], own: Removal, watch: Watch, left: cython.double
) -> cython.Py_ssize_t:
    """Tell whether the watched margin is sure of its sign."""
    margin: cython.double = 1.0 + watch.sign * own.vectors[RESIDUAL, watch.example]
    if margin < -watch.tolerance:
        return WRONG
    if not margin - left * watch.reach > watch.tolerance:
        return GOING
    room: cython.double = 0.0
    for k in range(1, own.free[0] + 1):
        i = own.free[k]
        if watch.sign > 0.0:
            room += rows[UPPER, i] - own.vectors[Z, i]
        else:
            room += own.vectors[Z, i] - rows[LOWER, i]
    return RIGHT if room > MORE * left else GOING


@cython.cfunc
@cython.nogil
@cython.returns((cython.Py_ssize_t, cython.double))
def settle(
    base: Start,
    own: Removal,
    y: cython.double[::1],
    watch: Watch,
    verdict: cython.Py_ssize_t,
    left: cython.double,
):
    """Compute the margin anew from z, and the verdict if that margin agrees with it.

    The free examples, those first that have become free, must ask for one bias.
    """
    rows: cython.double[:, ::1] = base.rows
    z: cython.double[::1] = own.vectors[Z]
    t: cython.Py_ssize_t = watch.example
    least: cython.double = FAR
    most: cython.double = -FAR
    total: cython.double = 0.0
    count: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t = own.free[0]
    while k >= 1 and count < CHECKED:
        i = own.free[k]
        edge: cython.double = INSIDE * (rows[UPPER, i] - rows[LOWER, i])
        if rows[LOWER, i] + edge < z[i] < rows[UPPER, i] - edge:
            bias = bias_of(base.gram[i], z, y[i])
            least, most = min(least, bias), larger(most, bias)
            total += bias
            count += 1
        k -= 1
    if count == 0 or most - least > BELIEVED * watch.tolerance:
        return SINGULAR, 0.0
    margin: cython.double = 1.0 + y[t] * (total / count - bias_of(base.gram[t], z, y[t]))
    if verdict == WRONG and not margin < -watch.tolerance:
        return SINGULAR, margin
    if verdict == RIGHT:
        margin -= left * watch.reach
        if not margin > watch.tolerance:
            return SINGULAR, margin
    return verdict, margin


def leave_out(
    base,
    removal,
    y: cython.double[::1],
    which: cython.longlong[::1],
    reaches: cython.double[::1],
    tolerance: cython.double,
    limits,
    verdicts: cython.longlong[::1],
    margins: cython.double[::1],
):
    """Leave out one example after the other; NEEDED leaves in `margins` whose row is needed."""
    start: Start = Start(base[0], base[1], base[3][0])
    own: Removal = Removal(*removal)
    ends: Limits = Limits(limits[0], limits[1], limits[4], limits[5])
    with cython.nogil:
        for k in range(len(which)):
            t = which[k]
            watch = Watch(t, y[t], reaches[k], tolerance)
            verdict, left = remove_one(start, own, watch, ends)
            if verdict == ARRIVED or verdict == WRONG or verdict == RIGHT:
                verdict, margins[k] = settle(start, own, y, watch, verdict, left)
            elif verdict == NEEDED:
                margins[k] = own.changed[own.changed[0]]  # who came free is the last of them
            verdicts[k] = verdict
