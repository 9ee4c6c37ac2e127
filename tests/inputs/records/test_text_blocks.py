from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.text_blocks import Block, TextFile, check_quotes

quoted = st.text('a",\n', max_size=4).map(lambda text: '"' + text.replace('"', '""') + '"')
cell = st.one_of(st.text("ab", max_size=3), quoted)
record = st.lists(cell, min_size=2, max_size=3).map(",".join)


def blocks_of(pieces, *, has_cells=True):
    source = TextFile(Path("p.csv"), None, ReadingOptions(max_line_bytes=10_000))
    source.pieces, source.has_cells = lambda _: iter(pieces), has_cells
    return list(source.blocks())


def cut(content, size, *, has_cells=True):
    data = content.encode()
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return blocks_of(pieces, has_cells=has_cells)


@given(records=st.lists(record, min_size=1, max_size=10), size=st.integers(1, 60))
def test_blocks_put_together_are_the_file_and_know_their_places(records, size):
    content = "\n".join(records) + "\n"
    result = cut(content, size)
    assert b"".join(block.data for block in result).decode() == content
    texts = [block.text_of(row) for block in result for row in range(block.rows)]
    assert texts == records
    rows = [(block, row) for block in result for row in range(block.rows)]
    lines = [1 + sum(1 + text.count("\n") for text in records[:row]) for row in range(len(records))]
    assert [block.line_of(row) for block, row in rows] == lines
    assert [block.first_row + row for block, row in rows] == list(range(len(records)))
    for block in result:
        assert block.offset == content.encode().index(block.data, block.offset)
        check_quotes(block, ",")


@pytest.mark.parametrize("start", [b"a,b\n", b'"'])
def test_a_line_without_end_is_given_up_at_the_limit(start):
    taken = []

    def endless():
        yield start
        while len(taken) < 100:
            taken.append(1)
            yield b"x" * 1000

    with pytest.raises(InputError, match=r"shorter lines|close every quote"):
        blocks_of(endless())
    assert len(taken) <= 11


def test_without_quotes_every_line_end_ends_a_record():
    (block,) = cut('{"a": "\n"}\n', 100, has_cells=False)
    assert block.rows == 2


@pytest.mark.parametrize("bad", ['a"b,c', '"a"b,c', '"a" ,c', 'a,"b"c', ' "a",b'])
def test_a_quote_that_does_not_enclose_a_whole_cell_is_refused(bad):
    data = f"a,b\n{bad}\n".encode()
    if data.count(b'"') % 2:
        data = data[:-1] + b'"\n'
    with pytest.raises(InputError, match="line 2: must"):
        check_quotes(Block(Path("p.csv"), data, 1, 1, 2, 0, quoted=True), ",")


def test_the_header_is_taken_off_with_its_lines():
    block = Block(Path("p.csv"), b'"a\nb",c\n1,2\n', 1, 0, 2, 0, quoted=True).without_header()
    assert block == Block(Path("p.csv"), b"1,2\n", 3, 1, 1, 8, quoted=True)
