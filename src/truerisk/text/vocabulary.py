"""Words and their numbers: documents counted block by block, words chosen, words found again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes
from truerisk.kernels import threads_for
from truerisk.text.tokens import WORD_KINDS, as_bytes, blocks_of, folding
from truerisk.text.word_sweeps import (
    Bytes,
    Positions,
    Table,
    count_words,
    free_table,
    look_up,
    number_words,
    rows_for,
    sorted_rows,
)

BLOCK_CHARACTERS = 2**23  # bounds what a thread holds beside its result
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True)
class Words:
    """Words in one array of bytes: word i is letters[starts[i]:starts[i + 1]]."""

    letters: Bytes
    starts: Positions
    hashes: Positions

    def __len__(self) -> int:
        return len(self.hashes)

    def encoded(self, word: int) -> bytes:
        """Give a word in UTF-8."""
        return self.letters[self.starts[word] : self.starts[word + 1]].tobytes()

    def taken(self, chosen: NDArray[np.intp]) -> "Words":
        """Give some of the words, in the order that is asked for."""
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
        """Give column, count and row ends of the words that have a column; −1 says it has none."""
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
    return in_threads(count, blocks_of(texts, size), threads_for(characters))


def in_threads(function: Callable[[T], S], items: Sequence[T], threads: int) -> list[S]:
    """Apply a function to all items, in order; in this thread when one is enough."""
    if threads == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words in the order of their characters; a word's place is its column."""

    words: Words
    table: Table

    @classmethod
    def of(cls, words: Words) -> "Vocabulary":
        """Make words findable."""
        table = free_table(rows_for(len(words)))
        number_words(words.letters, words.starts, words.hashes, table)
        return cls(words, table)

    def __len__(self) -> int:
        return len(self.words)

    def texts(self) -> list[str]:
        """List the words as text."""
        return [self.words.encoded(word).decode() for word in range(len(self))]

    def columns(self, words: Words) -> Codes:
        """Give the column of each word, −1 if it has none."""
        known = self.words
        return look_up(
            words.letters, words.starts, words.hashes,
            known.letters, known.starts, self.table,
        )  # fmt: skip


def chosen_words(
    blocks: Sequence[Counts], least: int
) -> tuple[Vocabulary, NDArray[np.int64], list[Codes]]:
    """Choose the words that occur in at least `least` documents, and sort them.

    Gives the vocabulary, in how many documents each of its words occurs, and the columns of the
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
    numbers = number_words(together.letters, together.starts, together.hashes, table)
    documents = np.zeros(len(together), np.int64)
    np.add.at(documents, numbers, np.concatenate([block.documents for block in blocks]))
    frequent = np.flatnonzero(documents >= least)
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
