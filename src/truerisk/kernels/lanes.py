"""Sparse rows, eight SVMs side by side that differ in their bounds alone.

Given     rows as in `rows`, their values and all weights in single precision; weights stand feature
          by feature, eight each: an entry of a row serves eight SVMs in little more than the time
          of one
Descent   as `sweep` of `rows`, in each lane
Newton    as `conjugate_gradients` of `rows`, in each lane.  Products are rounded to single
          precision, residuals and steps are not: what is left over is found by a product in double
          precision, and a further step takes it away
Layout    arrays of examples have one row per lane; what goes into a product or comes from it has
          one row per example
Flags     exact: eight sums named one by one are what compilers turn into one vector
"""

import cython

INFINITY = cython.declare(cython.double, float("inf"))
SMALLEST_STEP = cython.declare(cython.double, 1e-14)  # of a gradient; below it is rounding
FAR = cython.declare(cython.double, 0.25)  # of its room: how far beyond its bound is too far
FLAT = cython.declare(cython.double, 1e-6)  # of the largest |x|²: a curvature that is rounding
NEGLIGIBLE = cython.declare(cython.double, 1e-6)  # of the largest direction
NONE = cython.declare(cython.float, 0.0)


@cython.cfunc
@cython.inline
@cython.nogil
def dot(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    weights: cython.const[cython.float][::1],
    sums: cython.float[:, ::1],
    row: cython.Py_ssize_t,
) -> cython.void:
    """Write x·w of the row from `first` to `end`, for eight w."""
    a: cython.float = NONE
    b: cython.float = NONE
    c: cython.float = NONE
    d: cython.float = NONE
    e: cython.float = NONE
    f: cython.float = NONE
    g: cython.float = NONE
    h: cython.float = NONE
    value: cython.float
    at: cython.size_t
    p: cython.Py_ssize_t
    for p in range(first, end):
        value = data[p]
        at = 8 * cython.cast(cython.size_t, cython.cast(cython.uint, indices[p]))
        a += value * weights[at]
        b += value * weights[at + 1]
        c += value * weights[at + 2]
        d += value * weights[at + 3]
        e += value * weights[at + 4]
        f += value * weights[at + 5]
        g += value * weights[at + 6]
        h += value * weights[at + 7]
    sums[row, 0] = a
    sums[row, 1] = b
    sums[row, 2] = c
    sums[row, 3] = d
    sums[row, 4] = e
    sums[row, 5] = f
    sums[row, 6] = g
    sums[row, 7] = h


@cython.cfunc
@cython.inline
@cython.nogil
def add(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    times: cython.float[:, ::1],
    row: cython.Py_ssize_t,
    weights: cython.float[::1],
) -> cython.void:
    """Add multiples of the row from `first` to `end` to eight w."""
    a: cython.float = times[row, 0]
    b: cython.float = times[row, 1]
    c: cython.float = times[row, 2]
    d: cython.float = times[row, 3]
    e: cython.float = times[row, 4]
    f: cython.float = times[row, 5]
    g: cython.float = times[row, 6]
    h: cython.float = times[row, 7]
    i: cython.float
    j: cython.float
    k: cython.float
    m: cython.float
    n: cython.float
    o: cython.float
    q: cython.float
    r: cython.float
    value: cython.float
    at: cython.size_t
    p: cython.Py_ssize_t
    for p in range(first, end):
        value = data[p]
        at = 8 * cython.cast(cython.size_t, cython.cast(cython.uint, indices[p]))
        i = weights[at] + value * a
        j = weights[at + 1] + value * b
        k = weights[at + 2] + value * c
        m = weights[at + 3] + value * d
        n = weights[at + 4] + value * e
        o = weights[at + 5] + value * f
        q = weights[at + 6] + value * g
        r = weights[at + 7] + value * h
        weights[at] = i
        weights[at + 1] = j
        weights[at + 2] = k
        weights[at + 3] = m
        weights[at + 4] = n
        weights[at + 5] = o
        weights[at + 6] = q
        weights[at + 7] = r


def copy_rows(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    which: cython.const[cython.Py_ssize_t][::1],
    places: cython.int[::1],
    to_data: cython.float[::1],
    to_indices: cython.int[::1],
):
    """Write the rows `which` one after the other, their columns numbered as they come.

    Returns how many columns there are.  `places` holds −1 for every column, and then its number.
    """
    to: cython.Py_ssize_t = 0
    count: cython.int = 0
    column: cython.int
    with cython.nogil:
        for k in range(which.shape[0]):
            for p in range(indptr[which[k]], indptr[which[k] + 1]):
                column = indices[p]
                if places[column] < 0:
                    places[column] = count
                    count += 1
                to_indices[to] = places[column]
                to_data[to] = data[p]
                to += 1
    return count


def multiply(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    weights: cython.const[cython.float][::1],
    which: cython.const[cython.Py_ssize_t][::1],
    products: cython.float[:, ::1],
):
    """Write x·w of the examples `which`."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for k in range(which.shape[0]):
            i = which[k]
            dot(data, indices, indptr[i], indptr[i + 1], weights, products, k)


def add_rows(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    which: cython.const[cython.Py_ssize_t][::1],
    coefficients: cython.float[:, ::1],
    weights: cython.float[::1],
):
    """Add Σᵢ cᵢxᵢ of the examples `which` to the weights."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for k in range(which.shape[0]):
            i = which[k]
            add(data, indices, indptr[i], indptr[i + 1], coefficients, k, weights)


def sweep(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    y: cython.const[cython.double][::1],
    bounds: cython.const[cython.double][::1],
    costs: cython.const[cython.double][::1],
    squared_norms: cython.const[cython.double][::1],
    alpha: cython.double[:, ::1],
    weights: cython.float[::1],
    order: cython.int[::1],
    penalty: cython.double,
    bias: cython.double[::1],
    balance: cython.double[::1],
    drop_beyond: cython.const[cython.double][::1],
    is_live: cython.const[cython.uchar][::1],
    highest: cython.double[::1],
    lowest: cython.double[::1],
    changes: cython.longlong[::1],
    kept: cython.longlong[::1],
    sums: cython.float[:, ::1],
    times: cython.float[:, ::1],
):
    """Minimise over each α of `order` in turn, in place, in each lane that is live.

    The bound of α is the lane's cost times that of the example.  Returns how many examples remain:
    the first ones of `order` then, those that some lane keeps.  Writes, for each lane, s and the
    bias, which follows s; the largest and the smallest projected gradient; how many α came to a
    bound or left it; how many examples the lane keeps.
    """
    remaining: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    lanes: cython.Py_ssize_t = costs.shape[0]  # eight: a loop of a known length is taken apart
    bound: cython.double
    sign: cython.double
    per_curvature: cython.double
    some_keep: cython.longlong
    some_move: cython.longlong
    # What a lane holds stands here: loops over eight of these are vectors to a compiler.
    old = cython.declare(cython.double[8])
    new = cython.declare(cython.double[8])
    most = cython.declare(cython.double[8])
    gradient = cython.declare(cython.double[8])
    speed = cython.declare(cython.double[8])
    beyond = cython.declare(cython.double[8])
    multiplier = cython.declare(cython.double[8])
    excess = cython.declare(cython.double[8])
    top = cython.declare(cython.double[8])
    bottom = cython.declare(cython.double[8])
    alive = cython.declare(cython.longlong[8])
    changed = cython.declare(cython.longlong[8])
    staying = cython.declare(cython.longlong[8])
    keeps = cython.declare(cython.longlong[8])
    moves = cython.declare(cython.longlong[8])
    with cython.nogil:
        for lane in range(8):
            speed[lane] = 1.0 if is_live[lane] != 0 else 0.0
            alive[lane] = is_live[lane] != 0
            beyond[lane] = drop_beyond[lane]
            multiplier[lane] = bias[lane]
            excess[lane] = balance[lane]
            top[lane] = 0.0
            bottom[lane] = 0.0
            changed[lane] = 0
            staying[lane] = 0
        for k in range(order.shape[0]):
            i = order[k]
            dot(data, indices, indptr[i], indptr[i + 1], weights, sums, 0)
            sign = y[i]
            bound = bounds[i]
            per_curvature = 1.0 / (squared_norms[i] + penalty)
            for lane in range(8):
                old[lane] = alpha[lane, i]
            for lane in range(lanes):
                most[lane] = costs[lane] * bound
                gradient[lane] = (
                    sign * (sums[0, lane] + multiplier[lane] + penalty * excess[lane]) - 1.0
                )
                new[lane] = old[lane] - gradient[lane] * (speed[lane] * per_curvature)
                new[lane] = min(max(new[lane], 0.0), most[lane])
            for lane in range(lanes):
                # A step out of the box is no step: only the projected gradient counts.
                moves[lane] = new[lane] != old[lane]
                keeps[lane] = alive[lane] & (
                    1
                    - (
                        ((old[lane] <= 0.0) & (gradient[lane] > beyond[lane]))
                        | ((old[lane] >= most[lane]) & (gradient[lane] < -beyond[lane]))
                    )
                )
                staying[lane] += keeps[lane]
                changed[lane] += ((old[lane] > 0.0) & (old[lane] < most[lane])) ^ (
                    (new[lane] > 0.0) & (new[lane] < most[lane])
                )
            for lane in range(lanes):
                top[lane] = max(top[lane], gradient[lane] if new[lane] != old[lane] else 0.0)
                bottom[lane] = min(bottom[lane], gradient[lane] if new[lane] != old[lane] else 0.0)
                excess[lane] += sign * (new[lane] - old[lane])
                times[0, lane] = cython.cast(cython.float, sign * (new[lane] - old[lane]))
            some_keep = 0
            some_move = 0
            for lane in range(8):
                some_keep |= keeps[lane]
                some_move |= moves[lane]
            if some_keep != 0:
                order[remaining] = i
                remaining += 1
            if some_move != 0:
                for lane in range(8):
                    alpha[lane, i] = new[lane]
                add(data, indices, indptr[i], indptr[i + 1], times, 0, weights)
        for lane in range(8):
            highest[lane] = top[lane]
            lowest[lane] = bottom[lane]
            changes[lane] = changed[lane]
            kept[lane] = staying[lane]
            balance[lane] = excess[lane]
            bias[lane] = multiplier[lane] + penalty * excess[lane]
    return remaining


def begin_step(
    y: cython.const[cython.double][::1],
    bounds: cython.const[cython.double][::1],
    costs: cython.const[cython.double][::1],
    alpha: cython.const[cython.double][:, ::1],
    which: cython.const[cython.Py_ssize_t][::1],
    residual: cython.double[:, ::1],
    total: cython.const[cython.double][::1],
    is_live: cython.const[cython.uchar][::1],
    tolerance: cython.double,
    free: cython.double[:, ::1],
    step: cython.double[:, ::1],
    low: cython.double[:, ::1],
    high: cython.double[:, ::1],
    members: cython.double[::1],
    bias: cython.double[::1],
):
    """Say who is free in Newton's step, and how far yα may fall and rise.

    Free are those off their bounds, and those at a bound that object to it by more than the
    tolerance; `residual` is y − w·x, `bias` that of the objection.  The total that the step is to
    sum to is spread over all free.
    """
    i: cython.Py_ssize_t
    old: cython.double
    most: cython.double
    excess: cython.double
    is_free: cython.bint
    with cython.nogil:
        for lane in range(8):
            members[lane] = 0.0
            for k in range(which.shape[0]):
                free[lane, k] = 0.0
                step[lane, k] = 0.0
                low[lane, k] = 0.0
                high[lane, k] = 0.0
                if is_live[lane] == 0:
                    continue
                i = which[k]
                old = alpha[lane, i]
                most = costs[lane] * bounds[i]
                excess = y[i] * (bias[lane] - residual[lane, k])  # y·f − 1
                is_free = 0.0 < old < most
                if not is_free and most > 0.0:
                    is_free = excess < -tolerance if old <= 0.0 else excess > tolerance
                if is_free:
                    free[lane, k] = 1.0
                    members[lane] += 1.0
                    low[lane, k] = -old if y[i] > 0.0 else old - most
                    high[lane, k] = most - old if y[i] > 0.0 else old
            if members[lane] > 0.0:
                for k in range(which.shape[0]):
                    if free[lane, k] != 0.0:
                        step[lane, k] = total[lane] / members[lane]


def end_step(
    y: cython.const[cython.double][::1],
    bounds: cython.const[cython.double][::1],
    costs: cython.const[cython.double][::1],
    alpha: cython.double[:, ::1],
    which: cython.const[cython.Py_ssize_t][::1],
    free: cython.const[cython.double][:, ::1],
    step: cython.const[cython.double][:, ::1],
    low: cython.const[cython.double][:, ::1],
    high: cython.const[cython.double][:, ::1],
    at_bound: cython.double,
    change: cython.float[:, ::1],
):
    """Cut Newton's step to its room, take it, and write the change of yα."""
    i: cython.Py_ssize_t
    near: cython.double
    moved: cython.double
    with cython.nogil:
        for lane in range(8):
            for k in range(which.shape[0]):
                change[k, lane] = NONE
                if free[lane, k] == 0.0:
                    continue
                i = which[k]
                moved = min(max(step[lane, k], low[lane, k]), high[lane, k])
                change[k, lane] = cython.cast(cython.float, moved)
                # Who is at a bound but for rounding is at it.
                near = at_bound * (high[lane, k] - low[lane, k])
                if moved >= high[lane, k] - near:
                    alpha[lane, i] = costs[lane] * bounds[i] if y[i] > 0.0 else 0.0
                elif moved <= low[lane, k] + near:
                    alpha[lane, i] = 0.0 if y[i] > 0.0 else costs[lane] * bounds[i]
                else:
                    alpha[lane, i] += y[i] * moved


@cython.cfunc
@cython.nogil
def reach(
    step: cython.const[cython.double][:, ::1],
    direction: cython.const[cython.double][:, ::1],
    low: cython.const[cython.double][:, ::1],
    high: cython.const[cython.double][:, ::1],
    lane: cython.Py_ssize_t,
    length: cython.double,
) -> cython.double:
    """Shorten the length of a lane: an example that would go far beyond its bound stops at it.

    See `within` of `rows`.
    """
    largest: cython.double = 0.0
    shorter: cython.double = length
    far: cython.double
    beyond: cython.double
    bound: cython.double
    is_within: cython.bint
    for i in range(step.shape[1]):
        largest = max(largest, abs(direction[lane, i]))
    for i in range(step.shape[1]):
        far = FAR * (high[lane, i] - low[lane, i])
        beyond = step[lane, i] + length * direction[lane, i]
        is_within = low[lane, i] - far <= beyond <= high[lane, i] + far
        if not is_within and abs(direction[lane, i]) > NEGLIGIBLE * largest:
            bound = high[lane, i] if direction[lane, i] > 0.0 else low[lane, i]
            shorter = min(shorter, max(0.0, (bound - step[lane, i]) / direction[lane, i]))
    return shorter


def conjugate_gradients(
    data: cython.const[cython.float][::1],
    indices: cython.const[cython.int][::1],
    indptr: cython.const[cython.longlong][::1],
    residual: cython.double[:, ::1],
    free: cython.const[cython.double][:, ::1],
    step: cython.double[:, ::1],
    low: cython.const[cython.double][:, ::1],
    high: cython.const[cython.double][:, ::1],
    weights: cython.float[::1],
    direction: cython.double[:, ::1],
    image: cython.float[:, ::1],
    is_live: cython.uchar[::1],
    in_use: cython.uchar[::1],
    accuracy: cython.const[cython.double][::1],
    shift: cython.double[::1],
    squares: cython.double[::1],
    steepest: cython.double,
    max_steps: cython.Py_ssize_t,
):
    """Go down in each live lane until no residual of it is above its accuracy, in place.

    Arrays have one row per lane, but for `image`.  `free` is 1 where an example is free in a lane,
    else 0, as its residual and its step.  Returns the number of steps, and writes the change of
    each bias to `shift`.  A lane that has ended is no longer live.
    """
    n: cython.Py_ssize_t = residual.shape[1]
    count: cython.Py_ssize_t = 0
    members: cython.double
    mean: cython.double
    bend: cython.double
    total: cython.double
    length: cython.double
    shorter: cython.double
    before: cython.double
    outside: cython.Py_ssize_t
    largest: cython.double
    any_live: cython.bint
    with cython.nogil:
        for lane in range(8):
            shift[lane] = 0.0
            squares[lane] = 0.0
            largest = 0.0
            for i in range(n):
                direction[lane, i] = residual[lane, i]
                squares[lane] += residual[lane, i] * residual[lane, i]
                largest = max(largest, abs(residual[lane, i]))
            if largest <= accuracy[lane]:
                is_live[lane] = 0
        while count < max_steps:
            any_live = False
            for i in range(n):
                in_use[i] = 0
            for lane in range(8):
                if is_live[lane] != 0:
                    any_live = True
                    for i in range(n):
                        image[i, lane] = cython.cast(cython.float, direction[lane, i])
                        in_use[i] = in_use[i] | (free[lane, i] != 0.0)
                else:
                    for i in range(n):
                        image[i, lane] = NONE
            if not any_live:
                break
            for j in range(weights.shape[0]):
                weights[j] = NONE
            for i in range(n):
                if in_use[i] != 0:
                    add(data, indices, indptr[i], indptr[i + 1], image, i, weights)
            for i in range(n):
                if in_use[i] != 0:
                    dot(data, indices, indptr[i], indptr[i + 1], weights, image, i)
            for lane in range(8):
                if is_live[lane] == 0:
                    continue
                members = 0.0
                mean = 0.0
                bend = 0.0
                total = 0.0
                for i in range(n):
                    members += free[lane, i]
                    mean += free[lane, i] * image[i, lane]
                    bend += direction[lane, i] * image[i, lane]
                    total += direction[lane, i] * direction[lane, i]
                mean = mean / max(members, 1.0)
                if bend <= FLAT * steepest * total:
                    # The examples are dependent: w stays, and the gain lasts to a bound.
                    length = INFINITY
                else:
                    length = squares[lane] / bend
                shorter = reach(step, direction, low, high, lane, length)
                shift[lane] -= shorter * mean
                outside = 0
                before = squares[lane]
                total = 0.0
                largest = 0.0
                for i in range(n):
                    step[lane, i] += shorter * direction[lane, i]
                    residual[lane, i] -= shorter * free[lane, i] * (image[i, lane] - mean)
                    total += residual[lane, i] * residual[lane, i]
                    largest = max(largest, abs(residual[lane, i]))
                    outside += not low[lane, i] <= step[lane, i] <= high[lane, i]
                squares[lane] = total
                if shorter < length or 2 * outside > members or largest <= accuracy[lane]:
                    is_live[lane] = 0
                else:
                    for i in range(n):
                        direction[lane, i] = residual[lane, i] + total / before * direction[lane, i]
            count += 1
    return count
