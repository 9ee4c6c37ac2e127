"""Items in batches, some of them under way at a time, and their results in the order of the items.

Both engines use this: a worker runs a batch (`run_batch`), the caller keeps a bounded number of
batches under way (`in_order`).  Each task has one thread (`threads.py`).
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.execution.threads import hold_this_thread_to_one

# Read by libraries when they are loaded: a worker sets them before it loads any.
ENVIRONMENT = {
    "BLIS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}

Result = dict[str, NDArray[Any]]
Task = Callable[[Mapping[str, Any], Any], Result]
Finished = tuple[list[Result], float]  # the results of a batch, and the seconds it took
Submitted = tuple[Callable[[], Finished], Callable[[], Any]]  # wait for a batch; do not begin it
UNDER_WAY = 3  # batches per worker: one that runs, and two ahead: it never waits for the caller
SECONDS_A_BATCH = 0.2  # a hundred times what it costs to send a batch and its results
MIN_SECONDS = 0.02  # of a batch, also at the end, where work is dealt out evenly


class WorkerDied(Exception):  # noqa: N818  (it never leaves the package)
    """A worker ended before its batch did."""


def run_batch(task: Task, shared: Mapping[str, Any], items: Sequence[Any]) -> Finished:
    """Run the task on each item, in a worker; a model starts no workers of its own in it."""
    hold_this_thread_to_one()
    with _no_further_workers():
        began = time.perf_counter()
        seen = read_only(shared)
        results = [as_stored(task(seen, item)) for item in items]
    return results, time.perf_counter() - began


def read_only(shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give arrays as workers see them: read-only, without gaps, and no subclass of arrays."""
    return MappingProxyType({name: _read_only_array(value) for name, value in shared.items()})


def _read_only_array(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        return value
    array = np.asarray(value)
    gapless = array.flags.c_contiguous or array.flags.f_contiguous
    seen = array.view() if gapless else np.ascontiguousarray(array)
    seen.flags.writeable = False
    return seen


def as_stored(result: Result) -> Result:
    """Lay the arrays out by rows, as they come back from a checkpoint or from a worker.

    Sums over an array depend in their last bit on its layout; with one layout they do not depend
    on where the array comes from.
    """
    stored = {name: np.asarray(array, order="C") for name, array in result.items()}
    for name, array in stored.items():
        if array.dtype.hasobject:
            raise TypeError(f"A task gave Python objects as {name!r}; only plain arrays are kept.")
    return stored


def in_order(
    submit: Callable[[Sequence[Any]], Submitted], items: Sequence[Any], workers: int
) -> Iterator[Result]:
    """Give the result of each item in turn, with `UNDER_WAY` batches per worker submitted ahead."""
    under_way: deque[tuple[Submitted, int]] = deque()
    size, at = 1, 0
    try:
        while under_way or at < len(items):
            while at < len(items) and len(under_way) < UNDER_WAY * workers:
                batch = items[at : at + size]
                under_way.append((submit(batch), len(batch)))
                at += len(batch)
            (wait, _), length = under_way.popleft()
            results, seconds = wait()
            size = _next_size(seconds / length, len(items) - at, workers)
            yield from results
    finally:
        for (_, cancel), _ in under_way:
            cancel()


def _next_size(seconds_an_item: float, items_left: int, workers: int) -> int:
    """Choose a batch that takes long enough to be worth sending, and leaves work for the others."""
    seconds = max(seconds_an_item, 1e-6)
    fair = items_left // (UNDER_WAY * workers)
    return max(1, int(MIN_SECONDS / seconds), min(int(SECONDS_A_BATCH / seconds), fair))


def _no_further_workers() -> AbstractContextManager[Any]:
    from joblib import parallel_config

    sequential: AbstractContextManager[Any] = parallel_config(backend="sequential")
    return sequential
