"""How often each pair of codes occurs: the confusion table of two columns.

Few rows are counted by NumPy; from a million on, a compiled loop shares the rows among threads and
looks at each of them once, checks included.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_same_length, check_whole_number
from truerisk.errors import InputError

COMPILED_FROM = 1_000_000  # rows; below it, loading the compiler costs more than it saves
LARGEST_SPAN = 1024  # integer labels of a smaller span are counted in a table of that width
CODE_DTYPES = "int8, int16, int32, int64, uint8, uint16, uint32 or uint64"


def count_pairs(
    first: NDArray[Any], second: NDArray[Any], n_first: int, n_second: int
) -> NDArray[np.int64]:
    """Count the rows that have code i in the first column and code j in the second.

    The counts are exact integers, whatever the order of the rows.

    Parameters
    ----------
    first, second
        Integer codes, one of each a row; any integer type.
    n_first, n_second
        How many codes there are: codes run from 0 to n − 1, and any other is refused.

    Examples
    --------
    >>> count_pairs(np.array([0, 1, 1]), np.array([0, 0, 1]), 2, 2).tolist()
    [[1, 0], [1, 1]]
    """
    check_whole_number(n_first, "n_first", low=1)
    check_whole_number(n_second, "n_second", low=1)
    n = _check_columns(first, second)
    if n >= COMPILED_FROM and n_first * n_second <= LARGEST_SPAN**2:
        from truerisk.tallies import counting_sweeps  # noqa: PLC0415  (loads the compiler)

        spans = n_first, n_second
        table = counting_sweeps.count_binary(first, second) if spans == (2, 2) else None
        if table is None:
            table = counting_sweeps.count_table(first, second, (0, 0), spans)
        if table is not None:
            return table
    _refuse_strange_codes(first, n_first, "first")
    _refuse_strange_codes(second, n_second, "second")
    if n_first == n_second == 2:
        both = np.count_nonzero(first & second)
        ones = np.count_nonzero(first), np.count_nonzero(second)
        return np.array([[n - sum(ones) + both, ones[1] - both], [ones[0] - both, both]])
    pairs = first.astype(np.int64) * n_second + second
    return np.bincount(pairs, minlength=n_first * n_second).reshape(n_first, n_second)


def count_labels(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the pairs of two columns of integer labels that need not be codes.

    Returns the labels that occur in either column, ascending, and the square table of counts.

    Examples
    --------
    >>> labels, table = count_labels(np.array([-1, 1, 1]), np.array([-1, -1, 1]))
    >>> labels.tolist(), table.tolist()
    ([-1, 1], [[1, 0], [1, 1]])
    """
    n = _check_columns(first, second)
    found = None
    if n >= COMPILED_FROM:
        from truerisk.tallies import counting_sweeps  # noqa: PLC0415  (loads the compiler)

        found = counting_sweeps.count_small_labels(first, second)
    if found is None:
        labels = np.union1d(first, second)
        width = len(labels)
        row, column = np.searchsorted(labels, first), np.searchsorted(labels, second)
        table = count_pairs(row, column, width, width)
    else:
        low, table = found
        labels = np.arange(low, low + len(table))
    present = np.flatnonzero(table.any(axis=0) | table.any(axis=1))
    return labels[present].astype(np.int64), table[np.ix_(present, present)]


def _check_columns(first: NDArray[Any], second: NDArray[Any]) -> int:
    for name, column in (("first", first), ("second", second)):
        if column.ndim != 1 or column.dtype.kind not in "iu":
            raise InputError(
                f"`{name}` must be one column of {CODE_DTYPES}; "
                f"got {column.dtype} of shape {column.shape}."
            )
    return check_same_length(first=first, second=second)


def _refuse_strange_codes(column: NDArray[Any], n_codes: int, name: str) -> None:
    low, high = int(column.min()), int(column.max())
    if low < 0 or high >= n_codes:
        strange = low if low < 0 else high
        raise InputError(f"`{name}` must hold codes from 0 to {n_codes - 1}; got {strange}.")
