"""How often slices that are equal are called worse than the rest, and how often a worse one is.

Each cell draws data sets with slices of stated sizes from one population, in `size` cells the same
in every slice, in `power` cells worse in one of them, and evaluates them with `by=`.  Of two models
that are equally good, or of which the second is worse in one slice, `tr.compare` says where they
differ.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import truerisk as tr
from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.equal_models import Alike, two_normals
from truerisk.intervals.choose import auc_interval
from truerisk.intervals.differences import fisher_mid_p, mover_p_value
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.tallies.ranking import rank

SAMPLES = 1000
BLOCK = 100
WORSE = "s00"  # the slice that is worse in cells of power
DISTANCE = 1.5  # of the mean scores of the classes
THRESHOLD = 1.0
ROWS_A_GROUP = 5
CORRELATION = 0.5  # of the scores of two models, within the classes
WITHIN = 0.5  # of the variance of a score, what the rows of a group share
ALPHA = 0.05
Test = tuple[str, float, float]  # slice, p-value, slice − rest
OF_TWO = ("accuracy", "recall", "precision", "roc_auc")


@dataclass(frozen=True)
class Design:
    """Slices of some sizes, and what the predictions in them are like.

    `shift` is how much lower the scores of the positives are in one slice, or how much more often
    a class is missed there; 0 where all slices are equal.
    """

    words: str
    sizes: tuple[int, ...]
    draw: Callable[["Design", np.random.Generator], dict[str, Any]]
    prevalence: float = 0.3
    weighted: bool = False
    groups: str = ""  # "nested" in slices, or "crossed" with them
    shift: float = 0.0


def two_classes(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw two classes with normal scores, called by a threshold."""
    place = _places(design)
    n = len(place)
    group = _groups(design, place, rng)
    positive = rng.random(n) < design.prevalence
    noise = rng.normal(size=n)
    if group is not None:
        shared = rng.normal(size=int(group.max()) + 1)[group]
        noise = np.sqrt(1 - WITHIN) * noise + np.sqrt(WITHIN) * shared
    score = DISTANCE * positive + noise - design.shift * (positive & (place == 0))
    return {
        "y_true": positive.astype(int),
        "y_pred": (score >= THRESHOLD).astype(int),
        "y_score": score,
        "groups": group,
        "measures": OF_TWO,
        **_columns(design, place, rng),
    }


def five_classes(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw five classes, each called right four times in five, else any other."""
    place = _places(design)
    truth = rng.choice(5, len(place), p=[0.4, 0.25, 0.2, 0.1, 0.05])
    wrong = rng.random(len(place)) < 0.2 + design.shift * (place == 0)
    called = np.where(wrong, (truth + rng.integers(1, 5, len(place))) % 5, truth)
    group = _groups(design, place, rng)
    extra = {"measures": ("accuracy",), "groups": group}
    names = np.array(list("abcde"))
    return {
        "y_true": names[truth],
        "y_pred": names[called],
        **extra,
        **_columns(design, place, rng),
    }


def label_sets(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw sets of four labels, each called right nine times in ten."""
    place = _places(design)
    truth = rng.random((len(place), 4)) < 0.3
    wrong = rng.random(truth.shape) < 0.1 + design.shift * (place == 0)[:, None]
    return {
        "y_true": truth.astype(int),
        "y_pred": (truth ^ wrong).astype(int),
        "multilabel": True,
        "measures": ("accuracy",),
        **_columns(design, place, rng),
    }


def two_models(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw the scores of two models, correlated one half within the classes, called likewise."""
    place = _places(design)
    n = len(place)
    group = _groups(design, place, rng)
    positive = rng.random(n) < design.prevalence
    alike = Alike(CORRELATION, grouped=bool(design.groups))
    scores = [one + DISTANCE * positive for one in two_normals(n, alike, rng)]
    scores[1] -= design.shift * (positive & (place == 0))
    return {
        "y_true": positive.astype(int),
        "predictions": [(score >= THRESHOLD).astype(int) for score in scores],
        "scores": scores,
        "groups": group,
        **_columns(design, place, rng),
    }


def answers(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw answers that are right three times in four."""
    place = _places(design)
    group = _groups(design, place, rng)
    chance = rng.random(len(place))
    if group is not None:  # half of the answers of a group are the group's own
        chance = np.where(rng.random(len(place)) < WITHIN, rng.random(len(place))[group], chance)
    right = chance < 0.75 - design.shift * (place == 0)
    return {"values": right.astype(int), "groups": group, **_columns(design, place, rng)}


def judged(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw scores from 1 to 10 of a judge, most of them high."""
    place = _places(design)
    scores = 1 + rng.binomial(9, np.clip(rng.beta(4, 1, len(place)), 0, 1))
    lower = scores - rng.binomial(4, 0.5, len(place)) * (design.shift * (place == 0) > 0)
    return {
        "values": np.maximum(lower, 1),
        "value_range": (1, 10),
        **_columns(design, place, rng),
    }


def rarely_right(design: Design, rng: np.random.Generator) -> dict[str, Any]:
    """Draw shares of samples that are right, nearly all of them 0."""
    place = _places(design)
    chance = np.where(rng.random(len(place)) < 0.08, rng.beta(2, 2, len(place)), 0.0)
    return {
        "values": rng.binomial(4, chance) / 4,
        "value_range": (0, 1),
        **_columns(design, place, rng),
    }


def _places(design: Design) -> NDArray[Any]:
    return np.repeat(np.arange(len(design.sizes)), design.sizes)


def _columns(design: Design, place: NDArray[Any], rng: np.random.Generator) -> dict[str, Any]:
    columns: dict[str, Any] = {"by": {"slice": np.array([f"s{at:02d}" for at in place])}}
    if design.weighted:
        columns["sample_weight"] = rng.uniform(1.0, 3.0, len(place))
    return columns


def _groups(design: Design, place: NDArray[Any], rng: np.random.Generator) -> Any:
    if not design.groups:
        return None
    group = np.arange(len(place)) // ROWS_A_GROUP
    return rng.permutation(group) if design.groups == "crossed" else group


EQUAL = (100,) * 20
UNEQUAL = tuple(int(size) for size in np.geomspace(20, 600, 20))
SMALL = (25,) * 20
FIVE = (100,) * 5
FIVE_UNEQUAL = (20, 42, 89, 189, 400)
DESIGNS = (
    Design("two classes, 20 slices of 100", EQUAL, two_classes),
    Design("two classes, 20 slices of 20 to 600, 1 in 10 positive", UNEQUAL, two_classes, 0.1),
    Design("two classes, 20 slices of 25", SMALL, two_classes),
    Design("two classes, 20 slices of 100, weights 1 to 3", EQUAL, two_classes, weighted=True),
    Design("two classes, 20 slices of 100, groups in slices", EQUAL, two_classes, groups="nested"),
    Design("two classes, 20 slices of 100, groups across", EQUAL, two_classes, groups="crossed"),
    Design("five classes, 20 slices of 100", EQUAL, five_classes),
    Design("five classes, 20 slices of 20 to 600", UNEQUAL, five_classes),
    Design("label sets, 20 slices of 100", EQUAL, label_sets),
    Design("right or wrong, 20 slices of 100", EQUAL, answers),
    Design("right or wrong, 20 slices of 20 to 600", UNEQUAL, answers),
    Design("right or wrong, 20 slices of 100, groups in slices", EQUAL, answers, groups="nested"),
    Design("scores of a judge, 20 slices of 100", EQUAL, judged),
    Design("scores of a judge, 20 slices of 20 to 600", UNEQUAL, judged),
    Design("shares that are nearly all 0, 20 slices of 20 to 600", UNEQUAL, rarely_right),
    Design("right or wrong, 20 slices of 100, one worse", EQUAL, answers, shift=0.2),
    Design("scores of a judge, 20 slices of 100, one worse", EQUAL, judged, shift=1.0),
    Design("two classes, 20 slices of 100, one worse", EQUAL, two_classes, shift=1.0),
    Design("two classes, 20 slices of 25, one worse", SMALL, two_classes, shift=1.0),
    Design(
        "two classes, 20 slices of 100, groups in slices, one worse",
        EQUAL,
        two_classes,
        groups="nested",
        shift=1.0,
    ),
    Design("five classes, 20 slices of 100, one worse", EQUAL, five_classes, shift=0.2),
    Design("two models, 5 slices of 100", FIVE, two_models),
    Design("two models, 5 slices of 20 to 400", FIVE_UNEQUAL, two_models),
    Design("two models, 5 slices of 100, one worse", FIVE, two_models, shift=1.0),
)


@dataclass(frozen=True, kw_only=True)
class SliceShare:
    """How often some slice was surely worse, some listed as worse, and the worse one was named.

    `worse` counts any slice but the one that is worse; `named` is of that one, NaN where all are
    equal.  Of two models, `worse` counts slices in which either is called better.
    """

    design: str
    slices: int
    n: int
    samples: int
    worse: float
    listed: float
    named: float


def measure_all(*, samples: int = SAMPLES, folder: Path | None = None) -> Iterator[SliceShare]:
    """Measure every design, those that are in the folder already from there."""
    for design in DESIGNS:
        blocks = [
            checkpointed(
                folder,
                f"{_file_name(design)}-{start}",
                {"words": design.words, "sizes": list(design.sizes), "samples": BLOCK},
                lambda start=start, design=design: _block(design, start),  # type: ignore[misc]
            )
            for start in range(0, samples, BLOCK)
        ]
        shares = {name: float(np.mean([one[name].mean() for one in blocks])) for name in blocks[0]}
        yield SliceShare(
            design=design.words,
            slices=len(design.sizes),
            n=sum(design.sizes),
            samples=len(blocks) * BLOCK,
            **_without_named(design, shares),
        )


def _without_named(design: Design, shares: dict[str, float]) -> dict[str, float]:
    """Leave out what only a slice that is worse can have."""
    return shares if design.shift else {**shares, "named": float("nan")}


def _block(design: Design, start: int) -> Arrays:
    seed = zlib.crc32(design.words.encode())
    found = [_one(design, np.random.default_rng([seed, start + at])) for at in range(BLOCK)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def _one(design: Design, rng: np.random.Generator) -> dict[str, bool]:
    drawn = design.draw(design, rng)
    if "predictions" in drawn:
        return _of_models(design, drawn)
    plain = not design.weighted and not design.groups
    plain &= "y_true" in drawn
    found = quick_tests(drawn) if plain else outcomes_of(drawn)
    worse_name = f"slice={WORSE}" if design.shift else ""
    raw = [p_value for _, p_value, _ in found]
    adjusted, listing = holm(raw), benjamini_hochberg(raw)
    worse = {
        name
        for (name, _, apart), p_value in zip(found, adjusted, strict=True)
        if p_value <= ALPHA and apart < 0
    }
    listed = {
        name
        for (name, _, apart), p_value in zip(found, listing, strict=True)
        if p_value <= ALPHA and apart < 0
    }
    return {
        "worse": bool(worse - {worse_name}),
        "listed": bool(listed - {worse_name}),
        "named": worse_name in worse,
    }


def _of_models(design: Design, drawn: dict[str, Any]) -> dict[str, bool]:
    """Compare two models slice by slice."""
    first, second = drawn["predictions"]
    slices = tr.compare(
        drawn["y_true"],
        first,
        second,
        scores=drawn["scores"],
        by=drawn["by"],
        groups=drawn["groups"],
        pos_label=1,
        random_state=0,
    ).slices
    other = f"slice={WORSE}" if design.shift else ""
    elsewhere = [one for one in slices if one.slice != other]
    return {
        "worse": any(one.finding in {"better", "worse"} for one in elsewhere),
        "listed": any(one.listed <= ALPHA for one in elsewhere),
        "named": any(one.finding == "worse" for one in slices if one.slice == other),
    }


def outcomes_of(drawn: dict[str, Any]) -> list[Test]:
    """Give slice, p-value and difference of every test, as `tr.evaluate` has them."""
    of_values = "values" in drawn
    evaluation = (tr.evaluate_values if of_values else tr.evaluate)(**drawn, random_state=0)
    return [
        (name, test.p_value, test.difference.value)
        for name, one in evaluation.slices.items()
        for test in one.tests.values()
    ]


def quick_tests(drawn: dict[str, Any]) -> list[Test]:
    """Give the same of independent examples from the same functions, without the rest of it."""
    place = drawn["by"]["slice"]
    truth, called = drawn["y_true"], drawn["y_pred"]
    right = (truth == called).reshape(len(place), -1).all(axis=1)
    shares = [(right, np.ones(len(place), bool))]
    score = drawn.get("y_score")
    if score is not None:
        shares += [(right, truth == 1), (right, called == 1)]
    found: list[Test] = []
    for name in np.unique(place).tolist():
        inside = place == name
        for hits, units in shares:
            parts = [
                (int((hits & units & side).sum()), int((units & side).sum()))
                for side in (inside, ~inside)
            ]
            values = [k / n if n else float("nan") for k, n in parts]
            p_value = fisher_mid_p(*parts[0], *parts[1])
            found.append((f"slice={name}", p_value, values[0] - values[1]))
        if score is not None:
            found.append((f"slice={name}", *_area_test(truth == 1, score, inside)))
    return found


def _area_test(
    positive: NDArray[Any], score: NDArray[Any], inside: NDArray[Any]
) -> tuple[float, float]:
    rankings = [rank(score[side], positive[side]) for side in (inside, ~inside)]
    ends = [auc_interval(one, level=1 - ALPHA) for one in rankings]
    sizes = [min(positive[side].sum(), (~positive[side]).sum()) for side in (inside, ~inside)]
    first, second = (float(one.auc) for one in rankings)
    p_value = mover_p_value(first, ends[0], second, ends[1], (sizes[0], sizes[1]))
    return p_value, first - second


def _file_name(design: Design) -> str:
    return "slices-" + re.sub(r"[^a-z0-9]+", "-", design.words.lower())
