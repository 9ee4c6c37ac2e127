"""How often intervals of rows in groups cover, on populations that the method was not chosen on.

The jackknife over groups was chosen on groups whose difficulty is normal.  Here it is skewed, of
heavy tails, or a beta distribution; prevalences differ between groups; sizes are equal, geometric
or Pareto, or larger where groups are harder.  Real groups are patients and soil types.
The truth is that of many groups.  `n` is the mean number of rows.
"""

import csv
import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

import truerisk as tr
from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from studies.reproduction.jiang_table5 import encoded, read_isolates
from truerisk.aliases import Array, Indices
from truerisk.evaluation.score_estimates import not_kept
from truerisk.execution import run_each
from truerisk.intervals.measured_coverage import NO_PROMISE, THIS_MODEL
from truerisk.measures.registry import base_and_average

LEVEL = 0.95
SAMPLES = 300
GROUPS_OF_CLASSES = GROUPS_OF_PAIRS = (8, 20)
REAL_GROUPS = (12, 30)
TRUE_GROUPS = 30_000
LARGEST = 60  # rows of a group
DATA = "TRUERISK_DATA"
SOILS = "covtype_binary"
REAL = {"NFV": "isolates by patient", "SQV": "isolates by patient", SOILS: "places by soil type"}
BINARY = (
    "error_rate", "balanced_accuracy", "matthews_correlation", "cohen_kappa", "precision", "recall",
    "f1", "gmean", "youden", "positive_likelihood_ratio", "roc_auc", "average_precision",
    "breakeven_point", "eleven_point_precision", "ks", "best_f1", "log_loss", "brier_score",
)  # fmt: skip
OF_CLASSES = (
    "error_rate", "balanced_accuracy", "matthews_correlation", "cohen_kappa", "precision_macro",
    "recall_macro", "f1_macro", "f1_weighted", "roc_auc_macro", "average_precision_macro",
    "average_precision_micro", "log_loss", "brier_score",
)  # fmt: skip
PRECISIONS = ("average_precision", "eleven_point_precision")
PAIRED = (
    "error_rate", "f1", "matthews_correlation", "roc_auc", "average_precision", "log_loss",
    "brier_score",
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Rows in groups: labels, the probabilities of one or two models, weights."""

    group: Indices
    truth: NDArray[Any]
    scores: tuple[Array, ...]
    weight: Array | None = None


Draw = Callable[[int, np.random.Generator], Rows]


def equal(groups: int, hard: Array, rng: np.random.Generator) -> Indices:
    """Give six rows to each group."""
    del hard, rng
    return np.full(groups, 6)


def geometric(groups: int, hard: Array, rng: np.random.Generator) -> Indices:
    """Draw geometric sizes, of mean 8."""
    del hard
    return np.minimum(rng.geometric(1 / 8, groups), LARGEST)


def pareto(groups: int, hard: Array, rng: np.random.Generator) -> Indices:
    """Draw sizes of heavy tails: most groups have three rows, some twenty times as many."""
    del hard
    return np.minimum(np.ceil(3 * (1 + rng.pareto(1.3, groups))), LARGEST).astype(np.intp)


def harder_larger(groups: int, hard: Array, rng: np.random.Generator) -> Indices:
    """Draw sizes that are larger where the group is harder."""
    return np.minimum(1 + rng.poisson(5 * np.exp(0.5 * np.minimum(hard - 1, 5)), groups), LARGEST)


SIZES = {one.__name__.replace("_", " "): one for one in (equal, geometric, pareto, harder_larger)}


DIFFICULTY: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "skewed": lambda groups, rng: rng.exponential(1.0, groups),
    "heavy": lambda groups, rng: np.abs(rng.standard_t(2, groups)),
    "beta": lambda groups, rng: 4 * rng.beta(0.4, 1.2, groups),
    "prevalence": lambda groups, rng: rng.uniform(0, 1.0, groups),
}


def two_classes(
    kind: str, sizes: str, quality: float, *, weighted: bool = False, models: int = 1
) -> Draw:
    """Draw labels and calibrated-looking scores, worse in harder groups.

    `kind` is the distribution of the difficulty: skewed, heavy, beta, or even with prevalences that
    differ.
    """

    def draw(groups: int, rng: np.random.Generator) -> Rows:
        hard = DIFFICULTY[kind](groups, rng)
        group = np.repeat(np.arange(groups), SIZES[sizes](groups, hard, rng))
        share = rng.beta(0.6, 1.4, groups) if kind == "prevalence" else np.full(groups, 0.35)
        truth = rng.random(len(group)) < share[group]
        noise = rng.standard_t(3, len(group)) if kind == "heavy" else rng.normal(size=len(group))
        scores = []
        for at in range(models):
            own = rng.normal(size=len(group)) if models > 1 else 0.0
            shift = rng.normal(size=groups)[group] * 0.5
            margin = (quality - 0.4 * at - hard[group]) * (2 * truth - 1) + noise + shift + own
            scores.append(expit(np.clip(margin, -30, 30)))
        weight = rng.choice([0.5, 1.0, 3.0], len(group)) if weighted else None
        return Rows(group, truth.astype(int), tuple(scores), weight)

    return draw


def three_classes(kind: str, sizes: str, *, weighted: bool = False) -> Draw:
    """Draw three classes, 5 : 3 : 1, with scores that are worse in harder groups."""

    def draw(groups: int, rng: np.random.Generator) -> Rows:
        hard = rng.exponential(1.0, groups) if kind == "skewed" else 3 * rng.beta(0.4, 1.2, groups)
        group = np.repeat(np.arange(groups), SIZES[sizes](groups, hard, rng))
        truth = rng.choice(3, len(group), p=[5 / 9, 3 / 9, 1 / 9])
        margin = 2.5 * np.eye(3)[truth] * (1 - hard[group] / 2)[:, None]
        margin += rng.normal(size=(len(group), 3)) + 0.5 * rng.normal(size=(groups, 3))[group]
        weight = rng.choice([0.5, 1.0, 3.0], len(group)) if weighted else None
        return Rows(group, truth, (softmax(margin, axis=1),), weight)

    return draw


def _isolates(drug: str) -> tuple[Array, Indices, Indices]:
    """Give features, resistance and patients of the isolates of a drug."""
    isolates = read_isolates(Path(os.environ[DATA]), drug)
    sites = encoded(isolates.letters, range(1, 100), "amino_acids")
    return sites, (isolates.factor > 3.0).astype(np.intp), isolates.patient


def _soils(name: str) -> tuple[Array, Indices, Indices]:
    """Give features, forest cover and soil types of at most 60 places of each soil type."""
    with gzip.open(Path(os.environ[DATA]) / "tabular" / f"{name}.csv.gz", "rt") as file:
        heads = next(csv.reader([file.readline()]))
        table = np.loadtxt(file, delimiter=",")
    soil = np.array([head.startswith("Soil_Type") for head in heads])
    group = table[:, soil].argmax(axis=1)
    order = np.random.default_rng(0).permutation(len(table))
    starts = {one: np.flatnonzero(group[order] == one)[:LARGEST] for one in np.unique(group)}
    taken = order[np.concatenate([*starts.values()])]
    features = table[taken][:, ~soil & (np.array(heads) != "target")]
    return (
        (features - features.mean(axis=0)) / (features.std(axis=0) + 1e-9),
        table[taken, -1].astype(np.intp),
        group[taken],
    )


@cache
def _real(name: str) -> Rows:
    """Train a classifier, and give the rows of groups that it has not seen, with its scores."""
    from sklearn.linear_model import LogisticRegression

    X, truth, group = _soils(name) if name == SOILS else _isolates(name)
    halves = np.random.default_rng(0).random(group.max() + 1) < (0.25 if name == SOILS else 0.5)
    rows, left = np.flatnonzero(halves[group]), np.flatnonzero(~halves[group])
    model = LogisticRegression(C=0.05, max_iter=1000).fit(X[rows], truth[rows])
    codes = np.unique(group[left], return_inverse=True)[1]
    return Rows(codes, truth[left], (model.predict_proba(X[left])[:, 1],))


def real_groups(name: str) -> Draw:
    """Draw groups with replacement, each with all its rows."""

    def draw(groups: int, rng: np.random.Generator) -> Rows:
        every = _real(name)
        members = [np.flatnonzero(every.group == one) for one in range(int(every.group.max()) + 1)]
        drawn = [members[at] for at in rng.integers(len(members), size=groups)]
        at = np.concatenate(drawn)
        group = np.repeat(np.arange(groups), [len(one) for one in drawn])
        return Rows(group, every.truth[at], tuple(score[at] for score in every.scores))

    return draw


@dataclass(frozen=True)
class Problem:
    """A population of groups, the measures looked at, and how many groups are drawn."""

    name: str
    sizes: str
    draw: Draw
    measures: tuple[str, ...]
    groups: tuple[int, ...]
    paired: bool = False

    @property
    def words(self) -> str:
        """Name it."""
        return f"{self.name}, {self.sizes}"


# How far averages of precisions, and areas, reach was chosen on three of the populations each.
CHOSEN = {
    (words, measure)
    for words, measures in {
        "skewed difficulty, margin 2.5, equal sizes": PRECISIONS,
        "skewed difficulty, margin 3.5, harder larger sizes": (*PRECISIONS, "roc_auc"),
        "heavy difficulty, margin 2.5, geometric sizes": (*PRECISIONS, "roc_auc"),
        "prevalence difficulty, margin 2.5, pareto sizes": ("roc_auc",),
    }.items()
    for measure in measures
}


def problems() -> Iterator[Problem]:
    """List the populations; real ones only where their tables are."""
    for kind, quality, sizes, weighted, groups in (
        ("skewed", 2.5, "equal", False, (3, 5, 8, 12, 20, 40, 80)),
        ("skewed", 3.5, "harder larger", False, (5, 12, 40)),
        ("heavy", 2.5, "geometric", False, (5, 12, 40)),
        ("heavy", 2.0, "equal", True, (8, 20, 80)),
        ("beta", 2.0, "pareto", False, (8, 20)),
        ("beta", 3.0, "geometric", True, (12, 40)),
        ("prevalence", 1.2, "geometric", False, (12, 40)),
        ("prevalence", 2.5, "pareto", False, (8, 20)),
    ):
        name = f"{kind} difficulty, margin {quality:g}" + (", weights" if weighted else "")
        draw = two_classes(kind, sizes, quality, weighted=weighted)
        yield Problem(name, f"{sizes} sizes", draw, BINARY, groups)
    for kind, sizes, weighted in (
        ("skewed", "geometric", False), ("beta", "equal", True), ("beta", "pareto", False),
    ):  # fmt: skip
        name = f"three classes, {kind} difficulty" + (", weights" if weighted else "")
        draw = three_classes(kind, sizes, weighted=weighted)
        yield Problem(name, f"{sizes} sizes", draw, OF_CLASSES, GROUPS_OF_CLASSES)
    for kind, sizes in (("skewed", "geometric"), ("heavy", "equal"), ("beta", "pareto")):
        draw = two_classes(kind, sizes, 2.2, models=2)
        name = f"two models, {kind} difficulty"
        yield Problem(name, f"{sizes} sizes", draw, PAIRED, GROUPS_OF_PAIRS, paired=True)
    if os.environ.get(DATA):
        for name, words in REAL.items():
            yield Problem(name, words, real_groups(name), BINARY, REAL_GROUPS)


def evaluated(problem: Problem, rows: Rows, *, grouped: bool) -> Mapping[str, Any]:
    """Evaluate, or compare, as a user would."""
    options: dict[str, Any] = {
        "groups": rows.group if grouped else None,
        "sample_weight": rows.weight,
        "probabilities": True,
        "measures": problem.measures,
        "random_state": 0,
    }
    called = [
        score.argmax(axis=1) if score.ndim == 2 else (score > 0.5).astype(int)
        for score in rows.scores
    ]
    if problem.paired:
        compared = tr.compare(rows.truth, *called, scores=list(rows.scores), pos_label=1, **options)
        return {name: compared[name].difference for name in problem.measures}
    if rows.scores[0].ndim == 1:
        options["pos_label"] = 1
    return tr.evaluate(rows.truth, called[0], y_score=rows.scores[0], **options)


@cache
def _truth(problem: Problem) -> dict[str, float]:
    """Give the values of very many groups."""
    if problem.name in REAL:
        rows = _real(problem.name)
    else:
        rows = problem.draw(TRUE_GROUPS, np.random.default_rng(1))
    found = evaluated(problem, rows, grouped=False)
    return {name: found[name].value for name in problem.measures}


def draw_cell(problem: Problem, groups: int, *, samples: int, folder: Path | None) -> Arrays:
    """Draw groups again and again; give the ends of all intervals, and the truth."""

    def compute() -> Mapping[str, NDArray[Any]]:
        file = f"{problem.words} {groups}"
        rng = np.random.default_rng([0, zlib.crc32(file.encode())])
        found: dict[str, list[Any]] = {"ends": [], "methods": [], "rows": []}
        while len(found["rows"]) < samples:
            rows = problem.draw(groups, rng)
            if len(np.unique(rows.truth)) < 2:
                continue
            estimates = evaluated(problem, rows, grouped=True)
            every = [estimates[name] for name in problem.measures]
            found["ends"].append(
                [
                    (e.interval.low, e.interval.high) if np.isfinite(e.value) else (np.nan, np.nan)
                    for e in every
                ]
            )
            found["methods"].append([e.interval.method for e in every])
            found["rows"].append(len(rows.group))
        truth = _truth(problem)
        return {
            "ends": np.array(found["ends"]),
            "methods": np.array(found["methods"]),
            "rows": np.array(found["rows"]),
            "truth": np.array([truth[name] for name in problem.measures]),
        }

    name = re.sub(r"[^a-z0-9]+", "-", f"groups {problem.words} {groups}".lower())
    return checkpointed(folder, name, {"samples": samples}, compute)


def cells_of(
    problem: Problem, groups: int, arrays: Mapping[str, NDArray[Any]]
) -> Iterator[CoverageCell]:
    """Give one row per measure."""
    for at, measure in enumerate(problem.measures):
        low, high = arrays["ends"][:, at].T
        defined = ~np.isnan(low)
        if not defined.any():
            continue
        inside = (low <= arrays["truth"][at]) & (arrays["truth"][at] <= high)
        widths = (high - low)[defined]
        finite = widths[np.isfinite(widths)]
        yield CoverageCell(
            study="groups",
            problem=problem.words,
            role=CHOSEN_ON if (problem.words, measure) in CHOSEN else HELD_OUT,
            design=f"{groups} groups",
            n=round(float(arrays["rows"].mean())),
            measure=f"{measure}, difference" if problem.paired else measure,
            method=Counter(arrays["methods"][defined, at].tolist()).most_common(1)[0][0],
            level=LEVEL,
            target=_target(problem, measure, groups),
            samples=int(defined.sum()),
            undefined=int((~defined).sum()),
            coverage=float(inside[defined].mean()),
            width=float(finite.mean()) if len(finite) else np.inf,
        )


def _target(problem: Problem, measure: str, groups: int) -> str:
    """Tell what the result promises nothing of; differences have no such limit."""
    silent = not problem.paired and not_kept(base_and_average(measure)[0], groups)
    return NO_PROMISE if silent else THIS_MODEL


def all_cells() -> list[tuple[Problem, int]]:
    """List every population with its numbers of groups."""
    return [(problem, groups) for problem in problems() for groups in problem.groups]


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None, n_jobs: int = 1
) -> Iterator[tuple[str, list[CoverageCell]]]:
    """Give the rows of one cell after another."""
    cells = all_cells()
    names = [(problem.words, groups) for problem, groups in cells]
    shared = {"samples": samples, "folder": folder}
    results = run_each(_cell, shared, names, n_jobs=n_jobs)
    for (problem, groups), arrays in zip(cells, results, strict=True):
        yield f"{problem.words}, {groups} groups", list(cells_of(problem, groups, arrays))


def _cell(shared: Mapping[str, Any], item: tuple[str, int]) -> Arrays:
    words, groups = item
    problem = next(one for one in problems() if one.words == words)
    return draw_cell(problem, groups, samples=shared["samples"], folder=shared["folder"])


def summary(cells: Sequence[CoverageCell]) -> str:
    """Say how many cells are in the band, and which are low."""
    lines = []
    for measure in dict.fromkeys(cell.measure for cell in cells):
        mine = [cell for cell in cells if cell.measure == measure]
        shares = np.array([cell.coverage for cell in mine])
        band = np.mean([cell.within(0.92, 0.985) for cell in mine])
        lines.append(
            f"{measure}: {shares.mean():.3f}, least {shares.min():.3f}, "
            f"under .88 {np.count_nonzero(shares < 0.88)} of {len(mine)}, in band {band:.2f}"
        )
    return "\n".join(lines)
