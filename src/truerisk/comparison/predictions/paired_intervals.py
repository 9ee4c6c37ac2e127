"""Intervals for the difference of two shares on the same examples: one table of methods.

Elementwise on arrays of the four counts of a table: examples that both models judge rightly, only
the first, only the second, or neither.  The difference is second − first.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from truerisk.aliases import Array, Bounds
from truerisk.intervals.binomial import wilson

PairedBounds = Callable[[Array, Array, Array, Array, float], Bounds]


def tango(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    r"""Keep the differences that the score test, with shares fitted to them, does not reject.

    .. math:: \frac{|b - c - n\delta|}{\sqrt{n (2 \tilde q + \delta (1 - \delta))}} \le z

    with b = only_second, c = only_first and :math:`\tilde q` the most likely share of c, given that
    the share of b is larger by δ.  At δ = 0 the test is McNemar's asymptotic one.

    References
    ----------
    .. [1] T. Tango, "Equivalence test and confidence interval for the difference in proportions for
       the paired-sample design", Statistics in Medicine 17, 891-908, 1998.
    """
    z = -float(ndtri((1 - level) / 2))
    n = both + only_first + only_second + neither
    seen = (only_second - only_first) / n

    # Both ends at once, until the middle of what is kept and what is rejected is one of the two.
    kept = np.stack([seen, seen])
    rejected = np.stack([np.full_like(seen, -1.0), np.full_like(seen, 1.0)])
    middle = 0.5 * (kept + rejected)
    while np.any((middle != kept) & (middle != rejected)):
        accept = np.abs(score_statistic(only_first, only_second, n, middle)) <= z
        kept, rejected = np.where(accept, middle, kept), np.where(accept, rejected, middle)
        middle = 0.5 * (kept + rejected)
    return kept[0], kept[1]


def score_statistic(only_first: Array, only_second: Array, n: Array, null: Array) -> Array:
    """Give Tango's statistic of a difference `null`: normal if it is the true one."""
    # Mirrored to null ≥ 0, every term but the linear one is positive: nothing cancels.
    upward = null >= 0
    more = np.where(upward, only_second, only_first)
    fewer = np.where(upward, only_first, only_second)
    apart = np.abs(null)
    linear = apart * (2 * n - more + fewer) - more - fewer
    constant = fewer * apart * (1 - apart)
    root = np.sqrt(linear * linear + 8 * n * constant)
    # The positive root of 2nq² + linear·q − constant, in the form that does not cancel.
    pos_label = linear > 0
    share = np.where(
        pos_label,
        np.divide(2 * constant, root + linear, out=np.zeros_like(root), where=pos_label),
        (root - linear) / (4 * n),
    )
    variance = n * (2 * share + apart * (1 - apart))
    distance = np.where(upward, 1.0, -1.0) * (more - fewer - n * apart)
    impossible = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    scaled: Array = np.divide(
        distance, np.sqrt(variance), out=impossible, where=(variance > 0) & (distance != 0)
    )
    return scaled


def newcombe(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    r"""Combine Wilson's intervals [l, u] of both shares by squares, less their correlation.

    .. math:: d - \sqrt{(p_2 - l_2)^2 - 2 \phi (p_2 - l_2)(u_1 - p_1) + (u_1 - p_1)^2}

    and the like above, with φ of the table, corrected for continuity: n/2 is taken off its
    numerator, where that is positive, down to 0.

    References
    ----------
    .. [1] R. G. Newcombe, "Improved confidence intervals for the difference between binomial
       proportions based on paired data", Statistics in Medicine 17, 2635-2650, 1998, method 10.
    """
    n = both + only_first + only_second + neither
    first, second = both + only_first, both + only_second
    p1, p2 = first / n, second / n
    (low1, high1), (low2, high2) = wilson(first, n, level), wilson(second, n, level)
    product = both * neither - only_first * only_second
    corrected = np.where(product > 0, np.maximum(product - n / 2, 0.0), product)
    margins = np.sqrt(first) * np.sqrt(n - first) * np.sqrt(second) * np.sqrt(n - second)
    phi = np.divide(corrected, margins, out=np.zeros_like(corrected), where=margins > 0)
    return (
        p2 - p1 - _combined(p2 - low2, high1 - p1, phi),
        p2 - p1 + _combined(high2 - p2, p1 - low1, phi),
    )


def _combined(one: Array, other: Array, correlation: Array) -> Array:
    squares = one * one - 2 * correlation * one * other + other * other
    combined: Array = np.sqrt(np.maximum(squares, 0.0))  # rounding can leave −1e-20
    return combined


def bonett_price(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """Use Wald's interval after adding one example to each kind of discordant ones.

    References
    ----------
    .. [1] D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of
       binomial proportions based on paired data", Journal of Educational and Behavioral Statistics
       37(4), 479-488, 2012. https://doi.org/10.3102/1076998611411915
    """
    return wald(both, only_first + 1, only_second + 1, neither, level)


def wald(
    both: Array, only_first: Array, only_second: Array, neither: Array, level: float
) -> Bounds:
    """For comparison only: the textbook normal interval, of no width where the models agree."""
    n = both + only_first + only_second + neither
    share, apart = (only_first + only_second) / n, (only_second - only_first) / n
    spread = -float(ndtri((1 - level) / 2)) * np.sqrt(np.maximum(share - apart * apart, 0.0) / n)
    return apart - spread, apart + spread


PAIRED_DIFFERENCES: dict[str, PairedBounds] = {
    "tango": tango,
    "newcombe": newcombe,
    "bonett_price": bonett_price,
    "wald": wald,
}
