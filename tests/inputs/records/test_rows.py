import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import (
    Column,
    Strings,
    ahead,
    as_floats,
    as_strings,
    in_order,
    text_column,
)

PLACES = Places(Path("p.csv"), lambda row: f"row {row + 1}")


@given(st.lists(st.text()))
def test_texts_come_back_as_they_were(texts):
    strings = Strings.of(texts)
    assert strings.tolist() == texts
    assert [strings.text(row) for row in range(len(texts))] == texts
    assert strings.lengths.tolist() == [len(one.encode()) for one in texts]


def test_some_rows_can_be_taken_and_others_put_in_their_place():
    strings = Strings.of(["a", "b", "c"])
    assert strings[np.array([True, False, True])].tolist() == ["a", "c"]
    assert strings.followed_by(Strings.of(["é"]), np.array([1])).tolist() == ["a", "é", "c"]


def test_gaps_are_none_in_every_form():
    gap = np.array([False, True])
    assert Column(np.array([1, 0]), "int64", null=gap).tolist() == [1, None]
    assert Column(np.array([0, 0]), "string", words=["x"], null=gap).tolist() == ["x", None]
    assert Column(np.array([0, 0]), "null", words=(), null=~gap | gap).tolist() == [None, None]
    assert text_column(["x", None]).tolist() == ["x", None]


def test_numbers_are_floats_and_texts_are_not():
    whole = Column(np.array([3, 9]), "int64", null=np.array([False, True]))
    np.testing.assert_array_equal(as_floats(whole, "score", PLACES), [3.0, np.nan])
    with pytest.raises(InputError, match="'score' must hold numbers; got string"):
        as_floats(text_column(["1"]), "score", PLACES)


def test_ids_are_texts_or_integers_and_no_floats():
    strings, missing = as_strings(Column(np.array([7, 2**63 - 1]), "int64"), "id", PLACES)
    assert strings.tolist() == ["7", "9223372036854775807"]
    assert not missing.any()
    strings, missing = as_strings(text_column(["x", "", None]), "id", PLACES)
    assert missing.tolist() == [False, True, True]
    with pytest.raises(InputError, match="'id' must hold ids, text or integers; got double"):
        as_strings(Column(np.array([1.0]), "double"), "id", PLACES)


def failing_after(count):
    yield from range(count)
    raise ValueError("broken")


def keep(items, got):
    for item in items:
        got.append(item)


def test_order_is_kept():
    assert list(in_order(lambda x: -x, ahead(range(100)))) == [-x for x in range(100)]


@pytest.mark.parametrize("run", [ahead, lambda items: in_order(abs, items)])
def test_what_came_before_a_failure_comes_before_it(run):
    got = []
    with pytest.raises(ValueError, match="broken"):
        keep(run(failing_after(5)), got)
    assert got == [0, 1, 2, 3, 4]


def test_the_first_failure_is_the_one_that_is_raised():
    def fail(item):
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 0"):
        list(in_order(fail, failing_after(1)))


def test_no_thread_is_left_when_reading_stops_in_the_middle():
    before = threading.active_count()
    items = in_order(abs, ahead(iter(range(10**6))))
    next(items)
    items.close()
    assert threading.active_count() == before
