import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook
from truerisk.labels import Spelling


def book_of(*texts):
    book = LabelBook()
    for text in texts:
        book.add(text)
    return book


@given(st.lists(st.text()))
def test_a_code_leads_back_to_its_label(texts):
    book = LabelBook()
    codes = [book.add(text) for text in texts]
    assert [book.texts[code] for code in codes] == texts
    assert book.texts == tuple(dict.fromkeys(texts))


def test_cells_become_sorted_sets():
    book = book_of("b|a|b", "", "c", " d|e")
    assert book.members("|") == (("a", "b"), (), ("c",), (" d", "e"))
    assert book.members("|", Spelling(strip=True))[3] == ("d", "e")


@pytest.mark.parametrize("cell", ["a||b", "|", "a|"])
def test_an_empty_label_in_a_set_is_refused(cell):
    with pytest.raises(InputError, match="must hold no empty label; got "):
        book_of(cell).members("|")


def test_only_labels_that_stripping_would_merge_are_told():
    assert list(book_of("a ", "b").notes("labels", None)) == []
    (note,) = book_of("a ", "b", "a").notes("labels", None)
    assert "'a ' and 'a' differ only in white space" in note


@pytest.mark.parametrize(
    ("one", "other"), [("a", "\u0430"), ("\u00e9", "e\u0301"), ("a b", "a\u00a0b")]
)
def test_labels_that_look_the_same_are_told_apart_by_their_codes(one, other):
    (note,) = book_of(one, "c", other).notes("labels", None)
    assert "look the same" in note
    assert ascii(one) in note
    assert ascii(other) in note
    assert list(book_of(one, one.upper(), "x2", "x\u00b2").notes("labels", None)) == []


def test_many_labels_are_told():
    (note,) = book_of(*map(str, range(1001))).notes("labels", None)
    assert "1001 distinct labels" in note
