"""Kernel SVMs of many examples, beside libsvm with a large cache, each in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from benchmarks.leave_one_out_sets import Data, from_file
from benchmarks.page import peak
from benchmarks.svm_leave_one_out import timed
from truerisk import KernelSVM

TITLE = "KernelSVM, RBF, C = 1, by size, beside SVC(cache_size=2000) at the same tolerance"
COLUMNS = (
    *("data", "n", "tolerance", "truerisk", "gap", "largest process", "SVC", "its largest process"),
    *("ratio", "goal", "met"),
)
SIZES = (5000, 10_000, 20_000)
ALONE = 100_000  # which SVC would take too long for
TOLERANCES = (1e-3, 1e-6)
MAX_MB = 1200.0
ONE = """
import sys
from benchmarks.kernel_svm_sizes import measured
print(*measured(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
"""


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    """Give each table at each size and tolerance, then many examples alone."""
    names = ("covtype_binary", "ijcnn1") if os.environ.get("TRUERISK_DATA") else ("rings",)
    for name in names:
        for n in (3500,) if quick else SIZES:
            for tolerance in TOLERANCES:
                yield row(name, n, tolerance, peer=True)
    if not quick:
        yield row(names[-1], ALONE, TOLERANCES[0], peer=False)


def row(name: str, n: int, tolerance: float, *, peer: bool) -> tuple[str, ...]:
    seconds, gap, memory = in_process("truerisk", name, n, tolerance)
    theirs, _, largest = in_process("SVC", name, n, tolerance) if peer else (np.nan,) * 3
    is_met = memory <= MAX_MB and (not peer or theirs >= 2.0 * seconds)
    return (
        *(name, f"{n:,}", f"{tolerance:g}", f"{seconds:.2f} s", f"{gap:.0e}", f"{memory:.0f} MB"),
        *(f"{theirs:.2f} s" if peer else "–", f"{largest:.0f} MB" if peer else "–"),
        *(f"{theirs / seconds:.2f}" if peer else "–", "≥ 2×, ≤ 1.2 GB" if peer else "≤ 1.2 GB"),
        "yes" if is_met else "no",
    )


def in_process(who: str, name: str, n: int, tolerance: float) -> tuple[float, ...]:
    command = [sys.executable, "-c", ONE, who, name, str(n), str(tolerance)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=True, env=environment
    )
    return tuple(map(float, run.stdout.split()))


def measured(who: str, name: str, n: int, tolerance: float) -> tuple[float, float, float]:
    """Give the seconds of one fit, its gap, and this process's peak in MB."""
    data = examples(name, n)
    gamma = 1.0 / data.X.shape[1]
    if who == "SVC":
        svm = SVC(C=1.0, gamma=gamma, tol=tolerance, cache_size=2000)
        return timed(lambda: svm.fit(data.X, data.y))[1], tolerance, peak()
    ours = KernelSVM(C=1.0, gamma=gamma, tol=tolerance)
    seconds = timed(lambda: ours.fit(data.X, data.y))[1]
    return seconds, ours.gap_, peak()


def examples(name: str, n: int) -> Data:
    """Read a table, or generate one."""
    folder = os.environ.get("TRUERISK_DATA")
    if folder:
        return from_file(Path(folder) / "tabular" / f"{name}.csv.gz", n)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 10))
    noise = 2.0 * rng.standard_normal(n)
    return Data(name, X, np.where((X**2).sum(axis=1) + noise > 10.0, 1.0, -1.0))
