"""How often guarantees of chosen thresholds are broken, and what intervals after the choice cover.

A population is a finite set of scores and labels; samples are drawn from it with replacement, so
that the truth at every threshold is known exactly.  Two ledgers are made of it.

``guarantees``         `coverage` is the share of samples in which *every* threshold that is
                       guaranteed keeps the promise.  `width` is what the promise costs, on the
                       population: the false positive rate where recall is promised, the share of
                       positives missed where specificity or precision is, the share rejected where
                       the error rate is; 1 where nothing is guaranteed.  The rival is the naive
                       choice, the threshold that has the promised value on the sample; that of
                       `bisection` (Geifman and El-Yaniv, 2017) is our own rule.
``chosen_thresholds``  intervals of measures at thresholds that are best on the sample; the rival is
                       the interval of a threshold that was fixed before.  And that of the error
                       rate at the least rejection that shows a wanted one: as if it had been fixed.
"""

import math
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT, CoverageCell
from truerisk import evaluate_counts, rank, read_table
from truerisk.aliases import Array, Flags, Indices
from truerisk.evaluation.best_threshold import PROMISES, choose_threshold
from truerisk.intervals.binomial import at_most, clopper_pearson
from truerisk.intervals.chosen_thresholds import (
    kept_by_order,
    kept_in_sequence,
    level_after_choice,
)
from truerisk.intervals.class_averages import Shares, recall_interval
from truerisk.intervals.rankings import ranking_interval
from truerisk.measures.registry import find_measure
from truerisk.measures.rejection import error_reject
from truerisk.measures.thresholds import optimal_threshold, sweep
from truerisk.tallies.cells import BinaryCounts

LEVEL = 0.95
SAMPLES, INTERVAL_SAMPLES, TOGETHER_SAMPLES = 2000, 400, 1000
TOGETHER = {
    ("negative_predictive_value",): "fixed_sequence",
    ("recall", "precision"): "order_statistic and fixed_sequence",
}
SIZES, INTERVAL_SIZES = (200, 1000, 5000), (60, 200, 1000)
POPULATION = 200_000
LARGEST_TABLE = 100_000  # rows of a real population
MIN_OF_CLASS = 3
COSTS = {"fp": 1.0, "fn": 5.0}
CRITERIA = {
    "best F1": {"by": "f_beta"},
    "Youden": {"by": "youden"},
    "least cost": {"by": "cost", "costs": COSTS},
}
SHARES, SMOOTHED = ("precision", "recall", "specificity", "f1"), ("gmean", "cost")
MEASURES = (*SHARES, "youden", *SMOOTHED)
BEST_F1 = ("best F1", "f1")  # has the interval that `evaluate` gives it
RECALL = SPECIFICITY = 0.9
MIN_ERROR, MAX_PRECISION = 0.02, 0.98
REAL = ("covtype_binary", "ijcnn1", "svmguide1", "waveform", "banana", "titanic", "letter_OQ")


@dataclass(frozen=True, eq=False)
class Population:
    """Scores and labels, from the highest score on, and the truth at every threshold."""

    name: str
    role: str
    score: Array
    positive: Flags

    @classmethod
    def of(cls, name: str, role: str, score: Array, positive: Flags) -> "Population":
        """Sort the examples."""
        order = np.argsort(-score, kind="stable")
        return cls(name, role, score[order], positive[order])

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Flags]:
        """Draw a sample with replacement; again where a class has too few examples."""
        while True:
            rows = rng.integers(0, len(self.score), n)
            found = int(self.positive[rows].sum())
            if min(found, n - found) >= MIN_OF_CLASS:
                return self.score[rows], self.positive[rows]

    @cached_property
    def found(self) -> NDArray[np.int64]:
        """Positives among the first so many."""
        return np.concatenate([[0], np.cumsum(self.positive)])

    def counts(self, thresholds: Array) -> dict[str, Array]:
        """Count the four outcomes at thresholds."""
        called = np.searchsorted(-self.score, -np.asarray(thresholds), side="right")
        tp = self.found[called].astype(np.float64)
        fp, all_positive = called - tp, float(self.found[-1])
        negative = len(self.score) - all_positive
        return {"tp": tp, "fp": fp, "fn": all_positive - tp, "tn": negative - fp}

    @cached_property
    def precision(self) -> float:
        """The precision that is promised: that of the threshold which finds half."""
        at = int(np.searchsorted(self.found, self.found[-1] / 2))
        return min(round(float(self.found[at] / at), 2), MAX_PRECISION)

    @cached_property
    def promised(self) -> dict[str, float]:
        """What is promised by `best_threshold`: a recall, this precision, and what it leaves."""
        at = int(np.searchsorted(self.found, 0.8 * self.found[-1]))
        below = len(self.score) - at
        missed = float(self.found[-1] - self.found[at])
        value = round(min(1 - missed / below, MAX_PRECISION), 2)
        low = max(round(self.precision - 0.2, 2), 0.05)
        return {"negative_predictive_value": value, "recall": 0.5, "precision": low}

    def bounds(self, names: tuple[str, ...]) -> str:
        """Write the bounds that are promised."""
        return " and ".join(f"{self.promised[name]:g}" for name in names)

    @cached_property
    def evidence(self) -> "Population":
        """The population of answers about Youden's threshold: evidence, and whether it is wrong."""
        return Population.of(self.name, self.role, *self.answers(self.score, self.positive))

    @cached_property
    def middle(self) -> float:
        """The threshold of the answers."""
        table = sweep(rank(self.score, self.positive))
        gain = table.tp / table.tp[-1] - table.fp / table.fp[-1]
        return float(table.threshold[int(np.argmax(gain))])

    def answers(self, score: Array, positive: Flags) -> tuple[Array, Flags]:
        """Give the evidence of answers about the threshold, and whether they are wrong."""
        return np.abs(score - self.middle), (score >= self.middle) != positive

    @cached_property
    def error(self) -> float:
        """The error rate that is promised of answers: that of the surer half."""
        half = len(self.score) // 2
        return max(round(float(self.evidence.found[half] / half), 2), MIN_ERROR)


def _normal(distance: float, share: float) -> Callable[[np.random.Generator], tuple[Array, Flags]]:
    def draw(rng: np.random.Generator) -> tuple[Array, Flags]:
        positive = rng.random(POPULATION) < share
        return rng.normal(size=POPULATION) + distance * positive, positive

    return draw


def _ties(rng: np.random.Generator) -> tuple[Array, Flags]:
    score, positive = _normal(1.5, 0.3)(rng)
    return np.round(2 * score) / 2, positive


def _calibrated(rng: np.random.Generator) -> tuple[Array, Flags]:
    p = rng.beta(0.3, 0.9, size=POPULATION)
    return p, rng.random(POPULATION) < p


def _noisy(rng: np.random.Generator) -> tuple[Array, Flags]:
    score, positive = _normal(3, 0.3)(rng)
    return score, positive ^ (rng.random(POPULATION) < 0.03)


def _heavy_tails(rng: np.random.Generator) -> tuple[Array, Flags]:
    positive = rng.random(POPULATION) < 0.4
    return rng.standard_t(2, size=POPULATION) + 3 * positive, positive


def _wrong_at_the_top(rng: np.random.Generator) -> tuple[Array, Flags]:
    score, positive = _normal(2.5, 0.4)(rng)
    odd = rng.random(POPULATION) < 0.03
    return np.where(odd, 4 + rng.random(POPULATION), score), positive & ~odd


def _skewed(rng: np.random.Generator) -> tuple[Array, Flags]:
    positive = rng.random(POPULATION) < 0.15
    return rng.exponential(size=POPULATION) * np.where(positive, 4.0, 1.0), positive


def _ten_values(rng: np.random.Generator) -> tuple[Array, Flags]:
    score = rng.integers(0, 10, POPULATION).astype(np.float64)
    return score, rng.random(POPULATION) < expit(score - 6)


def _rare(rng: np.random.Generator) -> tuple[Array, Flags]:
    return _normal(2.5, 0.02)(rng)


DRAWN = {
    "normal": (CHOSEN_ON, _normal(1.5, 0.3)),
    "well separated": (CHOSEN_ON, _normal(3, 0.3)),
    "uninformative": (CHOSEN_ON, _normal(0, 0.299)),
    "ties": (CHOSEN_ON, _ties),
    "calibrated": (CHOSEN_ON, _calibrated),
    "noisy labels": (CHOSEN_ON, _noisy),
    "rare positives": (HELD_OUT, _rare),
    "heavy tails": (HELD_OUT, _heavy_tails),
    "wrong at the top": (HELD_OUT, _wrong_at_the_top),
    "skewed": (HELD_OUT, _skewed),
    "ten values": (HELD_OUT, _ten_values),
}


def populations() -> Iterator[Population]:
    """Make the drawn populations, and the real ones where TRUERISK_DATA names their folder.

    Examples
    --------
    >>> population = next(populations())
    >>> population.name, len(population.score), round(population.precision, 2)
    ('normal', 200000, 0.76)
    """
    for name, (role, draw) in DRAWN.items():
        rng = np.random.default_rng([1, zlib.crc32(name.encode())])
        yield Population.of(name, role, *draw(rng))
    folder = os.environ.get("TRUERISK_DATA")
    for name in REAL if folder else ():
        yield _real(name, Path(str(folder)) / "tabular" / f"{name}.csv.gz")


def _real(name: str, path: Path) -> Population:
    """Train a logistic regression on a tenth of a table; score the rest, the population."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    table = read_table(path, target="target")
    rng = np.random.default_rng(1)
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y).astype(str) == "1"
    rows = rng.permutation(len(y))[:LARGEST_TABLE]
    train, rest = rows[: len(rows) // 10], rows[len(rows) // 10 :]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])
    return Population.of(name, HELD_OUT, model.decision_function(X[rest]), y[rest])


def measure_guarantees(
    samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure the guarantees of every population, size and measure."""
    for population in populations():
        for n in SIZES:
            arrays = _checkpoint(_guarantee_trials, population, n, samples, folder)
            yield list(_guarantee_cells(population, n, arrays))


def _checkpoint(
    trials: Callable[[Population, int, int], Arrays],
    population: Population,
    n: int,
    samples: int,
    folder: Path | None,
) -> Arrays:
    study = trials.__name__.split("_")[1]
    name = f"{study}-{population.name}-{n}".replace(" ", "-")
    settings = {"samples": samples, "level": LEVEL, "size": len(population.score)}
    return checkpointed(folder, name, settings, lambda: trials(population, n, samples))


def _guarantee_trials(population: Population, n: int, samples: int) -> Arrays:
    """Give for each sample, measure and rule: promised, kept, reached."""
    rng = np.random.default_rng([2, n, zlib.crc32(population.name.encode())])
    outcomes: dict[str, list[list[tuple[float, float, float]]]] = {}
    for _ in range(samples):
        for key, results in _one_sample(population, *population.draw(n, rng)).items():
            outcomes.setdefault(key, []).append(results)
    return {key: np.array(results) for key, results in outcomes.items()}


def _one_sample(
    population: Population, score: Array, positive: Flags
) -> dict[str, list[tuple[float, float, float]]]:
    table = sweep(rank(score, positive))
    outcomes = {}
    for name, bound in (("recall", RECALL), ("specificity", SPECIFICITY)):
        errors, of = PROMISES[name].counts(table)
        kept = kept_by_order(errors, int(of[0]), 1 - bound, 1 - LEVEL)
        naive = errors <= (1 - bound) * of
        # The risk is largest at the highest threshold for recall, at the lowest for specificity.
        end = slice(0, 1) if name == "recall" else slice(-1, None)
        outcomes[name] = [
            _outcome(population, name, bound, table.threshold[rows][end]) for rows in (kept, naive)
        ]
    accepted, errors = table.tp + table.fp, table.fp
    outcomes["precision"] = [
        _outcome(population, "precision", population.precision, table.threshold[rows])
        for rows in _sequence_rules(accepted[1:], errors[1:], 1 - population.precision, ahead=1)
    ]
    ranking = rank(*population.answers(score, positive))
    accepted, errors = ranking.tp + ranking.fp, ranking.tp
    outcomes["error"] = [
        _outcome(population.evidence, "error", population.error, ranking.thresholds[rows])
        for rows in _sequence_rules(accepted, errors, population.error)
    ]
    return outcomes


def _sequence_rules(
    accepted: NDArray[np.int64], errors: NDArray[np.int64], rate: float, ahead: int = 0
) -> list[Indices]:
    """Give the rows that are kept: in sequence, naively and by bisection."""
    delta = 1 - LEVEL
    tail = at_most(errors.astype(np.float64), accepted.astype(np.float64), rate)
    naive = np.flatnonzero(errors <= rate * accepted)
    rules = (
        np.flatnonzero(kept_in_sequence(accepted, errors, rate, delta)),
        naive[-1:],
        _bisection(tail, int(accepted[-1]), delta),
    )
    return [rows + ahead for rows in rules]


def _bisection(tail: Array, n: int, delta: float) -> Indices:
    """Select with guaranteed risk: a bisection of ⌈log₂ n⌉ steps (Geifman and El-Yaniv, 2017)."""
    steps = math.ceil(math.log2(n))
    low, high, best = 0, len(tail) - 1, -1
    for _ in range(steps):
        middle = (low + high + 1) // 2
        if tail[middle] <= delta / steps:
            low = best = middle
        else:
            high = max(middle - 1, low)
    return np.array([] if best < 0 else [best], dtype=np.intp)


def _outcome(
    population: Population, name: str, bound: float, thresholds: Array
) -> tuple[float, float, float]:
    """Say whether anything is promised, if all of it is kept, and what the last one reaches."""
    if not len(thresholds):
        return 0.0, 1.0, 0.0
    risk, reach = _risk_and_reach(population, name, thresholds)
    return 1.0, float(np.all(risk <= _allowed(name, bound) + 1e-12)), float(reach[-1])


def _allowed(name: str, bound: float) -> float:
    return bound if name == "error" else 1 - bound


def _risk_and_reach(population: Population, name: str, thresholds: Array) -> tuple[Array, Array]:
    """Give the share that is wrong of those in the promise, and what one wants much of besides."""
    at = population.counts(thresholds)
    positives, negatives = at["tp"] + at["fn"], at["fp"] + at["tn"]
    called = np.maximum(at["tp"] + at["fp"], 1)
    if name == "recall":
        return at["fn"] / positives, at["tn"] / negatives
    if name == "specificity":
        return at["fp"] / negatives, at["tp"] / positives
    if name == "error":
        return at["tp"] / called, called / len(population.score)
    return at["fp"] / called, at["tp"] / positives


def _guarantee_cells(population: Population, n: int, arrays: Arrays) -> Iterator[CoverageCell]:
    bounds = {
        "recall": RECALL,
        "specificity": SPECIFICITY,
        "precision": population.precision,
        "error": population.error,
    }
    for name, outcomes in arrays.items():
        own = "order_statistic" if name in {"recall", "specificity"} else "fixed_sequence"
        methods = (own, "naive choice", "bisection")[: outcomes.shape[1]]
        for method, rival in ((own, "naive choice"), ("bisection", own)):
            if method not in methods:
                continue
            results, others = (outcomes[:, methods.index(one)] for one in (method, rival))
            yield CoverageCell(
                study="guarantees", problem=population.name, role=population.role,
                design=f"bound {bounds[name]:g}", n=n, measure=name, method=method, level=LEVEL,
                target="this model", samples=len(results), undefined=0,
                coverage=float(results[:, 1].mean()), width=float(1 - results[:, 2].mean()),
                rival=rival, rival_coverage=float(others[:, 1].mean()),
                rival_width=float(1 - others[:, 2].mean()),
            )  # fmt: skip


def measure_together(
    samples: int = TOGETHER_SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure the guarantee of the negative predictive value, and two guarantees at once.

    By `tr.best_threshold` itself, on the held-out populations; what is not promised is kept.
    """
    for population in populations():
        for n in SIZES[:2] if population.role == HELD_OUT else ():
            arrays = _checkpoint(_together_trials, population, n, samples, folder)
            yield [
                CoverageCell(
                    study="guarantees", problem=population.name, role=population.role,
                    design=f"bound {population.bounds(names)}", n=n,
                    measure=" and ".join(names), method=method, level=LEVEL,
                    target="this model", samples=samples, undefined=0,
                    coverage=float(arrays[names[0]][:, 1].mean()),
                    width=float(1 - arrays[names[0]][:, 0].mean()),
                )
                for names, method in TOGETHER.items()
            ]  # fmt: skip


def _together_trials(population: Population, n: int, samples: int) -> Arrays:
    """Give for each sample whether a threshold is promised, and whether it keeps all."""
    rng = np.random.default_rng([3, n, zlib.crc32(population.name.encode())])
    outcomes: dict[str, list[tuple[bool, bool]]] = {names[0]: [] for names in TOGETHER}
    for _ in range(samples):
        ranking = rank(*population.draw(n, rng))
        for names in TOGETHER:
            wanted = {name: population.promised[name] for name in names}
            best = choose_threshold(ranking, guarantee=wanted, level=LEVEL)
            if not math.isfinite(best.at):
                outcomes[names[0]].append((False, True))
                continue
            at = population.counts(np.array([best.at]))
            counts = BinaryCounts(*(float(at[key][0]) for key in ("tp", "fp", "fn", "tn")))
            values = [float(find_measure(name).value(counts)) for name in names]
            kept = all(v >= b - 1e-12 for v, b in zip(values, wanted.values(), strict=True))
            outcomes[names[0]].append((True, kept))
    return {key: np.array(results, dtype=np.float64) for key, results in outcomes.items()}


def measure_intervals(
    samples: int = INTERVAL_SAMPLES, folder: Path | None = None
) -> Iterator[list[CoverageCell]]:
    """Measure the intervals of measures at chosen thresholds."""
    for population in populations():
        for n in INTERVAL_SIZES:
            arrays = _checkpoint(_interval_trials, population, n, samples, folder)
            yield [
                _interval_cell(population, n, criterion, name, arrays[f"{criterion} {name}"])
                for criterion in CRITERIA
                for name in MEASURES
            ]
            arrays = _checkpoint(_rejection_trials, population, n, samples, folder)
            yield [_rejection_cell(population, n, *arrays.values())]


def _interval_trials(population: Population, n: int, samples: int) -> Arrays:
    """Give for each criterion and measure: the truth at the chosen threshold, and four ends."""
    rng = np.random.default_rng([3, n, zlib.crc32(population.name.encode())])
    chosen: dict[str, list[tuple[float, ...]]] = {criterion: [] for criterion in CRITERIA}
    best_f1 = []
    for _ in range(samples):
        ranking = rank(*population.draw(n, rng))
        for criterion, options in CRITERIA.items():
            best = optimal_threshold(ranking, **options)  # type: ignore[arg-type]
            chosen[criterion].append((best.at, best.tp, best.fp, best.fn, best.tn))
        interval = ranking_interval("best_f1", ranking.summary.best_f1, ranking, level=LEVEL)
        best_f1.append((interval.low, interval.high))
    arrays = {}
    for criterion, rows in chosen.items():
        truth = np.array([_values(population, row[0]) for row in rows])
        ends = _ends(np.array(rows)[:, 1:])
        for value, name in zip(truth.T, MEASURES, strict=True):
            if (criterion, name) == BEST_F1:
                ends[name][:, :2] = best_f1
            arrays[f"{criterion} {name}"] = np.column_stack([value, ends[name]])
    return arrays


def _rejection_trials(population: Population, n: int, samples: int) -> Arrays:
    """Give the true error where a rejection shows a wanted one, and the ends; NaN for none."""
    rng = np.random.default_rng([4, n, zlib.crc32(population.name.encode())])
    points = []
    for _ in range(samples):
        curve = error_reject(*population.answers(*population.draw(n, rng)))
        points.append(curve.threshold_for_error(population.error))
    at = population.evidence.counts(np.array([point.threshold for point in points]))
    accepted = np.array([point.accepted for point in points])
    errors = np.array([point.errors for point in points])
    truth = np.where(accepted > 0, at["tp"] / np.maximum(at["tp"] + at["fp"], 1), np.nan)
    return {"ends": np.column_stack([truth, *clopper_pearson(errors, accepted, LEVEL)])}


def _rejection_cell(population: Population, n: int, rows: Array) -> CoverageCell:
    value, low, high = rows[~np.isnan(rows[:, 0])].T
    return CoverageCell(
        study="chosen thresholds", problem=population.name, role=population.role,
        design="wanted error", n=n, measure="error_rate", method="clopper_pearson_of_rejection",
        level=LEVEL, target="this model", samples=len(value), undefined=len(rows) - len(value),
        coverage=float(np.mean((low <= value) & (value <= high))),
        width=float(np.mean(high - low)),
    )  # fmt: skip


def _ends(counts: Array) -> dict[str, Array]:
    """Give the interval after the choice, and that of a fixed threshold, of every measure."""
    levels = level_after_choice(LEVEL), LEVEL
    tally = BinaryCounts(*counts.T)
    ends = {}
    for name in SHARES:
        share = find_measure(name)(tally)
        four = [end for level in levels for end in clopper_pearson(share.k, share.n, level)]
        move = share.transform or (lambda end: end)
        ends[name] = np.column_stack([move(end) for end in four])
    ends["youden"] = np.array(
        [[end for level in levels for end in _youden(row, level)] for row in counts]
    )
    others = [
        [_smoothed(*map(int, row), level=level) for level in levels] for row in counts.tolist()
    ]
    for place, name in enumerate(SMOOTHED):
        ends[name] = np.array([[*first[place], *second[place]] for first, second in others])
    return ends


def _youden(counts: Array, level: float) -> tuple[float, float]:
    tp, fp, fn, tn = counts
    shares = Shares(np.array([tp, tn]), np.array([tp + fn, fp + tn]))
    interval = recall_interval(shares, None, level=level)
    return 2 * interval.low - 1, 2 * interval.high - 1


@lru_cache(maxsize=200_000)
def _smoothed(tp: int, fp: int, fn: int, tn: int, *, level: float) -> list[tuple[float, float]]:
    evaluation = evaluate_counts(
        [[tn, fp], [fn, tp]], labels=["0", "1"], pos_label="1", level=level,
        costs=COSTS, measures=SMOOTHED,
    )  # fmt: skip
    intervals = [evaluation[name].interval for name in SMOOTHED]
    return [(one.low, one.high) for one in intervals if one is not None]


def _values(population: Population, threshold: float) -> tuple[float, ...]:
    at = {name: float(count[0]) for name, count in population.counts(np.array([threshold])).items()}
    tp, fp, fn, tn = (at[name] for name in ("tp", "fp", "fn", "tn"))
    recall, specificity = tp / (tp + fn), tn / (tn + fp)
    return (
        tp / (tp + fp) if tp + fp else math.nan,
        recall,
        specificity,
        2 * tp / (2 * tp + fp + fn),
        recall + specificity - 1,
        math.sqrt(recall * specificity),
        (COSTS["fp"] * fp + COSTS["fn"] * fn) / len(population.score),
    )


def _interval_cell(
    population: Population, n: int, criterion: str, name: str, rows: Array
) -> CoverageCell:
    value, low, high, fixed_low, fixed_high = rows[~np.isnan(rows[:, 0])].T
    slack = 1e-9  # rounding at the ends of the range
    method = "smoothed_delta" if name in SMOOTHED else "clopper_pearson"
    method = f"{'class_shares' if name == 'youden' else method}_after_choice"
    if (criterion, name) == BEST_F1:
        method = "chosen_threshold"
    return CoverageCell(
        study="chosen thresholds", problem=population.name, role=population.role,
        design=criterion, n=n, measure=name, method=method, level=LEVEL,
        target="this model", samples=len(value), undefined=len(rows) - len(value),
        coverage=float(np.mean((low - slack <= value) & (value <= high + slack))),
        width=float(np.mean(high - low)), rival="threshold fixed before",
        rival_coverage=float(np.mean((fixed_low - slack <= value) & (value <= fixed_high + slack))),
        rival_width=float(np.mean(fixed_high - fixed_low)),
    )  # fmt: skip
