"""Words and their numbers: documents counted block by block, words chosen, words found again."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes
from truerisk.kernels import threads_for
from truerisk.kernels import words as kernel
from truerisk.text.terms import WORD_KINDS, as_bytes, blocks_of, folding

BLOCK_CHARACTERS = 2**23  # bounds what a thread holds beside its result
WORD, ROW_WIDTH = 1, 4  # of the table: the column of the number of a word; the columns
FREE = -1
FIRST_CAPACITY = 2**13
ROWS_PER_WORD = 2  # a table at most half full: a probe or two per word

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
Table = NDArray[np.int64]
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
    return in_threads(count, blocks_of(texts, size), threads_for(characters))


def in_threads(function: Callable[[T], S], items: Sequence[T], threads: int) -> list[S]:
    """Apply a function to all items, in order; in this thread when one is enough."""
    if threads == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


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
