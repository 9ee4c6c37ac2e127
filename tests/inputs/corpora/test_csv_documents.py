"""Corpora in CSV: cells, quotes, several labels."""

import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.corpora import read_corpus
from truerisk.inputs.options import ReadingOptions


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_a_text_may_hold_delimiters_quotes_and_line_ends(write):
    content = 'text;label\n"Wheat; ""corn""\nup";grain\nGold;metal\n'
    corpus = read_corpus(write(content, "c.csv"))
    assert corpus.texts == ('Wheat; "corn"\nup', "Gold")
    assert corpus.labels == (("grain",), ("metal",))


def test_a_cell_is_one_label_unless_a_separator_is_told(write):
    path = write("text,label\na,x|y\nb,\n", "c.csv")
    corpus = read_corpus(path, options=ReadingOptions(multilabel_separator="|"))
    assert corpus.labels == (("x", "y"), ())
    with refused("line 3: 'label' must have a value for every document; got none."):
        read_corpus(path)


def test_labels_are_never_numbers(write):
    corpus = read_corpus(write("id,text,label,split\n07,a,01,\n7,NA,1,test\n", "c.csv"))
    assert corpus.ids == ("07", "7")
    assert corpus.texts == ("a", "NA")
    assert corpus.labels == (("01",), ("1",))
    assert corpus.split == (None, "test")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\n,x\n", "line 2: 'text' must have a value for every document; got none."),
        ("text,label\na,x\nb\n", "line 3: must have 2 cells, as the header has; got 1"),
        ('text,label\n"a,x\n', "must close every quote"),
        ("id,text,label\n1,a,x\n1,b,y\n", "line 3: the id must name one document; got '1'"),
        ("id,text,label\n,a,x\n", "line 2: the id must not be empty."),
        ("words,label\na,x\n", "c.csv: `text` must be the column with the texts"),
        ("text,label\na,x\0\n", "must be text; got a NUL byte."),
    ],
)
def test_a_row_that_is_no_document_is_refused_with_its_place(write, content, message):
    with refused(message):
        read_corpus(write(content, "c.csv"))


def test_an_empty_label_beside_a_separator_is_refused(write):
    with refused("line 2: 'label' must hold no empty label; got ['x', '']."):
        read_corpus(
            write("text,label\na,x|\n", "c.csv"), options=ReadingOptions(multilabel_separator="|")
        )
