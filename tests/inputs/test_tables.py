"""Tables: what a column is taken for, one table in every format, what is refused."""

import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import parquet
from scipy.sparse import issparse

from truerisk.errors import InputError, ResourceError
from truerisk.inputs import tables
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Fingerprint
from truerisk.inputs.tables import as_number, note_of_words, read_table

NAN = np.nan
CSV = "age,sex,ill,city\n63,m,yes,Ulm\n,f,no,Bonn\n41.5,f,no,\n7,m,yes,Bonn\n"
ROWS = [
    {"age": 63, "sex": "m", "ill": "yes", "city": "Ulm"},
    {"sex": "f", "ill": "no", "city": "Bonn"},
    {"age": 41.5, "sex": "f", "ill": "no", "city": None},
    {"age": 7, "sex": "m", "ill": "yes", "city": "Bonn"},
]


def refused(message):
    return pytest.raises(InputError, match=re.escape(message))


def table_of(cells, labels="ab"):
    """Make a CSV of one feature `v` and alternating labels."""
    return "v,y\n" + "".join(f'"{v}",{labels[at % len(labels)]}\n' for at, v in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", " 3 ", "-4e-3", "+5", ".5", "6."], "number"),
        (["0", "1"], "number"),
        (["1", "", "3"], "number"),
        (["1", "x"], "category"),
        (["nan", "1"], "category"),
        (["1_000", "2"], "category"),
        (["0x1F", "2"], "category"),
        (["True", "False"], "category"),
    ],
    ids=str,
)
def test_a_number_is_a_finite_number_in_every_cell(write, cells, kind):
    assert read_table(write(table_of([*cells, *cells]))).kinds == (kind,)


def test_a_stray_word_among_numbers_is_refused_with_its_place(write):
    cells = [str(number) for number in range(20)]
    cells[6] = cells[12] = "n.a."
    with refused("row 7: 'v' must be a finite number, as in most rows; got 'n.a.' (2 such rows)."):
        read_table(write(table_of(cells)))
    assert np.isnan(read_table(write(table_of(cells)), missing_values=["n.a."]).X).sum() == 2
    assert read_table(write(table_of(cells)), categorical=["v"]).kinds == ("category",)


@pytest.mark.parametrize("cell", ["inf", "1e999", "NaN"])
def test_what_is_not_finite_is_no_number(write, cell):
    cells = [*map(str, range(20)), cell]
    with refused(f"row 21: 'v' must be a finite number, as in most rows; got '{cell}'"):
        read_table(write(table_of(cells)))


def test_decimal_commas_are_told_and_read_when_asked(write):
    cells = [f"{number},5" for number in range(20)]
    with refused("got '0,5'. Use --decimal , if that is the decimal mark."):
        read_table(write(table_of(cells)))
    content = table_of(cells).replace(",a", ";a").replace(",b", ";b").replace("v,y", "v;y")
    table = read_table(write(content), options=ReadingOptions(decimal=","))
    assert table.X[:, 0].tolist() == [number + 0.5 for number in range(20)]


def test_a_point_is_no_mark_where_a_comma_is(write):
    content = table_of(["1.5", "2,5"] * 3).replace(",a", ";a").replace(",b", ";b")
    table = read_table(write(content.replace("v,y", "v;y")), options=ReadingOptions(decimal=","))
    assert table.kinds == ("category",)


def test_words_that_differ_in_most_rows_are_ids_or_texts(write):
    ids = write(table_of([f"K{number}" for number in range(60)]))
    with refused("60 distinct values in 60 rows, such as 'K0', are probably ids. Use --drop v"):
        read_table(ids)
    texts = write(table_of([f"number {number} of all" for number in range(60)]))
    with refused("are probably texts. Use --text v for texts, or --drop v"):
        read_table(texts)
    assert read_table(texts, text="v").kinds == ("text",)
    assert read_table(ids, categorical=["v"]).kinds == ("category",)


def test_fifty_categories_are_not_too_many(write):
    assert read_table(write(table_of([f"K{at}" for at in range(50)]))).kinds == ("category",)
    with refused("51 distinct values"):
        read_table(write(table_of([f"K{at}" for at in range(51)])))
    assert read_table(write(table_of([f"K{at % 51}" for at in range(102)]))).kinds == ("category",)


def test_long_ids_do_not_become_numbers(write):
    cells = [str(12345678901234567000 + number) for number in range(60)]
    with refused("are probably ids"):
        read_table(write(table_of(cells)))


def test_a_column_that_calls_itself_an_id_and_is_one_is_refused(write):
    content = "id,x,y\n" + "".join(f"{7 * at},{at % 3},{'ab'[at % 2]}\n" for at in range(9))
    with refused("'id' must be a feature; its 9 whole numbers are all different"):
        read_table(write(content))
    assert read_table(write(content), drop=["id"]).kinds == ("number",)
    assert read_table(write(content.replace("id,", "height,"))).notes == ()


def test_a_column_that_numbers_the_rows_is_told(write):
    table = read_table(write(table_of(range(5, 25))))
    assert "v: numbers the rows" in table.notes[0]


def test_a_quantity_is_no_target(write):
    labels = [f"{number}.5" for number in range(21)]
    with refused("'y' must hold classes; 21 distinct numbers such as '0.5' are a quantity."):
        read_table(write(table_of([0, 1, 2] * 21, labels)))
    read_table(write(table_of([0, 1, 2] * 20, labels[:20])))
    read_table(write(table_of([0, 1, 2] * 21, [str(number) for number in range(21)])))


def test_a_target_that_differs_in_most_rows_is_an_id(write):
    with refused("'y' must hold classes; 30 distinct labels in 40 rows are too many to learn."):
        read_table(write(table_of(range(0, 80, 2), [f"K{at}" for at in range(30)])))


def test_what_is_read_as_a_number():
    assert as_number(" 1.5 ", ReadingOptions()) == 1.5
    assert as_number("1,5", ReadingOptions(decimal=",")) == 1.5
    assert as_number("nan", ReadingOptions()) is None
    assert as_number("12345678901234567890", ReadingOptions()) is None


def test_words_that_look_missing_are_named():
    assert note_of_words("sex", ("?", "f", "m")) == [
        "sex: '?' is a category of its own; --missing-values '?' says that the value is missing."
    ]


def as_parquet(path):
    parquet.write_table(pa.Table.from_pylist(ROWS), path / "table.parquet")
    return path / "table.parquet"


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "jsonl", "jsonl.gz", "parquet"])
def test_one_table_in_every_format_is_one_table(write, tmp_path, kind):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    if kind == "parquet":
        path = as_parquet(tmp_path)
    else:
        content = lines if "json" in kind else CSV.replace(",", "\t" if kind == "tsv" else ",")
        data = content.encode()
        path = write(gzip.compress(data) if kind.endswith("gz") else data, f"table.{kind}")
    table = read_table(path, target="ill")
    assert [column.name for column in table.columns] == ["age", "sex", "city"]
    assert table.kinds == ("number", "category", "category")
    assert_array_equal(table.X, [[63, 1, 1], [NAN, 0, 0], [41.5, 0, NAN], [7, 1, 0]])
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["yes", "no", "no", "yes"]
    assert table.labels == ("yes", "no")
    assert table.columns[2].words == ["Ulm", "Bonn", None, "Bonn"]
    assert (table.groups, table.target, len(table), table.notes) == (None, "ill", 4, ())
    assert (table.source.rows, table.source.dropped) == (4, 0)
    assert len(table.source.sha256) == 64


def test_columns_are_views_of_the_matrix(write):
    table = read_table(write(CSV), target="ill")
    assert all(np.shares_memory(column.values, table.X) for column in table.columns)


def test_groups_texts_and_dropped_columns_play_their_roles(write):
    content = "who,note,x,y\na,wheat is up,1,0\na,,2,1\nb,gold fell again,3,0\n"
    table = read_table(write(content), group="who", text="note")
    assert table.kinds == ("text", "number")
    assert table.X.tolist() == [["wheat is up", 1.0], [None, 2.0], ["gold fell again", 3.0]]
    assert table.columns[0].words[1] is None
    assert table.groups.tolist() == ["a", "a", "b"]
    without = read_table(write(content), drop=["who", "note"])
    assert without.kinds == ("number",)


def test_a_forced_category_may_look_like_a_number(write):
    table = read_table(write("zip,y\n01,a\n1,b\n01,a\n"), categorical=["zip"])
    assert table.columns[0].categories == ("01", "1")
    assert_array_equal(table.X[:, 0], [0, 1, 0])


def test_categories_are_sorted_so_that_the_order_of_rows_does_not_matter(write):
    lines = [f"{word},{label}" for word, label in zip("dbca", "0101", strict=True)]
    there = read_table(write("\n".join(["w,y", *lines])))
    back = read_table(write("\n".join(["w,y", *lines[::-1]])))
    assert_array_equal(there.X, back.X[::-1])


def test_a_column_that_turns_late_into_words_is_read_again(write):
    numbers = [str(row % 7) for row in range(3000)]
    content = "v,y\n" + "".join(f"{cell},{row % 2}\n" for row, cell in enumerate([*numbers, "a"]))
    small = read_table(write(content), options=ReadingOptions(block_bytes=500))
    large = read_table(write(content))
    assert small.kinds == large.kinds == ("category",)
    assert_array_equal(small.X, large.X)
    assert small.columns[0].categories == (*"0123456", "a")


@given(
    cells=st.lists(
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=2,
        max_size=20,
    )
)
def test_numbers_survive_to_the_last_bit(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("numbers") / "t.csv"
    lines = [f"{'' if cell is None else repr(cell)},{row % 2}" for row, cell in enumerate(cells)]
    path.write_text("\n".join(["x,y", *lines]))
    expected = [NAN if cell is None else cell for cell in cells]
    table = read_table(path)
    assert table.kinds == ("number",)
    assert_array_equal(table.X[:, 0], expected)


def test_the_target_is_found_by_its_usual_name_if_there_is_one(write):
    assert read_table(write("x,Class\n1,a\n2,b\n")).target == "Class"
    with refused("the names 'label', 'y' could all be it. Say which with --target."):
        read_table(write("label,y\n1,a\n2,b\n"))
    with refused("The columns are 'x', 'z'. Say which with --target."):
        read_table(write("x,z\n1,a\n2,b\n"))


def test_a_missing_target_is_refused_with_its_count_or_dropped(write):
    path = write("x,y\n1,a\n2,\n3,b\n4,\n")
    with refused("row 2: 'y' must have a value in every row; 2 of 4 have none. Use --missing drop"):
        read_table(path)
    table = read_table(path, options=ReadingOptions(missing="drop"))
    assert table.X[:, 0].tolist() == [1, 3]
    assert table.notes == ("2 of 4 rows dropped for a missing value (y).",)
    assert (table.source.rows, table.source.dropped) == (4, 2)


def test_what_says_missing_must_be_told(write):
    content = "v,w,y\n1,?,a\n?,u,b\n3,u,a\n"
    words = read_table(write(content), missing_values=["?"])
    assert words.kinds == ("number", "category")
    assert_array_equal(words.X, [[1, NAN], [NAN, 0], [3, 0]])
    untold = read_table(write(content))
    assert untold.kinds == ("category", "category")
    assert "v: '?' is a category of its own; --missing-values '?' says" in untold.notes[0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must hold examples; the file is empty."),
        ("x,y\n", "must hold examples; the file has 0 data rows."),
        ("x,y\n1,a\n", "must hold at least 2 examples; got 1."),
        ("x,y\n1,a\n2,a\n", "'y' must have at least two classes; all 2 examples are of 'a'."),
        ("x,x,y\n1,2,a\n2,3,b\n", "The column 'x' must appear once in the header; it appears 2"),
        ("x,y\n1,a\n2\n", "line 3: must have 2 cells, as the header has; got 1"),
        ("y\na\nb\n", "At least one column must be left as a feature; the columns are 'y'."),
    ],
    ids=["empty", "header", "one row", "one class", "double", "ragged", "no feature"],
)
def test_what_cannot_be_learnt_from_is_refused(write, content, message):
    with refused(message):
        read_table(write(content, "t.csv"))


def test_a_column_named_for_two_roles_or_not_there_is_refused(write):
    path = write("age,y\n1,a\n2,b\n")
    with refused(
        "`drop` must be a column of the file; got 'aged'. The columns are 'age', 'y'. Did"
    ):
        read_table(path, drop=["aged"])
    with refused("'age' is named as `group` and as `drop`."):
        read_table(path, group="age", drop=["age"])


def test_constant_columns_are_kept_and_told(write):
    table = read_table(write("x,c,n,y\n1,u,,a\n2,u,,b\n"))
    assert table.X.shape == (2, 3)
    assert table.notes == ("c, n: the same value in every row, which says nothing of the label.",)


def test_vectors_are_sparse_or_dense_whichever_is_smaller(write):
    sparse = read_table(write("+1 1:2 900:1\n-1 5:3\n", "t.svm"))
    assert issparse(sparse.X)
    assert sparse.X.shape == (2, 900)
    assert (sparse.kinds, sparse.labels, sparse.source.format) == (None, ("+1", "-1"), "svmlight")
    dense = read_table(write("a 1:2 2:1\nb 1:5 2:3\n", "vectors.txt"), target="label")
    assert_array_equal(dense.X, [[2, 1], [5, 3]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b 1:2\na 1:3\n", "row 1: must have one label per vector; got 'a,b'"),
        ("a 1:2\n 1:3\nb 1:3\n", "row 2: must have a label for every vector; 1 of 3 have none."),
        ("a 1:2\na 1:3\n", "must have at least two classes"),
    ],
    ids=["two labels", "no label", "one class"],
)
def test_vectors_that_have_no_label_each_are_refused(write, content, message):
    with refused(message):
        read_table(write(content, "t.svm"))


def test_vectors_without_labels_can_be_dropped(write):
    path = write("a 1:2\n 1:3\nb 2:3\n", "t.svm")
    table = read_table(path, options=ReadingOptions(missing="drop"))
    assert table.y.tolist() == ["a", "b"]
    assert table.notes == ("1 of 3 rows dropped for a missing label.",)


def test_names_of_columns_mean_nothing_in_vectors(write):
    with refused("it is svmlight, which has none, and 'age' was named"):
        read_table(write("a 1:2\nb 1:3\n", "t.svm"), drop=["age"])


def test_a_file_that_lies_in_its_name_is_read_and_told(write):
    table = read_table(write(CSV, "table.jsonl"), target="ill")
    assert "table.jsonl: read as csv, whatever its name says." in table.notes[0]


def test_a_file_cut_off_is_refused(write):
    data = gzip.compress(CSV.encode())
    with refused("the gzip data end early"):
        read_table(write(data[:-9], "t.csv.gz"), target="ill")


def test_a_file_that_changes_while_read_is_not_used(write, monkeypatch):
    path = write(CSV)
    stale = Fingerprint(1, 2, 3, 4)
    result = tables.recognise(path, ReadingOptions())
    monkeypatch.setattr(tables, "recognise", lambda *_, **__: (result[0], stale, None))
    with pytest.raises(ResourceError, match="changed while it was read"):
        read_table(path, target="ill")


def test_parquet_types_become_numbers_or_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    whole = pa.array([1, None, 3], pa.int16())
    flag = pa.array([True, False, None])
    code = pa.array(["a", "b", "a"]).dictionary_encode()
    label = pa.array([1.0, 0.0, 1.0])
    parquet.write_table(pa.table({"n": whole, "f": flag, "c": code, "y": label}), path)
    table = read_table(path)
    assert table.kinds == ("number", "number", "category")
    assert_array_equal(table.X, [[1, 1, 0], [NAN, 0, 1], [3, NAN, 0]])
    assert table.labels == ("1", "0")
    parquet.write_table(pa.table({"d": pa.array([[1], [2], [3]]), "y": label}), path)
    with refused("'d' must hold numbers or words; got list"):
        read_table(path)
    assert read_table_without(path).startswith("At least one column")
    parquet.write_table(pa.table({"d": pa.array([1.0, np.inf, 3.0]), "y": label}), path)
    with refused("row 2: 'd' must be a finite number; got inf."):
        read_table(path)


def read_table_without(path):
    with pytest.raises(InputError) as caught:
        read_table(path, drop=["d"])
    return str(caught.value).partition(": ")[2]


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_every_set_of_the_data_folder_is_read_unattended():
    folder = Path(os.environ["TRUERISK_DATA"]) / "tabular"
    read = {}
    for path in sorted(folder.glob("*.csv.gz")):
        if path.name.startswith("covtype"):  # half a million rows; `truerisk estimate` reads them
            continue
        if path.name.startswith("hiv") and "raw" in path.name:
            with refused("`target` must be a column of the file; got 'target'. The columns are"):
                read_table(path, target="target")
            continue
        read[path.name.removesuffix(".csv.gz")] = read_table(path, target="target")
    assert len(read) == 35
    assert all(set(table.y.tolist()) == {"0", "1"} for table in read.values())
    assert read["usvotes"].X.shape == (435, 16)
    assert np.isnan(read["usvotes"].X).sum() == 392
    assert read["credit_crx_full690"].kinds.count("category") == 9
    assert read["heart_cleveland_full303"].source.rows == 303


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_ids_of_the_raw_file_are_refused_and_patients_are_groups():
    path = Path(os.environ["TRUERISK_DATA"]) / "tabular" / "hiv_pi2006_raw.csv.gz"
    with refused("'IsolateName' must be a category; 845 distinct values in 848 rows"):
        read_table(path, target="P10", group="PseudoName")
    table = read_table(
        path,
        target="P10",
        group="PseudoName",
        drop=["IsolateName", "MedlineID"],
        options=ReadingOptions(missing="drop"),
    )
    assert len(set(table.groups.tolist())) < len(table)
