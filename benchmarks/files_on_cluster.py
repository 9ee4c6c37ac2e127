"""Ten Parquet files on a local Dask cluster of two processes, beside one process.

One process is shown twice: on one core, and as it comes, with as many threads as there are cores.
Two processes are no faster than two cores: beside one process that uses both, the ratio says what
sending the tallies costs.  Small files of the same kind are read first: what is imported is not
measured.  Of two runs in turn the better is shown, with its CPU seconds.  What a cluster costs
before anybody reads, a tenth of a second or two, shows at 10⁸ rows and hardly at 10⁹.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.files_at_scale import SMALL, parquet

TITLE = "Ten Parquet files on a local Dask cluster of two processes → all measures"
COLUMNS = ("rows", "one process, one core", "one process", "two processes", "to one core",
           "to one process", "CPU seconds (one core; one; workers, client)",
           "peak of a worker", "peak (one; client)", "same bits",
           "same bits after a worker was killed")  # fmt: skip
FILES = 10
SIZES = (10**8, 10**9)
REPEATS = 2

PROGRAM = """
import json, os, re, resource, signal, sys, threading, time
from pathlib import Path

def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
    return used.ru_utime + used.ru_stime, int(peak)

def evaluated(paths):
    import truerisk as tr
    before = usage()[0]
    start = time.perf_counter()
    plain = tr.evaluate_files(paths, random_state=1).to_dict()
    took = time.perf_counter() - start
    result = {key: plain[key] for key in ("estimates", "n", "verdict", "notes")}
    cpu, peak = usage()
    return {"seconds": took, "cpu": cpu - before, "peak": peak, "result": result}

def on_cluster(small, paths, kill_after):
    import dask, truerisk as tr
    from dask.distributed import Client, LocalCluster
    # A nanny tells malloc to give memory back at once; to get it again costs more than to count.
    environment = "distributed.nanny.pre-spawn-environ"
    dask.config.set({f"{environment}.MALLOC_TRIM_THRESHOLD_": 2**29})
    dask.config.set({f"{environment}.MALLOC_MMAP_THRESHOLD_": 2**25})
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
    ) as cluster, Client(cluster) as client:
        client.run(__import__, "truerisk.inputs.records.parquet")
        client.run(__import__, "truerisk.evaluation.files_on_cluster")
        with tr.use_cluster(client):
            evaluated(small)
        before = [cpu for cpu, _ in client.run(usage).values()]
        if kill_after:
            victim = next(iter(client.run(os.getpid).values()))
            threading.Timer(kill_after, os.kill, (victim, signal.SIGKILL)).start()
        with tr.use_cluster(client):
            whole = evaluated(paths)
        workers = list(client.run(usage).values())
    cpu = [max(after - begin, 0) for (after, _), begin in zip(workers, before)]
    return whole | {"worker_cpu": cpu, "worker_peak": max(peak for _, peak in workers)}

if __name__ == "__main__":
    kind, kill_after, *files = sys.argv[1:]
    small, paths = files[: len(files) // 2], files[len(files) // 2 :]
    if kind == "core":
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        os.environ["OMP_NUM_THREADS"] = "1"  # pyarrow, too, has that many threads then
    if kind == "cluster":
        print(json.dumps(on_cluster(small, paths, float(kill_after))))
    else:
        evaluated(small)
        print(json.dumps(evaluated(paths)))
"""


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    for n in (10**6,) if quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for length in (SMALL, n // FILES):
                for at in range(FILES):
                    place = Path(folder) / f"{length}-{at}"
                    place.mkdir()
                    paths.append(parquet(place, length, seed=at)[0])
            yield measured(Path(folder), paths, n)


def measured(folder: Path, paths: list[Path], n: int) -> tuple[str, ...]:
    kinds = ("core", "one", "cluster")
    runs = [[run(folder, kind, 0.0, paths) for kind in kinds] for _ in range(REPEATS)]
    core, one, two = (min(of_kind, key=seconds_of) for of_kind in zip(*runs, strict=True))
    after_kill = run(folder, "cluster", two["seconds"] / 2, paths)
    workers = " + ".join(f"{cpu:.1f}" for cpu in two["worker_cpu"])
    peaks = [f"{peak / 2**10:,.0f} MiB" for peak in (two["worker_peak"], one["peak"], two["peak"])]
    return (
        f"{n:.0e}",
        f"{core['seconds']:.1f} s",
        f"{one['seconds']:.1f} s",
        f"{two['seconds']:.1f} s",
        f"{core['seconds'] / two['seconds']:.2f} ×",
        f"{one['seconds'] / two['seconds']:.2f} ×",
        f"{core['cpu']:.1f}; {one['cpu']:.1f}; {workers}, {two['cpu']:.1f}",
        *(peaks[0], "; ".join(peaks[1:])),
        "yes" if core["result"] == one["result"] == two["result"] else "no",
        "yes" if after_kill["result"] == one["result"] else "no",
    )


def seconds_of(one: dict[str, Any]) -> float:
    return float(one["seconds"])


def run(folder: Path, kind: str, kill_after: float, paths: list[Path]) -> dict[str, Any]:
    program = folder / "program.py"  # workers import what started them
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(program), kind, str(kill_after), *map(str, paths)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    for line in rows(quick="--quick" in sys.argv):
        for name, cell in zip(COLUMNS, line, strict=True):
            print(f"{name:45} {cell}")
