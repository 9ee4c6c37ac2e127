"""Confusion tables beside scikit-learn and NumPy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from benchmarks.ranks_at_scale import best_of, extra_bytes
from truerisk.tallies.counting import count_labels, count_pairs

TITLE = "Confusion table of two columns of integer labels"
COLUMNS = ("labels", "rows", "truerisk", "scikit-learn", "NumPy", "ratios", "extra memory")


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    n = 10**6 if quick else 10**7
    for classes, kind in ((2, np.int64), (2, np.int8), (10, np.int64), (100, np.int32)):
        yield _table(n, classes, kind)


def _table(n: int, classes: int, kind: Any) -> tuple[str, ...]:
    rng = np.random.default_rng(0)
    first = rng.integers(0, classes, n, dtype=kind)
    second = np.where(rng.random(n) < 0.1, rng.integers(0, classes, n, dtype=kind), first)

    def expert() -> Any:
        codes = first.astype(np.int64) * classes + second
        return np.bincount(codes, minlength=classes**2)

    memory = extra_bytes(lambda: count_labels(first, second))
    discovering, sklearn_time = best_of(
        lambda: count_labels(first, second), lambda: confusion_matrix(first, second)
    )
    counting, numpy_time = best_of(lambda: count_pairs(first, second, classes, classes), expert)
    ratios = f"{sklearn_time / discovering:.3g}; {numpy_time / counting:.3g}"
    return (
        f"{classes}, {np.dtype(kind).name}",
        f"{n:.0e}",
        f"{1000 * discovering:.3g} ms; codes known: {1000 * counting:.3g} ms",
        f"{1000 * sklearn_time:.4g} ms",
        f"{1000 * numpy_time:.4g} ms",
        ratios,
        "–" if memory is None else f"{memory / n:.1f} bytes a row",
    )


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
