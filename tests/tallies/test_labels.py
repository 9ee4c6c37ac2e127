import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.tallies.labels import code_label_sets, code_labels

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
        ([0.0, np.nan], "must have a label everywhere; 1 are NaN"),
        (["a", None], "must have a label everywhere; 1 are missing"),
        ([0.3, 0.7], "Hand scores to `y_score`"),
        ([[1, 2]], r"must be one column of labels; got shape \(1, 2\)"),
        ([1j], "must hold integers, booleans or texts"),
        (np.array(["a", 1], dtype=object), "of one type; got int, str"),
    ],
)
def test_what_is_no_label_is_refused(column, message):
    with pytest.raises(InputError, match=message):
        code_labels(column)


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
