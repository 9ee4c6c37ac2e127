"""Two models compared by their predictions, beside resampling with scikit-learn's metrics."""

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)
from statsmodels.stats.contingency_tables import mcnemar

from benchmarks.perturbation import fastest, seconds
from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.comparisons import Comparisons

TITLE = (
    "Two models with scores compared by tr.compare, beside paired resampling with scikit-learn "
    "(1,000 replicates, timed on a few) and statsmodels"
)
COLUMNS = (
    *("work", "examples", "truerisk", "beside", "it takes", "ratio"),
    *("memory above the data", "peak in all"),
)

REPLICATES = 1000
PATIENCE = 6.0  # seconds; what has taken as long in all is not run again
ROWS_RESAMPLED = 3 * 10**6  # of each peer, in its few replicates
DISCORD = 0.8  # how much of a model's noise is its own
SHARE = 0.3  # of positives

PEAK = """
import sys
from benchmarks.comparison import peak
print(*peak(int(sys.argv[1])))
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


def difference_of_f1(problem: Problem, drawn: Any) -> float:
    truth = problem.truth[drawn]
    first, second = (float(f1_score(truth, calls[drawn])) for calls in problem.calls)
    return second - first


def difference_of_areas(problem: Problem, drawn: Any) -> float:
    truth = problem.truth[drawn]
    first, second = (float(roc_auc_score(truth, score[drawn])) for score in problem.scores)
    return second - first


BOOTSTRAPPED = {"f1": difference_of_f1, "roc_auc": difference_of_areas}


def mcnemar_of_statsmodels(problem: Problem) -> float:
    right = [calls == problem.truth for calls in problem.calls]
    table = confusion_matrix(*right, labels=[False, True])
    return float(mcnemar(table, exact=False, correction=False).pvalue)


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    Problem.of(1000).compared([])  # loads what is loaded once
    for n in (1000, 2000) if quick else (10**4, 10**6):
        yield from beside(Problem.of(n))
    yield from goals((1000, 2000) if quick else (10**4, 10**5, 10**6))


def goals(sizes: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
    """Time whole comparisons beside the expert's few measures, and fit how they grow."""
    taken: dict[str, list[float]] = {}
    for n in sizes:
        problem = Problem.of(n)
        rng = np.random.default_rng(4)
        five = [problem.scores[0] + 0.3 * rng.standard_normal(n) for _ in range(5)]
        works: dict[str, Callable[[], object]] = {
            "two models with scores": partial(problem.compared, []),
            "two models, no scores": partial(compare, problem.truth, *problem.calls),
            "the choice by AUC": partial(problem.compared, ["roc_auc"]),
            "by hand": partial(by_hand, problem),
        }
        if n == sizes[-1]:
            works["five models with scores"] = partial(
                compare, problem.truth, *((one > 1).astype(int) for one in five), scores=five
            )
        best = fastest(works, patience=PATIENCE)
        for work in works:
            if work == "by hand":
                continue
            taken.setdefault(work, []).append(best[work])
            name = f"DeLong, average precision, five measures by hand (goal: {GOALS[work]})"
            yield (work, f"{n:,}", *against(best[work], name, best["by hand"]), "–", "–")
    for work, times in taken.items():
        if len(times) > 1:
            exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
            listed = ", ".join(f"{n:,}" for n in sizes)
            yield (f"growth of: {work}", listed, *("–",) * 3, f"exponent {exponent:.2f}", "–", "–")


GOALS = {
    "two models with scores": "0.4, 0.5 and 1.0 s",
    "two models, no scores": "0.1 s at 1,000,000",
    "the choice by AUC": "none",
    "five models with scores": "3 s",
}


def by_hand(problem: Problem) -> None:
    """Compare as an expert would, by SciPy's ranks and scikit-learn's measures."""
    truth = problem.truth.astype(bool)
    placed = []
    for score in problem.scores:
        every, own, others = (rankdata(one) for one in (score, score[truth], score[~truth]))
        of_positives = (every[truth] - own) / len(others)
        placed.append((of_positives, 1 - (every[~truth] - others) / len(own)))
        average_precision_score(truth, score)
    for side in zip(*placed, strict=True):
        np.cov(*side)
    for calls in problem.calls:
        for one in (accuracy_score, precision_score, recall_score, f1_score, matthews_corrcoef):
            one(truth, calls)
    mcnemar_of_statsmodels(problem)


def beside(problem: Problem) -> Iterator[tuple[str, ...]]:
    """Time each measure beside its peer, and all measures at once beside each of them."""
    n, rng = len(problem.truth), np.random.default_rng(1)
    few = int(np.clip(ROWS_RESAMPLED // n, 3, 50))
    last: dict[str, Comparisons] = {}

    def ours(measure: str) -> None:
        last[measure] = problem.compared([measure] if measure != "all" else [])

    def loop(replicate: Replicate) -> None:
        for _ in range(few):
            replicate(problem, rng.integers(0, n, n))

    works: dict[str, Callable[[], object]] = {}
    for measure, replicate in BOOTSTRAPPED.items():
        works[measure] = partial(ours, measure)
        works[f"{measure}, beside"] = partial(loop, replicate)
    works["error_rate"] = partial(ours, "error_rate")
    works["error_rate, beside"] = partial(mcnemar_of_statsmodels, problem)
    works["all"] = partial(ours, "all")
    best = fastest(works, patience=PATIENCE)
    for measure, replicate in BOOTSTRAPPED.items():
        found = last[measure][measure].difference.value
        if not np.isclose(found, replicate(problem, slice(None))):
            raise AssertionError("The two sides must compare the same models.")
    above, in_all = peak_in_a_process(n)
    memory = (mebibytes(above), mebibytes(in_all))
    for measure in BOOTSTRAPPED:
        name = f"scikit-learn, paired bootstrap of {measure}"
        theirs = best[f"{measure}, beside"] * REPLICATES / few
        yield (measure, f"{n:,}", *against(best[measure], name, theirs), "–", "–")
        every = f"all {len(last['all'].pairs)} measures"
        yield (every, f"{n:,}", *against(best["all"], name, theirs), *memory)
    name = "statsmodels, McNemar's test (no interval), of scikit-learn's table"
    theirs = best["error_rate, beside"]
    yield ("error_rate", f"{n:,}", *against(best["error_rate"], name, theirs), "–", "–")


def against(ours: float, beside_name: str, theirs: float) -> tuple[str, str, str, str]:
    return seconds(ours), beside_name, seconds(theirs), f"{theirs / ours:.3g}"


def peak_in_a_process(n: int) -> tuple[int, int]:
    """Measure in a process of its own: what others have freed must not serve this one."""
    words = [sys.executable, "-c", PEAK, str(n)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    above, in_all = done.stdout.split()
    return int(above), int(in_all)


def peak(n: int) -> tuple[int, int]:
    """Give the highest resident memory, above what data and libraries take, and in all."""
    Problem.of(min(n, 10**4)).compared([])  # loads libraries, and what is compiled
    problem = Problem.of(n)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    before = status("VmRSS")
    problem.compared([])
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
