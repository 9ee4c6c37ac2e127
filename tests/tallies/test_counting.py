import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import confusion_matrix

from truerisk.errors import InputError
from truerisk.tallies.counting import COMPILED_FROM, count_labels, count_pairs


@given(
    st.sampled_from([np.int8, np.int16, np.int32, np.int64, np.uint8]).flatmap(
        lambda kind: npst.arrays(kind, (2, 30), elements=st.integers(0, 4))
    )
)
def test_pairs_agree_with_scikit_learn(columns):
    found = count_pairs(*columns, 5, 5)
    np.testing.assert_array_equal(found, confusion_matrix(*columns, labels=range(5)))
    assert found.dtype == np.int64


def test_rows_and_columns_are_not_swapped():
    found = count_pairs(np.array([0, 0, 1]), np.array([2, 2, 0]), 2, 3)
    assert found.tolist() == [[0, 0, 2], [1, 0, 0]]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint64])
def test_many_rows_are_counted_as_few_are(kind):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 7, size=(2, COMPILED_FROM)).astype(kind)
    expected = np.bincount(columns[0].astype(int) * 7 + columns[1].astype(int), minlength=49)
    np.testing.assert_array_equal(count_pairs(*columns, 7, 7).ravel(), expected)
    labels, table = count_labels(*columns)
    assert labels.tolist() == list(range(7))
    np.testing.assert_array_equal(table.ravel(), expected)


@pytest.mark.parametrize("shift", [0, -1, 500, 10**9, -(10**9)])
@pytest.mark.parametrize("rows", [50, COMPILED_FROM])
def test_labels_of_any_place_are_found(shift, rows):
    first = np.arange(rows) % 3 * 2 + shift
    second = np.arange(rows) % 2 * 4 + shift
    labels, table = count_labels(first, second)
    assert labels.tolist() == [shift, shift + 2, shift + 4]
    np.testing.assert_array_equal(table, confusion_matrix(first, second))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_many_rows_of_two_labels_are_counted_as_few_are(kind):
    rng = np.random.default_rng(1)
    first = (rng.random(COMPILED_FROM) < 0.3).astype(kind)
    second = (rng.random(COMPILED_FROM) < 0.6).astype(kind)
    expected = np.bincount(2 * first.astype(int) + second.astype(int)).reshape(2, 2)
    np.testing.assert_array_equal(count_pairs(first, second, 2, 2), expected)
    labels, table = count_labels(first, second)
    assert labels.tolist() == [0, 1]
    np.testing.assert_array_equal(table, expected)
    second[-1] = 3  # seen late
    labels, table = count_labels(first, second)
    assert labels.tolist() == [0, 1, 3]
    assert table.sum() == COMPILED_FROM


def test_labels_far_apart_are_found_among_many_rows():
    first = np.where(np.arange(COMPILED_FROM) % 2, 10**6, 0)
    labels, table = count_labels(first, first)
    assert labels.tolist() == [0, 10**6]
    assert table.tolist() == [[COMPILED_FROM // 2, 0], [0, COMPILED_FROM // 2]]


def test_the_largest_unsigned_label_is_not_taken_for_minus_one():
    first = np.full(COMPILED_FROM, 2**62, dtype=np.uint64)
    first[0] = 0
    labels, table = count_labels(first, first)
    assert labels.tolist() == [0, 2**62]
    assert table.diagonal().tolist() == [1, COMPILED_FROM - 1]


@pytest.mark.parametrize("kinds", [(np.int8, np.int64), (np.uint64, np.int32), (">i4", ">i4")])
@pytest.mark.parametrize("top", [2, 7])
def test_columns_of_two_types_and_strided_ones_are_counted(kinds, top):
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, top, size=(2, 2 * COMPILED_FROM))
    first, second = first.astype(kinds[0])[::2], second.astype(kinds[1])[::2]
    expected = np.bincount(first.astype(int) * top + second.astype(int), minlength=top * top)
    np.testing.assert_array_equal(count_pairs(first, second, top, top).ravel(), expected)


def test_columns_that_may_not_be_written_are_counted():
    column = np.zeros(COMPILED_FROM, dtype=np.int8)
    column.flags.writeable = False
    assert count_pairs(column, column, 2, 2).tolist() == [[COMPILED_FROM, 0], [0, 0]]


@pytest.mark.parametrize("rows", [3, COMPILED_FROM])
@pytest.mark.parametrize("strange", [-1, 2])
def test_codes_outside_the_table_are_refused(rows, strange):
    first = np.zeros(rows, dtype=np.int64)
    second = first.copy()
    second[1] = strange
    with pytest.raises(InputError, match=f"`second` must hold codes from 0 to 1; got {strange}"):
        count_pairs(first, second, 2, 2)


def test_columns_that_are_no_codes_are_refused():
    codes = np.zeros(2, dtype=int)
    with pytest.raises(InputError, match=r"`first` must be one column of int8.*got float64"):
        count_pairs(np.zeros(2), codes, 2, 2)
    with pytest.raises(InputError, match="`first` has 2, `second` has 1"):
        count_pairs(codes, codes[:1], 2, 2)
