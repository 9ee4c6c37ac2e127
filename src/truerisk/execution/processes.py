"""Several processes on this machine, by loky.

joblib's `Parallel(return_as="generator")` runs on and keeps every result until it is asked for;
here the caller's pace bounds what is under way, so loky's pool is used as it is.  A pool outlives
its run, because to start processes and to import scikit-learn in them takes a second.
"""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

from truerisk.execution.batches import Finished, Result, Task, WorkerDied, in_order, run_batch
from truerisk.execution.one_thread import ENVIRONMENT
from truerisk.execution.shared_memory import mapped, written_once

IDLE_SECONDS = 60.0  # after which a process that waits for work ends itself


def run_in_processes(
    task: Task, shared: Mapping[str, Any], items: Sequence[Any], workers: int
) -> Iterator[Result]:
    """Run the task on each item in one of several processes; give the results in order."""
    whole = False
    try:
        with written_once((task, dict(shared))) as folder:
            pool = _pool(workers)
            yield from in_order(lambda batch: pool.submit(_run, folder, batch), items, workers)
        whole = True
    except BrokenExecutor as error:
        raise WorkerDied(str(error)) from error
    finally:
        # Left early, workers may still be busy with what nobody waits for.
        if not whole:
            stop_processes()


def _run(folder: Path, items: Sequence[Any]) -> Finished:
    task, shared = mapped(folder)
    return run_batch(task, shared, items)


def _begin_worker() -> None:
    # Ctrl-C reaches every process of the terminal; the parent says what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_pools: dict[int, Any] = {}  # by the number of workers; one at a time


def _pool(workers: int) -> Any:  # noqa: ANN401  (loky has no types)
    from joblib.externals.loky import ProcessPoolExecutor  # noqa: PLC0415  (loaded when used)

    if workers not in _pools:
        stop_processes()
        _pools[workers] = ProcessPoolExecutor(
            workers, timeout=IDLE_SECONDS, initializer=_begin_worker, env=ENVIRONMENT
        )
    return _pools[workers]


def stop_processes() -> None:
    """End the processes that wait for work."""
    while _pools:
        _, pool = _pools.popitem()
        pool.shutdown(wait=True, kill_workers=True)
