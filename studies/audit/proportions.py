"""Exact coverage of the binomial intervals: every outcome, no simulation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from truerisk.aliases import Array
from truerisk.intervals.binomial import BINOMIAL, binomial_bounds

SIZES = (5, 10, 17, 20, 33, 50, 100, 200, 333, 500, 1000)
LEVELS = (0.9, 0.95, 0.99)
ROUNDING = 1e-12  # of the sum of up to 1001 probabilities


@dataclass(frozen=True, kw_only=True)
class EnumeratedCoverage:
    """How often one method covers at one size, over a set of proportions.

    `least` and `mean` coverage, `mean_width`, and the share of the proportions at which it covers
    less often than it promises.
    """

    method: str
    level: float
    n: int
    proportions: int
    least: float
    least_at: float
    mean: float
    mean_width: float
    share_under: float


def proportions() -> Array:
    """Give 550 proportions: 450 evenly spaced, and 50 crowding towards either end.

    Examples
    --------
    >>> p = proportions()
    >>> len(p), float(p[0]), bool(np.allclose(p, 1 - p[::-1]))
    (550, 0.0001, True)
    """
    even = (np.arange(450) + 0.5) / 450
    crowded = np.geomspace(1e-4, 0.0499, 50)
    return np.sort(np.concatenate([even, crowded, 1 - crowded]))


def coverage(low: Array, high: Array, p: Array) -> Array:
    r"""Give the probability that the interval of an outcome contains p, for each p.

    .. math:: \sum_{k = 0}^{n} \binom{n}{k} p^k (1 - p)^{n-k}\, 1[low_k \le p \le high_k]

    Parameters
    ----------
    low, high
        Ends of the intervals of k = 0, …, n.
    p
        The true proportions.

    Examples
    --------
    >>> coverage(np.array([0.0, 0.4]), np.array([0.6, 1.0]), np.array([0.5, 0.9]))
    array([1. , 0.9])
    """
    covers = (low[:, np.newaxis] <= p) & (p <= high[:, np.newaxis])
    covered: Array = np.sum(np.where(covers, _probabilities(low.size - 1, p), 0.0), axis=0)
    return covered


def _probabilities(n: int, p: Array) -> Array:
    """Give P(X = k) for each k (rows) and p (columns)."""
    k = np.arange(n + 1.0)
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    logs = choose[:, np.newaxis] + xlogy(k[:, np.newaxis], p) + xlog1py((n - k)[:, np.newaxis], -p)
    probabilities: Array = np.exp(logs)
    return probabilities


def enumerate_coverage(
    method: str, n: int, level: float, p: Array | None = None
) -> EnumeratedCoverage:
    """Give the exact coverage of one method at one size and level.

    Examples
    --------
    >>> row = enumerate_coverage("clopper_pearson", 20, 0.95)
    >>> row.least >= 0.95, row.share_under
    (True, 0.0)
    """
    at = proportions() if p is None else p
    k = np.arange(n + 1)
    low, high = binomial_bounds(k, n, level=level, method=method)
    covered = coverage(low, high, at)
    worst = int(np.argmin(covered))
    return EnumeratedCoverage(
        method=method,
        level=level,
        n=n,
        proportions=at.size,
        least=float(covered[worst]),
        least_at=float(at[worst]),
        mean=float(np.mean(covered)),
        mean_width=float(np.mean((high - low) @ _probabilities(n, at))),
        share_under=float(np.mean(covered < level - ROUNDING)),
    )


def enumerate_all(
    methods: Sequence[str] = tuple(BINOMIAL),
    sizes: Sequence[int] = SIZES,
    levels: Sequence[float] = LEVELS,
) -> Iterator[EnumeratedCoverage]:
    """Give the rows one by one.

    Examples
    --------
    >>> [row.method for row in enumerate_all(["wilson", "wald"], [5], [0.9])]
    ['wilson', 'wald']
    """
    at = proportions()
    for level in levels:
        for method in methods:
            for n in sizes:
                yield enumerate_coverage(method, n, level, at)
