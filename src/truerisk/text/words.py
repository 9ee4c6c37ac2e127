"""Texts → words → terms, counted block by block; words chosen, numbered and found again.

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
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes
from truerisk.errors import InputError, ResourceError
from truerisk.kernels import in_threads, threads_for
from truerisk.kernels import words as kernel

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
BETWEEN = b"\n"  # ends every text, and is part of no word
BEYOND_ASCII = 128
JOINER = "\u02d0"  # a letter of phonetic script, so that an n-gram is one word of every kind
NO_STEMMER = (
    "`stem` must be None without the package snowballstemmer, which is not installed: "
    "pip install truerisk[stem]"
)
BLOCK_CHARACTERS = 2**23  # bounds what a thread holds beside its result
WORD, ROW_WIDTH = 1, 4  # of the table: the column of the number of a word; the columns
FREE = -1
FIRST_CAPACITY = 2**13
ROWS_PER_WORD = 2  # a table at most half full: a probe or two per word

Table = NDArray[np.int64]
T = TypeVar("T")
S = TypeVar("S")


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


@dataclass(frozen=True)
class Words:
    """Words in one array of bytes: word i is letters[starts[i]:starts[i + 1]]."""

    letters: Bytes
    starts: Positions
    hashes: Positions

    def __len__(self) -> int:
        return len(self.hashes)

    def encoded(self, word: int) -> bytes:
        """Return a word in UTF-8."""
        return self.letters[self.starts[word] : self.starts[word + 1]].tobytes()

    def taken(self, chosen: NDArray[np.intp]) -> "Words":
        """Return some of the words, in the given order."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.append(0, np.cumsum(lengths))
        positions = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Words(self.letters[positions], starts, self.hashes[chosen])


@dataclass(frozen=True)
class Counts:
    """How often each word occurs in each document of a block; a word is a number of the block."""

    words: Words
    documents: Positions  # in how many documents of the block each word occurs
    entry_words: Codes
    entry_counts: Codes
    entry_ends: Positions  # where the entries of each document end

    def rows(self, columns: Codes) -> tuple[Codes, Codes, Positions]:
        """Return column, count and row ends of the words that have a column, not −1."""
        entries = self.entry_words, self.entry_counts, self.entry_ends
        return sorted_rows(entries, self.documents, columns)


def count_blocks(texts: Sequence[str], kind: str, *, lowercase: bool) -> list[Counts]:
    """Count the words of documents, block by block, in threads."""
    table = folding(kind, lowercase=lowercase)

    def count(block: Sequence[str]) -> Counts:
        text, ends = as_bytes(block, kind, lowercase=lowercase)
        letters, starts, hashes, *entries = count_words(text, ends, table)
        documents = np.bincount(entries[0], minlength=len(hashes))
        return Counts(Words(letters, starts, hashes), documents, *entries)

    characters = sum(map(len, texts))
    size = max(1, min(BLOCK_CHARACTERS, -(-characters // threads_for(characters))))
    return in_threads(count, blocks_of(texts, size), threads=threads_for(characters))


def free_table(size: int) -> Table:
    """Make a table of `size` free rows, a power of 2, one after the other."""
    table = np.empty(ROW_WIDTH * size, np.int64)
    table[WORD::ROW_WIDTH] = FREE
    return table


def rows_for(words: int) -> int:
    """Return the size of a table that has room for so many words."""
    return 1 << (ROWS_PER_WORD * max(words, 1) - 1).bit_length()


def count_words(text: Bytes, ends: Positions, folded: Bytes) -> tuple[Any, ...]:
    """Count the words of each document.

    Returns the words (letters, starts, hashes) and the entries (words, counts, and where those of
    each document end), both in the order of first appearance.
    """
    most = len(text) // 2 + 1
    capacity = min(FIRST_CAPACITY, most)
    letters = np.empty(len(text), np.uint8)
    starts, hashes = np.zeros(capacity + 1, np.int64), np.empty(capacity, np.int64)
    table = free_table(rows_for(capacity))
    entry_words, entry_counts = np.empty(most, np.int32), np.empty(most, np.int32)
    entry_ends = np.empty(len(ends), np.int64)
    state = (0, 0, 0, 0, 0)  # document, byte, words, entries, first entry of the document
    while True:
        state = kernel.count_some(
            text, ends, folded, letters, starts, hashes, table,
            entry_words, entry_counts, entry_ends, state,
        )  # fmt: skip
        if state[0] == len(ends):
            break
        more = np.empty(len(hashes), np.int64)
        starts, hashes = np.append(starts, more), np.append(hashes, more)
        larger = free_table(2 * len(table) // ROW_WIDTH)
        kernel.move(table, larger)
        table = larger
    _, _, words, entries, _ = state
    return (
        letters[: starts[words]].copy(), starts[: words + 1].copy(), hashes[:words].copy(),
        entry_words[:entries].copy(), entry_counts[:entries].copy(), entry_ends,
    )  # fmt: skip


def sorted_rows(
    entries: tuple[Codes, Codes, Positions], documents: Positions, columns: Codes
) -> tuple[Codes, Codes, Positions]:
    """Turn entries (words, counts, ends) into rows whose columns rise; −1 is no column.

    `documents` says how many entries each word has.  Sorted by column and then back by row, which
    takes time in proportion to their number.  Returns columns, counts, and where the rows end.
    """
    order = np.argsort(columns, kind="stable")
    order = order[np.searchsorted(columns[order], 0) :]
    repeats = documents[order]
    ends = np.cumsum(repeats)
    place = np.full(len(columns), -1, np.int64)
    place[order] = ends - repeats
    total = int(repeats.sum())
    rows, counts, indices, sorted_counts = (np.empty(total, np.int32) for _ in range(4))
    row_ends = np.empty(len(entries[2]), np.int64)
    kernel.sort_by_column(*entries, place, rows, counts, row_ends)
    room = np.append(0, row_ends[:-1])
    kernel.sort_by_row(rows, counts, columns[order], repeats, room, indices, sorted_counts)
    return indices, sorted_counts, row_ends


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words in the order of their characters; a word's place is its column."""

    words: Words
    table: Table

    @classmethod
    def of(cls, words: Words) -> "Vocabulary":
        """Make words findable."""
        table = free_table(rows_for(len(words)))
        kernel.number_words(words.letters, words.starts, words.hashes, table)
        return cls(words, table)

    def __len__(self) -> int:
        return len(self.words)

    def texts(self) -> list[str]:
        """List the words as text."""
        return [self.words.encoded(word).decode() for word in range(len(self))]

    def columns(self, words: Words) -> Codes:
        """Return the column of each word, −1 if it has none."""
        own = self.words
        numbers: Codes = kernel.look_up(
            words.letters, words.starts, words.hashes, own.letters, own.starts, self.table
        )
        return numbers


def chosen_words(
    blocks: Sequence[Counts], min_documents: int
) -> tuple[Vocabulary, NDArray[np.int64], list[Codes]]:
    """Choose the words that occur in at least `min_documents` documents, and sort them.

    Returns the vocabulary, in how many documents each of its words occurs, and the columns of the
    words of each block.  None of it depends on how the documents were cut into blocks.
    """
    sizes = [len(block.words) for block in blocks]
    offsets = np.cumsum([0, *(len(block.words.letters) for block in blocks)])
    starts = [
        block.words.starts[:-1] + offset for block, offset in zip(blocks, offsets, strict=False)
    ]
    together = Words(
        np.concatenate([block.words.letters for block in blocks]),
        np.append(np.concatenate(starts), offsets[-1]),
        np.concatenate([block.words.hashes for block in blocks]),
    )
    table = free_table(rows_for(len(together)))
    numbers = kernel.number_words(together.letters, together.starts, together.hashes, table)
    documents = np.zeros(len(together), np.int64)
    np.add.at(documents, numbers, np.concatenate([block.documents for block in blocks]))
    frequent = np.flatnonzero(documents >= min_documents)
    # UTF-8 sorts as the characters do.
    order = sorted(frequent.tolist(), key=together.encoded)
    column_of = np.full(len(together), -1, np.int32)
    column_of[order] = np.arange(len(order))
    columns = np.split(column_of[numbers], np.cumsum(sizes)[:-1])
    picked = np.array(order, np.intp)
    return Vocabulary.of(together.taken(picked)), documents[picked], columns


def words_from(texts: Sequence[str], kind: str) -> Words | None:
    """Turn texts into words; None if one of them is no word of that kind, or stands there twice."""
    if any(WORD_KINDS[kind].words.fullmatch(text) is None for text in texts):
        return None
    text, ends = as_bytes(texts, kind, lowercase=False)
    letters, starts, hashes, *_ = count_words(text, ends, folding(kind, lowercase=False))
    return Words(letters, starts, hashes) if len(hashes) == len(texts) else None
