"""Exact leave-one-out and the path over C, beside loops over scikit-learn's SVC."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from benchmarks.leave_one_out_sets import Array, Data, from_file, gram_of, sample
from truerisk.execution.threads import few_blas_threads
from truerisk.svm.gram.cost_path import cost_path
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.leave_out import leave_out_of

TITLE = (
    "Exact leave-one-out, fit included, beside cross_val_score(SVC, LeaveOneOut) and an SVC loop"
)
COLUMNS = (
    "data, kernel, C",
    "n",
    "truerisk, one thread",
    "cross_val_score, from a sample of folds",
    "ratio",
    "SVC(precomputed) loop, from a sample",
    "ratio to that",
    "calls that differ in the sample",
)

FILES = ("wdbc", "sonar", "ionosphere", "banana", "twonorm")
MOST = 600
FOLDS = 12
REPEATS = 7
COSTS = (0.01, 1.0, 100.0)
MAX_ITER = 3 * 10**6  # some fits of noise take libsvm minutes; it is timed up to here


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for data in data_sets(100 if quick else MOST):
        for kernel in ("linear", "cubic", "RBF"):
            for cost in COSTS:
                yield beside(data, kernel, cost)
        yield whole_path(data)


def data_sets(most: int) -> Iterator[Data]:
    folder = os.environ.get("TRUERISK_DATA")
    files = [Path(folder) / "tabular" / f"{name}.csv.gz" for name in FILES] if folder else []
    found = [from_file(file, most) for file in files]
    bundled = load_breast_cancer()
    labels = np.where(bundled.target == 1, 1.0, -1.0)
    found = found or [sample("breast cancer", bundled.data, labels, most)]
    yield from found
    for data in (found[0], found[-1]):
        shuffled = np.random.default_rng(1).permutation(data.y)
        yield Data(f"{data.name}, noise labels", data.X, shuffled)


def beside(data: Data, kernel: str, cost: float) -> tuple[str, ...]:
    X, y = data.X, data.y
    n = len(y)

    def exact() -> Array:
        gram = gram_of(X, kernel)
        solution = solve_gram(gram, y, np.full(n, cost))
        radius = float(np.diagonal(gram).max() - gram.min())
        return leave_out_of(gram, solution, np.arange(n), squared_radius=radius).margins

    margins = exact()
    folds = np.random.default_rng(0).permutation(n)[:FOLDS]
    splits = [(np.delete(np.arange(n), t), np.array([t])) for t in folds]
    options = {"degree": 3, "gamma": 1.0 / X.shape[1], "coef0": 1.0}
    name = {"linear": "linear", "cubic": "poly", "RBF": "rbf"}[kernel]
    machine = SVC(C=cost, kernel=name, max_iter=MAX_ITER, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with few_blas_threads(X):  # as `tr.leave_one_out` does
            ours = best(exact)
            scores, naive = timed(lambda: cross_val_score(machine, X, y, cv=splits))
        _, expert = timed(lambda: precomputed_loop(gram_of(X, kernel), y, cost, splits))
    clear = np.abs(margins[folds]) > 1e-2  # at its default tolerance libsvm is not exact
    differing = np.count_nonzero(((margins[folds] > 0.0) != (scores > 0.5)) & clear)
    naive, expert = naive * n / FOLDS, expert * n / FOLDS
    return (
        f"{data.name}, {kernel}, {cost:g}",
        str(n),
        f"{1000 * ours:.1f} ms",
        f"{naive:.1f} s",
        f"{naive / ours:,.0f}",
        f"{expert:.1f} s",
        f"{expert / ours:,.0f}",
        str(differing),
    )


def precomputed_loop(gram: Array, y: Array, cost: float, splits: list[tuple[Array, Array]]) -> None:
    for kept, left in splits:
        machine = SVC(C=cost, kernel="precomputed", max_iter=MAX_ITER)
        machine.fit(gram[np.ix_(kept, kept)], y[kept])
        machine.predict(gram[np.ix_(left, kept)])


def whole_path(data: Data) -> tuple[str, ...]:
    gram, y = gram_of(data.X, "RBF"), data.y
    costs = np.geomspace(0.1, 1000.0, 15)
    found = cost_path(gram, y, np.ones(len(y)), costs)
    with few_blas_threads(gram):
        ours = best(lambda: cost_path(gram, y, np.ones(len(y)), costs))

    def loop() -> None:
        for cost in costs:
            SVC(C=cost, kernel="precomputed").fit(gram, y)

    theirs = best(loop)
    breakpoints = sum(solution.passes for solution in found[1:])
    return (
        f"{data.name}, RBF, all of C from 0.1 to 1000: {breakpoints} breakpoints",
        str(len(y)),
        f"{1000 * ours:.1f} ms",
        "–",
        "–",
        f"{1000 * theirs:.0f} ms for 15 costs",
        f"{theirs / ours:.1f}",
        f"gap {max(solution.gap for solution in found):.0e}",
    )


def best(work: Callable[[], object]) -> float:
    return min(timed(work)[1] for _ in range(REPEATS))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Give the result and the time of this process, which other processes do not lengthen."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
