"""Parquet files in pieces: the same bits and the same words as in one pass."""

import threading
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import truerisk as tr
from tests.evaluation.test_files_on_cluster import PROBLEMS, evaluated, two_classes, write_parquet
from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.files_in_pieces import FilesInPieces, Piece, _row_groups
from truerisk.inputs import ReadingOptions
from truerisk.inputs.records.parquet import ParquetFile

ROWS = 1000
evaluate = import_module("truerisk.evaluation.evaluate")  # the name in the package is the function


@pytest.fixture
def in_pieces(monkeypatch):
    """Read in pieces of some rows, in three threads."""

    def read(rows):
        monkeypatch.setattr(evaluate, "READ_IN_PIECES", 1)
        monkeypatch.setattr(FilesInPieces, "rows_of_piece", rows)
        monkeypatch.setattr("truerisk.evaluation.files_in_pieces.threads_for", lambda _: 3)

    return read


@pytest.mark.parametrize("name", PROBLEMS)
def test_pieces_give_what_one_pass_gives(tmp_path, in_pieces, name):
    tables, asked, strictness = PROBLEMS[name]
    paths = write_parquet(tmp_path / "files", tables)
    here = evaluated(paths, asked, strictness)
    assert '"sha256": null' not in here
    for rows in (10, 50):
        in_pieces(rows)
        assert evaluated(paths, asked, strictness) == here


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_are_read_in_pieces(tmp_path, kind, monkeypatch):
    columns = two_classes(evaluate.READ_IN_PIECES + 5)
    columns["score"] = columns["score"].astype(kind)
    parquet.write_table(pa.table(columns), tmp_path / "p.parquet", row_group_size=200_000)
    readers = []
    rows = ParquetFile.rows
    monkeypatch.setattr(ParquetFile, "rows", lambda *a: readers.append(a[0]) or rows(*a))
    progress = []
    whole = evaluated([tmp_path], {}, {}, progress=progress.append)
    # The first batch settles the positive label; then, of 200,000 rows each, three groups a piece.
    assert sorted(one.row_groups for one in readers if one.row_groups) == [[0, 1, 2], [3, 4, 5]]
    assert progress == [600_000, len(columns["score"])]
    monkeypatch.setattr(evaluate, "READ_IN_PIECES", 2**40)
    assert evaluated([tmp_path], {}, {}) == whole


@pytest.mark.parametrize("order", ["as drawn", "ascending", "descending"])
@pytest.mark.parametrize("missing", [False, True])
def test_half_of_the_scores_is_read_again(tmp_path, monkeypatch, order, missing):
    columns = two_classes(evaluate.READ_IN_PIECES + 5)
    columns["score"] = columns["score"].astype(np.float64)
    columns["y_pred"] = (columns["score"] > 0.5).astype(np.int64)
    if order != "as drawn":
        by_score = np.argsort(columns["score"])[:: 1 if order == "ascending" else -1]
        columns = {name: column[by_score] for name, column in columns.items()}
    table = pa.table(columns)
    if missing:
        prediction = pa.array(columns["y_pred"], mask=np.arange(len(table)) % 1000 == 3)
        table = table.drop_columns("y_pred").append_column("y_pred", prediction)
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=300_000)
    strictness = {"missing": "drop"} if missing else {}
    whole = evaluated([tmp_path], {}, strictness)
    read, again = [], FilesInPieces.runs_again

    def noted(files, reading, pieces, held):
        read.append(reading.roles.pred)
        return again(files, reading, pieces, held)

    monkeypatch.setattr(FilesInPieces, "runs_again", noted)
    monkeypatch.setattr(FilesInPieces, "held_at_once", 2**19)
    assert evaluated([tmp_path], {}, strictness) == whole
    assert set(read) == ({"y_pred"} if missing else {None})


def test_the_first_wrong_row_is_refused_by_its_number(tmp_path, in_pieces):
    columns = {"y_true": ["a"] * 60, "y_pred": ["a"] * 60}
    columns["y_pred"][37] = columns["y_pred"][53] = None
    paths = write_parquet(tmp_path / "files", [columns])
    in_pieces(10)
    with pytest.raises(InputError, match="row 38"):
        tr.evaluate_files(paths)


def test_a_damaged_page_is_refused_with_its_rows(tmp_path, in_pieces):
    columns = two_classes(4000)
    path = tmp_path / "p.parquet"
    parquet.write_table(
        pa.table(columns), path, row_group_size=1000, compression="none", write_page_checksum=True
    )
    chunk = parquet.read_metadata(path).row_group(2).column(1)
    content = bytearray(path.read_bytes())
    content[chunk.dictionary_page_offset + chunk.total_compressed_size - 300] ^= 1
    path.write_bytes(content)
    in_pieces(1000)
    with pytest.raises(InputError, match=r"row group 3 of 4 \(rows 2001 to 3000\), 'score'"):
        tr.evaluate_files([path])


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, in_pieces, monkeypatch):
    paths = write_parquet(tmp_path / "files", [two_classes(64)])
    in_pieces(10)
    hashed = ParquetFile.hash

    def changed(self, stop):
        self.path.write_bytes(self.path.read_bytes() + b"x")
        return hashed(self, stop)

    monkeypatch.setattr(ParquetFile, "hash", changed)
    with pytest.raises(ResourceError, match="changed while it was read"):
        tr.evaluate_files(paths)


def test_no_thread_is_left_after_a_refusal(tmp_path, in_pieces):
    paths = write_parquet(
        tmp_path / "files", [{"y_true": ["a", None] * 200, "y_pred": ["a"] * 400}]
    )
    in_pieces(10)
    before = threading.active_count()
    with pytest.raises(InputError, match="row 2"):
        tr.evaluate_files(paths, options=ReadingOptions(hash_all=True))
    assert threading.active_count() == before


def test_row_groups_are_put_together_to_pieces_of_nearly_one_size():
    half, whole = ROWS // 2, ROWS
    assert list(_row_groups(3, [half, half, whole, 5], ROWS)) == [
        Piece(3, (0, 1), 1),
        Piece(3, (2, 3), whole + 1),
    ]
    # By hand: of ten groups five and five, where pieces as large as they need be have nine and one.
    ten = [piece.row_groups for piece in _row_groups(0, [whole] * 10, 4 * whole)]
    assert ten == [(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)]
    assert [len(piece.row_groups) for piece in _row_groups(0, [whole] * 3, half)] == [1, 1, 1]


def test_a_file_without_rows_is_one_piece():
    assert list(_row_groups(0, [], ROWS)) == [Piece(0, (), 1)]


@given(lengths=st.lists(st.integers(0, 2 * ROWS), max_size=8))
def test_every_row_group_is_in_one_piece_and_rows_are_numbered_through(lengths):
    pieces = list(_row_groups(0, lengths, ROWS))
    groups = [group for piece in pieces for group in piece.row_groups]
    assert groups == list(range(len(lengths)))
    for piece in pieces:
        assert piece.first_row == 1 + sum(lengths[: min(piece.row_groups, default=0)])
