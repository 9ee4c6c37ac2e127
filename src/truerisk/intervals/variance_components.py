r"""Intervals from refits: example noise, disagreement between refits, and refits that err together.

R repetitions of cross-validation judge each of n examples by models that did not train on it.
ψ[r, i] is the influence of example i on the measure in repetition r: the measure less its mean is
about the mean of ψ.  Three parts make its variance:

    V₁ = mean ψ² / n                        one model, n independent examples
    w  = variance of ψ[·, i] over r,        u  = min(1, mean w / mean ψ²): refits disagree about i
    d  = mean over fold (r, k) of ψ[r, i] − mean over r′ ≠ r of ψ[r′, i];  b examples in the fold
    s² = mean over folds of { d² − R/(R − 1) · mean w / b } / (1 − 1/b): its model moves all of them
    V  = V₁ (1 + a u) + c max(0, s²)

d compares a model with others *on the same examples*: the noise of the examples cancels.  The form
is that of a share of m = θ(1 − θ)/V examples.  a, c and the form are set by measure (`RULES`).
They were chosen by simulation; the rule is not proven.  It speaks of the model that is trained on
all the examples.  `studies/audit/refits.py` measures it on problems that it was not chosen on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Ends
from truerisk.checks import check_level, check_shares
from truerisk.errors import InputError
from truerisk.intervals.binomial import fractional_interval, jeffreys_ends
from truerisk.intervals.distributions import normal_quantile, student_quantile
from truerisk.intervals.group_jackknife import EVEN, group_jackknife, kurtosis_degrees
from truerisk.intervals.means import gamma_ends
from truerisk.results import Finding, Interval, RefitInterval
from truerisk.tallies.group_values import ratio_values, sums_of_groups
from truerisk.tallies.votes import CellPairs

Form = Literal["jeffreys", "careful", "exact", "gamma", "own"]

METHOD = "variance_components"
FEW_EVENTS = 5.0  # of one kind; with fewer, Clopper and Pearson's interval takes Jeffreys' place
FEW_OF_A_CLASS = 30  # examples; with fewer, the edges of AUC and MCC apply
ROUNDING = 1e-9  # of a number of events: errors and right answers count alike
NO_VARIANCE = 1e-18  # a variance this small, of a share or of a squared mean loss, is rounding
UNSEEN_LOSSES = 6.0  # times the largest loss, at most, may follow what no example showed
UNSEEN_BY_SHARE = 8.0  # times the largest loss where that one makes all of the variance
FEW_LOSSES = 100  # examples; with fewer, the losses seen say little of those to come
PERFECT = 1.5  # power of the k examples of a class: what a perfect ranking of them counts for
MIN_UNITS = 3  # examples or groups; two have one degree of freedom
MATTERS = 1.25  # times as long as without refits that err together: worth a note


@dataclass(frozen=True)
class Rule:
    """How much disagreement (a) and common errors (c) count, and the form of the interval.

    `jeffreys`: Jeffreys' interval at the effective size; `careful`: Clopper and Pearson's instead
    where there are under five events of a kind; `exact`: always that; `gamma`: of a mean loss
    without a largest value; `own`: the interval of one model's predictions, stretched.
    """

    a: float
    c: float
    form: Form


OTHER = Rule(1.0, 1.0, "jeffreys")
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "error_rate": Rule(0.75, 0.75, "careful"),
        "accuracy": Rule(0.75, 0.75, "careful"),
        "brier_score": Rule(1.0, 0.75, "careful"),
        "log_loss": Rule(1.0, 0.75, "gamma"),
        "roc_auc": Rule(1.0, 2.0, "careful"),
        "average_precision": Rule(1.0, 1.5, "exact"),
        # As average precision, but for the form, which is that of one model's predictions.
        **dict.fromkeys(
            ("eleven_point_precision", "breakeven_point", "best_f1", "ks"),
            Rule(1.0, 1.5, "own"),
        ),
    }
)


def rule_of(measure: str) -> Rule:
    """Give the rule of a measure; all that are not listed share one."""
    return RULES.get(measure, OTHER)


@dataclass(frozen=True)
class Components:
    """What the variance of a measure from refits is made of; the module has the formulas.

    `disagreement` is NaN where no example is judged twice, `together` where moreover no fold has
    two examples.  `units` counts the examples, or the groups.
    """

    independent: float
    disagreement: float
    together: float
    units: int

    @property
    def repeated(self) -> bool:
        """Whether some example is judged more than once."""
        return not math.isnan(self.disagreement)

    def variance(self, rule: Rule) -> float:
        """Give V; what is unknown counts as 0."""
        return self.without_together(rule) + rule.c * self._excess

    def without_together(self, rule: Rule) -> float:
        """Give V as if no model moved its examples together."""
        return self.independent * (1 + rule.a * (self.disagreement if self.repeated else 0.0))

    def stretch(self, rule: Rule) -> float:
        """Give by how much refits lengthen the interval of one model's examples: √(V/V₁)."""
        return math.sqrt(self.variance(rule) / self.independent) if self.independent > 0 else 1.0

    @property
    def _excess(self) -> float:
        return self.together if self.together > 0 else 0.0

    def described(self, interval: Interval, rule: Rule) -> RefitInterval:
        """Give the interval with what its variance is made of."""
        alone = self.without_together(rule)
        return RefitInterval(
            interval.low,
            interval.high,
            interval.level,
            interval.method,
            independent=self.independent,
            disagreement=self.disagreement,
            together=self.together,
            lengthening=math.sqrt(self.variance(rule) / alone) if alone > 0 else 1.0,
        )

    def of_groups(self, interval: Interval, rule: Rule) -> Interval:
        """Name an interval of groups by its refits, with what its variance is made of."""
        name = f"cluster_{METHOD}" if self.repeated else f"pooled_{interval.method}"
        named = interval if interval.method == "whole_range" else replace(interval, method=name)
        return self.described(named, rule) if self.repeated else named

    @property
    def agreement(self) -> float:
        """V₁ (1 + u): the variance of the agreement interval."""
        return self.without_together(OTHER)


def components(
    influence: Array, folds: NDArray[np.integer], groups: NDArray[np.generic] | None = None
) -> Components:
    """Split the variance of the mean of influences ψ (R × n, NaN where an example was not judged).

    An example counts once, with its own number of judgements; one judged once says nothing of u and
    s².  `folds` is the number of the refit that judged it.  With groups, ψ of a group is the sum
    over its examples (times G/n), and of few groups V₁ is G/(G − 1) times as large.
    """
    few = 1.0
    if groups is not None:
        influence, folds = _by_group(influence, folds, groups)
        few = influence.shape[1] / max(influence.shape[1] - 1, 1)
    judged = ~np.isnan(influence)
    complete = bool(judged.all())
    # Where every example is judged equally often, one number says how often.
    times = np.array([len(influence)]) if complete else judged.sum(axis=0)
    psi, some = influence, times > 0
    if not some.all():
        psi, judged, folds, times = psi[:, some], judged[:, some], folds[:, some], times[some]
        complete = bool(judged.all())
    psi = psi if complete else np.where(judged, psi, 0.0)
    units = psi.shape[1]
    squares = (psi**2).sum(axis=0) / times
    independent = few * float(squares.sum()) / units**2
    several = times > 1
    if not several.any():
        return Components(independent, math.nan, math.nan, units)
    if not several.all():
        psi, judged, times = psi[:, several], judged[:, several], times[several]
        folds, squares = folds[:, several], squares[several]
    sums = psi.sum(axis=0)
    around = psi - sums / times
    within = ((around if complete else np.where(judged, around, 0.0)) ** 2).sum(axis=0)
    within /= times - 1
    whole = float(squares.sum())
    disagreement = min(1.0, float(within.sum()) / whole) if whole > 0 else 0.0
    at = folds.ravel() if complete else folds[judged]
    apart = psi - (sums - psi) / (times - 1)
    noise = np.broadcast_to(within * times / (times - 1), psi.shape)
    size, moved, chance = (
        np.bincount(at, weights)
        for weights in (None, *(one.ravel() if complete else one[judged] for one in (apart, noise)))
    )
    large = size > 1
    if not large.any():
        return Components(independent, disagreement, math.nan, units)
    b = size[large]
    terms = ((moved[large] / b) ** 2 - chance[large] / b**2) / (1 - 1 / b)
    return Components(independent, disagreement, float(terms.mean()), units)


def components_of_cells(counted: CellPairs, gradient: Array) -> Components:
    r"""Split the variance of a measure of cells as `components` does, from counts.

    ψ is n times the gradient g of the cell.  With T judgements of an example in each cell, of R,

    .. math:: \sum_r \psi_r^2 = n^2 \sum_c T_c g_c^2, \qquad
              w = \frac{n^2}{R(R - 1)} \sum_{c < d} T_c T_d (g_c - g_d)^2

    and sums over the examples of a fold are sums of whole numbers that no measure changes.
    """
    repetitions, n = counted.repetitions, counted.n
    totals, split_totals, first, second = counted.of_all
    slopes = gradient[: len(totals)]
    independent = float(totals @ slopes**2) / repetitions
    apart = (slopes[first] - slopes[second]) ** 2
    within = float(split_totals @ apart) / (repetitions**2 * (repetitions - 1))
    disagreement = min(1.0, within / independent) if independent > 0 else 0.0
    sizes, moved, split = counted.of_large
    if not len(sizes):
        return Components(independent, disagreement, math.nan, n)
    terms = ((moved @ slopes) ** 2 - split @ apart) / sizes
    together = n**2 * float(terms.sum()) / len(sizes) / (repetitions - 1) ** 2
    return Components(independent, disagreement, together, n)


def share_ends(
    value: float, variance: float, counted: float, *, form: Form, level: float
) -> tuple[float, float]:
    """Give the ends for a share θ of variance V: binomial at :math:`m = θ(1 − θ)/V`, x = mθ.

    At θ = 0 or 1, or without a variance, m is the number counted and the interval exact.  The low
    end is 0 where x < 1, the high end 1 where m − x < 1.
    """
    degenerate = not (variance > NO_VARIANCE and 0 < value < 1)
    m = counted if degenerate else value * (1 - value) / variance
    x = m * value
    few = form == "exact" or (form == "careful" and min(x, m - x) < FEW_EVENTS - ROUNDING)
    if degenerate or few:
        exact = fractional_interval(min(x, m), m, level=level)
        low, high = exact.low, exact.high
    else:
        low, high = jeffreys_ends(x, m, level)
    # The value stays inside, whatever rounding and low levels do.
    return (
        0.0 if x < 1 - ROUNDING else min(low, value),
        1.0 if m - x < 1 - ROUNDING else max(high, value),
    )


def mean_loss_ends(
    value: float, variance: float, unseen: float, *, level: float
) -> tuple[float, float]:
    r"""Give the ends for a mean loss L without a largest value, by the gamma distribution.

    .. math:: [\,G(L, V, t),\; G(L + w/2,\, V + w^2/2,\, 1 - t)\,], \qquad t = (1 - level)/2

    G is the quantile of the gamma distribution by mean and variance; w is what the `unseen` losses
    (`unseen_losses`) add to the mean.
    """
    if not variance > NO_VARIANCE * value**2 or value <= 0:
        return 0.0, math.inf
    return gamma_ends(value, variance, unseen, level=check_level(level))


def unseen_losses(value: float, event: float, parts: Components) -> float:
    r"""Give what losses beyond all seen may add to a mean loss L of n examples.

    .. math:: \min\Bigl(6,\; 8\rho + 6\Bigl(\frac{100}{n}\Bigr)^2\Bigr) \, e,
              \qquad \rho = \frac{(e - L/n)^2}{V_1}

    The `event` e is what the example with the largest loss adds to the mean, ρ the share of the
    variance that it makes.  A model that never met an outlier in training gives the next one a loss
    beyond all seen: where one loss makes most of the variance, more like it are to be expected;
    where many make it, the tail has been seen.  Of few examples neither can be told.
    """
    if not parts.independent > 0:
        return 0.0
    share = (event - value / parts.units) ** 2 / parts.independent
    few = UNSEEN_LOSSES * (FEW_LOSSES / parts.units) ** 2
    return min(UNSEEN_LOSSES, UNSEEN_BY_SHARE * share + few) * event


@dataclass(frozen=True, kw_only=True)
class RefitQuestion:
    """A measure from refits: value and components on its own scale, and what it counts.

    `counted` is the number of examples in its denominator; `few` by how much few units make the
    variance larger; `event` what the largest loss of an example adds to a mean loss.
    """

    value: float
    parts: Components
    rule: Rule
    counted: float
    level: float
    measure_range: Ends = (0.0, 1.0)
    few: float = 1.0
    event: float = 0.0

    def interval(self, floor: float = 0.0) -> RefitInterval:
        """Give the interval by the form of the rule, the variance being `floor` at least."""
        low, high = self.measure_range
        variance = max(self.few * self.parts.variance(self.rule), floor)
        if self.rule.form == "gamma":
            unseen = unseen_losses(self.value, self.event, self.parts)
            ends = mean_loss_ends(self.value, variance, unseen, level=self.level)
        else:
            span = high - low
            share = min(max((self.value - low) / span, 0.0), 1.0)
            form, level = self.rule.form, self.level
            inner = share_ends(share, variance / span**2, self.counted, form=form, level=level)
            ends = low + span * inner[0], low + span * inner[1]
        return self._named(ends)

    def _named(self, ends: Ends) -> RefitInterval:
        low, high = min(ends[0], self.value), max(ends[1], self.value)
        interval = Interval(low, high, float(self.level), METHOD)
        return self.parts.described(interval, self.rule)


def few_of(class_size: float) -> float:
    """Give k/(k − 1) for the k examples of the rarest class: infinite for one."""
    return class_size / (class_size - 1) if class_size > 1 else math.inf


def notes_on(interval: object) -> tuple[Finding, ...]:
    """Say what refits that err together make of an interval, or that nothing is known of them."""
    if not isinstance(interval, RefitInterval):
        return ()
    if math.isnan(interval.together):
        text = "no refit judged two examples: whether refits err together is unknown"
        return (Finding(text, code="common_errors_unknown"),)
    if interval.lengthening <= MATTERS:
        return ()
    text = f"refits err together: the interval is {interval.lengthening:.1f} times as long"
    return (Finding(text, code="refits_err_together"),)


def refit_interval(
    losses: ArrayLike, folds: ArrayLike, *, level: float = 0.95, groups: ArrayLike | None = None
) -> Interval:
    r"""Give an interval for the error of a model from repeated cross-validation.

    With p the mean loss, ψ = loss − p, and :math:`V_1, u, s^2` as the module
    `truerisk.intervals.variance_components` has them,

    .. math:: V = V_1 (1 + \tfrac34 u) + \tfrac34 \max(0, s^2), \qquad m = \frac{p (1 - p)}{V}

    and the interval is Jeffreys' for m·p of m, Clopper and Pearson's where there are under five
    errors or under five right.  It is meant for the error of the model that is trained on all the
    examples, not for the learner's.  The rule was found by simulation and is not proven:
    docs/how-well-will-it-do.md has what it covers.

    Parameters
    ----------
    losses
        R × n with R ≥ 2, in [0, 1]: of example i in repetition r; NaN where it was not judged.
    folds
        R × n: the fold in which example i was judged in repetition r, by any whole numbers.
    level
        Confidence level.
    groups
        n values: the group of each example.  Groups are independent, their examples need not be:
        the interval is that of `group_jackknife`, :math:`\sqrt{V / V_1}` times as long.

    Examples
    --------
    >>> wrong = np.repeat([[1, 0]], [20, 80], axis=1)  # 20 of 100 are wrong in each repetition
    >>> folds = np.arange(500).reshape(5, 100) % 10
    >>> print(refit_interval(np.repeat(wrong, 5, axis=0), folds))
    [0.131, 0.286] at 95 %
    """
    table = np.asarray(losses, dtype=np.float64)
    parts = np.asarray(folds)
    if table.ndim != 2 or table.size == 0 or parts.shape != table.shape:
        raise InputError(
            "`losses` and `folds` must be tables of repetitions by examples, of one shape; got "
            f"{' × '.join(map(str, table.shape))} and {' × '.join(map(str, parts.shape))}."
        )
    judged = ~np.isnan(table)
    check_shares(table[judged], "losses")
    times = judged.sum(axis=0)
    if not (times > 1).any():
        raise InputError("`losses` must hold two repetitions at least; got one.")
    some = times > 0
    lost = np.where(judged, table, 0.0).sum(axis=0) / np.maximum(times, 1)
    value = float(lost[some].mean())
    _, numbers = np.unique(parts, return_inverse=True)
    refits = numbers.reshape(parts.shape) + np.arange(len(parts))[:, None] * (numbers.max() + 1)
    rule, level = rule_of("error_rate"), check_level(level)
    if groups is None:
        split = components(table - value, refits)
        question = RefitQuestion(
            value=value, parts=split, rule=rule, counted=float(some.sum()), level=level
        )
        return question.interval()
    split = components(table - value, refits, np.asarray(groups))
    _, group = np.unique(np.asarray(groups)[some], return_inverse=True)
    values = ratio_values(sums_of_groups(group, lost[some]), sums_of_groups(group, None))
    return split.of_groups(group_jackknife(values, level=level, stretch=split.stretch(rule)), rule)


def _by_group(
    influence: Array, refits: NDArray[np.integer], groups: NDArray[np.generic]
) -> tuple[Array, NDArray[np.integer]]:
    """Take groups as the examples: G/n times the sum of their influences, and their refits."""
    judged = ~np.isnan(influence)
    ever = judged.any(axis=0)
    _, numbers = np.unique(groups[ever], return_inverse=True)
    sizes = np.bincount(numbers)
    sums = np.full((len(influence), len(sizes)), np.nan)
    own = np.zeros(sums.shape, dtype=refits.dtype)
    for at, seen in enumerate(judged[:, ever]):
        there = numbers[seen]
        times = np.bincount(there, minlength=len(sizes))
        total = np.bincount(there, influence[at, ever][seen], len(sizes))
        met = times > 0
        # A repetition that judged half of a group stands for the whole of it.
        sums[at, met] = (total * sizes)[met] / times[met] * len(sizes) / len(numbers)
        own[at, there] = refits[at, ever][seen]
    return sums, own


def pseudo_value_interval(
    value: float,
    pseudo: Array,
    refits: NDArray[np.integer],
    *,
    level: float,
    weights: Array | None = None,
    groups: NDArray[np.generic] | None = None,
) -> Interval | None:
    r"""Give the interval of a score from the pseudo-values of its examples; None without a spread.

    The pseudo-values p of `truerisk.learners.scoring` are to a score what losses are to a mean
    loss.  Less their mean they take the place of the influences ψ of
    this module, whose :math:`V_1`, u and :math:`s^2` give

    .. math:: V = \frac{n}{n - 1} \bigl(V_1 (1 + u) + \max(0, s^2)\bigr), \qquad
              v \pm t_\nu \sqrt V

    The range of the score is not known, so the interval is Student's.  With :math:`\bar\psi_i` the
    mean of an example over its judgements, the degrees of freedom ν fall with their kurtosis
    (`kurtosis_degrees`), and the end on the side to which they are skewed is further out by

    .. math:: \frac{1 + 2 z^2}{6} \cdot \frac{|\sum_i \bar\psi_i^3|}{n^3 V}
              + \frac{\max_i |\bar\psi_i|}{n}

    The first term is that of Johnson's t [1]_ and Hall [2]_, the second what one more example like
    the most extreme one would add.  The form was chosen among 17 by simulation on 14 problems;
    `studies/audit/scorers.py` measures it on others.

    `value` is the mean of the scores of the refits.  `pseudo` and `refits`, R × n, are the
    pseudo-value of example i in repetition r, NaN where it was not judged, and the number of the
    refit that judged it.  `weights` says how many examples each column stands for.  With `groups`
    the units are groups, and `weights` must be left out.

    References
    ----------
    .. [1] N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations",
       Journal of the American Statistical Association 73(363), 536-544, 1978.
    .. [2] P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical
       Society B 54(1), 221-228, 1992.
    """
    judged = ~np.isnan(pseudo)
    ever = judged.any(axis=0)
    pseudo, refits, judged = pseudo[:, ever], refits[:, ever], judged[:, ever]
    counts = np.ones(pseudo.shape[1]) if weights is None else weights[ever]
    of_examples = np.where(judged, pseudo, 0.0).sum(axis=0) / judged.sum(axis=0)
    centre = float(np.average(of_examples, weights=counts))
    moved, size = of_examples - centre, float(counts.sum())
    if groups is None:
        parts, few = _weighted(pseudo - centre, refits, counts), size / max(size - 1, 1)
    else:
        # V₁ of groups is G/(G − 1) times as large already.
        parts, few = components(pseudo - centre, refits, groups[ever]), 1.0
        _, numbers = np.unique(groups[ever], return_inverse=True)
        moved = np.bincount(numbers, moved) * parts.units / size
        size, counts = float(parts.units), np.ones(parts.units)
    # Pseudo-values that differ by less differ by rounding.
    scale = max(value**2, float(np.mean(of_examples**2)))
    if len(moved) < MIN_UNITS or not parts.independent > NO_VARIANCE * scale:
        return None
    below, above = _reach(moved, counts, few * parts.variance(OTHER), level)
    method = "pseudo_values" if groups is None else "cluster_pseudo_values"
    interval = Interval(value - below, value + above, float(level), method)
    return parts.described(interval, OTHER) if parts.repeated else interval


def _weighted(influence: Array, refits: NDArray[np.integer], counts: Array) -> Components:
    """Give the components of n examples of which some stand for several.

    Squares count once for each example that a column stands for, sums in a refit as often.
    """
    if (counts == 1).all():
        return components(influence, refits)
    n, columns = float(counts.sum()), len(counts)
    squares = components(influence * np.sqrt(counts * columns / n), refits)
    sums = components(influence * counts * columns / n, refits)
    return Components(
        squares.independent * columns / n, squares.disagreement, sums.together, squares.units
    )


def _reach(moved: Array, counts: Array, variance: float, level: float) -> Ends:
    """Give how far the interval reaches below and above the value."""
    tail, size = (1 - level) / 2, float(counts.sum())
    degrees = max(kurtosis_degrees(moved * np.sqrt(counts)), 1.0)
    half = -student_quantile(degrees, tail) * math.sqrt(variance)
    cubes = math.fsum(counts * moved**3)
    skewness = cubes / math.fsum(counts * np.abs(moved) ** 3)
    z = float(normal_quantile(tail))
    further = (1 + 2 * z * z) / 6 * abs(cubes) / (size**3 * variance)
    further += float(np.abs(moved).max()) / size
    # Rounding must not decide which side is the far one: even examples have none.
    return half + further * (skewness < -EVEN), half + further * (skewness > EVEN)
