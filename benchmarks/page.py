"""The page of many predictions, beside the four pictures that scikit-learn draws of them."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from truerisk.evaluation import evaluate
from truerisk.results import Evaluation

TITLE = (
    "The page (verdict, measures, explorer, six curves with bands), beyond scoring, beside "
    "scikit-learn's displays of ROC, precision-recall, calibration and confusion as PNG, no "
    "intervals"
)
COLUMNS = (
    *("predictions", "classes", "scored in", "page in", "size", "largest process"),
    *("displays in", "ratio"),
)
SIZES = ((10**4, 2), (10**6, 2), (10**6, 100))
MEGABYTE = 1e6

ONE = """
import sys
from benchmarks.page import measured
print(*measured(int(sys.argv[1]), int(sys.argv[2])))
"""


def rows(*, quick: bool) -> Iterator[tuple[str, ...]]:
    for n, classes in SIZES[:1] if quick else SIZES:
        command = [sys.executable, "-c", ONE, str(n), str(classes)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        scored, paged, size, largest = map(float, run.stdout.split())
        peer = displays(n) if classes == 2 else None
        yield (
            f"{n:,}",
            str(classes),
            f"{scored:.2f} s",
            f"{paged:.2f} s",
            f"{size / MEGABYTE:.2f} MB",
            f"{largest:.0f} MB",
            "–" if peer is None else f"{peer:.2f} s",
            "–" if peer is None else f"{peer / paged:.1f}",
        )


def measured(n: int, classes: int) -> tuple[float, float, float, float]:
    """Give the seconds of scoring and of the page, its bytes, and this process's peak in MB."""
    scored, evaluation = timed(lambda: evaluated(n, classes))
    with TemporaryDirectory() as folder:
        paged, page = timed(lambda: evaluation.report().save(Path(folder) / "report.html"))
        size = page.stat().st_size
    return scored, paged, size, peak()


def peak() -> float:
    """Give the largest memory of this process in MB; the system's own record starts with it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def evaluated(n: int, classes: int) -> Evaluation:
    rng = np.random.default_rng(0)
    if classes == 2:
        truth, score = problem(n)
        called = (score >= 0.5).astype(np.int64)
        return evaluate(truth, called, y_score=score, probabilities=True, random_state=1)
    truth = rng.integers(classes, size=n)
    guess = rng.integers(classes, size=n)
    return evaluate(truth, np.where(rng.random(n) < 0.8, truth, guess), random_state=1)


def problem(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    truth = (rng.random(n) < 0.1).astype(np.int64)
    return truth, 1 / (1 + np.exp(-(rng.standard_normal(n) + 2.2 * truth - 2)))


def displays(n: int) -> float:
    """Give the seconds that four of scikit-learn's displays take, drawn and written."""
    from matplotlib.figure import Figure
    from sklearn.calibration import CalibrationDisplay
    from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay

    truth, score = problem(n)
    draw = (
        lambda ax: RocCurveDisplay.from_predictions(truth, score, ax=ax),
        lambda ax: PrecisionRecallDisplay.from_predictions(truth, score, ax=ax),
        lambda ax: CalibrationDisplay.from_predictions(truth, score, n_bins=10, ax=ax),
        lambda ax: ConfusionMatrixDisplay.from_predictions(truth, score >= 0.5, ax=ax),
    )

    def all_of_them() -> None:
        with TemporaryDirectory() as folder:
            for at, one in enumerate(draw):
                figure = Figure()
                one(figure.subplots())
                figure.savefig(Path(folder) / f"{at}.png")

    return min(timed(all_of_them)[0] for _ in range(2))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found
