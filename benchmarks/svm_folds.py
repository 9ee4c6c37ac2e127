"""Ten times ten folds of linear machines from one prepared problem, beside folds trained anew."""

import gc
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_validate
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks.svm_on_tables import tables
from benchmarks.svm_on_text import TEN, labels, read, vectors
from truerisk.estimation.refits.plans import Folds, repeated_folds
from truerisk.estimation.refits.svm_refits import svm_refit, svm_start
from truerisk.execution import run_each
from truerisk.learners.refits import refit
from truerisk.svm.linear import LinearSVM

TITLE = (
    "Ten times ten folds of linear machines from one problem, beside cross_validate(LinearSVC): "
    "the first ten folds timed, times ten"
)
COLUMNS = (
    "data, C",
    "n × d",
    "truerisk, exact (gap ≤ 1e-6)",
    "its refits from nothing",
    "ratio",
    "LinearSVC(hinge, tol 1e-3)",
    "ratio",
    "LinearSVC(), squared hinge, tol 1e-4",
    "ratio",
    "clear calls unlike those from nothing",
)

FOLDS, REPEATS = 10, 10
TIMED = 10  # folds, the first repetition, for every side; its time stands for the other nine
BEST_OF = 3
SLOW = 5.0  # seconds; what takes longer is timed once
COSTS = (0.1, 1.0, 10.0)
UNSURE = 1e-4  # decision values nearer to 0 may be called either way
MAX_ROWS = 10_000  # of a table


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for name, X, y in data_sets(quick=quick):
        plan = repeated_folds(y, FOLDS, REPEATS, np.random.default_rng(0))
        for cost in COSTS[1:2] if quick else COSTS:
            with threadpool_limits(1):
                yield compared(f"{name}, {cost:g}", X, y, plan, cost)


def data_sets(*, quick: bool) -> Iterator[tuple[str, Any, Any]]:
    for name, X, y in tables(quick=quick):
        if len(y) <= MAX_ROWS:
            spread = X.std(axis=0)
            yield name, (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), codes(y)
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    first, second = np.triu_indices(X.shape[1])
    yield "wdbc, products of two features", X[:, first] * X[:, second] / X.shape[1], y
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None or quick:
        return
    corpus = read(Path(folder) / "text" / "reuters21578_modapte.jsonl.gz")
    entries = [entry for entry in corpus if entry["split"] == "train"]
    vectors_of_all = vectors(entries)
    for category in TEN:
        yield f"Reuters, {category}", vectors_of_all, codes(labels(entries, category))


def codes(y: Any) -> Any:
    return (y > 0).astype(np.intp)


def compared(name: str, X: Any, y: Any, plan: Folds, cost: float) -> tuple[str, ...]:
    model, values = LinearSVM(C=cost), np.arange(2)
    shared = {"model": model, "X": X, "y": y, "values": values, "plan": plan, "seed": 0}
    splits = [plan.train_and_test(at) for at in range(TIMED)]
    extra = svm_start(model, X, y, plan) or {}

    def folds_of(model: LinearSVC) -> Callable[[], object]:
        return lambda: cross_validate(model, X, y, cv=splits, error_score="raise")

    works: dict[str, Callable[[], object]] = {
        "to prepare": lambda: svm_start(model, X, y, plan),
        "ours": lambda: list(run_each(svm_refit, shared | extra, range(TIMED))),
        "from nothing": lambda: list(run_each(refit, shared, range(TIMED))),
        "hinge": folds_of(LinearSVC(C=cost, loss="hinge", tol=1e-3, random_state=0)),
        "default": folds_of(LinearSVC(C=cost, random_state=0)),
    }
    spent, stopped = interleaved(works)
    scale = len(plan) / TIMED
    ours = spent["to prepare"] + scale * spent["ours"]
    cells = []
    for beside in ("from nothing", "hinge", "default"):
        theirs, least = scale * spent[beside], "> " if beside in stopped else ""
        note = " (some stopped early)" if least else ""
        cells += [shown(theirs) + note, f"{least}{theirs / ours:.1f}"]
    n, d = X.shape
    differing = str(unlike(shared | extra))
    return (name, f"{n} × {d}", shown(ours), *cells, differing)


def unlike(shared: dict[str, Any]) -> int:
    """Count the clear calls of the timed folds that differ from those of ordinary refits."""
    count = 0
    for at in range(TIMED):
        ours, theirs = svm_refit(shared, at), refit(shared, at)
        clear = np.abs(theirs["score"]) > UNSURE
        count += np.count_nonzero((ours["predicted"] != theirs["predicted"]) & clear)
    return count


def interleaved(works: dict[str, Callable[[], object]]) -> tuple[dict[str, float], set[str]]:
    """Time all in turn, several times over; keep the best of each, and who stopped early."""
    times: dict[str, list[float]] = {name: [] for name in works}
    stopped = set()
    for _ in range(BEST_OF):
        for name, work in works.items():
            if times[name] and times[name][0] > SLOW:
                continue
            gc.collect()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", ConvergenceWarning)
                start = time.process_time()
                work()
                times[name].append(time.process_time() - start)
            if any(issubclass(one.category, ConvergenceWarning) for one in told):
                stopped.add(name)
    return {name: min(spent) for name, spent in times.items()}, stopped


def shown(seconds: float) -> str:
    return f"{seconds:.3g} s"


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
