"""All categories of a text collection from raw text to table: whole processes, and their parts."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TITLE = "Every category of a text collection, raw text to table, in one command"
COLUMNS = ("collection", "step", "seconds", "goal", "met")
COLLECTIONS = ("reuters21578_modapte", "webkb4", "ohsumed_single23")
GOAL = 10.0
PATTERN = r"[^\W\d_]+"  # the same words as ours


def rows(quick: bool = False) -> Iterator[tuple[str, ...]]:  # noqa: FBT001, FBT002
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        yield ("none: TRUERISK_DATA names no folder", "", "", "", "")
        return
    for name in COLLECTIONS[:1] if quick else COLLECTIONS:
        path = Path(folder) / "text" / f"{name}.jsonl.gz"
        spent = min(_command(path) for _ in range(1 if quick else 3))
        met = "yes" if spent <= GOAL else "NO"
        yield (name, "the whole command", f"{spent:.2f}", f"≤ {GOAL:g} s", met)
        for step, seconds in _steps(path).items():
            yield (name, step, f"{seconds:.2f}", "", "")


def _command(path: Path) -> float:
    """Time a process from start to exit; its first run has compiled what there is to compile."""
    program = str(Path(sys.executable).with_name("truerisk"))
    began = time.perf_counter()
    with tempfile.TemporaryFile() as table:
        subprocess.run([program, "estimate", str(path)], check=True, stdout=table)  # noqa: S603
    return time.perf_counter() - began


def _steps(path: Path) -> dict[str, float]:
    """Time the parts in one process, libraries loaded; the last one is another program's."""
    from truerisk.estimation.corpus.categories import Trained, Training, train_svms
    from truerisk.estimation.corpus.corpus import categories_of, parts_of, truth_of, vectors_of
    from truerisk.inputs.corpora import read_corpus

    corpus, reading = _timed(lambda: read_corpus(path))
    parts = parts_of(len(corpus), corpus.split)
    vectors, vectorising = _timed(lambda: vectors_of(corpus, parts, None, None))
    names = categories_of(corpus.labels, parts, None)
    truth = truth_of(corpus.labels, parts.train, names)
    training = Training(C=0.5, rhos=(1.0, 2.0), workers=2)
    svms, solving = _timed(lambda: train_svms(vectors.train, truth, training, test=vectors.test))
    trained = Trained(
        names=names,
        truth=truth,
        test_truth=truth_of(corpus.labels, parts.test, names) if len(parts.test) else None,
        svms=svms,
    )
    _, estimating = _timed(lambda: _estimates(trained))
    texts = [(corpus.texts or ())[at] for at in parts.train]
    _, peer = _timed(lambda: _scikit_learn(texts, truth))
    return {
        "read": reading,
        "words to vectors": vectorising,
        f"train {len(names)} svms exactly, put at risk": solving,
        "estimates and intervals, ρ = 1, 2 and held out": estimating,
        "scikit-learn: vectors and as many LinearSVC, no estimate": peer,
    }


def _estimates(trained: Any) -> None:
    for wrong in trained.svms.flagged:
        trained.estimates(wrong, "xi_alpha", 0.95)
    trained.held_out(0.95)


def _scikit_learn(texts: list[str], truth: Any) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    X = TfidfVectorizer(token_pattern=PATTERN, min_df=3).fit_transform(texts)
    wanted = [row for row in truth if row.any() and not row.all()]
    with ThreadPoolExecutor(2) as pool:  # LIBLINEAR, too, lets go of the interpreter's lock
        list(pool.map(lambda row: LinearSVC(C=0.5, loss="hinge", tol=1e-3).fit(X, row), wanted))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    best, found = float("inf"), None
    for _ in range(2):
        began = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - began)
    return found, best


if __name__ == "__main__":
    for row in (COLUMNS, *rows()):
        print("  ".join(cell.ljust(30) for cell in row))
