"""Row groups of plain Parquet columns, decoded straight to NumPy columns.

Numbers and labels mostly come as plain values or as places in a dictionary, none of them missing.
Such pages are decoded by `truerisk.kernels.pages` in two thirds of the time that Arrow takes, since
no value is made wider than it is.  Anything else — missing values, other encodings, whatever is not
as the format says, a checksum that is wrong — is left to Arrow, which reads it or says what is
wrong.
"""

import os
import threading
import zlib
from collections.abc import Callable, Iterator
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
# Facts of a column in a row group, as the kernel writes them.
ELSEWHERE, TYPE, N_ROWS, CODEC, N_VALUES, SIZE, ON_DISK = 0, 1, 3, 4, 5, 6, 7
DATA_AT, DICTIONARY_AT = 9, 11
FACTS = 12
NO = -2
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
REQUIRED = {
    DATA_PAGE: slice(DATA + 1, DATA + 5),
    DICTIONARY_PAGE: slice(DICTIONARY + 1, DICTIONARY + 3),
    DATA_PAGE_V2: slice(DATA_V2 + 1, DATA_V2 + 7),
}
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
PLACES, VALUES = 0, 1  # as the kernel calls them; bits are 2
ENCODINGS = {PLAIN: VALUES, PLAIN_DICTIONARY: PLACES, RLE_DICTIONARY: PLACES}

MAGIC = b"PAR1"
UNCOMPRESSED, SNAPPY, ZSTD = 0, 1, 6
CODECS = {UNCOMPRESSED: None, SNAPPY: "snappy", ZSTD: "zstd"}
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY")
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
    stored_type: int


@dataclass(frozen=True)
class PlainColumns:
    """The selected columns of a file, if all can be decoded here."""

    path: Path
    columns: tuple[PlainColumn, ...]
    facts: NDArray[np.int64]  # of each column in each row group
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
                    stored_type=TYPES.index(leaf.physical_type),
                )
            )
        facts = facts_of(path, footer.num_row_groups, footer.num_columns)
        return None if facts is None or not columns else cls(path, tuple(columns), facts)

    def row_group(self, group: int) -> dict[str, Column] | None:
        """Decode the columns of a row group; None if they are not plain, or not intact."""
        try:
            with self.path.open("rb", buffering=0) as file:
                return {
                    column.name: self._chunk(file, self.facts[group, column.place].tolist(), column)
                    for column in self.columns
                }
        except (NotPlainError, pa.ArrowException, OSError, ValueError, KeyError):
            return None  # Arrow reads it again, and says what is wrong

    def _chunk(self, file: Any, facts: list[int], column: PlainColumn) -> Column:
        """Decode one column of a row group."""
        codec, rows, expanded, stored = facts[CODEC], facts[N_VALUES], facts[SIZE], facts[ON_DISK]
        _need(codec in CODECS and facts[ELSEWHERE] == 0 and facts[TYPE] == column.stored_type)
        _need(0 <= rows == facts[N_ROWS] <= MAX_ROWS)
        _need(min(stored, expanded) >= 0 and max(stored, expanded) <= MAX_BYTES)
        begin = facts[DICTIONARY_AT] if facts[DICTIONARY_AT] > 0 else facts[DATA_AT]
        before_data = facts[DATA_AT] - begin
        _need(begin >= len(MAGIC) and before_data >= 0)
        chunk = self._buffer("stored", stored)
        file.seek(begin)
        _need(file.readinto(chunk) == stored)
        room = chunk if codec == UNCOMPRESSED else self._buffer("expanded", expanded)
        return _Pages(chunk, codec, room).decoded(column, rows, before_data)

    def _buffer(self, name: str, size: int) -> memoryview:
        """Give bytes of this thread that are used again: new memory takes longer than to decode."""
        held: bytearray = getattr(self.buffers, name, bytearray())
        if len(held) < size:
            held = bytearray(size)
            setattr(self.buffers, name, held)
        return memoryview(held)[:size]


class _Pages:
    """The pages of one column in one row group, expanded one after the other."""

    def __init__(self, chunk: memoryview, codec: int, expanded: memoryview) -> None:
        self.chunk = chunk
        self.codec = codec
        self.expanded = expanded
        name = CODECS[codec]
        self.expand: Callable[..., Any] = pa.Codec(name).decompress if name else bytes
        self.used = 0

    def decoded(self, column: PlainColumn, rows: int, before_data: int) -> Column:
        """Give the values of all pages; the dictionary has exactly the bytes before the data."""
        dictionary_page = memoryview(b"")
        pages: list[tuple[int, int, int, int, int]] = []
        words: list[str] | None = None
        count = 0
        for header in self._headers():
            _need(min(*header[KIND:CHECKSUM], *header[REQUIRED[header[KIND]]]) >= 0)
            if header[KIND] == DICTIONARY_PAGE:
                _need(header[DICTIONARY + ENCODING] in (PLAIN, PLAIN_DICTIONARY) and not count)
                _need(header[BODY] + header[STORED] == before_data and not pages)
                begin, end = self._put(header, 0)
                dictionary_page, count = self.expanded[begin:end], header[DICTIONARY + COUNT]
            elif header[KIND] == DATA_PAGE:
                _need(header[DATA + LEVELS] == RLE or not column.optional)
                kind = ENCODINGS[header[DATA + ENCODING]]
                pages.append((*self._put(header, 0), -1, header[DATA + COUNT], kind))
            else:
                of_v2 = header[DATA_V2:]
                _need(of_v2[V2_REPETITIONS] == of_v2[V2_MISSING] == 0)
                _need(of_v2[V2_ROWS] == of_v2[COUNT])
                begin, end = self._put(header, of_v2[V2_LEVELS])
                levels, kind = begin + of_v2[V2_LEVELS], ENCODINGS[of_v2[V2_ENCODING]]
                pages.append((begin, end, levels, of_v2[COUNT], kind))
        _need(bool(count) or before_data == 0)
        made = column.kind
        if column.stored is None:
            # Texts that are not all in a dictionary are for Arrow.
            _need(count <= MAX_WORDS and all(page[-1] == PLACES for page in pages))
            words = _words(dictionary_page, count)
            dictionary = np.arange(count, dtype=made)
        else:
            if made.kind == "b":
                pages = [(*page[:-1], 2 * page[-1]) for page in pages]
            elif any(page[-1] == VALUES for page in pages):
                made = column.stored.newbyteorder("=")
            _need(len(dictionary_page) == count * column.stored.itemsize)
            dictionary = _as(np.frombuffer(dictionary_page, column.stored, count), made)
        values, bits = np.empty(rows, made), f"u{made.itemsize}"
        table = np.array(pages, np.int64).reshape(-1, 5)
        _need(
            kernel.read_pages(
                self.expanded, table, column.optional, dictionary.view(bits), values.view(bits)
            )
        )
        return Column(_as(values, column.kind), column.type_name, words=words)

    def _headers(self) -> Iterator[list[int]]:
        at = 0
        while at < len(self.chunk):
            headers = np.full((HEADERS_AT_ONCE, HEADER_WIDTH), ABSENT)
            used, at = kernel.page_headers(self.chunk, at, STORED, headers)
            _need(at > 0)
            yield from headers[:used].tolist()

    def _put(self, header: list[int], levels: int) -> tuple[int, int]:
        """Expand a page whose checksum is right or absent, but not its levels; say where it is."""
        begin, end = header[BODY], header[BODY] + header[STORED]
        body = self.chunk[begin:end]
        if header[CHECKSUM] != ABSENT:
            _need(zlib.crc32(body) == header[CHECKSUM] & 0xFFFFFFFF)
        size = header[EXPANDED]
        if self.codec == UNCOMPRESSED:
            _need(size == len(body))
            return begin, end
        begin, end = self.used, self.used + size
        _need(levels <= size and end <= len(self.expanded))
        if levels:
            self.expanded[begin : begin + levels] = body[:levels]
            begin, body, size = begin + levels, body[levels:], size - levels
        # Pages of the second version may say that they are not compressed.
        if header[DATA_V2 + V2_COMPRESSED] != NO:
            # Arrow's codec does not say when it gives less.
            _need(_size(self.codec, body) == size)
            self.expanded[begin:end] = memoryview(self.expand(body, size)).cast("B")
        else:
            self.expanded[begin:end] = body
        self.used = end
        return begin - levels, end


def facts_of(path: Path, groups: int, columns: int) -> NDArray[np.int64] | None:
    """Read from the footer what it says of each column in each row group; None if not all is there.

    Arrow's own objects end the process where a damaged footer names a codec that does not exist.
    """
    with path.open("rb", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 8))
        tail = file.read(8)
        size = int.from_bytes(tail[:4], "little")
        if tail[4:] != MAGIC or size > end - 8:
            return None
        file.seek(end - 8 - size)
        footer = file.read(size)
    count, facts = np.zeros(1, np.int64), np.full((groups * columns, FACTS), ABSENT)
    facts[:, ELSEWHERE] = 0
    if not kernel.column_facts(footer, count, facts) or count[0] != len(facts):
        return None
    return facts.reshape(groups, columns, FACTS)


def _size(codec: int, body: memoryview) -> int:
    """Read how large a compressed page will be, which stands at its beginning; −1 if it does not.

    Snappy writes a varint; Zstandard a byte that says how many bytes the size has, and whether
    other bytes stand before it (RFC 8878, 3.1.1.1).
    """
    if codec == SNAPPY:
        size = 0
        for at, byte in enumerate(body[:5]):
            size |= (byte & 127) << (7 * at)
            if byte < 128:
                return size
        return -1
    if body[:4] != ZSTD_MAGIC or len(body) == len(ZSTD_MAGIC):
        return -1
    kind, is_single = body[4] >> 6, body[4] >> 5 & 1
    width = (is_single, 2, 4, 8)[kind]
    begin = 5 + (1 - is_single) + (0, 1, 2, 4)[body[4] & 3]
    if width == 0 or begin + width > len(body):
        return -1
    return int.from_bytes(body[begin : begin + width], "little") + 256 * (width == 2)


def _as(values: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Give numbers as another type, if they fit into it; unsigned ones are stored as signed."""
    if values.dtype == kind:
        return values
    if values.dtype.itemsize == kind.itemsize:
        return values.astype(kind)
    narrow = values.astype(kind)
    _need(bool(np.array_equal(narrow, values)))
    return narrow


def _words(data: memoryview, count: int) -> list[str]:
    """Read the texts of a dictionary: each is its length in four bytes, and its bytes."""
    words, at = [], 0
    for _ in range(count):
        _need(at + 4 <= len(data))
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        _need(end <= len(data))
        words.append(str(data[at + 4 : end], "utf-8"))
        at = end
    _need(at == len(data))
    return words


def _need(condition: bool) -> None:  # noqa: FBT001
    if not condition:
        raise NotPlainError
