"""Bounds that assume no distribution: for the mean of losses in [0, 1], and for trained rules.

The first three hold for the mean of n independent losses of any kind within [0, 1], not only for
errors; for plain errors the exact interval of `binomial` is shorter than each of them.  The
others speak about training and leave-one-out errors.  They are known to be loose, often [0, 1], and
are here for comparison.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from truerisk.checks import check_level, check_number, check_whole_number
from truerisk.intervals.binomial import binomial_interval, upper_bound
from truerisk.results import Interval


def error_bounds(
    errors: int, n: int, *, vc_dimension: float | None = None, level: float = 0.95
) -> dict[str, Interval]:
    r"""Give every interval and bound of an error rate from k errors of n, shortest promise first.

    ========================  ==========================================================
    name                      promise
    ========================  ==========================================================
    clopper_pearson           exact: at least the level, for every error rate
    one_sided                 exact, of the upper end alone
    gaussian                  :math:`k/n \pm z\sqrt{(k/n)(1 - k/n)/n}`; breaks at few errors
    chernoff_kl               at least the level, for any losses in [0, 1]
    empirical_bernstein       the same, by the variance of the losses
    hoeffding                 the same, by nothing but n
    chebyshev                 the same, by the variance being at most 1/(4n)
    vc_bound                  of *training* errors, for all rules of a VC dimension
    vapnik_chervonenkis       the same, two-sided, as it was proven first
    kearns_ron                of *leave-one-out* errors of a rule with the fewest training
                              errors, for a VC dimension
    ========================  ==========================================================

    Parameters
    ----------
    errors, n
        Errors and examples; held out, but for the last three, which take them as training errors
        and as leave-one-out errors.
    vc_dimension
        Of the family of rules; without it the last three are left out.
    level
        Confidence level.

    Examples
    --------
    >>> for name, ends in error_bounds(12, 300, vc_dimension=11).items():
    ...     print(f"{name:20}{ends}")
    clopper_pearson     [0.021, 0.069] at 95 %
    one_sided           at most 0.064 with 95 % confidence
    gaussian            [0.018, 0.062] at 95 %
    chernoff_kl         [0.016, 0.078] at 95 %
    empirical_bernstein [0.000, 0.108] at 95 %
    hoeffding           [0.000, 0.118] at 95 %
    chebyshev           [0.000, 0.169] at 95 %
    vc_bound            at most 0.930 with 95 % confidence
    vapnik_chervonenkis [0.000, 0.875] at 95 %
    kearns_ron          [0.000, 1.000] at 95 %
    """
    size = check_whole_number(n, "n", low=2)
    k = check_whole_number(errors, "errors", low=0, high=size)
    check_level(level)
    mean = k / size
    highest = upper_bound(k, size, delta=1 - level)
    bounds = {
        "clopper_pearson": binomial_interval(k, size, level=level),
        "one_sided": Interval(0.0, highest, level, "clopper_pearson_upper", "upper"),
        "gaussian": binomial_interval(k, size, level=level, method="wald"),
        "chernoff_kl": chernoff_kl(mean, size, level=level),
        "empirical_bernstein": empirical_bernstein(
            mean, mean * (1 - mean) * size / (size - 1), size, level=level
        ),
        "hoeffding": hoeffding(mean, size, level=level),
        "chebyshev": holdout_chebyshev(mean, size, level=level),
    }
    if vc_dimension is not None:
        bounds["vc_bound"] = replace(vc_bound(mean, size, vc_dimension, level=level), side="upper")
        bounds["vapnik_chervonenkis"] = vapnik_chervonenkis(mean, size, vc_dimension, level=level)
        bounds["kearns_ron"] = kearns_ron(mean, size, vc_dimension, level=level)
    return bounds


def hoeffding(mean: float, n: int, *, level: float = 0.95) -> Interval:
    """Interval for the mean of losses in [0, 1]: P(|X̄ − μ| > ε) ≤ 2exp(−2nε²).

    Covers at least `level` if the losses are independent; far too wide for rare errors.
    Source: W. Hoeffding, JASA 58(301), 13-30, 1963.
    """
    value, size = _mean_and_size(mean, n)
    spread = math.sqrt(math.log(2 / (1 - check_level(level))) / (2 * size))
    return _within(value - spread, value + spread, level, "hoeffding")


def holdout_chebyshev(mean: float, n: int, *, level: float = 0.95) -> Interval:
    """Interval for the mean of losses in [0, 1] by Chebyshev's inequality: E(X̄ − μ)² ≤ 1/(4n).

    Covers at least `level` if the losses are independent; wider than `hoeffding` at usual levels.
    Source: T. Joachims, 1999, equation 14.
    """
    value, size = _mean_and_size(mean, n)
    spread = math.sqrt(1 / (4 * size * (1 - check_level(level))))
    return _within(value - spread, value + spread, level, "chebyshev")


def chernoff_kl(mean: float, n: int, *, level: float = 0.95) -> Interval:
    """Interval for the mean of losses in [0, 1]: all p with n·KL(X̄ ‖ p) ≤ ln(2/(1 − level)).

    Covers at least `level` if the losses are independent; never wider than `hoeffding`.
    Source: W. Hoeffding, JASA 58(301), 13-30, 1963, theorem 1.
    """
    value, size = _mean_and_size(mean, n)
    allowed = math.log(2 / (1 - check_level(level))) / size
    low, high = _kl_end(value, 0.0, allowed), _kl_end(value, 1.0, allowed)
    return _within(low, high, level, "chernoff_kl")


def _kl_end(mean: float, end: float, allowed: float) -> float:
    """Find, between the mean and an end of [0, 1], where the divergence reaches what is allowed."""
    if mean == end:
        return end
    return _first_outside(lambda p: _divergence(mean, p) <= allowed, mean, end)


def _first_outside(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Halve down to the number next to those that hold, through all exponents of float64."""
    while (middle := 0.5 * (inside + outside)) not in (inside, outside):
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return outside


def _divergence(q: float, p: float) -> float:
    return sum(
        share * math.log(share / other) for share, other in ((q, p), (1 - q, 1 - p)) if share > 0
    )


def empirical_bernstein(mean: float, variance: float, n: int, *, level: float = 0.95) -> Interval:
    """Interval for the mean of losses in [0, 1] that profits from a small sample variance V.

    Covers at least `level` if they are independent.
    """
    value, size = _mean_and_size(mean, n, least=2)
    check_number(variance, "variance", low=0.0, high=0.5)
    spread = bernstein_reach(variance, size, check_level(level))
    return _within(value - spread, value + spread, level, "empirical_bernstein")


def bernstein_reach(variance: float, n: int, level: float) -> float:
    """Give √(2V ln(4/δ)/n) + 7 ln(4/δ)/(3(n − 1)), which |X̄ − μ| exceeds with probability δ.

    Source: A. Maurer and M. Pontil, COLT 2009, theorem 4, on either side with half of δ.
    """
    log_term = math.log(4 / (1 - level))
    return math.sqrt(2 * variance * log_term / n) + 7 * log_term / (3 * (n - 1))


def vc_bound(
    training_error: float, n: int, vc_dimension: float, *, level: float = 0.95
) -> Interval:
    """Bound the error of all rules of VC dimension d by their training error: loose.

    err ≤ train + 2√((d(ln(2n/d) + 1) − ln(δ/4))/n), with probability at least `level`; d features
    and a threshold have d + 1.
    Source: V. Vapnik, Statistical Learning Theory, 1998; T. Joachims, 1999, equation 10.  It does
    not follow from equation 9, as said there, but from the growth function of 2n examples; what
    follows from equation 9 is `vapnik_chervonenkis`.
    """
    value, size = _mean_and_size(training_error, n, name="training_error")
    d = check_number(vc_dimension, "vc_dimension", low=1.0)
    if d >= size:  # beyond, the growth function is 2ⁿ and nothing is bounded
        check_level(level)
        return Interval(0.0, 1.0, level, "vc_bound")
    complexity = d * (math.log(2 * size / d) + 1) - math.log((1 - check_level(level)) / 4)
    return _within(0.0, value + 2 * math.sqrt(complexity / size), level, "vc_bound")


def vapnik_chervonenkis(
    training_error: float, n: int, vc_dimension: float, *, level: float = 0.95
) -> Interval:
    """Bound how far the error of all rules of VC dimension d is from their training error: loose.

    P(|err − train| > ε) ≤ 6 (en/d)ᵈ exp(−ε²(n − 1)/4), solved for ε:
    ε = 2√((d(ln(n/d) + 1) + ln(6/δ))/(n − 1)).
    Source: V. Vapnik and A. Chervonenkis, Theorie der Zeichenerkennung, 1979, page 161;
    T. Joachims, 1999, equation 9.
    """
    value, size = _mean_and_size(training_error, n, name="training_error", least=2)
    d = check_number(vc_dimension, "vc_dimension", low=1.0)
    delta = 1 - check_level(level)
    if d >= size:
        return Interval(0.0, 1.0, float(level), "vapnik_chervonenkis")
    complexity = d * (math.log(size / d) + 1) + math.log(6 / delta)
    spread = 2 * math.sqrt(complexity / (size - 1))
    return _within(value - spread, value + spread, level, "vapnik_chervonenkis")


def kearns_ron(
    leave_one_out_error: float, n: int, vc_dimension: float, *, level: float = 0.95
) -> Interval:
    """Bound the error of a rule with the fewest training errors by its leave-one-out error: loose.

    |loo − err| ≤ 8√((d + 1)(ln(9n/d) + 2)/n)/δ for every rule of a family of VC dimension d that
    minimises the training error; below 1 from millions of examples on.
    Source: M. Kearns and D. Ron, Neural Computation 11(6), 1427-1453, 1999; T. Joachims, 1999,
    theorem 4.
    """
    value, size = _mean_and_size(leave_one_out_error, n, name="leave_one_out_error")
    d = check_number(vc_dimension, "vc_dimension", low=1.0)
    delta = 1 - check_level(level)
    spread = 8 * math.sqrt((d + 1) * (math.log(9 * size / d) + 2) / size) / delta
    return _within(value - spread, value + spread, level, "kearns_ron")


def margin_dimension(
    squared_radius: float, squared_norm: float, features: float = math.inf
) -> float:
    """Give Vapnik's bound of the VC dimension of hyperplanes by their margin.

    min(R²·|w|², d) + 1 for the hyperplanes whose margin on examples in a ball of radius R is at
    least 1/|w|.  The |w| of a trained SVM is known after training only: no bound for a family
    chosen beforehand follows from it.
    Source: V. Vapnik, Statistical Learning Theory, 1998, theorem 10.3.

    Examples
    --------
    >>> margin_dimension(1.0, 25.0), margin_dimension(1.0, 25.0, features=10)
    (26.0, 11.0)
    """
    radius = check_number(squared_radius, "squared_radius", low=0.0)
    return min(radius * check_number(squared_norm, "squared_norm", low=0.0), float(features)) + 1


def stability_bound(
    training_risk: float,
    n: int,
    stability: float,
    *,
    largest_loss: float = 1.0,
    level: float = 0.95,
) -> Interval:
    """Bound the risk of a β-stable learner by its training risk: loose.

    R ≤ train + 2β + (4nβ + M)√(ln(1/δ)/(2n)) with probability at least `level`, losses in [0, M].
    For the soft-margin SVM with the hinge loss, β ≤ Cκ², κ² the largest K(x, x).
    Source: O. Bousquet and A. Elisseeff, JMLR 2, 499-526, 2002, theorem 12 and section 5.2.2.
    """
    value, size = _mean_and_size(training_risk, n, name="training_risk")
    beta = check_number(stability, "stability", low=0.0)
    most = check_number(largest_loss, "largest_loss", low=0.0)
    log_term = math.sqrt(-math.log(1 - check_level(level)) / (2 * size))
    bound = value + 2 * beta + (4 * size * beta + most) * log_term
    return _within(0.0, bound, level, "stability_bound")


def sample_compression(
    errors: int,
    n: int,
    size: int,
    *,
    log_messages: float = 0.0,
    level: float = 0.95,
) -> Interval:
    r"""Bound the error of a rule that `size` of its n training examples determine.

    .. math:: \max\Bigl\{p : \mathrm{Bin}(n - d, k, p) \ge
        \frac{\delta}{(d + 1)(d + 2)\binom{n}{d} M}\Bigr\}

    with k the errors on the n − d examples outside the d that determine it, and δ = 1 − `level`.
    Those n − d examples are a test set for the rule, had the d been named beforehand; the
    confidence is shared among all that could have been named: sizes with the prior
    1/((d + 1)(d + 2)), which adds to 1, all sets of one size alike, and M messages (`log_messages`
    is ln M) that the rule needs beside its examples.  It holds with probability at least `level`
    for every learner and every distribution of independent examples.

    Source: J. Langford, "Tutorial on practical prediction theory for classification", JMLR 6,
    273-306, 2005, theorem 5.1; S. Floyd and M. Warmuth, Machine Learning 21, 269-304, 1995.

    Examples
    --------
    >>> print(sample_compression(2, 500, 6))
    at most 0.087 with 95 % confidence
    """
    total = check_whole_number(n, "n", low=1)
    used = check_whole_number(size, "size", low=0, high=total)
    k = check_whole_number(errors, "errors", low=0, high=total - used)
    sets = math.lgamma(total + 1) - math.lgamma(used + 1) - math.lgamma(total - used + 1)
    shared = math.log((used + 1) * (used + 2)) + sets + check_number(log_messages, "log_messages")
    high = _largest_rate(k, total - used, math.log(1 - check_level(level)) - shared)
    return Interval(0.0, high, float(level), "sample_compression", "upper")


def _largest_rate(k: int, n: int, log_tail: float) -> float:
    """Find the largest p with ln Bin(n, k, p) ≥ `log_tail`, which may be below all float64."""
    if k == n:
        return 1.0
    at = np.arange(k + 1)
    steps = np.log(n - at[:-1]) - np.log(at[1:])
    log_choices = np.append(0.0, np.cumsum(steps))

    def log_share(p: float) -> float:
        terms = log_choices + at * math.log(p) + (n - at) * math.log1p(-p)
        top = float(terms.max())
        return top + math.log(float(np.exp(terms - top).sum()))

    return _first_outside(lambda p: log_share(p) >= log_tail, max(k / n, 5e-324), 1.0)


def leave_one_out_variability(
    leave_one_out_error: float, n: int, disagreement: float, *, level: float = 0.95
) -> Interval:
    """Interval for a learner's error around its leave-one-out error: loose.

    E(loo − err)² ≤ 1/n + 6·P(hₙ(x) ≠ hₙ₋₁(x)), by Chebyshev; covers at least `level` if the
    disagreement is known.
    Source: L. Devroye, L. Györfi and G. Lugosi, A Probabilistic Theory of Pattern Recognition,
    1996, 411-413.
    """
    value, size = _mean_and_size(leave_one_out_error, n, name="leave_one_out_error")
    differs = check_number(disagreement, "disagreement", low=0.0, high=1.0)
    mean_square = 1 / size + 6 * differs
    spread = math.sqrt(mean_square / (1 - check_level(level)))
    return _within(value - spread, value + spread, level, "leave_one_out_variability")


def _mean_and_size(mean: float, n: int, *, name: str = "mean", least: int = 1) -> tuple[float, int]:
    size = check_whole_number(n, "n", low=least)
    return check_number(mean, name, low=0.0, high=1.0), size


def _within(low: float, high: float, level: float, method: str) -> Interval:
    return Interval(max(low, 0.0), min(high, 1.0), float(level), method)
