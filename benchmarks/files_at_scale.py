"""Whole files, from the bytes on disk to every measure with its interval.

Beside them stand bare readers of the same columns, all of which truerisk uses: readers that decode
every value to an array, and readers that decode and add up.  truerisk also verifies the checksum of
every Parquet page and hashes the file; pyarrow verifies with the same settings, polars cannot.
Each runs in a process of its own, with as many threads as there are cores, and reads a small file
of the same kind first: what it imports is not measured.  The kinds of Parquet files differ in what
writers choose: the width of scores, how labels are stored, compression, and rows per row group.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

Writer = Callable[[Path, int], tuple[Path, int]]

TITLE = "Files of predictions: truth, prediction and score of every row → all measures"
COLUMNS = ("file", "rows", "truerisk", "peak memory", "decoding the same columns to arrays",
           "ratio to arrays", "decoding and adding up", "ratio to sums")  # fmt: skip

# What is measured is `work`; it is done once with the small file before.
PROGRAM = """
import re, sys, time
from pathlib import Path
{work}
work(sys.argv[1])
start, cpu = time.perf_counter(), time.process_time()
work(sys.argv[2])
took, cpu = time.perf_counter() - start, time.process_time() - cpu
# The high-water mark of this process alone; getrusage would count the one that started it.
print(took, cpu, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
SCORE = """
import truerisk as tr
def work(path):
    tr.evaluate_files([path], random_state=1)
"""
ARRAYS = {
    "Parquet": {
        "pyarrow, verified": """
import pyarrow.parquet as pq
def work(path):
    file = pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False)
    for batch in file.iter_batches(batch_size=2**18, use_threads=True):
        pass
""",
        "polars": """
import polars as pl
def work(path):
    pl.read_parquet(path)
""",
    },
    "CSV": {
        "pyarrow": """
import pyarrow.csv
def work(path):
    pyarrow.csv.read_csv(path)
""",
        "polars": """
import polars as pl
def work(path):
    pl.read_csv(path)
""",
    },
    "JSON lines": {
        "polars": """
import polars as pl
def work(path):
    pl.read_ndjson(path)
""",
        "DuckDB": """
import duckdb
duckdb.execute("SET enable_progress_bar = false")
def work(path):
    duckdb.sql(f"SELECT * FROM read_json('{path}', format='newline_delimited')").fetchnumpy()
""",
    },
}
SUMS = {
    "Parquet": {
        "polars": """
import polars as pl
def work(path):
    pl.scan_parquet(path).select(pl.all().sum()).collect()
""",
        "DuckDB": """
import duckdb
duckdb.execute("SET enable_progress_bar = false")
def work(path):
    duckdb.sql(f"SELECT sum(y_true), sum(y_pred), sum(score) FROM '{path}'").fetchall()
""",
    },
    "CSV": {
        "polars": """
import polars as pl
def work(path):
    pl.scan_csv(path).select(pl.all().sum()).collect()
""",
    },
    "JSON lines": {
        "polars": """
import polars as pl
def work(path):
    pl.scan_ndjson(path).select(pl.all().sum()).collect()
""",
        "DuckDB": """
import duckdb
duckdb.execute("SET enable_progress_bar = false")
def work(path):
    source = f"read_json('{path}', format='newline_delimited')"
    duckdb.sql(f"SELECT sum(y_true), sum(y_pred), sum(score) FROM {source}").fetchall()
""",
    },
}
# Texts have no sum: truth and prediction are compared.
COMPARED = {
    "polars": """
import polars as pl
def work(path):
    right = pl.col("y_true") == pl.col("y_pred")
    pl.scan_parquet(path).select(right.sum(), pl.col("score").sum()).collect()
""",
    "DuckDB": """
import duckdb
duckdb.execute("SET enable_progress_bar = false")
def work(path):
    duckdb.sql(f"SELECT sum((y_true = y_pred)::INT), sum(score) FROM '{path}'").fetchall()
""",
}
REPEATS = 3
SMALL = 1000


@dataclass(frozen=True)
class Layout:
    """How a Parquet file is written; pyarrow's own choices but for the rows of a row group."""

    score: type = np.float32
    label: type = np.int8
    compression: str = "snappy"
    row_group: int = 10**6
    rows: int = 10**7


NARROW = Layout()
LAYOUTS = {
    "float64": Layout(np.float64, rows=10**8),
    "float64, zstd": Layout(np.float64, compression="zstd"),
    "float64, int64 labels": Layout(np.float64, np.int64),
    "float64, labels as text": Layout(np.float64, str),
    "float64, row groups of 2²⁰": Layout(np.float64, row_group=2**20),
    "float64, row groups of 122,880": Layout(np.float64, row_group=122_880),
    "float32, row groups of 122,880": Layout(row_group=122_880),
}


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    writers: dict[str, tuple[Writer, int]] = {
        "Parquet": (parquet, 10**8),
        **{f"Parquet, {name}": (layout_writer(one), one.rows) for name, one in LAYOUTS.items()},
        "CSV": (csv, 10**7),
        "JSON lines": (json_lines, 10**6),
    }
    for kind, (write, n) in writers.items():
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as warm:
            large = write(Path(folder), n // 100 if quick else n)
            yield beside(kind, large, write(Path(warm), SMALL))


def beside(kind: str, large: tuple[Path, int], small: tuple[Path, int]) -> tuple[str, ...]:
    path, n = large
    family = kind.split(",", maxsplit=1)[0]
    programs = {"truerisk": SCORE}
    programs |= {f"to arrays {name}": code for name, code in ARRAYS[family].items()}
    sums = SUMS[family] if kind == family else COMPARED
    programs |= {f"to sums {name}": code for name, code in sums.items()}
    best: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for name, code in programs.items():
            run_once = run(code, small[0], path)
            best[name] = min(best.get(name, run_once), run_once)
    seconds, _, memory = best["truerisk"]
    return (
        f"{kind}, {path.stat().st_size / 2**20:,.0f} MiB",
        f"{n:.0e}",
        time_of(best["truerisk"]),
        f"{memory / 2**10:,.0f} MiB ({1024 * memory / n:.1f} bytes a row)",
        *compared(seconds, best, "to arrays "),
        *compared(seconds, best, "to sums "),
    )


def compared(seconds: float, best: dict[str, list[float]], kind: str) -> tuple[str, str]:
    peers = {name.removeprefix(kind): one for name, one in best.items() if name.startswith(kind)}
    fastest = min(peers, key=lambda name: peers[name][0])
    listed = ", ".join(f"{name} {time_of(one)}" for name, one in peers.items())
    return listed, f"{seconds / peers[fastest][0]:.2f} × {fastest}"


def time_of(measured: list[float]) -> str:
    return f"{measured[0]:.2f} s ({measured[1]:.2f} of CPU)"


def run(code: str, small: Path, path: Path) -> list[float]:
    """Give seconds, CPU seconds and the peak in KiB."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM.format(work=code), str(small), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(number) for number in done.stdout.split()]


def batch(rng: np.random.Generator, n: int, layout: Layout = NARROW) -> pa.Table:
    truth = rng.random(n, dtype=np.float32) < 0.3
    score = rng.standard_normal(n, dtype=layout.score) + truth
    return pa.table(
        {
            "y_true": labels(truth, layout.label),
            "y_pred": labels(score > 0.5, layout.label),
            "score": score,
        }
    )


def labels(positive: NDArray[np.bool_], kind: type) -> pa.Array:
    if kind is str:
        return pa.DictionaryArray.from_arrays(positive.astype(np.int8), ["False", "True"]).cast(
            "string"
        )
    return pa.array(positive.astype(kind))


def parquet(folder: Path, n: int, seed: int = 0, layout: Layout = NARROW) -> tuple[Path, int]:
    path, rng = folder / "predictions.parquet", np.random.default_rng(seed)
    schema = batch(rng, 1, layout).schema
    with pq.ParquetWriter(
        path, schema, write_page_checksum=True, compression=layout.compression
    ) as writer:
        for start in range(0, n, layout.row_group):
            writer.write_table(batch(rng, min(layout.row_group, n - start), layout))
    return path, n


def layout_writer(layout: Layout) -> "Writer":
    return lambda folder, n: parquet(folder, n, layout=layout)


def csv(folder: Path, n: int) -> tuple[Path, int]:
    path, rng = folder / "predictions.csv", np.random.default_rng(0)
    with pyarrow.csv.CSVWriter(path, batch(rng, 1).schema) as writer:
        for start in range(0, n, 10**6):
            writer.write_table(batch(rng, min(10**6, n - start)))
    return path, n


def json_lines(folder: Path, n: int) -> tuple[Path, int]:
    path = folder / "predictions.jsonl"
    columns = batch(np.random.default_rng(0), n).to_pydict()
    with path.open("w", encoding="utf-8") as file:
        for truth, predicted, score in zip(*columns.values(), strict=True):
            file.write(f'{{"y_true": {truth}, "y_pred": {predicted}, "score": {score:.7g}}}\n')
    return path, n


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    begun = time.perf_counter()
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
    print(f"{time.perf_counter() - begun:.0f} s in all")
