"""What the corrected t covers: of random divisions and scorers by name, and of searches.

It is the default of `tr.summarise`, the winner of a search included; `interval="corrected_t"` has
it for random divisions and for scorers, whose defaults `studies/audit/divisions.py` measures.  It
speaks of the learner at this sample size: the truth is the mean, over all samples, of
the value of the model that is trained on the whole sample.

Each sample is divided 30 times per share of test examples; the first 5, 10 or 15 of the divisions
are other designs.  Nothing was chosen on these problems.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell, cells_of_ends
from studies.audit.refit_populations import Population, population
from studies.audit.refits import LEARNERS, OF_SCORES, RANKED, Cell, draw, measures_of, truth_of
from truerisk.aliases import Array, Indices
from truerisk.estimation.refits.interval_rules import mean_of_refits, summarise
from truerisk.estimation.refits.plans import random_divisions, repeated_folds
from truerisk.intervals.measured_coverage import (
    LEARNER,
    NO_PROMISE,
    SCORER,
    divisions_design,
    folds_design,
)
from truerisk.measures.averages import value_of_tables
from truerisk.measures.registry import base_and_average
from truerisk.results import has_code
from truerisk.tallies.losses import LOSSES

STUDY, LEVEL, SAMPLES = "corrected_t", 0.95, 300
DIVISIONS = ((1 / 3, (5, 15, 30)), (1 / 5, (5, 10, 30)), (1 / 10, (10, 30)))  # tested, how many
FOLDS = ((5, 1), (10, 1), (10, 5))  # folds, repetitions: of scorers
SEARCHES = ((5, 1), (10, 1))
SEARCHED = {"accuracy": "accuracy", "roc_auc": "roc_auc", "log_loss": "neg_log_loss"}
MISSED, FALSE_ALARM = 5.0, 1.0  # costs of a scorer

Judged = tuple[Array, Indices]  # scores by class and classes of the examples of one refit


def _cost(scores: Array, y: Indices) -> float:
    called = scores.argmax(axis=1)
    return -float(np.mean(np.where(called == y, 0.0, np.where(y > 0, MISSED, FALSE_ALARM))))


def _f2(scores: Array, y: Indices) -> float:
    called = scores.argmax(axis=1) == 1
    hits = np.sum(called & (y == 1))
    whole = 4 * np.sum(y == 1) + np.sum(called)
    return float(5 * hits / whole) if whole else 0.0


def _spherical(scores: Array, y: Indices) -> float:
    return float(np.mean(scores[np.arange(len(y)), y] / np.sqrt((scores**2).sum(axis=1))))


def _first_two(scores: Array, y: Indices) -> float:
    return float(np.mean((scores > scores[np.arange(len(y)), y][:, None]).sum(axis=1) < 2))


def _log_odds(scores: Array, y: Indices) -> float:
    """Give how far the mean log odds of the classes are apart, cut at ± 10: it has no range."""
    odds = np.clip(np.log(scores[:, 1] + 1e-12) - np.log(scores[:, 0] + 1e-12), -10, 10)
    return float(odds[y == 1].mean() - odds[y == 0].mean()) if 0 < y.sum() < len(y) else np.nan


SCORERS: Mapping[bool, Mapping[str, Callable[[Array, Indices], float]]] = {
    True: {"cost": _cost, "F2": _f2, "spherical": _spherical, "log odds apart": _log_odds},
    False: {"cost": _cost, "spherical": _spherical, "in the first two": _first_two},
}


def problems() -> Iterator[tuple[str, int, str]]:
    """List population, size and learner of each cell."""
    lda, bayes, _, _, stump3 = list(LEARNERS)[:5]
    yield from (
        ("exclusive or", 250, lda), ("three classes", 150, lda), ("heavy tails", 100, bayes),
        ("rare positives", 300, bayes), ("covtype_binary", 200, lda), ("twonorm", 50, lda),
        ("label noise", 100, lda), ("svmguide1", 300, bayes), ("banana", 100, stump3),
        ("ijcnn1", 300, lda), ("waveform", 50, bayes), ("titanic", 100, lda),
    )  # fmt: skip


def searches() -> Iterator[tuple[str, int, int]]:
    """List population, size and number of candidates of each search."""
    yield from (
        ("twonorm", 50, 10), ("label noise", 50, 10), ("label noise", 200, 30),
        ("heavy tails", 100, 10), ("heavy tails", 300, 30), ("covtype_binary", 200, 30),
        ("rings", 60, 10), ("rings", 300, 30), ("rare positives", 300, 10),
        ("waveform", 100, 30), ("three classes", 150, 10), ("svmguide1", 100, 10),
    )  # fmt: skip


def measures(classes: int) -> tuple[str, ...]:
    """List the measures that have a value in each refit."""
    every = measures_of(classes)
    return tuple(one for one in every if base_and_average(one)[0] not in RANKED or one in RANKED)


def values_of(judged: list[Judged], classes: int) -> dict[str, Array]:
    """Give every measure and every scorer in each refit."""
    codes = [y * classes + scores.argmax(axis=1) for scores, y in judged]
    counts = np.array([np.bincount(one, minlength=classes**2) for one in codes], dtype=np.float64)
    tables = counts.reshape(-1, classes, classes)
    found: dict[str, Array] = {}
    for name in measures(classes):
        if name in OF_SCORES:
            found[name] = np.array([_of_scores(name, *one) for one in judged])
        else:
            value = value_of_tables(name, tables, 1 if classes == 2 else None)
            found[name] = np.broadcast_to(np.asarray(value, dtype=np.float64), len(tables))
    for name, scorer in SCORERS[classes == 2].items():
        found[name] = np.array([scorer(*one) for one in judged])
    return found


def _of_scores(name: str, scores: Array, y: Indices) -> float:
    if name in LOSSES:
        pair = (scores[:, 1], y == 1, scores[:, 0]) if scores.shape[1] == 2 else (scores, y, None)
        return float(LOSSES[name](*pair).mean())
    return RANKED[name](scores[:, 1], y == 1) if 0 < y.sum() < len(y) else np.nan


def truths_of(scores: Array, own: Population) -> dict[str, float]:
    """Give every measure and scorer of a model on its population."""
    found = {
        name: truth_of(name, scores, own.y, probabilities=True) for name in measures(own.classes)
    }
    return found | {name: one(scores, own.y) for name, one in SCORERS[own.classes == 2].items()}


def judged_by(learner: str, X: Array, y: Indices, classes: int, plan: Any) -> list[Judged]:
    """Refit on each division, and give the scores of the examples tested."""
    found = []
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        found.append((LEARNERS[learner](X[train], y[train], classes)(X[test])[0], y[test]))
    return found


def ends_of(values: Array, name: str, ratio: float) -> tuple[float, float]:
    """Give the interval of the mean of some refits; NaN where some have no value, or all one."""
    if not np.isfinite(values).all():
        return np.nan, np.nan
    found = mean_of_refits(tuple(values.tolist()), name, ratio, LEVEL).interval
    return (np.nan, np.nan) if found is None else (found.low, found.high)


def designs(classes: int) -> Iterator[tuple[str, str]]:
    """List the designs and names of which a cell has intervals, in the order of its arrays."""
    names = (*measures(classes), *SCORERS[classes == 2])
    for share, numbers in DIVISIONS:
        yield from product([divisions_design(one, share) for one in numbers], names)
    yield from product([folds_design(*one) for one in FOLDS], SCORERS[classes == 2])


def run_divisions(name: str, n: int, learner: str, samples: int) -> Arrays:
    """Give the ends for each design and name, and the truths of each name; names × samples."""
    own = population(name)
    cell = Cell(population=name, n=n, learner=learner)
    keys = list(designs(own.classes))
    names = (*measures(own.classes), *SCORERS[own.classes == 2])
    ends, truths = np.full((len(keys), samples, 2), np.nan), np.full((len(names), samples), np.nan)
    for at in range(samples):
        X, y, _ = draw(cell, at)
        rng = np.random.default_rng([at, 0])
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for share, numbers in DIVISIONS:
            plan = random_divisions(y, share, max(numbers), rng)
            values = values_of(judged_by(learner, X, y, own.classes, plan), own.classes)
            for number, one in product(numbers, values):
                ratio = plan.test_train_ratio()
                design = divisions_design(number, share)
                found[design, one] = ends_of(values[one][:number], one, ratio)
        for folds, repeats in FOLDS:
            parts = repeated_folds(y, folds, repeats, rng, allow_small_classes=True)
            values = values_of(judged_by(learner, X, y, own.classes, parts), own.classes)
            for one in SCORERS[own.classes == 2]:
                found[folds_design(folds, repeats), one] = ends_of(
                    values[one], one, 1 / (folds - 1)
                )
        ends[:, at] = [found[key] for key in keys]
        of_model = truths_of(LEARNERS[learner](X, y, own.classes)(own.X)[0], own)
        truths[:, at] = [of_model[one] for one in names]
    return {"ends": ends, "truths": truths}


@dataclass(frozen=True)
class Candidate:
    """A learner on some of the features."""

    learner: str
    columns: Indices

    def scores(self, X: Array, y: Indices, classes: int, rows: Array) -> Array:
        """Train on X and y, and score rows."""
        model = LEARNERS[self.learner](X[:, self.columns], y, classes)
        return model(rows[:, self.columns])[0]


def candidates_of(features: int, count: int) -> list[Candidate]:
    """Give discriminants and naive Bayes by turns, on all features first, then on halves."""
    rng = np.random.default_rng([7, features])
    sets = [np.arange(features)]
    sets += [rng.choice(features, -(-features // 2), replace=False) for _ in range(count)]
    both = product(sets, list(LEARNERS)[:2])
    return [Candidate(learner, columns) for columns, learner in both][:count]


def run_search(name: str, n: int, count: int, samples: int) -> Arrays:
    """Give the ends of the winner for each design and measure, and the truth of that winner.

    `promised` says whether the result makes a promise.
    """
    own = population(name)
    candidates = candidates_of(own.X.shape[1], count)
    cell = Cell(population=name, n=n, learner="search")
    keys = list(product(SEARCHES, _searched(own.classes)))
    ends, truths = np.full((len(keys), samples, 2), np.nan), np.full((len(keys), samples), np.nan)
    promised = np.ones((len(keys), samples), dtype=bool)
    for at in range(samples):
        X, y, _ = draw(cell, at)
        rng = np.random.default_rng([at, 1])
        for folds, repeats in SEARCHES:
            plan = repeated_folds(y, folds, repeats, rng, allow_small_classes=True)
            tables = _table(candidates, X, y, own.classes, plan)
            for measure, table in tables.items():
                results = cv_results(table, measure)
                row = keys.index(((folds, repeats), measure))
                found = summarise(results, measure=SEARCHED[measure], folds=folds, level=LEVEL)
                if found.interval is not None:
                    ends[row, at] = found.interval.low, found.interval.high
                promised[row, at] = not has_code(found.notes, "not_kept_at_this_size")
                winner = candidates[int(np.argmin(results["rank_test_score"]))]
                scores = winner.scores(X, y, own.classes, own.X)
                truths[row, at] = truth_of(measure, scores, own.y, probabilities=True)
    return {"ends": ends, "truths": truths, "promised": promised}


def _searched(classes: int) -> tuple[str, ...]:
    return tuple(one for one in SEARCHED if classes == 2 or one not in RANKED)


def _table(
    candidates: list[Candidate], X: Array, y: Indices, classes: int, plan: Any
) -> dict[str, Array]:
    """Give each measure, candidates × folds."""
    found = {one: np.full((len(candidates), len(plan)), np.nan) for one in _searched(classes)}
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        for row, one in enumerate(candidates):
            scores = one.scores(X[train], y[train], classes, X[test])
            for measure, table in found.items():
                table[row, at] = (
                    np.mean(scores.argmax(axis=1) == y[test])
                    if measure == "accuracy"
                    else _of_scores(measure, scores, y[test])
                )
    return {one: table for one, table in found.items() if np.isfinite(table).all()}


def cv_results(table: Array, measure: str) -> dict[str, NDArray[Any]]:
    """Write what a search of scikit-learn has in `cv_results_`; of losses the negative."""
    scores = -table if SEARCHED[measure].startswith("neg_") else table
    ranks = np.argsort(np.argsort(-scores.mean(axis=1), kind="stable"), kind="stable") + 1
    columns = {f"split{at}_test_score": column for at, column in enumerate(scores.T)}
    return {"params": np.arange(len(table)), "rank_test_score": ranks, **columns}


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Give the rows of one problem after another; what is in the folder is not run again."""
    for name, n, learner in problems():
        run = partial(run_divisions, name, n, learner, samples)
        words = f"{name}, {learner}"
        arrays = _kept(folder, f"divisions {words} {n}", samples, run)
        yield list(division_rows(words, n, arrays, population(name).classes))
    for name, n, count in searches():
        run = partial(run_search, name, n, count, samples)
        words = f"{name}, best of {count}"
        arrays = _kept(folder, f"searches {words} {n}", samples, run)
        yield list(search_rows(words, n, arrays, population(name).classes))


def _kept(folder: Path | None, words: str, samples: int, run: Callable[[], Arrays]) -> Arrays:
    file = "corrected-t-" + re.sub(r"[^a-z0-9]+", "-", words.lower())
    settings = {"samples": samples, "level": LEVEL, "of": zlib.crc32(words.encode())}
    return checkpointed(folder, file, settings, run)


def division_rows(
    words: str, n: int, arrays: Mapping[str, NDArray[Any]], classes: int
) -> Iterator[CoverageCell]:
    """Give the rows of one problem, design by design."""
    scorers = SCORERS[classes == 2]
    names = (*measures(classes), *scorers)
    for row, (design, name) in enumerate(designs(classes)):
        ends, truths = arrays["ends"][row], arrays["truths"][names.index(name)]
        yield from _rows(
            ends,
            truths,
            problem=f"{words}, {name}" if name in scorers else words,
            n=n,
            design=design,
            measure=SCORER if name in scorers else name,
            method="corrected_t",
        )


def search_rows(
    words: str, n: int, arrays: Mapping[str, NDArray[Any]], classes: int
) -> Iterator[CoverageCell]:
    """Give the rows of the searches on one problem."""
    for row, (folds, measure) in enumerate(product(SEARCHES, _searched(classes))):
        for target in (LEARNER, NO_PROMISE):
            which = arrays["promised"][row] == (target == LEARNER)
            yield from _rows(
                np.where(which[:, None], arrays["ends"][row], np.nan),
                arrays["truths"][row],
                problem=words,
                n=n,
                design=folds_design(*folds),
                measure=measure,
                method="corrected_t of a winner",
                target=target,
            )


def _rows(
    ends: Array, truths: Array, *, target: str = LEARNER, **facts: Any
) -> Iterator[CoverageCell]:
    """Count how often the ends hold the mean truth."""
    facts |= {"study": STUDY, "role": HELD_OUT, "level": LEVEL, "target": target}
    yield from cells_of_ends(ends, float(np.nanmean(truths)), **facts)
