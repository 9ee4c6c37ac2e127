"""Corpora in JSON lines: what is read, and every line that is refused."""

import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.corpora import read_corpus
from truerisk.inputs.options import ReadingOptions


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


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
