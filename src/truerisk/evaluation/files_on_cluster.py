"""Files tallied by the workers of a cluster, and put together here as if they were read here.

A piece is a file, or some row groups of a large Parquet file; each is read by one worker.
"""

import dataclasses
import itertools
import pickle  # of what workers of this run send, over the connection that runs code anyway
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.evaluation.prediction_tally import PredictionTally, merge_recoded
from truerisk.evaluation.request import Request
from truerisk.execution import Result, run_each
from truerisk.inputs import Batch, LabelBook, PredictionFiles, ReadingOptions, ResolvedRoles
from truerisk.inputs.files import (
    Source,
    check_some_rows,
    chosen_rows,
    coded_batches,
    selected_columns,
)
from truerisk.inputs.records.checked_batches import BatchMaker, UniqueIds
from truerisk.inputs.records.places import Fingerprint, refusal, shown_path
from truerisk.inputs.records.rows import Hashes, Reader, Rows
from truerisk.tallies.scored_rows import MAX_ENTRIES

if TYPE_CHECKING:
    from truerisk.inputs.records.parquet import ParquetFile

ROWS_A_PIECE = 2**23  # of a Parquet file: some tenths of a second, and 17 MB of scores sent back
SENT_APART = 2**16  # bytes; larger arrays travel beside the pickle, and are not copied into it


@dataclass(frozen=True)
class Piece:
    """Which part of the files: all of one, or some row groups of a Parquet file."""

    place: int
    row_groups: tuple[int, ...] | None = None
    first_row: int = 1


@dataclass(frozen=True)
class TalliedPiece:
    """What a worker has counted in a piece; the codes of its tally are those of its own books."""

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

    sources: tuple[Source, ...]
    roles: ResolvedRoles
    options: ReadingOptions
    request: Request

    def empty_tally(self) -> PredictionTally:
        """Begin a tally of predictions such as these."""
        return PredictionTally.of_classes(
            self.request, self.roles.score_classes, multilabel=self.options.multilabel
        )


def pieces_of(sources: Sequence[Source]) -> list[Piece]:
    """Cut files into pieces: text files stay whole, row groups are put together."""
    pieces: list[Piece] = []
    for place, source in enumerate(sources):
        if source.facts.format != "parquet":
            pieces.append(Piece(place))
            continue
        lengths = cast("ParquetFile", source.reader).row_group_lengths()
        pieces += [Piece(place)] if lengths is None else _row_groups(place, lengths)
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
    reader = reading.sources[piece.place].reader
    if piece.row_groups is not None:
        reader = cast("ParquetFile", reader).part(piece.row_groups, piece.first_row)
    labels, groups = LabelBook(), LabelBook()
    maker = BatchMaker(reading.roles, reading.options, labels, groups)
    tally = reading.empty_tally()
    rows = lost = 0
    id_hashes: list[NDArray[Any]] = []

    def batches() -> Iterator[Batch]:
        nonlocal rows, lost
        for read in _rows(reader, reading, piece.place):
            chosen = chosen_rows(read, reader, reading.options)
            batch, lost_here = maker.batch(chosen)
            rows, lost = rows + chosen.count, lost + lost_here
            if batch.ids is not None and len(batch.ids):
                id_hashes.append(batch.ids.hashes())
            if len(batch):
                yield batch

    for predictions in coded_batches(batches(), labels, reading.options, reading.roles):
        tally.add(predictions)
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
    path, seen_by_caller = reading.sources[place].path, reading.sources[place].fingerprint
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
    with here.watched(path):
        yield from reader.rows(selected_columns(reading.roles, reader, reading.options))


class FilesOnCluster(PredictionFiles):
    """Files of predictions whose pieces are read by workers, each piece by one of them."""

    def tally(self, request: Request, progress: Callable[[int], None] | None) -> PredictionTally:
        """Count all files; afterwards `labels`, `files` and `notes` are as after `batches`."""
        reading = PieceReading(
            sources=self.sources,
            roles=self.roles,
            options=self.options,
            request=request,
        )
        pieces = pieces_of(self.sources)
        whole = reading.empty_tally()
        maker = BatchMaker(self.roles, self.options, self.labels, self.groups)
        unique = HashedIds()
        settled = dataclasses.replace(reading, request=self._settled(reading))
        results = run_each(_tally_piece, {"reading": settled}, pieces)
        for at, (piece, result) in enumerate(zip(pieces, results, strict=True), start=1):
            part = unpacked(result)
            self._take(whole, part, piece.place)
            self._note(maker, part)
            unique.add_hashes(part.id_hashes)
            if at == len(pieces) or pieces[at].place != piece.place:
                facts = self.files[piece.place]
                path = self.sources[piece.place].path
                check_some_rows(path, facts.rows or 0, facts.dropped, self.options.where)
            if progress is not None:
                progress(whole.n)
        if self.roles.id is not None:
            unique.check(self.roles.id, self._ids_again)
        self.notes = (*self._opening_notes, *self._closing_notes(maker, self.files))
        _forget_too_many(whole)
        return whole

    def _settled(self, reading: PieceReading) -> Request:
        """Settle by the first rows what one column of scores is the score of."""
        if reading.roles.score is None or reading.roles.score_classes is not None:
            return reading.request
        tally = reading.empty_tally()
        with closing(cast("Generator[Batch]", self.batches())) as batches:
            first = itertools.islice(batches, 1)
            for predictions in coded_batches(first, self.labels, self.options, self.roles):
                tally.add(predictions)
        return dataclasses.replace(reading.request, pos_label=next(iter(tally.rankings), None))

    def _take(self, whole: PredictionTally, part: TalliedPiece, place: int) -> None:
        labels = [self.labels.add(text) for text in part.labels]
        if len(self.labels) > self.options.max_labels:
            raise refusal(
                self.sources[place].path,
                f"{shown(self.roles.truth)} must have at most {self.options.max_labels} distinct "
                "labels. Was an id or a score chosen? Otherwise raise --max-labels.",
            )
        groups = [self.groups.add(text) for text in part.groups]
        merge_recoded(whole, part.tally, labels, groups)
        facts = list(self.files)
        facts[place] = dataclasses.replace(
            facts[place],
            rows=(facts[place].rows or 0) + part.rows,
            dropped=facts[place].dropped + part.lost,
            sha256=facts[place].sha256 or part.sha256,
        )
        self.files = tuple(facts)

    def _note(self, maker: BatchMaker, part: TalliedPiece) -> None:
        maker.dropped.update(part.lost_by_column)
        for encoder in (*maker.labels, *maker.groups):
            encoder.whole_floats |= encoder.column in part.whole_floats


class HashedIds(UniqueIds):
    """Ids that workers have hashed."""

    def add_hashes(self, parts: Sequence[Hashes]) -> None:
        """Take in the hashes of one piece."""
        self._parts.extend(parts)


def _tally_piece(shared: Mapping[str, Any], piece: Any) -> Result:
    part = tally_piece(shared["reading"], piece)
    for ranking in part.tally.rankings.values():
        ranking.scatter()
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


def _forget_too_many(whole: PredictionTally) -> None:
    """Keep rows of all classes only if there are as few of them as one pass would keep."""
    rows = whole.scored_rows
    if rows and rows[0].group is None and whole.n * rows[0].classes > MAX_ENTRIES:
        rows.clear()
