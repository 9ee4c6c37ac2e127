"""The gamma interval of a mean of numbers that are not negative, and skewed to the right."""

import math

from truerisk.aliases import Ends


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
    from scipy.special import gammaincinv

    scale = variance / mean
    quantile = scale * float(gammaincinv(mean / scale, probability))
    return quantile if math.isfinite(quantile) else mean
