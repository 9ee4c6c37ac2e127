"""How near the refinements of ξα come to exact leave-one-out, and what they cost.

Six categories of three text collections, linear with C = 0.5, and six tables, scaled, with a linear
and an RBF kernel and C = 1: the errors counted by ρ alone, by SVM-light's search and by the span.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from studies.reproduction.data_tables import table_of
from studies.reproduction.joachims_corpora import OHSUMED, REUTERS, WEBKB
from studies.reproduction.joachims_trials import MIN_DOCUMENTS, TOLERANCE, C
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings
from truerisk.aliases import Flags, Indices
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.xi_alpha import flags_of
from truerisk.learners.named_models import as_learner
from truerisk.svm.dual_of import duals_of
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM
from truerisk.text.vectorizer import Vectorizer

SOURCE = "T. Joachims, SVM-light, options -x 1 -k; V. Vapnik and O. Chapelle (2000), the span"
MAX_DOCUMENTS = 2000
MAX_ROWS = 600
CATEGORIES = (
    (REUTERS, ("acq", "money-fx")),
    (WEBKB, ("faculty", "student")),
    (OHSUMED, ("Cardiovascular", "Neoplasm")),
)
TABLES = ("wdbc", "ionosphere", "sonar", "haberman", "tic_tac_toe", "letter_OQ")
TIMES = 3  # the best of so many
RULES: Mapping[str, Callable[[Any], Flags]] = {
    "ρ = 2": lambda dual: flags_of(dual, 2.0),
    "ρ = 1": lambda dual: flags_of(dual, 1.0),
    "depth 1": lambda dual: flags_of(dual, 1.0, "search", 1),
    "depth 3": lambda dual: flags_of(dual, 1.0, "search", 3),
    "depth 10": lambda dual: flags_of(dual, 1.0, "search", 10),
    "depth 100": lambda dual: flags_of(dual, 1.0, "search", 100),
    "span": lambda dual: flags_of(dual, 1.0, "span"),
}
COLUMNS = (
    "problem", "n", "leave-one-out", *RULES, *(f"{rule}, ms" for rule in RULES if "ρ" not in rule),
    "fit, ms", "leave-one-out, ms", "span differs",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """The errors that each rule counts for one SVM, and the CPU seconds that it takes."""

    problem: str
    n: int
    exact: int
    errors: Mapping[str, int]
    seconds: Mapping[str, float]
    fit: float
    left_out: float
    differs: int

    def cells(self) -> tuple[str, ...]:
        """Give the row as the table prints it."""
        return (
            *(self.problem, str(self.n), str(self.exact), *map(str, self.errors.values())),
            *(f"{1000 * self.seconds[rule]:.1f}" for rule in RULES if "ρ" not in rule),
            *(f"{1000 * one:.0f}" for one in (self.fit, self.left_out)),
            str(self.differs),
        )


def measured(problem: str, svm: Any, X: Any, y: Indices) -> Row:
    """Train, count by every rule, and leave out every example."""
    fit, fitted = _timed(lambda: svm.fit(X, y))
    (dual,) = duals_of(fitted, X, y)
    flags, seconds = {}, {}
    for name, rule in RULES.items():
        timed = [_timed(partial(rule, dual)) for _ in range(TIMES)]
        seconds[name], flags[name] = min(timed, key=lambda one: one[0])
    left_out, exact = _timed(lambda: leave_one_out(svm, X, y, interval="binomial"))
    wrong = np.zeros(len(y), dtype=bool)
    wrong[list(exact.errors)] = True
    return Row(
        problem,
        len(y),
        int(wrong.sum()),
        {name: int(one.sum()) for name, one in flags.items()},
        seconds,
        fit,
        left_out,
        int(np.sum(flags["span"] != wrong)),
    )


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    value = call()
    return time.process_time() - before, value


def categories(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, Any, Any, Indices]]:
    """Give the vectors and members of each category, of a random part of its collection."""
    for collection, names in CATEGORIES:
        documents = collection.read(data, names)
        taken = np.sort(rng.permutation(len(documents))[:MAX_DOCUMENTS])
        vectors = Vectorizer(min_documents=MIN_DOCUMENTS).fit_transform(documents.texts_at(taken))
        for at, name in enumerate(names):
            svm = LinearSVM(C=C, tol=TOLERANCE)
            yield f"{name}, linear", svm, vectors, documents.member[taken, at].astype(int)


def tables(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, Any, Any, Indices]]:
    """Give each table, prepared and scaled, with either kernel."""
    for stem in TABLES:
        X, y = table_of(data, stem)
        taken = np.sort(rng.permutation(len(y))[:MAX_ROWS])
        steps = as_learner("rbf_svm", X[taken])[:-1]
        rows = np.asarray(steps.fit_transform(X[taken]), dtype=np.float64)
        yield f"{stem}, linear", LinearSVM(C=1.0, tol=TOLERANCE), rows, y[taken]
        gamma = 1 / rows.shape[1]
        yield f"{stem}, RBF", KernelSVM(C=1.0, gamma=gamma, tol=TOLERANCE), rows, y[taken]


def reproduce(settings: Settings) -> Reproduction:
    """Count errors by every rule, on every problem."""
    rng = np.random.default_rng(settings.random_state)
    problems = (*categories(settings.data, rng), *tables(settings.data, rng))
    rows = [measured(*one) for one in settings.progress(problems, len(problems))]
    return Reproduction(
        title="ξα refined: errors counted, and CPU time",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(row.cells() for row in rows),
        conclusion=tuple(_conclusion(rows)),
    )


def _conclusion(rows: list[Row]) -> Iterator[str]:
    texts = sum(len(names) for _, names in CATEGORIES)
    parts = {
        "Text": rows[:texts],
        "Tables, linear": [row for row in rows[texts:] if row.problem.endswith("linear")],
        "Tables, RBF": [row for row in rows[texts:] if row.problem.endswith("RBF")],
    }
    for name, part in parts.items():
        exact = sum(row.exact for row in part)
        counted = ", ".join(
            f"{rule} {sum(row.errors[rule] for row in part) / exact:.2f}" for rule in RULES
        )
        yield f"{name}: errors counted for each of {exact} errors of leave-one-out: {counted}."
        costs = ", ".join(
            f"{rule} {np.median([row.seconds[rule] / row.fit for row in part]):.2g}"
            for rule in RULES
            if "ρ" not in rule
        )
        exact_cost = np.median([row.left_out / row.fit for row in part])
        yield f"{name}: CPU time in fits, median: {costs}, leave-one-out {exact_cost:.2g}."
