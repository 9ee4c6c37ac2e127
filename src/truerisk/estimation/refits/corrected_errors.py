r"""The error rate by the bootstrap and by the jackknife: apparent errors, corrected by refits.

Refit b of the bootstrap trains on a sample drawn with replacement, refit i of the jackknife on all
examples but the i-th; both predict *all* n examples.  Every estimate is a function of a few sums
over the refits, all of whole numbers, in memory that does not grow with the refits:

    BootstrapTally  (grows, merges)  →  BootstrapErrors  (frozen)  →  Estimate
    JackknifeTally  (grows, merges)  →  JackknifeErrors  (frozen)  →  Estimate
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri

from truerisk.checks import check_choice, check_level, check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.intervals.agreement import Agreement
from truerisk.intervals.binomial import fractional_interval, jeffreys
from truerisk.results import Estimate, Finding, Interval, Resampled, Target

LARGEST_OVERFITTING = 4 / 3  # beyond it, and far from the pole, the printed formula is left
DRAWN = 0.632  # of the examples are in a bootstrap sample: 1 − 1/e; two rules carry its name

Codes = NDArray[np.int64]


def no_information_rate(y_codes: ArrayLike, predicted: ArrayLike, n_classes: int) -> float:
    r"""Give the error rate that these predictions would have if they had nothing to do with y.

    .. math:: \gamma = \sum_k p_k (1 - q_k)

    with :math:`p_k` the share of class k among the examples and :math:`q_k` among the predictions.

    Examples
    --------
    >>> no_information_rate([0, 0, 0, 1], [0, 0, 1, 1], 2)  # ¾ · ½ + ¼ · ½
    0.5
    """
    y = check_codes(y_codes, n_classes)
    called = check_column(predicted, len(y), "predicted")
    known = called[(called >= 0) & (called < n_classes)]
    of_class = np.bincount(y, minlength=n_classes)
    called_so = np.bincount(known, minlength=n_classes)
    return int(of_class @ (len(y) - called_so)) / len(y) ** 2


def relative_overfitting(apparent: float, left_out: float, no_information: float) -> float:
    r"""Give how far the error of examples left out is on its way to that of no information.

    .. math:: R = \frac{Err^{(1)} - \overline{err}}{\gamma - \overline{err}}

    0 where the model does not overfit (:math:`Err^{(1)}` or γ is not above the apparent error), 1
    where it learned nothing, at most 4/3 where it is worse than that.  [1]_ does not limit it from
    above, nor does the R package ipred; but .632+ has a pole at R = 1/.368.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92(438), 548-560, 1997. https://doi.org/10.1080/01621459.1997.10474007

    Examples
    --------
    >>> relative_overfitting(0.0, 0.25, 0.5)
    0.5
    """
    if not (left_out > apparent and no_information > apparent):
        return 0.0
    return min((left_out - apparent) / (no_information - apparent), LARGEST_OVERFITTING)


def error_632(apparent: float, left_out: float) -> float:
    r"""Give Efron's .632 estimate: too low by the apparent error, too high by the smaller samples.

    .. math:: .368\,\overline{err} + .632\,Err^{(1)}

    A bootstrap sample holds .632 of the examples: :math:`Err^{(1)}` is about a learner with
    fewer; the apparent error makes up for it.  Too low for models that overfit: a nearest neighbour
    that learns nothing gets .632 · ½.

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78(382), 316-331, 1983.
       https://doi.org/10.1080/01621459.1983.10477973

    Examples
    --------
    >>> round(error_632(0.1, 0.3), 4)
    0.2264
    """
    return (1 - DRAWN) * apparent + DRAWN * left_out


def error_632plus(apparent: float, left_out: float, no_information: float) -> float:
    r"""Give Efron and Tibshirani's .632+ estimate, which trusts the apparent error less if it lies.

    .. math:: Err^{(.632)} + (\min(Err^{(1)}, \gamma) - \overline{err})
              \frac{.368 \cdot .632\,R}{1 - .368\,R}

    with R of `relative_overfitting`: the .632 estimate at R = 0, :math:`Err^{(1)}` at R = 1.

    It equals what ipred gives as long as R does not exceed 4/3 and the estimate not 1.  It is not
    the ".632+" of mlxtend, which takes for the apparent error that of each refit on all examples,
    many of which it was not trained on, and averages over refits instead of examples.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92(438), 548-560, 1997. https://doi.org/10.1080/01621459.1997.10474007

    Examples
    --------
    >>> round(error_632plus(0.0, 0.25, 0.5), 4)  # .158 + .25 · .116288 / .816
    0.1936
    """
    r = relative_overfitting(apparent, left_out, no_information)
    excess = min(left_out, no_information) - apparent
    correction = (1 - DRAWN) * DRAWN * r / (1 - (1 - DRAWN) * r)
    plus = error_632(apparent, left_out) + excess * correction
    return plus if plus <= 1 or math.isnan(plus) else 1.0


def check_codes(y_codes: ArrayLike, n_classes: int) -> Codes:
    """Return `y_codes` if each is the code of one of the classes."""
    y = np.asarray(y_codes)
    if y.ndim != 1 or y.size == 0 or y.dtype.kind not in "iu":
        raise InputError(f"`y_codes` must be a column of class codes; got {shown(y_codes)}.")
    for end in (y.min(), y.max()):
        check_number(int(end), "y_codes", low=0, high=n_classes - 1)
    return y.astype(np.int64)


def check_column(values: ArrayLike, n: int, name: str) -> Codes:
    """Return `values` if they are n whole numbers."""
    column = np.asarray(values)
    if column.shape != (n,) or column.dtype.kind not in "iu":
        raise InputError(
            f"`{name}` must hold a whole number for each of {n} examples; got {shown(values)}."
        )
    return column.astype(np.int64, copy=False)


TARGET: Target = "the learner at this sample size"


@dataclass(frozen=True, kw_only=True)
class BootstrapErrors:
    r"""What B bootstrap refits say about the error rate of a learner.

    `apparent` is the error of the model trained on all examples, on these examples;
    `left_out` is :math:`Err^{(1)}`, the leave-one-out bootstrap: the mean over examples of the
    share of the refits without it that call it wrong; `pooled` is the same with all these calls
    counted alike; `optimism` is how much larger the error of a refit is on the examples than on its
    own sample, on average; `no_information` is γ.

    `judged` and `wrong` count, for each example, the refits without it and their wrong calls;
    `standard_error` is that of `left_out`; `replicates` are the errors of the single refits on what
    they left out, `optimisms` their optimism.  NaN says that no refit left anything out.
    """

    apparent: float
    left_out: float
    pooled: float
    optimism: float
    no_information: float
    standard_error: float
    judged: Codes = field(repr=False)
    wrong: Codes = field(repr=False)
    replicates: tuple[float, ...] = field(repr=False, default=())
    optimisms: tuple[float, ...] = field(repr=False, default=())

    @property
    def relative_overfitting(self) -> float:
        """R, in [0, 1]."""
        return relative_overfitting(self.apparent, self.left_out, self.no_information)

    @property
    def never_left_out(self) -> int:
        """How many examples every refit was trained on; they are in no mean."""
        return int((self.judged == 0).sum())

    @property
    def agreement(self) -> Agreement:
        """How much the refits agree on the examples they left out, in O(n); see `agreement`."""
        met, twice = self.judged > 0, self.judged > 1
        value, u = self.left_out, None
        if twice.any():
            share = self.wrong[twice] / self.judged[twice]
            unbiased = self.judged[twice] / (self.judged[twice] - 1)
            within, between = float(np.mean(unbiased * share * (1 - share))), value * (1 - value)
            u = min(within / between, 1.0) if between > 0 else 0.0
        return Agreement(value=value, n=float(met.sum()), disagreement=u)

    def values(self) -> dict[str, float]:
        """Give the four estimates of the error rate by the names of their methods."""
        return {
            "bootstrap_632plus": error_632plus(self.apparent, self.left_out, self.no_information),
            "bootstrap_632": error_632(self.apparent, self.left_out),
            "leave_one_out_bootstrap": self.left_out,
            "bootstrap_optimism": self.apparent + self.optimism,
        }

    def as_estimates(
        self, level: float = 0.95, *, interval: str = "jeffreys_hull"
    ) -> dict[str, Estimate]:
        """Give the four estimates with an interval each, by the names of their methods.

        Measured at 95 % around .632+ (300 samples a cell; linear discriminant, nearest neighbour
        and tree; n 50 to 300; 50 to 100 refits), coverage of the learner's error:

        =====================  =======================  ======================  ==========
        `interval`             42 cells: mean, least    12 others: mean, least  mean width
        =====================  =======================  ======================  ==========
        jeffreys_hull          .973, .890               .948, .870              .183, .214
        agreement              .945, .560               .962, .907              .209, .238
        delta_after_bootstrap  .991, .917               .992, .970              .314, .341
        =====================  =======================  ======================  ==========

        The default was chosen on the 42 cells, among ten forms: the 12 others say more of
        it.  It is least sure with heavy tails and flipped labels; it covered *this model's* error
        .90 of the time or more.  An agreement interval around .632+ misses where the model fits its
        examples perfectly: the estimate is then too low by as much at any n.
        `delta_after_bootstrap` is too wide, the more so the fewer the refits for the examples.
        """
        check_level(level)
        ends = INTERVALS[check_choice(interval, INTERVALS, "interval")]
        number = f"{len(self.optimisms)} bootstrap refits"
        notes: tuple[Finding, ...] = (Finding(number, code="bootstrap_refits"),)
        if self.never_left_out:
            always = f"{self.never_left_out} examples were drawn by every refit and not predicted"
            notes += (Finding(always, code="drawn_by_every_refit"),)
        replicates = {
            "leave_one_out_bootstrap": self.replicates,
            "bootstrap_optimism": tuple(self.apparent + extra for extra in self.optimisms),
        }
        estimates: dict[str, Estimate] = {}
        for method, value in self.values().items():
            one = Estimate(
                value=value,
                interval=ends(self, value, level),
                measure="error_rate",
                method=method,
                n=len(self.judged),
                target=TARGET,
                notes=notes,
            )
            several = replicates.get(method)
            estimates[method] = (
                one if several is None else Resampled(**vars(one), replicates=several)
            )
        return estimates


def hull_ends(found: BootstrapErrors, value: float, level: float) -> Interval | None:
    r"""Join Jeffreys' intervals at n examples around the estimate, around .632+ and around Err(1).

    .632+ is too low for models that fit their examples perfectly, :math:`Err^{(1)}` too high for
    those that gain from more of them; the truth is mostly between the two.  Found by simulation,
    not proven: see `BootstrapErrors.as_estimates`.
    """
    values = found.values()
    around = [value, values["bootstrap_632plus"], found.left_out]
    defined = np.clip([one for one in around if not math.isnan(one)], 0.0, 1.0)
    n = int((found.judged > 0).sum())
    if math.isnan(value) or n == 0:
        return None
    low, high = jeffreys(n * defined, np.full(len(defined), n), level)
    return Interval(float(low.min()), float(high.max()), float(level), "jeffreys_hull")


def agreement_ends(found: BootstrapErrors, value: float, level: float) -> Interval | None:
    r"""Take Clopper and Pearson's interval at the number of examples that the refits are worth.

    .. math:: m = \frac{n}{1 + u}, \qquad
              u = \min\Bigl(1, \frac{1}{p (1 - p)} \cdot \frac{1}{n} \sum_i
              \frac{b_i}{b_i - 1}\, q_i (1 - q_i)\Bigr)

    with :math:`q_i` the share of wrong calls among the :math:`b_i` of example i by refits without
    it and p their mean.  The interval is put around the estimate at hand.
    """
    if math.isnan(value):
        return None
    m = found.agreement.size(level=level)
    exact = fractional_interval(m * min(max(value, 0.0), 1.0), m, level=level)
    return Interval(exact.low, exact.high, float(level), "agreement")


def standard_error_ends(found: BootstrapErrors, value: float, level: float) -> Interval | None:
    r"""Take the normal interval on the scale of log-odds, with the standard error of the paper.

    .. math:: \mathrm{logit}\,v \pm z\,\frac{SE}{p\,(1 - v)}

    SE is that of :math:`Err^{(1)} = p`; an estimate v gets the same relative error, SE · v/p.
    None where v or p is 0 or 1.
    """
    if not (0 < value < 1 and 0 < found.left_out < 1):
        return None
    half = -float(ndtri((1 - level) / 2)) * found.standard_error / (found.left_out * (1 - value))
    centre = float(logit(value))
    low, high = float(expit(centre - half)), float(expit(centre + half))
    return Interval(low, high, float(level), "delta_after_bootstrap")


INTERVALS: dict[str, Callable[[BootstrapErrors, float, float], Interval | None]] = {
    "jeffreys_hull": hull_ends,
    "agreement": agreement_ends,
    "delta_after_bootstrap": standard_error_ends,
}


class BootstrapTally:
    """The sums over refits from which all bootstrap estimates follow: a few numbers an example.

    All of them are whole: tallies of parts of the refits merge to the last bit.

    Parameters
    ----------
    y_codes
        The class of each example, 0 … n_classes − 1.
    n_classes
        How many classes there are.

    Examples
    --------
    >>> tally = BootstrapTally([0, 0, 1, 1], 2)
    >>> tally.add([2, 1, 1, 0], [0, 0, 1, 0])
    >>> tally.add([0, 2, 0, 2], [0, 0, 0, 1])
    >>> tally.add([1, 0, 2, 1], [0, 0, 1, 1])
    >>> found = tally.errors(predicted_by_all=[0, 0, 1, 1])
    >>> found.left_out, found.pooled, found.optimism  # (0 + 0 + 1 + 1)/4; 2/4; (1/4 + 1/4 + 0)/3
    (0.5, 0.5, 0.16666666666666666)
    >>> estimate = found.as_estimates()["bootstrap_632"]
    >>> print(round(estimate.value, 3), estimate.interval)
    0.316 [0.047, 0.877] at 95 %
    """

    def __init__(self, y_codes: ArrayLike, n_classes: int) -> None:
        self.n_classes = check_whole_number(n_classes, "n_classes", low=1)
        self.y = check_codes(y_codes, n_classes)
        n = len(self.y)
        self.judged = np.zeros(n, dtype=np.int64)  # Σ I
        self.wrong = np.zeros(n, dtype=np.int64)  # Σ I·Q
        self.drawn = np.zeros(n, dtype=np.int64)  # Σ N
        self.drawn_wrong = np.zeros(n, dtype=np.int64)  # Σ N · (wrong calls of the refit, left out)
        # Of each refit: left out, wrong among them, wrong among all, wrong in its own sample.
        self.refits: list[tuple[int, int, int, int]] = []

    def add(self, drawn: ArrayLike, predicted: ArrayLike) -> None:
        """Count one refit: how often it drew each example, and how it calls each."""
        n = len(self.y)
        times = check_column(drawn, n, "drawn")
        if times.min() < 0 or times.sum() != n:
            raise InputError(
                f"`drawn` must hold how often each example was drawn, {n} in all; got "
                f"{shown(int(times.sum()))}."
            )
        wrong = check_column(predicted, n, "predicted") != self.y
        out = times == 0
        missed = out & wrong
        here = int(missed.sum())
        self.judged += out
        self.wrong += missed
        self.drawn += times
        self.drawn_wrong += times * here
        self.refits.append((int(out.sum()), here, int(wrong.sum()), int(times @ wrong)))

    def merge(self, other: "BootstrapTally") -> None:
        """Add the refits of another tally of the same examples, after one's own."""
        if not np.array_equal(self.y, other.y):
            raise InputError("`other` must be a tally of the same examples; got other classes.")
        for name in ("judged", "wrong", "drawn", "drawn_wrong"):
            getattr(self, name).__iadd__(getattr(other, name))
        self.refits.extend(other.refits)

    def errors(self, predicted_by_all: ArrayLike) -> BootstrapErrors:
        """Give all estimates, with the predictions of the model trained on all examples."""
        n = len(self.y)
        called = check_column(predicted_by_all, n, "predicted_by_all")
        if not self.refits:
            raise InputError("`errors` must come after at least one refit; got none.")
        table = np.array(self.refits, dtype=np.int64)
        out, missed, everywhere, inside = (int(total) for total in table.sum(axis=0))
        met = self.judged > 0
        left_out = float(np.mean(self.wrong[met] / self.judged[met])) if out else math.nan
        return BootstrapErrors(
            apparent=int((called != self.y).sum()) / n,
            left_out=left_out,
            pooled=missed / out if out else math.nan,
            optimism=(everywhere - inside) / (n * len(table)),
            no_information=no_information_rate(self.y, called, self.n_classes),
            standard_error=self._standard_error(left_out, missed),
            judged=self.judged.copy(),
            wrong=self.wrong.copy(),
            replicates=tuple((table[table[:, 0] > 0, 1] / table[table[:, 0] > 0, 0]).tolist()),
            optimisms=tuple(((table[:, 2] - table[:, 3]) / n).tolist()),
        )

    def _standard_error(self, left_out: float, missed: int) -> float:
        r"""Give the standard error of Err(1) by the delta method after the bootstrap.

        .. math:: \Bigl(\sum_i D_i^2\Bigr)^{1/2}, \quad
                  D_i = \Bigl(2 + \frac{1}{n - 1}\Bigr) \frac{E_i - Err^{(1)}}{n}
                  + \frac{\sum_b (N_i^b - \bar N_i)\, q^b}{\sum_b I_i^b}, \quad
                  q^b = \frac{1}{n} \sum_i I_i^b Q_i^b

        (35) and (36) of Efron and Tibshirani 1997; :math:`E_i` is the share of wrong calls of
        example i.  Too large with few refits: they add their own noise to each :math:`D_i`.
        """
        n, refits = len(self.y), len(self.refits)
        met = self.judged > 0
        if math.isnan(left_out) or n < 2:
            return math.nan
        share = self.wrong[met] / self.judged[met]
        # n · B times the sum over b, in whole numbers.
        covariance = refits * self.drawn_wrong[met] - self.drawn[met] * missed
        influence = (2 + 1 / (n - 1)) * (share - left_out) / n
        influence += covariance / (n * refits * self.judged[met])
        return math.sqrt(math.fsum(influence**2))


NOT_YET, RIGHT, WRONG = -1, 0, 1


@dataclass(frozen=True, kw_only=True)
class JackknifeErrors:
    r"""What n refits, each without one example, say about the error rate of a learner.

    With :math:`Q_{ij} = 1` where the refit without example i calls example j wrong, and
    :math:`\overline{err}` the apparent error of the model trained on all:

    .. math:: \overline{err} + \Bigl(\frac{1}{n} \sum_i Q_{ii}
              - \frac{1}{n^2} \sum_i \sum_j Q_{ij}\Bigr)

    The bracket is Efron's jackknife estimate of the expected excess error: the quadratic
    approximation, through the n samples that lack one example, to the bootstrap's optimism.
    Leave-one-out takes off :math:`\overline{err}` where this takes off the mean apparent error of
    the refits on all n examples, `everywhere`; so the two differ by `apparent` − `everywhere`, and
    agree where no refit changes its mind about any example.  It is *not* Quenouille's correction
    :math:`(n - 1)(\overline{err}_{(\cdot)} - \overline{err})`, which is for the bias of the
    apparent error as an estimate of its own limit.

    `left_out` is the leave-one-out error.  `wrong` tells, for each example, whether the refit
    without it calls it wrong.

    References
    ----------
    .. [1] B. Efron, "The jackknife, the bootstrap and other resampling plans", SIAM 1982,
       chapter 7. https://doi.org/10.1137/1.9781611970319
    .. [2] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78(382), 316-331, 1983.
       https://doi.org/10.1080/01621459.1983.10477973
    """

    apparent: float
    left_out: float
    everywhere: float
    wrong: Codes = field(repr=False)

    @property
    def bias(self) -> float:
        """How much too small the apparent error is, on average."""
        return self.left_out - self.everywhere

    @property
    def value(self) -> float:
        """The error rate: apparent error plus bias; it can leave [0, 1]."""
        return self.apparent + self.bias

    def as_estimate(self, level: float = 0.95) -> Estimate:
        """Give the error rate with Clopper and Pearson's interval at n examples around it.

        The interval takes the n calls to be independent, which they are nearly.
        """
        n = len(self.wrong)
        centre = min(max(self.value, 0.0), 1.0)
        exact = fractional_interval(n * centre, n, level=check_level(level))
        return Estimate(
            value=self.value,
            interval=Interval(exact.low, exact.high, exact.level, "binomial"),
            measure="error_rate",
            method="jackknife",
            n=n,
            target="the learner at this sample size",
            notes=(
                Finding(
                    f"{n} refits without one example; bias of the apparent error {self.bias:.4g}",
                    code="bias_of_apparent_error",
                ),
            ),
        )


class JackknifeTally:
    """Counts the errors of refits without one example, in any order and any number of parts.

    Parameters
    ----------
    y_codes
        The class of each example, 0 … n_classes − 1.
    n_classes
        How many classes there are.

    Examples
    --------
    >>> tally = JackknifeTally([0, 0, 1], 2)
    >>> tally.add(0, [1, 0, 1])  # without the first it is called wrong
    >>> tally.add(1, [0, 0, 1])
    >>> tally.add(2, [0, 0, 0])
    >>> found = tally.errors(predicted_by_all=[0, 0, 1])
    >>> round(found.left_out, 3), round(found.bias, 3)  # 2/3; 2/3 − 2/9
    (0.667, 0.444)
    >>> print(found.as_estimate())
    error_rate = 0.444 [0.026, 0.946] at 95 % (binomial, n = 3, the learner at this sample size)
    """

    def __init__(self, y_codes: ArrayLike, n_classes: int) -> None:
        check_whole_number(n_classes, "n_classes", low=1)
        self.y = check_codes(y_codes, n_classes)
        self.verdict = np.full(len(self.y), NOT_YET, dtype=np.int64)
        self.everywhere = 0  # Σᵢ Σⱼ Q

    def add(self, left_out: int, predicted: ArrayLike) -> None:
        """Count the refit without example `left_out`: how it calls each of the n examples."""
        n = len(self.y)
        at = check_whole_number(left_out, "left_out", high=n - 1)
        if self.verdict[at] != NOT_YET:
            raise InputError(f"`left_out` must be a new example; got {at} twice.")
        wrong = check_column(predicted, n, "predicted") != self.y
        self.verdict[at] = WRONG if wrong[at] else RIGHT
        self.everywhere += int(wrong.sum())

    def merge(self, other: "JackknifeTally") -> None:
        """Add the refits of another tally of the same examples."""
        if not np.array_equal(self.y, other.y):
            raise InputError("`other` must be a tally of the same examples; got other classes.")
        new = other.verdict != NOT_YET
        if np.any(self.verdict[new] != NOT_YET):
            raise InputError("`other` must hold other refits; got an example left out twice.")
        self.verdict[new] = other.verdict[new]
        self.everywhere += other.everywhere

    def errors(self, predicted_by_all: ArrayLike) -> JackknifeErrors:
        """Give the estimate, with the predictions of the model trained on all examples."""
        n = len(self.y)
        called = check_column(predicted_by_all, n, "predicted_by_all")
        missing = int((self.verdict == NOT_YET).sum())
        if missing:
            raise InputError(f"`errors` must come after all {n} refits; got {n - missing}.")
        return JackknifeErrors(
            apparent=int((called != self.y).sum()) / n,
            left_out=int(self.verdict.sum()) / n,
            everywhere=self.everywhere / n**2,
            wrong=self.verdict.copy(),
        )
