"""Ten Parquet files on a local Dask cluster of two processes, beside one process."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.files_at_scale import parquet

TITLE = "Ten Parquet files on a local Dask cluster of two processes → all measures"
COLUMNS = ("rows", "one process", "two processes", "ratio", "peak of a worker", "same bits",
           "same bits after a worker was killed")  # fmt: skip
FILES = 10

ONE = """
import json, sys, time
import truerisk as tr
start = time.perf_counter()
result = tr.evaluate_files(sys.argv[2:], random_state=1)
took = time.perf_counter() - start
plain = result.to_dict()
print(json.dumps([took, {key: plain[key] for key in ("estimates", "n", "verdict", "notes")}]))
"""
TWO = """
import json, os, re, signal, sys, threading, time
from pathlib import Path
import truerisk as tr
from dask.distributed import Client, LocalCluster

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

if __name__ == "__main__":
    kill_after = float(sys.argv[1])
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
    ) as cluster, Client(cluster) as client:
        client.run(__import__, "truerisk.evaluation.files_on_cluster")
        if kill_after:
            victim = next(iter(client.run(os.getpid).values()))
            threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL)).start()
        start = time.perf_counter()
        with tr.use_cluster(client):
            result = tr.evaluate_files(sys.argv[2:], random_state=1)
        took = time.perf_counter() - start
        peaks = list(client.run(peak).values())
    plain = result.to_dict()
    kept = {key: plain[key] for key in ("estimates", "n", "verdict", "notes")}
    print(json.dumps([took, kept, max(peaks)]))
"""


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    n = 10**5 if quick else 10**8
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for at in range(FILES):
            place = Path(folder) / str(at)
            place.mkdir()
            paths.append(parquet(place, n, seed=at)[0])
        one, expected = run(Path(folder), ONE, 0.0, paths)
        two, found, memory = run(Path(folder), TWO, 0.0, paths)
        _, after_kill, _ = run(Path(folder), TWO, two / 2, paths)
    yield (
        f"{FILES * n:.0e}",
        f"{one:.1f} s",
        f"{two:.1f} s",
        f"{one / two:.2f}",
        f"{memory / 2**10:,.0f} MiB",
        "yes" if found == expected else "no",
        "yes" if after_kill == expected else "no",
    )


def run(folder: Path, code: str, kill_after: float, paths: list[Path]) -> list:
    program = folder / "program.py"  # workers import what started them
    program.write_text(code, encoding="utf-8")
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(program), str(kill_after), *map(str, paths)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
