from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from truerisk.errors import InputError
from truerisk.estimation.corpus.corpus_parts import categories_of, parts_of, truth_of, vectors_of
from truerisk.text.vectorizer import Vectorizer

WORDS = ("wheat corn", "corn rye", "gold tin", "tin lead")


@given(n=st.integers(2, 60), share=st.floats(0.01, 0.99), seed=st.integers(0, 9))
def test_a_random_division_takes_every_document_once(n, share, seed):
    held = round(share * n)
    if not 0 < held < n:
        with pytest.raises(InputError, match="`holdout` must leave documents on both sides"):
            parts_of(n, None, share, seed)
        return
    parts = parts_of(n, None, share, seed)
    assert sorted([*parts.train, *parts.test]) == list(range(n))
    assert len(parts.test) == held
    assert np.array_equal(parts.test, parts_of(n, None, share, seed).test)


def test_without_a_split_all_documents_are_trained_on():
    parts = parts_of(3, None)
    assert (parts.train.tolist(), parts.test.tolist()) == ([0, 1, 2], [])


def test_documents_of_other_parts_are_left_out_and_counted():
    parts = parts_of(5, ["train", "unused", None, "test", "unused"])
    assert (parts.train.tolist(), parts.test.tolist()) == ([0], [3])
    assert parts.notes == (
        "2 documents are left out: their part is 'unused'.",
        "1 document is left out: its part is not given.",
    )


def test_a_split_that_trains_on_nothing_is_refused():
    with pytest.raises(InputError, match=r"`split` must say 'train' .*; got 'Train', 'test'"):
        parts_of(2, ["Train", "test"])


def test_a_second_division_is_refused():
    with pytest.raises(InputError, match="`holdout` must not be given for a corpus that is split"):
        parts_of(2, ["train", "test"], 0.5)


@pytest.mark.parametrize("share", [-0.1, 1.5, "half", float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match=r"`holdout` must lie in \[0, 1\]"):
        parts_of(10, None, share)


LABELS = [("b", "a"), ("b",), (), ("c", "b"), ("d",)]


def test_categories_stand_by_their_training_documents_then_by_name():
    parts = parts_of(5, ["train", "train", "train", "train", "test"])
    assert categories_of(LABELS, parts, None) == ("b", "a", "c", "d")
    assert categories_of(LABELS, parts, ["d", "b"]) == ("b", "d")


def test_a_category_that_no_document_carries_is_refused():
    parts = parts_of(5, None)
    with pytest.raises(InputError, match=r"got 'e'.* There are 'b', 'a', 'c', 'd'"):
        categories_of(LABELS, parts, ["a", "e"])
    with pytest.raises(InputError, match="got none"):
        categories_of(LABELS, parts, [])
    with pytest.raises(InputError, match="`labels` must give a category"):
        categories_of([(), ()], parts_of(2, None), None)


def test_truth_has_a_row_a_category_and_a_column_a_chosen_document():
    truth = truth_of(LABELS, np.array([0, 3]), ["c", "b", "a"])
    assert truth.tolist() == [[False, True], [True, True], [True, False]]


def corpus(**fields):
    return SimpleNamespace(**{"texts": WORDS, "matrix": None, **fields})


def test_words_are_learnt_from_the_training_documents_alone():
    parts = parts_of(4, ["train", "train", "train", "test"])
    vectors = vectors_of(corpus(), parts, None, 1)
    known = Vectorizer(min_documents=1).fit(WORDS[:3])
    assert (vectors.train != known.transform(WORDS[:3])).nnz == 0
    assert (vectors.test != known.transform(WORDS[3:])).nnz == 0
    assert vectors.settings["min_documents"] == 1
    assert vectors.settings["features"] == 5


def test_a_vectorizer_that_is_handed_over_is_not_changed():
    given_one = Vectorizer(min_documents=1, weighting="binary")
    vectors = vectors_of(corpus(), parts_of(4, None), given_one, None)
    assert vectors.settings["weighting"] == "binary"
    assert not hasattr(given_one, "words_")
    with pytest.raises(InputError, match="`min_documents` must not be given beside `vectorizer`"):
        vectors_of(corpus(), parts_of(4, None), given_one, 2)


def test_vectors_are_taken_as_they_are():
    matrix = csr_matrix(np.arange(8.0).reshape(4, 2))
    parts = parts_of(4, ["test", "train", "train", "test"])
    vectors = vectors_of(corpus(texts=None, matrix=matrix), parts, None, None)
    assert vectors.train.toarray().tolist() == [[2.0, 3.0], [4.0, 5.0]]
    assert vectors.test.toarray().tolist() == [[0.0, 1.0], [6.0, 7.0]]
    assert vectors_of(corpus(texts=None, matrix=matrix), parts_of(4, None), None, None).test is None
    with pytest.raises(InputError, match="`min_documents` must not be given for a corpus of vec"):
        vectors_of(corpus(texts=None, matrix=matrix), parts, None, 3)
