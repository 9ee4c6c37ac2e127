"""Compiled sweeps over the bytes of documents: words, how often each occurs, sorted sparse rows.

Problem   which words occur in which documents, and how often
Given     the bytes of documents, each ended by a separator, and a table that folds each byte
Returns   the distinct words in one array of bytes, and for each document its words and counts
Method    one pass: a word is folded into the free end of the array of words while it is hashed,
          and stays there only if an open-addressing table does not hold it yet.  Words are
          compared byte by byte, so that no two words are ever taken for one.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes

Bytes = NDArray[np.uint8]
Positions = NDArray[np.int64]
Table = NDArray[np.int64]
# Where a sweep stands: document, byte, words and entries so far, first entry of the document.
State = tuple[int, int, int, int, int]

# A word's hash takes eight of its bytes at a time.  One step of it can be undone, so that words of
# equal length up to eight bytes are equal when their hashes are.
FIRST_HASH = np.uint64(0xCBF29CE484222325)
ODD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio
BYTE, HALF = np.uint64(8), np.uint64(32)
BYTES_AT_ONCE = 8
# A row of the table: one cache line holds all that a word which is met again needs.
HASH, WORD, LENGTH, LATEST, ROW_WIDTH = 0, 1, 2, 3, 4
FREE = -1
FIRST_CAPACITY = 2**13
ROWS_A_WORD = 2  # a table at most half full: a probe or two a word


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def mixed(bits: np.uint64) -> np.uint64:
    """Mix all bits into all others, one to one."""
    once = bits * ODD
    twice = (once ^ (once >> HALF)) * ODD
    return twice ^ (twice >> HALF)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_row(  # noqa: PLR0917 - arrays of a compiled loop
    table: Table, letters: Bytes, starts: Positions, hashed: np.int64,
    others: Bytes, low: int, high: int,
) -> np.int64:  # fmt: skip
    """Find the row that holds the word others[low:high], or the free one where it belongs."""
    mask = len(table) - 1
    row = hashed & mask
    length = high - low
    while table[row, WORD] != FREE:
        if table[row, HASH] == hashed and table[row, LENGTH] == length:
            if length <= BYTES_AT_ONCE:
                return row
            start = starts[table[row, WORD]]
            k = 0
            while k < length and letters[start + k] == others[low + k]:
                k += 1
            if k == length:
                return row
        row = (row + 1) & mask
    return row


def free_table(size: int) -> Table:
    """Make a table of `size` free rows, a power of 2."""
    table = np.empty((size, ROW_WIDTH), np.int64)
    table[:, WORD] = FREE
    return table


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def move(table: Table, larger: Table) -> None:
    """Enter the words of a table in one that is larger."""
    for old in range(len(table)):
        if table[old, WORD] != FREE:
            row = table[old, HASH] & (len(larger) - 1)
            while larger[row, WORD] != FREE:
                row = (row + 1) & (len(larger) - 1)
            for part in range(ROW_WIDTH):
                larger[row, part] = table[old, part]


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def count_some(  # noqa: PLR0917 - arrays of a compiled loop
    text: Bytes, ends: Positions, folded: Bytes,
    letters: Bytes, starts: Positions, hashes: Positions, table: Table,
    entry_words: Codes, entry_counts: Codes, entry_ends: Positions, state: State,
) -> State:  # fmt: skip
    """Count words from where `state` says, in place; stop when a new word finds no room.

    A table that grows in here would cost half the speed: what can be another array in the next
    round is not kept in registers.
    """
    document, position, words, entries, first_entry = state
    low = starts[words]
    while document < len(ends):
        while position <= ends[document]:
            letter = folded[text[position]]
            position += 1
            if letter == 0:
                continue
            high, bits, chunk = low, FIRST_HASH, np.uint64(0)
            while letter != 0:
                letters[high] = letter
                high += 1
                chunk = (chunk << BYTE) | np.uint64(letter)
                if (high - low) & (BYTES_AT_ONCE - 1) == 0:
                    bits, chunk = mixed(bits ^ chunk), np.uint64(0)
                letter = folded[text[position]]
                position += 1
            hashed = np.int64(mixed(bits ^ chunk))
            row = find_row(table, letters, starts, hashed, letters, low, high)
            if table[row, WORD] == FREE:
                if words == len(hashes):
                    position -= high - low + 1
                    return document, position, words, entries, first_entry
                table[row, HASH], table[row, WORD] = hashed, words
                table[row, LENGTH], table[row, LATEST] = high - low, -1
                hashes[words] = hashed
                words += 1
                starts[words] = low = high
            latest = table[row, LATEST]
            if latest >= first_entry:
                entry_counts[latest] += 1
            else:
                table[row, LATEST] = entries
                entry_words[entries], entry_counts[entries] = table[row, WORD], 1
                entries += 1
        entry_ends[document] = first_entry = entries
        document += 1
    return document, position, words, entries, first_entry


def count_words(text: Bytes, ends: Positions, folded: Bytes) -> tuple[Any, ...]:
    """Count the words of each document.

    Gives the words (letters, starts, hashes) and the entries (words, counts, and where those of
    each document end), both in the order of first appearance.
    """
    most = len(text) // 2 + 1
    capacity = min(FIRST_CAPACITY, most)
    letters = np.empty(len(text), np.uint8)
    starts, hashes = np.zeros(capacity + 1, np.int64), np.empty(capacity, np.int64)
    table = free_table(rows_for(capacity))
    entry_words, entry_counts = np.empty(most, np.int32), np.empty(most, np.int32)
    entry_ends = np.empty(len(ends), np.int64)
    state = (0, 0, 0, 0, 0)
    while True:
        state = count_some(
            text, ends, folded, letters, starts, hashes, table,
            entry_words, entry_counts, entry_ends, state,
        )  # fmt: skip
        if state[0] == len(ends):
            break
        more = np.empty(len(hashes), np.int64)
        starts, hashes = np.append(starts, more), np.append(hashes, more)
        larger = free_table(2 * len(table))
        move(table, larger)
        table = larger
    _, _, words, entries, _ = state
    return (
        letters[: starts[words]].copy(), starts[: words + 1].copy(), hashes[:words].copy(),
        entry_words[:entries].copy(), entry_counts[:entries].copy(), entry_ends,
    )  # fmt: skip


def rows_for(words: int) -> int:
    """Give the size of a table that has room for so many words.

    Examples
    --------
    >>> rows_for(4), rows_for(5)
    (8, 16)
    """
    return 1 << (ROWS_A_WORD * max(words, 1) - 1).bit_length()


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def number_words(letters: Bytes, starts: Positions, hashes: Positions, table: Table) -> Codes:
    """Give equal words one number, that of the first of them; enter the first ones in the table."""
    numbers = np.empty(len(hashes), np.int32)
    for word in range(len(hashes)):
        low, high = starts[word], starts[word + 1]
        row = find_row(table, letters, starts, hashes[word], letters, low, high)
        if table[row, WORD] == FREE:
            table[row, HASH], table[row, WORD], table[row, LENGTH] = hashes[word], word, high - low
        numbers[word] = table[row, WORD]
    return numbers


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def look_up(  # noqa: PLR0917 - arrays of a compiled loop
    letters: Bytes, starts: Positions, hashes: Positions,
    known_letters: Bytes, known_starts: Positions, table: Table,
) -> Codes:  # fmt: skip
    """Give the number that each word has among the known ones, −1 if it has none."""
    numbers = np.empty(len(hashes), np.int32)
    for word in range(len(hashes)):
        low, high = starts[word], starts[word + 1]
        row = find_row(table, known_letters, known_starts, hashes[word], letters, low, high)
        numbers[word] = table[row, WORD]
    return numbers


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sort_by_column(  # noqa: PLR0917 - arrays of a compiled loop
    entry_words: Codes, entry_counts: Codes, entry_ends: Positions, place: Positions,
    rows: Codes, counts: Codes, row_ends: Positions,
) -> None:  # fmt: skip
    """Put each entry where those of its word start, a negative place leaving it out; in place."""
    entry = kept = 0
    for row in range(len(entry_ends)):
        while entry < entry_ends[row]:
            word = entry_words[entry]
            at = place[word]
            if at >= 0:
                rows[at], counts[at] = row, entry_counts[entry]
                place[word] = at + 1
                kept += 1
            entry += 1
        row_ends[row] = kept


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sort_by_row(  # noqa: PLR0917 - arrays of a compiled loop
    rows: Codes, counts: Codes, columns: Codes, repeats: Positions, place: Positions,
    indices: Codes, sorted_counts: Codes,
) -> None:  # fmt: skip
    """Put entries that are sorted by column where their rows have room; in place."""
    entry = 0
    for column, times in zip(columns, repeats):  # noqa: B905 - not known to the compiler
        for _ in range(times):
            at = place[rows[entry]]
            indices[at], sorted_counts[at] = column, counts[entry]
            place[rows[entry]] = at + 1
            entry += 1


def sorted_rows(
    entries: tuple[Codes, Codes, Positions], documents: Positions, columns: Codes
) -> tuple[Codes, Codes, Positions]:
    """Turn entries (words, counts, ends) into rows whose columns rise; −1 is no column.

    `documents` says how many entries each word has.  Sorted by column and then back by row, which
    takes time in proportion to their number.  Gives columns, counts, and where the rows end.
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
    sort_by_column(*entries, place, rows, counts, row_ends)
    room = np.append(0, row_ends[:-1])
    sort_by_row(rows, counts, columns[order], repeats, room, indices, sorted_counts)
    return indices, sorted_counts, row_ends


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def scale_to_unit_length(data: Array, ends: Positions) -> None:
    """Divide each row by its length, in place; a row of zeros stays as it is."""
    start = 0
    for end in ends:
        squares = 0.0
        for at in range(start, end):
            squares += data[at] * data[at]
        if squares > 0.0:
            length = np.sqrt(squares)
            for at in range(start, end):
                data[at] /= length
        start = end
