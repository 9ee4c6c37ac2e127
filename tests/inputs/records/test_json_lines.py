"""JSON lines: what is read, and every line that is refused."""

import re

import pytest

from truerisk.errors import InputError


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_labels_keep_the_spelling_of_numbers(write, read):
    lines = '{"y_true": 1, "y_pred": 1.0}\n{"y_true": 1e3, "y_pred": true}\n'
    _, (batch,) = read(write(lines, "p.jsonl"))
    assert batch.truth.texts() == ["1", "1e3"]
    assert batch.pred.texts() == ["1.0", "True"]


def test_lists_of_scores_are_the_columns_of_a_matrix(write, read):
    lines = '{"y_true": "a", "score": [0.25, 0.75]}\n{"y_true": "b", "score": [1, 0]}\n'
    _, (batch,) = read(write(lines, "p.jsonl"))
    assert batch.score.tolist() == [[0.25, 0.75], [1.0, 0.0]]


def test_lists_of_scores_must_keep_their_length_from_block_to_block(write, read):
    lines = '{"y_true": "a", "score": [0.25, 0.75]}\n{"y_true": "b", "score": [1, 0, 0]}\n'
    with refused("'score' must hold 2 numbers per row, as before; got 3."):
        read(write(lines, "p.jsonl"), block_bytes=45)


def test_lists_of_labels_are_joined_by_the_separator(write, read):
    lines = '{"y_true": ["b", "a"], "y_pred": []}\n{"y_true": "a", "y_pred": [1]}\n'
    files, (batch,) = read(write(lines, "p.jsonl"), multilabel_separator="|")
    sets = files.labels.members("|")
    assert [sets[code] for code in batch.truth.codes] == [("a", "b"), ("a",)]
    assert [sets[code] for code in batch.pred.codes] == [(), ("1",)]


def test_a_listed_label_that_holds_the_separator_is_refused(write, read):
    with refused("do not contain '|'; got ['a|b']. Choose another --multilabel-sep."):
        read(write('{"y_true": ["a|b"], "y_pred": "a"}', "p.jsonl"), multilabel_separator="|")


def test_ids_may_be_numbers_or_text_but_not_lists(write, read):
    _, (batch,) = read(write('{"id": 9007199254740993, "y_true": 1, "y_pred": 1}', "p.jsonl"))
    assert batch.ids.tolist() == ["9007199254740993"]
    with refused("line 1: 'id' must be a string or a number; got ["):
        read(write('{"id": [1], "y_true": 1, "y_pred": 1}', "p.jsonl"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"y_true": "a", "y_pred": ', "line 2: must be one JSON object; got"),
        ('["a", "b"]', "line 2: must be one JSON object; got"),
        ('{"y_true": "a", "y_pred": "b"} {}', "(followed by ' {}')"),
        ("", "line 2: must be one JSON object; got"),
        ('{"y_true": "a", "y_true": "b", "y_pred": "a"}', "the key 'y_true' appears twice"),
        ('{"y_pred": "a"}', "line 2: 'y_true' must have a value in every row"),
        ('{"y_true": null, "y_pred": "a"}', "line 2: 'y_true' must have a value in every row"),
        ('{"y_true": {"x": 1}, "y_pred": "a"}', "line 2: 'y_true' must be a string or a number"),
        ('{"y_true": ["a"], "y_pred": "a"}', "Use --multilabel-sep for several labels"),
        ('{"y_true": "\\ud800", "y_pred": "a"}', "line 2: 'y_true' must be text; got '\\ud800'"),
        ("[" * 100_000, "line 2: must not be nested so deeply."),
    ],
)
def test_a_bad_json_line_is_refused_with_its_line(write, read, line, message):
    good = '{"y_true": "a", "y_pred": "b"}\n'
    with refused(message):
        read(write(good + line + "\n" + good, "p.jsonl"))


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ('"0.5"', "'score' must be a number; got '0.5'. Write it without quotes."),
        ("true", "'score' must be a number; got True."),
        ("NaN", "'score' must have a value in every row"),
        ("Infinity", "'score' must be finite"),
        ("[0.5, 0.5]", "'score' must be a list of 2 numbers, as in the rows before; got '0.5'."),
    ],
)
def test_a_bad_json_score_is_refused(write, read, score, message):
    good = '{"y_true": "a", "score": 0.5}\n'
    with refused(message):
        read(write(good + f'{{"y_true": "a", "score": {score}}}\n', "p.jsonl"))


def test_a_json_array_is_refused(write, read):
    with refused("must hold one JSON object per line; got a JSON array."):
        read(write('[{"y_true": "a"}]', "p.json"))
