"""Linear machines on tables of few features, beside LIBLINEAR and libsvm."""

import gc
import gzip
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from truerisk.svm.problems import DenseProblem, Effort

TITLE = "Linear SVM with free bias on tables, exact (gap ≤ 1e-6), beside default tolerances"
COLUMNS = (
    "table",
    "n × d",
    "units",
    "C",
    "truerisk",
    "gap",
    "LinearSVC(hinge, tol 1e-3)",
    "ratio",
    "SVC(linear, tol 1e-3)",
    "ratio",
)

REPEATS = 5
SLOW = 2.0  # seconds; what takes longer beside us is timed once
LINEAR_PASSES = 1000  # the default of scikit-learn
LIBSVM_STEPS = 1_000_000
LIBSVM_EXAMPLES = 10_000
TABLES = ("wdbc", "svmguide1", "image", "waveform", "ijcnn1", "covtype_binary")
COVTYPE_ROWS = 50_000
GENERATED = (20_000, 200_000)


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for name, X, y in tables(quick=quick):
        scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        for units, features in (("standardised", scaled), ("as they are", X)):
            for cost in (1.0,) if quick else (0.01, 1.0, 100.0):
                yield row(name, units, features, y, cost)
    for n in GENERATED[:1] if quick else GENERATED:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 20))
        y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)
        yield row("generated", "standardised", X, y, 1.0)


def tables(*, quick: bool) -> Iterator[tuple[str, Any, Any]]:
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None or quick:
        X, y = load_breast_cancer(return_X_y=True)
        yield "wdbc", X, np.where(y == 0, 1.0, -1.0)
        return
    for name in TABLES:
        with gzip.open(Path(folder, "tabular", f"{name}.csv.gz"), "rt", encoding="utf-8") as file:
            most = COVTYPE_ROWS if name == "covtype_binary" else None
            values = np.loadtxt(file, delimiter=",", skiprows=1, max_rows=most)
        yield name, np.ascontiguousarray(values[:, :-1]), np.where(values[:, -1] > 0, 1.0, -1.0)


@threadpool_limits.wrap(limits=1)  # of BLAS, which waits busily
def row(name: str, units: str, X: Any, y: Any, cost: float) -> tuple[str, ...]:
    upper = np.full(len(y), cost)
    problem = DenseProblem(np.ascontiguousarray(X))
    solution = problem.solve(y, upper, Effort())  # also compiles, before any clock runs
    linear = LinearSVC(loss="hinge", C=cost, tol=1e-3, max_iter=LINEAR_PASSES, random_state=0)
    libsvm = SVC(kernel="linear", C=cost, tol=1e-3, max_iter=LIBSVM_STEPS, cache_size=500)
    competitors = [linear] if len(y) > LIBSVM_EXAMPLES else [linear, libsvm]
    ours, *theirs = fastest(
        lambda: problem.solve(y, upper, Effort()),
        *(lambda m=model: m.fit(X, y) for model in competitors),
    )
    cells = [told(time, ours, model) for time, model in zip(theirs, competitors, strict=True)]
    cells += [("not run", "–")] * (2 - len(cells))
    return (
        name,
        f"{X.shape[0]} × {X.shape[1]}",
        units,
        f"{cost:g}",
        f"{1000 * ours:.3g} ms",
        f"{solution.gap:.0e}",
        *(text for cell in cells for text in cell),
    )


def told(theirs: float, ours: float, model: Any) -> tuple[str, str]:
    """Write a time and its ratio; one that did not converge is a lower bound."""
    cap = LIBSVM_STEPS if isinstance(model, SVC) else LINEAR_PASSES
    converged = int(np.max(model.n_iter_)) < cap
    note = "" if converged else " (cap, not converged)"
    return f"{1000 * theirs:.4g} ms{note}", f"{'' if converged else '> '}{theirs / ours:.3g}"


def fastest(*works: Callable[[], Any]) -> list[float]:
    """Time all in turn, several times over, and keep the best of each."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for work, taken in zip(works, times, strict=True):
            if not taken or taken[0] < SLOW:
                taken.append(seconds(work))
    return [min(taken) for taken in times]


def seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    with warnings.catch_warnings():
        # Told in the table, by the number of iterations.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        work()
        return time.process_time() - start


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
