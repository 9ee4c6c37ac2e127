"""Work on what comes next while the caller is busy with what came before; order is kept."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")
WORKERS = 2  # parsing saturates the memory bus of small machines beyond this


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Produce up to `depth` items in a thread of their own before they are asked for.

    Examples
    --------
    >>> list(ahead(range(3)))
    [0, 1, 2]
    """
    iterator = iter(items)
    end = object()
    pool = ThreadPoolExecutor(1)
    pending: deque[Future[T | object]] = deque()
    try:
        while True:
            while len(pending) < depth:
                pending.append(pool.submit(next, iterator, end))
            item = pending.popleft().result()
            if item is end:
                return
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(iterator, "close", None)
        if close is not None:
            close()


def in_order(function: Callable[[T], S], items: Iterable[T], workers: int = WORKERS) -> Iterator[S]:
    """Apply `function` to the items in threads; what fails first in the file fails first here.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2]))
    [1, 2]
    """
    iterator = iter(items)
    pool = ThreadPoolExecutor(workers)
    pending: deque[Future[S]] = deque()
    failure: Exception | None = None
    more = True
    try:
        while True:
            while more and len(pending) <= workers:
                try:
                    pending.append(pool.submit(function, next(iterator)))
                except StopIteration:
                    more = False
                except Exception as error:  # noqa: BLE001 - it is raised after the earlier items
                    failure, more = error, False
            if not pending:
                break
            yield pending.popleft().result()
        if failure is not None:
            raise failure
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
