"""Parquet files: streamed by row group, only the columns needed, every page checksum verified."""

import copy
import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pyarrow as pa
from pyarrow import parquet

from truerisk.checks import shown
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.options import MIB, ReadingOptions
from truerisk.inputs.records.arrow import plain_columns
from truerisk.inputs.records.places import (
    Places,
    read_failure,
    refusal,
    sha256_of,
    shown_path,
)
from truerisk.inputs.records.rows import Rows, Selection, ahead

# Names in a damaged footer need not be UTF-8.
DAMAGE = (pa.ArrowException, OSError, UnicodeDecodeError)


def release_unused() -> None:
    """Give back the memory that Arrow, and the C library, keep for further use."""
    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()


class ParquetFile:
    """One Parquet file whose footer has been read."""

    empty_is_missing = False

    def __init__(self, path: Path, _compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.options = options
        self.sha256: str | None = None
        self.footer: parquet.FileMetaData | None = None
        with self._open() as file:
            self.schema = file.schema_arrow
            self.footer = file.metadata
        self.row_group_lengths = [
            self.footer.row_group(at).num_rows for at in range(self.footer.num_row_groups)
        ]
        self.count = self.footer.num_rows
        self.columns = tuple(self.schema.names)
        self.row_groups: list[int] | None = None  # all of them
        self.rows_before = 0
        self.hashed = options.hash_all or path.stat().st_size <= options.max_hashed_bytes

    def part(self, row_groups: Sequence[int], first_row: int, *, hashed: bool) -> "ParquetFile":
        """Return a reader of some row groups, the first row of which is `first_row` of the file.

        Parts are read one in each thread, and a part reads in the thread of its caller: what is
        decoded is then in the cache of the processor that counts it.
        """
        part = copy.copy(self)
        part.row_groups, part.rows_before = list(row_groups), first_row - 1
        part.count = sum(self.row_group_lengths[at] for at in row_groups)
        part.hashed = self.hashed and hashed
        return part

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end, and the file's hash beside them."""
        batches = self._batches(selection)
        stop = Event()
        with ThreadPoolExecutor(1) as pool:
            digest = pool.submit(self.hash, stop) if self.hashed else None
            try:
                row = 1
                for batch in ahead(batches) if self.row_groups is None else batches:
                    yield self._numbered(batch, row, selection)
                    row += batch.num_rows
                if row != self.count + 1:
                    raise refusal(
                        self.path,
                        f"must hold the {self.count} rows its footer promises; got {row - 1}.",
                    )
                self.sha256 = digest.result() if digest is not None else None
            finally:
                stop.set()

    def hash(self, stop: Event) -> str | None:
        """Give the SHA-256 of the whole file; None once `stop` is set."""
        return sha256_of(self.path, stop)

    def _numbered(self, batch: pa.RecordBatch, first_row: int, selection: Selection) -> Rows:
        first_row += self.rows_before
        places = Places(self.path, lambda row: f"row {first_row + row}")
        columns = plain_columns(batch, selection, places, self.options)
        return Rows(columns, batch.num_rows, first_row, places)

    def _batches(self, selection: Selection) -> Iterator[pa.RecordBatch]:
        try:
            with self._open(self._text_columns(selection)) as file:
                yield from file.iter_batches(
                    batch_size=self.options.batch_rows,
                    row_groups=self.row_groups,
                    columns=list(dict.fromkeys(selection.columns)),
                    use_threads=self.row_groups is None,
                )
        except DAMAGE as error:
            raise self._damaged(error, selection) from error

    def _damaged_place(self, selection: Selection) -> str:
        """Name the first row group and column that cannot be read; nothing if the footer is."""
        lengths = self.row_group_lengths
        ends = list(itertools.accumulate(lengths))
        for group in range(len(lengths)) if self.row_groups is None else self.row_groups:
            for name in dict.fromkeys(selection.columns):
                try:
                    with self._open() as file:
                        for _ in file.iter_batches(row_groups=[group], columns=[name]):
                            pass
                except (*DAMAGE, InputError):
                    rows = f"rows {ends[group] - lengths[group] + 1} to {ends[group]}"
                    return f"in row group {group + 1} of {len(lengths)} ({rows}), {shown(name)}: "
        return ""

    def _text_columns(self, selection: Selection) -> list[str]:
        """List the label columns whose strings are read as codes: none is made twice."""
        return [
            name
            for name in dict.fromkeys(selection.labels)
            if pa.types.is_string(self.schema.field(name).type)
            or pa.types.is_large_string(self.schema.field(name).type)
        ]

    def _open(self, as_codes: list[str] | None = None) -> parquet.ParquetFile:
        try:
            return parquet.ParquetFile(
                self.path,
                metadata=self.footer,
                read_dictionary=as_codes,
                page_checksum_verification=True,
                buffer_size=MIB,
                pre_buffer=False,
            )
        except DAMAGE as error:
            raise self._damaged(error) from error

    def _damaged(
        self, error: Exception, selection: Selection | None = None
    ) -> InputError | ResourceError:
        # Arrow raises OSError for damaged pages too; only failures of the system have a number.
        if isinstance(error, OSError) and error.errno is not None:
            return read_failure(self.path, error)
        if isinstance(error, MemoryError):
            return ResourceError(
                f"{shown_path(self.path)}: needs more memory than there is, or it is damaged."
            )
        reason = " ".join(str(error).split()).rstrip(".")
        place = "" if selection is None else self._damaged_place(selection)
        return refusal(
            self.path,
            f"must be an intact Parquet file; {place}{reason}. Nothing was computed from the part; "
            f"copy or write the file again.",
        )
