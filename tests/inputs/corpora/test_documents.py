"""Documents as they come, from records and from folders: what is read, and what is refused."""

import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.corpora import read_corpus
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


def test_labels_are_a_list_or_a_string_and_numbers_keep_their_spelling(write):
    lines = (
        '{"text": "a", "labels": ["x", 1.0]}\n{"text": "b", "labels": "y"}\n'
        '{"text": "c", "labels": 01}\n'.replace("01", "7")
        + '{"text": "d", "labels": true}\n{"text": "e", "labels": ""}\n'
    )
    corpus = read_corpus(write(lines, "c.jsonl"))
    assert corpus.labels == (("x", "1.0"), ("y",), ("7",), ("True",), ())
    assert all(type(label) is str for labels in corpus.labels for label in labels)


def test_a_string_of_several_labels_is_cut_at_the_separator(write):
    path = write('{"text": "a", "labels": "x;y"}\n', "c.jsonl")
    corpus = read_corpus(path, options=ReadingOptions(multilabel_separator=";"))
    assert corpus.labels == (("x", "y"),)


def test_keys_can_be_named_and_ids_may_be_numbers(write):
    lines = '{"n": 9007199254740993, "words": "a", "topic": "x", "text": 3}\n'
    corpus = read_corpus(write(lines, "c.jsonl"), text="words", labels="topic", id="n")
    assert (corpus.ids, corpus.texts) == (("9007199254740993",), ("a",))


def test_escapes_and_other_scripts_are_read(write):
    lines = '{"text": "caf\\u00e9 \\ud83d\\ude00 日本", "labels": "x"}\r\n'
    assert read_corpus(write(lines, "c.jsonl")).texts == ("café 😀 日本",)


def test_a_corpus_over_several_blocks_keeps_its_lines(write):
    lines = "".join(f'{{"text": "t{i}", "labels": "x"}}\n' for i in range(50))
    path = write(lines, "c.jsonl")
    corpus = read_corpus(path, options=ReadingOptions(block_bytes=100))
    assert corpus.texts == tuple(f"t{i}" for i in range(50))
    with refused("line 51: must be one JSON object"):
        read_corpus(write(lines + "{", "c.jsonl"), options=ReadingOptions(block_bytes=100))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "labels": ', "line 2: must be one JSON object; got"),
        ('["a"]', "line 2: must be one JSON object; got"),
        ('{"text": "a", "labels": "x"} {}', "line 2: must be one JSON object; got"),
        ("", "line 2: must be one JSON object; got"),
        ('{"text": "a", "text": "b", "labels": "x"}', "the key 'text' appears twice"),
        ("[" * 100_000, "line 2: must not be nested so deeply."),
        ('{"text": 3, "labels": "x"}', "line 2: 'text' must be a string; got '3'."),
        ('{"text": ["a"], "labels": "x"}', "line 2: 'text' must be a string; got ['a']."),
        ('{"text": null, "labels": "x"}', "line 2: 'text' must have a value for every document"),
        ('{"labels": "x"}', "line 2: 'text' must have a value for every document"),
        ('{"text": "a"}', "line 2: 'labels' must have a value for every document"),
        ('{"text": "a", "labels": {"x": 1}}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [["x"]]}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [null]}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [""]}', "line 2: 'labels' must hold no empty label"),
        ('{"text": "\\ud800", "labels": "x"}', "line 2: must be text; got '\\ud800', half of"),
        ('{"text": "a\\u0000", "labels": "x\0"}', "line 2, byte"),
    ],
)
def test_a_line_that_is_no_document_is_refused_with_its_place(write, line, message):
    content = '{"text": "first", "labels": "x"}\n' + line + '\n{"text": "z", "labels": "x"}\n'
    with refused(message):
        read_corpus(write(content, "c.jsonl"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "1", "split": "train", "text": "a", "labels": "x"}', "got '1' for a second one"),
        ('{"id": null, "text": "a", "labels": "x"}', "'id' must be a string or a number; got None"),
        ('{"id": [2], "text": "a", "labels": "x"}', "'id' must be a string or a number; got ["),
        ('{"id": 2, "split": [], "text": "a", "labels": "x"}', "Write null for a document of no"),
    ],
)
def test_ids_and_parts_are_text(write, line, message):
    first = '{"id": 1, "split": "train", "text": "a", "labels": "x"}\n'
    with refused("line 2: ") as caught:
        read_corpus(write(first + line, "c.jsonl"))
    assert message in str(caught.value)


def test_a_key_that_is_not_there_is_refused_with_those_that_are(write):
    with refused("c.jsonl: `text` must be a column of the file; got 'body'. The columns are"):
        read_corpus(write('{"text": "a", "labels": "x"}', "c.jsonl"), text="body")


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
