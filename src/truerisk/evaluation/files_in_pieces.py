"""Large Parquet files tallied in pieces, one in each thread, and put together as if read in order.

A piece is a file, or some row groups of a large Parquet file.  A thread reads a piece and counts
what is in it, in books of labels of its own; the tallies are merged in the order of the pieces.

Scores of float64 have almost nothing in common that would make them smaller.  Of very many only the
upper half is held; when it has been ranked, the files are read once more for the lower half.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, cast

from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.evaluation.prediction_tally import PredictionTally, merge_recoded
from truerisk.evaluation.request import Request
from truerisk.inputs import Batch, LabelBook, PredictionFiles, ReadingOptions, ResolvedRoles
from truerisk.inputs.files import (
    Source,
    check_some_rows,
    chosen_rows,
    coded_batches,
    selected_columns,
)
from truerisk.inputs.records.checked_batches import BatchMaker, UniqueIds
from truerisk.inputs.records.places import refusal
from truerisk.inputs.records.rows import Hashes, in_order
from truerisk.kernels import threads_for
from truerisk.tallies.radix_rank import EVERY_BUCKET, Run
from truerisk.tallies.scored_rows import MAX_ENTRIES

if TYPE_CHECKING:
    from truerisk.inputs.records.parquet import ParquetFile

ROWS_OF_PIECE = 2**19  # what a thread has scattered is then still in its cache
HELD_AT_ONCE = 2**25  # scores of float64: 200 MB
MAX_SHARE = 0.55  # of more scores than that


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

    def empty_tally(self, held: range = EVERY_BUCKET) -> PredictionTally:
        """Begin a tally of predictions such as these."""
        tally = PredictionTally.of_classes(
            self.request, self.roles.score_classes, multilabel=self.options.multilabel
        )
        tally.held = held
        return tally


def pieces_of(sources: Sequence[Source], rows: int) -> list[Piece]:
    """Cut files into pieces: text files stay whole, row groups are put together to so many rows."""
    pieces: list[Piece] = []
    for place, source in enumerate(sources):
        if source.facts.format == "parquet":
            lengths = cast("ParquetFile", source.reader).row_group_lengths
            pieces += _row_groups(place, lengths, rows)
        else:
            pieces.append(Piece(place))
    return pieces


def _row_groups(place: int, lengths: list[int], rows: int) -> Iterator[Piece]:
    """Put row groups together to pieces of nearly one size: none of them is waited for alone."""
    even = sum(lengths) / max(sum(lengths) // rows, 1)
    chosen: list[int] = []
    first_row = next_row = 1
    for group, length in enumerate(lengths):
        if chosen and next_row - first_row + length / 2 > even:
            yield Piece(place, tuple(chosen), first_row)
            chosen, first_row = [], next_row
        chosen.append(group)
        next_row += length
    yield Piece(place, tuple(chosen), first_row)


def tally_piece(
    reading: PieceReading, piece: Piece, *, hashed: bool, held: range = EVERY_BUCKET
) -> TalliedPiece:
    """Read a piece and count what is in it; `hashed` says whether it is read with its file's hash.

    Scores are held scattered: they take less memory, and less time while they are in the cache.
    """
    source = _source_of(reading, piece, hashed=hashed)
    reader = source.reader
    labels, groups = LabelBook(), LabelBook()
    maker = BatchMaker(reading.roles, reading.options, labels, groups)
    tally = reading.empty_tally(held)
    rows = lost = 0
    id_hashes: list[NDArray[Any]] = []

    def batches() -> Iterator[Batch]:
        nonlocal rows, lost
        for read in source.rows(selected_columns(reading.roles, reader, reading.options)):
            chosen = chosen_rows(read, reader, reading.options)
            batch, lost_here = maker.batch(chosen)
            rows, lost = rows + chosen.count, lost + lost_here
            if batch.ids is not None and len(batch.ids):
                id_hashes.append(batch.ids.hashes())
            if len(batch):
                yield batch

    for predictions in coded_batches(batches(), labels, reading.options, reading.roles):
        tally.add(predictions)
    for ranking in tally.rankings.values():
        ranking.scatter()
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


def ranked_again(reading: PieceReading, piece: Piece, held: range) -> list[Run]:
    """Read the scores of a piece; give those of some buckets, and count the others."""
    source = _source_of(reading, piece, hashed=False)
    labels = LabelBook()
    maker = BatchMaker(reading.roles, reading.options, labels, LabelBook())
    tally = reading.empty_tally(held)

    def batches() -> Iterator[Batch]:
        for read in source.rows(selected_columns(reading.roles, source.reader, reading.options)):
            batch, _ = maker.batch(chosen_rows(read, source.reader, reading.options))
            if len(batch):
                yield batch

    for predictions in coded_batches(batches(), labels, reading.options, reading.roles):
        tally.add_ranked(predictions)
    return [run for ranking in tally.rankings.values() for run in ranking.wide_runs()]


def _source_of(reading: PieceReading, piece: Piece, *, hashed: bool) -> Source:
    source = reading.sources[piece.place]
    if piece.row_groups is None:
        return source
    parquet = cast("ParquetFile", source.reader)
    part = parquet.part(piece.row_groups, piece.first_row, hashed=hashed)
    return dataclasses.replace(source, reader=part)


class FilesInPieces(PredictionFiles):
    """Files of predictions whose pieces are read at the same time."""

    rows_of_piece: ClassVar[int] = ROWS_OF_PIECE
    held_at_once: ClassVar[int] = HELD_AT_ONCE
    _held: range = EVERY_BUCKET

    def tally(self, request: Request, progress: Callable[[int], None] | None) -> PredictionTally:
        """Count all files; afterwards `labels`, `files` and `notes` are as after `batches`."""
        reading = PieceReading(
            sources=self.sources,
            roles=self.roles,
            options=self.options,
            request=request,
        )
        pieces = pieces_of(self.sources, self.rows_per_piece())
        whole = reading.empty_tally()
        maker = BatchMaker(self.roles, self.options, self.labels, self.groups)
        unique = HashedIds()
        settled = dataclasses.replace(reading, request=self._settled(reading))
        with closing(self._tallied(settled, pieces)) as parts:
            for at, (piece, part) in enumerate(zip(pieces, parts, strict=True), start=1):
                self._take(whole, part, piece.place)
                _forget_too_many(whole)
                self._hold_half(whole)
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
        if self._held != EVERY_BUCKET:
            roles = self.roles if maker.dropped else _ranked(self.roles)
            again = dataclasses.replace(settled, roles=roles)
            (ranking,) = whole.rankings.values()
            ranking.read_again = lambda held: self.runs_again(again, pieces, held)
            release_memory()
        return whole

    def _tallied(
        self, reading: PieceReading, pieces: Sequence[Piece]
    ) -> Generator[TalliedPiece, None, None]:
        """Read the pieces in threads, the hashes of the files beside them; give them in order."""
        stop = Event()
        digests: dict[int, Future[str | None]] = {}
        with ThreadPoolExecutor(1) as pool:

            def tally(piece: Piece) -> TalliedPiece:
                reader = cast("ParquetFile", self.sources[piece.place].reader)
                if piece.first_row == 1 and reader.hashed:
                    digests[piece.place] = pool.submit(reader.hash, stop)
                return tally_piece(reading, piece, hashed=False, held=self._held)

            try:
                yield from in_order(tally, pieces, threads_for(self._rows_in_all()))
                self.files = tuple(
                    dataclasses.replace(facts, sha256=digests[at].result())
                    if at in digests
                    else facts
                    for at, facts in enumerate(self.files)
                )
            finally:
                stop.set()

    def rows_per_piece(self) -> int:
        """Give how many rows a piece has, about; at least one row group."""
        return self.rows_of_piece

    def _rows_in_all(self) -> int:
        parquet = (one.reader for one in self.sources if one.facts.format == "parquet")
        return sum(cast("ParquetFile", one).count for one in parquet)

    def _hold_half(self, whole: PredictionTally) -> None:
        """Hold only the upper half of one column of float64 scores, if there are too many."""
        if len(whole.rankings) != 1 or whole.pooled is not None or whole.scored_rows:
            return
        rows_in_all = self._rows_in_all()
        (ranking,) = whole.rankings.values()
        if rows_in_all > self.held_at_once and ranking.may_be_read_again(rows_in_all):
            # The first piece shows where about the middle is; if it does not, less is held.
            is_first = self._held == EVERY_BUCKET
            ranking.hold_at_most(whole.n // 2 if is_first else int(MAX_SHARE * rows_in_all))
            self._held = ranking.held

    def runs_again(self, reading: PieceReading, pieces: Sequence[Piece], held: range) -> list[Run]:
        """Read the scores once more; give those of some buckets, and count the others."""

        def runs(piece: Piece) -> list[Run]:
            return ranked_again(reading, piece, held)

        release_memory()
        each = in_order(runs, pieces, threads_for(self._rows_in_all()))
        scattered = list(itertools.chain.from_iterable(each))
        release_memory()
        return scattered

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


def _forget_too_many(whole: PredictionTally) -> None:
    """Keep rows of all classes only if there are as few of them as one pass would keep."""
    rows = whole.scored_rows
    if rows and rows[0].group is None and whole.n * rows[0].classes > MAX_ENTRIES:
        rows.clear()


def _ranked(roles: ResolvedRoles) -> ResolvedRoles:
    """Keep only the columns that a ranking needs."""
    return dataclasses.replace(roles, pred=None, id=None, group=None)


def release_memory() -> None:
    """Give back what was used for reading, before much else is needed."""
    from truerisk.inputs.records.parquet import release_unused

    release_unused()
