"""Row groups of plain Parquet columns, decoded straight to NumPy columns.

Numbers and labels mostly come as plain values or as places in a dictionary, none of them missing.
Such pages are decoded by `truerisk.kernels.pages` in half the time that Arrow takes, since no value
is made wider than it is.  Anything else — missing values, other encodings, whatever is not as the
format says, a checksum that is wrong — is left to Arrow, which reads it or says what is wrong.
"""

import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truerisk.inputs.records.columns import Column
from truerisk.inputs.records.rows import Selection
from truerisk.kernels import pages as kernel

MAX_ROWS = 2**22  # of a row group, which is in memory as a whole
MAX_BYTES = 2**27  # of one of its columns
MAX_WORDS = 2**16  # of a dictionary of texts; labels have few
HEADERS_AT_ONCE = 64

# Fields of a page header, by their numbers in parquet.thrift; those of the struct in field i from
# 8 i on.
BODY, KIND, EXPANDED, STORED, CHECKSUM = range(5)
DATA, DICTIONARY, DATA_V2, HEADER_WIDTH = 8 * 5, 8 * 7, 8 * 8, 8 * 9
COUNT, ENCODING, LEVELS = 1, 2, 3  # of a data page, and but for the last of a dictionary
V2_MISSING, V2_ROWS, V2_ENCODING, V2_LEVELS, V2_REPETITIONS, V2_COMPRESSED = range(2, 8)
ABSENT = -(2**62)
NO = -2
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
REQUIRED = {
    DATA_PAGE: slice(DATA + 1, DATA + 5),
    DICTIONARY_PAGE: slice(DICTIONARY + 1, DICTIONARY + 3),
    DATA_PAGE_V2: slice(DATA_V2 + 1, DATA_V2 + 7),
}
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8

CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
STORED_AS = {"BOOLEAN": "?", "INT32": "<i4", "INT64": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}
NUMBERS = {"bool": "?", "float": "f4", "double": "f8"} | {
    f"{sign}int{8 * size}": f"{sign or 'i'}{size}" for sign in ("", "u") for size in (1, 2, 4, 8)
}


class NotPlainError(Exception):
    """These pages are for Arrow."""


@dataclass(frozen=True)
class PlainColumn:
    """A column whose pages can be decoded here; `kind` is what its values become."""

    name: str
    place: int  # among the columns of the file
    optional: bool
    stored: np.dtype[Any] | None  # None of texts
    kind: np.dtype[Any]
    type_name: str


@dataclass(frozen=True)
class PlainColumns:
    """The selected columns of a file, if all can be decoded here."""

    path: Path
    footer: Any
    columns: tuple[PlainColumn, ...]
    buffers: threading.local = field(default_factory=threading.local, repr=False)

    @classmethod
    def of(cls, path: Path, file: Any, selection: Selection) -> "PlainColumns | None":
        """Look at the types of the columns; None if Arrow must read one of them."""
        footer, schema = file.metadata, file.schema_arrow
        places = {name: at for at, name in enumerate(schema.names)}
        # A column within a column would shift the places; of two that share a name Arrow speaks.
        if footer.num_columns != len(places) or len(schema.names) != len(places):
            return None
        columns = []
        for name in dict.fromkeys(selection.columns):
            if name not in places:
                return None
            leaf, kind = footer.schema.column(places[name]), schema.field(name).type
            is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
            if leaf.max_repetition_level or leaf.max_definition_level > 1:
                return None
            if str(kind) in NUMBERS and leaf.physical_type in STORED_AS:
                stored, made = STORED_AS[leaf.physical_type], NUMBERS[str(kind)]
            elif is_text and name in selection.labels and leaf.physical_type == "BYTE_ARRAY":
                stored, made = None, "i4"
            else:
                return None
            columns.append(
                PlainColumn(
                    name,
                    place=places[name],
                    optional=leaf.max_definition_level == 1,
                    stored=None if stored is None else np.dtype(stored),
                    kind=np.dtype(made),
                    type_name="string" if stored is None else str(kind),
                )
            )
        return cls(path, footer, tuple(columns))

    def row_group(self, group: int) -> dict[str, Column] | None:
        """Decode the columns of a row group; None if they are not plain, or not intact."""
        facts = self.footer.row_group(group)
        if facts.num_rows > MAX_ROWS:
            return None
        try:
            with self.path.open("rb", buffering=0) as file:
                columns = {
                    column.name: self._chunk(file, facts.column(column.place), column)
                    for column in self.columns
                }
            _need(all(len(column) == facts.num_rows for column in columns.values()))
        except (NotPlainError, pa.ArrowException, OSError, ValueError, KeyError):
            return None  # Arrow reads it again, and says what is wrong
        return columns

    def _chunk(self, file: Any, facts: Any, column: PlainColumn) -> Column:
        """Decode one column of a row group."""
        _need(facts.compression in CODECS and not facts.file_path)
        _need(0 <= facts.num_values <= MAX_ROWS and 0 <= facts.total_compressed_size <= MAX_BYTES)
        begin = facts.data_page_offset
        if facts.has_dictionary_page:
            begin = min(begin, facts.dictionary_page_offset)
        file.seek(begin)
        chunk = self._buffer(facts.total_compressed_size)
        _need(file.readinto(chunk) == len(chunk))
        codec = CODECS[facts.compression]
        pages = _Pages(chunk, facts.total_uncompressed_size, codec, column)
        return pages.decoded(facts.num_values)

    def _buffer(self, size: int) -> memoryview:
        """Give bytes of this thread that are used again: new memory takes longer than to decode."""
        held = getattr(self.buffers, "bytes", b"")
        if len(held) < size:
            held = self.buffers.bytes = bytearray(size)
        return memoryview(held)[:size]


class _Pages:
    """The pages of one column in one row group, decoded one after the other."""

    def __init__(
        self, chunk: memoryview, max_expanded: int, codec: str | None, column: PlainColumn
    ) -> None:
        self.chunk = chunk
        self.max_expanded = max_expanded
        self.column = column
        self.expand: Callable[..., Any] | None = pa.Codec(codec).decompress if codec else None
        self.dictionary: NDArray[Any] | None = None
        self.words: list[str] | None = None

    def decoded(self, rows: int) -> Column:
        values = np.empty(rows, self.column.kind)
        done = at = 0
        while at < len(self.chunk):
            headers = np.full((HEADERS_AT_ONCE, HEADER_WIDTH), ABSENT)
            used, at = kernel.page_headers(self.chunk, at, STORED, headers)
            _need(at > 0)
            for header in headers[:used].tolist():
                is_v2 = header[KIND] == DATA_PAGE_V2
                _need(min(*header[KIND:CHECKSUM], *header[REQUIRED[header[KIND]]]) >= 0)
                if header[KIND] == DICTIONARY_PAGE:
                    self._read_dictionary(header)
                    continue
                count = header[(DATA_V2 if is_v2 else DATA) + COUNT]
                _need(count <= rows - done)
                part = values[done : done + count]
                (self._read_v2 if is_v2 else self._read_v1)(header, part)
                done += count
        _need(done == rows and (self.column.stored is None) == (self.words is not None))
        return Column(values, self.column.type_name, words=self.words)

    def _body(self, header: list[int]) -> memoryview:
        """Give the bytes of a page, whose checksum is verified if there is one."""
        body = self.chunk[header[BODY] : header[BODY] + header[STORED]]
        if header[CHECKSUM] != ABSENT:
            _need(zlib.crc32(body) == header[CHECKSUM] & 0xFFFFFFFF)
        return body

    def _expanded(self, body: memoryview, size: int) -> memoryview:
        _need(0 <= size <= self.max_expanded)
        if self.expand is None:
            _need(len(body) == size)
            return body
        return memoryview(self.expand(body, size)).cast("B")

    def _read_dictionary(self, header: list[int]) -> None:
        _need(self.dictionary is None)
        _need(header[DICTIONARY + ENCODING] in (PLAIN, PLAIN_DICTIONARY))
        data = self._expanded(self._body(header), header[EXPANDED])
        count = header[DICTIONARY + COUNT]
        if self.column.stored is None:
            _need(count <= MAX_WORDS)
            self.words = _words(data, count)
            self.dictionary = np.arange(count, dtype=self.column.kind)
        else:
            self.dictionary = np.empty(count, self.column.kind)
            self._plain(data, self.dictionary)

    def _read_v1(self, header: list[int], values: NDArray[Any]) -> None:
        data = self._expanded(self._body(header), header[EXPANDED])
        if self.column.optional:
            _need(header[DATA + LEVELS] == RLE and len(data) >= 4)
            end = 4 + int.from_bytes(data[:4], "little")
            _need(end <= len(data) and kernel.all_present(data[4:end], len(values)))
            data = data[end:]
        self._read_values(data, header[DATA + ENCODING], values)

    def _read_v2(self, header: list[int], values: NDArray[Any]) -> None:
        body, levels = self._body(header), header[DATA_V2 + V2_LEVELS]
        _need(header[DATA_V2 + V2_REPETITIONS] == header[DATA_V2 + V2_MISSING] == 0)
        _need(header[DATA_V2 + V2_ROWS] == len(values) and levels <= len(body))
        if self.column.optional:
            _need(kernel.all_present(body[:levels], len(values)))
        data = body[levels:]
        # Pages are compressed unless they say otherwise.
        if header[DATA_V2 + V2_COMPRESSED] != NO:
            data = self._expanded(data, header[EXPANDED] - levels)
        self._read_values(data, header[DATA_V2 + V2_ENCODING], values)

    def _read_values(self, data: memoryview, encoding: int, values: NDArray[Any]) -> None:
        if encoding == PLAIN:
            self._plain(data, values)
            return
        _need(encoding in (PLAIN_DICTIONARY, RLE_DICTIONARY) and self.dictionary is not None)
        bits = f"u{values.itemsize}"
        _need(kernel.look_up_places(data, self.dictionary.view(bits), values.view(bits)))  # type: ignore[union-attr]

    def _plain(self, data: memoryview, values: NDArray[Any]) -> None:
        stored = self.column.stored
        if stored is None:
            raise NotPlainError
        if stored.kind == "b":
            bits = np.frombuffer(data, np.uint8)
            _need(8 * len(bits) >= len(values))
            values[:] = np.unpackbits(bits, count=len(values), bitorder="little")
            return
        _need(len(data) >= len(values) * stored.itemsize)
        wide = np.frombuffer(data, stored, len(values))
        values[:] = wide.astype(values.dtype, copy=False)
        # A number that does not fit its type is for Arrow; an unsigned one is stored as signed.
        fits = values.dtype.itemsize == wide.dtype.itemsize or np.array_equal(values, wide)
        _need(bool(fits))


def _words(data: memoryview, count: int) -> list[str]:
    """Read the texts of a dictionary: each is its length in four bytes, and its bytes."""
    words, at = [], 0
    for _ in range(count):
        _need(at + 4 <= len(data))
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        _need(end <= len(data))
        words.append(str(data[at + 4 : end], "utf-8"))
        at = end
    return words


def _need(condition: bool) -> None:  # noqa: FBT001
    if not condition:
        raise NotPlainError
