"""Files, folders and the rows in them: where data are, and the errors that name the place."""

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

from truerisk.checks import SHOWN_CHARACTERS, shown
from truerisk.errors import InputError, ResourceError

COPIED_AT_ONCE = 2**20  # bytes
HASHED_AT_ONCE = 2**18  # bytes; they stay in the cache next to the processor
TIMEOUT = 60.0  # seconds
GZIP_MAGIC = b"\x1f\x8b"


STDIN = "-"
ARROW_STORES = ("s3", "gs", "gcs")  # that pyarrow reads itself
# Where copies of what is not on this disk come from.
_ORIGINS: dict[str, str] = {}


def origin(path: Path | str) -> str:
    """Name the place that a path is a copy of; the path itself where it is none."""
    return _ORIGINS.get(os.fspath(path), os.fspath(path))


def shown_path(path: Path | str) -> str:
    """Write a path as a message shows it: escaped, and shortened at its start when it is long."""
    text = repr(origin(path))[1:-1]
    return text if len(text) <= SHOWN_CHARACTERS else "…" + text[1 - SHOWN_CHARACTERS :]


def refusal(path: Path, sentence: str, place: str = "") -> InputError:
    """Make the error that names the file, and the place in it."""
    at = f", {place}" if place else ""
    return InputError(f"{shown_path(path)}{at}: {sentence}")


def read_failure(path: Path, error: OSError) -> ResourceError:
    """Make the error of a disk or a network that failed while the file was read."""
    return ResourceError(f"{shown_path(path)}: reading failed ({error.strerror or error}).")


@dataclass(frozen=True)
class Places:
    """Where the rows of one batch stand in their file, worked out only for a message.

    `where` turns a row of the batch into words ("line 7"), `text` into the line itself, when the
    file has lines.
    """

    path: Path
    where: Callable[[int], str]
    text: Callable[[int], str | None] = lambda _: None

    def refusal(self, row: int, sentence: str) -> InputError:
        """Make the error that names the place of a row."""
        return refusal(self.path, sentence, self.where(row))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say which file or folder cannot be read, and why."""
    try:
        yield
    except PermissionError:
        raise refusal(path, "must be readable; permission was denied.") from None
    except OSError as error:
        raise read_failure(path, error) from error


def such_rows(count: int, last_row: int) -> str:
    """Say how many rows share a fault, among those seen so far."""
    return f" ({count} such rows up to row {last_row})" if count > 1 else ""


@dataclass(frozen=True)
class Fingerprint:
    """The facts by which a file is seen to be the same and unchanged."""

    size: int
    modified: int
    inode: int
    device: int

    @classmethod
    def of(cls, path: Path) -> "Fingerprint":
        """Look at a file that is there and is a file."""
        try:
            status = path.stat()
        except FileNotFoundError:
            raise InputError(f"{shown_path(path)}: there is no such file.") from None
        except OSError as error:
            raise read_failure(path, error) from error
        if not stat.S_ISREG(status.st_mode):
            raise refusal(path, "must be a regular file. Write a pipe's content to a file first.")
        return cls(status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)

    @contextmanager
    def watched(self, path: Path) -> Iterator[None]:
        """Refuse whatever is read meanwhile if the file changes."""
        self.check_unchanged(path)
        try:
            yield
        except InputError:
            # What looks like a broken file may be one that is still being written.
            self.check_unchanged(path)
            raise
        self.check_unchanged(path)

    def check_unchanged(self, path: Path) -> None:
        """Refuse whatever was read from a file that is no longer the one that was opened."""
        try:
            now = path.stat()
        except OSError:
            raise ResourceError(f"{shown_path(path)}: vanished while it was read.") from None
        if Fingerprint(now.st_size, now.st_mtime_ns, now.st_ino, now.st_dev) != self:
            raise ResourceError(
                f"{shown_path(path)}: changed while it was read ({self.size} bytes before, "
                f"{now.st_size} now). Nothing of it was used; read it again when it is complete."
            )


def sha256_of(path: Path, stop: Event | None = None) -> str | None:
    """Give the SHA-256 of the whole file; None once `stop` is set."""
    digest = hashlib.sha256()
    piece = memoryview(bytearray(HASHED_AT_ONCE))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(piece):
            if stop is not None and stop.is_set():
                return None
            digest.update(piece[:size])
    return digest.hexdigest()


def local_path(place: os.PathLike[str] | str) -> Path:
    """Return where a file or a folder is on this disk; what is not there is copied first.

    That is stdin ("-") and what a URI names.  The copies are removed at the end of the process.
    Messages and results name the origin, without the user and the query of a URI, which may hold
    secrets.
    """
    text = os.fspath(place)
    if text == STDIN:
        return _copied("stdin", {"": lambda: nullcontext(sys.stdin.buffer)}, "stdin")
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]+)://", text)
    if match is None:
        return Path(text)
    from urllib.parse import unquote, urlsplit  # not loaded for files on this disk

    parts = urlsplit(text)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    where = parts.path.rstrip("/")
    shown_as = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{where}"
    with _failures_named(shown_as):
        streams = _streams(text, parts.scheme)
    return _copied(Path(unquote(where)).name or parts.netloc, streams, shown_as)


# How to open each file of a place, by its path within it; the path of a single file is empty.
Streams = dict[str, Callable[[], Any]]


def _copied(name: str, streams: Streams, shown_as: str) -> Path:
    """Copy a file, or every file of a folder, and note where the copies come from."""
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="truerisk-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / name
    _ORIGINS[os.fspath(path)] = shown_as
    for inside, opened in streams.items():
        copy_path = path / inside
        named = f"{shown_as}/{inside}" if inside else shown_as
        with _failures_named(named):
            copy_path.parent.mkdir(parents=True, exist_ok=True)
            with opened() as stream, copy_path.open("wb") as copy:
                shutil.copyfileobj(stream, copy, COPIED_AT_ONCE)
        _ORIGINS[os.fspath(copy_path)] = named
    return path


@contextmanager
def _failures_named(shown_as: str) -> Iterator[None]:
    """Name the place at which a network or a disk fails."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{shown_as}: there is no such file.") from None
    except OSError as error:
        raise ResourceError(f"{shown_as}: reading failed ({error}).") from None


def _streams(uri: str, scheme: str) -> Streams:
    """List the files that a URI names: http by Python itself, others by pyarrow or fsspec."""
    if scheme in {"http", "https"}:
        from urllib.request import urlopen

        return {"": lambda: urlopen(uri, timeout=TIMEOUT)}  # noqa: S310  (the scheme was looked at)
    if scheme in ARROW_STORES and find_spec("pyarrow") is not None:
        return _arrow_streams(uri)
    try:
        import fsspec  # type: ignore[import-untyped]

        system, path = fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError) as error:
        needed = {"s3": "pyarrow", "gs": "pyarrow", "hf": "huggingface_hub"}.get(scheme, "fsspec")
        raise ResourceError(
            f"{scheme}:// needs a package that reads it ({error}): `pip install {needed}`."
        ) from None
    if not system.isdir(path):
        return {"": partial(system.open, path, "rb")}
    start = path.rstrip("/") + "/"
    return _visible(
        {one.removeprefix(start): partial(system.open, one) for one in system.find(path)}
    )


def _arrow_streams(uri: str) -> Streams:
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(uri)
    except ValueError as error:
        raise InputError(f"`paths` must be files that can be read; {error}.") from None
    opened = partial(system.open_input_stream, compression=None)
    if system.get_file_info(path.rstrip("/")).type != fs.FileType.Directory:
        return {"": partial(opened, path)}
    start = path.rstrip("/") + "/"
    inside = system.get_file_info(fs.FileSelector(start, recursive=True))
    return _visible(
        {
            one.path.removeprefix(start): partial(opened, one.path)
            for one in inside
            if one.type == fs.FileType.File
        }
    )


def _visible(streams: Streams) -> Streams:
    """Leave out what a folder on this disk hides, too; refuse names that lead out of it."""
    parts = {name: name.split("/") for name in streams}
    if any(".." in one for one in parts.values()):
        raise InputError("`paths` must not name a folder with files whose names hold '..'.")
    return {name: streams[name] for name, one in parts.items() if one[-1][0] not in "._"}


def find_files(
    paths: Path | str | Sequence[Path | str], endings: Collection[str]
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """List the files that the paths name.

    A folder stands for its prediction files, a pattern such as part-*.parquet for the files that
    match it; both are sorted.
    """
    files: list[Path] = []
    notes: list[str] = []
    for path in _as_paths(paths):
        if is_pattern(path):
            files.extend(_matching(path))
            continue
        if not path.is_dir():
            files.append(path)
            continue
        inside = [p for p in sorted(path.rglob("*")) if p.is_file() and p.name[0] not in "._"]
        readable = [p for p in inside if ending(p) in endings]
        if not readable:
            raise refusal(
                path,
                "must hold at least one file that ends in "
                f"{', '.join(endings)} (or one of these and .gz); got {len(inside)} other files.",
            )
        if len(readable) < len(inside):
            others = len(inside) - len(readable)
            notes.append(f"{shown_path(path)}: {others} files that hold no predictions left out.")
        files.extend(readable)
    if len(set(map(os.path.realpath, files))) < len(files):
        raise InputError("`paths` must name each file once; one of them is there twice.")
    return tuple(files), tuple(notes)


def is_pattern(path: Path) -> bool:
    """Whether a path is the name of no file, but a pattern of names."""
    return re.search(r"[*?[]", str(path)) is not None and not path.exists()


def _matching(pattern: Path) -> list[Path]:
    import glob

    paths = [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207  (it takes absolute patterns)
    files = [path for path in paths if path.is_file()]
    if not files:
        raise refusal(pattern, "must match at least one file; there is none.")
    return files


def _as_paths(paths: Any) -> list[Path]:
    if isinstance(paths, (str, os.PathLike)):
        return [local_path(paths)]
    if hasattr(paths, "columns") or hasattr(paths, "column_names"):
        raise InputError(
            f"`paths` must be files or folders; got a {type(paths).__name__}. "
            "Use evaluate_frame for a frame."
        )
    if not isinstance(paths, Iterable):
        raise InputError(f"`paths` must be files or folders; got {shown(paths)}.")
    paths = list(paths)
    wrong = [path for path in paths if not isinstance(path, (str, os.PathLike))]
    if wrong:
        raise InputError(f"`paths` must be files or folders; got {type(wrong[0]).__name__}.")
    if not paths:
        raise InputError("`paths` must name at least one file; got none.")
    return [local_path(path) for path in paths]


def ending(path: Path) -> str:
    """Return the ending of a name, without that of its compression."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()
