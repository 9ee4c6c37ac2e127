"""Several processes on this computer, by loky, with the data mapped by all of them.

joblib's `Parallel(return_as="generator")` runs on and keeps every result until it is read; here the
caller's pace bounds what is under way, so loky's pool is used as it is.  A pool outlives its run,
because starting processes and importing scikit-learn in them takes a second.

What every task needs is written once: the object is pickled without its arrays (protocol 5, "out of
band"), wherever in it they are; the arrays go to one file, and workers see them there, read-only.
"""

import mmap
import os
import pickle  # workers of this very run read what it wrote, from a folder of its user
import shutil
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from truerisk.errors import ResourceError
from truerisk.execution.batches import (
    ENVIRONMENT,
    Finished,
    Result,
    Task,
    WorkerDied,
    in_order,
    run_batch,
)

IN_MEMORY = Path("/dev/shm")  # noqa: S108  (a folder of one's own is made in it)
ROOM_LEFT = 2  # the share of the memory's folder that may be taken is one of this many
ALIGNMENT = 64  # bytes: as NumPy's own arrays or better, for the same instructions to run
MAX_MAPPED = 1  # objects a worker keeps mapped: the one of the run it is in
IDLE_SECONDS = 60.0  # after which a process that waits for work ends itself
LARGE = 2**26  # bytes that workers may keep mapped while they wait for the next run
SECONDS_BETWEEN_LOOKS = 0.5  # of a worker for its parent


@contextmanager
def written_once(content: object) -> Iterator[Path]:
    """Write an object where workers can map it; the folder goes away at the end, whatever the end.

    Should this process be killed, loky's tracker removes the folder.
    """
    import cloudpickle
    from joblib.externals.loky.backend import resource_tracker

    buffers: list[pickle.PickleBuffer] = []
    pickled = cloudpickle.dumps(content, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    size = sum(array.nbytes + ALIGNMENT for array in arrays) + len(pickled)
    folder = Path(tempfile.mkdtemp(prefix="truerisk-", dir=_parent(size)))
    resource_tracker.register(str(folder), "folder")
    try:
        try:
            _write(folder, pickled, arrays)
        except OSError as error:
            raise ResourceError(
                f"The data for the workers could not be written to {folder.parent}: "
                f"{error.strerror}. {size:,} bytes are needed there; `n_jobs=1` needs none."
            ) from error
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        resource_tracker.unregister(str(folder), "folder")


def mapped(folder: Path) -> Any:
    """Read in a worker what was written once; the arrays stay in the file."""
    if folder not in _mapped:
        while len(_mapped) >= MAX_MAPPED:
            _mapped.pop(next(iter(_mapped)))
        _mapped[folder] = _read(folder)
    return _mapped[folder]


_mapped: dict[Path, Any] = {}


def _parent(size: int) -> Path | None:
    """Choose the folder that is memory where there is room, else the system's for such files."""
    if IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free > ROOM_LEFT * size:
        return IN_MEMORY
    return None


def _write(folder: Path, pickled: bytes, arrays: list[memoryview]) -> None:
    places: list[tuple[int, int]] = []
    with (folder / "arrays").open("wb") as file:
        for array in arrays:
            file.write(bytes(-file.tell() % ALIGNMENT))
            places.append((file.tell(), array.nbytes))
            file.write(array)
        file.write(b"\0")  # an empty file cannot be mapped
    with (folder / "object").open("wb") as file:
        pickle.dump(places, file)
        file.write(pickled)


def _read(folder: Path) -> Any:
    with (folder / "arrays").open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    with (folder / "object").open("rb") as file:
        places = pickle.load(file)  # noqa: S301  (see the import)
        return pickle.load(  # noqa: S301
            file, buffers=[whole[at : at + length] for at, length in places]
        )


def run_in_processes(
    task: Task, shared: Mapping[str, Any], items: Sequence[Any], workers: int
) -> Iterator[Result]:
    """Run the task on each item in one of several processes; give the results in order."""
    keep = False
    try:
        with written_once((task, dict(shared))) as folder:
            submit = partial(_pool(workers).submit, _run, folder)
            # A batch is not cancelled by itself: loky's thread that ends the workers fails at a
            # cancelled one, and they would live on.
            yield from in_order(lambda batch: (submit(batch).result, lambda: None), items, workers)
            keep = (folder / "arrays").stat().st_size < LARGE
    except BrokenExecutor as error:
        raise WorkerDied(str(error)) from error
    finally:
        # Left early, workers may still be busy with what nobody waits for; and the memory of a
        # removed file is free only when nobody maps it.
        if not keep:
            stop_processes()


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


def are_waiting(workers: int) -> bool:
    """Whether so many processes wait for work."""
    return workers in _pools and len(_pools[workers]._processes or ()) >= workers  # noqa: SLF001  (no other way)


def start_processes(workers: int, modules: Iterable[str]) -> Callable[[float], bool]:
    """Start processes that load the modules; return a function that says whether they are ready.

    It waits for them, but not longer than the seconds that it is given.
    """
    pool = _pool(workers)
    names = sorted(modules)
    try:
        loading = [pool.submit(_load, names) for _ in range(workers)]
    except BrokenExecutor:  # of an earlier run: the next one gets another pool
        return lambda _: True
    return lambda seconds: not wait(loading, seconds).not_done


def _load(modules: Sequence[str]) -> None:
    for name in modules:
        with suppress(ImportError):  # of a script, whose objects are sent as they are
            import_module(name)


_pools: dict[int, Any] = {}  # by the number of workers; one at a time


def _pool(workers: int) -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    if workers not in _pools:
        stop_processes()
        # Where warnings are errors, this one would end loky's thread that hands out work, and the
        # run would wait for ever.  A worker that stopped is replaced.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
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
