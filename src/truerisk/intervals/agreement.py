"""The agreement interval: what is known of an error rate when each example is judged several times.

Repeated cross-validation judges example i in repetition r by a model that did not train on it.  If
all repetitions agreed on every example, the n examples would be worth n independent ones; the more
the verdict on an example changes from model to model, the fewer they are worth.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from truerisk.aliases import Array, ArrayLike, Flags, Indices
from truerisk.checks import check_choice, check_level, check_shares
from truerisk.errors import InputError
from truerisk.intervals.binomial import fractional_interval, jeffreys
from truerisk.intervals.delta import student_factor
from truerisk.intervals.variance_components import components
from truerisk.results import Interval

DAMPED = 1.25  # by simulation: the interval is then, on average, as wide as the corrected t

# By how much the disagreement u makes each variant take fewer examples: m = n / (1 + f(u)).
VARIANTS: dict[str, Callable[[float], float]] = {
    "agreement": lambda u: u,
    "agreement_jeffreys": lambda u: 2 * u,
    "agreement_damped": lambda u: DAMPED * u * (1 - u),
}


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """A mean loss over examples that are judged several times, and what the examples are worth.

    `n` counts the examples in a repetition, on average; `disagreement` is u, None where no example
    was judged twice; `spread` is the design effect of the groups, `group_size` their Σ size²/Σ
    size.
    """

    value: float
    n: float
    disagreement: float | None
    groups: int | None = None
    spread: float = 1.0
    group_size: float = 1.0

    def size(self, *, method: str = "agreement", level: float = 0.95) -> float:
        """Give the number of independent examples that would leave as much open."""
        u = VARIANTS[check_choice(method, VARIANTS, "method")](self.disagreement or 0.0)
        if self.groups is None:
            return self.n / (1 + u)
        if not 0 < self.value < 1:
            # Nothing tells how alike the examples of a group are: each group is worth one.
            return self.n / self.group_size
        # Groups that vary less than single examples are luck more often than structure.
        few = student_factor(self.groups, level) ** 2
        return self.n / max(self.spread * few * (1 + u), 1.0)


def agreement(
    losses: ArrayLike, *, counted: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Agreement:
    """Give the mean loss of repeated judgements (R × n, NaN: not judged), and how they disagree.

    With c 1 where an example counts, z = c(l − p) and s² its variance over the repetitions: p =
    Σ(cl)/Σc, n = Σc̄ and u = min(1, Σs²/(p(1 − p)Σc̄)) over the examples judged twice or more.  For
    losses of 0 and 1, 1 − u is κ, the agreement of errors beyond chance.  With groups, z is summed
    over each group, and the groups are the units.
    """
    table, judged = _check_losses(losses)
    counts = _check_counted(counted, judged)
    times = judged.sum(axis=0)
    some = times > 0
    weight = counts.sum(axis=0)[some] / times[some]
    n = float(weight.sum())
    if n == 0:
        return Agreement(value=math.nan, n=0.0, disagreement=None)
    filled = np.where(counts > 0, table, 0.0)
    value = min(float((filled.sum(axis=0)[some] / times[some]).sum()) / n, 1.0)
    centred = counts * (filled - value)
    twice = times >= 2
    u = None
    if counts[:, twice].any():
        between = value * (1 - value) * float((counts.sum(axis=0)[twice] / times[twice]).sum())
        repeated = np.where(judged, centred, np.nan)[:, twice]
        within = float(np.nanvar(repeated, axis=0, ddof=1).sum())
        u = min(within / between, 1.0) if between > 0 else 0.0
    single = Agreement(value=value, n=n, disagreement=u)
    if groups is None:
        return single
    numbers, names = _check_groups(groups, table.shape[1])
    return single if names == len(numbers) else _with_groups(single, centred, judged, numbers)


def agreement_interval(
    losses: ArrayLike,
    *,
    level: float = 0.95,
    counted: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    method: str = "agreement",
) -> Interval:
    r"""Give an interval for the error of a model from several judgements of each example.

    .. math:: m = \frac{n}{1 + u}, \quad x = m p, \quad
              [\,B^{-1}(t;\,x,\,m-x+1),\; B^{-1}(1-t;\,x+1,\,m-x)\,], \quad t = \frac{1 - level}{2}

    Clopper and Pearson's interval at the effective size m; p and u are those of `agreement`.  It is
    meant for the error of the model that is trained on all the examples.  The rule was found by
    simulation and is not proven: in 90 cells of linear SVMs (n 50 to 300, 5 × 10 folds, 95 %) it
    covered this model's error .966 of the time on average and .91 in the worst cell; in 149 cells
    of other learners .970 and .90; .88 for single splits (decision stumps) at n 40 to 120.  Nothing
    is claimed of the learner's error: where the models of two samples differ much (naive Bayes with
    heavy tails) it was covered half of the time only.

    With one judgement of each example u is unknown, m = n, and the method says "binomial": this
    takes the verdicts of the folds to be independent, which they are not quite.

    Parameters
    ----------
    losses, counted, groups
        As in `agreement`.
    level
        Confidence level.
    method
        `agreement`; `agreement_jeffreys`, Jeffreys' interval at m = n / (1 + 2u), a little
        narrower; or `agreement_damped`, Jeffreys' at m = n / (1 + 1.25 u (1 − u)): learners that
        hardly agree with themselves, such as full trees, err in other examples each time, and
        much of that averages out.  About as wide as the corrected t; in the 149 cells .957 on
        average, .88 in the worst; .81 for single splits.

    Examples
    --------
    >>> always = np.repeat([[1, 0]], [20, 80], axis=1)  # 20 of 100 are wrong
    >>> print(agreement_interval(np.repeat(always, 5, axis=0)))  # and so in each repetition
    [0.127, 0.292] at 95 %
    >>> print(agreement_interval([np.roll(always[0], 3 * r) for r in range(5)]))  # u = .375
    [0.115, 0.310] at 95 %
    """
    check_choice(method, VARIANTS, "method")
    check_level(level)
    judged = agreement(losses, counted=counted, groups=groups)
    if judged.n == 0:
        return Interval(0.0, 1.0, float(level), "undefined")
    m = judged.size(method=method, level=level)
    name = "binomial" if judged.disagreement is None else method
    name = name if judged.groups is None else f"cluster_{name}"
    if method != "agreement":
        low, high = jeffreys(m * judged.value, m, level)
        return Interval(float(low), float(high), float(level), name)
    exact = fractional_interval(min(m * judged.value, m), m, level=level)
    return Interval(exact.low, exact.high, float(level), name)


def _with_groups(single: Agreement, centred: Array, judged: Flags, numbers: Indices) -> Agreement:
    """Take the groups as the units: sums of z over a group instead of z."""
    size = int(numbers.max()) + 1
    sums: Array = np.stack([np.bincount(numbers, row, size) for row in centred])
    seen = np.stack([np.bincount(numbers, row, size) for row in judged.astype(float)])
    ever = np.bincount(numbers, judged.any(axis=0).astype(float), size)
    # A repetition that judged half of a group stands for the whole of it.
    there = seen > 0
    sums *= np.divide(ever, seen, out=np.zeros_like(seen), where=there)
    times = there.sum(axis=0)
    met = times > 0
    groups = int(met.sum())
    if groups < 2:
        raise InputError(f"`groups` must name at least two groups; got {groups}.")
    typical = float((ever**2).sum() / ever.sum())
    once = single.n * single.value * (1 - single.value)
    if once == 0:
        return replace(single, disagreement=0.0, groups=groups, group_size=typical)
    squares = (sums**2).sum(axis=0)[met] / times[met]
    u = single.disagreement
    if (times >= 2).any():
        moved = np.where(there, sums, np.nan)
        u = components(moved, np.zeros(moved.shape, dtype=np.intp)).disagreement
    spread = float(squares.sum()) * groups / (groups - 1) / once
    return replace(single, disagreement=u, groups=groups, spread=spread, group_size=typical)


def _check_losses(losses: ArrayLike) -> tuple[Array, Flags]:
    table = np.atleast_2d(np.asarray(losses, dtype=np.float64))
    if table.ndim != 2 or table.size == 0:
        raise InputError(
            "`losses` must be a table of repetitions by examples; got "
            f"{' × '.join(map(str, np.shape(losses)))}."
        )
    judged = ~np.isnan(table)
    check_shares(table[judged], "losses")
    return table, judged


def _check_counted(counted: ArrayLike | None, judged: Flags) -> Array:
    if counted is None:
        return judged.astype(np.float64)
    table = np.atleast_2d(np.asarray(counted, dtype=bool))
    if table.shape != judged.shape:
        raise InputError(
            f"`counted` must be {' × '.join(map(str, judged.shape))} as `losses` is; got "
            f"{' × '.join(map(str, table.shape))}."
        )
    return (table & judged).astype(np.float64)


def _check_groups(groups: ArrayLike, n: int) -> tuple[Indices, int]:
    names, numbers = np.unique(np.asarray(groups), return_inverse=True)
    if numbers.size != n:
        raise InputError(
            f"`groups` must name the group of each of {n} examples; got {numbers.size}."
        )
    if names.size < 2 and n > 1:
        raise InputError(f"`groups` must name at least two groups; got {names.size}.")
    return numbers.ravel(), names.size
