"""The compiled loops beside the same loops compiled by numba.

A record: numba and the old loops are no longer part of the project, so a new run repeats it.  Loops
of counts, sparse rows and words, and one of leave-one-out, were recorded again when they became
faster: CPU time, the forms interleaved, best of several hundred calls.  The old loops stand in the
history of the repository.
"""

from collections.abc import Iterator

from benchmarks.pages import read

TITLE = "Compiled loops: time / time of the same loop compiled by numba, warm (recorded once)"
COLUMNS = ("loop", "numba", "v3", "v3 / numba", "v1", "v1 / numba", "largest difference")


def rows(quick: bool = False) -> Iterator[tuple[str, ...]]:  # noqa: ARG001, FBT001, FBT002
    for row in read("kernels")[1:]:
        yield tuple(row)
