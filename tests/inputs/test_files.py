"""The laws of reading: columns depend neither on the format nor on how a file is cut."""

import csv
import gzip
import hashlib
import io
import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from truerisk.errors import InputError
from truerisk.inputs import ReadingOptions, Roles, open_predictions
from truerisk.inputs.files import open_frame

COLUMNS = ("y_true", "y_pred", "score", "weight", "group", "id")
text = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=5)
label = st.one_of(st.sampled_from(["a", "b", "01", "1", "NA", 'q"', "x,y", "l\nm", "é", " "]), text)
number = st.floats(-1e6, 1e6)
rows_of_text = st.lists(
    st.tuples(label, label, number, st.floats(0, 10), label), min_size=1, max_size=20
)
QUICK = settings(max_examples=40, deadline=None)


def with_ids(rows):
    return [(*row, f"id{place}") for place, row in enumerate(rows)]


def as_csv(rows, delimiter=",", end="\n"):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(COLUMNS)
    writer.writerows(rows)
    return out.getvalue().encode()


def as_json(rows):
    lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows]
    return "\n".join(lines).encode()


def as_parquet(rows, path, kind=None, group_rows=2):
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    table = pa.table(columns)
    for name in ("y_true", "y_pred", "group") if kind is not None else ():
        place = table.schema.get_field_index(name)
        table = table.set_column(place, name, table[name].cast(kind))
    parquet.write_table(table, path, row_group_size=group_rows)


def columns_of(path, **options):
    """Everything that reading gives, put together again from its batches."""
    files = open_predictions([path], options=ReadingOptions(**options))
    batches = list(files.batches())
    first = {batch.first_row for batch in batches}
    assert len(first) == len(batches)
    return {
        "truth": np.concatenate([batch.truth.codes for batch in batches]).tolist(),
        "pred": np.concatenate([batch.pred.codes for batch in batches]).tolist(),
        "group": np.concatenate([batch.group.codes for batch in batches]).tolist(),
        "score": np.concatenate([batch.score for batch in batches]).tolist(),
        "weight": np.concatenate([batch.weight for batch in batches]).tolist(),
        "id": [value for batch in batches for value in batch.ids.tolist()],
        "labels": files.labels.texts,
        "groups": files.groups.texts,
        "rows": files.files[0].rows,
    }


def expected_of(rows):
    """The same by plain loops: codes in order of first appearance, truth before prediction."""
    labels = list(dict.fromkeys(cell for row in rows for cell in row[:2]))
    groups = list(dict.fromkeys(row[4] for row in rows))
    return {
        "truth": [labels.index(row[0]) for row in rows],
        "pred": [labels.index(row[1]) for row in rows],
        "group": [groups.index(row[4]) for row in rows],
        "score": [row[2] for row in rows],
        "weight": [row[3] for row in rows],
        "id": [row[5] for row in rows],
        "labels": tuple(labels),
        "groups": tuple(groups),
        "rows": len(rows),
    }


@QUICK
@given(rows=rows_of_text, block=st.integers(1, 200), end=st.sampled_from(["\n", "\r\n"]))
def test_csv_gives_what_was_written_whatever_the_block_size(rows, block, end):
    rows = with_ids(rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.csv")
        path.write_bytes(as_csv(rows, end=end))
        assert columns_of(path, block_bytes=block) == expected_of(rows)


@QUICK
@given(rows=rows_of_text, block=st.integers(1, 200))
def test_gzip_gives_the_same_as_csv(rows, block):
    rows = with_ids(rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.csv.gz")
        path.write_bytes(gzip.compress(as_csv(rows, ";")))
        assert columns_of(path, block_bytes=block, delimiter=";") == expected_of(rows)


@QUICK
@given(rows=rows_of_text, block=st.integers(1, 200))
def test_json_lines_give_the_same_as_csv(rows, block):
    rows = with_ids(rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.jsonl")
        path.write_bytes(as_json(rows))
        assert columns_of(path, block_bytes=block) == expected_of(rows)


@QUICK
@given(
    rows=rows_of_text,
    kind=st.sampled_from([pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]),
    group_rows=st.integers(1, 20),
    batch_rows=st.integers(1, 20),
)
def test_parquet_gives_the_same_as_csv(rows, kind, group_rows, batch_rows):
    rows = with_ids(rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.parquet")
        as_parquet(rows, path, kind, group_rows)
        assert columns_of(path, batch_rows=batch_rows) == expected_of(rows)


@QUICK
@given(
    values=st.lists(st.tuples(*[st.integers(-128, 127)] * 3), min_size=1, max_size=20),
    kind=st.sampled_from([pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32()]),
    batch_rows=st.integers(1, 20),
)
def test_integers_of_parquet_give_the_same_as_their_text(values, kind, batch_rows):
    rows = with_ids([(truth, pred, 0.5, 1.0, group) for truth, pred, group in values])
    in_text = with_ids([(str(truth), str(pred), 0.5, 1.0, str(g)) for truth, pred, g in values])
    with TemporaryDirectory() as folder:
        path = Path(folder, "p.parquet")
        as_parquet(rows, path, kind)
        assert columns_of(path, batch_rows=batch_rows) == expected_of(in_text)


@pytest.mark.parametrize("far", [2**20, 2**40, -(2**62)])
@pytest.mark.parametrize("batch_rows", [1, 2, 7])
def test_integers_far_apart_give_the_same_as_their_text(tmp_path, far, batch_rows):
    labels = [5, 6, far, 5, far + 1, 7, 6]
    rows = with_ids([(value, 5, 0.5, 1.0, value) for value in labels])
    in_text = [(str(row[0]), "5", 0.5, 1.0, str(row[0]), row[5]) for row in rows]
    as_parquet(rows, tmp_path / "p.parquet", group_rows=3)
    assert columns_of(tmp_path / "p.parquet", batch_rows=batch_rows) == expected_of(in_text)


def test_float32_scores_stay_float32(tmp_path, read):
    columns = {"y_true": [True, False], "score": pa.array([0.1, 0.2], pa.float32())}
    parquet.write_table(pa.table(columns), tmp_path / "p.parquet")
    _, (batch,) = read(tmp_path / "p.parquet")
    assert batch.score.dtype == np.float32
    assert batch.truth.texts() == ["True", "False"]


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path, read):
    for name, value in (("b.csv", "second"), ("a.csv", "first"), (".hidden.csv", "never")):
        (tmp_path / name).write_text(f"y_true,y_pred\n{value},x\n")
    (tmp_path / "notes.md").write_text("no predictions")
    files, batches = read(tmp_path)
    assert [batch.truth.texts() for batch in batches] == [["first"], ["second"]]
    assert [fact.rows for fact in files.files] == [1, 1]
    assert "1 files that hold no predictions left out." in files.notes[0]


def test_files_of_several_formats_share_their_labels(tmp_path, read):
    (tmp_path / "a.csv").write_text("y_pred,y_true\n1,0\n")
    columns = {"y_true": pa.array([1], pa.int8()), "y_pred": ["0"]}
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    (tmp_path / "c.jsonl").write_text('{"y_true": "0", "y_pred": 2}\n')
    files, batches = read(tmp_path)
    assert files.labels.texts == ("0", "1", "2")
    assert [batch.truth.codes.tolist() for batch in batches] == [[0], [1], [0]]
    assert [batch.pred.codes.tolist() for batch in batches] == [[1], [0], [2]]


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.parquet", "p.jsonl"])
def test_the_hash_is_that_of_the_file_on_the_disk(tmp_path, read, name):
    rows = with_ids([("a", "b", 0.5, 1.0, "g")] * 5)
    path = tmp_path / name
    if name == "p.parquet":
        as_parquet(rows, path)
    else:
        content = as_json(rows) if name == "p.jsonl" else as_csv(rows)
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    files, _ = read(path)
    assert files.files[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert files.files[0].bytes == path.stat().st_size


def test_large_parquet_is_hashed_only_when_asked(tmp_path, read):
    as_parquet(with_ids([("a", "b", 0.5, 1.0, "g")]), tmp_path / "p.parquet")
    files, _ = read(tmp_path / "p.parquet", max_hashed_bytes=10)
    assert files.files[0].sha256 is None
    assert any("--hash-all" in note for note in files.notes)
    files, _ = read(tmp_path / "p.parquet", max_hashed_bytes=10, hash_all=True)
    assert files.files[0].sha256 is not None


def test_a_second_reading_gives_the_same(write):
    files = open_predictions([write("y_true,y_pred\na,b\nb,c\n")])
    first, second = (
        [(b.truth.codes.tolist(), b.pred.codes.tolist()) for b in files.batches()] for _ in "12"
    )
    assert first == second == [([0, 1], [1, 2])]


def test_reading_may_stop_in_the_middle(write):
    files = open_predictions(
        [write("y_true,y_pred\n" + "a,b\n" * 1000)], options=ReadingOptions(block_bytes=50)
    )
    batches = files.batches()
    next(batches)
    batches.close()
    assert files.files[0].rows is None


def test_roles_that_were_guessed_are_told(write):
    files = open_predictions([write("label,guess\na,b\n")], roles=Roles(pred="guess"))
    assert files.roles.truth == "label"
    assert files.roles.guessed == ("truth",)


def test_files_without_truth_are_read_only_when_that_is_allowed(write, read):
    path = write("id,y_pred\n1,a\n")
    with pytest.raises(InputError, match="`truth` must be the column with the true labels"):
        read(path)
    _, (batch,) = read(path, needs_truth=False)
    assert batch.truth is None
    assert batch.pred.texts() == ["a"]


def test_scores_by_class_are_a_matrix_with_the_names_of_the_classes(write, read):
    files, (batch,) = read(write("y_true,prob_b,prob_a\nb,0.75,0.25\n"))
    assert files.roles.score_classes == ("b", "a")
    assert batch.score.tolist() == [[0.75, 0.25]]


def test_dropped_rows_leave_every_column(write, read):
    content = "id,y_true,y_pred,score,weight,group\n1,a,b,0.5,1,g\n2,a,b,,1,h\n3,c,a,0.25,2,i\n"
    files, (batch,) = read(write(content), missing="drop")
    assert len(batch) == 2
    assert batch.truth.texts() == ["a", "c"]
    assert batch.pred.texts() == ["b", "a"]
    assert batch.score.tolist() == [0.5, 0.25]
    assert batch.weight.tolist() == [1.0, 2.0]
    assert batch.group.texts() == ["g", "i"]
    assert batch.ids.tolist() == ["1", "3"]
    assert files.files[0].rows == 3


def test_an_infinite_score_is_counted_in_its_own_row_after_others_were_dropped(write, read):
    with pytest.raises(InputError, match="line 4: 'score' must be finite"):
        read(write("y_true,score\na,\na,0.5\na,inf\n"), missing="drop")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    name=st.sampled_from(["p.csv", "p.csv.gz", "p.jsonl", "p.parquet"]),
    changes=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3)), min_size=1, max_size=3),
    cut_off=st.floats(0.5, 1),
    block=st.integers(1, 100),
)
def test_a_damaged_file_is_read_or_refused_and_nothing_else_happens(name, changes, cut_off, block):
    rows = with_ids([("a", "b", 0.5, 1.0, "g"), ('q"', "l\nm", -2.0, 0.0, "é")] * 3)
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        if name == "p.parquet":
            as_parquet(rows, path)
            content = path.read_bytes()
        else:
            content = as_json(rows) if name == "p.jsonl" else as_csv(rows)
            content = gzip.compress(content) if name.endswith("gz") else content
        for where, put in changes:
            at = int(where * len(content))
            content = content[:at] + put + content[at + len(put) :]
        path.write_bytes(content[: int(cut_off * len(content)) + 1])
        with suppress(InputError):
            list(open_predictions([path], options=ReadingOptions(block_bytes=block)).batches())


def test_classes_of_score_columns_are_spelt_as_labels_are(write, read):
    path = write("y_true,score_ja,score_nein\nja,0.9,0.1\nnein,0.2,0.8\n")
    files, _ = read(path, label_map={"ja": "1", "nein": "0"})
    assert files.roles.score_classes == ("1", "0")
    assert set(files.labels.texts) == {"1", "0"}


def test_a_frame_is_a_source_of_predictions():
    source = open_frame(pl.DataFrame({"y_true": ["cat", "dog"], "y_pred": ["dog", "dog"]}))
    assert [batch.truth.texts() for batch in source.batches()] == [["cat", "dog"]]
