"""Several processes on this machine, by loky.

joblib's `Parallel(return_as="generator")` runs on and keeps every result until it is asked for;
here the caller's pace bounds what is under way, so loky's pool is used as it is.  A pool outlives
its run, because to start processes and to import scikit-learn in them takes a second.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from truerisk.execution.batches import Finished, Result, Task, WorkerDied, in_order, run_batch
from truerisk.execution.one_thread import ENVIRONMENT
from truerisk.execution.shared_memory import mapped, written_once

IDLE_SECONDS = 60.0  # after which a process that waits for work ends itself
LARGE = 2**26  # bytes that workers may keep mapped while they wait for the next run
SECONDS_BETWEEN_LOOKS = 0.5  # of a worker for its parent


def run_in_processes(
    task: Task, shared: Mapping[str, Any], items: Sequence[Any], workers: int
) -> Iterator[Result]:
    """Run the task on each item in one of several processes; give the results in order."""
    keep = False
    try:
        with written_once((task, dict(shared))) as folder:
            pool = _pool(workers)
            submit = partial(pool.submit, _run, folder)
            yield from in_order(lambda batch: _UnderWay(submit(batch)), items, workers)
            keep = (folder / "arrays").stat().st_size < LARGE
    except BrokenExecutor as error:
        raise WorkerDied(str(error)) from error
    finally:
        # Left early, workers may still be busy with what nobody waits for; and the memory of a
        # removed file is free only when nobody maps it.
        if not keep:
            stop_processes()


@dataclass(frozen=True)
class _UnderWay:
    """A batch that is not cancelled by itself.

    A pool that is left early is ended as a whole, and loky's thread that would kill the workers
    fails at the first batch that was cancelled: they, and with them this process, would live on
    until their refits end.
    """

    future: Any

    def result(self) -> Finished:
        finished: Finished = self.future.result()
        return finished

    def cancel(self) -> bool:
        return False


def _run(folder: Path, items: Sequence[Any]) -> Finished:
    task, shared = mapped(folder)
    return run_batch(task, shared, items)


def _begin_worker(parent: int) -> None:
    # Ctrl-C reaches every process of the terminal; the parent says what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker, whatever it is at, once its parent was killed: nobody wants its results."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


_pools: dict[int, Any] = {}  # by the number of workers; one at a time


def _pool(workers: int) -> Any:  # noqa: ANN401  (loky has no types)
    from joblib.externals.loky import ProcessPoolExecutor  # noqa: PLC0415  (loaded when used)

    if workers not in _pools:
        stop_processes()
        _pools[workers] = ProcessPoolExecutor(
            workers,
            timeout=IDLE_SECONDS,
            initializer=_begin_worker,
            initargs=(os.getpid(),),
            env=ENVIRONMENT,
        )
    return _pools[workers]


def stop_processes() -> None:
    """End the processes that wait for work."""
    while _pools:
        _, pool = _pools.popitem()
        # loky's own `kill_workers` stumbles over batches that wait, and then kills nobody.
        for number in list(pool._processes or ()):  # noqa: SLF001  (no other way)
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        pool.shutdown(wait=True)
