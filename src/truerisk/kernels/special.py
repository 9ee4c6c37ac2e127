"""The incomplete beta function and the normal quantile: what intervals need without SciPy.

Problem   I(a, b; x), the regularised incomplete beta function; θ, the log-odds of x, with
          I(a, b; x) = tail; and z with Φ(z) = p
Given     x and 1 − x, each precise however small, and the kernel xᵃ (1 − x)ᵇ / B(a, b)
Method    I is the kernel times a continued fraction, of which every other convergent is taken; it
          needs about √(a + b) of them below the mean, and above the mean 1 − I(b, a; 1 − x) does.
          θ: Newton's steps on log I − log tail, each kept inside the bracket that all earlier
          values leave; a step that would leave it is replaced by halving.
          z starts at a rational approximation good to 5e-4 and takes two of Halley's steps
Source    DLMF 8.17.22; A. R. DiDonato and A. H. Morris, ACM TOMS 18, 360-373, 1992, their λ form;
          C. Loader, "Fast and accurate computation of binomial probabilities", 2000 (the kernel);
          M. Abramowitz and I. A. Stegun, 26.2.23
Flags     exact
"""

import cython
from cython.cimports.libc.math import erfc, exp, fabs, lgamma, log, log1p, sqrt

CLOSE = cython.declare(cython.double, 1e-16)
MAX_CONVERGENTS = cython.declare(cython.Py_ssize_t, 20_000_000)  # a + b up to 2⁵³ needs fewer
ROOT_HALF = cython.declare(cython.double, 0.7071067811865476)
ROOT_TWO_PI = cython.declare(cython.double, 2.5066282746310002)
HALF_LOG_TWO_PI = cython.declare(cython.double, 0.9189385332046727)
SHORT = cython.declare(cython.double, 16.0)  # from here on Stirling's series is exact
WIDEST = cython.declare(cython.double, 740.0)  # beyond these log-odds float64 has no proportion
LOWEST = cython.declare(cython.double, -1e308)  # stands for log 0
NEWTON_STEPS = cython.declare(cython.Py_ssize_t, 30)  # then halving, which needs at most 64 more
MAX_STEPS = cython.declare(cython.Py_ssize_t, 100)
NEAR = cython.declare(cython.double, 1e-6)  # a residual that one more step squares away


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


@cython.cfunc
@cython.inline
@cython.nogil
def tail_of(
    a: cython.double,
    b: cython.double,
    x: cython.double,
    y: cython.double,
    kernel: cython.double,
) -> cython.double:
    """Return I(a, b; x), given y = 1 − x and the kernel."""
    if a * y - b * x + (y - x) >= 0.0:
        return kernel * fraction(a, b, x, y)
    return 1.0 - kernel * fraction(b, a, y, x)


@cython.cfunc
@cython.inline
@cython.nogil
def log_of(value: cython.double) -> cython.double:
    """Return the logarithm; of 0 a number below all others."""
    return log(value) if value > 0.0 else LOWEST


@cython.cfunc
@cython.inline
@cython.nogil
def logistic(log_odds: cython.double) -> cython.double:
    """Return 1 / (1 + exp(−θ)), precise however small."""
    shrunk: cython.double = exp(-fabs(log_odds))
    return (shrunk if log_odds < 0.0 else 1.0) / (1.0 + shrunk)


@cython.cfunc
@cython.inline
@cython.nogil
def stirling_error(a: cython.double) -> cython.double:
    """Return what Stirling's formula leaves of log Γ(a)."""
    inverse: cython.double
    series: cython.double
    if a < SHORT:
        return lgamma(a) - (a - 0.5) * log(a) + a - HALF_LOG_TWO_PI
    inverse = 1.0 / (a * a)
    series = 1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0)
    return (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * series)) / a


@cython.cfunc
@cython.inline
@cython.nogil
def log_peak(a: cython.double, b: cython.double) -> cython.double:
    """Return the logarithm of the kernel where it is largest, at x = a / (a + b)."""
    scale: cython.double = 0.5 * (log(a) + log(b) - log(a + b))
    return scale - HALF_LOG_TWO_PI + (stirling_error(a + b) - stirling_error(a) - stirling_error(b))


@cython.cfunc
@cython.inline
@cython.nogil
def deviance_part(
    observed: cython.double, excess: cython.double, expected: cython.double
) -> cython.double:
    """Return o·log(o/e) + e − o, with excess = o − e better than the difference would be."""
    share: cython.double = -excess / observed
    # Far below, 1 + share has lost the digits that the ratio still has.
    if share < -0.5:
        return observed * (share - log_of(expected / observed))
    return observed * (share - log1p(share))


@cython.cfunc
@cython.inline
@cython.nogil
def deviance(
    a: cython.double, b: cython.double, x: cython.double, y: cython.double
) -> cython.double:
    """Return (a + b) KL(a / (a + b) ‖ x): how far the kernel has fallen from its peak, in logs."""
    excess: cython.double = a * y - b * x
    return deviance_part(a, excess, (a + b) * x) + deviance_part(b, -excess, (a + b) * y)


@cython.cfunc
@cython.inline
@cython.nogil
def normal_quantile(p: cython.double) -> cython.double:
    """Return the z with Φ(z) = p, for p strictly between 0 and 1."""
    tail: cython.double = p if p < 0.5 else 1.0 - p
    t: cython.double = sqrt(-2.0 * log(tail))
    step: cython.double
    z: cython.double = (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    ) - t
    for _ in range(2):
        step = (0.5 * erfc(-z * ROOT_HALF) - tail) * ROOT_TWO_PI * exp(0.5 * z * z)
        z -= step / (1.0 + 0.5 * z * step)
    return z if p < 0.5 else -z


@cython.cfunc
@cython.inline
@cython.nogil
def first_guess(
    a: cython.double, b: cython.double, tail: cython.double, peak: cython.double
) -> cython.double:
    """Guess by Wilson's ends; for a small first shape by the leading term xᵃ / (a B(a, b))."""
    total: cython.double = a + b
    z: cython.double
    count: cython.double
    upper: cython.double
    guess: cython.double
    if a < 2.0 and b >= 1.0:
        guess = a * log(a / total) + b * log(b / total) - peak
        guess = (log_of(tail) + log(a) + guess) / a
        return guess if guess < 0.0 else 0.0
    z = normal_quantile(tail) if 0.0 < tail < 1.0 else -40.0
    total = total - 1.0 if total > 2.0 else 0.5 * total
    count = a - 0.5 if a > 2.0 / 3.0 else 0.25 * a
    count = count if count < total else total
    upper = sqrt(count * (1.0 - count / total) + 0.25 * z * z)
    upper = (count + 0.5 * z * z + fabs(z) * upper) / (total + z * z)
    # The roots multiply to k² / (n (n + z²)): the smaller one, with no difference taken.
    guess = upper if z >= 0.0 else count / total * count / (total + z * z) / upper
    guess = guess if guess > 1e-300 else 1e-300
    guess = guess if guess < 1.0 - 1e-16 else 1.0 - 1e-16
    return log(guess) - log1p(-guess)


@cython.cfunc
@cython.nogil
def quantile_of(a: cython.double, b: cython.double, tail: cython.double) -> cython.double:
    """Return the log-odds of the `tail` quantile of the beta distribution."""
    peak: cython.double = log_peak(a, b)
    target: cython.double = log_of(tail)
    low: cython.double = -WIDEST
    high: cython.double = WIDEST
    theta: cython.double = first_guess(a, b, tail, peak)
    here: cython.double
    x: cython.double
    y: cython.double
    log_kernel: cython.double
    value: cython.double
    residual: cython.double
    slope: cython.double
    inside: cython.bint
    step: cython.Py_ssize_t
    theta = theta if theta > low else low
    theta = theta if theta < high else high
    for step in range(MAX_STEPS):
        here = theta
        x = logistic(here)
        y = logistic(-here)
        log_kernel = peak - deviance(a, b, x, y)
        value = log_of(tail_of(a, b, x, y, exp(log_kernel)))
        residual = value - target
        if residual < 0.0:
            low = here
        else:
            high = here
        inside = False
        if value > LOWEST:
            slope = exp(log_kernel - value)
            if slope > 0.0:
                theta = here - residual / slope
                inside = low <= theta <= high
        if not inside or step >= NEWTON_STEPS:
            theta = 0.5 * (low + high)
        if (inside and fabs(residual) <= NEAR) or high - low <= 2e-16 * fabs(here):
            break
    return theta


def beta_quantiles(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    tail: cython.const[cython.double][::1],
    log_odds: cython.double[::1],
):
    """Write the log-odds of the `tail` quantile of the beta distribution for each entry."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            log_odds[i] = quantile_of(a[i], b[i], tail[i])


def log_peaks(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    peaks: cython.double[::1],
):
    """Write the logarithm of the kernel where it is largest for each entry."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            peaks[i] = log_peak(a[i], b[i])


def deviances(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    log_odds: cython.const[cython.double][::1],
    fallen: cython.double[::1],
):
    """Write how far the kernel has fallen from its peak, in logs, for each entry."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            fallen[i] = deviance(a[i], b[i], logistic(log_odds[i]), logistic(-log_odds[i]))


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
            tails[i] = tail_of(a[i], b[i], x[i], y[i], kernel[i])


def normal_quantiles(p: cython.const[cython.double][::1], quantiles: cython.double[::1]):
    """Write the z with Φ(z) = p for each entry strictly between 0 and 1."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(p.shape[0]):
            quantiles[i] = normal_quantile(p[i])


def normal_tails(z: cython.const[cython.double][::1], tails: cython.double[::1]):
    """Write Φ(z) for each entry."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(z.shape[0]):
            tails[i] = 0.5 * erfc(-z[i] * ROOT_HALF)
