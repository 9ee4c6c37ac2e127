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

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int32]
Hashes = NDArray[np.uint64]
Positions = NDArray[np.int64]
Floats = NDArray[np.float64]

# Fowler, Noll and Vo's hash 1a of 64 bits; its high bits are well mixed, its low ones less so.
OFFSET = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
HIGH = np.uint64(32)
FIRST_CAPACITY = 2**12
SLOTS_A_WORD = 4  # a table at most a quarter full: a probe or two a word


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_slot(  # noqa: PLR0917 - arrays of a compiled loop
    slots: Codes, letters: Bytes, starts: Positions, hashes: Hashes,
    hashed: np.uint64, others: Bytes, low: int, high: int,
) -> np.int64:  # fmt: skip
    """Find the slot that holds the word others[low:high], or the free one where it belongs."""
    mask = len(slots) - 1
    slot = np.int64(hashed ^ (hashed >> HIGH)) & mask
    while slots[slot] >= 0:
        word = slots[slot]
        if hashes[word] == hashed and starts[word + 1] - starts[word] == high - low:
            start = starts[word]
            k = 0
            while k < high - low and letters[start + k] == others[low + k]:
                k += 1
            if k == high - low:
                return slot
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def make_slots(hashes: Hashes, count: int, size: int) -> Codes:
    """Make a table of `size` slots, a power of 2, of words that are known to be distinct."""
    slots = np.full(size, -1, np.int32)
    for word in range(count):
        slot = np.int64(hashes[word] ^ (hashes[word] >> HIGH)) & (size - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        slots[slot] = word
    return slots


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def doubled(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array into one of twice the length."""
    longer = np.empty(2 * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def count_words(text: Bytes, ends: Positions, folded: Bytes) -> tuple[Any, ...]:
    """Count the words of each document.

    Gives the words (letters, starts, hashes, in how many documents each occurs) and the entries
    (words, counts, and where those of each document end), in the order of first appearance.
    """
    letters = np.empty(len(text) + 1, np.uint8)
    starts = np.empty(FIRST_CAPACITY, np.int64)
    hashes = np.empty(FIRST_CAPACITY, np.uint64)
    documents = np.empty(FIRST_CAPACITY, np.int32)
    latest = np.empty(FIRST_CAPACITY, np.int64)  # the latest entry of a word
    slots = np.full(SLOTS_A_WORD * FIRST_CAPACITY, -1, np.int32)
    entry_words = np.empty(len(text) // 2 + 1, np.int32)
    entry_counts = np.empty(len(text) // 2 + 1, np.int32)
    entry_ends = np.empty(len(ends), np.int64)
    words = entries = 0
    low = position = 0
    starts[0] = 0
    for document in range(len(ends)):
        first_entry = entries
        while position <= ends[document]:
            letter = folded[text[position]]
            position += 1
            if letter == 0:
                continue
            high, hashed = low, OFFSET
            while letter != 0:
                letters[high] = letter
                high += 1
                hashed = (hashed ^ np.uint64(letter)) * PRIME
                letter = folded[text[position]]
                position += 1
            slot = find_slot(slots, letters, starts, hashes, hashed, letters, low, high)
            word = slots[slot]
            if word < 0:
                if words + 1 == len(starts):
                    starts, hashes = doubled(starts), doubled(hashes)
                    documents, latest = doubled(documents), doubled(latest)
                    slots = make_slots(hashes, words, SLOTS_A_WORD * len(starts))
                    slot = find_slot(slots, letters, starts, hashes, hashed, letters, low, high)
                word = np.int32(words)
                words += 1
                slots[slot] = word
                hashes[word], starts[words] = hashed, high
                documents[word], latest[word] = 0, -1
                low = high
            if latest[word] >= first_entry:
                entry_counts[latest[word]] += 1
            else:
                documents[word] += 1
                latest[word] = entries
                entry_words[entries], entry_counts[entries] = word, 1
                entries += 1
        entry_ends[document] = entries
    return (
        letters[:low].copy(), starts[: words + 1].copy(), hashes[:words].copy(),
        documents[:words].copy(), entry_words[:entries].copy(), entry_counts[:entries].copy(),
        entry_ends,
    )  # fmt: skip


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def number_words(letters: Bytes, starts: Positions, hashes: Hashes, slots: Codes) -> Codes:
    """Give equal words one number, that of the first of them; enter the first ones in `slots`."""
    numbers = np.empty(len(hashes), np.int32)
    for word in range(len(hashes)):
        low, high = starts[word], starts[word + 1]
        slot = find_slot(slots, letters, starts, hashes, hashes[word], letters, low, high)
        if slots[slot] < 0:
            slots[slot] = word
        numbers[word] = slots[slot]
    return numbers


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def look_up(  # noqa: PLR0917 - arrays of a compiled loop
    letters: Bytes, starts: Positions, hashes: Hashes,
    known_letters: Bytes, known_starts: Positions, known_hashes: Hashes, slots: Codes,
) -> Codes:  # fmt: skip
    """Give the number that each word has among the known ones, −1 if it has none."""
    numbers = np.empty(len(hashes), np.int32)
    for word in range(len(hashes)):
        slot = find_slot(
            slots, known_letters, known_starts, known_hashes,
            hashes[word], letters, starts[word], starts[word + 1],
        )  # fmt: skip
        numbers[word] = slots[slot]
    return numbers


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def sorted_rows(  # noqa: PLR0917 - arrays of a compiled loop
    entry_words: Codes, entry_counts: Codes, entry_ends: Positions,
    documents: Codes, order: Positions, columns: Codes,
) -> tuple[Codes, Codes, Positions]:  # fmt: skip
    """Turn entries into rows whose columns rise, by sorting them by column and back by row.

    `order` lists the words that have a column, by column.  Gives columns, counts, and where the
    rows end.
    """
    place = np.full(len(columns), -1, np.int64)
    total = 0
    for word in order:
        place[word] = total
        total += documents[word]
    by_column = np.empty(total, np.int32)
    counts_by_column = np.empty(total, np.int32)
    ends = np.empty(len(entry_ends), np.int64)
    entry = kept = 0
    for row in range(len(entry_ends)):
        while entry < entry_ends[row]:
            at = place[entry_words[entry]]
            if at >= 0:
                by_column[at], counts_by_column[at] = row, entry_counts[entry]
                place[entry_words[entry]] = at + 1
                kept += 1
            entry += 1
        ends[row] = kept
    indices = np.empty(total, np.int32)
    counts = np.empty(total, np.int32)
    free = np.empty(len(ends), np.int64)
    free[:1] = 0
    free[1:] = ends[:-1]
    at = 0
    for word in order:
        for _ in range(documents[word]):
            row = by_column[at]
            indices[free[row]], counts[free[row]] = columns[word], counts_by_column[at]
            free[row] += 1
            at += 1
    return indices, counts, ends


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def scale_to_unit_length(data: Floats, ends: Positions) -> None:
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
