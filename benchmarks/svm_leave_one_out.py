"""Exact leave-one-out beside a loop of fits, n about 600."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from truerisk.estimation.leave_one_out import leave_one_out
from truerisk.svm.kernel import KernelSVM

TITLE = "Exact leave-one-out at n ≈ 600, beside a loop of fits"
COLUMNS = (
    "data",
    "n",
    "kernel",
    "C",
    "errors",
    "left out in earnest",
    "truerisk, training included",
    "cross_val_score(SVC, LeaveOneOut)",
    "ratio",
    "the same, SVC(precomputed)",
    "ratio",
)

KERNELS = {
    "linear": {"kernel": "linear"},
    "cubic": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    "RBF": {"kernel": "rbf"},
}
TABLES = ("sonar", "ionosphere", "banana", "twonorm")
COSTS = (0.01, 1.0, 100.0)
ROWS = 600
SAMPLE = 7  # rounds that are timed of the loop; the rest is extrapolated
PATIENCE = 5.0  # seconds after which no further refit is timed


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for name, (X, y) in data(quick=quick):
        for kernel in KERNELS:
            for cost in COSTS[1:2] if quick else COSTS:
                yield compared(name, X, y, kernel, cost)


def data(*, quick: bool) -> Iterator[tuple[str, tuple[Any, Any]]]:
    X, y = load_breast_cancer(return_X_y=True)
    yield "WDBC", (scale(X), y)
    yield "WDBC, labels of chance", (scale(X), np.random.default_rng(0).integers(0, 2, len(y)))
    folder = os.environ.get("TRUERISK_DATA")
    for name in TABLES if folder and not quick else ():
        table = pd.read_csv(Path(str(folder)) / "tabular" / f"{name}.csv.gz")
        part = table.sample(min(ROWS, len(table)), random_state=1)
        features = part.drop(columns="target").to_numpy(float)
        yield name, (scale(features), part["target"].to_numpy())


def compared(name: str, X: Any, y: Any, kernel: str, cost: float) -> tuple[str, ...]:  # noqa: ANN401
    options = dict(KERNELS[kernel])
    if kernel != "linear":
        options["gamma"] = 1.0 / X.shape[1]
    machine = KernelSVM(C=cost, **options)
    found = leave_one_out(machine, X, y, measures=("error_rate",))
    ours = np.inf
    for _ in range(3):
        start = time.perf_counter()
        leave_one_out(machine, X, y, measures=("error_rate",))
        ours = min(ours, time.perf_counter() - start)
    plain = looped(SVC(C=cost, **options), X, y)
    gram = machine.fit(X, y).kernel_.between(X, X)
    precomputed = looped(SVC(C=cost, kernel="precomputed"), gram, y)
    return (
        name,
        str(len(y)),
        kernel,
        f"{cost:g}",
        str(len(found.errors)),
        str(found.refits),
        f"{1000 * ours:.0f} ms",
        f"{plain:.1f} s",
        f"{plain / ours:,.0f}×",
        f"{precomputed:.1f} s",
        f"{precomputed / ours:,.0f}×",
    )


def looped(machine: SVC, X: Any, y: Any) -> float:  # noqa: ANN401
    """Time a sample of the rounds of cross_val_score, and give what all would take."""
    rounds = np.random.default_rng(1).permutation(len(y))[:SAMPLE]
    splits = [(np.flatnonzero(np.arange(len(y)) != i), np.array([i])) for i in rounds]
    times: list[float] = []
    for split in splits:
        start = time.perf_counter()
        cross_val_score(machine, X, y, cv=[split])
        times.append(time.perf_counter() - start)
        if sum(times) > PATIENCE:
            break
    return float(np.median(times)) * len(y)
