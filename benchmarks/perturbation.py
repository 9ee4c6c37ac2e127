"""Perturbation resampling, in training and over folds, beside loops over scikit-learn's SVC."""

import gc
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.leave_one_out_sets import Array, Data, from_file
from truerisk.estimation.svm.perturbation import perturbation
from truerisk.svm.weighted_refits import decisions_under

TITLE = (
    "Perturbation resampling, 1,000 replicates, C = 1, beside loops over SVC (tolerance 1e-3), "
    "which are timed on a sample of fits: one thread beside one, then two beside two"
)
COLUMNS = (
    *("losses", "data, kernel", "n × d", "all refits", "SVC loop", "ratio"),
    *("refits by two threads", "tr.perturbation by two", "SVC loop by two", "ratio"),
    *("SVC(precomputed), Gram free, one or two threads", "ratio"),
    *("signs unlike SVC's at 1e-9", "goal", "met"),
)

KERNELS = {
    "linear": SVC(kernel="linear"),
    "cubic": SVC(kernel="poly", degree=3, coef0=1.0),  # gamma="scale", as in the third
    "RBF": SVC(kernel="rbf"),
}
FOLDS = 5
BEST_OF = 3
PATIENCE = 1.0  # seconds; what has taken as long in all is not run again
CHECKED = 2  # replicates whose signs are compared
CLEAR = 1e-6  # decision values nearer to 0 than this are of no side
MAX_ITER = 5 * 10**5  # of a fit at the tolerance 1e-9; what is not finished by then is told
LEAST, MEDIAN, MEDIAN_PRECOMPUTED, MEDIAN_FOLDS = 20, 60, 30, 50  # times faster
SMALL, SMALL_SECONDS = (100, 10), 0.3  # examples and features, and what their folds may take


@dataclass(frozen=True)
class Amount:
    """How much is run."""

    replicates: int = 1000
    fits: int = 25  # that the loops are timed on
    sizes: tuple[int, ...] = (50, 100, 200, 400, 600)
    features: tuple[int, ...] = (2, 10, 54)
    files: tuple[str, ...] = ("banana", "ringnorm", "twonorm", "covtype_binary")
    sizes_of_files: tuple[int, ...] = (150, 500)


QUICK = Amount(100, 10, (100,), (2, 10), ("banana",), (60,))


@dataclass(frozen=True)
class Times:
    """What the two sides took for all replicates, in seconds, by one thread and by two.

    `refits` is ours for what the loops do; `whole` is `tr.perturbation` by two threads, with its
    folds besides.
    """

    refits: float
    refits_by_two: float
    whole: float
    loop: float
    loop_by_two: float
    precomputed: float = np.nan
    precomputed_by_two: float = np.nan

    @property
    def expert(self) -> float:
        """The better of one thread and two, on a Gram matrix that is there."""
        return min(self.precomputed, self.precomputed_by_two)

    def cells(self, goal: float | None, signs: str) -> tuple[str, ...]:
        """Write them with their ratios; the goal is for the loop on one thread."""
        known = not np.isnan(self.expert)
        return (
            *(seconds(self.refits), seconds(self.loop), times(self.loop / self.refits)),
            *(seconds(self.refits_by_two) if known else "–", seconds(self.whole)),
            *(seconds(self.loop_by_two), times(self.loop_by_two / self.refits_by_two)),
            *((seconds(self.expert), times(self.expert / self.refits_by_two)) if known else "––"),
            *(signs, *judged(self.loop / self.refits, goal)),
        )


class Threads:
    """Two threads that are there before they are timed; libsvm lets both work at once."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(2)

    def __call__(self, loop: Callable[[Array], object], weights: Array) -> None:
        """Run a loop over replicates by both."""
        list(self.pool.map(loop, np.array_split(weights, 4)))


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    amount = QUICK if quick else Amount()
    threads = Threads()
    with threadpool_limits(1):
        for machine in KERNELS.values():  # loads and compiles what is loaded and compiled once
            small = generated(50, 2)
            for losses in ("training", "cross_validated"):
                perturbation(machine, small.X, small.y, replicates=100, losses=losses, n_jobs=2)
        found = []
        for data in (*generated_sets(amount), *files(amount)):
            for kernel, machine in KERNELS.items():
                taken, signs = training(data, machine, amount, threads)
                found.append(taken)
                yield ("training", *named(data, kernel), *taken.cells(LEAST, signs))
        yield from in_all("training", found, MEDIAN)
        found = []
        for data in generated_sets(amount):
            for kernel, machine in KERNELS.items():
                taken = folded(data, machine, amount, threads)
                found.append(taken)
                yield ("5 folds", *named(data, kernel), *taken.cells(None, "–"))
                if data.X.shape == SMALL:
                    yield few_seconds(data, kernel, taken.whole)
        yield from in_all("5 folds", found, MEDIAN_FOLDS)


def generated_sets(amount: Amount) -> Iterator[Data]:
    for n in amount.sizes:
        for d in amount.features:
            yield generated(n, d)


def generated(n: int, d: int) -> Data:
    """Draw two normal classes, as far apart as makes 16 % errors unavoidable."""
    rng = np.random.default_rng([20, n, d])
    y = rng.permutation(np.repeat([-1.0, 1.0], [n - n // 2, n // 2]))
    return Data("two normals", rng.standard_normal((n, d)) + y[:, None] / np.sqrt(d), y)


def files(amount: Amount) -> Iterator[Data]:
    folder = os.environ.get("TRUERISK_DATA")
    for name in amount.files if folder else ():
        most = max(amount.sizes_of_files)
        data = from_file(Path(str(folder)) / "tabular" / f"{name}.csv.gz", most)
        order = np.random.default_rng(1).permutation(len(data.y))
        for n in amount.sizes_of_files:
            yield Data(name, np.ascontiguousarray(data.X[order[:n]]), data.y[order[:n]])


def training(data: Data, machine: SVC, amount: Amount, threads: Threads) -> tuple[Times, str]:
    """Time the losses in training: each replicate one machine, which calls all examples."""
    X, y, everyone = data.X, data.y, np.arange(len(data.y))
    weights = even(np.random.default_rng(2).exponential(size=(amount.replicates, len(y))))
    gram = gram_of(X, machine)
    precomputed = SVC(kernel="precomputed")

    def loop(some: Array) -> None:
        refit(machine, X, y, some)

    def loop_precomputed(some: Array) -> None:
        refit(precomputed, gram, y, some)

    def ours(workers: int = 1) -> Array:
        return decisions_under(machine, X, y, everyone, weights, workers=workers)

    few = weights[: amount.fits]
    best = fastest(
        {
            "refits": ours,
            "refits by two": lambda: ours(2),
            "loop": lambda: loop(few),
            "loop by two": lambda: threads(loop, few),
            "whole": lambda: whole(data, machine, amount, "training", 2),
            "precomputed": lambda: loop_precomputed(few),
            "precomputed by two": lambda: threads(loop_precomputed, few),
        }
    )
    share = amount.replicates / len(few)
    taken = Times(
        best["refits"],
        best["refits by two"],
        best["whole"],
        share * best["loop"],
        share * best["loop by two"],
        share * best["precomputed"],
        share * best["precomputed by two"],
    )
    return taken, signs_unlike(machine, data, weights, ours())


def folded(data: Data, machine: SVC, amount: Amount, threads: Threads) -> Times:
    """Time the cross-validated losses: each replicate a machine for each fold."""
    X, y = data.X, data.y
    weights = np.random.default_rng(2).exponential(size=(amount.replicates, len(y)))
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))

    def loop(some: Array) -> None:
        own = clone(machine)
        for train, test in splits:
            for weight in even(some[:, train]):
                own.fit(X[train], y[train], sample_weight=weight).decision_function(X[test])

    few = weights[: amount.fits // FOLDS]
    best = fastest(
        {
            "one": lambda: whole(data, machine, amount, "cross_validated", 1),
            "whole": lambda: whole(data, machine, amount, "cross_validated", 2),
            "loop": lambda: loop(few),
            "loop by two": lambda: threads(loop, few),
        }
    )
    share = amount.replicates / len(few)
    ours = (best["one"], best["whole"], best["whole"])
    return Times(*ours, share * best["loop"], share * best["loop by two"])


def whole(data: Data, machine: SVC, amount: Amount, losses: Any, jobs: int) -> object:
    return perturbation(
        machine,
        data.X,
        data.y,
        replicates=amount.replicates,
        losses=losses,
        random_state=1,
        n_jobs=jobs,
    )


def even(weights: Array) -> Array:
    made: Array = np.ascontiguousarray(weights) / weights.mean(axis=1, keepdims=True)
    return made


def gram_of(X: Array, machine: SVC) -> Array:
    options = {"gamma": 1.0 / (X.shape[1] * X.var())}
    options |= (
        {"degree": machine.degree, "coef0": machine.coef0} if machine.kernel == "poly" else {}
    )
    gram: Array = pairwise_kernels(
        X, metric=machine.kernel, **({} if machine.kernel == "linear" else options)
    )
    return gram


def refit(machine: SVC, X: Array, y: Array, weights: Array) -> None:
    own = clone(machine)
    for weight in weights:
        own.fit(X, y, sample_weight=weight).decision_function(X)


def signs_unlike(machine: SVC, data: Data, weights: Array, ours: Array) -> str:
    """Count the calls that an SVC all but exact makes otherwise, of those that are clear."""
    differing = compared = unfinished = 0
    tight = clone(machine).set_params(tol=1e-9, max_iter=MAX_ITER)
    for at in np.linspace(0, len(weights) - 1, CHECKED).astype(int):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # it is counted
            tight.fit(data.X, data.y, sample_weight=weights[at])
        if tight.n_iter_[0] >= MAX_ITER:
            unfinished += 1
            continue
        theirs = tight.decision_function(data.X)
        clear = np.abs(theirs) > CLEAR
        compared += int(clear.sum())
        differing += int(np.count_nonzero(((ours[at] > 0) != (theirs > 0)) & clear))
    told = f"{differing} of {compared:,}"
    return f"{told}; SVC did not finish {unfinished} of {CHECKED}" if unfinished else told


def fastest(
    works: Mapping[str, Callable[[], object]], *, patience: float = PATIENCE
) -> dict[str, float]:
    """Time all in turn, several times over; give the best of each, in seconds by the clock."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(BEST_OF):
        for name, work in works.items():
            if sum(taken[name]) < patience:
                gc.collect()
                start = time.perf_counter()
                work()
                taken[name].append(time.perf_counter() - start)
    return {name: min(found) for name, found in taken.items()}


def in_all(losses: str, found: list[Times], goal: float) -> Iterator[tuple[str, ...]]:
    """Give the median and the least of the ratios, to every peer."""

    def ratios(peer: str, ours: str = "refits") -> list[float]:
        return [getattr(one, peer) / getattr(one, ours) for one in found]

    told: list[tuple[str, list[float], float | None]] = [
        ("SVC loop", ratios("loop"), goal),
        ("SVC loop, both by two threads", ratios("loop_by_two", "refits_by_two"), None),
    ]
    if losses == "training":
        told += [
            ("SVC(precomputed), one thread", ratios("precomputed"), MEDIAN_PRECOMPUTED),
            ("SVC(precomputed), the better", ratios("expert", "refits_by_two"), MEDIAN_PRECOMPUTED),
            ("SVC loop by two beside tr.perturbation, whole", ratios("loop_by_two", "whole"), None),
        ]
    for name, of_all, aim in told:
        least_aim = LEAST if name == "SVC loop" and losses == "training" else None
        for word, value, sought in (
            ("median", float(np.median(of_all)), aim),
            ("least", min(of_all), least_aim),
        ):
            yield (
                *(losses, f"**{word} of {len(found)}: {name}**", *[""] * 3, f"**{times(value)}**"),
                *(*[""] * 7, *judged(value, sought)),
            )


def few_seconds(data: Data, kernel: str, taken: float) -> tuple[str, ...]:
    return (
        *("5 folds", *named(data, kernel), *[""] * 4, f"{taken:.3f} s", *[""] * 5),
        *(f"< {SMALL_SECONDS} s", "yes" if taken < SMALL_SECONDS else "no"),
    )


def named(data: Data, kernel: str) -> tuple[str, str]:
    n, d = data.X.shape
    return f"{data.name}, {kernel}", f"{n} × {d}"


def judged(ratio: float, goal: float | None) -> tuple[str, str]:
    if goal is None:
        return "–", "–"
    return f"≥ {goal:g}", "yes" if ratio >= goal else "no"


def seconds(value: float) -> str:
    return f"{value:.3g} s"


def times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
