"""How fast time or memory grows with the number of examples: the exponent of a power of n."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from truerisk.checks import check_level, check_same_length
from truerisk.errors import InputError
from truerisk.results import Interval

MIN_SIZES = 3  # a line through two points has no residual to judge it by


@dataclass(frozen=True, kw_only=True)
class Growth:
    r"""A cost that grows like :math:`n^{exponent}` over the sizes it was fitted on.

    `factor` is the cost at n = 1 that the line points to; `sizes` are those that were used.

    Examples
    --------
    >>> print(growth_of([100, 200, 400], [1.0, 4.0, 16.0]))
    n^2.00 (±0.00, from 100 to 400 examples)
    """

    exponent: float
    standard_error: float
    interval: Interval
    factor: float
    sizes: tuple[int, ...]

    def at(self, size: float) -> float:
        """Give the cost that the line points to at a size."""
        return self.factor * math.exp(self.exponent * math.log(size))

    def __str__(self) -> str:
        span = f"from {self.sizes[0]:,} to {self.sizes[-1]:,} examples"
        return f"n^{self.exponent:.2f} (±{self.standard_error:.2f}, {span})"


def growth_of(
    sizes: Sequence[int], costs: Sequence[float], *, level: float = 0.95
) -> Growth | None:
    r"""Fit the exponent of a cost against n by least squares, both on a log scale.

    .. math:: \log cost = \log factor + exponent \cdot \log n

    What a call costs whatever n is hides the growth at small sizes; so only the larger half of the
    sizes is used, and three at least.  The standard error is that of the slope, from the residuals;
    it takes them to be independent and says nothing of sizes beyond.

    Parameters
    ----------
    sizes, costs
        A number of examples and what it cost, one each.  Costs that are not above 0, or not
        known, are left out.
    level
        Confidence level of the interval, by Student's t.

    Returns
    -------
    growth
        None where fewer than three costs are known.

    Examples
    --------
    >>> found = growth_of([10, 100, 1000, 10_000], [0.5, 0.51, 0.6, 1.5])
    >>> found.sizes, round(found.exponent, 2), round(found.standard_error, 2)
    ((100, 1000, 10000), 0.23, 0.09)
    """
    check_same_length(sizes=sizes, costs=costs)
    check_level(level)
    if any(after <= before for before, after in itertools.pairwise(sizes)):
        raise InputError(f"`sizes` must increase; got {list(sizes)}.")
    known = [(n, cost) for n, cost in zip(sizes, costs, strict=True) if 0 < cost < math.inf]
    used = known[-max(MIN_SIZES, -(-len(known) // 2)) :]
    if len(used) < MIN_SIZES:
        return None
    x, y = np.log(np.array(used, dtype=np.float64)).T
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - exponent * centred
    freedom = len(used) - 2
    error = math.sqrt(float(residuals @ residuals) / freedom / float(centred @ centred))
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    return Growth(
        exponent=exponent,
        standard_error=error,
        interval=Interval(exponent - half, exponent + half, level, "least_squares_t"),
        factor=math.exp(float(y.mean() - exponent * x.mean())),
        sizes=tuple(int(n) for n, _ in used),
    )
