"""Columns → features: nothing is learnt but in `fit`, and scikit-learn's own steps agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.errors import InputError, ResourceError
from truerisk.learners import preprocessing
from truerisk.learners.preprocessing import ColumnCodes, Preprocessing, kinds_of

NAN = np.nan
MIXED = ("number", "category", "number")
TRAIN = np.array([[1.0, 0, 5], [NAN, 2, 5], [3, NAN, 5], [8, 0, NAN]])


@parametrize_with_checks(
    [Preprocessing(), Preprocessing(form="array"), Preprocessing(form="codes")]
)
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_an_example_by_hand():
    # Median of 1, 3, 8 is 3; mean of 1, 3, 3, 8 is 3.75, variance 26.75 / 4.
    found = Preprocessing(MIXED, scale=True).fit(TRAIN)
    assert_array_equal(found.medians_, [3, 5])
    assert_array_equal(found.means_, [3.75, 5])
    assert_allclose(found.deviations_, [np.sqrt(26.75 / 4), 1])
    assert_array_equal(found.categories_[0], [-1, 0, 2])
    made = found.transform(np.array([[NAN, 1, 6], [3.75, 2, 5], [3.75, NAN, 5]]))
    assert_allclose(made[0], [-0.75 / np.sqrt(26.75 / 4), 1, 0, 0, 0])
    assert_array_equal(made[1], [0, 0, 0, 0, 1])
    assert_array_equal(made[2], [0, 0, 1, 0, 0])


def test_numbers_are_not_scaled_for_those_who_do_not_need_it():
    made = Preprocessing(MIXED, scale=False).fit_transform(TRAIN)
    assert_array_equal(made[:, :2], [[1, 5], [3, 5], [3, 5], [8, 5]])


def test_missing_where_none_was_met_is_a_row_of_zeros():
    found = Preprocessing(["category"]).fit([[0.0], [1.0]])
    assert_array_equal(found.transform([[NAN], [7.0], [1.0]]), [[0, 0], [0, 0], [0, 1]])


def test_nothing_is_learnt_from_the_rows_that_judge():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(5, 3, 60), rng.integers(0, 4, 60), rng.normal(0, 9, 60)])
    X[rng.random(X.shape) < 0.2] = NAN
    train, test = np.arange(40), np.arange(40, 60)
    found = Preprocessing(MIXED).fit(X[train])
    alone = found.transform(X[test[:1]])
    X[test[1:]] = 1e6
    assert_array_equal(clone(found).fit(X[train]).transform(X[test[:1]]), alone)
    assert_array_equal(found.medians_, np.nanmedian(X[train][:, [0, 2]], axis=0))
    assert found.medians_[0] != np.nanmedian(X[:, 0])


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_it_agrees_with_the_steps_of_scikit_learn(data, seed):
    rng = np.random.default_rng(seed)
    n, width = data.draw(st.integers(3, 30)), data.draw(st.integers(1, 8))
    numbers, codes = rng.normal(3, 5, (n, 2)), rng.integers(0, width, (n, 2)).astype(float)
    numbers[1:][rng.random((n - 1, 2)) < 0.3] = NAN
    fresh = rng.integers(0, width + 2, (5, 2)).astype(float)
    X = np.hstack([codes, numbers])
    found = Preprocessing(["category"] * 2 + ["number"] * 2, form="array").fit(X)
    imputer = SimpleImputer(strategy="median").fit(numbers)
    scaler = StandardScaler().fit(imputer.transform(numbers))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(codes)
    test = np.hstack([fresh, rng.normal(3, 5, (5, 2))])
    expected = [scaler.transform(imputer.transform(test[:, 2:])), one_hot.transform(fresh)]
    assert_allclose(found.transform(test), np.hstack(expected), atol=1e-9)


def test_many_categories_give_a_sparse_matrix_with_the_same_entries():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, 60, (200, 3)), rng.normal(size=(200, 1))]).astype(float)
    X[::7] = NAN
    kinds = ["category"] * 3 + ["number"]
    sparse = Preprocessing(kinds).fit_transform(X)
    dense = Preprocessing(kinds, form="array").fit_transform(X)
    assert issparse(sparse)
    assert sparse.format == "csr"
    assert sparse.has_sorted_indices
    assert (sparse.data != 0).all()
    assert_array_equal(sparse.toarray(), dense)


def test_a_sparse_matrix_is_taken_as_it_is():
    X = csr_matrix([[0.0, 2.0], [3.0, 0.0]])
    assert_array_equal(Preprocessing().fit_transform(X).toarray(), X.toarray())
    assert_array_equal(Preprocessing(form="array").fit_transform(X), X.toarray())


def test_an_array_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(preprocessing, "LARGEST_DENSE", 31)
    with pytest.raises(ResourceError, match="2 × 2 features would take more than"):
        Preprocessing(form="array").fit_transform(csr_matrix(np.eye(2)))


def test_codes_keep_the_columns_and_say_nan_for_what_is_not_known():
    found = Preprocessing(MIXED, form="codes").fit(TRAIN)
    made = found.transform(np.array([[NAN, 2, 6], [4, 1, NAN], [4, NAN, 5]]))
    assert_array_equal(made, [[NAN, 1, 6], [4, NAN, NAN], [4, NAN, 5]])


def test_of_very_many_codes_the_most_frequent_are_kept():
    column = np.concatenate([np.arange(300.0), np.arange(45.0, 300.0)])
    found = Preprocessing(["category"], form="codes").fit(column[:, None])
    assert_array_equal(found.categories_[0], np.arange(45.0, 300.0))
    assert_array_equal(found.transform([[44.0], [45.0], [299.0]])[:, 0], [NAN, 0, 254])


def test_texts_become_words_of_the_training_texts():
    X = np.array([["wheat corn", 1.0], ["corn", 2.0], [None, 3.0]], object)
    found = Preprocessing(("text", "number"), scale=False).fit(X)
    made = found.transform(np.array([["wheat gold", 7.0]], object))
    assert found.vectorizers_[0].words_ == ("corn", "wheat")
    assert_array_equal(made.toarray(), [[7, 0, 1]])
    assert_array_equal(found.fit_transform(X).toarray(), found.transform(X).toarray())


def test_columns_of_which_nothing_is_known_are_zeros():
    X = np.full((3, 2), NAN)
    assert_array_equal(Preprocessing(["number"] * 2).fit_transform(X), np.zeros((3, 2)))
    assert_array_equal(Preprocessing(["category"] * 2).fit_transform(X), np.ones((3, 2)))
    codes = Preprocessing(["category"] * 2, form="codes").fit_transform(X)
    assert np.isnan(codes).all()


def test_a_constant_column_is_not_blown_up_by_rounding():
    X = np.full((7, 1), 0.1) * 3
    assert_allclose(Preprocessing().fit_transform(X), np.zeros((7, 1)), atol=1e-12)


def test_the_rows_given_are_not_changed():
    before = TRAIN.copy()
    Preprocessing(MIXED).fit_transform(TRAIN)
    assert_array_equal(before, TRAIN)


@pytest.mark.parametrize(
    ("kinds", "form", "message"),
    [
        (("number",), "array", "`kinds` must have an entry for each column of `X`; got 1 for 3"),
        (("number", "word", "number"), "array", "`kinds` must be one of number, category, text"),
        (MIXED, "dense", "`form` must be one of features, array, codes; got 'dense'"),
        (
            ("text", "number", "number"),
            "codes",
            '`form` must not be "codes" for a table with texts',
        ),
    ],
    ids=["short", "unknown", "form", "codes of texts"],
)
def test_settings_that_do_not_fit_are_refused(kinds, form, message):
    with pytest.raises(InputError, match=message):
        Preprocessing(kinds, form=form).fit(TRAIN)


def test_the_columns_of_an_array_of_objects():
    X = np.array([[1.5, "red"], [2, "blue"]], dtype=object)
    assert kinds_of(X) == ("number", "category")
    assert kinds_of(np.zeros((2, 2))) is None
    codes = ColumnCodes(("number", "category")).fit_transform(X)
    assert codes.tolist() == [[1.5, 1.0], [2.0, 0.0]]
