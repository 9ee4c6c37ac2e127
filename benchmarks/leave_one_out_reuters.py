"""Leave-one-out on Reuters beside libsvm, fitted anew without each of 200 documents."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from truerisk.inputs.corpora import read_corpus
from truerisk.svm.problems import Effort, linear_problem
from truerisk.text.vectorizer import Vectorizer

TITLE = "Leave-one-out on a half of Reuters, C = 0.5, beside cold fits by libsvm (tolerance 1e-6)"
COLUMNS = (
    "category",
    "documents left out, drawn from all with α > 0",
    "errors",
    "signs that differ",
    "largest difference of a margin",
)
CATEGORIES = ("acq", "crude", "ship")
DOCUMENTS = 200
HALF = 6451


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    folder = os.environ.get("TRUERISK_DATA")
    if not folder:
        yield ("TRUERISK_DATA is not set", *(["–"] * 4))
        return
    corpus = read_corpus(Path(folder) / "text" / "reuters21578_modapte.jsonl.gz")
    half = np.sort(np.random.default_rng(2000).permutation(len(corpus.labels))[:HALF])
    texts = corpus.texts or ()
    X = Vectorizer().fit_transform([texts[i] for i in half])
    problem, gram = linear_problem(X), np.asarray((X @ X.T).todense())
    for category in CATEGORIES[:1] if quick else CATEGORIES:
        y = np.where(corpus.members(category)[half], 1.0, -1.0)
        solution = problem.solve(y, np.full(HALF, 0.5), Effort())
        drawn = np.random.default_rng(3).permutation(np.flatnonzero(solution.alpha > 0.0))
        which = np.sort(drawn[: 10 if quick else DOCUMENTS])
        ours = problem.margins_without(solution, which, workers=2)
        theirs = np.array([cold(gram, y, int(i)) for i in which])
        yield (
            category,
            str(len(which)),
            str(int(np.sum(ours < 0.0))),
            str(int(np.sum((ours > 0.0) != (theirs > 0.0)))),
            f"{np.abs(ours - theirs).max():.1e}",
        )


def cold(gram: np.ndarray, y: np.ndarray, i: int) -> float:
    kept = np.flatnonzero(np.arange(len(y)) != i)
    machine = SVC(C=0.5, kernel="precomputed", tol=1e-6).fit(gram[np.ix_(kept, kept)], y[kept])
    return float(y[i] * machine.decision_function(gram[i : i + 1, kept])[0])
