"""Texts → the bytes that the compiled sweep reads: words apart, folded to lower case by a table.

A word is a run of characters of one kind.  In ASCII a table of 256 bytes tells the kind and folds
the case.  A text with other characters is folded and cut by Python itself; what is left of it
beyond ASCII is letters, so that the sweep may take every byte from 128 on for part of a word.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
BETWEEN = b"\n"  # ends every text, and is part of no word
BEYOND_ASCII = 128


@dataclass(frozen=True)
class WordKind:
    """A kind of words: what Python's regular expressions call them, and what lies between them."""

    words: re.Pattern[str]
    between: re.Pattern[str]


WORD_KINDS = {
    "letters": WordKind(re.compile(r"[^\W\d_]+"), re.compile(r"[\W\d_]+")),
    "alphanumeric": WordKind(re.compile(r"\w+"), re.compile(r"\W+")),
}


def words_of(text: str, kind: str = "letters", *, lowercase: bool = True) -> list[str]:
    """List the words of a text: the rule that the compiled sweep follows."""
    return WORD_KINDS[kind].words.findall(text.lower() if lowercase else text)


def folding(kind: str, *, lowercase: bool) -> Bytes:
    """Make the table from a byte to what it becomes in a word, 0 where it is part of none."""
    table = np.zeros(256, np.uint8)
    table[BEYOND_ASCII:] = np.arange(BEYOND_ASCII, 256)
    for code in range(BEYOND_ASCII):
        for word in words_of(chr(code), kind, lowercase=lowercase):
            table[code] = ord(word)
    return table


def as_bytes(texts: Sequence[str], kind: str, *, lowercase: bool) -> tuple[Bytes, Positions]:
    """Join texts, each with a separator after it; give the bytes and where each text ends."""
    between = WORD_KINDS[kind].between

    def encoded(text: str) -> bytes:
        if text.isascii():
            return text.encode()
        return between.sub(" ", text.lower() if lowercase else text).encode()

    parts = [encoded(text) for text in texts]
    lengths = np.fromiter(map(len, parts), np.int64, len(parts))
    joined = BETWEEN.join([*parts, b""])
    return np.frombuffer(joined, np.uint8), np.cumsum(lengths + 1) - 1


def blocks_of(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    """Cut a sequence of texts into runs of about `size` characters, in order."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    starts = np.cumsum(lengths) - lengths
    cuts = np.flatnonzero(np.diff(starts // size, prepend=-1)).tolist()
    return [texts[low:high] for low, high in pairwise([*cuts, len(texts)])]
