"""The gamma interval of a mean of numbers that are not negative, and skewed to the right."""

import math

from truerisk.aliases import Ends
from truerisk.intervals.normal import normal_quantile

LARGE = 1e5  # shapes from here on have Wilson and Hilferty's quantile, right to 1e-8
STEPS = 100  # at most; Newton's need a handful
SETTLED = 1e-11  # of log x: rounding of the distribution function allows no more
EXACT = 1e-15


def gamma_ends(mean: float, variance: float, event: float, *, level: float) -> Ends:
    r"""Give the ends of Fay and Feuer's gamma interval, with half a further event.

    .. math:: [\,G(m, V, t),\; G(m + w/2,\, V + w^2/2,\, 1 - t)\,], \qquad t = (1 - level)/2

    where G(m, V, t) is the quantile of the gamma distribution with mean m and variance V, and the
    `event` w is what the next large number would add to the mean.  Published with a whole event,
    which covers at least as promised for weighted sums of Poisson counts; with half of one it
    covers about as promised.

    References
    ----------
    .. [1] M. P. Fay and E. J. Feuer, "Confidence intervals for directly standardized rates: a
       method based on the gamma distribution", Statistics in Medicine 16, 791-801, 1997.

    Examples
    --------
    >>> low, high = gamma_ends(4.0, 4.0, 1.0, level=0.95)  # of a Poisson count of 4
    >>> round(low, 3), round(high, 3)
    (1.09, 9.511)
    """
    tail = (1 - level) / 2
    low = _quantile(mean, variance, tail)
    high = _quantile(mean + event / 2, variance + event**2 / 2, 1 - tail)
    return min(low, mean), max(high, mean)


def _quantile(mean: float, variance: float, probability: float) -> float:
    if not (mean > 0 and variance > 0):
        return mean
    scale = variance / mean
    return scale * gamma_quantile(mean / scale, probability)


def gamma_quantile(shape: float, probability: float) -> float:
    """Give the quantile of the gamma distribution with scale 1, without SciPy.

    Newton's steps on P(a, x) = p in the logarithm of x, each kept inside the bracket that all
    earlier ones leave.

    Examples
    --------
    >>> round(gamma_quantile(1.0, 0.95), 6)  # −ln(.05)
    2.995732
    """
    z = float(normal_quantile(probability))
    guess = shape * max(1 - 1 / (9 * shape) + z / (3 * math.sqrt(shape)), 0.0) ** 3
    if shape > LARGE:
        return guess
    low, high = -700.0, math.log(2 * shape + 100)
    # For small x the distribution function is x^a / Γ(a + 1).
    leading = (math.log(probability) + math.lgamma(shape + 1)) / shape
    if leading < low:
        return 0.0  # as far as a double can say
    log_x = math.log(guess) if guess > 0.1 * shape else leading
    log_x = min(max(log_x, low), high)
    for _ in range(STEPS):
        x = math.exp(log_x)
        excess = _below(shape, x) - probability
        low, high = (log_x, high) if excess < 0 else (low, log_x)
        slope = math.exp(shape * log_x - x - math.lgamma(shape))
        step = excess / slope if slope > 0 else math.copysign(1.0, excess)
        proposal = log_x - max(min(step, 2.0), -2.0)
        if not low <= proposal <= high:
            proposal = 0.5 * (low + high)
        settled = abs(proposal - log_x) <= SETTLED * max(abs(log_x), 1.0)
        log_x = proposal
        if settled:
            break
    return math.exp(log_x)


def _below(shape: float, x: float) -> float:
    """Give P(a, x): by its series under a + 1, by the continued fraction of Q above."""
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        above = shape
        while term > total * EXACT:
            above += 1
            term *= x / above
            total += term
        return front * total
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10_000):
        a, b = -i * (i - shape), b + 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= c * d
        if abs(c * d - 1) < EXACT:
            break
    return 1 - front * fraction
