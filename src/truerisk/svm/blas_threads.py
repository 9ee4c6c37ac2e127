"""One BLAS thread at a time, where more would only wait for each other.

Products of a few thousand examples take less time than waking a second thread for them, and worker
threads that each wake another one stand in each other's way.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

MANY_EXAMPLES = 3000  # from here on a second thread is worth waking


def few_blas_threads(examples: int, workers: int = 1) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for few examples, or where several workers call it."""
    if examples >= MANY_EXAMPLES and workers == 1:
        return nullcontext()
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _controller() -> ThreadpoolController:
    """Look for the libraries once: that takes longer than a small fit."""
    return ThreadpoolController()
