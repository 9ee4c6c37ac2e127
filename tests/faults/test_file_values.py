"""Every fault of the values in a file: refused with its place, dropped when allowed, or told."""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from truerisk.errors import InputError
from truerisk.inputs import ReadingOptions


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def write_parquet(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)
    return path


# Numbers


def test_decimal_commas_are_refused_with_the_option(write, read):
    path = write("y_true;score\na;0,5\nb;0,25\n")
    with refused("line 2: 'score' must be a number; got '0,5' (2 such rows up to row 2). "
                 "Use --decimal , if that is the decimal mark."):  # fmt: skip
        read(path)
    _, (batch,) = read(path, decimal=",")
    assert batch.score.tolist() == [0.5, 0.25]


def test_decimal_commas_between_commas_are_told(write, read):
    with refused("Numbers with decimal commas need another delimiter, or quotes."):
        read(write("y_true,score\na,0,5\n"), delimiter=",")


def test_the_decimal_mark_must_not_be_the_delimiter():
    with refused("`decimal` must differ from `delimiter`; both are ','."):
        ReadingOptions(decimal=",", delimiter=",")


def test_a_type_that_changes_late_is_refused_at_its_line(write, read):
    content = "y_true,score\n" + "1,0.5\n" * 30_000 + "1,high\n"
    with refused("line 30002: 'score' must be a number; got 'high'."):
        read(write(content), block_bytes=10_000)


def test_labels_that_change_their_look_late_stay_text(write, read):
    content = "y_true,y_pred\n" + "1,1\n" * 30_000 + "one,1.0\n"
    files, _ = read(write(content), block_bytes=10_000)
    assert files.labels.texts == ("1", "one", "1.0")


@pytest.mark.parametrize("cell", ["nan", "NaN", "", "NA", "null"])
def test_a_missing_score_is_refused_and_can_be_dropped(write, read, cell):
    path = write(f"y_true,score\na,0.5\nb,{cell}\nc,0.25\n")
    with refused(f"line 3: 'score' must have a value in every row; got none in the line 'b,{cell}'."
                 f" Use --missing drop"):  # fmt: skip
        read(path)
    files, (batch,) = read(path, missing="drop")
    assert batch.truth.texts() == ["a", "c"]
    assert batch.score.tolist() == [0.5, 0.25]
    assert files.files[0].dropped == 1
    assert "1 of 3 rows dropped for a missing value (score 1)." in files.notes


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e999"])
def test_an_infinite_score_is_refused_and_can_be_allowed(write, read, cell):
    path = write(f"y_true,score\na,0.5\nb,{cell}\n")
    with refused("line 3: 'score' must be finite; got an infinite score. Use --allow-inf"):
        read(path)
    _, (batch,) = read(path, allow_inf=True)
    assert np.isinf(batch.score[1])


def test_missing_scores_of_parquet_are_refused_with_their_row(tmp_path, read):
    columns = {"y_true": ["a", "b", "c"], "score": pa.array([0.5, None, float("nan")])}
    path = write_parquet(tmp_path / "p.parquet", columns)
    with refused("row 2: 'score' must have a value in every row; got none (2 such rows up to row "
                 "3)."):  # fmt: skip
        read(path)
    files, (batch,) = read(path, missing="drop")
    assert batch.truth.texts() == ["a"]
    assert files.files[0].dropped == 2


def test_when_every_row_is_dropped_nothing_is_left(write, read):
    with refused("all 2 rows have a value missing."):
        read(write("y_true,score\na,\nb,\n"), missing="drop")


@pytest.mark.parametrize("weight", ["-1", "inf"])
def test_a_weight_that_is_none_is_refused(write, read, weight):
    with refused("line 3: 'weight' must be a weight, finite and not negative; got -1.0"
                 if weight == "-1" else "line 3: 'weight' must be a weight"):  # fmt: skip
        read(write(f"y_true,y_pred,weight\na,a,1\na,a,{weight}\n"))


def test_a_missing_weight_is_refused(write, read):
    with refused("'weight' must have a value in every row"):
        read(write("y_true,y_pred,weight\na,a,nan\n"))


def test_text_as_score_in_parquet_is_refused(tmp_path, read):
    path = write_parquet(tmp_path / "p.parquet", {"y_true": ["a"], "score": ["0.5"]})
    with refused("'score' must hold numbers; got string. Cast it"):
        read(path)


# Labels


def test_an_empty_label_is_refused_and_can_be_dropped(write, read):
    path = write("y_true,y_pred\na,a\n,b\nc,\n")
    with refused("line 3: 'y_true' must have a value in every row; got none in the line ',b'."):
        read(path)
    files, (batch,) = read(path, missing="drop")
    assert batch.truth.texts() == ["a"]
    assert files.files[0].dropped == 2
    assert "2 of 3 rows dropped for a missing value (y_true 1, y_pred 1)." in files.notes


def test_labels_that_look_like_missing_values_or_numbers_are_labels(write, read):
    labels = ["NA", "None", "null", "nan", "01", "1", "1e3", "1000", "True", "true"]
    content = "y_true,y_pred\n" + "".join(f"{label},x\n" for label in labels)
    _, (batch,) = read(write(content))
    assert batch.truth.texts() == labels


def test_labels_that_differ_in_white_space_are_kept_and_told(write, read):
    path = write("y_true,y_pred\nb,b \n")
    files, (batch,) = read(path)
    assert batch.pred.texts() == ["b "]
    assert any("'b' and 'b ' differ only in white space" in note for note in files.notes)
    files, (batch,) = read(path, strip=True)
    assert batch.pred.texts() == ["b"]
    assert files.notes == ()


def test_floats_as_labels_are_refused_unless_they_are_whole(tmp_path, read):
    path = write_parquet(tmp_path / "p.parquet", {"y_true": [1.0, 0.5], "y_pred": [1, 0]})
    with refused("row 2: 'y_true' must hold labels; got the number 0.5. Use --score if"):
        read(path)
    path = write_parquet(tmp_path / "q.parquet", {"y_true": [1.0, -0.0], "y_pred": [1, 0]})
    files, (batch,) = read(path)
    assert batch.truth.texts() == ["1", "0"]
    assert "y_true: whole numbers such as 1.0 are read as the label '1'." in files.notes


def test_dates_as_labels_are_refused(tmp_path, read):
    day = pa.array([0], pa.date32())
    path = write_parquet(tmp_path / "p.parquet", {"y_true": day, "y_pred": ["a"]})
    with refused("'y_true' must hold labels: text, integers or booleans; got date32[day]."):
        read(path)


def test_labels_of_parquet_that_are_not_utf_8_are_refused(tmp_path, read):
    offsets, text = pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xe4")
    label = pa.StringArray.from_buffers(1, offsets, text)
    path = write_parquet(tmp_path / "p.parquet", {"y_true": label, "y_pred": ["a"]})
    with refused("'y_true' must be UTF-8; got b'\\xe4'."):
        read(path)


def test_a_column_with_too_many_labels_is_refused(write, read):
    content = "y_true,y_pred\n" + "".join(f"{i},x\n" for i in range(100))
    with refused("'y_true' must have at most 50 distinct labels. Was an id or a score chosen?"):
        read(write(content), max_labels=50)


def test_cells_that_seem_to_hold_several_labels_are_told(write, read):
    files, _ = read(write("y_true,y_pred\na|b,a\na|c,a|d\n"))
    assert any("contain '|'" in note and "--multilabel-sep" in note for note in files.notes)
    files, _ = read(write("y_true,y_pred\na|b,a\na|c,a|d\n"), multilabel_separator="|")
    assert files.notes == ()


# Ids


def test_ids_that_come_twice_are_refused_with_examples(write, read):
    with refused("'id' must name each example once; 1 rows repeat an id: 'x' in row 1 of"):
        read(write("id,y_true,y_pred\nx,a,a\ny,a,a\nx,a,a\n"), block_bytes=16)


def test_ids_that_come_twice_in_different_files_and_formats_are_refused(write, tmp_path, read):
    columns = {"id": pa.array([8, 7], pa.int64()), "y_true": ["a", "b"], "y_pred": ["a", "b"]}
    second = write_parquet(tmp_path / "b.parquet", columns)
    with refused("'7' in row 1 of"):
        read(write("id,y_true,y_pred\n7,a,a\n"), second)


def test_an_id_that_is_missing_is_refused(write, read):
    with refused("'id' must have a value in every row"):
        read(write("id,y_true,y_pred\n,a,a\n"))


def test_ids_of_64_bits_keep_their_last_digit(tmp_path, read):
    ids = pa.array([2**63 - 1, 2**63 - 2], pa.int64())
    path = write_parquet(tmp_path / "p.parquet", {"id": ids, "y_true": [1, 0], "y_pred": [1, 1]})
    _, (batch,) = read(path)
    assert batch.ids.tolist() == ["9223372036854775807", "9223372036854775806"]


def test_ids_that_were_made_floats_are_refused(tmp_path, read):
    columns = {"id": [1.0, 2.0], "y_true": [1, 0], "y_pred": [1, 1]}
    with refused("'id' must hold ids, text or integers; got double."):
        read(write_parquet(tmp_path / "p.parquet", columns))
