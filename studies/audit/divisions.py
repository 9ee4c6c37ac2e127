"""What the defaults of random divisions and of scorers cover: variance components, pseudo-values.

`subsampling` and splitters like ShuffleSplit have the variance components of folds for every
measure; a scorer that the registry does not know has the interval of its pseudo-values, by folds,
divisions or one hold-out.  Both speak of the model that is trained on all the examples, and that of
a hold-out of its own model.  The rival is the corrected t of the same refits.

The refits go through the code of `tr.estimate`; the pseudo-values of these scorers have a closed
form, which `tests/studies/audit/test_divisions.py` compares with leaving examples out.  The form of
the interval of scorers was chosen on other populations than these (`CHOICE`), with cost, F2,
spherical, log odds apart, AUC and a lift as scorers.  For divisions nothing was chosen, but that
intervals of refits which test more than a quarter hold the corrected t: it was decided on these
problems, between two forms.  Of samples with more examples than are left out, the scorers alone are
measured, by 5 × 10 folds.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.corrected_t import (
    FALSE_ALARM,
    FOLDS,
    MISSED,
    SCORERS,
    problems,
)
from studies.audit.coverage_cells import HELD_OUT, CoverageCell, cells_of_ends
from studies.audit.refit_populations import Population, population
from studies.audit.refits import (
    LEARNERS,
    Cell,
    Estimated,
    draw,
    estimates_of,
    measures_of,
    truth_of,
)
from truerisk.aliases import Array, Indices
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import DEFAULT, FEW_TESTED
from truerisk.estimation.refits.plans import (
    Folds,
    HeldOut,
    find_method,
    random_divisions,
    repeated_folds,
)
from truerisk.estimation.refits.vote_estimates import VoteEstimates
from truerisk.estimation.refits.votes import CollectedVotes, RefitValues
from truerisk.evaluation.request import Request
from truerisk.intervals.cross_validation import corrected_standard_error
from truerisk.intervals.distributions import student_quantile
from truerisk.intervals.measured_coverage import (
    NO_PROMISE,
    SCORER,
    THIS_MODEL,
    divisions_design,
    folds_design,
)
from truerisk.learners.scoring import MAX_LEFT_OUT
from truerisk.results import Estimate, Interval

STUDY, LEVEL, SAMPLES = "divisions", 0.95, 300
DIVISIONS = ((1 / 3, 15), (1 / 5, 10), (1 / 10, 30))  # share tested, how many
HOLDOUT, HALVES, USUAL = "a third held out", folds_design(2, 5), (10, 5)
# What the form of the interval of scorers was chosen on; "checker" and "four classes" are like
# "exclusive or" and "three classes", drawn anew.
CHOICE = (
    "checker", "four classes", "far outliers", "rare log-normal", "rings", "image", "ringnorm",
    "mushroom", "letter_DO", "bursts", "unequal spread", "ten classes", "copied features",
    "log-normal features",
)  # fmt: skip

LARGE = (
    ("exclusive or", 500, "linear discriminant"), ("three classes", 500, "linear discriminant"),
    ("heavy tails", 500, "naive Bayes"), ("rare positives", 1000, "naive Bayes"),
    ("covtype_binary", 500, "linear discriminant"), ("label noise", 1000, "linear discriminant"),
)  # fmt: skip

Outcome = dict[str, NDArray[Any]]


def _mean(losses: Array) -> tuple[float, Array]:
    return float(losses.mean()), losses


def _left_out(value: float, without: Array) -> tuple[float, Array]:
    n = len(without)
    return value, np.where(np.isfinite(without), n * value - (n - 1) * without, np.inf)


def _cost(scores: Array, y: Indices) -> tuple[float, Array]:
    wrong = scores.argmax(axis=1) != y
    return _mean(-np.where(wrong, np.where(y > 0, MISSED, FALSE_ALARM), 0.0))


def _spherical(scores: Array, y: Indices) -> tuple[float, Array]:
    return _mean(scores[np.arange(len(y)), y] / np.sqrt((scores**2).sum(axis=1)))


def _first_two(scores: Array, y: Indices) -> tuple[float, Array]:
    above = (scores > scores[np.arange(len(y)), y][:, None]).sum(axis=1)
    return _mean((above < 2).astype(np.float64))


def _f2(scores: Array, y: Indices) -> tuple[float, Array]:
    called, positive = scores.argmax(axis=1) == 1, y == 1
    hit, share = 5.0 * (called & positive), 4.0 * positive + called
    hits, whole = hit.sum() - np.append(0.0, hit), share.sum() - np.append(0.0, share)
    values = np.divide(hits, whole, out=np.zeros(len(whole)), where=whole > 0)
    return _left_out(float(values[0]), values[1:])


def _log_odds(scores: Array, y: Indices) -> tuple[float, Array]:
    odds = np.clip(np.log(scores[:, 1] + 1e-12) - np.log(scores[:, 0] + 1e-12), -10, 10)
    sizes = np.bincount(y, minlength=2)
    if sizes.min() == 0:
        return np.nan, np.full(len(y), np.inf)
    means = np.bincount(y, odds, minlength=2) / sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (means[y] * sizes[y] - odds) / (sizes[y] - 1) - means[y]
    value = float(means[1] - means[0])
    return _left_out(value, value + np.where(y == 1, moved, -moved))


# Value and pseudo-values.
PSEUDO_VALUES: Mapping[str, Callable[[Array, Indices], tuple[float, Array]]] = {
    "cost": _cost,
    "F2": _f2,
    "spherical": _spherical,
    "log odds apart": _log_odds,
    "in the first two": _first_two,
}


def outcome_of(scores: Array, y: Indices, classes: int) -> Outcome:
    """Give what a refit hands on: predictions, scores, scorers and their pseudo-values."""
    scored = [PSEUDO_VALUES[name](scores, y) for name in SCORERS[classes == 2]]
    outcome: Outcome = {
        "predicted": scores.argmax(axis=1).astype(np.int32),
        "score": scores if classes > 2 else scores[:, 1],
        "probabilities": np.array(True),  # noqa: FBT003
        "seconds": np.zeros(2),
        "scorers": np.array([value for value, _ in scored]),
        "pseudo_values": np.array([one for _, one in scored]),
    }
    return outcome | ({"complement": scores[:, 0]} if classes == 2 else {})


def outcomes_of(learner: str, X: Array, y: Indices, classes: int, plan: Any) -> list[Outcome]:
    """Refit on each division."""
    found = []
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        scores = LEARNERS[learner](X[train], y[train], classes)(X[test])[0]
        found.append(outcome_of(scores, y[test], classes))
    return found


def collected_of(
    examples: Examples, plan: Any, outcomes: list[Outcome]
) -> tuple[CollectedVotes, Request]:
    """Put the outcomes together as `tr.estimate` does."""
    classes = len(examples.labels)
    collected = CollectedVotes(examples, plan, scorers=tuple(SCORERS[classes == 2]))
    kept = np.isin(np.arange(examples.n), collected.left_out)
    for at, one in enumerate(outcomes):
        one["pseudo_values"] = one["pseudo_values"][:, kept[plan.train_and_test(at)[1]]]
    collected.gather(outcomes)
    request = Request(
        pos_label=examples.pos_label,
        random_state=0,
        measures=measures_of(classes),
        level=LEVEL,
        probabilities=True,
    ).checked()
    return collected, request


def designs(classes: int, n: int) -> Iterator[tuple[str, str]]:
    """List the designs and names of which a cell has intervals, in the order of its arrays."""
    scorers = tuple(SCORERS[classes == 2])
    if n > MAX_LEFT_OUT:
        yield from ((folds_design(*USUAL), one) for one in scorers)
        return
    for share, number in DIVISIONS:
        design = divisions_design(number, share)
        yield from ((design, one) for one in (*scorers, *measures_of(classes)))
    yield from ((HALVES, one) for one in (*scorers, *measures_of(classes)))
    for design in (*(folds_design(*one) for one in FOLDS), HOLDOUT):
        yield from ((design, one) for one in scorers)


def run_cell(name: str, n: int, learner: str, samples: int) -> Arrays:
    """Give ends, rival's ends, truth and method for each design and name; names × samples."""
    own = population(name)
    cell = Cell(population=name, n=n, learner=learner)
    keys = {key: row for row, key in enumerate(designs(own.classes, n))}
    shape = (len(keys), samples)
    arrays: Arrays = {
        "ends": np.full((*shape, 2), np.nan),
        "rival": np.full((*shape, 2), np.nan),
        "truth": np.full(shape, np.nan),
    }
    methods = [Counter[str]() for _ in keys]
    for at in range(samples):
        X, y, _ = draw(cell, at)
        examples = Examples.of(X, y, None)
        scores = LEARNERS[learner](X, y, own.classes)(own.X)[0]
        whole = _scored(scores, own) | {
            one: truth_of(one, scores, own.y, probabilities=True)
            for one in measures_of(own.classes)
        }
        for design, plan in _every_design(y, at):
            truths = whole
            if design == HOLDOUT:
                train = plan.train_and_test(0)[0]
                truths = _scored(LEARNERS[learner](X[train], y[train], own.classes)(own.X)[0], own)
            outcomes = outcomes_of(learner, X, y, own.classes, plan)
            collected, request = collected_of(examples, plan, outcomes)
            for one, (interval, rival) in intervals_of(design, collected, request).items():
                row = keys[design, one]
                arrays["truth"][row, at] = truths[one]
                arrays["rival"][row, at] = rival
                methods[row][interval.method] += 1
                arrays["ends"][row, at] = interval.low, interval.high
    arrays["method"] = np.array([one.most_common(1)[0][0] if one else "" for one in methods])
    return arrays


def _scored(scores: Array, own: Population) -> dict[str, float]:
    return {name: one(scores, own.y) for name, one in SCORERS[own.classes == 2].items()}


def intervals_of(
    design: str, collected: CollectedVotes, request: Request
) -> dict[str, tuple[Interval, tuple[float, float]]]:
    """Give interval and rival of each name that has a promise."""
    examples, plan = collected.examples, collected.plan
    of_folds = isinstance(plan, Folds)
    kind = "cross_validation" if of_folds else "holdout" if design == HOLDOUT else "subsampling"
    votes = VoteEstimates(examples, find_method(kind, examples), collected, request)
    scorers = SCORERS[len(examples.labels) == 2]
    found = {name: votes.of_scorer(name).interval for name in scorers}
    if kind == "subsampling" or design == HALVES:
        for name, (value, one, _) in _of_measures(collected, request).items():
            counted = Estimate(
                value=value,
                interval=one,
                measure=name,
                method=kind,
                n=examples.n,
                target="this model",
            )
            found[name] = votes.finished(counted, DEFAULT).interval
    ratio = 1 / (plan.folds - 1) if isinstance(plan, Folds) else 0.0
    if isinstance(plan, HeldOut):
        ratio = plan.test_train_ratio()
    values = RefitValues(collected, request)
    return {
        name: (one, _corrected_t(np.array(values.of(name)), ratio))
        for name, one in found.items()
        if one is not None and one.method not in {"whole_range", "corrected_t"}
    }


def _of_measures(collected: CollectedVotes, request: Request) -> dict[str, Estimated]:
    """Give value and interval of each measure; none where a part lacks a class."""
    try:
        return estimates_of(collected, request)
    except ZeroDivisionError:
        return {}


def _corrected_t(values: Array, ratio: float) -> tuple[float, float]:
    if len(values) < 2 or not np.isfinite(values).all():
        return np.nan, np.nan
    half = -student_quantile(len(values) - 1, (1 - LEVEL) / 2)
    half *= corrected_standard_error(values.tolist(), ratio)
    return float(values.mean()) - half, float(values.mean()) + half


def _every_design(y: Indices, at: int) -> Iterator[tuple[str, Any]]:
    """Divide one sample in every way."""
    rng = np.random.default_rng([at, 0])
    if len(y) > MAX_LEFT_OUT:
        yield folds_design(*USUAL), repeated_folds(y, *USUAL, rng, allow_small_classes=True)
        return
    for share, number in DIVISIONS:
        yield divisions_design(number, share), random_divisions(y, share, number, rng)
    for one in FOLDS:
        yield folds_design(*one), repeated_folds(y, *one, rng, allow_small_classes=True)
    yield HOLDOUT, random_divisions(y, 1 / 3, 1, rng)
    yield HALVES, repeated_folds(y, 2, 5, rng, allow_small_classes=True)


def rows_of(
    words: str, n: int, arrays: Mapping[str, NDArray[Any]], classes: int
) -> Iterator[CoverageCell]:
    """Give the rows of one problem, design by design."""
    for row, (design, name) in enumerate(designs(classes, n)):
        if not arrays["method"][row]:
            continue
        truth, rival = arrays["truth"][row], arrays["rival"][row]
        both = np.isfinite(rival[:, 0]) & np.isfinite(arrays["ends"][row, :, 0])
        covered = (rival[:, 0] <= truth) & (truth <= rival[:, 1])
        scorer = name in SCORERS[classes == 2]
        yield from cells_of_ends(
            arrays["ends"][row],
            truth,
            study=STUDY,
            problem=f"{words}, {name}" if scorer else words,
            role=HELD_OUT,
            design=design,
            n=n,
            measure=SCORER if scorer else name,
            method=str(arrays["method"][row]),
            level=LEVEL,
            target=NO_PROMISE if design == HOLDOUT and n // 3 < FEW_TESTED else THIS_MODEL,
            rival="corrected_t" if both.any() else "",
            rival_coverage=float(covered[both].mean()) if both.any() else np.nan,
            rival_width=float(np.diff(rival[both]).mean()) if both.any() else np.nan,
        )


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Give the rows of one problem after another; what is in the folder is not run again."""
    for name, n, learner in (*problems(), *LARGE):
        words = f"{name}, {learner}"
        file = "divisions-" + re.sub(r"[^a-z0-9]+", "-", f"{words} {n}".lower())
        settings = {"samples": samples, "level": LEVEL, "of": zlib.crc32(words.encode())}
        run = partial(run_cell, name, n, learner, samples)
        arrays = checkpointed(folder, file, settings, run)
        yield list(rows_of(words, n, arrays, population(name).classes))
