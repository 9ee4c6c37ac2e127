"""One row of every coverage study: how often one interval held the truth on one problem.

The problems of a study are either *chosen on* (the rule was looked for there) or *held out* (it was
frozen before they were drawn).  Pages and the package quote the held-out rows.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.aliases import Array

CHOSEN_ON, HELD_OUT = "chosen on", "held out"


@dataclass(frozen=True, kw_only=True)
class CoverageCell:
    """How often the interval of one measure contained the truth, on one problem at one size.

    `study` names the study ("refits", "macro averages", "groups", …); `design` says how refits or
    groups were made, and is empty where there are none; `method` is `Interval.method` as the
    library names it, the commonest over the samples; `samples` counts those in which the measure is
    defined, `undefined` the others; `width` is the mean width, and `rival_width` that of the named
    `rival` on the same samples, NaN where there is none.
    """

    study: str
    problem: str
    role: str
    design: str
    n: int
    measure: str
    method: str
    level: float
    target: str
    samples: int
    undefined: int
    coverage: float
    width: float
    rival: str = ""
    rival_coverage: float = math.nan
    rival_width: float = math.nan

    @property
    def standard_error(self) -> float:
        """The Monte Carlo error of the coverage, at the level promised.

        Examples
        --------
        >>> cell = CoverageCell(study="refits", problem="xor", role=HELD_OUT, design="", n=100,
        ...     measure="error_rate", method="variance_components", level=0.95,
        ...     target="this model", samples=400, undefined=0, coverage=0.94, width=0.2)
        >>> round(cell.standard_error, 4)
        0.0109
        """
        return math.sqrt(self.level * (1 - self.level) / self.samples)

    def within(self, low: float, high: float) -> bool:
        """Whether the coverage lies in a range, two standard errors allowed."""
        return low - 2 * self.standard_error <= self.coverage <= high + 2 * self.standard_error


def cells_of_ends(ends: Array, truth: Array | float, **facts: Any) -> list[CoverageCell]:
    """Count in how many samples the ends, samples × 2, hold the truth: one cell with these facts.

    A sample without ends or truth is undefined; where all are, there is no cell.

    Examples
    --------
    >>> ends = np.array([[0.1, 0.3], [0.2, 0.5], [np.nan, np.nan]])
    >>> [cell] = cells_of_ends(ends, 0.4, study="x", problem="", role=HELD_OUT, design="", n=9,
    ...     measure="accuracy", method="wald", level=0.95, target="this model")
    >>> cell.samples, cell.undefined, cell.coverage, round(cell.width, 2)
    (2, 1, 0.5, 0.25)
    """
    low, high = ends.T
    there = np.isfinite(low) & np.isfinite(truth)
    if not there.any():
        return []
    covered = (low <= truth) & (truth <= high)
    return [
        CoverageCell(
            samples=int(there.sum()),
            undefined=int((~there).sum()),
            coverage=float(covered[there].mean()),
            width=float((high - low)[there].mean()),
            **facts,
        )
    ]
