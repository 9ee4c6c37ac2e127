"""Measured coverage of the intervals of count measures: drawn tables, known truth."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_whole_number
from truerisk.errors import InputError
from truerisk.intervals.beta_quantile import Array
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.delta import CellFunction, cell_gradient, delta_interval, standard_error
from truerisk.intervals.replicates import (
    acceleration_of,
    dirichlet_cells,
    multinomial_cells,
    replicate_interval,
    replicates_for,
)
from truerisk.results import Interval

Cells = NDArray[np.int64]
IntervalOf = Callable[[Cells, np.random.Generator], Interval | None]


@dataclass(frozen=True, kw_only=True)
class CoverageRow:
    """How often an interval covered the truth in so many repetitions.

    `likely` is the interval, at 99 %, in which the true coverage lies given the repetitions: the
    Monte Carlo error.  `degenerate` counts repetitions in which there was no interval; they are
    left out of the coverage.
    """

    method: str
    level: float
    n: int
    truth: float
    coverage: float
    likely: Interval
    mean_width: float
    repetitions: int
    degenerate: int


def simulate_coverage(
    truth_cells: ArrayLike,
    n: int,
    interval_of: IntervalOf,
    value_of: CellFunction,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> CoverageRow:
    """Draw tables of n examples from known cells, and count how often the interval is right.

    Parameters
    ----------
    truth_cells
        Probabilities of the cells, or totals in proportion to them.
    n
        Examples in each drawn table.
    interval_of
        From the counts of a table and a generator, the interval; None where there is none.
    value_of
        The measure as a function of cell totals, (…, m) to (…).
    repetitions
        Number of tables.
    rng
        Where the randomness comes from.

    Examples
    --------
    >>> def accuracy(cells):
    ...     return cells[..., 0] / cells.sum(axis=-1)
    >>> def exact(cells, rng):
    ...     return binomial_interval(int(cells[0]), int(cells.sum()))
    >>> row = simulate_coverage([0.8, 0.2], 50, exact, accuracy, repetitions=200,
    ...                         rng=np.random.default_rng(1))
    >>> row.truth, row.coverage > 0.9
    (0.8, True)
    """
    shares = np.asarray(truth_cells, dtype=np.float64)
    shares = shares / shares.sum()
    check_whole_number(repetitions, "repetitions", low=1)
    truth = float(np.real(value_of(shares.astype(np.complex128))))
    intervals = [interval_of(cells, rng) for cells in rng.multinomial(n, shares, size=repetitions)]
    defined = [interval for interval in intervals if interval is not None]
    if not defined:
        raise InputError(f"`interval_of` must give an interval; got None {repetitions} times.")
    hits = sum(interval.covers(truth) for interval in defined)
    return CoverageRow(
        method=defined[0].method,
        level=defined[0].level,
        n=n,
        truth=truth,
        coverage=hits / len(defined),
        likely=binomial_interval(hits, len(defined), level=0.99),
        mean_width=math.fsum(interval.width for interval in defined) / len(defined),
        repetitions=repetitions,
        degenerate=repetitions - len(defined),
    )


def count_methods(
    value_of: CellFunction,
    *,
    measure_range: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    replicates: int | None = None,
) -> dict[str, IntervalOf]:
    """Give the four intervals of any count measure, ready for `simulate_coverage`.

    `delta`, `percentile` and `bca` give None where they degenerate; `dirichlet` always answers.

    Examples
    --------
    >>> sorted(count_methods(lambda cells: cells[..., 0] / cells.sum(axis=-1)))
    ['bca', 'delta', 'dirichlet', 'percentile']
    """
    size = replicates_for(level) if replicates is None else replicates

    def value(cells: Array | Cells) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.real(value_of(np.asarray(cells, dtype=np.complex128)))

    def delta(cells: Cells, rng: np.random.Generator) -> Interval | None:
        del rng
        error = standard_error(cell_gradient(value_of, cells), cells)
        return delta_interval(float(value(cells)), error, measure_range=measure_range, level=level)

    def from_replicates(method: str) -> IntervalOf:
        def interval(cells: Cells, rng: np.random.Generator) -> Interval | None:
            drawn = value(multinomial_cells(cells, size, rng))
            observed = float(value(cells))
            undefined = np.mean(np.isnan(drawn)) > 0.05
            if math.isnan(observed) or undefined or np.nanmin(drawn) == np.nanmax(drawn):
                return None
            acceleration = acceleration_of(cell_gradient(value_of, cells), cells)
            return replicate_interval(
                drawn,
                observed,
                level=level,
                method=method,
                acceleration=acceleration,
                measure_range=measure_range,
            )[0]

        return interval

    def dirichlet(cells: Cells, rng: np.random.Generator) -> Interval:
        drawn = value(dirichlet_cells(cells, size, rng))
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
        observed = float(value(cells))
        if not math.isnan(observed):
            low, high = min(low, observed), max(high, observed)
        return Interval(float(low), float(high), level, "dirichlet")

    return {
        "delta": delta,
        "percentile": from_replicates("percentile"),
        "bca": from_replicates("bca"),
        "dirichlet": dirichlet,
    }
