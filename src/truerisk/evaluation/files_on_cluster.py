"""Files tallied by the workers of a cluster; each piece is read by one of them."""

import dataclasses
import pickle  # of what workers of this run send, over the connection that runs code anyway
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.files_in_pieces import (
    FilesInPieces,
    Piece,
    PieceReading,
    TalliedPiece,
    tally_piece,
)
from truerisk.execution import Result, run_each
from truerisk.inputs.files import Source
from truerisk.inputs.records.places import Fingerprint, shown_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

SENT_APART = 2**16  # bytes; larger arrays travel beside the pickle, and are not copied into it


class FilesOnCluster(FilesInPieces):
    """Files of predictions whose pieces are read by workers."""

    rows_of_piece: ClassVar[int] = 2**23  # some tenths of a second, and 17 MB of scores sent back

    def _tallied(self, reading: PieceReading, pieces: Sequence[Piece]) -> Iterator[TalliedPiece]:
        return map(unpacked, run_each(_tally_piece, {"reading": reading}, pieces))


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

    content = pickle.dumps(part, protocol=5, buffer_callback=is_inside)
    places = {str(at): raw for at, raw in enumerate(apart)}
    return {"piece": np.frombuffer(content, dtype=np.uint8), **places}


def unpacked(result: Result) -> TalliedPiece:
    """Put together what a worker has sent."""
    content, *apart = result.values()
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
