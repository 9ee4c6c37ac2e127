"""How often the bound by sample compression holds the error, and how far above it lies.

A sample of a real table is drawn, a classifier trained on it, and all other rows tell the truth.
Columns are scaled once for the whole table, and settings are fixed: nothing is chosen on a sample.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron
from sklearn.preprocessing import StandardScaler

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from studies.audit.xi_alpha import TABLES, population
from truerisk import CondensedNeighbors, KernelSVM, LinearSVM, SetCoveringMachine, compression_bound
from truerisk.errors import NotConvergedWarning, UnstableWarning

LEVEL = 0.95
SAMPLES = 100
SIZES = (100, 300)
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "linear SVM": LinearSVM,
    "rbf SVM": partial(KernelSVM, gamma=0.1),
    "set covering, 1 ball": partial(SetCoveringMachine, max_balls=1),
    "set covering, 4 balls": partial(SetCoveringMachine, max_balls=4),
    "condensed neighbours": CondensedNeighbors,
    "perceptron": partial(Perceptron, shuffle=False),
}


def measure(*, samples: int = SAMPLES, folder: Path | None = None) -> Iterator[CoverageCell]:
    """Give one row per table, classifier and size; the width is the mean distance of the bound."""
    for table in TABLES:
        for name in CLASSIFIERS:
            for n in SIZES:
                drawn = max(samples * 100 // n, 40)
                settings: dict[str, Any] = {
                    "table": table,
                    "classifier": name,
                    "n": n,
                    "samples": drawn,
                }
                file = f"compression-{table}-{name}-{n}".replace(" ", "-").replace(",", "")
                arrays = checkpointed(folder, file, settings, partial(_simulate, **settings))
                defined = np.isfinite(arrays["high"])
                if defined.sum() < len(defined) / 2:
                    continue
                high, truth = arrays["high"][defined], arrays["truth"][defined]
                yield CoverageCell(
                    study="compression",
                    problem=f"{table}, {name}",
                    role=HELD_OUT,
                    design="",
                    n=n,
                    measure="error_rate",
                    method="sample_compression",
                    level=LEVEL,
                    target="this model",
                    samples=int(defined.sum()),
                    undefined=int((~defined).sum()),
                    coverage=float(np.mean(truth <= high)),
                    width=float(np.mean(high - truth)),
                )


def _simulate(table: str, classifier: str, n: int, samples: int) -> Arrays:
    X, y = population(table)
    X = StandardScaler().fit_transform(X)
    high, truth = np.full(samples, np.nan), np.full(samples, np.nan)
    with warnings.catch_warnings():
        for kind in (UnstableWarning, NotConvergedWarning):
            warnings.simplefilter("ignore", kind)
        for at in range(samples):
            order = np.random.default_rng([1, at, n]).permutation(len(y))
            train, rest = order[:n], order[n:]
            if len(rest) < n or len(set(y[train])) < 2:
                continue
            model = CLASSIFIERS[classifier]().fit(X[train], y[train])
            truth[at] = np.mean(model.predict(X[rest]) != y[rest])
            interval = compression_bound(model, X[train], y[train], level=LEVEL).interval
            if interval is not None:
                high[at] = interval.high
    return {"high": high, "truth": truth}
