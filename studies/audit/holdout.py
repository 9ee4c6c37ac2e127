"""Coverage of the intervals of `tr.evaluate` for independent rows, on problems held out.

The forms were chosen on other problems: normal scores, three kinds of tables, Beta probabilities,
at other parameters and seeds.  These here were drawn once the forms were frozen.

Tables      2 to 100 classes, even or Zipf, three accuracies
Label sets  8 and 30 labels of unequal frequency, errors that go together in a row
Rankings    17 families of scores, of which some have ties, heavy tails or 3 % positives, and the
            scores of logistic regressions on the tables of TRUERISK_DATA
Classes     scores of 3 to 10 classes at once: macro averages of rankings
Losses      probabilities that are right, too sure or too timid, some of them next to 0
Weights     the same with weights, unrelated to the errors or not

A problem at one size is one checkpoint: a run that was stopped continues.
"""

import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from studies.audit.checkpoints import checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from truerisk.aliases import Array
from truerisk.intervals.choose import auc_interval, average_interval, class_average
from truerisk.intervals.class_averages import average_shortfalls
from truerisk.intervals.means import loss_interval
from truerisk.intervals.rankings import RANKINGS, ranking_interval, shortfalls
from truerisk.measures.registry import find_measure
from truerisk.results import Interval, has_code
from truerisk.tallies import cells as tallied
from truerisk.tallies.cells import Cells
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import Ranking, rank
from truerisk.tallies.scored_rows import ScoredRows

SAMPLES = 600
SIZES = (50, 100, 300, 1000)
LEVELS = (0.90, 0.95, 0.99)
MANY = 1_000_000  # rows from which the truth of scores is taken
THIS_MODEL, NO_PROMISE = "this model", "this model, no promise"
THRESHOLD, LIMIT = "this threshold", "this model, without end of examples"
SLACK = 1e-9

Key = tuple[str, str]  # measure, target
Measured = Iterator[tuple[Key, float, Interval]]


class Problem(Protocol):
    """A source of samples whose measures are known."""

    @property
    def name(self) -> str:
        """What sets it apart."""

    @property
    def design(self) -> str:
        """`weights`, or nothing."""

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""


@dataclass(frozen=True)
class Tables:
    """Single labels by a table of shares."""

    classes: int
    zipf: float
    accuracy: float
    weights: str = ""

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.classes} classes, Zipf {self.zipf:g}, accuracy {self.accuracy:g}"

    @property
    def design(self) -> str:
        """`weights` and of which kind, or nothing."""
        return self.weights and f"weights {self.weights}"

    @cached_property
    def shares(self) -> Array:
        """The table of the population; rows are the truth."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        frequency = rng.permutation(1 / np.arange(1, self.classes + 1) ** self.zipf)
        table = np.zeros((self.classes, self.classes))
        for at in range(self.classes):
            spread = min(0.2, (1 - self.accuracy) * 0.7)
            right = float(np.clip(self.accuracy + spread * rng.uniform(-1, 1), 0.05, 0.995))
            wrong = rng.dirichlet(np.full(self.classes, 0.3)) + 1e-6
            wrong[at] = 0
            table[at] = (1 - right) * wrong / wrong.sum()
            table[at, at] = right
        return np.asarray(table * (frequency / frequency.sum())[:, None])

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        table = rng.multinomial(n, self.shares.ravel())
        true, called = np.divmod(np.flatnonzero(table), self.classes)
        counts = table[table > 0]
        totals, squares, expected = counts.astype(float), None, self.shares
        if self.weights:
            heavy = np.where(called == true, 1.0, 3.0) if self.weights == "of errors" else 1.0
            drawn = [rng.lognormal(0, 0.7, size) for size in counts]
            scale = np.broadcast_to(heavy, counts.shape)
            totals = scale * np.array([one.sum() for one in drawn])
            squares = scale**2 * np.array([(one**2).sum() for one in drawn])
            if self.weights == "of errors":
                expected = self.shares * np.where(np.eye(self.classes, dtype=bool), 1.0, 3.0)
        cells = Cells(
            labels=tuple(map(str, range(self.classes))),
            truth=tallied.LabelSets.of_codes(true, self.classes),
            predicted=tallied.LabelSets.of_codes(called, self.classes),
            totals=totals,
            rows=counts,
            squares=squares,
        )
        yield from of_averages(cells, counts_of_table(expected), level)


@dataclass(frozen=True)
class ClassValues:
    """Right, true, called and all, for each class of the population."""

    right: Array
    truth: Array
    called: Array
    total: float

    def value(self, measure: str) -> Array:
        """Give the value of each class."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "recall": lambda: self.right / self.truth,
                "precision": lambda: self.right / self.called,
                "f1": lambda: 2 * self.right / (self.truth + self.called),
                "jaccard": lambda: self.right / (self.truth + self.called - self.right),
                "specificity": lambda: 1 - (self.called - self.right) / (self.total - self.truth),
            }[measure]()


def counts_of_table(shares: Array) -> ClassValues:
    """Read the population's values from its table."""
    return ClassValues(np.diag(shares), shares.sum(axis=1), shares.sum(axis=0), float(shares.sum()))


def of_averages(cells: Cells, population: ClassValues, level: float) -> Measured:
    """Give the averages over the classes that occur; micro averages too for sets."""
    right, truth, called = cells.by_class(cells.totals)
    sample = ClassValues(right, truth, called, float(cells.totals.sum()))
    for measure in ("recall", "precision", "f1", "jaccard", "specificity"):
        taken = (truth > 0) & ~np.isnan(sample.value(measure))
        if not taken.any():
            continue
        for average in ("macro", "weighted"):
            if (measure, average) == ("recall", "weighted"):
                continue
            weights = population.truth[taken] if average == "weighted" else np.ones(taken.sum())
            value = float(np.average(population.value(measure)[taken], weights=weights))
            interval = class_average(cells, measure, average, taken, None, level=level)
            silent = average_shortfalls(cells, measure, average)
            target = NO_PROMISE if silent else THIS_MODEL
            if interval is not None:
                yield (f"{measure}_{average}", target), value, interval
        if cells.multilabel:
            interval = class_average(cells, measure, "micro", taken, None, level=level)
            if interval is not None:
                yield (f"{measure}_micro", THIS_MODEL), _micro(population, measure), interval


def _micro(population: ClassValues, measure: str) -> float:
    sums = ClassValues(
        population.right.sum(keepdims=True),
        population.truth.sum(keepdims=True),
        population.called.sum(keepdims=True),
        population.total * len(population.right),
    )
    return float(sums.value(measure)[0])


@dataclass(frozen=True)
class LabelSets:
    """Rows with a common mood: labels occur and are missed together."""

    labels: int
    frequency: float
    noise: float
    weights: str = ""

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"{self.labels} labels, frequency {self.frequency:g}, noise {self.noise:g}"

    design = ""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give truth and prediction, n × labels."""
        fixed = np.random.default_rng(self.labels * 7 + 1)
        centre = np.log(self.frequency / (1 - self.frequency)) + fixed.normal(0, 0.8, self.labels)
        mood = rng.normal(0, 0.8, (n, 1))
        truth = rng.random((n, self.labels)) < 1 / (1 + np.exp(-(centre + mood)))
        hard = self.noise * np.exp(0.8 * rng.normal(size=(n, 1)) - 0.32)
        wrong = rng.random((n, self.labels)) < np.minimum(np.where(truth, 2.5, 1.0) * hard, 0.9)
        return truth, truth ^ wrong

    @cached_property
    def population(self) -> ClassValues:
        """What so many rows say that it is the truth."""
        truth, called = self.draw(MANY // 4, np.random.default_rng(99))
        return ClassValues(
            (truth & called).sum(axis=0).astype(float),
            truth.sum(axis=0).astype(float),
            called.sum(axis=0).astype(float),
            float(len(truth)),
        )

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        truth, called = self.draw(n, rng)
        both = np.hstack([truth, called])
        packed, first, counts = np.unique(
            np.packbits(both, axis=1), axis=0, return_index=True, return_counts=True
        )
        del packed
        cells = Cells(
            labels=tuple(map(str, range(self.labels))),
            truth=tallied.LabelSets.of_flags(truth[first]),
            predicted=tallied.LabelSets.of_flags(called[first]),
            totals=counts,
            rows=counts,
            multilabel=True,
        )
        yield from of_averages(cells, self.population, level)


Scores = tuple[Array, NDArray[np.bool_]]


@dataclass(frozen=True)
class Rankings:
    """Scores of two classes; the truth is that of a million rows."""

    name: str
    draw: Callable[[int, np.random.Generator], Scores] = field(compare=False)
    weights: str = ""

    @property
    def design(self) -> str:
        """`weights` and of which kind, or nothing."""
        return self.weights and f"weights {self.weights}"

    @cached_property
    def population(self) -> Ranking:
        """What so many rows say that it is the truth."""
        return rank(*self.draw(MANY, np.random.default_rng(77)))

    @cached_property
    def at_size(self) -> dict[int, float]:
        """The mean 11-point average of samples of each size."""
        means = {}
        for n in SIZES:
            rng = np.random.default_rng([5, n])
            ranked = (rank(*self.draw(n, rng)) for _ in range(1500))
            values = [float(np.mean(one.summary.eleven_point)) for one in ranked if one.rows[0]]
            means[n] = float(np.mean(values))
        return means

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        score, positive = self.draw(n, rng)
        weight = rng.lognormal(0, 0.7, n) if self.weights else None
        if min(positive.sum(), n - positive.sum()) < 2:
            return
        ranking = rank(score, positive, weight)
        limit = self.population
        yield ("roc_auc", THIS_MODEL), limit.auc, auc_interval(ranking, level=level)
        for name in RANKINGS:
            value = float(find_measure(name).value(ranking))
            interval = ranking_interval(name, value, ranking, level=level)
            truth = float(find_measure(name).value(limit))
            silent = has_code(shortfalls(name, ranking), "not_kept_at_this_size")
            if name == "eleven_point_precision":
                yield (name, LIMIT), truth, interval
                if not self.weights:
                    yield (name, THIS_MODEL), self.at_size[n], interval
                continue
            yield (name, NO_PROMISE if silent else THIS_MODEL), truth, interval
            if name in {"best_f1", "ks"} and not silent:
                threshold = getattr(ranking.summary, f"{name}_threshold")
                yield (name, THRESHOLD), _kept_at(limit, name, threshold), interval


def _kept_at(limit: Ranking, name: str, threshold: float) -> float:
    """Give F1, or recall less false positive rate, that a threshold has in the population."""
    at = int(np.searchsorted(-limit.thresholds, -threshold, side="right")) - 1
    tp, fp = (float(limit.tp[at]), float(limit.fp[at])) if at >= 0 else (0.0, 0.0)
    if name == "best_f1":
        return 2 * tp / (limit.n_positive + tp + fp)
    return max(tp / limit.n_positive - fp / limit.n_negative, 0.0)  # a distance


@dataclass(frozen=True)
class ClassScores:
    """Scores of several classes at once: macro averages of areas and of average precisions."""

    classes: int
    distance: float
    frequency: float
    design = ""

    @property
    def name(self) -> str:
        """What sets it apart."""
        return f"scores of {self.classes} classes, {self.distance:g} apart, Zipf {self.frequency:g}"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
        """Give scores and truth, n × classes."""
        share = 1 / np.arange(1, self.classes + 1) ** self.frequency
        own = rng.choice(self.classes, n, p=share / share.sum())
        truth = np.eye(self.classes, dtype=bool)[own]
        score = rng.normal(size=(n, self.classes)) + self.distance * truth
        score = np.exp(score - score.max(axis=1, keepdims=True))
        return score / score.sum(axis=1, keepdims=True), truth

    @cached_property
    def population(self) -> list[Ranking]:
        """What so many rows say that it is the truth."""
        score, truth = self.draw(MANY // 2, np.random.default_rng(55))
        return [rank(score[:, at].copy(), truth[:, at].copy()) for at in range(self.classes)]

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        score, truth = self.draw(n, rng)
        counts = truth.sum(axis=0)
        taken = (counts > 1) & (counts < n)
        if not taken.any():
            return
        rankings = [rank(score[:, at].copy(), truth[:, at]) for at in np.flatnonzero(taken)]
        joint = ScoredRows(score[:, taken], truth[:, taken])
        names = ("roc_auc", "average_precision", "breakeven_point")
        correlations = joint.correlations(names)
        shares = np.full(len(rankings), 1 / len(rankings))
        for name in names:
            measure = find_measure(name)
            values = np.array([float(measure.value(one)) for one in rankings])
            each = [
                auc_interval(one, level=level)
                if name == "roc_auc"
                else ranking_interval(name, value, one, level=level)
                for one, value in zip(rankings, values, strict=True)
            ]
            limit = [float(measure.value(self.population[at])) for at in np.flatnonzero(taken)]
            interval = average_interval(values, each, shares, correlations[name], level=level)
            yield (f"{name}_macro", THIS_MODEL), float(np.mean(limit)), interval


@dataclass(frozen=True)
class Losses:
    """Probabilities of two or three classes."""

    name: str
    draw: Callable[[int, np.random.Generator], tuple[Array, NDArray[Any]]] = field(compare=False)
    weights: str = ""

    @property
    def design(self) -> str:
        """`weights` and of which kind, or nothing."""
        return self.weights and f"weights {self.weights}"

    @cached_property
    def population(self) -> ProbabilityTally:
        """What so many rows say that it is the truth."""
        return ProbabilityTally().add(*self.draw(4 * MANY, np.random.default_rng(33)))

    def intervals(self, n: int, level: float, rng: np.random.Generator) -> Measured:
        """Draw n rows; give measure and target, the truth and the interval."""
        probabilities, truth = self.draw(n, rng)
        weight = rng.lognormal(0, 0.7, n) if self.weights else None
        tally = ProbabilityTally().add(probabilities, truth, weight)
        for name in ("log_loss", "brier_score"):
            high = np.inf if name == "log_loss" else float(probabilities.ndim)
            interval = loss_interval(tally.moments(name), level=level, measure_range=(0.0, high))
            yield (name, THIS_MODEL), self.population.mean(name), interval


def _scores(
    share: float,
    noise: Callable[[int, np.random.Generator], Array],
    distance: float,
    *,
    spread: float = 1.0,
    step: float = 0.0,
    strays: float = 0.0,
) -> Callable[[int, np.random.Generator], Scores]:
    """Give scores of noise and a distance; `spread` for the positives, `strays` among the rest."""

    def draw(n: int, rng: np.random.Generator) -> Scores:
        positive = rng.random(n) < share
        score = noise(n, rng) * np.where(positive, spread, 1.0) + distance * positive
        if strays:
            score = np.where(~positive & (rng.random(n) < strays), score + 5, score)
        return (np.round(score / step) * step if step else score), positive

    return draw


def _normal(n: int, rng: np.random.Generator) -> Array:
    return rng.normal(size=n)


def _heavy(n: int, rng: np.random.Generator) -> Array:
    return rng.standard_t(1.5, size=n)


def _skewed(n: int, rng: np.random.Generator) -> Array:
    return rng.gamma(0.7, size=n)


def _even(n: int, rng: np.random.Generator) -> Array:
    return rng.random(n) * 3


FAMILIES = {
    "normal, half, 1.5 apart": _scores(0.5, _normal, 1.5),
    "normal, half, 4 apart": _scores(0.5, _normal, 4.0),
    "normal, 80 % positive": _scores(0.8, _normal, 1.2),
    "normal, 20 %, 0.5 apart": _scores(0.2, _normal, 0.5),
    "normal, 8 %, 2 apart": _scores(0.08, _normal, 2.0),
    "normal, 3 %, 1.2 apart": _scores(0.03, _normal, 1.2),
    "normal, 3 %, 3 apart": _scores(0.03, _normal, 3.0),
    "no information": _scores(0.35, _normal, 0.0),
    "hardly any information, 20 %": _scores(0.2, _even, 0.1),
    "heavy tails, half": _scores(0.5, _heavy, 2.0),
    "heavy tails, 15 %": _scores(0.15, _heavy, 3.0),
    "skewed, 30 %": _scores(0.3, _skewed, 1.0),
    "uniform, 25 %": _scores(0.25, _even, 1.5),
    "positives spread, 20 %": _scores(0.2, _normal, 1.0, spread=2.5),
    "rounded to 1, 40 %": _scores(0.4, _normal, 1.5, step=1.0),
    "rounded to 0.2, 10 %": _scores(0.1, _normal, 2.0, step=0.2),
    "strays on top, 40 %": _scores(0.4, _normal, 2.5, strays=0.02),
}


def _true_to(first: float, second: float, slope: float = 1.0) -> Callable[..., Any]:
    """Give Beta probabilities; `slope` of the log-odds that are stated makes them too sure."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[Any]]:
        share = np.clip(rng.beta(first, second, n), 1e-12, 1 - 1e-12)
        stated = 1 / (1 + np.exp(-slope * np.log(share / (1 - share))))
        return np.clip(stated, 1e-12, 1 - 1e-12), rng.random(n) < share

    return draw


def _three(concentration: float) -> Callable[..., Any]:
    def draw(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[Any]]:
        table = rng.dirichlet(np.full(3, concentration), n)
        table = np.clip(table, 1e-9, None)
        table /= table.sum(axis=1, keepdims=True)
        return table, (table.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, 2)

    return draw


PROBABILITIES = {
    "Beta(3, 1)": _true_to(3.0, 1.0),
    "Beta(0.3, 0.3)": _true_to(0.3, 0.3),
    "Beta(0.06, 0.06)": _true_to(0.06, 0.06),
    "Beta(0.1, 3)": _true_to(0.1, 3.0),
    "Beta(0.7, 0.7), log-odds × 2.5": _true_to(0.7, 0.7, 2.5),
    "Beta(0.3, 1), log-odds × 0.5": _true_to(0.3, 1.0, 0.5),
    "Beta(0.2, 0.4), log-odds × 1.5": _true_to(0.2, 0.4, 1.5),
    "three classes, Dirichlet(0.2)": _three(0.2),
    "three classes, Dirichlet(1)": _three(1.0),
}

REAL = ("banana", "breast_cancer_wisconsin", "heart_statlog", "ionosphere", "titanic", "waveform")


@cache
def _real_scores(table: str) -> Scores:
    """Score the second half of a table by a logistic regression of the first."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    from truerisk.inputs.tables import read_table

    data = read_table(Path(os.environ["TRUERISK_DATA"]) / "tabular" / f"{table}.csv.gz")
    features, labels = np.asarray(data.X, dtype=float), np.asarray(data.y)
    order = np.random.default_rng(3).permutation(len(labels))
    first, second = np.array_split(order, 2)
    scaler = StandardScaler().fit(features[first])
    rarer = min(set(labels), key=lambda one: int((labels == one).sum()))
    model = LogisticRegression().fit(scaler.transform(features[first]), labels[first] == rarer)
    score = model.predict_proba(scaler.transform(features[second]))[:, 1]
    return score, labels[second] == rarer


def _resampled(table: str) -> Callable[[int, np.random.Generator], Scores]:
    def draw(n: int, rng: np.random.Generator) -> Scores:
        score, positive = _real_scores(table)
        if n == MANY:  # the population is the table itself
            return score, positive
        chosen = rng.integers(len(score), size=n)
        return score[chosen], positive[chosen]

    return draw


def all_problems() -> list[Problem]:
    """List the problems; those of real tables only where there are any."""
    problems: list[Problem] = [
        Tables(classes, zipf, accuracy)
        for classes in (2, 3, 10, 20, 50, 100)
        for zipf in (0.0, 1.2)
        for accuracy in (0.5, 0.75, 0.92)
    ]
    problems += [
        LabelSets(labels, frequency, noise)
        for labels in (8, 30)
        for frequency, noise in ((0.25, 0.12), (0.1, 0.05), (0.2, 0.015))
    ]
    problems += [Rankings(name, draw) for name, draw in FAMILIES.items()]
    if os.environ.get("TRUERISK_DATA"):
        problems += [Rankings(f"real: {table}", _resampled(table)) for table in REAL]
    problems += [ClassScores(3, 1.5, 0.0), ClassScores(6, 2.5, 1.0), ClassScores(10, 2.0, 0.5)]
    problems += [Losses(name, draw) for name, draw in PROBABILITIES.items()]
    problems += [Tables(k, 0.8, 0.8, weights) for k in (2, 5) for weights in ("drawn", "of errors")]
    for name in ("normal, half, 1.5 apart", "normal, 8 %, 2 apart", "rounded to 1, 40 %"):
        problems.append(Rankings(name, FAMILIES[name], "drawn"))
    for name in ("Beta(0.3, 0.3)", "Beta(0.1, 3)"):
        problems.append(Losses(name, PROBABILITIES[name], "drawn"))
    return problems


def levels_of(problem: Problem) -> tuple[float, ...]:
    """Give the levels to measure: all three on one problem in six or so."""
    every = zlib.crc32(problem.name.encode()) % 6 == 0
    return LEVELS if every else (0.95,)


def measure_problem(
    problem: Problem,
    n: int,
    level: float,
    *,
    samples: int,
    folder: Path | None,
    study: str = "holdout",
) -> list[CoverageCell]:
    """Draw the samples, or read the checkpoint, and give one row per measure and target."""
    words = f"{problem.name} {problem.design} {n} {level:g}"
    settings = {"problem": words, "samples": samples}

    def compute() -> Mapping[str, NDArray[Any]]:
        rng = np.random.default_rng([zlib.crc32(words.encode())])
        hits: dict[Key, list[bool]] = {}
        widths: dict[Key, list[float]] = {}
        methods: dict[Key, Counter[str]] = {}
        for _ in range(samples):
            for key, truth, interval in problem.intervals(n, level, rng):
                covers = interval.low - SLACK <= truth <= interval.high + SLACK
                hits.setdefault(key, []).append(covers)
                widths.setdefault(key, []).append(interval.width)
                methods.setdefault(key, Counter())[interval.method] += 1
        keys = sorted(hits)
        return {
            "measure": np.array([measure for measure, _ in keys]),
            "target": np.array([target for _, target in keys]),
            "method": np.array([methods[key].most_common(1)[0][0] for key in keys]),
            "samples": np.array([len(hits[key]) for key in keys]),
            "coverage": np.array([np.mean(hits[key]) for key in keys]),
            "width": np.array([np.mean(widths[key]) for key in keys]),
        }

    name = f"{study}-{zlib.crc32(words.encode()):08x}"
    arrays = checkpointed(folder, name, settings, compute)
    return [
        CoverageCell(
            study=study,
            problem=problem.name,
            role=HELD_OUT,
            design=problem.design,
            n=n,
            measure=str(arrays["measure"][at]),
            method=str(arrays["method"][at]),
            level=level,
            target=str(arrays["target"][at]),
            samples=int(arrays["samples"][at]),
            undefined=samples - int(arrays["samples"][at]),
            coverage=float(arrays["coverage"][at]),
            width=float(arrays["width"][at]),
        )
        for at in range(len(arrays["measure"]))
        # A target that few samples have says little.
        if arrays["samples"][at] >= min(100, samples)
    ]


def measure_all(
    *,
    samples: int = SAMPLES,
    folder: Path | None = None,
    problems: Sequence[Problem] | None = None,
    sizes: Sequence[int] = SIZES,
) -> Iterator[list[CoverageCell]]:
    """Measure every problem at every size and level; one batch of rows for each."""
    for problem in all_problems() if problems is None else problems:
        for n in sizes:
            for level in levels_of(problem):
                yield measure_problem(problem, n, level, samples=samples, folder=folder)
