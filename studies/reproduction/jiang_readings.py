"""What tables 2 and 3 of Jiang, Zhang and Cai leave unsaid, read in several ways.

Table 2: correlation of the features, σ, noise of the labels and C, over a small grid.  The reading
is chosen by the lengths of the intervals alone, never by what they cover.  Table 3: the ρ-based
column as the deviation of the cross-validated error over new partitions into folds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from studies.reproduction.jiang_printed import SOURCE, printed_rows
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.jiang_table2 import Row, one_data_set, row_of
from studies.reproduction.jiang_table3 import case_of, read_partitions
from studies.reproduction.reproduced import Reproduction
from truerisk.execution.running import run_each

DATASETS, REPLICATES = 20, 100
REPARTITIONS = 100
CORRELATIONS, SIGMAS, NOISES, COSTS = (0.0, 0.3, 0.5), (1.5, 2.5), (0.0, 0.1), (0.1, 1.0)
LENGTHS = ("percentile_al", "normal_al", "true_al")
NEAR = 0.25  # of the printed deviation
COLUMNS = ("r", "σ", "noise", "C", "losses", "distance", "percentile AL", "normal AL", "true sd AL")


@dataclass(frozen=True)
class Reading:
    """One way to read table 2, and the rows it gives, one per n and d."""

    correlation: float
    sigma: float
    noise: float
    cost: float
    losses: str
    rows: tuple[Row, ...]

    @property
    def lengths(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Our lengths, one row per n and d, in the order of `LENGTHS`."""
        forms = [(row.percentile, row.normal, row.true_sd) for row in self.rows]
        return np.array([[one.length for one in three] for three in forms])

    @property
    def distance(self) -> float:
        """The mean distance of our lengths from the paper's."""
        return float(np.abs(self.lengths - printed_lengths()).mean())

    def cells(self) -> tuple[str, ...]:
        """Write the reading and its lengths, in the order of the paper's rows."""
        return (
            *(f"{one:g}" for one in (self.correlation, self.sigma, self.noise, self.cost)),
            *(self.losses.replace("_", "-"), f"{self.distance:.3f}"),
            *(" ".join(f"{one:.2f}" for one in column) for column in self.lengths.T),
        )


def printed_lengths() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the paper's lengths, one row per n and d."""
    return np.array([[float(line[name]) for name in LENGTHS] for line in printed_rows(2)])


def readings(settings: JiangSettings) -> Iterator[list[Reading]]:
    """Simulate the grid; both forms of losses of one reading at a time."""
    for correlation, sigma, noise, cost in product(CORRELATIONS, SIGMAS, NOISES, COSTS):
        rows: dict[str, list[Row]] = {losses: [] for losses in settings.losses}
        for line in printed_rows(2):
            shared = {
                "n": int(line["n"]), "d": int(line["d"]), "sigma": sigma, "cost": cost,
                "correlation": correlation, "noise": noise, "losses": settings.losses,
                "seed": settings.random_state, "replicates": REPLICATES,
            }  # fmt: skip
            drawn = list(run_each(one_data_set, shared, range(DATASETS), n_jobs=settings.n_jobs))
            arrays = {name: np.array([one[name] for one in drawn]) for name in drawn[0]}
            for losses in settings.losses:
                rows[losses].append(row_of(sigma, line, losses, arrays))
        yield [
            Reading(correlation, sigma, noise, cost, losses, tuple(own))
            for losses, own in rows.items()
        ]


def repartitioned(settings: JiangSettings, line: Mapping[str, str]) -> float:
    """Give the deviation of the first partition's cross-validated error over new folds."""
    parts = read_partitions(settings, line)
    shared = {
        "X": np.array([X for X, _ in parts]),
        "y": np.array([y for _, y in parts]),
        "seed": settings.random_state,
        "replicates": REPLICATES,
    }
    case = case_of(shared, 0)
    if case is None:
        return 0.0
    errors = case.cross_validated([np.arange(case.n)] * REPARTITIONS, case.rng(5))
    return float(np.std(errors, ddof=1))


def reproduce(settings: JiangSettings) -> Reproduction:
    """Search the grid by lengths, and read the ρ-based column once more."""
    total = len(CORRELATIONS) * len(SIGMAS) * len(NOISES) * len(COSTS)
    every = [one for pair in settings.progress(readings(settings), total) for one in pair]
    every.sort(key=lambda one: one.distance)
    spreads = {line["data_set"]: repartitioned(settings, line) for line in printed_rows(3)}
    return Reproduction(
        title="Table 2 read in other ways, nearest lengths first",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(one.cells() for one in every),
        conclusion=(*_of_table2(every), _of_table3(spreads)),
    )


def _of_table2(every: list[Reading]) -> Iterator[str]:
    paper = "; ".join(" ".join(f"{one:.2f}" for one in column) for column in printed_lengths().T)
    yield f"The paper's lengths (percentile; normal; true sd), in the order of its rows: {paper}."
    for losses in dict.fromkeys(one.losses for one in every):
        best = next(one for one in every if one.losses == losses)
        covers = ", ".join(f"{row.percentile.this_model:.0f}" for row in best.rows)
        yield (
            f"Losses {losses.replace('_', '-')}: nearest at r = {best.correlation:g}, "
            f"σ = {best.sigma:g}, noise {best.noise:g}, C = {best.cost:g}, {best.distance:.3f} "
            f"away on average. There the percentile interval covers {covers} % of {DATASETS} data "
            "sets (the paper 93.8 to 95.2)."
        )
    yield (
        f"Grid: r {_listed(CORRELATIONS)}; σ {_listed(SIGMAS)}; noise {_listed(NOISES)}; C "
        f"{_listed(COSTS)}; {DATASETS} data sets, {REPLICATES} perturbations."
    )


def _of_table3(spreads: Mapping[str, float]) -> str:
    printed = {line["data_set"]: float(line["rho_sd"]) for line in printed_rows(3)}
    near = [name for name, one in spreads.items() if abs(one / printed[name] - 1) <= NEAR]
    listed = ", ".join(f"{name} {one:.3f} ({printed[name]:.3f})" for name, one in spreads.items())
    return (
        f"Table 3, ρ-based, as the deviation over {REPARTITIONS} new partitions into folds of the "
        f"first sample, the paper in brackets: {listed}. Within a quarter in {len(near)} of "
        f"{len(spreads)}."
    )


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(f"{one:g}" for one in values)
