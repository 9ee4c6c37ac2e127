"""Bounds that assume no distribution: for the mean of losses in [0, 1], and for trained rules.

The first three hold for the mean of n independent losses of any kind within [0, 1], not only for
errors; for plain errors the exact interval of `binomial` is shorter than each of them.  The last
three speak about training and leave-one-out errors.  They are known to be loose, often [0, 1], and
are here for comparison.
"""

import math

from truerisk.checks import check_level, check_number, check_whole_number
from truerisk.results import Interval


def hoeffding(mean: float, n: int, *, level: float = 0.95) -> Interval:
    r"""Interval for the mean of losses in [0, 1], by Hoeffding's inequality.

    .. math:: P(|\bar X - \mu| > \varepsilon) \le 2 \exp(-2 n \varepsilon^2)

    Covers with probability at least `level` if the losses are independent and lie in [0, 1].  Its
    width does not depend on the mean, so it is far too wide for rare errors.

    References
    ----------
    .. [1] W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA
       58(301), 13-30, 1963. https://doi.org/10.1080/01621459.1963.10500830

    Examples
    --------
    >>> print(hoeffding(0.2, 100))
    [0.064, 0.336] at 95 %
    """
    value, size = _mean_and_size(mean, n)
    spread = math.sqrt(math.log(2 / (1 - check_level(level))) / (2 * size))
    return _within(value - spread, value + spread, level, "hoeffding")


def chernoff_kl(mean: float, n: int, *, level: float = 0.95) -> Interval:
    r"""Interval for the mean of losses in [0, 1], by the relative entropy form of Chernoff's bound.

    .. math:: \{p : n\,\mathrm{KL}(\bar X \,\|\, p) \le \ln(2 / (1 - level))\}, \quad
              \mathrm{KL}(q \| p) = q \ln\frac{q}{p} + (1-q) \ln\frac{1-q}{1-p}

    Covers with probability at least `level` if the losses are independent and lie in [0, 1]; the
    inequality is Hoeffding's of 1963 before he simplifies it, so it is never wider than `hoeffding`
    and much shorter near 0 and 1.

    References
    ----------
    .. [1] W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA
       58(301), 13-30, 1963, theorem 1. https://doi.org/10.1080/01621459.1963.10500830

    Examples
    --------
    >>> print(chernoff_kl(0.0, 100))
    [0.000, 0.036] at 95 %
    """
    value, size = _mean_and_size(mean, n)
    allowed = math.log(2 / (1 - check_level(level))) / size
    low, high = _kl_end(value, 0.0, allowed), _kl_end(value, 1.0, allowed)
    return _within(low, high, level, "chernoff_kl")


def _kl_end(mean: float, end: float, allowed: float) -> float:
    """Find, between the mean and an end of [0, 1], where the divergence reaches what is allowed."""
    if mean == end:
        return end
    inside, outside = mean, end
    for _ in range(1100):  # towards 0 halving must pass all exponents of float64
        middle = 0.5 * (inside + outside)
        if middle in (inside, outside):
            break
        if _divergence(mean, middle) <= allowed:
            inside = middle
        else:
            outside = middle
    return outside


def _divergence(q: float, p: float) -> float:
    return sum(
        share * math.log(share / other) for share, other in ((q, p), (1 - q, 1 - p)) if share > 0
    )


def empirical_bernstein(mean: float, variance: float, n: int, *, level: float = 0.95) -> Interval:
    r"""Interval for the mean of losses in [0, 1] that profits from a small sample variance.

    .. math:: |\bar X - \mu| \le \sqrt{2 V \ln(4/\delta) / n} + \frac{7 \ln(4/\delta)}{3 (n - 1)},
              \quad \delta = 1 - level

    Covers with probability at least `level` if the losses are independent and lie in [0, 1].

    `variance` is the sample variance V, with n − 1 in the denominator.

    References
    ----------
    .. [1] A. Maurer and M. Pontil, "Empirical Bernstein bounds and sample variance penalization",
       COLT 2009, theorem 4, applied to either side with half of δ.

    Examples
    --------
    >>> print(empirical_bernstein(0.05, 0.001, 1000))
    [0.037, 0.063] at 95 %
    """
    value, size = _mean_and_size(mean, n, least=2)
    spread_of_losses = check_number(variance, "variance", low=0.0, high=0.5)
    log_term = math.log(4 / (1 - check_level(level)))
    spread = math.sqrt(2 * spread_of_losses * log_term / size) + 7 * log_term / (3 * (size - 1))
    return _within(value - spread, value + spread, level, "empirical_bernstein")


def vc_bound(
    training_error: float, n: int, vc_dimension: float, *, level: float = 0.95
) -> Interval:
    r"""Bound the error of any rule of a hypothesis space by its training error.  Loose.

    .. math:: err \le err_{train} + 2 \sqrt{\frac{d (\ln(2n/d) + 1) - \ln(\delta/4)}{n}}, \quad
              \delta = 1 - level

    Holds with probability at least `level` for all rules of a space of VC dimension d at once,
    whatever the distribution; the price is that for usual n it says nothing at all.

    d features and a threshold have d + 1.

    References
    ----------
    .. [1] V. Vapnik, "Statistical learning theory", Wiley 1998; in this form equation 10 of
       T. Joachims, "Estimating the generalization performance of a SVM efficiently", 1999.

    Examples
    --------
    >>> print(vc_bound(0.05, 100_000, 11))
    [0.000, 0.120] at 95 %
    """
    value, size = _mean_and_size(training_error, n, name="training_error")
    d = check_number(vc_dimension, "vc_dimension", low=1.0)
    if d >= size:  # beyond, the growth function is 2ⁿ and nothing is bounded
        check_level(level)
        return Interval(0.0, 1.0, level, "vc_bound")
    complexity = d * (math.log(2 * size / d) + 1) - math.log((1 - check_level(level)) / 4)
    return _within(0.0, value + 2 * math.sqrt(complexity / size), level, "vc_bound")


def stability_bound(
    training_risk: float,
    n: int,
    stability: float,
    *,
    largest_loss: float = 1.0,
    level: float = 0.95,
) -> Interval:
    r"""Bound the risk of a stable learner by its training risk.  Loose.

    .. math:: R \le R_{train} + 2\beta + (4 n \beta + M) \sqrt{\frac{\ln(1/\delta)}{2n}}, \quad
              \delta = 1 - level

    Holds with probability at least `level` if leaving out any one example changes no loss by more
    than β, and all losses lie in [0, M].  Small only if β falls faster than 1/√n.  For the
    soft-margin SVM with the hinge loss, β ≤ C κ², κ² the largest K(x, x) (their λ is 1/(2Cn)).

    `training_risk` is the mean loss on the n training examples; for the SVM of the hinge loss cut
    off at 1, which bounds the error rate.

    References
    ----------
    .. [1] O. Bousquet and A. Elisseeff, "Stability and generalization", JMLR 2, 499-526, 2002,
       theorem 12 and section 5.2.2.

    Examples
    --------
    >>> print(stability_bound(0.05, 1000, 0.0001))
    [0.000, 0.104] at 95 %
    """
    value, size = _mean_and_size(training_risk, n, name="training_risk")
    beta = check_number(stability, "stability", low=0.0)
    most = check_number(largest_loss, "largest_loss", low=0.0)
    log_term = math.sqrt(-math.log(1 - check_level(level)) / (2 * size))
    bound = value + 2 * beta + (4 * size * beta + most) * log_term
    return _within(0.0, bound, level, "stability_bound")


def leave_one_out_variability(
    leave_one_out_error: float, n: int, disagreement: float, *, level: float = 0.95
) -> Interval:
    r"""Interval for a learner's error around its leave-one-out error.  Loose.

    .. math:: E (err_{loo} - err)^2 \le \frac{1}{n} + 6\, P(h_n(x) \ne h_{n-1}(x))

    for learners that do not depend on the order of the examples; Chebyshev's inequality makes an
    interval of it, which covers with probability at least `level` if the disagreement is known.

    `disagreement` is the probability that rules trained with and without one example differ on a
    new example.

    References
    ----------
    .. [1] L. Devroye, L. Györfi and G. Lugosi, "A probabilistic theory of pattern recognition",
       Springer 1996, 411-413.

    Examples
    --------
    >>> print(leave_one_out_variability(0.1, 10_000, 0.0001))
    [0.000, 0.218] at 95 %
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
