"""The compiled sweeps beside counters of Python, and beside themselves uncompiled."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from truerisk.kernels import uncompiled
from truerisk.kernels import words as compiled
from truerisk.text import words as counting
from truerisk.text.words import (
    FREE,
    ROW_WIDTH,
    WORD,
    as_bytes,
    count_words,
    folding,
    free_table,
    rows_for,
    sorted_rows,
    words_of,
)

plain = uncompiled("words")
FOLDED = folding("letters", lowercase=True)
# Few letters make words meet again, and longer ones than the hash takes at once.
few_letters = st.text("ab é-", max_size=40)


def counted(documents):
    joined, ends = as_bytes(documents, "letters", lowercase=True)
    return count_words(joined, ends, FOLDED)


def words_in(letters, starts):
    return [letters[low:high].tobytes().decode() for low, high in pairwise(starts)]


def counters(documents):
    letters, starts, _, entry_words, entry_counts, entry_ends = counted(documents)
    words = words_in(letters, starts)
    assert len(set(words)) == len(words)
    cuts = [0, *entry_ends.tolist()]
    return [
        [(words[entry_words[at]], int(entry_counts[at])) for at in range(low, high)]
        for low, high in pairwise(cuts)
    ]


@given(documents=st.lists(few_letters | st.text(), max_size=6))
def test_words_are_counted_in_the_order_of_first_appearance(documents):
    expected = [list(Counter(words_of(document)).items()) for document in documents]
    assert counters(documents) == expected


def test_the_table_grows_and_forgets_nothing(monkeypatch):
    monkeypatch.setattr(counting, "FIRST_CAPACITY", 2)
    documents = [f"w{'x' * (i % 23)}{chr(97 + i % 26) * (i // 23)} again" for i in range(400)]
    expected = [list(Counter(words_of(document)).items()) for document in documents]
    assert counters(documents) == expected


def test_words_of_one_hash_stay_apart():
    """All words belong in one row of the table: length and bytes tell them apart."""
    words = ["aaaaaaaaa", "aaaaaaaab", "aaaaaaaaaa", "aaaaaaaaa"]
    letters = np.frombuffer("".join(words).encode(), np.uint8)
    starts = np.cumsum([0, *map(len, words)])
    table = free_table(rows_for(len(words)))
    numbers = compiled.number_words(letters, starts, np.zeros(len(words), np.int64), table)
    assert numbers.tolist() == [0, 1, 2, 0]


def test_the_hash_of_eight_bytes_can_be_undone():
    """Why words of up to eight bytes need no comparison: equal hashes are equal words."""
    odd = plain.ODD
    inverse = pow(odd, -1, 2**64)
    rng = np.random.default_rng(0)
    for bits in rng.integers(0, 2**64, 100, dtype=np.uint64):
        value = plain.mixed(int(bits))
        for _ in range(2):
            value ^= value >> 32
            value = value * inverse % 2**64
        assert value == int(bits)


def test_known_words_are_found_and_others_are_not():
    letters, starts, hashes, *_ = counted(["corn wheat internationally"])
    table = free_table(rows_for(len(hashes)))
    assert compiled.number_words(letters, starts, hashes, table).tolist() == [0, 1, 2]
    asked = counted(["internationale wheat cor corn internationally"])
    assert compiled.look_up(*asked[:3], letters, starts, table).tolist() == [-1, 1, -1, 0, 2]


@settings(max_examples=30)
@given(data=st.data())
def test_rows_are_sorted_and_words_without_a_column_left_out(data):
    documents = data.draw(st.lists(few_letters, min_size=1, max_size=6))
    _, starts, _, entry_words, entry_counts, entry_ends = counted(documents)
    size = len(starts) - 1
    places = data.draw(st.permutations(range(size)))
    columns = np.array([place if place % 3 else -1 for place in places], np.int32)
    frequencies = np.bincount(entry_words, minlength=size)
    entries = (entry_words, entry_counts, entry_ends)
    indices, counts, ends = sorted_rows(entries, frequencies, columns)
    rows = np.repeat(np.arange(len(documents)), np.diff(entry_ends, prepend=0))
    kept = columns[entry_words] >= 0
    expected = csr_matrix(
        (entry_counts[kept], (rows[kept], columns[entry_words][kept])),
        shape=(len(documents), size + 1),
    )
    assert indices.tolist() == expected.indices.tolist()
    assert counts.tolist() == expected.data.tolist()
    assert ends.tolist() == expected.indptr[1:].tolist()


def test_rows_get_unit_length_and_zeros_stay():
    data = np.array([3.0, 4.0, 0.0, 2.0])
    compiled.scale_to_unit_length(data, np.array([2, 2, 3, 4]))
    assert data.tolist() == [0.6, 0.8, 0.0, 1.0]
    again = np.array([3.0, 4.0, 0.0, 2.0])
    plain.scale_to_unit_length(again, np.array([2, 2, 3, 4]))
    assert again.tolist() == data.tolist()


def test_the_sweep_counts_as_its_uncompiled_twin_does(monkeypatch):
    documents = [
        "Wheat, corn and internationally traded wheat",
        "",
        "corn corn ab ab internationally",
    ]
    by_compiled = counted(documents)
    monkeypatch.setattr(counting, "kernel", plain)
    monkeypatch.setattr(counting, "FIRST_CAPACITY", 2)
    by_plain = counted(documents)
    for first, second in zip(by_compiled, by_plain, strict=True):
        assert np.array_equal(first, second)
    columns = np.array([2, -1, 0, 3, 1, 4], np.int32)
    documents_of = np.bincount(by_plain[3], minlength=len(columns))
    indices, counts, ends = sorted_rows(by_plain[3:], documents_of, columns)
    assert (indices.tolist(), counts.tolist()) == ([0, 1, 2, 3, 3, 4], [1, 1, 2, 1, 1, 2])
    assert ends.tolist() == [4, 4, 6]


@pytest.mark.parametrize("words", [1, 2, 3, 1000])
def test_a_table_is_at_most_half_full_and_free(words):
    table = free_table(rows_for(words))
    assert len(table) >= 2 * words
    assert len(table) & (len(table) - 1) == 0
    assert np.all(table[WORD::ROW_WIDTH] == FREE)
