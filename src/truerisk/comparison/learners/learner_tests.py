"""What the same refits of two learners say of their difference: intervals and tests.

Differences are second − first: of the values of refits (repetitions × folds), or of the losses of
single examples, each predicted in several refits.  Where no refit separates the learners, p = 1
and the number of examples bounds the difference; a difference that is the same in every refit has
no test.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, fdtri, stdtr

from truerisk.aliases import Array, Ends, Indices
from truerisk.comparison.conclusion import (
    NEGLIGIBLE,
    Shares,
    Spread,
    TestOutcome,
    undetermined,
    without_spread,
)
from truerisk.estimation.refits.interval_rules import plain_standard_error
from truerisk.intervals.cross_validation import corrected_standard_error, nested_interval
from truerisk.intervals.variance_components import METHOD, Components, Rule, components
from truerisk.results import Finding

UNKNOWN: Shares = (math.nan, math.nan, math.nan)  # no spread, and so no posterior
NO_TEST = Finding(
    "The difference is the same in every refit: no spread, and so no test. For error rate and "
    "accuracy take agreement, which looks at the single examples.",
    code="no_test",
)


def refits_without_spread(difference: float, units: float, method: str) -> TestOutcome:
    """Say what refits say that all have the same difference."""
    if abs(difference) > NEGLIGIBLE:
        return undetermined(method, NO_TEST)
    note = Finding(
        f"No refit separates the two: the interval is that of {units:g} examples without a "
        "disagreement.",
        code="no_disagreement",
    )
    name = f"{method}, no disagreement"
    return without_spread(0.0, units, method=method, interval_method=name, note=note)


def by_corrected_t(differences: Array, units: float) -> TestOutcome:
    r"""Test by Nadeau and Bengio's corrected resampled t, over R × K differences of folds.

    .. math:: \bar d \pm t_{RK-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    Exact if the differences were normal with equal correlation 1/K.
    Sources: C. Nadeau and Y. Bengio, Machine Learning 52(3), 239-281, 2003; R. R. Bouckaert and E.
    Frank, PAKDD 2004, 3-12.
    """
    spread, mean = _corrected(differences, differences.size - 1)
    return _of_spread(spread, mean, units, "corrected_t")


def by_cautious_t(differences: Array, units: float) -> TestOutcome:
    """Test by the corrected resampled t with K − 1 degrees: d̄ ± t·s·√(1/(RK) + 1/(K − 1)).

    Repeating adds no examples: R·K − 1 degrees are too many (R. R. Bouckaert, ICML 2003, 51-58).
    That K − 1 are about right was shown by simulation.
    """
    spread, mean = _corrected(differences, differences.shape[1] - 1)
    return _of_spread(spread, mean, units, "cautious_t")


def by_random_divisions(differences: Array, units: float, ratio: float) -> TestOutcome:
    """Test by the corrected t over J random divisions: d̄ ± t_{J−1}·s·√(1/J + n_test/n_train)."""
    spread, mean = _corrected(differences, differences.size - 1, ratio)
    return _of_spread(spread, mean, units, "corrected_t")


def _corrected(
    differences: Array, degrees: int, ratio: float | None = None
) -> tuple[Spread, float]:
    """Give the corrected spread of the mean, and the mean; the ratio of folds is 1/(K − 1)."""
    column = differences.ravel()
    ratio = 1 / (differences.shape[1] - 1) if ratio is None else ratio
    error = corrected_standard_error(column, ratio)
    return Spread(error, degrees), math.fsum(column) / column.size


def _of_spread(spread: Spread, value: float, units: float, name: str) -> TestOutcome:
    if spread.is_zero:
        return refits_without_spread(value, units, name)
    return spread.outcome(value, name)


def by_resampled_t(differences: Array, units: float) -> TestOutcome:
    """Test by Student's t as if the refits were independent: invalid, for comparison."""
    return _by_plain_t(differences, units, "resampled_t (invalid)")


def _by_plain_t(differences: Array, units: float, name: str) -> TestOutcome:
    column = differences.ravel()
    mean = math.fsum(column) / column.size
    error = plain_standard_error(column.tolist(), 0.0)
    return _of_spread(Spread(error, column.size - 1), mean, units, name)


def by_k_fold_t(differences: Array, units: float) -> TestOutcome:
    """Test by Student's t over the K folds of one cross-validation: invalid, for comparison.

    t = d̄/(s/√K) with K − 1 degrees (T. G. Dietterich, Neural Computation 10, 1895-1923, 1998).
    """
    return _by_plain_t(differences, units, "k_fold_t (invalid)")


def by_five_by_two_t(differences: Array, units: float) -> TestOutcome:
    """Test by Dietterich's t, d₁₁/√(Σs²/5) with 5 degrees, and the interval of that difference.

    Holds its size (measured by its author) at a loss of power: the numerator is one of ten.
    Source: T. G. Dietterich, Neural Computation 10(7), 1895-1923, 1998.
    """
    spread = Spread(math.sqrt(_variance_within(differences) / 5), 5)
    return _of_spread(spread, float(differences[0, 0]), units, "five_by_two_t")


def by_five_by_two_f(differences: Array, units: float) -> TestOutcome:
    """Test by Alpaydın's F, Σd²/(2Σs²); the interval of the mean of the ten is d̄ ± √(2Sq/10).

    F also rejects where the pairs differ among themselves, which the interval does not.
    Source: E. Alpaydın, Neural Computation 11(8), 1885-1892, 1999.
    """
    mean, within = float(differences.mean()), 2 * _variance_within(differences)
    if Spread(math.sqrt(within)).is_zero:
        return refits_without_spread(mean, units, "five_by_two_f")

    def ends(level: float) -> Ends:
        half = math.sqrt(within * float(fdtri(10, 5, level)) / 10)
        return mean - half, mean + half

    return TestOutcome(
        ends_at=ends,
        p_value=float(fdtrc(10, 5, float((differences**2).sum()) / within)),
        method="five_by_two_f",
        interval_method="five_by_two_f",
    )


def by_posterior(differences: Array, units: float) -> TestOutcome:
    """Give the correlated t posterior of the difference, over R × K differences of folds.

    δ ~ t_{RK−1}(d̄, s²(1/(RK) + ρ/(1 − ρ))), ρ = 1/K, if the differences are normal with equal
    correlation ρ; its central interval is that of the corrected t.
    Sources: G. Corani and A. Benavoli, Machine Learning 100, 285-304, 2015; A. Benavoli et al.,
    JMLR 18(77), 1-36, 2017.
    """
    spread, mean = _corrected(differences, differences.size - 1)

    def shares(region: float) -> Shares:
        if spread.error == 0:
            return UNKNOWN if mean else (0.0, 1.0, 0.0)
        below = float(stdtr(spread.degrees, (-region - mean) / spread.error))
        above = float(stdtr(spread.degrees, (mean - region) / spread.error))
        return below, max(1.0 - below - above, 0.0), above

    outcome = _of_spread(spread, mean, units, "correlated_t_posterior")
    return replace(outcome, p_value=None, shares_at=shares)


def _variance_within(table: Array) -> float:
    # (d₁ − d̄)² + (d₂ − d̄)² = (d₁ − d₂)²/2
    return float(((table[:, 0] - table[:, 1]) ** 2).sum()) / 2


def by_nested_cross_validation(differences: NDArray[np.int8], parts: Indices) -> TestOutcome:
    """Test by nested cross-validation: the interval and the z of the corrected difference.

    The loss differences −1, 0, 1 (R × K × n) are brought to 0, ½, 1; `parts` (R × n) are the folds.
    """
    name, n = "nested_cross_validation", differences.shape[2]
    nested = nested_interval((differences + 1) / 2, parts)
    value = 2 * nested.value - 1
    if nested.interval is None:
        return refits_without_spread(value, n, name)
    return Spread(2 * nested.standard_error).outcome(value, name)


def by_agreement(differences: NDArray[np.int8], groups: Indices | None) -> TestOutcome:
    """Test by the variance of the votes: how far refits agree which of two is wrong.

    With m the mean of d, sᵢ the mean square of (dᵣᵢ − m)/n over repetitions r and wᵢ its variance,
    V = (1 + u) Σ sᵢ, u = min(1, Σw/Σs); m ± z√V, or with groups Student's t of G − 1 degrees.
    """
    zeros = np.zeros(differences.shape, dtype=np.intp)
    return _by_examples(differences, zeros, groups, lambda parts: parts.agreement, "agreement")


PAIRED = Rule(0.75, 0.75, "jeffreys")  # that of the error rate; the interval here is normal


def by_variance_components(
    differences: NDArray[np.int8], refits: NDArray[np.integer], groups: Indices | None
) -> TestOutcome:
    """Test by the components of the variance of the difference of losses: m ± z√V.

    V = V₁(1 + ¾u) + ¾·max(0, s²), with V₁, u and s² of `truerisk.intervals.variance_components`.
    `refits` (R × n) is the number of the refit that judged the example.
    """
    return _by_examples(differences, refits, groups, lambda parts: parts.variance(PAIRED), METHOD)


def _by_examples(
    differences: NDArray[np.int8],
    refits: NDArray[np.integer],
    groups: Indices | None,
    variance: Callable[[Components], float],
    name: str,
) -> TestOutcome:
    value = float(differences.mean())
    parts = components(np.asarray(differences - value, dtype=np.float64), refits, groups)
    name = name if parts.repeated else "pooled"
    name = name if groups is None else f"cluster_{name}"
    degrees = math.inf if groups is None else parts.units - 1.0
    spread = Spread(math.sqrt(variance(parts)), degrees)
    if spread.is_zero and value != 0:  # one learner is right and the other wrong everywhere
        return without_spread(value, parts.units, method=name)
    return _of_spread(spread, value, parts.units, name)
