"""Which data a run was made of, in 64 characters."""

import hashlib
from typing import Any

import numpy as np


def fingerprint(*arrays: Any) -> str:  # noqa: ANN401  (arrays, sparse matrices, sequences)
    """Return the SHA-256 of arrays or sparse matrices: their types, shapes and bytes, in turn.

    Equal arrays have one fingerprint, whether laid out by rows or by columns.  Python objects count
    as they print, so that those without a value of their own never have the same twice.

    Examples
    --------
    >>> fingerprint(np.arange(3), None)[:12] == fingerprint(np.arange(3), None)[:12]
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    sha = hashlib.sha256()
    for array in arrays:
        for part in _parts(array):
            sha.update(f"{part.dtype.str} {part.shape} ".encode())
            sha.update(_content(part))
    return sha.hexdigest()


def _parts(array: Any) -> tuple[np.ndarray[Any, Any], ...]:  # noqa: ANN401
    if not hasattr(array, "tocoo"):
        return (np.asarray(array),)
    # Formats that are slow to compute with (lists, diagonals) are brought to rows.
    matrix = array if array.format in {"csr", "csc"} else array.tocsr()
    words = np.array([matrix.format, str(matrix.shape)])
    return words, matrix.data, matrix.indices, matrix.indptr


def _content(array: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401  (anything with a buffer)
    if array.dtype.hasobject:
        return repr(array.tolist()).encode()
    if array.nbytes == 0:
        return b""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
