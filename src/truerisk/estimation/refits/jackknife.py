r"""The jackknife estimate of how much too small the apparent error of a model is.

Refit i trains on all examples but the i-th and calls *all* n of them; all that is kept of it is how
many it calls wrong, and whether the i-th is among them.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from truerisk.checks import check_level, check_whole_number
from truerisk.errors import InputError
from truerisk.estimation.refits.rule_632plus import Codes, check_codes, check_column
from truerisk.intervals.binomial import fractional_interval
from truerisk.results import Estimate, Interval

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
            notes=(f"{n} refits without one example; bias of the apparent error {self.bias:.4g}",),
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
