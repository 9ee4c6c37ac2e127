"""Table 2 of Shah and Shanian, trained: six learners on sixteen data sets, several divisions.

The paper's divisions are unknown; these are random, with the sizes of Table 1.  The settings of a
learner are those with the fewest errors in ten folds of the training part; of equal ones the first.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from studies.audit.checkpoints import Arrays, checkpointed
from studies.reproduction.data_tables import table_of
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.shah_shanian import MISPRINTS, SOURCE, Printed, printed_rows
from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import InputError
from truerisk.execution.running import run_each
from truerisk.intervals.binomial import binomial_interval
from truerisk.learners.concise import DecisionList, SetCoveringMachine
from truerisk.learners.named_models import as_learner

FOLDS = 10
MAX_CHOSEN_ON = 600  # rows: of a larger training part a random 600 choose the settings
STUMPS = (10, 25, 50, 100, 200)
BALLS = (1, 2, 3, 4, 6, 8, 12, 16)
PRUNING = {"ccp_alpha": (0.03, 0.01, 0.003, 0.0), "min_samples_leaf": (5, 2, 1)}
# File and the size of the training part, in the order of Table 1.
DATA_SETS = {
    "USvotes": ("usvotes", 235),
    "Bupa": ("bupa", 170),
    "Credit": ("credit_crx", 353),
    "Glass": ("glass_window", 107),
    "Haberman": ("haberman", 144),
    "HeartS": ("heart_cleveland", 150),
    "Sonar": ("sonar", 105),
    "SonarM": ("sonar", 104),
    "BreastCancer": ("breast_cancer_wisconsin", 340),
    "Wdbc": ("wdbc", 285),
    "Tic-Tac-Toe": ("tic_tac_toe", 479),
    "Ionosphere": ("ionosphere", 176),
    "Letter-AB": ("letter_AB", 500),
    "Letter-OQ": ("letter_OQ", 500),
    "Letter-DO": ("letter_DO", 500),
    "Mushroom": ("mushroom", 4062),
}
COLUMNS = (
    *("data set", "classifier", "m", "R_T paper", "R_T ours", "B_l paper", "B_l ours"),
    *("B_u paper", "B_u ours", "CI ours", "mean R_T", "B holds", "CI holds"),
)


@dataclass(frozen=True)
class Learner:
    """How a learner is prepared and made; `stages` are sizes that one training gives at once."""

    prepared_as: str  # named model whose preparation of columns it gets
    make: Callable[..., Any]
    grid: Mapping[str, tuple[Any, ...]]
    stages: tuple[str, tuple[int, ...]] | None = None

    def settings(self) -> Iterator[dict[str, Any]]:
        """Give every setting, the simplest first, but for the stages."""
        for values in product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))


LEARNERS = {
    "SVM": Learner("rbf_svm", SVC, {"C": (0.1, 1.0, 10.0, 100.0), "gamma": (0.01, 0.03, 0.1, 0.3)}),
    "Ada": Learner(
        "adaboost",
        partial(AdaBoostClassifier, DecisionTreeClassifier(max_depth=1)),
        {},
        ("n_estimators", STUMPS),
    ),
    "DT": Learner("tree", DecisionTreeClassifier, PRUNING),
    "DL": Learner("decision_list", DecisionList, PRUNING),
    "NB": Learner("naive_bayes", dict, {}),
    "SCM": Learner(
        "set_covering",
        SetCoveringMachine,
        {"penalty": (0.5, 1.0, 2.0, 5.0, inf)},
        ("max_balls", BALLS),
    ),
}


def errors_of(learner: Learner, X: Any, y: Indices, test: Any, truth: Indices, *, seed: int) -> int:
    """Choose the settings on the training part, train on it, and count errors on the test part."""
    pipeline = as_learner(learner.prepared_as, X)
    if not learner.grid and learner.stages is None:
        return int(np.sum(pipeline.fit(X, y).predict(test) != truth))
    chosen = _chosen(learner, pipeline[:-1], X, y, seed)
    steps = clone(pipeline[:-1]).fit(X)
    model = _made(learner, chosen).fit(steps.transform(X), y)
    return int(np.sum(model.predict(steps.transform(test)) != truth))


def _made(learner: Learner, setting: Mapping[str, Any]) -> Any:
    model = learner.make(**setting)
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def _chosen(learner: Learner, steps: Any, X: Any, y: Indices, seed: int) -> dict[str, Any]:
    """Give the setting with the fewest errors in ten folds."""
    rng = np.random.default_rng([seed, 2])
    rows = np.sort(rng.permutation(len(y))[:MAX_CHOSEN_ON])
    X, y = X[rows], y[rows]
    settings = list(learner.settings())
    name, stages = learner.stages or ("", (0,))
    wrong = np.zeros((len(settings), len(stages)), dtype=int)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(y, y):
        prepared = clone(steps).fit(X[train])
        A, B = prepared.transform(X[train]), prepared.transform(X[test])
        for row, setting in enumerate(settings):
            largest = {name: stages[-1]} if name else {}
            model = _made(learner, {**setting, **largest}).fit(A, y[train])
            wrong[row] += [int(np.sum(one != y[test])) for one in _stages(model, B, stages, name)]
    best = np.unravel_index(int(np.argmin(wrong)), wrong.shape)
    size = {name: stages[best[1]]} if name else {}
    return {**settings[best[0]], **size}


def _stages(model: Any, X: Any, stages: tuple[int, ...], name: str) -> Iterator[Any]:
    """Predict by the first so many parts of a model; by all where it has fewer."""
    if not name:
        yield model.predict(X)
        return
    every = list(model.staged_predict(X)) or [model.predict(X)]
    for size in stages:
        yield every[min(size, len(every)) - 1]


def division(shared: Mapping[str, Any], item: tuple[str, int]) -> Arrays:
    """Divide one data set once, and count the errors of every learner on its test part."""
    name, at = item
    stem, train = DATA_SETS[name]
    seed = shared["seed"]

    def compute() -> Arrays:
        X, y = table_of(Path(shared["data"]), stem)
        test = shared["sizes"][name]
        if len(y) < train + test:
            raise InputError(f"`data` must have {train + test} rows of {stem}; got {len(y)}.")
        order = np.random.default_rng([seed, list(DATA_SETS).index(name), at]).permutation(len(y))
        S, T = order[:train], order[train : train + test]
        counts = [
            errors_of(one, X[S], y[S], X[T], y[T], seed=seed + at) for one in LEARNERS.values()
        ]
        return {"errors": np.array(counts)}

    folder = None if shared["folder"] is None else Path(shared["folder"])
    return checkpointed(folder, f"{stem}-{train}-{at}", {"seed": seed}, compute)


def reproduce(settings: JiangSettings) -> Reproduction:
    """Train the learners, the paper's figures beside ours."""
    printed = {(row.data_set, row.classifier): row for row in printed_rows()}
    items = [(name, at) for at in range(settings.partitions) for name in DATA_SETS]
    shared = {
        "data": str(settings.folder("table 2")),
        "folder": None if settings.resume is None else str(settings.resume),
        "seed": settings.random_state,
        "sizes": {row.data_set: row.m for row in printed.values()},
    }
    outcomes = run_each(division, shared, items, n_jobs=settings.n_jobs)
    errors = np.array([one["errors"] for one in settings.progress(outcomes, len(items))]).reshape(
        settings.partitions, len(DATA_SETS), len(LEARNERS)
    )
    rows = [
        Trained(printed[name, learner], errors[:, at, column])
        for at, name in enumerate(DATA_SETS)
        for column, learner in enumerate(LEARNERS)
    ]
    return Reproduction(
        title=f"Table 2, trained: {settings.partitions} divisions, settings by ten folds",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(row.cells() for row in rows),
        conclusion=tuple(_conclusion(rows)),
    )


@dataclass(frozen=True, eq=False)
class Trained:
    """One row of the table: what the paper prints, and our errors in each division."""

    printed: Printed
    errors: Indices

    @property
    def risks(self) -> Array:
        """The share of errors in each division."""
        return self.errors / self.printed.m

    def ends(self, method: str) -> Array:
        """Give the interval of each division, one row each."""
        found = [binomial_interval(int(k), self.printed.m, method=method) for k in self.errors]
        return np.array([[one.low, one.high] for one in found])

    def single_loss_ends(self) -> Array:
        """Give the paper's interval of each division: two deviations of a single loss."""
        spread = 2 * np.sqrt(self.risks * (1 - self.risks))
        return np.column_stack([self.risks - spread, self.risks + spread])

    def held(self, ends: Array) -> Flags:
        """Say for each division whether the mean risk of all others lies within."""
        risks = self.risks
        if len(risks) < 2:
            return np.zeros(0, dtype=bool)
        others = (risks.sum() - risks) / (len(risks) - 1)
        held: Flags = (ends[:, 0] <= others) & (others <= ends[:, 1])
        return held

    def cells(self) -> tuple[str, ...]:
        """Give the row as the table prints it: the first division, and how often the rest agree."""
        printed = self.printed
        exact, wald = self.ends("clopper_pearson"), self.ends("wald")
        counts = [f"{int(self.held(ends).sum())} of {len(self.errors)}" for ends in (exact, wald)]
        return (
            *(printed.data_set, printed.classifier, str(printed.m), printed.risk),
            *(f"{self.risks[0]:.3f}", printed.lower, f"{exact[0, 0]:.3f}"),
            *(printed.upper, f"{exact[0, 1]:.3f}", f"[{wald[0, 0]:.3f}, {wald[0, 1]:.3f}]"),
            *(f"{self.risks.mean():.3f}", *(counts if len(self.errors) > 1 else ("—", "—"))),
        )


def _conclusion(rows: list[Trained]) -> Iterator[str]:
    def share(ends: str) -> str:
        held = np.concatenate([row.held(_ends(row, ends)) for row in rows])
        return f"{held.mean():.3f}" if len(held) else "—"

    yield (
        "How often the mean risk of all other divisions lies within the interval of one: exact "
        f"bounds {share('clopper_pearson')}, Gaussian interval {share('wald')}, the paper's two "
        f"deviations of a single loss {share('single')}. That mean is the learner's risk at this "
        "training size, not the one classifier's, and divisions of one table share their rows."
    )
    few = [row for row in rows if row.risks.mean() < 0.02]
    held = (
        [
            np.concatenate([row.held(row.ends(name)) for row in few])
            for name in ("clopper_pearson", "wald")
        ]
        if few
        else []
    )
    if few and len(held[0]):
        yield (
            f"Where the risk is below .02 ({len(few)} rows): exact {held[0].mean():.3f}, Gaussian "
            f"{held[1].mean():.3f}."
        )
    sound = [row for row in rows if (row.printed.data_set, row.printed.classifier) not in MISPRINTS]
    inside = sum(
        float(row.printed.lower) <= row.risks.mean() <= float(row.printed.upper) for row in sound
    )
    yield (
        f"Our mean risk lies within the paper's own bounds in {inside} of {len(sound)} rows "
        "(misprints left out)."
    )
    for learner in LEARNERS:
        own = [row for row in sound if row.printed.classifier == learner]
        ours = np.array([row.risks.mean() for row in own])
        paper = np.array([float(row.printed.risk) for row in own])
        error = np.std(ours - paper) / sqrt(len(own))
        yield (
            f"{learner}: mean risk {ours.mean():.3f}, in the paper {paper.mean():.3f} "
            f"(difference {np.mean(ours - paper):+.3f} ± {error:.3f})."
        )


def _ends(row: Trained, name: str) -> Array:
    return row.single_loss_ends() if name == "single" else row.ends(name)
