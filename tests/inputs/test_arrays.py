from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import truerisk as tr
from truerisk.errors import InputError
from truerisk.inputs.arrays import (
    ColumnNames,
    as_column,
    as_scores,
    check_weights,
    code_groups,
    code_label_sets,
    code_labels,
)

columns = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.integers(-(2**60), 2**60), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.text(st.characters(exclude_characters="\0"), max_size=3), min_size=1),
)


@given(columns)
def test_codes_lead_back_to_the_labels(column):
    coded = code_labels(column)
    assert [coded.members[code] for code in coded.truth] == [(str(label),) for label in column]


@pytest.mark.parametrize("kind", [list, lambda labels: np.array(labels, dtype=object)])
def test_labels_that_numpy_would_take_for_one_are_refused(kind):
    with pytest.raises(InputError, match=r"without NUL characters; got 'a\\x00'"):
        code_labels(kind(["a", "a\0"]))


@given(columns)
def test_a_column_holds_what_was_given(column):
    assert as_column(column).tolist() == column


@pytest.mark.parametrize(
    "column", [["a", 1], ["a", True], [1.5, "a"], ["a", "a\0"], [["a"], [2]]], ids=repr
)
def test_what_numpy_would_write_out_as_text_stays_what_it_is(column):
    result = as_column(column)
    assert result.dtype == object
    assert result.tolist() == column


def test_a_number_that_is_none_stays_so_beside_texts():
    text, nothing = as_column(("a", float("nan")))
    assert text == "a"
    assert np.isnan(nothing)


def test_an_array_stays_the_array_it_is():
    texts = np.array(["a", "nan"])
    assert as_column(texts) is texts


@given(st.lists(st.tuples(st.sets(st.text(max_size=2)), st.sets(st.text(max_size=2)))))
def test_codes_lead_back_to_the_label_sets(rows):
    rows = [(set(), {"a"}), *rows]
    coded = code_label_sets(*zip(*rows, strict=True))
    assert [coded.members[code] for code in coded.predicted] == [tuple(sorted(p)) for _, p in rows]


def test_indicators_and_sets_are_the_same_thing():
    matrix = np.array([[1, 0], [1, 1], [0, 0]])
    by_matrix = code_label_sets(matrix, labels=["x", "y"])
    assert [by_matrix.members[c] for c in by_matrix.truth] == [("x",), ("x", "y"), ()]


def test_one_and_the_text_one_are_different_labels():
    with pytest.raises(InputError, match=r"`y_true` holds \[0, 1\]; `y_pred` holds \['0', '1'\]"):
        code_labels([0, 1], ["0", "1"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([0.0, np.nan], "must have a label everywhere; 1 is NaN"),
        (["a", None], "must have a label everywhere; 1 is missing"),
        ([0.3, 0.7], "got 0.3. Numbers with a fraction are measurements, not classes."),
        ([[1, 2]], r"must be one column of labels; got shape \(1, 2\)\. Use multilabel"),
        ([[1], [2]], r"must be one column of labels; got shape \(2, 1\)\. Use \.ravel\(\)"),
        ([1j], "must hold integers, booleans or texts"),
        (np.array(["a", 1], dtype=object), "of one type; got int, str"),
        (pd.Series(["a", pd.NA, pd.NA], dtype="string"), "label everywhere; 2 are missing"),
        (np.array([1, pd.NA], dtype=object), "label everywhere; 1 is missing"),
        (np.array([pd.NaT, "a"], dtype=object), "label everywhere; 1 is missing"),
    ],
)
def test_what_is_no_label_is_refused(column, message):
    with pytest.raises(InputError, match=message):
        code_labels(column)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([0.0, np.nan], "`y` must have a label everywhere; 1 is NaN or infinite, at index 1."),
        (["a", None], "`y` must have a label everywhere; 1 is missing, at index 1."),
        ([0.5], "`y` must hold labels; got 0.5. Numbers with a fraction are measurements, not"),
        ([[1, 2]], "`y` must be one column of labels; got shape"),
        (["a\0"], "`y` must hold labels without NUL characters"),
        ([1j], "`y` must hold integers, booleans or texts"),
    ],
    ids=["NaN", "None", "fraction", "table", "NUL", "complex"],
)
def test_a_refusal_names_the_argument_as_its_function_does(column, message):
    with pytest.raises(InputError) as refused:
        code_labels(column, names=ColumnNames(true="y"))
    assert message in str(refused.value)
    assert "y_" not in str(refused.value)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (pd.Series(["a", "b", pd.NA], dtype="string"), "for every example; 1 is missing"),
        (pd.Series([3, pd.NA, pd.NA], dtype="Int64"), "for every example; 2 are missing"),
        (np.array([1, "1"], dtype=object), "`groups` must hold values of one type; got int, str."),
    ],
    ids=["texts and NA", "numbers and NA", "a number and a text"],
)
def test_what_is_no_group_is_refused(groups, message):
    with pytest.raises(InputError, match=message):
        code_groups(groups)


def test_kinds_of_arrays_are_arrays():
    masked = np.ma.masked_array([1, 0, 1], mask=False)
    assert type(as_column(masked)) is np.ndarray
    assert code_labels(masked).truth.tolist() == [1, 0, 1]


def test_whole_floats_are_labels():
    assert code_labels([0.0, 1.0]).members == (("0",), ("1",))


@pytest.mark.parametrize(
    ("sets", "labels", "message"),
    [
        (["ab"], None, "a collection of labels for each example; got 'ab'"),
        (np.array([[0, 2]]), None, "only 0 and 1"),
        (np.array([[0, 1]]), ["x"], "must name the 2 columns"),
    ],
)
def test_what_is_no_label_set_is_refused(sets, labels, message):
    with pytest.raises(InputError, match=message):
        code_label_sets(sets, labels=labels)


def test_a_sparse_matrix_may_hold_zeros_and_one_entry_in_two_parts():
    explicit = sp.csr_matrix(([1.0, 0.0, 1.0], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    parts = sp.csr_matrix(([0.5, 0.5, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    for matrix in (explicit, parts):
        coded = code_label_sets(matrix)
        assert [coded.members[code] for code in coded.truth] == [("0",), ("1",)]
    assert explicit.nnz == 3  # what was given stays as it was


@pytest.mark.parametrize("kind", [np.uint64, np.uint32, np.int8, np.bool_])
def test_integers_of_every_type_are_the_same_labels(kind):
    coded = code_labels(np.array([0, 1, 1], kind), np.array([0, 1, 0]))
    assert coded.members == (("0",), ("1",))
    assert coded.predicted.tolist() == [0, 1, 0]


def test_large_unsigned_integers_keep_all_digits():
    coded = code_labels(np.array([2**64 - 1, 1], np.uint64), np.array([1, -1]))
    assert coded.members == (("-1",), ("1",), (str(2**64 - 1),))


@pytest.mark.parametrize("label", [1e300, -1e19, 2.0**53 + 2])
def test_floating_labels_that_are_rounded_are_refused(label):
    with pytest.raises(InputError, match=r"two labels may have become one\. Give them as integers"):
        code_labels(np.array([label, 1.0]))


@pytest.mark.parametrize("entry", [np.int64, np.int8, float, np.float32, int])
def test_objects_that_are_numbers_are_labels(entry):
    column = np.array([entry(one) for one in (0, 1, 1)], dtype=object)
    assert code_labels(column).members == (("0",), ("1",))


def test_objects_that_are_booleans_of_numpy_are_labels():
    column = np.empty(2, object)
    column[:] = [*np.array([0], bool), True]
    assert code_labels(column).members == (("False",), ("True",))


def test_a_single_strange_type_is_not_called_several():
    with pytest.raises(InputError, match=r"`y_true` must hold labels; got complex\. Make texts"):
        code_labels(np.array([1j, 2j], dtype=object))


def test_decimals_and_objects_are_scores_and_weights():
    objects = np.array([Decimal("0.25"), 1, np.float32(0.5)], dtype=object)
    assert as_scores(objects).tolist() == [0.25, 1.0, 0.5]
    assert check_weights(objects).tolist() == [0.25, 1.0, 0.5]
    with pytest.raises(InputError, match=r"1 is NaN, at index 1"):
        as_scores(np.array([Decimal(1), None], dtype=object))


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ({0, 1}, "an order; got a set"),
        ({0: 1, 1: 0}, "an order; got a dict"),
        ((one for one in [0, 1]), "a length; got <generator"),
        (np.ma.array([0, 1], mask=[True, False]), "a value everywhere; 1 is masked, at index 0"),
    ],
)
def test_what_is_no_column_is_named(column, fault):
    with pytest.raises(InputError, match=f"`y_pred` must have {fault}"):
        tr.evaluate([0, 1], column)


def test_scores_in_a_matrix_of_one_column_are_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"`y_score` must be one column .* \(2, 1\)\. Use \.ravel"):
        tr.evaluate([0, 1], y_score=[[0.1], [0.9]])
