"""A file, or some row groups of a large Parquet file, tallied by a worker of a cluster."""

import copy
import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.batch_columns import columns_of
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs import Batch, LabelBook, ReadingOptions, ResolvedRoles
from truerisk.inputs.ids import hashes
from truerisk.inputs.records.checked_batches import BatchMaker
from truerisk.inputs.records.formats import FileFacts, Fingerprint
from truerisk.inputs.records.parquet import DAMAGE, ParquetFile
from truerisk.inputs.records.refusals import shown_path
from truerisk.inputs.records.rows import Reader, Rows, Wanted

ROWS_A_PIECE = 2**22  # of a Parquet file: some seconds of work, and some 20 MB of scores sent back


@dataclass(frozen=True)
class Piece:
    """Which part of the files: all of one, or some row groups of a Parquet file."""

    place: int
    row_groups: tuple[int, ...] | None = None
    first_row: int = 1


@dataclass(frozen=True)
class TalliedPiece:
    """What a worker has found in a piece; the codes of its tally are those of its own books."""

    tally: PredictionTally
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    rows: int
    lost: int
    lost_by_column: Counter[str]
    whole_floats: tuple[str, ...]
    id_hashes: tuple[NDArray[Any], ...]
    sha256: str | None


@dataclass(frozen=True)
class PieceReading:
    """All that a worker needs to know to read any piece."""

    paths: tuple[Path, ...]
    readers: tuple[Reader, ...]
    fingerprints: tuple[Fingerprint, ...]
    roles: ResolvedRoles
    options: ReadingOptions
    wanted: Wanted
    request: Request

    def empty_tally(self) -> PredictionTally:
        """Begin a tally of predictions such as these."""
        several = self.options.multilabel_separator is not None
        return PredictionTally(self.request, several, self.roles.score_classes)


def pieces_of(facts: tuple[FileFacts, ...], paths: tuple[Path, ...]) -> list[Piece]:
    """Cut files into pieces: text files stay whole, row groups are put together."""
    pieces: list[Piece] = []
    for place, (fact, path) in enumerate(zip(facts, paths, strict=True)):
        if fact.format != "parquet":
            pieces.append(Piece(place))
            continue
        try:
            footer = parquet.read_metadata(path)
        except (pa.ArrowException, OSError):
            pieces.append(Piece(place))  # who reads it says what is wrong with it
            continue
        lengths = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
        pieces += _row_groups(place, lengths)
    return pieces


def _row_groups(place: int, lengths: list[int]) -> Iterator[Piece]:
    chosen: list[int] = []
    first_row = next_row = 1
    for group, length in enumerate(lengths):
        chosen.append(group)
        next_row += length
        if next_row - first_row >= ROWS_A_PIECE:
            yield Piece(place, tuple(chosen), first_row)
            chosen, first_row = [], next_row
    if chosen or not lengths:
        yield Piece(place, tuple(chosen), first_row)


def tally_piece(reading: PieceReading, piece: Piece) -> TalliedPiece:
    """Read a piece and count what is in it."""
    reader = reading.readers[piece.place]
    if piece.row_groups is not None and isinstance(reader, ParquetFile):
        reader = RowGroups(reader, piece)
    labels, groups = LabelBook(), LabelBook()
    maker = BatchMaker(reading.roles, reading.options, labels, groups)
    tally = reading.empty_tally()
    rows = lost = 0
    id_hashes: list[NDArray[Any]] = []

    def batches() -> Iterator[Batch]:
        nonlocal rows, lost
        for found in _rows(reader, reading, piece.place):
            batch, lost_here = maker.batch(found)
            rows, lost = rows + found.count, lost + lost_here
            if batch.ids is not None and len(batch.ids):
                id_hashes.append(hashes(batch.ids))
            if len(batch):
                yield batch

    for columns in columns_of(batches(), labels, reading.options):
        tally.add(columns)
    return TalliedPiece(
        tally=tally,
        labels=labels.texts,
        groups=groups.texts,
        rows=rows,
        lost=lost,
        lost_by_column=maker.dropped,
        whole_floats=tuple(
            encoder.column for encoder in (*maker.labels, *maker.groups) if encoder.whole_floats
        ),
        id_hashes=tuple(id_hashes),
        sha256=reader.sha256,
    )


def _rows(reader: Reader, reading: PieceReading, place: int) -> Iterator[Rows]:
    """Read a file that the worker sees as the caller does, and that stays as it is."""
    path, seen_by_caller = reading.paths[place], reading.fingerprints[place]
    try:
        here = Fingerprint.of(path)
    except InputError:
        raise InputError(
            f"{shown_path(path)}: must be seen by every worker of the cluster; one of them has no "
            "such file. Put the files on storage that all of them share, under one path."
        ) from None
    # Numbers of devices, and on some file systems of files, differ from machine to machine.
    if (here.size, here.modified) != (seen_by_caller.size, seen_by_caller.modified):
        raise ResourceError(
            f"{shown_path(path)}: is another file for a worker of the cluster ({here.size} bytes) "
            f"than here ({seen_by_caller.size} bytes), or it changes. Nothing of it was used."
        )
    try:
        yield from reader.rows(reading.wanted)
    except InputError:
        here.check_unchanged(path)
        raise
    here.check_unchanged(path)


class RowGroups(ParquetFile):
    """Some row groups of a Parquet file, read as the whole file is."""

    def __init__(self, whole: ParquetFile, piece: Piece) -> None:
        vars(self).update(vars(copy.copy(whole)))
        self._groups = list(piece.row_groups or ())
        self._rows_before = piece.first_row - 1
        with self._open() as file:
            lengths = [file.metadata.row_group(at).num_rows for at in self._groups]
        self.count = sum(lengths)
        if self._rows_before:
            # One worker is enough to hash the file.
            self.options = dataclasses.replace(whole.options, hash_all=False, max_hashed_bytes=0)

    def _batches(self, wanted: Wanted) -> Iterator[pa.RecordBatch]:
        try:
            with self._open(self._text_columns(wanted)) as file:
                yield from file.iter_batches(
                    batch_size=self.options.batch_rows,
                    row_groups=self._groups,
                    columns=list(dict.fromkeys(wanted.columns)),
                    use_threads=True,
                )
        except DAMAGE as error:
            raise self._damaged(error) from error

    def _numbered(self, batch: pa.RecordBatch, first_row: int) -> Rows:
        return super()._numbered(batch, first_row + self._rows_before)
