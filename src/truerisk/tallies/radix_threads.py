"""How many threads a compiled sweep is worth."""

import os

ROWS_A_THREAD = 500_000  # about a millisecond of work: less than that, and starting it costs more
MAX_THREADS = 16


def threads_for(rows: int) -> int:
    """Give the number of threads among which to share that many rows.

    Examples
    --------
    >>> threads_for(1000)
    1
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(usable or 1, MAX_THREADS, rows // ROWS_A_THREAD))
