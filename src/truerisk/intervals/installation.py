"""Quick checks of this installation: the libraries underneath must give the right numbers."""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.special import bdtr

from truerisk.intervals.binomial import binomial_bounds, binomial_interval, binomial_test

# k, n, level and the exact interval: mpmath with 50 digits, residual under 1e-30.
EXTREMES = (
    (0, 10**9, 0.95, 0.0, 3.688879447310020497726764e-9),
    (1, 10**6, 0.95, 2.531780766379417754378646e-8, 5.571630655172244331858014e-6),
    (2, 10**9, 0.95, 2.422092786357368749339371e-10, 7.224687648850592559328019e-9),
    (999, 10**9, 0.95, 9.380040467000111200234715e-7, 1.062921117253308264560609e-6),
    (1000, 10**9, 0.95, 9.389730465895609419213656e-7, 1.063952101995288430253081e-6),
    (3, 10**12, 0.95, 6.186721228960285810948894e-13, 8.767273069717044410756311e-12),
    (0, 10**15, 0.99, 0.0, 5.298317366548022641369757e-15),
)
RELATIVE = 1e-10
ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One check: its name, whether it passed, and the number that decides."""

    name: str
    passed: bool
    outcome: str


def check_installation() -> tuple[CheckResult, ...]:
    """Run all quick checks; they take well under a second."""
    results = [_extreme(*row) for row in EXTREMES]
    least = least_coverage(50, 0.95)
    results.append(
        CheckResult(
            name="clopper_pearson covers at n = 50",
            passed=least >= 0.95 - ROUNDING,
            outcome=f"least coverage {least:.6f}",
        )
    )
    p_value = binomial_test(10_080_009, 21_000_000, 0.48)
    results.append(
        CheckResult(
            name="binomial test at n = 21,000,000",
            passed=math.isclose(p_value, 0.9970377203856, rel_tol=5e-10),
            outcome=f"p = {p_value:.13f} (numpy {np.__version__}, scipy {scipy.__version__})",
        )
    )
    return tuple(results)


def least_coverage(n: int, level: float) -> float:
    """Coverage of the exact interval, summed over all outcomes, at the worst of 999 proportions."""
    p = np.arange(1, 1000) / 1000
    low, high = binomial_bounds(np.arange(n + 1), n, level=level)
    # The outcomes whose interval contains p are consecutive: both ends ascend.
    first, last = np.searchsorted(high, p), np.searchsorted(low, p, side="right") - 1
    below = np.where(first > 0, bdtr(np.maximum(first - 1, 0), n, p), 0.0)
    return float(np.min(bdtr(last, n, p) - below))


def _extreme(k: int, n: int, level: float, low: float, high: float) -> CheckResult:
    interval = binomial_interval(k, n, level=level)
    errors = [
        abs(end / exact - 1) if exact else abs(end)
        for end, exact in ((interval.low, low), (interval.high, high))
    ]
    return CheckResult(
        name=f"exact interval of {k} in {n:.0e} at {100 * level:g} %",
        passed=max(errors) <= RELATIVE,
        outcome=f"relative error {max(errors):.1e}",
    )
