"""Pages decoded here are what Arrow makes of them; what is damaged is refused in Arrow's words."""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.inputs.records import parquet_pages
from truerisk.inputs.records.parquet import ParquetFile
from truerisk.inputs.records.parquet_pages import PlainColumns
from truerisk.inputs.records.rows import Selection

LABELS, NUMBERS = ("text", "int8", "uint8", "bool"), ("score", "wide", "int64", "uint32")
SELECTION = Selection(labels=LABELS, numbers=NUMBERS)


def table(n, *, distinct=50):
    rng = np.random.default_rng(n)
    return pa.table(
        {
            "text": pa.array(rng.choice(["no", "yes", "ä", ""], n)),
            "int8": rng.integers(-2, 3, n).astype(np.int8),
            "uint8": rng.integers(250, 256, n).astype(np.uint8),
            "bool": rng.random(n) < 0.3,
            "score": rng.choice(rng.standard_normal(distinct, dtype=np.float32), n),
            "wide": rng.standard_normal(n),
            "int64": rng.integers(-(2**60), 2**60, n),
            "uint32": rng.integers(0, 2**32, n).astype(np.uint32),
        }
    )


def by_arrow(monkeypatch, path, options=None):
    """Read as if no file were plain."""
    with monkeypatch.context() as patch:
        patch.setattr(PlainColumns, "of", lambda *_: None)
        return outcome(path, options)


def outcome(path, options=None):
    """Give all cells with where they stand, or the refusal."""
    try:
        reader = ParquetFile(path, None, options or tr.ReadingOptions())
        rows = list(reader.rows(SELECTION))
        cells = {
            name: [cell for one in rows for cell in one.columns[name].tolist()]
            for name in SELECTION.columns
        }
    except (
        InputError,
        KeyError,
    ) as error:  # a name that changed is refused where roles are settled
        return str(error)
    kinds = {name: column.kind for name, column in rows[0].columns.items()}
    types = {name: str(rows[0].columns[name].values.dtype) for name in SELECTION.columns[1:]}
    places = [one.places.where(0) for one in rows]
    return cells, kinds, types, places


def decoded_here(path):
    with pq.ParquetFile(path) as file:
        plain = PlainColumns.of(path, file, SELECTION)
        groups = file.metadata.num_row_groups
    return plain is not None and all(plain.row_group(at) is not None for at in range(groups))


@pytest.mark.parametrize("n", [1, 9, 5000])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("form", list(itertools.product(["1.0", "2.0"], [True, ["text"]])))
def test_the_cells_are_those_of_arrow(tmp_path, monkeypatch, n, compression, form):
    version, dictionary = form
    path = tmp_path / "rows.parquet"
    pq.write_table(
        table(n),
        path,
        compression=compression,
        data_page_version=version,
        use_dictionary=dictionary,
        write_page_checksum=True,
        row_group_size=3000,
        data_page_size=2**10,
        dictionary_pagesize_limit=2**12,
    )
    expected = by_arrow(monkeypatch, path)
    assert outcome(path) == expected
    # Booleans of the second version are runs, which Arrow reads.
    assert decoded_here(path) == (version == "1.0" and compression != "gzip")


def test_required_columns_have_no_levels(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    rows = table(700)
    schema = pa.schema([field.with_nullable(nullable=False) for field in rows.schema])
    pq.write_table(rows.cast(schema), path)
    assert decoded_here(path)
    assert outcome(path) == by_arrow(monkeypatch, path)


def test_batches_are_cut_and_numbered_alike(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(100), path, row_group_size=40)
    options = tr.ReadingOptions(batch_rows=20)
    assert outcome(path, options) == by_arrow(monkeypatch, path, options)


def test_arrow_goes_on_where_a_value_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    rows = table(100)
    score = rows["score"].to_pylist()
    score[57] = None
    gap = rows.set_column(4, "score", pa.array(score, pa.float32()))
    pq.write_table(gap, path, row_group_size=20)
    with pq.ParquetFile(path) as file:
        plain = PlainColumns.of(path, file, SELECTION)
    assert [plain.row_group(at) is None for at in range(5)] == [False, False, True, False, False]
    here, arrow = outcome(path), by_arrow(monkeypatch, path)
    assert np.isnan(here[0]["score"][57])
    assert str(here[0]) == str(arrow[0])  # NaN differs from itself


def test_row_groups_too_large_for_memory_are_for_arrow(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(100), path)
    expected = by_arrow(monkeypatch, path)
    monkeypatch.setattr(parquet_pages, "MAX_ROWS", 99)
    assert not decoded_here(path)
    assert outcome(path) == expected


def test_a_column_in_a_column_is_for_arrow(tmp_path):
    path = tmp_path / "rows.parquet"
    inner = pa.array([{"text": "a", "other": 1}] * 9)
    pq.write_table(table(9).append_column("inner", inner), path)
    assert not decoded_here(path)


def test_files_of_polars(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    path = tmp_path / "rows.parquet"
    polars.from_arrow(table(500)).write_parquet(path)
    assert outcome(path) == by_arrow(monkeypatch, path)


@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_a_changed_byte_is_seen_as_arrow_sees_it(tmp_path, monkeypatch, compression):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(300), path, compression=compression, write_page_checksum=True)
    assert decoded_here(path)
    intact = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.choice(np.arange(4, len(intact) * 3 // 4), 400, replace=False).tolist():
        damaged = bytearray(intact)
        damaged[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert str(outcome(path)) == str(by_arrow(monkeypatch, path)), at


def test_a_damaged_footer_is_read_as_arrow_reads_it(tmp_path, monkeypatch):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(9), path, write_statistics=False, store_schema=False)
    intact = path.read_bytes()
    facts = parquet_pages.facts_of(path, 1, 8)
    assert facts[0, :, parquet_pages.CODEC].tolist() == [parquet_pages.SNAPPY] * 8
    expected, refused = outcome(path), 0
    for at in range(len(intact) - 8 - int.from_bytes(intact[-8:-4], "little"), len(intact) - 8):
        damaged = bytearray(intact)
        damaged[at] ^= 32
        path.write_bytes(damaged)
        here, arrow = outcome(path), by_arrow(monkeypatch, path)
        # Statistics that do not fit are not looked at here.
        assert str(here) == str(arrow) or (here == expected and isinstance(arrow, str)), at
        refused += isinstance(here, str)
    assert refused > 8


def test_a_wrong_checksum_is_named(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(3000), path, compression="none", write_page_checksum=True)
    intact = path.read_bytes()
    with pq.ParquetFile(path) as file:
        chunk = file.metadata.row_group(0).column(5)
    damaged = bytearray(intact)
    damaged[chunk.dictionary_page_offset + chunk.total_compressed_size // 2] ^= 1
    path.write_bytes(damaged)
    assert "in row group 1 of 1 (rows 1 to 3000), 'wide'" in outcome(path)
