"""Rankings beside scikit-learn: in memory, and from Parquet."""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.metrics import average_precision_score, roc_auc_score

from truerisk.tallies.ranking import rank
from truerisk.tallies.score_tally import ScoreTally

TITLE = "AUC, average precision, best F1, KS, breakeven, 11-point and DeLong variance, exactly"
COLUMNS = ("work", "rows", "truerisk", "beside", "time beside", "ratio", "extra memory")

REPEATS = 5
SLOW = 20.0  # seconds; what takes longer beside us is timed once


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    sizes = [10**6] if quick else [10**6, 10**7, 10**8]
    for n in sizes:
        yield _in_memory(n, np.float32)
    yield _in_memory(10**6 if quick else 10**7, np.float64)
    yield _from_parquet(10**6 if quick else 10**8)


def problem(n: int, kind: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    positive = rng.random(n, dtype=np.float32) < 0.3
    scores = rng.standard_normal(n, dtype=kind)
    scores += positive
    return scores, positive


def best_of(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Time both in turn, and keep the best of each; ours has run before."""
    first, second = [], []
    for _ in range(REPEATS):
        first.append(seconds(ours))
        if not second or second[0] < SLOW:
            second.append(seconds(theirs))
    return min(first), min(second)


def seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def extra_bytes(work: Callable[[], Any]) -> int | None:
    """Give the peak of resident memory while working, over what there was before (Linux)."""
    work()  # so that the compiler and its libraries are loaded, and not counted
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def row(  # noqa: PLR0917
    work: str, n: int, ours: float, beside: str, theirs: float, memory: int | None
) -> tuple[str, ...]:
    held = "–" if memory is None else f"{memory / n:.1f} bytes a row"
    return (
        work,
        f"{n:.0e}",
        f"{1000 * ours:.3g} ms",
        beside,
        f"{1000 * theirs:.4g} ms",
        f"{theirs / ours:.3g}",
        held,
    )


def _in_memory(n: int, kind: Any) -> tuple[str, ...]:
    scores, positive = problem(n, kind)

    def theirs() -> None:
        roc_auc_score(positive, scores)
        average_precision_score(positive, scores)

    memory = extra_bytes(lambda: rank(scores, positive))
    ours, beside = best_of(lambda: rank(scores, positive), theirs)
    name = f"{np.dtype(kind).name} in memory"
    return row(name, n, ours, "scikit-learn, AUC + AP", beside, memory)


def _from_parquet(n: int) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.parquet"
        scores, positive = problem(n, np.float32)
        parquet.write_table(pa.table({"label": positive, "score": scores}), path)
        del scores, positive

        def ours() -> None:
            tally = ScoreTally()
            for batch in parquet.ParquetFile(path).iter_batches(2**20):
                label, score = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
                tally.add(score, label)
            tally.ranking()

        def scan() -> None:
            for _ in parquet.ParquetFile(path).iter_batches(2**20):
                pass

        memory = extra_bytes(ours)
        mine, theirs = best_of(ours, scan)
    return row("from Parquet, float32", n, mine, "pyarrow, one bare scan", theirs, memory)


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
