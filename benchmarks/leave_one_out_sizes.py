"""Exact leave-one-out of thousands of examples, beside a loop over SVC on the same Gram matrix."""

import os
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.leave_one_out_sets import Array, Data, from_file, gram_of, sample
from benchmarks.svm_leave_one_out import timed
from truerisk import KernelSVM, LinearSVM, leave_one_out
from truerisk.inputs.corpora import read_corpus
from truerisk.text.vectorizer import Vectorizer

TITLE = (
    "Exact leave-one-out by size, one thread on both sides, beside SVC(precomputed) on a sample of "
    "examples; the goal is for the default intervals"
)
COLUMNS = (
    *("data, kernel, C", "n", "binomial intervals", "with those of 50 refits"),
    *("SVC loop, from a sample", "ratio", "ratio with 50 refits", "exponent in n", "goal", "met"),
)
FILES = ("waveform", "ringnorm", "banana", "covtype_binary", "image", "ijcnn1")
COSTS = (0.1, 1.0, 10.0)
SMALLER, SIZE, LARGER = 1000, 2000, 4000
CATEGORIES = ("student", "course")  # of the longest documents; tuned on the first
TABLE_SIZES = (2300, 4600, 9200)
SAMPLE = 3
MIN_RATIO, MIN_RATIO_OF_TEXT, MAX_EXPONENT, MAX_SECONDS = 300.0, 1000.0, 2.5, 1.3


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    """Give tables by a Gaussian kernel, two sizes of some tables, and long documents."""
    # A second thread of BLAS waits, and its waiting is counted.
    with threadpool_limits(1):
        for size in (200,) if quick else (SMALLER, SIZE):
            for data in data_sets(size):
                yield from (beside(data, "RBF", cost) for cost in COSTS)
        yield from of_two_sizes(quick=quick)
        for data in long_documents(200 if quick else SIZE):
            for cost in COSTS[1:]:
                yield beside(data, "linear", cost, goal=MIN_RATIO_OF_TEXT)


def of_two_sizes(*, quick: bool) -> Iterator[tuple[str, ...]]:
    folder = os.environ.get("TRUERISK_DATA")
    for cost in COSTS if folder and not quick else ():
        yield growth([waveform(str(folder), n) for n in (SIZE, LARGER)], "RBF", cost)
    for cost in COSTS[:1] if quick else COSTS:
        for pair in pairwise((200, 400) if quick else TABLE_SIZES):
            yield growth([skewed(n) for n in pair], "linear", cost)


def long_documents(n: int) -> Iterator[Data]:
    """Give the longest documents of a corpus, some 190 words each, a category against the rest."""
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        return
    corpus = read_corpus(Path(folder) / "text" / "webkb4.jsonl.gz")
    texts = corpus.texts or ()
    longest = np.argsort([-len(text) for text in texts], kind="stable")[:n]
    X = Vectorizer().fit_transform([texts[i] for i in longest])
    for category in CATEGORIES:
        y = np.where(corpus.members(category)[longest], 1.0, -1.0)
        yield Data(f"longest of WebKB, {category}", X, y)


def data_sets(most: int) -> Iterator[Data]:
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        yield skewed(most)
        return
    for name in FILES:
        yield from_file(Path(folder) / "tabular" / f"{name}.csv.gz", most)


def waveform(folder: str, n: int) -> Data:
    return from_file(Path(folder) / "tabular" / "waveform.csv.gz", n)


def skewed(n: int) -> Data:
    """Generate 57 skewed columns, as those of rates of words and lengths of runs."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    lift = rng.standard_normal(57)
    is_likely = np.outer(y, lift) > 0.0
    share = 0.15 + 0.25 * rng.random(57) * np.where(is_likely, 1.6, 0.5)
    X = rng.gamma(0.6, size=(n, 57)) * np.where(is_likely, 1.5, 0.7)
    return sample("57 skewed columns", X * (rng.random((n, 57)) < share), y, n)


def beside(data: Data, kernel: str, cost: float, *, goal: float = MIN_RATIO) -> tuple[str, ...]:
    """Measure one set of data."""
    plain, whole = seconds(data, kernel, cost)
    theirs = loop(data, kernel, cost)
    met = "yes" if theirs / whole >= goal else "no"
    return (
        *(f"{data.name}, {kernel}, {cost:g}", str(len(data.y)), f"{plain:.3f} s", f"{whole:.2f} s"),
        *(f"{theirs:.0f} s", f"{theirs / plain:,.0f}", f"{theirs / whole:,.0f}", "–"),
        *(f"≥ {goal:.0f}×", met),
    )


def growth(pair: list[Data], kernel: str, cost: float) -> tuple[str, ...]:
    """Measure two sizes; the row is that of the larger one, with the exponent between them."""
    (first, _), (plain, whole) = (seconds(data, kernel, cost) for data in pair)
    n, m = (len(data.y) for data in pair)
    exponent = np.log(plain / first) / np.log(m / n)
    theirs = loop(pair[1], kernel, cost)
    goal, is_met = f"exponent ≤ {MAX_EXPONENT}", exponent <= MAX_EXPONENT
    if kernel == "linear" and m == TABLE_SIZES[1]:
        goal, is_met = f"≤ {MAX_SECONDS} s with 50 refits", whole <= MAX_SECONDS
    return (
        *(f"{pair[1].name}, {kernel}, {cost:g}", str(m), f"{plain:.3f} s", f"{whole:.2f} s"),
        *(f"{theirs:.0f} s", f"{theirs / plain:,.0f}", f"{theirs / whole:,.0f}"),
        *(f"{exponent:.1f} from {n}", goal, "yes" if is_met else "no"),
    )


def seconds(data: Data, kernel: str, cost: float) -> tuple[float, float]:
    """Give the time with binomial intervals, and with those of the default."""
    svm = LinearSVM(C=cost) if kernel == "linear" else KernelSVM(C=cost, gamma=1 / data.X.shape[1])

    def work(interval: str) -> Callable[[], object]:
        return lambda: leave_one_out(svm, data.X, data.y, interval=interval)

    plain = min(timed(work("binomial"))[1] for _ in range(3))
    return plain, min(timed(work("variance_components"))[1] for _ in range(3))


def loop(data: Data, kernel: str, cost: float) -> float:
    """Give the time of a loop over all examples, from a sample of them; the Gram matrix is free."""
    is_sparse = hasattr(data.X, "tocsr")
    gram = (data.X @ data.X.T).toarray() if is_sparse else gram_of(data.X, kernel)
    y = data.y

    def refit() -> Array:
        found = []
        for t in np.random.default_rng(0).permutation(len(y))[:SAMPLE]:
            kept = np.delete(np.arange(len(y)), t)
            # On skewed columns libsvm may take hours: it is timed up to a million steps.
            svm = SVC(C=cost, kernel="precomputed", cache_size=2000, max_iter=10**6)
            found.append(svm.fit(gram[np.ix_(kept, kept)], y[kept]).predict(gram[t : t + 1, kept]))
        return np.array(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return timed(refit)[1] * len(y) / SAMPLE
