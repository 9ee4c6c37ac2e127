"""Run one function on many items: in this process, in several, or on a cluster."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from truerisk.checks import check_whole_number, shown
from truerisk.errors import InputError, MachineError
from truerisk.execution.batches import Result, Task, as_stored
from truerisk.execution.one_thread import OneThread
from truerisk.execution.processes import WorkerDied, run_in_processes

Progress = Callable[[int, int, int], None]


def run_each(
    task: Task,
    shared: Mapping[str, Any],
    items: Sequence[Any],
    *,
    n_jobs: int = 1,
    checkpoint: None = None,  # noqa: ARG001
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Call `task(shared, item)` for each item; give the results in the order of the items.

    The results are the same to the last bit for any `n_jobs`: every task has one BLAS and OpenMP
    thread, sees the same arrays, and must draw its random numbers from `shared` and `item` alone.
    A few batches run ahead of the caller and no more, so that memory does not grow with the number
    of items.

    Parameters
    ----------
    task
        A function of a module.  What it raises is raised here.  It must not change `shared`: arrays
        are read-only.
    shared
        What every task needs; workers map it from one file, and none has a copy of its own.
    items
        Small things, such as numbers.
    n_jobs
        Processes to run in; −1 for as many as there are processors.
    progress
        Called with (done, done, all) after each item.

    Examples
    --------
    >>> def mean_without(shared, at):
    ...     return {"mean": np.delete(shared["x"], at).mean()}
    >>> results = run_each(mean_without, {"x": np.array([1.0, 2.0, 6.0])}, range(3))
    >>> [float(result["mean"]) for result in results]
    [4.0, 3.5, 1.5]
    """
    workers = min(workers_of(n_jobs), max(1, len(items)))
    return _each(task, _read_only(shared), items, workers, progress)


def workers_of(n_jobs: int) -> int:
    """Return how many processes `n_jobs` asks for."""
    if n_jobs == -1:
        from joblib import cpu_count  # noqa: PLC0415  (heeds affinity and containers)

        return int(cpu_count())
    if n_jobs < 1:
        raise InputError(
            "`n_jobs` must be a positive whole number, or -1 for all processors; "
            f"got {shown(n_jobs)}."
        )
    return check_whole_number(n_jobs, "n_jobs")


def _each(
    task: Task,
    shared: Mapping[str, Any],
    items: Sequence[Any],
    workers: int,
    progress: Progress | None,
) -> Iterator[Result]:
    for done, result in enumerate(_computed(task, shared, items, workers), start=1):
        if progress is not None:
            progress(done, done, len(items))
        yield result


def _computed(
    task: Task, shared: Mapping[str, Any], items: Sequence[Any], workers: int
) -> Iterator[Result]:
    if workers == 1:
        yield from _one_by_one(task, shared, items)
        return
    done = 0
    # Most often it is memory that has run out, and half the workers need half of it.
    for attempt in (workers, max(1, workers // 2)):
        try:
            for result in run_in_processes(task, shared, items[done:], attempt):
                done += 1
                yield result
        except WorkerDied as error:
            death = error
        else:
            return
    raise MachineError(
        f"A worker was ended from outside twice, at item {done + 1} of {len(items)}; the second "
        "time with half the workers. Most often memory has run out: use fewer workers, or less "
        "data."
    ) from death


def _one_by_one(task: Task, shared: Mapping[str, Any], items: Sequence[Any]) -> Iterator[Result]:
    one_thread = OneThread()
    for item in items:
        with one_thread.held():
            result = as_stored(task(shared, item))
        yield result


def _read_only(shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give arrays as workers see them: read-only, without gaps, and no subclass of arrays."""
    plain = {}
    for name, value in shared.items():
        if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            array = np.asarray(value)
            gapless = array.flags.c_contiguous or array.flags.f_contiguous
            seen = array.view() if gapless else np.ascontiguousarray(array)
            seen.flags.writeable = False
            plain[name] = seen
        else:
            plain[name] = value
    return MappingProxyType(plain)
