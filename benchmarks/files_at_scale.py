"""Whole files, from the bytes on disk to every measure with its interval.

Beside them stands a bare scan: every column is decoded, every row once, and nothing is computed but
the sums by which polars is made to decode.  truerisk uses all columns of these files.  It also
verifies the checksum of every page and hashes the file; pyarrow's scan of Parquet verifies the
checksums with the same settings, polars cannot.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

TITLE = "Files of predictions: truth, prediction and score of every row → all measures"
COLUMNS = ("file", "rows", "truerisk", "peak memory", "decoding the same columns alone", "ratio")

SCORE = """
import re, sys, time
from pathlib import Path
import truerisk as tr
start = time.perf_counter()
tr.evaluate_files([sys.argv[1]], random_state=1)
took = time.perf_counter() - start
# The high-water mark of this process alone; getrusage would count the one that started it.
print(took, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
ARROW_PARQUET = """
import sys, time
import pyarrow.parquet as pq
start = time.perf_counter()
file = pq.ParquetFile(sys.argv[1], page_checksum_verification=True, pre_buffer=False)
for batch in file.iter_batches(batch_size=2**18, use_threads=True):
    pass
print(time.perf_counter() - start)
"""
POLARS_PARQUET = """
import sys, time
import polars as pl
start = time.perf_counter()
pl.scan_parquet(sys.argv[1]).select(pl.all().sum()).collect()
print(time.perf_counter() - start)
"""
ARROW_CSV = """
import sys, time
import pyarrow.csv
start = time.perf_counter()
pyarrow.csv.read_csv(sys.argv[1])
print(time.perf_counter() - start)
"""
POLARS_CSV = """
import sys, time
import polars as pl
start = time.perf_counter()
pl.scan_csv(sys.argv[1]).select(pl.all().sum()).collect()
print(time.perf_counter() - start)
"""
REPEATS = 3


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        yield beside("Parquet", parquet(Path(folder), 10**6 if quick else 10**8), PARQUET_PEERS)
        yield beside("CSV", csv(Path(folder), 10**5 if quick else 10**7), CSV_PEERS)


PARQUET_PEERS = {"pyarrow (verified)": ARROW_PARQUET, "polars (unverified)": POLARS_PARQUET}
CSV_PEERS = {"pyarrow": ARROW_CSV, "polars": POLARS_CSV}


def beside(kind: str, made: tuple[Path, int], peers: dict[str, str]) -> tuple[str, ...]:
    path, n = made
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    run(SCORE, path)  # compiled sweeps come from their cache from now on
    for _ in range(REPEATS):
        found = run(SCORE, path)
        ours.append(found[0])
        memory = found[1]
        for name, code in peers.items():
            theirs[name].append(run(code, path)[0])
    fastest = min(theirs, key=lambda name: min(theirs[name]))
    scan = min(theirs[fastest])
    listed = ", ".join(f"{name} {min(times):.2f} s" for name, times in theirs.items())
    size = path.stat().st_size / 2**20
    return (
        f"{kind}, {size:,.0f} MiB",
        f"{n:.0e}",
        f"{min(ours):.2f} s",
        f"{memory / 2**10:,.0f} MiB ({1024 * memory / n:.1f} bytes a row)",
        listed,
        f"{min(ours) / scan:.2f} × {fastest}",
    )


def run(code: str, path: Path) -> list[float]:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return [float(number) for number in done.stdout.split()]


def batch(rng: np.random.Generator, n: int) -> pa.Table:
    truth = rng.random(n, dtype=np.float32) < 0.3
    score = rng.standard_normal(n, dtype=np.float32) + truth
    return pa.table(
        {
            "y_true": truth.astype(np.int8),
            "y_pred": (score > 0.5).astype(np.int8),
            "score": score,
        }
    )


def parquet(folder: Path, n: int, seed: int = 0) -> tuple[Path, int]:
    path, rng = folder / "predictions.parquet", np.random.default_rng(seed)
    with pq.ParquetWriter(path, batch(rng, 1).schema, write_page_checksum=True) as writer:
        for start in range(0, n, 10**6):
            writer.write_table(batch(rng, min(10**6, n - start)))
    return path, n


def csv(folder: Path, n: int) -> tuple[Path, int]:
    path, rng = folder / "predictions.csv", np.random.default_rng(0)
    with pyarrow.csv.CSVWriter(path, batch(rng, 1).schema) as writer:
        for start in range(0, n, 10**6):
            writer.write_table(batch(rng, min(10**6, n - start)))
    return path, n


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    begun = time.perf_counter()
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
    print(f"{time.perf_counter() - begun:.0f} s in all")
