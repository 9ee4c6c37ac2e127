"""Results as records of a file that only grows: each has its length and its checksums.

A record is 4 bytes "TRR1", the length of its content (8 bytes), the CRC-32 of the content and the
CRC-32 of these 16 bytes (4 each), then the content.  The content of a result is the length of a
JSON list (4 bytes), the list of [name, type, shape], and the bytes of the arrays.  Numbers are
little-endian.  Nothing in it is ever executed: a checkpoint is input like any other file.
"""

import json
import math
import struct
import zlib
from typing import Any, BinaryIO

import numpy as np

from truerisk.execution.batches import Result

MARK = b"TRR1"
HEAD = struct.Struct("<4sQI")
CHECKSUM = struct.Struct("<I")
PLAIN_KINDS = "biufcSU"


class Damaged(Exception):  # noqa: N818  (the checkpoint makes a sentence of it)
    """The bytes are not those that were written."""


def framed(content: bytes) -> bytes:
    """Put length and checksums before the content of a record."""
    head = HEAD.pack(MARK, len(content), zlib.crc32(content))
    return head + CHECKSUM.pack(zlib.crc32(head)) + content


def next_content(file: BinaryIO, bytes_left: int) -> bytes | None:
    """Read one record; return None at the end, and where the last one was not finished.

    A process that is killed leaves a record short; a machine that loses power may leave it long
    enough, with zeros or the wrong bytes at its end.  Anything else is damage.
    """
    length = HEAD.size + CHECKSUM.size
    head = file.read(length)
    if len(head) < length:
        return None
    if zlib.crc32(head[: HEAD.size]) != CHECKSUM.unpack(head[HEAD.size :])[0]:
        if not any(head) and not any(file.read()):
            return None
        raise Damaged
    mark, size, checksum = HEAD.unpack(head[: HEAD.size])
    if mark != MARK:
        raise Damaged
    if size > bytes_left - length:
        return None
    content = file.read(size)
    if zlib.crc32(content) != checksum:
        if size == bytes_left - length:
            return None
        raise Damaged
    return content


def encoded(result: Result) -> bytes:
    """Write the arrays of a result as bytes.

    Examples
    --------
    >>> decoded(encoded({"error": np.array([0.25])}))
    {'error': array([0.25])}
    """
    described = [[name, array.dtype.str, array.shape] for name, array in result.items()]
    head = json.dumps(described).encode()
    arrays = [array.tobytes() for array in result.values()]
    return b"".join([CHECKSUM.pack(len(head)), head, *arrays])


def decoded(content: bytes) -> Result:
    """Read what `encoded` wrote; refuse anything else."""
    try:
        start = CHECKSUM.size + CHECKSUM.unpack_from(content)[0]
        described = json.loads(content[CHECKSUM.size : start])
        result: Result = {}
        for name, kind, shape in described:
            array = _array(content, start, kind, shape)
            start += array.nbytes
            result[str(name)] = array
    except (struct.error, ValueError, TypeError, OverflowError, RecursionError):
        raise Damaged from None
    if start != len(content):
        raise Damaged
    return result


def _array(content: bytes, start: int, kind: Any, shape: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401
    dtype = np.dtype(str(kind))
    sizes = [int(size) for size in shape]
    if dtype.kind not in PLAIN_KINDS or min(sizes, default=0) < 0:
        raise Damaged
    # Compared before anything is made: a few bytes must not ask for all memory.
    if math.prod(sizes) * dtype.itemsize > len(content) - start:
        raise Damaged
    return np.ndarray(sizes, dtype, buffer=content, offset=start).copy()
