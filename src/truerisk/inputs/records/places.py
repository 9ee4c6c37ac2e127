"""Files, folders and the rows in them: where data are, and the errors that name the place."""

import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from truerisk.checks import SHOWN_CHARACTERS
from truerisk.errors import InputError, ResourceError

COPIED_AT_ONCE = 2**20  # bytes
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


def local_path(place: os.PathLike[str] | str) -> Path:
    """Return where a file is on this disk; what comes from stdin ("-") or a URI is copied first.

    The copies are removed at the end of the process.  Messages and results name the origin, without
    the user and the query of a URI, which may hold secrets.
    """
    text = os.fspath(place)
    if text == STDIN:
        return _copied(lambda: nullcontext(sys.stdin.buffer), "stdin", "stdin")
    match = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]+)://", text)
    if match is None:
        return Path(text)
    from urllib.parse import unquote, urlsplit  # not loaded for files on this disk

    parts = urlsplit(text)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    shown_as = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    name = Path(unquote(parts.path)).name or parts.netloc
    return _copied(lambda: _opened(text, parts.scheme), name, shown_as)


def _copied(opened: Callable[[], Any], name: str, shown_as: str) -> Path:
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="truerisk-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / name
    try:
        with opened() as stream, path.open("wb") as copy:
            shutil.copyfileobj(stream, copy, COPIED_AT_ONCE)
    except FileNotFoundError:
        raise InputError(f"{shown_as}: there is no such file.") from None
    except OSError as error:  # of the network and of the disk
        raise ResourceError(f"{shown_as}: reading failed ({error}).") from None
    _ORIGINS[os.fspath(path)] = shown_as
    return path


def _opened(uri: str, scheme: str) -> Any:
    """Open what a URI names: http by Python itself, others by pyarrow or fsspec."""
    if scheme in {"http", "https"}:
        from urllib.request import urlopen

        return urlopen(uri, timeout=TIMEOUT)  # noqa: S310  (the scheme was looked at)
    if scheme in ARROW_STORES and find_spec("pyarrow") is not None:
        from pyarrow import fs

        try:
            system, path = fs.FileSystem.from_uri(uri)
        except ValueError as error:
            raise InputError(f"`paths` must be files that can be read; {error}.") from None
        return system.open_input_stream(path, compression=None)
    try:
        import fsspec  # type: ignore[import-untyped]

        return fsspec.open(uri, "rb")
    except (ImportError, ValueError) as error:
        needed = {"s3": "pyarrow", "gs": "pyarrow", "hf": "huggingface_hub"}.get(scheme, "fsspec")
        raise ResourceError(
            f"{scheme}:// needs a package that reads it ({error}): `pip install {needed}`."
        ) from None


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

    found = [Path(name) for name in sorted(glob.glob(str(pattern), recursive=True))]  # noqa: PTH207  (it takes absolute patterns)
    files = [path for path in found if path.is_file()]
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
    wrong = [path for path in paths if not isinstance(path, (str, os.PathLike))]
    if wrong:
        raise InputError(f"`paths` must be files or folders; got {type(wrong[0]).__name__}.")
    if not len(paths):
        raise InputError("`paths` must name at least one file; got none.")
    return [local_path(path) for path in paths]


def ending(path: Path) -> str:
    """Return the ending of a name, without that of its compression."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return name.suffix.lower()
