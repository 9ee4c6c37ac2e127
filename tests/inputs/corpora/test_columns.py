"""Which column of a corpus is which."""

import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.columns import CorpusColumns


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_the_usual_names_are_found_in_any_case():
    found = CorpusColumns().found_in(["Doc ID", "Body", "Topics", "Split", "other"])
    assert found == CorpusColumns(text="Body", labels="Topics", id="Doc ID", split="Split")


def test_a_given_name_is_taken_as_it_is():
    found = CorpusColumns(text="label", labels="text").found_in(["text", "label"])
    assert (found.text, found.labels) == ("label", "text")


def test_an_empty_name_leaves_a_column_aside():
    found = CorpusColumns(id="", split="").found_in(["id", "text", "labels", "split"])
    assert (found.id, found.split) == (None, None)


@pytest.mark.parametrize(
    ("given", "columns", "message"),
    [
        ({}, ["text", "body", "labels"], "`text` must be one column; the names 'text', 'body'"),
        ({}, ["text", "x"], "`labels` must be the column with the labels; none of the names"),
        ({}, ["x", "labels"], "`text` must be the column with the texts"),
        ({"text": "txt"}, ["text", "labels"], "got 'txt'. The columns are 'text', 'labels'. Did"),
        ({"id": "z"}, ["text", "labels"], "`id` must be a column of the file; got 'z'."),
        ({"text": "labels", "labels": "labels"}, ["labels"], "is named for two of them."),
        ({}, ["text", "labels", "text"], "'text' must appear once in the header; it appears 2"),
    ],
)
def test_columns_that_cannot_be_told_are_refused(given, columns, message):
    with refused(message):
        CorpusColumns(**given).found_in(columns)
