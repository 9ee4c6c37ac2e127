"""A corpus in folders: one folder a category, one file a document."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from truerisk.checks import shown
from truerisk.inputs.corpora.documents import Documents
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.byte_streams import EndsEarlyError, TextBytes
from truerisk.inputs.records.formats import GZIP_MAGIC
from truerisk.inputs.records.places import Fingerprint, machine_failure, refusal, shown_path


def read_folders(folder: Path, options: ReadingOptions) -> Documents:
    """Read every file below each folder of `folder`, in the order of their names.

    The label of a document is the name of the folder under `folder`, its id the path from there.
    Two files of one name in two folders are two documents.  Hidden files are left out.  The SHA-256
    is that of the list of all files with theirs.
    """
    found = Documents(options, files=0)
    digest = hashlib.sha256()
    inside = visible(folder)
    categories = [path for path in inside if path.is_dir()]
    if not categories:
        raise refusal(
            folder,
            f"must hold a folder for each category, with a file for each document; "
            f"got {len(inside)} files and no folder.",
        )
    for category in categories:
        for path in _files(category):
            name = path.relative_to(folder).as_posix()
            text, source = _text(path, options)
            digest.update(f"{source.sha256}  {name}\n".encode(errors="surrogateescape"))
            found.files += 1
            found.bytes += path.stat().st_size
            found.add(
                text,
                [category.name],
                id=name,
                refuse=lambda sentence, path=path: refusal(path, sentence),  # type: ignore[misc]
            )
    if len(inside) > len(categories):
        others = len(inside) - len(categories)
        found.notes.append(f"{shown_path(folder)}: {others} files in no category left out.")
    found.sha256 = digest.hexdigest()
    return found


def visible(folder: Path) -> list[Path]:
    """List what is in a folder and not hidden, sorted."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except PermissionError:
        raise refusal(folder, "must be readable; permission was denied.") from None
    except OSError as error:
        raise machine_failure(folder, error) from error


def _files(folder: Path) -> Iterator[Path]:
    for path in visible(folder):
        if not path.is_dir():
            yield path
        elif path.is_symlink():
            raise refusal(path, "must not be a link to a folder, which may never end.")
        else:
            yield from _files(path)


def _text(path: Path, options: ReadingOptions) -> tuple[str, TextBytes]:
    data, source = whole_text(path, options)
    nul = data.find(b"\0")
    if nul >= 0:
        raise refusal(path, "must be text; got a NUL byte.", f"byte {nul}")
    try:
        return data.decode(), source
    except UnicodeDecodeError as error:
        raise refusal(
            path,
            f"must be UTF-8; got {shown(data[error.start : error.start + 4])}. "
            f"Use --encoding, such as latin-1 or cp1252.",
            f"byte {error.start}",
        ) from None


def whole_text(path: Path, options: ReadingOptions) -> tuple[bytes, TextBytes]:
    """Read a file into memory, expanded; its source then knows the SHA-256."""
    fingerprint = Fingerprint.of(path)
    try:
        with path.open("rb") as file:
            head = file.read(len(GZIP_MAGIC))
    except PermissionError:
        raise refusal(path, "must be readable; permission was denied.") from None
    except OSError as error:
        raise machine_failure(path, error) from error
    source = TextBytes(path, "gzip" if head == GZIP_MAGIC else None, options)
    try:
        data = b"".join(source.pieces(options.block_bytes))
    except EndsEarlyError as error:
        raise refusal(path, f"must be complete; {error}. Copy the file again.") from None
    fingerprint.check_unchanged(path)
    return data, source
