"""Intervals and bounds for a proportion, k of n: one table of methods, elementwise on arrays.

Every interval lies in [0, 1], contains k/n, and is [0, 1] when nothing was tried.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Bounds, Indices
from truerisk.checks import (
    check_choice,
    check_counts,
    check_level,
    check_number,
    check_whole_number,
)
from truerisk.intervals.distributions import (
    beta_log_odds,
    beta_tail,
    deviance,
    first_that_holds,
    log_beta_kernel,
    log_peak,
    logistic,
    normal_cdf,
    normal_quantile,
    score_end,
    score_start,
    solve_in_log_odds,
)
from truerisk.results import Interval

CLASS_BINOMIALS = "class_binomials"
POINTS = 180  # of the circle; both axes are among them

Method = Callable[[ArrayLike, ArrayLike, float], Bounds]

BINOMIAL: dict[str, Method] = {}
Alternative = Literal["two-sided", "less", "greater"]
AS_PROBABLE = 1e-7  # counts whose probabilities differ by less are taken as equally probable


def _method(bounds: Callable[[Array, Array, float], Bounds]) -> Method:
    """Enter a method in the table, and see to no trials, to [0, 1] and to k/n."""

    @functools.wraps(bounds)
    def guarded(k: ArrayLike, n: ArrayLike, level: float) -> Bounds:
        successes, trials = np.asarray(k, float), np.asarray(n, float)
        if successes.shape != trials.shape:
            successes, trials = np.broadcast_arrays(successes, trials)
        tried = trials > 0
        some_k, some_n = successes[tried], trials[tried]
        share = some_k / some_n
        low, high = np.zeros(trials.shape), np.ones(trials.shape)
        some_low, some_high = bounds(some_k, some_n, level)
        low[tried] = np.minimum(np.maximum(some_low, 0.0), share)
        high[tried] = np.minimum(np.maximum(some_high, share), 1.0)
        return low, high

    BINOMIAL[bounds.__name__] = guarded
    return guarded


@_method
def clopper_pearson(k: Array, n: Array, level: float) -> Bounds:
    """Exact interval, by inverting two binomial tests: P(X ≥ k | low) = P(X ≤ k | high) = t.

    Covers with probability at least `level` for every n and p, if the trials are independent.
    Source: C. J. Clopper and E. S. Pearson, Biometrika 26(4), 404-413, 1934.
    """
    tail = (1 - level) / 2
    return exact_lower(k, n, tail), exact_upper(k, n, tail)


@_method
def wilson(k: Array, n: Array, level: float) -> Bounds:
    """Score interval: the p that a normal test of k/n against p does not reject.

    Right on average over p, not for every p: near 0 and 1 a 95 % interval covers 84 %
    (docs/coverage.md).
    Source: E. B. Wilson, JASA 22(158), 209-212, 1927.
    """
    z = _normal_quantile(level)
    return score_start(k, n, z), score_end(k, n, z)


@_method
def wilson_cc(k: Array, n: Array, level: float) -> Bounds:
    """Score interval with continuity correction: half a trial further out on either side.

    Close to the exact interval, and like it seldom under its level.
    Source: R. G. Newcombe, Statistics in Medicine 17, 857-872, 1998.
    """
    z = _normal_quantile(level)
    return score_start(np.maximum(k - 0.5, 0.0), n, z), score_end(np.minimum(k + 0.5, n), n, z)


@_method
def jeffreys(k: Array, n: Array, level: float) -> Bounds:
    """Equal-tailed posterior interval under Jeffreys' prior, Beta(½, ½); 0 and 1 at k = 0 and n.

    Right on average over p, not for every p; short.
    Source: L. D. Brown, T. T. Cai and A. DasGupta, Statistical Science 16(2), 101-133, 2001.
    """
    tail = np.full_like(n, (1 - level) / 2)
    low = np.where(k > 0, logistic(beta_log_odds(k + 0.5, n - k + 0.5, tail)), 0.0)
    high = np.where(k < n, logistic(-beta_log_odds(n - k + 0.5, k + 0.5, tail)), 1.0)
    return low, high


def jeffreys_ends(k: float, n: float, level: float) -> tuple[float, float]:
    """Give the quantiles of Jeffreys' posterior of one share: both by one call."""
    shapes = np.array([k + 0.5, n - k + 0.5])
    below, above = beta_log_odds(shapes, shapes[::-1], np.full(2, (1 - level) / 2))
    low, high = logistic(np.array([below, -above])).tolist()
    return low, high


@_method
def agresti_coull(k: Array, n: Array, level: float) -> Bounds:
    """Wald's interval after adding z²/2 successes and z²/2 failures, clipped to [0, 1].

    Contains Wilson's interval; seldom under its level.
    Source: A. Agresti and B. A. Coull, American Statistician 52(2), 119-126, 1998.
    """
    z = _normal_quantile(level)
    total = n + z * z
    centre = (k + z * z / 2) / total
    spread = z * np.sqrt(centre * (1 - centre) / total)
    return centre - spread, centre + spread


@_method
def mid_p(k: Array, n: Array, level: float) -> Bounds:
    """Clopper and Pearson's interval with half the probability of the observed count left out.

    Right on average over p; for single p a little under its level.
    Source: G. Berry and P. Armitage, The Statistician 44(4), 417-423, 1995.
    """
    tail = (1 - level) / 2
    return logistic(mid_p_log_odds(k, n, tail)), logistic(-mid_p_log_odds(n - k, n, tail))


@_method
def blaker(k: Array, n: Array, level: float) -> Bounds:
    """Exact interval of the proportions that are acceptable in Blaker's sense.

    Acceptable: the smaller tail at k plus the largest opposite tail that is no more probable
    exceeds 1 − level.  Covers at least `level` for every n and p, within Clopper and Pearson's
    interval.
    Sources: H. Blaker, Canadian Journal of Statistics 28(4), 783-798, 2000; J. Klaschka, BlakerCI,
    2010.
    """
    return logistic(blaker_log_odds(k, n, 1 - level)), logistic(
        -blaker_log_odds(n - k, n, 1 - level)
    )


@_method
def wald(k: Array, n: Array, level: float) -> Bounds:
    """For comparison only: k/n ± z√((k/n)(1 − k/n)/n), clipped; far under its level near 0."""
    z = _normal_quantile(level)
    share = k / n
    spread = z * np.sqrt(share * (1 - share) / n)
    return share - spread, share + spread


def binomial_bounds(
    k: ArrayLike, n: ArrayLike, *, level: float = 0.95, method: str = "clopper_pearson"
) -> Bounds:
    """Give the ends of many intervals at once, as two arrays; see `binomial_interval`.

    Parameters
    ----------
    k, n
        Successes and trials, as arrays or single numbers that go together.
    level, method
        As for `binomial_interval`.

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

    Parameters
    ----------
    k, n
        Errors and examples.
    delta
        The probability that the true risk lies outside.

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

    Parameters
    ----------
    k, n
        Errors and examples.
    delta
        The probability that the true risk lies outside.

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
    """Give Clopper and Pearson's interval for x of m where neither need be whole.

    For weighted or clustered examples with x = m·p and m the effective number of examples; with an
    estimated m the promise is approximate.
    """
    trials = check_number(m, "m", low=0.0, high=2.0**53)
    successes = check_number(x, "x", low=0.0, high=trials)
    low, high = clopper_pearson(successes, trials, check_level(level))
    return Interval(float(low), float(high), float(level), "clopper_pearson_fractional")


def _normal_quantile(level: float) -> Any:
    # The tail, not 1 − tail: near level 1 only the former still has its digits.
    return -normal_quantile((1 - level) / 2)


def exact_lower(k: Array, n: Array, tail: float | Array) -> Array:
    """Give the p at which k or more of n have the probability `tail`; counts may be fractional."""
    low = np.zeros(n.shape)
    some = k > 0
    a, b = k[some], n[some] - k[some] + 1
    low[some] = logistic(beta_log_odds(a, b, np.broadcast_to(tail, n.shape)[some]))
    return low


def exact_upper(k: Array, n: Array, tail: float | Array) -> Array:
    """Give the p at which k or fewer of n have the probability `tail`; 1 at k = n."""
    high = np.ones(n.shape)
    some = k < n
    a, b = n[some] - k[some], k[some] + 1
    high[some] = logistic(-beta_log_odds(a, b, np.broadcast_to(tail, n.shape)[some]))
    return high


def mid_p_log_odds(k: Array, n: Array, tail: float) -> Array:
    """Give the log-odds of the p with P(X > k) + ½ P(X = k) = tail; −∞ at k = 0."""
    log_odds = np.full_like(n, -np.inf)
    every = k == n
    with np.errstate(divide="ignore"):
        # ½ pⁿ = tail, and the odds of that p.
        log_p = np.log(2 * tail) / n[every]
        log_odds[every] = log_p - np.log(-np.expm1(log_p))
    between = (k > 0) & ~every
    k, n = k[between], n[between]
    above, below, peak, peak_next = k + 1, n - k, log_peak(k, n - k + 1), log_peak(k + 1, n - k)

    def log_tail(log_odds: Array, at: Indices) -> tuple[Array, Array]:
        first = beta_tail(k[at], below[at] + 1, log_odds)
        value = np.log(0.5 * (first + beta_tail(above[at], below[at], log_odds)))
        slope = np.exp(peak[at] - deviance(k[at], below[at] + 1, log_odds) - value)
        slope_next = np.exp(peak_next[at] - deviance(above[at], below[at], log_odds) - value)
        return value, 0.5 * (slope + slope_next)

    start = score_start(k, n, np.full_like(n, -normal_quantile(tail)))
    target = np.full_like(n, np.log(tail))
    log_odds[between] = solve_in_log_odds(log_tail, target, np.log(start) - np.log1p(-start))
    return log_odds


def blaker_log_odds(k: Array, n: Array, miss: float) -> Array:
    """Give the log-odds of the lower end of Blaker's interval; −∞ at k = 0.

    The least p with P(X ≥ k) + P(X ≤ j) > miss, j the largest with P(X ≤ j) ≤ P(X ≥ k).  At the
    jumps of j the sum is 2P(X ≥ k); between two of them it falls, then rises, and meets miss at
    most once before the first jump beyond Clopper and Pearson's end.  The end is that meeting, or
    else the jump.
    """
    log_odds = np.full(n.shape, -np.inf)
    some = k > 0
    log_odds[some] = _lower(k[some], n[some], miss)
    return log_odds


def _lower(k: Array, n: Array, miss: float) -> Array:
    outer = beta_log_odds(k, n - k + 1, np.full_like(n, miss / 2))
    j = _quantile(k, n, outer, miss / 2)
    jump = _jump(k, n, j, outer)
    before = j - 1
    at_jump = beta_tail(k, n - k + 1, jump) + _tail_at_most(before, n, jump)
    meets = at_jump > miss
    k, n, before, outer = k[meets], n[meets], before[meets], outer[meets]

    def total(log_odds: Array, at: Indices) -> tuple[Array, Array]:
        a, b, opposite = k[at], n[at] - k[at] + 1, before[at]
        value = beta_tail(a, b, log_odds) + _tail_at_most(opposite, n[at], log_odds)
        rise = np.exp(log_beta_kernel(a, b, log_odds))
        return np.log(value), (rise - _fall(opposite, n[at], log_odds)) / value

    end = jump.copy()
    end[meets] = solve_in_log_odds(
        total,
        np.full_like(n, np.log(miss)),
        0.5 * (outer + jump[meets]),
        low=outer,
        high=jump[meets],
        tolerance=1e-12,
    )
    return end


def _tail_at_most(j: Array, n: Array, log_odds: Array) -> Array:
    """Give P(X ≤ j), also for j = −1."""
    some = j >= 0
    probability = np.zeros(n.shape)
    probability[some] = beta_tail(n[some] - j[some], j[some] + 1, -log_odds[some])
    return probability


def _fall(j: Array, n: Array, log_odds: Array) -> Array:
    """Give how fast P(X ≤ j) falls in log-odds."""
    some = j >= 0
    slope = np.zeros(n.shape)
    slope[some] = np.exp(log_beta_kernel(n[some] - j[some], j[some] + 1, -log_odds[some]))
    return slope


def _quantile(k: Array, n: Array, log_odds: Array, tail: float) -> Array:
    """Give the smallest j with P(X ≤ j) > tail; it is under k where P(X ≥ k) = tail < ½."""
    return np.asarray(
        first_that_holds(
            lambda j: _tail_at_most(j, n, log_odds) > tail, np.full(n.shape, -1.0), k - 1
        )
    )


def _jump(k: Array, n: Array, j: Array, outer: Array) -> Array:
    """Give the log-odds at which P(X ≤ j) = P(X ≥ k)."""

    def ratio(log_odds: Array, at: Indices) -> tuple[Array, Array]:
        a, b = k[at], n[at] - k[at] + 1
        above, below = beta_tail(a, b, log_odds), _tail_at_most(j[at], n[at], log_odds)
        rise = np.exp(log_beta_kernel(a, b, log_odds)) / above
        return np.log(above) - np.log(below), rise + _fall(j[at], n[at], log_odds) / below

    return solve_in_log_odds(ratio, np.zeros_like(n), outer, low=outer, tolerance=1e-9)


def binomial_test(
    k: int, n: int, p0: float = 0.5, *, alternative: Alternative = "two-sided"
) -> float:
    r"""Give the p-value of the exact test of a proportion p0 when k of n were seen.

    Two-sided, it is the probability of all counts that are no more probable than k:

    .. math:: \sum_{j :\, P(X = j) \le P(X = k)} P(X = j)

    If the proportion is p0, the p-value is at most t with probability at most t.  The opposite tail
    is found by halving; n may be many millions.

    Parameters
    ----------
    k, n
        Successes and trials.  With no trial the p-value is 1.
    p0
        The proportion that is tested.
    alternative
        Whether the proportion may differ either way, be "less" or be "greater".

    References
    ----------
    .. [1] W. J. Conover, "Practical nonparametric statistics", Wiley 1999, section 3.1.

    Examples
    --------
    >>> round(binomial_test(2, 4, 0.3), 4)  # 0, 2, 3 and 4 are no more probable than 2
    0.5884
    """
    trials = check_whole_number(n, "n")
    count = check_whole_number(k, "k", high=trials)
    check_number(p0, "p0", low=0.0, high=1.0)
    check_choice(alternative, ("two-sided", "less", "greater"), "alternative")
    if alternative == "less":
        return _at_most(count, trials, p0)
    if alternative == "greater":
        return _at_least(count, trials, p0)
    if count > trials * p0:  # by symmetry the observed count is the low one
        return _two_sided(trials - count, trials, 1 - p0)
    return _two_sided(count, trials, p0)


def _two_sided(count: int, trials: int, p0: float) -> float:
    """Add the tail up to `count`, which is at most n·p0, to the opposite one."""
    observed = log_probability(count, trials, p0) + AS_PROBABLE
    mode = math.floor((trials + 1) * p0)
    if count >= mode or log_probability(min(mode, trials), trials, p0) <= observed:
        return 1.0
    # The mode is more probable than the observed count; past the end nothing is.
    first = first_that_holds(lambda j: log_probability(j, trials, p0) <= observed, mode, trials + 1)
    return min(1.0, _at_most(count, trials, p0) + _at_least(first, trials, p0))


def log_probability(j: int, n: int, p: float) -> float:
    """Give log P(X = j) for n trials of probability p, precise at any n."""
    if p in (0.0, 1.0):
        return 0.0 if j == n * p else -math.inf
    if j == 0:
        return n * math.log1p(-p)
    if j == n:
        return n * math.log(p)
    return float(log_probabilities(np.array([float(j)]), float(n), p)[0])


def log_probabilities(j: Array, n: float, p: float) -> Array:
    """Give log P(X = j) for 1 ≤ j ≤ n and p > 0, elementwise."""
    if p >= 1:
        return np.where(j == n, 0.0, -np.inf)
    log_odds = np.full_like(j, math.log(p) - math.log1p(-p))
    kernel = log_beta_kernel(j, n - j + 1, log_odds)
    return np.asarray(kernel - np.log(j) - math.log1p(-p))


def at_least(j: Array, n: Array, p: float) -> Array:
    """Give P(X ≥ j) for n trials of probability p, elementwise."""
    possible = (j >= 1) & (j <= n)
    probability = np.where(j < 1, 1.0, 0.0)
    count, trials = j[possible], n[possible]
    if 0 < p < 1:
        log_odds = np.full_like(count, math.log(p) - math.log1p(-p))
        probability[possible] = beta_tail(count, trials - count + 1, log_odds)
    else:
        probability[possible] = float(p >= 1)
    return probability


def at_most(j: Array, n: Array, p: float) -> Array:
    """Give P(X ≤ j), elementwise; counts may be parts, and nothing is at most −1."""
    return at_least(n - j, n, 1 - p)


def _at_most(j: int, n: int, p: float) -> float:
    return _at_least(n - j, n, 1 - p)


def _at_least(j: int, n: int, p: float) -> float:
    return float(at_least(np.array([float(j)]), np.array([float(n)]), p)[0])


def confidence_curve(right: Array, size: Array, *, level: float) -> Array:
    """Give the shares that are right in each of two classes along the curve: (POINTS, 2).

    Problem   at a prior π every measure of hard predictions is a function of the share p₁ of
              positives and p₀ of negatives that are right: precision is
              πp₁/(πp₁ + (1 − π)(1 − p₀))
    Given     k₁ of n₁ and k₀ of n₀ right, independent binomials; the class sizes say nothing
    Region    the ends of Clopper and Pearson's one-sided intervals at tails Φ(−|z₁|) and Φ(−|z₀|),
              for all (z₁, z₀) on the circle of radius z, the normal quantile of the level
    Interval  least and greatest value of the measure on that curve (`curve_interval`)

    A measure of one class alone, such as recall, gets Clopper and Pearson's interval, which is
    exact.  Of the others the coverage was summed over all outcomes (docs/coverage-at-a-prior.md).
    """
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    shares = []
    for k, n, side in zip(right, size, (np.cos(angles), np.sin(angles)), strict=True):
        tails = normal_cdf(-z * np.abs(side))
        counts, trials = np.full(POINTS, min(float(k), float(n))), np.full(POINTS, float(n))
        ends = exact_lower(counts, trials, tails), exact_upper(counts, trials, tails)
        shares.append(np.where(side < 0, *ends))
    return np.column_stack(shares)


def curve_interval(
    function: Callable[[NDArray[Any]], Any], tables: NDArray[Any], value: float, *, level: float
) -> Interval:
    """Give the range of a measure over the tables of a curve; it contains the value."""
    values = np.append(np.asarray(function(tables), dtype=np.float64), value)
    return Interval(float(np.nanmin(values)), float(np.nanmax(values)), level, CLASS_BINOMIALS)
