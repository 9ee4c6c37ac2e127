"""Vectors of documents: weights worked by hand, scikit-learn as a second source, plain data."""

import json
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import diags
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils import estimator_checks

from truerisk.errors import InputError, ResourceError
from truerisk.text import vectorizer as module
from truerisk.text import words
from truerisk.text.vectorizer import Vectorizer

# All that need no numbers as input; scikit-learn itself gives none of the others to text.
CHECKS = [
    getattr(estimator_checks, f"check_{name}")
    for name in (
        "estimator_cloneable",
        "estimator_repr",
        "estimator_tags_renamed",
        "get_params_invariance",
        "mixin_order",
        "no_attributes_set_in_init",
        "parameters_default_constructible",
        "set_params",
        "valid_tag_types",
    )
]
TRAINING = ["Wheat and corn and wheat", "corn and gold", "Corn, and 2 oil-wells", "and"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_scikit_learn(check):
    check("Vectorizer", Vectorizer())


def test_the_weight_is_tf_times_log_n_over_df():
    """By hand: n = 4; and 4, corn 3, wheat 1 documents; log(4/3) = 0.28768, log 4 = 1.38629."""
    vectorizer = Vectorizer(min_documents=1, unit_length=False)
    X = vectorizer.fit_transform(TRAINING).toarray()
    assert vectorizer.words_ == ("and", "corn", "gold", "oil", "wells", "wheat")
    assert vectorizer.document_counts_.tolist() == [4, 3, 1, 1, 1, 1]
    assert_allclose(X[0], [0, 0.2876820724517809, 0, 0, 0, 2 * 1.3862943611198906], rtol=1e-15)
    assert_allclose(X[3], 0)


def test_a_word_of_every_training_document_is_not_stored():
    X = Vectorizer(min_documents=1).fit_transform(TRAINING)
    assert np.all(X.data != 0)
    assert X[3].nnz == 0


def test_the_weights_are_those_of_the_training_documents():
    vectorizer = Vectorizer(min_documents=1, unit_length=False).fit(TRAINING)
    X = vectorizer.transform(["gold gold silver", "gold", "gold", "gold", ""]).toarray()
    assert_allclose(X[0], [0, 0, 2 * np.log(4), 0, 0, 0])
    assert not X[4].any()
    assert vectorizer.n_documents_ == 4


def test_a_word_must_occur_in_three_training_documents_by_default():
    assert Vectorizer().fit(TRAINING).words_ == ("and", "corn")


@pytest.mark.parametrize(
    ("weighting", "first"), [("tf", [2, 1, 0, 0, 0, 2]), ("binary", [1, 1, 0, 0, 0, 1])]
)
def test_counts_and_ones_are_weights_too(weighting, first):
    vectorizer = Vectorizer(min_documents=1, weighting=weighting, unit_length=False)
    assert vectorizer.fit_transform(TRAINING).toarray()[0].tolist() == first
    assert vectorizer.transform(TRAINING).toarray()[0].tolist() == first


def test_words_may_keep_their_case_and_digits():
    vectorizer = Vectorizer(min_documents=1, lowercase=False, words="alphanumeric").fit(TRAINING)
    assert {"2", "Corn", "Wheat", "corn", "wheat"} <= set(vectorizer.words_)


@given(
    texts=st.lists(st.text("abcé1_ -", max_size=20), min_size=1, max_size=10),
    new=st.lists(st.text("abcé1_ -", max_size=20), max_size=4),
    least=st.integers(1, 3),
    weighting=st.sampled_from(["tfidf", "tf", "binary"]),
    unit=st.booleans(),
)
def test_it_gives_what_scikit_learn_gives(texts, new, least, weighting, unit):
    # One word that is always there, since both refuse a vocabulary of none.
    texts = [*texts, "word", "word", "word"]
    pattern = r"[^\W\d_]+"
    peer = CountVectorizer(token_pattern=pattern, min_df=least, binary=weighting == "binary")
    counts = peer.fit_transform(texts)
    frequencies = np.asarray((counts > 0).sum(axis=0)).ravel()
    rarity = np.log(len(texts) / frequencies) if weighting == "tfidf" else np.ones(len(frequencies))
    vectorizer = Vectorizer(min_documents=least, weighting=weighting, unit_length=unit)
    result = vectorizer.fit_transform(texts)
    assert list(vectorizer.words_) == peer.get_feature_names_out().tolist()
    for documents, X in ((texts, result), (new, vectorizer.transform(new))):
        expected = peer.transform(documents) @ diags(rarity) if documents else X
        expected = normalize(expected) if unit and documents else expected
        assert_allclose(X.toarray(), expected.toarray(), rtol=1e-13, atol=0)
        assert X.shape == (len(documents), len(vectorizer.words_))
        assert X.has_canonical_format
        assert (X.dtype, X.indices.dtype, X.indptr.dtype) == (np.float64, np.int32, np.int32)
        if unit:
            lengths = np.sqrt(X.multiply(X).sum(axis=1))
            assert_allclose(lengths[lengths > 0], 1.0)


@given(texts=st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_fit_then_transform_is_fit_transform_and_order_changes_only_the_rows(texts):
    texts = [*texts, "word"]
    at_once = Vectorizer(min_documents=1).fit_transform(texts)
    in_two = Vectorizer(min_documents=1).fit(texts).transform(texts)
    reversed_ = Vectorizer(min_documents=1).fit_transform(texts[::-1])
    for other in (in_two, reversed_[::-1]):
        assert np.array_equal(at_once.toarray(), other.toarray())


def test_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    texts = [" ".join("w" * length for length in rng.integers(1, 40, 30)) for _ in range(300)]
    alone = Vectorizer().fit_transform(texts)
    for place in (module, words):
        monkeypatch.setattr(place, "threads_for", lambda _: 3)
    monkeypatch.setattr(words, "BLOCK_CHARACTERS", 1000)
    vectorizer = Vectorizer()
    for shared in (vectorizer.fit_transform(texts), vectorizer.transform(texts)):
        for part in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(alone, part), getattr(shared, part))


# Saved and loaded


@given(texts=st.lists(st.text(min_size=1), min_size=1, max_size=5), lowercase=st.booleans())
def test_plain_data_bring_the_same_vectorizer_back(texts, lowercase):
    texts = [*texts, "word"]
    vectorizer = Vectorizer(min_documents=1, lowercase=lowercase).fit(texts)
    plain = vectorizer.as_plain()
    again = Vectorizer.from_plain(json.loads(json.dumps(plain)))
    assert again.as_plain() == plain
    assert again.get_params() == vectorizer.get_params()
    assert np.array_equal(again.transform(texts).toarray(), vectorizer.transform(texts).toarray())


def test_it_can_be_copied_and_pickled():
    vectorizer = Vectorizer(min_documents=1, weighting="tf").fit(TRAINING)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert not hasattr(clone(vectorizer), "words_")
    again = pickle.loads(pickle.dumps(vectorizer))  # noqa: S301
    assert np.array_equal(
        again.transform(TRAINING).toarray(), vectorizer.transform(TRAINING).toarray()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "`plain` must be what `as_plain` gave"),
        ({"extra": 1}, "`plain` must have the keys document_counts, format"),
        ({"settings": {}}, "`settings` must have min_documents"),
        ({"words": ["corn", "and"]}, "`words` must be distinct, sorted"),
        ({"words": ["and", "and"]}, "`words` must be distinct, sorted"),
        ({"words": ["And", "corn"]}, "`words` must be distinct, sorted"),
        ({"words": ["and", "b2"]}, "`words` must be distinct, sorted"),
        ({"words": ["and", 3]}, "`words` must be a list of strings"),
        ({"words": "ab"}, "`words` must be a list of strings"),
        ({"document_counts": [4]}, "`document_counts` must be a list with a count for each word"),
        ({"document_counts": [4, 5]}, "`document_counts` must lie in [3, 4]; got 5."),
        ({"document_counts": [4, 2]}, "`document_counts` must lie in [3, 4]; got 2."),
        ({"document_counts": [4, True]}, "`document_counts` must be a whole number; got True."),
        ({"n_documents": 2.5}, "`n_documents` must be a whole number"),
    ],
)
def test_plain_data_that_cannot_be_true_are_refused(change, message):
    plain = Vectorizer().fit(TRAINING).as_plain() | change
    with pytest.raises(InputError) as caught:
        Vectorizer.from_plain(plain)
    assert str(caught.value).startswith(message)


def test_plain_data_with_wrong_settings_are_refused():
    plain = Vectorizer().fit(TRAINING).as_plain()
    plain["settings"] = plain["settings"] | {"weighting": "idf"}
    with pytest.raises(
        InputError, match="`weighting` must be one of tfidf, log_tfidf, tf, log_tf, binary"
    ):
        Vectorizer.from_plain(plain)
    with pytest.raises(InputError, match="`plain` must be what `as_plain` gave"):
        Vectorizer.from_plain([])


# What is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_documents": 0}, "`min_documents` must lie in [1, "),
        ({"min_documents": 0.5}, "`min_documents` must be a whole number; got 0.5."),
        (
            {"weighting": "idf"},
            "`weighting` must be one of tfidf, log_tfidf, tf, log_tf, binary; got 'idf'.",
        ),
        ({"words": "stems"}, "`words` must be one of letters, alphanumeric; got 'stems'."),
        ({"lowercase": "yes"}, "`lowercase` must be True or False; got 'yes'."),
        ({"unit_length": 1}, "`unit_length` must be True or False; got 1."),
        ({"min_documents": 5}, "`min_documents` must leave at least one word; none of the words"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(InputError) as caught:
        Vectorizer(**settings).fit(TRAINING)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "`X` must be a sequence of documents, each a string; got 'one text'. Put"),
        (b"bytes", "`X` must be a sequence of documents"),
        (3, "`X` must be a sequence of documents"),
        (["a", None], "`X` must hold strings; got None at place 1."),
        ([b"a"], "`X` must hold strings; got b'a' at place 0. Decode bytes first"),
        ([], "`X` must hold at least one document; got 0."),
        (["1 2", "3"], "`min_documents` must leave at least one word"),
    ],
)
def test_documents_that_are_none_are_refused(documents, message):
    with pytest.raises(InputError) as caught:
        Vectorizer(min_documents=1).fit(documents)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "documents",
    [tuple(TRAINING), np.array(TRAINING), np.array(TRAINING, dtype=object), iter(TRAINING)],
)
def test_any_sequence_of_strings_will_do(documents):
    assert Vectorizer().fit(documents).words_ == ("and", "corn")


def test_no_document_gives_no_row():
    assert Vectorizer().fit(TRAINING).transform([]).shape == (0, 2)


def test_the_names_of_features_are_the_words():
    assert Vectorizer().fit(TRAINING).get_feature_names_out().tolist() == ["and", "corn"]


FILMS = ["Running films, good films", "the good runner runs", "running a good film", "good film"]


def test_words_are_stemmed_by_porters_rules():
    # Porter 1980: "running", "runs" -> "run"; "films" -> "film"; "runner" keeps its suffix.
    vectorizer = Vectorizer(min_documents=1, stem="porter", weighting="tf", unit_length=False)
    counts = vectorizer.fit_transform(FILMS).toarray()
    assert vectorizer.words_ == ("a", "film", "good", "run", "runner", "the")
    assert_array_equal(counts[0], [0, 2, 1, 1, 0, 0])
    assert_array_equal(vectorizer.transform(["RUNS!"]).toarray()[0], [0, 0, 0, 1, 0, 0])


def test_stop_words_are_left_out_before_stemming():
    given = Vectorizer(min_documents=1, stop_words=["a", "the", "running"]).fit(FILMS)
    assert given.words_ == ("film", "films", "good", "runner", "runs")
    assert "the" not in Vectorizer(min_documents=1, stop_words="english").fit(FILMS).words_


def test_pairs_are_neighbours_within_a_document():
    pairs = Vectorizer(min_documents=2, ngrams=2, weighting="tf", unit_length=False)
    counts = pairs.fit_transform(FILMS).toarray()
    assert pairs.words_ == ("film", "good", "good film", "running")
    assert_array_equal(counts[:, 2], [0, 0, 1, 1])


def test_counts_may_be_taken_in_logarithms():
    vectorizer = Vectorizer(min_documents=1, weighting="log_tfidf", unit_length=False)
    row = vectorizer.fit_transform(["corn corn corn wheat", "wheat"]).toarray()[0]
    assert_allclose(row, [(1 + np.log(3)) * np.log(2), 0.0])
    plain = Vectorizer(min_documents=1, weighting="log_tf", unit_length=False)
    assert_allclose(plain.fit_transform(["corn corn"]).toarray(), [[1 + np.log(2)]])


def test_terms_survive_as_plain_data():
    made = Vectorizer(min_documents=1, stem="english", stop_words=("the",), ngrams=3).fit(FILMS)
    again = Vectorizer.from_plain(json.loads(json.dumps(made.as_plain())))
    assert again.words_ == made.words_
    assert_array_equal(again.transform(FILMS).toarray(), made.transform(FILMS).toarray())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stem": "klingon"}, "`stem` must be None or one of"),
        ({"stop_words": "french"}, "`stop_words` must be None, 'english' or a list"),
        ({"ngrams": 0}, "`ngrams` must"),
    ],
)
def test_terms_that_are_not_known_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Vectorizer(**settings).fit(FILMS)


def test_without_the_stemmer_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ResourceError, match=r"pip install truerisk\[stem\]"):
        Vectorizer(stem="porter").fit(FILMS)
