from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.arrow import plain_columns
from truerisk.inputs.records.checked_batches import MISSING, LabelEncoder, UniqueIds, encode
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import Column, Selection, Strings

PLACES = Places(Path("p.parquet"), lambda row: f"row {row + 1}")


def encoder(book=None, *, may_be_empty=False, **options):
    book = LabelBook() if book is None else book
    return LabelEncoder("y", book, ReadingOptions(**options), may_be_empty=may_be_empty)


def column(array, options=None):
    batch = pa.RecordBatch.from_arrays([array], ["y"])
    return plain_columns(batch, Selection(labels=("y",)), PLACES, options or ReadingOptions())["y"]


def codes(one, array):
    return encode([one], [column(array, one.options)], PLACES)[0].tolist()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([3, None, 1, 3]),
        pa.array([3, None, 1, 3], pa.int8()),
        pa.array([3, None, 1, 3], pa.uint64()),
        pa.array([3.0, float("nan"), 1.0, 3.0]),
        pa.array(["3", "", "1", "3"]),
        pa.array(["3", None, "1", "3"], pa.large_string()),
        pa.array(["3", None, "1", "3"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays([2, 0, 1, 2], ["", "1", "3"]),
        pa.DictionaryArray.from_arrays([2, 0, 1, 2], pa.array([None, 1, 3])),
    ],
)
def test_every_type_gives_text_in_order_of_appearance(array):
    one = encoder()
    assert codes(one, array) == [0, MISSING, 1, 0]
    assert one.book.texts == ("3", "1")


def test_booleans_are_true_and_false():
    one = encoder()
    assert codes(one, pa.array([True, None, False])) == [0, MISSING, 1]
    assert one.book.texts == ("True", "False")


def test_a_column_without_any_value_is_missing():
    assert codes(encoder(), pa.array([None, None])) == [MISSING] * 2
    assert codes(encoder(), pa.array([None, None], pa.string())) == [MISSING] * 2
    assert codes(encoder(), pa.array([None, None], pa.int32())) == [MISSING] * 2


def test_the_empty_text_is_a_set_of_labels_where_sets_are_allowed():
    one = encoder(may_be_empty=True)
    assert codes(one, pa.array(["", "a", None])) == [0, 1, MISSING]


def test_a_category_that_is_null_is_missing_even_where_sets_are_allowed():
    array = pa.DictionaryArray.from_arrays([0, 1], pa.array([None, "a"]))
    assert codes(encoder(may_be_empty=True), array) == [MISSING, 0]


def test_a_column_may_change_its_type_from_file_to_file():
    one = encoder()
    result = [
        codes(one, pa.array(values, kind))
        for values, kind in [
            ([True, False], pa.bool_()),
            ([0, 1], pa.int8()),
            ([1, 0], pa.int64()),
            (["1", "True"], pa.string()),
            ([False], pa.bool_()),
        ]
    ]
    assert one.book.texts == ("True", "False", "0", "1")
    assert result == [[0, 1], [2, 3], [3, 2], [3, 0], [1]]


def test_categories_that_no_row_has_are_no_labels():
    one = encoder()
    assert codes(one, pa.DictionaryArray.from_arrays([1], ["unused", "used"])) == [0]
    assert one.book.texts == ("used",)


def test_columns_that_share_a_book_share_its_codes_row_by_row():
    book = LabelBook()
    truth, pred = encode(
        [encoder(book), encoder(book)],
        [column(pa.array(["a", "c"])), column(pa.array(["b", "a"]))],
        PLACES,
    )
    assert book.texts == ("a", "b", "c")
    assert (truth.tolist(), pred.tolist()) == ([0, 2], [1, 0])


def test_the_table_grows_both_ways_and_survives_a_range_too_wide_for_it():
    one = encoder()
    batches = [[5, 6], [4, 7], [5, 2**40], [6, 2**19], [-(2**20), 4], [5, 7]]
    result = [codes(one, pa.array(values)) for values in batches]
    assert [[int(one.book.texts[code]) for code in row] for row in result] == batches


def test_the_widest_integers_do_not_overflow():
    values = [2**63 - 1, -(2**63), 2**63 - 2]
    one = encoder()
    assert codes(one, pa.array(values)) == [0, 1, 2]
    assert one.book.texts == tuple(map(str, values))
    assert codes(encoder(), pa.array([-128, 127], pa.int8())) == [0, 1]


def test_lists_are_joined_only_when_sets_are_allowed():
    lists = pa.array([["b", "a"], [], ["b"]])
    one = encoder(may_be_empty=True, multilabel_separator="|")
    assert codes(one, lists) == [0, 1, 2]
    assert one.book.texts == ("b|a", "", "b")
    with pytest.raises(InputError, match="must hold one label per row; got list"):
        codes(encoder(), lists)
    with pytest.raises(InputError, match="do not contain 'a'"):
        codes(encoder(multilabel_separator="a"), lists)


def test_stripping_makes_labels_one_and_blank_ones_missing():
    one = encoder(strip=True)
    assert codes(one, pa.array(["a ", " a", "  "])) == [0, 0, MISSING]
    assert one.book.texts == ("a",)


@pytest.mark.parametrize("kind", [pa.bool_(), pa.int64(), pa.string()], ids=str)
def test_labels_of_every_type_are_spelt_as_the_options_say(kind):
    book = LabelBook()
    options = ReadingOptions(numeric_labels=True, label_map={"1": "yes"})
    values = pa.array([True, False]).cast(kind) if kind != pa.string() else pa.array(["1", "0.0"])
    encode([LabelEncoder("y", book, options, may_be_empty=False)], [column(values)], PLACES)
    assert book.texts == (("1", "0") if kind == pa.bool_() else ("yes", "0"))


@pytest.mark.parametrize(
    ("kind", "batches"),
    [
        (np.int8, [[0, 1, 1], [1, 0, 0], [0, 2, 0], [-128, 127, 1]]),
        (np.uint8, [[255, 254], [254, 255], [0, 255]]),
        (np.uint64, [[2**64 - 1, 2**64 - 2], [2**64 - 2, 2**64 - 1], [2**64 - 9, 3]]),
        (np.int64, [[-(2**63), -(2**63) + 1], [-(2**63) + 1, -(2**63)], [2**63 - 1, 0]]),
        (">i4", [[7, 8], [8, 7], [7, 9]]),
    ],
)
def test_integers_of_later_batches_are_those_of_the_first_or_new(kind, batches):
    book = LabelBook()
    encoder = LabelEncoder("y", book, ReadingOptions(), may_be_empty=False)
    for batch in batches:
        values = np.array(batch, dtype=kind)
        (codes,) = encode([encoder], [Column(values, str(values.dtype))], PLACES)
        assert [book.texts[code] for code in codes] == [str(value) for value in batch]


def hashes(texts):
    return Strings.of(texts).hashes()


@given(st.lists(st.text(max_size=20), min_size=1))
def test_equal_texts_and_only_they_have_equal_hashes(texts):
    result = hashes(texts).tolist()
    assert len(set(result)) == len(set(texts))
    assert result == [hashes([text])[0] for text in texts]


def test_a_slice_hashes_like_a_copy():
    texts = ["", "a", "abcdefgh", "abcdefghi", "é"]
    assert Strings.of(texts)[np.arange(2, 5)].hashes().tolist() == hashes(texts[2:]).tolist()


def test_the_length_of_a_text_is_part_of_its_hash():
    texts = ["a", "a\0", "a\0\0", "", "\1", "\0\2", "\0\0\3"]
    assert len(set(hashes(texts).tolist())) == len(texts)


def test_neighbouring_numbers_do_not_collide():
    texts = [str(number) for number in range(200_000)]
    assert len(np.unique(hashes(texts))) == len(texts)


def test_every_bit_of_the_hash_is_used():
    result = hashes([str(number) for number in range(20_000)])
    shares = [np.mean((result >> np.uint64(bit)) & np.uint64(1)) for bit in range(64)]
    assert min(shares) > 0.45
    assert max(shares) < 0.55


def test_a_collision_of_hashes_is_no_repetition(monkeypatch):
    monkeypatch.setattr(Strings, "hashes", lambda self: np.zeros(len(self), np.uint64))
    different, repeated = Strings.of(["a", "b"]), Strings.of(["a", "b", "a"])
    for ids in (different, repeated):
        unique = UniqueIds()
        unique.add(ids)
        again = lambda ids=ids: iter([("f.csv", 1, ids)])  # noqa: E731
        if ids is different:
            unique.check("id", again)
        else:
            with pytest.raises(InputError, match=r"'a' in row 1 of f\.csv and row 3 of f\.csv"):
                unique.check("id", again)
