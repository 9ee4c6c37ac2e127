"""What a file is, told by its first bytes and not by its name; and what is known of it."""

import os
import stat
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truerisk.errors import InputError, ResourceError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.refusals import machine_failure, refusal, shown_path

Format = Literal["csv", "parquet", "json lines"]
HEAD_BYTES = 2**16
GZIP_MAGIC = b"\x1f\x8b"
PARQUET_MAGIC = b"PAR1"
ENDINGS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json lines",
}
FOREIGN = {
    b"PK\x03\x04": "a zip archive (an .xlsx or .npz file is one too)",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstandard",
    b"ARROW1": "an Arrow file",
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
    """What is known of a file: rows, dropped rows and SHA-256 only once it has been read.

    A `sha256` of None after reading says "not hashed": the file is larger than the limit.
    """

    path: str
    format: Format
    compression: Literal["gzip"] | None
    bytes: int
    rows: int | None = None
    dropped: int = 0
    sha256: str | None = None


@dataclass(frozen=True)
class Fingerprint:
    """What tells that a path still leads to the same unchanged file."""

    size: int
    modified: int
    inode: int
    device: int

    @classmethod
    def of(cls, path: Path) -> "Fingerprint":
        """Look at a file that is there and is a file."""
        try:
            found = path.stat()
        except FileNotFoundError:
            raise InputError(f"{shown_path(path)}: there is no such file.") from None
        except OSError as error:
            raise machine_failure(path, error) from error
        if not stat.S_ISREG(found.st_mode):
            raise refusal(path, "must be a regular file. Write a pipe's content to a file first.")
        return cls(found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev)

    def check_unchanged(self, path: Path) -> None:
        """Refuse whatever was read from a file that is no longer the one that was opened."""
        try:
            now = path.stat()
        except OSError:
            raise ResourceError(f"{shown_path(path)}: vanished while it was read.") from None
        if (now.st_size, now.st_mtime_ns, now.st_ino, now.st_dev) != (
            self.size,
            self.modified,
            self.inode,
            self.device,
        ):
            raise ResourceError(
                f"{shown_path(path)}: changed while it was read ({self.size} bytes before, "
                f"{now.st_size} now). Nothing of it was used; read it again when it is complete."
            )


def find_files(paths: Sequence[Path | str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """List the files that the paths name; a folder stands for its prediction files, sorted."""
    if not paths:
        raise InputError("`paths` must name at least one file; got none.")
    files: list[Path] = []
    notes: list[str] = []
    for path in map(Path, paths):
        if not path.is_dir():
            files.append(path)
            continue
        inside = [p for p in sorted(path.rglob("*")) if p.is_file() and p.name[0] not in "._"]
        known = [p for p in inside if _ending(p) is not None]
        if not known:
            raise refusal(
                path,
                "must hold at least one file that ends in "
                f"{', '.join(ENDINGS)} (or one of these and .gz); got {len(inside)} other files.",
            )
        if len(known) < len(inside):
            others = len(inside) - len(known)
            notes.append(f"{shown_path(path)}: {others} files that hold no predictions left out.")
        files.extend(known)
    if len(set(map(os.path.realpath, files))) < len(files):
        raise InputError("`paths` must name each file once; one of them is there twice.")
    return tuple(files), tuple(notes)


def recognise(path: Path, options: ReadingOptions) -> tuple[FileFacts, Fingerprint, str | None]:
    """Tell a file's format by its content; the third value is a note when its name lies."""
    fingerprint = Fingerprint.of(path)
    if fingerprint.size == 0:
        raise refusal(path, "must hold predictions; the file is empty.")
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except PermissionError:
        raise refusal(path, "must be readable; permission was denied.") from None
    except OSError as error:
        raise machine_failure(path, error) from error
    compression: Literal["gzip"] | None = None
    if head.startswith(GZIP_MAGIC):
        compression = "gzip"
        head = _gunzipped_head(path, head)
    found = _format_of(path, head, compression, options)
    facts = FileFacts(path=str(path), format=found, compression=compression, bytes=fingerprint.size)
    expected = _ending(path)
    note = None
    zipped_name = path.suffix.lower() == ".gz"
    if (expected is not None and expected != found) or zipped_name != (compression is not None):
        content = found if compression is None else f"{found}, compressed by gzip"
        note = f"{shown_path(path)}: read as {content}, whatever its name says."
    return facts, fingerprint, note


def _ending(path: Path) -> Format | None:
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return ENDINGS.get(name.suffix.lower())


def _gunzipped_head(path: Path, head: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    except zlib.error as error:
        raise refusal(path, f"must be intact; its gzip data are damaged ({error}).") from None


def _format_of(path: Path, head: bytes, compression: str | None, options: ReadingOptions) -> Format:
    if head.startswith(PARQUET_MAGIC):
        if compression is not None:
            raise refusal(path, "must not be gzip around Parquet. Decompress it first: gunzip.")
        return "parquet"
    for magic, name in FOREIGN.items():
        if head.startswith(magic):
            raise refusal(path, f"must be CSV, Parquet or JSON lines, plain or .gz; it is {name}.")
    if options.is_utf8:
        _check_not_utf16(path, head)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not options.is_utf8:
        start = head.decode(options.encoding, "ignore").lstrip("\ufeff \t\r\n").encode()
    if start.startswith(b"{"):
        return "json lines"
    if start.startswith(b"[") and _ending(path) == "json lines":
        raise refusal(path, "must hold one JSON object a line; got a JSON array. jq -c '.[]' …")
    return "csv"


def _check_not_utf16(path: Path, head: bytes) -> None:
    for mark, name in (UTF32_MARKS | UTF16_MARKS).items():
        if head.startswith(mark):
            raise refusal(path, f"must be UTF-8; it starts as {name} does. Use --encoding {name}.")
    # Latin text in UTF-16 has a NUL in every other byte; nothing else that is text has.
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        every_other = head[first:2000:2]
        if len(head) >= 4 and every_other and every_other.count(0) > 0.7 * len(every_other):
            raise refusal(path, f"must be UTF-8; it looks like {name}. Use --encoding {name}.")
