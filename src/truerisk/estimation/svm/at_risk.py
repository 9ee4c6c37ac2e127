"""Which training examples of a support vector machine might be errors when left out."""

import numpy as np

from truerisk.aliases import Array, Flags
from truerisk.svm.fitted_dual import FittedDual
from truerisk.svm.solution import Solution
from truerisk.svm.span import squared_spans

ROUNDING = 1e-9  # of ρ·α·R² + ξ, on the pessimistic side


def at_risk(alpha: Array, slack: Array, squared_radius: float, rho: float) -> Flags:
    r"""Tell which examples might be errors when left out: :math:`\rho\,\alpha R^2 + \xi \ge 1`.

    Examples
    --------
    >>> at_risk(np.array([0.0, 0.2, 0.4]), np.array([0.0, 0.5, 0.5]), 2.0, 1.0)
    array([False, False,  True])
    """
    return rho * squared_radius * alpha + slack >= 1.0 - ROUNDING


def worst_slack(solution: Solution) -> Array:
    """Give ξ; where no support vector pins the bias down, that at the worst bias for each example.

    Every bias in an interval is then as good.  What is left out moves it against the example, as
    far as to the end of that interval, before α·R² counts.

    Examples
    --------
    >>> loose = Solution(y=np.array([1.0, -1.0]), upper=np.full(2, 0.1), alpha=np.full(2, 0.1),
    ...                  bias=0.0, decision=np.array([0.2, -0.2]), gap=0.0, passes=1)
    >>> loose.slack, worst_slack(loose)
    (array([0.8, 0.8]), array([1.6, 1.6]))
    """
    if solution.stable or not solution.alpha.any():
        return solution.slack
    y, decision = solution.y, solution.decision
    counts = solution.upper > 0.0
    is_up = np.where(y > 0, solution.alpha <= 0.0, solution.alpha > 0.0)
    # A bias moved by δ stays optimal while y − f ≤ δ for these and δ ≤ y − f for the others.
    low = (y - decision)[counts & is_up].max(initial=-np.inf)
    high = (y - decision)[counts & ~is_up].min(initial=np.inf)
    moved = np.where(y > 0, min(low, 0.0), max(high, 0.0))
    moved = np.where(np.isfinite(moved), moved, 0.0)
    return np.maximum(0.0, 1.0 - y * (decision + moved))


def flags_of(dual: FittedDual, rho: float, refine: str | None = None) -> Flags:
    """Tell which examples of a fitted machine are at risk, by ρ or refined by the span.

    What is in no doubt is not refined: below ρ = 2 (1 without a free bias) an example is never an
    error, with ξ ≥ 1 it always is.
    """
    solution, alpha = dual.solution, dual.solution.alpha
    slack = worst_slack(solution) if dual.free_bias else solution.slack
    if refine is None:
        return at_risk(alpha, slack, dual.squared_radius, rho)
    most = 2.0 if dual.free_bias else 1.0
    flags = at_risk(alpha, slack, dual.squared_radius, most)
    in_doubt = np.flatnonzero(flags & (slack < 1.0))
    spans = squared_spans(dual.kernel, solution, in_doubt, free_bias=dual.free_bias)
    spans = np.minimum(spans, most * dual.squared_radius)
    flags[in_doubt] = alpha[in_doubt] * spans + slack[in_doubt] >= 1.0 - ROUNDING
    return flags
