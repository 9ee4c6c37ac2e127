from pathlib import Path

import pytest

from truerisk.errors import InputError
from truerisk.inputs.records.csv_rows import sniff
from truerisk.inputs.records.text_blocks import Block


def block(text):
    return Block(Path("p.csv"), text.encode(), 1, 0, text.count("\n"), 0, '"' in text)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("y,p\n1,2\n", ","),
        ("y;p\n1;0,5\n", ";"),
        ("y\tp\na b\tc,d\n", "\t"),
        ("y|p\n1|2\n", "|"),
        ("y,p\na|b,c|d\n", ","),
        ("y;p,q\n1;2\n", ";"),
        ("y\na\n", ","),
        ('"y;1",p\n"a;b",c\n', ","),
    ],
)
def test_the_delimiter_is_the_one_that_fits_every_line(text, delimiter):
    assert sniff(block(text)) == delimiter


def test_a_decimal_comma_is_no_delimiter():
    assert sniff(block("a,b;c,d\n1,0;2,0\n"), decimal=",") == ";"


def test_leading_zeros_and_signs_of_scores_are_numbers(write, read):
    _, (batch,) = read(write("y_true,score\na,+0.5\na,007\na, 1e-3 \na,.5\na,-5.\n"))
    assert batch.score.tolist() == [0.5, 7.0, 0.001, 0.5, -5.0]


def test_an_empty_cell_in_quotes_is_missing_too(write, read):
    files, (batch,) = read(write('y_true,score\n"",0.5\na,""\na,1\n'), missing="drop")
    assert batch.score.tolist() == [1.0]
    assert files.files[0].dropped == 2


def test_a_blank_line_in_a_file_of_one_column_is_a_missing_cell(write, read):
    path = write("y_pred\na\n\nb\n")
    with pytest.raises(InputError, match="line 3: 'y_pred' must have a value in every row"):
        read(path, needs_truth=False)
    files, (batch,) = read(path, needs_truth=False, missing="drop")
    assert batch.pred.texts() == ["a", "b"]
    assert files.files[0].dropped == 1


@pytest.mark.parametrize("block_bytes", [1, 8, 16, 1 << 20])
def test_a_byte_order_mark_that_opens_a_block_belongs_to_its_first_cell(write, read, block_bytes):
    path = write("y_true,y_pred\n\ufeffa,a\nb,b\n\ufeffa,\ufeffa\n")
    _, batches = read(path, block_bytes=block_bytes)
    truth = [text for batch in batches for text in batch.truth.texts()]
    assert truth == ["\ufeffa", "b", "\ufeffa"]
