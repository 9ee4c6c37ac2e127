"""Sparse rows: products, coordinate descent, Newton's step, and the path without one example.

Given     rows by their values (`data`), columns (`indices`) and starts (`indptr`)
Descent   min  ½ |w|² − Σᵢ αᵢ   with  0 ≤ αᵢ ≤ upperᵢ,  w = Σᵢ yᵢαᵢxᵢ  and  s = Σᵢ yᵢαᵢ = 0.  The
          augmented Lagrangian adds b·s + ½ρs²: every gradient gains yᵢ(b + ρs), every curvature ρ,
          and b + ρs is the next multiplier, which ends as the bias
Newton    min  ½ |w + Σⱼ dⱼxⱼ|² − Σⱼ yⱼdⱼ  with  Σⱼ dⱼ = 0,  over the free examples j, by conjugate
          gradients without a matrix: each step takes two passes over the rows
Removal   the optimum as a function of the bound of one example, which goes from α_t to 0.  Between
          two events it is linear in z_t.  An event is a free example that comes to a bound, or one
          at a bound whose residual comes to 0.  The examples that changed sides are few: their
          tableau rows, and one small system, give the rates of all others
Sources   Hsieh et al., ICML 2008, Algorithm 3 (with shrinking); Hestenes, JOTA 4, 1969; Moré and
          Toraldo, SIAM J. Optim. 1, 1991; Cauwenberghs and Poggio, NIPS 2000; Hastie et al., JMLR
          5, 2004
Flags     exact: infinities keep their meaning, and a gather of four sums is fastest as written
"""

import cython

if cython.compiled:
    from cython.cimports.truerisk.kernels.memory import fetch_ahead

INFINITY = cython.declare(cython.double, float("inf"))
SMALLEST_STEP = cython.declare(cython.double, 1e-14)  # of a gradient; below it is rounding
FAR = cython.declare(cython.double, 0.25)  # of its room: how far beyond its bound is too far
FLAT = cython.declare(cython.double, 1e-13)  # of the largest |x|²: a curvature that is rounding
AHEAD = cython.declare(cython.Py_ssize_t, 3)  # rows: a sweep sends for their memory so early
CACHED = cython.declare(cython.Py_ssize_t, 2**16)  # entries: so few stay in the cache
MAX_CHANGED = cython.declare(cython.Py_ssize_t, 128)  # order of the small system of a removal
MAX_EVENTS = cython.declare(cython.Py_ssize_t, 1000)
SINGULAR = cython.declare(cython.double, 1e-11)  # a pivot below this part of |x|² is none
STILL = cython.declare(cython.double, 1e-11)  # of |x|²: a decision that changes by less does not


# --- products


# Four sums at a time, since the processor can add four times while it waits for one.
@cython.cfunc
@cython.inline
@cython.nogil
def dot(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    weights: cython.const[cython.double][::1],
) -> cython.double:
    """Return x·w of the row from `first` to `end`."""
    a: cython.double = 0.0
    b: cython.double = 0.0
    c: cython.double = 0.0
    d: cython.double = 0.0
    p: cython.Py_ssize_t = first
    while p + 4 <= end:
        a += data[p] * weights[indices[p]]
        b += data[p + 1] * weights[indices[p + 1]]
        c += data[p + 2] * weights[indices[p + 2]]
        d += data[p + 3] * weights[indices[p + 3]]
        p += 4
    while p < end:
        a += data[p] * weights[indices[p]]
        p += 1
    return (a + b) + (c + d)


@cython.cfunc
@cython.inline
@cython.nogil
def add(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    times: cython.double,
    weights: cython.double[::1],
) -> cython.void:
    """Add a multiple of the row from `first` to `end` to the weights."""
    p: cython.Py_ssize_t = first
    while p + 4 <= end:
        weights[cython.cast(cython.uint, indices[p])] += times * data[p]
        weights[cython.cast(cython.uint, indices[p + 1])] += times * data[p + 1]
        weights[cython.cast(cython.uint, indices[p + 2])] += times * data[p + 2]
        weights[cython.cast(cython.uint, indices[p + 3])] += times * data[p + 3]
        p += 4
    while p < end:
        weights[cython.cast(cython.uint, indices[p])] += times * data[p]
        p += 1


@cython.cfunc
@cython.inline
@cython.nogil
def square_sum(
    values: cython.const[cython.double][::1], first: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.double:
    """Return Σv² of the values from `first` to `end`."""
    a: cython.double = 0.0
    b: cython.double = 0.0
    c: cython.double = 0.0
    d: cython.double = 0.0
    p: cython.Py_ssize_t = first
    while p + 4 <= end:
        a += values[p] * values[p]
        b += values[p + 1] * values[p + 1]
        c += values[p + 2] * values[p + 2]
        d += values[p + 3] * values[p + 3]
        p += 4
    while p < end:
        a += values[p] * values[p]
        p += 1
    return (a + b) + (c + d)


@cython.cfunc
@cython.inline
@cython.nogil
def send_for(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
) -> cython.void:
    """Have the beginning of a row brought to the cache; the processor foresees the rest of it.

    A line of the cache has eight values, or sixteen columns.  It may lie beyond the last row.
    """
    if cython.compiled:
        for line in range(4):
            fetch_ahead(cython.address(data[first + 8 * line]))
        for line in range(2):
            fetch_ahead(cython.address(indices[first + 16 * line]))


def multiply(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    products: cython.double[::1],
):
    """Write x·w of every row."""
    with cython.nogil:
        for i in range(products.shape[0]):
            products[i] = dot(data, indices, indptr[i], indptr[i + 1], weights)


def add_rows(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    coefficients: cython.const[cython.double][::1],
    weights: cython.double[::1],
):
    """Add Σᵢ cᵢxᵢ to the weights."""
    with cython.nogil:
        for i in range(coefficients.shape[0]):
            if coefficients[i] != 0.0:
                add(data, indices, indptr[i], indptr[i + 1], coefficients[i], weights)


def square(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    width: cython.longlong,
    squared_norms: cython.double[::1],
):
    """Write xᵢ·xᵢ of every row.

    Returns whether the columns of every row rise, none of them twice, and whether all rows, and the
    first and last column of each, are where the matrix has any.
    """
    falls: cython.int = 0
    outside: cython.int = 0
    first: cython.longlong
    end: cython.longlong
    size: cython.longlong = min(data.shape[0], indices.shape[0])
    with cython.nogil:
        for i in range(squared_norms.shape[0]):
            first = indptr[i]
            end = indptr[i + 1]
            squared_norms[i] = 0.0
            if first < 0 or end > size or first > end:
                outside = 1
            elif first < end:
                squared_norms[i] = square_sum(data, first, end)
                outside |= (indices[first] < 0) | (indices[end - 1] >= width)
                for p in range(first + 1, end):
                    falls |= indices[p] <= indices[p - 1]
    return falls == 0, outside == 0


def copy_rows(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    which: cython.const[cython.Py_ssize_t][::1],
    to_data: cython.double[::1],
    to_indices: cython.int[::1],
):
    """Write the rows `which` one after the other."""
    to: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    length: cython.Py_ssize_t
    with cython.nogil:
        for k in range(which.shape[0]):
            first = indptr[which[k]]
            length = indptr[which[k] + 1] - first
            for p in range(length):
                to_data[to + p] = data[first + p]
            for p in range(length):
                to_indices[to + p] = indices[first + p]
            to += length


def multiply_four(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    products: cython.double[:, ::1],
):
    """Write x·w of every row for four columns of weights, in little more than the time of one.

    The weights stand feature by feature, the products row by row, four each.
    """
    a: cython.double
    b: cython.double
    c: cython.double
    d: cython.double
    value: cython.double
    at: cython.size_t
    with cython.nogil:
        for i in range(products.shape[0]):
            a = b = c = d = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                value = data[p]
                at = 4 * cython.cast(cython.size_t, cython.cast(cython.uint, indices[p]))
                a += value * weights[at]
                b += value * weights[at + 1]
                c += value * weights[at + 2]
                d += value * weights[at + 3]
            products[i, 0] = a
            products[i, 1] = b
            products[i, 2] = c
            products[i, 3] = d


def add_four(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    coefficients: cython.const[cython.double][:, ::1],
    weights: cython.double[::1],
):
    """Add Σᵢ cᵢxᵢ to the weights, for four columns of coefficients and of weights, as above."""
    a: cython.double
    b: cython.double
    c: cython.double
    d: cython.double
    e: cython.double
    f: cython.double
    g: cython.double
    h: cython.double
    value: cython.double
    at: cython.size_t
    with cython.nogil:
        for i in range(coefficients.shape[0]):
            a = coefficients[i, 0]
            b = coefficients[i, 1]
            c = coefficients[i, 2]
            d = coefficients[i, 3]
            if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
                continue
            for p in range(indptr[i], indptr[i + 1]):
                value = data[p]
                at = 4 * cython.cast(cython.size_t, cython.cast(cython.uint, indices[p]))
                e = weights[at] + a * value
                f = weights[at + 1] + b * value
                g = weights[at + 2] + c * value
                h = weights[at + 3] + d * value
                weights[at] = e
                weights[at + 1] = f
                weights[at + 2] = g
                weights[at + 3] = h


def multiply_pairs(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    weights: cython.double[::1],
    products: cython.double[:, ::1],
    start: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
):
    """Write x·x′ of every `stride`-th of the last rows with all rows up to it, and 0 after it.

    The weights are zero, before and after.
    """
    first: cython.Py_ssize_t = products.shape[1] - products.shape[0]
    k: cython.Py_ssize_t = start
    i: cython.Py_ssize_t
    with cython.nogil:
        while k < products.shape[0]:
            i = first + k
            for p in range(indptr[i], indptr[i + 1]):
                weights[indices[p]] = data[p]
            for j in range(i + 1):
                products[k, j] = dot(data, indices, indptr[j], indptr[j + 1], weights)
            for j in range(i + 1, products.shape[1]):
                products[k, j] = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                weights[indices[p]] = 0.0
            k += stride


def add_products(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    entries: cython.const[cython.double][::1],
    owners: cython.const[cython.int][::1],
    starts: cython.longlong[::1],
    ends: cython.const[cython.longlong][::1],
    products: cython.double[:, ::1],
):
    """Add x·x′ of every row with itself and the rows after it, by the columns that they share.

    `entries` and `owners` hold the same matrix by columns, each with its rows in order; `starts`
    moves on to the rows that are still to come, and a column that starts at its end is left out.
    The cost is that of the pairs that share a column.
    """
    value: cython.double
    column: cython.Py_ssize_t
    with cython.nogil:
        for i in range(products.shape[0]):
            for p in range(indptr[i], indptr[i + 1]):
                column = indices[p]
                value = data[p]
                for k in range(starts[column], ends[column]):
                    products[i, owners[k]] += value * entries[k]
                starts[column] += 1


# --- one optimum


def sweep(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    y: cython.const[cython.double][::1],
    upper: cython.const[cython.double][::1],
    curvature: cython.const[cython.double][::1],
    alpha: cython.double[::1],
    weights: cython.double[::1],
    order: cython.int[::1],
    penalty: cython.double,
    bias: cython.double,
    balance: cython.double,
    drop_beyond: cython.double,
    times: cython.Py_ssize_t,
):
    """Minimise over each α of `order` in turn, in place, with w always true to α; so many times.

    Returns how many examples remain (the first ones of `order` then), s, the bias, which follows s
    after each time, and of the last time the largest and the smallest projected gradient, how many
    α came to a bound or left it, and what the examples added to the duality gap when their turn
    came.  An example at a bound is dropped when its gradient holds it there by more than
    `drop_beyond`; such adds nothing to the gap.
    """
    highest: cython.double = -INFINITY
    lowest: cython.double = INFINITY
    gap: cython.double = 0.0
    remaining: cython.Py_ssize_t = order.shape[0]
    ahead: cython.Py_ssize_t = AHEAD if data.shape[0] > CACHED else remaining
    size: cython.Py_ssize_t
    changes: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    first: cython.Py_ssize_t
    end: cython.Py_ssize_t
    old: cython.double
    new: cython.double
    most: cython.double
    shift: cython.double
    gradient: cython.double
    projected: cython.double
    step: cython.double
    was_free: cython.bint
    is_free: cython.bint
    with cython.nogil:
        for _ in range(times):
            size = remaining
            remaining = 0
            changes = 0
            highest = -INFINITY
            lowest = INFINITY
            gap = 0.0
            for k in range(size):
                if k + ahead < size:
                    send_for(data, indices, indptr[order[k + ahead]])
                i = order[k]
                first = indptr[i]
                end = indptr[i + 1]
                old = alpha[i]
                most = upper[i]
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
                order[remaining] = i
                remaining += 1
                highest = max(highest, projected)
                lowest = min(lowest, projected)
                if abs(projected) <= SMALLEST_STEP:
                    continue
                gap += gradient * (old if gradient > 0.0 else old - most)
                new = min(max(old - gradient / curvature[i], 0.0), most)
                was_free = 0.0 < old < most
                is_free = 0.0 < new < most
                if was_free != is_free:
                    changes += 1
                alpha[i] = new
                step = y[i] * (new - old)
                balance += step
                add(data, indices, first, end, step, weights)
            bias += penalty * balance
    return remaining, balance, bias, highest, lowest, changes, gap


def measure(
    y: cython.const[cython.double][::1],
    upper: cython.const[cython.double][::1],
    alpha: cython.const[cython.double][::1],
    products: cython.const[cython.double][::1],
):
    """Return how far from an optimum the products w·x of all examples are.

    That is the largest v = y − w·x of those whose yα may rise, the smallest of those whose yα may
    fall, the number of free examples and the sum of their v.
    """
    highest: cython.double = -INFINITY
    lowest: cython.double = INFINITY
    total: cython.double = 0.0
    free: cython.Py_ssize_t = 0
    value: cython.double
    held: cython.bint
    room: cython.bint
    positive: cython.bint
    with cython.nogil:
        for i in range(y.shape[0]):
            value = y[i] - products[i]
            # An example that is left out has neither, and so says nothing.
            held = alpha[i] > 0.0
            room = alpha[i] < upper[i]
            positive = y[i] > 0.0
            if (positive and room) or (held and not positive):
                highest = max(highest, value)
            if (positive and held) or (room and not positive):
                lowest = min(lowest, value)
            if held and room:
                free += 1
                total += value
    return highest, lowest, free, total


def spread_excess(
    y: cython.const[cython.double][::1],
    upper: cython.const[cython.double][::1],
    alpha: cython.double[::1],
    enough: cython.double,
):
    """Bring Σyα to 0 by an equal part from all free α, in place; return what is left of it.

    The sum is taken with what rounding loses of it.
    """
    excess: cython.double = 0.0
    before: cython.double = INFINITY
    total: cython.double
    lost: cython.double
    part: cython.double
    added: cython.double
    kept: cython.double
    free: cython.Py_ssize_t
    with cython.nogil:
        while True:
            total = 0.0
            lost = 0.0
            free = 0
            for i in range(y.shape[0]):
                part = y[i] * alpha[i]
                added = total + part
                kept = added - total
                lost += (total - (added - kept)) + (part - kept)
                total = added
                free += (alpha[i] > 0.0) & (alpha[i] < upper[i])
            excess = total + lost
            if abs(excess) <= enough or free == 0 or abs(excess) >= before:
                break
            before = abs(excess)
            part = excess / free
            for i in range(y.shape[0]):
                if 0.0 < alpha[i] < upper[i]:
                    alpha[i] = min(max(alpha[i] - y[i] * part, 0.0), upper[i])
    return excess


def sum_of_squares(values: cython.const[cython.double][::1]):
    """Return Σv², added up in one order and in one thread."""
    return square_sum(values, 0, values.shape[0])


@cython.cfunc
@cython.nogil
def largest(values: cython.const[cython.double][::1]) -> cython.double:
    """Return max |v|."""
    most: cython.double = 0.0
    for i in range(values.shape[0]):
        most = max(most, abs(values[i]))
    return most


@cython.cfunc
@cython.nogil
def within(
    step: cython.const[cython.double][::1],
    direction: cython.const[cython.double][::1],
    low: cython.const[cython.double][::1],
    high: cython.const[cython.double][::1],
    length: cython.double,
) -> cython.double:
    """Shorten a length: an example that would go far beyond its bound stops at it.

    Two examples that are nearly alike ask for large steps that cancel each other.  Cut to their
    bounds one by one these no longer would; cut where the first one ends, they do.
    """
    negligible: cython.double = 1e-6 * largest(direction)
    shorter: cython.double = length
    far: cython.double
    beyond: cython.double
    bound: cython.double
    for i in range(step.shape[0]):
        if abs(direction[i]) > negligible:
            far = FAR * (high[i] - low[i])
            beyond = step[i] + length * direction[i]
            if not low[i] - far <= beyond <= high[i] + far:
                bound = high[i] if direction[i] > 0.0 else low[i]
                shorter = min(shorter, max(0.0, (bound - step[i]) / direction[i]))
    return shorter


def conjugate_gradients(
    data: cython.const[cython.double][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    residual: cython.double[::1],
    step: cython.double[::1],
    low: cython.const[cython.double][::1],
    high: cython.const[cython.double][::1],
    weights: cython.double[::1],
    direction: cython.double[::1],
    image: cython.double[::1],
    steepest: cython.double,
    accuracy: cython.double,
    max_steps: cython.Py_ssize_t,
):
    """Go down until no residual is above the accuracy, in place.

    Returns the change of the bias and the number of steps.  `weights`, `direction` and `image` are
    room to work in.
    """
    n: cython.Py_ssize_t = residual.shape[0]
    count: cython.Py_ssize_t = 0
    outside: cython.Py_ssize_t
    shift: cython.double = 0.0
    squares: cython.double
    before: cython.double
    mean: cython.double
    bend: cython.double
    length: cython.double
    shorter: cython.double
    last: cython.bint = False
    with cython.nogil:
        for i in range(n):
            direction[i] = residual[i]
        squares = square_sum(residual, 0, n)
        while count < max_steps and not last and not largest(residual) <= accuracy:
            for j in range(weights.shape[0]):
                weights[j] = 0.0
            for i in range(n):
                add(data, indices, indptr[i], indptr[i + 1], direction[i], weights)
            mean = 0.0
            bend = 0.0
            for i in range(n):
                image[i] = dot(data, indices, indptr[i], indptr[i + 1], weights)
                mean += image[i]
                bend += direction[i] * image[i]
            mean = mean / n
            if bend <= FLAT * steepest * square_sum(direction, 0, n):
                # The examples are dependent: w stays, and the gain lasts to a bound.
                length = INFINITY
            else:
                length = squares / bend
            shorter = within(step, direction, low, high, length)
            last = shorter < length
            length = shorter
            shift -= length * mean
            outside = 0
            before = squares
            squares = 0.0
            for i in range(n):
                step[i] += length * direction[i]
                residual[i] -= length * (image[i] - mean)
                squares += residual[i] * residual[i]
                if not low[i] <= step[i] <= high[i]:
                    outside += 1
            count += 1
            if 2 * outside > n:
                last = True
            if not last:
                for i in range(n):
                    direction[i] = residual[i] + squares / before * direction[i]
    return shift, count


# --- the path without one example


@cython.cfunc
@cython.nogil
def eliminate(
    system: cython.double[:, ::1],
    x: cython.double[::1],
    n: cython.Py_ssize_t,
    smallest: cython.double,
) -> cython.bint:
    """Solve a small system in place, by Gauss with pivots; tell whether it has a solution."""
    best: cython.Py_ssize_t
    c: cython.Py_ssize_t
    factor: cython.double
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
    c = n - 1
    while c >= 0:
        for j in range(c + 1, n):
            x[c] -= system[c, j] * x[j]
        x[c] /= system[c, c]
        c -= 1
    return True


@cython.cfunc
@cython.nogil
def find_rates(
    tableau: cython.const[cython.double][:, ::1],
    free: cython.Py_ssize_t,
    changed: cython.int[::1],
    count: cython.Py_ssize_t,
    system: cython.double[:, ::1],
    x: cython.double[::1],
    rates: cython.double[::1],
    scale: cython.double,
    sign: cython.double,
) -> cython.bint:
    """Write what happens to all while |z| of changed[0] falls by one, and the others stay still.

    The first `free` examples are free in the tableau.  An example that changed sides is driven by x
    such that what the tableau tells of it does not move: z of one that came to a bound, the
    decision of one that became free.
    """
    who: cython.Py_ssize_t
    weight: cython.double
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
    for i in range(rates.shape[0]):
        rates[i] = 0.0
    for j in range(count):
        who = changed[j]
        weight = x[j]
        for i in range(rates.shape[0]):
            rates[i] += weight * tableau[who, i]
    # From here on, rates tells of z where an example is free, of its decision where it is not.
    for j in range(count):
        if changed[j] < free or j > 0:
            rates[changed[j]] = x[j]
    return True


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.Py_ssize_t))
def next_event(
    z: cython.double[::1],
    residual: cython.double[::1],
    low: cython.const[cython.double][::1],
    high: cython.const[cython.double][::1],
    is_free: cython.uchar[::1],
    rates: cython.double[::1],
    out: cython.Py_ssize_t,
    longest: cython.double,
    still: cython.double,
):
    """Return how long the rates last, and who ends them: −1 if nobody does before `longest`."""
    length: cython.double = longest
    who: cython.Py_ssize_t = -1
    rate: cython.double
    until: cython.double
    rises: cython.bint
    at_top: cython.bint
    for i in range(z.shape[0]):
        rate = rates[i]
        until = INFINITY
        if is_free[i] != 0:
            if rate > 0.0:
                until = (high[i] - z[i]) / rate
            elif rate < 0.0:
                until = (low[i] - z[i]) / rate
        elif abs(rate) > still:
            rises = rate > 0.0
            at_top = z[i] >= high[i]
            if rises == at_top:
                until = residual[i] / rate
        if until < length and i != out:
            length = max(until, 0.0)
            who = i
    return length, who


def follow_removal(
    tableau: cython.const[cython.double][:, ::1],
    free: cython.Py_ssize_t,
    low: cython.const[cython.double][::1],
    high: cython.const[cython.double][::1],
    out: cython.Py_ssize_t,
    z: cython.double[::1],
    residual: cython.double[::1],
    is_free: cython.uchar[::1],
    place: cython.int[::1],
    changed: cython.int[::1],
    system: cython.double[:, ::1],
    x: cython.double[::1],
    rates: cython.double[::1],
    scale: cython.double,
):
    """Take z[out] to 0, in place; return the number of events, or −1 if the path was lost."""
    sign: cython.double = 1.0 if z[out] > 0.0 else -1.0
    left: cython.double = abs(z[out])
    count: cython.Py_ssize_t = 1
    events: cython.Py_ssize_t = 0
    verdict: cython.Py_ssize_t = -1
    who: cython.Py_ssize_t
    last: cython.Py_ssize_t
    length: cython.double
    with cython.nogil:
        for i in range(z.shape[0]):
            is_free[i] = i < free
            place[i] = -1
        is_free[out] = False
        changed[0] = out
        place[out] = 0
        while events < MAX_EVENTS:
            if not find_rates(tableau, free, changed, count, system, x, rates, scale, sign):
                break
            length, who = next_event(
                z, residual, low, high, is_free, rates, out, left, STILL * scale
            )
            for i in range(z.shape[0]):
                if is_free[i] != 0:
                    z[i] += length * rates[i]
                else:
                    residual[i] -= length * rates[i]
            left -= length
            if who < 0:
                z[out] = 0.0
                verdict = events
                break
            if is_free[who] != 0:
                z[who] = high[who] if high[who] - z[who] < z[who] - low[who] else low[who]
            is_free[who] = is_free[who] == 0
            residual[who] = 0.0
            if place[who] >= 0:  # it is back where it was at the start
                count -= 1
                last = changed[count]
                changed[place[who]] = last
                place[last] = place[who]
                place[who] = -1
            elif count < MAX_CHANGED:
                changed[count] = who
                place[who] = count
                count += 1
            else:
                break
            events += 1
    return verdict
