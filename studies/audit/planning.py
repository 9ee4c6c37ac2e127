"""In how many samples a planned size keeps its word: half-widths, bounds, differences, areas.

Samples are drawn as the plan assumes; areas also from scores that it says it is not kept with.
Student's t with 3 degrees, Laplace's and the exponential distribution were looked at when the
shapes of `sample_size` were chosen, the other scores were not.  A row's `level` is the assurance,
its `coverage` the share of samples that succeed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import expon, laplace, logistic, lognorm, norm
from scipy.stats import t as student

from studies.audit.checkpoints import checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from truerisk import sample_size
from truerisk.aliases import Array
from truerisk.comparison.predictions.right_answers import mcnemar, paired_difference_ends
from truerisk.intervals.auc import delong_covariance, delong_interval, delong_paired, placements
from truerisk.intervals.binomial import binomial_interval, upper_bound
from truerisk.intervals.measured_coverage import NO_PROMISE

LEVEL = 0.95
SAMPLES = 2000


class Reflected:
    """A distribution turned round: the scores of its negatives."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def ppf(self, p: Array) -> Array:
        """Give quantiles."""
        return np.asarray(-self.kind.ppf(1 - p))


SCORES: dict[str, Any] = {
    "normal": norm(),
    "exponential": expon(),
    "heavy-tailed": student(3),
    "reflected exponential": Reflected(expon()),
    "logistic": logistic(),
    "Laplace": laplace(),
    "very heavy-tailed": student(2),
    "reflected log-normal": Reflected(lognorm(1.0)),
    "normal, positives twice as spread": norm(),
}
SEEN = {"exponential", "heavy-tailed", "reflected exponential", "Laplace"}
SPREAD = {"normal, positives twice as spread": 2.0}
SYMMETRIC = ("normal", "logistic", "Laplace", "heavy-tailed")
# What each plan is for; with others it says that it is not kept.
PLANNED = {
    "normal": ("normal",),
    "heavy_tailed": SYMMETRIC,
    "any": (*SYMMETRIC, "exponential", "reflected exponential"),
}


@dataclass(frozen=True, kw_only=True)
class PlanCell:
    """One question, and how a sample of the planned size is drawn and judged."""

    question: dict[str, Any] = field(hash=False)
    assurance: float
    scores: str = ""
    planned: str = ""

    @property
    def words(self) -> str:
        """Name the cell on one line."""
        parts = ", ".join(f"{name} {value:g}" for name, value in self.question.items())
        drawn = f", planned for {self.planned} scores, drawn {self.scores}" if self.scores else ""
        return f"{parts}{drawn}"

    @property
    def promised(self) -> bool:
        """Whether the plan is for what is drawn."""
        return not self.scores or self.scores in PLANNED[self.planned]


def all_cells() -> Iterator[PlanCell]:
    """List the questions: rates and differences at two assurances, areas with three scores."""
    rates = [
        {"half_width": 0.02, "expected": 0.1},
        {"half_width": 0.05, "expected": 0.03},
        {"half_width": 0.05, "expected": 0.4},
        {"half_width": 0.01, "expected": 0.005},
        {"upper_bound": 0.05, "expected": 0.02},
        {"upper_bound": 0.01, "expected": 0.004},
        {"upper_bound": 0.3, "expected": 0.2},
    ]
    differences = [
        {"difference": 0.02, "discordant": 0.1},
        {"difference": 0.05, "discordant": 0.3},
        {"difference": 0.1, "discordant": 0.12},
        {"difference": 0.05, "expected": 0.2},
        {"difference": 0.01, "expected": 0.03},
    ]
    for question in (*rates, *differences):
        for assurance in (0.8, 0.95):
            yield PlanCell(question=question, assurance=assurance)
    areas = [
        {"half_width": 0.05, "auc": 0.8, "prevalence": 0.3},
        {"half_width": 0.03, "auc": 0.95, "prevalence": 0.1},
        {"half_width": 0.05, "auc": 0.6, "prevalence": 0.5},
        {"difference": 0.05, "auc": 0.8, "prevalence": 0.3, "correlation": 0.6},
        {"difference": 0.03, "auc": 0.9, "prevalence": 0.1, "correlation": 0.3},
    ]
    drawn = {
        "normal": ("normal", "heavy-tailed"),
        "heavy_tailed": tuple(SCORES),
        "any": ("normal", *list(SCORES)[1:4], *list(SCORES)[-3:]),
    }
    for question in areas:
        for planned, every in drawn.items():
            for scores in every:
                yield PlanCell(question=question, assurance=0.8, scores=scores, planned=planned)


def measure_cells(
    *, samples: int, folder: Path | None = None
) -> Iterator[tuple[PlanCell, CoverageCell]]:
    """Measure each cell."""
    for at, cell in enumerate(all_cells()):
        plan = sample_size(
            level=LEVEL,
            assurance=cell.assurance,
            scores=cell.planned or "heavy_tailed",
            **cell.question,
        )
        settings = {"cell": cell.words, "assurance": cell.assurance, "n": plan.n, "of": samples}

        def compute(cell: PlanCell = cell, n: int = plan.n, at: int = at) -> dict[str, Array]:
            rng = np.random.default_rng([0, at])
            return {"kept": np.array(list(_kept(cell, n, samples, rng)))}

        kept = checkpointed(folder, f"planning-{at}", settings, compute)["kept"]
        is_area = "auc" in cell.question
        yield (
            cell,
            CoverageCell(
                study="planning",
                problem=cell.words,
                role=CHOSEN_ON if cell.scores in SEEN else HELD_OUT,
                design="as planned" if cell.promised else "other scores",
                n=plan.n,
                measure="roc_auc" if is_area else "error_rate",
                method=plan.assumptions[-1],
                level=cell.assurance,
                target="the plan" if cell.promised else NO_PROMISE,
                samples=len(kept),
                undefined=0,
                coverage=float(kept.mean()),
                width=math.nan,
            ),
        )


def _kept(cell: PlanCell, n: int, samples: int, rng: np.random.Generator) -> Iterator[bool]:
    """Draw samples, and say of each whether the target is met."""
    asked = cell.question
    if "auc" in asked:
        draw = _difference_of_areas if "difference" in asked else _area
        # One example more or less changes the share by .02 where widths hardly vary.
        times = 4 * samples if cell.planned == cell.scores else samples // 2
        for _ in range(times):
            yield draw(cell, n, rng)
    elif "discordant" in asked:
        better = (asked["discordant"] + asked["difference"]) / 2
        shares = [better, asked["discordant"] - better, 1 - asked["discordant"]]
        for only_second, only_first, same in rng.multinomial(n, shares, size=samples).tolist():
            yield _is_found(only_first, only_second, same)
    elif "difference" in asked:
        rates = (asked["expected"], asked["expected"] - asked["difference"])
        yield from _unpaired(rng.binomial(n, rates, size=(samples, 2)) / n, n)
    else:
        judge = _is_short if "half_width" in asked else _is_proven
        target = asked.get("half_width", asked.get("upper_bound", 0.0))
        for k in rng.binomial(n, asked["expected"], size=samples).tolist():
            yield judge(k, n, target)


@cache
def _is_short(k: int, n: int, half_width: float) -> bool:
    return binomial_interval(k, n, level=LEVEL).width <= 2 * half_width


@cache
def _is_proven(k: int, n: int, bound: float) -> bool:
    return upper_bound(k, n, delta=1 - LEVEL) <= bound


@cache
def _is_found(only_first: int, only_second: int, same: int) -> bool:
    """Whether test and interval both call the second model better, as `tr.compare` needs."""
    if mcnemar(only_first, only_second) > 1 - LEVEL:
        return False
    low, _ = paired_difference_ends(same, only_first, only_second, 0, level=LEVEL, method="tango")
    return low > 0


def _unpaired(shares: Array, n: int) -> Iterator[bool]:
    mean = shares.mean(axis=1)
    z = (shares[:, 0] - shares[:, 1]) / np.sqrt(2 * mean * (1 - mean) / n)
    yield from (z >= ndtri((1 + LEVEL) / 2)).tolist()


def scores_of(cell: PlanCell, areas: tuple[float, ...], positives: int, negatives: int,
            rng: np.random.Generator) -> tuple[Array, Array]:  # fmt: skip
    """Draw correlated scores of a kind, shifted to have these areas."""
    kind = SCORES[cell.scores]
    r = cell.question.get("correlation", 0.0)
    drawn = []
    for size in (positives, negatives):
        z = rng.normal(size=(size, len(areas)))
        z[:, -1] = r * z[:, 0] + math.sqrt(1 - r * r) * z[:, -1] if len(areas) > 1 else z[:, -1]
        drawn.append(kind.ppf(norm.cdf(z)))
    spread = SPREAD.get(cell.scores, 1.0)
    return spread * drawn[0] + [shift_for(cell.scores, area) for area in areas], drawn[1]


@cache
def shift_for(scores: str, area: float) -> float:
    """Find by bisection how far the positives must be moved for an area."""
    grid = SCORES[scores].ppf((np.arange(4000) + 0.5) / 4000)
    spread = SPREAD.get(scores, 1.0)
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        below = np.searchsorted(grid, spread * grid + middle).mean() / len(grid)
        low, high = (middle, high) if below < area else (low, middle)
    return high


def _area(cell: PlanCell, n: int, rng: np.random.Generator) -> bool:
    positives = int(rng.binomial(n, cell.question["prevalence"]))
    placed = placements(*scores_of(cell, (cell.question["auc"],), positives, n - positives, rng))
    variance = float(delong_covariance(placed)[0, 0])
    ends = delong_interval(float(placed.areas[0]), variance, positives, n - positives, level=LEVEL)
    return bool(ends.width <= 2 * cell.question["half_width"])


def _difference_of_areas(cell: PlanCell, n: int, rng: np.random.Generator) -> bool:
    asked = cell.question
    positives = int(rng.binomial(n, asked["prevalence"]))
    areas = (asked["auc"], asked["auc"] + asked["difference"])
    found = delong_paired(*scores_of(cell, areas, positives, n - positives, rng), level=LEVEL)
    return found.p_value <= 1 - LEVEL and found.difference < 0
