"""Interior points for SVMs on few features: one problem alone, or many side by side.

Problem   min  ½ uᵀ diag(metric) u + Σᵢ Uᵢξᵢ   with  rᵢ·u ≥ 1 − ξᵢ  and  ξᵢ ≥ 0
Given     the rows rᵢ = yᵢ(zᵢ, 1), the bounds Uᵢ > 0, and the metric, whose last entry is 0: the
          bias is free
Returns   in place, u and four positive numbers for each example: share α/U, rest 1 − α/U, surplus
          of the margin over 1, slack ξ
Path      α·surplus = (U − α)·slack = µ for every example, whatever its bound
Lanes     64 problems that differ in their bounds only take their steps together, and each step is a
          handful of matrix products; a problem that has arrived leaves its lane to the next one.
          `tile` has one row per example: for each number the values of all lanes, next to each
          other, so the innermost loop runs over lanes; `lanes` holds one number per lane likewise.
          Quotients are gathered: with 1 / (surplus·rest + slack·share) known, prediction and
          correction need no further division, and µ after the predicted step is a quadratic with
          one unknown term.  A bound of 0 needs no branch: its example starts FAR from the margin
Cholesky  lower triangles, packed row by row; an entry is the values of all lanes.  The diagonal
          holds 1 / Lⱼⱼ, and 0 where a direction is lost in rounding: the step leaves it alone
Sources   S. Mehrotra, SIAM J. Optim. 2 (1992), 575-601; for SVMs with few features, M. Ferris and
          T. Munson, SIAM J. Optim. 13 (2002), 783-804
Flags     fused: infinities keep their meaning
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, isfinite, sqrt

if cython.compiled:
    from cython.cimports.scipy.linalg.cython_blas import dgemm, dgemv, dsyrk, sgemm

INFINITY = cython.declare(cython.double, float("inf"))
LOST = cython.declare(cython.double, 1e-14)  # of its diagonal: a pivot that is rounding
LOST_SINGLE = cython.declare(cython.double, 1e-6)  # in single precision
STALLED = cython.declare(cython.double, 1e-8)  # a step shorter than this leads nowhere
BACK = cython.declare(cython.double, 0.995)  # how far to go towards the nearest bound
LANES_BACK = cython.declare(cython.double, 0.999)  # of a start that is central, so far
CENTRED = cython.declare(cython.double, 0.5)  # of µ, where a step aims at the centre alone
FAR = cython.declare(cython.double, 1e150)  # the surplus of an example that is left out
FAR_SINGLE = cython.declare(cython.double, 1e18)  # whose square is a number of single precision
NOBODY = cython.declare(cython.longlong, -1)  # in a lane
ON_THE_MARGIN = cython.declare(cython.double, 1e3)  # times surplus and slack: share and rest

# The rows of `state` and `vectors`, for one problem alone.
ONE_SHARE = cython.declare(cython.Py_ssize_t, 0)
ONE_REST = cython.declare(cython.Py_ssize_t, 1)
ONE_SURPLUS = cython.declare(cython.Py_ssize_t, 2)
ONE_SLACK = cython.declare(cython.Py_ssize_t, 3)
ONE_YIELD = cython.declare(cython.Py_ssize_t, 0)
VIOLATION = cython.declare(cython.Py_ssize_t, 1)
WANT = cython.declare(cython.Py_ssize_t, 2)
WANT_REST = cython.declare(cython.Py_ssize_t, 3)
ONE_D_SHARE = cython.declare(cython.Py_ssize_t, 4)
ONE_D_SURPLUS = cython.declare(cython.Py_ssize_t, 5)
ONE_D_SLACK = cython.declare(cython.Py_ssize_t, 6)
PULL = cython.declare(cython.Py_ssize_t, 7)
SCRATCH = cython.declare(cython.Py_ssize_t, 8)

# The rows of a tile, as offsets.
BOUND = cython.declare(cython.Py_ssize_t, 0)
PER_BOUND = cython.declare(cython.Py_ssize_t, 64)
SHARE = cython.declare(cython.Py_ssize_t, 128)
REST = cython.declare(cython.Py_ssize_t, 192)
SURPLUS = cython.declare(cython.Py_ssize_t, 256)
SLACK = cython.declare(cython.Py_ssize_t, 320)
MARGIN = cython.declare(cython.Py_ssize_t, 384)
YIELD = cython.declare(cython.Py_ssize_t, 448)
D_SHARE = cython.declare(cython.Py_ssize_t, 512)
D_SURPLUS = cython.declare(cython.Py_ssize_t, 576)
D_SLACK = cython.declare(cython.Py_ssize_t, 640)
# The rows of `lanes`: Σ of the products α·surplus + (U − α)·slack, Σα, the length of the last step,
# the steepest descent towards a bound, the second order of the gap along the predicted step, the
# sought µ, and what is left of the violations at the start.
GAP = cython.declare(cython.Py_ssize_t, 0)
MASS = cython.declare(cython.Py_ssize_t, 64)
STEP = cython.declare(cython.Py_ssize_t, 128)
STEEPEST = cython.declare(cython.Py_ssize_t, 192)
QUADRATIC = cython.declare(cython.Py_ssize_t, 256)
CENTRE = cython.declare(cython.Py_ssize_t, 320)
LEFT = cython.declare(cython.Py_ssize_t, 384)


# --- dense products


@cython.cfunc
@cython.inline
@cython.nogil
def larger(first: cython.floating, second: cython.floating) -> cython.floating:
    """Return the larger of two numbers: written so, a loop of it becomes vector instructions."""
    return first if first > second else second


@cython.cfunc
@cython.nogil
def multiply(
    a: cython.floating[:, ::1], b: cython.floating[:, ::1], out: cython.floating[:, ::1]
) -> cython.void:
    """Write a·b."""
    none: cython.char = 78  # "N"
    one: cython.floating = 1.0
    zero: cython.floating = 0.0
    n: cython.int = b.shape[1]
    m: cython.int = a.shape[0]
    k: cython.int = a.shape[1]
    if not cython.compiled:
        np.dot(a, b, out)
    elif cython.floating is cython.double:
        dgemm(
            cython.address(none), cython.address(none),
            cython.address(n), cython.address(m), cython.address(k), cython.address(one),
            cython.address(b[0, 0]), cython.address(n),
            cython.address(a[0, 0]), cython.address(k),
            cython.address(zero), cython.address(out[0, 0]), cython.address(n),
        )  # fmt: skip
    else:
        sgemm(
            cython.address(none), cython.address(none),
            cython.address(n), cython.address(m), cython.address(k), cython.address(one),
            cython.address(b[0, 0]), cython.address(n),
            cython.address(a[0, 0]), cython.address(k),
            cython.address(zero), cython.address(out[0, 0]), cython.address(n),
        )  # fmt: skip


@cython.cfunc
@cython.nogil
def multiply_vector(
    rows: cython.double[:, ::1],
    u: cython.double[::1],
    out: cython.double[::1],
    transposed: cython.bint,
) -> cython.void:
    """Write rows·u, or rowsᵀ·u."""
    plain: cython.char = 84  # "T": a matrix by rows is its transpose by columns
    other: cython.char = 78  # "N"
    one: cython.double = 1.0
    zero: cython.double = 0.0
    m: cython.int = rows.shape[1]
    n: cython.int = rows.shape[0]
    step: cython.int = 1
    if cython.compiled:
        dgemv(
            cython.address(other) if transposed else cython.address(plain),
            cython.address(m), cython.address(n), cython.address(one),
            cython.address(rows[0, 0]), cython.address(m), cython.address(u[0]),
            cython.address(step), cython.address(zero), cython.address(out[0]),
            cython.address(step),
        )  # fmt: skip
    else:
        np.dot(rows.T if transposed else rows, u, out)


@cython.cfunc
@cython.nogil
def weighted_gram(
    rows: cython.double[:, ::1],
    weights: cython.double[::1],
    block: cython.double[:, ::1],
    gram: cython.double[:, ::1],
) -> cython.void:
    """Write the lower triangle of Σᵢ weightᵢ rᵢrᵢᵀ to `gram`, block by block."""
    upper: cython.char = 85  # "U": the lower triangle, by rows
    none: cython.char = 78  # "N"
    one: cython.double = 1.0
    m: cython.int = rows.shape[1]
    count: cython.int
    root: cython.double
    start: cython.Py_ssize_t = 0
    stop: cython.Py_ssize_t
    for i in range(m):
        for j in range(m):
            gram[i, j] = 0.0
    while start < rows.shape[0]:
        stop = min(start + block.shape[0], rows.shape[0])
        for i in range(start, stop):
            root = sqrt(weights[i])
            for j in range(m):
                block[i - start, j] = root * rows[i, j]
        count = stop - start
        if cython.compiled:
            dsyrk(
                cython.address(upper), cython.address(none), cython.address(m),
                cython.address(count), cython.address(one), cython.address(block[0, 0]),
                cython.address(m), cython.address(one), cython.address(gram[0, 0]),
                cython.address(m),
            )  # fmt: skip
        else:
            gram += block[:count].T @ block[:count]
        start = stop


# --- one problem


@cython.cfunc
@cython.nogil
def factorise(matrix: cython.double[:, ::1], m: cython.Py_ssize_t) -> cython.void:
    """Overwrite the lower triangle by Cholesky's factor; a lost direction gets an infinite pivot.

    What is left of such a pivot is rounding: to divide by it would send the step anywhere, to
    divide by infinity leaves the direction alone.
    """
    left: cython.double
    root: cython.double
    entry: cython.double
    for j in range(m):
        left = matrix[j, j]
        for k in range(j):
            left -= matrix[j, k] * matrix[j, k]
        root = sqrt(left) if left > LOST * matrix[j, j] else INFINITY
        matrix[j, j] = root
        for i in range(j + 1, m):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry / root


@cython.cfunc
@cython.nogil
def solve_factored(factor: cython.double[:, ::1], right: cython.double[::1]) -> cython.void:
    """Solve in place with the factor that `factorise` left."""
    m: cython.Py_ssize_t = right.shape[0]
    i: cython.Py_ssize_t
    entry: cython.double
    for i in range(m):
        entry = right[i]
        for k in range(i):
            entry -= factor[i, k] * right[k]
        right[i] = entry / factor[i, i]
    i = m - 1
    while i >= 0:
        right[i] /= factor[i, i]
        for k in range(i):
            right[k] -= factor[i, k] * right[i]
        i -= 1


@cython.cfunc
@cython.nogil
@cython.returns((cython.double, cython.double))
def linearise(
    rows: cython.double[:, ::1],
    upper: cython.double[::1],
    metric: cython.double[::1],
    u: cython.double[::1],
    state: cython.double[:, ::1],
    vectors: cython.double[:, ::1],
    residual: cython.double[::1],
):
    """Write what the Newton systems of one step share; return µ and how far the optimum is.

    The second number is the largest of the violations and, for each unit of Σα, of what metric·u
    and Rᵀα differ by and of the duality gap; Σα is at most twice the optimum.
    """
    n: cython.Py_ssize_t = upper.shape[0]
    gap: cython.double = 0.0
    mass: cython.double = 0.0
    largest: cython.double = 0.0
    unbalanced: cython.double = 0.0
    share: cython.double
    rest: cython.double
    surplus: cython.double
    slack: cython.double
    for i in range(n):
        vectors[SCRATCH, i] = upper[i] * state[ONE_SHARE, i]
    multiply_vector(rows, vectors[SCRATCH], residual, True)
    for j in range(residual.shape[0]):
        residual[j] -= metric[j] * u[j]
        unbalanced = larger(unbalanced, fabs(residual[j]))
    multiply_vector(rows, u, vectors[VIOLATION], False)
    for i in range(n):
        share = state[ONE_SHARE, i]
        rest = state[ONE_REST, i]
        surplus = state[ONE_SURPLUS, i]
        slack = state[ONE_SLACK, i]
        vectors[VIOLATION, i] += slack - surplus - 1.0
        largest = larger(largest, fabs(vectors[VIOLATION, i]))
        vectors[ONE_YIELD, i] = 1.0 / (surplus / share + slack / rest)
        vectors[WANT, i] = -share * surplus
        vectors[WANT_REST, i] = -rest * slack
        gap += upper[i] * (share * surplus + rest * slack)
        mass += vectors[SCRATCH, i]
    return gap / (2 * n), larger(largest, larger(unbalanced, gap) / mass)


@cython.cfunc
@cython.nogil
def direction(
    rows: cython.double[:, ::1],
    upper: cython.double[::1],
    state: cython.double[:, ::1],
    vectors: cython.double[:, ::1],
    factor: cython.double[:, ::1],
    residual: cython.double[::1],
    du: cython.double[::1],
) -> cython.double:
    """Solve the Newton system for the wanted changes; return the longest step inside."""
    steepest: cython.double = 0.0
    share: cython.double
    rest: cython.double
    surplus: cython.double
    slack: cython.double
    d_share: cython.double
    d_surplus: cython.double
    d_slack: cython.double
    for i in range(upper.shape[0]):
        vectors[PULL, i] = (
            vectors[WANT, i] / state[ONE_SHARE, i]
            - vectors[WANT_REST, i] / state[ONE_REST, i]
            - vectors[VIOLATION, i]
        )
        vectors[SCRATCH, i] = upper[i] * vectors[ONE_YIELD, i] * vectors[PULL, i]
    multiply_vector(rows, vectors[SCRATCH], du, True)
    for j in range(du.shape[0]):
        du[j] += residual[j]
    solve_factored(factor, du)
    multiply_vector(rows, du, vectors[SCRATCH], False)
    for i in range(upper.shape[0]):
        share = state[ONE_SHARE, i]
        rest = state[ONE_REST, i]
        surplus = state[ONE_SURPLUS, i]
        slack = state[ONE_SLACK, i]
        d_share = vectors[ONE_YIELD, i] * (vectors[PULL, i] - vectors[SCRATCH, i])
        d_surplus = (vectors[WANT, i] - surplus * d_share) / share
        d_slack = (vectors[WANT_REST, i] + slack * d_share) / rest
        steepest = larger(steepest, larger(-d_share / share, d_share / rest))
        steepest = larger(steepest, larger(-d_surplus / surplus, -d_slack / slack))
        vectors[ONE_D_SHARE, i] = d_share
        vectors[ONE_D_SURPLUS, i] = d_surplus
        vectors[ONE_D_SLACK, i] = d_slack
    return 1.0 / steepest if steepest > 0.0 else INFINITY


@cython.cfunc
@cython.nogil
def mu_after(
    upper: cython.double[::1],
    state: cython.double[:, ::1],
    vectors: cython.double[:, ::1],
    step: cython.double,
) -> cython.double:
    """Return the µ that a step of this length would lead to."""
    n: cython.Py_ssize_t = upper.shape[0]
    gap: cython.double = 0.0
    d_share: cython.double
    for i in range(n):
        d_share = step * vectors[ONE_D_SHARE, i]
        gap += upper[i] * (
            (state[ONE_SHARE, i] + d_share)
            * (state[ONE_SURPLUS, i] + step * vectors[ONE_D_SURPLUS, i])
            + (state[ONE_REST, i] - d_share)
            * (state[ONE_SLACK, i] + step * vectors[ONE_D_SLACK, i])
        )
    return gap / (2 * n)


@cython.cfunc
@cython.nogil
def correct(
    upper: cython.double[::1], vectors: cython.double[:, ::1], centre: cython.double
) -> cython.void:
    """Want this centre too, and undo the second order of the predicted step."""
    d_share: cython.double
    for i in range(upper.shape[0]):
        d_share = vectors[ONE_D_SHARE, i]
        vectors[WANT, i] += centre / upper[i] - d_share * vectors[ONE_D_SURPLUS, i]
        vectors[WANT_REST, i] += centre / upper[i] + d_share * vectors[ONE_D_SLACK, i]


@cython.cfunc
@cython.nogil
def only_centre(
    upper: cython.double[::1],
    state: cython.double[:, ::1],
    vectors: cython.double[:, ::1],
    centre: cython.double,
) -> cython.void:
    """Want this centre and nothing else."""
    for i in range(upper.shape[0]):
        vectors[WANT, i] = centre / upper[i] - state[ONE_SHARE, i] * state[ONE_SURPLUS, i]
        vectors[WANT_REST, i] = centre / upper[i] - state[ONE_REST, i] * state[ONE_SLACK, i]


def follow_path(
    rows: cython.double[:, ::1],
    upper: cython.double[::1],
    metric: cython.double[::1],
    u: cython.double[::1],
    state: cython.double[:, ::1],
    vectors: cython.double[:, ::1],
    small: cython.double[:, ::1],
    block: cython.double[:, ::1],
    target: cython.double,
    max_steps: cython.Py_ssize_t,
):
    """Go on until the optimum is `target` away, in place; return the number of steps."""
    m: cython.Py_ssize_t = rows.shape[1]
    taken: cython.Py_ssize_t = 0
    factor: cython.double[:, ::1] = small[:m]
    residual: cython.double[::1] = small[m]
    du: cython.double[::1] = small[m + 1]
    mu: cython.double
    away: cython.double
    step: cython.double
    predicted: cython.double
    ratio: cython.double
    d_share: cython.double
    with cython.nogil:
        while taken < max_steps:
            mu, away = linearise(rows, upper, metric, u, state, vectors, residual)
            if away <= target:
                break
            for i in range(upper.shape[0]):
                vectors[SCRATCH, i] = upper[i] * vectors[ONE_YIELD, i]
            weighted_gram(rows, vectors[SCRATCH], block, factor)
            for j in range(m):
                factor[j, j] += metric[j]
            factorise(factor, m)
            step = min(1.0, direction(rows, upper, state, vectors, factor, residual, du))
            predicted = mu_after(upper, state, vectors, step)
            ratio = predicted / mu
            correct(upper, vectors, mu * (ratio * ratio * ratio))
            step = min(1.0, BACK * direction(rows, upper, state, vectors, factor, residual, du))
            if mu_after(upper, state, vectors, step) >= mu:
                # Corrections can lead round in circles; a short enough step of Newton's cannot.
                only_centre(upper, state, vectors, CENTRED * mu)
                step = min(1.0, BACK * direction(rows, upper, state, vectors, factor, residual, du))
                while step > STALLED and mu_after(upper, state, vectors, step) >= mu:
                    step *= 0.5
            if not step > STALLED:
                break
            for j in range(m):
                u[j] += step * du[j]
            for i in range(upper.shape[0]):
                d_share = step * vectors[ONE_D_SHARE, i]
                state[ONE_SHARE, i] += d_share
                state[ONE_REST, i] -= d_share
                state[ONE_SURPLUS, i] += step * vectors[ONE_D_SURPLUS, i]
                state[ONE_SLACK, i] += step * vectors[ONE_D_SLACK, i]
            taken += 1
    return taken


# --- the examples of many problems; offsets are local, for then the compiler knows them


@cython.cfunc
@cython.nogil
def advance(
    tile: cython.floating[:, ::1],
    first: cython.floating[:, ::1],
    second: cython.floating[:, ::1],
    lanes: cython.floating[::1],
    weights: cython.floating[:, ::1],
    right: cython.floating[:, ::1],
) -> cython.void:
    """Make the step, and write the weights and the right side of the next Newton system."""
    one: cython.floating = 1.0
    at_bound: cython.Py_ssize_t = 0
    at_share: cython.Py_ssize_t = 128
    at_rest: cython.Py_ssize_t = 192
    at_surplus: cython.Py_ssize_t = 256
    at_slack: cython.Py_ssize_t = 320
    at_margin: cython.Py_ssize_t = 384
    at_yield: cython.Py_ssize_t = 448
    at_d_share: cython.Py_ssize_t = 512
    at_d_surplus: cython.Py_ssize_t = 576
    at_d_slack: cython.Py_ssize_t = 640
    at_gap: cython.Py_ssize_t = 0
    at_mass: cython.Py_ssize_t = 64
    at_step: cython.Py_ssize_t = 128
    for r in range(64):
        lanes[at_gap + r] = 0.0
        lanes[at_mass + r] = 0.0
    for i in range(tile.shape[0]):
        for r in range(64):
            step, upper = lanes[at_step + r], tile[i, at_bound + r]
            share = tile[i, at_share + r] + step * tile[i, at_d_share + r]
            rest = tile[i, at_rest + r] - step * tile[i, at_d_share + r]
            surplus = tile[i, at_surplus + r] + step * tile[i, at_d_surplus + r]
            slack = tile[i, at_slack + r] + step * tile[i, at_d_slack + r]
            margin = tile[i, at_margin + r] + step * (first[i, r] + second[i, r])
            per = one / (surplus * rest + slack * share)
            pull = upper * (share * rest * per)
            tile[i, at_share + r] = share
            tile[i, at_rest + r] = rest
            tile[i, at_surplus + r] = surplus
            tile[i, at_slack + r] = slack
            tile[i, at_margin + r] = margin
            tile[i, at_yield + r] = per
            weights[i, r] = pull
            right[i, r] = upper * share + pull * (one - margin)
            lanes[at_gap + r] += upper * (share * surplus + rest * slack)
            lanes[at_mass + r] += upper * share


@cython.cfunc
@cython.nogil
def predict(
    tile: cython.floating[:, ::1], first: cython.floating[:, ::1], lanes: cython.floating[::1]
) -> cython.void:
    """See how far the predicted step may go, and what the gap would be."""
    one: cython.floating = 1.0
    at_bound: cython.Py_ssize_t = 0
    at_share: cython.Py_ssize_t = 128
    at_rest: cython.Py_ssize_t = 192
    at_surplus: cython.Py_ssize_t = 256
    at_slack: cython.Py_ssize_t = 320
    at_margin: cython.Py_ssize_t = 384
    at_yield: cython.Py_ssize_t = 448
    at_steepest: cython.Py_ssize_t = 192
    at_quadratic: cython.Py_ssize_t = 256
    for r in range(64):
        lanes[at_steepest + r] = 0.0
        lanes[at_quadratic + r] = 0.0
    up: cython.floating
    down: cython.floating
    for i in range(tile.shape[0]):
        for r in range(64):
            share, rest = tile[i, at_share + r], tile[i, at_rest + r]
            pull = tile[i, at_yield + r] * (one - tile[i, at_margin + r] - first[i, r])
            up, down = pull * rest, pull * share  # the change of share by share and by rest
            steepest = larger(larger(-up, down), larger(one + up, one - down))
            lanes[at_steepest + r] = larger(lanes[at_steepest + r], steepest)
            bend = tile[i, at_slack + r] * (one - down) - tile[i, at_surplus + r] * (one + up)
            lanes[at_quadratic + r] += tile[i, at_bound + r] * (share * up * bend)


@cython.cfunc
@cython.nogil
def lanes_correct(
    tile: cython.floating[:, ::1],
    first: cython.floating[:, ::1],
    lanes: cython.floating[::1],
    right: cython.floating[:, ::1],
) -> cython.void:
    """Write what the centre and the second order add to the right side."""
    one: cython.floating = 1.0
    at_bound: cython.Py_ssize_t = 0
    at_share: cython.Py_ssize_t = 128
    at_rest: cython.Py_ssize_t = 192
    at_surplus: cython.Py_ssize_t = 256
    at_slack: cython.Py_ssize_t = 320
    at_margin: cython.Py_ssize_t = 384
    at_yield: cython.Py_ssize_t = 448
    at_centre: cython.Py_ssize_t = 320
    up: cython.floating
    down: cython.floating
    for i in range(tile.shape[0]):
        for r in range(64):
            share, rest, per = tile[i, at_share + r], tile[i, at_rest + r], tile[i, at_yield + r]
            pull = per * (one - tile[i, at_margin + r] - first[i, r])
            up, down = pull * rest, pull * share
            second = tile[i, at_surplus + r] * (up * (one + up)) + tile[i, at_slack + r] * (
                down * (one - down)
            )
            centred = lanes[at_centre + r] * (rest - share)
            right[i, r] = per * (centred + tile[i, at_bound + r] * (share * rest * second))


@cython.cfunc
@cython.nogil
def direct(
    tile: cython.floating[:, ::1],
    first: cython.floating[:, ::1],
    second: cython.floating[:, ::1],
    lanes: cython.floating[::1],
) -> cython.void:
    """Write the three steps of every example, and how far they may go."""
    one: cython.floating = 1.0
    at_per_bound: cython.Py_ssize_t = 64
    at_share: cython.Py_ssize_t = 128
    at_rest: cython.Py_ssize_t = 192
    at_surplus: cython.Py_ssize_t = 256
    at_slack: cython.Py_ssize_t = 320
    at_margin: cython.Py_ssize_t = 384
    at_yield: cython.Py_ssize_t = 448
    at_d_share: cython.Py_ssize_t = 512
    at_d_surplus: cython.Py_ssize_t = 576
    at_d_slack: cython.Py_ssize_t = 640
    at_steepest: cython.Py_ssize_t = 192
    at_centre: cython.Py_ssize_t = 320
    for r in range(64):
        lanes[at_steepest + r] = 0.0
    up: cython.floating
    down: cython.floating
    for i in range(tile.shape[0]):
        for r in range(64):
            share, rest, per = tile[i, at_share + r], tile[i, at_rest + r], tile[i, at_yield + r]
            surplus, slack = tile[i, at_surplus + r], tile[i, at_slack + r]
            want = one - tile[i, at_margin + r] - first[i, r]
            up, down = per * want * rest, per * want * share
            bend, bend_rest = surplus * (up * (one + up)), slack * (down * (one - down))
            centre = lanes[at_centre + r] * tile[i, at_per_bound + r]
            both = share * rest
            d_share = per * (
                both * (want - second[i, r] + bend + bend_rest) + centre * (rest - share)
            )
            per_both, per_margins = one / both, one / (surplus * slack)
            up, down = d_share * (rest * per_both), d_share * (share * per_both)
            d_surplus = bend - surplus - surplus * up + centre * (rest * per_both)
            d_slack = slack * down - slack - bend_rest + centre * (share * per_both)
            shrink = larger(-d_surplus * (slack * per_margins), -d_slack * (surplus * per_margins))
            steepest = larger(larger(-up, down), shrink)
            lanes[at_steepest + r] = larger(lanes[at_steepest + r], steepest)
            tile[i, at_d_share + r] = d_share
            tile[i, at_d_surplus + r] = d_surplus
            tile[i, at_d_slack + r] = d_slack


@cython.cfunc
@cython.nogil
def subtract_products(
    into: cython.floating[:, ::1],
    e: cython.Py_ssize_t,
    left: cython.floating[:, ::1],
    p: cython.Py_ssize_t,
    right: cython.floating[:, ::1],
    q: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
) -> cython.void:
    """Subtract Σ left·right over `count` neighbouring entries, four at a time."""
    done = 0
    while done + 4 <= count:
        for r in range(64):
            into[e, r] -= (
                left[p + done, r] * right[q + done, r]
                + left[p + done + 1, r] * right[q + done + 1, r]
            ) + (
                left[p + done + 2, r] * right[q + done + 2, r]
                + left[p + done + 3, r] * right[q + done + 3, r]
            )
        done += 4
    while done < count:
        for r in range(64):
            into[e, r] -= left[p + done, r] * right[q + done, r]
        done += 1


@cython.cfunc
@cython.nogil
def factorise_packed(
    packed: cython.floating[:, ::1],
    m: cython.Py_ssize_t,
    whole: cython.floating[::1],
    lost: cython.floating,
) -> cython.void:
    """Overwrite packed matrices by their factors; `whole` is room for one number per lane.

    A pivot that is `lost` beside its diagonal is rounding.
    """
    for i in range(m):
        start = i * (i + 1) // 2
        for r in range(64):
            whole[r] = packed[start + i, r]
        for j in range(i + 1):
            row = j * (j + 1) // 2
            subtract_products(packed, start + j, packed, start, packed, row, j)
            if j < i:
                for r in range(64):
                    packed[start + j, r] *= packed[row + j, r]
        for r in range(64):
            is_left: cython.bint = packed[start + i, r] > lost * whole[r]
            packed[start + i, r] = 1.0 / sqrt(packed[start + i, r]) if is_left else 0.0


@cython.cfunc
@cython.nogil
def solve_packed(packed: cython.floating[:, ::1], right: cython.floating[:, ::1]) -> cython.void:
    """Solve in place with the factors that `factorise_packed` left; one row per unknown."""
    m = right.shape[0]
    for i in range(m):
        start = i * (i + 1) // 2
        subtract_products(right, i, packed, start, right, 0, i)
        for r in range(64):
            right[i, r] *= packed[start + i, r]
    for i in range(m - 1, -1, -1):
        start = i * (i + 1) // 2
        for r in range(64):
            right[i, r] *= packed[start + i, r]
        for k in range(i):
            for r in range(64):
                right[k, r] -= packed[start + k, r] * right[i, r]


# --- many problems


@cython.cfunc
@cython.nogil
def enter(
    bounds: cython.floating[:, ::1],
    start: cython.floating[::1],
    margin: cython.floating[::1],
    tile: cython.floating[:, ::1],
    lanes: cython.floating[::1],
    weights: cython.floating[:, ::1],
    right: cython.floating[:, ::1],
    u: cython.floating[:, ::1],
    centre: cython.double,
    far: cython.double,
    who: cython.Py_ssize_t,
    r: cython.Py_ssize_t,
) -> cython.void:
    """Put a problem into lane r, with all that `advance` writes.

    With δ = margin − 1 and ν = µ/U the central path has surplus = ν + (√(δ² + 4ν²) + δ)/2 and
    slack = surplus − δ; the smaller of the two by its product with the larger, and no digit is
    lost.
    """
    n: cython.Py_ssize_t = tile.shape[0]
    live: cython.Py_ssize_t = 0
    total: cython.double = 0.0
    mass: cython.double = 0.0
    mu: cython.double
    nu: cython.double
    off: cython.double
    root: cython.double
    large: cython.double
    small: cython.double
    bound: cython.double
    share: cython.double
    rest: cython.double
    for i in range(n):
        total += bounds[who, i]
        if bounds[who, i] > 0.0:
            live += 1
    mu = centre * total / live
    for i in range(n):
        bound = bounds[who, i]
        tile[i, BOUND + r] = bound
        tile[i, MARGIN + r] = margin[i]
        tile[i, D_SHARE + r] = 0.0
        tile[i, D_SURPLUS + r] = 0.0
        tile[i, D_SLACK + r] = 0.0
        tile[i, PER_BOUND + r] = 0.0
        tile[i, SURPLUS + r] = far
        tile[i, SLACK + r] = far
        tile[i, SHARE + r] = 0.5
        tile[i, REST + r] = 0.5
        if bound > 0.0:
            nu = mu / bound
            off = fabs(margin[i] - 1.0)
            root = sqrt(off * off + 4.0 * nu * nu)
            large = nu + 0.5 * (root + off)
            small = nu + 2.0 * nu * nu / (root + off)
            tile[i, PER_BOUND + r] = 1.0 / bound
            if margin[i] > 1.0:
                tile[i, SURPLUS + r] = large
                tile[i, SLACK + r] = small
            else:
                tile[i, SURPLUS + r] = small
                tile[i, SLACK + r] = large
            tile[i, SHARE + r] = nu / tile[i, SURPLUS + r]
            tile[i, REST + r] = nu / tile[i, SLACK + r]
        share = tile[i, SHARE + r]
        rest = tile[i, REST + r]
        tile[i, YIELD + r] = 1.0 / (tile[i, SURPLUS + r] * rest + tile[i, SLACK + r] * share)
        weights[i, r] = bound * (share * rest * tile[i, YIELD + r])
        right[i, r] = bound * share + weights[i, r] * (1.0 - margin[i])
        mass += bound * share
    lanes[GAP + r] = 2.0 * mu * live
    lanes[MASS + r] = mass
    lanes[LEFT + r] = 1.0
    for j in range(start.shape[0]):
        u[j, r] = start[j]


@cython.cfunc
@cython.nogil
def slip(tile: cython.floating[:, ::1], r: cython.Py_ssize_t) -> cython.double:
    """Return the smallest distance to 1 of a margin that is 1 at the optimum of lane r."""
    smallest: cython.double = INFINITY
    behind: cython.double
    ahead: cython.double
    for i in range(tile.shape[0]):
        behind = tile[i, SURPLUS + r]
        ahead = tile[i, SLACK + r]
        if (
            tile[i, SHARE + r] > ON_THE_MARGIN * behind
            and tile[i, REST + r] > ON_THE_MARGIN * ahead
            and tile[i, BOUND + r] > 0.0
        ):
            smallest = min(smallest, behind + ahead)
    return smallest


@cython.cfunc
@cython.nogil
def stand(
    tile: cython.floating[:, ::1],
    shares: cython.floating[:, ::1],
    who: cython.Py_ssize_t,
    r: cython.Py_ssize_t,
) -> cython.void:
    """Write the shares of lane r: 0 or 1 where a margin is farther from 1 than α from its bound."""
    for i in range(tile.shape[0]):
        shares[who, i] = tile[i, SHARE + r]
        if tile[i, SURPLUS + r] > tile[i, SHARE + r]:
            shares[who, i] = 0.0
        elif tile[i, SLACK + r] > tile[i, REST + r]:
            shares[who, i] = 1.0


@cython.cfunc
@cython.nogil
def aim(lanes: cython.floating[::1], n: cython.Py_ssize_t) -> cython.void:
    """Choose the µ that each lane's corrected step aims at, from its predicted step."""
    gap: cython.double
    step: cython.double
    ratio: cython.double
    for r in range(64):
        gap = lanes[GAP + r]
        step = min(1.0, 1.0 / lanes[STEEPEST + r])
        ratio = ((1.0 - step) * gap + step * step * lanes[QUADRATIC + r]) / gap
        lanes[CENTRE + r] = gap / (2 * n) * (ratio * ratio * ratio)


@cython.cfunc
@cython.nogil
def measure_steps(lanes: cython.floating[::1]) -> cython.void:
    """Choose the length of each lane's step: 0 where it leads nowhere."""
    step: cython.double
    for r in range(64):
        step = min(1.0, LANES_BACK / lanes[STEEPEST + r])
        lanes[STEP + r] = step if step > STALLED else 0.0
        lanes[LEFT + r] *= 1.0 - lanes[STEP + r]


def follow_paths(
    rows: cython.floating[:, ::1],
    columns: cython.floating[:, ::1],
    products: cython.floating[:, ::1],
    metric: cython.floating[::1],
    start: cython.floating[::1],
    bounds: cython.floating[:, ::1],
    pulls: cython.floating[:, ::1],
    solutions: cython.floating[:, ::1],
    shares: cython.floating[:, ::1],
    gaps: cython.floating[::1],
    slips: cython.floating[::1],
    tile: cython.floating[:, ::1],
    lanes: cython.floating[::1],
    first: cython.floating[:, ::1],
    second: cython.floating[:, ::1],
    weights: cython.floating[:, ::1],
    right: cython.floating[:, ::1],
    packed: cython.floating[:, ::1],
    u: cython.floating[:, ::1],
    du: cython.floating[:, ::1],
    more: cython.floating[:, ::1],
    centre: cython.double,
    tolerance: cython.double,
    feasible: cython.double,
    max_steps: cython.Py_ssize_t,
):
    """Solve every problem; return the number of steps that the lanes took together.

    The rows of `pulls` are what examples at their bounds, which have no row here, add to Rᵀα.  A
    problem has arrived where its gap is at most `tolerance` for each unit of Σα and of its first
    violation no more than `feasible` is left.  Numbers are written always, never NaN: a gap of ∞
    with the start where that much is left, and the shares where there is a row for them.
    """
    margin: cython.floating[::1] = np.empty_like(np.asarray(weights)[:, 0])
    whole: cython.floating[::1] = np.empty_like(np.asarray(weights)[0])
    owner: cython.longlong[::1] = np.full(64, NOBODY, dtype=np.int64)
    taken: cython.longlong[::1] = np.zeros(64, dtype=np.int64)
    n: cython.Py_ssize_t = rows.shape[0]
    m: cython.Py_ssize_t = metric.shape[0]
    waiting: cython.Py_ssize_t = 0
    rounds: cython.Py_ssize_t = 0
    inside: cython.Py_ssize_t = 1
    who: cython.Py_ssize_t
    far: cython.double = FAR
    lost: cython.floating = LOST
    total: cython.double
    has_arrived: cython.bint
    is_bound: cython.bint
    if cython.floating is cython.float:
        far = FAR_SINGLE
        lost = LOST_SINGLE
    with cython.nogil:
        for i in range(n):
            total = 0.0
            for j in range(m):
                total += rows[i, j] * start[j]
            margin[i] = total
        for r in range(64):
            lanes[STEP + r] = 0.0
        while inside > 0:
            inside = 0
            for r in range(64):
                who = owner[r]
                if who != NOBODY:
                    is_bound = lanes[LEFT + r] <= feasible
                    has_arrived = is_bound and lanes[GAP + r] <= tolerance * lanes[MASS + r]
                    if has_arrived or taken[r] == max_steps or lanes[STEP + r] == 0.0:
                        is_bound = is_bound and isfinite(lanes[GAP + r])
                        for j in range(m):
                            solutions[who, j] = u[j, r] if is_bound else start[j]
                        gaps[who] = lanes[GAP + r] if is_bound else INFINITY
                        slips[who] = slip(tile, r)
                        if shares.shape[0] > 0:
                            stand(tile, shares, who, r)
                        owner[r] = NOBODY
                if owner[r] == NOBODY and waiting < bounds.shape[0]:
                    enter(
                        bounds,
                        start,
                        margin,
                        tile,
                        lanes,
                        weights,
                        right,
                        u,
                        centre,
                        far,
                        waiting,
                        r,
                    )
                    owner[r] = waiting
                    taken[r] = 0
                    waiting += 1
                taken[r] += 1
                if owner[r] != NOBODY:
                    inside += 1
            if inside == 0:
                break
            multiply(products, weights, packed)
            multiply(columns, right, du)
            for j in range(m):
                for r in range(64):
                    packed[j * (j + 3) // 2, r] += metric[j]
                    du[j, r] -= metric[j] * u[j, r]
            for r in range(64):
                if owner[r] != NOBODY:
                    for j in range(m):
                        du[j, r] += pulls[owner[r], j]
            factorise_packed(packed, m, whole, lost)
            solve_packed(packed, du)
            multiply(rows, du, first)
            predict(tile, first, lanes)
            aim(lanes, n)
            lanes_correct(tile, first, lanes, right)
            multiply(columns, right, more)
            solve_packed(packed, more)
            multiply(rows, more, second)
            direct(tile, first, second, lanes)
            measure_steps(lanes)
            for j in range(m):
                for r in range(64):
                    u[j, r] += lanes[STEP + r] * (du[j, r] + more[j, r])
            advance(tile, first, second, lanes, weights, right)
            rounds += 1
    return rounds
