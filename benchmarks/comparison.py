"""Two models compared by their predictions, beside resampling with scikit-learn's metrics."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar

from benchmarks.perturbation import fastest, seconds
from truerisk.comparison.compare import compare
from truerisk.comparison.comparisons import Comparisons

TITLE = (
    "Two models with scores compared by tr.compare, beside paired resampling with scikit-learn "
    "(1,000 replicates, timed on a few) and statsmodels"
)
COLUMNS = (
    *("work", "examples", "truerisk", "memory above the data", "peak in all"),
    *("beside", "it takes", "ratio"),
)

REPLICATES = 1000
PATIENCE = 6.0  # seconds; what has taken as long in all is not run again
ROWS_RESAMPLED = 3 * 10**6  # of each peer, in its few replicates
DISCORD = 0.8  # how much of a model's noise is its own
SHARE = 0.3  # of positives

PEAK = """
import sys
from benchmarks.comparison import peak
print(*peak(int(sys.argv[1]), sys.argv[2:]))
"""


@dataclass(frozen=True)
class Problem:
    """Labels, and two models' calls and scores of the same examples."""

    truth: NDArray[np.int64]
    scores: tuple[NDArray[np.float64], NDArray[np.float64]]
    calls: tuple[NDArray[np.int64], NDArray[np.int64]]

    @classmethod
    def of(cls, n: int) -> "Problem":
        """Draw examples, and scores whose noise the models share in part."""
        rng = np.random.default_rng(0)
        truth = (rng.random(n) < SHARE).astype(np.int64)
        common = 1.5 * truth + rng.standard_normal(n)
        first = common + DISCORD * rng.standard_normal(n)
        second = common + DISCORD * rng.standard_normal(n) + 0.05 * truth
        return cls(truth, (first, second), ((first > 1).astype(int), (second > 1).astype(int)))

    def compared(self, measures: list[str]) -> Comparisons:
        """Compare by these measures; by all if none is named."""
        first, second = self.scores
        return compare(
            self.truth,
            *self.calls,
            first_score=first,
            second_score=second,
            measures=measures or None,
            replicates=REPLICATES,
        )


Replicate = Callable[[Problem, Any], float]


def difference_of_f1(problem: Problem, drawn: Any) -> float:  # noqa: ANN401
    truth = problem.truth[drawn]
    first, second = (float(f1_score(truth, calls[drawn])) for calls in problem.calls)
    return second - first


def difference_of_areas(problem: Problem, drawn: Any) -> float:  # noqa: ANN401
    truth = problem.truth[drawn]
    first, second = (float(roc_auc_score(truth, score[drawn])) for score in problem.scores)
    return second - first


def mcnemar_of_statsmodels(problem: Problem) -> float:
    right = [calls == problem.truth for calls in problem.calls]
    table = confusion_matrix(*right, labels=[False, True])
    return float(mcnemar(table, exact=False, correction=False).pvalue)


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    Problem.of(1000).compared([])  # loads what is loaded once
    for n in (2000, 5000) if quick else (10**4, 10**6):
        problem = Problem.of(n)
        Problem.of(n).compared([])  # compiles what only many examples need
        yield from beside_resampling(problem, "f1", difference_of_f1)
        yield from beside_resampling(problem, "roc_auc", difference_of_areas)
        yield beside_mcnemar(problem)


def beside_resampling(
    problem: Problem, measure: str, replicate: Replicate
) -> Iterator[tuple[str, ...]]:
    """Time one measure and all of them beside a paired bootstrap of that one."""
    n, rng = len(problem.truth), np.random.default_rng(1)
    few = int(np.clip(ROWS_RESAMPLED // n, 3, 50))

    def loop() -> None:
        for _ in range(few):
            replicate(problem, rng.integers(0, n, n))

    best = fastest(
        {
            "one": lambda: problem.compared([measure]),
            "loop": loop,
            "all": lambda: problem.compared([]),
        },
        patience=PATIENCE,
    )
    theirs = best["loop"] * REPLICATES / few
    every = problem.compared([])
    if not np.isclose(every[measure].difference.value, replicate(problem, slice(None))):
        raise AssertionError("The two sides must compare the same models.")
    name = f"scikit-learn, paired bootstrap of {measure}"
    yield row((measure, n, [measure]), best["one"], name, theirs)
    yield row((f"all {len(every.pairs)} measures", n, []), best["all"], name, theirs)


def beside_mcnemar(problem: Problem) -> tuple[str, ...]:
    best = fastest(
        {
            "one": lambda: problem.compared(["error_rate"]),
            "theirs": lambda: mcnemar_of_statsmodels(problem),
        },
        patience=PATIENCE,
    )
    name = "statsmodels, McNemar's test (no interval), of scikit-learn's table"
    what = ("error_rate", len(problem.truth), ["error_rate"])
    return row(what, best["one"], name, best["theirs"])


def row(
    what: tuple[str, int, list[str]], ours: float, beside: str, theirs: float
) -> tuple[str, ...]:
    work, n, measures = what
    held, in_all = peak_in_a_process(n, measures)
    return (
        *(work, f"{n:,}", seconds(ours), mebibytes(held), mebibytes(in_all)),
        *(beside, seconds(theirs), f"{theirs / ours:.3g}"),
    )


def peak_in_a_process(n: int, measures: list[str]) -> tuple[int, int]:
    """Measure in a process of its own: what others have freed must not serve this one."""
    words = [sys.executable, "-c", PEAK, str(n), *measures]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    above, in_all = done.stdout.split()
    return int(above), int(in_all)


def peak(n: int, measures: list[str]) -> tuple[int, int]:
    """Give the highest resident memory, above what data and libraries take, and in all."""
    Problem.of(min(n, 2 * 10**5)).compared(measures)  # loads libraries, and what is compiled
    problem = Problem.of(n)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    before = status("VmRSS")
    problem.compared(measures)
    highest = status("VmHWM")
    return highest - before, highest


def status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def mebibytes(value: int) -> str:
    return f"{value / 2**20:.0f} MiB"


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
