"""Files tallied by the workers of a cluster; each piece is read by one of them.

Workers on this computer leave what they have counted in memory that all of its processes share, as
files: sent over a connection it would be copied four times, by threads that wait for each other.
"""

import contextlib
import dataclasses
import os
import pickle  # of what workers of this run send, over the connection that runs code anyway
import shutil
import tempfile
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.files_in_pieces import (
    FilesInPieces,
    Piece,
    PieceReading,
    TalliedPiece,
    tally_piece,
)
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.execution import Result, cluster_in_use, run_each
from truerisk.inputs.files import Source
from truerisk.inputs.records.places import Fingerprint, shown_path
from truerisk.tallies.radix_rank import RUN_ROWS

SHARED_MEMORY = "/dev/shm"  # noqa: S108  (of Linux; elsewhere all is sent)
PREFIX = "truerisk.pieces-"  # of folders in it
ALIGNED = 64  # bytes
SENT_APART = 2**16  # bytes; larger arrays travel beside the pickle, and are not copied into it
PIECES_PER_WORKER = 10  # at least: the last one to end is then waited for a twentieth of the time


class FilesOnCluster(FilesInPieces):
    """Files of predictions whose pieces are read by workers."""

    rows_of_piece: ClassVar[int] = 2**23  # some tenths of a second, and 17 MB of scores sent back

    def rows_per_piece(self) -> int:
        """Give every worker some pieces; smaller ones than a run cost more to send than to read."""
        cluster = cluster_in_use()
        workers = 1 if cluster is None else cluster.workers()
        share = self._rows_in_all() // (PIECES_PER_WORKER * workers)
        return min(max(share, RUN_ROWS), self.rows_of_piece)

    def _tallied(
        self, reading: PieceReading, pieces: Sequence[Piece]
    ) -> Generator[TalliedPiece, None, None]:
        with _shared_folder(sum(facts.bytes for facts in self.files)) as folder:
            shared = {"reading": reading, "folder": folder}
            try:
                for result in run_each(_tally_piece, shared, pieces):
                    yield unpacked(result, folder)
            except (InputError, ResourceError):
                # What a worker cannot read may be what is no longer there.
                for source in self.sources:
                    if source.fingerprint is not None:
                        source.fingerprint.check_unchanged(source.path)
                raise

    def _hold_half(self, whole: PredictionTally) -> None:
        """Hold all scores: workers read each piece once."""


@contextlib.contextmanager
def _shared_folder(size: int) -> Iterator[Path | None]:
    """Give a folder in the memory that processes share; None if workers would not see it."""
    cluster, parent = cluster_in_use(), Path(SHARED_MEMORY)
    if cluster is None or not cluster.is_here() or not parent.is_dir():
        yield None
        return
    remove_abandoned(parent)
    try:
        is_large = shutil.disk_usage(parent).free > size
    except OSError:
        is_large = False
    if not is_large:
        yield None
        return
    with locked_folder(parent) as folder:
        yield folder


@contextlib.contextmanager
def locked_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that is locked as long as it is in use, and remove it afterwards.

    The system lets go of the lock when the process ends, in whatever way.
    """
    import fcntl

    made = Path(tempfile.mkdtemp(dir=parent, prefix="truerisk.new-"))
    lock = os.open(made, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = made.rename(parent / f"{PREFIX}{uuid.uuid4().hex}")  # never seen without its lock
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were ended before they could: they take memory."""
    import fcntl

    for folder in parent.glob(f"{PREFIX}*"):
        # Other users' folders cannot be opened, those in use cannot be locked.
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _tally_piece(shared: Mapping[str, Any], piece: Any) -> Result:
    reading: PieceReading = shared["reading"]
    sources = list(reading.sources)
    sources[piece.place] = seen_here(sources[piece.place])
    # One worker is enough to hash the file.
    part = tally_piece(
        dataclasses.replace(reading, sources=tuple(sources)), piece, hashed=piece.first_row == 1
    )
    apart: list[NDArray[np.uint8]] = []

    def is_inside(buffer: pickle.PickleBuffer) -> bool:
        raw = np.frombuffer(buffer.raw(), dtype=np.uint8)
        if len(raw) < SENT_APART:
            return True
        apart.append(raw)
        return False

    content = np.frombuffer(
        pickle.dumps(part, protocol=5, buffer_callback=is_inside), dtype=np.uint8
    )
    if shared["folder"] is not None and apart:
        # Where there is no place for it, it is sent.
        with contextlib.suppress(OSError):
            return {"piece": content, **_left_in(shared["folder"], apart)}
    places = {str(at): raw for at, raw in enumerate(apart)}
    return {"piece": content, **places}


def _left_in(folder: Path, apart: Sequence[NDArray[np.uint8]]) -> Result:
    """Write arrays to a file of the folder; give its name, and where each of them ends."""
    name = uuid.uuid4().hex
    try:
        with (folder / name).open("wb") as file:
            for raw in apart:
                file.write(raw.data)
                file.write(bytes(-len(raw) % ALIGNED))
    except OSError:
        (folder / name).unlink(missing_ok=True)
        raise
    sizes = np.array([len(raw) for raw in apart])
    ends = np.cumsum(sizes + -sizes % ALIGNED) - -sizes % ALIGNED
    return {"name": np.frombuffer(name.encode(), np.uint8), "ends": ends}


def unpacked(result: Result, folder: Path | None = None) -> TalliedPiece:
    """Put together what a worker has sent, or left in the folder."""
    content, *apart = result.values()
    if folder is not None and "ends" in result:
        path = folder / result["name"].tobytes().decode()
        whole = np.memmap(path, np.uint8, mode="c")
        path.unlink()  # the memory is in use as long as the arrays are
        ends = result["ends"].tolist()
        begins = [0, *(end + -end % ALIGNED for end in ends)]
        apart = [whole[begin:end] for begin, end in zip(begins, ends, strict=False)]
    part: TalliedPiece = pickle.loads(content, buffers=apart)  # type: ignore[arg-type]  # noqa: S301
    return part


def seen_here(source: Source) -> Source:
    """Give a file as this worker sees it, if that is as the caller does."""
    path, seen_by_caller = source.path, source.fingerprint
    if seen_by_caller is None:
        raise TypeError("A cluster reads files, not frames.")
    try:
        here = Fingerprint.of(path)
    except InputError:
        raise InputError(
            f"{shown_path(path)}: must be seen by every worker of the cluster; one of them has no "
            "such file. Put the files on storage that all of them share, under one path."
        ) from None
    # Numbers of devices, and on some file systems of files, differ between computers.
    if (here.size, here.modified) != (seen_by_caller.size, seen_by_caller.modified):
        raise ResourceError(
            f"{shown_path(path)}: is another file for a worker of the cluster ({here.size} bytes) "
            f"than here ({seen_by_caller.size} bytes), or it changes. Nothing of it was used."
        )
    return dataclasses.replace(source, fingerprint=here)
