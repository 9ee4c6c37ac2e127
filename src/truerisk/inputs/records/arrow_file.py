"""Arrow IPC: files (Feather) and streams of record batches."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from truerisk.inputs.options import MIB, ReadingOptions
from truerisk.inputs.records.arrow import plain_columns
from truerisk.inputs.records.places import Places, refusal
from truerisk.inputs.records.rows import Rows, Selection, ahead

FILE_MAGIC = b"ARROW1"


class ArrowFile:
    """One Arrow file or stream whose schema has been read."""

    empty_is_missing = False

    def __init__(self, path: Path, _compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.options = options
        self.sha256: str | None = None
        with path.open("rb") as file:
            self.is_file = file.read(len(FILE_MAGIC)) == FILE_MAGIC
        try:
            with pa.memory_map(str(path)) as source:
                self.columns = tuple(self._reader(source).schema.names)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end, in pieces of bounded size."""
        row = 1
        names = list(dict.fromkeys(selection.columns))
        for batch in ahead(self._batches(names)):
            first = row
            places = Places(self.path, lambda at, first=first: f"row {first + at}")  # type: ignore[misc]
            columns = plain_columns(batch, selection, places, self.options)
            yield Rows(columns, batch.num_rows, first, places)
            row += batch.num_rows
        self.sha256 = self._sha256()

    def _batches(self, names: list[str]) -> Iterator[Any]:
        size = self.options.batch_rows
        try:
            with pa.memory_map(str(self.path)) as source:
                reader = self._reader(source)
                whole = (
                    (reader.get_batch(at) for at in range(reader.num_record_batches))
                    if self.is_file
                    else reader
                )
                for batch in whole:
                    batch.validate(full=True)
                    chosen = batch.select(names)
                    for start in range(0, batch.num_rows, size):
                        yield chosen.slice(start, size)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _reader(self, source: Any) -> Any:
        return pa.ipc.open_file(source) if self.is_file else pa.ipc.open_stream(source)

    def _sha256(self) -> str | None:
        if not self.options.hash_all and self.path.stat().st_size > self.options.max_hashed_bytes:
            return None
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            while piece := file.read(MIB):
                digest.update(piece)
        return digest.hexdigest()

    def _damaged(self, error: Exception) -> Exception:
        reason = " ".join(str(error).split()).rstrip(".")
        return refusal(self.path, f"must be an intact Arrow file; {reason}. Write it again.")
