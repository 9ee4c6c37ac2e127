"""How long the simulation of Jiang, Zhang and Cai's table 2 takes, by the command."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

TITLE = "Table 2 of Jiang, Zhang and Cai by two processes, both forms of losses, C = 1"
COLUMNS = (
    *("command", "timed on", "a data set", "6 settings × 1,000 data sets, extrapolated"),
    *("refits a second", "memory of the largest process", "goal", "met"),
)

SETTINGS, DATASETS = 6, 1000
REPLICATES = 1000
REFITS = 6  # of a replicate: one in training, one for each fold
MINUTES = 60.0  # what is longer is hours


def rows(*, quick: bool = False) -> Iterator[tuple[str, ...]]:
    """Run the command on few data sets and on more; what the further ones take, all would."""
    replicates = 50 if quick else REPLICATES
    few, more = (2, 4) if quick else (2, 20)
    first, _ = run(few, replicates)
    second, peak = run(more, replicates)
    each = (second - first) / (more - few)  # one data set of each setting
    minutes = (first + (DATASETS - few) * each) / 60
    yield (
        f"python -m studies.reproduction jiang-table2 --jobs 2 --replicates {replicates}",
        f"{more - few} data sets of each setting",
        f"{1000 * each / SETTINGS:.0f} ms",
        f"{minutes:.1f} min",
        f"{SETTINGS * REFITS * replicates / each:,.0f}",
        f"{peak / 2**20:.0f} MiB",
        *("minutes", "yes" if minutes < MINUTES else "no"),
    )


def run(datasets: int, replicates: int) -> tuple[float, int]:
    """Give the seconds of a run by the clock and the memory of its largest process, in bytes."""
    words = [sys.executable, "-m", "studies.reproduction", "jiang-table2", "--jobs", "2"]
    words += ["--datasets", str(datasets), "--replicates", str(replicates)]
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return time.perf_counter() - start, 1024 * used.ru_maxrss


if __name__ == "__main__":
    print(" | ".join(COLUMNS))
    for line in rows(quick="--quick" in sys.argv):
        print(" | ".join(line), flush=True)
