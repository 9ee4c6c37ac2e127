"""Documents as they come: labels, ids, missing values."""

import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.documents import Documents, split_labels
from truerisk.inputs.options import ReadingOptions


def refuse(sentence):
    return InputError(f"here: {sentence}")


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_a_label_that_is_there_twice_counts_once():
    found = Documents(ReadingOptions())
    found.add("text", ["b", "a", "b"], refuse=refuse)
    assert (found.labels, found.ids) == ([("b", "a")], ["1"])


def test_white_space_around_labels_is_kept_unless_told_otherwise():
    kept, stripped = Documents(ReadingOptions()), Documents(ReadingOptions(strip=True))
    for found in (kept, stripped):
        found.add("text", [" a"], refuse=refuse)
    assert (kept.labels, stripped.labels) == ([(" a",)], [("a",)])


def test_numbers_of_documents_count_those_left_out():
    found = Documents(ReadingOptions(missing="drop"))
    for text, labels in (("a", ["x"]), (None, ["x"]), ("b", None), ("c", [])):
        found.add(text, labels, refuse=refuse)
    assert (found.ids, found.texts, found.dropped) == (["1", "4"], ["a", "c"], 2)


@pytest.mark.parametrize(
    ("text", "labels", "more", "message"),
    [
        (None, ["x"], {}, "here: 'text' must have a value for every document; got none."),
        ("a", None, {}, "here: 'labels' must have a value for every document; got none."),
        ("a", ["x", ""], {}, "here: 'labels' must hold no empty label; got ['x', '']."),
        ("a", ["x"], {"id": "first"}, "here: the id must name one document; got 'first' for a"),
        ("a", ["x"], {"id": ""}, "here: the id must not be empty."),
        ("a\ud800", ["x"], {}, "here: must be text; got '\\ud800', half of a character."),
        ("a", ["\ud800"], {}, "half of a character."),
        ("a", ["x"], {"split": "\ud800"}, "half of a character."),
    ],
)
def test_a_document_that_cannot_be_is_refused(text, labels, more, message):
    found = Documents(ReadingOptions())
    found.add("one", ["x"], refuse=refuse, id="first")
    with refused(message):
        found.add(text, labels, refuse=refuse, **more)


def test_a_cell_is_cut_at_the_separator():
    assert split_labels("a;b", ";") == ["a", "b"]
    assert split_labels("a;", ";") == ["a", ""]
    assert split_labels("", None) == []
