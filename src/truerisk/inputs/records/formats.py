"""The format of a file, recognised by its first bytes and not by its name."""

import re
import zlib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from truerisk.errors import ResourceError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import (
    GZIP_MAGIC,
    Fingerprint,
    ending,
    origin,
    reading,
    refusal,
    shown_path,
)
from truerisk.inputs.records.rows import Reader

HEAD_BYTES = 2**16
ARROW_START = b"ARROW1|\xff{4}.{4}\x10"  # a file, or a stream of messages


@dataclass(frozen=True)
class Format:
    """A file format: its name, its marks, and which class of which module reads it."""

    name: str
    module: str
    reader: str
    endings: tuple[str, ...]
    start: bytes = b""  # pattern of the first bytes of a file, after white space
    is_text: bool = True


INSPECT = ("inspect log", "inspect_log", "InspectLog")
# The first that fits; the last is what any other text is taken for.
FORMATS = (
    Format("parquet", "parquet", "ParquetFile", (".parquet", ".pq"), b"PAR1", is_text=False),
    Format(
        "arrow",
        "arrow",
        "ArrowFile",
        (".arrow", ".arrows", ".feather"),
        ARROW_START,
        is_text=False,
    ),
    Format(*INSPECT, (".eval",), rb"(?s)PK\x03\x04.{26}_journal/", is_text=False),
    Format(*INSPECT, (".json",), rb'\{\s*"version":\s*\d+,\s*"status":'),
    Format("json lines", "json_lines", "JsonLinesFile", (".jsonl", ".ndjson", ".json"), rb"\{"),
    Format("csv", "csv_rows", "CsvFile", (".csv", ".tsv", ".txt")),
)
ENDINGS = {ending: one for one in FORMATS for ending in one.endings}
FOREIGN = {
    b"PK\x03\x04": "a zip archive (an .xlsx or .npz file is one too)",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"ORC": "an ORC file",
    b"\x80\x02": "a pickle, which is never loaded",
    b"\x80\x03": "a pickle, which is never loaded",
    b"\x80\x04": "a pickle, which is never loaded",
    b"\x80\x05": "a pickle, which is never loaded",
}
UTF16_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
UTF32_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32"}


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """The facts of a file: rows, dropped rows and SHA-256 only once it has been read.

    A `sha256` of None after reading says "not hashed": the file is larger than the limit.
    """

    path: str
    format: str
    compression: Literal["gzip"] | None
    bytes: int
    rows: int | None = None
    dropped: int = 0
    sha256: str | None = None


def recognise(
    path: Path, options: ReadingOptions, *, holds: str = "predictions"
) -> tuple[FileFacts, Fingerprint, str | None]:
    """Recognise a file by its content; the third value is a note when its name lies."""
    fingerprint = Fingerprint.of(path)
    if fingerprint.size == 0:
        raise refusal(path, f"must hold {holds}; the file is empty.")
    with reading(path), path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    compression: Literal["gzip"] | None = None
    if head.startswith(GZIP_MAGIC):
        compression = "gzip"
        head = _gunzipped_head(path, head)
    file_format = _format_of(path, head, compression, options)
    facts = FileFacts(
        path=origin(path), format=file_format.name, compression=compression, bytes=fingerprint.size
    )
    expected = ENDINGS.get(ending(path))
    note = None
    zipped_name = path.suffix.lower() == ".gz"
    lies = expected is not None and ending(path) not in file_format.endings
    if path.suffix and (lies or zipped_name != (compression is not None)):
        content = (
            file_format.name if compression is None else f"{file_format.name}, compressed by gzip"
        )
        note = f"{shown_path(path)}: read as {content}, whatever its name says."
    return facts, fingerprint, note


def open_reader(facts: FileFacts, path: Path, options: ReadingOptions) -> Reader:
    """Open a file with the reader of its format, which is loaded when a file needs it."""
    file_format = next(one for one in FORMATS if one.name == facts.format)
    try:
        module = import_module(f"truerisk.inputs.records.{file_format.module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "pyarrow":
            raise
        raise ResourceError(
            f"{shown_path(path)}: {file_format.name.title()} files need the package pyarrow: "
            "`pip install 'truerisk[arrow]'`."
        ) from None
    reader: Reader = getattr(module, file_format.reader)(path, facts.compression, options)
    return reader


def _gunzipped_head(path: Path, head: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    except zlib.error as error:
        raise refusal(path, f"must be intact; its gzip data are damaged ({error}).") from None


def _format_of(path: Path, head: bytes, compression: str | None, options: ReadingOptions) -> Format:
    for candidate in FORMATS:
        if candidate.is_text or not re.match(candidate.start, head):
            continue
        if compression is not None:
            raise refusal(
                path,
                f"must not be gzip around {candidate.name.title()}. Decompress it first: gunzip.",
            )
        return candidate
    for magic, name in FOREIGN.items():
        if head.startswith(magic):
            raise refusal(
                path, f"must be CSV, Parquet, Arrow or JSON lines, plain or .gz; it is {name}."
            )
    if options.is_utf8:
        _check_not_utf16(path, head)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not options.is_utf8:
        start = head.decode(options.encoding, "ignore").lstrip("\ufeff \t\r\n").encode()
    candidate = next(one for one in FORMATS if one.is_text and re.match(one.start, start))
    expected = ENDINGS.get(ending(path))
    if start.startswith(b"[") and expected is not None and expected.name == "json lines":
        raise refusal(path, "must hold one JSON object per line; got a JSON array. jq -c '.[]' …")
    return candidate


def _check_not_utf16(path: Path, head: bytes) -> None:
    for mark, name in (UTF32_MARKS | UTF16_MARKS).items():
        if head.startswith(mark):
            raise refusal(path, f"must be UTF-8; it starts as {name} does. Use --encoding {name}.")
    # Latin text in UTF-16 has a NUL in every other byte; nothing else that is text has.
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        every_other = head[first:2000:2]
        if len(head) >= 4 and every_other and every_other.count(0) > 0.7 * len(every_other):
            raise refusal(path, f"must be UTF-8; it looks like {name}. Use --encoding {name}.")
