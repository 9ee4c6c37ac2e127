"""Small collections, written in the form the real ones have."""

import gzip
import json

import numpy as np
import pytest


@pytest.fixture
def write_collection(tmp_path):
    """Write a collection of documents made of a few words of their category and of noise.

    Half of the words of a document are those of its labels; the rest are common to all, so that
    some documents are hard.
    """

    def write(stem, labels, size, *, more=None, seed=0, ending=".jsonl.gz"):
        rng = np.random.default_rng(seed)
        lines = []
        for number in range(size):
            own = [label for label in labels if rng.random() < 1.2 / len(labels)]
            marked = [f"{_letters(label)}{word}" for label in own for word in "abcd"]
            noise = [f"word{_letters(str(word))}" for word in rng.integers(0, 30, 12)]
            rare = f"rare{_letters(str(number // 5))}"  # in five documents, in two or three a half
            words = [*(rng.choice(marked, 4) if marked else []), *noise, rare]
            record = {"id": str(number), "split": None, "labels": own, "text": " ".join(words)}
            lines.append(json.dumps(record | (more(number) if more else {})) + "\n")
        path = tmp_path / f"{stem}{ending}"
        opened = gzip.open if ending.endswith("gz") else open
        with opened(path, "wt", encoding="utf-8") as file:
            file.writelines(lines)
        return path

    return write


def _letters(text):
    """Write digits and hyphens as letters: a word is a run of letters."""
    return "".join(c if c.isalpha() else chr(ord("a") + ord(c) % 26) for c in text)
