"""The incomplete beta function and the normal quantile: what intervals need without SciPy.

Problem   I(a, b; x), the regularised incomplete beta function, and z with Φ(z) = p
Given     x and 1 − x, each precise however small, and the kernel xᵃ (1 − x)ᵇ / B(a, b)
Method    I is the kernel times a continued fraction, of which every other convergent is taken; it
          needs about √(a + b) of them below the mean, and above the mean 1 − I(b, a; 1 − x) does.
          z starts at a rational approximation good to 5e-4 and takes two of Halley's steps
Source    DLMF 8.17.22; A. R. DiDonato and A. H. Morris, ACM TOMS 18, 360-373, 1992, their λ form;
          M. Abramowitz and I. A. Stegun, 26.2.23
Flags     exact
"""

import cython
from cython.cimports.libc.math import erfc, exp, fabs, log, sqrt

CLOSE = cython.declare(cython.double, 1e-16)
MAX_CONVERGENTS = cython.declare(cython.Py_ssize_t, 20_000_000)  # a + b up to 2⁵³ needs fewer
ROOT_HALF = cython.declare(cython.double, 0.7071067811865476)
ROOT_TWO_PI = cython.declare(cython.double, 2.5066282746310002)


@cython.cfunc
@cython.inline
@cython.nogil
def fraction(
    a: cython.double, b: cython.double, x: cython.double, y: cython.double
) -> cython.double:
    """Return I(a, b; x) divided by its kernel; x is at most about the mean, y is 1 − x."""
    first: cython.double = 1.0 + (a * y - b * x)  # a − (a + b) x, without its rounding
    ratio: cython.double = b / a
    unit: cython.double = 1.0 + 1.0 / a
    numerator: cython.double = 1.0
    numerator_before: cython.double = 0.0
    denominator: cython.double = first / unit
    denominator_before: cython.double = 1.0
    value: cython.double = unit / first
    value_before: cython.double
    step: cython.double = 1.0  # 1 + (n − 1) / a
    width: cython.double = a + 1.0  # a + 2 n − 1
    n: cython.double = 0.0
    share: cython.double
    weight: cython.double
    alpha: cython.double
    beta: cython.double
    next_value: cython.double
    for _ in range(MAX_CONVERGENTS):
        n += 1.0
        weight = n * (b - n) * x
        share = a / width
        alpha = (step * (step + ratio) * share * share) * (weight * x)
        step = n / a + 1.0
        beta = n + weight / width + step / (unit + 2.0 * (n / a)) * (first + n * (y + 1.0))
        width += 2.0
        next_value = alpha * numerator_before + beta * numerator
        numerator_before = numerator
        numerator = next_value
        next_value = alpha * denominator_before + beta * denominator
        denominator_before = denominator
        denominator = next_value
        value_before = value
        value = numerator / denominator
        if fabs(value - value_before) <= CLOSE * value:
            break
        # The same convergent, with numbers that stay near 1.
        numerator_before /= denominator
        denominator_before /= denominator
        numerator = value
        denominator = 1.0
    return value


def beta_tails(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    x: cython.const[cython.double][::1],
    y: cython.const[cython.double][::1],
    kernel: cython.const[cython.double][::1],
    tails: cython.double[::1],
):
    """Write I(a, b; x) for each entry, given y = 1 − x and the kernel."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            if a[i] * y[i] - b[i] * x[i] + (y[i] - x[i]) >= 0.0:
                tails[i] = kernel[i] * fraction(a[i], b[i], x[i], y[i])
            else:
                tails[i] = 1.0 - kernel[i] * fraction(b[i], a[i], y[i], x[i])


def normal_quantiles(p: cython.const[cython.double][::1], quantiles: cython.double[::1]):
    """Write the z with Φ(z) = p for each entry strictly between 0 and 1."""
    i: cython.Py_ssize_t
    tail: cython.double
    t: cython.double
    z: cython.double
    step: cython.double
    with cython.nogil:
        for i in range(p.shape[0]):
            tail = p[i] if p[i] < 0.5 else 1.0 - p[i]
            t = sqrt(-2.0 * log(tail))
            z = (2.515517 + t * (0.802853 + t * 0.010328)) / (
                1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
            ) - t
            for _ in range(2):
                step = (0.5 * erfc(-z * ROOT_HALF) - tail) * ROOT_TWO_PI * exp(0.5 * z * z)
                z -= step / (1.0 + 0.5 * z * step)
            quantiles[i] = z if p[i] < 0.5 else -z


def normal_tails(z: cython.const[cython.double][::1], tails: cython.double[::1]):
    """Write Φ(z) for each entry."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(z.shape[0]):
            tails[i] = 0.5 * erfc(-z[i] * ROOT_HALF)
