"""Documents to vectors beside scikit-learn, and the way from a file to them."""

import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from benchmarks.ranks_at_scale import best_of
from truerisk.inputs.corpora import read_corpus
from truerisk.text.vectorizer import Vectorizer

TITLE = "Documents to weighted vectors of unit length, one pass to learn and transform"
COLUMNS = ("documents", "step", "truerisk", "peer", "ratio")
PATTERN = r"[^\W\d_]+"  # the same words on both sides


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for count in (2_000,) if quick else (12_902, 100_000):
        texts = generated(count)
        yield from _steps(f"{count:,} generated", texts)
    folder = os.environ.get("TRUERISK_DATA")
    if folder and not quick:
        path = Path(folder) / "text" / "reuters21578_modapte.jsonl.gz"
        corpus = read_corpus(path)
        yield from _steps("Reuters-21578", list(corpus.texts or ()))
        yield _reading("Reuters-21578", path)
    else:
        with TemporaryDirectory() as made:
            path = Path(made) / "corpus.jsonl.gz"
            with gzip.open(path, "wt", encoding="utf-8") as file:
                for text in generated(2_000):
                    file.write(json.dumps({"text": text, "labels": ["a"]}) + "\n")
            yield _reading("2,000 generated", path)


def generated(count: int) -> list[str]:
    """Make documents of 126 words, as long as Reuters' are, whose frequencies fall as 1/rank."""
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (40_000, 12), dtype=np.uint8)
    lengths = rng.integers(2, 12, len(letters))
    words = [
        bytes(row[:length]).decode() for row, length in zip(letters, lengths.tolist(), strict=True)
    ]
    shares = 1 / np.arange(1, len(words) + 1)
    drawn = rng.choice(len(words), (count, 126), p=shares / shares.sum())
    return [" ".join([words[word] for word in row]) for row in drawn.tolist()]


def _steps(name: str, texts: list[str]) -> Iterator[tuple[str, ...]]:
    ours = Vectorizer().fit(texts)
    count = CountVectorizer(token_pattern=PATTERN, min_df=3)
    weigh = TfidfTransformer().fit(count.fit_transform(texts))
    assert ours.words_ == tuple(count.get_feature_names_out())  # noqa: S101 - else no comparison

    def learn_peer() -> object:
        counts = CountVectorizer(token_pattern=PATTERN, min_df=3).fit_transform(texts)
        return TfidfTransformer().fit_transform(counts)

    yield _row(name, "fit_transform", lambda: Vectorizer().fit_transform(texts), learn_peer)
    yield _row(
        name,
        "transform",
        lambda: ours.transform(texts),
        lambda: weigh.transform(count.transform(texts)),
    )


def _row(
    name: str, step: str, ours: Callable[[], object], peer: Callable[[], object]
) -> tuple[str, ...]:
    mine, theirs = best_of(ours, peer)
    return (
        name,
        step,
        f"{1000 * mine:.4g} ms",
        f"{1000 * theirs:.4g} ms, CountVectorizer + TfidfTransformer",
        f"{theirs / mine:.3g}",
    )


def _reading(name: str, path: Path) -> tuple[str, ...]:
    def bare() -> object:
        with gzip.open(path) as file:
            return [json.loads(line) for line in file]

    mine, theirs = best_of(lambda: read_corpus(path), bare)
    start = time.perf_counter()
    Vectorizer().fit_transform(read_corpus(path).texts or ())
    whole = time.perf_counter() - start
    return (
        name,
        f"read .jsonl.gz, checked; with vectors {1000 * whole:.4g} ms",
        f"{1000 * mine:.4g} ms",
        f"{1000 * theirs:.4g} ms, gzip + json.loads, unchecked",
        f"{theirs / mine:.3g}",
    )


if __name__ == "__main__":
    import sys

    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
