"""How often a sentence is false that says it is sure.

Samples are drawn at the boundary, where nothing can be said for sure: a classifier exactly as good
as always answering one class, predictions that have nothing to do with the truth, models that are
equally good, differences that are exactly as large as what does not matter, a true value at the
bound that is claimed.  There a sentence of these codes is false, and at 95 % at most one sample in
twenty may have it.
"""

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from studies.audit import equal_models
from studies.audit.checkpoints import checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from studies.audit.equal_models import Alike
from truerisk.aliases import Array, Indices
from truerisk.execution import run_each
from truerisk.results import Finding

LEVEL = 0.95
SAMPLES, BLOCK = 1000, 100
FRESH = 20_000  # examples that tell the accuracy of a model
ROWS_A_GROUP = 5
REGION = 0.02
SURE_OF_CONSTANT = ("better_than_constant", "worse_than_constant")
DIFFERENT = ("better", "worse")

Draw = Callable[[int, np.random.Generator], Sequence[str]]


@dataclass(frozen=True)
class Scenario:
    """Where the boundary is; `draw` gives the codes of the false sentences of one sample."""

    name: str
    where: str
    sentence: str
    draw: Draw
    sizes: tuple[int, ...]

    @property
    def file_name(self) -> str:
        """Name the files of its blocks, without size, block and suffix."""
        return re.sub(r"[^a-z0-9]+", "-", f"sentences {self.where} {self.name}".lower())


def codes_of(findings: Sequence[str], codes: Sequence[str]) -> list[str]:
    """Give the codes that some findings have, of those that are looked at."""
    return [one.code for one in findings if isinstance(one, Finding) and one.code in codes]


def as_constant(
    shares: Sequence[float],
    right: Sequence[float],
    *,
    grouped: bool = False,
    weighted: bool = False,
) -> Draw:
    """Draw predictions that are right as often as the commonest class is; by class, `right`."""
    accuracy = math.fsum(share * one for share, one in zip(shares, right, strict=True))

    def draw(n: int, rng: np.random.Generator) -> Sequence[str]:
        units = -(-n // ROWS_A_GROUP) if grouped else n
        y = rng.choice(len(shares), size=units, p=shares)
        is_right = rng.random(units) < np.asarray(right)[y]
        if grouped:  # half of the groups repeat their first row, the others are independent
            rows = np.arange(n) // ROWS_A_GROUP
            copied = rng.random(units)[rows] < 0.5
            other = rng.choice(len(shares), size=n, p=shares)
            fresh = rng.random(n) < np.asarray(right)[other]
            y, is_right = np.where(copied, y[rows], other), np.where(copied, is_right[rows], fresh)
        called = np.where(is_right, y, (y + rng.integers(1, len(shares), size=n)) % len(shares))
        weight = rng.choice([1.0, 3.0], size=n) if weighted else None
        found = tr.evaluate(
            [f"class {one}" for one in y],
            [f"class {one}" for one in called],
            groups=np.arange(n) // ROWS_A_GROUP if grouped else None,
            sample_weight=weight,
            pos_label="class 1" if len(shares) == 2 else None,
            measures=["accuracy"],
            random_state=0,
        )
        commonest = int(np.argmax(np.bincount(y, weights=weight)))
        return _false_about_constant(found.verdict, accuracy, shares[commonest])

    return draw


def _false_about_constant(verdict: Sequence[str], accuracy: float, share: float) -> list[str]:
    said = codes_of(verdict, SURE_OF_CONSTANT)
    is_better, is_worse = accuracy > share + 1e-12, accuracy < share - 1e-12
    true = {"better_than_constant": is_better, "worse_than_constant": is_worse}
    return [code for code in said if not true[code]]


def unrelated(positive: float, codes: Sequence[str]) -> Draw:
    """Draw predictions and scores that have nothing to do with the truth."""

    def draw(n: int, rng: np.random.Generator) -> Sequence[str]:
        y = (rng.random(n) < positive).astype(int)
        score = rng.normal(size=n)
        found = tr.evaluate(
            y,
            (rng.random(n) < positive).astype(int),
            y_score=score,
            measures=["matthews_correlation", "roc_auc"],
            random_state=0,
        )
        return codes_of(found.verdict, codes)

    return draw


def at_the_bound(n: int, rng: np.random.Generator) -> Sequence[str]:
    """Claim that recall is at least what it is: the lower end must not be above it."""
    called = rng.random(n) < 0.8
    found = tr.evaluate(np.ones(n, dtype=int), called.astype(int), pos_label=1, random_state=0)
    interval = found["recall"].interval
    return ["fail_under"] if interval is not None and interval.low > 0.8 else []


def noise(model: Any) -> Draw:
    """Train on features that have nothing to do with two even classes."""

    def draw(n: int, rng: np.random.Generator) -> Sequence[str]:
        X, y = rng.normal(size=(n, 3)), rng.permutation(np.arange(n) % 2)
        return _of_learner(model, X, y, rng, accuracy=0.5)

    return draw


def xor(model: Any) -> Draw:
    """Train on two features of which only the sign of the product counts."""

    def sample(n: int, rng: np.random.Generator) -> tuple[Array, Indices]:
        corner = rng.choice([-1.0, 1.0], size=(n, 2))
        return corner + 0.5 * rng.normal(size=(n, 2)), (corner.prod(axis=1) > 0).astype(int)

    def draw(n: int, rng: np.random.Generator) -> Sequence[str]:
        X, y = sample(n, rng)
        fresh, truth = sample(FRESH, rng)
        accuracy = float((model.fit(X, y).predict(fresh) == truth).mean())
        return _of_learner(model, X, y, rng, accuracy=accuracy)

    return draw


def _of_learner(
    model: Any, X: Array, y: Indices, rng: np.random.Generator, *, accuracy: float
) -> Sequence[str]:
    seed = int(rng.integers(2**32))
    found = tr.estimate(model, X, y, measures=["accuracy"], random_state=seed)
    return _false_about_constant(found.verdict, accuracy, 0.5)


def equal(measure: str, alike: Alike, *, classes: bool = False) -> Draw:
    """Compare two models that are equally good."""

    def draw(n: int, rng: np.random.Generator) -> Sequence[str]:
        drawn = (equal_models.labelled if classes else equal_models.scored)(n, alike, rng)
        comparison = _compared(drawn, measure, None)
        return codes_of([comparison.verdict], DIFFERENT)

    return draw


def _compared(drawn: Mapping[str, Any], measure: str, region: float | None) -> Any:
    first, second = drawn["predictions"]
    [one] = tr.compare(
        drawn["y_true"],
        first,
        second,
        scores=drawn["scores"] if measure == "roc_auc" else None,
        groups=drawn["groups"],
        measures=[measure],
        region=region,
        random_state=0,
        pos_label=None if drawn["scores"][0] is None else 1,
    ).pairs
    return one


def a_region_apart(n: int, rng: np.random.Generator) -> Sequence[str]:
    """Compare two models whose error rates differ by just what matters: they are not equivalent."""
    first = rng.random(n) < 0.10
    second = rng.random(n) < 0.10 + REGION
    drawn = {
        "y_true": np.ones(n, dtype=int),
        "predictions": [(~first).astype(int), (~second).astype(int)],
        "scores": [None, None],
        "groups": None,
    }
    return codes_of([_compared(drawn, "error_rate", REGION).verdict], ("equivalent",))


def five_equal(n: int, rng: np.random.Generator) -> Sequence[str]:
    """Compare five models that are equally good: any pair that is found different is false."""
    y = (rng.random(n) < 0.5).astype(int)
    common = rng.normal(size=n)
    wrong = [0.7 * common + 0.7 * rng.normal(size=n) < -0.8 for _ in range(5)]
    found = tr.compare(y, *(np.where(one, 1 - y, y) for one in wrong), measures=["error_rate"])
    sure = [
        pair
        for pair in found.pairs
        if pair.finding in DIFFERENT and found.adjusted[pair.names] <= 1 - LEVEL
    ]
    return ["better"] if sure else []


def equal_learners(n: int, rng: np.random.Generator) -> Sequence[str]:
    """Compare two learners, each of which sees one half of exchangeable features."""
    X, y = equal_models.draw_halves(n, rng)
    learners = (equal_models.NearestMean(0), equal_models.NearestMean(equal_models.HALF))
    found = tr.compare_models(*learners, X, y, random_state=int(rng.integers(2**32)))
    return codes_of([found.verdict], DIFFERENT)


CONSTANT = "better or worse than a constant"
CHANCE, RANKS = ("worse_than_chance",), ("scores_reversed", "ranking")
BETTER = "better or worse"
SEVEN_IN_TEN = ((0.7, 0.3), (0.85, 0.35))
SIZES = (50, 200, 1000)
BOUNDARIES: dict[tuple[str, str], dict[str, tuple[Draw, tuple[int, ...]]]] = {
    ("tr.evaluate", CONSTANT): {
        "two classes, even": (as_constant((0.5, 0.5), (0.5, 0.5)), SIZES),
        "two classes, 7 in 10": (as_constant(*SEVEN_IN_TEN), SIZES),
        "two classes, 95 in 100": (as_constant((0.95, 0.05), (0.98, 0.38)), SIZES),
        "three classes": (as_constant((0.5, 0.3, 0.2), (0.7, 0.3, 0.3)), SIZES),
        "ten classes, even": (as_constant((0.1,) * 10, (0.1,) * 10), (200, 1000)),
        "7 in 10, weights 1 and 3": (as_constant(*SEVEN_IN_TEN, weighted=True), (100, 500)),
        "7 in 10, groups of 5": (as_constant(*SEVEN_IN_TEN, grouped=True), (100, 500)),
    },
    ("tr.evaluate", "worse than chance"): {
        "unrelated, 3 in 10 positive": (unrelated(0.3, CHANCE), SIZES),
        "unrelated, 1 in 10 positive": (unrelated(0.1, CHANCE), (100, 1000)),
    },
    ("tr.evaluate", "ranks, or ranks in reverse"): {
        "unrelated scores, 3 in 10 positive": (unrelated(0.3, RANKS), SIZES),
        "unrelated scores, 1 in 10 positive": (unrelated(0.1, RANKS), (100, 1000)),
    },
    ("gates, --fail-under", "shown"): {
        "recall at the bound 0.8": (at_the_bound, (20, 50, 200, 1000))
    },
    ("tr.compare", BETTER): {
        "error rate": (equal("error_rate", Alike(0.5)), (100, 1000)),
        "area under the ROC curve": (equal("roc_auc", Alike(0.5)), (100, 1000)),
        "F1": (equal("f1", Alike(0.5)), (100, 1000)),
        "macro F1, three classes": (equal("f1_macro", Alike(0.5), classes=True), (300,)),
        "five models": (five_equal, (100, 1000)),
        "error rate, groups of 5": (equal("error_rate", Alike(0.5, grouped=True)), (300,)),
    },
    ("tr.compare", "equivalent"): {"error rates a region apart": (a_region_apart, (1000, 5000))},
    ("tr.estimate", CONSTANT): {
        "noise, tree": (noise(DecisionTreeClassifier()), (100,)),
        "noise, logistic regression": (noise(LogisticRegression()), (100,)),
        "XOR, linear discriminant": (xor(LinearDiscriminantAnalysis()), (250,)),
    },
    ("tr.compare_models", BETTER): {"nearest means": (equal_learners, (100,))},
}
SCENARIOS = tuple(
    Scenario(name, where, sentence, draw, sizes)
    for (where, sentence), cases in BOUNDARIES.items()
    for name, (draw, sizes) in cases.items()
)


def all_parts(scenarios: Sequence[Scenario] = SCENARIOS) -> list[tuple[Scenario, int]]:
    """List every scenario at every size."""
    return [(one, n) for one in scenarios for n in one.sizes]


def measure(
    parts: Sequence[tuple[Scenario, int]],
    *,
    samples: int = SAMPLES,
    folder: Path | None = None,
    n_jobs: int = 1,
) -> Iterator[CoverageCell]:
    """Give one row per scenario and size: how often no false sentence was said.

    Parameters
    ----------
    parts
        What to draw.
    samples
        Samples of each.
    folder
        Where checkpoints are written, and looked for first.
    n_jobs
        Processes; the figures do not depend on it.
    """
    blocks = range(-(-samples // BLOCK))
    items = [(SCENARIOS.index(one), n, block) for one, n in parts for block in blocks]
    results = run_each(_block, {"folder": folder}, items, n_jobs=n_jobs)
    for scenario, n in parts:
        said = np.concatenate([next(results)["false"] for _ in blocks])[:samples]
        yield CoverageCell(
            study="sentences",
            problem=scenario.name,
            role=HELD_OUT,
            design="",
            n=n,
            measure=scenario.sentence,
            method=scenario.where,
            level=LEVEL,
            target="the sentence",
            samples=samples,
            undefined=0,
            coverage=1 - float(said.mean()),
            width=math.nan,
        )


def _block(shared: Mapping[str, Any], item: tuple[int, int, int]) -> dict[str, NDArray[Any]]:
    at, n, block = item
    scenario = SCENARIOS[at]

    def compute() -> dict[str, NDArray[Any]]:
        name = zlib.crc32(scenario.file_name.encode())
        said = [
            bool(scenario.draw(n, np.random.default_rng([0, name, n, sample])))
            for sample in range(block * BLOCK, (block + 1) * BLOCK)
        ]
        return {"false": np.array(said)}

    settings = {"scenario": scenario.name, "where": scenario.where, "n": n, "block": block}
    return checkpointed(shared["folder"], f"{scenario.file_name}-{n}-{block}", settings, compute)
