"""Matrices in memory that was used before.

What is freed goes back to the system, where all of it is more than a limit, and comes again page by
page, each cleared first: for a thousand examples that takes longer than the work on their matrix.
"""

import numpy as np

# The C library of Linux raises its limits to the largest block that was freed, if it is smaller
# than 32 MiB: from then on it keeps twice as much.  Elsewhere nothing happens.
LARGEST = 2**25 - 2**16


def keep_freed_memory() -> None:
    """Let the process keep up to 64 MiB that it has freed, for what it does next."""
    np.empty(LARGEST, np.uint8)
