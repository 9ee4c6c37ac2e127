"""How many threads BLAS and OpenMP may start.

Several workers with several threads each slow each other down, and a product of matrices may differ
in its last bit with the number of threads: a task has one.  Products of a few thousand examples
take less time than waking a second thread for them.  Sparse examples are multiplied by loops of our
own: a second thread would wait, and keep its core busy.  Both have one BLAS thread.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType
from typing import Any

MANY_EXAMPLES = 3000  # from here on a second thread is worth waking

_this_thread = threading.local()
_looked: tuple[int, Any] = (0, None)  # at so many modules, and the libraries that were found


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the caller's own process to one thread while tasks run, and give it back afterwards."""
    with libraries().limit(limits=1):
        yield


def few_blas_threads(X: Any, workers: int = 1) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for few or sparse examples, or where several workers call it."""
    if X.shape[0] >= MANY_EXAMPLES and workers == 1 and not hasattr(X, "tocsr"):
        return nullcontext()
    return one_blas_thread()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread, and give its own back afterwards."""
    limited: AbstractContextManager[Any] = libraries().limit(limits=1, user_api="blas")
    return limited


def hold_this_thread_to_one() -> None:
    """Limit this thread of a worker for good: nobody else uses the worker.

    OpenMP keeps its limit for each thread that calls it, so each thread of a worker comes here.
    """
    if getattr(_this_thread, "modules", -1) != len(sys.modules):
        libraries().limit(limits=1)
        _this_thread.modules = len(sys.modules)


def libraries() -> Any:
    """Give the libraries that are loaded by now.

    To look for them takes as long as a small fit; it is done again only after a compiled module has
    been imported.
    """
    global _looked  # noqa: PLW0603  (replaced as a whole)
    seen, found = _looked
    if seen != len(sys.modules):
        modules = list(sys.modules.values())
        if found is None or seen > len(modules) or any(map(_is_compiled, modules[seen:])):
            from threadpoolctl import ThreadpoolController  # not needed to read a file

            found = ThreadpoolController()
        _looked = len(modules), found
    return found


def _is_compiled(module: ModuleType) -> bool:
    return str(vars(module).get("__file__")).endswith(tuple(EXTENSION_SUFFIXES))
