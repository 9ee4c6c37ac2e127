"""Sweeps over the bytes of documents: words, how often each occurs, sorted sparse rows.

Problem   which words occur in which documents, and how often
Given     the bytes of documents, each ended by a separator, and a table that folds each byte
Returns   the distinct words in one array of bytes, and for each document its words and counts
Method    one pass: a word is folded into the free end of the array of words while it is hashed, and
          stays there only if an open-addressing table does not hold it yet.  A hash takes eight
          bytes of a word at a time.  One step of it can be undone: words of equal length up to
          eight bytes are equal when their hashes are.  Longer ones are compared byte by byte
Table     four numbers per word, and one cache line holds all that a word which occurs again needs:
          its hash, its number (−1 where no word is), its length, and its latest entry
Flags     exact
"""

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

FIRST_HASH = cython.declare(cython.ulonglong, 0xCBF29CE484222325)
ODD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio
ALL_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)  # C drops the others by itself
SIGN = cython.declare(cython.ulonglong, 1 << 63)


@cython.cfunc
@cython.inline
@cython.nogil
def mixed(bits: cython.ulonglong) -> cython.ulonglong:
    """Mix all bits into all others, one to one."""
    once: cython.ulonglong = (bits * ODD) & ALL_BITS
    twice: cython.ulonglong = ((once ^ (once >> 32)) * ODD) & ALL_BITS
    return twice ^ (twice >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
def signed(bits: cython.ulonglong) -> cython.longlong:
    """Return the signed number of the same bits."""
    if bits < SIGN:
        return cython.cast(cython.longlong, bits)
    return -cython.cast(cython.longlong, ALL_BITS - bits) - 1


@cython.cfunc
@cython.inline
@cython.nogil
def find_row(
    table: cython.const[cython.longlong][::1],
    letters: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    hashed: cython.longlong,
    others: cython.const[cython.uchar][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return where the row begins that holds the word others[low:high], or a free one for it."""
    mask: cython.Py_ssize_t = table.shape[0] - 1
    row: cython.Py_ssize_t = 4 * (hashed & (mask >> 2))
    length: cython.Py_ssize_t = high - low
    start: cython.Py_ssize_t
    k: cython.Py_ssize_t
    while table[row + 1] >= 0:
        if table[row] == hashed and table[row + 2] == length:
            if length <= 8:
                return row
            start = starts[table[row + 1]]
            k = 0
            while k < length and letters[start + k] == others[low + k]:
                k += 1
            if k == length:
                return row
        row = (row + 4) & mask
    return row


def move(table: cython.const[cython.longlong][::1], larger: cython.longlong[::1]):
    """Enter the words of a table in one that is larger."""
    mask: cython.Py_ssize_t = larger.shape[0] - 1
    old: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    with cython.nogil:
        while old < table.shape[0]:
            if table[old + 1] >= 0:
                row = 4 * (table[old] & (mask >> 2))
                while larger[row + 1] >= 0:
                    row = (row + 4) & mask
                for part in range(4):
                    larger[row + part] = table[old + part]
            old += 4


def count_some(
    text: cython.const[cython.uchar][::1],
    ends: cython.const[cython.longlong][::1],
    folded: cython.const[cython.uchar][::1],
    letters: cython.uchar[::1],
    starts: cython.longlong[::1],
    hashes: cython.longlong[::1],
    table: cython.longlong[::1],
    entry_words: cython.int[::1],
    entry_counts: cython.int[::1],
    entry_ends: cython.longlong[::1],
    state,
):
    """Count words from where `state` says, in place; stop when a new word finds no room.

    A state is the document, the byte, the words and entries so far, and the first entry of the
    document.
    """
    document: cython.Py_ssize_t
    position: cython.Py_ssize_t
    words: cython.Py_ssize_t
    entries: cython.Py_ssize_t
    first_entry: cython.Py_ssize_t
    document, position, words, entries, first_entry = state
    low: cython.Py_ssize_t = starts[words]
    high: cython.Py_ssize_t
    row: cython.Py_ssize_t
    letter: cython.uchar
    bits: cython.ulonglong
    chunk: cython.ulonglong
    hashed: cython.longlong
    latest: cython.longlong
    full: cython.bint = False
    with cython.nogil:
        while document < ends.shape[0] and not full:
            while position <= ends[document]:
                letter = folded[text[position]]
                position += 1
                if letter == 0:
                    continue
                high = low
                bits = FIRST_HASH
                chunk = 0
                while letter != 0:
                    letters[high] = letter
                    high += 1
                    chunk = (chunk << 8) | cython.cast(cython.ulonglong, letter)
                    if (high - low) & 7 == 0:
                        bits = mixed(bits ^ chunk)
                        chunk = 0
                    letter = folded[text[position]]
                    position += 1
                hashed = signed(mixed(bits ^ chunk))
                row = find_row(table, letters, starts, hashed, letters, low, high)
                if table[row + 1] < 0:
                    if words == hashes.shape[0]:
                        position -= high - low + 1
                        full = True
                        break
                    table[row] = hashed
                    table[row + 1] = words
                    table[row + 2] = high - low
                    table[row + 3] = -1
                    hashes[words] = hashed
                    words += 1
                    low = high
                    starts[words] = high
                latest = table[row + 3]
                if latest >= first_entry:
                    entry_counts[latest] += 1
                else:
                    table[row + 3] = entries
                    entry_words[entries] = table[row + 1]
                    entry_counts[entries] = 1
                    entries += 1
            if not full:
                entry_ends[document] = entries
                first_entry = entries
                document += 1
    return document, position, words, entries, first_entry


def number_words(
    letters: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    hashes: cython.const[cython.longlong][::1],
    table: cython.longlong[::1],
):
    """Return one number for equal words, that of the first of them; enter it in the table."""
    numbers = np.empty(len(hashes), np.int32)
    own: cython.int[::1] = numbers
    row: cython.Py_ssize_t
    with cython.nogil:
        for word in range(hashes.shape[0]):
            row = find_row(
                table, letters, starts, hashes[word], letters, starts[word], starts[word + 1]
            )
            if table[row + 1] < 0:
                table[row] = hashes[word]
                table[row + 1] = word
                table[row + 2] = starts[word + 1] - starts[word]
            own[word] = table[row + 1]
    return numbers


def look_up(
    letters: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    hashes: cython.const[cython.longlong][::1],
    table_letters: cython.const[cython.uchar][::1],
    table_starts: cython.const[cython.longlong][::1],
    table: cython.const[cython.longlong][::1],
):
    """Return the number that each word has in the table, −1 if it has none."""
    numbers = np.empty(len(hashes), np.int32)
    own: cython.int[::1] = numbers
    row: cython.Py_ssize_t
    with cython.nogil:
        for word in range(hashes.shape[0]):
            row = find_row(
                table,
                table_letters,
                table_starts,
                hashes[word],
                letters,
                starts[word],
                starts[word + 1],
            )
            own[word] = table[row + 1]
    return numbers


def sort_by_column(
    entry_words: cython.const[cython.int][::1],
    entry_counts: cython.const[cython.int][::1],
    entry_ends: cython.const[cython.longlong][::1],
    place: cython.longlong[::1],
    rows: cython.int[::1],
    counts: cython.int[::1],
    row_ends: cython.longlong[::1],
):
    """Put each entry where those of its word start, a negative place leaving it out; in place."""
    entry: cython.Py_ssize_t = 0
    placed: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    word: cython.Py_ssize_t
    with cython.nogil:
        for row in range(entry_ends.shape[0]):
            while entry < entry_ends[row]:
                word = entry_words[entry]
                at = place[word]
                if at >= 0:
                    rows[at] = row
                    counts[at] = entry_counts[entry]
                    place[word] = at + 1
                    placed += 1
                entry += 1
            row_ends[row] = placed


def sort_by_row(
    rows: cython.const[cython.int][::1],
    counts: cython.const[cython.int][::1],
    columns: cython.const[cython.int][::1],
    repeats: cython.const[cython.longlong][::1],
    place: cython.longlong[::1],
    indices: cython.int[::1],
    sorted_counts: cython.int[::1],
):
    """Put entries that are sorted by column where their rows have room; in place."""
    entry: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t
    with cython.nogil:
        for k in range(columns.shape[0]):
            end += repeats[k]
            while entry < end:
                at = place[rows[entry]]
                indices[at] = columns[k]
                sorted_counts[at] = counts[entry]
                place[rows[entry]] = at + 1
                entry += 1


def scale_to_unit_length(data: cython.double[::1], ends: cython.const[cython.longlong][::1]):
    """Divide each row by its length, in place; a row of zeros stays as it is."""
    start: cython.Py_ssize_t = 0
    squares: cython.double
    length: cython.double
    with cython.nogil:
        for row in range(ends.shape[0]):
            squares = 0.0
            for at in range(start, ends[row]):
                squares += data[at] * data[at]
            if squares > 0.0:
                length = sqrt(squares)
                for at in range(start, ends[row]):
                    data[at] /= length
            start = ends[row]
