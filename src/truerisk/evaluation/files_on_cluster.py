"""Files tallied by the workers of a cluster, and put together here as if they were read here."""

import dataclasses
import itertools
import pickle  # of what workers of this run send, over the connection that runs code anyway
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, cast

import numpy as np

from truerisk.checks import shown
from truerisk.evaluation.batch_columns import columns_of
from truerisk.evaluation.file_pieces import (
    PieceReading,
    TalliedPiece,
    pieces_of,
    tally_piece,
)
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.recoding import merge_recoded
from truerisk.evaluation.request import Request
from truerisk.execution import Result, run_each
from truerisk.inputs import Batch, PredictionFiles
from truerisk.inputs.ids import Hashes, UniqueIds
from truerisk.inputs.predictions import wanted_columns
from truerisk.inputs.records.checked_batches import BatchMaker
from truerisk.inputs.records.refusals import refusal
from truerisk.tallies.scored_rows import MAX_ENTRIES


class FilesOnCluster(PredictionFiles):
    """Files of predictions whose pieces are read by workers, each piece by one of them."""

    def tally(self, request: Request, progress: Callable[[int], None] | None) -> PredictionTally:
        """Count all files; afterwards `labels`, `files` and `notes` are as after `batches`."""
        reading = PieceReading(
            paths=self._paths,
            readers=tuple(self._readers),
            fingerprints=tuple(self._fingerprints),
            roles=self.roles,
            options=self.options,
            wanted=wanted_columns(self.roles),
            request=request,
        )
        pieces = pieces_of(self.files, self._paths)
        whole = reading.empty_tally()
        maker = BatchMaker(self.roles, self.options, self.labels, self.groups)
        unique = HashedIds()
        settled = dataclasses.replace(reading, request=self._settled(reading))
        results = run_each(_tally_piece, {"reading": settled}, pieces)
        for at, (piece, result) in enumerate(zip(pieces, results, strict=True), start=1):
            found: TalliedPiece = pickle.loads(result["piece"].tobytes())  # noqa: S301
            self._take(whole, found, piece.place)
            self._note(maker, found)
            unique.add_hashes(found.id_hashes)
            if at == len(pieces) or pieces[at].place != piece.place:
                self._check_rows(piece.place)
            if progress is not None:
                progress(whole.n)
        if self.roles.id is not None:
            unique.check(self.roles.id, self._ids_again)
        self.notes = (*self._opening_notes, *self._closing_notes(maker, self.files))
        _forget_too_many(whole)
        return whole

    def _settled(self, reading: PieceReading) -> Request:
        """Tell workers what one column of scores is the score of, as the first rows settle it."""
        if reading.roles.score is None or reading.roles.score_classes is not None:
            return reading.request
        tally = reading.empty_tally()
        with closing(cast("Generator[Batch]", self.batches())) as batches:
            first = itertools.islice(batches, 1)
            for columns in columns_of(first, self.labels, self.options):
                tally.add(columns)
        return dataclasses.replace(reading.request, pos_label=next(iter(tally.rankings), None))

    def _take(self, whole: PredictionTally, found: TalliedPiece, place: int) -> None:
        labels = [self.labels.add(text) for text in found.labels]
        if len(self.labels) > self.options.max_labels:
            raise refusal(
                self._paths[place],
                f"{shown(self.roles.truth)} must have at most {self.options.max_labels} distinct "
                "labels. Was an id or a score chosen? Otherwise raise --max-labels.",
            )
        groups = [self.groups.add(text) for text in found.groups]
        merge_recoded(whole, found.tally, labels, groups)
        facts = list(self.files)
        facts[place] = dataclasses.replace(
            facts[place],
            rows=(facts[place].rows or 0) + found.rows,
            dropped=facts[place].dropped + found.lost,
            sha256=facts[place].sha256 or found.sha256,
        )
        self.files = tuple(facts)

    def _note(self, maker: BatchMaker, found: TalliedPiece) -> None:
        maker.dropped.update(found.lost_by_column)
        for encoder in (*maker.labels, *maker.groups):
            encoder.whole_floats |= encoder.column in found.whole_floats

    def _check_rows(self, place: int) -> None:
        rows, dropped = self.files[place].rows, self.files[place].dropped
        if rows == 0:
            raise refusal(self._paths[place], "must hold predictions; the file has 0 data rows.")
        if dropped == rows:
            raise refusal(
                self._paths[place],
                f"must hold predictions; all {rows} rows have a value missing.",
            )


class HashedIds(UniqueIds):
    """Ids that workers have hashed."""

    def add_hashes(self, parts: Sequence[Hashes]) -> None:
        """Take in the hashes of one piece."""
        self._parts.extend(parts)


def _tally_piece(shared: Mapping[str, Any], piece: Any) -> Result:  # noqa: ANN401
    content = pickle.dumps(tally_piece(shared["reading"], piece), protocol=5)
    return {"piece": np.frombuffer(content, dtype=np.uint8)}


def _forget_too_many(whole: PredictionTally) -> None:
    """Keep rows of all classes only if there are as few of them as one pass would keep."""
    if whole.joint_rows and whole.n * whole.joint_rows[0].score.shape[1] > MAX_ENTRIES:
        whole.joint_rows.clear()
