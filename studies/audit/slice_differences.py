"""What the intervals of a slice less the rest cover: shares and areas, with weights, in groups.

A slice and the rest are drawn apart from each other, two classes with scores that are normal or
heavy-tailed, the positives of the slice in some designs lower by `shift`: the true difference
follows from the distribution of the scores.  Independent rows go through the functions behind
`tr.evaluate(by=…)`, weights and groups through `tr.evaluate` itself.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

import truerisk as tr
from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell, cells_of_ends
from studies.audit.slices import DISTANCE, OF_TWO, ROWS_A_GROUP, THRESHOLD, WITHIN
from truerisk.aliases import Array
from truerisk.evaluation.slices import MOVER
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.choose import auc_interval
from truerisk.intervals.differences import mover_difference
from truerisk.intervals.group_jackknife import METHOD as JACKKNIFE
from truerisk.intervals.measured_coverage import DIFFERENCE, SLICE, THIS_MODEL, WEIGHTS
from truerisk.results import Interval
from truerisk.tallies.ranking import rank

STUDY, LEVEL, SAMPLES = "slice_differences", 0.95, 300
SCORES: Mapping[str, Any] = {"normal": norm(), "heavy-tailed": student(3)}
GRID = (np.arange(20_000) + 0.5) / 20_000

Drawn = tuple[NDArray[np.bool_], Array]  # is it positive, its score


@dataclass(frozen=True, kw_only=True)
class Design:
    """A slice of some size and the rest, and what the scores are like.

    `groups` are of five rows: "nested" in slice or rest, or "crossed", with rows in both.
    """

    size: int
    rest: int
    prevalence: float = 0.3
    scores: str = "normal"
    shift: float = 0.0
    weighted: bool = False
    groups: str = ""

    @property
    def problem(self) -> str:
        """Name the design, but for its size."""
        parts = [
            f"{self.scores} scores",
            f"{self.prevalence:g} positive",
            f"rest of {self.rest}",
            f"lower by {self.shift:g} in the slice" if self.shift else "equal",
            "weights 1 to 3" if self.weighted else "",
            f"{self.groups} groups" if self.groups else "",
        ]
        return ", ".join(part for part in parts if part)


def designs() -> Iterator[Design]:
    """List the designs."""
    for size, prevalence, scores, shift in product((25, 100, 400), (0.3, 0.1), SCORES, (0.0, 1.0)):
        rest = 475 if size < 400 else 1900
        yield Design(size=size, rest=rest, prevalence=prevalence, scores=scores, shift=shift)
    for shift in (0.0, 1.0):
        yield Design(size=50, rest=400, shift=shift, weighted=True)
        yield Design(size=50, rest=400, shift=shift, groups="nested")
        yield Design(size=50, rest=400, shift=shift, groups="crossed")


@cache
def values_of(scores: str, prevalence: float, shift: float) -> dict[str, float]:
    """Give the true value of each measure where the scores of positives are lower by `shift`."""
    kind = SCORES[scores]
    apart = DISTANCE - shift
    recall, alarms = float(kind.sf(THRESHOLD - apart)), float(kind.sf(THRESHOLD))
    hits = prevalence * recall
    return {
        "accuracy": hits + (1 - prevalence) * (1 - alarms),
        "recall": recall,
        "precision": hits / (hits + (1 - prevalence) * alarms),
        "roc_auc": float(kind.cdf(kind.ppf(GRID) + apart).mean()),
    }


def truths_of(design: Design) -> list[float]:
    """Give the true differences, in the order of the measures."""
    ends = [values_of(design.scores, design.prevalence, one) for one in (design.shift, 0.0)]
    return [ends[0][name] - ends[1][name] for name in OF_TWO]


def draw(design: Design, rng: np.random.Generator) -> tuple[Drawn, Drawn, NDArray[Any] | None]:
    """Draw the slice, the rest, and the groups of both."""
    n = design.size + design.rest
    positive = rng.random(n) < design.prevalence
    noise, group = SCORES[design.scores].ppf(rng.random(n)), None
    if design.groups:
        group = np.arange(n) // ROWS_A_GROUP
        group = rng.permutation(group) if design.groups == "crossed" else group
        noise = np.sqrt(1 - WITHIN) * noise + np.sqrt(WITHIN) * rng.normal(size=n)[group]
    score = noise + DISTANCE * positive
    score[: design.size] -= design.shift * positive[: design.size]
    at = [slice(0, design.size), slice(design.size, n)]
    return (positive[at[0]], score[at[0]]), (positive[at[1]], score[at[1]]), group


def quick_ends(both: tuple[Drawn, Drawn]) -> Array:
    """Give the ends of slice − rest of independent rows; NaN where a measure is undefined."""
    sides = [_side(*one) for one in both]
    found = np.full((len(OF_TWO), 2), np.nan)
    for row, name in enumerate(OF_TWO):
        (value, ends), (other, other_ends) = (one[name] for one in sides)
        if ends is not None and other_ends is not None:
            found[row] = np.clip(mover_difference(value, ends, other, other_ends), -1, 1)
    return found


def _side(positive: NDArray[np.bool_], score: Array) -> dict[str, tuple[float, Interval | None]]:
    called = score >= THRESHOLD
    right = called == positive
    counted = {
        name: _share(int(right[which].sum()), int(which.sum()))
        for name, which in (
            ("accuracy", np.ones(len(score), bool)), ("recall", positive), ("precision", called),
        )
    }  # fmt: skip
    if positive.all() or not positive.any():
        return {**counted, "roc_auc": (np.nan, None)}
    ranking = rank(score, positive)
    return {**counted, "roc_auc": (float(ranking.auc), auc_interval(ranking, level=LEVEL))}


@cache
def _share(k: int, n: int) -> tuple[float, Interval | None]:
    return (k / n, binomial_interval(k, n, level=LEVEL)) if n else (np.nan, None)


def whole_ends(design: Design, rng: np.random.Generator) -> Array:
    """Give the same from `tr.evaluate`, with weights or groups; NaN where nothing is known."""
    inside, rest, group = draw(design, rng)
    positive, score = (np.concatenate(pair) for pair in zip(inside, rest, strict=True))
    evaluation = tr.evaluate(
        positive.astype(int),
        (score >= THRESHOLD).astype(int),
        y_score=score,
        by={"part": np.repeat(["slice", "rest"], [design.size, design.rest])},
        groups=group,
        sample_weight=rng.uniform(1.0, 3.0, len(score)) if design.weighted else None,
        measures=OF_TWO,
        random_state=0,
    )
    tests = evaluation.slices["part=slice"].tests
    found = np.full((len(OF_TWO), 2), np.nan)
    for row, name in enumerate(OF_TWO):
        ends = tests[name].difference.interval
        if ends is not None and ends.method != "whole_range":
            found[row] = ends.low, ends.high
    return found


def run(design: Design, samples: int) -> Arrays:
    """Give the ends, samples × measures × 2."""
    seed = zlib.crc32(f"{design.problem} {design.size}".encode())
    found = []
    for at in range(samples):
        rng = np.random.default_rng([seed, at])
        plain = not design.weighted and not design.groups
        found.append(quick_ends(draw(design, rng)[:2]) if plain else whole_ends(design, rng))
    return {"ends": np.array(found)}


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Give the rows of one design after another; what is in the folder is not run again."""
    for design in designs():
        name = re.sub(r"[^a-z0-9]+", "-", f"slice {design.problem} {design.size}".lower())
        settings = {**asdict(design), "samples": samples}
        ends = checkpointed(folder, name, settings, partial(run, design, samples))["ends"]
        yield list(_rows(design, ends))


def _rows(design: Design, ends: Array) -> Iterator[CoverageCell]:
    for row, (name, truth) in enumerate(zip(OF_TWO, truths_of(design), strict=True)):
        yield from cells_of_ends(
            ends[:, row],
            truth,
            study=STUDY,
            problem=design.problem,
            role=HELD_OUT,
            design=f"{SLICE}, {WEIGHTS}" if design.weighted else SLICE,
            n=design.size,
            measure=f"{DIFFERENCE}{name}",
            method=JACKKNIFE if design.groups else MOVER,
            level=LEVEL,
            target=THIS_MODEL,
        )
