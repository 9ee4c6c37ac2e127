"""One BLAS thread at a time, where more would only wait for each other.

Products of a few thousand examples take less time than waking a second thread for them, and worker
threads that each wake another one stand in each other's way.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import scipy.linalg  # noqa: F401  (its BLAS is to be among the libraries)
from threadpoolctl import ThreadpoolController

CONTROLLER = ThreadpoolController()  # at import: looking for libraries takes as long as a small fit
MANY_EXAMPLES = 3000  # from here on a second thread is worth waking


def few_blas_threads(examples: int, workers: int = 1) -> AbstractContextManager[Any]:
    """Hold BLAS to one thread for few examples, or where several workers call it."""
    if examples >= MANY_EXAMPLES and workers == 1:
        return nullcontext()
    limited: AbstractContextManager[Any] = CONTROLLER.limit(limits=1, user_api="blas")
    return limited
