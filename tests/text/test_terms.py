"""Words: the rule in Python's own regular expressions, and the bytes that keep to it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.text.terms import BEYOND_ASCII, WORD_KINDS, as_bytes, blocks_of, folding, words_of

KINDS = sorted(WORD_KINDS)
texts = st.lists(st.text(), max_size=8)


@given(text=st.text())
def test_letters_and_alphanumeric_are_what_regular_expressions_call_them(text):
    assert words_of(text, "letters") == re.findall(r"[^\W\d_]+", text.lower())
    assert words_of(text, "alphanumeric", lowercase=False) == re.findall(r"\w+", text)


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_table_folds_ascii_as_the_rule_does(lowercase):
    table = folding("alphanumeric", lowercase=lowercase)
    for code in range(BEYOND_ASCII):
        remaining = words_of(chr(code), "alphanumeric", lowercase=lowercase)
        assert [chr(table[code])] == (remaining or ["\0"])
    assert table[ord("A")] == ord("a" if lowercase else "A")
    assert (
        folding("letters", lowercase=True)[ord("7")] == folding("letters", lowercase=True)[95] == 0
    )


@given(documents=texts, kind=st.sampled_from(KINDS), lowercase=st.booleans())
def test_bytes_cut_at_what_the_table_makes_zero_are_the_words(documents, kind, lowercase):
    joined, ends = as_bytes(documents, kind, lowercase=lowercase)
    folded = folding(kind, lowercase=lowercase)[joined]
    start = 0
    for document, end in zip(documents, ends.tolist(), strict=True):
        result = [word.decode() for word in folded[start:end].tobytes().split(b"\0") if word]
        assert result == words_of(document, kind, lowercase=lowercase)
        assert folded[end] == 0
        start = end + 1
    assert start == len(joined)


@given(documents=texts, size=st.integers(1, 20))
def test_blocks_are_runs_of_the_texts_in_order(documents, size):
    blocks = blocks_of(documents, size)
    assert [document for block in blocks for document in block] == documents
    assert len(blocks) <= sum(map(len, documents)) // size + 1
    # A block starts its last text before it is full.
    assert all(sum(map(len, block[:-1])) <= 2 * size for block in blocks)


def test_half_a_character_is_part_of_no_word():
    assert words_of("a\ud800b") == ["a", "b"]
    joined, _ = as_bytes(["a\ud800b"], "letters", lowercase=True)
    assert np.array_equal(joined, np.frombuffer(b"a b\n", np.uint8))
