"""One BLAS and OpenMP thread a task, wherever it runs.

Several workers with several threads each stand in each other's way; and a product of matrices may
differ in its last bit with the number of threads, so that one thread is also what makes results
independent of the machine's load and of the engine.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Read by libraries when they are loaded: a worker sets them before it loads any.
ENVIRONMENT = {
    "BLIS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}

_this_thread = threading.local()


class OneThread:
    """Hold the caller's own process to one thread while a task runs, and give it back afterwards.

    To look for the libraries takes longer than a small task; it is done again only after further
    modules have been imported.
    """

    def __init__(self) -> None:
        self._modules = -1
        self._controller: Any = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Limit the libraries that are loaded by now."""
        if self._controller is None or self._modules != len(sys.modules):
            self._controller = _libraries()
            self._modules = len(sys.modules)
        with self._controller.limit(limits=1):
            yield


def hold_this_thread_to_one() -> None:
    """Limit this thread of a worker for good: nobody else uses the worker.

    OpenMP keeps its limit for each thread that calls it, so each thread of a worker comes here.
    """
    if getattr(_this_thread, "modules", -1) != len(sys.modules):
        _libraries().limit(limits=1)
        _this_thread.modules = len(sys.modules)


def _libraries() -> Any:  # noqa: ANN401  (threadpoolctl has no types)
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415  (only where a task is run)

    return ThreadpoolController()
