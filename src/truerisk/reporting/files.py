"""Writing a file whole or not at all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path


def check_destination(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a path that cannot be written, before anything is computed for it.

    `inputs` are the files that are read: an output must not take the place of one of them.
    """
    if any(path.exists() and path.samefile(one) for one in inputs):
        raise InputError(f"The output must not be an input; {shown_path(path)} is read as well.")
    folder = path.parent
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ResourceError(f"The output must be a file; {shown_path(path)} is a device or a pipe.")
    if path.is_dir():
        raise ResourceError(f"The output must be a file; {shown_path(path)} is a folder.")
    if not folder.is_dir():
        raise ResourceError(
            f"The folder of the output must exist; {shown_path(folder)} does not. Make it first."
        )
    trial = _beside(path)
    try:
        os.close(_open_new(trial))
        trial.unlink()
    except OSError as error:
        raise _cannot_write(path, error) from error


def write_whole(path: Path, text: str) -> Path:
    """Write a file beside its place, then move it there: a reader sees the old one or the new one.

    A full disk, or being stopped half-way, leaves the old file as it was and no other behind.
    """
    check_destination(path)
    beside = _beside(path)
    try:
        with os.fdopen(_open_new(beside), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        beside.unlink(missing_ok=True)
    return path


def _beside(path: Path) -> Path:
    return path.with_name(f".truerisk-{secrets.token_hex(8)}.part")


def _open_new(path: Path) -> int:
    # 0o666 leaves the permissions to the user's umask, as for any file a program writes.
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)


def _cannot_write(path: Path, error: OSError) -> ResourceError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return ResourceError(f"{shown_path(path)} cannot be written: {reason}. Nothing was changed.")
