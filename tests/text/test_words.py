"""Words by Python's own regular expressions, and chosen words: the same however texts are cut."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.text import words
from truerisk.text.words import (
    BEYOND_ASCII,
    WORD_KINDS,
    Vocabulary,
    as_bytes,
    blocks_of,
    chosen_words,
    count_blocks,
    folding,
    words_from,
    words_of,
)

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


documents = st.lists(st.text("abé ", max_size=12), min_size=1, max_size=12)


def in_blocks(texts, size):
    """Count in blocks of so many texts."""
    return [
        block
        for start in range(0, len(texts), size)
        for block in count_blocks(texts[start : start + size], "letters", lowercase=True)
    ]


@given(texts=documents, least=st.integers(1, 3), size=st.integers(1, 5))
def test_words_of_enough_documents_are_chosen_and_sorted(texts, least, size):
    result, counts, columns = chosen_words(in_blocks(texts, size), least)
    expected = Counter(word for text in texts for word in set(words_of(text)))
    remaining = sorted(word for word, count in expected.items() if count >= least)
    assert result.texts() == remaining
    assert counts.tolist() == [expected[word] for word in remaining]
    for block, numbers in zip(in_blocks(texts, size), columns, strict=True):
        words = [block.words.encoded(word).decode() for word in range(len(block.words))]
        assert [remaining[number] if number >= 0 else None for number in numbers] == [
            word if word in remaining else None for word in words
        ]
        assert np.array_equal(result.columns(block.words), numbers)


def test_many_documents_are_counted_in_threads_as_one_block_is(monkeypatch):
    rng = np.random.default_rng(0)
    texts = [" ".join("w" * length for length in rng.integers(1, 30, 50)) for _ in range(200)]
    whole, counts, _ = chosen_words(count_blocks(texts, "letters", lowercase=True), 3)
    monkeypatch.setattr(words, "threads_for", lambda _: 3)
    monkeypatch.setattr(words, "BLOCK_CHARACTERS", 5000)
    blocks = count_blocks(texts, "letters", lowercase=True)
    assert len(blocks) > 10
    cut, cut_counts, _ = chosen_words(blocks, 3)
    assert cut.texts() == whole.texts()
    assert cut_counts.tolist() == counts.tolist()


def test_words_are_made_from_texts_that_are_words():
    made = words_from(["corn", "né", "wheat"], "letters")
    assert Vocabulary.of(made).texts() == ["corn", "né", "wheat"]
    assert words_from(["corn", "corn"], "letters") is None
    assert words_from(["corn wheat"], "letters") is None
    assert words_from(["b2"], "letters") is None
    assert words_from(["b2"], "alphanumeric") is not None
    assert words_from([""], "alphanumeric") is None
