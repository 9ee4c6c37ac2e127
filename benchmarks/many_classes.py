"""tr.evaluate beside scikit-learn's measures: two classes with scores, many classes, label sets."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from benchmarks.ranks_at_scale import best_of
from truerisk.evaluation import evaluate

TITLE = (
    "tr.evaluate, every measure with its interval, beside scikit-learn's measures without: ten of "
    "two classes with scores; accuracy, three macro and three micro averages, MCC, κ and the "
    "confusion matrix of many classes; the expert's by one table of counts (NumPy)"
)
COLUMNS = (
    *("work", "examples", "truerisk", "scikit-learn", "ratio", "expert, no intervals", "ratio"),
    *("largest process", "goal"),
)
Labels = NDArray[np.int64]
MANY = ((100, 10**4), (100, 10**5), (100, 10**6), (1000, 10**4), (1000, 10**5), (1000, 10**6))
MANY_CLASSES = ((100, 10**6), (1000, 10**6), (3000, 10**6), (10_000, 10**6))
GOALS = {100: "≥ 1", 1000: "≥ 3 at 1,000,000"}

PEAK = """
import sys
from benchmarks.many_classes import many
from benchmarks.page import peak
from truerisk.evaluation import evaluate
evaluate(*many(int(sys.argv[1]), int(sys.argv[2])))
print(peak())
"""


def two_classes(n: int) -> tuple[Labels, Labels, NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    truth = (rng.random(n) < 0.2).astype(np.int64)
    score = 1.3 * truth + rng.standard_normal(n)
    return truth, (score > 1).astype(np.int64), score


def ten_measures(truth: Labels, called: Labels, score: NDArray[np.float64]) -> None:
    for one in (
        metrics.accuracy_score,
        metrics.precision_score,
        metrics.recall_score,
        metrics.f1_score,
        metrics.balanced_accuracy_score,
        metrics.matthews_corrcoef,
        metrics.cohen_kappa_score,
        metrics.jaccard_score,
    ):
        one(truth, called)
    metrics.roc_auc_score(truth, score)
    metrics.average_precision_score(truth, score)


def many(classes: int, n: int) -> tuple[Labels, Labels]:
    """Draw classes of which some are ten times as frequent as others, four of five right."""
    rng = np.random.default_rng(classes + n)
    shares = 1 / np.arange(10, classes + 10) ** 0.7
    truth, guess = rng.choice(classes, size=(2, n), p=shares / shares.sum())
    return truth, np.where(rng.random(n) < 0.8, truth, guess)


def of_many(truth: Any, called: Any) -> None:
    for average in ("macro", "micro"):
        for one in (metrics.precision_score, metrics.recall_score, metrics.f1_score):
            one(truth, called, average=average, zero_division=0)
    metrics.accuracy_score(truth, called)
    metrics.matthews_corrcoef(truth, called)
    metrics.cohen_kappa_score(truth, called)
    metrics.confusion_matrix(truth, called)


def by_one_table(truth: Labels, called: Labels, classes: int) -> None:
    """Compute the same by hand: what an expert would write, no intervals."""
    pairs, counts = np.unique(truth * classes + called, return_counts=True)
    true, said = np.divmod(pairs, classes)
    right = np.where(true == said, counts, 0)
    tp, t, p = (
        np.bincount(codes, weights=one, minlength=classes)
        for codes, one in ((true, right), (true, counts), (said, counts))
    )
    n, agreed, chance = len(truth), tp.sum(), float(t @ p)
    shares = [tp / np.maximum(one, 1) for one in (t, p, (t + p) / 2)]
    _ = [one.mean() for one in shares], agreed / n, (agreed * n - chance) / (n**2 - chance)
    _ = (agreed * n - chance) / math.sqrt((n**2 - float(p @ p)) * (n**2 - float(t @ t)))


def label_sets(n: int, classes: int) -> tuple[Labels, Labels]:
    """Draw label sets of a long tail, about three labels each; one decision of 200 is wrong."""
    rng = np.random.default_rng(5)
    truth = rng.random((n, classes)) < 0.3 / np.arange(1, classes + 1) ** 0.55
    wrong = rng.random(truth.shape) < 0.005
    return truth.astype(np.int64), (truth ^ wrong).astype(np.int64)


def of_sets(truth: Labels, called: Labels) -> None:
    for average in ("macro", "micro", "weighted", "samples"):
        for one in (
            metrics.precision_score,
            metrics.recall_score,
            metrics.f1_score,
            metrics.jaccard_score,
        ):
            one(truth, called, average=average, zero_division=0)
    metrics.accuracy_score(truth, called)
    metrics.hamming_loss(truth, called)


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    evaluate(*two_classes(100)[:2])  # loads what is loaded once
    for n in (1000,) if quick else (10**3, 10**4, 10**5):
        truth, called, score = two_classes(n)
        yield row(
            "two classes with scores",
            n,
            lambda t=truth, c=called, s=score: evaluate(t, c, y_score=s),
            lambda t=truth, c=called, s=score: ten_measures(t, c, s),
            goal="≥ 1; 10-25 ms",
        )
    for classes, n in MANY[:1] if quick else MANY:
        yield of_classes(classes, n)
    if not quick:
        yield growth("classes, 1,000,000 examples", MANY_CLASSES, "exponent ≤ 1.1")
        yield growth("examples, 1,000 classes", MANY[3:], "")
        yield of_classes(10_000, 10**6)
    n = 1000 if quick else 10_000
    truth, called = label_sets(n, 90)
    yield row(
        "label sets of 90 labels",
        n,
        lambda: evaluate(truth, called, multilabel=True),
        lambda: of_sets(truth, called),
        goal="≥ 5",
    )


def of_classes(classes: int, n: int) -> tuple[str, ...]:
    truth, called = many(classes, n)
    return row(
        f"{classes:,} classes",
        n,
        lambda: evaluate(truth, called),
        lambda: of_many(truth, called),
        expert=lambda: by_one_table(truth, called, classes),
        memory=f"{peak_of(classes, n):.0f} MB",
        goal=GOALS.get(classes, "works"),
    )


def row(
    work: str,
    n: int,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    expert: Callable[[], object] | None = None,
    memory: str = "–",
    goal: str,
) -> tuple[str, ...]:
    ours()
    own, peer = best_of(ours, theirs)
    by_hand = ("–", "–")
    if expert is not None:
        fast = best_of(ours, expert)[1]
        by_hand = (milliseconds(fast), f"{fast / own:.3g}")
    ratio = f"{peer / own:.3g}"
    return (work, f"{n:,}", milliseconds(own), milliseconds(peer), ratio, *by_hand, memory, goal)


def growth(what: str, sizes: tuple[tuple[int, int], ...], goal: str) -> tuple[str, ...]:
    """Fit the exponent of the time, by least squares of the logarithms."""
    times = []
    for classes, n in sizes:
        truth, called = many(classes, n)
        times.append(best_of(lambda t=truth, c=called: evaluate(t, c), lambda: None)[0])
    at = 0 if len({classes for classes, _ in sizes}) > 1 else 1
    exponent = np.polyfit(np.log([one[at] for one in sizes]), np.log(times), 1)[0]
    listed = ", ".join(f"{one[at]:,}" for one in sizes)
    taken = ", ".join(map(milliseconds, times))
    return (f"growth with {what}", listed, taken, "–", f"{exponent:.2f}", "–", "–", "–", goal)


def peak_of(classes: int, n: int) -> float:
    """Give the largest memory of a process that does nothing else, in MB."""
    words = [sys.executable, "-c", PEAK, str(classes), str(n)]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)  # noqa: S603


def milliseconds(taken: float) -> str:
    return f"{1000 * taken:.3g} ms"


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
