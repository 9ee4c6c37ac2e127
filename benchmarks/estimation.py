"""Every measure of a learner with its interval, beside scikit-learn's folds for one metric."""

import gc
import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import METHODS, Design, make_plan
from truerisk.svm.linear import LinearSVM

TITLE = "All measures with intervals by cross-validation, beside cross_validate for one metric"
COLUMNS = ("data", "learner", "work", "truerisk", "beside", "it takes", "ratio", "goal", "met")

FOLDS = 10
SEED = 1
BEST_OF = 5
SLOW = 1.0  # seconds; what takes longer is timed twice
VERY_SLOW = 10.0  # seconds; what takes longer is timed once
AT_MOST, AT_LEAST = 1.15, 1.8  # times scikit-learn's folds; times faster with two workers
OWN_AT_MOST = 1.0  # times LinearSVC's folds, for our own SVM
LONG, NO_SLOWER = 5.0, 0.9  # seconds of refits that two workers must share; others cost nothing
GROWTH = 1.2  # what memory may take beyond its share, when the examples or the refits grow

NUMERIC = 6
CATEGORIES = (9, 16, 7, 15, 6, 5, 2, 42)  # as many values as the columns of adult have
ADULT_ROWS = 48_842
RICH = 0.24  # share of positives
IJCNN1_ROWS = 49_990  # its training set, which comes first
COVTYPE_ROWS = 20_000

PEAK = """
import sys
from benchmarks.estimation import peak_of_632plus
print(peak_of_632plus(int(sys.argv[1]), int(sys.argv[2])))
"""


@dataclass
class Best:
    """The best of several runs, in seconds: of this process's processor, and by the clock."""

    processor: float = np.inf
    clock: float = np.inf
    runs: int = 0

    @property
    def enough(self) -> bool:
        """Whether it need not run again."""
        most = 1 if self.clock > VERY_SLOW else 2 if self.clock > SLOW else BEST_OF
        return self.runs >= most

    def run(self, work: Callable[[], object]) -> None:
        """Run once more."""
        gc.collect()
        clock, processor = time.perf_counter(), time.process_time()
        work()
        self.processor = min(self.processor, time.process_time() - processor)
        self.clock = min(self.clock, time.perf_counter() - clock)
        self.runs += 1


class NothingToTrain(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sums up the features: all the time it takes is that of the folds and of the measures."""

    def fit(self, X: Any, y: Any) -> "NothingToTrain":  # noqa: ARG002
        """Train nothing."""
        self.classes_ = np.arange(2)
        return self

    def predict(self, X: Any) -> Any:
        """Call positive what adds up to more than 0."""
        return (X.sum(axis=1) > 0).astype(int)

    def predict_proba(self, X: Any) -> Any:
        """Give probabilities that go with the calls."""
        pos_label = expit(X.sum(axis=1))
        return np.column_stack([1 - pos_label, pos_label])


@dataclass(frozen=True)
class Problem:
    """A table, and how often its folds are drawn."""

    name: str
    X: Any
    y: Any
    repeats: int

    def ours(self, model: Any, *, n_jobs: int = 1) -> Any:
        """Estimate every measure."""
        return estimate(
            model,
            self.X,
            self.y,
            folds=FOLDS,
            repeats=self.repeats,
            random_state=SEED,
            n_jobs=n_jobs,
        )

    def by_hand(self, model: Any, splits: list[tuple[Any, Any]]) -> list[tuple[float, float]]:
        """Compute accuracy and AUC of each fold as an expert does: one pass, no needless check."""
        values = []
        for train, test in splits:
            with config_context(assume_finite=True):
                copy = clone(model).fit(self.X[train], self.y[train])
                share = copy.predict_proba(self.X[test])[:, 1]
            truth = self.y[test]
            values.append((np.mean((share > 0.5) == truth), roc_auc_score(truth, share)))
        return values

    def splits(self) -> list[tuple[Any, Any]]:
        """Give the folds that `ours` draws."""
        examples = Examples.of(self.X, self.y)
        design = Design(folds=FOLDS, repeats=self.repeats)
        plan = make_plan(METHODS["cross_validation"], examples, design, SEED)
        return [plan.train_and_test(at) for at in range(len(plan))]


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    with threadpool_limits(1):
        X, y = load_breast_cancer(return_X_y=True)
        small = Problem("wdbc", standardised(X), y, repeats=5)
        small.ours(GaussianNB())  # loads what is loaded once
        yield from beside(small, NothingToTrain(), goal=None)
        for problem in (*tables(quick=quick), *(() if quick else real_tables())):
            for model in CHEAP:
                yield from beside(problem, model, two_workers=not quick)
            yield from own_svm(problem)
        if quick:
            yield from beside(small, LinearSVC(), goal=None, two_workers=True)
            yield from own_svm(small)
            return
        for problem in large():
            yield from beside(problem, NothingToTrain(), goal=None)
            yield from beside(problem, LogisticRegression(), two_workers=True)
            yield from own_svm(problem, repeats=(1,))
    yield from memory(10_000, 100)


CHEAP = (
    GaussianNB(),
    LogisticRegression(max_iter=1000),
    KNeighborsClassifier(),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(n_estimators=20, random_state=0),
)


def tables(*, quick: bool) -> Iterator[Problem]:
    """Generate tables of the sizes that people work on most."""
    for n, d in ((1000, 20), (4600, 57))[: 1 if quick else 2]:
        X, y = make_classification(n, d, n_informative=d // 2, flip_y=0.1, random_state=3)
        yield Problem("generated", X, y, repeats=5)


def real_tables() -> Iterator[Problem]:
    """Read tables; which examples a refit of our SVM takes was chosen with ionosphere."""
    for name in ("ionosphere", "letter_DO", "twonorm", "waveform"):
        for X, y in read(name):
            yield Problem(name, standardised(X), y, repeats=5)


def read(name: str, most: int | None = None) -> Iterator[tuple[Any, Any]]:
    """Give a table of the folder of data, if there is one."""
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        return
    with gzip.open(Path(folder, "tabular", f"{name}.csv.gz"), "rt", encoding="utf-8") as file:
        values = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=most)
    yield np.ascontiguousarray(values[:, :-1]), (values[:, -1] > 0).astype(int)


def standardised(X: Any) -> Any:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def large() -> Iterator[Problem]:
    yield like_adult()
    for X, y in read("ijcnn1", IJCNN1_ROWS):
        yield Problem("ijcnn1", X, y, repeats=2)
    for X, y in read("covtype_binary", COVTYPE_ROWS):
        yield Problem("covtype", standardised(X), y, repeats=2)


def like_adult() -> Problem:
    """Generate numbers and one-hot columns of the shape of adult.

    All values of a column are as likely: rare ones would make the fits longer, and what is beyond
    the fits a smaller share.
    """
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((ADULT_ROWS, NUMERIC))]
    parts += [np.eye(values)[rng.integers(values, size=ADULT_ROWS)] for values in CATEGORIES]
    X = np.hstack(parts)
    wealth = X @ rng.normal(scale=0.6, size=X.shape[1]) + rng.logistic(size=ADULT_ROWS)
    y = (wealth > np.quantile(wealth, 1 - RICH)).astype(int)
    return Problem("as large as adult", X, y, repeats=2)


def beside(
    problem: Problem, model: Any, *, goal: float | None = AT_MOST, two_workers: bool = False
) -> Iterator[tuple[str, ...]]:
    splits, last = problem.splits(), {}

    def ours() -> None:
        last["ours"] = problem.ours(model)

    def theirs() -> None:
        last["theirs"] = cross_validate(model, problem.X, problem.y, cv=splits)

    def ours_by_two() -> None:
        problem.ours(model, n_jobs=2)

    works = {"ours": ours, "theirs": theirs}
    if hasattr(model, "predict_proba"):
        works["expert"] = lambda: problem.by_hand(model, splits)
    if two_workers:
        works["two"] = ours_by_two
    best = interleaved(works)
    if not np.allclose(last["ours"]["accuracy"].replicates, last["theirs"]["test_score"]):
        raise AssertionError("The two sides must judge the same folds by the same models.")
    data, name = shape(problem), type(model).__name__
    mine = best["ours"]
    work = f"{len(last['ours'].estimates)} measures, {times(problem)}"
    yield (
        *(data, name, work),
        *compared(mine.processor, "cross_validate, accuracy", best["theirs"].processor, goal),
    )
    if "expert" in best:
        loop = "a loop by hand, accuracy and AUC, no intervals"
        yield (
            *(data, name, work),
            *compared(mine.processor, loop, best["expert"].processor, None),
        )
    if two_workers:
        yield (data, name, "the same with two workers", *shared_by_two(mine, best["two"], goal))


def shared_by_two(one: Best, two: Best, goal: float | None) -> tuple[str, ...]:
    ratio = one.clock / two.clock
    least = AT_LEAST if one.clock >= LONG else NO_SLOWER
    met = ("–", "–") if goal is None else (f"≥ {least}", yes_or_no(ratio >= least))
    return (seconds(two.clock), "one worker", seconds(one.clock), f"{ratio:.2f}", *met)


def own_svm(problem: Problem, repeats: tuple[int, ...] = (1, 5)) -> Iterator[tuple[str, ...]]:
    """Put the project's own SVM, exact, beside LIBLINEAR's as it comes."""
    for often in repeats:
        some = replace(problem, repeats=often)
        splits = some.splits()
        ours = partial(some.ours, LinearSVM())
        theirs = partial(cross_validate, LinearSVC(), some.X, some.y, cv=splits)
        best = interleaved({"ours": ours, "theirs": theirs})
        name = "cross_validate(LinearSVC()), accuracy"
        yield (
            *(shape(problem), "LinearSVM, exact", f"all measures, {times(some)}"),
            *compared(best["ours"].processor, name, best["theirs"].processor, OWN_AT_MOST),
        )


def interleaved(works: Mapping[str, Callable[[], object]]) -> dict[str, Best]:
    """Time all in turn, several times over."""
    best = {name: Best() for name in works}
    while not all(one.enough for one in best.values()):
        for name, work in works.items():
            if not best[name].enough:
                best[name].run(work)
    return best


def memory(n: int, refits: int) -> Iterator[tuple[str, ...]]:
    """Tell what .632+ holds above its data: more examples may ask for more, more refits not."""
    one = peak_in_a_process(n, refits)
    for label, examples, times_refits in (
        ("four times the refits", 1, 4),
        ("four times the examples", 4, 1),
    ):
        other = peak_in_a_process(n * examples, refits * times_refits)
        most = GROWTH * examples
        yield (
            *(f"generated, {n:,} × 20", "GaussianNB", f".632+, {refits} refits: memory"),
            *(f"{one / 2**20:.1f} MiB, {one / n:.0f} bytes a row", label),
            *(f"{other / 2**20:.1f} MiB", f"{other / one:.2f}", f"≤ {most:.1f}"),
            yes_or_no(other <= most * one),
        )


def peak_in_a_process(n: int, refits: int) -> int:
    """Measure in a process of its own: what others have freed must not serve this one."""
    command = [sys.executable, "-c", PEAK, str(n), str(refits)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout)


def peak_of_632plus(n: int, refits: int) -> int:
    """Give the highest resident memory while estimating, above what data and libraries take."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20))
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    few = slice(0, 200)
    for rows_taken, repeats in ((few, 10), (slice(None), refits)):
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
        before = status("VmRSS")
        estimate(
            GaussianNB(),
            X[rows_taken],
            y[rows_taken],
            method="bootstrap",
            repeats=repeats,
            random_state=SEED,
        )
    return status("VmHWM") - before


def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def compared(
    mine: float, beside_name: str, other: float, goal: float | None
) -> tuple[str, str, str, str, str, str]:
    ratio = mine / other
    told = ("–", "–") if goal is None else (f"≤ {goal}", yes_or_no(ratio <= goal))
    return (seconds(mine), beside_name, seconds(other), f"{ratio:.2f}", *told)


def yes_or_no(met: object) -> str:
    return "yes" if met else "no"


def shape(problem: Problem) -> str:
    n, d = problem.X.shape
    return f"{problem.name}, {n:,} × {d}"


def times(problem: Problem) -> str:
    return f"{problem.repeats} × {FOLDS} folds"


def seconds(value: float) -> str:
    return f"{value:.3g} s"


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
