"""Naive Bayes over mixed columns: by hand, and as scikit-learn's three forms of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.errors import InputError
from truerisk.learners.naive_bayes import NaiveBayes

NAN = np.nan


@parametrize_with_checks([NaiveBayes()])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_an_example_by_hand():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 1.0], [5.0, NAN], [8.0, 1.0]])
    model = NaiveBayes(("number", "category")).fit(X, ["a", "a", "b", "b", "b"])
    # a: N(1, 1), P(1) = (1 + 1)/(2 + 2); b: N(6, 2), P(1) = (2 + 1)/(2 + 2).
    a = 0.4 * np.exp(-(3**2) / 2) * 2 / 4
    b = 0.6 * np.exp(-(2**2) / 4) / np.sqrt(2) * 3 / 4
    assert_allclose(model.predict_proba([[4.0, 1.0]]), [[a / (a + b), b / (a + b)]], rtol=1e-6)


def test_a_missing_cell_and_an_unknown_category_say_nothing():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [5.0, 1.0], [6.0, 0.0], [8.0, 1.0]])
    model = NaiveBayes(("number", "category")).fit(X, [0, 0, 1, 1, 1])
    known = model.predict_joint_log_proba([[NAN, 1.0], [4.0, NAN], [4.0, 9.0], [NAN, NAN]])
    assert_allclose(known[3], np.log([0.4, 0.6]))
    assert_allclose(known[0], np.log([0.4 * 2 / 4, 0.6 * 3 / 5]))
    assert_array_equal(known[1], known[2])


def test_numbers_are_as_in_gaussian_naive_bayes():
    X, y = load_iris(return_X_y=True)
    ours, theirs = NaiveBayes().fit(X, y), GaussianNB().fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
def test_categories_are_as_in_categorical_naive_bayes(smoothing):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, (80, 3)), rng.integers(0, 3, 80)
    ours = NaiveBayes(["category"] * 3, smoothing=smoothing).fit(X, y)
    theirs = CategoricalNB(alpha=smoothing).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


def test_sparse_rows_and_texts_are_as_in_multinomial_naive_bayes():
    rng = np.random.default_rng(2)
    counts, y = rng.poisson(0.7, (40, 5)), rng.integers(0, 3, 40)
    theirs = MultinomialNB().fit(counts, y).predict_proba(counts)
    ours = NaiveBayes().fit(csr_matrix(counts, dtype=float), y)
    assert_allclose(ours.predict_proba(csr_matrix(counts, dtype=float)), theirs)
    words = np.array(["ant", "bee", "cat", "dog", "elk"])
    texts = [[" ".join(np.repeat(words, row))] for row in counts]
    texts[3] = [None] if not counts[3].any() else texts[3]
    model = NaiveBayes(["text"]).fit(np.array(texts, object), y)
    assert_allclose(model.predict_proba(np.array(texts, object)), theirs)


def test_columns_of_which_a_class_or_all_know_nothing_decide_nothing():
    X = np.array([[NAN, NAN, NAN], [NAN, 1.0, NAN], [1.0, 2.0, NAN], [3.0, 2.0, NAN]])
    model = NaiveBayes(("number", "category", "number")).fit(X, [0, 0, 1, 1])
    found = model.predict_joint_log_proba([[2.0, NAN, 5.0]])
    assert_allclose(found[0, 0], found[0, 1])


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="must hold no negative number where it is sparse"):
        NaiveBayes().fit(csr_matrix([[1.0, -2.0], [0.0, 1.0]]), [0, 1])
