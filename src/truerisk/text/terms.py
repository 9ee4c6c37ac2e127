"""Texts → words → terms: stop words left out, words stemmed, neighbours joined to n-grams.

A word is a run of characters of one kind.  In ASCII a table of 256 bytes tells the kind and folds
the case, for the compiled sweep that counts words.  A text with other characters is folded and cut
by Python itself; what is left of it beyond ASCII is letters, and the sweep may take every byte from
128 on for part of a word.  Terms are written back as texts whose words are the terms; the words of
an n-gram are joined by a letter that no text has.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError, ResourceError

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
BETWEEN = b"\n"  # ends every text, and is part of no word
BEYOND_ASCII = 128
JOINER = "\u02d0"  # a letter of phonetic script, so that an n-gram is one word of every kind
NO_STEMMER = (
    "`stem` must be None without the package snowballstemmer, which is not installed: "
    "pip install truerisk[stem]"
)


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


def stemmer_of(language: str) -> Callable[[str], str]:
    """Give the Snowball stemmer of a language; "porter" is Porter's own."""
    try:
        import snowballstemmer
    except ImportError:
        raise ResourceError(NO_STEMMER) from None
    known = snowballstemmer.algorithms()
    if language not in known:
        raise InputError(f"`stem` must be None or one of {', '.join(known)}; got {language!r}.")
    stem: Callable[[str], str] = snowballstemmer.stemmer(language).stemWord
    return stem


def stop_words_of(words: str | Collection[str] | None) -> frozenset[str]:
    """Give the words that are left out: a list, or scikit-learn's of "english"."""
    if words is None:
        return frozenset()
    if isinstance(words, str):
        if words != "english":
            raise InputError(f"`stop_words` must be None, 'english' or a list; got {words!r}.")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(words)


@dataclass(frozen=True)
class Terms:
    """How the words of a text become terms."""

    kind: str
    lowercase: bool
    stem: str | None = None
    stop_words: frozenset[str] = frozenset()
    ngrams: int = 1

    @cached_property
    def _stems(self) -> dict[str, str]:
        return {}

    def rewritten(self, documents: Sequence[str]) -> Sequence[str]:
        """Write the terms of each document as the words of a text; as it is if words are terms."""
        if self.stem is None and not self.stop_words and self.ngrams == 1:
            return documents
        stem = None if self.stem is None else stemmer_of(self.stem)
        return [" ".join(self._terms(document, stem)) for document in documents]

    def _terms(self, document: str, stem: Callable[[str], str] | None) -> list[str]:
        words = [
            word
            for word in words_of(document, self.kind, lowercase=self.lowercase)
            if word not in self.stop_words
        ]
        if stem is not None:
            stems = self._stems
            for word in words:
                if word not in stems:
                    stems[word] = stem(word)
            words = [stems[word] for word in words]
        terms = list(words)
        for size in range(2, self.ngrams + 1):
            runs = zip(*(words[start:] for start in range(size)), strict=False)
            terms += [JOINER.join(run) for run in runs]
        return terms
