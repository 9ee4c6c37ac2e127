"""Results kept on disk during a run, which can then be continued after a stop.

The folder holds `run.json`, what the run was made of; `results-1`, `results-2`, … with the results
of the first, second, … call of `run_each`; and `lock`.

A file of results only grows.  A record is 4 bytes "TRR1", the length of its content (8 bytes), the
CRC-32 of the content and the CRC-32 of these 16 bytes (4 each), then the content.  The content of a
result is the length of a JSON list (4 bytes), the list of [name, type, shape], and the bytes of the
arrays.  Numbers are little-endian.  Nothing in it is ever executed: a checkpoint is input like any
other file.
"""

import hashlib
import json
import math
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.execution.batches import Result

MARK = b"TRR1"
HEAD = struct.Struct("<4sQI")
CHECKSUM = struct.Struct("<I")
PLAIN_KINDS = "biufcSU"
UNFINISHED = ".unfinished"  # ends the name of a file until it is whole
FORMAT = 1
SECONDS_UNSYNCED = 1.0  # what a loss of power may cost; a killed process loses nothing


class Damaged(Exception):  # noqa: N818  (the checkpoint makes a sentence of it)
    """The bytes are not those that were written."""


def framed(content: bytes) -> bytes:
    """Put length and checksums before the content of a record."""
    head = HEAD.pack(MARK, len(content), zlib.crc32(content))
    return head + CHECKSUM.pack(zlib.crc32(head)) + content


def next_content(file: BinaryIO, bytes_left: int) -> bytes | None:
    """Read one record; return None at the end, and where the last one was not finished.

    A process that is killed leaves a record short; a computer that loses power may leave it long
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
    """Write the arrays of a result as bytes."""
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


def _array(content: bytes, start: int, kind: Any, shape: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(str(kind))
    sizes = [int(size) for size in shape]
    if dtype.kind not in PLAIN_KINDS or min(sizes, default=0) < 0:
        raise Damaged
    # Compared before anything is made: a few bytes must not ask for all memory.
    if math.prod(sizes) * dtype.itemsize > len(content) - start:
        raise Damaged
    return np.ndarray(sizes, dtype, buffer=content, offset=start).copy()


def fingerprint(*arrays: Any) -> str:
    """Return the SHA-256 of arrays or sparse matrices: their types, shapes and bytes, in turn.

    The layout does not matter.  Python objects count as they print.
    """
    sha = hashlib.sha256()
    for array in arrays:
        for part in _parts(array):
            sha.update(f"{part.dtype.str} {part.shape} ".encode())
            sha.update(_content(part))
    return sha.hexdigest()


def _parts(array: Any) -> tuple[np.ndarray[Any, Any], ...]:
    if not hasattr(array, "tocoo"):
        return (np.asarray(array),)
    # Formats that are slow to compute with (lists, diagonals) are brought to rows.
    matrix = array if array.format in {"csr", "csc"} else array.tocsr()
    words = np.array([matrix.format, str(matrix.shape)])
    return words, matrix.data, matrix.indices, matrix.indptr


def _content(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.hasobject:
        return repr(array.tolist()).encode()
    if array.nbytes == 0:
        return b""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


FACTS, LOCK, RESULTS = "run.json", "lock", "results-"


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """A folder of results."""

    def __init__(self, folder: Path, lock: BinaryIO) -> None:
        self.folder = folder
        self._lock = lock
        self._parts = 0

    @classmethod
    def open(cls, folder: Path | str, facts: Mapping[str, Any]) -> Self:
        """Begin a run in a new or empty folder, or continue the one that is in it.

        `facts` is all that the results depend on, as plain values; a run with others is refused.
        """
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise InputError(f"`resume` must be a folder; {path} is a file.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = _locked(path)
        except OSError as error:
            raise _resource_error(path, error) from error
        try:
            _same_run(path, facts)
        except BaseException:
            lock.close()
            raise
        return cls(path, lock)

    def next_part(self, task: str, items: int) -> "Part":
        """Open the results of the next call of `run_each`; calls come in one order in every run."""
        self._parts += 1
        return Part(self.folder / f"{RESULTS}{self._parts}", task, items)

    def close(self) -> None:
        """Let another run have the folder."""
        self._lock.close()

    def __exit__(self, *error: object) -> None:
        self.close()


class Part:
    """The results of one call of `run_each`: first those that are there, then those that come."""

    def __init__(self, path: Path, task: str, items: int) -> None:
        self._path = path
        self._items = items
        self._heading = {"format": FORMAT, "items": items, "task": task}
        self._file: BinaryIO | None = None
        self._end = 0
        self._synced = time.monotonic()
        self.stored = 0

    def results(self) -> Iterator[Result]:
        """Give the results that are stored; drop the last one if it was not written to its end."""
        try:
            number = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            self._file = os.fdopen(number, "r+b", buffering=0)
            yield from self._read(self._file)
        except Damaged:
            raise InputError(
                f"{self._path} must be as this program wrote it; it is damaged at byte "
                f"{self._end:,}. Remove the folder to compute everything anew."
            ) from None
        except OSError as error:
            raise _resource_error(self._path, error) from error
        if self._end == 0:
            self._write(json.dumps(self._heading).encode())

    def append(self, result: Result) -> None:
        """Store one more result."""
        self._write(encoded(result))
        self.stored += 1

    def summary(self) -> str:
        """Say what is stored and how it is used."""
        return (
            f"{self.stored:,} results are kept in {self._path.parent}: start the same run again "
            "with it to go on."
        )

    def close(self) -> None:
        """See to it that everything is on the disk."""
        if self._file is None:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _resource_error(self._path, error) from error
        finally:
            self._file.close()

    def _read(self, file: BinaryIO) -> Iterator[Result]:
        size = os.fstat(file.fileno()).st_size
        content = next_content(file, size)
        if content is not None:
            self._check_heading(content)
            self._end = file.tell()
            while (content := next_content(file, size - self._end)) is not None:
                result = decoded(content)
                if self.stored == self._items:
                    raise Damaged
                self._end = file.tell()
                self.stored += 1
                yield result
        file.truncate(self._end)

    def _check_heading(self, content: bytes) -> None:
        try:
            heading = json.loads(content)
        except ValueError:
            raise Damaged from None
        if heading != self._heading:
            raise InputError(
                f"{self._path} must hold results of {shown(self._heading)}; it has "
                f"{shown(heading)}. Remove the folder to compute everything anew."
            )

    def _write(self, content: bytes) -> None:
        if self._file is None:
            raise TypeError("The results that are stored must be read first.")
        record, number = framed(content), self._file.fileno()
        try:
            os.lseek(number, self._end, os.SEEK_SET)
            left = memoryview(record)
            while left:
                left = left[os.write(number, left) :]
            if time.monotonic() - self._synced >= SECONDS_UNSYNCED:
                os.fsync(number)
                self._synced = time.monotonic()
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(number, self._end)
            raise _resource_error(self._path, error) from error
        self._end += len(record)


def _same_run(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write down what the run is made of, or compare it with what is written."""
    path = folder / FACTS
    given = json.loads(json.dumps(dict(facts)))
    if not path.exists():
        foreign = [
            one.name for one in folder.iterdir() if one.name not in {LOCK, FACTS + UNFINISHED}
        ]
        if foreign:
            raise InputError(
                f"`resume` must be an empty folder or one with a run in it; {folder} has "
                f"{shown(min(foreign))} and no {FACTS}."
            )
        _write_whole(path, json.dumps(given, indent=1).encode() + b"\n")
        return
    try:
        stored = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        stored = None
    except OSError as error:
        raise _resource_error(path, error) from error
    if not isinstance(stored, dict):
        raise InputError(f"{path} must hold the facts of a run; it is damaged or not ours.")
    for name in (*given, *stored):
        mine, theirs = (json.dumps(one.get(name, "absent")) for one in (given, stored))
        if mine != theirs:
            raise InputError(
                f"`resume` must hold a run of the same {name}; {folder} was made with "
                f"{shown(stored.get(name))}, got {shown(given.get(name))}. "
                "Use another folder, or what was used before."
            )


def _write_whole(path: Path, content: bytes) -> None:
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise _resource_error(path, error) from error


def _locked(folder: Path) -> BinaryIO:
    """Hold the folder until the file is closed; a process that dies closes it."""
    file = os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
    try:
        import fcntl
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = file.read(20).decode("ascii", "replace").strip()
        file.close()
        raise InputError(
            f"`resume` must be a folder that no other run uses; process {holder} "
            f"is at work in {folder}. Wait for it to end, or use another folder."
        ) from None
    file.truncate(0)
    os.pwrite(file.fileno(), f"{os.getpid()}\n".encode(), 0)
    return file


def _resource_error(path: Path, error: OSError) -> ResourceError:
    return ResourceError(
        f"The checkpoint {path} could not be read or written: {error.strerror}. What it holds so "
        "far stays usable: put that right and start the same run again to go on."
    )
