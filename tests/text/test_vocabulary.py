"""Words chosen from blocks of documents: the same however the documents are cut."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truerisk.text import vocabulary
from truerisk.text.terms import words_of
from truerisk.text.vocabulary import (
    Vocabulary,
    chosen_words,
    count_blocks,
    in_threads,
    words_from,
)

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
    monkeypatch.setattr(vocabulary, "threads_for", lambda _: 3)
    monkeypatch.setattr(vocabulary, "BLOCK_CHARACTERS", 5000)
    blocks = count_blocks(texts, "letters", lowercase=True)
    assert len(blocks) > 10
    cut, cut_counts, _ = chosen_words(blocks, 3)
    assert cut.texts() == whole.texts()
    assert cut_counts.tolist() == counts.tolist()


def test_threads_keep_the_order():
    assert in_threads(abs, [-1, 2, -3], 2) == in_threads(abs, [-1, 2, -3], 1) == [1, 2, 3]


def test_words_are_made_from_texts_that_are_words():
    made = words_from(["corn", "né", "wheat"], "letters")
    assert Vocabulary.of(made).texts() == ["corn", "né", "wheat"]
    assert words_from(["corn", "corn"], "letters") is None
    assert words_from(["corn wheat"], "letters") is None
    assert words_from(["b2"], "letters") is None
    assert words_from(["b2"], "alphanumeric") is not None
    assert words_from([""], "alphanumeric") is None
