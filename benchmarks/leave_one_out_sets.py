"""Exact leave-one-out beside brute force: the set of errors has to be the same."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.leave_out import leave_out_of

TITLE = "Leave-one-out errors: exact paths beside refits by libsvm at tolerance 1e-8"
COLUMNS = ("data", "n", "kernel", "C", "errors", "ties", "sets", "ξα, ρ = 2", "errors not in ξα")

Array = NDArray[np.float64]
FILES = ("wdbc", "sonar", "ionosphere", "heart_statlog", "banana", "image", "twonorm")
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
KERNELS = ("linear", "cubic", "RBF")
COSTS_EACH = 2
MOST = 120  # rows of a file that are used: brute force is slow
MAX_ITER = 5 * 10**5
TIE = 1e-6  # libsvm keeps K in single precision, so that its own margins are so far off


@dataclass(frozen=True)
class Data:
    """Standardised features and labels −1 and 1."""

    name: str
    X: Array
    y: Array


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    costs = cycle(COSTS)
    for data in data_sets(12 if quick else MOST):
        for kernel in KERNELS:
            for cost in islice(costs, COSTS_EACH):
                yield compare(data, kernel, cost)


def data_sets(most: int) -> Iterator[Data]:
    folder = os.environ.get("TRUERISK_DATA")
    for name in FILES if folder else ():
        yield from_file(Path(str(folder)) / "tabular" / f"{name}.csv.gz", most)
    iris = load_iris()
    for pair in ((0, 1), (0, 2), (1, 2)):
        used = np.isin(iris.target, pair)
        names = "/".join(iris.target_names[list(pair)])
        signs = np.where(iris.target[used] == pair[1], 1.0, -1.0)
        yield sample(f"iris {names}", iris.data[used], signs, most)
    rng = np.random.default_rng(3)
    for d in (2, 20):
        X = rng.standard_normal((most, d))
        yield sample(f"noise labels, d = {d}", X, np.where(rng.random(most) < 0.5, 1.0, -1.0), most)
    yield lattice("lattice, 2 × 9 levels", 9, 2, most)
    yield lattice("lattice, 4 × 3 levels", 3, 4, most)
    yield lattice("lattice, noise labels", 5, 2, most, noise=1.0)


def from_file(path: Path, most: int) -> Data:
    table = pd.read_csv(path)
    features = pd.get_dummies(table.drop(columns="target")).to_numpy(np.float64)
    return sample(path.name.split(".")[0], features, np.where(table.target == 1, 1.0, -1.0), most)


def lattice(name: str, levels: int, d: int, most: int, noise: float = 0.1) -> Data:
    """Small integers, where margins are exactly 0 now and then."""
    rng = np.random.default_rng(levels + d)
    X = rng.integers(0, levels, (most, d)) - (levels - 1) / 2
    wrong = rng.random(most) < noise / 2
    y = np.where((X.sum(axis=1) > 0) ^ wrong, 1.0, -1.0)
    return Data(name, X / np.abs(X).max(), y)


def sample(name: str, X: Array, y: Array, most: int) -> Data:
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    X, y = X[chosen], y[chosen]
    X = X[:, X.std(axis=0) > 0.0]
    return Data(name, (X - X.mean(axis=0)) / X.std(axis=0), y)


def gram_of(X: Array, kernel: str) -> Array:
    gram: Array = X @ X.T
    if kernel == "cubic":
        gram /= X.shape[1]
        gram += 1.0
        gram *= gram * gram
    if kernel == "RBF":
        squares = np.diagonal(gram).copy()
        gram *= 2.0
        gram -= squares[:, None]
        gram -= squares[None, :]
        np.minimum(gram, 0.0, out=gram)
        gram /= X.shape[1]
        np.exp(gram, out=gram)
    return gram


def brute_margins(gram: Array, y: Array, cost: float) -> tuple[Array, int]:
    """Fit once for every example, on all others; count the fits that libsvm did not finish.

    In their place stands a solution from scratch, whose gap is its own certificate.
    """
    margins = np.empty(len(y))
    unfinished = 0
    for t in range(len(y)):
        kept = np.flatnonzero(np.arange(len(y)) != t)
        machine = SVC(C=cost, kernel="precomputed", tol=1e-8, cache_size=500, max_iter=MAX_ITER)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(gram[np.ix_(kept, kept)], y[kept])
        if machine.n_iter_[0] < MAX_ITER:
            margins[t] = y[t] * machine.decision_function(gram[t : t + 1, kept])[0]
        else:
            upper = np.where(np.arange(len(y)) == t, 0.0, cost)
            exact = solve_gram(gram, y, upper, tolerance=TIE / 1000)
            if exact.gap > TIE / 1000:
                raise ArithmeticError(f"no solution to compare with: gap {exact.gap}")
            margins[t] = y[t] * exact.decision[t]
            unfinished += 1
    return margins, unfinished


def compare(data: Data, kernel: str, cost: float) -> tuple[str, ...]:
    gram, y = gram_of(data.X, kernel), data.y
    solution = solve_gram(gram, y, np.full(len(y), cost))
    squared_radius = float(np.diagonal(gram).max() - gram.min())
    everyone = np.arange(len(y))
    ours = leave_out_of(gram, solution, everyone, squared_radius=squared_radius).margins
    theirs, unfinished = brute_margins(gram, y, cost)
    ties = np.abs(theirs) < TIE
    differing = np.flatnonzero(((ours < 0.0) != (theirs < 0.0)) & ~ties)
    risky = 2.0 * solution.alpha * squared_radius + solution.slack >= 1.0 - 1e-9
    errors = (ours < 0.0) & ~ties
    verdict = "identical" if len(differing) == 0 else f"differ at {', '.join(map(str, differing))}"
    if unfinished:
        verdict += f" ({unfinished} beside a cold solution: libsvm stopped)"
    return (
        data.name,
        str(len(y)),
        kernel,
        f"{cost:g}",
        str(int(errors.sum())),
        ", ".join(map(str, np.flatnonzero(ties))) or "–",
        verdict,
        str(int(risky.sum())),
        f"{np.count_nonzero(errors & ~risky)}{'' if solution.stable else ' (unstable)'}",
    )


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
