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
    """Give the error rate of predictions that have nothing to do with y: γ = Σ pₖ(1 − qₖ)."""
    y = check_codes(y_codes, n_classes)
    called = check_column(predicted, len(y), "predicted")
    known = called[(called >= 0) & (called < n_classes)]
    of_class = np.bincount(y, minlength=n_classes)
    called_so = np.bincount(known, minlength=n_classes)
    return int(of_class @ (len(y) - called_so)) / len(y) ** 2


def relative_overfitting(apparent: float, left_out: float, no_information: float) -> float:
    """Give R = (Err(1) − err)/(γ − err): how far the error left out is on the way to γ.

    0 without overfitting, 1 if nothing was learned, at most 4/3: the printed .632+ has a pole at
    1/.368.
    Source: B. Efron and R. Tibshirani, JASA 92(438), 548-560, 1997.
    """
    if not (left_out > apparent and no_information > apparent):
        return 0.0
    return min((left_out - apparent) / (no_information - apparent), LARGEST_OVERFITTING)


def error_632(apparent: float, left_out: float) -> float:
    """Give Efron's .632 estimate, .368·err + .632·Err(1); too low for models that overfit.

    Source: B. Efron, JASA 78(382), 316-331, 1983.
    """
    return (1 - DRAWN) * apparent + DRAWN * left_out


def error_632plus(apparent: float, left_out: float, no_information: float) -> float:
    """Give Efron and Tibshirani's .632+ estimate, which trusts the apparent error less if it lies.

    Err(.632) + (min(Err(1), γ) − err) · .368·.632·R/(1 − .368R).  Equal to ipred up to R = 4/3; not
    the ".632+" of mlxtend, which averages over refits and takes another apparent error.
    Source: B. Efron and R. Tibshirani, JASA 92(438), 548-560, 1997.
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
    """What B bootstrap refits say about the error rate of a learner.

    `left_out` is Err(1), the mean over examples of the share of refits without it that are wrong;
    `pooled` counts all these calls alike; `optimism` is how much larger a refit's error is on the
    examples than on its own sample; `no_information` is γ.  NaN: no refit left anything out.
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


def hull_ends(errors: BootstrapErrors, value: float, level: float) -> Interval | None:
    """Join Jeffreys' intervals at n examples around the estimate, around .632+ and around Err(1).

    The truth is mostly between the two; by simulation, not proven: `BootstrapErrors.as_estimates`.
    """
    values = errors.values()
    around = [value, values["bootstrap_632plus"], errors.left_out]
    defined = np.clip([one for one in around if not math.isnan(one)], 0.0, 1.0)
    n = int((errors.judged > 0).sum())
    if math.isnan(value) or n == 0:
        return None
    low, high = jeffreys(n * defined, np.full(len(defined), n), level)
    return Interval(float(low.min()), float(high.max()), float(level), "jeffreys_hull")


def agreement_ends(errors: BootstrapErrors, value: float, level: float) -> Interval | None:
    """Take Clopper and Pearson's interval at the number of examples that the refits are worth.

    n/(1 + u), u = min(1, mean of b/(b − 1)·q(1 − q) over p(1 − p)), q the share of wrong calls of
    an example among its b.
    """
    if math.isnan(value):
        return None
    m = errors.agreement.size(level=level)
    exact = fractional_interval(m * min(max(value, 0.0), 1.0), m, level=level)
    return Interval(exact.low, exact.high, float(level), "agreement")


def standard_error_ends(errors: BootstrapErrors, value: float, level: float) -> Interval | None:
    """Take the normal interval on the scale of log-odds, with the standard error of the paper.

    An estimate v gets the relative error of Err(1) = p, SE·v/p.  None where v or p is 0 or 1.
    """
    if not (0 < value < 1 and 0 < errors.left_out < 1):
        return None
    half = -float(ndtri((1 - level) / 2)) * errors.standard_error / (errors.left_out * (1 - value))
    centre = float(logit(value))
    low, high = float(expit(centre - half)), float(expit(centre + half))
    return Interval(low, high, float(level), "delta_after_bootstrap")


INTERVALS: dict[str, Callable[[BootstrapErrors, float, float], Interval | None]] = {
    "jeffreys_hull": hull_ends,
    "agreement": agreement_ends,
    "delta_after_bootstrap": standard_error_ends,
}


class BootstrapTally:
    """The sums over refits from which all bootstrap estimates follow; tallies merge exactly."""

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
        """Give the standard error of Err(1) by the delta method after the bootstrap.

        √ΣDᵢ², Dᵢ = (2 + 1/(n − 1))(Eᵢ − Err(1))/n + Σ_b(Nᵢᵇ − N̄ᵢ)qᵇ/Σ_b Iᵢᵇ: (35) and (36) of
        Efron and Tibshirani 1997.  Too large with few refits: they add their own noise to each Dᵢ.
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
    """What n refits, each without one example, say about the error rate of a learner.

    err + (ΣQᵢᵢ/n − ΣΣQᵢⱼ/n²), Qᵢⱼ = 1 where the refit without i calls j wrong: Efron's jackknife
    estimate of the excess error.  It is *not* Quenouille's correction.  `left_out` is the
    leave-one-out error.
    Sources: B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans, SIAM 1982, chapter
    7; JASA 78(382), 316-331, 1983.
    """

    apparent: float
    left_out: float
    everywhere: float
    wrong: Codes = field(repr=False)
    inside: NDArray[np.float64] = field(
        repr=False
    )  # error of each refit on the n − 1 it was trained on

    @property
    def variance(self) -> float:
        """Tukey's jackknife variance of the apparent error: (n − 1)/n Σ (errᵢ − mean)²."""
        n = len(self.inside)
        return float((n - 1) / n * np.sum((self.inside - self.inside.mean()) ** 2))

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
                    f"{n} refits without one example; bias of the apparent error {self.bias:.4g}, "
                    f"jackknife variance {self.variance:.4g}",
                    code="bias_of_apparent_error",
                ),
            ),
        )


class JackknifeTally:
    """Counts the errors of refits without one example, in any order and any number of parts."""

    def __init__(self, y_codes: ArrayLike, n_classes: int) -> None:
        check_whole_number(n_classes, "n_classes", low=1)
        self.y = check_codes(y_codes, n_classes)
        self.verdict = np.full(len(self.y), NOT_YET, dtype=np.int64)
        self.wrong_of = np.zeros(len(self.y), dtype=np.int64)  # Σⱼ Qᵢⱼ

    def add(self, left_out: int, predicted: ArrayLike) -> None:
        """Count the refit without example `left_out`: how it calls each of the n examples."""
        n = len(self.y)
        at = check_whole_number(left_out, "left_out", high=n - 1)
        if self.verdict[at] != NOT_YET:
            raise InputError(f"`left_out` must be a new example; got {at} twice.")
        wrong = check_column(predicted, n, "predicted") != self.y
        self.verdict[at] = WRONG if wrong[at] else RIGHT
        self.wrong_of[at] = int(wrong.sum())

    def merge(self, other: "JackknifeTally") -> None:
        """Add the refits of another tally of the same examples."""
        if not np.array_equal(self.y, other.y):
            raise InputError("`other` must be a tally of the same examples; got other classes.")
        new = other.verdict != NOT_YET
        if np.any(self.verdict[new] != NOT_YET):
            raise InputError("`other` must hold other refits; got an example left out twice.")
        self.verdict[new] = other.verdict[new]
        self.wrong_of[new] = other.wrong_of[new]

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
            everywhere=int(self.wrong_of.sum()) / n**2,
            wrong=self.verdict.copy(),
            inside=(self.wrong_of - self.verdict) / max(n - 1, 1),
        )
