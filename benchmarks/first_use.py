"""What the first call costs in a new process, beside the second: nothing is compiled on the way."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from statistics import median

TITLE = "First use: the first and the second call in a new process"
COLUMNS = ("work", "imports", "first", "second", "first / second", "goal", "met")
GOAL = 1.3
CALL = """
import time

start = time.perf_counter()
import numpy as np
import truerisk as tr
{imports}
imported = time.perf_counter() - start
rng = np.random.default_rng(1)
{data}
times = []
for _ in range(2):
    start = time.perf_counter()
    {call}
    times.append(time.perf_counter() - start)
print(imported, *times)
"""
XY = "X = rng.standard_normal(({n}, 5)); y = (X[:, 0] + rng.standard_normal({n}) > 0).astype(int)"
WORK = {
    "tr.leave_one_out, n = 300": (
        "tr.leave_one_out, tr.KernelSVM",
        XY.format(n=300),
        "tr.leave_one_out(tr.KernelSVM(), X, y)",
    ),
    "tr.perturbation, n = 200": (
        "tr.perturbation, tr.LinearSVM",
        XY.format(n=200),
        "tr.perturbation(tr.LinearSVM(), X, y, random_state=1)",
    ),
    "tr.evaluate, 100,000 rows": (
        "tr.evaluate",
        "y = rng.random(100_000) < 0.3; s = y + rng.standard_normal(100_000)",
        "tr.evaluate(y, s > 0.5, y_score=s, random_state=1)",
    ),
}


def rows(quick: bool = False) -> Iterator[tuple[str, ...]]:  # noqa: FBT001, FBT002
    for work, (imports, data, call) in WORK.items():
        program = CALL.format(imports=imports, data=data, call=call)
        times = [_run(program) for _ in range(1 if quick else 7)]
        imported, first, second = (median(column) for column in zip(*times, strict=True))
        ratio = first / second
        yield (
            work,
            f"{imported:.2f} s",
            f"{first:.3f} s",
            f"{second:.3f} s",
            f"{ratio:.2f}",
            f"≤ {GOAL:g}",
            "yes" if ratio <= GOAL else "NO",
        )


def _run(program: str) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder}
        ended = subprocess.run(  # noqa: S603
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
    return [float(word) for word in ended.stdout.split()]


if __name__ == "__main__":
    for row in (COLUMNS, *rows()):
        print(" | ".join(row))
