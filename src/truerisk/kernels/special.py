"""The incomplete beta function and the normal quantile: what intervals need without SciPy.

Problem   I(a, b; x), the regularised incomplete beta function; θ with I(a, b; x) = tail; z with
          Φ(z) = p
Given     θ, the log-odds of x: x = 1 / (1 + exp(−θ)) and 1 − x are each precise however small
Kernel    xᵃ (1 − x)ᵇ / B(a, b), the slope of I in log-odds: its peak, at x = a / (a + b), by
          Stirling's series, less (a + b) KL(a / (a + b) ‖ x), without cancellation
Tails     I is the kernel times a continued fraction, of which every other convergent is taken; it
          needs about √(a + b) of them below the mean, and above the mean 1 − I(b, a; 1 − x) does
Quantile  Newton's steps on log I − log tail, each kept inside the bracket that all earlier
          evaluations leave; a step that would leave it is replaced by halving.  log I is concave in
          θ, and steps from the left converge from anywhere.  z starts at a rational approximation
          good to 5e-4 and takes two of Halley's steps
Source    DLMF 8.17.22; A. R. DiDonato and A. H. Morris, ACM TOMS 18, 360-373, 1992, their λ form;
          C. Loader, "Fast and accurate computation of binomial probabilities", 2000;
          M. Abramowitz and I. A. Stegun, 26.2.23
Flags     exact
"""

import cython
from cython.cimports.libc.math import erfc, exp, fabs, lgamma, log, log1p, sqrt

SMALLEST = cython.declare(cython.double, 1e-100)  # a smaller shape has the same quantiles
SHORT = cython.declare(cython.double, 16.0)  # from here on Stirling's series is exact
WIDEST = cython.declare(cython.double, 740.0)  # beyond these log-odds there is no proportion left
NEWTON_STEPS = cython.declare(cython.Py_ssize_t, 30)  # then halving only, which needs at most 64
TOLERANCE = cython.declare(cython.double, 1e-6)  # one more Newton step, which squares it, is last
INFINITY = cython.declare(cython.double, float("inf"))
UNDEFINED = cython.declare(cython.double, float("nan"))
HALF_LOG_TWO_PI = cython.declare(cython.double, 0.9189385332046728)
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


@cython.cfunc
@cython.nogil
def normal_quantile(p: cython.double) -> cython.double:
    """Return the z with Φ(z) = p, for p strictly between 0 and 1."""
    tail: cython.double = p if p < 0.5 else 1.0 - p
    t: cython.double = sqrt(-2.0 * log(tail))
    z: cython.double = (2.515517 + t * (0.802853 + t * 0.010328)) / (
        1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))
    ) - t
    step: cython.double
    for _ in range(2):
        step = (0.5 * erfc(-z * ROOT_HALF) - tail) * ROOT_TWO_PI * exp(0.5 * z * z)
        z -= step / (1.0 + 0.5 * z * step)
    return z if p < 0.5 else -z


@cython.cfunc
@cython.inline
@cython.nogil
def proportion(log_odds: cython.double) -> cython.double:
    """Return 1 / (1 + exp(−θ))."""
    shrunk: cython.double = exp(-fabs(log_odds))
    return (shrunk if log_odds < 0.0 else 1.0) / (1.0 + shrunk)


@cython.cfunc
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
@cython.nogil
def log_peak(a: cython.double, b: cython.double) -> cython.double:
    """Return the logarithm of the kernel where it is largest."""
    stirling: cython.double = stirling_error(a + b) - stirling_error(a) - stirling_error(b)
    return 0.5 * (log(a) + log(b) - log(a + b)) - HALF_LOG_TWO_PI + stirling


@cython.cfunc
@cython.inline
@cython.nogil
def fall(observed: cython.double, excess: cython.double, expected: cython.double) -> cython.double:
    """Return o·log(o/e) + e − o, with excess = o − e known better than the difference would be."""
    share: cython.double = -excess / observed
    if share >= -0.5:
        return observed * (share - log1p(share))
    # Far below, 1 + share has lost the digits that the ratio still has.
    return observed * (share - log(expected / observed)) if expected > 0.0 else INFINITY


@cython.cfunc
@cython.nogil
def deviance(
    a: cython.double, b: cython.double, x: cython.double, y: cython.double
) -> cython.double:
    """Return how far the kernel has fallen from its peak, in logarithms."""
    excess: cython.double = a * y - b * x
    return fall(a, excess, (a + b) * x) + fall(b, -excess, (a + b) * y)


@cython.cfunc
@cython.inline
@cython.nogil
def beta_tail(
    a: cython.double,
    b: cython.double,
    x: cython.double,
    y: cython.double,
    kernel: cython.double,
) -> cython.double:
    """Return I(a, b; x)."""
    if a * y - b * x + (y - x) >= 0.0:
        return kernel * fraction(a, b, x, y)
    return 1.0 - kernel * fraction(b, a, y, x)


@cython.cfunc
@cython.nogil
def first_guess(
    a: cython.double, b: cython.double, tail: cython.double, peak: cython.double
) -> cython.double:
    """Guess by the score interval; for a small first shape by the leading term xᵃ/(a B(a, b))."""
    total: cython.double = a + b
    count: cython.double
    z: cython.double
    square: cython.double
    guess: cython.double
    if a < 2.0 and b >= 1.0:
        guess = a * log(a / total) + b * log(b / total) - peak
        return min((log(tail) + log(a) + guess) / a, 0.0)
    z = -normal_quantile(tail)
    square = z * z
    total = max(total - 1.0, 0.5 * total)
    count = min(max(a - 0.5, 0.25 * a), total)
    guess = count + square / 2.0 + fabs(z) * sqrt(count * (1.0 - count / total) + square / 4.0)
    if z > 0.0:
        guess = count / total * count / guess
    else:
        guess = guess / (total + square)
    guess = min(max(guess, 1e-300), 1.0 - 1e-16)
    return log(guess) - log1p(-guess)


@cython.cfunc
@cython.nogil
def beta_quantile(a: cython.double, b: cython.double, tail: cython.double) -> cython.double:
    """Return the log-odds at which I(a, b; x) is the tail."""
    peak: cython.double = log_peak(a, b)
    target: cython.double
    low: cython.double = -WIDEST
    high: cython.double = WIDEST
    log_odds: cython.double
    here: cython.double
    x: cython.double
    y: cython.double
    kernel: cython.double
    value: cython.double
    residual: cython.double
    inside: cython.bint
    step: cython.Py_ssize_t
    if not 0.0 < tail < 1.0:
        return UNDEFINED
    target = log(tail)
    log_odds = min(max(first_guess(a, b, tail, peak), low), high)
    for step in range(NEWTON_STEPS + 70):
        here = log_odds
        x = proportion(here)
        y = proportion(-here)
        kernel = exp(peak - deviance(a, b, x, y))
        value = beta_tail(a, b, x, y, kernel)
        residual = log(value) - target if value > 0.0 else -INFINITY
        if residual < 0.0:
            low = here
        else:
            high = here
        inside = False
        if value > 0.0 and kernel > 0.0:
            log_odds = here - residual * value / kernel
            inside = low <= log_odds <= high
        if not inside or step >= NEWTON_STEPS:
            log_odds = 0.5 * (low + high)
        if (inside and fabs(residual) <= TOLERANCE) or high - low <= 2e-16 * fabs(here):
            break
    return log_odds


def log_peaks(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    peaks: cython.double[::1],
):
    """Write the logarithm of the largest value of each kernel."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            peaks[i] = log_peak(a[i], b[i])


def deviances(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    log_odds: cython.const[cython.double][::1],
    falls: cython.double[::1],
):
    """Write how far each kernel has fallen from its peak, in logarithms."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            falls[i] = deviance(a[i], b[i], proportion(log_odds[i]), proportion(-log_odds[i]))


def beta_tails(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    log_odds: cython.const[cython.double][::1],
    tails: cython.double[::1],
):
    """Write I(a, b; x) for each entry."""
    i: cython.Py_ssize_t
    x: cython.double
    y: cython.double
    with cython.nogil:
        for i in range(a.shape[0]):
            x = proportion(log_odds[i])
            y = proportion(-log_odds[i])
            tails[i] = beta_tail(
                a[i], b[i], x, y, exp(log_peak(a[i], b[i]) - deviance(a[i], b[i], x, y))
            )


def beta_quantiles(
    a: cython.const[cython.double][::1],
    b: cython.const[cython.double][::1],
    tails: cython.const[cython.double][::1],
    log_odds: cython.double[::1],
):
    """Write the log-odds of each quantile; NaN where a tail is not strictly between 0 and 1."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(a.shape[0]):
            log_odds[i] = beta_quantile(max(a[i], SMALLEST), max(b[i], SMALLEST), tails[i])


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
