"""Every fault of files, each in a real file: refused with its place, or read and told of."""

import gzip
import os
import re
import zlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from truerisk.errors import InputError, ResourceError
from truerisk.inputs import ReadingOptions, Roles, open_predictions

GOOD = "y_true,y_pred,score\na,a,0.5\nb,a,0.25\n"


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def write_parquet(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)
    return path


# The file as a whole


def test_an_empty_file_is_refused(write, read):
    with refused("predictions.csv: must hold predictions; the file is empty."):
        read(write(""))


@pytest.mark.parametrize("content", ["\n\n", "\ufeff", "\r\n"])
def test_a_file_of_nothing_but_line_ends_is_empty(write, read, content):
    with refused("the file is empty."):
        read(write(content))


def test_an_empty_file_in_gzip_is_refused(write, read):
    with refused("the file is empty."):
        read(write(gzip.compress(b""), "predictions.csv.gz"))


def test_a_header_alone_is_refused(write, read):
    with refused("it has 0 data rows."):
        read(write("y_true,y_pred\n"))


def test_a_parquet_file_without_rows_is_refused(tmp_path, read):
    none = pa.array([], pa.string())
    with refused("it has 0 data rows."):
        read(write_parquet(tmp_path / "p.parquet", {"y_true": none, "y_pred": none}))


def test_one_row_is_read(write, read):
    _, (batch,) = read(write("y_true,y_pred\na,b"))
    assert batch.truth.texts() == ["a"]
    assert batch.pred.texts() == ["b"]


def test_a_file_that_is_not_there_is_refused(tmp_path, read):
    with refused("absent.csv: there is no such file."):
        read(tmp_path / "absent.csv")


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pipe")
    with refused("must be a regular file."):
        read(tmp_path / "pipe")


def test_a_folder_without_predictions_is_refused(tmp_path, read):
    (tmp_path / "README.md").write_text("nothing")
    with refused("must hold at least one file that ends in .parquet"):
        read(tmp_path)


def test_the_same_file_twice_is_refused(write, read):
    path = write(GOOD)
    with refused("`paths` must name each file once"):
        read(path, path)


def test_no_file_at_all_is_refused(read):
    with refused("`paths` must name at least one file"):
        read()


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"PK\x03\x04", "a zip archive"),
        (b"\x80\x04\x95", "a pickle, which is never loaded"),
        (b"BZh9", "compressed by bzip2"),
        (b"\x93NUMPY", "a NumPy array"),
    ],
)
def test_a_file_of_another_kind_is_named(write, read, start, name):
    with refused(f"must be CSV, Parquet, Arrow or JSON lines, plain or .gz; it is {name}"):
        read(write(start + b"\x00" * 50))


# The header


def test_a_wrong_delimiter_is_told_with_the_columns_and_the_likely_one(write, read):
    roles = Roles(truth="y_true", pred="y_pred")
    with refused("The columns are 'y_true;y_pred'. The cells seem to be separated by ';'"):
        read(write("y_true;y_pred\na;a\n"), roles=roles, delimiter=",")
    with refused("The cells seem to be separated by '\\t': --delimiter '\\t'."):
        read(write("y_true\ty_pred\na\ta\n"), delimiter=",")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write, read, delimiter):
    _, (batch,) = read(write(GOOD.replace(",", delimiter)))
    assert batch.truth.texts() == ["a", "b"]


def test_a_column_that_is_not_there_is_refused_with_the_likely_one(write, read):
    with refused("`truth` must be a column of the file; got 'y_treu'. The columns are 'y_true'"):
        read(write(GOOD), roles=Roles(truth="y_treu"))


def test_names_that_say_nothing_are_refused_with_the_column_list(write, read):
    with refused("`truth` must be the column with the true labels; none of the names is a usual "
                 "one. The columns are '1', '0'. Say which with --truth (roles= in Python); the "
                 "first line must be a header."):  # fmt: skip
        read(write("1,0\n1,1\n"))


def test_two_candidates_for_a_role_are_refused(write, read):
    with refused("`truth` must be one column; the names 'y_true', 'label' could all be it. "
                 "Say which with --truth."):  # fmt: skip
        read(write("y_true,label,y_pred\na,a,a\n"))


def test_a_used_column_that_is_there_twice_is_refused(write, read):
    with refused("The column 'y_pred' must appear once in the header; it appears 2 times."):
        read(write("y_true,y_pred,y_pred\na,a,a\n"), roles=Roles(pred="y_pred"))


def test_an_unused_column_may_be_there_twice(write, read):
    _, (batch,) = read(write("y_true,x,x,y_pred\na,1,2,b\n"))
    assert batch.pred.texts() == ["b"]


def test_one_column_for_two_roles_is_refused(write, read):
    with refused("Each column must play one role; 'y_true' is named for two of them."):
        read(write(GOOD), roles=Roles(truth="y_true", pred="y_true"))


def test_a_further_file_must_have_the_columns_of_the_first(write, read):
    second = write("y_true,guess\na,a\n", "second.csv")
    with refused("second.csv: `pred` must be a column of the file; got 'y_pred'."):
        read(write(GOOD), second)


def test_a_blank_first_line_is_refused(write, read):
    with refused("predictions.csv, line 1: must start with a header; the first line is blank."):
        read(write("\ny_true,y_pred\na,a\n"))


# Lines and cells


def test_a_long_row_is_refused_with_its_line(write, read):
    with refused("predictions.csv, line 3: must have 2 cells, as the header has; "
                 "got 3: 'b,b,c'"):  # fmt: skip
        read(write("y_true,y_pred\na,a\nb,b,c\na,a\n"))


def test_a_short_row_is_refused_with_its_line_and_not_padded(write, read):
    with refused("line 4: must have 2 cells, as the header has; got 1: 'b' (2 such rows up to "
                 "row 4)."):  # fmt: skip
        read(write("y_true,y_pred\na,a\na,a\nb\nb\n"))


def test_the_line_counts_line_ends_inside_quotes(write, read):
    with refused("line 6: must have 2 cells"):
        read(write('y_true,y_pred\n"a\nb\nc",a\na,a\nb\n'))


def test_a_blank_line_among_the_rows_is_refused(write, read):
    with refused("line 3: must have a row in every line; this one is blank."):
        read(write("y_true,y_pred\na,a\n\nb,b\n"))


def test_blank_lines_at_the_end_are_left_out(write, read):
    files, _ = read(write("y_true,y_pred\r\na,a\r\nb,b\r\n\r\n\r\n"), block_bytes=7)
    assert files.files[0].rows == 2


def test_an_unclosed_quote_is_refused_with_the_line_where_it_opened(write, read):
    with refused("line 3: must close every quote; one opens here and is never closed."):
        read(write('y_true,y_pred\na,a\nb,"b\na,a\na,a\n'))


@pytest.mark.parametrize("rest", ['a,"a"\n', 'a,"a"\n"b","b"\nc,c\n'])
def test_the_line_of_an_unclosed_quote_is_right_when_others_follow(write, read, rest):
    with refused("line 3: must close every quote"):
        read(write(f'y_true,y_pred\na,a\nb,"b\n{rest}'))


def test_an_unclosed_quote_does_not_take_the_file_into_memory(write, read):
    content = 'y_true,y_pred\na,"a\n' + "b,b\n" * 1000
    with refused("line 2: must close every quote"):
        read(write(content), block_bytes=100, max_line_bytes=500)


def test_a_quote_inside_an_unquoted_cell_is_refused(write, read):
    with refused("line 2: must have quotes around whole cells only; got"):
        read(write('y_true,y_pred\n5" pipe,5" pipe\n'))


def test_a_quote_inside_a_cell_far_into_the_file_is_refused(write, read):
    rows = "a,a\n" * 30_000
    with refused("line 30002: must have quotes around whole cells only"):
        read(write(f'y_true,y_pred\n{rows}5" pipe,5" pipe\n'), block_bytes=1000)


def test_quoted_line_ends_delimiters_and_quotes_are_fine(write, read):
    _, (batch,) = read(write('y_true,y_pred\r\n"a\nb","c,d"\r\n"""e""","f\r\ng"\r\n'))
    assert batch.truth.texts() == ["a\nb", '"e"']
    assert batch.pred.texts() == ["c,d", "f\r\ng"]


def test_windows_line_ends_are_fine(write, read):
    _, (batch,) = read(write(GOOD.replace("\n", "\r\n")))
    assert batch.truth.texts() == ["a", "b"]
    assert batch.score.tolist() == [0.5, 0.25]


def test_a_return_that_ends_no_line_is_refused(write, read):
    with refused("line 2: must end lines in LF or CR LF; got a CR alone."):
        read(write("y_true,y_pred\na,a\rb,b\n"))


def test_lines_that_all_end_in_a_return_are_refused(write, read):
    with refused("line 1: must end lines in LF or CR LF; got a CR alone."):
        read(write("y_true,y_pred\ra,a\rb,b\r"))


def test_a_very_long_line_is_refused(write, read):
    content = "y_true,y_pred\na,a\n" + "b" * 5000 + ",b\n"
    for block_bytes in (64, 10_000):
        with refused("line 3: must have shorter lines; this one exceeds the limit. Raise "
                     "--max-line-bytes."):  # fmt: skip
            read(write(content), max_line_bytes=1000, block_bytes=block_bytes)


def test_a_long_line_within_the_limit_is_fine(write, read):
    label = "b" * 200_000
    _, batches = read(write(f"y_true,y_pred\n{label},b\n"), block_bytes=1000)
    assert batches[0].truth.texts() == [label]


# Encodings


def test_a_byte_order_mark_is_stripped(write, read):
    files, _ = read(write(b"\xef\xbb\xbf" + GOOD.encode()))
    assert files.columns[0] == "y_true"


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)
def test_utf_16_is_named_and_can_be_read(write, read, encoding, named):
    path = write(GOOD.replace("a,", "ä,").encode(encoding))
    with refused(f"Use --encoding {named}."):
        read(path)
    _, (batch,) = read(path, encoding=named)
    assert batch.truth.texts() == ["ä", "b"]


def test_malformed_utf_8_is_refused_with_its_byte(write, read):
    content = b"y_true,y_pred\na,a\n\xe4,a\n"  # 14 + 4 bytes before it
    with refused("line 3, byte 18: must be UTF-8; got b'\\xe4,a\\n'. Use --encoding"):
        read(write(content))
    _, (batch,) = read(write(content), encoding="latin-1")
    assert batch.truth.texts() == ["a", "ä"]


def test_a_byte_that_the_given_encoding_does_not_know_is_refused(write, read):
    with refused("byte 18: must be cp1252"):
        read(write(b"y_true,y_pred\na,a\n\x81,a\n"), encoding="cp1252")


def test_a_byte_far_into_the_file_is_counted_from_its_start(write, read):
    before = b"y_true,y_pred\n" + b"a,a\n" * 30_000  # 14 + 120,000 bytes
    with refused("byte 120014: must be cp1252"):
        read(write(before + b"\x81,a\n"), encoding="cp1252", block_bytes=1000)
    with refused("line 30002, byte 120014: must be UTF-8"):
        read(write(before + b"\x81,a\n"), block_bytes=1000)


def test_utf_16_that_ends_in_half_a_character_is_refused(write, read):
    with refused("must be utf-16"):
        read(write(GOOD.encode("utf-16")[:-1]), encoding="utf-16")


def test_a_nul_byte_is_refused(write, read):
    with refused("line 3, byte 19: must be text; got a NUL byte."):
        read(write(b"y_true,y_pred\na,a\nb\x00,b\n"))


def test_an_encoding_that_python_does_not_know_is_refused():
    with refused("`encoding` must be an encoding Python knows"):
        ReadingOptions(encoding="utf-99")


# Compression


def rows_of_csv(count):
    scores = np.random.default_rng(1).random(count).tolist()
    return ("y_true,score\n" + "".join(f"a,{score}\n" for score in scores)).encode()


def test_a_truncated_gzip_file_is_refused_with_the_row_where_it_ends(write, read):
    text = rows_of_csv(20_000)
    short = gzip.compress(text)[:100_000]
    readable = zlib.decompressobj(31).decompress(short).count(b"\n") - 1
    for block_bytes in (10_000, 2**22):
        with refused(f"must be complete; the gzip data end early at row {readable}."):
            read(write(short, "predictions.csv.gz"), block_bytes=block_bytes)


def test_something_after_the_gzip_data_is_refused(write, read):
    with refused("must end with its gzip data; something else follows them."):
        read(write(gzip.compress(GOOD.encode()) + b"garbage", "predictions.csv.gz"))


def test_a_wrong_checksum_of_gzip_is_refused(write, read):
    content = bytearray(gzip.compress(GOOD.encode()))
    content[-6] ^= 1  # the CRC-32 is in the eight bytes at the end
    with refused("must be intact; its gzip data are damaged"):
        read(write(bytes(content), "predictions.csv.gz"))


def test_several_gzip_members_and_padding_are_one_file(write, read):
    half = len(GOOD) // 2
    parts = [gzip.compress(part.encode()) for part in (GOOD[:half], GOOD[half:])]
    _, batches = read(write(b"".join(parts) + b"\0" * 20, "predictions.csv.gz"))
    assert batches[0].truth.texts() == ["a", "b"]


def test_a_file_that_expands_too_much_is_refused(write, read):
    content = gzip.compress(b"y_true,y_pred\n" + b"a,a\n" * 1_000_000)
    with refused("must expand at most 100-fold; "):
        read(write(content, "predictions.csv.gz"), max_ratio=100)
    with refused("must expand to at most 2000000 bytes. Raise --max-expanded-bytes"):
        read(write(content, "predictions.csv.gz"), max_expanded_bytes=2_000_000)


def test_parquet_inside_gzip_is_refused(write, read):
    with refused("must not be gzip around Parquet."):
        read(write(gzip.compress(b"PAR1" + b"\0" * 100), "p.parquet.gz"))


# Parquet


def good_parquet(path):
    rng = np.random.default_rng(1)
    columns = {"y_true": rng.integers(0, 2, 5000), "score": rng.random(5000)}
    return write_parquet(path, columns, write_page_checksum=True, compression="none")


def test_truncated_parquet_is_refused(tmp_path, read):
    path = good_parquet(tmp_path / "p.parquet")
    path.write_bytes(path.read_bytes()[:-100])
    with refused("p.parquet: must be an intact Parquet file; "):
        read(path)


def test_column_names_of_parquet_that_are_not_utf_8_are_refused(tmp_path, read):
    path = write_parquet(tmp_path / "p.parquet", {"y_true": ["a"], "y_préd": ["a"]})
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    with refused("p.parquet: must be an intact Parquet file; "):
        read(path)


def test_a_flipped_bit_in_a_parquet_page_is_refused(tmp_path, read):
    path = good_parquet(tmp_path / "p.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with refused("p.parquet: must be an intact Parquet file; "):
        read(path)


def test_the_row_group_and_the_column_of_a_damaged_page_are_named(tmp_path, read):
    columns = {"y_true": [0, 1] * 50, "score": np.linspace(0, 1, 100)}
    path = write_parquet(
        tmp_path / "p.parquet",
        columns,
        write_page_checksum=True,
        compression="none",
        use_dictionary=False,
        row_group_size=40,
    )
    chunk = parquet.read_metadata(path).row_group(1).column(1)
    content = bytearray(path.read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size - 20] ^= 1
    path.write_bytes(content)
    with refused("intact Parquet file; in row group 2 of 3 (rows 41 to 80), 'score': "):
        read(path)


# Names that lie, and files that change


def test_the_content_counts_and_not_the_name(write, read):
    files, (batch,) = read(write(GOOD, "predictions.parquet"))
    assert batch.truth.texts() == ["a", "b"]
    assert files.files[0].format == "csv"
    assert any("read as csv, whatever its name says" in note for note in files.notes)


def test_gzip_without_its_ending_is_read_and_told(write, read):
    files, _ = read(write(gzip.compress(GOOD.encode()), "predictions.csv"))
    assert files.files[0].compression == "gzip"
    assert any("compressed by gzip, whatever its name says" in note for note in files.notes)


@pytest.mark.parametrize("change", ["grow", "replace", "vanish"])
def test_a_file_that_changes_while_it_is_read_is_refused(write, change):
    path = write("y_true,y_pred\n" + "a,a\n" * 1000)
    files = open_predictions([path], options=ReadingOptions(block_bytes=100))
    batches = files.batches()
    next(batches)
    if change == "grow":
        with path.open("a") as file:
            file.write("b,b\n")
    elif change == "replace":
        other = path.with_name("other.csv")
        other.write_bytes(path.read_bytes())
        other.replace(path)
    else:
        path.unlink()
    with pytest.raises(ResourceError, match="while it was read"):
        list(batches)


@pytest.mark.parametrize("change", ["content", "inode"])
def test_a_change_that_leaves_the_size_is_seen(write, change):
    path = write(GOOD)
    files = open_predictions([path])
    before = path.stat()
    if change == "content":
        path.write_text(GOOD.replace("b,a", "a,b"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    else:
        other = path.with_name("other.csv")
        other.write_text(GOOD.replace("b,a", "a,b"))
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        other.replace(path)
    with pytest.raises(ResourceError, match="changed while it was read"):
        list(files.batches())


def test_a_file_that_changes_between_two_readings_is_refused(write):
    path = write(GOOD)
    files = open_predictions([path])
    list(files.batches())
    path.write_text(GOOD + "a,a,0.5\n")
    with pytest.raises(ResourceError, match="changed while it was read"):
        list(files.batches())
