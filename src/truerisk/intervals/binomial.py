"""Intervals and bounds for a proportion, k of n: one table of methods, elementwise on arrays.

Every interval lies in [0, 1], contains k/n, and is [0, 1] when nothing was tried.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri

from truerisk.aliases import Array, Bounds
from truerisk.checks import check_choice, check_counts, check_level, check_number
from truerisk.intervals.beta_quantile import beta_log_odds, score_end, score_start
from truerisk.intervals.blaker import blaker_log_odds
from truerisk.intervals.exact_ends import exact_lower, exact_upper, mid_p_log_odds
from truerisk.results import Interval

Method = Callable[[ArrayLike, ArrayLike, float], Bounds]

BINOMIAL: dict[str, Method] = {}


def _method(bounds: Callable[[Array, Array, float], Bounds]) -> Method:
    """Enter a method in the table, and see to no trials, to [0, 1] and to k/n."""

    @functools.wraps(bounds)
    def guarded(k: ArrayLike, n: ArrayLike, level: float) -> Bounds:
        successes, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
        tried = trials > 0
        some_k, some_n = successes[tried], trials[tried]
        share = some_k / some_n
        low, high = np.zeros(trials.shape), np.ones(trials.shape)
        some_low, some_high = bounds(some_k, some_n, level)
        low[tried] = np.clip(some_low, 0.0, share)
        high[tried] = np.clip(some_high, share, 1.0)
        return low, high

    BINOMIAL[bounds.__name__] = guarded
    return guarded


@_method
def clopper_pearson(k: Array, n: Array, level: float) -> Bounds:
    r"""Exact interval, by inverting two binomial tests.

    The ends are the proportions at which the observed count, or one further out, would have the
    probability t = (1 − level) / 2:

    .. math:: P(X \ge k \mid p_{low}) = t, \qquad P(X \le k \mid p_{high}) = t

    It covers the true proportion with probability *at least* `level`, for every n and every p, if
    the trials are independent; it pays by being wider than needed for most of them.

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
       the case of the binomial", Biometrika 26(4), 404-413, 1934.
       https://doi.org/10.1093/biomet/26.4.404

    Examples
    --------
    >>> low, high = clopper_pearson([0, 20], [10, 100], 0.95)
    >>> print(low.round(3), high.round(3))
    [0.    0.127] [0.308 0.292]
    """
    tail = (1 - level) / 2
    return exact_lower(k, n, tail), exact_upper(k, n, tail)


@_method
def wilson(k: Array, n: Array, level: float) -> Bounds:
    r"""Score interval: the p that a normal test of k/n against p does not reject.

    .. math:: |k/n - p| \le z \sqrt{p (1 - p) / n}

    Covers about as often as it promises on average over p, not for every p: near 0 and 1 a
    95 % interval covers 84 % (docs/coverage.md).

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
       JASA 22(158), 209-212, 1927. https://doi.org/10.1080/01621459.1927.10502953
    """
    z = _normal_quantile(level)
    return score_start(k, n, z), score_end(k, n, z)


@_method
def wilson_cc(k: Array, n: Array, level: float) -> Bounds:
    r"""Score interval with continuity correction: half a trial further out on either side.

    .. math:: |k/n - p| - 1/(2n) \le z \sqrt{p (1 - p) / n}

    Close to the exact interval, and like it seldom under its level.

    References
    ----------
    .. [1] R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
       Medicine 17, 857-872, 1998.
    """
    z = _normal_quantile(level)
    return score_start(np.maximum(k - 0.5, 0.0), n, z), score_end(np.minimum(k + 0.5, n), n, z)


@_method
def jeffreys(k: Array, n: Array, level: float) -> Bounds:
    r"""Equal-tailed posterior interval under Jeffreys' prior, Beta(½, ½).

    .. math:: [\,B^{-1}(t;\,k+½,\,n-k+½),\; B^{-1}(1-t;\,k+½,\,n-k+½)\,]

    with the lower end 0 at k = 0 and the upper end 1 at k = n.  Right on average over p, not for
    every p; short.

    References
    ----------
    .. [1] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion",
       Statistical Science 16(2), 101-133, 2001. https://doi.org/10.1214/ss/1009213286
    """
    tail = np.full_like(n, (1 - level) / 2)
    low = np.where(k > 0, expit(beta_log_odds(k + 0.5, n - k + 0.5, tail)), 0.0)
    high = np.where(k < n, expit(-beta_log_odds(n - k + 0.5, k + 0.5, tail)), 1.0)
    return low, high


@_method
def agresti_coull(k: Array, n: Array, level: float) -> Bounds:
    r"""Wald's interval after adding z²/2 successes and z²/2 failures, clipped to [0, 1].

    .. math:: \tilde p \pm z \sqrt{\tilde p (1 - \tilde p) / (n + z^2)}, \quad
              \tilde p = (k + z^2/2) / (n + z^2)

    Contains Wilson's interval; seldom under its level, and easy to do by hand.

    References
    ----------
    .. [1] A. Agresti and B. A. Coull, "Approximate is better than 'exact' for interval estimation
       of binomial proportions", American Statistician 52(2), 119-126, 1998.
    """
    z = _normal_quantile(level)
    total = n + z * z
    centre = (k + z * z / 2) / total
    spread = z * np.sqrt(centre * (1 - centre) / total)
    return centre - spread, centre + spread


@_method
def mid_p(k: Array, n: Array, level: float) -> Bounds:
    r"""Clopper and Pearson's interval with half the probability of the observed count left out.

    .. math:: P(X > k \mid p_{low}) + ½ P(X = k \mid p_{low}) = t

    and likewise above.  Right on average over p; for single p a little under its level.

    References
    ----------
    .. [1] G. Berry and P. Armitage, "Mid-P confidence intervals: a brief review", The Statistician
       44(4), 417-423, 1995. https://doi.org/10.2307/2348891
    """
    tail = (1 - level) / 2
    return expit(mid_p_log_odds(k, n, tail)), expit(-mid_p_log_odds(n - k, n, tail))


@_method
def blaker(k: Array, n: Array, level: float) -> Bounds:
    r"""Exact interval of the proportions that are acceptable in Blaker's sense.

    A proportion is acceptable if the smaller tail at k, together with the largest opposite tail
    that is no more probable, exceeds 1 − level.  Covers with probability at least `level` for every
    n and p, and always lies within Clopper and Pearson's interval.

    References
    ----------
    .. [1] H. Blaker, "Confidence curves and improved exact confidence intervals for discrete
       distributions", Canadian Journal of Statistics 28(4), 783-798, 2000.
    .. [2] J. Klaschka, "BlakerCI: an algorithm and R package for the Blaker's binomial confidence
       limits calculation", 2010.
    """
    return expit(blaker_log_odds(k, n, 1 - level)), expit(-blaker_log_odds(n - k, n, 1 - level))


@_method
def wald(k: Array, n: Array, level: float) -> Bounds:
    r"""For comparison only: the textbook normal interval, clipped to [0, 1].

    .. math:: k/n \pm z \sqrt{(k/n)(1 - k/n)/n}

    It has no width at k = 0 and k = n, and covers far less than it promises near them.
    """
    z = _normal_quantile(level)
    share = k / n
    spread = z * np.sqrt(share * (1 - share) / n)
    return share - spread, share + spread


def binomial_bounds(
    k: ArrayLike, n: ArrayLike, *, level: float = 0.95, method: str = "clopper_pearson"
) -> Bounds:
    """Give the ends of many intervals at once, as two arrays; see `binomial_interval`.

    Examples
    --------
    >>> low, high = binomial_bounds([0, 1, 2], 20)
    >>> print(low.round(4), high.round(4))
    [0.     0.0013 0.0123] [0.1684 0.2487 0.317 ]
    """
    successes, trials = check_counts(k, n)
    check_choice(method, BINOMIAL, "method")
    return BINOMIAL[method](successes, trials, check_level(level))


def binomial_interval(
    k: int, n: int, *, level: float = 0.95, method: str = "clopper_pearson"
) -> Interval:
    """Give the confidence interval for a proportion of which k of n were seen.

    What is promised depends on the method: `clopper_pearson` and `blaker` cover with probability at
    least `level` whatever the proportion; `wilson`, `wilson_cc`, `jeffreys`, `agresti_coull` and
    `mid_p` do so on average or nearly; `wald` does not, and is there for comparison only.  All need
    independent trials with one and the same probability.

    Parameters
    ----------
    k, n
        Successes and trials, at most 2⁵³.  With no trial the interval is [0, 1].
    level
        Confidence level.
    method
        A key of `BINOMIAL`.

    Examples
    --------
    >>> print(binomial_interval(20, 100))
    [0.127, 0.292] at 95 %
    >>> print(binomial_interval(1000, 10**9))
    [9.39e-07, 1.06e-06] at 95 %
    """
    low, high = binomial_bounds(k, n, level=level, method=method)
    return Interval(float(low), float(high), float(level), method)


def upper_bound(k: int, n: int, *, delta: float) -> float:
    r"""Give the largest true risk that k errors in n leave possible, but for probability delta.

    .. math:: \max\{p : P(X \le k \mid p) \ge \delta\}

    The true risk is at most this with probability at least 1 − delta, for every risk.

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", JMLR 6,
       273-306, 2005.

    Examples
    --------
    >>> round(upper_bound(0, 100, delta=0.05), 4)  # the rule of three: about 3 / 100
    0.0295
    """
    successes, trials = check_counts(k, n)
    return float(exact_upper(successes, trials, check_level(delta, "delta")))


def lower_bound(k: int, n: int, *, delta: float) -> float:
    r"""Give the smallest true risk that k errors in n leave possible, but for probability delta.

    .. math:: \min\{p : 1 - P(X \le k - 1 \mid p) \ge \delta\}

    and 0 at k = 0.  The true risk is at least this with probability at least 1 − delta.  Erratum:
    Theorem 2 of [2]_ prints k for k − 1; that form exceeds the risk more often than delta.

    References
    ----------
    .. [1] J. Langford, "Tutorial on practical prediction theory for classification", JMLR 6,
       273-306, 2005.
    .. [2] M. Shah and S. Shanian, "Hold-out risk bounds for classifier performance evaluation".

    Examples
    --------
    >>> round(lower_bound(20, 100, delta=0.05), 4)
    0.1367
    """
    successes, trials = check_counts(k, n)
    return float(exact_lower(successes, trials, check_level(delta, "delta")))


def fractional_interval(x: float, m: float, *, level: float = 0.95) -> Interval:
    r"""Give Clopper and Pearson's interval for x of m where neither need be whole.

    .. math:: [\,B^{-1}(t;\,x,\,m-x+1),\; B^{-1}(1-t;\,x+1,\,m-x)\,]

    For weighted or clustered examples with x = m·p and m the effective number of examples.  The
    whole counts between which x lies bound it; with an estimated m the promise is approximate.

    Examples
    --------
    >>> print(fractional_interval(2.5, 40.5))
    [0.010, 0.185] at 95 %
    """
    trials = check_number(m, "m", low=0.0, high=2.0**53)
    successes = check_number(x, "x", low=0.0, high=trials)
    low, high = clopper_pearson(successes, trials, check_level(level))
    return Interval(float(low), float(high), float(level), "clopper_pearson_fractional")


def _normal_quantile(level: float) -> Any:  # noqa: ANN401
    # The tail, not 1 − tail: near level 1 only the former still has its digits.
    return -ndtri((1 - level) / 2)
