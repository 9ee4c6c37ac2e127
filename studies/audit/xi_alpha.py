"""How often the bounds of ξα hold the value on examples not trained on, and what `select` is worth.

Populations are real tables and the Reuters documents: a sample is drawn, an SVM trained on it, and
all other examples tell the truth.  Nothing was chosen on any of them.  The width of a bound is its
mean distance from the truth.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from studies.audit.checkpoints import Arrays, checkpointed
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from truerisk import KernelSVM, LinearSVM, Vectorizer, evaluate_counts, read_corpus, select
from truerisk import xi_alpha as bounds_of
from truerisk.aliases import Array, Flags
from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.inputs.tables import read_table

LEVEL = 0.95
SAMPLES = 200
MIN_SAMPLES = 20  # of a cell in which a measure is defined; fewer say nothing
MEASURES = ("error_rate", "recall", "precision", "f1")
RULES: dict[str, dict[str, Any]] = {
    "ρ = 1": {"rho": 1.0},
    "ρ = 2": {"rho": 2.0},
    "span": {"refine": "span"},
}
TABLES = (
    "banana", "image", "letter_OQ", "ringnorm", "svmguide1", "titanic", "twonorm", "waveform",
)  # fmt: skip
TABLE_SIZES = (100, 300)
CATEGORIES = ("acq", "corn", "crude", "money-fx", "ship", "trade")
REUTERS_SIZES = (600, 2000)
SELECTED_TABLES = ("banana", "image", "svmguide1", "waveform")
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}
MODEL, LEARNER = "this model", "the learner at this sample size"


@dataclass(frozen=True, kw_only=True)
class XiAlphaCell:
    """One kind of SVM on samples of one size from one population; `select` chooses its settings."""

    population: str
    svm: str  # linear, rbf, or the `by` of a selection
    n: int

    @property
    def words(self) -> str:
        """Name the cell on one line."""
        return f"{self.population}, {self.svm}, n = {self.n}"


def all_cells() -> tuple[XiAlphaCell, ...]:
    """List the cells: tables, categories of Reuters, selections."""
    return (
        *(
            XiAlphaCell(population=name, svm=svm, n=n)
            for name in TABLES
            for svm in ("linear", "rbf")
            for n in TABLE_SIZES
        ),
        *(
            XiAlphaCell(population=f"reuters {name}", svm="linear", n=n)
            for name in CATEGORIES
            for n in REUTERS_SIZES
        ),
        *(
            XiAlphaCell(population=name, svm=by, n=100)
            for name in SELECTED_TABLES
            for by in ("xi_alpha", "leave_one_out")
        ),
    )


def measure_cells(
    cells: Sequence[XiAlphaCell], *, samples: int, folder: Path | None = None
) -> Iterator[tuple[XiAlphaCell, list[CoverageCell], Array]]:
    """Measure each cell; give its rows, and how far the estimates of the error lean."""
    for cell in cells:
        drawn = samples // _slowness(cell)
        name = f"xi_alpha-{cell.population}-{cell.svm}-{cell.n}".replace(" ", "-")
        settings = {**asdict(cell), "samples": drawn, "level": LEVEL}
        arrays = checkpointed(folder, name, settings, partial(_simulate, cell, drawn))
        yield cell, list(_summary(cell, arrays)), biases_of(arrays)


def _slowness(cell: XiAlphaCell) -> int:
    """Give the part of the samples that a slow cell is drawn: documents, selections."""
    if cell.svm in {"xi_alpha", "leave_one_out"}:
        return 3
    return 2 if cell.population.startswith("reuters") else 1


def biases_of(arrays: Arrays) -> Array:
    """Give the mean of estimate minus truth of the error rate, by each rule."""
    return np.asarray(np.nanmean(arrays["values"][..., 0] - arrays["truth"][:, :1], axis=0))


def data_folder() -> Path:
    """Give the folder of the data sets."""
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        raise InputError("`TRUERISK_DATA` must name the folder of the data sets; it is not set.")
    return Path(folder)


@lru_cache(maxsize=2)
def population(name: str) -> tuple[Any, Flags]:
    """Read a table, or the Reuters documents with one category against the rest."""
    if name.startswith("reuters "):
        X, labels = _reuters()
        category = name.removeprefix("reuters ")
        return X, np.array([category in one for one in labels])
    table = read_table(data_folder() / "tabular" / f"{name}.csv.gz", target="target")
    return np.asarray(table.X, dtype=np.float64), np.asarray(table.y).astype(str) == "1"


@lru_cache(maxsize=1)
def _reuters() -> tuple[Any, tuple[tuple[str, ...], ...]]:
    corpus = read_corpus(data_folder() / "text" / "reuters21578_modapte.jsonl.gz")
    return Vectorizer().fit_transform(corpus.texts or ()), corpus.labels


def _simulate(cell: XiAlphaCell, samples: int) -> Arrays:
    by_choice = cell.svm in {"xi_alpha", "leave_one_out"}
    rules = ("own", "corrected") if by_choice else tuple(RULES)
    measures = MEASURES[:1] if by_choice else MEASURES
    shape = (samples, len(rules), len(measures))
    values, low, high = (np.full(shape, np.nan) for _ in range(3))
    truth = np.full((samples, len(measures)), np.nan)
    X, y = population(cell.population)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)
        for at in range(samples):
            rng = np.random.default_rng([0, at, cell.n])
            order = rng.permutation(len(y))
            train, rest = order[: cell.n], order[cell.n :]
            if min(y[train].sum(), (~y[train]).sum()) < 2:
                continue
            A, B = _scaled(X, train, rest)
            run = _chosen if by_choice else _trained
            estimates, called = run(cell, A, y[train], B, at)
            truth[at] = _true_values(y[rest], called, measures)
            for row, rule in enumerate(estimates):
                for column, one in enumerate(rule):
                    if one.is_defined and one.interval is not None:
                        values[at, row, column] = one.value
                        low[at, row, column] = one.interval.low
                        high[at, row, column] = one.interval.high
    return {"values": values, "low": low, "high": high, "truth": truth}


def _scaled(X: Any, train: Any, rest: Any) -> tuple[Any, Any]:
    """Scale the features of a table; documents have unit length already."""
    if not isinstance(X, np.ndarray):
        return X[train], X[rest]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[rest])


def _trained(cell: XiAlphaCell, X: Any, y: Flags, fresh: Any, _: int) -> tuple[Any, Flags]:
    """Train one SVM; give its estimates by every rule, and what it calls fresh examples."""
    cost = 0.5 if cell.population.startswith("reuters") else 1.0
    svm = LinearSVM(C=cost) if cell.svm == "linear" else KernelSVM(C=cost)
    svm.fit(X, y)
    found = [bounds_of(svm, X, y, level=LEVEL, **options) for options in RULES.values()]
    return [[one[name] for name in MEASURES] for one in found], svm.predict(fresh)


def _chosen(cell: XiAlphaCell, X: Any, y: Flags, fresh: Any, seed: int) -> tuple[Any, Flags]:
    """Choose the settings of an SVM; give the winner's estimates, and what it calls examples."""
    choice = select(KernelSVM(), X, y, over=GRID, by=cell.svm, level=LEVEL, random_state=seed)
    winner = KernelSVM(**choice.best).fit(X, y)
    return [[choice.estimate], [choice.corrected]], winner.predict(fresh)


def _true_values(y: Flags, called: Flags, measures: Sequence[str]) -> list[float]:
    table = [
        [int(np.sum(y & called)), int(np.sum(y & ~called))],
        [int(np.sum(~y & called)), int(np.sum(~y & ~called))],
    ]
    found = evaluate_counts(table, measures=tuple(measures))
    return [found[name].value for name in measures]


def _summary(cell: XiAlphaCell, arrays: Arrays) -> Iterator[CoverageCell]:
    """Give one row per rule, measure and target; the width is the distance from the truth."""
    by_choice = cell.svm in {"xi_alpha", "leave_one_out"}
    rules = ("own", "corrected") if by_choice else tuple(RULES)
    for column, measure in enumerate(MEASURES[: arrays["truth"].shape[1]]):
        truth = arrays["truth"][:, column]
        side = "upper" if measure == "error_rate" else "lower"
        for row, rule in enumerate(rules):
            low, high = arrays["low"][:, row, column], arrays["high"][:, row, column]
            values = arrays["values"][:, row, column]
            method = f"xi_alpha_{side}"
            if by_choice and rule == "corrected":
                method = "bootstrap_out_of_bag"
                method += "_upper" if cell.svm == "xi_alpha" else ""
            elif cell.svm == "leave_one_out":
                method = "clopper_pearson"
            for target, goal in ((MODEL, truth), (LEARNER, np.full_like(truth, np.nanmean(truth)))):
                defined = np.isfinite(goal) & np.isfinite(values) & np.isfinite(truth)
                if defined.sum() < MIN_SAMPLES:
                    continue
                inside = (low <= goal) & (goal <= high)
                widths = np.abs((high if side == "upper" else low) - goal)
                if cell.svm == "leave_one_out":  # two-sided
                    widths = high - low
                yield CoverageCell(
                    study="select" if by_choice else "xi_alpha",
                    problem=f"{cell.population}, {'rbf' if by_choice else cell.svm} SVM",
                    role=HELD_OUT,
                    design=f"chosen by {cell.svm}, {rule}" if by_choice else rule,
                    n=cell.n,
                    measure=measure,
                    method=method,
                    level=LEVEL,
                    target=target,
                    samples=int(defined.sum()),
                    undefined=int((~defined).sum()),
                    coverage=float(inside[defined].mean()),
                    width=float(widths[defined].mean()),
                )
