"""Results kept on disk while a run goes on, so that a run that was stopped can go on later.

The folder holds `run.json`, what the run was made of; `results-1`, `results-2`, … with the results
of the first, second, … call of `run_each`; and `lock`.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.execution.batches import Result
from truerisk.execution.records import Damaged, decoded, encoded, framed, next_content

FACTS, LOCK, RESULTS = "run.json", "lock", "results-"
UNFINISHED = ".unfinished"  # ends the name of a file until it is whole
FORMAT = 1
SECONDS_UNSYNCED = 1.0  # what a loss of power may cost; a killed process loses nothing


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """A folder of results.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from truerisk.execution import run_each
    >>> def task(shared, item):
    ...     print("computing", item)
    ...     return {"value": np.array(item)}
    >>> with TemporaryDirectory() as folder:
    ...     for _ in range(2):
    ...         with Checkpoint.open(folder, {"seed": 1}) as checkpoint:
    ...             results = run_each(task, {}, [10, 20], checkpoint=checkpoint)
    ...             print([int(result["value"]) for result in results])
    computing 10
    computing 20
    [10, 20]
    [10, 20]
    """

    def __init__(self, folder: Path, lock: BinaryIO) -> None:
        self.folder = folder
        self._lock = lock
        self._parts = 0

    @classmethod
    def open(cls, folder: Path | str, facts: Mapping[str, Any]) -> Self:
        """Begin a run in a new or empty folder, or go on with the run that is in it.

        Parameters
        ----------
        folder
            Made if absent.
        facts
            All that the results depend on: the data (`fingerprint`), options, seed, version; plain
            values only.  A run with other facts is refused, and the first that differs named.
        """
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise InputError(f"`resume` must be a folder; {path} is a file.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = _locked(path)
        except OSError as error:
            raise _machine_error(path, error) from error
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            raise _machine_error(self._path, error) from error
        if self._end == 0:
            self._write(json.dumps(self._heading).encode())

    def append(self, result: Result) -> None:
        """Store one more result."""
        self._write(encoded(result))
        self.stored += 1

    def kept(self) -> str:
        """Say what is kept and how it is used."""
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
            raise _machine_error(self._path, error) from error
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
            found = json.loads(content)
        except ValueError:
            raise Damaged from None
        if found != self._heading:
            raise InputError(
                f"{self._path} must hold results of {shown(self._heading)}; it has "
                f"{shown(found)}. Remove the folder to compute everything anew."
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
            raise _machine_error(self._path, error) from error
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
        raise _machine_error(path, error) from error
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
        raise _machine_error(path, error) from error


def _locked(folder: Path) -> BinaryIO:
    """Hold the folder until the file is closed; a process that dies closes it."""
    file = os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
    try:
        import fcntl  # noqa: PLC0415  (absent on Windows, where two runs are not kept apart)
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


def _machine_error(path: Path, error: OSError) -> ResourceError:
    return ResourceError(
        f"The checkpoint {path} could not be read or written: {error.strerror}. What it holds so "
        "far stays usable: put that right and start the same run again to go on."
    )
