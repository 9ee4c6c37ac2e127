"""Run one function on many items: in this process, in several, or on a cluster."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.checks import check_whole_number, shown
from truerisk.errors import InputError, ResourceError
from truerisk.execution.batches import Result, Task, WorkerDied, as_stored, read_only
from truerisk.execution.checkpoint import Checkpoint, Part
from truerisk.execution.cluster import cluster_in_use
from truerisk.execution.processes import are_waiting, run_in_processes, start_processes
from truerisk.execution.threads import one_thread

Progress = Callable[[int, int, int], None]
Engine = Callable[[Task, Mapping[str, Any], Sequence[Any], int], Iterator[Result]]
Stop = Callable[[int, float], bool]  # of the tasks done here, and the seconds they took
SHARED_SECONDS = 0.05  # so long tasks share one limit of threads
START_SECONDS = 2.0  # less work than this is done before new processes have paid for their start
PATIENCE = 0.05  # seconds to wait for processes that are there already
SEND_SECONDS = 0.5  # the same of processes that wait: the data are written, mapped and read
_END = object()


def run_each(
    task: Task,
    shared: Mapping[str, Any],
    items: Sequence[Any],
    *,
    n_jobs: int | None = 1,
    checkpoint: Checkpoint | None = None,
    progress: Progress | None = None,
    begin_here: bool = False,
) -> Generator[Result, None, None]:
    """Call `task(shared, item)` for each item; give the results in the order of the items.

    The results are the same bits for any `n_jobs`, on a cluster, and after a stop: every task has
    one BLAS and OpenMP thread, sees the same read-only arrays, and draws random numbers from
    `shared` and `item` alone.  A few batches run ahead of the caller; memory does not grow.

    With `begin_here`, tasks run and are timed in this process until others are ready, which start
    only if the work that is left is worth it.  A clock decides where a task runs, never what comes
    out.  It is for tasks that cannot end their process: a worker that dies is replaced.
    """
    workers = min(workers_of(n_jobs), max(1, len(items)))
    part = None
    if checkpoint is not None:
        part = checkpoint.next_part(f"{task.__module__}.{task.__qualname__}", len(items))
    return _each(_Run(task, shared, items, part, begin_here), workers, progress)


def workers_of(n_jobs: int | None) -> int:
    """Return how many processes `n_jobs` requests."""
    if n_jobs is None:
        return 1
    if n_jobs == -1:
        from joblib import cpu_count

        return int(cpu_count())
    if n_jobs < 1:
        raise InputError(
            "`n_jobs` must be a positive whole number, or -1 for all processors; "
            f"got {shown(n_jobs)}."
        )
    return check_whole_number(n_jobs, "n_jobs")


@dataclass(frozen=True)
class _Run:
    task: Task
    shared: Mapping[str, Any]
    items: Sequence[Any]
    part: Part | None
    begin_here: bool


def _each(run: _Run, workers: int, progress: Progress | None) -> Generator[Result, None, None]:
    try:
        for done, result in enumerate(_stored_then_computed(run, workers), start=1):
            if progress is not None:
                progress(done, done, len(run.items))
            yield result
    finally:
        if run.part is not None:
            run.part.close()


def _stored_then_computed(run: _Run, workers: int) -> Iterator[Result]:
    done = 0
    if run.part is not None:
        for result in run.part.results():
            done += 1
            yield result
    if done == len(run.items):
        return
    for result in _computed(run, done, workers):
        if run.part is not None:
            run.part.append(result)
        yield result


def _computed(run: _Run, done: int, workers: int) -> Iterator[Result]:
    cluster = cluster_in_use()
    if cluster is None and workers == 1:
        yield from _one_by_one(run.task, run.shared, run.items[done:])
        return
    if cluster is None and run.begin_here:
        items = run.items[done:]
        for result in _one_by_one(run.task, run.shared, items, _until_ready(run, items, workers)):
            done += 1
            yield result
        if done == len(run.items):
            return
    engine: Engine = run_in_processes if cluster is None else cluster.run
    workers = workers if cluster is None else cluster.workers()
    # Most often it is memory that has run out, and half the workers need half of it.
    for attempt in (workers, max(1, workers // 2)):
        try:
            for result in engine(run.task, run.shared, run.items[done:], attempt):
                done += 1
                yield result
        except WorkerDied as error:
            death = error
        else:
            return
    stored = "" if run.part is None else f" {run.part.summary()}"
    raise ResourceError(
        f"A worker was ended from outside twice, at item {done + 1} of {len(run.items)}; the "
        "second time with half the workers. Most often memory has run out: use fewer workers, or "
        f"less data.{stored}"
    ) from death


def _until_ready(run: _Run, items: Sequence[Any], workers: int) -> Stop:
    """Say when processes are ready for the rest; start them once it is worth it."""
    ready: Callable[[float], bool] | None = None

    def stop(done: int, seconds: float) -> bool:
        nonlocal ready
        each, patience = seconds / done, 0.0
        left, are_there = each * (len(items) - done), are_waiting(workers)
        if ready is None and left > (SEND_SECONDS if are_there else START_SECONDS):
            modules = {type(value).__module__ for value in run.shared.values()}
            ready = start_processes(workers, {run.task.__module__, *modules})
            # They have loaded most of it before, and would idle for as long as a task takes here.
            patience = min(each, PATIENCE) if are_there else 0.0
        return ready is not None and ready(patience)

    return stop


def _one_by_one(
    task: Task, shared: Mapping[str, Any], items: Sequence[Any], stop: Stop | None = None
) -> Iterator[Result]:
    seen = read_only(shared)
    left, done = iter(items), False
    number, seconds = 0, 0.0
    while not done:
        # To limit the threads takes as long as a small task: short tasks share one limit, which is
        # lifted before results are given away.  A module that a task loads may need its own.
        results: list[Result] = []
        failure: BaseException | None = None
        began, modules = time.perf_counter(), len(sys.modules)
        with one_thread():
            while time.perf_counter() - began < SHARED_SECONDS and len(sys.modules) == modules:
                item = next(left, _END)
                if item is _END:
                    done = True
                    break
                try:
                    results.append(as_stored(task(seen, item)))
                except BaseException as problem:  # noqa: BLE001  (raised after what is done)
                    failure, done = problem, True
                    break
        seconds += time.perf_counter() - began
        number += len(results)
        yield from results
        if failure is not None:
            raise failure
        done = done or (stop is not None and number > 0 and stop(number, seconds))
