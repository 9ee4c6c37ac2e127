r"""Thresholds chosen on the examples that they are measured on: guarantees, intervals.

At a threshold, `errors` of `accepted` examples are wrong.  A promise "at most the share `rate` of
them will be wrong" is refuted or not by the exact binomial tail :math:`P(X \le errors)`, X of
`accepted` trials of probability `rate`.  What is needed is that the tests of *many* thresholds are
wrong together with probability at most delta.

References
----------
.. [1] S. S. Wilks, "Determination of sample sizes for setting tolerance limits", Annals of
   Mathematical Statistics 12(1), 91-96, 1941.
.. [2] Y. Geifman and R. El-Yaniv, "Selective classification for deep neural networks", NeurIPS
   2017.
.. [3] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
   Calibrating predictive algorithms to achieve risk control", Annals of Applied Statistics 19(2),
   1641-1662, 2025.
.. [4] B. L. Wiens, "A fixed sequence Bonferroni procedure for testing multiple endpoints",
   Pharmaceutical Statistics 2(3), 211-215, 2003.
"""

import functools
import itertools
import math

import numpy as np

from truerisk.aliases import ArrayLike, Flags
from truerisk.checks import check_level
from truerisk.intervals.binomial import at_most
from truerisk.intervals.distributions import first_that_holds, normal_quantile

SHIFT = 0.5  # standard errors that a choice may add to either side of an interval
LARGEST_SIZE = 10**9  # examples; a plan for more is no plan


def kept_by_order(errors: ArrayLike, n: int, rate: float, delta: float) -> Flags:
    r"""Say at which thresholds at most the share `rate` of one class is on the wrong side.

    For a risk that only grows as the threshold moves away: positives missed (1 − recall) as it
    rises, negatives called positive (1 − specificity) as it falls.  The threshold up to which k of
    the n examples of the class are wrong is an order statistic, and

    .. math:: P(\text{share wrong} \le rate) \ge P(B \ge k + 1), \qquad B \sim Bin(n, rate)

    **Proven**: if the n examples are independent, then with probability at least 1 − delta the
    promise holds at *all* thresholds that are kept, however one of them is chosen, ties or not.
    Without ties no larger set of ranks has this property.  `errors` are the examples of the class
    on the wrong side at each threshold, n all of them.
    """
    wrong = np.asarray(errors, dtype=np.float64)
    return at_most(wrong, np.full(wrong.shape, float(n)), rate) <= delta


def kept_in_sequence(accepted: ArrayLike, errors: ArrayLike, rate: float, delta: float) -> Flags:
    """Say at which thresholds at most the share `rate` of the accepted examples is wrong.

    For risks that may rise and fall with the threshold: precision, the error rate of what is not
    rejected.  Thresholds are tested in descending order, all at one level, until the first one
    fails (fixed sequence).  As the most selective thresholds have too few examples to pass, there
    are several starts, at ranks that do not depend on the labels: where 0, 1, 3, 7, … errors would
    just pass.  The i-th start gets a share of delta proportional to 1/i; a sequence that arrives at
    the next start adds its share to what it has [4]_.

    **Proven**, for independent examples: with probability at least 1 − delta the promise holds at
    *all* thresholds that are kept, however one of them is chosen, if the scores have no ties and
    `rate` is at most ½; else, if lower scores are not less often wrong where the promise is broken.
    The reason: given the score of a start, the examples above it are independent, and with too many
    errors among them the start fails, whatever its own example is; between two scores at which the
    risk is exactly `rate` it is `rate` on average, so that counts between them are binomial
    wherever the start is.

    Bisection [2]_ divides delta by ⌈log₂ n⌉ instead; it keeps less, and is proven only where the
    risk falls with the threshold.  `accepted` examples reach each threshold, `errors` of them are
    wrong; thresholds descend.
    """
    reached = np.asarray(accepted, dtype=np.float64)
    tail = at_most(np.asarray(errors, dtype=np.float64), reached, rate)
    kept = np.zeros(len(reached), dtype=np.bool_)
    if not len(reached):
        return kept
    starts = sequence_starts(int(reached[-1]), rate, delta)
    rows = [int(np.searchsorted(reached, rank)) for rank, _ in starts]
    level = 0.0  # that of the sequence that arrives at a start; 0 where none does
    for (_, share), begin, end in zip(starts, rows, [*rows, len(reached)][1:], strict=True):
        level += share
        failed = np.flatnonzero(tail[begin:end] > level)
        stop = begin + int(failed[0]) if len(failed) else end
        kept[begin:stop] = True
        level = level if stop == end else 0.0
    return kept


@functools.lru_cache(maxsize=256)
def sequence_starts(n: int, rate: float, delta: float) -> tuple[tuple[int, float], ...]:
    """Give the ranks at which sequences start among n examples, and the share of delta of each."""
    starts: tuple[tuple[int, float], ...] = ()
    for count in itertools.count(1):
        whole = math.fsum(1 / place for place in range(1, count + 1))
        shares = [delta / (place * whole) for place in range(1, count + 1)]
        further = tuple(
            (accepted_for(2**place - 1, rate, share, n) + 1, share)
            for place, share in enumerate(shares)
        )
        if further[-1][0] > n:
            break
        starts = further
    return starts


def accepted_for(errors: int, rate: float, delta: float, most: int = LARGEST_SIZE) -> int:
    """Give the fewest examples of which so many may be wrong; `most` where even that is too few."""

    def passes(size: int) -> bool:
        return float(at_most(np.array([float(errors)]), np.array([float(size)]), rate)[0]) <= delta

    few, many = errors, errors + 1
    while many < most and not passes(many):
        few, many = many, 2 * many
    return int(first_that_holds(passes, few, min(many, most)))


def times_needed(errors: int, accepted: int, rate: float, delta: float) -> float:
    """Say how many times as many examples, with as large a share of errors, would pass.

    Infinite where the share is not under `rate`: more examples of the kind would not help.
    """
    if accepted == 0 or errors / accepted >= rate:
        return math.inf

    def passes(times: float) -> bool:
        more = np.array([errors * times]), np.array([accepted * times])
        return float(at_most(*more, rate)[0]) <= delta

    few, many = 0.0, 1.0
    while many * accepted < LARGEST_SIZE and not passes(many):
        few, many = many, 2 * many
    while many - few > 1e-3 * many:
        middle = (few + many) / 2
        few, many = (few, middle) if passes(middle) else (middle, many)
    return many if many * accepted < LARGEST_SIZE else math.inf


def level_after_choice(level: float) -> float:
    r"""Give the level of the interval that is shown as one of `level` at a chosen threshold.

    .. math:: 1 - 2\,\Phi\bigl(-(z + \tfrac12)\bigr), \qquad z = \Phi^{-1}((1 + level)/2)

    A threshold that is best on some examples owes part of that to luck.  The interval reaches half
    a standard error further on either side.  Not proven, but measured (docs/which-threshold.md).
    """
    tail = (1 - check_level(level)) / 2
    z = SHIFT - float(normal_quantile(tail))
    return 1 - math.erfc(z / math.sqrt(2))
